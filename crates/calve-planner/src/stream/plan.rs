//! From relations to operators.

use std::collections::BTreeSet;

use calve_stream::join::JoinKind;
use calve_types::{Error, Result, Span};

use super::mode::source_kinds;
use super::top::top_n;
use super::window::in_time;
use super::{Kinds, Node, NodeKind, On, call, columns, refused, subquery};
use crate::bind::walk::{self, conjuncts};
use crate::expr::{Expr, ExprKind, OverCall, OverFunction};
use crate::rel::{self, Rel, RelKind, SetOpKind};

/// The operators of a bound query in streaming mode.
///
/// # Errors
/// `not-supported` for what cannot be done with rows that change.
pub fn plan(rel: &Rel) -> Result<Node> {
    let node = build(rel, None)?;
    let mut ordered = rel;
    while let RelKind::Project { input, .. } = &ordered.kind {
        ordered = input;
    }
    if let RelKind::Sort { keys, .. } = &ordered.kind
        && node.changes()
    {
        let place = keys.first().map(|key| key.expr.span).unwrap_or_default();
        return Err(refused("ORDER BY of rows that change, without LIMIT", place));
    }
    Ok(node)
}

/// The node of a relation; `needed` are the columns that are looked at, all without it.
pub(super) fn build(rel: &Rel, needed: Option<&BTreeSet<usize>>) -> Result<Node> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let node = kind(rel, needed)?;
        Ok(if node.changes() { node } else { rows(rel, node.kinds) })
    })
}

/// A relation whose rows are only added.
fn rows(rel: &Rel, kinds: Kinds) -> Node {
    Node::new(NodeKind::Rows(Box::new(rel.clone())), rel.fields.clone(), kinds)
}

