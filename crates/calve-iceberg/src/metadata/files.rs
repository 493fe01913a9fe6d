//! `$files`, `$data_files`, `$delete_files`: the live files of a snapshot.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, Int32Array, Int64Array, StringArray, StructArray, new_null_array};
use arrow::datatypes::{DataType as ArrowType, Schema as ArrowSchema};
use calve_types::{DataType, Error, LogicalType, Result, RowField};
use datafusion::common::ScalarValue;
use iceberg::spec::{
    DataContentType, DataFile, Datum, ManifestContentType, ManifestEntryRef, NestedFieldRef, PrimitiveLiteral,
    PrimitiveType, Snapshot, Type,
};

use super::{arrays, column, map_type};
use crate::scan::literal::{primitive, scalar};
use crate::schema::flink_type;
use crate::table::{Table, partition_type};

/// Which files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    All,
    Data,
    Deletes,
}

pub(super) fn columns(table: &Table) -> Result<Vec<(String, DataType)>> {
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
    let partition = partition_fields(table)?;
    if !partition.is_empty() {
        let fields = partition.values().map(|f| Ok(RowField::new(&f.name, flink_type(&f.field_type)?.nullable())));
        columns.push(column("partition", LogicalType::Row(fields.collect::<Result<_>>()?), false));
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
    let metrics = leaves(table).into_iter().map(|(name, _, primitive)| {
        let bound = flink_type(&Type::Primitive(primitive))?.nullable();
        let count = |name: &str| RowField::new(name, BigInt.nullable());
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
    columns.push(column("readable_metrics", LogicalType::Row(metrics.collect::<Result<_>>()?), true));
    Ok(columns)
}

/// The partition fields of all specs by field id, named as in the newest spec that has them.
fn partition_fields(table: &Table) -> Result<BTreeMap<i32, NestedFieldRef>> {
    let metadata = table.metadata();
    let mut specs: Vec<_> = metadata.partition_specs_iter().collect();
    specs.sort_by_key(|spec| spec.spec_id());
    let mut fields = BTreeMap::new();
    for spec in specs {
        let (_, partition) = partition_type(metadata, spec)?;
        fields.extend(partition.fields().iter().map(|field| (field.id, field.clone())));
    }
    Ok(fields)
}

/// The primitive columns, nested ones too, by name: name, field id, type.
fn leaves(table: &Table) -> Vec<(String, i32, PrimitiveType)> {
    let schema = table.metadata().current_schema();
    let fields = schema.field_id_to_fields().iter();
    let mut leaves: Vec<_> = fields
        .filter_map(|(id, field)| {
            let primitive = field.field_type.as_primitive_type()?.clone();
            Some((schema.name_by_field_id(*id)?.to_owned(), *id, primitive))
        })
        .collect();
    leaves.sort_by(|a, b| a.0.cmp(&b.0));
    leaves
}

/// A live file and the id of its partition spec.
struct Row {
    entry: ManifestEntryRef,
    spec_id: i32,
}

impl Row {
    fn file(&self) -> &DataFile {
        self.entry.data_file()
    }
}

async fn live(table: &Table, snapshot: Option<&Snapshot>, content: Content) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let Some(snapshot) = snapshot else { return Ok(rows) };
    for manifest in table.manifests(snapshot).await?.iter() {
        let wanted = match content {
            Content::All => true,
            Content::Data => manifest.content == ManifestContentType::Data,
            Content::Deletes => manifest.content == ManifestContentType::Deletes,
        };
        if wanted {
            let entries = table.entries(manifest).await?;
            let live = entries.iter().filter(|entry| entry.is_alive());
            rows.extend(live.map(|entry| Row { entry: entry.clone(), spec_id: manifest.partition_spec_id }));
        }
    }
    Ok(rows)
}

pub(super) async fn rows(
    table: &Table,
    snapshot: Option<&Snapshot>,
    content: Content,
    schema: &ArrowSchema,
) -> Result<Vec<ArrayRef>> {
    let rows = live(table, snapshot, content).await?;
    schema.fields().iter().map(|field| array(table, &rows, field.name(), field.data_type())).collect()
}

fn array(table: &Table, rows: &[Row], name: &str, data_type: &ArrowType) -> Result<ArrayRef> {
    let files = || rows.iter().map(Row::file);
    let ints = |values: &mut dyn Iterator<Item = Option<i32>>| Arc::new(values.collect::<Int32Array>()) as ArrayRef;
    let longs = |values: &mut dyn Iterator<Item = Option<i64>>| Arc::new(values.collect::<Int64Array>()) as ArrayRef;
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
        "partition" => partition(table, rows, data_type)?,
        "record_count" => longs(&mut files().map(|f| Some(long(f.record_count())))),
        "file_size_in_bytes" => longs(&mut files().map(|f| Some(long(f.file_size_in_bytes())))),
        "column_sizes" => counts(data_type, files().map(DataFile::column_sizes))?,
        "value_counts" => counts(data_type, files().map(DataFile::value_counts))?,
        "null_value_counts" => counts(data_type, files().map(DataFile::null_value_counts))?,
        "nan_value_counts" => counts(data_type, files().map(DataFile::nan_value_counts))?,
        "lower_bounds" => bounds(data_type, files().map(DataFile::lower_bounds))?,
        "upper_bounds" => bounds(data_type, files().map(DataFile::upper_bounds))?,
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
        "readable_metrics" => readable_metrics(table, rows, data_type)?,
        other => return Err(Error::internal(format!("no column '{other}' in $files"))),
    })
}

