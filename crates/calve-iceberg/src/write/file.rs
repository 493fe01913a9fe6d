//! One file of any format, from its first row to the [`DataFile`] that describes it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use calve_types::{Error, Result};
use iceberg::spec::{DataContentType, DataFile, DataFileBuilder, DataFileFormat, NestedFieldRef, Schema, SchemaId};
use parquet::arrow::AsyncArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::SchemaDescriptor;

use super::avro::{AvroKind, AvroWriter};
use super::encode::{count_nans, encode};
use super::file_options::FileOptions;
use super::metrics::{BatchMetrics, Metrics, MetricsConfig};
use super::options::WriteOptions;
use super::orc::{OrcKind, OrcWriter};
use super::parquet_schema::{parquet_schema, physical_arrow};
use super::partition::Partition;
use super::upload::{Uncommitted, Upload, from_parquet};
use crate::commit::NewFile;
use crate::error::Context;
use crate::io::TableIo;
use crate::scan::RowColumn;
use crate::table::Table;

/// What all files of one kind have in common.
pub(crate) struct FileKind {
    content: DataContentType,
    columns: Vec<NestedFieldRef>,
    arrow: ArrowSchemaRef,
    encoding: Encoding,
    metrics: MetricsConfig,
    equality_ids: Option<Vec<i32>>,
    /// The table's sort order that the rows of every file are in; 0 for none.
    pub(crate) sort_order_id: i32,
    /// What the name of a file ends with.
    pub(crate) suffix: &'static str,
}

/// How rows become bytes.
enum Encoding {
    Parquet(SchemaDescriptor, Box<WriterProperties>),
    Avro(AvroKind),
    Orc(OrcKind),
}

impl Encoding {
    fn format(&self) -> DataFileFormat {
        match self {
            Self::Parquet(..) => DataFileFormat::Parquet,
            Self::Avro(_) => DataFileFormat::Avro,
            Self::Orc(_) => DataFileFormat::Orc,
        }
    }

    /// What the names of data files or delete files end with.
    fn suffix(&self, content: DataContentType) -> &'static str {
        match (self, content) {
            (Self::Parquet(..), DataContentType::Data) => ".parquet",
            (Self::Parquet(..), _) => "-deletes.parquet",
            (Self::Avro(_), DataContentType::Data) => ".avro",
            (Self::Avro(_), _) => "-deletes.avro",
            (Self::Orc(_), DataContentType::Data) => ".orc",
            (Self::Orc(_), _) => "-deletes.orc",
        }
    }
}

impl FileKind {
    /// Data files of the table's current schema.
    ///
    /// # Errors
    /// As [`crate::schema::to_arrow`]; `not-supported` for what calve does not write in the format.
    pub(crate) fn data(table: &Table, options: &WriteOptions) -> Result<Self> {
        let schema = table.metadata().current_schema();
        let columns = schema.as_struct().fields().to_vec();
        let metrics = MetricsConfig::of_table(table, &columns, &options.key);
        Self::new(DataContentType::Data, columns, schema, metrics, &options.data, &[])
    }

    /// Data files of the table's current schema with columns about rows behind its own: rows that keep their ids.
    ///
    /// # Errors
    /// As [`FileKind::data`].
    pub(crate) fn data_with(table: &Table, options: &WriteOptions, more: &[RowColumn]) -> Result<Self> {
        if more.is_empty() {
            return Self::data(table, options);
        }
        let schema = table.metadata().current_schema();
        let mut columns = schema.as_struct().fields().to_vec();
        columns.extend(more.iter().map(|column| column.field()));
        let schema = of_columns(&columns, schema.schema_id())?;
        let metrics = MetricsConfig::of_table(table, &columns, &options.key);
        Self::new(DataContentType::Data, columns, &schema, metrics, &options.data, &[])
    }

    /// Equality delete files: the columns of the key and nothing else.
    ///
    /// # Errors
    /// As [`FileKind::data`].
    pub(crate) fn equality_deletes(
        table: &Table,
        options: &WriteOptions,
        columns: Vec<NestedFieldRef>,
    ) -> Result<Self> {
        let schema = of_columns(&columns, table.metadata().current_schema().schema_id())?;
        // with full bounds a scan skips delete files that cannot matter; the texts of keys are short
        let metrics = MetricsConfig::of_table(table, &columns, &options.key);
        let ids: Vec<String> = options.key.iter().map(i32::to_string).collect();
        let entries = [("delete-type", "equality"), ("delete-field-ids", &ids.join(", "))];
        let content = DataContentType::EqualityDeletes;
        let kind = Self::new(content, columns, &schema, metrics, &options.deletes, &entries)?;
        Ok(Self { equality_ids: Some(options.key.clone()), ..kind })
    }

