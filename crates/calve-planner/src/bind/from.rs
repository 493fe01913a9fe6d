//! FROM: tables, derived tables, joins.

use std::sync::Arc;

use calve_sql::ast;
use calve_types::{Error, Result, Span, rules};

use super::match_recognize::Clauses;
use super::query::rename;
use super::scope::{Env, Merged, Namespace, Scope, Table};
use super::window::TableCall;
use super::{Binder, call, coerce, expr, names, span, temporal, walk};
use crate::catalog::TableEntry;
use crate::expr::{Expr, ExprKind};
use crate::rel::{Field, JoinKind, Rel, RelKind};

/// A relation and what its columns are called.
pub(super) type Source = (Rel, Namespace);

impl Binder<'_> {
    /// The tables of a FROM clause, at least one.
    pub(super) fn from(&self, from: &[ast::TableWithJoins], env: Env<'_>) -> Result<Source> {
        let mut all: Option<Source> = None;
        for item in from {
            let unnest = lateral_unnest(&item.relation);
            all = Some(match (all, unnest.as_ref().unwrap_or(&item.relation)) {
                (None, _) => self.table_with_joins(item, env)?,
                // UNNEST sees what stands before it.
                (Some(left), unnest @ ast::TableFactor::UNNEST { .. }) => {
                    let left = self.unnest_factor(Some(left), unnest, false, env)?;
                    self.joins(left, &item.joins, env)?
                }
                (Some(left), ast::TableFactor::Function { lateral: true, .. }) => {
                    return Err(self.no_table_function(&left.1, &item.relation, env));
                }
                (Some(left), ast::TableFactor::Derived { lateral: true, .. }) => {
                    let (next, depends) = self.lateral(&left.1, &item.relation, env)?;
                    named_once(&left.1, &next.1, &item.relation)?;
                    if depends {
                        lateral_drops_rows(&next.0).map_err(|e| e.at(factor_span(&item.relation)))?;
                    }
                    let left = self.join(left, next, (JoinKind::Inner, depends), Condition::None, env)?;
                    self.joins(left, &item.joins, env)?
                }
                (Some(left), _) => {
                    let next = self.table_with_joins(item, env)?;
                    named_once(&left.1, &next.1, &item.relation)?;
                    self.join(left, next, (JoinKind::Inner, false), Condition::None, env)?
                }
            });
        }
        all.ok_or_else(|| Error::internal("an empty FROM clause"))
    }

    fn table_with_joins(&self, item: &ast::TableWithJoins, env: Env<'_>) -> Result<Source> {
        let left = self.table_factor(&item.relation, env)?;
        self.joins(left, &item.joins, env)
    }

    /// Where the JOIN before a table stands.
    fn join_word(&self, right: &ast::TableFactor) -> Span {
        let place = factor_span(right);
        let start = self.places.nearest(place.start, &["JOIN"], 3);
        start.map_or(place, |start| Span { start, ..place })
    }

    fn joins(&self, mut left: Source, joins: &[ast::Join], env: Env<'_>) -> Result<Source> {
        for join in joins {
            let (kind, constraint) = join_kind(join).map_err(|e| e.at(self.join_word(&join.relation)))?;
            let unnest = lateral_unnest(&join.relation);
            let relation = unnest.as_ref().unwrap_or(&join.relation);
            if let ast::TableFactor::UNNEST { .. } = relation {
                left = self.join_unnest(left, relation, kind, constraint, env)?;
                continue;
            }
            if let Some(version) = temporal::version_by_row(&join.relation) {
                left = self.temporal_join(left, &join.relation, version, kind, constraint, env)?;
                continue;
            }
            let (right, depends) = match &join.relation {
                ast::TableFactor::Function { lateral: true, .. } => {
                    return Err(self.no_table_function(&left.1, &join.relation, env));
                }
                ast::TableFactor::Derived { lateral: true, .. } => self.lateral(&left.1, &join.relation, env)?,
                relation => (self.table_factor(relation, env)?, false),
            };
            named_once(&left.1, &right.1, &join.relation)?;
            if depends && kind == JoinKind::Inner {
                lateral_drops_rows(&right.0).map_err(|e| e.at(factor_span(&join.relation)))?;
            }
            if depends && matches!(kind, JoinKind::Right | JoinKind::Full) {
                return Err(Error::unsupported("a RIGHT or FULL join with LATERAL").at(factor_span(&join.relation)));
            }
            let condition = match constraint {
                ast::JoinConstraint::On(condition) => Condition::On(condition),
                ast::JoinConstraint::Using(columns) => Condition::Using(using_columns(columns)?),
                ast::JoinConstraint::Natural => Condition::Using(common_columns(&left.1, &right.1)),
                ast::JoinConstraint::None => Condition::None,
            };
            left = self.join(left, right, (kind, depends), condition, env)?;
        }
        Ok(left)
    }

    /// `LATERAL (SELECT ..)`, which sees the columns of what stands before it, and whether it uses them.
    fn lateral(&self, before: &Namespace, factor: &ast::TableFactor, env: Env<'_>) -> Result<(Source, bool)> {
        let ast::TableFactor::Derived { subquery, alias, sample: None, .. } = factor else {
            return Err(Error::unsupported("TABLESAMPLE").at(factor_span(factor)));
        };
        let scope = Scope::new(env, before, "LATERAL query");
        let mut rel = self.query(subquery, scope.inner())?.rel;
        if walk::windows_of_correlated(&mut rel)? {
            return Err(Error::unsupported("functions over windows in a correlated LATERAL query")
                .with_detail("Flink computes them over the rows of all queries together.")
                .at(factor_span(factor)));
        }
        let mut depends = false;
        walk::outer_columns_mut(&mut rel, &mut |depth, _| {
            depends |= depth == 1;
            Ok(())
        })?;
        if !depends {
            // It is a query like any other here, one level further out.
            walk::outer_columns_mut(&mut rel, &mut |_, column| {
                if let ExprKind::Outer { depth, .. } = &mut column.kind {
                    *depth = depth.saturating_sub(1);
                }
                Ok(())
            })?;
        }
        Ok((derived(rel, None, alias.as_ref())?, depends))
    }

    /// The error for `LATERAL TABLE(f(..))`: Flink has no table functions of its own but UNNEST.
    fn no_table_function(&self, before: &Namespace, factor: &ast::TableFactor, env: Env<'_>) -> Error {
        let ast::TableFactor::Function { name, args, .. } = factor else {
            return Error::unsupported("table functions").at(factor_span(factor));
        };
        let inner = match args.as_slice() {
            [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ast::Expr::Function(inner)))] => match &inner.args {
                ast::FunctionArguments::List(list) => Some((&inner.name, list.args.as_slice())),
                _ => None,
            },
            _ => None,
        };
        let (name, args) = inner.unwrap_or((name, args));
        let scope = Scope::new(env, before, "LATERAL TABLE");
        let place = names::span_of(name);
        let bound: Result<Vec<Expr>> =
            args.iter().map(|arg| self.expr(call::argument(arg, &name.to_string(), place)?, &scope)).collect();
        match bound {
            Ok(args) => call::unknown(&name.to_string(), Some(&args), place),
            Err(error) => error,
        }
    }

    fn table_factor(&self, factor: &ast::TableFactor, env: Env<'_>) -> Result<Source> {
        match factor {
            ast::TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_hints,
            } => {
                let place = names::span_of(name);
                let refused = [
                    (*with_ordinality, "WITH ORDINALITY"),
                    (
                        !with_hints.is_empty()
                            || !partitions.is_empty()
                            || json_path.is_some()
                            || !index_hints.is_empty(),
                        "options after a table's name",
                    ),
                    (sample.is_some(), "TABLESAMPLE"),
                ];
                if let Some((_, feature)) = refused.iter().find(|(present, _)| *present) {
                    return Err(Error::unsupported(feature).at(place));
                }
                if let Some(args) = args {
                    let call = TableCall { name, args: &args.args, place: call_span(factor) };
                    return self.table_call(&call, alias.as_ref(), env);
                }
                match version {
                    Some(version) => self.version(name, alias.as_ref(), version, env),
                    None => self.named_table(name, alias.as_ref(), env),
                }
            }
            ast::TableFactor::Derived { lateral: _, subquery, alias, sample } => {
                if sample.is_some() {
                    return Err(Error::unsupported("TABLESAMPLE").at(expr::query_span(subquery)));
                }
                let rel = self.query(subquery, env)?.rel;
                derived(rel, None, alias.as_ref())
            }
            ast::TableFactor::NestedJoin { table_with_joins, alias: None } => {
                self.table_with_joins(table_with_joins, env)
            }
            ast::TableFactor::NestedJoin { alias: Some(alias), .. } => {
                Err(Error::unsupported("an alias of a join in parentheses").at(span::ident(&alias.name)))
            }
            ast::TableFactor::TableFunction { expr, alias } => match TableCall::of(expr) {
                Some(call) => self.table_call(&call, alias.as_ref(), env),
                None => Err(Error::unsupported("table functions").at(expr::span_of(expr))),
            },
            ast::TableFactor::Function { name, args, alias, .. } => {
                let call = TableCall { name, args, place: call_span(factor) };
                self.table_call(&call, alias.as_ref(), env)
            }
            ast::TableFactor::UNNEST { .. } => self.unnest_factor(None, factor, false, env),
            ast::TableFactor::MatchRecognize {
                table,
                partition_by,
                order_by,
                measures,
                rows_per_match,
                after_match_skip,
                pattern,
                symbols,
                alias,
            } => {
                let clauses = Clauses {
                    partition_by,
                    order_by,
                    measures,
                    rows_per_match: rows_per_match.as_ref(),
                    after_match_skip: after_match_skip.as_ref(),
                    pattern,
                    symbols,
                    alias: alias.as_ref(),
                };
                self.match_recognize(&clauses, self.table_factor(table, env)?, env)
            }
            ast::TableFactor::Pivot { .. } | ast::TableFactor::Unpivot { .. } => Err(Error::unsupported("PIVOT")),
            _ => Err(Error::unsupported("this kind of table in FROM")),
        }
    }

    /// A function in FROM.
    fn table_call(&self, call: &TableCall<'_>, alias: Option<&ast::TableAlias>, env: Env<'_>) -> Result<Source> {
        let found = self.window_function(call, alias, env)?;
        found.ok_or_else(|| Error::unsupported("table functions").at(call.place))
    }

    pub(super) fn named_table(
        &self,
        name: &ast::ObjectName,
        alias: Option<&ast::TableAlias>,
        env: Env<'_>,
    ) -> Result<Source> {
        let place = names::span_of(name);
        let options = self.hints.options_for(name).map_or(&[][..], |hint| hint.options.as_slice());
        let name = names::parts(name)?;
        if let [single] = name.as_slice()
            && let Some(rel) = self.cte(&single.value, env)?
        {
            if !options.is_empty() {
                let name = &single.value;
                return Err(Error::new("invalid-hint", format!("'{name}' is a query of WITH: hints belong to tables"))
                    .with_detail(format!(
                        "View '{name}' cannot be enriched with new options. Hints can only be applied to tables."
                    ))
                    .at(place));
            }
            return derived(rel, Some(&single.value), alias);
        }
        let parts: Vec<&str> = name.iter().map(|part| part.value.as_str()).collect();
        let entry = self.table(&parts, options, place)?;
        self.table_source(&name, &entry, options, alias, place)
    }

    /// As [`Self::named_table`], as the table was at a time in milliseconds since 1970.
    pub(super) fn named_version(
        &self,
        name: &ast::ObjectName,
        alias: Option<&ast::TableAlias>,
        millis: i64,
    ) -> Result<Source> {
        let place = names::span_of(name);
        let options = self.hints.options_for(name).map_or(&[][..], |hint| hint.options.as_slice());
        let name = names::parts(name)?;
        let parts: Vec<&str> = name.iter().map(|part| part.value.as_str()).collect();
        let entry = self.table(&parts, options, place)?;
        let entry = self.catalog.version(&entry, millis).map_err(|e| e.at(place))?;
        self.table_source(&name, &entry, options, alias, place)
    }

    fn table_source(
        &self,
        name: &[&ast::Ident],
        entry: &Arc<TableEntry>,
        options: &[(String, String)],
        alias: Option<&ast::TableAlias>,
        place: Span,
    ) -> Result<Source> {
        let rel = self.rows_of(entry, options, place)?;
        let mut fields = rel.fields.clone();
        let columns = 0..fields.len();
        let table = match alias {
            None => Table {
                name: name.last().map(|last| last.value.clone()),
                path: Some(entry.path.clone()),
                columns,
                base: true,
            },
            Some(alias) => {
                rename(&mut fields, &alias.columns)?;
                Table { name: Some(alias.name.value.clone()), path: None, columns, base: true }
            }
        };
        Ok((rel, Namespace::of(table, fields)))
    }

    /// The join of two tables; `depends` says whether the right one sees the columns of the left one.
    pub(super) fn join(
        &self,
        (left, left_names): Source,
        (right, right_names): Source,
        (kind, depends): (JoinKind, bool),
        condition: Condition<'_>,
        env: Env<'_>,
    ) -> Result<Source> {
        let width = left.fields.len();
        let joined = concat(left_names, right_names);
        let mut merged = Vec::new();
        let condition = match condition {
            Condition::None => None,
            Condition::On(on) => Some(self.condition(on, &Scope::new(env, &joined, "ON clause"), "ON clause")?),
            Condition::Using(columns) => {
                let mut all: Option<Expr> = None;
                for column in columns {
                    let (l, r) =
                        (side(&joined, 0..width, &column)?, side(&joined, width..joined.fields.len(), &column)?);
                    let place = span::ident(&column);
                    let equal = call::function("=", vec![l.clone(), r.clone()], place)?;
                    all = Some(match all {
                        None => equal,
                        Some(all) => call::function("AND", vec![all, equal], place)?,
                    });
                    merged.push((column, l, r));
                }
                all
            }
        };
        let namespace = {
            let mut names = joined;
            let (left_null, right_null) = match kind {
                JoinKind::Inner => (false, false),
                JoinKind::Left => (false, true),
                JoinKind::Right => (true, false),
                JoinKind::Full => (true, true),
            };
            for (i, field) in names.fields.iter_mut().enumerate() {
                field.data_type.nullable |= if i < width { left_null } else { right_null };
            }
            let fields = names.fields.clone();
            for old in &mut names.merged {
                retype(&mut old.expr, &fields)?;
            }
            for (column, l, r) in merged {
                let mut merged = merge(&column, l, r, kind, &fields)?;
                // A column merged before goes into the new one with all it stands for.
                let (absorbed, kept) =
                    names.merged.into_iter().partition(|old| old.fields.iter().any(|f| merged.fields.contains(f)));
                names.merged = kept;
                merged.fields.extend(absorbed.into_iter().flat_map(|old: Merged| old.fields));
                names.merged.push(merged);
            }
            names
        };
        // The names of the relation are those of its inputs, whatever aliases say.
        let fields = left
            .fields
            .iter()
            .chain(&right.fields)
            .zip(&namespace.fields)
            .map(|(f, n)| Field { name: f.name.clone(), data_type: n.data_type.clone() })
            .collect();
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = if depends {
            RelKind::Correlate { left, right, kind, condition }
        } else {
            RelKind::Join { left, right, kind, condition }
        };
        Ok((Rel { kind, fields }, namespace))
    }
}

