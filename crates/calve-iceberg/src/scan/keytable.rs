//! Deleted keys: key -> the newest sequence number it was deleted with.

use std::hash::BuildHasher;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder, UInt32Array};
use arrow::buffer::{BooleanBuffer, ScalarBuffer};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow::row::{RowConverter, SortField};
use calve_types::{Error, Result};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::error::Context;

/// The deleted keys of one set of equality columns. NULL equals NULL, as Iceberg demands.
#[derive(Debug)]
pub(crate) enum KeyTable {
    /// One column that fits an integer.
    Numbers(Numbers),
    /// Anything else: found by a hash of the columns, then compared exactly.
    Rows(Box<Rows>),
}

/// What is known of the deleted keys before they are read.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    /// How many rows the delete files have.
    pub(crate) rows: u64,
    /// The least and the greatest key, if it is a number and all files say.
    pub(crate) range: Option<(i64, i64)>,
    /// The sequence numbers of the files.
    pub(crate) sequences: Vec<i64>,
}

impl Expected {
    /// Bytes that a table takes from the beginning, at most.
    pub(crate) fn bytes(&self) -> usize {
        self.places().saturating_mul(size_of::<u16>())
    }

    /// How many numbers stand in a row: those of the range, where they are dense.
    fn places(&self) -> usize {
        let (first, last) = self.range.unwrap_or((0, -1));
        let places = last.checked_sub(first).and_then(|span| u64::try_from(span.checked_add(1)?).ok()).unwrap_or(0);
        let dense = places <= self.rows.saturating_mul(PLACES_PER_KEY) && self.sequences.len() < usize::from(u16::MAX);
        usize::try_from(places).ok().filter(|places| dense && *places <= MOST_PLACES).unwrap_or(0)
    }
}

/// Integers to the newest sequence number they were deleted with, which is kept as its [`Numbers::rank`].
#[derive(Debug)]
pub(crate) struct Numbers {
    /// The ranks of the numbers from `first` on, where keys are dense: data files are often sorted by their keys, and their
    /// ranks are then read one after the other.
    ranks: Vec<u16>,
    first: i64,
    /// All other numbers, found by hash.
    others: HashTable<(i64, u32)>,
    state: RandomState,
    null: u32,
    /// Ascending.
    sequences: Vec<i64>,
}

/// Numbers stand in a row of ranks if that has at most so many places for each: in `others` one takes 20 to 40 bytes.
const PLACES_PER_KEY: u64 = 24;

/// No more, whatever is expected: a damaged manifest may promise more rows than there is memory.
const MOST_PLACES: usize = 1 << 28;

/// Row-format keys to sequence numbers.
#[derive(Debug)]
pub(crate) struct Rows {
    converter: RowConverter,
    entries: Vec<RowEntry>,
    bytes: Vec<u8>,
    by_hash: HashTable<usize>,
    state: RandomState,
}

#[derive(Debug)]
struct RowEntry {
    hash: u64,
    start: usize,
    length: usize,
    sequence: i64,
}

