//! Metadata tables: `t$snapshots`, `t$history`, `t$refs`, `t$files` and their siblings.
//!
//! Columns, their order and their types are those of the Java library's metadata tables, in Flink's types.

mod arrays;
mod files;
mod log;
mod partitions;
mod provider;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use calve_types::{DataType, Error, LogicalType, Result};
use datafusion::catalog::TableProvider;
use iceberg::spec::SnapshotRef;

use crate::scan::ScanOptions;
use crate::table::Table;

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

/// The metadata tables that calve serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Snapshots,
    History,
    Refs,
    MetadataLogEntries,
    Files(files::Content),
}

/// Every metadata table of the Java library (`MetadataTableType`), with those calve does not serve yet.
const KNOWN: [(&str, Option<Kind>); 16] = [
    ("entries", None),
    ("files", Some(Kind::Files(files::Content::All))),
    ("data_files", Some(Kind::Files(files::Content::Data))),
    ("delete_files", Some(Kind::Files(files::Content::Deletes))),
    ("history", Some(Kind::History)),
    ("metadata_log_entries", Some(Kind::MetadataLogEntries)),
    ("snapshots", Some(Kind::Snapshots)),
    ("refs", Some(Kind::Refs)),
    ("manifests", None),
    ("partitions", None),
    ("all_data_files", None),
    ("all_delete_files", None),
    ("all_files", None),
    ("all_manifests", None),
    ("all_entries", None),
    ("position_deletes", None),
];

/// The names of the metadata tables that can be read.
pub fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().filter(|(_, kind)| kind.is_some()).map(|(name, _)| *name)
}

/// The metadata table `name` (in any case) of `table`. Of `hints`, those that choose a snapshot matter to tables about
/// one snapshot.
///
/// # Errors
/// `unknown-table` for a name nobody knows, with Flink's words; `not-supported` for one that calve does not serve yet;
/// what [`ScanOptions::resolve`] says about the hints.
pub fn metadata_table(table: Table, name: &str, hints: &BTreeMap<String, String>) -> Result<MetadataTable> {
    let full = format!("{}${name}", table.ident().name());
    let kind = match KNOWN.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        Some((_, Some(kind))) => *kind,
        Some((known, None)) => return Err(Error::unsupported(format!("metadata table '{known}'"))),
        None => {
            let error = Error::new("unknown-table", format!("unknown metadata table '{full}'"))
                .with_detail(format!("Illegal table name:{full}"));
            let hint = match calve_types::nearest(name, names()) {
                Some(near) => format!("did you mean '{}${near}'?", table.ident().name()),
                None => format!("metadata tables are {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(error.with_hint(hint));
        }
    };
    let snapshot = match kind {
        Kind::Files(_) => snapshot(&table, hints)?,
        _ => None,
    };
    let columns = match kind {
        Kind::Snapshots => log::snapshots_columns(),
        Kind::History => log::history_columns(),
        Kind::Refs => log::refs_columns(),
        Kind::MetadataLogEntries => log::metadata_log_columns(),
        Kind::Files(_) => files::columns(&table)?,
    };
    let provider = Arc::new(LazyTable::new(table, kind, snapshot, &columns)?);
    Ok(MetadataTable { columns, provider })
}

/// The snapshot that the hints choose; the current one without hints.
fn snapshot(table: &Table, hints: &BTreeMap<String, String>) -> Result<Option<SnapshotRef>> {
    let options = ScanOptions::resolve(table, hints, &BTreeMap::new())?;
    Ok(options.snapshot().cloned())
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
