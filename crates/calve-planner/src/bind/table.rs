//! Tables of catalogs: which one a name means, what reading it gives, and the expressions in a table's definition.

use std::sync::Arc;

use calve_sql::ast;
use calve_types::{DataType, Error, LogicalType, Result, Span, rules};

use super::rowtime::is_source_watermark;
use super::scope::{Env, Namespace, Scope, Table};
use super::{Binder, expr, names, walk, with_bare_binder};
use crate::catalog::{CatalogReader, Column, ColumnKind, TableEntry, TablePath};
use crate::expr::{Expr, ExprKind};
use crate::rel::{Field, Rel, RelKind};

/// The type of a computed column `c AS expr` over the physical columns of its table.
///
/// # Errors
/// What Flink refuses in the expression: names that are no physical columns, subqueries.
pub fn computed_type(expr: &ast::Expr, physical: &[Column], catalog: &dyn CatalogReader) -> Result<DataType> {
    let bound = with_bare_binder(catalog, |binder| binder.over_columns(expr, physical, "computed column"));
    Ok(bound.map_err(unknown_identifier)?.data_type)
}

/// Checks `WATERMARK FOR column AS expr` against all columns of its table and gives the watermark's type.
///
/// # Errors
/// `unknown-column`; `invalid-watermark` if the column or the expression is no TIMESTAMP(p) or TIMESTAMP_LTZ(p) with
/// p of at most 3, if the two are of different kinds, or if the column is PROCTIME(); those of the expression.
pub fn watermark(
    watermark: &calve_sql::Watermark,
    columns: &[Column],
    catalog: &dyn CatalogReader,
) -> Result<DataType> {
    let time = time_column(&watermark.column, columns)?;
    if is_proctime(time) {
        return Err(invalid_watermark("A watermark can not be defined for a processing-time attribute.")
            .at(watermark.column.span));
    }
    if !is_rowtime(&time.data_type) {
        return Err(not_a_time("time field", "the time field type", &time.data_type).at(watermark.column.span));
    }
    if is_source_watermark(&watermark.expr) {
        return Ok(time.data_type.clone());
    }
    let bound = with_bare_binder(catalog, |binder| binder.over_columns(&watermark.expr, columns, "watermark"))
        .map_err(unknown_identifier)?;
    if !is_rowtime(&bound.data_type) {
        return Err(not_a_time("expression", "the watermark expression type", &bound.data_type).at(bound.span));
    }
    if rules::root_name(&bound.data_type.logical) != rules::root_name(&time.data_type.logical) {
        return Err(invalid_watermark(format!(
            "The watermark declaration's output data type '{}' is different from the time field's data type '{}'.",
            bound.data_type, time.data_type
        ))
        .at(bound.span));
    }
    Ok(bound.data_type)
}

fn invalid_watermark(detail: impl Into<String>) -> Error {
    Error::new("invalid-watermark", "a watermark needs a column and an expression of the same kind of timestamp")
        .with_detail(detail)
        .with_hint("use TIMESTAMP(3) or TIMESTAMP_LTZ(3), or a smaller precision, on both sides")
}

fn not_a_time(what: &str, its_type: &str, data_type: &DataType) -> Error {
    invalid_watermark(format!(
        "Invalid data type of {what} for watermark definition. The field must be of type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but {its_type} is {data_type}"
    ))
}

/// Whether a column of that type can be a rowtime attribute.
fn is_rowtime(data_type: &DataType) -> bool {
    matches!(data_type.logical, LogicalType::Timestamp(p) | LogicalType::TimestampLtz(p) if p <= 3)
}

/// Whether a column is `c AS PROCTIME()`.
pub(super) fn is_proctime(column: &Column) -> bool {
    let ColumnKind::Computed(e) = &column.kind else { return false };
    matches!(e.as_ref(), ast::Expr::Function(f) if f.name.to_string().eq_ignore_ascii_case("PROCTIME"))
}

