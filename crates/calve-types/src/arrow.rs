//! How values of Flink's types lie in Arrow arrays.
//!
//! | Flink | Arrow |
//! |---|---|
//! | BOOLEAN, TINYINT .. BIGINT, FLOAT, DOUBLE | the same |
//! | DECIMAL(p, s) | Decimal128(p, s) |
//! | CHAR, VARCHAR | Utf8 |
//! | VARIANT | Utf8, JSON in one form |
//! | BINARY, VARBINARY | Binary |
//! | DATE | Date32 |
//! | TIME | Time64(us) |
//! | TIMESTAMP(p <= 6), TIMESTAMP(p > 6) | Timestamp(us), Timestamp(ns) |
//! | TIMESTAMP_LTZ | the same with time zone "UTC" |
//! | INTERVAL YEAR TO MONTH | Interval(YearMonth) |
//! | INTERVAL DAY TO SECOND | Duration(ms) |
//! | ARRAY, MAP, ROW | List, Map, Struct |
//! | `MULTISET<E>` | `Map<E, Int32>` |
//! | NULL | Null |
//!
//! Lengths and precisions live in the Flink type alone.

use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, Fields, IntervalUnit, TimeUnit};

use crate::{DataType, Error, LogicalType, Result};

/// The time zone of `TIMESTAMP_LTZ` arrays.
pub const UTC: &str = "UTC";

/// The Arrow type that holds values of `logical`.
///
/// # Errors
/// `not-supported` for types without values in calve (RAW, TIMESTAMP WITH TIME ZONE).
pub fn to_arrow(logical: &LogicalType) -> Result<ArrowType> {
    let unit = |p: u8| if p > 6 { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
    Ok(match logical {
        LogicalType::Null => ArrowType::Null,
        LogicalType::Boolean => ArrowType::Boolean,
        LogicalType::TinyInt => ArrowType::Int8,
        LogicalType::SmallInt => ArrowType::Int16,
        LogicalType::Int => ArrowType::Int32,
        LogicalType::BigInt => ArrowType::Int64,
        LogicalType::Float => ArrowType::Float32,
        LogicalType::Double => ArrowType::Float64,
        LogicalType::Decimal { precision, scale } => ArrowType::Decimal128(*precision, *scale as i8),
        LogicalType::Char(_) | LogicalType::Varchar(_) | LogicalType::Symbol | LogicalType::Variant => ArrowType::Utf8,
        LogicalType::Binary(_) | LogicalType::Varbinary(_) => ArrowType::Binary,
        LogicalType::Date => ArrowType::Date32,
        LogicalType::Time(_) => ArrowType::Time64(TimeUnit::Microsecond),
        LogicalType::Timestamp(p) => ArrowType::Timestamp(unit(*p), None),
        LogicalType::TimestampLtz(p) => ArrowType::Timestamp(unit(*p), Some(UTC.into())),
        LogicalType::IntervalYearMonth { .. } => ArrowType::Interval(IntervalUnit::YearMonth),
        LogicalType::IntervalDayTime { .. } => ArrowType::Duration(TimeUnit::Millisecond),
        LogicalType::Array(e) => ArrowType::List(Arc::new(field("element", e)?)),
        LogicalType::Map(k, v) => map(field("key", k)?, field("value", v)?),
        LogicalType::Multiset(e) => {
            map(field("key", &e.with_nullable(false))?, Field::new("value", ArrowType::Int32, false))
        }
        LogicalType::Row(fields) => {
            ArrowType::Struct(fields.iter().map(|f| field(&f.name, &f.data_type)).collect::<Result<Fields>>()?)
        }
        LogicalType::Raw { .. } | LogicalType::TimestampTz(_) => {
            return Err(Error::unsupported(format!("values of type {logical}")));
        }
    })
}

/// An Arrow field for a column of this type.
///
/// # Errors
/// As [`to_arrow`].
pub fn field(name: &str, data_type: &DataType) -> Result<Field> {
    Ok(Field::new(name, to_arrow(&data_type.logical)?, data_type.nullable))
}

fn map(key: Field, value: Field) -> ArrowType {
    let entries = Field::new("key_value", ArrowType::Struct(Fields::from(vec![key, value])), false);
    ArrowType::Map(Arc::new(entries), false)
}
