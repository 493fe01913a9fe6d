//! Parquet files: columns are matched by name, one that a file does not have is NULL, as in Flink.
//!
//! Flink keeps a TIMESTAMP in Parquet as the moment at which the machine's clock shows it, unless
//! `parquet.utc-timezone` is set. Reading and writing do the same with the session's time zone.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, ListArray, MapArray, PrimitiveArray, StructArray, new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType as ArrowType, Field, Schema, SchemaRef, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use calve_functions::TimeZone;
use calve_types::{DataType, Error, LogicalType, Result, arrow as mapping};
use datafusion::common::Statistics;
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, Type as PhysicalType, ZstdLevel};
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::properties::WriterProperties;

use super::lines::Place;
use crate::options::Options;

/// Bytes of a row group that is being written.
const ROW_GROUP: usize = 64 << 20;

/// The options of the format.
#[derive(Debug, Clone)]
pub(crate) struct ParquetFormat {
    /// The zone of TIMESTAMP values in files; `None` if they are as they are.
    pub zone: Option<TimeZone>,
    compression: Compression,
}

impl ParquetFormat {
    /// # Errors
    /// Values that Flink refuses.
    pub fn new(options: &Options, zone: TimeZone) -> Result<Self> {
        let utc = options.boolean("parquet.utc-timezone")?;
        let codec = options.get("parquet.compression").unwrap_or("SNAPPY");
        let compression = match codec.to_ascii_uppercase().as_str() {
            "SNAPPY" => Compression::SNAPPY,
            "UNCOMPRESSED" => Compression::UNCOMPRESSED,
            "GZIP" => Compression::GZIP(Default::default()),
            "ZSTD" => Compression::ZSTD(ZstdLevel::default()),
            "LZ4_RAW" => Compression::LZ4_RAW,
            _ => {
                return Err(options.refuse(
                    "invalid-option",
                    format!(
                        "invalid value '{codec}' for option 'parquet.compression': expected one of SNAPPY, ZSTD, GZIP, \
                         LZ4_RAW, UNCOMPRESSED"
                    ),
                    format!("No enum constant org.apache.parquet.hadoop.metadata.CompressionCodecName.{codec}"),
                ));
            }
        };
        Ok(Self { zone: Some(zone).filter(|zone| !utc && *zone != TimeZone::UTC), compression })
    }
}

/// What the footer of a file tells of its rows; `None` if it cannot be read.
pub(crate) fn statistics(path: &Path, schema: &SchemaRef) -> Option<Statistics> {
    let file = File::open(path).ok()?;
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).ok()?;
    DFParquetMetadata::statistics_from_parquet_metadata(&metadata, schema).ok()
}

/// Reads the rows of one file.
pub(crate) struct ParquetReader {
    reader: ParquetRecordBatchReader,
    place: Place,
    zone: Option<TimeZone>,
    /// Name, type and the place in the file's batches; `None` if the file does not have the column.
    columns: Vec<(String, DataType, Option<usize>)>,
    schema: SchemaRef,
}

