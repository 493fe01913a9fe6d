//! The session's catalogs by name, its temporary tables and views, and what is current.

pub(crate) mod functions;
pub(crate) mod memory;
pub(crate) mod object;
pub(crate) mod store;
mod yaml;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use calve_iceberg::catalog::{Catalog as IcebergCatalog, ImageChanges, empty_image, open_image};
use calve_planner::TablePath;
use calve_types::{Error, Result};

use functions::TemporaryFunctions;
use memory::MemoryCatalog;
use object::{BaseKind, CatalogObject};
use store::CatalogStore;

/// The name of the catalog every session begins with.
pub(crate) const DEFAULT_CATALOG: &str = "default_catalog";
/// The name of its database.
pub(crate) const DEFAULT_DATABASE: &str = "default_database";

/// What kind of catalog a name stands for.
#[derive(Debug)]
pub(crate) enum CatalogKind {
    /// In the session's memory.
    Memory(MemoryCatalog),
    /// Iceberg tables.
    Iceberg(Arc<dyn IcebergCatalog>),
}

/// A catalog of the session.
#[derive(Debug)]
pub(crate) struct CatalogEntry {
    /// Kind.
    pub kind: CatalogKind,
    /// The database `USE CATALOG` makes current.
    pub default_database: String,
    /// Comment.
    pub comment: Option<String>,
    /// The WITH clause.
    pub options: BTreeMap<String, String>,
    /// Whether CREATE CATALOG made it; Flink tells nothing of another one.
    pub stored: bool,
    /// In a session that checks scripts: there is no such catalog, and a statement that would have made or used one failed.
    pub stand_in: bool,
}

/// All catalogs of a session.
#[derive(Debug)]
pub(crate) struct Catalogs {
    entries: BTreeMap<String, CatalogEntry>,
    /// Where catalogs live between sessions.
    store: Option<CatalogStore>,
    /// Catalogs of the store that cannot be opened, and why.
    broken: BTreeMap<String, Error>,
    current: (String, String),
    /// Temporary tables and views by their full names: they live in the session, whether there is such a catalog or not,
    /// and hide what has the same name in it.
    temporary: BTreeMap<TablePath, CatalogObject>,
    /// Functions that CREATE TEMPORARY FUNCTION declared.
    pub functions: TemporaryFunctions,
    /// In a session that checks scripts: Iceberg catalogs are images, whose changes stay in memory.
    images: Option<Images>,
    /// The catalogs of tables of the connector `iceberg`, by name and options.
    connectors: Mutex<HashMap<Connection, Arc<dyn IcebergCatalog>>>,
    /// What the script that is checked changes, by place: it is seen by every catalog of the place.
    changes: Mutex<HashMap<ImagePlace, ImageChanges>>,
}

/// The name and the options of a catalog.
type Connection = (String, BTreeMap<String, String>);

/// Where the tables of a catalog are: its options of [`PLACE`], and its name where that counts.
type ImagePlace = (Option<String>, Vec<Option<String>>);

/// What the images of Iceberg catalogs begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Images {
    /// What the catalogs hold.
    Full,
    /// Nothing: the catalogs are not read.
    Empty,
}

impl Default for Catalogs {
    fn default() -> Self {
        let entry = CatalogEntry {
            kind: CatalogKind::Memory(MemoryCatalog::new(DEFAULT_DATABASE)),
            default_database: DEFAULT_DATABASE.to_owned(),
            comment: None,
            options: BTreeMap::from([("type".to_owned(), "generic_in_memory".to_owned())]),
            stored: false,
            stand_in: false,
        };
        Self {
            entries: BTreeMap::from([(DEFAULT_CATALOG.to_owned(), entry)]),
            store: None,
            broken: BTreeMap::new(),
            current: (DEFAULT_CATALOG.to_owned(), DEFAULT_DATABASE.to_owned()),
            temporary: BTreeMap::new(),
            functions: TemporaryFunctions::default(),
            images: None,
            connectors: Mutex::default(),
            changes: Mutex::default(),
        }
    }
}

impl Catalogs {
    /// From now on opened catalogs are images, those of the store as well.
    pub fn use_images(&mut self, images: Images) {
        self.images = Some(images);
        self.entries.retain(|name, _| name == DEFAULT_CATALOG);
        self.look_into_store();
    }

