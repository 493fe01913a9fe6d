//! JSON as Flink's format reads it: one value on each line, an object or an array of objects.
//!
//! Text after the first value of a line is ignored, as Jackson does. With `ignore-parse-errors` a field that is no
//! value of its column is NULL and a line that is no JSON is left out.

mod format;

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use calve_types::{DataType, LogicalType, Result};

pub(crate) use self::format::{JsonFormat, NullKey};
use super::csv::{MALFORMED, shortened};
use super::lines::{Input, Place};
use super::tape::{Kind, Tape};
use crate::builder::{Builder, batch};
use crate::java;
use crate::text::{self, Why};

/// A value that is read: a column, or what lies inside of one.
#[derive(Debug)]
enum Shape {
    Simple,
    Array(Box<Shape>),
    Map(Box<Shape>),
    Row(Fields),
}

impl Shape {
    fn new(logical: &LogicalType) -> Self {
        match logical {
            LogicalType::Array(element) => Self::Array(Box::new(Self::new(&element.logical))),
            LogicalType::Map(_, value) => Self::Map(Box::new(Self::new(&value.logical))),
            LogicalType::Multiset(_) => Self::Map(Box::new(Self::Simple)),
            LogicalType::Row(fields) => {
                Self::Row(Fields::new(fields.iter().map(|f| (f.name.clone(), &f.data_type.logical))))
            }
            _ => Self::Simple,
        }
    }
}

/// The fields of an object that are read.
#[derive(Debug)]
struct Fields {
    names: Vec<String>,
    /// For messages.
    types: Vec<LogicalType>,
    shapes: Vec<Shape>,
    index: HashMap<String, usize>,
}

impl Fields {
    fn new<'a>(fields: impl Iterator<Item = (String, &'a LogicalType)>) -> Self {
        let (names, types): (Vec<_>, Vec<_>) = fields.map(|(name, logical)| (name, logical.clone())).unzip();
        let shapes = types.iter().map(Shape::new).collect();
        let index = names.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
        Self { names, types, shapes, index }
    }
}

/// Reads the rows of one file.
pub(crate) struct JsonReader<R> {
    decoder: Decoder,
    input: Input<R>,
    columns: Vec<Builder>,
    schema: SchemaRef,
    line: Vec<u8>,
}

impl<R: Read> JsonReader<R> {
    /// A reader of these columns.
    ///
    /// # Errors
    /// Types that cannot be read.
    pub fn new(
        format: Arc<JsonFormat>,
        input: R,
        place: Place,
        columns: &[(String, DataType)],
        schema: SchemaRef,
    ) -> Result<Self> {
        let builders = columns.iter().map(|(_, t)| Builder::new(&t.logical)).collect::<Result<_>>()?;
        Ok(Self {
            decoder: Decoder::new(format, columns),
            input: Input::new(input, place),
            columns: builders,
            schema,
            line: Vec::new(),
        })
    }

    /// The next rows, about `limit`; `None` at the end.
    ///
    /// # Errors
    /// A malformed line, what the file's reader answers.
    pub fn next(&mut self, limit: usize) -> Result<Option<RecordBatch>> {
        let mut rows = 0;
        while rows < limit {
            let number = self.input.line();
            if !self.input.next_line(&mut self.line)? {
                break;
            }
            match self.decoder.append_line(&self.line, &mut self.columns) {
                Ok(count) => rows += count,
                Err(Wrong { what, detail, hint }) => {
                    return Err(self.input.place().error(MALFORMED, number, &what).with_detail(detail).with_hint(hint));
                }
            }
        }
        batch(self.columns.iter_mut(), rows, &self.schema)
    }
}

/// What is wrong in a line.
pub(crate) struct Wrong {
    pub what: String,
    detail: String,
    pub hint: String,
}

/// Turns the objects of a parsed line into rows.
pub(crate) struct Decoder {
    format: Arc<JsonFormat>,
    fields: Fields,
    pub tape: Tape,
    /// Where the value of each column stands on the tape.
    found: Vec<Option<usize>>,
}

