//! Values from text, as the readers of Flink's text formats take them. They take other texts than CAST does: a time
//! must have its minutes, `24:00:00` is midnight, `1e400` is Infinity.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use calve_functions::{Civil, days_in_month, days_of};

/// Why a text is no such value, in the words of the Java method that Flink calls.
pub(crate) type Why = String;

/// Java's `String.trim`.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

fn no_number(text: &str) -> Why {
    format!("For input string: \"{text}\"")
}

/// `Integer.parseInt` and its siblings: a sign and digits.
pub(crate) fn integer<N: std::str::FromStr>(text: &str) -> Result<N, Why> {
    text.parse().map_err(|_| no_number(text))
}

/// `Double.parseDouble` or `Float.parseFloat`: blanks are cut, `NaN`, `Infinity`, `0x1.8p3`, a final `d` or `f`.
pub(crate) fn float<F: std::str::FromStr>(text: &str) -> Result<F, Why> {
    let trimmed = trim(text);
    if trimmed.is_empty() {
        return Err("empty String".to_owned());
    }
    let (sign, unsigned) = match trimmed.split_at_checked(1) {
        Some(("+", rest)) => ("", rest),
        Some(("-", rest)) => ("-", rest),
        _ => ("", trimmed),
    };
    let is_number = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-');
    let number = unsigned.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(unsigned);
    let parsed = if let Some(digits) = number.strip_prefix("0x").or_else(|| number.strip_prefix("0X")) {
        // the shortest decimal number that is the same double
        hexadecimal(digits).and_then(|value| format!("{sign}{value:e}").parse().ok())
    } else if matches!(unsigned, "NaN" | "Infinity") {
        format!("{sign}{unsigned}").parse().ok()
    } else if number.bytes().all(is_number) && !number.starts_with(['+', '-']) {
        format!("{sign}{number}").parse().ok()
    } else {
        None
    };
    parsed.ok_or_else(|| no_number(trimmed))
}

/// The digits of Java's hexadecimal numbers, `1.8p3`, up to 60 bits.
fn hexadecimal(digits: &str) -> Option<f64> {
    let (mantissa, exponent) = digits.split_once(['p', 'P'])?;
    let mut exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for (i, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = digit.to_digit(16)?;
        let is_kept = value >> 56 == 0;
        if is_kept {
            value = value << 4 | u64::from(digit);
        }
        match (is_kept, i < whole.len()) {
            (true, false) => exponent = exponent.checked_sub(4)?,
            (false, true) => exponent = exponent.checked_add(4)?,
            _ => {}
        }
    }
    // in two steps, as the power alone may be out of range
    let half = exponent / 2;
    Some(value as f64 * 2f64.powi(half) * 2f64.powi(exponent - half))
}

/// `new BigDecimal(text)`, rounded half up to the scale; `Ok(None)` if it does not fit the precision (Flink's
/// `DecimalData.fromBigDecimal`).
pub(crate) fn decimal(text: &str, precision: u8, scale: u8) -> Result<Option<i128>, Why> {
    let wrong = || format!("'{text}' is neither made of digits with a decimal point nor of \"e\" notation");
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| wrong())?),
        None => (text, 0),
    };
    let unsigned = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let is_digits = whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !is_digits {
        return Err(wrong());
    }
    let Some(value) = scaled(whole, fraction, exponent, scale) else { return Ok(None) };
    let fits = 10i128.checked_pow(u32::from(precision)).is_none_or(|limit| value < limit);
    Ok(fits.then_some(if mantissa.starts_with('-') { -value } else { value }))
}

/// The digits `whole.fraction` times 10^exponent at a scale, rounded half up; `None` beyond 38 digits.
fn scaled(whole: &str, fraction: &str, exponent: i32, scale: u8) -> Option<i128> {
    let mut digits = whole.bytes().chain(fraction.bytes()).map(|b| i128::from(b.wrapping_sub(b'0')));
    let kept = i64::try_from(whole.len()).ok()?.saturating_add(i64::from(exponent)).saturating_add(i64::from(scale));
    let (mut value, mut taken) = (0i128, 0i64);
    while taken < kept {
        match digits.next() {
            Some(digit) => value = value.checked_mul(10)?.checked_add(digit)?,
            None if value == 0 => return Some(0),
            None => value = value.checked_mul(10)?,
        }
        taken += 1;
    }
    if kept >= 0 && digits.next().is_some_and(|digit| digit >= 5) {
        value = value.checked_add(1)?;
    }
    Some(value)
}

