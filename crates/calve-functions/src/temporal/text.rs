//! Dates and times read from texts, and written as texts.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, PrimitiveArray, StringArray, StringBuilder};
use arrow::datatypes::{Date32Type, Float64Type, Int32Type, Int64Type};
use calve_types::{Error, LogicalType, Value};
use datafusion_common::Result as DfResult;

use super::pattern::Pattern;
use super::simple::SimpleFormat;
use super::{LTZ, types, wall_clock};
use crate::TimeZone;
use crate::args::{Args, Values, failure};
use crate::cast::{out_of_range, parse_date, parse_stamp, timestamp_array};
use crate::civil::{Civil, SECONDS_PER_DAY, Stamp, civil_of, days_of};
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

/// Patterns of a column of patterns, each prepared once; an invalid one fails the statement.
struct Patterns<'a, P = Pattern> {
    texts: Option<Values<'a, StringArray>>,
    prepare: fn(&str) -> calve_types::Result<P>,
}

impl<'a> Patterns<'a> {
    fn new(args: &'a Args, index: usize) -> DfResult<Self> {
        Self::with(args, index, Pattern::parse)
    }
}

impl<'a, P> Patterns<'a, P> {
    fn with(args: &'a Args, index: usize, prepare: fn(&str) -> calve_types::Result<P>) -> DfResult<Self> {
        Ok(Self { texts: if args.count() > index { Some(args.texts(index)?) } else { None }, prepare })
    }

    /// For each row: `None` for NULL, `Some(None)` without a pattern.
    fn each<R>(&self, rows: usize, mut f: impl FnMut(usize, Option<Option<&P>>) -> DfResult<R>) -> DfResult<Vec<R>> {
        let mut last: Option<(&str, P)> = None;
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
                last = Some((text, (self.prepare)(text).map_err(failure)?));
            }
            results.push(f(row, Some(last.as_ref().map(|(_, pattern)| pattern)))?);
        }
        Ok(results)
    }
}

/// The year in which the statement runs.
fn this_year(call: &Call) -> i64 {
    civil_of(Stamp::from_micros(call.context.statement_start).split().0).year
}

/// NULL for what is no date.
pub(super) fn to_date(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let this_year = this_year(call);
    let days = Patterns::with(args, 1, SimpleFormat::parse)?.each(args.rows, |row, pattern| {
        let (Some(text), Some(pattern)) = (texts.get(row), pattern) else { return Ok(None) };
        let Some(pattern) = pattern else { return Ok(parse_date(text)) };
        let read = pattern.read(text, this_year).map_err(failure)?;
        Ok(read.and_then(|r| i32::try_from(r.utc_seconds(TimeZone::UTC).div_euclid(SECONDS_PER_DAY)).ok()))
    })?;
    Ok(Arc::new(PrimitiveArray::<Date32Type>::from(days)))
}

