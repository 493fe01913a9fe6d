//! What a scan counts for EXPLAIN ANALYZE, beside what DataFusion's readers count themselves: metrics of its
//! `DataSourceExec`, by name.

use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};

use super::plan::FileTask;
use super::prune::Pruned;

/// Data files that were opened; one that is read in several ranges counts once.
pub const FILES_READ: &str = "iceberg_files_read";
/// Data files that were left to read when the scan was planned.
pub const FILES_PLANNED: &str = "iceberg_files_planned";
/// Data files that the filter ruled out by partition values and column bounds, those of ruled-out manifests included.
pub const FILES_PRUNED: &str = "iceberg_files_pruned";
/// Data files that a LIMIT has no need of.
pub const FILES_BEYOND_LIMIT: &str = "iceberg_files_beyond_limit";
/// Manifests of data files that the filter ruled out: they were not read.
pub const MANIFESTS_PRUNED: &str = "iceberg_manifests_pruned";
/// Rows of opened files that position deletes or deletion vectors take away, read or not.
pub const DELETED_BY_POSITION: &str = "iceberg_rows_deleted_by_position";
/// Rows that were read and that equality deletes took away.
pub const DELETED_BY_KEY: &str = "iceberg_rows_deleted_by_key";
/// The label of [`FILES_PLANNED`] that names the table, `db.t`.
pub const TABLE: &str = "table";

/// Tells of a planned scan.
pub(super) fn planned(metrics: &ExecutionPlanMetricsSet, table: &str, files: usize, beyond: usize, pruned: Pruned) {
    let count = |name: &'static str, n: usize| MetricBuilder::new(metrics).global_counter(name).add(n);
    MetricBuilder::new(metrics).with_new_label(TABLE, table.to_owned()).global_counter(FILES_PLANNED).add(files);
    count(FILES_BEYOND_LIMIT, beyond);
    count(FILES_PRUNED, pruned.files);
    count(MANIFESTS_PRUNED, pruned.manifests);
}

/// The counters of one partition of a running scan.
#[derive(Debug, Clone)]
pub(super) struct Counters {
    files: Count,
    by_position: Count,
    by_key: Count,
}

impl Counters {
    pub(super) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let count = |name: &'static str| MetricBuilder::new(metrics).counter(name, partition);
        Self { files: count(FILES_READ), by_position: count(DELETED_BY_POSITION), by_key: count(DELETED_BY_KEY) }
    }

    /// Counts a file that is opened, with the rows that are deleted by their positions in it.
    pub(super) fn opened(&self, task: &FileTask, deleted: u64) {
        if task.is_first_opening() {
            self.files.add(1);
            self.by_position.add(usize::try_from(deleted).unwrap_or(usize::MAX));
        }
    }

    /// Counts rows that equality deletes took away.
    pub(super) fn deleted_by_key(&self, rows: usize) {
        self.by_key.add(rows);
    }
}
