//! Java's older patterns for dates and times (`SimpleDateFormat`), which Flink uses where a date is or becomes a text
//! without a type in between: UNIX_TIMESTAMP, FROM_UNIXTIME, TO_DATE with a pattern, CONVERT_TZ and DATE_FORMAT of texts.
//!
//! Reading is lenient: blanks before numbers are skipped, what follows the pattern is ignored, and a field beyond its end
//! goes on in the next larger one. Dates before 15 October 1582 are Julian.

use std::fmt::Write as _;

use calve_types::{Error, Result};

use super::pattern::{DAYS, MONTHS, Part};
use crate::TimeZone;
use crate::civil::{
    Civil, SECONDS_PER_DAY, Stamp, civil_of, day_of_year, days_of, iso_weekday, sunday_week, week_of_month,
};

/// The first day of the Gregorian calendar, 15 October 1582.
const GREGORIAN: i64 = -141_427;
/// The Julian day number of 1970-01-01.
const JULIAN_DAY: i64 = 2_440_588;

/// A pattern, parsed.
#[derive(Debug, Clone)]
pub(super) struct SimpleFormat {
    parts: Vec<Part>,
}

/// What a text says: a wall clock, and the seconds its zone is ahead of UTC if it names one.
pub(super) struct Read {
    wall: Stamp,
    offset: Option<i64>,
}

impl Read {
    /// Seconds since 1970 in UTC; in a zone if the text names none.
    pub fn utc_seconds(&self, zone: TimeZone) -> i64 {
        match self.offset {
            Some(offset) => self.wall.seconds.saturating_sub(offset),
            None => zone.to_utc(self.wall.seconds),
        }
    }
}

impl SimpleFormat {
    /// # Errors
    /// `invalid-argument` for a letter Java does not know.
    pub fn parse(pattern: &str) -> Result<Self> {
        let mut parts = vec![];
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\'' {
                parts.push(Part::Text(super::pattern::quoted(&mut chars, pattern)?));
            } else if c.is_ascii_alphabetic() {
                if !"GyMdkHmsSEDFwWahKzZYuXL".contains(c) {
                    return Err(Error::new("invalid-argument", format!("invalid date pattern '{pattern}'"))
                        .with_detail(format!("Illegal pattern character '{c}'")));
                }
                let mut count = 1;
                while chars.next_if_eq(&c).is_some() {
                    count += 1;
                }
                parts.push(Part::Field(c, count));
            } else {
                parts.push(Part::Text(c.to_string()));
            }
        }
        Ok(Self { parts })
    }

    /// A moment as the clocks of a zone show it.
    ///
    /// # Errors
    /// `not-supported` for the name of a zone other than UTC.
    pub fn format(&self, seconds: i64, millis: i64, zone: TimeZone, out: &mut String) -> Result<()> {
        let local = zone.to_local(seconds);
        let offset = local.saturating_sub(seconds);
        let days = local.div_euclid(SECONDS_PER_DAY);
        let second = local.rem_euclid(SECONDS_PER_DAY);
        let date = calendar(days);
        let (hour, minute) = (second / 3600, second / 60 % 60);
        for part in &self.parts {
            let (letter, count) = match part {
                Part::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Part::Field(letter, count) => (*letter, *count),
                Part::Optional | Part::OptionalEnd => continue,
            };
            let name = |names: &[&'static str], index: i64| {
                let full = usize::try_from(index).ok().and_then(|i| names.get(i)).copied().unwrap_or("");
                if count > 3 { full } else { full.get(..3).unwrap_or(full) }
            };
            let of_era = |year: i64| if year > 0 { year } else { 1 - year };
            let number = match letter {
                'G' => {
                    out.push_str(if date.year > 0 { "AD" } else { "BC" });
                    continue;
                }
                'y' if count == 2 => of_era(date.year) % 100,
                'y' => of_era(date.year),
                'Y' if count == 2 => sunday_week(days).0.rem_euclid(100),
                'Y' => sunday_week(days).0,
                'M' | 'L' if count > 2 => {
                    out.push_str(name(&MONTHS, i64::from(date.month) - 1));
                    continue;
                }
                'E' => {
                    out.push_str(name(&DAYS, iso_weekday(days) - 1));
                    continue;
                }
                'a' => {
                    out.push_str(if hour < 12 { "AM" } else { "PM" });
                    continue;
                }
                'z' | 'Z' | 'X' => {
                    push_zone(letter, count, offset, zone, out)?;
                    continue;
                }
                'M' | 'L' => date.month.into(),
                'd' => date.day.into(),
                'D' => day_of_year(days),
                'F' => (i64::from(date.day) - 1) / 7 + 1,
                'w' => sunday_week(days).1,
                'W' => week_of_month(days),
                'u' => iso_weekday(days),
                'k' => (hour + 23) % 24 + 1,
                'H' => hour,
                'h' => (hour + 11) % 12 + 1,
                'K' => hour % 12,
                'm' => minute,
                's' => second % 60,
                _ => millis,
            };
            // Writing to a String cannot fail.
            let _ = write!(out, "{number:0count$}");
        }
        Ok(())
    }

    /// What a text says; `None` if it does not follow the pattern. Years of two digits are those around `this_year`.
    ///
    /// # Errors
    /// `not-supported` for weeks.
    pub fn read(&self, text: &str, this_year: i64) -> Result<Option<Read>> {
        if let Some(Part::Field(letter, _)) =
            self.parts.iter().find(|part| matches!(part, Part::Field('w' | 'W' | 'F' | 'Y', _)))
        {
            return Err(Error::unsupported(format!("reading dates by the letter '{letter}' of a date pattern")));
        }
        Ok(Fields::read(&self.parts, text, this_year).and_then(|fields| fields.resolve()))
    }
}

