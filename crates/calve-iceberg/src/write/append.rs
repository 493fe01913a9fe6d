//! The writer of tables without a primary key: rows as they come, by partition.

use std::sync::Arc;

use arrow::array::RecordBatch;
use calve_types::Result;
use futures::StreamExt;

use super::fanout::Fanout;
use super::file::FileKind;
use super::job::Job;
use super::output::Output;
use super::overflow::Overflow;
use super::partition::{Part, Partitioner};

/// See the module.
pub(crate) struct AppendWriter {
    data: Fanout,
    partitioner: Partitioner,
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
        Ok(Self { data, partitioner: job.partitioner()?, overflow: None, rows: 0 })
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
        for part in self.partitioner.split(batch)? {
            let partition = self.partitioner.partition(part.number)?;
            match &mut self.overflow {
                Some(overflow) if !self.data.has_room(partition) => overflow.add(part.rows).await?,
                _ => self.write_part(&part).await?,
            }
        }
        self.rows += batch.num_rows() as u64;
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
