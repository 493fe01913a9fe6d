//! Decoders trust what they read, and some panic on a damaged file. Here that is an error with the file's name.

use std::panic::AssertUnwindSafe;

use arrow::array::RecordBatch;
use calve_types::Result;
use datafusion::common::Result as DfResult;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use iceberg::spec::DataFile;

use super::external;
use super::reader::unreadable;

const DAMAGED: &str = "it is damaged";

/// What `work` on a file gives.
///
/// # Errors
/// Those of `work`; `io`, naming the file, if it panics.
pub(crate) async fn guarded<T>(file: &DataFile, work: impl Future<Output = Result<T>>) -> Result<T> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(unreadable(file, &DAMAGED)))
}

/// The batches of a file; one that panics is an error, and the last.
pub(crate) fn guarded_batches(
    file: DataFile,
    batches: BoxStream<'static, DfResult<RecordBatch>>,
) -> BoxStream<'static, DfResult<RecordBatch>> {
    let batches = AssertUnwindSafe(batches).catch_unwind();
    batches.map(move |batch| batch.unwrap_or_else(|_| Err(external(unreadable(&file, &DAMAGED))))).boxed()
}
