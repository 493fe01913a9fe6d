//! ROW, ARRAY and MAP: constructors, access and functions.

mod array;
mod construct;
mod map;
mod signature;
#[cfg(test)]
mod tests;
mod unique;

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, ListArray, MapArray, StringArray, StructArray, UInt32Array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::take;
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use calve_types::{Error, arrow as mapping};
use datafusion_common::Result as DfResult;

use crate::args::{Args, failure, mistyped};
use crate::function::{Call, ScalarFunction};
use crate::retype::{check_nulls, retype};
use unique::Unique;

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::kernel("ROW", signature::infer_row, construct::make_row),
    ScalarFunction::kernel("ARRAY", signature::infer_array, construct::make_array).takes_null(),
    ScalarFunction::kernel("MAP", signature::infer_map, construct::make_map).takes_null(),
    ScalarFunction::kernel("ITEM", signature::infer_item, map::item),
    ScalarFunction::kernel("CARDINALITY", signature::infer_cardinality, array::cardinality).forms(&[
        "CARDINALITY(<MULTISET>)",
        "CARDINALITY(<ARRAY>)",
        "CARDINALITY(<MAP>)",
    ]),
    ScalarFunction::kernel("ELEMENT", signature::infer_element, array::element),
    ScalarFunction::kernel("ARRAY_CONTAINS", signature::infer_contains, array::contains),
    ScalarFunction::kernel("ARRAY_POSITION", signature::infer_position, array::position),
    ScalarFunction::kernel("ARRAY_APPEND", signature::infer_append, array::append),
    ScalarFunction::kernel("ARRAY_PREPEND", signature::infer_append, array::append),
    ScalarFunction::kernel("ARRAY_CONCAT", signature::infer_concat, array::concatenate),
    ScalarFunction::kernel("ARRAY_DISTINCT", signature::infer_same, array::distinct),
    ScalarFunction::kernel("ARRAY_REMOVE", signature::infer_remove, array::remove),
    ScalarFunction::kernel("ARRAY_REVERSE", signature::infer_same, array::reverse),
    ScalarFunction::kernel("ARRAY_SLICE", signature::infer_slice, array::slice),
    ScalarFunction::kernel("ARRAY_SORT", signature::infer_sort, array::sort),
    ScalarFunction::kernel("ARRAY_MAX", signature::infer_extreme, array::extreme),
    ScalarFunction::kernel("ARRAY_MIN", signature::infer_extreme, array::extreme),
    ScalarFunction::kernel("ARRAY_JOIN", signature::infer_join, array::join),
    ScalarFunction::kernel("ARRAY_UNION", signature::infer_sets, array::sets),
    ScalarFunction::kernel("ARRAY_INTERSECT", signature::infer_sets, array::sets),
    ScalarFunction::kernel("ARRAY_EXCEPT", signature::infer_sets, array::sets),
    ScalarFunction::kernel("MAP_KEYS", signature::infer_keys, map::keys),
    ScalarFunction::kernel("MAP_VALUES", signature::infer_values, map::values),
    ScalarFunction::kernel("MAP_ENTRIES", signature::infer_entries, map::entries),
    ScalarFunction::kernel("MAP_UNION", signature::infer_union, map::union),
    ScalarFunction::kernel("MAP_FROM_ARRAYS", signature::infer_from_arrays, construct::from_arrays),
];

fn lists(args: &Args, index: usize) -> DfResult<ListArray> {
    let array = args.full(index)?;
    array.as_list_opt::<i32>().cloned().ok_or_else(|| mistyped("List", &array))
}

/// A list of the call's type.
fn list(call: &Call, lengths: Vec<usize>, values: ArrayRef, nulls: Option<NullBuffer>) -> DfResult<ArrayRef> {
    match mapping::to_arrow(&call.returns.logical).map_err(failure)? {
        ArrowType::List(field) => {
            // Names and nullability of nested fields come from the call's type.
            check_nulls(&values, &field)?;
            let values = retype(values, field.data_type())?;
            Ok(Arc::new(ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), values, nulls)?))
        }
        other => Err(failure(Error::internal(format!("'{}' gives {other}", call.name)))),
    }
}

/// A map of the call's type; of equal keys in a row the first place and the last value.
pub(crate) fn map_of(
    call: &Call,
    keys: &ArrayRef,
    values: &ArrayRef,
    rows: impl Iterator<Item = Option<Vec<(u32, u32)>>>,
) -> DfResult<ArrayRef> {
    let ArrowType::Map(entry, _) = mapping::to_arrow(&call.returns.logical).map_err(failure)? else {
        return Err(failure(Error::internal(format!("'{}' gives no map", call.name))));
    };
    let ArrowType::Struct(fields) = entry.data_type() else {
        return Err(failure(Error::internal("a map without entries")));
    };
    let (mut taken_keys, mut taken_values, mut lengths, mut nulls) = (vec![], vec![], vec![], vec![]);
    let rows: Vec<_> = rows.collect();
    let comparable = unique::rows(keys, rows.iter().flatten().map(Vec::len).max().unwrap_or(0))?;
    let mut known = Unique::new(keys, comparable.as_ref())?;
    for pairs in rows {
        let start = taken_keys.len();
        known.clear();
        nulls.push(pairs.is_some());
        for (key, value) in pairs.unwrap_or_default() {
            match known.insert(key as usize)?.and_then(|place| taken_values.get_mut(start + place)) {
                Some(known) => *known = value,
                None => {
                    taken_keys.push(key);
                    taken_values.push(value);
                }
            }
        }
        lengths.push(taken_keys.len() - start);
    }
    let taken =
        [take(keys, &UInt32Array::from(taken_keys), None)?, take(values, &UInt32Array::from(taken_values), None)?];
    let column = |(column, field): (ArrayRef, &FieldRef)| {
        check_nulls(&column, field)?;
        retype(column, field.data_type())
    };
    let columns = taken.into_iter().zip(fields).map(column).collect::<DfResult<_>>()?;
    let entries = StructArray::try_new(fields.clone(), columns, None)?;
    let nulls = NullBuffer::from(nulls);
    let nulls = (nulls.null_count() > 0).then_some(nulls);
    Ok(Arc::new(MapArray::try_new(Arc::clone(&entry), OffsetBuffer::from_lengths(lengths), entries, nulls, false)?))
}

fn index32(value: usize) -> DfResult<u32> {
    u32::try_from(value).map_err(|_| failure(Error::internal("more than 2^32 elements in a batch")))
}

/// A list of texts of the call's type; rows that are not valid are NULL.
pub(crate) fn list_of_texts(
    call: &Call,
    lengths: Vec<usize>,
    texts: StringArray,
    valid: Vec<bool>,
) -> DfResult<ArrayRef> {
    let nulls = NullBuffer::from(valid);
    list(call, lengths, Arc::new(texts), (nulls.null_count() > 0).then_some(nulls))
}
