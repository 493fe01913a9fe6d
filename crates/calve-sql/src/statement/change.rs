//! Statements that change the rows of a table, beside INSERT.

use calve_types::Span;
use sqlparser::ast;

use super::{Ident, Name};
use crate::hints::{Hints, TableHint};
use crate::places::Places;

/// `DELETE FROM t [hint] [[AS] alias] [WHERE condition]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// The table.
    pub table: Name,
    /// Its OPTIONS hint.
    pub hint: Option<TableHint>,
    /// The name that the condition may call it by.
    pub alias: Option<Ident>,
    /// Which rows; `None` is all.
    pub condition: Option<ast::Expr>,
    /// The hints of queries in the condition.
    pub hints: Hints,
    /// Where the statement's tokens stand.
    pub places: Places,
    /// Where the statement begins.
    pub span: Span,
}

/// `UPDATE t [hint] [[AS] alias] SET column = value, .. [WHERE condition]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The table.
    pub table: Name,
    /// Its OPTIONS hint.
    pub hint: Option<TableHint>,
    /// The name that values and condition may call it by.
    pub alias: Option<Ident>,
    /// Columns and their new values.
    pub assignments: Vec<Assignment>,
    /// Which rows; `None` is all.
    pub condition: Option<ast::Expr>,
    /// The hints of queries in values and condition.
    pub hints: Hints,
    /// Where the statement's tokens stand.
    pub places: Places,
    /// Where the statement begins.
    pub span: Span,
}

/// `column = value`; the name may stand behind its table's, more parts name a field inside a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The column.
    pub column: Name,
    /// Its new value.
    pub value: ast::Expr,
}

/// `MERGE INTO t [hint] [[AS] alias] USING source ON condition WHEN ..`, an extension as Spark spells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// The table whose rows change.
    pub table: Name,
    /// Its OPTIONS hint.
    pub hint: Option<TableHint>,
    /// The name that the statement may call it by.
    pub alias: Option<Ident>,
    /// `SELECT * FROM source`, where the source is a table or a query with an alias.
    pub source: Box<ast::Query>,
    /// Which rows of the two belong together.
    pub on: ast::Expr,
    /// What becomes of them, at least one clause; the first one that holds for a row counts.
    pub clauses: Vec<MergeClause>,
    /// The hints of the source and of queries in expressions.
    pub hints: Hints,
    /// Where the statement's tokens stand.
    pub places: Places,
    /// Where the statement begins.
    pub span: Span,
}

/// `WHEN .. [AND condition] THEN ..` of a MERGE.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeClause {
    /// Of which rows.
    pub rows: MergeRows,
    /// What else must hold.
    pub condition: Option<ast::Expr>,
    /// What becomes of them.
    pub action: MergeAction,
    /// Where `WHEN` stands.
    pub span: Span,
}

/// The rows that a clause of MERGE is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeRows {
    /// `MATCHED`: rows of the table, each with a row of the source.
    Matched,
    /// `NOT MATCHED [BY TARGET]`: rows of the source.
    NotMatched,
    /// `NOT MATCHED BY SOURCE`: rows of the table.
    NotMatchedBySource,
}

/// What a clause of MERGE does.
#[derive(Debug, Clone, PartialEq)]
pub enum MergeAction {
    /// `UPDATE SET column = value, ..`
    Update(Vec<Assignment>),
    /// `UPDATE SET *`: every column gets the source's of the same name.
    UpdateAll,
    /// `DELETE`
    Delete,
    /// `INSERT [(columns)] VALUES (..)`
    Insert {
        /// The columns; `None` is all.
        columns: Option<Vec<Name>>,
        /// Their values.
        values: Vec<ast::Expr>,
    },
    /// `INSERT *`: every column gets the source's of the same name.
    InsertAll,
}

/// `ANALYZE TABLE t [PARTITION (..)] COMPUTE STATISTICS [FOR ..]`.
#[derive(Debug, Clone, PartialEq)]
pub struct AnalyzeTable {
    /// The table.
    pub table: Name,
    /// `PARTITION (k [= v], ..)`: columns, with literals where given.
    pub partition: Vec<(Ident, Option<ast::Expr>)>,
    /// Of which columns, beside the number of rows.
    pub columns: AnalyzedColumns,
    /// Where the statement begins.
    pub span: Span,
}

/// The columns that ANALYZE TABLE looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnalyzedColumns {
    /// None.
    None,
    /// `FOR COLUMNS a, b`
    Some(Vec<Ident>),
    /// `FOR ALL COLUMNS`
    All,
}
