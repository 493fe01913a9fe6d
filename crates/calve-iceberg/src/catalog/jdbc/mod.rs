//! The JDBC catalog: two tables of a relational database say where the current metadata file of each table is.
//!
//! The layout is the Java library's (`JdbcCatalog`, `JdbcUtil`), so that its readers, and PyIceberg's SQL catalog, open
//! it: see [`store`]. The databases are those of [`uri::Place`]; [`database`] says what a failed statement means.

mod database;
mod postgres;
mod store;
mod uri;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use calve_types::{Error, Result};
use iceberg::spec::TableMetadata;
use iceberg::{TableIdent, TableRequirement, TableUpdate};
use uuid::Uuid;

use self::database::Failure;
use self::store::{Opening, Store};
use self::uri::Place;
use super::create::new_metadata;
use super::metadata::{Head, apply, check_readable, check_requirements, deletes_old_metadata, encode, parse, plain};
use super::names::{check_namespace, check_table};
use super::open::Access;
use super::purge::purge;
use super::settings::Settings;
use super::warehouse::warehouse;
use super::{Catalog, TableCreation};
use crate::commit::{CommitError, TableOps};
use crate::error::Context;
use crate::io::TableIo;
use crate::table::{ManifestCache, Table};

/// A catalog in a relational database. Other processes may use it at the same time.
#[derive(Debug)]
pub struct JdbcCatalog {
    settings: Settings,
    /// The warehouse without slashes at the end: locations start with it.
    warehouse: String,
    store: Store,
    io: TableIo,
    manifests: ManifestCache,
}

impl JdbcCatalog {
    /// A catalog from the options of CREATE CATALOG: `uri` (`jdbc:sqlite:FILE` or
    /// `jdbc:postgresql://HOST:PORT/DATABASE`), `warehouse` (a folder of any storage), `jdbc.schema-version` (`V0`, the
    /// default, or `V1`), `jdbc.init-catalog-tables` (default `true`); for PostgreSQL `jdbc.user`, `jdbc.password` and
    /// other properties of its driver, and `clients`, the number of connections at most.
    ///
    /// # Errors
    /// `invalid-option` for options that are missing or wrong; `not-supported` for another database.
    pub(super) fn open(settings: Settings, options: &BTreeMap<String, String>, access: Access) -> Result<Self> {
        let given = |key: &str| options.get(key).map(|v| v.trim()).filter(|v| !v.is_empty());
        let name = &settings.name;
        let missing = |key: &str, detail: &str| {
            Error::new("invalid-option", format!("option '{key}' of catalog '{name}' is missing")).with_detail(detail)
        };
        let uri = given("uri").ok_or_else(|| missing("uri", "JDBC connection URI is required").with_hint(uri::HINT))?;
        let folder = given("warehouse").ok_or_else(|| {
            missing("warehouse", "Cannot initialize JDBCCatalog because warehousePath must not be null or empty")
        })?;
        let place = Place::parse(uri, options, access)?;
        let (io, warehouse) = (TableIo::new(options)?, warehouse(folder, name)?);
        let create = !given("jdbc.init-catalog-tables").is_some_and(|v| v.eq_ignore_ascii_case("false"));
        let typed = given("jdbc.schema-version").is_some_and(|v| v.eq_ignore_ascii_case("V1"));
        let store = Store::new(place, settings.name.clone(), Opening { access, create, typed });
        Ok(Self { settings, warehouse, store, io, manifests: ManifestCache::default() })
    }

