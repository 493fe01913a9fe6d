//! Messages to rows and what happens to them.
//!
//! As Flink does, a message is converted as a whole before anything is made of it: an image that nobody needs must still
//! hold values of the table's types. With `ignore-parse-errors` a field that is no value is NULL, and what nothing can be
//! made of is left out; rows that came of a message before that stay.

use std::io::Read;

use arrow::array::{ArrayRef, Int8Array};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use calve_stream::Op;
use calve_types::{DataType, Error, Result};

use super::super::csv::{MALFORMED, shortened};
use super::super::json::{Decoder, Failed};
use super::super::lines::{Input, Place};
use super::super::tape::{Kind, Tape};
use super::{ChangelogFormat, Dialect};
use crate::builder::Builder;

/// Reads the changes of one file.
pub(crate) struct ChangelogReader<R> {
    format: ChangelogFormat,
    decoder: Decoder,
    input: Input<R>,
    columns: Vec<Builder>,
    /// Takes the images that are converted to see whether they can be.
    unused: Vec<Builder>,
    ops: Vec<i8>,
    schema: SchemaRef,
    line: Vec<u8>,
}

/// Why a message gives no rows, or no more of them.
enum Wrong {
    /// What it has, and what is to be done.
    Message(String, Option<&'static str>),
    /// A field that is no value of its column.
    Field(Failed),
}

impl From<Failed> for Wrong {
    fn from(failed: Failed) -> Self {
        Self::Field(failed)
    }
}

fn wrong<T>(what: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::Message(what.into(), None))
}

/// What the field `name` says is none of the changes there are.
fn no_change<T>(name: &str, word: &str) -> Result<T, Wrong> {
    wrong(format!("'{}' in field '{name}', which is no change", shortened(word)))
}

/// An image of a row: the object it is, and the one that has the fields it lacks.
#[derive(Clone, Copy)]
struct Image {
    object: usize,
    /// The value of `old` as a whole, and the row after the change: a field that is named nowhere in `old` has not
    /// changed.
    rest: Option<(usize, usize)>,
}

impl Image {
    fn of(object: usize) -> Self {
        Self { object, rest: None }
    }
}

impl<R: Read> ChangelogReader<R> {
    /// A reader of these columns. `schema` has one more, for the changes.
    ///
    /// # Errors
    /// Types that cannot be read.
    pub fn new(
        format: &ChangelogFormat,
        input: R,
        place: Place,
        columns: &[(String, DataType)],
        schema: SchemaRef,
    ) -> Result<Self> {
        let builders = || columns.iter().map(|(_, t)| Builder::new(&t.logical)).collect::<Result<Vec<_>>>();
        Ok(Self {
            format: format.clone(),
            decoder: Decoder::new(format.json.clone(), columns),
            input: Input::new(input, place),
            columns: builders()?,
            unused: builders()?,
            ops: Vec::new(),
            schema,
            line: Vec::new(),
        })
    }

