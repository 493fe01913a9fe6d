//! The writer of an upsert that deletes by position: one row per key, and the keys whose older rows are looked for when all
//! rows are written.
//!
//! Rows go to their partitions whatever partition the older row of their key is in, so that the columns of partition fields
//! need not be in the key.

use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use calve_types::{Error, Result};
use hashbrown::HashMap;

use super::change::{Change, Changes};
use super::fanout::Fanout;
use super::file::FileKind;
use super::find::WrittenKeys;
use super::job::Job;
use super::key_map::KeyMap;
use super::key_values::KeyValues;
use super::keys::{GONE, Keys, Slot};
use super::output::Output;
use super::partition::Partitioner;
use super::position_deletes::{self, Positions};
use crate::error::Context;

/// See the module.
pub(crate) struct ReplaceWriter {
    job: Arc<Job>,
    number: usize,
    data: Fanout,
    partitioner: Partitioner,
    /// The newest row of every key, or [`GONE`].
    keys: KeyMap,
    values: KeyValues,
    positions: Positions,
    key_columns: Vec<usize>,
    rows: u64,
    replaced: u64,
}

impl ReplaceWriter {
    /// The writer with this number.
    ///
    /// # Errors
    /// As [`Partitioner::new`].
    pub(crate) fn new(job: &Arc<Job>, kind: &Arc<FileKind>, key_columns: &[usize], number: usize) -> Result<Self> {
        Ok(Self {
            job: job.clone(),
            number,
            data: Fanout::new(job, kind, number, 0),
            partitioner: job.partitioner()?,
            keys: KeyMap::new(&job.context),
            values: KeyValues::default(),
            positions: Positions::new(),
            key_columns: key_columns.to_vec(),
            rows: 0,
            replaced: 0,
        })
    }

    /// Makes the changes of a batch; `keys` are those of its rows. `UPDATE_BEFORE` is ignored, as its row is replaced anyway.
    ///
    /// # Errors
    /// As [`Fanout::write`] and [`KeyMap::put`].
    pub(crate) async fn write(&mut self, batch: &RecordBatch, keys: &Keys, changes: &Changes) -> Result<()> {
        let what = || "select the last row of every key";
        let (come, gone) = last_of_keys(keys, changes, batch.num_rows());
        let all = come.len() + gone.len();
        self.rows += come.len() as u64;
        if all == 0 {
            return Ok(());
        }
        let columns = batch.project(&self.key_columns).context(what)?;
        let columns = match all == batch.num_rows() {
            true => columns,
            false => {
                let rows = come.iter().chain(&gone).copied().collect::<Vec<_>>();
                take_record_batch(&columns, &UInt32Array::from(rows)).context(what)?
            }
        };
        self.values.add(columns.columns());
        for row in &gone {
            let earlier = self.keys.put(keys, *row as usize, GONE)?;
            self.take_back(earlier);
        }
        if come.is_empty() {
            return Ok(());
        }
        let (rows, keys) = match come.len() == batch.num_rows() {
            true => (batch.clone(), keys.clone()),
            false => {
                let come = UInt32Array::from(come);
                (take_record_batch(batch, &come).context(what)?, keys.take(&come))
            }
        };
        for part in self.partitioner.split(&rows)? {
            let partition = self.partitioner.partition(part.number)?.clone();
            let keys = part.indices.as_ref().map_or_else(|| keys.clone(), |indices| keys.take(indices));
            let step = self.data.step(&part.rows);
            let mut start = 0;
            while start < part.rows.num_rows() {
                let length = step.min(part.rows.num_rows() - start);
                let place = self.data.place(&partition).await?;
                let first = u32::try_from(place.position).ok().filter(|row| *row < u32::MAX / 2 + u32::MAX / 4);
                let first = first.ok_or_else(|| Error::internal("a data file with too many rows"))?;
                for (row, at) in (first..).zip(start..start + length) {
                    let earlier = self.keys.put(&keys, at, Slot { file: place.file, row })?;
                    self.take_back(earlier);
                }
                self.data.write(&partition, &part.rows.slice(start, length)).await?;
                start += length;
            }
        }
        Ok(())
    }

    /// Deletes a row of this commit.
    fn take_back(&mut self, row: Option<Slot>) {
        if let Some(row) = row.filter(|row| *row != GONE) {
            self.positions.entry(row.file).or_default().insert(u64::from(row.row));
            self.replaced += 1;
        }
    }

    /// Ends all files and writes the deletes of rows of this commit.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn finish(self) -> Result<Output> {
        let data = self.data.finish().await?;
        let deletes = position_deletes::write(&self.job, self.number, 0, self.positions, &data).await?;
        Ok(Output {
            data: data.into_iter().map(|finished| finished.file).collect(),
            deletes,
            rows: self.rows,
            position_deletes: self.replaced,
            keys: WrittenKeys::of_writer(self.keys, self.values),
            ..Output::default()
        })
    }
}

/// The rows that come and the rows that go which no later row of the batch with the same key undoes, in their order.
fn last_of_keys(keys: &Keys, changes: &Changes, rows: usize) -> (Vec<u32>, Vec<u32>) {
    fn last<K: std::hash::Hash + Eq + Copy>(keys: &[K], changes: &Changes) -> Vec<u32> {
        let mut last: HashMap<K, u32, foldhash::fast::RandomState> = HashMap::default();
        let ignored = |row: usize| {
            changes.as_ref().is_some_and(|all| all.get(row).is_some_and(|change| *change == Change::Replaced))
        };
        for (row, key) in (0_u32..).zip(keys) {
            if !ignored(row as usize) {
                last.insert(*key, row);
            }
        }
        let mut rows: Vec<u32> = last.into_values().collect();
        rows.sort_unstable();
        rows
    }
    let last = match keys {
        Keys::Numbers(all) => last(all.get(..rows).unwrap_or(all), changes),
        Keys::Hashes(all) => last(all.get(..rows).unwrap_or(all), changes),
    };
    let goes = |row: &u32| {
        changes.as_ref().is_some_and(|all| all.get(*row as usize).is_some_and(|change| *change == Change::Goes))
    };
    last.into_iter().partition(|row| !goes(row))
}
