#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{AsArray, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use calve_types::Error;
use datafusion::common::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::{StreamExt, stream};

use super::shared_scan::Tee;

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("s", DataType::Utf8, false),
        Field::new("twice", DataType::Int64, false),
    ]))
}

/// Numbers `from..to`, one in each batch; then perhaps an error.
#[derive(Debug)]
struct Numbers {
    from: i64,
    to: i64,
    fails: bool,
    schema: SchemaRef,
    /// Held while it runs.
    alive: Arc<()>,
}

impl PartitionStream for Numbers {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (schema, alive) = (self.schema.clone(), self.alive.clone());
        let rows = (self.from..self.to).map(move |id| {
            let _ = &alive;
            Ok(RecordBatch::try_new(
                schema.clone(),
                vec![
                    Arc::new(Int64Array::from(vec![id])),
                    Arc::new(StringArray::from(vec![id.to_string()])),
                    Arc::new(Int64Array::from(vec![2 * id])),
                ],
            )?)
        });
        let error = self.fails.then(|| Err(DataFusionError::External(Box::new(Error::new("bad-row", "a bad row")))));
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), stream::iter(rows.chain(error))))
    }
}

/// A scan of columns `id` and `twice` with numbers in these ranges, one partition for each.
fn tee(ranges: &[(i64, i64)], fails: bool, consumers: usize) -> (Arc<Tee>, Arc<()>) {
    let alive = Arc::new(());
    let partitions = ranges
        .iter()
        .map(|(from, to)| {
            let (schema, alive) = (schema(), alive.clone());
            Arc::new(Numbers { from: *from, to: *to, fails, schema, alive }) as Arc<dyn PartitionStream>
        })
        .collect();
    let scan = StreamingTableExec::try_new(schema(), partitions, Some(&vec![0, 2]), vec![], false, None).unwrap();
    let context = SessionContext::new().task_ctx();
    (Tee::new("t".to_owned(), Some(vec![0, 2]), Arc::new(scan), context, consumers), alive)
}

/// The plan of a consumer that reads column `twice` in this many partitions.
async fn consumer(tee: &Arc<Tee>, number: usize, partitions: usize) -> Arc<dyn ExecutionPlan> {
    let provider = tee.consumer(number, schema()).unwrap();
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(partitions));
    provider.scan(&context.state(), Some(&vec![2]), &[], None).await.unwrap()
}

fn execute(plan: &Arc<dyn ExecutionPlan>, partition: usize) -> SendableRecordBatchStream {
    plan.execute(partition, SessionContext::new().task_ctx()).unwrap()
}

async fn drain(mut rows: SendableRecordBatchStream) -> Result<Vec<i64>, DataFusionError> {
    let mut all = vec![];
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        assert_eq!(batch.schema().field(0).name(), "twice");
        all.extend(batch.column(0).as_primitive::<Int64Type>().values());
    }
    Ok(all)
}

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(10), future).await.expect("it hangs")
}

fn doubled(to: i64) -> Vec<i64> {
    (0..to).map(|n| 2 * n).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_consumer_gets_every_row_in_order() {
    let (tee, _) = tee(&[(0, 1000)], false, 3);
    let mut tasks = vec![];
    for number in 0..3 {
        let rows = execute(&consumer(&tee, number, 1).await, 0);
        tasks.push(tokio::spawn(drain(rows)));
    }
    for task in tasks {
        assert_eq!(in_time(task).await.unwrap().unwrap(), doubled(1000));
    }
}

/// One drains its first partition to the end before it looks at the second, the other the other way round.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partitions_may_be_drained_in_any_order() {
    let (tee, _) = tee(&[(0, 500), (500, 1000)], false, 2);
    let (a, b) = (consumer(&tee, 0, 2).await, consumer(&tee, 1, 2).await);
    let both = async |plan: Arc<dyn ExecutionPlan>, order: [usize; 2]| {
        let mut rows = vec![];
        let streams = order.map(|partition| execute(&plan, partition));
        for stream in streams {
            rows.extend(drain(stream).await.unwrap());
        }
        rows.sort_unstable();
        rows
    };
    let (a, b) = in_time(async { tokio::join!(both(a, [0, 1]), both(b, [1, 0])) }).await;
    assert_eq!((a, b), (doubled(1000), doubled(1000)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_consumer_that_is_gone_is_passed_over() {
    let (tee, _) = tee(&[(0, 1000)], false, 3);
    // one never begins, one ends early
    drop(consumer(&tee, 0, 1).await);
    let mut early = execute(&consumer(&tee, 1, 1).await, 0);
    let all = execute(&consumer(&tee, 2, 1).await, 0);
    let all = tokio::spawn(drain(all));
    early.next().await.unwrap().unwrap();
    drop(early);
    assert_eq!(in_time(all).await.unwrap().unwrap(), doubled(1000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_is_kept_holds_nobody_up_once_its_streams_are_gone() {
    let (tee, _) = tee(&[(0, 1000)], false, 2);
    let kept = consumer(&tee, 0, 2).await;
    let streams = [execute(&kept, 0), execute(&kept, 1)];
    drop(streams);
    let rows = in_time(drain(execute(&consumer(&tee, 1, 1).await, 0))).await;
    assert_eq!(rows.unwrap(), doubled(1000));
    drop(kept);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_reaches_every_consumer() {
    let (tee, _) = tee(&[(0, 10), (10, 20)], true, 2);
    let (a, b) = (execute(&consumer(&tee, 0, 1).await, 0), execute(&consumer(&tee, 1, 1).await, 0));
    let (a, b) = in_time(async { tokio::join!(drain(a), drain(b)) }).await;
    for rows in [a, b] {
        assert_eq!(crate::error::from_datafusion(rows.unwrap_err()).code, "bad-row");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_reader_of_a_partition_is_refused() {
    let (tee, _) = tee(&[(0, 10)], false, 1);
    let plan = consumer(&tee, 0, 1).await;
    let first = execute(&plan, 0);
    assert!(plan.execute(0, SessionContext::new().task_ctx()).is_err());
    assert_eq!(in_time(drain(first)).await.unwrap(), doubled(10));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_scan_ends_with_its_last_consumer() {
    let (tee, alive) = tee(&[(0, i64::MAX)], false, 2);
    let (mut a, b) = (execute(&consumer(&tee, 0, 1).await, 0), execute(&consumer(&tee, 1, 1).await, 0));
    drop(tee);
    in_time(a.next()).await.unwrap().unwrap();
    drop((a, b));
    let ended = async {
        while Arc::strong_count(&alive) > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    in_time(ended).await;
}
