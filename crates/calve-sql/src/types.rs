//! Flink's data types.

use std::collections::{BTreeSet, HashSet};

use calve_types::{DataType, Error, IntervalField, LogicalType, Result, RowField};
use sqlparser::ast;
use sqlparser::tokenizer::Token;

use crate::parser::Parser;
use crate::script::ScriptStatement;
use crate::statement::Ident;

/// The name under which the dialect hands a cast's type through sqlparser's tree.
pub(crate) const ENCODED: &str = "__FLINK_TYPE";
const MAX_DEPTH: usize = 100;

/// Parses a data type, such as `ROW<a INT NOT NULL, b ARRAY<STRING>>`.
///
/// # Errors
/// `syntax-error`, at its place in `text`.
pub fn parse_type(text: &str) -> Result<DataType> {
    let statement = ScriptStatement { text: text.to_owned(), line: 1, column: 1, error: None };
    let mut parser = Parser::new(&statement)?;
    let data_type = parser.data_type()?;
    parser.expect_end()?;
    Ok(data_type)
}

/// The type of a cast in sqlparser's tree.
///
/// # Errors
/// `internal` for a type that the dialect did not write.
pub fn decode_type(encoded: &ast::DataType) -> Result<DataType> {
    match encoded {
        ast::DataType::Custom(name, arguments) if name.to_string() == ENCODED => {
            arguments.first().map_or_else(|| Err(Error::internal("a type without text")), |text| parse_type(text))
        }
        other => Err(Error::unsupported(format!("data type {other}"))),
    }
}

/// VARCHAR of a length; without one it is STRING, in Flink.
fn varchar(length: Option<u32>) -> LogicalType {
    length.map_or(LogicalType::STRING, LogicalType::Varchar)
}

/// VARBINARY of a length; without one it is BYTES, in Flink.
fn varbinary(length: Option<u32>) -> LogicalType {
    length.map_or(LogicalType::BYTES, LogicalType::Varbinary)
}

impl Parser {
    /// A type with its nullability: nullable unless `NOT NULL` follows.
    pub(crate) fn data_type(&mut self) -> Result<DataType> {
        self.type_at(0)
    }

    fn type_at(&mut self, depth: usize) -> Result<DataType> {
        let start = self.span();
        let too_deep =
            || Error::new("syntax-error", format!("data type is nested more than {MAX_DEPTH} levels deep")).at(start);
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        let mut data_type = self.base_type(depth)?.nullable();
        for _ in depth..=MAX_DEPTH {
            if self.keywords(&["NOT", "NULL"]) {
                data_type.nullable = false;
            } else {
                self.keyword("NULL");
            }
            if self.keyword("ARRAY") {
                data_type = LogicalType::Array(Box::new(data_type)).nullable();
            } else if self.keyword("MULTISET") {
                data_type = LogicalType::Multiset(Box::new(data_type)).nullable();
            } else {
                return Ok(data_type);
            }
        }
        Err(too_deep())
    }

