//! Runs bound queries on DataFusion.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;

use calve_connectors::ConnectorContext;
use calve_functions::EvalContext;
use calve_planner::lower::{self, LowerContext};
use calve_planner::stream::{self, Node};
use calve_planner::{Rel, TableEntry};
use calve_types::{Error, Result};
use datafusion::catalog::TableProvider;
use datafusion::datasource::provider_as_source;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{LogicalPlan, TableSource};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use tokio::runtime::Handle;

use crate::counted::Counted;
use crate::error::from_datafusion;
use crate::jobs::share::{Optimised, Shared, share};
use crate::jobs::{Pin, pinned};
use crate::options::Options;
use crate::progress::{Progress, Taker};
use crate::resolve::{ConnectorHandle, Resolved, downcast};
use crate::spill::{self, Joins};

/// What one statement's queries run with.
pub(crate) struct Runner<'a> {
    options: &'a Options,
    runtime: Arc<RuntimeEnv>,
    connectors: ConnectorContext,
    progress: Arc<Progress>,
    /// Tables that are read as they were before an earlier run of the job.
    pins: Vec<Pin>,
}

/// A query to run.
pub(crate) struct Query<'q> {
    pub rel: &'q Rel,
    /// Its operators, if its changes are wanted: then a column of changes stands behind its own. Without them it gives the
    /// rows that are left in the end.
    pub changes: Option<&'q Node>,
    /// The key by which its changes are settled: then what comes are the rows that are left for each key, and the keys of
    /// which none is left.
    pub settled: Option<&'q [usize]>,
    /// How many parts of it may run at once. In one part the rows come in the order of their tables.
    pub partitions: usize,
}

impl<'q> Query<'q> {
    /// A query for the rows that are left in the end.
    pub fn of_rows(rel: &'q Rel, partitions: usize) -> Self {
        Self { rel, changes: None, settled: None, partitions }
    }

    /// Changes are seen in the order in which they happen, and late rows are those behind others.
    fn partitions(&self) -> usize {
        if self.changes.is_some() || lower::depends_on_order(self.rel) { 1 } else { self.partitions }
    }
}

/// A query as DataFusion runs it.
pub(crate) struct Planned {
    pub plan: Arc<dyn ExecutionPlan>,
    optimised: Optimised,
}

impl Planned {
    /// The optimised plan that it was made of, for EXPLAIN.
    pub fn logical(&self) -> &LogicalPlan {
        &self.optimised.plan
    }
}

/// The queries of a job, planned together.
pub(crate) struct PlannedJob {
    pub queries: Vec<Planned>,
    /// The tables that several of the queries read together.
    pub shared: Vec<Shared>,
}

impl<'a> Runner<'a> {
    pub fn new(
        options: &'a Options,
        runtime: Arc<RuntimeEnv>,
        connectors: ConnectorContext,
        progress: Arc<Progress>,
    ) -> Self {
        Self { options, runtime, connectors, progress, pins: vec![] }
    }

    /// Reads these tables as they were before an earlier run of the job.
    pub fn with_pins(self, pins: Vec<Pin>) -> Self {
        Self { pins, ..self }
    }

