//! NULL on its way into a NOT NULL column: `table.exec.sink.not-null-enforcer`, as in an INSERT. DROP leaves out the change:
//! a row that would get NULL stays as it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{Array, AsArray, BooleanArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Int8Type;
use arrow::record_batch::RecordBatch;
use calve_planner::{Change, ChangeOp};
use calve_types::Error;
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::TryStreamExt;

use crate::error::external;
use crate::not_null::null_error;

/// Checks the values of changes.
pub(super) fn enforce(
    changes: SendableRecordBatchStream,
    change: &Change,
    drop: bool,
    dropped: Arc<AtomicU64>,
) -> SendableRecordBatchStream {
    if change.not_null.is_empty() {
        return changes;
    }
    let physical: Vec<&str> = change.table.physical_columns().map(|c| c.name.as_str()).collect();
    let named = |column: &usize| Some((Change::VALUES + *column, (*physical.get(*column)?).to_owned()));
    let columns: Vec<(usize, String)> = change.not_null.iter().filter_map(named).collect();
    let schema = changes.schema();
    let checked = changes.and_then(move |batch| {
        let result = check(batch, &columns, drop, &dropped);
        async move { result }
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, checked))
}

fn check(
    batch: RecordBatch,
    columns: &[(usize, String)],
    drop: bool,
    dropped: &AtomicU64,
) -> Result<RecordBatch, DataFusionError> {
    let wrong = || external(Error::internal("changes of another shape"));
    let ops = batch.columns().get(Change::OP).and_then(|c| c.as_primitive_opt::<Int8Type>()).ok_or_else(wrong)?;
    let mut keep: Option<Vec<bool>> = None;
    for (column, name) in columns {
        let values = batch.columns().get(*column).ok_or_else(wrong)?;
        let Some(nulls) = values.logical_nulls() else { continue };
        for (row, op) in ops.values().iter().enumerate() {
            if nulls.is_valid(row) || *op == ChangeOp::Delete as i8 {
                continue;
            }
            if !drop {
                return Err(external(null_error(name)));
            }
            let kept = keep.get_or_insert_with(|| vec![true; batch.num_rows()]);
            if let Some(kept) = kept.get_mut(row) {
                *kept = false;
            }
        }
    }
    let Some(keep) = keep else { return Ok(batch) };
    let kept = filter_record_batch(&batch, &BooleanArray::from(keep))?;
    dropped.fetch_add((batch.num_rows() - kept.num_rows()) as u64, Ordering::Relaxed);
    Ok(kept)
}
