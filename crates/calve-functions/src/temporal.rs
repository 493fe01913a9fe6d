//! Dates, times, timestamps and intervals.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int32Array, Int64Array, PrimitiveArray, StringBuilder};
use arrow::datatypes::{
    Date32Type, DurationMillisecondType, Float64Type, Int32Type, Int64Type, IntervalYearMonthType,
    Time64MicrosecondType,
};
use calve_types::rules::{self, Arithmetic};
use calve_types::{DataType, Error, IntervalField, LogicalType, Value};
use datafusion_common::Result as DfResult;

use crate::TimeZone;
use crate::args::{Args, failure};
use crate::cast::{out_of_range, parse_date, parse_stamp, timestamp_array};
use crate::civil::{
    Civil, MICROS_PER_DAY, MILLIS_PER_DAY, SECONDS_PER_DAY, Stamp, add_months, civil_of, day_of_year, days_of,
    iso_week, iso_weekday,
};
use crate::function::{Arg, Call, Eval, Inferred, Refusal, ScalarFunction, Signature};
use crate::operator::{arithmetic_of, nullable_by};
use crate::pattern::Pattern;

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::new("CURRENT_TIMESTAMP", infer_now, Eval::Kernel(now)).aliases(&["NOW", "CURRENT_ROW_TIMESTAMP"]),
    ScalarFunction::kernel("LOCALTIMESTAMP", infer_local_timestamp, now),
    ScalarFunction::kernel("CURRENT_DATE", infer_current_date, now),
    ScalarFunction::kernel("LOCALTIME", infer_local_time, now).aliases(&["CURRENT_TIME"]),
    ScalarFunction::kernel("EXTRACT", infer_extract, extract),
    ScalarFunction::kernel("YEAR", infer_part, extract),
    ScalarFunction::kernel("QUARTER", infer_part, extract),
    ScalarFunction::kernel("MONTH", infer_part, extract),
    ScalarFunction::kernel("WEEK", infer_part, extract),
    ScalarFunction::kernel("DAYOFYEAR", infer_part, extract),
    ScalarFunction::kernel("DAYOFMONTH", infer_part, extract),
    ScalarFunction::kernel("DAYOFWEEK", infer_part, extract),
    ScalarFunction::kernel("HOUR", infer_part, extract),
    ScalarFunction::kernel("MINUTE", infer_part, extract),
    ScalarFunction::kernel("SECOND", infer_part, extract),
    ScalarFunction::kernel("TO_DATE", infer_to_date, to_date),
    ScalarFunction::kernel("TO_TIMESTAMP", infer_to_timestamp, to_timestamp),
    ScalarFunction::kernel("TO_TIMESTAMP_LTZ", infer_to_ltz, to_ltz),
    ScalarFunction::kernel("DATE_FORMAT", infer_date_format, date_format)
        .forms(&["DATE_FORMAT(<TIMESTAMP>, <CHARACTER>)", "DATE_FORMAT(<CHARACTER>, <CHARACTER>)"]),
    ScalarFunction::kernel("FROM_UNIXTIME", infer_from_unixtime, from_unixtime),
    ScalarFunction::kernel("UNIX_TIMESTAMP", infer_unix_timestamp, unix_timestamp),
    ScalarFunction::kernel("CONVERT_TZ", infer_convert_tz, convert_tz),
    ScalarFunction::kernel("TIMESTAMPADD", infer_timestamp_add, timestamp_add),
    ScalarFunction::kernel("TIMESTAMPDIFF", infer_timestamp_diff, timestamp_diff),
    ScalarFunction::kernel("MINUS_DATE", infer_minus_date, minus_date),
];

const LTZ: LogicalType = LogicalType::TimestampLtz(3);

fn types(args: &[Arg]) -> Vec<DataType> {
    args.iter().map(|a| a.data_type.clone()).collect()
}

// ---- arithmetic with intervals

const DAY_TIME: LogicalType =
    LogicalType::IntervalDayTime { from: IntervalField::Day, to: IntervalField::Second, day_precision: 6, fraction: 3 };
const YEAR_MONTH: LogicalType =
    LogicalType::IntervalYearMonth { from: IntervalField::Year, to: IntervalField::Month, precision: 4 };

