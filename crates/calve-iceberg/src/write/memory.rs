//! What writers take of the statement's memory.

use std::sync::Arc;

use calve_types::Error;
use datafusion::common::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};

use super::job::Job;

/// Memory for row groups not yet written: for all writers together, and at least for each.
const MEMORY: usize = 384 << 20;
const MEMORY_PER_WRITER: usize = 64 << 20;

/// The part of a limit that row groups not yet written may take: as much again is copied while they are encoded, and
/// deletes have row groups of their own.
const PART_OF_LIMIT: usize = 8;

/// What an open file holds: a row group that is worth being one, and bytes on their way to storage.
const PER_FILE: usize = 1 << 20;

/// More open files than this are closed, least recently used first.
pub(crate) const OPEN_FILES: usize = 256;

impl Job {
    /// Bytes of row groups a writer holds before it ends the largest.
    pub(crate) fn memory_per_writer(&self) -> usize {
        per_writer(self.context.memory_pool(), self.writers)
    }

    /// How many files a writer may open if rows of more partitions can be put aside.
    pub(crate) fn comfortable_files(&self) -> usize {
        comfortable_files(self.context.memory_pool(), self.writers)
    }

    /// Bytes that all open files of a writer may hold together, those on their way to storage included.
    pub(crate) fn memory_of_files(&self) -> usize {
        match self.context.memory_pool().memory_limit() {
            MemoryLimit::Finite(limit) => limit / PART_OF_LIMIT / self.writers.max(1) * 2,
            _ => usize::MAX,
        }
    }

    /// Memory of the statement for something with this name; `yields` if it gives some back where more is refused.
    pub(crate) fn reserve(&self, name: impl Into<String>, yields: bool) -> MemoryReservation {
        reserve(&self.context, name, yields)
    }
}

/// As [`Job::reserve`].
pub(crate) fn reserve(context: &TaskContext, name: impl Into<String>, yields: bool) -> MemoryReservation {
    MemoryConsumer::new(name).with_can_spill(yields).register(context.memory_pool())
}

fn comfortable_files(pool: &Arc<dyn MemoryPool>, writers: usize) -> usize {
    match pool.memory_limit() {
        MemoryLimit::Finite(limit) => (limit / PART_OF_LIMIT / writers.max(1) / PER_FILE).clamp(1, OPEN_FILES),
        _ => OPEN_FILES,
    }
}

fn per_writer(pool: &Arc<dyn MemoryPool>, writers: usize) -> usize {
    let writers = writers.max(1);
    let usual = (MEMORY / writers).max(MEMORY_PER_WRITER);
    match pool.memory_limit() {
        MemoryLimit::Finite(limit) => usual.min(limit / PART_OF_LIMIT / writers).max(1),
        _ => usual,
    }
}

/// The error of a writer that is refused memory; its consumer's name tells what for.
pub(crate) fn out_of_memory(refused: &DataFusionError) -> Error {
    Error::new("out-of-memory", "the statement needs more memory than it may have")
        .with_detail(refused.strip_backtrace())
        .with_hint("give it more with --memory-limit, or run fewer parts at once: SET 'parallelism.default' = '1'")
}

#[cfg(test)]
mod tests {
    use datafusion::execution::memory_pool::{GreedyMemoryPool, UnboundedMemoryPool};

    use super::*;

    #[test]
    fn row_groups_take_a_part_of_a_limit() {
        let pool = |limit| Arc::new(GreedyMemoryPool::new(limit)) as Arc<dyn MemoryPool>;
        let unbounded: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::default());
        assert_eq!(per_writer(&unbounded, 2), 192 << 20);
        assert_eq!(per_writer(&unbounded, 100), 64 << 20);
        assert_eq!(per_writer(&pool(16 << 30), 2), 192 << 20);
        assert_eq!(per_writer(&pool(64 << 20), 2), 4 << 20);
        assert_eq!(per_writer(&pool(0), 0), 1);
        let files = [unbounded, pool(16 << 30), pool(64 << 20), pool(0)].map(|pool| comfortable_files(&pool, 2));
        assert_eq!(files, [256, 256, 4, 1]);
    }
}
