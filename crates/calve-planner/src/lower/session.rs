//! DataFusion's session for one statement.

use std::sync::Arc;

use calve_stream::planner::StreamPlanner;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::optimizer::{Optimizer, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::prelude::SessionConfig;

use super::fetch::LimitsAboveMemory;
use super::float_keys::FloatJoinKeys;
use super::forget::ForgetConstants;
use super::guards::{self, NullIsFalse};
use super::null_safe::NullSafeJoinKeys;
use super::statistics::GuardedStatistics;

/// Rows of a batch; DataFusion's default.
const BATCH_SIZE: usize = 8192;

/// A session state to optimise and run lowered plans: `partitions` run in parallel, memory and disk are the runtime's.
///
/// It knows no function and no catalog by name, because lowered plans hold everything they need; so it is cheap to make.
pub fn session_state(partitions: usize, runtime: Arc<RuntimeEnv>) -> SessionState {
    let mut config = SessionConfig::new()
        .with_target_partitions(partitions.max(1))
        .with_batch_size(BATCH_SIZE)
        .with_create_default_catalog_and_schema(false)
        .with_information_schema(false);
    let options = config.options_mut();
    // A file's own strings, never views: Iceberg's writers take them as they are.
    options.execution.parquet.schema_force_view_types = false;
    // Filters prune files, row groups and pages; evaluating them while decoding costs more than it saves for scattered rows.
    options.execution.parquet.pushdown_filters = false;
    // It forgets the group of NULL: SELECT DISTINCT a ... ORDER BY a LIMIT 1.
    options.optimizer.enable_topk_aggregation = false;
    // IS TRUE and IS NOT DISTINCT FROM are nullable in execution plans and not in logical ones, which is no harm.
    options.execution.skip_physical_aggregate_schema_check = true;
    // The plan must keep the types it was lowered to.
    options.optimizer.skip_failed_rules = false;
    SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_query_planner(Arc::new(StreamPlanner))
        .with_optimizer_rules(optimizer_rules())
        .with_physical_optimizer_rules(physical_optimizer_rules())
        .build()
}

fn optimizer_rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules: Vec<Arc<dyn OptimizerRule + Send + Sync>> = vec![];
    for rule in Optimizer::new().rules {
        if rule.name() == "extract_equijoin_predicate" {
            rules.push(Arc::new(FloatJoinKeys));
            rules.push(Arc::new(NullSafeJoinKeys));
        }
        let simplifies = rule.name() == "simplify_expressions";
        rules.push(guards::guarded(rule));
        if simplifies {
            rules.push(Arc::new(NullIsFalse));
        }
    }
    rules
}

fn physical_optimizer_rules() -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let mut rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> = vec![Arc::new(ForgetConstants)];
    for rule in PhysicalOptimizer::new().rules {
        if rule.name() == "aggregate_statistics" {
            rules.push(Arc::new(GuardedStatistics(rule)));
        } else {
            let limits = rule.name() == "LimitPushdown";
            rules.push(rule);
            if limits {
                rules.push(Arc::new(LimitsAboveMemory));
            }
        }
    }
    rules
}
