//! Loads the tables a statement names, once each, so that the binder sees one fixed version of every table.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use calve_connectors::{ConnectorContext, MetadataColumn, TableDefinition};
use calve_iceberg::Table;
use calve_iceberg::commit::TableOps;
use calve_iceberg::metadata::metadata_table;
use calve_iceberg::scan::{ScanOptions, provider};
use calve_options::Place;
use calve_planner::catalog::{Column, ColumnKind};
use calve_planner::tables::{Reference, referenced};
use calve_planner::{CatalogReader, TableEntry, TablePath};
use calve_types::{DataType, Error, Result, Span};
use datafusion::catalog::TableProvider;
use iceberg::spec::Transform;

use crate::catalogs::functions::FunctionDef;
use crate::catalogs::object::{CatalogObject, TableDef, ViewDef};
use crate::catalogs::{CatalogKind, Catalogs};
use crate::check::rules::{ineffective_option, unknown_option};
use crate::mapping::{self, Declared, Opened, Target};
use crate::options::Options;
use crate::result::Warning;

/// What [`TableEntry::handle`] holds for an Iceberg table.
pub(crate) struct IcebergHandle {
    /// What commits go through: its catalog, or what the statement creates it or replaces it with.
    pub home: Arc<dyn TableOps>,
    /// The version of the statement.
    pub table: Table,
    /// The options of the table's hint; before them those of the definition, where one stands for the table.
    pub hints: BTreeMap<String, String>,
    /// The columns of the definition that stands for the table, if it is one of the connector `iceberg`.
    pub declared: Option<Arc<Declared>>,
}

/// What [`TableEntry::handle`] holds for a table with a connector.
pub(crate) struct ConnectorHandle {
    /// Physical columns, partition keys and options, those of the table's hint included.
    pub definition: TableDefinition,
    /// Whether the table is DISTRIBUTED, which no connector can write.
    bucketed: bool,
}

/// What [`TableEntry::handle`] holds for a metadata table.
pub(crate) struct ProviderHandle(pub Arc<dyn TableProvider>);

type Key = (TablePath, Vec<(String, String)>);

/// The versions of Iceberg tables that a statement sees.
struct Versions {
    /// By the names in the session's catalogs.
    tables: HashMap<TablePath, Option<Table>>,
    /// Those that tables of the connector `iceberg` stand for; `None` if they are not asked.
    mapped: Option<HashMap<Target, Opened>>,
}

/// The tables of one statement.
pub(crate) struct Resolved<'a> {
    catalogs: &'a Catalogs,
    options: &'a Options,
    tables: HashMap<Key, Arc<TableEntry>>,
    siblings: HashMap<(String, String), Vec<String>>,
    /// The databases of catalogs in which a name was not found.
    databases: HashMap<String, Vec<String>>,
    /// What is wrong with the warehouses of such catalogs.
    missing: HashMap<String, String>,
    /// The view that the statement defines: nothing in it may read it.
    defining: Option<TablePath>,
}

/// Completes a name of one to three parts with the current catalog and database; `None` for more parts.
pub(crate) fn full_path(catalogs: &Catalogs, parts: &[String]) -> Option<TablePath> {
    complete(parts, catalogs.current())
}

/// Completes a name with a catalog and a database.
pub(crate) fn complete(parts: &[String], (catalog, database): (&str, &str)) -> Option<TablePath> {
    let path = |catalog: &str, database: &str, table: &str| TablePath {
        catalog: catalog.to_owned(),
        database: database.to_owned(),
        table: table.to_owned(),
    };
    match parts {
        [table] => Some(path(catalog, database, table)),
        [database, table] => Some(path(catalog, database, table)),
        [catalog, database, table] => Some(path(catalog, database, table)),
        _ => None,
    }
}

/// A name that is to be loaded.
struct Wanted {
    reference: Reference,
    /// The catalog and the database that complete it.
    current: (String, String),
    /// Where the view stands in the statement that the name is in; `None` for the statement's own names.
    view: Option<Span>,
}

