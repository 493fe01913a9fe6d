//! ROW, ARRAY and MAP from their values.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StructArray};
use arrow::compute::{concat, interleave};
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use calve_types::{Error, arrow as mapping};
use datafusion_common::Result as DfResult;

use super::{index32, list, lists, map_of};
use crate::args::{Args, failure, range};
use crate::function::Call;
use crate::retype::{check_nulls, retype};

pub(super) fn make_row(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let columns = (0..args.count()).map(|i| args.full(i)).collect::<DfResult<Vec<_>>>()?;
    match mapping::to_arrow(&call.returns.logical).map_err(failure)? {
        ArrowType::Struct(_) if columns.is_empty() => Ok(Arc::new(StructArray::new_empty_fields(args.rows, None))),
        ArrowType::Struct(fields) => {
            let column = |(column, field): (ArrayRef, &FieldRef)| {
                check_nulls(&column, field)?;
                retype(column, field.data_type())
            };
            let columns = columns.into_iter().zip(&fields).map(column).collect::<DfResult<_>>()?;
            Ok(Arc::new(StructArray::try_new(fields, columns, None)?))
        }
        other => Err(failure(Error::internal(format!("a row of {other}")))),
    }
}

pub(super) fn make_array(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let columns = (0..args.count()).map(|i| args.full(i)).collect::<DfResult<Vec<_>>>()?;
    let elements: Vec<_> = columns.iter().map(AsRef::as_ref).collect();
    let indices: Vec<_> = (0..args.rows).flat_map(|row| (0..columns.len()).map(move |i| (i, row))).collect();
    list(call, vec![columns.len(); args.rows], interleave(&elements, &indices)?, None)
}

pub(super) fn make_map(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let columns = (0..args.count()).map(|i| args.full(i)).collect::<DfResult<Vec<_>>>()?;
    let every = |from: usize| -> DfResult<ArrayRef> {
        let arrays: Vec<&dyn Array> = columns.iter().skip(from).step_by(2).map(AsRef::as_ref).collect();
        Ok(concat(&arrays)?)
    };
    let (keys, values) = (every(0)?, every(1)?);
    index32(keys.len())?;
    let pairs = columns.len() / 2;
    let rows = (0..args.rows)
        .map(|row| Some((0..pairs).map(|p| ((p * args.rows + row) as u32, (p * args.rows + row) as u32)).collect()));
    map_of(call, &keys, &values, rows)
}

pub(super) fn from_arrays(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (keys, values) = (lists(args, 0)?, lists(args, 1)?);
    index32(keys.values().len().max(values.values().len()))?;
    let mut rows = Vec::with_capacity(args.rows);
    for row in 0..args.rows {
        if keys.is_null(row) || values.is_null(row) {
            rows.push(None);
            continue;
        }
        let (k, v) = (range(keys.offsets(), row), range(values.offsets(), row));
        if k.len() != v.len() {
            return Err(failure(
                Error::new("invalid-argument", "MAP_FROM_ARRAYS of arrays of different lengths").with_detail(format!(
                    "Invalid function MAP_FROM_ARRAYS call:\nThe length of the keys array {} is not equal to the length of the values array {}",
                    k.len(),
                    v.len()
                )),
            ));
        }
        rows.push(Some(k.zip(v).map(|(k, v)| (k as u32, v as u32)).collect()));
    }
    map_of(call, keys.values(), values.values(), rows.into_iter())
}
