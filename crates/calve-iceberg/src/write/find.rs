//! Upsert by position: the live rows with keys of an INSERT, found when all its rows are written, and found again for every
//! version of the table that the commit is tried on.
//!
//! Data files are skipped by the bounds of their keys, row groups by theirs and by bloom filters. Of the others the key
//! columns are read, without deleted rows, and looked up in the table of the written keys, whatever the partition or the
//! partition spec of the file.

use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Int64Type;
use async_trait::async_trait;
use calve_types::{Error, Result};
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::TaskContext;
use futures::{StreamExt, stream};
use iceberg::spec::{DataFile, NestedFieldRef};
use roaring::RoaringTreemap;

use super::job::{Job, WriteProgress};
use super::key_map::KeyMap;
use super::key_values::KeyValues;
use super::keys::KeyEncoder;
use super::location::Locations;
use super::options::WriteOptions;
use super::positions::{DeletedRows, RowsByFile, delete_rows_of};
use super::route::from_input;
use super::row_groups::skip_row_groups;
use super::upload::Uncommitted;
use crate::commit::{CompleteDeletes, Completed, NewFile};
use crate::error::Context;
use crate::scan::{FileTask, KeyRows, ScanContext, ScanOptions, plan_files};
use crate::table::Table;

/// The keys that writers wrote or deleted, by writer.
#[derive(Debug, Default)]
pub(crate) struct WrittenKeys {
    /// A key is in the map of the writer that [`super::keys::Keys::writers`] gives it.
    maps: Vec<KeyMap>,
    values: KeyValues,
}

impl WrittenKeys {
    /// The keys of one writer.
    pub(crate) fn of_writer(keys: KeyMap, values: KeyValues) -> Self {
        Self { maps: vec![keys], values }
    }

    /// Adds the keys of the next writer.
    pub(crate) fn extend(&mut self, other: Self) {
        self.maps.extend(other.maps);
        self.values.merge(other.values);
    }
}

/// The deletes of an upsert by position.
#[derive(Debug)]
pub(crate) struct PositionUpsert {
    pub(crate) prepared_on: Option<i64>,
    pub(crate) options: WriteOptions,
    /// The version the rows were written for.
    pub(crate) table: Table,
    pub(crate) wanted: Arc<Wanted>,
    /// Deletes of rows of the INSERT itself.
    pub(crate) own: Vec<NewFile>,
    /// The statement's, whose memory it takes.
    pub(crate) context: Arc<TaskContext>,
}

/// The keys whose rows are looked for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The key columns of the version the rows were written for.
    pub(crate) key: Vec<NestedFieldRef>,
    /// What made the keys.
    pub(crate) encoder: Arc<KeyEncoder>,
    pub(crate) keys: WrittenKeys,
}

#[async_trait]
impl CompleteDeletes for PositionUpsert {
    fn prepared_on(&self) -> Option<i64> {
        self.prepared_on
    }

    async fn complete(&self, base: &Table) -> Result<Completed> {
        self.check_unchanged(base)?;
        let files = Uncommitted::new(&self.table);
        match self.delete(base, &files).await {
            Ok(found) => {
                files.keep();
                let deletes = self.own.iter().cloned().chain(found.files).collect();
                Ok(Completed { deletes, removed: found.removed, instead: true })
            }
            Err(error) => {
                files.delete().await;
                Err(error)
            }
        }
    }
}

impl PositionUpsert {
    /// What was written must still be right for the table.
    fn check_unchanged(&self, base: &Table) -> Result<()> {
        let (was, is) = (self.table.metadata(), base.metadata());
        let changed = |what: &str| {
            Err(Error::new("commit-conflict", format!("{what} of table '{}' changed in the meantime", base.ident()))
                .with_hint("run the statement again"))
        };
        if was.format_version() != is.format_version() && !self.own.is_empty() {
            return changed("the format version");
        }
        let same = |column: &&NestedFieldRef| {
            let now = is.current_schema().field_by_id(column.id);
            now.is_some_and(|now| now.field_type == column.field_type)
        };
        if !self.wanted.key.iter().all(|column| same(&column)) {
            return changed("a key column");
        }
        Ok(())
    }

