//! Equal floating point numbers as join keys.
//!
//! `=` of a DOUBLE or FLOAT is a function, because DataFusion's operator compares bits: for it NaN equals itself, and -0.0
//! is not 0.0. Flink's joins compare their keys by bits too, where they look for them in a hash table: in streaming mode
//! always, in batch mode for all but the smallest inputs. So an equality of the two sides of a join becomes the operator,
//! and with that a key.
//!
//! A side of one row at most is looped over in Flink, and compared as outside of joins: `d = (SELECT MAX(d) FROM t)`.

use calve_functions::equality_of_bits;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::utils::{conjunction, find_valid_equijoin_key_pair, split_conjunction};
use datafusion::logical_expr::{BinaryExpr, Expr, FetchType, Join, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// The rewrite; it must run before `extract_equijoin_predicate`. It takes the filter above a join for its condition:
/// Flink moves it there, and makes an outer join an inner one by it.
#[derive(Debug, Default)]
pub(super) struct FloatJoinKeys;

impl OptimizerRule for FloatJoinKeys {
    fn name(&self) -> &str {
        "float_join_keys"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, mut plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let changed = match &mut plan {
            LogicalPlan::Join(join) => match &join.filter {
                Some(filter) => {
                    let keys = with_keys(filter, join)?;
                    let changed = keys.is_some();
                    join.filter = keys.or_else(|| join.filter.take());
                    changed
                }
                None => false,
            },
            LogicalPlan::Filter(filter) => match filter.input.as_ref() {
                LogicalPlan::Join(join) => match with_keys(&filter.predicate, join)? {
                    Some(predicate) => {
                        filter.predicate = predicate;
                        true
                    }
                    None => false,
                },
                _ => false,
            },
            _ => false,
        };
        Ok(if changed { Transformed::yes(plan) } else { Transformed::no(plan) })
    }
}

/// A condition on the pairs of a join, with its equalities of floating point numbers as operators; `None` without any.
fn with_keys(condition: &Expr, join: &Join) -> Result<Option<Expr>> {
    let parts = split_conjunction(condition);
    let mut changed = false;
    let mut rewritten = Vec::with_capacity(parts.len());
    for part in parts {
        match equality_of_bits(part) {
            Some(equality) if is_of_both_sides(&equality, join)? => {
                changed = true;
                rewritten.push(equality);
            }
            _ => rewritten.push(part.clone()),
        }
    }
    if !changed || is_single_row(&join.left) || is_single_row(&join.right) {
        return Ok(None);
    }
    Ok(conjunction(rewritten))
}

/// Whether a relation has one row at most, whatever it reads. (DataFusion's own answer multiplies the rows of joins, beyond
/// all integers.)
fn is_single_row(mut plan: &LogicalPlan) -> bool {
    loop {
        plan = match plan {
            LogicalPlan::Aggregate(aggregate) => return aggregate.group_expr.is_empty(),
            LogicalPlan::Values(values) => return values.values.len() <= 1,
            LogicalPlan::EmptyRelation(_) => return true,
            LogicalPlan::Limit(limit) if matches!(limit.get_fetch_type(), Ok(FetchType::Literal(Some(0 | 1)))) => {
                return true;
            }
            LogicalPlan::Limit(limit) => &limit.input,
            LogicalPlan::Sort(sort) if sort.fetch.is_some_and(|rows| rows <= 1) => return true,
            LogicalPlan::Sort(sort) => &sort.input,
            LogicalPlan::Projection(projection) => &projection.input,
            LogicalPlan::Filter(filter) => &filter.input,
            LogicalPlan::SubqueryAlias(alias) => &alias.input,
            _ => return false,
        }
    }
}

fn is_of_both_sides(equality: &Expr, join: &Join) -> Result<bool> {
    let Expr::BinaryExpr(BinaryExpr { left, right, .. }) = equality else { return Ok(false) };
    Ok(find_valid_equijoin_key_pair(left, right, join.left.schema(), join.right.schema())?.is_some())
}
