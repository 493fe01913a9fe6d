//! Java's patterns for dates and times (`DateTimeFormatter`, as far as they are in use).

use calve_types::{Error, Result};

use crate::civil::{Civil, Stamp, civil_of, days_in_month, days_of, iso_weekday, sunday_week, week_of_month};

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// A letter and how often it stands there.
    Field(char, usize),
    Text(String),
    /// From here on it may be missing in a text that is read.
    Optional,
    OptionalEnd,
}

/// What stands between quotes, after the first one; two quotes are one.
pub(super) fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, pattern: &str) -> Result<String> {
    let mut text = String::new();
    if chars.next_if_eq(&'\'').is_some() {
        return Ok("'".to_owned());
    }
    loop {
        match chars.next() {
            Some('\'') if chars.next_if_eq(&'\'').is_some() => text.push('\''),
            Some('\'') => return Ok(text),
            Some(c) => text.push(c),
            None => {
                return Err(Error::new("invalid-argument", format!("unterminated quote in '{pattern}'"))
                    .with_detail("Pattern ends with an incomplete string literal"));
            }
        }
    }
}

/// A pattern, parsed.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    parts: Vec<Part>,
}

impl Pattern {
    /// # Errors
    /// `invalid-argument` for a letter Java does not know, `not-supported` for one calve does not.
    pub fn parse(pattern: &str) -> Result<Self> {
        let mut parts: Vec<Part> = vec![];
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\'' {
                parts.push(Part::Text(quoted(&mut chars, pattern)?));
            } else if c.is_ascii_alphabetic() {
                let mut count = 1;
                while chars.peek() == Some(&c) {
                    chars.next();
                    count += 1;
                }
                if !"yuMLdHhmsSnaEDkGQqwWYecKAN".contains(c) {
                    let error = if "VvzOXxZpFgB".contains(c) {
                        Error::unsupported(format!("the letter '{c}' in the date pattern '{pattern}'"))
                    } else {
                        Error::new("invalid-argument", format!("invalid date pattern '{pattern}'"))
                            .with_detail(format!("Unknown pattern letter: {c}"))
                    };
                    return Err(error);
                }
                parts.push(Part::Field(c, count));
            } else if c == '[' {
                parts.push(Part::Optional);
            } else if c == ']' {
                parts.push(Part::OptionalEnd);
            } else if matches!(c, '{' | '}' | '#') {
                return Err(Error::unsupported(format!("'{c}' in the date pattern '{pattern}'")));
            } else {
                parts.push(Part::Text(c.to_string()));
            }
        }
        // Each is tried with and without.
        if parts.iter().filter(|part| **part == Part::Optional).count() > 6 {
            return Err(Error::unsupported(format!("so many optional parts in the date pattern '{pattern}'")));
        }
        Ok(Self { parts })
    }

    /// A wall clock as the pattern says.
    pub fn format(&self, stamp: Stamp, out: &mut String) {
        use std::fmt::Write as _;
        let (days, nanos) = stamp.split();
        let date = civil_of(days);
        let seconds = nanos / 1_000_000_000;
        let nanos = nanos % 1_000_000_000;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        for part in &self.parts {
            let (letter, count) = match part {
                Part::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Part::Field(letter, count) => (*letter, *count),
                Part::Optional | Part::OptionalEnd => continue,
            };
            let name = |names: &[&'static str], index: usize| {
                let full = names.get(index).copied().unwrap_or("");
                match count {
                    4 => full,
                    5 => full.get(..1).unwrap_or(""),
                    _ => full.get(..3).unwrap_or(full),
                }
            };
            let quarter = (i64::from(date.month) - 1) / 3 + 1;
            let number = match letter {
                'G' => {
                    let (before, after) = match count {
                        4 => ("Before Christ", "Anno Domini"),
                        5 => ("B", "A"),
                        _ => ("BC", "AD"),
                    };
                    out.push_str(if date.year > 0 { after } else { before });
                    continue;
                }
                'Q' | 'q' if count == 3 => {
                    let _ = write!(out, "Q{quarter}");
                    continue;
                }
                'Q' | 'q' if count == 4 => {
                    let ending = match quarter {
                        1 => "st",
                        2 => "nd",
                        3 => "rd",
                        _ => "th",
                    };
                    let _ = write!(out, "{quarter}{ending} quarter");
                    continue;
                }
                'Q' | 'q' if count == 5 => {
                    let _ = write!(out, "{quarter}");
                    continue;
                }
                'Q' | 'q' => quarter,
                'Y' if count == 2 => sunday_week(days).0.rem_euclid(100),
                'Y' => sunday_week(days).0,
                'w' => sunday_week(days).1,
                'W' => week_of_month(days),
                'e' | 'c' if count > 2 => {
                    out.push_str(name(&DAYS, (iso_weekday(days) - 1) as usize));
                    continue;
                }
                'e' | 'c' => iso_weekday(days) % 7 + 1,
                'K' => hour % 12,
                'A' => seconds * 1000 + nanos / 1_000_000,
                'N' => seconds * 1_000_000_000 + nanos,
                'y' | 'u' if count == 2 => date.year.rem_euclid(100),
                'y' | 'u' => date.year,
                'M' | 'L' if count > 2 => {
                    out.push_str(name(&MONTHS, date.month as usize - 1));
                    continue;
                }
                'M' | 'L' => i64::from(date.month),
                'd' => i64::from(date.day),
                'D' => crate::civil::day_of_year(days),
                'E' => {
                    out.push_str(name(&DAYS, (iso_weekday(days) - 1) as usize));
                    continue;
                }
                'H' => hour,
                'k' => (hour + 23) % 24 + 1,
                'h' => (hour + 11) % 12 + 1,
                'm' => minute,
                's' => second,
                'a' => {
                    out.push_str(if hour < 12 { "AM" } else { "PM" });
                    continue;
                }
                'n' => nanos,
                _ => {
                    let digits = format!("{nanos:09}");
                    let zeros = count.saturating_sub(9);
                    out.push_str(digits.get(..count.min(9)).unwrap_or(&digits));
                    out.extend(std::iter::repeat_n('0', zeros));
                    continue;
                }
            };
            // Writing to a String cannot fail.
            let _ = write!(out, "{number:0count$}");
        }
    }

    /// The wall clock a text shows; `None` if the text does not follow the pattern or is no date.
    pub fn read(&self, text: &str) -> Option<Stamp> {
        let Some(end) = self.parts.iter().rposition(|part| *part == Part::Optional) else { return self.read_all(text) };
        let closed = self.parts.iter().skip(end).position(|part| *part == Part::OptionalEnd);
        let (before, inside) = self.parts.split_at_checked(end)?;
        let (inside, after) = inside.split_at_checked(closed.unwrap_or(inside.len()))?;
        let joined = |parts: [&[Part]; 3]| Self { parts: parts.concat() };
        // The last one opened first: those before it are tried in turn.
        let with = joined([before, inside.get(1..)?, after.get(1..).unwrap_or(&[])]);
        with.read(text).or_else(|| joined([before, &[], after.get(1..).unwrap_or(&[])]).read(text))
    }

    fn read_all(&self, text: &str) -> Option<Stamp> {
        let mut rest = text;
        let (mut year, mut month, mut day) = (1970i64, 1u32, 1u32);
        let (mut hour, mut minute, mut second, mut nanos) = (0i64, 0i64, 0i64, 0u32);
        let mut half: Option<bool> = None;
        let mut of_half: Option<i64> = None;
        let mut day_of_year: Option<i64> = None;
        for (i, part) in self.parts.iter().enumerate() {
            let (letter, count) = match part {
                Part::Text(expected) => {
                    rest = rest.strip_prefix(expected.as_str())?;
                    continue;
                }
                Part::Field(letter, count) => (*letter, *count),
                // What is optional is tried by `read`, with and without it.
                Part::Optional | Part::OptionalEnd => continue,
            };
            if let Some((names, index)) = match letter {
                'M' | 'L' if count > 2 => Some((MONTHS.as_slice(), true)),
                'E' => Some((DAYS.as_slice(), false)),
                _ => None,
            } {
                let (at, length) = names.iter().enumerate().find_map(|(at, full)| {
                    let shown = if count == 4 { full } else { full.get(..3)? };
                    rest.starts_with(shown).then_some((at, shown.len()))
                })?;
                rest = rest.get(length..)?;
                if index {
                    month = at as u32 + 1;
                }
                continue;
            }
            if letter == 'a' {
                half = Some(match rest.get(..2)? {
                    "AM" => false,
                    "PM" => true,
                    _ => return None,
                });
                rest = rest.get(2..)?;
                continue;
            }
            // A field directly before another number takes exactly its width.
            let next_is_number = matches!(self.parts.get(i + 1), Some(Part::Field(c, n)) if !(matches!(c, 'a' | 'E') || (matches!(c, 'M' | 'L') && *n > 2)));
            let longest = match (letter, count) {
                ('S', n) => n,
                ('y' | 'u', 2) => 2,
                ('y' | 'u', n) if next_is_number => n,
                ('y' | 'u', _) => 9,
                (_, 1) if !next_is_number => 9,
                (_, n) => n,
            };
            if !"yuMLdDHhkKmsSn".contains(letter) {
                return None;
            }
            let available = rest.bytes().take(longest).take_while(u8::is_ascii_digit).count();
            if available < count {
                return None;
            }
            let digits = rest.get(..available)?;
            rest = rest.get(available..)?;
            let value: i64 = digits.parse().ok()?;
            match letter {
                'y' | 'u' if count == 2 => year = 2000 + value,
                'y' | 'u' => year = value,
                'M' | 'L' => month = u32::try_from(value).ok()?,
                'd' => day = u32::try_from(value).ok()?,
                'D' => day_of_year = Some(value),
                'H' => hour = value,
                'k' => hour = value % 24,
                'K' => of_half = Some(if (0..12).contains(&value) { (value + 11) % 12 + 1 } else { return None }),
                'h' => of_half = Some(value),
                'm' => minute = value,
                's' => second = value,
                'n' => nanos = u32::try_from(value).ok()?,
                _ => {
                    let padded: String = digits.chars().chain(std::iter::repeat('0')).take(9).collect();
                    nanos = padded.parse().ok()?;
                }
            }
        }
        if let Some(value) = of_half {
            if !(1..=12).contains(&value) {
                return None;
            }
            hour = value % 12 + if half == Some(true) { 12 } else { 0 };
        }
        let is_valid = (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && (0..=9999).contains(&year)
            && (0..24).contains(&hour)
            && minute < 60
            && second < 60
            && nanos < 1_000_000_000;
        if !rest.is_empty() || !is_valid {
            return None;
        }
        let days = match day_of_year {
            None => days_of(Civil { year, month, day: day.min(days_in_month(year, month)) }),
            Some(number) => {
                let last = if days_in_month(year, 2) == 29 { 366 } else { 365 };
                (1..=last).contains(&number).then_some(days_of(Civil { year, month: 1, day: 1 }) + number - 1)?
            }
        };
        Some(Stamp { seconds: days * 86_400 + hour * 3600 + minute * 60 + second, nanos })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    /// Results of a real Flink.
    #[test]
    fn formats() {
        let stamp =
            Stamp { seconds: days_of(Civil { year: 2024, month: 5, day: 7 }) * 86_400 + 47_045, nanos: 678_000_000 };
        for (pattern, expected) in [
            ("yyyy-MM-dd HH:mm:ss", "2024-05-07 13:04:05"),
            ("yyyy/M/d", "2024/5/7"),
            ("EEE, d MMM yyyy", "Tue, 7 May 2024"),
            ("hh:mm a", "01:04 PM"),
            ("yyyyMMddHHmmssSSS", "20240507130405678"),
            ("'T'HH", "T13"),
        ] {
            let mut out = String::new();
            Pattern::parse(pattern).unwrap().format(stamp, &mut out);
            assert_eq!(out, expected);
        }
        assert_eq!(Pattern::parse("bad pattern {").unwrap_err().detail.unwrap(), "Unknown pattern letter: b");
        assert!(Pattern::parse("'x").is_err());
    }

    #[test]
    fn reads() {
        let read = |pattern: &str, text: &str| {
            Pattern::parse(pattern).unwrap().read(text).map(|stamp| {
                let mut out = String::new();
                Pattern::parse("yyyy-MM-dd HH:mm:ss.SSS").unwrap().format(stamp, &mut out);
                out
            })
        };
        assert_eq!(read("dd/MM/yyyy HH", "07/05/2024 13").unwrap(), "2024-05-07 13:00:00.000");
        assert_eq!(read("yyyy-MM-dd'T'HH:mm:ss", "2024-05-07T13:04:05").unwrap(), "2024-05-07 13:04:05.000");
        assert_eq!(read("yyyyMMddHHmmssSSS", "20240507130405678").unwrap(), "2024-05-07 13:04:05.678");
        assert_eq!(read("hh:mm a", "01:04 PM").unwrap(), "1970-01-01 13:04:00.000");
        for bad in ["2024-13-01", "x", "2024-1-01", "2024-01-01x", "", "é"] {
            assert_eq!(read("yyyy-MM-dd", bad), None, "{bad}");
        }
    }
}
