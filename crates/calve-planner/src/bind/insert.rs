//! INSERT: which column of the table gets what, and whether its type fits.

use calve_sql::{Ident, Insert, Name, ast};
use calve_types::{DataType, Error, LogicalType, Result, RowField, Span, Value, rules};

use super::scope::{Namespace, Scope};
use super::{Binder, coerce, expr, literal, names};
use crate::catalog::{Column, ColumnKind, TableEntry};
use crate::explain::printed;
use crate::expr::{Expr, ExprKind};
use crate::rel::{Field, Rel, RelKind};

impl Binder<'_> {
    /// The rows of an INSERT with the table's columns and types, in the table's order.
    ///
    /// # Errors
    /// `unknown-column`, `duplicate-column`, `missing-column`, `sink-mismatch`.
    pub(super) fn sink_input(&self, query: Rel, table: &TableEntry, insert: &Insert) -> Result<Rel> {
        let columns = sink_columns(table).map_err(|e| e.at(insert.table.span))?;
        let values = self.sink_values(&query, table, &columns, insert)?;
        check(&values, table, &columns).map_err(|e| e.at(insert.query.span))?;
        let unchanged = values.len() == query.fields.len()
            && values.iter().zip(&columns).enumerate().all(|(i, (value, column))| {
                matches!(value.expr.kind, ExprKind::Column(index) if index == i)
                    && value.expr.data_type.logical == column.data_type.logical
            });
        let mut fields = Vec::new();
        let mut exprs = Vec::new();
        for (value, column) in values.into_iter().zip(columns) {
            let e = for_column(value.expr, &column.data_type);
            let data_type = column.data_type.with_nullable(e.data_type.nullable);
            fields.push(Field { name: column.name.clone(), data_type });
            exprs.push(e);
        }
        if unchanged {
            return Ok(Rel { fields, ..query });
        }
        Ok(Rel { kind: RelKind::Project { input: Box::new(query), exprs }, fields })
    }

    /// What each column gets, without casts. As many as the query has if nothing says more, so that the check can
    /// name both sides.
    fn sink_values(&self, query: &Rel, table: &TableEntry, columns: &[&Column], insert: &Insert) -> Result<Vec<Named>> {
        let from_query = |index: usize, at: usize| {
            let field = query.fields.get(index)?;
            let kind = ExprKind::Column(index);
            let expr = Expr { kind, data_type: field.data_type.clone(), span: Span::default() };
            let name = if field.name.starts_with("EXPR$") { format!("EXPR${at}") } else { field.name.clone() };
            Some(Named { name, expr })
        };
        let mut fixed: Vec<Option<Expr>> = vec![None; columns.len()];
        for (name, value) in &insert.partition {
            let (index, column) = target(table, columns, name)?;
            if !table.partition_keys.contains(&column.name) {
                return Err(Error::new(
                    "not-a-partition",
                    format!("column '{}' is no partition of table '{}'", name.value, table.path),
                )
                .with_detail(format!(
                    "Static partition column '{}' should be in the partition keys list [{}] for table '{}'.",
                    name.value,
                    table.partition_keys.join(", "),
                    table.path
                ))
                .at(name.span));
            }
            let slot = fixed.get_mut(index).ok_or_else(|| Error::internal("no such column"))?;
            if slot.replace(self.partition_value(value, column)?).is_some() {
                return Err(twice(&name.value, name.span));
            }
        }
        let Some(list) = &insert.columns else {
            if insert.partition.is_empty() {
                return Ok((0..query.fields.len()).filter_map(|i| from_query(i, i)).collect());
            }
            let mut rest = 0..query.fields.len();
            let mut values: Vec<Named> = Vec::new();
            for fixed in fixed {
                let at = values.len();
                match fixed {
                    Some(expr) => values.push(Named { name: format!("EXPR${at}"), expr }),
                    None => values.extend(rest.next().and_then(|i| from_query(i, at))),
                }
            }
            for i in rest {
                let at = values.len();
                values.extend(from_query(i, at));
            }
            return Ok(values);
        };
        let list = &list.iter().map(top_level).collect::<Result<Vec<Ident>>>()?;
        let mut source: Vec<Option<usize>> = vec![None; columns.len()];
        for (i, name) in list.iter().enumerate() {
            let (index, _) = target(table, columns, name)?;
            let slot = source.get_mut(index).ok_or_else(|| Error::internal("no such column"))?;
            if slot.replace(i).is_some() {
                return Err(twice(&name.value, name.span));
            }
        }
        let named_twice = list.iter().any(|name| insert.partition.iter().any(|(fixed, _)| fixed.value == name.value));
        if list.len() != query.fields.len() || named_twice {
            return Err(Error::new(
                "sink-mismatch",
                match list.len() {
                    1 => format!("1 column is listed, the query has {}", query.fields.len()),
                    listed => format!("{listed} columns are listed, the query has {}", query.fields.len()),
                },
            )
            .with_detail("Number of columns must match number of query columns")
            .at(insert.query.span));
        }
        let mut values = Vec::new();
        for (at, ((column, source), fixed)) in columns.iter().zip(source).zip(fixed).enumerate() {
            let unnamed = |expr| Named { name: format!("EXPR${at}"), expr };
            values.push(match (source.and_then(|i| from_query(i, at)), fixed) {
                (Some(value), _) => value,
                (None, Some(expr)) => unnamed(expr),
                (None, None) => unnamed(unset(column).map_err(|e| e.at(insert.table.span))?),
            });
        }
        Ok(values)
    }

    /// The values of PARTITION as text, as they stand there.
    ///
    /// # Errors
    /// `syntax-error` for anything but literals.
    pub(super) fn static_partition(&self, insert: &Insert) -> Result<Vec<(String, String)>> {
        let text = |(name, value): &(Ident, ast::Expr)| {
            let (value, data_type) = self.partition_literal(value).map(|(value, expr)| (value, expr.data_type))?;
            Ok((name.value.clone(), printed(&value, &data_type)))
        };
        insert.partition.iter().map(text).collect()
    }

    fn partition_literal(&self, value: &ast::Expr) -> Result<(Value, Expr)> {
        let namespace = Namespace::default();
        let scope = Scope::new(Default::default(), &namespace, "PARTITION clause");
        let expr = self.expr(value, &scope)?;
        match &expr.kind {
            ExprKind::Literal(Value::Null) => Err(Error::new("invalid-argument", "the value of a partition is NULL")
                .with_detail("not a literal: NULL")
                .at(expr.span)),
            ExprKind::Literal(value) => Ok((value.clone(), expr)),
            _ => Err(Error::new("syntax-error", "PARTITION takes literals").at(expr.span)),
        }
    }

    /// A literal of PARTITION with the column's type.
    fn partition_value(&self, value: &ast::Expr, column: &Column) -> Result<Expr> {
        let (_, value) = self.partition_literal(value)?;
        if !rules::supports_explicit_cast(&value.data_type, &column.data_type) {
            return Err(Error::new(
                "sink-mismatch",
                format!(
                    "partition column '{}' is {}, not {}",
                    column.name, column.data_type.logical, value.data_type.logical
                ),
            )
            .at(value.span));
        }
        Ok(expr::as_type(value, &column.data_type.logical))
    }
}

