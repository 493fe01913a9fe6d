//! The keys written in one commit, by partition, and the rows of it that later ones of it replaced or took back.
//!
//! What does not fit into memory is written to a temporary file in the order of the keys. A key that comes again then counts as
//! one that was not written before: an upsert deletes its older rows, of earlier commits, once more. In the end all files are
//! read together, in order, and of each key all rows but the newest are deleted. A key that goes leaves a mark ([`GONE`]),
//! as its row may lie in a file.

use std::sync::Arc;

use calve_types::{Error, Result};
use datafusion::common::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::disk_manager::DiskManager;
use datafusion::execution::memory_pool::MemoryReservation;

use super::key_map::{MapKey, Table, of_number};
use super::key_runs::{BUFFER, Entry, Merge, Run, RunWriter};
use super::keys::{GONE, Keys, Slot};
use super::memory::{out_of_memory, reserve};
use super::position_deletes::Positions;

/// More files than this are made one.
const MAX_RUNS: usize = 64;

/// Entries that are merged without a pause.
const STEP: usize = 1 << 16;

/// See the module.
pub(crate) struct CommitKeys {
    keys: Kind,
    deleted: Deleted,
}

/// Which kind of key there is shows with the first.
enum Kind {
    None { context: Arc<TaskContext>, spills: bool },
    Numbers(Spilling<u64>),
    Hashes(Spilling<u128>),
}

/// Rows of this commit that are deleted.
struct Deleted {
    positions: Positions,
    rows: u64,
    memory: MemoryReservation,
}

impl Deleted {
    fn add(&mut self, slot: Slot) {
        self.positions.entry(slot.file).or_default().insert(u64::from(slot.row));
        self.rows += 1;
    }

    /// Accounts for them. A bitmap takes two bytes a row, or one bit of each that is not deleted, too: that much cannot be
    /// refused.
    fn settle(&self) {
        self.memory.resize(usize::try_from(self.rows.saturating_mul(2)).unwrap_or(usize::MAX));
    }
}

impl CommitKeys {
    /// Takes its memory from the statement's; `spills` if keys may be forgotten until the end.
    pub(crate) fn new(context: &Arc<TaskContext>, spills: bool) -> Self {
        let memory = reserve(context, "the positions of replaced rows", false);
        Self {
            keys: Kind::None { context: context.clone(), spills },
            deleted: Deleted { positions: Positions::new(), rows: 0, memory },
        }
    }

    fn of(&mut self, keys: &Keys) -> (&mut Kind, &mut Deleted) {
        if let Kind::None { context, spills } = &self.keys {
            self.keys = match keys {
                Keys::Numbers(_) => Kind::Numbers(Spilling::new(context, *spills)),
                Keys::Hashes(_) => Kind::Hashes(Spilling::new(context, *spills)),
            };
        }
        (&mut self.keys, &mut self.deleted)
    }

    /// Notes that the row with the key at `at` lies at `slot`, and deletes the earlier one. True if none is known.
    ///
    /// # Errors
    /// `out-of-memory`; `io` of temporary files.
    pub(crate) fn comes(&mut self, partition: usize, keys: &Keys, at: usize, slot: Slot) -> Result<bool> {
        match (self.of(keys), keys) {
            ((Kind::Numbers(map), deleted), Keys::Numbers(all)) => {
                map.comes(partition, of_number(key_at(all, at)?), slot, deleted)
            }
            ((Kind::Hashes(map), deleted), Keys::Hashes(all)) => map.comes(partition, key_at(all, at)?, slot, deleted),
            _ => Err(changed()),
        }
    }