impl KeyTable {
    /// An empty table for key columns of these types. What is expected may be wrong, but for the sequence numbers.
    ///
    /// # Errors
    /// `not-supported` for types that cannot be keys.
    pub(crate) fn new(types: &[ArrowType], expected: Expected) -> Result<Self> {
        if let [
            ArrowType::Int32
            | ArrowType::Int64
            | ArrowType::Date32
            | ArrowType::Time64(TimeUnit::Microsecond)
            | ArrowType::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, _),
        ] = types
        {
            return Ok(Self::Numbers(Numbers::new(expected)));
        }
        if let Some(other) = types.iter().find(|t| t.is_nested()) {
            return Err(Error::unsupported(format!("equality deletes by a column of type {other}")));
        }
        let fields = types.iter().map(|t| SortField::new(t.clone())).collect();
        let converter = RowConverter::new(fields).context(|| "compare the keys of equality deletes")?;
        Ok(Self::Rows(Box::new(Rows {
            converter,
            entries: Vec::new(),
            bytes: Vec::new(),
            by_hash: HashTable::new(),
            state: RandomState::default(),
        })))
    }

    /// Bytes of memory in use.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Numbers(table) => table.others.allocation_size() + table.ranks.capacity() * size_of::<u16>(),
            Self::Rows(table) => {
                table.bytes.capacity()
                    + table.entries.capacity() * size_of::<RowEntry>()
                    + table.by_hash.allocation_size()
            }
        }
    }

    /// Adds the keys of a delete file with a sequence number.
    ///
    /// # Errors
    /// Internal: columns of other types than the table was made for.
    pub(crate) fn add(&mut self, columns: &[ArrayRef], sequence: i64) -> Result<()> {
        match self {
            Self::Numbers(table) => table.add(&numbers(columns)?, sequence),
            Self::Rows(table) => table.add(columns, sequence)?,
        }
        Ok(())
    }

    /// Which rows of a data file with the sequence number `sequence` live; `None` if all do. A key is deleted by deletes
    /// with a strictly greater sequence number.
    ///
    /// # Errors
    /// Internal: columns of other types than the table was made for.
    pub(crate) fn live(&self, columns: &[ArrayRef], sequence: i64) -> Result<Option<BooleanArray>> {
        match self {
            Self::Numbers(table) => Ok(table.live(&numbers(columns)?, sequence)),
            Self::Rows(table) => table.live(columns, sequence),
        }
    }
}

impl Numbers {
    fn new(expected: Expected) -> Self {
        let (ranks, first) = (vec![0; expected.places()], expected.range.map_or(0, |(first, _)| first));
        let mut sequences = expected.sequences;
        sequences.sort_unstable();
        sequences.dedup();
        let (others, state) = (HashTable::new(), RandomState::default());
        Self { ranks, first, others, state, null: 0, sequences }
    }

    /// How many sequence numbers of deletes are not greater.
    fn rank(&self, sequence: i64) -> u32 {
        u32::try_from(self.sequences.partition_point(|s| *s <= sequence)).unwrap_or(u32::MAX)
    }

    /// The place of a number in the row of ranks; too large if it has none.
    fn place(&self, key: i64) -> usize {
        usize::try_from(key.wrapping_sub(self.first) as u64).unwrap_or(usize::MAX)
    }

    fn add(&mut self, keys: &Integers, sequence: i64) {
        let rank = self.rank(sequence);
        // there is no row of ranks where it does not fit
        let small = u16::try_from(rank).unwrap_or(u16::MAX);
        let nullable = keys.array.null_count() > 0;
        for (i, key) in keys.values.iter().enumerate() {
            let place = self.place(*key);
            if nullable && keys.array.is_null(i) {
                self.null = rank.max(self.null);
            } else if let Some(newest) = self.ranks.get_mut(place) {
                *newest = small.max(*newest);
            } else {
                let hash = self.state.hash_one(key);
                let state = &self.state;
                let entry = self.others.entry(hash, |(other, _)| other == key, |(other, _)| state.hash_one(other));
                let (_, newest) = entry.or_insert((*key, rank)).into_mut();
                *newest = rank.max(*newest);
            }
        }
    }

    fn live(&self, keys: &Integers, sequence: i64) -> Option<BooleanArray> {
        let rank = self.rank(sequence);
        let nullable = keys.array.null_count() > 0;
        let mut all = true;
        let live = BooleanBuffer::collect_bool(keys.values.len(), |i| {
            let Some(key) = keys.values.get(i) else { return true };
            let newest = if nullable && keys.array.is_null(i) {
                self.null
            } else if let Some(newest) = self.ranks.get(self.place(*key)) {
                u32::from(*newest)
            } else {
                let hash = self.state.hash_one(key);
                self.others.find(hash, |(other, _)| other == key).map_or(0, |(_, rank)| *rank)
            };
            let lives = newest <= rank;
            all &= lives;
            lives
        });
        (!all).then(|| BooleanArray::new(live, None))
    }
}

