//! Primary keys of rows as fixed-size values.

use std::hash::BuildHasher;

use arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Int32Type, Int64Type, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use arrow::row::{RowConverter, SortField};
use calve_types::{Error, Result};
use iceberg::spec::NestedFieldRef;

use super::fanout::FileNumber;
use crate::error::Context;

/// The keys of some rows, in their order.
#[derive(Clone, Debug)]
pub(crate) enum Keys {
    /// One column that fits an integer: the key itself.
    Numbers(Vec<i64>),
    /// Anything else: 128 bits of hash with seeds of this process, so that nobody can choose keys that collide. With a
    /// billion keys two of them collide with a probability of 1 in 10^21.
    Hashes(Vec<u128>),
}

impl Keys {
    /// The keys of the rows at `indices`.
    pub(crate) fn take(&self, indices: &UInt32Array) -> Self {
        fn pick<T: Copy + Default>(all: &[T], indices: &UInt32Array) -> Vec<T> {
            indices.values().iter().map(|i| all.get(*i as usize).copied().unwrap_or_default()).collect()
        }
        match self {
            Self::Numbers(all) => Self::Numbers(pick(all, indices)),
            Self::Hashes(all) => Self::Hashes(pick(all, indices)),
        }
    }

    /// The writer of every row: the same for equal keys.
    pub(crate) fn writers(&self, count: usize) -> Vec<usize> {
        let count = count.max(1) as u64;
        match self {
            Self::Numbers(all) => all.iter().map(|key| (mix(*key as u64) % count) as usize).collect(),
            Self::Hashes(all) => all.iter().map(|key| ((key >> 64) as u64 % count) as usize).collect(),
        }
    }
}

/// Spreads neighbouring numbers (splitmix64); no two become one.
pub(crate) fn mix(mut key: u64) -> u64 {
    key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

#[derive(Debug)]
enum Kind {
    Number,
    Bytes,
    Rows(RowConverter),
}

/// Makes [`Keys`] from the key columns of a batch.
#[derive(Debug)]
pub(crate) struct KeyEncoder {
    kind: Kind,
    columns: Vec<NestedFieldRef>,
    seeds: [foldhash::quality::RandomState; 2],
}

impl KeyEncoder {
    /// For batches of the key columns, in this order.
    ///
    /// # Errors
    /// As [`crate::schema::to_arrow`].
    pub(crate) fn new(columns: &[NestedFieldRef]) -> Result<Self> {
        let types = columns
            .iter()
            .map(|c| Ok(crate::schema::arrow_field(c)?.data_type().clone()))
            .collect::<Result<Vec<_>>>()?;
        let kind = match types.as_slice() {
            [
                ArrowType::Int32
                | ArrowType::Int64
                | ArrowType::Date32
                | ArrowType::Time64(TimeUnit::Microsecond)
                | ArrowType::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, _),
            ] => Kind::Number,
            [ArrowType::Utf8 | ArrowType::Binary] => Kind::Bytes,
            _ => {
                let fields = types.into_iter().map(SortField::new).collect();
                Kind::Rows(RowConverter::new(fields).context(|| "compare keys")?)
            }
        };
        Ok(Self { kind, columns: columns.to_vec(), seeds: Default::default() })
    }

    /// The keys of all rows.
    ///
    /// # Errors
    /// `null-in-not-null` if a key column has NULL.
    pub(crate) fn encode(&self, arrays: &[ArrayRef]) -> Result<Keys> {
        for (array, column) in arrays.iter().zip(&self.columns) {
            if array.logical_null_count() > 0 {
                let name = &column.name;
                return Err(Error::new(
                    "null-in-not-null",
                    format!("column '{name}' of the primary key has NULL in a row"),
                )
                .with_detail(format!("Column '{name}' is NOT NULL, however, a null value is being written into it.")));
            }
        }
        let first = arrays.first().ok_or_else(|| Error::internal("a key without columns"))?;
        let wrong = || Error::internal(format!("a key column of Arrow's type {}", first.data_type()));
        Ok(match &self.kind {
            Kind::Number => Keys::Numbers(numbers(first).ok_or_else(wrong)?),
            Kind::Bytes => Keys::Hashes(match first.data_type() {
                ArrowType::Utf8 => {
                    first.as_string::<i32>().iter().map(|v| self.hash(v.unwrap_or_default().as_bytes())).collect()
                }
                ArrowType::Binary => {
                    first.as_binary::<i32>().iter().map(|v| self.hash(v.unwrap_or_default())).collect()
                }
                _ => return Err(wrong()),
            }),
            Kind::Rows(converter) => {
                let rows = converter.convert_columns(arrays).context(|| "compare keys")?;
                Keys::Hashes(rows.iter().map(|row| self.hash(row.as_ref())).collect())
            }
        })
    }

    fn hash(&self, bytes: &[u8]) -> u128 {
        let [high, low] = &self.seeds;
        (u128::from(high.hash_one(bytes)) << 64) | u128::from(low.hash_one(bytes))
    }
}

fn numbers(array: &ArrayRef) -> Option<Vec<i64>> {
    Some(match array.data_type() {
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
        _ => return None,
    })
}

/// Where a row lies. Files end before their positions leave 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    pub(crate) file: FileNumber,
    pub(crate) row: u32,
}

/// The place of a row that is no more.
pub(crate) const GONE: Slot = Slot { file: u32::MAX, row: u32::MAX };