fn kind(rel: &Rel, needed: Option<&BTreeSet<usize>>) -> Result<Node> {
    let fields = rel.fields.clone();
    Ok(match &rel.kind {
        RelKind::Scan { table, .. } => match source_kinds(table) {
            Kinds::INSERTS => rows(rel, Kinds::INSERTS),
            kinds => Node::new(NodeKind::Scan(Box::new(rel.clone())), fields, kinds),
        },
        RelKind::Values(values) => {
            let with_query = values.iter().flatten().find(|e| !plain(e));
            match with_query {
                Some(e) => return Err(refused("a subquery in VALUES", e.span)),
                None => rows(rel, Kinds::INSERTS),
            }
        }
        RelKind::Project { input, exprs } => {
            let used = used_by(exprs.iter().enumerate().filter(|(i, _)| looked_at(needed, *i)).map(|(_, e)| e));
            let input = build(input, Some(&used))?;
            let (input, exprs) = subquery::joined_to(input, exprs.clone())?;
            let kinds = input.kinds;
            Node::new(NodeKind::Project { input: Box::new(input), exprs }, fields, kinds)
        }
        RelKind::Filter { input, predicate } => {
            if let Some(top) = top_n(rel, needed)? {
                return Ok(top);
            }
            let all;
            let needed = match needed {
                None => None,
                Some(needed) => {
                    all = needed.union(&used_by(std::iter::once(predicate))).copied().collect();
                    Some(&all)
                }
            };
            subquery::filtered(build(input, needed)?, predicate)?
        }
        RelKind::Unnest { input, collection, outer, ordinality } => {
            same_without_subqueries(std::iter::once(collection.as_ref()), "a subquery in UNNEST")?;
            let input = build(input, None)?;
            let kinds = input.kinds;
            let kind = NodeKind::Unnest {
                input: Box::new(input),
                collection: collection.as_ref().clone(),
                outer: *outer,
                ordinality: *ordinality,
            };
            Node::new(kind, fields, kinds)
        }
        RelKind::Expand { input, keys, sets } => {
            same_without_subqueries(keys.iter(), "a subquery in GROUP BY")?;
            let input = build(input, None)?;
            let kinds = input.kinds;
            let kind = NodeKind::Expand { input: Box::new(input), keys: keys.clone(), sets: sets.clone() };
            Node::new(kind, fields, kinds)
        }
        RelKind::Join { left, right, kind, condition } => join(rel, left, right, *kind, condition.as_ref())?,
        RelKind::Correlate { left, right, kind, condition } => {
            let inner = *kind == rel::JoinKind::Inner;
            let place = condition.as_ref().map(|c| c.span).unwrap_or_default();
            if !inner || build(left, None)?.changes() || build(right, None)?.changes() {
                return Err(refused("LATERAL with rows that change", place));
            }
            rows(rel, Kinds::INSERTS)
        }
        RelKind::Watermark { input, column, shown, .. } => {
            let node = build(input, None)?;
            match node.changes() {
                false => rows(rel, Kinds::INSERTS),
                true if *shown => return Err(refused("a watermark of rows that change", Span::default())),
                true => {
                    let kinds = node.kinds;
                    Node::new(NodeKind::Timed { input: Box::new(node), time: *column }, fields, kinds)
                }
            }
        }
        RelKind::Match(matching) => only_added(rel, &[&matching.input], "a pattern of rows that change")?,
        RelKind::InTime { input, .. } => only_added(rel, &[input], "rows in time of rows that change")?,
        RelKind::Windows { input, .. } => only_added(rel, &[input], "windows of rows that change")?,
        RelKind::Temporal { left, right, .. } => {
            only_added(rel, &[left, right], "a temporal join of rows that change")?
        }
        RelKind::Aggregate { input, groups, calls } => {
            let parts = || groups.iter().chain(calls.iter().flat_map(|c| c.args.iter().chain(&c.filter)));
            same_without_subqueries(parts(), "a subquery in an aggregate")?;
            let window = rel.is_window_aggregate();
            let node = build(input, Some(&used_by(parts())))?;
            if window {
                if node.changes() {
                    return Err(refused(
                        "windows of rows that change",
                        calls.first().map(|c| c.span).unwrap_or_default(),
                    ));
                }
                return Ok(rows(rel, Kinds::INSERTS));
            }
            let kinds = node.kinds.aggregated();
            let kind = NodeKind::Aggregate { input: Box::new(node), groups: groups.clone(), calls: calls.clone() };
            Node::new(kind, fields, kinds)
        }
        RelKind::Over { input, calls } => {
            let place = calls.first().map(|c| c.span).unwrap_or_default();
            same_without_subqueries(calls.iter().flat_map(walk::over_exprs), "a subquery in OVER")?;
            let node = build(input, None)?;
            let timed = calls.iter().flat_map(|c| &c.order).any(|key| match key.expr.kind {
                ExprKind::Column(i) => input.time(i).is_some(),
                _ => false,
            });
            match (timed, node.changes()) {
                (true, false) => return Ok(rows(rel, node.kinds)),
                (true, true) => return Err(refused("OVER windows in time of rows that change", place)),
                _ => {}
            }
            let ordered = |c: &&OverCall| matches!(c.function, OverFunction::Aggregate(_)) && c.order.len() == 1;
            if let Some(call) = calls.iter().find(|c| !ordered(c)) {
                let what = match call.order.len() {
                    0 | 1 => "a column that is no time attribute",
                    _ => "more than one column",
                };
                return Err(refused(&format!("{} over a window in the order of {what}", call.function.name()), place));
            }
            Node::new(NodeKind::Over { input: Box::new(node), calls: calls.clone() }, fields, Kinds::ALL)
        }
        RelKind::Distinct(input) => distinct(build(input, None)?).named(&fields),
        RelKind::SetOp { kind, all, .. } => set_op(rel, *kind, *all)?,
        // An order means nothing to a stream without a LIMIT.
        RelKind::Sort { input, keys } => {
            same_without_subqueries(keys.iter().map(|k| &k.expr), "a subquery in ORDER BY")?;
            build(input, needed)?
        }
        RelKind::Limit { input, offset, fetch } => limit(rel, input, *offset, *fetch)?,
    })
}

/// Whether an expression is free of subqueries.
pub(super) fn plain(expr: &Expr) -> bool {
    !walk::has_subquery(expr)
}

fn looked_at(needed: Option<&BTreeSet<usize>>, column: usize) -> bool {
    needed.is_none_or(|needed| needed.contains(&column))
}