impl Rows {
    fn add(&mut self, columns: &[ArrayRef], sequence: i64) -> Result<()> {
        let rows = self.converter.convert_columns(columns).context(|| "compare the keys of equality deletes")?;
        let hashes = hashes(columns, &self.state)?;
        for (row, hash) in rows.iter().zip(hashes) {
            let key = row.as_ref();
            let (entries, bytes) = (&self.entries, &self.bytes);
            let slot = self.by_hash.entry(
                hash,
                |i| entries.get(*i).is_some_and(|e| e.hash == hash && e.key(bytes) == key),
                |i| entries.get(*i).map_or(0, |e| e.hash),
            );
            match slot {
                Entry::Occupied(found) => {
                    if let Some(entry) = self.entries.get_mut(*found.get()) {
                        entry.sequence = entry.sequence.max(sequence);
                    }
                }
                Entry::Vacant(free) => {
                    free.insert(self.entries.len());
                    self.entries.push(RowEntry { hash, start: self.bytes.len(), length: key.len(), sequence });
                    self.bytes.extend_from_slice(key);
                }
            }
        }
        Ok(())
    }

    fn live(&self, columns: &[ArrayRef], sequence: i64) -> Result<Option<BooleanArray>> {
        let hashes = hashes(columns, &self.state)?;
        let same_hash = |hash: u64| move |i: &usize| self.entries.get(*i).is_some_and(|e| e.hash == hash);
        let hits: Vec<u32> = (0u32..)
            .zip(&hashes)
            .filter(|(_, hash)| self.by_hash.find(**hash, same_hash(**hash)).is_some())
            .map(|(row, _)| row)
            .collect();
        if hits.is_empty() {
            return Ok(None);
        }
        // few rows have the hash of a deleted key; only they are worth a comparison
        let hits = UInt32Array::from(hits);
        let what = || "compare the keys of equality deletes";
        let keys = columns
            .iter()
            .map(|c| arrow::compute::take(c, &hits, None))
            .collect::<std::result::Result<Vec<_>, _>>()
            .context(what)?;
        let keys = self.converter.convert_columns(&keys).context(what)?;
        let mut live = BooleanBufferBuilder::new(hashes.len());
        live.append_n(hashes.len(), true);
        let mut all = true;
        for (row, key) in hits.values().iter().zip(keys.iter()) {
            let row = *row as usize;
            let Some(hash) = hashes.get(row).copied() else { continue };
            let found = self.by_hash.find(hash, |i| {
                self.entries.get(*i).is_some_and(|e| e.hash == hash && e.key(&self.bytes) == key.as_ref())
            });
            if found.and_then(|i| self.entries.get(*i)).is_some_and(|e| e.sequence > sequence) {
                live.set_bit(row, false);
                all = false;
            }
        }
        Ok((!all).then(|| BooleanArray::new(live.finish(), None)))
    }
}

impl RowEntry {
    fn key<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes.get(self.start..self.start + self.length).unwrap_or_default()
    }
}

struct Integers {
    array: ArrayRef,
    values: ScalarBuffer<i64>,
}

fn numbers(columns: &[ArrayRef]) -> Result<Integers> {
    let [array] = columns else { return Err(Error::internal("more than one column in a key of one")) };
    let values = match array.data_type() {
        ArrowType::Int32 => array.as_primitive::<Int32Type>().values().iter().map(|v| i64::from(*v)).collect(),
        ArrowType::Date32 => array.as_primitive::<Date32Type>().values().iter().map(|v| i64::from(*v)).collect(),
        ArrowType::Int64 => array.as_primitive::<Int64Type>().values().clone(),
        ArrowType::Time64(TimeUnit::Microsecond) => array.as_primitive::<Time64MicrosecondType>().values().clone(),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            array.as_primitive::<TimestampMicrosecondType>().values().clone()
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            array.as_primitive::<TimestampNanosecondType>().values().clone()
        }
        other => return Err(Error::internal(format!("a key of type {other} is not a number"))),
    };
    Ok(Integers { array: array.clone(), values })
}

