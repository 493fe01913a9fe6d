//! String functions. Positions and lengths count code points.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int32Array, StringBuilder};
use arrow::datatypes::Int32Type;
use calve_types::{DataType, Error, LogicalType};
use datafusion_common::Result as DfResult;
use regex::{NoExpand, Regex};

use crate::args::{Args, failure};
use crate::function::{Arg, Call, Inferred, Refusal, ScalarFunction, Signature};
use crate::operator::nullable_by;

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::kernel("UPPER", infer_same, |_, a| map(a, |s, out| out.push_str(&s.to_uppercase())))
        .forms(&["UPPER(<CHARACTER>)"]),
    ScalarFunction::kernel("LOWER", infer_same, |_, a| map(a, |s, out| out.push_str(&s.to_lowercase())))
        .forms(&["LOWER(<CHARACTER>)"]),
    ScalarFunction::kernel("INITCAP", infer_same, |_, a| map(a, initcap)).forms(&["INITCAP(<CHARACTER>)"]),
    ScalarFunction::kernel("REVERSE", infer_nullable_string, |_, a| map(a, |s, out| out.extend(s.chars().rev()))),
    ScalarFunction::kernel("CHAR_LENGTH", infer_length, length)
        .aliases(&["CHARACTER_LENGTH"])
        .forms(&["CHAR_LENGTH(<CHARACTER>)"]),
    ScalarFunction::kernel("ASCII", infer_length, ascii),
    ScalarFunction::kernel("TRIM", infer_trim, trim),
    ScalarFunction::kernel("LTRIM", infer_side_trim, trim),
    ScalarFunction::kernel("RTRIM", infer_side_trim, trim),
    ScalarFunction::kernel("BTRIM", infer_btrim, trim),
    ScalarFunction::kernel("CONCAT", infer_concat, concat).forms(&["CONCAT(<CHARACTER>)"]),
    ScalarFunction::kernel("CONCAT_WS", infer_concat, concat_ws).forms(&["CONCAT_WS(<CHARACTER>)"]),
    ScalarFunction::kernel("SUBSTRING", infer_substring, substring)
        .aliases(&["SUBSTR"])
        .forms(&["SUBSTRING(<CHARACTER>, <INTEGER>)", "SUBSTRING(<CHARACTER>, <INTEGER>, <INTEGER>)"]),
    ScalarFunction::kernel("LEFT", infer_left, left),
    ScalarFunction::kernel("RIGHT", infer_left, left),
    ScalarFunction::kernel("REPLACE", infer_three, replace),
    ScalarFunction::kernel("REPEAT", infer_repeat, repeat),
    ScalarFunction::kernel("LPAD", infer_pad, pad).gives_null(),
    ScalarFunction::kernel("RPAD", infer_pad, pad).gives_null(),
    ScalarFunction::kernel("POSITION", infer_position, position),
    ScalarFunction::kernel("INSTR", infer_position, position),
    ScalarFunction::kernel("LOCATE", infer_locate, position),
    ScalarFunction::kernel("STARTSWITH", infer_test, |_, a| test(a, |s, p| s.starts_with(p))),
    ScalarFunction::kernel("ENDSWITH", infer_test, |_, a| test(a, |s, p| s.ends_with(p))),
    ScalarFunction::kernel("SPLIT_INDEX", infer_split_index, split_index),
    ScalarFunction::kernel("REGEXP", infer_test, regexp),
    ScalarFunction::kernel("REGEXP_REPLACE", infer_three, regexp_replace).gives_null(),
    ScalarFunction::kernel("REGEXP_EXTRACT", infer_regexp_extract, regexp_extract),
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

fn infer_locate(args: &[Arg]) -> Inferred {
    if matches!(args.len(), 2 | 3) { signature(args, 2, LogicalType::Int) } else { Err(Refusal::Count("2 arguments")) }
}

fn infer_test(args: &[Arg]) -> Inferred {
    if args.len() == 2 { signature(args, 2, LogicalType::Boolean) } else { Err(Refusal::Count("2 arguments")) }
}

fn infer_split_index(args: &[Arg]) -> Inferred {
    if args.len() == 3 { nullable(signature(args, 2, LogicalType::STRING)) } else { Err(Refusal::Count("3 arguments")) }
}

fn infer_regexp_extract(args: &[Arg]) -> Inferred {
    if matches!(args.len(), 2 | 3) {
        nullable(signature(args, 2, LogicalType::STRING))
    } else {
        Err(Refusal::Count("2 arguments"))
    }
}

