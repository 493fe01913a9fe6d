//! Dates and times read from texts, and written as texts.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, PrimitiveArray, StringArray, StringBuilder};
use arrow::datatypes::{Date32Type, Float64Type, Int32Type, Int64Type};
use calve_types::{Error, LogicalType, Value};
use datafusion_common::Result as DfResult;

use super::pattern::Pattern;
use super::{LTZ, types, wall_clock};
use crate::TimeZone;
use crate::args::{Args, Values, failure};
use crate::cast::{out_of_range, parse_date, parse_stamp, timestamp_array};
use crate::civil::Stamp;
use crate::function::{Arg, Call, Inferred, Refusal, Signature};
use crate::operator::nullable_by;

fn texts(args: &[Arg], returns: LogicalType, nullable: bool) -> Inferred {
    if args.iter().any(|a| !a.logical().is_character()) {
        return Err(Refusal::Types);
    }
    let returns = nullable_by(args, returns);
    let returns = if nullable { returns.with_nullable(true) } else { returns };
    Ok(Signature { args: types(args), returns })
}

fn one_or_two(args: &[Arg]) -> Result<(), Refusal> {
    if matches!(args.len(), 1 | 2) { Ok(()) } else { Err(Refusal::Count("1 arguments")) }
}

pub(super) fn infer_to_date(args: &[Arg]) -> Inferred {
    one_or_two(args)?;
    texts(args, LogicalType::Date, true)
}

pub(super) fn infer_to_timestamp(args: &[Arg]) -> Inferred {
    one_or_two(args)?;
    texts(args, LogicalType::Timestamp(3), true)
}

/// Patterns of a column of patterns; an invalid one fails the statement.
struct Patterns<'a> {
    texts: Option<Values<'a, StringArray>>,
}

impl<'a> Patterns<'a> {
    fn new(args: &'a Args, index: usize) -> DfResult<Self> {
        Ok(Self { texts: if args.count() > index { Some(args.texts(index)?) } else { None } })
    }

    /// For each row: `None` for NULL, `Some(None)` without a pattern.
    fn each<R>(
        &self,
        rows: usize,
        mut f: impl FnMut(usize, Option<Option<&Pattern>>) -> DfResult<R>,
    ) -> DfResult<Vec<R>> {
        let mut last: Option<(&str, Pattern)> = None;
        let mut results = Vec::with_capacity(rows);
        for row in 0..rows {
            let Some(texts) = &self.texts else {
                results.push(f(row, Some(None))?);
                continue;
            };
            let Some(text) = texts.get(row) else {
                results.push(f(row, None)?);
                continue;
            };
            if last.as_ref().is_none_or(|(known, _)| *known != text) {
                last = Some((text, Pattern::parse(text).map_err(failure)?));
            }
            results.push(f(row, Some(last.as_ref().map(|(_, pattern)| pattern)))?);
        }
        Ok(results)
    }
}

/// NULL for what is no date.
pub(super) fn to_date(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let days = Patterns::new(args, 1)?.each(args.rows, |row, pattern| {
        let (Some(text), Some(pattern)) = (texts.get(row), pattern) else { return Ok(None) };
        Ok(match pattern {
            None => parse_date(text),
            Some(pattern) => pattern.read(text).and_then(|s| i32::try_from(s.split().0).ok()),
        })
    })?;
    Ok(Arc::new(PrimitiveArray::<Date32Type>::from(days)))
}

/// What does not follow the pattern may still be a date or timestamp as JDBC writes them.
fn standard(text: &str) -> Option<Stamp> {
    let text = text.trim();
    parse_stamp(text)
}

/// NULL for what is no timestamp.
pub(super) fn to_timestamp(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let units = Patterns::new(args, 1)?.each(args.rows, |row, pattern| {
        let (Some(text), Some(pattern)) = (texts.get(row), pattern) else { return Ok(None) };
        let stamp = pattern.map_or_else(|| parse_stamp(text), |pattern| pattern.read(text).or_else(|| standard(text)));
        Ok(stamp.and_then(|s| s.to_unit(3)))
    })?;
    timestamp_array(Int64Array::from(units), &call.returns.logical)
}

