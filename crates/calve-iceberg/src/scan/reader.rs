//! Reading Parquet files of a table, with errors that name them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use calve_types::{Error, Result};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{ParquetFileMetrics, ParquetFileReaderFactory};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::FutureExt;
use futures::future::BoxFuture;
use iceberg::spec::DataFile;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::{AsyncFileReader, ParquetObjectReader};
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataBuilder, ParquetMetaDataReader};

use crate::io::{TableIo, explain_cause};
use crate::table::RESTORE;

/// Enough for the footer of most files, so that it is read at once.
const FOOTER_BYTES: u64 = 64 * 1024;

/// A file of up to this size is read whole with its footer: on object stores as well as on disks another request costs
/// more than these bytes.
const WHOLE_BYTES: u64 = 256 * 1024;

/// A Parquet file that is read by ranges; what came with the footer is not read again.
#[derive(Debug, Clone)]
pub(crate) struct FileReader {
    store: ParquetObjectReader,
    size: u64,
    /// The end of the file, once the footer was read.
    tail: Bytes,
}

/// A reader of a file; nothing is read yet.
///
/// # Errors
/// As [`TableIo::object_path`].
pub(crate) fn open(io: &TableIo, file: &DataFile) -> Result<FileReader> {
    let size = file.file_size_in_bytes();
    let store = ParquetObjectReader::new(io.object_store(), io.object_path(file.file_path())?).with_file_size(size);
    Ok(FileReader { store, size, tail: Bytes::new() })
}

impl FileReader {
    /// The bytes of a range that lies within the tail.
    fn known(&self, range: &Range<u64>) -> Option<Bytes> {
        let start = range.start.checked_sub(self.size.checked_sub(self.tail.len() as u64)?)?;
        let end = start.checked_add(range.end.checked_sub(range.start)?)?;
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
        (end <= self.tail.len() && start < end).then(|| self.tail.slice(start..end))
    }
}

impl AsyncFileReader for FileReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<Bytes>> {
        match self.known(&range) {
            Some(bytes) => futures::future::ready(Ok(bytes)).boxed(),
            None => self.store.get_bytes(range),
        }
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, parquet::errors::Result<Vec<Bytes>>> {
        match ranges.iter().map(|range| self.known(range)).collect() {
            Some(all) => futures::future::ready(Ok(all)).boxed(),
            None => self.store.get_byte_ranges(ranges),
        }
    }

    fn get_metadata<'a>(
        &'a mut self,
        _: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, parquet::errors::Result<Arc<ParquetMetaData>>> {
        async move {
            let size = self.size;
            let bytes = if size <= WHOLE_BYTES { size } else { FOOTER_BYTES };
            self.tail = self.store.get_bytes(size - bytes..size).await?;
            let parse = ParquetMetaDataReader::new().with_prefetch_hint(usize::try_from(bytes).ok());
            Ok(Arc::new(parse.load_and_finish(self, size).await?))
        }
        .boxed()
    }
}

/// The footer of a file, without the hints that writers leave for themselves: an embedded Arrow schema would decide how
/// columns are decoded (dictionaries, large strings, views), but only the Parquet types and field ids count here.
///
/// # Errors
/// `io`, naming the file, if it is missing, cut off or not a Parquet file.
pub(crate) async fn footer(reader: &mut FileReader, file: &DataFile) -> Result<Arc<ParquetMetaData>> {
    let footer = reader.get_metadata(None).await.map_err(|e| unreadable_because(file, &e))?;
    let stored = footer.file_metadata();
    let plain = FileMetaData::new(
        stored.version(),
        stored.num_rows(),
        stored.created_by().map(str::to_owned),
        None,
        stored.schema_descr_ptr(),
        stored.column_orders().cloned(),
    );
    let plain = ParquetMetaDataBuilder::new(plain).set_row_groups(footer.row_groups().to_vec());
    Ok(Arc::new(plain.build()))
}

/// The error of a file that cannot be read.
pub(crate) fn unreadable(file: &DataFile, error: &dyn fmt::Display) -> Error {
    Error::new("io", format!("cannot {}: {error}", reading(file))).with_hint(RESTORE)
}

/// The same for a library's error, which storage may have caused: then the file may be as it should be.
pub(crate) fn unreadable_because(file: &DataFile, error: &(dyn std::error::Error + 'static)) -> Error {
    let Some(failure) = explain_cause(error) else { return unreadable(file, &error) };
    let error = failure.error(reading(file));
    if error.hint.is_none() { error.with_hint(RESTORE) } else { error }
}

fn reading(file: &DataFile) -> String {
    let kind = match file.content_type() {
        iceberg::spec::DataContentType::Data => "data file",
        _ => "delete file",
    };
    format!("read the {kind} '{}'", file.file_path())
}

/// An error of reading a file, with the file's name unless it is about something else.
pub(crate) fn named(file: &DataFile, error: DataFusionError) -> DataFusionError {
    match &error {
        DataFusionError::ParquetError(_)
        | DataFusionError::ArrowError(..)
        | DataFusionError::ObjectStore(_)
        | DataFusionError::IoError(_)
        | DataFusionError::Execution(_) => match explain_cause(&error) {
            Some(_) => super::external(unreadable_because(file, &error)),
            None => super::external(unreadable(file, &error.strip_backtrace())),
        },
        _ => error,
    }
}

/// Readers of one file whose footer is known.
#[derive(Debug)]
pub(crate) struct KnownFooter {
    pub(crate) reader: FileReader,
    pub(crate) footer: Arc<ParquetMetaData>,
}

impl ParquetFileReaderFactory for KnownFooter {
    fn create_reader(
        &self,
        partition: usize,
        file: PartitionedFile,
        _: Option<usize>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> DfResult<Box<dyn AsyncFileReader + Send>> {
        let metrics = ParquetFileMetrics::new(partition, file.object_meta.location.as_ref(), metrics);
        Ok(Box::new(MeasuredReader { reader: self.reader.clone(), footer: self.footer.clone(), metrics }))
    }
}

struct MeasuredReader {
    reader: FileReader,
    footer: Arc<ParquetMetaData>,
    metrics: ParquetFileMetrics,
}

impl MeasuredReader {
    fn count(&self, range: &Range<u64>) {
        let bytes = range.end.saturating_sub(range.start);
        self.metrics.bytes_scanned.add(usize::try_from(bytes).unwrap_or(usize::MAX));
    }
}

impl AsyncFileReader for MeasuredReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<Bytes>> {
        self.count(&range);
        self.reader.get_bytes(range)
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, parquet::errors::Result<Vec<Bytes>>> {
        ranges.iter().for_each(|range| self.count(range));
        self.reader.get_byte_ranges(ranges)
    }

    fn get_metadata<'a>(
        &'a mut self,
        _: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, parquet::errors::Result<Arc<ParquetMetaData>>> {
        let footer = self.footer.clone();
        async move { Ok(footer) }.boxed()
    }
}
