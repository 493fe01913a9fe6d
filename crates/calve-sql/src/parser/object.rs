//! `CREATE`, `DROP`, `USE` and `DESCRIBE`.

use calve_types::Result;
use sqlparser::tokenizer::Token;

use super::Parser;
use crate::statement::{CreateCatalog, CreateDatabase, Statement};

impl Parser {
    pub(super) fn create(&mut self) -> Result<Statement> {
        let ahead = |p: &Self, n: usize| p.tokens.get(p.at + n).map(|t| t.token.to_string().to_ascii_uppercase());
        let mut n = 1;
        while matches!(ahead(self, n).as_deref(), Some("OR" | "REPLACE" | "TEMPORARY" | "SYSTEM" | "MATERIALIZED")) {
            n += 1;
        }
        match ahead(self, n).as_deref() {
            Some("CATALOG") if n == 1 => {
                self.at += 2;
                let if_not_exists = self.if_not_exists();
                let name = self.ident("a catalog name")?;
                let comment = self.comment()?;
                let properties = self.properties()?;
                Ok(Statement::CreateCatalog(CreateCatalog { name, if_not_exists, comment, properties }))
            }
            Some("DATABASE") if n == 1 => {
                self.at += 2;
                let if_not_exists = self.if_not_exists();
                let name = self.name("a database name")?;
                let comment = self.comment()?;
                let properties = self.properties()?;
                Ok(Statement::CreateDatabase(CreateDatabase { name, if_not_exists, comment, properties }))
            }
            Some("TABLE") if self.is_keyword(n - 1, "MATERIALIZED") => Ok(self.other("CREATE MATERIALIZED TABLE")),
            Some("TABLE") => self.create_table(),
            Some("VIEW") => self.create_view(),
            Some("FUNCTION") => {
                let start = self.at;
                self.at += n + 1;
                self.if_not_exists();
                self.name("the name of a function")?;
                self.expect_keywords(&["AS"])?;
                self.at = start;
                Ok(self.other("CREATE FUNCTION"))
            }
            Some("MODEL") => Ok(self.other("CREATE MODEL")),
            _ => {
                self.at += n;
                Err(self.expected("CATALOG, DATABASE, TABLE, VIEW or FUNCTION"))
            }
        }
    }

    pub(super) fn drop_object(&mut self) -> Result<Statement> {
        self.at += 1;
        let temporary = self.keyword("TEMPORARY");
        if self.keyword("CATALOG") {
            let if_exists = self.if_exists();
            return Ok(Statement::DropCatalog { name: self.ident("a catalog name")?, if_exists });
        }
        if self.keyword("DATABASE") {
            let if_exists = self.if_exists();
            let name = self.name("a database name")?;
            let cascade = self.keyword("CASCADE");
            if !cascade {
                self.keyword("RESTRICT");
            }
            return Ok(Statement::DropDatabase { name, if_exists, cascade });
        }
        if self.keyword("TABLE") {
            let if_exists = self.if_exists();
            return Ok(Statement::DropTable { name: self.name("a table name")?, if_exists, temporary });
        }
        if self.keyword("VIEW") {
            let if_exists = self.if_exists();
            return Ok(Statement::DropView { name: self.name("the name of a view")?, if_exists, temporary });
        }
        for (words, feature) in [
            (&["MATERIALIZED", "TABLE"][..], "DROP MATERIALIZED TABLE"),
            (&["FUNCTION"], "DROP FUNCTION"),
            (&["SYSTEM", "FUNCTION"], "DROP FUNCTION"),
            (&["MODEL"], "DROP MODEL"),
        ] {
            if self.keywords(words) {
                self.if_exists();
                self.name("a name")?;
                return Ok(self.other(feature));
            }
        }
        Err(self.expected("CATALOG, DATABASE, TABLE, VIEW or FUNCTION"))
    }

    pub(super) fn use_object(&mut self) -> Result<Statement> {
        self.at += 1;
        if self.keyword("CATALOG") {
            return Ok(Statement::UseCatalog { name: self.ident("a catalog name")? });
        }
        if self.is_keyword(0, "MODULES") && self.peek(1).is_some() {
            return Ok(self.other("USE MODULES"));
        }
        Ok(Statement::UseDatabase { name: self.name("a database name")? })
    }

    pub(super) fn describe(&mut self) -> Result<Statement> {
        self.at += 1;
        if self.is_keyword(0, "CATALOG") && self.peek(1).is_some() {
            self.at += 1;
            let extended = self.keyword("EXTENDED");
            return Ok(Statement::DescribeCatalog { name: self.ident("a catalog name")?, extended });
        }
        for feature in ["DATABASE", "FUNCTION", "JOB", "MODEL"] {
            if self.is_keyword(0, feature)
                && matches!(self.peek(1), Some(Token::Word(_) | Token::SingleQuotedString(_)))
            {
                return Ok(self.other(match feature {
                    "DATABASE" => "DESCRIBE DATABASE",
                    "FUNCTION" => "DESCRIBE FUNCTION",
                    "JOB" => "DESCRIBE JOB",
                    _ => "DESCRIBE MODEL",
                }));
            }
        }
        let extended = self.is_keyword(0, "EXTENDED") && self.peek(1).is_some() && self.keyword("EXTENDED");
        Ok(Statement::DescribeTable { name: self.name("a table name")?, extended })
    }
}
