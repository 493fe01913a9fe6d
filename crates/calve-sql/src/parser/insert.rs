//! `INSERT`.

use calve_types::{Error, Result};
use sqlparser::tokenizer::Token;

use super::{Parser, QUERY};
use crate::statement::{Insert, Name};

impl Parser {
    /// `INSERT ..` or `UPSERT ..`, up to the end of the tokens.
    pub(super) fn insert(&mut self) -> Result<Insert> {
        if !self.keyword("UPSERT") {
            self.expect_keywords(&["INSERT"])?;
        }
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

    /// A column, or a field inside a row. Flink's parser reads a type behind it, with which nothing is done.
    fn insert_column(&mut self) -> Result<Name> {
        let name = self.name("a column name")?;
        if matches!(self.peek(0), Some(Token::Word(_))) {
            let place = self.span();
            self.data_type()?;
            return Err(Error::unsupported("types in the column list of INSERT").at(place));
        }
        Ok(name)
    }
}