    fn base_type(&mut self, depth: usize) -> Result<LogicalType> {
        let span = self.span();
        let Some(name) = self.take_word() else { return Err(self.expected("a data type")) };
        Ok(match name.to_ascii_uppercase().as_str() {
            "BOOLEAN" => LogicalType::Boolean,
            "TINYINT" => LogicalType::TinyInt,
            "SMALLINT" => LogicalType::SmallInt,
            "INT" | "INTEGER" => LogicalType::Int,
            "BIGINT" => LogicalType::BigInt,
            "FLOAT" => LogicalType::Float,
            "DOUBLE" => {
                self.keyword("PRECISION");
                LogicalType::Double
            }
            "DECIMAL" | "DEC" | "NUMERIC" => self.decimal()?,
            "STRING" => LogicalType::STRING,
            "BYTES" => LogicalType::BYTES,
            "CHAR" | "CHARACTER" => {
                let varying = self.keyword("VARYING");
                let n = self.length("CHAR")?;
                if varying { varchar(n) } else { LogicalType::Char(n.unwrap_or(1)) }
            }
            "VARCHAR" => varchar(self.length("VARCHAR")?),
            "BINARY" => {
                let varying = self.keyword("VARYING");
                let n = self.length("BINARY")?;
                if varying { varbinary(n) } else { LogicalType::Binary(n.unwrap_or(1)) }
            }
            "VARBINARY" => varbinary(self.length("VARBINARY")?),
            "DATE" => LogicalType::Date,
            "TIME" => {
                let p = self.precision(0)?;
                if self.keyword("WITHOUT") {
                    self.expect_keywords(&["TIME", "ZONE"])?;
                }
                LogicalType::Time(p)
            }
            "TIMESTAMP" => {
                let p = self.precision(6)?;
                if self.keyword("WITHOUT") {
                    self.expect_keywords(&["TIME", "ZONE"])?;
                    LogicalType::Timestamp(p)
                } else if self.keyword("WITH") {
                    let local = self.keyword("LOCAL");
                    self.expect_keywords(&["TIME", "ZONE"])?;
                    if local { LogicalType::TimestampLtz(p) } else { LogicalType::TimestampTz(p) }
                } else {
                    LogicalType::Timestamp(p)
                }
            }
            "TIMESTAMP_LTZ" => LogicalType::TimestampLtz(self.precision(6)?),
            "INTERVAL" => self.interval_type()?,
            "ARRAY" => LogicalType::Array(Box::new(self.bracketed(depth)?)),
            "MULTISET" => LogicalType::Multiset(Box::new(self.bracketed(depth)?)),
            "MAP" => {
                self.expect(&Token::Lt)?;
                let key = self.type_at(depth + 1)?;
                self.expect(&Token::Comma)?;
                let value = self.type_at(depth + 1)?;
                self.expect(&Token::Gt)?;
                LogicalType::Map(Box::new(key), Box::new(value))
            }
            "ROW" => self.row_type(depth)?,
            "RAW" => {
                self.expect(&Token::LParen)?;
                let class = self.string("a class name")?;
                self.expect(&Token::Comma)?;
                let serializer = self.string("a serializer")?;
                self.expect(&Token::RParen)?;
                LogicalType::Raw { class, serializer }
            }
            "VARIANT" => LogicalType::Variant,
            "NULL" => LogicalType::Null,
            _ => {
                return Err(Error::new("unknown-type", format!("unknown data type '{name}'"))
                    .with_detail(format!("Unknown identifier '{name}'"))
                    .at(span));
            }
        })
    }

    fn bracketed(&mut self, depth: usize) -> Result<DataType> {
        self.expect(&Token::Lt)?;
        let element = self.type_at(depth + 1)?;
        self.expect(&Token::Gt)?;
        Ok(element)
    }

    fn row_type(&mut self, depth: usize) -> Result<LogicalType> {
        let close = if self.token(&Token::Neq) {
            return Ok(LogicalType::Row(vec![]));
        } else if self.token(&Token::Lt) {
            Token::Gt
        } else {
            self.expect(&Token::LParen)?;
            Token::RParen
        };
        let mut fields = vec![];
        let (mut names, mut repeated) = (HashSet::new(), vec![]);
        while !self.token(&close) {
            if !fields.is_empty() {
                self.expect(&Token::Comma)?;
            }
            let Ident { value: name, span } = self.ident("a field name")?;
            let data_type = self.type_at(depth + 1)?;
            let comment = self.take_string();
            if name.trim().is_empty() {
                return Err(Error::new("invalid-type", "a field's name is blank")
                    .with_detail("Field names must contain at least one non-whitespace character.")
                    .at(span));
            }
            if !names.insert(name.clone()) {
                repeated.push((name.clone(), span));
            }
            fields.push(RowField { name, data_type, comment });
        }
        if let Some((name, span)) = repeated.first() {
            let all: BTreeSet<&str> = repeated.iter().map(|(name, _)| name.as_str()).collect();
            let all: Vec<&str> = all.into_iter().collect();
            return Err(Error::new("duplicate-column", format!("field '{name}' stands twice in a ROW"))
                .with_detail(format!("Field names must be unique. Found duplicates: [{}]", all.join(", ")))
                .at(*span));
        }
        Ok(LogicalType::Row(fields))
    }

