//! From a snapshot to the data files to read.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use calve_types::{Error, Result};
use datafusion::common::runtime::SpawnedTask;
use futures::{StreamExt, TryStreamExt, stream};
use iceberg::spec::{
    DataContentType, DataFile, DataFileFormat, ManifestContentType, ManifestEntry, ManifestEntryRef, ManifestFile,
    Snapshot,
};
use parquet::file::metadata::ParquetMetaData;
use tokio::sync::OnceCell;

use super::delete_index::DeleteIndex;
use super::deletes::FileDeletes;
use super::guard::guarded;
use super::prune::{Pruner, kept};
use super::reader::{self, FileReader};
use crate::table::{RESTORE, Table};

/// Of more data files than this, only the metrics are kept that planning looks at: those of one file with a few dozen
/// columns take some kilobytes. DataFusion is not told of bounds then, by which it would choose the sides of joins.
pub(super) const MEASURED_FILES: u64 = 10_000;

/// How many manifests are read at a time.
pub(crate) const CONCURRENT_MANIFESTS: usize = 16;

/// A data file to read, shared by all its ranges.
#[derive(Debug)]
pub(crate) struct FileTask {
    pub(crate) entry: ManifestEntryRef,
    pub(crate) spec_id: i32,
    /// Data sequence number.
    pub(crate) sequence: i64,
    pub(crate) deletes: FileDeletes,
    footer: OnceCell<Arc<ParquetMetaData>>,
    row_groups: OnceLock<Vec<bool>>,
    is_opened: AtomicBool,
}

impl FileTask {
    pub(crate) fn file(&self) -> &DataFile {
        self.entry.data_file()
    }

    /// The footer, read once, by a reader of this file.
    ///
    /// # Errors
    /// `io`, naming the file.
    pub(crate) async fn footer(&self, reader: &mut FileReader) -> Result<Arc<ParquetMetaData>> {
        let load = async {
            let footer = guarded(self.file(), reader::footer(reader, self.file())).await?;
            let (rows, expected) = (footer.file_metadata().num_rows(), self.file().record_count());
            if u64::try_from(rows).ok() != Some(expected) {
                let why = format!("it has {rows} rows, its manifest says {expected}");
                return Err(reader::unreadable(self.file(), &why));
            }
            Ok(footer)
        };
        self.footer.get_or_try_init(|| load).await.cloned()
    }

    /// Has only those row groups read that are `true`, of all of the file. To be said before the file is read, once.
    pub(crate) fn read_only(&self, row_groups: Vec<bool>) {
        let _ = self.row_groups.set(row_groups);
    }

    /// Whether nobody has opened the file for this scan before, for whoever counts files.
    pub(crate) fn is_first_opening(&self) -> bool {
        !self.is_opened.swap(true, Ordering::Relaxed)
    }

    /// The row groups to read, of all of the file; `None` for all.
    pub(crate) fn row_groups(&self) -> Option<&[bool]> {
        self.row_groups.get().map(Vec::as_slice)
    }
}

/// The data files of a snapshot that may have rows the pruner's filter accepts, with the deletes that apply to them.
///
/// # Errors
/// `io` and `invalid-table` for metadata that cannot be read, `not-supported` for data files of formats Iceberg does not have.
pub(crate) async fn plan(table: &Table, snapshot: &Snapshot, pruner: Option<&Pruner>) -> Result<Vec<FileTask>> {
    plan_measured(table, snapshot, pruner, MEASURED_FILES).await
}

/// As [`plan`]; of more than `measured` files only the metrics are kept that planning looks at.
///
/// # Errors
/// As [`plan`].
pub(super) async fn plan_measured(
    table: &Table,
    snapshot: &Snapshot,
    pruner: Option<&Pruner>,
    measured: u64,
) -> Result<Vec<FileTask>> {
    let manifests = table.manifests(snapshot).await?;
    let (data, deletes) = live(&manifests);
    let keep = pruner.map(|p| p.manifests(&data));
    let data = kept(data, keep);
    if data.is_empty() {
        return Ok(Vec::new());
    }
    let index = DeleteIndex::new(table, live_entries(table, &deletes, None).await?)?;
    let columns = pruner.into_iter().flat_map(Pruner::columns).chain(index.columns());
    let metrics = needed_metrics(&data, columns, measured);
    let data = live_entries(table, &data, metrics).await?;
    let keep = pruner.map(|p| p.files(&data.iter().map(|(e, spec)| (e.data_file(), *spec)).collect::<Vec<_>>()));
    tasks(kept(data, keep), &index)
}

