//! Values to text.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BooleanArray, PrimitiveArray, StringArray, StringBuilder};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Date32Type, Decimal128Type, DurationMillisecondType, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalYearMonthType, Time64MicrosecondType,
};
use calve_types::LogicalType;
use datafusion_common::Result as DfResult;

use super::{Caster, uncovered};
use crate::EvalContext;
use crate::args::{Stamps, Values, mistyped, primitive, range};
use crate::civil::{Stamp, civil_of};

/// For whom values become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `CAST(.. AS STRING)`: bytes are UTF-8.
    Cast,
    /// A result shown to a person: bytes are `x'0aff'`.
    Print,
}

/// All values of an array as text, without any length applied.
pub(crate) fn print_array(
    array: &ArrayRef,
    from: &LogicalType,
    context: &EvalContext,
    style: Style,
) -> DfResult<StringArray> {
    if from.is_character()
        && let Some(texts) = array.as_string_opt::<i32>()
    {
        return Ok(texts.clone());
    }
    let printer = Printer::new(array, from, context, style)?;
    let mut builder = StringBuilder::with_capacity(array.len(), array.len() * 8);
    let mut text = String::new();
    for row in 0..array.len() {
        text.clear();
        if printer.print(row, &mut text) {
            builder.append_value(&text);
        } else {
            builder.append_null();
        }
    }
    Ok(builder.finish())
}

/// `CHAR(n)`: padded and cut to n characters; `VARCHAR(n)`: cut.
pub(crate) fn fit(texts: StringArray, to: &LogicalType) -> StringArray {
    let (limit, pad) = match to {
        LogicalType::Char(n) => (*n as usize, true),
        LogicalType::Varchar(LogicalType::MAX_LENGTH) => return texts,
        LogicalType::Varchar(n) => (*n as usize, false),
        _ => return texts,
    };
    // Characters are at least one byte, so this many bytes fit without a look at them.
    let fits = |text: &str| if pad { text.len() == limit && text.is_ascii() } else { text.len() <= limit };
    if texts.iter().flatten().all(fits) {
        return texts;
    }
    let mut builder = StringBuilder::with_capacity(texts.len(), texts.value_data().len());
    let mut padded = String::new();
    for text in &texts {
        match text {
            None => builder.append_null(),
            Some(text) => match text.char_indices().nth(limit) {
                Some((end, _)) => builder.append_value(text.get(..end).unwrap_or(text)),
                None if pad => {
                    let missing = limit.saturating_sub(text.chars().count());
                    padded.clear();
                    padded.push_str(text);
                    padded.extend(std::iter::repeat_n(' ', missing));
                    builder.append_value(&padded);
                }
                None => builder.append_value(text),
            },
        }
    }
    builder.finish()
}

/// Longer `VARBINARY(n)` are not padded: a few values would take all memory.
const LONGEST_PADDED: u32 = 1 << 20;

impl Caster<'_> {
    /// Bytes as UTF-8; what is no UTF-8 becomes U+FFFD, as in Java.
    pub(super) fn bytes_to_string(&self, array: &ArrayRef, to: &LogicalType) -> DfResult<ArrayRef> {
        let bytes = array.as_binary_opt::<i32>().ok_or_else(|| mistyped("Binary", array))?;
        let texts: StringArray = bytes.iter().map(|b| b.map(String::from_utf8_lossy)).collect();
        Ok(Arc::new(fit(texts, to)))
    }

    /// Text or bytes to bytes: `BINARY(n)` padded with zeros and cut, `VARBINARY(n)` cut, and padded too where it is
    /// made from longer bytes.
    pub(super) fn to_bytes(self, array: &ArrayRef, from: &LogicalType, to: &LogicalType) -> DfResult<ArrayRef> {
        let (limit, pad) = match (from, to) {
            (_, LogicalType::Binary(n)) => (*n as usize, true),
            (LogicalType::Binary(m) | LogicalType::Varbinary(m), LogicalType::Varbinary(n)) => {
                (*n as usize, m > n && *n <= LONGEST_PADDED)
            }
            (_, LogicalType::Varbinary(n)) => (*n as usize, false),
            _ => (usize::MAX, false),
        };
        let bytes = match array.data_type() {
            ArrowType::Binary => array.as_binary::<i32>().clone(),
            ArrowType::Utf8 => BinaryArray::from(array.as_string::<i32>().clone()),
            _ => return Err(mistyped("Utf8 or Binary", array)),
        };
        let fitted: BinaryArray = bytes
            .iter()
            .map(|value| {
                value.map(|value| {
                    let mut value = value.get(..limit).unwrap_or(value).to_vec();
                    if pad {
                        value.resize(limit, 0);
                    }
                    value
                })
            })
            .collect();
        Ok(Arc::new(fitted))
    }
}

