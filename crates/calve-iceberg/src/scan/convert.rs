//! Values as a file has them to values as the table has them now, by field id.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, make_array, new_empty_array, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Fields, Time64MicrosecondType, TimeUnit};
use datafusion::common::{Result as DfResult, ScalarValue, exec_datafusion_err};
use iceberg::spec::{Literal, NestedField, PrimitiveType, Type};

use super::layout::FileField;
use super::literal::{primitive, scalar};

/// How to convert an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Conversion {
    /// Already right.
    Same,
    /// A primitive to this type.
    Cast(ArrowType),
    /// A time to milliseconds: what is finer is cut off.
    Millis,
    /// A struct to these fields.
    Struct(Fields, Vec<Child>),
    /// A list with this element.
    List(FieldRef, Box<Conversion>),
    /// A map with these entries.
    Map(FieldRef, Box<(Conversion, Conversion)>),
}

/// Where a field of a struct comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Child {
    /// The field of the file's struct at this position.
    File(usize, Conversion),
    /// Missing in the file.
    Constant(ScalarValue),
}

/// How much of a time is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// What Flink reads: milliseconds.
    Millis,
    /// All of it, which keys of equality deletes are compared by.
    Exact,
}

/// The conversion of a file's column of Arrow type `from` to `target`, the table's Arrow field of the Iceberg type `to`.
///
/// # Errors
/// A sentence about types that Iceberg's schema evolution cannot lead to.
pub(crate) fn conversion(
    file: &FileField,
    from: &ArrowType,
    to: &Type,
    target: &ArrowType,
    times: Times,
) -> Result<Conversion, String> {
    let mismatch = || format!("{from} stored for {target}");
    Ok(match (to, from, target) {
        (Type::Struct(fields), ArrowType::Struct(stored), ArrowType::Struct(targets)) => {
            let mut children = Vec::with_capacity(targets.len());
            for (field, target) in fields.fields().iter().zip(targets) {
                let found = file.children.iter().position(|c| c.id == Some(field.id));
                children.push(match found.and_then(|i| Some((i, file.children.get(i)?, stored.get(i)?))) {
                    Some((i, child, stored)) => Child::File(
                        i,
                        conversion(child, stored.data_type(), &field.field_type, target.data_type(), times)
                            .map_err(|e| format!("{e} in field '{}'", field.name))?,
                    ),
                    None => Child::Constant(missing(field, target)?),
                });
            }
            Conversion::Struct(targets.clone(), children)
        }
        (Type::List(list), ArrowType::List(stored), ArrowType::List(target)) => {
            let child = file.children.first().ok_or_else(mismatch)?;
            let element =
                conversion(child, stored.data_type(), &list.element_field.field_type, target.data_type(), times)?;
            Conversion::List(target.clone(), Box::new(element))
        }
        (Type::Map(map), ArrowType::Map(stored, _), ArrowType::Map(target, _)) => {
            let (ArrowType::Struct(stored), ArrowType::Struct(targets)) = (stored.data_type(), target.data_type())
            else {
                return Err(mismatch());
            };
            let ([file_key, file_value], [key, value], [target_key, target_value]) =
                (file.children.as_slice(), stored.as_ref(), targets.as_ref())
            else {
                return Err(mismatch());
            };
            let key = conversion(file_key, key.data_type(), &map.key_field.field_type, target_key.data_type(), times)?;
            let of_value = &map.value_field.field_type;
            let value = conversion(file_value, value.data_type(), of_value, target_value.data_type(), times)?;
            Conversion::Map(target.clone(), Box::new((key, value)))
        }
        (Type::Primitive(PrimitiveType::Time), ArrowType::Time64(_), ArrowType::Time64(TimeUnit::Microsecond))
            if times == Times::Millis =>
        {
            Conversion::Millis
        }
        (Type::Primitive(_), from, target) if from == target => Conversion::Same,
        (Type::Primitive(_), from, target) if is_readable(from, target) => Conversion::Cast(target.clone()),
        _ => return Err(mismatch()),
    })
}

/// The value of a field that a file does not have: its initial default, else NULL.
///
/// # Errors
/// A sentence if neither is possible.
pub(crate) fn missing(field: &NestedField, target: &Field) -> Result<ScalarValue, String> {
    let name = &field.name;
    match &field.initial_default {
        Some(default) => default_value(default, &field.field_type, target.data_type())
            .ok_or_else(|| format!("the default of field '{name}' does not fit its type")),
        None if target.is_nullable() => {
            ScalarValue::try_from(target.data_type()).map_err(|e| format!("no NULL for field '{name}': {e}"))
        }
        None => Err(format!("the required field '{name}' is missing")),
    }
}

