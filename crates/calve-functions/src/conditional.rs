//! COALESCE, IF, NULLIF, GREATEST and TYPEOF.

use std::cmp::Ordering;

use arrow::array::{ArrayRef, make_comparator};
use arrow::compute::{SortOptions, interleave};
use calve_types::{DataType, Error, LogicalType, Result, Value, rules};
use datafusion_common::Result as DfResult;
use datafusion_expr::Expr;

use crate::access::{case, literal};
use crate::args::Args;
use crate::cast::{CastKind, cast};
use crate::function::{Arg, Call, Eval, Inferred, Refusal, ScalarFunction, Signature};
use crate::operator::{compared, two};
use crate::{compare, operator};

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::new("COALESCE", infer_coalesce, Eval::Choose(coalesce)).takes_null(),
    ScalarFunction::new("IFNULL", infer_ifnull, Eval::Choose(coalesce)).takes_null(),
    ScalarFunction::new("NULLIF", infer_nullif, Eval::Choose(nullif)).takes_null(),
    ScalarFunction::new("IF", infer_if, Eval::Native(if_case)).forms(&[
        "IF(<ANY_TYPE>, <NUMERIC_TYPE>, <NUMERIC_TYPE>)",
        "IF(<BOOLEAN>, <CHARACTER>, <CHARACTER>)",
        "IF(<BOOLEAN>, <BOOLEAN>, <BOOLEAN>)",
        "IF(<BOOLEAN>, <CHARACTER>, <CHARACTER>)",
        "IF(<BOOLEAN>, <BINARY>, <BINARY>)",
        "IF(<BOOLEAN>, <DATE>, <DATE>)",
        "IF(<BOOLEAN>, <TIMESTAMP>, <TIMESTAMP>)",
        "IF(<BOOLEAN>, <TIME>, <TIME>)",
    ]),
    ScalarFunction::kernel("GREATEST", infer_extreme, extreme),
    ScalarFunction::kernel("LEAST", infer_extreme, extreme),
    ScalarFunction::new("TYPEOF", infer_typeof, Eval::Choose(type_of)).takes_null(),
];

fn common(args: &[Arg]) -> std::result::Result<DataType, Refusal> {
    let types: Vec<DataType> = args.iter().map(|a| a.data_type.clone()).collect();
    if types.iter().all(|t| t.logical == LogicalType::Null) {
        return Err(Error::new("invalid-argument", "illegal use of NULL").with_detail("Illegal use of 'NULL'").into());
    }
    rules::merged_type(&types).ok_or_else(|| {
        let names: Vec<String> = types.iter().map(ToString::to_string).collect();
        Error::new("invalid-argument", "values of different types")
            .with_detail(format!("Could not find a common type for arguments: [{}]", names.join(", ")))
            .into()
    })
}

/// All arguments in their common type, each with its own nullability.
fn in_common(args: &[Arg], common: &DataType) -> Vec<DataType> {
    args.iter().map(|a| common.with_nullable(a.data_type.nullable)).collect()
}

fn infer_coalesce(args: &[Arg]) -> Inferred {
    if args.is_empty() {
        return Err(Refusal::Count("at least 1 arguments"));
    }
    let common = common(args)?;
    let nullable = args.iter().all(|a| a.data_type.nullable);
    Ok(Signature { args: in_common(args, &common), returns: common.with_nullable(nullable) })
}

fn infer_ifnull(args: &[Arg]) -> Inferred {
    if args.len() != 2 {
        return Err(Refusal::Count("2 arguments"));
    }
    infer_coalesce(args)
}

fn coalesce(_: &Call, args: Vec<Expr>) -> Result<Expr> {
    let mut args = args;
    let last = args.pop().ok_or_else(|| Error::internal("COALESCE of nothing"))?;
    if args.is_empty() {
        return Ok(last);
    }
    Ok(case(args.into_iter().map(|a| (a.clone().is_not_null(), a)).collect(), Some(last)))
}

fn infer_nullif(args: &[Arg]) -> Inferred {
    let [a, b] = args else { return Err(Refusal::Count("2 arguments")) };
    if *a.logical() == LogicalType::Null {
        return Err(Error::new("invalid-argument", "the first argument of 'NULLIF' is NULL")
            .with_detail("ELSE clause or at least one THEN clause must be non-NULL")
            .into());
    }
    compared(a, b, true)?;
    let kept = if *b.logical() == LogicalType::Null { a.data_type.with_nullable(true) } else { b.data_type.clone() };
    Ok(Signature { args: vec![a.data_type.clone(), kept], returns: a.data_type.with_nullable(true) })
}

