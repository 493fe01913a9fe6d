//! Values as Java and Jackson write them.

use std::fmt::Write as _;

use calve_functions::{Civil, civil_of};

/// `Double.toString`.
pub(crate) fn double(value: f64) -> String {
    let mut text = String::new();
    calve_functions::push_double(value, &mut text);
    text
}

/// `unscaled / 10^scale` as `BigDecimal.toPlainString` writes it.
pub(crate) fn push_plain_decimal(unscaled: i128, scale: i32, out: &mut String) {
    let digits = unscaled.unsigned_abs().to_string();
    if unscaled < 0 {
        out.push('-');
    }
    let Ok(scale) = usize::try_from(scale) else {
        out.push_str(&digits);
        if unscaled != 0 {
            out.extend(std::iter::repeat_n('0', scale.unsigned_abs() as usize));
        }
        return;
    };
    if scale == 0 {
        out.push_str(&digits);
    } else {
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at_checked(padded.len() - scale).unwrap_or((&padded, ""));
        out.push_str(whole);
        out.push('.');
        out.push_str(fraction);
    }
}

/// `unscaled / 10^scale` as `BigDecimal.toString` writes it: with an exponent if the scale is negative or there are more
/// than six zeros after the point.
pub(crate) fn push_decimal(unscaled: i128, scale: i32, out: &mut String) {
    let digits = unscaled.unsigned_abs().to_string();
    let exponent = i64::try_from(digits.len()).unwrap_or(0) - 1 - i64::from(scale);
    if scale >= 0 && exponent >= -6 {
        push_plain_decimal(unscaled, scale, out);
        return;
    }
    if unscaled < 0 {
        out.push('-');
    }
    let (first, rest) = digits.split_at_checked(1).unwrap_or((&digits, ""));
    out.push_str(first);
    if !rest.is_empty() {
        out.push('.');
        out.push_str(rest);
    }
    if exponent != 0 {
        // Writing to a String cannot fail.
        let _ = write!(out, "E{exponent:+}");
    }
}

/// `BigDecimal.stripTrailingZeros`: the number without zeros at its end.
pub(crate) fn strip_zeros(mut unscaled: i128, scale: u8) -> (i128, i32) {
    let mut scale = i32::from(scale);
    if unscaled == 0 {
        return (0, 0);
    }
    while unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    (unscaled, scale)
}

/// `LocalDate.toString`, which is also `ISO_LOCAL_DATE`'s format.
pub(crate) fn push_date(days: i64, out: &mut String) {
    let Civil { year, month, day } = civil_of(days);
    let _ = match year {
        0..=9999 => write!(out, "{year:04}"),
        ..0 => write!(out, "-{:04}", year.unsigned_abs()),
        _ => write!(out, "+{year}"),
    };
    let _ = write!(out, "-{month:02}-{day:02}");
}

/// `HH:mm:ss` and the digits of the fraction without zeros at the end.
pub(crate) fn push_clock(seconds: i64, nanos: i64, out: &mut String) {
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if nanos > 0 {
        let digits = format!("{nanos:09}");
        out.push('.');
        out.push_str(digits.trim_end_matches('0'));
    }
}

/// `LocalTime.toString`: without seconds if they are 0, else with 0, 3, 6 or 9 digits of the fraction.
pub(crate) fn push_local_time(seconds: i64, nanos: i64, out: &mut String) {
    let _ = write!(out, "{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    if seconds % 60 > 0 || nanos > 0 {
        let _ = write!(out, ":{:02}", seconds % 60);
        push_fraction(nanos, out);
    }
}

/// `Instant.toString`: always with seconds.
pub(crate) fn push_instant_time(seconds: i64, nanos: i64, out: &mut String) {
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    push_fraction(nanos, out);
}

fn push_fraction(nanos: i64, out: &mut String) {
    let _ = match nanos {
        0 => Ok(()),
        n if n % 1_000_000 == 0 => write!(out, ".{:03}", n / 1_000_000),
        n if n % 1_000 == 0 => write!(out, ".{:06}", n / 1_000),
        n => write!(out, ".{n:09}"),
    };
}

/// A string as Jackson writes it in JSON, with quotes.
pub(crate) fn push_json_string(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push(b'"');
    let mut start = 0;
    for (i, byte) in text.bytes().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            8 => b"\\b",
            12 => b"\\f",
            0..32 => b"",
            _ => continue,
        };
        out.extend_from_slice(text.as_bytes().get(start..i).unwrap_or_default());
        if escape.is_empty() {
            out.extend_from_slice(b"\\u00");
            out.extend([byte >> 4, byte & 15].map(|n| HEX.get(usize::from(n)).copied().unwrap_or(b'0')));
        } else {
            out.extend_from_slice(escape);
        }
        start = i + 1;
    }
    out.extend_from_slice(text.as_bytes().get(start..).unwrap_or_default());
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        let text = |unscaled, scale| {
            let mut out = String::new();
            push_decimal(unscaled, scale, &mut out);
            out
        };
        assert_eq!(text(150, 2), "1.50");
        assert_eq!(text(1, 7), "1E-7");
        assert_eq!(text(12, 8), "1.2E-7");
        assert_eq!(text(1, 6), "0.000001");
        assert_eq!(text(0, 10), "0E-10");
        assert_eq!(text(-1, -2), "-1E+2");
        assert_eq!(strip_zeros(10_000, 2), (1, -2));
        let mut plain = String::new();
        push_plain_decimal(-1, -2, &mut plain);
        assert_eq!(plain, "-100");
        plain.clear();
        push_plain_decimal(5, 7, &mut plain);
        assert_eq!(plain, "0.0000005");
    }

    #[test]
    fn times() {
        let mut text = String::new();
        push_local_time(36_000, 0, &mut text);
        text.push(' ');
        push_local_time(36_001, 120_000_000, &mut text);
        text.push(' ');
        push_clock(36_001, 120_000_000, &mut text);
        text.push(' ');
        push_instant_time(0, 1_000, &mut text);
        assert_eq!(text, "10:00 10:00:01.120 10:00:01.12 00:00:00.000001");
    }
}
