//! Rows to partitions.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array, make_array};
use arrow::buffer::NullBuffer;
use arrow::compute::take_record_batch;
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow::row::{RowConverter, SortField};
use calve_types::{Error, Result};
use hashbrown::HashMap;
use iceberg::spec::{
    Literal, NestedFieldRef, PartitionSpec, PrimitiveLiteral, PrimitiveType, Schema, Struct, StructType, Transform,
    Type,
};

use super::location::url_encode;
use super::transform::{apply, civil};
use crate::error::Context;

/// One partition of one spec.
#[derive(Debug, PartialEq)]
pub(crate) struct Partition {
    pub(crate) spec_id: i32,
    pub(crate) values: Struct,
    /// `dt=2024-01-01/city=x`, empty without partition fields.
    pub(crate) path: String,
}

/// A partition field: where its source column is and what is done with it.
#[derive(Clone, Debug)]
struct Source {
    /// Index of the top-level column, then of the fields of structs.
    path: Vec<usize>,
    transform: Transform,
    name: String,
    /// The Iceberg type of the partition value.
    result: PrimitiveType,
}

/// Gives rows their partition. Partitions are numbered from 0 in the order they are first seen.
#[derive(Debug)]
pub(crate) struct Partitioner {
    spec_id: i32,
    sources: Vec<Source>,
    converter: RowConverter,
    numbers: HashMap<Box<[u8]>, usize, foldhash::fast::RandomState>,
    partitions: Vec<Arc<Partition>>,
}

/// The rows of a batch that belong to one partition, in the order of the batch.
pub(crate) struct Part {
    pub(crate) number: usize,
    pub(crate) rows: RecordBatch,
    /// Where the rows stand in the batch that was split; `None` for the whole batch.
    pub(crate) indices: Option<UInt32Array>,
}

impl Partitioner {
    /// For batches whose top-level columns are `columns`, of the types [`crate::schema::to_arrow`] gives them.
    ///
    /// # Errors
    /// `invalid-table` if a source column is missing; `not-supported` for unknown transforms and nanosecond partitions.
    pub(crate) fn new(spec: &PartitionSpec, schema: &Schema, columns: &[NestedFieldRef]) -> Result<Self> {
        let mut sources = Vec::with_capacity(spec.fields().len());
        for field in spec.fields() {
            let invalid = || {
                Error::new(
                    "invalid-table",
                    format!("the source column of partition field '{}' is not in the table", field.name),
                )
            };
            let source = match schema.field_by_id(field.source_id) {
                Some(source) => source,
                // the column of a dropped partition field may be gone
                None if field.transform == Transform::Void => {
                    sources.push(Source {
                        path: Vec::new(),
                        transform: Transform::Void,
                        name: field.name.clone(),
                        result: PrimitiveType::Int,
                    });
                    continue;
                }
                None => return Err(invalid()),
            };
            let result = match field.transform.result_type(&source.field_type) {
                Ok(Type::Primitive(result)) => result,
                _ => return Err(invalid()),
            };
            let nanoseconds = matches!(result, PrimitiveType::TimestampNs | PrimitiveType::TimestamptzNs);
            if nanoseconds && field.transform != Transform::Void {
                // the iceberg crate cannot read such values back from a manifest
                return Err(Error::unsupported(format!(
                    "partition field '{}' with nanosecond timestamps as its values",
                    field.name
                ))
                .with_hint("partition by days(...) or hours(...) of the column"));
            }
            let path = match path_of(columns, field.source_id) {
                Some(path) => path,
                None if field.transform == Transform::Void => Vec::new(),
                None => return Err(invalid()),
            };
            sources.push(Source { path, transform: field.transform, name: field.name.clone(), result });
        }
        let fields = sources.iter().map(|s| Ok(SortField::new(arrow_type(&s.result)?))).collect::<Result<_>>()?;
        let converter = RowConverter::new(fields).context(|| "compare partition values")?;
        Ok(Self {
            spec_id: spec.spec_id(),
            sources,
            converter,
            numbers: HashMap::with_hasher(foldhash::fast::RandomState::default()),
            partitions: Vec::new(),
        })
    }

    /// The partition of a number.
    ///
    /// # Errors
    /// `internal` for a number never given.
    pub(crate) fn partition(&self, number: usize) -> Result<&Arc<Partition>> {
        self.partitions.get(number).ok_or_else(|| Error::internal("unknown partition number"))
    }

