//! DataFusion 53's logical rules, kept from the plans for which they give other rows.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    BinaryExpr, Distinct, Expr, LogicalPlan, Operator, Projection, Union, binary_expr, lit,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// The rule, guarded if it needs to be.
pub(super) fn guarded(rule: Rule) -> Rule {
    let spare: fn(&LogicalPlan) -> bool = match rule.name() {
        "propagate_empty_relation" => return Arc::new(EmptyInputs(rule)),
        "optimize_unions" => has_other_names,
        "push_down_filter" => filters_global_aggregate,
        "eliminate_group_by_constant" => groups_by_constants,
        "simplify_expressions" => combines_lists,
        _ => return rule,
    };
    Arc::new(Guarded { rule, spare })
}

/// A rule that leaves some plans alone.
struct Guarded {
    rule: Rule,
    spare: fn(&LogicalPlan) -> bool,
}

impl fmt::Debug for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guarded({:?})", self.rule)
    }
}

impl OptimizerRule for Guarded {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if (self.spare)(&plan) { Ok(Transformed::no(plan)) } else { self.rule.rewrite(plan, config) }
    }
}

/// Two IN lists of one column beside an AND become one, and two NOT IN beside an OR, as if no value were NULL:
/// `a IN (1) AND a IN (2)` is FALSE then, where it is NULL for a NULL. Two IN lists beside an OR become one, and rightly.
fn combines_lists(plan: &LogicalPlan) -> bool {
    plan.expressions().iter().any(|expr| {
        let mut combines = false;
        let done = expr.apply(|expr| {
            combines = combines || lists(expr).is_none();
            // what is below an AND or an OR has been looked at
            Ok(match expr {
                _ if combines => TreeNodeRecursion::Stop,
                Expr::BinaryExpr(BinaryExpr { op: Operator::And | Operator::Or, .. }) => TreeNodeRecursion::Jump,
                _ => TreeNodeRecursion::Continue,
            })
        });
        combines || done.is_err()
    })
}

/// The lists of one expression beside ANDs and ORs.
#[derive(Clone, Copy)]
struct ListsOf<'a> {
    /// Whether no list is negated and none is below a NOT.
    positive: bool,
    /// The list, if it is only one, which may stand there more than once: combined with itself it stays what it is.
    only: Option<&'a Expr>,
}

/// The lists of an expression by what they are of; `None` if two of them may be combined wrongly. An equality is a list, too.
///
/// The rule sees two lists side by side only if it could before, whatever it does to what is around them: it takes common
/// conditions out of an OR, which puts a list before an AND with lists of other branches, but it stood before one of its own
/// branch already, which was looked at.
fn lists(expr: &Expr) -> Option<HashMap<&Expr, ListsOf<'_>>> {
    let one = |of, positive| HashMap::from([(of, ListsOf { positive, only: Some(expr) })]);
    match expr {
        Expr::InList(list) => Some(one(list.expr.as_ref(), !list.negated)),
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let (left, right) = (lists(left)?, lists(right)?);
            let (mut of, less) = if left.len() < right.len() { (right, left) } else { (left, right) };
            for (column, lists) in less {
                let Some(others) = of.get_mut(column) else {
                    of.insert(column, lists);
                    continue;
                };
                let positive = lists.positive && others.positive;
                let only = lists.only.filter(|_| lists.only == others.only);
                if only.is_none() && !(positive && *op == Operator::Or) {
                    return None;
                }
                *others = ListsOf { positive, only };
            }
            Some(of)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => match (left.as_ref(), right.as_ref()) {
            (of @ Expr::Column(_), Expr::Literal(..)) | (Expr::Literal(..), of @ Expr::Column(_)) => {
                Some(one(of, true))
            }
            _ => Some(HashMap::new()),
        },
        Expr::Not(inner) => {
            let mut of = lists(inner)?;
            of.values_mut().for_each(|lists| *lists = ListsOf { positive: false, only: None });
            Some(of)
        }
        _ => Some(HashMap::new()),
    }
}

