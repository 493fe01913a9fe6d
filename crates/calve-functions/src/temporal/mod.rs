//! Dates, times, timestamps and intervals.

mod interval;
mod now;
mod overlaps;
mod part;
mod pattern;
mod simple;
mod text;

use arrow::datatypes::{Date32Type, Time64MicrosecondType};
use calve_types::{DataType, Error, LogicalType, Value};
use datafusion_common::Result as DfResult;

use crate::TimeZone;
use crate::args::{Args, failure};
use crate::cast::parse_stamp;
use crate::civil::{SECONDS_PER_DAY, Stamp};
use crate::function::{Arg, Eval, Refusal, ScalarFunction, Syntax};

pub(crate) use interval::{arithmetic, infer_arithmetic};
pub(crate) use part::{floor, infer_floor};

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::new("CURRENT_TIMESTAMP", now::infer_now, Eval::Kernel(now::now))
        .aliases(&["NOW", "CURRENT_ROW_TIMESTAMP"]),
    // not an alias: its value is a time attribute
    ScalarFunction::kernel("PROCTIME", now::infer_now, now::now),
    ScalarFunction::kernel("CURRENT_WATERMARK", now::infer_watermark, now::no_watermark),
    ScalarFunction::kernel("LOCALTIMESTAMP", now::infer_local_timestamp, now::now),
    ScalarFunction::kernel("CURRENT_DATE", now::infer_current_date, now::now),
    ScalarFunction::kernel("LOCALTIME", now::infer_local_time, now::now).aliases(&["CURRENT_TIME"]),
    ScalarFunction::kernel("EXTRACT", part::infer_extract, part::extract),
    ScalarFunction::kernel("YEAR", part::infer_date_part, part::extract),
    ScalarFunction::kernel("QUARTER", part::infer_date_part, part::extract),
    ScalarFunction::kernel("MONTH", part::infer_date_part, part::extract),
    ScalarFunction::kernel("WEEK", part::infer_date_part, part::extract),
    ScalarFunction::kernel("DAYOFYEAR", part::infer_date_part, part::extract),
    ScalarFunction::kernel("DAYOFMONTH", part::infer_date_part, part::extract),
    ScalarFunction::kernel("DAYOFWEEK", part::infer_date_part, part::extract),
    ScalarFunction::kernel("HOUR", part::infer_part, part::extract),
    ScalarFunction::kernel("MINUTE", part::infer_part, part::extract),
    ScalarFunction::kernel("SECOND", part::infer_part, part::extract),
    ScalarFunction::kernel("TO_DATE", text::infer_to_date, text::to_date),
    ScalarFunction::kernel("TO_TIMESTAMP", text::infer_to_timestamp, text::to_timestamp),
    ScalarFunction::kernel("TO_TIMESTAMP_LTZ", text::infer_to_ltz, text::to_ltz),
    ScalarFunction::kernel("DATE_FORMAT", text::infer_date_format, text::date_format)
        .forms(&["DATE_FORMAT(<TIMESTAMP>, <CHARACTER>)", "DATE_FORMAT(<CHARACTER>, <CHARACTER>)"]),
    ScalarFunction::kernel("FROM_UNIXTIME", text::infer_from_unixtime, text::from_unixtime),
    ScalarFunction::kernel("UNIX_TIMESTAMP", text::infer_unix_timestamp, text::unix_timestamp),
    ScalarFunction::kernel("CONVERT_TZ", text::infer_convert_tz, text::convert_tz),
    ScalarFunction::kernel("TIMESTAMPADD", interval::infer_timestamp_add, interval::timestamp_add),
    ScalarFunction::kernel("TIMESTAMPDIFF", interval::infer_timestamp_diff, interval::timestamp_diff),
    ScalarFunction::kernel("OVERLAPS", overlaps::infer, overlaps::overlaps).syntax(Syntax::Operator),
    ScalarFunction::kernel("MINUS_DATE", interval::infer_minus_date, interval::minus_date),
];

const LTZ: LogicalType = LogicalType::TimestampLtz(3);

fn types(args: &[Arg]) -> Vec<DataType> {
    args.iter().map(|a| a.data_type.clone()).collect()
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

fn symbol(arg: &Arg) -> Result<String, Refusal> {
    match &arg.literal {
        Some(Value::Symbol(name) | Value::String(name)) => Ok(name.to_ascii_uppercase()),
        _ => Err(Refusal::Types),
    }
}
