//! PARSE_JSON and TRY_PARSE_JSON: values of type VARIANT, kept as JSON in one form.
//!
//! In that form keys are in order, numbers without an exponent have no needless zeros, and those with one, or with more
//! than 38 digits, are what a DOUBLE prints; so equal values are equal texts.

use arrow::array::ArrayRef;
use calve_types::{Error, LogicalType};
use datafusion_common::Result as DfResult;

use super::scan::{Json, key_order, push_quoted};
use crate::args::{Args, failure};
use crate::cast::push_double;
use crate::function::{Arg, Call, Inferred, Refusal, Signature};
use crate::string::build;

/// `PARSE_JSON(text[, whether the last of equal keys wins])`
pub(super) fn infer_parse(args: &[Arg]) -> Inferred {
    let ([text] | [text, _]) = args else { return Err(Refusal::Count("1 arguments")) };
    let is_flag = args.get(1).is_none_or(|flag| *flag.logical() == LogicalType::Boolean);
    if !text.logical().is_character() || !is_flag {
        return Err(Refusal::Types);
    }
    let returns = LogicalType::Variant.with_nullable(text.data_type.nullable);
    Ok(Signature { args: args.iter().map(|a| a.data_type.clone()).collect(), returns })
}

/// As [`infer_parse`]; NULL for what is no JSON.
pub(super) fn infer_try_parse(args: &[Arg]) -> Inferred {
    infer_parse(args).map(|s| Signature { returns: s.returns.with_nullable(true), ..s })
}

pub(super) fn parse(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let flags = if args.count() > 1 { Some(args.booleans(1)?) } else { None };
    let is_strict = call.name == "PARSE_JSON";
    let mut failed = None;
    let result = build(args, |row, out| {
        let text = texts.get(row)?;
        let allows_duplicates = match &flags {
            None => false,
            Some(flags) => flags.get(row)?,
        };
        let problem = match Json::parse(text) {
            None => Some("is no JSON"),
            Some(json) => push(json, allows_duplicates, out).err(),
        };
        match problem {
            None => Some(()),
            Some(problem) if is_strict => {
                failed.get_or_insert_with(|| refused(text, problem));
                None
            }
            Some(_) => None,
        }
    });
    match failed {
        None => result,
        Some(error) => Err(failure(error)),
    }
}

fn refused(text: &str, problem: &str) -> Error {
    let shown: String = text.chars().take(40).collect();
    Error::new("invalid-json", format!("'PARSE_JSON' of '{shown}': the text {problem}"))
        .with_detail(if problem == TWICE { "VARIANT_DUPLICATE_KEY" } else { "Unexpected token" })
        .with_hint("TRY_PARSE_JSON gives NULL instead")
}

const TWICE: &str = "has a key twice";

/// Appends a value in its one form; values are nested only as deep as they can be read.
fn push(json: Json<'_>, allows_duplicates: bool, out: &mut String) -> Result<(), &'static str> {
    if let Some(text) = json.as_text() {
        push_quoted(&text, out);
    } else if let Some(number) = json.as_number() {
        push_number(number, out);
    } else if json.is_object() {
        let mut members = json.members();
        if !allows_duplicates && members.len() != json.raw_members().count() {
            return Err(TWICE);
        }
        members.sort_by(|(a, _), (b, _)| key_order(a, b));
        out.push('{');
        for (i, (key, value)) in members.into_iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            push_quoted(&key, out);
            out.push(':');
            push(value, allows_duplicates, out)?;
        }
        out.push('}');
    } else if json.is_array() {
        out.push('[');
        for (i, value) in json.elements().enumerate() {
            if i > 0 {
                out.push(',');
            }
            push(value, allows_duplicates, out)?;
        }
        out.push(']');
    } else {
        json.push_scalar(out);
    }
    Ok(())
}

fn push_number(text: &str, out: &mut String) {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let leading = text.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    if text.contains(['e', 'E']) || leading.min(digits) > 38 {
        push_double(text.parse().unwrap_or(f64::NAN), out);
        return;
    }
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    out.push_str(if matches!(short, "-0" | "-" | "") { "0" } else { short });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn form(text: &str) -> String {
        let mut out = String::new();
        push(Json::parse(text).unwrap(), false, &mut out).unwrap();
        out
    }

    /// Results of a real Flink.
    #[test]
    fn one_form() {
        for (text, expected) in [
            ("1.0", "1"),
            ("1e10", "1.0E10"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("-0", "0"),
            ("1.50", "1.5"),
            ("[]", "[]"),
            (r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#),
            (r#"{ "a" : [ 1 , 2 ] }"#, r#"{"a":[1,2]}"#),
            ("1E-7", "1.0E-7"),
            ("100.00", "100"),
            (r#""\u00e9\n\"x/""#, r#""é\n\"x/""#),
            ("123456789012345678901234567890.5", "123456789012345678901234567890.5"),
            ("1.23456789012345678901234567890123456789012", "1.2345678901234567"),
            ("99999999999999999999999999999999999999999", "1.0E41"),
            ("1 2", "1"),
        ] {
            assert_eq!(form(text), expected, "{text}");
        }
        let twice = Json::parse(r#"{"a":1,"a":2}"#).unwrap();
        assert_eq!(push(twice, false, &mut String::new()), Err(TWICE));
        let mut out = String::new();
        push(twice, true, &mut out).unwrap();
        assert_eq!(out, r#"{"a":2}"#);
    }
}
