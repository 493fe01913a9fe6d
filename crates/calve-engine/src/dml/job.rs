//! One run of a DELETE, UPDATE or MERGE on the snapshot it was bound to.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use calve_iceberg::commit::{Committed, JobInfo, TableOps, commit};
use calve_iceberg::write::{RowLevel, RowLevelWritten};
use calve_planner::{Change, ChangeKind};
use calve_types::{Error, Result};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan};
use futures::FutureExt;
use tokio::sync::{oneshot, watch};

use super::Bound;
use super::nulls;
use crate::error::OUT_OF_MEMORY;
use crate::jobs::{Commits, explained, verify_command};
use crate::progress::Taker;
use crate::query::{Query, Runner};
use crate::result::{RowCounts, WriteSummary};
use crate::session::panicked;
use crate::spill::{self, Joins};

/// Writes the changes and commits them.
///
/// # Errors
/// What the query, the writer or the commit refuse. Unless the code is `commit-unknown` the table is as before and the
/// files written are gone.
pub(super) async fn run(
    runner: &Runner<'_>,
    bound: Bound,
    job: &JobInfo,
    is_given: bool,
    commits: &Commits,
) -> Result<WriteSummary> {
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
        position_deletes: written.position_deletes,
        replaced_files: Some(written.removed_data_files()).filter(|files| *files > 0),
        changed: Some(counts),
        dropped_rows: dropped.load(Ordering::Relaxed),
        elapsed: start.elapsed(),
        ..WriteSummary::default()
    };
    if written.is_empty() {
        return Ok(summary);
    }
    let command = verify_command(&change.table.path, &branch, job, false);
    let (job, progress) = (job.clone(), runner.progress().commits());
    commits
        .run_change(async move {
            let committed = commit_written(home.as_ref(), &table, &branch, written, &job).await;
            let committed = committed.map_err(|error| explained(error, &command, &job.job_id, is_given))?;
            progress.fetch_add(1, Ordering::Relaxed);
            let earlier = committed.table.metadata().snapshot_by_id(committed.snapshot_id);
            let earlier = earlier.filter(|_| committed.earlier).map(|snapshot| snapshot.timestamp_ms());
            let snapshot_id = Some(committed.snapshot_id);
            Ok(WriteSummary { snapshot_id, committed_before: earlier, elapsed: start.elapsed(), ..summary })
        })
        .await
}

async fn commit_written(
    home: &dyn TableOps,
    table: &calve_iceberg::Table,
    branch: &str,
    written: RowLevelWritten,
    job: &JobInfo,
) -> Result<Committed> {
    match commit(home, table, branch, written.to_operation(), job).await {
        Ok(committed) => {
            if committed.earlier {
                written.discard().await;
            }
            Ok(committed)
        }
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
    let optimised = runner.optimised(&Query::of_rows(&change.rows, partitions), joins).await?;
    let mut level = level;
    if change.kind != ChangeKind::Merge
        && let Some(filters) = filters_of_scan(&optimised.plan)
    {
        if change.kind == ChangeKind::Delete {
            level.leave_out_whole_files(&filters, &optimised.state).await?;
        }
        level = level.with_condition(&filters, &optimised.state)?;
    }
    let state = optimised.state.clone();
    let planned = runner.plan(optimised).await?;
    *hash_joins = spill::has_hash_joins(&planned.plan);
    let progress = runner.progress().sink();
    let name = format!("{}(table=[{}])", change.kind.name(), change.table.path);
    let rows = runner.start_for(&planned, Some(Taker { name, written: Some(progress.clone()) }))?;
    let rows = nulls::enforce(rows, change, runner.options().drops_nulls(), dropped.clone());
    let (running, has_values) = (commits.running().await, change.has_values);
    let stop = Stop(watch::Sender::new(false));
    let (sender, receiver) = oneshot::channel();
    let stopped = stop.0.subscribe();
    tokio::spawn(async move {
        let write = AssertUnwindSafe(level.write(rows, has_values, state, progress, stopped)).catch_unwind();
        let written = write.await.unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
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
