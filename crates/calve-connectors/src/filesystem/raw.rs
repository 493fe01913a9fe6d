//! `raw`: each line is the one column's value.

use std::io::Read;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use calve_types::{DataType, Error, LogicalType, Result};

use super::csv::MALFORMED;
use super::lines::{Input, Place};
use crate::builder::{Builder, batch};
use crate::options::Options;
use crate::text::Why;

/// The options of the format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawFormat {
    /// Whether numbers have their lowest byte first.
    pub little_endian: bool,
}

impl RawFormat {
    /// # Errors
    /// Values that Flink refuses, charsets other than UTF-8.
    pub fn new(options: &Options) -> Result<Self> {
        if let Some(charset) = options.get("raw.charset")
            && !charset.eq_ignore_ascii_case("UTF-8")
        {
            return Err(Error::unsupported(format!("option 'raw.charset' with '{charset}'"))
                .with_hint("only UTF-8 is read and written"));
        }
        let little_endian = match options.get("raw.endianness") {
            None | Some("big-endian") => false,
            Some("little-endian") => true,
            Some(other) => {
                return Err(options.refuse(
                    "invalid-option",
                    format!(
                        "invalid value '{other}' for option 'raw.endianness': expected big-endian or little-endian"
                    ),
                    format!(
                        "Unsupported endianness name: {other}. Supported values of 'raw.endianness' option are \
                         'big-endian' and 'little-endian'."
                    ),
                ));
            }
        };
        Ok(Self { little_endian })
    }

    /// Whether the format has values of the table's columns: one of a simple type.
    ///
    /// # Errors
    /// `not-supported` or `invalid-table`, in Flink's words.
    pub fn check(columns: &[(String, DataType)]) -> Result<()> {
        use LogicalType as T;
        let [(name, data_type)] = columns else {
            let list: Vec<String> = columns.iter().map(|(name, t)| format!("`{name}` {t}")).collect();
            return Err(Error::new("invalid-table", "format 'raw' has one column only").with_detail(format!(
                "The 'raw' format only supports single physical column. However the defined schema contains multiple \
                 physical columns: [{}]",
                list.join(", ")
            )));
        };
        match &data_type.logical {
            T::Char(_)
            | T::Varchar(_)
            | T::Binary(_)
            | T::Varbinary(_)
            | T::Boolean
            | T::TinyInt
            | T::SmallInt
            | T::Int
            | T::BigInt
            | T::Float
            | T::Double => Ok(()),
            other => Err(Error::unsupported(format!("column '{name}' of type {other} in format 'raw'"))
                .with_detail(format!("The 'raw' format doesn't supports '{other}' as column type."))),
        }
    }
}

/// Reads the lines of one file.
pub(crate) struct RawReader<R> {
    format: RawFormat,
    input: Input<R>,
    /// `None` if the column is not read, only counted.
    column: Option<Builder>,
    schema: SchemaRef,
    line: Vec<u8>,
}

impl<R: Read> RawReader<R> {
    /// # Errors
    /// A type that cannot be read.
    pub fn new(
        format: RawFormat,
        input: R,
        place: Place,
        columns: &[(String, DataType)],
        schema: SchemaRef,
    ) -> Result<Self> {
        let column = columns.first().map(|(_, t)| Builder::new(&t.logical)).transpose()?;
        Ok(Self { format, input: Input::new(input, place), column, schema, line: Vec::new() })
    }

    /// The next rows, at most `limit`; `None` at the end.
    ///
    /// # Errors
    /// A line that is no value, what the file's reader answers.
    pub fn next(&mut self, limit: usize) -> Result<Option<RecordBatch>> {
        let mut rows = 0;
        while rows < limit {
            let number = self.input.line();
            if !self.input.next_line(&mut self.line)? {
                break;
            }
            if let Some(column) = &mut self.column
                && let Err(why) = append(column, &self.line, self.format.little_endian)
            {
                return Err(self.input.place().error(MALFORMED, number, &why));
            }
            rows += 1;
        }
        batch(self.column.iter_mut(), rows, &self.schema)
    }
}

fn append(builder: &mut Builder, line: &[u8], little_endian: bool) -> Result<(), Why> {
    fn bytes<const N: usize>(line: &[u8], little_endian: bool) -> Result<[u8; N], Why> {
        let mut bytes: [u8; N] = line.try_into().map_err(|_| format!("{} bytes where the type has {N}", line.len()))?;
        if little_endian {
            bytes.reverse();
        }
        Ok(bytes)
    }
    match builder {
        Builder::Text(b) => b.append_value(String::from_utf8_lossy(line)),
        Builder::Bytes(b) => b.append_value(line),
        Builder::Boolean(b) => b.append_value(bytes::<1>(line, false)?[0] != 0),
        Builder::TinyInt(b) => b.append_value(i8::from_be_bytes(bytes(line, false)?)),
        Builder::SmallInt(b) => b.append_value(i16::from_be_bytes(bytes(line, little_endian)?)),
        Builder::Int(b) => b.append_value(i32::from_be_bytes(bytes(line, little_endian)?)),
        Builder::BigInt(b) => b.append_value(i64::from_be_bytes(bytes(line, little_endian)?)),
        Builder::Float(b) => b.append_value(f32::from_be_bytes(bytes(line, little_endian)?)),
        Builder::Double(b) => b.append_value(f64::from_be_bytes(bytes(line, little_endian)?)),
        _ => return Err("a value of a type that the format does not have".to_owned()),
    }
    Ok(())
}
