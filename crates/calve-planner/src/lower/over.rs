//! Functions over windows.
//!
//! Aggregates of frames that begin with the partition are DataFusion's own windows, which add row by row. Where a frame
//! loses rows at its beginning, DataFusion takes them away from the aggregate again; Flink computes such a frame anew,
//! which for DOUBLE gives other digits and works for every aggregate. So does [`Anew`].

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use calve_types::{Error, LogicalType, Result};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType as ArrowType, Field as ArrowField, FieldRef, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result as DfResult, ScalarValue};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_window::cume_dist::cume_dist_udwf;
use datafusion::functions_window::lead_lag::{lag_udwf, lead_udwf};
use datafusion::functions_window::nth_value::{first_value_udwf, last_value_udwf};
use datafusion::functions_window::rank::{dense_rank_udwf, percent_rank_udwf, rank_udwf};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::{
    AggregateFunction as NativeAggregate, NullTreatment, Sort, WindowFunction, WindowFunctionParams,
};
use datafusion::logical_expr::function::{AccumulatorArgs, ExpressionArgs, PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{
    AggregateUDF, Expr as DfExpr, LogicalPlanBuilder, PartitionEvaluator, Signature, Volatility, WindowFrame,
    WindowFrameBound, WindowFrameUnits, WindowFunctionDefinition, WindowUDF, WindowUDFImpl, cast, lit, when,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column as PhysicalColumn;

use super::aggregate::{Inputs, position_of};
use super::expr::references;
use super::outermost::{Outermost, Side};
use super::subquery::Domain;
use super::{Lowered, Lowering, failed, free};
use crate::expr::{Bound, Expr, Frame, OverCall, OverFunction};
use crate::rel::Field;

/// Where and in which order a call is evaluated.
#[derive(Clone)]
struct Window {
    partition: Vec<DfExpr>,
    order: Vec<Sort>,
    frame: WindowFrame,
}

impl Lowering<'_> {
    pub(super) fn over(
        &mut self,
        input: Lowered,
        calls: &[OverCall],
        fields: &[Field],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let exprs = calls.iter().flat_map(free::over_exprs);
        let (input, scope) = self.scope(input, exprs, level, domain)?;
        let width = input.columns.len();
        let keys: Vec<_> = input.outer.keys().copied().collect();
        let mut columns = Inputs { exprs: vec![] };
        let own: Vec<usize> = references(&input.columns).into_iter().map(|c| columns.add(c)).collect();
        let outer: Vec<usize> = input.outer.values().map(|c| columns.add(DfExpr::Column(c.clone()))).collect();
        let mut positions = Vec::with_capacity(calls.len());
        for call in calls {
            let args = call.args.iter().map(|e| self.argument(e, &scope, &mut columns)).collect::<Result<Vec<_>>>()?;
            let partition =
                call.partition.iter().map(|e| self.argument(e, &scope, &mut columns)).collect::<Result<Vec<_>>>()?;
            let order = call
                .order
                .iter()
                .map(|key| {
                    let value = self.expr(&key.expr, &scope)?;
                    Ok(columns.add(if counts_in_values(call) {
                        number(value, &key.expr.data_type.logical)
                    } else {
                        value
                    }))
                })
                .collect::<Result<Vec<_>>>()?;
            positions.push((args, partition, order));
        }
        let (plan, columns) = columns.finish(self, input.plan)?;
        let column = |index: usize| -> Result<Column> {
            columns.get(index).cloned().ok_or_else(|| Error::internal("a window's column is missing"))
        };
        let value = |part: Part| match part {
            Part::Literal(expr) => Ok(expr),
            Part::Column(index) => column(index).map(DfExpr::Column),
        };
        let outer = outer.into_iter().map(column).collect::<Result<Vec<_>>>()?;
        let mut windows: Vec<DfExpr> = vec![];
        let mut values = Vec::with_capacity(calls.len());
        for (call, (args, partition, order)) in calls.iter().zip(positions) {
            let args = args.into_iter().map(value).collect::<Result<Vec<_>>>()?;
            // A correlated window is one window for each value of the enclosing queries' fields.
            let mut partition = partition
                .into_iter()
                .map(value)
                .filter(|key| !matches!(key, Ok(DfExpr::Literal(..))))
                .collect::<Result<Vec<_>>>()?;
            partition.extend(references(&outer));
            let order = order
                .into_iter()
                .zip(&call.order)
                .map(|(index, key)| Ok(DfExpr::Column(column(index)?).sort(!key.descending, key.nulls_first)))
                .collect::<Result<Vec<_>>>()?;
            let window = Window { partition, order, frame: frame(call) };
            let lowered = self.window_call(call, args, &window).map_err(|e| e.at(call.span))?;
            values.push(placed(lowered, &mut windows)?);
        }
        let names: Vec<String> = windows.iter().map(|w| w.schema_name().to_string()).collect();
        let plan = LogicalPlanBuilder::window_plan(plan, windows).map_err(failed)?;
        let mut exprs = references(&own.into_iter().map(column).collect::<Result<Vec<_>>>()?);
        for value in values {
            exprs.push(resolved(value, &names)?);
        }
        debug_assert_eq!(exprs.len(), width + calls.len());
        let outer = keys.into_iter().zip(outer).collect();
        self.project_fields("over", Lowered { plan, columns: vec![], outer }, exprs, fields)
    }

    fn argument(&self, e: &Expr, scope: &super::expr::Scope, columns: &mut Inputs) -> Result<Part> {
        let lowered = self.expr(e, scope)?;
        Ok(if matches!(lowered, DfExpr::Literal(..)) {
            Part::Literal(lowered)
        } else {
            Part::Column(columns.add(lowered))
        })
    }

    fn window_call(&self, call: &OverCall, args: Vec<DfExpr>, window: &Window) -> Result<DfExpr> {
        let ranked = |udwf: Arc<WindowUDF>, args: Vec<DfExpr>| {
            cast(window.call(WindowFunctionDefinition::WindowUDF(udwf), args, None), ArrowType::Int64)
        };
        let plain = |udwf: Arc<WindowUDF>| window.call(WindowFunctionDefinition::WindowUDF(udwf), vec![], None);
        Ok(match call.function {
            OverFunction::RowNumber => ranked(row_number_udwf(), vec![]),
            OverFunction::Rank => ranked(rank_udwf(), vec![]),
            OverFunction::DenseRank => ranked(dense_rank_udwf(), vec![]),
            OverFunction::PercentRank => plain(percent_rank_udwf()),
            OverFunction::CumeDist => plain(cume_dist_udwf()),
            OverFunction::Ntile => tile(whole_number(call, 0)?, window)?,
            OverFunction::Lag | OverFunction::Lead => shifted(call, args, window)?,
            OverFunction::Aggregate(function) => {
                let types: Vec<_> = call.args.iter().map(|arg| arg.data_type.clone()).collect();
                let eval = &self.context.eval;
                let lowered = function.call(args, &types, &call.data_type, call.distinct, None, vec![], eval)?;
                lowered
                    .transform_down(|e| match e {
                        DfExpr::AggregateFunction(aggregate) => {
                            let over = window.aggregate(aggregate, function.name, call.frame);
                            Ok(Transformed::new(over, true, TreeNodeRecursion::Jump))
                        }
                        e => Ok(Transformed::no(e)),
                    })
                    .map_err(failed)?
                    .data
            }
        })
    }
}

enum Part {
    Literal(DfExpr),
    Column(usize),
}

impl Window {
    fn call(&self, fun: WindowFunctionDefinition, args: Vec<DfExpr>, nulls: Option<NullTreatment>) -> DfExpr {
        DfExpr::WindowFunction(Box::new(WindowFunction {
            fun,
            params: WindowFunctionParams {
                args,
                partition_by: self.partition.clone(),
                order_by: self.order.clone(),
                window_frame: self.frame.clone(),
                filter: None,
                null_treatment: nulls,
                distinct: false,
            },
        }))
    }

    fn aggregate(&self, aggregate: NativeAggregate, name: &str, frame: Frame) -> DfExpr {
        let NativeAggregate { func, params } = aggregate;
        // Flink's skip NULLs.
        let (first, last) = (frame.start == Bound::First, frame.end == Bound::Last);
        let by_position = match name {
            _ if is_empty(frame) => None,
            "FIRST_VALUE" if last => Some(Outermost::udwf(Side::First)),
            "LAST_VALUE" if first || last => Some(Outermost::udwf(Side::Last)),
            "FIRST_VALUE" => Some(first_value_udwf()),
            "LAST_VALUE" => Some(last_value_udwf()),
            _ => None,
        };
        if let Some(udwf) = by_position {
            let fun = WindowFunctionDefinition::WindowUDF(udwf);
            return self.call(fun, params.args, Some(NullTreatment::IgnoreNulls));
        }
        let fun = if frame.start == Bound::First && !params.distinct {
            WindowFunctionDefinition::AggregateUDF(func)
        } else {
            let signature = Signature::user_defined(Volatility::Immutable);
            let udwf = Anew { aggregate: func, distinct: params.distinct, empty: is_empty(frame), signature };
            WindowFunctionDefinition::WindowUDF(Arc::new(WindowUDF::new_from_impl(udwf)))
        };
        self.call(fun, params.args, params.null_treatment)
    }
}

/// NTILE: the first tiles have one row more, where the rows cannot be shared out evenly. DataFusion's own shares them
/// out in another way.
fn tile(tiles: i64, window: &Window) -> Result<DfExpr> {
    let number = window.call(WindowFunctionDefinition::WindowUDF(row_number_udwf()), vec![], None);
    let all = Window { frame: whole(), ..window.clone() };
    let rows = all.call(WindowFunctionDefinition::AggregateUDF(count_udaf()), vec![lit(1i64)], None);
    let before = cast(number, ArrowType::Int64) - lit(1i64);
    let (small, larger) = (rows.clone() / lit(tiles), rows % lit(tiles));
    let in_larger = larger.clone() * (small.clone() + lit(1i64));
    let divisor = when(small.clone().eq(lit(0i64)), lit(1i64)).otherwise(small.clone()).map_err(failed)?;
    when(before.clone().lt(in_larger.clone()), before.clone() / (small + lit(1i64)) + lit(1i64))
        .otherwise((before - in_larger) / divisor + larger + lit(1i64))
        .map_err(failed)
}

/// All rows of a partition.
fn whole() -> WindowFrame {
    let null = ScalarValue::UInt64(None);
    let (first, last) = (WindowFrameBound::Preceding(null.clone()), WindowFrameBound::Following(null));
    WindowFrame::new_bounds(WindowFrameUnits::Rows, first, last)
}

/// Whether a frame ends before it begins.
fn is_empty(frame: Frame) -> bool {
    matches!((frame.start, frame.end), (Bound::Offset(start), Bound::Offset(end)) if start > end)
}

/// LAG and LEAD; the default is for rows that are not there, not for values that are NULL.
fn shifted(call: &OverCall, args: Vec<DfExpr>, window: &Window) -> Result<DfExpr> {
    let offset = if call.args.len() > 1 { whole_number(call, 1)? } else { 1 };
    let ahead = if call.function == OverFunction::Lead { offset } else { -offset };
    let mut args = args.into_iter();
    let value = args.next().ok_or_else(|| Error::internal("LAG without an argument"))?;
    if ahead == 0 {
        return Ok(value);
    }
    let udwf = if ahead > 0 { lead_udwf() } else { lag_udwf() };
    let by = lit(ahead.checked_abs().ok_or_else(|| Error::internal("an offset out of range"))?);
    let shift =
        |e: DfExpr| window.call(WindowFunctionDefinition::WindowUDF(Arc::clone(&udwf)), vec![e, by.clone()], None);
    match args.nth(1) {
        None => Ok(shift(value)),
        Some(default) => when(shift(lit(true)).is_null(), default).otherwise(shift(value)).map_err(failed),
    }
}

fn whole_number(call: &OverCall, at: usize) -> Result<i64> {
    match call.args.get(at).map(|e| &e.kind) {
        Some(crate::expr::ExprKind::Literal(calve_types::Value::Int(n))) => Ok(*n),
        _ => Err(Error::internal(format!("{} needs a number", call.function.name()))),
    }
}

/// Whether a frame's bounds are distances from the order key's value.
fn counts_in_values(call: &OverCall) -> bool {
    let Frame { range, start, end } = call.frame;
    range && [start, end].into_iter().any(|bound| matches!(bound, Bound::Offset(_)))
}

/// An order key as a number to which any distance can be added.
fn number(key: DfExpr, logical: &LogicalType) -> DfExpr {
    match logical {
        LogicalType::BigInt => cast(key, ArrowType::Decimal128(38, 0)),
        LogicalType::Decimal { scale, .. } => cast(key, ArrowType::Decimal128(38, i8::try_from(*scale).unwrap_or(0))),
        LogicalType::Float | LogicalType::Double => cast(key, ArrowType::Float64),
        LogicalType::Date => cast(cast(key, ArrowType::Int32), ArrowType::Int64),
        other if other.is_datetime() => cast(cast(key, ArrowType::Int64), ArrowType::Decimal128(38, 0)),
        _ => cast(key, ArrowType::Int64),
    }
}

/// A distance as a value that can be added to [`number`].
fn distance(n: u64, logical: &LogicalType) -> ScalarValue {
    let decimal = |n: i128, scale: u8| ScalarValue::Decimal128(Some(n), 38, i8::try_from(scale).unwrap_or(0));
    let n = i128::from(n);
    match logical {
        LogicalType::BigInt => decimal(n, 0),
        LogicalType::Decimal { scale, .. } => decimal(n, *scale),
        LogicalType::Float | LogicalType::Double => ScalarValue::Float64(Some(n as f64 / 1e9)),
        LogicalType::Timestamp(p) | LogicalType::TimestampLtz(p) if *p > 6 => decimal(n * 1_000_000, 0),
        other if other.is_datetime() && *other != LogicalType::Date => decimal(n * 1_000, 0),
        // DataFusion wraps around; no two values of the narrower types are farther apart than this.
        _ => ScalarValue::Int64(Some(i64::try_from(n).map_or(FARTHEST, |n| n.min(FARTHEST)))),
    }
}

/// More than any distance between two values of INT, of a smaller integer, or of DATE in days.
const FARTHEST: i64 = 1 << 40;

fn frame(call: &OverCall) -> WindowFrame {
    if is_empty(call.frame) {
        return whole();
    }
    let Frame { range, start, end } = call.frame;
    let units = if range { WindowFrameUnits::Range } else { WindowFrameUnits::Rows };
    let distance = |n: i64| match call.order.first() {
        Some(key) if range => distance(n.unsigned_abs(), &key.expr.data_type.logical),
        _ => ScalarValue::UInt64(Some(n.unsigned_abs())),
    };
    let null = ScalarValue::UInt64(None);
    let bound = |bound: Bound| match bound {
        Bound::First => WindowFrameBound::Preceding(null.clone()),
        // `CURRENT ROW AND 0 FOLLOWING`: DataFusion sees a frame that ends before it begins
        Bound::Offset(0) => WindowFrameBound::CurrentRow,
        Bound::Offset(n) if n < 0 => WindowFrameBound::Preceding(distance(n)),
        Bound::Offset(n) => WindowFrameBound::Following(distance(n)),
        Bound::Current => WindowFrameBound::CurrentRow,
        Bound::Last => WindowFrameBound::Following(null.clone()),
    };
    WindowFrame::new_bounds(units, bound(start), bound(end))
}

const PLACE: &str = "call over a window";

/// An expression in which windows are numbered columns.
fn placed(expr: DfExpr, windows: &mut Vec<DfExpr>) -> Result<DfExpr> {
    expr.transform_down(|e| match e {
        DfExpr::WindowFunction(_) => {
            let column = Column::new(Some(PLACE), position_of(windows, e).to_string());
            Ok(Transformed::new(DfExpr::Column(column), true, TreeNodeRecursion::Jump))
        }
        e => Ok(Transformed::no(e)),
    })
    .map(|t| t.data)
    .map_err(failed)
}

/// The expression over the plan that computes the windows, whose columns have these names.
fn resolved(expr: DfExpr, names: &[String]) -> Result<DfExpr> {
    expr.transform(|e| match &e {
        DfExpr::Column(c) if c.relation.as_ref().is_some_and(|r| r.table() == PLACE) => {
            let name = c.name.parse::<usize>().ok().and_then(|i| names.get(i));
            Ok(name.map_or_else(
                || Transformed::no(e.clone()),
                |n| Transformed::yes(DfExpr::Column(Column::new_unqualified(n))),
            ))
        }
        _ => Ok(Transformed::no(e)),
    })
    .map(|t| t.data)
    .map_err(failed)
}

/// An aggregate that is computed anew for every frame.
#[derive(Debug)]
struct Anew {
    aggregate: Arc<AggregateUDF>,
    distinct: bool,
    /// Of no rows, whatever the frame.
    empty: bool,
    signature: Signature,
}

impl PartialEq for Anew {
    fn eq(&self, other: &Self) -> bool {
        self.aggregate == other.aggregate && self.distinct == other.distinct && self.empty == other.empty
    }
}

impl Eq for Anew {}

impl Hash for Anew {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.aggregate.hash(state);
        self.distinct.hash(state);
        self.empty.hash(state);
    }
}

