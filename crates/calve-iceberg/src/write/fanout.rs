//! The open files of one writer, one per partition, within bounds of number, size and memory.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::RecordBatch;
use calve_types::{Error, Result};
use datafusion::execution::memory_pool::MemoryReservation;
use futures::stream::{FuturesUnordered, TryStreamExt};
use hashbrown::HashMap;
use iceberg::spec::Struct;

use super::file::{FileKind, FileWriter};
use super::job::Job;
use super::memory::{OPEN_FILES, out_of_memory};
use super::partition::Partition;
use crate::commit::NewFile;
use crate::partition_key::partition_key;

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
    /// Bytes of memory held.
    memory: usize,
    /// Those of rows that are not written yet.
    buffered: usize,
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
    /// The sums of those of the open files.
    memory: usize,
    buffered: usize,
    /// What the statement lets them have, once there is one.
    reserved: Option<MemoryReservation>,
    /// Whether it let them have less than they wanted.
    scarce: bool,
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
            buffered: 0,
            reserved: None,
            scarce: false,
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

    /// Whether rows of a partition can be written without another file being ended for them, or short of memory.
    pub(crate) fn has_room(&self, partition: &Partition) -> bool {
        let room = !self.scarce && self.open.len() < self.job.comfortable_files();
        room || self.open.is_empty() || self.open.contains_key(&Self::key(partition))
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
        self.open.insert(key, Open { number, writer, memory: 0, buffered: 0, used: self.clock });
        Ok(Place { file: number, position: 0 })
    }

    /// Appends rows to the partition's open file and ends the file if it is large enough. All rows of one call go to
    /// the file that [`Fanout::place`] names, in order.
    ///
    /// # Errors
    /// As [`FileWriter::write`]; `out-of-memory` if not even one file may be open.
    pub(crate) async fn write(&mut self, partition: &Arc<Partition>, rows: &RecordBatch) -> Result<()> {
        self.place(partition).await?;
        let key = Self::key(partition);
        self.clock += 1;
        let Some(open) = self.open.get_mut(&key) else { return Err(Error::internal("a file that was open is not")) };
        open.used = self.clock;
        open.writer.write(rows).await?;
        let full =
            open.writer.size() >= self.job.options.target_file_size || open.writer.rows() >= u64::from(u32::MAX / 2);
        self.look(&key);
        if full {
            self.close(&key).await?;
        }
        while self.buffered > self.job.memory_per_writer() && self.flush_largest().await? {}
        self.charge().await
    }

    /// Sees what an open file holds now.
    fn look(&mut self, key: &(i32, Struct)) {
        let Some(open) = self.open.get_mut(key) else { return };
        let (memory, buffered) = (open.writer.memory(), open.writer.buffered());
        self.memory = self.memory.saturating_sub(open.memory).saturating_add(memory);
        self.buffered = self.buffered.saturating_sub(open.buffered).saturating_add(buffered);
        (open.memory, open.buffered) = (memory, buffered);
    }

    /// Charges what is held to the statement. Where it may not be, row groups end early, then files.
    ///
    /// # Errors
    /// `out-of-memory` if a single open file holds too much.
    async fn charge(&mut self) -> Result<()> {
        let name = || format!("a writer of table '{}'", self.job.table.ident());
        let reserved = self.reserved.take().unwrap_or_else(|| self.job.reserve(name(), true));
        let charged = self.charge_to(&reserved).await;
        self.reserved = Some(reserved);
        charged
    }

    async fn charge_to(&mut self, reserved: &MemoryReservation) -> Result<()> {
        loop {
            let alone = self.open.len() <= 1;
            let refused = reserved.try_resize(self.memory).err();
            // what others need is not taken because they do not have it yet
            if refused.is_none() && (alone || self.memory <= self.job.memory_of_files()) {
                return Ok(());
            }
            self.scarce = true;
            // where most of it is on its way to storage, short row groups are of no use
            if (alone || self.buffered >= self.memory / 2) && self.flush_largest().await? {
                continue;
            }
            match (self.costly().filter(|_| !alone), refused) {
                (Some(key), _) => self.close(&key).await?,
                (None, Some(refused)) => return Err(out_of_memory(&refused)),
                (None, None) => return Ok(()),
            }
        }
    }

    /// Of the files that hold much, the one that was not written to for the longest time.
    fn costly(&self) -> Option<(i32, Struct)> {
        let usual = self.memory / self.open.len().max(1) / 2;
        let much = self.open.iter().filter(|(_, open)| open.memory >= usual);
        much.min_by_key(|(_, open)| open.used).map(|(key, _)| key.clone())
    }

    /// Ends the row group of the file with most of it. False if that frees nothing.
    async fn flush_largest(&mut self) -> Result<bool> {
        let largest = self.open.iter_mut().max_by_key(|(_, open)| open.buffered).filter(|(_, open)| open.buffered > 0);
        let Some((key, open)) = largest else { return Ok(false) };
        open.writer.flush().await?;
        let (key, before) = (key.clone(), self.buffered);
        self.look(&key);
        Ok(self.buffered < before)
    }

    async fn close(&mut self, key: &(i32, Struct)) -> Result<()> {
        let Some(open) = self.open.remove(key) else { return Ok(()) };
        self.memory = self.memory.saturating_sub(open.memory);
        self.buffered = self.buffered.saturating_sub(open.buffered);
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
