//! Intervals, and dates and times moved by them.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, PrimitiveArray};
use arrow::datatypes::{Date32Type, DurationMillisecondType, Int64Type, IntervalYearMonthType, Time64MicrosecondType};
use calve_types::rules::{self, Arithmetic};
use calve_types::{Error, IntervalField, LogicalType};
use datafusion_common::Result as DfResult;

use super::{symbol, types, wall_clock};
use crate::TimeZone;
use crate::args::{Args, failure};
use crate::cast::{out_of_range, timestamp_array};
use crate::civil::{MICROS_PER_DAY, MILLIS_PER_DAY, SECONDS_PER_DAY, Stamp, add_months, civil_of};
use crate::function::{Arg, Call, Inferred, Refusal, Signature};
use crate::operator::{arithmetic_of, nullable_by};

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
    if is_sum && l.is_datetime() && r.is_interval() {
        return keep(l.clone());
    }
    if op == Arithmetic::Plus && l.is_interval() && r.is_datetime() {
        return keep(r.clone());
    }
    if is_sum && l.is_interval() && r.is_interval() {
        let common = rules::common_type(&[l.clone().not_null(), r.clone().not_null()])?.logical;
        return keep(common);
    }
    // Flink compiles no product with other numbers, and no quotient.
    let scaled = |interval: &Arg, number: &Arg, swapped: bool| {
        let (i, n) = (interval.data_type.clone(), LogicalType::BigInt.with_nullable(number.data_type.nullable));
        Some(Signature {
            args: if swapped { vec![n, i] } else { vec![i, n] },
            returns: interval.logical().clone().with_nullable(nullable),
        })
    };
    match op {
        Arithmetic::Times if l.is_interval() && r.is_integer() => scaled(a, b, false),
        Arithmetic::Times if l.is_integer() && r.is_interval() => scaled(b, a, true),
        _ => None,
    }
}

pub(super) fn lengths<'a>(
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
        (true, false) | (false, true) if op == Arithmetic::Times => {
            let (interval, number) = if l.is_interval() { (0, 1) } else { (1, 0) };
            let lengths = lengths(args, interval, call.arg(interval))?;
            let numbers = args.numbers::<Int64Type>(number)?;
            let values = rows.map(|row| Some(lengths(row)?.wrapping_mul(numbers.get(row)?)));
            Ok(interval_array(values, &call.returns.logical))
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

/// `(a - b) unit`: the interval between two dates or timestamps, the unit as a symbol.
pub(super) fn infer_minus_date(args: &[Arg]) -> Inferred {
    let [unit, a, b] = args else { return Err(Refusal::Count("3 arguments")) };
    if !a.logical().is_datetime() || !b.logical().is_datetime() {
        return Err(Refusal::Types);
    }
    let is_months = matches!(symbol(unit)?.as_str(), "YEAR" | "MONTH" | "QUARTER");
    let interval = if is_months { YEAR_MONTH } else { DAY_TIME };
    Ok(Signature { args: types(args), returns: nullable_by(args, interval) })
}

pub(super) fn minus_date(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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

pub(super) fn infer_timestamp_add(args: &[Arg]) -> Inferred {
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

pub(super) fn timestamp_add(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let unit = args.texts(0)?.get(0).unwrap_or("").to_ascii_uppercase();
    let (months, millis) = unit_length(&unit).ok_or_else(|| failure(Error::internal(format!("unit {unit}"))))?;
    let counts = args.numbers::<Int64Type>(1)?;
    moved(call, args, 2, call.arg(2), |row| {
        let count = counts.get(row)?;
        Some((months.saturating_mul(count), millis.saturating_mul(count)))
    })
}

pub(super) fn infer_timestamp_diff(args: &[Arg]) -> Inferred {
    let [unit, from, to] = args else { return Err(Refusal::Count("3 arguments")) };
    unit_of(unit)?;
    let is_point = |a: &Arg| *a.logical() == LogicalType::Date || a.logical().is_timestamp();
    if !is_point(from) || !is_point(to) {
        return Err(Refusal::Types);
    }
    let is_ltz = |a: &Arg| matches!(a.logical(), LogicalType::TimestampLtz(_));
    if is_ltz(from) != is_ltz(to) {
        return Err(Error::new("invalid-argument", "'TIMESTAMPDIFF' of a TIMESTAMP_LTZ and another type")
            .with_detail("TIMESTAMP_LTZ only supports diff between the same type.")
            .with_hint("cast one of them")
            .into());
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::Int) })
}

/// Whole units from the first to the second, towards zero.
pub(super) fn timestamp_diff(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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