/// `TO_TIMESTAMP_LTZ(number[, precision])` or `(text[, pattern[, zone]])`.
pub(super) fn infer_to_ltz(args: &[Arg]) -> Inferred {
    match args {
        [number] | [number, _] if number.logical().is_numeric() => {
            let precision = args.get(1);
            if precision.is_some_and(|p| !p.logical().is_integer()) {
                return Err(Refusal::Types);
            }
            if let Some(Some(Value::Int(p))) = precision.map(|p| &p.literal)
                && !matches!(p, 0 | 3)
            {
                return Err(wrong_precision(*p).into());
            }
            // Of a DECIMAL the fraction is cut, of a DOUBLE only that of a millisecond.
            let is_double = number.logical().is_approximate();
            let as_type = if is_double { LogicalType::Double } else { LogicalType::BigInt };
            let mut arg_types = vec![as_type.with_nullable(number.data_type.nullable)];
            arg_types.extend(precision.map(|p| LogicalType::Int.with_nullable(p.data_type.nullable)));
            Ok(Signature { args: arg_types, returns: LTZ.nullable() })
        }
        [_] | [_, _] | [_, _, _] => texts(args, LTZ, true),
        _ => Err(Refusal::Count("1 arguments")),
    }
}

fn wrong_precision(precision: i64) -> Error {
    Error::new("invalid-argument", format!("precision {precision} of 'TO_TIMESTAMP_LTZ'"))
        .with_detail(format!(
            "The precision value '{precision}' for function TO_TIMESTAMP_LTZ(numeric, precision) is unsupported, the supported value is '0' for second or '3' for millisecond."
        ))
        .with_hint("use 0 for seconds or 3 for milliseconds")
}

pub(super) fn to_ltz(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let mut units: Vec<Option<i64>> = Vec::with_capacity(args.rows);
    if call.arg(0).is_numeric() {
        let precisions = if args.count() > 1 { Some(args.numbers::<Int32Type>(1)?) } else { None };
        let (array, _) = args.raw(0)?;
        // Milliseconds of a number of units of so many.
        let millis: Box<dyn Fn(usize, i64) -> Option<Option<i64>>> =
            if array.as_primitive_opt::<Float64Type>().is_some() {
                let values = args.numbers::<Float64Type>(0)?;
                Box::new(move |row, unit| values.get(row).map(|v| Some((v * unit as f64) as i64)))
            } else {
                let values = args.numbers::<Int64Type>(0)?;
                Box::new(move |row, unit| values.get(row).map(|v| v.checked_mul(unit)))
            };
        for row in 0..args.rows {
            let precision = match &precisions {
                None => Some(3),
                Some(precisions) => precisions.get(row),
            };
            let unit = match precision {
                None => {
                    units.push(None);
                    continue;
                }
                Some(0) => 1000,
                Some(3) => 1,
                Some(other) => return Err(failure(wrong_precision(i64::from(other)))),
            };
            let micros = millis(row, unit).map(|millis| {
                let micros = millis.and_then(|millis| millis.checked_mul(1000));
                micros.ok_or_else(|| failure(out_of_range(&call.returns.logical)))
            });
            units.push(micros.transpose()?);
        }
    } else {
        let texts = args.texts(0)?;
        let zones = if args.count() > 2 { Some(args.texts(2)?) } else { None };
        units = Patterns::new(args, 1)?.each(args.rows, |row, pattern| {
            let (Some(text), Some(pattern)) = (texts.get(row), pattern) else { return Ok(None) };
            // Without a zone a text is UTC, as in Flink.
            let zone = match &zones {
                None => TimeZone::UTC,
                Some(zones) => match zones.get(row) {
                    None => return Ok(None),
                    Some(name) => TimeZone::parse(name).map_err(failure)?,
                },
            };
            let stamp = pattern.map_or_else(|| parse_stamp(text), |pattern| pattern.read(text));
            Ok(stamp.and_then(|s| Stamp { seconds: zone.to_utc(s.seconds), ..s }.to_unit(3)))
        })?;
    }
    timestamp_array(Int64Array::from(units), &call.returns.logical)
}

pub(super) fn infer_date_format(args: &[Arg]) -> Inferred {
    let [value, pattern] = args else { return Err(Refusal::Count("2 arguments")) };
    if !(value.logical().is_timestamp() || value.logical().is_character()) || !pattern.logical().is_character() {
        return Err(Refusal::Types);
    }
    if let Some(Value::String(pattern)) = &pattern.literal {
        Pattern::parse(pattern)?;
    }
    Ok(Signature { args: types(args), returns: LogicalType::STRING.nullable() })
}