/// An array prepared for printing row by row.
enum Printer<'a> {
    Nothing,
    Boolean(&'a BooleanArray),
    TinyInt(&'a PrimitiveArray<Int8Type>),
    SmallInt(&'a PrimitiveArray<Int16Type>),
    Int(&'a PrimitiveArray<Int32Type>),
    BigInt(&'a PrimitiveArray<Int64Type>),
    Float(&'a PrimitiveArray<Float32Type>),
    Double(&'a PrimitiveArray<Float64Type>),
    Decimal(&'a PrimitiveArray<Decimal128Type>, u8),
    Text(&'a StringArray),
    Bytes(&'a BinaryArray, Style),
    Date(&'a PrimitiveArray<Date32Type>),
    Time(&'a PrimitiveArray<Time64MicrosecondType>, u8),
    Timestamp(Stamps<'a>, u8, Option<crate::TimeZone>),
    Months(&'a PrimitiveArray<IntervalYearMonthType>),
    Millis(&'a PrimitiveArray<DurationMillisecondType>),
    Array(&'a OffsetBuffer<i32>, Option<&'a NullBuffer>, Box<Printer<'a>>),
    Map(&'a OffsetBuffer<i32>, Option<&'a NullBuffer>, Box<(Printer<'a>, Printer<'a>)>),
    Row(Option<&'a NullBuffer>, Vec<Printer<'a>>),
}

impl<'a> Printer<'a> {
    fn new(array: &'a ArrayRef, from: &LogicalType, context: &EvalContext, style: Style) -> DfResult<Self> {
        use LogicalType as T;
        Ok(match from {
            _ if array.data_type() == &ArrowType::Null => Self::Nothing,
            T::Boolean => Self::Boolean(array.as_boolean_opt().ok_or_else(|| mistyped("Boolean", array))?),
            T::TinyInt => Self::TinyInt(primitive(array)?),
            T::SmallInt => Self::SmallInt(primitive(array)?),
            T::Int => Self::Int(primitive(array)?),
            T::BigInt => Self::BigInt(primitive(array)?),
            T::Float => Self::Float(primitive(array)?),
            T::Double => Self::Double(primitive(array)?),
            T::Decimal { scale, .. } => Self::Decimal(primitive(array)?, *scale),
            T::Char(_) | T::Varchar(_) | T::Symbol | T::Variant => {
                Self::Text(array.as_string_opt().ok_or_else(|| mistyped("Utf8", array))?)
            }
            T::Binary(_) | T::Varbinary(_) => {
                Self::Bytes(array.as_binary_opt().ok_or_else(|| mistyped("Binary", array))?, style)
            }
            T::Date => Self::Date(primitive(array)?),
            T::Time(p) => Self::Time(primitive(array)?, *p),
            T::Timestamp(p) => Self::Timestamp(Stamps::new(array, false)?, *p, None),
            T::TimestampLtz(p) => Self::Timestamp(Stamps::new(array, false)?, *p, Some(context.time_zone)),
            T::IntervalYearMonth { .. } => Self::Months(primitive(array)?),
            T::IntervalDayTime { .. } => Self::Millis(primitive(array)?),
            T::Array(element) => {
                let list = array.as_list_opt::<i32>().ok_or_else(|| mistyped("List", array))?;
                let values = Self::new(list.values(), &element.logical, context, style)?;
                Self::Array(list.offsets(), list.nulls(), Box::new(values))
            }
            T::Map(key, value) => Self::map(array, &key.logical, &value.logical, context, style)?,
            T::Multiset(element) => Self::map(array, &element.logical, &T::Int, context, style)?,
            T::Row(fields) => {
                let rows = array.as_struct_opt().ok_or_else(|| mistyped("Struct", array))?;
                if rows.num_columns() != fields.len() {
                    return Err(mistyped(&from.to_string(), array));
                }
                let columns = rows
                    .columns()
                    .iter()
                    .zip(fields)
                    .map(|(column, field)| Self::new(column, &field.data_type.logical, context, style))
                    .collect::<DfResult<_>>()?;
                Self::Row(rows.nulls(), columns)
            }
            T::Null | T::TimestampTz(_) | T::Raw { .. } => return Err(uncovered(from, &T::STRING)),
        })
    }

    fn map(
        array: &'a ArrayRef,
        key: &LogicalType,
        value: &LogicalType,
        context: &EvalContext,
        style: Style,
    ) -> DfResult<Self> {
        let map = array.as_map_opt().ok_or_else(|| mistyped("Map", array))?;
        let keys = Self::new(map.keys(), key, context, style)?;
        let values = Self::new(map.values(), value, context, style)?;
        Ok(Self::Map(map.offsets(), map.nulls(), Box::new((keys, values))))
    }

    /// Appends a row's text; `false` for NULL, nothing appended.
    fn print(&self, row: usize, out: &mut String) -> bool {
        fn at<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
            Values { array, constant: false }.get(row)
        }
        fn show<V: std::fmt::Display>(value: Option<V>, out: &mut String) -> Option<()> {
            // Writing to a String cannot fail.
            value.map(|v| {
                let _ = write!(out, "{v}");
            })
        }
        let is_valid = |nulls: &Option<&NullBuffer>| nulls.is_none_or(|n| n.is_valid(row));
        let printed = match self {
            Self::Nothing => None,
            Self::Boolean(a) => {
                let value = Values { array: *a, constant: false }.get(row);
                value.map(|v| out.push_str(if v { "TRUE" } else { "FALSE" }))
            }
            Self::TinyInt(a) => show(at(a, row), out),
            Self::SmallInt(a) => show(at(a, row), out),
            Self::Int(a) => show(at(a, row), out),
            Self::BigInt(a) => show(at(a, row), out),
            Self::Float(a) => at(a, row).map(|v| push_float(v, out)),
            Self::Double(a) => at(a, row).map(|v| push_double(v, out)),
            Self::Decimal(a, scale) => at(a, row).map(|v| push_decimal(v, *scale, out)),
            Self::Text(a) => Values { array: *a, constant: false }.get(row).map(|v| out.push_str(v)),
            Self::Bytes(a, style) => Values { array: *a, constant: false }.get(row).map(|bytes| match style {
                Style::Cast => out.push_str(&String::from_utf8_lossy(bytes)),
                Style::Print => {
                    out.push_str("x'");
                    for byte in bytes {
                        let _ = write!(out, "{byte:02x}");
                    }
                    out.push('\'');
                }
            }),
            Self::Date(a) => at(a, row).map(|days| push_date(i64::from(days), out)),
            Self::Time(a, p) => at(a, row).map(|micros| push_time(micros.saturating_mul(1000), *p, out)),
            Self::Timestamp(a, p, zone) => a.get(row).map(|stamp| {
                let seconds = zone.map_or(stamp.seconds, |zone| zone.to_local(stamp.seconds));
                push_timestamp(Stamp { seconds, ..stamp }, *p, out);
            }),
            Self::Months(a) => at(a, row).map(|months| push_months(i64::from(months), out)),
            Self::Millis(a) => at(a, row).map(|millis| push_millis(millis, out)),
            Self::Array(offsets, nulls, values) => is_valid(nulls).then(|| {
                out.push('[');
                for (n, i) in range(offsets, row).enumerate() {
                    if n > 0 {
                        out.push_str(", ");
                    }
                    values.print_or_null(i, out);
                }
                out.push(']');
            }),
            Self::Map(offsets, nulls, entries) => is_valid(nulls).then(|| {
                out.push('{');
                for (n, i) in range(offsets, row).enumerate() {
                    if n > 0 {
                        out.push_str(", ");
                    }
                    entries.0.print_or_null(i, out);
                    out.push('=');
                    entries.1.print_or_null(i, out);
                }
                out.push('}');
            }),
            Self::Row(nulls, columns) => is_valid(nulls).then(|| {
                out.push('(');
                for (n, column) in columns.iter().enumerate() {
                    if n > 0 {
                        out.push_str(", ");
                    }
                    column.print_or_null(row, out);
                }
                out.push(')');
            }),
        };
        printed.is_some()
    }

    fn print_or_null(&self, row: usize, out: &mut String) {
        if !self.print(row, out) {
            out.push_str("NULL");
        }
    }
}

/// Appends a DOUBLE as Java's `Double.toString` writes it.
pub fn push_double(value: f64, out: &mut String) {
    if let Some(whole) = large_whole(value, f64::MANTISSA_DIGITS) {
        push_java(&whole, None, out);
    } else if value.is_finite() {
        let shortest = if value.is_normal() { None } else { Some(format!("{value:.1e}")) };
        push_java(ryu::Buffer::new().format_finite(value), shortest.filter(|s| s.parse() == Ok(value)), out);
    } else {
        push_special(value, out);
    }
}

/// Appends a FLOAT as Java's `Float.toString` writes it.
pub fn push_float(value: f32, out: &mut String) {
    if let Some(whole) = large_whole(value.into(), f32::MANTISSA_DIGITS) {
        push_java(&whole, None, out);
    } else if value.is_finite() {
        let shortest = if value.is_normal() { None } else { Some(format!("{value:.1e}")) };
        push_java(ryu::Buffer::new().format_finite(value), shortest.filter(|s| s.parse() == Ok(value)), out);
    } else {
        push_special(f64::from(value), out);
    }
}

/// Whole numbers with more bits than the type has, up to 2^63: Java, up to its version 18, gives them all the digits that
/// the missing bits do not blur, which may be one more than needed.
fn large_whole(value: f64, bits: u32) -> Option<String> {
    let limit = 2f64.powi(i32::try_from(bits).ok()?);
    let magnitude = value.abs();
    if !(magnitude >= 2.0 * limit && magnitude < 2f64.powi(63)) {
        return None;
    }
    let exponent = u32::try_from(magnitude.to_bits() >> 52).ok()?.checked_sub(1023)?;
    let missing = exponent.checked_sub(bits + 1)?;
    // As many digits as 2^missing has, but one.
    let blurred = 2u64.checked_pow(missing)?.ilog10();
    let unit = 10u64.checked_pow(blurred)?;
    let whole = magnitude as u64;
    let kept = whole / unit + u64::from(blurred > 0 && whole % unit >= unit / 2);
    Some(format!("{}{kept}e{blurred}", if value < 0.0 { "-" } else { "" }))
}

fn push_special(value: f64, out: &mut String) {
    out.push_str(if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    });
}

/// Rewrites the shortest digits (`1e21`, `0.001`) as Java does: plain from 10^-3 up to 10^7, else `d.dddE-7`. Java
/// writes at least two digits, so of several numbers that short (subnormal ones) it takes the nearest: `two_digits`.
fn push_java(shortest: &str, two_digits: Option<String>, out: &mut String) {
    let text = match &two_digits {
        Some(text) if shortest.bytes().take_while(|b| *b != b'e').filter(u8::is_ascii_digit).count() == 1 => text,
        _ => shortest,
    };
    let (text, negative) = match text.strip_prefix('-') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    if negative {
        out.push('-');
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, fraction].concat();
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let significant = digits.trim_matches('0');
    if significant.is_empty() {
        out.push_str("0.0");
        return;
    }
    // The value is 0.significant x 10^point.
    let point = whole.len() as i32 + exponent - leading as i32;
    let digit = |range: std::ops::Range<usize>| significant.get(range).unwrap_or("");
    if (-2..=7).contains(&point) {
        if point <= 0 {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', point.unsigned_abs() as usize));
            out.push_str(significant);
        } else {
            let point = point as usize;
            let split = point.min(significant.len());
            out.push_str(digit(0..split));
            out.extend(std::iter::repeat_n('0', point - split));
            out.push('.');
            out.push_str(if split < significant.len() { digit(split..significant.len()) } else { "0" });
        }
    } else {
        out.push_str(digit(0..1));
        out.push('.');
        out.push_str(if significant.len() > 1 { digit(1..significant.len()) } else { "0" });
        let _ = write!(out, "E{}", point - 1);
    }
}

/// `unscaled / 10^scale` in plain digits.
pub(crate) fn push_decimal(unscaled: i128, scale: u8, out: &mut String) {
    if unscaled < 0 {
        out.push('-');
    }
    let magnitude = unscaled.unsigned_abs();
    let unit = 10u128.checked_pow(u32::from(scale)).unwrap_or(u128::MAX);
    let _ = write!(out, "{}", magnitude / unit);
    if scale > 0 {
        let _ = write!(out, ".{:0width$}", magnitude % unit, width = usize::from(scale));
    }
}

/// `yyyy-MM-dd`
pub(crate) fn push_date(days: i64, out: &mut String) {
    let date = civil_of(days);
    if date.year < 0 {
        out.push('-');
    }
    let _ = write!(out, "{:04}-{:02}-{:02}", date.year.unsigned_abs(), date.month, date.day);
}

/// `HH:mm:ss` and, with a precision, a point and that many digits.
pub(crate) fn push_time(nanos_of_day: i64, precision: u8, out: &mut String) {
    let seconds = nanos_of_day.div_euclid(1_000_000_000);
    let nanos = nanos_of_day.rem_euclid(1_000_000_000);
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if precision > 0 {
        let precision = precision.min(9);
        let shown = nanos / 10i64.pow(9 - u32::from(precision));
        let _ = write!(out, ".{shown:0width$}", width = usize::from(precision));
    }
}

pub(crate) fn push_timestamp(stamp: Stamp, precision: u8, out: &mut String) {
    let (days, nanos) = stamp.split();
    push_date(days, out);
    out.push(' ');
    push_time(nanos, precision, out);
}

/// Java's `LocalDateTime.toString`: no seconds where they are 0, digits of a second in groups of three.
pub(crate) fn push_local_time(stamp: Stamp, out: &mut String) {
    let (days, nanos) = stamp.split();
    push_date(days, out);
    out.push('T');
    let precision = match nanos % 1_000_000_000 {
        0 => 0,
        n if n % 1_000_000 == 0 => 3,
        n if n % 1000 == 0 => 6,
        _ => 9,
    };
    let start = out.len();
    push_time(nanos, precision, out);
    if nanos % 60_000_000_000 == 0 {
        out.truncate(start + "HH:mm".len());
    }
}

/// `+1-03`: years and months.
fn push_months(months: i64, out: &mut String) {
    // As Java negates: the smallest INT stays negative.
    let (sign, months) = if months < 0 { ('-', (months as i32).wrapping_neg()) } else { ('+', months as i32) };
    let (years, months) = (months / 12, months % 12);
    let _ = write!(out, "{sign}{years}-{}{months}", if months < 10 { "0" } else { "" });
}

/// `+1 02:00:00.000`: days and time.
fn push_millis(millis: i64, out: &mut String) {
    let sign = if millis < 0 { '-' } else { '+' };
    let millis = millis.unsigned_abs();
    let seconds = millis / 1000;
    // The days are an INT.
    let days = (seconds / 86_400) as i32;
    let _ = write!(
        out,
        "{sign}{} {:02}:{:02}:{:02}.{:03}",
        days,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
        millis % 1000
    );
}
