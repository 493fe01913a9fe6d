//! Rows as bytes: what operators keep in their state.
//!
//! Equal rows have equal bytes, NULLs being equal to each other, and bytes compare as rows sort.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Int8Array, ListArray, MapArray, RecordBatch, RecordBatchOptions, StructArray,
};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, SchemaRef};
use arrow::row::{RowConverter, RowParser, Rows, SortField};
use datafusion::common::Result;

use crate::op::Op;
use crate::operator::internal;

/// A row in a state.
pub type Bytes = Box<[u8]>;

/// Bytes that the map entry of a row costs besides the row itself: a guess that is not too low.
pub const ENTRY: usize = 64;

/// Rows of some types to bytes and back.
pub struct Codec {
    converter: RowConverter,
    parser: RowParser,
    types: Vec<DataType>,
}

impl std::fmt::Debug for Codec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Codec").field("types", &self.types).finish_non_exhaustive()
    }
}

/// The rows of a batch as bytes.
#[derive(Debug)]
pub struct Encoded(Option<Rows>);

impl Encoded {
    /// A row of the batch.
    pub fn row(&self, row: usize) -> &[u8] {
        self.0.as_ref().map_or(&[], |rows| rows.row(row).data())
    }
}

impl Codec {
    /// Rows in ascending order, NULLs first.
    ///
    /// # Errors
    /// Types that have no values.
    pub fn new(types: impl IntoIterator<Item = DataType>) -> Result<Self> {
        Self::sorted(types.into_iter().map(|t| (t, SortOptions::default())))
    }

    /// Rows in that order.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn sorted(columns: impl IntoIterator<Item = (DataType, SortOptions)>) -> Result<Self> {
        let (types, options): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let fields = types.iter().zip(options).map(|(t, o)| SortField::new_with_options(plain_type(t), o)).collect();
        let converter = RowConverter::new(fields)?;
        Ok(Self { parser: converter.parser(), converter, types })
    }

    /// The rows of some columns.
    ///
    /// # Errors
    /// Columns of other types.
    pub fn encode(&self, columns: &[ArrayRef]) -> Result<Encoded> {
        if columns.len() != self.types.len() {
            return Err(internal(format!("{} columns where {} are expected", columns.len(), self.types.len())));
        }
        if columns.is_empty() {
            return Ok(Encoded(None));
        }
        let plain = columns.iter().map(to_plain).collect::<Result<Vec<_>>>()?;
        Ok(Encoded(Some(self.converter.convert_columns(&plain)?)))
    }

    /// The columns of some rows that this codec encoded.
    ///
    /// # Errors
    /// Values that Arrow cannot make an array of.
    pub fn decode<'a>(&self, rows: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<ArrayRef>> {
        if self.types.is_empty() {
            return Ok(vec![]);
        }
        let columns = self.converter.convert_rows(rows.into_iter().map(|row| self.parser.parse(row)))?;
        columns.iter().zip(&self.types).map(|(column, t)| from_plain(column, t)).collect()
    }
}

