//! Reading a table of files.

use std::any::Any;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, StringArray, TimestampMicrosecondArray, new_null_array};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use async_trait::async_trait;
use calve_stream::Op;
use calve_types::{DataType, Error, Result, arrow as mapping};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::datasource::TableType;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::stream;

use super::lines::Place;
use super::listing::{self, DataFile};
use super::sized::{self, Sized};
use super::{FilesystemTable, Format, Metadata, changelog, csv, json, parquet, raw};
use crate::builder::Builder;
use crate::external;

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;
/// Batches that may wait for whoever takes them.
const BATCHES_AHEAD: usize = 2;

#[async_trait]
impl TableProvider for FilesystemTable {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Conditions on partition keys alone choose the files.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        Ok(filters
            .iter()
            .map(|filter| {
                if super::partition::is_about_keys(filter, self) {
                    TableProviderFilterPushDown::Exact
                } else {
                    TableProviderFilterPushDown::Unsupported
                }
            })
            .collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let keys: Vec<String> = self.keys.iter().filter_map(|i| self.columns.get(*i)).map(|(n, _)| n.clone()).collect();
        let (root, default_name) = (self.root.clone(), self.default_name.clone());
        let listed = tokio::task::spawn_blocking(move || listing::files(&root, &keys, &default_name)).await;
        let mut files = listed.map_err(Error::internal).flatten().map_err(external)?;
        files.retain(|file| self.pattern.as_ref().is_none_or(|pattern| pattern.matches(&file.path)));
        if !filters.is_empty() {
            files = super::partition::matching(files, filters, self).map_err(external)?;
        }
        let wanted: Vec<usize> = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let scan = Arc::new(Scan::new(self, &wanted).map_err(external)?);
        let partitions = state.config().target_partitions();
        let (statistics, pieces) = match self.format {
            Format::Parquet(_) => {
                let (read, schema) = (files.clone(), scan.schema.clone());
                let statistics = tokio::task::spawn_blocking(move || sized::statistics(&read, &schema)).await;
                (statistics.map_err(Error::internal).map_err(external)?, cut(files, partitions))
            }
            _ => (None, files.into_iter().map(|file| Piece { file, bytes: 0..u64::MAX }).collect()),
        };
        let groups = share_out(pieces, partitions);
        let partitions = groups
            .into_iter()
            .map(|pieces| Arc::new(FileGroup { scan: scan.clone(), pieces }) as Arc<dyn PartitionStream>)
            .collect();
        let plan = StreamingTableExec::try_new(scan.schema.clone(), partitions, None, None, false, limit)?;
        Ok(match statistics {
            Some(statistics) => Arc::new(Sized::new(Arc::new(plan), statistics)),
            None => Arc::new(plan),
        })
    }
}

/// A file or, where a format can be read from within, a part of one.
#[derive(Debug, Clone)]
struct Piece {
    file: DataFile,
    /// What begins at these bytes of the file is read.
    bytes: Range<u64>,
}

/// Bytes of a part of a file, at least.
const PIECE: u64 = 4 << 20;

/// Parts of about equal size of the files that are larger than one, the others whole.
fn cut(files: Vec<DataFile>, pieces: usize) -> Vec<Piece> {
    let total: u64 = files.iter().map(|file| file.size).sum();
    let size = total.div_ceil(u64::try_from(pieces).unwrap_or(1).max(1)).max(PIECE);
    let parts = |file: DataFile| {
        let count = file.size.div_ceil(size).max(1);
        (0..count).map(move |part| {
            let end = if part + 1 == count { u64::MAX } else { (part + 1) * size };
            Piece { file: file.clone(), bytes: part * size..end }
        })
    };
    files.into_iter().flat_map(parts).collect()
}

/// Pieces in groups of about the same size; each keeps their order.
fn share_out(pieces: Vec<Piece>, groups: usize) -> Vec<Vec<Piece>> {
    let size = |piece: &Piece| piece.file.size.min(piece.bytes.end) - piece.bytes.start;
    let groups = groups.clamp(1, pieces.len().max(1));
    let mut shared: Vec<(u64, Vec<usize>)> = vec![(0, Vec::new()); groups];
    let mut by_size: Vec<usize> = (0..pieces.len()).collect();
    by_size.sort_by_key(|i| std::cmp::Reverse(pieces.get(*i).map_or(0, size)));
    for index in by_size {
        if let Some((sum, group)) = shared.iter_mut().min_by_key(|(sum, group)| (*sum, group.len())) {
            *sum += pieces.get(index).map_or(0, size);
            group.push(index);
        }
    }
    shared
        .into_iter()
        .map(|(_, mut group)| {
            group.sort_unstable();
            group.iter().filter_map(|i| pieces.get(*i)).cloned().collect()
        })
        .collect()
}

/// What is read of each file.
#[derive(Debug)]
struct Scan {
    table: String,
    format: Format,
    /// Columns in a file's rows.
    arity: usize,
    /// The columns read from files: their place in a file's rows, name, type.
    in_files: Vec<(usize, String, DataType)>,
    file_schema: SchemaRef,
    /// Where each column of the result comes from.
    result: Vec<Origin>,
    schema: SchemaRef,
}