    /// As [`CommitKeys::comes`] for the rows of `keys[start..start + length]`, which lie at `slot` and behind; calls `fresh`
    /// with the offset from `start` of every row whose key has no known earlier row.
    ///
    /// # Errors
    /// As [`CommitKeys::comes`].
    pub(crate) fn come(
        &mut self,
        partition: usize,
        (keys, start, length): (&Keys, usize, usize),
        slot: Slot,
        mut fresh: impl FnMut(u32),
    ) -> Result<()> {
        let slots = (0..).map(|offset: u32| (offset, Slot { file: slot.file, row: slot.row.saturating_add(offset) }));
        match (self.of(keys), keys) {
            ((Kind::Numbers(map), deleted), Keys::Numbers(all)) => {
                for (key, (offset, slot)) in all.iter().skip(start).take(length).zip(slots) {
                    if map.comes(partition, of_number(*key), slot, deleted)? {
                        fresh(offset);
                    }
                }
            }
            ((Kind::Hashes(map), deleted), Keys::Hashes(all)) => {
                for (key, (offset, slot)) in all.iter().skip(start).take(length).zip(slots) {
                    if map.comes(partition, *key, slot, deleted)? {
                        fresh(offset);
                    }
                }
            }
            _ => return Err(changed()),
        }
        self.deleted.settle();
        Ok(())
    }

    /// Deletes the row with the key at `at`. False if none is known.
    ///
    /// # Errors
    /// As [`CommitKeys::comes`].
    pub(crate) fn goes(&mut self, partition: usize, keys: &Keys, at: usize) -> Result<bool> {
        match (self.of(keys), keys) {
            ((Kind::Numbers(map), deleted), Keys::Numbers(all)) => {
                map.goes(partition, of_number(key_at(all, at)?), deleted)
            }
            ((Kind::Hashes(map), deleted), Keys::Hashes(all)) => map.goes(partition, key_at(all, at)?, deleted),
            _ => Err(changed()),
        }
    }

    /// How many rows are deleted, as far as is known.
    pub(crate) fn deleted(&self) -> u64 {
        self.deleted.rows
    }

    /// All rows of this commit that are deleted, and how many they are.
    ///
    /// # Errors
    /// `io` of temporary files.
    pub(crate) async fn finish(mut self) -> Result<(Positions, u64)> {
        match self.keys {
            Kind::Numbers(map) => map.finish(&mut self.deleted).await?,
            Kind::Hashes(map) => map.finish(&mut self.deleted).await?,
            Kind::None { .. } => {}
        }
        Ok((self.deleted.positions, self.deleted.rows))
    }
}

fn key_at<K: Copy>(all: &[K], at: usize) -> Result<K> {
    all.get(at).copied().ok_or_else(|| Error::internal("a row without its key"))
}

fn changed() -> Error {
    Error::internal("keys changed their kind")
}

/// Keys of one kind.
struct Spilling<K> {
    /// By partition number.
    tables: Vec<Table<K>>,
    memory: MemoryReservation,
    disk: Arc<DiskManager>,
    spills: bool,
    /// The oldest first.
    runs: Vec<Run<K>>,
}

impl<K: MapKey> Spilling<K> {
    fn new(context: &Arc<TaskContext>, spills: bool) -> Self {
        Self {
            tables: Vec::new(),
            memory: reserve(context, "the keys of an INSERT", spills),
            disk: context.runtime_env().disk_manager.clone(),
            spills,
            runs: Vec::new(),
        }
    }

    fn table(&mut self, partition: usize) -> Result<&mut Table<K>> {
        if partition >= self.tables.len() {
            self.tables.resize_with(partition + 1, Table::default);
        }
        self.tables.get_mut(partition).ok_or_else(|| Error::internal("a partition without its keys"))
    }

    /// The place that is known for the key until now.
    fn put(&mut self, partition: usize, key: K, slot: Slot, deleted: &mut Deleted) -> Result<Option<Slot>> {
        let put = match self.tables.get_mut(partition) {
            Some(table) => table.put(key, slot, &self.memory),
            None => {
                self.table(partition)?;
                return self.put(partition, key, slot, deleted);
            }
        };
        let earlier = match put {
            Ok(earlier) => earlier,
            Err(refused) => {
                self.spill(&refused, deleted)?;
                let memory = &self.memory;
                let table = self.tables.get_mut(partition).ok_or_else(changed)?;
                table.put(key, slot, memory).map_err(|refused| out_of_memory(&refused))?
            }
        };
        Ok(earlier.filter(|slot| *slot != GONE))
    }

