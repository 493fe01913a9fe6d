//! A table that several INSERTs of a statement set scan, read once.
//!
//! A [`Tee`] runs the real scan: one pump for each of its partitions gives every batch to the [`Queue`] of each
//! consumer. A consumer is a leaf in the plan of one INSERT; whichever of its partitions asks gets the next batch.
//!
//! # Why nothing waits for ever
//!
//! Queues are bounded, so a pump waits for the slowest consumer, and consumers wait for the pumps. Three rules keep the
//! waits from closing a circle:
//!
//! 1. A consumer has one queue, not one for each partition. However a plan drains its partitions (one after the other, or
//!    the one with the smallest key first), it takes what comes next; a full queue means that the plan takes nothing from
//!    this scan at all.
//! 2. An INSERT's plan has at most one consumer of all tees (`share`). A plan that takes nothing from it now is busy with
//!    its own scans, its operators or its writer, none of which waits for another INSERT. So it will come to take from its
//!    queue, or end. Two consumers of one tee could wait for each other (a hash join reads its build side to the end before
//!    the other side), and so could two INSERTs that drain two tees in opposite orders.
//! 3. A consumer that ended early (LIMIT) or never began leaves its queue, and the pumps pass it over.
//!
//! A pump that fails fails all consumers; pumps end when the last consumer is dropped.
//!
//! # Order
//!
//! A scan of one partition has one pump, and a consumer of one partition sees its rows in order: that is what a sink with
//! a primary key needs.

use std::any::Any;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use calve_types::Error;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DataFusionError, Result as DfResult, Statistics};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::filter_pushdown::{ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
};
use futures::{FutureExt, Stream, StreamExt};
use tokio::task::JoinSet;

use super::queue::Queue;
use crate::error::{external, from_datafusion};
use crate::session::panicked;

/// Batches that wait for one consumer.
const WAITING: usize = 4;

/// The scan of a table for several consumers.
pub(super) struct Tee {
    /// Name for EXPLAIN.
    name: String,
    /// Which columns of the table the scan gives, ascending; `None` is all.
    projection: Option<Vec<usize>>,
    scan: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    queues: Vec<Arc<Queue>>,
    /// `None` until a consumer starts.
    pumps: Mutex<Option<JoinSet<()>>>,
}

impl Tee {
    /// A tee over `scan`, a scan of the columns `projection` of the table that `name` names. It starts with its first
    /// consumer.
    pub fn new(
        name: String,
        projection: Option<Vec<usize>>,
        scan: Arc<dyn ExecutionPlan>,
        context: Arc<TaskContext>,
        consumers: usize,
    ) -> Arc<Self> {
        let queues = (0..consumers).map(|_| Arc::new(Queue::new(WAITING))).collect();
        Arc::new(Self { name, projection, scan, context, queues, pumps: Mutex::new(None) })
    }

    /// The table of the consumer with this number, from 0; `schema` is the whole table's.
    ///
    /// # Errors
    /// `internal` for a number that was not announced.
    pub fn consumer(self: &Arc<Self>, number: usize, schema: SchemaRef) -> calve_types::Result<Arc<dyn TableProvider>> {
        let queue = self.queues.get(number).cloned().ok_or_else(|| Error::internal("no such consumer"))?;
        let seat = Arc::new(Seat { tee: self.clone(), number, queue, use_: Mutex::default() });
        Ok(Arc::new(Consumer { seat, schema }))
    }

    /// Starts the pumps unless they run.
    fn start(&self) {
        let mut pumps = self.pumps.lock().unwrap_or_else(PoisonError::into_inner);
        if pumps.is_some() {
            return;
        }
        let partitions = self.scan.output_partitioning().partition_count();
        let end = Arc::new(End { queues: self.queues.clone(), missing: AtomicUsize::new(partitions) });
        let mut set = JoinSet::new();
        for partition in 0..partitions {
            let (scan, context, queues, end) =
                (self.scan.clone(), self.context.clone(), self.queues.clone(), end.clone());
            set.spawn(async move {
                match AssertUnwindSafe(pump(scan, partition, context, &queues)).catch_unwind().await {
                    Ok(Ok(())) => drop(end.missing.fetch_sub(1, Ordering::AcqRel)),
                    Ok(Err(error)) => end.fail(&from_datafusion(error)),
                    Err(panic) => end.fail(&panicked(panic.as_ref())),
                }
            });
        }
        *pumps = Some(set);
    }

    /// Where the table's columns `wanted` are in the scan's output.
    fn positions(&self, wanted: &[usize]) -> DfResult<Vec<usize>> {
        let Some(projection) = &self.projection else { return Ok(wanted.to_vec()) };
        let position = |column: &usize| {
            projection
                .binary_search(column)
                .map_err(|_| DataFusionError::Internal(format!("a shared scan lacks column {column}")))
        };
        wanted.iter().map(position).collect()
    }
}