impl<'a> Resolved<'a> {
    /// Loads every table of `names`, and of the views among them; names of nothing are left to the binder, which knows
    /// what else they may mean.
    ///
    /// # Errors
    /// What a catalog answered, at the name's place.
    pub async fn load(catalogs: &'a Catalogs, options: &'a Options, names: Vec<Reference>) -> Result<Self> {
        Self::load_all(catalogs, options, names, true).await
    }

    /// As [`Resolved::load`], for statements that neither read nor write the tables: what a table of the connector
    /// `iceberg` stands for is not asked.
    ///
    /// # Errors
    /// As [`Resolved::load`].
    pub async fn load_definitions(catalogs: &'a Catalogs, options: &'a Options, names: Vec<Reference>) -> Result<Self> {
        Self::load_all(catalogs, options, names, false).await
    }

    async fn load_all(
        catalogs: &'a Catalogs,
        options: &'a Options,
        names: Vec<Reference>,
        open_mapped: bool,
    ) -> Result<Self> {
        let mut resolved = Self {
            catalogs,
            options,
            tables: HashMap::new(),
            siblings: HashMap::new(),
            databases: HashMap::new(),
            missing: HashMap::new(),
            defining: None,
        };
        let mut versions = Versions { tables: HashMap::new(), mapped: open_mapped.then(HashMap::new) };
        let (catalog, database) = catalogs.current();
        let current = (catalog.to_owned(), database.to_owned());
        let mut wanted: VecDeque<Wanted> =
            names.into_iter().map(|reference| Wanted { reference, current: current.clone(), view: None }).collect();
        while let Some(Wanted { reference, current, view }) = wanted.pop_front() {
            let Some(path) = complete(&reference.parts, (&current.0, &current.1)) else { continue };
            let place = view.unwrap_or(reference.span);
            let key = (path, reference.hints);
            if resolved.tables.contains_key(&key) {
                continue;
            }
            let Some(entry) = resolved.entry(&key, place, &mut versions).await.map_err(|e| e.at(place))? else {
                resolved.list_siblings(&key.0).await;
                continue;
            };
            if let Some(definition) = &entry.view {
                let current = (definition.catalog.clone(), definition.database.clone());
                let names = referenced(&calve_sql::Statement::Query(definition.query.clone()));
                wanted.extend(names.into_iter().map(|reference| Wanted {
                    reference,
                    current: current.clone(),
                    view: Some(place),
                }));
            }
            resolved.tables.insert(key, Arc::new(entry));
        }
        Ok(resolved)
    }

    /// For the definition of a view: refuses what reads the view itself.
    pub fn defining(mut self, path: TablePath) -> Self {
        self.defining = Some(path);
        self
    }

    /// Acts as if a table of this definition were there.
    pub fn assume(&mut self, path: &TablePath, table: &TableDef) {
        self.tables.insert((path.clone(), vec![]), Arc::new(connector_entry(path, table, &[])));
    }

    /// Acts as if an Iceberg table were there already, or replaced, that comes with the commit of its rows to `home`.
    ///
    /// # Errors
    /// `not-supported` for a type that Flink does not have.
    pub fn assume_staged(&mut self, path: &TablePath, home: Arc<dyn TableOps>, table: Table) -> Result<()> {
        let entry = iceberg_entry(path.clone(), home, table, BTreeMap::new())?;
        self.tables.insert((path.clone(), vec![]), Arc::new(entry));
        Ok(())
    }

    /// The names of the columns of a loaded table or view.
    pub fn columns(&self, path: &TablePath) -> Option<Vec<String>> {
        let (_, entry) = self.tables.iter().find(|((loaded, _), _)| loaded == path)?;
        Some(entry.columns.iter().map(|c| c.name.clone()).collect())
    }

