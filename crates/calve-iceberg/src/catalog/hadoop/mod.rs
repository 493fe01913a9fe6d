//! The Hadoop catalog: a folder per namespace, a folder per table, in the local file system or in object storage.
//!
//! The layout is the Java library's (`HadoopCatalog`): `${warehouse}/<namespace ..>/<table>/{metadata,data}`. A folder is a
//! table if its `metadata` holds a version, else a namespace. `versions` finds a table's newest version and publishes the
//! next one; what differs by the kind of [`storage`] is in `local` and `remote`.

mod local;
mod remote;
mod storage;
mod versions;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use calve_types::{Error, Result};
use futures::future::try_join_all;
use futures::{StreamExt, TryStreamExt, stream};
use iceberg::spec::TableMetadata;
use iceberg::{TableIdent, TableRequirement, TableUpdate};

use self::local::Local;
use self::remote::Remote;
use self::storage::{Dropped, Stamp, Storage};
use self::versions::{Published, VersionFile, Versions, parse_name};
use super::create::{NewTables, new_metadata};
use super::metadata::{apply, check_readable, check_requirements, delete_expired, gzip};
use super::names::{check_namespace, check_table};
use super::settings::Settings;
use super::warehouse::{is_remote, local_warehouse, warehouse};
use super::{Catalog, Staged, TableCreation};
use crate::commit::{CommitError, TableOps};
use crate::io::{TableIo, local_path};
use crate::table::{ManifestCache, Table};

/// How many files are looked for at a time.
const CONCURRENT_LOOKS: usize = 32;

/// A catalog over a warehouse. Other processes may use the same one at the same time.
#[derive(Debug)]
pub(super) struct HadoopCatalog {
    settings: Settings,
    new_tables: NewTables,
    /// The warehouse without slashes at the end: locations start with it.
    warehouse: String,
    storage: Box<dyn Storage>,
    io: TableIo,
    manifests: ManifestCache,
    parsed: Mutex<HashMap<TableIdent, Parsed>>,
}

/// The version of a table that was last read or written, and the state of its file then: a version's name alone could
/// belong to a table that was dropped and created again.
#[derive(Debug, Clone)]
struct Parsed {
    file: VersionFile,
    stamp: Stamp,
    table: Table,
}

impl HadoopCatalog {
    /// A catalog over the option `warehouse`: a folder (`/x`, `file:/x`, `file:///x`, or `x` in the working directory), which
    /// need not exist yet, or a location in object storage, reached as the options say. Nothing is contacted.
    ///
    /// # Errors
    /// `invalid-option` if it is missing, a relative URI or a file, or names no bucket; `not-supported` for another scheme.
    pub(super) fn open(settings: Settings, options: &BTreeMap<String, String>) -> Result<Self> {
        let name = &settings.name;
        let given = options.get("warehouse").map(|warehouse| warehouse.trim()).filter(|given| !given.is_empty());
        let given = given.ok_or_else(|| {
            Error::new("invalid-option", format!("option 'warehouse' of catalog '{name}' is missing"))
                .with_detail("Cannot initialize HadoopCatalog because warehousePath must not be null or empty")
                .with_hint("set it to a folder for the tables, such as '/data/warehouse' or 's3://bucket/warehouse'")
        })?;
        let (warehouse, io, storage): (_, _, Box<dyn Storage>) = if is_remote(given) {
            let io = TableIo::new(options)?;
            (warehouse(given, name)?, io.clone(), Box::new(Remote::new(io)))
        } else {
            let (warehouse, root) = local_warehouse(given, name)?;
            (warehouse.clone(), TableIo::local(), Box::new(Local::new(warehouse, root)))
        };
        let (new_tables, manifests, parsed) = (NewTables::of(options), ManifestCache::default(), Mutex::default());
        Ok(Self { settings, new_tables, warehouse, storage, io, manifests, parsed })
    }

    fn folder_of(&self, namespace: &[String]) -> Result<String> {
        check_namespace(namespace)?;
        Ok(namespace.iter().fold(self.warehouse.clone(), |folder, level| format!("{folder}/{level}")))
    }

    fn table_folder(&self, ident: &TableIdent) -> Result<String> {
        check_table(ident)?;
        Ok(format!("{}/{}", self.folder_of(ident.namespace())?, ident.name()))
    }

