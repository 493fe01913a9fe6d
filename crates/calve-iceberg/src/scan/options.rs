//! Which snapshot a query reads, and how many rows of it.

use std::collections::BTreeMap;

use calve_types::{Error, Result};
use chrono::{DateTime, SecondsFormat};
use iceberg::spec::{DEFAULT_SCHEMA_NAME_MAPPING, MAIN_BRANCH, NameMapping, SnapshotRef, TableMetadata};

use crate::error::Context;
use crate::table::Table;

/// Read options of one table reference (Flink's `FlinkReadOptions`), resolved against one version of the table: from here
/// on the snapshot is fixed.
#[derive(Clone, Debug)]
pub struct ScanOptions {
    pub(crate) snapshot: Option<SnapshotRef>,
    pub(crate) limit: Option<usize>,
    pub(crate) mapping: Option<NameMapping>,
}

/// The prefix of read options in SET.
const SESSION_PREFIX: &str = "connector.iceberg.";

/// Options with a SET key of their own; the others are valid in hints and table properties only.
const SESSION_OPTIONS: [&str; 2] = ["streaming", "limit"];

/// Options that make Flink read changes instead of a snapshot.
const INCREMENTAL_OPTIONS: [&str; 4] = ["start-snapshot-id", "end-snapshot-id", "start-tag", "end-tag"];

struct Lookup<'a> {
    table: &'a Table,
    hints: &'a BTreeMap<String, String>,
    session: &'a BTreeMap<String, String>,
}

impl<'a> Lookup<'a> {
    /// Hint, then SET, then the table property of the same name, which Flink merges into the hints.
    fn find(&self, name: &str) -> Option<&'a str> {
        let set = || SESSION_OPTIONS.contains(&name).then(|| self.session.get(&format!("{SESSION_PREFIX}{name}")))?;
        self.hints.get(name).or_else(set).map(String::as_str).or_else(|| self.table.property(name))
    }

    fn long(&self, name: &str) -> Result<Option<i64>> {
        let parse = |value: &str| {
            value.trim().parse().map_err(|_| {
                Error::new(
                    "invalid-option",
                    format!("invalid value '{value}' for option '{name}': expected a whole number"),
                )
                .with_detail(format!("Could not parse value '{value}' for key '{name}'."))
            })
        };
        self.find(name).map(parse).transpose()
    }
}

impl ScanOptions {
    /// Resolves `snapshot-id`, `as-of-timestamp`, `branch`, `tag` and `limit` from hints, SET and table properties, in this
    /// order. `snapshot-id` outranks `tag`, `tag` outranks `branch`; `as-of-timestamp` cannot be combined with them
    /// (Flink's `FlinkSplitPlanner`).
    ///
    /// # Errors
    /// `unknown-snapshot` and `unknown-ref` for what the table does not have, `invalid-option` for values and combinations
    /// that do not make sense, `not-supported` for streaming and incremental reads.
    pub fn resolve(
        table: &Table,
        hints: &BTreeMap<String, String>,
        session: &BTreeMap<String, String>,
    ) -> Result<Self> {
        let options = Lookup { table, hints, session };
        if options.find("streaming").is_some_and(|v| v.trim().eq_ignore_ascii_case("true")) {
            return Err(Error::unsupported("option 'streaming'").with_hint("remove it to read a snapshot of the table"));
        }
        if let Some(name) = INCREMENTAL_OPTIONS.iter().find(|name| options.find(name).is_some()) {
            return Err(Error::unsupported(format!("option '{name}'"))
                .with_hint("read one snapshot with 'snapshot-id', 'as-of-timestamp', 'branch' or 'tag'"));
        }
        let limit = match options.long("limit")? {
            // Flink's "no limit"
            None | Some(-1) => None,
            Some(rows) => Some(usize::try_from(rows).map_err(|_| {
                Error::new(
                    "invalid-option",
                    format!("invalid value '{rows}' for option 'limit': expected rows from 0, or -1"),
                )
            })?),
        };
        let mapping = options.find(DEFAULT_SCHEMA_NAME_MAPPING);
        let mapping = mapping
            .map(|json| serde_json::from_str(json).context(|| format!("parse '{DEFAULT_SCHEMA_NAME_MAPPING}'")))
            .transpose()?;
        let snapshot = snapshot(&options)?.map(|id| by_id(table.metadata(), id)).transpose()?;
        Ok(Self { snapshot, limit, mapping })
    }