fn time_column<'a>(name: &calve_sql::Name, columns: &'a [Column]) -> Result<&'a Column> {
    let full = name.parts.join(".");
    let known = || columns.iter().map(|c| c.name.as_str());
    let place = format!("at line {}, column {}", name.span.start.line, name.span.start.column);
    let undefined = |reason: String| {
        Error::new("unknown-column", format!("column '{full}' of the watermark not found"))
            .with_detail(format!(
                "The rowtime attribute field '{full}' is not defined in the table schema, {place}\n{reason}"
            ))
            .at(name.span)
    };
    let first = name.parts.first().map(String::as_str).unwrap_or_default();
    let Some(column) = columns.iter().find(|c| c.name == first) else {
        let quoted: Vec<String> = known().map(|c| format!("'{c}'")).collect();
        let error = undefined(format!("Available fields: [{}]", quoted.join(", ")));
        return Err(names::did_you_mean(error, first, known()));
    };
    let mut data_type = &column.data_type;
    for part in name.parts.iter().skip(1) {
        let field = match &data_type.logical {
            LogicalType::Row(fields) => fields.iter().find(|f| f.name == *part),
            _ => None,
        };
        data_type = &field
            .ok_or_else(|| undefined(format!("Nested field '{part}' was not found in a composite type: {data_type}.")))?
            .data_type;
    }
    if name.parts.len() > 1 {
        let available: Vec<&str> = known().collect();
        return Err(Error::new("invalid-watermark", "a watermark belongs to a column, not to a field inside of one")
            .with_detail(format!(
                "Invalid column name '{full}' for rowtime attribute in watermark declaration. Available columns are: [{}]",
                available.join(", ")
            ))
            .with_hint(format!("add a computed column, such as t AS {full}, and use that"))
            .at(name.span));
    }
    Ok(column)
}

/// In a table's definition names are columns of that table; Flink's sentence says so.
fn unknown_identifier(error: Error) -> Error {
    let name = |prefix: &str| {
        let (name, _) = error.detail.as_deref()?.strip_prefix(prefix)?.split_once('\'')?;
        Some(format!("Unknown identifier '{name}'"))
    };
    match error.code {
        "unknown-column" | "unknown-table" => match name("Column '").or_else(|| name("Table '")) {
            Some(detail) => error.with_detail(detail),
            None => error,
        },
        _ => error,
    }
}

impl Binder<'_> {
    /// The table of a name of one to three parts.
    ///
    /// # Errors
    /// `unknown-table`, `unknown-catalog`, and what the catalog answers.
    pub(super) fn table(&self, name: &[&str], hints: &[(String, String)], place: Span) -> Result<Arc<TableEntry>> {
        let (catalog, database) = self.catalog.current();
        let (catalog, database, table) = match *name {
            [table] => (catalog, database, table),
            [database, table] => (catalog, database, table),
            [catalog, database, table] => (catalog, database, table),
            _ => {
                return Err(Error::new(
                    "unknown-table",
                    "a table's name has at most three parts: catalog.database.table",
                )
                .at(place));
            }
        };
        let path = TablePath { catalog: catalog.to_owned(), database: database.to_owned(), table: table.to_owned() };
        let found = self.catalog.table(&path, hints).map_err(|e| e.at(place))?;
        found.ok_or_else(|| {
            let known = self.catalog.catalogs();
            if name.len() == 3 && !known.contains(&path.catalog) {
                let error = Error::new("unknown-catalog", format!("catalog '{catalog}' does not exist"))
                    .with_detail(format!("Object '{catalog}' not found"));
                return names::did_you_mean(error, catalog, known.iter().map(String::as_str)).at(place);
            }
            let detail = match name {
                [_] => format!("Object '{table}' not found"),
                _ => format!("Object '{table}' not found within '{catalog}.{database}'"),
            };
            let error =
                Error::new("unknown-table", format!("table '{}' not found", name.join("."))).with_detail(detail);
            let databases = self.catalog.similar_databases(&path.catalog);
            if name.len() > 1 && !databases.is_empty() && !databases.contains(&path.database) {
                return error.without_database(database, databases.iter().map(String::as_str)).at(place);
            }
            let similar = self.catalog.similar_tables(&path);
            names::did_you_mean(error, table, similar.iter().map(String::as_str)).at(place)
        })
    }

    /// All rows of a table with all of its columns, the computed ones included; views are replaced by their queries.
    ///
    /// # Errors
    /// `type-mismatch` for metadata columns of a wrong type; `invalid-hint` for options of a view; those of a view's query.
    pub(super) fn rows_of(&self, entry: &Arc<TableEntry>, hints: &[(String, String)], place: Span) -> Result<Rel> {
        if let Some(view) = &entry.view {
            if !hints.is_empty() {
                let path = &entry.path;
                return Err(Error::new("invalid-hint", format!("'{path}' is a view: hints belong to tables"))
                    .with_detail(format!(
                        "View '`{}`.`{}`.`{}`' cannot be enriched with new options. Hints can only be applied to tables.",
                        path.catalog, path.database, path.table
                    ))
                    .at(place));
            }
            return self.view(entry, view, place);
        }
        let (columns, values) = self.given(entry, place)?;
        let fields = columns.iter().zip(&values);
        let fields = fields.map(|(c, v)| Field { name: c.name.clone(), data_type: given_type(v).clone() }).collect();
        let kind = RelKind::Scan { table: Arc::clone(entry), span: place };
        let scan = Rel { kind, fields };
        if entry.physical_columns().count() == entry.columns.len() {
            return self.with_watermark(scan, entry, place);
        }
        let mut exprs = Vec::with_capacity(entry.columns.len());
        for column in &entry.columns {
            let mut value = match &column.kind {
                ColumnKind::Computed(e) => {
                    let bound = self.over_columns(e, &columns, "computed column");
                    let mut bound = bound.map_err(|e| in_definition(e, &column.name, entry, place))?;
                    replace_columns(&mut bound, &values)?;
                    bound
                }
                _ => {
                    let found = columns.iter().position(|c| c.name == column.name).and_then(|i| values.get(i));
                    found.cloned().ok_or_else(|| Error::internal(format!("column '{}' has no values", column.name)))?
                }
            };
            walk::place(&mut value, place)?;
            exprs.push(value);
        }
        let fields = entry.columns.iter().zip(&exprs);
        let fields =
            fields.map(|(c, e)| Field { name: c.name.clone(), data_type: e.data_type.clone() }).collect::<Vec<_>>();
        let rows = Rel { kind: RelKind::Project { input: Box::new(scan), exprs }, fields };
        self.with_watermark(rows, entry, place)
    }

    /// The columns that a table's source gives, and their values over the scan. A source has its own types of metadata,
    /// which the table may declare as others.
    fn given(&self, entry: &TableEntry, place: Span) -> Result<(Vec<Column>, Vec<Expr>)> {
        let columns: Vec<Column> = entry.physical_columns().chain(entry.metadata_columns()).cloned().collect();
        let offered = self.catalog.metadata(entry);
        let mut values = Vec::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            let source = match &column.kind {
                ColumnKind::Metadata { key, .. } => offered.iter().find(|(k, _)| k == key).map(|(_, t)| t),
                _ => None,
            };
            let source = source.unwrap_or(&column.data_type);
            if !rules::supports_explicit_cast(source, &column.data_type) {
                return Err(wrong_metadata(column, source, entry).at(place));
            }
            let kind = ExprKind::Column(index);
            let mut value = Expr { kind, data_type: source.clone(), span: place };
            if *source != column.data_type {
                let kind = ExprKind::Cast { expr: Box::new(value), safe: false };
                value = Expr { kind, data_type: column.data_type.clone(), span: place };
            }
            values.push(value);
        }
        Ok((columns, values))
    }

    /// An expression of a table's definition.
    pub(super) fn over_columns(&self, e: &ast::Expr, columns: &[Column], clause: &'static str) -> Result<Expr> {
        let table = Table { name: None, path: None, columns: 0..columns.len(), base: true };
        let namespace = Namespace::of(table, fields_of(columns));
        let bound = self.expr(e, &Scope::new(Env::default(), &namespace, clause))?;
        if walk::has_subquery(&bound) {
            return Err(Error::new("syntax-error", format!("a {clause} takes no query"))
                .with_detail("Query expression encountered in illegal context")
                .at(expr::span_of(e)));
        }
        Ok(bound)
    }
}

