//! Flink SQL's statements.

mod alter;
mod catalog;
mod change;
mod function;
mod insert;
mod materialized;
mod model;
mod plan;
mod show;
mod table;
mod view;

use calve_types::Span;
use sqlparser::ast;

pub use self::alter::*;
pub use self::catalog::*;
pub use self::change::*;
pub use self::function::*;
pub use self::insert::*;
pub use self::materialized::*;
pub use self::model::*;
pub use self::plan::*;
pub use self::show::*;
pub use self::table::*;
pub use self::view::*;
use crate::hints::Hints;
use crate::places::Places;

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

/// A text in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Its content.
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
    /// Where its tokens stand.
    pub places: Places,
    /// Where the query stands.
    pub span: Span,
}

/// The name of the function that `(a - b) DAY` calls in sqlparser's tree: its arguments are `a - b` and the text of the
/// unit, `DAY` or `DAY TO SECOND`.
pub const DIFFERENCE: &str = "INTERVAL OF";

/// The name under which `WITHIN interval` of MATCH_RECOGNIZE stands among the definitions of its symbols: the first one.
pub const WITHIN: &str = "PATTERN WITHIN";

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
    /// `ALTER CATALOG`.
    AlterCatalog {
        /// Name.
        name: Ident,
        /// What changes.
        change: AlterCatalog,
    },
    /// `CREATE DATABASE`.
    CreateDatabase(CreateDatabase),
    /// `ALTER DATABASE d SET (..)`.
    AlterDatabase {
        /// Name.
        name: Name,
        /// `SET ('k' = 'v', ..)`, maybe empty.
        properties: Vec<Property>,
    },
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
    /// `DESCRIBE DATABASE d`.
    DescribeDatabase {
        /// Name.
        name: Name,
        /// `EXTENDED`.
        extended: bool,
    },
    /// `DESCRIBE FUNCTION f`.
    DescribeFunction {
        /// Name.
        name: Name,
        /// `EXTENDED`.
        extended: bool,
    },
    /// `DESCRIBE MODEL m`.
    DescribeModel {
        /// Name.
        name: Name,
        /// `EXTENDED`.
        extended: bool,
    },
    /// `DESCRIBE JOB 'id'`.
    DescribeJob {
        /// The job's id as written.
        id: Text,
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
        /// `EXPLAIN ANALYZE`, an extension: the statement is run.
        analyze: bool,
        /// Where EXPLAIN stands.
        span: Span,
    },
    /// `CREATE FUNCTION`.
    CreateFunction(Box<CreateFunction>),
    /// `ALTER FUNCTION`.
    AlterFunction(Box<AlterFunction>),
    /// `DROP FUNCTION`.
    DropFunction(DropFunction),
    /// `LOAD MODULE m [WITH (..)]`.
    LoadModule {
        /// Name.
        name: Ident,
        /// `WITH`.
        properties: Vec<Property>,
    },
    /// `UNLOAD MODULE m`.
    UnloadModule {
        /// Name.
        name: Ident,
    },
    /// `USE MODULES m, ..`.
    UseModules {
        /// The modules in order, at least one.
        names: Vec<Ident>,
    },
    /// `ADD JAR 'path'`.
    AddJar {
        /// The path.
        path: Text,
    },
    /// `REMOVE JAR 'path'`.
    RemoveJar {
        /// The path.
        path: Text,
    },
    /// `STOP JOB`.
    StopJob(StopJob),
    /// `COMPILE PLAN`.
    CompilePlan(CompilePlan),
    /// `EXECUTE PLAN 'file'`.
    ExecutePlan {
        /// The file that holds the plan.
        file: Text,
    },
    /// `ANALYZE TABLE`.
    AnalyzeTable(AnalyzeTable),
    /// `CALL`.
    Call(Call),
    /// `DELETE FROM`.
    Delete(Box<Delete>),
    /// `UPDATE`.
    Update(Box<Update>),
    /// `MERGE INTO`.
    Merge(Box<Merge>),
    /// `TRUNCATE TABLE t`.
    TruncateTable {
        /// The table.
        table: Name,
    },
    /// `CREATE MODEL`.
    CreateModel(Box<CreateModel>),
    /// `ALTER MODEL`.
    AlterModel(AlterModel),
    /// `DROP MODEL`.
    DropModel {
        /// Name.
        name: Name,
        /// `IF EXISTS`.
        if_exists: bool,
        /// `TEMPORARY`.
        temporary: bool,
    },
    /// `CREATE MATERIALIZED TABLE`.
    CreateMaterializedTable(Box<CreateMaterializedTable>),
    /// `ALTER MATERIALIZED TABLE`.
    AlterMaterializedTable {
        /// Name.
        name: Name,
        /// What changes.
        change: AlterMaterializedTable,
        /// Where the statement begins.
        span: Span,
    },
    /// `DROP MATERIALIZED TABLE`.
    DropMaterializedTable {
        /// Name.
        name: Name,
        /// `IF EXISTS`.
        if_exists: bool,
    },
    /// Valid Flink SQL that has no syntax tree.
    Other {
        /// Its name, such as `UPSERT INTO`.
        feature: &'static str,
        /// Where it begins.
        span: Span,
    },
}
