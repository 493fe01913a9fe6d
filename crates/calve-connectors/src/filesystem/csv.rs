//! CSV as Flink's format reads it: Jackson's parser with the table's columns as schema.
//!
//! A field is quoted if its first character is the quote; quotes inside of it are doubled or escaped, and after the
//! closing one only blanks may follow. A line may end in `\n`, `\r\n` or `\r`. A row of fewer fields than columns are
//! read is an error, or NULLs with `ignore-parse-errors`; one of more fields than the table has columns is an error, or
//! left out, unless there is one more and it is blank.

mod format;

use std::io::Read;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use calve_types::{Error, LogicalType, Result};

pub(crate) use self::format::CsvFormat;
use super::lines::{Input, Place};
use crate::builder::{Builder, batch};
use crate::text::{self, TimestampFormat, Why};

/// A column that is read.
#[derive(Debug)]
pub(crate) struct CsvColumn {
    /// Its place in the file's rows.
    pub index: usize,
    /// Its name, for messages.
    pub name: String,
    /// Its type, for messages.
    pub logical: LogicalType,
    /// Its values so far.
    pub builder: Builder,
}

/// Reads the rows of one file.
pub(crate) struct CsvReader<R> {
    format: Arc<CsvFormat>,
    input: Input<R>,
    /// Columns in the file, those that are not read included.
    arity: usize,
    columns: Vec<CsvColumn>,
    schema: SchemaRef,
    record: Record,
    delimiter: Pattern,
    quote: Option<Pattern>,
    escape: Option<Pattern>,
}

/// A character as UTF-8.
#[derive(Debug, Clone, Copy)]
struct Pattern {
    bytes: [u8; 4],
    len: usize,
}

impl Pattern {
    fn new(c: char) -> Self {
        let mut bytes = [0; 4];
        let len = c.encode_utf8(&mut bytes).len();
        Self { bytes, len }
    }

    fn first(&self) -> u8 {
        self.bytes[0]
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(1..self.len).unwrap_or_default()
    }
}

/// The fields of a row: their text, one after the other, and where each ends.
#[derive(Debug, Default)]
struct Record {
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// How a field ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Field,
    Record,
    File,
}

impl<R: Read> CsvReader<R> {
    pub fn new(
        format: Arc<CsvFormat>,
        input: R,
        place: Place,
        arity: usize,
        columns: Vec<CsvColumn>,
        schema: SchemaRef,
    ) -> Self {
        Self {
            delimiter: Pattern::new(format.delimiter),
            quote: format.quote.map(Pattern::new),
            escape: format.escape.map(Pattern::new),
            format,
            input: Input::new(input, place),
            arity,
            columns,
            schema,
            record: Record::default(),
        }
    }

