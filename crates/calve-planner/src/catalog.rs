//! How the binder sees catalogs.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use calve_types::{DataType, Error, Result};

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
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Name, case-sensitive.
    pub name: String,
    /// Type.
    pub data_type: DataType,
    /// Where its values come from.
    pub kind: ColumnKind,
}

impl Column {
    /// A column whose values are stored.
    pub fn physical(name: impl Into<String>, data_type: DataType) -> Self {
        Self { name: name.into(), data_type, kind: ColumnKind::Physical }
    }
}

/// Where a column's values come from.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnKind {
    /// Stored in the table, in the order of the physical columns.
    Physical,
    /// `c AS expr`: computed on reading, over the table's other columns; not written.
    Computed(Arc<calve_sql::ast::Expr>),
    /// `c T METADATA [FROM 'key'] [VIRTUAL]`: offered by the connector.
    Metadata {
        /// The connector's name of it.
        key: String,
        /// `VIRTUAL`: not written.
        is_virtual: bool,
    },
}

/// `WATERMARK FOR column AS expr`.
#[derive(Debug, Clone, PartialEq)]
pub struct Watermark {
    /// The column that is the rowtime attribute.
    pub column: String,
    /// The watermark, over the table's columns.
    pub expr: Arc<calve_sql::ast::Expr>,
}

/// What a view stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// Its query.
    pub query: calve_sql::Query,
    /// The catalog that was current when it was made: short names in the query are completed with it.
    pub catalog: String,
    /// The database that was current then.
    pub database: String,
}

/// A loaded table: one fixed version of it for the whole statement.
pub struct TableEntry {
    /// Full name.
    pub path: TablePath,
    /// Columns in order.
    pub columns: Vec<Column>,
    /// Columns of the primary key in column order, empty without one.
    pub primary_key: Vec<String>,
    /// The WATERMARK clause.
    pub watermark: Option<Watermark>,
    /// Columns that are identity partitions, in partition order; `None` where the table has other transforms too.
    pub partition_keys: Vec<String>,
    /// The table's options (its WITH clause or Iceberg properties).
    pub options: BTreeMap<String, String>,
    /// Whether rows can be inserted (metadata tables and views cannot be written).
    pub writable: bool,
    /// The query of a view, whose `columns` are the names and types it had when it was made; `None` for a table.
    pub view: Option<Arc<View>>,
    /// What the engine attached: the binder passes it on and never looks inside.
    pub handle: Arc<dyn Any + Send + Sync>,
}

impl TableEntry {
    /// The columns whose values are stored, in order: those of the table's source and of its sink.
    pub fn physical_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|c| c.kind == ColumnKind::Physical)
    }

    /// The metadata columns, in order: the source gives them behind the physical ones.
    pub fn metadata_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|c| matches!(c.kind, ColumnKind::Metadata { .. }))
    }
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

    /// The table as it was at a time, in milliseconds since 1970.
    ///
    /// # Errors
    /// `not-supported` for tables that keep no versions; what the catalog says of a time before the first one.
    fn version(&self, table: &Arc<TableEntry>, _millis: i64) -> Result<Arc<TableEntry>> {
        Err(Error::unsupported(format!(
            "FOR SYSTEM_TIME AS OF a constant for '{}', which keeps no versions",
            table.path
        ))
        .with_detail(format!("{} is not a versioned table: getTable(ObjectPath, long) is not implemented", table.path))
        .with_hint("only tables in Iceberg catalogs have versions"))
    }

    /// Names of tables to suggest for a misspelt one in that database.
    fn similar_tables(&self, path: &TablePath) -> Vec<String>;

    /// Names of databases to suggest for a misspelt one in that catalog; none if it cannot list them.
    fn similar_databases(&self, _catalog: &str) -> Vec<String> {
        vec![]
    }

    /// The metadata that a table's source offers: key and type. A metadata column whose key is not among them is left to
    /// the source, which refuses it.
    fn metadata(&self, _table: &TableEntry) -> Vec<(String, DataType)> {
        vec![]
    }

    /// The refusal of a call if that name, as written, means a function of the user's and none of Flink's.
    fn refused_function(&self, _name: &[String]) -> Option<Error> {
        None
    }

    /// Names of the session's catalogs, for messages.
    fn catalogs(&self) -> Vec<String> {
        vec![self.current().0.to_owned()]
    }

    /// A session option such as `table.exec.sink.not-null-enforcer`, already defaulted; `None` if unset and without a default.
    fn option(&self, key: &str) -> Option<String>;
}
