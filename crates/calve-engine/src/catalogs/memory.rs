//! The catalog that lives in the session: Flink's `generic_in_memory`.

use std::collections::BTreeMap;

use calve_types::{Error, Result};

use super::object::CatalogObject;

/// A database: tables and views by name.
type Database = BTreeMap<String, CatalogObject>;

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
        if !cascade && self.databases.get(name).is_some_and(|objects| !objects.is_empty()) {
            return Err(Error::new("database-not-empty", format!("database '{name}' is not empty"))
                .with_hint("drop its tables and views first, or add CASCADE"));
        }
        self.databases.remove(name);
        Ok(())
    }

    /// The tables and views of a database, by name.
    pub fn objects(&self, database: &str) -> impl Iterator<Item = (&String, &CatalogObject)> {
        self.databases.get(database).into_iter().flatten()
    }

    pub fn object(&self, database: &str, name: &str) -> Option<&CatalogObject> {
        self.databases.get(database)?.get(name)
    }

    /// Puts a table or view in the place of whatever had its name; nothing happens if there is no such database.
    pub fn put(&mut self, database: &str, name: &str, object: CatalogObject) {
        if let Some(objects) = self.databases.get_mut(database) {
            objects.insert(name.to_owned(), object);
        }
    }

    /// Removes a table or view.
    pub fn remove(&mut self, database: &str, name: &str) -> Option<CatalogObject> {
        self.databases.get_mut(database)?.remove(name)
    }
}
