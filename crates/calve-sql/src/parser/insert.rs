//! `INSERT`.

use calve_types::{Error, Result};
use sqlparser::tokenizer::Token;

use super::{Parser, QUERY};
use crate::statement::{Ident, Insert};

impl Parser {
    /// `INSERT ..`, up to the end of the tokens.
    pub(super) fn insert(&mut self) -> Result<Insert> {
        self.expect_keywords(&["INSERT"])?;
        let overwrite = if self.keyword("OVERWRITE") {
            true
        } else if self.keyword("INTO") {
            false
        } else {
            return Err(self.expected("INTO or OVERWRITE"));
        };
        if self.is_keyword(0, "TABLE") {
            return Err(self.expected("the name of a table"));
        }
        let table = self.name("the name of a table")?;
        let hint = self.hints.take_options_at(table.span.end);
        let partition = if self.keyword("PARTITION") { self.list(Self::partition_value)? } else { vec![] };
        // a parenthesis opens a column list unless a query follows
        let is_list = self.peek(0) == Some(&Token::LParen)
            && !QUERY.iter().any(|word| self.is_keyword(1, word))
            && self.peek(1) != Some(&Token::LParen);
        let columns = if is_list { Some(self.list(Self::insert_column)?) } else { None };
        let query = self.query()?;
        Ok(Insert { table, hint, overwrite, partition, columns, query })
    }

    fn insert_column(&mut self) -> Result<Ident> {
        let column = self.ident("a column name")?;
        if self.peek(0) == Some(&Token::Period) {
            return Err(Error::unsupported("nested columns in the column list of INSERT").at(column.span));
        }
        Ok(column)
    }
}
