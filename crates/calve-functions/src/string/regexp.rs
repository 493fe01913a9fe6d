//! Regular expressions, as Java reads them.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int32Array, StringBuilder};
use arrow::datatypes::Int32Type;
use calve_types::{Error, LogicalType};
use datafusion_common::Result as DfResult;
use fancy_regex::{Regex, RegexBuilder};

use super::cut::{too_long, units};
use super::java::{Untranslated, translate};
use super::{LONGEST, build, infer_test, infer_three, nullable, signature};
use crate::args::{Args, Values, failure};
use crate::collection::list_of_texts;
use crate::function::{Arg, Call, Inferred, Refusal, ScalarFunction, Signature};

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::kernel("REGEXP", infer_test, regexp),
    ScalarFunction::kernel("REGEXP_REPLACE", infer_three, regexp_replace).gives_null(),
    ScalarFunction::kernel("REGEXP_EXTRACT", infer_group, regexp_extract),
    ScalarFunction::kernel("REGEXP_EXTRACT_ALL", infer_extract_all, regexp_extract_all),
    ScalarFunction::kernel("REGEXP_COUNT", infer_number, regexp_count),
    ScalarFunction::kernel("REGEXP_INSTR", infer_number, regexp_instr),
    ScalarFunction::kernel("REGEXP_SUBSTR", infer_text, regexp_substr),
];

fn infer_group(args: &[Arg]) -> Inferred {
    // The group is any integer, those beyond INT wrap.
    if let [text, pattern, group] = args
        && group.logical().is_integer()
    {
        let inferred = nullable(signature(&[text.clone(), pattern.clone()], 2, LogicalType::STRING))?;
        let group = LogicalType::Int.with_nullable(group.data_type.nullable);
        return Ok(Signature { args: [inferred.args, vec![group]].concat(), returns: inferred.returns });
    }
    if args.len() == 2 { nullable(signature(args, 2, LogicalType::STRING)) } else { Err(Refusal::Count("2 arguments")) }
}

fn infer_extract_all(args: &[Arg]) -> Inferred {
    if matches!(args.len(), 2 | 3) {
        nullable(signature(args, 2, LogicalType::Array(Box::new(LogicalType::STRING.nullable()))))
    } else {
        Err(Refusal::Count("2 arguments"))
    }
}

fn infer_number(args: &[Arg]) -> Inferred {
    if args.len() == 2 { nullable(signature(args, 2, LogicalType::Int)) } else { Err(Refusal::Count("2 arguments")) }
}

fn infer_text(args: &[Arg]) -> Inferred {
    if args.len() == 2 { nullable(signature(args, 2, LogicalType::STRING)) } else { Err(Refusal::Count("2 arguments")) }
}

/// What `$` may leave unmatched.
const LINE_ENDS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// How often a pattern with look-around or back references may step back before it fails the statement.
const STEPS: usize = 1_000_000;

/// The last pattern compiled; mostly it is the same for all rows.
#[derive(Default)]
pub(super) struct Patterns {
    last: Option<(String, Compiled)>,
}

enum Compiled {
    /// For any text, and perhaps a faster one for texts that do not end with a line end.
    Both(Box<Regex>, Option<Box<Regex>>),
    Invalid,
    Unsupported(Error),
}

impl Compiled {
    fn new(pattern: &str) -> Self {
        let build = |pattern: &str| {
            let built = RegexBuilder::new(pattern).backtrack_limit(STEPS).build();
            built.map(Box::new).map_err(|error| error.to_string())
        };
        let translation = match translate(pattern) {
            Ok(translation) => translation,
            Err(Untranslated::Invalid) => return Self::Invalid,
            Err(Untranslated::Unsupported(feature)) => {
                return Self::Unsupported(Untranslated::unsupported(&feature, pattern));
            }
        };
        match build(&translation.pattern) {
            Ok(full) => Self::Both(full, translation.without_line_end.and_then(|simple| build(&simple).ok())),
            Err(error) => {
                Self::Unsupported(Error::unsupported(format!("the regular expression '{pattern}'")).with_detail(error))
            }
        }
    }
}

/// A pattern as a regular expression whose `$` is the end of the text; `None` for one that is none or has no counterpart.
pub(crate) fn from_java(pattern: &str) -> Option<String> {
    translate(pattern).ok().map(|translation| translation.without_line_end.unwrap_or(translation.pattern))
}