/// A constant condition moves below an aggregate without groups, which then has a row of nothing: HAVING c <> c.
fn filters_global_aggregate(plan: &LogicalPlan) -> bool {
    let LogicalPlan::Filter(filter) = plan else { return false };
    match filter.input.as_ref() {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        input => filters_global_aggregate(input),
    }
}

/// Where only TRUE counts, NULL is FALSE. DataFusion makes `x IS NOT NULL OR NULL` of `x = x`; then it takes a NULL
/// beside an AND for a condition without columns, which it moves below aggregates, and a NULL beside an OR for a proof
/// that no row is left, which makes COUNT(*) zero.
#[derive(Debug)]
pub(super) struct NullIsFalse;

impl OptimizerRule for NullIsFalse {
    fn name(&self) -> &str {
        "null_is_false"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, mut plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let condition = match &mut plan {
            LogicalPlan::Filter(filter) => Some(&mut filter.predicate),
            LogicalPlan::Join(join) => join.filter.as_mut(),
            _ => None,
        };
        match condition {
            Some(condition) if has_null(condition) => {
                *condition = without_null(std::mem::take(condition));
                Ok(Transformed::yes(plan))
            }
            _ => Ok(Transformed::no(plan)),
        }
    }
}

fn has_null(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And | Operator::Or, right }) => {
            has_null(left) || has_null(right)
        }
        Expr::Literal(value, _) => value.is_null(),
        _ => false,
    }
}

fn without_null(expr: Expr) -> Expr {
    let truth = |e: &Expr| match e {
        Expr::Literal(ScalarValue::Boolean(value), _) => *value,
        _ => None,
    };
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let (left, right) = (without_null(*left), without_null(*right));
            match (op, truth(&left), truth(&right)) {
                (Operator::And, Some(false), _) | (Operator::Or, Some(true), _) => left,
                (_, Some(_), _) => right,
                (Operator::And, _, Some(false)) | (Operator::Or, _, Some(true)) => right,
                (_, _, Some(_)) => left,
                _ => binary_expr(left, op, right),
            }
        }
        Expr::Literal(value, _) if value.is_null() => lit(false),
        expr => expr,
    }
}

/// Without its constant groups an aggregate has a row of nothing.
fn groups_by_constants(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.iter().all(|e| e.column_refs().is_empty()))
}

/// A projection of a union moves into the union's inputs and finds its columns there by name.
fn has_other_names(plan: &LogicalPlan) -> bool {
    let plan = match plan {
        LogicalPlan::Distinct(Distinct::All(input)) => input.as_ref(),
        plan => plan,
    };
    let LogicalPlan::Union(Union { inputs, .. }) = plan else { return false };
    inputs.iter().any(|input| {
        let input = match input.as_ref() {
            LogicalPlan::Distinct(Distinct::All(input)) => input.as_ref(),
            input => input,
        };
        let LogicalPlan::Projection(projection) = input else { return false };
        let LogicalPlan::Union(Union { inputs, schema }) = projection.input.as_ref() else { return false };
        inputs
            .iter()
            .any(|input| input.schema().fields().iter().zip(schema.fields()).any(|(a, b)| a.name() != b.name()))
    })
}

/// Leaves of a union the only input that is not empty, with the union's columns by position instead of by name.
#[derive(Debug)]
struct EmptyInputs(Rule);

impl OptimizerRule for EmptyInputs {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Union(union) = &plan else { return self.0.rewrite(plan, config) };
        let mut left = union.inputs.iter().filter(|input| !is_empty(input));
        match (left.next(), left.next()) {
            (Some(only), None) if union.inputs.len() > 1 => {
                let columns = only.schema().columns().into_iter().map(Expr::Column);
                let named = union.schema.iter().map(|(qualifier, field)| (qualifier.cloned(), field.name().clone()));
                let exprs = columns.zip(named).map(|(column, (relation, name))| column.alias_qualified(relation, name));
                let projection = Projection::try_new(exprs.collect(), Arc::clone(only))?;
                Ok(Transformed::yes(LogicalPlan::Projection(projection)))
            }
            _ => self.0.rewrite(plan, config),
        }
    }
}

fn is_empty(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::EmptyRelation(empty) if !empty.produce_one_row)
}
