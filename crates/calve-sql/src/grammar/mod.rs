//! Flink's grammar of queries and expressions: whether tokens belong to it, and if not, at which token it ends.
//!
//! sqlparser reads more than Flink, and notices a mistake later or elsewhere. So every query is first gone through here,
//! by the rules of Flink's own parser, which decides by one, two or three tokens ahead; a token that it cannot take is
//! the place of its error, and ours. Where it decides by more than one token, a mistake in the second or third makes it
//! stop at the first: `a = FROM` is wrong at `=`.

mod call;
mod expr;
mod from;
mod json;
mod literal;
mod query;

use calve_types::{Error, Span};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::parser::depth::on_deep_stack;
use crate::reserved::{is_reserved, reserved_word};
use crate::tokens::span_of;

/// Nesting up to which tokens are checked; what is deeper is refused for that when it is parsed.
const DEPTH: usize = 400;

/// Where the grammar ends.
#[derive(Debug)]
struct Stop {
    /// The index of the token that is wrong.
    at: usize,
    /// The index of the token that could not be taken, which lies behind if Flink's parser stopped before it.
    found: usize,
    /// What should stand there.
    wanted: &'static str,
    /// What is wrong beside that.
    error: Option<Box<Error>>,
}

type Read = Result<(), Stop>;
/// Reads a part of the grammar.
type Rule<G> = fn(&mut G) -> Read;

/// Which kinds of expressions may stand somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    /// A query.
    Query,
    /// An expression; queries in parentheses.
    Value,
    /// An expression or a query.
    Any,
}

/// A cursor over tokens.
struct Grammar<'a> {
    tokens: &'a [TokenWithSpan],
    at: usize,
    depth: usize,
    /// The place behind the tokens.
    end: Span,
    /// The indices of aliases.
    aliases: Vec<usize>,
}

/// Checks a query that takes all tokens; `end` is the place behind them.
///
/// # Errors
/// `syntax-error` at the first token that does not belong there.
pub(crate) fn query(tokens: &mut [TokenWithSpan], end: Span) -> Result<(), Error> {
    check(tokens, end, |grammar| grammar.ordered(Context::Query))
}

/// Checks an expression that takes all tokens; `end` is the place behind them.
///
/// # Errors
/// `syntax-error` at the first token that does not belong there.
pub(crate) fn expression(tokens: &mut [TokenWithSpan], end: Span) -> Result<(), Error> {
    check(tokens, end, |grammar| grammar.expression(Context::Value))
}

/// Checks tokens and quotes the aliases among them: sqlparser has words of its own that are none in Flink, such as SEMI.
fn check(tokens: &mut [TokenWithSpan], end: Span, read: impl FnOnce(&mut Grammar<'_>) -> Read) -> Result<(), Error> {
    let mut grammar = Grammar { tokens, at: 0, depth: 0, end, aliases: vec![] };
    let read = on_deep_stack(|| read(&mut grammar));
    let (at, aliases) = (grammar.at, grammar.aliases);
    let stop = match read {
        // too deep: whoever parses it says so
        Err(stop) if stop.at == usize::MAX => return Ok(()),
        Ok(()) if at >= tokens.len() => {
            for alias in aliases {
                if let Some(Token::Word(word)) = tokens.get_mut(alias).map(|t| &mut t.token) {
                    word.quote_style = Some('`');
                    word.keyword = Keyword::NoKeyword;
                }
            }
            return Ok(());
        }
        Ok(()) => Stop { at, found: at, wanted: END, error: None },
        Err(stop) => stop,
    };
    Err(error(tokens, end, stop))
}

fn error(tokens: &[TokenWithSpan], end: Span, stop: Stop) -> Error {
    let place = tokens.get(stop.at).map_or(end, |token| span_of(token.span));
    if let Some(error) = stop.error {
        return error.at(place);
    }
    match tokens.get(stop.at).map(|t| &t.token) {
        Some(Token::Word(w)) if w.quote_style.is_none() && is_reserved(&w.value) && stop.wanted.starts_with('a') => {
            hinted(reserved_word(stop.wanted, &w.value, place), tokens, &stop)
        }
        Some(token) => hinted(
            Error::new("syntax-error", format!("expected {}, found '{token}'", stop.wanted)).at(place),
            tokens,
            &stop,
        ),
        None => {
            Error::new("syntax-error", format!("expected {}, found the end of the statement", stop.wanted)).at(place)
        }
    }
}

/// What a statement that is whole wants.
const END: &str = "the end of the statement";

/// The way out where the next statement follows without a `;`.
pub(crate) const MISSING_SEMICOLON: &str = "is a ; missing before it?";

/// Whether a token begins a line as a statement does.
pub(crate) fn begins_statement(tokens: &[TokenWithSpan], at: usize) -> bool {
    const FIRST: [&str; 16] = [
        "ALTER", "ANALYZE", "BEGIN", "CREATE", "DELETE", "DESCRIBE", "DROP", "EXECUTE", "EXPLAIN", "INSERT", "RESET",
        "SELECT", "SET", "SHOW", "UPDATE", "USE",
    ];
    let Some(token) = tokens.get(at) else { return false };
    let line = at.checked_sub(1).and_then(|before| tokens.get(before)).map_or(0, |t| t.span.end.line);
    token.span.start.line > line
        && matches!(&token.token, Token::Word(w)
            if w.quote_style.is_none() && FIRST.iter().any(|first| w.value.eq_ignore_ascii_case(first)))
}

/// What to write in the place of a function that Flink does not have, if a token is its name or among its arguments.
fn foreign_call(tokens: &[TokenWithSpan], at: usize) -> Option<&'static str> {
    /// How many tokens an argument is looked for: more are no slip of a call's first ones.
    const NEAR: usize = 32;
    let name = |at: usize| match tokens.get(at).map(|t| &t.token) {
        Some(Token::Word(w)) if w.quote_style.is_none() => crate::foreign::instead_of(&w.value),
        _ => None,
    };
    let opens = |at: usize| matches!(tokens.get(at).map(|t| &t.token), Some(Token::LParen));
    if opens(at + 1) && name(at).is_some() {
        return name(at);
    }
    let mut closed = 0_usize;
    for before in (0..at).rev().take(NEAR) {
        match tokens.get(before).map(|t| &t.token) {
            Some(Token::RParen) => closed += 1,
            Some(Token::LParen) if closed > 0 => closed -= 1,
            Some(Token::LParen) => return before.checked_sub(1).and_then(name),
            _ => {}
        }
    }
    None
}

