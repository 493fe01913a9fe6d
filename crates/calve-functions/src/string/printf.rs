//! PRINTF: Java's `java.util.Formatter`.
//!
//! As in Flink, a format that does not fit its arguments gives NULL, and values are what Flink's runtime has: a DATE is
//! its days since 1970-01-01, a TIME its milliseconds, and a DECIMAL is only good for `%s` and `%b`.

use std::fmt::Write as _;

use arrow::array::ArrayRef;
use arrow::datatypes::{
    Date32Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    IntervalYearMonthType, Time64MicrosecondType,
};
use calve_types::{Error, LogicalType};
use datafusion_common::Result as DfResult;

use super::{LONGEST, build, cut, is_text, types};
use crate::args::{Args, Values, failure};
use crate::cast::{push_decimal, push_double, push_float, push_local_time};
use crate::function::{Arg, Call, Inferred, Refusal, ScalarFunction, Signature};

pub(crate) static TABLE: &[ScalarFunction] = &[ScalarFunction::kernel("PRINTF", infer, printf)];

fn infer(args: &[Arg]) -> Inferred {
    let [format, values @ ..] = args else { return Err(Refusal::Count("at least 1 arguments")) };
    if !is_text(format) {
        return Err(Refusal::Types);
    }
    if let Some(value) = values.iter().find(|v| v.logical().is_constructed() || v.logical().is_binary()) {
        return Err(Error::unsupported(format!("PRINTF of {}", value.data_type.logical)).into());
    }
    Ok(Signature { args: types(args), returns: LogicalType::STRING.nullable() })
}

/// A value to be formatted.
enum Item<'a> {
    Null,
    Boolean(bool),
    /// An integer with its width in bits, which `%x` of a negative one shows.
    Integer(i64, u32),
    /// With what `%s` shows.
    Double(f64, String),
    Text(&'a str),
    /// Only fit for `%s` and `%b`.
    Shown(String),
}

/// One `%[argument$][flags][width][.precision]conversion`.
#[derive(Default)]
struct Specifier {
    argument: Option<usize>,
    previous: bool,
    left: bool,
    alternate: bool,
    plus: bool,
    space: bool,
    zero: bool,
    group: bool,
    parentheses: bool,
    width: Option<usize>,
    precision: Option<usize>,
    conversion: char,
}

type Cell<'a> = Box<dyn Fn(usize) -> Item<'a> + 'a>;

fn cell<'a>(args: &'a Args, index: usize, logical: &LogicalType) -> DfResult<Cell<'a>> {
    use LogicalType as T;
    macro_rules! numbers {
        ($t:ty, $f:expr) => {{
            let values: Values<'a, _> = args.numbers::<$t>(index)?;
            Box::new(move |row| values.get(row).map_or(Item::Null, $f)) as Cell<'a>
        }};
    }
    Ok(match logical {
        T::Boolean => {
            let values = args.booleans(index)?;
            Box::new(move |row| values.get(row).map_or(Item::Null, Item::Boolean))
        }
        T::TinyInt => numbers!(Int8Type, |v| Item::Integer(v.into(), 8)),
        T::SmallInt => numbers!(Int16Type, |v| Item::Integer(v.into(), 16)),
        T::Int => numbers!(Int32Type, |v| Item::Integer(v.into(), 32)),
        T::BigInt => numbers!(Int64Type, |v| Item::Integer(v, 64)),
        T::Date => numbers!(Date32Type, |v| Item::Integer(v.into(), 32)),
        T::Time(_) => numbers!(Time64MicrosecondType, |v| Item::Integer(v / 1000, 32)),
        T::IntervalYearMonth { .. } => numbers!(IntervalYearMonthType, |v| Item::Integer(v.into(), 32)),
        T::IntervalDayTime { .. } => numbers!(DurationMillisecondType, |v| Item::Integer(v, 64)),
        T::Float => numbers!(Float32Type, |v| {
            let mut text = String::new();
            push_float(v, &mut text);
            Item::Double(v.into(), text)
        }),
        T::Double => numbers!(Float64Type, |v| {
            let mut text = String::new();
            push_double(v, &mut text);
            Item::Double(v, text)
        }),
        T::Decimal { scale, .. } => {
            let (values, scale) = (args.numbers::<arrow::datatypes::Decimal128Type>(index)?, *scale);
            Box::new(move |row| {
                values.get(row).map_or(Item::Null, |v| {
                    let mut text = String::new();
                    push_decimal(v, scale, &mut text);
                    Item::Shown(text)
                })
            })
        }
        T::Timestamp(_) | T::TimestampLtz(_) => {
            let values = args.stamps(index)?;
            Box::new(move |row| {
                values.get(row).map_or(Item::Null, |stamp| {
                    let mut text = String::new();
                    push_local_time(stamp, &mut text);
                    Item::Shown(text)
                })
            })
        }
        T::Char(_) | T::Varchar(_) => {
            let values = args.texts(index)?;
            Box::new(move |row| values.get(row).map_or(Item::Null, Item::Text))
        }
        other => return Err(failure(Error::unsupported(format!("PRINTF of {other}")))),
    })
}