/// `LATERAL UNNEST(..)`, which sqlparser takes for a function, as UNNEST.
fn lateral_unnest(factor: &ast::TableFactor) -> Option<ast::TableFactor> {
    let ast::TableFactor::Function { lateral: true, name, args, alias } = factor else { return None };
    let is_unnest =
        matches!(name.0.as_slice(), [n] if n.as_ident().is_some_and(|n| n.value.eq_ignore_ascii_case("UNNEST")));
    let array_exprs: Option<Vec<ast::Expr>> = args
        .iter()
        .map(|arg| match arg {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(e)) => Some(e.clone()),
            _ => None,
        })
        .collect();
    array_exprs.filter(|_| is_unnest).map(|array_exprs| ast::TableFactor::UNNEST {
        alias: alias.clone(),
        array_exprs,
        with_offset: false,
        with_offset_alias: None,
        with_ordinality: false,
    })
}

/// Refuses an inner join with a correlated query whose aggregates have a row without rows: Flink turns it into a join by
/// its keys, which loses that row. Its LEFT JOIN keeps it.
fn lateral_drops_rows(query: &Rel) -> Result<()> {
    let mut rel = query;
    loop {
        match &rel.kind {
            RelKind::Project { input, .. } | RelKind::Filter { input, .. } | RelKind::Sort { input, .. } => rel = input,
            RelKind::Aggregate { groups, .. } if groups.is_empty() => {
                return Err(Error::unsupported("aggregates of a correlated LATERAL query without LEFT JOIN")
                    .with_detail(
                        "Flink leaves out the rows for which such a query aggregates nothing, although COUNT is 0 for them.",
                    )
                    .with_hint("write LEFT JOIN LATERAL (...) ON TRUE, which gives a row for each"));
            }
            _ => return Ok(()),
        }
    }
}

