//! Flink SQL text to syntax tree and back: script splitting, statements, data types, spans. No I/O, no DataFusion.
//!
//! 1. [`split`] cuts a script into [`ScriptStatement`]s, each with its text and place.
//! 2. [`parse`] turns one into a [`Statement`]: everything but queries is parsed here, by `parser/`, one file for each
//!    kind of object. Queries and expressions go through three hands:
//!    * `grammar/` checks them by Flink's own rules, so that what Flink refuses is refused where Flink's parser stops, and
//!      what it accepts is never called a mistake;
//!    * `parser/rewrite.rs` puts their tokens into words that sqlparser reads;
//!    * `sqlparser` builds the tree, with [`FlinkDialect`] in front.
//!
//!    What sqlparser's tree has no place for is handed through it in disguise, with spans:
//!
//!    | Flink | in the tree |
//!    |---|---|
//!    | the type of a cast | a custom type, which [`decode_type`] reads back |
//!    | a JSON function | a call, whose clauses [`json_clauses`] reads back |
//!    | a hint | not there: [`Query::hints`] keeps it by its place |
//!    | `TABLE t PARTITION BY (k, l) ORDER BY o`, an argument | a call of `TABLE` with the name, OVER its clauses |
//!    | `f(a => 1)` | a named argument |
//!    | `(a - b) DAY TO SECOND` | a call of [`DIFFERENCE`] with `a - b` and the text of the unit |
//!    | `MAP[..]`, `MULTISET[..]` | calls of `MAP` and `MULTISET` |
//!    | `a MEMBER OF b` and its like, `BETWEEN SYMMETRIC`, `IS JSON` | calls of functions of these names |
//!    | `ROLLUP`, `CUBE` inside of GROUPING SETS | calls; GROUPING SETS inside of it is an expression of its own |
//!    | `PATTERN (..) WITHIN i` | the first symbol that DEFINE defines, named [`WITHIN`] |
//!    | `FINAL f(..)`, `RUNNING f(..)` | calls of `FINAL` and `RUNNING` with the call |
//!    | `A+?` | a repetition of a repetition; `(A+)?` has a group between |
//!    | `U&'..' UESCAPE 'c'` | the string that is meant |
//!
//!    An alias is quoted in the tree, whatever it was in the text: sqlparser has keywords that are names in Flink.
//! 3. [`print`](mod@print) turns expressions and queries into text again, as Flink's SHOW CREATE spells them.
//!
//! [`keywords`] and [`lexemes`] serve a prompt: they complete and highlight what is not a statement yet.
//!
//! Spans are in the coordinates of the script.

/// sqlparser's syntax tree of queries and expressions; the one place it comes from.
pub use sqlparser::ast;

mod dialect;
mod foreign;
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
pub use foreign::instead_of;
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