    /// Position delete files.
    ///
    /// # Errors
    /// As [`FileKind::data`].
    pub(crate) fn position_deletes(options: &WriteOptions, columns: Vec<NestedFieldRef>) -> Result<Self> {
        let schema = of_columns(&columns, 0)?;
        let metrics = MetricsConfig::full(&columns);
        let entries = [("delete-type", "position")];
        Self::new(DataContentType::PositionDeletes, columns, &schema, metrics, &options.deletes, &entries)
    }

    /// `entries` are what a file's header or footer says besides the schema.
    fn new(
        content: DataContentType,
        columns: Vec<NestedFieldRef>,
        schema: &Schema,
        metrics: MetricsConfig,
        options: &FileOptions,
        entries: &[(&str, &str)],
    ) -> Result<Self> {
        let json = serde_json::to_string(schema).context(|| "print a table schema")?;
        let entries = [("iceberg.schema", json.as_str())].into_iter().chain(entries.iter().copied());
        let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let encoding = match options {
            FileOptions::Parquet(options) => {
                let parquet = parquet_schema(&columns)?;
                let properties = options.properties(&parquet, metrics.statistics_bytes());
                let entries = entries.map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned()));
                let properties = properties.into_builder().set_key_value_metadata(Some(entries.collect())).build();
                Encoding::Parquet(parquet, Box::new(properties))
            }
            FileOptions::Avro(codec) => Encoding::Avro(AvroKind::new(&columns, *codec, entries.map(owned).collect())?),
            FileOptions::Orc(options) => Encoding::Orc(OrcKind::new(&columns, options, entries.map(owned).collect())?),
        };
        Ok(Self {
            content,
            arrow: physical_arrow(&columns)?,
            columns,
            metrics,
            equality_ids: None,
            sort_order_id: 0,
            suffix: encoding.suffix(content),
            encoding,
        })
    }
}

fn of_columns(columns: &[NestedFieldRef], id: SchemaId) -> Result<Schema> {
    let built = Schema::builder().with_schema_id(id).with_fields(columns.iter().cloned()).build();
    built.context(|| "make the schema of a file")
}

/// An open file.
pub(crate) struct FileWriter {
    kind: Arc<FileKind>,
    partition: Arc<Partition>,
    location: Arc<str>,
    writer: Writer,
    rows: u64,
    nans: HashMap<i32, u64>,
    /// Bytes on their way to storage.
    sending: Arc<AtomicUsize>,
}

/// What turns rows into bytes.
enum Writer {
    Parquet(Box<AsyncArrowWriter<Upload>>),
    Avro(Box<AvroWriter>),
    Orc(Box<OrcWriter>, BatchMetrics),
}

/// What is known about a complete file.
struct Complete {
    size: u64,
    /// Where its parts begin that can be read one by one, if it has such.
    parts: Option<Vec<i64>>,
    metrics: Metrics,
}

impl FileWriter {
    /// Starts a file.
    ///
    /// # Errors
    /// `interrupted` if the job was cancelled.
    pub(crate) fn open(
        kind: &Arc<FileKind>,
        partition: &Arc<Partition>,
        files: &Uncommitted,
        io: &TableIo,
        location: &str,
    ) -> Result<Self> {
        let upload = Upload::new(files, io, location)?;
        let sending = upload.held();
        let writer = match &kind.encoding {
            Encoding::Parquet(schema, properties) => {
                let options = ArrowWriterOptions::new()
                    .with_properties(WriterProperties::clone(properties))
                    .with_parquet_schema(schema.clone())
                    .with_skip_arrow_metadata(true);
                let writer = AsyncArrowWriter::try_new_with_options(upload, kind.arrow.clone(), options);
                Writer::Parquet(Box::new(writer.map_err(|e| from_parquet(e, location))?))
            }
            Encoding::Avro(avro) => Writer::Avro(Box::new(AvroWriter::new(avro, upload))),
            Encoding::Orc(orc) => {
                Writer::Orc(Box::new(OrcWriter::new(orc, &kind.columns, upload)), BatchMetrics::default())
            }
        };
        Ok(Self {
            kind: kind.clone(),
            partition: partition.clone(),
            location: location.into(),
            writer,
            rows: 0,
            nans: HashMap::new(),
            sending,
        })
    }

    /// The partition of its rows.
    pub(crate) fn partition(&self) -> &Arc<Partition> {
        &self.partition
    }

    /// Rows written: the position of the next one.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The size the file would have if it ended here, about, in bytes.
    pub(crate) fn size(&self) -> usize {
        match &self.writer {
            Writer::Parquet(writer) => writer.bytes_written().saturating_add(writer.in_progress_size()),
            Writer::Avro(writer) => writer.size(),
            Writer::Orc(writer, _) => writer.size(),
        }
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.buffered().saturating_add(self.sending.load(Ordering::Relaxed))
    }