/// The type that the source gives, of a column's value.
fn given_type(value: &Expr) -> &DataType {
    match &value.kind {
        ExprKind::Cast { expr, .. } => &expr.data_type,
        _ => &value.data_type,
    }
}

/// Puts values in the place of the columns that an expression refers to.
fn replace_columns(expr: &mut Expr, values: &[Expr]) -> Result<()> {
    if let ExprKind::Column(index) = expr.kind {
        let value = values.get(index).ok_or_else(|| Error::internal("no such column"))?;
        *expr = value.clone();
        return Ok(());
    }
    super::nested(|| walk::children_mut(expr, &mut |child| replace_columns(child, values)))
}

fn wrong_metadata(column: &Column, source: &DataType, table: &TableEntry) -> Error {
    let (name, declared) = (&column.name, &column.data_type.logical);
    let key = match &column.kind {
        ColumnKind::Metadata { key, .. } if key != name => format!(" with metadata key '{key}'"),
        _ => String::new(),
    };
    let source = &source.logical;
    Error::new("type-mismatch", format!("metadata column '{name}' of '{}' is {source}, not {declared}", table.path))
        .with_detail(format!(
            "Invalid data type for metadata column '{name}'{key} of table '{}'. The column cannot be declared as '{}' because the type must be castable from metadata type '{source}'.",
            table.path, column.data_type
        ))
}

/// The error of a computed column, which is not in the statement, at the place of the table that has it.
pub(super) fn in_definition(mut error: Error, column: &str, table: &TableEntry, place: Span) -> Error {
    error.span = None;
    error.message = format!("computed column '{column}' of '{}': {}", table.path, error.message);
    error.at(place)
}

/// Columns as fields.
fn fields_of(columns: &[Column]) -> Vec<Field> {
    columns.iter().map(|c| Field { name: c.name.clone(), data_type: c.data_type.clone() }).collect()
}
