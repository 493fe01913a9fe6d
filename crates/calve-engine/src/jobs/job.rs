//! An INSERT, or the INSERTs of a statement set, as one job.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use calve_iceberg::commit::JobInfo;
use calve_iceberg::write::WriteProgress;
use calve_planner::Sink;
use calve_planner::stream::{Materialize, Node, Writing, is_iceberg, writing};
use calve_types::{Error, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::commit::{Commits, Running};
use super::identity::Job;
use super::resume;
use super::sink::{self, Member, Pending, Prepared};
use crate::error::{OUT_OF_MEMORY, external, from_datafusion};
use crate::progress::Taker;
use crate::query::{Query, Runner};
use crate::result::{Warning, WriteSummary};
use crate::session::panicked;
use crate::spill::{self, Joins};

/// Runs INSERTs together and waits for their commits: one summary for each, in order. What an earlier run of the job has
/// committed is left out.
///
/// # Errors
/// What the checks before the first row, the queries, the writers or the commits refuse; `job-id-reused` and
/// `job-history-expired`. Unless the code is `commit-unknown` or `partial-commit`, all tables are as before and the files
/// written are gone.
pub(crate) async fn run(
    runner: Runner<'_>,
    sinks: &[Sink],
    job: &Job,
    commits: &Commits,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<WriteSummary>> {
    let earlier = resume::earlier_of(&runner, sinks, job)?;
    let missing = || sinks.iter().zip(job.infos()).zip(&earlier).filter(|(_, snapshot)| snapshot.is_none());
    let infos: Vec<JobInfo> = missing().map(|((_, info), _)| info.clone()).collect();
    let written = if infos.len() == sinks.len() {
        run_all(&runner, sinks, infos, job, commits).await?
    } else if infos.is_empty() {
        vec![]
    } else {
        warnings.push(resume::warning(sinks, &earlier));
        let pins = resume::pins(&runner, sinks, &earlier)?;
        let sinks: Vec<Sink> = missing().map(|((sink, _), _)| sink.clone()).collect();
        run_all(&runner.with_pins(pins), &sinks, infos, job, commits).await?
    };
    let mut written = written.into_iter();
    let summaries = sinks.iter().zip(&earlier).map(|(sink, snapshot)| match snapshot {
        Some(snapshot) => Ok(resume::summary(&sink.table.path, snapshot)),
        None => written.next().ok_or_else(|| Error::internal("an INSERT without a result")),
    });
    summaries.collect()
}

/// Runs INSERTs that are all to be committed.
async fn run_all(
    runner: &Runner<'_>,
    sinks: &[Sink],
    infos: Vec<JobInfo>,
    job: &Job,
    commits: &Commits,
) -> Result<Vec<WriteSummary>> {
    let has_others = job.infos().count() > 1;
    let member = |info| Member { info, is_given: job.is_given, has_others };
    let members: Vec<Member> = infos.into_iter().map(member).collect();
    // lines of print tables are seen as they are written: they must not come twice
    let prints = sinks.iter().any(|sink| sink.table.options.get("connector").is_some_and(|c| c == "print"));
    let pending = match write(runner, sinks, &members, commits, Joins::Hash).await {
        Err((error, true)) if error.code == OUT_OF_MEMORY && !prints => {
            write(runner, sinks, &members, commits, Joins::Spilling).await
        }
        written => written,
    };
    let pending = pending.map_err(|(error, _)| error)?;
    commits.run(pending, resume::again(&job.id, job.is_given), runner.progress().commits()).await
}

/// Checks an INSERT without running it: its query, and its target without a look at what it holds.
///
/// # Errors
/// What they refuse.
pub(crate) fn check(runner: &Runner<'_>, sink: &Sink) -> Result<()> {
    sink::check(runner, sink)?;
    let changes = changes(runner, sink)?;
    runner.check(&query(sink, changes.as_ref(), 1))
}

/// Writes the rows of all INSERTs; nobody sees them. The error comes with whether other joins may need less memory.
async fn write(
    runner: &Runner<'_>,
    sinks: &[Sink],
    members: &[Member],
    commits: &Commits,
    joins: Joins,
) -> Result<Vec<Pending>, (Error, bool)> {
    let mut hash_joins = false;
    let written = write_with(runner, sinks, members, commits, joins, &mut hash_joins).await;
    written.map_err(|error| (error, hash_joins))
}

async fn write_with(
    runner: &Runner<'_>,
    sinks: &[Sink],
    members: &[Member],
    commits: &Commits,
    joins: Joins,
    hash_joins: &mut bool,
) -> Result<Vec<Pending>> {
    runner.progress().begin_job();
    let changes = sinks.iter().map(|sink| changes(runner, sink)).collect::<Result<Vec<_>>>()?;
    let mut prepared = Vec::with_capacity(sinks.len());
    for ((sink, member), changes) in sinks.iter().zip(members).zip(&changes) {
        let takes_back = changes.as_ref().is_some_and(|changes| changes.key.is_none());
        prepared.push(sink::prepare(runner, sink, member.clone(), takes_back).await?);
    }
    let queries = queries(runner, sinks, &changes, &prepared);
    let planned = runner.plan_all(&queries, joins).await?;
    *hash_joins = planned.queries.iter().any(|query| spill::has_hash_joins(&query.plan));
    let mut writes = Vec::with_capacity(prepared.len());
    for (target, query) in prepared.into_iter().zip(&planned.queries) {
        let written = runner.progress().sink();
        let taker = Taker { name: format!("Sink(table=[{}])", target.table()), written: Some(written.clone()) };
        writes.push((target, runner.start_for(query, Some(taker))?, written));
    }
    drop(planned);
    let mut writers = Writers::new();
    for (target, rows, written) in writes {
        writers.start(target, rows, written, commits.running().await);
    }
    writers.join().await
}

/// How the changes of an INSERT's query are written.
struct Changes {
    node: Node,
    /// The key of an Iceberg table into which goes what is left in the end. `None` if all changes go there, one after the
    /// other; so they do into all other tables.
    key: Option<Vec<usize>>,
}

/// The changes of an INSERT; `None` if there are none, or if the rows that batch mode leaves are the same.
fn changes(runner: &Runner<'_>, sink: &Sink) -> Result<Option<Changes>> {
    let Some(node) = runner.changelog(&sink.input)? else { return Ok(None) };
    if !is_iceberg(&sink.table) {
        return Ok(Some(Changes { node, key: None }));
    }
    Ok(match writing(sink, &node, materialize(runner)) {
        Writing::Rows => None,
        Writing::Settled(key) => Some(Changes { node, key: Some(key) }),
        Writing::Ordered => Some(Changes { node, key: None }),
    })
}

/// Warns of an INSERT whose changes are settled although they may be about older rows: Flink's planner adds its
/// `SinkUpsertMaterializer`, which drops what takes back rows that it has not seen.
///
/// # Errors
/// As [`Runner::changelog`].
pub(crate) fn warning(runner: &Runner<'_>, sink: &Sink) -> Result<Option<Warning>> {
    let changes = changes(runner, sink)?;
    let forced = materialize(runner) == Materialize::Force;
    let settled = changes.is_some_and(|changes| changes.key.is_some() && changes.node.reads_changes());
    Ok((settled && !forced).then(|| {
        let message = format!(
            "the changes are settled by the primary key of '{}' before they are written: rows of older commits are not taken \
             back; declare the key for the table that is read, or SET 'table.exec.sink.upsert-materialize' = 'NONE'",
            sink.table.path
        );
        Warning::new("changes-settled", message).at(sink.span)
    }))
}

fn materialize(runner: &Runner<'_>) -> Materialize {
    match runner.options().get("table.exec.sink.upsert-materialize") {
        Some(mode) if mode.eq_ignore_ascii_case("NONE") => Materialize::None,
        Some(mode) if mode.eq_ignore_ascii_case("FORCE") => Materialize::Force,
        _ => Materialize::Auto,
    }
}

/// The queries of INSERTs with prepared targets.
fn queries<'s>(
    runner: &Runner<'_>,
    sinks: &'s [Sink],
    changes: &'s [Option<Changes>],
    prepared: &[Prepared],
) -> Vec<Query<'s>> {
    let partitions = runner.options().parallelism();
    let query = |((sink, changes), target): ((&'s Sink, &'s Option<Changes>), &Prepared)| {
        query(sink, changes.as_ref(), if target.is_ordered() { 1 } else { partitions })
    };
    sinks.iter().zip(changes).zip(prepared).map(query).collect()
}

