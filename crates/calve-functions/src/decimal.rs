//! DECIMAL arithmetic: exact, then rounded half up to the result's scale; NULL where the digits do not suffice.

use arrow::datatypes::i256;

/// 10^exponent for exponents up to 38; the largest beyond.
pub(crate) fn power_of_ten(exponent: u8) -> i128 {
    10i128.checked_pow(u32::from(exponent)).unwrap_or(i128::MAX)
}

/// Whether a number has at most `precision` digits.
pub(crate) fn fits(value: i128, precision: u8) -> bool {
    value.unsigned_abs() < power_of_ten(precision).unsigned_abs()
}

fn wide_power(exponent: u32) -> Option<i256> {
    i256::from_i128(10).checked_pow(exponent)
}

/// `a / b`, rounded half away from zero.
fn divide_half_up(a: i256, b: i256) -> Option<i256> {
    let quotient = a.checked_div(b)?;
    let remainder = a.checked_rem(b)?;
    let is_negative = |v: i256| v < i256::ZERO;
    // |2 r| >= |b|, without the doubling that might overflow.
    let magnitude = |v: i256| if is_negative(v) { v.checked_neg() } else { Some(v) };
    let (r, b_abs) = (magnitude(remainder)?, magnitude(b)?);
    if r >= b_abs.checked_sub(r)? {
        let one = if is_negative(a) == is_negative(b) { i256::ONE } else { i256::MINUS_ONE };
        quotient.checked_add(one)
    } else {
        Some(quotient)
    }
}

/// A wide number of a scale as a DECIMAL(precision, to).
fn narrow(value: i256, from: u32, precision: u8, to: u8) -> Option<i128> {
    let to = u32::from(to);
    let value = if to >= from {
        value.checked_mul(wide_power(to - from)?)?
    } else {
        match wide_power(from - to) {
            Some(unit) => divide_half_up(value, unit)?,
            None => i256::ZERO,
        }
    };
    value.to_i128().filter(|v| fits(*v, precision))
}

/// A number of scale `from` as a DECIMAL(precision, to).
pub(crate) fn rescale(value: i128, from: u8, precision: u8, to: u8) -> Option<i128> {
    if to >= from {
        let scaled = if to == from { value } else { product(value, power_of_ten(to - from))? };
        return fits(scaled, precision).then_some(scaled);
    }
    let unit = power_of_ten(from - to);
    let (quotient, remainder) = (value / unit, value % unit);
    let rounded =
        if remainder.unsigned_abs() >= unit.unsigned_abs().div_ceil(2) { quotient + value.signum() } else { quotient };
    fits(rounded, precision).then_some(rounded)
}

/// `a + b` as a DECIMAL(precision, scale); `a` and `b` with their scales.
pub(crate) fn add((a, s1): (i128, u8), (b, s2): (i128, u8), precision: u8, scale: u8) -> Option<i128> {
    let common = s1.max(s2);
    let scaled = |v: i128, s: u8| v.checked_mul(power_of_ten(common - s));
    if let (Some(x), Some(y)) = (scaled(a, s1), scaled(b, s2))
        && let Some(sum) = x.checked_add(y)
    {
        return rescale(sum, common, precision, scale);
    }
    let wide = |v: i128, s: u8| i256::from_i128(v).checked_mul(wide_power(u32::from(common - s))?);
    narrow(wide(a, s1)?.checked_add(wide(b, s2)?)?, u32::from(common), precision, scale)
}

/// `a * b`, exact. Numbers of 64 bits, as nearly all are, need one multiplication.
pub(crate) fn product(a: i128, b: i128) -> Option<i128> {
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(a), Ok(b)) => Some(i128::from(a) * i128::from(b)),
        _ => a.checked_mul(b),
    }
}

/// `a * b` as a DECIMAL(precision, scale).
pub(crate) fn multiply((a, s1): (i128, u8), (b, s2): (i128, u8), precision: u8, scale: u8) -> Option<i128> {
    let from = u32::from(s1) + u32::from(s2);
    if let Some(product) = product(a, b)
        && let Ok(from) = u8::try_from(from)
        && from <= 38
    {
        return rescale(product, from, precision, scale);
    }
    narrow(i256::from_i128(a).checked_mul(i256::from_i128(b))?, from, precision, scale)
}

