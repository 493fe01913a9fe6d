//! Finds the subquery that holds what sqlparser does not read.

use calve_types::Error;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::depth::on_deep_stack;
use super::{DEPTH, Parser};
use crate::dialect::FlinkDialect;

/// Tokens that may be parsed again in search of an error.
const EFFORT: usize = 1_000_000;

/// Where the queries in parentheses begin and end: the index of their first token and of the `)`, or of the end of the
/// tokens. Inner ones come before outer ones.
fn subqueries(tokens: &[TokenWithSpan]) -> Vec<(usize, usize)> {
    let begins_query = |i: usize| {
        matches!(tokens.get(i).map(|t| &t.token), Some(Token::Word(w)) if w.quote_style.is_none()
            && ["SELECT", "WITH", "VALUES"].iter().any(|k| w.value.eq_ignore_ascii_case(k)))
    };
    let mut open = vec![];
    let mut found = vec![];
    for (i, token) in tokens.iter().enumerate() {
        match token.token {
            Token::LParen => open.push(i + 1),
            Token::RParen => found.extend(open.pop().filter(|&from| begins_query(from)).map(|from| (from, i))),
            _ => {}
        }
    }
    let unclosed = open.into_iter().rev().filter(|&from| begins_query(from)).map(|from| (from, tokens.len()));
    found.extend(unclosed);
    found
}

impl Parser {
    /// The error of the first subquery that cannot be read by itself. sqlparser forgets it: it tries to read what
    /// stands in parentheses in another way, and complains of that.
    pub(super) fn subquery_error(&self, tokens: &[TokenWithSpan]) -> Option<Error> {
        let mut effort = 0;
        subqueries(tokens)
            .into_iter()
            .take_while(|(from, to)| {
                effort += to - from;
                effort <= EFFORT
            })
            .find_map(|(from, to)| self.subquery(tokens.get(from..tokens.len().min(to + 1))?))
    }

    /// The error of a query that stands alone.
    fn subquery(&self, tokens: &[TokenWithSpan]) -> Option<Error> {
        let mut parser = sqlparser::parser::Parser::new(&FlinkDialect)
            .with_recursion_limit(DEPTH)
            .with_tokens_with_locations(tokens.to_vec());
        on_deep_stack(|| parser.parse_query()).err().map(|error| self.unread(error))
    }
}