/// `datetime ± interval`, `interval ± interval`, `interval * number`; `None` for anything else.
pub(crate) fn infer_arithmetic(op: Arithmetic, a: &Arg, b: &Arg, nullable: bool) -> Option<Signature> {
    let (l, r) = (a.logical(), b.logical());
    let is_sum = matches!(op, Arithmetic::Plus | Arithmetic::Minus);
    let keep = |returns: LogicalType| {
        Some(Signature {
            args: vec![a.data_type.clone(), b.data_type.clone()],
            returns: returns.with_nullable(nullable),
        })
    };
    let is_month_of_time = |time: &LogicalType, interval: &LogicalType| {
        matches!(time, LogicalType::Time(_)) && matches!(interval, LogicalType::IntervalYearMonth { .. })
    };
    if is_sum && l.is_datetime() && r.is_interval() {
        return if is_month_of_time(l, r) { None } else { keep(l.clone()) };
    }
    if op == Arithmetic::Plus && l.is_interval() && r.is_datetime() {
        return if is_month_of_time(r, l) { None } else { keep(r.clone()) };
    }
    if is_sum && l.is_interval() && r.is_interval() {
        let common = rules::common_type(&[l.clone().not_null(), r.clone().not_null()])?.logical;
        return keep(common);
    }
    let scaled = |interval: &Arg, number: &Arg, swapped: bool| {
        let number_type = if number.logical().is_integer() { LogicalType::BigInt } else { LogicalType::Double };
        let (i, n) = (interval.data_type.clone(), number_type.with_nullable(number.data_type.nullable));
        Some(Signature {
            args: if swapped { vec![n, i] } else { vec![i, n] },
            returns: interval.logical().clone().with_nullable(nullable),
        })
    };
    match op {
        Arithmetic::Times if l.is_interval() && r.is_numeric() => scaled(a, b, false),
        Arithmetic::Times if l.is_numeric() && r.is_interval() => scaled(b, a, true),
        Arithmetic::Divide if l.is_interval() && r.is_numeric() => scaled(a, b, false),
        _ => None,
    }
}

/// The numbers of an interval, a BIGINT or a DOUBLE.
fn amounts(args: &Args, index: usize) -> DfResult<Box<dyn Fn(usize) -> Option<f64> + '_>> {
    let (array, _) = args.raw(index)?;
    if array.as_primitive_opt::<Float64Type>().is_some() {
        let values = args.numbers::<Float64Type>(index)?;
        return Ok(Box::new(move |row| values.get(row)));
    }
    let values = args.numbers::<Int64Type>(index)?;
    Ok(Box::new(move |row| values.get(row).map(|v| v as f64)))
}

fn lengths<'a>(
    args: &'a Args,
    index: usize,
    interval: &LogicalType,
) -> DfResult<Box<dyn Fn(usize) -> Option<i64> + 'a>> {
    if matches!(interval, LogicalType::IntervalYearMonth { .. }) {
        let months = args.numbers::<IntervalYearMonthType>(index)?;
        Ok(Box::new(move |row| months.get(row).map(i64::from)))
    } else {
        let millis = args.numbers::<DurationMillisecondType>(index)?;
        Ok(Box::new(move |row| millis.get(row)))
    }
}

fn interval_array(values: impl Iterator<Item = Option<i64>>, interval: &LogicalType) -> ArrayRef {
    if matches!(interval, LogicalType::IntervalYearMonth { .. }) {
        Arc::new(values.map(|v| v.map(|v| v as i32)).collect::<PrimitiveArray<IntervalYearMonthType>>())
    } else {
        Arc::new(values.collect::<PrimitiveArray<DurationMillisecondType>>())
    }
}

