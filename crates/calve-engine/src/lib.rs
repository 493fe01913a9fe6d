//! Session: executes Flink SQL statements over catalogs, jobs and results.
//!
//! # The life of a statement
//!
//! 1. `calve_sql::split` cuts a script into statements; the caller hands each to [`Session::execute`].
//! 2. `calve_sql::parse` makes a `Statement` of it. SET, DDL and SHOW are run by the session's own modules (`ddl`,
//!    `show`, `explain`) on its `catalogs`, which hold Iceberg catalogs, the definitions (`object`) of tables and views in
//!    memory catalogs, and temporary ones; the rest goes on.
//! 3. `calve_planner::tables::referenced` lists the names it uses, and `Resolved::load` loads each table once, those of
//!    views too, and what tables of the connector `iceberg` stand for (`mapping`): the statement sees one fixed version of
//!    every table.
//! 4. `calve_planner::bind::query` or `calve_planner::bind::insert` resolves names and types by Flink's rules into a
//!    `Rel` or a `Sink`.
//! 5. `calve_planner::lower::plan` turns the `Rel` into a DataFusion plan; Iceberg tables are read through
//!    `calve_iceberg::scan::provider`, which applies their deletes. In streaming mode `calve_planner::stream::plan` says
//!    whether its rows change (`Runner::changelog`); where they do, `lower::changelog` makes a plan whose last column has
//!    the changes, and `lower::settled` one of what they leave for each key (`calve_planner::stream::writing` says which of
//!    the two an INSERT takes). `Runner::stream` optimises and starts the
//!    plan, so that it stays within the memory limit (`spill`, `pool`).
//! 6. A query's rows are streamed by [`Rows`]. An INSERT, or the INSERTs of a statement set, are a job (`jobs::run`): their
//!    targets are checked before the first row, rows are written that nobody sees yet, the commits of all of them make the
//!    rows visible, or they are removed; what an earlier run of the same job has committed is left out. For Iceberg these are `calve_iceberg::write::prepare`, its `Writer` and
//!    `calve_iceberg::commit::commit`, for other tables a `calve_connectors::Sink` and its `Pending`.
//!    DELETE, UPDATE and MERGE (`dml`) change rows of the snapshot they read, and begin anew if it is no longer the newest.
//! 7. The caller gets a [`StatementResult`], or an error with its place in the script.
//!
//! A [`Checker`] goes the same way up to step 5, on images of the catalogs, and runs nothing.

mod analyze;
mod catalogs;
mod check;
mod complete;
mod counted;
mod ddl;
mod definition;
mod dml;
mod error;
mod explain;
mod jobs;
mod listing;
mod mapping;
mod not_null;
mod options;
mod pool;
mod progress;
mod query;
mod resolve;
mod result;
mod secrets;
mod session;
mod show;
mod spill;
mod summary;
mod verify;
mod yielding;

pub use calve_connectors::{ConnectorOption, PrintLines, connector_options};
pub use calve_iceberg::commit::{CommitMark, CommitVerdict, JobSnapshot, utc};
pub use calve_stream::Op;
pub use check::{CheckConfig, Checker, Finding, Severity};
pub use complete::{NameSource, function_names};
pub use progress::{Progress, ProgressCounts};
pub use result::{
    ResultBody, RowCounts, Rows, Settled, StatementKind, StatementResult, TextRows, Warning, WriteSummary,
};
pub use secrets::{Secret, masked, secrets};
pub use session::{Session, SessionConfig};
pub use verify::job_id;
