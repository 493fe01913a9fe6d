//! Queries: WITH, set operations, VALUES, LIMIT.

use calve_sql::ast;
use calve_types::{Error, IntervalField, LogicalType, Result, Span, rules};

use super::names::Suffix;
use super::order::{Sorted, order_by};
use super::scope::{Env, Namespace, Scope, Table};
use super::{Binder, coerce, expr, literal, names, nested, span, walk};
use crate::expr::{Expr, ExprKind};
use crate::rel::{Field, Rel, RelKind, SetOpKind};

/// Queries named by WITH, the innermost WITH first.
pub(super) struct Ctes<'a> {
    outer: Option<&'a Ctes<'a>>,
    queries: &'a [Cte],
}

struct Cte {
    name: String,
    rel: Rel,
    /// How many query levels were around it, see [`Env::level`].
    level: usize,
}

/// A query with what its result's names depend on.
pub(super) struct Bound {
    /// The query; names may repeat.
    pub rel: Rel,
    /// How repeated names are told apart in a result.
    pub suffix: Suffix,
}

impl From<Rel> for Bound {
    fn from(rel: Rel) -> Self {
        Self { rel, suffix: Suffix::Counting }
    }
}

/// OFFSET, LIMIT and FETCH.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slice {
    offset: u64,
    fetch: Option<u64>,
}

