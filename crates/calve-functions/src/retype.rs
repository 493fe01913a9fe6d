//! Arrays with the exact Arrow type that a Flink type has.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as ArrowType, Field};
use calve_types::Error;
use datafusion_common::Result;

use crate::args::{failure, mistyped};

/// Refuses NULL where a type has none: a value that does not fit its type, a DECIMAL with too many digits say, is NULL
/// though its type says NOT NULL.
///
/// # Errors
/// `null-in-not-null`.
pub(crate) fn check_nulls(values: &ArrayRef, field: &Field) -> Result<()> {
    check_nulls_below(values, field, None)
}

/// As [`check_nulls`], for the values of a field of rows: those of a row that is NULL are nothing.
///
/// # Errors
/// `null-in-not-null`.
pub(crate) fn check_nulls_below(values: &ArrayRef, field: &Field, rows: Option<&NullBuffer>) -> Result<()> {
    let Some(nulls) = values.logical_nulls().filter(|nulls| !field.is_nullable() && nulls.null_count() > 0) else {
        return Ok(());
    };
    if rows.is_some_and(|rows| rows.contains(&nulls)) {
        return Ok(());
    }
    let what = "a row has NULL inside of a value whose type says NOT NULL there";
    Err(failure(Error::new("null-in-not-null", what).with_hint(
        "CAST to a type that may have NULL there; a number with more digits than its DECIMAL has is NULL, too",
    )))
}

/// The same values in a type that differs only in the names, metadata and nullability of nested fields. Files bring
/// field ids along in the metadata; a kernel that picks elements keeps them.
pub(crate) fn retype(array: ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(array);
    }
    match (array.data_type(), to) {
        (ArrowType::Struct(from), ArrowType::Struct(fields)) if from.len() == fields.len() && !fields.is_empty() => {
            let rows = array.as_struct();
            let columns = rows
                .columns()
                .iter()
                .zip(fields)
                .map(|(column, field)| retype(Arc::clone(column), field.data_type()))
                .collect::<Result<_>>()?;
            Ok(Arc::new(StructArray::try_new(fields.clone(), columns, rows.nulls().cloned())?))
        }
        (ArrowType::List(_), ArrowType::List(field)) => {
            let list = array.as_list::<i32>();
            let values = retype(Arc::clone(list.values()), field.data_type())?;
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, values, nulls)?))
        }
        (ArrowType::Map(..), ArrowType::Map(entry, sorted)) => {
            let map = array.as_map();
            let entries = retype(Arc::new(map.entries().clone()), entry.data_type())?;
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            Ok(Arc::new(MapArray::try_new(Arc::clone(entry), offsets, entries.as_struct().clone(), nulls, *sorted)?))
        }
        _ => Err(mistyped(&to.to_string(), &array)),
    }
}