/// Refuses a name that stands twice in FROM.
pub(super) fn named_once(left: &Namespace, right: &Namespace, factor: &ast::TableFactor) -> Result<()> {
    let known = |name: &str| left.tables.iter().any(|t| t.name.as_deref() == Some(name));
    let Some(name) = right.tables.iter().filter_map(|t| t.name.as_deref()).find(|name| known(name)) else {
        return Ok(());
    };
    Err(Error::new("ambiguous-table", format!("table '{name}' is ambiguous: it stands twice in FROM"))
        .with_detail(format!("Duplicate relation name '{name}' in FROM clause"))
        .with_hint("give each an alias of its own")
        .at(factor_span(factor)))
}

/// What a join compares.
pub(super) enum Condition<'a> {
    None,
    On(&'a ast::Expr),
    Using(Vec<ast::Ident>),
}

pub(super) fn derived(rel: Rel, name: Option<&str>, alias: Option<&ast::TableAlias>) -> Result<Source> {
    let mut fields = rel.fields.clone();
    let name = match alias {
        None => name.map(str::to_owned),
        Some(alias) => {
            rename(&mut fields, &alias.columns)?;
            Some(alias.name.value.clone())
        }
    };
    let table = Table { name, path: None, columns: 0..fields.len(), base: false };
    Ok((rel, Namespace::of(table, fields)))
}

