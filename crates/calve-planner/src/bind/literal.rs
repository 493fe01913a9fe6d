//! Literals, typed as Calcite types them.

use calve_sql::ast;
use calve_types::{DataType, Error, LogicalType, Result, Span, Value};

use super::span;
use crate::expr::{Expr, ExprKind};

/// A literal expression.
pub(super) fn literal(value: Value, data_type: DataType, span: Span) -> Expr {
    Expr { kind: ExprKind::Literal(value), data_type, span }
}

/// A bare `NULL`: it has no type until its surroundings give it one.
pub(super) fn null(span: Span) -> Expr {
    literal(Value::Null, LogicalType::Null.nullable(), span)
}

/// A literal as the tokenizer gives it.
///
/// # Errors
/// `invalid-literal` for numbers out of range and malformed binary strings; `not-supported` for literals of other dialects.
pub(super) fn value(value: &ast::ValueWithSpan) -> Result<Expr> {
    let place = span::of(value);
    Ok(match &value.value {
        ast::Value::Number(digits, false) => number(digits, false, place)?,
        ast::Value::SingleQuotedString(s)
        | ast::Value::EscapedStringLiteral(s)
        | ast::Value::UnicodeStringLiteral(s)
        | ast::Value::NationalStringLiteral(s) => string(s, place),
        ast::Value::HexStringLiteral(s) => binary(s, place)?,
        ast::Value::Boolean(b) => literal(Value::Boolean(*b), LogicalType::Boolean.not_null(), place),
        ast::Value::Null => null(place),
        ast::Value::Placeholder(name) if name.starts_with('$') => {
            return Err(Error::new("unknown-column", format!("column '{name}' not found"))
                .with_detail(format!("Column '{name}' not found in any table"))
                .at(place));
        }
        ast::Value::Placeholder(_) => {
            return Err(Error::new("invalid-expression", "a statement has no parameters")
                .with_detail("Illegal use of dynamic parameter")
                .at(place));
        }
        other => return Err(Error::unsupported(format!("the literal {other}")).at(place)),
    })
}

/// A character literal: `CHAR(n)`, n as Java counts characters.
pub(super) fn string(text: &str, place: Span) -> Expr {
    let length = u32::try_from(text.encode_utf16().count()).unwrap_or(LogicalType::MAX_LENGTH);
    literal(Value::String(text.to_owned()), LogicalType::Char(length).not_null(), place)
}

fn binary(hex: &str, place: Span) -> Result<Expr> {
    let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
    let bytes = digits.and_then(|digits| {
        let mut pairs = digits.chunks_exact(2);
        let bytes = pairs.by_ref().map(|pair| pair.iter().fold(0u8, |byte, digit| (byte << 4) | digit)).collect();
        pairs.remainder().is_empty().then_some(bytes)
    });
    let bytes: Vec<u8> = bytes.ok_or_else(|| {
        Error::new("invalid-literal", format!("the binary string X'{hex}' has no even number of hexadecimal digits"))
            .with_detail("Binary literal string must contain an even number of hexits")
            .at(place)
    })?;
    let length = u32::try_from(bytes.len()).unwrap_or(LogicalType::MAX_LENGTH);
    Ok(literal(Value::Bytes(bytes), LogicalType::Binary(length).not_null(), place))
}

/// A number: INT, BIGINT if it is too large for INT, DECIMAL with a point, DOUBLE with an exponent. The sign belongs
/// to the literal, so that the smallest INT and BIGINT can be written.
///
/// # Errors
/// `invalid-literal` if the digits do not fit a BIGINT: as in Flink, also those of a DECIMAL.
pub(super) fn number(text: &str, negative: bool, place: Span) -> Result<Expr> {
    let sign = if negative { "-" } else { "" };
    let out_of_range = || {
        Error::new("invalid-literal", format!("the number {sign}{text} is out of range"))
            .with_detail(format!("Numeric literal '{sign}{text}' out of range"))
            .at(place)
    };
    if text.contains(['e', 'E']) {
        let value: f64 = text.parse().map_err(|_| out_of_range())?;
        let value = if negative && value != 0.0 { -value } else { value };
        return Ok(literal(Value::Double(value), LogicalType::Double.not_null(), place));
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().map_err(|_| out_of_range())?;
    let unscaled = i64::try_from(if negative { -digits } else { digits }).map_err(|_| out_of_range())?;
    if fraction.is_empty() {
        let logical = if i32::try_from(unscaled).is_ok() { LogicalType::Int } else { LogicalType::BigInt };
        return Ok(literal(Value::Int(unscaled), logical.not_null(), place));
    }
    // Calcite counts the digits as they are written, leading zeros included.
    let digits_of = |s: &str| u8::try_from(s.len()).map_err(|_| out_of_range());
    let scale = digits_of(fraction)?;
    let precision = digits_of(whole)?.checked_add(scale).filter(|p| *p <= 38).ok_or_else(out_of_range)?;
    Ok(literal(Value::Decimal(unscaled.into()), LogicalType::Decimal { precision, scale }.not_null(), place))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn typed(text: &str, negative: bool) -> String {
        match number(text, negative, Span::default()) {
            Ok(e) => e.data_type.to_string(),
            Err(e) => e.detail.unwrap(),
        }
    }

    #[test]
    fn numbers() {
        for (text, negative, expected) in [
            ("1", false, "INT NOT NULL"),
            ("5.", false, "INT NOT NULL"),
            ("2147483647", false, "INT NOT NULL"),
            ("2147483648", false, "BIGINT NOT NULL"),
            ("2147483648", true, "INT NOT NULL"),
            ("9223372036854775808", true, "BIGINT NOT NULL"),
            ("9223372036854775808", false, "Numeric literal '9223372036854775808' out of range"),
            ("1.0", false, "DECIMAL(2, 1) NOT NULL"),
            ("0.5", false, "DECIMAL(2, 1) NOT NULL"),
            (".5", false, "DECIMAL(1, 1) NOT NULL"),
            ("123456789.123456789", false, "DECIMAL(18, 9) NOT NULL"),
            ("1E0", false, "DOUBLE NOT NULL"),
            ("1.5e10", false, "DOUBLE NOT NULL"),
        ] {
            assert_eq!(typed(text, negative), expected, "{text}");
        }
    }

    #[test]
    fn binary_strings() {
        assert!(
            matches!(binary("0aFF", Span::default()).unwrap().kind, ExprKind::Literal(Value::Bytes(b)) if b == [10, 255])
        );
        assert_eq!(binary("", Span::default()).unwrap().data_type.to_string(), "BINARY(0) NOT NULL");
        assert!(binary("0", Span::default()).is_err());
        assert!(binary("xy", Span::default()).is_err());
    }
}
