//! INSERT and statement sets as jobs: prepare, write files, commit, verdict.
//!
//! 1. `job::run` prepares the target of every INSERT (`sink`): all checks that need no row come first.
//! 2. The queries are planned together; a table that several of them scan is read once (`share`, `shared_scan`).
//! 3. All writers run at the same time. If one fails, all files are removed and no table has changed.
//! 4. The commits follow one after the other (`commit`), one for each INSERT. They share the job's id.
//!
//! `statement_set` keeps the INSERTs between `BEGIN STATEMENT SET` and `END`.

mod commit;
mod job;
mod queue;
pub(crate) mod share;
mod shared_scan;
mod sink;
mod statement_set;
#[cfg(test)]
mod tests;

pub(crate) use commit::Commits;
pub(crate) use job::{check, run, warning};
pub(crate) use statement_set::OpenSet;
