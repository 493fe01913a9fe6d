//! A ranking under a filter: a Top-N, or a deduplication if the order is one in time.

use std::collections::BTreeSet;

use calve_types::{LogicalType, Result, Span, Value};

use super::plan::{all_and, build, needs, plain};
use super::{Kinds, Node, NodeKind, column};
use crate::bind::walk::conjuncts;
use crate::expr::{Expr, ExprKind, OverCall, OverFunction};
use crate::rel::{Field, Rel, RelKind};
use crate::time::{TimeAttribute, is_whole_window};

/// The node of a filter over a ranking, `None` if it is another filter. `needed` are the columns that are looked at.
pub(super) fn top_n(rel: &Rel, needed: Option<&BTreeSet<usize>>) -> Result<Option<Node>> {
    let RelKind::Filter { input, predicate } = &rel.kind else { return Ok(None) };
    let mut below: &Rel = input;
    let mut outputs: Vec<Expr> = super::columns(&input.fields);
    while let RelKind::Project { input, exprs } = &below.kind {
        outputs = outputs.into_iter().map(|e| substituted(e, exprs)).collect();
        below = input;
    }
    let RelKind::Over { input: base, calls } = &below.kind else { return Ok(None) };
    let [call] = calls.as_slice() else { return Ok(None) };
    if call.function != OverFunction::RowNumber || !outputs.iter().all(plain) || !plain(predicate) {
        return Ok(None);
    }
    let number = base.fields.len();
    let mut range = Range { start: 1, end: None };
    let mut rest = vec![];
    for part in conjuncts(predicate) {
        let part = substituted(part.clone(), &outputs);
        if !range.narrow(&part, number) {
            rest.push(part);
        }
    }
    let Some(end) = range.end else { return Ok(None) };

    let input = build(base, None)?;
    let partition: Vec<usize> = call.partition.iter().filter_map(column_of).collect();
    if is_whole_window(base, &partition) && !input.changes() {
        // a window's rows are ranked once, when it ends
        return Ok(Some(Node::new(NodeKind::Rows(Box::new(rel.clone())), rel.fields.clone(), Kinds::INSERTS)));
    }
    let constant = range.start == end;
    if constant {
        let fixed = literal(end);
        let mut all: Vec<Expr> = super::columns(&base.fields);
        all.push(fixed);
        rest = rest.into_iter().map(|e| substituted(e, &all)).collect();
        outputs = outputs.into_iter().map(|e| substituted(e, &all)).collect();
    }
    let looked_at = |i: usize| needed.is_none_or(|needed| needed.contains(&i));
    let shown = outputs.iter().enumerate().filter(|(i, _)| looked_at(*i)).map(|(_, e)| e).chain(&rest);
    let numbered = !constant && shown.into_iter().any(|e| needs(e, number));
    let ranked = ranked(base, input, call, range.start, end, numbered);
    let kinds = ranked.kinds;
    let fields = ranked.fields.clone();
    let filtered = match all_and(rest)? {
        None => ranked,
        Some(predicate) => Node::new(NodeKind::Filter { input: Box::new(ranked), predicate }, fields, kinds),
    };
    if !numbered && !constant {
        // nobody looks at the number
        let mut all: Vec<Expr> = super::columns(&base.fields);
        all.push(literal(1));
        outputs = outputs.into_iter().map(|e| substituted(e, &all)).collect();
    }
    let project = NodeKind::Project { input: Box::new(filtered), exprs: outputs };
    Ok(Some(Node::new(project, rel.fields.clone(), kinds)))
}

