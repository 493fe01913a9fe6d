//! Keys that were written to temporary files, in order, and what remains of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};
use std::marker::PhantomData;
use std::sync::Arc;

use calve_types::{Error, Result};
use datafusion::common::DataFusionError;
use datafusion::execution::disk_manager::{DiskManager, RefCountedTempFile};

use super::key_map::MapKey;
use super::keys::{GONE, Slot};
use super::memory::out_of_memory;

/// Bytes read or written at once.
pub(crate) const BUFFER: usize = 64 << 10;

/// Bytes written between two looks at the room that temporary files may take.
const LOOK: usize = 16 << 20;

/// Bytes of a partition's number and of a place.
const REST: usize = 12;

/// A key of a partition, and where its row lies; [`GONE`] if it was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<K> {
    pub(crate) partition: u32,
    pub(crate) key: K,
    pub(crate) slot: Slot,
}

/// Entries in a temporary file, by partition and key, each once. The file goes with it.
#[derive(Debug)]
pub(crate) struct Run<K> {
    file: RefCountedTempFile,
    entries: u64,
    keys: PhantomData<K>,
}

/// A [`Run`] being written.
pub(crate) struct RunWriter<K> {
    run: Run<K>,
    buffer: Vec<u8>,
    unseen: usize,
}

impl<K: MapKey> RunWriter<K> {
    /// Starts a file.
    ///
    /// # Errors
    /// `io`; `out-of-memory` if there are no temporary files.
    pub(crate) fn new(disk: &Arc<DiskManager>) -> Result<Self> {
        let file = disk.create_tmp_file("the keys of an upsert").map_err(|e| failed("create", &e))?;
        let buffer = Vec::with_capacity(BUFFER + K::BYTES + REST);
        Ok(Self { run: Run { file, entries: 0, keys: PhantomData }, buffer, unseen: 0 })
    }

    /// Appends an entry, which comes behind those before it.
    ///
    /// # Errors
    /// `io`; `out-of-memory` if temporary files take all the room they may.
    pub(crate) fn put(&mut self, entry: Entry<K>) -> Result<()> {
        self.buffer.extend_from_slice(&entry.partition.to_le_bytes());
        entry.key.put(&mut self.buffer);
        self.buffer.extend_from_slice(&entry.slot.file.to_le_bytes());
        self.buffer.extend_from_slice(&entry.slot.row.to_le_bytes());
        self.run.entries += 1;
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let written = self.run.file.inner().as_file().write_all(&self.buffer);
        written.map_err(|e| failed("write", &DataFusionError::IoError(e)))?;
        self.unseen += self.buffer.len();
        self.buffer.clear();
        if self.unseen >= LOOK { self.look() } else { Ok(()) }
    }

    fn look(&mut self) -> Result<()> {
        self.unseen = 0;
        self.run.file.update_disk_usage().map_err(|e| failed("write", &e))
    }

    /// Ends the file.
    ///
    /// # Errors
    /// As [`RunWriter::put`].
    pub(crate) fn finish(mut self) -> Result<Run<K>> {
        self.flush()?;
        self.look()?;
        Ok(self.run)
    }
}

fn failed(what: &str, error: &DataFusionError) -> Error {
    match error {
        DataFusionError::ResourcesExhausted(_) => out_of_memory(error),
        _ => Error::new("io", format!("cannot {what} a temporary file of keys: {}", error.strip_backtrace()))
            .with_hint(
                "the keys do not fit into --memory-limit; temporary files are made in the folder that TMPDIR names",
            ),
    }
}

/// Reads a run from its start.
struct RunReader<K> {
    input: BufReader<File>,
    left: u64,
    bytes: Vec<u8>,
    /// Holds the file until it is read.
    _run: Run<K>,
}

impl<K: MapKey> RunReader<K> {
    fn open(run: Run<K>) -> Result<Self> {
        // not by its name: it may be gone
        let mut file =
            run.file.inner().as_file().try_clone().map_err(|e| failed("read", &DataFusionError::IoError(e)))?;
        file.rewind().map_err(|e| failed("read", &DataFusionError::IoError(e)))?;
        let input = BufReader::with_capacity(BUFFER, file);
        Ok(Self { input, left: run.entries, bytes: vec![0; K::BYTES + REST], _run: run })
    }

    fn next(&mut self) -> Result<Option<Entry<K>>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        self.input.read_exact(&mut self.bytes).map_err(|e| failed("read", &DataFusionError::IoError(e)))?;
        let number = |at: usize| self.bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
        let entry = || {
            Some(Entry {
                partition: number(0)?,
                key: K::get(self.bytes.get(4..4 + K::BYTES)?)?,
                slot: Slot { file: number(4 + K::BYTES)?, row: number(8 + K::BYTES)? },
            })
        };
        entry().map(Some).ok_or_else(|| Error::internal("a temporary file of keys is cut off"))
    }
}

/// Runs, the oldest first, as one: of every key the newest entry stays.
pub(crate) struct Merge<K> {
    readers: Vec<RunReader<K>>,
    /// The next entry of every run that has one, the smallest key first, and of equal keys that of the older run.
    next: BinaryHeap<Reverse<Head<K>>>,
    /// The newest entry so far of the key that is being merged.
    held: Option<Entry<K>>,
}

#[derive(PartialEq, Eq)]
struct Head<K> {
    entry: Entry<K>,
    run: usize,
}

impl<K: Ord> Ord for Head<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let (a, b) = (&self.entry, &other.entry);
        a.partition.cmp(&b.partition).then_with(|| a.key.cmp(&b.key)).then(self.run.cmp(&other.run))
    }
}

impl<K: Ord> PartialOrd for Head<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: MapKey> Merge<K> {
    /// Starts to read all runs.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn new(runs: Vec<Run<K>>) -> Result<Self> {
        let mut readers = runs.into_iter().map(RunReader::open).collect::<Result<Vec<_>>>()?;
        let mut next = BinaryHeap::with_capacity(readers.len());
        for (run, reader) in readers.iter_mut().enumerate() {
            next.extend(reader.next()?.map(|entry| Reverse(Head { entry, run })));
        }
        Ok(Self { readers, next, held: None })
    }

    /// Takes up to `entries` entries: `replaced` gets the places of rows that newer ones replaced or took back, `stays`
    /// the newest entries of keys whose row is still there. False if all are taken.
    ///
    /// # Errors
    /// `io`; those of `stays`.
    pub(crate) fn step(
        &mut self,
        entries: usize,
        mut replaced: impl FnMut(Slot),
        mut stays: impl FnMut(Entry<K>) -> Result<()>,
    ) -> Result<bool> {
        for _ in 0..entries {
            let Some(mut first) = self.next.peek_mut() else {
                if let Some(last) = self.held.take().filter(|entry| entry.slot != GONE) {
                    stays(last)?;
                }
                return Ok(false);
            };
            let (entry, run) = (first.0.entry, first.0.run);
            let following = match self.readers.get_mut(run) {
                Some(reader) => reader.next()?,
                None => None,
            };
            match following {
                Some(following) => first.0.entry = following,
                None => drop(std::collections::binary_heap::PeekMut::pop(first)),
            }
            if let Some(before) = self.held.replace(entry).filter(|before| before.slot != GONE) {
                if (before.partition, before.key) == (entry.partition, entry.key) {
                    replaced(before.slot);
                } else {
                    stays(before)?;
                }
            }
        }
        Ok(true)
    }
}