impl Binder<'_> {
    /// A query at any place.
    pub(super) fn query(&self, query: &ast::Query, env: Env<'_>) -> Result<Bound> {
        nested(|| {
            refuse_clauses(query)?;
            match &query.with {
                None => self.body_and_order(query, env),
                Some(with) => self.with(with, query, env),
            }
        })
    }

    fn with(&self, with: &ast::With, query: &ast::Query, env: Env<'_>) -> Result<Bound> {
        let place = span::of(&with.with_token.0);
        if with.recursive {
            let word = self.places.behind(place.start).map_or(place, |start| self.places.token(start));
            return Err(Error::unsupported("WITH RECURSIVE").at(word));
        }
        if let ast::SetExpr::Insert(_) | ast::SetExpr::Update(_) | ast::SetExpr::Delete(_) = &*query.body {
            let word = self.places.after(place.start, &["INSERT", "UPDATE", "DELETE"]);
            return Err(Error::unsupported("a statement that changes data inside a query")
                .at(word.map_or(place, |start| self.places.token(start))));
        }
        let mut queries: Vec<Cte> = Vec::new();
        for cte in &with.cte_tables {
            if cte.from.is_some() || cte.materialized.is_some() {
                return Err(Error::unsupported("MATERIALIZED in WITH").at(place));
            }
            let ctes = Ctes { outer: env.ctes, queries: &queries };
            let mut rel = self.query(&cte.query, Env { ctes: Some(&ctes), ..env })?.rel;
            rename(&mut rel.fields, &cte.alias.columns).map_err(|mut e| {
                e.span = e.span.map(|place| self.with_word(place, &["("]));
                if e.code == "type-mismatch" {
                    e.detail = Some("Number of columns must match number of query columns".to_owned());
                }
                e
            })?;
            queries.push(Cte { name: cte.alias.name.value.clone(), rel, level: env.level() });
        }
        let ctes = Ctes { outer: env.ctes, queries: &queries };
        self.body_and_order(query, Env { ctes: Some(&ctes), ..env })
    }

    fn body_and_order(&self, query: &ast::Query, env: Env<'_>) -> Result<Bound> {
        let order = order_by(query)?;
        let slice = Slice::of(query).map_err(|mut e| {
            e.span = e.span.map(|place| self.with_word(place, &["-"]));
            e
        })?;
        if let ast::SetExpr::Select(select) = &*query.body {
            return self.select(select, order, slice, env);
        }
        let rel = self.set_expr(&query.body, env)?;
        if order.is_empty() {
            return Ok(slice.apply(rel).into());
        }
        let width = rel.fields.len();
        let namespace =
            Namespace::of(Table { name: None, path: None, columns: 0..width, base: false }, rel.fields.clone());
        let outputs: Vec<Expr> = (0..width).map(|i| namespace.field(i, Span::default())).collect();
        let scope = Scope::new(env, &namespace, "ORDER BY clause");
        let mut sorted = Sorted::new(outputs);
        for key in order {
            let (bound, column) = self.sort_key(key, &sorted, &scope)?;
            sorted.push(key, bound, column);
        }
        Ok(sorted.finish(rel, slice))
    }

    fn set_expr(&self, body: &ast::SetExpr, env: Env<'_>) -> Result<Rel> {
        nested(|| match body {
            ast::SetExpr::Select(select) => Ok(self.select(select, &[], Slice::default(), env)?.rel),
            ast::SetExpr::Query(query) => Ok(self.query(query, env)?.rel),
            ast::SetExpr::Values(values) => self.values(values, env),
            ast::SetExpr::SetOperation { op, set_quantifier, left, right } => {
                self.set_operation(*op, *set_quantifier, left, right, env)
            }
            ast::SetExpr::Table(_) => Err(Error::unsupported("TABLE as a query")),
            _ => Err(Error::unsupported("a statement that changes data inside a query")),
        })
    }

    fn set_operation(
        &self,
        op: ast::SetOperator,
        quantifier: ast::SetQuantifier,
        left: &ast::SetExpr,
        right: &ast::SetExpr,
        env: Env<'_>,
    ) -> Result<Rel> {
        let place = expr::set_expr_span(left);
        let kind = match op {
            ast::SetOperator::Union => SetOpKind::Union,
            ast::SetOperator::Intersect => SetOpKind::Intersect,
            ast::SetOperator::Except => SetOpKind::Except,
            ast::SetOperator::Minus => {
                return Err(Error::unsupported("MINUS").with_hint("write EXCEPT").at(place));
            }
        };
        let all = match quantifier {
            ast::SetQuantifier::All => true,
            ast::SetQuantifier::None | ast::SetQuantifier::Distinct => false,
            other => return Err(Error::unsupported(format!("{op} {other}")).at(place)),
        };
        let name = format!("{op}{}", if all { " ALL" } else { "" });
        let (items, right_items) = (self.select_places(left), self.select_places(right));
        let left = self.set_expr(left, env)?;
        let right = self.set_expr(right, env)?;
        if left.fields.len() != right.fields.len() {
            return Err(Error::new(
                "type-mismatch",
                format!("the sides of {name} have {} and {} columns", left.fields.len(), right.fields.len()),
            )
            .with_detail(format!("Column count mismatch in {name}"))
            .at(right_items.first().copied().unwrap_or(place)));
        }
        let mut fields = Vec::new();
        for (i, (l, r)) in left.fields.iter().zip(&right.fields).enumerate() {
            let common = rules::common_type(&[l.data_type.clone(), r.data_type.clone()]).ok_or_else(|| {
                let place = items.get(i).or(items.first()).copied().unwrap_or(place);
                Error::new(
                    "type-mismatch",
                    format!("column {} of {name} has types {} and {}", i + 1, l.data_type.logical, r.data_type.logical),
                )
                .with_detail(format!("Type mismatch in column {} of {name}", i + 1))
                .at(place)
            })?;
            fields.push(Field { name: l.name.clone(), data_type: common });
        }
        let (left, right) = (converted(left, &fields), converted(right, &fields));
        Ok(Rel { kind: RelKind::SetOp { left: Box::new(left), right: Box::new(right), kind, all }, fields })
    }

    /// The places of the columns of a query's first SELECT or row of VALUES; one for all with a `*`.
    fn select_places(&self, body: &ast::SetExpr) -> Vec<Span> {
        let words = ["DATE", "TIME", "TIMESTAMP", "INTERVAL", "CAST", "TRY_CAST", "NOT", "-", "+", "ARRAY", "MAP"];
        match body {
            ast::SetExpr::Select(select) => {
                let star = |item: &ast::SelectItem| {
                    matches!(item, ast::SelectItem::Wildcard(_) | ast::SelectItem::QualifiedWildcard(..))
                };
                let count = if select.projection.iter().any(star) { 1 } else { select.projection.len() };
                select.projection.iter().take(count).map(|item| self.with_word(item_span(item), &words)).collect()
            }
            ast::SetExpr::Query(query) => nested(|| self.select_places(&query.body)),
            ast::SetExpr::SetOperation { left, .. } => nested(|| self.select_places(left)),
            ast::SetExpr::Values(values) => values.rows.first().into_iter().flatten().map(expr::span_of).collect(),
            _ => Vec::new(),
        }
    }

    /// `VALUES (..), (..)`: every column has the common type of its values.
    fn values(&self, values: &ast::Values, env: Env<'_>) -> Result<Rel> {
        let namespace = Namespace::default();
        let scope = Scope::new(env, &namespace, "VALUES clause");
        let mut rows: Vec<Vec<Expr>> = Vec::new();
        for row in &values.rows {
            // A single ROW(..) is the row itself.
            let row: Vec<&ast::Expr> = match row.as_slice() {
                [ast::Expr::Function(call)] => expr::row_arguments(call).unwrap_or_else(|| row.iter().collect()),
                _ => row.iter().collect(),
            };
            let bound = row.into_iter().map(|e| self.value(e, &scope)).collect::<Result<Vec<_>>>()?;
            rows.push(bound);
        }
        let incompatible = |message: String| {
            let place = rows.iter().flatten().fold(Span::default(), |all, e| all.to(e.span));
            let place = self.with_word(self.with_word(place, &["("]), &["VALUES"]);
            Error::new("type-mismatch", message)
                .with_detail("Values passed to VALUES operator must have compatible types")
                .at(place)
        };
        let width = rows.first().map_or(0, Vec::len);
        if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != width) {
            return Err(incompatible(format!(
                "row {} of VALUES has {} values, the first has {width}",
                i + 1,
                row.len()
            )));
        }
        let mut fields = Vec::new();
        for column in 0..width {
            let types: Vec<_> = rows.iter().filter_map(|row| row.get(column)).map(|e| e.data_type.clone()).collect();
            let data_type = rules::common_type(&types).ok_or_else(|| {
                incompatible(format!("the values of column {} of VALUES have no common type", column + 1))
            })?;
            fields.push(Field { name: format!("EXPR${column}"), data_type });
        }
        let rows = rows
            .into_iter()
            .map(|row| row.into_iter().zip(&fields).map(|(e, f)| coerce::to(e, &f.data_type)).collect())
            .collect();
        Ok(Rel { kind: RelKind::Values(rows), fields })
    }

    /// A query named by WITH, as seen from `env`.
    pub(super) fn cte(&self, name: &str, env: Env<'_>) -> Result<Option<Rel>> {
        let mut withs = std::iter::successors(env.ctes, |ctes| ctes.outer);
        let Some(cte) = withs.find_map(|ctes| ctes.queries.iter().rev().find(|cte| cte.name == name)) else {
            return Ok(None);
        };
        let mut rel = cte.rel.clone();
        let deeper = env.level().saturating_sub(cte.level);
        if deeper > 0 {
            walk::outer_columns_mut(&mut rel, &mut |_, column| {
                if let ExprKind::Outer { depth, .. } = &mut column.kind {
                    *depth += deeper;
                }
                Ok(())
            })?;
        }
        Ok(Some(rel))
    }
}

