//! JSON_STRING, JSON_OBJECT, JSON_ARRAY, JSON and JSON_QUOTE.

use std::fmt::Write as _;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BooleanArray, PrimitiveArray, StringArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use calve_types::{Error, LogicalType};
use datafusion_common::Result as DfResult;

use super::number;
use super::scan::{Json, key_order, push_quoted};
use super::signature::build_of;
use crate::args::{Args, Stamps, failure, mistyped, primitive, range};
use crate::cast::{push_date, push_decimal, push_double, push_time};
use crate::function::Call;
use crate::string::build;

/// An array prepared for being written row by row.
enum Writer<'a> {
    Boolean(&'a BooleanArray),
    TinyInt(&'a PrimitiveArray<Int8Type>),
    SmallInt(&'a PrimitiveArray<Int16Type>),
    Int(&'a PrimitiveArray<Int32Type>),
    BigInt(&'a PrimitiveArray<Int64Type>),
    Float(&'a PrimitiveArray<Float32Type>),
    Double(&'a PrimitiveArray<Float64Type>),
    Decimal(&'a PrimitiveArray<Decimal128Type>, u8),
    Text(&'a StringArray),
    Bytes(&'a BinaryArray),
    /// With `Z` behind it or not.
    Timestamp(Stamps<'a>, bool),
    Array(&'a OffsetBuffer<i32>, Option<&'a NullBuffer>, Box<Writer<'a>>),
    /// Keys and values.
    Map(&'a OffsetBuffer<i32>, Option<&'a NullBuffer>, &'a StringArray, Box<Writer<'a>>),
    /// Names and values in the order of the names.
    Row(&'a StructArray, Vec<(String, Writer<'a>)>),
}

impl<'a> Writer<'a> {
    fn new(array: &'a ArrayRef, logical: &LogicalType) -> DfResult<Self> {
        use LogicalType as T;
        Ok(match logical {
            T::Boolean => Self::Boolean(array.as_boolean_opt().ok_or_else(|| mistyped("Boolean", array))?),
            T::TinyInt => Self::TinyInt(primitive(array)?),
            T::SmallInt => Self::SmallInt(primitive(array)?),
            T::Int => Self::Int(primitive(array)?),
            T::BigInt => Self::BigInt(primitive(array)?),
            T::Float => Self::Float(primitive(array)?),
            T::Double => Self::Double(primitive(array)?),
            T::Decimal { scale, .. } => Self::Decimal(primitive(array)?, *scale),
            T::Char(_) | T::Varchar(_) => Self::Text(array.as_string_opt().ok_or_else(|| mistyped("Utf8", array))?),
            T::Binary(_) | T::Varbinary(_) => {
                Self::Bytes(array.as_binary_opt().ok_or_else(|| mistyped("Binary", array))?)
            }
            T::Timestamp(_) => Self::Timestamp(Stamps::new(array, false)?, false),
            T::TimestampLtz(_) => Self::Timestamp(Stamps::new(array, false)?, true),
            T::Array(element) => {
                let list = array.as_list_opt::<i32>().ok_or_else(|| mistyped("List", array))?;
                Self::Array(list.offsets(), list.nulls(), Box::new(Self::new(list.values(), &element.logical)?))
            }
            T::Map(_, value) => Self::map(array, &value.logical)?,
            T::Multiset(_) => Self::map(array, &T::Int)?,
            T::Row(fields) => {
                let rows = array.as_struct_opt().ok_or_else(|| mistyped("Struct", array))?;
                let mut columns = rows
                    .columns()
                    .iter()
                    .zip(fields)
                    .map(|(column, field)| Ok((field.name.clone(), Self::new(column, &field.data_type.logical)?)))
                    .collect::<DfResult<Vec<_>>>()?;
                columns.sort_by(|(a, _), (b, _)| key_order(a, b));
                Self::Row(rows, columns)
            }
            other => return Err(failure(Error::unsupported(format!("JSON from {other}")))),
        })
    }

    fn map(array: &'a ArrayRef, value: &LogicalType) -> DfResult<Self> {
        let map = array.as_map_opt().ok_or_else(|| mistyped("Map", array))?;
        let keys = map.keys().as_string_opt().ok_or_else(|| mistyped("Utf8", map.keys()))?;
        Ok(Self::Map(map.offsets(), map.nulls(), keys, Box::new(Self::new(map.values(), value)?)))
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Boolean(array) => array.is_null(row),
            Self::TinyInt(array) => array.is_null(row),
            Self::SmallInt(array) => array.is_null(row),
            Self::Int(array) => array.is_null(row),
            Self::BigInt(array) => array.is_null(row),
            Self::Float(array) => array.is_null(row),
            Self::Double(array) => array.is_null(row),
            Self::Decimal(array, _) => array.is_null(row),
            Self::Text(array) => array.is_null(row),
            Self::Bytes(array) => array.is_null(row),
            Self::Timestamp(stamps, _) => stamps.get(row).is_none(),
            Self::Array(_, nulls, _) | Self::Map(_, nulls, ..) => nulls.is_some_and(|n| n.is_null(row)),
            Self::Row(rows, _) => rows.is_null(row),
        }
    }

    /// Appends a row's value; `null` for NULL.
    fn write(&self, row: usize, out: &mut String) {
        fn integer(value: impl std::fmt::Display, out: &mut String) {
            // Writing to a String cannot fail.
            let _ = write!(out, "{value}");
        }
        if self.is_null(row) {
            out.push_str("null");
            return;
        }
        match self {
            Self::Boolean(array) => out.push_str(if array.value(row) { "true" } else { "false" }),
            Self::TinyInt(array) => integer(array.value(row), out),
            Self::SmallInt(array) => integer(array.value(row), out),
            Self::Int(array) => integer(array.value(row), out),
            Self::BigInt(array) => integer(array.value(row), out),
            // As Jackson has it from a Java float: by way of a double.
            Self::Float(array) => {
                let value = f64::from(array.value(row));
                floating(value.is_finite(), |text| push_double(value, text), out);
            }
            Self::Double(array) => {
                floating(array.value(row).is_finite(), |text| push_double(array.value(row), text), out);
            }
            Self::Decimal(array, scale) => {
                let mut text = String::new();
                push_decimal(array.value(row), *scale, &mut text);
                number::push(&text, out);
            }
            Self::Text(array) => push_quoted(array.value(row), out),
            Self::Bytes(array) => {
                out.push('"');
                STANDARD.encode_string(array.value(row), out);
                out.push('"');
            }
            Self::Timestamp(stamps, is_ltz) => {
                if let Some(stamp) = stamps.get(row) {
                    let (days, nanos) = stamp.split();
                    out.push('"');
                    push_date(days, out);
                    out.push('T');
                    push_time(nanos, 9, out);
                    // No zeros at the end.
                    let kept = out.trim_end_matches('0').trim_end_matches('.').len();
                    let seconds = out.len() - ".000000000".len();
                    out.truncate(kept.max(seconds));
                    out.push_str(if *is_ltz { "Z\"" } else { "\"" });
                }
            }
            Self::Array(offsets, _, values) => {
                out.push('[');
                for (n, i) in range(offsets, row).enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    values.write(i, out);
                }
                out.push(']');
            }
            Self::Map(offsets, _, keys, values) => {
                let mut entries: Vec<usize> = range(offsets, row).collect();
                entries.sort_by(|a, b| key_order(keys.value(*a), keys.value(*b)));
                out.push('{');
                for (n, i) in entries.into_iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    push_quoted(keys.value(i), out);
                    out.push(':');
                    values.write(i, out);
                }
                out.push('}');
            }
            Self::Row(_, columns) => {
                out.push('{');
                for (n, (name, values)) in columns.iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    push_quoted(name, out);
                    out.push(':');
                    values.write(row, out);
                }
                out.push('}');
            }
        }
    }
}

/// A floating point number as Jackson reads and writes Java's text of it; NaN and the like as text.
fn floating(is_finite: bool, push: impl Fn(&mut String), out: &mut String) {
    let mut text = String::new();
    push(&mut text);
    if is_finite {
        number::push(&text, out);
    } else {
        push_quoted(&text, out);
    }
}

pub(super) fn string(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let array = args.full(0)?;
    let writer = Writer::new(&array, call.arg(0))?;
    build(args, |row, out| {
        if writer.is_null(row) {
            return None;
        }
        writer.write(row, out);
        Some(())
    })
}

/// The values of JSON_OBJECT or JSON_ARRAY, each with whether it is JSON already.
fn writers<'a>(
    call: &Call,
    arrays: &'a [ArrayRef],
    places: impl Iterator<Item = usize>,
    raw: &[bool],
) -> DfResult<Vec<(Writer<'a>, bool)>> {
    places
        .enumerate()
        .map(|(n, place)| {
            let array = arrays.get(place).ok_or_else(|| failure(Error::internal(format!("no argument {place}"))))?;
            Ok((Writer::new(array, call.arg(place))?, raw.get(n).copied().unwrap_or(false)))
        })
        .collect()
}

fn write(writer: &Writer<'_>, is_raw: bool, row: usize, out: &mut String) {
    match writer {
        Writer::Text(texts) if is_raw && texts.is_valid(row) => out.push_str(texts.value(row)),
        writer => writer.write(row, out),
    }
}

/// `JSON_OBJECT(clauses, key, value ...)`: keys in order, of equal ones the last value.
pub(super) fn object(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let clauses = build_of(args.texts(0)?.get(0).unwrap_or(""));
    let keys = (1..args.count()).step_by(2).map(|i| args.texts(i)).collect::<DfResult<Vec<_>>>()?;
    let arrays = (0..args.count())
        .map(|i| if i > 0 && i % 2 == 0 { args.full(i) } else { Ok(args.raw(i)?.0.clone()) })
        .collect::<DfResult<Vec<_>>>()?;
    let writers = writers(call, &arrays, (2..args.count()).step_by(2), &clauses.raw)?;
    build(args, |row, out| {
        let mut members: Vec<(&str, &Writer<'_>, bool)> = vec![];
        for (key, (writer, is_raw)) in keys.iter().zip(&writers) {
            if !(clauses.absent_on_null && writer.is_null(row)) {
                members.push((key.get(row)?, writer, *is_raw));
            }
        }
        members.sort_by(|(a, ..), (b, ..)| key_order(a, b));
        out.push('{');
        let mut is_first = true;
        for (n, (key, writer, is_raw)) in members.iter().enumerate() {
            if members.get(n + 1).is_some_and(|(next, ..)| next == key) {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                out.push(',');
            }
            push_quoted(key, out);
            out.push(':');
            write(writer, *is_raw, row, out);
        }
        out.push('}');
        Some(())
    })
}

/// `JSON_ARRAY(clauses, value ...)`
pub(super) fn array(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let clauses = build_of(args.texts(0)?.get(0).unwrap_or(""));
    let arrays = (0..args.count())
        .map(|i| if i > 0 { args.full(i) } else { Ok(args.raw(i)?.0.clone()) })
        .collect::<DfResult<Vec<_>>>()?;
    let writers = writers(call, &arrays, 1..args.count(), &clauses.raw)?;
    build(args, |row, out| {
        out.push('[');
        let mut is_first = true;
        for (writer, is_raw) in &writers {
            if clauses.absent_on_null && writer.is_null(row) {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                out.push(',');
            }
            write(writer, *is_raw, row, out);
        }
        out.push(']');
        Some(())
    })
}

/// JSON: the text as JSON without blanks, keys in order.
pub(super) fn canonical(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let mut invalid = false;
    let result = build(args, |row, out| {
        match Json::parse(texts.get(row)?) {
            Some(json) => json.push(out),
            None => invalid = true,
        }
        Some(())
    });
    if invalid {
        return Err(failure(Error::new("invalid-json", "'JSON' of a text that is no JSON")));
    }
    result
}

/// A JSON string of ASCII characters: `/` and what is beyond ASCII are escaped. Control characters other than those with
/// an escape of one letter stay, as in Flink.
pub(super) fn quote(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    build(args, |row, out| {
        out.push('"');
        for c in texts.get(row)?.chars() {
            match c {
                '"' | '\\' | '/' => out.extend(['\\', c]),
                '\u{8}' => out.push_str("\\b"),
                '\u{C}' => out.push_str("\\f"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if c.is_ascii() => out.push(c),
                c => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let _ = write!(out, "\\u{unit:04x}");
                    }
                }
            }
        }
        out.push('"');
        Some(())
    })
}
