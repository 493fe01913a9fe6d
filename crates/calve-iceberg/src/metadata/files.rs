//! The columns of `$files` and its siblings, and of `data_file` in `$entries`: what a manifest says of a file.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, Int32Array, Int64Array, StringArray, StructArray};
use arrow::datatypes::DataType as ArrowType;
use calve_types::{DataType, Error, LogicalType, Result, RowField};
use iceberg::spec::{DataContentType, DataFile, DataFileFormat, Datum, ManifestEntryRef, PrimitiveType, Type};

use super::partition_column::{PartitionColumn, literals};
use super::{arrays, column, map_type};
use crate::schema::flink_type;
use crate::table::Table;

/// Which files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    All,
    Data,
    Deletes,
}

/// A file in a manifest and the id of its partition spec.
pub(super) struct Row {
    pub entry: ManifestEntryRef,
    pub spec_id: i32,
}

impl Row {
    fn file(&self) -> &DataFile {
        self.entry.data_file()
    }
}

/// What the columns of one version of a table are made from.
pub(super) struct FileColumns {
    partition: PartitionColumn,
    /// The primitive columns, nested ones too, by name: name, field id, type.
    leaves: Vec<(String, i32, PrimitiveType)>,
}

impl FileColumns {
    /// # Errors
    /// As [`PartitionColumn::new`].
    pub fn new(table: &Table) -> Result<Self> {
        let schema = table.metadata().current_schema();
        let leaf = |id: i32, field: &iceberg::spec::NestedFieldRef| {
            let primitive = field.field_type.as_primitive_type()?.clone();
            Some((schema.name_by_field_id(id)?.to_owned(), id, primitive))
        };
        let mut leaves: Vec<_> =
            schema.field_id_to_fields().iter().filter_map(|(id, field)| leaf(*id, field)).collect();
        leaves.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Self { partition: PartitionColumn::new(table)?, leaves })
    }

    /// Names and types of what a manifest says of a file.
    ///
    /// # Errors
    /// `not-supported` for a type that Flink does not have.
    pub fn file(&self) -> Result<Vec<(String, DataType)>> {
        use LogicalType::{BigInt, Int};
        let list = |element: LogicalType| LogicalType::Array(Box::new(element.not_null()));
        let counts = || map_type(Int, BigInt);
        let bounds = || map_type(Int, LogicalType::BYTES);
        let mut columns = vec![
            column("content", Int, true),
            column("file_path", LogicalType::STRING, false),
            column("file_format", LogicalType::STRING, false),
            column("spec_id", Int, true),
        ];
        if !self.partition.is_empty() {
            columns.push(("partition".to_owned(), self.partition.data_type()?));
        }
        columns.extend([
            column("record_count", BigInt, false),
            column("file_size_in_bytes", BigInt, false),
            column("column_sizes", counts(), true),
            column("value_counts", counts(), true),
            column("null_value_counts", counts(), true),
            column("nan_value_counts", counts(), true),
            column("lower_bounds", bounds(), true),
            column("upper_bounds", bounds(), true),
            column("key_metadata", LogicalType::BYTES, true),
            column("split_offsets", list(BigInt), true),
            column("equality_ids", list(Int), true),
            column("sort_order_id", Int, true),
            column("first_row_id", BigInt, true),
            column("referenced_data_file", LogicalType::STRING, true),
            column("content_offset", BigInt, true),
            column("content_size_in_bytes", BigInt, true),
        ]);
        Ok(columns)
    }

    /// `readable_metrics`: counts and bounds by the names of the columns.
    ///
    /// # Errors
    /// `not-supported` for a type that Flink does not have.
    pub fn readable_metrics(&self) -> Result<(String, DataType)> {
        let metrics = self.leaves.iter().map(|(name, _, primitive)| {
            let bound = flink_type(&Type::Primitive(primitive.clone()))?.nullable();
            let count = |name: &str| RowField::new(name, LogicalType::BigInt.nullable());
            let fields = vec![
                count("column_size"),
                count("value_count"),
                count("null_value_count"),
                count("nan_value_count"),
                RowField::new("lower_bound", bound.clone()),
                RowField::new("upper_bound", bound),
            ];
            Ok(RowField::new(name, LogicalType::Row(fields).nullable()))
        });
        Ok(column("readable_metrics", LogicalType::Row(metrics.collect::<Result<_>>()?), true))
    }

    /// The columns of `$files`.
    ///
    /// # Errors
    /// `not-supported` for a type that Flink does not have.
    pub fn columns(&self) -> Result<Vec<(String, DataType)>> {
        let mut columns = self.file()?;
        columns.push(self.readable_metrics()?);
        Ok(columns)
    }

    /// One of the columns.
    ///
    /// # Errors
    /// `internal` for a name or a type that is not among them.
    pub fn array(&self, rows: &[Row], name: &str, data_type: &ArrowType) -> Result<ArrayRef> {
        let files = || rows.iter().map(Row::file);
        let ints = |values: &mut dyn Iterator<Item = Option<i32>>| Arc::new(values.collect::<Int32Array>()) as ArrayRef;
        let longs =
            |values: &mut dyn Iterator<Item = Option<i64>>| Arc::new(values.collect::<Int64Array>()) as ArrayRef;
        Ok(match name {
            "content" => ints(&mut files().map(|f| {
                Some(match f.content_type() {
                    DataContentType::Data => 0,
                    DataContentType::PositionDeletes => 1,
                    DataContentType::EqualityDeletes => 2,
                })
            })),
            "file_path" => Arc::new(StringArray::from_iter_values(files().map(DataFile::file_path))),
            "file_format" => {
                let format = |f: &DataFile| f.file_format().to_string().to_ascii_uppercase();
                Arc::new(StringArray::from_iter_values(files().map(format)))
            }
            "spec_id" => ints(&mut rows.iter().map(|row| Some(row.spec_id))),
            "partition" => self.partition.array(rows.iter().map(|row| (row.spec_id, row.file())), data_type)?,
            "record_count" => longs(&mut files().map(|f| Some(long(f.record_count())))),
            "file_size_in_bytes" => longs(&mut files().map(|f| Some(long(f.file_size_in_bytes())))),
            "column_sizes" => counts(data_type, files(), DataFile::column_sizes)?,
            "value_counts" => counts(data_type, files(), DataFile::value_counts)?,
            "null_value_counts" => counts(data_type, files(), DataFile::null_value_counts)?,
            "nan_value_counts" => counts(data_type, files(), DataFile::nan_value_counts)?,
            "lower_bounds" => bounds(data_type, files(), DataFile::lower_bounds)?,
            "upper_bounds" => bounds(data_type, files(), DataFile::upper_bounds)?,
            "key_metadata" => Arc::new(files().map(DataFile::key_metadata).collect::<BinaryArray>()),
            "split_offsets" => {
                let offsets: Vec<_> = files().map(DataFile::split_offsets).collect();
                let lengths: Vec<_> = offsets.iter().map(|o| o.map(<[i64]>::len)).collect();
                let values = Int64Array::from_iter_values(offsets.iter().flatten().flat_map(|o| o.iter().copied()));
                arrays::list(data_type, &lengths, Arc::new(values))?
            }
            "equality_ids" => {
                let ids: Vec<_> = files().map(DataFile::equality_ids).collect();
                let lengths: Vec<_> = ids.iter().map(|i| i.as_ref().map(Vec::len)).collect();
                let values = Int32Array::from_iter_values(ids.iter().flatten().flatten().copied());
                arrays::list(data_type, &lengths, Arc::new(values))?
            }
            "sort_order_id" => ints(&mut files().map(DataFile::sort_order_id)),
            "first_row_id" => longs(&mut files().map(DataFile::first_row_id)),
            "referenced_data_file" => Arc::new(files().map(DataFile::referenced_data_file).collect::<StringArray>()),
            "content_offset" => longs(&mut files().map(DataFile::content_offset)),
            "content_size_in_bytes" => longs(&mut files().map(DataFile::content_size_in_bytes)),
            "readable_metrics" => self.metrics(rows, data_type)?,
            other => return Err(Error::internal(format!("no column '{other}' in $files"))),
        })
    }

    fn metrics(&self, rows: &[Row], data_type: &ArrowType) -> Result<ArrayRef> {
        let ArrowType::Struct(fields) = data_type else {
            return Err(Error::internal("'readable_metrics' is not a struct"));
        };
        let mut columns = Vec::with_capacity(fields.len());
        for ((_, id, _), field) in self.leaves.iter().zip(fields) {
            let ArrowType::Struct(parts) = field.data_type() else {
                return Err(Error::internal("metrics are not a struct"));
            };
            let count = |map: fn(&DataFile) -> &HashMap<i32, u64>| {
                let counts = rows.iter().map(|row| map(row.file()).get(id).map(|count| long(*count)));
                Arc::new(counts.collect::<Int64Array>()) as ArrayRef
            };
            let bound = |map: fn(&DataFile) -> &HashMap<i32, Datum>, part: usize| {
                let bounds = rows.iter().map(|row| map(row.file()).get(id).map(|b| (b.literal(), b.data_type())));
                match parts.get(part) {
                    Some(part) => literals(part.data_type(), bounds),
                    None => Err(Error::internal("metrics lack a bound")),
                }
            };
            let arrays = vec![
                count(DataFile::column_sizes),
                count(DataFile::value_counts),
                count(DataFile::null_value_counts),
                count(DataFile::nan_value_counts),
                bound(DataFile::lower_bounds, 4)?,
                bound(DataFile::upper_bounds, 5)?,
            ];
            let metrics = StructArray::try_new(parts.clone(), arrays, None).map_err(Error::internal)?;
            columns.push(Arc::new(metrics) as ArrayRef);
        }
        let metrics = StructArray::try_new_with_length(fields.clone(), columns, None, rows.len());
        Ok(Arc::new(metrics.map_err(Error::internal)?))
    }
}

