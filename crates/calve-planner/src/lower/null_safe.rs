//! `a IS NOT DISTINCT FROM b` as a join key.
//!
//! DataFusion 53 makes such a condition a key of a join in which NULLs are equal, for all of its keys. Two of its
//! rewrites then lose or invent rows: a later `c = d` becomes one more key of that join and matches NULLs, and the
//! dynamic filter of an inner join drops the probe side's NULLs. So the condition is taken apart before, into two
//! equalities of values that are never NULL: `(a IS NULL) = (b IS NULL)` and `a = b` with NULLs replaced.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Join, LogicalPlan, Operator, lit, utils::find_valid_equijoin_key_pair, when,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// The rewrite; it must run before `extract_equijoin_predicate`.
#[derive(Debug, Default)]
pub(super) struct NullSafeJoinKeys;

impl OptimizerRule for NullSafeJoinKeys {
    fn name(&self) -> &str {
        "null_safe_join_keys"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Join(Join { filter: Some(filter), .. }) = &plan else { return Ok(Transformed::no(plan)) };
        if !split_conjunction(filter).iter().any(|part| null_safe(part).is_some()) {
            return Ok(Transformed::no(plan));
        }
        let LogicalPlan::Join(mut join) = plan else { return Ok(Transformed::no(plan)) };
        let Some(filter) = join.filter.take() else { return Ok(Transformed::no(LogicalPlan::Join(join))) };
        let (left, right) = (join.left.schema(), join.right.schema());
        let mut changed = false;
        let mut parts = vec![];
        for part in split_conjunction(&filter) {
            match null_safe(part).map(|(a, b)| find_valid_equijoin_key_pair(a, b, left, right)).transpose()?.flatten() {
                Some((a, b)) if let Some(keys) = keys(&a, left, &b, right)? => {
                    changed = true;
                    parts.extend(keys);
                }
                _ => parts.push(part.clone()),
            }
        }
        join.filter = conjunction(parts);
        let plan = LogicalPlan::Join(join);
        Ok(if changed { Transformed::yes(plan) } else { Transformed::no(plan) })
    }
}

fn null_safe(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::IsNotDistinctFrom, right }) => Some((left, right)),
        _ => None,
    }
}

/// Equalities that say the same; `None` for types that have no value to put in place of NULL.
fn keys(a: &Expr, left: &Arc<DFSchema>, b: &Expr, right: &Arc<DFSchema>) -> Result<Option<Vec<Expr>>> {
    if !a.nullable(left.as_ref())? || !b.nullable(right.as_ref())? {
        return Ok(Some(vec![a.clone().eq(b.clone())]));
    }
    let data_type = a.get_type(left.as_ref())?;
    if data_type.is_nested() || data_type.is_null() || data_type != b.get_type(right.as_ref())? {
        return Ok(None);
    }
    let default = lit(ScalarValue::new_default(&data_type)?);
    let known = |e: &Expr| when(e.clone().is_not_null(), e.clone()).otherwise(default.clone());
    Ok(Some(vec![known(a)?.eq(known(b)?), a.clone().is_null().eq(b.clone().is_null())]))
}
