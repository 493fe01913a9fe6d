//! What a Hadoop catalog asks of the place its warehouse is in.

use std::fmt::Debug;
use std::time::SystemTime;

use async_trait::async_trait;
use calve_types::Result;
use iceberg::TableIdent;

use crate::commit::CommitError;

/// The state of a file: its size in bytes, and when it was written.
pub(super) type Stamp = (u64, SystemTime);

/// What became of a database that was to be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dropped {
    /// It is gone.
    Done,
    /// It was not there.
    Missing,
    /// Something is in it: it stays.
    NotEmpty,
}

/// Folders and files, by the locations that tables have for them.
#[async_trait]
pub(super) trait Storage: Debug + Send + Sync {
    /// Whether a folder is there.
    ///
    /// # Errors
    /// `io`, `access-denied`, as all others here.
    async fn is_folder(&self, folder: &str) -> Result<bool>;

    /// The names of the folders in a folder, sorted; of one that is not there, none. Some may be gone.
    async fn folders(&self, folder: &str) -> Result<Vec<String>>;

    /// The names of the files in a folder; of one that is not there, none.
    async fn files(&self, folder: &str) -> Result<Vec<String>>;

    /// Whether a file is there.
    async fn has_file(&self, file: &str) -> Result<bool>;

    /// Reads a file.
    async fn read(&self, file: &str) -> Result<Vec<u8>>;

    /// What tells whether a file is another one than it was; `None` if nothing does.
    async fn stamp(&self, _file: &str) -> Result<Option<Stamp>> {
        Ok(None)
    }

    /// Creates a file unless it exists, all or nothing and durably. Its folder is there. The state it has, if that can be told.
    ///
    /// # Errors
    /// [`CommitError::Conflict`] if it exists; [`CommitError::Unknown`] if nobody can say whether it does.
    async fn create(&self, file: &str, bytes: Vec<u8>) -> Result<Option<Stamp>, CommitError>;

    /// Writes a file, over one that may be there.
    async fn write(&self, file: &str, bytes: Vec<u8>) -> Result<()>;

    /// Refuses what is no folder, and cannot be one, on the way to a table or a database.
    async fn check_way(&self, _folder: &str) -> Result<()> {
        Ok(())
    }

    /// Refuses a database in the place of a new table.
    ///
    /// # Errors
    /// `invalid-name`.
    async fn check_free(&self, table: &str, ident: &TableIdent) -> Result<()>;

    /// Makes a folder for files of a new table, where folders have to be made.
    async fn make_folder(&self, _folder: &str) -> Result<()> {
        Ok(())
    }

    /// Makes a database, and what it is in; `false` if it is there already.
    async fn create_database(&self, folder: &str) -> Result<bool>;

    /// Drops an empty database.
    async fn drop_database(&self, folder: &str) -> Result<Dropped>;

    /// The locations of files that were to be deleted since the last time and may be left, beside those that are known
    /// elsewhere.
    fn take_left(&self) -> Vec<String> {
        Vec::new()
    }

    /// Deletes a table and all that lies in its folder; `None` if it is gone. Files, or a folder with files, may be left:
    /// their locations.
    ///
    /// # Errors
    /// `commit-conflict` if it got a new version meanwhile; `commit-unknown` if nobody knows whether the table is there.
    async fn drop_table(&self, table: &str, ident: &TableIdent) -> Result<Option<Vec<String>>>;
}
