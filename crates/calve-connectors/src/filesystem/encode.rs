//! Rows as the text of CSV, JSON and raw files.

use std::sync::Arc;

use arrow::array::ArrayRef;
use calve_stream::op::Ops;
use calve_types::{DataType, Error, Result};

use super::Format;
use super::changelog::ChangelogFormat;
use super::csv::CsvFormat;
use super::json::{JsonFormat, NullKey};
use super::parquet::ParquetEncoder;
use super::raw::RawFormat;
use crate::text::{TimestampFormat, push_base64};
use crate::values::{self, Kind, Stamp, Values};
use crate::{from_datafusion, java};

/// Turns batches into the bytes of a part file.
pub(crate) enum Encoder {
    Csv(Arc<CsvFormat>, Vec<(String, DataType)>, String),
    Json(Arc<JsonFormat>, Vec<(String, DataType)>, String),
    Changelog(ChangelogFormat, Vec<(String, DataType)>, String),
    Raw(RawFormat, Vec<(String, DataType)>),
    Parquet(Box<ParquetEncoder>),
}

impl Encoder {
    /// # Errors
    /// Columns that the format cannot write.
    pub fn new(format: &Format, columns: Vec<(String, DataType)>) -> Result<Self> {
        Ok(match format {
            Format::Csv(format) => Self::Csv(format.clone(), columns, String::new()),
            Format::Json(format) => Self::Json(format.clone(), columns, String::new()),
            Format::Changelog(format) => Self::Changelog(format.as_ref().clone(), columns, String::new()),
            Format::Raw(format) => Self::Raw(*format, columns),
            Format::Parquet(format) => Self::Parquet(Box::new(ParquetEncoder::new(format, &columns)?)),
        })
    }

    /// Appends rows; the kinds of their changes, if they have any, are the array behind the columns.
    ///
    /// # Errors
    /// Values that the format cannot write.
    pub fn write(&mut self, arrays: &[ArrayRef], out: &mut Vec<u8>) -> Result<()> {
        let rows = arrays.first().map_or(0, |array| array.len());
        match self {
            Self::Csv(format, columns, scratch) => {
                let values = prepared(arrays, columns)?;
                let values: Vec<Values<'_>> = values.into_iter().map(|(_, v)| v).collect();
                (0..rows).try_for_each(|row| format.encode(&values, row, scratch, out))
            }
            Self::Json(format, columns, scratch) => {
                let values = prepared(arrays, columns)?;
                (0..rows).try_for_each(|row| format.encode(&values, row, scratch, out))
            }
            Self::Changelog(format, columns, scratch) => {
                let values = prepared(arrays, columns)?;
                let ops = Ops::of(arrays.get(columns.len())).map_err(from_datafusion)?;
                (0..rows).try_for_each(|row| {
                    let op = ops.get(row).map_err(from_datafusion)?;
                    format.encode(op, &values, row, scratch, out)
                })
            }
            Self::Raw(format, columns) => match prepared(arrays, columns)?.first() {
                Some((_, values)) => (0..rows).try_for_each(|row| format.encode(values, row, out)),
                None => Err(Error::internal("format 'raw' without a column")),
            },
            Self::Parquet(encoder) => encoder.write(arrays, out),
        }
    }

    /// Bytes that are kept back so far.
    pub fn gathered(&self) -> u64 {
        match self {
            Self::Parquet(encoder) => encoder.gathered(),
            Self::Csv(..) | Self::Json(..) | Self::Changelog(..) | Self::Raw(..) => 0,
        }
    }

    /// Appends the end of the file.
    ///
    /// # Errors
    /// What the format's writer answers.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Parquet(encoder) => encoder.finish(out),
            Self::Csv(..) | Self::Json(..) | Self::Changelog(..) | Self::Raw(..) => Ok(()),
        }
    }
}

fn prepared<'a>(arrays: &'a [ArrayRef], columns: &'a [(String, DataType)]) -> Result<Vec<(&'a str, Values<'a>)>> {
    arrays
        .iter()
        .zip(columns)
        .map(|(array, (name, data_type))| Ok((name.as_str(), Values::new(array, &data_type.logical)?)))
        .collect()
}

/// `2024-01-05 10:11:12.5`, for a local time zone with `Z`.
fn push_stamp((seconds, nanos): Stamp, zoned: bool, separator: char, out: &mut String) {
    java::push_date(seconds.div_euclid(86_400), out);
    out.push(separator);
    java::push_clock(seconds.rem_euclid(86_400), nanos, out);
    if zoned {
        out.push('Z');
    }
}