    /// The next rows, at most `limit`; `None` at the end.
    ///
    /// # Errors
    /// A malformed row, text that is no UTF-8, what the file's reader answers.
    pub fn next(&mut self, limit: usize) -> Result<Option<RecordBatch>> {
        let mut rows = 0;
        while rows < limit {
            let line = self.input.line();
            match self.read_record() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if error.code == MALFORMED && self.format.ignore_errors => {
                    self.input.skip_line()?;
                    continue;
                }
                Err(error) => return Err(error),
            }
            if self.append_record(line)? {
                rows += 1;
            }
        }
        batch(self.columns.iter_mut().map(|c| &mut c.builder), rows, &self.schema)
    }

    /// Reads a row's fields; `false` at the end of the file.
    fn read_record(&mut self) -> Result<bool> {
        self.record.text.clear();
        self.record.ends.clear();
        if self.format.comments {
            self.skip_comments()?;
        }
        if self.input.peek()?.is_none() {
            return Ok(false);
        }
        loop {
            let end = self.read_field()?;
            self.record.ends.push(self.record.text.len());
            if end != End::Field {
                return Ok(true);
            }
        }
    }

    /// Skips lines whose first character after blanks is `#`.
    fn skip_comments(&mut self) -> Result<()> {
        loop {
            let mut blanks = 0;
            while matches!(self.input.peek_at(blanks)?, Some(b' ' | b'\t')) {
                blanks += 1;
            }
            if self.input.peek_at(blanks)? != Some(b'#') {
                return Ok(());
            }
            self.input.skip_line()?;
        }
    }

    fn read_field(&mut self) -> Result<End> {
        if let Some(quote) = self.quote
            && self.takes(quote)?
        {
            self.read_quoted(quote)?;
            return self.read_after_quote();
        }
        let (delimiter, escape) = (self.delimiter, self.escape);
        loop {
            let is_plain =
                |b: u8| b != b'\n' && b != b'\r' && b != delimiter.first() && escape.is_none_or(|e| b != e.first());
            self.input.take_while(is_plain, &mut self.record.text)?;
            if self.takes(delimiter)? {
                return Ok(End::Field);
            }
            if let Some(escape) = escape
                && self.takes(escape)?
            {
                self.read_escaped()?;
                continue;
            }
            match self.input.bump()? {
                None => return Ok(End::File),
                Some(b'\n') => return Ok(End::Record),
                Some(b'\r') => {
                    if self.input.peek()? == Some(b'\n') {
                        self.input.bump()?;
                    }
                    return Ok(End::Record);
                }
                Some(byte) => self.record.text.push(byte),
            }
        }
    }

    /// The rest of a quoted field, its closing quote included.
    fn read_quoted(&mut self, quote: Pattern) -> Result<()> {
        let line = self.input.line();
        let escape = self.escape;
        loop {
            let is_plain = |b: u8| b != quote.first() && escape.is_none_or(|e| b != e.first());
            self.input.take_while(is_plain, &mut self.record.text)?;
            if let Some(escape) = escape
                && escape.first() != quote.first()
                && self.takes(escape)?
            {
                self.read_escaped()?;
                continue;
            }
            if self.takes(quote)? {
                if !self.takes(quote)? {
                    return Ok(());
                }
                self.record.text.extend_from_slice(quote.bytes.get(..quote.len).unwrap_or_default());
                continue;
            }
            match self.input.bump()? {
                Some(byte) => self.record.text.push(byte),
                None => return Err(self.malformed(line, "a quote is not closed", "Missing closing quote for value")),
            }
        }
    }

    /// Only blanks may stand between a closing quote and the field's end.
    fn read_after_quote(&mut self) -> Result<End> {
        loop {
            if self.takes(self.delimiter)? {
                return Ok(End::Field);
            }
            let line = self.input.line();
            match self.input.peek()? {
                None => return Ok(End::File),
                Some(byte) if byte > b' ' => {
                    let shown = char::from(byte);
                    return Err(self.malformed(
                        line,
                        &format!("'{shown}' stands after a closing quote"),
                        &format!(
                            "Unexpected character ('{shown}' (code {byte})): Expected column separator character ('{}' \
                             (code {})) or end-of-line",
                            self.format.delimiter,
                            u32::from(self.format.delimiter)
                        ),
                    ));
                }
                Some(byte) => {
                    self.input.bump()?;
                    if byte == b'\r' && self.input.peek()? == Some(b'\n') {
                        self.input.bump()?;
                    }
                    if byte == b'\n' || byte == b'\r' {
                        return Ok(End::Record);
                    }
                }
            }
        }
    }

    /// The character after the escape character stands for itself, but for `0`, `n`, `r` and `t`.
    fn read_escaped(&mut self) -> Result<()> {
        if let Some(byte) = self.input.bump()? {
            self.record.text.push(match byte {
                b'0' => 0,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                other => other,
            });
        }
        Ok(())
    }

    fn takes(&mut self, pattern: Pattern) -> Result<bool> {
        self.input.takes(pattern.first(), pattern.rest())
    }

    /// Appends the row that was read to the columns; `false` if it is left out.
    fn append_record(&mut self, line: u64) -> Result<bool> {
        let Self { format, input, columns, record, arity, .. } = self;
        let text = std::str::from_utf8(&record.text).map_err(|e| {
            let byte = record.text.get(e.valid_up_to()).copied().unwrap_or_default();
            input.place().error("invalid-encoding", line, "text that is no UTF-8").with_detail(format!(
                "Invalid UTF-8 start byte 0x{byte:x}: check content encoding, does not look like UTF-8"
            ))
        })?;
        let field = |index: usize| {
            let end = *record.ends.get(index)?;
            let start = match index {
                0 => 0,
                _ => *record.ends.get(index - 1)?,
            };
            text.get(start..end)
        };
        let count = record.ends.len();
        // One blank field more is a delimiter at the end of the line.
        let is_trailing = |index: usize| field(index).is_some_and(|f| text::trim(f).is_empty());
        if count > *arity + 1 || (count == *arity + 1 && !is_trailing(*arity)) {
            if format.ignore_errors {
                return Ok(false);
            }
            let value = field(*arity).unwrap_or_default();
            return Err(input
                .place()
                .error(MALFORMED, line, &format!("a row of {count} fields where the table has {arity} columns"))
                .with_detail(format!("Too many entries: expected at most {arity} (value #{arity} \"{value}\")"))
                .with_hint(LEFT_OUT));
        }
        // Flink compares with the number of columns that are read.
        let expected = columns.len();
        if count < expected && !format.ignore_errors {
            return Err(input
                .place()
                .error(MALFORMED, line, &format!("a row of {count} fields where the table has {arity} columns"))
                .with_detail(format!("Row length mismatch. {expected} fields expected but was {count}."))
                .with_hint("'csv.ignore-parse-errors' = 'true' reads the missing fields as NULL"));
        }
        for column in columns {
            match field(column.index) {
                None => column.builder.append_null(),
                Some(field) => {
                    if let Err(why) = append(&mut column.builder, field, format) {
                        return Err(input
                            .place()
                            .error(
                                MALFORMED,
                                line,
                                &format!(
                                    "'{}' in column '{}' of type {}",
                                    shortened(field),
                                    column.name,
                                    column.logical
                                ),
                            )
                            .with_detail(format!("Fail to deserialize at field: {}. {why}", column.name))
                            .with_hint("'csv.ignore-parse-errors' = 'true' reads such a field as NULL"));
                    }
                }
            }
        }
        Ok(true)
    }

    fn malformed(&self, line: u64, what: &str, detail: &str) -> Error {
        self.input.place().error(MALFORMED, line, what).with_detail(detail).with_hint(LEFT_OUT)
    }
}

