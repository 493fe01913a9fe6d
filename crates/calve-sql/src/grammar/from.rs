//! FROM: tables, joins, MATCH_RECOGNIZE.

use calve_types::Error;
use sqlparser::tokenizer::Token;

use super::{Context, Grammar, Read, Stop};

impl Grammar<'_> {
    pub(super) fn from(&mut self) -> Read {
        self.table()?;
        loop {
            let more = if self.token(0) == Some(&Token::Comma) {
                self.ahead(2, |g| {
                    g.at += 1;
                    g.table()
                })?
            } else if self.is_one(0, &["NATURAL", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS"]) {
                self.join()?
            } else {
                false
            };
            if !more {
                return Ok(());
            }
        }
    }

    /// `[NATURAL] [kind] JOIN t [ON c | USING (..)]`: whether one begins here.
    fn join(&mut self) -> Result<bool, Stop> {
        if self.is(0, "CROSS") {
            self.at += 1;
            self.need("JOIN")?;
        } else {
            let begins = self.ahead(3, |g| {
                g.take("NATURAL");
                if g.take_one(&["LEFT", "RIGHT", "FULL"]) {
                    g.take("OUTER");
                } else if !g.take("INNER") {
                    g.take("CROSS");
                }
                g.need("JOIN")
            })?;
            if !begins {
                return Ok(false);
            }
        }
        let start = self.at;
        if let Err(stop) = self.table() {
            // a JOIN that no table follows is not taken for one
            if stop.at == start {
                let mut words = 0;
                let begins = ["NATURAL", "LEFT", "RIGHT", "FULL", "OUTER", "INNER", "JOIN"];
                while start - words > 0 && self.word_before(start - words, &begins) {
                    words += 1;
                }
                if words > 0 && words <= 2 && !self.word_before(start - words, &["CROSS"]) {
                    self.at = start - words;
                    return Ok(false);
                }
            }
            return Err(stop);
        }
        if self.take("ON") {
            self.expression(Context::Value)?;
        } else if self.take("USING") {
            self.names()?;
        }
        Ok(true)
    }

    fn word_before(&self, at: usize, words: &[&str]) -> bool {
        at.checked_sub(1).and_then(|at| self.tokens.get(at)).is_some_and(|t| {
            matches!(&t.token, Token::Word(w) if w.quote_style.is_none()
                && words.iter().any(|word| w.value.eq_ignore_ascii_case(word)))
        })
    }

    fn table(&mut self) -> Read {
        self.nested(Self::table_and_alias)
    }

    fn table_and_alias(&mut self) -> Read {
        let lateral = self.take("LATERAL");
        if self.token(0) == Some(&Token::LParen) {
            self.at += 1;
            if self.is_query() && !(self.is(0, "TABLE") && self.token(1) == Some(&Token::LParen)) {
                self.ordered(Context::Query)?;
            } else if self.token(0) == Some(&Token::LParen) && self.opens_query() {
                self.ordered(Context::Query)?;
                if self.token(0) != Some(&Token::RParen) {
                    self.alias()?;
                    self.joins()?;
                }
            } else {
                let start = self.at;
                if self.token(0) == Some(&Token::RParen) || !self.begins_table() {
                    self.at -= 1;
                    return self.stop("a table or a query");
                }
                self.from()?;
                if self.token(0) == Some(&Token::RParen) && !self.joined(start) {
                    let error = Error::new("syntax-error", "a table alone does not stand in parentheses")
                        .with_detail("Expected query or join");
                    return Err(self.refused(start, error));
                }
            }
            self.close()?;
            if self.is(0, "MATCH_RECOGNIZE") {
                let start = self.at;
                self.match_recognize()?;
                let error = Error::unsupported("MATCH_RECOGNIZE behind parentheses");
                return Err(self.refused(start, error.with_hint("give the query a name by WITH")));
            }
        } else if self.is(0, "UNNEST") {
            if self.token(1) != Some(&Token::LParen) {
                return self.stop("a table");
            }
            self.at += 1;
            self.list(Context::Value, false)?;
            if self.take("WITH") {
                self.need("ORDINALITY")?;
            }
        } else if self.take("TABLE") {
            self.open()?;
            self.take("SPECIFIC");
            self.compound_name("the name of a function")?;
            self.arguments()?;
            self.close()?;
        } else if lateral {
            return self.stop("'(', UNNEST or TABLE");
        } else {
            self.compound_name("the name of a table")?;
            if self.token(0) == Some(&Token::LParen) {
                self.arguments()?;
            } else {
                if self.take("FOR") {
                    for word in ["SYSTEM_TIME", "AS", "OF"] {
                        self.need(word)?;
                    }
                    self.expression(Context::Value)?;
                }
                self.match_recognize()?;
            }
        }
        if self.is_one(0, &["PIVOT", "UNPIVOT"]) && matches!(self.token(1), Some(Token::LParen | Token::Word(_))) {
            return Err(self.unsupported(if self.is(0, "PIVOT") { "PIVOT" } else { "UNPIVOT" }));
        }
        self.alias()?;
        if self.take("TABLESAMPLE") {
            if self.is(0, "SUBSTITUTE") {
                return Err(self.unsupported("TABLESAMPLE SUBSTITUTE"));
            }
            self.need_one(&["SYSTEM", "BERNOULLI"], "SYSTEM or BERNOULLI")?;
            self.open()?;
            self.number("a number")?;
            self.close()?;
            if self.take("REPEATABLE") {
                self.open()?;
                self.sign(&Token::Minus);
                self.number("a number")?;
                self.close()?;
            }
        }
        Ok(())
    }

    fn begins_table(&self) -> bool {
        self.is_name(0) || self.token(0) == Some(&Token::LParen) || self.is_one(0, &["LATERAL", "UNNEST", "TABLE"])
    }

    /// Whether more than one table stands from a token on, or parentheses do.
    fn joined(&self, start: usize) -> bool {
        let mut depth = 0_usize;
        self.tokens.get(start..self.at).unwrap_or_default().iter().any(|t| match &t.token {
            Token::LParen => {
                depth += 1;
                false
            }
            Token::RParen => {
                depth = depth.saturating_sub(1);
                false
            }
            Token::Comma => depth == 0,
            Token::Word(w) => depth == 0 && w.quote_style.is_none() && w.value.eq_ignore_ascii_case("JOIN"),
            _ => false,
        })
    }

    /// The joins behind a table in parentheses.
    fn joins(&mut self) -> Read {
        while self.token(0) == Some(&Token::Comma)
            || self.is_one(0, &["NATURAL", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS"])
        {
            if self.sign(&Token::Comma) {
                self.table()?;
            } else if !self.join()? {
                break;
            }
        }
        Ok(())
    }

    /// Whether the parentheses from here on, one inside the other, hold a query.
    fn opens_query(&self) -> bool {
        let mut ahead = 0;
        while self.token(ahead) == Some(&Token::LParen) {
            ahead += 1;
        }
        self.is_one(ahead, &["SELECT", "VALUES", "WITH"])
    }

    /// `[[AS] t [(a, b)]]`
    fn alias(&mut self) -> Read {
        let with_as = self.take("AS");
        if with_as || self.is_name(0) {
            self.alias_name()?;
            if self.token(0) == Some(&Token::LParen) {
                self.names()?;
            }
        }
        Ok(())
    }

    fn match_recognize(&mut self) -> Read {
        if !self.take("MATCH_RECOGNIZE") {
            return Ok(());
        }
        self.open()?;
        if self.take("PARTITION") {
            self.need("BY")?;
            self.expression(Context::Value)?;
            while self.sign(&Token::Comma) {
                self.expression(Context::Value)?;
            }
        }
        if self.is(0, "ORDER") {
            self.order_by()?;
        }
        if self.take("MEASURES") {
            self.measure()?;
            while self.sign(&Token::Comma) {
                self.measure()?;
            }
        }
        if self.take("ONE") {
            for word in ["ROW", "PER", "MATCH"] {
                self.need(word)?;
            }
        } else if self.take("ALL") {
            for word in ["ROWS", "PER", "MATCH"] {
                self.need(word)?;
            }
        }
        if self.take("AFTER") {
            self.need("MATCH")?;
            self.need("SKIP")?;
            self.skip_to()?;
        }
        self.need("PATTERN")?;
        self.open()?;
        self.sign(&Token::Caret);
        self.pattern()?;
        if matches!(self.token(0), Some(Token::Word(w)) if w.value == "$") {
            self.at += 1;
        }
        self.close()?;
        if self.take("WITHIN") {
            self.interval()?;
        }
        if self.is(0, "SUBSET") {
            let start = self.at;
            self.at += 1;
            self.subset()?;
            while self.sign(&Token::Comma) {
                self.subset()?;
            }
            return Err(self.refused(start, Error::unsupported("SUBSET of MATCH_RECOGNIZE")));
        }
        self.need("DEFINE")?;
        self.definition()?;
        while self.sign(&Token::Comma) {
            self.definition()?;
        }
        self.close()
    }

    fn measure(&mut self) -> Read {
        self.expression(Context::Value)?;
        self.need("AS")?;
        self.name("a name")
    }

    fn skip_to(&mut self) -> Read {
        if self.take("TO") {
            if self.is(0, "NEXT") {
                self.at += 1;
                return self.need("ROW");
            }
            if self.is_one(0, &["FIRST", "LAST"]) && self.is_name(1) && !self.is(1, "PATTERN") {
                self.at += 1;
            }
            return self.name("a variable of the pattern");
        }
        for word in ["PAST", "LAST", "ROW"] {
            self.need(word)?;
        }
        Ok(())
    }

    fn pattern(&mut self) -> Read {
        self.pattern_terms()?;
        while self.sign(&Token::Pipe) {
            self.pattern_terms()?;
        }
        Ok(())
    }

    fn pattern_terms(&mut self) -> Read {
        self.pattern_factor()?;
        while self.is_name(0) || self.is(0, "PERMUTE") || matches!(self.token(0), Some(Token::LParen | Token::LBrace)) {
            self.pattern_factor()?;
        }
        Ok(())
    }

    fn pattern_factor(&mut self) -> Read {
        if self.take("PERMUTE") {
            self.open()?;
            self.nested(Self::pattern)?;
            while self.sign(&Token::Comma) {
                self.nested(Self::pattern)?;
            }
            self.close()?;
        } else if self.sign(&Token::LParen) {
            self.nested(Self::pattern)?;
            self.close()?;
        } else if self.token(0) == Some(&Token::LBrace) && self.token(1) == Some(&Token::Minus) {
            self.at += 2;
            self.nested(Self::pattern)?;
            self.need_sign(&Token::Minus, "'-'")?;
            self.need_sign(&Token::RBrace, "'}'")?;
        } else {
            self.name("a variable of the pattern")?;
        }
        let repeats = match self.token(0) {
            Some(Token::Mul | Token::Plus) => {
                self.at += 1;
                true
            }
            Some(Token::Placeholder(mark)) if mark == "?" => {
                self.at += 1;
                true
            }
            Some(Token::LBrace) if self.token(1) != Some(&Token::Minus) => {
                self.at += 1;
                if self.sign(&Token::Comma) {
                    self.number("a number")?;
                } else {
                    self.number("a number")?;
                    if self.sign(&Token::Comma) && matches!(self.token(0), Some(Token::Number(..))) {
                        self.at += 1;
                    }
                }
                self.need_sign(&Token::RBrace, "'}'")?;
                true
            }
            _ => false,
        };
        if repeats && matches!(self.token(0), Some(Token::Placeholder(mark)) if mark == "?") {
            self.at += 1;
        }
        Ok(())
    }

    fn subset(&mut self) -> Read {
        self.name("a variable of the pattern")?;
        self.need_sign(&Token::Eq, "'='")?;
        self.names()
    }

    fn definition(&mut self) -> Read {
        self.name("a variable of the pattern")?;
        self.need("AS")?;
        self.expression(Context::Value)
    }
}
