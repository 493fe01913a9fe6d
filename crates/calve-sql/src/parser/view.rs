//! Views.

use calve_types::Result;

use super::Parser;
use crate::statement::{AlterView, CreateView, Query, Statement};

impl Parser {
    /// `CREATE [OR REPLACE] [TEMPORARY] VIEW [IF NOT EXISTS] v [(columns)] [COMMENT 'text'] AS query`
    pub(super) fn create_view(&mut self) -> Result<Statement> {
        self.expect_keywords(&["CREATE"])?;
        let or_replace = self.keywords(&["OR", "REPLACE"]);
        let temporary = self.keyword("TEMPORARY");
        self.expect_keywords(&["VIEW"])?;
        let if_not_exists = self.if_not_exists();
        let name = self.name("the name of a view")?;
        let columns = if self.peek(0) == Some(&sqlparser::tokenizer::Token::LParen) {
            self.list(|p| p.ident("a column name"))?
        } else {
            vec![]
        };
        let comment = self.comment()?;
        self.expect_keywords(&["AS"])?;
        let (query, text) = self.query_with_text()?;
        let view = CreateView { name, temporary, or_replace, if_not_exists, columns, comment, query, text };
        Ok(Statement::CreateView(Box::new(view)))
    }

    /// `ALTER VIEW v RENAME TO w | AS query`
    pub(super) fn alter_view(&mut self) -> Result<Statement> {
        self.expect_keywords(&["ALTER", "VIEW"])?;
        let name = self.name("the name of a view")?;
        let change = if self.keyword("RENAME") {
            self.expect_keywords(&["TO"])?;
            AlterView::Rename(self.name("the name of a view")?)
        } else if self.keyword("AS") {
            let (query, text) = self.query_with_text()?;
            AlterView::As { query, text }
        } else {
            return Err(self.expected("RENAME TO or AS"));
        };
        Ok(Statement::AlterView { name, change })
    }

    /// A query and its text, from its first token to its last one or the hint behind that.
    fn query_with_text(&mut self) -> Result<(Query, String)> {
        let start = self.span().start;
        if !self.at_query() {
            return Err(self.expected("a query"));
        }
        let query = self.query()?;
        let end = query.span.end.max(query.hints.end().unwrap_or(query.span.end));
        Ok((query, self.text(start, end)))
    }
}
