//! The metadata files of a table in a Hadoop catalog: `metadata/vN.metadata.json`, one per version.
//!
//! A version exists once its file does, and nobody can create it twice: the text is written to a temporary file, which
//! is then hard-linked to its final name. `version-hint.text` only says where to start looking, as in the Java library
//! (`HadoopTableOperations`). Everything here blocks.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use calve_types::{Error, Result};
use iceberg::spec::TableMetadata;
use uuid::Uuid;

use super::metadata::{Head, encode, encode_as, parse, plain};
use crate::commit::CommitError;
use crate::error::Context;

/// The file that says where to start looking.
pub(super) const HINT: &str = "version-hint.text";
/// Endings of a version's file: what is written, and what older Java libraries wrote.
pub(super) const ENDINGS: [&str; 3] = [".metadata.json", ".gz.metadata.json", ".metadata.json.gz"];

/// The `metadata` folder of a table.
#[derive(Clone, Debug)]
pub(crate) struct VersionFiles {
    dir: PathBuf,
}

/// A version's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VersionFile {
    pub(crate) version: u64,
    pub(crate) name: String,
}

impl VersionFiles {
    /// The versions of the table in the folder `table`.
    pub(crate) fn of_table(table: &Path) -> Self {
        Self { dir: table.join("metadata") }
    }

    /// Whether the folder holds any version, which makes its parent a table.
    pub(crate) fn any(&self) -> Result<bool> {
        Ok(self.list()?.is_some())
    }

    /// The newest version: the hint's, or the highest file's if the hint is missing or wrong, then upwards as long as
    /// there is a next one. `None` if there is no version.
    pub(crate) fn newest(&self) -> Result<Option<VersionFile>> {
        let hint = self.hint();
        let hinted = hint.map_or(Ok(None), |version| self.version(version))?;
        let Some(mut newest) = hinted.map_or_else(|| self.list(), |v| Ok(Some(v)))? else { return Ok(None) };
        if let Some(hint) = hint.filter(|hint| *hint > newest.version) {
            return Err(hint_too_high(&self.dir.display().to_string(), hint, newest.version));
        }
        while let Some(next) = newest.version.checked_add(1) {
            match self.version(next)? {
                Some(file) => newest = file,
                None => break,
            }
        }
        Ok(Some(newest))
    }

    fn hint(&self) -> Option<u64> {
        fs::read_to_string(self.dir.join(HINT)).ok()?.trim().parse().ok()
    }

    /// The file of one version, whatever its ending.
    fn version(&self, version: u64) -> Result<Option<VersionFile>> {
        for ending in ENDINGS {
            let name = format!("v{version}{ending}");
            let path = self.dir.join(&name);
            match fs::metadata(&path) {
                Ok(found) if found.is_file() => return Ok(Some(VersionFile { version, name })),
                Ok(_) => {}
                Err(e) if absent(&e) => {}
                Err(e) => return Err(e).context(|| format!("look for the file '{}'", path.display())),
            }
        }
        Ok(None)
    }

