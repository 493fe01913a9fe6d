//! Subqueries become joins.
//!
//! A filter's `EXISTS` and `IN` become semi joins, and anti joins where no NULL can be; every other subquery is joined
//! to the input of its expression and then stands for one column of it.
//!
//! A correlated subquery is computed for all values at once that the enclosing query's fields have: its rows carry the
//! values they are for ([`Lowered::outer`]) and are joined back by them. This is how Neumann and Kemper unnest
//! arbitrary queries (BTW 2015). Where the values come from:
//!
//! * `WHERE inner.key = outer.key`: the inner side's own keys are the values; the enclosing query is not read twice.
//! * otherwise the distinct values of the enclosing query ([`Domain`]), which is then computed twice and therefore must
//!   give the same rows twice. It is the query as it was before the first of its subqueries was joined to it: otherwise
//!   each of them would hold all that came before it once more.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use calve_functions as functions;
use calve_types::{DataType, Error, LogicalType, Result};
use datafusion::common::Column;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::functions_aggregate::count::{count, count_all};
use datafusion::functions_aggregate::first_last::first_value;
use datafusion::logical_expr::{
    Aggregate, Expr as DfExpr, ExprSchemable, JoinType, LogicalPlan, LogicalPlanBuilder, lit, when,
};

use super::expr::{Scope, Subqueries, outer_references, references};
use super::filter::in_values;
use super::plans::{and, distinct_plan, filter_plan, join_plans, last_column, same_values, without_added};
use super::{Lowered, Lowering, Outer, failed, free, single_row};
use crate::expr::{Expr, ExprKind, SubqueryKind};
use crate::rel::{Rel, RelKind};

/// The values that the fields of enclosing queries may have in a subquery.
pub(super) struct Domain {
    input: LogicalPlan,
    pub columns: BTreeMap<Outer, Column>,
    distinct: OnceCell<LogicalPlan>,
}

