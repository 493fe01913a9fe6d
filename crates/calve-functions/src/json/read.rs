//! JSON_VALUE, JSON_QUERY, JSON_EXISTS, IS JSON and JSON_UNQUOTE.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, BooleanBuilder, Float64Builder, Int32Builder, StringArray, StringBuilder,
};
use arrow::datatypes::{DataType as ArrowType, Float64Type, Int32Type};
use calve_types::{Error, LogicalType};
use datafusion_common::{DataFusionError, Result as DfResult};

use super::JsonRead;
use super::eval::{self, Found};
use super::path::{Spec, Unusable};
use super::scan::{Json, unescape};
use crate::args::{Args, Values, failure};
use crate::cast::fit;
use crate::collection::list_of_texts;
use crate::function::Call;

/// What a path leads to in a document.
enum Outcome<'a> {
    Found(Found<'a>),
    Empty,
    /// In Flink's words.
    Failed(String),
}

/// The documents and paths of a call; the last path stays compiled.
struct Reader<'a> {
    documents: Values<'a, StringArray>,
    paths: Values<'a, StringArray>,
    last: Option<(&'a str, Spec)>,
    clauses: JsonRead<'a>,
}

impl<'a> Reader<'a> {
    fn new(args: &'a Args, on_error: &'static str) -> DfResult<Self> {
        let clauses = if args.count() > 2 { args.texts(2)?.get(0).and_then(JsonRead::parse) } else { None };
        let none = JsonRead { wrapper: "WITHOUT", on_empty: "NULL", on_error };
        Ok(Self { documents: args.texts(0)?, paths: args.texts(1)?, last: None, clauses: clauses.unwrap_or(none) })
    }

    /// `None` if document or path is NULL. Whether the path is lax comes with it.
    fn read(&mut self, row: usize) -> DfResult<Option<(Outcome<'a>, bool)>> {
        let (Some(document), Some(path)) = (self.documents.get(row), self.paths.get(row)) else { return Ok(None) };
        if self.last.as_ref().is_none_or(|(text, _)| *text != path) {
            self.last = Some((path, Spec::parse(path)));
        }
        let Some((_, spec)) = &self.last else { return Ok(None) };
        let outcome = match (Json::parse(document), &spec.path) {
            (_, Err(Unusable::Unsupported(error))) => return Err(failure(error.clone())),
            (None, _) if spec.is_lax => Outcome::Empty,
            (None, _) => Outcome::Failed(format!("'{}' is no JSON", beginning(document))),
            (Some(json), _) if json.is_null() => Outcome::Failed("json object can not be null".into()),
            (_, Err(Unusable::Invalid(message))) => Outcome::Failed(message.clone()),
            (Some(json), Ok(path)) => match eval::read(path, json, json, spec.is_lax) {
                Err(message) => Outcome::Failed(message),
                Ok(Some(found)) if !found.is_null() => Outcome::Found(found),
                Ok(_) if spec.is_lax => Outcome::Empty,
                Ok(_) => {
                    Outcome::Failed("Strict jsonpath mode requires a non empty returned value, but is null".into())
                }
            },
        };
        Ok(Some((outcome, spec.is_lax)))
    }
}

/// The start of a text, to be shown in a message.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or("")),
        None => text.to_owned(),
    }
}

fn failed(call: &Call, detail: &str) -> DataFusionError {
    failure(
        Error::new("invalid-json", format!("'{}' fails, as its ON ERROR or ON EMPTY clause asks", call.name))
            .with_detail(detail),
    )
}

/// What stands for a value.
enum Instead {
    Null,
    DefaultOnEmpty,
    DefaultOnError,
}

/// Values of the type after RETURNING.
enum Column {
    Text(StringBuilder),
    Int(Int32Builder),
    Double(Float64Builder),
    Boolean(BooleanBuilder),
}

