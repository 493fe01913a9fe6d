//! One face for all targets of an INSERT: [`prepare`] checks, [`Prepared::write`] writes what nobody sees,
//! [`Pending::commit`] makes it visible, [`Pending::discard`] removes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use arrow::datatypes::{Schema, SchemaRef};
use calve_connectors::SinkMode;
use calve_iceberg::Table;
use calve_iceberg::commit::{Committed, JobInfo, JobWrite, TableOps, check as check_commit, commit};
use calve_iceberg::write::{
    WriteOptions, WriteProgress, Writer, Written, check as check_iceberg, prepare as prepare_iceberg,
};
use calve_planner::Sink;
use calve_types::{Error, Result, arrow as arrow_types};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

use super::commit::Running;
use super::resume::{explained as explained_unknown, verify_command};
use crate::error::{OUT_OF_MEMORY, out_of_memory};
use crate::mapping;
use crate::not_null;
use crate::query::Runner;
use crate::resolve::{ConnectorHandle, IcebergHandle, downcast};
use crate::result::WriteSummary;

/// A target that has passed all checks before the first row.
pub(super) struct Prepared {
    table: String,
    target: Target,
    /// The columns that are stored.
    schema: SchemaRef,
    not_null: Vec<usize>,
    drop_nulls: bool,
}

enum Target {
    Iceberg(Box<IcebergTarget>),
    Connector(Box<dyn calve_connectors::Sink>),
}

struct IcebergTarget {
    writer: Writer,
    home: Home,
    keyed: bool,
    /// The columns of the definition that stands for the table.
    declared: Option<Arc<mapping::Declared>>,
}

/// Where an Iceberg commit goes.
struct Home {
    ops: Arc<dyn TableOps>,
    table: Table,
    branch: String,
    job: Member,
    /// The command that tells of an unknown outcome; none for a table that only stands for the Iceberg table.
    command: Option<String>,
}

/// What a write is in its job.
#[derive(Debug, Clone)]
pub(super) struct Member {
    /// What its snapshot says.
    pub info: JobInfo,
    /// Whether `calve.job-id` named the job.
    pub is_given: bool,
    /// Whether the job has other writes.
    pub has_others: bool,
}

/// Checks an INSERT, a write of a job. No row is read or written. `takes_back` says whether rows may be taken back that are
/// older than it.
///
/// # Errors
/// What the target refuses, at the place where it was written.
pub(super) async fn prepare(runner: &Runner<'_>, sink: &Sink, job: Member, takes_back: bool) -> Result<Prepared> {
    let target = target(runner, sink, job, takes_back).await.map_err(|e| e.at(sink.span))?;
    // the binder gives a query the columns that are stored, in their order
    let fields = sink.input.fields.iter().map(|field| {
        let column = sink.table.columns.iter().find(|column| column.name == field.name);
        let column = column.ok_or_else(|| Error::internal(format!("no column '{}' to write to", field.name)))?;
        arrow_types::field(&column.name, &column.data_type)
    });
    let schema = Arc::new(Schema::new(fields.collect::<Result<Vec<_>>>()?));
    Ok(Prepared {
        table: sink.table.path.to_string(),
        target,
        schema,
        not_null: sink.not_null.clone(),
        drop_nulls: runner.options().drops_nulls(),
    })
}

async fn target(runner: &Runner<'_>, sink: &Sink, job: Member, takes_back: bool) -> Result<Target> {
    let handle = &sink.table.handle;
    if let Some(target) = downcast::<IcebergHandle>(handle) {
        let options = write_options(runner, sink, target)?;
        check_commit(&target.table)?;
        let (branch, keyed) = (options.branch().to_owned(), options.is_keyed());
        let mut writer = prepare_iceberg(&target.table, options).await?.with_context(runner.task_context());
        if takes_back {
            writer = writer.with_changes().await?;
        }
        let command = || verify_command(&sink.table.path, &branch, &job.info, job.has_others);
        let command = target.declared.is_none().then(command);
        let home = Home { ops: target.home.clone(), table: target.table.clone(), branch, job, command };
        return Ok(Target::Iceberg(Box::new(IcebergTarget { writer, home, keyed, declared: target.declared.clone() })));
    }
    if let Some(target) = downcast::<ConnectorHandle>(handle) {
        return Ok(Target::Connector(connector_sink(runner, sink, target)?));
    }
    Err(Error::internal(format!("'{}' is not a table that can be written", sink.table.path)))
}

