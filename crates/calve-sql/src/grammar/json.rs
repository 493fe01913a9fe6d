//! The JSON functions, whose arguments have clauses.

use sqlparser::tokenizer::Token;

use super::{Context, Grammar, Read, Rule, Stop};

impl Grammar<'_> {
    /// A call of a JSON function: whether one was read.
    pub(super) fn json(&mut self) -> Result<bool, Stop> {
        if self.token(1) != Some(&Token::LParen) {
            return Ok(false);
        }
        let calls: [(&str, Rule<Self>); 7] = [
            ("JSON_EXISTS", Self::json_exists),
            ("JSON_VALUE", Self::json_value),
            ("JSON_QUERY", Self::json_query),
            ("JSON_OBJECT", Self::json_object),
            ("JSON_ARRAY", Self::json_array),
            ("JSON_OBJECTAGG", Self::json_object_agg),
            ("JSON_ARRAYAGG", Self::json_array_agg),
        ];
        let Some((name, read)) = calls.into_iter().find(|(name, _)| self.is(0, name)) else { return Ok(false) };
        self.at += 2;
        read(self)?;
        self.close()?;
        if name == "JSON_ARRAYAGG" && self.take("WITHIN") {
            self.need("GROUP")?;
            self.open()?;
            self.order_by()?;
            self.close()?;
        }
        Ok(true)
    }

    /// `document, path [PASSING value AS name, ..]`
    fn json_source(&mut self) -> Read {
        self.expression(Context::Value)?;
        self.need_sign(&Token::Comma, "','")?;
        self.expression(Context::Value)?;
        if self.take("PASSING") {
            self.passed()?;
            while self.sign(&Token::Comma) {
                self.passed()?;
            }
        }
        Ok(())
    }

    /// `value AS name`
    fn passed(&mut self) -> Read {
        self.expression(Context::Value)?;
        self.need("AS")?;
        self.name("a name")
    }

    fn json_exists(&mut self) -> Read {
        self.json_source()?;
        if self.take_one(&["TRUE", "FALSE", "UNKNOWN", "ERROR"]) {
            self.need("ON")?;
            self.need("ERROR")?;
        }
        Ok(())
    }

    fn returning(&mut self) -> Read {
        if self.take("RETURNING") { self.data_type() } else { Ok(()) }
    }

    fn on_empty_or_error(&mut self) -> Read {
        self.need("ON")?;
        self.need_one(&["EMPTY", "ERROR"], "EMPTY or ERROR")
    }

    fn json_value(&mut self) -> Read {
        self.json_source()?;
        self.returning()?;
        loop {
            if self.take("DEFAULT") {
                self.expression(Context::Value)?;
            } else if !self.take_one(&["NULL", "ERROR"]) {
                return Ok(());
            }
            self.on_empty_or_error()?;
        }
    }

    fn json_query(&mut self) -> Read {
        self.json_source()?;
        self.returning()?;
        let with = self.take("WITH");
        if with {
            self.take_one(&["CONDITIONAL", "UNCONDITIONAL"]);
        }
        if with || self.take("WITHOUT") {
            self.take("ARRAY");
            self.need("WRAPPER")?;
        }
        loop {
            if self.take("EMPTY") {
                self.need_one(&["ARRAY", "OBJECT"], "ARRAY or OBJECT")?;
            } else if !self.take_one(&["NULL", "ERROR"]) {
                return Ok(());
            }
            self.on_empty_or_error()?;
        }
    }

    fn on_null(&mut self) -> Read {
        if self.take_one(&["NULL", "ABSENT"]) {
            self.need("ON")?;
            return self.need("NULL");
        }
        Ok(())
    }

    /// `[KEY] k VALUE v` or `k : v`; a key without a value is wrong where it begins, if Flink looks so far ahead.
    fn json_pair(&mut self, by_three: bool) -> Read {
        let start = self.at;
        let key = self.is(0, "KEY") && self.token(1) != Some(&Token::Colon) && !self.is(1, "VALUE");
        self.at += usize::from(key);
        self.expression(Context::Value)?;
        let colon = !key && self.sign(&Token::Colon);
        if !colon && !self.take("VALUE") {
            if !key && by_three {
                self.at = start;
            }
            return self.stop("a key and VALUE");
        }
        self.expression(Context::Value)
    }

    fn json_object(&mut self) -> Read {
        if self.token(0) != Some(&Token::RParen) && !self.on_null_only() {
            self.json_pair(true)?;
            while self.sign(&Token::Comma) {
                self.json_pair(true)?;
            }
        }
        self.on_null()
    }

    fn json_array(&mut self) -> Read {
        if self.token(0) != Some(&Token::RParen) {
            self.expression(Context::Value)?;
            while self.sign(&Token::Comma) {
                self.expression(Context::Value)?;
            }
        }
        self.on_null()
    }

    fn on_null_only(&self) -> bool {
        self.is_one(0, &["NULL", "ABSENT"]) && self.is(1, "ON")
    }

    fn json_object_agg(&mut self) -> Read {
        self.json_pair(false)?;
        self.on_null()
    }

    fn json_array_agg(&mut self) -> Read {
        self.expression(Context::Value)?;
        if self.is(0, "ORDER") {
            self.order_by()?;
        }
        self.on_null()
    }
}
