//! What the writers of one INSERT share.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use datafusion::execution::TaskContext;
use iceberg::spec::FormatVersion;

use super::location::Locations;
use super::options::WriteOptions;
use super::upload::Uncommitted;
use crate::table::Table;

/// How far a write is; counters only grow.
#[derive(Debug, Default)]
pub struct WriteProgress {
    /// Rows taken from the input.
    pub rows: AtomicU64,
    /// Files finished.
    pub files: AtomicU64,
    /// Bytes of finished files.
    pub bytes: AtomicU64,
}

/// See the module.
pub(crate) struct Job {
    pub(crate) table: Table,
    pub(crate) options: WriteOptions,
    pub(crate) locations: Locations,
    pub(crate) files: Uncommitted,
    pub(crate) progress: Arc<WriteProgress>,
    /// How many writers run.
    pub(crate) writers: usize,
    /// Whose memory and temporary files they take.
    pub(crate) context: Arc<TaskContext>,
}

impl Job {
    pub(crate) fn version(&self) -> FormatVersion {
        self.table.metadata().format_version()
    }
}