pub(crate) fn arithmetic(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let op = arithmetic_of(call);
    let (l, r) = (call.arg(0), call.arg(1));
    let rows = 0..args.rows;
    match (l.is_interval(), r.is_interval()) {
        (true, true) => {
            let (a, b) = (lengths(args, 0, l)?, lengths(args, 1, r)?);
            let values = rows.map(|row| {
                let (a, b) = (a(row)?, b(row)?);
                Some(if op == Arithmetic::Minus { a.wrapping_sub(b) } else { a.wrapping_add(b) })
            });
            Ok(interval_array(values, &call.returns.logical))
        }
        (true, false) | (false, true) if matches!(op, Arithmetic::Times | Arithmetic::Divide) => {
            let (interval, number) = if l.is_interval() { (0, 1) } else { (1, 0) };
            let lengths = lengths(args, interval, call.arg(interval))?;
            let mut values = Vec::with_capacity(args.rows);
            if let (array, _) = args.raw(number)?
                && array.as_primitive_opt::<Int64Type>().is_some()
            {
                let numbers = args.numbers::<Int64Type>(number)?;
                for row in rows {
                    values.push(match (lengths(row), numbers.get(row)) {
                        (Some(_), Some(0)) if op == Arithmetic::Divide => {
                            return Err(failure(crate::arithmetic::division_by_zero()));
                        }
                        (Some(v), Some(n)) if op == Arithmetic::Divide => Some(v.wrapping_div(n)),
                        (Some(v), Some(n)) => Some(v.wrapping_mul(n)),
                        _ => None,
                    });
                }
            } else {
                let numbers = amounts(args, number)?;
                for row in rows {
                    values.push(match (lengths(row), numbers(row)) {
                        (Some(v), Some(n)) if op == Arithmetic::Divide => Some((v as f64 / n) as i64),
                        (Some(v), Some(n)) => Some((v as f64 * n) as i64),
                        _ => None,
                    });
                }
            }
            Ok(interval_array(values.into_iter(), &call.returns.logical))
        }
        (false, true) => shift(call, args, (0, l), (1, r), if op == Arithmetic::Minus { -1 } else { 1 }),
        (true, false) => shift(call, args, (1, r), (0, l), 1),
        (false, false) => Err(failure(Error::internal(format!("'{}' of {l} and {r}", call.name)))),
    }
}

/// A date, time or timestamp moved by an interval.
fn shift(
    call: &Call,
    args: &Args,
    (time, time_type): (usize, &LogicalType),
    (interval, interval_type): (usize, &LogicalType),
    sign: i64,
) -> DfResult<ArrayRef> {
    let lengths = lengths(args, interval, interval_type)?;
    let is_months = matches!(interval_type, LogicalType::IntervalYearMonth { .. });
    moved(call, args, time, time_type, move |row| {
        let length = lengths(row)?.saturating_mul(sign);
        Some(if is_months { (length, 0) } else { (0, length) })
    })
}

/// A date, time or timestamp moved by months and milliseconds.
fn moved(
    call: &Call,
    args: &Args,
    time: usize,
    time_type: &LogicalType,
    by: impl Fn(usize) -> Option<(i64, i64)>,
) -> DfResult<ArrayRef> {
    use LogicalType as T;
    let returns = &call.returns.logical;
    let rows = 0..args.rows;
    match (time_type, returns) {
        (T::Date, T::Date) => {
            let days = args.numbers::<Date32Type>(time)?;
            let moved = rows
                .map(|row| {
                    let (Some(day), Some((months, millis))) = (days.get(row), by(row)) else { return Ok(None) };
                    let day = if months == 0 { i64::from(day) } else { add_months(i64::from(day), months) };
                    // Less than a day changes nothing, in either direction.
                    let day = day.saturating_add(millis / MILLIS_PER_DAY);
                    i32::try_from(day).map(Some).map_err(|_| failure(out_of_range(returns)))
                })
                .collect::<DfResult<PrimitiveArray<Date32Type>>>()?;
            Ok(Arc::new(moved))
        }
        (T::Time(_), T::Time(_)) => {
            let times = args.numbers::<Time64MicrosecondType>(time)?;
            let moved = rows.map(|row| {
                let (micros, (_, millis)) = (times.get(row)?, by(row)?);
                let by = (millis % MILLIS_PER_DAY) * 1000;
                Some(micros.saturating_add(by).rem_euclid(MICROS_PER_DAY))
            });
            Ok(Arc::new(moved.collect::<PrimitiveArray<Time64MicrosecondType>>()))
        }
        (_, T::Timestamp(p) | T::TimestampLtz(p)) => {
            let stamps = wall_clock(args, time, time_type, TimeZone::UTC)?;
            let moved = rows
                .map(|row| {
                    let (Some(stamp), Some((months, millis))) = (stamps(row), by(row)) else { return Ok(None) };
                    let mut stamp = stamp;
                    if months != 0 {
                        let days = stamp.seconds.div_euclid(SECONDS_PER_DAY);
                        let second = stamp.seconds.rem_euclid(SECONDS_PER_DAY);
                        stamp.seconds = add_months(days, months).saturating_mul(SECONDS_PER_DAY).saturating_add(second);
                    }
                    let nanos = i64::from(stamp.nanos) + millis.rem_euclid(1000) * 1_000_000;
                    stamp.seconds =
                        stamp.seconds.saturating_add(millis.div_euclid(1000)).saturating_add(nanos / 1_000_000_000);
                    stamp.nanos = (nanos % 1_000_000_000) as u32;
                    stamp.to_unit(*p).map(Some).ok_or_else(|| failure(out_of_range(returns)))
                })
                .collect::<DfResult<Int64Array>>()?;
            timestamp_array(moved, returns)
        }
        _ => Err(failure(Error::internal(format!("{time_type} moved to {returns}")))),
    }
}

