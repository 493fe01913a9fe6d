//! Text to values.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, PrimitiveArray, StringArray};
use arrow::datatypes::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time64MicrosecondType,
};
use calve_types::{Error, LogicalType};
use datafusion_common::Result as DfResult;

use super::time::timestamp_array;
use super::{Caster, uncovered};
use crate::args::mistyped;
use crate::civil::{Civil, Stamp, days_in_month, days_of};
use crate::decimal;

/// Why a text is no such value: Flink's words after "For input string: '..'.".
type Why = &'static str;

const INVALID: Why = "Invalid character found.";
const OVERFLOW: Why = "Overflow.";

impl Caster<'_> {
    pub(super) fn parse(&self, array: &ArrayRef, to: &LogicalType) -> DfResult<ArrayRef> {
        use LogicalType as T;
        let texts = array.as_string_opt::<i32>().ok_or_else(|| mistyped("Utf8", array))?;
        let in_zone = |stamp: Stamp| Stamp { seconds: self.context.time_zone.to_utc(stamp.seconds), ..stamp };
        Ok(match to {
            T::Boolean => self.parse_booleans(texts)?,
            T::TinyInt => self.numbers::<Int8Type>(texts, to, |t| narrow(parse_long(t)?))?,
            T::SmallInt => self.numbers::<Int16Type>(texts, to, |t| narrow(parse_long(t)?))?,
            T::Int => self.numbers::<Int32Type>(texts, to, |t| narrow(parse_long(t)?))?,
            T::BigInt => self.numbers::<Int64Type>(texts, to, parse_long)?,
            T::Float => self.numbers::<Float32Type>(texts, to, |t| parse_float(t).ok_or(INVALID))?,
            T::Double => self.numbers::<Float64Type>(texts, to, |t| parse_float(t).ok_or(INVALID))?,
            T::Decimal { precision, scale } => {
                let numbers = self.primitive::<Decimal128Type>(
                    texts,
                    |t| parse_decimal(t, *precision, *scale),
                    number_error(to),
                )?;
                Arc::new(numbers.with_precision_and_scale(*precision, *scale as i8)?)
            }
            T::Date => Arc::new(self.primitive::<Date32Type>(
                texts,
                |t| parse_date(t).ok_or(INVALID),
                |text, _| bad(text, "DATE", format!("For input string: '{text}'.")),
            )?),
            T::Time(precision) => Arc::new(self.primitive::<Time64MicrosecondType>(
                texts,
                |t| {
                    let micros = parse_time(t).ok_or(INVALID)?;
                    let unit = 10i64.pow(6 - u32::from(*precision.min(&6)));
                    Ok(micros / unit * unit)
                },
                |text, _| bad(text, "TIME", format!("For input string: '{text}'.")),
            )?),
            T::Timestamp(_) => self.stamps(texts, to, |stamp| stamp)?,
            T::TimestampLtz(_) => self.stamps(texts, to, in_zone)?,
            _ => return Err(uncovered(&T::STRING, to)),
        })
    }

    /// Each text parsed; a failure is an error or, for TRY_CAST, NULL.
    fn primitive<T: ArrowPrimitiveType>(
        &self,
        texts: &StringArray,
        parse: impl Fn(&str) -> Result<T::Native, Why>,
        error: impl Fn(&str, Why) -> Error,
    ) -> DfResult<PrimitiveArray<T>> {
        texts
            .iter()
            .map(|text| {
                let Some(text) = text else { return Ok(None) };
                match parse(text) {
                    Ok(value) => Ok(Some(value)),
                    Err(why) => self.refuse(|| error(text, why)),
                }
            })
            .collect()
    }

    fn numbers<T: ArrowPrimitiveType>(
        &self,
        texts: &StringArray,
        to: &LogicalType,
        parse: impl Fn(&str) -> Result<T::Native, Why>,
    ) -> DfResult<ArrayRef> {
        Ok(Arc::new(self.primitive::<T>(texts, parse, number_error(to))?))
    }

    fn stamps(&self, texts: &StringArray, to: &LogicalType, zone: impl Fn(Stamp) -> Stamp) -> DfResult<ArrayRef> {
        let (LogicalType::Timestamp(precision) | LogicalType::TimestampLtz(precision)) = to else {
            return Err(uncovered(&LogicalType::STRING, to));
        };
        let units = self.primitive::<Int64Type>(
            texts,
            |text| parse_stamp(text).and_then(|s| zone(s).to_unit(*precision)).ok_or(INVALID),
            |text, _| bad(text, "TIMESTAMP", format!("Text '{text}' could not be parsed")),
        )?;
        timestamp_array(units, to)
    }

    fn parse_booleans(&self, texts: &StringArray) -> DfResult<ArrayRef> {
        let values: BooleanArray = texts
            .iter()
            .map(|text| {
                let Some(text) = text else { return Ok(None) };
                match parse_boolean(text) {
                    Some(value) => Ok(Some(value)),
                    None => self.refuse(|| bad(text, "BOOLEAN", format!("Cannot parse '{text}' as BOOLEAN."))),
                }
            })
            .collect::<DfResult<_>>()?;
        Ok(Arc::new(values))
    }
}

