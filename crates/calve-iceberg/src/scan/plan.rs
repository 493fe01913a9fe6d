//! From a snapshot to the data files to read.

use std::sync::Arc;

use calve_types::{Error, Result};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use iceberg::spec::{
    DataContentType, DataFile, DataFileFormat, ManifestContentType, ManifestEntry, ManifestEntryRef, ManifestFile,
    Snapshot,
};
use parquet::file::metadata::ParquetMetaData;
use tokio::sync::OnceCell;

use super::context::ScanContext;
use super::delete_index::DeleteIndex;
use super::deletes::FileDeletes;
use super::prune::Pruner;
use super::reader;
use crate::table::Table;

/// How many manifests are read at a time.
const CONCURRENT_MANIFESTS: usize = 16;

/// A data file to read, shared by all its ranges.
#[derive(Debug)]
pub(crate) struct FileTask {
    pub(crate) entry: ManifestEntryRef,
    pub(crate) spec_id: i32,
    /// Data sequence number.
    pub(crate) sequence: i64,
    pub(crate) deletes: FileDeletes,
    footer: OnceCell<Arc<ParquetMetaData>>,
}

impl FileTask {
    pub(crate) fn file(&self) -> &DataFile {
        self.entry.data_file()
    }

    /// The footer, read once.
    ///
    /// # Errors
    /// `io`, naming the file.
    pub(crate) async fn footer(&self, context: &ScanContext) -> Result<Arc<ParquetMetaData>> {
        let load = || async {
            let mut reader = reader::open(context.table.io(), self.file())?;
            reader::footer(&mut reader, self.file()).await
        };
        self.footer.get_or_try_init(load).await.cloned()
    }
}

/// The data files of a snapshot that may have rows the pruner's filter accepts, with the deletes that apply to them.
///
/// # Errors
/// `io` and `invalid-table` for metadata that cannot be read, `not-supported` for data files that are not Parquet.
pub(crate) async fn plan(table: &Table, snapshot: &Snapshot, pruner: Option<&Pruner>) -> Result<Vec<FileTask>> {
    let manifests = table.manifests(snapshot).await?;
    let live = manifests.iter().filter(|m| m.has_added_files() || m.has_existing_files());
    let (data, deletes): (Vec<&ManifestFile>, Vec<_>) = live.partition(|m| m.content == ManifestContentType::Data);
    let kept = pruner.map(|p| p.manifests(&data));
    let data: Vec<_> = match kept {
        Some(kept) => data.into_iter().zip(kept).filter(|(_, keep)| *keep).map(|(m, _)| m).collect(),
        None => data,
    };
    let data = live_entries(table, &data).await?;
    let kept = pruner.map(|p| p.files(&data.iter().map(|(e, spec)| (e.data_file(), *spec)).collect::<Vec<_>>()));
    let data: Vec<_> = match kept {
        Some(kept) => data.into_iter().zip(kept).filter(|(_, keep)| *keep).map(|(e, _)| e).collect(),
        None => data,
    };
    if data.is_empty() {
        return Ok(Vec::new());
    }
    let index = DeleteIndex::new(table, live_entries(table, &deletes).await?)?;
    data.into_iter()
        .map(|(entry, spec_id)| {
            let sequence = sequence(&entry)?;
            check(entry.data_file())?;
            let deletes = index.for_file(entry.data_file(), spec_id, sequence);
            Ok(FileTask { entry, spec_id, sequence, deletes, footer: OnceCell::new() })
        })
        .collect()
}

/// The live entries of manifests, in their order, with the manifests' spec ids.
async fn live_entries(table: &Table, manifests: &[&ManifestFile]) -> Result<Vec<(ManifestEntryRef, i32)>> {
    // boxed, since the compiler cannot tell that a closure over references works for all of them
    let loads: Vec<BoxFuture<'_, Result<_>>> =
        manifests.iter().map(|m| async move { Ok((table.entries(m).await?, m.partition_spec_id)) }.boxed()).collect();
    let loaded: Vec<_> = stream::iter(loads).buffered(CONCURRENT_MANIFESTS).try_collect().await?;
    let live = loaded
        .iter()
        .flat_map(|(entries, spec_id)| entries.iter().filter(|e| e.is_alive()).map(|entry| (entry.clone(), *spec_id)));
    Ok(live.collect())
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
        DataFileFormat::Parquet => Ok(()),
        other => Err(Error::unsupported(format!("data file format {} ('{path}')", format_name(other)))),
    }
}

/// The name of a file format.
pub(crate) fn format_name(format: DataFileFormat) -> String {
    format.to_string().to_uppercase()
}