    /// What a name at a place stands for.
    async fn entry(&self, key: &Key, place: Span, versions: &mut Versions) -> Result<Option<TableEntry>> {
        let (path, hints) = key;
        if !hints.is_empty() && self.options.get("table.dynamic-table-options.enabled") == Some("false") {
            return Err(Error::new("hints-disabled", "OPTIONS hints are not allowed in this session")
                .with_detail(
                    "The 'OPTIONS' hint is allowed only when the config option 'table.dynamic-table-options.enabled' is set to true.",
                )
                .with_hint("SET 'table.dynamic-table-options.enabled' = 'true'"));
        }
        match self.catalogs.object(path) {
            Some(CatalogObject::Table(table)) => {
                return Ok(Some(match &mut versions.mapped {
                    Some(opened) if mapping::is_mapping(table) => {
                        mapped_entry(self.catalogs, path, place, table, hints, opened).await?
                    }
                    _ => connector_entry(path, table, hints),
                }));
            }
            Some(CatalogObject::View(view)) => return Ok(Some(view_entry(path, view))),
            None => {}
        }
        let Ok(catalog) = self.catalogs.get(&path.catalog) else { return Ok(None) };
        let CatalogKind::Iceberg(iceberg) = &catalog.kind else { return Ok(None) };
        let (name, metadata) = match path.table.split_once('$') {
            Some((name, metadata)) => (name, Some(metadata)),
            None => (path.table.as_str(), None),
        };
        let base = TablePath { table: name.to_owned(), ..path.clone() };
        if !versions.tables.contains_key(&base) {
            let table = iceberg.load_table(&iceberg.ident(&path.database, name)?).await?;
            versions.tables.insert(base.clone(), table);
        }
        let Some(table) = versions.tables.get(&base).cloned().flatten() else { return Ok(None) };
        let hints: BTreeMap<String, String> = hints.iter().cloned().collect();
        Ok(Some(match metadata {
            Some(metadata) => {
                let found = metadata_table(table, metadata, &hints)?;
                TableEntry {
                    path: path.clone(),
                    columns: physical(found.columns),
                    primary_key: vec![],
                    watermark: None,
                    partition_keys: vec![],
                    options: BTreeMap::new(),
                    writable: false,
                    view: None,
                    handle: Arc::new(ProviderHandle(found.provider)),
                }
            }
            None => iceberg_entry(path.clone(), iceberg.clone(), table, hints)?,
        }))
    }

    async fn list_siblings(&mut self, path: &TablePath) {
        let key = (path.catalog.clone(), path.database.clone());
        if self.siblings.contains_key(&key) {
            return;
        }
        // only for a suggestion: a catalog that cannot list has none
        let names = self.catalogs.objects(&path.catalog, &path.database, false).await.unwrap_or_default();
        self.siblings.insert(key, names.into_iter().collect());
        if !self.databases.contains_key(&path.catalog)
            && let Ok(catalog) = self.catalogs.get(&path.catalog)
        {
            let names = catalog.databases().await.unwrap_or_default();
            self.databases.insert(path.catalog.clone(), names);
            if let Some(why) = self.catalogs.missing_warehouse(&path.catalog).await {
                self.missing.insert(path.catalog.clone(), why);
            }
        }
    }

    /// Warnings about options in hints that the tables do not have.
    pub fn warnings(&self, statement: &calve_sql::Statement) -> Vec<Warning> {
        let target = match statement {
            calve_sql::Statement::Insert(insert) => Some(insert.table.span),
            calve_sql::Statement::Delete(delete) => Some(delete.table.span),
            calve_sql::Statement::Update(update) => Some(update.table.span),
            calve_sql::Statement::Merge(merge) => Some(merge.table.span),
            _ => None,
        };
        let mut warnings = vec![];
        for reference in referenced(statement).iter().filter(|reference| !reference.hints.is_empty()) {
            let place = if Some(reference.span) == target { Place::Write } else { Place::Read };
            let key = full_path(self.catalogs, &reference.parts).map(|path| (path, reference.hints.clone()));
            let Some(entry) = key.and_then(|key| self.tables.get(&key)) else { continue };
            // a connector says itself what it does not know
            if downcast::<ConnectorHandle>(&entry.handle).is_none() {
                let iceberg = downcast::<IcebergHandle>(&entry.handle);
                let is_mapping = iceberg.is_some_and(|handle| handle.declared.is_some());
                let mut given = reference.hints.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
                given.retain(|name| !(is_mapping && mapping::is_choice(name)));
                let mut wrong: Vec<Warning> =
                    given.iter().filter_map(|name| unknown_option::in_hint(name, place)).collect();
                if let Some(handle) = iceberg.filter(|_| place == Place::Read) {
                    let is_given =
                        |name: &str| handle.hints.contains_key(name) || handle.table.property(name).is_some();
                    wrong.extend(ineffective_option::beside_changes(&given, is_given));
                }
                warnings.extend(wrong.into_iter().map(|warning| warning.at(reference.span)));
            }
        }
        let of_job = |reference: &&Reference| reference.hints.iter().any(|(name, _)| name == "as-of-job-id");
        if let Some(reference) = referenced(statement).iter().find(of_job) {
            let message = "not portable to Flink: option 'as-of-job-id'";
            warnings.push(Warning::new("not-portable", message).at(reference.span));
        }
        for place in calve_planner::tables::versions(statement) {
            let message = "not portable to Flink: FOR SYSTEM_TIME AS OF a constant";
            warnings.push(Warning::new("not-portable", message).at(place));
        }
        warnings
    }

