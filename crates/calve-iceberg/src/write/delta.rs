//! The writer of tables with a primary key (Flink's `BaseDeltaTaskWriter`), for rows that come, and for keys of which none is
//! left.
//!
//! | the key of an incoming row | without upsert | with upsert |
//! |---|---|---|
//! | was written in this commit | position delete of the earlier row | the same |
//! | was not | nothing | equality delete of the key |
//!
//! then the row is written. Equality deletes hit only older commits, position deletes only files of this one.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use calve_types::{Error, Result};
use hashbrown::HashMap;
use iceberg::spec::FormatVersion;

use super::fanout::{Fanout, FileNumber};
use super::file::FileKind;
use super::job::Job;
use super::keys::{KeyMap, Keys, Slot};
use super::live::Chooser;
use super::output::Output;
use super::partition::{Partition, Partitioner};
use super::position_deletes::{self, Positions, no_deletes_in_v1};
use super::upsert::Upsert;
use crate::error::Context;

/// See the module.
pub(crate) struct DeltaWriter {
    job: Arc<Job>,
    number: usize,
    data: Fanout,
    partitioner: Partitioner,
    /// The newest row of every key, by partition number.
    keys: HashMap<usize, KeyMap>,
    positions: Positions,
    /// Columns of the key in the input.
    key_columns: Vec<usize>,
    equality: Option<EqualityWriter>,
    omitted: BTreeSet<FileNumber>,
    rows: u64,
    position_deletes: u64,
}

/// Writes equality deletes for keys that appear for the first time.
pub(crate) struct EqualityWriter {
    chooser: Chooser,
    files: Fanout,
    rows: u64,
}

impl EqualityWriter {
    pub(crate) fn new(job: &Arc<Job>, upsert: &Upsert, number: usize) -> Result<Self> {
        Ok(Self {
            chooser: Chooser::new(&upsert.targets, &job.table, &upsert.key)?,
            files: Fanout::new(job, &upsert.kind, number, 0),
            rows: 0,
        })
    }

    /// Deletes the keys of rows that go to `partition`, as far as older rows may have them. True if some were left
    /// out.
    pub(crate) async fn write(&mut self, keys: &RecordBatch, partition: &Arc<Partition>) -> Result<bool> {
        let mut left_out = 0;
        let chosen = self.chooser.choose(keys, partition, |rows| left_out += rows)?;
        for (partition, rows) in chosen {
            self.rows += rows.num_rows() as u64;
            self.files.write(&partition, &rows).await?;
        }
        Ok(left_out > 0)
    }

    /// Deletes the keys, whether or not older rows seem to have them: there is no data file that a commit by somebody else
    /// could be checked against.
    async fn write_all(&mut self, keys: &RecordBatch, partition: &Arc<Partition>) -> Result<()> {
        if self.write(keys, partition).await? {
            self.rows += keys.num_rows() as u64;
            self.files.write(partition, keys).await?;
        }
        Ok(())
    }

    pub(crate) async fn finish(self) -> Result<(Vec<crate::commit::NewFile>, u64)> {
        let files = self.files.finish().await?.into_iter().map(|finished| finished.file).collect();
        Ok((files, self.rows))
    }
}

impl DeltaWriter {
    /// The writer with this number; `upsert` if rows replace rows of older commits.
    ///
    /// # Errors
    /// As [`Partitioner::new`].
    pub(crate) fn new(
        job: &Arc<Job>,
        kind: &Arc<FileKind>,
        upsert: Option<&Upsert>,
        key_columns: &[usize],
        number: usize,
    ) -> Result<Self> {
        Ok(Self {
            job: job.clone(),
            number,
            data: Fanout::new(job, kind, number, 0),
            partitioner: job.partitioner()?,
            keys: HashMap::new(),
            positions: Positions::new(),
            key_columns: key_columns.to_vec(),
            equality: upsert.map(|upsert| EqualityWriter::new(job, upsert, number)).transpose()?,
            omitted: BTreeSet::new(),
            rows: 0,
            position_deletes: 0,
        })
    }

