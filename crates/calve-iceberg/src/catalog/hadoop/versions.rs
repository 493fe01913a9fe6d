//! The metadata files of a table in a Hadoop catalog: `metadata/vN.metadata.json`, one per version.
//!
//! A version exists once its file does, and nobody can create it twice. `version-hint.text` only says where to start
//! looking, as in the Java library (`HadoopTableOperations`).

use calve_types::{Error, Result};
use iceberg::spec::TableMetadata;
use uuid::Uuid;

use super::storage::{Stamp, Storage};
use crate::catalog::metadata::{Head, encode_as, gzip, parse, plain};
use crate::commit::CommitError;
use crate::error::Context;

/// The file that says where to start looking.
const HINT: &str = "version-hint.text";
/// Endings of a version's file: what is written, and what older Java libraries wrote.
const ENDINGS: [&str; 3] = [".metadata.json", ".gz.metadata.json", ".metadata.json.gz"];

/// The versions of a table.
pub(super) struct Versions<'a> {
    storage: &'a dyn Storage,
    /// The location of its folder `metadata`.
    folder: String,
}

/// A version's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VersionFile {
    pub(super) version: u64,
    pub(super) name: String,
}

impl<'a> Versions<'a> {
    /// The versions of the table in the folder `table`.
    pub(super) fn of_table(storage: &'a dyn Storage, table: &str) -> Self {
        Self { storage, folder: format!("{table}/metadata") }
    }

    /// Where a version's file is.
    pub(super) fn location(&self, file: &VersionFile) -> String {
        format!("{}/{}", self.folder, file.name)
    }

    /// Where the file is that says where to start looking.
    pub(super) fn hint_file(&self) -> String {
        format!("{}/{HINT}", self.folder)
    }

    /// Whether there is any version, which makes the folder a table.
    pub(super) async fn any(&self) -> Result<bool> {
        let hint = self.hint().await;
        Ok(self.start(hint).await?.is_some())
    }

    /// The newest version: the hint's, or the highest file's if the hint is missing or wrong, then upwards as long as
    /// there is a next one. `None` if there is no version.
    pub(super) async fn newest(&self) -> Result<Option<VersionFile>> {
        let hint = self.hint().await;
        let Some(mut newest) = self.start(hint).await? else { return Ok(None) };
        if let Some(hint) = hint.filter(|hint| *hint > newest.version) {
            return Err(self.hint_too_high(hint, newest.version));
        }
        while let Some(next) = newest.version.checked_add(1) {
            match self.version(next).await? {
                Some(file) => newest = file,
                None => break,
            }
        }
        Ok(Some(newest))
    }

    /// All versions that are left, the newest last.
    pub(super) async fn all(&self) -> Result<Vec<VersionFile>> {
        let names = self.storage.files(&self.folder).await?;
        let mut versions: Vec<_> = names.iter().filter_map(|name| parse_name(name)).collect();
        versions.sort_by_key(|file| file.version);
        Ok(versions)
    }

    /// What the hint says. One that cannot be read is none: it is not needed.
    async fn hint(&self) -> Option<u64> {
        let text = self.storage.read(&self.hint_file()).await.ok()?;
        String::from_utf8_lossy(&text).trim().parse().ok()
    }

    /// Where the search begins.
    async fn start(&self, hint: Option<u64>) -> Result<Option<VersionFile>> {
        if let Some(hint) = hint
            && let Some(file) = self.version(hint).await?
        {
            return Ok(Some(file));
        }
        Ok(self.all().await?.pop())
    }

