//! Rows to writer tasks.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::{Array, RecordBatch};
use calve_types::{Error, Result};
use datafusion::common::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::append::AppendWriter;
use super::change::{Changes, split_changes, take_changes};
use super::delta::DeltaWriter;
use super::file::FileKind;
use super::job::Job;
use super::keys::{KeyEncoder, Keys};
use super::memory::reserve;
use super::options::DistributionMode;
use super::output::Output;
use super::overflow::Overflow;
use super::partition::{Partitioner, split_by};
use super::prepare::Writer;
use super::ranges::Ranges;
use super::replace::ReplaceWriter;
use super::sort_key::SortKey;
use super::sorted::{sorted, without_key};
use super::upsert::Upsert;
use crate::error::Context;

/// Input smaller than this, in bytes of memory, goes to one writer: one file per partition.
const ONE_WRITER: usize = 32 << 20;

/// Batches on their way to a writer.
const IN_FLIGHT: usize = 3;

/// Reads the start of the input: all of it if it is small and there is memory for it, then there is no rest.
///
/// # Errors
/// Errors of the input.
pub(crate) async fn head(
    mut input: SendableRecordBatchStream,
    writers: usize,
    context: &TaskContext,
) -> Result<(Vec<RecordBatch>, Option<SendableRecordBatchStream>)> {
    let mut head = Vec::new();
    let mut bytes = 0;
    // given back when the rows are handed on
    let memory = reserve(context, "the first rows of a table", false);
    loop {
        match input.next().await {
            Some(batch) => {
                let batch = batch.map_err(from_input)?;
                bytes += size(&batch);
                head.push(batch);
            }
            None => return Ok((head, None)),
        }
        // a single writer gains nothing from waiting
        if bytes >= ONE_WRITER || writers <= 1 || memory.try_resize(bytes).is_err() {
            return Ok((head, Some(input)));
        }
    }
}

/// The bytes of the rows of a batch, even if its buffers hold more.
pub(super) fn size(batch: &RecordBatch) -> usize {
    batch
        .columns()
        .iter()
        .map(|c| c.to_data().get_slice_memory_size().unwrap_or_else(|_| c.get_array_memory_size()))
        .sum()
}

/// Errors of ours come back as they are.
pub(crate) fn from_input(error: DataFusionError) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(error) = cause {
        if let Some(ours) = error.downcast_ref::<Error>() {
            return ours.clone();
        }
        cause = error.source();
    }
    match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => Error::new("out-of-memory", error.strip_backtrace()),
        DataFusionError::NotImplemented(_) => Error::unsupported(error.strip_backtrace()),
        DataFusionError::Internal(_) => Error::internal(error.strip_backtrace()),
        _ => Error::new("runtime", error.strip_backtrace()),
    }
}

type Message = (RecordBatch, Option<Keys>, Changes);

/// Which writer a row goes to.
enum Route {
    /// Batch by batch, in turn.
    Turns(usize),
    /// By partition.
    Partition(Partitioner),
    /// By ranges of the sort order.
    Range(Ranges),
    /// By key.
    Key,
}

struct Router<'a> {
    job: &'a Job,
    route: Route,
    encoder: Option<Arc<KeyEncoder>>,
    key_columns: &'a [usize],
    /// Columns of the table.
    width: usize,
    senders: Vec<mpsc::Sender<Message>>,
}