/// A default as a value of an Arrow type. The fields that the default of a struct leaves out have their own defaults
/// (Iceberg spec, "Default values").
fn default_value(default: &Literal, of: &Type, to: &ArrowType) -> Option<ScalarValue> {
    match (of, default, to) {
        (Type::Primitive(of), default, to) => scalar(primitive(default)?, of, to),
        (Type::Struct(fields), Literal::Struct(values), ArrowType::Struct(targets)) => {
            let mut values = values.iter();
            let columns = fields.fields().iter().zip(targets).map(|(field, target)| {
                let value = match values.next().flatten() {
                    Some(value) => default_value(value, &field.field_type, target.data_type())?,
                    None => missing(field, target).ok()?,
                };
                value.to_array_of_size(1).ok()
            });
            let row = StructArray::try_new(targets.clone(), columns.collect::<Option<_>>()?, None).ok()?;
            Some(ScalarValue::Struct(Arc::new(row)))
        }
        (Type::List(_), Literal::List(values), ArrowType::List(element)) if values.is_empty() => {
            Some(ScalarValue::List(Arc::new(
                ListArray::try_new(
                    element.clone(),
                    OffsetBuffer::new_zeroed(1),
                    new_empty_array(element.data_type()),
                    None,
                )
                .ok()?,
            )))
        }
        (Type::Map(_), Literal::Map(values), ArrowType::Map(entries, sorted)) if values.is_empty() => {
            let none = new_empty_array(entries.data_type());
            let none = none.as_struct_opt()?.clone();
            let map = MapArray::try_new(entries.clone(), OffsetBuffer::new_zeroed(1), none, None, *sorted).ok()?;
            Some(ScalarValue::Map(Arc::new(map)))
        }
        _ => None,
    }
}

/// Whether values of a file's type can be read as the table's type without loss: the same values stored another way, or
/// one of Iceberg's promotions.
fn is_readable(from: &ArrowType, to: &ArrowType) -> bool {
    use ArrowType as T;
    match (from, to) {
        (T::Int8 | T::Int16 | T::UInt8 | T::UInt16, T::Int32)
        | (T::Int8 | T::Int16 | T::Int32 | T::UInt8 | T::UInt16 | T::UInt32, T::Int64)
        | (T::Float16 | T::Float32, T::Float64)
        | (T::Float16, T::Float32)
        | (T::Int32, T::Date32)
        | (T::Time32(_) | T::Time64(_), T::Time64(_))
        | (T::Timestamp(_, _), T::Timestamp(_, _))
        | (T::Date32, T::Timestamp(_, _))
        | (T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary | T::LargeBinary | T::BinaryView, T::Utf8)
        | (T::Utf8 | T::LargeUtf8 | T::Utf8View | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_), T::Binary) => {
            true
        }
        (T::Decimal32(p, s) | T::Decimal64(p, s) | T::Decimal128(p, s), T::Decimal128(p2, s2)) => s == s2 && p <= p2,
        _ => false,
    }
}

/// The value in the struct at `path`; NULL where a struct around it is NULL.
pub(crate) fn descend(array: &ArrayRef, path: &[usize]) -> DfResult<ArrayRef> {
    path.iter().try_fold(array.clone(), |array, child| {
        let parent = array.as_struct_opt().ok_or_else(|| exec_datafusion_err!("a field in {}", array.data_type()))?;
        let inner = parent.columns().get(*child).ok_or_else(|| exec_datafusion_err!("no field {child} in a struct"))?;
        let nulls = NullBuffer::union(parent.nulls(), inner.nulls());
        Ok(make_array(inner.to_data().into_builder().nulls(nulls).build()?))
    })
}