fn printf(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let formats = args.texts(0)?;
    let cells = (1..args.count()).map(|i| cell(args, i, call.arg(i))).collect::<DfResult<Vec<_>>>()?;
    let mut is_too_long = false;
    let result = build(args, |row, out| {
        format(formats.get(row)?, &cells, row, out)?;
        is_too_long |= out.len() > LONGEST;
        Some(())
    });
    if is_too_long { Err(failure(cut::too_long(call))) } else { result }
}

/// `None` where Java throws. Ends early where the text is longer than a function's longest.
fn format(format: &str, cells: &[Cell<'_>], row: usize, out: &mut String) -> Option<()> {
    let mut rest = format;
    let (mut next, mut last) = (0, None);
    while out.len() <= LONGEST
        && let Some((before, after)) = rest.split_once('%')
    {
        out.push_str(before);
        let (specifier, after) = Specifier::parse(after)?;
        rest = after;
        if matches!(specifier.conversion, 'n' | '%') {
            specifier.write_constant(out)?;
            continue;
        }
        let index = match (specifier.argument, specifier.previous) {
            (Some(index), _) => index.checked_sub(1)?,
            (None, true) => last?,
            (None, false) => {
                next += 1;
                next - 1
            }
        };
        last = Some(index);
        specifier.write(cells.get(index)?(row), out)?;
    }
    out.push_str(rest);
    Some(())
}

/// Digits at the start of a text as a number.
fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(end);
    // No width or precision makes a text longer than a function's longest.
    let number = digits.parse::<usize>().ok().filter(|n| *n <= LONGEST / 16)?;
    Some((number, rest))
}

impl Specifier {
    fn parse(text: &str) -> Option<(Self, &str)> {
        let mut specifier = Self::default();
        let mut rest = text;
        if !rest.starts_with('0')
            && let Some((index, after)) = number(rest)
            && let Some(after) = after.strip_prefix('$')
        {
            specifier.argument = Some(index);
            rest = after;
        } else if let Some(after) = rest.strip_prefix('<') {
            specifier.previous = true;
            rest = after;
        }
        loop {
            let mut chars = rest.chars();
            let flag = match chars.next()? {
                '-' => &mut specifier.left,
                '#' => &mut specifier.alternate,
                '+' => &mut specifier.plus,
                ' ' => &mut specifier.space,
                '0' => &mut specifier.zero,
                ',' => &mut specifier.group,
                '(' => &mut specifier.parentheses,
                _ => break,
            };
            // The same flag twice is an error.
            if std::mem::replace(flag, true) {
                return None;
            }
            rest = chars.as_str();
        }
        if let Some((width, after)) = number(rest) {
            specifier.width = Some(width);
            rest = after;
        }
        if let Some(after) = rest.strip_prefix('.') {
            let (precision, after) = number(after)?;
            specifier.precision = Some(precision);
            rest = after;
        }
        let mut chars = rest.chars();
        specifier.conversion = chars.next()?;
        let needs_width = specifier.left || specifier.zero;
        let contradictory = specifier.left && specifier.zero || specifier.plus && specifier.space;
        if needs_width && specifier.width.is_none() || contradictory {
            return None;
        }
        Some((specifier, chars.as_str()))
    }

    fn has_number_flags(&self) -> bool {
        self.plus || self.space || self.zero || self.group || self.parentheses
    }

    fn write_constant(&self, out: &mut String) -> Option<()> {
        if self.precision.is_some() || self.has_number_flags() || self.alternate {
            return None;
        }
        if self.conversion == 'n' {
            if self.width.is_some() || self.left {
                return None;
            }
            out.push('\n');
        } else {
            self.pad("%", out);
        }
        Some(())
    }

