//! Materialized tables.

use calve_types::Span;
use sqlparser::ast;

use super::{Ident, Name, PrimaryKey, Property, Query};

/// `CREATE MATERIALIZED TABLE`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateMaterializedTable {
    /// Name.
    pub name: Name,
    /// `PRIMARY KEY`.
    pub primary_key: Option<PrimaryKey>,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// `PARTITIONED BY`.
    pub partitioned_by: Vec<Ident>,
    /// `WITH`.
    pub properties: Vec<Property>,
    /// `FRESHNESS = INTERVAL ..`
    pub freshness: Box<ast::Expr>,
    /// `REFRESH_MODE`.
    pub refresh_mode: Option<RefreshMode>,
    /// `AS query`.
    pub query: Query,
    /// Where the statement begins.
    pub span: Span,
}

/// How a materialized table is kept fresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshMode {
    /// `FULL`
    Full,
    /// `CONTINUOUS`
    Continuous,
}

/// What ALTER MATERIALIZED TABLE changes.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterMaterializedTable {
    /// `SUSPEND`
    Suspend,
    /// `RESUME [WITH (..)]`
    Resume(Vec<Property>),
    /// `REFRESH [PARTITION (k = v, ..)]`: columns and literals.
    Refresh(Vec<(Ident, ast::Expr)>),
    /// `SET FRESHNESS = INTERVAL ..`
    Freshness(Box<ast::Expr>),
    /// `SET REFRESH_MODE = ..`
    RefreshMode(RefreshMode),
    /// `SET ('k' = 'v', ..)`
    Set(Vec<Property>),
    /// `RESET ('k', ..)`
    Reset(Vec<String>),
    /// `AS query`
    As(Query),
}