impl Patterns {
    /// The expression for a text. `None` for a pattern that is none, and for one that has no counterpart, which fails the
    /// statement.
    pub fn get(&mut self, pattern: &str, text: &str, failed: &mut Option<Error>) -> Option<&Regex> {
        if self.last.as_ref().is_none_or(|(known, _)| known != pattern) {
            self.last = Some((pattern.to_owned(), Compiled::new(pattern)));
        }
        match self.last.as_ref().map(|(_, compiled)| compiled) {
            Some(Compiled::Both(_, Some(simple))) if !text.ends_with(LINE_ENDS) => Some(simple),
            Some(Compiled::Both(full, _)) => Some(full),
            Some(Compiled::Unsupported(error)) => {
                failed.get_or_insert_with(|| error.clone());
                None
            }
            Some(Compiled::Invalid) | None => None,
        }
    }

    /// The result of matching with a pattern; `None` and a failed statement if that took too many steps.
    fn ok<T>(failed: &mut Option<Error>, result: fancy_regex::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                failed.get_or_insert_with(|| costly(&error));
                None
            }
        }
    }

    /// A text for each row, made from the row's text and pattern; `None` is NULL.
    fn texts(
        args: &Args,
        mut f: impl FnMut(usize, &str, &Regex, &mut Option<Error>, &mut String) -> Option<()>,
    ) -> DfResult<ArrayRef> {
        let (texts, patterns) = (args.texts(0)?, args.texts(1)?);
        let (mut compiled, mut failed) = (Self::default(), None);
        let result = build(args, |row, out| {
            let text = texts.get(row)?;
            let regex = compiled.get(patterns.get(row)?, text, &mut failed)?;
            f(row, text, regex, &mut failed, out)
        });
        match failed {
            None => result,
            Some(error) => Err(failure(error)),
        }
    }

    /// A number for each row, made from the row's text and pattern; `None` is NULL.
    fn numbers(args: &Args, f: impl Fn(&str, &Regex, &mut Option<Error>) -> Option<usize>) -> DfResult<ArrayRef> {
        let (texts, patterns) = (args.texts(0)?, args.texts(1)?);
        let (mut compiled, mut failed) = (Self::default(), None);
        let numbers: Int32Array = (0..args.rows)
            .map(|row| {
                let text = texts.get(row)?;
                let regex = compiled.get(patterns.get(row)?, text, &mut failed)?;
                let number = f(text, regex, &mut failed)?;
                i32::try_from(number).ok()
            })
            .collect();
        match failed {
            None => Ok(Arc::new(numbers)),
            Some(error) => Err(failure(error)),
        }
    }
}

fn regexp(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, patterns) = (args.texts(0)?, args.texts(1)?);
    let (mut compiled, mut failed) = (Patterns::default(), None);
    let mut results = Vec::with_capacity(args.rows);
    for row in 0..args.rows {
        let (Some(text), Some(pattern)) = (texts.get(row), patterns.get(row)) else {
            results.push(None);
            continue;
        };
        let Some(regex) = compiled.get(pattern, text, &mut failed) else {
            results.push(Some(false));
            continue;
        };
        results.push(Patterns::ok(&mut failed, regex.is_match(text)).map(|found| found && !pattern.is_empty()));
    }
    match failed {
        None => Ok(Arc::new(BooleanArray::from(results))),
        Some(error) => Err(failure(error)),
    }
}

fn costly(error: &fancy_regex::Error) -> Error {
    Error::new("invalid-argument", "a regular expression takes too many steps")
        .with_detail(error.to_string())
        .with_hint("write it without nested repetitions")
}

pub(super) fn invalid(pattern: &str) -> Error {
    Error::new("invalid-argument", format!("invalid regular expression '{pattern}'"))
}

/// All matches; the replacement is taken as it is. NULL for an invalid pattern.
fn regexp_replace(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let replacements = args.texts(2)?;
    Patterns::texts(args, |row, text, regex, failed, out| {
        let replacement = replacements.get(row)?;
        let mut end = 0;
        for found in regex.find_iter(text) {
            let found = Patterns::ok(failed, found)?;
            out.push_str(text.get(end..found.start())?);
            out.push_str(replacement);
            if out.len() > LONGEST {
                failed.get_or_insert_with(|| too_long(call));
                return None;
            }
            end = found.end();
        }
        out.push_str(text.get(end..)?);
        Some(())
    })
}