/// The wall clock of a date, time or timestamp; an LTZ's in a zone.
fn wall_clock<'a>(
    args: &'a Args,
    index: usize,
    data_type: &LogicalType,
    zone: TimeZone,
) -> DfResult<Box<dyn Fn(usize) -> Option<Stamp> + 'a>> {
    use LogicalType as T;
    Ok(match data_type {
        T::Date => {
            let days = args.numbers::<Date32Type>(index)?;
            Box::new(move |row| days.get(row).map(|d| Stamp { seconds: i64::from(d) * SECONDS_PER_DAY, nanos: 0 }))
        }
        T::Time(_) => {
            let times = args.numbers::<Time64MicrosecondType>(index)?;
            Box::new(move |row| times.get(row).map(Stamp::from_micros))
        }
        T::Timestamp(_) => {
            let stamps = args.stamps(index)?;
            Box::new(move |row| stamps.get(row))
        }
        T::TimestampLtz(_) => {
            let stamps = args.stamps(index)?;
            Box::new(move |row| stamps.get(row).map(|s| Stamp { seconds: zone.to_local(s.seconds), ..s }))
        }
        T::Char(_) | T::Varchar(_) => {
            let texts = args.texts(index)?;
            Box::new(move |row| texts.get(row).and_then(parse_stamp))
        }
        other => return Err(failure(Error::internal(format!("the time of {other}")))),
    })
}

/// `(a - b) unit`: the interval between two dates or timestamps, the unit as a symbol.
fn infer_minus_date(args: &[Arg]) -> Inferred {
    let [unit, a, b] = args else { return Err(Refusal::Count("3 arguments")) };
    if !a.logical().is_datetime() || !b.logical().is_datetime() {
        return Err(Refusal::Types);
    }
    let is_months = matches!(symbol(unit)?.as_str(), "YEAR" | "MONTH" | "QUARTER");
    let interval = if is_months { YEAR_MONTH } else { DAY_TIME };
    Ok(Signature { args: types(args), returns: nullable_by(args, interval) })
}

fn minus_date(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let zone = call.context.time_zone;
    let (a, b) = (wall_clock(args, 1, call.arg(1), zone)?, wall_clock(args, 2, call.arg(2), zone)?);
    let is_months = matches!(call.returns.logical, LogicalType::IntervalYearMonth { .. });
    let values = (0..args.rows).map(|row| {
        let (a, b) = (a(row)?, b(row)?);
        Some(if is_months { months_between(b, a) } else { a.millis().saturating_sub(b.millis()) })
    });
    Ok(interval_array(values, &call.returns.logical))
}

/// Whole months from one wall clock to another, towards zero.
fn months_between(from: Stamp, to: Stamp) -> i64 {
    let (from_days, from_time) = from.split();
    let (to_days, to_time) = to.split();
    let (f, t) = (civil_of(from_days), civil_of(to_days));
    let months = (t.year - f.year).saturating_mul(12) + i64::from(t.month) - i64::from(f.month);
    // The end counts as reached when the start moved by the months is not beyond it.
    let reached = (add_months(from_days, months), from_time);
    match months {
        m if m > 0 && reached > (to_days, to_time) => m - 1,
        m if m < 0 && reached < (to_days, to_time) => m + 1,
        m => m,
    }
}

// ---- now

fn none(args: &[Arg], returns: LogicalType) -> Inferred {
    if args.is_empty() {
        Ok(Signature { args: vec![], returns: returns.not_null() })
    } else {
        Err(Refusal::Count("0 arguments"))
    }
}

fn infer_now(args: &[Arg]) -> Inferred {
    none(args, LTZ)
}

fn infer_local_timestamp(args: &[Arg]) -> Inferred {
    none(args, LogicalType::Timestamp(3))
}

fn infer_current_date(args: &[Arg]) -> Inferred {
    none(args, LogicalType::Date)
}

fn infer_local_time(args: &[Arg]) -> Inferred {
    none(args, LogicalType::Time(0))
}