/// The values after DEFAULT.
enum Default<'a> {
    Text(Values<'a, StringArray>),
    Int(Values<'a, arrow::array::Int32Array>),
    Double(Values<'a, arrow::array::Float64Array>),
    Boolean(Values<'a, BooleanArray>),
}

impl<'a> Default<'a> {
    fn of(args: &'a Args, index: usize) -> DfResult<Option<Self>> {
        if index >= args.count() {
            return Ok(None);
        }
        Ok(Some(match args.raw(index)?.0.data_type() {
            ArrowType::Int32 => Self::Int(args.numbers::<Int32Type>(index)?),
            ArrowType::Float64 => Self::Double(args.numbers::<Float64Type>(index)?),
            ArrowType::Boolean => Self::Boolean(args.booleans(index)?),
            _ => Self::Text(args.texts(index)?),
        }))
    }
}

impl Column {
    fn of(logical: &LogicalType, rows: usize) -> Self {
        match logical {
            LogicalType::Int => Self::Int(Int32Builder::with_capacity(rows)),
            LogicalType::Double => Self::Double(Float64Builder::with_capacity(rows)),
            LogicalType::Boolean => Self::Boolean(BooleanBuilder::with_capacity(rows)),
            _ => Self::Text(StringBuilder::with_capacity(rows, rows * 8)),
        }
    }

    fn push_null(&mut self) {
        match self {
            Self::Text(column) => column.append_null(),
            Self::Int(column) => column.append_null(),
            Self::Double(column) => column.append_null(),
            Self::Boolean(column) => column.append_null(),
        }
    }

    fn push_default(&mut self, default: Option<&Default<'_>>, row: usize) {
        match (self, default) {
            (Self::Text(column), Some(Default::Text(values))) => column.append_option(values.get(row)),
            (Self::Int(column), Some(Default::Int(values))) => column.append_option(values.get(row)),
            (Self::Double(column), Some(Default::Double(values))) => column.append_option(values.get(row)),
            (Self::Boolean(column), Some(Default::Boolean(values))) => column.append_option(values.get(row)),
            (column, _) => column.push_null(),
        }
    }

    /// Appends a scalar; `None` if it is of another type. Unlike Flink, which fails, an integer is a DOUBLE too.
    fn push(&mut self, found: &Found<'_>, text: &mut String) -> Option<()> {
        text.clear();
        match found {
            Found::Value(json) => json.push_scalar(text),
            other => other.push(text),
        }
        let is_number = matches!(found, Found::Number(_)) || matches!(found, Found::Value(json) if json.is_number());
        match self {
            Self::Text(column) => column.append_value(&*text),
            Self::Int(column) => column.append_value(text.parse().ok().filter(|_| is_number)?),
            Self::Double(column) => column.append_value(text.parse().ok().filter(|_| is_number)?),
            Self::Boolean(column) => match found {
                Found::Value(json) => column.append_value(json.as_boolean()?),
                _ => return None,
            },
        }
        Some(())
    }

    fn finish(self, logical: &LogicalType) -> ArrayRef {
        match self {
            Self::Text(mut column) => Arc::new(fit(column.finish(), logical)),
            Self::Int(mut column) => Arc::new(column.finish()),
            Self::Double(mut column) => Arc::new(column.finish()),
            Self::Boolean(mut column) => Arc::new(column.finish()),
        }
    }
}

pub(super) fn value(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let mut reader = Reader::new(args, "NULL")?;
    let (on_empty, on_error) = (reader.clauses.on_empty, reader.clauses.on_error);
    let defaults = (Default::of(args, 4)?, Default::of(args, 5)?);
    let returns = &call.returns.logical;
    let mut column = Column::of(returns, args.rows);
    let mut text = String::new();
    for row in 0..args.rows {
        let Some((outcome, is_lax)) = reader.read(row)? else {
            column.push_null();
            continue;
        };
        let found = match outcome {
            Outcome::Found(found) if found.is_scalar() => Ok(found),
            Outcome::Found(_) | Outcome::Empty if is_lax => Err(match on_empty {
                "ERROR" => return Err(failed(call, "Empty result of JSON_VALUE function is not allowed")),
                "DEFAULT" => Instead::DefaultOnEmpty,
                _ => Instead::Null,
            }),
            other => Err(match on_error {
                "DEFAULT" => Instead::DefaultOnError,
                "ERROR" => {
                    let detail = match other {
                        Outcome::Failed(message) => message,
                        Outcome::Found(found) => {
                            let mut shown = String::new();
                            found.push(&mut shown);
                            format!("Strict jsonpath mode requires scalar value, and the actual value is: '{shown}'")
                        }
                        Outcome::Empty => String::new(),
                    };
                    return Err(failed(call, &detail));
                }
                _ => Instead::Null,
            }),
        };
        match found {
            Ok(found) => column.push(&found, &mut text).ok_or_else(|| {
                failure(
                    Error::new(
                        "invalid-json",
                        format!("JSON_VALUE found '{}', which is no {returns}", beginning(&text)),
                    )
                    .with_hint("return a STRING and use TRY_CAST"),
                )
            })?,
            Err(Instead::Null) => column.push_null(),
            Err(Instead::DefaultOnEmpty) => column.push_default(defaults.0.as_ref(), row),
            Err(Instead::DefaultOnError) => column.push_default(defaults.1.as_ref(), row),
        }
    }
    Ok(column.finish(returns))
}

/// What JSON_QUERY gives for a row.
enum Queried<'a> {
    Null,
    EmptyArray,
    EmptyObject,
    Found(Found<'a>),
}

fn behave<'a>(call: &Call, behavior: &str, detail: impl FnOnce() -> String) -> DfResult<Queried<'a>> {
    Ok(match behavior {
        "ERROR" => return Err(failed(call, &detail())),
        "EMPTY ARRAY" => Queried::EmptyArray,
        "EMPTY OBJECT" => Queried::EmptyObject,
        _ => Queried::Null,
    })
}

/// One row of JSON_QUERY; `wants_array` with RETURNING ARRAY.
fn query_row<'a>(call: &Call, reader: &mut Reader<'a>, row: usize, wants_array: bool) -> DfResult<Queried<'a>> {
    let JsonRead { wrapper, on_empty, on_error } = reader.clauses;
    let Some((outcome, is_lax)) = reader.read(row)? else { return Ok(Queried::Null) };
    let empty = || "Empty result of JSON_QUERY function is not allowed".to_owned();
    let found = match outcome {
        Outcome::Empty => return behave(call, on_empty, empty),
        Outcome::Failed(message) => return behave(call, on_error, || message),
        Outcome::Found(found) => found,
    };
    let is_array = |found: &Found<'_>| match found {
        Found::Value(json) => json.is_array(),
        Found::All(_) | Found::Keys(_) => true,
        _ => false,
    };
    let found = match wrapper {
        "UNCONDITIONAL" => Found::All(vec![found]),
        "CONDITIONAL" if !is_array(&found) => Found::All(vec![found]),
        _ => found,
    };
    let shown = |found: &Found<'_>| {
        let mut shown = String::new();
        found.push(&mut shown);
        shown
    };
    if found.is_scalar() {
        return if is_lax {
            behave(call, on_empty, empty)
        } else {
            behave(call, on_error, || {
                let shown = shown(&found);
                format!("Strict jsonpath mode requires array or object value, and the actual value is: '{shown}'")
            })
        };
    }
    if wants_array && !is_array(&found) {
        return behave(call, on_error, || format!("'{}' is no array", beginning(&shown(&found))));
    }
    Ok(Queried::Found(found))
}