/// The columns that expressions look at.
pub(super) fn used_by<'e>(exprs: impl Iterator<Item = &'e Expr>) -> BTreeSet<usize> {
    let mut used = BTreeSet::new();
    for expr in exprs {
        walk::any(expr, &mut |e| {
            if let ExprKind::Column(i) = e.kind {
                used.insert(i);
            }
            if let ExprKind::Subquery { query, .. } = &e.kind {
                let mut query = query.as_ref().clone();
                // an error cannot come of a closure that gives none
                let _ = walk::outer_columns_mut(&mut query, &mut |depth, outer| {
                    if let (1, ExprKind::Outer { index, .. }) = (depth, &outer.kind) {
                        used.insert(*index);
                    }
                    Ok(())
                });
            }
            false
        });
    }
    used
}

/// Whether an expression looks at a column.
pub(super) fn needs(expr: &Expr, column: usize) -> bool {
    walk::any(expr, &mut |e| matches!(e.kind, ExprKind::Column(i) if i == column))
}

fn same_without_subqueries<'e>(mut exprs: impl Iterator<Item = &'e Expr>, feature: &str) -> Result<()> {
    match exprs.find(|e| !plain(e)) {
        Some(e) => Err(refused(feature, e.span)),
        None => Ok(()),
    }
}

/// A relation that gives its rows once, of inputs whose rows are only added.
fn only_added(rel: &Rel, inputs: &[&Rel], feature: &str) -> Result<Node> {
    for input in inputs {
        if build(input, None)?.changes() {
            return Err(refused(feature, Span::default()));
        }
    }
    Ok(rows(rel, Kinds::INSERTS))
}

/// All conditions at once.
pub(super) fn all_and(parts: Vec<Expr>) -> Result<Option<Expr>> {
    let mut parts = parts.into_iter();
    let Some(first) = parts.next() else { return Ok(None) };
    parts.try_fold(first, |all, part| call("AND", vec![all, part])).map(Some)
}

fn join(rel: &Rel, left: &Rel, right: &Rel, kind: rel::JoinKind, condition: Option<&Expr>) -> Result<Node> {
    let (l, r) = (build(left, None)?, build(right, None)?);
    if let Some(condition) = condition
        && !plain(condition)
    {
        if kind != rel::JoinKind::Inner {
            return Err(Error::unsupported("subqueries in the ON of an outer join").at(condition.span));
        }
        let pairs = joined_nodes(l, r, JoinKind::Inner, vec![], None);
        return subquery::filtered(pairs, condition);
    }
    let added = !l.changes() && !r.changes();
    if added && condition.is_some_and(|c| in_time(left, right, c)) {
        // these rows come once, when time has passed
        return Ok(rows(rel, Kinds::INSERTS));
    }
    let kind = match kind {
        rel::JoinKind::Inner => JoinKind::Inner,
        rel::JoinKind::Left => JoinKind::Left,
        rel::JoinKind::Right => JoinKind::Right,
        rel::JoinKind::Full => JoinKind::Full,
    };
    let width = left.fields.len();
    let (on, rest) = keys(condition.map(|c| conjuncts(c).into_iter().cloned().collect()).unwrap_or_default(), width);
    let rest = all_and(rest)?;
    Ok(joined_nodes(l, r, kind, on, rest).named(&rel.fields))
}

/// The join of two nodes.
pub(super) fn joined_nodes(left: Node, right: Node, kind: JoinKind, on: Vec<On>, condition: Option<Expr>) -> Node {
    let mut fields = left.fields.clone();
    if !kind.left_only() {
        fields.extend(right.fields.iter().cloned());
    }
    let kinds = match kind {
        JoinKind::Inner | JoinKind::Semi => left.kinds.union(right.kinds),
        _ => Kinds::ALL,
    };
    let kind = NodeKind::Join { left: Box::new(left), right: Box::new(right), kind, on, condition };
    Node::new(kind, fields, kinds)
}

/// The equalities of both sides among a join's conditions, and the others.
pub(super) fn keys(parts: Vec<Expr>, width: usize) -> (Vec<On>, Vec<Expr>) {
    let mut on = vec![];
    let mut rest = vec![];
    for part in parts {
        match &part.kind {
            ExprKind::Call { function, args } if matches!(function.name, "=" | "IS NOT DISTINCT FROM") => {
                let null_safe = function.name != "=";
                match args.as_slice() {
                    [a, b] if comparable(a, b) => match (side(a, width), side(b, width)) {
                        (Some(0), Some(1)) => on.push(On { left: a.clone(), right: shifted(b, width), null_safe }),
                        (Some(1), Some(0)) => on.push(On { left: b.clone(), right: shifted(a, width), null_safe }),
                        _ => rest.push(part),
                    },
                    _ => rest.push(part),
                }
            }
            _ => rest.push(part),
        }
    }
    (on, rest)
}

