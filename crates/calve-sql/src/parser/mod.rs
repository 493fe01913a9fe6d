//! Statements from tokens: one file for each kind.

mod alter_extension;
mod alter_table;
mod change;
mod create_table;
mod cursor;
pub(crate) mod depth;
mod execute;
mod function;
mod insert;
mod locate;
mod materialized;
mod merge;
mod model;
mod object;
mod other;
mod plan;
mod query;
mod rewrite;
mod set;
mod show;
mod values;
mod view;

use calve_types::{Error, Location, Result, Span};
use sqlparser::tokenizer::Token;

pub(crate) use self::cursor::Parser;
use crate::script::{ScriptStatement, split};
use crate::statement::Statement;

/// Words that a query begins with.
const QUERY: [&str; 4] = ["SELECT", "VALUES", "WITH", "TABLE"];
/// Nesting that a query may have; deeper ones are an error.
const DEPTH: usize = 300;

/// Parses a statement of a script.
///
/// # Errors
/// `syntax-error` and what is wrong with a data type, at the place in the script.
pub fn parse(statement: &ScriptStatement) -> Result<Statement> {
    if let Some(error) = &statement.error {
        return Err(error.clone());
    }
    if let Some(set) = set::set_or_reset(&statement.text) {
        return set.map_err(|e| {
            let start = Location { line: statement.line, column: statement.column };
            e.at(Span::new(start, Location { column: start.column + 1, ..start }))
        });
    }
    let mut parser = Parser::new(statement)?;
    let parsed = parser.statement()?;
    parser.expect_end()?;
    // what holds queries has taken its hints
    parser.hints.check_places(None::<&sqlparser::ast::Query>)?;
    Ok(parsed)
}

/// Parses a text that holds one statement.
///
/// # Errors
/// As [`parse`]; `syntax-error` for none or several.
pub fn parse_one(text: &str) -> Result<Statement> {
    match split(text).as_slice() {
        [statement] => parse(statement),
        statements => Err(Error::new("syntax-error", format!("expected one statement, found {}", statements.len()))),
    }
}

impl Parser {
    /// Whether a query begins here.
    fn at_query(&self) -> bool {
        self.peek(0) == Some(&Token::LParen) || QUERY.iter().any(|word| self.is_keyword(0, word))
    }

    fn statement(&mut self) -> Result<Statement> {
        if self.at_query() {
            return Ok(Statement::Query(self.query()?));
        }
        let word = match self.peek(0) {
            Some(Token::Word(w)) if w.quote_style.is_none() => w.value.to_ascii_uppercase(),
            _ => return self.unknown(),
        };
        match word.as_str() {
            "INSERT" => Ok(Statement::Insert(self.insert()?)),
            "CREATE" => self.create(),
            "DROP" => self.drop_object(),
            "USE" => self.use_object(),
            "SHOW" => self.show(),
            "DESCRIBE" | "DESC" => self.describe(),
            "EXPLAIN" => self.explain(),
            "EXECUTE" => self.execute(),
            "BEGIN" => self.begin(),
            "END" => self.end(),
            "ALTER" => self.alter(),
            "DELETE" => self.delete(),
            "UPDATE" => self.update(),
            "TRUNCATE" => self.truncate(),
            "ANALYZE" => self.analyze(),
            "MERGE" => self.merge(),
            "UPSERT" => self.upsert(),
            "REPLACE" => self.create_table(),
            "CALL" => self.call(),
            "COMPILE" => self.compile_plan(),
            "LOAD" => self.load_module(),
            "UNLOAD" => self.unload_module(),
            "ADD" => self.add_jar(),
            "REMOVE" => self.remove_jar(),
            "STOP" => self.stop_job(),
            "CLEAR" | "QUIT" | "EXIT" | "HELP" if self.peek(1).is_none() => {
                let span = self.span();
                self.at += 1;
                Ok(Statement::Other { feature: "a command of the SQL client", span })
            }
            _ => self.unknown(),
        }
    }

    /// What is no statement: the place is that at which it is no query either.
    fn unknown(&mut self) -> Result<Statement> {
        let error = self.expected("a statement");
        let mut rest: Vec<_> = self.tokens.get(self.at..).unwrap_or_default().to_vec();
        match crate::grammar::query(&mut rest, self.end_span()) {
            Err(other) if other.span != error.span => Err(other),
            _ => Err(error),
        }
    }
}