/// The group of each row: the third argument, else `default`.
fn groups<'a>(args: &'a Args, default: i32) -> DfResult<impl Fn(usize) -> Option<usize> + 'a> {
    let groups: Option<Values<'_, _>> = if args.count() > 2 { Some(args.numbers::<Int32Type>(2)?) } else { None };
    Ok(move |row: usize| {
        let group = match &groups {
            None => default,
            Some(groups) => groups.get(row)?,
        };
        usize::try_from(group).ok()
    })
}

/// A group of the first match; NULL without one or for an invalid pattern.
fn regexp_extract(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let groups = groups(args, 0)?;
    Patterns::texts(args, |row, text, regex, failed, out| {
        let group = groups(row)?;
        out.push_str(Patterns::ok(failed, regex.captures(text))??.get(group)?.as_str());
        Some(())
    })
}

/// A group of every match, the first group without a third argument; NULL where there is no such group.
fn regexp_extract_all(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (texts, patterns) = (args.texts(0)?, args.texts(1)?);
    let groups = groups(args, 1)?;
    let (mut compiled, mut failed) = (Patterns::default(), None);
    let mut values = StringBuilder::new();
    let (mut lengths, mut valid) = (Vec::with_capacity(args.rows), Vec::with_capacity(args.rows));
    for row in 0..args.rows {
        let mut matches = || -> Option<usize> {
            let (text, group) = (texts.get(row)?, groups(row)?);
            let regex = compiled.get(patterns.get(row)?, text, &mut failed)?;
            if group >= regex.captures_len() {
                return None;
            }
            let mut count = 0;
            for found in regex.captures_iter(text) {
                values.append_option(Patterns::ok(&mut failed, found)?.get(group).map(|m| m.as_str()));
                count += 1;
            }
            Some(count)
        };
        let count = matches();
        valid.push(count.is_some());
        lengths.push(count.unwrap_or(0));
    }
    match failed {
        None => list_of_texts(call, lengths, values.finish(), valid),
        Some(error) => Err(failure(error)),
    }
}

fn regexp_count(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    Patterns::numbers(args, |text, regex, failed| {
        let mut count = 0;
        for found in regex.find_iter(text) {
            Patterns::ok(failed, found)?;
            count += 1;
        }
        Some(count)
    })
}

/// From 1; 0 without a match.
fn regexp_instr(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    Patterns::numbers(args, |text, regex, failed| {
        let found = Patterns::ok(failed, regex.find(text))?;
        Some(found.map_or(0, |m| units(text.get(..m.start()).unwrap_or("")) + 1))
    })
}

fn regexp_substr(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    Patterns::texts(args, |_, text, regex, failed, out| {
        out.push_str(Patterns::ok(failed, regex.find(text))??.as_str());
        Some(())
    })
}

/// The parts of a text between matches, as Java's `String.split` has them: empty ones at the end are left out, as is an
/// empty first one where the match has no width. Without a limit all of them, else at most so many, which keeps empty
/// ones at the end.
pub(super) fn split<'a>(text: &'a str, regex: &Regex, limit: Option<usize>) -> DfResult<Vec<&'a str>> {
    let mut parts = vec![];
    let mut end = 0;
    for found in regex.find_iter(text) {
        let found = found.map_err(|error| failure(costly(&error)))?;
        if limit.is_some_and(|limit| parts.len() + 1 >= limit) {
            break;
        }
        if found.end() == 0 || found.start() == text.len() && found.start() == found.end() {
            continue;
        }
        parts.push(text.get(end..found.start()).unwrap_or(""));
        end = found.end();
    }
    if parts.is_empty() {
        return Ok(vec![text]);
    }
    parts.push(text.get(end..).unwrap_or(""));
    if limit.is_none() {
        while parts.last().is_some_and(|part| part.is_empty()) {
            parts.pop();
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    /// Results of Java's `String.split`.
    #[test]
    fn splits_as_java() {
        let split =
            |text: &'static str, pattern: &str, limit| split(text, &Regex::new(pattern).unwrap(), limit).unwrap();
        assert_eq!(split("a,b,,", ",", None), ["a", "b"]);
        assert_eq!(split(",a", ",", None), ["", "a"]);
        assert_eq!(split("abc", "", None), ["a", "b", "c"]);
        assert_eq!(split(",,", ",", None), [""; 0]);
        assert_eq!(split("a=1=2", "=", Some(2)), ["a", "1=2"]);
        assert_eq!(split("a=", "=", Some(2)), ["a", ""]);
        assert_eq!(split("", ",", None), [""]);
    }
}
