//! LATERAL: a query that is computed for each row of what stands before it.

use calve_types::{Error, Result};
use datafusion::logical_expr::JoinType;

use super::expr::{Scope, Subqueries, references};
use super::plans::{and, join_plans, same_values};
use super::subquery::Domain;
use super::{Lowered, Lowering, free};
use crate::bind::walk::conjuncts;
use crate::expr::Expr;
use crate::rel::{JoinKind, Rel};

impl Lowering<'_> {
    /// The pairs of a left row and a row of the right query for it. The query is computed for all values that the left
    /// rows have at once, as subqueries are, and joined by them.
    pub(super) fn correlate(
        &mut self,
        mut left: Lowered,
        right: &Rel,
        kind: JoinKind,
        condition: Option<&Expr>,
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let join_type = match kind {
            JoinKind::Inner => JoinType::Inner,
            JoinKind::Left => JoinType::Left,
            JoinKind::Right | JoinKind::Full => return Err(Error::internal("a correlation that keeps the right rows")),
        };
        let keys = free::of_relation(right, level + 1);
        let further_out = keys.iter().any(|(at, _)| *at < level);
        if further_out || condition.is_some_and(|c| !free::of_expr(c, level).is_empty()) {
            left = self.depending(left, domain)?;
        }
        let conditions: Vec<&Expr> = condition.map(conjuncts).unwrap_or_default();
        let with_subquery = conditions.iter().find(|c| free::has_subquery(c));
        if let (Some(with_subquery), JoinKind::Left) = (with_subquery, kind) {
            return Err(Error::unsupported("subqueries in the ON of an outer join").at(with_subquery.span));
        }
        let (base, sub) = self.correlated(&left, &left.plan, right, &keys, level)?;
        let mut columns = left.columns;
        columns.extend(sub.columns.iter().cloned());
        let mut pairs = same_values(&base, &sub)?;
        if with_subquery.is_none() {
            let mut scope = Scope::new(&base, level, Subqueries::new());
            scope.columns = references(&columns);
            scope.outer = super::expr::outer_references(&left.outer);
            for condition in &conditions {
                pairs.push(self.expr(condition, &scope)?);
            }
        }
        let plan = join_plans(base.plan, sub.plan, join_type, and(pairs))?;
        let joined = Lowered { plan, columns, outer: left.outer };
        match condition {
            Some(condition) if with_subquery.is_some() => self.filter(joined, condition, level, domain),
            _ => Ok(joined),
        }
    }
}
