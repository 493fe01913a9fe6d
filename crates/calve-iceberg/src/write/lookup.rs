//! Where the options of a write are looked up, and what their values may be.

use std::collections::BTreeMap;

use calve_types::{Error, Result};

use crate::table::Table;

/// Where an option is looked up, in this order: the hint, a table property of the option's own name, SET, the table
/// property that it overrides. (Flink's connector gets a table's properties and hints in one map.)
pub(crate) struct Lookup<'a> {
    pub(crate) table: &'a Table,
    pub(crate) hints: &'a BTreeMap<String, String>,
    pub(crate) session: &'a BTreeMap<String, String>,
}

/// A value and the name it was given under.
pub(crate) type Found<'a> = (&'a str, &'a str);

impl<'a> Lookup<'a> {
    /// The option `name`, then `property`. An option that is its own property yields to SET as other properties do.
    pub(crate) fn find(&self, name: &'a str, property: Option<&'a str>) -> Option<Found<'a>> {
        let option = self.hints.get(name).map(String::as_str);
        let option = option.or_else(|| self.table.property(name).filter(|_| property != Some(name)));
        let option = option.or_else(|| self.session.get(name).map(String::as_str));
        option.map(|value| (name, value)).or_else(|| property.and_then(|p| self.property(p)))
    }

    /// The option `name`, then `property`: SET does not reach it.
    pub(crate) fn hint(&self, name: &'a str, property: Option<&'a str>) -> Option<Found<'a>> {
        let hint = self.hints.get(name).map(|value| (name, value.as_str()));
        hint.or_else(|| self.property(name)).or_else(|| property.and_then(|p| self.property(p)))
    }

    /// A table property.
    pub(crate) fn property(&self, name: &'a str) -> Option<Found<'a>> {
        self.table.property(name).map(|value| (name, value))
    }

    /// The table properties whose names begin with `prefix`: the rest of the name, the name, the value.
    pub(crate) fn properties(&self, prefix: &'a str) -> impl Iterator<Item = (&'a str, Found<'a>)> {
        let all = self.table.metadata().properties().iter();
        all.filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, (name.as_str(), value.as_str()))))
    }
}

/// Java's `Boolean.parseBoolean`: only `true`, in any case, is true.
pub(crate) fn boolean(found: Option<Found<'_>>, default: bool) -> bool {
    found.map_or(default, |(_, value)| value.eq_ignore_ascii_case("true"))
}

/// The error of a value that its option does not take.
pub(crate) fn invalid(name: &str, value: &str, expected: &str) -> Error {
    Error::new("invalid-option", format!("invalid value '{value}' for option '{name}': expected {expected}"))
}

/// A whole number from `least` on.
///
/// # Errors
/// `invalid-option`.
pub(crate) fn integer(found: Option<Found<'_>>, default: u64, least: u64) -> Result<u64> {
    let Some((name, value)) = found else { return Ok(default) };
    match value.trim().parse::<i64>().ok().and_then(|n| u64::try_from(n).ok()) {
        Some(number) if number >= least => Ok(number),
        _ => Err(invalid(name, value, &format!("a whole number from {least}"))),
    }
}

/// A number of bytes or rows, at least 1.
///
/// # Errors
/// `invalid-option`.
pub(crate) fn size(found: Option<Found<'_>>, default: usize) -> Result<usize> {
    Ok(usize::try_from(integer(found, default as u64, 1)?).unwrap_or(usize::MAX))
}

/// A level of compression; `None` without one. Java keeps the word "null" for none.
///
/// # Errors
/// `invalid-option` for anything but a whole number.
pub(crate) fn level(found: Option<Found<'_>>) -> Result<Option<(&str, i32)>> {
    let given = found.filter(|(_, value)| !value.trim().is_empty() && !value.eq_ignore_ascii_case("null"));
    let parsed = given.map(|(name, value)| {
        value.trim().parse::<i32>().map(|n| (name, n)).map_err(|_| invalid(name, value, "a whole number"))
    });
    parsed.transpose()
}
