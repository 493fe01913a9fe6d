//! `invalid-option` of a table: a known name with a value that it does not take. Flink stores it without a word.

use calve_options::Place;
use calve_sql::Property;

use crate::result::Warning;

/// Warns of a value that a table stores and that its option does not take.
pub(super) fn stored(option: &Property, place: Place) -> Option<Warning> {
    let wrong = calve_options::check(&option.key, &option.value, place).err()?;
    Some(Warning::new("invalid-option", wrong.to_string()))
}
