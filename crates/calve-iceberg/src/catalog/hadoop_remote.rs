//! The Hadoop catalog in object storage: the layout of [`super::hadoop`], whose versions are created by put-if-absent.
//!
//! An object store has no folders: a database without tables is an object `.database` in its place. No listing decides
//! what a table's newest version is, unless `version-hint.text` is missing or wrong; of all who create a version exactly
//! one succeeds. A store without put-if-absent is refused when a table is first written.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use calve_types::{Error, Result};
use futures::TryStreamExt;
use futures::future::try_join_all;
use iceberg::spec::TableMetadata;
use iceberg::{TableIdent, TableRequirement, TableUpdate};
use uuid::Uuid;

use super::create::new_metadata;
use super::hadoop::{check_change, check_new_namespace, check_path_based, no_rename, other_location};
use super::metadata::{
    Head, apply, check_readable, check_requirements, deletes_old_metadata, encode, encode_as, parse, plain,
};
use super::names::{check_namespace, check_table};
use super::settings::Settings;
use super::versions::{ENDINGS, HINT, VersionFile, hint_too_high, parse_name};
use super::warehouse::warehouse;
use super::{Catalog, TableCreation};
use crate::commit::{CommitError, TableOps};
use crate::error::Context;
use crate::io::{Created, TableIo};
use crate::table::{ManifestCache, Table};

/// The object that stands for a database.
const DATABASE: &str = ".database";

/// A catalog over a warehouse in object storage. Other processes may use the same one at the same time.
#[derive(Debug)]
pub(super) struct RemoteHadoopCatalog {
    settings: Settings,
    /// The warehouse without slashes at the end: locations start with it.
    warehouse: String,
    io: TableIo,
    manifests: ManifestCache,
}

impl RemoteHadoopCatalog {
    /// A catalog over `location`, reached as the options say. Nothing is contacted.
    ///
    /// # Errors
    /// `invalid-option`, `not-supported`.
    pub(super) fn open(settings: Settings, location: &str, options: &BTreeMap<String, String>) -> Result<Self> {
        let warehouse = warehouse(location, &settings.name)?;
        Ok(Self { settings, warehouse, io: TableIo::new(options)?, manifests: ManifestCache::default() })
    }

