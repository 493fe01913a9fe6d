//! `SET` and `RESET`, which are read from the text: keys and values are not tokens of SQL.

use calve_types::{Error, Result};

use crate::statement::Statement;

/// The statement, if the text is a SET or RESET.
pub(super) fn set_or_reset(text: &str) -> Option<Result<Statement>> {
    let mut body = text.trim_start();
    loop {
        if let Some(rest) = body.strip_prefix("--") {
            body = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
        } else if let Some(rest) = body.strip_prefix("/*") {
            body = rest.split_once("*/").map_or("", |(_, rest)| rest).trim_start();
        } else {
            break;
        }
    }
    let end = body.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(body.len());
    let (word, rest) = body.split_at(end);
    let rest = rest.trim();
    match word.to_ascii_uppercase().as_str() {
        "SET" if rest.is_empty() => Some(Ok(Statement::Set { option: None })),
        "SET" => Some(match set_option(rest) {
            Some((key, value)) if !key.is_empty() => Ok(Statement::Set { option: Some((key, value)) }),
            _ => Err(Error::new("syntax-error", "expected SET 'key' = 'value'")),
        }),
        "RESET" if rest.is_empty() => Some(Ok(Statement::Reset { key: None })),
        "RESET" => Some(match unquoted(rest) {
            Some(key) => Ok(Statement::Reset { key: Some(key) }),
            None => Err(Error::new("syntax-error", "expected RESET 'key'")),
        }),
        _ => None,
    }
}

/// A key and a value; a quoted key may hold `=`.
fn set_option(text: &str) -> Option<(String, String)> {
    let (key, rest) = match quoted(text) {
        Some(quoted) => quoted,
        None => {
            let (key, _) = text.split_once('=')?;
            (key.trim_end().to_owned(), text.get(key.len()..)?)
        }
    };
    Some((key, unquoted(rest.trim_start().strip_prefix('=')?.trim())?))
}

/// The content of the string literal at the beginning, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('\'')?;
    let mut from = 0;
    loop {
        let at = from + inner.get(from..)?.find('\'')?;
        let behind = inner.get(at + 1..)?;
        if !behind.starts_with('\'') {
            return Some((inner.get(..at)?.replace("''", "'"), behind));
        }
        from = at + 2;
    }
}

/// The content of a string literal that is alone but for a comment behind it, or text without quotes as it is.
fn unquoted(text: &str) -> Option<String> {
    if !text.starts_with('\'') {
        return Some(text.to_owned());
    }
    let (content, behind) = quoted(text)?;
    let behind = behind.trim_start();
    (behind.is_empty() || behind.starts_with("--") || behind.starts_with("/*")).then_some(content)
}
