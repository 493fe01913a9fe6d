//! Catalogs that keep a pointer for each table: where its newest metadata file is. What they share is here; where the
//! pointers are is a [`PointerStore`]'s (see [`store`]).
//!
//! A commit writes the next metadata file, and then moves the pointer from the old file to the new one if it still points
//! to the old one (the Java library's `BaseMetastoreTableOperations`). What a failed move means decides what becomes of
//! the file: see [`Failure`].

mod store;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use calve_types::{Error, Result};
use iceberg::spec::{FormatVersion, TableMetadata};
use iceberg::{TableIdent, TableRequirement, TableUpdate};
use uuid::Uuid;

pub(super) use self::store::{Failure, PointerStore, Version};
use super::create::{NewTables, new_metadata};
use super::metadata::{Head, apply, check_readable, check_requirements, delete_expired, encode, parse, plain};
use super::names::{check_namespace, check_table};
use super::purge::purge;
use super::settings::Settings;
use super::{Catalog, Staged, TableCreation};
use crate::commit::{CommitError, TableOps};
use crate::error::Context;
use crate::io::TableIo;
use crate::table::{ManifestCache, Table};

/// How often a table is read that is to be dropped, and that others change meanwhile.
const MOST_READS: u32 = 5;

/// A catalog over a store of pointers. Other processes may use it at the same time.
#[derive(Debug)]
pub(super) struct PointerCatalog<S> {
    settings: Settings,
    new_tables: NewTables,
    store: S,
    io: TableIo,
    manifests: ManifestCache,
}

impl<S: PointerStore> PointerCatalog<S> {
    /// A catalog from the options of CREATE CATALOG, as far as they are not the store's: how files are reached, and what new
    /// tables have.
    ///
    /// # Errors
    /// As [`TableIo::new`].
    pub(super) fn new(settings: Settings, store: S, options: &BTreeMap<String, String>) -> Result<Self> {
        let (new_tables, io) = (NewTables::of(options), TableIo::new(options)?);
        Ok(Self { settings, new_tables, store, io, manifests: ManifestCache::default() })
    }

    fn table(&self, ident: &TableIdent, metadata: TableMetadata, location: String) -> Table {
        Table::new(ident.clone(), Arc::new(metadata), location, self.io.clone(), self.manifests.clone())
    }

    async fn read(&self, location: &str) -> Result<Vec<u8>> {
        let what = || format!("read the table metadata '{location}'");
        plain(self.io.read(location).await?.to_vec()).context(what)
    }

    /// Writes the metadata file of the version after `base`, durably.
    async fn write(&self, metadata: &TableMetadata, base: Option<&str>) -> Result<String> {
        let folder = match metadata.properties().get("write.metadata.path") {
            Some(path) => path.trim_end_matches('/').to_owned(),
            None => format!("{}/metadata", metadata.location()),
        };
        let version = base.and_then(version_of).map_or(0, |v| v.saturating_add(1));
        let (bytes, ending) = encode(metadata)?;
        let location = format!("{folder}/{version:05}-{}{ending}", Uuid::new_v4());
        let written = match self.io.write(&location, Bytes::from(bytes)).await {
            Ok(()) => self.io.sync(vec![location.clone(), folder]).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            self.forget(&location).await;
            return Err(error);
        }
        Ok(location)
    }

    /// Writes a version while the one it replaces is there. A local warehouse may have been moved, deleted or unmounted: a
    /// write would make its folders anew, and the commit would go into them.
    async fn write_beside<F>(&self, ident: &TableIdent, old: &str, write: F) -> Result<String>
    where
        F: Future<Output = Result<String>> + Send,
    {
        self.check_there(ident, old).await?;
        let location = write.await?;
        if let Err(error) = self.check_there(ident, old).await {
            self.forget(&location).await;
            return Err(error);
        }
        Ok(location)
    }

    async fn check_there(&self, ident: &TableIdent, old: &str) -> Result<()> {
        if self.io.is_remote(old) || self.io.exists(old).await? {
            return Ok(());
        }
        Err(Error::new("io", format!("the metadata file '{old}' of table '{ident}' is gone"))
            .with_detail(
                "The folder of the table was moved or deleted, or its disk is not mounted. Nothing was committed.",
            )
            .with_hint("bring the folder back, and run the statement again"))
    }