    /// Finds the live rows of `base` with the keys and writes their deletes.
    ///
    /// # Errors
    /// What reading the table meets; `io`.
    pub(crate) async fn delete(&self, base: &Table, files: &Uncommitted) -> Result<DeletedRows> {
        let Some(head) = base.branch_head(&self.options.branch)? else { return Ok(DeletedRows::default()) };
        let tasks = plan_files(base, head, |file| self.wanted.may_be_in(file)).await?;
        if tasks.is_empty() {
            return Ok(DeletedRows::default());
        }
        let context = Arc::new(ScanContext::of_writer(base, ScanOptions::of_snapshot(base, head)?, &self.context));
        let tasks: Vec<Arc<FileTask>> = tasks.into_iter().map(Arc::new).collect();
        let found = self.find(&context, &tasks).await?;
        let tasks: Vec<_> = tasks.into_iter().filter(|task| found.contains_key(task.file().file_path())).collect();
        let job = Arc::new(Job {
            table: self.table.clone(),
            options: self.options.clone(),
            // names of their own for every version of the table
            locations: Locations::new(&self.table)?,
            files: files.clone(),
            progress: Arc::new(WriteProgress::default()),
            writers: 1,
            context: self.context.clone(),
        });
        let deleted = delete_rows_of(&job, &context, &tasks, 0, 0, &found).await?;
        if !deleted.files.is_empty() {
            files.sync_folders(job.locations.data_folder()).await?;
        }
        Ok(deleted)
    }

    /// The positions of live rows with the keys, by data file.
    async fn find(&self, context: &Arc<ScanContext>, tasks: &[Arc<FileTask>]) -> Result<RowsByFile> {
        let ids: Vec<i32> = self.wanted.key.iter().map(|column| column.id).collect();
        let reader = Arc::new(KeyRows::new(context, tasks, &ids)?);
        let mut work = Vec::with_capacity(tasks.len());
        for task in tasks {
            let (wanted, context, reader, task) = (self.wanted.clone(), context.clone(), reader.clone(), task.clone());
            let work_of_file = async move { wanted.find_in(&context, &reader, task).await };
            // in tasks of their own, so that they run on all cores
            work.push(async move { SpawnedTask::spawn(work_of_file).await });
        }
        let mut files = stream::iter(work).buffer_unordered(self.options.writers.max(1));
        let mut found = RowsByFile::new();
        while let Some(file) = files.next().await {
            let (path, rows) = file.map_err(|e| Error::internal(format!("looking keys up: {e}")))??;
            if !rows.is_empty() {
                found.insert(path, rows);
            }
        }
        Ok(found)
    }
}

impl Wanted {
    fn may_be_in(&self, file: &DataFile) -> bool {
        self.keys.values.may_be_in(file, &self.key)
    }

    async fn find_in(
        &self,
        context: &Arc<ScanContext>,
        reader: &KeyRows,
        task: Arc<FileTask>,
    ) -> Result<(String, RoaringTreemap)> {
        let path = task.file().file_path().to_owned();
        let mut found = RoaringTreemap::new();
        if skip_row_groups(context, &task, &self.key, self.keys.values.columns()).await? {
            let mut rows = reader.open(task).await.map_err(from_input)?;
            while let Some(batch) = rows.next().await {
                self.probe(&batch.map_err(from_input)?, &mut found)?;
            }
        }
        Ok((path, found))
    }

    /// Adds the positions of the rows of a batch whose key was written.
    fn probe(&self, batch: &RecordBatch, found: &mut RoaringTreemap) -> Result<()> {
        let count = self.key.len();
        let nulls = batch.columns().iter().take(count).any(|column| column.logical_null_count() > 0);
        let some;
        let batch = if nulls {
            // a key that is NULL, from before the column was required, is none that an upsert has
            let whole = (0..batch.num_rows()).map(|row| batch.columns().iter().take(count).all(|c| c.is_valid(row)));
            some = filter_record_batch(batch, &whole.collect()).context(|| "look keys up")?;
            &some
        } else {
            batch
        };
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let (Some(columns), Some(positions)) = (batch.columns().get(..count), batch.columns().get(count)) else {
            return Err(Error::internal("rows without their positions"));
        };
        let keys = self.encoder.encode(columns)?;
        let positions = positions.as_primitive::<Int64Type>().values();
        let maps = &self.keys.maps;
        let writers = if maps.len() > 1 { Some(keys.writers(maps.len())) } else { None };
        for (row, position) in positions.iter().enumerate() {
            let writer = writers.as_ref().and_then(|all| all.get(row)).copied().unwrap_or_default();
            if maps.get(writer).is_some_and(|map| map.contains(&keys, row)) {
                found.insert(u64::try_from(*position).map_err(|_| Error::internal("a row at a negative position"))?);
            }
        }
        Ok(())
    }
}