    fn decimal(&mut self) -> Result<LogicalType> {
        let span = self.span();
        let (mut precision, mut scale) = (10, 0);
        if self.token(&Token::LParen) {
            precision = self.number("a precision")?;
            if self.token(&Token::Comma) {
                scale = self.number("a scale")?;
            }
            self.expect(&Token::RParen)?;
        }
        // Flink cuts what is too large without a word
        let precision = precision.min(38);
        if precision == 0 {
            return Err(Error::new("invalid-type", "precision of DECIMAL must be between 1 and 38")
                .with_detail("Decimal precision must be between 1 and 38 (both inclusive).")
                .at(span));
        }
        if scale > precision {
            return Err(Error::new("invalid-type", "scale of DECIMAL must be between 0 and its precision")
                .with_detail(format!("Decimal scale must be between 0 and the precision {precision} (both inclusive)."))
                .at(span));
        }
        Ok(LogicalType::Decimal { precision: precision as u8, scale: scale as u8 })
    }

    fn length(&mut self, what: &str) -> Result<Option<u32>> {
        let span = self.span();
        if !self.token(&Token::LParen) {
            return Ok(None);
        }
        let n = self.number("a length")?;
        self.expect(&Token::RParen)?;
        match u32::try_from(n) {
            Ok(n) if n <= LogicalType::MAX_LENGTH => Ok(Some(n)),
            _ => Err(Error::new("invalid-type", format!("length of {what} must be between 0 and 2147483647")).at(span)),
        }
    }

    fn precision(&mut self, default: u8) -> Result<u8> {
        if !self.token(&Token::LParen) {
            return Ok(default);
        }
        let n = self.number("a precision")?;
        self.expect(&Token::RParen)?;
        // Flink cuts what is too large without a word
        Ok(u8::try_from(n).unwrap_or(u8::MAX).min(9))
    }

    fn interval_field(&mut self) -> Result<IntervalField> {
        for (word, field) in [
            ("YEAR", IntervalField::Year),
            ("MONTH", IntervalField::Month),
            ("DAY", IntervalField::Day),
            ("HOUR", IntervalField::Hour),
            ("MINUTE", IntervalField::Minute),
            ("SECOND", IntervalField::Second),
        ] {
            if self.keyword(word) {
                return Ok(field);
            }
        }
        Err(self.expected("a unit of an interval"))
    }

    fn interval_type(&mut self) -> Result<LogicalType> {
        let from = self.interval_field()?;
        let (mut leading, mut fraction) = (2, 6);
        if self.token(&Token::LParen) {
            let n = self.number("a precision")?.min(9) as u8;
            if from == IntervalField::Second {
                fraction = n
            } else {
                leading = n
            }
            if self.token(&Token::Comma) {
                fraction = self.number("a precision")?.min(9) as u8;
            }
            self.expect(&Token::RParen)?;
        }
        let mut to = from;
        if self.keyword("TO") {
            to = self.interval_field()?;
            if self.token(&Token::LParen) {
                fraction = self.number("a precision")?.min(9) as u8;
                self.expect(&Token::RParen)?;
            }
        }
        if to < from || (from <= IntervalField::Month) != (to <= IntervalField::Month) {
            return Err(
                Error::new("syntax-error", format!("there is no type INTERVAL {from} TO {to}")).at(self.last_span())
            );
        }
        Ok(if from <= IntervalField::Month {
            LogicalType::IntervalYearMonth { from, to, precision: leading }
        } else {
            LogicalType::IntervalDayTime { from, to, day_precision: leading, fraction }
        })
    }
}
