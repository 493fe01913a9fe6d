//! Where pointers are kept, and what a failed change of them has done.

use std::collections::BTreeMap;
use std::fmt::Debug;

use async_trait::async_trait;
use calve_types::{Error, Result};
use iceberg::TableIdent;
use iceberg::spec::TableMetadata;

/// Why a change of the pointers failed, and so what may have happened to them.
#[derive(Debug)]
pub(in crate::catalog) enum Failure {
    /// The name is taken: nothing was changed.
    Taken(Error),
    /// Others were in the way: nothing was changed, and it may be tried again.
    Busy(Error),
    /// The store was not reached, or refused: nothing was changed.
    Refused(Error),
    /// It went wrong half-way: a change may have been made, and none will be any more.
    Unclear(Error),
    /// No answer: a change may have been made, or may still be.
    Lost(Error),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Taken(error)
            | Failure::Busy(error)
            | Failure::Refused(error)
            | Failure::Unclear(error)
            | Failure::Lost(error) => error,
        }
    }
}

/// Namespaces, and the pointers to the newest metadata files of their tables. Each change is done or not done.
#[async_trait]
pub(in crate::catalog) trait PointerStore: Debug + Send + Sync {
    /// Asks the store whether it is there and takes us.
    ///
    /// # Errors
    /// What it answers, or that it does not.
    async fn connect(&self) -> Result<()> {
        Ok(())
    }

    /// Whether the store can keep a namespace of that name, and tables in it. Nothing is read.
    ///
    /// # Errors
    /// `invalid-name`, `not-supported`.
    fn check_new_namespace(&self, namespace: &[String]) -> Result<()>;

    /// Whether the store can keep a table of that name. Nothing is read.
    ///
    /// # Errors
    /// `invalid-name`.
    fn check_new_table(&self, _ident: &TableIdent) -> Result<()> {
        Ok(())
    }

    /// The namespaces below one, level by level, those within them too.
    ///
    /// # Errors
    /// `io`, `access-denied` and others.
    async fn namespaces(&self, parent: &[String]) -> Result<Vec<Vec<String>>>;

    /// Whether there is a namespace.
    ///
    /// # Errors
    /// As [`PointerStore::namespaces`].
    async fn has_namespace(&self, namespace: &[String]) -> Result<bool>;

    /// Creates a namespace.
    ///
    /// # Errors
    /// [`Failure::Taken`] if it is there.
    async fn create_namespace(&self, namespace: &[String], properties: BTreeMap<String, String>)
    -> Result<(), Failure>;

    /// Sets properties of a namespace; others stay.
    ///
    /// # Errors
    /// As [`PointerStore::namespaces`].
    async fn set_namespace_properties(&self, namespace: &[String], properties: BTreeMap<String, String>) -> Result<()>;

    /// Removes a namespace; `false` if it has tables.
    ///
    /// # Errors
    /// See [`Failure`].
    async fn drop_namespace(&self, namespace: &[String]) -> Result<bool, Failure>;

    /// The tables of a namespace, sorted.
    ///
    /// # Errors
    /// As [`PointerStore::namespaces`].
    async fn tables(&self, namespace: &[String]) -> Result<Vec<String>>;

    /// The folder of a table that does not say where it wants to be, as far as it is known without asking anybody.
    fn drafted_folder(&self, ident: &TableIdent) -> String;

    /// The folder of a new table that does not say where it wants to be.
    ///
    /// # Errors
    /// `invalid-option` if nothing says where.
    async fn folder(&self, ident: &TableIdent) -> Result<String> {
        Ok(self.drafted_folder(ident))
    }

    /// Where the newest metadata file of a table is; `None` without such a table.
    ///
    /// # Errors
    /// As [`PointerStore::namespaces`]; `invalid-table` if it has none.
    async fn pointer(&self, ident: &TableIdent) -> Result<Option<String>>;

    /// Adds a table.
    ///
    /// # Errors
    /// [`Failure::Taken`] if there is one of that name, or something else.
    async fn create_table(&self, ident: &TableIdent, first: Version<'_>) -> Result<(), Failure>;

    /// Moves a table's pointer; `false` if `old` is not where it points to, or if there is no such table.
    ///
    /// # Errors
    /// See [`Failure`].
    async fn replace(&self, ident: &TableIdent, old: &str, next: Version<'_>) -> Result<bool, Failure>;

    /// Gives a table another name in its namespace; `false` if there is none.
    ///
    /// # Errors
    /// [`Failure::Taken`] if something else has the name.
    async fn rename_table(&self, ident: &TableIdent, name: &str) -> Result<bool, Failure>;

    /// Removes a table; `false` if there is none, or if `old`, where that is given, is not where it points to.
    ///
    /// # Errors
    /// See [`Failure`].
    async fn drop_table(&self, ident: &TableIdent, old: Option<&str>) -> Result<bool, Failure>;
}

/// A version of a table that is written.
#[derive(Clone, Copy, Debug)]
pub(in crate::catalog) struct Version<'a> {
    /// Where its metadata file is.
    pub(in crate::catalog) location: &'a str,
    /// What is in it.
    pub(in crate::catalog) metadata: &'a TableMetadata,
}
