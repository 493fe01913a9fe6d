//! Data files that a DELETE takes away without reading them: their metadata says that its condition holds for every row.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use arrow::datatypes::Schema as ArrowSchema;
use calve_types::Result;
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, lit};
use datafusion::physical_expr::create_physical_expr;
use iceberg::spec::Snapshot;

use super::route::from_input;
use crate::scan::{Pruner, plan_files, row_fields};
use crate::table::Table;

/// The files that go as a whole.
#[derive(Debug, Default)]
pub(crate) struct WholeFiles {
    found: OnceLock<Found>,
}

#[derive(Debug, Default)]
struct Found {
    /// Files that no deletes apply to, with their rows: nothing has to be read of them.
    unread: HashMap<String, u64>,
    /// Others: they are read to count their rows.
    read: HashSet<String>,
}

impl WholeFiles {
    /// Whether the file goes as a whole.
    pub(crate) fn contains(&self, path: &str) -> bool {
        self.found.get().is_some_and(|found| found.read.contains(path) || found.unread.contains_key(path))
    }

    /// Whether nothing of the file has to be read.
    pub(crate) fn is_unread(&self, path: &str) -> bool {
        self.found.get().is_some_and(|found| found.unread.contains_key(path))
    }

    /// The files that nothing has to be read of, in no order.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &String> {
        self.found.get().into_iter().flat_map(|found| found.unread.keys())
    }

    /// Their rows.
    pub(crate) fn unread_rows(&self) -> u64 {
        self.found.get().map_or(0, |found| found.unread.values().copied().fold(0, u64::saturating_add))
    }
}

/// Finds the files of a snapshot for all of whose rows all of `filters` are true, once.
///
/// # Errors
/// `io`, `invalid-table`.
pub(super) async fn whole_files(
    table: &Table,
    snapshot: &Snapshot,
    filters: &[Expr],
    state: &SessionState,
    whole: &WholeFiles,
) -> Result<()> {
    // a file goes if no row of it can make one of the filters something else than true
    let schema = std::sync::Arc::new(row_fields(table, &[])?);
    let mut untrue: Option<Expr> = None;
    for filter in filters {
        let Some(not) = not_true(filter, &schema) else { return Ok(()) };
        untrue = Some(match untrue {
            None => not,
            Some(other) => other.or(not),
        });
    }
    let pruner = match untrue {
        None => None,
        Some(untrue) => {
            let named = DFSchema::try_from(schema.as_ref().clone()).map_err(from_input)?;
            // as it is: what DataFusion 53 makes of IN lists must not decide which files go unread
            let untrue = create_physical_expr(&untrue, &named, state.execution_props()).map_err(from_input)?;
            match Pruner::new(&untrue, &schema, table.metadata()) {
                Some(pruner) => Some(pruner),
                None => return Ok(()),
            }
        }
    };
    let tasks = plan_files(table, snapshot, |_| true).await?;
    let kept = match &pruner {
        Some(pruner) => pruner.files(&tasks.iter().map(|task| (task.file(), task.spec_id)).collect::<Vec<_>>()),
        None => vec![false; tasks.len()],
    };
    let mut found = Found::default();
    for (task, _) in tasks.iter().zip(kept).filter(|(_, keep)| !keep) {
        let (path, rows) = (task.file().file_path().to_owned(), task.file().record_count());
        match task.deletes.is_empty() {
            true => drop(found.unread.insert(path, rows)),
            false => drop(found.read.insert(path)),
        }
    }
    // planned once: a second answer would be the same
    let _ = whole.found.set(found);
    Ok(())
}

/// A filter that every row passes for which `filter` is false or NULL, and others may pass, too; `None` for filters that are
/// not understood.
fn not_true(filter: &Expr, schema: &ArrowSchema) -> Option<Expr> {
    Some(match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            not_true(left, schema)?.or(not_true(right, schema)?)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            not_true(left, schema)?.and(not_true(right, schema)?)
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (column, value, op) = match (left.as_ref(), right.as_ref()) {
                (Expr::Column(_), Expr::Literal(value, _)) => (plain(left, schema)?, value, *op),
                (Expr::Literal(value, _), Expr::Column(_)) => (plain(right, schema)?, value, op.swap()?),
                _ => return None,
            };
            let op = match op {
                Operator::Eq => Operator::NotEq,
                Operator::NotEq => Operator::Eq,
                Operator::Lt => Operator::GtEq,
                Operator::LtEq => Operator::Gt,
                Operator::Gt => Operator::LtEq,
                Operator::GtEq => Operator::Lt,
                _ => return None,
            };
            if value.is_null() || is_nan(value) {
                return None;
            }
            let value = Expr::Literal(value.clone(), None);
            let other = Expr::BinaryExpr(BinaryExpr { left: Box::new(column.clone()), op, right: Box::new(value) });
            other.or(column.is_null())
        }
        Expr::InList(InList { expr, list, negated: false }) => {
            let column = plain(expr, schema)?;
            let literal = |e: &Expr| matches!(e, Expr::Literal(value, _) if !value.is_null() && !is_nan(value));
            if !list.iter().all(literal) {
                return None;
            }
            column.clone().in_list(list.clone(), true).or(column.is_null())
        }
        Expr::IsNull(inner) => plain(inner, schema)?.is_not_null(),
        Expr::IsNotNull(inner) => plain(inner, schema)?.is_null(),
        Expr::Literal(ScalarValue::Boolean(Some(true)), _) => lit(false),
        _ => return None,
    })
}

/// A column of the table, without the name of the table.
fn plain(column: &Expr, schema: &ArrowSchema) -> Option<Expr> {
    let Expr::Column(column) = column else { return None };
    schema.field_with_name(&column.name).ok()?;
    Some(Expr::Column(Column::new_unqualified(&column.name)))
}

fn is_nan(value: &ScalarValue) -> bool {
    match value {
        ScalarValue::Float32(Some(v)) => v.is_nan(),
        ScalarValue::Float64(Some(v)) => v.is_nan(),
        _ => false,
    }
}
