//! Statements that are recognised by name: enough of their syntax is read to tell them from mistakes.

use calve_types::Result;
use sqlparser::tokenizer::Token;

use super::Parser;
use crate::statement::Statement;

/// A piece of a statement's beginning.
#[derive(Clone, Copy)]
enum Piece {
    /// A word.
    Word(&'static str),
    /// One of some words.
    OneOf(&'static [&'static str], &'static str),
    /// `IF EXISTS`, or nothing.
    IfExists,
    /// A name of one or more parts.
    Name,
    /// A string.
    String,
    /// `(`
    Open,
}

use Piece::{IfExists, Name, OneOf, Open, String, Word};

/// How the statements begin, and their names. Those that begin with the same words differ in what follows.
const STATEMENTS: [(&[Piece], &str); 18] = [
    (
        &[Word("ALTER"), Word("CATALOG"), Name, OneOf(&["SET", "RESET", "COMMENT"], "SET, RESET or COMMENT")],
        "ALTER CATALOG",
    ),
    (&[Word("ALTER"), Word("DATABASE"), Name, Word("SET")], "ALTER DATABASE"),
    (&[Word("ALTER"), Word("MATERIALIZED"), Word("TABLE"), Name], "ALTER MATERIALIZED TABLE"),
    (
        &[Word("ALTER"), Word("MODEL"), IfExists, Name, OneOf(&["SET", "RESET", "RENAME"], "SET, RESET or RENAME")],
        "ALTER MODEL",
    ),
    (
        &[Word("ALTER"), OneOf(&["FUNCTION", "TEMPORARY"], "CATALOG, DATABASE, FUNCTION, TABLE or VIEW")],
        "ALTER FUNCTION",
    ),
    (&[Word("DELETE"), Word("FROM"), Name], "DELETE"),
    (&[Word("UPDATE"), Name], "UPDATE"),
    (&[Word("MERGE"), Word("INTO"), Name], "MERGE"),
    (&[Word("UPSERT"), Word("INTO"), Name], "UPSERT INTO"),
    (&[Word("REPLACE"), Word("TABLE"), Name], "REPLACE TABLE"),
    (&[Word("CALL"), Name, Open], "CALL"),
    (&[Word("TRUNCATE"), Word("TABLE"), Name], "TRUNCATE TABLE"),
    (&[Word("ANALYZE"), Word("TABLE"), Name, OneOf(&["PARTITION", "COMPUTE"], "COMPUTE STATISTICS")], "ANALYZE TABLE"),
    (&[Word("COMPILE"), OneOf(&["PLAN", "AND"], "PLAN or AND EXECUTE PLAN")], "COMPILE PLAN"),
    (&[OneOf(&["LOAD", "UNLOAD"], "LOAD"), Word("MODULE"), Name], "LOAD and UNLOAD MODULE"),
    (&[Word("ADD"), Word("JAR"), String], "ADD JAR"),
    (&[Word("REMOVE"), Word("JAR"), String], "REMOVE JAR"),
    (&[Word("STOP"), Word("JOB"), String], "STOP JOB"),
];

impl Parser {
    /// A statement that is not one of those with a syntax tree.
    pub(super) fn other_statement(&mut self) -> Result<Statement> {
        let start = self.at;
        let mut furthest = (start, self.expected("a statement"));
        for (pieces, feature) in STATEMENTS {
            self.at = start;
            match pieces.iter().try_for_each(|piece| self.piece(*piece)) {
                Ok(()) => {
                    self.at = start;
                    return Ok(self.other(feature));
                }
                Err(error) if self.at > furthest.0 => furthest = (self.at, error),
                Err(_) => {}
            }
        }
        self.at = start;
        Err(furthest.1)
    }

    fn piece(&mut self, piece: Piece) -> Result<()> {
        match piece {
            Word(word) => self.expect_keywords(&[word]),
            OneOf(words, expected) => {
                if words.iter().any(|word| self.keyword(word)) {
                    Ok(())
                } else {
                    Err(self.expected(expected))
                }
            }
            IfExists => {
                self.if_exists();
                Ok(())
            }
            Name => self.name("a name").map(drop),
            String => self.string("a text in quotes").map(drop),
            Open => self.expect(&Token::LParen),
        }
    }
}
