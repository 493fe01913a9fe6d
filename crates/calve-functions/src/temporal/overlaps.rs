//! `(start, end) OVERLAPS (start, end)`, where an end may be an interval.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray};
use calve_types::{DataType, Error, LogicalType, rules};
use datafusion_common::Result as DfResult;

use super::{interval, wall_clock};
use crate::args::{Args, failure, mistyped};
use crate::civil::Stamp;
use crate::function::{Arg, Call, Inferred, Refusal, Signature};

/// The two parts of a period; `None` for what is none.
fn period(logical: &LogicalType) -> Option<(&DataType, &DataType)> {
    let LogicalType::Row(fields) = logical else { return None };
    let [start, end] = fields.as_slice() else { return None };
    let (start, end) = (&start.data_type, &end.data_type);
    let is_alike = rules::root_name(&start.logical) == rules::root_name(&end.logical);
    (start.logical.is_datetime() && (is_alike || end.logical.is_interval())).then_some((start, end))
}

/// Two ROWs of the same kind of time.
pub(super) fn infer(args: &[Arg]) -> Inferred {
    let [a, b] = args else { return Err(Refusal::Count("2 arguments")) };
    let (Some((a_start, a_end)), Some((b_start, b_end))) = (period(a.logical()), period(b.logical())) else {
        return Err(Refusal::Types);
    };
    if rules::root_name(&a_start.logical) != rules::root_name(&b_start.logical) {
        return Err(Refusal::Types);
    }
    let nullable = [&a.data_type, &b.data_type, a_start, a_end, b_start, b_end].iter().any(|t| t.nullable);
    Ok(Signature {
        args: vec![a.data_type.clone(), b.data_type.clone()],
        returns: LogicalType::Boolean.with_nullable(nullable),
    })
}

/// First and last instant of each row's period.
fn bounds(call: &Call, args: &Args, index: usize) -> DfResult<Vec<Option<(Stamp, Stamp)>>> {
    let array = args.full(index)?;
    let rows = array.as_struct_opt().ok_or_else(|| mistyped("Struct", &array))?;
    let (Some((start_type, end_type)), [start, end]) = (period(call.arg(index)), rows.columns()) else {
        return Err(failure(Error::internal("a period without two parts")));
    };
    let pair = Args::new(vec![(Arc::clone(start), false), (Arc::clone(end), false)], args.rows);
    let end = if end_type.logical.is_interval() {
        let types = vec![start_type.clone(), end_type.clone()];
        let sum = Call::new("+", types, start_type.with_nullable(true), &call.context);
        interval::arithmetic(&sum, &pair)?
    } else {
        Arc::clone(end)
    };
    let pair = Args::new(vec![(Arc::clone(start), false), (end, false)], args.rows);
    let end_type = if end_type.logical.is_interval() { start_type } else { end_type };
    let zone = call.context.time_zone;
    let starts = wall_clock(&pair, 0, &start_type.logical, zone)?;
    let ends = wall_clock(&pair, 1, &end_type.logical, zone)?;
    let bounds = (0..args.rows).map(|row| {
        let (start, end) = (starts(row)?, ends(row)?);
        Some((start.min(end), start.max(end)))
    });
    Ok(bounds.collect())
}

/// Whether two periods have an instant in common; their ends belong to them.
pub(super) fn overlaps(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (a, b) = (bounds(call, args, 0)?, bounds(call, args, 1)?);
    let results = a.into_iter().zip(b).map(|(a, b)| {
        let ((a_start, a_end), (b_start, b_end)) = (a?, b?);
        Some(a_start <= b_end && b_start <= a_end)
    });
    Ok(Arc::new(results.collect::<BooleanArray>()))
}
