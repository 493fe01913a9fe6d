//! ROW, ARRAY and MAP: constructors, access and functions.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int32Array, ListArray, MapArray, StringBuilder, StructArray, UInt32Array,
    make_comparator, new_empty_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{SortOptions, concat, interleave, take};
use arrow::datatypes::{DataType as ArrowType, Int32Type};
use calve_types::{DataType, Error, LogicalType, RowField, Value, arrow as mapping, rules};
use datafusion_common::Result as DfResult;

use crate::args::{Args, failure, mistyped};
use crate::compare::Equality;
use crate::function::{Arg, Call, Inferred, Refusal, ScalarFunction, Signature};
use crate::operator::nullable_by;
use crate::retype::retype;

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::kernel("ROW", infer_row, make_row),
    ScalarFunction::kernel("ARRAY", infer_array, make_array).takes_null(),
    ScalarFunction::kernel("MAP", infer_map, make_map).takes_null(),
    ScalarFunction::kernel("ITEM", infer_item, item),
    ScalarFunction::kernel("CARDINALITY", infer_cardinality, cardinality).forms(&[
        "CARDINALITY(<MULTISET>)",
        "CARDINALITY(<ARRAY>)",
        "CARDINALITY(<MAP>)",
    ]),
    ScalarFunction::kernel("ELEMENT", infer_element, element),
    ScalarFunction::kernel("ARRAY_CONTAINS", infer_contains, contains),
    ScalarFunction::kernel("ARRAY_POSITION", infer_position, position),
    ScalarFunction::kernel("ARRAY_APPEND", infer_append, append),
    ScalarFunction::kernel("ARRAY_PREPEND", infer_append, append),
    ScalarFunction::kernel("ARRAY_CONCAT", infer_concat, concatenate),
    ScalarFunction::kernel("ARRAY_DISTINCT", infer_same, distinct),
    ScalarFunction::kernel("ARRAY_REMOVE", infer_remove, remove),
    ScalarFunction::kernel("ARRAY_REVERSE", infer_same, reverse),
    ScalarFunction::kernel("ARRAY_SLICE", infer_slice, slice),
    ScalarFunction::kernel("ARRAY_SORT", infer_sort, sort),
    ScalarFunction::kernel("ARRAY_MAX", infer_extreme, extreme),
    ScalarFunction::kernel("ARRAY_MIN", infer_extreme, extreme),
    ScalarFunction::kernel("ARRAY_JOIN", infer_join, join),
    ScalarFunction::kernel("MAP_KEYS", infer_keys, keys),
    ScalarFunction::kernel("MAP_VALUES", infer_values, values),
    ScalarFunction::kernel("MAP_ENTRIES", infer_entries, entries),
    ScalarFunction::kernel("MAP_FROM_ARRAYS", infer_from_arrays, from_arrays),
];

fn types(args: &[Arg]) -> Vec<DataType> {
    args.iter().map(|a| a.data_type.clone()).collect()
}

fn array_of(arg: Option<&Arg>) -> Result<&DataType, Refusal> {
    match arg.map(Arg::logical) {
        Some(LogicalType::Array(element)) => Ok(element),
        Some(_) => Err(Refusal::Types),
        None => Err(Refusal::Count("1 arguments")),
    }
}

fn map_of(args: &[Arg]) -> Result<(&DataType, &DataType), Refusal> {
    match args {
        [map] => match map.logical() {
            LogicalType::Map(key, value) => Ok((key, value)),
            _ => Err(Refusal::Types),
        },
        _ => Err(Refusal::Count("1 arguments")),
    }
}

fn infer_row(args: &[Arg]) -> Inferred {
    let fields = args.iter().enumerate().map(|(i, a)| RowField::new(format!("EXPR${i}"), a.data_type.clone()));
    Ok(Signature { args: types(args), returns: LogicalType::Row(fields.collect()).not_null() })
}

fn different_types() -> Refusal {
    Error::new("invalid-argument", "elements of different types")
        .with_detail("Parameters must be of the same type")
        .into()
}

