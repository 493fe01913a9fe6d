//! The writer of tables with a primary key (Flink's `BaseDeltaTaskWriter`), for changes in the order in which they happen.
//!
//! | change | the key was written in this commit | it was not, without upsert | with upsert |
//! |---|---|---|---|
//! | a row comes | position delete of the earlier row | nothing | equality delete of the key |
//! | `UPDATE_BEFORE` | position delete; ignored with upsert | equality delete of the whole row | ignored |
//! | `DELETE` | position delete | equality delete of the whole row | equality delete of the key |
//!
//! then a row that comes is written. What was written in this commit is told by partition: a row that goes without upsert is
//! looked for in its own. Equality deletes hit only older commits, position deletes only files of this one. A key may be
//! forgotten for lack of memory, see [`CommitKeys`].

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use calve_types::{Error, Result};
use iceberg::spec::FormatVersion;

use super::change::{Change, Changes, take_changes};
use super::commit_keys::CommitKeys;
use super::fanout::{Fanout, FileNumber};
use super::file::FileKind;
use super::job::Job;
use super::keys::{Keys, Slot};
use super::live::Chooser;
use super::output::Output;
use super::partition::{Partition, Partitioner};
use super::position_deletes::{self, no_deletes_in_v1};
use super::upsert::Upsert;
use crate::error::Context;

/// See the module.
pub(crate) struct DeltaWriter {
    job: Arc<Job>,
    number: usize,
    data: Fanout,
    partitioner: Partitioner,
    keys: CommitKeys,
    /// Columns of the key in the input.
    key_columns: Vec<usize>,
    older: Older,
    omitted: BTreeSet<FileNumber>,
    rows: u64,
}

/// How rows of older commits are deleted.
enum Older {
    /// They stay.
    Kept,
    /// Every row that comes, and every key that goes, replaces the row of its key.
    ByKey(EqualityWriter),
    /// Those that are taken back, by what they hold.
    Whole(EqualityWriter),
}

/// Writes equality deletes.
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
        self.put(chosen).await?;
        Ok(left_out > 0)
    }

    /// Deletes the keys, whether or not older rows seem to have them: there is no data file that a commit by somebody else
    /// could be checked against.
    async fn write_all(&mut self, keys: &RecordBatch, partition: &Arc<Partition>) -> Result<()> {
        let mut chosen = self.chooser.choose(keys, partition, |_| {})?;
        // all keys go there, not only those that may be there
        chosen.retain(|(other, _)| other != partition);
        chosen.push((partition.clone(), keys.clone()));
        self.put(chosen).await
    }

    async fn put(&mut self, chosen: Vec<(Arc<Partition>, RecordBatch)>) -> Result<()> {
        for (partition, rows) in chosen {
            self.rows += rows.num_rows() as u64;
            self.files.write(&partition, &rows).await?;
        }
        Ok(())
    }

    pub(crate) async fn finish(self) -> Result<(Vec<crate::commit::NewFile>, u64)> {
        let files = self.files.finish().await?.into_iter().map(|finished| finished.file).collect();
        Ok((files, self.rows))
    }
}

impl DeltaWriter {
    /// The writer with this number; `upsert` if rows replace rows of older commits, `retract` if rows of older commits are
    /// taken back.
    ///
    /// # Errors
    /// As [`Partitioner::new`].
    pub(crate) fn new(
        job: &Arc<Job>,
        kind: &Arc<FileKind>,
        upsert: Option<&Upsert>,
        retract: Option<&Upsert>,
        key_columns: &[usize],
        number: usize,
    ) -> Result<Self> {
        let older = match (upsert, retract) {
            (Some(upsert), _) => Older::ByKey(EqualityWriter::new(job, upsert, number)?),
            (None, Some(retract)) => Older::Whole(EqualityWriter::new(job, retract, number)?),
            (None, None) => Older::Kept,
        };
        Ok(Self {
            job: job.clone(),
            number,
            data: Fanout::new(job, kind, number, 0),
            partitioner: job.partitioner()?,
            keys: CommitKeys::new(&job.context, !matches!(older, Older::Whole(_))),
            key_columns: key_columns.to_vec(),
            older,
            omitted: BTreeSet::new(),
            rows: 0,
        })
    }

