//! The one table of every option calve knows: name, where it may stand, type, default, effect.
//!
//! [`TABLE`] is the data; [`find`], [`suggest`] and [`check`] read it. Parsing, warnings about unknown names,
//! "did you mean", completion and the reference in the documentation all come from this table.

mod table;
mod value;

pub use table::{HINTS, TABLE};
pub use value::{InvalidValue, parse_bytes, parse_duration};

/// One option.
#[derive(Debug, Clone, Copy)]
pub struct OptionDef {
    /// Name, as Flink or Iceberg spells it.
    pub name: &'static str,
    /// Where it may stand.
    pub places: &'static [Place],
    /// What values it takes.
    pub kind: Kind,
    /// The value that holds when it is not set; `None` if being unset means something else than any value.
    pub default: Option<&'static str>,
    /// What it does in calve, one sentence.
    pub effect: &'static str,
    /// Why it does nothing, for people who expect that it does, one sentence; `None` for an option that does what its
    /// name says, or that nobody misses.
    pub ineffective: Option<&'static str>,
}

/// Where an option may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// `SET`, `-D`.
    Session,
    /// The WITH clause of CREATE CATALOG.
    Catalog,
    /// The WITH clause of CREATE TABLE in an Iceberg catalog: a table property.
    Table,
    /// `OPTIONS` hint of a table that is read.
    Read,
    /// `OPTIONS` hint of the target of an INSERT.
    Write,
}

/// The type of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// A whole number, 32 or 64 bits.
    Integer,
    /// A whole number from this one on, 64 bits.
    AtLeast(i64),
    /// A number.
    Double,
    /// Any text.
    Text,
    /// Such as `10s`, `1 min`.
    Duration,
    /// One of these, in any case.
    OneOf(&'static [&'static str]),
}

impl Place {
    /// Of the two kinds of hints, the other one.
    pub fn other_use(self) -> Self {
        match self {
            Self::Read => Self::Write,
            Self::Write => Self::Read,
            other => other,
        }
    }
}

impl OptionDef {
    fn stands_in(&self, place: Place) -> bool {
        self.places.contains(&place)
    }
}

/// The option of that name at that place.
pub fn find(name: &str, place: Place) -> Option<&'static OptionDef> {
    TABLE.iter().find(|o| o.name == name && o.stands_in(place))
}

/// Why a known option does nothing at that place, though people expect that it does.
pub fn ineffective(name: &str, place: Place) -> Option<&'static str> {
    find(name, place).and_then(|o| o.ineffective)
}

/// The default of a session option; `None` if it is unknown or has none.
pub fn session_default(name: &str) -> Option<&'static str> {
    find(name, Place::Session).and_then(|o| o.default)
}

/// The option of a hint that does what a table property does for all reads or writes.
pub fn in_hint(property: &str, place: Place) -> Option<&'static str> {
    HINTS.iter().find(|(known, _)| *known == property).and_then(|(_, option)| find(option, place)).map(|o| o.name)
}

/// The known name at that place that `name` most likely was meant to be.
pub fn suggest(name: &str, place: Place) -> Option<&'static str> {
    calve_types::nearest(name, TABLE.iter().filter(|o| o.stands_in(place)).map(|o| o.name))
}

/// Names of options of catalogs that other tools or documents have for what a known option does. The first part of the pair
/// is the whole name, in lower case.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("url", "uri"),
    ("path", "warehouse"),
    ("user", "jdbc.user"),
    ("username", "jdbc.user"),
    ("jdbc.username", "jdbc.user"),
    ("password", "jdbc.password"),
    ("region", "client.region"),
    ("aws.region", "client.region"),
    ("endpoint", "s3.endpoint"),
    ("s3.access-key", "s3.access-key-id"),
    ("s3.access.key", "s3.access-key-id"),
    ("s3.secret-key", "s3.secret-access-key"),
    ("s3.secret.key", "s3.secret-access-key"),
    ("s3.path.style.access", "s3.path-style-access"),
    ("s3.path-style", "s3.path-style-access"),
    ("s3.token", "s3.session-token"),
];

/// What options of a catalog begin with that are properties of its new tables, and how it is misspelt.
const OF_TABLES: [(&str, &[&str]); 2] = [
    ("table-default.", &["table-defaults.", "table_default.", "table.default.", "tabledefault."]),
    ("table-override.", &["table-overrides.", "table_override.", "table.override.", "tableoverride."]),
];

/// The name that an unknown name at that place most likely was meant to be: of an option, or of a property of new tables
/// behind `table-default.` and `table-override.` of a catalog. `None` for a known one, and for one that resembles none.
pub fn correction(name: &str, place: Place) -> Option<String> {
    if find(name, place).is_some() {
        return None;
    }
    if place == Place::Catalog {
        let lower = name.to_lowercase();
        for (prefix, misspelt) in OF_TABLES {
            let given = std::iter::once(&prefix).chain(misspelt).find(|given| lower.starts_with(**given));
            let Some(property) = given.and_then(|given| name.get(given.len()..)) else { continue };
            let known = match find(property, Place::Table) {
                Some(_) => property,
                None => suggest(property, Place::Table).unwrap_or(property),
            };
            return Some(format!("{prefix}{known}")).filter(|correct| correct != name);
        }
        if let Some((_, known)) = OTHER_NAMES.iter().find(|(other, _)| *other == lower) {
            return Some((*known).to_owned());
        }
    }
    suggest(name, place).map(str::to_owned)
}

