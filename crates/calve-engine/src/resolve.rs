//! Loads the tables a statement names, once each, so that the binder sees one fixed version of every table.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use calve_iceberg::Table;
use calve_iceberg::catalog::Catalog as IcebergCatalog;
use calve_iceberg::metadata::metadata_table;
use calve_iceberg::scan::{ScanOptions, provider};
use calve_options::Place;
use calve_planner::catalog::Column;
use calve_planner::{CatalogReader, TableEntry, TablePath};
use calve_types::{Error, Result};
use datafusion::catalog::TableProvider;
use iceberg::spec::Transform;

use crate::catalogs::{CatalogKind, Catalogs};
use crate::options::{Options, unknown_option};
use crate::result::Warning;

/// What [`TableEntry::handle`] holds for an Iceberg table.
pub(crate) struct IcebergHandle {
    /// The catalog, for commits.
    pub catalog: Arc<dyn IcebergCatalog>,
    /// The version of the statement.
    pub table: Table,
    /// The options of the table's hint.
    pub hints: BTreeMap<String, String>,
}

/// What [`TableEntry::handle`] holds for a metadata table.
pub(crate) struct ProviderHandle(pub Arc<dyn TableProvider>);

type Key = (TablePath, Vec<(String, String)>);

/// The tables of one statement.
pub(crate) struct Resolved<'a> {
    catalogs: &'a Catalogs,
    options: &'a Options,
    tables: HashMap<Key, Arc<TableEntry>>,
    siblings: HashMap<(String, String), Vec<String>>,
}

