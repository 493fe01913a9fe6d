//! Where the newest row of every key lies, in memory that is accounted for.
//!
//! A table of keys is split by the first bits of their order, so that only a part of it is held twice while it grows, and so
//! that it can be gone through in that order with little more memory.

use std::hash::Hash;

use calve_types::{Error, Result};
use datafusion::common::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryReservation;
use hashbrown::HashMap;

use super::keys::{Keys, Slot, mix};
use super::memory::{out_of_memory, reserve};

/// A key as a map has it: evenly spread, and ordered.
pub(crate) trait MapKey: Copy + Eq + Ord + Hash + Send + Sync + 'static {
    /// Bytes of a key in a file.
    const BYTES: usize;

    /// The first bits of its order.
    fn first_bits(self) -> u32;

    /// Appends [`MapKey::BYTES`] bytes.
    fn put(self, bytes: &mut Vec<u8>);

    /// A key from as many bytes.
    fn get(bytes: &[u8]) -> Option<Self>;
}

/// A number that [`mix`] spread.
impl MapKey for u64 {
    const BYTES: usize = 8;

    fn first_bits(self) -> u32 {
        (self >> 32) as u32
    }

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }

    fn get(bytes: &[u8]) -> Option<Self> {
        Some(Self::from_le_bytes(bytes.try_into().ok()?))
    }
}

/// A hash.
impl MapKey for u128 {
    const BYTES: usize = 16;

    fn first_bits(self) -> u32 {
        (self >> 96) as u32
    }

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }

    fn get(bytes: &[u8]) -> Option<Self> {
        Some(Self::from_le_bytes(bytes.try_into().ok()?))
    }
}

/// The key of a number.
pub(crate) fn of_number(number: i64) -> u64 {
    mix(number as u64)
}

/// Parts of a table that is not small.
const SHARDS: usize = 64;

/// Keys of a table before it is split.
const SMALL: usize = 50_000;

/// Bytes that are taken without being asked for: a table that must be emptied more often than this is of no use.
const FLOOR: usize = 64 << 10;

type Shard<K> = HashMap<K, Slot, foldhash::fast::RandomState>;

/// Keys and the places of their rows.
#[derive(Debug)]
pub(crate) struct Table<K> {
    /// One or [`SHARDS`], once there is a key. Their keys follow each other in order.
    shards: Vec<Shard<K>>,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self { shards: Vec::new() }
    }
}

impl<K: MapKey> Table<K> {
    fn shard(&self, key: K) -> usize {
        ((u64::from(key.first_bits()) * self.shards.len() as u64) >> 32) as usize
    }

    /// Notes the place of the key's row; that of its earlier row.
    ///
    /// # Errors
    /// What `memory` refuses to grow by; nothing is noted then.
    pub(crate) fn put(
        &mut self,
        key: K,
        slot: Slot,
        memory: &MemoryReservation,
    ) -> Result<Option<Slot>, DataFusionError> {
        let index = self.shard(key);
        let full = self.shards.get(index).is_none_or(|shard| shard.len() == shard.capacity());
        let index = if full { self.grow(key, memory)? } else { index };
        Ok(self.shards.get_mut(index).and_then(|shard| shard.insert(key, slot)))
    }

    /// Has room for one more key; the shard where.
    #[cold]
    fn grow(&mut self, key: K, memory: &MemoryReservation) -> Result<usize, DataFusionError> {
        if self.shards.is_empty() {
            self.shards.push(Shard::default());
        }
        if let [all] = self.shards.as_mut_slice()
            && all.len() >= SMALL
        {
            let was = all.allocation_size();
            // as much as a table of twice the size
            charge(memory, was.saturating_mul(2))?;
            let room = all.len() / SHARDS * 5 / 4;
            let all = std::mem::take(all);
            self.shards = (0..SHARDS).map(|_| Shard::with_capacity_and_hasher(room, Default::default())).collect();
            for (key, slot) in all {
                let index = self.shard(key);
                if let Some(shard) = self.shards.get_mut(index) {
                    shard.insert(key, slot);
                }
            }
            let is: usize = self.shards.iter().map(Shard::allocation_size).sum();
            settle(memory, was.saturating_mul(3), is);
        }
        let index = self.shard(key);
        let Some(shard) = self.shards.get_mut(index).filter(|shard| shard.len() == shard.capacity()) else {
            return Ok(index);
        };
        // the old one stays until the new one is filled
        let was = shard.allocation_size();
        let more = was.saturating_mul(2).max(4 * size_of::<(K, Slot)>());
        charge(memory, more)?;
        shard.reserve(1);
        settle(memory, was.saturating_add(more), shard.allocation_size());
        Ok(index)
    }

    /// The place of the key's row.
    pub(crate) fn get(&self, key: K) -> Option<Slot> {
        self.shards.get(self.shard(key))?.get(&key).copied()
    }

    /// Forgets the key; the place of its row.
    pub(crate) fn remove(&mut self, key: K) -> Option<Slot> {
        let index = self.shard(key);
        self.shards.get_mut(index)?.remove(&key)
    }

