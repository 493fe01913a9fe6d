//! `unknown-option`: a name that nobody knows. Flink stores it, or ignores it, without a word.
//!
//! In SET, in WITH and among table properties anybody may have names of their own: only what resembles a known one is
//! told. A hint on an Iceberg table is read by the connector alone: a name that it does not know does nothing.

use calve_options::Place;

use crate::result::Warning;

/// Warns of a name that resembles a known one.
pub(crate) fn misspelt(name: &str, place: Place) -> Option<Warning> {
    calve_options::correction(name, place)
        .map(|known| Warning::new("unknown-option", format!("option '{name}' is not known; did you mean '{known}'?")))
}

/// Warns of a name in an OPTIONS hint that an Iceberg table does not know.
pub(crate) fn in_hint(name: &str, place: Place) -> Option<Warning> {
    if calve_options::find(name, place).is_some() {
        return None;
    }
    if calve_options::find(name, Place::Table).is_some() && calve_options::find(name, place.other_use()).is_none() {
        let way_out = match calve_options::in_hint(name, place) {
            Some(option) => format!("did you mean '{option}'?"),
            None => format!("ALTER TABLE .. SET ('{name}' = ..)"),
        };
        let message = format!("option '{name}' does nothing in a hint: it is a table property; {way_out}");
        return Some(Warning::new("unknown-option", message));
    }
    let use_of = if place == Place::Write { "written" } else { "read" };
    let nothing = || {
        let message = format!("option '{name}' does nothing: a table that is {use_of} has no option of that name");
        Warning::new("unknown-option", message)
    };
    Some(misspelt(name, place).unwrap_or_else(nothing))
}
