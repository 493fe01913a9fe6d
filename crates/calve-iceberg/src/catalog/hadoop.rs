//! The Hadoop catalog on the local file system: a folder per namespace, a folder per table.
//!
//! The layout is the Java library's (`HadoopCatalog`): `${warehouse}/<namespace ..>/<table>/{metadata,data}`. A folder
//! is a table if its `metadata` holds a version, else a namespace.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;
use calve_types::{Error, Result};
use iceberg::spec::TableMetadata;
use iceberg::{TableIdent, TableRequirement, TableUpdate};
use uuid::Uuid;

use super::create::new_metadata;
use super::metadata::{apply, check_readable, check_requirements, deletes_old_metadata};
use super::names::{check_namespace, check_table};
use super::settings::Settings;
use super::versions::{VersionFile, VersionFiles, parse_name};
use super::warehouse::local_warehouse;
use super::{Catalog, TableCreation};
use crate::commit::{CommitError, TableOps};
use crate::error::Context;
use crate::io::{TableIo, local_path};
use crate::table::{ManifestCache, Table};

/// A catalog over a warehouse folder. Other processes may use the same folder at the same time.
#[derive(Debug)]
pub struct HadoopCatalog(Arc<Warehouse>);

/// The catalog's work, all of it blocking.
#[derive(Debug)]
struct Warehouse {
    settings: Settings,
    /// The warehouse as written, without slashes at the end: locations start with it.
    warehouse: String,
    root: PathBuf,
    io: TableIo,
    manifests: ManifestCache,
    parsed: Mutex<HashMap<PathBuf, Parsed>>,
}

/// The metadata last read for a table, and the state of its file then: a version's name alone could belong to a table
/// that was dropped and created again.
#[derive(Debug, Clone)]
struct Parsed {
    file: VersionFile,
    stamp: (u64, Option<SystemTime>),
    metadata: Arc<TableMetadata>,
}

impl Warehouse {
    /// A catalog over the folder `warehouse`: `/x`, `file:/x`, `file:///x`, or `x` in the working directory. It need not
    /// exist yet.
    ///
    /// # Errors
    /// `invalid-option` if it is missing, a relative URI or a file; `not-supported` for another scheme.
    fn open(settings: Settings, warehouse: Option<&str>) -> Result<Self> {
        let name = &settings.name;
        let warehouse = warehouse.map(str::trim).filter(|w| !w.is_empty()).ok_or_else(|| {
            Error::new("invalid-option", format!("option 'warehouse' of catalog '{name}' is missing"))
                .with_detail("Cannot initialize HadoopCatalog because warehousePath must not be null or empty")
        })?;
        let (warehouse, root) = local_warehouse(warehouse, name)?;
        Ok(Self {
            warehouse,
            root,
            io: TableIo::local(),
            manifests: ManifestCache::default(),
            parsed: Mutex::default(),
            settings,
        })
    }

    fn folder(&self, namespace: &[String]) -> Result<PathBuf> {
        check_namespace(namespace)?;
        Ok(namespace.iter().fold(self.root.clone(), |path, level| path.join(level)))
    }

    fn table_folder(&self, ident: &TableIdent) -> Result<PathBuf> {
        check_table(ident)?;
        Ok(self.folder(ident.namespace())?.join(ident.name()))
    }

    fn location(&self, ident: &TableIdent) -> String {
        let levels = ident.namespace().iter().map(String::as_str).chain([ident.name()]);
        levels.fold(self.warehouse.clone(), |location, level| format!("{location}/{level}"))
    }

    /// Whether the folder is a namespace: a folder that is not a table.
    fn is_namespace(folder: &Path) -> Result<bool> {
        Ok(folder.is_dir() && !VersionFiles::of_table(folder).any()?)
    }

    /// The folders in a namespace and whether each is a table, sorted by name.
    fn children(&self, namespace: &[String]) -> Result<Vec<(String, bool)>> {
        let folder = self.folder(namespace)?;
        if namespace.is_empty() && !folder.exists() {
            return Ok(Vec::new());
        }
        if !Self::is_namespace(&folder)? {
            return Err(self.settings.unknown_database(namespace));
        }
        let what = || format!("list the folder '{}'", folder.display());
        let mut children = Vec::new();
        for entry in fs::read_dir(&folder).context(what)? {
            let entry = entry.context(what)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = entry.path();
            if path.is_dir() && !is_trash(&name) {
                children.push((name, VersionFiles::of_table(&path).any()?));
            }
        }
        children.sort();
        Ok(children)
    }