/// A value on its way into a column, with the name that Flink's messages give it.
struct Named {
    name: String,
    expr: Expr,
}

/// An error of the query of an INSERT; that of a bare NULL names the type of the column that it is for.
pub(super) fn of_query(error: Error, table: &TableEntry, insert: &Insert) -> Error {
    let Some(place) = error.span.filter(|_| expr::is_untyped_null(&error)) else { return error };
    let at = match insert.query.ast.body.as_ref() {
        ast::SetExpr::Values(values) => {
            values.rows.iter().find_map(|row| row.iter().position(|e| expr::span_of(e) == place))
        }
        ast::SetExpr::Select(select) => select.projection.iter().position(|item| match item {
            ast::SelectItem::UnnamedExpr(e) | ast::SelectItem::ExprWithAlias { expr: e, .. } => {
                expr::span_of(e) == place
            }
            _ => false,
        }),
        _ => None,
    };
    let is_fixed = |column: &Column| insert.partition.iter().any(|(fixed, _)| fixed.value == column.name);
    let column = at.and_then(|at| match &insert.columns {
        Some(list) => {
            let name = list.get(at)?;
            table.physical_columns().find(|column| name.parts.len() == 1 && name.parts.first() == Some(&column.name))
        }
        None => table.physical_columns().filter(|column| !is_fixed(column)).nth(at),
    });
    match column {
        Some(column) => {
            let hint =
                format!("give it the type of column '{}': CAST(NULL AS {})", column.name, column.data_type.logical);
            error.with_hint(hint)
        }
        None => error,
    }
}

/// The columns an INSERT writes: neither computed nor virtual ones.
///
/// # Errors
/// `not-supported` for metadata columns that are not virtual: no connector writes them.
fn sink_columns(table: &TableEntry) -> Result<Vec<&Column>> {
    let persisted = |c: &&Column| matches!(c.kind, ColumnKind::Metadata { is_virtual: false, .. });
    if let Some(column) = table.columns.iter().find(persisted) {
        return Err(Error::unsupported(format!("writing the metadata column '{}' of '{}'", column.name, table.path))
            .with_detail(format!(
                "Table '{}' declares persistable metadata columns, but the underlying DynamicTableSink doesn't implement the SupportsWritingMetadata interface. If the column should not be persisted, it can be declared with the VIRTUAL keyword.",
                table.path
            )));
    }
    Ok(table.physical_columns().collect())
}

