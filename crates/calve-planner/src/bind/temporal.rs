//! `FOR SYSTEM_TIME AS OF`: joins with the versions of a table, and a table as it was.

use calve_functions::{EvalContext, TimeZone};
use calve_sql::ast;
use calve_types::{Error, LogicalType, Result, Span, Value, rules};

use super::from::{Condition, Source};
use super::scope::{Env, Namespace, Scope};
use super::walk::{self, conjuncts};
use super::{Binder, coerce, expr, literal, names};
use crate::expr::{Expr, ExprKind, OverFunction};
use crate::rel::{JoinKind, Rel, RelKind};
use crate::time::TimeAttribute;

/// The time at which a table of FROM is read, if it depends on the row.
pub(super) fn version_by_row(factor: &ast::TableFactor) -> Option<&ast::Expr> {
    match factor {
        ast::TableFactor::Table { version: Some(ast::TableVersion::ForSystemTimeAsOf(time)), .. } => {
            (!is_constant(time)).then_some(time)
        }
        _ => None,
    }
}

/// Whether an expression reads no column and no clock.
pub(crate) fn is_constant(e: &ast::Expr) -> bool {
    use ast::{Visit, Visitor};
    use std::ops::ControlFlow;
    struct Reads;
    impl Visitor for Reads {
        type Break = ();
        fn pre_visit_expr(&mut self, e: &ast::Expr) -> ControlFlow<()> {
            match e {
                ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
                ast::Expr::Function(f) if f.name.to_string().eq_ignore_ascii_case("PROCTIME") => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        }
    }
    super::on_deep_stack(|| e.visit(&mut Reads)).is_continue()
}

/// A temporal join that Flink refuses: `feature` completes "a temporal join".
fn unsupported(feature: &str, detail: impl Into<String>, place: Span) -> Error {
    Error::unsupported(format!("a temporal join {feature}")).with_detail(detail).at(place)
}

/// What a temporal join without keys is called.
const WITHOUT_KEYS: &str = "without an equality of columns";

/// The way out of other types of joins.
const JOIN_TYPES: &str = "it is an inner or a LEFT JOIN";

/// The way out of one.
const NAME_KEYS: &str = "join ON an equality with each column of the versioned table's PRIMARY KEY";

impl Binder<'_> {
    /// `left JOIN table FOR SYSTEM_TIME AS OF time ON ..`, the time being a column of the left side.
    ///
    /// # Errors
    /// What Flink asks of such a join: a time attribute, an inner or left join, an equality with the primary key of a
    /// table that has a rowtime attribute.
    pub(super) fn temporal_join(
        &self,
        left: Source,
        factor: &ast::TableFactor,
        time: &ast::Expr,
        kind: JoinKind,
        constraint: &ast::JoinConstraint,
        env: Env<'_>,
    ) -> Result<Source> {
        let ast::TableFactor::Table { name, alias, .. } = factor else {
            return Err(Error::unsupported("FOR SYSTEM_TIME AS OF behind something else than a table"));
        };
        let place = expr::span_of(time);
        let bound = self.expr(time, &Scope::new(env, &left.1, "FOR SYSTEM_TIME clause"))?;
        if !matches!(bound.data_type.logical, LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_)) {
            return Err(no_time(&bound, place));
        }
        let ExprKind::Column(left_time) = bound.kind else {
            return Err(unsupported(
                "FOR SYSTEM_TIME AS OF something else than a column",
                "Temporal table join currently only supports 'FOR SYSTEM_TIME AS OF' left table's time attribute field'",
                place,
            )
            .with_hint("name the left table's column that has the WATERMARK, as it is"));
        };
        let right = self.named_table(name, alias.as_ref(), env)?;
        let width = left.0.fields.len();
        let attribute = left.0.time(left_time);
        let condition = match constraint {
            ast::JoinConstraint::On(condition) => Condition::On(condition),
            _ => {
                let detail = "Currently the join key in Temporal Table Join can not be empty.";
                return Err(unsupported(WITHOUT_KEYS, detail, place).with_hint(NAME_KEYS));
            }
        };
        let (joined, names) = self.join(left, right, (kind, false), condition, env)?;
        let RelKind::Join { left, right, condition, .. } = joined.kind else {
            return Err(Error::internal("a join that is none"));
        };
        match attribute {
            Some(TimeAttribute::Rowtime) => {}
            Some(TimeAttribute::Proctime) => return Err(lookup(&right, names::span_of(name))),
            None => {
                return Err(unsupported(
                    "FOR SYSTEM_TIME AS OF a column that is no time attribute",
                    "Temporal table join currently only supports 'FOR SYSTEM_TIME AS OF' left table's time attribute field",
                    place,
                )
                .with_hint("declare WATERMARK FOR the column in the left table, and use it as it is"));
            }
        }
        let outer = match kind {
            JoinKind::Inner => false,
            JoinKind::Left => true,
            JoinKind::Right => {
                return Err(unsupported("of type RIGHT", "Unknown join type RIGHT", place).with_hint(JOIN_TYPES));
            }
            JoinKind::Full => {
                return Err(unsupported("of type FULL", "Unknown join type FULL", place).with_hint(JOIN_TYPES));
            }
        };
        let (keys, condition) = split(condition, width)?;
        let place = names::span_of(name);
        if keys.is_empty() {
            let detail = "Currently the join key in Temporal Table Join can not be empty.";
            return Err(unsupported(WITHOUT_KEYS, detail, place).with_hint(NAME_KEYS));
        }
        let Some((right, unique, latest)) = versions(*right)? else {
            return Err(no_key(place));
        };
        if !unique.iter().all(|u| keys.iter().any(|(_, column)| column == u)) {
            return Err(no_key(place));
        }
        let times = (0..right.fields.len()).filter(|i| right.time(*i) == Some(TimeAttribute::Rowtime));
        let Some(right_time) = times.clone().next() else {
            return Err(unsupported(
                "with a table that has no time attribute",
                "Event-Time Temporal Table Join requires both primary key and row time attribute in versioned table, but no row time attribute can be found.",
                place,
            )
            .with_hint("declare WATERMARK FOR a column of the versioned table"));
        };
        let right = Box::new(right);
        let kind = RelKind::Temporal { left, right, outer, latest, keys, condition, left_time, right_time };
        Ok((Rel { kind, fields: joined.fields }, names))
    }

    /// `table FOR SYSTEM_TIME AS OF time` with a constant time: an Iceberg table as it was at that time.
    ///
    /// # Errors
    /// `not-supported` for tables that keep no versions and for times that are not constant; `type-mismatch` for what is no
    /// time; what the catalog says of a time before the table's first version.
    pub(super) fn version(
        &self,
        name: &ast::ObjectName,
        alias: Option<&ast::TableAlias>,
        version: &ast::TableVersion,
        env: Env<'_>,
    ) -> Result<Source> {
        let ast::TableVersion::ForSystemTimeAsOf(time) = version else {
            return Err(Error::unsupported("this way to read a version of a table").at(names::span_of(name)));
        };
        let place = expr::span_of(time);
        if !is_constant(time) {
            return Err(Error::unsupported("FOR SYSTEM_TIME AS OF a time that is not constant, outside of a join")
                .with_detail(format!(
                    "Unsupported time travel expression: {time} for the expression can not be reduced to a constant by Flink."
                ))
                .at(place));
        }
        let namespace = Namespace::default();
        let bound = self.expr(time, &Scope::new(env, &namespace, "FOR SYSTEM_TIME clause"))?;
        if !matches!(bound.data_type.logical, LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_)) {
            return Err(no_time(&bound, place));
        }
        let zone = match self.catalog.option("table.local-time-zone") {
            Some(zone) if !zone.eq_ignore_ascii_case("default") => TimeZone::parse(&zone)?,
            _ => TimeZone::UTC,
        };
        let instant = coerce::to(bound, &LogicalType::TimestampLtz(6).nullable());
        let micros = crate::lower::constant_micros(&instant, EvalContext::new(zone)).map_err(|e| e.at(place))?;
        let micros = micros
            .ok_or_else(|| Error::new("invalid-argument", "the time of FOR SYSTEM_TIME AS OF is NULL").at(place))?;
        self.named_version(name, alias, micros.div_euclid(1000)).map_err(|e| match e.code {
            "unknown-snapshot" => Error {
                message: format!("table '{name}' has no snapshot as old as {time}"),
                span: Some(place),
                ..e.with_hint("the metadata table '$history' lists the times of snapshots")
            },
            _ => e,
        })
    }
}

