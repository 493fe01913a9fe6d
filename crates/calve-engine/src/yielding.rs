//! Makes joins give way while they run, so that a statement can be cancelled.
//!
//! A task that never waits is never cancelled. DataFusion has the tables give way from time to time
//! (`EnsureCooperative`); but a join makes any number of rows of those it has, and comes back to its tables only then.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::unnest::UnnestExec;

/// A session state whose queries can be cancelled wherever they are.
pub(crate) fn session_state(state: SessionState) -> SessionState {
    let mut rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> = vec![];
    for rule in state.physical_optimizers() {
        rules.push(rule.clone());
        // After it: it takes the tables below a node that gives way for covered, though a sort or the held side of a join
        // reads them to their end at once. Before filters are pushed through joins: joins must not be rebuilt after that.
        if rule.name() == "EnsureCooperative" {
            rules.push(Arc::new(YieldingJoins));
        }
    }
    SessionStateBuilder::new_from_existing(state).with_physical_optimizer_rules(rules).build()
}

/// Has each batch of a join count as work that must give way.
#[derive(Debug)]
struct YieldingJoins;

impl PhysicalOptimizerRule for YieldingJoins {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            Ok(if multiplies_rows(&node) {
                Transformed::yes(Arc::new(CooperativeExec::new(node)) as Arc<dyn ExecutionPlan>)
            } else {
                Transformed::no(node)
            })
        })
        .map(|t| t.data)
    }

    fn name(&self) -> &str {
        "yielding_joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn multiplies_rows(node: &Arc<dyn ExecutionPlan>) -> bool {
    let node = node.as_any();
    node.is::<CrossJoinExec>()
        || node.is::<NestedLoopJoinExec>()
        || node.is::<HashJoinExec>()
        || node.is::<SortMergeJoinExec>()
        || node.is::<UnnestExec>()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use std::time::Duration;

    use crate::{ResultBody, Session, SessionConfig};

    #[tokio::test]
    async fn a_join_without_end_can_be_cancelled() {
        let ten = "(VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10))";
        let factors: Vec<String> = (0..12).map(|n| format!("{ten} AS t{n}(x{n})")).collect();
        let query = format!("SELECT sum(x0 + x11) FROM {}", factors.join(" CROSS JOIN "));
        let statement = calve_sql::split(&query).remove(0);
        for mode in ["batch", "streaming"] {
            let options = vec![("execution.runtime-mode".to_owned(), mode.to_owned())];
            let mut session = Session::new(SessionConfig { options, ..SessionConfig::default() }).unwrap();
            let work = async {
                let body = session.execute(&statement).await.unwrap().body;
                let ResultBody::Rows(mut rows) = body else { panic!("no rows") };
                while let Some(batch) = rows.next_text().await {
                    batch.unwrap();
                }
            };
            assert!(tokio::time::timeout(Duration::from_millis(300), work).await.is_err(), "{mode}");
        }
    }
}
