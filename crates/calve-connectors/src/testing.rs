//! Tables of the tests: read and written through the crate's own functions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::{Arc, Mutex};

use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;
use calve_functions::{EvalContext, cast_to_string};
use calve_types::{DataType, Result, arrow as mapping};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionContext;

use crate::{ConnectorContext, Pending, SinkMode, TableDefinition, from_datafusion, sink, source};

pub(crate) fn table(connector: &str, columns: &[(&str, DataType)], options: &[(&str, &str)]) -> TableDefinition {
    let mut all: std::collections::BTreeMap<String, String> =
        options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    all.insert("connector".to_owned(), connector.to_owned());
    TableDefinition {
        name: "c.d.t".to_owned(),
        columns: columns.iter().map(|(n, t)| ((*n).to_owned(), t.clone())).collect(),
        partition_keys: Vec::new(),
        options: all,
    }
}

/// A context whose print lines are kept.
pub(crate) fn context() -> (ConnectorContext, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = lines.clone();
    let print = Arc::new(move |line| kept.lock().unwrap().push(line));
    (ConnectorContext { eval: EvalContext::default(), print, batch: false }, lines)
}

/// Some columns of a table's rows.
pub(crate) async fn read_batches(table: &TableDefinition, projection: Option<Vec<usize>>) -> Result<Vec<RecordBatch>> {
    let provider = source(table, &context().0)?;
    let session = SessionContext::new();
    let state = session.state();
    let plan = provider.scan(&state, projection.as_ref(), &[], None).await.map_err(from_datafusion)?;
    datafusion::physical_plan::collect(plan, session.task_ctx()).await.map_err(from_datafusion)
}

/// A table's rows as Flink prints them; NULL is `<NULL>`.
pub(crate) async fn read(table: &TableDefinition) -> Result<Vec<Vec<String>>> {
    let batches = read_batches(table, None).await?;
    let types: Vec<DataType> = table.columns.iter().map(|(_, t)| t.clone()).collect();
    Ok(batches.iter().flat_map(|batch| texts(batch, &types)).collect())
}

pub(crate) fn texts(batch: &RecordBatch, types: &[DataType]) -> Vec<Vec<String>> {
    let columns: Vec<_> = batch
        .columns()
        .iter()
        .zip(types)
        .map(|(array, t)| cast_to_string(array, t, &EvalContext::default()).unwrap())
        .collect();
    (0..batch.num_rows())
        .map(|row| {
            columns
                .iter()
                .map(|c| c.iter().nth(row).flatten().map_or_else(|| "<NULL>".to_owned(), str::to_owned))
                .collect()
        })
        .collect()
}

/// Rows for a table's sink.
pub(crate) fn stream(table: &TableDefinition, batches: Vec<RecordBatch>) -> SendableRecordBatchStream {
    let fields: Vec<_> = table.columns.iter().map(|(n, t)| mapping::field(n, t).unwrap()).collect();
    let stream = futures::stream::iter(batches.into_iter().map(Ok));
    Box::pin(RecordBatchStreamAdapter::new(Arc::new(Schema::new(fields)), stream))
}

/// Writes rows that nobody sees yet.
pub(crate) async fn write(
    table: &TableDefinition,
    mode: SinkMode,
    batches: Vec<RecordBatch>,
    context: &ConnectorContext,
) -> Result<Box<dyn Pending>> {
    sink(table, mode, context)?.write(stream(table, batches)).await
}