impl Router<'_> {
    /// False if a writer is gone: its error says why.
    async fn send(&mut self, batch: RecordBatch) -> Result<bool> {
        if batch.num_rows() == 0 {
            return Ok(true);
        }
        let (batch, changes) = split_changes(batch, self.width)?;
        self.job.progress.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        let keys = match &self.encoder {
            Some(encoder) => {
                let columns = batch.project(self.key_columns).context(|| "select key columns")?;
                Some(encoder.encode(columns.columns())?)
            }
            None => None,
        };
        let count = self.senders.len();
        let writers = match (&mut self.route, &keys) {
            _ if count == 1 => return self.to(0, batch, keys, changes).await,
            (Route::Partition(partitioner), _) => {
                let mut numbers = partitioner.assign(batch.columns(), batch.num_rows())?;
                numbers.iter_mut().for_each(|number| *number %= count);
                numbers
            }
            (Route::Range(ranges), _) => ranges.writers(&batch)?,
            (Route::Key, Some(keys)) => keys.writers(count),
            (Route::Key, None) => return Err(Error::internal("rows without keys")),
            (Route::Turns(turn), _) => {
                *turn = (*turn + 1) % count;
                let writer = *turn;
                return self.to(writer, batch, keys, changes).await;
            }
        };
        for part in split_by(&batch, &writers)? {
            let keys = match (&keys, &part.indices) {
                (Some(keys), Some(indices)) => Some(keys.take(indices)),
                (keys, _) => keys.clone(),
            };
            let changes = take_changes(&changes, part.indices.as_ref());
            if !self.to(part.number, part.rows, keys, changes).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn to(&mut self, writer: usize, batch: RecordBatch, keys: Option<Keys>, changes: Changes) -> Result<bool> {
        let sender = self.senders.get(writer).ok_or_else(|| Error::internal("unknown writer"))?;
        Ok(sender.send((batch, keys, changes)).await.is_ok())
    }
}

/// Runs `job.writers` writers over `head` and then `input`.
///
/// # Errors
/// The input's or the first writer's; all writers have ended then.
pub(crate) async fn run(
    job: &Arc<Job>,
    kind: &Arc<FileKind>,
    writer: &Writer,
    upsert: Option<&Upsert>,
    head: Vec<RecordBatch>,
    input: Option<SendableRecordBatchStream>,
) -> Result<Output> {
    // an overwrite has one row per key by now
    let keyed = job.options.is_keyed() && !job.options.overwrite;
    let mut tasks = JoinSet::new();
    let mut senders = Vec::with_capacity(job.writers);
    for number in 0..job.writers {
        let (sender, receiver) = mpsc::channel(IN_FLIGHT);
        senders.push(sender);
        if keyed && writer.by_position() {
            let replace = ReplaceWriter::new(job, kind, &writer.key_columns, number)?;
            tasks.spawn(async move { (number, write_replace(replace, receiver).await) });
        } else if keyed {
            let delta = DeltaWriter::new(job, kind, upsert, writer.retract.as_ref(), &writer.key_columns, number)?;
            tasks.spawn(async move { (number, write_delta(delta, receiver).await) });
        } else {
            match writer.sort_key()? {
                Some(key) => {
                    let (append, context) = (AppendWriter::new(job, kind, number)?, writer.context.clone());
                    tasks.spawn(async move { (number, write_sorted(append, key, &context, receiver).await) });
                }
                None => {
                    let key = SortKey::of_partitions(job.table.metadata())?;
                    let overflow = key.map(|key| Overflow::new(key, &writer.context));
                    let append = AppendWriter::new(job, kind, number)?.with_overflow(overflow);
                    tasks.spawn(async move { (number, write_append(append, receiver).await) });
                }
            }
        }
    }
    let partitioned = !job.table.metadata().default_partition_spec().is_unpartitioned();
    let router = Router {
        job,
        route: match job.options.distribution {
            // the older row of a key may be in another partition
            _ if keyed && writer.by_position() => Route::Key,
            DistributionMode::Hash if partitioned => Route::Partition(job.partitioner()?),
            _ if keyed => Route::Key,
            DistributionMode::Range => match writer.range_key()? {
                Some(key) => Route::Range(Ranges::new(key, &head, job.writers, job.options.key_weight)?),
                None => Route::Turns(0),
            },
            _ => Route::Turns(0),
        },
        encoder: if keyed { Some(writer.encoder.clone()) } else { None },
        key_columns: &writer.key_columns,
        width: job.table.metadata().current_schema().as_struct().fields().len(),
        senders,
    };
    let fed = feed(router, head, input).await;
    outputs(job, fed, tasks).await
}

/// What numbered writers leave, in the order of their numbers, once their rows were given to them.
///
/// # Errors
/// That of giving them the rows, or the first writer's; all writers have ended then.
pub(super) async fn outputs(job: &Job, fed: Result<()>, mut tasks: JoinSet<(usize, Result<Output>)>) -> Result<Output> {
    let mut outputs = Vec::with_capacity(tasks.len());
    let mut failed = fed.err();
    while failed.is_none()
        && let Some(ended) = tasks.join_next().await
    {
        match ended {
            Ok((number, Ok(output))) => outputs.push((number, output)),
            Ok((_, Err(error))) => failed = Some(error),
            Err(error) => failed = Some(Error::internal(format!("a writer ended early: {error}"))),
        }
    }
    if let Some(error) = failed {
        job.files.close();
        tasks.shutdown().await;
        return Err(error);
    }
    outputs.sort_unstable_by_key(|(number, _)| *number);
    let mut all = Output::default();
    outputs.into_iter().for_each(|(_, output)| all.extend(output));
    Ok(all)
}

/// Gives all rows to the writers and ends their inputs by dropping the router. A writer that is gone ends it early.
async fn feed(mut router: Router<'_>, head: Vec<RecordBatch>, input: Option<SendableRecordBatchStream>) -> Result<()> {
    for batch in head {
        if !router.send(batch).await? {
            return Ok(());
        }
    }
    let Some(mut input) = input else { return Ok(()) };
    while let Some(batch) = input.next().await {
        if !router.send(batch.map_err(from_input)?).await? {
            return Ok(());
        }
    }
    Ok(())
}

async fn write_append(mut writer: AppendWriter, mut input: mpsc::Receiver<Message>) -> Result<Output> {
    while let Some((batch, _, changes)) = input.recv().await {
        if changes.is_some() {
            return Err(Error::internal("rows that go, without a key"));
        }
        writer.write(&batch).await?;
    }
    writer.finish().await
}

/// As [`write_append`], in the order of `key`.
async fn write_sorted(
    mut writer: AppendWriter,
    key: SortKey,
    context: &Arc<TaskContext>,
    input: mpsc::Receiver<Message>,
) -> Result<Output> {
    let rows = futures::stream::unfold(input, |mut input| async move {
        let (batch, _, changes) = input.recv().await?;
        let rows = if changes.is_some() { Err(Error::internal("rows that go, without a key")) } else { Ok(batch) };
        Some((rows, input))
    });
    let mut rows = sorted(Box::pin(rows), move |rows| key.keys(rows), context).await?;
    while let Some(batch) = rows.next().await {
        writer.write(&without_key(&batch.map_err(from_input)?)?.0).await?;
    }
    writer.finish().await
}

async fn write_replace(mut writer: ReplaceWriter, mut input: mpsc::Receiver<Message>) -> Result<Output> {
    while let Some((batch, keys, changes)) = input.recv().await {
        let keys = keys.ok_or_else(|| Error::internal("rows without keys"))?;
        writer.write(&batch, &keys, &changes).await?;
    }
    writer.finish().await
}

async fn write_delta(mut writer: DeltaWriter, mut input: mpsc::Receiver<Message>) -> Result<Output> {
    while let Some((batch, keys, changes)) = input.recv().await {
        let keys = keys.ok_or_else(|| Error::internal("rows without keys"))?;
        writer.write(&batch, &keys, &changes).await?;
    }
    writer.finish().await
}