    /// From now on catalogs live in a store.
    pub fn use_store(&mut self, store: CatalogStore) {
        self.store = Some(store);
        self.look_into_store();
    }

    /// Opens what the store has and the session does not: each session sees the catalogs of the others from their next
    /// statement on. No server is asked. One that cannot be opened is an error for whoever uses it.
    pub fn look_into_store(&mut self) {
        let Some(store) = &self.store else { return };
        // a folder that is gone is told when something is to be stored
        let Ok(names) = store.names() else { return };
        let mut broken = BTreeMap::new();
        for name in names {
            if self.entries.contains_key(&name) {
                continue;
            }
            let opened = match store.load(&name) {
                Ok(options) => self.open(&name, options, None).map_err(|error| {
                    let message = format!("the stored catalog '{name}' cannot be opened: {}", error.message);
                    Error { message, ..error }
                }),
                Err(error) => Err(error),
            };
            match opened {
                Ok(entry) => drop(self.entries.insert(name, entry)),
                Err(error) => drop(broken.insert(name, error)),
            }
        }
        self.broken = broken;
    }

    /// The store, unless the session only checks scripts.
    fn store_to_write(&self) -> Option<&CatalogStore> {
        self.store.as_ref().filter(|_| self.images.is_none())
    }

    /// Opens a catalog from the options of CREATE CATALOG.
    ///
    /// # Errors
    /// An option that is missing or wrong, a kind calve does not know.
    pub fn open(&self, name: &str, options: BTreeMap<String, String>, comment: Option<String>) -> Result<CatalogEntry> {
        let kind = options.get("type").map(|t| t.to_ascii_lowercase());
        let (kind, default_database) = match kind.as_deref() {
            Some("iceberg") => {
                let catalog = self.open_iceberg(name, &options)?;
                let database = catalog.default_database().to_owned();
                (CatalogKind::Iceberg(catalog), database)
            }
            Some("generic_in_memory") => {
                check_memory_options(&options)?;
                let database = options.get("default-database").map_or("default", String::as_str).to_owned();
                (CatalogKind::Memory(MemoryCatalog::new(&database)), database)
            }
            Some(other) => {
                return Err(Error::new("unknown-catalog-type", format!("unknown type of catalog '{other}'"))
                    .with_detail(format!(
                        "Could not find any factory for identifier '{other}' that implements 'CatalogFactory'."
                    ))
                    .with_hint(hint_of_type(other)));
            }
            None => {
                return Err(Error::new("missing-option", format!("catalog '{name}' has no option 'type'"))
                    .with_hint("add 'type' = 'iceberg' to the WITH clause"));
            }
        };
        Ok(CatalogEntry { kind, default_database, comment, options, stored: true, stand_in: false })
    }

    /// Opens an Iceberg catalog. An image begins with the changes that were made at its place before.
    fn open_iceberg(&self, name: &str, options: &BTreeMap<String, String>) -> Result<Arc<dyn IcebergCatalog>> {
        let Some(images) = self.images else { return calve_iceberg::catalog::open(name, options) };
        let changes = {
            let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
            changes.entry(image_place(name, options)).or_default().clone()
        };
        open_image(name, options, images == Images::Full, changes)
    }

    /// The name of a catalog of the session where the tables are that a catalog of these options has, by the same names.
    pub fn at_place(&self, name: &str, options: &BTreeMap<String, String>) -> Option<&str> {
        let place = image_place(name, options);
        let is_it = |(name, entry): &(&String, &CatalogEntry)| {
            matches!(entry.kind, CatalogKind::Iceberg(_))
                && image_place(name, &entry.options) == place
                && entry.options.get(BASE) == options.get(BASE)
        };
        self.entries.iter().find(is_it).map(|(name, _)| name.as_str())
    }

