//! Going through expressions and relations.

use calve_types::{DataType, Result, Span};

use super::nested;
use crate::expr::{Expr, ExprKind, OverCall, SubqueryKind};
use crate::rel::{Rel, RelKind};

/// The expressions directly inside of an expression, those inside of a subquery's query not among them.
pub(crate) fn children(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Column(_) | ExprKind::Outer { .. } => vec![],
        ExprKind::Call { args, .. } => args.iter().collect(),
        ExprKind::Cast { expr, .. } | ExprKind::Field { expr, .. } => vec![expr],
        ExprKind::Case { branches, otherwise } => {
            branches.iter().flat_map(|(when, then)| [when, then]).chain(otherwise.as_deref()).collect()
        }
        ExprKind::Over(call) => over_exprs(call).collect(),
        ExprKind::Subquery { kind: SubqueryKind::In { expr, .. }, .. } => vec![expr],
        ExprKind::Subquery { .. } => vec![],
    }
}

/// The expressions of a call over a window.
pub(crate) fn over_exprs(call: &OverCall) -> impl Iterator<Item = &Expr> + Clone {
    call.args.iter().chain(&call.partition).chain(call.order.iter().map(|key| &key.expr))
}

/// Whether an expression, or one inside of it but not inside of a subquery's query, is such a one.
pub(crate) fn any(expr: &Expr, is: &mut dyn FnMut(&Expr) -> bool) -> bool {
    is(expr) || nested(|| children(expr).into_iter().any(|child| any(child, is)))
}

/// The parts of a conjunction.
pub(crate) fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    let mut parts = vec![];
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Call { function, args } if function.name == "AND" => open.extend(args.iter().rev()),
            _ => parts.push(expr),
        }
    }
    parts
}

/// Whether an expression contains a query.
pub(crate) fn has_subquery(expr: &Expr) -> bool {
    any(expr, &mut |e| matches!(e.kind, ExprKind::Subquery { .. }))
}

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
        ExprKind::Over(call) => over_expressions_mut(call, f),
        ExprKind::Subquery { kind: SubqueryKind::In { expr, .. }, .. } => f(expr),
        ExprKind::Subquery { .. } => Ok(()),
    }
}

/// As [`children_mut`], for what cannot fail.
pub(crate) fn for_children_mut(expr: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    let done = children_mut(expr, &mut |child| {
        f(child);
        Ok(())
    });
    debug_assert!(done.is_ok());
}

fn over_expressions_mut(call: &mut OverCall, f: &mut dyn FnMut(&mut Expr) -> Result<()>) -> Result<()> {
    let keys = call.order.iter_mut().map(|key| &mut key.expr);
    call.args.iter_mut().chain(&mut call.partition).chain(keys).try_for_each(f)
}

/// The relations directly below.
pub(super) fn inputs(rel: &Rel) -> Vec<&Rel> {
    match &rel.kind {
        RelKind::Scan { .. } | RelKind::Values(_) => vec![],
        RelKind::Project { input, .. }
        | RelKind::Filter { input, .. }
        | RelKind::Aggregate { input, .. }
        | RelKind::Over { input, .. }
        | RelKind::Unnest { input, .. }
        | RelKind::Expand { input, .. }
        | RelKind::Watermark { input, .. }
        | RelKind::Windows { input, .. }
        | RelKind::InTime { input, .. }
        | RelKind::Distinct(input)
        | RelKind::Sort { input, .. }
        | RelKind::Limit { input, .. } => vec![input],
        RelKind::Match(matching) => vec![&matching.input],
        RelKind::Join { left, right, .. }
        | RelKind::Correlate { left, right, .. }
        | RelKind::Temporal { left, right, .. }
        | RelKind::SetOp { left, right, .. } => vec![left, right],
    }
}

/// Calls `f` on the relations directly below.
pub(super) fn inputs_mut(rel: &mut Rel, f: &mut dyn FnMut(&mut Rel) -> Result<()>) -> Result<()> {
    match &mut rel.kind {
        RelKind::Scan { .. } | RelKind::Values(_) => Ok(()),
        RelKind::Project { input, .. }
        | RelKind::Filter { input, .. }
        | RelKind::Aggregate { input, .. }
        | RelKind::Over { input, .. }
        | RelKind::Unnest { input, .. }
        | RelKind::Expand { input, .. }
        | RelKind::Watermark { input, .. }
        | RelKind::Windows { input, .. }
        | RelKind::InTime { input, .. }
        | RelKind::Distinct(input)
        | RelKind::Sort { input, .. }
        | RelKind::Limit { input, .. } => f(input),
        RelKind::Match(matching) => f(&mut matching.input),
        RelKind::Join { left, right, .. }
        | RelKind::Correlate { left, right, .. }
        | RelKind::Temporal { left, right, .. }
        | RelKind::SetOp { left, right, .. } => {
            f(left)?;
            f(right)
        }
    }
}

