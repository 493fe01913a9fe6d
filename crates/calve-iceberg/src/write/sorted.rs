//! Rows in the order of a key, on disk where they do not fit into memory.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{ArrayRef, BinaryArray, RecordBatch};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};
use calve_types::{Error, Result};
use datafusion::common::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::{EmptyRecordBatchStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::{Stream, StreamExt};

use crate::error::Context;

/// Rows on their way, without a schema: that of their first batch counts.
pub(crate) type Batches = Pin<Box<dyn Stream<Item = Result<RecordBatch>> + Send>>;

/// The name of the key's column; no statement sees it.
const KEY: &str = "calve.sort-key";

/// Sorts rows by the keys that `keys` gives each batch, within the memory of `context`. The key is a column more, the last
/// one. Rows with equal keys come in any order.
///
/// # Errors
/// Errors of the rows before their first batch; those of later ones, and `out-of-memory` and `io` of spilling, come with the
/// stream.
pub(crate) async fn sorted(
    mut rows: Batches,
    mut keys: impl FnMut(&RecordBatch) -> Result<BinaryArray> + Send + 'static,
    context: &Arc<TaskContext>,
) -> Result<SendableRecordBatchStream> {
    let Some(first) = rows.next().await.transpose()? else {
        return Ok(Box::pin(EmptyRecordBatchStream::new(Arc::new(Schema::empty()))));
    };
    let schema = first.schema();
    let mut fields: Vec<Field> =
        schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
    let key = fields.len();
    fields.push(Field::new(KEY, ArrowType::Binary, false));
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let of_batch = schema.clone();
    let mut with_key = move |batch: RecordBatch| -> Result<RecordBatch> {
        let mut columns = batch.columns().to_vec();
        columns.push(Arc::new(keys(&batch)?) as ArrayRef);
        RecordBatch::try_new(of_batch.clone(), columns).context(|| "sort rows")
    };
    let all = futures::stream::iter([Ok(first)]).chain(rows);
    let all = all.map(move |batch| batch.and_then(&mut with_key).map_err(crate::error::external));
    let stream = Box::pin(RecordBatchStreamAdapter::new(schema.clone(), all));
    let input = Once { schema: schema.clone(), stream: Mutex::new(Some(stream)) };
    let input =
        StreamingTableExec::try_new(schema, vec![Arc::new(input)], None, [], false, None).map_err(|e| failed(&e))?;
    let by = PhysicalSortExpr::new(Arc::new(Column::new(KEY, key)), SortOptions::new(false, true));
    let by = LexOrdering::new([by]).ok_or_else(|| Error::internal("sort rows by no key"))?;
    SortExec::new(by, Arc::new(input)).execute(0, context.clone()).map_err(|e| failed(&e))
}

fn failed(error: &DataFusionError) -> Error {
    Error::internal(format!("cannot sort rows: {error}"))
}

/// The key of a row of [`sorted`], and its batch without the keys.
///
/// # Errors
/// `internal` for other batches.
pub(crate) fn without_key(batch: &RecordBatch) -> Result<(RecordBatch, &BinaryArray)> {
    let key = batch.columns().last().and_then(|column| column.as_any().downcast_ref::<BinaryArray>());
    let key = key.ok_or_else(|| Error::internal("sorted rows without their keys"))?;
    let columns: Vec<usize> = (0..batch.num_columns().saturating_sub(1)).collect();
    Ok((batch.project(&columns).context(|| "take off sort keys")?, key))
}

/// A plan's input that exists once.
struct Once {
    schema: SchemaRef,
    stream: Mutex<Option<SendableRecordBatchStream>>,
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Once")
    }
}

impl PartitionStream for Once {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        stream.unwrap_or_else(|| {
            let again = Err(DataFusionError::Internal("rows are sorted once".to_owned()));
            Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), futures::stream::iter([again])))
        })
    }
}
