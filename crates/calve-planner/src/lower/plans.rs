//! Small plans and conditions.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_types::{Error, Result};
use datafusion::common::{Column, DFSchema, NullEquality};
use datafusion::logical_expr::{
    Aggregate, EmptyRelation, Expr as DfExpr, ExprSchemable, Filter, Join, JoinConstraint, JoinType, LogicalPlan,
    Operator, binary_expr, lit,
};

use super::{Lowered, Outer, failed};

/// That two relations are for the same values of enclosing queries' fields.
pub(super) fn same_values(left: &Lowered, right: &Lowered) -> Result<Vec<DfExpr>> {
    let nullable = |side: &Lowered, column: &Column| {
        DfExpr::Column(column.clone()).nullable(side.plan.schema().as_ref()).map_err(failed)
    };
    let mut conditions = vec![];
    for (key, l) in &left.outer {
        let Some(r) = right.outer.get(key) else { continue };
        let (a, b) = (DfExpr::Column(l.clone()), DfExpr::Column(r.clone()));
        conditions.push(if nullable(left, l)? && nullable(right, r)? { is_same(a, b) } else { a.eq(b) });
    }
    Ok(conditions)
}

/// `a IS NOT DISTINCT FROM b`.
pub(super) fn is_same(a: DfExpr, b: DfExpr) -> DfExpr {
    binary_expr(a, Operator::IsNotDistinctFrom, b)
}

pub(super) fn and(conditions: Vec<DfExpr>) -> Option<DfExpr> {
    conditions.into_iter().reduce(DfExpr::and)
}

/// A join; without a condition all pairs.
pub(super) fn join_plans(
    left: LogicalPlan,
    right: LogicalPlan,
    join_type: JoinType,
    condition: Option<DfExpr>,
) -> Result<LogicalPlan> {
    let condition = if join_type == JoinType::Inner { condition } else { Some(condition.unwrap_or_else(|| lit(true))) };
    let join = Join::try_new(
        Arc::new(left),
        Arc::new(right),
        vec![],
        condition,
        join_type,
        JoinConstraint::On,
        NullEquality::NullEqualsNothing,
        false,
    );
    Ok(LogicalPlan::Join(join.map_err(failed)?))
}

/// The plan without what outer joins have added to its rows: the same values of `columns`.
pub(super) fn without_added<'p>(mut plan: &'p LogicalPlan, columns: &BTreeMap<Outer, Column>) -> &'p LogicalPlan {
    while let LogicalPlan::Join(join) = plan
        && join.join_type == JoinType::Left
        && columns.values().all(|column| join.left.schema().has_column(column))
    {
        plan = &join.left;
    }
    plan
}

pub(super) fn filter_plan(input: LogicalPlan, condition: Option<DfExpr>) -> Result<LogicalPlan> {
    match condition {
        None => Ok(input),
        Some(condition) => Ok(LogicalPlan::Filter(Filter::try_new(condition, Arc::new(input)).map_err(failed)?)),
    }
}

/// The distinct rows. DataFusion's own DISTINCT is left out where the rows come from distinct ones, also if a join has
/// repeated them since; a grouping stays.
pub(super) fn distinct_plan(input: LogicalPlan) -> Result<LogicalPlan> {
    let keys = input.schema().columns().into_iter().map(DfExpr::Column).collect();
    Ok(LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(input), keys, vec![]).map_err(failed)?))
}

pub(super) fn last_column(plan: &LogicalPlan) -> Result<Column> {
    plan.schema().columns().pop().ok_or_else(|| Error::internal("a plan without columns"))
}

/// One row without columns, or none.
pub(super) fn one_row(produce_one_row: bool) -> LogicalPlan {
    LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row, schema: Arc::new(DFSchema::empty()) })
}
