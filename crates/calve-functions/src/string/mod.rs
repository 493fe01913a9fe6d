//! String functions. Positions and lengths count code points.

mod classify;
mod codec;
mod cut;
mod java;
mod printf;
mod regexp;
mod search;
#[cfg(test)]
mod tests;
mod url;

use std::sync::Arc;

use arrow::array::{ArrayRef, StringBuilder};
use calve_types::{DataType, Error, LogicalType, Value, rules};
use datafusion_common::Result as DfResult;

use crate::args::{Args, failure};
use crate::function::{Arg, Call, Inferred, Refusal, ScalarFunction, Signature};
use crate::operator::nullable_by;

pub(crate) use regexp::from_java;

/// The functions here and in the files below.
pub(crate) fn tables() -> [&'static [ScalarFunction]; 6] {
    [TABLE, classify::TABLE, codec::TABLE, printf::TABLE, regexp::TABLE, url::TABLE]
}

static TABLE: &[ScalarFunction] = &[
    ScalarFunction::kernel("UPPER", infer_same, |_, a| map(a, |s, out| out.push_str(&s.to_uppercase())))
        .forms(&["UPPER(<CHARACTER>)"]),
    ScalarFunction::kernel("LOWER", infer_same, |_, a| map(a, |s, out| out.push_str(&s.to_lowercase())))
        .forms(&["LOWER(<CHARACTER>)"]),
    ScalarFunction::kernel("INITCAP", infer_same, |_, a| map(a, cut::initcap)).forms(&["INITCAP(<CHARACTER>)"]),
    ScalarFunction::kernel("REVERSE", infer_nullable_string, |_, a| map(a, |s, out| out.extend(s.chars().rev()))),
    ScalarFunction::kernel("CHAR_LENGTH", infer_length, cut::length)
        .aliases(&["CHARACTER_LENGTH"])
        .forms(&["CHAR_LENGTH(<CHARACTER>)"]),
    ScalarFunction::kernel("ASCII", infer_length, cut::ascii),
    ScalarFunction::kernel("TRIM", infer_trim, cut::trim),
    ScalarFunction::kernel("LTRIM", infer_side_trim, cut::trim),
    ScalarFunction::kernel("RTRIM", infer_side_trim, cut::trim),
    ScalarFunction::kernel("BTRIM", infer_btrim, cut::trim),
    ScalarFunction::kernel("SUBSTRING", infer_substring, cut::substring)
        .aliases(&["SUBSTR"])
        .forms(&["SUBSTRING(<CHARACTER>, <INTEGER>)", "SUBSTRING(<CHARACTER>, <INTEGER>, <INTEGER>)"]),
    ScalarFunction::kernel("LEFT", infer_left, cut::left),
    ScalarFunction::kernel("RIGHT", infer_left, cut::left),
    ScalarFunction::kernel("REPEAT", infer_repeat, cut::repeat),
    ScalarFunction::kernel("LPAD", infer_pad, cut::pad).gives_null(),
    ScalarFunction::kernel("RPAD", infer_pad, cut::pad).gives_null(),
    ScalarFunction::kernel("OVERLAY", infer_overlay, cut::overlay),
    ScalarFunction::kernel("CONCAT", infer_concat, search::concat).forms(&["CONCAT(<CHARACTER>)"]),
    ScalarFunction::kernel("CONCAT_WS", infer_concat, search::concat_ws).forms(&["CONCAT_WS(<CHARACTER>)"]),
    ScalarFunction::kernel("REPLACE", infer_three, search::replace),
    ScalarFunction::kernel("TRANSLATE", infer_translate, search::translate).aliases(&["TRANSLATE3"]),
    ScalarFunction::kernel("POSITION", infer_position, search::position),
    ScalarFunction::kernel("INSTR", infer_instr, search::instr),
    ScalarFunction::kernel("LOCATE", infer_locate, search::position),
    ScalarFunction::kernel("STARTSWITH", infer_start, search::starts_with),
    ScalarFunction::kernel("ENDSWITH", infer_start, search::starts_with),
    ScalarFunction::kernel("SPLIT", infer_split, search::split),
    ScalarFunction::kernel("SPLIT_INDEX", infer_split_index, search::split_index),
    ScalarFunction::kernel("STR_TO_MAP", infer_str_to_map, search::str_to_map),
    ScalarFunction::kernel("ELT", infer_elt, search::elt),
    ScalarFunction::kernel("UUID", infer_uuid, uuid).volatile(),
];

fn types(args: &[Arg]) -> Vec<DataType> {
    args.iter().map(|a| a.data_type.clone()).collect()
}

fn is_text(arg: &Arg) -> bool {
    arg.logical().is_character()
}

/// Texts, then integers (which become INT).
fn signature(args: &[Arg], texts: usize, returns: LogicalType) -> Inferred {
    let mut arg_types = vec![];
    for (i, arg) in args.iter().enumerate() {
        if i < texts {
            if !is_text(arg) {
                return Err(Refusal::Types);
            }
            arg_types.push(arg.data_type.clone());
        } else {
            if !matches!(arg.logical(), LogicalType::TinyInt | LogicalType::SmallInt | LogicalType::Int) {
                return Err(Refusal::Types);
            }
            arg_types.push(LogicalType::Int.with_nullable(arg.data_type.nullable));
        }
    }
    Ok(Signature { args: arg_types, returns: nullable_by(args, returns) })
}