fn no_time(time: &Expr, place: Span) -> Error {
    let name = rules::sql_name(&time.data_type.logical);
    Error::new("type-mismatch", format!("FOR SYSTEM_TIME AS OF takes a timestamp, not {}", time.data_type.logical))
        .with_detail(format!("The system time period specification expects Timestamp type but is '{name}'"))
        .at(place)
}

fn no_key(place: Span) -> Error {
    unsupported(
        "by something else than the versioned table's primary key",
        "Temporal Table Join requires primary key in versioned table, but no primary key can be found.",
        place,
    )
    .with_hint("join by all columns of the versioned table's PRIMARY KEY, or make it a view that keeps the latest row of each key")
}

/// Flink reads such a table by key, at the time of each row, where its connector can.
fn lookup(right: &Rel, place: Span) -> Error {
    let mut rel = right;
    let table = loop {
        match &rel.kind {
            RelKind::Scan { table, .. } => break Some(table),
            RelKind::Project { input, .. } | RelKind::Watermark { input, .. } | RelKind::Filter { input, .. } => {
                rel = input
            }
            _ => break None,
        }
    };
    let error = Error::unsupported("a lookup join, FOR SYSTEM_TIME AS OF a processing time")
        .with_hint("leave FOR SYSTEM_TIME AS OF out to join with the table as it is")
        .at(place);
    match table {
        Some(table) => error.with_detail(format!(
            "Processing-time temporal join is not supported yet: the source of '{}' has no lookups.",
            table.path
        )),
        None => error.with_detail("Processing-time temporal join is not supported yet."),
    }
}