/// Builds a text for each row; `false` means NULL.
fn build(args: &Args, mut row_text: impl FnMut(usize, &mut String) -> Option<()>) -> DfResult<ArrayRef> {
    let mut builder = StringBuilder::with_capacity(args.rows, args.rows * 8);
    let mut text = String::new();
    for row in 0..args.rows {
        text.clear();
        match row_text(row, &mut text) {
            Some(()) => builder.append_value(&text),
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

fn map(args: &Args, f: impl Fn(&str, &mut String)) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    build(args, |row, out| texts.get(row).map(|text| f(text, out)))
}

fn initcap(text: &str, out: &mut String) {
    let mut starts = true;
    for c in text.chars() {
        if starts {
            out.extend(c.to_uppercase())
        } else {
            out.extend(c.to_lowercase())
        }
        starts = !c.is_alphanumeric();
    }
}

fn characters(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// The code points from `start` to `end`, counted from 0.
fn cut(text: &str, start: usize, end: usize) -> &str {
    if start >= end {
        return "";
    }
    if text.is_ascii() {
        return text.get(start.min(text.len())..end.min(text.len())).unwrap_or("");
    }
    let mut places = text.char_indices().map(|(i, _)| i).skip(start);
    let Some(from) = places.next() else { return "" };
    let to = places.nth(end - start - 1).unwrap_or(text.len());
    text.get(from..to).unwrap_or("")
}

fn length(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let lengths = (0..args.rows).map(|row| texts.get(row).and_then(|t| i32::try_from(characters(t)).ok()));
    Ok(Arc::new(lengths.collect::<Int32Array>()))
}

/// The first byte, signed as in Java.
fn ascii(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    let codes = (0..args.rows).map(|row| texts.get(row).map(|t| t.bytes().next().map_or(0, |b| i32::from(b as i8))));
    Ok(Arc::new(codes.collect::<Int32Array>()))
}

fn trim(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (side, characters, texts) = match (args.count(), call.name.as_str()) {
        (3, _) => {
            let side = args.texts(0)?.get(0).unwrap_or("BOTH").to_owned();
            (side, Some(args.texts(1)?), args.texts(2)?)
        }
        (n, name) => {
            let side = match name {
                "LTRIM" => "LEADING",
                "RTRIM" => "TRAILING",
                _ => "BOTH",
            };
            (side.to_owned(), if n == 2 { Some(args.texts(1)?) } else { None }, args.texts(0)?)
        }
    };
    build(args, |row, out| {
        let text = texts.get(row)?;
        let set = match &characters {
            None => " ",
            Some(characters) => characters.get(row)?,
        };
        let in_set = |c: char| set.contains(c);
        out.push_str(match side.as_str() {
            "LEADING" => text.trim_start_matches(in_set),
            "TRAILING" => text.trim_end_matches(in_set),
            _ => text.trim_matches(in_set),
        });
        Some(())
    })
}

fn concat(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = (0..args.count()).map(|i| args.texts(i)).collect::<DfResult<Vec<_>>>()?;
    build(args, |row, out| {
        for text in &texts {
            out.push_str(text.get(row)?);
        }
        Some(())
    })
}

/// NULLs are left out; a NULL separator gives NULL.
fn concat_ws(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let separators = args.texts(0)?;
    let texts = (1..args.count()).map(|i| args.texts(i)).collect::<DfResult<Vec<_>>>()?;
    build(args, |row, out| {
        let separator = separators.get(row)?;
        for (n, text) in texts.iter().filter_map(|t| t.get(row)).enumerate() {
            if n > 0 {
                out.push_str(separator);
            }
            out.push_str(text);
        }
        Some(())
    })
}

/// From 1; 0 is 1, negative ones count from the end. A negative length gives NULL.
fn substring(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, starts) = (args.texts(0)?, args.numbers::<Int32Type>(1)?);
    let lengths = if args.count() > 2 { Some(args.numbers::<Int32Type>(2)?) } else { None };
    build(args, |row, out| {
        let (text, start) = (texts.get(row)?, starts.get(row)?);
        let length = match &lengths {
            None => usize::MAX,
            Some(lengths) => usize::try_from(lengths.get(row)?).ok()?,
        };
        let from = if start > 0 {
            start as usize - 1
        } else if start == 0 {
            0
        } else {
            match characters(text).checked_sub(start.unsigned_abs() as usize) {
                Some(from) => from,
                None => return Some(()),
            }
        };
        out.push_str(cut(text, from, from.saturating_add(length)));
        Some(())
    })
}

/// LEFT and RIGHT; a negative length gives the empty text.
fn left(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, lengths) = (args.texts(0)?, args.numbers::<Int32Type>(1)?);
    let is_left = call.name == "LEFT";
    build(args, |row, out| {
        let (text, length) = (texts.get(row)?, lengths.get(row)?.max(0) as usize);
        out.push_str(if is_left {
            cut(text, 0, length)
        } else {
            cut(text, characters(text).saturating_sub(length), usize::MAX)
        });
        Some(())
    })
}

fn replace(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, from, to) = (args.texts(0)?, args.texts(1)?, args.texts(2)?);
    build(args, |row, out| {
        out.push_str(&texts.get(row)?.replace(from.get(row)?, to.get(row)?));
        Some(())
    })
}

