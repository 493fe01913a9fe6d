//! The open files of one writer, one per partition, within bounds of number, size and memory.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::RecordBatch;
use calve_types::{Error, Result};
use futures::stream::{FuturesUnordered, TryStreamExt};
use hashbrown::HashMap;
use iceberg::spec::Struct;

use super::file::{FileKind, FileWriter};
use super::job::Job;
use super::partition::Partition;
use crate::commit::NewFile;
use crate::partition_key::partition_key;

/// More open files than this are closed, least recently used first.
const OPEN_FILES: usize = 256;

/// Rows between two looks at the size of a file, as in Flink's writers.
const ROWS_PER_CHECK: usize = 1_000;

/// Files that are ended at the same time.
const CLOSING: usize = 8;

/// Numbers files: the writer's first file is 0.
pub(crate) type FileNumber = u32;

/// Where the next row of a partition goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: FileNumber,
    pub(crate) position: u64,
}

struct Open {
    number: FileNumber,
    writer: FileWriter,
    memory: usize,
    used: u64,
}

/// A finished file and its number.
pub(crate) struct Finished {
    pub(crate) number: FileNumber,
    pub(crate) file: NewFile,
    pub(crate) partition: Arc<Partition>,
}

/// See the module.
pub(crate) struct Fanout {
    job: Arc<Job>,
    kind: Arc<FileKind>,
    writer: usize,
    first_name: usize,
    open: HashMap<(i32, Struct), Open, foldhash::fast::RandomState>,
    finished: Vec<Finished>,
    files: FileNumber,
    memory: usize,
    clock: u64,
}

impl Fanout {
    /// `writer` and `first_name` make the names of the files: no two fan-outs of a job may share them.
    pub(crate) fn new(job: &Arc<Job>, kind: &Arc<FileKind>, writer: usize, first_name: usize) -> Self {
        Self {
            job: job.clone(),
            kind: kind.clone(),
            writer,
            first_name,
            open: HashMap::default(),
            finished: Vec::new(),
            files: 0,
            memory: 0,
            clock: 0,
        }
    }

    /// How many rows to give to [`Fanout::write`] at once, so that files end near their size.
    pub(crate) fn step(&self, batch: &RecordBatch) -> usize {
        let small = batch.get_array_memory_size() < self.job.options.target_file_size / 4;
        if small { batch.num_rows().max(1) } else { ROWS_PER_CHECK }
    }

    fn key(partition: &Partition) -> (i32, Struct) {
        (partition.spec_id, partition_key(&partition.values))
    }

    /// Whether rows of a partition can be written without another file being ended for them.
    pub(crate) fn has_room(&self, partition: &Partition) -> bool {
        self.open.len() < OPEN_FILES || self.open.contains_key(&Self::key(partition))
    }

    /// Where the next row of a partition goes; opens a file if none is open.
    ///
    /// # Errors
    /// As [`FileWriter::open`].
    pub(crate) async fn place(&mut self, partition: &Arc<Partition>) -> Result<Place> {
        let key = Self::key(partition);
        if let Some(open) = self.open.get(&key) {
            return Ok(Place { file: open.number, position: open.writer.rows() });
        }
        while self.open.len() >= OPEN_FILES {
            let oldest = self.open.iter().min_by_key(|(_, open)| open.used).map(|(key, _)| key.clone());
            match oldest {
                Some(oldest) => self.close(&oldest).await?,
                None => break,
            }
        }
        let number = self.files;
        self.files = number.checked_add(1).ok_or_else(|| Error::internal("too many files"))?;
        let name = self.first_name + number as usize;
        let location = self.job.locations.file(&partition.path, self.writer, name, self.kind.suffix);
        let writer = FileWriter::open(&self.kind, partition, &self.job.files, self.job.table.io(), &location)?;
        self.open.insert(key, Open { number, writer, memory: 0, used: self.clock });
        Ok(Place { file: number, position: 0 })
    }

    /// Appends rows to the partition's open file and ends the file if it is large enough. All rows of one call go to
    /// the file that [`Fanout::place`] names, in order.
    ///
    /// # Errors
    /// As [`FileWriter::write`].
    pub(crate) async fn write(&mut self, partition: &Arc<Partition>, rows: &RecordBatch) -> Result<()> {
        self.place(partition).await?;
        let key = Self::key(partition);
        self.clock += 1;
        let Some(open) = self.open.get_mut(&key) else { return Err(Error::internal("a file that was open is not")) };
        open.used = self.clock;
        open.writer.write(rows).await?;
        let memory = open.writer.memory();
        self.memory = self.memory + memory - open.memory;
        open.memory = memory;
        if open.writer.size() >= self.job.options.target_file_size || open.writer.rows() >= u64::from(u32::MAX / 2) {
            self.close(&key).await?;
        }
        while self.memory > self.job.memory_per_writer() {
            let largest = self.open.values_mut().max_by_key(|open| open.memory).filter(|open| open.memory > 0);
            let Some(open) = largest else { break };
            open.writer.flush().await?;
            let memory = open.writer.memory().min(open.memory);
            let freed = open.memory - memory;
            self.memory -= freed;
            open.memory = memory;
            if freed == 0 {
                break;
            }
        }
        Ok(())
    }

    async fn close(&mut self, key: &(i32, Struct)) -> Result<()> {
        let Some(open) = self.open.remove(key) else { return Ok(()) };
        self.memory -= open.memory;
        let finished = finish(&self.job, open).await?;
        self.finished.push(finished);
        Ok(())
    }

    /// Ends all files, several at a time; gives them in the order of their numbers.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn finish(mut self) -> Result<Vec<Finished>> {
        let mut waiting: Vec<Open> = self.open.drain().map(|(_, open)| open).collect();
        waiting.sort_by_key(|open| std::cmp::Reverse(open.number));
        let mut closing = FuturesUnordered::new();
        loop {
            while closing.len() < CLOSING {
                let Some(open) = waiting.pop() else { break };
                closing.push(finish(&self.job, open));
            }
            match closing.try_next().await? {
                Some(finished) => self.finished.push(finished),
                None => break,
            }
        }
        self.finished.sort_by_key(|finished| finished.number);
        Ok(self.finished)
    }
}

async fn finish(job: &Job, open: Open) -> Result<Finished> {
    let partition = open.writer.partition().clone();
    let file = open.writer.finish(None).await?;
    job.progress.files.fetch_add(1, Ordering::Relaxed);
    job.progress.bytes.fetch_add(file.file.file_size_in_bytes(), Ordering::Relaxed);
    Ok(Finished { number: open.number, file, partition })
}
