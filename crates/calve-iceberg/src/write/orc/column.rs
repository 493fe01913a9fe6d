//! The columns of a stripe: arrays to streams (ORC specification, "Column Encodings").

use std::borrow::Cow;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use calve_types::{Error, Result};
use iceberg::spec::{NestedField, NestedFieldRef, PrimitiveType, Type};
use orc_rust::proto::stream::Kind;

use super::streams::{Bits, Integers, varint};
use crate::write::avro::null_in_required;

/// Seconds from 1970 to 2015, where ORC's timestamps begin.
const EPOCH: i64 = 1_420_070_400;

/// A column and those within it.
#[derive(Debug)]
pub(super) struct Column {
    field: NestedFieldRef,
    present: Bits,
    /// Whether the stripe has a NULL.
    nulls: bool,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Boolean(Bits),
    Integer(Integers),
    /// Numbers as they are in memory.
    Plain(Vec<u8>),
    Bytes {
        data: Vec<u8>,
        lengths: Integers,
    },
    Decimal {
        data: Vec<u8>,
        scales: Integers,
        scale: i64,
    },
    Timestamp {
        seconds: Integers,
        nanos: Integers,
    },
    Struct(Vec<Column>),
    List {
        lengths: Integers,
        child: Box<Column>,
    },
    Map {
        lengths: Integers,
        parts: Box<(Column, Column)>,
    },
}

/// Streams of the columns in their order: the place of a column among all, what it is, its bytes.
pub(super) type Streams = Vec<(u32, Kind, Vec<u8>)>;

impl Column {
    pub(super) fn new(field: &NestedFieldRef) -> Self {
        let values = match field.field_type.as_ref() {
            Type::Struct(nested) => Values::Struct(nested.fields().iter().map(Self::new).collect()),
            Type::List(list) => {
                Values::List { lengths: Integers::new(false), child: Box::new(Self::new(&list.element_field)) }
            }
            Type::Map(map) => Values::Map {
                lengths: Integers::new(false),
                parts: Box::new((Self::new(&map.key_field), Self::new(&map.value_field))),
            },
            Type::Primitive(primitive) => match primitive {
                PrimitiveType::Boolean => Values::Boolean(Bits::default()),
                PrimitiveType::Int | PrimitiveType::Long | PrimitiveType::Date | PrimitiveType::Time => {
                    Values::Integer(Integers::new(true))
                }
                PrimitiveType::Float | PrimitiveType::Double => Values::Plain(Vec::new()),
                PrimitiveType::Timestamp
                | PrimitiveType::Timestamptz
                | PrimitiveType::TimestampNs
                | PrimitiveType::TimestamptzNs => {
                    Values::Timestamp { seconds: Integers::new(true), nanos: Integers::new(false) }
                }
                PrimitiveType::Decimal { scale, .. } => {
                    Values::Decimal { data: Vec::new(), scales: Integers::new(true), scale: i64::from(*scale) }
                }
                PrimitiveType::String | PrimitiveType::Binary | PrimitiveType::Uuid | PrimitiveType::Fixed(_) => {
                    Values::Bytes { data: Vec::new(), lengths: Integers::new(false) }
                }
            },
        };
        Self { field: field.clone(), present: Bits::default(), nulls: false, values }
    }

    /// Appends the values of some rows of an array in the types of [`crate::write::parquet_schema::physical_arrow`].
    ///
    /// # Errors
    /// `null-in-not-null`; `invalid-value` for a timestamp that ORC cannot store; internal for other types.
    pub(super) fn write(&mut self, array: &ArrayRef, rows: &[usize]) -> Result<()> {
        let field = self.field.clone();
        let live: Cow<'_, [usize]> = match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => {
                rows.iter().for_each(|_| self.present.push(true));
                Cow::Borrowed(rows)
            }
            Some(nulls) => {
                rows.iter().for_each(|row| self.present.push(nulls.is_valid(*row)));
                let live: Vec<usize> = rows.iter().copied().filter(|row| nulls.is_valid(*row)).collect();
                if live.len() < rows.len() {
                    self.nulls = true;
                    if field.required {
                        return Err(null_in_required(&field.name));
                    }
                }
                Cow::Owned(live)
            }
        };
        self.values.write(&field, array, &live)
    }

    /// Bytes of the streams so far.
    pub(super) fn len(&self) -> usize {
        let values = match &self.values {
            Values::Boolean(bits) => bits.len(),
            Values::Integer(numbers) => numbers.len(),
            Values::Plain(data) => data.len(),
            Values::Bytes { data, lengths } => data.len() + lengths.len(),
            Values::Decimal { data, scales, .. } => data.len() + scales.len(),
            Values::Timestamp { seconds, nanos } => seconds.len() + nanos.len(),
            Values::Struct(children) => children.iter().map(Self::len).sum(),
            Values::List { lengths, child } => lengths.len() + child.len(),
            Values::Map { lengths, parts } => lengths.len() + parts.0.len() + parts.1.len(),
        };
        self.present.len() + values
    }

    /// Ends the stripe: appends the streams of this column and those within it. `next` is the place of this column, and then
    /// of the one behind it.
    pub(super) fn finish(&mut self, next: &mut u32, streams: &mut Streams) {
        let place = *next;
        *next += 1;
        let present = self.present.take();
        if std::mem::take(&mut self.nulls) {
            streams.push((place, Kind::Present, present));
        }
        match &mut self.values {
            Values::Boolean(bits) => streams.push((place, Kind::Data, bits.take())),
            Values::Integer(numbers) => streams.push((place, Kind::Data, numbers.take())),
            Values::Plain(data) => streams.push((place, Kind::Data, std::mem::take(data))),
            Values::Bytes { data, lengths } => {
                streams.push((place, Kind::Data, std::mem::take(data)));
                streams.push((place, Kind::Length, lengths.take()));
            }
            Values::Decimal { data, scales, .. } => {
                streams.push((place, Kind::Data, std::mem::take(data)));
                streams.push((place, Kind::Secondary, scales.take()));
            }
            Values::Timestamp { seconds, nanos } => {
                streams.push((place, Kind::Data, seconds.take()));
                streams.push((place, Kind::Secondary, nanos.take()));
            }
            Values::Struct(children) => children.iter_mut().for_each(|child| child.finish(next, streams)),
            Values::List { lengths, child } => {
                streams.push((place, Kind::Length, lengths.take()));
                child.finish(next, streams);
            }
            Values::Map { lengths, parts } => {
                streams.push((place, Kind::Length, lengths.take()));
                parts.0.finish(next, streams);
                parts.1.finish(next, streams);
            }
        }
    }
}

