//! Dates, times and timestamps as numbers: the proleptic Gregorian calendar without limits.

pub(crate) const SECONDS_PER_DAY: i64 = 86_400;
pub(crate) const MICROS_PER_DAY: i64 = 86_400_000_000;
pub(crate) const MILLIS_PER_DAY: i64 = 86_400_000;

/// A timestamp of either unit: seconds since 1970-01-01T00:00:00, floored, and the nanoseconds after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    pub seconds: i64,
    pub nanos: u32,
}

impl Stamp {
    pub fn from_micros(micros: i64) -> Self {
        Self { seconds: micros.div_euclid(1_000_000), nanos: micros.rem_euclid(1_000_000) as u32 * 1000 }
    }

    pub fn from_nanos(nanos: i64) -> Self {
        Self { seconds: nanos.div_euclid(1_000_000_000), nanos: nanos.rem_euclid(1_000_000_000) as u32 }
    }

    /// Microseconds, floored; `None` outside of what 64 bits hold.
    pub fn micros(self) -> Option<i64> {
        i64::try_from(i128::from(self.seconds) * 1_000_000 + i128::from(self.nanos / 1000)).ok()
    }

    /// Nanoseconds; `None` outside of 1677 to 2262.
    pub fn nanos(self) -> Option<i64> {
        i64::try_from(i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos)).ok()
    }

    /// Milliseconds, floored; saturating.
    pub fn millis(self) -> i64 {
        self.seconds.saturating_mul(1000).saturating_add(i64::from(self.nanos / 1_000_000))
    }

    /// The number `TIMESTAMP(precision)` arrays hold, digits beyond the precision cut.
    pub fn to_unit(self, precision: u8) -> Option<i64> {
        let cut = Self { nanos: truncate_nanos(self.nanos, precision), ..self };
        if precision > 6 { cut.nanos() } else { cut.micros() }
    }

    /// Days since 1970-01-01 and the nanoseconds of the day.
    pub fn split(self) -> (i64, i64) {
        let days = self.seconds.div_euclid(SECONDS_PER_DAY);
        (days, self.seconds.rem_euclid(SECONDS_PER_DAY) * 1_000_000_000 + i64::from(self.nanos))
    }
}

/// Nanoseconds of a second with only `precision` digits kept.
pub(crate) fn truncate_nanos(nanos: u32, precision: u8) -> u32 {
    let unit = 10u32.pow(9 - u32::from(precision.min(9)));
    nanos / unit * unit
}

/// A date: year (0 is 1 BC), month 1 to 12, day 1 to 31.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Civil {
    /// Year; 0 is 1 BC.
    pub year: i64,
    /// Month, 1 to 12.
    pub month: u32,
    /// Day of the month, 1 to 31.
    pub day: u32,
}

/// Days since 1970-01-01 of a date (Howard Hinnant's `days_from_civil`).
pub fn days_of(date: Civil) -> i64 {
    let year = if date.month <= 2 { date.year - 1 } else { date.year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month = (i64::from(date.month) + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + i64::from(date.day) - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date of a number of days since 1970-01-01.
pub fn civil_of(days: i64) -> Civil {
    let days = days.saturating_add(719_468);
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month + 2) / 5 + 1) as u32;
    let month = if month < 10 { month + 3 } else { month - 9 } as u32;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Civil { year, month, day }
}

pub(crate) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days of a month of the proleptic Gregorian calendar.
pub fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A date moved by months; the day is cut to the month's length.
pub(crate) fn add_months(days: i64, months: i64) -> i64 {
    let date = civil_of(days);
    // Beyond a billion years every type is left behind anyway.
    let months = months.clamp(-12_000_000_000, 12_000_000_000);
    let total = date.year.saturating_mul(12).saturating_add(i64::from(date.month) - 1).saturating_add(months);
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) as u32 + 1);
    days_of(Civil { year, month, day: date.day.min(days_in_month(year, month)) })
}

/// 1 (Monday) to 7 (Sunday).
pub(crate) fn iso_weekday(days: i64) -> i64 {
    days.saturating_add(3).rem_euclid(7) + 1
}

/// 1 to 366.
pub(crate) fn day_of_year(days: i64) -> i64 {
    days - days_of(Civil { year: civil_of(days).year, month: 1, day: 1 }) + 1
}

/// Year and week, from 1, where weeks begin on Sunday and the first is the one with 1 January.
pub(crate) fn sunday_week(days: i64) -> (i64, i64) {
    let sunday = |day: i64| day - iso_weekday(day) % 7;
    let start = sunday(days);
    let year = civil_of(start + 6).year;
    (year, (start - sunday(days_of(Civil { year, month: 1, day: 1 }))) / 7 + 1)
}

/// Which week of its month a day is in, from 1; weeks begin on Sunday.
pub(crate) fn week_of_month(days: i64) -> i64 {
    let day = i64::from(civil_of(days).day) - 1;
    (day + iso_weekday(days - day) % 7) / 7 + 1
}

/// ISO 8601's year and week (1 to 53).
pub(crate) fn iso_week(days: i64) -> (i64, i64) {
    let thursday = days.saturating_add(4 - iso_weekday(days));
    (civil_of(thursday).year, (day_of_year(thursday) - 1) / 7 + 1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use chrono::{Datelike, NaiveDate};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_chrono(days in -3_000_000i64..3_000_000) {
            let expected = NaiveDate::from_num_days_from_ce_opt(days as i32 + 719_163).unwrap();
            let date = civil_of(days);
            prop_assert_eq!((date.year as i32, date.month, date.day), (expected.year(), expected.month(), expected.day()));
            prop_assert_eq!(days_of(date), days);
            prop_assert_eq!(iso_weekday(days) as u32, expected.weekday().number_from_monday());
            prop_assert_eq!(day_of_year(days) as u32, expected.ordinal());
            let week = expected.iso_week();
            prop_assert_eq!(iso_week(days), (i64::from(week.year()), i64::from(week.week())));
        }

        #[test]
        fn never_panics(days in any::<i32>(), months in any::<i32>(), micros in any::<i64>()) {
            add_months(i64::from(days), i64::from(months));
            prop_assert_eq!(Stamp::from_micros(micros).micros(), Some(micros));
            prop_assert_eq!(Stamp::from_nanos(micros).nanos(), Some(micros));
        }
    }
}
