//! Subqueries as joins.

use calve_stream::join::JoinKind;
use calve_types::{DataType, Error, LogicalType, Result, Span, Value};

use super::plan::{all_and, build, joined_nodes, keys, plain};
use super::top::substituted;
use super::{Kinds, Node, NodeKind, column, columns, refused};
use crate::bind::walk::{self, conjuncts};
use crate::expr::{AggregateCall, Expr, ExprKind, SubqueryKind};
use crate::rel::{Field, Rel, RelKind};

/// A filter whose conditions may have subqueries.
pub(super) fn filtered(input: Node, predicate: &Expr) -> Result<Node> {
    let fields = input.fields.clone();
    let mut node = input;
    let mut rest = vec![];
    let (with, plain): (Vec<&Expr>, Vec<&Expr>) = conjuncts(predicate).into_iter().partition(|part| !plain(part));
    if let Some(condition) = all_and(plain.into_iter().cloned().collect())? {
        node = filter(node, condition);
    }
    for part in with {
        node = match semi_join(node, part)? {
            Ok(joined) => joined,
            Err(same) => {
                rest.push(part.clone());
                same
            }
        };
    }
    if rest.is_empty() {
        return Ok(node);
    }
    // a comparison with NULL lets nothing through: then rows without a value need not be there
    let strict = rest.iter().all(|part| is_strict(part) && lacks_value_of_nothing(part));
    let (node, rest) = joined_values(node, rest, if strict { JoinKind::Inner } else { JoinKind::Left })?;
    let Some(condition) = all_and(rest)? else { return Ok(node) };
    let node = filter(node, condition);
    Ok(project(node, columns(&fields), fields))
}

/// Expressions without subqueries, over the input with their values behind its fields.
pub(super) fn joined_to(input: Node, exprs: Vec<Expr>) -> Result<(Node, Vec<Expr>)> {
    if exprs.iter().all(plain) {
        return Ok((input, exprs));
    }
    joined_values(input, exprs, JoinKind::Left)
}

fn filter(input: Node, predicate: Expr) -> Node {
    let (fields, kinds) = (input.fields.clone(), input.kinds);
    Node::new(NodeKind::Filter { input: Box::new(input), predicate }, fields, kinds)
}

fn project(input: Node, exprs: Vec<Expr>, fields: Vec<Field>) -> Node {
    let kinds = input.kinds;
    Node::new(NodeKind::Project { input: Box::new(input), exprs }, fields, kinds)
}

fn is_strict(part: &Expr) -> bool {
    match &part.kind {
        ExprKind::Call { function, args } if matches!(function.name, "=" | "<>" | "<" | "<=" | ">" | ">=") => {
            args.iter().all(|arg| {
                !walk::any(arg, &mut |e| {
                    !matches!(&e.kind, ExprKind::Column(_) | ExprKind::Literal(_) | ExprKind::Cast { .. })
                        && !matches!(&e.kind, ExprKind::Subquery { kind: SubqueryKind::Scalar, .. })
                        && !matches!(&e.kind, ExprKind::Call { function, .. } if matches!(function.name, "+" | "-" | "*" | "/"))
                })
            })
        }
        _ => false,
    }
}

/// Whether each scalar subquery of an expression is NULL for a row for which it finds nothing: then such a row need not be
/// there to be compared. COUNT is 0.
fn lacks_value_of_nothing(expr: &Expr) -> bool {
    !walk::any(expr, &mut |e| match &e.kind {
        ExprKind::Subquery { query, .. } => refers(query) && !is_null_of_nothing(query),
        _ => false,
    })
}

fn is_null_of_nothing(query: &Rel) -> bool {
    let mut rel = query;
    let mut strict = true;
    while let RelKind::Project { input, exprs } = &rel.kind {
        strict &= exprs.iter().all(|e| {
            let is_other = |e: &Expr| match &e.kind {
                ExprKind::Column(_) | ExprKind::Cast { .. } => false,
                ExprKind::Call { function, .. } => !matches!(function.name, "+" | "-" | "*" | "/"),
                _ => true,
            };
            !walk::any(e, &mut |e| is_other(e))
        });
        rel = input;
    }
    match &rel.kind {
        RelKind::Aggregate { groups, calls, .. } if groups.is_empty() => {
            strict && calls.iter().all(|call| call.function.name != "COUNT")
        }
        _ => strict,
    }
}