    /// The Iceberg catalog of a table of the connector `iceberg`, which need not be one of the session's: opened once for
    /// each name with the same options.
    ///
    /// # Errors
    /// As [`Catalogs::open`].
    pub fn of_connector(&self, name: &str, options: &BTreeMap<String, String>) -> Result<Arc<dyn IcebergCatalog>> {
        let mut opened = self.connectors.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_owned(), options.clone());
        if let Some(catalog) = opened.get(&key) {
            return Ok(catalog.clone());
        }
        let catalog = self.open_iceberg(name, options)?;
        opened.insert(key, catalog.clone());
        Ok(catalog)
    }

    /// Adds a catalog; `false` if there is one of that name.
    pub fn add(&mut self, name: &str, entry: CatalogEntry) -> bool {
        if self.entries.contains_key(name) {
            return false;
        }
        self.entries.insert(name.to_owned(), entry);
        true
    }

    /// Adds a catalog that CREATE CATALOG made, to the store as well if there is one.
    ///
    /// # Errors
    /// `catalog-exists`, `invalid-name`, `io`; nothing is added then.
    pub fn create(&mut self, name: &str, entry: CatalogEntry) -> Result<()> {
        if let Some(store) = self.store_to_write() {
            store.create(name, &entry.options)?;
        }
        self.add(name, entry);
        Ok(())
    }

    /// Opens a catalog anew with other options: Iceberg's from scratch, while a memory catalog keeps what it holds.
    ///
    /// # Errors
    /// As [`Catalogs::open`], those of a server that cannot be reached, and those of the store; then the catalog stays as it
    /// was.
    pub async fn reopen(&mut self, name: &str, options: BTreeMap<String, String>) -> Result<()> {
        self.get(name)?;
        let new = self.open(name, options, None)?;
        if let CatalogKind::Iceberg(iceberg) = &new.kind {
            iceberg.connect().await?;
        }
        if let Some(store) = self.store_to_write() {
            store.replace(name, &new.options)?;
        }
        let entry = self.get_mut(name)?;
        match (&mut entry.kind, new.kind) {
            (CatalogKind::Memory(memory), CatalogKind::Memory(_)) => memory.create_database(&new.default_database),
            (kind, new) => *kind = new,
        }
        entry.default_database = new.default_database;
        entry.options = new.options;
        Ok(())
    }

    /// Adds an empty catalog in memory for one that cannot be opened; nothing happens if there is one of that name.
    pub fn add_stand_in(&mut self, name: &str) {
        self.add(
            name,
            CatalogEntry {
                kind: CatalogKind::Iceberg(empty_image(name)),
                default_database: "default".to_owned(),
                comment: None,
                options: BTreeMap::new(),
                stored: true,
                stand_in: true,
            },
        );
    }

    /// Whether there is no such catalog, but one that [`Catalogs::add_stand_in`] added.
    pub fn is_stand_in(&self, name: &str) -> bool {
        self.entries.get(name).is_some_and(|entry| entry.stand_in)
    }

    /// Removes what [`Catalogs::add_stand_in`] added, so that a catalog of that name can be made.
    pub fn remove_stand_in(&mut self, name: &str) {
        if self.is_stand_in(name) {
            self.entries.remove(name);
        }
    }

    /// Whether there is a catalog of that name, be it one that cannot be opened.
    pub fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name) || self.broken.contains_key(name)
    }

    /// Removes a catalog.
    ///
    /// # Errors
    /// `unknown-catalog`; `catalog-in-use` for the current one; those of the store.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        if !self.contains(name) {
            return Err(self.unknown(name));
        }
        if self.current.0 == name {
            return Err(Error::new("catalog-in-use", format!("catalog '{name}' is the current one"))
                .with_detail("Cannot drop a catalog which is currently in use.")
                .with_hint("USE another CATALOG first"));
        }
        if let Some(store) = self.store_to_write().filter(|_| name != DEFAULT_CATALOG) {
            store.remove(name)?;
        }
        self.entries.remove(name);
        self.broken.remove(name);
        Ok(())
    }

    /// The locations of files that the catalogs were to delete since the last time and that may be left.
    pub fn take_left(&self) -> Vec<String> {
        let connectors = self.connectors.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left: Vec<String> = connectors.values().flat_map(|catalog| catalog.take_left()).collect();
        for entry in self.entries.values() {
            if let CatalogKind::Iceberg(catalog) = &entry.kind {
                left.extend(catalog.take_left());
            }
        }
        left.sort();
        left.dedup();
        left
    }

    /// What the servers of catalogs override of the options of CREATE CATALOG, as far as it was not told yet.
    pub fn take_notices(&self) -> Vec<String> {
        let connectors = self.connectors.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told: Vec<String> = connectors.values().flat_map(|catalog| catalog.take_notices()).collect();
        for entry in self.entries.values() {
            if let CatalogKind::Iceberg(catalog) = &entry.kind {
                told.extend(catalog.take_notices());
            }
        }
        told
    }

    /// The names of all catalogs, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.entries.keys().chain(self.broken.keys()).cloned().collect();
        names.sort();
        names
    }

    /// A catalog by name.
    ///
    /// # Errors
    /// `unknown-catalog`; why a stored one cannot be opened.
    pub fn get(&self, name: &str) -> Result<&CatalogEntry> {
        self.entries.get(name).ok_or_else(|| self.unknown(name))
    }

    /// A catalog by name, to change it.
    ///
    /// # Errors
    /// `unknown-catalog`.
    pub fn get_mut(&mut self, name: &str) -> Result<&mut CatalogEntry> {
        if !self.entries.contains_key(name) {
            return Err(self.unknown(name));
        }
        self.entries.get_mut(name).ok_or_else(|| Error::internal("a catalog vanished"))
    }

    fn unknown(&self, name: &str) -> Error {
        if let Some(error) = self.broken.get(name) {
            return error.clone();
        }
        Error::new("unknown-catalog", format!("catalog '{name}' does not exist"))
            .with_detail(format!("A catalog with name [{name}] does not exist."))
            .did_you_mean(name, self.entries.keys().map(String::as_str))
    }

    /// The current catalog and database.
    pub fn current(&self) -> (&str, &str) {
        (&self.current.0, &self.current.1)
    }

    /// Makes a catalog current, with its default database; what is current already keeps its database, as in Flink.
    ///
    /// # Errors
    /// `unknown-catalog`.
    pub fn use_catalog(&mut self, name: &str) -> Result<()> {
        let database = self.get(name)?.default_database.clone();
        if self.current.0 != name {
            self.current = (name.to_owned(), database);
        }
        Ok(())
    }

    /// Makes a database current; whether it exists was checked before.
    pub fn use_database(&mut self, catalog: &str, database: &str) {
        self.current = (catalog.to_owned(), database.to_owned());
    }

    /// A temporary table or view.
    pub fn temporary(&self, path: &TablePath) -> Option<&CatalogObject> {
        self.temporary.get(path)
    }

    /// All temporary tables and views.
    pub fn temporaries(&self) -> impl Iterator<Item = (&TablePath, &CatalogObject)> {
        self.temporary.iter()
    }

    /// Puts a temporary table or view in the place of whatever temporary had its name.
    pub fn put_temporary(&mut self, path: TablePath, object: CatalogObject) {
        self.temporary.insert(path, object);
    }

    /// Removes a temporary table or view.
    pub fn remove_temporary(&mut self, path: &TablePath) {
        self.temporary.remove(path);
    }

    /// A table or view in the session's memory: temporary, or in a memory catalog.
    pub fn object(&self, path: &TablePath) -> Option<&CatalogObject> {
        self.temporary(path).or_else(|| match &self.entries.get(&path.catalog)?.kind {
            CatalogKind::Memory(memory) => memory.object(&path.database, &path.table),
            CatalogKind::Iceberg(_) => None,
        })
    }

    /// The tables and views of a database, or its views alone, temporary ones among them.
    ///
    /// # Errors
    /// `unknown-catalog`, what the catalog answered.
    pub async fn objects(&self, catalog: &str, database: &str, views: bool) -> Result<BTreeSet<String>> {
        let wanted = |object: &CatalogObject| !views || object.is(BaseKind::View);
        let mut names: BTreeSet<String> = match &self.get(catalog)?.kind {
            CatalogKind::Memory(memory) => {
                memory.objects(database).filter(|(_, o)| wanted(o)).map(|(name, _)| name.clone()).collect()
            }
            CatalogKind::Iceberg(_) if views => BTreeSet::new(),
            CatalogKind::Iceberg(iceberg) => {
                iceberg.list_tables(iceberg.namespace(database)?.as_ref()).await?.into_iter().collect()
            }
        };
        let temporary = self
            .temporary
            .iter()
            .filter(|(path, object)| path.catalog == catalog && path.database == database && wanted(object));
        names.extend(temporary.map(|(path, _)| path.table.clone()));
        Ok(names)
    }

    /// Why a catalog has no table at all, if its warehouse is not there: a hint for a person who expects one.
    pub async fn missing_warehouse(&self, catalog: &str) -> Option<String> {
        match &self.get(catalog).ok()?.kind {
            CatalogKind::Memory(_) => None,
            CatalogKind::Iceberg(iceberg) => iceberg.missing_warehouse().await,
        }
    }

    /// The error for something that is not in a catalog, with the hint that the whole warehouse is not there if so.
    pub async fn with_missing_warehouse(&self, error: Error, catalog: &str) -> Error {
        match self.missing_warehouse(catalog).await {
            Some(why) => error.with_hint(why),
            None => error,
        }
    }
}

