//! Rows of more partitions than files may be open: they are sorted by partition, on disk where they do not fit into
//! memory, and written when all of them are known, so that no partition gets more files than it needs.

use std::sync::Arc;

use arrow::array::RecordBatch;
use calve_types::{Error, Result};
use datafusion::execution::TaskContext;
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::route::from_input;
use super::sort_key::SortKey;
use super::sorted::{Batches, sorted, without_key};

/// Batches on their way to the sort.
const IN_FLIGHT: usize = 2;

/// See the module.
pub(crate) struct Overflow {
    /// The order of partitions, until there is a row.
    by: Option<(SortKey, Arc<TaskContext>)>,
    rows: Option<mpsc::Sender<RecordBatch>>,
    sorting: JoinSet<Result<Batches>>,
}

impl Overflow {
    /// `key` orders rows by partition.
    pub(crate) fn new(key: SortKey, context: &Arc<TaskContext>) -> Self {
        Self { by: Some((key, context.clone())), rows: None, sorting: JoinSet::new() }
    }

    /// Takes rows of whatever partition.
    ///
    /// # Errors
    /// As [`sorted`].
    pub(crate) async fn add(&mut self, rows: RecordBatch) -> Result<()> {
        if let Some((key, context)) = self.by.take() {
            let (sender, receiver) = mpsc::channel(IN_FLIGHT);
            self.rows = Some(sender);
            self.sorting.spawn(async move { sort(key, receiver, &context).await });
        }
        let gone = match &self.rows {
            Some(sender) => sender.send(rows).await.is_err(),
            None => true,
        };
        if gone {
            // the sort says why, or its first batch
            self.take().await?.next().await.transpose()?;
            return Err(Error::internal("a sort of rows by partition ended early"));
        }
        Ok(())
    }

    /// The rows, partition by partition.
    ///
    /// # Errors
    /// As [`sorted`]; also with the stream.
    pub(crate) async fn take(&mut self) -> Result<Batches> {
        self.rows = None;
        match self.sorting.join_next().await {
            Some(ended) => ended.map_err(|e| Error::internal(format!("a sort of rows ended early: {e}")))?,
            None => Ok(Box::pin(futures::stream::empty())),
        }
    }
}

/// Ends when all rows are in order.
async fn sort(key: SortKey, rows: mpsc::Receiver<RecordBatch>, context: &Arc<TaskContext>) -> Result<Batches> {
    let rows = futures::stream::unfold(rows, |mut rows| async move { Some((Ok(rows.recv().await?), rows)) });
    let mut rows = sorted(Box::pin(rows), move |rows| key.keys(rows), context).await?;
    // asked for its first batch, a sort takes all rows
    let first = rows.next().await;
    let all = futures::stream::iter(first).chain(rows);
    Ok(Box::pin(all.map(|rows| Ok(without_key(&rows.map_err(from_input)?)?.0))))
}
