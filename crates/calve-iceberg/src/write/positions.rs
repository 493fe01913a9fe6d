//! Rows deleted by position from data files of a snapshot: one delete file or deletion vector for every data file, which
//! also takes over what older ones about that data file delete.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_types::{Error, Result};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use iceberg::spec::{FormatVersion, Snapshot};
use roaring::RoaringTreemap;

use super::job::Job;
use super::partition::Partition;
use super::position_deletes::{About, no_deletes_in_v1, write_about};
use crate::commit::{FileId, NewFile};
use crate::scan::{FileTask, ScanContext, ScanOptions, plan_files};
use crate::table::Table;

/// Data files whose deletes are read at the same time.
const CONCURRENT: usize = 8;

/// Positions of rows by the location of their data file, as the table's metadata spells it.
pub(crate) type RowsByFile = BTreeMap<String, RoaringTreemap>;

/// Delete files and what they stand for.
#[derive(Debug, Default)]
pub(crate) struct DeletedRows {
    /// Position delete files (format version 2) or deletion vectors (3), one for every data file, with the data file's
    /// partition and spec.
    pub(crate) files: Vec<NewFile>,
    /// Live delete files and deletion vectors that `files` replace: they are about the same data file and no other.
    pub(crate) removed: Vec<FileId>,
    /// How many rows `files` delete that were not deleted before.
    pub(crate) rows: u64,
}

/// Deletes rows of the data files of a snapshot of `table`, whose format version decides about the files. Rows that are
/// deleted already are left out. `writer` and `first_name` make the names of the files.
///
/// # Errors
/// `upsert-format-v1` for a table of format version 1; `internal` for rows of files that are not live or positions they
/// do not have; `io`, `invalid-table`.
pub(crate) async fn delete_rows(
    job: &Arc<Job>,
    table: &Table,
    snapshot: &Snapshot,
    writer: usize,
    first_name: usize,
    rows: &RowsByFile,
) -> Result<DeletedRows> {
    if rows.is_empty() {
        return Ok(DeletedRows::default());
    }
    let tasks = plan_files(table, snapshot, |file| rows.contains_key(file.file_path())).await?;
    if tasks.len() != rows.len() {
        return Err(Error::internal(format!(
            "rows of {} data files to delete, {} of them in snapshot {}",
            rows.len(),
            tasks.len(),
            snapshot.snapshot_id()
        )));
    }
    let context = Arc::new(ScanContext::of_writer(table, ScanOptions::of_snapshot(table, snapshot)?, &job.context));
    let tasks: Vec<_> = tasks.into_iter().map(Arc::new).collect();
    delete_rows_of(job, &context, &tasks, writer, first_name, rows).await
}

/// As [`delete_rows`], of these data files.
///
/// # Errors
/// As [`delete_rows`].
pub(crate) async fn delete_rows_of(
    job: &Arc<Job>,
    context: &Arc<ScanContext>,
    tasks: &[Arc<FileTask>],
    writer: usize,
    first_name: usize,
    rows: &RowsByFile,
) -> Result<DeletedRows> {
    let version = context.table.metadata().format_version();
    if version == FormatVersion::V1 {
        return Err(no_deletes_in_v1(&job.options));
    }
    // boxed, since the compiler cannot tell that a closure over references works for all of them
    let work: Vec<BoxFuture<'_, Result<Option<Merged>>>> =
        tasks.iter().map(|task| merge(context, version, task, rows).boxed()).collect();
    let merged: Vec<Option<Merged>> = stream::iter(work).buffered(CONCURRENT).try_collect().await?;
    let mut all = DeletedRows::default();
    let mut about = Vec::with_capacity(merged.len());
    for file in merged.into_iter().flatten() {
        all.rows += file.fresh;
        all.removed.extend(file.removed);
        about.push((file.about, file.deleted));
    }
    all.files = write_about(job, version, writer, first_name, &about).await?;
    Ok(all)
}

/// The deletes of one data file.
struct Merged {
    about: About,
    deleted: RoaringTreemap,
    removed: Vec<FileId>,
    fresh: u64,
}

/// The rows with those that are deleted already; `None` if all of them are.
async fn merge(
    context: &Arc<ScanContext>,
    version: FormatVersion,
    task: &FileTask,
    rows: &RowsByFile,
) -> Result<Option<Merged>> {
    let path = task.file().file_path();
    let fresh = rows.get(path).ok_or_else(|| Error::internal("a data file that was not asked for"))?;
    if fresh.max().is_some_and(|last| last >= task.file().record_count()) {
        return Err(Error::internal(format!("row {} of '{path}', which has fewer", fresh.max().unwrap_or_default())));
    }
    let known = task.deletes.positions(context, path, task.sequence).await?;
    let fresh = fresh - known.as_ref();
    if fresh.is_empty() {
        return Ok(None);
    }
    let (files, of_this_file) = task.deletes.of_this_file_only(context, path, task.sequence).await?;
    let removed = files.into_iter().map(FileId::of).collect();
    let count = fresh.len();
    // where there is a deletion vector, nobody looks at position delete files
    let older = if version >= FormatVersion::V3 { known.as_ref().clone() } else { of_this_file };
    let partition = Partition {
        spec_id: task.spec_id,
        values: task.file().partition().clone(),
        path: String::new(), // the file only needs a name of its own
    };
    let about = About { path: path.to_owned(), partition: Arc::new(partition) };
    Ok(Some(Merged { about, deleted: fresh | older, removed, fresh: count }))
}
