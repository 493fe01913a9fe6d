//! One run of a DELETE, UPDATE or MERGE on the snapshot it was bound to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use calve_iceberg::commit::{JobInfo, TableOps, commit};
use calve_iceberg::write::{RowLevel, RowLevelWritten};
use calve_planner::{Change, ChangeKind};
use calve_types::{Error, Result};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan};
use tokio::sync::{oneshot, watch};

use super::Bound;
use super::nulls;
use crate::error::OUT_OF_MEMORY;
use crate::jobs::Commits;
use crate::query::{Query, Runner};
use crate::result::{RowCounts, WriteSummary};
use crate::spill::{self, Joins};

/// The checkpoint id of the end of a bounded input, as Flink's sink writes it.
const END_OF_INPUT: i64 = i64::MAX;

/// Writes the changes and commits them.
///
/// # Errors
/// What the query, the writer or the commit refuse. Unless the code is `commit-unknown` the table is as before and the
/// files written are gone.
pub(super) async fn run(runner: &Runner<'_>, bound: Bound, job_id: &str, commits: &Commits) -> Result<WriteSummary> {
    let start = Instant::now();
    let dropped = Arc::new(AtomicU64::new(0));
    let Bound { change, level, home, .. } = bound;
    let (table, branch) = (level.table().clone(), level.branch().to_owned());
    let mut hash_joins = false;
    let again = level.clone();
    let written = match write(runner, &change, level, commits, Joins::Hash, &dropped, &mut hash_joins).await {
        Err(error) if error.code == OUT_OF_MEMORY && hash_joins => {
            dropped.store(0, Ordering::Relaxed);
            write(runner, &change, again, commits, Joins::Spilling, &dropped, &mut hash_joins).await?
        }
        written => written?,
    };
    let counts =
        RowCounts { deleted: written.rows_deleted, updated: written.rows_updated, inserted: written.rows_inserted };
    let summary = WriteSummary {
        table: change.table.path.to_string(),
        rows: counts.deleted.saturating_add(counts.updated).saturating_add(counts.inserted),
        data_files: written.data.len(),
        delete_files: written.deletes.len(),
        equality_deletes: 0,
        position_deletes: written.position_deletes,
        replaced_files: Some(written.removed_data_files()).filter(|files| *files > 0),
        changed: Some(counts),
        dropped_rows: dropped.load(Ordering::Relaxed),
        snapshot_id: None,
        elapsed: start.elapsed(),
    };
    if written.is_empty() {
        return Ok(summary);
    }
    let job = JobInfo {
        job_id: job_id.to_owned(),
        operator_id: uuid::Uuid::new_v4().simple().to_string(),
        checkpoint_id: END_OF_INPUT,
    };
    let committed = runner.progress().commits();
    let summary = commits
        .run_change(async move {
            let snapshot_id = commit_written(home.as_ref(), &table, &branch, written, &job).await?;
            committed.fetch_add(1, Ordering::Relaxed);
            Ok(WriteSummary { snapshot_id: Some(snapshot_id), elapsed: start.elapsed(), ..summary })
        })
        .await?;
    Ok(summary)
}

async fn commit_written(
    home: &dyn TableOps,
    table: &calve_iceberg::Table,
    branch: &str,
    written: RowLevelWritten,
    job: &JobInfo,
) -> Result<i64> {
    match commit(home, table, branch, written.to_operation(), job).await {
        Ok(committed) => Ok(committed.snapshot_id),
        Err(error) => {
            if !error.may_have_committed() {
                written.discard().await;
            }
            Err(error)
        }
    }
}

/// Writes files that nobody sees yet, in a task of its own: when the statement is cancelled, it ends after its files are
/// gone.
async fn write(
    runner: &Runner<'_>,
    change: &Change,
    level: RowLevel,
    commits: &Commits,
    joins: Joins,
    dropped: &Arc<AtomicU64>,
    hash_joins: &mut bool,
) -> Result<RowLevelWritten> {
    runner.progress().begin_job();
    let partitions = runner.options().parallelism();
    let optimised = runner.optimised(&Query::of_rows(&change.rows, partitions), joins)?;
    if change.kind == ChangeKind::Delete
        && let Some(filters) = filters_of_scan(&optimised.plan)
    {
        level.leave_out_whole_files(&filters, &optimised.state).await?;
    }
    let state = optimised.state.clone();
    let planned = runner.plan(optimised).await?;
    *hash_joins = spill::has_hash_joins(&planned.plan);
    let rows = runner.start(&planned)?;
    let enforcer = runner.options().get("table.exec.sink.not-null-enforcer");
    let drops = enforcer.is_some_and(|mode| mode.eq_ignore_ascii_case("DROP"));
    let rows = nulls::enforce(rows, change, drops, dropped.clone());
    let (progress, running, has_values) = (runner.progress().sink(), commits.running().await, change.has_values);
    let stop = Stop(watch::Sender::new(false));
    let (sender, receiver) = oneshot::channel();
    let stopped = stop.0.subscribe();
    tokio::spawn(async move {
        let written = level.write(rows, has_values, state, progress, stopped).await;
        if let Err(Ok(written)) = sender.send(written) {
            written.discard().await;
        }
        drop(running);
    });
    let written = receiver.await.unwrap_or_else(|_| Err(Error::internal("the writer ended early")));
    drop(stop);
    written
}

/// Stops the writer when it is dropped.
struct Stop(watch::Sender<bool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

/// The filters of a plan that reads one table and filters it, and does nothing else that changes which rows there are; empty
/// for all rows.
fn filters_of_scan(plan: &LogicalPlan) -> Option<Vec<Expr>> {
    match plan {
        LogicalPlan::Projection(projection) => filters_of_scan(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => filters_of_scan(&alias.input),
        LogicalPlan::Filter(filter) => match filter.input.as_ref() {
            LogicalPlan::TableScan(scan) if scan.fetch.is_none() => {
                Some(split_conjunction(&filter.predicate).into_iter().cloned().collect())
            }
            _ => None,
        },
        LogicalPlan::TableScan(scan) if scan.fetch.is_none() && scan.filters.is_empty() => Some(vec![]),
        _ => None,
    }
}