impl Values {
    fn write(&mut self, field: &NestedField, array: &ArrayRef, rows: &[usize]) -> Result<()> {
        let mismatch = || Error::internal(format!("column '{}' has Arrow's type {}", field.name, array.data_type()));
        match self {
            Self::Boolean(bits) => {
                let values = array.as_boolean_opt().ok_or_else(mismatch)?;
                rows.iter().for_each(|row| bits.push(values.value(*row)));
            }
            Self::Integer(numbers) => match array.data_type() {
                ArrowType::Int32 | ArrowType::Date32 => {
                    let values = match array.as_primitive_opt::<Int32Type>() {
                        Some(values) => values.values(),
                        None => array.as_primitive_opt::<Date32Type>().ok_or_else(mismatch)?.values(),
                    };
                    rows.iter().filter_map(|row| values.get(*row)).for_each(|value| numbers.push(i64::from(*value)));
                }
                _ => {
                    let values = match array.as_primitive_opt::<Int64Type>() {
                        Some(values) => values.values(),
                        None => array.as_primitive_opt::<Time64MicrosecondType>().ok_or_else(mismatch)?.values(),
                    };
                    rows.iter().filter_map(|row| values.get(*row)).for_each(|value| numbers.push(*value));
                }
            },
            Self::Plain(data) => {
                if let Some(values) = array.as_primitive_opt::<Float32Type>() {
                    rows.iter().for_each(|row| data.extend_from_slice(&values.value(*row).to_le_bytes()));
                } else {
                    let values = array.as_primitive_opt::<Float64Type>().ok_or_else(mismatch)?;
                    rows.iter().for_each(|row| data.extend_from_slice(&values.value(*row).to_le_bytes()));
                }
            }
            Self::Bytes { data, lengths } => {
                let mut add = |bytes: &[u8]| {
                    data.extend_from_slice(bytes);
                    lengths.push(bytes.len() as i64);
                };
                match array.data_type() {
                    ArrowType::Utf8 => {
                        let values = array.as_string_opt::<i32>().ok_or_else(mismatch)?;
                        rows.iter().for_each(|row| add(values.value(*row).as_bytes()));
                    }
                    ArrowType::Binary => {
                        let values = array.as_binary_opt::<i32>().ok_or_else(mismatch)?;
                        rows.iter().for_each(|row| add(values.value(*row)));
                    }
                    _ => {
                        let values = array.as_fixed_size_binary_opt().ok_or_else(mismatch)?;
                        rows.iter().for_each(|row| add(values.value(*row)));
                    }
                }
            }
            Self::Decimal { data, scales, scale } => {
                let values = array.as_primitive_opt::<Decimal128Type>().ok_or_else(mismatch)?;
                for row in rows {
                    let value = values.value(*row);
                    varint(((value << 1) ^ (value >> 127)) as u128, data);
                    scales.push(*scale);
                }
            }
            Self::Timestamp { seconds, nanos } => {
                let (values, per_second) = match array.data_type() {
                    ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
                        let values = array.as_primitive_opt::<TimestampMicrosecondType>().ok_or_else(mismatch)?;
                        (values.values(), 1_000_000)
                    }
                    _ => {
                        let values = array.as_primitive_opt::<TimestampNanosecondType>().ok_or_else(mismatch)?;
                        (values.values(), 1_000_000_000)
                    }
                };
                for value in rows.iter().filter_map(|row| values.get(*row)) {
                    let parts = timestamp(*value, per_second);
                    let (second, fraction) = parts.ok_or_else(|| not_in_orc(&field.name))?;
                    seconds.push(second);
                    nanos.push(fraction);
                }
            }
            Self::Struct(children) => {
                let array = array.as_struct_opt().ok_or_else(mismatch)?;
                if array.num_columns() != children.len() {
                    return Err(mismatch());
                }
                for (child, array) in children.iter_mut().zip(array.columns()) {
                    child.write(array, rows)?;
                }
            }
            Self::List { lengths, child } => {
                let array = array.as_list_opt::<i32>().ok_or_else(mismatch)?;
                child.write(array.values(), &items(array.offsets(), rows, lengths))?;
            }
            Self::Map { lengths, parts } => {
                let array = array.as_map_opt().ok_or_else(mismatch)?;
                let items = items(array.offsets(), rows, lengths);
                parts.0.write(array.keys(), &items)?;
                parts.1.write(array.values(), &items)?;
            }
        }
        Ok(())
    }
}

