//! Names, calls of functions, constructors.

use calve_types::Error;
use sqlparser::tokenizer::Token;

use super::{Context, Grammar, Read, Rule, Stop};
use crate::parser::Parser;
use crate::reserved::is_value;
use crate::tokens::span_of;

/// Reserved words that are names of functions.
const FUNCTIONS: [&str; 73] = [
    "ABS",
    "AVG",
    "CARDINALITY",
    "CHAR",
    "CHARACTER_LENGTH",
    "CHAR_LENGTH",
    "CLASSIFIER",
    "COALESCE",
    "COLLECT",
    "COUNT",
    "COVAR_POP",
    "COVAR_SAMP",
    "CUME_DIST",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "DATE",
    "DATETIME",
    "DENSE_RANK",
    "ELEMENT",
    "EVERY",
    "EXP",
    "FIRST_VALUE",
    "FUSION",
    "GROUPING",
    "HOUR",
    "INTERSECTION",
    "LAG",
    "LAST_VALUE",
    "LEAD",
    "LEFT",
    "LN",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "LOWER",
    "MATCH_NUMBER",
    "MAX",
    "MIN",
    "MINUTE",
    "MOD",
    "MONTH",
    "NEXT",
    "NTH_VALUE",
    "NTILE",
    "NULLIF",
    "OCTET_LENGTH",
    "PERCENTILE_CONT",
    "PERCENTILE_DISC",
    "PERCENT_RANK",
    "POWER",
    "PREV",
    "RANK",
    "REGR_COUNT",
    "REGR_SXX",
    "REGR_SYY",
    "RIGHT",
    "ROW_NUMBER",
    "SECOND",
    "SOME",
    "SQRT",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "SUM",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMP_DIFF",
    "TIME_DIFF",
    "TRUNCATE",
    "UPPER",
    "USER",
    "VAR_POP",
    "VAR_SAMP",
    "YEAR",
];

/// Of these, those that need an argument.
const WITH_ARGUMENT: [&str; 7] = ["DATE", "DATETIME", "NEXT", "PREV", "TIME", "TIMESTAMP", "TIMESTAMP_DIFF"];