    pub fn options(&self) -> &'a Options {
        self.options
    }

    pub fn context(&self) -> &EvalContext {
        &self.connectors.eval
    }

    /// What connectors know of the session.
    pub fn connectors(&self) -> &ConnectorContext {
        &self.connectors
    }

    /// Where the statement tells how far it is.
    pub fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// The operators of a query whose rows change: `None` in batch mode, and for a query that only adds rows.
    ///
    /// # Errors
    /// `not-supported` for what cannot be done with rows that change.
    pub fn changelog(&self, rel: &Rel) -> Result<Option<Node>> {
        if !self.options.is_streaming() {
            return Ok(None);
        }
        let node = stream::plan(rel)?;
        let twice = self.options.get("table.exec.source.cdc-events-duplicate");
        if twice.is_some_and(|twice| twice.eq_ignore_ascii_case("true")) && node.reads_changes() {
            return Err(Error::unsupported("option 'table.exec.source.cdc-events-duplicate': changes that come twice"));
        }
        Ok(Some(node).filter(Node::changes))
    }

    /// Lowers, optimises and starts a query; nothing runs before the stream is polled.
    ///
    /// # Errors
    /// What the lowering refuses, what a table's read options are wrong in, what DataFusion cannot plan.
    pub async fn stream(&self, query: &Query<'_>) -> Result<SendableRecordBatchStream> {
        let partitions = query.partitions();
        let optimised = self.optimised(query, Joins::Hash).await?;
        let plan = optimised.plan.clone();
        let planned = self.plan(optimised).await?;
        let rows = self.start(&planned)?;
        if !spill::has_hash_joins(&planned.plan) {
            return Ok(rows);
        }
        let (runtime, progress) = (self.runtime.clone(), self.progress.clone());
        Ok(spill::or_again(rows, async move {
            let state = spill::session_state(partitions, runtime, Joins::Spilling);
            let planned = physical(Optimised { plan, state }).await?;
            progress.reads_again(&planned.plan);
            execute_stream(planned.plan, planned.optimised.state.task_ctx()).map_err(from_datafusion)
        }))
    }

    /// Plans queries that run at the same time: a table that several of them scan is read once.
    ///
    /// # Errors
    /// As [`Self::stream`].
    pub async fn plan_all(&self, queries: &[Query<'_>], joins: Joins) -> Result<PlannedJob> {
        let providers = Providers::default();
        let lowered = queries.iter().map(|q| self.lower(q, &providers)).collect::<Result<Vec<_>>>()?;
        let names = providers.into_names();
        let mut optimised = Vec::with_capacity(queries.len());
        for (query, plan) in queries.iter().zip(lowered) {
            optimised.push(self.optimise(query, plan, joins).await?);
        }
        let shared = share(&mut optimised, &names, &self.progress).await?;
        let mut queries = Vec::with_capacity(optimised.len());
        for query in optimised {
            queries.push(self.plan(query).await?);
        }
        Ok(PlannedJob { queries, shared })
    }

    /// Starts a planned query; nothing runs before the stream is polled.
    ///
    /// # Errors
    /// What DataFusion says.
    pub fn start(&self, planned: &Planned) -> Result<SendableRecordBatchStream> {
        self.start_for(planned, None)
    }

    /// As [`Self::start`]; `taker` takes the rows.
    ///
    /// # Errors
    /// What DataFusion says.
    pub fn start_for(&self, planned: &Planned, taker: Option<Taker>) -> Result<SendableRecordBatchStream> {
        self.progress.reads(&planned.plan, taker);
        execute_stream(planned.plan.clone(), planned.optimised.state.task_ctx()).map_err(from_datafusion)
    }

    /// What operators outside of a query run with.
    pub fn task_context(&self) -> Arc<TaskContext> {
        spill::session_state(self.options.parallelism(), self.runtime.clone(), Joins::Hash).task_ctx()
    }

    /// Lowers a query and opens what it reads. No row is read.
    ///
    /// # Errors
    /// What the lowering refuses, what a table's read options are wrong in.
    pub fn check(&self, query: &Query<'_>) -> Result<()> {
        self.lower(query, &Providers::default()).map(drop)
    }

    async fn optimise(&self, query: &Query<'_>, plan: LogicalPlan, joins: Joins) -> Result<Optimised> {
        let state = spill::session_state(query.partitions(), self.runtime.clone(), joins);
        aside(async move { Ok(Optimised { plan: state.optimize(&plan).map_err(from_datafusion)?, state }) }).await
    }

    fn lower(&self, query: &Query<'_>, providers: &Providers) -> Result<LogicalPlan> {
        let provider = |entry: &TableEntry| -> Result<Arc<dyn TableProvider>> {
            let provider = match pinned(self.options, entry, &self.pins) {
                Some(provider) => provider?,
                None => Resolved::provider(self.options, entry, &self.connectors)?,
            };
            Ok(match downcast::<ConnectorHandle>(&entry.handle) {
                Some(_) => Arc::new(Counted::new(provider)),
                None => provider,
            })
        };
        let source = |entry: &TableEntry| -> Result<Arc<dyn TableSource>> {
            Ok(provider_as_source(providers.get(entry, || provider(entry))?))
        };
        let context = LowerContext { eval: self.connectors.eval, source: &source };
        match query.changes {
            Some(node) => match query.settled {
                Some(key) => lower::settled(node, key, &context),
                None => lower::changelog(node, &context),
            },
            None => lower::plan(query.rel, &context),
        }
    }

    /// Lowers and optimises a query; what it scans is planned by [`Self::plan`].
    ///
    /// # Errors
    /// As [`Self::stream`].
    pub async fn optimised(&self, query: &Query<'_>, joins: Joins) -> Result<Optimised> {
        let plan = self.lower(query, &Providers::default())?;
        self.optimise(query, plan, joins).await
    }

    /// Plans how an optimised query runs.
    ///
    /// # Errors
    /// What DataFusion cannot plan.
    pub async fn plan(&self, optimised: Optimised) -> Result<Planned> {
        physical(optimised).await
    }
}

async fn physical(optimised: Optimised) -> Result<Planned> {
    aside(async move {
        let planner = optimised.state.query_planner().clone();
        let plan = planner.create_physical_plan(&optimised.plan, &optimised.state).await;
        Ok(Planned { plan: plan.map_err(from_datafusion)?, optimised })
    })
    .await
}

/// Does a part of planning on a thread of its own: it may compute for long without a pause, and whoever waits for it can be
/// cancelled all the same.
async fn aside<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let runtime = Handle::current();
    let done = tokio::task::spawn_blocking(move || runtime.block_on(work)).await;
    done.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(error) => Err(Error::internal(error)),
    })
}

/// A provider and the full name of its table.
pub(crate) type Named = (Arc<dyn TableProvider>, String);

/// The providers of a statement's tables: one for each entry, so that scans of one table can be told by it.
#[derive(Default)]
struct Providers {
    /// By the entry's address: an entry is one table with one set of options, and lives as long as the plans.
    made: RefCell<Vec<(*const TableEntry, Named)>>,
}

impl Providers {
    fn get(
        &self,
        entry: &TableEntry,
        make: impl FnOnce() -> Result<Arc<dyn TableProvider>>,
    ) -> Result<Arc<dyn TableProvider>> {
        let address = std::ptr::from_ref(entry);
        if let Some((_, (provider, _))) = self.made.borrow().iter().find(|(made, _)| std::ptr::eq(*made, address)) {
            return Ok(provider.clone());
        }
        let provider = make()?;
        self.made.borrow_mut().push((address, (provider.clone(), entry.path.to_string())));
        Ok(provider)
    }

    fn into_names(self) -> Vec<Named> {
        self.made.into_inner().into_iter().map(|(_, named)| named).collect()
    }
}
