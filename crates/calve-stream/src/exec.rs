//! Runs an operator.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::SortOptions;
use calve_types::Error;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
};
use futures::{StreamExt, stream};

use crate::operator::{Operator, Running, internal};

/// An operator over its inputs, in one partition.
#[derive(Debug)]
pub struct StreamExec {
    operator: Arc<dyn Operator>,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    properties: Arc<PlanProperties>,
}

impl StreamExec {
    /// The operator over these inputs.
    pub fn new(operator: Arc<dyn Operator>, inputs: Vec<Arc<dyn ExecutionPlan>>) -> Self {
        let unbounded = inputs.iter().map(|i| i.boundedness()).find(|b| *b != Boundedness::Bounded);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(operator.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            unbounded.unwrap_or(Boundedness::Bounded),
        );
        Self { operator, inputs, properties: Arc::new(properties) }
    }
}

impl DisplayAs for StreamExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.operator.name(), self.operator.describe())
    }
}

impl ExecutionPlan for StreamExec {
    fn name(&self) -> &str {
        self.operator.name()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition; self.inputs.len()]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        let key = |(column, options): &(usize, SortOptions)| {
            let name = self.inputs.first().and_then(|i| i.schema().fields().get(*column).map(|f| f.name().clone()));
            PhysicalSortExpr::new(Arc::new(Column::new(&name.unwrap_or_default(), *column)), *options)
        };
        let order = LexOrdering::new(self.operator.order().iter().map(key)).map(OrderingRequirements::from);
        (0..self.inputs.len()).map(|input| order.clone().filter(|_| input == 0)).collect()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::new(self.operator.clone(), children)))
    }

    fn execute(&self, partition: usize, task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return Err(internal("a streaming operator has one partition"));
        }
        let inputs = self.inputs.iter().map(|i| i.execute(0, task.clone())).collect::<Result<Vec<_>>>()?;
        let work = Work {
            running: self.operator.start(&task)?,
            inputs: if self.operator.reads_last_first() {
                inputs.into_iter().enumerate().rev().collect()
            } else {
                inputs.into_iter().enumerate().collect()
            },
            rest: None,
            out: VecDeque::new(),
            memory: MemoryConsumer::new(self.operator.name()).register(task.memory_pool()),
        };
        let rows =
            stream::try_unfold(work, |mut work| async move { Ok(work.next().await?.map(|batch| (batch, work))) });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}

/// The state of a stream does not spill.
fn out_of_memory(error: DataFusionError) -> DataFusionError {
    let error = Error::new("out-of-memory", "the statement needs more memory than it may have")
        .with_detail(error.strip_backtrace())
        .with_hint(
            "run it in batch mode, which spills to disk: SET 'execution.runtime-mode' = 'batch'; or give it more with \
             --memory-limit",
        );
    DataFusionError::External(Box::new(error))
}

/// An operator and what it reads.
struct Work {
    running: Box<dyn Running>,
    /// The inputs that have not ended, the next to read first.
    inputs: VecDeque<(usize, SendableRecordBatchStream)>,
    /// Rows of an input that the operator has not taken yet.
    rest: Option<(usize, RecordBatch)>,
    out: VecDeque<RecordBatch>,
    memory: MemoryReservation,
}

impl Work {
    /// The next batch. Inputs are read in turn, a batch of each, so that the same inputs always give the same changelog.
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            while let Some(batch) = self.out.pop_front() {
                if batch.num_rows() > 0 {
                    return Ok(Some(batch));
                }
            }
            if self.running.is_done() {
                self.inputs.clear();
                return Ok(None);
            }
            let mut out = vec![];
            if let Some((number, batch)) = self.rest.take() {
                self.take(number, batch, &mut out)?;
            } else {
                let Some((number, mut input)) = self.inputs.pop_front() else { return Ok(None) };
                match input.next().await.transpose()? {
                    Some(batch) => {
                        self.inputs.push_back((number, input));
                        self.take(number, batch, &mut out)?;
                    }
                    None => self.running.end(number, &mut out)?,
                }
            }
            let waiting: usize = out.iter().map(RecordBatch::get_array_memory_size).sum();
            self.memory.try_resize(self.running.size().saturating_add(waiting)).map_err(out_of_memory)?;
            self.out.extend(out);
            give_way().await;
        }
    }

    fn take(&mut self, number: usize, batch: RecordBatch, out: &mut Vec<RecordBatch>) -> Result<()> {
        let rows = batch.num_rows();
        if rows == 0 {
            return Ok(());
        }
        let taken = self.running.rows(number, &batch, out)?.clamp(1, rows);
        if taken < rows {
            self.rest = Some((number, batch.slice(taken, rows - taken)));
        }
        Ok(())
    }
}

/// Lets other tasks of the thread run, and a cancelled one end.
async fn give_way() {
    let mut polled = false;
    futures::future::poll_fn(|context| {
        if polled {
            return std::task::Poll::Ready(());
        }
        polled = true;
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
