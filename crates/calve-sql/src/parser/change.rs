//! DELETE, UPDATE, TRUNCATE TABLE and ANALYZE TABLE; MERGE has a file of its own.

use calve_types::{Error, Result};
use sqlparser::ast::Expr;
use sqlparser::tokenizer::Token;

use super::Parser;
use crate::hints::TableHint;
use crate::places::Places;
use crate::statement::{AnalyzeTable, AnalyzedColumns, Assignment, Delete, Ident, Name, Statement, Update};

impl Parser {
    /// `DELETE FROM t [hint] [[AS] alias] [WHERE condition]`
    pub(super) fn delete(&mut self) -> Result<Statement> {
        let span = self.span();
        let places = Places::of(self.tokens.get(self.at..).unwrap_or_default());
        self.expect_keywords(&["DELETE", "FROM"])?;
        let (table, hint, alias) = self.changed_table()?;
        let condition = self.condition()?;
        self.expect_end()?;
        self.hints.check_places(condition.as_ref())?;
        let hints = std::mem::take(&mut self.hints);
        Ok(Statement::Delete(Box::new(Delete { table, hint, alias, condition, hints, places, span })))
    }

    /// `UPDATE t [hint] [[AS] alias] SET column = value, .. [WHERE condition]`
    pub(super) fn update(&mut self) -> Result<Statement> {
        let span = self.span();
        let places = Places::of(self.tokens.get(self.at..).unwrap_or_default());
        self.expect_keywords(&["UPDATE"])?;
        let (table, hint, alias) = self.changed_table()?;
        self.expect_keywords(&["SET"])?;
        let assignments = self.assignments(self.end_before(|p, at| p.is_word_at(at, "WHERE")))?;
        let condition = self.condition()?;
        self.expect_end()?;
        self.hints.check_places(assignments.iter().map(|a| &a.value).chain(&condition))?;
        let hints = std::mem::take(&mut self.hints);
        Ok(Statement::Update(Box::new(Update { table, hint, alias, assignments, condition, hints, places, span })))
    }

    /// `column = value, ..`, up to an index.
    pub(super) fn assignments(&mut self, end: usize) -> Result<Vec<Assignment>> {
        let mut assignments = vec![];
        while assignments.is_empty() || self.token(&Token::Comma) {
            let column = self.name("a column name")?;
            self.expect(&Token::Eq)?;
            let comma = self.end_before(|p, at| p.tokens.get(at).is_some_and(|t| t.token == Token::Comma));
            assignments.push(Assignment { column, value: self.expression_up_to(comma.min(end))? });
        }
        Ok(assignments)
    }

    /// `t [hint] [[AS] alias]`
    pub(super) fn changed_table(&mut self) -> Result<(Name, Option<TableHint>, Option<Ident>)> {
        let table = self.name("the name of a table")?;
        let hint = self.hints.take_options_at(table.span.end);
        if self.is_keyword(0, "EXTEND") && self.peek(1) == Some(&Token::LParen) {
            return Err(Error::unsupported("EXTEND").at(self.span()));
        }
        let with_as = self.keyword("AS");
        let is_alias =
            with_as || !self.is_end() && !["WHERE", "SET", "USING"].iter().any(|word| self.is_keyword(0, word));
        let alias = if is_alias { Some(self.ident("an alias")?) } else { None };
        Ok((table, hint, alias))
    }

    /// `[WHERE condition]`, up to the end of the statement.
    fn condition(&mut self) -> Result<Option<Expr>> {
        if self.keyword("WHERE") { self.expression_up_to(self.tokens.len()).map(Some) } else { Ok(None) }
    }

    /// `TRUNCATE TABLE t`
    pub(super) fn truncate(&mut self) -> Result<Statement> {
        self.begins_with(&["TRUNCATE", "TABLE"])?;
        Ok(Statement::TruncateTable { table: self.name("the name of a table")? })
    }

    /// `ANALYZE TABLE t [PARTITION (k [= v], ..)] COMPUTE STATISTICS [FOR COLUMNS a, .. | FOR ALL COLUMNS]`
    pub(super) fn analyze(&mut self) -> Result<Statement> {
        let span = self.span();
        self.begins_with(&["ANALYZE", "TABLE"])?;
        let table = self.name("the name of a table")?;
        let partition = if self.keyword("PARTITION") { self.list(Self::analyzed_partition)? } else { vec![] };
        self.expect_keywords(&["COMPUTE", "STATISTICS"])?;
        let columns = if !self.keyword("FOR") {
            AnalyzedColumns::None
        } else if self.keyword("ALL") {
            self.expect_keywords(&["COLUMNS"])?;
            AnalyzedColumns::All
        } else {
            self.expect_keywords(&["COLUMNS"])?;
            let mut columns = vec![self.ident("a column name")?];
            while self.token(&Token::Comma) {
                columns.push(self.ident("a column name")?);
            }
            AnalyzedColumns::Some(columns)
        };
        Ok(Statement::AnalyzeTable(AnalyzeTable { table, partition, columns, span }))
    }

    /// `column [= literal]`
    fn analyzed_partition(&mut self) -> Result<(Ident, Option<Expr>)> {
        let column = self.ident("a partition column")?;
        let value = if self.token(&Token::Eq) { Some(self.expression(&[Token::Comma, Token::RParen])?) } else { None };
        Ok((column, value))
    }
}