/// Checks a value against the option's type.
///
/// # Errors
/// [`InvalidValue`] says what was expected. Unknown names are never wrong: Flink and Iceberg keep them.
pub fn check(name: &str, value: &str, place: Place) -> Result<(), InvalidValue> {
    let Some(option) = find(name, place) else { return Ok(()) };
    let wrong = |expected: String| InvalidValue { name: name.to_owned(), value: value.to_owned(), expected };
    match option.kind {
        Kind::Boolean if !matches!(value.to_ascii_lowercase().as_str(), "true" | "false") => {
            Err(wrong("true or false".to_owned()))
        }
        Kind::Integer if value.trim().parse::<i64>().is_err() => Err(wrong("a whole number".to_owned())),
        Kind::AtLeast(least) if !value.trim().parse::<i64>().is_ok_and(|number| number >= least) => {
            Err(wrong(format!("a whole number from {least}")))
        }
        Kind::Double if value.trim().parse::<f64>().is_err() => Err(wrong("a number".to_owned())),
        Kind::Duration if parse_duration(value).is_none() => {
            Err(wrong("a duration such as '10s' or '1 min'".to_owned()))
        }
        Kind::OneOf(values) if !values.iter().any(|v| v.eq_ignore_ascii_case(value.trim())) => {
            Err(wrong(format!("one of {}", values.join(", "))))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_are_unique_at_each_place() {
        for (i, option) in TABLE.iter().enumerate() {
            for other in &TABLE[..i] {
                assert!(
                    option.name != other.name || option.places.iter().all(|p| !other.places.contains(p)),
                    "{} stands twice",
                    option.name
                );
            }
        }
    }

    #[test]
    fn defaults_are_values_of_their_type() {
        for option in TABLE {
            if let Some(default) = option.default {
                for place in option.places {
                    assert_eq!(check(option.name, default, *place), Ok(()));
                }
            }
        }
    }

    #[test]
    fn misspelt_names_find_their_option() {
        assert_eq!(suggest("upsert-enable", Place::Write), Some("upsert-enabled"));
        assert_eq!(suggest("snapshotid", Place::Read), Some("snapshot-id"));
        assert_eq!(suggest("owner", Place::Table), None);
    }

    #[test]
    fn what_was_meant_in_a_catalog() {
        for (name, meant) in [
            ("warehose", Some("warehouse")),
            ("Catalog-Type", Some("catalog-type")),
            ("catalog_type", Some("catalog-type")),
            ("Type", Some("type")),
            ("user", Some("jdbc.user")),
            ("Password", Some("jdbc.password")),
            ("jdbc.username", Some("jdbc.user")),
            ("s3.secret-key", Some("s3.secret-access-key")),
            ("s3.access-key", Some("s3.access-key-id")),
            ("table-defaults.format-version", Some("table-default.format-version")),
            ("table-default.format-verison", Some("table-default.format-version")),
            ("table-overrides.write.upsert.enable", Some("table-override.write.upsert.enabled")),
            ("Table-Default.owner", Some("table-default.owner")),
            ("table-default.format-version", None),
            ("table-default.owner", None),
            ("warehouse", None),
            ("my.own", None),
        ] {
            assert_eq!(correction(name, Place::Catalog).as_deref(), meant, "{name}");
        }
        assert_eq!(correction("user", Place::Session), None);
        for (other, known) in OTHER_NAMES {
            assert!(find(other, Place::Catalog).is_none() && find(known, Place::Catalog).is_some(), "{other}");
        }
    }

    #[test]
    fn table_properties_have_other_names_in_hints() {
        for (property, option) in HINTS {
            assert!(find(property, Place::Table).is_some(), "{property}");
            let places = [Place::Read, Place::Write];
            assert!(places.iter().any(|place| in_hint(property, *place) == Some(option)), "{option}");
            assert!(places.iter().all(|place| find(property, *place).is_none()), "{property}");
        }
        assert_eq!(in_hint("write.upsert.enabled", Place::Write), Some("upsert-enabled"));
        assert_eq!(in_hint("write.upsert.enabled", Place::Read), None);
        assert_eq!(in_hint("read.split.target-size", Place::Read), Some("split-size"));
    }

    #[test]
    fn wrong_values_say_what_was_expected() {
        let error = check("table.exec.sink.not-null-enforcer", "maybe", Place::Session).unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid value 'maybe' for option 'table.exec.sink.not-null-enforcer': expected one of ERROR, DROP"
        );
        for (name, value, expected) in [
            ("write.upsert.enabled", "maybe", "true or false"),
            ("write.target-file-size-bytes", "-5", "a whole number from 1"),
            ("commit.retry.num-retries", "-1", "a whole number from 0"),
            ("write.parquet.compression-codec", "nope", "one of zstd, gzip, snappy, lz4, uncompressed, none"),
        ] {
            assert_eq!(check(name, value, Place::Table).unwrap_err().expected, expected);
        }
        assert_eq!(check("commit.retry.num-retries", "0", Place::Table), Ok(()));
    }
}
