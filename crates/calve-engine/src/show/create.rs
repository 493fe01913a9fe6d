//! SHOW CREATE, in the layout of Flink 2 (`ShowCreateUtil`).

use std::collections::BTreeMap;

use calve_planner::TablePath;
use calve_sql::{Distribution, DistributionKind, Name, ObjectKind, print};
use calve_types::{DataType, Error, LogicalType, Result};

use super::describe::{extras, shown_options, stored};
use crate::catalogs::object::{BaseKind, CatalogObject, DefinedColumn, TableDef, ViewDef};
use crate::definition::{self, Described, quoted};
use crate::listing;
use crate::result::Rows;
use crate::session::Session;

impl Session {
    /// SHOW CREATE TABLE, VIEW or CATALOG.
    pub(crate) async fn show_create(&self, kind: ObjectKind, name: &Name) -> Result<Rows> {
        let text = match kind {
            ObjectKind::Catalog => self.create_catalog_text(name)?,
            ObjectKind::Table => self.create_object_text(name, BaseKind::Table).await?,
            ObjectKind::View => self.create_object_text(name, BaseKind::View).await?,
            ObjectKind::Model => return Err(Error::unsupported("SHOW CREATE MODEL").at(name.span)),
        };
        listing::names("result", vec![text], &self.context()?)
    }

    fn create_catalog_text(&self, name: &Name) -> Result<String> {
        let [catalog] = name.parts.as_slice() else {
            return Err(Error::new("invalid-name", format!("'{}' is not the name of a catalog", name.parts.join(".")))
                .at(name.span));
        };
        let entry = stored(&self.catalogs, catalog, name.span)?;
        let mut text = format!("CREATE CATALOG {}\n", print::identifier(catalog));
        if let Some(comment) = &entry.comment {
            text.push_str(&format!("COMMENT {}\n", print::string(comment)));
        }
        options(&mut text, &shown_options(entry));
        Ok(text)
    }

    async fn create_object_text(&self, name: &Name, kind: BaseKind) -> Result<String> {
        let (path, resolved) = self.load_one(name).await?;
        let command = format!("SHOW CREATE {}", kind.word().to_uppercase());
        let found = definition::find(&self.catalogs, &resolved, &path)?.ok_or_else(|| {
            let code = if kind == BaseKind::View { "unknown-view" } else { "unknown-table" };
            let error = Error::new(code, format!("{} '{path}' does not exist", kind.word()))
                .with_detail(format!(
                    "Could not execute {command}. {} with identifier {} does not exist.",
                    kind.title(),
                    quoted(&path)
                ))
                .at(name.span);
            definition::did_you_mean(error, &resolved, &path)
        })?;
        if !found.object.is(kind) {
            let (code, is, other) = match kind {
                BaseKind::Table => ("not-a-table", "view", "VIEW"),
                BaseKind::View => ("not-a-view", "table", "TABLE"),
            };
            return Err(Error::new(code, format!("'{path}' is a {is}"))
                .with_detail(format!(
                    "{command} is only supported for {}s, but {} is a {is}. Please use SHOW CREATE {other} instead.",
                    kind.word(),
                    quoted(&path)
                ))
                .with_hint(format!("use SHOW CREATE {other}"))
                .at(name.span));
        }
        Ok(object_text(&path, &found))
    }
}

fn object_text(path: &TablePath, described: &Described) -> String {
    let temporary = if described.temporary { "TEMPORARY " } else { "" };
    match &described.object {
        CatalogObject::Table(table) => table_text(path, table, temporary),
        CatalogObject::View(view) => view_text(path, view, temporary),
    }
}

fn table_text(path: &TablePath, table: &TableDef, temporary: &str) -> String {
    let mut lines: Vec<String> = table.columns.iter().map(column).collect();
    if let Some(watermark) = &table.watermark {
        let column: Vec<String> = watermark.column.iter().map(|part| print::identifier(part)).collect();
        lines.push(format!("WATERMARK FOR {} AS {}", column.join("."), print::expr(&watermark.expr)));
    }
    if let Some(key) = &table.primary_key {
        lines.push(format!(
            "CONSTRAINT {} PRIMARY KEY ({}) NOT ENFORCED",
            print::identifier(&key.name),
            identifiers(&key.columns)
        ));
    }
    let lines: Vec<String> = lines.into_iter().map(|line| format!("  {line}")).collect();
    let mut text = format!("CREATE {temporary}TABLE {} (\n{}\n)\n", quoted(path), lines.join(",\n"));
    comment(&mut text, table.comment.as_deref());
    if let Some(distributed) = &table.distribution {
        text.push_str(&distribution(distributed));
    }
    if !table.partition_keys.is_empty() {
        text.push_str(&format!("PARTITIONED BY ({})\n", identifiers(&table.partition_keys)));
    }
    options(&mut text, &table.options);
    text
}