fn ranked(base: &Rel, input: Node, call: &OverCall, start: u64, end: u64, numbered: bool) -> Node {
    let mut fields = base.fields.clone();
    if let ([key], 1, 1) = (call.order.as_slice(), start, end)
        && let ExprKind::Column(time) = key.expr.kind
        && let Some(attribute) = base.time(time)
        && !input.changes()
    {
        let time = (attribute == TimeAttribute::Rowtime).then_some(time);
        let last = key.descending;
        let kinds = if time.is_none() && !last { Kinds::INSERTS } else { Kinds::ALL };
        let kind = NodeKind::Deduplicate { input: Box::new(input), keys: call.partition.clone(), time, last };
        return Node::new(kind, fields, kinds);
    }
    if numbered {
        fields.push(Field { name: "w0$o0".to_owned(), data_type: LogicalType::BigInt.not_null() });
    }
    let kind = NodeKind::TopN {
        input: Box::new(input),
        partition: call.partition.clone(),
        order: call.order.clone(),
        start,
        end,
        numbered,
    };
    Node::new(kind, fields, Kinds::ALL)
}

fn column_of(expr: &Expr) -> Option<usize> {
    match expr.kind {
        ExprKind::Column(column) => Some(column),
        _ => None,
    }
}

fn literal(number: u64) -> Expr {
    let value = Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    Expr { kind: ExprKind::Literal(value), data_type: LogicalType::BigInt.not_null(), span: Span::default() }
}

/// The expression over what `exprs` are over.
pub(super) fn substituted(mut expr: Expr, exprs: &[Expr]) -> Expr {
    if let ExprKind::Column(i) = expr.kind {
        return exprs.get(i).cloned().unwrap_or_else(|| column(i, &expr.data_type));
    }
    crate::bind::walk::for_children_mut(&mut expr, &mut |child| {
        *child = substituted(child.clone(), exprs);
    });
    expr
}

/// The numbers that a filter lets through.
struct Range {
    start: u64,
    end: Option<u64>,
}

impl Range {
    /// Takes what a condition says of the number; whether it says it with constants and nothing else.
    fn narrow(&mut self, part: &Expr, number: usize) -> bool {
        let ExprKind::Call { function, args } = &part.kind else { return false };
        let constants: Vec<Option<i64>> = args.iter().map(constant).collect();
        let is_number =
            |e: Option<&Expr>| e.is_some_and(|e| matches!(uncast(e).kind, ExprKind::Column(c) if c == number));
        let (first, second) = (is_number(args.first()), is_number(args.get(1)));
        match (function.name, constants.as_slice()) {
            ("=", [_, Some(n)]) if first => self.bounds(*n, *n),
            ("=", [Some(n), _]) if second => self.bounds(*n, *n),
            ("<", [_, Some(n)]) if first => self.bounds(1, n.saturating_sub(1)),
            ("<=", [_, Some(n)]) if first => self.bounds(1, *n),
            (">", [_, Some(n)]) if first => self.bounds(n.saturating_add(1), i64::MAX),
            (">=", [_, Some(n)]) if first => self.bounds(*n, i64::MAX),
            (">", [Some(n), _]) if second => self.bounds(1, n.saturating_sub(1)),
            (">=", [Some(n), _]) if second => self.bounds(1, *n),
            ("<", [Some(n), _]) if second => self.bounds(n.saturating_add(1), i64::MAX),
            ("<=", [Some(n), _]) if second => self.bounds(*n, i64::MAX),
            ("BETWEEN", [_, Some(low), Some(high)]) if first => self.bounds(*low, *high),
            _ => return false,
        }
        true
    }

    fn bounds(&mut self, low: i64, high: i64) {
        self.start = self.start.max(u64::try_from(low).unwrap_or(1));
        if high != i64::MAX {
            let high = u64::try_from(high).unwrap_or(0);
            self.end = Some(self.end.map_or(high, |end| end.min(high)));
        }
    }
}

fn uncast(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Cast { expr, .. } if e.data_type.logical.is_integer() => expr,
        _ => e,
    }
}

fn constant(e: &Expr) -> Option<i64> {
    match uncast(e).kind {
        ExprKind::Literal(Value::Int(n)) => Some(n),
        _ => None,
    }
}
