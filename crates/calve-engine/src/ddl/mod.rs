//! CREATE, ALTER, DROP and USE, and the statements that are refused.

pub(crate) mod alter;
mod analyze;
pub(crate) mod catalog;
pub(crate) mod ctas;
pub(crate) mod database;
pub(crate) mod define;
mod expand;
pub(crate) mod function;
mod like;
pub(crate) mod module;
pub(crate) mod refuse;
pub(crate) mod table;
pub(crate) mod view;

use std::collections::BTreeMap;

use calve_sql::Property;

use crate::check::rules::duplicate_option;
use crate::result::Warning;

/// A WITH clause as a map: of a repeated key the last value, as in Flink, with a warning.
fn properties(entries: &[Property], warnings: &mut Vec<Warning>) -> BTreeMap<String, String> {
    warnings.extend(duplicate_option::warnings(entries));
    entries.iter().map(|entry| (entry.key.clone(), entry.value.clone())).collect()
}
