//! The AWS Glue Data Catalog: a parameter of each of its tables says where the newest metadata file is.
//!
//! Names, parameters and their meaning are the Java library's (`GlueCatalog`, `GlueTableOperations`), so that all who read
//! Iceberg tables in Glue read these. [`client`] sends requests and says what a failed one has done; [`input`] is what Glue
//! is told of a table; [`store`] is the rest. What is done with the pointers is that of every [`super::pointer`] catalog.

mod client;
mod input;
mod store;

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_types::{Error, Result};

use self::client::Client;
use self::store::{Rules, Store};
use super::Catalog;
use super::pointer::PointerCatalog;
use super::settings::Settings;
use super::warehouse::warehouse;

/// A catalog from the options of CREATE CATALOG: `warehouse` (where the tables of databases without a location are),
/// `client.region`, `glue.endpoint`, `glue.id` (the account of the data catalog), `glue.skip-archive` (default `true`),
/// `glue.skip-name-validation` (default `false`). Nothing is contacted.
///
/// # Errors
/// `invalid-option` for options that are missing or wrong; `not-supported` for those that ask for what is not done.
pub(super) fn open(settings: Settings, options: &BTreeMap<String, String>) -> Result<Arc<dyn Catalog>> {
    let given = |key: &str| options.get(key).map(|value| value.trim()).filter(|value| !value.is_empty());
    let flag = |key: &str, default: bool| given(key).map_or(default, |value| value.eq_ignore_ascii_case("true"));
    let name = &settings.name;
    if !settings.base_namespace.is_empty() {
        return Err(Error::unsupported("option 'base-namespace' of a Glue catalog")
            .with_hint("leave it out: a data catalog has one level of databases"));
    }
    if flag("glue.lakeformation-enabled", false) {
        return Err(Error::unsupported("option 'glue.lakeformation-enabled'")
            .with_hint("leave it out, and use credentials that may read and write the tables' files themselves"));
    }
    if given("lock-impl").is_some() {
        return Err(Error::unsupported("option 'lock-impl'").with_hint(
            "leave it out: commits compare the version of the Glue table; writers with a lock and without it do not mix",
        ));
    }
    let warehouse = given("warehouse").map(|folder| warehouse(folder, name)).transpose()?;
    let rules = Rules {
        skips_archive: flag("glue.skip-archive", true),
        checks_names: !flag("glue.skip-name-validation", false),
    };
    let store = Store::new(Client::new(name, options)?, settings.clone(), warehouse, rules);
    Ok(Arc::new(PointerCatalog::new(settings, store, options)?))
}
