//! The algebra as text, as Flink's EXPLAIN prints it under "== Abstract Syntax Tree ==".

use std::fmt::Write;

use calve_functions::EvalContext;
use calve_types::{DataType, LogicalType, Value, rules};
use datafusion::logical_expr::Expr as DfExpr;

use crate::bind::walk;
use crate::change::Change;
use crate::expr::{AggregateCall, Bound, Expr, ExprKind, Frame, OverCall, OverFunction, SubqueryKind};
use crate::rel::{Field, JoinKind, Rel, RelKind, SetOpKind, Sink, Window};

/// A query's algebra in Calcite's notation: one line for each relation, `LogicalProject(a=[$0])`, inputs below it.
pub fn tree(rel: &Rel) -> String {
    node(rel).print()
}

/// An INSERT's algebra: a `LogicalSink` above its query.
pub fn sink_tree(sink: &Sink) -> String {
    let columns: Vec<_> = sink.table.physical_columns().map(|c| c.name.as_str()).collect();
    let line = format!("LogicalSink(table=[{}], fields=[{}])", sink.table.path, columns.join(", "));
    Node { line, inputs: vec![node(&sink.input)] }.print()
}

/// The algebra of a DELETE, UPDATE or MERGE: a `LogicalTableModify` above its changes.
pub fn change_tree(change: &Change) -> String {
    let path = &change.table.path;
    let line = format!(
        "LogicalTableModify(table=[[{}, {}, {}]], operation=[{}], flattened=[false])",
        path.catalog,
        path.database,
        path.table,
        change.kind.name()
    );
    Node { line, inputs: vec![node(&change.rows)] }.print()
}

struct Node {
    line: String,
    inputs: Vec<Node>,
}

impl Node {
    fn print(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, "", "");
        out
    }

    fn write(&self, out: &mut String, first: &str, rest: &str) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            let _ = writeln!(out, "{first}{}", self.line);
            let last = self.inputs.len().saturating_sub(1);
            for (i, input) in self.inputs.iter().enumerate() {
                let below = if i == last { "   " } else { ":  " };
                let branch = if i == last { "+- " } else { ":- " };
                input.write(out, &format!("{rest}{branch}"), &format!("{rest}{below}"));
            }
        });
    }
}

fn node(rel: &Rel) -> Node {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || node_kind(rel))
}