/// Aggregates that are NULL of no rows.
const NULL_OF_NOTHING: &[&str] = &[
    "SUM",
    "AVG",
    "MIN",
    "MAX",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "STDDEV",
    "VAR_POP",
    "VAR_SAMP",
    "VARIANCE",
    "LISTAGG",
    "FIRST_VALUE",
    "LAST_VALUE",
];

/// `[NOT] EXISTS` and `[NOT] IN` as joins; the node itself if the condition is another one.
fn semi_join(node: Node, part: &Expr) -> Result<std::result::Result<Node, Node>> {
    let (inner, not) = match &part.kind {
        ExprKind::Call { function, args } if function.name == "NOT" && args.len() == 1 => {
            (args.first().unwrap_or(part), true)
        }
        _ => (part, false),
    };
    let ExprKind::Subquery { kind, query } = &inner.kind else { return Ok(Err(node)) };
    let (value, negated) = match kind {
        SubqueryKind::Scalar => return Ok(Err(node)),
        SubqueryKind::Exists { negated } => (None, *negated ^ not),
        SubqueryKind::In { expr, negated } => (Some(expr), *negated ^ not),
    };
    let width = node.fields.len();
    let pulled = pull(query, width).ok_or_else(|| correlated(inner.span))?;
    let mut conditions = pulled.conditions;
    if let Some(value) = value {
        let (false, [only]) = (value.data_type.logical.is_constructed(), pulled.columns.as_slice()) else {
            return Err(refused("IN over rows", inner.span));
        };
        if !plain(value) {
            return Err(refused("a subquery inside of IN", inner.span));
        }
        let equal = super::call("=", vec![value.as_ref().clone(), moved(only.clone(), width)])?;
        conditions.push(match negated && (value.data_type.nullable || only.data_type.nullable) {
            // unknown is not known to be different
            true => super::call("IS NOT FALSE", vec![equal])?,
            false => equal,
        });
    }
    let right = build(&pulled.rows, None)?;
    let (on, rest) = keys(conditions, width);
    let kind = if negated { JoinKind::Anti } else { JoinKind::Semi };
    Ok(Ok(joined_nodes(node, right, kind, on, all_and(rest)?)))
}

fn correlated(place: Span) -> Error {
    refused("this correlated subquery", place)
}

/// The rows of a subquery without what refers to the enclosing query.
struct Pulled {
    rows: Rel,
    /// Conditions over the enclosing query's fields followed by those of the rows.
    conditions: Vec<Expr>,
    /// The subquery's columns over the rows.
    columns: Vec<Expr>,
}

/// Takes what refers to the enclosing query out of the filters of a subquery; `None` if it is elsewhere.
fn pull(query: &Rel, width: usize) -> Option<Pulled> {
    if !refers(query) {
        return Some(Pulled { rows: query.clone(), conditions: vec![], columns: columns(&query.fields) });
    }
    match &query.kind {
        RelKind::Project { input, exprs } => {
            let below = pull(input, width)?;
            if exprs.iter().any(|e| refers_expr(e) || !plain(e)) {
                return None;
            }
            let columns = exprs.iter().map(|e| substituted(e.clone(), &below.columns)).collect();
            Some(Pulled { columns, ..below })
        }
        RelKind::Filter { input, predicate } => {
            let mut below = pull(input, width)?;
            let mut inside = vec![];
            for part in conjuncts(predicate) {
                if refers_expr(part) {
                    if !plain(part) {
                        return None;
                    }
                    let columns: Vec<Expr> = below.columns.iter().map(|c| moved(c.clone(), width)).collect();
                    below.conditions.push(outer_to_columns(substituted(part.clone(), &columns))?);
                } else {
                    inside.push(substituted(part.clone(), &below.columns));
                }
            }
            if let Some(predicate) = all_and(inside).ok()? {
                let fields = below.rows.fields.clone();
                below.rows = Rel { kind: RelKind::Filter { input: Box::new(below.rows), predicate }, fields };
            }
            Some(below)
        }
        RelKind::Distinct(input) => pull(input, width),
        _ => None,
    }
}

