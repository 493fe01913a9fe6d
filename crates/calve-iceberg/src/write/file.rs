//! One Parquet file, from its first row to the [`DataFile`] that describes it.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef as ArrowSchemaRef;
use calve_types::{Error, Result};
use iceberg::spec::{
    DataContentType, DataFile, DataFileBuilder, DataFileFormat, NestedFieldRef, Schema, SchemaId, SortOrder,
};
use parquet::arrow::AsyncArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::{ColumnPath, SchemaDescriptor};

use super::encode::{count_nans, encode};
use super::metrics::{Metrics, MetricsConfig};
use super::options::WriteOptions;
use super::parquet_schema::{parquet_schema, physical_arrow};
use super::partition::Partition;
use super::upload::{Uncommitted, Upload, from_parquet};
use crate::commit::NewFile;
use crate::error::Context;
use crate::io::TableIo;
use crate::table::Table;

/// A row group holds at most so many rows: more do not compress better.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// What all files of one kind have in common.
pub(crate) struct FileKind {
    content: DataContentType,
    columns: Vec<NestedFieldRef>,
    arrow: ArrowSchemaRef,
    parquet: SchemaDescriptor,
    properties: WriterProperties,
    metrics: MetricsConfig,
    equality_ids: Option<Vec<i32>>,
    /// What the name of a file ends with.
    pub(crate) suffix: &'static str,
}

impl FileKind {
    /// Data files of the table's current schema.
    ///
    /// # Errors
    /// As [`crate::schema::to_arrow`].
    pub(crate) fn data(table: &Table, options: &WriteOptions) -> Result<Self> {
        let schema = table.metadata().current_schema();
        let columns = schema.as_struct().fields().to_vec();
        let metrics = MetricsConfig::of_table(table, &columns, &options.key);
        let mut kind = Self::new(DataContentType::Data, columns, schema, metrics, options, ".parquet")?;
        kind.properties = bloom_filters(kind.properties, table, &kind.parquet)?;
        Ok(kind)
    }

    /// Equality delete files: the columns of the key and nothing else.
    ///
    /// # Errors
    /// As [`crate::schema::to_arrow`].
    pub(crate) fn equality_deletes(
        table: &Table,
        options: &WriteOptions,
        columns: Vec<NestedFieldRef>,
    ) -> Result<Self> {
        let schema = of_columns(&columns, table.metadata().current_schema().schema_id())?;
        // with full bounds a scan skips delete files that cannot matter; the texts of keys are short
        let metrics = MetricsConfig::of_table(table, &columns, &options.key);
        let mut kind =
            Self::new(DataContentType::EqualityDeletes, columns, &schema, metrics, options, "-deletes.parquet")?;
        kind.equality_ids = Some(options.key.clone());
        let ids: Vec<String> = options.key.iter().map(i32::to_string).collect();
        kind.properties =
            with_metadata(kind.properties, &[("delete-type", "equality"), ("delete-field-ids", &ids.join(", "))]);
        Ok(kind)
    }

    /// Position delete files.
    ///
    /// # Errors
    /// Errors of Parquet.
    pub(crate) fn position_deletes(options: &WriteOptions, columns: Vec<NestedFieldRef>) -> Result<Self> {
        let schema = of_columns(&columns, 0)?;
        let metrics = MetricsConfig::full(&columns);
        let mut kind =
            Self::new(DataContentType::PositionDeletes, columns, &schema, metrics, options, "-deletes.parquet")?;
        kind.properties = with_metadata(kind.properties, &[("delete-type", "position")]);
        Ok(kind)
    }

    fn new(
        content: DataContentType,
        columns: Vec<NestedFieldRef>,
        schema: &Schema,
        metrics: MetricsConfig,
        options: &WriteOptions,
        suffix: &'static str,
    ) -> Result<Self> {
        let json = serde_json::to_string(schema).context(|| "print a table schema")?;
        let properties = WriterProperties::builder()
            .set_created_by(concat!("calve ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(options.compression)
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_max_row_group_bytes(Some(options.row_group_bytes))
            .set_data_page_size_limit(options.page_bytes)
            .set_data_page_row_count_limit(options.page_rows)
            .set_dictionary_page_size_limit(options.dictionary_bytes)
            .set_statistics_truncate_length(metrics.statistics_bytes())
            .build();
        Ok(Self {
            content,
            arrow: physical_arrow(&columns)?,
            parquet: parquet_schema(&columns)?,
            columns,
            properties: with_metadata(properties, &[("iceberg.schema", &json)]),
            metrics,
            equality_ids: None,
            suffix,
        })
    }
}

fn of_columns(columns: &[NestedFieldRef], id: SchemaId) -> Result<Schema> {
    let built = Schema::builder().with_schema_id(id).with_fields(columns.iter().cloned()).build();
    built.context(|| "make the schema of a delete file")
}

fn with_metadata(properties: WriterProperties, entries: &[(&str, &str)]) -> WriterProperties {
    let mut all = properties.key_value_metadata().cloned().unwrap_or_default();
    all.extend(entries.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned())));
    properties.into_builder().set_key_value_metadata(Some(all)).build()
}