impl Decoder {
    /// A decoder of these columns.
    pub fn new(format: Arc<JsonFormat>, columns: &[(String, DataType)]) -> Self {
        let fields = Fields::new(columns.iter().map(|(name, t)| (name.clone(), &t.logical)));
        Self { format, fields, tape: Tape::default(), found: Vec::new() }
    }

    /// Appends an object's row.
    ///
    /// # Errors
    /// A field that is no value of its column.
    pub fn append(&mut self, object: usize, columns: &mut [Builder]) -> Result<(), Failed> {
        let mut found = std::mem::take(&mut self.found);
        let result = self.append_fields(object, &self.fields, columns, &mut found);
        self.found = found;
        result
    }

    /// Appends the row that was there before a change: the object's fields, and those of the row `after` whose names
    /// stand nowhere in `old`.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn append_old(
        &mut self,
        object: usize,
        old: usize,
        after: usize,
        columns: &mut [Builder],
    ) -> Result<(), Failed> {
        let (mut found, mut new) = (Vec::new(), Vec::new());
        self.find(object, &self.fields, &mut found);
        self.find(after, &self.fields, &mut new);
        let named = self.tape.names(old);
        for ((place, new), name) in found.iter_mut().zip(new).zip(&self.fields.names) {
            if place.is_none() && !named.contains(name.as_str()) {
                *place = new;
            }
        }
        self.append_found(&found, &self.fields, columns)
    }

    /// Appends the rows of a line; returns how many.
    fn append_line(&mut self, line: &[u8], columns: &mut [Builder]) -> Result<usize, Wrong> {
        if line.iter().all(|b| b.is_ascii_whitespace()) {
            return Ok(0);
        }
        if let Err(why) = self.tape.parse(line) {
            if self.format.ignore_errors {
                return Ok(0);
            }
            return Err(Wrong {
                what: format!("text that is no JSON: {why}"),
                detail: format!("Failed to deserialize JSON '{}'.", shortened(&String::from_utf8_lossy(line))),
                hint: "'json.ignore-parse-errors' = 'true' leaves such a line out".to_owned(),
            });
        }
        match self.tape.kind(0) {
            Some(Kind::Object { .. }) => {
                self.row(0, columns)?;
                Ok(1)
            }
            Some(Kind::Array { .. }) => {
                let items: Vec<usize> = self.tape.items(0).collect();
                if items.iter().any(|item| !matches!(self.tape.kind(*item), Some(Kind::Object { .. }))) {
                    return self.no_object();
                }
                for item in &items {
                    self.row(*item, columns)?;
                }
                Ok(items.len())
            }
            Some(Kind::Null) if !self.format.json_parser => Ok(0),
            _ => self.no_object(),
        }
    }

    fn no_object(&self) -> Result<usize, Wrong> {
        if self.format.ignore_errors {
            return Ok(0);
        }
        Err(Wrong {
            what: "a value that is no JSON object".to_owned(),
            detail: "Illegal JSON object data...".to_owned(),
            hint: "'json.ignore-parse-errors' = 'true' leaves such a line out".to_owned(),
        })
    }

    fn row(&mut self, object: usize, columns: &mut [Builder]) -> Result<(), Wrong> {
        self.append(object, columns).map_err(|failed| failed.told(&self.format))
    }

    /// Appends an object's fields to a row's columns.
    fn append_fields(
        &self,
        object: usize,
        fields: &Fields,
        columns: &mut [Builder],
        found: &mut Vec<Option<usize>>,
    ) -> Result<(), Failed> {
        self.find(object, fields, found);
        self.append_found(found, fields, columns)
    }

    /// Where the values of an object's fields stand. The later of two fields of one name counts.
    fn find(&self, object: usize, fields: &Fields, found: &mut Vec<Option<usize>>) {
        found.clear();
        found.resize(fields.names.len(), None);
        let mut expected = 0;
        for (name, value) in self.tape.entries(object) {
            // the fields of most lines come in the same order
            let index = if fields.names.get(expected).is_some_and(|n| *n == *name) {
                Some(expected)
            } else {
                fields.index.get(&*name).copied()
            };
            if let Some(index) = index {
                if let Some(slot) = found.get_mut(index) {
                    *slot = Some(value);
                }
                expected = index + 1;
            }
        }
    }

    fn append_found(&self, found: &[Option<usize>], fields: &Fields, columns: &mut [Builder]) -> Result<(), Failed> {
        let shapes = fields.names.iter().zip(&fields.types).zip(&fields.shapes);
        for (i, (((name, logical), shape), column)) in shapes.zip(columns).enumerate() {
            match found.get(i).copied().flatten() {
                Some(value) => self.append_nullable(value, shape, column).map_err(|e| e.inside(name, logical))?,
                None if self.format.fail_on_missing => return Err(Failed::Missing(name.clone())),
                None => column.append_null(),
            }
        }
        Ok(())
    }

    /// Appends a value; with `ignore-parse-errors` NULL for what is none.
    fn append_nullable(&self, value: usize, shape: &Shape, builder: &mut Builder) -> Result<(), Failed> {
        if matches!(self.tape.kind(value), None | Some(Kind::Null)) {
            builder.append_null();
            return Ok(());
        }
        let failed = |why: Why| Failed::Field {
            path: String::new(),
            logical: LogicalType::Null,
            value: self.tape.text_of(value),
            why,
        };
        let result = match (shape, &mut *builder) {
            (Shape::Array(element), Builder::List(list)) => {
                if !matches!(self.tape.kind(value), Some(Kind::Array { .. })) {
                    Err(failed("no array".to_owned()))
                } else {
                    for item in self.tape.items(value) {
                        self.append_nullable(item, element, &mut list.values)?;
                    }
                    list.close(true);
                    Ok(())
                }
            }
            (Shape::Map(inner), Builder::Map(map)) => {
                let is_object = matches!(self.tape.kind(value), Some(Kind::Object { .. }));
                if !is_object && self.format.json_parser {
                    Err(failed("no object".to_owned()))
                } else if !is_object {
                    // a tree that is no object has no entries
                    map.close(true);
                    Ok(())
                } else {
                    for (name, item) in self.tape.distinct_entries(value) {
                        if let Builder::Text(keys) = &mut *map.keys {
                            keys.append_value(&*name);
                        }
                        self.append_nullable(item, inner, &mut map.values)?;
                    }
                    map.close(true);
                    Ok(())
                }
            }
            (Shape::Row(fields), Builder::Row(row)) => {
                if !matches!(self.tape.kind(value), Some(Kind::Object { .. })) {
                    Err(failed("no object".to_owned()))
                } else {
                    self.append_fields(value, fields, &mut row.columns, &mut Vec::new())?;
                    row.close();
                    Ok(())
                }
            }
            (_, builder) => self.append_simple(value, builder).map_err(failed),
        };
        match result {
            Err(_) if self.format.ignore_errors => {
                builder.append_null();
                Ok(())
            }
            result => result,
        }
    }

    /// Appends a value converted as `JsonParserToRowDataConverters` does; nothing if it is none.
    fn append_simple(&self, value: usize, builder: &mut Builder) -> Result<(), Why> {
        let kind = self.tape.kind(value).unwrap_or(Kind::Null);
        let is_number = matches!(kind, Kind::Number);
        let scalar = self.tape.scalar(value);
        if let Builder::Text(b) = builder {
            match &scalar {
                Some(text) if is_number && !self.keep_text(text) => {
                    let number: f64 = text.parse().map_err(|_| "no number".to_owned())?;
                    b.append_value(java::double(number));
                }
                Some(text) => b.append_value(&**text),
                None => b.append_value(self.tape.text_of(value)),
            }
            return Ok(());
        }
        let text = scalar.ok_or_else(|| "an array or an object".to_owned());
        if let Builder::Boolean(b) = builder {
            // an array's or object's text is empty, which is not true
            b.append_value(!is_number && text.is_ok_and(|t| text::trim(&t).eq_ignore_ascii_case("true")));
            return Ok(());
        }
        let text = text?;
        let trimmed = text::trim(&text);
        match builder {
            Builder::TinyInt(b) => b.append_value(text::integer(trimmed)?),
            Builder::SmallInt(b) => b.append_value(text::integer(trimmed)?),
            Builder::Int(b) if is_number => b.append_value(whole(trimmed)?),
            Builder::Int(b) => b.append_value(text::integer(trimmed)?),
            Builder::BigInt(b) if is_number => b.append_value(whole(trimmed)?),
            Builder::BigInt(b) => b.append_value(text::integer(trimmed)?),
            Builder::Float(b) => b.append_value(text::float(&text)?),
            Builder::Double(b) => b.append_value(text::float(&text)?),
            Builder::Decimal(b, precision, scale) => {
                let text = if self.format.json_parser { trimmed } else { &*text };
                b.append_option(text::decimal(text, *precision, *scale)?);
            }
            Builder::Bytes(_) if !matches!(kind, Kind::Text { .. }) => return Err("no text".to_owned()),
            Builder::Bytes(b) => b.append_value(text::base64(&text)?),
            Builder::Date(b) => b.append_value(text::iso_date(&text)?),
            Builder::Time(b, precision) => b.append_value(text::sql_time(&text, *precision)?),
            Builder::Timestamp(b) => {
                let stamp = text::timestamp(&text, self.format.timestamps, b.zoned)?;
                let unit = text::timestamp_unit(stamp, b.precision);
                b.units.append_value(unit.ok_or_else(|| format!("'{text}' is out of range"))?);
            }
            _ => return Err("a nested value".to_owned()),
        }
        Ok(())
    }

    /// Whether a number read as STRING is its text: always, or else unless it is a floating point number.
    fn keep_text(&self, number: &str) -> bool {
        self.format.json_parser || !number.contains(['.', 'e', 'E'])
    }
}

