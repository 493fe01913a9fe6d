//! The catalog that lives in the session: Flink's `generic_in_memory`.

use std::collections::BTreeMap;

use calve_types::{Error, Result};

use super::functions::FunctionDef;
use super::object::CatalogObject;

/// A database.
#[derive(Debug, Default)]
struct Database {
    /// Tables and views by name.
    objects: BTreeMap<String, CatalogObject>,
    /// Functions by name, in lower case.
    functions: BTreeMap<String, FunctionDef>,
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

    pub fn has_database(&self, name: &str) -> bool {
        self.databases.contains_key(name)
    }

    /// Adds a database; one of that name stays as it is.
    pub fn create_database(&mut self, name: &str) {
        self.databases.entry(name.to_owned()).or_default();
    }

    /// Removes a database.
    ///
    /// # Errors
    /// `database-not-empty` without `cascade`.
    pub fn drop_database(&mut self, name: &str, cascade: bool) -> Result<()> {
        let is_used = |database: &Database| !database.objects.is_empty() || !database.functions.is_empty();
        if !cascade && self.databases.get(name).is_some_and(is_used) {
            return Err(Error::new("database-not-empty", format!("database '{name}' is not empty"))
                .with_hint("drop its tables, views and functions first, or add CASCADE"));
        }
        self.databases.remove(name);
        Ok(())
    }

    /// The tables and views of a database, by name.
    pub fn objects(&self, database: &str) -> impl Iterator<Item = (&String, &CatalogObject)> {
        self.databases.get(database).into_iter().flat_map(|database| &database.objects)
    }

    pub fn object(&self, database: &str, name: &str) -> Option<&CatalogObject> {
        self.databases.get(database)?.objects.get(name)
    }

    /// A table or view, to change it.
    pub fn object_mut(&mut self, database: &str, name: &str) -> Option<&mut CatalogObject> {
        self.databases.get_mut(database)?.objects.get_mut(name)
    }

    /// Puts a table or view in the place of whatever had its name; nothing happens if there is no such database.
    pub fn put(&mut self, database: &str, name: &str, object: CatalogObject) {
        if let Some(database) = self.databases.get_mut(database) {
            database.objects.insert(name.to_owned(), object);
        }
    }

    /// Removes a table or view.
    pub fn remove(&mut self, database: &str, name: &str) -> Option<CatalogObject> {
        self.databases.get_mut(database)?.objects.remove(name)
    }

    /// The functions of a database; `None` if there is no such database.
    pub fn functions(&self, database: &str) -> Option<&BTreeMap<String, FunctionDef>> {
        Some(&self.databases.get(database)?.functions)
    }

    /// The functions of a database, to change them.
    pub fn functions_mut(&mut self, database: &str) -> Option<&mut BTreeMap<String, FunctionDef>> {
        Some(&mut self.databases.get_mut(database)?.functions)
    }
}
