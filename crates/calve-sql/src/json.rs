//! The clauses of JSON functions, such as `JSON_VALUE(x, '$.a' RETURNING INT DEFAULT 0 ON EMPTY)`.
//!
//! sqlparser's tree has no place for them, so the dialect hands them through as named arguments behind the positional
//! ones, in the order they were written:
//!
//! | clause | name | value |
//! |---|---|---|
//! | `RETURNING type` | `RETURNING` | the type's text, a string |
//! | `WITH CONDITIONAL WRAPPER` | `WRAPPER` | `WITHOUT`, `CONDITIONAL` or `UNCONDITIONAL`, a string |
//! | `NULL ON EMPTY`, `EMPTY ARRAY ON ERROR` | `ON EMPTY`, `ON ERROR` | what stands before ON, a string |
//! | `DEFAULT e ON EMPTY` | `DEFAULT ON EMPTY`, `DEFAULT ON ERROR` | the expression |
//! | `NULL ON NULL`, `ABSENT ON NULL` | `ON NULL` | `NULL` or `ABSENT`, a string |
//!
//! The pairs of JSON_OBJECT and JSON_OBJECTAGG are positional: key, value, key, value. [`json_clauses`] reads all of it
//! back.

use calve_types::DataType;
use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArguments, Ident, ObjectNamePart, Value,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use crate::dialect::{function, is_word, next_is, read_type, unsupported};
use crate::types::parse_type;

/// Functions whose arguments have clauses of their own.
pub(crate) const FUNCTIONS: [&str; 7] =
    ["JSON_VALUE", "JSON_QUERY", "JSON_EXISTS", "JSON_OBJECT", "JSON_OBJECTAGG", "JSON_ARRAY", "JSON_ARRAYAGG"];

const RETURNING: &str = "RETURNING";
const WRAPPER: &str = "WRAPPER";
const ON_EMPTY: &str = "ON EMPTY";
const ON_ERROR: &str = "ON ERROR";
const DEFAULT_ON_EMPTY: &str = "DEFAULT ON EMPTY";
const DEFAULT_ON_ERROR: &str = "DEFAULT ON ERROR";
const ON_NULL: &str = "ON NULL";

/// A call of a JSON function.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JsonClauses<'a> {
    /// The positional arguments; of JSON_OBJECT and JSON_OBJECTAGG the key, value, key, value ...
    pub arguments: Vec<&'a Expr>,
    /// `RETURNING type`, of JSON_VALUE and JSON_QUERY.
    pub returning: Option<DataType>,
    /// `WITH .. WRAPPER`, of JSON_QUERY; none is [`JsonWrapper::Without`].
    pub wrapper: Option<JsonWrapper>,
    /// `.. ON EMPTY`, of JSON_VALUE and JSON_QUERY; none is NULL. The last one counts.
    pub on_empty: Option<JsonBehavior<'a>>,
    /// `.. ON ERROR`, of JSON_VALUE, JSON_QUERY and JSON_EXISTS; none is NULL, and FALSE for JSON_EXISTS. The last one
    /// counts.
    pub on_error: Option<JsonBehavior<'a>>,
    /// `.. ON NULL`, of the constructors; none is NULL for objects and ABSENT for arrays.
    pub on_null: Option<JsonOnNull>,
}

/// What JSON_QUERY puts into an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonWrapper {
    /// `WITHOUT [ARRAY] WRAPPER`
    Without,
    /// `WITH CONDITIONAL [ARRAY] WRAPPER`
    Conditional,
    /// `WITH [UNCONDITIONAL] [ARRAY] WRAPPER`
    Unconditional,
}

/// What a function gives instead of a missing value or an error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JsonBehavior<'a> {
    /// `NULL`
    Null,
    /// `ERROR`: the statement fails.
    Error,
    /// `EMPTY ARRAY`, of JSON_QUERY.
    EmptyArray,
    /// `EMPTY OBJECT`, of JSON_QUERY.
    EmptyObject,
    /// `TRUE`, of JSON_EXISTS.
    True,
    /// `FALSE`, of JSON_EXISTS.
    False,
    /// `UNKNOWN`, of JSON_EXISTS.
    Unknown,
    /// `DEFAULT e`, of JSON_VALUE.
    Default(&'a Expr),
}

