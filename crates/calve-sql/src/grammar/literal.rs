//! Literals and units of time.

use calve_types::Error;
use sqlparser::tokenizer::Token;

use super::{Context, Grammar, Read, Stop};

/// Units, each with what may follow its TO.
const UNITS: [(&str, &[&str]); 8] = [
    ("YEAR", &["MONTH"]),
    ("QUARTER", &[]),
    ("MONTH", &[]),
    ("WEEK", &[]),
    ("DAY", &["HOUR", "MINUTE", "SECOND"]),
    ("HOUR", &["MINUTE", "SECOND"]),
    ("MINUTE", &["SECOND"]),
    ("SECOND", &[]),
];

impl Grammar<'_> {
    /// Whether a literal was read, if one stands there.
    pub(super) fn literal(&mut self) -> Result<bool, Stop> {
        match self.token(0) {
            Some(Token::Number(..) | Token::Placeholder(_)) => {
                self.at += 1;
                return Ok(true);
            }
            Some(Token::HexStringLiteral(digits)) => {
                if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                    let error = Error::new("syntax-error", "a binary literal has only hexadecimal digits")
                        .with_detail("Binary literal string must contain only characters '0' - '9', 'A' - 'F'");
                    return Err(self.refused(self.at, error));
                }
                self.at += 1;
                while self.is_string(0) {
                    self.at += 1;
                }
                return Ok(true);
            }
            Some(Token::LBrace) => return self.braces().map(|()| true),
            _ if self.is_string(0) => {
                while self.is_string(0) {
                    self.at += 1;
                }
                return Ok(true);
            }
            Some(Token::Word(_)) => {}
            _ => return Ok(false),
        }
        if self.take_one(&["TRUE", "FALSE", "NULL", "UNKNOWN"]) {
            return Ok(true);
        }
        if self.is(0, "INTERVAL") {
            return self.interval().map(|()| true);
        }
        if self.is_one(0, &["DATE", "TIME", "TIMESTAMP", "DATETIME", "UUID"]) && self.is_string(1) {
            self.at += 2;
            return Ok(true);
        }
        if self.are(&["TIMESTAMP", "WITH"]) {
            self.at += 2;
            self.take("LOCAL");
            self.need("TIME")?;
            self.need("ZONE")?;
            return if self.is_string(0) {
                self.at += 1;
                Ok(true)
            } else {
                self.stop("a time in quotes")
            };
        }
        Ok(false)
    }

    /// `INTERVAL [-] '1' DAY`, `INTERVAL e DAY`
    pub(super) fn interval(&mut self) -> Read {
        self.need("INTERVAL")?;
        if matches!(self.token(0), Some(Token::Plus | Token::Minus)) {
            self.at += 1;
        }
        if self.is_string(0) || matches!(self.token(0), Some(Token::Number(..))) {
            self.at += 1;
        } else if self.sign(&Token::LParen) {
            self.expression(Context::Value)?;
            self.close()?;
        } else {
            self.compound_name("a number in quotes")?;
        }
        if self.unit(false)? { Ok(()) } else { self.stop("a unit of time") }
    }

    /// `DAY [(p)] [TO SECOND [(s)]]`: whether one was read.
    pub(super) fn unit(&mut self, behind_parenthesis: bool) -> Result<bool, Stop> {
        let unit = UNITS.iter().find(|(unit, _)| {
            let plural = |w: &str| w.strip_suffix(['s', 'S']).is_some_and(|w| w.eq_ignore_ascii_case(unit));
            self.is(0, unit)
                || !behind_parenthesis
                    && matches!(self.token(0), Some(Token::Word(w)) if w.quote_style.is_none() && plural(&w.value))
        });
        let Some((unit, ends)) = unit else { return Ok(false) };
        if behind_parenthesis && matches!(*unit, "QUARTER" | "WEEK") && self.token(1) == Some(&Token::LParen) {
            return Ok(false);
        }
        self.at += 1;
        self.precision()?;
        let ends_well = |g: &Self| {
            ends.iter().any(|end| {
                let plural = |w: &str| w.strip_suffix(['s', 'S']).is_some_and(|w| w.eq_ignore_ascii_case(end));
                g.is(1, end)
                    || matches!(g.token(1), Some(Token::Word(w)) if w.quote_style.is_none() && plural(&w.value))
            })
        };
        if self.is(0, "TO") && ends_well(self) {
            self.at += 2;
            self.precision()?;
        }
        Ok(true)
    }

    fn precision(&mut self) -> Read {
        if self.token(0) == Some(&Token::LParen) && matches!(self.token(1), Some(Token::Number(..))) {
            self.at += 2;
            if self.sign(&Token::Comma) {
                self.number("a number")?;
            }
            self.close()?;
        }
        Ok(())
    }

    /// `{d '2020-01-01'}`, `{fn f(a)}`
    fn braces(&mut self) -> Read {
        let known = self.is_one(1, &["D", "T", "TS"]) && self.is_string(2) || self.is(1, "FN");
        if !known {
            return self.stop("an expression");
        }
        self.at += 2;
        if self.is_string(0) {
            self.at += 1;
        } else {
            if !matches!(self.token(0), Some(Token::Word(_))) {
                return self.stop("the name of a function");
            }
            self.at += 1;
            self.arguments()?;
        }
        self.need_sign(&Token::RBrace, "'}'")
    }
}
