//! The time at which a statement started.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, PrimitiveArray};
use arrow::datatypes::{Date32Type, Time64MicrosecondType};
use calve_types::LogicalType;
use datafusion_common::Result as DfResult;

use super::LTZ;
use crate::args::{Args, failure};
use crate::cast::{out_of_range, timestamp_array};
use crate::civil::Stamp;
use crate::function::{Arg, Call, Inferred, Refusal, Signature};

fn none(args: &[Arg], returns: LogicalType) -> Inferred {
    if args.is_empty() {
        Ok(Signature { args: vec![], returns: returns.not_null() })
    } else {
        Err(Refusal::Count("0 arguments"))
    }
}

pub(super) fn infer_now(args: &[Arg]) -> Inferred {
    none(args, LTZ)
}

pub(super) fn infer_local_timestamp(args: &[Arg]) -> Inferred {
    none(args, LogicalType::Timestamp(3))
}

pub(super) fn infer_current_date(args: &[Arg]) -> Inferred {
    none(args, LogicalType::Date)
}

pub(super) fn infer_local_time(args: &[Arg]) -> Inferred {
    none(args, LogicalType::Time(0))
}

/// The watermark is of the type of its rowtime attribute, with milliseconds.
pub(super) fn infer_watermark(args: &[Arg]) -> Inferred {
    let [arg] = args else { return Err(Refusal::Count("1 arguments")) };
    let returns = match arg.data_type.logical {
        LogicalType::Timestamp(_) => LogicalType::Timestamp(3),
        LogicalType::TimestampLtz(_) => LTZ,
        _ => return Err(Refusal::Types),
    };
    Ok(Signature { args: vec![arg.data_type.clone()], returns: returns.nullable() })
}

/// NULL: what CURRENT_WATERMARK gives where rows have none.
pub(super) fn no_watermark(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    timestamp_array(Int64Array::new_null(args.rows), &call.returns.logical)
}

/// The statement's start in the type of the call.
pub(super) fn now(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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