    /// Folders on the way that are files, or that are tables, cannot hold a namespace or a table.
    fn check_parents(&self, namespace: &[String]) -> Result<()> {
        let mut path = self.root.clone();
        check_no_file(&path)?;
        for (depth, level) in namespace.iter().enumerate() {
            path.push(level);
            check_no_file(&path)?;
            if VersionFiles::of_table(&path).any()? {
                let name = namespace.get(..=depth).unwrap_or(namespace).join(".");
                return Err(Error::new(
                    "invalid-name",
                    format!("'{name}' is a table and cannot hold databases or tables"),
                ));
            }
        }
        Ok(())
    }

    fn load(&self, ident: &TableIdent) -> Result<Option<Table>> {
        let folder = self.table_folder(ident)?;
        let versions = VersionFiles::of_table(&folder);
        let Some(file) = versions.newest()? else { return Ok(None) };
        let path = folder.join("metadata").join(&file.name);
        let found = fs::metadata(&path).context(|| format!("read the table metadata '{}'", path.display()))?;
        let stamp = (found.len(), found.modified().ok());
        let known = self.parsed.lock().unwrap_or_else(PoisonError::into_inner).get(&folder).cloned();
        let metadata = match known {
            Some(known) if known.file == file && known.stamp == stamp && stamp.1.is_some() => known.metadata,
            _ => {
                let metadata = Arc::new(versions.read(&file)?);
                let parsed = Parsed { file: file.clone(), stamp, metadata: metadata.clone() };
                self.parsed.lock().unwrap_or_else(PoisonError::into_inner).insert(folder, parsed);
                metadata
            }
        };
        check_readable(ident, &metadata)?;
        Ok(Some(self.table(ident, metadata, &file)))
    }

    fn table(&self, ident: &TableIdent, metadata: Arc<TableMetadata>, file: &VersionFile) -> Table {
        let location = format!("{}/metadata/{}", self.location(ident), file.name);
        Table::new(ident.clone(), metadata, location, self.io.clone(), self.manifests.clone())
    }

    fn create(&self, ident: &TableIdent, creation: &TableCreation) -> Result<Table> {
        let folder = self.table_folder(ident)?;
        self.check_parents(ident.namespace())?;
        let exists = || self.settings.table_exists(ident.namespace(), ident.name());
        let versions = VersionFiles::of_table(&folder);
        if versions.any()? {
            return Err(exists());
        }
        check_free(&folder)?;
        let metadata = self.draft(ident, creation)?;
        let file = versions.create(&metadata).map_err(|error| match error {
            CommitError::Conflict => exists(),
            CommitError::Unknown(error) | CommitError::Rejected(error) => error,
        })?;
        Ok(self.table(ident, Arc::new(metadata), &file))
    }

    fn draft(&self, ident: &TableIdent, creation: &TableCreation) -> Result<TableMetadata> {
        check_table(ident)?;
        let location = self.location(ident);
        check_location(creation, &location)?;
        let metadata = new_metadata(creation, &location)?;
        check_path_based(&metadata, &location)?;
        Ok(metadata)
    }

    fn replace(
        &self,
        base: &Table,
        requirements: &[TableRequirement],
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        let ident = base.ident();
        let folder = self.table_folder(ident).map_err(CommitError::Rejected)?;
        check_requirements(base, requirements)?;
        let location = base.metadata_location();
        let file = location.rsplit('/').next().and_then(parse_name).ok_or_else(|| {
            CommitError::Rejected(Error::internal(format!("'{location}' is not a version of a Hadoop table")))
        })?;
        let built = apply(base, updates)?;
        check_change(base, &built.metadata).map_err(CommitError::Rejected)?;
        let next = VersionFiles::of_table(&folder).replace(&file, base.metadata(), &built.metadata)?;
        if deletes_old_metadata(&built.metadata) {
            for old in &built.expired_metadata_logs {
                let deleted = local_path(&old.metadata_file)
                    .and_then(|path| fs::remove_file(&path).context(|| format!("delete '{}'", path.display())));
                if let Err(error) = deleted {
                    tracing::warn!(%error, file = old.metadata_file, "cannot delete an old metadata file");
                }
            }
        }
        Ok(self.table(ident, Arc::new(built.metadata), &next))
    }