/// Appends a value that is neither NULL nor nested as its text; `false` if it has none.
///
/// Decimals are handled by the callers.
fn push_simple(kind: &Kind<'_>, row: usize, separator: char, out: &mut String) -> bool {
    match kind {
        Kind::Boolean(_)
        | Kind::TinyInt(_)
        | Kind::SmallInt(_)
        | Kind::Int(_)
        | Kind::BigInt(_)
        | Kind::Float(_)
        | Kind::Double(_)
        | Kind::Text(_) => values::push_plain(kind, row, out),
        Kind::Bytes(a) => {
            let mut text = Vec::new();
            push_base64(a.value(row), &mut text);
            out.extend(text.iter().map(|b| char::from(*b)));
        }
        Kind::Date(a) => java::push_date(i64::from(a.value(row)), out),
        Kind::Time(a) => {
            let (seconds, nanos) = values::of_micros(a.value(row));
            java::push_clock(seconds, nanos, out);
        }
        Kind::Micros(a, zoned) => push_stamp(values::of_micros(a.value(row)), *zoned, separator, out),
        Kind::Nanos(a, zoned) => push_stamp(values::of_nanos(a.value(row)), *zoned, separator, out),
        Kind::Null | Kind::Decimal(..) | Kind::List(..) | Kind::Map(..) | Kind::Row(_) => return false,
    }
    true
}

