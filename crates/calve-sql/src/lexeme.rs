//! Pieces of text for highlighting, half-typed text included.

use std::ops::Range;

use crate::keywords::is_keyword;

/// A piece of text that is no white space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lexeme {
    /// What it is.
    pub kind: LexemeKind,
    /// Where it stands, in bytes of the text.
    pub range: Range<usize>,
}

/// What a [`Lexeme`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LexemeKind {
    /// A word of the grammar or a reserved word.
    Keyword,
    /// Any other word, or a name in backticks.
    Identifier,
    /// A string in single quotes, with the prefix of `X'0A'` and `U&'..'`.
    String,
    /// A number.
    Number,
    /// `-- ..` or `/* .. */`.
    Comment,
    /// `/*+ .. */`.
    Hint,
    /// An operator or a mark of punctuation.
    Symbol,
    /// What cannot stand in Flink SQL, such as a name in double quotes.
    Error,
}

/// Cuts text into lexemes. It never fails: what is not closed yet reaches to the end. Takes linear time.
pub fn lexemes(text: &str) -> Vec<Lexeme> {
    let mut found = vec![];
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let (kind, length) = next(rest);
        let end = at + length.max(1);
        if let Some(kind) = kind {
            found.push(Lexeme { kind, range: at..end.min(text.len()) });
        }
        at = end;
    }
    found
}

/// The first lexeme, or none for white space, and how many bytes it takes.
fn next(text: &str) -> (Option<LexemeKind>, usize) {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return (None, 0) };
    let second = chars.next();
    if first.is_whitespace() {
        return (None, text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len()));
    }
    let (kind, length) = match (first, second) {
        ('-', Some('-')) => (LexemeKind::Comment, text.find('\n').unwrap_or(text.len())),
        ('/', Some('*')) => {
            let end = text.get(2..).and_then(|inner| inner.find("*/")).map_or(text.len(), |at| at + 4);
            (if text.starts_with("/*+") { LexemeKind::Hint } else { LexemeKind::Comment }, end)
        }
        ('\'', _) => (LexemeKind::String, quoted(text, '\'')),
        ('x' | 'X' | 'n' | 'N', Some('\'')) => (LexemeKind::String, 1 + quoted(text.get(1..).unwrap_or(""), '\'')),
        ('u' | 'U', Some('&')) if text.get(2..).is_some_and(|rest| rest.starts_with('\'')) => {
            (LexemeKind::String, 2 + quoted(text.get(2..).unwrap_or(""), '\''))
        }
        ('`', _) => (LexemeKind::Identifier, quoted(text, '`')),
        ('"', _) => {
            // what was meant as a name or a string ends in its line
            (LexemeKind::Error, quoted_until(text, '"', Some('\n')))
        }
        (c, _) if c.is_ascii_digit() => (LexemeKind::Number, number(text)),
        ('.', Some(c)) if c.is_ascii_digit() => (LexemeKind::Number, number(text)),
        (c, _) if is_word(c) => {
            let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
            let keyword = text.get(..end).is_some_and(is_keyword);
            (if keyword { LexemeKind::Keyword } else { LexemeKind::Identifier }, end)
        }
        ('<', Some('>' | '=')) | ('>', Some('=')) | ('|', Some('|')) | ('=', Some('>')) => (LexemeKind::Symbol, 2),
        ('+' | '-' | '*' | '/' | '%' | '=' | '<' | '>' | '(' | ')' | '[' | ']' | ',' | '.' | ';' | ':' | '?', _)
        | ('{' | '}', _) => (LexemeKind::Symbol, 1),
        (c, _) => (LexemeKind::Error, c.len_utf8()),
    };
    (Some(kind), length)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// How far the piece reaches that begins with a quote: behind the next one that is not doubled, or to the end.
fn quoted(text: &str, quote: char) -> usize {
    quoted_until(text, quote, None)
}

/// As [`quoted`], but no further than to the character `end`.
fn quoted_until(text: &str, quote: char, end: Option<char>) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if Some(c) == end {
            return at;
        }
        if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    text.len()
}

/// How far a number reaches: digits, a fraction, an exponent.
fn number(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or("");
        from + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
    };
    let mut end = digits(0);
    if text.get(end..).is_some_and(|rest| rest.starts_with('.')) {
        end = digits(end + 1);
    }
    let exponent = text.get(end..).unwrap_or("");
    if exponent.starts_with(['e', 'E']) {
        let sign = usize::from(exponent.get(1..).is_some_and(|rest| rest.starts_with(['+', '-'])));
        let behind = digits(end + 1 + sign);
        if behind > end + 1 + sign {
            end = behind;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::{LexemeKind, lexemes};

    fn kinds(text: &str) -> Vec<(LexemeKind, &str)> {
        lexemes(text).into_iter().map(|l| (l.kind, &text[l.range])).collect()
    }

    #[test]
    fn pieces() {
        use LexemeKind::{Comment, Error, Hint, Identifier, Keyword, Number, String, Symbol};
        assert_eq!(
            kinds("select a, `b``c` FROM t /*+ OPTIONS('k'='v') */ WHERE x<>1.5e-3 -- end"),
            [
                (Keyword, "select"),
                (Identifier, "a"),
                (Symbol, ","),
                (Identifier, "`b``c`"),
                (Keyword, "FROM"),
                (Identifier, "t"),
                (Hint, "/*+ OPTIONS('k'='v') */"),
                (Keyword, "WHERE"),
                (Identifier, "x"),
                (Symbol, "<>"),
                (Number, "1.5e-3"),
                (Comment, "-- end"),
            ]
        );
        assert_eq!(
            kinds("X'0A' 'it''s' U&'é' \"a\" != 1e .5 1.2.3 ROW<"),
            [
                (String, "X'0A'"),
                (String, "'it''s'"),
                (String, "U&'é'"),
                (Error, "\"a\""),
                (Error, "!"),
                (Symbol, "="),
                (Number, "1"),
                (Identifier, "e"),
                (Number, ".5"),
                (Number, "1.2"),
                (Number, ".3"),
                (Keyword, "ROW"),
                (Symbol, "<"),
            ]
        );
    }

    #[test]
    fn half_typed_text() {
        use LexemeKind::{Comment, Error, Hint, Identifier, String};
        for (text, kind) in [
            ("'abc; SELECT", String),
            ("`ab c", Identifier),
            ("/* a", Comment),
            ("/*+ a", Hint),
            ("\"a b", Error),
            ("X'", String),
            ("U&'", String),
            ("'", String),
            ("/*/", Comment),
        ] {
            assert_eq!(kinds(text), [(kind, text)]);
        }
        assert_eq!(kinds("\"a\nb")[1].1, "b");
        assert!(lexemes("").is_empty() && lexemes(" \n").is_empty());
    }

    #[test]
    fn linear_time() {
        let started = std::time::Instant::now();
        for piece in ["/*", "'", "`a", "\"", "\"a\" ", "-- a\n", "é ", "1e", "/* a */"] {
            drop(lexemes(&piece.repeat(200_000)));
        }
        assert!(started.elapsed().as_secs() < 20);
    }
}