fn node_kind(rel: &Rel) -> Node {
    match &rel.kind {
        RelKind::Scan { table, .. } => {
            let path = &table.path;
            leaf(format!("LogicalTableScan(table=[[{}, {}, {}]])", path.catalog, path.database, path.table))
        }
        RelKind::Values(rows) => {
            let rows: Vec<_> = rows.iter().map(|row| format!("{{ {} }}", list(row))).collect();
            leaf(format!("LogicalValues(tuples=[[{}]])", rows.join(", ")))
        }
        RelKind::Project { input, exprs } => match &input.kind {
            RelKind::Aggregate { input: below, groups, calls } if is_identity(exprs, input.fields.len()) => {
                aggregate(below, groups, calls, &rel.fields)
            }
            RelKind::Over { input: below, calls } => {
                let exprs: Vec<Expr> = exprs.iter().map(|e| inlined(e, below.fields.len(), calls)).collect();
                above(format!("LogicalProject({})", named(&rel.fields, &exprs)), below)
            }
            _ => above(format!("LogicalProject({})", named(&rel.fields, exprs)), input),
        },
        RelKind::Unnest { input, collection, outer, ordinality } => {
            let kind = if *outer { "left" } else { "inner" };
            let line = format!("LogicalCorrelate(correlation=[$cor0], joinType=[{kind}])");
            let with = if *ordinality { ", withOrdinality=[true]" } else { "" };
            let below = leaf(format!("Uncollect(collection=[{}]{with})", expression(collection)));
            Node { line, inputs: vec![node(input), below] }
        }
        RelKind::Watermark { input, column, expr, .. } => {
            let name = input.fields.get(*column).map(|f| f.name.as_str()).unwrap_or_default();
            let line = format!("LogicalWatermarkAssigner(rowtime=[{name}], watermark=[{}])", expression(expr));
            above(line, input)
        }
        RelKind::InTime { input, .. } => node(input),
        RelKind::Windows { input, time, window, .. } => {
            let line = format!("LogicalTableFunctionScan(invocation=[{}])", invocation(*window, *time));
            above(line, input)
        }
        RelKind::Match(matching) => {
            let pattern: Vec<&str> = matching.elements.iter().map(|e| e.name.as_str()).collect();
            let partition: Vec<String> = matching.partition.iter().map(ToString::to_string).collect();
            let fields: Vec<&str> = rel.fields.iter().map(|f| f.name.as_str()).collect();
            let line = format!(
                "LogicalMatch(partition=[[{}]], order=[[{}]], outputFields=[[{}]], pattern=[({})])",
                partition.join(", "),
                matching.time,
                fields.join(", "),
                pattern.join(", ")
            );
            above(line, &matching.input)
        }
        RelKind::Temporal { left, right, outer, keys, condition, left_time, .. } => {
            let width = left.fields.len();
            let keys = keys.iter().map(|(key, column)| format!("=({}, ${})", expression(key), width + column));
            let all: Vec<String> = keys.chain(condition.iter().map(expression)).collect();
            let condition = if all.len() == 1 { all.concat() } else { format!("AND({})", all.join(", ")) };
            let kind = if *outer { "left" } else { "inner" };
            let line = format!("LogicalJoin(condition=[{condition}], joinType=[{kind}])");
            let time = left.fields.get(*left_time).map(|f| f.name.as_str()).unwrap_or_default();
            let versions = above(format!("LogicalSnapshot(period=[$cor0.{time}])"), right);
            Node { line, inputs: vec![node(left), versions] }
        }
        RelKind::Over { input, calls } => {
            let calls: Vec<String> = calls.iter().map(over).collect();
            above(format!("LogicalWindow(calls=[{}])", calls.join(", ")), input)
        }
        RelKind::Filter { input, predicate } => {
            above(format!("LogicalFilter(condition=[{}])", expression(predicate)), input)
        }
        RelKind::Join { left, right, kind, condition } => {
            let kind = match kind {
                JoinKind::Inner => "inner",
                JoinKind::Left => "left",
                JoinKind::Right => "right",
                JoinKind::Full => "full",
            };
            let condition = condition.as_ref().map_or_else(|| "true".to_owned(), expression);
            let line = format!("LogicalJoin(condition=[{condition}], joinType=[{kind}])");
            Node { line, inputs: vec![node(left), node(right)] }
        }
        RelKind::Correlate { left, right, kind, condition } => {
            let kind = if *kind == JoinKind::Left { "left" } else { "inner" };
            let condition = condition.as_ref().map(|c| format!(", condition=[{}]", expression(c))).unwrap_or_default();
            let line = format!("LogicalCorrelate(correlation=[$cor0], joinType=[{kind}]{condition})");
            Node { line, inputs: vec![node(left), node(right)] }
        }
        RelKind::Expand { input, keys, sets } => {
            let sets: Vec<String> = sets
                .iter()
                .map(|set| list(&set.iter().filter_map(|i| keys.get(*i).cloned()).collect::<Vec<_>>()))
                .map(|keys| format!("{{{keys}}}"))
                .collect();
            above(format!("LogicalExpand(sets=[{}])", sets.join(", ")), input)
        }
        RelKind::Aggregate { input, groups, calls } => aggregate(input, groups, calls, &rel.fields),
        RelKind::Distinct(input) => {
            above(format!("LogicalAggregate(group=[{{{}}}])", positions(input.fields.len())), input)
        }
        RelKind::SetOp { left, right, kind, all } => {
            let kind = match kind {
                SetOpKind::Union => "Union",
                SetOpKind::Intersect => "Intersect",
                SetOpKind::Except => "Minus",
            };
            Node { line: format!("Logical{kind}(all=[{all}])"), inputs: vec![node(left), node(right)] }
        }
        RelKind::Sort { .. } => sort(rel, None),
        RelKind::Limit { input, offset, fetch } => sort(input, Some((*offset, *fetch))),
    }
}

fn invocation(window: Window, time: usize) -> String {
    let (name, lengths) = match window {
        Window::Tumble { size, offset } => ("TUMBLE", vec![size, offset]),
        Window::Hop { slide, size, offset } => ("HOP", vec![slide, size, offset]),
        Window::Cumulate { step, size, offset } => ("CUMULATE", vec![step, size, offset]),
        Window::Session { gap } => ("SESSION", vec![gap, 0]),
    };
    // the last one is an offset, which is written only if there is one
    let written = lengths.len() - usize::from(lengths.last() == Some(&0));
    let lengths: Vec<String> = lengths.iter().take(written).map(|length| format!("{length}:INTERVAL SECOND")).collect();
    format!("{name}(DESCRIPTOR(${time}), {})", lengths.join(", "))
}

fn leaf(line: String) -> Node {
    Node { line, inputs: vec![] }
}

fn above(line: String, input: &Rel) -> Node {
    Node { line, inputs: vec![node(input)] }
}