    /// The highest version among the files of the folder.
    fn list(&self) -> Result<Option<VersionFile>> {
        let what = || format!("list the folder '{}'", self.dir.display());
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(e) if absent(&e) => return Ok(None),
            Err(e) => return Err(e).context(what),
        };
        let mut newest: Option<VersionFile> = None;
        for entry in entries {
            let name = entry.context(what)?.file_name();
            let Some(file) = name.to_str().and_then(parse_name) else { continue };
            if newest.as_ref().is_none_or(|n| n.version < file.version) {
                newest = Some(file);
            }
        }
        Ok(newest)
    }

    /// Reads a version.
    pub(crate) fn read(&self, file: &VersionFile) -> Result<TableMetadata> {
        let path = self.dir.join(&file.name);
        let what = || format!("read the table metadata '{}'", path.display());
        let bytes = fs::read(&path).context(what)?;
        parse(&plain(bytes).context(what)?, what)
    }

    /// Whether `base` is a version of the table with this UUID, and can be rewritten without loss.
    fn check_base(&self, base: &VersionFile, uuid: Uuid) -> Result<(), CommitError> {
        let path = self.dir.join(&base.name);
        let what = || format!("read the table metadata '{}'", path.display());
        let read = || -> Result<Head> {
            let bytes = fs::read(&path).context(what)?;
            serde_json::from_slice(&plain(bytes).context(what)?).context(what)
        };
        let head = read().map_err(CommitError::Rejected)?;
        // A table that was dropped and created again counts its versions from 1, too.
        if head.table_uuid.is_some_and(|found| found != uuid) {
            return Err(CommitError::Conflict);
        }
        head.check_rewritable()?;
        Ok(())
    }

    /// Creates the folder and the first version.
    pub(crate) fn create(&self, metadata: &TableMetadata) -> Result<VersionFile, CommitError> {
        let reject = CommitError::Rejected;
        encode(metadata).map_err(reject)?; // before there is a folder
        fs::create_dir_all(&self.dir)
            .context(|| format!("create the folder '{}'", self.dir.display()))
            .map_err(reject)?;
        if self.any().map_err(reject)? {
            return Err(CommitError::Conflict);
        }
        self.publish(1, encode(metadata).map_err(reject)?)
    }

    /// Creates the version after `base`, which must still be the newest version, and of the same table; `old` is what it
    /// holds.
    pub(crate) fn replace(
        &self,
        base: &VersionFile,
        old: &TableMetadata,
        metadata: &TableMetadata,
    ) -> Result<VersionFile, CommitError> {
        encode(metadata).map_err(CommitError::Rejected)?;
        let newest = self.newest().map_err(CommitError::Rejected)?;
        if newest.as_ref() != Some(base) {
            return Err(CommitError::Conflict);
        }
        self.check_base(base, metadata.uuid())?;
        let next = base
            .version
            .checked_add(1)
            .ok_or_else(|| CommitError::Rejected(Error::new("invalid-table", "too many versions of a table")))?;
        // all who replace a version name the next one alike, whatever they set
        self.publish(next, encode_as(metadata, old).map_err(CommitError::Rejected)?)
    }

    fn publish(&self, version: u64, (bytes, ending): (Vec<u8>, &str)) -> Result<VersionFile, CommitError> {
        let name = format!("v{version}{ending}");
        create_exclusively(&self.dir, &name, &bytes)?;
        if let Err(error) = write_atomically(&self.dir, HINT, version.to_string().as_bytes()) {
            tracing::warn!(%error, dir = %self.dir.display(), "cannot write the version hint; readers will search");
        }
        Ok(VersionFile { version, name })
    }
}

/// The error for a hint above the newest version: it is written after its version, so that versions, and rows, were lost.
pub(super) fn hint_too_high(folder: &str, hint: u64, newest: u64) -> Error {
    Error::new("invalid-table", format!("the table's metadata file '{folder}/v{hint}.metadata.json' is missing"))
        .with_detail(format!("Metadata file for version {hint} is missing"))
        .with_hint(format!("restore the file, or write {newest} to {HINT} to go back to that version"))
}

/// `vN` + one of the endings.
pub(crate) fn parse_name(name: &str) -> Option<VersionFile> {
    let rest = name.strip_prefix('v')?;
    let digits = ENDINGS.iter().filter_map(|ending| rest.strip_suffix(ending));
    let version = digits.filter(|d| d.bytes().all(|b| b.is_ascii_digit())).find_map(|d| d.parse().ok())?;
    Some(VersionFile { version, name: name.to_owned() })
}

fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Creates `dir/name` with these bytes unless it exists, all or nothing and durably.
///
/// # Errors
/// [`CommitError::Conflict`] if it exists; [`CommitError::Unknown`] if the system will not say whether it does.
pub(crate) fn create_exclusively(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), CommitError> {
    let target = dir.join(name);
    let temporary = dir.join(format!(".{}.tmp", Uuid::new_v4()));
    if let Err(error) = write_durably(&temporary, bytes) {
        let _ = fs::remove_file(&temporary);
        return Err(CommitError::Rejected(cannot_create(&target, &error)));
    }
    let linked = fs::hard_link(&temporary, &target);
    let verdict = linked.or_else(|error| settle(&temporary, &target, &error));
    let _ = fs::remove_file(&temporary);
    if verdict.is_ok()
        && let Err(error) = File::open(dir).and_then(|d| d.sync_all())
    {
        tracing::warn!(%error, dir = %dir.display(), "cannot flush the folder");
    }
    verdict
}

/// What a failed link means. On network file systems a link can succeed and still answer with an error, "exists"
/// included, when the first answer got lost; the link itself tells.
fn settle(temporary: &Path, target: &Path, error: &io::Error) -> Result<(), CommitError> {
    let failed = cannot_create(target, error);
    match same_file(temporary, target) {
        Ok(Some(true)) => Ok(()),
        Ok(Some(false)) => Err(CommitError::Conflict),
        Ok(None) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied) => {
            Err(CommitError::Rejected(failed.with_hint("the warehouse must be on a file system with hard links")))
        }
        Ok(None) => Err(CommitError::Rejected(failed)),
        Err(_) => Err(CommitError::Unknown(failed)),
    }
}

