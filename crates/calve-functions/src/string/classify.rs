//! IS_ALPHA, IS_DIGIT and IS_DECIMAL.

use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, BooleanArray};
use calve_types::LogicalType;
use datafusion_common::Result as DfResult;
use regex::Regex;

use crate::args::Args;
use crate::function::{Arg, Call, Inferred, Refusal, ScalarFunction, Signature};

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::kernel("IS_ALPHA", infer, is_alpha).forms(&["IS_ALPHA(<CHARACTER>)", "IS_ALPHA(<NUMERIC>)"]),
    ScalarFunction::kernel("IS_DIGIT", infer, is_digit).forms(&["IS_DIGIT(<CHARACTER>)", "IS_DIGIT(<NUMERIC>)"]),
    ScalarFunction::kernel("IS_DECIMAL", infer, is_decimal)
        .forms(&["IS_DECIMAL(<CHARACTER>)", "IS_DECIMAL(<NUMERIC>)"]),
];

/// Decimal digits of any script.
static DIGITS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{Nd}+$").ok());

/// What Java's `Double.valueOf` takes.
static DECIMAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^[\x00-\x20]*[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?|",
        r"0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?)[\x00-\x20]*$"
    ))
    .ok()
});

/// A NULL is none of them.
fn infer(args: &[Arg]) -> Inferred {
    let [value] = args else { return Err(Refusal::Count("1 arguments")) };
    if !value.logical().is_character() && !value.logical().is_numeric() {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: vec![value.data_type.clone()], returns: LogicalType::Boolean.not_null() })
}

/// The result for a text, and for a number of the call's type.
fn test(call: &Call, args: &Args, text: impl Fn(&str) -> bool, number: bool) -> DfResult<ArrayRef> {
    if call.arg(0).is_character() {
        let texts = args.texts(0)?;
        let results = (0..args.rows).map(|row| Some(texts.get(row).is_some_and(&text)));
        return Ok(Arc::new(results.collect::<BooleanArray>()));
    }
    let numbers = args.full(0)?;
    Ok(Arc::new((0..args.rows).map(|row| Some(number && numbers.is_valid(row))).collect::<BooleanArray>()))
}

fn is_alpha(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    test(call, args, |text| !text.is_empty() && text.chars().all(char::is_alphabetic), false)
}

/// All integers are digits, whatever their sign.
fn is_digit(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let is_match = |text: &str| DIGITS.as_ref().is_some_and(|digits| digits.is_match(text));
    test(call, args, is_match, call.arg(0).is_integer())
}

/// All numbers are decimal, except those of type DECIMAL, as in Flink.
fn is_decimal(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let is_match = |text: &str| DECIMAL.as_ref().is_some_and(|decimal| decimal.is_match(text));
    test(call, args, is_match, call.arg(0).is_integer() || call.arg(0).is_approximate())
}
