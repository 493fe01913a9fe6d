//! Casts among DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, PrimitiveArray};
use arrow::datatypes::{
    Date32Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use calve_types::{Error, LogicalType, arrow as mapping};
use datafusion_common::Result as DfResult;

use super::{Caster, uncovered};
use crate::args::{Args, failure};
use crate::civil::{SECONDS_PER_DAY, Stamp};

/// Timestamps of a type from numbers in its unit.
pub(crate) fn timestamp_array(units: PrimitiveArray<Int64Type>, to: &LogicalType) -> DfResult<ArrayRef> {
    Ok(match to {
        LogicalType::Timestamp(p) if *p <= 6 => Arc::new(units.reinterpret_cast::<TimestampMicrosecondType>()),
        LogicalType::Timestamp(_) => Arc::new(units.reinterpret_cast::<TimestampNanosecondType>()),
        LogicalType::TimestampLtz(p) if *p <= 6 => {
            Arc::new(units.reinterpret_cast::<TimestampMicrosecondType>().with_timezone(mapping::UTC))
        }
        LogicalType::TimestampLtz(_) => {
            Arc::new(units.reinterpret_cast::<TimestampNanosecondType>().with_timezone(mapping::UTC))
        }
        _ => return Err(failure(Error::internal(format!("{to} is no timestamp")))),
    })
}

impl Caster<'_> {
    pub(super) fn between_times(&self, array: &ArrayRef, from: &LogicalType, to: &LogicalType) -> DfResult<ArrayRef> {
        use LogicalType as T;
        let args = Args::of(Arc::clone(array));
        let zone = self.context.time_zone;
        // Every source as a wall clock or, between the same kind, as it is.
        let stamps: Box<dyn Fn(usize) -> Option<Stamp> + '_> = match from {
            T::Date => {
                let days = args.numbers::<Date32Type>(0)?;
                let days = days.array.clone();
                Box::new(move |row| {
                    valid(&days, row).map(|d| Stamp { seconds: i64::from(d) * SECONDS_PER_DAY, nanos: 0 })
                })
            }
            T::Time(_) => {
                let times = args.numbers::<Time64MicrosecondType>(0)?.array.clone();
                Box::new(move |row| valid(&times, row).map(Stamp::from_micros))
            }
            T::Timestamp(_) | T::TimestampLtz(_) => {
                let is_ltz = matches!(from, T::TimestampLtz(_)) && !matches!(to, T::TimestampLtz(_));
                let stamps = crate::args::Stamps::new(array, false)?;
                Box::new(move |row| {
                    let stamp = stamps.get(row)?;
                    let seconds = if is_ltz { zone.to_local(stamp.seconds) } else { stamp.seconds };
                    Some(Stamp { seconds, ..stamp })
                })
            }
            _ => return Err(uncovered(from, to)),
        };
        let to_ltz = matches!(to, T::TimestampLtz(_)) && !matches!(from, T::TimestampLtz(_));
        let rows = 0..array.len();
        match to {
            T::Date => {
                let days = rows.map(|row| stamps(row).and_then(|s| i32::try_from(s.split().0).ok()));
                Ok(Arc::new(days.collect::<PrimitiveArray<Date32Type>>()))
            }
            T::Time(p) => {
                let unit = 10i64.pow(6 - u32::from(*p.min(&6)));
                let micros = rows.map(|row| stamps(row).map(|s| s.split().1 / 1000 / unit * unit));
                Ok(Arc::new(micros.collect::<PrimitiveArray<Time64MicrosecondType>>()))
            }
            T::Timestamp(p) | T::TimestampLtz(p) => {
                let units: PrimitiveArray<Int64Type> = rows
                    .map(|row| {
                        let Some(stamp) = stamps(row) else { return Ok(None) };
                        let seconds = if to_ltz { zone.to_utc(stamp.seconds) } else { stamp.seconds };
                        match (Stamp { seconds, ..stamp }).to_unit(*p) {
                            Some(unit) => Ok(Some(unit)),
                            None => self.refuse(|| out_of_range(to)),
                        }
                    })
                    .collect::<DfResult<_>>()?;
                timestamp_array(units, to)
            }
            _ => Err(uncovered(from, to)),
        }
    }
}

fn valid<T: arrow::datatypes::ArrowPrimitiveType>(array: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    array.is_valid(row).then(|| array.value(row))
}

pub(crate) fn out_of_range(to: &LogicalType) -> Error {
    Error::new("out-of-range", format!("a value is out of range of {to}"))
        .with_hint("with more than six digits of a second, years go from 1678 to 2261")
}
