//! Compiled plans, jobs and JARs.

use calve_types::{Error, Result};

use super::Parser;
use crate::statement::{CompilePlan, Statement, StopJob};

impl Parser {
    /// `COMPILE PLAN 'file' [IF NOT EXISTS] FOR ..`, `COMPILE AND EXECUTE PLAN 'file' FOR ..`
    pub(super) fn compile_plan(&mut self) -> Result<Statement> {
        let span = self.span();
        self.expect_keywords(&["COMPILE"])?;
        let execute = self.keyword("AND");
        if execute {
            self.expect_keywords(&["EXECUTE"])?;
        }
        self.expect_keywords(&["PLAN"])?;
        let file = self.quoted("a path in quotes")?;
        let if_not_exists = !execute && self.if_not_exists();
        self.expect_keywords(&["FOR"])?;
        let place = self.span();
        let statement = if self.is_keyword(0, "STATEMENT") {
            Statement::StatementSet(self.statement_set(place)?)
        } else if self.is_keyword(0, "INSERT") {
            Statement::Insert(self.insert()?)
        } else {
            return Err(self.expected("INSERT or STATEMENT SET"));
        };
        let statement = Box::new(statement);
        Ok(Statement::CompilePlan(CompilePlan { file, if_not_exists, execute, statement, span }))
    }

    /// `PLAN 'file'`, behind EXECUTE.
    pub(super) fn execute_plan(&mut self) -> Result<Statement> {
        self.expect_keywords(&["PLAN"])?;
        Ok(Statement::ExecutePlan { file: self.quoted("a path in quotes")? })
    }

    /// `STOP JOB 'id' [WITH SAVEPOINT [WITH DRAIN]]`
    pub(super) fn stop_job(&mut self) -> Result<Statement> {
        let span = self.span();
        self.begins_with(&["STOP", "JOB"])?;
        let id = self.quoted("the id of a job in quotes")?;
        let mut stop = StopJob { id, savepoint: false, drain: false, span };
        while !stop.drain && self.is_keyword(0, "WITH") {
            let start = self.span();
            self.at += 1;
            if self.keyword("DRAIN") {
                if !stop.savepoint {
                    return Err(Error::new("syntax-error", "WITH DRAIN stands behind WITH SAVEPOINT")
                        .with_detail("WITH DRAIN could only be used after WITH SAVEPOINT.")
                        .at(start.to(self.last_span())));
                }
                stop.drain = true;
            } else if !stop.savepoint && self.keyword("SAVEPOINT") {
                stop.savepoint = true;
            } else {
                return Err(self.expected(if stop.savepoint { "DRAIN" } else { "SAVEPOINT" }));
            }
        }
        Ok(Statement::StopJob(stop))
    }

    /// `ADD JAR 'path'`
    pub(super) fn add_jar(&mut self) -> Result<Statement> {
        self.begins_with(&["ADD", "JAR"])?;
        Ok(Statement::AddJar { path: self.quoted("a path in quotes")? })
    }

    /// `REMOVE JAR 'path'`
    pub(super) fn remove_jar(&mut self) -> Result<Statement> {
        self.begins_with(&["REMOVE", "JAR"])?;
        Ok(Statement::RemoveJar { path: self.quoted("a path in quotes")? })
    }
}