    /// The partition number of every row.
    ///
    /// # Errors
    /// As [`apply`].
    pub(crate) fn assign(&mut self, columns: &[ArrayRef], rows: usize) -> Result<Vec<usize>> {
        if self.sources.is_empty() {
            if self.partitions.is_empty() {
                self.add(Struct::empty());
            }
            return Ok(vec![0; rows]);
        }
        let mut values = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            values.push(if source.transform == Transform::Void {
                arrow::array::new_null_array(&arrow_type(&source.result)?, rows)
            } else {
                apply(source.transform, &descend(columns, &source.path)?)?
            });
        }
        let encoded = self.converter.convert_columns(&values).context(|| "compare partition values")?;
        let mut numbers = Vec::with_capacity(rows);
        let mut previous: Option<(usize, usize)> = None;
        for row in 0..rows {
            let bytes = encoded.row(row);
            let number = match previous {
                Some((last, number)) if encoded.row(last) == bytes => number,
                _ => match self.numbers.get(bytes.as_ref()) {
                    Some(number) => *number,
                    None => {
                        let tuple = self
                            .sources
                            .iter()
                            .zip(&values)
                            .map(|(source, array)| literal(array, row, &source.result))
                            .collect::<Result<Struct>>()?;
                        let number = self.add(tuple);
                        self.numbers.insert(bytes.as_ref().into(), number);
                        number
                    }
                },
            };
            previous = Some((row, number));
            numbers.push(number);
        }
        Ok(numbers)
    }

    fn add(&mut self, values: Struct) -> usize {
        let path = self.path(&values);
        self.partitions.push(Arc::new(Partition { spec_id: self.spec_id, values, path }));
        self.partitions.len() - 1
    }

    /// Java's `PartitionSpec.partitionToPath`.
    fn path(&self, values: &Struct) -> String {
        let mut path = String::new();
        for (source, value) in self.sources.iter().zip(values.iter()) {
            if !path.is_empty() {
                path.push('/');
            }
            let text = value.map_or_else(|| "null".to_owned(), |v| human(source.transform, &source.result, v));
            path.push_str(&folder(&source.name, &text));
        }
        path
    }

    /// Splits a batch by partition: one gather for all columns, linear in the rows.
    ///
    /// # Errors
    /// As [`Partitioner::assign`].
    pub(crate) fn split(&mut self, batch: &RecordBatch) -> Result<Vec<Part>> {
        if batch.num_rows() == 0 {
            return Ok(Vec::new());
        }
        let numbers = self.assign(batch.columns(), batch.num_rows())?;
        split_by(batch, &numbers)
    }
}

/// Splits a batch by a number per row; keeps the order within a number.
///
/// # Errors
/// Errors of Arrow.
pub(crate) fn split_by(batch: &RecordBatch, numbers: &[usize]) -> Result<Vec<Part>> {
    let Some(first) = numbers.first() else { return Ok(Vec::new()) };
    if numbers.iter().all(|n| n == first) {
        return Ok(vec![Part { number: *first, rows: batch.clone(), indices: None }]);
    }
    // dense slots for the numbers that occur, so that the cost is that of the batch
    let mut slots: HashMap<usize, usize, foldhash::fast::RandomState> = HashMap::default();
    let mut groups: Vec<(usize, Vec<u32>)> = Vec::new();
    for (row, number) in (0_u32..).zip(numbers) {
        let slot = *slots.entry(*number).or_insert_with(|| {
            groups.push((*number, Vec::new()));
            groups.len() - 1
        });
        if let Some((_, rows)) = groups.get_mut(slot) {
            rows.push(row);
        }
    }
    let order: UInt32Array = groups.iter().flat_map(|(_, rows)| rows.iter().copied()).collect::<Vec<_>>().into();
    let sorted = take_record_batch(batch, &order).context(|| "split rows by partition")?;
    let mut parts = Vec::with_capacity(groups.len());
    let mut start = 0;
    for (number, rows) in groups {
        let length = rows.len();
        parts.push(Part { number, rows: sorted.slice(start, length), indices: Some(order.slice(start, length)) });
        start += length;
    }
    Ok(parts)
}

/// The way to a field from the top-level columns through structs.
pub(crate) fn path_of(columns: &[NestedFieldRef], id: i32) -> Option<Vec<usize>> {
    for (index, field) in columns.iter().enumerate() {
        if field.id == id {
            return Some(vec![index]);
        }
        if let Type::Struct(nested) = field.field_type.as_ref()
            && let Some(mut path) = path_of(nested.fields(), id)
        {
            path.insert(0, index);
            return Some(path);
        }
    }
    None
}

/// The column at a path; NULL where a struct above it is NULL.
pub(crate) fn descend(columns: &[ArrayRef], path: &[usize]) -> Result<ArrayRef> {
    let missing = || Error::internal("a batch lacks the source column of a partition field");
    let (first, rest) = path.split_first().ok_or_else(missing)?;
    let mut array = columns.get(*first).ok_or_else(missing)?.clone();
    for index in rest {
        let parent = array.as_struct_opt().ok_or_else(missing)?;
        let child = parent.columns().get(*index).ok_or_else(missing)?;
        let nulls = NullBuffer::union(parent.nulls(), child.nulls());
        let data = child.to_data().into_builder().nulls(nulls).build().context(|| "read a partition column")?;
        array = make_array(data);
    }
    Ok(array)
}