fn join_kind(join: &ast::Join) -> Result<(JoinKind, &ast::JoinConstraint)> {
    use ast::JoinOperator as J;
    let place = factor_span(&join.relation);
    if join.global {
        return Err(Error::unsupported("GLOBAL JOIN").at(place));
    }
    let (kind, constraint) = match &join.join_operator {
        J::CrossJoin(ast::JoinConstraint::None) => return Ok((JoinKind::Inner, &ast::JoinConstraint::None)),
        J::CrossJoin(_) => {
            return Err(Error::new("syntax-error", "CROSS JOIN has no condition").with_detail(
                "Cannot specify condition (NATURAL keyword, or ON or USING clause) following CROSS JOIN",
            ));
        }
        J::Join(c) | J::Inner(c) => (JoinKind::Inner, c),
        J::Left(c) | J::LeftOuter(c) => (JoinKind::Left, c),
        J::Right(c) | J::RightOuter(c) => (JoinKind::Right, c),
        J::FullOuter(c) => (JoinKind::Full, c),
        J::Semi(_) | J::LeftSemi(_) | J::RightSemi(_) => {
            return Err(Error::unsupported("SEMI JOIN").with_hint("write WHERE EXISTS (...) or IN (...)").at(place));
        }
        J::Anti(_) | J::LeftAnti(_) | J::RightAnti(_) => {
            return Err(Error::unsupported("ANTI JOIN").with_hint("write WHERE NOT EXISTS (...)").at(place));
        }
        J::CrossApply | J::OuterApply => return Err(Error::unsupported("APPLY").at(place)),
        J::AsOf { .. } => return Err(Error::unsupported("ASOF JOIN").at(place)),
        J::StraightJoin(_) => return Err(Error::unsupported("STRAIGHT_JOIN").at(place)),
    };
    if matches!(constraint, ast::JoinConstraint::None) {
        return Err(Error::new("syntax-error", "a JOIN needs a condition")
            .with_detail("INNER, LEFT, RIGHT or FULL join requires a condition (NATURAL keyword or ON or USING clause)")
            .with_hint("write CROSS JOIN for all pairs"));
    }
    Ok((kind, constraint))
}

