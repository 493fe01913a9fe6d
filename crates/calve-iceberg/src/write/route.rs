//! Rows to writer tasks.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::Int8Type;
use calve_types::{Error, Result};
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

use super::append::AppendWriter;
use super::delta::DeltaWriter;
use super::file::FileKind;
use super::job::Job;
use super::keys::{KeyEncoder, Keys};
use super::options::DistributionMode;
use super::output::Output;
use super::partition::{Partitioner, split_by};
use super::prepare::Writer;
use super::upsert::Upsert;
use crate::error::Context;

/// Input smaller than this, in bytes of memory, goes to one writer: one file per partition.
const ONE_WRITER: usize = 32 << 20;

/// Batches on their way to a writer.
const IN_FLIGHT: usize = 3;

/// Reads the start of the input: all of it if it is small, then there is no rest.
///
/// # Errors
/// Errors of the input.
pub(crate) async fn head(
    mut input: SendableRecordBatchStream,
    writers: usize,
) -> Result<(Vec<RecordBatch>, Option<SendableRecordBatchStream>)> {
    let mut head = Vec::new();
    let mut bytes = 0;
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
        if bytes >= ONE_WRITER || writers <= 1 {
            return Ok((head, Some(input)));
        }
    }
}

/// The bytes of the rows of a batch, even if its buffers hold more.
fn size(batch: &RecordBatch) -> usize {
    batch
        .columns()
        .iter()
        .map(|c| c.to_data().get_slice_memory_size().unwrap_or_else(|_| c.get_array_memory_size()))
        .sum()
}

/// Errors of ours come back as they are.
pub(crate) fn from_input(error: DataFusionError) -> Error {
    fn ours(error: &(dyn std::error::Error + 'static)) -> Option<Error> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(ours) = error.downcast_ref::<Error>() {
                return Some(ours.clone());
            }
            next = match error.downcast_ref::<DataFusionError>() {
                Some(DataFusionError::External(inner)) => Some(inner.as_ref()),
                Some(DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner)) => {
                    Some(inner.as_ref())
                }
                Some(DataFusionError::Shared(inner)) => Some(inner.as_ref()),
                Some(DataFusionError::ArrowError(inner, _)) => Some(inner.as_ref()),
                Some(_) => None,
                None => match error.downcast_ref::<arrow::error::ArrowError>() {
                    Some(arrow::error::ArrowError::ExternalError(inner)) => Some(inner.as_ref()),
                    _ => None,
                },
            };
        }
        None
    }
    ours(&error).unwrap_or_else(|| match &error {
        DataFusionError::ResourcesExhausted(_) => Error::new("out-of-memory", error.strip_backtrace()),
        DataFusionError::NotImplemented(_) => Error::unsupported(error.strip_backtrace()),
        DataFusionError::Internal(_) => Error::internal(error.strip_backtrace()),
        _ => Error::new("runtime", error.strip_backtrace()),
    })
}

type Message = (RecordBatch, Option<Keys>, What);

/// What the rows of a batch are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// New ones.
    Rows,
    /// Rows that are no more: their keys are deleted.
    Gone,
}

/// The table's columns of a batch, and what its rows are: a column more has kinds of changes, which are of one sort in a
/// batch.
fn split_changes(batch: RecordBatch, width: usize) -> Result<(RecordBatch, What)> {
    let Some(ops) = batch.columns().get(width) else { return Ok((batch, What::Rows)) };
    let ops = ops.as_primitive_opt::<Int8Type>().ok_or_else(|| Error::internal("changes that are no numbers"))?;
    let gone = ops.values().iter().filter(|op| **op != 0).count();
    let what = match gone {
        0 => What::Rows,
        n if n == batch.num_rows() => What::Gone,
        _ => return Err(Error::internal("a batch of rows that come and rows that go")),
    };
    let columns: Vec<usize> = (0..width).collect();
    Ok((batch.project(&columns).context(|| "select the table's columns")?, what))
}

/// Which writer a row goes to.
enum Route {
    /// Batch by batch, in turn.
    Turns(usize),
    /// By partition.
    Partition(Partitioner),
    /// By key.
    Key,
}