    /// Deletes a metadata file that did not become a version.
    async fn forget(&self, location: &str) {
        self.io.delete_or_leave(location).await;
    }

    /// A table that can be created.
    async fn stage(&self, ident: &TableIdent, creation: &TableCreation) -> Result<Table> {
        check_table(ident)?;
        self.store.check_new_table(ident)?;
        if !self.namespace_exists(ident.namespace()).await? {
            return Err(self.settings.unknown_database(ident.namespace()));
        }
        if self.store.pointer(ident).await?.is_some() {
            return Err(self.settings.table_exists(ident.namespace(), ident.name()));
        }
        let folder = match creation.location() {
            Some(given) => given.to_owned(),
            None => self.store.folder(ident).await?,
        };
        let metadata = new_metadata(&self.new_tables.applied(creation), &folder)?;
        Ok(self.table(ident, metadata, String::new()))
    }
}

/// The error of a change whose answer got lost.
fn unknown(change: &str, error: &Error) -> Error {
    Error::new("commit-unknown", format!("nobody knows whether {change}: {error}"))
}

/// The version in the name of a metadata file: `00012-<uuid>.metadata.json`.
fn version_of(location: &str) -> Option<u64> {
    location.rsplit('/').next()?.split_once('-')?.0.parse().ok()
}

#[async_trait]
impl<S: PointerStore> TableOps for PointerCatalog<S> {
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        self.load_table(ident).await?.ok_or_else(|| self.settings.unknown_table(ident))
    }

    async fn commit(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        check_requirements(base, &requirements)?;
        let (ident, old) = (base.ident(), base.metadata_location());
        if base.metadata().format_version() == FormatVersion::V1 {
            let text = self.read(old).await.map_err(CommitError::Rejected)?;
            let head: Head = serde_json::from_slice(&text)
                .context(|| format!("read the table metadata '{old}'"))
                .map_err(CommitError::Rejected)?;
            head.check_rewritable()?;
        }
        let built = apply(base, updates).map_err(CommitError::Rejected)?;
        let write = self.write(&built.metadata, Some(old));
        let location = self.write_beside(ident, old, write).await.map_err(CommitError::Rejected)?;
        let next = Version { location: &location, metadata: &built.metadata };
        match self.store.replace(ident, old, next).await {
            Ok(true) => {}
            Ok(false) | Err(Failure::Busy(_)) => {
                self.forget(&location).await;
                return Err(CommitError::Conflict);
            }
            Err(Failure::Taken(error) | Failure::Refused(error)) => {
                self.forget(&location).await;
                return Err(CommitError::Rejected(error));
            }
            // the store may know
            Err(failure @ (Failure::Unclear(_) | Failure::Lost(_))) => {
                let over = matches!(failure, Failure::Unclear(_));
                match self.store.pointer(ident).await {
                    Ok(Some(found)) if found == location => {}
                    Ok(Some(found)) if found == old && over => {
                        self.forget(&location).await;
                        return Err(CommitError::Rejected(failure.into()));
                    }
                    // it may have done it, or may still do it: the file stays
                    _ => return Err(CommitError::Unknown(failure.into())),
                }
            }
        }
        delete_expired(&self.io, &built).await;
        Ok(self.table(ident, built.metadata, location))
    }
}

#[async_trait]
impl<S: PointerStore> Catalog for PointerCatalog<S> {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn take_left(&self) -> Vec<String> {
        self.io.take_left()
    }

    async fn connect(&self) -> Result<()> {
        self.store.connect().await
    }

    async fn list_namespaces(&self, parent: &[String]) -> Result<Vec<Vec<String>>> {
        if !parent.is_empty() && !self.namespace_exists(parent).await? {
            return Err(self.settings.unknown_database(parent));
        }
        let below = self.store.namespaces(parent).await?.into_iter();
        let mut children: Vec<Vec<String>> = below.map(|l| l.into_iter().take(parent.len() + 1).collect()).collect();
        children.sort();
        children.dedup();
        Ok(children)
    }

    async fn namespace_exists(&self, namespace: &[String]) -> Result<bool> {
        check_namespace(namespace)?;
        Ok(namespace.is_empty() || self.store.has_namespace(namespace).await?)
    }

