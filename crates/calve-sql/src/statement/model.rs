//! Models.

use calve_types::Span;

use super::{ColumnDef, Name, Property, Query};

/// `CREATE [TEMPORARY] MODEL`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateModel {
    /// Name.
    pub name: Name,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `INPUT (columns)`.
    pub input: Vec<ColumnDef>,
    /// `OUTPUT (columns)`.
    pub output: Vec<ColumnDef>,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// `WITH`.
    pub properties: Vec<Property>,
    /// `AS query`.
    pub query: Option<Query>,
    /// Where the statement begins.
    pub span: Span,
}

/// `ALTER MODEL`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterModel {
    /// Name.
    pub name: Name,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// What changes.
    pub change: AlterModelChange,
    /// Where the statement begins.
    pub span: Span,
}

/// What ALTER MODEL changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlterModelChange {
    /// `RENAME TO name`
    Rename(Name),
    /// `SET ('k' = 'v', ..)`
    Set(Vec<Property>),
    /// `RESET ('k', ..)`
    Reset(Vec<String>),
}
