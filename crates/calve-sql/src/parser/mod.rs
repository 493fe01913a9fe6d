//! Statements from tokens.

mod create_table;
pub(crate) mod depth;
mod insert;
mod locate;
mod show;
mod values;

use calve_types::{Error, Location, Result, Span};
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use self::depth::on_deep_stack;
use crate::dialect::{FlinkDialect, UNSUPPORTED};
use crate::hints::Hints;
use crate::reserved::{self, is_reserved, reserved_word};
use crate::script::{ScriptStatement, split};
use crate::statement::{CreateCatalog, CreateDatabase, Ident, Name, Property, Query, Statement};
use crate::tokens::{span_of, tokenize};

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
    if let Some(set) = set_or_reset(&statement.text) {
        return set.map_err(|e| {
            let start = Location { line: statement.line, column: statement.column };
            e.at(Span::new(start, Location { column: start.column + 1, ..start }))
        });
    }
    let mut parser = Parser::new(statement)?;
    let parsed = parser.statement()?;
    parser.expect_end()?;
    if !matches!(
        parsed,
        Statement::Other { .. } | Statement::Query(_) | Statement::Insert(_) | Statement::Explain { .. }
    ) {
        parser.hints.check_places(None)?;
    }
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

/// `SET` and `RESET`, which are read from the text: keys and values are not tokens of SQL.
fn set_or_reset(text: &str) -> Option<Result<Statement>> {
    let mut body = text.trim_start();
    loop {
        if let Some(rest) = body.strip_prefix("--") {
            body = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
        } else if let Some(rest) = body.strip_prefix("/*") {
            body = rest.split_once("*/").map_or("", |(_, rest)| rest).trim_start();
        } else {
            break;
        }
    }
    let end = body.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(body.len());
    let (word, rest) = body.split_at(end);
    let rest = rest.trim();
    match word.to_ascii_uppercase().as_str() {
        "SET" if rest.is_empty() => Some(Ok(Statement::Set { option: None })),
        "SET" => Some(match set_option(rest) {
            Some((key, value)) if !key.is_empty() => Ok(Statement::Set { option: Some((key, value)) }),
            _ => Err(Error::new("syntax-error", "expected SET 'key' = 'value'")),
        }),
        "RESET" if rest.is_empty() => Some(Ok(Statement::Reset { key: None })),
        "RESET" => Some(match unquoted(rest) {
            Some(key) => Ok(Statement::Reset { key: Some(key) }),
            None => Err(Error::new("syntax-error", "expected RESET 'key'")),
        }),
        _ => None,
    }
}

/// A key and a value; a quoted key may hold `=`.
fn set_option(text: &str) -> Option<(String, String)> {
    let (key, rest) = match quoted(text) {
        Some(quoted) => quoted,
        None => {
            let (key, _) = text.split_once('=')?;
            (key.trim_end().to_owned(), text.get(key.len()..)?)
        }
    };
    Some((key, unquoted(rest.trim_start().strip_prefix('=')?.trim())?))
}

/// The content of the string literal at the beginning, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('\'')?;
    let mut from = 0;
    loop {
        let at = from + inner.get(from..)?.find('\'')?;
        let behind = inner.get(at + 1..)?;
        if !behind.starts_with('\'') {
            return Some((inner.get(..at)?.replace("''", "'"), behind));
        }
        from = at + 2;
    }
}

/// The content of a string literal that is alone but for a comment behind it, or text without quotes as it is.
fn unquoted(text: &str) -> Option<String> {
    if !text.starts_with('\'') {
        return Some(text.to_owned());
    }
    let (content, behind) = quoted(text)?;
    let behind = behind.trim_start();
    (behind.is_empty() || behind.starts_with("--") || behind.starts_with("/*")).then_some(content)
}

/// Units of time.
const UNITS: [&str; 6] = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"];

