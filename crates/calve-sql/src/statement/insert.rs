//! INSERT and statement sets.

use calve_types::Span;
use sqlparser::ast;

use super::{Ident, Name, Query};
use crate::hints::TableHint;

/// `INSERT INTO | OVERWRITE t [hint] [PARTITION (..)] [(columns)] query`.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// The target.
    pub table: Name,
    /// Its OPTIONS hint.
    pub hint: Option<TableHint>,
    /// `OVERWRITE`.
    pub overwrite: bool,
    /// `PARTITION (k = v, ..)`: columns and literals.
    pub partition: Vec<(Ident, ast::Expr)>,
    /// The column list; `None` is all. More parts name a field inside a row.
    pub columns: Option<Vec<Name>>,
    /// The rows.
    pub query: Query,
}

/// A statement set written as one statement.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementSet {
    /// Its INSERTs, at least one.
    pub inserts: Vec<Insert>,
    /// Where it begins.
    pub span: Span,
}
