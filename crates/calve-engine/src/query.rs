//! Runs bound queries on DataFusion.

use std::sync::Arc;

use calve_functions::EvalContext;
use calve_planner::lower::{self, LowerContext};
use calve_planner::{Rel, TableEntry};
use calve_types::Result;
use datafusion::datasource::provider_as_source;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::TableSource;
use datafusion::physical_plan::execute_stream;

use crate::error::from_datafusion;
use crate::options::Options;
use crate::resolve::Resolved;

/// What one statement's queries run with.
pub(crate) struct Runner<'a> {
    options: &'a Options,
    runtime: Arc<RuntimeEnv>,
    context: EvalContext,
}

impl<'a> Runner<'a> {
    pub fn new(options: &'a Options, runtime: Arc<RuntimeEnv>, context: EvalContext) -> Self {
        Self { options, runtime, context }
    }

    pub fn options(&self) -> &'a Options {
        self.options
    }

    pub fn context(&self) -> &EvalContext {
        &self.context
    }

    /// Lowers, optimises and starts a query; nothing runs before the stream is polled.
    ///
    /// # Errors
    /// What the lowering refuses, what a table's read options are wrong in, what DataFusion cannot plan.
    pub async fn stream(&self, rel: &Rel, partitions: usize) -> Result<SendableRecordBatchStream> {
        let source = |entry: &TableEntry| -> Result<Arc<dyn TableSource>> {
            Ok(provider_as_source(Resolved::provider(self.options, entry)?))
        };
        let plan = lower::plan(rel, &LowerContext { eval: self.context, source: &source })?;
        let state = lower::session_state(partitions, self.runtime.clone());
        let physical = state.create_physical_plan(&plan).await.map_err(from_datafusion)?;
        execute_stream(physical, state.task_ctx()).map_err(from_datafusion)
    }
}