    fn check_new_namespace(&self, namespace: &[String], _properties: &BTreeMap<String, String>) -> Result<()> {
        check_namespace(namespace)?;
        self.store.check_new_namespace(namespace)
    }

    async fn create_namespace(&self, namespace: &[String], properties: BTreeMap<String, String>) -> Result<()> {
        self.check_new_namespace(namespace, &properties)?;
        let exists = || self.settings.database_exists(namespace);
        if self.namespace_exists(namespace).await? {
            return Err(exists());
        }
        match self.store.create_namespace(namespace, properties).await {
            Ok(()) => Ok(()),
            Err(Failure::Taken(_)) => Err(exists()),
            Err(Failure::Busy(error) | Failure::Refused(error)) => Err(error),
            Err(Failure::Unclear(error) | Failure::Lost(error)) => {
                let database = self.settings.database(namespace);
                Err(unknown(&format!("database '{database}' was created"), &error)
                    .with_hint("look whether the database exists before running the statement again"))
            }
        }
    }

    fn check_namespace_properties(&self, _namespace: &[String]) -> Result<()> {
        Ok(())
    }

    async fn set_namespace_properties(&self, namespace: &[String], properties: BTreeMap<String, String>) -> Result<()> {
        if namespace.is_empty() || !self.namespace_exists(namespace).await? {
            return Err(self.settings.unknown_database(namespace));
        }
        self.store.set_namespace_properties(namespace, properties).await
    }