/// A value of the left side that is equal to a column of the right one.
type Key = (Expr, usize);

/// The keys of a condition, and what else it asks for.
fn split(condition: Option<Expr>, width: usize) -> Result<(Vec<Key>, Option<Expr>)> {
    let mut keys = vec![];
    let mut rest: Option<Expr> = None;
    for conjunct in condition.as_ref().map(conjuncts).unwrap_or_default() {
        if let Some(key) = key(conjunct, width) {
            keys.push(key);
            continue;
        }
        rest = Some(match rest {
            None => conjunct.clone(),
            Some(rest) => super::call::function("AND", vec![rest, conjunct.clone()], Span::default())?,
        });
    }
    Ok((keys, rest))
}

fn key(e: &Expr, width: usize) -> Option<(Expr, usize)> {
    let ExprKind::Call { function, args } = &e.kind else { return None };
    let ("=", [a, b]) = (function.name, args.as_slice()) else { return None };
    let of_left = |e: &Expr| {
        let mut left = true;
        let mut reads = false;
        walk::any(e, &mut |e| {
            left &= match e.kind {
                ExprKind::Column(column) => {
                    reads = true;
                    column < width
                }
                ExprKind::Subquery { .. } | ExprKind::Outer { .. } => false,
                _ => true,
            };
            false
        });
        left && reads
    };
    let of_right = |e: &Expr| match e.kind {
        ExprKind::Column(column) => column.checked_sub(width),
        _ => None,
    };
    match (of_right(a), of_right(b)) {
        (None, Some(column)) if of_left(a) => Some((a.clone(), column)),
        (Some(column), None) if of_left(b) => Some((b.clone(), column)),
        _ => None,
    }
}

/// The versions that a relation shows one at a time, the columns that tell them apart, and whether only those count that
/// are later than all before; `None` if it has no key.
fn versions(rel: Rel) -> Result<Option<(Rel, Vec<usize>, bool)>> {
    let Rel { kind, fields } = rel;
    Ok(match kind {
        RelKind::Scan { table, span } => {
            let key: Option<Vec<usize>> =
                table.primary_key.iter().map(|name| fields.iter().position(|f| f.name == *name)).collect();
            let key = key.filter(|key| !key.is_empty());
            key.map(|key| (Rel { kind: RelKind::Scan { table, span }, fields }, key, false))
        }
        RelKind::Watermark { input, column, expr, interval, shown } => versions(*input)?.map(|(input, key, latest)| {
            let kind = RelKind::Watermark { input: Box::new(input), column, expr, interval, shown };
            (Rel { kind, fields }, key, latest)
        }),
        RelKind::Project { input, exprs } => {
            let Some((input, key, latest)) = versions(*input)? else { return Ok(None) };
            let column =
                |below: &usize| exprs.iter().position(|e| matches!(e.kind, ExprKind::Column(c) if c == *below));
            let Some(key) = key.iter().map(column).collect() else { return Ok(None) };
            Some((Rel { kind: RelKind::Project { input: Box::new(input), exprs }, fields }, key, latest))
        }
        RelKind::Filter { mut input, predicate } => match kept(&input, &predicate) {
            Some((key, latest)) => {
                if latest {
                    // each row is the first of its key when it comes
                    all_first(&mut input);
                }
                Some((Rel { kind: RelKind::Filter { input, predicate }, fields }, key, latest))
            }
            None => versions(*input)?.map(|(input, key, latest)| {
                (Rel { kind: RelKind::Filter { input: Box::new(input), predicate }, fields }, key, latest)
            }),
        },
        RelKind::Aggregate { calls, .. } => {
            let place = calls.first().map(|call| call.span).unwrap_or_default();
            return Err(Error::unsupported("a temporal join with the versions of an aggregate")
                .with_hint("join with a view that keeps the latest row of each key, by ROW_NUMBER() .. = 1")
                .at(place));
        }
        _ => None,
    })
}