fn digits(text: &str, count: usize) -> Option<u32> {
    (text.len() == count && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Year, month, day.
type Ymd = (i64, u32, u32);

/// `DateTimeFormatter.ISO_LOCAL_DATE`: a year of four digits, or a sign and up to nine; month and day of two.
fn ymd(text: &str) -> Option<Ymd> {
    let (rest, day) = text.rsplit_once('-')?;
    let (year, month) = rest.rsplit_once('-')?;
    let year = match year.strip_prefix(['+', '-']) {
        // a plus stands only before more than four digits, as years up to 9999 need none
        Some(number) if (4..=9).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit()) => {
            let number: i64 = number.parse().ok()?;
            match (year.starts_with('-'), number > 9999) {
                (true, _) if number == 0 => return None,
                (true, _) => -number,
                (false, true) => number,
                (false, false) => return None,
            }
        }
        Some(_) => return None,
        None => i64::from(digits(year, 4)?),
    };
    let (month, day) = (digits(month, 2)?, digits(day, 2)?);
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, day))
}

/// `java.sql.Date.valueOf`: `yyyy-[m]m-[d]d`, a day up to 31 (the 30th of February is the 1st or 2nd of March).
pub(crate) fn sql_date(text: &str) -> Result<i32, Why> {
    let parse = || {
        let mut parts = text.split('-');
        let year = digits(parts.next()?, 4)?;
        let short = |part: &str| if part.len() == 1 { digits(part, 1) } else { digits(part, 2) };
        let (month, day) = (short(parts.next()?)?, short(parts.next()?)?);
        if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        // the year 0 is 1 BC, whose number in java.sql.Date is 1
        let year = i64::from(year.max(1));
        i32::try_from(days_of(Civil { year, month, day: 1 }) + i64::from(day) - 1).ok()
    };
    parse().ok_or_else(|| format!("'{text}' is no date such as 2024-01-31"))
}

/// `ISO_LOCAL_DATE.parse(text)`, strictly: the day must exist in its month only as far as Java's SMART resolver asks.
pub(crate) fn iso_date(text: &str) -> Result<i32, Why> {
    let parse = || {
        let (year, month, day) = ymd(text)?;
        // ISO_LOCAL_DATE resolves strictly
        (day <= days_in_month(year, month)).then(|| i32::try_from(days_of(Civil { year, month, day })).ok())?
    };
    parse().ok_or_else(|| format!("Text '{text}' could not be parsed"))
}

/// Seconds and nanoseconds of `HH:mm:ss`; with `short` the seconds may be missing; `24:00:00` gives 86,400 seconds.
fn clock(text: &str, short: bool) -> Option<(u32, u32)> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, fraction),
        None => (text, ""),
    };
    let mut parts = clock.split(':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let second = match parts.next() {
        Some(second) => digits(second, 2)?,
        None if short && clock.len() == text.len() => 0,
        None => return None,
    };
    let is_fraction = fraction.len() <= 9 && fraction.bytes().all(|b| b.is_ascii_digit());
    if parts.next().is_some() || minute > 59 || second > 59 || !is_fraction {
        return None;
    }
    let nanos = fraction
        .bytes()
        .chain(std::iter::repeat(b'0'))
        .take(9)
        .fold(0u32, |n, b| n * 10 + u32::from(b.wrapping_sub(b'0')));
    let seconds = hour * 3600 + minute * 60 + second;
    (hour < 24 || (seconds, nanos) == (86_400, 0)).then_some((seconds, nanos))
}

/// `LocalTime.parse(text)` in microseconds, the digits beyond the precision cut: `10:11`, `10:11:12.345`.
pub(crate) fn iso_time(text: &str, precision: u8) -> Result<i64, Why> {
    micros_of_day(clock(text, true).filter(|(seconds, _)| *seconds < 86_400), text, precision)
}

/// A time in Flink's SQL format, `HH:mm:ss` with a fraction, in microseconds, the digits beyond the precision cut;
/// `24:00:00` is midnight.
pub(crate) fn sql_time(text: &str, precision: u8) -> Result<i64, Why> {
    micros_of_day(clock(text, false).map(|(seconds, nanos)| (seconds % 86_400, nanos)), text, precision)
}

