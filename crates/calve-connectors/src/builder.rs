//! Arrow arrays built value by value, for each of Flink's types.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BinaryBuilder, BooleanBuilder, ListArray, MapArray, PrimitiveBuilder, StringBuilder,
    StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, FieldRef, Fields, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, SchemaRef, Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use calve_types::{DataType, Error, LogicalType, Result, arrow as mapping};

/// Builds an array of one type.
#[derive(Debug)]
pub(crate) enum Builder {
    Boolean(BooleanBuilder),
    TinyInt(PrimitiveBuilder<Int8Type>),
    SmallInt(PrimitiveBuilder<Int16Type>),
    Int(PrimitiveBuilder<Int32Type>),
    BigInt(PrimitiveBuilder<Int64Type>),
    Float(PrimitiveBuilder<Float32Type>),
    Double(PrimitiveBuilder<Float64Type>),
    /// Precision and scale.
    Decimal(PrimitiveBuilder<Decimal128Type>, u8, u8),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Date(PrimitiveBuilder<Date32Type>),
    /// Precision.
    Time(PrimitiveBuilder<Time64MicrosecondType>, u8),
    Timestamp(Timestamps),
    List(Lists),
    Map(Maps),
    Row(Rows),
}

/// Timestamps as the numbers their array holds.
#[derive(Debug)]
pub(crate) struct Timestamps {
    pub units: PrimitiveBuilder<Int64Type>,
    pub precision: u8,
    /// Whether the type is TIMESTAMP_LTZ.
    pub zoned: bool,
}

/// ARRAY.
#[derive(Debug)]
pub(crate) struct Lists {
    field: FieldRef,
    offsets: Vec<i32>,
    valid: Vec<bool>,
    pub values: Box<Builder>,
}

/// MAP and MULTISET.
#[derive(Debug)]
pub(crate) struct Maps {
    field: FieldRef,
    entries: Fields,
    offsets: Vec<i32>,
    valid: Vec<bool>,
    pub keys: Box<Builder>,
    pub values: Box<Builder>,
}

/// ROW.
#[derive(Debug)]
pub(crate) struct Rows {
    fields: Fields,
    valid: Vec<bool>,
    pub columns: Vec<Builder>,
}

impl Builder {
    /// An empty builder of a type's values.
    ///
    /// # Errors
    /// `not-supported` for types that no table outside Iceberg holds.
    pub fn new(logical: &LogicalType) -> Result<Self> {
        use LogicalType as T;
        Ok(match logical {
            T::Boolean => Self::Boolean(BooleanBuilder::new()),
            T::TinyInt => Self::TinyInt(PrimitiveBuilder::new()),
            T::SmallInt => Self::SmallInt(PrimitiveBuilder::new()),
            T::Int => Self::Int(PrimitiveBuilder::new()),
            T::BigInt => Self::BigInt(PrimitiveBuilder::new()),
            T::Float => Self::Float(PrimitiveBuilder::new()),
            T::Double => Self::Double(PrimitiveBuilder::new()),
            T::Decimal { precision, scale } => Self::Decimal(PrimitiveBuilder::new(), *precision, *scale),
            T::Char(_) | T::Varchar(_) => Self::Text(StringBuilder::new()),
            T::Binary(_) | T::Varbinary(_) => Self::Bytes(BinaryBuilder::new()),
            T::Date => Self::Date(PrimitiveBuilder::new()),
            T::Time(precision) => Self::Time(PrimitiveBuilder::new(), *precision),
            T::Timestamp(precision) | T::TimestampLtz(precision) => Self::Timestamp(Timestamps {
                units: PrimitiveBuilder::new(),
                precision: *precision,
                zoned: matches!(logical, T::TimestampLtz(_)),
            }),
            T::Array(element) => {
                let ArrowType::List(field) = mapping::to_arrow(logical)? else { return Err(unsupported(logical)) };
                let values = Box::new(Self::new(&element.logical)?);
                Self::List(Lists { field, offsets: vec![0], valid: Vec::new(), values })
            }
            T::Map(key, value) => Self::map(logical, key, &value.logical)?,
            T::Multiset(element) => Self::map(logical, element, &T::Int)?,
            T::Row(fields) => {
                let ArrowType::Struct(arrow) = mapping::to_arrow(logical)? else { return Err(unsupported(logical)) };
                let columns = fields.iter().map(|f| Self::new(&f.data_type.logical)).collect::<Result<_>>()?;
                Self::Row(Rows { fields: arrow, valid: Vec::new(), columns })
            }
            _ => return Err(unsupported(logical)),
        })
    }

