//! Flink's SQL for sqlparser: its lexical rules and the expressions sqlparser cannot read.

use std::any::TypeId;

use calve_types::Error;
use sqlparser::ast::{
    CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, TrimWhereField, UnaryOperator, Value, WindowSpec, WindowType,
};
use sqlparser::dialect::{Dialect, GenericDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::json;
use crate::tokens::location_of;
use crate::types::ENCODED;

/// How strongly `=` binds among sqlparser's operators.
const COMPARISON: u8 = 20;

/// The dialect of Flink SQL.
#[derive(Debug)]
pub struct FlinkDialect;

/// How the text of an error begins that refuses a feature by name.
pub(crate) const UNSUPPORTED: &str = "not supported: ";

/// Refuses a feature at the next token.
pub(crate) fn unsupported(parser: &Parser, feature: &str) -> ParserError {
    let at = parser.peek_token_ref().span.start;
    ParserError::ParserError(format!("{UNSUPPORTED}{feature} at Line: {}, Column: {}", at.line, at.column))
}

pub(crate) fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

pub(crate) fn next_is(parser: &Parser, ahead: usize, word: &str) -> bool {
    is_word(&parser.peek_nth_token_ref(ahead).token, word)
}

fn call(name: Ident, args: Vec<Expr>) -> Expr {
    function(name, args.into_iter().map(|e| FunctionArg::Unnamed(FunctionArgExpr::Expr(e))).collect())
}

/// A plain call of a function.
pub(crate) fn function(name: Ident, args: Vec<FunctionArg>) -> Expr {
    Expr::Function(Function {
        name: ObjectName::from(vec![name]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: vec![] }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: vec![],
    })
}

/// Our error in sqlparser's clothes: the place is a part of the text.
fn to_parser_error(error: Error) -> ParserError {
    let at = error.span.unwrap_or_default().start;
    ParserError::ParserError(format!("{} at Line: {}, Column: {}", error.message, at.line, at.column))
}

/// Reads a data type with our own parser: all tokens up to a `)` or a place where `ends` says so.
pub(crate) fn read_type(
    parser: &mut Parser,
    ends: impl Fn(&Parser) -> bool,
) -> Result<calve_types::DataType, ParserError> {
    let mut tokens: Vec<TokenWithSpan> = vec![];
    let mut depth = 0_usize;
    loop {
        match &parser.peek_token_ref().token {
            Token::EOF => break,
            Token::RParen if depth == 0 => break,
            _ if depth == 0 && !tokens.is_empty() && ends(parser) => break,
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        tokens.push(parser.next_token());
    }
    // what is read is NULL or not by itself: Flink's parser takes NOT NULL for elements and fields only
    if let [.., not, null] = tokens.as_slice()
        && is_word(&not.token, "NOT")
        && is_word(&null.token, "NULL")
    {
        return parser.expected_ref("the end of the type", not);
    }
    let end = location_of(parser.peek_token_ref().span.start);
    let mut types = crate::parser::Parser::over(tokens, end);
    types.data_type().and_then(|t| types.expect_end().map(|()| t)).map_err(to_parser_error)
}

/// `CAST(e AS type)`; the type is read by our own parser.
fn cast(parser: &mut Parser, kind: CastKind) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.advance_token();
    let expr = parser.parse_expr()?;
    parser.expect_keyword_is(Keyword::AS)?;
    let data_type = read_type(parser, |_| false)?;
    parser.expect_token(&Token::RParen)?;
    let data_type = DataType::Custom(ObjectName::from(vec![Ident::new(ENCODED)]), vec![data_type.to_string()]);
    Ok(Expr::Cast { kind, expr: Box::new(expr), data_type, array: false, format: None })
}

/// `MAP[k, v, ...]` or `MULTISET[a, b, ...]` as a call.
fn constructor(parser: &mut Parser, name: &str) -> Result<Expr, ParserError> {
    let word = parser.next_token();
    parser.expect_token(&Token::LBracket)?;
    let entries = if parser.peek_token_ref().token == Token::RBracket {
        vec![]
    } else {
        parser.parse_comma_separated(Parser::parse_expr)?
    };
    parser.expect_token(&Token::RBracket)?;
    Ok(call(Ident::with_span(word.span, name), entries))
}

/// `GROUPING SETS (..)` inside of GROUPING SETS.
fn grouping_sets(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let sets = parser.parse_comma_separated(|p| {
        p.expect_token(&Token::LParen)?;
        if p.consume_token(&Token::RParen) {
            return Ok(vec![]);
        }
        let set = p.parse_comma_separated(Parser::parse_expr)?;
        p.expect_token(&Token::RParen)?;
        Ok(set)
    })?;
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::GroupingSets(sets))
}

