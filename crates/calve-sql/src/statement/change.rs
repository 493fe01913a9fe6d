//! Statements that change the rows of a table, beside INSERT.

use calve_types::Span;
use sqlparser::ast;

use super::{Ident, Name};
use crate::hints::{Hints, TableHint};

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
    pub assignments: Vec<(Ident, ast::Expr)>,
    /// Which rows; `None` is all.
    pub condition: Option<ast::Expr>,
    /// The hints of queries in values and condition.
    pub hints: Hints,
    /// Where the statement begins.
    pub span: Span,
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
