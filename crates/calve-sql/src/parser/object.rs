//! `CREATE`, `ALTER`, `DROP`, `USE` and `DESCRIBE`.

use calve_types::{Error, Result};
use sqlparser::tokenizer::Token;

use super::Parser;
use crate::statement::{AlterCatalog, CreateCatalog, CreateDatabase, Statement};

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
            Some("TABLE") if self.is_keyword(n - 1, "MATERIALIZED") => self.create_materialized_table(),
            Some("TABLE") => self.create_table(),
            Some("VIEW") => self.create_view(),
            Some("FUNCTION") => self.create_function(),
            Some("MODEL") => self.create_model(),
            _ => {
                self.at += n;
                Err(self.expected("CATALOG, DATABASE, TABLE, VIEW or FUNCTION"))
            }
        }
    }

    pub(super) fn drop_object(&mut self) -> Result<Statement> {
        let span = self.span();
        self.at += 1;
        let temporary = self.keyword("TEMPORARY");
        if self.keyword("CATALOG") {
            let if_exists = self.if_exists();
            if self.peek(1) == Some(&Token::Period) {
                return Err(Error::unsupported("a catalog name of more than one part").at(self.span()));
            }
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
        if self.keyword("MODEL") {
            let if_exists = self.if_exists();
            return Ok(Statement::DropModel { name: self.name("the name of a model")?, if_exists, temporary });
        }
        if self.is_keyword(0, "MATERIALIZED") {
            if temporary {
                return Err(Error::new("syntax-error", "a materialized table is not temporary")
                    .with_detail("DROP TEMPORARY MATERIALIZED TABLE is not supported.")
                    .at(self.span()));
            }
            self.expect_keywords(&["MATERIALIZED", "TABLE"])?;
            let if_exists = self.if_exists();
            return Ok(Statement::DropMaterializedTable { name: self.name("a table name")?, if_exists });
        }
        if self.is_keyword(0, "FUNCTION") || self.is_keyword(0, "SYSTEM") {
            return self.drop_function(span, temporary);
        }
        Err(self.expected("CATALOG, DATABASE, TABLE, VIEW or FUNCTION"))
    }

    pub(super) fn use_object(&mut self) -> Result<Statement> {
        let start = self.span();
        self.at += 1;
        if self.keyword("CATALOG") {
            return Ok(Statement::UseCatalog { name: self.ident("a catalog name")? });
        }
        if self.is_keyword(0, "MODULES") {
            return self.use_modules();
        }
        // what no name follows is no USE to Flink
        let name = self.name("a database name").map_err(|error| {
            let at_name = self.last_span() != start;
            if at_name { error } else { Error { span: Some(start), ..error } }
        })?;
        Ok(Statement::UseDatabase { name })
    }

    pub(super) fn describe(&mut self) -> Result<Statement> {
        let start = self.span();
        self.at += 1;
        if self.keyword("CATALOG") {
            let extended = self.keyword("EXTENDED");
            return Ok(Statement::DescribeCatalog { name: self.ident("a catalog name")?, extended });
        }
        if self.keyword("JOB") {
            return Ok(Statement::DescribeJob { id: self.quoted("the id of a job in quotes")? });
        }
        if ["DATABASE", "FUNCTION", "MODEL"].iter().any(|word| self.is_keyword(0, word)) {
            return self.describe_object();
        }
        if self.is_keyword(0, "TABLE") && self.peek(1).is_some() {
            self.at += 1;
            self.name("a table name")?;
            return Err(Error::unsupported("DESCRIBE TABLE").with_hint("write DESCRIBE and the name").at(start));
        }
        if self.at_query() {
            self.query()?;
            return Err(Error::unsupported("DESCRIBE of a query").with_hint("write EXPLAIN").at(start));
        }
        let extended = self.keyword("EXTENDED");
        Ok(Statement::DescribeTable { name: self.name("a table name")?, extended })
    }
    /// `DATABASE | FUNCTION | MODEL [EXTENDED] name`, behind DESCRIBE.
    fn describe_object(&mut self) -> Result<Statement> {
        let word = self.take_word().unwrap_or_default().to_ascii_uppercase();
        let extended = self.keyword("EXTENDED");
        Ok(match word.as_str() {
            "DATABASE" => Statement::DescribeDatabase { name: self.name("a database name")?, extended },
            "FUNCTION" => Statement::DescribeFunction { name: self.name("the name of a function")?, extended },
            _ => Statement::DescribeModel { name: self.name("the name of a model")?, extended },
        })
    }

    pub(super) fn alter(&mut self) -> Result<Statement> {
        if self.is_keyword(1, "TABLE") {
            self.alter_table()
        } else if self.is_keyword(1, "VIEW") {
            self.alter_view()
        } else if self.is_keyword(1, "CATALOG") {
            self.alter_catalog()
        } else if self.is_keyword(1, "DATABASE") {
            self.alter_database()
        } else if self.is_keyword(1, "FUNCTION") || self.is_keyword(1, "TEMPORARY") {
            self.alter_function()
        } else if self.is_keyword(1, "MODEL") {
            self.alter_model()
        } else if self.is_keyword(1, "MATERIALIZED") {
            self.alter_materialized_table()
        } else {
            self.at += 1;
            // Flink knows ALTER SYSTEM SET, too, which sets nothing
            self.keyword("SYSTEM");
            Err(self.expected("CATALOG, DATABASE, FUNCTION, TABLE or VIEW"))
        }
    }

    /// `ALTER CATALOG c SET (..) | RESET (..) | COMMENT 'text'`
    fn alter_catalog(&mut self) -> Result<Statement> {
        self.expect_keywords(&["ALTER", "CATALOG"])?;
        let name = self.ident("a catalog name")?;
        let change = if self.keyword("SET") {
            AlterCatalog::Set(self.maybe_empty(Self::property)?)
        } else if self.keyword("RESET") {
            AlterCatalog::Reset(self.maybe_empty(|p| p.quoted("an option's name in quotes"))?)
        } else if self.keyword("COMMENT") {
            AlterCatalog::Comment(self.string("a comment in quotes")?)
        } else {
            return Err(self.expected("SET, RESET or COMMENT"));
        };
        Ok(Statement::AlterCatalog { name, change })
    }

    /// `ALTER DATABASE d SET (..)`
    fn alter_database(&mut self) -> Result<Statement> {
        self.expect_keywords(&["ALTER", "DATABASE"])?;
        let name = self.name("a database name")?;
        self.expect_keywords(&["SET"])?;
        Ok(Statement::AlterDatabase { name, properties: self.maybe_empty(Self::property)? })
    }
}
