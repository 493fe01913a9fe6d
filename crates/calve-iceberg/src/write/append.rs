//! The writer of tables without a primary key: rows as they come, by partition.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use calve_types::Result;
use futures::StreamExt;

use super::fanout::Fanout;
use super::file::FileKind;
use super::job::Job;
use super::output::Output;
use super::overflow::Overflow;
use super::partition::{Part, Partitioner};
use crate::error::Context;

/// So many rows, of at most so many bytes, are gathered where a batch has few rows of each of many partitions: a file takes
/// a thousand rows at once for the price of a dozen.
const GATHERED_ROWS: usize = 64 * 1024;
const GATHERED_BYTES: usize = 8 << 20;

/// So many rows of a partition in a batch are few.
const FEW_ROWS: usize = 512;

/// See the module.
pub(crate) struct AppendWriter {
    data: Fanout,
    partitioner: Partitioner,
    gathered: Vec<RecordBatch>,
    /// Whether the last batches had few rows of each of their partitions.
    scattered: bool,
    /// Takes the rows of partitions for which no file may be opened; none if rows come partition by partition.
    overflow: Option<Overflow>,
    rows: u64,
}

impl AppendWriter {
    /// The writer with this number.
    ///
    /// # Errors
    /// As [`Partitioner::new`].
    pub(crate) fn new(job: &Arc<Job>, kind: &Arc<FileKind>, number: usize) -> Result<Self> {
        let data = Fanout::new(job, kind, number, 0);
        let partitioner = job.partitioner()?;
        Ok(Self { data, partitioner, gathered: Vec::new(), scattered: false, overflow: None, rows: 0 })
    }

    /// Puts rows of partitions for which no file may be opened aside, instead of ending the file of another partition.
    pub(crate) fn with_overflow(self, overflow: Option<Overflow>) -> Self {
        Self { overflow, ..self }
    }

    /// Writes rows.
    ///
    /// # Errors
    /// As [`Fanout::write`] and [`Overflow::add`].
    pub(crate) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        if !self.scattered {
            return self.write_by_partition(batch).await;
        }
        self.gathered.push(batch.clone());
        let rows: usize = self.gathered.iter().map(RecordBatch::num_rows).sum();
        let bytes: usize = self.gathered.iter().map(RecordBatch::get_array_memory_size).sum();
        if rows >= GATHERED_ROWS || bytes >= GATHERED_BYTES { self.write_gathered().await } else { Ok(()) }
    }

    async fn write_gathered(&mut self) -> Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        let Some(first) = gathered.first() else { return Ok(()) };
        let all = concat_batches(first.schema_ref(), &gathered).context(|| "gather rows of partitions")?;
        drop(gathered);
        self.write_by_partition(&all).await
    }

    async fn write_by_partition(&mut self, batch: &RecordBatch) -> Result<()> {
        let parts = self.partitioner.split(batch)?;
        // gathered rows are as scattered as those of their batches
        let few = parts.len().saturating_mul(FEW_ROWS) > batch.num_rows();
        self.scattered = parts.len() > 1 && (self.scattered || few);
        for part in parts {
            let partition = self.partitioner.partition(part.number)?;
            match &mut self.overflow {
                Some(overflow) if !self.data.has_room(partition) => overflow.add(part.rows).await?,
                _ => self.write_part(&part).await?,
            }
        }
        Ok(())
    }

    async fn write_part(&mut self, part: &Part) -> Result<()> {
        let partition = self.partitioner.partition(part.number)?.clone();
        let step = self.data.step(&part.rows);
        let mut start = 0;
        while start < part.rows.num_rows() {
            let length = step.min(part.rows.num_rows() - start);
            self.data.write(&partition, &part.rows.slice(start, length)).await?;
            start += length;
        }
        Ok(())
    }

    /// Ends all files.
    ///
    /// # Errors
    /// `io`; as [`Overflow::take`].
    pub(crate) async fn finish(mut self) -> Result<Output> {
        self.write_gathered().await?;
        if let Some(mut overflow) = self.overflow.take() {
            let mut rows = overflow.take().await?;
            while let Some(batch) = rows.next().await {
                for part in self.partitioner.split(&batch?)? {
                    self.write_part(&part).await?;
                }
            }
        }
        let data = self.data.finish().await?.into_iter().map(|finished| finished.file).collect();
        Ok(Output { data, rows: self.rows, ..Output::default() })
    }
}