/// The key of a deduplication, `ROW_NUMBER() OVER (PARTITION BY key ORDER BY rowtime) = 1`, and whether the latest row is
/// the one it keeps. `numbered` are the rows with their numbers.
fn kept(numbered: &Rel, predicate: &Expr) -> Option<(Vec<usize>, bool)> {
    // where the columns of the numbered rows are among those of the projections above
    let mut above: Vec<Option<usize>> = (0..numbered.fields.len()).map(Some).collect();
    let mut below = numbered;
    while let RelKind::Project { input, exprs } = &below.kind {
        let mut shown = vec![None; input.fields.len()];
        for (e, place) in exprs.iter().zip(&above) {
            if let ExprKind::Column(column) = e.kind
                && let Some(slot) = shown.get_mut(column)
            {
                *slot = slot.or(*place);
            }
        }
        above = shown;
        below = input;
    }
    let RelKind::Over { input: rows, calls } = &below.kind else { return None };
    let [call] = calls.as_slice() else { return None };
    let ([order], OverFunction::RowNumber) = (call.order.as_slice(), call.function) else { return None };
    let ExprKind::Column(time) = order.expr.kind else { return None };
    let number = above.get(rows.fields.len()).copied().flatten()?;
    if rows.time(time) != Some(TimeAttribute::Rowtime) || !is_first(predicate, number) {
        return None;
    }
    let column = |e: &Expr| match e.kind {
        ExprKind::Column(column) => above.get(column).copied().flatten(),
        _ => None,
    };
    Some((call.partition.iter().map(column).collect::<Option<_>>()?, order.descending))
}

/// Gives all rows the number 1.
fn all_first(numbered: &mut Rel) {
    match &mut numbered.kind {
        RelKind::Project { input, .. } => all_first(input),
        RelKind::Over { input, .. } => {
            let mut exprs: Vec<Expr> = vec![];
            for (i, field) in input.fields.iter().enumerate() {
                let kind = ExprKind::Column(i);
                exprs.push(Expr { kind, data_type: field.data_type.clone(), span: Span::default() });
            }
            exprs.push(literal::literal(Value::Int(1), LogicalType::BigInt.not_null(), Span::default()));
            let nothing = Rel { kind: RelKind::Values(vec![]), fields: vec![] };
            let rows = std::mem::replace(&mut **input, nothing);
            numbered.kind = RelKind::Project { input: Box::new(rows), exprs };
        }
        _ => {}
    }
}

/// Whether a condition says that a number is 1 and nothing else.
fn is_first(predicate: &Expr, number: usize) -> bool {
    let ExprKind::Call { function, args } = &predicate.kind else { return false };
    let is_number = |e: &Expr| {
        let e = match &e.kind {
            ExprKind::Cast { expr, .. } => expr,
            _ => e,
        };
        matches!(e.kind, ExprKind::Column(column) if column == number)
    };
    let is_one = |e: &Expr| {
        let e = match &e.kind {
            ExprKind::Cast { expr, .. } => expr,
            _ => e,
        };
        matches!(e.kind, ExprKind::Literal(Value::Int(1)))
    };
    match (function.name, args.as_slice()) {
        ("=", [a, b]) => is_number(a) && is_one(b) || is_one(a) && is_number(b),
        ("<=", [a, b]) => is_number(a) && is_one(b),
        _ => false,
    }
}
