//! Time zones by the names Java takes.

use std::fmt;

use calve_types::{Error, Result};
use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeZone as _};
use chrono_tz::Tz;

/// A time zone: a region of the IANA database or a fixed offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeZone {
    /// A region such as `America/Los_Angeles`.
    Region(Tz),
    /// Seconds east of UTC.
    Fixed(i32),
}

impl TimeZone {
    /// UTC.
    pub const UTC: Self = Self::Fixed(0);

    /// The zone of a name as `java.time.ZoneId.of` takes it: `UTC`, `Asia/Tokyo`, `GMT+8`, `+09:00`, `UTC-03:30`.
    ///
    /// # Errors
    /// `invalid-option` for any other name.
    pub fn parse(name: &str) -> Result<Self> {
        let unknown = || {
            Error::new("invalid-option", format!("unknown time zone '{name}'"))
                .with_hint("use a name such as 'UTC', 'America/Los_Angeles' or 'GMT+08:00'")
        };
        if matches!(name, "UTC" | "GMT" | "UT" | "Z") {
            return Ok(Self::UTC);
        }
        let offset = ["UTC", "GMT", "UT", ""].iter().find_map(|prefix| {
            let rest = name.strip_prefix(prefix)?;
            rest.starts_with(['+', '-']).then_some(rest)
        });
        match offset {
            Some(offset) => parse_offset(offset).map(Self::Fixed).ok_or_else(unknown),
            None => name.parse().map(Self::Region).map_err(|_| unknown()),
        }
    }

    /// Seconds east of UTC at a moment given in seconds since 1970-01-01T00:00:00Z.
    pub fn offset_at(&self, utc_seconds: i64) -> i64 {
        match self {
            Self::Fixed(seconds) => i64::from(*seconds),
            Self::Region(zone) => {
                let moment = clamped(utc_seconds);
                i64::from(zone.offset_from_utc_datetime(&moment).fix().local_minus_utc())
            }
        }
    }

    /// The wall clock at a moment; both in seconds.
    pub fn to_local(&self, utc_seconds: i64) -> i64 {
        utc_seconds.saturating_add(self.offset_at(utc_seconds))
    }

    /// The moment at which the wall clock shows a time; both in seconds.
    ///
    /// As `java.time.LocalDateTime.atZone`: of two moments the earlier one; a time the clock skips moves on by the gap.
    pub fn to_utc(&self, local_seconds: i64) -> i64 {
        let offset = match self {
            Self::Fixed(seconds) => i64::from(*seconds),
            Self::Region(zone) => {
                let local = clamped(local_seconds);
                match zone.offset_from_local_datetime(&local) {
                    MappedLocalTime::Single(offset) | MappedLocalTime::Ambiguous(offset, _) => {
                        i64::from(offset.fix().local_minus_utc())
                    }
                    // The offset before the gap; no gap is longer than a day and no two lie within two days.
                    MappedLocalTime::None => self.offset_at(local_seconds.saturating_sub(2 * 86_400)),
                }
            }
        };
        local_seconds.saturating_sub(offset)
    }
}

/// A date and time; far outside the calendar the nearest one (offsets do not change there).
fn clamped(seconds: i64) -> NaiveDateTime {
    const LIMIT: i64 = 8_000_000_000_000;
    DateTime::from_timestamp(seconds.clamp(-LIMIT, LIMIT), 0).unwrap_or_default().naive_utc()
}

/// `+h`, `+hh`, `+hh:mm`, `+hhmm`, `+hh:mm:ss`, up to 18 hours.
fn parse_offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let digits: String = rest.chars().filter(|c| *c != ':').collect();
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let shape: Vec<usize> = rest.split(':').map(str::len).collect();
    if !matches!(shape.as_slice(), [1 | 2 | 4 | 6] | [2, 2] | [2, 2, 2]) {
        return None;
    }
    let part = |range: std::ops::Range<usize>| digits.get(range).map_or(Some(0), |d| d.parse::<i32>().ok());
    let hours = if digits.len() == 1 { digits.parse().ok()? } else { part(0..2)? };
    let (minutes, seconds) = (part(2..4)?, part(4..6)?);
    let total = hours * 3600 + minutes * 60 + seconds;
    (minutes < 60 && seconds < 60 && total <= 18 * 3600).then_some(sign * total)
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Region(zone) => f.write_str(zone.name()),
            Self::Fixed(0) => f.write_str("UTC"),
            Self::Fixed(seconds) => {
                let (sign, s) = if *seconds < 0 { ('-', -seconds) } else { ('+', *seconds) };
                write!(f, "{sign}{:02}:{:02}", s / 3600, s / 60 % 60)?;
                if s % 60 != 0 { write!(f, ":{:02}", s % 60) } else { Ok(()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn names_of_java() {
        for (name, seconds) in [
            ("UTC", 0),
            ("GMT+8", 28_800),
            ("GMT+08:00", 28_800),
            ("UTC-03:30", -12_600),
            ("+09:00", 32_400),
            ("+0900", 32_400),
            ("-18:00", -64_800),
            ("Z", 0),
        ] {
            assert_eq!(TimeZone::parse(name).unwrap(), TimeZone::Fixed(seconds), "{name}");
        }
        for name in ["", "Nowhere/City", "GMT+19", "+1:00", "GMT+", "+08:61", "+é"] {
            assert_eq!(TimeZone::parse(name).unwrap_err().code, "invalid-option", "{name}");
        }
        assert_eq!(TimeZone::parse("GMT+8").unwrap().to_string(), "+08:00");
    }

    #[test]
    fn gaps_and_overlaps() {
        let zone = TimeZone::parse("America/Los_Angeles").unwrap();
        let local = |text: &str| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").unwrap().and_utc().timestamp();
        // Java: 02:30 does not exist and becomes 03:30 PDT.
        assert_eq!(zone.to_local(zone.to_utc(local("2024-03-10 02:30"))), local("2024-03-10 03:30"));
        // Java: of two 01:30 the first, PDT.
        assert_eq!(zone.to_utc(local("2024-11-03 01:30")) - local("2024-11-03 01:30"), 7 * 3600);
        for extreme in [i64::MIN, i64::MAX, i64::MIN / 1_000_000, i64::MAX / 1_000_000] {
            zone.to_local(extreme);
            zone.to_utc(extreme);
        }
    }
}
