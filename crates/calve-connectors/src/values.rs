//! Arrays prepared for reading their values one by one.

use std::fmt::Write as _;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BooleanArray, PrimitiveArray, StringArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use calve_types::{Error, LogicalType, Result};

/// An array of one of Flink's types.
pub(crate) struct Values<'a> {
    nulls: Option<NullBuffer>,
    /// The values; for what is NULL anything.
    pub kind: Kind<'a>,
}

pub(crate) enum Kind<'a> {
    Null,
    Boolean(&'a BooleanArray),
    TinyInt(&'a PrimitiveArray<Int8Type>),
    SmallInt(&'a PrimitiveArray<Int16Type>),
    Int(&'a PrimitiveArray<Int32Type>),
    BigInt(&'a PrimitiveArray<Int64Type>),
    Float(&'a PrimitiveArray<Float32Type>),
    Double(&'a PrimitiveArray<Float64Type>),
    /// Scale.
    Decimal(&'a PrimitiveArray<Decimal128Type>, u8),
    Text(&'a StringArray),
    Bytes(&'a BinaryArray),
    Date(&'a PrimitiveArray<Date32Type>),
    Time(&'a PrimitiveArray<Time64MicrosecondType>),
    /// Whether it is TIMESTAMP_LTZ.
    Micros(&'a PrimitiveArray<TimestampMicrosecondType>, bool),
    Nanos(&'a PrimitiveArray<TimestampNanosecondType>, bool),
    List(&'a OffsetBuffer<i32>, Box<Values<'a>>),
    /// Keys and values; also of a MULTISET.
    Map(&'a OffsetBuffer<i32>, Box<(Values<'a>, Values<'a>)>),
    /// The fields' names and values.
    Row(Vec<(&'a str, Values<'a>)>),
}

/// Seconds since 1970-01-01T00:00:00, floored, and nanoseconds.
pub(crate) type Stamp = (i64, i64);

impl<'a> Values<'a> {
    /// # Errors
    /// An internal error if the array is not of the type; `not-supported` for types that no connector has.
    pub fn new(array: &'a ArrayRef, logical: &'a LogicalType) -> Result<Self> {
        use LogicalType as T;
        let wrong = || Error::internal(format!("an array of {} for a column of type {logical}", array.data_type()));
        fn primitive<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<&PrimitiveArray<T>> {
            array.as_primitive_opt().ok_or_else(|| {
                Error::internal(format!("an array of {} for one of {}", array.data_type(), T::DATA_TYPE))
            })
        }
        let map = |key: &'a LogicalType, value: &'a LogicalType| {
            let map = array.as_map_opt().ok_or_else(wrong)?;
            let entries = (Self::new(map.keys(), key)?, Self::new(map.values(), value)?);
            Ok::<_, Error>(Kind::Map(map.offsets(), Box::new(entries)))
        };
        let kind = match logical {
            _ if array.data_type() == &ArrowType::Null => Kind::Null,
            T::Boolean => Kind::Boolean(array.as_boolean_opt().ok_or_else(wrong)?),
            T::TinyInt => Kind::TinyInt(primitive(array)?),
            T::SmallInt => Kind::SmallInt(primitive(array)?),
            T::Int => Kind::Int(primitive(array)?),
            T::BigInt => Kind::BigInt(primitive(array)?),
            T::Float => Kind::Float(primitive(array)?),
            T::Double => Kind::Double(primitive(array)?),
            T::Decimal { scale, .. } => Kind::Decimal(primitive(array)?, *scale),
            T::Char(_) | T::Varchar(_) => Kind::Text(array.as_string_opt().ok_or_else(wrong)?),
            T::Binary(_) | T::Varbinary(_) => Kind::Bytes(array.as_binary_opt().ok_or_else(wrong)?),
            T::Date => Kind::Date(primitive(array)?),
            T::Time(_) => Kind::Time(primitive(array)?),
            T::Timestamp(p) | T::TimestampLtz(p) => {
                let zoned = matches!(logical, T::TimestampLtz(_));
                if *p > 6 { Kind::Nanos(primitive(array)?, zoned) } else { Kind::Micros(primitive(array)?, zoned) }
            }
            T::Array(element) => {
                let list = array.as_list_opt::<i32>().ok_or_else(wrong)?;
                Kind::List(list.offsets(), Box::new(Self::new(list.values(), &element.logical)?))
            }
            T::Map(key, value) => map(&key.logical, &value.logical)?,
            T::Multiset(element) => map(&element.logical, &T::Int)?,
            T::Row(fields) => {
                let row = array.as_struct_opt().ok_or_else(wrong)?;
                if row.num_columns() != fields.len() {
                    return Err(wrong());
                }
                let columns = row.columns().iter().zip(fields);
                Kind::Row(
                    columns
                        .map(|(column, f)| Ok((f.name.as_str(), Self::new(column, &f.data_type.logical)?)))
                        .collect::<Result<_>>()?,
                )
            }
            other => return Err(Error::unsupported(format!("a column of type {other} in a table outside Iceberg"))),
        };
        Ok(Self { nulls: array.nulls().cloned(), kind })
    }

    /// Whether the value of a row is NULL.
    pub fn is_null(&self, row: usize) -> bool {
        matches!(self.kind, Kind::Null) || self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

/// Appends a value that every format writes alike: a boolean, a number but for a decimal, text. Nothing for others.
pub(crate) fn push_plain(kind: &Kind<'_>, row: usize, out: &mut String) {
    fn show(value: impl std::fmt::Display, out: &mut String) {
        // Writing to a String cannot fail.
        let _ = write!(out, "{value}");
    }
    match kind {
        Kind::Boolean(a) => show(a.value(row), out),
        Kind::TinyInt(a) => show(a.value(row), out),
        Kind::SmallInt(a) => show(a.value(row), out),
        Kind::Int(a) => show(a.value(row), out),
        Kind::BigInt(a) => show(a.value(row), out),
        Kind::Float(a) => calve_functions::push_float(a.value(row), out),
        Kind::Double(a) => calve_functions::push_double(a.value(row), out),
        Kind::Text(a) => out.push_str(a.value(row)),
        _ => {}
    }
}

/// The elements of a row's array or map.
pub(crate) fn range(offsets: &OffsetBuffer<i32>, row: usize) -> std::ops::Range<usize> {
    let at = |i: usize| offsets.get(i).map_or(0, |o| usize::try_from(*o).unwrap_or(0));
    at(row)..at(row + 1)
}

pub(crate) fn of_micros(micros: i64) -> Stamp {
    (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000) * 1000)
}

pub(crate) fn of_nanos(nanos: i64) -> Stamp {
    (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000))
}
