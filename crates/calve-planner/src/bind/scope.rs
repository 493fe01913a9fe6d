//! What names mean at one level of a query.

use std::cell::RefCell;
use std::ops::Range;

use calve_sql::ast::{self, Ident};
use calve_types::{DataType, Error, LogicalType, Result, Span, Value};

use super::group_window::GroupWindow;
use super::grouping::Groups;
use super::query::Ctes;
use super::{call, literal, names, span, walk};
use crate::catalog::TablePath;
use crate::expr::{AggregateCall, Expr, ExprKind};
use crate::rel::Field;

/// The columns a level reads and the tables they belong to.
#[derive(Debug, Clone, Default)]
pub(super) struct Namespace {
    /// Fields of the level's input.
    pub fields: Vec<Field>,
    /// Which of them belong to which table, in order.
    pub tables: Vec<Table>,
    /// Columns that USING and NATURAL merged, over the fields.
    pub merged: Vec<Merged>,
    /// The window of the GROUP BY. Its columns are among the fields but have no names.
    pub group_window: Option<Box<GroupWindow>>,
}

/// A table of a FROM clause.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// Its alias, or the last part of its name; a derived table may have none.
    pub name: Option<String>,
    /// Its full name; `None` under an alias.
    pub path: Option<TablePath>,
    /// Its fields.
    pub columns: Range<usize>,
    /// Whether it is a table of a catalog: only there Flink reads `r.f` as field `f` of column `r`.
    pub base: bool,
}

/// A column that stands for one of each side of a join.
#[derive(Debug, Clone)]
pub(super) struct Merged {
    /// Its name.
    pub name: String,
    /// Its value.
    pub expr: Expr,
    /// The fields it stands for.
    pub fields: Vec<usize>,
}

/// What surrounds a query.
#[derive(Clone, Copy, Default)]
pub(super) struct Env<'a> {
    /// The queries named by WITH.
    pub ctes: Option<&'a Ctes<'a>>,
    /// The level whose columns a subquery may use.
    pub parent: Option<&'a Scope<'a>>,
}

impl Env<'_> {
    /// How many levels are around a query here.
    pub fn level(&self) -> usize {
        std::iter::successors(self.parent, |scope| scope.env.parent).count()
    }
}

/// One level of a query, for one of its clauses.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// What is around the query.
    pub env: Env<'a>,
    /// What it reads.
    pub namespace: &'a Namespace,
    /// Whether the clause may call aggregate functions.
    pub aggregates: Aggregates<'a>,
    /// Whether the clause may call functions over windows.
    pub windows: Windows<'a>,
    /// Names of the select list, visible in ORDER BY and QUALIFY before those of the tables.
    pub selected: &'a [(String, Expr)],
}

