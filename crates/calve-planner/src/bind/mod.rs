//! Syntax to algebra: what names mean, which types expressions have, what Flink refuses.
//!
//! One file for each noun: [`scope`](self) says what a name means at one level of a query, `query` and `select` build
//! relations, `order` sorts them, `from` joins them, `table` and `view` what stands for a name in FROM, `aggregate` the grouping, `expr`, `operator`, `call`, `subquery` and the
//! literals the expressions, `insert` the columns of a sink.

use std::cell::Cell;

use calve_sql::Hints;
use calve_types::{Error, Result};

use crate::catalog::CatalogReader;
use crate::rel::{Rel, Sink};

mod aggregate;
mod call;
mod coerce;
mod datetime;
mod expr;
mod flink;
mod from;
mod insert;
mod interval;
mod json;
mod literal;
mod names;
mod operator;
mod order;
mod over;
mod query;
mod scope;
mod select;
pub(crate) mod span;
mod streaming;
mod subquery;
mod table;
mod unnest;
mod view;
pub(crate) mod walk;

pub use table::{computed_type, watermark};
pub use view::view_columns;

/// What binding one statement needs.
struct Binder<'a> {
    catalog: &'a dyn CatalogReader,
    /// Hints of the statement's query.
    hints: &'a Hints,
    /// The view whose query is bound, if it is one's.
    within: Option<&'a view::Within<'a>>,
    /// How many views the statement was found to name, those inside of views included.
    views: &'a Cell<usize>,
}

/// Binds a query; the fields of its result have unique names.
///
/// # Errors
/// Everything Flink's validator refuses, and `not-supported` for what calve does not run, at its place.
pub fn query(query: &calve_sql::Query, catalog: &dyn CatalogReader) -> Result<Rel> {
    with_binder(catalog, &query.hints, |binder| checked(binder.result(query)?, |rel| rel, query, catalog))
}

/// Binds an INSERT: its rows have the table's columns and types.
///
/// # Errors
/// As [`query`]; `sink-mismatch` with Flink's sentence if columns or types do not fit the table; `not-writable` for
/// metadata tables.
pub fn insert(insert: &calve_sql::Insert, catalog: &dyn CatalogReader) -> Result<Sink> {
    let query = &insert.query;
    with_binder(catalog, &query.hints, |binder| checked(binder.insert(insert)?, |sink| &sink.input, query, catalog))
}

/// What was bound, if Flink runs it in the session's runtime mode.
fn checked<T>(
    bound: T,
    rel: impl FnOnce(&T) -> &Rel,
    query: &calve_sql::Query,
    catalog: &dyn CatalogReader,
) -> Result<T> {
    let mode = catalog.option("execution.runtime-mode");
    if !mode.is_some_and(|mode| mode.eq_ignore_ascii_case("batch")) {
        streaming::check(rel(&bound), query.ast.order_by.is_some())?;
    }
    Ok(bound)
}

/// Binds something that is no part of a view.
fn with_binder<T>(catalog: &dyn CatalogReader, hints: &Hints, bind: impl FnOnce(&Binder<'_>) -> T) -> T {
    let views = Cell::new(0);
    on_deep_stack(|| bind(&Binder { catalog, hints, within: None, views: &views }))
}

/// Stack for trees as deep as the parser lets them be, in bytes; only what is used costs memory. Copying and dropping
/// expressions goes as deep as they are.
const STACK: usize = 64 << 20;

pub(crate) fn on_deep_stack<T>(bind: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK / 2, STACK, bind)
}

/// Runs a step of a recursion over syntax or algebra, on more stack if the present one ends soon.
fn nested<T>(step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, step)
}

impl Binder<'_> {
    fn insert(&self, insert: &calve_sql::Insert) -> Result<Sink> {
        let query = self.result(&insert.query)?;
        let hints = insert.hint.as_ref().map(|hint| hint.options.clone()).unwrap_or_default();
        let name: Vec<&str> = insert.table.parts.iter().map(String::as_str).collect();
        let table = self.table(&name, &hints, insert.table.span).map_err(|e| self.missing_sink(e, &name))?;
        if table.view.is_some() {
            return Err(Error::new("not-writable", format!("'{}' is a view: it cannot be written", table.path))
                .with_detail(format!("Sink '{}' does not exists", table.path))
                .at(insert.table.span));
        }
        if !table.writable {
            return Err(Error::new("not-writable", format!("'{}' is not a table that can be written", table.path))
                .at(insert.table.span));
        }
        let input = self.sink_input(query, &table, insert)?;
        // Also an expression whose type says NOT NULL can give NULL: a DECIMAL that overflows.
        let not_null =
            table.physical_columns().enumerate().filter(|(_, c)| !c.data_type.nullable).map(|(i, _)| i).collect();
        Ok(Sink {
            hints,
            overwrite: insert.overwrite,
            static_partition: self.static_partition(insert)?,
            input,
            not_null,
            span: insert.table.span,
            table,
        })
    }

    fn result(&self, query: &calve_sql::Query) -> Result<Rel> {
        Ok(query::result(self.query(&query.ast, scope::Env::default())?))
    }

    /// Flink's sentence for a target that does not exist is another one than for a source.
    fn missing_sink(&self, error: Error, name: &[&str]) -> Error {
        if !matches!(error.code, "unknown-table" | "unknown-catalog") {
            return error;
        }
        let (catalog, database) = self.catalog.current();
        let path: Vec<&str> = [catalog, database].into_iter().take(3usize.saturating_sub(name.len())).collect();
        let quoted: Vec<String> = path.iter().chain(name).map(|part| format!("`{part}`")).collect();
        error.with_detail(format!(
            "Cannot find table '{}' in any of the catalogs [{}], nor as a temporary table.",
            quoted.join("."),
            self.catalog.catalogs().join(", ")
        ))
    }
}