/// Ends the queues when the last pump is gone: well if all came to their ends.
struct End {
    queues: Vec<Arc<Queue>>,
    missing: AtomicUsize,
}

impl End {
    fn fail(&self, error: &Error) {
        self.queues.iter().for_each(|queue| queue.end(Err(error.clone())));
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if self.missing.load(Ordering::Acquire) == 0 {
            self.queues.iter().for_each(|queue| queue.end(Ok(())));
        } else {
            self.fail(&Error::new("interrupted", "the scan was interrupted"));
        }
    }
}

/// Gives the batches of one partition to all queues, until nobody wants them.
async fn pump(
    scan: Arc<dyn ExecutionPlan>,
    partition: usize,
    context: Arc<TaskContext>,
    queues: &[Arc<Queue>],
) -> DfResult<()> {
    let mut rows = scan.execute(partition, context)?;
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        if batch.num_rows() == 0 {
            continue;
        }
        let mut wanted = false;
        for queue in queues {
            wanted |= queue.push(batch.clone()).await;
        }
        if !wanted {
            break;
        }
    }
    Ok(())
}

/// A consumer's place at a tee. When its last holder goes, the consumer has left.
struct Seat {
    tee: Arc<Tee>,
    number: usize,
    queue: Arc<Queue>,
    use_: Mutex<Use>,
}

/// Which partitions of a consumer run.
#[derive(Default)]
struct Use {
    started: Vec<usize>,
    running: usize,
}

impl Seat {
    fn use_(&self) -> std::sync::MutexGuard<'_, Use> {
        self.use_.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.queue.leave();
    }
}

/// The table as one consumer sees it.
struct Consumer {
    seat: Arc<Seat>,
    schema: SchemaRef,
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Consumer({}, {})", self.seat.tee.name, self.seat.number)
    }
}

#[async_trait]
impl TableProvider for Consumer {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// The plan above filters.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let wanted = projection.unwrap_or(&all);
        let positions = self.seat.tee.positions(wanted)?;
        let schema: SchemaRef = Arc::new(self.schema.project(wanted)?);
        let partitions = state.config().target_partitions().max(1);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Arc::new(SharedScanExec { seat: self.seat.clone(), positions, properties: Arc::new(properties) }))
    }
}

/// A consumer as the leaf of a plan.
pub(super) struct SharedScanExec {
    seat: Arc<Seat>,
    /// Its columns in the tee's batches.
    positions: Vec<usize>,
    properties: Arc<PlanProperties>,
}

impl fmt::Debug for SharedScanExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedScanExec({}, {})", self.seat.tee.name, self.seat.number)
    }
}

impl DisplayAs for SharedScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.schema().fields().iter().map(|field| field.name().clone()).collect();
        write!(f, "SharedScanExec: table={}, projection=[{}]", self.seat.tee.name, names.join(", "))
    }
}

impl ExecutionPlan for SharedScanExec {
    fn name(&self) -> &'static str {
        "SharedScanExec"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, _context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        {
            let mut use_ = self.seat.use_();
            // a second reader would get the rows that the first one misses
            if use_.started.contains(&partition) {
                return Err(DataFusionError::Internal("a shared scan is read twice".to_owned()));
            }
            use_.started.push(partition);
            use_.running += 1;
        }
        let stream = SharedStream {
            seat: self.seat.clone(),
            positions: self.positions.clone(),
            schema: self.schema(),
            partitions: self.properties.output_partitioning().partition_count(),
        };
        self.seat.tee.start();
        Ok(Box::pin(stream))
    }

    fn partition_statistics(&self, partition: Option<usize>) -> DfResult<Statistics> {
        if partition.is_some() {
            return Ok(Statistics::new_unknown(&self.schema()));
        }
        let statistics = self.seat.tee.scan.partition_statistics(None)?;
        Ok(statistics.project(Some(&self.positions)).to_inexact())
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

/// The rows that one partition of a consumer asks for.
struct SharedStream {
    seat: Arc<Seat>,
    positions: Vec<usize>,
    schema: SchemaRef,
    /// How many partitions the consumer has.
    partitions: usize,
}

impl Stream for SharedStream {
    type Item = DfResult<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.seat.queue.poll_next(context).map(|next| {
            next.map(|batch| match batch {
                Ok(batch) => Ok(batch.project(&self.positions)?),
                Err(error) => Err(external(error)),
            })
        })
    }
}

impl RecordBatchStream for SharedStream {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Drop for SharedStream {
    fn drop(&mut self) {
        let mut use_ = self.seat.use_();
        use_.running -= 1;
        let over = use_.running == 0 && use_.started.len() == self.partitions;
        drop(use_);
        if over {
            self.seat.queue.leave();
        }
    }
}