/// `write.parquet.bloom-filter-enabled.column.<name>` and its false positive rate.
fn bloom_filters(properties: WriterProperties, table: &Table, parquet: &SchemaDescriptor) -> Result<WriterProperties> {
    const ENABLED: &str = "write.parquet.bloom-filter-enabled.column.";
    const RATE: &str = "write.parquet.bloom-filter-fpp.column.";
    let mut builder = properties.into_builder();
    for (key, value) in table.metadata().properties() {
        let Some(name) = key.strip_prefix(ENABLED) else { continue };
        let path = ColumnPath::from(name.split('.').map(str::to_owned).collect::<Vec<_>>());
        let known = parquet.columns().iter().any(|c| *c.path() == path);
        if !known || !value.eq_ignore_ascii_case("true") {
            continue;
        }
        builder = builder.set_column_bloom_filter_enabled(path.clone(), true);
        if let Some(rate) = table.property(&format!("{RATE}{name}")) {
            let rate = rate.trim().parse::<f64>().ok().filter(|r| *r > 0.0 && *r < 1.0).ok_or_else(|| {
                Error::new("invalid-option", format!("invalid value '{rate}' for option '{RATE}{name}'"))
                    .with_hint("use a number between 0 and 1")
            })?;
            builder = builder.set_column_bloom_filter_fpp(path, rate);
        }
    }
    Ok(builder.build())
}

/// An open file.
pub(crate) struct FileWriter {
    kind: Arc<FileKind>,
    partition: Arc<Partition>,
    location: Arc<str>,
    writer: AsyncArrowWriter<Upload>,
    rows: u64,
    nans: HashMap<i32, u64>,
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
        let options = ArrowWriterOptions::new()
            .with_properties(kind.properties.clone())
            .with_parquet_schema(kind.parquet.clone())
            .with_skip_arrow_metadata(true);
        let writer = AsyncArrowWriter::try_new_with_options(upload, kind.arrow.clone(), options)
            .map_err(|e| from_parquet(e, location))?;
        Ok(Self {
            kind: kind.clone(),
            partition: partition.clone(),
            location: location.into(),
            writer,
            rows: 0,
            nans: HashMap::new(),
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
        self.writer.bytes_written().saturating_add(self.writer.in_progress_size())
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.writer.memory_size()
    }

    /// Appends rows.
    ///
    /// # Errors
    /// As [`encode`]; `io`.
    pub(crate) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let encoded = encode(batch, &self.kind.columns, &self.kind.arrow)?;
        count_nans(&self.kind.columns, encoded.columns(), &mut self.nans);
        self.writer.write(&encoded).await.map_err(|e| from_parquet(e, &self.location))?;
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Ends the row group, which frees its memory.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        self.writer.flush().await.map_err(|e| from_parquet(e, &self.location))
    }

    /// Ends the file; it is durable then. `referenced` is the data file a position delete file is about.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn finish(mut self, referenced: Option<String>) -> Result<NewFile> {
        let footer = self.writer.finish().await.map_err(|e| from_parquet(e, &self.location))?;
        let size = self.writer.bytes_written() as u64;
        let file = self.describe(&footer, size, referenced)?;
        Ok(NewFile { spec_id: self.partition.spec_id, file })
    }

    fn describe(&self, footer: &ParquetMetaData, size: u64, referenced: Option<String>) -> Result<DataFile> {
        let metrics = Metrics::of_file(footer, &self.kind.metrics, &self.nans)?;
        let mut builder = DataFileBuilder::default();
        builder
            .content(self.kind.content)
            .file_path(self.location.to_string())
            .file_format(DataFileFormat::Parquet)
            .partition(self.partition.values.clone())
            .partition_spec_id(self.partition.spec_id)
            .record_count(self.rows)
            .file_size_in_bytes(size)
            .column_sizes(metrics.column_sizes)
            .value_counts(metrics.value_counts)
            .null_value_counts(metrics.null_value_counts)
            .nan_value_counts(metrics.nan_value_counts)
            .lower_bounds(metrics.lower_bounds)
            .upper_bounds(metrics.upper_bounds)
            .split_offsets(Some(split_offsets(footer)))
            .equality_ids(self.kind.equality_ids.clone())
            .referenced_data_file(referenced);
        if self.kind.content != DataContentType::PositionDeletes {
            builder.sort_order_id(SortOrder::unsorted_order().order_id as i32);
        }
        builder.build().map_err(|e| Error::internal(format!("describe the file '{}': {e}", self.location)))
    }
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
