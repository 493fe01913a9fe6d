//! A scan of some data files of a snapshot.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::datatypes::Schema as ArrowSchema;
use calve_types::Result;

use super::context::plain_field;
use super::rows::{RowColumn, with_row_columns};
use crate::table::Table;
use crate::write::WholeFiles;

/// Which data files a scan reads.
#[derive(Clone, Debug, Default)]
pub(crate) enum ChosenFiles {
    /// All that its filters leave.
    #[default]
    All,
    /// Those of these locations.
    Only(Arc<HashSet<String>>),
    /// All but those that a statement takes away unread, as known when the scan is planned.
    Without(Arc<WholeFiles>),
}

impl ChosenFiles {
    /// Whether the file at that location is read.
    pub(crate) fn has(&self, path: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(files) => files.contains(path),
            Self::Without(whole) => !whole.is_unread(path),
        }
    }
}

/// The columns of a scan of the table with `columns` behind them.
///
/// # Errors
/// `not-supported` for columns of types that Flink does not have.
pub(crate) fn row_fields(table: &Table, columns: &[RowColumn]) -> Result<ArrowSchema> {
    let fields = table.metadata().current_schema().as_struct().fields();
    let schema = ArrowSchema::new(fields.iter().map(plain_field).collect::<Result<Vec<_>>>()?);
    with_row_columns(&schema, columns)
}