    /// Takes all keys out in their order, many at a time, and frees their memory.
    ///
    /// # Errors
    /// Those of `take`.
    pub(crate) fn drain(
        &mut self,
        memory: &MemoryReservation,
        mut take: impl FnMut(&[(K, Slot)]) -> Result<()>,
    ) -> Result<()> {
        for shard in std::mem::take(&mut self.shards) {
            let was = shard.allocation_size();
            let bytes = shard.len() * size_of::<(K, Slot)>();
            // a small part of what is about to be freed
            memory.grow(bytes);
            let mut sorted: Vec<(K, Slot)> = shard.into_iter().collect();
            memory.shrink(was.min(memory.size()));
            sorted.sort_unstable_by_key(|(key, _)| *key);
            let taken = take(&sorted);
            drop(sorted);
            memory.shrink(bytes.min(memory.size()));
            taken?;
        }
        Ok(())
    }
}

/// Takes more memory, the first of it without being asked.
fn charge(memory: &MemoryReservation, more: usize) -> Result<(), DataFusionError> {
    if memory.size().saturating_add(more) <= FLOOR {
        memory.grow(more);
        return Ok(());
    }
    memory.try_grow(more)
}

/// Gives back what was taken beyond what is used.
fn settle(memory: &MemoryReservation, taken: usize, used: usize) {
    match taken.checked_sub(used) {
        Some(rest) => memory.shrink(rest.min(memory.size())),
        None => memory.grow(used - taken),
    }
}

/// The newest row of every key of an upsert by position, for as long as the table may be searched for them.
#[derive(Debug)]
pub(crate) struct KeyMap {
    numbers: Table<u64>,
    hashes: Table<u128>,
    memory: MemoryReservation,
}

impl KeyMap {
    /// Takes its memory from the statement's.
    pub(crate) fn new(context: &TaskContext) -> Self {
        let memory = reserve(context, "the keys of an upsert by position", false);
        Self { numbers: Table::default(), hashes: Table::default(), memory }
    }

    /// Notes that the row with the key at `at` lies at `slot`; the place of the earlier row with that key.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub(crate) fn put(&mut self, keys: &Keys, at: usize, slot: Slot) -> Result<Option<Slot>> {
        let put = match keys {
            Keys::Numbers(all) => all.get(at).map(|key| self.numbers.put(of_number(*key), slot, &self.memory)),
            Keys::Hashes(all) => all.get(at).map(|key| self.hashes.put(*key, slot, &self.memory)),
        };
        put.ok_or_else(|| Error::internal("a row without its key"))?.map_err(|refused| {
            out_of_memory(&refused).with_hint(
                "give the statement more with --memory-limit, or set 'calve.upsert.mode' = 'equality', which writes keys \
                 to temporary files",
            )
        })
    }

    /// Whether the key at `at` is known.
    pub(crate) fn contains(&self, keys: &Keys, at: usize) -> bool {
        match keys {
            Keys::Numbers(all) => all.get(at).is_some_and(|key| self.numbers.get(of_number(*key)).is_some()),
            Keys::Hashes(all) => all.get(at).is_some_and(|key| self.hashes.get(*key).is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::sync::Arc;

    use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryConsumer, MemoryPool};

    use super::*;

    fn slot(row: u32) -> Slot {
        Slot { file: 0, row }
    }

    #[test]
    fn a_bigint_key_takes_64_bytes_at_most_even_while_its_table_grows() {
        for keys in [5_000, 58_000, 115_000, 300_000, 917_505, 1_200_000] {
            let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(keys as usize * 64));
            let memory = MemoryConsumer::new("keys").register(&pool);
            let mut table = Table::default();
            for key in 0..keys {
                assert_eq!(table.put(of_number(key), slot(key as u32), &memory).unwrap(), None, "{key} of {keys}");
            }
            let mut held = 0;
            let mut last = None;
            table
                .drain(&memory, |sorted| {
                    assert!(sorted.is_sorted() && sorted.first().map(|(key, _)| *key) >= last);
                    last = sorted.last().map(|(key, _)| *key).or(last);
                    held += sorted.len();
                    Ok(())
                })
                .unwrap();
            assert_eq!((held, memory.size()), (keys as usize, 0));
        }
    }

    #[test]
    fn a_table_equals_a_map_and_is_as_before_where_memory_is_refused() {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(8 << 20));
        let memory = MemoryConsumer::new("keys").register(&pool);
        let (mut table, mut model) = (Table::<u128>::default(), std::collections::HashMap::new());
        let mut refused = false;
        for row in 0..600_000_u32 {
            let key = u128::from(mix(u64::from(row) * 7 % 400_009)) << 64 | u128::from(row % 3);
            if row % 5 == 4 {
                assert_eq!(table.remove(key), model.remove(&key));
                continue;
            }
            match table.put(key, slot(row), &memory) {
                Ok(earlier) => assert_eq!(earlier, model.insert(key, slot(row))),
                Err(_) => {
                    refused = true;
                    assert_eq!(table.get(key), model.get(&key).copied());
                }
            }
        }
        assert!(refused && memory.size() <= 8 << 20);
        assert!(model.iter().all(|(key, slot)| table.get(*key) == Some(*slot)));
        let mut all = vec![];
        table
            .drain(&memory, |sorted| {
                all.extend_from_slice(sorted);
                Ok(())
            })
            .unwrap();
        assert!(all.is_sorted() && all.len() == model.len());
        assert!(all.iter().all(|(key, slot)| model.get(key) == Some(slot)));
    }
}
