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
        Token::DoubleEq | Token::Caret | Token::Ampersand | Token::Pipe | Token::ShiftLeft | Token::Tilde => {
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
                tokens.push(token);
            }
        }
    }
    Ok(Tokens { tokens, hints, end })
}

/// Whether a token is the `_UTF16` of the string directly behind it.
fn marks(mark: &TokenWithSpan, string: &TokenWithSpan) -> bool {
    matches!(&mark.token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case("_UTF16"))
        && mark.span.end == string.span.start
}

/// The text from a place of the statement on, to the end of its line.
fn spelled<'a>(lines: &[&'a str], at: tokenizer::Location) -> &'a str {
    let line = usize::try_from(at.line).ok().and_then(|n| lines.get(n.saturating_sub(1))).copied().unwrap_or("");
    let skip = usize::try_from(at.column.saturating_sub(1)).unwrap_or(0);
    line.char_indices().nth(skip).and_then(|(i, _)| line.get(i..)).unwrap_or("")
}
