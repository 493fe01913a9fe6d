//! Aggregates answered by statistics, such as COUNT(*) of a table.
//!
//! DataFusion 53's rule looks for the first half of an aggregate below the second half, passes over one that it cannot
//! use (because of a FILTER), and then takes an aggregate further below for it: the outer aggregate gets the inner
//! one's value. So the rule is asked only about aggregates without another one below.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;

/// DataFusion's rule where it is right.
#[derive(Debug)]
pub(super) struct GuardedStatistics(pub Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for GuardedStatistics {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_down(|node| {
            if as_aggregate(&node).is_none() || aggregates(&node) > 2 || has_filter(&node) {
                return Ok(Transformed::no(node));
            }
            self.0.optimize(node, config).map(Transformed::yes)
        })
        .map(|t| t.data)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

fn as_aggregate(plan: &Arc<dyn ExecutionPlan>) -> Option<&AggregateExec> {
    plan.as_any().downcast_ref()
}

/// Both halves of an aggregate count.
fn aggregates(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let below: usize = plan.children().into_iter().map(aggregates).sum();
    below + usize::from(as_aggregate(plan).is_some())
}

fn has_filter(plan: &Arc<dyn ExecutionPlan>) -> bool {
    as_aggregate(plan).is_some_and(|a| a.filter_expr().iter().any(Option::is_some))
        || plan.children().into_iter().any(has_filter)
}