    /// The next changes, about `limit`; `None` at the end.
    ///
    /// # Errors
    /// A message that nothing can be made of, what the file's reader answers.
    pub fn next(&mut self, limit: usize) -> Result<Option<RecordBatch>> {
        while self.ops.len() < limit {
            let number = self.input.line();
            if !self.input.next_line(&mut self.line)? {
                break;
            }
            // a tombstone
            if self.line.is_empty() {
                continue;
            }
            if let Err(wrong) = self.message()
                && !self.format.json.ignore_errors
            {
                return Err(self.error(number, wrong));
            }
            for builder in &mut self.unused {
                if builder.len() >= limit {
                    builder.finish()?;
                }
            }
        }
        if self.ops.is_empty() {
            return Ok(None);
        }
        let ops: ArrayRef = std::sync::Arc::new(Int8Array::from(std::mem::take(&mut self.ops)));
        let rows = ops.len();
        let mut arrays = self.columns.iter_mut().map(Builder::finish).collect::<Result<Vec<_>>>()?;
        arrays.push(ops);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options).map(Some).map_err(Error::internal)
    }

    fn error(&self, line: u64, wrong: Wrong) -> Error {
        let ignore = || format!("'{}.ignore-parse-errors' = 'true' leaves such a message out", self.format.name);
        let (what, hint) = match wrong {
            Wrong::Message(what, hint) => (what, hint.map_or_else(ignore, str::to_owned)),
            Wrong::Field(failed) => {
                let wrong = failed.told(&self.format.json);
                (wrong.what, wrong.hint)
            }
        };
        let message = shortened(&String::from_utf8_lossy(&self.line));
        let error = self.input.place().error(MALFORMED, line, &what);
        error.with_detail(format!("Corrupt {} JSON message '{message}'.", self.format.title())).with_hint(hint)
    }

    /// Appends the changes of the message in `line`.
    fn message(&mut self) -> Result<(), Wrong> {
        if let Err(why) = self.decoder.tape.parse(&self.line) {
            return wrong(format!("text that is no JSON: {why}"));
        }
        match self.format.dialect.clone() {
            Dialect::Debezium { schema_include } => {
                let root = if schema_include { self.field(0, "payload") } else { Some(0) };
                let root = root.ok_or_else(|| Wrong::Message("no object 'payload'".to_owned(), None))?;
                self.before_and_after(root, "op", |op| match op {
                    "c" | "r" => Some(Op::Insert),
                    "u" => Some(Op::UpdateAfter),
                    "d" => Some(Op::Delete),
                    _ => None,
                })
            }
            Dialect::Ogg => self.before_and_after(0, "op_type", |op| match op {
                "I" => Some(Op::Insert),
                "U" => Some(Op::UpdateAfter),
                "D" => Some(Op::Delete),
                _ => None,
            }),
            Dialect::Canal { database, table } => {
                for (name, pattern) in [("database", database), ("table", table)] {
                    let Some(pattern) = pattern else { continue };
                    let Some(value) = self.field(0, name) else { return wrong(format!("no field '{name}'")) };
                    // an array's or object's text is empty, NULL's is `null`
                    let text = self.decoder.tape.scalar(value).unwrap_or_default();
                    if !pattern.is_match(&text) {
                        return Ok(());
                    }
                }
                self.canal()
            }
            Dialect::Maxwell => self.maxwell(),
        }
    }

    fn tape(&self) -> &Tape {
        &self.decoder.tape
    }

    /// The value of an object's field that is there and not NULL; the last of several of one name.
    fn value(&self, object: usize, name: &str) -> Option<usize> {
        self.field(object, name).filter(|value| !matches!(self.tape().kind(*value), None | Some(Kind::Null)))
    }

    /// The value of an object's field; none of what is no object.
    fn field(&self, object: usize, name: &str) -> Option<usize> {
        if !matches!(self.tape().kind(object), Some(Kind::Object { .. })) {
            return None;
        }
        self.tape().entries(object).filter(|(n, _)| *n == *name).last().map(|(_, value)| value)
    }

    /// What an object's field says of the change.
    fn word(&self, object: usize, name: &str) -> Result<String, Wrong> {
        match self.value(object, name) {
            Some(value) => Ok(self.tape().text_of(value)),
            None => wrong(format!("no field '{name}'")),
        }
    }

    /// The message itself must be an object.
    fn object(&self, root: usize) -> Result<(), Wrong> {
        match self.tape().kind(root) {
            Some(Kind::Object { .. }) => Ok(()),
            _ => wrong("a value that is no JSON object"),
        }
    }

    /// The image that an object's field is. What is no object is none with `ignore-parse-errors`.
    fn image(&self, object: usize, name: &str) -> Result<Option<usize>, Wrong> {
        let Some(value) = self.value(object, name) else { return Ok(None) };
        match self.tape().kind(value) {
            Some(Kind::Object { .. }) => Ok(Some(value)),
            _ if self.format.json.ignore_errors => Ok(None),
            _ => wrong(format!("'{}' in field '{name}', which is a row", shortened(&self.tape().text_of(value)))),
        }
    }

    /// The images that an object's field is an array of. What is no array is none with `ignore-parse-errors`.
    fn images(&self, object: usize, name: &str) -> Result<Option<Vec<Option<usize>>>, Wrong> {
        let Some(value) = self.value(object, name) else { return Ok(None) };
        let ignore = self.format.json.ignore_errors;
        if !matches!(self.tape().kind(value), Some(Kind::Array { .. })) {
            return match ignore {
                true => Ok(None),
                false => {
                    wrong(format!("'{}' in field '{name}', which is an array", shortened(&self.tape().text_of(value))))
                }
            };
        }
        let image = |item: usize| match self.tape().kind(item) {
            Some(Kind::Object { .. }) => Ok(Some(item)),
            Some(Kind::Null) | None => Ok(None),
            _ if ignore => Ok(None),
            _ => wrong(format!("'{}' in field '{name}', which has rows", shortened(&self.tape().text_of(item)))),
        };
        self.tape().items(value).map(image).collect::<Result<Vec<_>, Wrong>>().map(Some)
    }

    /// Converts an image that gives no row, to see whether it can be.
    fn check(&mut self, image: Option<usize>) -> Result<(), Wrong> {
        if let Some(image) = image
            && !self.format.json.ignore_errors
        {
            self.decoder.append(image, &mut self.unused)?;
        }
        Ok(())
    }

    /// Appends a row and what happens to it.
    fn push(&mut self, op: Op, image: Image) -> Result<(), Wrong> {
        match image.rest {
            None => self.decoder.append(image.object, &mut self.columns)?,
            Some((old, after)) => self.decoder.append_old(image.object, old, after, &mut self.columns)?,
        }
        self.ops.push(op.byte());
        Ok(())
    }

    /// Debezium's and Ogg's messages.
    fn before_and_after(&mut self, root: usize, name: &str, op: impl Fn(&str) -> Option<Op>) -> Result<(), Wrong> {
        self.object(root)?;
        let (before, after) = (self.image(root, "before")?, self.image(root, "after")?);
        let word = self.word(root, name);
        let op = word.map(|word| op(&word).ok_or(word));
        let (uses_before, uses_after) = match &op {
            Ok(Ok(Op::Insert)) => (false, true),
            Ok(Ok(Op::Delete)) => (true, false),
            Ok(Ok(_)) => (true, true),
            _ => (false, false),
        };
        self.check(before.filter(|_| !uses_before))?;
        self.check(after.filter(|_| !uses_after))?;
        let op = match op? {
            Ok(op) => op,
            Err(word) => return no_change(name, &word),
        };
        let missing = |image: &str| format!("no row '{image}', which a change of this kind has");
        let before = match (before, uses_before) {
            (None, true) => {
                return Err(Wrong::Message(
                    missing("before"),
                    Some("let the source table log whole rows (PostgreSQL: REPLICA IDENTITY FULL)"),
                ));
            }
            (before, _) => before,
        };
        if uses_after && after.is_none() {
            self.check(before)?;
            return wrong(missing("after"));
        }
        match (op, before, after) {
            (Op::Insert, _, Some(after)) => self.push(Op::Insert, Image::of(after)),
            (Op::Delete, Some(before), _) => self.push(Op::Delete, Image::of(before)),
            (_, Some(before), Some(after)) => {
                self.push(Op::UpdateBefore, Image::of(before))?;
                self.push(Op::UpdateAfter, Image::of(after))
            }
            _ => wrong("no rows"),
        }
    }

    fn canal(&mut self) -> Result<(), Wrong> {
        self.object(0)?;
        let (data, old) = (self.images(0, "data")?, self.images(0, "old")?);
        let word = self.word(0, "type");
        let is_update = matches!(&word, Ok(word) if word == "UPDATE");
        for image in old.iter().flatten().filter(|_| !is_update) {
            self.check(*image)?;
        }
        let op = match word.as_deref() {
            Ok("INSERT") => Op::Insert,
            Ok("UPDATE") => Op::UpdateAfter,
            Ok("DELETE") => Op::Delete,
            _ => {
                for image in data.iter().flatten() {
                    self.check(*image)?;
                }
                return match word? {
                    // the table was made
                    word if word == "CREATE" => Ok(()),
                    word => no_change("type", &word),
                };
            }
        };
        let Some(data) = data else { return wrong("no rows 'data'") };
        if op != Op::UpdateAfter {
            for image in data {
                let Some(image) = image else { return wrong("a row in 'data' that is NULL") };
                self.push(op, Image::of(image))?;
            }
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        let Some(old) = old else { return wrong("no rows 'old', which an update has") };
        for image in old.iter().skip(data.len()) {
            self.check(*image)?;
        }
        let whole = self.field(0, "old").unwrap_or(0);
        for (n, after) in data.into_iter().enumerate() {
            let (Some(after), Some(Some(before))) = (after, old.get(n)) else {
                return wrong("a row in 'data' without one in 'old'");
            };
            self.push(Op::UpdateBefore, Image { object: *before, rest: Some((whole, after)) })?;
            self.push(Op::UpdateAfter, Image::of(after))?;
        }
        Ok(())
    }

    fn maxwell(&mut self) -> Result<(), Wrong> {
        self.object(0)?;
        let (data, old) = (self.image(0, "data")?, self.image(0, "old")?);
        let word = self.word(0, "type");
        let is_update = matches!(&word, Ok(word) if word == "update");
        self.check(old.filter(|_| !is_update))?;
        let op = match word.as_deref() {
            Ok("insert") => Op::Insert,
            Ok("update") => Op::UpdateAfter,
            Ok("delete") => Op::Delete,
            _ => {
                self.check(data)?;
                return no_change("type", &word?);
            }
        };
        let Some(data) = data else { return wrong("no row 'data'") };
        if op != Op::UpdateAfter {
            return self.push(op, Image::of(data));
        }
        let Some(before) = old else { return wrong("no row 'old', which an update has") };
        self.push(Op::UpdateBefore, Image { object: before, rest: Some((before, data)) })?;
        self.push(Op::UpdateAfter, Image::of(data))
    }
}
