//! Constants that are none.
//!
//! What is constant on the side of an outer join that is filled up with NULLs (`LEFT JOIN (SELECT .. WHERE k = 5)`) is
//! not constant after the join, but DataFusion 53 takes it over and then leaves `ORDER BY k` out. What is constant in
//! each input of a union (`SELECT 'a', .. UNION ALL SELECT 'b', ..`) is left out of `ORDER BY .. LIMIT` too, and then
//! one input's best rows drop those of the other. So a node that forgets what is known of the columns stands between.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use calve_types::Error;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DataFusionError, JoinType, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterDescription, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

/// Puts a [`ForgetExec`] on the sides of outer joins that are filled up with NULLs and on the inputs of unions. Runs
/// before DataFusion's rules.
#[derive(Debug)]
pub(super) struct ForgetConstants;

impl PhysicalOptimizerRule for ForgetConstants {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            let (first, others) = match join_type(node.as_ref()) {
                Some(JoinType::Left) => (false, true),
                Some(JoinType::Right) => (true, false),
                Some(JoinType::Full) => (true, true),
                None if node.as_any().is::<UnionExec>() => (true, true),
                _ => return Ok(Transformed::no(node)),
            };
            let inputs = node.children().into_iter().enumerate().map(|(i, input)| {
                let forget = if i == 0 { first } else { others };
                if forget { ForgetExec::over(Arc::clone(input)) } else { Arc::clone(input) }
            });
            let inputs = inputs.collect();
            Ok(Transformed::yes(node.with_new_children(inputs)?))
        })
        .map(|t| t.data)
    }

    fn name(&self) -> &str {
        "forget_constants"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn join_type(plan: &dyn ExecutionPlan) -> Option<JoinType> {
    let plan = plan.as_any();
    let hash = plan.downcast_ref::<HashJoinExec>().map(HashJoinExec::join_type);
    let nested = || plan.downcast_ref::<NestedLoopJoinExec>().map(NestedLoopJoinExec::join_type);
    hash.or_else(nested).copied().or_else(|| plan.downcast_ref::<SortMergeJoinExec>().map(SortMergeJoinExec::join_type))
}

/// Its input's rows, without constants, equalities and order.
#[derive(Debug)]
struct ForgetExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl ForgetExec {
    fn over(input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        let known = EquivalenceProperties::new(input.schema());
        let properties = Arc::new(PlanProperties::clone(input.properties()).with_eq_properties(known));
        Arc::new(Self { input, properties })
    }
}

impl DisplayAs for ForgetExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("ForgetExec")
    }
}

impl ExecutionPlan for ForgetExec {
    fn name(&self) -> &str {
        "ForgetExec"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let [input] = <[_; 1]>::try_from(children)
            .map_err(|_| DataFusionError::External(Box::new(Error::internal("ForgetExec takes one input"))))?;
        Ok(Self::over(input))
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Statistics> {
        self.input.partition_statistics(partition)
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        FilterDescription::from_children(filters, &self.children())
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        Ok(FilterPushdownPropagation::if_all(result))
    }
}
