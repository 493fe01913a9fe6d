//! Which fields of enclosing queries a relation or expression refers to.

use std::collections::BTreeSet;

use super::Outer;
pub(super) use crate::bind::walk::{children, has_subquery, over_exprs};
use crate::expr::{Expr, ExprKind};
use crate::rel::{Rel, RelKind};

/// The fields of queries outside of `level` that a relation of a query of that level refers to.
pub(super) fn of_relation(rel: &Rel, level: usize) -> BTreeSet<Outer> {
    let mut found = BTreeSet::new();
    visit_relation(rel, level, level, &mut found);
    found
}

/// The fields of queries outside of `level` that an expression of a query of that level refers to.
pub(super) fn of_expr(expr: &Expr, level: usize) -> BTreeSet<Outer> {
    let mut found = BTreeSet::new();
    visit_expr(expr, level, level, &mut found);
    found
}

/// The relations directly below a relation and the expressions it evaluates.
pub(crate) fn parts(rel: &Rel) -> (Vec<&Rel>, Vec<&Expr>) {
    match &rel.kind {
        RelKind::Scan { .. } => (vec![], vec![]),
        RelKind::Values(rows) => (vec![], rows.iter().flatten().collect()),
        RelKind::Project { input, exprs } => (vec![input], exprs.iter().collect()),
        RelKind::Filter { input, predicate } => (vec![input], vec![predicate]),
        RelKind::Unnest { input, collection, .. } => (vec![input], vec![collection]),
        RelKind::Watermark { input, expr, .. } => (vec![input], vec![expr]),
        RelKind::Windows { input, .. } => (vec![input], vec![]),
        RelKind::InTime { input, partition, .. } => (vec![input], partition.iter().collect()),
        RelKind::Temporal { left, right, keys, condition, .. } => {
            (vec![left, right], keys.iter().map(|(key, _)| key).chain(condition).collect())
        }
        RelKind::Join { left, right, condition, .. } | RelKind::Correlate { left, right, condition, .. } => {
            (vec![left, right], condition.iter().collect())
        }
        RelKind::Match(matching) => (vec![&matching.input], matching.input_exprs().collect()),
        RelKind::Expand { input, keys, .. } => (vec![input], keys.iter().collect()),
        RelKind::Aggregate { input, groups, calls } => (
            vec![input],
            groups.iter().chain(calls.iter().flat_map(|call| call.args.iter().chain(&call.filter))).collect(),
        ),
        RelKind::Over { input, calls } => (vec![input], calls.iter().flat_map(over_exprs).collect()),
        RelKind::Distinct(input) | RelKind::Limit { input, .. } => (vec![input], vec![]),
        RelKind::SetOp { left, right, .. } => (vec![left, right], vec![]),
        RelKind::Sort { input, keys } => (vec![input], keys.iter().map(|key| &key.expr).collect()),
    }
}

fn visit_relation(rel: &Rel, level: usize, limit: usize, found: &mut BTreeSet<Outer>) {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
        let (inputs, exprs) = parts(rel);
        for (i, input) in inputs.into_iter().enumerate() {
            // The right side of a correlation is a query inside of this one.
            let inside = usize::from(i == 1 && matches!(rel.kind, RelKind::Correlate { .. }));
            visit_relation(input, level + inside, limit, found);
        }
        for expr in exprs {
            visit_expr(expr, level, limit, found);
        }
    });
}

fn visit_expr(expr: &Expr, level: usize, limit: usize, found: &mut BTreeSet<Outer>) {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
        match &expr.kind {
            ExprKind::Outer { depth, index } => {
                if let Some(at) = level.checked_sub(*depth)
                    && at < limit
                {
                    found.insert((at, *index));
                }
            }
            ExprKind::Subquery { query, .. } => visit_relation(query, level + 1, limit, found),
            _ => {}
        }
        for child in children(expr) {
            visit_expr(child, level, limit, found);
        }
    });
}
