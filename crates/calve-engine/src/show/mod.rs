//! SHOW and DESCRIBE.

use calve_functions::EvalContext;
use calve_planner::{CatalogReader, TablePath};
use calve_sql::{Ident, Name, Show, ShowWhat};
use calve_types::{Error, Result};

use crate::catalogs::Catalogs;
use crate::ddl::database::database_path;
use crate::listing::{self, Column};
use crate::resolve::Resolved;
use crate::result::Rows;

pub(crate) async fn show(catalogs: &Catalogs, show: &Show, context: &EvalContext) -> Result<Rows> {
    let (catalog, database) = catalogs.current();
    let (column, mut names) = match show.what {
        ShowWhat::Catalogs => ("catalog name", catalogs.names()),
        ShowWhat::CurrentCatalog => ("current catalog name", vec![catalog.to_owned()]),
        ShowWhat::CurrentDatabase => ("current database name", vec![database.to_owned()]),
        ShowWhat::Databases => {
            let catalog = match &show.from {
                None => catalog,
                Some(Name { parts, .. }) if parts.len() == 1 => parts[0].as_str(),
                Some(name) => {
                    return Err(Error::new(
                        "invalid-name",
                        format!("'{}' is not the name of a catalog", name.parts.join(".")),
                    )
                    .at(name.span));
                }
            };
            let place = show.from.as_ref().map_or(show.span, |n| n.span);
            let entry = catalogs.get(catalog).map_err(|e| e.at(place))?;
            ("database name", entry.databases().await.map_err(|e| e.at(place))?)
        }
        ShowWhat::Views
        | ShowWhat::Functions { .. }
        | ShowWhat::Columns
        | ShowWhat::Modules { .. }
        | ShowWhat::Jars => {
            return Err(Error::unsupported("this form of SHOW").at(show.span));
        }
        ShowWhat::Tables => {
            let (catalog, database) = match &show.from {
                None => (catalog.to_owned(), database.to_owned()),
                Some(name) => database_path(catalogs, name)?,
            };
            let place = show.from.as_ref().map_or(show.span, |n| n.span);
            let entry = catalogs.get(&catalog).map_err(|e| e.at(place))?;
            if !entry.database_exists(&database).await.map_err(|e| e.at(place))? {
                return Err(Error::new(
                    "unknown-database",
                    format!("database '{database}' does not exist in catalog '{catalog}'"),
                )
                .with_detail(format!("Database '{catalog}'.'{database}' doesn't exist."))
                .at(place));
            }
            ("table name", entry.tables(&database).await.map_err(|e| e.at(place))?)
        }
    };
    if let Some(like) = &show.like {
        names.retain(|name| listing::like(name, &like.pattern, like.ignore_case) != like.negated);
    }
    names.sort();
    listing::names(column, names, context)
}

/// DESCRIBE CATALOG.
pub(crate) fn catalog(catalogs: &Catalogs, name: &Ident, extended: bool, context: &EvalContext) -> Result<Rows> {
    let entry = catalogs.get(&name.value).map_err(|e| e.at(name.span))?;
    let mut rows = vec![
        ("name".to_owned(), Some(name.value.clone())),
        ("type".to_owned(), entry.options.get("type").cloned()),
        ("comment".to_owned(), entry.comment.clone()),
    ];
    if extended {
        rows.extend(
            entry.options.iter().filter(|(k, _)| *k != "type").map(|(k, v)| (format!("option:{k}"), Some(v.clone()))),
        );
    }
    let (names, values) = rows.into_iter().map(|(name, value)| (Some(name), value)).unzip();
    listing::rows(vec![Column::Text("info name", names), Column::Text("info value", values)], context)
}

/// DESCRIBE of a table.
pub(crate) fn table(
    resolved: &Resolved<'_>,
    path: Option<TablePath>,
    name: &Name,
    context: &EvalContext,
) -> Result<Rows> {
    let table = match &path {
        Some(path) => resolved.table(path, &[])?,
        None => None,
    };
    let Some(table) = table else {
        let written = name.parts.join(".");
        let known = path.as_ref().map(|p| resolved.similar_tables(p)).unwrap_or_default();
        let last = name.parts.last().map_or("", String::as_str);
        let error = Error::new("unknown-table", format!("table '{written}' does not exist"))
            .with_detail(format!(
                "Tables or views with the identifier '{}' doesn't exist.",
                path.map_or(written.clone(), |p| p.to_string())
            ))
            .at(name.span);
        return Err(match calve_options::nearest(last, known.iter().map(String::as_str)) {
            Some(near) => error.with_hint(format!("did you mean '{near}'?")),
            None => error,
        });
    };
    let key = format!("PRI({})", table.primary_key.join(", "));
    let none = vec![None; table.columns.len()];
    let columns = vec![
        Column::Text("name", table.columns.iter().map(|c| Some(c.name.clone())).collect()),
        Column::Text("type", table.columns.iter().map(|c| Some(c.data_type.logical.to_string())).collect()),
        Column::Flag("null", table.columns.iter().map(|c| c.data_type.nullable).collect()),
        Column::Text(
            "key",
            table.columns.iter().map(|c| table.primary_key.contains(&c.name).then(|| key.clone())).collect(),
        ),
        Column::Text("extras", none.clone()),
        Column::Text("watermark", none),
    ];
    listing::rows(columns, context)
}
