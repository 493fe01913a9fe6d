//! Arrays with the exact Arrow type that a Flink type has.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
use arrow::datatypes::DataType as ArrowType;
use datafusion_common::Result;

use crate::args::mistyped;

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