    fn location<'a>(&self, levels: impl Iterator<Item = &'a String>) -> String {
        levels.fold(self.warehouse.clone(), |location, level| format!("{location}/{level}"))
    }

    fn namespace_location(&self, namespace: &[String]) -> Result<String> {
        check_namespace(namespace)?;
        Ok(self.location(namespace.iter()))
    }

    fn table_location(&self, ident: &TableIdent) -> Result<String> {
        check_table(ident)?;
        let name = ident.name().to_owned();
        Ok(self.location(ident.namespace().iter().chain([&name])))
    }

    fn table(&self, ident: &TableIdent, metadata: TableMetadata, location: String) -> Table {
        Table::new(ident.clone(), Arc::new(metadata), location, self.io.clone(), self.manifests.clone())
    }

    /// Whether any object lies in a place. Some stores list folders that hold none any more.
    async fn is_there(&self, location: &str) -> Result<bool> {
        Ok(self.io.list(location)?.try_next().await?.is_some())
    }

    /// Whether a namespace is there: something lies in its place, and it is not a table.
    async fn is_namespace(&self, location: &str) -> Result<bool> {
        Ok(!self.is_table(location).await? && self.is_there(location).await?)
    }

    async fn is_table(&self, table: &str) -> Result<bool> {
        Ok(self.newest(table).await?.is_some())
    }

    /// The folders in a namespace and whether each is a table, sorted by name.
    async fn children(&self, namespace: &[String]) -> Result<Vec<(String, bool)>> {
        let location = self.namespace_location(namespace)?;
        if !namespace.is_empty() && !self.is_namespace(&location).await? {
            return Err(self.settings.unknown_database(namespace));
        }
        let folders = self.io.children(&location).await?.folders;
        let location = &location;
        let looked = try_join_all(folders.into_iter().map(|name| async move {
            let child = format!("{location}/{name}");
            let is_table = self.is_table(&child).await?;
            Ok::<_, Error>((is_table || self.is_there(&child).await?).then_some((name, is_table)))
        }));
        Ok(looked.await?.into_iter().flatten().collect())
    }

    /// The newest version of a table: the hint's, or the highest one if the hint is missing or wrong, then upwards as long as
    /// there is a next one. `None` if there is no version.
    async fn newest(&self, table: &str) -> Result<Option<VersionFile>> {
        let hint_file = format!("{table}/metadata/{HINT}");
        let hint: Option<u64> = match self.io.exists(&hint_file).await? {
            true => String::from_utf8_lossy(&self.io.read(&hint_file).await?).trim().parse().ok(),
            false => None,
        };
        let hinted = match hint {
            Some(version) => self.version(table, version).await?,
            None => None,
        };
        let start = match hinted {
            Some(file) => Some(file),
            None => self.highest(table).await?,
        };
        let Some(mut newest) = start else { return Ok(None) };
        if let Some(hint) = hint.filter(|hint| *hint > newest.version) {
            return Err(hint_too_high(&format!("{table}/metadata"), hint, newest.version));
        }
        while let Some(next) = newest.version.checked_add(1) {
            match self.version(table, next).await? {
                Some(file) => newest = file,
                None => break,
            }
        }
        Ok(Some(newest))
    }

    /// The file of one version, whatever its ending.
    async fn version(&self, table: &str, version: u64) -> Result<Option<VersionFile>> {
        for ending in ENDINGS {
            let name = format!("v{version}{ending}");
            if self.io.exists(&format!("{table}/metadata/{name}")).await? {
                return Ok(Some(VersionFile { version, name }));
            }
        }
        Ok(None)
    }

    /// The highest version among the files of a table.
    async fn highest(&self, table: &str) -> Result<Option<VersionFile>> {
        let files = self.io.children(&format!("{table}/metadata")).await?.files;
        Ok(files.iter().filter_map(|name| parse_name(name)).max_by_key(|file| file.version))
    }

    async fn read(&self, location: &str) -> Result<Vec<u8>> {
        let what = || format!("read the table metadata '{location}'");
        plain(self.io.read(location).await?.to_vec()).context(what)
    }

    /// Creates a version; its location.
    async fn publish(
        &self,
        table: &str,
        version: u64,
        (bytes, ending): (Vec<u8>, &str),
    ) -> Result<String, CommitError> {
        let location = format!("{table}/metadata/v{version}{ending}");
        match self.io.create(&location, Bytes::from(bytes)).await {
            Ok(Created::Done) => {}
            Ok(Created::Exists) => return Err(CommitError::Conflict),
            Err(error) if error.may_have_committed() => return Err(CommitError::Unknown(error)),
            Err(error) => return Err(CommitError::Rejected(error)),
        }
        let hint = self.io.write(&format!("{table}/metadata/{HINT}"), Bytes::from(version.to_string())).await;
        if let Err(error) = hint {
            tracing::warn!(%error, table, "cannot write the version hint; readers will search");
        }
        Ok(location)
    }

    async fn try_create(&self, ident: &TableIdent, creation: &TableCreation) -> Result<Table, CommitError> {
        let reject = CommitError::Rejected;
        let location = self.table_location(ident).map_err(reject)?;
        let metadata = self.draft(ident, creation).map_err(reject)?;
        let encoded = encode(&metadata).map_err(reject)?;
        self.check_parents(ident.namespace()).await.map_err(reject)?;
        if self.is_table(&location).await.map_err(reject)? {
            return Err(CommitError::Conflict);
        }
        if self.holds_database(&location).await.map_err(reject)? {
            return Err(reject(Error::new("invalid-name", format!("'{ident}' is a database"))));
        }
        let file = self.publish(&location, 1, encoded).await?;
        Ok(self.table(ident, metadata, file))
    }

    /// Whether the place of a table is that of a database, or has databases in it.
    async fn holds_database(&self, location: &str) -> Result<bool> {
        let children = self.io.children(location).await?;
        if children.files.iter().any(|name| name == DATABASE) {
            return Ok(true);
        }
        for folder in children.folders.iter().filter(|name| !matches!(name.as_str(), "data" | "metadata")) {
            if self.is_there(&format!("{location}/{folder}")).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tables on the way cannot hold a namespace or a table.
    async fn check_parents(&self, namespace: &[String]) -> Result<()> {
        for depth in 1..=namespace.len() {
            let levels = namespace.get(..depth).unwrap_or(namespace);
            if self.is_table(&self.namespace_location(levels)?).await? {
                let name = levels.join(".");
                return Err(Error::new(
                    "invalid-name",
                    format!("'{name}' is a table and cannot hold databases or tables"),
                ));
            }
        }
        Ok(())
    }
}

#[async_trait]
impl TableOps for RemoteHadoopCatalog {
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        self.load_table(ident).await?.ok_or_else(|| self.settings.unknown_table(ident))
    }

    async fn commit(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        let reject = CommitError::Rejected;
        let table = self.table_location(base.ident()).map_err(reject)?;
        check_requirements(base, &requirements)?;
        let old = base.metadata_location();
        let file = old
            .rsplit('/')
            .next()
            .and_then(parse_name)
            .ok_or_else(|| reject(Error::internal(format!("'{old}' is not a version of a Hadoop table"))))?;
        let built = apply(base, updates)?;
        check_change(base, &built.metadata).map_err(reject)?;
        encode(&built.metadata).map_err(reject)?;
        // all who replace a version name the next one alike, whatever they set
        let encoded = encode_as(&built.metadata, base.metadata()).map_err(reject)?;
        if self.newest(&table).await.map_err(reject)?.as_ref() != Some(&file) {
            return Err(CommitError::Conflict);
        }
        let text = self.read(old).await.map_err(reject)?;
        let head: Head =
            serde_json::from_slice(&text).context(|| format!("read the table metadata '{old}'")).map_err(reject)?;
        // a table that was dropped and created again counts its versions from 1, too
        if head.table_uuid.is_some_and(|found| found != base.metadata().uuid()) {
            return Err(CommitError::Conflict);
        }
        head.check_rewritable()?;
        let next = file
            .version
            .checked_add(1)
            .ok_or_else(|| reject(Error::new("invalid-table", "too many versions of a table")))?;
        let location = self.publish(&table, next, encoded).await?;
        if deletes_old_metadata(&built.metadata) {
            let expired: Vec<String> =
                built.expired_metadata_logs.iter().map(|log| log.metadata_file.clone()).collect();
            for error in self.io.delete_all(&expired).await {
                tracing::warn!(%error, "cannot delete an old metadata file");
            }
        }
        Ok(self.table(base.ident(), built.metadata, location))
    }
}