impl ParquetReader {
    /// Reads the row groups that begin at those bytes of the file.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn new(
        format: &ParquetFormat,
        file: File,
        bytes: &Range<u64>,
        place: Place,
        columns: Vec<(String, DataType)>,
        schema: SchemaRef,
        batch_rows: usize,
    ) -> Result<Self> {
        let wrong = |e: &dyn std::fmt::Display| {
            Error::new("malformed-file", format!("cannot read file '{}' as Parquet", place.path))
                .with_detail(e.to_string())
        };
        let options = || ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let mut metadata = ArrowReaderMetadata::load(&file, options()).map_err(|e| wrong(&e))?;
        // INT96 reaches farther than 64 bits of nanoseconds do.
        let hinted = Self::hinted(&metadata, &columns);
        if hinted != *metadata.schema() {
            let parquet = Arc::clone(metadata.metadata());
            metadata = ArrowReaderMetadata::try_new(parquet, options().with_schema(hinted)).map_err(|e| wrong(&e))?;
        }
        let mut roots = Vec::new();
        for (name, _) in &columns {
            roots.push(metadata.schema().fields().iter().position(|field| field.name() == name));
        }
        let mut wanted: Vec<usize> = roots.iter().flatten().copied().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mask = ProjectionMask::roots(metadata.parquet_schema(), wanted.iter().copied());
        let begins_within = |group: &usize| {
            let first = metadata.metadata().row_groups().get(*group).and_then(|group| group.columns().first());
            let start = first.map(|column| column.dictionary_page_offset().unwrap_or(column.data_page_offset()));
            bytes.contains(&start.and_then(|start| u64::try_from(start).ok()).unwrap_or_default())
        };
        let row_groups = (0..metadata.metadata().num_row_groups()).filter(begins_within).collect();
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_row_groups(row_groups)
            .with_projection(mask)
            .with_batch_size(batch_rows)
            .build()
            .map_err(|e| wrong(&e))?;
        let columns = columns
            .into_iter()
            .zip(roots)
            .map(|((name, data_type), root)| (name, data_type, root.and_then(|r| wanted.binary_search(&r).ok())))
            .collect();
        Ok(Self { reader, place, zone: format.zone, columns, schema })
    }

    /// The file's schema with microseconds for INT96 columns that are read with at most six digits of a second.
    fn hinted(metadata: &ArrowReaderMetadata, columns: &[(String, DataType)]) -> SchemaRef {
        let int96 = |name: &str| {
            metadata.parquet_schema().columns().iter().any(|column| {
                column.physical_type() == PhysicalType::INT96 && column.path().parts() == [name.to_owned()]
            })
        };
        let coarse = |name: &str| {
            columns.iter().any(|(n, t)| {
                n == name && matches!(t.logical, LogicalType::Timestamp(p) | LogicalType::TimestampLtz(p) if p <= 6)
            })
        };
        let fields: Vec<_> = metadata
            .schema()
            .fields()
            .iter()
            .map(|field| match field.data_type() {
                ArrowType::Timestamp(TimeUnit::Nanosecond, None) if int96(field.name()) && coarse(field.name()) => {
                    let micros = ArrowType::Timestamp(TimeUnit::Microsecond, None);
                    Arc::new(field.as_ref().clone().with_data_type(micros))
                }
                _ => Arc::clone(field),
            })
            .collect();
        Arc::new(Schema::new_with_metadata(fields, metadata.schema().metadata().clone()))
    }

    /// The next batch; `None` at the end.
    ///
    /// # Errors
    /// What is wrong with the file, a column of another type.
    pub fn next(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.reader.next() else { return Ok(None) };
        let batch = batch.map_err(|e| {
            Error::new("malformed-file", format!("cannot read file '{}' as Parquet", self.place.path))
                .with_detail(e.to_string())
        })?;
        let rows = batch.num_rows();
        let mut arrays = Vec::with_capacity(self.columns.len());
        for ((name, data_type, place), field) in self.columns.iter().zip(self.schema.fields()) {
            let Some(array) = place.and_then(|p| batch.columns().get(p)) else {
                arrays.push(new_null_array(field.data_type(), rows));
                continue;
            };
            let converted = from_file(array, &data_type.logical, self.zone).map_err(|e| {
                if e.code != MISMATCH {
                    return e;
                }
                Error::new(
                    MISMATCH,
                    format!(
                        "column '{name}' of file '{}' is no {}: its type is {}",
                        self.place.path,
                        data_type.logical,
                        array.data_type()
                    ),
                )
            })?;
            arrays.push(converted);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options).map(Some).map_err(Error::internal)
    }
}

const MISMATCH: &str = "type-mismatch";

fn mismatch() -> Error {
    Error::new(MISMATCH, "a column's type in a file is another one")
}

