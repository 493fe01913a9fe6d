//! Going through expressions and relations.

use calve_types::Result;

use super::nested;
use crate::expr::{Expr, ExprKind, SubqueryKind};
use crate::rel::{Rel, RelKind};

/// Calls `f` on the expressions directly below; those inside a subquery are not among them.
pub(super) fn children_mut(expr: &mut Expr, f: &mut dyn FnMut(&mut Expr) -> Result<()>) -> Result<()> {
    match &mut expr.kind {
        ExprKind::Literal(_) | ExprKind::Column(_) | ExprKind::Outer { .. } => Ok(()),
        ExprKind::Call { args, .. } => args.iter_mut().try_for_each(f),
        ExprKind::Cast { expr, .. } | ExprKind::Field { expr, .. } => f(expr),
        ExprKind::Case { branches, otherwise } => {
            branches.iter_mut().try_for_each(|(condition, value)| {
                f(condition)?;
                f(value)
            })?;
            otherwise.iter_mut().try_for_each(|e| f(e))
        }
        ExprKind::Subquery { kind: SubqueryKind::In { expr, .. }, .. } => f(expr),
        ExprKind::Subquery { .. } => Ok(()),
    }
}

/// Calls `f` on every expression of a relation and of its inputs.
fn expressions_mut(rel: &mut Rel, f: &mut dyn FnMut(&mut Expr) -> Result<()>) -> Result<()> {
    nested(|| match &mut rel.kind {
        RelKind::Scan { .. } => Ok(()),
        RelKind::Values(rows) => rows.iter_mut().flatten().try_for_each(f),
        RelKind::Project { input, exprs } => {
            exprs.iter_mut().try_for_each(&mut *f)?;
            expressions_mut(input, f)
        }
        RelKind::Filter { input, predicate } => {
            f(predicate)?;
            expressions_mut(input, f)
        }
        RelKind::Join { left, right, condition, .. } => {
            condition.iter_mut().try_for_each(&mut *f)?;
            expressions_mut(left, f)?;
            expressions_mut(right, f)
        }
        RelKind::Aggregate { input, groups, calls } => {
            groups.iter_mut().try_for_each(&mut *f)?;
            for call in calls {
                call.args.iter_mut().try_for_each(&mut *f)?;
                call.filter.iter_mut().try_for_each(&mut *f)?;
            }
            expressions_mut(input, f)
        }
        RelKind::Distinct(input) | RelKind::Limit { input, .. } => expressions_mut(input, f),
        RelKind::SetOp { left, right, .. } => {
            expressions_mut(left, f)?;
            expressions_mut(right, f)
        }
        RelKind::Sort { input, keys } => {
            keys.iter_mut().try_for_each(|key| f(&mut key.expr))?;
            expressions_mut(input, f)
        }
    })
}

/// Calls `f` on every [`ExprKind::Outer`] in a subquery that refers to a level outside it, with the depth of that level
/// as seen from the subquery (from 1).
pub(super) fn outer_columns_mut(rel: &mut Rel, f: &mut dyn FnMut(usize, &mut Expr) -> Result<()>) -> Result<()> {
    in_relation(rel, 0, f)
}

fn in_relation(rel: &mut Rel, below: usize, f: &mut dyn FnMut(usize, &mut Expr) -> Result<()>) -> Result<()> {
    expressions_mut(rel, &mut |expr| in_expression(expr, below, f))
}

fn in_expression(expr: &mut Expr, below: usize, f: &mut dyn FnMut(usize, &mut Expr) -> Result<()>) -> Result<()> {
    nested(|| {
        if let ExprKind::Outer { depth, .. } = expr.kind {
            return if depth > below { f(depth - below, expr) } else { Ok(()) };
        }
        children_mut(expr, &mut |child| in_expression(child, below, f))?;
        match &mut expr.kind {
            ExprKind::Subquery { query, .. } => in_relation(query, below + 1, f),
            _ => Ok(()),
        }
    })
}

/// Whether two expressions are the same but for where they were written. Subqueries never are.
pub(super) fn same(a: &Expr, b: &Expr) -> bool {
    let all = |a: &[Expr], b: &[Expr]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b));
    a.data_type == b.data_type
        && nested(|| match (&a.kind, &b.kind) {
            (ExprKind::Literal(a), ExprKind::Literal(b)) => a == b,
            (ExprKind::Column(a), ExprKind::Column(b)) => a == b,
            (ExprKind::Outer { depth: a, index: i }, ExprKind::Outer { depth: b, index: j }) => a == b && i == j,
            (ExprKind::Call { function: f, args: a }, ExprKind::Call { function: g, args: b }) => {
                std::ptr::eq(*f, *g) && all(a, b)
            }
            (ExprKind::Cast { expr: a, safe: s }, ExprKind::Cast { expr: b, safe: t }) => s == t && same(a, b),
            (ExprKind::Field { expr: a, index: i }, ExprKind::Field { expr: b, index: j }) => i == j && same(a, b),
            (ExprKind::Case { branches: a, otherwise: x }, ExprKind::Case { branches: b, otherwise: y }) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|((c, v), (d, w))| same(c, d) && same(v, w))
                    && match (x, y) {
                        (Some(x), Some(y)) => same(x, y),
                        (None, None) => true,
                        _ => false,
                    }
            }
            _ => false,
        })
}