    fn create_namespace(&self, namespace: &[String], properties: &BTreeMap<String, String>) -> Result<()> {
        let folder = self.folder(namespace)?;
        check_new_namespace(&self.settings, namespace, properties)?;
        self.check_parents(namespace)?;
        let what = || format!("create the folder '{}'", folder.display());
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).context(what)?;
        }
        match fs::create_dir(&folder) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(self.settings.database_exists(namespace)),
            done => done.context(what),
        }
    }

    fn drop_namespace(&self, namespace: &[String]) -> Result<()> {
        let folder = self.folder(namespace)?;
        if namespace.is_empty() || !Self::is_namespace(&folder)? {
            return Err(self.settings.unknown_database(namespace));
        }
        match fs::remove_dir(&folder) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == ErrorKind::NotFound => Err(self.settings.unknown_database(namespace)),
            Err(e) if e.kind() == ErrorKind::DirectoryNotEmpty => Err(self.settings.database_not_empty(namespace)),
            Err(e) => Err(e).context(|| format!("delete the folder '{}'", folder.display())),
        }
    }

    fn drop_table(&self, ident: &TableIdent) -> Result<bool> {
        let folder = self.table_folder(ident)?;
        if !VersionFiles::of_table(&folder).any()? {
            return Ok(false);
        }
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner).remove(&folder);
        // One rename makes the table disappear; what follows may take long or be interrupted.
        let trash = folder.with_file_name(format!(".{}{TRASH}", Uuid::new_v4()));
        let what = || format!("delete the folder '{}'", folder.display());
        match fs::rename(&folder, &trash) {
            Ok(()) => fs::remove_dir_all(&trash).context(what)?,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(e).context(what),
        }
        Ok(true)
    }
}

