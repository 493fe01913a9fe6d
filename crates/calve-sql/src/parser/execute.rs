//! `EXECUTE`, `EXPLAIN` and statement sets.

use calve_types::{Error, Result, Span};
use sqlparser::tokenizer::Token;

use super::Parser;
use crate::statement::{Statement, StatementSet};

/// What EXPLAIN can tell beside the plans.
const DETAILS: [&str; 4] = ["ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE"];

impl Parser {
    /// `EXECUTE query | insert | STATEMENT SET BEGIN .. END | PLAN 'file'`
    pub(super) fn execute(&mut self) -> Result<Statement> {
        let span = self.span();
        self.at += 1;
        if self.is_keyword(0, "STATEMENT") {
            return Ok(Statement::StatementSet(self.statement_set(span)?));
        }
        if self.is_keyword(0, "PLAN") {
            return self.execute_plan();
        }
        self.query_or_insert()?.ok_or_else(|| self.expected_behind(span, "a query, INSERT, STATEMENT SET or PLAN"))
    }

    /// `BEGIN STATEMENT SET`
    pub(super) fn begin(&mut self) -> Result<Statement> {
        let span = self.span();
        self.begins_with(&["BEGIN", "STATEMENT", "SET"])?;
        Ok(Statement::BeginStatementSet { span: span.to(self.last_span()) })
    }

    /// `END`
    pub(super) fn end(&mut self) -> Result<Statement> {
        let span = self.span();
        self.expect_keywords(&["END"])?;
        Ok(Statement::EndStatementSet { span })
    }

    /// `STATEMENT SET BEGIN insert; .. END`, of a statement that begins at `span`.
    pub(super) fn statement_set(&mut self, span: Span) -> Result<StatementSet> {
        self.expect_keywords(&["STATEMENT", "SET", "BEGIN"])?;
        let mut inserts = vec![];
        loop {
            if !inserts.is_empty() && self.keyword("END") {
                break;
            }
            if !self.is_keyword(0, "INSERT") {
                return Err(self.expected(if inserts.is_empty() { "INSERT" } else { "INSERT or END" }));
            }
            let ends = |t: &sqlparser::tokenizer::TokenWithSpan| t.token == Token::SemiColon;
            let semicolon = self.tokens.iter().skip(self.at).position(ends).map(|n| self.at + n);
            // the last INSERT lacks its semicolon: END is no part of it
            let to = semicolon.unwrap_or(self.tokens.len() - usize::from(self.ends_with_end()));
            inserts.push(self.part(to).insert()?);
            self.expect(&Token::SemiColon)?;
        }
        self.hints.check_places(None::<&sqlparser::ast::Query>)?;
        Ok(StatementSet { inserts, span: span.to(self.last_span()) })
    }

    fn ends_with_end(&self) -> bool {
        matches!(self.tokens.last().map(|t| &t.token), Some(Token::Word(w)) if w.value.eq_ignore_ascii_case("END"))
    }

    /// A query or an INSERT, or nothing if something else stands here.
    fn query_or_insert(&mut self) -> Result<Option<Statement>> {
        if self.is_keyword(0, "INSERT") {
            return Ok(Some(Statement::Insert(self.insert()?)));
        }
        if self.is_keyword(0, "UPSERT") {
            return self.upsert().map(Some);
        }
        if self.at_query() { Ok(Some(Statement::Query(self.query()?))) } else { Ok(None) }
    }

    /// `EXPLAIN [PLAN FOR | details | ANALYZE] query | insert | STATEMENT SET BEGIN .. END | CREATE TABLE .. AS query`
    pub(super) fn explain(&mut self) -> Result<Statement> {
        let start = self.span();
        self.at += 1;
        let mut details: Vec<String> = vec![];
        // no detail beside others: it tells of the run, they of the plan
        let analyze = self.keyword("ANALYZE");
        if !analyze && self.is_keyword(0, "PLAN") {
            if !self.is_keyword(1, "FOR") {
                let place = self.span();
                self.at += 1;
                return Err(self.expected_behind(place, "FOR"));
            }
            self.at += 2;
        } else if !analyze && self.detail(&mut details)? {
            while self.token(&Token::Comma) {
                if !self.detail(&mut details)? {
                    return Err(self.expected("a detail of EXPLAIN, such as CHANGELOG_MODE"));
                }
            }
        }
        let span = start.to(self.last_span());
        let place = self.span();
        let statement = if self.is_keyword(0, "STATEMENT") {
            Statement::StatementSet(self.statement_set(place)?)
        } else if self.is_keyword(0, "CREATE") || self.is_keyword(0, "REPLACE") {
            let created = self.statement()?;
            let has_query = matches!(&created, Statement::CreateTable(table) if table.query.is_some());
            if !has_query {
                return Err(Error::new("syntax-error", "EXPLAIN of CREATE needs a table with AS and a query")
                    .with_detail("The statement must define a query using the AS clause (i.e. CTAS/RTAS statements).")
                    .at(self.last_span()));
            }
            created
        } else if ["DELETE", "UPDATE", "MERGE"].iter().any(|word| self.is_keyword(0, word)) {
            self.statement()?
        } else {
            self.query_or_insert()?.ok_or_else(|| self.expected("a query, INSERT or STATEMENT SET"))?
        };
        Ok(Statement::Explain { statement: Box::new(statement), details, analyze, span })
    }

    /// Reads a detail of EXPLAIN: whether there was one.
    fn detail(&mut self, details: &mut Vec<String>) -> Result<bool> {
        let place = self.span();
        let Some(detail) = DETAILS.into_iter().find(|detail| self.keyword(detail)) else { return Ok(false) };
        if details.iter().any(|known| known == detail) {
            return Err(Error::new("syntax-error", format!("EXPLAIN names '{detail}' twice"))
                .with_detail("Duplicate EXPLAIN DETAIL is not allowed.")
                .at(place));
        }
        details.push(detail.to_owned());
        Ok(true)
    }
}