    fn comes(&mut self, partition: usize, key: K, slot: Slot, deleted: &mut Deleted) -> Result<bool> {
        let earlier = self.put(partition, key, slot, deleted)?;
        if let Some(earlier) = earlier {
            deleted.add(earlier);
        }
        Ok(earlier.is_none())
    }

    fn goes(&mut self, partition: usize, key: K, deleted: &mut Deleted) -> Result<bool> {
        let earlier = match self.runs.is_empty() {
            true => self.table(partition)?.remove(key),
            false => self.put(partition, key, GONE, deleted)?,
        };
        if let Some(earlier) = earlier {
            deleted.add(earlier);
        }
        Ok(earlier.is_some())
    }

    /// Writes all keys to a temporary file and forgets them.
    #[cold]
    fn spill(&mut self, refused: &DataFusionError, deleted: &mut Deleted) -> Result<()> {
        if !self.spills {
            return Err(out_of_memory(refused).with_hint(
                "give the statement more with --memory-limit: without upsert, rows that are taken back need the keys of \
                 all rows before them in memory",
            ));
        }
        let run = self.write()?;
        self.runs.push(run);
        if self.runs.len() >= MAX_RUNS {
            let memory = self.merging();
            let mut merge = Merge::new(std::mem::take(&mut self.runs))?;
            let mut run = RunWriter::new(&self.disk)?;
            while merge.step(STEP, |slot| deleted.add(slot), |entry| run.put(entry))? {}
            self.runs.push(run.finish()?);
            drop(memory);
        }
        deleted.settle();
        Ok(())
    }

    fn write(&mut self) -> Result<Run<K>> {
        let mut run = RunWriter::new(&self.disk)?;
        for (partition, table) in self.tables.iter_mut().enumerate() {
            let partition = u32::try_from(partition).map_err(|_| Error::internal("too many partitions"))?;
            table.drain(&self.memory, |sorted| {
                sorted.iter().try_for_each(|(key, slot)| run.put(Entry { partition, key: *key, slot: *slot }))
            })?;
        }
        run.finish()
    }

    /// What reading all runs together takes. It is not asked for: there is no other way to go on.
    fn merging(&self) -> MemoryReservation {
        let memory = self.memory.new_empty();
        memory.grow((self.runs.len() + 1).saturating_mul(BUFFER));
        memory
    }

    async fn finish(mut self, deleted: &mut Deleted) -> Result<()> {
        if self.runs.is_empty() {
            return Ok(());
        }
        let last = self.write()?;
        self.runs.push(last);
        let _memory = self.merging();
        let mut merge = Merge::new(std::mem::take(&mut self.runs))?;
        while merge.step(STEP, |slot| deleted.add(slot), |_| Ok(()))? {
            deleted.settle();
            // others run, and the statement can be cancelled
            tokio::task::yield_now().await;
        }
        deleted.settle();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::collections::{BTreeSet, HashMap};

    use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
    use datafusion::execution::memory_pool::GreedyMemoryPool;
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::prelude::{SessionConfig, SessionContext};
    use rand::RngExt;

    use super::*;

    /// With so many bytes of memory, and temporary files in a folder of their own.
    fn context(memory: usize, mode: DiskManagerMode) -> Arc<TaskContext> {
        let disk = DiskManagerBuilder::default().with_mode(mode);
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(GreedyMemoryPool::new(memory)))
            .with_disk_manager_builder(disk);
        SessionContext::new_with_config_rt(SessionConfig::new(), runtime.build_arc().unwrap()).task_ctx()
    }

    fn in_folder(folder: &tempfile::TempDir) -> DiskManagerMode {
        DiskManagerMode::Directories(vec![folder.path().to_path_buf()])
    }

