//! The tables of Flink SQL outside Iceberg: filesystem, datagen, print, blackhole.
//!
//! 1. The engine keeps a table's definition; what its connector makes of it shows when it is read or written, as in
//!    Flink: [`source`] and [`sink`] check the options then.
//! 2. A source is a DataFusion `TableProvider` over the table's physical columns.
//! 3. A sink writes in two steps: [`Sink::write`] writes rows that nobody sees yet (as far as the connector can hide
//!    them), [`Pending::commit`] makes them visible, [`Pending::discard`] removes them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use calve_functions::EvalContext;
use calve_types::{DataType, Error, Result};
use datafusion::catalog::TableProvider;
use datafusion::execution::SendableRecordBatchStream;

/// A table as it was created, options of a hint included.
#[derive(Debug, Clone)]
pub struct TableDefinition {
    /// Full name for messages, `cat.db.t`.
    pub name: String,
    /// Physical columns in order.
    pub columns: Vec<(String, DataType)>,
    /// `PARTITIONED BY`.
    pub partition_keys: Vec<String>,
    /// The WITH clause.
    pub options: BTreeMap<String, String>,
}

/// Takes the lines that print tables write to standard output.
pub type PrintLines = Arc<dyn Fn(String) + Send + Sync>;

/// What connectors know of the session.
#[derive(Clone)]
pub struct ConnectorContext {
    /// Time zone and the statement's start.
    pub eval: EvalContext,
    /// Where print tables write.
    pub print: PrintLines,
}

impl fmt::Debug for ConnectorContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectorContext").field("eval", &self.eval).finish_non_exhaustive()
    }
}

/// How rows are added to a table.
#[derive(Debug, Clone, Default)]
pub struct SinkMode {
    /// `INSERT OVERWRITE`.
    pub overwrite: bool,
    /// Columns with their values in `PARTITION (k = v)`, as text; what an overwrite replaces.
    pub static_partition: Vec<(String, String)>,
}

/// A table that rows are written to.
#[async_trait]
pub trait Sink: Send {
    /// Writes rows that have exactly the table's physical columns.
    ///
    /// # Errors
    /// What the rows' stream or the system refuse; nothing is left behind then.
    async fn write(self: Box<Self>, rows: SendableRecordBatchStream) -> Result<Box<dyn Pending>>;
}

/// Rows that are written and not visible yet.
#[async_trait]
pub trait Pending: Send {
    /// Rows written.
    fn rows(&self) -> u64;
    /// Files written.
    fn files(&self) -> usize;
    /// Makes the rows visible.
    ///
    /// # Errors
    /// What the system refuses.
    async fn commit(self: Box<Self>) -> Result<()>;
    /// Removes what was written.
    async fn discard(self: Box<Self>);
}

/// The provider that reads a table.
///
/// # Errors
/// Options that are missing, unknown or wrong; a connector that cannot be read.
pub fn source(table: &TableDefinition, _context: &ConnectorContext) -> Result<Arc<dyn TableProvider>> {
    Err(Error::unsupported(format!("connector of table '{}'", table.name)))
}

/// The sink of a table.
///
/// # Errors
/// Options that are missing, unknown or wrong; a connector that cannot be written.
pub fn sink(table: &TableDefinition, _mode: SinkMode, _context: &ConnectorContext) -> Result<Box<dyn Sink>> {
    Err(Error::unsupported(format!("connector of table '{}'", table.name)))
}
