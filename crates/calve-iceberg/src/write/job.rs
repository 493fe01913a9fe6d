//! What the writers of one INSERT share.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

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
}

/// Memory for row groups not yet written: for all writers together, and at least for each.
const MEMORY: usize = 384 << 20;
const MEMORY_PER_WRITER: usize = 64 << 20;

impl Job {
    pub(crate) fn memory_per_writer(&self) -> usize {
        (MEMORY / self.writers.max(1)).max(MEMORY_PER_WRITER)
    }

    pub(crate) fn version(&self) -> FormatVersion {
        self.table.metadata().format_version()
    }
}