fn push_zone(letter: char, count: usize, offset: i64, zone: TimeZone, out: &mut String) -> Result<()> {
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs() / 60);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    let _ = match (letter, count) {
        ('z', _) if zone == TimeZone::UTC => write!(out, "UTC"),
        ('z', _) => return Err(Error::unsupported("the letter 'z' of a date pattern outside of UTC")),
        ('Z', _) | ('X', 2) if letter == 'Z' || offset != 0 => write!(out, "{sign}{hours:02}{minutes:02}"),
        ('X', _) if offset == 0 => write!(out, "Z"),
        ('X', 1) => write!(out, "{sign}{hours:02}"),
        _ => write!(out, "{sign}{hours:02}:{minutes:02}"),
    };
    Ok(())
}

/// The fields a text gives.
struct Fields {
    year: i64,
    month: i64,
    day: i64,
    day_of_year: Option<i64>,
    hour: i64,
    half: Option<i64>,
    minute: i64,
    second: i64,
    millis: i64,
    before_christ: bool,
    offset: Option<i64>,
}

impl Fields {
    fn read(parts: &[Part], text: &str, this_year: i64) -> Option<Self> {
        let mut fields = Self {
            year: 1970,
            month: 1,
            day: 1,
            day_of_year: None,
            hour: 0,
            half: None,
            minute: 0,
            second: 0,
            millis: 0,
            before_christ: false,
            offset: None,
        };
        let mut rest = text;
        for (i, part) in parts.iter().enumerate() {
            let (letter, count) = match part {
                Part::Text(expected) => {
                    rest = rest.strip_prefix(expected.as_str())?;
                    continue;
                }
                Part::Field(letter, count) => (*letter, *count),
                Part::Optional | Part::OptionalEnd => continue,
            };
            rest = rest.trim_start_matches([' ', '\t']);
            if !is_number(letter, count) {
                rest = fields.text(letter, rest)?;
                continue;
            }
            let is_followed = matches!(parts.get(i + 1), Some(Part::Field(c, n)) if is_number(*c, *n));
            let sign = usize::from(rest.starts_with('-'));
            let longest = if is_followed { count } else { 18 };
            let digits =
                rest.bytes().skip(sign).take(longest - sign.min(longest)).take_while(u8::is_ascii_digit).count();
            let number = rest.get(..sign + digits)?;
            rest = rest.get(sign + digits..)?;
            let value: i64 = number.parse().ok()?;
            if value.abs() > 1_000_000_000_000 {
                return None;
            }
            match letter {
                'y' if count <= 2 && digits == 2 && sign == 0 => fields.year = around(value, this_year),
                'y' => fields.year = value,
                'M' | 'L' => fields.month = value,
                'd' => fields.day = value,
                'D' => fields.day_of_year = Some(value),
                'H' => fields.hour = value,
                'k' => fields.hour = if value == 24 { 0 } else { value },
                'h' => fields.hour = if value == 12 { 0 } else { value },
                'K' => fields.hour = value,
                'm' => fields.minute = value,
                's' => fields.second = value,
                'S' => fields.millis = value,
                _ => {}
            }
        }
        Some(fields)
    }