/// `FINAL f(..)` and `RUNNING f(..)` of MATCH_RECOGNIZE as calls of `FINAL` and `RUNNING`.
fn semantics(parser: &mut Parser) -> Result<Expr, ParserError> {
    let word = parser.next_token();
    let name = if is_word(&word.token, "FINAL") { "FINAL" } else { "RUNNING" };
    let inner = parser.parse_prefix()?;
    Ok(call(Ident::with_span(word.span, name), vec![inner]))
}

/// `POSITION(a IN b)`. sqlparser reads it in several ways, each of which reads what is inside again.
fn position(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.advance_token();
    let expr = parser.parse_subexpr(FlinkDialect.prec_value(Precedence::Between))?;
    parser.expect_keyword_is(Keyword::IN)?;
    let within = parser.parse_expr()?;
    if next_is(parser, 0, "FROM") {
        return Err(unsupported(parser, "POSITION with FROM"));
    }
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Position { expr: Box::new(expr), r#in: Box::new(within) })
}

/// `NOT EXISTS (query)`. sqlparser would let NOT bind stronger than what may follow, such as IS NULL.
fn not_exists(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.advance_token();
    Ok(match parser.parse_subexpr(FlinkDialect.prec_value(Precedence::UnaryNot))? {
        Expr::Exists { subquery, negated: false } => Expr::Exists { subquery, negated: true },
        other => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(other) },
    })
}

/// `TRIM([[BOTH | LEADING | TRAILING] [what] FROM] e)`. sqlparser wants to know what is trimmed.
fn trim(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.advance_token();
    let sides =
        [("BOTH", TrimWhereField::Both), ("LEADING", TrimWhereField::Leading), ("TRAILING", TrimWhereField::Trailing)];
    let trim_where = sides.into_iter().find(|(word, _)| next_is(parser, 0, word)).map(|(_, side)| side);
    if trim_where.is_some() {
        parser.advance_token();
    }
    let what = if trim_where.is_some() && next_is(parser, 0, "FROM") { None } else { Some(parser.parse_expr()?) };
    let (expr, trim_what) = if trim_where.is_some() || next_is(parser, 0, "FROM") {
        parser.expect_keyword_is(Keyword::FROM)?;
        (Some(parser.parse_expr()?), what.map(Box::new))
    } else {
        (what, None)
    };
    parser.expect_token(&Token::RParen)?;
    match expr {
        Some(expr) => Ok(Expr::Trim { expr: Box::new(expr), trim_where, trim_what, trim_characters: None }),
        None => parser.expected_ref("an expression", parser.peek_token_ref()),
    }
}

/// `TABLE name [PARTITION BY ..] [ORDER BY ..]`, an argument of a table function, as a call of `TABLE` with the name; what
/// follows the name is its window.
fn table_argument(parser: &mut Parser) -> Result<Expr, ParserError> {
    let word = parser.next_token();
    let name = parser.parse_object_name(false)?;
    let parts: Vec<Ident> = name.0.iter().filter_map(|part| part.as_ident().cloned()).collect();
    let name = match <[Ident; 1]>::try_from(parts) {
        Ok([name]) => Expr::Identifier(name),
        Err(parts) => Expr::CompoundIdentifier(parts),
    };
    let Expr::Function(mut table) = call(Ident::with_span(word.span, "TABLE"), vec![name]) else {
        return parser.expected_ref("the name of a table", parser.peek_token_ref());
    };
    let clause = |parser: &mut Parser, word: &str| {
        let found = next_is(parser, 0, word) && next_is(parser, 1, "BY");
        if found {
            parser.advance_token();
            parser.advance_token();
        }
        // more than one stand in parentheses: behind a comma the next argument begins
        let list = found && parser.peek_token_ref().token == Token::LParen;
        if list {
            parser.advance_token();
        }
        (found, list)
    };
    let (mut partition_by, mut order_by) = (vec![], vec![]);
    if let (true, list) = clause(parser, "PARTITION") {
        partition_by =
            if list { parser.parse_comma_separated(Parser::parse_expr)? } else { vec![parser.parse_expr()?] };
        if list {
            parser.expect_token(&Token::RParen)?;
        }
    }
    if let (true, list) = clause(parser, "ORDER") {
        order_by = if list {
            parser.parse_comma_separated(Parser::parse_order_by_expr)?
        } else {
            vec![parser.parse_order_by_expr()?]
        };
        if list {
            parser.expect_token(&Token::RParen)?;
        }
    }
    if !(partition_by.is_empty() && order_by.is_empty()) {
        let spec = WindowSpec { window_name: None, partition_by, order_by, window_frame: None };
        table.over = Some(WindowType::WindowSpec(spec));
    }
    Ok(Expr::Function(table))
}

