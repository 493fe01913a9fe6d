//! How often and how long a commit is tried, and how patiently a lost answer is looked for: Iceberg's `commit.retry.*` and
//! `commit.status-check.*` table properties.

use std::time::{Duration, Instant};

use calve_types::{Error, Result};

use crate::table::Table;

/// Retries with exponential waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Retry {
    retries: u32,
    min_wait: Duration,
    max_wait: Duration,
    total: Duration,
}

impl Retry {
    /// Iceberg's defaults for tries of a commit: 4 retries, 100 ms to 1 min, 30 min in all.
    pub(crate) const COMMITS: Self = Self {
        retries: 4,
        min_wait: Duration::from_millis(100),
        max_wait: Duration::from_secs(60),
        total: Duration::from_secs(1800),
    };

    /// Iceberg's defaults for looks at a table after an answer got lost: 3 retries, 1 s to 1 min, 30 min in all.
    pub(crate) const CHECKS: Self = Self { retries: 3, min_wait: Duration::from_secs(1), ..Self::COMMITS };

    /// The table's properties for tries of a commit.
    ///
    /// # Errors
    /// `invalid-option` for one that is no number.
    pub(crate) fn of(table: &Table) -> Result<Self> {
        Self::COMMITS.with(table, "commit.retry")
    }

    /// The table's properties for looks at it after an answer got lost.
    ///
    /// # Errors
    /// `invalid-option` for one that is no number.
    pub(crate) fn of_checks(table: &Table) -> Result<Self> {
        Self::CHECKS.with(table, "commit.status-check")
    }

    fn with(self, table: &Table, prefix: &str) -> Result<Self> {
        let number = |name: &str, default: u64| {
            let key = format!("{prefix}.{name}");
            let Some(value) = table.property(&key) else { return Ok(default) };
            value.trim().parse::<u64>().map_err(|_| {
                Error::new("invalid-option", format!("invalid value '{value}' of table property '{key}'"))
                    .with_hint(format!("ALTER TABLE .. SET ('{key}' = '{default}'), or RESET ('{key}')"))
            })
        };
        let time = |name: &str, default: Duration| -> Result<Duration> {
            let default = u64::try_from(default.as_millis()).unwrap_or(u64::MAX);
            Ok(Duration::from_millis(number(name, default)?))
        };
        Ok(Self {
            retries: u32::try_from(number("num-retries", u64::from(self.retries))?).unwrap_or(u32::MAX),
            min_wait: time("min-wait-ms", self.min_wait)?,
            max_wait: time("max-wait-ms", self.max_wait)?,
            total: time("total-timeout-ms", self.total)?,
        })
    }

    /// What is at least as patient as both.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            retries: self.retries.max(other.retries),
            min_wait: self.min_wait.max(other.min_wait),
            max_wait: self.max_wait.max(other.max_wait),
            total: self.total.max(other.total),
        }
    }

    /// The wait before retry number `retry` (from 1); `None` if it must not happen any more.
    pub(crate) fn wait(&self, retry: u32, started: Instant) -> Option<Duration> {
        let wait = self.pause(retry);
        (retry <= self.retries && started.elapsed().saturating_add(wait) <= self.total).then_some(wait)
    }

    /// The wait by its number alone: doubled each time, and spread so that competitors do not meet again.
    fn pause(&self, retry: u32) -> Duration {
        let factor = 1_u32.checked_shl(retry.saturating_sub(1)).unwrap_or(u32::MAX);
        let wait = self.min_wait.saturating_mul(factor).min(self.max_wait);
        wait.mul_f64(spread())
    }
}

/// A random factor between a half and one and a half.
fn spread() -> f64 {
    let random = uuid::Uuid::new_v4().as_u128() as u32;
    0.5 + f64::from(random) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn waits_double_up_to_the_maximum_and_end() {
        let retry = Retry { retries: 40, ..Retry::COMMITS };
        let started = Instant::now();
        for (n, low, high) in [(1, 50, 150), (2, 100, 300), (4, 400, 1200), (40, 30_000, 90_000)] {
            let wait = retry.wait(n, started).unwrap().as_millis();
            assert!((low..=high).contains(&wait), "{n}: {wait}");
        }
        assert_eq!(retry.wait(41, started), None);
        let impatient = Retry { total: Duration::from_millis(10), ..retry };
        assert_eq!(impatient.wait(1, started), None);
    }

    #[test]
    fn the_more_patient_of_two() {
        let short = Retry { retries: 1, max_wait: Duration::from_secs(1), ..Retry::COMMITS };
        assert_eq!(short.clone().or(Retry::CHECKS), Retry { retries: 3, ..Retry::CHECKS });
        assert_eq!(short.or(Retry::COMMITS), Retry::COMMITS);
    }
}
