//! Pieces of text that may still be unfinished: what completion and colours look at.
//!
//! Beyond [`calve_sql::lexemes`], it tells whether quotes are closed, and what is in a hint.

use calve_sql::LexemeKind;

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A word of the language.
    Keyword,
    /// Any other unquoted name.
    Word,
    /// A name in backticks.
    Quoted,
    /// A string.
    String,
    /// A number.
    Number,
    /// A comment.
    Comment,
    /// `/*+`, with which a hint begins.
    HintStart,
    /// `*/`, with which it ends.
    HintEnd,
    /// An operator or a mark of punctuation.
    Symbol,
    /// What cannot stand in a statement.
    Wrong,
}

/// A piece of text; space is between the pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lexeme {
    /// What it is.
    pub kind: Kind,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset behind its last byte.
    pub end: usize,
    /// Whether it has its closing quote or `*/`; a line comment is closed by the end of its line.
    pub closed: bool,
}

impl Lexeme {
    /// Its text.
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// Whether it is a word without quotes.
    pub fn is_plain(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Keyword)
    }

    /// Whether it begins with this character.
    pub fn is_symbol(&self, text: &str, symbol: char) -> bool {
        self.kind == Kind::Symbol && self.text(text).starts_with(symbol)
    }

    /// Whether it is this word, in any case.
    pub fn is_word(&self, text: &str, word: &str) -> bool {
        self.is_plain() && self.text(text).eq_ignore_ascii_case(word)
    }

    /// What it says without its quotes; quotes that were doubled inside are single.
    pub fn value(&self, text: &str) -> String {
        let quote = match self.kind {
            Kind::Quoted => '`',
            Kind::String => '\'',
            _ => return self.text(text).to_owned(),
        };
        // strings may have a prefix
        let inner = self.text(text).split_once(quote).map_or("", |(_, inner)| inner);
        let inner = if self.closed { inner.strip_suffix(quote).unwrap_or(inner) } else { inner };
        inner.replace(&format!("{quote}{quote}"), &quote.to_string())
    }
}

/// Cuts text into pieces.
pub fn lexemes(text: &str) -> Vec<Lexeme> {
    let mut found = vec![];
    cut(text, 0, false, &mut found);
    found
}

/// Cuts the part of a text that begins at an offset, perhaps the inside of a hint.
fn cut(text: &str, offset: usize, in_hint: bool, found: &mut Vec<Lexeme>) {
    for piece in calve_sql::lexemes(text) {
        let (start, end) = (offset + piece.range.start, offset + piece.range.end);
        let own = text.get(piece.range).unwrap_or_default();
        let (kind, closed) = match piece.kind {
            LexemeKind::Keyword => (Kind::Keyword, true),
            LexemeKind::Identifier if own.starts_with('`') => (Kind::Quoted, is_closed(own, '`')),
            LexemeKind::Identifier => (Kind::Word, true),
            LexemeKind::String => (Kind::String, is_closed(own, '\'')),
            LexemeKind::Number => (Kind::Number, true),
            LexemeKind::Comment if own.starts_with("--") => (Kind::Comment, end < offset + text.len()),
            LexemeKind::Comment => (Kind::Comment, own.len() >= 4 && own.ends_with("*/")),
            LexemeKind::Symbol => (Kind::Symbol, true),
            LexemeKind::Error => (Kind::Wrong, true),
            // hints are not nested
            LexemeKind::Hint if in_hint => (Kind::Wrong, true),
            LexemeKind::Hint => {
                hint(own, start, found);
                continue;
            }
        };
        found.push(Lexeme { kind, start, end, closed });
    }
}

/// The pieces of a hint that begins at an offset.
fn hint(text: &str, offset: usize, found: &mut Vec<Lexeme>) {
    let piece = |kind, start, end| Lexeme { kind, start: offset + start, end: offset + end, closed: true };
    let inner = text.get(3..).unwrap_or_default();
    let (inner, closed) = match inner.strip_suffix("*/") {
        Some(inner) => (inner, true),
        None => (inner, false),
    };
    found.push(piece(Kind::HintStart, 0, 3));
    cut(inner, offset + 3, true, found);
    if closed {
        found.push(piece(Kind::HintEnd, text.len() - 2, text.len()));
    }
}

/// Whether quoted text has its last quote; those inside are doubled.
fn is_closed(text: &str, quote: char) -> bool {
    text.matches(quote).count().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        lexemes(text).iter().map(|l| (l.kind, l.text(text))).collect()
    }

    #[test]
    fn text_falls_into_pieces() {
        assert_eq!(
            kinds("SELECT a1,'it''s' FROM `x y`.t$s -- c\n/* d */ WHERE 1.5e3>=b;"),
            [
                (Kind::Keyword, "SELECT"),
                (Kind::Word, "a1"),
                (Kind::Symbol, ","),
                (Kind::String, "'it''s'"),
                (Kind::Keyword, "FROM"),
                (Kind::Quoted, "`x y`"),
                (Kind::Symbol, "."),
                (Kind::Word, "t$s"),
                (Kind::Comment, "-- c"),
                (Kind::Comment, "/* d */"),
                (Kind::Keyword, "WHERE"),
                (Kind::Number, "1.5e3"),
                (Kind::Symbol, ">="),
                (Kind::Word, "b"),
                (Kind::Symbol, ";"),
            ]
        );
        assert_eq!(
            kinds("t /*+ OPTIONS('a'='b') */"),
            [
                (Kind::Word, "t"),
                (Kind::HintStart, "/*+"),
                (Kind::Keyword, "OPTIONS"),
                (Kind::Symbol, "("),
                (Kind::String, "'a'"),
                (Kind::Symbol, "="),
                (Kind::String, "'b'"),
                (Kind::Symbol, ")"),
                (Kind::HintEnd, "*/"),
            ]
        );
    }

    #[test]
    fn unfinished_pieces_are_told() {
        for text in ["'abc", "'", "'it''", "`a", "/* a", "-- a"] {
            let found = lexemes(text);
            assert_eq!(found.len(), 1, "{text}");
            assert!(found.iter().all(|l| !l.closed && l.end == text.len()), "{text}");
        }
        let text = "'it''s; \n";
        assert_eq!(lexemes(text).first().map(|l| l.value(text)).as_deref(), Some("it's; \n"));
    }

    #[test]
    fn nothing_is_left_out_but_space() {
        for text in ["", "é'日本`\u{301}", "\u{a0}x\t;;", "/*/", "/*+*/ */", "1a.b..c", "\"x\"", "💥'", "--\n--"] {
            let mut end = 0;
            for lexeme in lexemes(text) {
                assert!(text.get(end..lexeme.start).is_some_and(|gap| gap.trim().is_empty()), "{text}");
                assert!(lexeme.end > lexeme.start && text.is_char_boundary(lexeme.end), "{text}");
                end = lexeme.end;
            }
            assert!(text.get(end..).is_some_and(|gap| gap.trim().is_empty()), "{text}");
        }
    }

    #[test]
    fn hints_are_not_nested() {
        let text = "/*+".repeat(100_000);
        assert_eq!(lexemes(&text).iter().map(|l| l.kind).collect::<Vec<_>>(), [Kind::HintStart, Kind::Wrong]);
    }
}
