//! DESCRIBE and SHOW COLUMNS.

use std::collections::BTreeMap;

use calve_functions::EvalContext;
use calve_planner::TimeAttribute;
use calve_planner::catalog::ColumnKind;
use calve_sql::{Ident, Name, Show, ast, print};
use calve_types::{Error, Result, Span};

use super::matches;
use crate::catalogs::object::{CatalogObject, DefinedColumn};
use crate::catalogs::{CatalogEntry, Catalogs};
use crate::listing::{self, Column};
use crate::result::Rows;
use crate::secrets;
use crate::session::Session;

impl Session {
    /// DESCRIBE of a table or view.
    pub(crate) async fn describe(&self, name: &Name) -> Result<Rows> {
        let object = self.described(name).await?.object;
        columns(&object, |_| true, &self.context()?)
    }

    /// SHOW COLUMNS.
    pub(super) async fn show_columns(&self, show: &Show) -> Result<Rows> {
        let name = show.from.as_ref().ok_or_else(|| Error::internal("SHOW COLUMNS without a table"))?;
        let object = self.described(name).await?.object;
        columns(&object, |column| matches(show, column), &self.context()?)
    }
}

/// The columns as Flink lists them; their comments only if there is one.
fn columns(object: &CatalogObject, wanted: impl Fn(&str) -> bool, context: &EvalContext) -> Result<Rows> {
    let (key, watermark) = match object {
        CatalogObject::Table(table) => (table.key_columns(), table.watermark.as_ref()),
        CatalogObject::View(_) => (&[] as &[String], None),
    };
    let columns: Vec<&DefinedColumn> = object.columns().iter().filter(|c| wanted(&c.column.name)).collect();
    let time_of = |c: &DefinedColumn| match object {
        CatalogObject::View(view) => {
            let at = view.columns.iter().position(|own| own.column.name == c.column.name)?;
            view.times.get(at).copied().flatten()
        }
        CatalogObject::Table(_) if is_proctime(c) => Some(TimeAttribute::Proctime),
        CatalogObject::Table(table) => {
            let rowtime = table.watermark.as_ref().filter(|w| w.is_rowtime && w.column == [c.column.name.as_str()]);
            rowtime.map(|_| TimeAttribute::Rowtime)
        }
    };
    let watermark_of = |c: &DefinedColumn| watermark.filter(|w| w.column == [c.column.name.as_str()]);
    let text = |of: &dyn Fn(&DefinedColumn) -> Option<String>| columns.iter().map(|c| of(c)).collect::<Vec<_>>();
    let primary = format!("PRI({})", key.join(", "));
    let mut listed = vec![
        Column::Text("name", text(&|c| Some(c.column.name.clone()))),
        Column::Text(
            "type",
            text(&|c| {
                let attribute = time_of(c).map(|time| format!(" {time}")).unwrap_or_default();
                Some(format!("{}{attribute}", c.column.data_type.logical))
            }),
        ),
        Column::Flag("null", columns.iter().map(|c| c.column.data_type.nullable).collect()),
        Column::Text("key", text(&|c| key.contains(&c.column.name).then(|| primary.clone()))),
        Column::Text("extras", text(&|c| extras(c))),
        Column::Text("watermark", text(&|c| watermark_of(c).map(|w| print::expr(&w.expr)))),
    ];
    if object.columns().iter().any(|c| c.comment.is_some()) {
        listed.push(Column::Text("comment", text(&|c| c.comment.clone())));
    }
    listing::rows(listed, context)
}

/// How a column comes to its values if they are not stored; as DESCRIBE and SHOW CREATE print it.
pub(super) fn extras(column: &DefinedColumn) -> Option<String> {
    match &column.column.kind {
        ColumnKind::Physical => None,
        ColumnKind::Computed(expr) => Some(format!("AS {}", print::expr(expr))),
        ColumnKind::Metadata { key, is_virtual } => {
            let mut text = "METADATA".to_owned();
            if *key != column.column.name {
                text.push_str(&format!(" FROM {}", print::string(key)));
            }
            if *is_virtual {
                text.push_str(" VIRTUAL");
            }
            Some(text)
        }
    }
}

fn is_proctime(column: &DefinedColumn) -> bool {
    let ColumnKind::Computed(expr) = &column.column.kind else { return false };
    matches!(expr.as_ref(), ast::Expr::Function(f) if f.name.to_string().eq_ignore_ascii_case("PROCTIME"))
}

/// A catalog that CREATE CATALOG made: Flink knows the definitions of no others.
///
/// # Errors
/// `unknown-catalog`; `not-stored` for `default_catalog`.
pub(super) fn stored<'a>(catalogs: &'a Catalogs, name: &str, place: Span) -> Result<&'a CatalogEntry> {
    let unknown =
        |e: Error| e.with_detail(format!("Cannot obtain metadata information from Catalog {name}.")).at(place);
    match catalogs.get(name) {
        Ok(entry) if entry.stored => Ok(entry),
        Ok(_) => Err(unknown(Error::new("invalid-catalog", format!("catalog '{name}' has no definition")))
            .with_hint("every session begins with it; no CREATE CATALOG made it")),
        Err(error) => Err(unknown(error)),
    }
}

/// The options of a catalog, without its secrets.
pub(super) fn shown_options(entry: &CatalogEntry) -> BTreeMap<String, String> {
    entry.options.iter().map(|(key, value)| (key.clone(), secrets::shown(key, value))).collect()
}

/// DESCRIBE CATALOG.
pub(crate) fn catalog(catalogs: &Catalogs, name: &Ident, extended: bool, context: &EvalContext) -> Result<Rows> {
    let entry = stored(catalogs, &name.value, name.span)?;
    let mut rows = vec![
        ("name".to_owned(), Some(name.value.clone())),
        ("type".to_owned(), entry.options.get("type").cloned()),
        ("comment".to_owned(), entry.comment.clone()),
    ];
    if extended {
        rows.extend(
            shown_options(entry)
                .into_iter()
                .filter(|(k, _)| *k != "type")
                .map(|(k, v)| (format!("option:{k}"), Some(v))),
        );
    }
    let (names, values) = rows.into_iter().map(|(name, value)| (Some(name), value)).unzip();
    listing::rows(vec![Column::Text("info name", names), Column::Text("info value", values)], context)
}
