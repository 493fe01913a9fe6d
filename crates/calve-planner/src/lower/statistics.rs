//! Aggregates answered by statistics, such as COUNT(*) of a table.
//!
//! DataFusion 53's rule looks for the first half of an aggregate below the second half, passes over one that it cannot
//! use (because of a FILTER), and then takes an aggregate further below for it: the outer aggregate gets the inner
//! one's value. And statistics of filters and joins say zero rows too easily. So the rule is asked only about aggregates
//! of all rows of a source.

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
            if !is_answerable(&node) {
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

/// Whether a plan is an aggregate, in two halves, of all rows of a source, whose statistics are its own.
fn is_answerable(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let mut halves = 0;
    let mut node = plan;
    loop {
        if let Some(aggregate) = node.as_any().downcast_ref::<AggregateExec>() {
            halves += 1;
            if aggregate.filter_expr().iter().any(Option::is_some) {
                return false;
            }
        } else if halves == 0 || !node.children().is_empty() && !PASSING.contains(&node.name()) {
            return false;
        }
        match node.children().as_slice() {
            [] => return halves == 2,
            [input] => node = input,
            _ => return false,
        }
    }
}

/// Nodes that give all rows of their input with its statistics.
const PASSING: [&str; 4] = ["CoalescePartitionsExec", "CooperativeExec", "ProjectionExec", "RepartitionExec"];
