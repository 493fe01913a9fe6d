//! The tables of Flink SQL outside Iceberg: filesystem, datagen, print, blackhole.
//!
//! 1. The engine keeps a table's definition; what its connector makes of it shows when it is read or written, as in
//!    Flink: [`source`] and [`sink`] check the options then.
//!    In batch mode a table that Flink counts as unbounded is refused; [`connector_options`] lists all options there are.
//! 2. A source is a DataFusion `TableProvider` over the table's physical columns.
//!    [`source_with_metadata`] adds columns such as the file's name.
//! 3. A sink writes in two steps: [`Sink::write`] writes rows that nobody sees yet (as far as the connector can hide
//!    them), [`Pending::commit`] makes them visible, [`Pending::discard`] removes them.

mod blackhole;
mod builder;
mod datagen;
mod filesystem;
mod java;
mod options;
mod print;
#[cfg(test)]
mod testing;
mod text;
mod values;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use calve_functions::EvalContext;
use calve_types::{DataType, Error, Result};
use datafusion::catalog::TableProvider;
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;

pub use crate::options::{ConnectorOption, connector_options};
use crate::options::{Options, Purpose};

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
    /// Whether the statement runs in batch mode, in which Flink refuses tables that may have no end.
    pub batch: bool,
}

impl fmt::Debug for ConnectorContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectorContext").field("eval", &self.eval).field("batch", &self.batch).finish_non_exhaustive()
    }
}

/// How rows are added to a table.
#[derive(Debug, Clone, Default)]
pub struct SinkMode {
    /// `INSERT OVERWRITE`.
    pub overwrite: bool,
    /// Columns with their values in `PARTITION (k = v)`, as text.
    pub static_partition: Vec<(String, String)>,
}

/// A table that rows are written to.
#[async_trait]
pub trait Sink: Send {
    /// Writes rows that have exactly the table's physical columns; for print and blackhole tables, and for files that hold
    /// changes, there may be one more, the kinds of changes (see calve-stream).
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

/// The connectors that there are, as Flink lists them.
const CONNECTORS: [&str; 4] = ["blackhole", "datagen", "filesystem", "print"];

/// All that a table may have: `iceberg` is not of this crate.
const KNOWN: [&str; 5] = ["blackhole", "datagen", "filesystem", "iceberg", "print"];

/// The provider that reads a table: its columns, and behind them the kinds of changes (see calve-stream) if its rows
/// change.
///
/// # Errors
/// Options that are missing, unknown or wrong; a connector that cannot be read.
pub fn source(table: &TableDefinition, context: &ConnectorContext) -> Result<Arc<dyn TableProvider>> {
    let options = Options::new(table, Purpose::Read);
    match connector(table, &options)? {
        "filesystem" => filesystem::source(table, &[], context),
        "datagen" => Ok(Arc::new(datagen::DatagenTable::new(table, context)?)),
        other => Err(options.refuse(
            "not-readable",
            format!("connector '{other}' is written only"),
            format!("Connector '{other}' can only be used as a sink. It cannot be used as a source."),
        )),
    }
}

/// The metadata columns that a connector's sources offer: key and type.
pub fn source_metadata(connector: &str) -> Vec<(&'static str, DataType)> {
    match connector {
        "filesystem" => filesystem::metadata(),
        _ => Vec::new(),
    }
}

/// A metadata column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataColumn {
    /// The column's name.
    pub name: String,
    /// The connector's name of what it holds.
    pub key: String,
}