    /// The file of one version, whatever its ending.
    async fn version(&self, version: u64) -> Result<Option<VersionFile>> {
        for ending in ENDINGS {
            let file = VersionFile { version, name: format!("v{version}{ending}") };
            if self.storage.has_file(&self.location(&file)).await? {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }

    /// The error for a hint above the newest version: it is written after its version, so that versions, and rows, were lost.
    fn hint_too_high(&self, hint: u64, newest: u64) -> Error {
        let file = format!("{}/v{hint}.metadata.json", self.folder);
        Error::new("invalid-table", format!("the table's metadata file '{file}' is missing"))
            .with_detail(format!("Metadata file for version {hint} is missing"))
            .with_hint(format!("restore the file, or write {newest} to {HINT} to go back to that version"))
    }

    /// Reads a version.
    pub(super) async fn read(&self, file: &VersionFile) -> Result<TableMetadata> {
        let location = self.location(file);
        parse(&self.text(&location).await?, || format!("read the table metadata '{location}'"))
    }

    async fn text(&self, location: &str) -> Result<Vec<u8>> {
        plain(self.storage.read(location).await?).context(|| format!("read the table metadata '{location}'"))
    }

    /// Whether `base` is a version of the table with this UUID, and can be rewritten without loss.
    async fn check_base(&self, base: &VersionFile, uuid: Uuid) -> Result<(), CommitError> {
        let location = self.location(base);
        let text = self.text(&location).await.map_err(CommitError::Rejected)?;
        let head: Head = serde_json::from_slice(&text)
            .context(|| format!("read the table metadata '{location}'"))
            .map_err(CommitError::Rejected)?;
        // A table that was dropped and created again counts its versions from 1, too.
        if head.table_uuid.is_some_and(|found| found != uuid) {
            return Err(CommitError::Conflict);
        }
        head.check_rewritable()
    }

    /// Creates the first version, if there is none, and the folder for it.
    ///
    /// # Errors
    /// See [`CommitError`].
    pub(super) async fn create(&self, metadata: &TableMetadata) -> Result<Published, CommitError> {
        let reject = CommitError::Rejected;
        gzip(metadata).map_err(reject)?;
        // never compressed: all who create the table name its first version alike, whatever they set
        let encoded = encode_as(metadata, false).map_err(reject)?; // before there is a folder
        self.storage.make_folder(&self.folder).await.map_err(reject)?;
        if self.any().await.map_err(reject)? {
            return Err(CommitError::Conflict);
        }
        self.publish(1, encoded).await
    }

    /// Creates the version after `base`, which must still be the newest version, and of the same table; `old` is what it
    /// holds. No folder is made: a table that is gone does not come back.
    ///
    /// # Errors
    /// See [`CommitError`].
    pub(super) async fn replace(
        &self,
        base: &VersionFile,
        old: &TableMetadata,
        metadata: &TableMetadata,
    ) -> Result<Published, CommitError> {
        let reject = CommitError::Rejected;
        gzip(metadata).map_err(reject)?;
        if self.newest().await.map_err(reject)?.as_ref() != Some(base) {
            return Err(CommitError::Conflict);
        }
        self.check_base(base, metadata.uuid()).await?;
        let next = base.version.checked_add(1);
        let next = next.ok_or_else(|| reject(Error::new("invalid-table", "too many versions of a table")))?;
        // by what the version before says: all who replace it name the next one alike, whatever they set
        let encoded = gzip(old).and_then(|compressed| encode_as(metadata, compressed)).map_err(reject)?;
        self.publish(next, encoded).await
    }

    async fn publish(&self, version: u64, (bytes, ending): (Vec<u8>, &str)) -> Result<Published, CommitError> {
        let file = VersionFile { version, name: format!("v{version}{ending}") };
        let stamp = self.storage.create(&self.location(&file), bytes).await?;
        if let Err(error) = self.storage.write(&self.hint_file(), version.to_string().into_bytes()).await {
            tracing::warn!(%error, folder = self.folder, "cannot write the version hint; readers will search");
        }
        Ok(Published { file, stamp })
    }
}

/// A version that was written.
pub(super) struct Published {
    pub(super) file: VersionFile,
    /// The state of its file, if that can be told.
    pub(super) stamp: Option<Stamp>,
}

/// `vN` + one of the endings.
pub(super) fn parse_name(name: &str) -> Option<VersionFile> {
    let rest = name.strip_prefix('v')?;
    let digits = ENDINGS.iter().filter_map(|ending| rest.strip_suffix(ending));
    let version = digits.filter(|d| d.bytes().all(|b| b.is_ascii_digit())).find_map(|d| d.parse().ok())?;
    Some(VersionFile { version, name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::fs;

    use super::super::local::Local;
    use super::*;

    #[tokio::test]
    async fn the_newest_version_is_found_with_and_without_a_good_hint() {
        let dir = tempfile::tempdir().unwrap();
        let warehouse = dir.path().to_str().unwrap().to_owned();
        let local = Local::new(warehouse.clone(), dir.path().to_owned());
        let versions = Versions::of_table(&local, &warehouse);
        assert_eq!(versions.newest().await.unwrap(), None);
        let metadata = dir.path().join("metadata");
        fs::create_dir(&metadata).unwrap();
        assert_eq!(versions.newest().await.unwrap(), None);
        for name in ["v1.metadata.json", "v2.gz.metadata.json", "v3.metadata.json.gz", "v10.metadata.json", "x.json"] {
            fs::write(metadata.join(name), "{}").unwrap();
        }
        let newest = async || versions.newest().await.unwrap().unwrap();
        assert_eq!(newest().await.version, 10);
        for (hint, expected) in [("1", 3), ("2\n", 3), ("3", 3), ("10", 10), ("7", 10), ("x", 10), ("", 10)] {
            fs::write(metadata.join(HINT), hint).unwrap();
            assert_eq!(newest().await.version, expected, "hint {hint:?}");
        }
        fs::write(metadata.join(HINT), "11").unwrap();
        assert_eq!(versions.newest().await.unwrap_err().code, "invalid-table");
        assert!(versions.any().await.unwrap());
        fs::write(metadata.join(HINT), "2").unwrap();
        fs::write(metadata.join("v4.metadata.json"), "{}").unwrap();
        assert_eq!(newest().await.name, "v4.metadata.json");
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
