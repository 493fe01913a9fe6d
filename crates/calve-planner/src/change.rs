//! DELETE, UPDATE and MERGE, bound: an extension, since Flink's Iceberg connector has none of them.

use std::sync::Arc;

use calve_types::Span;

use crate::catalog::TableEntry;
use crate::rel::Rel;

/// A statement that changes rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// `DELETE FROM`
    Delete,
    /// `UPDATE`
    Update,
    /// `MERGE INTO`
    Merge,
}

impl ChangeKind {
    /// The statement's first word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delete => "DELETE",
            Self::Update => "UPDATE",
            Self::Merge => "MERGE",
        }
    }
}

/// A table whose rows are to change, and what reads them.
#[derive(Debug, Clone)]
pub struct ChangedTable {
    /// The table.
    pub entry: Arc<TableEntry>,
    /// The same rows with hidden columns: the source of this entry gives the table's physical columns, then `_file`
    /// (STRING), `_pos` (BIGINT) and, with `lineage`, `_row_id` (BIGINT).
    pub rows: Arc<TableEntry>,
    /// Whether rows have ids that an update keeps.
    pub lineage: bool,
}

/// What becomes of a row: the values of [`Change::OP`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i8)]
pub enum ChangeOp {
    /// The row at the position goes.
    Delete = 0,
    /// The row at the position goes, and the values take its place.
    Update = 1,
    /// The values are a new row.
    Insert = 2,
}

/// A DELETE, UPDATE or MERGE, bound: what becomes of which rows.
#[derive(Debug, Clone)]
pub struct Change {
    /// Which statement.
    pub kind: ChangeKind,
    /// The table, options of its hint included.
    pub table: Arc<TableEntry>,
    /// The changes. Columns: [`Change::OP`], [`Change::FILE`] and [`Change::POSITION`] of the row that changes, NULL for a
    /// new one; with `has_values` from [`Change::VALUES`] on the table's physical columns, NULL for a row that goes; at last
    /// with `lineage` the id that the row keeps (BIGINT), NULL for a new one.
    pub rows: Rel,
    /// Whether rows may come: not in a DELETE.
    pub has_values: bool,
    /// Whether `rows` ends with ids.
    pub lineage: bool,
    /// Positions among the physical columns of NOT NULL columns, checked at run time by
    /// `table.exec.sink.not-null-enforcer` (ERROR or DROP).
    pub not_null: Vec<usize>,
    /// Where the table was written.
    pub span: Span,
}

impl Change {
    /// The column with a [`ChangeOp`] (TINYINT).
    pub const OP: usize = 0;
    /// The column with the data file of the row (STRING).
    pub const FILE: usize = 1;
    /// The column with the row's position in the file, from 0 (BIGINT).
    pub const POSITION: usize = 2;
    /// The first column of the values.
    pub const VALUES: usize = 3;
}