fn micros_of_day(clock: Option<(u32, u32)>, text: &str, precision: u8) -> Result<i64, Why> {
    let (seconds, nanos) = clock.ok_or_else(|| format!("Text '{text}' could not be parsed"))?;
    let micros = i64::from(seconds) * 1_000_000 + i64::from(nanos / 1000);
    let unit = 10i64.pow(6 - u32::from(precision.min(6)));
    Ok(micros / unit * unit)
}

/// How timestamps are written in a text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimestampFormat {
    /// `2024-01-31 10:11:12.5`
    Sql,
    /// `2024-01-31T10:11:12.5`
    Iso,
}

/// Seconds since 1970-01-01T00:00:00 and nanoseconds of a timestamp; one with a local time zone ends in `Z`.
pub(crate) fn timestamp(text: &str, format: TimestampFormat, zoned: bool) -> Result<(i64, u32), Why> {
    let parse = || {
        let text = if zoned { text.strip_suffix('Z')? } else { text };
        let separator = match format {
            TimestampFormat::Sql => ' ',
            TimestampFormat::Iso => 'T',
        };
        let (date, clock_text) = text.split_once(separator)?;
        let (year, month, day) = ymd(date)?;
        let (seconds, nanos) = clock(clock_text, format == TimestampFormat::Iso)?;
        // Java's SMART resolver: the 30th of February is its last day
        let day = day.min(days_in_month(year, month));
        Some((days_of(Civil { year, month, day }) * 86_400 + i64::from(seconds), nanos))
    };
    parse().ok_or_else(|| format!("Text '{text}' could not be parsed"))
}

/// The number that an array of `TIMESTAMP(precision)` holds; `None` outside of its range.
pub(crate) fn timestamp_unit((seconds, nanos): (i64, u32), precision: u8) -> Option<i64> {
    let unit = 10u32.pow(9 - u32::from(precision.min(9)));
    let nanos = nanos / unit * unit;
    let (per_second, part) = if precision > 6 { (1_000_000_000, nanos) } else { (1_000_000, nanos / 1000) };
    i64::try_from(i128::from(seconds) * per_second + i128::from(part)).ok()
}

/// Base64 as Jackson reads it: with padding, blanks between groups of four.
pub(crate) fn base64(text: &str) -> Result<Vec<u8>, Why> {
    let wrong = || "broken Base64 encoding".to_owned();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut group = text.bytes();
    while let Some(first) = group.by_ref().find(|b| *b > b' ') {
        let mut bits = 0u32;
        let mut letters = 0;
        let mut padding = 0;
        for letter in std::iter::once(Some(first)).chain((0..3).map(|_| None)) {
            let letter = letter.or_else(|| group.next()).ok_or_else(wrong)?;
            let value = match letter {
                b'A'..=b'Z' => letter - b'A',
                b'a'..=b'z' => letter - b'a' + 26,
                b'0'..=b'9' => letter - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' if letters >= 2 => {
                    padding += 1;
                    bits <<= 6;
                    continue;
                }
                _ => return Err(wrong()),
            };
            if padding > 0 {
                return Err(wrong());
            }
            letters += 1;
            bits = bits << 6 | u32::from(value);
        }
        let [_, a, b, c] = bits.to_be_bytes();
        bytes.extend([a, b, c].into_iter().take(3 - padding));
    }
    Ok(bytes)
}

