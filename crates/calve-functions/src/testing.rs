//! Calls evaluated as the engine does it: signature, casts, expression; once with constants, once with columns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema};
use calve_types::{DataType, Error, LogicalType as T, Value, arrow as mapping};
use datafusion::prelude::SessionContext;
use datafusion_common::{DFSchema, DataFusionError};
use datafusion_expr::{Expr, col};

use crate::civil::Stamp;
use crate::{Arg, CastKind, EvalContext, TimeZone, cast, cast_to_string, literal, scalar};

/// A value with its type.
#[derive(Clone, Debug)]
pub(crate) struct V(pub Value, pub DataType);

pub(crate) fn int(v: i64) -> V {
    V(Value::Int(v), T::Int.not_null())
}

pub(crate) fn of(v: i64, logical: T) -> V {
    V(Value::Int(v), logical.not_null())
}

pub(crate) fn text(v: &str) -> V {
    V(Value::String(v.into()), T::Char(v.chars().count() as u32).not_null())
}

pub(crate) fn bytes(v: &[u8]) -> V {
    V(Value::Bytes(v.to_vec()), T::Binary(v.len() as u32).not_null())
}

pub(crate) fn double(v: f64) -> V {
    V(Value::Double(v), T::Double.not_null())
}

pub(crate) fn symbol(v: &str) -> V {
    V(Value::Symbol(v.into()), T::Symbol.not_null())
}

pub(crate) fn boolean(v: bool) -> V {
    V(Value::Boolean(v), T::Boolean.not_null())
}

pub(crate) fn null(logical: T) -> V {
    V(Value::Null, logical.nullable())
}

/// `1.50` is DECIMAL(3, 2).
pub(crate) fn dec(v: &str) -> V {
    let digits = v.trim_start_matches('-').replace('.', "");
    let scale = v.split_once('.').map_or(0, |(_, f)| f.len()) as u8;
    let unscaled = v.replace('.', "").parse().unwrap();
    V(Value::Decimal(unscaled), T::Decimal { precision: digits.len() as u8, scale }.not_null())
}

/// A DECIMAL of a type.
pub(crate) fn cast_dec(v: &str, precision: u8, scale: u8) -> V {
    let V(value, t) = dec(v);
    let T::Decimal { scale: s, .. } = t.logical else { panic!() };
    let Value::Decimal(v) = value else { panic!() };
    V(Value::Decimal(v * 10i128.pow(u32::from(scale - s))), T::Decimal { precision, scale }.not_null())
}

pub(crate) fn date(v: &str) -> V {
    V(Value::Date(cast::parse_date(v).unwrap()), T::Date.not_null())
}

pub(crate) fn time(v: &str) -> V {
    V(Value::Time(cast::parse_time(v).unwrap()), T::Time(0).not_null())
}

pub(crate) fn timestamp(v: &str) -> V {
    let precision = v.split_once('.').map_or(0, |(_, f)| f.len()) as u8;
    let Stamp { seconds, nanos } = cast::parse_stamp(v).unwrap();
    V(Value::Timestamp { seconds, nanos }, T::Timestamp(precision).not_null())
}

pub(crate) fn context() -> EvalContext {
    EvalContext { time_zone: TimeZone::UTC, statement_start: 1_700_000_000_123_456 }
}

pub(crate) fn unwrap_error(error: DataFusionError) -> Error {
    match error {
        DataFusionError::External(inner) => *inner.downcast::<Error>().unwrap(),
        DataFusionError::Context(_, inner) => unwrap_error(*inner),
        other => panic!("{other}"),
    }
}

/// Evaluates an expression over a batch.
pub(crate) fn run(expr: &Expr, batch: &RecordBatch) -> Result<ArrayRef, DataFusionError> {
    let schema = DFSchema::try_from(batch.schema()).unwrap();
    let physical = SessionContext::new().create_physical_expr(expr.clone(), &schema)?;
    physical.evaluate(batch)?.into_array(batch.num_rows())
}

fn empty_batch() -> RecordBatch {
    columns(&[V(Value::Int(0), T::Int.not_null())])
}

