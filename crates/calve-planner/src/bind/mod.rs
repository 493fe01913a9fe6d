//! Syntax to algebra: what names mean, which types expressions have, what Flink refuses.
//!
//! One file for each noun:
//!
//! * names: `scope` says what a name means at one level of a query, `names` and `span` where it stands;
//! * relations: `query` and `select`, sorted by `order`, joined by `from`, of what `table` and `view` say a name in FROM is;
//!   `unnest`, `temporal` (the versions of a table), `window` and `match_recognize` are what else FROM may have;
//! * groups: `aggregate` and `grouping`, over the windows of `group_window`; rows around a row: `over`;
//! * expressions: `expr`, `operator`, `call`, `subquery`, `quantified`, `json`, and the literals `literal`, `datetime` and
//!   `interval`, with the types that `coerce` makes equal; `flink` knows the names of functions that are not there;
//! * sinks: `insert`, and `change` for DELETE, UPDATE and MERGE;
//! * streams: `rowtime` (watermarks), `late` (rows behind them), `streaming` (what Flink refuses of streams alone).
//!
//! `walk` visits what is bound.

use std::cell::Cell;

use calve_sql::{Hints, Places};
use calve_types::{Error, Result, Span};

use crate::catalog::CatalogReader;
use crate::rel::{Rel, Sink};

mod aggregate;
mod call;
mod change;
mod coerce;
mod datetime;
mod expr;
mod flink;
mod from;
mod group_window;
mod grouping;
mod insert;
mod interval;
mod json;
pub(crate) mod late;
mod literal;
mod match_recognize;
mod names;
mod operator;
mod order;
mod over;
mod quantified;
mod query;
mod rowtime;
mod scope;
mod select;
pub(crate) mod span;
mod streaming;
mod subquery;
mod table;
pub(crate) mod temporal;
mod unnest;
mod view;
pub(crate) mod walk;
pub(crate) mod window;

pub use change::{delete, merge, update};
pub use table::{computed_type, watermark};
pub use view::view_columns;

/// What binding one statement needs.
struct Binder<'a> {
    catalog: &'a dyn CatalogReader,
    /// Hints of the statement's query.
    hints: &'a Hints,
    /// Where the tokens of the statement's query stand.
    places: &'a Places,
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
    with_binder(catalog, query, |binder| checked(binder.result(query)?, |rel| rel, query, binder))
}

/// Binds an INSERT: its rows have the table's columns and types.
///
/// # Errors
/// As [`query`]; `sink-mismatch` with Flink's sentence if columns or types do not fit the table; `not-writable` for
/// metadata tables.
pub fn insert(insert: &calve_sql::Insert, catalog: &dyn CatalogReader) -> Result<Sink> {
    let query = &insert.query;
    with_binder(catalog, query, |binder| {
        let sink = checked(binder.insert(insert)?, |sink| &sink.input, query, binder)?;
        if binder.streaming() {
            streaming::check_sink(&sink)?;
        }
        Ok(sink)
    })
}

/// What was bound, if Flink runs it in the session's runtime mode.
fn checked<T>(bound: T, rel: impl FnOnce(&T) -> &Rel, query: &calve_sql::Query, binder: &Binder<'_>) -> Result<T> {
    if binder.streaming() {
        streaming::check(rel(&bound), query.ast.order_by.is_some())?;
    }
    Ok(bound)
}

/// Binds a query, or a statement around it, that is no part of a view.
fn with_binder<T>(catalog: &dyn CatalogReader, query: &calve_sql::Query, bind: impl FnOnce(&Binder<'_>) -> T) -> T {
    let (hints, places) = (&query.hints, &query.places);
    let views = Cell::new(0);
    on_deep_stack(|| bind(&Binder { catalog, hints, places, within: None, views: &views }))
}

/// Binds an expression outside of a query.
fn with_bare_binder<T>(catalog: &dyn CatalogReader, bind: impl FnOnce(&Binder<'_>) -> T) -> T {
    let (hints, places, views) = (Hints::default(), Places::default(), Cell::new(0));
    on_deep_stack(|| bind(&Binder { catalog, hints: &hints, places: &places, within: None, views: &views }))
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
    /// The place of something together with the word before it, if that is one of `words`.
    fn with_word(&self, place: Span, words: &[&str]) -> Span {
        match self.places.before(place.start, words) {
            Some(start) => Span { start, ..place },
            None => place,
        }
    }

    fn insert(&self, insert: &calve_sql::Insert) -> Result<Sink> {
        let query = self.result(&insert.query);
        let hints = insert.hint.as_ref().map(|hint| hint.options.clone()).unwrap_or_default();
        let name: Vec<&str> = insert.table.parts.iter().map(String::as_str).collect();
        let table = self.table(&name, &hints, insert.table.span).map_err(|e| self.missing_sink(e, &name));
        // Flink reads the query first
        let query = query.map_err(|e| match &table {
            Ok(table) => insert::of_query(e, table, insert),
            Err(_) => e,
        })?;
        let table = table?;
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