    /// Those that [`FileWriter::flush`] frees.
    pub(crate) fn buffered(&self) -> usize {
        match &self.writer {
            Writer::Parquet(writer) => writer.memory_size(),
            Writer::Avro(writer) => writer.memory(),
            Writer::Orc(writer, _) => writer.memory(),
        }
    }

    /// Appends rows.
    ///
    /// # Errors
    /// As [`encode`]; `null-in-not-null` and `invalid-value` for what the format cannot hold; `io`.
    pub(crate) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let kind = &self.kind;
        let encoded = encode(batch, &kind.columns, &kind.arrow)?;
        count_nans(&kind.columns, encoded.columns(), &mut self.nans);
        match (&mut self.writer, &kind.encoding) {
            (Writer::Parquet(writer), _) => {
                writer.write(&encoded).await.map_err(|e| from_parquet(e, &self.location))?;
            }
            (Writer::Avro(writer), _) => writer.write(&kind.columns, &encoded).await?,
            (Writer::Orc(writer, metrics), Encoding::Orc(orc)) => {
                metrics.add(&kind.metrics, &kind.columns, encoded.columns());
                writer.write(orc, &encoded).await?;
            }
            (Writer::Orc(..), _) => return Err(Error::internal("a file changed its format")),
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Ends the row group, the block or the stripe, which frees its memory.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        match (&mut self.writer, &self.kind.encoding) {
            (Writer::Parquet(writer), _) => writer.flush().await.map_err(|e| from_parquet(e, &self.location)),
            (Writer::Avro(writer), _) => writer.flush().await,
            (Writer::Orc(writer, _), Encoding::Orc(orc)) => writer.flush(orc).await,
            (Writer::Orc(..), _) => Err(Error::internal("a file changed its format")),
        }
    }

    /// Ends the file; it is durable then. `referenced` is the data file a position delete file is about.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn finish(self, referenced: Option<String>) -> Result<NewFile> {
        let kind = &self.kind;
        let complete = match (self.writer, &kind.encoding) {
            (Writer::Parquet(mut writer), _) => {
                let footer = writer.finish().await.map_err(|e| from_parquet(e, &self.location))?;
                Complete {
                    size: writer.bytes_written() as u64,
                    parts: Some(split_offsets(&footer)),
                    metrics: Metrics::of_file(&footer, &kind.metrics, &self.nans)?,
                }
            }
            // as Java's library, which keeps no metrics of Avro's columns
            (Writer::Avro(writer), _) => {
                Complete { size: writer.finish().await?, parts: None, metrics: Metrics::default() }
            }
            (Writer::Orc(writer, metrics), Encoding::Orc(orc)) => {
                let end = writer.finish(orc).await?;
                let metrics = metrics.finish(&kind.metrics, &self.nans, end.column_sizes)?;
                Complete { size: end.size, parts: Some(end.stripes), metrics }
            }
            (Writer::Orc(..), _) => return Err(Error::internal("a file changed its format")),
        };
        let file = describe(kind, &self.partition, &self.location, self.rows, complete, referenced)?;
        Ok(NewFile { spec_id: self.partition.spec_id, file })
    }
}

fn describe(
    kind: &FileKind,
    partition: &Partition,
    location: &str,
    rows: u64,
    complete: Complete,
    referenced: Option<String>,
) -> Result<DataFile> {
    let metrics = complete.metrics;
    let mut builder = DataFileBuilder::default();
    builder
        .content(kind.content)
        .file_path(location.to_owned())
        .file_format(kind.encoding.format())
        .partition(partition.values.clone())
        .partition_spec_id(partition.spec_id)
        .record_count(rows)
        .file_size_in_bytes(complete.size)
        .column_sizes(metrics.column_sizes)
        .value_counts(metrics.value_counts)
        .null_value_counts(metrics.null_value_counts)
        .nan_value_counts(metrics.nan_value_counts)
        .lower_bounds(metrics.lower_bounds)
        .upper_bounds(metrics.upper_bounds)
        .split_offsets(complete.parts)
        .equality_ids(kind.equality_ids.clone())
        .referenced_data_file(referenced);
    if kind.content != DataContentType::PositionDeletes {
        builder.sort_order_id(kind.sort_order_id);
    }
    builder.build().map_err(|e| Error::internal(format!("describe the file '{location}': {e}")))
}

/// Where the row groups start.
fn split_offsets(footer: &ParquetMetaData) -> Vec<i64> {
    let first = |columns: &[parquet::file::metadata::ColumnChunkMetaData]| {
        columns
            .first()
            .map(|c| c.dictionary_page_offset().map_or(c.data_page_offset(), |d| d.min(c.data_page_offset())))
    };
    footer.row_groups().iter().filter_map(|group| first(group.columns())).collect()
}
