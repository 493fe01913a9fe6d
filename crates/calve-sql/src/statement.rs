//! Flink SQL's statements.

use calve_types::{DataType, Span};
use sqlparser::ast;

use crate::hints::{Hints, TableHint};

/// A name of one or more parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The parts, unquoted.
    pub parts: Vec<String>,
    /// Where it stands.
    pub span: Span,
}

/// An identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ident {
    /// The name, unquoted.
    pub value: String,
    /// Where it stands.
    pub span: Span,
}

/// An entry of a WITH clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Key.
    pub key: String,
    /// Value.
    pub value: String,
    /// Where the entry stands.
    pub span: Span,
}

/// A query with its hints.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The syntax tree.
    pub ast: Box<ast::Query>,
    /// Hints, by the place they stand at.
    pub hints: Hints,
    /// Where the query stands.
    pub span: Span,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// SELECT, VALUES, WITH, set operations.
    Query(Query),
    /// `INSERT INTO | OVERWRITE`.
    Insert(Insert),
    /// `SET`, `SET 'k' = 'v'`.
    Set {
        /// Key and value; `None` lists the options.
        option: Option<(String, String)>,
    },
    /// `RESET`, `RESET 'k'`.
    Reset {
        /// Key; `None` is all.
        key: Option<String>,
    },
    /// `CREATE CATALOG`.
    CreateCatalog(CreateCatalog),
    /// `DROP CATALOG`.
    DropCatalog {
        /// Name.
        name: Ident,
        /// `IF EXISTS`.
        if_exists: bool,
    },
    /// `USE CATALOG c`.
    UseCatalog {
        /// Name.
        name: Ident,
    },
    /// `USE [c.]d`.
    UseDatabase {
        /// Name.
        name: Name,
    },
    /// `CREATE DATABASE`.
    CreateDatabase(CreateDatabase),
    /// `DROP DATABASE`.
    DropDatabase {
        /// Name.
        name: Name,
        /// `IF EXISTS`.
        if_exists: bool,
        /// `CASCADE`.
        cascade: bool,
    },
    /// `CREATE TABLE`.
    CreateTable(Box<CreateTable>),
    /// `DROP TABLE`.
    DropTable {
        /// Name.
        name: Name,
        /// `IF EXISTS`.
        if_exists: bool,
        /// `TEMPORARY`.
        temporary: bool,
    },
    /// `SHOW ...` of something that is listed.
    Show(Show),
    /// `DESCRIBE t`.
    DescribeTable {
        /// Name.
        name: Name,
        /// `EXTENDED`.
        extended: bool,
    },
    /// `DESCRIBE CATALOG c`.
    DescribeCatalog {
        /// Name.
        name: Ident,
        /// `EXTENDED`.
        extended: bool,
    },
    /// `CREATE VIEW`.
    CreateView(Box<CreateView>),
    /// `ALTER VIEW`.
    AlterView {
        /// Name.
        name: Name,
        /// What changes.
        change: AlterView,
    },
    /// `DROP VIEW`.
    DropView {
        /// Name.
        name: Name,
        /// `IF EXISTS`.
        if_exists: bool,
        /// `TEMPORARY`.
        temporary: bool,
    },
    /// `SHOW CREATE TABLE | VIEW | CATALOG name`.
    ShowCreate {
        /// Of what.
        kind: ObjectKind,
        /// Name.
        name: Name,
    },
    /// `SHOW PARTITIONS t [PARTITION (k = v, ..)]`.
    ShowPartitions {
        /// The table.
        table: Name,
        /// Columns and literals.
        partition: Vec<(Ident, ast::Expr)>,
    },
    /// `BEGIN STATEMENT SET`: the INSERTs up to END are one job.
    BeginStatementSet {
        /// Where it begins.
        span: Span,
    },
    /// `END` of a statement set.
    EndStatementSet {
        /// Where it stands.
        span: Span,
    },
    /// `EXECUTE STATEMENT SET BEGIN insert; .. END`.
    StatementSet(StatementSet),
    /// `EXPLAIN` of a query, an INSERT or a statement set.
    Explain {
        /// What is explained.
        statement: Box<Statement>,
        /// `ESTIMATED_COST, CHANGELOG_MODE, ..`, in upper case, as written.
        details: Vec<String>,
        /// Where EXPLAIN stands.
        span: Span,
    },
    /// Flink SQL that is recognised by name alone.
    Other {
        /// Its name, such as `ALTER TABLE`.
        feature: &'static str,
        /// Where it begins.
        span: Span,
    },
}

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
    /// The column list; `None` is all.
    pub columns: Option<Vec<Ident>>,
    /// The rows.
    pub query: Query,
}