/// An array of a file as one of the table's type, where no value can be lost.
fn from_file(array: &ArrayRef, logical: &LogicalType, zone: Option<TimeZone>) -> Result<ArrayRef> {
    use LogicalType as T;
    let target = mapping::to_arrow(logical)?;
    let source = array.data_type();
    if *source == ArrowType::Null {
        return Ok(new_null_array(&target, array.len()));
    }
    match logical {
        T::Array(element) => {
            let ArrowType::List(field) = target else { return Err(mismatch()) };
            let list = array.as_list_opt::<i32>().ok_or_else(mismatch)?;
            let values = from_file(list.values(), &element.logical, zone)?;
            let list = ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned());
            return list.map(|a| Arc::new(a) as ArrayRef).map_err(nested_null);
        }
        T::Map(key, value) => return map_from_file(array, &target, &key.logical, &value.logical, zone),
        T::Multiset(element) => return map_from_file(array, &target, &element.logical, &T::Int, zone),
        T::Row(fields) => {
            let ArrowType::Struct(arrow) = target else { return Err(mismatch()) };
            let row = array.as_struct_opt().ok_or_else(mismatch)?;
            let columns = fields
                .iter()
                .zip(&arrow)
                .map(|(field, arrow)| match row.column_by_name(&field.name) {
                    Some(column) => from_file(column, &field.data_type.logical, zone),
                    None => Ok(new_null_array(arrow.data_type(), row.len())),
                })
                .collect::<Result<Vec<_>>>()?;
            let row = StructArray::try_new(arrow, columns, row.nulls().cloned());
            return row.map(|a| Arc::new(a) as ArrayRef).map_err(nested_null);
        }
        _ => {}
    }
    let is_fitting = match (source, logical) {
        (ArrowType::Int8, T::TinyInt | T::SmallInt | T::Int | T::BigInt)
        | (ArrowType::Int16, T::SmallInt | T::Int | T::BigInt)
        | (ArrowType::Int32, T::TinyInt | T::SmallInt | T::Int | T::BigInt)
        | (ArrowType::Int64, T::BigInt)
        | (ArrowType::Float32, T::Float | T::Double)
        | (ArrowType::Float64, T::Double)
        | (ArrowType::Boolean, T::Boolean)
        | (ArrowType::Date32, T::Date)
        | (ArrowType::Time32(_) | ArrowType::Time64(_), T::Time(_))
        | (ArrowType::Timestamp(..), T::Timestamp(_) | T::TimestampLtz(_))
        | (ArrowType::Utf8 | ArrowType::Binary, T::Char(_) | T::Varchar(_) | T::Binary(_) | T::Varbinary(_))
        | (ArrowType::FixedSizeBinary(_), T::Binary(_) | T::Varbinary(_)) => true,
        (ArrowType::Decimal128(p, s), T::Decimal { precision, scale }) => {
            let scale = scale.cast_signed();
            *s <= scale && i16::from(*p) - i16::from(*s) <= i16::from(*precision) - i16::from(scale)
        }
        _ => false,
    };
    if !is_fitting {
        return Err(mismatch());
    }
    if let T::Timestamp(p) | T::TimestampLtz(p) = logical {
        let unit = if *p > 6 { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
        let plain = cast(array, &ArrowType::Timestamp(unit, None))?;
        let zone = zone.filter(|_| matches!(logical, T::Timestamp(_)));
        let local = match zone {
            Some(zone) => shifted(&plain, |seconds| zone.to_local(seconds))?,
            None => plain,
        };
        return cast_zone(&local, &target);
    }
    cast(array, &target)
}

fn map_from_file(
    array: &ArrayRef,
    target: &ArrowType,
    key: &LogicalType,
    value: &LogicalType,
    zone: Option<TimeZone>,
) -> Result<ArrayRef> {
    let ArrowType::Map(field, _) = target else { return Err(mismatch()) };
    let ArrowType::Struct(entries) = field.data_type() else { return Err(mismatch()) };
    let map = array.as_map_opt().ok_or_else(mismatch)?;
    let columns = vec![from_file(map.keys(), key, zone)?, from_file(map.values(), value, zone)?];
    let entries = StructArray::try_new(entries.clone(), columns, None).map_err(nested_null)?;
    let map = MapArray::try_new(field.clone(), map.offsets().clone(), entries, map.nulls().cloned(), false);
    map.map(|a| Arc::new(a) as ArrayRef).map_err(nested_null)
}

