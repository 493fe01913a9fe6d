//! From the engine's arrays to those handed to Parquet's writer, with a last check.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeBinaryBuilder, ListArray, MapArray, RecordBatch, RecordBatchOptions, StructArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as ArrowType, FieldRef, Float32Type, Float64Type, SchemaRef};
use calve_types::{Error, Result};
use iceberg::spec::{NestedFieldRef, PrimitiveType, Type};

use crate::error::Context;

/// Checks and converts batches of [`crate::schema::to_arrow`]'s types to `physical`.
///
/// # Errors
/// `null-in-not-null`; `invalid-value` for bytes of the wrong length; `internal` for other types.
pub(crate) fn encode(batch: &RecordBatch, columns: &[NestedFieldRef], physical: &SchemaRef) -> Result<RecordBatch> {
    if batch.num_columns() != columns.len() {
        return Err(Error::internal(format!("{} columns to write, expected {}", batch.num_columns(), columns.len())));
    }
    let mut arrays = Vec::with_capacity(columns.len());
    for ((array, column), field) in batch.columns().iter().zip(columns).zip(physical.fields()) {
        if column.required && array.logical_null_count() > 0 {
            let name = &column.name;
            return Err(Error::new(
                "null-in-not-null",
                format!("column '{name}' is NOT NULL, and a row has NULL in it"),
            )
            .with_detail(format!("Column '{name}' is NOT NULL, however, a null value is being written into it.")));
        }
        arrays.push(convert(array, field, &column.name)?);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(physical.clone(), arrays, &options).context(|| "write rows")
}

fn convert(array: &ArrayRef, to: &FieldRef, column: &str) -> Result<ArrayRef> {
    if array.data_type() == to.data_type() {
        return Ok(array.clone());
    }
    let mismatch =
        || Error::internal(format!("column '{column}' has Arrow's type {}, not {}", array.data_type(), to.data_type()));
    let what = || format!("write column '{column}'");
    match to.data_type() {
        ArrowType::FixedSizeBinary(length) => {
            let bytes = array.as_binary_opt::<i32>().ok_or_else(mismatch)?;
            let mut builder = FixedSizeBinaryBuilder::with_capacity(bytes.len(), *length);
            for value in bytes {
                match value {
                    Some(value) if value.len() == *length as usize => builder.append_value(value).context(what)?,
                    Some(value) => {
                        return Err(Error::new(
                            "invalid-value",
                            format!("a value of {} bytes for column '{column}' of {length} bytes", value.len()),
                        ));
                    }
                    None => builder.append_null(),
                }
            }
            Ok(Arc::new(builder.finish()))
        }
        ArrowType::Struct(fields) => {
            let from = array.as_struct_opt().ok_or_else(mismatch)?;
            if from.num_columns() != fields.len() {
                return Err(mismatch());
            }
            let children = from
                .columns()
                .iter()
                .zip(fields)
                .map(|(child, field)| convert(child, field, column))
                .collect::<Result<Vec<_>>>()?;
            let nulls = from.nulls().cloned();
            Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), children, nulls, from.len()).context(what)?))
        }
        ArrowType::List(element) => {
            let from = array.as_list_opt::<i32>().ok_or_else(mismatch)?;
            let values = convert(from.values(), element, column)?;
            let nulls = from.nulls().cloned();
            Ok(Arc::new(ListArray::try_new(element.clone(), from.offsets().clone(), values, nulls).context(what)?))
        }
        ArrowType::Map(entries, sorted) => {
            let from = array.as_map_opt().ok_or_else(mismatch)?;
            let converted = convert(&(Arc::new(from.entries().clone()) as ArrayRef), entries, column)?;
            let converted = converted.as_struct_opt().ok_or_else(mismatch)?.clone();
            let nulls = from.nulls().cloned();
            Ok(Arc::new(
                MapArray::try_new(entries.clone(), from.offsets().clone(), converted, nulls, *sorted).context(what)?,
            ))
        }
        _ => Err(mismatch()),
    }
}

/// Adds the NaN values of `float` and `double` fields to `counts`, by field id; fields inside lists and maps are not
/// counted. Every such field gets an entry.
pub(crate) fn count_nans(columns: &[NestedFieldRef], arrays: &[ArrayRef], counts: &mut HashMap<i32, u64>) {
    for (column, array) in columns.iter().zip(arrays) {
        count(column, array, None, counts);
    }
}

fn count(field: &NestedFieldRef, array: &ArrayRef, parent: Option<&NullBuffer>, counts: &mut HashMap<i32, u64>) {
    match field.field_type.as_ref() {
        Type::Primitive(PrimitiveType::Float) => {
            if let Some(values) = array.as_primitive_opt::<Float32Type>() {
                let nulls = NullBuffer::union(parent, values.nulls());
                *counts.entry(field.id).or_default() += nans(values.values().iter().map(|v| v.is_nan()), nulls);
            }
        }
        Type::Primitive(PrimitiveType::Double) => {
            if let Some(values) = array.as_primitive_opt::<Float64Type>() {
                let nulls = NullBuffer::union(parent, values.nulls());
                *counts.entry(field.id).or_default() += nans(values.values().iter().map(|v| v.is_nan()), nulls);
            }
        }
        Type::Struct(nested) => {
            if let Some(values) = array.as_struct_opt() {
                let nulls = NullBuffer::union(parent, values.nulls());
                for (child, array) in nested.fields().iter().zip(values.columns()) {
                    count(child, array, nulls.as_ref(), counts);
                }
            }
        }
        _ => {}
    }
}

fn nans(values: impl Iterator<Item = bool>, nulls: Option<NullBuffer>) -> u64 {
    match nulls {
        None => values.filter(|nan| *nan).count() as u64,
        Some(nulls) => values.zip(nulls.iter()).filter(|(nan, valid)| *nan && *valid).count() as u64,
    }
}
