//! Metadata tables: `t$snapshots`, `t$history`, `t$refs`, `t$files` and their siblings.
//!
//! Columns, their order and their types are those of the Java library's metadata tables, in Flink's types. `log` has what
//! the metadata file says, `manifests` the lines of manifest lists, `files` those of manifests, `partition_stats` what
//! these add up to; `source` reads them batch by batch.

mod arrays;
mod files;
mod log;
mod manifests;
mod partition_column;
mod partition_stats;
mod partitions;
mod provider;
mod source;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use calve_types::{DataType, Error, LogicalType, Result, RowField};
use datafusion::catalog::TableProvider;
use iceberg::spec::{FormatVersion, SnapshotRef};

use crate::scan::ScanOptions;
use crate::table::Table;

use files::FileColumns;
use partition_column::PartitionColumn;
pub use partitions::partitions;
use provider::LazyTable;

/// A metadata table of one version of a table.
#[derive(Clone)]
pub struct MetadataTable {
    /// The columns in order.
    pub columns: Vec<(String, DataType)>,
    /// The rows, read when scanned.
    pub provider: Arc<dyn TableProvider>,
}

impl fmt::Debug for MetadataTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetadataTable").field("columns", &self.columns).finish_non_exhaustive()
    }
}

/// What a metadata table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Snapshots,
    History,
    Refs,
    MetadataLogEntries,
    Files(files::Content),
    AllFiles(files::Content),
    Entries,
    AllEntries,
    Manifests,
    AllManifests,
    Partitions,
    PositionDeletes,
}

/// Which manifest lists are read.
#[derive(Clone, Debug)]
enum Scope {
    /// That of one snapshot; none of a table without snapshots.
    Snapshot(Option<SnapshotRef>),
    /// Those of all snapshots.
    All,
}

/// Every metadata table of the Java library (`MetadataTableType`).
const KNOWN: [(&str, Kind); 16] = [
    ("entries", Kind::Entries),
    ("files", Kind::Files(files::Content::All)),
    ("data_files", Kind::Files(files::Content::Data)),
    ("delete_files", Kind::Files(files::Content::Deletes)),
    ("history", Kind::History),
    ("metadata_log_entries", Kind::MetadataLogEntries),
    ("snapshots", Kind::Snapshots),
    ("refs", Kind::Refs),
    ("manifests", Kind::Manifests),
    ("partitions", Kind::Partitions),
    ("all_data_files", Kind::AllFiles(files::Content::Data)),
    ("all_delete_files", Kind::AllFiles(files::Content::Deletes)),
    ("all_files", Kind::AllFiles(files::Content::All)),
    ("all_manifests", Kind::AllManifests),
    ("all_entries", Kind::AllEntries),
    ("position_deletes", Kind::PositionDeletes),
];

/// The names of the metadata tables that can be read.
pub fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().filter(|(_, kind)| *kind != Kind::PositionDeletes).map(|(name, _)| *name)
}

/// The metadata table `name` (in any case) of `table`. Of `hints`, those that choose a snapshot matter to tables about
/// one snapshot. `position_deletes` has columns, and no scan.
///
/// # Errors
/// `unknown-table` for a name nobody knows, `invalid-option` for a snapshot of a table about all of them, with Flink's
/// words; what [`ScanOptions::resolve`] says about the hints.
pub fn metadata_table(table: Table, name: &str, hints: &BTreeMap<String, String>) -> Result<MetadataTable> {
    let full = format!("{}${name}", table.ident().name());
    let Some((known, kind)) = KNOWN.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) else {
        let error = Error::new("unknown-table", format!("unknown metadata table '{full}'"))
            .with_detail(format!("Illegal table name:{full}"));
        let hint = match calve_types::nearest(name, names()) {
            Some(near) => format!("did you mean '{}${near}'?", table.ident().name()),
            None => format!("metadata tables are {}", names().collect::<Vec<_>>().join(", ")),
        };
        return Err(error.with_hint(hint));
    };
    let scope = match kind {
        Kind::AllFiles(_) | Kind::AllEntries | Kind::AllManifests => {
            refuse_choice(known, hints)?;
            Scope::All
        }
        // a choice of the others is checked as well, as in Flink
        _ => Scope::Snapshot(snapshot(&table, hints)?),
    };
    let columns = match kind {
        Kind::Snapshots => log::snapshots_columns(),
        Kind::History => log::history_columns(),
        Kind::Refs => log::refs_columns(),
        Kind::MetadataLogEntries => log::metadata_log_columns(),
        Kind::Files(_) | Kind::AllFiles(_) => FileColumns::new(&table)?.columns()?,
        Kind::Entries | Kind::AllEntries => entries_columns(&table)?,
        Kind::Manifests => manifests::columns(false),
        Kind::AllManifests => manifests::columns(true),
        Kind::Partitions => partition_stats::columns(&table)?,
        Kind::PositionDeletes => position_deletes_columns(&table)?,
    };
    let provider = Arc::new(LazyTable::new(table, *kind, scope, &columns)?);
    Ok(MetadataTable { columns, provider })
}

