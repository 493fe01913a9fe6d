//! `$snapshots`, `$history`, `$refs` and `$metadata_log_entries`: what the metadata file itself says.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int32Array, Int64Array, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::SchemaRef;
use calve_types::arrow::UTC;
use calve_types::{DataType, LogicalType, Result};
use iceberg::spec::{SnapshotRef, SnapshotRetention};

use super::{arrays, column, map_type};
use crate::table::Table;

/// Iceberg's `timestamptz` in Flink.
const TIMESTAMP: LogicalType = LogicalType::TimestampLtz(6);

fn timestamps(millis: impl Iterator<Item = i64>) -> ArrayRef {
    let micros = millis.map(|ms| ms.saturating_mul(1000));
    Arc::new(TimestampMicrosecondArray::from_iter_values(micros).with_timezone(UTC))
}

fn longs(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn optional_longs(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<Int64Array>())
}

fn strings<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

pub(super) fn snapshots_columns() -> Vec<(String, DataType)> {
    vec![
        column("committed_at", TIMESTAMP, false),
        column("snapshot_id", LogicalType::BigInt, false),
        column("parent_id", LogicalType::BigInt, true),
        column("operation", LogicalType::STRING, true),
        column("manifest_list", LogicalType::STRING, true),
        column("summary", map_type(LogicalType::STRING, LogicalType::STRING), true),
    ]
}

/// The snapshots in the order they were made.
pub(super) fn by_time(table: &Table) -> Vec<SnapshotRef> {
    let mut snapshots: Vec<SnapshotRef> = table.metadata().snapshots().cloned().collect();
    snapshots.sort_by_key(|s| (s.sequence_number(), s.timestamp_ms(), s.snapshot_id()));
    snapshots
}

pub(super) fn snapshots(table: &Table, schema: &SchemaRef) -> Result<Vec<ArrayRef>> {
    let snapshots = by_time(table);
    let mut pairs = Vec::new();
    let mut lengths = Vec::with_capacity(snapshots.len());
    for snapshot in &snapshots {
        let mut summary: Vec<(&String, &String)> = snapshot.summary().additional_properties.iter().collect();
        summary.sort_unstable();
        lengths.push(Some(summary.len()));
        pairs.extend(summary);
    }
    let each = || snapshots.iter();
    Ok(vec![
        timestamps(each().map(|s| s.timestamp_ms())),
        longs(each().map(|s| s.snapshot_id())),
        optional_longs(each().map(|s| s.parent_snapshot_id())),
        strings(each().map(|s| s.summary().operation.as_str())),
        strings(each().map(|s| s.manifest_list())),
        arrays::map(
            schema.field(5).data_type(),
            &lengths,
            strings(pairs.iter().map(|(key, _)| key.as_str())),
            strings(pairs.iter().map(|(_, value)| value.as_str())),
        )?,
    ])
}

pub(super) fn history_columns() -> Vec<(String, DataType)> {
    vec![
        column("made_current_at", TIMESTAMP, false),
        column("snapshot_id", LogicalType::BigInt, false),
        column("parent_id", LogicalType::BigInt, true),
        column("is_current_ancestor", LogicalType::Boolean, false),
    ]
}

pub(super) fn history(table: &Table, _schema: &SchemaRef) -> Result<Vec<ArrayRef>> {
    let metadata = table.metadata();
    let parent = |id: i64| metadata.snapshot_by_id(id).and_then(|s| s.parent_snapshot_id());
    let mut ancestors = HashSet::new();
    let mut next = metadata.current_snapshot_id();
    while let Some(id) = next.filter(|id| ancestors.insert(*id)) {
        next = parent(id);
    }
    let each = || metadata.history().iter();
    Ok(vec![
        timestamps(each().map(|entry| entry.timestamp_ms)),
        longs(each().map(|entry| entry.snapshot_id)),
        optional_longs(each().map(|entry| parent(entry.snapshot_id))),
        Arc::new(each().map(|entry| Some(ancestors.contains(&entry.snapshot_id))).collect::<BooleanArray>()),
    ])
}

pub(super) fn refs_columns() -> Vec<(String, DataType)> {
    vec![
        column("name", LogicalType::STRING, false),
        column("type", LogicalType::STRING, false),
        column("snapshot_id", LogicalType::BigInt, false),
        column("max_reference_age_in_ms", LogicalType::BigInt, true),
        column("min_snapshots_to_keep", LogicalType::Int, true),
        column("max_snapshot_age_in_ms", LogicalType::BigInt, true),
    ]
}

pub(super) fn refs(table: &Table, _schema: &SchemaRef) -> Result<Vec<ArrayRef>> {
    let refs = table.refs()?;
    let each = || refs.values().map(|r| &r.retention);
    Ok(vec![
        strings(refs.keys().map(String::as_str)),
        strings(refs.values().map(|r| if r.is_branch() { "BRANCH" } else { "TAG" })),
        longs(refs.values().map(|r| r.snapshot_id)),
        optional_longs(each().map(|retention| match retention {
            SnapshotRetention::Branch { max_ref_age_ms, .. } | SnapshotRetention::Tag { max_ref_age_ms } => {
                *max_ref_age_ms
            }
        })),
        Arc::new(
            each()
                .map(|retention| match retention {
                    SnapshotRetention::Branch { min_snapshots_to_keep, .. } => *min_snapshots_to_keep,
                    SnapshotRetention::Tag { .. } => None,
                })
                .collect::<Int32Array>(),
        ),
        optional_longs(each().map(|retention| match retention {
            SnapshotRetention::Branch { max_snapshot_age_ms, .. } => *max_snapshot_age_ms,
            SnapshotRetention::Tag { .. } => None,
        })),
    ])
}

pub(super) fn metadata_log_columns() -> Vec<(String, DataType)> {
    vec![
        column("timestamp", TIMESTAMP, false),
        column("file", LogicalType::STRING, false),
        column("latest_snapshot_id", LogicalType::BigInt, true),
        column("latest_schema_id", LogicalType::Int, true),
        column("latest_sequence_number", LogicalType::BigInt, true),
    ]
}

/// The metadata files with the snapshot that was current when each was written; the last row is the current file.
pub(super) fn metadata_log(table: &Table, _schema: &SchemaRef) -> Result<Vec<ArrayRef>> {
    let metadata = table.metadata();
    let log = metadata.metadata_log().iter().map(|entry| (entry.timestamp_ms, entry.metadata_file.as_str()));
    let files: Vec<(i64, &str)> = log.chain([(metadata.last_updated_ms(), table.metadata_location())]).collect();
    let latest: Vec<Option<&SnapshotRef>> = files
        .iter()
        .map(|(time, _)| {
            let current = metadata.history().iter().rev().find(|entry| entry.timestamp_ms <= *time);
            current.and_then(|entry| metadata.snapshot_by_id(entry.snapshot_id))
        })
        .collect();
    Ok(vec![
        timestamps(files.iter().map(|(time, _)| *time)),
        strings(files.iter().map(|(_, file)| *file)),
        optional_longs(latest.iter().map(|s| s.map(|s| s.snapshot_id()))),
        Arc::new(latest.iter().map(|s| s.and_then(|s| s.schema_id())).collect::<Int32Array>()),
        optional_longs(latest.iter().map(|s| s.map(|s| s.sequence_number()))),
    ])
}