#[derive(Debug)]
enum Origin {
    /// A column of the file's batch.
    File(usize),
    /// A partition key: its place among them, its name and type.
    Partition(usize, String, DataType),
    Metadata(Metadata),
    /// The kind of the change: the last column of the file's batch.
    Change,
}

impl Scan {
    fn new(table: &FilesystemTable, wanted: &[usize]) -> Result<Self> {
        let mut in_files = Vec::new();
        let mut result = Vec::new();
        let mut fields = Vec::new();
        let mut file_fields = Vec::new();
        for index in wanted {
            let no_column = || Error::internal(format!("table '{}' has no column {index}", table.name));
            let field = Arc::clone(table.schema.fields().get(*index).ok_or_else(no_column)?);
            let Some((name, data_type)) = table.columns.get(*index) else {
                let place = index.checked_sub(table.columns.len()).ok_or_else(no_column)?;
                result.push(match table.metadata.get(place) {
                    Some(kind) => Origin::Metadata(*kind),
                    None => Origin::Change,
                });
                fields.push(field);
                continue;
            };
            if let Some(key) = table.keys.iter().position(|key| key == index) {
                result.push(Origin::Partition(key, name.clone(), data_type.clone()));
            } else if let Some(place) = table.in_files.iter().position(|column| column == index) {
                result.push(Origin::File(in_files.len()));
                in_files.push((place, name.clone(), data_type.clone()));
                // whether it has NULL is checked afterwards
                file_fields.push(Arc::new(field.as_ref().clone().with_nullable(true)));
            }
            fields.push(field);
        }
        if matches!(table.format, Format::Changelog(_)) {
            file_fields.push(Arc::new(Op::field()));
        }
        Ok(Self {
            table: table.name.clone(),
            format: table.format.clone(),
            arity: table.in_files.len(),
            in_files,
            file_schema: Arc::new(Schema::new(file_fields)),
            result,
            schema: Arc::new(Schema::new(fields)),
        })
    }

    /// The rows of pieces, read as they are asked for; nothing follows an error.
    fn batches(self: Arc<Self>, pieces: Vec<Piece>) -> impl Iterator<Item = Result<RecordBatch>> + Send {
        let mut pieces = pieces.into_iter();
        let mut open: Option<Opened> = None;
        let mut next = move || -> Result<Option<RecordBatch>> {
            loop {
                if let Some((reader, constants)) = &mut open
                    && let Some(batch) = reader.next_batch()?
                {
                    return self.complete(&batch, constants).map(Some);
                }
                let Some(piece) = pieces.next() else { return Ok(None) };
                open = Some((self.open(&piece)?, self.constants(&piece.file)?));
            }
        };
        let mut failed = false;
        std::iter::from_fn(move || {
            let batch = if failed { None } else { next().transpose() };
            failed = matches!(batch, Some(Err(_)));
            batch
        })
    }

    fn open(&self, Piece { file, bytes }: &Piece) -> Result<Box<dyn FileReader + Send>> {
        let place = Place { path: file.path.display().to_string() };
        let columns = || -> Vec<(String, DataType)> {
            self.in_files.iter().map(|(_, name, data_type)| (name.clone(), data_type.clone())).collect()
        };
        let schema = self.file_schema.clone();
        Ok(match &self.format {
            Format::Csv(format) => {
                let columns = self
                    .in_files
                    .iter()
                    .map(|(index, name, data_type)| {
                        let builder = Builder::new(&data_type.logical)?;
                        let logical = data_type.logical.clone();
                        Ok(csv::CsvColumn { index: *index, name: name.clone(), logical, builder })
                    })
                    .collect::<Result<_>>()?;
                let input = open(&file.path, &place)?;
                Box::new(csv::CsvReader::new(format.clone(), input, place, self.arity, columns, schema))
            }
            Format::Json(format) => {
                let input = open(&file.path, &place)?;
                Box::new(json::JsonReader::new(format.clone(), input, place, &columns(), schema)?)
            }
            Format::Parquet(format) => {
                let input = File::open(&file.path).map_err(|e| place.io(&e))?;
                Box::new(parquet::ParquetReader::new(format, input, bytes, place, columns(), schema, BATCH_ROWS)?)
            }
            Format::Changelog(format) => {
                let input = open(&file.path, &place)?;
                Box::new(changelog::ChangelogReader::new(format, input, place, &columns(), schema)?)
            }
            Format::Raw(format) => {
                let input = open(&file.path, &place)?;
                Box::new(raw::RawReader::new(*format, input, place, &columns(), schema)?)
            }
        })
    }

    /// The value of each column that is the same in all rows of a file.
    fn constants(&self, file: &DataFile) -> Result<Vec<Option<ArrayRef>>> {
        self.result
            .iter()
            .map(|origin| match origin {
                Origin::File(_) | Origin::Change => Ok(None),
                Origin::Partition(key, name, data_type) => {
                    let value = file.partition.get(*key).and_then(Option::as_deref);
                    super::partition::value(value, name, data_type, &file.path).map(Some)
                }
                Origin::Metadata(kind) => Ok(Some(metadata_value(*kind, file))),
            })
            .collect()
    }

