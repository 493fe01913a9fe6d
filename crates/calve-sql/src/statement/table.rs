//! Tables.

use calve_types::{DataType, Span};
use sqlparser::ast;

use super::{Ident, Name, Property, Query};

/// `CREATE TABLE`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// Name.
    pub name: Name,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `REPLACE TABLE` without CREATE: the table must be there.
    pub replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Columns in order.
    pub columns: Vec<ColumnDef>,
    /// The primary key, inline or as a table constraint.
    pub primary_key: Option<PrimaryKey>,
    /// Where `UNIQUE` stands behind a column, for each time it does.
    pub unique: Vec<Span>,
    /// Where `UNIQUE (..)` stands among the columns, for each time it does.
    pub unique_constraints: Vec<Span>,
    /// `WATERMARK FOR column AS expr`.
    pub watermark: Option<Watermark>,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// `DISTRIBUTED`.
    pub distribution: Option<Distribution>,
    /// `PARTITIONED BY`.
    pub partitioned_by: Vec<PartitionField>,
    /// `WITH`.
    pub properties: Vec<Property>,
    /// `LIKE table [(options)]`.
    pub like: Option<TableLike>,
    /// `AS query`.
    pub query: Option<Query>,
}

/// A column of CREATE TABLE.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDef {
    /// Name.
    pub name: Ident,
    /// What it holds.
    pub kind: ColumnKind,
    /// `COMMENT`.
    pub comment: Option<String>,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnKind {
    /// Values of a type.
    Physical {
        /// The type, `NOT NULL` included.
        data_type: DataType,
        /// Where the type stands.
        span: Span,
    },
    /// `c` alone, in CREATE TABLE AS: the column of that name of the query.
    OfQuery,
    /// `c AS expr`.
    Computed(Box<ast::Expr>),
    /// `c TYPE METADATA [FROM 'key'] [VIRTUAL]`.
    Metadata {
        /// The type.
        data_type: DataType,
        /// `FROM 'key'`; the column's own name without it.
        key: Option<String>,
        /// `VIRTUAL`.
        is_virtual: bool,
    },
}

/// `WATERMARK FOR column AS expr`.
#[derive(Debug, Clone, PartialEq)]
pub struct Watermark {
    /// The time column; more parts name a field inside a row.
    pub column: Name,
    /// The watermark.
    pub expr: Box<ast::Expr>,
    /// Where the clause stands.
    pub span: Span,
}

/// `PRIMARY KEY (columns) NOT ENFORCED`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimaryKey {
    /// `CONSTRAINT name`.
    pub name: Option<Ident>,
    /// Columns as written.
    pub columns: Vec<Ident>,
    /// Whether it says `NOT ENFORCED`.
    pub not_enforced: bool,
    /// Where it stands.
    pub span: Span,
}

/// `DISTRIBUTED [BY [HASH | RANGE] (columns)] [INTO n BUCKETS]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    /// How rows are distributed; `None` leaves it to the connector.
    pub kind: Option<DistributionKind>,
    /// By which columns, none for `DISTRIBUTED INTO n BUCKETS`.
    pub columns: Vec<Ident>,
    /// The number of buckets.
    pub buckets: Option<u32>,
    /// Where the clause stands.
    pub span: Span,
}

/// How DISTRIBUTED distributes rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistributionKind {
    /// `HASH`
    Hash,
    /// `RANGE`
    Range,
}

/// An entry of `PARTITIONED BY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionField {
    /// The source column.
    pub column: Ident,
    /// The transform; `None` is the column itself.
    pub transform: Option<PartitionTransform>,
    /// Where it stands.
    pub span: Span,
}

/// A transform of `PARTITIONED BY`, an extension of Flink's syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionTransform {
    /// `years(ts)`
    Year,
    /// `months(ts)`
    Month,
    /// `days(ts)`
    Day,
    /// `hours(ts)`
    Hour,
    /// `bucket(n, c)`
    Bucket(u32),
    /// `truncate(w, c)`
    Truncate(u32),
}

/// `LIKE table [(options)]` of CREATE TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLike {
    /// The table that is copied.
    pub table: Name,
    /// What is copied and how, in order.
    pub options: Vec<(LikeMode, LikeFeature)>,
    /// Where LIKE stands.
    pub span: Span,
}

/// How LIKE copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LikeMode {
    /// `INCLUDING`
    Including,
    /// `EXCLUDING`
    Excluding,
    /// `OVERWRITING`
    Overwriting,
}

/// What LIKE copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LikeFeature {
    /// `ALL`
    All,
    /// `CONSTRAINTS`
    Constraints,
    /// `DISTRIBUTION`
    Distribution,
    /// `GENERATED`: computed columns.
    Generated,
    /// `METADATA`
    Metadata,
    /// `OPTIONS`
    Options,
    /// `PARTITIONS`
    Partitions,
    /// `WATERMARKS`
    Watermarks,
}
