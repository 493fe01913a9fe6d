//! The catalog that lives in the session: Flink's `generic_in_memory`.

use std::collections::BTreeMap;

use calve_planner::catalog::Column;
use calve_types::{Error, Result};

/// A database.
#[derive(Debug, Clone, Default)]
pub(crate) struct Database {
    /// Tables by name.
    pub tables: BTreeMap<String, MemoryTable>,
}

/// A table's definition. What its connector makes of it shows when it is read or written, as in Flink.
#[derive(Debug, Clone)]
pub(crate) struct MemoryTable {
    /// Columns.
    pub columns: Vec<Column>,
    /// Columns of the primary key.
    pub primary_key: Vec<String>,
    /// The WITH clause.
    pub options: BTreeMap<String, String>,
}

/// Databases by name.
#[derive(Debug, Default)]
pub(crate) struct MemoryCatalog {
    databases: BTreeMap<String, Database>,
}

impl MemoryCatalog {
    /// A catalog with one empty database.
    pub fn new(default_database: &str) -> Self {
        Self { databases: BTreeMap::from([(default_database.to_owned(), Database::default())]) }
    }

    pub fn databases(&self) -> Vec<String> {
        self.databases.keys().cloned().collect()
    }

    pub fn database(&self, name: &str) -> Option<&Database> {
        self.databases.get(name)
    }

    /// Adds a database; `false` if there is one of that name.
    pub fn create_database(&mut self, name: &str, database: Database) -> bool {
        if self.databases.contains_key(name) {
            return false;
        }
        self.databases.insert(name.to_owned(), database);
        true
    }

    /// Removes a database; `false` if there is none.
    pub fn drop_database(&mut self, name: &str, cascade: bool) -> Result<bool> {
        match self.databases.get(name) {
            None => Ok(false),
            Some(database) if !cascade && !database.tables.is_empty() => {
                Err(Error::new("database-not-empty", format!("database '{name}' is not empty"))
                    .with_hint("drop its tables first, or add CASCADE"))
            }
            Some(_) => {
                self.databases.remove(name);
                Ok(true)
            }
        }
    }

    pub fn tables(&self, database: &str) -> Vec<String> {
        self.databases.get(database).map(|d| d.tables.keys().cloned().collect()).unwrap_or_default()
    }

    pub fn table(&self, database: &str, name: &str) -> Option<&MemoryTable> {
        self.databases.get(database)?.tables.get(name)
    }

    /// Adds a table; `false` if there is one of that name.
    pub fn create_table(&mut self, database: &str, name: &str, table: MemoryTable) -> bool {
        let Some(database) = self.databases.get_mut(database) else { return false };
        if database.tables.contains_key(name) {
            return false;
        }
        database.tables.insert(name.to_owned(), table);
        true
    }

    /// Removes a table; `false` if there is none.
    pub fn drop_table(&mut self, database: &str, name: &str) -> bool {
        self.databases.get_mut(database).is_some_and(|d| d.tables.remove(name).is_some())
    }
}
