//! Relations and expressions by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_functions::{Arg, aggregate as aggregate_function, scalar};
use calve_types::{DataType, LogicalType, Span, Value};

use crate::catalog::{Column, TableEntry, TablePath};
use crate::expr::{AggregateCall, Expr, ExprKind, Frame, OverCall, OverFunction, SortKey, SubqueryKind};
use crate::rel::{Field, JoinKind, Rel, RelKind, SetOpKind};

pub fn expr(kind: ExprKind, data_type: DataType) -> Expr {
    Expr { kind, data_type, span: Span::default() }
}

pub fn int_type() -> DataType {
    LogicalType::Int.nullable()
}

pub fn col(index: usize) -> Expr {
    expr(ExprKind::Column(index), int_type())
}

pub fn outer(depth: usize, index: usize) -> Expr {
    expr(ExprKind::Outer { depth, index }, int_type())
}

pub fn int(value: i64) -> Expr {
    expr(ExprKind::Literal(Value::Int(value)), LogicalType::Int.not_null())
}

pub fn null() -> Expr {
    expr(ExprKind::Literal(Value::Null), int_type())
}

pub fn boolean(value: Option<bool>) -> Expr {
    expr(ExprKind::Literal(value.map_or(Value::Null, Value::Boolean)), LogicalType::Boolean.nullable())
}

pub fn call(name: &str, args: Vec<Expr>) -> Expr {
    let function = scalar(name).unwrap_or_else(|| panic!("no function {name}"));
    let described: Vec<_> = args
        .iter()
        .map(|a| {
            let literal = if let ExprKind::Literal(value) = &a.kind { Some(value.clone()) } else { None };
            Arg { literal, ..Arg::of(a.data_type.clone()) }
        })
        .collect();
    let signature = function.infer(&described).unwrap();
    expr(ExprKind::Call { function, args }, signature.returns)
}

pub fn eq(a: Expr, b: Expr) -> Expr {
    call("=", vec![a, b])
}

pub fn and(a: Expr, b: Expr) -> Expr {
    call("AND", vec![a, b])
}

pub fn not(a: Expr) -> Expr {
    call("NOT", vec![a])
}

pub fn cast(value: Expr, to: LogicalType) -> Expr {
    let data_type = to.with_nullable(value.data_type.nullable);
    expr(ExprKind::Cast { expr: Box::new(value), safe: false }, data_type)
}

pub fn case(when: Expr, then: Expr, otherwise: Expr) -> Expr {
    let data_type = then.data_type.with_nullable(true);
    expr(ExprKind::Case { branches: vec![(when, then)], otherwise: Some(Box::new(otherwise)) }, data_type)
}

pub fn exists(query: Rel) -> Expr {
    let kind = ExprKind::Subquery { kind: SubqueryKind::Exists { negated: false }, query: Box::new(query) };
    expr(kind, LogicalType::Boolean.not_null())
}

pub fn is_in(x: Expr, query: Rel, negated: bool) -> Expr {
    let kind = ExprKind::Subquery { kind: SubqueryKind::In { expr: Box::new(x), negated }, query: Box::new(query) };
    expr(kind, LogicalType::Boolean.nullable())
}

pub fn scalar_query(query: Rel) -> Expr {
    let data_type = query.fields[0].data_type.with_nullable(true);
    expr(ExprKind::Subquery { kind: SubqueryKind::Scalar, query: Box::new(query) }, data_type)
}

pub fn fields(exprs: &[Expr]) -> Vec<Field> {
    exprs.iter().enumerate().map(|(i, e)| Field { name: format!("EXPR${i}"), data_type: e.data_type.clone() }).collect()
}

pub fn entry(name: &str, columns: &[(&str, DataType)]) -> Arc<TableEntry> {
    Arc::new(TableEntry {
        path: TablePath { catalog: "c".into(), database: "d".into(), table: name.into() },
        columns: columns.iter().map(|(n, t)| Column::physical(*n, t.clone())).collect(),
        primary_key: vec![],
        partition_keys: vec![],
        options: BTreeMap::new(),
        writable: true,
        view: None,
        watermark: None,
        handle: Arc::new(()),
    })
}

pub fn typed_scan(name: &str, columns: &[(&str, DataType)]) -> Rel {
    let fields = columns.iter().map(|(n, t)| Field { name: (*n).into(), data_type: t.clone() }).collect();
    Rel { kind: RelKind::Scan { table: entry(name, columns), span: Span::default() }, fields }
}

pub fn scan(name: &str, columns: &[&str]) -> Rel {
    typed_scan(name, &columns.iter().map(|c| (*c, int_type())).collect::<Vec<_>>())
}

pub fn l() -> Rel {
    scan("l", &["id", "v"])
}

pub fn r() -> Rel {
    scan("r", &["id", "w"])
}

pub fn values(rows: Vec<Vec<Expr>>) -> Rel {
    let mut fields = fields(&rows[0]);
    for (i, field) in fields.iter_mut().enumerate() {
        field.data_type.nullable = rows.iter().any(|row| row[i].data_type.nullable);
    }
    Rel { kind: RelKind::Values(rows), fields }
}

pub fn one() -> Rel {
    values(vec![vec![int(0)]])
}

pub fn project(input: Rel, exprs: Vec<Expr>) -> Rel {
    let fields = fields(&exprs);
    Rel { kind: RelKind::Project { input: Box::new(input), exprs }, fields }
}

pub fn filter(input: Rel, predicate: Expr) -> Rel {
    let fields = input.fields.clone();
    Rel { kind: RelKind::Filter { input: Box::new(input), predicate }, fields }
}

