//! Rows that DELETE, UPDATE and MERGE change: an extension, with the table properties of Iceberg's Spark engine.
//!
//! 1. [`RowLevelOptions::resolve`] settles mode and isolation; [`RowLevel::prepare`] refuses what cannot be written, and
//!    pins the snapshot that rows are read from.
//! 2. [`RowLevel::provider`] reads the rows with their places. [`RowLevel::leave_out_whole_files`] finds the files that a
//!    DELETE takes away whole: they are not read.
//! 3. [`RowLevel::write`] takes the changes (`row_level_changes`). New rows become data files (`row_level_files`). With
//!    copy-on-write the files of changed rows are written again without them, by the same writers
//!    (`row_level_carried`); with merge-on-read their positions are deleted (`positions`).
//! 4. [`RowLevelWritten`] is what a commit takes over; it is valid only for the snapshot that was read, which the commit
//!    checks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use arrow::array::RecordBatch;
use calve_types::{Error, Result};
use datafusion::catalog::TableProvider;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::Expr;
use futures::{StreamExt, TryStreamExt, stream};
use iceberg::spec::{FormatVersion, SnapshotRef};
use tokio::sync::watch;

use super::file::FileKind;
use super::job::{Job, WriteProgress};
use super::location::Locations;
use super::lookup::invalid;
use super::options::{DistributionMode, WriteOptions};
use super::positions::{RowsByFile, delete_rows};
use super::prepare;
use super::route::from_input;
use super::row_level_carried::{carried, named_row};
use super::row_level_changes::{Layout, Taker};
use super::row_level_conflicts::Condition;
use super::row_level_files::write_rows;
use super::row_level_whole::{WholeFiles, whole_files};
use super::upload::Uncommitted;
use crate::commit::{ConflictFilter, FileId, Isolation, NewFile, Operation, Overwrite};
use crate::scan::{ChosenFiles, RowColumn, ScanOptions, plan_files, provider_with};
use crate::table::Table;

/// The statement that changes rows: each has table properties of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLevelCommand {
    /// `DELETE FROM`: `write.delete.mode`, `write.delete.isolation-level`.
    Delete,
    /// `UPDATE`: `write.update.mode`, `write.update.isolation-level`.
    Update,
    /// `MERGE INTO`: `write.merge.mode`, `write.merge.isolation-level`.
    Merge,
}

/// What becomes of the files with rows that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLevelMode {
    /// They are written again.
    CopyOnWrite,
    /// They stay, and delete files or deletion vectors say which of their rows are gone.
    MergeOnRead,
}

/// Everything a statement that changes rows needs to know before it writes.
#[derive(Clone, Debug)]
pub struct RowLevelOptions {
    mode: RowLevelMode,
    isolation: Isolation,
    write: WriteOptions,
}

impl RowLevelOptions {
    /// Resolves the mode (`copy-on-write`, the default, or `merge-on-read`) and the isolation level (`serializable`, the
    /// default, or `snapshot`) from the table's properties, and what an INSERT reads from `hints` and `session`.
    ///
    /// # Errors
    /// As [`WriteOptions::resolve`]; `invalid-option` for other modes and levels.
    pub fn resolve(
        table: &Table,
        command: RowLevelCommand,
        hints: &BTreeMap<String, String>,
        session: &BTreeMap<String, String>,
    ) -> Result<Self> {
        let (mode, isolation) = match command {
            RowLevelCommand::Delete => ("write.delete.mode", "write.delete.isolation-level"),
            RowLevelCommand::Update => ("write.update.mode", "write.update.isolation-level"),
            RowLevelCommand::Merge => ("write.merge.mode", "write.merge.isolation-level"),
        };
        let mode = match table.property(mode).map(|value| (value.trim().to_ascii_lowercase(), value)) {
            None => RowLevelMode::CopyOnWrite,
            Some((value, _)) if value == "copy-on-write" => RowLevelMode::CopyOnWrite,
            Some((value, _)) if value == "merge-on-read" => RowLevelMode::MergeOnRead,
            Some((_, value)) => return Err(invalid(mode, value, "copy-on-write or merge-on-read")),
        };
        let isolation = match table.property(isolation).map(|value| (value.trim().to_ascii_lowercase(), value)) {
            None => Isolation::Serializable,
            Some((value, _)) if value == "serializable" => Isolation::Serializable,
            Some((value, _)) if value == "snapshot" => Isolation::Snapshot,
            Some((_, value)) => return Err(invalid(isolation, value, "serializable or snapshot")),
        };
        Ok(Self { mode, isolation, write: WriteOptions::resolve(table, hints, session, false)? })
    }

