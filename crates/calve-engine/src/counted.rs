//! Counts the rows of tables with a connector, and the time they take: DataFusion measures readers of files alone.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Constraints, Result as DfResult, Statistics};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, LogicalPlan, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::filter_pushdown::{ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, stream};

/// A table whose scans have metrics.
#[derive(Debug)]
pub(crate) struct Counted {
    table: Arc<dyn TableProvider>,
}

impl Counted {
    pub fn new(table: Arc<dyn TableProvider>) -> Self {
        Self { table }
    }
}

#[async_trait]
impl TableProvider for Counted {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }

    fn constraints(&self) -> Option<&Constraints> {
        self.table.constraints()
    }

    fn table_type(&self) -> TableType {
        self.table.table_type()
    }

    fn get_logical_plan(&self) -> Option<Cow<'_, LogicalPlan>> {
        self.table.get_logical_plan()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        self.table.supports_filters_pushdown(filters)
    }

    fn statistics(&self) -> Option<Statistics> {
        self.table.statistics()
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let scan = self.table.scan(state, projection, filters, limit).await?;
        let counts_itself = scan.as_any().is::<DataSourceExec>() || !scan.children().is_empty();
        Ok(if counts_itself { scan } else { counted(scan) })
    }
}

fn counted(scan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    Arc::new(CountedExec { scan, metrics: ExecutionPlanMetricsSet::new() })
}

/// A leaf that counts its rows, and otherwise is what it counts.
#[derive(Debug)]
struct CountedExec {
    scan: Arc<dyn ExecutionPlan>,
    metrics: ExecutionPlanMetricsSet,
}

impl DisplayAs for CountedExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scan.fmt_as(format, f)
    }
}

impl ExecutionPlan for CountedExec {
    fn name(&self) -> &str {
        self.scan.name()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.scan.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let mut batches = self.scan.execute(partition, context)?;
        let (schema, measured) = (batches.schema(), BaselineMetrics::new(&self.metrics, partition));
        let counted = stream::poll_fn(move |context| {
            let timer = measured.elapsed_compute().timer();
            let next = batches.poll_next_unpin(context);
            drop(timer);
            measured.record_poll(next)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, counted)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn partition_statistics(&self, partition: Option<usize>) -> DfResult<Statistics> {
        self.scan.partition_statistics(partition)
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        self.scan.with_fetch(limit).map(counted)
    }

    fn fetch(&self) -> Option<usize> {
        self.scan.fetch()
    }

    fn try_swapping_with_projection(&self, projection: &ProjectionExec) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        Ok(self.scan.try_swapping_with_projection(projection)?.map(counted))
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> DfResult<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        Ok(FilterPushdownPropagation::all_unsupported(result))
    }
}