/// What becomes of a value that is NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonOnNull {
    /// `NULL ON NULL`: it is written as null.
    Null,
    /// `ABSENT ON NULL`: it is left out.
    Absent,
}

/// Words before ON and what they mean.
const BEHAVIORS: [(&str, JsonBehavior<'static>); 7] = [
    ("NULL", JsonBehavior::Null),
    ("ERROR", JsonBehavior::Error),
    ("EMPTY ARRAY", JsonBehavior::EmptyArray),
    ("EMPTY OBJECT", JsonBehavior::EmptyObject),
    ("TRUE", JsonBehavior::True),
    ("FALSE", JsonBehavior::False),
    ("UNKNOWN", JsonBehavior::Unknown),
];

const WRAPPERS: [(&str, JsonWrapper); 3] = [
    ("WITHOUT", JsonWrapper::Without),
    ("CONDITIONAL", JsonWrapper::Conditional),
    ("UNCONDITIONAL", JsonWrapper::Unconditional),
];

impl JsonBehavior<'_> {
    /// The words before ON; `None` for DEFAULT.
    pub fn words(&self) -> Option<&'static str> {
        BEHAVIORS.iter().find(|(_, behavior)| behavior == self).map(|(words, _)| *words)
    }
}

impl JsonOnNull {
    /// The word before ON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Absent => "ABSENT",
        }
    }
}

/// The arguments and clauses of a call, if it is one of JSON_VALUE, JSON_QUERY, JSON_EXISTS, JSON_OBJECT, JSON_ARRAY,
/// JSON_OBJECTAGG and JSON_ARRAYAGG.
pub fn json_clauses(call: &Function) -> Option<JsonClauses<'_>> {
    let [ObjectNamePart::Identifier(name)] = call.name.0.as_slice() else { return None };
    FUNCTIONS.iter().find(|function| name.quote_style.is_none() && name.value.eq_ignore_ascii_case(function))?;
    let mut clauses = JsonClauses::default();
    let FunctionArguments::List(list) = &call.args else { return Some(clauses) };
    for argument in &list.args {
        match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => clauses.arguments.push(expr),
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(expr), .. } => clauses.read(&name.value, expr),
            _ => return None,
        }
    }
    Some(clauses)
}

impl<'a> JsonClauses<'a> {
    fn read(&mut self, name: &str, value: &'a Expr) {
        let text = match value {
            Expr::Value(value) => match &value.value {
                Value::SingleQuotedString(text) => text.as_str(),
                _ => "",
            },
            _ => "",
        };
        let behavior = || BEHAVIORS.iter().find(|(words, _)| *words == text).map(|(_, behavior)| *behavior);
        match name {
            RETURNING => self.returning = parse_type(text).ok(),
            WRAPPER => self.wrapper = WRAPPERS.iter().find(|(word, _)| *word == text).map(|(_, wrapper)| *wrapper),
            ON_EMPTY => self.on_empty = behavior(),
            ON_ERROR => self.on_error = behavior(),
            DEFAULT_ON_EMPTY => self.on_empty = Some(JsonBehavior::Default(value)),
            DEFAULT_ON_ERROR => self.on_error = Some(JsonBehavior::Default(value)),
            ON_NULL => self.on_null = Some(if text == "NULL" { JsonOnNull::Null } else { JsonOnNull::Absent }),
            _ => {}
        }
    }
}

fn named(name: &str, value: Expr) -> FunctionArg {
    let name = Ident::new(name);
    FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), operator: FunctionArgOperator::RightArrow }
}

fn clause(name: &str, text: impl Into<String>) -> FunctionArg {
    named(name, Expr::Value(Value::SingleQuotedString(text.into()).into()))
}

fn positional(value: Expr) -> FunctionArg {
    FunctionArg::Unnamed(FunctionArgExpr::Expr(value))
}

/// Takes words that stand here, or none of them.
fn take(parser: &mut Parser, words: &[&str]) -> bool {
    let found = words.iter().enumerate().all(|(n, word)| next_is(parser, n, word));
    if found {
        words.iter().for_each(|_| parser.advance_token());
    }
    found
}