    fn write(&self, item: Item<'_>, out: &mut String) -> Option<()> {
        let upper = self.conversion.is_uppercase();
        let mut text = String::new();
        match self.conversion.to_ascii_lowercase() {
            'b' | 's' | 'h' => {
                if self.has_number_flags() || self.alternate {
                    return None;
                }
                self.write_general(&item, &mut text);
            }
            'c' => {
                if self.has_number_flags() || self.alternate || self.precision.is_some() {
                    return None;
                }
                match item {
                    Item::Null => text.push_str("null"),
                    // A BIGINT is no character.
                    Item::Integer(v, bits) if bits < 64 => text.push(char::from_u32(u32::try_from(v).ok()?)?),
                    _ => return None,
                }
            }
            'd' | 'x' | 'o' if self.precision.is_none() && !(upper && self.conversion != 'X') => match item {
                Item::Null => text.push_str("null"),
                Item::Integer(v, bits) => self.write_integer(v, bits, &mut text)?,
                _ => return None,
            },
            'f' | 'e' | 'g' if self.conversion != 'F' => match item {
                Item::Null => text.push_str("null"),
                Item::Double(v, _) => self.write_double(v, &mut text)?,
                _ => return None,
            },
            _ => return None,
        }
        if upper {
            text = text.to_uppercase();
        }
        self.pad(&text, out);
        Some(())
    }

    fn pad(&self, text: &str, out: &mut String) {
        let missing = self.width.unwrap_or(0).saturating_sub(text.chars().count());
        if self.left {
            out.push_str(text);
        }
        out.extend(std::iter::repeat_n(' ', missing));
        if !self.left {
            out.push_str(text);
        }
    }

    /// `%s`, `%b` and `%h`.
    fn write_general(&self, item: &Item<'_>, text: &mut String) {
        match (self.conversion.to_ascii_lowercase(), item) {
            ('b', Item::Null) => text.push_str("false"),
            ('b', Item::Boolean(v)) => text.push_str(if *v { "true" } else { "false" }),
            ('b', _) => text.push_str("true"),
            ('h', Item::Text(v)) => {
                let hash = v.encode_utf16().fold(0_i32, |h, c| h.wrapping_mul(31).wrapping_add(i32::from(c)));
                let _ = write!(text, "{hash:x}");
            }
            ('h', Item::Integer(v, bits)) => {
                let folded = if *bits == 64 { (v ^ ((*v as u64) >> 32) as i64) as i32 } else { *v as i32 };
                let _ = write!(text, "{folded:x}");
            }
            (_, Item::Null) => text.push_str("null"),
            (_, Item::Boolean(v)) => text.push_str(if *v { "true" } else { "false" }),
            (_, Item::Integer(v, _)) => drop(write!(text, "{v}")),
            (_, Item::Double(_, shown) | Item::Shown(shown)) => text.push_str(shown),
            (_, Item::Text(v)) => text.push_str(v),
        }
        if let Some(precision) = self.precision
            && let Some((end, _)) = text.char_indices().nth(precision)
        {
            text.truncate(end);
        }
    }

    fn write_integer(&self, value: i64, bits: u32, text: &mut String) -> Option<()> {
        let conversion = self.conversion.to_ascii_lowercase();
        if conversion == 'd' {
            if self.alternate {
                return None;
            }
            self.write_signed(value < 0, &value.unsigned_abs().to_string(), text);
            return Some(());
        }
        if self.group || self.plus || self.space || self.parentheses {
            return None;
        }
        let unsigned = if bits < 64 { value as u64 & ((1 << bits) - 1) } else { value as u64 };
        let digits = if conversion == 'x' { format!("{unsigned:x}") } else { format!("{unsigned:o}") };
        if self.alternate {
            text.push_str(if conversion == 'x' { "0x" } else { "0" });
        }
        if self.zero {
            let missing = self.width.unwrap_or(0).saturating_sub(text.len() + digits.len());
            text.extend(std::iter::repeat_n('0', missing));
        }
        text.push_str(&digits);
        Some(())
    }

    /// Digits, perhaps with a fraction, with sign, groups and zeros.
    fn write_signed(&self, negative: bool, digits: &str, text: &mut String) {
        let sign = match (negative, self.parentheses) {
            (true, true) => "(",
            (true, false) => "-",
            (false, _) if self.plus => "+",
            (false, _) if self.space => " ",
            (false, _) => "",
        };
        let close = if negative && self.parentheses { ")" } else { "" };
        let mut body = String::new();
        if self.group {
            let whole = digits.find(['.', 'e']).unwrap_or(digits.len());
            for (i, c) in digits.chars().enumerate() {
                if i > 0 && i < whole && (whole - i).is_multiple_of(3) {
                    body.push(',');
                }
                body.push(c);
            }
        } else {
            body.push_str(digits);
        }
        text.push_str(sign);
        if self.zero {
            let missing = self.width.unwrap_or(0).saturating_sub(sign.len() + body.len() + close.len());
            text.extend(std::iter::repeat_n('0', missing));
        }
        text.push_str(&body);
        text.push_str(close);
    }

