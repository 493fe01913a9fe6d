//! LIKE and SIMILAR TO.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use calve_types::{Error, Result};
use datafusion_common::{Result as DfResult, ScalarValue};
use datafusion_expr::Expr;
use datafusion_expr::expr::Like;
use regex::Regex;

use crate::args::{Args, failure};
use crate::function::Call;

/// Native for a constant pattern without a backslash: DataFusion takes it for an escape, Flink does not.
pub(crate) fn like(call: &Call, args: Vec<Expr>) -> Result<Expr> {
    let negated = call.name.starts_with("NOT");
    match <[Expr; 2]>::try_from(args) {
        Ok([value, pattern]) => match &pattern {
            Expr::Literal(ScalarValue::Utf8(Some(text)), _) if !text.contains('\\') => {
                Ok(Expr::Like(Like::new(negated, Box::new(value), Box::new(pattern), None, false)))
            }
            _ => call.kernel(match_like, vec![value, pattern]),
        },
        Err(args) => call.kernel(match_like, args),
    }
}

/// An element of a LIKE pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    One,
    Many,
    Char(char),
}

fn pieces(pattern: &str, escape: Option<char>) -> Result<Vec<Piece>> {
    let mut pieces = Vec::with_capacity(pattern.len());
    let mut chars = pattern.chars().enumerate();
    while let Some((position, c)) = chars.next() {
        pieces.push(if Some(c) == escape {
            match chars.next() {
                Some((_, next)) if matches!(next, '%' | '_') || Some(next) == escape => Piece::Char(next),
                _ => {
                    return Err(Error::new(
                        "invalid-argument",
                        format!("invalid escape sequence in pattern '{pattern}'"),
                    )
                    .with_detail(format!("Invalid escape sequence '{pattern}', {position}")));
                }
            }
        } else {
            match c {
                '_' => Piece::One,
                '%' => Piece::Many,
                c => Piece::Char(c),
            }
        });
    }
    Ok(pieces)
}

/// Greedy matching that goes back to the last `%` only: linear in text times pattern.
fn matches(text: &str, pattern: &[Piece]) -> bool {
    let mut rest = text.chars();
    let mut at = 0;
    let mut back: Option<(usize, std::str::Chars<'_>)> = None;
    loop {
        match pattern.get(at) {
            Some(Piece::Many) => {
                at += 1;
                back = Some((at, rest.clone()));
                continue;
            }
            Some(piece) => {
                let mut next = rest.clone();
                if let Some(c) = next.next()
                    && (*piece == Piece::One || *piece == Piece::Char(c))
                {
                    rest = next;
                    at += 1;
                    continue;
                }
            }
            None if rest.as_str().is_empty() => return true,
            None => {}
        }
        let Some((after, from)) = &mut back else { return false };
        if from.next().is_none() {
            return false;
        }
        at = *after;
        rest = from.clone();
    }
}

fn escape_char(text: &str) -> Result<char> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Ok(c),
        _ => Err(Error::new("invalid-argument", format!("invalid escape character '{text}'"))
            .with_detail(format!("Invalid escape character '{text}'"))),
    }
}

/// Rows of text and pattern, the pattern prepared again only where it changes.
fn match_rows<P>(
    call: &Call,
    args: &Args,
    prepare: impl Fn(&str, Option<char>) -> Result<P>,
    test: impl Fn(&P, &str) -> bool,
) -> DfResult<ArrayRef> {
    let negated = call.name.starts_with("NOT");
    let (texts, patterns) = (args.texts(0)?, args.texts(1)?);
    let escapes = if args.count() > 2 { Some(args.texts(2)?) } else { None };
    let mut last: Option<(&str, Option<&str>, P)> = None;
    let mut result = Vec::with_capacity(args.rows);
    for row in 0..args.rows {
        let escape = match &escapes {
            None => Some(None),
            Some(escapes) => escapes.get(row).map(Some),
        };
        let (Some(text), Some(pattern), Some(escape)) = (texts.get(row), patterns.get(row), escape) else {
            result.push(None);
            continue;
        };
        let is_prepared = matches!(&last, Some((p, e, _)) if *p == pattern && *e == escape);
        if !is_prepared {
            let escape_char = escape.map(escape_char).transpose().map_err(failure)?;
            last = Some((pattern, escape, prepare(pattern, escape_char).map_err(failure)?));
        }
        result.push(last.as_ref().map(|(_, _, prepared)| test(prepared, text) != negated));
    }
    Ok(Arc::new(BooleanArray::from(result)))
}

fn match_like(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    match_rows(call, args, pieces, |pieces, text| matches(text, pieces))
}

pub(crate) fn similar(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    match_rows(call, args, similar_regex, |regex, text| regex.is_match(text))
}

/// SIMILAR TO as a regular expression: `%` and `_` as in LIKE, `| * + ? {} () []` as in regular expressions. As in
/// Flink (Calcite) a point is any character too.
fn similar_regex(pattern: &str, escape: Option<char>) -> Result<Regex> {
    let mut regex = String::from("^(?s:");
    let mut chars = pattern.chars();
    let mut in_brackets = false;
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            match chars.next() {
                Some(next) => regex.push_str(&regex::escape(&next.to_string())),
                None => {
                    return Err(Error::new("invalid-argument", format!("invalid escape sequence in '{pattern}'"))
                        .with_detail(format!("Invalid escape sequence '{pattern}'")));
                }
            }
            continue;
        }
        match c {
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            '%' if !in_brackets => {
                regex.push_str(".*");
                continue;
            }
            '_' if !in_brackets => {
                regex.push('.');
                continue;
            }
            '\\' | '$' | '^' if !in_brackets => regex.push('\\'),
            _ => {}
        }
        regex.push(c);
    }
    regex.push_str(")$");
    Regex::new(&regex).map_err(|e| {
        Error::new("invalid-argument", format!("invalid pattern '{pattern}' of SIMILAR TO")).with_detail(e.to_string())
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn patterns() {
        let is = |text, pattern, escape| matches(text, &pieces(pattern, escape).unwrap());
        for (text, pattern, escape, expected) in [
            ("abc", "a%", None, true),
            ("abc", "A%", None, false),
            ("abc", "_b_", None, true),
            ("a%c", "a\\%c", None, false),
            ("a\\c", "a\\c", None, true),
            ("a%c", "a!%c", Some('!'), true),
            ("a_c", "a!_c", Some('!'), true),
            ("", "%", None, true),
            ("abc", "", None, false),
            ("äöü", "__ü", None, true),
            ("aab", "%a%b", None, true),
            ("mississippi", "%iss%ip%", None, true),
            ("mississippi", "%iss%ipx%", None, false),
        ] {
            assert_eq!(is(text, pattern, escape), expected, "{text} LIKE {pattern}");
        }
        assert!(pieces("a!", Some('!')).is_err());
        for (text, pattern, expected) in [
            ("abc", "a.c", true),
            ("abc", "(a|b)%", true),
            ("aaa", "a{3}", true),
            ("abc", "x%", false),
            ("a1", "[a-z][0-9]", true),
        ] {
            assert_eq!(similar_regex(pattern, None).unwrap().is_match(text), expected, "{text} SIMILAR TO {pattern}");
        }
    }
}
