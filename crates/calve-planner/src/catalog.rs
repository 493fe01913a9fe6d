//! How the binder sees catalogs.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use calve_types::{DataType, Result};

/// A table's full name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TablePath {
    /// Catalog.
    pub catalog: String,
    /// Database.
    pub database: String,
    /// Table, with `$name` for a metadata table.
    pub table: String,
}

/// Flink's way to print a path: `cat.db.t`.
impl fmt::Display for TablePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.catalog, self.database, self.table)
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name, case-sensitive.
    pub name: String,
    /// Type.
    pub data_type: DataType,
}

/// A loaded table: one fixed version of it for the whole statement.
pub struct TableEntry {
    /// Full name.
    pub path: TablePath,
    /// Columns in order.
    pub columns: Vec<Column>,
    /// Columns of the primary key in column order, empty without one.
    pub primary_key: Vec<String>,
    /// Columns that are identity partitions, in partition order; `None` where the table has other transforms too.
    pub partition_keys: Vec<String>,
    /// The table's options (its WITH clause or Iceberg properties).
    pub options: BTreeMap<String, String>,
    /// Whether rows can be inserted (metadata tables and views cannot be written).
    pub writable: bool,
    /// What the engine attached: the binder passes it on and never looks inside.
    pub handle: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for TableEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableEntry").field("path", &self.path).field("columns", &self.columns).finish_non_exhaustive()
    }
}

/// Names to tables, for one statement. Lookups are synchronous: the caller loads what
/// [`crate::tables::referenced`] lists beforehand.
pub trait CatalogReader {
    /// The current catalog and database, for names of one or two parts.
    fn current(&self) -> (&str, &str);

    /// The table of that full name with these dynamic options (from `/*+ OPTIONS(..) */`), `None` if there is none.
    ///
    /// # Errors
    /// What the catalog answered: a broken table, an option the table refuses.
    fn table(&self, path: &TablePath, hints: &[(String, String)]) -> Result<Option<Arc<TableEntry>>>;

    /// Names of tables to suggest for a misspelt one in that database.
    fn similar_tables(&self, path: &TablePath) -> Vec<String>;

    /// Names of the session's catalogs, for messages.
    fn catalogs(&self) -> Vec<String> {
        vec![self.current().0.to_owned()]
    }

    /// A session option such as `table.exec.sink.not-null-enforcer`, already defaulted; `None` if unset and without a default.
    fn option(&self, key: &str) -> Option<String>;
}