    /// The branch whose rows change.
    pub fn branch(&self) -> &str {
        self.write.branch()
    }
}

/// A change of rows that has passed all checks that need no row.
#[derive(Clone, Debug)]
pub struct RowLevel {
    table: Table,
    options: RowLevelOptions,
    /// What is read; `None` for a table without rows.
    snapshot: Option<SnapshotRef>,
    whole: Arc<WholeFiles>,
    /// Rules out files that others add meanwhile.
    condition: Option<Arc<dyn ConflictFilter>>,
}

impl RowLevel {
    /// Checks a change of `table` and pins the head of its branch, or main's head for a branch that does not exist yet. No
    /// row is read.
    ///
    /// # Errors
    /// `not-supported` for merge-on-read in format version 1; what an INSERT into the table is refused for.
    pub fn prepare(table: &Table, options: RowLevelOptions) -> Result<Self> {
        if options.mode == RowLevelMode::MergeOnRead && table.metadata().format_version() == FormatVersion::V1 {
            return Err(Error::unsupported("merge-on-read in a table of format version 1")
                .with_detail("Cannot write delete files in a v1 table. Deletes are supported in V2 and above.")
                .with_hint("use 'copy-on-write', or ALTER TABLE .. SET ('format-version' = '2')"));
        }
        let plain = plain(&options.write);
        prepare::check(table, &plain)?;
        let snapshot = table.branch_head(options.branch())?.cloned();
        let this = Self { table: table.clone(), options, snapshot, whole: Arc::default(), condition: None };
        this.provider()?;
        Ok(this)
    }

    /// Whether rows have ids that changes keep.
    pub fn has_lineage(&self) -> bool {
        self.table.metadata().format_version() >= FormatVersion::V3
    }

    /// The branch that changes.
    pub fn branch(&self) -> &str {
        self.options.branch()
    }

    /// The version of the table that was read.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The table's rows with `_file`, `_pos` and, if there are ids, `_row_id` behind its columns.
    ///
    /// # Errors
    /// As [`provider_with`].
    pub fn provider(&self) -> Result<Arc<dyn TableProvider>> {
        let mut columns = vec![RowColumn::File, RowColumn::Position];
        columns.extend(self.has_lineage().then_some(RowColumn::RowId));
        provider_with(self.table.clone(), self.scan(ChosenFiles::Without(self.whole.clone()))?, &columns)
    }

    fn scan(&self, files: ChosenFiles) -> Result<ScanOptions> {
        Ok(ScanOptions::of_head(&self.table, self.snapshot.as_ref())?.of_files(files))
    }

    /// Finds the files all of whose rows the filters, all together, are true for, by partition values and column bounds. They
    /// are taken away; those that no deletes apply to are not read by the provider, if that is planned from now on.
    ///
    /// # Errors
    /// `io`, `invalid-table`.
    pub async fn leave_out_whole_files(&self, filters: &[Expr], state: &SessionState) -> Result<()> {
        let Some(snapshot) = &self.snapshot else { return Ok(()) };
        whole_files(&self.table, snapshot, filters, state, &self.whole).await
    }

    /// Says which rows the statement is about: those for which the filters, all together, are true. What others add meanwhile
    /// and cannot be such rows is no conflict.
    ///
    /// # Errors
    /// `not-supported` for columns of types that Flink does not have.
    pub fn with_condition(mut self, filters: &[Expr], state: &SessionState) -> Result<Self> {
        let condition = Condition::new(&self.table, filters, state)?;
        self.condition = condition.map(|condition| Arc::new(condition) as Arc<dyn ConflictFilter>);
        Ok(self)
    }

    /// Writes changes: batches with an operation (Int8: 0 a row goes, 1 a row changes, 2 a row comes), a file (Utf8) and a
    /// position (Int64), and, if `has_values`, the table's columns with the types of [`crate::schema::to_arrow`] and the
    /// row's id (Int64), if rows have ids. `state` reads the rows that stay. `stop` ends it with an error.
    ///
    /// # Errors
    /// Errors of the input; `merge-cardinality` for a row that changes twice; `null-in-not-null`, `invalid-value`, `io`.
    /// Every file is deleted then, as it is if the future is dropped.
    pub async fn write(
        self,
        changes: SendableRecordBatchStream,
        has_values: bool,
        state: SessionState,
        progress: Arc<WriteProgress>,
        stop: watch::Receiver<bool>,
    ) -> Result<RowLevelWritten> {
        let files = Uncommitted::new(&self.table);
        let result = self.write_files(changes, has_values, state, progress, stop, &files).await;
        if result.is_err() {
            files.delete().await;
        }
        result
    }

