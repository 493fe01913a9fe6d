//! What the functions of ARRAYs and MAPs take and give.

use calve_types::{DataType, Error, LogicalType, RowField, Value, rules};

use crate::function::{Arg, Inferred, Refusal, Signature};
use crate::operator::nullable_by;

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

pub(super) fn infer_row(args: &[Arg]) -> Inferred {
    let fields = args.iter().enumerate().map(|(i, a)| RowField::new(format!("EXPR${i}"), a.data_type.clone()));
    Ok(Signature { args: types(args), returns: LogicalType::Row(fields.collect()).not_null() })
}

fn different_types() -> Refusal {
    Error::new("invalid-argument", "elements of different types")
        .with_detail("Parameters must be of the same type")
        .into()
}

pub(super) fn infer_array(args: &[Arg]) -> Inferred {
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

pub(super) fn infer_map(args: &[Arg]) -> Inferred {
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

pub(super) fn infer_item(args: &[Arg]) -> Inferred {
    let [container, index] = args else { return Err(Refusal::Count("2 arguments")) };
    match container.logical() {
        LogicalType::Array(element) => {
            if *index.logical() != LogicalType::Int {
                return Err(Error::new(
                    "invalid-argument",
                    format!("the index of an array is of type {}", index.data_type),
                )
                .with_detail("Integer expression type expected.")
                .with_hint("CAST(i AS INT)")
                .into());
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

pub(super) fn infer_cardinality(args: &[Arg]) -> Inferred {
    let [collection] = args else { return Err(Refusal::Count("1 arguments")) };
    if !matches!(collection.logical(), LogicalType::Array(_) | LogicalType::Map(..) | LogicalType::Multiset(_)) {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::Int) })
}

pub(super) fn infer_element(args: &[Arg]) -> Inferred {
    let [array] = args else { return Err(Refusal::Count("1 arguments")) };
    let element = array_of(Some(array))?;
    let nullable = array.data_type.nullable || element.nullable;
    Ok(Signature { args: types(args), returns: element.with_nullable(nullable) })
}

/// An array and a value that Flink casts by itself to its elements' type.
fn array_and_value(args: &[Arg]) -> Result<(DataType, Vec<DataType>), Refusal> {
    let [array, value] = args else { return Err(Refusal::Count("2 arguments")) };
    let element = array_of(Some(array))?;
    if !rules::supports_implicit_cast(&value.data_type, &element.with_nullable(true)) {
        return Err(Refusal::Types);
    }
    let value_type = element.with_nullable(value.data_type.nullable);
    let common = element.with_nullable(element.nullable || value.data_type.nullable);
    Ok((common, vec![array.data_type.clone(), value_type]))
}

pub(super) fn infer_contains(args: &[Arg]) -> Inferred {
    let (_, arg_types) = array_and_value(args)?;
    let nullable = arg_types.first().is_some_and(|t| t.nullable);
    Ok(Signature { args: arg_types, returns: LogicalType::Boolean.with_nullable(nullable) })
}

pub(super) fn infer_position(args: &[Arg]) -> Inferred {
    let (_, arg_types) = array_and_value(args)?;
    Ok(Signature { args: arg_types, returns: nullable_by(args, LogicalType::Int) })
}

pub(super) fn infer_append(args: &[Arg]) -> Inferred {
    let (common, arg_types) = array_and_value(args)?;
    Ok(Signature { args: arg_types, returns: nullable_by(args, LogicalType::Array(Box::new(common))) })
}

pub(super) fn infer_remove(args: &[Arg]) -> Inferred {
    let (_, arg_types) = array_and_value(args)?;
    let returns = arg_types.first().cloned().ok_or(Refusal::Types)?;
    Ok(Signature { args: arg_types, returns })
}

pub(super) fn infer_concat(args: &[Arg]) -> Inferred {
    for arg in args {
        array_of(Some(arg))?;
    }
    let common = rules::merged_type(&types(args)).ok_or(Refusal::Types)?;
    Ok(Signature {
        args: args.iter().map(|a| common.with_nullable(a.data_type.nullable)).collect(),
        returns: nullable_by(args, common.logical),
    })
}

pub(super) fn infer_same(args: &[Arg]) -> Inferred {
    let [array] = args else { return Err(Refusal::Count("1 arguments")) };
    array_of(Some(array))?;
    Ok(Signature { args: types(args), returns: array.data_type.clone() })
}

pub(super) fn infer_slice(args: &[Arg]) -> Inferred {
    let ([array, bounds @ ..], 2 | 3) = (args, args.len()) else { return Err(Refusal::Count("2 arguments")) };
    array_of(Some(array))?;
    if bounds.iter().any(|b| !b.logical().is_integer()) {
        return Err(Refusal::Types);
    }
    let mut arg_types = vec![array.data_type.clone()];
    arg_types.extend(bounds.iter().map(|b| LogicalType::Int.with_nullable(b.data_type.nullable)));
    Ok(Signature { args: arg_types, returns: nullable_by(args, array.data_type.logical.clone()) })
}

pub(super) fn infer_sort(args: &[Arg]) -> Inferred {
    let ([array, flags @ ..], 1..=3) = (args, args.len()) else { return Err(Refusal::Count("1 arguments")) };
    let element = array_of(Some(array))?;
    if element.logical.is_constructed() || flags.iter().any(|f| *f.logical() != LogicalType::Boolean) {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, array.data_type.logical.clone()) })
}

pub(super) fn infer_extreme(args: &[Arg]) -> Inferred {
    let [array] = args else { return Err(Refusal::Count("1 arguments")) };
    let element = array_of(Some(array))?;
    if element.logical.is_constructed() {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: element.with_nullable(true) })
}

pub(super) fn infer_join(args: &[Arg]) -> Inferred {
    let ([array, texts @ ..], 2 | 3) = (args, args.len()) else { return Err(Refusal::Count("2 arguments")) };
    if !array_of(Some(array))?.logical.is_character() || texts.iter().any(|t| !t.logical().is_character()) {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::STRING) })
}

