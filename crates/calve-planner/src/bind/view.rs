//! Views: a query of its own in the place of a table, and the columns a new view has.

use std::sync::Arc;

use calve_sql::{Ident, Query, ast};
use calve_types::{Error, Result, Span, rules};

use super::select::implied_name;
use super::{Binder, coerce, expr, walk, with_binder};
use crate::catalog::{CatalogReader, Column, TableEntry, TablePath, View};
use crate::expr::{Expr, ExprKind};
use crate::rel::{Field, Rel, RelKind};

/// A view whose query is being bound, and the views around it.
pub(super) struct Within<'a> {
    path: &'a TablePath,
    outer: Option<&'a Within<'a>>,
}

/// How deep views may stand inside of views.
const DEPTH: usize = 100;

/// How many views a statement may name, each counted as often as it is read: a bound for views that read others twice.
const VIEWS: usize = 10_000;

/// The columns of a new view: the query's, under the names that the statement lists, if it lists any.
///
/// # Errors
/// Those of the query; `duplicate-column` where two columns would have one name; `type-mismatch` where the list has
/// another length than the query.
pub fn view_columns(query: &Query, listed: &[Ident], catalog: &dyn CatalogReader) -> Result<Vec<Column>> {
    let rel = with_binder(catalog, query, |binder| binder.result(query))?;
    if !listed.is_empty() && listed.len() != rel.fields.len() {
        let defined: Vec<&str> = listed.iter().map(|name| name.value.as_str()).collect();
        let given: Vec<&str> = rel.fields.iter().map(|f| f.name.as_str()).collect();
        let place = listed.iter().fold(Span::default(), |all, name| all.to(name.span));
        return Err(Error::new(
            "type-mismatch",
            format!("the view lists {} columns, its query gives {}", listed.len(), rel.fields.len()),
        )
        .with_detail(format!(
            "VIEW definition and input fields not match:\n\tDef fields: [{}].\n\tInput fields: [{}].",
            defined.join(", "),
            given.join(", ")
        ))
        .at(place));
    }
    // Columns of `*` get numbers if their names repeat; what the statement names twice is a mistake.
    let written: Vec<String> = match listed {
        [] => select_list(query).iter().filter_map(written_name).collect(),
        listed => listed.iter().map(|name| name.value.clone()).collect(),
    };
    if let Some(name) = written.iter().enumerate().find_map(|(i, n)| written.iter().skip(i + 1).find(|o| *o == n)) {
        return Err(twice(name, query));
    }
    let names = listed.iter().map(|name| Some(name.value.clone())).chain(std::iter::repeat(None));
    Ok(rel
        .fields
        .into_iter()
        .zip(names)
        .map(|(f, name)| Column::physical(name.unwrap_or(f.name), f.data_type))
        .collect())
}

fn select_list(query: &Query) -> &[ast::SelectItem] {
    match &*query.ast.body {
        ast::SetExpr::Select(select) => &select.projection,
        _ => &[],
    }
}

fn written_name(item: &ast::SelectItem) -> Option<String> {
    match item {
        ast::SelectItem::UnnamedExpr(e) => implied_name(e),
        ast::SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
        _ => None,
    }
}

fn twice(name: &str, query: &Query) -> Error {
    let first = match select_list(query).first() {
        Some(ast::SelectItem::UnnamedExpr(e) | ast::SelectItem::ExprWithAlias { expr: e, .. }) => expr::span_of(e),
        _ => query.span,
    };
    Error::new("duplicate-column", format!("two columns of the view are called '{name}'"))
        .with_detail(format!(
            "A column with the same name `{name}` has been defined at line {}, column {}.",
            first.start.line, first.start.column
        ))
        .with_hint("give one another name with AS")
        .at(first)
}

/// The session as it was when a view was made.
struct AsOfView<'a> {
    session: &'a dyn CatalogReader,
    view: &'a View,
}

impl CatalogReader for AsOfView<'_> {
    fn current(&self) -> (&str, &str) {
        (&self.view.catalog, &self.view.database)
    }

    fn table(&self, path: &TablePath, hints: &[(String, String)]) -> Result<Option<Arc<TableEntry>>> {
        self.session.table(path, hints)
    }

    fn version(&self, table: &Arc<TableEntry>, millis: i64) -> Result<Arc<TableEntry>> {
        self.session.version(table, millis)
    }

    fn similar_tables(&self, path: &TablePath) -> Vec<String> {
        self.session.similar_tables(path)
    }

    fn similar_databases(&self, catalog: &str) -> Vec<String> {
        self.session.similar_databases(catalog)
    }

    fn catalogs(&self) -> Vec<String> {
        self.session.catalogs()
    }

    fn option(&self, key: &str) -> Option<String> {
        self.session.option(key)
    }
}