impl Slice {
    fn of(query: &ast::Query) -> Result<Self> {
        let mut slice = Self::default();
        if let Some(clause) = &query.limit_clause {
            match clause {
                ast::LimitClause::LimitOffset { limit, offset, limit_by } => {
                    if !limit_by.is_empty() {
                        return Err(Error::unsupported("LIMIT BY"));
                    }
                    slice.fetch = limit.as_ref().map(|e| count("LIMIT", e)).transpose()?;
                    slice.offset = offset.as_ref().map_or(Ok(0), |o| count("OFFSET", &o.value))?;
                }
                ast::LimitClause::OffsetCommaLimit { limit, .. } => {
                    return Err(Error::new("syntax-error", "LIMIT takes one number")
                        .with_detail("'LIMIT start, count' is not allowed under the current SQL conformance level")
                        .with_hint("write LIMIT count OFFSET start")
                        .at(expr::span_of(limit)));
                }
            }
        }
        if let Some(fetch) = &query.fetch {
            if fetch.with_ties || fetch.percent {
                return Err(Error::unsupported("FETCH with PERCENT or WITH TIES"));
            }
            let Some(quantity) = &fetch.quantity else {
                return Err(Error::new("syntax-error", "FETCH needs a number of rows")
                    .with_hint("write FETCH FIRST 1 ROWS ONLY"));
            };
            slice.fetch = Some(count("FETCH", quantity)?);
        }
        if slice.offset > 0 && slice.fetch.is_none() {
            return Err(Error::unsupported("OFFSET without LIMIT or FETCH")
                .with_detail("Not support limitEnd is max value now!")
                .with_hint("add a LIMIT"));
        }
        Ok(slice)
    }

    /// The slice of a relation.
    pub fn apply(self, rel: Rel) -> Rel {
        if self.offset == 0 && self.fetch.is_none() {
            return rel;
        }
        let fields = rel.fields.clone();
        Rel { kind: RelKind::Limit { input: Box::new(rel), offset: self.offset, fetch: self.fetch }, fields }
    }
}

/// Where an entry of a select list stands.
fn item_span(item: &ast::SelectItem) -> Span {
    match item {
        ast::SelectItem::UnnamedExpr(e) | ast::SelectItem::ExprWithAlias { expr: e, .. } => expr::span_of(e),
        ast::SelectItem::Wildcard(options) | ast::SelectItem::QualifiedWildcard(_, options) => {
            span::of(&options.wildcard_token.0)
        }
    }
}

