//! How far the running statement is, for whoever shows it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use calve_iceberg::write::WriteProgress;
use datafusion::physical_plan::ExecutionPlan;

/// What the running statement has done so far. Cheap to ask at any time and from any thread; see
/// [`crate::Session::progress`].
#[derive(Debug, Default)]
pub struct Progress {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    started: Option<Instant>,
    /// Leaves of the plans that run; DataFusion counts their rows.
    sources: Vec<Arc<dyn ExecutionPlan>>,
    /// Rows of leaves that DataFusion does not count.
    rows: Arc<AtomicU64>,
    sinks: Vec<Arc<WriteProgress>>,
    commits: Arc<AtomicU64>,
}

/// The counters of a statement at one moment. They only grow while it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProgressCounts {
    /// Rows that came out of tables, a table that several INSERTs share counted once.
    pub rows_read: u64,
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
    /// Time since the statement began; zero if there was none.
    pub elapsed: Duration,
}

impl Progress {
    /// The counters now. They stay after the statement's end until the next one begins.
    pub fn counts(&self) -> ProgressCounts {
        let state = self.state();
        let sum = |of: fn(&WriteProgress) -> &AtomicU64| {
            state.sinks.iter().map(|sink| of(sink).load(Ordering::Relaxed)).sum::<u64>()
        };
        let read = |plan: &Arc<dyn ExecutionPlan>| plan.metrics().and_then(|m| m.output_rows()).unwrap_or(0) as u64;
        ProgressCounts {
            rows_read: state.rows.load(Ordering::Relaxed) + state.sources.iter().map(read).sum::<u64>(),
            rows_written: sum(|p| &p.rows),
            files_written: sum(|p| &p.files),
            bytes_written: sum(|p| &p.bytes),
            commits: state.commits.load(Ordering::Relaxed),
            sinks: state.sinks.len(),
            elapsed: state.started.map(|started| started.elapsed()).unwrap_or_default(),
        }
    }

    /// A new statement begins.
    pub(crate) fn begin(&self) {
        *self.state() = State { started: Some(Instant::now()), ..State::default() };
    }

    /// A job begins, perhaps once more: counts from the start, the clock goes on.
    pub(crate) fn begin_job(&self) {
        let mut state = self.state();
        *state = State { started: state.started, ..State::default() };
    }

    /// The plan's tables count from now on, those that DataFusion counts.
    pub(crate) fn reads(&self, plan: &Arc<dyn ExecutionPlan>) {
        let mut state = self.state();
        let mut nodes = vec![plan];
        while let Some(node) = nodes.pop() {
            let children = node.children();
            if children.is_empty() && node.metrics().is_some() {
                state.sources.push(node.clone());
            }
            nodes.extend(children);
        }
    }

    /// The counter of rows of tables that DataFusion does not count.
    pub(crate) fn rows(&self) -> Arc<AtomicU64> {
        self.state().rows.clone()
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