/// The places of the items of some rows, whose lengths are appended.
fn items(offsets: &[i32], rows: &[usize], lengths: &mut Integers) -> Vec<usize> {
    let mut items = Vec::new();
    for row in rows {
        let bound = |at: usize| offsets.get(at).and_then(|offset| usize::try_from(*offset).ok()).unwrap_or(0);
        let (start, end) = (bound(*row), bound(row + 1));
        lengths.push(end.saturating_sub(start) as i64);
        items.extend(start..end);
    }
    items
}

/// Seconds since ORC's epoch, and the encoded nanoseconds. Writers cut the seconds of times before 1970 towards zero and
/// readers correct it by one if there are nanoseconds of a millisecond or more (ORC-763): that way they lose the last second
/// before 1970, and `None` is for times in it.
fn timestamp(value: i64, per_second: i64) -> Option<(i64, i64)> {
    let nanos = value.rem_euclid(per_second) * (1_000_000_000 / per_second);
    let floor = value.div_euclid(per_second);
    let corrected = floor < 0 && nanos > 999_999;
    if corrected && floor == -1 {
        return None;
    }
    let seconds = if corrected { floor + 1 } else { floor };
    Some((seconds - EPOCH, trimmed(nanos)))
}

/// Nanoseconds without the zeros at their end, whose number is in the last three bits: 0 for none, else one less.
fn trimmed(nanos: i64) -> i64 {
    if nanos == 0 || nanos % 100 != 0 {
        return nanos << 3;
    }
    let (mut rest, mut zeros) = (nanos / 100, 1);
    while rest % 10 == 0 && zeros < 7 {
        rest /= 10;
        zeros += 1;
    }
    rest << 3 | zeros
}

fn not_in_orc(column: &str) -> Error {
    Error::new("invalid-value", format!("column '{column}' has a timestamp in the last second before 1970"))
        .with_detail("ORC files cannot hold it: readers take it for one a second later.")
        .with_hint("use 'write-format' = 'parquet' or 'avro' for this table")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn zeros_at_the_end_are_counted() {
        for (nanos, encoded) in
            [(0, 0), (1, 8), (1_000, 1 << 3 | 2), (100, 1 << 3 | 1), (999_999_999, 999_999_999 << 3)]
        {
            assert_eq!(trimmed(nanos), encoded, "{nanos}");
        }
        assert_eq!(trimmed(500_000_000), 5 << 3 | 7);
    }

    /// As readers of ORC decode it.
    fn read((seconds, nanos): (i64, i64)) -> i128 {
        let zeros = nanos & 7;
        let nanos = (nanos >> 3) * if zeros == 0 { 1 } else { 10_i64.pow(zeros as u32 + 1) };
        let seconds = seconds + EPOCH;
        let seconds = if seconds < 0 && nanos > 999_999 { seconds - 1 } else { seconds };
        i128::from(seconds) * 1_000_000_000 + i128::from(nanos)
    }

    #[test]
    fn timestamps_come_back() {
        let second = 1_000_000_000;
        for value in [
            0,
            1,
            -second,
            -second - 1,
            -second - 999_999_999,
            -second - 500_000_000,
            -2 * second,
            -2 * second + 999_999,
            -2 * second + 1_000_000,
            -2 * second + 1_000_001,
            i64::MIN,
            i64::MAX,
            second + 100,
            -second + 500,
            -second + 999_999,
        ] {
            assert_eq!(read(timestamp(value, second).unwrap()), i128::from(value), "{value}");
        }
        for lost in [-1, -500_000_000, -second + 1_000_000] {
            assert_eq!(timestamp(lost, second), None);
        }
        for micros in [i64::MIN, i64::MAX, -1_500_000, 1_500_000] {
            assert_eq!(read(timestamp(micros, 1_000_000).unwrap()), i128::from(micros) * 1_000, "{micros}");
        }
    }
}
