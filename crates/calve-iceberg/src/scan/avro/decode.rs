//! Rows of an Avro file to Arrow arrays.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, BooleanBufferBuilder, FixedSizeBinaryArray, Float32Array, Float64Array,
    ListArray, MapArray, PrimitiveArray, StringArray, StructArray, new_null_array,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Date32Type, Decimal128Type, FieldRef, Fields, Int32Type, Int64Type,
    Time32MillisecondType, Time64MicrosecondType, Time64NanosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use uuid::Uuid;

use super::cursor::{Cursor, Damage, skip};
use super::schema::{Branches, Meaning, Node, Shape};

/// The values of one column so far.
#[derive(Debug)]
pub(super) struct Column {
    branches: Option<Branches>,
    /// Whether each value is there; empty for a column without NULL.
    valid: BooleanBufferBuilder,
    values: Values,
    /// What the parent record or array knows it as.
    data_type: ArrowType,
}

#[derive(Debug)]
enum Values {
    /// Nothing calve has a type for.
    Skipped(Arc<Node>, usize),
    Boolean(BooleanBufferBuilder),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Offsets, Vec<u8>),
    Text(Offsets, Vec<u8>),
    Enum(Arc<[String]>, Offsets, Vec<u8>),
    Fixed(usize, Vec<u8>),
    /// `fixed` values have that many bytes.
    Decimal(Option<usize>, Vec<i128>),
    UuidText(Vec<u8>),
    Struct(Fields, Vec<Column>, usize),
    List(FieldRef, usize, Offsets, Box<Column>),
    Map {
        entries: FieldRef,
        least: usize,
        offsets: Offsets,
        parts: Box<(Column, Column)>,
    },
}

/// Where the values of a column of variable length end.
#[derive(Debug)]
struct Offsets(Vec<i32>);

impl Offsets {
    fn new() -> Self {
        Self(vec![0])
    }

    fn end(&mut self, at: usize) -> Result<(), Damage> {
        self.0.push(i32::try_from(at).map_err(|_| "a batch has too many bytes".to_owned())?);
        Ok(())
    }

    /// A value of that many items.
    fn items(&mut self, items: usize) -> Result<(), Damage> {
        let start = self.0.last().map_or(0, |end| *end as usize);
        self.end(start.saturating_add(items))
    }

    /// A value of no length.
    fn empty(&mut self) {
        self.0.push(self.0.last().copied().unwrap_or(0));
    }

    fn take(&mut self) -> OffsetBuffer<i32> {
        // only ever appended to, and checked there
        OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(&mut self.0, vec![0])))
    }
}

impl Column {
    /// For values of this type, to be read as `data_type`.
    pub(super) fn new(node: &Arc<Node>, data_type: &ArrowType) -> Self {
        let (inner, branches) = match node.optional() {
            Some((inner, branches)) => (inner, Some(branches)),
            None => (node, None),
        };
        let values = match (&inner.shape, data_type) {
            (Shape::Boolean, _) => Values::Boolean(BooleanBufferBuilder::new(0)),
            (Shape::Int, _) => Values::Int(Vec::new()),
            (Shape::Long, _) => Values::Long(Vec::new()),
            (Shape::Float, _) => Values::Float(Vec::new()),
            (Shape::Double, _) => Values::Double(Vec::new()),
            (Shape::Bytes, ArrowType::Decimal128(..)) => Values::Decimal(None, Vec::new()),
            (Shape::Fixed(size), ArrowType::Decimal128(..)) => Values::Decimal(Some(*size), Vec::new()),
            (Shape::Bytes, _) => Values::Bytes(Offsets::new(), Vec::new()),
            (Shape::Text, ArrowType::FixedSizeBinary(_)) => Values::UuidText(Vec::new()),
            (Shape::Text, _) => Values::Text(Offsets::new(), Vec::new()),
            (Shape::Enum(symbols), _) => Values::Enum(symbols.clone(), Offsets::new(), Vec::new()),
            (Shape::Fixed(size), ArrowType::FixedSizeBinary(_)) => Values::Fixed(*size, Vec::new()),
            (Shape::Record(fields), ArrowType::Struct(arrow)) => {
                let children = fields.iter().zip(arrow).map(|(f, a)| Self::new(&f.node, a.data_type())).collect();
                Values::Struct(arrow.clone(), children, 0)
            }
            (Shape::Array(item), ArrowType::List(element)) => {
                let child = Self::new(item, element.data_type());
                Values::List(element.clone(), item.least, Offsets::new(), Box::new(child))
            }
            (_, ArrowType::Map(entries, _)) => Self::map(inner, entries),
            _ => Values::Skipped(inner.clone(), 0),
        };
        let skipped = matches!(values, Values::Skipped(..));
        let values = if skipped { Values::Skipped(node.clone(), 0) } else { values };
        let branches = branches.filter(|_| !skipped);
        Self { branches, valid: BooleanBufferBuilder::new(0), values, data_type: data_type.clone() }
    }