    fn location(&self, ident: &TableIdent, creation: &TableCreation) -> String {
        let given = creation.properties.iter().find(|(key, _)| key.eq_ignore_ascii_case("location")).map(|(_, v)| v);
        if let Some(given) = given {
            return given.trim_end_matches('/').to_owned();
        }
        let levels = ident.namespace().iter().map(String::as_str).chain([ident.name()]);
        levels.fold(self.warehouse.clone(), |location, level| format!("{location}/{level}"))
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

    /// Deletes a metadata file that did not become a version.
    async fn forget(&self, location: &str) {
        if let Err(error) = self.io.delete(location).await {
            tracing::warn!(%error, "cannot delete a metadata file that was not used");
        }
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
impl TableOps for JdbcCatalog {
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
        let old = base.metadata_location();
        if base.metadata().format_version() == iceberg::spec::FormatVersion::V1 {
            let text = self.read(old).await.map_err(CommitError::Rejected)?;
            let head: Head = serde_json::from_slice(&text)
                .context(|| format!("read the table metadata '{old}'"))
                .map_err(CommitError::Rejected)?;
            head.check_rewritable()?;
        }
        let built = apply(base, updates)?;
        let location = self.write(&built.metadata, Some(old)).await.map_err(CommitError::Rejected)?;
        match self.store.replace(base.ident(), old, &location).await {
            Ok(true) => {}
            Ok(false) => {
                self.forget(&location).await;
                return Err(CommitError::Conflict);
            }
            Err(Failure::Busy(_)) => {
                self.forget(&location).await;
                return Err(CommitError::Conflict);
            }
            Err(Failure::Taken(error) | Failure::Refused(error)) => {
                self.forget(&location).await;
                return Err(CommitError::Rejected(error));
            }
            // the database may have done it, or may still do it: the file stays
            Err(Failure::Lost(error)) => return Err(CommitError::Unknown(error)),
        }
        if deletes_old_metadata(&built.metadata) {
            for old in &built.expired_metadata_logs {
                self.forget(&old.metadata_file).await;
            }
        }
        Ok(self.table(base.ident(), built.metadata, location))
    }
}

#[async_trait]
impl Catalog for JdbcCatalog {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn default_database(&self) -> &str {
        &self.settings.default_database
    }

    fn base_namespace(&self) -> &[String] {
        &self.settings.base_namespace
    }

    async fn connect(&self) -> Result<()> {
        Ok(self.store.connect().await?)
    }

    async fn list_namespaces(&self, parent: &[String]) -> Result<Vec<Vec<String>>> {
        if !parent.is_empty() && !self.namespace_exists(parent).await? {
            return Err(self.settings.unknown_database(parent));
        }
        let mut children: Vec<Vec<String>> = self
            .store
            .namespaces()
            .await?
            .into_iter()
            .filter(|levels| levels.len() > parent.len() && levels.starts_with(parent))
            .map(|mut levels| {
                levels.truncate(parent.len() + 1);
                levels
            })
            .collect();
        children.sort();
        children.dedup();
        Ok(children)
    }

    async fn namespace_exists(&self, namespace: &[String]) -> Result<bool> {
        check_namespace(namespace)?;
        Ok(namespace.is_empty() || self.store.namespaces().await?.iter().any(|n| n.starts_with(namespace)))
    }

    fn check_new_namespace(&self, namespace: &[String], _properties: &BTreeMap<String, String>) -> Result<()> {
        if let Some(level) = namespace.iter().find(|level| level.contains('.')) {
            return Err(Error::new("invalid-name", format!("'{level}' is not a database name in a JDBC catalog"))
                .with_hint("a dot separates levels there"));
        }
        Ok(())
    }

    async fn create_namespace(&self, namespace: &[String], properties: BTreeMap<String, String>) -> Result<()> {
        check_namespace(namespace)?;
        self.check_new_namespace(namespace, &properties)?;
        if self.namespace_exists(namespace).await? || !self.store.create_namespace(namespace, properties).await? {
            return Err(self.settings.database_exists(namespace));
        }
        Ok(())
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
        let children = self.store.namespaces().await?;
        let inner = children.iter().any(|n| n.len() > namespace.len() && n.starts_with(namespace));
        if inner || !self.store.drop_namespace(namespace).await? {
            return Err(self.settings.database_not_empty(namespace));
        }
        Ok(())
    }

    async fn list_tables(&self, namespace: &[String]) -> Result<Vec<String>> {
        if !self.namespace_exists(namespace).await? {
            return Err(self.settings.unknown_database(namespace));
        }
        self.store.tables(namespace).await
    }

    async fn table_exists(&self, ident: &TableIdent) -> Result<bool> {
        check_table(ident)?;
        Ok(self.store.metadata_location(ident).await?.is_some())
    }

    async fn load_table(&self, ident: &TableIdent) -> Result<Option<Table>> {
        check_table(ident)?;
        let Some(location) = self.store.metadata_location(ident).await? else { return Ok(None) };
        let text = self.read(&location).await?;
        let metadata = parse(&text, || format!("read the table metadata '{location}'"))?;
        check_readable(ident, &metadata)?;
        Ok(Some(self.table(ident, metadata, location)))
    }

    fn draft(&self, ident: &TableIdent, creation: &TableCreation) -> Result<TableMetadata> {
        check_table(ident)?;
        new_metadata(creation, &self.location(ident, creation))
    }

    fn needs_database(&self) -> bool {
        true
    }

    async fn create_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        check_table(ident)?;
        if !self.namespace_exists(ident.namespace()).await? {
            return Err(self.settings.unknown_database(ident.namespace()));
        }
        let exists = || self.settings.table_exists(ident.namespace(), ident.name());
        if self.store.metadata_location(ident).await?.is_some() {
            return Err(exists());
        }
        let metadata = self.draft(ident, &creation)?;
        let location = self.write(&metadata, None).await?;
        match self.store.create_table(ident, &location).await {
            Ok(()) => Ok(self.table(ident, metadata, location)),
            Err(Failure::Taken(_)) => {
                self.forget(&location).await;
                Err(exists())
            }
            Err(Failure::Busy(error) | Failure::Refused(error)) => {
                self.forget(&location).await;
                Err(error)
            }
            // the answer got lost: the catalog may know
            Err(Failure::Lost(error)) => match self.store.metadata_location(ident).await {
                Ok(Some(found)) if found == location => Ok(self.table(ident, metadata, location)),
                // the row is taken: the statement that got lost cannot add it any more
                Ok(Some(_)) => {
                    self.forget(&location).await;
                    Err(exists())
                }
                Ok(None) | Err(_) => Err(unknown(&format!("table '{ident}' was created"), &error)
                    .with_detail(format!("Its metadata file '{location}' was written."))
                    .with_hint("look whether the table exists before running the statement again")),
            },
        }
    }

    async fn rename_table(&self, ident: &TableIdent, name: &str) -> Result<()> {
        check_table(ident)?;
        let renamed = TableIdent::new(ident.namespace().clone(), name.to_owned());
        check_table(&renamed)?;
        let exists = || self.settings.table_exists(ident.namespace(), name);
        let Some(location) = self.store.metadata_location(ident).await? else {
            return Err(self.settings.unknown_table(ident));
        };
        match self.store.rename_table(ident, name).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.settings.unknown_table(ident)),
            Err(Failure::Taken(_)) => Err(exists()),
            Err(Failure::Busy(error) | Failure::Refused(error)) => Err(error),
            // the answer got lost: the catalog may know
            Err(Failure::Lost(error)) => match self.store.metadata_location(&renamed).await {
                Ok(Some(found)) if found == location => Ok(()),
                Ok(Some(_)) => Err(exists()),
                Ok(None) | Err(_) => Err(unknown(&format!("table '{ident}' was renamed"), &error)
                    .with_hint("look for both names before running the statement again")),
            },
        }
    }

    async fn drop_table(&self, ident: &TableIdent, with_files: bool) -> Result<bool> {
        check_table(ident)?;
        // a table whose metadata cannot be read can still be dropped
        let table = if with_files { self.load_table(ident).await } else { Ok(None) };
        match self.store.drop_table(ident).await {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(Failure::Lost(error)) => {
                // the answer got lost: the catalog may know
                if !matches!(self.store.metadata_location(ident).await, Ok(None)) {
                    return Err(unknown(&format!("table '{ident}' was dropped"), &error)
                        .with_hint("look whether the table exists before running the statement again"));
                }
            }
            Err(error) => return Err(error.into()),
        }
        match table {
            Ok(Some(table)) => purge(&table).await,
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the files of a dropped table are left"),
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