/// The provider that reads a table together with metadata: its schema has the physical columns and, behind them, a
/// column for each of `columns`, of the type that [`source_metadata`] names for its key; then the kinds of changes if its
/// rows change.
///
/// # Errors
/// As [`source`]; `unknown-metadata` for a key that the connector does not have, with Flink's sentence.
pub fn source_with_metadata(
    table: &TableDefinition,
    columns: &[MetadataColumn],
    context: &ConnectorContext,
) -> Result<Arc<dyn TableProvider>> {
    let options = Options::new(table, Purpose::Read);
    let connector = connector(table, &options)?;
    let plain = source(table, context)?;
    if columns.is_empty() {
        return Ok(plain);
    }
    let known = source_metadata(connector);
    if known.is_empty() {
        return Err(Error::new(
            "unknown-metadata",
            format!("table '{}': connector '{connector}' has no metadata columns", table.name),
        )
        .with_detail(format!(
            "Table '{}' declares metadata columns, but the underlying DynamicTableSource doesn't implement the \
             SupportsReadingMetadata interface. Therefore, metadata cannot be read from the given source.",
            table.name
        )));
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    if let Some(column) = columns.iter().find(|column| !names.contains(&column.key.as_str())) {
        let MetadataColumn { name, key } = column;
        let error = Error::new(
            "unknown-metadata",
            format!("table '{}': connector '{connector}' has no metadata '{key}' for column '{name}'", table.name),
        )
        .with_detail(format!(
            "Invalid metadata key '{key}' in column '{name}' of table '{}'. The DynamicTableSource supports the following \
             metadata keys for reading:\n{}",
            table.name,
            names.join("\n")
        ));
        return Err(error.with_hint(format!("keys are {}", names.join(", "))).did_you_mean(key, names.iter().copied()));
    }
    filesystem::source(table, columns, context)
}

/// The sink of a table.
///
/// # Errors
/// Options that are missing, unknown or wrong; a connector that cannot be written.
pub fn sink(table: &TableDefinition, mode: SinkMode, context: &ConnectorContext) -> Result<Box<dyn Sink>> {
    let options = Options::new(table, Purpose::Write);
    let connector = connector(table, &options)?;
    if mode.overwrite && matches!(connector, "print" | "blackhole") {
        return Err(Error::unsupported(format!(
            "INSERT OVERWRITE into table '{}' of connector '{connector}'",
            table.name
        ))
        .with_detail(format!(
            "INSERT OVERWRITE requires that the underlying DynamicTableSink of table '{}' implements the \
                 SupportsOverwrite interface.",
            table.name
        )));
    }
    match connector {
        "print" => {
            options.check_static_names(connector, None)?;
            Ok(Box::new(print::PrintSink::new(table, &options, &mode, context)?))
        }
        "blackhole" => {
            options.check_static_names(connector, None)?;
            Ok(Box::new(blackhole::BlackholeSink))
        }
        "filesystem" => filesystem::sink(table, &mode, context),
        other => Err(options.refuse(
            "not-writable",
            format!("connector '{other}' is read only"),
            format!("Connector '{other}' can only be used as a source. It cannot be used as a sink."),
        )),
    }
}

/// Options in a format's space that the format does not have, each with the one it may be meant to be: Flink accepts them
/// in silence, so they deserve a warning.
pub fn suspicious_options(table: &TableDefinition) -> Vec<(String, Option<&'static str>)> {
    let Some(format) = table.options.get("format") else { return Vec::new() };
    let known: Vec<&'static str> =
        connector_options().iter().filter(|o| o.owner == format.as_str()).map(|o| o.name).collect();
    let prefix = format!("{format}.");
    table
        .options
        .keys()
        .filter(|name| name.starts_with(&prefix) && !known.contains(&name.as_str()))
        .map(|name| (name.clone(), calve_types::nearest(name, known.iter().copied())))
        .collect()
}

/// Whether the table's rows may never end. A sequence ends a table, but Flink still counts one without `number-of-rows`
/// as unbounded.
fn is_unbounded(table: &TableDefinition) -> bool {
    match table.options.get("connector").map(String::as_str) {
        Some("datagen") => !table.options.contains_key("number-of-rows"),
        Some("filesystem") => table.options.contains_key("source.monitor-interval"),
        _ => false,
    }
}

/// Refuses to read in batch mode what Flink counts as unbounded.
///
/// # Errors
/// `unbounded-table`, with Flink's sentence.
fn check_bounded(table: &TableDefinition, context: &ConnectorContext) -> Result<()> {
    if !context.batch || !is_unbounded(table) {
        return Ok(());
    }
    let name = &table.name;
    let hint = match table.options.get("connector").map(String::as_str) {
        Some("datagen") => "set 'number-of-rows'",
        _ => "leave out 'source.monitor-interval': the files that are there now are read",
    };
    Err(Error::new("unbounded-table", format!("table '{name}' is unbounded: it cannot be read in batch mode"))
        .with_detail(format!(
            "Querying an unbounded table '{name}' in batch mode is not allowed. The table source is unbounded."
        ))
        .with_hint(hint))
}

/// Connectors that Flink users have and calve has not.
const ELSEWHERE: [&str; 16] = [
    "iceberg",
    "kafka",
    "upsert-kafka",
    "kinesis",
    "firehose",
    "jdbc",
    "elasticsearch-6",
    "elasticsearch-7",
    "opensearch",
    "hbase-1.4",
    "hbase-2.2",
    "mongodb",
    "dynamodb",
    "pulsar",
    "mysql-cdc",
    "postgres-cdc",
];

/// The connector of a table.
fn connector<'a>(table: &'a TableDefinition, options: &Options) -> Result<&'a str> {
    let Some(name) = table.options.get("connector") else {
        return Err(options
            .refuse(
                "missing-option",
                "option 'connector' is missing",
                "Table options do not contain an option key 'connector' for discovering a connector.",
            )
            .with_hint(format!("connectors are {}", KNOWN.join(", "))));
    };
    if CONNECTORS.contains(&name.as_str()) {
        return Ok(name);
    }
    let error = options.refuse(
        "unknown-connector",
        format!("unknown connector '{name}'"),
        format!(
            "Could not find any factory for identifier '{name}' that implements \
             'org.apache.flink.table.factories.DynamicTableFactory' in the classpath.\n\nAvailable factory identifiers \
             are:\n\n{}",
            KNOWN.join("\n")
        ),
    );
    if ELSEWHERE.contains(&name.as_str()) {
        let refused = Error { detail: error.detail, ..Error::unsupported(format!("connector '{name}'")) };
        return Err(match name.as_str() {
            "iceberg" => refused.with_hint("create the table in a catalog with 'type' = 'iceberg'"),
            _ => refused.with_hint(format!("connectors are {}", KNOWN.join(", "))),
        });
    }
    Err(error.with_hint(format!("connectors are {}", KNOWN.join(", "))).did_you_mean(name, KNOWN))
}

/// Rows that were seen as soon as they were written: nothing is left to commit or to discard.
struct Visible(u64);

#[async_trait]
impl Pending for Visible {
    fn rows(&self) -> u64 {
        self.0
    }

    fn files(&self) -> usize {
        0
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        Ok(())
    }

    async fn discard(self: Box<Self>) {}
}

/// A calve error on its way through DataFusion.
fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The calve error inside of DataFusion's, or one with its text.
fn from_datafusion(error: DataFusionError) -> Error {
    match error.find_root() {
        DataFusionError::External(inner) if inner.is::<Error>() => {
            inner.downcast_ref::<Error>().cloned().unwrap_or_else(|| Error::internal(inner))
        }
        other => Error::new("runtime", other.strip_backtrace()),
    }
}