    fn map(node: &Arc<Node>, entries: &FieldRef) -> Values {
        let ArrowType::Struct(fields) = entries.data_type() else { return Values::Skipped(node.clone(), 0) };
        let parts = match (&node.shape, fields.as_ref()) {
            (Shape::Array(item), [key, value]) if node.meaning == Meaning::Pairs => item
                .pair()
                .map(|(k, v)| (Self::new(&k.node, key.data_type()), Self::new(&v.node, value.data_type()), item.least)),
            (Shape::Map(of), [key, value]) => {
                let text = Self {
                    branches: None,
                    valid: BooleanBufferBuilder::new(0),
                    values: Values::Text(Offsets::new(), Vec::new()),
                    data_type: key.data_type().clone(),
                };
                Some((text, Self::new(of, value.data_type()), of.least.saturating_add(1)))
            }
            _ => None,
        };
        match parts {
            Some((key, value, least)) => {
                Values::Map { entries: entries.clone(), least, offsets: Offsets::new(), parts: Box::new((key, value)) }
            }
            None => Values::Skipped(node.clone(), 0),
        }
    }

    /// Reads the value of the next row.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(&mut self, input: &mut Cursor<'_>) -> Result<(), Damage> {
        if let Some(branches) = self.branches {
            let index = input.long()?;
            if Some(index) == branches.null {
                self.null();
                return Ok(());
            }
            if index != branches.value {
                return Err(format!("a union has no branch {index}"));
            }
            if branches.null.is_some() {
                self.valid.append(true);
            }
        }
        match &mut self.values {
            Values::Skipped(node, rows) => {
                skip(node, input)?;
                *rows += 1;
            }
            Values::Boolean(values) => match input.array()? {
                [0] => values.append(false),
                [1] => values.append(true),
                _ => return Err("a boolean is neither true nor false".to_owned()),
            },
            Values::Int(values) => values.push(input.int()?),
            Values::Long(values) => values.push(input.long()?),
            Values::Float(values) => values.push(f32::from_le_bytes(input.array()?)),
            Values::Double(values) => values.push(f64::from_le_bytes(input.array()?)),
            Values::Bytes(offsets, data) => {
                data.extend_from_slice(input.counted()?);
                offsets.end(data.len())?;
            }
            Values::Text(offsets, data) => {
                let bytes = input.counted()?;
                // value by value: the boundaries must be those of characters
                std::str::from_utf8(bytes).map_err(|_| "text is not UTF-8".to_owned())?;
                data.extend_from_slice(bytes);
                offsets.end(data.len())?;
            }
            Values::Enum(symbols, offsets, data) => {
                let symbol = usize::try_from(input.long()?).ok().and_then(|index| symbols.get(index));
                data.extend_from_slice(symbol.ok_or_else(|| "an unknown symbol".to_owned())?.as_bytes());
                offsets.end(data.len())?;
            }
            Values::Fixed(size, data) => data.extend_from_slice(input.bytes(*size)?),
            Values::Decimal(size, values) => {
                let bytes = match size {
                    Some(size) => input.bytes(*size)?,
                    None => input.counted()?,
                };
                values.push(big_endian(bytes).ok_or_else(|| "a decimal has too many digits".to_owned())?);
            }
            Values::UuidText(data) => {
                let text = std::str::from_utf8(input.counted()?).ok().and_then(|text| Uuid::try_parse(text).ok());
                data.extend_from_slice(text.ok_or_else(|| "a UUID is none".to_owned())?.as_bytes());
            }
            Values::Struct(_, children, rows) => {
                for child in children {
                    child.read(input)?;
                }
                *rows += 1;
            }
            Values::List(_, least, offsets, child) => {
                let items = input.items(*least, |input| child.read(input))?;
                offsets.items(items)?;
            }
            Values::Map { least, offsets, parts, .. } => {
                let items = input.items(*least, |input| {
                    parts.0.read(input)?;
                    parts.1.read(input)
                })?;
                offsets.items(items)?;
            }
        }
        Ok(())
    }

    /// Adds NULL, or, to a column that cannot be NULL, some value in a record that is.
    fn null(&mut self) {
        if self.branches.is_some_and(|branches| branches.null.is_some()) {
            self.valid.append(false);
        }
        match &mut self.values {
            Values::Skipped(_, rows) => *rows += 1,
            Values::Boolean(values) => values.append(false),
            Values::Int(values) => values.push(0),
            Values::Long(values) => values.push(0),
            Values::Float(values) => values.push(0.0),
            Values::Double(values) => values.push(0.0),
            Values::Bytes(offsets, _) | Values::Text(offsets, _) | Values::Enum(_, offsets, _) => offsets.empty(),
            Values::Fixed(size, data) => data.resize(data.len() + *size, 0),
            Values::Decimal(_, values) => values.push(0),
            Values::UuidText(data) => data.resize(data.len() + 16, 0),
            Values::Struct(_, children, rows) => {
                children.iter_mut().for_each(Self::null);
                *rows += 1;
            }
            Values::List(_, _, offsets, _) | Values::Map { offsets, .. } => offsets.empty(),
        }
    }

    /// Bytes of memory held by the values, about.
    pub(super) fn memory(&self) -> usize {
        match &self.values {
            Values::Skipped(..) => 0,
            Values::Boolean(values) => values.len() / 8,
            Values::Int(values) => values.len() * 4,
            Values::Long(values) => values.len() * 8,
            Values::Float(values) => values.len() * 4,
            Values::Double(values) => values.len() * 8,
            Values::Bytes(offsets, data) | Values::Text(offsets, data) | Values::Enum(_, offsets, data) => {
                offsets.0.len() * 4 + data.len()
            }
            Values::Fixed(_, data) | Values::UuidText(data) => data.len(),
            Values::Decimal(_, values) => values.len() * 16,
            Values::Struct(_, children, _) => children.iter().map(Self::memory).sum(),
            Values::List(_, _, offsets, child) => offsets.0.len() * 4 + child.memory(),
            Values::Map { offsets, parts, .. } => offsets.0.len() * 4 + parts.0.memory() + parts.1.memory(),
        }
    }

    /// The values since the last time.
    ///
    /// # Errors
    /// Values that do not make an array.
    pub(super) fn finish(&mut self) -> Result<ArrayRef, Damage> {
        let nullable = self.branches.is_some_and(|branches| branches.null.is_some());
        let nulls = nullable.then(|| NullBuffer::new(self.valid.finish())).filter(|nulls| nulls.null_count() > 0);
        let wrong = |e: arrow::error::ArrowError| e.to_string();
        let data_type = &self.data_type;
        Ok(match &mut self.values {
            Values::Skipped(_, rows) => new_null_array(&ArrowType::Null, std::mem::take(rows)),
            Values::Boolean(values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::Int(values) => {
                let values = std::mem::take(values);
                match data_type {
                    ArrowType::Date32 => primitive::<Date32Type>(values, nulls)?,
                    ArrowType::Time32(_) => primitive::<Time32MillisecondType>(values, nulls)?,
                    _ => primitive::<Int32Type>(values, nulls)?,
                }
            }
            Values::Long(values) => {
                let values = std::mem::take(values);
                match data_type {
                    ArrowType::Time64(TimeUnit::Microsecond) => primitive::<Time64MicrosecondType>(values, nulls)?,
                    ArrowType::Time64(_) => primitive::<Time64NanosecondType>(values, nulls)?,
                    ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
                        primitive::<TimestampMillisecondType>(values, nulls)?
                    }
                    ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
                        primitive::<TimestampMicrosecondType>(values, nulls)?
                    }
                    ArrowType::Timestamp(_, _) => primitive::<TimestampNanosecondType>(values, nulls)?,
                    _ => primitive::<Int64Type>(values, nulls)?,
                }
            }
            Values::Float(values) => {
                Arc::new(Float32Array::try_new(std::mem::take(values).into(), nulls).map_err(wrong)?)
            }
            Values::Double(values) => {
                Arc::new(Float64Array::try_new(std::mem::take(values).into(), nulls).map_err(wrong)?)
            }
            Values::Bytes(offsets, data) => {
                let data = Buffer::from(std::mem::take(data));
                Arc::new(BinaryArray::try_new(offsets.take(), data, nulls).map_err(wrong)?)
            }
            Values::Text(offsets, data) | Values::Enum(_, offsets, data) => {
                let data = Buffer::from(std::mem::take(data));
                Arc::new(StringArray::try_new(offsets.take(), data, nulls).map_err(wrong)?)
            }
            Values::Fixed(size, data) => fixed(*size, std::mem::take(data), nulls)?,
            Values::UuidText(data) => fixed(16, std::mem::take(data), nulls)?,
            Values::Decimal(_, values) => {
                let values = PrimitiveArray::<Decimal128Type>::try_new(std::mem::take(values).into(), nulls);
                let ArrowType::Decimal128(precision, scale) = data_type else {
                    return Err("a decimal without its type".to_owned());
                };
                let values = values.and_then(|values| values.with_precision_and_scale(*precision, *scale));
                let values = values.map_err(wrong)?;
                values.validate_decimal_precision(*precision).map_err(wrong)?;
                Arc::new(values)
            }
            Values::Struct(fields, children, rows) => {
                let columns = children.iter_mut().map(Self::finish).collect::<Result<Vec<_>, _>>()?;
                let rows = std::mem::take(rows);
                Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, rows).map_err(wrong)?)
            }
            Values::List(field, _, offsets, child) => {
                let values = child.finish()?;
                Arc::new(ListArray::try_new(field.clone(), offsets.take(), values, nulls).map_err(wrong)?)
            }
            Values::Map { entries, offsets, parts, .. } => {
                let ArrowType::Struct(fields) = entries.data_type() else { return Err("a map without entries".into()) };
                let columns = vec![parts.0.finish()?, parts.1.finish()?];
                let values = StructArray::try_new(fields.clone(), columns, None).map_err(wrong)?;
                Arc::new(MapArray::try_new(entries.clone(), offsets.take(), values, nulls, false).map_err(wrong)?)
            }
        })
    }
}