impl Lowering<'_> {
    /// The values of enclosing queries' fields as a relation.
    pub(super) fn domain(&mut self, domain: Option<&Domain>) -> Result<Lowered> {
        let Some(domain) = domain else {
            return Err(Error::internal("a field of an enclosing query where there is none"));
        };
        let distinct = match domain.distinct.get() {
            Some(plan) => plan.clone(),
            None => {
                if !gives_same_rows(&domain.input)? {
                    return Err(Error::unsupported("this correlated subquery over rows that may differ when read twice")
                        .with_detail(
                            "The subquery's rows are computed for each value of the enclosing query, whose rows come \
                             from a LIMIT or from a function such as RAND(), so that they cannot be read a second time.",
                        )
                        .with_hint("compare a column of the subquery for equality with the enclosing query's column"));
                }
                let values = domain.columns.values();
                let exprs = values.map(|c| (DfExpr::Column(c.clone()), c.name.clone())).collect();
                let (plan, _) = self.project("outer", domain.input.clone(), exprs)?;
                let plan = distinct_plan(plan)?;
                domain.distinct.get_or_init(|| plan).clone()
            }
        };
        let exprs = distinct.schema().columns().into_iter().map(|c| (DfExpr::Column(c.clone()), c.name)).collect();
        let (plan, columns) = self.project("outer", distinct, exprs)?;
        Ok(Lowered { plan, columns: vec![], outer: domain.columns.keys().copied().zip(columns).collect() })
    }

    /// The relation for each value of the enclosing queries' fields.
    pub(super) fn depending(&mut self, input: Lowered, domain: Option<&Domain>) -> Result<Lowered> {
        if input.depends() {
            return Ok(input);
        }
        let values = self.domain(domain)?;
        let plan = join_plans(values.plan, input.plan, JoinType::Inner, None)?;
        Ok(Lowered { plan, columns: input.columns, outer: values.outer })
    }

    /// `a = b`, rows field by field.
    pub(super) fn equal(&self, a: DfExpr, b: DfExpr, data_type: &DataType) -> Result<DfExpr> {
        let LogicalType::Row(fields) = &data_type.logical else { return Ok(a.eq(b)) };
        let eval = &self.context.eval;
        let mut conditions = vec![];
        for (i, field) in fields.iter().enumerate() {
            let x = functions::field(a.clone(), data_type, i, eval)?;
            let y = functions::field(b.clone(), data_type, i, eval)?;
            conditions.push(self.equal(x, y, &field.data_type)?);
        }
        and(conditions).ok_or_else(|| Error::internal("a row without fields"))
    }

    /// A comparison of two values of a type, as outside of joins.
    pub(super) fn comparison(&self, symbol: &str, a: DfExpr, b: DfExpr, data_type: &DataType) -> Result<DfExpr> {
        let function = functions::scalar(symbol).ok_or_else(|| Error::internal("no such comparison"))?;
        let types = [data_type.clone().with_nullable(true), data_type.clone().with_nullable(true)];
        function.call(vec![a, b], &types, &LogicalType::Boolean.nullable(), &self.context.eval)
    }

    /// Lowers a subquery for the values that the fields it refers to have in `rows`, which is `input` or what `input` was
    /// made of: it has all of its values. Returns the input with those fields as what its rows are for, and the subquery.
    pub(super) fn correlated(
        &mut self,
        input: &Lowered,
        rows: &LogicalPlan,
        query: &Rel,
        keys: &BTreeSet<Outer>,
        level: usize,
    ) -> Result<(Lowered, Lowered)> {
        let columns = fields(input, keys, level)?;
        let base = Lowered { outer: columns.clone(), ..input.clone() };
        if keys.is_empty() {
            let sub = self.relation(query, level + 1, None)?;
            return Ok((base, sub));
        }
        let input = without_added(rows, &columns).clone();
        let domain = Domain { input, columns, distinct: OnceCell::new() };
        let sub = self.relation(query, level + 1, Some(&domain))?;
        if !sub.depends() {
            return Err(Error::internal("a correlated subquery lost its correlation"));
        }
        Ok((base, sub))
    }

    /// Joins all subqueries in the expressions to their input, which has what they refer to. The input's columns stay.
    pub(super) fn join_subqueries<'e>(
        &mut self,
        mut input: Lowered,
        exprs: impl Iterator<Item = &'e Expr>,
        level: usize,
    ) -> Result<(Lowered, Subqueries)> {
        let mut values = Subqueries::new();
        let rows = input.plan.clone();
        for expr in exprs {
            input = self.join_subqueries_of(input, &rows, expr, false, level, &mut values)?;
        }
        Ok((input, values))
    }

    /// `not`: the expression is the operand of a NOT.
    fn join_subqueries_of(
        &mut self,
        mut input: Lowered,
        rows: &LogicalPlan,
        expr: &Expr,
        not: bool,
        level: usize,
        values: &mut Subqueries,
    ) -> Result<Lowered> {
        if !free::has_subquery(expr) {
            return Ok(input);
        }
        let is_not = matches!(&expr.kind, ExprKind::Call { function, .. } if function.name == "NOT");
        for child in free::children(expr) {
            input = self.join_subqueries_of(input, rows, child, is_not, level, values)?;
        }
        let ExprKind::Subquery { kind, query } = &expr.kind else { return Ok(input) };
        let keys = free::of_relation(query, level + 1);
        let (plan, value) = match kind {
            SubqueryKind::Scalar => self.scalar(&input, rows, query, &keys, level),
            SubqueryKind::Exists { negated } => self.exists(&input, rows, query, &keys, *negated, level),
            SubqueryKind::In { expr: x, negated } => {
                let scope = Scope::new(&input, level, values.clone());
                let xs = in_values(x, query)
                    .into_iter()
                    .map(|x| Ok((self.expr(x, &scope)?, &x.data_type)))
                    .collect::<Result<_>>()?;
                let (plan, is_in) = self.is_in(&input, (rows, query), &keys, xs, *negated ^ not, level)?;
                Ok((plan, if *negated { !is_in } else { is_in }))
            }
        }
        .map_err(|e| e.at(expr.span))?;
        values.insert(std::ptr::from_ref(expr), value);
        Ok(Lowered { plan, ..input })
    }

    fn scalar(
        &mut self,
        input: &Lowered,
        rows: &LogicalPlan,
        query: &Rel,
        keys: &BTreeSet<Outer>,
        level: usize,
    ) -> Result<(LogicalPlan, DfExpr)> {
        if !keys.is_empty()
            && let Some(joined) = self.scalar_aggregate(input, rows, query, keys, level)?
        {
            return Ok(joined);
        }
        let (base, sub) = self.correlated(input, rows, query, keys, level)?;
        let column = references(&sub.columns).into_iter().next();
        let column = column.ok_or_else(|| Error::internal("a scalar subquery without a column"))?;
        let (sub, value) = if gives_at_most_one_row(query) && (sub.depends() || gives_one_row(query)) {
            let (plan, mut columns) = self.project("sq", sub.plan, with_outer(column, "value", &sub.outer))?;
            let outer = columns.split_off(1);
            (
                Lowered { plan, columns: vec![], outer: rekeyed(&sub.outer, outer) },
                references(&columns).into_iter().next(),
            )
        } else {
            // Two rows are enough to know that there are too many.
            let plan = if sub.depends() { sub.plan } else { limit(sub.plan, 2)? };
            let plan = aggregate(plan, &sub.outer, vec![count_all(), first_value(column, vec![])])?;
            let mut columns = plan.schema().columns();
            let calls = columns.split_off(sub.outer.len());
            let mut exprs: Vec<_> = references(&calls).into_iter().zip(["rows", "value"].map(str::to_owned)).collect();
            exprs.extend(references(&columns).into_iter().map(|c| (c, "outer".to_owned())));
            let (plan, mut columns) = self.project("sq", plan, exprs)?;
            let outer = columns.split_off(2);
            let value = match references(&columns).as_slice() {
                [rows, value] => Some(single_row::check(rows.clone(), value.clone())),
                _ => None,
            };
            (Lowered { plan, columns: vec![], outer: rekeyed(&sub.outer, outer) }, value)
        };
        let value = value.ok_or_else(|| Error::internal("a scalar subquery without a value"))?;
        Ok((join_back(base, sub)?, value))
    }

    /// A correlated `(SELECT f(aggregates) FROM ...)` without GROUP BY: joined by its keys.
    fn scalar_aggregate(
        &mut self,
        input: &Lowered,
        rows: &LogicalPlan,
        query: &Rel,
        keys: &BTreeSet<Outer>,
        level: usize,
    ) -> Result<Option<(LogicalPlan, DfExpr)>> {
        let mut projections = vec![];
        let mut rel = query;
        while let RelKind::Project { input, exprs } = &rel.kind {
            if exprs.iter().any(free::has_subquery) {
                return Ok(None);
            }
            projections.push(exprs);
            rel = input;
        }
        let RelKind::Aggregate { input: aggregated, groups, calls } = &rel.kind else { return Ok(None) };
        let inside = free::of_relation(rel, level + 1);
        if !groups.is_empty() || &inside != keys {
            return Ok(None);
        }
        let columns = fields(input, keys, level)?;
        let domain = Domain { input: rows.clone(), columns: columns.clone(), distinct: OnceCell::new() };
        let base = Lowered { outer: columns, ..input.clone() };
        let (base, mut values) = self.join_global_aggregate(base, aggregated, calls, level + 1, &domain)?;
        for exprs in projections.into_iter().rev() {
            let scope = Scope {
                columns: values,
                outer: outer_references(&base.outer),
                level: level + 1,
                subqueries: Subqueries::new(),
            };
            values = self.exprs(exprs, &scope)?;
        }
        let value = values.into_iter().next().ok_or_else(|| Error::internal("a scalar subquery without a column"))?;
        Ok(Some((base.plan, value)))
    }

    fn exists(
        &mut self,
        input: &Lowered,
        rows: &LogicalPlan,
        query: &Rel,
        keys: &BTreeSet<Outer>,
        negated: bool,
        level: usize,
    ) -> Result<(LogicalPlan, DfExpr)> {
        let (base, sub) = self.correlated(input, rows, query, keys, level)?;
        if !sub.depends() {
            let plan = aggregate(limit(sub.plan, 1)?, &sub.outer, vec![count_all()])?;
            let rows = DfExpr::Column(last_column(&plan)?);
            let (plan, columns) = self.project("sq", plan, vec![(rows.gt(lit(0_i64)), "present".to_owned())])?;
            let present = one(columns)?;
            let plan = join_plans(base.plan, plan, JoinType::Inner, None)?;
            return Ok((plan, if negated { !present } else { present }));
        }
        let (sub, present) = self.marked(sub, vec![])?;
        let plan = join_back(base, sub)?;
        Ok((plan, if negated { present.is_null() } else { present.is_not_null() }))
    }

    /// `x IN (query)`: TRUE if a row equals x; else FALSE if there is no row; else NULL if x or a row is NULL; else
    /// FALSE. Of several columns each may be the NULL, whatever the others are: so does Flink.
    ///
    /// Flink looks for the rows of IN in a hash table, and so finds floating point numbers by their bits; for NOT IN of what
    /// may be NULL it compares each pair (`negated`), and then 0.0 equals -0.0, and NaN nothing.
    fn is_in(
        &mut self,
        input: &Lowered,
        (rows, query): (&LogicalPlan, &Rel),
        keys: &BTreeSet<Outer>,
        values: Vec<(DfExpr, &DataType)>,
        negated: bool,
        level: usize,
    ) -> Result<(LogicalPlan, DfExpr)> {
        let (base, sub) = self.correlated(input, rows, query, keys, level)?;
        let columns: Vec<DfExpr> = references(&sub.columns).into_iter().take(values.len()).collect();
        if columns.len() != values.len() {
            return Err(Error::internal("IN over a query with too few columns"));
        }
        let mut nullable = false;
        for ((x, data_type), column) in values.iter().zip(&columns) {
            let may_be_null = x.nullable(base.plan.schema().as_ref()).map_err(failed)?
                || column.nullable(sub.plan.schema().as_ref()).map_err(failed)?;
            if may_be_null && data_type.logical.is_constructed() {
                return Err(Error::unsupported("IN with nullable values of constructed types as a value"));
            }
            nullable |= may_be_null;
        }

        let known = and(columns.iter().map(|c| c.clone().is_not_null()).collect());
        let found = Lowered { plan: filter_plan(sub.plan.clone(), known)?, ..sub.clone() };
        let by_value = |data_type: &DataType| negated && nullable && data_type.logical.is_approximate();
        let keys_of = |(column, (_, data_type)): (&DfExpr, &(DfExpr, &DataType))| {
            if by_value(data_type) { unsigned_zero(column.clone(), data_type) } else { column.clone() }
        };
        let (found, present) = self.marked(found, columns.iter().zip(&values).map(keys_of).collect())?;
        let mut conditions = same_values(&base, &found)?;
        for ((x, data_type), column) in values.iter().zip(&found.columns) {
            let column = DfExpr::Column(column.clone());
            if by_value(data_type) {
                // a key of the join that holds for a NaN, and what does not
                conditions.push(unsigned_zero(x.clone(), data_type).eq(column.clone()));
                conditions.push(self.comparison("<=", x.clone(), column, data_type)?);
            } else {
                conditions.push(self.equal(x.clone(), column, data_type)?);
            }
        }
        let plan = join_plans(base.plan.clone(), found.plan, JoinType::Left, and(conditions))?;
        if !nullable {
            return Ok((plan, present.is_not_null()));
        }

        // Rows, and those of them without a NULL.
        let any_null = columns.iter().map(|c| c.clone().is_null()).reduce(DfExpr::or).unwrap_or_else(|| lit(false));
        let whole = when(any_null, lit(datafusion::common::ScalarValue::Boolean(None))).otherwise(lit(true));
        let whole = whole.map_err(failed)?;
        let width = columns.len();
        let mut exprs: Vec<_> = vec![(whole, "whole".to_owned())];
        exprs.extend(sub.outer.values().map(|c| (DfExpr::Column(c.clone()), "outer".to_owned())));
        let counted = if width == 1 {
            (sub.plan, columns.into_iter().next(), sub.outer)
        } else {
            let (plan, mut all) = self.project("sq", sub.plan, exprs)?;
            let outer = all.split_off(1);
            (plan, references(&all).into_iter().next(), rekeyed(&sub.outer, outer))
        };
        let (plan_of_rows, whole, outer) = counted;
        let whole = whole.ok_or_else(|| Error::internal("IN over a query without a column"))?;
        let counts = aggregate(plan_of_rows, &outer, vec![count_all(), count(whole)])?;
        let mut columns = counts.schema().columns();
        let calls = columns.split_off(outer.len());
        let mut exprs: Vec<_> = references(&calls).into_iter().zip(["rows", "known"].map(str::to_owned)).collect();
        exprs.extend(references(&columns).into_iter().map(|c| (c, "outer".to_owned())));
        let (counts, mut columns) = self.project("sq", counts, exprs)?;
        let keys = columns.split_off(2);
        let counts = Lowered { plan: counts, columns: vec![], outer: rekeyed(&outer, keys) };
        let (rows, known) = match references(&columns).as_slice() {
            [rows, known] => (rows.clone(), known.clone()),
            _ => return Err(Error::internal("a count is missing")),
        };
        let plan = join_back(Lowered { plan, ..base }, counts)?;
        let any_null = values.into_iter().map(|(x, _)| x.is_null()).reduce(DfExpr::or).unwrap_or_else(|| lit(false));
        let unknown = any_null.or(known.lt(rows.clone()));
        let value = when(present.is_not_null(), lit(true))
            .when(rows.clone().is_null().or(rows.eq(lit(0_i64))), lit(false))
            .when(unknown, lit(datafusion::common::ScalarValue::Boolean(None)))
            .otherwise(lit(false))
            .map_err(failed)?;
        Ok((plan, value))
    }

    /// The distinct values (and what they are for) of a subquery, with a column that is NULL after an outer join
    /// without a match.
    fn marked(&mut self, sub: Lowered, values: Vec<DfExpr>) -> Result<(Lowered, DfExpr)> {
        let width = values.len();
        let mut exprs: Vec<_> = values.into_iter().map(|v| (v, "value".to_owned())).collect();
        exprs.extend(sub.outer.values().map(|c| (DfExpr::Column(c.clone()), c.name.clone())));
        let (plan, columns) = self.project("sq", sub.plan, exprs)?;
        let plan = distinct_plan(plan)?;
        let mut exprs: Vec<_> = columns.iter().map(|c| (DfExpr::Column(c.clone()), c.name.clone())).collect();
        exprs.push((lit(true), "present".to_owned()));
        let (plan, mut columns) = self.project("sq", plan, exprs)?;
        let present = columns.pop().ok_or_else(|| Error::internal("no column"))?;
        let outer = columns.split_off(width);
        Ok((Lowered { plan, columns, outer: rekeyed(&sub.outer, outer) }, DfExpr::Column(present)))
    }
}