/// The expression over fields that stand `width` places further back.
fn moved(mut expr: Expr, width: usize) -> Expr {
    if let ExprKind::Column(i) = &mut expr.kind {
        *i = i.saturating_add(width);
    }
    walk::for_children_mut(&mut expr, &mut |child| *child = moved(child.clone(), width));
    expr
}

/// The enclosing query's fields as columns; `None` if there are fields of queries further out.
fn outer_to_columns(mut expr: Expr) -> Option<Expr> {
    if let ExprKind::Outer { depth, index } = expr.kind {
        return (depth == 1).then(|| Expr { kind: ExprKind::Column(index), ..expr });
    }
    let mut fits = true;
    walk::for_children_mut(&mut expr, &mut |child| match outer_to_columns(child.clone()) {
        Some(new) => *child = new,
        None => fits = false,
    });
    fits.then_some(expr)
}

/// Whether a query refers to queries around it.
fn refers(query: &Rel) -> bool {
    let mut found = false;
    let mut query = query.clone();
    let _ = walk::outer_columns_mut(&mut query, &mut |_, _| {
        found = true;
        Ok(())
    });
    found
}

fn refers_expr(expr: &Expr) -> bool {
    walk::any(expr, &mut |e| match &e.kind {
        ExprKind::Outer { .. } => true,
        ExprKind::Subquery { query, .. } => refers(query),
        _ => false,
    })
}

/// Scalar subqueries joined to the input, and the expressions with their values instead.
fn joined_values(mut node: Node, mut exprs: Vec<Expr>, kind: JoinKind) -> Result<(Node, Vec<Expr>)> {
    for expr in &mut exprs {
        node = join_values_of(node, expr, kind)?;
    }
    Ok((node, exprs))
}

fn join_values_of(mut node: Node, expr: &mut Expr, kind: JoinKind) -> Result<Node> {
    if let ExprKind::Subquery { kind: used, query } = &expr.kind {
        let SubqueryKind::Scalar = used else {
            return Err(refused("IN and EXISTS as a value", expr.span));
        };
        let (joined, value) = scalar(node, query, kind, expr.span)?;
        *expr = Expr { span: expr.span, data_type: expr.data_type.clone(), ..value };
        return Ok(joined);
    }
    let mut failed = None;
    let mut held = Some(node);
    walk::for_children_mut(expr, &mut |child| {
        if let Some(node) = held.take() {
            match join_values_of(node, child, kind) {
                Ok(joined) => held = Some(joined),
                Err(error) => failed = Some(error),
            }
        }
    });
    node = match (held, failed) {
        (Some(node), None) => node,
        (_, Some(error)) => return Err(error),
        (None, None) => return Err(Error::internal("an expression without its input")),
    };
    Ok(node)
}

