//! `duplicate-option`: a WITH clause gives an option twice. Flink keeps the last value without a word.

use std::collections::HashSet;

use calve_sql::Property;

use crate::result::Warning;

/// Warns of each repetition, at its place.
pub(crate) fn warnings(entries: &[Property]) -> Vec<Warning> {
    let mut seen = HashSet::new();
    let repeated = entries.iter().filter(|entry| !seen.insert(entry.key.as_str()));
    let warning = |entry: &Property| {
        let message = format!("option '{}' is given twice; the last value is kept", entry.key);
        Warning::new("duplicate-option", message).at(entry.span)
    };
    repeated.map(warning).collect()
}