    fn versions(&self, folder: &str) -> Versions<'_> {
        Versions::of_table(self.storage.as_ref(), folder)
    }

    /// Whether the folder is a namespace: one that is not a table.
    async fn is_namespace(&self, folder: &str) -> Result<bool> {
        Ok(self.storage.is_folder(folder).await? && !self.versions(folder).any().await?)
    }

    /// The folders in a namespace and whether each is a table, sorted by name.
    async fn children(&self, namespace: &[String]) -> Result<Vec<(String, bool)>> {
        let folder = &self.folder_of(namespace)?;
        if namespace.is_empty() && !self.storage.is_folder(folder).await? {
            return Ok(Vec::new());
        }
        if !self.is_namespace(folder).await? {
            return Err(self.settings.unknown_database(namespace));
        }
        let looked = self.storage.folders(folder).await?.into_iter().map(|name| async move {
            let child = format!("{folder}/{name}");
            let is_table = self.versions(&child).any().await?;
            Ok::<_, Error>((is_table || self.storage.is_folder(&child).await?).then_some((name, is_table)))
        });
        Ok(try_join_all(looked).await?.into_iter().flatten().collect())
    }

    /// Folders on the way that are files, or that are tables, cannot hold a namespace or a table.
    async fn check_parents(&self, namespace: &[String]) -> Result<()> {
        self.storage.check_way(&self.warehouse).await?;
        for depth in 1..=namespace.len() {
            let levels = namespace.get(..depth).unwrap_or(namespace);
            let folder = self.folder_of(levels)?;
            self.storage.check_way(&folder).await?;
            if self.versions(&folder).any().await? {
                let name = levels.join(".");
                return Err(Error::new(
                    "invalid-name",
                    format!("'{name}' is a table and cannot hold databases or tables"),
                ));
            }
        }
        Ok(())
    }

    /// A version of a table.
    async fn read(&self, ident: &TableIdent, versions: &Versions<'_>, file: &VersionFile) -> Result<Table> {
        let location = versions.location(file);
        let stamp = self.storage.stamp(&location).await?;
        let known = self.parsed().get(ident).filter(|k| k.file == *file && Some(k.stamp) == stamp).cloned();
        if let Some(known) = known {
            return Ok(known.table);
        }
        let metadata = Arc::new(versions.read(file).await?);
        Ok(self.known(self.table(ident, metadata, location), file.clone(), stamp))
    }

    /// The table, which is not read again as long as its file stays as it is.
    fn known(&self, table: Table, file: VersionFile, stamp: Option<Stamp>) -> Table {
        if let Some(stamp) = stamp {
            self.parsed().insert(table.ident().clone(), Parsed { file, stamp, table: table.clone() });
        }
        table
    }

    fn parsed(&self) -> MutexGuard<'_, HashMap<TableIdent, Parsed>> {
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn table(&self, ident: &TableIdent, metadata: Arc<TableMetadata>, location: String) -> Table {
        Table::new(ident.clone(), metadata, location, self.io.clone(), self.manifests.clone())
    }

    /// A table that can be created.
    async fn stage(&self, ident: &TableIdent, creation: &TableCreation) -> Result<Table> {
        let folder = self.table_folder(ident)?;
        self.check_parents(ident.namespace()).await?;
        if self.versions(&folder).any().await? {
            return Err(self.settings.table_exists(ident.namespace(), ident.name()));
        }
        self.storage.check_free(&folder, ident).await?;
        let metadata = self.draft(ident, creation)?;
        gzip(&metadata)?;
        Ok(self.table(ident, Arc::new(metadata), String::new()))
    }

    /// Refuses a first version whose files are gone: nothing keeps the name of a table whose rows are written still, and
    /// dropping another one of that name takes all that lies in the folder of both.
    async fn check_files(&self, table: &Table) -> Result<()> {
        let mut looks = Vec::new();
        for snapshot in table.metadata().snapshots() {
            for manifest in table.manifests(snapshot).await?.iter() {
                for entry in table.entries_once(manifest, None).await?.iter() {
                    let (io, file) = (table.io().clone(), entry.file_path().to_owned());
                    looks.push(async move {
                        let there = io.exists(&file).await?;
                        Ok::<_, Error>((!there).then_some(file))
                    });
                }
            }
        }
        let gone: Vec<Option<String>> = stream::iter(looks).buffered(CONCURRENT_LOOKS).try_collect().await?;
        let Some(file) = gone.into_iter().flatten().next() else { return Ok(()) };
        let what = format!("files of table '{}' are gone, before it was created", table.ident());
        let why =
            "Another table of its name was created and dropped while its rows were written, or the warehouse was moved";
        Err(Error::new("commit-conflict", what)
            .with_detail(format!("{why}. Nothing was committed; '{file}' is not there."))
            .with_hint("run the statement again"))
    }

    /// The error for a table that was there, and is not any more.
    async fn gone(&self, ident: &TableIdent) -> Error {
        match self.missing_warehouse().await {
            Some(why) => Error::new("io", format!("table '{ident}' is gone: {why}"))
                .with_hint("is its disk mounted? once it is there again, run the statement again"),
            None => {
                let error = self.settings.unknown_table(ident);
                match self.table_folder(ident) {
                    Ok(folder) => error.with_detail(format!("There is no version of it in '{folder}/metadata'.")),
                    Err(_) => error,
                }
            }
        }
    }
}