    /// Warnings about options of the loaded tables that look misspelt: Flink takes them in silence.
    pub fn table_warnings(&self) -> Vec<Warning> {
        let mut messages = BTreeSet::new();
        for entry in self.tables.values() {
            let Some(handle) = downcast::<ConnectorHandle>(&entry.handle) else { continue };
            for (option, near) in calve_connectors::suspicious_options(&handle.definition) {
                let meant = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
                messages.insert(format!("option '{option}' of table '{}' is not known{meant}", entry.path));
            }
        }
        messages.into_iter().map(|message| Warning::new("unknown-option", message)).collect()
    }

    /// The provider that reads a table.
    ///
    /// # Errors
    /// What [`ScanOptions::resolve`] or the table's connector refuse.
    pub fn provider(
        options: &Options,
        entry: &TableEntry,
        connectors: &ConnectorContext,
    ) -> Result<Arc<dyn TableProvider>> {
        if let Some(handle) = downcast::<IcebergHandle>(&entry.handle) {
            let scan = ScanOptions::resolve(&handle.table, &handle.hints, options.all())?;
            let provider = provider(handle.table.clone(), scan)?;
            return match &handle.declared {
                Some(declared) => declared.provider(&handle.table, provider),
                None => Ok(provider),
            };
        }
        if let Some(handle) = downcast::<ProviderHandle>(&entry.handle) {
            return Ok(handle.0.clone());
        }
        match downcast::<ConnectorHandle>(&entry.handle) {
            Some(handle) => {
                let column = |c: &Column| match &c.kind {
                    ColumnKind::Metadata { key, .. } => Some(MetadataColumn { name: c.name.clone(), key: key.clone() }),
                    _ => None,
                };
                let metadata: Vec<MetadataColumn> = entry.metadata_columns().filter_map(column).collect();
                calve_connectors::source_with_metadata(&handle.definition, &metadata, connectors)
            }
            None => Err(Error::internal(format!("'{}' is not a table that can be read", entry.path))),
        }
    }
}

/// The handle's value if it is a `T`.
pub(crate) fn downcast<T: Any>(handle: &Arc<dyn Any + Send + Sync>) -> Option<&T> {
    handle.as_ref().downcast_ref::<T>()
}

/// Why a table has no versions.
const NO_VERSIONS: &str = "only tables of Iceberg catalogs keep versions";

/// Hints that say which version or which changes of an Iceberg table are read.
const VERSION_HINTS: [&str; 9] = [
    "snapshot-id",
    "as-of-timestamp",
    "as-of-job-id",
    "branch",
    "tag",
    "start-snapshot-id",
    "start-tag",
    "end-snapshot-id",
    "end-tag",
];

/// The hint that says which version of an Iceberg table is read, if one does; `branch` only if no other does.
pub(crate) fn chosen_version(hints: &BTreeMap<String, String>) -> Option<&'static str> {
    let given = || VERSION_HINTS.into_iter().filter(|name| hints.contains_key(*name));
    given().find(|name| *name != "branch").or_else(|| given().next())
}