#[async_trait]
impl Catalog for RemoteHadoopCatalog {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn default_database(&self) -> &str {
        &self.settings.default_database
    }

    fn base_namespace(&self) -> &[String] {
        &self.settings.base_namespace
    }

    async fn list_namespaces(&self, parent: &[String]) -> Result<Vec<Vec<String>>> {
        let children = self.children(parent).await?.into_iter().filter(|(_, is_table)| !is_table);
        Ok(children.map(|(name, _)| parent.iter().cloned().chain([name]).collect()).collect())
    }

    async fn namespace_exists(&self, namespace: &[String]) -> Result<bool> {
        Ok(namespace.is_empty() || self.is_namespace(&self.namespace_location(namespace)?).await?)
    }

    fn check_new_namespace(&self, namespace: &[String], properties: &BTreeMap<String, String>) -> Result<()> {
        check_new_namespace(&self.settings, namespace, properties)
    }

    async fn create_namespace(&self, namespace: &[String], properties: BTreeMap<String, String>) -> Result<()> {
        let location = self.namespace_location(namespace)?;
        self.check_new_namespace(namespace, &properties)?;
        self.check_parents(namespace).await?;
        if namespace.is_empty() || self.is_namespace(&location).await? {
            return Err(self.settings.database_exists(namespace));
        }
        // of its own, so that each who creates it knows whose it is
        let content = Bytes::from(Uuid::new_v4().to_string());
        match self.io.create(&format!("{location}/{DATABASE}"), content).await? {
            Created::Done => Ok(()),
            Created::Exists => Err(self.settings.database_exists(namespace)),
        }
    }

