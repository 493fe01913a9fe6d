//! Partition transforms (Iceberg spec, "Partition Transforms") on whole arrays, total on every input.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, Date32Array, Decimal128Array, Int32Array, Int64Array, StringArray,
    new_null_array,
};
use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DataType as ArrowType, Date32Type, Decimal128Type, DecimalType, Int32Type, Int64Type,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use calve_types::{Error, Result};
use iceberg::spec::Transform;

const SECONDS_PER_DAY: i64 = 86_400;

/// Applies `transform` to a column; NULL stays NULL.
///
/// # Errors
/// `invalid-table` if the transform does not take the column's type.
pub(crate) fn apply(transform: Transform, column: &ArrayRef) -> Result<ArrayRef> {
    match transform {
        Transform::Identity => Ok(column.clone()),
        Transform::Void => Ok(new_null_array(column.data_type(), column.len())),
        Transform::Bucket(n) => bucket(column, n),
        Transform::Truncate(width) => truncate(column, width),
        Transform::Year => Ok(Arc::new(days(column, transform)?.unary::<_, Int32Type>(|d| year_and_month(d).0 - 1970))),
        Transform::Month => Ok(Arc::new(days(column, transform)?.unary::<_, Int32Type>(|d| {
            let (year, month) = year_and_month(d);
            (year - 1970) * 12 + month - 1
        }))),
        Transform::Day => Ok(Arc::new(days(column, transform)?)),
        Transform::Hour => {
            let hours = |unit: i64| move |v: i64| v.div_euclid(3_600 * unit) as i32;
            Ok(Arc::new(match column.data_type() {
                ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
                    column.as_primitive::<TimestampMicrosecondType>().unary::<_, Int32Type>(hours(1_000_000))
                }
                ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
                    column.as_primitive::<TimestampNanosecondType>().unary::<_, Int32Type>(hours(1_000_000_000))
                }
                _ => return Err(wrong_type(transform, column)),
            }))
        }
        Transform::Unknown => Err(Error::unsupported("writing to a table with an unknown partition transform")),
    }
}

fn wrong_type(transform: Transform, column: &ArrayRef) -> Error {
    Error::new(
        "invalid-table",
        format!("partition transform '{transform}' does not take columns of Arrow's type {}", column.data_type()),
    )
}

fn days(column: &ArrayRef, transform: Transform) -> Result<Date32Array> {
    let days = |unit: i64| move |v: i64| v.div_euclid(SECONDS_PER_DAY * unit) as i32;
    Ok(match column.data_type() {
        ArrowType::Date32 => column.as_primitive::<Date32Type>().clone(),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            column.as_primitive::<TimestampMicrosecondType>().unary::<_, Date32Type>(days(1_000_000))
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            column.as_primitive::<TimestampNanosecondType>().unary::<_, Date32Type>(days(1_000_000_000))
        }
        _ => return Err(wrong_type(transform, column)),
    })
}

/// Year and month (1 to 12) of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
pub(crate) fn year_and_month(days: i32) -> (i32, i32) {
    let (year, month, _) = civil(days);
    (year, month)
}

/// Year, month and day of a day counted from 1970-01-01: Howard Hinnant's `civil_from_days`.
pub(crate) fn civil(days: i32) -> (i32, i32, i32) {
    let shifted = i64::from(days) + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year as i32, month as i32, day as i32)
}

fn bucket(column: &ArrayRef, count: u32) -> Result<ArrayRef> {
    let count = i32::try_from(count)
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| Error::new("invalid-table", format!("partition transform 'bucket[{count}]' has no buckets")))?;
    let of_hash = |hash: u32| (hash as i32 & i32::MAX) % count;
    let of_long = |v: i64| of_hash(murmur3(&v.to_le_bytes()));
    Ok(Arc::new(match column.data_type() {
        ArrowType::Int32 => column.as_primitive::<Int32Type>().unary::<_, Int32Type>(|v| of_long(v.into())),
        ArrowType::Date32 => column.as_primitive::<Date32Type>().unary::<_, Int32Type>(|v| of_long(v.into())),
        ArrowType::Int64 => column.as_primitive::<Int64Type>().unary::<_, Int32Type>(of_long),
        ArrowType::Time64(TimeUnit::Microsecond) => {
            column.as_primitive::<Time64MicrosecondType>().unary::<_, Int32Type>(of_long)
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            column.as_primitive::<TimestampMicrosecondType>().unary::<_, Int32Type>(of_long)
        }
        // the spec hashes nanoseconds as microseconds
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            column.as_primitive::<TimestampNanosecondType>().unary::<_, Int32Type>(|v| of_long(v.div_euclid(1_000)))
        }
        ArrowType::Decimal128(_, _) => column
            .as_primitive::<Decimal128Type>()
            .unary::<_, Int32Type>(|v| of_hash(murmur3(minimal_bytes(&v.to_be_bytes())))),
        ArrowType::Utf8 => {
            column.as_string::<i32>().iter().map(|v| v.map(|v| of_hash(murmur3(v.as_bytes())))).collect()
        }
        ArrowType::Binary => column.as_binary::<i32>().iter().map(|v| v.map(|v| of_hash(murmur3(v)))).collect(),
        _ => return Err(wrong_type(Transform::Bucket(count as u32), column)),
    }) as Arc<Int32Array>)
}

