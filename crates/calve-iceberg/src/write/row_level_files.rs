//! Rows to data files, by one writer, or by several where there are many rows.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::RecordBatch;
use calve_types::{Error, Result};
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::append::AppendWriter;
use super::file::FileKind;
use super::job::Job;
use super::output::Output;
use super::overflow::Overflow;
use super::partition::{Partitioner, split_by};
use super::route::{outputs, size};
use super::sort_key::SortKey;

/// Rows smaller than this, in bytes of memory, go to one writer: one file per partition.
const ONE_WRITER: usize = 32 << 20;

/// Batches on their way to a writer.
const IN_FLIGHT: usize = 3;

/// Writes all rows, whose batches have the columns of `kind`, by at most `job.writers` writers. Rows of partitions for which
/// no file may be opened are put aside, see [`Overflow`].
///
/// # Errors
/// The rows' or the first writer's; all writers have ended then.
pub(super) async fn write_rows(
    job: &Arc<Job>,
    kind: &Arc<FileKind>,
    mut rows: BoxStream<'static, Result<RecordBatch>>,
) -> Result<Output> {
    let mut head = Vec::new();
    let mut bytes = 0_usize;
    let mut more = true;
    let memory = job.reserve("the first rows of a table", false);
    while bytes < ONE_WRITER && memory.try_resize(bytes).is_ok() && more {
        match rows.next().await {
            Some(batch) => {
                let batch = batch?;
                bytes = bytes.saturating_add(size(&batch));
                head.push(batch);
            }
            None => more = false,
        }
    }
    if head.is_empty() {
        return Ok(Output::default());
    }
    let writers = if more { job.writers.max(1) } else { 1 };
    let rows = futures::stream::iter(head.into_iter().map(Ok)).chain(rows).boxed();
    let mut tasks = JoinSet::new();
    let mut senders = Vec::with_capacity(writers);
    for number in 0..writers {
        let (sender, mut receiver) = mpsc::channel::<RecordBatch>(IN_FLIGHT);
        senders.push(sender);
        let overflow = SortKey::of_partitions(job.table.metadata())?.map(|key| Overflow::new(key, &job.context));
        let mut writer = AppendWriter::new(job, kind, number)?.with_overflow(overflow);
        let work = async move {
            while let Some(batch) = receiver.recv().await {
                writer.write(&batch).await?;
            }
            writer.finish().await
        };
        tasks.spawn(async move { (number, work.await) });
    }
    let fed = feed(job, rows, senders).await;
    outputs(job, fed, tasks).await
}

/// Gives all rows to the writers: those of a partition to one, else in turn. A writer that is gone ends it early.
async fn feed(
    job: &Job,
    mut rows: BoxStream<'static, Result<RecordBatch>>,
    senders: Vec<mpsc::Sender<RecordBatch>>,
) -> Result<()> {
    let metadata = job.table.metadata();
    let mut partitioner: Option<Partitioner> = match metadata.default_partition_spec().is_unpartitioned() {
        true => None,
        false => Some(job.partitioner()?),
    };
    let count = senders.len().max(1);
    let mut turn = 0;
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        job.progress.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        let parts = match &mut partitioner {
            Some(partitioner) if count > 1 => {
                let mut numbers = partitioner.assign(batch.columns(), batch.num_rows())?;
                numbers.iter_mut().for_each(|number| *number %= count);
                split_by(&batch, &numbers)?.into_iter().map(|part| (part.number, part.rows)).collect()
            }
            _ => {
                turn = (turn + 1) % count;
                vec![(turn, batch)]
            }
        };
        for (writer, rows) in parts {
            let sender = senders.get(writer).ok_or_else(|| Error::internal("unknown writer"))?;
            if sender.send(rows).await.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}