/// What becomes of functions over windows in a clause.
#[derive(Clone, Copy)]
pub(super) enum Windows<'a> {
    /// They are allowed; these are the windows of the WINDOW clause.
    Allowed(&'a [ast::NamedWindowDefinition]),
    /// They are refused in this place.
    Refused(&'static str),
}

/// What becomes of aggregate functions in a clause.
#[derive(Clone, Copy)]
pub(super) enum Aggregates<'a> {
    /// They are collected; each becomes a column after those of the input.
    Collected {
        /// The calls so far.
        calls: &'a RefCell<Vec<AggregateCall>>,
        /// Whether there are keys, so that no group is empty.
        grouped: bool,
        /// The keys of GROUP BY. Where they form several sets, the number of a row's set is a column between those of the
        /// input and the calls.
        groups: Option<&'a Groups>,
    },
    /// They are refused in this place, such as `WHERE clause`.
    Refused(&'static str),
}

impl<'a> Scope<'a> {
    /// A clause that reads `namespace` and may not aggregate.
    pub fn new(env: Env<'a>, namespace: &'a Namespace, clause: &'static str) -> Self {
        Self {
            env,
            namespace,
            aggregates: Aggregates::Refused(clause),
            windows: Windows::Refused(clause),
            selected: &[],
        }
    }

    /// What a subquery in this clause sees.
    pub fn inner(&'a self) -> Env<'a> {
        Env { ctes: self.env.ctes, parent: Some(self) }
    }

    fn levels(&self) -> impl Iterator<Item = (usize, &Self)> {
        std::iter::successors(Some(self), |scope| scope.env.parent).enumerate()
    }

    /// The value of a name: a column, a column of a table, or a field of either.
    ///
    /// # Errors
    /// `unknown-column`, `unknown-table`, `ambiguous-column`, `ambiguous-table`.
    pub fn resolve(&self, name: &[&Ident]) -> Result<Expr> {
        let Some((first, rest)) = name.split_first() else {
            return Err(Error::internal("an empty name"));
        };
        if rest.is_empty() {
            return self.column(first);
        }
        for (depth, scope) in self.levels() {
            for length in (1..name.len()).rev() {
                let (Some(prefix), Some(column)) = (name.get(..length), name.get(length)) else { continue };
                if let Some(table) = scope.table(prefix)? {
                    let index =
                        scope.namespace.column_of(table, column)?.ok_or_else(|| scope.no_column_in(table, column))?;
                    let value = scope.namespace.field(index, span::idents(name.iter().copied().take(length + 1)));
                    let path = name.get(length..).unwrap_or_default();
                    return fields(outer(value, depth)?, name.get(length + 1..).unwrap_or_default())
                        .map_err(|e| no_field_in(e, path, table));
                }
            }
        }
        for (depth, scope) in self.levels() {
            for table in scope.namespace.tables.iter().filter(|t| t.base) {
                if let Some(index) = scope.namespace.column_of(table, first)? {
                    let value = scope.namespace.field(index, span::ident(first));
                    if matches!(value.data_type.logical, LogicalType::Row(_)) {
                        return fields(outer(value, depth)?, rest).map_err(|e| no_field_in(e, name, table));
                    }
                }
            }
        }
        Err(self.no_table(first))
    }

    /// The table of that name at this level.
    ///
    /// # Errors
    /// `ambiguous-table` if there are two.
    pub fn table(&self, name: &[&Ident]) -> Result<Option<&'a Table>> {
        let mut found = self.namespace.tables.iter().filter(|t| t.is_named(name));
        let first = found.next();
        if found.next().is_some() {
            let last = name.last().map(|i| i.value.as_str()).unwrap_or_default();
            return Err(Error::new("ambiguous-table", format!("table '{last}' is ambiguous: it stands twice in FROM"))
                .with_hint("give each an alias of its own")
                .at(span::idents(name.iter().copied())));
        }
        Ok(first)
    }

    /// The column of that name of a table of a catalog, if it is a ROW.
    ///
    /// # Errors
    /// `ambiguous-column` if a table has two.
    pub fn base_row(&self, name: &Ident) -> Result<Option<Expr>> {
        for table in self.namespace.tables.iter().filter(|t| t.base) {
            if let Some(index) = self.namespace.column_of(table, name)? {
                let value = self.namespace.field(index, span::ident(name));
                if matches!(value.data_type.logical, LogicalType::Row(_)) {
                    return Ok(Some(value));
                }
            }
        }
        Ok(None)
    }

    /// Which entry of the select list has that name; `None` if none or several have it.
    pub fn selected_position(&self, name: &Ident) -> Option<usize> {
        let mut found = self.selected.iter().enumerate().filter(|(_, (n, _))| *n == name.value);
        let (position, _) = found.next()?;
        found.next().is_none().then_some(position)
    }

    fn column(&self, name: &Ident) -> Result<Expr> {
        let place = span::ident(name);
        if let Some((_, expr)) = self.selected_position(name).and_then(|p| self.selected.get(p)) {
            return Ok(Expr { span: place, ..expr.clone() });
        }
        for (depth, scope) in self.levels() {
            let merged = scope.namespace.merged.iter().filter(|m| m.name == name.value);
            let mut found: Vec<Expr> = merged.clone().map(|m| Expr { span: place, ..m.expr.clone() }).collect();
            for table in &scope.namespace.tables {
                let column = scope.namespace.column_of(table, name)?;
                let alone = column.filter(|index| !merged.clone().any(|m| m.fields.contains(index)));
                found.extend(alone.map(|index| scope.namespace.field(index, place)));
            }
            match (found.pop(), found.is_empty()) {
                (None, _) => {}
                (Some(value), true) => return outer(value, depth),
                (Some(_), false) => return Err(ambiguous(&name.value, place)),
            }
        }
        // Words that are no columns if no column is called so.
        if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("unknown") {
            return Ok(literal::literal(Value::Null, LogicalType::Boolean.nullable(), place));
        }
        if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("pi") {
            return call::function("PI", vec![], place);
        }
        Err(self.no_column(name))
    }

    fn no_column(&self, name: &Ident) -> Error {
        let candidates: Vec<&str> =
            self.levels().flat_map(|(_, s)| s.namespace.fields.iter().map(|f| f.name.as_str())).collect();
        let mut detail = format!("Column '{}' not found in any table", name.value);
        if let Some(other) = candidates.iter().find(|c| c.eq_ignore_ascii_case(&name.value)) {
            detail.push_str(&format!("; did you mean '{other}'?"));
        }
        let error = Error::new("unknown-column", format!("column '{}' not found", name.value)).with_detail(detail);
        names::did_you_mean(error, &name.value, candidates).at(span::ident(name))
    }

    fn no_column_in(&self, table: &Table, name: &Ident) -> Error {
        let columns = self.namespace.fields.get(table.columns.clone()).unwrap_or_default();
        let of = table.name.as_deref().unwrap_or_default();
        let mut detail = format!("Column '{}' not found in table '{of}'", name.value);
        if let Some(other) = columns.iter().find(|f| f.name.eq_ignore_ascii_case(&name.value)) {
            detail.push_str(&format!("; did you mean '{}'?", other.name));
        }
        let error = Error::new("unknown-column", format!("column '{}' not found in table '{of}'", name.value))
            .with_detail(detail);
        names::did_you_mean(error, &name.value, columns.iter().map(|f| f.name.as_str())).at(span::ident(name))
    }

    /// The error for a table that FROM does not name.
    pub fn no_table(&self, name: &Ident) -> Error {
        let tables: Vec<&str> =
            self.levels().flat_map(|(_, s)| s.namespace.tables.iter().filter_map(|t| t.name.as_deref())).collect();
        let mut detail = format!("Table '{}' not found", name.value);
        if let Some(other) = tables.iter().find(|t| t.eq_ignore_ascii_case(&name.value)) {
            detail.push_str(&format!("; did you mean '{other}'?"));
        }
        let error = Error::new("unknown-table", format!("table '{}' is not in FROM", name.value)).with_detail(detail);
        let is_row = self
            .namespace
            .fields
            .iter()
            .any(|f| f.name == name.value && matches!(f.data_type.logical, LogicalType::Row(_)));
        let error = match self.namespace.tables.iter().find_map(|t| t.name.as_deref()) {
            Some(table) if is_row => error.with_hint(format!(
                "a field of the column is written with the table's alias: '{table}.{}.field'",
                name.value
            )),
            _ => names::did_you_mean(error, &name.value, tables),
        };
        error.at(span::ident(name))
    }
}

impl Table {
    fn is_named(&self, name: &[&Ident]) -> bool {
        match (name, &self.path) {
            ([table], _) => self.name.as_deref() == Some(table.value.as_str()),
            ([database, table], Some(path)) => database.value == path.database && table.value == path.table,
            ([catalog, database, table], Some(path)) => {
                catalog.value == path.catalog && database.value == path.database && table.value == path.table
            }
            _ => false,
        }
    }
}

impl Namespace {
    /// The columns of one table without joins.
    pub fn of(table: Table, fields: Vec<Field>) -> Self {
        Self { fields, tables: vec![table], ..Self::default() }
    }

    /// A field as an expression.
    pub fn field(&self, index: usize, place: Span) -> Expr {
        // An index always comes from these fields; the default keeps the function total.
        let data_type = self.fields.get(index).map_or(LogicalType::Null.nullable(), |f| f.data_type.clone());
        Expr { kind: ExprKind::Column(index), data_type, span: place }
    }

    /// The field of that name in a table.
    ///
    /// # Errors
    /// `ambiguous-column` if there are two.
    pub fn column_of(&self, table: &Table, name: &Ident) -> Result<Option<usize>> {
        let columns = self.fields.get(table.columns.clone()).unwrap_or_default();
        let mut found = columns.iter().enumerate().filter(|(_, f)| f.name == name.value);
        let first = found.next();
        if found.next().is_some() {
            return Err(ambiguous(&name.value, span::ident(name)));
        }
        Ok(first.map(|(i, _)| table.columns.start + i))
    }
}

/// The error for a column that two tables have.
pub(super) fn ambiguous(name: &str, place: Span) -> Error {
    Error::new("ambiguous-column", format!("column '{name}' is ambiguous"))
        .with_detail(format!("Column '{name}' is ambiguous"))
        .with_hint("write the table before it")
        .at(place)
}

/// The fields of a ROW value, one inside the other.
///
/// # Errors
/// `unknown-column` if there is no such field, or no ROW.
pub(super) fn fields(mut value: Expr, names: &[&Ident]) -> Result<Expr> {
    for name in names {
        let missing = |fields: &[&str], what: &str| {
            let error = Error::new("unknown-column", format!("field '{}' not found in {what}", name.value))
                .with_detail(format!("Column '{}' not found in any table", name.value));
            names::did_you_mean(error, &name.value, fields.iter().copied()).at(span::ident(name))
        };
        let LogicalType::Row(fields) = &value.data_type.logical else {
            return Err(missing(&[], &format!("a value of type {}", value.data_type.logical)));
        };
        let Some((index, field)) = fields.iter().enumerate().find(|(_, f)| f.name == name.value) else {
            let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
            return Err(missing(&names, &value.data_type.logical.to_string()));
        };
        let data_type = DataType {
            logical: field.data_type.logical.clone(),
            nullable: field.data_type.nullable || value.data_type.nullable,
        };
        let place = value.span.to(span::ident(name));
        value = Expr { kind: ExprKind::Field { expr: Box::new(value), index }, data_type, span: place };
    }
    Ok(value)
}

/// What Flink says of a path from a column to a field that does not exist.
fn no_field_in(mut error: Error, path: &[&Ident], table: &Table) -> Error {
    if error.code == "unknown-column" {
        let names: Vec<&str> = path.iter().map(|part| part.value.as_str()).collect();
        let of = table.name.as_deref().unwrap_or_default();
        error.detail = Some(format!("Column '{}' not found in table '{of}'", names.join(".")));
        error.span = Some(span::idents(path.iter().copied()));
    }
    error
}

/// The same value seen from `depth` levels further in.
fn outer(mut value: Expr, depth: usize) -> Result<Expr> {
    if depth > 0 {
        shift(&mut value, depth)?;
    }
    Ok(value)
}

fn shift(value: &mut Expr, by: usize) -> Result<()> {
    match &mut value.kind {
        ExprKind::Column(index) => {
            value.kind = ExprKind::Outer { depth: by, index: *index };
            Ok(())
        }
        _ => walk::children_mut(value, &mut |child| shift(child, by)),
    }
}