fn bad(text: &str, to: &str, detail: String) -> Error {
    Error::new("cast-failed", format!("cannot cast '{text}' to {to}"))
        .with_detail(detail)
        .with_hint("TRY_CAST gives NULL instead")
}

fn number_error(to: &LogicalType) -> impl Fn(&str, Why) -> Error {
    let to = to.to_string();
    move |text, why| bad(text, &to, format!("For input string: '{text}'. {why}"))
}

fn narrow<N: TryFrom<i64>>(value: i64) -> Result<N, Why> {
    N::try_from(value).map_err(|_| OVERFLOW)
}

/// An integer: blanks around are cut, digits after a point must be digits and are dropped.
pub(crate) fn parse_long(text: &str) -> Result<i64, Why> {
    let text = text.trim_matches(' ');
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if text.is_empty() {
        return Err("Input is empty.");
    }
    if digits.is_empty() {
        return Err("Input has only positive or negative symbol.");
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return Err(INVALID);
    }
    whole
        .bytes()
        .try_fold(0i64, |value, b| {
            let digit = i64::from(b - b'0');
            let value = value.checked_mul(10)?;
            if negative { value.checked_sub(digit) } else { value.checked_add(digit) }
        })
        .ok_or(OVERFLOW)
}

/// What `Double.parseDouble` and `Float.parseFloat` take, without hexadecimal numbers.
pub(crate) fn parse_float<F: std::str::FromStr>(text: &str) -> Option<F> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, "NaN" | "Infinity") {
        return text.parse().ok();
    }
    // Java's literals may end with the type's letter.
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let is_number = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-');
    if !number.bytes().all(is_number) { None } else { number.parse().ok() }
}

/// A decimal number, rounded half up to the scale.
pub(crate) fn parse_decimal(text: &str, precision: u8, scale: u8) -> Result<i128, Why> {
    let text = text.trim_matches(|c: char| c <= ' ');
    if text.is_empty() {
        return Err("Input is empty.");
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return Err(INVALID);
            }
            (mantissa, exponent.parse::<i32>().map_err(|_| OVERFLOW)?)
        }
        None => (text, 0),
    };
    let unsigned = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if (whole.is_empty() && fraction.is_empty()) || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return Err(INVALID);
    }
    // Digit by digit up to the scale; the first one beyond decides the rounding.
    let point = i64::try_from(whole.len()).unwrap_or(i64::MAX).saturating_add(i64::from(exponent));
    let kept = point.saturating_add(i64::from(scale));
    let mut digits = whole.bytes().chain(fraction.bytes()).map(|b| i128::from(b - b'0'));
    let mut value = 0i128;
    let mut taken = 0i64;
    while taken < kept {
        let Some(digit) = digits.next() else { break };
        value = value.checked_mul(10).and_then(|v| v.checked_add(digit)).ok_or(OVERFLOW)?;
        taken += 1;
    }
    if taken < kept && value != 0 {
        value = u32::try_from(kept - taken)
            .ok()
            .and_then(|n| 10i128.checked_pow(n))
            .and_then(|unit| value.checked_mul(unit))
            .ok_or(OVERFLOW)?;
    } else if taken == kept && kept >= 0 && digits.next().is_some_and(|digit| digit >= 5) {
        value += 1;
    }
    let value = if mantissa.starts_with('-') { -value } else { value };
    if decimal::fits(value, precision) { Ok(value) } else { Err(OVERFLOW) }
}

