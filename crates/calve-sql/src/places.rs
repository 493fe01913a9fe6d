//! Places that sqlparser's syntax tree does not keep: those of words and signs before an operand.

use calve_types::{Location, Span};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::tokens::span_of;

/// What an expression or clause may begin with that the tree has no place for.
const LEADING: [&str; 42] = [
    "(",
    "[",
    "-",
    "+",
    "NOT",
    "CAST",
    "TRY_CAST",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "INTERVAL",
    "ARRAY",
    "MAP",
    "MULTISET",
    "ROW",
    "EXTRACT",
    "SUBSTRING",
    "OVERLAY",
    "TRIM",
    "POSITION",
    "CEIL",
    "FLOOR",
    "VALUES",
    "WHERE",
    "QUALIFY",
    "INSERT",
    "RECURSIVE",
    "EXISTS",
    "LEFT",
    "RIGHT",
    "FULL",
    "JOIN",
    "CASE",
    "ROWS",
    "RANGE",
    "INNER",
    "UPDATE",
    "DELETE",
    "MERGE",
    "DISTINCT",
    "ALL",
    "UNBOUNDED",
];

/// The tokens of a query: where each stands, and which of the words that may come before an expression it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places(Vec<(Span, Option<u8>)>);

impl Places {
    /// Of tokens in their order.
    pub(crate) fn of(tokens: &[TokenWithSpan]) -> Self {
        let known = |token: &Token| {
            let text = match token {
                Token::Word(word) if word.quote_style.is_none() => word.value.to_ascii_uppercase(),
                Token::LParen => "(".to_owned(),
                Token::LBracket => "[".to_owned(),
                Token::Minus => "-".to_owned(),
                Token::Plus => "+".to_owned(),
                _ => return None,
            };
            LEADING.iter().position(|word| *word == text).and_then(|i| u8::try_from(i).ok())
        };
        Self(tokens.iter().map(|t| (span_of(t.span), known(&t.token))).collect())
    }

    /// The place of the token directly before the one at `at`, if it is one of `words`. Opening brackets between them are
    /// passed over, unless `(` is one of the words.
    pub fn before(&self, at: Location, words: &[&str]) -> Option<Location> {
        let mut index = self.index(at)?.checked_sub(1)?;
        while matches!(self.word(index), Some("(" | "[")) && !words.contains(&"(") {
            index = index.checked_sub(1)?;
        }
        self.among(index, words)
    }

    /// The place of the nearest of `words` among the `count` tokens before the one at `at`.
    pub fn nearest(&self, at: Location, words: &[&str], count: usize) -> Option<Location> {
        let index = self.index(at)?;
        (index.saturating_sub(count)..index).rev().find_map(|i| self.among(i, words))
    }

    /// The place of the first of `words` behind the token at `at`.
    pub fn after(&self, at: Location, words: &[&str]) -> Option<Location> {
        (self.index(at)?..self.0.len()).find_map(|i| self.among(i, words))
    }

    /// The place of the token behind the one at `at`.
    pub fn behind(&self, at: Location) -> Option<Location> {
        Some(self.0.get(self.index(at)? + 1)?.0.start)
    }

    /// The whole token that begins at `at`; empty if none does.
    pub fn token(&self, at: Location) -> Span {
        self.index(at).and_then(|index| self.0.get(index)).map_or(Span { start: at, end: at }, |(place, _)| *place)
    }

    fn index(&self, at: Location) -> Option<usize> {
        self.0.binary_search_by_key(&at, |(place, _)| place.start).ok()
    }

    fn word(&self, index: usize) -> Option<&'static str> {
        LEADING.get(usize::from(self.0.get(index)?.1?)).copied()
    }

    fn among(&self, index: usize, words: &[&str]) -> Option<Location> {
        let word = self.word(index)?;
        words.contains(&word).then(|| self.0.get(index).map(|(place, _)| place.start)).flatten()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Statement;

    fn places(sql: &str) -> Places {
        let Statement::Query(query) = crate::parse_one(sql).unwrap() else { unreachable!() };
        query.places
    }

    fn at(column: u32) -> Location {
        Location { line: 1, column }
    }

    #[test]
    fn words_before_operands() {
        let places = places("SELECT CAST((a) AS INT), NOT b, - c FROM t");
        assert_eq!(places.before(at(14), &["("]), Some(at(13)));
        assert_eq!(places.before(at(13), &["CAST"]), Some(at(8)));
        assert_eq!(places.before(at(30), &["NOT"]), Some(at(26)));
        assert_eq!(places.before(at(35), &["-"]), Some(at(33)));
        assert_eq!(places.before(at(35), &["NOT"]), None);
        assert_eq!(places.before(at(9), &["-"]), None);
        assert_eq!(places.nearest(at(35), &["NOT"], 5), Some(at(26)));
        assert_eq!(places.behind(at(33)), Some(at(35)));
        assert_eq!(places.token(at(26)), Span { start: at(26), end: at(29) });
        assert_eq!(places.token(at(27)), Span { start: at(27), end: at(27) });
    }
}
