//! What a table or view is, wherever it lives: for LIKE, SHOW CREATE and DESCRIBE.

use std::collections::BTreeMap;

use calve_planner::{CatalogReader, TableEntry, TablePath};
use calve_sql::Name;
use calve_sql::print::identifier;
use calve_types::{Error, Result};

use crate::catalogs::Catalogs;
use crate::catalogs::object::{CatalogObject, DefinedColumn, KeyDef, TableDef};
use crate::resolve::{IcebergHandle, Resolved, downcast};

/// A full name as Flink quotes it: `` `cat`.`db`.`t` ``.
pub(crate) fn quoted(path: &TablePath) -> String {
    [&path.catalog, &path.database, &path.table].map(|part| identifier(part)).join(".")
}

/// The definition of a table that is not in the session's memory: columns without comments, as Flink's connector gives
/// them.
pub(crate) fn of_entry(entry: &TableEntry) -> TableDef {
    TableDef {
        columns: entry.columns.iter().map(|c| DefinedColumn { column: c.clone(), comment: None }).collect(),
        primary_key: Some(entry.primary_key.clone()).filter(|k| !k.is_empty()).map(KeyDef::unnamed),
        partition_keys: entry.partition_keys.clone(),
        options: entry.options.clone(),
        ..TableDef::default()
    }
}

/// A loaded table or view.
pub(crate) struct Described {
    /// Its definition.
    pub object: CatalogObject,
    /// Whether it lives in the session only.
    pub temporary: bool,
}

/// The table or view of a name among the loaded ones; `None` if there is none.
///
/// # Errors
/// What the catalog answers.
pub(crate) fn find(catalogs: &Catalogs, resolved: &Resolved<'_>, path: &TablePath) -> Result<Option<Described>> {
    if let Some(object) = catalogs.object(path) {
        return Ok(Some(Described { object: object.clone(), temporary: catalogs.temporary(path).is_some() }));
    }
    let entry = resolved.table(path, &[])?;
    Ok(entry.map(|entry| Described { object: CatalogObject::Table(Box::new(of_entry(&entry))), temporary: false }))
}

/// The options by which Flink's connector finds an Iceberg table again.
const SOURCE_OPTIONS: [&str; 2] = ["connector", "src-catalog"];

/// The table that LIKE names. An Iceberg table has two options more, by which its copy in another catalog is a table of
/// the connector that reads the original.
///
/// # Errors
/// `unknown-table`; `not-a-table` for a view.
pub(crate) fn of_source(
    catalogs: &Catalogs,
    resolved: &Resolved<'_>,
    path: &TablePath,
    name: &Name,
) -> Result<TableDef> {
    let place = format!("at line {}, column {}", name.span.start.line, name.span.start.column);
    let table = match find(catalogs, resolved, path)?.map(|d| d.object) {
        Some(CatalogObject::Table(table)) => *table,
        Some(CatalogObject::View(_)) => {
            return Err(Error::new("not-a-table", format!("'{path}' is a view"))
                .with_detail(format!("Source table '{}' of the LIKE clause can not be a VIEW, {place}", quoted(path)))
                .at(name.span));
        }
        None => {
            let error = Error::new("unknown-table", format!("table '{path}' does not exist"))
                .with_detail(format!(
                    "Source table '{}' of the LIKE clause not found in the catalog, {place}",
                    quoted(path)
                ))
                .at(name.span);
            return Err(did_you_mean(error, resolved, path));
        }
    };
    let is_iceberg = resolved.table(path, &[])?.is_some_and(|e| downcast::<IcebergHandle>(&e.handle).is_some());
    let options = catalogs.get(&path.catalog).map(|entry| entry.options.clone()).unwrap_or_default();
    Ok(if is_iceberg { with_source(table, path, options) } else { table })
}

fn with_source(mut table: TableDef, path: &TablePath, mut catalog: BTreeMap<String, String>) -> TableDef {
    catalog.remove("type");
    let text = |s: &str| serde_json::Value::from(s).to_string();
    let options = catalog.iter().map(|(key, value)| format!("{}:{}", text(key), text(value)));
    let source = format!(
        "{{\"catalog-name\":{},\"catalog-database\":{},\"catalog-table\":{},\"catalog-props\":{{{}}}}}",
        text(&path.catalog),
        text(&path.database),
        text(&path.table),
        options.collect::<Vec<_>>().join(",")
    );
    table.options.extend(BTreeMap::from([
        (SOURCE_OPTIONS[0].to_owned(), "iceberg".to_owned()),
        (SOURCE_OPTIONS[1].to_owned(), source),
    ]));
    table
}

/// Takes away what [`of_source`] added: the copy is an Iceberg table of its own.
pub(crate) fn forget_source(table: &mut TableDef) {
    for option in SOURCE_OPTIONS {
        table.options.remove(option);
    }
}

/// With a suggestion for a misspelt name.
pub(crate) fn did_you_mean(error: Error, resolved: &Resolved<'_>, path: &TablePath) -> Error {
    with_suggestion(error, path, &resolved.similar_databases(&path.catalog), &resolved.similar_tables(path))
}

/// With a suggestion for a misspelt name, or for its database if that is what is not there.
pub(crate) fn with_suggestion(error: Error, path: &TablePath, databases: &[String], tables: &[String]) -> Error {
    if !databases.is_empty() && !databases.contains(&path.database) {
        return error.without_database(&path.database, databases.iter().map(String::as_str));
    }
    error.did_you_mean(&path.table, tables.iter().map(String::as_str))
}
