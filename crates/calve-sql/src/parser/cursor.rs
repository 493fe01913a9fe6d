//! A cursor over the tokens of a statement, and what many statements have in common.

use calve_types::{Error, Location, Result, Span};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::grammar::{MISSING_SEMICOLON, begins_statement};
use crate::hints::Hints;
use crate::reserved::{is_reserved, reserved_word};
use crate::script::ScriptStatement;
use crate::statement::{Ident, Name, Property, Text};
use crate::tokens::{span_of, tokenize};

/// A cursor over the tokens of one statement.
pub(crate) struct Parser {
    pub(super) tokens: Vec<TokenWithSpan>,
    pub(super) at: usize,
    /// The place behind the last token, where the `;` stands.
    pub(super) end: Location,
    pub(crate) hints: Hints,
    /// What the tokens were made of.
    source: Option<ScriptStatement>,
}

impl Parser {
    pub(crate) fn new(statement: &ScriptStatement) -> Result<Self> {
        let tokens = tokenize(statement)?;
        Ok(Self { tokens: tokens.tokens, at: 0, end: tokens.end, hints: tokens.hints, source: Some(statement.clone()) })
    }

    /// A parser over tokens that stand somewhere in a statement.
    pub(crate) fn over(tokens: Vec<TokenWithSpan>, end: Location) -> Self {
        Self { tokens, at: 0, end, hints: Hints::default(), source: None }
    }

    /// Takes the tokens up to `to`, with their hints, as a statement of its own.
    pub(super) fn part(&mut self, to: usize) -> Self {
        let tokens = self.tokens.get(self.at..to).unwrap_or_default().to_vec();
        let (start, last) = (self.span().start, tokens.last().map_or(self.span().start, |t| span_of(t.span).end));
        self.at = to;
        let hints = self.hints.take_between(start, last);
        Self { tokens, at: 0, end: self.span().start, hints, source: None }
    }