    fn map(logical: &LogicalType, key: &DataType, value: &LogicalType) -> Result<Self> {
        let ArrowType::Map(field, _) = mapping::to_arrow(logical)? else { return Err(unsupported(logical)) };
        let ArrowType::Struct(entries) = field.data_type().clone() else { return Err(unsupported(logical)) };
        let (keys, values) = (Box::new(Self::new(&key.logical)?), Box::new(Self::new(value)?));
        Ok(Self::Map(Maps { field, entries, offsets: vec![0], valid: Vec::new(), keys, values }))
    }

    /// Values so far.
    pub fn len(&self) -> usize {
        use arrow::array::ArrayBuilder as _;
        match self {
            Self::Boolean(b) => b.len(),
            Self::TinyInt(b) => b.len(),
            Self::SmallInt(b) => b.len(),
            Self::Int(b) => b.len(),
            Self::BigInt(b) => b.len(),
            Self::Float(b) => b.len(),
            Self::Double(b) => b.len(),
            Self::Decimal(b, ..) => b.len(),
            Self::Text(b) => b.len(),
            Self::Bytes(b) => b.len(),
            Self::Date(b) => b.len(),
            Self::Time(b, _) => b.len(),
            Self::Timestamp(b) => b.units.len(),
            Self::List(b) => b.valid.len(),
            Self::Map(b) => b.valid.len(),
            Self::Row(b) => b.valid.len(),
        }
    }

    /// Appends NULL.
    pub fn append_null(&mut self) {
        match self {
            Self::Boolean(b) => b.append_null(),
            Self::TinyInt(b) => b.append_null(),
            Self::SmallInt(b) => b.append_null(),
            Self::Int(b) => b.append_null(),
            Self::BigInt(b) => b.append_null(),
            Self::Float(b) => b.append_null(),
            Self::Double(b) => b.append_null(),
            Self::Decimal(b, ..) => b.append_null(),
            Self::Text(b) => b.append_null(),
            Self::Bytes(b) => b.append_null(),
            Self::Date(b) => b.append_null(),
            Self::Time(b, _) => b.append_null(),
            Self::Timestamp(b) => b.units.append_null(),
            Self::List(b) => b.close(false),
            Self::Map(b) => b.close(false),
            Self::Row(b) => {
                b.columns.iter_mut().for_each(Self::append_null);
                b.valid.push(false);
            }
        }
    }