    fn write_double(&self, value: f64, text: &mut String) -> Option<()> {
        let conversion = self.conversion.to_ascii_lowercase();
        if conversion == 'e' && self.group || conversion == 'g' && self.alternate {
            return None;
        }
        if !value.is_finite() {
            let shown = if value.is_nan() { "NaN" } else { "Infinity" };
            match (value < 0.0, self.parentheses) {
                (true, true) => drop(write!(text, "({shown})")),
                (true, false) => drop(write!(text, "-{shown}")),
                (false, _) if self.plus && !value.is_nan() => drop(write!(text, "+{shown}")),
                _ => text.push_str(shown),
            }
            return Some(());
        }
        let negative = value.is_sign_negative();
        let shortest = Digits::of(value.abs());
        let precision = self.precision.unwrap_or(6);
        let mut digits = match conversion {
            'f' => shortest.fixed(precision),
            'e' => shortest.scientific(precision),
            _ => {
                // As many significant digits as the precision says; plain from 10^-4 up to 10^precision.
                let significant = precision.max(1);
                let rounded = shortest.rounded(significant);
                if rounded.is_zero() || (-3..=significant as i64).contains(&rounded.point) {
                    let fraction = significant as i64 - if rounded.is_zero() { 1 } else { rounded.point };
                    rounded.fixed(usize::try_from(fraction).unwrap_or(0))
                } else {
                    rounded.scientific(significant - 1)
                }
            }
        };
        if self.alternate && precision == 0 {
            digits.push('.');
        }
        self.write_signed(negative, &digits, text);
        Some(())
    }
}

/// The shortest decimal digits of a number: `0.digits * 10^point`.
struct Digits {
    digits: Vec<u8>,
    point: i64,
}

impl Digits {
    fn of(value: f64) -> Self {
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|d| d - b'0').collect();
        let point = exponent.parse::<i64>().unwrap_or(0) + 1;
        if digits.iter().all(|d| *d == 0) { Self { digits: vec![], point: 0 } } else { Self { digits, point } }
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Rounded half up to so many digits.
    fn rounded(&self, count: usize) -> Self {
        let up = self.digits.get(count).is_some_and(|d| *d >= 5);
        let mut digits: Vec<u8> = self.digits.iter().copied().take(count).collect();
        let mut point = self.point;
        if up {
            let mut carried = true;
            for digit in digits.iter_mut().rev() {
                if *digit == 9 {
                    *digit = 0;
                } else {
                    *digit += 1;
                    carried = false;
                    break;
                }
            }
            if carried {
                digits.insert(0, 1);
                point += 1;
            }
        }
        if digits.iter().all(|d| *d == 0) { Self { digits: vec![], point: 0 } } else { Self { digits, point } }
    }

    fn digit(&self, index: i64) -> char {
        let digit = usize::try_from(index).ok().and_then(|i| self.digits.get(i)).copied().unwrap_or(0);
        char::from(b'0' + digit)
    }

    fn fixed(&self, fraction: usize) -> String {
        let keep = self.point + fraction as i64;
        let rounded = match usize::try_from(keep) {
            Ok(keep) => self.rounded(keep),
            Err(_) => Self { digits: vec![], point: 0 },
        };
        let mut out = String::new();
        if rounded.point <= 0 {
            out.push('0');
        } else {
            out.extend((0..rounded.point).map(|i| rounded.digit(i)));
        }
        if fraction > 0 {
            out.push('.');
            out.extend((0..fraction as i64).map(|i| rounded.digit(rounded.point + i)));
        }
        out
    }

    fn scientific(&self, fraction: usize) -> String {
        let rounded = self.rounded(fraction + 1);
        let exponent = if rounded.is_zero() { 0 } else { rounded.point - 1 };
        let mut out = String::new();
        out.push(rounded.digit(0));
        if fraction > 0 {
            out.push('.');
            out.extend((1..=fraction as i64).map(|i| rounded.digit(i)));
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "e{sign}{:02}", exponent.unsigned_abs());
        out
    }
}