fn cannot_create(target: &Path, error: &io::Error) -> Error {
    Error::new("io", format!("cannot create the file '{}': {error}", target.display()))
}

/// Whether `target` is the file `temporary`; `None` if there is no `target`.
fn same_file(temporary: &Path, target: &Path) -> io::Result<Option<bool>> {
    let found = match fs::symlink_metadata(target) {
        Ok(found) => found,
        Err(e) if absent(&e) => return Ok(None),
        Err(e) => return Err(e),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let own = fs::symlink_metadata(temporary)?;
        Ok(Some(own.ino() == found.ino() && own.dev() == found.dev()))
    }
    #[cfg(not(unix))]
    {
        let _ = (temporary, found);
        Ok(Some(false))
    }
}

/// Replaces `dir/name`.
fn write_atomically(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let temporary = dir.join(format!(".{}.tmp", Uuid::new_v4()));
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, dir.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::sync::{Arc, Barrier};

    use super::*;

    fn files(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_version_is_created_once() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let name = format!("v{round}.metadata.json");
            let barrier = Arc::new(Barrier::new(4));
            let threads: Vec<_> = (0..4_u8)
                .map(|i| {
                    let (dir, name, barrier) = (dir.path().to_owned(), name.clone(), barrier.clone());
                    std::thread::spawn(move || {
                        barrier.wait();
                        create_exclusively(&dir, &name, &[i; 100_000])
                    })
                })
                .collect();
            let answers: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
            let winner = answers.iter().position(Result::is_ok).unwrap();
            assert_eq!(answers.iter().filter(|a| a.is_ok()).count(), 1);
            assert!(answers.iter().all(|a| matches!(a, Ok(()) | Err(CommitError::Conflict))));
            assert_eq!(fs::read(dir.path().join(&name)).unwrap(), vec![winner as u8; 100_000]);
        }
        assert_eq!(files(dir.path()).len(), 50, "no temporary file is left");
    }

    #[test]
    fn a_lost_answer_is_settled() {
        let dir = tempfile::tempdir().unwrap();
        let (temporary, target) = (dir.path().join("t"), dir.path().join("v1.metadata.json"));
        fs::write(&temporary, "x").unwrap();
        let exists = io::Error::from(ErrorKind::AlreadyExists);
        assert!(matches!(settle(&temporary, &target, &exists), Err(CommitError::Rejected(_))));
        fs::hard_link(&temporary, &target).unwrap();
        assert!(settle(&temporary, &target, &exists).is_ok());
        fs::remove_file(&target).unwrap();
        fs::write(&target, "y").unwrap();
        assert!(matches!(settle(&temporary, &target, &exists), Err(CommitError::Conflict)));
    }

    #[test]
    fn the_newest_version_is_found_with_and_without_a_good_hint() {
        let dir = tempfile::tempdir().unwrap();
        let versions = VersionFiles::of_table(dir.path());
        assert_eq!(versions.newest().unwrap(), None);
        let metadata = dir.path().join("metadata");
        fs::create_dir(&metadata).unwrap();
        assert_eq!(versions.newest().unwrap(), None);
        for name in ["v1.metadata.json", "v2.gz.metadata.json", "v3.metadata.json.gz", "v10.metadata.json", "x.json"] {
            fs::write(metadata.join(name), "{}").unwrap();
        }
        let newest = || versions.newest().unwrap().unwrap();
        assert_eq!(newest().version, 10);
        for (hint, expected) in [("1", 3), ("2\n", 3), ("3", 3), ("10", 10), ("7", 10), ("x", 10), ("", 10)] {
            fs::write(metadata.join(HINT), hint).unwrap();
            assert_eq!(newest().version, expected, "hint {hint:?}");
        }
        fs::write(metadata.join(HINT), "11").unwrap();
        assert_eq!(versions.newest().unwrap_err().code, "invalid-table");
        fs::write(metadata.join(HINT), "2").unwrap();
        fs::write(metadata.join("v4.metadata.json"), "{}").unwrap();
        assert_eq!(newest().name, "v4.metadata.json");
    }

    #[test]
    fn names() {
        let version = |name| parse_name(name).map(|f| f.version);
        assert_eq!(version("v12.metadata.json"), Some(12));
        assert_eq!(version("v12.gz.metadata.json"), Some(12));
        assert_eq!(version("v12.metadata.json.gz"), Some(12));
        for name in [
            "v.metadata.json",
            "12.metadata.json",
            "v1x.metadata.json",
            "v1.json",
            ".metadata.json",
            "v-1.metadata.json",
        ] {
            assert_eq!(version(name), None, "{name}");
        }
    }
}