    /// Writes rows; `keys` are theirs, in the same order.
    ///
    /// # Errors
    /// As [`Fanout::write`]; `not-supported` for a key that appears twice in a table of format version 1.
    pub(crate) async fn write(&mut self, batch: &RecordBatch, keys: &Keys) -> Result<()> {
        for part in self.partitioner.split(batch)? {
            let partition = self.partitioner.partition(part.number)?.clone();
            let taken;
            let keys = match &part.indices {
                Some(indices) => {
                    taken = keys.take(indices);
                    &taken
                }
                None => keys,
            };
            let step = self.data.step(&part.rows);
            let mut start = 0;
            while start < part.rows.num_rows() {
                let length = step.min(part.rows.num_rows() - start);
                self.write_rows(part.number, &partition, &part.rows.slice(start, length), keys, start).await?;
                start += length;
            }
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Deletes the older rows with the keys of these rows, whose keys no row of this commit has. Without upsert there is
    /// nothing to delete.
    ///
    /// # Errors
    /// As [`Fanout::write`].
    pub(crate) async fn delete(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some(equality) = &mut self.equality else { return Ok(()) };
        for part in self.partitioner.split(batch)? {
            let partition = self.partitioner.partition(part.number)?.clone();
            let keys = part.rows.project(&self.key_columns).context(|| "select key columns")?;
            equality.write_all(&keys, &partition).await?;
        }
        Ok(())
    }

    /// Writes rows of one partition whose keys are `keys[start..]`.
    async fn write_rows(
        &mut self,
        number: usize,
        partition: &Arc<Partition>,
        rows: &RecordBatch,
        keys: &Keys,
        start: usize,
    ) -> Result<()> {
        let place = self.data.place(partition).await?;
        let row = u32::try_from(place.position).map_err(|_| Error::internal("a data file with too many rows"))?;
        let mut fresh = Vec::new();
        let (positions, mut replaced) = (&mut self.positions, 0);
        let slot = Slot { file: place.file, row };
        self.keys.entry(number).or_default().insert(
            keys,
            start,
            rows.num_rows(),
            slot,
            |offset, earlier| match earlier {
                Some(earlier) => {
                    positions.entry(earlier.file).or_default().insert(u64::from(earlier.row));
                    replaced += 1;
                }
                None => fresh.push(offset),
            },
        );
        if replaced > 0 && self.job.version() == FormatVersion::V1 {
            return Err(no_deletes_in_v1());
        }
        self.position_deletes += replaced;
        if let Some(equality) = &mut self.equality
            && !fresh.is_empty()
        {
            let keys = rows.project(&self.key_columns).context(|| "select key columns")?;
            let keys = if fresh.len() == rows.num_rows() {
                keys
            } else {
                take_record_batch(&keys, &UInt32Array::from(fresh)).context(|| "select keys to delete")?
            };
            if equality.write(&keys, partition).await? {
                self.omitted.insert(place.file);
            }
        }
        self.data.write(partition, rows).await
    }

    /// Ends all files and writes the position deletes.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn finish(self) -> Result<Output> {
        let data = self.data.finish().await?;
        let (mut deletes, equality_deletes) = match self.equality {
            Some(equality) => equality.finish().await?,
            None => (Vec::new(), 0),
        };
        deletes.extend(position_deletes::write(&self.job, self.number, deletes.len(), self.positions, &data).await?);
        let omitted = data.iter().filter(|f| self.omitted.contains(&f.number)).map(|f| f.file.clone()).collect();
        Ok(Output {
            data: data.into_iter().map(|finished| finished.file).collect(),
            deletes,
            rows: self.rows,
            equality_deletes,
            position_deletes: self.position_deletes,
            omitted,
        })
    }
}