/// The fewest bytes of a two's complement big-endian number that keep its value.
pub(crate) fn minimal_bytes(mut bytes: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = bytes {
        let Some(second) = rest.first() else { break };
        let redundant = (*first == 0 && second & 0x80 == 0) || (*first == 0xff && second & 0x80 != 0);
        if !redundant {
            break;
        }
        bytes = rest;
    }
    bytes
}

/// 32-bit Murmur3, x86 variant, seed 0 (Iceberg spec, appendix B).
pub(crate) fn murmur3(bytes: &[u8]) -> u32 {
    let mix = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut hash = 0_u32;
    for block in blocks {
        hash = (hash ^ mix(u32::from_le_bytes(*block))).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    if !tail.is_empty() {
        let last = tail.iter().rev().fold(0_u32, |k, byte| (k << 8) | u32::from(*byte));
        hash ^= mix(last);
    }
    hash ^= bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

fn truncate(column: &ArrayRef, width: u32) -> Result<ArrayRef> {
    if width == 0 {
        return Err(Error::new("invalid-table", "partition transform 'truncate[0]' keeps nothing"));
    }
    Ok(match column.data_type() {
        ArrowType::Int32 => {
            let array: Int32Array = column.as_primitive::<Int32Type>().unary(|v| {
                let v = i64::from(v);
                // wraps at the end of the range, as Java does
                (v - v.rem_euclid(i64::from(width))) as i32
            });
            Arc::new(array)
        }
        ArrowType::Int64 => {
            let array: Int64Array =
                column.as_primitive::<Int64Type>().unary(|v| v.wrapping_sub(v.rem_euclid(i64::from(width))));
            Arc::new(array)
        }
        ArrowType::Decimal128(precision, scale) => {
            let least = 10_i128.checked_pow(u32::from(*precision)).map_or(i128::MIN, |end| 1 - end);
            let truncated = |v: i128| {
                let low = v.checked_sub(v.rem_euclid(i128::from(width))).filter(|low| *low >= least);
                low.ok_or_else(|| too_low(v, width, *precision, *scale))
            };
            let array: Decimal128Array = column.as_primitive::<Decimal128Type>().try_unary(truncated)?;
            Arc::new(array.with_data_type(column.data_type().clone()))
        }
        ArrowType::Utf8 => {
            let cut = |v| first_chars(v, width as usize);
            Arc::new(column.as_string::<i32>().iter().map(|v| v.map(cut)).collect::<StringArray>())
        }
        ArrowType::Binary => Arc::new(
            column
                .as_binary::<i32>()
                .iter()
                .map(|v| v.map(|v| v.get(..width as usize).unwrap_or(v)))
                .collect::<BinaryArray>(),
        ),
        _ => return Err(wrong_type(Transform::Truncate(width), column)),
    })
}

/// The Java library refuses to write such a partition value.
fn too_low(value: i128, width: u32, precision: u8, scale: i8) -> Error {
    let text = |v: i128| Decimal128Type::format_decimal(v, DECIMAL128_MAX_PRECISION, scale);
    let (text, low) = (text(value), text(value.saturating_sub(value.rem_euclid(i128::from(width)))));
    Error::new(
        "invalid-value",
        format!("the partition of the value {text} is out of range of DECIMAL({precision}, {scale})"),
    )
    .with_detail(format!("Cannot write value as decimal({precision},{scale}), too large: {low}"))
    .with_hint("a partition by truncate() needs a column with one digit more")
}

/// The first `count` code points of a text.
pub(crate) fn first_chars(text: &str, count: usize) -> &str {
    match text.char_indices().nth(count) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}