impl CsvFormat {
    /// Appends a line.
    ///
    /// # Errors
    /// An internal error for types that CSV does not have.
    pub fn encode(&self, columns: &[Values<'_>], row: usize, scratch: &mut String, out: &mut Vec<u8>) -> Result<()> {
        let mut buffer = [0; 4];
        for (n, column) in columns.iter().enumerate() {
            if n > 0 {
                out.extend_from_slice(self.delimiter.encode_utf8(&mut buffer).as_bytes());
            }
            if column.is_null(row) {
                out.extend_from_slice(self.null_literal.as_deref().unwrap_or("").as_bytes());
                continue;
            }
            scratch.clear();
            let is_number = match &column.kind {
                Kind::List(offsets, elements) => {
                    for (n, i) in values::range(offsets, row).enumerate() {
                        self.push_element(n, elements, i, scratch)?;
                    }
                    false
                }
                Kind::Row(fields) => {
                    for (n, (_, field)) in fields.iter().enumerate() {
                        self.push_element(n, field, row, scratch)?;
                    }
                    false
                }
                kind => {
                    self.push_value(kind, row, scratch)?;
                    !matches!(
                        kind,
                        Kind::Text(_)
                            | Kind::Bytes(_)
                            | Kind::Date(_)
                            | Kind::Time(_)
                            | Kind::Micros(..)
                            | Kind::Nanos(..)
                    )
                }
            };
            if is_number {
                out.extend_from_slice(scratch.as_bytes());
            } else {
                self.push_text(scratch, out);
            }
        }
        out.push(b'\n');
        Ok(())
    }

    fn push_element(&self, n: usize, values: &Values<'_>, row: usize, out: &mut String) -> Result<()> {
        if n > 0 {
            out.push(self.array_delimiter);
        }
        if values.is_null(row) {
            out.push_str(self.null_literal.as_deref().unwrap_or(""));
            return Ok(());
        }
        self.push_value(&values.kind, row, out)
    }

    fn push_value(&self, kind: &Kind<'_>, row: usize, out: &mut String) -> Result<()> {
        if let Kind::Decimal(a, scale) = kind {
            // Jackson's DecimalNode drops zeros at the end
            let (unscaled, scale) = java::strip_zeros(a.value(row), *scale);
            if self.scientific {
                java::push_decimal(unscaled, scale, out);
            } else {
                java::push_plain_decimal(unscaled, scale, out);
            }
            return Ok(());
        }
        if push_simple(kind, row, ' ', out) { Ok(()) } else { Err(Error::internal("CSV has no such value")) }
    }

    /// Appends text, quoted if Jackson quotes it: loosely, by its length or any character up to the greatest of the
    /// delimiter, the quote and the line's end.
    fn push_text(&self, text: &str, out: &mut Vec<u8>) {
        const LONGEST_CHECKED: usize = 24;
        let mut buffer = [0; 4];
        let push = |c: char, out: &mut Vec<u8>| out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        let greatest = self.quote.map(|quote| self.delimiter.max(quote).max('\n'));
        let is_long = text.len() > LONGEST_CHECKED && text.encode_utf16().count() > LONGEST_CHECKED;
        let quote = self.quote.filter(|_| {
            is_long || text.chars().any(|c| greatest.is_some_and(|g| c <= g) || c == '\\' || Some(c) == self.escape)
        });
        if quote.is_none() && self.escape.is_none() {
            out.extend_from_slice(text.as_bytes());
            return;
        }
        if let Some(quote) = quote {
            push(quote, out);
        }
        for c in text.chars() {
            if Some(c) == quote || Some(c) == self.escape {
                push(c, out);
            }
            out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
        }
        if let Some(quote) = quote {
            push(quote, out);
        }
    }
}

impl JsonFormat {
    /// Appends a line: an object of the columns.
    ///
    /// # Errors
    /// A map's NULL key with `map-null-key.mode` FAIL.
    pub fn encode(
        &self,
        columns: &[(&str, Values<'_>)],
        row: usize,
        scratch: &mut String,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.push_row(columns, row, scratch, out)?;
        out.push(b'\n');
        Ok(())
    }

    /// Appends an object of the columns.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_object(
        &self,
        columns: &[(&str, Values<'_>)],
        row: usize,
        scratch: &mut String,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.push_row(columns, row, scratch, out)
    }

    fn push_row(
        &self,
        fields: &[(&str, Values<'_>)],
        row: usize,
        scratch: &mut String,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.push(b'{');
        let mut is_first = true;
        for (name, field) in fields {
            if self.ignore_nulls && field.is_null(row) {
                continue;
            }
            if !is_first {
                out.push(b',');
            }
            is_first = false;
            java::push_json_string(name, out);
            out.push(b':');
            self.push_value(field, row, scratch, out)?;
        }
        out.push(b'}');
        Ok(())
    }

    fn push_value(&self, values: &Values<'_>, row: usize, scratch: &mut String, out: &mut Vec<u8>) -> Result<()> {
        if values.is_null(row) {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        let is_finite = match &values.kind {
            Kind::Float(a) => a.value(row).is_finite(),
            Kind::Double(a) => a.value(row).is_finite(),
            _ => true,
        };
        match &values.kind {
            Kind::Text(a) => java::push_json_string(a.value(row), out),
            Kind::Decimal(a, scale) => {
                scratch.clear();
                if self.plain_decimals {
                    java::push_plain_decimal(a.value(row), i32::from(*scale), scratch);
                } else {
                    let (unscaled, scale) = java::strip_zeros(a.value(row), *scale);
                    java::push_decimal(unscaled, scale, scratch);
                }
                out.extend_from_slice(scratch.as_bytes());
            }
            Kind::List(offsets, elements) => {
                out.push(b'[');
                for (n, i) in values::range(offsets, row).enumerate() {
                    if n > 0 {
                        out.push(b',');
                    }
                    self.push_value(elements, i, scratch, out)?;
                }
                out.push(b']');
            }
            Kind::Map(offsets, entries) => {
                out.push(b'{');
                let mut is_first = true;
                for i in values::range(offsets, row) {
                    let key = match &entries.0.kind {
                        Kind::Text(keys) if !entries.0.is_null(i) => keys.value(i),
                        _ => match self.null_key {
                            NullKey::Drop => continue,
                            NullKey::Literal => &self.null_key_literal,
                            NullKey::Fail => return Err(null_key(self.name)),
                        },
                    };
                    if !is_first {
                        out.push(b',');
                    }
                    is_first = false;
                    java::push_json_string(key, out);
                    out.push(b':');
                    self.push_value(&entries.1, i, scratch, out)?;
                }
                out.push(b'}');
            }
            Kind::Row(fields) => self.push_row(fields, row, scratch, out)?,
            kind => {
                let separator = if self.timestamps == TimestampFormat::Iso { 'T' } else { ' ' };
                scratch.clear();
                push_simple(kind, row, separator, scratch);
                let is_text =
                    matches!(kind, Kind::Bytes(_) | Kind::Date(_) | Kind::Time(_) | Kind::Micros(..) | Kind::Nanos(..));
                if is_text || !is_finite {
                    java::push_json_string(scratch, out);
                } else {
                    out.extend_from_slice(scratch.as_bytes());
                }
            }
        }
        Ok(())
    }
}

fn null_key(format: &str) -> Error {
    Error::new("invalid-value", "a map with a NULL key cannot be written as JSON")
        .with_detail(
            "JSON format doesn't support to serialize map data with null keys. You can drop null key entries or encode \
             null in literals by specifying map-null-key.mode option.",
        )
        .with_hint(format!("set '{format}.map-null-key.mode' to DROP or LITERAL"))
}

impl RawFormat {
    /// Appends a line.
    ///
    /// # Errors
    /// NULL, which the format does not have.
    pub fn encode(self, column: &Values<'_>, row: usize, out: &mut Vec<u8>) -> Result<()> {
        if column.is_null(row) {
            return Err(Error::new("invalid-value", "format 'raw' has no NULL"))
                .map_err(|e: Error| e.with_hint("filter the rows, or write CSV or JSON"));
        }
        let start = out.len();
        match &column.kind {
            Kind::Text(a) => out.extend_from_slice(a.value(row).as_bytes()),
            Kind::Bytes(a) => out.extend_from_slice(a.value(row)),
            Kind::Boolean(a) => out.push(u8::from(a.value(row))),
            Kind::TinyInt(a) => out.extend(a.value(row).to_be_bytes()),
            Kind::SmallInt(a) => out.extend(a.value(row).to_be_bytes()),
            Kind::Int(a) => out.extend(a.value(row).to_be_bytes()),
            Kind::BigInt(a) => out.extend(a.value(row).to_be_bytes()),
            Kind::Float(a) => out.extend(a.value(row).to_be_bytes()),
            Kind::Double(a) => out.extend(a.value(row).to_be_bytes()),
            _ => return Err(Error::internal("format 'raw' has no such value")),
        }
        let is_number = !matches!(column.kind, Kind::Text(_) | Kind::Bytes(_));
        if self.little_endian
            && is_number
            && let Some(bytes) = out.get_mut(start..)
        {
            bytes.reverse();
        }
        out.push(b'\n');
        Ok(())
    }
}