/// The statement's start in the type of the call.
fn now(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    use LogicalType as T;
    let utc = Stamp::from_micros(call.context.statement_start);
    let local = Stamp { seconds: call.context.time_zone.to_local(utc.seconds), ..utc };
    let (days, nanos) = local.split();
    let out_of_range = || failure(out_of_range(&call.returns.logical));
    let seconds = nanos / 1_000_000_000;
    match &call.returns.logical {
        T::Date => {
            let days = i32::try_from(days).map_err(|_| out_of_range())?;
            Ok(Arc::new(PrimitiveArray::<Date32Type>::from(vec![days; args.rows])))
        }
        T::Time(_) => Ok(Arc::new(PrimitiveArray::<Time64MicrosecondType>::from(vec![seconds * 1_000_000; args.rows]))),
        returns => {
            let stamp = if matches!(returns, T::Timestamp(_)) { local } else { utc };
            let unit = stamp.to_unit(3).ok_or_else(out_of_range)?;
            timestamp_array(Int64Array::from(vec![unit; args.rows]), returns)
        }
    }
}

// ---- parts

fn symbol(arg: &Arg) -> Result<String, Refusal> {
    match &arg.literal {
        Some(Value::Symbol(name) | Value::String(name)) => Ok(name.to_ascii_uppercase()),
        _ => Err(Refusal::Types),
    }
}

const PARTS: [&str; 20] = [
    "YEAR",
    "QUARTER",
    "MONTH",
    "WEEK",
    "DAY",
    "DOY",
    "DOW",
    "ISODOW",
    "ISOYEAR",
    "HOUR",
    "MINUTE",
    "SECOND",
    "MILLISECOND",
    "MICROSECOND",
    "NANOSECOND",
    "EPOCH",
    "DECADE",
    "CENTURY",
    "MILLENNIUM",
    "DAYOFMONTH",
];

fn infer_extract(args: &[Arg]) -> Inferred {
    let [unit, value] = args else { return Err(Refusal::Count("2 arguments")) };
    let name = symbol(unit)?;
    if !PARTS.contains(&name.as_str()) {
        return Err(Error::new("invalid-argument", format!("'{name}' is not a part of a date or time"))
            .with_detail(format!("'{name}' is not a valid time frame"))
            .into());
    }
    if !value.logical().is_datetime() && !value.logical().is_interval() {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::BigInt) })
}

fn infer_part(args: &[Arg]) -> Inferred {
    let [value] = args else { return Err(Refusal::Count("1 arguments")) };
    if !value.logical().is_datetime() {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::BigInt) })
}

fn extract(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (unit, index) = match call.name.as_str() {
        "EXTRACT" => (args.texts(0)?.get(0).unwrap_or("").to_ascii_uppercase(), 1),
        "DAYOFYEAR" => ("DOY".to_owned(), 0),
        "DAYOFMONTH" => ("DAY".to_owned(), 0),
        "DAYOFWEEK" => ("DOW".to_owned(), 0),
        name => (name.to_owned(), 0),
    };
    let of = call.arg(index);
    if of.is_interval() {
        let lengths = lengths(args, index, of)?;
        let parts = (0..args.rows).map(|row| interval_part(&unit, lengths(row)?, of));
        return Ok(Arc::new(parts.collect::<Int64Array>()));
    }
    let stamps = if unit == "EPOCH" {
        wall_clock(args, index, of, TimeZone::UTC)?
    } else {
        wall_clock(args, index, of, call.context.time_zone)?
    };
    let parts = (0..args.rows).map(|row| stamps(row).map(|stamp| part(&unit, stamp)));
    Ok(Arc::new(parts.collect::<Int64Array>()))
}

fn interval_part(unit: &str, length: i64, interval: &LogicalType) -> Option<i64> {
    if matches!(interval, LogicalType::IntervalYearMonth { .. }) {
        return match unit {
            "YEAR" => Some(length / 12),
            "QUARTER" => Some(length % 12 / 3 + 1),
            "MONTH" => Some(length % 12),
            _ => Some(0),
        };
    }
    Some(match unit {
        "DAY" => length / MILLIS_PER_DAY,
        "HOUR" => length / 3_600_000 % 24,
        "MINUTE" => length / 60_000 % 60,
        "SECOND" => length / 1000 % 60,
        "MILLISECOND" => length % 1000,
        "MICROSECOND" => length % 1000 * 1000,
        "EPOCH" => length / 1000,
        _ => 0,
    })
}

