//! Arrays of maps and lists, row by row.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListArray, MapArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType as ArrowType;
use calve_types::{Error, Result};

/// A map array of the type `data_type`: `lengths` says how many entries each row has, `None` for NULL.
///
/// # Errors
/// `internal` if the parts do not fit.
pub(super) fn map(
    data_type: &ArrowType,
    lengths: &[Option<usize>],
    keys: ArrayRef,
    values: ArrayRef,
) -> Result<ArrayRef> {
    let ArrowType::Map(entries, sorted) = data_type else { return Err(Error::internal("not a map")) };
    let ArrowType::Struct(fields) = entries.data_type() else { return Err(Error::internal("not a map")) };
    let pairs = StructArray::try_new(fields.clone(), vec![keys, values], None).map_err(Error::internal)?;
    let (offsets, nulls) = layout(lengths);
    let array = MapArray::try_new(entries.clone(), offsets, pairs, nulls, *sorted);
    Ok(Arc::new(array.map_err(Error::internal)?))
}

/// A list array of the type `data_type`, like [`map`].
///
/// # Errors
/// `internal` if the parts do not fit.
pub(super) fn list(data_type: &ArrowType, lengths: &[Option<usize>], values: ArrayRef) -> Result<ArrayRef> {
    let ArrowType::List(element) = data_type else { return Err(Error::internal("not a list")) };
    let (offsets, nulls) = layout(lengths);
    Ok(Arc::new(ListArray::try_new(element.clone(), offsets, values, nulls).map_err(Error::internal)?))
}

fn layout(lengths: &[Option<usize>]) -> (OffsetBuffer<i32>, Option<NullBuffer>) {
    let offsets = OffsetBuffer::from_lengths(lengths.iter().map(|length| length.unwrap_or(0)));
    (offsets, Some(NullBuffer::from_iter(lengths.iter().map(Option::is_some))))
}