    async fn write_files(
        self,
        changes: SendableRecordBatchStream,
        has_values: bool,
        state: SessionState,
        progress: Arc<WriteProgress>,
        stop: watch::Receiver<bool>,
        files: &Uncommitted,
    ) -> Result<RowLevelWritten> {
        let writers = self.options.write.writers.max(1);
        let job = Arc::new(Job {
            table: self.table.clone(),
            options: plain(&self.options.write),
            locations: Locations::new(&self.table)?,
            files: files.clone(),
            progress,
            writers,
            context: state.task_ctx(),
        });
        let kind = self.kind()?;
        let this = Arc::new(self);
        let taker = Arc::new(Taker::new(this.layout(has_values)?));
        let rows = stoppable(this.clone().rows(changes, taker.clone(), state.clone()), stop);
        let written = write_rows(&job, &kind, rows).await;
        let taken = taker.finish();
        if let Some((file, position)) = &taken.twice {
            return Err(this.changed_twice(file, *position, &state).await);
        }
        let output = written?;
        let mut removed: Vec<FileId> = this.whole.unread().map(data_file).collect();
        let mut deletes = vec![];
        let mut position_deletes = 0;
        let removed_data;
        match this.options.mode {
            RowLevelMode::CopyOnWrite => {
                removed.extend(taken.rows.keys().map(data_file));
                removed_data = removed.len();
            }
            RowLevelMode::MergeOnRead => {
                let counts = this.record_counts(&taken.rows).await?;
                let (gone, some): (RowsByFile, RowsByFile) =
                    taken.rows.into_iter().partition(|(path, rows)| this.goes_whole(path, rows.len(), &counts));
                removed.extend(gone.keys().map(data_file));
                removed_data = removed.len();
                if let Some(snapshot) = &this.snapshot {
                    // the number of no writer of data files
                    let deleted = delete_rows(&job, &this.table, snapshot, writers, 0, &some).await?;
                    position_deletes = deleted.rows;
                    removed.extend(deleted.removed);
                    deletes = deleted.files;
                }
            }
        }
        if !(output.data.is_empty() && deletes.is_empty()) {
            files.sync_folders(job.locations.data_folder()).await?;
        }
        Ok(RowLevelWritten {
            data: output.data,
            deletes,
            removed,
            rows_deleted: taken.deleted.saturating_add(this.whole.unread_rows()),
            rows_updated: taken.updated,
            rows_inserted: taken.inserted,
            position_deletes,
            removed_data,
            read: this.snapshot.as_ref().map(|snapshot| snapshot.snapshot_id()),
            isolation: this.options.isolation,
            condition: this.condition.clone(),
            files: files.clone(),
        })
    }

    /// Data files, with the columns of row ids where there are some.
    fn kind(&self) -> Result<Arc<FileKind>> {
        let lineage: &[RowColumn] = if self.has_lineage() { &LINEAGE } else { &[] };
        Ok(Arc::new(FileKind::data_with(&self.table, &self.options.write, lineage)?))
    }

    fn layout(&self, has_values: bool) -> Result<Layout> {
        let columns = self.table.metadata().current_schema().as_struct().fields().len();
        Layout::new(&self.table, columns, has_values, self.has_lineage())
    }