pub fn join(left: Rel, right: Rel, kind: JoinKind, condition: Option<Expr>) -> Rel {
    let nullable = |rel: &Rel, is: bool| {
        rel.fields
            .iter()
            .map(|f| Field { data_type: f.data_type.with_nullable(f.data_type.nullable || is), ..f.clone() })
            .collect::<Vec<_>>()
    };
    let mut fields = nullable(&left, matches!(kind, JoinKind::Right | JoinKind::Full));
    fields.extend(nullable(&right, matches!(kind, JoinKind::Left | JoinKind::Full)));
    Rel { kind: RelKind::Join { left: Box::new(left), right: Box::new(right), kind, condition }, fields }
}

/// `left, LATERAL (right)`: in the right query the left columns are one level up.
pub fn correlate(left: Rel, right: Rel, kind: JoinKind, condition: Option<Expr>) -> Rel {
    let Rel { kind: joined, fields } = join(left, right, kind, condition);
    let RelKind::Join { left, right, kind, condition } = joined else { unreachable!() };
    Rel { kind: RelKind::Correlate { left, right, kind, condition }, fields }
}

/// Each row once for each set of keys.
pub fn expand(input: Rel, keys: Vec<Expr>, sets: Vec<Vec<usize>>) -> Rel {
    let mut all = input.fields.clone();
    for (i, key) in fields(&keys).into_iter().enumerate() {
        let lacking = sets.iter().any(|set| !set.contains(&i));
        all.push(Field { data_type: key.data_type.with_nullable(key.data_type.nullable || lacking), ..key });
    }
    all.push(Field { name: "$e".into(), data_type: LogicalType::BigInt.not_null() });
    Rel { kind: RelKind::Expand { input: Box::new(input), keys, sets }, fields: all }
}

pub fn agg(name: &str, args: Vec<Expr>) -> AggregateCall {
    let function = aggregate_function(name).unwrap_or_else(|| panic!("no aggregate {name}"));
    let described: Vec<_> = args.iter().map(|a| Arg::of(a.data_type.clone())).collect();
    let data_type = function.infer(&described, false, true).unwrap().returns;
    AggregateCall { function, args, distinct: false, filter: None, data_type, span: Span::default() }
}

pub fn aggregate(input: Rel, groups: Vec<Expr>, calls: Vec<AggregateCall>) -> Rel {
    let mut fields = fields(&groups);
    fields.extend(
        calls.iter().enumerate().map(|(i, call)| Field { name: format!("A{i}"), data_type: call.data_type.clone() }),
    );
    Rel { kind: RelKind::Aggregate { input: Box::new(input), groups, calls }, fields }
}

pub fn distinct(input: Rel) -> Rel {
    let fields = input.fields.clone();
    Rel { kind: RelKind::Distinct(Box::new(input)), fields }
}

pub fn set_op(left: Rel, right: Rel, kind: SetOpKind, all: bool) -> Rel {
    let fields = left
        .fields
        .iter()
        .zip(&right.fields)
        .map(|(a, b)| Field {
            name: a.name.clone(),
            data_type: a.data_type.with_nullable(a.data_type.nullable || b.data_type.nullable),
        })
        .collect();
    Rel { kind: RelKind::SetOp { left: Box::new(left), right: Box::new(right), kind, all }, fields }
}

pub fn sort(input: Rel, keys: Vec<(usize, bool, bool)>) -> Rel {
    let fields = input.fields.clone();
    let keys = keys
        .into_iter()
        .map(|(index, descending, nulls_first)| SortKey {
            expr: expr(ExprKind::Column(index), fields[index].data_type.clone()),
            descending,
            nulls_first,
        })
        .collect();
    Rel { kind: RelKind::Sort { input: Box::new(input), keys }, fields }
}

pub fn limit(input: Rel, offset: u64, fetch: Option<u64>) -> Rel {
    let fields = input.fields.clone();
    Rel { kind: RelKind::Limit { input: Box::new(input), offset, fetch }, fields }
}

/// A call over a window, in whose order every column of the input is a key, so that rows that tie are equal.
pub fn over(input: Rel, name: &str, args: Vec<Expr>, partition: Vec<Expr>, keys: usize, frame: Frame) -> Rel {
    use OverFunction::{DenseRank, Rank, RowNumber};
    let ranking = [RowNumber, Rank, DenseRank].into_iter().find(|f| f.name() == name);
    let order = (0..keys.min(input.fields.len()))
        .map(|i| SortKey { expr: col(i), descending: i % 2 == 1, nulls_first: i % 2 == 0 })
        .collect();
    let (function, data_type) = match ranking {
        Some(function) => (function, LogicalType::BigInt.not_null()),
        None => {
            let call = agg(name, args.clone());
            (OverFunction::Aggregate(call.function), call.data_type)
        }
    };
    let mut fields = input.fields.clone();
    fields.push(Field { name: "w0".into(), data_type: data_type.clone() });
    let call = OverCall { function, args, partition, order, frame, distinct: false, data_type, span: Span::default() };
    Rel { kind: RelKind::Over { input: Box::new(input), calls: vec![call] }, fields }
}

/// The input's rows once for each of some values.
pub fn unnest(input: Rel, elements: Vec<Expr>, ordinality: bool) -> Rel {
    let mut fields = input.fields.clone();
    fields.push(Field { name: "e".into(), data_type: int_type() });
    if ordinality {
        fields.push(Field { name: "o".into(), data_type: LogicalType::Int.not_null() });
    }
    let collection = Box::new(call("ARRAY", elements));
    Rel { kind: RelKind::Unnest { input: Box::new(input), collection, outer: false, ordinality }, fields }
}
