//! Parts of dates and times, and FLOOR and CEIL to them.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, PrimitiveArray};
use arrow::datatypes::{Date32Type, Time64MicrosecondType};
use calve_types::{Error, LogicalType};
use datafusion_common::Result as DfResult;

use super::interval::lengths;
use super::{symbol, types, wall_clock};
use crate::TimeZone;
use crate::args::{Args, failure};
use crate::cast::{out_of_range, timestamp_array};
use crate::civil::{
    Civil, MICROS_PER_DAY, MILLIS_PER_DAY, SECONDS_PER_DAY, Stamp, add_months, civil_of, day_of_year, days_of,
    iso_week, iso_weekday,
};
use crate::function::{Arg, Call, Inferred, Refusal, Signature};
use crate::operator::nullable_by;

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

pub(super) fn infer_extract(args: &[Arg]) -> Inferred {
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
    refuse_part_of_time(&name, value)?;
    let is_part = match value.logical() {
        LogicalType::IntervalYearMonth { .. } => {
            matches!(name.as_str(), "YEAR" | "QUARTER" | "MONTH" | "DECADE" | "CENTURY" | "MILLENNIUM")
        }
        LogicalType::IntervalDayTime { .. } => {
            matches!(name.as_str(), "DAY" | "HOUR" | "MINUTE" | "SECOND" | "MILLISECOND" | "MICROSECOND" | "NANOSECOND")
        }
        _ => true,
    };
    if !is_part {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::BigInt) })
}

fn refuse_part_of_time(unit: &str, value: &Arg) -> Result<(), Refusal> {
    let is_time = matches!(value.logical(), LogicalType::Time(_));
    if !is_time || matches!(unit, "HOUR" | "MINUTE" | "SECOND" | "MILLISECOND") {
        return Ok(());
    }
    Err(Error::new("invalid-argument", format!("a TIME has no {unit}"))
        .with_detail(format!("unit {unit} can not be applied to time variable"))
        .into())
}

/// YEAR and the other functions named after a unit of a day or longer.
pub(super) fn infer_date_part(args: &[Arg]) -> Inferred {
    if let [value] = args {
        refuse_part_of_time("YEAR", value)?;
    }
    infer_part(args)
}

pub(super) fn infer_part(args: &[Arg]) -> Inferred {
    let [value] = args else { return Err(Refusal::Count("1 arguments")) };
    if !value.logical().is_datetime() {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::BigInt) })
}

pub(super) fn extract(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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
    // Flink counts milliseconds, and of a unit longer than a day whole days.
    let is_start = match unit {
        // It takes the first day of a quarter for its start in January alone.
        "QUARTER" => (date.month, date.day) == (1, 1),
        "YEAR" | "MONTH" | "WEEK" => midnight(days) == start,
        _ => stamp.millis() == start.millis(),
    };
    if is_floor || is_start { start } else { end }
}
