//! Flink SQL text to syntax tree: script splitting, statements, data types, spans. No I/O, no DataFusion.
//!
//! 1. [`split`] cuts a script into [`ScriptStatement`]s, each with its text and place.
//! 2. [`parse`] turns one into a [`Statement`]: everything but queries is parsed here, by `parser/`, one file for each
//!    kind of object; queries come from `sqlparser` with [`FlinkDialect`] in front.
//! 3. [`Query::hints`] keeps the hints that stood behind table names; [`decode_type`] reads the types of casts back.
//!
//! Spans are in the coordinates of the script.

/// sqlparser's syntax tree of queries and expressions; the one place it comes from.
pub use sqlparser::ast;

mod dialect;
mod hints;
mod parser;
pub mod print;
mod reserved;
mod script;
mod statement;
mod tokens;
mod types;

pub use dialect::FlinkDialect;
pub use hints::{Hints, TableHint};
pub use parser::{parse, parse_one};
pub use script::{ScriptStatement, is_complete, split};
pub use statement::*;
pub use types::{decode_type, parse_type};