/// One value for each row of the input.
fn scalar(node: Node, query: &Rel, kind: JoinKind, place: Span) -> Result<(Node, Expr)> {
    let width = node.fields.len();
    if !refers(query) {
        let mut right = build(query, None)?;
        if !gives_one_row(query) {
            right = single(right, vec![])?;
        }
        let (index, data_type) = last(&right)?;
        let value = column(width + index, &data_type.with_nullable(true));
        return Ok((joined_nodes(node, right, kind, vec![], None), value));
    }
    // f(aggregates) of the rows whose columns equal fields of the enclosing query: grouped by those columns
    let mut projections = vec![];
    let mut rel = query;
    while let RelKind::Project { input, exprs } = &rel.kind {
        if exprs.iter().any(|e| refers_expr(e) || !plain(e)) {
            return Err(correlated(place));
        }
        projections.push(exprs);
        rel = input;
    }
    let (pulled, calls) = match &rel.kind {
        RelKind::Aggregate { input, groups, calls } if groups.is_empty() => {
            // COUNT of nothing is put in place below
            let is_known = |name: &str| name == "COUNT" || NULL_OF_NOTHING.contains(&name);
            if calls.iter().any(|call| !is_known(call.function.name)) {
                return Err(correlated(place));
            }
            let mut parts = calls.iter().flat_map(|c| c.args.iter().chain(&c.filter));
            if parts.any(|e| refers_expr(e) || !plain(e)) {
                return Err(correlated(place));
            }
            (pull(input, width).ok_or_else(|| correlated(place))?, Some(calls))
        }
        _ => {
            projections.clear();
            (pull(query, width).ok_or_else(|| correlated(place))?, None)
        }
    };
    let (on, rest) = keys(pulled.conditions, width);
    if !rest.is_empty() || on.iter().any(|on| on.null_safe) {
        return Err(correlated(place));
    }
    let groups: Vec<Expr> = on.iter().map(|on| on.right.clone()).collect();
    let rows = build(&pulled.rows, None)?;
    let calls = match calls {
        Some(calls) => calls
            .iter()
            .map(|call| AggregateCall {
                args: call.args.iter().map(|e| substituted(e.clone(), &pulled.columns)).collect(),
                filter: call.filter.clone().map(|e| substituted(e, &pulled.columns)),
                ..call.clone()
            })
            .collect(),
        None => {
            let value = pulled.columns.first().ok_or_else(|| Error::internal("a scalar subquery without a column"))?;
            vec![single_value(value.clone())?]
        }
    };
    let grouped = aggregate(rows, groups, calls.clone());
    let count = on.len();
    let on =
        on.into_iter().enumerate().map(|(i, on)| super::On { right: column(i, &on.right.data_type), ..on }).collect();
    let joined = joined_nodes(node, grouped, kind, on, None);
    let mut values: Vec<Expr> = vec![];
    for (i, call) in calls.iter().enumerate() {
        let value = column(width + count + i, &call.data_type.with_nullable(true));
        values.push(if call.function.name == "COUNT" { zero_for_none(value)? } else { value });
    }
    for exprs in projections.into_iter().rev() {
        values = exprs.iter().map(|e| substituted(e.clone(), &values)).collect();
    }
    let value = values.into_iter().next().ok_or_else(|| Error::internal("a scalar subquery without a column"))?;
    Ok((joined, value))
}

/// COUNT of no rows.
fn zero_for_none(value: Expr) -> Result<Expr> {
    let zero = Expr {
        kind: ExprKind::Literal(Value::Int(0)),
        data_type: LogicalType::BigInt.not_null(),
        span: Span::default(),
    };
    let is_null = super::call("IS NULL", vec![value.clone()])?;
    let data_type: DataType = value.data_type.clone();
    Ok(Expr {
        kind: ExprKind::Case {
            branches: vec![(is_null, Expr { data_type: data_type.clone(), ..zero })],
            otherwise: Some(Box::new(value)),
        },
        data_type,
        span: Span::default(),
    })
}

fn last(node: &Node) -> Result<(usize, DataType)> {
    let field = node.fields.last().ok_or_else(|| Error::internal("a subquery without a column"))?;
    Ok((node.fields.len() - 1, field.data_type.clone()))
}

/// Whether a query gives exactly one row, however few rows it reads.
fn gives_one_row(query: &Rel) -> bool {
    match &query.kind {
        RelKind::Project { input, .. } => gives_one_row(input),
        RelKind::Aggregate { groups, .. } => groups.is_empty(),
        _ => false,
    }
}

/// The one row of each group; more are an error.
fn single(node: Node, groups: Vec<Expr>) -> Result<Node> {
    let field = node.fields.first().ok_or_else(|| Error::internal("a subquery without a column"))?;
    let value = single_value(column(0, &field.data_type))?;
    Ok(aggregate(node, groups, vec![value]))
}

fn single_value(value: Expr) -> Result<AggregateCall> {
    let function =
        calve_functions::aggregate("SINGLE_VALUE").ok_or_else(|| Error::internal("there is no SINGLE_VALUE"))?;
    let data_type = value.data_type.with_nullable(true);
    Ok(AggregateCall { function, args: vec![value], distinct: false, filter: None, data_type, span: Span::default() })
}

fn aggregate(input: Node, groups: Vec<Expr>, calls: Vec<AggregateCall>) -> Node {
    let kinds: Kinds = input.kinds.aggregated();
    let types = groups.iter().map(|g| &g.data_type).chain(calls.iter().map(|c| &c.data_type));
    let fields =
        types.enumerate().map(|(i, t)| Field { name: format!("$f{i}"), data_type: t.clone() }).collect::<Vec<_>>();
    Node::new(NodeKind::Aggregate { input: Box::new(input), groups, calls }, fields, kinds)
}
