//! The summary of a snapshot: Iceberg's counters (`SnapshotSummary` of the Java library) and the job's marks.

use std::collections::{BTreeMap, HashMap, HashSet};

use calve_types::{Error, Result};
use iceberg::spec::{
    DataContentType, DataFile, DataFileFormat, Operation, PartitionSpec, StructType, Summary, TableMetadata,
};

use super::job::{CHECKPOINT_ID, JOB_ID, OPERATOR_ID, PLACE};
use super::manifests::spec;
use super::{NewFile, Origin};
use crate::table::{Table, partition_type};
use crate::write::partition::partition_path;

/// Of which snapshot a cherry-picked one has its files.
pub(crate) const SOURCE_SNAPSHOT: &str = "source-snapshot-id";
/// Of which staged write (`wap.id`) it has them.
pub(crate) const PUBLISHED_WAP: &str = "published-wap-id";

/// Files that were added, or taken away.
#[derive(Clone, Debug, Default)]
struct Side {
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

impl Side {
    fn count(&mut self, file: &DataFile) {
        let records = file.record_count();
        // A Puffin file may hold many deletion vectors: each counts with its own bytes.
        let size = match (file.file_format(), file.content_size_in_bytes()) {
            (DataFileFormat::Puffin, Some(size)) => u64::try_from(size).unwrap_or(0),
            _ => file.file_size_in_bytes(),
        };
        self.size = self.size.saturating_add(size);
        match file.content_type() {
            DataContentType::Data => {
                self.data_files += 1;
                self.records = self.records.saturating_add(records);
            }
            DataContentType::EqualityDeletes => {
                self.delete_files += 1;
                self.equality_delete_files += 1;
                self.equality_deletes = self.equality_deletes.saturating_add(records);
            }
            DataContentType::PositionDeletes => {
                self.delete_files += 1;
                if file.file_format() == DataFileFormat::Puffin {
                    self.dvs += 1;
                } else {
                    self.position_delete_files += 1;
                }
                self.position_deletes = self.position_deletes.saturating_add(records);
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Change {
    added: Side,
    removed: Side,
}

impl Change {
    /// Counters by the names and in the order of the Java library; zeros are left out.
    fn properties(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let (added, removed) = (&self.added, &self.removed);
        [
            ("added-data-files", added.data_files),
            ("deleted-data-files", removed.data_files),
            ("added-equality-delete-files", added.equality_delete_files),
            ("removed-equality-delete-files", removed.equality_delete_files),
            ("added-position-delete-files", added.position_delete_files),
            ("removed-position-delete-files", removed.position_delete_files),
            ("added-delete-files", added.delete_files),
            ("removed-delete-files", removed.delete_files),
            ("added-dvs", added.dvs),
            ("removed-dvs", removed.dvs),
            ("added-records", added.records),
            ("deleted-records", removed.records),
            ("added-files-size", added.size),
            ("removed-files-size", removed.size),
            ("added-position-deletes", added.position_deletes),
            ("removed-position-deletes", removed.position_deletes),
            ("added-equality-deletes", added.equality_deletes),
            ("removed-equality-deletes", removed.equality_deletes),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
    }

    /// Totals with what is added to them and taken from them.
    fn totals(&self) -> [(&'static str, u64, u64); 6] {
        let (added, removed) = (&self.added, &self.removed);
        [
            ("total-records", added.records, removed.records),
            ("total-files-size", added.size, removed.size),
            ("total-data-files", added.data_files, removed.data_files),
            ("total-delete-files", added.delete_files, removed.delete_files),
            ("total-position-deletes", added.position_deletes, removed.position_deletes),
            ("total-equality-deletes", added.equality_deletes, removed.equality_deletes),
        ]
    }
}

/// Counts the files of a snapshot.
#[derive(Debug)]
pub(crate) struct Counts<'a> {
    metadata: &'a TableMetadata,
    specs: HashMap<i32, (&'a PartitionSpec, StructType)>,
    all: Change,
    /// The changed partitions by name: files of several specs may be in partitions of one name.
    partitions: HashSet<String>,
    /// What changed in each, as long as there are not too many.
    by_partition: Option<BTreeMap<String, Change>>,
    limit: usize,
    manifests: [(&'static str, usize); 3],
}

impl<'a> Counts<'a> {
    /// Counts nothing yet. `write.summary.partition-limit` says how many partitions are told one by one (0, that is
    /// none, without it).
    ///
    /// # Errors
    /// `invalid-option` for a limit that is no number.
    pub(crate) fn new(table: &'a Table) -> Result<Self> {
        const LIMIT: &str = "write.summary.partition-limit";
        let limit = match table.property(LIMIT) {
            None => 0,
            Some(value) => value.trim().parse::<i64>().map(|n| usize::try_from(n).unwrap_or(0)).map_err(|_| {
                Error::new("invalid-option", format!("invalid value '{value}' of table property '{LIMIT}'"))
                    .with_hint(format!("ALTER TABLE .. SET ('{LIMIT}' = '0'), or RESET ('{LIMIT}')"))
            })?,
        };
        Ok(Self {
            metadata: table.metadata(),
            specs: HashMap::new(),
            all: Change::default(),
            partitions: HashSet::new(),
            by_partition: (limit > 0).then(BTreeMap::new),
            limit,
            manifests: [("manifests-created", 0), ("manifests-kept", 0), ("manifests-replaced", 0)],
        })
    }

    /// Counts files that are added.
    ///
    /// # Errors
    /// `invalid-table` for a partition spec that the table does not have.
    pub(crate) fn add(&mut self, files: &[NewFile]) -> Result<()> {
        for NewFile { spec_id, file } in files {
            self.all.added.count(file);
            if let Some(change) = self.partition(*spec_id, file)? {
                change.added.count(file);
            }
        }
        Ok(())
    }

    /// Counts a file that is taken away.
    ///
    /// # Errors
    /// As [`Counts::add`].
    pub(crate) fn remove(&mut self, spec_id: i32, file: &DataFile) -> Result<()> {
        self.all.removed.count(file);
        if let Some(change) = self.partition(spec_id, file)? {
            change.removed.count(file);
        }
        Ok(())
    }

    /// Notes the partition of a file as changed.
    fn partition(&mut self, spec_id: i32, file: &DataFile) -> Result<Option<&mut Change>> {
        let (spec, types) = match self.specs.entry(spec_id) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => {
                let spec = spec(self.metadata, spec_id)?;
                let (_, types) = partition_type(self.metadata, spec)?;
                new.insert((spec, types))
            }
        };
        let name = partition_path(spec, types, file.partition());
        if self.partitions.insert(name.clone()) && self.partitions.len() > self.limit {
            self.by_partition = None;
        }
        Ok(self.by_partition.as_mut().map(|partitions| partitions.entry(name).or_default()))
    }

    /// Says how many manifests the snapshot wrote, how many of its parent's it has, and how many of these it has not.
    pub(crate) fn manifests(&mut self, created: usize, kept: usize, replaced: usize) {
        for (counter, count) in self.manifests.iter_mut().zip([created, kept, replaced]) {
            counter.1 = count;
        }
    }

    /// Whether data files are taken away.
    pub(crate) fn removes_data(&self) -> bool {
        self.all.removed.data_files > 0
    }

    /// The summary of a snapshot that makes these changes to `parent`.
    ///
    /// The Java library starts the totals of a new branch at zero although it begins with main's files; here they
    /// continue main's.
    pub(crate) fn summary(
        &self,
        operation: Operation,
        replaces_partitions: bool,
        parent: Option<&Summary>,
        origin: Origin<'_>,
    ) -> Summary {
        let mut properties: HashMap<String, String> =
            self.all.properties().map(|(key, count)| (key.to_owned(), count.to_string())).collect();
        let mut set = |key: &str, value: String| drop(properties.insert(key.to_owned(), value));
        if replaces_partitions {
            set("replace-partitions", "true".to_owned());
        }
        set("changed-partition-count", self.partitions.len().to_string());
        if let Some(partitions) = self.by_partition.as_ref().filter(|partitions| !partitions.is_empty()) {
            set("partition-summaries-included", "true".to_owned());
            for (name, change) in partitions.iter().filter(|(name, _)| !name.is_empty()) {
                let counts: Vec<String> = change.properties().map(|(key, count)| format!("{key}={count}")).collect();
                set(&format!("partitions.{name}"), counts.join(","));
            }
        }
        for (key, count) in self.manifests {
            set(key, count.to_string());
        }
        for (key, added, removed) in self.all.totals() {
            let before = match parent {
                None => Some(0),
                Some(summary) => summary.additional_properties.get(key).and_then(|v| v.parse::<u64>().ok()),
            };
            // A total nobody knows, or that was wrong before, stays unknown.
            let total = before.and_then(|before| before.checked_add(added)).and_then(|all| all.checked_sub(removed));
            if let Some(total) = total {
                set(key, total.to_string());
            }
        }
        match origin {
            Origin::Job(job) => {
                set(JOB_ID, job.job_id.clone());
                set(OPERATOR_ID, job.operator_id.clone());
                set(CHECKPOINT_ID, job.checkpoint_id.to_string());
                if let Some(place) = &job.place {
                    set(PLACE, place.clone());
                }
            }
            Origin::Picked { snapshot_id, wap_id } => {
                set(SOURCE_SNAPSHOT, snapshot_id.to_string());
                if let Some(id) = wap_id {
                    set(PUBLISHED_WAP, id.to_owned());
                }
            }
        }
        set("engine-name", "calve".to_owned());
        set("engine-version", env!("CARGO_PKG_VERSION").to_owned());
        Summary { operation, additional_properties: properties }
    }
}