impl CatalogEntry {
    /// Whether a database exists.
    ///
    /// # Errors
    /// What the catalog answered.
    pub async fn database_exists(&self, database: &str) -> Result<bool> {
        match &self.kind {
            CatalogKind::Memory(memory) => Ok(memory.has_database(database)),
            CatalogKind::Iceberg(iceberg) => iceberg.namespace_exists(iceberg.namespace(database)?.as_ref()).await,
        }
    }

    /// The databases, sorted.
    ///
    /// # Errors
    /// What the catalog answered.
    pub async fn databases(&self) -> Result<Vec<String>> {
        match &self.kind {
            CatalogKind::Memory(memory) => Ok(memory.databases()),
            CatalogKind::Iceberg(iceberg) => Ok(iceberg
                .list_namespaces(iceberg.base_namespace())
                .await?
                .into_iter()
                .filter_map(|mut levels| levels.pop())
                .collect()),
        }
    }
}

/// What to write instead of a `type` that is none: kinds of Iceberg catalogs are often taken for one.
fn hint_of_type(given: &str) -> String {
    let types = "'type' is 'iceberg' or 'generic_in_memory'";
    match calve_iceberg::catalog::kind_named(given) {
        Some(kind) => format!("for Iceberg tables: 'type' = 'iceberg' and 'catalog-type' = '{kind}'; {types}"),
        None => match calve_types::nearest(given, ["iceberg", "generic_in_memory"]) {
            Some(near) => format!("did you mean '{near}'? {types}"),
            None => types.to_owned(),
        },
    }
}