    fn complete(&self, batch: &RecordBatch, constants: &[Option<ArrayRef>]) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let mut columns = Vec::with_capacity(self.result.len());
        for ((origin, constant), field) in self.result.iter().zip(constants).zip(self.schema.fields()) {
            let array = match (origin, constant) {
                (_, Some(value)) if value.is_null(0) => new_null_array(field.data_type(), rows),
                (_, Some(value)) => {
                    let indices = arrow::array::UInt32Array::from(vec![0; rows]);
                    arrow::compute::take(value, &indices, None).map_err(Error::internal)?
                }
                (Origin::File(index), None) => {
                    batch.columns().get(*index).cloned().ok_or_else(|| Error::internal("a column was not read"))?
                }
                (Origin::Change, None) => {
                    batch.columns().last().cloned().ok_or_else(|| Error::internal("the changes were not read"))?
                }
                (Origin::Partition(..) | Origin::Metadata(_), None) => {
                    return Err(Error::internal("a column of a file has no value"));
                }
            };
            if !field.is_nullable() && array.null_count() > 0 {
                return Err(null_error(&self.table, field.name()));
            }
            columns.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(Error::internal)
    }
}

fn metadata_value(kind: Metadata, file: &DataFile) -> ArrayRef {
    match kind {
        Metadata::Path => Arc::new(StringArray::from(vec![file.path.to_string_lossy().into_owned()])),
        Metadata::Name => {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Arc::new(StringArray::from(vec![name]))
        }
        Metadata::Size => Arc::new(Int64Array::from(vec![i64::try_from(file.size).unwrap_or(i64::MAX)])),
        Metadata::Modified => {
            let micros = file.modified.saturating_mul(1000);
            Arc::new(TimestampMicrosecondArray::from(vec![micros]).with_timezone(mapping::UTC))
        }
    }
}

/// A NULL that was read for a column declared NOT NULL, in the words of Flink's sink, where it would fail.
fn null_error(table: &str, column: &str) -> Error {
    Error::new(
        "null-in-not-null",
        format!("column '{column}' of table '{table}' is NOT NULL, and a row has NULL in it"),
    )
    .with_detail(format!("Column '{column}' is NOT NULL, however, a null value is being written into it."))
    .with_hint("declare the column without NOT NULL")
}

/// Opens a text file, decompressing it as its name's extension says.
fn open(path: &Path, place: &Place) -> Result<Box<dyn Read + Send>> {
    let file = File::open(path).map_err(|e| place.io(&e))?;
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    Ok(match extension {
        "gz" | "gzip" => Box::new(flate2::read::MultiGzDecoder::new(file)),
        "deflate" => Box::new(flate2::read::ZlibDecoder::new(file)),
        "bz2" | "xz" | "zst" => {
            return Err(Error::unsupported(format!("file '{}': compression '{extension}'", place.path))
                .with_hint("text files may be compressed with gzip or deflate"));
        }
        _ => Box::new(file),
    })
}

/// A file that is being read, and the values its rows have in common.
type Opened = (Box<dyn FileReader + Send>, Vec<Option<ArrayRef>>);

/// A reader of one file.
trait FileReader {
    /// The next batch; `None` at the end.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>>;
}

impl<R: Read> FileReader for csv::CsvReader<R> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.next(BATCH_ROWS)
    }
}

impl<R: Read> FileReader for json::JsonReader<R> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.next(BATCH_ROWS)
    }
}

impl<R: Read> FileReader for changelog::ChangelogReader<R> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.next(BATCH_ROWS)
    }
}

impl FileReader for parquet::ParquetReader {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.next()
    }
}

impl<R: Read> FileReader for raw::RawReader<R> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.next(BATCH_ROWS)
    }
}

/// What one partition of the plan reads.
#[derive(Debug)]
struct FileGroup {
    scan: Arc<Scan>,
    pieces: Vec<Piece>,
}

impl PartitionStream for FileGroup {
    fn schema(&self) -> &SchemaRef {
        &self.scan.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let batches = self.scan.clone().batches(self.pieces.clone());
        // a batch of Parquet is decoded faster than it is handed from thread to thread
        if let Format::Parquet(_) = self.scan.format {
            let batches = stream::iter(batches.map(|batch| batch.map_err(external)));
            return Box::pin(RecordBatchStreamAdapter::new(self.scan.schema.clone(), batches));
        }
        let mut builder = RecordBatchReceiverStreamBuilder::new(self.scan.schema.clone(), BATCHES_AHEAD);
        let sender = builder.tx();
        builder.spawn_blocking(move || {
            for batch in batches {
                // a receiver that is gone wants no more rows
                if sender.blocking_send(Ok(batch.map_err(external)?)).is_err() {
                    break;
                }
            }
            Ok::<(), DataFusionError>(())
        });
        builder.build()
    }
}
