//! Values of options.

use std::time::Duration;

/// A value that its option does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid value '{value}' for option '{name}': expected {expected}")]
pub struct InvalidValue {
    /// The option.
    pub name: String,
    /// The value.
    pub value: String,
    /// What the option takes.
    pub expected: String,
}

/// Splits `10 min` into the number and the unit in lower case.
fn number_and_unit(text: &str) -> Option<(u64, String)> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit.trim().to_lowercase()))
}

/// Parses a duration as Flink's `TimeUtils` does: a number and a unit, milliseconds without one.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = number_and_unit(text)?;
    let seconds = |s: u64| number.checked_mul(s).map(Duration::from_secs);
    match unit.as_str() {
        "d" | "day" | "days" => seconds(86_400),
        "h" | "hour" | "hours" => seconds(3_600),
        "m" | "min" | "minute" | "minutes" => seconds(60),
        "s" | "sec" | "secs" | "second" | "seconds" => seconds(1),
        "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => Some(Duration::from_millis(number)),
        "us" | "micro" | "micros" | "microsecond" | "microseconds" | "µs" => Some(Duration::from_micros(number)),
        "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

/// Parses a size in bytes: `512m`, `2g`, `2gb`, `1048576`; units are powers of 1,024.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let power = match unit.as_str() {
        "" | "b" | "bytes" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return None,
    };
    number.checked_mul(1_u64 << (10 * power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(parse_duration("10s"), Some(Duration::from_secs(10)));
        assert_eq!(parse_duration(" 1 min "), Some(Duration::from_secs(60)));
        assert_eq!(parse_duration("250"), Some(Duration::from_millis(250)));
        assert_eq!(parse_duration("1 fortnight"), None);
        assert_eq!(parse_duration("min"), None);
        assert_eq!(parse_duration("18446744073709551615 d"), None);
    }

    #[test]
    fn bytes() {
        assert_eq!(parse_bytes("2g"), Some(2 << 30));
        assert_eq!(parse_bytes("512 MB"), Some(512 << 20));
        assert_eq!(parse_bytes("17"), Some(17));
        assert_eq!(parse_bytes("99999999999t"), None);
        assert_eq!(parse_bytes("-1g"), None);
    }
}
