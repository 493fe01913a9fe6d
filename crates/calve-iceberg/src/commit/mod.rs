//! Making files part of a table.
//!
//! [`TableOps`] is the compare-and-swap of one catalog; [`commit`] re-applies an [`Operation`] on the newest version
//! of a table until it is in, and settles what happened where the answer got lost.

mod attempt;
mod change;
mod job;
mod manifests;
mod pick;
mod producer;
mod removal;
mod retry;
mod summary;
mod validate;

use std::fmt::{Debug, Display};
use std::sync::Arc;

use async_trait::async_trait;
use calve_types::{Error, Result};
use iceberg::spec::{DataFile, DataFileFormat};
use iceberg::{TableIdent, TableRequirement, TableUpdate};

use crate::table::Table;

pub(crate) use change::change;
pub(crate) use job::newest_of_job;
pub use job::{CommitMark, CommitVerdict, Earlier, JobInfo, JobSnapshot, earlier, parse_job_id, utc, verdict};
use manifests::MergeLimits;
pub(crate) use pick::{Picked, cherry_pick, picked, unknown_snapshot};
use retry::Retry;
use summary::Counts;

/// Why a commit did not answer "committed".
#[derive(Debug)]
pub enum CommitError {
    /// Another commit came first; nothing was changed. Refresh and try again.
    Conflict,
    /// Nobody knows whether the commit is in. Look before doing anything else.
    Unknown(Error),
    /// Nothing was changed, and trying again would not help.
    Rejected(Error),
}

/// The atomic replacement of a table's version, one implementation per kind of catalog.
#[async_trait]
pub trait TableOps: Send + Sync {
    /// The newest version.
    ///
    /// # Errors
    /// `unknown-table` if it is gone; `io`, `invalid-table`.
    async fn refresh(&self, ident: &TableIdent) -> Result<Table>;

    /// Replaces `base` by `base` + `updates`, if `base` still is the newest version and `requirements` hold.
    ///
    /// # Errors
    /// See [`CommitError`].
    async fn commit(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError>;

    /// Replaces the versions of several tables at once: all of them or none. Each table comes once. The new versions are in
    /// the order of `changes`; `None` from a catalog that does not offer it, which has changed nothing then. Without changes
    /// nothing is asked of the catalog, and the answer says whether it offers it.
    ///
    /// # Errors
    /// See [`CommitError`]; of all tables together.
    async fn commit_all(&self, _changes: Vec<TableChange>) -> Result<Option<Vec<Table>>, CommitError> {
        Ok(None)
    }
}

/// The change of one table in [`TableOps::commit_all`], as [`TableOps::commit`] takes it.
#[derive(Clone, Debug)]
pub struct TableChange {
    /// The version that is replaced.
    pub base: Table,
    /// What must hold for it.
    pub requirements: Vec<TableRequirement>,
    /// What makes the next version.
    pub updates: Vec<TableUpdate>,
}

/// A file to add and the partition spec it was written with ([`DataFile`] keeps its spec to itself).
#[derive(Clone, Debug, PartialEq)]
pub struct NewFile {
    /// The id of the partition spec of `file.partition()`.
    pub spec_id: i32,
    /// The file.
    pub file: DataFile,
}

/// Adds data files.
#[derive(Clone, Debug, Default)]
pub struct Append {
    /// The new data files.
    pub data: Vec<NewFile>,
}

/// A live file of a table, or one deletion vector of a Puffin file, which may hold several.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    /// The location as the table's manifests have it.
    pub path: String,
    /// Where in the Puffin file the deletion vector begins, in bytes; `None` for every other file.
    pub content_offset: Option<i64>,
}

impl FileId {
    /// The name of a file as a manifest's entry has it.
    pub fn of(file: &DataFile) -> Self {
        let vector = file.file_format() == DataFileFormat::Puffin;
        Self { path: file.file_path().to_owned(), content_offset: if vector { file.content_offset() } else { None } }
    }
}

/// Adds data files and delete files, and may replace delete files. An equality delete hits only rows of older snapshots.
#[derive(Clone, Debug, Default)]
pub struct RowDelta {
    /// The new data files.
    pub data: Vec<NewFile>,
    /// The new delete files.
    pub deletes: Vec<NewFile>,
    /// Delete files and deletion vectors that `deletes` replace; they must be live when the commit happens.
    pub removed: Vec<FileId>,
    /// Deletes that depend on what is live in the branch, for the case that it has moved since the writer was prepared.
    pub omitted: Option<Arc<dyn CompleteDeletes>>,
}

/// Replaces the partitions of its files: `INSERT OVERWRITE` (the Java library's `ReplacePartitions`). A partition is a
/// partition spec and its values; files without partition fields replace all there is. Whatever came first is replaced
/// too.
#[derive(Clone, Debug, Default)]
pub struct ReplacePartitions {
    /// The new data files, at least one.
    pub data: Vec<NewFile>,
}

/// What a change of rows must not have missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Rows added since the change was computed, whatever they are: it might have had to change them as well.
    #[default]
    Serializable,
    /// Only changes of the files it changes.
    Snapshot,
}

/// What tells of files that others added whether rows of them may belong to a change: its condition, which it displays as.
pub trait ConflictFilter: Send + Sync + Debug + Display {
    /// Whether data files of `base`, each with the id of its partition spec, may have such rows; one answer for each.
    fn may_match(&self, base: &Table, files: &[(&DataFile, i32)]) -> Vec<bool>;
}

