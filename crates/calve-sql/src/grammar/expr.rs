//! Expressions: operands and the operators between them.

use calve_types::{Error, Location, Span};
use sqlparser::tokenizer::Token;

use super::{Context, Grammar, Read, Stop};
use crate::tokens::span_of;

/// Words that bind two operands.
const WORDS: [&str; 7] = ["AND", "OR", "OVERLAPS", "CONTAINS", "EQUALS", "PRECEDES", "SUCCEEDS"];
/// Words that compare with a pattern.
const PATTERNS: [&str; 3] = ["LIKE", "ILIKE", "RLIKE"];

/// What a chain of operands waits for.
#[derive(Default)]
struct Pending {
    /// BETWEENs without their AND.
    betweens: usize,
    /// Whether an ESCAPE may follow.
    escape: bool,
}

fn compares(token: &Token) -> bool {
    matches!(token, Token::Eq | Token::Neq | Token::Lt | Token::LtEq | Token::Gt | Token::GtEq)
}

fn computes(token: &Token) -> bool {
    matches!(token, Token::Plus | Token::Minus | Token::Mul | Token::Div | Token::Mod | Token::StringConcat)
}

impl Grammar<'_> {
    pub(super) fn expression(&mut self, context: Context) -> Read {
        self.nested(|g| g.chain(context))
    }

    fn chain(&mut self, context: Context) -> Read {
        let mut pending = Pending::default();
        self.operand(context)?;
        if context == Context::Query {
            return Ok(());
        }
        while self.tail(&mut pending)? {}
        if pending.betweens > 0 {
            let mut error = Error::new("syntax-error", "BETWEEN lacks its AND")
                .with_detail("BETWEEN operator has no terminating AND");
            if let Some(last) = self.at.checked_sub(1).and_then(|at| self.tokens.get(at)) {
                let end = span_of(last.span).end;
                error = error.at(Span::new(end, Location { column: end.column + 1, ..end }));
            }
            return Err(self.refused(self.at, error));
        }
        Ok(())
    }

    /// An operator and its second operand: whether one follows.
    fn tail(&mut self, pending: &mut Pending) -> Result<bool, Stop> {
        let start = self.at;
        let Some(token) = self.token(0) else { return Ok(false) };
        if compares(token) && self.is_one(1, &["SOME", "ANY", "ALL"]) {
            self.at += 2;
            self.list(Context::Value, false)?;
            return Ok(true);
        }
        if compares(token) || computes(token) || self.is_one(0, &WORDS) {
            let is_and = self.is(0, "AND");
            let taken = self.second(3, 1)?;
            pending.betweens -= usize::from(taken && is_and).min(pending.betweens);
            return Ok(taken);
        }
        match token {
            Token::LBracket => {
                return self.ahead(2, |g| {
                    g.at += 1;
                    g.expression(Context::Value)?;
                    g.need_sign(&Token::RBracket, "']'")
                });
            }
            Token::Period if self.is_name(1) => {
                self.at += 2;
                // only a value in parentheses or of a function has methods
                let has_methods =
                    start.checked_sub(1).and_then(|at| self.tokens.get(at)).is_some_and(|t| t.token == Token::RParen);
                if has_methods && self.token(0) == Some(&Token::LParen) {
                    self.arguments()?;
                }
                return Ok(true);
            }
            Token::Word(_) => {}
            _ => return Ok(false),
        }
        let negated = usize::from(self.is(0, "NOT"));
        if self.is(negated, "IN") {
            return self.ahead(2, |g| {
                g.at += negated + 1;
                g.list(Context::Value, false)
            });
        }
        if self.is(negated, "BETWEEN") {
            let symmetric = usize::from(self.is_one(negated + 1, &["SYMMETRIC", "ASYMMETRIC"]));
            let taken = self.second(2, negated + 1 + symmetric)?;
            pending.betweens += usize::from(taken);
            return Ok(taken);
        }
        if self.is_one(negated, &PATTERNS) {
            pending.escape = true;
            return self.second(2, negated + 1);
        }
        if self.is(negated, "SIMILAR") && self.is(negated + 1, "TO") {
            pending.escape = true;
            return self.second(2, negated + 2);
        }
        if self.is(negated, "SUBMULTISET") && self.is(negated + 1, "OF") {
            return self.second(3, negated + 2);
        }
        if negated > 0 {
            return Ok(false);
        }
        if pending.escape && self.is(0, "ESCAPE") {
            return self.second(2, 1);
        }
        if self.is(0, "MEMBER") && self.is(1, "OF")
            || self.is(0, "IMMEDIATELY") && self.is_one(1, &["PRECEDES", "SUCCEEDS"])
        {
            return self.second(3, 2);
        }
        if self.is(0, "MULTISET") && self.is_one(1, &["UNION", "INTERSECT", "EXCEPT"]) {
            let all = usize::from(self.is_one(2, &["ALL", "DISTINCT"]));
            return self.second(3, 2 + all);
        }
        if self.take_all(&["FORMAT", "JSON"]) {
            return Ok(true);
        }
        if self.is(0, "IS") { self.test() } else { Ok(false) }
    }

    /// The operand behind an operator of `words` tokens, for which Flink's parser looks `tokens` ahead.
    fn second(&mut self, tokens: usize, words: usize) -> Result<bool, Stop> {
        self.ahead(tokens, |g| {
            g.at += words;
            g.operand(Context::Value)
        })
    }

    /// `IS [NOT] ..`
    fn test(&mut self) -> Result<bool, Stop> {
        let negated = usize::from(self.is(1, "NOT"));
        let after = negated + 1;
        if self.is(after, "DISTINCT") && self.is(after + 1, "FROM") {
            self.at += after + 2;
            return self.operand(Context::Value).map(|()| true);
        }
        let words = if self.is_one(after, &["NULL", "TRUE", "FALSE", "UNKNOWN", "EMPTY"]) {
            1
        } else if self.is(after, "A") && self.is(after + 1, "SET") {
            2
        } else if self.is(after, "JSON") {
            1 + usize::from(self.is_one(after + 1, &["VALUE", "OBJECT", "ARRAY", "SCALAR"]))
        } else if negated > 0 || self.is_one(1, &["DISTINCT", "A"]) {
            self.at += 1 + negated;
            return self.stop("NULL, TRUE, FALSE, UNKNOWN, DISTINCT FROM or JSON");
        } else {
            return Ok(false);
        };
        self.at += after + words;
        Ok(true)
    }

    /// An operand with the signs before it.
    fn operand(&mut self, context: Context) -> Read {
        loop {
            let sign = matches!(self.token(0), Some(Token::Plus | Token::Minus));
            if !sign && !self.is_one(0, &["NOT", "EXISTS", "UNIQUE"]) {
                break;
            }
            if context == Context::Query {
                return Err(self.no_query(self.at));
            }
            self.at += 1;
        }
        self.nested(|g| g.primary(context))
    }

    fn no_query(&self, at: usize) -> Stop {
        let found = self.tokens.get(at).map_or_else(String::new, |t| t.token.to_string());
        let error = Error::new("syntax-error", format!("expected a query, found '{found}'"))
            .with_detail("Non-query expression encountered in illegal context");
        self.refused(at, error)
    }

    fn primary(&mut self, context: Context) -> Read {
        let start = self.at;
        if self.token(0) == Some(&Token::LParen) {
            self.list(context, false)?;
            return self.difference(start);
        }
        if self.take("ROW") {
            return self.list(context, false);
        }
        if self.is(0, "CASE") {
            self.case()?;
        } else {
            self.atom_ahead()?;
        }
        if context == Context::Query {
            return Err(self.no_query(self.at.saturating_sub(1)));
        }
        Ok(())
    }

    /// An atom, for which Flink's parser looks two tokens ahead.
    pub(super) fn atom_ahead(&mut self) -> Read {
        let start = self.at;
        self.atom().map_err(|stop| {
            if stop.found < start + 2 { Stop { at: start, wanted: "an expression", ..stop } } else { stop }
        })
    }

    /// The unit behind `(a - b)`, if there is one.
    fn difference(&mut self, start: usize) -> Read {
        let close = self.at.saturating_sub(1);
        if !self.unit(true)? {
            return Ok(());
        }
        let mut depth = 0_usize;
        let mut additive = None;
        let mut fits = true;
        // whether an operand stands before the token: a sign is no operator
        let mut operand = false;
        for token in self.tokens.get(start + 1..close).unwrap_or_default() {
            match &token.token {
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
                _ if depth > 0 => {}
                Token::Plus | Token::Minus if operand => additive = Some(token.token == Token::Minus),
                Token::Comma => fits = false,
                other if compares(other) => fits = false,
                Token::Word(w) if w.quote_style.is_none() => {
                    fits &= !["AND", "OR", "NOT", "IS", "IN", "LIKE", "BETWEEN"]
                        .iter()
                        .any(|word| w.value.eq_ignore_ascii_case(word));
                }
                _ => {}
            }
            operand = !computes(&token.token);
        }
        if fits && additive == Some(true) {
            return Ok(());
        }
        let error = Error::new("syntax-error", "a unit stands behind the difference of two times: (a - b) DAY")
            .with_detail("Illegal expression. Was expecting ( DATETIME - DATETIME ) INTERVALQUALIFIER");
        Err(self.refused(start, error))
    }

    fn case(&mut self) -> Read {
        self.need("CASE")?;
        if !self.is(0, "WHEN") {
            self.expression(Context::Value)?;
        }
        loop {
            self.need("WHEN")?;
            self.expression(Context::Value)?;
            while self.sign(&Token::Comma) {
                self.expression(Context::Value)?;
            }
            self.need("THEN")?;
            self.expression(Context::Value)?;
            if !self.is(0, "WHEN") {
                break;
            }
        }
        if self.take("ELSE") {
            self.expression(Context::Value)?;
        }
        self.need("END")
    }
}