/// Reads a call of one of [`FUNCTIONS`], whose name is the next token.
pub(crate) fn parse(parser: &mut Parser, name: &'static str) -> Result<Expr, ParserError> {
    let word = parser.next_token();
    parser.expect_token(&Token::LParen)?;
    let args = match name {
        "JSON_OBJECT" => object(parser)?,
        "JSON_ARRAY" => array(parser)?,
        "JSON_OBJECTAGG" => {
            let mut args = pair(parser)?;
            args.extend(on_null(parser)?);
            args
        }
        "JSON_ARRAYAGG" => {
            let mut args = vec![positional(value(parser)?)];
            if next_is(parser, 0, "ORDER") {
                return Err(unsupported(parser, "ORDER BY in JSON_ARRAYAGG"));
            }
            args.extend(on_null(parser)?);
            args
        }
        _ => path(parser, name)?,
    };
    parser.expect_token(&Token::RParen)?;
    if next_is(parser, 0, "WITHIN") && next_is(parser, 1, "GROUP") {
        return Err(unsupported(parser, &format!("WITHIN GROUP behind {name}")));
    }
    Ok(function(Ident::with_span(word.span, name), args))
}

/// An expression that may say FORMAT JSON, which Flink's parser takes and its validator refuses.
fn value(parser: &mut Parser) -> Result<Expr, ParserError> {
    let value = parser.parse_expr()?;
    if next_is(parser, 0, "FORMAT") && next_is(parser, 1, "JSON") {
        return Err(unsupported(parser, "FORMAT JSON"));
    }
    Ok(value)
}

/// Words that stand behind a name and begin no expression.
const BEHIND_A_NAME: [&str; 10] =
    ["VALUE", "AND", "OR", "IS", "IN", "LIKE", "BETWEEN", "SIMILAR", "MEMBER", "OVERLAPS"];

/// `[KEY] k VALUE v`, `k : v`.
fn pair(parser: &mut Parser) -> Result<Vec<FunctionArg>, ParserError> {
    // KEY is a name as well: the word before a key if something follows that begins an expression
    let is_key = next_is(parser, 0, "KEY")
        && match &parser.peek_nth_token_ref(1).token {
            token @ Token::Word(_) => !BEHIND_A_NAME.iter().any(|word| is_word(token, word)),
            Token::SingleQuotedString(_) | Token::Number(..) | Token::LParen | Token::Minus | Token::Plus => true,
            _ => false,
        };
    if is_key {
        parser.advance_token();
    }
    let key = parser.parse_expr()?;
    if !take(parser, &["VALUE"]) && (is_key || !parser.consume_token(&Token::Colon)) {
        return parser.expected_ref("VALUE", parser.peek_token_ref());
    }
    Ok(vec![positional(key), positional(value(parser)?)])
}

fn object(parser: &mut Parser) -> Result<Vec<FunctionArg>, ParserError> {
    let mut args = vec![];
    let has_pairs = parser.peek_token_ref().token != Token::RParen && !at_on_null(parser);
    if has_pairs {
        args.extend(pair(parser)?);
        while parser.consume_token(&Token::Comma) {
            args.extend(pair(parser)?);
        }
    }
    args.extend(on_null(parser)?);
    Ok(args)
}

fn array(parser: &mut Parser) -> Result<Vec<FunctionArg>, ParserError> {
    if parser.peek_token_ref().token == Token::RParen {
        return Ok(vec![]);
    }
    let mut args = vec![positional(value(parser)?)];
    while parser.consume_token(&Token::Comma) {
        args.push(positional(value(parser)?));
    }
    args.extend(on_null(parser)?);
    Ok(args)
}

fn at_on_null(parser: &Parser) -> bool {
    (next_is(parser, 0, "NULL") || next_is(parser, 0, "ABSENT"))
        && next_is(parser, 1, "ON")
        && next_is(parser, 2, "NULL")
}

/// `NULL | ABSENT ON NULL`
fn on_null(parser: &mut Parser) -> Result<Option<FunctionArg>, ParserError> {
    if !at_on_null(parser) {
        return Ok(None);
    }
    let word = if next_is(parser, 0, "NULL") { "NULL" } else { "ABSENT" };
    (0..3).for_each(|_| parser.advance_token());
    Ok(Some(clause(ON_NULL, word)))
}