fn infer_array(args: &[Arg]) -> Inferred {
    if args.is_empty() {
        return Err(Error::new("invalid-argument", "an ARRAY without elements")
            .with_detail("Require at least 1 argument")
            .into());
    }
    let element = rules::common_type(&types(args)).ok_or_else(different_types)?;
    Ok(Signature {
        args: args.iter().map(|a| element.with_nullable(a.data_type.nullable)).collect(),
        returns: LogicalType::Array(Box::new(element)).not_null(),
    })
}

fn infer_map(args: &[Arg]) -> Inferred {
    if args.is_empty() || !args.len().is_multiple_of(2) {
        return Err(Error::new("invalid-argument", "a MAP needs pairs of a key and a value")
            .with_detail("Map requires an even number of arguments")
            .into());
    }
    let every =
        |from: usize| -> Vec<DataType> { args.iter().skip(from).step_by(2).map(|a| a.data_type.clone()).collect() };
    let key = rules::common_type(&every(0)).ok_or_else(different_types)?;
    let value = rules::common_type(&every(1)).ok_or_else(different_types)?;
    let arg_types = args
        .iter()
        .enumerate()
        .map(|(i, a)| if i % 2 == 0 { &key } else { &value }.with_nullable(a.data_type.nullable))
        .collect();
    Ok(Signature { args: arg_types, returns: LogicalType::Map(Box::new(key), Box::new(value)).not_null() })
}

fn infer_item(args: &[Arg]) -> Inferred {
    let [container, index] = args else { return Err(Refusal::Count("2 arguments")) };
    match container.logical() {
        LogicalType::Array(element) => {
            if !index.logical().is_integer() {
                return Err(Refusal::Types);
            }
            if let Some(Value::Int(i)) = index.literal
                && i < 1
            {
                return Err(Error::new("invalid-argument", format!("array index {i}; the first element is 1"))
                    .with_detail(format!("Array element access needs an index starting at 1 but was {i}."))
                    .into());
            }
            let position = LogicalType::BigInt.with_nullable(index.data_type.nullable);
            Ok(Signature { args: vec![container.data_type.clone(), position], returns: element.with_nullable(true) })
        }
        LogicalType::Map(key, value) => {
            if !rules::is_comparable(key, &index.data_type) {
                return Err(Refusal::Types);
            }
            let key =
                if index.logical().is_character() { index.data_type.logical.clone() } else { key.logical.clone() };
            let key = key.with_nullable(index.data_type.nullable);
            Ok(Signature { args: vec![container.data_type.clone(), key], returns: value.with_nullable(true) })
        }
        _ => Err(Refusal::Types),
    }
}

fn infer_cardinality(args: &[Arg]) -> Inferred {
    let [collection] = args else { return Err(Refusal::Count("1 arguments")) };
    if !matches!(collection.logical(), LogicalType::Array(_) | LogicalType::Map(..) | LogicalType::Multiset(_)) {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::Int) })
}

fn infer_element(args: &[Arg]) -> Inferred {
    let [array] = args else { return Err(Refusal::Count("1 arguments")) };
    let element = array_of(Some(array))?;
    let nullable = array.data_type.nullable || element.nullable;
    Ok(Signature { args: types(args), returns: element.with_nullable(nullable) })
}

/// An array and a value that is cast to its elements' type.
fn array_and_value(args: &[Arg]) -> Result<(DataType, Vec<DataType>), Refusal> {
    let [array, value] = args else { return Err(Refusal::Count("2 arguments")) };
    let element = array_of(Some(array))?;
    let common = rules::common_type(&[element.clone(), value.data_type.clone()]).ok_or(Refusal::Types)?;
    let list = LogicalType::Array(Box::new(common.with_nullable(element.nullable)));
    let arg_types = vec![list.with_nullable(array.data_type.nullable), common.with_nullable(value.data_type.nullable)];
    Ok((common, arg_types))
}

fn infer_contains(args: &[Arg]) -> Inferred {
    let (_, arg_types) = array_and_value(args)?;
    let nullable = arg_types.first().is_some_and(|t| t.nullable);
    Ok(Signature { args: arg_types, returns: LogicalType::Boolean.with_nullable(nullable) })
}