fn long(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A map by field id; one without entries was not recorded and is NULL.
fn counts<'a>(data_type: &ArrowType, maps: impl Iterator<Item = &'a HashMap<i32, u64>>) -> Result<ArrayRef> {
    let mut lengths = Vec::new();
    let mut pairs: Vec<(i32, i64)> = Vec::new();
    for map in maps {
        let mut entries: Vec<_> = map.iter().map(|(id, count)| (*id, long(*count))).collect();
        entries.sort_unstable();
        lengths.push((!entries.is_empty()).then_some(entries.len()));
        pairs.extend(entries);
    }
    let keys = Int32Array::from_iter_values(pairs.iter().map(|(id, _)| *id));
    let values = Int64Array::from_iter_values(pairs.iter().map(|(_, count)| *count));
    arrays::map(data_type, &lengths, Arc::new(keys), Arc::new(values))
}

fn bounds<'a>(data_type: &ArrowType, maps: impl Iterator<Item = &'a HashMap<i32, Datum>>) -> Result<ArrayRef> {
    let mut lengths = Vec::new();
    let mut pairs: Vec<(i32, Vec<u8>)> = Vec::new();
    for map in maps {
        let entries = map.iter().filter_map(|(id, bound)| Some((*id, bound.to_bytes().ok()?.into_vec())));
        let mut entries: Vec<_> = entries.collect();
        entries.sort_unstable();
        lengths.push((!entries.is_empty()).then_some(entries.len()));
        pairs.extend(entries);
    }
    let keys = Int32Array::from_iter_values(pairs.iter().map(|(id, _)| *id));
    let values = BinaryArray::from_iter_values(pairs.iter().map(|(_, bound)| bound));
    arrays::map(data_type, &lengths, Arc::new(keys), Arc::new(values))
}

fn partition(table: &Table, rows: &[Row], data_type: &ArrowType) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = data_type else { return Err(Error::internal("'partition' is not a struct")) };
    let mut columns = Vec::with_capacity(fields.len());
    for ((id, source), field) in partition_fields(table)?.iter().zip(fields) {
        let values = rows.iter().map(|row| {
            let spec = table.metadata().partition_spec_by_id(row.spec_id)?;
            let position = spec.fields().iter().position(|f| f.field_id == *id)?;
            let value = primitive(row.file().partition().fields().get(position)?.as_ref()?)?;
            Some((value, source.field_type.as_primitive_type()?))
        });
        columns.push(literals(field.data_type(), values)?);
    }
    Ok(Arc::new(StructArray::new(fields.clone(), columns, None)))
}

fn readable_metrics(table: &Table, rows: &[Row], data_type: &ArrowType) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = data_type else {
        return Err(Error::internal("'readable_metrics' is not a struct"));
    };
    let mut columns = Vec::with_capacity(fields.len());
    for ((_, id, _), field) in leaves(table).iter().zip(fields) {
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
        columns.push(Arc::new(StructArray::new(parts.clone(), arrays, None)) as ArrayRef);
    }
    Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, None, rows.len()).map_err(Error::internal)?))
}

/// Values of one Arrow type; what does not fit it (the bound of a column whose type changed) is NULL.
fn literals<'a>(
    data_type: &ArrowType,
    values: impl Iterator<Item = Option<(&'a PrimitiveLiteral, &'a PrimitiveType)>>,
) -> Result<ArrayRef> {
    let null = ScalarValue::try_from(data_type).map_err(Error::internal)?;
    let scalars: Vec<ScalarValue> = values
        .map(|value| value.and_then(|(v, from)| scalar(v, from, data_type)).unwrap_or_else(|| null.clone()))
        .collect();
    if scalars.is_empty() {
        return Ok(new_null_array(data_type, 0));
    }
    ScalarValue::iter_to_array(scalars).map_err(Error::internal)
}
