//! Joins with the versions that were valid at a row's time.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_functions::EvalContext;
use calve_stream::temporal::{Side, TemporalJoin};
use calve_types::{Error, Result, arrow as mapping};
use datafusion::arrow::array::{AsArray, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{
    DataType as ArrowType, Field as ArrowField, Schema, TimeUnit, TimestampMicrosecondType,
};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlan, cast, when};
use datafusion::physical_expr::create_physical_expr;

use super::expr::{Scope, Subqueries, references};
use super::plans::filter_plan;
use super::subquery::Domain;
use super::{LowerContext, Lowered, Lowering, Names, failed};
use crate::catalog::TableEntry;
use crate::expr::Expr;
use crate::rel::Field;

/// What a temporal join says besides its sides.
pub(super) struct Temporal<'a> {
    pub outer: bool,
    pub latest: bool,
    pub keys: &'a [(Expr, usize)],
    pub condition: Option<&'a Expr>,
    pub left_time: usize,
    pub right_time: usize,
}

impl Lowering<'_> {
    pub(super) fn temporal(
        &mut self,
        (left, right): (Lowered, Lowered),
        join: &Temporal<'_>,
        fields: &[Field],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        if left.depends() || right.depends() {
            return Err(Error::unsupported("a temporal join in a correlated subquery"));
        }
        let widths = (left.columns.len(), right.columns.len());
        let (left, scope) = self.scope(left, join.keys.iter().map(|(key, _)| key), level, domain)?;
        let keys = join.keys.iter().map(|(key, _)| self.expr(key, &scope)).collect::<Result<Vec<_>>>()?;
        let left = self.timed(left, widths.0, keys, join.left_time)?;
        let keys = join.keys.iter().map(|(_, column)| right.columns.get(*column).cloned().map(DfExpr::Column));
        let keys = keys.collect::<Option<_>>().ok_or_else(|| Error::internal("no column of a key"))?;
        let right = self.timed(right, widths.1, keys, join.right_time)?;

        let mut named = vec![];
        for (i, field) in fields.iter().enumerate() {
            let name = self.names.unique(&field.name);
            let nullable = field.data_type.nullable || i >= widths.0;
            named.push(ArrowField::new(name, mapping::to_arrow(&field.data_type.logical)?, nullable));
        }
        let sides = [
            (left.schema().as_arrow(), Side { width: widths.0 }),
            (right.schema().as_arrow(), Side { width: widths.1 }),
        ];
        let operator =
            TemporalJoin::new(sides, join.outer, join.latest, Arc::new(Schema::new(named))).map_err(failed)?;
        let plan = self.streaming("temporal", Arc::new(operator), vec![left, right])?;
        let columns = plan.schema().columns();
        let joined = Lowered { plan, columns, outer: Default::default() };
        let Some(condition) = join.condition else { return Ok(joined) };
        let (joined, scope) = self.scope(joined, std::iter::once(condition), level, domain)?;
        let condition = self.expr(condition, &scope)?;
        if !join.outer {
            return Ok(Lowered { plan: filter_plan(joined.plan, Some(condition))?, ..joined });
        }
        // a version that the condition refuses is none
        let mut exprs = references(&joined.columns);
        for (expr, field) in exprs.iter_mut().zip(fields).skip(widths.0) {
            let null = ScalarValue::try_from(&mapping::to_arrow(&field.data_type.logical)?).map_err(failed)?;
            *expr = when(condition.clone(), expr.clone()).otherwise(DfExpr::Literal(null, None)).map_err(failed)?;
        }
        self.project_fields("temporal", joined, exprs, fields)
    }

    /// The columns of a side, the keys, and the time in microseconds.
    fn timed(&mut self, side: Lowered, width: usize, keys: Vec<DfExpr>, time: usize) -> Result<LogicalPlan> {
        let time = side.columns.get(time).cloned().ok_or_else(|| Error::internal("no column of times"))?;
        let mut exprs: Vec<(DfExpr, String)> =
            side.columns.iter().take(width).map(|c| (DfExpr::Column(c.clone()), c.name.clone())).collect();
        exprs.extend(keys.into_iter().map(|key| (key, "key".to_owned())));
        let micros = ArrowType::Timestamp(TimeUnit::Microsecond, None);
        exprs.push((cast(DfExpr::Column(time), micros), "time".to_owned()));
        Ok(self.project("t", side.plan, exprs)?.0)
    }

    /// The plan of a streaming operator.
    pub(super) fn streaming(
        &mut self,
        base: &str,
        operator: Arc<dyn calve_stream::Operator>,
        inputs: Vec<LogicalPlan>,
    ) -> Result<LogicalPlan> {
        let qualifier = self.qualifier(base);
        calve_stream::node::plan(operator, inputs, qualifier).map_err(failed)
    }
}

/// The value of an expression without columns that is a timestamp in microseconds.
///
/// # Errors
/// What evaluating it gives.
pub(crate) fn constant_micros(expr: &Expr, eval: EvalContext) -> Result<Option<i64>> {
    let source = |_: &TableEntry| Err(Error::internal("a table in a constant"));
    let context = LowerContext { eval, source: &source };
    let lowering = Lowering { context: &context, qualifiers: Names::default(), names: Names::default() };
    let scope = Scope { columns: vec![], outer: BTreeMap::new(), level: 0, subqueries: Subqueries::new() };
    let lowered = lowering.expr(expr, &scope)?;
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let row = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options);
    let row = row.map_err(|e| failed(e.into()))?;
    let physical = create_physical_expr(&lowered, &DFSchema::empty(), &ExecutionProps::new()).map_err(failed)?;
    let value = physical.evaluate(&row).and_then(|value| value.into_array(1)).map_err(failed)?;
    let micros = value.as_primitive_opt::<TimestampMicrosecondType>();
    let micros = micros.ok_or_else(|| Error::internal("a time that is no timestamp"))?;
    Ok(micros.iter().next().flatten())
}