fn query<'s>(sink: &'s Sink, changes: Option<&'s Changes>, partitions: usize) -> Query<'s> {
    Query {
        rel: &sink.input,
        changes: changes.map(|c| &c.node),
        settled: changes.and_then(|c| c.key.as_deref()),
        partitions,
    }
}

/// The writers of a job. When one fails or the job is dropped, the inputs of all end with an error, so that each removes
/// its files before it ends; they are not aborted, because then nobody would know when the files are gone.
struct Writers {
    tasks: JoinSet<(usize, Result<Pending>)>,
    tables: Vec<String>,
    stop: watch::Sender<bool>,
}

impl Writers {
    fn new() -> Self {
        Self { tasks: JoinSet::new(), tables: vec![], stop: watch::Sender::new(false) }
    }

    fn start(
        &mut self,
        target: Prepared,
        rows: SendableRecordBatchStream,
        progress: Arc<WriteProgress>,
        running: Running,
    ) {
        let (number, rows) = (self.tables.len(), stoppable(rows, self.stop.subscribe()));
        self.tables.push(target.table().to_owned());
        self.tasks.spawn(async move {
            let write = AssertUnwindSafe(target.write(rows, progress, running)).catch_unwind();
            (number, write.await.unwrap_or_else(|panic| Err(panicked(panic.as_ref()))))
        });
    }