    async fn drop_namespace(&self, namespace: &[String]) -> Result<()> {
        if namespace.is_empty() || !self.namespace_exists(namespace).await? {
            return Err(self.settings.unknown_database(namespace));
        }
        if !self.store.namespaces(namespace).await?.is_empty() {
            return Err(self.settings.database_not_empty(namespace));
        }
        match self.store.drop_namespace(namespace).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.settings.database_not_empty(namespace)),
            // the answer got lost: the store may know
            Err(Failure::Unclear(error) | Failure::Lost(error)) => match self.store.has_namespace(namespace).await {
                Ok(false) => Ok(()),
                Ok(true) | Err(_) => {
                    let database = self.settings.database(namespace);
                    Err(unknown(&format!("database '{database}' was dropped"), &error)
                        .with_hint("look whether the database exists before running the statement again"))
                }
            },
            Err(error) => Err(error.into()),
        }
    }

    async fn list_tables(&self, namespace: &[String]) -> Result<Vec<String>> {
        if !self.namespace_exists(namespace).await? {
            return Err(self.settings.unknown_database(namespace));
        }
        self.store.tables(namespace).await
    }

    async fn table_exists(&self, ident: &TableIdent) -> Result<bool> {
        check_table(ident)?;
        Ok(self.store.pointer(ident).await?.is_some())
    }

    async fn load_table(&self, ident: &TableIdent) -> Result<Option<Table>> {
        check_table(ident)?;
        let Some(location) = self.store.pointer(ident).await? else { return Ok(None) };
        let text = self.read(&location).await?;
        let metadata = parse(&text, || format!("read the table metadata '{location}'"))?;
        check_readable(ident, &metadata)?;
        Ok(Some(self.table(ident, metadata, location)))
    }

    fn draft(&self, ident: &TableIdent, creation: &TableCreation) -> Result<TableMetadata> {
        check_table(ident)?;
        self.store.check_new_table(ident)?;
        let folder = creation.location().map_or_else(|| self.store.drafted_folder(ident), str::to_owned);
        new_metadata(&self.new_tables.applied(creation), &folder)
    }

    fn needs_database(&self) -> bool {
        true
    }

    async fn stage_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Staged> {
        self.stage(ident, &creation).await.map(Staged::Ready)
    }

    async fn create_staged(&self, staged: &Table, updates: Vec<TableUpdate>) -> Result<Table, CommitError> {
        let ident = staged.ident();
        let metadata = apply(staged, updates).map_err(CommitError::Rejected)?.metadata;
        let location = self.write(&metadata, None).await.map_err(CommitError::Rejected)?;
        match self.store.create_table(ident, Version { location: &location, metadata: &metadata }).await {
            Ok(()) => Ok(self.table(ident, metadata, location)),
            Err(Failure::Taken(_)) => {
                self.forget(&location).await;
                Err(CommitError::Conflict)
            }
            Err(Failure::Busy(error) | Failure::Refused(error)) => {
                self.forget(&location).await;
                Err(CommitError::Rejected(error))
            }
            // the store may know
            Err(failure @ (Failure::Unclear(_) | Failure::Lost(_))) => {
                let over = matches!(failure, Failure::Unclear(_));
                let error = Error::from(failure);
                match self.store.pointer(ident).await {
                    Ok(Some(found)) if found == location => Ok(self.table(ident, metadata, location)),
                    // the name is taken: a request that got lost cannot take it any more
                    Ok(Some(_)) => {
                        self.forget(&location).await;
                        Err(CommitError::Conflict)
                    }
                    Ok(None) if over => {
                        self.forget(&location).await;
                        Err(CommitError::Rejected(error))
                    }
                    Ok(None) | Err(_) => Err(CommitError::Unknown(
                        unknown(&format!("table '{ident}' was created"), &error)
                            .with_detail(format!("Its metadata file '{location}' was written."))
                            .with_hint("look whether the table exists before running the statement again"),
                    )),
                }
            }
        }
    }

    async fn rename_table(&self, ident: &TableIdent, name: &str) -> Result<()> {
        check_table(ident)?;
        let renamed = TableIdent::new(ident.namespace().clone(), name.to_owned());
        check_table(&renamed)?;
        self.store.check_new_table(&renamed)?;
        let exists = || self.settings.table_exists(ident.namespace(), name);
        let Some(location) = self.store.pointer(ident).await? else {
            return Err(self.settings.unknown_table(ident));
        };
        match self.store.rename_table(ident, name).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.settings.unknown_table(ident)),
            Err(Failure::Taken(_)) => Err(exists()),
            Err(Failure::Busy(error) | Failure::Refused(error)) => Err(error),
            // the answer got lost: the store may know
            Err(Failure::Unclear(error) | Failure::Lost(error)) => match self.store.pointer(&renamed).await {
                Ok(Some(found)) if found == location => Ok(()),
                Ok(Some(_)) => Err(exists()),
                Ok(None) | Err(_) => Err(unknown(&format!("table '{ident}' was renamed"), &error)
                    .with_hint("look for both names before running the statement again")),
            },
        }
    }

    async fn drop_table(&self, ident: &TableIdent, with_files: bool) -> Result<bool> {
        check_table(ident)?;
        for _ in 0..MOST_READS {
            let table = if with_files { self.load_table(ident).await } else { Ok(None) };
            // the name may be another table's by now: only that is dropped whose files are deleted
            let read = match &table {
                Ok(Some(table)) => Some(table.metadata_location().to_owned()),
                Ok(None) if with_files => return Ok(false),
                Ok(None) => None,
                // a table whose metadata cannot be read can still be dropped
                Err(_) => self.store.pointer(ident).await.ok().flatten(),
            };
            match self.store.drop_table(ident, read.as_deref()).await {
                Ok(true) => {}
                Ok(false) if read.is_some() && self.store.pointer(ident).await?.is_some() => continue,
                Ok(false) => return Ok(false),
                Err(Failure::Unclear(error) | Failure::Lost(error)) => {
                    // the answer got lost: the store may know
                    if !matches!(self.store.pointer(ident).await, Ok(None)) {
                        return Err(unknown(&format!("table '{ident}' was dropped"), &error)
                            .with_hint("look whether the table exists before running the statement again"));
                    }
                }
                Err(error) => return Err(error.into()),
            }
            match table {
                Ok(Some(table)) => purge(&table).await,
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "the files of a dropped table are left");
                    let folder = |file: String| file.rsplit_once("/metadata/").map(|(folder, _)| folder.to_owned());
                    self.io.note_left(read.and_then(folder).into_iter().collect());
                }
            }
            return Ok(true);
        }
        Err(Error::new("commit-conflict", format!("table '{ident}' was changed while it was dropped"))
            .with_detail("Nothing was dropped.")
            .with_hint("run the statement again"))
    }
}

#[cfg(test)]
mod tests;