/// Completes a name of one to three parts with the current catalog and database; `None` for more parts.
pub(crate) fn full_path(catalogs: &Catalogs, parts: &[String]) -> Option<TablePath> {
    let (catalog, database) = catalogs.current();
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

impl<'a> Resolved<'a> {
    /// Loads every table of `names`; names of nothing are left to the binder, which knows what else they may mean.
    ///
    /// # Errors
    /// What a catalog answered, at the name's place.
    pub async fn load(
        catalogs: &'a Catalogs,
        options: &'a Options,
        names: Vec<calve_planner::tables::Reference>,
    ) -> Result<Self> {
        let mut resolved = Self { catalogs, options, tables: HashMap::new(), siblings: HashMap::new() };
        let mut versions: HashMap<TablePath, Option<Table>> = HashMap::new();
        for name in names {
            let Some(path) = full_path(catalogs, &name.parts) else { continue };
            let key = (path, name.hints);
            if !resolved.tables.contains_key(&key) {
                let entry = resolved.entry(&key, &mut versions).await.map_err(|e| e.at(name.span))?;
                match entry {
                    Some(entry) => drop(resolved.tables.insert(key, Arc::new(entry))),
                    None => resolved.list_siblings(&key.0).await,
                }
            }
        }
        Ok(resolved)
    }

    async fn entry(&self, key: &Key, versions: &mut HashMap<TablePath, Option<Table>>) -> Result<Option<TableEntry>> {
        let (path, hints) = key;
        let Ok(catalog) = self.catalogs.get(&path.catalog) else { return Ok(None) };
        if !hints.is_empty() && self.options.get("table.dynamic-table-options.enabled") == Some("false") {
            return Err(Error::new("hints-disabled", "OPTIONS hints are not allowed in this session")
                .with_detail(
                    "The 'OPTIONS' hint is allowed only when the config option 'table.dynamic-table-options.enabled' is set to true.",
                )
                .with_hint("SET 'table.dynamic-table-options.enabled' = 'true'"));
        }
        let iceberg = match &catalog.kind {
            CatalogKind::Iceberg(iceberg) => iceberg,
            CatalogKind::Memory(memory) => {
                return Ok(memory.table(&path.database, &path.table).map(|table| TableEntry {
                    path: path.clone(),
                    columns: table.columns.clone(),
                    primary_key: table.primary_key.clone(),
                    partition_keys: vec![],
                    options: table.options.clone(),
                    writable: true,
                    view: None,
                    handle: Arc::new(()),
                }));
            }
        };
        let (name, metadata) = match path.table.split_once('$') {
            Some((name, metadata)) => (name, Some(metadata)),
            None => (path.table.as_str(), None),
        };
        let base = TablePath { table: name.to_owned(), ..path.clone() };
        if !versions.contains_key(&base) {
            let table = iceberg.load_table(&iceberg.ident(&path.database, name)?).await?;
            versions.insert(base.clone(), table);
        }
        let Some(table) = versions.get(&base).cloned().flatten() else { return Ok(None) };
        let hints: BTreeMap<String, String> = hints.iter().cloned().collect();
        Ok(Some(match metadata {
            Some(metadata) => {
                let found = metadata_table(table, metadata, &hints)?;
                TableEntry {
                    path: path.clone(),
                    columns: columns(found.columns),
                    primary_key: vec![],
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
        let Ok(catalog) = self.catalogs.get(&path.catalog) else { return };
        // only for a suggestion: a catalog that cannot list has none
        let tables = catalog.tables(&path.database).await.unwrap_or_default();
        self.siblings.insert(key, tables);
    }

    /// Warnings about options in hints that look misspelt.
    pub fn warnings(&self, statement: &calve_sql::Statement) -> Vec<Warning> {
        let target = match statement {
            calve_sql::Statement::Insert(insert) => Some(insert.table.span),
            _ => None,
        };
        calve_planner::tables::referenced(statement)
            .iter()
            .flat_map(|reference| {
                let place = if Some(reference.span) == target { Place::Write } else { Place::Read };
                reference.hints.iter().filter_map(move |(key, _)| unknown_option(key, place))
            })
            .collect()
    }

    /// The provider that reads a table.
    ///
    /// # Errors
    /// What [`ScanOptions::resolve`] refuses; `not-supported` for connectors.
    pub fn provider(options: &Options, entry: &TableEntry) -> Result<Arc<dyn TableProvider>> {
        if let Some(handle) = downcast::<IcebergHandle>(&entry.handle) {
            let scan = ScanOptions::resolve(&handle.table, &handle.hints, options.all())?;
            return provider(handle.table.clone(), scan);
        }
        if let Some(handle) = downcast::<ProviderHandle>(&entry.handle) {
            return Ok(handle.0.clone());
        }
        Err(unsupported_connector(entry))
    }
}

/// The handle's value if it is a `T`.
pub(crate) fn downcast<T: Any>(handle: &Arc<dyn Any + Send + Sync>) -> Option<&T> {
    handle.as_ref().downcast_ref::<T>()
}

/// The refusal of a table outside Iceberg catalogs.
pub(crate) fn unsupported_connector(entry: &TableEntry) -> Error {
    match entry.options.get("connector") {
        Some(connector) => Error::unsupported(format!("connector '{connector}'")),
        None => Error::new("missing-option", format!("table '{}' has no option 'connector'", entry.path)),
    }
    .with_hint("create the table in an Iceberg catalog")
}

fn columns(columns: Vec<(String, calve_types::DataType)>) -> Vec<Column> {
    columns.into_iter().map(|(name, data_type)| Column::physical(name, data_type)).collect()
}

fn iceberg_entry(
    path: TablePath,
    catalog: Arc<dyn IcebergCatalog>,
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
        columns: columns(calve_iceberg::schema::to_flink(schema)?),
        primary_key: calve_iceberg::schema::primary_key(schema),
        partition_keys,
        options: metadata.properties().iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
        writable: true,
        view: None,
        handle: Arc::new(IcebergHandle { catalog, table, hints }),
    })
}

impl CatalogReader for Resolved<'_> {
    fn current(&self) -> (&str, &str) {
        self.catalogs.current()
    }

    fn table(&self, path: &TablePath, hints: &[(String, String)]) -> Result<Option<Arc<TableEntry>>> {
        Ok(self.tables.get(&(path.clone(), hints.to_vec())).cloned())
    }

    fn similar_tables(&self, path: &TablePath) -> Vec<String> {
        self.siblings.get(&(path.catalog.clone(), path.database.clone())).cloned().unwrap_or_default()
    }

    fn catalogs(&self) -> Vec<String> {
        self.catalogs.names()
    }

    fn option(&self, key: &str) -> Option<String> {
        self.options.get(key).map(str::to_owned)
    }
}
