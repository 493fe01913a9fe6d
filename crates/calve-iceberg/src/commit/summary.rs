//! The summary of a snapshot: Iceberg's counters (`SnapshotSummary` of the Java library) and the job's marks.

use std::collections::{HashMap, HashSet};

use iceberg::spec::{DataContentType, DataFileFormat, Operation, Struct, Summary};

use super::{NewFile, Origin};

/// Of which snapshot a cherry-picked one has its files.
pub(crate) const SOURCE_SNAPSHOT: &str = "source-snapshot-id";
/// Of which staged write (`wap.id`) it has them.
pub(crate) const PUBLISHED_WAP: &str = "published-wap-id";

/// Counters of a snapshot that only adds files.
#[derive(Debug, Default)]
struct Added {
    size: u64,
    data_files: u64,
    records: u64,
    delete_files: u64,
    equality_delete_files: u64,
    position_delete_files: u64,
    dvs: u64,
    equality_deletes: u64,
    position_deletes: u64,
}

impl Added {
    fn count<'a>(files: impl Iterator<Item = &'a NewFile>) -> Self {
        let mut added = Self::default();
        for NewFile { file, .. } in files {
            let records = file.record_count();
            // A Puffin file may hold many deletion vectors: each counts with its own bytes.
            let size = match (file.file_format(), file.content_size_in_bytes()) {
                (DataFileFormat::Puffin, Some(size)) => u64::try_from(size).unwrap_or(0),
                _ => file.file_size_in_bytes(),
            };
            added.size = added.size.saturating_add(size);
            match file.content_type() {
                DataContentType::Data => {
                    added.data_files += 1;
                    added.records = added.records.saturating_add(records);
                }
                DataContentType::EqualityDeletes => {
                    added.delete_files += 1;
                    added.equality_delete_files += 1;
                    added.equality_deletes = added.equality_deletes.saturating_add(records);
                }
                DataContentType::PositionDeletes => {
                    added.delete_files += 1;
                    if file.file_format() == DataFileFormat::Puffin {
                        added.dvs += 1;
                    } else {
                        added.position_delete_files += 1;
                    }
                    added.position_deletes = added.position_deletes.saturating_add(records);
                }
            }
        }
        added
    }

    /// Counters as the Java library names them; zeros are left out.
    fn properties(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("added-files-size", self.size),
            ("added-data-files", self.data_files),
            ("added-records", self.records),
            ("added-delete-files", self.delete_files),
            ("added-equality-delete-files", self.equality_delete_files),
            ("added-position-delete-files", self.position_delete_files),
            ("added-dvs", self.dvs),
            ("added-equality-deletes", self.equality_deletes),
            ("added-position-deletes", self.position_deletes),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
    }

    fn totals(&self) -> [(&'static str, u64); 6] {
        [
            ("total-records", self.records),
            ("total-files-size", self.size),
            ("total-data-files", self.data_files),
            ("total-delete-files", self.delete_files),
            ("total-position-deletes", self.position_deletes),
            ("total-equality-deletes", self.equality_deletes),
        ]
    }
}

/// The operation of a snapshot that adds files: `append` without delete files, `delete` without data files, else
/// `overwrite` (the Java library's `BaseRowDelta`).
pub(crate) fn operation(data: &[NewFile], deletes: &[NewFile]) -> Operation {
    match (data.is_empty(), deletes.is_empty()) {
        (_, true) => Operation::Append,
        (true, false) => Operation::Delete,
        (false, false) => Operation::Overwrite,
    }
}

/// The summary of a snapshot that adds these files to `parent`.
///
/// The Java library starts the totals of a new branch at zero although it begins with main's files; here they continue
/// main's.
pub(crate) fn summary(data: &[NewFile], deletes: &[NewFile], parent: Option<&Summary>, origin: Origin<'_>) -> Summary {
    let added = Added::count(data.iter().chain(deletes));
    let mut properties: HashMap<String, String> =
        added.properties().map(|(key, count)| (key.to_owned(), count.to_string())).collect();
    let partitions: HashSet<(i32, &Struct)> =
        data.iter().chain(deletes).map(|f| (f.spec_id, f.file.partition())).collect();
    properties.insert("changed-partition-count".to_owned(), partitions.len().to_string());
    for (key, count) in added.totals() {
        let before = match parent {
            None => Some(0),
            Some(summary) => summary.additional_properties.get(key).and_then(|v| v.parse::<u64>().ok()),
        };
        // A total nobody knows stays unknown.
        if let Some(total) = before.and_then(|before| before.checked_add(count)) {
            properties.insert(key.to_owned(), total.to_string());
        }
    }
    match origin {
        Origin::Job(job) => {
            let marks = [
                ("flink.job-id", job.job_id.clone()),
                ("flink.operator-id", job.operator_id.clone()),
                ("flink.max-committed-checkpoint-id", job.checkpoint_id.to_string()),
            ];
            properties.extend(marks.map(|(key, value)| (key.to_owned(), value)));
        }
        Origin::Picked { snapshot_id, wap_id } => {
            properties.insert(SOURCE_SNAPSHOT.to_owned(), snapshot_id.to_string());
            properties.extend(wap_id.map(|id| (PUBLISHED_WAP.to_owned(), id.to_owned())));
        }
    }
    let engine = [("engine-name", "calve"), ("engine-version", env!("CARGO_PKG_VERSION"))];
    properties.extend(engine.map(|(key, value)| (key.to_owned(), value.to_owned())));
    Summary { operation: operation(data, deletes), additional_properties: properties }
}