    fn files(folder: &tempfile::TempDir) -> usize {
        let folders = std::fs::read_dir(folder.path()).unwrap();
        folders.map(|of_session| std::fs::read_dir(of_session.unwrap().path()).unwrap().count()).sum()
    }

    /// Rows of random keys that come and go, one by one and many at once, in several partitions.
    async fn check(memory: usize, hashed: bool, changes: usize, distinct: i64, spills: bool) {
        let folder = tempfile::tempdir().unwrap();
        let context = context(memory, in_folder(&folder));
        let mut keys = CommitKeys::new(&context, true);
        let mut model: HashMap<(usize, i64), Slot> = HashMap::new();
        let (mut written, mut gone) = (BTreeSet::new(), 0_u64);
        let mut random = rand::rng();
        let (mut row, mut most) = (0_u32, 0);
        for change in 0..changes {
            let partition = random.random_range(0..3) * 2;
            let picked: Vec<i64> = (0..random.random_range(1..40)).map(|_| random.random_range(0..distinct)).collect();
            let as_keys = match hashed {
                true => Keys::Hashes(picked.iter().map(|k| u128::from(of_number(*k)) << 64 | 7).collect()),
                false => Keys::Numbers(picked.clone()),
            };
            let file = (change / 1_000) as u32;
            let mut told = BTreeSet::new();
            let kind = random.random_range(0..10);
            let mut expected_fresh = BTreeSet::new();
            if kind < 6 {
                for (at, key) in (0_u32..).zip(picked.iter().skip(1)) {
                    let slot = Slot { file, row: row + at };
                    written.insert((slot.file, slot.row));
                    match model.insert((partition, *key), slot) {
                        Some(_) => gone += 1,
                        None => assert!(expected_fresh.insert(at)),
                    }
                }
                let length = picked.len() - 1;
                let slot = Slot { file, row };
                keys.come(partition, (&as_keys, 1, length), slot, |at| assert!(told.insert(at))).unwrap();
                row += length as u32;
            } else if kind < 8 {
                let slot = Slot { file, row };
                written.insert((file, row));
                row += 1;
                match model.insert((partition, picked[0]), slot) {
                    Some(_) => gone += 1,
                    None => assert!(expected_fresh.insert(0)),
                }
                if keys.comes(partition, &as_keys, 0, slot).unwrap() {
                    told.insert(0);
                }
            } else {
                match model.remove(&(partition, picked[0])) {
                    Some(_) => gone += 1,
                    None => assert!(expected_fresh.insert(0)),
                }
                if !keys.goes(partition, &as_keys, 0).unwrap() {
                    told.insert(0);
                }
            }
            // a key that was forgotten may be told once more, none may be left out
            assert!(told.is_superset(&expected_fresh));
            assert!(spills || told == expected_fresh);
            most = most.max(files(&folder));
            assert!(keys.deleted() <= gone && (spills || keys.deleted() == gone));
        }
        assert_eq!(most > 0, spills, "{memory} bytes");
        let (positions, deleted) = keys.finish().await.unwrap();
        assert_eq!(deleted, gone);
        let deleted: BTreeSet<(u32, u32)> =
            positions.iter().flat_map(|(file, rows)| rows.iter().map(|row| (*file, row as u32))).collect();
        let live: BTreeSet<(u32, u32)> = model.values().map(|slot| (slot.file, slot.row)).collect();
        assert_eq!(written.difference(&deleted).copied().collect::<BTreeSet<_>>(), live);
        assert!(deleted.is_subset(&written) && deleted.len() as u64 == gone);
        assert_eq!(files(&folder), 0, "temporary files are left");
        assert_eq!(context.memory_pool().reserved(), 0);
    }

    #[tokio::test]
    async fn what_is_left_equals_a_map() {
        for hashed in [false, true] {
            // everything fits
            check(64 << 20, hashed, 3_000, 20_000, false).await;
            // many repeats, and hardly any
            check(100 << 10, hashed, 12_000, 6_000, true).await;
            check(200 << 10, hashed, 12_000, i64::MAX, true).await;
        }
    }

