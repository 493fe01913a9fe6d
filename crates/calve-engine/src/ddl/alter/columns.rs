//! ADD and MODIFY of columns: their kinds and places.

use calve_sql::{ColumnDef, ColumnPosition};
use calve_types::{Error, Result};

use super::super::define::declared_column;
use super::refused;
use crate::catalogs::object::DefinedColumn;

/// Whether columns are new or take the place of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Add,
    Modify,
}

/// Puts the columns of a statement among those of the table, one after the other.
///
/// # Errors
/// `duplicate-column`, `unknown-column`.
pub(super) fn put(
    columns: &mut Vec<DefinedColumn>,
    given: &[(ColumnDef, Option<ColumnPosition>)],
    mode: Mode,
) -> Result<()> {
    for (i, (declared, position)) in given.iter().enumerate() {
        let (name, place) = (&declared.name.value, declared.name.span);
        if given.iter().take(i).any(|(other, _)| other.name.value == *name) {
            let sentence = format!("Encounter duplicate column `{name}`.");
            return Err(refused("duplicate-column", format!("column '{name}' stands twice"), sentence, place));
        }
        let old = columns.iter().position(|c| c.column.name == *name);
        let column = match (mode, old.and_then(|at| columns.get(at))) {
            (Mode::Add, Some(_)) => {
                let sentence = format!("Try to add a column `{name}` which already exists in the table.");
                return Err(refused("duplicate-column", format!("column '{name}' already exists"), sentence, place)
                    .with_hint("use MODIFY to change it"));
            }
            (Mode::Modify, None) => {
                let sentence = format!("Try to modify a column `{name}` which does not exist in the table.");
                let error = refused("unknown-column", format!("column '{name}' does not exist"), sentence, place);
                return Err(suggest(error, name, columns));
            }
            (_, old) => defined(declared, old)?,
        };
        let after = match position {
            Some(ColumnPosition::After(other)) => {
                if !columns.iter().any(|c| c.column.name == other.value) {
                    let other_name = &other.value;
                    let sentence = format!("Referenced column `{other_name}` by 'AFTER' does not exist in the table.");
                    let message = format!("column '{other_name}' does not exist");
                    return Err(suggest(refused("unknown-column", message, sentence, other.span), other_name, columns));
                }
                Some(&other.value)
            }
            _ => None,
        };
        // a column is not found after itself, and goes to the front, as in Flink
        let moves = position.is_some();
        if let Some(at) = old {
            if !moves {
                if let Some(old) = columns.get_mut(at) {
                    *old = column;
                }
                continue;
            }
            columns.remove(at);
        }
        let at = match (moves, after) {
            (false, _) => columns.len(),
            (true, None) => 0,
            (true, Some(after)) => columns.iter().position(|c| c.column.name == *after).map_or(0, |at| at + 1),
        };
        columns.insert(at, column);
    }
    Ok(())
}

/// The column that a statement declares; its comment stays if the statement has none.
fn defined(declared: &ColumnDef, old: Option<&DefinedColumn>) -> Result<DefinedColumn> {
    let column = declared_column(declared).ok_or_else(|| Error::internal("a column without a type"))?;
    let comment = declared.comment.clone().or_else(|| old.and_then(|old| old.comment.clone()));
    Ok(DefinedColumn { column, comment })
}

fn suggest(error: Error, name: &str, columns: &[DefinedColumn]) -> Error {
    error.did_you_mean(name, columns.iter().map(|c| c.column.name.as_str()))
}
