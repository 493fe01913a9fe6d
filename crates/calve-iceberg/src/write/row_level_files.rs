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
use super::partition::{Partitioner, split_by};

/// Rows smaller than this, in bytes of memory, go to one writer: one file per partition.
const ONE_WRITER: usize = 32 << 20;

/// Batches on their way to a writer.
const IN_FLIGHT: usize = 3;

/// Writes all rows, whose batches have the columns of `kind`. `job.writers` becomes the number of writers.
///
/// # Errors
/// The rows' or the first writer's; all writers have ended then.
pub(super) async fn write_rows(
    job: &mut Job,
    kind: &Arc<FileKind>,
    mut rows: BoxStream<'static, Result<RecordBatch>>,
) -> Result<Output> {
    let mut head = Vec::new();
    let mut bytes = 0_usize;
    let mut more = true;
    while bytes < ONE_WRITER && more {
        match rows.next().await {
            Some(batch) => {
                let batch = batch?;
                bytes = bytes.saturating_add(batch.get_array_memory_size());
                head.push(batch);
            }
            None => more = false,
        }
    }
    if head.is_empty() {
        return Ok(Output::default());
    }
    job.writers = if more { job.writers.max(1) } else { 1 };
    // the writers hold what the job is; the counts of it do not change any more
    let shared = Arc::new(Job {
        table: job.table.clone(),
        options: job.options.clone(),
        locations: super::location::Locations::new(&job.table)?,
        files: job.files.clone(),
        progress: job.progress.clone(),
        writers: job.writers,
    });
    let rows = futures::stream::iter(head.into_iter().map(Ok)).chain(rows).boxed();
    run(&shared, kind, rows).await
}

async fn run(job: &Arc<Job>, kind: &Arc<FileKind>, rows: BoxStream<'static, Result<RecordBatch>>) -> Result<Output> {
    let mut tasks = JoinSet::new();
    let mut senders = Vec::with_capacity(job.writers);
    for number in 0..job.writers {
        let (sender, mut receiver) = mpsc::channel::<RecordBatch>(IN_FLIGHT);
        senders.push(sender);
        let mut writer = AppendWriter::new(job, kind, number)?;
        tasks.spawn(async move {
            while let Some(batch) = receiver.recv().await {
                writer.write(&batch).await?;
            }
            Ok((number, writer.finish().await?))
        });
    }
    let fed = feed(job, rows, senders).await;
    let mut outputs = Vec::with_capacity(job.writers);
    let mut failed = fed.err();
    if failed.is_some() {
        job.files.close();
        tasks.shutdown().await;
    }
    while let Some(ended) = tasks.join_next().await {
        let ended = ended.unwrap_or_else(|e| Err(Error::internal(format!("a writer ended early: {e}"))));
        match ended {
            Ok(output) => outputs.push(output),
            Err(error) => {
                job.files.close();
                tasks.shutdown().await;
                failed.get_or_insert(error);
            }
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    outputs.sort_unstable_by_key(|(number, _)| *number);
    let mut all = Output::default();
    outputs.into_iter().for_each(|(_, output)| all.extend(output));
    Ok(all)
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
