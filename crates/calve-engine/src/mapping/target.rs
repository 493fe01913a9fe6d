//! Which Iceberg table the options of a definition name (Flink's `FlinkDynamicTableFactory`).

use std::collections::BTreeMap;

use calve_planner::TablePath;
use calve_sql::is_reserved;
use calve_sql::print::{identifier, string};
use calve_types::{Error, Result};

use crate::catalogs::Catalogs;

/// The options that say what a definition stands for; an Iceberg table that is made of it has them not.
pub(super) const NOT_STORED: [&str; 2] = ["connector", SOURCE];

/// The option by which a copy that LIKE made of an Iceberg table knows the original, as JSON.
const SOURCE: &str = "src-catalog";

/// Options of a hint that choose the Iceberg table.
const CHOICES: [&str; 8] = [
    "catalog-name",
    "catalog-type",
    "catalog-impl",
    "catalog-database",
    "catalog-table",
    "uri",
    "warehouse",
    "base-namespace",
];

/// Whether an option of a hint chooses the Iceberg table: neither a read nor a write looks at it.
pub(crate) fn is_choice(option: &str) -> bool {
    CHOICES.contains(&option)
}

/// An Iceberg table in a catalog that need not be one of the session's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    /// The catalog's name.
    pub catalog: String,
    /// Its options.
    pub options: BTreeMap<String, String>,
    /// The database.
    pub database: String,
    /// The table.
    pub table: String,
}

/// The options that LIKE kept of the original.
fn source(json: &str) -> serde_json::Result<BTreeMap<String, String>> {
    let source: BTreeMap<String, serde_json::Value> = serde_json::from_str(json)?;
    let mut options = match source.get("catalog-props") {
        Some(props) => serde_json::from_value(props.clone())?,
        None => BTreeMap::new(),
    };
    let names = ["catalog-name", "catalog-database", "catalog-table"];
    let name = |key: &str| Some((key.to_owned(), source.get(key)?.as_str()?.to_owned()));
    options.extend(names.into_iter().filter_map(name));
    Ok(options)
}

impl Target {
    /// What a table of these options stands for: what LIKE's original was unless other options say otherwise.
    ///
    /// # Errors
    /// `missing-option` without `catalog-name`, `invalid-option` for a `src-catalog` that cannot be read.
    pub fn of(path: &TablePath, options: &BTreeMap<String, String>, hints: &BTreeMap<String, String>) -> Result<Self> {
        let mut merged = match options.get(SOURCE) {
            None => BTreeMap::new(),
            Some(json) => source(json).map_err(|e| {
                Error::new("invalid-option", format!("option '{SOURCE}' of table '{path}' cannot be read"))
                    .with_detail(e.to_string())
            })?,
        };
        let own = options.iter().filter(|(key, _)| !NOT_STORED.contains(&key.as_str()));
        let hinted = hints.iter().filter(|(key, _)| CHOICES.contains(&key.as_str()));
        merged.extend(own.chain(hinted).map(|(key, value)| (key.clone(), value.clone())));
        let Some(catalog) = merged.get("catalog-name").cloned() else {
            return Err(Error::new("missing-option", format!("table '{path}' has no option 'catalog-name'"))
                .with_detail(
                    "Invalid catalog name: null. Set Key: 'catalog-name' , default: null (fallback keys: []) create table \
                     option.",
                )
                .with_hint("any name will do: it is that of the Iceberg catalog with the other options"));
        };
        let name = |key: &str, default: &str| merged.get(key).map_or(default, String::as_str).to_owned();
        let (database, table) = (name("catalog-database", &path.database), name("catalog-table", &path.table));
        Ok(Self { catalog, database, table, options: merged })
    }

    /// The table's name in an Iceberg catalog, where every statement takes it, and the CREATE CATALOG that makes the catalog
    /// unless the session has it. `metadata` is that of a metadata table, with its `$`, or empty.
    pub fn in_catalog(&self, catalogs: &Catalogs, metadata: &str) -> (Option<String>, String) {
        let (create, catalog) = match catalogs.at_place(&self.catalog, &self.options) {
            Some(catalog) => (None, catalog.to_owned()),
            None => {
                let mut catalog = self.catalog.clone();
                while catalogs.contains(&catalog) {
                    catalog.push_str("_iceberg");
                }
                let shown = ["catalog-type", "catalog-impl", "warehouse", "uri", "base-namespace"];
                let given = shown.iter().filter_map(|key| Some((*key, self.options.get(*key)?)));
                let given = given.map(|(key, value)| match key {
                    // it may hold a password
                    "uri" => ", 'uri' = '..'".to_owned(),
                    _ => format!(", '{key}' = {}", string(value)),
                });
                let options: String = given.collect();
                (Some(format!("CREATE CATALOG {} WITH ('type' = 'iceberg'{options})", name(&catalog))), catalog)
            }
        };
        let table = format!("{}{metadata}", self.table);
        (create, [&catalog, &self.database, &table].map(|part| name(part)).join("."))
    }
}

/// A name as a statement may have it.
fn name(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !is_reserved(name);
    if is_plain { name.to_owned() } else { identifier(name) }
}

/// Refuses the sink that makes and changes tables while it writes.
///
/// # Errors
/// `missing-option`, `not-supported`, if the options ask for it.
pub(crate) fn check_sink(path: &TablePath, options: &BTreeMap<String, String>) -> Result<()> {
    const DYNAMIC: &str = "use-dynamic-iceberg-sink";
    const GENERATOR: &str = "dynamic-record-generator-impl";
    if !options.get(DYNAMIC).is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
        return Ok(());
    }
    if !options.contains_key(GENERATOR) {
        return Err(Error::new("missing-option", format!("table '{path}' has no option '{GENERATOR}'")).with_detail(
            format!(
                "Invalid dynamic record generator value: null. {GENERATOR}  must be specified when {DYNAMIC} is true."
            ),
        ));
    }
    Err(Error::unsupported(format!("option '{DYNAMIC}'")).with_hint("INSERT INTO one table at a time"))
}