/// A floating point number without the sign of a zero.
fn unsigned_zero(value: DfExpr, data_type: &DataType) -> DfExpr {
    value + if data_type.logical == LogicalType::Float { lit(0_f32) } else { lit(0_f64) }
}

/// The columns of a relation that hold fields of it or of enclosing queries.
pub(super) fn fields(input: &Lowered, keys: &BTreeSet<Outer>, level: usize) -> Result<BTreeMap<Outer, Column>> {
    keys.iter()
        .map(|key| {
            let column = if key.0 == level { input.columns.get(key.1) } else { input.outer.get(key) };
            let column =
                column.cloned().ok_or_else(|| Error::internal(format!("no field ${} at level {}", key.1, key.0)));
            Ok((*key, column?))
        })
        .collect()
}

/// Joins a subquery that has at most one row for each value to the rows with that value.
fn join_back(base: Lowered, sub: Lowered) -> Result<LogicalPlan> {
    if sub.outer.is_empty() {
        return join_plans(base.plan, sub.plan, JoinType::Inner, None);
    }
    let condition = and(same_values(&base, &sub)?);
    join_plans(base.plan, sub.plan, JoinType::Left, condition)
}

/// Whether a query gives one row at most (for each value of the enclosing queries' fields).
fn gives_at_most_one_row(query: &Rel) -> bool {
    match &query.kind {
        RelKind::Aggregate { groups, .. } => groups.is_empty(),
        RelKind::Limit { input, fetch, .. } => fetch.is_some_and(|n| n <= 1) || gives_at_most_one_row(input),
        RelKind::Project { input, .. }
        | RelKind::Filter { input, .. }
        | RelKind::Sort { input, .. }
        | RelKind::Distinct(input) => gives_at_most_one_row(input),
        RelKind::Values(rows) => rows.len() <= 1,
        _ => false,
    }
}