/// `value, path [clauses]` of JSON_VALUE, JSON_QUERY and JSON_EXISTS.
fn path(parser: &mut Parser, name: &str) -> Result<Vec<FunctionArg>, ParserError> {
    let mut args = vec![positional(value(parser)?)];
    parser.expect_token(&Token::Comma)?;
    args.push(positional(parser.parse_expr()?));
    if next_is(parser, 0, "PASSING") {
        return Err(unsupported(parser, "PASSING of a JSON function"));
    }
    if name != "JSON_EXISTS" && take(parser, &["RETURNING"]) {
        let data_type = read_type(parser, ends_type)?;
        args.push(clause(RETURNING, data_type.to_string()));
    }
    if name == "JSON_QUERY" {
        args.extend(wrapper(parser)?);
    }
    while let Some(behavior) = behavior(parser, name)? {
        args.push(behavior);
    }
    Ok(args)
}

/// Whether a clause begins that may stand behind a type; types have words such as NULL and WITH too.
fn ends_type(parser: &Parser) -> bool {
    let followed = |word: &str, by: &[&str]| next_is(parser, 0, word) && by.iter().any(|next| next_is(parser, 1, next));
    let wrapper = ["WRAPPER", "ARRAY", "CONDITIONAL", "UNCONDITIONAL"];
    next_is(parser, 0, "DEFAULT")
        || followed("NULL", &["ON"])
        || followed("ERROR", &["ON"])
        || followed("EMPTY", &["ARRAY", "OBJECT"])
        || followed("WITH", &wrapper)
        || followed("WITHOUT", &wrapper)
}

/// `WITHOUT | WITH [CONDITIONAL | UNCONDITIONAL] [ARRAY] WRAPPER`
fn wrapper(parser: &mut Parser) -> Result<Option<FunctionArg>, ParserError> {
    let kind = if take(parser, &["WITHOUT"]) {
        "WITHOUT"
    } else if take(parser, &["WITH", "CONDITIONAL"]) {
        "CONDITIONAL"
    } else if take(parser, &["WITH"]) {
        take(parser, &["UNCONDITIONAL"]);
        "UNCONDITIONAL"
    } else {
        return Ok(None);
    };
    take(parser, &["ARRAY"]);
    if !take(parser, &["WRAPPER"]) {
        return parser.expected_ref("WRAPPER", parser.peek_token_ref());
    }
    Ok(Some(clause(WRAPPER, kind)))
}

/// What is given instead of a missing value or an error.
fn behavior(parser: &mut Parser, name: &str) -> Result<Option<FunctionArg>, ParserError> {
    let allowed: &[&str] = match name {
        "JSON_VALUE" => &["NULL", "ERROR"],
        "JSON_QUERY" => &["NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT"],
        _ => &["TRUE", "FALSE", "UNKNOWN", "ERROR"],
    };
    let default = if name == "JSON_VALUE" && take(parser, &["DEFAULT"]) { Some(parser.parse_expr()?) } else { None };
    let words = match default {
        Some(_) => "",
        None => {
            let found = allowed.iter().find(|words| take(parser, &words.split(' ').collect::<Vec<_>>()));
            match found {
                Some(words) => words,
                None => return Ok(None),
            }
        }
    };
    parser.expect_keyword_is(Keyword::ON)?;
    let on_empty = name != "JSON_EXISTS" && take(parser, &["EMPTY"]);
    if !on_empty && !take(parser, &["ERROR"]) {
        let expected = if name == "JSON_EXISTS" { "ERROR" } else { "EMPTY or ERROR" };
        return parser.expected_ref(expected, parser.peek_token_ref());
    }
    Ok(Some(match (default, on_empty) {
        (Some(value), true) => named(DEFAULT_ON_EMPTY, value),
        (Some(value), false) => named(DEFAULT_ON_ERROR, value),
        (None, true) => clause(ON_EMPTY, words),
        (None, false) => clause(ON_ERROR, words),
    }))
}