/// `CREATE CATALOG`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateCatalog {
    /// Name.
    pub name: Ident,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// `WITH`.
    pub properties: Vec<Property>,
}

/// `CREATE DATABASE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateDatabase {
    /// Name.
    pub name: Name,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// `WITH`.
    pub properties: Vec<Property>,
}

/// `CREATE TABLE`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// Name.
    pub name: Name,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Columns in order.
    pub columns: Vec<ColumnDef>,
    /// The primary key, inline or as a table constraint.
    pub primary_key: Option<PrimaryKey>,
    /// Where `UNIQUE` stands, for each time it does.
    pub unique: Vec<Span>,
    /// `WATERMARK FOR column AS expr`.
    pub watermark: Option<Watermark>,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// Where `DISTRIBUTED` stands.
    pub distributed: Option<Span>,
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

/// `CREATE [TEMPORARY] VIEW`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    /// Name.
    pub name: Name,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Column names with their comments; empty takes the query's.
    pub columns: Vec<(Ident, Option<String>)>,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// The query.
    pub query: Query,
    /// The query as it was written.
    pub text: String,
}

/// What ALTER VIEW changes.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterView {
    /// `RENAME TO name`
    Rename(Name),
    /// `AS query`
    As {
        /// The query.
        query: Query,
        /// The query as it was written.
        text: String,
    },
}

/// The kinds of objects SHOW CREATE prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// `CATALOG`
    Catalog,
    /// `TABLE`
    Table,
    /// `VIEW`
    View,
}

/// A statement set written as one statement.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementSet {
    /// Its INSERTs, at least one.
    pub inserts: Vec<Insert>,
    /// Where it begins.
    pub span: Span,
}

/// `PRIMARY KEY (columns) NOT ENFORCED`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimaryKey {
    /// Columns as written.
    pub columns: Vec<Ident>,
    /// Whether it says `NOT ENFORCED`.
    pub not_enforced: bool,
    /// Where it stands.
    pub span: Span,
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

/// `SHOW`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Show {
    /// What is listed.
    pub what: ShowWhat,
    /// `FROM | IN name`.
    pub from: Option<Name>,
    /// `[NOT] LIKE | ILIKE 'pattern'`.
    pub like: Option<ShowLike>,
    /// Where it begins.
    pub span: Span,
}

/// What SHOW lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowWhat {
    /// `CATALOGS`
    Catalogs,
    /// `CURRENT CATALOG`
    CurrentCatalog,
    /// `DATABASES`
    Databases,
    /// `CURRENT DATABASE`
    CurrentDatabase,
    /// `TABLES`
    Tables,
    /// `VIEWS`
    Views,
    /// `FUNCTIONS`, `USER FUNCTIONS`
    Functions {
        /// `USER`: those of the user alone.
        user: bool,
    },
    /// `COLUMNS FROM table`: the name is in `from`.
    Columns,
    /// `MODULES`, `FULL MODULES`
    Modules {
        /// `FULL`: those not in use too.
        full: bool,
    },
    /// `JARS`
    Jars,
}

/// The filter of SHOW.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowLike {
    /// Pattern.
    pub pattern: String,
    /// `ILIKE`.
    pub ignore_case: bool,
    /// `NOT`.
    pub negated: bool,
}