/// Two rows of each value as columns `c0`, `c1`, ...
fn columns(values: &[V]) -> RecordBatch {
    let one = RecordBatch::try_new_with_options(
        Arc::new(Schema::empty()),
        vec![],
        &arrow::array::RecordBatchOptions::new().with_row_count(Some(2)),
    )
    .unwrap();
    let (fields, arrays): (Vec<_>, Vec<_>) = values
        .iter()
        .enumerate()
        .map(|(i, V(value, data_type))| {
            let array = run(&literal(value, data_type).unwrap(), &one).unwrap();
            let arrow = mapping::to_arrow(&data_type.logical).unwrap();
            (Field::new(format!("c{i}"), arrow, true), array)
        })
        .unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

fn shown(array: &ArrayRef, data_type: &DataType) -> String {
    let texts = cast_to_string(array, data_type, &context()).unwrap();
    let rows: Vec<&str> = texts.iter().map(|t| t.unwrap_or("NULL")).collect();
    assert!(rows.windows(2).all(|w| w[0] == w[1]), "{rows:?}");
    rows[0].to_owned()
}

/// `value :: TYPE` of a call, or calve's error.
pub(crate) fn call(name: &str, values: &[V]) -> Result<String, Error> {
    let function = scalar(name).unwrap_or_else(|| panic!("no function {name}"));
    let args: Vec<Arg> =
        values.iter().map(|V(value, t)| Arg { data_type: t.clone(), literal: Some(value.clone()) }).collect();
    let signature = function.infer(&args)?;
    assert_eq!(signature.args.len(), values.len(), "{name}");
    let build = |exprs: Vec<Expr>| {
        let args = exprs
            .into_iter()
            .zip(values)
            .zip(&signature.args)
            .map(|((e, V(_, from)), to)| cast(e, from, to, CastKind::Cast, &context()).unwrap())
            .collect();
        function.call(args, &signature.args, &signature.returns, &context()).unwrap()
    };
    let constant = build(values.iter().map(|V(v, t)| literal(v, t).unwrap()).collect());
    let by_column = build(
        values
            .iter()
            .enumerate()
            .map(|(i, V(v, t))| if t.logical == T::Symbol { literal(v, t).unwrap() } else { col(format!("c{i}")) })
            .collect(),
    );
    let constant = run(&constant, &empty_batch()).map_err(unwrap_error)?;
    let by_column = run(&by_column, &if values.is_empty() { empty_batch() } else { columns(values) }).unwrap();
    let result = shown(&constant, &signature.returns);
    assert_eq!(result, shown(&by_column, &signature.returns), "{name} with constants and with columns");
    Ok(format!("{result} :: {}", signature.returns))
}

/// A call gives `value :: TYPE`.
#[track_caller]
pub(crate) fn is(name: &str, values: &[V], expected: &str) {
    assert_eq!(call(name, values).unwrap(), expected, "{name} of {values:?}");
}

/// Flink's sentence for a refused call.
pub(crate) fn refusal(name: &str, values: &[V]) -> String {
    let error = call(name, values).unwrap_err();
    error.detail.unwrap_or(error.message)
}

/// The text of `CAST(value AS to)`.
pub(crate) fn cast_value(value: &V, to: &T, kind: CastKind, context: &EvalContext) -> Result<String, Error> {
    let expr = literal(&value.0, &value.1).unwrap();
    let to = to.clone().with_nullable(true);
    let expr = cast(expr, &value.1, &to, kind, context)?;
    let array = run(&expr, &empty_batch()).map_err(unwrap_error)?;
    assert_eq!(array.data_type(), &mapping::to_arrow(&to.logical).unwrap());
    let texts = cast_to_string(&array, &to, context).unwrap();
    Ok(if arrow::array::Array::is_null(&texts, 0) { "NULL".into() } else { texts.value(0).to_owned() })
}

/// A constructed value as an expression, with its type.
pub(crate) fn constructed(constructor: &str, elements: &[V]) -> (Expr, DataType) {
    let function = scalar(constructor).unwrap();
    let args: Vec<Arg> = elements.iter().map(|V(_, t)| Arg::of(t.clone())).collect();
    let signature = function.infer(&args).unwrap();
    let exprs = elements
        .iter()
        .zip(&signature.args)
        .map(|(V(v, from), to)| cast(literal(v, from).unwrap(), from, to, CastKind::Cast, &context()).unwrap())
        .collect();
    let call = function.call(exprs, &signature.args, &signature.returns, &context()).unwrap();
    (call, signature.returns)
}

/// A function of two constructed values.
pub(crate) fn call_with(constructor: &str, elements: &[V], name: &str, other: (Expr, DataType)) -> String {
    let (exprs, types): (Vec<Expr>, Vec<DataType>) = [constructed(constructor, elements), other].into_iter().unzip();
    let function = scalar(name).unwrap();
    let args: Vec<Arg> = types.iter().cloned().map(Arg::of).collect();
    let signature = function.infer(&args).unwrap();
    let exprs = exprs
        .into_iter()
        .zip(&types)
        .zip(&signature.args)
        .map(|((e, from), to)| cast(e, from, to, CastKind::Cast, &context()).unwrap())
        .collect();
    let expr = function.call(exprs, &signature.args, &signature.returns, &context()).unwrap();
    let array = run(&expr, &empty_batch()).unwrap();
    format!("{} :: {}", shown(&array, &signature.returns), signature.returns)
}

/// A function of a constructed value and more arguments.
pub(crate) fn call_on(constructor: &str, elements: &[V], name: &str, more: &[V]) -> Result<String, Error> {
    let build = |name: &str, first: Option<(Expr, DataType)>, values: &[V]| {
        let function = scalar(name).unwrap();
        let mut args: Vec<Arg> = first.iter().map(|(_, t)| Arg::of(t.clone())).collect();
        args.extend(values.iter().map(|V(v, t)| Arg { data_type: t.clone(), literal: Some(v.clone()) }));
        let exprs = first.into_iter().map(|(e, _)| e).chain(values.iter().map(|V(v, t)| literal(v, t).unwrap()));
        let signature = function.infer(&args)?;
        let exprs = exprs
            .zip(&args)
            .zip(&signature.args)
            .map(|((e, from), to)| cast(e, &from.data_type, to, CastKind::Cast, &context()).unwrap())
            .collect();
        let call = function.call(exprs, &signature.args, &signature.returns, &context())?;
        Ok((call, signature.returns))
    };
    let constructed = build(constructor, None, elements)?;
    let (expr, returns) = build(name, Some(constructed), more)?;
    let array = run(&expr, &empty_batch()).map_err(unwrap_error)?;
    Ok(format!("{} :: {returns}", shown(&array, &returns)))
}

/// An aggregate over values, once for all rows and once by group.
pub(crate) fn aggregate(name: &str, values: &[V], distinct: bool) -> String {
    aggregate_with(name, values, &[], distinct).unwrap()
}

/// An aggregate over values with more arguments, which are constant.
pub(crate) fn aggregate_with(name: &str, values: &[V], more: &[V], distinct: bool) -> Result<String, Error> {
    let function = crate::aggregate(name).unwrap();
    let nullable = values.iter().any(|v| v.1.nullable);
    let data_type = values[0].1.with_nullable(nullable);
    let args: Vec<Arg> = std::iter::once(Arg::of(data_type.clone()))
        .chain(more.iter().map(|V(v, t)| Arg { data_type: t.clone(), literal: Some(v.clone()) }))
        .collect();
    let signature = function.infer(&args, distinct, true)?;
    let column = |v: &V| columns(std::slice::from_ref(v)).column(0).slice(0, 1);
    let arrays: Vec<ArrayRef> = values.iter().map(column).collect();
    let arrays: Vec<&dyn arrow::array::Array> = arrays.iter().map(AsRef::as_ref).collect();
    let array = arrow::compute::concat(&arrays).unwrap();
    let groups = Arc::new(arrow::array::Int32Array::from(vec![1; array.len()]));
    let schema = Schema::new(vec![
        Field::new("g", arrow::datatypes::DataType::Int32, false),
        Field::new("x", array.data_type().clone(), nullable),
    ]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![groups, array]).unwrap();
    let exprs = std::iter::once(col("x"))
        .chain(more.iter().map(|V(v, t)| literal(v, t).unwrap()))
        .zip(&args)
        .zip(&signature.args)
        .map(|((e, from), to)| cast(e, &from.data_type, to, CastKind::Cast, &context()).unwrap())
        .collect();
    let expr = function.call(exprs, &signature.args, &signature.returns, distinct, None, vec![], &context())?;
    let collect = |groups: Vec<Expr>| -> Result<String, Error> {
        let frame = SessionContext::new().read_batch(batch.clone()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let batches = runtime.block_on(frame.aggregate(groups, vec![expr.clone()]).unwrap().collect());
        let batches = batches.map_err(unwrap_error)?;
        let last = batches[0].num_columns() - 1;
        Ok(shown(batches[0].column(last), &signature.returns))
    };
    let all = collect(vec![])?;
    assert_eq!(all, collect(vec![col("g")])?, "{name} by group");
    Ok(format!("{all} :: {}", signature.returns))
}

/// The values of two rows of a call without arguments.
pub(crate) fn call_unequal(name: &str) -> (String, String) {
    let function = scalar(name).unwrap();
    let signature = function.infer(&[]).unwrap();
    let expr = function.call(vec![], &[], &signature.returns, &context()).unwrap();
    let array = run(&expr, &empty_batch()).unwrap();
    let texts = cast_to_string(&array, &signature.returns, &context()).unwrap();
    (texts.value(0).to_owned(), texts.value(1).to_owned())
}