/// A JSON number without its fraction, as Jackson's `getIntValue` gives it.
fn whole<N: TryFrom<i64> + std::str::FromStr>(number: &str) -> Result<N, Why> {
    let out_of_range = || format!("Numeric value ({number}) out of range");
    if number.contains(['.', 'e', 'E']) {
        let value: f64 = number.parse().map_err(|_| out_of_range())?;
        // Java's `(double) Long.MAX_VALUE`; beyond it `as` would saturate
        if value.abs() > 9_223_372_036_854_775_808.0 {
            return Err(out_of_range());
        }
        return N::try_from(value as i64).map_err(|_| out_of_range());
    }
    number.parse().map_err(|_| out_of_range())
}

/// Why a row cannot be decoded.
pub(crate) enum Failed {
    Field { path: String, logical: LogicalType, value: String, why: Why },
    Missing(String),
}

impl Failed {
    /// What is wrong, for whoever reads the table.
    pub fn told(self, format: &JsonFormat) -> Wrong {
        match self {
            Self::Field { path, logical, value, why } => Wrong {
                what: format!("'{}' in column '{path}' of type {logical}", shortened(&value)),
                detail: format!("Fail to deserialize at field: {path}. {why}"),
                hint: format!("'{}.ignore-parse-errors' = 'true' reads such a field as NULL", format.name),
            },
            Self::Missing(name) => Wrong {
                what: format!("no field '{name}'"),
                detail: format!("Some field is missing in the JSON data. Could not find field with name '{name}'."),
                hint: format!("without '{}.fail-on-missing-field' it is read as NULL", format.name),
            },
        }
    }

    /// Seen from the row around it.
    fn inside(self, name: &str, outer: &LogicalType) -> Self {
        match self {
            Self::Field { path, value, why, .. } if path.is_empty() => {
                Self::Field { path: name.to_owned(), logical: outer.clone(), value, why }
            }
            Self::Field { path, logical, value, why } => {
                Self::Field { path: format!("{name}.{path}"), logical, value, why }
            }
            Self::Missing(inner) => Self::Missing(format!("{name}.{inner}")),
        }
    }
}