/// A part of a wall clock. MILLISECOND and the like are those within the second.
fn part(unit: &str, stamp: Stamp) -> i64 {
    let (days, nanos) = stamp.split();
    let date = civil_of(days);
    let second = nanos / 1_000_000_000;
    let of_era = |years: i64| if date.year > 0 { (date.year + years - 1) / years } else { date.year / years - 1 };
    match unit {
        "YEAR" => date.year,
        "QUARTER" => (i64::from(date.month) - 1) / 3 + 1,
        "MONTH" => i64::from(date.month),
        "WEEK" => iso_week(days).1,
        "DAY" | "DAYOFMONTH" => i64::from(date.day),
        "DOY" => day_of_year(days),
        // Sunday is 1.
        "DOW" => iso_weekday(days) % 7 + 1,
        "ISODOW" => iso_weekday(days),
        "ISOYEAR" => iso_week(days).0,
        "HOUR" => second / 3600,
        "MINUTE" => second / 60 % 60,
        "SECOND" => second % 60,
        "MILLISECOND" => nanos / 1_000_000 % 1000,
        "MICROSECOND" => nanos / 1000 % 1_000_000,
        "NANOSECOND" => nanos % 1_000_000_000,
        "EPOCH" => stamp.seconds,
        "DECADE" => date.year.div_euclid(10),
        "CENTURY" => of_era(100),
        _ => of_era(1000),
    }
}

/// `FLOOR(value TO unit)` and CEIL, the unit as a symbol.
pub(crate) fn infer_floor(args: &[Arg]) -> Inferred {
    let [value, unit] = args else { return Err(Refusal::Count("2 arguments")) };
    let name = symbol(unit)?;
    if !value.logical().is_datetime() {
        return Err(Refusal::Types);
    }
    if !matches!(
        name.as_str(),
        "YEAR" | "QUARTER" | "MONTH" | "WEEK" | "DAY" | "HOUR" | "MINUTE" | "SECOND" | "MILLISECOND"
    ) {
        return Err(Error::unsupported(format!("FLOOR and CEIL to {name}")).into());
    }
    Ok(Signature { args: types(args), returns: value.data_type.clone() })
}

pub(crate) fn floor(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    use LogicalType as T;
    let unit = args.texts(1)?.get(0).unwrap_or("").to_ascii_uppercase();
    let is_floor = call.name == "FLOOR";
    let zone = call.context.time_zone;
    let of = call.arg(0);
    let stamps = wall_clock(args, 0, of, zone)?;
    let floored = move |row: usize| stamps(row).map(|stamp| floor_stamp(stamp, &unit, is_floor));
    let rows = 0..args.rows;
    match of {
        T::Date => {
            let days = rows.map(|row| i32::try_from(floored(row)?.split().0).ok());
            Ok(Arc::new(days.collect::<PrimitiveArray<Date32Type>>()))
        }
        T::Time(_) => {
            let micros = rows.map(|row| floored(row)?.micros().map(|m| m.rem_euclid(MICROS_PER_DAY)));
            Ok(Arc::new(micros.collect::<PrimitiveArray<Time64MicrosecondType>>()))
        }
        T::Timestamp(p) | T::TimestampLtz(p) => {
            let is_ltz = matches!(of, T::TimestampLtz(_));
            let units = rows
                .map(|row| {
                    let Some(stamp) = floored(row) else { return Ok(None) };
                    let seconds = if is_ltz { zone.to_utc(stamp.seconds) } else { stamp.seconds };
                    let unit = Stamp { seconds, ..stamp }.to_unit(*p);
                    unit.map(Some).ok_or_else(|| failure(out_of_range(of)))
                })
                .collect::<DfResult<Int64Array>>()?;
            timestamp_array(units, of)
        }
        other => Err(failure(Error::internal(format!("'{}' of {other}", call.name)))),
    }
}

