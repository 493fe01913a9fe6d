//! Functions of ARRAYs.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int32Array, ListArray, UInt32Array, make_comparator, new_empty_array,
};
use arrow::buffer::NullBuffer;
use arrow::compute::{SortOptions, concat, interleave, take};
use arrow::datatypes::{DataType as ArrowType, Int32Type};
use calve_types::Error;
use datafusion_common::Result as DfResult;

use super::unique::{self, Unique};
use super::{index32, list, lists};
use crate::args::{Args, failure, mistyped, range};
use crate::compare::Equality;
use crate::function::Call;
use crate::string::build;

pub(super) fn cardinality(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let collection = args.full(0)?;
    let offsets = match collection.data_type() {
        ArrowType::List(_) => collection.as_list::<i32>().offsets(),
        ArrowType::Map(..) => collection.as_map().offsets(),
        _ => return Err(mistyped("List or Map", &collection)),
    };
    let lengths = offsets.iter().zip(offsets.iter().skip(1)).map(|(start, end)| end - start);
    Ok(Arc::new(Int32Array::new(lengths.collect::<Vec<i32>>().into(), collection.nulls().cloned())))
}

pub(super) fn element(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let list = lists(args, 0)?;
    let mut indices = Vec::with_capacity(args.rows);
    for row in 0..args.rows {
        let elements = range(list.offsets(), row);
        if list.is_valid(row) && elements.len() > 1 {
            return Err(failure(
                Error::new("invalid-argument", "ELEMENT of an array with more than one element")
                    .with_detail("Array has more than one element."),
            ));
        }
        let found = (list.is_valid(row) && !elements.is_empty()).then_some(elements.start);
        indices.push(found.map(index32).transpose()?);
    }
    Ok(take(list.values(), &UInt32Array::from(indices), None)?)
}

/// Where a value is in each row's array: `None` where the array is NULL, else the position from 1, or 0.
fn find(args: &Args) -> DfResult<Vec<Option<i32>>> {
    let list = lists(args, 0)?;
    let wanted = args.full(1)?;
    let same = Equality::new(list.values(), &wanted)?;
    let mut positions = Vec::with_capacity(args.rows);
    for row in 0..args.rows {
        if list.is_null(row) {
            positions.push(None);
            continue;
        }
        let mut found = 0;
        for (n, i) in range(list.offsets(), row).enumerate() {
            if same.holds(i, row)? {
                found = i32::try_from(n + 1).unwrap_or(i32::MAX);
                break;
            }
        }
        positions.push(Some(found));
    }
    Ok(positions)
}

pub(super) fn contains(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    Ok(Arc::new(find(args)?.into_iter().map(|p| p.map(|p| p > 0)).collect::<BooleanArray>()))
}

pub(super) fn position(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let wanted = args.full(1)?;
    let positions = find(args)?.into_iter().enumerate().map(|(row, p)| p.filter(|_| wanted.is_valid(row)));
    Ok(Arc::new(positions.collect::<Int32Array>()))
}

/// Lists whose elements are chosen from the argument's by index.
fn choose(
    call: &Call,
    list_array: &ListArray,
    rows: usize,
    mut choose: impl FnMut(usize, std::ops::Range<usize>) -> DfResult<Option<Vec<usize>>>,
) -> DfResult<ArrayRef> {
    let (mut indices, mut lengths, mut nulls) = (vec![], Vec::with_capacity(rows), Vec::with_capacity(rows));
    for row in 0..rows {
        let chosen = if list_array.is_null(row) { None } else { choose(row, range(list_array.offsets(), row))? };
        nulls.push(chosen.is_some());
        let chosen = chosen.unwrap_or_default();
        lengths.push(chosen.len());
        for i in chosen {
            indices.push(index32(i)?);
        }
    }
    let values = take(list_array.values(), &UInt32Array::from(indices), None)?;
    let nulls = NullBuffer::from(nulls);
    list(call, lengths, values, (nulls.null_count() > 0).then_some(nulls))
}

