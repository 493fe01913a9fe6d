//! A JSON array of objects for each result, a row a line.
//!
//! Numbers and booleans are JSON's (a DECIMAL keeps its digits; NaN and the infinities are texts), NULL is `null`, all else
//! are the texts that Flink's client prints. Of columns with the same name, the second is `name_1` and so on: an
//! object with one key twice loses a value in most readers.
//!
//! A query whose rows change (in streaming mode) has one key more, the first one: `op`, what happens to the row.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use calve_engine::Rows;
use calve_types::LogicalType;

use super::Failure;

/// Prints results for programs that want data and nothing else.
#[derive(Debug)]
pub struct JsonOutput<W> {
    out: W,
}

/// How a column's values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Number,
    Boolean,
    Text,
}

impl<W: Write> JsonOutput<W> {
    /// Prints to `out`.
    pub fn new(out: W) -> Self {
        Self { out }
    }

    /// Prints a result. If the statement fails after the first rows, the array stays open: nobody takes it for a whole one.
    ///
    /// # Errors
    /// The statement fails while its rows are read, or `out` cannot be written.
    pub async fn rows(&mut self, mut rows: Rows) -> Result<(), Failure> {
        let mut batch = rows.next_text().await.transpose()?;
        let op = rows.is_changelog().then_some(("op", Shape::Text));
        let columns = rows.columns.iter().map(|field| (field.name.as_str(), shape(&field.data_type.logical)));
        let (names, shapes): (Vec<&str>, Vec<Shape>) = op.into_iter().chain(columns).unzip();
        let keys = keys(names.into_iter())?;
        let mut before: &[u8] = b"[";
        while let Some(lines) = batch {
            for row in super::with_ops(lines, rows.ops()) {
                self.out.write_all(before)?;
                before = b",\n";
                self.row(&keys, &shapes, &row)?;
            }
            batch = rows.next_text().await.transpose()?;
        }
        self.out.write_all(if before == b"[" { b"[]\n" } else { b"]\n" })?;
        Ok(self.out.flush()?)
    }

    /// Gives out what was printed so far.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn row(&mut self, keys: &[String], shapes: &[Shape], row: &[Option<String>]) -> io::Result<()> {
        let mut before: &[u8] = b"{";
        for ((key, shape), value) in keys.iter().zip(shapes).zip(row) {
            self.out.write_all(before)?;
            before = b",";
            self.out.write_all(key.as_bytes())?;
            match (value.as_deref(), shape) {
                (None, _) => self.out.write_all(b"null")?,
                (Some("TRUE"), Shape::Boolean) => self.out.write_all(b"true")?,
                (Some("FALSE"), Shape::Boolean) => self.out.write_all(b"false")?,
                (Some(number), Shape::Number) if is_number(number) => self.out.write_all(number.as_bytes())?,
                (Some(text), _) => serde_json::to_writer(&mut self.out, text)?,
            }
        }
        self.out.write_all(if keys.is_empty() { b"{}" } else { b"}" })
    }
}

/// The keys of a row's object, as JSON with the colon behind.
fn keys<'a>(names: impl Iterator<Item = &'a str>) -> io::Result<Vec<String>> {
    let names: Vec<&str> = names.collect();
    let mut taken: HashSet<Cow<'_, str>> = names.iter().copied().map(Cow::Borrowed).collect();
    // how many columns of a name there were, and numbers that were tried for it
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut keys = Vec::with_capacity(names.len());
    for name in names {
        let n = numbers.entry(name).and_modify(|n| *n += 1).or_default();
        let mut key = Cow::Borrowed(name);
        while *n > 0 {
            key = format!("{name}_{n}").into();
            if taken.insert(key.clone()) {
                break;
            }
            *n += 1;
        }
        keys.push(format!("{}:", serde_json::to_string(&key)?));
    }
    Ok(keys)
}

fn shape(data_type: &LogicalType) -> Shape {
    match data_type {
        LogicalType::Boolean => Shape::Boolean,
        LogicalType::TinyInt
        | LogicalType::SmallInt
        | LogicalType::Int
        | LogicalType::BigInt
        | LogicalType::Float
        | LogicalType::Double
        | LogicalType::Decimal { .. } => Shape::Number,
        _ => Shape::Text,
    }
}

/// Whether a text is a number in JSON (RFC 8259, 6).
fn is_number(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || whole > 1 && rest.starts_with('0') {
        return false;
    }
    let mut rest = rest.get(whole..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix('.') {
        let n = digits(fraction);
        if n == 0 {
            return false;
        }
        rest = fraction.get(n..).unwrap_or_default();
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn every_key_is_there_once() {
        let keys = |names: &[&str]| keys(names.iter().copied()).unwrap().concat();
        assert_eq!(keys(&["a", "b"]), r#""a":"b":"#);
        assert_eq!(keys(&["a", "a", "a_1", "a"]), r#""a":"a_2":"a_1":"a_3":"#);
        assert_eq!(keys(&["say \"x\""]), r#""say \"x\"":"#);
    }

    #[test]
    fn numbers_are_those_of_json() {
        for text in ["0", "-1", "19.90", "1.0E10", "1.5E-7", "-0.0", "9223372036854775807"] {
            assert!(is_number(text), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
        }
        for text in ["", "-", "NaN", "Infinity", "-Infinity", "01", "1.", ".5", "1E", "1E+", "+1", "1 "] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn a_row_is_an_object() {
        let mut output = JsonOutput::new(Vec::new());
        let row = [Some("1.50"), Some("NaN"), Some("TRUE"), None, Some("a\"\n")].map(|v| v.map(str::to_owned));
        let shapes = [Shape::Number, Shape::Number, Shape::Boolean, Shape::Number, Shape::Text];
        let keys = keys(["d", "f", "b", "n", "s"].into_iter()).unwrap();
        output.row(&keys, &shapes, &row).unwrap();
        assert_eq!(String::from_utf8(output.out).unwrap(), r#"{"d":1.50,"f":"NaN","b":true,"n":null,"s":"a\"\n"}"#);
    }
}