impl WindowUDFImpl for Anew {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        self.aggregate.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[ArrowType]) -> DfResult<Vec<ArrowType>> {
        Ok(arg_types.to_vec())
    }

    fn field(&self, args: WindowUDFFieldArgs) -> DfResult<FieldRef> {
        let field = self.aggregate.return_field(args.input_fields())?;
        Ok(Arc::new(ArrowField::new(args.name(), field.data_type().clone(), true)))
    }

    fn expressions(&self, args: ExpressionArgs) -> Vec<Arc<dyn PhysicalExpr>> {
        args.input_exprs().to_vec()
    }

    fn partition_evaluator(&self, args: PartitionEvaluatorArgs) -> DfResult<Box<dyn PartitionEvaluator>> {
        let fields = args.input_fields().to_vec();
        let schema = Schema::new(
            fields.iter().enumerate().map(|(i, f)| f.as_ref().clone().with_name(i.to_string())).collect::<Vec<_>>(),
        );
        // The evaluator gets the arguments' values: to the accumulator they are columns, but for literals, in which
        // it looks for settings such as a separator.
        let exprs = args
            .input_exprs()
            .iter()
            .enumerate()
            .map(|(i, e)| match e.as_any().is::<datafusion::physical_expr::expressions::Literal>() {
                true => Arc::clone(e),
                false => Arc::new(PhysicalColumn::new(&i.to_string(), i)) as Arc<dyn PhysicalExpr>,
            })
            .collect();
        let return_field = self.aggregate.return_field(&fields)?;
        Ok(Box::new(Frames {
            aggregate: Arc::clone(&self.aggregate),
            distinct: self.distinct,
            empty: self.empty,
            ignore_nulls: args.ignore_nulls(),
            return_field,
            schema,
            exprs,
            fields,
            known: None,
        }))
    }
}