    /// A field that is no number; what follows it.
    fn text<'a>(&mut self, letter: char, rest: &'a str) -> Option<&'a str> {
        let starts = |word: &str| rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
        let named = |names: &[&'static str]| {
            names.iter().enumerate().find_map(|(i, full)| {
                let short = full.get(..3)?;
                [*full, short].into_iter().find(|name| starts(name)).map(|name| (i, name.len()))
            })
        };
        let length = match letter {
            'M' | 'L' => {
                let (index, length) = named(&MONTHS)?;
                self.month = i64::try_from(index).ok()? + 1;
                length
            }
            'E' => named(&DAYS)?.1,
            'a' => {
                self.half = Some(if starts("AM") { 0 } else { i64::from(starts("PM").then_some(1)?) });
                2
            }
            'G' => {
                self.before_christ = starts("BC");
                (self.before_christ || starts("AD")).then_some(2)?
            }
            _ => {
                let (offset, length) = zone_offset(rest)?;
                self.offset = Some(offset);
                length
            }
        };
        rest.get(length..)
    }

    fn resolve(&self) -> Option<Read> {
        let year = if self.before_christ { 1 - self.year } else { self.year };
        let days = match self.day_of_year {
            Some(day) => days_of_calendar(year, 1, 1)?.checked_add(day - 1)?,
            None => {
                let months = year.checked_mul(12)?.checked_add(self.month - 1)?;
                days_of_calendar(months.div_euclid(12), months.rem_euclid(12) + 1, self.day)?
            }
        };
        let hour = self.hour + self.half.unwrap_or(0) * 12;
        let seconds = hour * 3600 + self.minute * 60 + self.second + self.millis.div_euclid(1000);
        let nanos = u32::try_from(self.millis.rem_euclid(1000)).ok()? * 1_000_000;
        let wall = Stamp { seconds: days.checked_mul(SECONDS_PER_DAY)?.checked_add(seconds)?, nanos };
        Some(Read { wall, offset: self.offset })
    }
}

fn is_number(letter: char, count: usize) -> bool {
    !(matches!(letter, 'G' | 'E' | 'a' | 'z' | 'Z' | 'X') || matches!(letter, 'M' | 'L') && count > 2)
}

/// The year of two digits that is less than 80 years before or 20 after this one.
fn around(two_digits: i64, this_year: i64) -> i64 {
    let first = this_year - 80;
    first + (two_digits - first).rem_euclid(100)
}

/// The offset a text begins with, in seconds, and its length.
fn zone_offset(text: &str) -> Option<(i64, usize)> {
    const NAMES: [(&str, i64); 11] = [
        ("UTC", 0),
        ("EST", -5),
        ("EDT", -4),
        ("CST", -6),
        ("CDT", -5),
        ("MST", -7),
        ("MDT", -6),
        ("PST", -8),
        ("PDT", -7),
        ("CET", 1),
        ("CEST", 2),
    ];
    let skipped = if text.get(..3).is_some_and(|t| t.eq_ignore_ascii_case("GMT")) { 3 } else { 0 };
    let rest = text.get(skipped..)?;
    let sign = match rest.bytes().next() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ if skipped == 3 => return Some((0, 3)),
        Some(b'Z') => return Some((0, 1)),
        _ => {
            let (name, hours) = NAMES.iter().rev().find(|(name, _)| rest.starts_with(name))?;
            return Some((hours * 3600, name.len()));
        }
    };
    let digits = rest.get(1..)?;
    let colon = digits.get(2..3) == Some(":");
    let hours: i64 = digits.get(..2)?.parse().ok()?;
    let minutes = if colon { digits.get(3..5) } else { digits.get(2..4) };
    let minutes = minutes.and_then(|m| m.bytes().all(|b| b.is_ascii_digit()).then(|| m.parse::<i64>().ok())?);
    let length = skipped + 3 + if minutes.is_some() { 2 + usize::from(colon) } else { 0 };
    Some((sign * (hours * 3600 + minutes.unwrap_or(0) * 60), length))
}

/// The date of a day, Julian before the Gregorian calendar.
fn calendar(days: i64) -> Civil {
    if days >= GREGORIAN {
        return civil_of(days);
    }
    let c = days.saturating_add(JULIAN_DAY + 32_082);
    let d = c.saturating_mul(4).saturating_add(3).div_euclid(1461);
    let e = c - (d * 1461).div_euclid(4);
    let m = (5 * e + 2) / 153;
    let day = (e - (153 * m + 2) / 5 + 1) as u32;
    Civil { year: d - 4800 + m / 10, month: (m + 3 - 12 * (m / 10)) as u32, day }
}