impl Binder<'_> {
    /// A view's rows, with the columns it had when it was made.
    ///
    /// # Errors
    /// Those of its query, at the place where the view stands; `recursive-view`; `stale-view` if its query gives other
    /// columns now.
    pub(super) fn view(&self, entry: &TableEntry, view: &View, place: Span) -> Result<Rel> {
        let around = || std::iter::successors(self.within, |within| within.outer);
        if around().any(|within| *within.path == entry.path) {
            return Err(Error::new("recursive-view", format!("view '{}' reads itself", entry.path)).at(place));
        }
        self.views.set(self.views.get() + 1);
        if around().count() >= DEPTH || self.views.get() > VIEWS {
            return Err(Error::new("too-many-views", "the statement's views are nested too deep")
                .with_hint("store the rows of one of them in a table")
                .at(place));
        }
        let catalog = AsOfView { session: self.catalog, view };
        let within = Within { path: &entry.path, outer: self.within };
        let inner = Binder {
            catalog: &catalog,
            hints: &view.query.hints,
            places: &view.query.places,
            within: Some(&within),
            views: self.views,
        };
        let mut rel = inner.result(&view.query).map_err(|e| in_view(e, entry, self.within.is_none(), place))?;
        walk::place_relation(&mut rel, place)?;
        with_columns(rel, entry, place)
    }
}

/// The error of a view's query, which is not in the statement, at the place where the view stands.
/// The message names the view that has the error and the one that the statement names, not those between them.
fn in_view(mut error: Error, view: &TableEntry, outermost: bool, place: Span) -> Error {
    error.span = None;
    let named = error.message.starts_with("view '") && error.message.contains("': ");
    if outermost || !named {
        error.message = format!("view '{}': {}", view.path, error.message);
    }
    error.at(place)
}

/// A view's rows under its columns' names, with their types.
fn with_columns(rel: Rel, view: &TableEntry, place: Span) -> Result<Rel> {
    let stale = |message: String, detail: Option<String>| {
        let error =
            Error::new("stale-view", message).with_hint("make the view anew: its tables have changed").at(place);
        match detail {
            Some(detail) => error.with_detail(detail),
            None => error,
        }
    };
    if rel.fields.len() != view.columns.len() {
        let listed = |types: Vec<String>| format!("[{}]", types.join(", "));
        let now = listed(rel.fields.iter().map(|f| format!("{} {}", f.name, f.data_type.logical)).collect());
        let then = listed(view.columns.iter().map(|c| format!("{} {}", c.name, c.data_type.logical)).collect());
        return Err(stale(
            format!("view '{}' has {} columns, its query gives {}", view.path, view.columns.len(), rel.fields.len()),
            Some(format!("Field counts are not equal: rowType {now} castRowType {then}")),
        ));
    }
    let mut exprs = Vec::with_capacity(rel.fields.len());
    let mut fields = Vec::with_capacity(rel.fields.len());
    let mut casts = false;
    for (i, (field, column)) in rel.fields.iter().zip(&view.columns).enumerate() {
        if !rules::supports_explicit_cast(&field.data_type, &column.data_type) {
            return Err(stale(
                format!(
                    "column '{}' of view '{}' is {}, its query gives {}",
                    column.name, view.path, column.data_type.logical, field.data_type.logical
                ),
                None,
            ));
        }
        let value = Expr { kind: ExprKind::Column(i), data_type: field.data_type.clone(), span: place };
        let value = coerce::to(value, &column.data_type);
        casts |= !matches!(value.kind, ExprKind::Column(_));
        let nullable = field.data_type.nullable || column.data_type.nullable;
        fields.push(Field { name: column.name.clone(), data_type: column.data_type.with_nullable(nullable) });
        exprs.push(value);
    }
    if casts {
        return Ok(Rel { kind: RelKind::Project { input: Box::new(rel), exprs }, fields });
    }
    Ok(Rel { fields, ..rel })
}