/// Refuses what sqlparser would read in another way than Flink, or not at all.
fn check_clauses(tokens: &[TokenWithSpan]) -> Result<()> {
    let word = |i: usize, word: &str| matches!(tokens.get(i).map(|t| &t.token), Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word));
    for (i, token) in tokens.iter().enumerate() {
        let next = tokens.get(i + 1).map(|t| &t.token);
        if word(i, "MATCH_RECOGNIZE") && next == Some(&Token::LParen) {
            return Err(Error::unsupported("MATCH_RECOGNIZE").at(span_of(token.span)));
        }
        if next == Some(&Token::RArrow) {
            return Err(Error::unsupported("named arguments").at(span_of(token.span)));
        }
        if word(i, "UESCAPE") && matches!(next, Some(Token::SingleQuotedString(_))) {
            return Err(Error::unsupported("UESCAPE").at(span_of(token.span)));
        }
        if word(i, "MINUS") && ["SELECT", "VALUES", "WITH", "ALL", "DISTINCT"].iter().any(|k| word(i + 1, k)) {
            return Err(Error::new("syntax-error", "MINUS is not an operator of Flink SQL")
                .with_hint("write EXCEPT")
                .at(span_of(token.span)));
        }
        if word(i, "MULTISET") && next == Some(&Token::LBracket) {
            return Err(Error::unsupported("MULTISET constructor").at(span_of(token.span)));
        }
        if word(i, "MEMBER") && word(i + 1, "OF") {
            return Err(Error::unsupported("MEMBER OF").at(span_of(token.span)));
        }
        // an interval's unit stands behind a string: this one says what a difference of times is measured in
        if token.token == Token::RParen && UNITS.iter().any(|unit| word(i + 1, unit)) && next != Some(&Token::LParen) {
            let place = tokens.get(i + 1).map_or(token.span, |t| t.span);
            return Err(Error::unsupported("a unit behind the difference of two times").at(span_of(place)));
        }
        if (word(i, "SEMI") || word(i, "ANTI")) && word(i + 1, "JOIN") {
            return Err(Error::new("syntax-error", "Flink SQL has no SEMI or ANTI joins")
                .with_hint("use [NOT] EXISTS or [NOT] IN")
                .at(span_of(token.span)));
        }
    }
    Ok(())
}

/// A cursor over the tokens of one statement.
pub(crate) struct Parser {
    tokens: Vec<TokenWithSpan>,
    at: usize,
    end: Location,
    pub(crate) hints: Hints,
}

impl Parser {
    pub(crate) fn new(statement: &ScriptStatement) -> Result<Self> {
        let tokens = tokenize(statement)?;
        Ok(Self { tokens: tokens.tokens, at: 0, end: tokens.end, hints: tokens.hints })
    }

    /// A parser over tokens that stand somewhere in a statement.
    pub(crate) fn over(tokens: Vec<TokenWithSpan>, end: Location) -> Self {
        Self { tokens, at: 0, end, hints: Hints::default() }
    }

    fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead).map(|t| &t.token)
    }

    /// The place of the next token, or behind the last one.
    pub(crate) fn span(&self) -> Span {
        self.tokens.get(self.at).map_or_else(
            || Span::new(self.end, Location { column: self.end.column + 1, ..self.end }),
            |t| span_of(t.span),
        )
    }

    /// The place of the token before.
    pub(crate) fn last_span(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or_else(|| self.span(), |t| span_of(t.span))
    }

    pub(crate) fn is_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub(crate) fn expected(&self, what: &str) -> Error {
        let found = self.peek(0).map_or_else(|| "the end of the statement".to_owned(), |t| format!("'{t}'"));
        Error::new("syntax-error", format!("expected {what}, found {found}")).at(self.span())
    }

    pub(crate) fn expect_end(&self) -> Result<()> {
        if self.is_end() { Ok(()) } else { Err(self.expected("the end of the statement")) }
    }

    pub(crate) fn is_keyword(&self, ahead: usize, keyword: &str) -> bool {
        matches!(self.peek(ahead), Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(keyword))
    }

    pub(crate) fn keyword(&mut self, keyword: &str) -> bool {
        self.keywords(&[keyword])
    }

    pub(crate) fn keywords(&mut self, keywords: &[&str]) -> bool {
        let found = keywords.iter().enumerate().all(|(i, k)| self.is_keyword(i, k));
        if found {
            self.at += keywords.len();
        }
        found
    }

    pub(crate) fn expect_keywords(&mut self, keywords: &[&str]) -> Result<()> {
        keywords.iter().try_for_each(|k| if self.keyword(k) { Ok(()) } else { Err(self.expected(k)) })
    }

    pub(crate) fn token(&mut self, token: &Token) -> bool {
        let found = self.peek(0) == Some(token);
        if found {
            self.at += 1;
        }
        found
    }

    pub(crate) fn expect(&mut self, token: &Token) -> Result<()> {
        if self.token(token) { Ok(()) } else { Err(self.expected(&format!("'{token}'"))) }
    }

    /// An unquoted word.
    pub(crate) fn take_word(&mut self) -> Option<String> {
        match self.peek(0) {
            Some(Token::Word(w)) if w.quote_style.is_none() => {
                let word = w.value.clone();
                self.at += 1;
                Some(word)
            }
            _ => None,
        }
    }

    pub(crate) fn take_string(&mut self) -> Option<String> {
        match self.peek(0) {
            Some(Token::SingleQuotedString(s)) => {
                let text = s.clone();
                self.at += 1;
                Some(text)
            }
            _ => None,
        }
    }

    pub(crate) fn string(&mut self, what: &str) -> Result<String> {
        self.take_string().ok_or_else(|| self.expected(what))
    }

    pub(crate) fn number(&mut self, what: &str) -> Result<u64> {
        let value = match self.peek(0) {
            Some(Token::Number(n, false)) => n.parse().ok(),
            _ => None,
        };
        match value {
            Some(value) => {
                self.at += 1;
                Ok(value)
            }
            None => Err(self.expected(what)),
        }
    }

    pub(crate) fn ident(&mut self, what: &str) -> Result<Ident> {
        let span = self.span();
        match self.peek(0) {
            Some(Token::Word(w)) if w.quote_style.is_some() || !is_reserved(&w.value) => {
                let value = w.value.clone();
                self.at += 1;
                Ok(Ident { value, span })
            }
            Some(Token::Word(w)) => Err(reserved_word(what, &w.value, span)),
            _ => Err(self.expected(what)),
        }
    }

    pub(crate) fn name(&mut self, what: &str) -> Result<Name> {
        let first = self.ident(what)?;
        let mut name = Name { parts: vec![first.value], span: first.span };
        while self.token(&Token::Period) {
            let part = self.ident(what)?;
            name.parts.push(part.value);
            name.span = name.span.to(part.span);
        }
        Ok(name)
    }

    /// `( item, item )`, at least one.
    pub(crate) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect(&Token::LParen)?;
        let mut items = vec![item(self)?];
        while self.token(&Token::Comma) {
            items.push(item(self)?);
        }
        self.expect(&Token::RParen)?;
        Ok(items)
    }

    /// `WITH ('k' = 'v', ...)`; empty without WITH.
    pub(crate) fn properties(&mut self) -> Result<Vec<Property>> {
        if !self.keyword("WITH") {
            return Ok(vec![]);
        }
        if self.peek(0) == Some(&Token::LParen) && self.peek(1) == Some(&Token::RParen) {
            self.at += 2;
            return Ok(vec![]);
        }
        self.list(|p| {
            let start = p.span();
            let key = p.string("an option's name in quotes")?;
            p.expect(&Token::Eq)?;
            let value = p.string("an option's value in quotes")?;
            Ok(Property { key, value, span: start.to(p.last_span()) })
        })
    }

    fn if_not_exists(&mut self) -> bool {
        self.keywords(&["IF", "NOT", "EXISTS"])
    }

    fn if_exists(&mut self) -> bool {
        self.keywords(&["IF", "EXISTS"])
    }

    /// `COMMENT 'text'`.
    pub(crate) fn comment(&mut self) -> Result<Option<String>> {
        if self.keyword("COMMENT") { self.string("a comment in quotes").map(Some) } else { Ok(None) }
    }

    /// A query that takes the rest of the tokens.
    pub(crate) fn query(&mut self) -> Result<Query> {
        let span = self.span();
        if self.is_end() {
            return Err(self.expected("a query"));
        }
        let rest = values::parenthesized(self.tokens.drain(self.at..).collect());
        check_clauses(&rest)?;
        depth::check(&rest)?;
        let whole = span.to(rest.last().map_or(span, |t| span_of(t.span)));
        let mut parser =
            sqlparser::parser::Parser::new(&FlinkDialect).with_recursion_limit(DEPTH).with_tokens_with_locations(rest);
        let parsed = on_deep_stack(|| parser.parse_query()).map_err(|e| self.syntax_error(e)).and_then(|ast| {
            let next = parser.peek_token();
            match next.token {
                Token::EOF => Ok(ast),
                token => Err(Error::new("syntax-error", format!("expected the end of the statement, found '{token}'"))
                    .at(span_of(next.span))),
            }
        });
        let ast = parsed.map_err(|error| self.subquery_error(&parser.into_tokens()).unwrap_or(error).at(span))?;
        reserved::check(&ast)?;
        self.hints.check_places(Some(&ast))?;
        Ok(Query { ast, hints: std::mem::take(&mut self.hints), span: whole })
    }

    /// An expression that stands before one of `ends` at the same depth of parentheses.
    pub(crate) fn expression(&mut self, ends: &[Token]) -> Result<sqlparser::ast::Expr> {
        let mut depth = 0_usize;
        let from = self.at;
        while let Some(token) = self.peek(0) {
            match token {
                token if depth == 0 && ends.contains(token) => break,
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
        let tokens = self.tokens.get(from..self.at).unwrap_or_default().to_vec();
        if tokens.is_empty() {
            return Err(self.expected("an expression"));
        }
        depth::check(&tokens)?;
        let mut parser = sqlparser::parser::Parser::new(&FlinkDialect)
            .with_recursion_limit(DEPTH)
            .with_tokens_with_locations(tokens);
        let expr = on_deep_stack(|| parser.parse_expr()).map_err(|e| self.syntax_error(e))?;
        let next = parser.peek_token();
        if next.token != Token::EOF {
            return Err(Error::new("syntax-error", format!("unexpected '{}'", next.token)).at(span_of(next.span)));
        }
        reserved::check(&expr)?;
        Ok(expr)
    }

    /// sqlparser's error, whose place is a part of its text.
    fn syntax_error(&self, error: ParserError) -> Error {
        let text = match error {
            ParserError::ParserError(text) | ParserError::TokenizerError(text) => text,
            ParserError::RecursionLimitExceeded => {
                return Error::new("syntax-error", format!("query is nested more than {DEPTH} levels deep"));
            }
        };
        let (message, place) = match text.rsplit_once(" at Line: ") {
            Some((message, place)) => (message, place.split_once(", Column: ")),
            None => (text.as_str(), None),
        };
        let at =
            place.and_then(|(line, column)| Some(Location { line: line.parse().ok()?, column: column.parse().ok()? }));
        let start = at.filter(|at| at.line > 0).unwrap_or(self.end);
        if let Some(feature) = message.strip_prefix(UNSUPPORTED) {
            return Error::unsupported(feature).at(Span::new(start, Location { column: start.column + 1, ..start }));
        }
        let message =
            message.trim_start_matches("Expected: ").replace(", found: EOF", ", found: the end of the statement");
        let message = match message.split_once(", found: ") {
            Some((wanted, found)) if !found.starts_with("the end") => format!("expected {wanted}, found '{found}'"),
            Some((wanted, found)) => format!("expected {wanted}, found {found}"),
            None => message,
        };
        Error::new("syntax-error", message).at(Span::new(start, Location { column: start.column + 1, ..start }))
    }

    fn other(&mut self, feature: &'static str) -> Statement {
        let span = self.span();
        self.at = self.tokens.len();
        Statement::Other { feature, span }
    }

    fn statement(&mut self) -> Result<Statement> {
        let word = match self.peek(0) {
            Some(Token::LParen) => return Ok(Statement::Query(self.query()?)),
            Some(Token::Word(w)) if w.quote_style.is_none() => w.value.to_ascii_uppercase(),
            _ => return Err(self.expected("a statement")),
        };
        match word.as_str() {
            "SELECT" | "VALUES" | "WITH" => Ok(Statement::Query(self.query()?)),
            "INSERT" => self.insert(),
            "CREATE" => self.create(),
            "DROP" => self.drop_object(),
            "USE" => self.use_object(),
            "SHOW" => self.show(),
            "DESCRIBE" | "DESC" => self.describe(),
            "EXPLAIN" => self.explain(),
            "TABLE" => Ok(self.other("TABLE as a query")),
            "UPSERT" if self.is_keyword(1, "INTO") => Ok(self.other("UPSERT INTO")),
            "REPLACE" if self.is_keyword(1, "TABLE") => Ok(self.other("REPLACE TABLE")),
            "CLEAR" | "QUIT" | "EXIT" | "HELP" if self.peek(1).is_none() => {
                Ok(self.other("a command of the SQL client"))
            }
            "EXECUTE" if self.is_keyword(1, "STATEMENT") => Ok(self.other("EXECUTE STATEMENT SET")),
            "EXECUTE" => Ok(self.other("EXECUTE PLAN")),
            "BEGIN" if self.is_keyword(1, "STATEMENT") => Ok(self.other("BEGIN STATEMENT SET")),
            "END" => Ok(self.other("END")),
            "ALTER" if self.is_keyword(1, "TABLE") => Ok(self.other("ALTER TABLE")),
            "ALTER" => Ok(self.other("ALTER")),
            "DELETE" => Ok(self.other("DELETE")),
            "UPDATE" => Ok(self.other("UPDATE")),
            "MERGE" => Ok(self.other("MERGE")),
            "CALL" => Ok(self.other("CALL")),
            "TRUNCATE" => Ok(self.other("TRUNCATE TABLE")),
            "ANALYZE" => Ok(self.other("ANALYZE TABLE")),
            "COMPILE" => Ok(self.other("COMPILE PLAN")),
            "LOAD" => Ok(self.other("LOAD MODULE")),
            "UNLOAD" => Ok(self.other("UNLOAD MODULE")),
            "ADD" if self.is_keyword(1, "JAR") => Ok(self.other("ADD JAR")),
            "REMOVE" if self.is_keyword(1, "JAR") => Ok(self.other("REMOVE JAR")),
            "STOP" if self.is_keyword(1, "JOB") => Ok(self.other("STOP JOB")),
            _ => Err(self.expected("a statement")),
        }
    }

    fn explain(&mut self) -> Result<Statement> {
        let span = self.span();
        self.at += 1;
        if self.is_keyword(0, "STATEMENT") && self.is_keyword(1, "SET") || self.is_keyword(0, "EXECUTE") {
            return Ok(self.other("EXPLAIN STATEMENT SET"));
        }
        if ["ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE"]
            .iter()
            .any(|d| self.is_keyword(0, d))
        {
            return Ok(self.other("EXPLAIN with details"));
        }
        if matches!(self.peek(0), Some(Token::SingleQuotedString(_))) {
            return Ok(self.other("EXPLAIN of a compiled plan"));
        }
        self.keywords(&["PLAN", "FOR"]);
        Ok(Statement::Explain { statement: Box::new(self.statement()?), details: vec![], span })
    }

    fn create(&mut self) -> Result<Statement> {
        let ahead = |p: &Self, n: usize| p.tokens.get(p.at + n).map(|t| t.token.to_string().to_ascii_uppercase());
        let mut n = 1;
        while matches!(ahead(self, n).as_deref(), Some("OR" | "REPLACE" | "TEMPORARY" | "SYSTEM" | "MATERIALIZED")) {
            n += 1;
        }
        match ahead(self, n).as_deref() {
            Some("CATALOG") if n == 1 => {
                self.at += 2;
                let if_not_exists = self.if_not_exists();
                let name = self.ident("a catalog name")?;
                let comment = self.comment()?;
                let properties = self.properties()?;
                Ok(Statement::CreateCatalog(CreateCatalog { name, if_not_exists, comment, properties }))
            }
            Some("DATABASE") if n == 1 => {
                self.at += 2;
                let if_not_exists = self.if_not_exists();
                let name = self.name("a database name")?;
                let comment = self.comment()?;
                let properties = self.properties()?;
                Ok(Statement::CreateDatabase(CreateDatabase { name, if_not_exists, comment, properties }))
            }
            Some("TABLE") if self.is_keyword(n - 1, "MATERIALIZED") => Ok(self.other("CREATE MATERIALIZED TABLE")),
            Some("TABLE") => self.create_table(),
            Some("VIEW") => Ok(self.other("CREATE VIEW")),
            Some("FUNCTION") => Ok(self.other("CREATE FUNCTION")),
            Some("MODEL") => Ok(self.other("CREATE MODEL")),
            _ => {
                self.at += n;
                Err(self.expected("CATALOG, DATABASE, TABLE, VIEW or FUNCTION"))
            }
        }
    }

    fn drop_object(&mut self) -> Result<Statement> {
        self.at += 1;
        let temporary = self.keyword("TEMPORARY");
        if self.keyword("CATALOG") {
            let if_exists = self.if_exists();
            return Ok(Statement::DropCatalog { name: self.ident("a catalog name")?, if_exists });
        }
        if self.keyword("DATABASE") {
            let if_exists = self.if_exists();
            let name = self.name("a database name")?;
            let cascade = self.keyword("CASCADE");
            if !cascade {
                self.keyword("RESTRICT");
            }
            return Ok(Statement::DropDatabase { name, if_exists, cascade });
        }
        if self.keyword("TABLE") {
            let if_exists = self.if_exists();
            return Ok(Statement::DropTable { name: self.name("a table name")?, if_exists, temporary });
        }
        for (words, feature) in [
            (&["MATERIALIZED", "TABLE"][..], "DROP MATERIALIZED TABLE"),
            (&["VIEW"], "DROP VIEW"),
            (&["FUNCTION"], "DROP FUNCTION"),
            (&["SYSTEM", "FUNCTION"], "DROP FUNCTION"),
            (&["MODEL"], "DROP MODEL"),
        ] {
            if self.keywords(words) {
                return Ok(self.other(feature));
            }
        }
        Err(self.expected("CATALOG, DATABASE, TABLE, VIEW or FUNCTION"))
    }

    fn use_object(&mut self) -> Result<Statement> {
        self.at += 1;
        if self.keyword("CATALOG") {
            return Ok(Statement::UseCatalog { name: self.ident("a catalog name")? });
        }
        if self.is_keyword(0, "MODULES") && self.peek(1).is_some() {
            return Ok(self.other("USE MODULES"));
        }
        Ok(Statement::UseDatabase { name: self.name("a database name")? })
    }

    fn describe(&mut self) -> Result<Statement> {
        self.at += 1;
        if self.is_keyword(0, "CATALOG") && self.peek(1).is_some() {
            self.at += 1;
            let extended = self.keyword("EXTENDED");
            return Ok(Statement::DescribeCatalog { name: self.ident("a catalog name")?, extended });
        }
        for feature in ["DATABASE", "FUNCTION", "JOB", "MODEL"] {
            if self.is_keyword(0, feature) && self.peek(1).is_some_and(|t| matches!(t, Token::Word(_))) {
                return Ok(self.other(match feature {
                    "DATABASE" => "DESCRIBE DATABASE",
                    "FUNCTION" => "DESCRIBE FUNCTION",
                    "JOB" => "DESCRIBE JOB",
                    _ => "DESCRIBE MODEL",
                }));
            }
        }
        let extended = self.is_keyword(0, "EXTENDED") && self.peek(1).is_some() && self.keyword("EXTENDED");
        Ok(Statement::DescribeTable { name: self.name("a table name")?, extended })
    }
}