/// Changes of rows that were computed on a snapshot: data files taken away or rewritten, and rows of others deleted by
/// position (the Java library's `OverwriteFiles` and `RowDelta`, as row-level commands use them).
///
/// The commit is a `commit-conflict` if another one, since `read`, removed a file of `removed` or a data file that
/// `deletes` refer to, deleted rows of one, or, if [`Isolation::Serializable`], added data files that `condition` does not
/// rule out.
#[derive(Clone, Debug, Default)]
pub struct Overwrite {
    /// The branch's snapshot that the change was computed on; `None` if it had none.
    pub read: Option<i64>,
    /// What must not have happened since.
    pub isolation: Isolation,
    /// Which rows it is about; without it all that others add is a conflict.
    pub condition: Option<Arc<dyn ConflictFilter>>,
    /// Data files to take away, and delete files or deletion vectors that `deletes` replace. What deletes rows of these
    /// data files only goes with them.
    pub removed: Vec<FileId>,
    /// The new data files.
    pub data: Vec<NewFile>,
    /// The new position delete files or deletion vectors.
    pub deletes: Vec<NewFile>,
}

/// Deletes of a writer that depend on what is live in the branch: those it left out because no live row could match
/// them in the snapshot it was prepared on, or those that name the positions of rows there.
#[async_trait]
pub trait CompleteDeletes: Send + Sync + Debug {
    /// The head of the branch when the writer was prepared; `None` for an empty branch.
    fn prepared_on(&self) -> Option<i64>;

    /// Writes the deletes as files, for `base` whose branch head is another snapshot.
    ///
    /// # Errors
    /// `io` and others; nothing is left behind then.
    async fn complete(&self, base: &Table) -> Result<Completed>;
}

/// What [`CompleteDeletes::complete`] found missing.
#[derive(Clone, Debug, Default)]
pub struct Completed {
    /// The delete files.
    pub deletes: Vec<NewFile>,
    /// Delete files and deletion vectors that these replace.
    pub removed: Vec<FileId>,
    /// Whether they come instead of the deletes and removals of the [`RowDelta`] and are right for that base only, so
    /// that the next base needs others. Else they are added to them, once.
    pub instead: bool,
}

/// A change of a table's rows.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Adds data files.
    Append(Append),
    /// Adds data files and delete files.
    RowDelta(RowDelta),
    /// Replaces whole partitions.
    ReplacePartitions(ReplacePartitions),
    /// Changes rows that were read.
    Overwrite(Overwrite),
}

/// A commit that is in.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The version with the commit.
    pub table: Table,
    /// The new snapshot.
    pub snapshot_id: i64,
    /// Another run of the same job had committed this write, as that snapshot: nothing was committed now, and the
    /// operation's files are the caller's to delete.
    pub earlier: bool,
}

/// A job's change of one table, to be committed together with others.
#[derive(Clone, Debug)]
pub struct JobWrite {
    /// The version it was prepared on.
    pub table: Table,
    /// The branch it goes to.
    pub branch: String,
    /// The change.
    pub operation: Operation,
    /// What its snapshot says of the job.
    pub job: JobInfo,
}

/// What a snapshot comes from, as its summary tells.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin<'a> {
    /// A job wrote it.
    Job(&'a JobInfo),
    /// Another snapshot's files were added again.
    Picked {
        /// That snapshot.
        snapshot_id: i64,
        /// Its `wap.id`.
        wap_id: Option<&'a str>,
    },
}

/// Commits `operation` to a branch of `table`, the version it was prepared on: re-applies it on the newest version until
/// it is in (`commit.retry.*`), with the same snapshot id on every try. A branch that does not exist begins with main's
/// head. If the answer of the catalog gets lost, the table is loaded again (`commit.status-check.*`) and asked for that id.
///
/// Not to be cancelled: a future dropped here leaves the outcome unknown.
///
/// # Errors
/// * `commit-unknown`: the commit may be in. Nothing was deleted.
/// * anything else, such as `commit-conflict`, `not-a-branch`, `io`: the commit is not in. The operation's files are the
///   caller's to delete; what was written here is gone.
///
/// A commit that is in owns the operation's files: those that [`Completed::instead`] replaced are deleted.
pub async fn commit(
    ops: &dyn TableOps,
    table: &Table,
    branch: &str,
    operation: Operation,
    job: &JobInfo,
) -> Result<Committed> {
    commit_as(ops, table, branch, operation, Origin::Job(job)).await
}

/// As [`commit`], for a snapshot of whatever origin.
async fn commit_as(
    ops: &dyn TableOps,
    table: &Table,
    branch: &str,
    operation: Operation,
    origin: Origin<'_>,
) -> Result<Committed> {
    attempt::commit_one(ops, table, branch, operation, origin).await
}

/// Commits the changes of several tables of one catalog as [`commit`] does that of one: all of them or none. A table may
/// come several times; its changes follow each other. `None` from a catalog that does not offer it: nothing was changed.
///
/// Not to be cancelled: a future dropped here leaves the outcome unknown.
///
/// # Errors
/// As [`commit`], of all of them together.
pub async fn commit_together(ops: &dyn TableOps, writes: &[JobWrite]) -> Result<Option<Vec<Committed>>> {
    attempt::commit_all(ops, writes).await
}

/// Checks the table properties that say how commits are made, so that a wrong one is told before a file is written.
///
/// # Errors
/// `invalid-option`.
pub fn check(table: &Table) -> Result<()> {
    Retry::of(table)?;
    Retry::of_checks(table)?;
    MergeLimits::of(table)?;
    Counts::new(table)?;
    Ok(())
}

#[cfg(test)]
mod tests;