/// Rows on their way out, as bytes of one codec one behind the other.
#[derive(Debug, Default)]
pub struct Changes {
    ops: Vec<i8>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Changes {
    /// Adds a change.
    pub fn push(&mut self, op: Op, row: &[u8]) {
        self.push_joined(op, row, &[]);
    }

    /// Adds a change of a row that is two rows side by side.
    pub fn push_joined(&mut self, op: Op, left: &[u8], right: &[u8]) {
        self.ops.push(op.byte());
        self.bytes.extend_from_slice(left);
        self.ends.push(self.bytes.len());
        self.bytes.extend_from_slice(right);
        self.ends.push(self.bytes.len());
    }

    /// How many changes there are.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Rows of the left (0) or right (1) parts.
    fn parts(&self, side: usize) -> impl Iterator<Item = &[u8]> {
        let start = |i: usize| i.checked_sub(1).and_then(|i| self.ends.get(i)).copied().unwrap_or(0);
        (0..self.ops.len()).map(move |row| {
            let i = row * 2 + side;
            let end = self.ends.get(i).copied().unwrap_or(0);
            self.bytes.get(start(i)..end).unwrap_or_default()
        })
    }

    /// The columns of the left parts.
    ///
    /// # Errors
    /// As [`Codec::decode`].
    pub fn left(&self, codec: &Codec) -> Result<Vec<ArrayRef>> {
        codec.decode(self.parts(0))
    }

    /// The columns of the right parts.
    ///
    /// # Errors
    /// As [`Codec::decode`].
    pub fn right(&self, codec: &Codec) -> Result<Vec<ArrayRef>> {
        codec.decode(self.parts(1))
    }

    /// The batch of some columns, and of the kinds of changes if the schema has one column more.
    ///
    /// # Errors
    /// Columns that the schema does not have.
    pub fn batch(self, schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
        batch(schema, columns, self.ops)
    }
}

/// A batch of columns, and of the kinds of changes if the schema has one column more.
///
/// # Errors
/// Columns that the schema does not have; changes that a schema without their column has no place for.
pub fn batch(schema: &SchemaRef, mut columns: Vec<ArrayRef>, ops: Vec<i8>) -> Result<RecordBatch> {
    let rows = ops.len();
    if columns.len() < schema.fields().len() {
        columns.push(Arc::new(Int8Array::from(ops)));
    } else if ops.iter().any(|op| *op != Op::Insert.byte()) {
        return Err(internal("a stream that only adds rows changes one"));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

/// The columns at some positions.
///
/// # Errors
/// `internal` for a position that the batch does not have.
pub fn columns(batch: &RecordBatch, positions: &[usize]) -> Result<Vec<ArrayRef>> {
    let column =
        |i: &usize| batch.columns().get(*i).cloned().ok_or_else(|| internal(format!("there is no column {i}")));
    positions.iter().map(column).collect()
}

/// The type in which values are encoded: Arrow's rows know no maps, so they are lists of entries.
fn plain_type(t: &DataType) -> DataType {
    let plain = |f: &FieldRef| -> FieldRef { Arc::new(f.as_ref().clone().with_data_type(plain_type(f.data_type()))) };
    match t {
        DataType::Map(entries, _) => DataType::List(plain(entries)),
        DataType::List(element) => DataType::List(plain(element)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(plain).collect::<Fields>()),
        other => other.clone(),
    }
}

fn to_plain(array: &ArrayRef) -> Result<ArrayRef> {
    let plain = plain_type(array.data_type());
    if &plain == array.data_type() {
        return Ok(array.clone());
    }
    Ok(match (array.data_type(), &plain) {
        (DataType::Map(..), DataType::List(field)) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let list =
                ListArray::try_new(field.clone(), map.offsets().clone(), to_plain(&entries)?, map.nulls().cloned())?;
            Arc::new(list)
        }
        (DataType::List(_), DataType::List(field)) => {
            let list = array.as_list::<i32>();
            let values = to_plain(list.values())?;
            Arc::new(ListArray::try_new(field.clone(), list.offsets().clone(), values, list.nulls().cloned())?)
        }
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let row = array.as_struct();
            let columns = row.columns().iter().map(to_plain).collect::<Result<Vec<_>>>()?;
            Arc::new(StructArray::try_new_with_length(fields.clone(), columns, row.nulls().cloned(), row.len())?)
        }
        (other, _) => return Err(internal(format!("no rows of {other}"))),
    })
}

fn from_plain(array: &ArrayRef, t: &DataType) -> Result<ArrayRef> {
    if array.data_type() == t {
        return Ok(array.clone());
    }
    Ok(match (array.data_type(), t) {
        (DataType::List(_), DataType::Map(entries, sorted)) => {
            let list = array.as_list::<i32>();
            let values = from_plain(list.values(), entries.data_type())?;
            let values = values.as_struct().clone();
            Arc::new(MapArray::try_new(
                entries.clone(),
                list.offsets().clone(),
                values,
                list.nulls().cloned(),
                *sorted,
            )?)
        }
        (DataType::List(_), DataType::List(field)) => {
            let list = array.as_list::<i32>();
            let values = from_plain(list.values(), field.data_type())?;
            Arc::new(ListArray::try_new(field.clone(), list.offsets().clone(), values, list.nulls().cloned())?)
        }
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let row = array.as_struct();
            let column = |(column, field): (&ArrayRef, &Arc<Field>)| from_plain(column, field.data_type());
            let columns = row.columns().iter().zip(fields).map(column).collect::<Result<Vec<_>>>()?;
            Arc::new(StructArray::try_new_with_length(fields.clone(), columns, row.nulls().cloned(), row.len())?)
        }
        (have, want) => return Err(internal(format!("rows of {have} instead of {want}"))),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use arrow::array::{Int32Array, Int32Builder, MapBuilder, StringBuilder};

    use super::*;

    #[test]
    fn maps_survive() {
        let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
        builder.keys().append_value("a");
        builder.values().append_value(1);
        builder.append(true).unwrap();
        builder.append(false).unwrap();
        builder.append(true).unwrap();
        let map: ArrayRef = Arc::new(builder.finish());
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
        let columns = [map, numbers];
        let codec = Codec::new(columns.iter().map(|c| c.data_type().clone())).unwrap();
        let rows = codec.encode(&columns).unwrap();
        let back = codec.decode([2, 0, 1].map(|row| rows.row(row))).unwrap();
        let order = arrow::array::UInt32Array::from(vec![2, 0, 1]);
        for (column, back) in columns.iter().zip(&back) {
            assert_eq!(&arrow::compute::take(column, &order, None).unwrap(), back);
        }
    }

    #[test]
    fn no_columns_are_one_row() {
        let codec = Codec::new([]).unwrap();
        let rows = codec.encode(&[]).unwrap();
        assert!(rows.row(5).is_empty() && codec.decode([rows.row(1)]).unwrap().is_empty());
    }
}