fn nullable(inferred: Inferred) -> Inferred {
    inferred.map(|s| Signature { returns: s.returns.with_nullable(true), ..s })
}

fn infer_same(args: &[Arg]) -> Inferred {
    let [a] = args else { return Err(Refusal::Count("1 arguments")) };
    signature(args, 1, a.logical().clone())
}

fn infer_nullable_string(args: &[Arg]) -> Inferred {
    if args.len() != 1 {
        return Err(Refusal::Count("1 arguments"));
    }
    nullable(signature(args, 1, LogicalType::STRING))
}

fn infer_length(args: &[Arg]) -> Inferred {
    if args.len() != 1 {
        return Err(Refusal::Count("1 arguments"));
    }
    signature(args, 1, LogicalType::Int)
}

/// The text's type, not padded.
fn varying(arg: &Arg) -> LogicalType {
    match arg.logical() {
        LogicalType::Char(n) | LogicalType::Varchar(n) => LogicalType::Varchar(*n),
        other => other.clone(),
    }
}

/// `TRIM(text)` or `TRIM(side, characters, text)` with the side as a symbol.
fn infer_trim(args: &[Arg]) -> Inferred {
    match args {
        [text] => signature(args, 1, varying(text)),
        [side, characters, text] => {
            if *side.logical() != LogicalType::Symbol || !is_text(characters) || !is_text(text) {
                return Err(Refusal::Types);
            }
            Ok(Signature { args: types(args), returns: nullable_by(args, varying(text)) })
        }
        _ => Err(Refusal::Count("1 arguments")),
    }
}

fn infer_side_trim(args: &[Arg]) -> Inferred {
    match args {
        [text] | [text, _] => signature(args, 2, varying(text)),
        _ => Err(Refusal::Count("1 arguments")),
    }
}

fn infer_btrim(args: &[Arg]) -> Inferred {
    if matches!(args.len(), 1 | 2) {
        signature(args, 2, LogicalType::STRING)
    } else {
        Err(Refusal::Count("1 arguments"))
    }
}

fn infer_concat(args: &[Arg]) -> Inferred {
    if args.is_empty() {
        return Err(Refusal::Count("at least 1 arguments"));
    }
    signature(args, args.len(), LogicalType::STRING)
}

fn infer_substring(args: &[Arg]) -> Inferred {
    match args {
        [text, _] | [text, _, _] => nullable(signature(args, 1, varying(text))),
        _ => Err(Refusal::Count("2 arguments")),
    }
}

fn infer_left(args: &[Arg]) -> Inferred {
    let [text, _] = args else { return Err(Refusal::Count("2 arguments")) };
    nullable(signature(args, 1, varying(text)))
}

fn infer_three(args: &[Arg]) -> Inferred {
    if args.len() == 3 { signature(args, 3, LogicalType::STRING) } else { Err(Refusal::Count("3 arguments")) }
}

fn infer_repeat(args: &[Arg]) -> Inferred {
    if args.len() == 2 { signature(args, 1, LogicalType::STRING) } else { Err(Refusal::Count("2 arguments")) }
}

fn infer_pad(args: &[Arg]) -> Inferred {
    let [text, length, pad] = args else { return Err(Refusal::Count("3 arguments")) };
    if !is_text(text)
        || !is_text(pad)
        || !matches!(length.logical(), LogicalType::Int | LogicalType::SmallInt | LogicalType::TinyInt)
    {
        return Err(Refusal::Types);
    }
    let length = LogicalType::Int.with_nullable(length.data_type.nullable);
    Ok(Signature {
        args: vec![text.data_type.clone(), length, pad.data_type.clone()],
        returns: nullable_by(args, LogicalType::STRING),
    })
}

/// `POSITION(part IN text)` as (part, text); `INSTR(text, part)`.
fn infer_position(args: &[Arg]) -> Inferred {
    if args.len() == 2 { signature(args, 2, LogicalType::Int) } else { Err(Refusal::Count("2 arguments")) }
}

/// `INSTR(text, part[, start[, occurrence]])`
fn infer_instr(args: &[Arg]) -> Inferred {
    if matches!(args.len(), 2..=4) { signature(args, 2, LogicalType::Int) } else { Err(Refusal::Count("2 arguments")) }
}

fn infer_locate(args: &[Arg]) -> Inferred {
    if matches!(args.len(), 2 | 3) { signature(args, 2, LogicalType::Int) } else { Err(Refusal::Count("2 arguments")) }
}

fn infer_test(args: &[Arg]) -> Inferred {
    if args.len() == 2 { signature(args, 2, LogicalType::Boolean) } else { Err(Refusal::Count("2 arguments")) }
}

fn infer_split(args: &[Arg]) -> Inferred {
    let parts = LogicalType::Array(Box::new(LogicalType::STRING.nullable()));
    if args.len() == 2 { signature(args, 2, parts) } else { Err(Refusal::Count("2 arguments")) }
}

