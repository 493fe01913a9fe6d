//! Session: executes Flink SQL statements over catalogs, jobs and results.
//!
//! # The life of a statement
//!
//! 1. `calve_sql::split` cuts a script into statements; the caller hands each to [`Session::execute`].
//! 2. `calve_sql::parse` makes a `Statement` of it. SET, DDL and SHOW are run by the session's own modules (`ddl`,
//!    `show`) on its `catalogs`; the rest goes on.
//! 3. `calve_planner::tables::referenced` lists the names it uses, and `Resolved::load` loads each table once: the
//!    statement sees one fixed version of every table.
//! 4. `calve_planner::bind::query` or `calve_planner::bind::insert` resolves names and types by Flink's rules into a
//!    `Rel` or a `Sink`.
//! 5. `calve_planner::lower::plan` turns the `Rel` into a DataFusion plan; Iceberg tables are read through
//!    `calve_iceberg::scan::provider`, which applies their deletes. `Runner::stream` optimises and starts it.
//! 6. A query's rows are streamed by [`Rows`]. An INSERT is a job (`insert::run`): `calve_iceberg::write::prepare` checks
//!    before the first row, its `Writer` writes files that nothing refers to yet, `calve_iceberg::commit::commit` makes
//!    them part of the table, or they are deleted.
//! 7. The caller gets a [`StatementResult`], or an error with its place in the script.

mod catalogs;
mod ddl;
mod error;
mod insert;
mod listing;
mod not_null;
mod options;
mod query;
mod resolve;
mod result;
mod session;
mod show;

pub use result::{ResultBody, Rows, StatementKind, StatementResult, TextRows, Warning, WriteSummary};
pub use session::{Session, SessionConfig};