/// Checks an INSERT without a look at what its target holds: [`prepare`] looks, too.
///
/// # Errors
/// What the target refuses, at the place where it was written.
pub(super) fn check(runner: &Runner<'_>, sink: &Sink) -> Result<()> {
    let handle = &sink.table.handle;
    let checked = if let Some(target) = downcast::<IcebergHandle>(handle) {
        write_options(runner, sink, target)
            .and_then(|options| check_iceberg(&target.table, &options))
            .and_then(|()| check_commit(&target.table))
    } else if let Some(target) = downcast::<ConnectorHandle>(handle) {
        // a table of the connector `iceberg` that is only about to be made
        let is_mapping = target.definition.options.get("connector").is_some_and(|c| c == mapping::CONNECTOR);
        if is_mapping { Ok(()) } else { connector_sink(runner, sink, target).map(drop) }
    } else {
        Ok(())
    };
    checked.map_err(|e| e.at(sink.span))
}

/// The Iceberg table and the branch that an INSERT writes to; `None` for other tables.
///
/// # Errors
/// As [`WriteOptions::resolve`].
pub(super) fn branch<'s>(runner: &Runner<'_>, sink: &'s Sink) -> Result<Option<(&'s Table, String)>> {
    let Some(target) = downcast::<IcebergHandle>(&sink.table.handle) else { return Ok(None) };
    let options = write_options(runner, sink, target).map_err(|e| e.at(sink.span))?;
    Ok(Some((&target.table, options.branch().to_owned())))
}

fn write_options(runner: &Runner<'_>, sink: &Sink, target: &IcebergHandle) -> Result<WriteOptions> {
    // before any hint is looked at; `overwrite-enabled` as a hint of INSERT INTO passes, as in Flink
    if sink.overwrite && runner.options().is_streaming() {
        return Err(overwrite_in_streaming("Unbounded data stream doesn't support overwrite operation."));
    }
    let resolve = || WriteOptions::resolve(&target.table, &target.hints, runner.options().all(), sink.overwrite);
    let Some(declared) = &target.declared else { return resolve() };
    mapping::check_sink(&sink.table.path, &target.hints)?;
    declared.check_write(&target.table)?;
    Ok(match declared.key(&target.table) {
        key if key.is_empty() => resolve()?,
        key => resolve()?.with_key(key),
    })
}

fn overwrite_in_streaming(sentence: &str) -> Error {
    Error::unsupported("INSERT OVERWRITE in streaming mode")
        .with_detail(sentence)
        .with_hint("SET 'execution.runtime-mode' = 'batch'")
}

fn connector_sink(
    runner: &Runner<'_>,
    sink: &Sink,
    target: &ConnectorHandle,
) -> Result<Box<dyn calve_connectors::Sink>> {
    let streaming = runner.options().is_streaming();
    if sink.overwrite && streaming && sink.table.options.get("connector").is_some_and(|c| c == "filesystem") {
        return Err(overwrite_in_streaming("Streaming mode not support overwrite."));
    }
    let mode = SinkMode { overwrite: sink.overwrite, static_partition: sink.static_partition.clone() };
    calve_connectors::sink(&target.definition, mode, runner.connectors())
}

impl Prepared {
    /// The target's name, `cat.db.t`.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Whether rows of one key must arrive in the order of the input: one partition keeps it.
    pub fn is_ordered(&self) -> bool {
        matches!(&self.target, Target::Iceberg(target) if target.keyed)
    }