pub(super) fn reverse(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    choose(call, &lists(args, 0)?, args.rows, |_, elements| Ok(Some(elements.rev().collect())))
}

pub(super) fn distinct(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let list = lists(args, 0)?;
    let rows = unique::rows(list.values(), longest(&list))?;
    let mut kept = Unique::new(list.values(), rows.as_ref())?;
    choose(call, &list, args.rows, |_, elements| {
        kept.clear();
        for i in elements {
            kept.insert(i)?;
        }
        Ok(Some(kept.elements().to_vec()))
    })
}

/// The length of the longest list.
fn longest(list: &ListArray) -> usize {
    list.offsets().windows(2).map(|w| range(w, 0).len()).max().unwrap_or(0)
}

pub(super) fn remove(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let list = lists(args, 0)?;
    let unwanted = args.full(1)?;
    let same = Equality::new(list.values(), &unwanted)?;
    choose(call, &list, args.rows, |row, elements| {
        let mut kept = vec![];
        for i in elements {
            if !same.holds(i, row)? {
                kept.push(i);
            }
        }
        Ok(Some(kept))
    })
}

pub(super) fn slice(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let list = lists(args, 0)?;
    let start = args.numbers::<Int32Type>(1)?;
    let end = if args.count() > 2 { Some(args.numbers::<Int32Type>(2)?) } else { None };
    choose(call, &list, args.rows, |row, elements| {
        let length = elements.len() as i64;
        // From 1; negative ones count from the end, 0 is 1.
        let place = |position: i32| match i64::from(position) {
            0 => 1,
            p if p < 0 => p + length + 1,
            p => p,
        };
        let Some(first) = start.get(row).map(place) else { return Ok(None) };
        let last = match &end {
            None => length,
            Some(end) => match end.get(row).map(place) {
                Some(last) => last.min(length),
                None => return Ok(None),
            },
        };
        let first = first.max(1);
        Ok(Some((first..=last).map(|p| elements.start + (p - 1) as usize).collect()))
    })
}

/// ARRAY_SORT(array, ascending, nulls first): NULLs are first when ascending and last when descending.
pub(super) fn sort(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let list = lists(args, 0)?;
    let ascending = if args.count() > 1 { Some(args.booleans(1)?) } else { None };
    let nulls_first = if args.count() > 2 { Some(args.booleans(2)?) } else { None };
    let compare = make_comparator(list.values(), list.values(), SortOptions::default())?;
    choose(call, &list, args.rows, |row, elements| {
        let ascending = match &ascending {
            None => true,
            Some(flag) => match flag.get(row) {
                Some(flag) => flag,
                None => return Ok(None),
            },
        };
        let nulls_first = match &nulls_first {
            None => ascending,
            Some(flag) => match flag.get(row) {
                Some(flag) => flag,
                None => return Ok(None),
            },
        };
        let (nulls, mut present): (Vec<usize>, Vec<usize>) = elements.partition(|i| list.values().is_null(*i));
        present.sort_by(|a, b| if ascending { compare(*a, *b) } else { compare(*b, *a) });
        Ok(Some(if nulls_first { [nulls, present].concat() } else { [present, nulls].concat() }))
    })
}

pub(super) fn extreme(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let list = lists(args, 0)?;
    let compare = make_comparator(list.values(), list.values(), SortOptions::default())?;
    let is_max = call.name == "ARRAY_MAX";
    let best: UInt32Array = (0..args.rows)
        .map(|row| {
            let present = range(list.offsets(), row).filter(|i| list.is_valid(row) && list.values().is_valid(*i));
            let best =
                if is_max { present.max_by(|a, b| compare(*a, *b)) } else { present.min_by(|a, b| compare(*a, *b)) };
            best.and_then(|i| u32::try_from(i).ok())
        })
        .collect();
    Ok(take(list.values(), &best, None)?)
}

