//! Arrow arrays to rows of an Avro file.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, FixedSizeBinaryArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use calve_types::{Error, Result};
use iceberg::spec::{NestedField, PrimitiveType, Type};

use super::schema::{decimal_bytes, is_text};

/// A column of a batch.
pub(super) struct Column<'a> {
    name: &'a str,
    required: bool,
    nulls: Option<NullBuffer>,
    values: Values<'a>,
}

enum Values<'a> {
    Boolean(&'a BooleanArray),
    Int(&'a [i32]),
    Long(&'a [i64]),
    Float(&'a [f32]),
    Double(&'a [f64]),
    /// Texts and bytes: where they end, and all of them.
    Bytes(&'a [i32], &'a [u8]),
    Fixed(&'a FixedSizeBinaryArray),
    /// With the number of bytes of a value.
    Decimal(&'a [i128], usize),
    Struct(Vec<Column<'a>>),
    List(&'a [i32], Box<Column<'a>>),
    Map(&'a [i32], Box<(Column<'a>, Column<'a>)>),
}

impl<'a> Column<'a> {
    /// For an array in the types of [`super::super::parquet_schema::physical_arrow`].
    ///
    /// # Errors
    /// Internal for other types.
    pub(super) fn new(field: &'a NestedField, array: &'a ArrayRef) -> Result<Self> {
        let mismatch = || Error::internal(format!("column '{}' has Arrow's type {}", field.name, array.data_type()));
        let values = match field.field_type.as_ref() {
            Type::Primitive(primitive) => primitive_values(primitive, array)?.ok_or_else(mismatch)?,
            Type::Struct(nested) => {
                let array = array.as_struct_opt().ok_or_else(mismatch)?;
                if array.num_columns() != nested.fields().len() {
                    return Err(mismatch());
                }
                let children = nested.fields().iter().zip(array.columns()).map(|(f, a)| Self::new(f, a));
                Values::Struct(children.collect::<Result<_>>()?)
            }
            Type::List(list) => {
                let array = array.as_list_opt::<i32>().ok_or_else(mismatch)?;
                Values::List(array.offsets(), Box::new(Self::new(&list.element_field, array.values())?))
            }
            Type::Map(map) => {
                let array = array.as_map_opt().ok_or_else(mismatch)?;
                let parts = (Self::new(&map.key_field, array.keys())?, Self::new(&map.value_field, array.values())?);
                debug_assert!(!is_text(&map.key_field) || matches!(parts.0.values, Values::Bytes(..)));
                Values::Map(array.offsets(), Box::new(parts))
            }
        };
        Ok(Self { name: &field.name, required: field.required, nulls: array.nulls().cloned(), values })
    }

    /// Appends the value of a row.
    ///
    /// # Errors
    /// `null-in-not-null`.
    pub(super) fn write(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let null = self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        match (self.required, null) {
            (true, true) => return Err(null_in_required(self.name)),
            (true, false) => {}
            (false, true) => {
                long(0, out);
                return Ok(());
            }
            (false, false) => long(1, out),
        }
        let gone = || Error::internal("a row that is not there");
        match &self.values {
            Values::Boolean(values) => out.push(u8::from(values.value(row))),
            Values::Int(values) => long(i64::from(*values.get(row).ok_or_else(gone)?), out),
            Values::Long(values) => long(*values.get(row).ok_or_else(gone)?, out),
            Values::Float(values) => out.extend_from_slice(&values.get(row).ok_or_else(gone)?.to_le_bytes()),
            Values::Double(values) => out.extend_from_slice(&values.get(row).ok_or_else(gone)?.to_le_bytes()),
            Values::Bytes(offsets, data) => {
                let (start, end) = bounds(offsets, row).ok_or_else(gone)?;
                let bytes = data.get(start..end).ok_or_else(gone)?;
                long(bytes.len() as i64, out);
                out.extend_from_slice(bytes);
            }
            Values::Fixed(values) => out.extend_from_slice(values.value(row)),
            Values::Decimal(values, size) => {
                let bytes = values.get(row).ok_or_else(gone)?.to_be_bytes();
                out.extend_from_slice(bytes.get(bytes.len().saturating_sub(*size)..).ok_or_else(gone)?);
            }
            Values::Struct(children) => {
                for child in children {
                    child.write(row, out)?;
                }
            }
            Values::List(offsets, child) => {
                let (start, end) = bounds(offsets, row).ok_or_else(gone)?;
                if end > start {
                    long((end - start) as i64, out);
                    for item in start..end {
                        child.write(item, out)?;
                    }
                }
                long(0, out);
            }
            Values::Map(offsets, parts) => {
                let (start, end) = bounds(offsets, row).ok_or_else(gone)?;
                if end > start {
                    long((end - start) as i64, out);
                    for item in start..end {
                        parts.0.write(item, out)?;
                        parts.1.write(item, out)?;
                    }
                }
                long(0, out);
            }
        }
        Ok(())
    }
}

/// NULL where the table allows none, inside of a column.
pub(crate) fn null_in_required(name: &str) -> Error {
    Error::new("null-in-not-null", format!("field '{name}' is NOT NULL, and a row has NULL in it"))
        .with_detail(format!("Column '{name}' is NOT NULL, however, a null value is being written into it."))
}

/// Where a value begins and ends.
fn bounds(offsets: &[i32], row: usize) -> Option<(usize, usize)> {
    let (start, end) = (offsets.get(row)?, offsets.get(row + 1)?);
    Some((usize::try_from(*start).ok()?, usize::try_from(*end).ok()?))
}

fn primitive_values<'a>(primitive: &PrimitiveType, array: &'a ArrayRef) -> Result<Option<Values<'a>>> {
    let ints = || match array.data_type() {
        ArrowType::Date32 => array.as_primitive_opt::<Date32Type>().map(|a| Values::Int(a.values())),
        _ => array.as_primitive_opt::<Int32Type>().map(|a| Values::Int(a.values())),
    };
    let longs = || match array.data_type() {
        ArrowType::Time64(TimeUnit::Microsecond) => {
            array.as_primitive_opt::<Time64MicrosecondType>().map(|a| Values::Long(a.values()))
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            array.as_primitive_opt::<TimestampMicrosecondType>().map(|a| Values::Long(a.values()))
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            array.as_primitive_opt::<TimestampNanosecondType>().map(|a| Values::Long(a.values()))
        }
        _ => array.as_primitive_opt::<Int64Type>().map(|a| Values::Long(a.values())),
    };
    Ok(match primitive {
        PrimitiveType::Boolean => array.as_boolean_opt().map(Values::Boolean),
        PrimitiveType::Int | PrimitiveType::Date => ints(),
        PrimitiveType::Long
        | PrimitiveType::Time
        | PrimitiveType::Timestamp
        | PrimitiveType::Timestamptz
        | PrimitiveType::TimestampNs
        | PrimitiveType::TimestamptzNs => longs(),
        PrimitiveType::Float => array.as_primitive_opt::<Float32Type>().map(|a| Values::Float(a.values())),
        PrimitiveType::Double => array.as_primitive_opt::<Float64Type>().map(|a| Values::Double(a.values())),
        PrimitiveType::String => array.as_string_opt::<i32>().map(|a| Values::Bytes(a.offsets(), a.value_data())),
        PrimitiveType::Binary => array.as_binary_opt::<i32>().map(|a| Values::Bytes(a.offsets(), a.value_data())),
        PrimitiveType::Uuid | PrimitiveType::Fixed(_) => array.as_fixed_size_binary_opt().map(Values::Fixed),
        PrimitiveType::Decimal { precision, .. } => {
            let size = decimal_bytes(*precision)? as usize;
            array.as_primitive_opt::<Decimal128Type>().map(|a| Values::Decimal(a.values(), size))
        }
    })
}

/// Appends a number of variable length, zigzag encoded.
pub(super) fn long(value: i64, out: &mut Vec<u8>) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_variable_length() {
        let of = |value| {
            let mut out = Vec::new();
            long(value, &mut out);
            out
        };
        assert_eq!(of(0), [0]);
        assert_eq!(of(-1), [1]);
        assert_eq!(of(64), [0x80, 1]);
        assert_eq!(of(i64::MIN), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
        assert_eq!(of(i64::MAX), [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    }
}
