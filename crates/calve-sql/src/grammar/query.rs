//! SELECT, VALUES, set operations, WITH, ORDER BY and LIMIT.

use calve_types::Error;
use sqlparser::tokenizer::Token;

use super::{Context, Grammar, Read, Stop};

impl Grammar<'_> {
    /// A query or an expression with ORDER BY and LIMIT.
    pub(super) fn ordered(&mut self, context: Context) -> Read {
        self.nested(|g| {
            g.query_or_expression(context)?;
            g.order_by_limit()
        })
    }

    fn query_or_expression(&mut self, context: Context) -> Read {
        let mut context = context;
        if self.is(0, "WITH") && context != Context::Value {
            self.with()?;
            context = Context::Query;
        }
        self.leaf(context)?;
        while self.take_one(&["UNION", "INTERSECT", "EXCEPT"]) {
            self.take_one(&["ALL", "DISTINCT"]);
            self.leaf(Context::Query)?;
        }
        Ok(())
    }

    pub(super) fn is_query(&self) -> bool {
        self.is_one(0, &["SELECT", "VALUES", "TABLE", "WITH"])
    }

    /// SELECT, VALUES, TABLE or an expression.
    fn leaf(&mut self, context: Context) -> Read {
        if context != Context::Value {
            if self.is(0, "SELECT") {
                return self.select();
            }
            if self.take("VALUES") {
                self.row()?;
                return self.more(Self::row);
            }
            if self.take("TABLE") {
                return self.compound_name("the name of a table");
            }
        }
        self.expression(context)
    }

    /// `WITH a AS (query), ..`
    fn with(&mut self) -> Read {
        self.need("WITH")?;
        self.with_item()?;
        while self.sign(&Token::Comma) {
            self.with_item()?;
        }
        Ok(())
    }

    fn with_item(&mut self) -> Read {
        self.name("a name")?;
        if self.token(0) == Some(&Token::LParen) {
            self.names()?;
        }
        self.need("AS")?;
        self.open()?;
        if !self.is_query() && self.token(0) != Some(&Token::LParen) {
            return self.stop("a query");
        }
        self.ordered(Context::Query)?;
        self.close()
    }

    /// A row of VALUES.
    fn row(&mut self) -> Read {
        if self.token(0) == Some(&Token::LParen) && self.is(1, "ROW") && self.token(2) == Some(&Token::LParen) {
            self.at += 2;
            self.list(Context::Value, true)?;
            return self.close();
        }
        if self.is(0, "ROW") && self.token(1) == Some(&Token::LParen) {
            self.at += 1;
        }
        if self.token(0) == Some(&Token::LParen) {
            return self.list(Context::Value, true);
        }
        self.expression(Context::Value)
    }

    /// `(a, b)` or `(query)`.
    pub(super) fn list(&mut self, context: Context, with_default: bool) -> Read {
        self.open()?;
        let first = if context == Context::Value { Context::Any } else { context };
        if !(with_default && self.take("DEFAULT")) {
            self.ordered(first)?;
        }
        while self.token(0) == Some(&Token::Comma) {
            if context == Context::Query {
                return self.stop("')'");
            }
            self.at += 1;
            if !(with_default && self.take("DEFAULT")) {
                self.expression(context)?;
            }
        }
        self.close()
    }

    fn select(&mut self) -> Read {
        self.need("SELECT")?;
        if self.is(0, "STREAM") {
            return Err(self.unsupported("SELECT STREAM"));
        }
        self.take_one(&["ALL", "DISTINCT"]);
        self.select_item()?;
        while self.sign(&Token::Comma) {
            self.select_item()?;
        }
        if !self.take("FROM") {
            return Ok(());
        }
        self.from()?;
        if self.take("WHERE") {
            self.expression(Context::Value)?;
        }
        if self.take("GROUP") {
            self.need("BY")?;
            if self.is_one(0, &["ALL", "DISTINCT"]) {
                return Err(self.unsupported("GROUP BY ALL and GROUP BY DISTINCT"));
            }
            self.grouping_item()?;
            self.more(Self::grouping_item)?;
        }
        if self.take("HAVING") {
            self.expression(Context::Value)?;
        }
        if self.take("WINDOW") {
            self.named_window()?;
            while self.sign(&Token::Comma) {
                self.named_window()?;
            }
        }
        if self.take("QUALIFY") {
            self.expression(Context::Value)?;
        }
        Ok(())
    }

    fn select_item(&mut self) -> Read {
        if !self.sign(&Token::Mul) {
            self.expression(Context::Value)?;
        }
        if self.take("AS") {
            if self.is_string(0) {
                return Err(self.text_as_alias());
            }
            return self.alias_name();
        }
        if self.is_name(0) {
            return self.alias_name();
        }
        if self.is_string(0) { Err(self.text_as_alias()) } else { Ok(()) }
    }

    fn text_as_alias(&self) -> Stop {
        let error = Error::new("syntax-error", "an alias is a name, not a text in quotes")
            .with_detail("Expecting alias, found character literal")
            .with_hint("a name stands in backticks, or in none");
        self.refused(self.at, error)
    }

    fn grouping_item(&mut self) -> Read {
        if self.are(&["GROUPING", "SETS"]) {
            self.at += 2;
            self.open()?;
            self.nested(Self::grouping_item)?;
            while self.sign(&Token::Comma) {
                self.nested(Self::grouping_item)?;
            }
            return self.close();
        }
        if self.take_one(&["ROLLUP", "CUBE"]) {
            self.open()?;
            self.expression(Context::Value)?;
            self.more(|g| g.expression(Context::Value))?;
            return self.close();
        }
        if self.token(0) == Some(&Token::LParen) && self.token(1) == Some(&Token::RParen) {
            self.at += 2;
            return Ok(());
        }
        self.expression(Context::Value)
    }

    fn named_window(&mut self) -> Read {
        self.name("the name of a window")?;
        self.need("AS")?;
        self.window()
    }

    /// `([name] [PARTITION BY ..] [ORDER BY ..] [ROWS | RANGE ..])`
    pub(super) fn window(&mut self) -> Read {
        self.open()?;
        if self.is_name(0) {
            self.at += 1;
        }
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
        if self.take_one(&["ROWS", "RANGE"]) {
            if self.take("BETWEEN") {
                self.bound()?;
                self.need("AND")?;
            }
            self.bound()?;
        }
        if self.is_one(0, &["ALLOW", "DISALLOW"]) && self.is(1, "PARTIAL") {
            return Err(self.unsupported("ALLOW PARTIAL of a window"));
        }
        self.close()
    }

    fn bound(&mut self) -> Read {
        let sides = ["PRECEDING", "FOLLOWING"];
        if self.is(0, "CURRENT") && self.is(1, "ROW") {
            self.at += 2;
            return Ok(());
        }
        if self.is(0, "UNBOUNDED") && self.is_one(1, &sides) {
            self.at += 2;
            return Ok(());
        }
        self.expression(Context::Value)?;
        self.need_one(&sides, "PRECEDING or FOLLOWING")
    }

    pub(super) fn order_by(&mut self) -> Read {
        self.need("ORDER")?;
        self.need("BY")?;
        self.order_item()?;
        self.more(Self::order_item)
    }

    pub(super) fn order_item(&mut self) -> Read {
        self.expression(Context::Value)?;
        self.take_one(&["ASC", "DESC"]);
        if self.take("NULLS") {
            self.need_one(&["FIRST", "LAST"], "FIRST or LAST")?;
        }
        Ok(())
    }

    fn order_by_limit(&mut self) -> Read {
        if self.is(0, "ORDER") {
            self.order_by()?;
        }
        let start = self.at;
        let refused = |g: &Self, message: &str, hint: &str| {
            let detail = format!("{message} is not allowed under the current SQL conformance level");
            let error = Error::new("syntax-error", format!("{message} is not allowed")).with_detail(detail);
            g.refused(start, error.with_hint(hint))
        };
        if self.take("LIMIT") {
            if self.take("ALL") {
                return self.offset();
            }
            self.number("a number")?;
            if self.sign(&Token::Comma) {
                self.number("a number")?;
                return Err(refused(self, "'LIMIT start, count'", "write LIMIT count OFFSET start"));
            }
            return self.offset();
        }
        let has_offset = self.is(0, "OFFSET");
        self.offset()?;
        if has_offset && self.take("LIMIT") {
            if !self.take("ALL") {
                self.number("a number")?;
            }
            return Err(refused(self, "'OFFSET start LIMIT count'", "write LIMIT count OFFSET start"));
        }
        if self.take("FETCH") {
            self.need_one(&["FIRST", "NEXT"], "FIRST or NEXT")?;
            self.number("a number")?;
            self.need_one(&["ROW", "ROWS"], "ROWS")?;
            self.need("ONLY")?;
        }
        Ok(())
    }

    fn offset(&mut self) -> Read {
        if self.take("OFFSET") {
            self.number("a number")?;
            self.take_one(&["ROW", "ROWS"]);
        }
        Ok(())
    }
}