struct Router<'a> {
    job: &'a Job,
    route: Route,
    encoder: Option<KeyEncoder>,
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
        let (batch, what) = split_changes(batch, self.width)?;
        if what == What::Rows {
            self.job.progress.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        }
        let keys = match &self.encoder {
            Some(encoder) => {
                let columns = batch.project(self.key_columns).context(|| "select key columns")?;
                Some(encoder.encode(columns.columns())?)
            }
            None => None,
        };
        let count = self.senders.len();
        let writers = match (&mut self.route, &keys) {
            _ if count == 1 => return self.to(0, batch, keys, what).await,
            (Route::Partition(partitioner), _) => {
                let mut numbers = partitioner.assign(batch.columns(), batch.num_rows())?;
                numbers.iter_mut().for_each(|number| *number %= count);
                numbers
            }
            (Route::Key, Some(keys)) => keys.writers(count),
            (Route::Key, None) => return Err(Error::internal("rows without keys")),
            (Route::Turns(turn), _) => {
                *turn = (*turn + 1) % count;
                let writer = *turn;
                return self.to(writer, batch, keys, what).await;
            }
        };
        for part in split_by(&batch, &writers)? {
            let keys = match (&keys, &part.indices) {
                (Some(keys), Some(indices)) => Some(keys.take(indices)),
                (keys, _) => keys.clone(),
            };
            if !self.to(part.number, part.rows, keys, what).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn to(&mut self, writer: usize, batch: RecordBatch, keys: Option<Keys>, what: What) -> Result<bool> {
        let sender = self.senders.get(writer).ok_or_else(|| Error::internal("unknown writer"))?;
        Ok(sender.send((batch, keys, what)).await.is_ok())
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
    let keyed = job.options.is_keyed();
    let mut tasks = JoinSet::new();
    let mut senders = Vec::with_capacity(job.writers);
    for number in 0..job.writers {
        let (sender, receiver) = mpsc::channel(IN_FLIGHT);
        senders.push(sender);
        if keyed {
            let delta = DeltaWriter::new(job, kind, upsert, &writer.key_columns, number)?;
            tasks.spawn(async move { (number, write_delta(delta, receiver).await) });
        } else {
            let append = AppendWriter::new(job, kind, number)?;
            tasks.spawn(async move { (number, write_append(append, receiver).await) });
        }
    }
    let partitioned = !job.table.metadata().default_partition_spec().is_unpartitioned();
    let router = Router {
        job,
        route: match job.options.distribution {
            DistributionMode::Hash if partitioned => Route::Partition(job.partitioner()?),
            _ if keyed => Route::Key,
            _ => Route::Turns(0),
        },
        encoder: if keyed { Some(KeyEncoder::new(&writer.key)?) } else { None },
        key_columns: &writer.key_columns,
        width: job.table.metadata().current_schema().as_struct().fields().len(),
        senders,
    };
    let fed = feed(router, head, input).await;
    if fed.is_err() {
        job.files.close();
        tasks.shutdown().await;
    }
    fed?;
    let mut outputs: Vec<Option<Output>> = (0..job.writers).map(|_| None).collect();
    while let Some(ended) = tasks.join_next().await {
        match ended.map_err(panicked).and_then(|(number, result)| Ok((number, result?))) {
            Ok((number, output)) => {
                if let Some(slot) = outputs.get_mut(number) {
                    *slot = Some(output);
                }
            }
            Err(error) => {
                job.files.close();
                tasks.shutdown().await;
                return Err(error);
            }
        }
    }
    let mut all = Output::default();
    outputs.into_iter().flatten().for_each(|output| all.extend(output));
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
    while let Some((batch, _, what)) = input.recv().await {
        if what == What::Gone {
            return Err(Error::internal("rows that go, without a key"));
        }
        writer.write(&batch).await?;
    }
    writer.finish().await
}

async fn write_delta(mut writer: DeltaWriter, mut input: mpsc::Receiver<Message>) -> Result<Output> {
    while let Some((batch, keys, what)) = input.recv().await {
        if what == What::Gone {
            writer.delete(&batch).await?;
            continue;
        }
        let keys = keys.ok_or_else(|| Error::internal("rows without keys"))?;
        writer.write(&batch, &keys).await?;
    }
    writer.finish().await
}

fn panicked(error: JoinError) -> Error {
    Error::internal(format!("a writer ended early: {error}"))
}
