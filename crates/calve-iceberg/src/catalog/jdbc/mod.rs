//! The JDBC catalog: two tables of a relational database say where the current metadata file of each table is.
//!
//! The layout is the Java library's (`JdbcCatalog`, `JdbcUtil`), so that its readers, and PyIceberg's SQL catalog, open
//! it: see [`store`]. The databases are those of [`uri::Place`]; [`database`] says what a failed statement means. What is
//! done with the pointers is that of every [`super::pointer`] catalog.

mod database;
mod postgres;
mod store;
mod uri;

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_types::{Error, Result};

use self::store::{Opening, Store};
use self::uri::Place;
use super::Catalog;
use super::open::Access;
use super::pointer::PointerCatalog;
use super::settings::Settings;
use super::warehouse::warehouse;

/// A catalog from the options of CREATE CATALOG: `uri` (`jdbc:sqlite:FILE` or `jdbc:postgresql://HOST:PORT/DATABASE`),
/// `warehouse` (a folder of any storage), `jdbc.schema-version` (`V0`, the default, or `V1`), `jdbc.init-catalog-tables`
/// (default `true`); for PostgreSQL `jdbc.user`, `jdbc.password` and other properties of its driver, and `clients`, the
/// number of connections at most.
///
/// # Errors
/// `invalid-option` for options that are missing or wrong; `not-supported` for another database.
pub(super) fn open(settings: Settings, options: &BTreeMap<String, String>, access: Access) -> Result<Arc<dyn Catalog>> {
    let given = |key: &str| options.get(key).map(|v| v.trim()).filter(|v| !v.is_empty());
    let name = &settings.name;
    let missing = |key: &str, detail: &str| {
        Error::new("invalid-option", format!("option '{key}' of catalog '{name}' is missing")).with_detail(detail)
    };
    let uri = given("uri").ok_or_else(|| missing("uri", "JDBC connection URI is required").with_hint(uri::HINT))?;
    let folder = given("warehouse").ok_or_else(|| {
        missing("warehouse", "Cannot initialize JDBCCatalog because warehousePath must not be null or empty")
            .with_hint("set it to a folder for the tables, such as '/data/warehouse' or 's3://bucket/warehouse'")
    })?;
    let place = Place::parse(uri, options, access)?;
    let warehouse = warehouse(folder, name)?;
    let create = !given("jdbc.init-catalog-tables").is_some_and(|v| v.eq_ignore_ascii_case("false"));
    let typed = given("jdbc.schema-version").is_some_and(|v| v.eq_ignore_ascii_case("V1"));
    let store = Store::new(place, name.clone(), warehouse, Opening { access, create, typed });
    Ok(Arc::new(PointerCatalog::new(settings, store, options)?))
}

#[cfg(test)]
mod tests;
