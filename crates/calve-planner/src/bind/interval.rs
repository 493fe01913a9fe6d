//! `INTERVAL '..' unit [TO unit]`.

use calve_sql::ast;
use calve_types::{Error, IntervalField, Location, LogicalType, Result, Span, Value};

use super::literal::literal;
use super::span;
use crate::expr::Expr;

const DEFAULT_LEADING_PRECISION: u8 = 2;
const DEFAULT_FRACTION: u8 = 6;

/// An interval literal; `word` is where INTERVAL stands.
///
/// # Errors
/// `invalid-literal` if the text does not have the fields of its units or a field is out of range; `not-supported`
/// for an interval that is not a literal and for units that are not Flink's.
pub(super) fn interval(interval: &ast::Interval, word: Option<Location>) -> Result<Expr> {
    let (text, negative, place) = text(&interval.value)?;
    let place = word.map_or(place, |start| Span { start, ..place });
    let leading = interval.leading_field.as_ref();
    let leading = leading.ok_or_else(|| Error::new("invalid-literal", "an interval needs a unit").at(place))?;
    let (from, factor) = unit(leading).map_err(|e| e.at(place))?;
    let to = match &interval.last_field {
        Some(last) => unit(last).map_err(|e| e.at(place))?.0,
        None => from,
    };
    let precision = match interval.leading_precision {
        Some(p) => u8::try_from(p).ok().filter(|p| (1..=10).contains(p)),
        None => Some(DEFAULT_LEADING_PRECISION),
    };
    let precision =
        precision.ok_or_else(|| Error::new("invalid-literal", "the interval's precision is out of range").at(place))?;
    let units = Units { from, to, precision };
    let illegal = |reason: Problem| match reason {
        Problem::Malformed => {
            let units = units.to_string();
            Error::new("invalid-literal", format!("invalid interval '{text}' {units}"))
                .with_detail(format!("Illegal interval literal format '{text}' for INTERVAL {units}"))
                .at(place)
        }
        Problem::TooLarge(value) => Error::new(
            "invalid-literal",
            format!("{value} exceeds the precision of {from}({precision}) in interval '{text}'"),
        )
        .with_detail(format!("Interval field value {value} exceeds precision of {from}({precision}) field"))
        .with_hint(format!("write INTERVAL '{text}' {from}({})", value.len()))
        .at(place),
    };
    let (signed, body) = match text.strip_prefix(['-', '+']) {
        Some(body) => (text.starts_with('-'), body),
        None => (false, text),
    };
    let sign = if signed != negative { -1 } else { 1 };
    let amount = parse(&units, body).map_err(illegal)?;
    let amount = amount.checked_mul(sign * factor).ok_or_else(|| illegal(Problem::Malformed))?;
    if from <= IntervalField::Month {
        let months = i32::try_from(amount).map_err(|_| illegal(Problem::Malformed))?;
        let logical = LogicalType::IntervalYearMonth { from, to, precision };
        return Ok(literal(Value::Months(months), logical.not_null(), place));
    }
    let fraction = interval.fractional_seconds_precision.and_then(|p| u8::try_from(p).ok()).unwrap_or(DEFAULT_FRACTION);
    let logical = LogicalType::IntervalDayTime { from, to, day_precision: precision, fraction };
    Ok(literal(Value::Millis(amount), logical.not_null(), place))
}

struct Units {
    from: IntervalField,
    to: IntervalField,
    precision: u8,
}

impl std::fmt::Display for Units {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.from == self.to { write!(f, "{}", self.from) } else { write!(f, "{} TO {}", self.from, self.to) }
    }
}

enum Problem {
    Malformed,
    TooLarge(String),
}

/// The quoted text, whether a minus stands before it, and its place.
fn text(value: &ast::Expr) -> Result<(&str, bool, Span)> {
    match value {
        ast::Expr::Value(literal) => match &literal.value {
            ast::Value::SingleQuotedString(text) => Ok((text, false, span::of(literal))),
            _ => Err(not_literal().at(span::of(literal))),
        },
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => {
            let (text, negative, place) = text(expr)?;
            Ok((text, !negative, place))
        }
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Plus, expr } => text(expr),
        _ => Err(not_literal()),
    }
}

fn not_literal() -> Error {
    Error::unsupported("an INTERVAL that is not a quoted literal").with_hint("write it in quotes: INTERVAL '1' DAY")
}