/// Refuses to write what no sink can write as its definition asks for.
///
/// # Errors
/// `not-supported` for a DISTRIBUTED table, with Flink's sentence.
pub(crate) fn check_sink(entry: &TableEntry) -> Result<()> {
    match downcast::<ConnectorHandle>(&entry.handle) {
        Some(handle) if handle.bucketed => {
            Err(Error::unsupported(format!("writing '{}', which is DISTRIBUTED into buckets", entry.path)).with_detail(
                format!(
                    "Table '{}' is distributed into buckets, but the underlying DynamicTableSink doesn't implement the \
                     SupportsBucketing interface.",
                    entry.path
                ),
            ))
        }
        _ => Ok(()),
    }
}

fn connector_entry(path: &TablePath, table: &TableDef, hints: &[(String, String)]) -> TableEntry {
    let mut options = table.options.clone();
    options.extend(hints.iter().cloned());
    let stored = table.columns.iter().filter(|c| c.is_physical()).map(|c| &c.column);
    let definition = TableDefinition {
        name: path.to_string(),
        columns: stored.map(|c| (c.name.clone(), c.data_type.clone())).collect(),
        partition_keys: table.partition_keys.clone(),
        options: options.clone(),
    };
    TableEntry {
        path: path.clone(),
        columns: table.columns.iter().map(|c| c.column.clone()).collect(),
        primary_key: table.key_columns().to_vec(),
        watermark: table
            .watermark
            .as_ref()
            .map(|w| calve_planner::Watermark { column: w.column.join("."), expr: w.expr.clone() }),
        partition_keys: table.partition_keys.clone(),
        options,
        writable: true,
        view: None,
        handle: Arc::new(ConnectorHandle { definition, bucketed: table.distribution.is_some() }),
    }
}

/// A table of the connector `iceberg`: its own columns over the Iceberg table that it stands for.
async fn mapped_entry(
    catalogs: &Catalogs,
    path: &TablePath,
    place: Span,
    definition: &TableDef,
    hints: &[(String, String)],
    opened: &mut HashMap<Target, Opened>,
) -> Result<TableEntry> {
    let hints: BTreeMap<String, String> = hints.iter().cloned().collect();
    let target = Target::of(path, &definition.options, &hints)?;
    let (home, table) = match opened.get(&target) {
        Some(opened) => opened.clone(),
        None => {
            let found = mapping::open(catalogs, &target, definition).await?;
            opened.insert(target.clone(), found.clone());
            found
        }
    };
    let declared = Declared::new(path, definition, place)?;
    let mut options = target.options;
    options.extend(hints);
    let properties = table.metadata().properties().iter().map(|(key, value)| (key.clone(), value.clone()));
    let key = calve_iceberg::schema::primary_key(table.metadata().current_schema());
    let is_declared = |name: &String| definition.columns.iter().any(|c| c.column.name == *name);
    let primary_key = match &definition.primary_key {
        Some(key) => key.columns.clone(),
        None if key.iter().all(is_declared) => key,
        None => vec![],
    };
    let entry = connector_entry(path, definition, &[]);
    Ok(TableEntry {
        primary_key,
        options: properties.chain(options.clone()).collect(),
        handle: Arc::new(IcebergHandle { home, table, hints: options, declared: Some(Arc::new(declared)) }),
        ..entry
    })
}

fn view_entry(path: &TablePath, view: &ViewDef) -> TableEntry {
    TableEntry {
        path: path.clone(),
        columns: view.columns.iter().map(|c| c.column.clone()).collect(),
        primary_key: vec![],
        watermark: None,
        partition_keys: vec![],
        options: BTreeMap::new(),
        writable: false,
        view: Some(view.view.clone()),
        handle: Arc::new(()),
    }
}

fn physical(columns: Vec<(String, DataType)>) -> Vec<Column> {
    columns.into_iter().map(|(name, data_type)| Column::physical(name, data_type)).collect()
}