pub(super) fn query(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let mut reader = Reader::new(args, "NULL")?;
    let wants_array = matches!(call.returns.logical, LogicalType::Array(_));
    let mut values = StringBuilder::with_capacity(args.rows, args.rows * 8);
    let (mut lengths, mut valid) = (vec![], vec![]);
    let mut text = String::new();
    for row in 0..args.rows {
        let queried = query_row(call, &mut reader, row, wants_array)?;
        if wants_array {
            let mut count = 0;
            let mut push = |found: Found<'_>| {
                text.clear();
                match &found {
                    Found::Value(json) if json.is_scalar() => json.push_scalar(&mut text),
                    other => other.push(&mut text),
                }
                values.append_option((!found.is_null()).then_some(&text));
                count += 1;
            };
            valid.push(!matches!(queried, Queried::Null));
            match queried {
                Queried::Found(Found::Value(json)) => json.elements().map(Found::Value).for_each(&mut push),
                Queried::Found(Found::All(items)) => items.into_iter().for_each(&mut push),
                Queried::Found(Found::Keys(keys)) => {
                    for key in keys {
                        values.append_value(&key);
                        count += 1;
                    }
                }
                _ => {}
            }
            lengths.push(count);
            continue;
        }
        match queried {
            Queried::Null => values.append_null(),
            Queried::EmptyArray => values.append_value("[]"),
            Queried::EmptyObject => values.append_value("{}"),
            Queried::Found(found) => {
                text.clear();
                found.push(&mut text);
                values.append_value(&text);
            }
        }
    }
    if wants_array {
        return list_of_texts(call, lengths, values.finish(), valid);
    }
    Ok(Arc::new(fit(values.finish(), &call.returns.logical)))
}

pub(super) fn exists(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let mut reader = Reader::new(args, "FALSE")?;
    let on_error = reader.clauses.on_error;
    let mut results = BooleanBuilder::with_capacity(args.rows);
    for row in 0..args.rows {
        results.append_option(match reader.read(row)? {
            None => None,
            Some((Outcome::Found(_), _)) => Some(true),
            Some((Outcome::Empty, _)) => Some(false),
            Some((Outcome::Failed(message), _)) => match on_error {
                "TRUE" => Some(true),
                "UNKNOWN" => None,
                "ERROR" => return Err(failed(call, &message)),
                _ => Some(false),
            },
        });
    }
    Ok(Arc::new(results.finish()))
}

/// `IS [NOT] JSON kind`
pub(super) fn is_json(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let kind = args.texts(1)?.get(0).unwrap_or("VALUE");
    let wanted = call.name == "IS JSON";
    let results = (0..args.rows).map(|row| {
        let is = texts.get(row).and_then(Json::parse).is_some_and(|json| match kind {
            "OBJECT" => json.is_object(),
            "ARRAY" => json.is_array(),
            "SCALAR" => json.is_scalar(),
            _ => true,
        });
        Some(is == wanted)
    });
    Ok(Arc::new(results.collect::<BooleanArray>()))
}

/// The text of a JSON string; everything else stays as it is.
pub(super) fn unquote(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let mut results = StringBuilder::with_capacity(args.rows, args.rows * 8);
    for row in 0..args.rows {
        let Some(text) = texts.get(row) else {
            results.append_null();
            continue;
        };
        // Flink looks at the quotes at both ends, and whether a JSON string begins there.
        let inner =
            text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|_| Json::parse(text).is_some());
        match inner {
            Some(inner) => results.append_value(unescape(inner)),
            None => results.append_value(text),
        }
    }
    Ok(Arc::new(results.finish()))
}
