//! JSON numbers as Flink shows them: integers as they are, all others as Java's `BigDecimal.toString` writes them.

use std::fmt::Write as _;

/// Sign, digits without leading zeros, and the scale: `digits / 10^scale`.
fn parts(text: &str) -> Option<(bool, String, i64)> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    let scale = (fraction.len() as i64).checked_sub(exponent)?;
    i32::try_from(scale).ok()?;
    Some((negative && !digits.is_empty(), if digits.is_empty() { "0".into() } else { digits.to_owned() }, scale))
}

/// Whether Java has a number for it: the scale has 32 bits.
pub(super) fn is_representable(text: &str) -> bool {
    !text.contains(['e', 'E']) || parts(text).is_some()
}

/// Appends a number that is JSON, or what Java's `Double.toString` writes.
pub(super) fn push(text: &str, out: &mut String) {
    let Some((negative, digits, scale)) = parts(text) else {
        out.push_str(text);
        return;
    };
    if negative {
        out.push('-');
    }
    let count = digits.len() as i64;
    let adjusted = count - 1 - scale;
    if scale == 0 {
        out.push_str(&digits);
    } else if scale > 0 && adjusted >= -6 {
        match usize::try_from(count - scale) {
            Ok(whole) if whole > 0 => {
                let (whole, fraction) = digits.split_at(whole);
                out.extend([whole, ".", fraction]);
            }
            _ => {
                out.push_str("0.");
                out.extend((count..scale).map(|_| '0'));
                out.push_str(&digits);
            }
        }
    } else {
        let (first, rest) = digits.split_at(1);
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        let _ = write!(out, "E{adjusted:+}");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    /// As Java's `new BigDecimal(text).toString()`.
    #[test]
    fn as_big_decimal() {
        for (text, expected) in [
            ("1.0", "1.0"),
            ("1e2", "1E+2"),
            ("1.50E-7", "1.50E-7"),
            ("0.000001", "0.000001"),
            ("1e-7", "1E-7"),
            ("-1.5e10", "-1.5E+10"),
            ("1E400", "1E+400"),
            ("10.10", "10.10"),
            ("0.00", "0.00"),
            ("1.0E10", "1.0E+10"),
            ("0e5", "0E+5"),
            ("123e-2", "1.23"),
        ] {
            let mut out = String::new();
            push(text, &mut out);
            assert_eq!(out, expected);
        }
        assert!(!is_representable("1e9999999999"));
    }
}
