//! A warehouse in the local file system. Everything here blocks, and runs where that is allowed.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use calve_types::{Error, Result};
use iceberg::TableIdent;
use uuid::Uuid;

use super::storage::{Dropped, Stamp, Storage};
use crate::commit::CommitError;
use crate::error::Context;
use crate::io::Left;

/// The end of the name of a dropped table's folder that is being deleted.
const TRASH: &str = ".dropped";

/// The folder of a warehouse.
#[derive(Debug)]
pub(super) struct Local {
    /// As locations begin with it.
    warehouse: String,
    root: PathBuf,
    /// Temporary files that could not be deleted.
    left: Left,
}

impl Local {
    pub(super) fn new(warehouse: String, root: PathBuf) -> Self {
        Self { warehouse, root, left: Left::default() }
    }

    fn path(&self, location: &str) -> PathBuf {
        let within = location.strip_prefix(&self.warehouse).unwrap_or(location).trim_start_matches('/');
        if within.is_empty() { self.root.clone() } else { self.root.join(within) }
    }

    async fn run<T: Send + 'static>(
        &self,
        location: &str,
        work: impl FnOnce(&Path) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let path = self.path(location);
        match tokio::task::spawn_blocking(move || work(&path)).await {
            Ok(done) => done,
            Err(error) => Err(broken(&error)),
        }
    }
}

/// A file task that ended without a result.
fn broken(error: &tokio::task::JoinError) -> Error {
    Error::internal(format!("a file task failed: {error}"))
}

#[async_trait]
impl Storage for Local {
    async fn is_folder(&self, folder: &str) -> Result<bool> {
        self.run(folder, |folder| Ok(folder.is_dir())).await
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>> {
        self.run(folder, |folder| names(folder, |entry, name| entry.path().is_dir() && !is_trash(name))).await
    }

    async fn files(&self, folder: &str) -> Result<Vec<String>> {
        // whatever has the name counts: nothing else can get it
        self.run(folder, |folder| names(folder, |_, _| true)).await
    }

    async fn has_file(&self, file: &str) -> Result<bool> {
        self.run(file, |file| match fs::metadata(file) {
            Ok(found) => Ok(found.is_file()),
            Err(e) if absent(&e) => Ok(false),
            Err(e) => Err(e).context(|| format!("look for the file '{}'", file.display())),
        })
        .await
    }

    async fn read(&self, file: &str) -> Result<Vec<u8>> {
        self.run(file, |file| fs::read(file).context(|| format!("read the file '{}'", file.display()))).await
    }

    async fn stamp(&self, file: &str) -> Result<Option<Stamp>> {
        self.run(file, |file| stamp(file).context(|| format!("read the file '{}'", file.display()))).await
    }

    async fn create(&self, file: &str, bytes: Vec<u8>) -> Result<Option<Stamp>, CommitError> {
        let (file, left) = (self.path(file), self.left.clone());
        match tokio::task::spawn_blocking(move || create_exclusively(&file, &bytes, &left)).await {
            Ok(done) => done,
            Err(error) => Err(CommitError::Unknown(broken(&error))),
        }
    }

    async fn write(&self, file: &str, bytes: Vec<u8>) -> Result<()> {
        let left = self.left.clone();
        self.run(file, move |file| {
            write_atomically(file, &bytes, &left).context(|| format!("write the file '{}'", file.display()))
        })
        .await
    }

    async fn check_way(&self, folder: &str) -> Result<()> {
        self.run(folder, check_no_file).await
    }

    /// A folder that will become a table must not hold other folders: tables of a namespace of that name.
    async fn check_free(&self, table: &str, _ident: &TableIdent) -> Result<()> {
        self.run(table, |table| {
            check_no_file(table)?;
            let others = names(table, |entry, name| entry.path().is_dir() && !matches!(name, "data" | "metadata"))?;
            if others.is_empty() {
                return Ok(());
            }
            Err(Error::new("invalid-name", format!("'{}' is a database that is not empty", table.display())))
        })
        .await
    }

    async fn make_folder(&self, folder: &str) -> Result<()> {
        self.run(folder, make_all).await
    }

    async fn create_database(&self, folder: &str) -> Result<bool> {
        self.run(folder, |folder| {
            if let Some(parent) = folder.parent() {
                make_all(parent)?;
            }
            match fs::create_dir(folder) {
                Ok(()) => Ok(true),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
                Err(e) => Err(e).context(|| format!("create the folder '{}'", folder.display())),
            }
        })
        .await
    }

    async fn drop_database(&self, folder: &str) -> Result<Dropped> {
        self.run(folder, |folder| match fs::remove_dir(folder) {
            Ok(()) => Ok(Dropped::Done),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Dropped::Missing),
            Err(e) if e.kind() == ErrorKind::DirectoryNotEmpty => Ok(Dropped::NotEmpty),
            Err(e) => Err(e).context(|| format!("delete the folder '{}'", folder.display())),
        })
        .await
    }

    fn take_left(&self) -> Vec<String> {
        self.left.take()
    }