/// Whether the two are compared by their bytes as keys of a join: FLOAT and DOUBLE too, as in Flink, for which NaN is then
/// NaN and 0.0 is not -0.0.
fn comparable(a: &Expr, b: &Expr) -> bool {
    let (a, b) = (&a.data_type.logical, &b.data_type.logical);
    let same = a == b || a.is_character() && b.is_character();
    same && !a.is_constructed()
}

/// Which side of a join an expression looks at; `None` for both and for neither.
fn side(expr: &Expr, width: usize) -> Option<usize> {
    let used = used_by(std::iter::once(expr));
    let right = used.iter().filter(|c| **c >= width).count();
    match (used.len(), right) {
        (0, _) => None,
        (_, 0) => Some(0),
        (all, right) if all == right => Some(1),
        _ => None,
    }
}

/// An expression over a join's fields as one over those of the right side.
fn shifted(expr: &Expr, width: usize) -> Expr {
    let mut expr = expr.clone();
    shift(&mut expr, width);
    expr
}

fn shift(expr: &mut Expr, width: usize) {
    if let ExprKind::Column(i) = &mut expr.kind {
        *i = i.saturating_sub(width);
    }
    walk::for_children_mut(expr, &mut |child| shift(child, width));
}

/// Rows without duplicates.
fn distinct(input: Node) -> Node {
    let (fields, kinds) = (input.fields.clone(), input.kinds.aggregated());
    let groups = columns(&fields);
    Node::new(NodeKind::Aggregate { input: Box::new(input), groups, calls: vec![] }, fields, kinds)
}

fn set_op(rel: &Rel, kind: SetOpKind, all: bool) -> Result<Node> {
    let fields = &rel.fields;
    if kind == SetOpKind::Union {
        let mut inputs = vec![];
        let mut chain = rel;
        while let RelKind::SetOp { left, right, kind: SetOpKind::Union, all: inner } = &chain.kind
            && (*inner || !all)
        {
            inputs.push(right.as_ref());
            chain = left;
        }
        inputs.push(chain);
        let nodes = inputs.into_iter().rev().map(|input| build(input, None)).collect::<Result<Vec<_>>>()?;
        let kinds = nodes.iter().fold(Kinds::INSERTS, |kinds, node| kinds.union(node.kinds));
        let union = Node::new(NodeKind::UnionAll(nodes), fields.clone(), kinds);
        return Ok(if all { union } else { distinct(union) });
    }
    let RelKind::SetOp { left, right, .. } = &rel.kind else { return Err(Error::internal("no set operation")) };
    let (left, right) = (build(left, None)?, build(right, None)?);
    let except = kind == SetOpKind::Except;
    if all {
        let kind = NodeKind::SetAll { left: Box::new(left), right: Box::new(right), except };
        return Ok(Node::new(kind, fields.clone(), Kinds::ALL));
    }
    let on = columns(&left.fields).into_iter().zip(columns(&right.fields));
    let on = on.map(|(left, right)| On { left, right, null_safe: true }).collect();
    let kind = if except { JoinKind::Anti } else { JoinKind::Semi };
    Ok(distinct(joined_nodes(left, right, kind, on, None)).named(fields))
}

fn limit(rel: &Rel, input: &Rel, offset: u64, fetch: Option<u64>) -> Result<Node> {
    let (input, order) = match &input.kind {
        RelKind::Sort { input, keys } => (input.as_ref(), keys.clone()),
        _ => (input, vec![]),
    };
    same_without_subqueries(order.iter().map(|k| &k.expr), "a subquery in ORDER BY")?;
    let node = build(input, None)?;
    let Some(fetch) = fetch else {
        return Err(refused("OFFSET without LIMIT", Span::default()));
    };
    let kinds = if order.is_empty() && !node.changes() { node.kinds } else { Kinds::ALL };
    let kind = NodeKind::TopN {
        input: Box::new(node),
        partition: vec![],
        order,
        start: offset.saturating_add(1),
        end: offset.saturating_add(fetch),
        numbered: false,
    };
    Ok(Node::new(kind, rel.fields.clone(), kinds))
}
