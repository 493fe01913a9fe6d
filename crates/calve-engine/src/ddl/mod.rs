//! CREATE, DROP and USE.

pub(crate) mod catalog;
pub(crate) mod ctas;
pub(crate) mod database;
mod define;
mod expand;
mod like;
pub(crate) mod table;
pub(crate) mod view;

use std::collections::BTreeMap;

use calve_sql::Property;

use crate::result::Warning;

/// A WITH clause as a map: of a repeated key the last value, as in Flink, with a warning.
fn properties(entries: &[Property], warnings: &mut Vec<Warning>) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    for entry in entries {
        if map.insert(entry.key.clone(), entry.value.clone()).is_some() {
            warnings.push(Warning {
                code: "duplicate-option",
                message: format!("option '{}' is given twice; the last value is kept", entry.key),
            });
        }
    }
    map
}