/// A sort and the limit above it are one relation in Calcite.
fn sort(rel: &Rel, limit: Option<(u64, Option<u64>)>) -> Node {
    let mut parts = vec![];
    let mut input = rel;
    if let RelKind::Sort { input: below, keys } = &rel.kind {
        input = below;
        parts.extend(keys.iter().enumerate().map(|(i, key)| format!("sort{i}=[{}]", expression(&key.expr))));
        parts.extend(keys.iter().enumerate().map(|(i, key)| {
            let direction = if key.descending { "DESC" } else { "ASC" };
            format!("dir{i}=[{direction}-nulls-{}]", if key.nulls_first { "first" } else { "last" })
        }));
    }
    if let Some((offset, fetch)) = limit {
        parts.extend((offset > 0).then(|| format!("offset=[{offset}]")));
        parts.extend(fetch.map(|n| format!("fetch=[{n}]")));
    }
    above(format!("LogicalSort({})", parts.join(", ")), input)
}

/// Calcite's aggregates read columns only: what they compute stands in a projection below.
fn aggregate(input: &Rel, groups: &[Expr], calls: &[AggregateCall], fields: &[Field]) -> Node {
    let mut columns: Vec<String> = groups.iter().map(expression).collect();
    let mut names: Vec<String> = fields.iter().take(groups.len()).map(|f| f.name.clone()).collect();
    let mut position = |expr: &Expr| {
        let text = expression(expr);
        columns.iter().position(|c| *c == text).unwrap_or_else(|| {
            names.push(match expr.kind {
                ExprKind::Column(i) => input.fields.get(i).map(|f| f.name.clone()).unwrap_or_default(),
                _ => format!("$f{}", columns.len()),
            });
            columns.push(text);
            columns.len() - 1
        })
    };
    let mut parts = vec![format!("group=[{{{}}}]", positions(groups.len()))];
    for (call, field) in calls.iter().zip(fields.iter().skip(groups.len())) {
        let args: Vec<String> = call.args.iter().map(|arg| format!("${}", position(arg))).collect();
        let distinct = if call.distinct { "DISTINCT " } else { "" };
        let filter = call.filter.as_ref().map(|f| format!(" FILTER ${}", position(f))).unwrap_or_default();
        parts.push(format!("{}=[{}({distinct}{}){filter}]", field.name, call.function.name, args.join(", ")));
    }
    let line = format!("LogicalAggregate({})", parts.join(", "));
    let whole = columns.len() == input.fields.len() && columns.iter().enumerate().all(|(i, c)| *c == format!("${i}"));
    if whole || columns.is_empty() {
        return above(line, input);
    }
    let exprs: Vec<String> = names.iter().zip(&columns).map(|(name, text)| format!("{name}=[{text}]")).collect();
    Node { line, inputs: vec![above(format!("LogicalProject({})", exprs.join(", ")), input)] }
}

/// An expression with the calls over windows that its columns stand for.
fn inlined(expr: &Expr, width: usize, calls: &[OverCall]) -> Expr {
    fn put(expr: &mut Expr, width: usize, calls: &[OverCall]) {
        if let ExprKind::Column(index) = expr.kind {
            if let Some(call) = index.checked_sub(width).and_then(|i| calls.get(i)) {
                expr.kind = ExprKind::Over(Box::new(call.clone()));
            }
            return;
        }
        walk::for_children_mut(expr, &mut |child| put(child, width, calls));
    }
    let mut expr = expr.clone();
    put(&mut expr, width, calls);
    expr
}

fn over(call: &OverCall) -> String {
    let mut window = vec![];
    if !call.partition.is_empty() {
        window.push(format!("PARTITION BY {}", list(&call.partition)));
    }
    if !call.order.is_empty() {
        let keys: Vec<String> = call
            .order
            .iter()
            .map(|key| {
                let direction = if key.descending { " DESC" } else { "" };
                let nulls = if key.nulls_first { "FIRST" } else { "LAST" };
                format!("{}{direction} NULLS {nulls}", expression(&key.expr))
            })
            .collect();
        window.push(format!("ORDER BY {}", keys.join(", ")));
    }
    let Frame { range, start, end } = call.frame;
    let usual = call.order.is_empty() || range && start == Bound::First && end == Bound::Current;
    if matches!(call.function, OverFunction::Aggregate(_)) && !usual {
        let bound = |bound: Bound| match bound {
            Bound::First => "UNBOUNDED PRECEDING".to_owned(),
            Bound::Offset(n) if n > 0 => format!("{n} FOLLOWING"),
            Bound::Offset(n) => format!("{} PRECEDING", n.unsigned_abs()),
            Bound::Current => "CURRENT ROW".to_owned(),
            Bound::Last => "UNBOUNDED FOLLOWING".to_owned(),
        };
        let units = if range { "RANGE" } else { "ROWS" };
        window.push(format!("{units} BETWEEN {} AND {}", bound(start), bound(end)));
    }
    let distinct = if call.distinct { "DISTINCT " } else { "" };
    format!("{}({distinct}{}) OVER ({})", call.function.name(), list(&call.args), window.join(" "))
}