    /// Waits for all. After the first error nothing is left of any of them.
    async fn join(mut self) -> Result<Vec<Pending>> {
        let mut done: Vec<(usize, Pending)> = Vec::with_capacity(self.tables.len());
        let mut failed = None;
        while let Some(ended) = self.tasks.join_next().await {
            let error = match ended {
                Ok((number, Ok(pending))) => {
                    done.push((number, pending));
                    continue;
                }
                Ok((number, Err(error))) => self.in_set(error, number),
                Err(error) => Error::internal(format!("a writer ended early: {error}")),
            };
            self.stop.send_replace(true);
            failed.get_or_insert(error);
        }
        let Some(error) = failed else {
            done.sort_unstable_by_key(|(number, _)| *number);
            return Ok(done.into_iter().map(|(_, pending)| pending).collect());
        };
        for (_, pending) in done {
            pending.discard().await;
        }
        Err(error)
    }

    /// The error of one INSERT; in a set it says which, and what became of the others.
    fn in_set(&self, error: Error, number: usize) -> Error {
        let table = match self.tables.get(number) {
            Some(table) if self.tables.len() > 1 => table,
            _ => return error,
        };
        let mut detail = format!("The INSERT into '{table}' failed; no table of the statement set was changed.");
        if let Some(more) = &error.detail {
            detail = format!("{more} {detail}");
        }
        error.with_detail(detail)
    }
}

impl Drop for Writers {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        self.tasks.detach_all();
    }
}

/// The rows, until they are stopped by an error.
fn stoppable(rows: SendableRecordBatchStream, mut stop: watch::Receiver<bool>) -> SendableRecordBatchStream {
    let (schema, stopped) = (rows.schema(), stop.clone());
    let stop = async move {
        // an error is the end of the job, which has not been stopped
        if stop.wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let end = stream::once(async move {
        let error = || Error::new("interrupted", "the statement was stopped");
        stopped.borrow().then(|| Err(external(error())))
    });
    // calve's errors, so that what the rows ran out of is told alike whoever takes them
    let rows = rows.map_err(|error| external(from_datafusion(error)));
    let rows = rows.take_until(Box::pin(stop)).chain(end.filter_map(std::future::ready));
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}
