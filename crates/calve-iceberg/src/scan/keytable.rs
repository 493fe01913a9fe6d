//! Deleted keys: key -> the newest sequence number it was deleted with.

use std::hash::BuildHasher;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder, UInt32Array};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow::row::{RowConverter, SortField};
use calve_types::{Error, Result};
use foldhash::fast::RandomState;
use hashbrown::hash_table::Entry;
use hashbrown::{HashMap, HashTable};

use crate::error::Context;

/// The deleted keys of one set of equality columns. NULL equals NULL, as Iceberg demands.
#[derive(Debug)]
pub(crate) enum KeyTable {
    /// One column that fits an integer.
    Numbers(Numbers),
    /// Anything else: found by a hash of the columns, then compared exactly.
    Rows(Box<Rows>),
}

/// Integers to sequence numbers.
#[derive(Debug)]
pub(crate) struct Numbers {
    deleted: HashMap<i64, i64, RandomState>,
    null: Option<i64>,
    min: i64,
    max: i64,
}

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
    /// An empty table for key columns of these types.
    ///
    /// # Errors
    /// `not-supported` for types that cannot be keys.
    pub(crate) fn new(types: &[ArrowType]) -> Result<Self> {
        if let [
            ArrowType::Int32
            | ArrowType::Int64
            | ArrowType::Date32
            | ArrowType::Time64(TimeUnit::Microsecond)
            | ArrowType::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, _),
        ] = types
        {
            let (min, max) = (i64::MAX, i64::MIN);
            return Ok(Self::Numbers(Numbers { deleted: HashMap::default(), null: None, min, max }));
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
            Self::Numbers(table) => table.deleted.allocation_size(),
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
    fn add(&mut self, keys: &Integers, sequence: i64) {
        self.deleted.reserve(keys.values.len());
        for (i, key) in keys.values.iter().enumerate() {
            if keys.array.is_null(i) {
                self.null = self.null.max(Some(sequence));
                continue;
            }
            self.min = self.min.min(*key);
            self.max = self.max.max(*key);
            let newest = self.deleted.entry(*key).or_insert(sequence);
            *newest = sequence.max(*newest);
        }
    }

    fn live(&self, keys: &Integers, sequence: i64) -> Option<BooleanArray> {
        let nullable = keys.array.null_count() > 0;
        let mut all = true;
        let live = BooleanBuffer::collect_bool(keys.values.len(), |i| {
            let Some(key) = keys.values.get(i) else { return true };
            let newest = if nullable && keys.array.is_null(i) {
                self.null
            } else if *key < self.min || *key > self.max {
                None
            } else {
                self.deleted.get(key).copied()
            };
            let lives = newest.is_none_or(|newest| newest <= sequence);
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
    values: Vec<i64>,
}

fn numbers(columns: &[ArrayRef]) -> Result<Integers> {
    let [array] = columns else { return Err(Error::internal("more than one column in a key of one")) };
    let values = match array.data_type() {
        ArrowType::Int32 => array.as_primitive::<Int32Type>().values().iter().map(|v| i64::from(*v)).collect(),
        ArrowType::Date32 => array.as_primitive::<Date32Type>().values().iter().map(|v| i64::from(*v)).collect(),
        ArrowType::Int64 => array.as_primitive::<Int64Type>().values().to_vec(),
        ArrowType::Time64(TimeUnit::Microsecond) => array.as_primitive::<Time64MicrosecondType>().values().to_vec(),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            array.as_primitive::<TimestampMicrosecondType>().values().to_vec()
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            array.as_primitive::<TimestampNanosecondType>().values().to_vec()
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
        let mut numbers = KeyTable::new(&[ArrowType::Int64]).unwrap();
        let mut rows = KeyTable::new(&[ArrowType::Int64, ArrowType::Utf8]).unwrap();
        for (sequence, id) in [(3, Some(1)), (5, Some(2)), (3, Some(2)), (4, None)] {
            numbers.add(&[ids(vec![id])], sequence).unwrap();
            rows.add(&[ids(vec![id]), names(vec![Some("a")])], sequence).unwrap();
        }
        let some = ids(vec![Some(1), Some(2), None, Some(7)]);
        let pair = [some.clone(), names(vec![Some("a"); 4])];
        for (sequence, expected) in [
            (2, [false, false, false, true]),
            (3, [true, false, false, true]),
            (4, [true, false, true, true]),
            (5, [true, true, true, true]),
        ] {
            assert_eq!(live(&numbers, std::slice::from_ref(&some), sequence), expected, "{sequence}");
            assert_eq!(live(&rows, &pair, sequence), expected, "{sequence}");
        }
        assert_eq!(live(&rows, &[some, names(vec![Some("b"), None, None, Some("a")])], 0), [true; 4]);
    }
}
