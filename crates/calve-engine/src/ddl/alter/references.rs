//! What of a table's definition names a column: such a column cannot be dropped or renamed (Flink's
//! `ReferencesManager`).

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use calve_planner::catalog::ColumnKind;
use calve_sql::ast::{self, Expr};
use calve_types::{Error, Result, Span};

use super::refused;
use crate::catalogs::object::TableDef;

/// The names in an expression over a table's columns.
pub(super) fn names_in(expr: &Expr) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let _: ControlFlow<()> = ast::visit_expressions(expr, |expr| {
        match expr {
            Expr::Identifier(name) => {
                names.insert(name.value.clone());
            }
            Expr::CompoundIdentifier(parts) => names.extend(parts.first().map(|first| first.value.clone())),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    names
}

/// The columns that a computed column is made of.
pub(super) fn sources(table: &TableDef, column: &str) -> BTreeSet<String> {
    match table.columns.iter().find(|c| c.column.name == column).map(|c| &c.column.kind) {
        Some(ColumnKind::Computed(expr)) => names_in(expr),
        _ => BTreeSet::new(),
    }
}

/// Refuses to take away a column that there is not, or that something else in the table's definition names.
///
/// # Errors
/// `unknown-column`, `column-in-use`.
pub(super) fn check_unused(table: &TableDef, column: &str, place: Span) -> Result<()> {
    if !table.columns.iter().any(|c| c.column.name == column) {
        let known = table.columns.iter().map(|c| c.column.name.as_str());
        let error = refused(
            "unknown-column",
            format!("column '{column}' does not exist"),
            format!("The column `{column}` does not exist in the base table."),
            place,
        );
        return Err(error.did_you_mean(column, known));
    }
    let mut computed: Vec<String> = (table.columns.iter().map(|c| c.column.name.as_str()))
        .filter(|name| sources(table, name).contains(column))
        .map(|name| format!("`{name}`"))
        .collect();
    computed.sort();
    if !computed.is_empty() {
        return Err(in_use(column, &format!("is referenced by computed column {}", computed.join(", ")), place));
    }
    if table.partition_keys.iter().any(|key| key == column) {
        return Err(in_use(column, "is used as the partition keys", place));
    }
    let watermark = table.watermark.as_ref();
    if watermark.is_some_and(|w| w.column.first().is_some_and(|c| c == column) || names_in(&w.expr).contains(column)) {
        return Err(in_use(column, "is referenced by watermark expression", place));
    }
    if table.distribution.iter().flat_map(|d| &d.columns).any(|key| key.value == column) {
        return Err(in_use(column, "is used as a distribution key", place));
    }
    Ok(())
}

/// As [`check_unused`], for a column that is to be dropped: it may not belong to the primary key either.
///
/// # Errors
/// As [`check_unused`].
pub(super) fn check_droppable(table: &TableDef, column: &str, place: Span) -> Result<()> {
    check_unused(table, column, place)?;
    if table.key_columns().iter().any(|key| key == column) {
        return Err(in_use(column, "is used as the primary key", place));
    }
    Ok(())
}

fn in_use(column: &str, how: &str, place: Span) -> Error {
    let sentence = format!("The column `{column}` {how}.");
    refused("column-in-use", format!("column '{column}' {}", how.replace('`', "'")), sentence, place)
}
