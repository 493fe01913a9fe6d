//! From nodes of logical plans to execution plans.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::common::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};

use crate::exec::StreamExec;
use crate::node::Node;

/// DataFusion's planner, which knows streaming operators too.
#[derive(Debug, Default)]
pub struct StreamPlanner;

#[async_trait]
impl QueryPlanner for StreamPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, state: &SessionState) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(Nodes)]);
        planner.create_physical_plan(plan, state).await
    }
}

struct Nodes;

#[async_trait]
impl ExtensionPlanner for Nodes {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &SessionState,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let node = node.as_any().downcast_ref::<Node>();
        Ok(node
            .map(|node| Arc::new(StreamExec::new(node.operator().clone(), inputs.to_vec())) as Arc<dyn ExecutionPlan>))
    }
}