fn nullif(call: &Call, args: Vec<Expr>) -> Result<Expr> {
    let (a, b) = two(args)?;
    let [left, right] = call.args.as_slice() else { return Err(Error::internal("NULLIF needs two arguments")) };
    let (l, r) = compared(&Arg::of(left.clone()), &Arg::of(right.clone()), true)
        .map_err(|_| Error::internal(format!("NULLIF of {left} and {right}")))?;
    let x = cast(a.clone(), left, &l, CastKind::Cast, &call.context)?;
    let y = cast(b, right, &r, CastKind::Cast, &call.context)?;
    let equal = Call::new("=", vec![l, r], LogicalType::Boolean.nullable(), &call.context);
    let equal = compare::comparison(&equal, vec![x, y])?;
    let null = literal(&Value::Null, &call.returns)?;
    Ok(case(vec![(equal, null)], Some(a)))
}

fn infer_if(args: &[Arg]) -> Inferred {
    let [condition, then, otherwise] = args else { return Err(Refusal::Count("3 arguments")) };
    if *condition.logical() != LogicalType::Boolean {
        return Err(Refusal::Types);
    }
    let is_taken = |a: &Arg| !a.logical().is_constructed() && !a.logical().is_interval();
    if !is_taken(then) || !is_taken(otherwise) {
        return Err(Refusal::Types);
    }
    let types = [then.data_type.clone(), otherwise.data_type.clone()];
    let common = rules::common_type(&types).ok_or(Refusal::Types)?;
    let nullable = args.iter().any(|a| a.data_type.nullable);
    Ok(Signature {
        args: vec![
            condition.data_type.clone(),
            common.with_nullable(then.data_type.nullable),
            common.with_nullable(otherwise.data_type.nullable),
        ],
        returns: common.with_nullable(nullable),
    })
}

fn if_case(args: Vec<Expr>) -> Result<Expr> {
    let [condition, then, otherwise] =
        <[Expr; 3]>::try_from(args).map_err(|_| Error::internal("IF needs three arguments"))?;
    Ok(case(vec![(condition, then)], Some(otherwise)))
}

fn infer_extreme(args: &[Arg]) -> Inferred {
    if args.is_empty() {
        return Err(Refusal::Count("at least 1 arguments"));
    }
    let types: Vec<DataType> = args.iter().map(|a| a.data_type.clone()).collect();
    let common = rules::merged_type(&types)
        .filter(|t| !t.logical.is_constructed() && !t.logical.is_binary())
        .ok_or(Refusal::Types)?;
    Ok(Signature { args: in_common(args, &common), returns: operator::nullable_by(args, common.logical) })
}

/// GREATEST and LEAST: NULL if any argument is.
fn extreme(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let arrays = (0..args.count()).map(|i| args.full(i)).collect::<DfResult<Vec<_>>>()?;
    let wanted = if call.name == "GREATEST" { Ordering::Greater } else { Ordering::Less };
    let options = SortOptions { descending: false, nulls_first: true };
    let mut best: Vec<usize> = vec![0; args.rows];
    for (i, array) in arrays.iter().enumerate().skip(1) {
        for (j, other) in arrays.iter().enumerate().take(i) {
            let compare = make_comparator(array, other, options)?;
            for (row, chosen) in best.iter_mut().enumerate() {
                if *chosen != j || other.is_null(row) {
                    continue;
                }
                if array.is_null(row) || compare(row, row) == wanted {
                    *chosen = i;
                }
            }
        }
    }
    let indices: Vec<(usize, usize)> = best.into_iter().enumerate().map(|(row, array)| (array, row)).collect();
    let arrays: Vec<_> = arrays.iter().map(AsRef::as_ref).collect();
    Ok(interleave(&arrays, &indices)?)
}

fn infer_typeof(args: &[Arg]) -> Inferred {
    if !matches!(args.len(), 1 | 2) {
        return Err(Refusal::Count("1 arguments"));
    }
    Ok(Signature { args: args.iter().map(|a| a.data_type.clone()).collect(), returns: LogicalType::STRING.nullable() })
}

fn type_of(call: &Call, _: Vec<Expr>) -> Result<Expr> {
    let argument = call.args.first().ok_or_else(|| Error::internal("TYPEOF of nothing"))?;
    let suffix = if argument.nullable { "" } else { " NOT NULL" };
    let name = match &argument.logical {
        // Flink forgets how an interval was written.
        LogicalType::IntervalDayTime { .. } => format!("INTERVAL SECOND(3){suffix}"),
        LogicalType::IntervalYearMonth { .. } => format!("INTERVAL MONTH{suffix}"),
        LogicalType::Null => "NULL".to_owned(),
        _ => argument.to_string(),
    };
    literal(&Value::String(name), &call.returns)
}