fn infer_position(args: &[Arg]) -> Inferred {
    let (_, arg_types) = array_and_value(args)?;
    Ok(Signature { args: arg_types, returns: nullable_by(args, LogicalType::Int) })
}

fn infer_append(args: &[Arg]) -> Inferred {
    let (common, arg_types) = array_and_value(args)?;
    let nullable = arg_types.first().is_some_and(|t| t.nullable);
    Ok(Signature { args: arg_types, returns: LogicalType::Array(Box::new(common)).with_nullable(nullable) })
}

fn infer_remove(args: &[Arg]) -> Inferred {
    let (_, arg_types) = array_and_value(args)?;
    let returns = arg_types.first().cloned().ok_or(Refusal::Types)?;
    Ok(Signature { args: arg_types, returns })
}

fn infer_concat(args: &[Arg]) -> Inferred {
    for arg in args {
        array_of(Some(arg))?;
    }
    let common = rules::common_type(&types(args)).ok_or(Refusal::Types)?;
    Ok(Signature {
        args: args.iter().map(|a| common.with_nullable(a.data_type.nullable)).collect(),
        returns: nullable_by(args, common.logical),
    })
}

fn infer_same(args: &[Arg]) -> Inferred {
    let [array] = args else { return Err(Refusal::Count("1 arguments")) };
    array_of(Some(array))?;
    Ok(Signature { args: types(args), returns: array.data_type.clone() })
}

fn infer_slice(args: &[Arg]) -> Inferred {
    let ([array, bounds @ ..], 2 | 3) = (args, args.len()) else { return Err(Refusal::Count("2 arguments")) };
    array_of(Some(array))?;
    if bounds.iter().any(|b| !b.logical().is_integer()) {
        return Err(Refusal::Types);
    }
    let mut arg_types = vec![array.data_type.clone()];
    arg_types.extend(bounds.iter().map(|b| LogicalType::Int.with_nullable(b.data_type.nullable)));
    Ok(Signature { args: arg_types, returns: nullable_by(args, array.data_type.logical.clone()) })
}

fn infer_sort(args: &[Arg]) -> Inferred {
    let ([array, flags @ ..], 1..=3) = (args, args.len()) else { return Err(Refusal::Count("1 arguments")) };
    let element = array_of(Some(array))?;
    if element.logical.is_constructed() || flags.iter().any(|f| *f.logical() != LogicalType::Boolean) {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, array.data_type.logical.clone()) })
}

fn infer_extreme(args: &[Arg]) -> Inferred {
    let [array] = args else { return Err(Refusal::Count("1 arguments")) };
    let element = array_of(Some(array))?;
    if element.logical.is_constructed() {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: element.with_nullable(true) })
}

fn infer_join(args: &[Arg]) -> Inferred {
    let ([array, texts @ ..], 2 | 3) = (args, args.len()) else { return Err(Refusal::Count("2 arguments")) };
    if !array_of(Some(array))?.logical.is_character() || texts.iter().any(|t| !t.logical().is_character()) {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::STRING) })
}

fn infer_keys(args: &[Arg]) -> Inferred {
    let (key, _) = map_of(args)?;
    let returns = LogicalType::Array(Box::new(key.with_nullable(false)));
    let returns = if key.nullable { LogicalType::Array(Box::new(key.clone())) } else { returns };
    Ok(Signature { args: types(args), returns: nullable_by(args, returns) })
}

fn infer_values(args: &[Arg]) -> Inferred {
    let (_, value) = map_of(args)?;
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::Array(Box::new(value.clone()))) })
}

fn infer_entries(args: &[Arg]) -> Inferred {
    let (key, value) = map_of(args)?;
    let entry = LogicalType::Row(vec![RowField::new("key", key.clone()), RowField::new("value", value.clone())]);
    let returns = LogicalType::Array(Box::new(entry.nullable()));
    Ok(Signature { args: types(args), returns: nullable_by(args, returns) })
}

