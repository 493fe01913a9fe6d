//! Catalogs: names to tables.

pub mod alter;
pub(crate) mod create;
mod creation;
mod glue;
mod hadoop;
mod image;
mod jdbc;
mod metadata;
mod metadata_faults;
mod names;
mod open;
mod pages;
mod pointer;
mod purge;
mod replace;
mod rest;
mod s3tables;
mod settings;
mod warehouse;

use std::collections::BTreeMap;
use std::fmt::Debug;

use async_trait::async_trait;
use calve_types::{Error, Result};
use iceberg::spec::{Schema, TableMetadata, Transform};
use iceberg::{NamespaceIdent, TableIdent, TableUpdate};

use crate::commit::{CommitError, TableOps};
use crate::table::Table;

pub use creation::{Creation, Staged, tidy};
pub use image::{ImageChanges, empty_image};
pub(crate) use metadata::apply;
pub use open::{kind_named, open, open_image};
pub use replace::Replacement;
pub(crate) use replace::staged;
pub use settings::Settings;

/// What only `crate::fuzzing` sees.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzed {
    pub(crate) use super::metadata::{check_readable, encode, parse, plain};
}

/// The properties of a database to create: its WITH clause, and its comment unless that is blank.
///
/// # Errors
/// `invalid-option` for a property `comment`, with Flink's words.
pub fn database_properties(
    comment: Option<&str>,
    mut with: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>> {
    if with.contains_key("comment") {
        return Err(Error::new("invalid-option", "option 'comment' is not allowed for a database")
            .with_detail("Database properties should not contain key: 'comment'.")
            .with_hint("use the COMMENT clause"));
    }
    if let Some(comment) = comment.filter(|c| !c.trim().is_empty()) {
        with.insert("comment".to_owned(), comment.to_owned());
    }
    Ok(with)
}

/// A table to create.
#[derive(Clone, Debug)]
pub struct TableCreation {
    /// The schema, from [`crate::schema::to_iceberg`].
    pub schema: Schema,
    /// Partition fields in order: source column, transform.
    pub partition: Vec<(String, Transform)>,
    /// The options of the WITH clause as written.
    pub properties: BTreeMap<String, String>,
    /// The table's comment.
    pub comment: Option<String>,
}

/// A catalog: namespaces, tables, and the commits to them.
#[async_trait]
pub trait Catalog: TableOps + Debug {
    /// What every kind of catalog takes from its options.
    fn settings(&self) -> &Settings;

    /// The catalog's name in the session.
    fn name(&self) -> &str {
        &self.settings().name
    }

    /// The locations of files that were to be deleted since the last time and may be left. No table refers to them.
    fn take_left(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the catalog's server overrides of its options, a sentence each, as far as it was not told yet.
    fn take_notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// The database that is current after `USE CATALOG`.
    fn default_database(&self) -> &str {
        &self.settings().default_database
    }

    /// The namespace that holds the databases (`base-namespace`).
    fn base_namespace(&self) -> &[String] {
        &self.settings().base_namespace
    }

    /// Asks the catalog's server whether it is there and takes us; a catalog without a server is there. Where it is not
    /// called, that happens when the catalog is first needed.
    ///
    /// # Errors
    /// What the server answers, or that it does not.
    async fn connect(&self) -> Result<()> {
        Ok(())
    }

    /// The child namespaces of `parent`, sorted.
    ///
    /// # Errors
    /// `unknown-database` if `parent` does not exist.
    async fn list_namespaces(&self, parent: &[String]) -> Result<Vec<Vec<String>>>;

    /// Whether a namespace exists.
    ///
    /// # Errors
    /// `io`, `invalid-name`.
    async fn namespace_exists(&self, namespace: &[String]) -> Result<bool>;

    /// Whether the catalog can make a namespace of that name with these properties. Nothing is read.
    ///
    /// # Errors
    /// `not-supported` for properties it cannot keep, `invalid-name`.
    fn check_new_namespace(&self, _namespace: &[String], _properties: &BTreeMap<String, String>) -> Result<()> {
        Ok(())
    }

    /// Creates a namespace.
    ///
    /// # Errors
    /// Those of [`Catalog::check_new_namespace`]; `database-exists`.
    async fn create_namespace(&self, namespace: &[String], properties: BTreeMap<String, String>) -> Result<()>;

    /// Whether the catalog can change the properties of a namespace. Nothing is read.
    ///
    /// # Errors
    /// `not-supported` by a catalog that cannot keep them, as here without another body.
    fn check_namespace_properties(&self, namespace: &[String]) -> Result<()> {
        let name = namespace.join(".");
        Err(Error::unsupported(format!("properties of database '{name}' in this kind of catalog"))
            .with_detail(format!("Cannot set namespace properties {name} : setProperties is not supported")))
    }

    /// Sets properties of a namespace that exists; others stay.
    ///
    /// # Errors
    /// Those of [`Catalog::check_namespace_properties`]; `unknown-database`, `io`.
    async fn set_namespace_properties(
        &self,
        namespace: &[String],
        _properties: BTreeMap<String, String>,
    ) -> Result<()> {
        self.check_namespace_properties(namespace)
    }

    /// Drops an empty namespace.
    ///
    /// # Errors
    /// `unknown-database`, `database-not-empty`.
    async fn drop_namespace(&self, namespace: &[String]) -> Result<()>;

    /// The names of the tables of a namespace, sorted.
    ///
    /// # Errors
    /// `unknown-database` if the namespace does not exist.
    async fn list_tables(&self, namespace: &[String]) -> Result<Vec<String>>;

    /// Of an image: rows would have been written to a table, so that its snapshots, branches and tags are not known any
    /// more. Other catalogs know them.
    fn assume_written(&self, _ident: &TableIdent) {}

    /// Whether a table exists.
    ///
    /// # Errors
    /// `io`, `invalid-name`.
    async fn table_exists(&self, ident: &TableIdent) -> Result<bool>;

    /// The newest version of a table, `None` if there is none.
    ///
    /// # Errors
    /// `io`, `invalid-table`, `invalid-name`.
    async fn load_table(&self, ident: &TableIdent) -> Result<Option<Table>>;

    /// Why no table is found, if the place of all of them is not there, or empty: half a sentence for a person who expects one.
    async fn missing_warehouse(&self) -> Option<String> {
        None
    }

    /// The metadata of a table to create, as this kind of catalog would make it. Nothing is read or written.
    ///
    /// # Errors
    /// What the catalog and Iceberg forbid: `invalid-name`, `invalid-option`, `invalid-table`, `unknown-column`,
    /// `not-supported`.
    fn draft(&self, ident: &TableIdent, creation: &TableCreation) -> Result<TableMetadata>;

    /// Whether a table's database has to be created before the table.
    fn needs_database(&self) -> bool;

    /// Creates a table.
    ///
    /// # Errors
    /// `table-exists`; what Iceberg forbids; `io`.
    async fn create_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        match self.stage_table(ident, creation).await? {
            Staged::Created(table) => Ok(table),
            Staged::Ready(staged) => self.create_staged(&staged, vec![]).await.map_err(|error| match error {
                CommitError::Conflict => self.settings().table_exists(ident.namespace(), ident.name()),
                CommitError::Unknown(error) | CommitError::Rejected(error) => error,
            }),
        }
    }

    /// Begins a table that is not there before [`Catalog::create_staged`] creates it, with its first rows. A catalog that
    /// cannot do that creates it at once.
    ///
    /// # Errors
    /// As [`Catalog::create_table`].
    async fn stage_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Staged>;

    /// Creates a table that [`Catalog::stage_table`] has begun; `updates` are part of its first version.
    ///
    /// # Errors
    /// See [`CommitError`]; [`CommitError::Conflict`] if a table of its name is there.
    async fn create_staged(&self, staged: &Table, _updates: Vec<TableUpdate>) -> Result<Table, CommitError> {
        Err(CommitError::Rejected(Error::internal(format!("table '{}' was not staged", staged.ident()))))
    }

    /// Whether the catalog can give a table this metadata. Nothing is read.
    ///
    /// # Errors
    /// `invalid-option` for a place of the table or of its metadata that the catalog does not allow.
    fn check_change(&self, _base: &Table, _changed: &TableMetadata) -> Result<()> {
        Ok(())
    }

    /// Whether the catalog can rename its tables.
    ///
    /// # Errors
    /// `not-supported` if it cannot.
    fn check_rename(&self, _ident: &TableIdent) -> Result<()> {
        Ok(())
    }

    /// Gives a table another name in its namespace.
    ///
    /// # Errors
    /// Those of [`Catalog::check_rename`]; `table-exists` for the name of another table; `unknown-table`; `commit-unknown`
    /// if the catalog's answer got lost.
    async fn rename_table(&self, ident: &TableIdent, name: &str) -> Result<()>;

    /// Drops a table, with its files if `purge`. False if there was none.
    ///
    /// # Errors
    /// `io`.
    async fn drop_table(&self, ident: &TableIdent, purge: bool) -> Result<bool>;

    /// The namespace of a database: `base-namespace` and the database's name.
    ///
    /// # Errors
    /// `invalid-name` for an empty name.
    fn namespace(&self, database: &str) -> Result<NamespaceIdent> {
        let mut levels = self.base_namespace().to_vec();
        levels.push(database.to_owned());
        NamespaceIdent::from_vec(levels)
            .map_err(|_| Error::new("invalid-name", format!("'{database}' is not a database name")))
    }

    /// A table's identifier from its database and name.
    ///
    /// # Errors
    /// As [`Catalog::namespace`].
    fn ident(&self, database: &str, table: &str) -> Result<TableIdent> {
        Ok(TableIdent::new(self.namespace(database)?, table.to_owned()))
    }
}

#[cfg(test)]
mod tests;