/// The Arrow type of partition values, as [`apply`] makes them.
pub(crate) fn arrow_type(result: &PrimitiveType) -> Result<ArrowType> {
    calve_types::arrow::to_arrow(&crate::schema::flink_type(&Type::Primitive(result.clone()))?)
}

/// One value of an array as an Iceberg literal of type `of`; `None` for NULL.
///
/// # Errors
/// `internal` if the array's type does not hold values of `of`.
pub(crate) fn literal(array: &ArrayRef, row: usize, of: &PrimitiveType) -> Result<Option<Literal>> {
    if array.is_null(row) {
        return Ok(None);
    }
    let value = match (of, array.data_type()) {
        (PrimitiveType::Boolean, ArrowType::Boolean) => PrimitiveLiteral::Boolean(array.as_boolean().value(row)),
        (_, ArrowType::Int32) => PrimitiveLiteral::Int(array.as_primitive::<Int32Type>().value(row)),
        (_, ArrowType::Date32) => PrimitiveLiteral::Int(array.as_primitive::<Date32Type>().value(row)),
        (_, ArrowType::Int64) => PrimitiveLiteral::Long(array.as_primitive::<Int64Type>().value(row)),
        (_, ArrowType::Float32) => PrimitiveLiteral::Float(array.as_primitive::<Float32Type>().value(row).into()),
        (_, ArrowType::Float64) => PrimitiveLiteral::Double(array.as_primitive::<Float64Type>().value(row).into()),
        (_, ArrowType::Time64(TimeUnit::Microsecond)) => {
            PrimitiveLiteral::Long(array.as_primitive::<Time64MicrosecondType>().value(row))
        }
        (_, ArrowType::Timestamp(TimeUnit::Microsecond, _)) => {
            PrimitiveLiteral::Long(array.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        (_, ArrowType::Timestamp(TimeUnit::Nanosecond, _)) => {
            PrimitiveLiteral::Long(array.as_primitive::<TimestampNanosecondType>().value(row))
        }
        (_, ArrowType::Decimal128(_, _)) => PrimitiveLiteral::Int128(array.as_primitive::<Decimal128Type>().value(row)),
        (_, ArrowType::Utf8) => PrimitiveLiteral::String(array.as_string::<i32>().value(row).to_owned()),
        (PrimitiveType::Uuid, ArrowType::Binary) => {
            let bytes: [u8; 16] = array
                .as_binary::<i32>()
                .value(row)
                .try_into()
                .map_err(|_| Error::new("invalid-value", "a uuid partition value does not have 16 bytes"))?;
            PrimitiveLiteral::UInt128(u128::from_be_bytes(bytes))
        }
        (_, ArrowType::Binary) => PrimitiveLiteral::Binary(array.as_binary::<i32>().value(row).to_vec()),
        (of, other) => return Err(Error::internal(format!("a partition value of type {of} in an array of {other}"))),
    };
    Ok(Some(Literal::Primitive(value)))
}

/// Java's `PartitionSpec.partitionToPath`, in full: the name of a partition in the summary of a snapshot. `types` is the
/// type of the spec's partitions.
pub(crate) fn partition_path(spec: &PartitionSpec, types: &StructType, values: &Struct) -> String {
    let mut path = String::new();
    for ((field, value), of) in spec.fields().iter().zip(values.iter()).zip(types.fields()) {
        let text = match (value, of.field_type.as_ref()) {
            (Some(value), Type::Primitive(result)) => human(field.transform, result, value),
            _ => "null".to_owned(),
        };
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(&url_encode(&field.name));
        path.push('=');
        path.push_str(&url_encode(&text));
    }
    path
}

/// File systems limit a name to 255 bytes; the partition is in the metadata anyway.
const LONGEST_FOLDER: usize = 200;

fn folder(name: &str, value: &str) -> String {
    let mut folder = format!("{}={}", url_encode(name), url_encode(value));
    if folder.len() > LONGEST_FOLDER {
        folder.truncate(LONGEST_FOLDER); // ASCII after encoding
    }
    folder
}

/// A partition value for people, as Java's transforms print it.
pub(crate) fn human(transform: Transform, result: &PrimitiveType, value: &Literal) -> String {
    let Literal::Primitive(value) = value else { return "null".to_owned() };
    match (transform, result, value) {
        (Transform::Year, _, PrimitiveLiteral::Int(v)) => format!("{:04}", 1970 + i64::from(*v)),
        (Transform::Month, _, PrimitiveLiteral::Int(v)) => {
            format!("{:04}-{:02}", 1970 + v.div_euclid(12), v.rem_euclid(12) + 1)
        }
        (Transform::Hour, _, PrimitiveLiteral::Int(v)) => {
            format!("{}-{:02}", date(v.div_euclid(24)), v.rem_euclid(24))
        }
        (_, PrimitiveType::Date, PrimitiveLiteral::Int(v)) => date(*v),
        (_, PrimitiveType::Time, PrimitiveLiteral::Long(v)) => time(v.wrapping_mul(1_000)),
        (_, PrimitiveType::Timestamp, PrimitiveLiteral::Long(v)) => timestamp(*v, 1_000_000),
        (_, PrimitiveType::Timestamptz, PrimitiveLiteral::Long(v)) => timestamp(*v, 1_000_000) + "+00:00",
        (_, PrimitiveType::TimestampNs, PrimitiveLiteral::Long(v)) => timestamp(*v, 1_000_000_000),
        (_, PrimitiveType::TimestamptzNs, PrimitiveLiteral::Long(v)) => timestamp(*v, 1_000_000_000) + "+00:00",
        (_, PrimitiveType::Decimal { scale, .. }, PrimitiveLiteral::Int128(v)) => decimal(*v, *scale as usize),
        (_, PrimitiveType::Uuid, PrimitiveLiteral::UInt128(v)) => uuid::Uuid::from_u128(*v).to_string(),
        (_, _, PrimitiveLiteral::Boolean(v)) => v.to_string(),
        (_, _, PrimitiveLiteral::Int(v)) => v.to_string(),
        (_, _, PrimitiveLiteral::Long(v)) => v.to_string(),
        (_, _, PrimitiveLiteral::Float(v)) => float(v.0.into(), format!("{:?}", v.0), format!("{:e}", v.0)),
        (_, _, PrimitiveLiteral::Double(v)) => float(v.0, format!("{:?}", v.0), format!("{:e}", v.0)),
        (_, _, PrimitiveLiteral::Int128(v)) => v.to_string(),
        (_, _, PrimitiveLiteral::UInt128(v)) => v.to_string(),
        (_, _, PrimitiveLiteral::String(v)) => v.clone(),
        (_, _, PrimitiveLiteral::Binary(v)) => base64(v),
        (_, _, PrimitiveLiteral::AboveMax | PrimitiveLiteral::BelowMin) => "null".to_owned(),
    }
}

fn date(days: i32) -> String {
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Java's `LocalTime.toString`: no more than needed, fractions in groups of three digits.
fn time(nanos_of_day: i64) -> String {
    let (seconds, nanos) = (nanos_of_day.div_euclid(1_000_000_000), nanos_of_day.rem_euclid(1_000_000_000));
    let mut text = format!("{:02}:{:02}", seconds / 3_600, seconds / 60 % 60);
    if seconds % 60 != 0 || nanos != 0 {
        let _ = write!(text, ":{:02}", seconds % 60);
    }
    match nanos {
        0 => {}
        n if n % 1_000_000 == 0 => drop(write!(text, ".{:03}", n / 1_000_000)),
        n if n % 1_000 == 0 => drop(write!(text, ".{:06}", n / 1_000)),
        n => drop(write!(text, ".{n:09}")),
    }
    text
}

/// Java's `ISO_LOCAL_DATE_TIME`: always with seconds, no more of them than needed; years of more than four digits have a
/// sign, and those before 0 have four digits.
fn timestamp(value: i64, per_second: i64) -> String {
    let per_day = per_second * 86_400;
    let nanos = value.rem_euclid(per_day) * (1_000_000_000 / per_second);
    let (year, month, day) = civil(value.div_euclid(per_day) as i32);
    let sign = match year {
        ..0 => "-",
        0..=9_999 => "",
        _ => "+",
    };
    let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let fraction = if nanos == 0 { String::new() } else { format!(".{nanos:09}") };
    format!("{sign}{:04}-{month:02}-{day:02}T{time}{}", year.unsigned_abs(), fraction.trim_end_matches('0'))
}

/// Java's `Double.toString`, from the value in Rust's two notations: with a power of ten from ten million on, and below a
/// thousandth.
fn float(value: f64, plain: String, scientific: String) -> String {
    match value.abs() {
        v if v.is_nan() => "NaN".to_owned(),
        v if v.is_infinite() => if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        v if v == 0.0 || (1e-3..1e7).contains(&v) => plain,
        _ => match scientific.split_once('e') {
            Some((digits, power)) if digits.contains('.') => format!("{digits}E{power}"),
            Some((digits, power)) => format!("{digits}.0E{power}"),
            None => scientific,
        },
    }
}

fn decimal(unscaled: i128, scale: usize) -> String {
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_usize, |g, b| (g << 8) | usize::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS.get((group >> (18 - 6 * i)) & 63).copied().unwrap_or(b'=');
            text.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}
