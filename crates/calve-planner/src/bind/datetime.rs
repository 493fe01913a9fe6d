//! `DATE '..'`, `TIME '..'` and `TIMESTAMP '..'`.

use calve_types::{Error, LogicalType, Result, Span, Value};

use super::literal::literal;
use crate::expr::Expr;

/// `DATE 'y-M-d'`.
///
/// # Errors
/// `invalid-literal` if there is no such day.
pub(super) fn date(text: &str, place: Span) -> Result<Expr> {
    let days = days(text).ok_or_else(|| illegal("DATE", text, "yyyy-MM-dd", place))?;
    Ok(literal(Value::Date(days), LogicalType::Date.not_null(), place))
}

/// `TIME 'H:m:s[.f]'`; Flink's TIME literals are TIME(0) and lose the fraction.
///
/// # Errors
/// `invalid-literal` if there is no such time.
pub(super) fn time(text: &str, place: Span) -> Result<Expr> {
    let (seconds, _) = time_of_day(text).ok_or_else(|| illegal("TIME", text, "HH:mm:ss", place))?;
    Ok(literal(Value::Time(seconds * 1_000_000), LogicalType::Time(0).not_null(), place))
}

/// `TIMESTAMP 'y-M-d[ H:m:s[.f]]'`; the precision is the number of digits of the fraction, at most 9.
///
/// # Errors
/// `invalid-literal` if there is no such time.
pub(super) fn timestamp(text: &str, place: Span) -> Result<Expr> {
    let illegal = || illegal("TIMESTAMP", text, "yyyy-MM-dd HH:mm:ss", place);
    let (day, time) = text.trim().split_once(' ').unwrap_or((text, "0:0:0"));
    let days = days(day).ok_or_else(illegal)?;
    let (seconds, fraction) = time_of_day(time).ok_or_else(illegal)?;
    let digits = fraction.get(..9).unwrap_or(fraction);
    let nanos = format!("{digits:0<9}").parse().map_err(|_| illegal())?;
    let precision = u8::try_from(digits.len()).unwrap_or(9);
    let value = Value::Timestamp { seconds: i64::from(days) * 86_400 + seconds, nanos };
    Ok(literal(value, LogicalType::Timestamp(precision).not_null(), place))
}

fn illegal(kind: &str, text: &str, format: &str, place: Span) -> Error {
    Error::new("invalid-literal", format!("invalid {kind} literal '{text}'"))
        .with_detail(format!("Illegal {kind} literal '{text}': not in format '{format}'"))
        .at(place)
}

/// Days since 1970-01-01 of `y-M-d` in the Gregorian calendar, years 1 to 9999.
fn days(text: &str) -> Option<i32> {
    let mut parts = text.trim().split('-');
    let (year, month, day) = (field(parts.next()?, 4)?, field(parts.next()?, 2)?, field(parts.next()?, 2)?);
    if parts.next().is_some() || year == 0 {
        return None;
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years are counted from March, so that the leap day is the last of its year.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468)
}

/// Seconds since midnight and the digits of the fraction of `H:m:s[.f]`.
fn time_of_day(text: &str) -> Option<(i64, &str)> {
    let (clock, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut parts = clock.split(':');
    let (hour, minute, second) = (field(parts.next()?, 2)?, field(parts.next()?, 2)?, field(parts.next()?, 2)?);
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some((i64::from(hour * 3600 + minute * 60 + second), fraction))
}

fn field(text: &str, digits: usize) -> Option<i32> {
    let valid = (1..=digits).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    valid.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::expr::ExprKind;

    #[test]
    fn dates() {
        for (text, expected) in [
            ("1970-01-01", Some(0)),
            ("2024-02-29", Some(19782)),
            ("2024-1-2", Some(19724)),
            ("1969-12-31", Some(-1)),
            ("0001-01-01", Some(-719162)),
            ("9999-12-31", Some(2932896)),
            ("2023-02-29", None),
            ("2024-13-01", None),
            ("2024-01-01T00:00:00", None),
            ("2024-01-01-01", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(days(text), expected, "{text}");
        }
    }

    #[test]
    fn timestamps() {
        for (text, kind, expected) in [
            ("2024-01-01 00:00:00", "TIMESTAMP(0) NOT NULL", (1704067200, 0)),
            ("2024-01-01 00:00:00.1", "TIMESTAMP(1) NOT NULL", (1704067200, 100_000_000)),
            ("2024-01-01 00:00:00.000", "TIMESTAMP(3) NOT NULL", (1704067200, 0)),
            ("2024-01-01 00:00:00.1234567891", "TIMESTAMP(9) NOT NULL", (1704067200, 123_456_789)),
            ("2024-1-1 1:2:3", "TIMESTAMP(0) NOT NULL", (1704070923, 0)),
            ("2024-01-01", "TIMESTAMP(0) NOT NULL", (1704067200, 0)),
        ] {
            let e = timestamp(text, Span::default()).unwrap();
            assert_eq!(e.data_type.to_string(), kind, "{text}");
            assert!(
                matches!(e.kind, ExprKind::Literal(Value::Timestamp { seconds, nanos }) if (seconds, nanos) == expected),
                "{text}"
            );
        }
        let error = timestamp("2024-01-01T00:00:00", Span::default()).unwrap_err();
        assert_eq!(
            error.detail.unwrap(),
            "Illegal TIMESTAMP literal '2024-01-01T00:00:00': not in format 'yyyy-MM-dd HH:mm:ss'"
        );
    }

    #[test]
    fn times() {
        assert_eq!(time_of_day("1:2:3"), Some((3723, "")));
        assert_eq!(time_of_day("01:02:03.456"), Some((3723, "456")));
        assert_eq!(time_of_day("25:00:00"), None);
        assert_eq!(time_of_day("10:00"), None);
    }
}
