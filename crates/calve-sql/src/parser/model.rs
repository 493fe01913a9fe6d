//! Models.

use calve_types::Result;
use sqlparser::tokenizer::Token;

use super::Parser;
use crate::statement::{AlterModel, AlterModelChange, ColumnDef, ColumnKind, CreateModel, Statement};

impl Parser {
    /// `CREATE [OR REPLACE] [TEMPORARY] MODEL [IF NOT EXISTS] m [INPUT (..)] [OUTPUT (..)] [COMMENT 'c'] [WITH (..)] [AS query]`
    pub(super) fn create_model(&mut self) -> Result<Statement> {
        let span = self.span();
        self.expect_keywords(&["CREATE"])?;
        self.keywords(&["OR", "REPLACE"]);
        let temporary = self.keyword("TEMPORARY");
        self.expect_keywords(&["MODEL"])?;
        let if_not_exists = self.if_not_exists();
        let name = self.name("the name of a model")?;
        let input = self.model_columns("INPUT")?;
        let output = self.model_columns("OUTPUT")?;
        let comment = self.comment()?;
        let properties = self.properties()?;
        let query = if self.keyword("AS") { Some(self.query()?) } else { None };
        let model = CreateModel { name, temporary, if_not_exists, input, output, comment, properties, query, span };
        Ok(Statement::CreateModel(Box::new(model)))
    }

    /// `[INPUT (column, ..)]`
    fn model_columns(&mut self, word: &str) -> Result<Vec<ColumnDef>> {
        if !self.keyword(word) {
            return Ok(vec![]);
        }
        let mut elements = self.empty_elements();
        self.expect(&Token::LParen)?;
        self.element(&mut elements)?;
        while self.token(&Token::Comma) {
            self.element(&mut elements)?;
        }
        if elements.columns.iter().any(|column| column.kind == ColumnKind::OfQuery) {
            return Err(self.expected("a data type"));
        }
        self.expect(&Token::RParen)?;
        Ok(elements.columns)
    }

    /// `ALTER MODEL [IF EXISTS] m RENAME TO n | SET (..) | RESET (..)`
    pub(super) fn alter_model(&mut self) -> Result<Statement> {
        let span = self.span();
        self.expect_keywords(&["ALTER", "MODEL"])?;
        let if_exists = self.if_exists();
        let name = self.name("the name of a model")?;
        let change = if self.keyword("RENAME") {
            self.expect_keywords(&["TO"])?;
            AlterModelChange::Rename(self.name("the name of a model")?)
        } else if self.keyword("SET") {
            AlterModelChange::Set(self.maybe_empty(Self::property)?)
        } else if self.keyword("RESET") {
            AlterModelChange::Reset(self.maybe_empty(|p| p.string("an option's name in quotes"))?)
        } else {
            return Err(self.expected("RENAME, SET or RESET"));
        };
        Ok(Statement::AlterModel(AlterModel { name, if_exists, change, span }))
    }
}
