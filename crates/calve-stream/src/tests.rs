//! Operators over small batches. Changelogs are those that Flink 2.1 gives for the query in each test's comment.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int8Array, Int32Array, RecordBatch};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::min_max::max_udaf;
use datafusion::physical_plan::{ExecutionPlan, collect};

use crate::aggregate::{Argument, Call, GroupAggregate};
use crate::exec::StreamExec;
use crate::join::{Input, Join, JoinKind};
use crate::op::Op;
use crate::operator::Operator;
use crate::settle::Settle;
use crate::top::TopN;

type Change = (i8, Vec<i32>);

fn schema(width: usize, changes: bool) -> SchemaRef {
    let mut fields: Vec<Field> = (0..width).map(|i| Field::new(format!("c{i}"), DataType::Int32, true)).collect();
    if changes {
        fields.push(Op::field());
    }
    Arc::new(Schema::new(fields))
}

/// Rows as a plan, so many in a batch.
fn source(width: usize, rows: &[Change], changes: bool, size: usize) -> Arc<dyn ExecutionPlan> {
    let schema = schema(width, changes);
    let batch = |rows: &[Change]| {
        let column = |i: usize| Arc::new(Int32Array::from_iter_values(rows.iter().map(|(_, row)| row[i]))) as ArrayRef;
        let mut columns: Vec<ArrayRef> = (0..width).map(column).collect();
        if changes {
            columns.push(Arc::new(Int8Array::from_iter_values(rows.iter().map(|(op, _)| *op))));
        }
        RecordBatch::try_new(schema.clone(), columns).unwrap()
    };
    let batches: Vec<RecordBatch> = rows.chunks(size.max(1)).map(batch).collect();
    MemorySourceConfig::try_new_exec(&[batches], schema, None).unwrap()
}

/// `+I[1, 2]` for each change; NULL is `_`.
async fn run(operator: impl Operator + 'static, inputs: Vec<Arc<dyn ExecutionPlan>>) -> Vec<String> {
    let width = operator.schema().fields().len();
    let changes = operator.schema().fields().last().is_some_and(|f| f.data_type() == &DataType::Int8);
    let plan = Arc::new(StreamExec::new(Arc::new(operator), inputs));
    let batches = collect(plan, Arc::new(TaskContext::default())).await.unwrap();
    let mut shown = vec![];
    for batch in &batches {
        for row in 0..batch.num_rows() {
            let ops = crate::op::Ops::new(batch, changes.then_some(width - 1)).unwrap();
            let values: Vec<String> = batch.columns()[..width - usize::from(changes)]
                .iter()
                .map(|c| if c.is_null(row) { "_".to_owned() } else { text(c, row) })
                .collect();
            shown.push(format!("{}[{}]", ops.get(row).unwrap(), values.join(", ")));
        }
    }
    shown
}

fn text(column: &ArrayRef, row: usize) -> String {
    arrow::util::display::array_value_to_string(column, row).unwrap()
}

fn added(rows: &[&[i32]]) -> Vec<Change> {
    rows.iter().map(|row| (0, row.to_vec())).collect()
}

fn call(function: Arc<datafusion::logical_expr::AggregateUDF>, column: usize, returns: DataType) -> Call {
    let args = vec![Argument::Column(column)];
    Call { function, args, distinct: false, filter: None, ignore_nulls: false, returns }
}

fn aggregate(input: SchemaRef, op: Option<usize>, keys: Vec<usize>, calls: Vec<Call>) -> GroupAggregate {
    let schema = GroupAggregate::schema(&input, op, &keys, &calls).unwrap();
    GroupAggregate { input, op, keys, calls, schema, shown: String::new() }
}

/// `SELECT c, COUNT(*) FROM (SELECT g, COUNT(*) AS c .. GROUP BY g) GROUP BY c` over the groups a, b, a.
#[tokio::test]
async fn an_aggregate_takes_rows_back() {
    // g, c
    let changes = [(0, vec![1, 1]), (0, vec![2, 1]), (1, vec![1, 1]), (2, vec![1, 2]), (3, vec![1, 2])];
    for size in [1, 2, 9] {
        let operator = aggregate(schema(2, true), Some(2), vec![1], vec![call(count_udaf(), 0, DataType::Int64)]);
        let got = run(operator, vec![source(2, &changes, true, size)]).await;
        assert_eq!(got, ["+I[1, 1]", "-U[1, 1]", "+U[1, 2]", "-U[1, 2]", "+U[1, 1]", "+I[2, 1]", "-D[2, 1]"]);
    }
}

#[tokio::test]
async fn the_greatest_value_goes_and_the_next_is_there() {
    let changes =
        [(0, vec![1, 5]), (0, vec![1, 7]), (0, vec![1, 7]), (3, vec![1, 7]), (3, vec![1, 7]), (3, vec![1, 5])];
    let operator = aggregate(schema(2, true), Some(2), vec![0], vec![call(max_udaf(), 1, DataType::Int32)]);
    let got = run(operator, vec![source(2, &changes, true, 4)]).await;
    assert_eq!(got, ["+I[1, 5]", "-U[1, 5]", "+U[1, 7]", "-U[1, 7]", "+U[1, 5]", "-D[1, 5]"]);
}

#[tokio::test]
async fn without_calls_and_changes_rows_are_only_added() {
    let operator = aggregate(schema(1, false), None, vec![0], vec![]);
    let got = run(operator, vec![source(1, &added(&[&[1], &[1], &[2]]), false, 2)]).await;
    assert_eq!(got, ["+I[1]", "+I[2]"]);
}