fn infer_from_arrays(args: &[Arg]) -> Inferred {
    let [keys, values] = args else { return Err(Refusal::Count("2 arguments")) };
    let map = LogicalType::Map(Box::new(array_of(Some(keys))?.clone()), Box::new(array_of(Some(values))?.clone()));
    Ok(Signature { args: types(args), returns: nullable_by(args, map) })
}

fn lists(args: &Args, index: usize) -> DfResult<ListArray> {
    let array = args.full(index)?;
    array.as_list_opt::<i32>().cloned().ok_or_else(|| mistyped("List", &array))
}

fn range(offsets: &[i32], row: usize) -> std::ops::Range<usize> {
    let at = |i: usize| offsets.get(i).map_or(0, |o| *o as usize);
    at(row)..at(row + 1)
}

/// A list of the call's type.
fn list(call: &Call, lengths: Vec<usize>, values: ArrayRef, nulls: Option<NullBuffer>) -> DfResult<ArrayRef> {
    match mapping::to_arrow(&call.returns.logical).map_err(failure)? {
        ArrowType::List(field) => {
            // Names and nullability of nested fields come from the call's type.
            let values = retype(values, field.data_type())?;
            Ok(Arc::new(ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), values, nulls)?))
        }
        other => Err(failure(Error::internal(format!("'{}' gives {other}", call.name)))),
    }
}

fn make_row(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let columns = (0..args.count()).map(|i| args.full(i)).collect::<DfResult<Vec<_>>>()?;
    match mapping::to_arrow(&call.returns.logical).map_err(failure)? {
        ArrowType::Struct(_) if columns.is_empty() => Ok(Arc::new(StructArray::new_empty_fields(args.rows, None))),
        ArrowType::Struct(fields) => {
            let columns =
                columns.into_iter().zip(&fields).map(|(c, f)| retype(c, f.data_type())).collect::<DfResult<_>>()?;
            Ok(Arc::new(StructArray::try_new(fields, columns, None)?))
        }
        other => Err(failure(Error::internal(format!("a row of {other}")))),
    }
}

fn make_array(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let columns = (0..args.count()).map(|i| args.full(i)).collect::<DfResult<Vec<_>>>()?;
    let elements: Vec<_> = columns.iter().map(AsRef::as_ref).collect();
    let indices: Vec<_> = (0..args.rows).flat_map(|row| (0..columns.len()).map(move |i| (i, row))).collect();
    list(call, vec![columns.len(); args.rows], interleave(&elements, &indices)?, None)
}

