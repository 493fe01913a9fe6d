//! Flink SQL's statements.

mod alter;
mod catalog;
mod insert;
mod show;
mod table;
mod view;

use calve_types::Span;
use sqlparser::ast;

pub use self::alter::*;
pub use self::catalog::*;
pub use self::insert::*;
pub use self::show::*;
pub use self::table::*;
pub use self::view::*;
use crate::hints::Hints;

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
    /// `ALTER TABLE`.
    AlterTable(Box<AlterTable>),
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