/// The code of a row that is not as its format asks.
pub(crate) const MALFORMED: &str = "malformed-row";
const LEFT_OUT: &str = "'csv.ignore-parse-errors' = 'true' leaves such a row out";

/// A value as far as a message shows it.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Appends a field's value; with `ignore-parse-errors` NULL for what is none.
fn append(builder: &mut Builder, field: &str, format: &CsvFormat) -> Result<(), Why> {
    match builder {
        Builder::List(list) => {
            // The elements before a malformed one stay behind as part of no row; the read fails then.
            for element in elements(field, format) {
                append_simple(&mut list.values, element, format)?;
            }
            list.close(true);
            Ok(())
        }
        Builder::Row(row) => {
            let arity = row.columns.len();
            let count = elements(field, format).count();
            if count == 0 {
                builder.append_null();
                return Ok(());
            }
            if count < arity && !format.ignore_errors {
                return Err(format!("Row length mismatch. {arity} fields expected but was {count}."));
            }
            let mut values = elements(field, format);
            for column in &mut row.columns {
                match values.next() {
                    Some(value) => append_simple(column, value, format)?,
                    None => column.append_null(),
                }
            }
            row.close();
            Ok(())
        }
        _ => append_simple(builder, field, format),
    }
}

/// The parts of an array's or row's text; none if it is blank.
fn elements<'a>(field: &'a str, format: &CsvFormat) -> impl Iterator<Item = &'a str> {
    let count = if text::trim(field).is_empty() { 0 } else { usize::MAX };
    field.split(format.array_delimiter).take(count)
}

fn append_simple(builder: &mut Builder, field: &str, format: &CsvFormat) -> Result<(), Why> {
    if format.null_literal.as_deref() == Some(field) {
        builder.append_null();
        return Ok(());
    }
    match append_value(builder, field) {
        Err(_) if format.ignore_errors => {
            builder.append_null();
            Ok(())
        }
        result => result,
    }
}

/// Appends a field's value, converted as `CsvToRowDataConverters` does; nothing if it is none.
fn append_value(builder: &mut Builder, field: &str) -> Result<(), Why> {
    let trimmed = text::trim(field);
    match builder {
        Builder::Text(b) => b.append_value(field),
        Builder::Boolean(b) => b.append_value(trimmed.eq_ignore_ascii_case("true")),
        Builder::TinyInt(b) => b.append_value(text::integer(trimmed)?),
        Builder::SmallInt(b) => b.append_value(text::integer(trimmed)?),
        Builder::Int(b) => b.append_value(text::integer(trimmed)?),
        Builder::BigInt(b) => b.append_value(text::integer(trimmed)?),
        Builder::Float(b) => b.append_value(text::float(field)?),
        Builder::Double(b) => b.append_value(text::float(field)?),
        Builder::Decimal(b, precision, scale) => b.append_option(text::decimal(field, *precision, *scale)?),
        Builder::Bytes(b) => b.append_value(text::base64(field)?),
        Builder::Date(b) => b.append_value(text::sql_date(field)?),
        Builder::Time(b, precision) => b.append_value(text::iso_time(field, *precision)?),
        Builder::Timestamp(b) => {
            let stamp = text::timestamp(trimmed, TimestampFormat::Sql, b.zoned)?;
            let unit = text::timestamp_unit(stamp, b.precision);
            b.units.append_value(unit.ok_or_else(|| format!("'{trimmed}' is out of range"))?);
        }
        Builder::List(_) | Builder::Map(_) | Builder::Row(_) => return Err("a nested value".to_owned()),
    }
    Ok(())
}