fn long(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Whether a file's manifest line has a map at all. The metadata library does not tell an empty one from none; writers of
/// Parquet and ORC leave empty ones, those of Avro and of deletion vectors none.
fn has_map(file: &DataFile, is_empty: bool) -> bool {
    !is_empty || matches!(file.file_format(), DataFileFormat::Parquet | DataFileFormat::Orc)
}

/// A map by field id.
fn counts<'a>(
    data_type: &ArrowType,
    files: impl Iterator<Item = &'a DataFile>,
    map: fn(&DataFile) -> &HashMap<i32, u64>,
) -> Result<ArrayRef> {
    let mut lengths = Vec::new();
    let mut pairs: Vec<(i32, i64)> = Vec::new();
    for file in files {
        let mut entries: Vec<_> = map(file).iter().map(|(id, count)| (*id, long(*count))).collect();
        entries.sort_unstable();
        lengths.push(has_map(file, entries.is_empty()).then_some(entries.len()));
        pairs.extend(entries);
    }
    let keys = Int32Array::from_iter_values(pairs.iter().map(|(id, _)| *id));
    let values = Int64Array::from_iter_values(pairs.iter().map(|(_, count)| *count));
    arrays::map(data_type, &lengths, Arc::new(keys), Arc::new(values))
}

fn bounds<'a>(
    data_type: &ArrowType,
    files: impl Iterator<Item = &'a DataFile>,
    map: fn(&DataFile) -> &HashMap<i32, Datum>,
) -> Result<ArrayRef> {
    let mut lengths = Vec::new();
    let mut pairs: Vec<(i32, Vec<u8>)> = Vec::new();
    for file in files {
        let bound = |(id, bound): (&i32, &Datum)| Some((*id, bound.to_bytes().ok()?.into_vec()));
        let mut entries: Vec<_> = map(file).iter().filter_map(bound).collect();
        entries.sort_unstable();
        lengths.push(has_map(file, entries.is_empty()).then_some(entries.len()));
        pairs.extend(entries);
    }
    let keys = Int32Array::from_iter_values(pairs.iter().map(|(id, _)| *id));
    let values = BinaryArray::from_iter_values(pairs.iter().map(|(_, bound)| bound));
    arrays::map(data_type, &lengths, Arc::new(keys), Arc::new(values))
}