pub(super) fn infer_keys(args: &[Arg]) -> Inferred {
    let (key, _) = map_of(args)?;
    let returns = LogicalType::Array(Box::new(key.with_nullable(false)));
    let returns = if key.nullable { LogicalType::Array(Box::new(key.clone())) } else { returns };
    Ok(Signature { args: types(args), returns: nullable_by(args, returns) })
}

pub(super) fn infer_values(args: &[Arg]) -> Inferred {
    let (_, value) = map_of(args)?;
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::Array(Box::new(value.clone()))) })
}

pub(super) fn infer_entries(args: &[Arg]) -> Inferred {
    let (key, value) = map_of(args)?;
    let entry = LogicalType::Row(vec![RowField::new("key", key.clone()), RowField::new("value", value.clone())]);
    let returns = LogicalType::Array(Box::new(entry.nullable()));
    Ok(Signature { args: types(args), returns: nullable_by(args, returns) })
}

pub(super) fn infer_from_arrays(args: &[Arg]) -> Inferred {
    let [keys, values] = args else { return Err(Refusal::Count("2 arguments")) };
    let map = LogicalType::Map(Box::new(array_of(Some(keys))?.clone()), Box::new(array_of(Some(values))?.clone()));
    Ok(Signature { args: types(args), returns: nullable_by(args, map) })
}

/// Two arrays of a common type.
pub(super) fn infer_sets(args: &[Arg]) -> Inferred {
    if args.len() == 2 { infer_concat(args) } else { Err(Refusal::Count("2 arguments")) }
}

/// Maps of one type of keys and values; Flink has no common type of maps.
pub(super) fn infer_union(args: &[Arg]) -> Inferred {
    let Some(first) = args.first() else { return Err(Refusal::Count("at least 1 arguments")) };
    map_of(std::slice::from_ref(first))?;
    let common = rules::merged_type(&types(args)).ok_or(Refusal::Types)?;
    Ok(Signature {
        args: args.iter().map(|a| common.with_nullable(a.data_type.nullable)).collect(),
        returns: nullable_by(args, common.logical),
    })
}
