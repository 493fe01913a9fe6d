//! Flink SQL text to syntax tree and back: script splitting, statements, data types, spans. No I/O, no DataFusion.
//!
//! 1. [`split`] cuts a script into [`ScriptStatement`]s, each with its text and place.
//! 2. [`parse`] turns one into a [`Statement`]: everything but queries is parsed here, by `parser/`, one file for each
//!    kind of object; queries come from `sqlparser` with [`FlinkDialect`] in front, after `parser/rewrite.rs` has put
//!    their tokens into words that sqlparser reads. What its tree has no place for is handed through it in disguise:
//!    [`decode_type`] reads the types of casts back, [`json_clauses`] the clauses of JSON functions, [`Query::hints`]
//!    keeps the hints that stood behind table names.
//! 3. [`print`](mod@print) turns expressions and queries into text again, as Flink's SHOW CREATE spells them.
//!
//! [`keywords`] and [`lexemes`] serve a prompt: they complete and highlight what is not a statement yet.
//!
//! Spans are in the coordinates of the script.

/// sqlparser's syntax tree of queries and expressions; the one place it comes from.
pub use sqlparser::ast;

mod dialect;
mod grammar;
mod hints;
mod json;
mod keywords;
mod lexeme;
mod parser;
mod places;
pub mod print;
mod reserved;
mod script;
mod statement;
mod tokens;
mod types;

pub use dialect::FlinkDialect;
pub use hints::{Hints, TableHint};
pub use json::{JsonBehavior, JsonClauses, JsonOnNull, JsonWrapper, json_clauses};
pub use keywords::keywords;
pub use lexeme::{Lexeme, LexemeKind, lexemes};
pub use parser::{parse, parse_one};
pub use places::Places;
pub use reserved::is_reserved;
pub use script::{ScriptStatement, is_complete, split};
pub use statement::*;
pub use types::{decode_type, parse_type};
