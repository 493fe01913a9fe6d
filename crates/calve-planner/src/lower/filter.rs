//! Filters: plain conditions, conditions on enclosing queries' fields, and `EXISTS` and `IN` as semi and anti joins.

use std::collections::BTreeMap;

use calve_types::{Error, Result, arrow as mapping};
use datafusion::logical_expr::{Expr as DfExpr, ExprSchemable, JoinType, LogicalPlan};

use super::expr::{Scope, Subqueries, outer_references, references};
use super::plans::{and, filter_plan, join_plans, same_values};
use super::subquery::{Domain, fields};
use super::{Lowered, Lowering, Outer, failed, free};
use crate::bind::walk::conjuncts;
use crate::expr::{Expr, ExprKind, SubqueryKind};
use crate::rel::{Rel, RelKind};

/// What can be read of a subquery at the place where it stands: its rows without the conditions that refer to the
/// enclosing query, those conditions, and its column.
struct PulledUp<'e> {
    rows: &'e Rel,
    conditions: Vec<&'e Expr>,
    /// The columns of IN; `None` are the fields of `rows`.
    columns: Option<&'e [Expr]>,
}

/// A relation, changed or as it was.
enum Attempt {
    Done(Lowered),
    Not(Lowered),
}

impl Lowering<'_> {
    /// A filter.
    pub(super) fn filter(
        &mut self,
        mut input: Lowered,
        predicate: &Expr,
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let parts = conjuncts(predicate);
        if !input.depends() && !free::of_expr(predicate, level).is_empty() {
            input = match self.filter_by_keys(input, &parts, level, domain)? {
                Attempt::Done(filtered) => return Ok(filtered),
                Attempt::Not(input) => self.depending(input, domain)?,
            };
        }
        self.filter_parts(input, &parts, level)
    }

    /// The rows for which all parts are true; they have what the parts refer to of enclosing queries.
    fn filter_parts(&mut self, input: Lowered, parts: &[&Expr], level: usize) -> Result<Lowered> {
        let (with, plain): (Vec<&Expr>, Vec<&Expr>) = parts.iter().partition(|p| free::has_subquery(p));
        let scope = Scope::new(&input, level, Subqueries::new());
        let conditions = plain.into_iter().map(|p| self.expr(p, &scope)).collect::<Result<Vec<_>>>()?;
        let mut input = Lowered { plan: filter_plan(input.plan, and(conditions))?, ..input };
        let mut rest = vec![];
        let rows = input.plan.clone();
        for part in with {
            input = match self.semi_join(input, &rows, part, level)? {
                Attempt::Done(joined) => joined,
                Attempt::Not(input) => {
                    rest.push(part);
                    input
                }
            };
        }
        let (input, subqueries) = self.join_subqueries(input, rest.iter().copied(), level)?;
        let scope = Scope::new(&input, level, subqueries);
        let conditions = rest.into_iter().map(|p| self.expr(p, &scope)).collect::<Result<Vec<_>>>()?;
        Ok(Lowered { plan: filter_plan(input.plan, and(conditions))?, ..input })
    }

    /// A filter whose conditions say `outer.key = inner expression` for every field of enclosing queries: the inner
    /// expressions are the values that the rows are for.
    fn filter_by_keys(
        &mut self,
        input: Lowered,
        parts: &[&Expr],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Attempt> {
        let Some(domain) = domain else { return Ok(Attempt::Not(input)) };
        let mut keys: BTreeMap<Outer, &Expr> = BTreeMap::new();
        let mut rest = vec![];
        for part in parts {
            match key_condition(part, level) {
                Some((key, expr)) if !keys.contains_key(&key) => {
                    keys.insert(key, expr);
                }
                _ => rest.push(*part),
            }
        }
        if !domain.columns.keys().all(|key| keys.contains_key(key)) {
            return Ok(Attempt::Not(input));
        }
        let scope = Scope::new(&input, level, Subqueries::new());
        let width = input.columns.len();
        let mut exprs: Vec<_> = input.columns.iter().map(|c| (DfExpr::Column(c.clone()), c.name.clone())).collect();
        for expr in keys.values() {
            exprs.push((self.expr(expr, &scope)?, "outer".to_owned()));
        }
        let (plan, mut columns) = self.project("k", input.plan, exprs)?;
        let values = columns.split_off(width);
        let known = references(&values).into_iter().map(DfExpr::is_not_null).collect();
        let plan = filter_plan(plan, and(known))?;
        let keyed = Lowered { plan, columns, outer: keys.into_keys().zip(values).collect() };
        Ok(Attempt::Done(self.filter_parts(keyed, &rest, level)?))
    }

    /// A filter's `[NOT] EXISTS` or `[NOT] IN` as a semi or anti join; `rows` are those of the input before the first one.
    fn semi_join(&mut self, input: Lowered, rows: &LogicalPlan, part: &Expr, level: usize) -> Result<Attempt> {
        let (inner, not) = match &part.kind {
            ExprKind::Call { function, args } if function.name == "NOT" && args.len() == 1 => {
                (args.first().unwrap_or(part), true)
            }
            _ => (part, false),
        };
        let ExprKind::Subquery { kind, query } = &inner.kind else { return Ok(Attempt::Not(input)) };
        let (values, negated) = match kind {
            SubqueryKind::Scalar => return Ok(Attempt::Not(input)),
            SubqueryKind::Exists { negated } => (vec![], negated ^ not),
            SubqueryKind::In { expr, negated } => (in_values(expr, query), negated ^ not),
        };
        let keys = free::of_relation(query, level + 1);
        if values.iter().any(|v| free::has_subquery(v)) || values.is_empty() && keys.is_empty() {
            return Ok(Attempt::Not(input));
        }
        let (sub, mut conditions, columns) = match pull_up(query, !values.is_empty(), level + 1) {
            Some(pulled) => {
                let sub = self.relation(pulled.rows, level + 1, None)?;
                let mut scope = Scope::new(&sub, level + 1, Subqueries::new());
                scope.outer = outer_references(&fields(&input, &keys, level)?);
                let conditions =
                    pulled.conditions.into_iter().map(|c| self.expr(c, &scope)).collect::<Result<Vec<_>>>()?;
                let columns = match pulled.columns {
                    Some(columns) => self.exprs(columns, &scope)?,
                    None => scope.columns,
                };
                (sub, conditions, columns)
            }
            None => {
                let (base, sub) = self.correlated(&input, rows, query, &keys, level)?;
                let conditions = same_values(&base, &sub)?;
                let columns = references(&sub.columns);
                (sub, conditions, columns)
            }
        };
        if columns.len() < values.len() {
            return Err(Error::internal("IN over a query with too few columns"));
        }
        let scope = Scope::new(&input, level, Subqueries::new());
        let several = values.len() > 1;
        for (value, column) in values.into_iter().zip(columns) {
            let x = self.expr(value, &scope)?;
            if !negated {
                conditions.push(self.equal(x, column, &value.data_type)?);
                continue;
            }
            let schema = input.plan.schema().join(sub.plan.schema()).map_err(failed)?;
            let nullable = |e: &DfExpr| e.nullable(&schema).map_err(failed);
            let may_be_unknown = nullable(&x)? || nullable(&column)? || value.data_type.logical.is_constructed();
            // With a NULL, NOT IN is not the absence of an equal value: of one column the counts of rows tell more
            // cheaply whether it is unknown, of several each pair of rows is looked at.
            if may_be_unknown && !several {
                return Ok(Attempt::Not(input));
            }
            conditions.push(if !may_be_unknown {
                self.equal(x, column, &value.data_type)?
            } else if value.data_type.logical.is_approximate() {
                self.comparison("=", x, column, &value.data_type)?.is_not_false()
            } else {
                self.equal(x, column, &value.data_type)?.is_not_false()
            });
        }
        let join_type = if negated { JoinType::LeftAnti } else { JoinType::LeftSemi };
        let plan = join_plans(input.plan, sub.plan, join_type, and(conditions))?;
        Ok(Attempt::Done(Lowered { plan, ..input }))
    }
}