pub(super) fn append(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let list_array = lists(args, 0)?;
    let value = args.full(1)?;
    let is_append = call.name == "ARRAY_APPEND";
    let (mut indices, mut lengths) = (vec![], Vec::with_capacity(args.rows));
    for row in 0..args.rows {
        let elements = range(list_array.offsets(), row);
        if list_array.is_null(row) {
            lengths.push(0);
            continue;
        }
        lengths.push(elements.len() + 1);
        if !is_append {
            indices.push((1, row));
        }
        indices.extend(elements.map(|i| (0, i)));
        if is_append {
            indices.push((1, row));
        }
    }
    let values = if indices.is_empty() {
        new_empty_array(value.data_type())
    } else {
        interleave(&[list_array.values().as_ref(), value.as_ref()], &indices)?
    };
    list(call, lengths, values, list_array.nulls().cloned())
}

pub(super) fn concatenate(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let lists = (0..args.count()).map(|i| lists(args, i)).collect::<DfResult<Vec<_>>>()?;
    let (mut indices, mut lengths, mut nulls) = (vec![], vec![], vec![]);
    for row in 0..args.rows {
        let is_valid = lists.iter().all(|l| l.is_valid(row));
        let before = indices.len();
        if is_valid {
            for (n, list) in lists.iter().enumerate() {
                indices.extend(range(list.offsets(), row).map(|i| (n, i)));
            }
        }
        nulls.push(is_valid);
        lengths.push(indices.len() - before);
    }
    let values: Vec<&dyn Array> = lists.iter().map(|l| l.values().as_ref()).collect();
    list(call, lengths, interleave(&values, &indices)?, Some(NullBuffer::from(nulls)))
}

pub(super) fn join(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let list = lists(args, 0)?;
    let separators = args.texts(1)?;
    let replacements = if args.count() > 2 { Some(args.texts(2)?) } else { None };
    let texts = list.values().as_string_opt::<i32>().ok_or_else(|| mistyped("Utf8", list.values()))?;
    build(args, |row, out| {
        let separator = separators.get(row)?;
        let replacement = match &replacements {
            None => None,
            Some(replacements) => Some(replacements.get(row)?),
        };
        if list.is_null(row) {
            return None;
        }
        let mut is_first = true;
        for i in range(list.offsets(), row) {
            let Some(text) = (if texts.is_valid(i) { Some(texts.value(i)) } else { replacement }) else { continue };
            if !std::mem::take(&mut is_first) {
                out.push_str(separator);
            }
            out.push_str(text);
        }
        Some(())
    })
}

/// ARRAY_UNION: the elements of both arrays, ARRAY_INTERSECT: those of the first that the second has too,
/// ARRAY_EXCEPT: those that it does not have; each once.
pub(super) fn sets(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (first, second) = (lists(args, 0)?, lists(args, 1)?);
    let values = concat(&[first.values().as_ref(), second.values().as_ref()])?;
    let moved = first.values().len();
    let rows = unique::rows(&values, longest(&first).saturating_add(longest(&second)))?;
    let (mut kept, mut other) = (Unique::new(&values, rows.as_ref())?, Unique::new(&values, rows.as_ref())?);
    let (mut indices, mut lengths, mut valid) = (vec![], Vec::with_capacity(args.rows), Vec::with_capacity(args.rows));
    for row in 0..args.rows {
        kept.clear();
        other.clear();
        let is_valid = first.is_valid(row) && second.is_valid(row);
        if is_valid {
            let seconds = range(second.offsets(), row).map(|i| i + moved);
            let is_union = call.name == "ARRAY_UNION";
            if !is_union {
                for i in seconds.clone() {
                    other.insert(i)?;
                }
            }
            for i in range(first.offsets(), row) {
                if is_union || other.find(i)?.is_some() == (call.name == "ARRAY_INTERSECT") {
                    kept.insert(i)?;
                }
            }
            if is_union {
                for i in seconds {
                    kept.insert(i)?;
                }
            }
        }
        valid.push(is_valid);
        lengths.push(kept.elements().len());
        for i in kept.elements() {
            indices.push(index32(*i)?);
        }
    }
    let nulls = NullBuffer::from(valid);
    let values = take(&values, &UInt32Array::from(indices), None)?;
    list(call, lengths, values, (nulls.null_count() > 0).then_some(nulls))
}