#[async_trait]
impl TableOps for HadoopCatalog {
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        match self.load_table(ident).await? {
            Some(table) => Ok(table),
            None => Err(self.gone(ident).await),
        }
    }

    async fn commit(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        let reject = CommitError::Rejected;
        let versions = self.versions(&self.table_folder(base.ident()).map_err(reject)?);
        check_requirements(base, &requirements)?;
        let old = base.metadata_location();
        let file = old.rsplit('/').next().and_then(parse_name);
        let file =
            file.ok_or_else(|| reject(Error::internal(format!("'{old}' is not a version of a Hadoop table"))))?;
        let built = apply(base, updates).map_err(reject)?;
        check_change(base, &built.metadata).map_err(reject)?;
        let Published { file, stamp } = versions.replace(&file, base.metadata(), &built.metadata).await?;
        delete_expired(&self.io, &built).await;
        let table = self.table(base.ident(), Arc::new(built.metadata), versions.location(&file));
        Ok(self.known(table, file, stamp))
    }
}

#[async_trait]
impl Catalog for HadoopCatalog {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn take_left(&self) -> Vec<String> {
        let mut left = self.io.take_left();
        left.extend(self.storage.take_left());
        left
    }

    async fn list_namespaces(&self, parent: &[String]) -> Result<Vec<Vec<String>>> {
        let children = self.children(parent).await?.into_iter().filter(|(_, is_table)| !is_table);
        Ok(children.map(|(name, _)| parent.iter().cloned().chain([name]).collect()).collect())
    }

    async fn namespace_exists(&self, namespace: &[String]) -> Result<bool> {
        Ok(namespace.is_empty() || self.is_namespace(&self.folder_of(namespace)?).await?)
    }

    /// There is no place for properties.
    fn check_new_namespace(&self, namespace: &[String], properties: &BTreeMap<String, String>) -> Result<()> {
        if properties.is_empty() {
            return Ok(());
        }
        let name = self.settings.database(namespace);
        Err(Error::unsupported(format!("comment and properties of database '{name}' in a Hadoop catalog"))
            .with_detail(format!("Cannot create namespace {}: metadata is not supported", namespace.join("."))))
    }

    async fn create_namespace(&self, namespace: &[String], properties: BTreeMap<String, String>) -> Result<()> {
        let folder = self.folder_of(namespace)?;
        self.check_new_namespace(namespace, &properties)?;
        self.check_parents(namespace).await?;
        let is_there = namespace.is_empty() || self.is_namespace(&folder).await?;
        if is_there || !self.storage.create_database(&folder).await? {
            return Err(self.settings.database_exists(namespace));
        }
        Ok(())
    }

    async fn drop_namespace(&self, namespace: &[String]) -> Result<()> {
        let folder = self.folder_of(namespace)?;
        if namespace.is_empty() || !self.is_namespace(&folder).await? {
            return Err(self.settings.unknown_database(namespace));
        }
        match self.storage.drop_database(&folder).await? {
            Dropped::Done => Ok(()),
            Dropped::Missing => Err(self.settings.unknown_database(namespace)),
            Dropped::NotEmpty => {
                let error = self.settings.database_not_empty(namespace);
                let has_tables = self.list_tables(namespace).await.map_or(true, |tables| !tables.is_empty());
                let left = format!(
                    "it has no tables: delete by hand what else is in '{folder}', as a killed statement leaves it"
                );
                Err(if has_tables { error } else { error.with_hint(left) })
            }
        }
    }

    async fn list_tables(&self, namespace: &[String]) -> Result<Vec<String>> {
        let children = self.children(namespace).await?.into_iter().filter(|(_, is_table)| *is_table);
        Ok(children.map(|(name, _)| name).collect())
    }

