//! INSERT and statement sets as jobs: prepare, write files, commit, verdict.
//!
//! 1. `job::run` prepares the target of every INSERT (`sink`): all checks that need no row come first.
//! 2. The queries are planned together; a table that several of them scan is read once (`share`, `shared_scan`).
//! 3. All writers run at the same time. If one fails, all files are removed and no table has changed.
//! 4. The commits follow (`commit`), one for each INSERT: all of them at once where the catalog offers it, else one after the
//!    other. They share the job's id.
//!
//! `identity` says which job a statement is. One that runs again under its id (`resume`) leaves out what its earlier runs
//! have committed, before it writes anything.
//!
//! `statement_set` keeps the INSERTs between `BEGIN STATEMENT SET` and `END`.

mod commit;
mod identity;
mod job;
mod queue;
mod resume;
pub(crate) mod share;
mod shared_scan;
mod sink;
mod statement_set;
#[cfg(test)]
mod tests;

pub(crate) use commit::Commits;
pub(crate) use identity::{JOB_ID, Job, Jobs, check as check_job_id, text_of_insert, text_of_statement};
pub(crate) use job::{check, run, warning};
pub(crate) use resume::{Pin, committed_before, explained, pinned, summary as earlier_summary, verify_command};
pub(crate) use statement_set::OpenSet;