    /// So often that the files are made one again and again.
    #[tokio::test]
    async fn more_files_than_are_read_at_once() {
        check(0, false, 24_000, 60_000, true).await;
    }

    fn fill(keys: &mut CommitKeys, rows: std::ops::Range<i64>) -> Result<()> {
        rows.into_iter().try_for_each(|row| {
            keys.comes(0, &Keys::Numbers(vec![row]), 0, Slot { file: 0, row: row as u32 }).map(|fresh| assert!(fresh))
        })
    }

    #[tokio::test]
    async fn without_temporary_files_it_is_an_error() {
        let mut keys = CommitKeys::new(&context(1 << 10, DiskManagerMode::Disabled), true);
        let error = fill(&mut keys, 0..100_000).unwrap_err();
        assert_eq!(error.code, "out-of-memory", "{error:?}");

        let folder = tempfile::tempdir().unwrap();
        let limited = context(1 << 10, in_folder(&folder));
        let mut keys = CommitKeys::new(&limited, false);
        let error = fill(&mut keys, 0..100_000).unwrap_err();
        assert_eq!((error.code, files(&folder)), ("out-of-memory", 0));
        assert!(error.detail.unwrap().contains("the keys of an INSERT") && error.hint.unwrap().contains("upsert"));

        let mut keys = CommitKeys::new(&limited, true);
        fill(&mut keys, 0..10_000).unwrap();
        assert!(files(&folder) > 0);
        for of_session in std::fs::read_dir(folder.path()).unwrap() {
            std::fs::remove_dir_all(of_session.unwrap().path()).unwrap();
        }
        let error = fill(&mut keys, 10_000..100_000).unwrap_err();
        assert_eq!(error.code, "io", "{error:?}");
        assert!(error.message.starts_with("cannot create a temporary file of keys") && error.hint.is_some());
    }

    #[tokio::test]
    async fn temporary_files_take_no_more_room_than_they_may() {
        let disk = DiskManagerBuilder::default().with_max_temp_directory_size(100_000);
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(GreedyMemoryPool::new(1 << 10)))
            .with_disk_manager_builder(disk);
        let context = SessionContext::new_with_config_rt(SessionConfig::new(), runtime.build_arc().unwrap()).task_ctx();
        let mut keys = CommitKeys::new(&context, true);
        let error = fill(&mut keys, 0..100_000).unwrap_err();
        assert_eq!(error.code, "out-of-memory", "{error:?}");
    }

    /// Dropped half way, as a statement that is cancelled.
    #[tokio::test]
    async fn files_go_with_their_statement() {
        let folder = tempfile::tempdir().unwrap();
        let context = context(1 << 10, in_folder(&folder));
        let mut keys = CommitKeys::new(&context, true);
        fill(&mut keys, 0..200_000).unwrap();
        assert!(files(&folder) > 0);
        let mut end = Box::pin(keys.finish());
        assert!(futures::poll!(end.as_mut()).is_pending());
        drop(end);
        assert_eq!((files(&folder), context.memory_pool().reserved()), (0, 0));
    }

    #[test]
    fn runs_keep_what_they_are_given() {
        let folder = tempfile::tempdir().unwrap();
        let context = context(0, in_folder(&folder));
        let disk = &context.runtime_env().disk_manager;
        let entry = |key: u128, row| Entry { partition: 3, key, slot: Slot { file: 9, row } };
        let given: Vec<_> = (0..10_000).map(|row| entry(u128::from(row) << 70 | 5, row)).collect();
        let mut run = RunWriter::new(disk).unwrap();
        given.iter().for_each(|entry| run.put(*entry).unwrap());
        let mut merge = Merge::new(vec![run.finish().unwrap()]).unwrap();
        let mut found = vec![];
        let stays = |entry| {
            found.push(entry);
            Ok(())
        };
        assert!(!merge.step(20_000, |_| panic!("replaced"), stays).unwrap());
        assert_eq!(found, given);
    }
}