    /// Makes the changes of a batch in their order; `keys` are those of its rows.
    ///
    /// # Errors
    /// As [`Fanout::write`] and [`CommitKeys::comes`]; `upsert-format-v1` if a table of format version 1 needs a delete file.
    pub(crate) async fn write(&mut self, batch: &RecordBatch, keys: &Keys, changes: &Changes) -> Result<()> {
        for part in self.partitioner.split(batch)? {
            let partition = self.partitioner.partition(part.number)?.clone();
            let changes = take_changes(changes, part.indices.as_ref());
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
                let rows = part.rows.slice(start, length);
                match changes.as_ref().and_then(|all| all.get(start..start + length)) {
                    Some(changes) => self.change_rows(part.number, &partition, &rows, keys, start, changes).await?,
                    None => self.write_rows(part.number, &partition, &rows, keys, start).await?,
                }
                start += length;
            }
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
        let slot = Slot { file: place.file, row };
        self.keys.come(number, (keys, start, rows.num_rows()), slot, |offset| fresh.push(offset))?;
        if self.keys.deleted() > 0 && self.job.version() == FormatVersion::V1 {
            return Err(no_deletes_in_v1(&self.job.options));
        }
        self.fresh(partition, rows, fresh, place.file).await?;
        self.rows += rows.num_rows() as u64;
        self.data.write(partition, rows).await
    }

    /// Makes changes to rows of one partition whose keys are `keys[start..]`.
    async fn change_rows(
        &mut self,
        number: usize,
        partition: &Arc<Partition>,
        rows: &RecordBatch,
        keys: &Keys,
        start: usize,
        changes: &[Change],
    ) -> Result<()> {
        // a file is opened for rows that come only
        let place = match changes.contains(&Change::Comes) {
            true => Some(self.data.place(partition).await?),
            false => None,
        };
        let first = place.map_or(0, |place| place.position);
        let file = place.map_or(0, |place| place.file);
        let (mut come, mut fresh, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        let by_key = matches!(self.older, Older::ByKey(_));
        for (offset, change) in (0_u32..).zip(changes) {
            let at = start + offset as usize;
            match change {
                Change::Comes => {
                    let row = u32::try_from(first + come.len() as u64)
                        .map_err(|_| Error::internal("a data file with too many rows"))?;
                    come.push(offset);
                    if self.keys.comes(number, keys, at, Slot { file, row })? {
                        fresh.push(offset);
                    }
                }
                Change::Replaced if by_key => {}
                Change::Replaced | Change::Goes => {
                    if !self.keys.goes(number, keys, at)? {
                        gone.push(offset);
                    }
                }
            }
        }
        if matches!(self.older, Older::Kept) {
            gone.clear();
        }
        if (self.keys.deleted() > 0 || !gone.is_empty()) && self.job.version() == FormatVersion::V1 {
            return Err(no_deletes_in_v1(&self.job.options));
        }
        if !gone.is_empty() {
            let gone = take_record_batch(rows, &UInt32Array::from(gone)).context(|| "select rows to delete")?;
            match &mut self.older {
                Older::Kept => {}
                Older::ByKey(equality) => {
                    let keys = gone.project(&self.key_columns).context(|| "select key columns")?;
                    equality.write_all(&keys, partition).await?;
                }
                Older::Whole(equality) => equality.write_all(&gone, partition).await?,
            }
        }
        let Some(place) = place else { return Ok(()) };
        self.fresh(partition, rows, fresh, place.file).await?;
        self.rows += come.len() as u64;
        let rows = take_record_batch(rows, &UInt32Array::from(come)).context(|| "select rows to write")?;
        self.data.write(partition, &rows).await
    }

    /// With upsert deletes the older rows with the keys of the rows at these places, which go to `file`.
    async fn fresh(
        &mut self,
        partition: &Arc<Partition>,
        rows: &RecordBatch,
        places: Vec<u32>,
        file: FileNumber,
    ) -> Result<()> {
        let Older::ByKey(equality) = &mut self.older else { return Ok(()) };
        if places.is_empty() {
            return Ok(());
        }
        let keys = rows.project(&self.key_columns).context(|| "select key columns")?;
        let keys = if places.len() == rows.num_rows() {
            keys
        } else {
            take_record_batch(&keys, &UInt32Array::from(places)).context(|| "select keys to delete")?
        };
        if equality.write(&keys, partition).await? {
            self.omitted.insert(file);
        }
        Ok(())
    }

    /// Ends all files and writes the position deletes.
    ///
    /// # Errors
    /// `io`; as [`DeltaWriter::write`].
    pub(crate) async fn finish(self) -> Result<Output> {
        let data = self.data.finish().await?;
        let (mut deletes, equality_deletes) = match self.older {
            Older::ByKey(equality) | Older::Whole(equality) => equality.finish().await?,
            Older::Kept => (Vec::new(), 0),
        };
        let (positions, position_deletes) = self.keys.finish().await?;
        deletes.extend(position_deletes::write(&self.job, self.number, deletes.len(), positions, &data).await?);
        let omitted = data.iter().filter(|f| self.omitted.contains(&f.number)).map(|f| f.file.clone()).collect();
        Ok(Output {
            data: data.into_iter().map(|finished| finished.file).collect(),
            deletes,
            rows: self.rows,
            equality_deletes,
            position_deletes,
            omitted,
            ..Output::default()
        })
    }
}