fn count(clause: &str, value: &ast::Expr) -> Result<u64> {
    match value {
        // Flink takes the whole part of a DECIMAL.
        ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Number(digits, _), .. }) => {
            digits.split('.').next().and_then(|whole| whole.parse().ok())
        }
        _ => None,
    }
    .ok_or_else(|| Error::new("syntax-error", format!("{clause} takes a whole number")).at(expr::span_of(value)))
}

fn refuse_clauses(query: &ast::Query) -> Result<()> {
    let foreign = [
        (!query.locks.is_empty(), "FOR UPDATE and FOR SHARE"),
        (query.for_clause.is_some(), "FOR XML, FOR JSON and FOR BROWSE"),
        (query.settings.is_some(), "SETTINGS"),
        (query.format_clause.is_some(), "FORMAT"),
        (!query.pipe_operators.is_empty(), "pipe operators"),
    ];
    match foreign.iter().find(|(present, _)| *present) {
        Some((_, clause)) => Err(Error::unsupported(clause)),
        None => Ok(()),
    }
}

/// Gives columns the names of an alias's list.
///
/// # Errors
/// `type-mismatch` if the list has another length; `not-supported` for types in it.
pub(super) fn rename(fields: &mut [Field], columns: &[ast::TableAliasColumnDef]) -> Result<()> {
    if columns.is_empty() {
        return Ok(());
    }
    let place = span::idents(columns.iter().map(|c| &c.name));
    if columns.iter().any(|c| c.data_type.is_some()) {
        return Err(Error::unsupported("types in a list of column aliases").at(place));
    }
    if fields.len() != columns.len() {
        let names: Vec<String> = fields.iter().map(|f| format!("'{}'", f.name)).collect();
        return Err(Error::new(
            "type-mismatch",
            format!("{} column aliases for a table of {} columns", columns.len(), fields.len()),
        )
        .with_detail(format!(
            "List of column aliases must have same degree as table; table has {} columns ({}), whereas alias list has {} columns",
            fields.len(),
            names.join(", "),
            columns.len()
        ))
        .at(place));
    }
    for (field, column) in fields.iter_mut().zip(columns) {
        field.name.clone_from(&column.name.value);
    }
    Ok(())
}

/// The relation with its columns cast to the types of `fields`, if any differs in more than nullability.
pub(super) fn converted(rel: Rel, fields: &[Field]) -> Rel {
    if rel.fields.iter().zip(fields).all(|(have, want)| have.data_type.logical == want.data_type.logical) {
        return rel;
    }
    let mut exprs = Vec::new();
    let mut types = Vec::new();
    for (i, (have, want)) in rel.fields.iter().zip(fields).enumerate() {
        let column = Expr { kind: ExprKind::Column(i), data_type: have.data_type.clone(), span: Span::default() };
        let expr = coerce::to(column, &want.data_type);
        types.push(Field { name: have.name.clone(), data_type: expr.data_type.clone() });
        exprs.push(expr);
    }
    Rel { kind: RelKind::Project { input: Box::new(rel), exprs }, fields: types }
}

/// One row without a meaning of its own: what a query without FROM reads.
pub(super) fn one_row() -> Rel {
    let zero = literal::literal(calve_types::Value::Int(0), LogicalType::Int.not_null(), Span::default());
    let fields = vec![Field { name: "ZERO".to_owned(), data_type: zero.data_type.clone() }];
    Rel { kind: RelKind::Values(vec![vec![zero]]), fields }
}

/// The query as a result: unique names, and interval types as Flink's planner knows them.
pub(super) fn result(bound: Bound) -> Rel {
    let Bound { mut rel, suffix } = bound;
    let unique = names::unique(rel.fields.iter().map(|f| f.name.as_str()), suffix);
    for (field, name) in rel.fields.iter_mut().zip(unique) {
        field.name = name;
        plain_intervals(&mut field.data_type.logical);
    }
    rel
}

/// Flink's planner knows two interval types; the units of a literal or cast matter only inside an expression.
fn plain_intervals(logical: &mut LogicalType) {
    use IntervalField::{Month, Second};
    match logical {
        LogicalType::IntervalYearMonth { .. } => {
            *logical = LogicalType::IntervalYearMonth { from: Month, to: Month, precision: 2 };
        }
        LogicalType::IntervalDayTime { .. } => {
            *logical = LogicalType::IntervalDayTime { from: Second, to: Second, day_precision: 2, fraction: 3 };
        }
        LogicalType::Array(element) | LogicalType::Multiset(element) => plain_intervals(&mut element.logical),
        LogicalType::Map(key, value) => {
            plain_intervals(&mut key.logical);
            plain_intervals(&mut value.logical);
        }
        LogicalType::Row(fields) => fields.iter_mut().for_each(|f| plain_intervals(&mut f.data_type.logical)),
        _ => {}
    }
}
