//! Materialized tables.

use calve_types::{Error, Result};
use sqlparser::tokenizer::Token;

use super::Parser;
use crate::statement::{AlterMaterializedTable, CreateMaterializedTable, RefreshMode, Statement};

impl Parser {
    /// `CREATE MATERIALIZED TABLE t [(PRIMARY KEY ..)] [COMMENT 'c'] [PARTITIONED BY (..)] [WITH (..)]
    /// FRESHNESS = interval [REFRESH_MODE = mode] AS query`
    pub(super) fn create_materialized_table(&mut self) -> Result<Statement> {
        let span = self.span();
        self.expect_keywords(&["CREATE"])?;
        let replaces = self.keywords(&["OR", "REPLACE"]);
        let temporary = self.keyword("TEMPORARY");
        let refused = if replaces {
            Some("REPLACE MATERIALIZED TABLE is not supported.")
        } else if temporary {
            Some("CREATE TEMPORARY MATERIALIZED TABLE is not supported.")
        } else {
            None
        };
        if let Some(detail) = refused {
            return Err(Error::new("syntax-error", "a materialized table is neither replaced nor temporary")
                .with_detail(detail)
                .at(self.span()));
        }
        self.expect_keywords(&["MATERIALIZED", "TABLE"])?;
        let name = self.name("the name of a table")?;
        let mut elements = self.empty_elements();
        if self.token(&Token::LParen) {
            if !["CONSTRAINT", "PRIMARY", "UNIQUE"].iter().any(|word| self.is_keyword(0, word)) {
                return Err(self.expected("PRIMARY KEY"));
            }
            self.element(&mut elements)?;
            self.expect(&Token::RParen)?;
        }
        let comment = self.comment()?;
        let partitioned_by = if self.keyword("PARTITIONED") {
            self.expect_keywords(&["BY"])?;
            self.list(|p| p.ident("a partition column"))?
        } else {
            vec![]
        };
        let properties = self.properties()?;
        self.expect_keywords(&["FRESHNESS"])?;
        let freshness = self.freshness()?;
        let refresh_mode = if self.keyword("REFRESH_MODE") { Some(self.refresh_mode()?) } else { None };
        self.expect_keywords(&["AS"])?;
        let query = self.query()?;
        let table = CreateMaterializedTable {
            name,
            primary_key: elements.primary_key,
            comment,
            partitioned_by,
            properties,
            freshness,
            refresh_mode,
            query,
            span,
        };
        Ok(Statement::CreateMaterializedTable(Box::new(table)))
    }

    /// `= INTERVAL 'n' unit`
    fn freshness(&mut self) -> Result<Box<sqlparser::ast::Expr>> {
        self.expect(&Token::Eq)?;
        let from = self.at;
        self.expect_keywords(&["INTERVAL"])?;
        let signed = self.token(&Token::Minus) || self.token(&Token::Plus);
        if !signed && !self.is_string() {
            return Err(Error::new("syntax-error", "FRESHNESS takes an interval, such as INTERVAL '3' MINUTE")
                .with_detail(
                    "MATERIALIZED TABLE only supports define interval type FRESHNESS, please refer to the materialized \
                     table document.",
                )
                .at(self.last_span()));
        }
        self.string("a number in quotes")?;
        while !self.is_end() && !["AS", "REFRESH_MODE"].iter().any(|word| self.is_keyword(0, word)) {
            self.at += 1;
        }
        let to = self.at;
        self.at = from;
        self.expression_up_to(to).map(Box::new)
    }

    fn refresh_mode(&mut self) -> Result<RefreshMode> {
        self.expect(&Token::Eq)?;
        if self.keyword("FULL") {
            Ok(RefreshMode::Full)
        } else if self.keyword("CONTINUOUS") {
            Ok(RefreshMode::Continuous)
        } else {
            Err(self.expected("FULL or CONTINUOUS"))
        }
    }

    /// `ALTER MATERIALIZED TABLE t ..`
    pub(super) fn alter_materialized_table(&mut self) -> Result<Statement> {
        let span = self.span();
        self.expect_keywords(&["ALTER", "MATERIALIZED", "TABLE"])?;
        let name = self.name("the name of a table")?;
        let change = if self.keyword("SUSPEND") {
            AlterMaterializedTable::Suspend
        } else if self.keyword("RESUME") {
            AlterMaterializedTable::Resume(self.properties()?)
        } else if self.keyword("REFRESH") {
            let partition = if self.keyword("PARTITION") { self.list(Self::partition_value)? } else { vec![] };
            AlterMaterializedTable::Refresh(partition)
        } else if self.keywords(&["SET", "FRESHNESS"]) {
            AlterMaterializedTable::Freshness(self.freshness()?)
        } else if self.keywords(&["SET", "REFRESH_MODE"]) {
            AlterMaterializedTable::RefreshMode(self.refresh_mode()?)
        } else if self.keyword("SET") {
            AlterMaterializedTable::Set(self.maybe_empty(Self::property)?)
        } else if self.keyword("RESET") {
            AlterMaterializedTable::Reset(self.maybe_empty(|p| p.string("an option's name in quotes"))?)
        } else if self.keyword("AS") {
            AlterMaterializedTable::As(self.query()?)
        } else {
            return Err(self.expected("SUSPEND, RESUME, REFRESH, SET, RESET or AS"));
        };
        Ok(Statement::AlterMaterializedTable { name, change, span })
    }
}