fn column(column: &DefinedColumn) -> String {
    let name = print::identifier(&column.column.name);
    let data_type = || sql_type(&column.column.data_type);
    let mut text = match (&column.column.kind, extras(column)) {
        (calve_planner::catalog::ColumnKind::Computed(_), Some(extras)) => format!("{name} {extras}"),
        (_, Some(extras)) => format!("{name} {} {extras}", data_type()),
        (_, None) => format!("{name} {}", data_type()),
    };
    if let Some(comment) = column.comment.as_deref().filter(|c| !c.is_empty()) {
        text.push_str(&format!(" COMMENT {}", print::string(comment)));
    }
    text
}

fn view_text(path: &TablePath, view: &ViewDef, temporary: &str) -> String {
    let columns: Vec<String> =
        view.columns.iter().map(|c| format!("  {}", print::identifier(&c.column.name))).collect();
    let mut text = format!("CREATE {temporary}VIEW {} (\n{}\n)\n", quoted(path), columns.join(",\n"));
    comment(&mut text, view.comment.as_deref());
    text.push_str(&format!("AS {}\n", view.text));
    text
}

fn comment(text: &mut String, comment: Option<&str>) {
    if let Some(comment) = comment.filter(|c| !c.is_empty()) {
        text.push_str(&format!("COMMENT {}\n", print::string(comment)));
    }
}

fn options(text: &mut String, options: &BTreeMap<String, String>) {
    if options.is_empty() {
        return;
    }
    let options: Vec<String> =
        options.iter().map(|(key, value)| format!("  {} = {}", print::string(key), print::string(value))).collect();
    text.push_str(&format!("WITH (\n{}\n)\n", options.join(",\n")));
}

fn distribution(distribution: &Distribution) -> String {
    let mut text = "DISTRIBUTED".to_owned();
    if !distribution.columns.is_empty() {
        text.push_str(match distribution.kind {
            Some(DistributionKind::Hash) => " BY HASH",
            Some(DistributionKind::Range) => " BY RANGE",
            None => " BY ",
        });
        let columns: Vec<String> = distribution.columns.iter().map(|c| c.value.clone()).collect();
        text.push_str(&format!("({})", identifiers(&columns)));
    }
    if let Some(buckets) = distribution.buckets {
        text.push_str(&format!(" INTO {buckets} BUCKETS"));
    }
    text.push('\n');
    text
}

fn identifiers(names: &[String]) -> String {
    names.iter().map(|name| print::identifier(name)).collect::<Vec<_>>().join(", ")
}

/// A type as Flink's `asSerializableString` spells it: `STRING` is `VARCHAR(2147483647)`.
fn sql_type(data_type: &DataType) -> String {
    let text = match &data_type.logical {
        LogicalType::Varchar(LogicalType::MAX_LENGTH) => format!("VARCHAR({})", LogicalType::MAX_LENGTH),
        LogicalType::Varbinary(LogicalType::MAX_LENGTH) => format!("VARBINARY({})", LogicalType::MAX_LENGTH),
        LogicalType::TimestampLtz(precision) => format!("TIMESTAMP({precision}) WITH LOCAL TIME ZONE"),
        LogicalType::Array(element) => format!("ARRAY<{}>", sql_type(element)),
        LogicalType::Multiset(element) => format!("MULTISET<{}>", sql_type(element)),
        LogicalType::Map(key, value) => format!("MAP<{}, {}>", sql_type(key), sql_type(value)),
        LogicalType::Row(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|field| {
                    let comment = field.comment.as_ref().map(|c| format!(" {}", print::string(c))).unwrap_or_default();
                    format!("{} {}{comment}", print::identifier(&field.name), sql_type(&field.data_type))
                })
                .collect();
            format!("ROW<{}>", fields.join(", "))
        }
        other => other.to_string(),
    };
    if data_type.nullable { text } else { format!("{text} NOT NULL") }
}
