//! Locks on folders, which the system releases when their holder ends, however it ends.
//!
//! A table's folder is locked while its files are listed (shared), files are added (shared), or files are replaced
//! (exclusive): whoever lists sees the files before or after an overwrite, and two overwrites come one after the other.
//! A writer holds its staging folder, so that those of writers that were killed can be told.
//!
//! The folders themselves are locked: a lock file would have to stay behind. Some network file systems have no locks for
//! folders; tables there are used without.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A folder that is held until this is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _folder: File,
    is_held: bool,
}

impl Lock {
    /// Waits until nobody replaces files of the folder.
    ///
    /// # Errors
    /// What the system answers if the folder cannot be opened.
    pub fn shared(folder: &Path) -> io::Result<Self> {
        Self::wait(folder, File::lock_shared)
    }

    /// Waits until nobody else holds the folder.
    ///
    /// # Errors
    /// What the system answers if the folder cannot be opened.
    pub fn exclusive(folder: &Path) -> io::Result<Self> {
        Self::wait(folder, File::lock)
    }

    /// Holds the folder alone, unless somebody else holds it or nobody can.
    pub fn try_exclusive(folder: &Path) -> Option<Self> {
        let file = File::open(folder).ok()?;
        match file.try_lock() {
            Ok(()) => Some(Self { _folder: file, is_held: true }),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => None,
        }
    }

    /// Whether others are kept out: not on file systems that have no such locks.
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    fn wait(folder: &Path, lock: fn(&File) -> io::Result<()>) -> io::Result<Self> {
        loop {
            let file = File::open(folder)?;
            let locked = lock(&file);
            if locked.as_ref().is_err_and(|e| e.kind() == ErrorKind::Interrupted) {
                continue;
            }
            // the folder may have been removed, and made again, in the meantime
            let (held, there) = (file.metadata()?, fs::metadata(folder)?);
            if (held.dev(), held.ino()) == (there.dev(), there.ino()) {
                return Ok(Self { _folder: file, is_held: locked.is_ok() });
            }
        }
    }
}
