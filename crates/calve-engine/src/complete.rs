//! The names a session knows, for completion: apart from the session, so that looking them up can go on while it works.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use calve_iceberg::catalog::Catalog as IcebergCatalog;
use calve_planner::TablePath;
use calve_types::Result;

use crate::catalogs::CatalogKind;
use crate::catalogs::object::CatalogObject;
use crate::session::Session;

/// Where names are looked up: the session's catalogs as they were when [`Session::names`] was called.
#[derive(Debug, Clone)]
pub struct NameSource {
    catalogs: BTreeMap<String, Source>,
    /// Temporary tables and views with their columns.
    temporary: Arc<BTreeMap<TablePath, Vec<String>>>,
    current: (String, String),
}

/// Databases with their tables and views, and these with their columns.
type Contents = BTreeMap<String, BTreeMap<String, Vec<String>>>;

#[derive(Debug, Clone)]
enum Source {
    Memory(Arc<Contents>),
    Iceberg(Arc<dyn IcebergCatalog>),
}

impl Session {
    /// Where the session's names are looked up.
    pub fn names(&self) -> NameSource {
        let (catalog, database) = self.catalogs.current();
        let columns = |object: &CatalogObject| object.columns().iter().map(|c| c.column.name.clone()).collect();
        let source = |name: &String| {
            let source = match &self.catalogs.get(name).ok()?.kind {
                CatalogKind::Iceberg(iceberg) => Source::Iceberg(Arc::clone(iceberg)),
                CatalogKind::Memory(memory) => {
                    let objects = |database: &String| {
                        memory.objects(database).map(|(name, object)| (name.clone(), columns(object))).collect()
                    };
                    let databases = memory.databases();
                    Source::Memory(Arc::new(databases.into_iter().map(|d| (d.clone(), objects(&d))).collect()))
                }
            };
            Some((name.clone(), source))
        };
        let temporary = self.catalogs.temporaries().map(|(path, object)| (path.clone(), columns(object)));
        NameSource {
            temporary: Arc::new(temporary.collect()),
            catalogs: self.catalogs.names().iter().filter_map(source).collect(),
            current: (catalog.to_owned(), database.to_owned()),
        }
    }
}

impl NameSource {
    /// The current catalog and database.
    pub fn current(&self) -> (&str, &str) {
        (&self.current.0, &self.current.1)
    }

    /// The catalogs, sorted.
    pub fn catalogs(&self) -> Vec<String> {
        self.catalogs.keys().cloned().collect()
    }

    /// Whether a catalog holds Iceberg tables; `false` for one that does not exist.
    pub fn is_iceberg(&self, catalog: &str) -> bool {
        matches!(self.catalogs.get(catalog), Some(Source::Iceberg(_)))
    }

    /// The databases of a catalog; none if it does not exist.
    ///
    /// # Errors
    /// What the catalog answered.
    pub async fn databases(&self, catalog: &str) -> Result<Vec<String>> {
        match self.catalogs.get(catalog) {
            None => Ok(vec![]),
            Some(Source::Memory(contents)) => Ok(contents.keys().cloned().collect()),
            Some(Source::Iceberg(iceberg)) => {
                let namespaces = iceberg.list_namespaces(iceberg.base_namespace()).await?;
                Ok(namespaces.into_iter().filter_map(|mut levels| levels.pop()).collect())
            }
        }
    }

    /// The tables and views of a database, sorted; none if it does not exist.
    ///
    /// # Errors
    /// What the catalog answered.
    pub async fn tables(&self, catalog: &str, database: &str) -> Result<Vec<String>> {
        let mut names: BTreeSet<String> = match self.catalogs.get(catalog) {
            None => BTreeSet::new(),
            Some(Source::Memory(contents)) => {
                contents.get(database).into_iter().flat_map(|tables| tables.keys().cloned()).collect()
            }
            Some(Source::Iceberg(iceberg)) => {
                iceberg.list_tables(iceberg.namespace(database)?.as_ref()).await?.into_iter().collect()
            }
        };
        let temporary = self.temporary.keys().filter(|path| path.catalog == catalog && path.database == database);
        names.extend(temporary.map(|path| path.table.clone()));
        Ok(names.into_iter().collect())
    }

    /// The columns of a table or view in order; none if it does not exist.
    ///
    /// # Errors
    /// What the catalog answered.
    pub async fn columns(&self, catalog: &str, database: &str, table: &str) -> Result<Vec<String>> {
        let path = TablePath { catalog: catalog.to_owned(), database: database.to_owned(), table: table.to_owned() };
        if let Some(columns) = self.temporary.get(&path) {
            return Ok(columns.clone());
        }
        match self.catalogs.get(catalog) {
            None => Ok(vec![]),
            Some(Source::Memory(contents)) => {
                Ok(contents.get(database).and_then(|tables| tables.get(table)).cloned().unwrap_or_default())
            }
            Some(Source::Iceberg(iceberg)) => {
                let loaded = iceberg.load_table(&iceberg.ident(database, table)?).await?;
                Ok(loaded.map_or_else(Vec::new, |table| {
                    let schema = table.metadata().current_schema();
                    schema.as_struct().fields().iter().map(|field| field.name.clone()).collect()
                }))
            }
        }
    }
}

/// The functions that queries may call, sorted.
pub fn function_names() -> Vec<&'static str> {
    let mut names = calve_functions::callable();
    names.retain(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
    names
}