/// The place of a call in FROM.
fn call_span(factor: &ast::TableFactor) -> Span {
    let whole = span::of(factor);
    if whole == Span::default() { factor_span(factor) } else { whole }
}

fn factor_span(factor: &ast::TableFactor) -> Span {
    match factor {
        ast::TableFactor::Table { name, .. } | ast::TableFactor::Function { name, .. } => names::span_of(name),
        ast::TableFactor::Derived { subquery, .. } => expr::query_span(subquery),
        _ => Span::default(),
    }
}

fn using_columns(columns: &[ast::ObjectName]) -> Result<Vec<ast::Ident>> {
    columns
        .iter()
        .map(|name| match names::parts(name)?.as_slice() {
            [column] => Ok((*column).clone()),
            _ => {
                Err(Error::new("syntax-error", "USING takes names of columns without a table").at(names::span_of(name)))
            }
        })
        .collect()
}

/// The columns a NATURAL join compares: those of the same name, in the order of the left side.
fn common_columns(left: &Namespace, right: &Namespace) -> Vec<ast::Ident> {
    let mut columns: Vec<ast::Ident> = Vec::new();
    for field in &left.fields {
        if right.fields.iter().any(|f| f.name == field.name) && !columns.iter().any(|c| c.value == field.name) {
            columns.push(ast::Ident::new(field.name.clone()));
        }
    }
    columns
}

