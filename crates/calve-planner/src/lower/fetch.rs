//! Limits of rows in memory.
//!
//! DataFusion 53 moves a limit into a source of rows in memory, and forgets it where it then moves a projection into the
//! same source: `SELECT COUNT(*) FROM (SELECT * FROM (VALUES ..) LIMIT 3)` counts all rows. So the limit stays above.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::limit::LocalLimitExec;

/// Takes limits out of sources of rows in memory. Runs after DataFusion's `LimitPushdown`.
#[derive(Debug)]
pub(super) struct LimitsAboveMemory;

impl PhysicalOptimizerRule for LimitsAboveMemory {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            let source = node.as_any().downcast_ref::<DataSourceExec>();
            let in_memory = source.is_some_and(|s| s.data_source().as_any().is::<MemorySourceConfig>());
            match (in_memory, node.fetch()) {
                (true, Some(fetch)) if let Some(all) = node.with_fetch(None) => {
                    Ok(Transformed::yes(Arc::new(LocalLimitExec::new(all, fetch))))
                }
                _ => Ok(Transformed::no(node)),
            }
        })
        .map(|t| t.data)
    }

    fn name(&self) -> &str {
        "limits_above_memory"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