/// The longest text a function makes, so that no row takes all memory.
const LONGEST: usize = 1 << 28;

fn too_long(call: &Call) -> datafusion_common::DataFusionError {
    failure(Error::new("out-of-range", format!("'{}' would give a text of more than {LONGEST} bytes", call.name)))
}

fn repeat(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, counts) = (args.texts(0)?, args.numbers::<Int32Type>(1)?);
    let is_too_long = (0..args.rows).any(|row| match (texts.get(row), counts.get(row)) {
        (Some(text), Some(count)) => text.len().saturating_mul(count.max(0) as usize) > LONGEST,
        _ => false,
    });
    if is_too_long {
        return Err(too_long(call));
    }
    build(args, |row, out| {
        let (text, count) = (texts.get(row)?, counts.get(row)?.max(0));
        out.extend(std::iter::repeat_n(text, count as usize));
        Some(())
    })
}

/// LPAD and RPAD; NULL for a negative length or nothing to pad with.
fn pad(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, lengths, pads) = (args.texts(0)?, args.numbers::<Int32Type>(1)?, args.texts(2)?);
    if (0..args.rows).any(|row| lengths.get(row).is_some_and(|n| n as i64 > LONGEST as i64 / 4)) {
        return Err(too_long(call));
    }
    let is_left = call.name == "LPAD";
    build(args, |row, out| {
        let (text, pad) = (texts.get(row)?, pads.get(row)?);
        let length = usize::try_from(lengths.get(row)?).ok()?;
        if pad.is_empty() {
            return None;
        }
        let missing = length.saturating_sub(characters(text));
        let text = cut(text, 0, length);
        let padding = pad.chars().cycle().take(missing);
        if is_left {
            out.extend(padding);
            out.push_str(text);
        } else {
            out.push_str(text);
            out.extend(padding);
        }
        Some(())
    })
}

fn position(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (parts, texts) =
        if call.name == "INSTR" { (args.texts(1)?, args.texts(0)?) } else { (args.texts(0)?, args.texts(1)?) };
    let starts = if args.count() > 2 { Some(args.numbers::<Int32Type>(2)?) } else { None };
    let places = (0..args.rows).map(|row| {
        let (part, text) = (parts.get(row)?, texts.get(row)?);
        let start = match &starts {
            None => 1,
            Some(starts) => starts.get(row)?,
        };
        let Ok(skipped) = usize::try_from(i64::from(start) - 1) else { return Some(0) };
        let rest = cut(text, skipped, usize::MAX);
        let place = rest.find(part).map_or(0, |at| skipped + characters(rest.get(..at).unwrap_or("")) + 1);
        i32::try_from(place).ok()
    });
    Ok(Arc::new(places.collect::<Int32Array>()))
}

fn test(args: &Args, f: impl Fn(&str, &str) -> bool) -> DfResult<ArrayRef> {
    let (texts, parts) = (args.texts(0)?, args.texts(1)?);
    let results = (0..args.rows).map(|row| Some(f(texts.get(row)?, parts.get(row)?)));
    Ok(Arc::new(results.collect::<BooleanArray>()))
}

/// From 0; NULL beyond the parts, for the empty text and for a negative index.
fn split_index(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, separators, indices) = (args.texts(0)?, args.texts(1)?, args.numbers::<Int32Type>(2)?);
    build(args, |row, out| {
        let (text, separator) = (texts.get(row)?, separators.get(row)?);
        let index = usize::try_from(indices.get(row)?).ok()?;
        if text.is_empty() {
            return None;
        }
        let part = if separator.is_empty() { (index == 0).then_some(text) } else { text.split(separator).nth(index) };
        out.push_str(part?);
        Some(())
    })
}