fn top(op: Option<usize>, range: (u64, u64), numbered: bool) -> TopN {
    TopN {
        input: schema(2, op.is_some()),
        width: 2,
        op,
        partition: vec![0],
        order: vec![(1, SortOptions { descending: true, nulls_first: false })],
        start: range.0,
        end: range.1,
        numbered,
        adds_only: false,
    }
}

/// `ROW_NUMBER() OVER (PARTITION BY g ORDER BY x DESC) <= n` over 1, 3, 2.
#[tokio::test]
async fn the_first_rows_of_a_partition() {
    let rows = added(&[&[1, 1], &[1, 3], &[1, 2]]);
    let run_top = |range, numbered| run(top(None, range, numbered), vec![source(2, &rows, false, 2)]);
    assert_eq!(run_top((1, 1), false).await, ["+I[1, 1]", "-U[1, 1]", "+U[1, 3]"]);
    assert_eq!(
        run_top((1, 2), true).await,
        ["+I[1, 1, 1]", "-U[1, 1, 1]", "+U[1, 3, 1]", "+I[1, 1, 2]", "-U[1, 1, 2]", "+U[1, 2, 2]"]
    );
    assert_eq!(run_top((1, 2), false).await, ["+I[1, 1]", "+I[1, 3]", "-D[1, 1]", "+I[1, 2]"]);
    assert_eq!(run_top((2, 2), false).await, ["+I[1, 1]", "-U[1, 1]", "+U[1, 2]"]);
}

#[tokio::test]
async fn first_rows_that_are_taken_back() {
    let changes =
        [(0, vec![1, 1]), (0, vec![1, 3]), (0, vec![1, 2]), (3, vec![1, 3]), (3, vec![1, 1]), (3, vec![1, 9])];
    let got = run(top(Some(2), (1, 2), false), vec![source(2, &changes, true, 3)]).await;
    assert_eq!(got, ["+I[1, 1]", "+I[1, 3]", "-D[1, 1]", "+I[1, 2]", "-D[1, 3]", "+I[1, 1]", "-D[1, 1]"]);
}

fn join(kind: JoinKind, changes: bool) -> Join {
    let input = Input { schema: schema(2, changes), width: 2, op: changes.then_some(2), keys: vec![0] };
    Join { kind, inputs: [input.clone(), input], null_safe: vec![false], condition: None }
}

#[tokio::test]
async fn a_row_of_an_outer_side_waits_for_partners() {
    // the right side is read first
    let (left, right) = ([(0, vec![1, 10]), (3, vec![1, 10])], [(0, vec![1, 5]), (0, vec![2, 6])]);
    let inputs = || vec![source(2, &left, true, 1), source(2, &right, true, 1)];
    assert_eq!(
        run(join(JoinKind::Full, true), inputs()).await,
        ["+I[_, _, 1, 5]", "-D[_, _, 1, 5]", "+I[1, 10, 1, 5]", "+I[_, _, 2, 6]", "-D[1, 10, 1, 5]", "+I[_, _, 1, 5]"]
    );
    assert_eq!(run(join(JoinKind::Semi, true), inputs()).await, ["+I[1, 10]", "-D[1, 10]"]);
    assert_eq!(run(join(JoinKind::Anti, true), inputs()).await, Vec::<String>::new());
}

#[tokio::test]
async fn equal_rows_of_a_side_count_each() {
    let (left, right) = (added(&[&[1, 10], &[1, 10]]), [(0, vec![1, 5]), (3, vec![1, 5])]);
    let changes = |rows: &[Change]| source(2, rows, true, 9);
    let got = run(join(JoinKind::Left, true), vec![changes(&left), changes(&right)]).await;
    assert_eq!(got, ["+I[1, 10, _, _]", "+I[1, 10, _, _]"]);
    let got = run(join(JoinKind::Inner, false), vec![source(2, &left, false, 1), source(2, &left, false, 1)]).await;
    assert_eq!(got, vec!["+I[1, 10, 1, 10]"; 4]);
}

#[tokio::test]
async fn what_is_left_for_each_key() {
    let changes =
        [(0, vec![1, 1]), (0, vec![2, 5]), (0, vec![1, 2]), (1, vec![1, 2]), (3, vec![2, 5]), (0, vec![3, 3])];
    let operator = Settle { schema: schema(2, true), keys: vec![0] };
    let got = run(operator, vec![source(2, &changes, true, 2)]).await;
    assert_eq!(got, ["+I[1, 1]", "+I[3, 3]", "-D[2, 5]"]);
}

#[tokio::test]
async fn state_is_charged_to_the_memory_pool() {
    let rows: Vec<Change> = (0..10_000).map(|i| (0, vec![i, i])).collect();
    let operator = Arc::new(top(None, (1, 3), false));
    let plan = Arc::new(StreamExec::new(operator, vec![source(2, &rows, false, 100)]));
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(GreedyMemoryPool::new(100_000))).build().unwrap();
    let task = TaskContext::default().with_runtime(Arc::new(runtime));
    let error = collect(plan, Arc::new(task)).await.unwrap_err();
    let datafusion::common::DataFusionError::External(error) = error else { panic!("{error}") };
    let error = error.downcast::<calve_types::Error>().unwrap();
    assert!(error.code == "out-of-memory" && error.hint.as_ref().unwrap().contains("batch mode"), "{error}");
}