    /// The array of the values; the builder is empty again.
    ///
    /// # Errors
    /// A NULL inside of a value whose type has NOT NULL there.
    pub fn finish(&mut self) -> Result<ArrayRef> {
        fn primitive<T: ArrowPrimitiveType>(builder: &mut PrimitiveBuilder<T>) -> ArrayRef {
            Arc::new(builder.finish())
        }
        let nulls = |valid: &mut Vec<bool>| {
            let valid = std::mem::take(valid);
            valid.contains(&false).then(|| NullBuffer::from(valid))
        };
        let offsets =
            |offsets: &mut Vec<i32>| OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(offsets, vec![0])));
        Ok(match self {
            Self::Boolean(b) => Arc::new(b.finish()),
            Self::TinyInt(b) => primitive(b),
            Self::SmallInt(b) => primitive(b),
            Self::Int(b) => primitive(b),
            Self::BigInt(b) => primitive(b),
            Self::Float(b) => primitive(b),
            Self::Double(b) => primitive(b),
            Self::Decimal(b, precision, scale) => {
                Arc::new(b.finish().with_precision_and_scale(*precision, *scale as i8).map_err(Error::internal)?)
            }
            Self::Text(b) => Arc::new(b.finish()),
            Self::Bytes(b) => Arc::new(b.finish()),
            Self::Date(b) => primitive(b),
            Self::Time(b, _) => primitive(b),
            Self::Timestamp(b) => {
                let units = b.units.finish();
                match (b.precision > 6, b.zoned) {
                    (false, false) => Arc::new(units.reinterpret_cast::<TimestampMicrosecondType>()),
                    (true, false) => Arc::new(units.reinterpret_cast::<TimestampNanosecondType>()),
                    (false, true) => {
                        Arc::new(units.reinterpret_cast::<TimestampMicrosecondType>().with_timezone(mapping::UTC))
                    }
                    (true, true) => {
                        Arc::new(units.reinterpret_cast::<TimestampNanosecondType>().with_timezone(mapping::UTC))
                    }
                }
            }
            Self::List(b) => {
                let values = b.values.finish()?;
                let list = ListArray::try_new(b.field.clone(), offsets(&mut b.offsets), values, nulls(&mut b.valid));
                Arc::new(list.map_err(nested_null)?)
            }
            Self::Map(b) => {
                let columns = vec![b.keys.finish()?, b.values.finish()?];
                let entries = StructArray::try_new(b.entries.clone(), columns, None).map_err(nested_null)?;
                let offsets = offsets(&mut b.offsets);
                let map = MapArray::try_new(b.field.clone(), offsets, entries, nulls(&mut b.valid), false);
                Arc::new(map.map_err(nested_null)?)
            }
            Self::Row(b) => {
                let columns = b.columns.iter_mut().map(Self::finish).collect::<Result<_>>()?;
                let (fields, nulls) = (b.fields.clone(), nulls(&mut b.valid));
                Arc::new(StructArray::try_new(fields, columns, nulls).map_err(nested_null)?)
            }
        })
    }
}

impl Lists {
    /// Ends an array whose elements were appended to `values`.
    pub fn close(&mut self, valid: bool) {
        self.offsets.push(offset(self.values.len()));
        self.valid.push(valid);
    }
}

impl Maps {
    /// Ends a map whose entries were appended to `keys` and `values`.
    pub fn close(&mut self, valid: bool) {
        self.offsets.push(offset(self.keys.len()));
        self.valid.push(valid);
    }
}

impl Rows {
    /// Ends a row whose fields were appended to each of `columns`.
    pub fn close(&mut self) {
        self.valid.push(true);
    }
}

/// A batch of what the builders hold, each `rows` values; `None` if there are no rows.
///
/// # Errors
/// As [`Builder::finish`].
pub(crate) fn batch<'b>(
    columns: impl Iterator<Item = &'b mut Builder>,
    rows: usize,
    schema: &SchemaRef,
) -> Result<Option<RecordBatch>> {
    if rows == 0 {
        return Ok(None);
    }
    let arrays = columns.map(Builder::finish).collect::<Result<Vec<_>>>()?;
    // without columns nothing else tells how many rows there are
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), arrays, &options).map(Some).map_err(Error::internal)
}

/// Batches are far smaller than the 2^31 elements an array's offsets can count.
fn offset(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX)
}

fn nested_null(error: arrow::error::ArrowError) -> Error {
    Error::new("null-in-not-null", "a row has NULL inside of a value whose type says NOT NULL there")
        .with_detail(error.to_string())
}

fn unsupported(logical: &LogicalType) -> Error {
    Error::unsupported(format!("a column of type {logical} in a table outside Iceberg"))
}