/// What is compared with each column of the query of IN.
pub(super) fn in_values<'e>(value: &'e Expr, query: &Rel) -> Vec<&'e Expr> {
    match &value.kind {
        ExprKind::Call { args, .. } if query.fields.len() > 1 => args.iter().collect(),
        _ => vec![value],
    }
}

/// `outer.key = expression of the inner query`, where equal values are equal as join keys too.
fn key_condition(part: &Expr, level: usize) -> Option<(Outer, &Expr)> {
    let ExprKind::Call { function, args } = &part.kind else { return None };
    let [a, b] = args.as_slice() else { return None };
    if function.name != "=" || a.data_type.logical.is_constructed() {
        return None;
    }
    let same_type = mapping::to_arrow(&a.data_type.logical).ok()? == mapping::to_arrow(&b.data_type.logical).ok()?;
    let key = |e: &Expr| match e.kind {
        ExprKind::Outer { depth, index } => level.checked_sub(depth).map(|at| (at, index)),
        _ => None,
    };
    let inner = |e: &Expr| !free::has_subquery(e) && free::of_expr(e, level).is_empty();
    match (key(a), key(b)) {
        (Some(key), None) if same_type && inner(b) => Some((key, b)),
        (None, Some(key)) if same_type && inner(a) => Some((key, a)),
        _ => None,
    }
}

/// A query of the form `[SELECT column] FROM rows WHERE conditions`, where only the conditions and the column refer to
/// enclosing queries.
fn pull_up(query: &Rel, needs_columns: bool, level: usize) -> Option<PulledUp<'_>> {
    let independent = |rel: &Rel| free::of_relation(rel, level).is_empty();
    let mut rel = query;
    let mut columns: Option<&[Expr]> = None;
    let mut conditions: Vec<&Expr> = vec![];
    while !independent(rel) {
        match &rel.kind {
            RelKind::Filter { input, predicate } => {
                if free::has_subquery(predicate) {
                    return None;
                }
                conditions.extend(conjuncts(predicate));
                rel = input;
            }
            RelKind::Project { input, exprs } if conditions.is_empty() && columns.is_none() => {
                if needs_columns {
                    if exprs.iter().any(free::has_subquery) {
                        return None;
                    }
                    columns = Some(exprs);
                }
                rel = input;
            }
            RelKind::Distinct(input) | RelKind::Sort { input, .. } if conditions.is_empty() && columns.is_none() => {
                rel = input;
            }
            _ => return None,
        }
    }
    Some(PulledUp { rows: rel, conditions, columns })
}
