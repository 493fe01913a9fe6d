//! Functions of MAPs, and access to elements.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, MapArray, UInt32Array};
use arrow::compute::{concat, take};
use datafusion_common::Result as DfResult;

use super::{index32, list, map_of};
use crate::args::{Args, mistyped, range};
use crate::compare::Equality;
use crate::function::Call;

fn maps(args: &Args, index: usize) -> DfResult<MapArray> {
    let array = args.full(index)?;
    array.as_map_opt().cloned().ok_or_else(|| mistyped("Map", &array))
}

/// A list that holds, for each row, the elements at the row's entries.
fn of_entries(call: &Call, map: &MapArray, values: ArrayRef) -> DfResult<ArrayRef> {
    let lengths = (0..map.len()).map(|row| range(map.offsets(), row).len()).collect();
    let start = map.offsets().first().map_or(0, |o| *o as usize);
    let end = map.offsets().last().map_or(0, |o| *o as usize);
    list(call, lengths, values.slice(start, end - start), map.nulls().cloned())
}

pub(super) fn keys(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let map = maps(args, 0)?;
    of_entries(call, &map, Arc::clone(map.keys()))
}

pub(super) fn values(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let map = maps(args, 0)?;
    of_entries(call, &map, Arc::clone(map.values()))
}

pub(super) fn entries(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let map = maps(args, 0)?;
    of_entries(call, &map, Arc::new(map.entries().clone()))
}

pub(super) fn item(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let container = args.full(0)?;
    if let Some(list) = container.as_list_opt::<i32>() {
        let positions = args.numbers::<arrow::datatypes::Int64Type>(1)?;
        let indices: UInt32Array = (0..args.rows)
            .map(|row| {
                let position = usize::try_from(positions.get(row)?).ok()?.checked_sub(1)?;
                let elements = range(list.offsets(), row);
                let wanted = elements.start.checked_add(position)?;
                (list.is_valid(row) && wanted < elements.end).then(|| u32::try_from(wanted).ok())?
            })
            .collect();
        return Ok(take(list.values(), &indices, None)?);
    }
    let map = container.as_map_opt().ok_or_else(|| mistyped("List or Map", &container))?;
    let (wanted, constant) = args.raw(1)?;
    let same = Equality::new(map.keys(), wanted)?;
    let mut indices = Vec::with_capacity(args.rows);
    for row in 0..args.rows {
        let key = if constant { 0 } else { row };
        let mut found = None;
        if map.is_valid(row) && wanted.is_valid(key) {
            for entry in range(map.offsets(), row) {
                if same.holds(entry, key)? {
                    found = Some(index32(entry)?);
                    break;
                }
            }
        }
        indices.push(found);
    }
    Ok(take(map.values(), &UInt32Array::from(indices), None)?)
}

/// The entries of all maps; of equal keys the last value. NULL if a map is.
pub(super) fn union(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let maps = (0..args.count()).map(|i| maps(args, i)).collect::<DfResult<Vec<_>>>()?;
    let all = |of: fn(&MapArray) -> &ArrayRef| -> DfResult<ArrayRef> {
        let arrays: Vec<&dyn Array> = maps.iter().map(|m| of(m).as_ref()).collect();
        Ok(concat(&arrays)?)
    };
    let (keys, values) = (all(MapArray::keys)?, all(MapArray::values)?);
    index32(keys.len())?;
    let rows = (0..args.rows).map(|row| {
        let mut before = 0;
        let mut pairs = vec![];
        for map in &maps {
            if map.is_null(row) {
                return None;
            }
            pairs.extend(range(map.offsets(), row).map(|i| ((before + i) as u32, (before + i) as u32)));
            before += map.keys().len();
        }
        Some(pairs)
    });
    map_of(call, &keys, &values, rows)
}