fn floor_stamp(stamp: Stamp, unit: &str, is_floor: bool) -> Stamp {
    let (days, nanos) = stamp.split();
    let date = civil_of(days);
    let first = |month: u32| days_of(Civil { year: date.year, month, day: 1 });
    let midnight = |days: i64| Stamp { seconds: days.saturating_mul(SECONDS_PER_DAY), nanos: 0 };
    let months = |start: u32, length: i64| {
        let start = first(start);
        (midnight(start), midnight(add_months(start, length)))
    };
    let within = |size: i64| {
        let start = nanos / size * size;
        let at = |nanos: i64| Stamp {
            seconds: days.saturating_mul(SECONDS_PER_DAY).saturating_add(nanos / 1_000_000_000),
            nanos: (nanos % 1_000_000_000) as u32,
        };
        (at(start), at(start + size))
    };
    let (start, end) = match unit {
        "YEAR" => months(1, 12),
        "QUARTER" => months((date.month - 1) / 3 * 3 + 1, 3),
        "MONTH" => months(date.month, 1),
        "WEEK" => {
            // Weeks start on Sunday.
            let sunday = days - iso_weekday(days) % 7;
            (midnight(sunday), midnight(sunday + 7))
        }
        "DAY" => (midnight(days), midnight(days + 1)),
        "HOUR" => within(3_600_000_000_000),
        "MINUTE" => within(60_000_000_000),
        "SECOND" => within(1_000_000_000),
        _ => within(1_000_000),
    };
    if is_floor || stamp == start { start } else { end }
}

// ---- texts

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

fn infer_to_date(args: &[Arg]) -> Inferred {
    one_or_two(args)?;
    texts(args, LogicalType::Date, true)
}

fn infer_to_timestamp(args: &[Arg]) -> Inferred {
    one_or_two(args)?;
    texts(args, LogicalType::Timestamp(3), true)
}