/// Base64 with padding.
pub(crate) fn push_base64(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(STANDARD.encode(bytes).as_bytes());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    /// Every expectation is the answer of Flink 2.1.3.
    #[test]
    fn dates() {
        assert_eq!(sql_date("2024-01-05"), Ok(19_727));
        assert_eq!(sql_date("2024-1-5"), Ok(19_727));
        assert_eq!(sql_date("2024-02-30"), Ok(19_783), "the 1st of March");
        assert_eq!(sql_date("0000-01-01"), sql_date("0001-01-01"));
        for text in
            ["2024-13-01", "10000-01-01", "-0001-01-01", "2024-01-05 00:00:00", " 2024-01-05 ", "20240105", "", "é"]
        {
            assert!(sql_date(text).is_err(), "{text}");
        }
        assert!(iso_date("2024-02-30").is_err());
        assert_eq!(iso_date("2024-01-05"), Ok(19_727));
        assert_eq!(iso_date("+10000-01-01"), Ok(2_932_897));
        for text in ["2024-1-5", "10000-01-01", "2024-01-05T00:00:00"] {
            assert!(iso_date(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(iso_time("10:11:12.345", 0), Ok(36_672_000_000));
        assert_eq!(iso_time("10:11:12.3456", 3), Ok(36_672_345_000));
        assert_eq!(iso_time("10:11", 0), Ok(36_660_000_000));
        for text in ["1:2:3", "24:00:00", " 10:11:12", "", "10", "10:11:12.1234567890"] {
            assert!(iso_time(text, 0).is_err(), "{text}");
        }
        assert_eq!(sql_time("10:11:12.3456", 3), Ok(36_672_345_000));
        assert_eq!(sql_time("24:00:00", 0), Ok(0));
        for text in ["10:11", "10:11:12Z", "1:2:3", "", "24:00:01"] {
            assert!(sql_time(text, 0).is_err(), "{text}");
        }
    }

    #[test]
    fn timestamps() {
        let sql = |text| timestamp(text, TimestampFormat::Sql, false);
        assert_eq!(sql("2024-01-05 10:11:12.123456789"), Ok((1_704_449_472, 123_456_789)));
        assert_eq!(sql("2024-02-30 00:00:00"), sql("2024-02-29 00:00:00"));
        assert_eq!(sql("2024-01-05 24:00:00"), sql("2024-01-06 00:00:00"));
        assert_eq!(sql("2024-01-05 10:11:12."), Ok((1_704_449_472, 0)));
        for text in
            ["2024-01-05T10:11:12", "2024-01-05", "2024-1-5 1:2:3", "2024-01-05 10:11", "", "2024-01-05 10:11:12Z"]
        {
            assert!(sql(text).is_err(), "{text}");
        }
        let zoned = |text| timestamp(text, TimestampFormat::Sql, true);
        assert_eq!(zoned("2024-01-05 10:11:12.123Z"), Ok((1_704_449_472, 123_000_000)));
        for text in ["2024-01-05 10:11:12", "2024-01-05T10:11:12Z", "2024-01-05 10:11:12+01:00"] {
            assert!(zoned(text).is_err(), "{text}");
        }
        assert_eq!(timestamp_unit((1, 123_456_789), 3), Some(1_123_000));
        assert_eq!(timestamp_unit((1, 123_456_789), 9), Some(1_123_456_789));
        assert_eq!(timestamp_unit((i64::MAX, 0), 9), None);
    }

    #[test]
    fn decimals() {
        let read = |text| decimal(text, 5, 2);
        for (text, value) in [
            ("1", 100),
            ("1.005", 101),
            ("1.015", 102),
            ("999.994", 99_999),
            ("1e2", 10_000),
            ("+1", 100),
            ("-0.005", -1),
            ("0.004", 0),
            ("1.", 100),
            ("1e-400", 0),
            ("0e99999", 0),
        ] {
            assert_eq!(read(text), Ok(Some(value)), "{text}");
        }
        for text in ["999.995", "1234.5", "1e400", "1e2147483647"] {
            assert_eq!(read(text), Ok(None), "{text}");
        }
        for text in ["x", "", " 1.5 ", ".", "1e", "--1", "1.2.3"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn floats() {
        assert_eq!(float::<f64>("1e400"), Ok(f64::INFINITY));
        assert_eq!(float::<f64>(" 2 "), Ok(2.0));
        assert_eq!(float::<f64>("1d"), Ok(1.0));
        assert_eq!(float::<f32>("16777217"), Ok(16_777_216.0));
        assert!(float::<f64>("NaN").unwrap().is_nan());
        assert_eq!(float::<f64>("0x1p3"), Ok(8.0));
        assert_eq!(float::<f32>("-0x.8P-1f"), Ok(-0.25));
        assert_eq!(float::<f64>("-Infinity"), Ok(f64::NEG_INFINITY));
        for text in ["x", "", "inf", "1,5", "nan", "d", "0x1", "0xp1", "--1", "+-1", "0x-1p1"] {
            assert!(float::<f64>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn base_64() {
        assert_eq!(base64("aGk=").unwrap(), b"hi");
        assert_eq!(base64("YQ==").unwrap(), b"a");
        assert_eq!(base64("").unwrap(), b"");
        for text in ["aGk", "!!", "_-8=", "aG k="] {
            assert!(base64(text).is_err(), "{text}");
        }
        for bytes in [&b""[..], b"a", b"ab", b"abc", b"\xff\x00\xfe\xfd"] {
            let mut text = Vec::new();
            push_base64(bytes, &mut text);
            assert_eq!(base64(std::str::from_utf8(&text).unwrap()).unwrap(), bytes);
        }
    }
}