/// The data files of a snapshot for which `keep` is true, with the deletes that apply to them.
///
/// # Errors
/// As [`plan`].
pub(crate) async fn plan_files(
    table: &Table,
    snapshot: &Snapshot,
    keep: impl Fn(&DataFile) -> bool + Send,
) -> Result<Vec<FileTask>> {
    let manifests = table.manifests(snapshot).await?;
    let (data, deletes) = live(&manifests);
    let mut data = live_entries(table, &data, None).await?;
    data.retain(|(entry, _)| keep(entry.data_file()));
    if data.is_empty() {
        return Ok(Vec::new());
    }
    let index = DeleteIndex::new(table, live_entries(table, &deletes, None).await?)?;
    tasks(data, &index)
}

/// The manifests with live files: those of data files, those of delete files.
fn live(manifests: &[ManifestFile]) -> (Vec<&ManifestFile>, Vec<&ManifestFile>) {
    let live = manifests.iter().filter(|m| m.has_added_files() || m.has_existing_files());
    live.partition(|m| m.content == ManifestContentType::Data)
}

/// The columns whose metrics are kept of the files of some manifests: `columns` if these are more than `measured`, else all
/// (`None`).
pub(super) fn needed_metrics(
    manifests: &[&ManifestFile],
    columns: impl Iterator<Item = i32>,
    measured: u64,
) -> Option<Arc<HashSet<i32>>> {
    let counts = manifests.iter().flat_map(|m| [m.added_files_count, m.existing_files_count]);
    let files: u64 = counts.flatten().map(u64::from).sum();
    (files > measured).then(|| Arc::new(columns.collect()))
}

/// Data files, each with its spec id, with those deletes that apply to them.
///
/// # Errors
/// As [`plan`].
pub(super) fn tasks(data: Vec<(ManifestEntryRef, i32)>, index: &DeleteIndex) -> Result<Vec<FileTask>> {
    data.into_iter()
        .map(|(entry, spec_id)| {
            let sequence = sequence(&entry)?;
            check(entry.data_file())?;
            let deletes = index.for_file(entry.data_file(), spec_id, sequence);
            let (footer, row_groups, is_opened) = (OnceCell::new(), OnceLock::new(), AtomicBool::new(false));
            Ok(FileTask { entry, spec_id, sequence, deletes, footer, row_groups, is_opened })
        })
        .collect()
}

/// The live entries of manifests, in their order, with the manifests' spec ids; with the metrics of `columns` only, if
/// that is given.
///
/// # Errors
/// `io` and `invalid-table` for a manifest that cannot be read.
pub(super) async fn live_entries(
    table: &Table,
    manifests: &[&ManifestFile],
    columns: Option<Arc<HashSet<i32>>>,
) -> Result<Vec<(ManifestEntryRef, i32)>> {
    // decoded in tasks of their own, on all cores
    let mut loads = Vec::with_capacity(manifests.len());
    for manifest in manifests {
        let (table, manifest, columns) = (table.clone(), (*manifest).clone(), columns.clone());
        loads.push(async move {
            let (spec_id, path) = (manifest.partition_spec_id, manifest.manifest_path.clone());
            let load = SpawnedTask::spawn(async move { load(&table, &manifest, columns.as_deref()).await });
            let entries = load.await.map_err(|_| damaged_manifest(&path))??;
            Ok::<_, Error>((entries, spec_id))
        });
    }
    let mut loaded = stream::iter(loads).buffered(CONCURRENT_MANIFESTS);
    let mut live = Vec::new();
    while let Some((entries, spec_id)) = loaded.try_next().await? {
        live.extend(entries.into_iter().map(|entry| (entry, spec_id)));
    }
    Ok(live)
}

async fn load(table: &Table, manifest: &ManifestFile, columns: Option<&HashSet<i32>>) -> Result<Vec<ManifestEntryRef>> {
    let entries = match columns {
        None => table.entries(manifest).await?,
        // so many entries would only push each other out of the cache
        Some(_) => table.entries_once(manifest, columns).await?,
    };
    Ok(entries.iter().filter(|e| e.is_alive()).cloned().collect())
}

fn damaged_manifest(path: &str) -> Error {
    Error::new("io", format!("cannot read the manifest '{path}': it is damaged")).with_hint(RESTORE)
}

/// The data sequence number of an entry.
///
/// # Errors
/// `invalid-table` if its manifest does not say.
pub(crate) fn sequence(entry: &ManifestEntry) -> Result<i64> {
    entry.sequence_number().ok_or_else(|| {
        Error::new("invalid-table", format!("the file '{}' has no sequence number in its manifest", entry.file_path()))
    })
}

fn check(file: &DataFile) -> Result<()> {
    let path = file.file_path();
    if file.content_type() != DataContentType::Data {
        return Err(Error::new("invalid-table", format!("the delete file '{path}' is listed among data files")));
    }
    match file.file_format() {
        DataFileFormat::Parquet | DataFileFormat::Avro | DataFileFormat::Orc => Ok(()),
        other => Err(Error::unsupported(format!("data file format {} ('{path}')", format_name(other)))),
    }
}

/// The name of a file format.
pub(crate) fn format_name(format: DataFileFormat) -> String {
    format.to_string().to_uppercase()
}