/// The last pattern compiled; mostly it is the same for all rows.
#[derive(Default)]
struct Patterns {
    last: Option<(String, Option<Regex>)>,
    /// A pattern that only Java understands.
    unsupported: Option<String>,
}

impl Patterns {
    /// `None` for a pattern that is none.
    fn get(&mut self, pattern: &str) -> Option<&Regex> {
        if self.last.as_ref().is_none_or(|(text, _)| text != pattern) {
            let regex = Regex::new(&ascii_classes(pattern)).ok();
            if regex.is_none() && is_java_only(pattern) {
                self.unsupported = Some(pattern.to_owned());
            }
            self.last = Some((pattern.to_owned(), regex));
        }
        self.last.as_ref().and_then(|(_, regex)| regex.as_ref())
    }

    /// The result, unless a pattern could not be tried.
    fn checked(self, result: DfResult<ArrayRef>) -> DfResult<ArrayRef> {
        match self.unsupported {
            None => result,
            Some(pattern) => {
                Err(failure(Error::unsupported(format!("look-around and back references in the pattern '{pattern}'"))))
            }
        }
    }
}

/// Java's `\d`, `\w` and `\s` are ASCII only.
fn ascii_classes(pattern: &str) -> String {
    let mut result = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match chars.next() {
            Some('d') => result.push_str("[0-9]"),
            Some('D') => result.push_str("[^0-9]"),
            Some('w') => result.push_str("[a-zA-Z0-9_]"),
            Some('W') => result.push_str("[^a-zA-Z0-9_]"),
            Some('s') => result.push_str("[ \\t\\n\\x0B\\f\\r]"),
            Some('S') => result.push_str("[^ \\t\\n\\x0B\\f\\r]"),
            Some(other) => result.extend(['\\', other]),
            None => result.push('\\'),
        }
    }
    result
}

fn is_java_only(pattern: &str) -> bool {
    const SIGNS: [&str; 9] = ["(?=", "(?!", "(?<=", "(?<!", "(?>", "++", "*+", "?+", "&&"];
    let back_reference =
        pattern.as_bytes().windows(2).any(|w| matches!(w, [b'\\', b'1'..=b'9' | b'k' | b'Q' | b'G' | b'Z']));
    back_reference || SIGNS.iter().any(|sign| pattern.contains(sign))
}

fn regexp(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, patterns) = (args.texts(0)?, args.texts(1)?);
    let mut compiled = Patterns::default();
    let mut results = Vec::with_capacity(args.rows);
    for row in 0..args.rows {
        let (Some(text), Some(pattern)) = (texts.get(row), patterns.get(row)) else {
            results.push(None);
            continue;
        };
        let Some(regex) = compiled.get(pattern) else {
            let invalid = Error::new("invalid-argument", format!("invalid regular expression '{pattern}'"));
            return compiled.checked(Err(failure(invalid)));
        };
        results.push(Some(!pattern.is_empty() && regex.is_match(text)));
    }
    Ok(Arc::new(BooleanArray::from(results)))
}

/// All matches; the replacement is taken as it is. NULL for an invalid pattern.
fn regexp_replace(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, patterns, replacements) = (args.texts(0)?, args.texts(1)?, args.texts(2)?);
    let mut compiled = Patterns::default();
    let result = build(args, |row, out| {
        let (text, pattern, replacement) = (texts.get(row)?, patterns.get(row)?, replacements.get(row)?);
        out.push_str(&compiled.get(pattern)?.replace_all(text, NoExpand(replacement)));
        Some(())
    });
    compiled.checked(result)
}

/// A group of the first match; NULL without one or for an invalid pattern.
fn regexp_extract(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, patterns) = (args.texts(0)?, args.texts(1)?);
    let groups = if args.count() > 2 { Some(args.numbers::<Int32Type>(2)?) } else { None };
    let mut compiled = Patterns::default();
    let result = build(args, |row, out| {
        let (text, pattern) = (texts.get(row)?, patterns.get(row)?);
        let group = match &groups {
            None => 0,
            Some(groups) => usize::try_from(groups.get(row)?).ok()?,
        };
        out.push_str(compiled.get(pattern)?.captures(text)?.get(group)?.as_str());
        Some(())
    });
    compiled.checked(result)
}
