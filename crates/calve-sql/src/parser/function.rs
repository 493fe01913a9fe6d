//! Functions, procedures and modules.

use calve_types::{Error, Result};
use sqlparser::tokenizer::Token;

use super::Parser;
use crate::statement::{
    AlterFunction, Call, CallArgument, CreateFunction, DropFunction, FunctionLanguage, FunctionScope, Ident, Name,
    Statement, Text,
};

impl Parser {
    /// `CREATE [OR REPLACE] [TEMPORARY [SYSTEM]] FUNCTION [IF NOT EXISTS] f AS 'class' [LANGUAGE l] [USING JAR 'a', ..]`
    pub(super) fn create_function(&mut self) -> Result<Statement> {
        let span = self.span();
        self.expect_keywords(&["CREATE"])?;
        let or_replace = self.keywords(&["OR", "REPLACE"]);
        let scope = self.function_scope()?;
        self.expect_keywords(&["FUNCTION"])?;
        let if_not_exists = self.if_not_exists();
        let name = self.function_name(scope)?;
        let (class, language) = self.class()?;
        let jars = self.jars(language)?;
        let function = CreateFunction { name, scope, or_replace, if_not_exists, class, language, jars, span };
        Ok(Statement::CreateFunction(Box::new(function)))
    }

    /// `ALTER [TEMPORARY [SYSTEM]] FUNCTION [IF EXISTS] f AS 'class' [LANGUAGE l]`
    pub(super) fn alter_function(&mut self) -> Result<Statement> {
        let span = self.span();
        self.expect_keywords(&["ALTER"])?;
        let scope = if self.is_keyword(0, "TEMPORARY") { self.function_scope()? } else { FunctionScope::Catalog };
        self.expect_keywords(&["FUNCTION"])?;
        let if_exists = self.if_exists();
        let name = self.name("the name of a function")?;
        let (class, language) = self.class()?;
        let function = AlterFunction { name, scope, if_exists, class, language, span };
        Ok(Statement::AlterFunction(Box::new(function)))
    }

    /// `[SYSTEM] FUNCTION [IF EXISTS] f`, behind DROP.
    pub(super) fn drop_function(&mut self, span: calve_types::Span, temporary: bool) -> Result<Statement> {
        let system = self.keyword("SYSTEM");
        self.expect_keywords(&["FUNCTION"])?;
        let if_exists = self.if_exists();
        let name = self.name("the name of a function")?;
        Ok(Statement::DropFunction(DropFunction { name, temporary, system, if_exists, span }))
    }

    /// `[TEMPORARY [SYSTEM]]`
    fn function_scope(&mut self) -> Result<FunctionScope> {
        let temporary = self.keyword("TEMPORARY");
        let place = self.span();
        match (temporary, self.keyword("SYSTEM")) {
            (true, true) => Ok(FunctionScope::TemporarySystem),
            (true, false) => Ok(FunctionScope::Temporary),
            (false, false) => Ok(FunctionScope::Catalog),
            (false, true) => Err(Error::new("syntax-error", "a system function is temporary")
                .with_detail(
                    "CREATE SYSTEM FUNCTION is not supported, system functions can only be registered as temporary \
                     function, you can use CREATE TEMPORARY SYSTEM FUNCTION instead.",
                )
                .at(place)),
        }
    }

    fn function_name(&mut self, scope: FunctionScope) -> Result<Name> {
        if scope == FunctionScope::TemporarySystem {
            let Ident { value, span } = self.ident("the name of a function")?;
            return Ok(Name { parts: vec![value], span });
        }
        self.name("the name of a function")
    }

    /// `AS 'class' [LANGUAGE l]`
    fn class(&mut self) -> Result<(Text, Option<FunctionLanguage>)> {
        self.expect_keywords(&["AS"])?;
        let class = self.quoted("the name of a class in quotes")?;
        if !self.keyword("LANGUAGE") {
            return Ok((class, None));
        }
        let languages = [
            ("JAVA", FunctionLanguage::Java),
            ("SCALA", FunctionLanguage::Scala),
            ("SQL", FunctionLanguage::Sql),
            ("PYTHON", FunctionLanguage::Python),
        ];
        match languages.into_iter().find(|(word, _)| self.keyword(word)) {
            Some((_, language)) => Ok((class, Some(language))),
            None => Err(self.expected("JAVA, SCALA, SQL or PYTHON")),
        }
    }

    /// `[USING JAR 'a', JAR 'b', ..]`
    fn jars(&mut self, language: Option<FunctionLanguage>) -> Result<Vec<Text>> {
        let place = self.last_span();
        if !self.keyword("USING") {
            return Ok(vec![]);
        }
        let language = match language {
            Some(FunctionLanguage::Sql) => Some("SQL"),
            Some(FunctionLanguage::Python) => Some("PYTHON"),
            _ => None,
        };
        if let Some(language) = language {
            return Err(Error::new("syntax-error", format!("a function in {language} has no JAR"))
                .with_detail(format!("CREATE FUNCTION USING JAR syntax is not applicable to {language} language."))
                .at(place));
        }
        let mut jars = vec![];
        while jars.is_empty() || self.token(&Token::Comma) {
            self.expect_keywords(&["JAR"])?;
            jars.push(self.quoted("a path in quotes")?);
        }
        Ok(jars)
    }

    /// `CALL procedure(argument, name => argument, ..)`
    pub(super) fn call(&mut self) -> Result<Statement> {
        let span = self.span();
        self.expect_keywords(&["CALL"])?;
        let procedure = self.name("the name of a procedure")?;
        self.expect(&Token::LParen)?;
        let mut arguments = vec![];
        while !self.token(&Token::RParen) {
            if !arguments.is_empty() {
                self.expect(&Token::Comma)?;
            }
            let start = self.span();
            let name = if self.peek(1) == Some(&Token::RArrow) {
                let name = self.ident("the name of an argument")?;
                self.expect(&Token::RArrow)?;
                Some(name)
            } else {
                None
            };
            if ["DEFAULT", "SELECT", "VALUES", "WITH", "TABLE", "MODEL"].iter().any(|word| self.is_keyword(0, word)) {
                return Err(Error::unsupported("DEFAULT, tables and queries as arguments of CALL").at(self.span()));
            }
            let value = self.expression(&[Token::Comma, Token::RParen])?;
            arguments.push(CallArgument { name, value, span: start.to(self.last_span()) });
        }
        Ok(Statement::Call(Call { procedure, arguments, span: span.to(self.last_span()) }))
    }

    /// `LOAD MODULE m [WITH (..)]`
    pub(super) fn load_module(&mut self) -> Result<Statement> {
        self.begins_with(&["LOAD", "MODULE"])?;
        Ok(Statement::LoadModule { name: self.ident("the name of a module")?, properties: self.properties()? })
    }

    /// `UNLOAD MODULE m`
    pub(super) fn unload_module(&mut self) -> Result<Statement> {
        self.begins_with(&["UNLOAD", "MODULE"])?;
        Ok(Statement::UnloadModule { name: self.ident("the name of a module")? })
    }

    /// `MODULES m, ..`, behind USE.
    pub(super) fn use_modules(&mut self) -> Result<Statement> {
        self.expect_keywords(&["MODULES"])?;
        let mut names = vec![self.ident("the name of a module")?];
        while self.token(&Token::Comma) {
            names.push(self.ident("the name of a module")?);
        }
        Ok(Statement::UseModules { names })
    }
}
