//! How often and how long a commit is tried: Iceberg's `commit.retry.*` table properties.

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

impl Default for Retry {
    /// Iceberg's defaults: 4 retries, 100 ms to 1 min, 30 min in all.
    fn default() -> Self {
        Self {
            retries: 4,
            min_wait: Duration::from_millis(100),
            max_wait: Duration::from_secs(60),
            total: Duration::from_secs(1800),
        }
    }
}

impl Retry {
    /// The table's properties.
    ///
    /// # Errors
    /// `invalid-option` for one that is no number.
    pub(crate) fn of(table: &Table) -> Result<Self> {
        let number = |key: &str| match table.property(key) {
            None => Ok(None),
            Some(value) => value.trim().parse::<u64>().map(Some).map_err(|_| {
                Error::new("invalid-option", format!("invalid value '{value}' of table property '{key}'"))
                    .with_hint("use a number that is not negative")
            }),
        };
        let time = |key: &str, default: Duration| -> Result<Duration> {
            Ok(number(key)?.map_or(default, Duration::from_millis))
        };
        let defaults = Self::default();
        let retries = number("commit.retry.num-retries")?;
        Ok(Self {
            retries: retries.map_or(defaults.retries, |n| u32::try_from(n).unwrap_or(u32::MAX)),
            min_wait: time("commit.retry.min-wait-ms", defaults.min_wait)?,
            max_wait: time("commit.retry.max-wait-ms", defaults.max_wait)?,
            total: time("commit.retry.total-timeout-ms", defaults.total)?,
        })
    }

    /// The wait before retry number `retry` (from 1); `None` if it must not happen any more.
    pub(crate) fn wait(&self, retry: u32, started: Instant) -> Option<Duration> {
        let wait = self.pause(retry);
        (retry <= self.retries && started.elapsed().saturating_add(wait) <= self.total).then_some(wait)
    }

    /// The wait by its number alone: doubled each time, and spread so that competitors do not meet again.
    pub(crate) fn pause(&self, retry: u32) -> Duration {
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
        let retry = Retry {
            retries: 40,
            min_wait: Duration::from_millis(100),
            max_wait: Duration::from_secs(60),
            total: Duration::from_secs(1800),
        };
        let started = Instant::now();
        for (n, low, high) in [(1, 50, 150), (2, 100, 300), (4, 400, 1200), (40, 30_000, 90_000)] {
            let wait = retry.wait(n, started).unwrap().as_millis();
            assert!((low..=high).contains(&wait), "{n}: {wait}");
        }
        assert_eq!(retry.wait(41, started), None);
        let impatient = Retry { total: Duration::from_millis(10), ..retry };
        assert_eq!(impatient.wait(1, started), None);
    }
}