impl HadoopCatalog {
    /// A catalog over the folder `warehouse`: `/x`, `file:/x` or `file:///x`. It need not exist yet.
    ///
    /// # Errors
    /// `invalid-option` if it is missing, relative or a file; `not-supported` for another scheme.
    pub(crate) fn open(settings: Settings, warehouse: Option<&str>) -> Result<Self> {
        Ok(Self(Arc::new(Warehouse::open(settings, warehouse)?)))
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce(&Warehouse) -> Result<T> + Send + 'static) -> Result<T> {
        let warehouse = self.0.clone();
        match tokio::task::spawn_blocking(move || work(&warehouse)).await {
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
impl TableOps for HadoopCatalog {
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        self.load_table(ident).await?.ok_or_else(|| self.0.settings.unknown_table(ident))
    }

    async fn commit(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        let (warehouse, base) = (self.0.clone(), base.clone());
        match tokio::task::spawn_blocking(move || warehouse.replace(&base, &requirements, updates)).await {
            Ok(done) => done,
            Err(error) => Err(CommitError::Unknown(broken(&error))),
        }
    }
}

#[async_trait]
impl Catalog for HadoopCatalog {
    fn name(&self) -> &str {
        &self.0.settings.name
    }

    fn default_database(&self) -> &str {
        &self.0.settings.default_database
    }

    fn base_namespace(&self) -> &[String] {
        &self.0.settings.base_namespace
    }

    async fn list_namespaces(&self, parent: &[String]) -> Result<Vec<Vec<String>>> {
        let parent = parent.to_vec();
        self.run(move |w| {
            let children = w.children(&parent)?.into_iter().filter(|(_, table)| !table);
            Ok(children.map(|(name, _)| parent.iter().cloned().chain([name]).collect()).collect())
        })
        .await
    }

    async fn namespace_exists(&self, namespace: &[String]) -> Result<bool> {
        let namespace = namespace.to_vec();
        self.run(move |w| Warehouse::is_namespace(&w.folder(&namespace)?)).await
    }

    fn check_new_namespace(&self, namespace: &[String], properties: &BTreeMap<String, String>) -> Result<()> {
        check_new_namespace(&self.0.settings, namespace, properties)
    }

    async fn create_namespace(&self, namespace: &[String], properties: BTreeMap<String, String>) -> Result<()> {
        let namespace = namespace.to_vec();
        self.run(move |w| w.create_namespace(&namespace, &properties)).await
    }

    async fn drop_namespace(&self, namespace: &[String]) -> Result<()> {
        let namespace = namespace.to_vec();
        self.run(move |w| w.drop_namespace(&namespace)).await
    }

    async fn list_tables(&self, namespace: &[String]) -> Result<Vec<String>> {
        let namespace = namespace.to_vec();
        self.run(move |w| Ok(w.children(&namespace)?.into_iter().filter(|(_, table)| *table).map(|(n, _)| n).collect()))
            .await
    }

    async fn table_exists(&self, ident: &TableIdent) -> Result<bool> {
        let ident = ident.clone();
        self.run(move |w| VersionFiles::of_table(&w.table_folder(&ident)?).any()).await
    }

    async fn load_table(&self, ident: &TableIdent) -> Result<Option<Table>> {
        let ident = ident.clone();
        self.run(move |w| w.load(&ident)).await
    }

    fn draft(&self, ident: &TableIdent, creation: &TableCreation) -> Result<TableMetadata> {
        self.0.draft(ident, creation)
    }

    /// Folders appear with the table.
    fn needs_database(&self) -> bool {
        false
    }

    async fn create_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        let ident = ident.clone();
        self.run(move |w| w.create(&ident, &creation)).await
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

    /// The folder of a table holds all of it: without `purge`, too, nothing is left, as with the Java library.
    async fn drop_table(&self, ident: &TableIdent, _purge: bool) -> Result<bool> {
        let ident = ident.clone();
        self.run(move |w| w.drop_table(&ident)).await
    }
}

/// The end of the name of a dropped table's folder that is being deleted.
const TRASH: &str = ".dropped";

fn is_trash(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(TRASH)
}

/// Refuses a file where a folder is, or will be.
fn check_no_file(path: &Path) -> Result<()> {
    match path.exists() && !path.is_dir() {
        true => Err(Error::new("io", format!("'{}' is a file where a folder is needed", path.display()))),
        false => Ok(()),
    }
}

/// A folder that will become a table must not hold other folders: tables of a namespace of that name.
fn check_free(folder: &Path) -> Result<()> {
    check_no_file(folder)?;
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if entry.path().is_dir() && name != "data" && name != "metadata" {
            return Err(Error::new("invalid-name", format!("'{}' is a database that is not empty", folder.display())));
        }
    }
    Ok(())
}

fn check_location(creation: &TableCreation, expected: &str) -> Result<()> {
    let given = creation.properties.iter().find(|(key, _)| key.eq_ignore_ascii_case("location")).map(|(_, v)| v);
    let Some(given) = given.filter(|given| given.trim_end_matches('/') != expected) else { return Ok(()) };
    let same = local_path(given).is_ok_and(|g| local_path(expected).is_ok_and(|e| e == g));
    if same {
        return Ok(());
    }
    Err(other_location(expected, given))
}

/// The error for a place that is not the table's.
pub(super) fn other_location(expected: &str, given: &str) -> Error {
    Error::new("invalid-option", "a Hadoop catalog decides where its tables are").with_detail(format!(
        "Cannot set a custom location for a path-based table. Expected {expected} but got {given}"
    ))
}

/// The refusal of a new name.
pub(super) fn no_rename(ident: &TableIdent) -> Result<()> {
    Err(Error::unsupported(format!("renaming tables of a Hadoop catalog ('{}')", ident.name()))
        .with_detail("Cannot rename Hadoop tables")
        .with_hint("the table's folder is its name; CREATE TABLE .. AS SELECT makes a copy"))
}

/// Refuses properties of a database: there is no place for them.
pub(super) fn check_new_namespace(
    settings: &Settings,
    namespace: &[String],
    properties: &BTreeMap<String, String>,
) -> Result<()> {
    if properties.is_empty() {
        return Ok(());
    }
    let name = settings.database(namespace);
    Err(Error::unsupported(format!("comment and properties of database '{name}' in a Hadoop catalog"))
        .with_detail(format!("Cannot create namespace {}: metadata is not supported", namespace.join("."))))
}

/// Refuses changes that move a table.
pub(super) fn check_change(base: &Table, changed: &TableMetadata) -> Result<()> {
    check_path_based(changed, base.metadata().location())
}

/// Rules of the Java library's `HadoopTableOperations`.
pub(super) fn check_path_based(metadata: &TableMetadata, location: &str) -> Result<()> {
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