    /// The text of the statement from `start` to `end`; empty outside of it.
    pub(super) fn text(&self, start: Location, end: Location) -> String {
        self.source.as_ref().map_or_else(String::new, |source| source.slice(Span::new(start, end)).to_owned())
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead).map(|t| &t.token)
    }

    /// The place behind the last token, as a span.
    pub(super) fn end_span(&self) -> Span {
        Span::new(self.end, Location { column: self.end.column + 1, ..self.end })
    }

    /// The place of the next token, or that of the end.
    pub(crate) fn span(&self) -> Span {
        self.tokens.get(self.at).map_or_else(|| self.end_span(), |t| span_of(t.span))
    }

    /// The place of the token before.
    pub(crate) fn last_span(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or_else(|| self.span(), |t| span_of(t.span))
    }

    /// How many tokens were read.
    pub(crate) fn read(&self) -> usize {
        self.at
    }

    pub(crate) fn is_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub(crate) fn expected(&self, what: &str) -> Error {
        let found = self.peek(0).map_or_else(|| "the end of the statement".to_owned(), |t| format!("'{t}'"));
        Error::new("syntax-error", format!("expected {what}, found {found}")).at(self.span())
    }

    /// As [`Self::expected`], at the word of a statement that nothing known follows: there Flink notices it.
    pub(super) fn expected_behind(&self, word: Span, what: &str) -> Error {
        Error { span: Some(word), ..self.expected(what) }
    }

    pub(crate) fn expect_end(&self) -> Result<()> {
        if self.is_end() {
            return Ok(());
        }
        let error = self.expected("the end of the statement");
        Err(if begins_statement(&self.tokens, self.at) { error.with_hint(MISSING_SEMICOLON) } else { error })
    }

    pub(crate) fn is_keyword(&self, ahead: usize, keyword: &str) -> bool {
        matches!(self.peek(ahead), Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(keyword))
    }

    pub(crate) fn keyword(&mut self, keyword: &str) -> bool {
        self.keywords(&[keyword])
    }

    pub(crate) fn keywords(&mut self, keywords: &[&str]) -> bool {
        let found = keywords.iter().enumerate().all(|(i, k)| self.is_keyword(i, k));
        if found {
            self.at += keywords.len();
        }
        found
    }

    /// The words that a statement begins with. Without the second one it is none, from the first word on.
    pub(super) fn begins_with(&mut self, words: &[&'static str]) -> Result<()> {
        let first = self.span();
        match words {
            [word, second, rest @ ..] => {
                self.expect_keywords(&[word])?;
                if !self.keyword(second) {
                    return Err(self.expected_behind(first, second));
                }
                self.expect_keywords(rest)
            }
            words => self.expect_keywords(words),
        }
    }

    pub(crate) fn expect_keywords(&mut self, keywords: &[&str]) -> Result<()> {
        keywords.iter().try_for_each(|k| if self.keyword(k) { Ok(()) } else { Err(self.expected(k)) })
    }

    pub(crate) fn token(&mut self, token: &Token) -> bool {
        let found = self.peek(0) == Some(token);
        if found {
            self.at += 1;
        }
        found
    }

    pub(crate) fn expect(&mut self, token: &Token) -> Result<()> {
        if self.token(token) { Ok(()) } else { Err(self.expected(&format!("'{token}'"))) }
    }

    /// An unquoted word.
    pub(crate) fn take_word(&mut self) -> Option<String> {
        match self.peek(0) {
            Some(Token::Word(w)) if w.quote_style.is_none() => {
                let word = w.value.clone();
                self.at += 1;
                Some(word)
            }
            _ => None,
        }
    }

    /// A string literal, `U&'..'` included.
    pub(crate) fn take_string(&mut self) -> Option<String> {
        match self.peek(0) {
            Some(Token::SingleQuotedString(s) | Token::UnicodeStringLiteral(s)) => {
                let text = s.clone();
                self.at += 1;
                Some(text)
            }
            _ => None,
        }
    }

    /// One or more string literals, which are one text.
    fn strings(&mut self, what: &str) -> Result<String> {
        let mut text = self.string(what)?;
        while let Some(more) = self.take_string() {
            text.push_str(&more);
        }
        Ok(text)
    }

    pub(crate) fn string(&mut self, what: &str) -> Result<String> {
        self.take_string().ok_or_else(|| self.expected(what))
    }

    pub(crate) fn number(&mut self, what: &str) -> Result<u64> {
        let value = match self.peek(0) {
            Some(Token::Number(n, false)) => n.parse().ok(),
            _ => None,
        };
        match value {
            Some(value) => {
                self.at += 1;
                Ok(value)
            }
            None => Err(self.expected(what)),
        }
    }

    pub(crate) fn ident(&mut self, what: &str) -> Result<Ident> {
        let span = self.span();
        match self.peek(0) {
            Some(Token::Word(w)) if w.quote_style.is_some() || !is_reserved(&w.value) => {
                let value = w.value.clone();
                self.at += 1;
                Ok(Ident { value, span })
            }
            Some(Token::Word(w)) => Err(reserved_word(what, &w.value, span)),
            _ => Err(self.expected(what)),
        }
    }

    pub(crate) fn name(&mut self, what: &str) -> Result<Name> {
        let first = self.ident(what)?;
        let mut name = Name { parts: vec![first.value], span: first.span };
        while self.peek(0) == Some(&Token::Period) {
            let dot = self.span();
            self.at += 1;
            // a dot that no name follows is where Flink stops
            let part = self.ident(what).map_err(|error| Error { span: Some(dot), ..error })?;
            name.parts.push(part.value);
            name.span = name.span.to(part.span);
        }
        Ok(name)
    }

    /// `( item, item )`, at least one.
    pub(crate) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect(&Token::LParen)?;
        let mut items = vec![item(self)?];
        while self.token(&Token::Comma) {
            items.push(item(self)?);
        }
        self.expect(&Token::RParen)?;
        Ok(items)
    }

    /// `WITH ('k' = 'v', ...)`; empty without WITH.
    pub(crate) fn properties(&mut self) -> Result<Vec<Property>> {
        if !self.keyword("WITH") {
            return Ok(vec![]);
        }
        self.maybe_empty(Self::property)
    }

    /// `'k' = 'v'`
    pub(super) fn property(&mut self) -> Result<Property> {
        let start = self.span();
        let key = self.strings("an option's name in quotes")?;
        self.expect(&Token::Eq).map_err(unnamed)?;
        let value = self.strings("an option's value in quotes").map_err(unnamed)?;
        Ok(Property { key, value, span: start.to(self.last_span()) })
    }

    pub(super) fn if_not_exists(&mut self) -> bool {
        self.keywords(&["IF", "NOT", "EXISTS"])
    }

    pub(super) fn if_exists(&mut self) -> bool {
        self.keywords(&["IF", "EXISTS"])
    }

    /// `COMMENT 'text'`.
    pub(crate) fn comment(&mut self) -> Result<Option<String>> {
        if self.keyword("COMMENT") { self.string("a comment in quotes").map(Some) } else { Ok(None) }
    }

    /// `column = literal` of a PARTITION clause.
    pub(super) fn partition_value(&mut self) -> Result<(Ident, sqlparser::ast::Expr)> {
        let column = self.ident("a partition column")?;
        self.expect(&Token::Eq)?;
        Ok((column, self.expression(&[Token::Comma, Token::RParen])?))
    }

    /// A text in quotes.
    pub(super) fn quoted(&mut self, what: &str) -> Result<Text> {
        let span = self.span();
        Ok(Text { value: self.string(what)?, span })
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self.peek(0), Some(Token::SingleQuotedString(_) | Token::UnicodeStringLiteral(_)))
    }

    /// Whether the token of an index is an unquoted word.
    pub(super) fn is_word_at(&self, at: usize, word: &str) -> bool {
        matches!(self.tokens.get(at).map(|t| &t.token), Some(Token::Word(w))
            if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
    }

    /// The index of the first token from here on, outside of parentheses and brackets, at which `ends` says so; behind
    /// the last one if there is none.
    pub(super) fn end_before(&self, ends: impl Fn(&Self, usize) -> bool) -> usize {
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(self.at) {
            if depth == 0 && ends(self, at) {
                return at;
            }
            match token.token {
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// `( item, item )` or `()`.
    pub(super) fn maybe_empty<T>(&mut self, item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        if self.peek(0) == Some(&Token::LParen) && self.peek(1) == Some(&Token::RParen) {
            self.at += 2;
            return Ok(vec![]);
        }
        self.list(item)
    }
}

/// An error that does not name what was found: in the place of an option's value that may be a secret.
fn unnamed(error: Error) -> Error {
    let expected = error.message.split(", found ").next().unwrap_or_default().to_owned();
    Error { message: expected, ..error }
}