/// An error with the way out of a mistake that is often made.
fn hinted(error: Error, tokens: &[TokenWithSpan], stop: &Stop) -> Error {
    let at = stop.at;
    let word = |at: usize, word: &str| {
        matches!(tokens.get(at).map(|t| &t.token), Some(Token::Word(w))
            if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
    };
    let versioned =
        |at: usize, names: &[&str]| names.iter().any(|name| word(at, name)) && word(at + 1, "AS") && word(at + 2, "OF");
    let hint = if stop.wanted == END && begins_statement(tokens, at) {
        MISSING_SEMICOLON
    } else if at.checked_sub(1).is_some_and(|name| versioned(name, &["VERSION"]))
        || versioned(at, &["SYSTEM_VERSION", "VERSION"])
    {
        "write the snapshot behind the table's name: /*+ OPTIONS('snapshot-id' = '..') */"
    } else if versioned(at, &["TIMESTAMP"]) {
        "write FOR SYSTEM_TIME AS OF TIMESTAMP '..'"
    } else if let Some(hint) = foreign_call(tokens, at) {
        hint
    } else if matches!(tokens.get(at).map(|t| &t.token), Some(Token::DoubleColon)) {
        "write CAST(x AS type)"
    } else if word(at, "MINUS") {
        "write EXCEPT"
    } else if (word(at, "LEFT") || word(at, "RIGHT")) && (word(at + 1, "SEMI") || word(at + 1, "ANTI")) {
        "Flink SQL has no SEMI or ANTI joins: use [NOT] EXISTS or [NOT] IN"
    } else if word(at, "WHERE") {
        "WHERE needs a FROM clause"
    } else if (word(at, "ROW") || word(at, "ROWS")) && at.checked_sub(2).is_some_and(|fetch| word(fetch, "FETCH")) {
        "write FETCH NEXT 1 ROWS ONLY"
    } else if word(at, "RECURSIVE") {
        "Flink SQL has no recursive queries"
    } else if word(at, "INSERT") {
        "write INSERT INTO t WITH .. SELECT"
    } else {
        return error;
    };
    Error { hint: None, ..error }.with_hint(hint)
}

impl Grammar<'_> {
    fn token(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead).map(|t| &t.token)
    }

    fn is(&self, ahead: usize, word: &str) -> bool {
        matches!(self.token(ahead), Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
    }

    fn is_one(&self, ahead: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(ahead, word))
    }

    /// Whether words follow each other from here on.
    fn are(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(i, word)| self.is(i, word))
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.is(0, word);
        self.at += usize::from(found);
        found
    }

    fn take_one(&mut self, words: &[&str]) -> bool {
        let found = self.is_one(0, words);
        self.at += usize::from(found);
        found
    }

    fn take_all(&mut self, words: &[&str]) -> bool {
        let found = self.are(words);
        if found {
            self.at += words.len();
        }
        found
    }

    fn sign(&mut self, sign: &Token) -> bool {
        let found = self.token(0) == Some(sign);
        self.at += usize::from(found);
        found
    }

    fn stop<T>(&self, wanted: &'static str) -> Result<T, Stop> {
        Err(Stop { at: self.at, found: self.at, wanted, error: None })
    }

    /// Stops at a token with an error of its own.
    fn refused(&self, at: usize, error: Error) -> Stop {
        Stop { at, found: at, wanted: "", error: Some(Box::new(error)) }
    }

    /// Refuses what Flink's parser reads and nothing runs.
    fn unsupported(&self, feature: &str) -> Stop {
        self.refused(self.at, Error::unsupported(feature))
    }

    fn need(&mut self, word: &'static str) -> Read {
        if self.take(word) { Ok(()) } else { self.stop(word) }
    }

    fn need_one(&mut self, words: &[&str], wanted: &'static str) -> Read {
        if self.take_one(words) { Ok(()) } else { self.stop(wanted) }
    }

    fn need_sign(&mut self, sign: &Token, wanted: &'static str) -> Read {
        if self.sign(sign) { Ok(()) } else { self.stop(wanted) }
    }

    fn open(&mut self) -> Read {
        self.need_sign(&Token::LParen, "'('")
    }

    fn close(&mut self) -> Read {
        self.need_sign(&Token::RParen, "')'")
    }

    /// Whether a name stands there.
    fn is_name(&self, ahead: usize) -> bool {
        matches!(self.token(ahead), Some(Token::Word(w))
            if w.quote_style.is_some() || !is_reserved(&w.value) && w.value != "$")
    }

    fn name(&mut self, wanted: &'static str) -> Read {
        if self.is_name(0) {
            self.at += 1;
            return Ok(());
        }
        self.stop(wanted)
    }

    /// A name that an expression or a table is given.
    fn alias_name(&mut self) -> Read {
        self.name("an alias")?;
        self.aliases.push(self.at - 1);
        Ok(())
    }

    /// `a.b.c`
    fn compound_name(&mut self, wanted: &'static str) -> Read {
        self.name(wanted)?;
        while self.token(0) == Some(&Token::Period) && self.is_name(1) {
            self.at += 2;
        }
        Ok(())
    }

    /// `(a, b)`
    fn names(&mut self) -> Read {
        self.open()?;
        self.name("a column name")?;
        while self.sign(&Token::Comma) {
            self.name("a column name")?;
        }
        self.close()
    }

    fn is_string(&self, ahead: usize) -> bool {
        matches!(
            self.token(ahead),
            Some(
                Token::SingleQuotedString(_)
                    | Token::UnicodeStringLiteral(_)
                    | Token::NationalStringLiteral(_)
                    | Token::EscapedStringLiteral(_)
            )
        )
    }

    fn number(&mut self, wanted: &'static str) -> Read {
        match self.token(0) {
            Some(Token::Number(..) | Token::Placeholder(_)) => {
                self.at += 1;
                Ok(())
            }
            _ => self.stop(wanted),
        }
    }

    /// Reads what Flink's parser decides for by looking `tokens` ahead: whether it does. A mistake in these tokens makes it
    /// decide against it.
    fn ahead(&mut self, tokens: usize, read: impl FnOnce(&mut Self) -> Read) -> Result<bool, Stop> {
        let start = self.at;
        match read(self) {
            Ok(()) => Ok(true),
            Err(stop) if stop.found < start + tokens => {
                self.at = start;
                while self.aliases.pop_if(|alias| *alias >= start).is_some() {}
                Ok(false)
            }
            Err(stop) => Err(stop),
        }
    }

    /// `, item, item`; a comma that no item follows is no part of it.
    fn more(&mut self, item: fn(&mut Self) -> Read) -> Read {
        while self.token(0) == Some(&Token::Comma) {
            let more = self.ahead(2, |g| {
                g.at += 1;
                item(g)
            })?;
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Goes one level deeper. What is too deep is taken as it is, up to the end.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Read) -> Read {
        if self.depth >= DEPTH {
            self.at = self.tokens.len();
            return Err(Stop { at: usize::MAX, found: usize::MAX, wanted: "", error: None });
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }
}