fn target<'a>(table: &TableEntry, columns: &[&'a Column], name: &Ident) -> Result<(usize, &'a Column)> {
    columns.iter().copied().enumerate().find(|(_, c)| c.name == name.value).ok_or_else(|| {
        let computed = table.columns.iter().any(|c| c.name == name.value);
        let error =
            Error::new("unknown-column", format!("column '{}' not found in table '{}'", name.value, table.path))
                .with_detail(format!("Unknown target column '{}'", name.value));
        let error = match computed {
            true => error.with_hint("the column is computed when the table is read: it is not written"),
            false => names::did_you_mean(error, &name.value, columns.iter().map(|c| c.name.as_str())),
        };
        error.at(name.span)
    })
}

/// What a column gets that is given no value.
///
/// # Errors
/// `missing-column` for one that is NOT NULL.
pub(super) fn unset(column: &Column) -> Result<Expr> {
    if column.data_type.nullable {
        return Ok(literal::literal(Value::Null, column.data_type.clone(), Span::default()));
    }
    let name = &column.name;
    Err(Error::new("missing-column", format!("column '{name}' is NOT NULL and gets no value"))
        .with_detail(format!("Column '{name}' has no default value and does not allow NULLs")))
}

/// The refusal of a second value for a column.
pub(super) fn twice(column: &str, place: Span) -> Error {
    Error::new("duplicate-column", format!("column '{column}' gets two values"))
        .with_detail(format!("Target column '{column}' is assigned more than once"))
        .at(place)
}

/// Flink's check of the query's schema against the sink's.
fn check(values: &[Named], table: &TableEntry, columns: &[&Column]) -> Result<()> {
    if values.len() != columns.len() {
        return Err(mismatch(
            format!("table '{}' has {} columns, the query {}", table.path, columns.len(), values.len()),
            "Different number of columns.",
            values,
            table,
        ));
    }
    for (i, (value, column)) in values.iter().zip(columns).enumerate() {
        if !rules::supports_sink_cast(&value.expr.data_type, &loosened(&column.data_type)) {
            let hint = cast_hint(&value.expr.data_type, &column.data_type);
            let error = mismatch(
                format!(
                    "column '{}' of table '{}' is {}: it takes no {}",
                    column.name, table.path, column.data_type.logical, value.expr.data_type.logical
                ),
                &format!("Incompatible types for sink column '{}' at position {i}.", column.name),
                values,
                table,
            );
            return Err(if hint {
                error.with_hint(format!("write CAST(.. AS {})", column.data_type.logical))
            } else {
                error
            });
        }
    }
    Ok(())
}

/// The type without NOT NULL inside of it, of which Flink's check of a sink says nothing.
pub(super) fn loosened(data_type: &DataType) -> DataType {
    fn inner(data_type: &DataType) -> DataType {
        loosened(data_type).with_nullable(true)
    }
    let logical = match &data_type.logical {
        LogicalType::Array(element) => LogicalType::Array(Box::new(inner(element))),
        LogicalType::Multiset(element) => LogicalType::Multiset(Box::new(inner(element))),
        LogicalType::Map(key, value) => LogicalType::Map(Box::new(inner(key)), Box::new(inner(value))),
        LogicalType::Row(fields) => {
            LogicalType::Row(fields.iter().map(|f| RowField { data_type: inner(&f.data_type), ..f.clone() }).collect())
        }
        other => other.clone(),
    };
    logical.with_nullable(data_type.nullable)
}

/// A value on its way into a column of a type. NULL where that has NOT NULL inside is not refused here, but by the projection
/// to the column's field, which knows its name.
pub(super) fn for_column(value: Expr, column: &DataType) -> Expr {
    if value.data_type.logical == column.logical { value } else { coerce::to(value, &loosened(column)) }
}

fn cast_hint(from: &DataType, to: &DataType) -> bool {
    !matches!(from.logical, LogicalType::Null) && rules::supports_explicit_cast(from, to)
}

fn mismatch(message: String, cause: &str, values: &[Named], table: &TableEntry) -> Error {
    let query: Vec<String> = values.iter().map(|v| format!("{}: {}", v.name, v.expr.data_type)).collect();
    let sink: Vec<String> = table.physical_columns().map(|c| format!("{}: {}", c.name, c.data_type)).collect();
    Error::new("sink-mismatch", message).with_detail(format!(
        "Column types of query result and sink for '{}' do not match.\nCause: {cause}\n\nQuery schema: [{}]\nSink schema:  [{}]",
        table.path,
        query.join(", "),
        sink.join(", ")
    ))
}

/// A name of the column list that is no field inside a row.
fn top_level(name: &Name) -> Result<Ident> {
    match name.parts.as_slice() {
        [value] => Ok(Ident { value: value.clone(), span: name.span }),
        _ => Err(Error::unsupported("nested columns in the column list of INSERT").at(name.span)),
    }
}
