//! `SHOW`.

use calve_types::Result;

use super::Parser;
use crate::statement::{Show, ShowLike, ShowWhat, Statement};

impl Parser {
    pub(super) fn show(&mut self) -> Result<Statement> {
        let span = self.span();
        self.at += 1;
        let what = if self.keyword("CATALOGS") {
            ShowWhat::Catalogs
        } else if self.keywords(&["CURRENT", "CATALOG"]) {
            ShowWhat::CurrentCatalog
        } else if self.keyword("DATABASES") {
            ShowWhat::Databases
        } else if self.keywords(&["CURRENT", "DATABASE"]) {
            ShowWhat::CurrentDatabase
        } else if self.keyword("TABLES") {
            ShowWhat::Tables
        } else {
            return self.other_show();
        };
        let from = if self.keyword("FROM") || self.keyword("IN") { Some(self.name("a database name")?) } else { None };
        let negated = self.keyword("NOT");
        let ignore_case = self.keyword("ILIKE");
        let like = if ignore_case || self.keyword("LIKE") {
            Some(ShowLike { pattern: self.string("a pattern in quotes")?, ignore_case, negated })
        } else if negated {
            return Err(self.expected("LIKE or ILIKE"));
        } else {
            None
        };
        Ok(Statement::Show(Show { what, from, like, span }))
    }

    fn other_show(&mut self) -> Result<Statement> {
        for (words, feature) in [
            (&["CREATE", "TABLE"][..], "SHOW CREATE TABLE"),
            (&["CREATE", "VIEW"], "SHOW CREATE VIEW"),
            (&["CREATE", "CATALOG"], "SHOW CREATE CATALOG"),
            (&["CREATE", "DATABASE"], "SHOW CREATE DATABASE"),
            (&["COLUMNS"], "SHOW COLUMNS"),
            (&["VIEWS"], "SHOW VIEWS"),
            (&["FUNCTIONS"], "SHOW FUNCTIONS"),
            (&["USER", "FUNCTIONS"], "SHOW FUNCTIONS"),
            (&["MODULES"], "SHOW MODULES"),
            (&["FULL", "MODULES"], "SHOW MODULES"),
            (&["PARTITIONS"], "SHOW PARTITIONS"),
            (&["PROCEDURES"], "SHOW PROCEDURES"),
            (&["JARS"], "SHOW JARS"),
            (&["JOBS"], "SHOW JOBS"),
            (&["MODELS"], "SHOW MODELS"),
            (&["MATERIALIZED", "TABLES"], "SHOW MATERIALIZED TABLES"),
        ] {
            if self.keywords(words) {
                return Ok(self.other(feature));
            }
        }
        Err(self.expected("CATALOGS, DATABASES, TABLES or another kind of object"))
    }
}