/// One hash per row. Equal rows have equal hashes.
fn hashes(columns: &[ArrayRef], state: &RandomState) -> Result<Vec<u64>> {
    let rows = columns.first().map_or(0, |c| c.len());
    let mut hashes = vec![0u64; rows];
    for column in columns {
        macro_rules! each {
            ($values:expr, $image:expr) => {
                for (hash, value) in hashes.iter_mut().zip($values.iter()) {
                    // NULL is a value of its own
                    *hash = match value {
                        Some(value) => state.hash_one((*hash, $image(value))),
                        None => state.hash_one((*hash, u8::MAX)),
                    };
                }
            };
        }
        match column.data_type() {
            ArrowType::Boolean => each!(column.as_boolean(), |v: bool| u64::from(v)),
            ArrowType::Int32 => each!(column.as_primitive::<Int32Type>(), |v: i32| v),
            ArrowType::Int64 => each!(column.as_primitive::<Int64Type>(), |v: i64| v),
            ArrowType::Date32 => each!(column.as_primitive::<Date32Type>(), |v: i32| v),
            ArrowType::Float32 => each!(column.as_primitive::<Float32Type>(), f32::to_bits),
            ArrowType::Float64 => each!(column.as_primitive::<Float64Type>(), f64::to_bits),
            ArrowType::Decimal128(..) => each!(column.as_primitive::<Decimal128Type>(), |v: i128| v),
            ArrowType::Time64(TimeUnit::Microsecond) => {
                each!(column.as_primitive::<Time64MicrosecondType>(), |v: i64| v);
            }
            ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
                each!(column.as_primitive::<TimestampMicrosecondType>(), |v: i64| v);
            }
            ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
                each!(column.as_primitive::<TimestampNanosecondType>(), |v: i64| v);
            }
            ArrowType::Utf8 => each!(column.as_string::<i32>(), str::as_bytes),
            ArrowType::Binary => each!(column.as_binary::<i32>(), |v| v),
            other => return Err(Error::unsupported(format!("equality deletes by a column of type {other}"))),
        }
    }
    Ok(hashes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::sync::Arc;

    use arrow::array::{Int64Array, StringArray};

    use super::*;

    fn live(table: &KeyTable, columns: &[ArrayRef], sequence: i64) -> Vec<bool> {
        let rows = columns[0].len();
        let live = table.live(columns, sequence).unwrap();
        (0..rows).map(|i| live.as_ref().is_none_or(|live| live.value(i))).collect()
    }

    #[test]
    fn only_deletes_with_a_greater_sequence_number_hit() {
        let ids = |v: Vec<Option<i64>>| -> ArrayRef { Arc::new(Int64Array::from(v)) };
        let names = |v: Vec<Option<&str>>| -> ArrayRef { Arc::new(StringArray::from(v)) };
        let expected = |range| Expected { rows: 4, range, sequences: vec![3, 5, 3, 4] };
        // dense ones, sparse ones, and one that lies outside of what was promised
        let ranges = [Some((1, 2)), None, Some((2, 2)), Some((i64::MIN, i64::MAX)), Some((2, 1))];
        let mut tables: Vec<_> =
            ranges.into_iter().map(|range| KeyTable::new(&[ArrowType::Int64], expected(range)).unwrap()).collect();
        let mut rows = KeyTable::new(&[ArrowType::Int64, ArrowType::Utf8], expected(None)).unwrap();
        for (sequence, id) in [(3, Some(1)), (5, Some(2)), (3, Some(2)), (4, None)] {
            for table in &mut tables {
                table.add(&[ids(vec![id])], sequence).unwrap();
            }
            rows.add(&[ids(vec![id]), names(vec![Some("a")])], sequence).unwrap();
        }
        let some = ids(vec![Some(1), Some(2), None, Some(7), Some(i64::MIN), Some(i64::MAX)]);
        let pair = [some.clone(), names(vec![Some("a"); 6])];
        for (sequence, expected) in [
            (2, [false, false, false, true, true, true]),
            (3, [true, false, false, true, true, true]),
            (4, [true, false, true, true, true, true]),
            (5, [true, true, true, true, true, true]),
        ] {
            for table in &tables {
                assert_eq!(live(table, std::slice::from_ref(&some), sequence), expected, "{sequence} {table:?}");
            }
            assert_eq!(live(&rows, &pair, sequence), expected, "{sequence}");
        }
        let other = names(vec![Some("b"), None, None, Some("a"), None, None]);
        assert_eq!(live(&rows, &[some, other], 0), [true; 6]);
    }
}
