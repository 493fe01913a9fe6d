//! Syntax to algebra: what names mean, which types expressions have, what Flink refuses.
//!
//! One file for each noun: [`scope`](self) says what a name means at one level of a query, `query` and `select` build
//! relations, `from` the tables and joins, `aggregate` the grouping, `expr`, `operator`, `call`, `subquery` and the
//! literals the expressions, `insert` the columns of a sink.

use std::sync::Arc;

use calve_sql::Hints;
use calve_types::{Error, Result, Span};

use crate::catalog::{CatalogReader, TableEntry, TablePath};
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
mod literal;
mod names;
mod operator;
mod query;
mod scope;
mod select;
pub(crate) mod span;
mod subquery;
mod walk;

/// What binding one statement needs.
struct Binder<'a> {
    catalog: &'a dyn CatalogReader,
    /// Hints of the statement's query.
    hints: &'a Hints,
}

/// Binds a query; the fields of its result have unique names.
///
/// # Errors
/// Everything Flink's validator refuses, and `not-supported` for what calve does not run, at its place.
pub fn query(query: &calve_sql::Query, catalog: &dyn CatalogReader) -> Result<Rel> {
    on_deep_stack(|| Binder { catalog, hints: &query.hints }.result(query))
}

/// Binds an INSERT: its rows have the table's columns and types.
///
/// # Errors
/// As [`query`]; `sink-mismatch` with Flink's sentence if columns or types do not fit the table; `not-writable` for
/// metadata tables.
pub fn insert(insert: &calve_sql::Insert, catalog: &dyn CatalogReader) -> Result<Sink> {
    on_deep_stack(|| Binder { catalog, hints: &insert.query.hints }.insert(insert))
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
        if !table.writable {
            return Err(Error::new("not-writable", format!("'{}' is not a table that can be written", table.path))
                .at(insert.table.span));
        }
        let input = self.sink_input(query, &table, insert)?;
        // Also an expression whose type says NOT NULL can give NULL: a DECIMAL that overflows.
        let not_null =
            table.columns.iter().enumerate().filter(|(_, c)| !c.data_type.nullable).map(|(i, _)| i).collect();
        Ok(Sink { table, hints, overwrite: insert.overwrite, input, not_null, span: insert.table.span })
    }

    fn result(&self, query: &calve_sql::Query) -> Result<Rel> {
        Ok(query::result(self.query(&query.ast, scope::Env::default())?))
    }

    /// Flink's sentence for a target that does not exist is another one than for a source.
    fn missing_sink(&self, error: Error, name: &[&str]) -> Error {
        if error.code != "unknown-table" {
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

    /// The table of a name of one to three parts.
    ///
    /// # Errors
    /// `unknown-table`, and what the catalog answers.
    fn table(&self, name: &[&str], hints: &[(String, String)], place: Span) -> Result<Arc<TableEntry>> {
        let (catalog, database) = self.catalog.current();
        let (catalog, database, table) = match *name {
            [table] => (catalog, database, table),
            [database, table] => (catalog, database, table),
            [catalog, database, table] => (catalog, database, table),
            _ => {
                return Err(Error::new(
                    "unknown-table",
                    "a table's name has at most three parts: catalog.database.table",
                )
                .at(place));
            }
        };
        let path = TablePath { catalog: catalog.to_owned(), database: database.to_owned(), table: table.to_owned() };
        let found = self.catalog.table(&path, hints).map_err(|e| e.at(place))?;
        found.ok_or_else(|| {
            let detail = match name {
                [_] => format!("Object '{table}' not found"),
                _ => format!("Object '{table}' not found within '{catalog}.{database}'"),
            };
            let error =
                Error::new("unknown-table", format!("table '{}' not found", name.join("."))).with_detail(detail);
            let similar = self.catalog.similar_tables(&path);
            names::did_you_mean(error, table, similar.iter().map(String::as_str)).at(place)
        })
    }
}