fn is_identity(exprs: &[Expr], width: usize) -> bool {
    exprs.len() == width && exprs.iter().enumerate().all(|(i, e)| matches!(e.kind, ExprKind::Column(at) if at == i))
}

fn positions(count: usize) -> String {
    (0..count).map(|i| i.to_string()).collect::<Vec<_>>().join(", ")
}

fn named(fields: &[Field], exprs: &[Expr]) -> String {
    let parts: Vec<_> = fields.iter().zip(exprs).map(|(f, e)| format!("{}=[{}]", f.name, expression(e))).collect();
    parts.join(", ")
}

fn list(exprs: &[Expr]) -> String {
    exprs.iter().map(expression).collect::<Vec<_>>().join(", ")
}

/// An expression in Calcite's prefix notation.
fn expression(expr: &Expr) -> String {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || expression_kind(expr))
}

fn expression_kind(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Literal(value) => literal(value, &expr.data_type),
        ExprKind::Column(index) => format!("${index}"),
        ExprKind::Outer { depth, index } => format!("$cor{}.${index}", depth.saturating_sub(1)),
        ExprKind::Call { function, args } => format!("{}({})", function.name, list(args)),
        ExprKind::Cast { expr: value, safe } => {
            let word = if *safe { "TRY_CAST" } else { "CAST" };
            let suffix = if expr.data_type.nullable { "" } else { " NOT NULL" };
            format!("{word}({}):{}{suffix}", expression(value), rules::sql_name(&expr.data_type.logical))
        }
        ExprKind::Case { branches, otherwise } => {
            let mut parts: Vec<_> =
                branches.iter().flat_map(|(when, then)| [expression(when), expression(then)]).collect();
            parts.push(otherwise.as_deref().map_or_else(|| literal(&Value::Null, &expr.data_type), expression));
            format!("CASE({})", parts.join(", "))
        }
        ExprKind::Field { expr: row, index } => match &row.data_type.logical {
            LogicalType::Row(fields) => {
                format!("{}.{}", expression(row), fields.get(*index).map_or("?", |f| f.name.as_str()))
            }
            _ => format!("{}.${index}", expression(row)),
        },
        ExprKind::Over(call) => over(call),
        ExprKind::Subquery { kind, query } => {
            let below = tree(query);
            match kind {
                SubqueryKind::Scalar => format!("$SCALAR_QUERY({{\n{below}}})"),
                SubqueryKind::Exists { negated } => not(*negated, format!("EXISTS({{\n{below}}})")),
                SubqueryKind::In { expr, negated } => not(*negated, format!("IN({}, {{\n{below}}})", expression(expr))),
            }
        }
    }
}

fn not(negated: bool, text: String) -> String {
    if negated { format!("NOT({text})") } else { text }
}

fn literal(value: &Value, data_type: &DataType) -> String {
    let name = rules::sql_name(&data_type.logical);
    match value {
        Value::Null => format!("null:{name}"),
        Value::Boolean(v) => v.to_string(),
        Value::Int(v) if data_type.logical == LogicalType::Int => v.to_string(),
        Value::Int(v) => format!("{v}:{name}"),
        Value::String(v) => format!("_UTF-16LE'{}'", v.replace('\'', "''")),
        Value::Symbol(v) => format!("FLAG({v})"),
        Value::Months(v) => format!("{v}:{name}"),
        Value::Millis(v) => format!("{v}:{name}"),
        Value::Float(_) | Value::Double(_) | Value::Decimal(_) => format!("{}:{name}", printed(value, data_type)),
        Value::Bytes(_) | Value::Date(_) | Value::Time(_) | Value::Timestamp { .. } => printed(value, data_type),
    }
}

/// A value as a result shows it.
pub(crate) fn printed(value: &Value, data_type: &DataType) -> String {
    let text = || -> Option<String> {
        let DfExpr::Literal(scalar, _) = calve_functions::literal(value, data_type).ok()? else { return None };
        let texts =
            calve_functions::cast_to_string(&scalar.to_array().ok()?, data_type, &EvalContext::default()).ok()?;
        texts.iter().next()?.map(str::to_owned)
    };
    text().unwrap_or_else(|| format!("{value:?}"))
}