impl Grammar<'_> {
    /// A literal, a call, a constructor or a name.
    pub(super) fn atom(&mut self) -> Read {
        if self.literal()? || self.keyword_call()? || self.constructor()? || self.json()? {
            return Ok(());
        }
        if self.is_one(0, &["NEXT", "CURRENT"]) && self.is(1, "VALUE") {
            self.at += 2;
            self.need("FOR")?;
            return self.compound_name("the name of a sequence");
        }
        if self.take("NEW") {
            self.compound_name("the name of a type")?;
            self.arguments()?;
            return self.suffix();
        }
        if self.take("RUNNING") || self.is(0, "FINAL") && self.is_call(1) && self.take("FINAL") {
            if !self.is_call(0) {
                return self.stop("a function");
            }
            return self.nested(Self::atom);
        }
        let opens = self.token(1) == Some(&Token::LParen);
        if opens && self.is_one(0, &FUNCTIONS) {
            if self.is_one(0, &WITH_ARGUMENT) && self.token(2) == Some(&Token::RParen) {
                self.at += 2;
                return self.stop("an expression");
            }
            self.at += 1;
            self.arguments()?;
            return self.suffix();
        }
        if self.is_name(0) {
            self.path();
            if self.token(0) == Some(&Token::LParen) {
                self.arguments()?;
                return self.suffix();
            }
            return Ok(());
        }
        match self.token(0) {
            Some(Token::Word(w)) if w.quote_style.is_none() && is_value(&w.value) && !self.is(0, "DEFAULT") => {
                self.at += 1;
                Ok(())
            }
            // Flink takes the name of a function for the beginning of a call, whatever follows
            _ if self.is_one(0, &FUNCTIONS) => {
                Err(Stop { at: self.at, found: self.at + 3, wanted: "an expression", error: None })
            }
            _ => self.stop("an expression"),
        }
    }

    fn is_call(&self, ahead: usize) -> bool {
        self.token(ahead + 1) == Some(&Token::LParen) && (self.is_name(ahead) || self.is_one(ahead, &FUNCTIONS))
    }

    /// `a.b.c`, `a.b.*`; a dot that no name follows is no part of it.
    fn path(&mut self) {
        self.at += 1;
        while self.token(0) == Some(&Token::Period) {
            if self.is_name(1) {
                self.at += 2;
                continue;
            }
            if self.token(1) == Some(&Token::Mul) {
                self.at += 2;
            }
            break;
        }
    }

    /// `([DISTINCT] a, name => b, ..)`, `(*)`, `()`
    pub(super) fn arguments(&mut self) -> Read {
        self.open()?;
        if self.sign(&Token::RParen) {
            return Ok(());
        }
        if self.token(0) == Some(&Token::Mul) {
            self.at += 1;
            return self.close();
        }
        self.take_one(&["DISTINCT", "ALL"]);
        self.argument()?;
        while self.sign(&Token::Comma) {
            self.argument()?;
        }
        self.close()
    }

    fn argument(&mut self) -> Read {
        if self.is_name(0) && self.token(1) == Some(&Token::RArrow) {
            self.at += 2;
        }
        if self.take("DEFAULT") {
            return Ok(());
        }
        if self.is(0, "MODEL") && self.is_name(1) {
            self.at += 1;
            return self.compound_name("the name of a model");
        }
        self.ordered(Context::Any)?;
        if self.take("PARTITION") {
            self.need("BY")?;
            self.one_or_names()?;
        }
        if self.take("ORDER") {
            self.need("BY")?;
            if self.token(0) == Some(&Token::LParen) {
                self.at += 1;
                self.order_item()?;
                while self.sign(&Token::Comma) {
                    self.order_item()?;
                }
                return self.close();
            }
            self.order_item()?;
        }
        Ok(())
    }

    fn one_or_names(&mut self) -> Read {
        if self.token(0) == Some(&Token::LParen) {
            if self.token(1) == Some(&Token::RParen) {
                self.at += 2;
                return Ok(());
            }
            return self.names();
        }
        self.name("a column name")
    }

    /// What may stand behind the arguments of a function.
    pub(super) fn suffix(&mut self) -> Read {
        if self.is_one(0, &["IGNORE", "RESPECT"]) && self.is(1, "NULLS") {
            self.at += 2;
        }
        if self.take("WITHIN") {
            self.need_one(&["GROUP", "DISTINCT"], "GROUP")?;
            self.open()?;
            self.order_by()?;
            self.close()?;
        }
        if self.take("FILTER") {
            self.open()?;
            self.need("WHERE")?;
            self.expression(Context::Value)?;
            self.close()?;
        }
        if self.take("OVER") {
            if self.token(0) == Some(&Token::LParen) {
                return self.window();
            }
            return self.name("a window");
        }
        Ok(())
    }

    /// `ARRAY[..]`, `MAP[..]`, `MULTISET[..]`, the same of a query, `PERIOD (a, b)`: whether one was read.
    fn constructor(&mut self) -> Result<bool, Stop> {
        if self.is(0, "PERIOD") && self.token(1) == Some(&Token::LParen) {
            self.at += 1;
            return self.list(Context::Value, false).map(|()| true);
        }
        let is_multiset = self.is(0, "MULTISET");
        if !is_multiset && !self.is(0, "ARRAY") && !self.is(0, "MAP") {
            return Ok(false);
        }
        match self.token(1) {
            Some(Token::LBracket) => {
                let empty = self.token(2) == Some(&Token::RBracket);
                self.at += 2;
                if empty && !is_multiset {
                    self.at += 1;
                    return Ok(true);
                }
                self.expression(Context::Value)?;
                self.more(Self::value)?;
                self.need_sign(&Token::RBracket, "']'")?;
                Ok(true)
            }
            Some(Token::LParen) => {
                let start = self.at;
                self.at += 2;
                self.ordered(Context::Query)?;
                self.close()?;
                Err(self.refused(start, Error::unsupported("ARRAY, MAP and MULTISET of a query")))
            }
            // MAP is a name as well
            _ => Ok(false),
        }
    }

    /// A call whose arguments are told apart by words: whether one was read.
    fn keyword_call(&mut self) -> Result<bool, Stop> {
        if self.token(1) != Some(&Token::LParen) {
            return Ok(false);
        }
        let calls: [(&[&str], Rule<Self>); 10] = [
            (&["CAST", "TRY_CAST"], Self::cast),
            (&["EXTRACT"], Self::extract),
            (&["POSITION"], Self::position),
            (&["CONVERT"], Self::convert),
            (&["TRANSLATE"], Self::translate),
            (&["OVERLAY"], Self::overlay),
            (&["FLOOR", "CEIL", "CEILING"], Self::round),
            (&["SUBSTRING"], Self::substring),
            (&["TRIM"], Self::trim),
            (&["TIMESTAMPADD", "TIMESTAMPDIFF"], Self::timestamp_add),
        ];
        let Some((_, read)) = calls.into_iter().find(|(words, _)| self.is_one(0, words)) else { return Ok(false) };
        self.at += 2;
        read(self)?;
        self.close()?;
        Ok(true)
    }

    fn value(&mut self) -> Read {
        self.expression(Context::Value)
    }

    fn cast(&mut self) -> Read {
        self.value()?;
        self.need("AS")?;
        self.data_type()
    }

    fn unit_or_name(&mut self) -> Read {
        match self.token(0) {
            Some(Token::Word(w))
                if w.quote_style.is_some()
                    || self.is_name(0)
                    || self.is_one(0, &["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"]) =>
            {
                self.at += 1;
                Ok(())
            }
            _ => self.stop("a unit of time"),
        }
    }

    fn extract(&mut self) -> Read {
        self.unit_or_name()?;
        self.need("FROM")?;
        self.value()
    }

    fn position(&mut self) -> Read {
        self.atom_ahead()?;
        self.need("IN")?;
        self.value()?;
        if self.take("FROM") { self.value() } else { Ok(()) }
    }

    fn convert(&mut self) -> Read {
        self.value()?;
        self.need("USING")?;
        self.compound_name("a name")
    }

    fn translate(&mut self) -> Read {
        self.value()?;
        if self.take("USING") {
            return self.compound_name("a name");
        }
        while self.sign(&Token::Comma) {
            self.value()?;
        }
        Ok(())
    }

    fn overlay(&mut self) -> Read {
        self.value()?;
        self.need("PLACING")?;
        self.value()?;
        self.need("FROM")?;
        self.value()?;
        if self.take("FOR") { self.value() } else { Ok(()) }
    }

    fn round(&mut self) -> Read {
        self.value()?;
        if self.take("TO") { self.unit_or_name() } else { Ok(()) }
    }

    fn substring(&mut self) -> Read {
        self.value()?;
        if self.take("FROM") {
            self.value()?;
            return if self.take("FOR") { self.value() } else { Ok(()) };
        }
        self.need_sign(&Token::Comma, "FROM or ','")?;
        self.value()?;
        if self.sign(&Token::Comma) { self.value() } else { Ok(()) }
    }

    fn trim(&mut self) -> Read {
        let side = self.take_one(&["BOTH", "LEADING", "TRAILING"]);
        if self.token(0) == Some(&Token::RParen) {
            return Ok(());
        }
        if !(side && self.is(0, "FROM")) {
            self.value()?;
        }
        if self.take("FROM") { self.value() } else { Ok(()) }
    }

    fn timestamp_add(&mut self) -> Read {
        self.unit_or_name()?;
        for _ in 0..2 {
            self.need_sign(&Token::Comma, "','")?;
            self.value()?;
        }
        Ok(())
    }

    /// Refuses NULL and NOT NULL at the end of a type that begins at `start`: what is read is one or the other by itself.
    fn nullability(&mut self, start: usize) -> Read {
        let word = |at: usize, word: &str| {
            at >= start
                && matches!(self.tokens.get(at).map(|t| &t.token), Some(Token::Word(w))
                    if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
        };
        let last = self.at.saturating_sub(1);
        if !word(last, "NULL") {
            return Ok(());
        }
        let not = last.saturating_sub(1);
        self.at = if word(not, "NOT") { not } else { last };
        self.stop("the end of the type")
    }

    /// A data type, by the parser that reads it.
    pub(super) fn data_type(&mut self) -> Read {
        let mut depth = 0_usize;
        let rest = self.tokens.get(self.at..).unwrap_or_default();
        let mut length = rest.len();
        for (i, token) in rest.iter().enumerate() {
            // NULL ON EMPTY is no part of the type
            let clause = self.is(i, "NULL") && self.is(i + 1, "ON");
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen if depth > 0 => depth -= 1,
                Token::RParen => length = i,
                _ if depth == 0 && clause => length = i,
                _ => {}
            }
            if length < rest.len() {
                break;
            }
        }
        let tokens: Vec<_> = rest.iter().take(length).cloned().collect();
        let end = rest.get(length).map_or(self.end, |t| span_of(t.span)).start;
        let mut parser = Parser::over(tokens, end);
        match parser.data_type() {
            Ok(_) => {
                let start = self.at;
                self.at += parser.read();
                self.nullability(start)
            }
            Err(error) => {
                let place = error.span.unwrap_or_default().start;
                let offset = rest.iter().take(length).position(|t| span_of(t.span).start == place).unwrap_or(length);
                let at = self.at + offset;
                Err(self.refused(at, error))
            }
        }
    }
}
