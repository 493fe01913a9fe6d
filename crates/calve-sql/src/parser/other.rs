//! Statements that are read and have no syntax tree.

use calve_types::{Error, Result};
use sqlparser::tokenizer::Token;

use super::{DEPTH, Parser, depth};
use crate::dialect::FlinkDialect;
use crate::statement::Statement;
use crate::tokens::span_of;

impl Parser {
    /// `MERGE INTO ..`
    pub(super) fn merge(&mut self) -> Result<Statement> {
        let span = self.span();
        let tokens: Vec<_> = self.tokens.drain(self.at..).collect();
        depth::check(&tokens)?;
        let mut parser = sqlparser::parser::Parser::new(&FlinkDialect)
            .with_recursion_limit(DEPTH)
            .with_tokens_with_locations(tokens);
        depth::on_deep_stack(|| parser.parse_statement()).map_err(|e| self.syntax_error(e))?;
        let next = parser.peek_token();
        if next.token != Token::EOF {
            return Err(Error::new(
                "syntax-error",
                format!("expected the end of the statement, found '{}'", next.token),
            )
            .at(span_of(next.span)));
        }
        Ok(Statement::Other { feature: "MERGE", span })
    }

    /// `UPSERT INTO t ..`, which is an INSERT to Flink's parser.
    pub(super) fn upsert(&mut self) -> Result<Statement> {
        let span = self.span();
        self.insert()?;
        Ok(Statement::Other { feature: "UPSERT INTO", span })
    }
}