/// Calls `f` on the expressions of a relation itself, not of its inputs.
fn own_expressions_mut(rel: &mut Rel, f: &mut dyn FnMut(&mut Expr) -> Result<()>) -> Result<()> {
    match &mut rel.kind {
        RelKind::Scan { .. }
        | RelKind::Windows { .. }
        | RelKind::Distinct(_)
        | RelKind::SetOp { .. }
        | RelKind::Limit { .. } => Ok(()),
        RelKind::Match(matching) => matching.input_exprs_mut().try_for_each(f),
        RelKind::Watermark { expr, .. } => f(expr),
        RelKind::InTime { partition, .. } => partition.iter_mut().try_for_each(f),
        RelKind::Temporal { keys, condition, .. } => {
            keys.iter_mut().map(|(key, _)| key).chain(condition).try_for_each(f)
        }
        RelKind::Values(rows) => rows.iter_mut().flatten().try_for_each(f),
        RelKind::Project { exprs, .. } => exprs.iter_mut().try_for_each(f),
        RelKind::Filter { predicate, .. } => f(predicate),
        RelKind::Unnest { collection, .. } => f(collection),
        RelKind::Join { condition, .. } | RelKind::Correlate { condition, .. } => condition.iter_mut().try_for_each(f),
        RelKind::Expand { keys, .. } => keys.iter_mut().try_for_each(f),
        RelKind::Aggregate { groups, calls, .. } => {
            groups.iter_mut().try_for_each(&mut *f)?;
            calls.iter_mut().flat_map(|call| call.args.iter_mut().chain(&mut call.filter)).try_for_each(f)
        }
        RelKind::Over { calls, .. } => calls.iter_mut().try_for_each(|call| over_expressions_mut(call, f)),
        RelKind::Sort { keys, .. } => keys.iter_mut().try_for_each(|key| f(&mut key.expr)),
    }
}

/// Calls `f` on every [`ExprKind::Outer`] in a subquery that refers to a level outside it, with the depth of that level
/// as seen from the subquery (from 1).
pub(crate) fn outer_columns_mut(rel: &mut Rel, f: &mut dyn FnMut(usize, &mut Expr) -> Result<()>) -> Result<()> {
    in_relation(rel, 0, f)
}

/// Whether a query computes functions over windows of rows that depend on enclosing queries.
pub(super) fn windows_of_correlated(rel: &mut Rel) -> Result<bool> {
    nested(|| {
        if let RelKind::Over { input, .. } = &mut rel.kind {
            let mut depends = false;
            outer_columns_mut(input, &mut |_, _| {
                depends = true;
                Ok(())
            })?;
            if depends {
                return Ok(true);
            }
        }
        let mut found = false;
        inputs_mut(rel, &mut |input| {
            found |= windows_of_correlated(input)?;
            Ok(())
        })?;
        Ok(found)
    })
}

fn in_relation(rel: &mut Rel, below: usize, f: &mut dyn FnMut(usize, &mut Expr) -> Result<()>) -> Result<()> {
    nested(|| {
        own_expressions_mut(rel, &mut |expr| in_expression(expr, below, f))?;
        if let RelKind::Correlate { left, right, .. } = &mut rel.kind {
            in_relation(left, below, f)?;
            return in_relation(right, below + 1, f);
        }
        inputs_mut(rel, &mut |input| in_relation(input, below, f))
    })
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

/// Gives an expression, and all inside of it, the place of what stands for it in the statement.
pub(super) fn place(expr: &mut Expr, span: Span) -> Result<()> {
    nested(|| {
        expr.span = span;
        if let ExprKind::Subquery { query, .. } = &mut expr.kind {
            place_relation(query, span)?;
        }
        children_mut(expr, &mut |child| place(child, span))
    })
}

/// As [`place`], for a relation and all inside of it.
pub(super) fn place_relation(rel: &mut Rel, span: Span) -> Result<()> {
    nested(|| {
        match &mut rel.kind {
            RelKind::Scan { span: scan, .. } => *scan = span,
            RelKind::Aggregate { calls, .. } => calls.iter_mut().for_each(|call| call.span = span),
            RelKind::Over { calls, .. } => calls.iter_mut().for_each(|call| call.span = span),
            _ => {}
        }
        inputs_mut(rel, &mut |input| place_relation(input, span))?;
        own_expressions_mut(rel, &mut |expr| place(expr, span))
    })
}

/// Whether two expressions are the same but for where they were written. Subqueries never are.
pub(super) fn same(a: &Expr, b: &Expr) -> bool {
    alike(a, b, &|a, b| a == b)
}

/// As [`same`], whatever the types say of NULLs: a key of several grouping sets is seen as nullable.
pub(super) fn same_but_for_nulls(a: &Expr, b: &Expr) -> bool {
    alike(a, b, &|a, b| a.logical == b.logical)
}

fn alike(a: &Expr, b: &Expr, types: &dyn Fn(&DataType, &DataType) -> bool) -> bool {
    let same = |a: &Expr, b: &Expr| alike(a, b, types);
    let all = |a: &[Expr], b: &[Expr]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b));
    types(&a.data_type, &b.data_type)
        && nested(|| match (&a.kind, &b.kind) {
            (ExprKind::Literal(a), ExprKind::Literal(b)) => a == b,
            (ExprKind::Column(a), ExprKind::Column(b)) => a == b,
            (ExprKind::Outer { depth: a, index: i }, ExprKind::Outer { depth: b, index: j }) => a == b && i == j,
            (ExprKind::Call { function: f, args: a }, ExprKind::Call { function: g, args: b }) => {
                std::ptr::eq(*f, *g) && all(a, b)
            }
            (ExprKind::Over(a), ExprKind::Over(b)) => same_over(a, b),
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

/// Whether two calls over windows are the same but for where they were written.
pub(super) fn same_over(a: &OverCall, b: &OverCall) -> bool {
    let all = |a: &[Expr], b: &[Expr]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b));
    a.function == b.function
        && a.distinct == b.distinct
        && a.frame == b.frame
        && all(&a.args, &b.args)
        && same_window(a, b)
}

/// Whether two calls have the same partitions in the same order.
pub(super) fn same_window(a: &OverCall, b: &OverCall) -> bool {
    a.partition.len() == b.partition.len()
        && a.partition.iter().zip(&b.partition).all(|(a, b)| same(a, b))
        && a.order.len() == b.order.len()
        && a.order
            .iter()
            .zip(&b.order)
            .all(|(a, b)| a.descending == b.descending && a.nulls_first == b.nulls_first && same(&a.expr, &b.expr))
}