    async fn drop_namespace(&self, namespace: &[String]) -> Result<()> {
        let location = self.namespace_location(namespace)?;
        if namespace.is_empty() || !self.is_namespace(&location).await? {
            return Err(self.settings.unknown_database(namespace));
        }
        let marker = format!("{location}/{DATABASE}");
        let mut objects = self.io.list(&location)?;
        while let Some(object) = objects.try_next().await? {
            if object.location != marker {
                return Err(self.settings.database_not_empty(namespace));
            }
        }
        self.io.delete(&marker).await
    }

    async fn list_tables(&self, namespace: &[String]) -> Result<Vec<String>> {
        Ok(self
            .children(namespace)
            .await?
            .into_iter()
            .filter(|(_, is_table)| *is_table)
            .map(|(name, _)| name)
            .collect())
    }

    async fn table_exists(&self, ident: &TableIdent) -> Result<bool> {
        self.is_table(&self.table_location(ident)?).await
    }

    async fn load_table(&self, ident: &TableIdent) -> Result<Option<Table>> {
        let table = self.table_location(ident)?;
        let Some(file) = self.newest(&table).await? else { return Ok(None) };
        let location = format!("{table}/metadata/{}", file.name);
        let metadata = parse(&self.read(&location).await?, || format!("read the table metadata '{location}'"))?;
        check_readable(ident, &metadata)?;
        Ok(Some(self.table(ident, metadata, location)))
    }

    fn draft(&self, ident: &TableIdent, creation: &TableCreation) -> Result<TableMetadata> {
        let location = self.table_location(ident)?;
        let given = creation.properties.iter().find(|(key, _)| key.eq_ignore_ascii_case("location")).map(|(_, v)| v);
        if let Some(given) = given.filter(|given| given.trim_end_matches('/') != location) {
            return Err(other_location(&location, given));
        }
        let metadata = new_metadata(creation, &location)?;
        check_path_based(&metadata, &location)?;
        Ok(metadata)
    }

    /// Places appear with the table.
    fn needs_database(&self) -> bool {
        false
    }

    async fn create_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        self.try_create(ident, &creation).await.map_err(|error| match error {
            CommitError::Conflict => self.settings.table_exists(ident.namespace(), ident.name()),
            CommitError::Unknown(error) | CommitError::Rejected(error) => error,
        })
    }

    fn check_change(&self, base: &Table, changed: &TableMetadata) -> Result<()> {
        check_change(base, changed)
    }

    fn check_rename(&self, ident: &TableIdent) -> Result<()> {
        no_rename(ident)
    }

    async fn rename_table(&self, ident: &TableIdent, _name: &str) -> Result<()> {
        self.check_rename(ident)
    }

    /// All that lies in the table's place goes, its versions first, the newest last: without `purge`, too, nothing is left,
    /// as with the Java library.
    async fn drop_table(&self, ident: &TableIdent, _purge: bool) -> Result<bool> {
        let table = self.table_location(ident)?;
        let Some(newest) = self.newest(&table).await? else { return Ok(false) };
        let mut versions: Vec<VersionFile> =
            self.io.children(&format!("{table}/metadata")).await?.files.iter().filter_map(|n| parse_name(n)).collect();
        versions.sort_by_key(|file| file.version);
        for file in &versions {
            self.io.delete(&format!("{table}/metadata/{}", file.name)).await?;
        }
        self.io.delete(&format!("{table}/metadata/{HINT}")).await?;
        if let Some(later) = self.highest(&table).await? {
            return Err(Error::new(
                "commit-conflict",
                format!("table '{ident}' was changed while it was dropped: it has a version {} now", later.version),
            )
            .with_detail(format!("Its versions up to {} are gone; no other file was deleted.", newest.version)));
        }
        // what is there may be a database as well, of tables that other libraries put below
        let rest: Vec<String> = self.io.list(&table)?.map_ok(|file| file.location).try_collect().await?;
        for error in self.io.delete_all(&rest).await {
            tracing::warn!(%error, "a file of a dropped table is left");
        }
        Ok(true)
    }
}
