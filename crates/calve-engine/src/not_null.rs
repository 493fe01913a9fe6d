//! NULL on its way into a NOT NULL column: `table.exec.sink.not-null-enforcer`. A function whose type says NOT NULL may give
//! NULL all the same, as in Flink (a DECIMAL overflow, for one).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{Array, BooleanArray};
use arrow::compute::{and, filter_record_batch, is_not_null};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use calve_types::Error;
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::TryStreamExt;

use crate::error::external;

/// Checks `columns` of every batch and gives the rows the table's own `schema`, and the column of changes behind it if there
/// is one.
pub(crate) fn enforce(
    input: SendableRecordBatchStream,
    schema: SchemaRef,
    columns: Vec<usize>,
    drop: bool,
    dropped: Arc<AtomicU64>,
) -> SendableRecordBatchStream {
    let mut fields = schema.fields().to_vec();
    fields.extend(input.schema().fields().iter().skip(fields.len()).cloned());
    let schema = Arc::new(Schema::new(fields));
    let target = schema.clone();
    let checked = input.and_then(move |batch| {
        let result = check(&batch, &target, &columns, drop, &dropped);
        async move { result }
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, checked))
}

fn check(
    batch: &RecordBatch,
    schema: &SchemaRef,
    columns: &[usize],
    drop: bool,
    dropped: &AtomicU64,
) -> Result<RecordBatch, DataFusionError> {
    let mut keep: Option<BooleanArray> = None;
    for &column in columns {
        let array = batch.column(column);
        if array.logical_null_count() == 0 {
            continue;
        }
        let name = schema.field(column).name();
        if !drop {
            return Err(external(null_error(name)));
        }
        let valid = is_not_null(array)?;
        keep = Some(match keep {
            Some(keep) => and(&keep, &valid)?,
            None => valid,
        });
    }
    let kept = match keep {
        Some(keep) => filter_record_batch(batch, &keep)?,
        None => batch.clone(),
    };
    dropped.fetch_add((batch.num_rows() - kept.num_rows()) as u64, Ordering::Relaxed);
    Ok(RecordBatch::try_new(schema.clone(), kept.columns().to_vec())?)
}

pub(crate) fn null_error(column: &str) -> Error {
    Error::new("null-in-not-null", format!("column '{column}' is NOT NULL, and a row has NULL in it"))
        .with_detail(format!(
            "Column '{column}' is NOT NULL, however, a null value is being written into it. You can set job \
             configuration 'table.exec.sink.not-null-enforcer'='DROP' to suppress this exception and drop such records \
             silently."
        ))
        .with_hint("filter the rows, or SET 'table.exec.sink.not-null-enforcer' = 'DROP' to leave them out")
}