/// The options that tell where an Iceberg catalog has its tables.
const PLACE: [&str; 4] = ["catalog-type", "catalog-impl", "uri", "warehouse"];

/// The option that tells below which namespace a catalog's databases are.
const BASE: &str = "base-namespace";

/// See [`ImagePlace`]. A folder has the same tables for all Hadoop catalogs; others may keep them by their names.
fn image_place(name: &str, options: &BTreeMap<String, String>) -> ImagePlace {
    let is_folder = options.get("catalog-type").is_some_and(|kind| kind.eq_ignore_ascii_case("hadoop"));
    ((!is_folder).then(|| name.to_owned()), PLACE.iter().map(|key| options.get(*key).cloned()).collect())
}

/// The options of a memory catalog beside its type.
const MEMORY_OPTIONS: [&str; 2] = ["default-database", "property-version"];

fn check_memory_options(options: &BTreeMap<String, String>) -> Result<()> {
    let is_unknown = |key: &&String| *key != "type" && !MEMORY_OPTIONS.contains(&key.as_str());
    let unknown: Vec<&str> = options.keys().filter(is_unknown).map(String::as_str).collect();
    if let Some(first) = unknown.first() {
        let error =
            Error::new("invalid-option", format!("a catalog in memory has no option '{first}'")).with_detail(format!(
                "Unsupported options found for 'generic_in_memory'.\n\nUnsupported options:\n\n{}\n\nSupported \
                 options:\n\n{}",
                unknown.join("\n"),
                MEMORY_OPTIONS.join("\n")
            ));
        return Err(error.did_you_mean(first, MEMORY_OPTIONS));
    }
    if options.get("default-database").is_some_and(|database| database.trim().is_empty()) {
        return Err(Error::new("invalid-option", "the default database of a catalog needs a name")
            .with_detail("defaultDatabase cannot be null or empty"));
    }
    Ok(())
}

/// The error for a database that is not there, in Flink's words.
pub(crate) fn unknown_database(catalog: &str, database: &str) -> Error {
    Error::new("unknown-database", format!("database '{database}' does not exist in catalog '{catalog}'"))
        .with_detail(format!("A database with name [{database}] does not exist in the catalog: [{catalog}]."))
}