/// `a / b` as a DECIMAL(precision, scale); `b` is not 0.
pub(crate) fn divide((a, s1): (i128, u8), (b, s2): (i128, u8), precision: u8, scale: u8) -> Option<i128> {
    let shift = i32::from(scale) + i32::from(s2) - i32::from(s1);
    let (a, b) = (i256::from_i128(a), i256::from_i128(b));
    let unit = wide_power(shift.unsigned_abs())?;
    // Where the dividend does not fit 256 bits the quotient has more than 38 digits.
    let quotient =
        if shift >= 0 { divide_half_up(a.checked_mul(unit)?, b)? } else { divide_half_up(a, b.checked_mul(unit)?)? };
    quotient.to_i128().filter(|v| fits(*v, precision))
}

/// The remainder of `a / b` with the sign of `a`, as a DECIMAL(precision, scale); `b` is not 0.
pub(crate) fn remainder((a, s1): (i128, u8), (b, s2): (i128, u8), precision: u8, scale: u8) -> Option<i128> {
    let common = s1.max(s2);
    let wide = |v: i128, s: u8| i256::from_i128(v).checked_mul(wide_power(u32::from(common - s))?);
    narrow(wide(a, s1)?.checked_rem(wide(b, s2)?)?, u32::from(common), precision, scale)
}

/// Which of two numbers with their scales is greater.
pub(crate) fn compare((a, s1): (i128, u8), (b, s2): (i128, u8)) -> std::cmp::Ordering {
    let common = s1.max(s2);
    // 38 digits times 10^38 fit 256 bits.
    let wide = |v: i128, s: u8| {
        wide_power(u32::from(common - s)).and_then(|unit| i256::from_i128(v).checked_mul(unit)).unwrap_or(i256::MAX)
    };
    wide(a, s1).cmp(&wide(b, s2))
}

/// The nearest DOUBLE.
pub(crate) fn to_double(value: i128, scale: u8) -> f64 {
    // Up to 2^53 and 10^22 both sides are exact and one division rounds once.
    if value.unsigned_abs() <= 1 << 53 && scale <= 22 {
        return value as f64 / power_of_ten(scale) as f64;
    }
    format!("{value}e-{scale}").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rounds_half_up() {
        assert_eq!(rescale(123_455, 3, 5, 2), Some(12_346));
        assert_eq!(rescale(-123_455, 3, 5, 2), Some(-12_346));
        assert_eq!(rescale(5, 1, 1, 0), Some(1));
        assert_eq!(rescale(-25, 1, 1, 0), Some(-3));
        assert_eq!(rescale(12_345, 1, 5, 2), None);
        assert_eq!(divide((100, 2), (300, 2), 23, 13), Some(3_333_333_333_333));
        assert_eq!(divide((-2, 0), (3, 0), 10, 0), Some(-1));
        assert_eq!(remainder((1050, 2), (33, 1), 6, 2), Some(60));
        let max = 10i128.pow(38) - 1;
        assert_eq!(add((max, 0), (1, 0), 38, 0), None);
        assert_eq!(multiply((max, 0), (10, 0), 38, 0), None);
        assert_eq!(to_double(-9995, 2), -99.95);
    }

    proptest! {
        #[test]
        fn never_panics(a in any::<i128>(), b in any::<i128>(), s1 in 0u8..=38, s2 in 0u8..=38, p in 1u8..=38) {
            let limit = 10i128.pow(38);
            let (a, b) = (a % limit, b % limit);
            let scale = p.min(6);
            add((a, s1), (b, s2), p, scale);
            multiply((a, s1), (b, s2), p, scale);
            compare((a, s1), (b, s2));
            rescale(a, s1, p, scale);
            to_double(a, s1);
            if b != 0 {
                divide((a, s1), (b, s2), p, scale);
                remainder((a, s1), (b, s2), p, scale);
            }
        }
    }
}