    async fn drop_table(&self, table: &str, _ident: &TableIdent) -> Result<Option<Vec<String>>> {
        self.run(table, |table| {
            // One rename makes the table disappear; what follows may take long or be interrupted.
            let trash = table.with_file_name(format!(".{}{TRASH}", Uuid::new_v4()));
            let what = || format!("delete the folder '{}'", table.display());
            match fs::rename(table, &trash) {
                Ok(()) => {}
                Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
                // on network file systems a rename can be done and still answer with an error
                Err(_) if fs::symlink_metadata(&trash).is_ok() => {}
                Err(e) => return Err(e).context(what),
            }
            let mut left = vec![];
            if let Err(error) = fs::remove_dir_all(&trash) {
                tracing::warn!(%error, trash = %trash.display(), "files of a dropped table are left");
                left.push(trash.display().to_string());
            }
            Ok(Some(left))
        })
        .await
    }
}

/// The names in a folder that are wanted, sorted; of a folder that is not there, none.
fn names(folder: &Path, wanted: impl Fn(&fs::DirEntry, &str) -> bool) -> Result<Vec<String>> {
    let what = || format!("list the folder '{}'", folder.display());
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if absent(&e) => return Ok(Vec::new()),
        Err(e) => return Err(e).context(what),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.context(what)?;
        if let Ok(name) = entry.file_name().into_string()
            && wanted(&entry, &name)
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn is_trash(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(TRASH)
}

fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Refuses a file where a folder is, or will be.
fn check_no_file(path: &Path) -> Result<()> {
    match path.exists() && !path.is_dir() {
        true => Err(Error::new("io", format!("'{}' is a file where a folder is needed", path.display()))),
        false => Ok(()),
    }
}

fn make_all(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).context(|| format!("create the folder '{}'", folder.display()))
}

/// Creates a file with these bytes unless it exists, all or nothing and durably: the text is written to a temporary file, which
/// is then hard-linked to its final name.
///
/// # Errors
/// [`CommitError::Conflict`] if it exists; [`CommitError::Unknown`] if the system will not say whether it does.
fn create_exclusively(target: &Path, bytes: &[u8], left: &Left) -> Result<Option<Stamp>, CommitError> {
    let temporary = target.with_file_name(format!(".{}.tmp", Uuid::new_v4()));
    if let Err(error) = write_durably(&temporary, bytes) {
        remove(&temporary, left);
        return Err(CommitError::Rejected(cannot_create(target, &error)));
    }
    // a link has the state of its file; the name may be another file's as soon as it is there
    let written = stamp(&temporary).ok().flatten();
    let linked = fs::hard_link(&temporary, target);
    let verdict = linked.or_else(|error| settle(&temporary, target, &error));
    remove(&temporary, left);
    if verdict.is_ok()
        && let Some(folder) = target.parent()
        && let Err(error) = File::open(folder).and_then(|folder| folder.sync_all())
    {
        tracing::warn!(%error, folder = %folder.display(), "cannot flush the folder");
    }
    verdict.map(|()| written)
}

fn stamp(file: &Path) -> io::Result<Option<Stamp>> {
    let found = fs::metadata(file)?;
    Ok(found.modified().ok().map(|modified| (found.len(), modified)))
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

/// Deletes a temporary file, if it is there.
fn remove(temporary: &Path, left: &Left) {
    if fs::remove_file(temporary).is_err_and(|e| !absent(&e)) {
        left.locations().push(temporary.display().to_string());
    }
}

/// Replaces a file.
fn write_atomically(target: &Path, bytes: &[u8], left: &Left) -> io::Result<()> {
    let temporary = target.with_file_name(format!(".{}.tmp", Uuid::new_v4()));
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, target));
    if written.is_err() {
        remove(&temporary, left);
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

    #[test]
    fn a_version_is_created_once() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let target = dir.path().join(format!("v{round}.metadata.json"));
            let barrier = Arc::new(Barrier::new(4));
            let threads: Vec<_> = (0..4_u8)
                .map(|i| {
                    let (target, barrier) = (target.clone(), barrier.clone());
                    std::thread::spawn(move || {
                        barrier.wait();
                        create_exclusively(&target, &[i; 100_000], &Left::default())
                    })
                })
                .collect();
            let answers: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
            let winner = answers.iter().position(Result::is_ok).unwrap();
            assert_eq!(answers.iter().filter(|a| a.is_ok()).count(), 1);
            assert!(answers.iter().all(|a| matches!(a, Ok(Some(_)) | Err(CommitError::Conflict))));
            assert_eq!(fs::read(&target).unwrap(), vec![winner as u8; 100_000]);
        }
        assert_eq!(names(dir.path(), |_, _| true).unwrap().len(), 50, "no temporary file is left");
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
    fn locations_are_paths_below_the_warehouse() {
        for (warehouse, root) in [("/w", "/w"), ("file:/w", "/w"), ("file:///w", "/w"), ("", "/"), ("file:", "/")] {
            let local = Local::new(warehouse.to_owned(), PathBuf::from(root));
            assert_eq!(local.path(warehouse), Path::new(root));
            assert_eq!(local.path(&format!("{warehouse}/db/t")), Path::new(root).join("db/t"), "{warehouse}");
        }
    }
}
