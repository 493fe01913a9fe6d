//! The writer of tables without a primary key: rows as they come, by partition.

use std::sync::Arc;

use arrow::array::RecordBatch;
use calve_types::Result;

use super::fanout::Fanout;
use super::file::FileKind;
use super::job::Job;
use super::output::Output;
use super::partition::Partitioner;

/// See the module.
pub(crate) struct AppendWriter {
    data: Fanout,
    partitioner: Partitioner,
    rows: u64,
}

impl AppendWriter {
    /// The writer with this number.
    ///
    /// # Errors
    /// As [`Partitioner::new`].
    pub(crate) fn new(job: &Arc<Job>, kind: &Arc<FileKind>, number: usize) -> Result<Self> {
        Ok(Self { data: Fanout::new(job, kind, number, 0), partitioner: job.partitioner()?, rows: 0 })
    }

    /// Writes rows.
    ///
    /// # Errors
    /// As [`Fanout::write`].
    pub(crate) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        for part in self.partitioner.split(batch)? {
            let partition = self.partitioner.partition(part.number)?.clone();
            let step = self.data.step(&part.rows);
            let mut start = 0;
            while start < part.rows.num_rows() {
                let length = step.min(part.rows.num_rows() - start);
                self.data.write(&partition, &part.rows.slice(start, length)).await?;
                start += length;
            }
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Ends all files.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn finish(self) -> Result<Output> {
        let data = self.data.finish().await?.into_iter().map(|finished| finished.file).collect();
        Ok(Output { data, rows: self.rows, ..Output::default() })
    }
}