/// What does not follow the pattern may still be a date or timestamp as JDBC writes them, `2024-1-31[ 9:30:00[.5]]`.
/// Days and hours beyond their end go on in what follows.
fn standard(text: &str) -> Option<Stamp> {
    let number = |text: &str, width: std::ops::RangeInclusive<usize>| {
        (width.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse::<u32>().ok())?
    };
    let text = text.trim();
    let (date, time) = match text.split_once(' ') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let (year, month, day) =
        (number(parts.next()?, 4..=4)?, number(parts.next()?, 1..=2)?, number(parts.next()?, 1..=2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_of(Civil { year: year.into(), month, day: 1 }) + i64::from(day) - 1;
    let mut stamp = Stamp { seconds: days * 86_400, nanos: 0 };
    if let Some(time) = time {
        let (clock, fraction) = time.split_once('.').map_or((time, None), |(clock, fraction)| (clock, Some(fraction)));
        let mut parts = clock.splitn(3, ':');
        let mut next = || number(parts.next()?, 1..=6).map(i64::from);
        stamp.seconds += next()? * 3600 + next()? * 60 + next()?;
        if let Some(fraction) = fraction {
            number(fraction, 1..=9)?;
            stamp.nanos = format!("{fraction:0<9}").parse().ok()?;
        }
    }
    Some(stamp)
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

fn unreadable(text: &str) -> Error {
    Error::new("cast-failed", format!("'TO_TIMESTAMP_LTZ' cannot read '{text}'"))
        .with_detail(format!("Text '{text}' could not be parsed"))
        .with_hint("with a pattern as the second argument it gives NULL")
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
            let stamp = match pattern {
                Some(pattern) => pattern.read(text),
                None => match parse_stamp(text) {
                    None => return Err(failure(unreadable(text))),
                    stamp => stamp,
                },
            };
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
        if value.logical().is_character() {
            SimpleFormat::parse(pattern)?;
        } else {
            Pattern::parse(pattern)?;
        }
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
    if call.arg(0).is_character() {
        let texts = args.texts(0)?;
        let (default, this_year) = (SimpleFormat::parse(DEFAULT_PATTERN).map_err(failure)?, this_year(call));
        let rows = Patterns::with(args, 1, SimpleFormat::parse)?.each(args.rows, |row, pattern| {
            let (Some(text), Some(Some(pattern))) = (texts.get(row), pattern) else { return Ok(None) };
            reformat(text, (&default, TimeZone::UTC), (pattern, TimeZone::UTC), this_year)
        })?;
        return Ok(text_array(rows));
    }
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

/// A text read by one pattern in a zone and written by another in another zone; `None` if it does not follow the first.
fn reformat(
    text: &str,
    (from, from_zone): (&SimpleFormat, TimeZone),
    (to, to_zone): (&SimpleFormat, TimeZone),
    this_year: i64,
) -> DfResult<Option<String>> {
    let Some(read) = from.read(text, this_year).map_err(failure)? else { return Ok(None) };
    let mut out = String::new();
    to.format(read.utc_seconds(from_zone), 0, to_zone, &mut out).map_err(failure)?;
    Ok(Some(out))
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
    let default = SimpleFormat::parse(DEFAULT_PATTERN).map_err(failure)?;
    let zone = call.context.time_zone;
    let rows = Patterns::with(args, 1, SimpleFormat::parse)?.each(args.rows, |row, pattern| {
        let (Some(seconds), Some(pattern)) = (seconds.get(row), pattern) else { return Ok(None) };
        let mut out = String::new();
        // Flink goes by way of milliseconds, which wrap.
        let millis = seconds.wrapping_mul(1000);
        let (seconds, millis) = (millis.div_euclid(1000), millis.rem_euclid(1000));
        pattern.unwrap_or(&default).format(seconds, millis, zone, &mut out).map_err(failure)?;
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
    let (default, this_year) = (SimpleFormat::parse(DEFAULT_PATTERN).map_err(failure)?, this_year(call));
    let rows = Patterns::with(args, 1, SimpleFormat::parse)?.each(args.rows, |row, pattern| {
        let (Some(text), Some(pattern)) = (texts.get(row), pattern) else { return Ok(None) };
        let read = pattern.unwrap_or(&default).read(text, this_year).map_err(failure)?;
        Ok(Some(read.map_or(i64::MIN, |read| read.utc_seconds(zone))))
    })?;
    Ok(Arc::new(Int64Array::from(rows)))
}

pub(super) fn infer_convert_tz(args: &[Arg]) -> Inferred {
    if args.len() == 3 { texts(args, LogicalType::STRING, true) } else { Err(Refusal::Count("3 arguments")) }
}

/// The zones of Java's old `TimeZone`: what it does not know is UTC, and an offset needs `GMT` before it.
fn old_zone(name: &str) -> TimeZone {
    const SHORT: [(&str, &str); 12] = [
        ("EST", "-05:00"),
        ("MST", "-07:00"),
        ("HST", "-10:00"),
        ("PST", "America/Los_Angeles"),
        ("CST", "America/Chicago"),
        ("AST", "America/Anchorage"),
        ("JST", "Asia/Tokyo"),
        ("IST", "Asia/Kolkata"),
        ("CTT", "Asia/Shanghai"),
        ("ECT", "Europe/Paris"),
        ("BST", "Asia/Dhaka"),
        ("AET", "Australia/Sydney"),
    ];
    let name = SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, known)| known);
    let is_offset = name.starts_with(['+', '-']) && !SHORT.iter().any(|(_, known)| *known == name);
    if is_offset { TimeZone::UTC } else { TimeZone::parse(name).unwrap_or(TimeZone::UTC) }
}

pub(super) fn convert_tz(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (values, from, to) = (args.texts(0)?, args.texts(1)?, args.texts(2)?);
    let (pattern, this_year) = (SimpleFormat::parse(DEFAULT_PATTERN).map_err(failure)?, this_year(call));
    let mut rows = Vec::with_capacity(args.rows);
    for row in 0..args.rows {
        rows.push(match (values.get(row), from.get(row), to.get(row)) {
            (Some(text), Some(from), Some(to)) => {
                reformat(text, (&pattern, old_zone(from)), (&pattern, old_zone(to)), this_year)?
            }
            _ => None,
        });
    }
    Ok(text_array(rows))
}