fn text_array(rows: Vec<Option<String>>) -> ArrayRef {
    let mut builder = StringBuilder::new();
    for row in rows {
        builder.append_option(row);
    }
    Arc::new(builder.finish())
}

pub(super) fn date_format(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let stamps = wall_clock(args, 0, call.arg(0), call.context.time_zone)?;
    let rows = Patterns::new(args, 1)?.each(args.rows, |row, pattern| {
        Ok(stamps(row).zip(pattern.flatten()).map(|(stamp, pattern)| {
            let mut out = String::new();
            pattern.format(stamp, &mut out);
            out
        }))
    })?;
    Ok(text_array(rows))
}

const DEFAULT_PATTERN: &str = "yyyy-MM-dd HH:mm:ss";

pub(super) fn infer_from_unixtime(args: &[Arg]) -> Inferred {
    one_or_two(args)?;
    let Some((seconds, pattern)) = args.split_first() else { return Err(Refusal::Types) };
    if !seconds.logical().is_integer() || pattern.iter().any(|p| !p.logical().is_character()) {
        return Err(Refusal::Types);
    }
    let mut arg_types = vec![LogicalType::BigInt.with_nullable(seconds.data_type.nullable)];
    arg_types.extend(pattern.iter().map(|p| p.data_type.clone()));
    Ok(Signature { args: arg_types, returns: LogicalType::STRING.nullable() })
}

pub(super) fn from_unixtime(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let seconds = args.numbers::<Int64Type>(0)?;
    let default = Pattern::parse(DEFAULT_PATTERN).map_err(failure)?;
    let zone = call.context.time_zone;
    let rows = Patterns::new(args, 1)?.each(args.rows, |row, pattern| {
        let (Some(seconds), Some(pattern)) = (seconds.get(row), pattern) else { return Ok(None) };
        let mut out = String::new();
        // Flink goes by way of milliseconds, which wrap.
        let seconds = seconds.wrapping_mul(1000).div_euclid(1000);
        pattern.unwrap_or(&default).format(Stamp { seconds: zone.to_local(seconds), nanos: 0 }, &mut out);
        Ok(Some(out))
    })?;
    Ok(text_array(rows))
}

pub(super) fn infer_unix_timestamp(args: &[Arg]) -> Inferred {
    if args.len() > 2 {
        return Err(Refusal::Count("1 arguments"));
    }
    texts(args, LogicalType::BigInt, false)
}

/// Seconds; the smallest BIGINT for what is no timestamp, as in Flink.
pub(super) fn unix_timestamp(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let zone = call.context.time_zone;
    if args.count() == 0 {
        let seconds = call.context.statement_start.div_euclid(1_000_000);
        return Ok(Arc::new(Int64Array::from(vec![seconds; args.rows])));
    }
    let texts = args.texts(0)?;
    let default = Pattern::parse(DEFAULT_PATTERN).map_err(failure)?;
    let rows = Patterns::new(args, 1)?.each(args.rows, |row, pattern| {
        let (Some(text), Some(pattern)) = (texts.get(row), pattern) else { return Ok(None) };
        let stamp = pattern.unwrap_or(&default).read(text);
        Ok(Some(stamp.map_or(i64::MIN, |stamp| zone.to_utc(stamp.seconds))))
    })?;
    Ok(Arc::new(Int64Array::from(rows)))
}

pub(super) fn infer_convert_tz(args: &[Arg]) -> Inferred {
    if args.len() == 3 { texts(args, LogicalType::STRING, true) } else { Err(Refusal::Count("3 arguments")) }
}

pub(super) fn convert_tz(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (values, from, to) = (args.texts(0)?, args.texts(1)?, args.texts(2)?);
    let pattern = Pattern::parse(DEFAULT_PATTERN).map_err(failure)?;
    let mut rows = Vec::with_capacity(args.rows);
    for row in 0..args.rows {
        let (Some(text), Some(from), Some(to)) = (values.get(row), from.get(row), to.get(row)) else {
            rows.push(None);
            continue;
        };
        let (from, to) = (TimeZone::parse(from).map_err(failure)?, TimeZone::parse(to).map_err(failure)?);
        rows.push(pattern.read(text).map(|stamp| {
            let mut out = String::new();
            pattern.format(Stamp { seconds: to.to_local(from.to_utc(stamp.seconds)), nanos: 0 }, &mut out);
            out
        }));
    }
    Ok(text_array(rows))
}