/// Computes the aggregate of each frame of a partition.
#[derive(Debug)]
struct Frames {
    aggregate: Arc<AggregateUDF>,
    distinct: bool,
    empty: bool,
    ignore_nulls: bool,
    return_field: FieldRef,
    schema: Schema,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    fields: Vec<FieldRef>,
    /// The frame that was computed last and its result: rows that are equal in the order have the same frame.
    known: Option<(Range<usize>, ScalarValue)>,
}

impl PartitionEvaluator for Frames {
    fn evaluate(&mut self, values: &[ArrayRef], range: &Range<usize>) -> DfResult<ScalarValue> {
        match &self.known {
            Some((known, result)) if known == range => Ok(result.clone()),
            _ => {
                let result = self.compute(values, range)?;
                self.known = Some((range.clone(), result.clone()));
                Ok(result)
            }
        }
    }

    fn uses_window_frame(&self) -> bool {
        true
    }
}

impl Frames {
    fn compute(&self, values: &[ArrayRef], range: &Range<usize>) -> DfResult<ScalarValue> {
        let mut accumulator = self.aggregate.accumulator(AccumulatorArgs {
            return_field: Arc::clone(&self.return_field),
            schema: &self.schema,
            ignore_nulls: self.ignore_nulls,
            order_bys: &[],
            is_reversed: false,
            name: self.aggregate.name(),
            is_distinct: self.distinct,
            exprs: &self.exprs,
            expr_fields: &self.fields,
        })?;
        let rows = if self.empty { 0 } else { range.end.saturating_sub(range.start) };
        if rows > 0 {
            // Order keys stand after the arguments.
            let arguments = values.iter().take(self.exprs.len());
            let values: Vec<ArrayRef> = arguments.map(|v| v.slice(range.start, rows)).collect();
            accumulator.update_batch(&values)?;
        }
        accumulator.evaluate()
    }
}