/// Whether a query gives exactly one row.
fn gives_one_row(query: &Rel) -> bool {
    match &query.kind {
        RelKind::Aggregate { groups, .. } => groups.is_empty(),
        RelKind::Project { input, .. } | RelKind::Sort { input, .. } => gives_one_row(input),
        RelKind::Values(rows) => rows.len() == 1,
        _ => false,
    }
}

/// Whether a plan gives the same rows each time it runs: no LIMIT, no RAND(), no sums of floating point numbers.
fn gives_same_rows(plan: &LogicalPlan) -> Result<bool> {
    let mut same = true;
    plan.apply_with_subqueries(|node| {
        let known = match node {
            LogicalPlan::Limit(_) | LogicalPlan::Window(_) | LogicalPlan::Extension(_) | LogicalPlan::Unnest(_) => {
                false
            }
            LogicalPlan::Sort(sort) => sort.fetch.is_none(),
            LogicalPlan::Aggregate(aggregate) => aggregate.aggr_expr.iter().all(|call| is_repeatable(call, aggregate)),
            _ => true,
        };
        let volatile = node.expressions().iter().any(DfExpr::is_volatile);
        same &= known && !volatile;
        Ok(if same { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    })
    .map_err(failed)?;
    Ok(same)
}

/// Whether an aggregate does not depend on the order of its rows.
fn is_repeatable(call: &DfExpr, aggregate: &Aggregate) -> bool {
    let DfExpr::AggregateFunction(function) = call.clone().unalias() else { return false };
    let name = function.func.name().to_ascii_lowercase();
    matches!(name.as_str(), "count" | "min" | "max" | "sum")
        && call.get_type(aggregate.input.schema().as_ref()).is_ok_and(|t| !t.is_floating())
}

fn aggregate(plan: LogicalPlan, keys: &BTreeMap<Outer, Column>, calls: Vec<DfExpr>) -> Result<LogicalPlan> {
    let keys = references(&keys.values().cloned().collect::<Vec<_>>());
    Ok(LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(plan), keys, calls).map_err(failed)?))
}

fn limit(plan: LogicalPlan, rows: usize) -> Result<LogicalPlan> {
    LogicalPlanBuilder::from(plan).limit(0, Some(rows)).and_then(LogicalPlanBuilder::build).map_err(failed)
}

fn with_outer(value: DfExpr, name: &str, outer: &BTreeMap<Outer, Column>) -> Vec<(DfExpr, String)> {
    let mut exprs = vec![(value, name.to_owned())];
    exprs.extend(outer.values().map(|c| (DfExpr::Column(c.clone()), c.name.clone())));
    exprs
}

fn rekeyed(outer: &BTreeMap<Outer, Column>, columns: Vec<Column>) -> BTreeMap<Outer, Column> {
    outer.keys().copied().zip(columns).collect()
}

fn one(columns: Vec<Column>) -> Result<DfExpr> {
    columns.into_iter().next().map(DfExpr::Column).ok_or_else(|| Error::internal("no column"))
}