impl Dialect for FlinkDialect {
    fn dialect(&self) -> TypeId {
        TypeId::of::<GenericDialect>()
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`'
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_alphabetic() || ch == '_' || ch == '$'
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        ch.is_alphanumeric() || ch == '_' || ch == '$'
    }

    fn supports_unicode_string_literal(&self) -> bool {
        true
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn supports_match_recognize(&self) -> bool {
        true
    }

    fn supports_window_clause_named_window_reference(&self) -> bool {
        true
    }

    fn supports_window_function_null_treatment_arg(&self) -> bool {
        true
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_parens_around_table_factor(&self) -> bool {
        true
    }

    fn supports_table_versioning(&self) -> bool {
        true
    }

    fn supports_interval_options(&self) -> bool {
        true
    }

    fn require_interval_qualifier(&self) -> bool {
        true
    }

    fn supports_named_fn_args_with_rarrow_operator(&self) -> bool {
        true
    }

    fn supports_string_literal_concatenation(&self) -> bool {
        true
    }

    fn supports_left_associative_joins_without_parens(&self) -> bool {
        true
    }

    fn supports_nested_comments(&self) -> bool {
        false
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        matches!(
            keyword,
            Keyword::ARRAY
                | Keyword::CASE
                | Keyword::CAST
                | Keyword::CEIL
                | Keyword::CONVERT
                | Keyword::CURRENT_DATE
                | Keyword::CURRENT_TIME
                | Keyword::CURRENT_TIMESTAMP
                | Keyword::LOCALTIME
                | Keyword::LOCALTIMESTAMP
                | Keyword::EXISTS
                | Keyword::EXTRACT
                | Keyword::FLOOR
                | Keyword::INTERVAL
                | Keyword::NOT
                | Keyword::OVERLAY
                | Keyword::SUBSTRING
                | Keyword::TRIM
        )
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        let opens = |token: &Token| parser.peek_nth_token_ref(1).token == *token;
        if next_is(parser, 0, "NOT") && next_is(parser, 1, "EXISTS") {
            Some(not_exists(parser))
        } else if next_is(parser, 0, "CAST") && opens(&Token::LParen) {
            Some(cast(parser, CastKind::Cast))
        } else if next_is(parser, 0, "TRY_CAST") && opens(&Token::LParen) {
            Some(cast(parser, CastKind::TryCast))
        } else if next_is(parser, 0, "INTERVAL") {
            // sqlparser would read it twice, and what is inside it four times
            parser.advance_token();
            Some(parser.parse_interval())
        } else if next_is(parser, 0, "POSITION") && opens(&Token::LParen) {
            Some(position(parser))
        } else if next_is(parser, 0, "TRIM") && opens(&Token::LParen) {
            Some(trim(parser))
        } else if next_is(parser, 0, "MAP") && opens(&Token::LBracket) {
            Some(constructor(parser, "MAP"))
        } else if opens(&Token::LParen)
            && let Some(name) = json::FUNCTIONS.into_iter().find(|name| next_is(parser, 0, name))
        {
            Some(json::parse(parser, name))
        } else if next_is(parser, 0, "TABLE") && matches!(parser.peek_nth_token_ref(1).token, Token::Word(_)) {
            Some(table_argument(parser))
        } else if next_is(parser, 0, "MODEL") && matches!(parser.peek_nth_token_ref(1).token, Token::Word(_)) {
            Some(Err(unsupported(parser, "table functions with a MODEL argument")))
        } else if next_is(parser, 0, "MULTISET") && opens(&Token::LBracket) {
            Some(constructor(parser, "MULTISET"))
        } else if next_is(parser, 0, "GROUPING") && next_is(parser, 1, "SETS") {
            Some(grouping_sets(parser))
        } else if (next_is(parser, 0, "FINAL") || next_is(parser, 0, "RUNNING"))
            && matches!(parser.peek_nth_token_ref(1).token, Token::Word(_))
        {
            Some(semantics(parser))
        } else {
            None
        }
    }

    fn prec_value(&self, prec: Precedence) -> u8 {
        match prec {
            // as in Calcite: `a = b LIKE c` is `a = (b LIKE c)`
            Precedence::Between | Precedence::Like => COMPARISON + 1,
            Precedence::Eq => COMPARISON,
            other => GenericDialect {}.prec_value(other),
        }
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        // sqlparser takes `a : b` for a path into JSON; in Flink SQL the colon stands between key and value
        if parser.peek_token_ref().token == Token::Colon {
            return Some(Ok(0));
        }
        multiset_operator(parser).map(|_| Ok(COMPARISON + 1))
    }

    fn parse_infix(&self, parser: &mut Parser, expr: &Expr, _precedence: u8) -> Option<Result<Expr, ParserError>> {
        let negated = next_is(parser, 0, "NOT");
        let at = usize::from(negated);
        if next_is(parser, 0, "IS") {
            let negated = next_is(parser, 1, "NOT");
            let at = 1 + usize::from(negated);
            if next_is(parser, at, "JSON") {
                return Some(is_json(parser, expr, negated, at));
            }
            if next_is(parser, at, "DISTINCT") && next_is(parser, at + 1, "FROM") {
                return Some(is_distinct_from(parser, expr, negated, at + 1));
            }
        }
        if let Some((name, words)) = multiset_operator(parser) {
            for _ in 0..words {
                parser.advance_token();
            }
            let place = parser.get_current_token().span;
            let other = parser.parse_subexpr(COMPARISON + 1);
            return Some(other.map(|other| call(Ident::with_span(place, name), vec![expr.clone(), other])));
        }
        let symmetric = next_is(parser, at + 1, "SYMMETRIC");
        if next_is(parser, at, "BETWEEN") && (symmetric || next_is(parser, at + 1, "ASYMMETRIC")) {
            return Some(between(parser, expr, negated, symmetric));
        }
        None
    }
}

/// The name of the multiset operator that comes next, and of how many words it is.
fn multiset_operator(parser: &Parser) -> Option<(&'static str, usize)> {
    let next = |at: usize, word: &str| next_is(parser, at, word);
    if next(0, "MEMBER") && next(1, "OF") {
        return Some(("MEMBER OF", 2));
    }
    if next(0, "SUBMULTISET") && next(1, "OF") {
        return Some(("SUBMULTISET OF", 2));
    }
    if next(0, "NOT") && next(1, "SUBMULTISET") && next(2, "OF") {
        return Some(("NOT SUBMULTISET OF", 3));
    }
    if !next(0, "MULTISET") {
        return None;
    }
    let operators = [
        ("UNION", "MULTISET UNION", "MULTISET UNION ALL"),
        ("INTERSECT", "MULTISET INTERSECT", "MULTISET INTERSECT ALL"),
        ("EXCEPT", "MULTISET EXCEPT", "MULTISET EXCEPT ALL"),
    ];
    let (_, distinct, all) = operators.into_iter().find(|(word, ..)| next(1, word))?;
    if next(2, "ALL") { Some((all, 3)) } else { Some((distinct, 2 + usize::from(next(2, "DISTINCT")))) }
}

/// `e IS [NOT] JSON [VALUE | OBJECT | ARRAY | SCALAR]` as a call.
fn is_json(parser: &mut Parser, expr: &Expr, negated: bool, at: usize) -> Result<Expr, ParserError> {
    for _ in 0..=at {
        parser.advance_token();
    }
    let mut kind = "VALUE";
    for word in ["VALUE", "OBJECT", "ARRAY", "SCALAR"] {
        if next_is(parser, 0, word) {
            parser.advance_token();
            kind = word;
            break;
        }
    }
    let name = if negated { "IS NOT JSON" } else { "IS JSON" };
    let kind = Expr::Value(Value::SingleQuotedString(kind.to_owned()).into());
    Ok(call(Ident::new(name), vec![expr.clone(), kind]))
}

/// `e IS [NOT] DISTINCT FROM x`; sqlparser would read all that follows, ANDs and ORs included, as `x`. It binds like `=`.
fn is_distinct_from(parser: &mut Parser, expr: &Expr, negated: bool, at: usize) -> Result<Expr, ParserError> {
    for _ in 0..=at {
        parser.advance_token();
    }
    let other = Box::new(parser.parse_subexpr(COMPARISON)?);
    let expr = Box::new(expr.clone());
    Ok(if negated { Expr::IsNotDistinctFrom(expr, other) } else { Expr::IsDistinctFrom(expr, other) })
}

/// `e [NOT] BETWEEN [SYMMETRIC | ASYMMETRIC] a AND b`; the symmetric one as a call.
fn between(parser: &mut Parser, expr: &Expr, negated: bool, symmetric: bool) -> Result<Expr, ParserError> {
    for _ in 0..usize::from(negated) + 2 {
        parser.advance_token();
    }
    let precedence = FlinkDialect.prec_value(Precedence::Between);
    let low = parser.parse_subexpr(precedence)?;
    parser.expect_keyword_is(Keyword::AND)?;
    let high = parser.parse_subexpr(precedence)?;
    if symmetric {
        let name = if negated { "NOT BETWEEN SYMMETRIC" } else { "BETWEEN SYMMETRIC" };
        return Ok(call(Ident::new(name), vec![expr.clone(), low, high]));
    }
    Ok(Expr::Between { expr: Box::new(expr.clone()), negated, low: Box::new(low), high: Box::new(high) })
}
