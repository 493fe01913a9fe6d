//! Queries and expressions, which sqlparser reads.

use calve_types::{Error, Location, Result, Span};
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::cursor::Parser;
use super::depth::{self, on_deep_stack};
use super::{DEPTH, rewrite};
use crate::dialect::{FlinkDialect, UNSUPPORTED};
use crate::places::Places;
use crate::reserved;
use crate::statement::Query;
use crate::tokens::span_of;

/// Refuses what sqlparser would read in another way than Flink, or not at all.
fn check_clauses(tokens: &[TokenWithSpan]) -> Result<()> {
    let word = |i: usize, word: &str| rewrite::is_word(tokens.get(i), &[word]);
    for (i, token) in tokens.iter().enumerate() {
        if word(i, "MINUS") && ["SELECT", "VALUES", "WITH", "ALL", "DISTINCT"].iter().any(|k| word(i + 1, k)) {
            return Err(Error::new("syntax-error", "MINUS is not an operator of Flink SQL")
                .with_hint("write EXCEPT")
                .at(span_of(token.span)));
        }
        if word(i, "COLLATE") {
            let behind_string = i
                .checked_sub(1)
                .and_then(|at| tokens.get(at))
                .is_some_and(|t| matches!(t.token, Token::SingleQuotedString(_)));
            let error = if behind_string {
                Error::unsupported("COLLATE")
            } else {
                Error::new("syntax-error", "COLLATE is not an operator of Flink SQL")
            };
            return Err(error.at(span_of(token.span)));
        }
        if word(i, "FETCH")
            && (word(i + 1, "FIRST") || word(i + 1, "NEXT"))
            && (word(i + 2, "ROW") || word(i + 2, "ROWS"))
        {
            let place = tokens.get(i + 2).map_or(token.span, |t| t.span);
            return Err(Error::new("syntax-error", "FETCH needs a number of rows")
                .with_hint("write FETCH NEXT 1 ROWS ONLY")
                .at(span_of(place)));
        }
        if (word(i, "SEMI") || word(i, "ANTI")) && word(i + 1, "JOIN") {
            return Err(Error::new("syntax-error", "Flink SQL has no SEMI or ANTI joins")
                .with_hint("use [NOT] EXISTS or [NOT] IN")
                .at(span_of(token.span)));
        }
    }
    Ok(())
}

impl Parser {
    /// A query that takes the rest of the tokens.
    pub(crate) fn query(&mut self) -> Result<Query> {
        let span = self.span();
        if self.is_end() {
            return Err(self.expected("a query"));
        }
        let written: Vec<TokenWithSpan> = self.tokens.drain(self.at..).collect();
        let places = Places::of(&written);
        let rest = rewrite::query(written);
        check_clauses(&rest)?;
        depth::check(&rest)?;
        let whole = span.to(rest.last().map_or(span, |t| span_of(t.span)));
        let mut parser =
            sqlparser::parser::Parser::new(&FlinkDialect).with_recursion_limit(DEPTH).with_tokens_with_locations(rest);
        let parsed = on_deep_stack(|| parser.parse_query()).map_err(|e| self.syntax_error(e)).and_then(|ast| {
            let next = parser.peek_token();
            match next.token {
                Token::EOF => Ok(ast),
                token => Err(Error::new("syntax-error", format!("expected the end of the statement, found '{token}'"))
                    .at(span_of(next.span))),
            }
        });
        let ast = parsed.map_err(|error| self.subquery_error(&parser.into_tokens()).unwrap_or(error).at(span))?;
        reserved::check(&ast)?;
        self.hints.check_places(Some(&ast))?;
        Ok(Query { ast, hints: std::mem::take(&mut self.hints), places, span: whole })
    }

    /// An expression that stands before one of `ends` at the same depth of parentheses.
    pub(crate) fn expression(&mut self, ends: &[Token]) -> Result<sqlparser::ast::Expr> {
        let to = self.end_before(|p, at| p.tokens.get(at).is_some_and(|t| ends.contains(&t.token)));
        self.expression_up_to(to)
    }

    /// An expression of the tokens up to an index.
    pub(super) fn expression_up_to(&mut self, to: usize) -> Result<sqlparser::ast::Expr> {
        let tokens = self.tokens.get(self.at..to).unwrap_or_default().to_vec();
        if tokens.is_empty() {
            return Err(self.expected("an expression"));
        }
        self.at = to;
        let tokens = rewrite::query(tokens);
        check_clauses(&tokens)?;
        depth::check(&tokens)?;
        let mut parser = sqlparser::parser::Parser::new(&FlinkDialect)
            .with_recursion_limit(DEPTH)
            .with_tokens_with_locations(tokens);
        let expr = on_deep_stack(|| parser.parse_expr()).map_err(|e| self.syntax_error(e))?;
        let next = parser.peek_token();
        if next.token != Token::EOF {
            return Err(Error::new("syntax-error", format!("unexpected '{}'", next.token)).at(span_of(next.span)));
        }
        reserved::check(&expr)?;
        Ok(expr)
    }

    /// sqlparser's error, whose place is a part of its text.
    pub(super) fn syntax_error(&self, error: ParserError) -> Error {
        let text = match error {
            ParserError::ParserError(text) | ParserError::TokenizerError(text) => text,
            ParserError::RecursionLimitExceeded => {
                return Error::new("syntax-error", format!("query is nested more than {DEPTH} levels deep"));
            }
        };
        let (message, place) = match text.rsplit_once(" at Line: ") {
            Some((message, place)) => (message, place.split_once(", Column: ")),
            None => (text.as_str(), None),
        };
        let at =
            place.and_then(|(line, column)| Some(Location { line: line.parse().ok()?, column: column.parse().ok()? }));
        let start = at.filter(|at| at.line > 0).unwrap_or(self.end);
        if let Some(feature) = message.strip_prefix(UNSUPPORTED) {
            return Error::unsupported(feature).at(Span::new(start, Location { column: start.column + 1, ..start }));
        }
        let message =
            message.trim_start_matches("Expected: ").replace(", found: EOF", ", found: the end of the statement");
        let message = match message.split_once(", found: ") {
            Some((wanted, found)) if !found.starts_with("the end") => format!("expected {wanted}, found '{found}'"),
            Some((wanted, found)) => format!("expected {wanted}, found {found}"),
            None => message,
        };
        Error::new("syntax-error", message).at(Span::new(start, Location { column: start.column + 1, ..start }))
    }
}
