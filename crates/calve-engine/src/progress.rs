//! How far the running statement is, for whoever shows it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use calve_iceberg::write::WriteProgress;
use datafusion::execution::memory_pool::MemoryPool;
use datafusion::physical_plan::ExecutionPlan;

use crate::pool::Pool;

/// What the running statement has done so far. Cheap to ask at any time and from any thread; see
/// [`crate::Session::progress`].
#[derive(Debug)]
pub struct Progress {
    state: Mutex<State>,
    pool: Arc<Pool>,
}

/// What takes the rows of a plan.
#[derive(Debug, Clone)]
pub(crate) struct Taker {
    /// As EXPLAIN writes it.
    pub name: String,
    /// What it has written; `None` if it writes nothing itself.
    pub written: Option<Arc<WriteProgress>>,
}

/// A plan that runs or has run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// `None` for a query, whose rows the caller takes.
    pub taker: Option<Taker>,
    pub plan: Arc<dyn ExecutionPlan>,
}

#[derive(Debug, Default)]
struct State {
    started: Option<Instant>,
    /// Leaves of the plans that run; DataFusion counts their rows.
    sources: Vec<Arc<dyn ExecutionPlan>>,
    /// All plans, if somebody wants to look at them in the end. They are not kept otherwise: a plan that has run may hold
    /// memory, as the table of a hash join.
    ran: Option<Vec<Ran>>,
    sinks: Vec<Arc<WriteProgress>>,
    commits: Arc<AtomicU64>,
}

/// The counters of a statement at one moment. All but [`Self::memory`] only grow while it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProgressCounts {
    /// Rows that came out of tables, a table that several INSERTs share counted once.
    pub rows_read: u64,
    /// Bytes that were read of Parquet files, compressed as they are stored, without their footers; zero for other files.
    pub bytes_read: u64,
    /// Rows that sinks took.
    pub rows_written: u64,
    /// Files finished.
    pub files_written: u64,
    /// Bytes of finished files; zero for tables outside Iceberg.
    pub bytes_written: u64,
    /// Commits that are in.
    pub commits: u64,
    /// INSERTs of the statement; zero for a query.
    pub sinks: usize,
    /// Bytes that the session's memory pool has given out now: what `--memory-limit` limits.
    pub memory: u64,
    /// The most of them since the statement began.
    pub memory_peak: u64,
    /// Time since the statement began; zero if there was none.
    pub elapsed: Duration,
}

impl Progress {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        Self { state: Mutex::default(), pool }
    }

    /// The counters now. They stay after the statement's end until the next one begins.
    pub fn counts(&self) -> ProgressCounts {
        let state = self.state();
        let sum = |of: fn(&WriteProgress) -> &AtomicU64| {
            state.sinks.iter().map(|sink| of(sink).load(Ordering::Relaxed)).sum::<u64>()
        };
        let (mut rows_read, mut bytes_read) = (0, 0);
        for metrics in state.sources.iter().filter_map(|plan| plan.metrics()) {
            rows_read += metrics.output_rows().unwrap_or(0) as u64;
            bytes_read += metrics.sum_by_name("bytes_scanned").map_or(0, |bytes| bytes.as_usize()) as u64;
        }
        ProgressCounts {
            rows_read,
            bytes_read,
            rows_written: sum(|p| &p.rows),
            files_written: sum(|p| &p.files),
            bytes_written: sum(|p| &p.bytes),
            commits: state.commits.load(Ordering::Relaxed),
            sinks: state.sinks.len(),
            memory: self.pool.reserved() as u64,
            memory_peak: self.pool.peak() as u64,
            elapsed: state.started.map(|started| started.elapsed()).unwrap_or_default(),
        }
    }

    /// A new statement begins.
    pub(crate) fn begin(&self) {
        *self.state() = State { started: Some(Instant::now()), ..State::default() };
        self.pool.begin();
    }

    /// A job begins, perhaps once more: counts from the start, the clock goes on.
    pub(crate) fn begin_job(&self) {
        let mut state = self.state();
        let ran = state.ran.as_ref().map(|_| vec![]);
        *state = State { started: state.started, ran, ..State::default() };
    }

    /// Keeps the plans of the statement from now on.
    pub(crate) fn keep_plans(&self) {
        self.state().ran = Some(vec![]);
    }

    /// The plans that ran, of the last try; nothing is kept any more.
    pub(crate) fn take_plans(&self) -> Vec<Ran> {
        self.state().ran.take().unwrap_or_default()
    }

    /// As [`Self::reads`], of a plan in the place of all that ran before.
    pub(crate) fn reads_again(&self, plan: &Arc<dyn ExecutionPlan>) {
        self.begin_job();
        self.reads(plan, None);
    }

    /// The plan's tables count from now on, those that are counted. `taker` takes its rows.
    pub(crate) fn reads(&self, plan: &Arc<dyn ExecutionPlan>, taker: Option<Taker>) {
        let mut state = self.state();
        if let Some(ran) = &mut state.ran {
            ran.push(Ran { taker, plan: plan.clone() });
        }
        let mut nodes = vec![plan];
        while let Some(node) = nodes.pop() {
            let children = node.children();
            if children.is_empty() && node.metrics().is_some() {
                state.sources.push(node.clone());
            }
            nodes.extend(children);
        }
    }

    /// The counters of a new sink.
    pub(crate) fn sink(&self) -> Arc<WriteProgress> {
        let sink = Arc::new(WriteProgress::default());
        self.state().sinks.push(sink.clone());
        sink
    }

    /// The counter of commits that are in.
    pub(crate) fn commits(&self) -> Arc<AtomicU64> {
        self.state().commits.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