/// An Iceberg table as the binder sees it.
///
/// # Errors
/// `not-supported` for columns of a type Flink has no counterpart of.
pub(crate) fn iceberg_entry(
    path: TablePath,
    home: Arc<dyn TableOps>,
    table: Table,
    hints: BTreeMap<String, String>,
) -> Result<TableEntry> {
    let metadata = table.metadata().clone();
    let schema = metadata.current_schema();
    let spec = metadata.default_partition_spec();
    let name_of = |id: i32| schema.field_by_id(id).map(|f| f.name.clone());
    // a table with any other transform has no partition keys for Flink
    let partition_keys = if spec.fields().iter().all(|f| f.transform == Transform::Identity) {
        spec.fields().iter().filter_map(|f| name_of(f.source_id)).collect()
    } else {
        vec![]
    };
    Ok(TableEntry {
        path,
        columns: physical(calve_iceberg::schema::to_flink(schema)?),
        primary_key: calve_iceberg::schema::primary_key(schema),
        watermark: None,
        partition_keys,
        options: metadata.properties().iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
        writable: true,
        view: None,
        handle: Arc::new(IcebergHandle { home, table, hints, declared: None }),
    })
}

impl CatalogReader for Resolved<'_> {
    fn current(&self) -> (&str, &str) {
        self.catalogs.current()
    }

    fn table(&self, path: &TablePath, hints: &[(String, String)]) -> Result<Option<Arc<TableEntry>>> {
        if self.defining.as_ref() == Some(path) {
            return Err(Error::new("recursive-view", format!("view '{path}' would read itself"))
                .with_hint("give the view another name than what it reads"));
        }
        let found = self.tables.get(&(path.clone(), hints.to_vec())).cloned();
        let of_catalog = || self.missing.get(&path.catalog).cloned();
        if found.is_none()
            && let Some(way_out) = mapping::metadata_way_out(self.catalogs, path).or_else(of_catalog)
        {
            return Err(Error::new("unknown-table", format!("table '{}' not found", path.table))
                .with_detail(format!("Object '{}' not found", path.table))
                .with_hint(way_out));
        }
        Ok(found)
    }

    fn version(&self, table: &Arc<TableEntry>, millis: i64) -> Result<Arc<TableEntry>> {
        let handle = downcast::<IcebergHandle>(&table.handle).filter(|handle| handle.declared.is_none());
        let Some(handle) = handle else {
            return Err(Error::unsupported(format!("FOR SYSTEM_TIME AS OF a constant for '{}'", table.path))
                .with_detail(format!("getTable(ObjectPath, long) is not implemented for the table '{}'.", table.path))
                .with_hint(mapping::way_out(self.catalogs, &table.path).unwrap_or_else(|| NO_VERSIONS.to_owned())));
        };
        let mut hints = handle.hints.clone();
        if let Some(key) = VERSION_HINTS.into_iter().find(|key| hints.contains_key(*key)) {
            return Err(Error::new(
                "invalid-hint",
                format!("FOR SYSTEM_TIME AS OF and the hint '{key}' exclude each other"),
            ));
        }
        hints.insert("as-of-timestamp".to_owned(), millis.to_string());
        // a table without any snapshot may be one of a script that is only looked at
        if !handle.table.metadata().history().is_empty()
            && let Err(error) = ScanOptions::resolve(&handle.table, &hints, self.options.all())
            && error.code == "unknown-snapshot"
        {
            return Err(error);
        }
        let entry = iceberg_entry(table.path.clone(), handle.home.clone(), handle.table.clone(), hints)?;
        Ok(Arc::new(TableEntry { writable: false, ..entry }))
    }

    fn similar_tables(&self, path: &TablePath) -> Vec<String> {
        self.siblings.get(&(path.catalog.clone(), path.database.clone())).cloned().unwrap_or_default()
    }

    fn similar_databases(&self, catalog: &str) -> Vec<String> {
        self.databases.get(catalog).cloned().unwrap_or_default()
    }

    fn metadata(&self, table: &TableEntry) -> Vec<(String, DataType)> {
        let connector = downcast::<ConnectorHandle>(&table.handle).and_then(|h| h.definition.options.get("connector"));
        let offered = connector.map(|name| calve_connectors::source_metadata(name)).unwrap_or_default();
        offered.into_iter().map(|(key, data_type)| (key.to_owned(), data_type)).collect()
    }

    fn refused_function(&self, name: &[String]) -> Option<Error> {
        self.catalogs.user_function(name).map(FunctionDef::refused)
    }

    fn catalogs(&self) -> Vec<String> {
        self.catalogs.names()
    }

    fn option(&self, key: &str) -> Option<String> {
        self.options.get(key).map(str::to_owned)
    }
}