/// A map of the call's type; of equal keys in a row the first place and the last value.
fn map(
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
    let same = Equality::new(keys, keys)?;
    let (mut taken_keys, mut taken_values, mut lengths, mut nulls) = (vec![], vec![], vec![], vec![]);
    for pairs in rows {
        let start = taken_keys.len();
        nulls.push(pairs.is_some());
        for (key, value) in pairs.unwrap_or_default() {
            if keys.is_null(key as usize) {
                return Err(failure(Error::unsupported("NULL as a key of a MAP")));
            }
            let mut known = None;
            for (place, other) in taken_keys.iter().enumerate().skip(start) {
                if same.holds(key as usize, *other as usize)? {
                    known = Some(place);
                }
            }
            match known.and_then(|place| taken_values.get_mut(place)) {
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
    let columns = taken.into_iter().zip(fields).map(|(c, f)| retype(c, f.data_type())).collect::<DfResult<_>>()?;
    let entries = StructArray::try_new(fields.clone(), columns, None)?;
    let nulls = NullBuffer::from(nulls);
    let nulls = (nulls.null_count() > 0).then_some(nulls);
    Ok(Arc::new(MapArray::try_new(Arc::clone(&entry), OffsetBuffer::from_lengths(lengths), entries, nulls, false)?))
}

fn index32(value: usize) -> DfResult<u32> {
    u32::try_from(value).map_err(|_| failure(Error::internal("more than 2^32 elements in a batch")))
}

fn make_map(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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
    map(call, &keys, &values, rows)
}

fn from_arrays(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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
    map(call, keys.values(), values.values(), rows.into_iter())
}

fn item(_: &Call, args: &Args) -> DfResult<ArrayRef> {
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

fn cardinality(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let collection = args.full(0)?;
    let offsets = match collection.data_type() {
        ArrowType::List(_) => collection.as_list::<i32>().offsets(),
        ArrowType::Map(..) => collection.as_map().offsets(),
        _ => return Err(mistyped("List or Map", &collection)),
    };
    let lengths = offsets.iter().zip(offsets.iter().skip(1)).map(|(start, end)| end - start);
    Ok(Arc::new(Int32Array::new(lengths.collect::<Vec<i32>>().into(), collection.nulls().cloned())))
}

fn element(_: &Call, args: &Args) -> DfResult<ArrayRef> {
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

fn contains(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    Ok(Arc::new(find(args)?.into_iter().map(|p| p.map(|p| p > 0)).collect::<BooleanArray>()))
}

fn position(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let wanted = args.full(1)?;
    let positions = find(args)?.into_iter().enumerate().map(|(row, p)| p.filter(|_| wanted.is_valid(row)));
    Ok(Arc::new(positions.collect::<Int32Array>()))
}

/// Lists whose elements are chosen from the argument's by index.
fn choose(
    call: &Call,
    list_array: &ListArray,
    rows: usize,
    choose: impl Fn(usize, std::ops::Range<usize>) -> DfResult<Option<Vec<usize>>>,
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

fn reverse(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    choose(call, &lists(args, 0)?, args.rows, |_, elements| Ok(Some(elements.rev().collect())))
}

fn distinct(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let list = lists(args, 0)?;
    let same = Equality::new(list.values(), list.values())?;
    choose(call, &list, args.rows, |_, elements| {
        let mut kept: Vec<usize> = vec![];
        'elements: for i in elements {
            for k in &kept {
                if same.holds(i, *k)? {
                    continue 'elements;
                }
            }
            kept.push(i);
        }
        Ok(Some(kept))
    })
}

fn remove(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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

fn slice(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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
fn sort(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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

fn extreme(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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

fn append(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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

fn concatenate(call: &Call, args: &Args) -> DfResult<ArrayRef> {
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

fn join(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let list = lists(args, 0)?;
    let separators = args.texts(1)?;
    let replacements = if args.count() > 2 { Some(args.texts(2)?) } else { None };
    let texts = list.values().as_string_opt::<i32>().ok_or_else(|| mistyped("Utf8", list.values()))?;
    let mut result = StringBuilder::new();
    let mut joined = String::new();
    for row in 0..args.rows {
        let replacement = match &replacements {
            None => Some(None),
            Some(r) => r.get(row).map(Some),
        };
        let (true, Some(separator), Some(replacement)) = (list.is_valid(row), separators.get(row), replacement) else {
            result.append_null();
            continue;
        };
        joined.clear();
        let mut is_first = true;
        for i in range(list.offsets(), row) {
            let Some(text) = (if texts.is_valid(i) { Some(texts.value(i)) } else { replacement }) else { continue };
            if !is_first {
                joined.push_str(separator);
            }
            is_first = false;
            joined.push_str(text);
        }
        result.append_value(&joined);
    }
    Ok(Arc::new(result.finish()))
}

fn maps(args: &Args) -> DfResult<MapArray> {
    let array = args.full(0)?;
    array.as_map_opt().cloned().ok_or_else(|| mistyped("Map", &array))
}

/// A list that holds, for each row, the elements at the row's entries.
fn of_entries(call: &Call, map: &MapArray, values: ArrayRef) -> DfResult<ArrayRef> {
    let lengths = (0..map.len()).map(|row| range(map.offsets(), row).len()).collect();
    let start = map.offsets().first().map_or(0, |o| *o as usize);
    let end = map.offsets().last().map_or(0, |o| *o as usize);
    list(call, lengths, values.slice(start, end - start), map.nulls().cloned())
}

fn keys(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let map = maps(args)?;
    of_entries(call, &map, Arc::clone(map.keys()))
}

fn values(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let map = maps(args)?;
    of_entries(call, &map, Arc::clone(map.values()))
}

fn entries(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let map = maps(args)?;
    of_entries(call, &map, Arc::new(map.entries().clone()))
}
