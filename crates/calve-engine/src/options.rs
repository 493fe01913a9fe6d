//! The session's options: what `SET` and `-D` gave, over the defaults of the option table.

use std::collections::BTreeMap;

use calve_options::{Kind, Place};

use crate::check::rules::unknown_option;
use crate::jobs::{JOB_ID, check_job_id};
use crate::result::Warning;

/// Options of a session. `RESET` returns to the initial ones (`-D`).
#[derive(Debug, Clone, Default)]
pub struct Options {
    initial: BTreeMap<String, String>,
    current: BTreeMap<String, String>,
}

impl Options {
    /// Options given when the session starts, later ones win.
    pub fn new(initial: impl IntoIterator<Item = (String, String)>) -> Self {
        let initial: BTreeMap<_, _> = initial.into_iter().collect();
        Self { current: initial.clone(), initial }
    }

    /// What was set, or the default of the option table.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.current.get(key).map(String::as_str).or_else(|| calve_options::session_default(key))
    }

    /// Everything that was set, by name.
    pub fn all(&self) -> &BTreeMap<String, String> {
        &self.current
    }

    /// Sets an option; a wrong value is an error, a name that looks misspelt a warning.
    ///
    /// # Errors
    /// `invalid-option` for a value the option does not take.
    pub fn set(&mut self, key: &str, value: &str) -> calve_types::Result<Option<Warning>> {
        calve_options::check(key, value, Place::Session).map_err(|e| invalid(key, value, &e.to_string()))?;
        if key == JOB_ID {
            check_job_id(value)?;
        }
        self.current.insert(key.to_owned(), value.to_owned());
        Ok(unknown_option::misspelt(key, Place::Session))
    }

    /// Returns an option to its initial value.
    pub fn reset(&mut self, key: &str) {
        match self.initial.get(key) {
            Some(value) => self.current.insert(key.to_owned(), value.clone()),
            None => self.current.remove(key),
        };
    }

    /// Returns all options to their initial values.
    pub fn reset_all(&mut self) {
        self.current = self.initial.clone();
    }

    /// Whether queries run as streams, Flink's default (`execution.runtime-mode`).
    pub fn is_streaming(&self) -> bool {
        !self.get("execution.runtime-mode").is_some_and(|mode| mode.eq_ignore_ascii_case("batch"))
    }

    /// Whether rows with NULL for a NOT NULL column are left out of what is written (`table.exec.sink.not-null-enforcer`).
    pub fn drops_nulls(&self) -> bool {
        self.get("table.exec.sink.not-null-enforcer").is_some_and(|mode| mode.eq_ignore_ascii_case("DROP"))
    }

    /// Partitions of a query and writers of an INSERT: `table.exec.resource.default-parallelism`,
    /// then `parallelism.default`, then the cores.
    pub fn parallelism(&self) -> usize {
        ["table.exec.resource.default-parallelism", "parallelism.default"]
            .iter()
            .filter_map(|key| self.get(key)?.trim().parse::<usize>().ok())
            .find(|n| *n > 0)
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// The error for a value that an option does not take, with the word it may have been meant to be.
fn invalid(key: &str, value: &str, message: &str) -> calve_types::Error {
    let words: &[&str] = match calve_options::find(key, Place::Session).map(|option| option.kind) {
        Some(Kind::OneOf(words)) => words,
        Some(Kind::Boolean) => &["true", "false"],
        _ => &[],
    };
    calve_types::Error::new("invalid-option", message).did_you_mean(value.trim(), words.iter().copied())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn reset_returns_to_what_the_session_began_with() {
        let mut options = Options::new([("parallelism.default".to_owned(), "3".to_owned())]);
        options.set("parallelism.default", "1").unwrap();
        assert_eq!(options.parallelism(), 1);
        options.reset("parallelism.default");
        assert_eq!(options.parallelism(), 3);
        options.set("my.key", "x").unwrap();
        options.reset_all();
        assert_eq!(options.get("my.key"), None);
        assert_eq!(options.get("table.exec.sink.not-null-enforcer"), Some("ERROR"));
    }

    #[test]
    fn misspelt_names_are_kept_with_a_warning() {
        let mut options = Options::default();
        let warning = options.set("table.local-time-zon", "UTC").unwrap().unwrap();
        assert!(warning.message.contains("did you mean 'table.local-time-zone'"));
        assert_eq!(options.get("table.local-time-zon"), Some("UTC"));
        assert!(options.set("table.exec.sink.not-null-enforcer", "x").is_err());
        let error = options.set("execution.runtime-mode", "bacth").unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("did you mean 'batch'?"));
    }
}