/// The snapshot that the hints choose; the current one without hints.
fn snapshot(table: &Table, hints: &BTreeMap<String, String>) -> Result<Option<SnapshotRef>> {
    let options = ScanOptions::resolve(table, hints, &BTreeMap::new())?;
    Ok(options.only_snapshot()?.cloned())
}

/// Refuses to choose a snapshot of what is about all of them.
fn refuse_choice(name: &str, hints: &BTreeMap<String, String>) -> Result<()> {
    const CHOICES: [(&str, &str); 5] = [
        ("snapshot-id", "snapshot"),
        ("as-of-timestamp", "snapshot"),
        ("as-of-job-id", "snapshot"),
        ("branch", "ref"),
        ("tag", "ref"),
    ];
    match CHOICES.iter().find(|(option, _)| hints.contains_key(*option)) {
        None => Ok(()),
        Some((option, what)) => {
            Err(Error::new("invalid-option", format!("option '{option}' has no place where all snapshots are read"))
                .with_detail(format!("Cannot select {what} in table: {}", name.to_ascii_uppercase()))
                .with_hint(format!("read '${}' instead", name.trim_start_matches("all_"))))
        }
    }
}

/// The refusal to scan `$position_deletes`.
fn no_scan() -> Error {
    Error::unsupported("reading the metadata table 'position_deletes'")
        .with_detail("Cannot create TableScan from table of type POSITION_DELETES")
        .with_hint("'$delete_files' lists the files that hold deleted positions")
}

fn entries_columns(table: &Table) -> Result<Vec<(String, DataType)>> {
    let columns = FileColumns::new(table)?;
    let file = columns.file()?.into_iter().map(|(name, data_type)| RowField::new(name, data_type));
    Ok(vec![
        column("status", LogicalType::Int, false),
        column("snapshot_id", LogicalType::BigInt, true),
        column("sequence_number", LogicalType::BigInt, true),
        column("file_sequence_number", LogicalType::BigInt, true),
        column("data_file", LogicalType::Row(file.collect()), false),
        columns.readable_metrics()?,
    ])
}

fn position_deletes_columns(table: &Table) -> Result<Vec<(String, DataType)>> {
    let row = crate::schema::to_flink(table.metadata().current_schema())?;
    let row = row.into_iter().map(|(name, data_type)| RowField::new(name, data_type));
    let mut columns = vec![
        column("file_path", LogicalType::STRING, false),
        column("pos", LogicalType::BigInt, false),
        column("row", LogicalType::Row(row.collect()), true),
    ];
    let partition = PartitionColumn::new(table)?;
    if !partition.is_empty() {
        columns.push(("partition".to_owned(), partition.data_type()?));
    }
    columns.push(column("spec_id", LogicalType::Int, false));
    columns.push(column("delete_file_path", LogicalType::STRING, false));
    if table.metadata().format_version() >= FormatVersion::V3 {
        columns.push(column("content_offset", LogicalType::BigInt, true));
        columns.push(column("content_size_in_bytes", LogicalType::BigInt, true));
    }
    Ok(columns)
}

fn column(name: &str, logical: LogicalType, nullable: bool) -> (String, DataType) {
    (name.to_owned(), logical.with_nullable(nullable))
}

/// `MAP<key, value>` without NULL in it.
fn map_type(key: LogicalType, value: LogicalType) -> LogicalType {
    LogicalType::Map(Box::new(key.not_null()), Box::new(value.not_null()))
}

#[cfg(test)]
mod tests;