impl Conversion {
    /// The array as the table has it.
    ///
    /// # Errors
    /// Values that do not fit: a time out of range, text that is not UTF-8, NULL in a required field.
    pub(crate) fn apply(&self, array: &ArrayRef) -> DfResult<ArrayRef> {
        let wrong = || exec_datafusion_err!("a value of type {}", array.data_type());
        Ok(match self {
            Self::Same => array.clone(),
            Self::Cast(to) => cast(array, to)?,
            Self::Millis => {
                let times = cast(array, &ArrowType::Time64(TimeUnit::Microsecond))?;
                let times = times.as_primitive_opt::<Time64MicrosecondType>().ok_or_else(wrong)?;
                Arc::new(times.unary::<_, Time64MicrosecondType>(in_millis))
            }
            Self::Struct(fields, children) => {
                let source = array.as_struct_opt().ok_or_else(wrong)?;
                let columns = children
                    .iter()
                    .map(|child| match child {
                        Child::File(i, conversion) => conversion.apply(source.columns().get(*i).ok_or_else(wrong)?),
                        Child::Constant(value) if value.is_null() => {
                            Ok(new_null_array(&value.data_type(), source.len()))
                        }
                        Child::Constant(value) => value.to_array_of_size(source.len()),
                    })
                    .collect::<DfResult<Vec<_>>>()?;
                Arc::new(StructArray::try_new_with_length(
                    fields.clone(),
                    columns,
                    source.nulls().cloned(),
                    source.len(),
                )?)
            }
            Self::List(field, element) => {
                let source = array.as_list_opt::<i32>().ok_or_else(wrong)?;
                let values = element.apply(source.values())?;
                Arc::new(ListArray::try_new(field.clone(), source.offsets().clone(), values, source.nulls().cloned())?)
            }
            Self::Map(field, parts) => {
                let source = array.as_map_opt().ok_or_else(wrong)?;
                let (key, value) = (parts.0.apply(source.keys())?, parts.1.apply(source.values())?);
                let ArrowType::Struct(fields) = field.data_type() else { return Err(wrong()) };
                let entries = StructArray::try_new(fields.clone(), vec![key, value], None)?;
                Arc::new(MapArray::try_new(
                    field.clone(),
                    source.offsets().clone(),
                    entries,
                    source.nulls().cloned(),
                    false,
                )?)
            }
        })
    }
}

/// A time in microseconds without what is finer than milliseconds, as Flink's connector reads it.
pub(crate) fn in_millis(micros: i64) -> i64 {
    micros - micros.rem_euclid(1_000)
}

fn cast(array: &ArrayRef, to: &ArrowType) -> DfResult<ArrayRef> {
    // a value that does not fit is an error, never a silent NULL
    let options = CastOptions { safe: false, ..CastOptions::default() };
    Ok(match to {
        // instants are the same whatever the label of their zone; Arrow would want to know the zone
        ArrowType::Timestamp(unit, _) => {
            let plain = retype(array, &without_zone(array.data_type()))?;
            retype(&cast_with_options(&plain, &ArrowType::Timestamp(*unit, None), &options)?, to)?
        }
        _ => cast_with_options(array, to, &options)?,
    })
}

fn without_zone(data_type: &ArrowType) -> ArrowType {
    match data_type {
        ArrowType::Timestamp(unit, _) => ArrowType::Timestamp(*unit, None::<Arc<str>>),
        other => other.clone(),
    }
}

/// The same bytes under another type of the same layout.
fn retype(array: &ArrayRef, to: &ArrowType) -> DfResult<ArrayRef> {
    if array.data_type() == to {
        return Ok(array.clone());
    }
    Ok(make_array(array.to_data().into_builder().data_type(to.clone()).build()?))
}

/// Whether DataFusion may look through a cast between these types when it compares with a literal and when it prunes:
/// only if the cast keeps all values and their order.
pub(crate) fn is_lossless(from: &ArrowType, to: &ArrowType) -> bool {
    use ArrowType as T;
    match (from, to) {
        (from, to) if from == to => true,
        (T::Int8, T::Int16 | T::Int32 | T::Int64)
        | (T::Int16, T::Int32 | T::Int64)
        | (T::Int32, T::Int64)
        | (T::Int8 | T::Int16 | T::Int32, T::Float64)
        | (T::Float32, T::Float64) => true,
        (T::Int8 | T::Int16 | T::Int32 | T::Int64, T::Decimal128(p, s)) => {
            let digits = match from {
                T::Int8 => 3,
                T::Int16 => 5,
                T::Int32 => 10,
                _ => 19,
            };
            i32::from(*p) - i32::from(*s) >= digits && *s >= 0
        }
        (T::Decimal128(p, s), T::Decimal128(p2, s2)) => {
            s2 >= s && i32::from(*p2) - i32::from(*s2) >= i32::from(*p) - i32::from(*s)
        }
        (T::Date32, T::Timestamp(TimeUnit::Microsecond, None)) => true,
        _ => false,
    }
}