    async fn table_exists(&self, ident: &TableIdent) -> Result<bool> {
        self.versions(&self.table_folder(ident)?).any().await
    }

    async fn load_table(&self, ident: &TableIdent) -> Result<Option<Table>> {
        let versions = self.versions(&self.table_folder(ident)?);
        let Some(file) = versions.newest().await? else { return Ok(None) };
        let table = self.read(ident, &versions, &file).await?;
        check_readable(ident, table.metadata())?;
        Ok(Some(table))
    }

    async fn missing_warehouse(&self) -> Option<String> {
        // one that cannot be asked is not missing
        let is_missing = matches!(self.storage.is_folder(&self.warehouse).await, Ok(false));
        is_missing.then(|| {
            let (name, warehouse) = (&self.settings.name, &self.warehouse);
            format!("there is nothing at '{warehouse}', the warehouse of catalog '{name}'")
        })
    }

    fn draft(&self, ident: &TableIdent, creation: &TableCreation) -> Result<TableMetadata> {
        let folder = self.table_folder(ident)?;
        check_location(creation, &folder)?;
        let metadata = new_metadata(&self.new_tables.applied(creation), &folder)?;
        check_path_based(&metadata, &folder)?;
        Ok(metadata)
    }

    /// Folders appear with the table.
    fn needs_database(&self) -> bool {
        false
    }

    async fn stage_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Staged> {
        self.stage(ident, &creation).await.map(Staged::Ready)
    }

    async fn create_staged(&self, staged: &Table, updates: Vec<TableUpdate>) -> Result<Table, CommitError> {
        let reject = CommitError::Rejected;
        let ident = staged.ident();
        let versions = self.versions(&self.table_folder(ident).map_err(reject)?);
        self.check_parents(ident.namespace()).await.map_err(reject)?;
        let metadata = Arc::new(apply(staged, updates).map_err(reject)?.metadata);
        self.check_files(&self.table(ident, metadata.clone(), String::new())).await.map_err(reject)?;
        let Published { file, stamp } = versions.create(&metadata).await?;
        Ok(self.known(self.table(ident, metadata, versions.location(&file)), file, stamp))
    }

    fn check_change(&self, base: &Table, changed: &TableMetadata) -> Result<()> {
        check_change(base, changed)
    }

    fn check_rename(&self, ident: &TableIdent) -> Result<()> {
        Err(Error::unsupported(format!("renaming tables of a Hadoop catalog ('{}')", ident.name()))
            .with_detail("Cannot rename Hadoop tables")
            .with_hint("the table's folder is its name; CREATE TABLE .. AS SELECT makes a copy"))
    }

    async fn rename_table(&self, ident: &TableIdent, _name: &str) -> Result<()> {
        self.check_rename(ident)
    }

    /// The folder of a table holds all of it: without `purge`, too, nothing is left, as with the Java library.
    async fn drop_table(&self, ident: &TableIdent, _purge: bool) -> Result<bool> {
        let folder = self.table_folder(ident)?;
        if !self.versions(&folder).any().await? {
            return Ok(false);
        }
        self.parsed().remove(ident);
        match self.storage.drop_table(&folder, ident).await? {
            Some(left) => {
                self.io.note_left(left);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

/// Refuses another place than the table's own.
fn check_location(creation: &TableCreation, expected: &str) -> Result<()> {
    let Some(given) = creation.location().filter(|given| *given != expected) else { return Ok(()) };
    if local_path(given).is_ok_and(|given| local_path(expected).is_ok_and(|expected| expected == given)) {
        return Ok(());
    }
    Err(Error::new("invalid-option", "a Hadoop catalog decides where its tables are").with_detail(format!(
        "Cannot set a custom location for a path-based table. Expected {expected} but got {given}"
    )))
}

/// Refuses changes that move a table.
fn check_change(base: &Table, changed: &TableMetadata) -> Result<()> {
    check_path_based(changed, base.metadata().location())
}

/// Rules of the Java library's `HadoopTableOperations`.
fn check_path_based(metadata: &TableMetadata, location: &str) -> Result<()> {
    if metadata.location() != location {
        return Err(Error::new("invalid-option", "a table of a Hadoop catalog cannot be moved")
            .with_detail("Hadoop path-based tables cannot be relocated"));
    }
    if metadata.properties().contains_key("write.metadata.path") {
        return Err(Error::new("invalid-option", "option 'write.metadata.path' is not allowed in a Hadoop catalog")
            .with_detail("Hadoop path-based tables cannot relocate metadata"));
    }
    Ok(())
}