/// The separator is a text or the number of a character.
fn infer_split_index(args: &[Arg]) -> Inferred {
    let [text, separator, index] = args else { return Err(Refusal::Count("3 arguments")) };
    let separator = if is_text(separator) {
        separator.data_type.clone()
    } else if separator.logical().is_integer() {
        LogicalType::Int.with_nullable(separator.data_type.nullable)
    } else {
        return Err(Refusal::Types);
    };
    if !is_text(text) || !index.logical().is_integer() {
        return Err(Refusal::Types);
    }
    let index = LogicalType::Int.with_nullable(index.data_type.nullable);
    Ok(Signature { args: vec![text.data_type.clone(), separator, index], returns: LogicalType::STRING.nullable() })
}

fn infer_str_to_map(args: &[Arg]) -> Inferred {
    if !matches!(args.len(), 1 | 3) {
        return Err(Refusal::Count("1 or 3 arguments"));
    }
    let text = LogicalType::STRING.nullable();
    nullable(signature(args, 3, LogicalType::Map(Box::new(text.clone()), Box::new(text))))
}

/// Only a NULL text gives NULL.
fn infer_translate(args: &[Arg]) -> Inferred {
    let [text, _, _] = args else { return Err(Refusal::Count("3 arguments")) };
    let returns = LogicalType::STRING.with_nullable(text.data_type.nullable);
    signature(args, 3, LogicalType::STRING).map(|s| Signature { returns, ..s })
}

/// Both texts or both bytes.
fn infer_start(args: &[Arg]) -> Inferred {
    let [value, part] = args else { return Err(Refusal::Count("2 arguments")) };
    let are_binary = value.logical().is_binary() && part.logical().is_binary();
    let are_texts = is_text(value) && is_text(part);
    if !(are_binary || are_texts) {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::Boolean) })
}

fn infer_elt(args: &[Arg]) -> Inferred {
    let ([index, values @ ..], true) = (args, args.len() > 1) else {
        return Err(Refusal::Count("at least 2 arguments"));
    };
    if let Some(Value::Int(index)) = index.literal
        && index < 0
    {
        return Err(Error::new("invalid-argument", format!("index {index} of 'ELT'"))
            .with_detail(format!("Index must be an integer starting from '0', but was '{index}'."))
            .into());
    }
    let are_binary = values.iter().all(|v| v.logical().is_binary());
    if !index.logical().is_integer() || !are_binary && !values.iter().all(is_text) {
        return Err(Refusal::Types);
    }
    let common = rules::common_type(&types(values)).ok_or(Refusal::Types)?;
    let mut arg_types = vec![LogicalType::BigInt.with_nullable(index.data_type.nullable)];
    arg_types.extend(values.iter().map(|v| common.with_nullable(v.data_type.nullable)));
    Ok(Signature { args: arg_types, returns: common.with_nullable(true) })
}

/// `OVERLAY(text PLACING new FROM start [FOR length])` as its values in that order.
fn infer_overlay(args: &[Arg]) -> Inferred {
    let ([text, part, _] | [text, part, _, _]) = args else { return Err(Refusal::Count("3 arguments")) };
    let length = |arg: &Arg| match arg.logical() {
        LogicalType::Char(n) | LogicalType::Varchar(n) => *n,
        _ => 0,
    };
    let longest = length(text).saturating_add(length(part)).min(LogicalType::MAX_LENGTH);
    signature(args, 2, LogicalType::Varchar(longest))
}

fn infer_uuid(args: &[Arg]) -> Inferred {
    if args.is_empty() {
        Ok(Signature { args: vec![], returns: LogicalType::Char(36).not_null() })
    } else {
        Err(Refusal::Count("0 arguments"))
    }
}

fn uuid(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    build(args, |_, out| {
        out.push_str(uuid::Uuid::new_v4().hyphenated().encode_lower(&mut uuid::Uuid::encode_buffer()));
        Some(())
    })
}

/// The longest text a function makes in bytes, so that no row takes all memory.
const LONGEST: usize = 1 << 28;

/// The offsets of a batch have 32 bits, and Arrow panics beyond.
fn check_batch(before: usize, more: usize) -> DfResult<()> {
    match i32::try_from(before.saturating_add(more)) {
        Ok(_) => Ok(()),
        Err(_) => Err(failure(Error::new("out-of-range", "the values of a batch of rows are longer than 2 GiB"))),
    }
}

/// Builds a text for each row; `None` is NULL.
pub(crate) fn build(args: &Args, mut row_text: impl FnMut(usize, &mut String) -> Option<()>) -> DfResult<ArrayRef> {
    let mut builder = StringBuilder::with_capacity(args.rows, args.rows * 8);
    let mut text = String::new();
    for row in 0..args.rows {
        text.clear();
        match row_text(row, &mut text) {
            Some(()) => {
                check_batch(builder.values_slice().len(), text.len())?;
                builder.append_value(&text);
            }
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

fn map(args: &Args, f: impl Fn(&str, &mut String)) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    build(args, |row, out| texts.get(row).map(|text| f(text, out)))
}