    /// The rows to write: the new ones of the changes, then, with copy-on-write, those that stay in files that change.
    fn rows(
        self: Arc<Self>,
        changes: SendableRecordBatchStream,
        taker: Arc<Taker>,
        state: SessionState,
    ) -> stream::BoxStream<'static, Result<RecordBatch>> {
        let first = taker.clone();
        let new = changes.map_err(from_input).try_filter_map(move |batch| {
            let rows = first.take(&batch);
            async move { rows }
        });
        if self.options.mode == RowLevelMode::MergeOnRead {
            return new.boxed();
        }
        let stay = stream::once(async move {
            let rows = Arc::new(taker.rows());
            let counts = self.record_counts(&rows).await?;
            let stays = rows.iter().filter(|(path, rows)| !self.goes_whole(path, rows.len(), &counts));
            let files: HashSet<String> = stays.map(|(path, _)| path.clone()).collect();
            if files.is_empty() {
                return Ok(stream::empty().boxed());
            }
            let scan = self.scan(ChosenFiles::Only(Arc::new(files)))?;
            carried(&self.table, scan, rows, self.has_lineage(), &state).await
        });
        new.chain(stay.try_flatten()).boxed()
    }

    /// How many rows the files have, deleted ones counted.
    async fn record_counts(&self, rows: &RowsByFile) -> Result<HashMap<String, u64>> {
        let Some(snapshot) = self.snapshot.as_ref().filter(|_| !rows.is_empty()) else { return Ok(HashMap::new()) };
        let tasks = plan_files(&self.table, snapshot, |file| rows.contains_key(file.file_path())).await?;
        Ok(tasks.iter().map(|task| (task.file().file_path().to_owned(), task.file().record_count())).collect())
    }

    /// Whether a file goes as a whole when so many of its rows go; `counts` are those of [`RowLevel::record_counts`].
    fn goes_whole(&self, path: &str, rows: u64, counts: &HashMap<String, u64>) -> bool {
        self.whole.contains(path) || counts.get(path).is_some_and(|count| *count == rows)
    }

    async fn changed_twice(&self, file: &str, position: u64, state: &SessionState) -> Error {
        let files = Arc::new(HashSet::from([file.to_owned()]));
        let row = match self.scan(ChosenFiles::Only(files)) {
            Ok(scan) => named_row(&self.table, scan, position, state).await,
            Err(error) => Err(error),
        };
        // the row's place is enough of a name if its values cannot be read
        let row = row.ok().flatten().unwrap_or_else(|| format!("row {position} of '{file}'"));
        let name = self.table.ident();
        Error::new("merge-cardinality", format!("a row of '{name}' matches several rows of the source: {row}"))
            .with_detail("A row can be updated or deleted once by a MERGE. Nothing was written.")
            .with_hint("make the rows of the source unique for the ON condition, such as with GROUP BY or ROW_NUMBER()")
    }
}

/// The rows, until they are stopped by an error.
fn stoppable(
    rows: stream::BoxStream<'static, Result<RecordBatch>>,
    mut stop: watch::Receiver<bool>,
) -> stream::BoxStream<'static, Result<RecordBatch>> {
    let stopped = stop.clone();
    let stop = async move {
        // nobody is left who could stop it
        if stop.wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let end = stream::once(async move {
        let error = || Error::new("interrupted", "the statement was stopped");
        stopped.borrow().then(|| Err(error()))
    });
    rows.take_until(Box::pin(stop)).chain(end.filter_map(std::future::ready)).boxed()
}

/// What files of a table with row ids have behind its columns.
pub(crate) const LINEAGE: [RowColumn; 2] = [RowColumn::RowId, RowColumn::LastUpdated];

fn data_file(path: impl Into<String>) -> FileId {
    FileId { path: path.into(), content_offset: None }
}

/// The options for rows that replace nothing by a key.
fn plain(options: &WriteOptions) -> WriteOptions {
    let distribution = match options.distribution {
        DistributionMode::Range => DistributionMode::None,
        other => other,
    };
    WriteOptions { key: vec![], upsert: false, overwrite: false, distribution, ..options.clone() }
}

/// The files of a change of rows. Nothing refers to them yet: dropped without [`RowLevelWritten::to_operation`], they are
/// deleted.
#[derive(Debug)]
pub struct RowLevelWritten {
    /// New data files.
    pub data: Vec<NewFile>,
    /// New position delete files or deletion vectors.
    pub deletes: Vec<NewFile>,
    /// Data files that go, and what the new delete files replace.
    pub removed: Vec<FileId>,
    /// Rows that are gone.
    pub rows_deleted: u64,
    /// Rows that have changed.
    pub rows_updated: u64,
    /// New rows.
    pub rows_inserted: u64,
    /// Rows that `deletes` delete.
    pub position_deletes: u64,
    removed_data: usize,
    read: Option<i64>,
    isolation: Isolation,
    condition: Option<Arc<dyn ConflictFilter>>,
    files: Uncommitted,
}

impl RowLevelWritten {
    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty() && self.deletes.is_empty() && self.removed.is_empty()
    }

    /// How many data files go.
    pub fn removed_data_files(&self) -> u64 {
        self.removed_data as u64
    }

    /// The change to commit. From now on the files belong to the commit: if it is definitely rejected, call
    /// [`RowLevelWritten::discard`].
    pub fn to_operation(&self) -> Operation {
        self.files.keep();
        Operation::Overwrite(Overwrite {
            read: self.read,
            isolation: self.isolation,
            condition: self.condition.clone(),
            removed: self.removed.clone(),
            data: self.data.clone(),
            deletes: self.deletes.clone(),
        })
    }

    /// Deletes the files after their commit was definitely rejected. [`crate::TableIo::take_left`] has what cannot be
    /// deleted.
    pub async fn discard(self) {
        self.files.delete().await;
    }
}
