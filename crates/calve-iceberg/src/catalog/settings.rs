//! What every kind of catalog takes from its options, and the messages all of them share.

use calve_types::Error;
use iceberg::TableIdent;

/// What every kind of catalog takes from its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The catalog's name in the session.
    pub name: String,
    /// `default-database`.
    pub default_database: String,
    /// `base-namespace`, level by level.
    pub base_namespace: Vec<String>,
}

impl Settings {
    /// The name a person gave the database: its namespace without `base-namespace`.
    pub(crate) fn database(&self, namespace: &[String]) -> String {
        namespace.strip_prefix(self.base_namespace.as_slice()).unwrap_or(namespace).join(".")
    }

    /// The namespace does not exist.
    pub(crate) fn unknown_database(&self, namespace: &[String]) -> Error {
        let (database, catalog) = (self.database(namespace), &self.name);
        if database.is_empty() {
            let base = namespace.join(".");
            return Error::new("unknown-database", format!("unknown namespace '{base}' in catalog '{catalog}'"))
                .with_detail(format!("Namespace does not exist: {base}"));
        }
        Error::new("unknown-database", format!("unknown database '{database}' in catalog '{catalog}'"))
            .with_detail(format!("Database {database} does not exist in Catalog {catalog}."))
    }

    /// The namespace is there already.
    pub(crate) fn database_exists(&self, namespace: &[String]) -> Error {
        let (database, catalog) = (self.database(namespace), &self.name);
        Error::new("database-exists", format!("database '{database}' already exists in catalog '{catalog}'"))
            .with_detail(format!("Database {database} already exists in Catalog {catalog}."))
    }

    /// The namespace cannot be dropped.
    pub(crate) fn database_not_empty(&self, namespace: &[String]) -> Error {
        let (database, catalog) = (self.database(namespace), &self.name);
        Error::new("database-not-empty", format!("database '{database}' in catalog '{catalog}' is not empty"))
            .with_detail(format!("Database {database} in catalog {catalog} is not empty."))
            .with_hint("drop its tables first; CASCADE makes no difference, as in Flink's Iceberg connector")
    }

    /// The table does not exist.
    pub(crate) fn unknown_table(&self, ident: &TableIdent) -> Error {
        Error::new("unknown-table", format!("unknown table '{ident}'"))
            .with_hint("it may have been dropped or renamed in the meantime")
    }

    /// The table is there already.
    pub(crate) fn table_exists(&self, namespace: &[String], name: &str) -> Error {
        let (database, catalog) = (self.database(namespace), &self.name);
        Error::new("table-exists", format!("table '{database}.{name}' already exists"))
            .with_detail(format!("Table (or view) {database}.{name} already exists in Catalog {catalog}."))
    }
}
