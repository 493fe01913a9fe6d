//! Queries and expressions, which sqlparser reads.

use calve_types::{Error, Location, Result, Span};
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::cursor::Parser;
use super::depth::{self, on_deep_stack};
use super::{DEPTH, rewrite};
use crate::dialect::{FlinkDialect, UNSUPPORTED};
use crate::grammar;
use crate::places::Places;
use crate::statement::Query;
use crate::tokens::span_of;

impl Parser {
    /// A query that takes the rest of the tokens.
    pub(crate) fn query(&mut self) -> Result<Query> {
        let span = self.span();
        if self.is_end() {
            return Err(self.expected("a query"));
        }
        let mut written: Vec<TokenWithSpan> = self.tokens.drain(self.at..).collect();
        depth::check(&written)?;
        grammar::query(&mut written, self.end_span())?;
        let places = Places::of(&written);
        let rest = rewrite::query(written);
        let whole = span.to(rest.last().map_or(span, |t| span_of(t.span)));
        let mut parser =
            sqlparser::parser::Parser::new(&FlinkDialect).with_recursion_limit(DEPTH).with_tokens_with_locations(rest);
        let parsed = on_deep_stack(|| parser.parse_query());
        let ast = match parsed {
            Ok(ast) => ast,
            Err(error) => {
                let error = self.unread(error).at(span);
                return Err(self.subquery_error(&parser.into_tokens()).unwrap_or(error));
            }
        };
        self.all_read(&parser)?;
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
        let mut tokens = self.tokens.get(self.at..to).unwrap_or_default().to_vec();
        if tokens.is_empty() {
            return Err(self.expected("an expression"));
        }
        self.at = to;
        depth::check(&tokens)?;
        grammar::expression(&mut tokens, self.span())?;
        let tokens = rewrite::query(tokens);
        let mut parser = sqlparser::parser::Parser::new(&FlinkDialect)
            .with_recursion_limit(DEPTH)
            .with_tokens_with_locations(tokens);
        let expr = on_deep_stack(|| parser.parse_expr()).map_err(|e| self.unread(e))?;
        self.all_read(&parser)?;
        Ok(expr)
    }

    /// The refusal of what Flink reads and sqlparser does not, at the place where sqlparser stopped. What our own part of
    /// the dialect says is no syntax is an error of its own.
    pub(super) fn unread(&self, error: ParserError) -> Error {
        let is_ours = matches!(&error, ParserError::ParserError(text) if !text.starts_with("Expected: "));
        let error = self.syntax_error(error);
        if is_ours || error.code != "syntax-error" || error.span.is_none() {
            return error;
        }
        Error { code: "not-supported", message: "not supported: this syntax".to_owned(), ..error }
            .with_detail(error.message)
    }

    /// Refuses what sqlparser left.
    fn all_read(&self, parser: &sqlparser::parser::Parser<'_>) -> Result<()> {
        let next = parser.peek_token_ref();
        match &next.token {
            Token::EOF => Ok(()),
            token => Err(Error::unsupported("this syntax")
                .with_detail(format!("expected the end of the statement, found '{token}'"))
                .at(span_of(next.span))),
        }
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