    /// Writes rows that nobody sees yet.
    ///
    /// # Errors
    /// What the rows or the target say; nothing is left behind then, nor if the future is dropped.
    pub async fn write(
        self,
        rows: SendableRecordBatchStream,
        progress: Arc<WriteProgress>,
        running: Running,
    ) -> Result<Pending> {
        let start = Instant::now();
        let dropped = Arc::new(AtomicU64::new(0));
        let rows = not_null::enforce(rows, self.schema, self.not_null, self.drop_nulls, dropped.clone());
        let mut summary = WriteSummary { table: self.table, ..WriteSummary::default() };
        let written = match self.target {
            Target::Iceberg(target) => {
                let IcebergTarget { writer, home, declared, .. } = *target;
                let rows = match declared {
                    Some(declared) => declared.rows(&home.table, rows)?,
                    None => rows,
                };
                let written = writer.write(rows, progress).await.map_err(explained)?;
                summary.rows = written.rows;
                summary.data_files = written.data.len();
                summary.delete_files = written.deletes.len();
                summary.equality_deletes = written.equality_deletes;
                summary.position_deletes = written.position_deletes;
                summary.replaced_files = written.is_overwrite().then_some(0);
                Hidden::Iceberg(Box::new(IcebergFiles { written, home }))
            }
            Target::Connector(sink) => {
                let pending = sink.write(counted(rows, progress.clone())).await?;
                summary.rows = pending.rows();
                summary.data_files = pending.files();
                progress.files.store(pending.files() as u64, Ordering::Relaxed);
                Hidden::Connector(pending)
            }
        };
        summary.dropped_rows = dropped.load(Ordering::Relaxed);
        Ok(Pending { summary, written, start, _running: running })
    }
}

/// The data files that a commit took away, as its snapshot's summary counts them; a summary leaves out a count of 0.
fn replaced_files(committed: &Committed) -> Option<u64> {
    let snapshot = committed.table.metadata().snapshot_by_id(committed.snapshot_id)?;
    let count = snapshot.summary().additional_properties.get("deleted-data-files");
    Some(count.and_then(|count| count.parse().ok()).unwrap_or(0))
}

/// With the way out, which the writer of a table does not know.
fn explained(error: Error) -> Error {
    match error {
        Error { code: OUT_OF_MEMORY, hint: None, .. } => out_of_memory(error.message),
        error => error,
    }
}