fn nested_null(error: arrow::error::ArrowError) -> Error {
    Error::new("null-in-not-null", "a file has NULL inside of a value whose type says NOT NULL there")
        .with_detail(error.to_string())
}

fn cast(array: &ArrayRef, target: &ArrowType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..Default::default() };
    cast_with_options(array, target, &options).map_err(|e| {
        Error::new("out-of-range", "a value of a file is out of range of its column's type").with_detail(e.to_string())
    })
}

/// The same numbers with or without a time zone.
fn cast_zone(array: &ArrayRef, target: &ArrowType) -> Result<ArrayRef> {
    let ArrowType::Timestamp(_, zone) = target else { return Err(Error::internal("a timestamp's type is none")) };
    if let Some(array) = array.as_primitive_opt::<TimestampMicrosecondType>() {
        return Ok(Arc::new(array.clone().with_timezone_opt(zone.clone())));
    }
    match array.as_primitive_opt::<TimestampNanosecondType>() {
        Some(array) => Ok(Arc::new(array.clone().with_timezone_opt(zone.clone()))),
        None => Err(Error::internal("a timestamp's array is none")),
    }
}

/// Timestamps moved by whole seconds.
fn shifted(array: &ArrayRef, shift: impl Fn(i64) -> i64) -> Result<ArrayRef> {
    fn moved<T: ArrowPrimitiveType<Native = i64>>(
        array: &PrimitiveArray<T>,
        per_second: i64,
        shift: impl Fn(i64) -> i64,
    ) -> Result<ArrayRef> {
        let moved = array.try_unary::<_, T, Error>(|value| {
            let seconds = value.div_euclid(per_second);
            let by = shift(seconds) - seconds;
            by.checked_mul(per_second)
                .and_then(|by| value.checked_add(by))
                .ok_or_else(|| Error::new("out-of-range", "a timestamp is out of range of its column's type"))
        })?;
        Ok(Arc::new(moved))
    }
    if let Some(array) = array.as_primitive_opt::<TimestampMicrosecondType>() {
        return moved(array, 1_000_000, shift);
    }
    match array.as_primitive_opt::<TimestampNanosecondType>() {
        Some(array) => moved(array, 1_000_000_000, shift),
        None => Err(Error::internal("a timestamp's array is none")),
    }
}

/// Writes one file.
pub(crate) struct ParquetEncoder {
    writer: Option<ArrowWriter<Vec<u8>>>,
    schema: SchemaRef,
    zone: Option<TimeZone>,
}

impl ParquetEncoder {
    /// # Errors
    /// Columns that cannot be written.
    pub fn new(format: &ParquetFormat, columns: &[(String, DataType)]) -> Result<Self> {
        let fields = columns
            .iter()
            .map(|(name, t)| {
                Ok(Field::new(name, type_in_file(&mapping::to_arrow(&t.logical)?, format.zone), t.nullable))
            })
            .collect::<Result<Vec<_>>>()?;
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(format.compression)
            .set_created_by(concat!("calve ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(Vec::new(), schema.clone(), options).map_err(write_error)?;
        Ok(Self { writer: Some(writer), schema, zone: format.zone })
    }

    /// Appends rows; their bytes come when a row group is complete.
    ///
    /// # Errors
    /// Values out of range, what the writer answers.
    pub fn write(&mut self, arrays: &[ArrayRef], out: &mut Vec<u8>) -> Result<()> {
        let Some(writer) = &mut self.writer else { return Err(Error::internal("a file was closed")) };
        let columns = arrays
            .iter()
            .zip(self.schema.fields())
            .map(|(array, field)| to_file(array, field.data_type(), self.zone))
            .collect::<Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(Error::internal)?;
        writer.write(&batch).map_err(write_error)?;
        if writer.in_progress_size() > ROW_GROUP {
            writer.flush().map_err(write_error)?;
        }
        out.append(writer.inner_mut());
        Ok(())
    }

    /// Bytes of the row group that is not complete.
    pub fn gathered(&self) -> u64 {
        self.writer.as_ref().map_or(0, |writer| writer.in_progress_size() as u64)
    }

    /// Appends the last row group and the footer.
    ///
    /// # Errors
    /// What the writer answers.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if let Some(writer) = self.writer.take() {
            out.append(&mut writer.into_inner().map_err(write_error)?);
        }
        Ok(())
    }
}

