//! Tokens of one statement in the coordinates of the script, and what Flink's lexer refuses.

use calve_types::{Error, Location, Result, Span};
use sqlparser::tokenizer::{self, Token, TokenWithSpan, Tokenizer, Whitespace};

use crate::dialect::FlinkDialect;
use crate::hints::Hints;
use crate::script::ScriptStatement;

/// sqlparser's span as ours.
pub(crate) fn span_of(span: tokenizer::Span) -> Span {
    Span::new(location_of(span.start), location_of(span.end))
}

pub(crate) fn location_of(at: tokenizer::Location) -> Location {
    Location { line: u32::try_from(at.line).unwrap_or(u32::MAX), column: u32::try_from(at.column).unwrap_or(u32::MAX) }
}

/// The significant tokens of a statement, its hints, and the place behind the last token.
pub(crate) struct Tokens {
    pub tokens: Vec<TokenWithSpan>,
    pub hints: Hints,
    pub end: Location,
}

fn shift(at: tokenizer::Location, statement: &ScriptStatement) -> tokenizer::Location {
    let column = if at.line == 1 { at.column + u64::from(statement.column) - 1 } else { at.column };
    tokenizer::Location { line: at.line + u64::from(statement.line) - 1, column }
}

fn refused(token: &Token) -> Option<String> {
    match token {
        Token::DoubleQuotedString(_) => {
            Some("double quotes are not allowed: strings stand in single quotes, names in backticks".to_owned())
        }
        Token::Word(w) if w.quote_style == Some('"') => {
            Some("double quotes are not allowed: strings stand in single quotes, names in backticks".to_owned())
        }
        Token::Word(w) if w.quote_style == Some('`') && w.value.is_empty() => Some("a name is empty".to_owned()),
        Token::DoubleEq | Token::Ampersand | Token::ShiftLeft | Token::Tilde => {
            Some(format!("'{token}' is not an operator of Flink SQL"))
        }
        Token::ExclamationMark | Token::Sharp | Token::AtSign => Some(format!("unexpected character '{token}'")),
        _ => None,
    }
}

/// Tokenises a statement.
///
/// # Errors
/// `syntax-error` for what Flink's lexer refuses.
pub(crate) fn tokenize(statement: &ScriptStatement) -> Result<Tokens> {
    if let Some(error) = &statement.error {
        return Err(error.clone());
    }
    let all = Tokenizer::new(&FlinkDialect, &statement.text).tokenize_with_location().map_err(|e| {
        let at = location_of(shift(e.location, statement));
        let end = Location { line: at.line, column: at.column + 1 };
        Error::new("syntax-error", e.message.to_lowercase()).at(Span::new(at, end))
    })?;
    let mut tokens: Vec<TokenWithSpan> = Vec::with_capacity(all.len());
    let mut hints = Hints::default();
    let mut end = Location { line: statement.line, column: statement.column };
    let characters: Vec<&str> = statement.text.split('\n').collect();
    for mut token in all {
        let raw = token.span;
        token.span = tokenizer::Span::new(shift(raw.start, statement), shift(raw.end, statement));
        let span = span_of(token.span);
        match &token.token {
            Token::Whitespace(Whitespace::MultiLineComment(text)) if text.starts_with('+') => {
                hints.add(end, text.get(1..).unwrap_or(""), span)?;
            }
            Token::Whitespace(_) => {}
            Token::EOF => {}
            Token::Neq if spelled(&characters, raw.start).starts_with('!') => {
                return Err(Error::new("syntax-error", "'!=' is not an operator of Flink SQL")
                    .with_hint("write '<>'")
                    .at(span));
            }
            Token::ShiftRight => {
                let middle = tokenizer::Location { line: token.span.start.line, column: token.span.start.column + 1 };
                tokens.push(TokenWithSpan { token: Token::Gt, span: tokenizer::Span::new(token.span.start, middle) });
                tokens.push(TokenWithSpan { token: Token::Gt, span: tokenizer::Span::new(middle, token.span.end) });
                end = span.end;
            }
            other => {
                if let Some(message) = refused(other) {
                    return Err(Error::new("syntax-error", message).at(span));
                }
                // Flink marks strings that are not ASCII by their character set when it prints them
                if matches!(other, Token::SingleQuotedString(_))
                    && tokens.last().is_some_and(|last| marks(last, &token))
                {
                    tokens.pop();
                }
                end = span.end;
                if let Token::SingleQuotedString(escape) = &token.token
                    && unescape(&mut tokens, escape, statement, span)?
                {
                    continue;
                }
                tokens.push(token);
            }
        }
    }
    Ok(Tokens { tokens, hints, end })
}

/// `U&'..' UESCAPE 'c'`: at the `'c'`, puts the string in the place of its three tokens; whether it was one.
fn unescape(tokens: &mut Vec<TokenWithSpan>, escape: &str, statement: &ScriptStatement, place: Span) -> Result<bool> {
    let [.., string, uescape] = tokens.as_slice() else { return Ok(false) };
    if !crate::dialect::is_word(&uescape.token, "UESCAPE") {
        return Ok(false);
    }
    if !matches!(string.token, Token::UnicodeStringLiteral(_)) {
        return Err(Error::new("syntax-error", "UESCAPE stands behind a string U&'..'")
            .with_detail("UESCAPE cannot be specified without Unicode literal introducer")
            .at(place));
    }
    let mut chars = escape.chars();
    let (Some(mark), None) = (chars.next(), chars.next()) else {
        return Err(Error::new("syntax-error", format!("UESCAPE takes one character, not '{escape}'"))
            .with_detail(format!("UESCAPE '{escape}' must be exactly one character"))
            .at(place));
    };
    let span = span_of(string.span);
    let written = statement.slice(span);
    let written = written.get(3..written.len().saturating_sub(1)).unwrap_or("").replace("''", "'");
    let text = decoded(&written, mark).ok_or_else(|| {
        Error::new("syntax-error", "a Unicode escape is not four hexadecimal digits")
            .with_detail("Unicode escape sequence is not exactly four hex digits")
            .at(span)
    })?;
    let all = tokenizer::Span::new(string.span.start, uescape.span.end);
    tokens.truncate(tokens.len() - 2);
    tokens.push(TokenWithSpan { token: Token::UnicodeStringLiteral(text), span: all });
    Ok(true)
}

/// A text with `#0041` and `##` replaced by what they mean, for the escape character `#`.
fn decoded(text: &str, mark: char) -> Option<String> {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != mark || chars.next_if_eq(&mark).is_some() {
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
            continue;
        }
        let digits: String = chars.by_ref().take(4).collect();
        if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        units.push(u16::from_str_radix(&digits, 16).ok()?);
    }
    Some(String::from_utf16_lossy(&units))
}

/// Whether a token is the character set of the string directly behind it, `_UTF16` or `_UTF8`.
fn marks(mark: &TokenWithSpan, string: &TokenWithSpan) -> bool {
    let sets = ["_UTF16", "_UTF8"];
    matches!(&mark.token, Token::Word(w) if w.quote_style.is_none() && sets.iter().any(|s| w.value.eq_ignore_ascii_case(s)))
        && mark.span.end == string.span.start
}

/// The text from a place of the statement on, to the end of its line.
fn spelled<'a>(lines: &[&'a str], at: tokenizer::Location) -> &'a str {
    let line = usize::try_from(at.line).ok().and_then(|n| lines.get(n.saturating_sub(1))).copied().unwrap_or("");
    let skip = usize::try_from(at.column.saturating_sub(1)).unwrap_or(0);
    line.char_indices().nth(skip).and_then(|(i, _)| line.get(i..)).unwrap_or("")
}