/// `true`, `t`, `yes`, `y`, `1` and their opposites in any case; blanks are not cut.
fn parse_boolean(text: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 5]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(["true", "t", "yes", "y", "1"]) {
        Some(true)
    } else if is_one_of(["false", "f", "no", "n", "0"]) {
        Some(false)
    } else {
        None
    }
}

fn small_number(text: &str) -> Option<i64> {
    let text = text.trim();
    (!text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Days since 1970-01-01 of a text as `CAST(.. AS DATE)` takes it: `2024-01-05`, `2024-1-5`, `2024-03`, `2024`; what
/// follows a blank is ignored.
pub(crate) fn parse_date(text: &str) -> Option<i32> {
    let text = match text.find(' ') {
        Some(end) if end > 0 => text.get(..end)?,
        _ => text,
    };
    let mut parts = text.splitn(3, '-');
    let year = small_number(parts.next()?)?;
    let month = parts.next().map_or(Some(1), small_number)?;
    let day = parts.next().map_or(Some(1), small_number)?;
    if !(0..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let (month, day) = (month as u32, u32::try_from(day).ok()?);
    if day == 0 || day > days_in_month(year, month) {
        return None;
    }
    i32::try_from(days_of(Civil { year, month, day })).ok()
}

/// Microseconds of the day of a text as `CAST(.. AS TIME)` takes it: `10:11:12.345`, `10:11`, `10`. As in Flink 99
/// minutes are an hour and 39 minutes; unlike there nothing goes beyond the day.
pub(crate) fn parse_time(text: &str) -> Option<i64> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = clock.splitn(3, ':');
    let hour = small_number(parts.next()?)?;
    let minute = parts.next().map_or(Some(0), small_number)?;
    let second = parts.next();
    if second.is_none() && !fraction.is_empty() {
        return None;
    }
    let second = second.map_or(Some(0), small_number)?;
    let fraction = fraction.trim();
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let micros = i64::from(fraction_nanos(fraction)) / 1000;
    let total = (hour * 3600 + minute * 60 + second) * 1_000_000 + micros;
    (total < crate::civil::MICROS_PER_DAY).then_some(total)
}

/// The nanoseconds of the digits after a point; digits beyond the ninth are dropped.
fn fraction_nanos(digits: &str) -> u32 {
    digits.bytes().chain(std::iter::repeat(b'0')).take(9).fold(0, |n, b| n * 10 + u32::from(b.wrapping_sub(b'0') % 10))
}

/// A text as `CAST(.. AS TIMESTAMP)` takes it: `yyyy-MM-dd[ HH:mm:ss[.fraction]]`, one digit instead of two allowed; the
/// 30th of February is its last day.
pub(crate) fn parse_stamp(text: &str) -> Option<Stamp> {
    let number = |text: &str, width: std::ops::RangeInclusive<usize>| {
        (width.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse::<u32>().ok())?
    };
    let (date, time) = match text.split_once(' ') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year = number(parts.next()?, 4..=4)?;
    let month = number(parts.next()?, 1..=2)?;
    let day = number(parts.next()?, 1..=2)?;
    if parts.next().is_some() || year == 0 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = i64::from(year);
    let days = days_of(Civil { year, month, day: day.min(days_in_month(year, month)) });
    let mut stamp = Stamp { seconds: days * 86_400, nanos: 0 };
    if let Some(time) = time {
        let (clock, fraction) = match time.split_once('.') {
            Some((clock, fraction)) => (clock, fraction),
            None => (time, ""),
        };
        let mut parts = clock.split(':');
        let hour = number(parts.next()?, 1..=2)?;
        let minute = number(parts.next()?, 1..=2)?;
        let second = number(parts.next()?, 1..=2)?;
        if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        if fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        stamp.seconds += i64::from(hour * 3600 + minute * 60 + second);
        stamp.nanos = fraction_nanos(fraction);
    }
    Some(stamp)
}