/// A day counted from the first of a month, Julian before the Gregorian calendar; `None` for years that no BIGINT of
/// milliseconds has.
fn days_of_calendar(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(-300_000_000..=300_000_000).contains(&year) {
        return None;
    }
    let first = days_of(Civil { year, month: u32::try_from(month).ok()?, day: 1 });
    let gregorian = first.checked_add(day.checked_sub(1)?)?;
    if gregorian >= GREGORIAN {
        return Some(gregorian);
    }
    let a = (14 - month) / 12;
    let (y, m) = (year + 4800 - a, month + 12 * a - 3);
    day.checked_add((153 * m + 2) / 5 + 365 * y + y.div_euclid(4) - 32_083 - JULIAN_DAY)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str, pattern: &str) -> Option<i64> {
        let read = SimpleFormat::parse(pattern).unwrap().read(text, 2026).unwrap();
        read.map(|read| read.utc_seconds(TimeZone::UTC))
    }

    /// Results of a real Flink.
    #[test]
    fn reads() {
        for (text, pattern, expected) in [
            ("29 Feb 2024", "dd MMM yyyy", 1_709_164_800),
            ("24", "yy", 1_704_067_200),
            ("20240229123456", "yyyyMMddHHmmss", 1_709_210_096),
            ("2024-02-30", "yyyy-MM-dd", 1_709_251_200),
            ("2024-02-29 12:34:56.5", "yyyy-MM-dd HH:mm:ss.S", 1_709_210_096),
            ("02:05 PM", "hh:mm a", 50_700),
            ("2024-060", "yyyy-DDD", 1_709_164_800),
            ("2024-02-29 12:34:56 +0200", "yyyy-MM-dd HH:mm:ss Z", 1_709_202_896),
            ("2024-02-29 EST", "yyyy-MM-dd z", 1_709_182_800),
            ("2024-1-1 1:1:1", "yyyy-MM-dd HH:mm:ss", 1_704_070_861),
            (" 2024-01-01 00:00:00x", "yyyy-MM-dd HH:mm:ss", 1_704_067_200),
        ] {
            assert_eq!(read(text, pattern), Some(expected), "{text} by {pattern}");
        }
        // the month in which the calendar changed
        for (text, expected) in [
            ("1582-10-31 23:59:59", -12_217_824_001),
            ("1582-10-15 00:00:00", -12_219_292_800),
            ("1582-10-04 23:59:59", -12_219_292_801),
        ] {
            assert_eq!(read(text, "yyyy-MM-dd HH:mm:ss"), Some(expected), "{text}");
        }
        assert_eq!(read("2024-01-01", "yyyy-MM-dd HH:mm:ss"), None);
        assert_eq!(read("nope", "yyyy"), None);
    }

    /// Results of a real Flink.
    #[test]
    fn formats() {
        let format = |seconds, pattern| {
            let mut out = String::new();
            SimpleFormat::parse(pattern).unwrap().format(seconds, 0, TimeZone::UTC, &mut out).unwrap();
            out
        };
        let all = "G YYYY ww W D F E EEEE u a k K h S";
        assert_eq!(format(1_709_210_096, all), "AD 2024 09 5 60 5 Thu Thursday 4 PM 12 0 12 0");
        assert_eq!(format(5, "EEE, d MMM yyyy Z z X"), "Thu, 1 Jan 1970 +0000 UTC Z");
        assert_eq!(format(42, "yyyy-MM-dd HH:mm:ss.SSS"), "1970-01-01 00:00:42.000");
        assert_eq!(format(9_223_372_036_854_775, "yyyy-MM-dd HH:mm:ss"), "292278994-08-17 07:12:55");
        assert_eq!(format(-62_135_596_801, "yyyy-MM-dd HH:mm:ss"), "0001-01-02 23:59:59");
        assert!(SimpleFormat::parse("b").is_err() && SimpleFormat::parse("x").is_err());
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,30}", pattern in "[a-zA-Z' :.-]{0,12}", seconds in any::<i64>()) {
            if let Ok(format) = SimpleFormat::parse(&pattern) {
                let _ = format.read(&text, 2026).map(|read| read.map(|r| r.utc_seconds(TimeZone::UTC)));
                let _ = format.format(seconds / 1000, 0, TimeZone::UTC, &mut String::new());
            }
        }

        #[test]
        fn reads_what_it_writes(seconds in -100_000_000_000i64..100_000_000_000) {
            let format = SimpleFormat::parse("yyyy-MM-dd HH:mm:ss G").unwrap();
            let mut out = String::new();
            format.format(seconds, 0, TimeZone::UTC, &mut out).unwrap();
            prop_assert_eq!(format.read(&out, 2026).unwrap().unwrap().utc_seconds(TimeZone::UTC), seconds, "{}", out);
        }
    }
}