    /// The snapshot to read; `None` for a table or branch without any.
    pub fn snapshot(&self) -> Option<&SnapshotRef> {
        self.snapshot.as_ref()
    }
}

fn snapshot(options: &Lookup<'_>) -> Result<Option<i64>> {
    let metadata = options.table.metadata();
    let (id, tag, branch) = (options.long("snapshot-id")?, options.find("tag"), options.find("branch"));
    let as_of = options.long("as-of-timestamp")?;
    // what nobody knows is not missed
    let known = |found: Result<Option<i64>>| match found {
        Err(error) if options.table.assumes_snapshots() && matches!(error.code, "unknown-snapshot" | "unknown-ref") => {
            Ok(metadata.current_snapshot_id())
        }
        found => found,
    };
    let (name, chosen) = match (id, tag, branch) {
        (Some(id), _, _) => ("snapshot-id", known(by_id(metadata, id).map(|s| Some(s.snapshot_id())))?),
        (None, Some(tag), _) => ("tag", known(by_ref(metadata, tag))?),
        (None, None, Some(branch)) => ("branch", known(by_ref(metadata, branch))?),
        (None, None, None) => ("", None),
    };
    match (chosen, as_of) {
        (Some(id), Some(_)) => Err(Error::new(
            "invalid-option",
            format!("option 'as-of-timestamp' cannot be combined with option '{name}'"),
        )
        .with_detail(format!("Cannot override snapshot, already set snapshot id={id}"))),
        (Some(id), None) => Ok(Some(id)),
        (None, Some(millis)) => known(as_of_timestamp(metadata, millis).map(Some)),
        (None, None) => Ok(metadata.current_snapshot_id()),
    }
}

fn by_id(metadata: &TableMetadata, id: i64) -> Result<SnapshotRef> {
    metadata.snapshot_by_id(id).cloned().ok_or_else(|| {
        Error::new("unknown-snapshot", format!("unknown snapshot {id}"))
            .with_detail(format!("Cannot find snapshot with ID {id}"))
            .with_hint("the metadata table '$snapshots' lists the snapshots of a table")
    })
}

/// `None` for the main branch, which needs no choice and may be empty.
fn by_ref(metadata: &TableMetadata, name: &str) -> Result<Option<i64>> {
    if name == MAIN_BRANCH {
        return Ok(None);
    }
    match metadata.snapshot_for_ref(name) {
        Some(snapshot) => Ok(Some(snapshot.snapshot_id())),
        None => Err(Error::new("unknown-ref", format!("unknown branch or tag '{name}'"))
            .with_detail(format!("Cannot find ref {name}"))
            .with_hint("the metadata table '$refs' lists the branches and tags of a table")),
    }
}

/// The snapshot that was current at a time, in milliseconds since 1970 (Java's `SnapshotUtil.snapshotIdAsOfTime`).
fn as_of_timestamp(metadata: &TableMetadata, millis: i64) -> Result<i64> {
    match metadata.history().iter().rfind(|entry| entry.timestamp_ms <= millis) {
        Some(entry) => Ok(entry.snapshot_id),
        None => {
            let time = DateTime::from_timestamp_millis(millis)
                .map_or_else(|| millis.to_string(), |t| t.to_rfc3339_opts(SecondsFormat::AutoSi, false));
            Err(Error::new("unknown-snapshot", format!("no snapshot as old as {time}"))
                .with_detail(format!("Cannot find a snapshot older than {time}"))
                .with_hint("the metadata table '$history' lists the times of snapshots; option 'as-of-timestamp' is in milliseconds"))
        }
    }
}
