//! INSERT as a job: prepare, write files, commit, verdict.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use arrow::datatypes::Schema;
use calve_iceberg::commit::{JobInfo, commit};
use calve_iceberg::write::{WriteOptions, WriteProgress, prepare};
use calve_planner::Sink;
use calve_types::{Error, Result, arrow as arrow_types};

use crate::not_null;
use crate::query::Runner;
use crate::resolve::{IcebergHandle, downcast, unsupported_connector};
use crate::result::WriteSummary;

/// The checkpoint id of the end of a bounded input, as Flink's sink writes it.
const END_OF_INPUT: i64 = i64::MAX;

/// Runs one INSERT and waits for its commit.
///
/// # Errors
/// What the checks before the first row, the query, the writer or the commit refuse. Unless the code is
/// `commit-unknown`, the table is as before and the files written are gone.
pub(crate) async fn run(runner: &Runner<'_>, sink: &Sink, job_id: &str, commits: &Commits) -> Result<WriteSummary> {
    let start = Instant::now();
    let Some(target) = downcast::<IcebergHandle>(&sink.table.handle) else {
        return Err(unsupported_connector(&sink.table).at(sink.span));
    };
    let options = WriteOptions::resolve(&target.table, &target.hints, runner.options().all(), sink.overwrite)
        .map_err(|e| e.at(sink.span))?;
    let branch = options.branch().to_owned();
    let keyed = options.is_keyed();
    let writer = prepare(&target.table, options).await.map_err(|e| e.at(sink.span))?;

    // rows of one key must arrive in the order of the input: one partition keeps it
    let partitions = if keyed { 1 } else { runner.options().parallelism() };
    let rows = runner.stream(&sink.input, partitions).await?;
    let fields = sink.table.columns.iter().map(|c| arrow_types::field(&c.name, &c.data_type));
    let schema = Arc::new(Schema::new(fields.collect::<Result<Vec<_>>>()?));
    let dropped = Arc::new(AtomicU64::new(0));
    let drop_nulls =
        runner.options().get("table.exec.sink.not-null-enforcer").is_some_and(|mode| mode.eq_ignore_ascii_case("DROP"));
    let rows = not_null::enforce(rows, schema, sink.not_null.clone(), drop_nulls, dropped.clone());

    let written = writer.write(rows, Arc::new(WriteProgress::default())).await?;
    let mut summary = WriteSummary {
        table: sink.table.path.to_string(),
        rows: written.rows,
        data_files: written.data.len(),
        delete_files: written.deletes.len(),
        equality_deletes: written.equality_deletes,
        position_deletes: written.position_deletes,
        dropped_rows: dropped.load(Ordering::Relaxed),
        snapshot_id: None,
        elapsed: start.elapsed(),
    };
    if !written.is_empty() {
        let job = JobInfo {
            job_id: job_id.to_owned(),
            operator_id: uuid::Uuid::new_v4().simple().to_string(),
            checkpoint_id: END_OF_INPUT,
        };
        summary.snapshot_id = Some(commits.run(target, branch, written, job).await?);
    }
    summary.elapsed = start.elapsed();
    Ok(summary)
}

/// Commits run in tasks of their own: a cancelled statement must not leave a commit half way, or delete files of one
/// that goes through.
#[derive(Debug, Clone, Default)]
pub(crate) struct Commits {
    running: Arc<tokio::sync::Mutex<()>>,
    outcome: Arc<std::sync::Mutex<Option<Result<i64>>>>,
}

impl Commits {
    async fn run(
        &self,
        target: &IcebergHandle,
        branch: String,
        written: calve_iceberg::write::Written,
        job: JobInfo,
    ) -> Result<i64> {
        let (catalog, table, outcome) = (target.catalog.clone(), target.table.clone(), self.outcome.clone());
        let running = self.running.clone().lock_owned().await;
        let task = tokio::spawn(async move {
            let operation = written.to_operation();
            let result = match commit(catalog.as_ref(), &table, &branch, operation, &job).await {
                Ok(committed) => Ok(committed.snapshot_id),
                Err(error) => {
                    if !error.may_have_committed() {
                        written.discard(&table).await;
                    }
                    Err(error)
                }
            };
            if let Ok(mut outcome) = outcome.lock() {
                *outcome = Some(result.clone());
            }
            drop(running);
            result
        });
        let result = task.await.map_err(|e| {
            Error::new("commit-unknown", "the commit's outcome is not known")
                .with_detail(format!("The commit task ended: {e}."))
        })?;
        self.take();
        result
    }

    fn take(&self) -> Option<Result<i64>> {
        self.outcome.lock().ok().and_then(|mut outcome| outcome.take())
    }

    /// Waits for the commit of a statement that was cancelled while it committed: the snapshot, or why there is none.
    /// `None` if it had not begun to commit.
    pub async fn settle(&self) -> Option<Result<i64>> {
        let _running = self.running.lock().await;
        self.take()
    }
}