fn concat(mut left: Namespace, right: Namespace) -> Namespace {
    let width = left.fields.len();
    left.fields.extend(right.fields);
    left.tables.extend(
        right.tables.into_iter().map(|t| Table { columns: t.columns.start + width..t.columns.end + width, ..t }),
    );
    left.merged.extend(right.merged.into_iter().map(|mut m| {
        shift(&mut m.expr, width);
        m.fields.iter_mut().for_each(|f| *f += width);
        m
    }));
    left
}

fn shift(expr: &mut Expr, by: usize) {
    if let ExprKind::Column(index) = &mut expr.kind {
        *index += by;
        return;
    }
    let shifted = walk::children_mut(expr, &mut |child| {
        shift(child, by);
        Ok(())
    });
    debug_assert!(shifted.is_ok());
}

/// Gives the columns in a merged column the nullability that an outer join made of them.
fn retype(expr: &mut Expr, fields: &[Field]) -> Result<()> {
    if let ExprKind::Column(index) = expr.kind {
        if let Some(field) = fields.get(index) {
            expr.data_type = field.data_type.clone();
        }
        return Ok(());
    }
    walk::children_mut(expr, &mut |child| retype(child, fields))?;
    let mut nullable = true;
    walk::children_mut(expr, &mut |child| {
        nullable &= child.data_type.nullable;
        Ok(())
    })?;
    expr.data_type.nullable = nullable;
    Ok(())
}

/// A column of USING on one side of a join.
fn side(joined: &Namespace, range: std::ops::Range<usize>, column: &ast::Ident) -> Result<Expr> {
    let place = span::ident(column);
    let merged = joined.merged.iter().filter(|m| m.name == column.value && m.fields.iter().all(|f| range.contains(f)));
    let alone = |i: &usize| !merged.clone().any(|m| m.fields.contains(i));
    let named = |i: &usize| joined.fields.get(*i).is_some_and(|f| f.name == column.value);
    let mut found: Vec<Expr> = merged.clone().map(|m| m.expr.clone()).collect();
    found.extend(range.clone().filter(named).filter(alone).map(|i| joined.field(i, place)));
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            let fields = joined.fields.get(range).unwrap_or_default();
            let error =
                Error::new("unknown-column", format!("column '{}' of USING is not on both sides", column.value))
                    .with_detail(format!("Column '{}' not found in any table", column.value));
            Err(names::did_you_mean(error, &column.value, fields.iter().map(|f| f.name.as_str())).at(place))
        }
        _ => Err(super::scope::ambiguous(&column.value, place)),
    }
}

/// The column that stands for one of each side: the side that an outer join keeps, both in a full one.
fn merge(column: &ast::Ident, left: Expr, right: Expr, kind: JoinKind, fields: &[Field]) -> Result<Merged> {
    let mut stands_for = Vec::new();
    for side in [&left, &right] {
        walk::any(side, &mut |e| {
            if let ExprKind::Column(index) = e.kind {
                stands_for.push(index);
            }
            false
        });
    }
    let (mut left, mut right) = (left, right);
    retype(&mut left, fields)?;
    retype(&mut right, fields)?;
    let types = [left.data_type.clone(), right.data_type.clone()];
    let expr = match (kind, rules::common_type(&types)) {
        (JoinKind::Full, _) | (_, None) => call::function("COALESCE", vec![left, right], span::ident(column))?,
        // A pair of an inner join has no NULL, so the side that says so is the better one.
        (JoinKind::Inner, Some(common)) => {
            coerce::to(if left.data_type.nullable && !right.data_type.nullable { right } else { left }, &common)
        }
        (JoinKind::Left, Some(common)) => coerce::to(left, &common),
        (JoinKind::Right, Some(common)) => coerce::to(right, &common),
    };
    Ok(Merged { name: column.value.clone(), expr, fields: stands_for })
}