fn primitive<T: ArrowPrimitiveType>(values: Vec<T::Native>, nulls: Option<NullBuffer>) -> Result<ArrayRef, Damage> {
    Ok(Arc::new(PrimitiveArray::<T>::try_new(values.into(), nulls).map_err(|e| e.to_string())?))
}

fn fixed(size: usize, data: Vec<u8>, nulls: Option<NullBuffer>) -> Result<ArrayRef, Damage> {
    let size = i32::try_from(size).map_err(|e| e.to_string())?;
    Ok(Arc::new(FixedSizeBinaryArray::try_new(size, Buffer::from(data), nulls).map_err(|e| e.to_string())?))
}

/// A number in two's complement; `None` if it has more than 128 bits.
fn big_endian(bytes: &[u8]) -> Option<i128> {
    let fill = if bytes.first()? & 0x80 == 0 { 0 } else { 0xff };
    let extra = bytes.len().saturating_sub(16);
    let (sign, number) = bytes.split_at_checked(extra)?;
    let mut full = [fill; 16];
    full.get_mut(16_usize.checked_sub(number.len())?..)?.copy_from_slice(number);
    let number = i128::from_be_bytes(full);
    (sign.iter().all(|byte| *byte == fill) && (number < 0) == (fill != 0)).then_some(number)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn decimals_of_any_length() {
        assert_eq!(big_endian(&[0xff]), Some(-1));
        assert_eq!(big_endian(&[0, 0x80]), Some(128));
        assert_eq!(big_endian(&[0; 20]), Some(0));
        assert_eq!(big_endian(&[0xff; 20]), Some(-1));
        let mut large = [0; 17];
        large[1] = 0x80;
        assert_eq!(big_endian(&large), None);
        assert_eq!(big_endian(&[]), None);
    }
}