/// The unit and how many of it one of these is.
fn unit(field: &ast::DateTimeField) -> Result<(IntervalField, i64)> {
    use ast::DateTimeField as F;
    Ok(match field {
        F::Year | F::Years => (IntervalField::Year, 1),
        F::Quarter => (IntervalField::Month, 3),
        F::Month | F::Months => (IntervalField::Month, 1),
        F::Week(None) | F::Weeks => (IntervalField::Day, 7),
        F::Day | F::Days => (IntervalField::Day, 1),
        F::Hour | F::Hours => (IntervalField::Hour, 1),
        F::Minute | F::Minutes => (IntervalField::Minute, 1),
        F::Second | F::Seconds => (IntervalField::Second, 1),
        F::Custom(name) if name.value.eq_ignore_ascii_case("quarters") => (IntervalField::Month, 3),
        other => return Err(Error::unsupported(format!("the interval unit {other}"))),
    })
}

/// Months for the year-month family, else milliseconds.
fn parse(units: &Units, text: &str) -> Result<i64, Problem> {
    use IntervalField::{Day, Hour, Minute, Month, Second, Year};
    const FIELDS: [IntervalField; 6] = [Year, Month, Day, Hour, Minute, Second];
    let family = if units.from <= Month { Year..=Month } else { Day..=Second };
    if !family.contains(&units.to) || units.to < units.from {
        return Err(Problem::Malformed);
    }
    let mut rest = text;
    let mut total: i64 = 0;
    for field in FIELDS.into_iter().filter(|f| (units.from..=units.to).contains(f)) {
        let separator = match field {
            _ if field == units.to => None,
            Year => Some('-'),
            Day => Some(' '),
            _ => Some(':'),
        };
        let token = match separator {
            Some(separator) => {
                let (token, tail) = rest.split_once(separator).ok_or(Problem::Malformed)?;
                rest = tail;
                token
            }
            None => rest,
        };
        let (whole, fraction) = match (field, token.split_once('.')) {
            (Second, Some((whole, fraction))) => (whole, fraction),
            _ => (token, ""),
        };
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 9 {
            return Err(Problem::Malformed);
        }
        let value: i64 = whole.parse().map_err(|_| Problem::TooLarge(whole.to_owned()))?;
        if field == units.from {
            if value.checked_ilog10().map_or(1, |log| log + 1) > u32::from(units.precision) {
                return Err(Problem::TooLarge(value.to_string()));
            }
        } else if value
            > if field == Month {
                11
            } else if field == Hour {
                23
            } else {
                59
            }
        {
            return Err(Problem::Malformed);
        }
        let scale = match field {
            Year => 12,
            Month => 1,
            Day => 86_400_000,
            Hour => 3_600_000,
            Minute => 60_000,
            Second => 1_000,
        };
        let millis: i64 = if fraction.is_empty() {
            0
        } else {
            format!("{fraction:0<3}").get(..3).and_then(|s| s.parse().ok()).ok_or(Problem::Malformed)?
        };
        total = value
            .checked_mul(scale)
            .and_then(|v| v.checked_add(millis))
            .and_then(|v| total.checked_add(v))
            .ok_or(Problem::Malformed)?;
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use IntervalField::*;

    #[test]
    fn amounts() {
        for (from, to, precision, text, expected) in [
            (Day, Day, 2, "1", Some(86_400_000)),
            (Day, Second, 2, "1 02:00:00", Some(93_600_000)),
            (Day, Second, 2, "1 02:00:00.5", Some(93_600_500)),
            (Second, Second, 2, "1.2345", Some(1_234)),
            (Year, Month, 2, "1-3", Some(15)),
            (Year, Year, 2, "3", Some(36)),
            (Hour, Minute, 2, "90:30", Some(90 * 3_600_000 + 30 * 60_000)),
            (Day, Day, 2, "100", None),
            (Day, Day, 3, "100", Some(8_640_000_000)),
            (Year, Month, 2, "1-12", None),
            (Hour, Minute, 2, "1", None),
            (Day, Month, 2, "1", None),
            (Day, Day, 2, "", None),
            (Day, Day, 2, "1.5", None),
        ] {
            assert_eq!(parse(&Units { from, to, precision }, text).ok(), expected, "{text}");
        }
    }
}