/// Patterns of a column of patterns; an invalid one fails the statement.
struct Patterns<'a> {
    texts: Option<crate::args::Values<'a, arrow::array::StringArray>>,
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
fn to_date(_: &Call, args: &Args) -> DfResult<ArrayRef> {
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

/// NULL for what is no timestamp.
fn to_timestamp(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let units = Patterns::new(args, 1)?.each(args.rows, |row, pattern| {
        let (Some(text), Some(pattern)) = (texts.get(row), pattern) else { return Ok(None) };
        let stamp = pattern.map_or_else(|| parse_stamp(text), |pattern| pattern.read(text));
        Ok(stamp.and_then(|s| s.to_unit(3)))
    })?;
    timestamp_array(Int64Array::from(units), &call.returns.logical)
}

/// `TO_TIMESTAMP_LTZ(number[, precision])` or `(text[, pattern[, zone]])`.
fn infer_to_ltz(args: &[Arg]) -> Inferred {
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
            let as_type = if number.logical().is_integer() { LogicalType::BigInt } else { LogicalType::Double };
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

fn to_ltz(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let mut units: Vec<Option<i64>> = Vec::with_capacity(args.rows);
    if call.arg(0).is_numeric() {
        let precisions = if args.count() > 1 { Some(args.numbers::<Int32Type>(1)?) } else { None };
        let (array, _) = args.raw(0)?;
        let number: Box<dyn Fn(usize) -> Option<i64>> = if array.as_primitive_opt::<Float64Type>().is_some() {
            let values = args.numbers::<Float64Type>(0)?;
            Box::new(move |row| values.get(row).map(|v| v as i64))
        } else {
            let values = args.numbers::<Int64Type>(0)?;
            Box::new(move |row| values.get(row))
        };
        for row in 0..args.rows {
            let precision = match &precisions {
                None => Some(3),
                Some(precisions) => precisions.get(row),
            };
            let (Some(number), Some(precision)) = (number(row), precision) else {
                units.push(None);
                continue;
            };
            let micros = match precision {
                0 => number.checked_mul(1_000_000),
                3 => number.checked_mul(1000),
                other => return Err(failure(wrong_precision(i64::from(other)))),
            };
            units.push(Some(micros.ok_or_else(|| failure(out_of_range(&call.returns.logical)))?));
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

fn infer_date_format(args: &[Arg]) -> Inferred {
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

fn date_format(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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

fn infer_from_unixtime(args: &[Arg]) -> Inferred {
    one_or_two(args)?;
    let Some((seconds, pattern)) = args.split_first() else { return Err(Refusal::Types) };
    if !seconds.logical().is_integer() || pattern.iter().any(|p| !p.logical().is_character()) {
        return Err(Refusal::Types);
    }
    let mut arg_types = vec![LogicalType::BigInt.with_nullable(seconds.data_type.nullable)];
    arg_types.extend(pattern.iter().map(|p| p.data_type.clone()));
    Ok(Signature { args: arg_types, returns: LogicalType::STRING.nullable() })
}

fn from_unixtime(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let seconds = args.numbers::<Int64Type>(0)?;
    let default = Pattern::parse(DEFAULT_PATTERN).map_err(failure)?;
    let zone = call.context.time_zone;
    let rows = Patterns::new(args, 1)?.each(args.rows, |row, pattern| {
        let (Some(seconds), Some(pattern)) = (seconds.get(row), pattern) else { return Ok(None) };
        let mut out = String::new();
        pattern.unwrap_or(&default).format(Stamp { seconds: zone.to_local(seconds), nanos: 0 }, &mut out);
        Ok(Some(out))
    })?;
    Ok(text_array(rows))
}

fn infer_unix_timestamp(args: &[Arg]) -> Inferred {
    if args.len() > 2 {
        return Err(Refusal::Count("1 arguments"));
    }
    texts(args, LogicalType::BigInt, false)
}

/// Seconds; the smallest BIGINT for what is no timestamp, as in Flink.
fn unix_timestamp(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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

fn infer_convert_tz(args: &[Arg]) -> Inferred {
    if args.len() == 3 { texts(args, LogicalType::STRING, true) } else { Err(Refusal::Count("3 arguments")) }
}

fn convert_tz(_: &Call, args: &Args) -> DfResult<ArrayRef> {
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

// ---- TIMESTAMPADD and TIMESTAMPDIFF

/// Months and milliseconds of a unit.
fn unit_length(unit: &str) -> Option<(i64, i64)> {
    Some(match unit.trim_start_matches("SQL_TSI_") {
        "YEAR" => (12, 0),
        "QUARTER" => (3, 0),
        "MONTH" => (1, 0),
        "WEEK" => (0, 7 * MILLIS_PER_DAY),
        "DAY" => (0, MILLIS_PER_DAY),
        "HOUR" => (0, 3_600_000),
        "MINUTE" => (0, 60_000),
        "SECOND" => (0, 1000),
        _ => return None,
    })
}

fn unit_of(arg: &Arg) -> Result<(i64, i64), Refusal> {
    let name = symbol(arg)?;
    unit_length(&name).ok_or_else(|| Error::unsupported(format!("the time unit {name}")).into())
}

fn infer_timestamp_add(args: &[Arg]) -> Inferred {
    let [unit, count, value] = args else { return Err(Refusal::Count("3 arguments")) };
    let (_, millis) = unit_of(unit)?;
    if !count.logical().is_integer() || !value.logical().is_datetime() {
        return Err(Refusal::Types);
    }
    let returns = match value.logical() {
        LogicalType::Date if millis % MILLIS_PER_DAY != 0 => LogicalType::Timestamp(6),
        other => other.clone(),
    };
    let count = LogicalType::BigInt.with_nullable(count.data_type.nullable);
    Ok(Signature {
        args: vec![unit.data_type.clone(), count, value.data_type.clone()],
        returns: nullable_by(args, returns),
    })
}

fn timestamp_add(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let unit = args.texts(0)?.get(0).unwrap_or("").to_ascii_uppercase();
    let (months, millis) = unit_length(&unit).ok_or_else(|| failure(Error::internal(format!("unit {unit}"))))?;
    let counts = args.numbers::<Int64Type>(1)?;
    moved(call, args, 2, call.arg(2), |row| {
        let count = counts.get(row)?;
        Some((months.saturating_mul(count), millis.saturating_mul(count)))
    })
}

fn infer_timestamp_diff(args: &[Arg]) -> Inferred {
    let [unit, from, to] = args else { return Err(Refusal::Count("3 arguments")) };
    unit_of(unit)?;
    let is_point = |a: &Arg| *a.logical() == LogicalType::Date || a.logical().is_timestamp();
    if !is_point(from) || !is_point(to) {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::Int) })
}

/// Whole units from the first to the second, towards zero.
fn timestamp_diff(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let unit = args.texts(0)?.get(0).unwrap_or("").to_ascii_uppercase();
    let (months, millis) = unit_length(&unit).ok_or_else(|| failure(Error::internal(format!("unit {unit}"))))?;
    let zone = call.context.time_zone;
    let (from, to) = (wall_clock(args, 1, call.arg(1), zone)?, wall_clock(args, 2, call.arg(2), zone)?);
    let counts = (0..args.rows).map(|row| {
        let (from, to) = (from(row)?, to(row)?);
        Some(if months > 0 {
            (months_between(from, to) / months) as i32
        } else {
            (to.millis().saturating_sub(from.millis()) / millis.max(1)) as i32
        })
    });
    Ok(Arc::new(counts.collect::<Int32Array>()))
}