fn write_error(error: parquet::errors::ParquetError) -> Error {
    Error::new("io", "cannot write a Parquet file").with_detail(error.to_string())
}

/// The type in a file: TIME in milliseconds; a TIMESTAMP that is kept as a moment says so.
fn type_in_file(arrow: &ArrowType, zone: Option<TimeZone>) -> ArrowType {
    let inside =
        |field: &Arc<Field>| Arc::new(field.as_ref().clone().with_data_type(type_in_file(field.data_type(), zone)));
    match arrow {
        ArrowType::Time64(_) => ArrowType::Time32(TimeUnit::Millisecond),
        ArrowType::Timestamp(unit, None) if zone.is_some() => ArrowType::Timestamp(*unit, Some(mapping::UTC.into())),
        ArrowType::List(field) => ArrowType::List(inside(field)),
        ArrowType::Map(field, sorted) => ArrowType::Map(with_required_key(&inside(field)), *sorted),
        ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(inside).collect()),
        other => other.clone(),
    }
}

/// Parquet has no NULL as a key.
fn with_required_key(entries: &Field) -> Arc<Field> {
    let fields = match entries.data_type() {
        ArrowType::Struct(fields) => fields,
        _ => return Arc::new(entries.clone()),
    };
    let fields =
        fields.iter().enumerate().map(|(i, field)| field.as_ref().clone().with_nullable(i > 0 && field.is_nullable()));
    Arc::new(entries.clone().with_data_type(ArrowType::Struct(fields.collect())))
}

/// An array of the table as one of a file's type.
fn to_file(array: &ArrayRef, target: &ArrowType, zone: Option<TimeZone>) -> Result<ArrayRef> {
    match (array.data_type(), target) {
        (ArrowType::Timestamp(_, None), ArrowType::Timestamp(_, Some(_))) => {
            let zone = zone.unwrap_or(TimeZone::UTC);
            cast_zone(&shifted(array, |seconds| zone.to_utc(seconds))?, target)
        }
        (ArrowType::List(_), ArrowType::List(field)) => {
            let list = array.as_list_opt::<i32>().ok_or_else(mismatch)?;
            let values = to_file(list.values(), field.data_type(), zone)?;
            let list = ListArray::try_new(field.clone(), list.offsets().clone(), values, list.nulls().cloned());
            list.map(|a| Arc::new(a) as ArrayRef).map_err(nested_null)
        }
        (ArrowType::Map(..), ArrowType::Map(field, _)) => {
            let ArrowType::Struct(entries) = field.data_type() else { return Err(mismatch()) };
            let map = array.as_map_opt().ok_or_else(mismatch)?;
            let columns = [map.keys(), map.values()]
                .into_iter()
                .zip(entries)
                .map(|(array, field)| to_file(array, field.data_type(), zone))
                .collect::<Result<Vec<_>>>()?;
            let entries = StructArray::try_new(entries.clone(), columns, None).map_err(nested_null)?;
            let map = MapArray::try_new(field.clone(), map.offsets().clone(), entries, map.nulls().cloned(), false);
            map.map(|a| Arc::new(a) as ArrayRef).map_err(nested_null)
        }
        (ArrowType::Struct(_), ArrowType::Struct(fields)) => {
            let row = array.as_struct_opt().ok_or_else(mismatch)?;
            let columns = row
                .columns()
                .iter()
                .zip(fields)
                .map(|(array, field)| to_file(array, field.data_type(), zone))
                .collect::<Result<Vec<_>>>()?;
            let row = StructArray::try_new(fields.clone(), columns, row.nulls().cloned());
            row.map(|a| Arc::new(a) as ArrayRef).map_err(nested_null)
        }
        (from, to) if from == to => Ok(Arc::clone(array)),
        _ => cast(array, target),
    }
}
