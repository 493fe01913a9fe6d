//! SELECT.

use std::cell::RefCell;

use calve_sql::ast;
use calve_types::{Error, LogicalType, Result, Span};

use super::aggregate::Grouping;
use super::grouping::Groups;
use super::names::Suffix;
use super::order::{Sorted, orderable};
use super::query::{Bound, Slice, one_row};
use super::scope::{Aggregates, Env, Namespace, Scope, Windows, ambiguous, fields};
use super::{Binder, expr, names, span, window};
use crate::expr::Expr;
use crate::rel::{Field, Rel, RelKind};

impl Binder<'_> {
    /// A SELECT with the ORDER BY and LIMIT of its query.
    pub(super) fn select(
        &self,
        select: &ast::Select,
        order: &[ast::OrderByExpr],
        slice: Slice,
        env: Env<'_>,
    ) -> Result<Bound> {
        refuse_clauses(select)?;
        let distinct = match &select.distinct {
            None | Some(ast::Distinct::All) => false,
            Some(ast::Distinct::Distinct) => true,
            Some(ast::Distinct::On(_)) => return Err(Error::unsupported("DISTINCT ON")),
        };
        let (mut input, namespace) = match select.from.as_slice() {
            [] => (one_row(), Namespace::default()),
            from => self.from(from, env)?,
        };
        if let Some(selection) = &select.selection {
            if select.from.is_empty() {
                let place = self.with_word(expr::span_of(selection), &["WHERE"]);
                return Err(Error::new("syntax-error", "WHERE needs a FROM clause").at(place));
            }
            let predicate = self.condition(selection, &Scope::new(env, &namespace, "WHERE clause"), "WHERE clause")?;
            input = filter(input, predicate);
        }

        let (mut input, namespace) = self.with_group_window(input, namespace, &select.group_by, env)?;
        let key_scope = Scope::new(env, &namespace, "GROUP BY clause");
        let hint_alias = |e: Error| explain_alias(e, &select.projection);
        let groups = self.groups(&select.group_by, &key_scope).map_err(hint_alias)?;
        let collected = RefCell::new(Vec::new());
        let grouped = groups.as_ref().is_some_and(|groups| !groups.keys.is_empty());
        let aggregates = Aggregates::Collected { calls: &collected, grouped, groups: groups.as_ref() };
        let windows = Windows::Allowed(&select.named_window);
        let scope = Scope { env, namespace: &namespace, aggregates, windows, selected: &[] };
        self.check_windows(&select.named_window, &scope)?;
        let mut items = Vec::new();
        for item in &select.projection {
            self.select_item(item, &scope, &mut items)?;
        }
        let having = match &select.having {
            Some(having) => {
                let scope = Scope { windows: Windows::Refused("HAVING clause"), ..scope };
                Some(self.condition(having, &scope, "HAVING clause").map_err(hint_alias)?)
            }
            None => None,
        };
        let qualify_scope = Scope { selected: &items, ..scope };
        let mut qualify = select.qualify.as_ref().map(|q| self.qualify(q, &qualify_scope)).transpose()?;

        let plain = groups.is_none() && having.is_none() && collected.borrow().is_empty();
        let mut sorted = Sorted::new(items.iter().map(|(_, e)| e.clone()).collect());
        let order_scope = Scope { selected: &items, ..scope };
        for key in order {
            let (bound, column) = self.sort_key(key, &sorted, &order_scope)?;
            if distinct && column.is_none() && !sorted.determines(&bound) {
                return Err(Error::new("invalid-order-by", "ORDER BY of a SELECT DISTINCT takes only what it selects")
                    .with_detail(format!("Expression '{}' is not in the select clause", key.expr))
                    .at(bound.span));
            }
            sorted.push(key, bound, column);
        }
        sorted.check_keys()?;
        if plain && let Some(first) = collected.borrow().first() {
            return Err(Error::new(
                "misplaced-aggregate",
                format!("'{}' in ORDER BY needs a GROUP BY", first.function.name),
            )
            .with_detail("Aggregate expression is illegal in ORDER BY clause of non-aggregating SELECT")
            .at(first.span));
        }

        let calls = collected.into_inner();
        if groups.is_some() || having.is_some() || !calls.is_empty() {
            let groups = groups.unwrap_or_else(|| Groups { keys: Vec::new(), sets: vec![Vec::new()] });
            let grouping = Grouping::new(input, &namespace, groups, calls)?;
            let having = having.map(|h| grouping.over(h)).transpose()?;
            for e in sorted.exprs.iter_mut().chain(&mut qualify) {
                *e = grouping.over(e.clone())?;
            }
            input = grouping.aggregate();
            if namespace.group_window.is_none() {
                window::check_aggregate(&input, span::of(&select.select_token.0))?;
            }
            if let Some(having) = having {
                input = filter(input, having);
            }
        }
        input = self.over_windows(input, sorted.exprs.iter_mut().chain(&mut qualify))?;
        if let Some(qualify) = qualify {
            input = filter(input, qualify);
        }
        let output: Vec<Field> = items
            .into_iter()
            .zip(&sorted.exprs)
            .map(|((name, _), e)| Field { name, data_type: e.data_type.clone() })
            .collect();
        if let Some(e) = sorted.exprs.iter().take(sorted.visible).find(|e| e.data_type.logical == LogicalType::Null) {
            return Err(expr::untyped_null(e.span));
        }
        if !distinct {
            return Ok(sorted.project(input, output, slice));
        }
        sorted.exprs.iter().try_for_each(orderable)?;
        let project = RelKind::Project { input: Box::new(input), exprs: sorted.exprs.clone() };
        // What only the order needs is made of the visible columns: it makes no more rows different.
        let all = sorted.all_fields(&output);
        let project = Rel { kind: project, fields: all.clone() };
        let rel = Rel { kind: RelKind::Distinct(Box::new(project)), fields: all };
        Ok(Bound { suffix: Suffix::Counting, ..sorted.over_all(rel, output, slice) })
    }

    /// The columns of one entry of the select list.
    fn select_item(&self, item: &ast::SelectItem, scope: &Scope<'_>, items: &mut Vec<(String, Expr)>) -> Result<()> {
        match item {
            ast::SelectItem::UnnamedExpr(e) => {
                let bound = self.expr(e, scope)?;
                items.push((implied_name(e).unwrap_or_else(|| format!("EXPR${}", items.len())), bound));
            }
            ast::SelectItem::ExprWithAlias { expr, alias } => {
                items.push((alias.value.clone(), self.expr(expr, scope)?));
            }
            ast::SelectItem::Wildcard(options) => {
                let place = span::of(&options.wildcard_token.0);
                refuse_wildcard_options(options, place)?;
                all_columns(scope.namespace, place, items)?;
            }
            ast::SelectItem::QualifiedWildcard(kind, options) => {
                let place = span::of(&options.wildcard_token.0);
                refuse_wildcard_options(options, place)?;
                match kind {
                    ast::SelectItemQualifiedWildcardKind::ObjectName(name) => {
                        self.qualified_wildcard(&names::parts(name)?, place, scope, items)?;
                    }
                    ast::SelectItemQualifiedWildcardKind::Expr(e) => {
                        row_fields(self.expr(e, scope)?, items)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn qualified_wildcard(
        &self,
        name: &[&ast::Ident],
        place: Span,
        scope: &Scope<'_>,
        items: &mut Vec<(String, Expr)>,
    ) -> Result<()> {
        if let Some(table) = scope.table(name)? {
            return columns(scope.namespace, table.columns.clone(), place, items);
        }
        match name {
            [column] => match scope.base_row(column)? {
                Some(row) => row_fields(row, items),
                None => Err(scope.no_table(column)),
            },
            _ => row_fields(scope.resolve(name)?, items),
        }
    }
}

/// Rows for which the predicate holds.
pub(super) fn filter(input: Rel, predicate: Expr) -> Rel {
    let fields = input.fields.clone();
    Rel { kind: RelKind::Filter { input: Box::new(input), predicate }, fields }
}

/// The name Calcite gives an expression without alias: that of the column it is.
pub(super) fn implied_name(e: &ast::Expr) -> Option<String> {
    match e {
        ast::Expr::Identifier(name) => Some(name.value.clone()),
        ast::Expr::CompoundIdentifier(parts) => parts.last().map(|name| name.value.clone()),
        ast::Expr::Nested(inner) => implied_name(inner),
        _ => None,
    }
}

/// `*`: merged columns first, then all others.
fn all_columns(namespace: &Namespace, place: Span, items: &mut Vec<(String, Expr)>) -> Result<()> {
    if namespace.tables.is_empty() {
        return Err(Error::new("syntax-error", "SELECT * needs a FROM clause").at(place));
    }
    for merged in &namespace.merged {
        items.push((merged.name.clone(), Expr { span: place, ..merged.expr.clone() }));
    }
    let hidden: Vec<usize> = namespace.merged.iter().flat_map(|m| m.fields.iter().copied()).collect();
    for table in &namespace.tables {
        if hidden.is_empty() {
            columns(namespace, table.columns.clone(), place, items)?;
            continue;
        }
        for index in table.columns.clone().filter(|i| !hidden.contains(i)) {
            columns(namespace, index..index + 1, place, items)?;
        }
    }
    Ok(())
}

fn columns(
    namespace: &Namespace,
    range: std::ops::Range<usize>,
    place: Span,
    items: &mut Vec<(String, Expr)>,
) -> Result<()> {
    let of_table = namespace.fields.get(range.clone()).unwrap_or_default();
    for (index, field) in range.zip(of_table) {
        if of_table.iter().filter(|f| f.name == field.name).count() > 1 {
            return Err(ambiguous(&field.name, place));
        }
        items.push((field.name.clone(), namespace.field(index, place)));
    }
    Ok(())
}

/// `r.*` for a ROW.
fn row_fields(row: Expr, items: &mut Vec<(String, Expr)>) -> Result<()> {
    let LogicalType::Row(row_type) = &row.data_type.logical else {
        return Err(Error::new("type-mismatch", format!("'.*' needs a table or a ROW, not {}", row.data_type.logical))
            .at(row.span));
    };
    for field in row_type.clone() {
        let name = ast::Ident::new(field.name.clone());
        items.push((field.name, fields(row.clone(), &[&name])?));
    }
    Ok(())
}

/// Says, of a column that was not found, that it is an alias of the select list, which only ORDER BY sees.
fn explain_alias(error: Error, projection: &[ast::SelectItem]) -> Error {
    let is_alias = projection.iter().any(|item| {
        matches!(item, ast::SelectItem::ExprWithAlias { alias, .. }
            if error.code == "unknown-column" && error.message == format!("column '{}' not found", alias.value))
    });
    if is_alias {
        return error.with_hint("GROUP BY and HAVING do not see aliases of the select list: repeat the expression");
    }
    error
}

fn refuse_wildcard_options(options: &ast::WildcardAdditionalOptions, place: Span) -> Result<()> {
    let foreign = [
        (options.opt_ilike.is_some(), "* ILIKE"),
        (options.opt_exclude.is_some(), "* EXCLUDE"),
        (options.opt_except.is_some(), "* EXCEPT"),
        (options.opt_replace.is_some(), "* REPLACE"),
        (options.opt_rename.is_some(), "* RENAME"),
    ];
    refuse(&foreign, place)
}

fn refuse_clauses(select: &ast::Select) -> Result<()> {
    let place = span::of(&select.select_token.0);
    let foreign = [
        (select.top.is_some(), "TOP"),
        (select.exclude.is_some(), "EXCLUDE"),
        (select.into.is_some(), "SELECT INTO"),
        (!select.lateral_views.is_empty(), "LATERAL VIEW"),
        (select.prewhere.is_some(), "PREWHERE"),
        (!select.connect_by.is_empty(), "CONNECT BY"),
        (!select.cluster_by.is_empty(), "CLUSTER BY"),
        (!select.distribute_by.is_empty(), "DISTRIBUTE BY"),
        (!select.sort_by.is_empty(), "SORT BY"),
        (select.value_table_mode.is_some(), "SELECT AS VALUE"),
        (select.select_modifiers.as_ref().is_some_and(|m| m.is_any_set()), "modifiers of SELECT"),
        (select.flavor != ast::SelectFlavor::Standard, "FROM before SELECT"),
    ];
    refuse(&foreign, place)
}

fn refuse(foreign: &[(bool, &str)], place: Span) -> Result<()> {
    match foreign.iter().find(|(present, _)| *present) {
        Some((_, clause)) => Err(Error::unsupported(clause).at(place)),
        None => Ok(()),
    }
}