/// Counts rows as they are taken.
fn counted(rows: SendableRecordBatchStream, progress: Arc<WriteProgress>) -> SendableRecordBatchStream {
    let schema = rows.schema();
    let rows = rows.inspect(move |batch| {
        if let Ok(batch) = batch {
            progress.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        }
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

/// Rows that are written and that nobody sees. Dropped, they are removed as far as that takes no waiting.
pub(crate) struct Pending {
    summary: WriteSummary,
    written: Hidden,
    start: Instant,
    /// Last, so that it goes after the files.
    _running: Running,
}

enum Hidden {
    Iceberg(Box<IcebergFiles>),
    Connector(Box<dyn calve_connectors::Pending>),
}

struct IcebergFiles {
    written: Written,
    home: Home,
}

impl Pending {
    /// The target's name, `cat.db.t`.
    pub fn table(&self) -> &str {
        &self.summary.table
    }

    /// Whether a commit changes the target. An INSERT of no rows makes no snapshot.
    pub fn has_changes(&self) -> bool {
        match &self.written {
            Hidden::Iceberg(files) => !files.written.is_empty(),
            Hidden::Connector(pending) => pending.rows() > 0 || pending.files() > 0,
        }
    }

    /// What tells the catalogs of Iceberg tables apart; `None` for other tables, and where nothing is to be committed.
    pub fn catalog(&self) -> Option<CatalogId> {
        match &self.written {
            Hidden::Iceberg(files) if !files.written.is_empty() => {
                Some(CatalogId(Arc::as_ptr(&files.home.ops).cast::<()>() as usize))
            }
            Hidden::Iceberg(_) | Hidden::Connector(_) => None,
        }
    }

    /// Makes the rows visible. Not to be cancelled.
    ///
    /// # Errors
    /// `commit-unknown` if nobody knows; with any other code the rows are not in, and what was written is gone.
    pub async fn commit(self) -> Result<WriteSummary> {
        let mut summary = self.summary;
        match self.written {
            Hidden::Iceberg(files) if files.written.is_empty() => {}
            Hidden::Iceberg(files) => {
                let IcebergFiles { written, home } = *files;
                let operation = written.to_operation();
                match commit(home.ops.as_ref(), &home.table, &home.branch, operation, &home.job.info).await {
                    Ok(committed) => complete(&mut summary, &committed, written, &home).await,
                    Err(error) => {
                        if !error.may_have_committed() {
                            written.discard(&home.table).await;
                        }
                        return Err(home.explained(error));
                    }
                }
            }
            Hidden::Connector(pending) => pending.commit().await?,
        }
        summary.elapsed = self.start.elapsed();
        Ok(summary)
    }

    /// Removes what was written.
    pub async fn discard(self) {
        match self.written {
            Hidden::Iceberg(files) => files.written.discard(&files.home.table).await,
            Hidden::Connector(pending) => pending.discard().await,
        }
    }

    fn iceberg(&self) -> Option<&IcebergFiles> {
        match &self.written {
            Hidden::Iceberg(files) => Some(files),
            Hidden::Connector(_) => None,
        }
    }
}

/// Tells the catalogs of a statement set apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CatalogId(usize);

/// What became of a commit of several INSERTs as one.
pub(crate) enum Together {
    /// All of them are in.
    Committed(Vec<WriteSummary>),
    /// The catalog does not offer it; nothing was changed.
    NotOffered(Vec<Pending>),
}

/// Commits INSERTs into tables of one catalog as one, if it offers that. Not to be cancelled.
///
/// # Errors
/// `commit-unknown` if nobody knows; with any other code nothing is in, and what was written is gone.
pub(crate) async fn commit_together(all: Vec<Pending>) -> Result<Together> {
    let writes: Vec<JobWrite> = all.iter().filter_map(Pending::iceberg).map(IcebergFiles::to_write).collect();
    let ops = all.first().and_then(Pending::iceberg).map(|files| files.home.ops.clone());
    let Some(ops) = ops.filter(|_| writes.len() == all.len()) else { return Ok(Together::NotOffered(all)) };
    let committed = match calve_iceberg::commit::commit_together(ops.as_ref(), &writes).await {
        Ok(None) => return Ok(Together::NotOffered(all)),
        Ok(Some(committed)) => committed,
        Err(error) => {
            let explained = match all.first().and_then(Pending::iceberg) {
                Some(first) => first.home.explained(error),
                None => error,
            };
            if !explained.may_have_committed() {
                for pending in all {
                    pending.discard().await;
                }
            }
            return Err(explained);
        }
    };
    let mut summaries = Vec::with_capacity(all.len());
    for (pending, committed) in all.into_iter().zip(committed) {
        let mut summary = pending.summary;
        if let Hidden::Iceberg(files) = pending.written {
            let IcebergFiles { written, home } = *files;
            complete(&mut summary, &committed, written, &home).await;
        }
        summary.elapsed = pending.start.elapsed();
        summaries.push(summary);
    }
    Ok(Together::Committed(summaries))
}

/// Tells of a commit that is in.
async fn complete(summary: &mut WriteSummary, committed: &Committed, written: Written, home: &Home) {
    summary.snapshot_id = Some(committed.snapshot_id);
    if !committed.earlier {
        summary.replaced_files = summary.replaced_files.and(replaced_files(committed));
        return;
    }
    // another run of the job was faster
    written.discard(&home.table).await;
    let snapshot = committed.table.metadata().snapshot_by_id(committed.snapshot_id);
    summary.committed_before = Some(snapshot.map_or(0, |snapshot| snapshot.timestamp_ms()));
}

impl IcebergFiles {
    fn to_write(&self) -> JobWrite {
        JobWrite {
            table: self.home.table.clone(),
            branch: self.home.branch.clone(),
            operation: self.written.to_operation(),
            job: self.home.job.info.clone(),
        }
    }
}

impl Home {
    /// The error of a commit, with what to do where its outcome is not known.
    fn explained(&self, error: Error) -> Error {
        match &self.command {
            Some(command) => explained_unknown(error, command, &self.job.info.job_id, self.job.is_given),
            None => error,
        }
    }
}
