//! A warehouse in object storage, whose versions are created by put-if-absent.
//!
//! An object store has no folders: a database without tables is an object `.database` in its place. No listing decides
//! what a table's newest version is, unless `version-hint.text` is missing or wrong; of all who create a version exactly
//! one succeeds. A store without put-if-absent is refused when a table is first written.

use async_trait::async_trait;
use bytes::Bytes;
use calve_types::{Error, Result};
use futures::TryStreamExt;
use iceberg::TableIdent;
use uuid::Uuid;

use super::storage::{Dropped, Stamp, Storage};
use super::versions::{VersionFile, Versions};
use crate::commit::CommitError;
use crate::io::{Created, TableIo};

/// The object that stands for a database.
const DATABASE: &str = ".database";

/// Objects.
#[derive(Debug)]
pub(super) struct Remote {
    io: TableIo,
}

impl Remote {
    pub(super) fn new(io: TableIo) -> Self {
        Self { io }
    }
}

#[async_trait]
impl Storage for Remote {
    /// Whether any object lies in a place. Some stores list folders that hold none any more.
    async fn is_folder(&self, folder: &str) -> Result<bool> {
        Ok(self.io.list(folder)?.try_next().await?.is_some())
    }

    async fn folders(&self, folder: &str) -> Result<Vec<String>> {
        Ok(self.io.children(folder).await?.folders)
    }

    async fn files(&self, folder: &str) -> Result<Vec<String>> {
        Ok(self.io.children(folder).await?.files)
    }

    async fn has_file(&self, file: &str) -> Result<bool> {
        self.io.exists(file).await
    }

    async fn read(&self, file: &str) -> Result<Vec<u8>> {
        Ok(self.io.read(file).await?.to_vec())
    }

    async fn create(&self, file: &str, bytes: Vec<u8>) -> Result<Option<Stamp>, CommitError> {
        match self.io.create(file, Bytes::from(bytes)).await {
            Ok(Created::Done) => Ok(None),
            Ok(Created::Exists) => Err(CommitError::Conflict),
            Err(error) if error.may_have_committed() => Err(CommitError::Unknown(error)),
            Err(error) => Err(CommitError::Rejected(error)),
        }
    }

    async fn write(&self, file: &str, bytes: Vec<u8>) -> Result<()> {
        self.io.write(file, Bytes::from(bytes)).await
    }

    async fn check_free(&self, table: &str, ident: &TableIdent) -> Result<()> {
        let children = self.io.children(table).await?;
        let mut taken = children.files.iter().any(|name| name == DATABASE);
        for folder in children.folders.iter().filter(|name| !matches!(name.as_str(), "data" | "metadata")) {
            taken = taken || self.is_folder(&format!("{table}/{folder}")).await?;
        }
        match taken {
            true => Err(Error::new("invalid-name", format!("'{ident}' is a database"))),
            false => Ok(()),
        }
    }

    async fn create_database(&self, folder: &str) -> Result<bool> {
        // of its own, so that each who creates it knows whose it is
        let content = Bytes::from(Uuid::new_v4().to_string());
        Ok(self.io.create(&format!("{folder}/{DATABASE}"), content).await? == Created::Done)
    }

    async fn drop_database(&self, folder: &str) -> Result<Dropped> {
        let marker = format!("{folder}/{DATABASE}");
        let mut objects = self.io.list(folder)?;
        while let Some(object) = objects.try_next().await? {
            if object.location != marker {
                return Ok(Dropped::NotEmpty);
            }
        }
        self.io.delete(&marker).await?;
        Ok(Dropped::Done)
    }

    /// The versions go first, the newest last.
    async fn drop_table(&self, table: &str, ident: &TableIdent) -> Result<Option<Vec<String>>> {
        let versions = Versions::of_table(self, table);
        let all = versions.all().await?;
        let Some(newest) = all.last().map(|file| file.version) else { return Ok(None) };
        let gone = async {
            for file in &all {
                self.io.delete(&versions.location(file)).await?;
            }
            self.io.delete(&versions.hint_file()).await?;
            versions.all().await
        };
        let there = match gone.await {
            Ok(there) => there,
            // what is there tells what was done
            Err(error) => match versions.all().await {
                Ok(there) if there.last().is_some_and(|file| file.version <= newest) => return Err(error),
                Ok(there) => {
                    self.io.delete_or_leave(&versions.hint_file()).await;
                    there
                }
                Err(_) => {
                    let message = format!("nobody knows whether table '{ident}' was dropped: {error}");
                    return Err(Error::new("commit-unknown", message)
                        .with_hint("look whether the table exists, and run the statement again if it does"));
                }
            },
        };
        if let Some(VersionFile { version: later, .. }) = there.last() {
            return Err(Error::new(
                "commit-conflict",
                format!("table '{ident}' was changed while it was dropped: it has a version {later} now"),
            )
            .with_detail(format!("Its versions up to {newest} are gone; no other file was deleted.")));
        }
        // what is there may be a database as well, of tables that other libraries put below
        let rest: Result<Vec<String>> = self.io.list(table)?.map_ok(|file| file.location).try_collect().await;
        match rest {
            Ok(rest) => {
                self.io.delete_all_or_leave(rest).await;
                Ok(Some(vec![]))
            }
            Err(error) => {
                tracing::warn!(%error, table, "files of a dropped table are left");
                Ok(Some(vec![table.to_owned()]))
            }
        }
    }
}
