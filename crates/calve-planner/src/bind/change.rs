//! DELETE, UPDATE and MERGE: which rows change, and into what.

use std::cell::Cell;
use std::ops::Range;

use calve_sql::{Assignment, Delete, Hints, Ident, Merge, MergeAction, MergeRows, Name, Places, Update, ast};
use calve_types::{DataType, Error, LogicalType, Result, Span, Value, rules};

use super::from::{Condition, named_once};
use super::scope::{Env, Namespace, Scope, Table};
use super::select::filter;
use super::{Binder, call, coerce, insert, literal, names, on_deep_stack};
use crate::catalog::{CatalogReader, Column, TableEntry};
use crate::change::{Change, ChangeKind, ChangeOp, ChangedTable};
use crate::expr::{Expr, ExprKind};
use crate::rel::{Field, JoinKind, Rel, RelKind};

/// Binds a DELETE.
///
/// # Errors
/// As [`super::query`].
pub fn delete(delete: &Delete, table: &ChangedTable, catalog: &dyn CatalogReader) -> Result<Change> {
    with_statement(catalog, &delete.hints, &delete.places, |binder| {
        let (rows, names) = target(table, &delete.table, delete.alias.as_ref());
        let rows = binder.changed_rows(rows, &names, delete.condition.as_ref())?;
        let hidden = Hidden::of(table);
        let mut rows = Projection::of(rows);
        rows.push("op", op(ChangeOp::Delete));
        rows.hidden(&hidden, &names);
        Ok(Change {
            kind: ChangeKind::Delete,
            table: table.entry.clone(),
            rows: rows.finish(),
            has_values: false,
            lineage: false,
            not_null: vec![],
            span: delete.table.span,
        })
    })
}

/// Binds an UPDATE.
///
/// # Errors
/// As [`super::query`]; `duplicate-column`, `unknown-column`, `sink-mismatch` for assignments.
pub fn update(update: &Update, table: &ChangedTable, catalog: &dyn CatalogReader) -> Result<Change> {
    with_statement(catalog, &update.hints, &update.places, |binder| {
        let (rows, names) = target(table, &update.table, update.alias.as_ref());
        let scope = Scope::new(Env::default(), &names, "SET clause");
        let mut values = binder.assigned(&update.assignments, table, update.alias.as_ref(), &scope)?;
        let rows = binder.changed_rows(rows, &names, update.condition.as_ref())?;
        let hidden = Hidden::of(table);
        let mut rows = Projection::of(rows);
        rows.push("op", op(ChangeOp::Update));
        rows.hidden(&hidden, &names);
        for (index, column) in table.entry.physical_columns().enumerate() {
            let value = match values.get_mut(index).and_then(Option::take) {
                Some(value) => value,
                None => names.field(index, Span::default()),
            };
            rows.push_value(column, value);
        }
        rows.lineage(&hidden, &names);
        Ok(Change {
            kind: ChangeKind::Update,
            table: table.entry.clone(),
            rows: rows.finish(),
            has_values: true,
            lineage: table.lineage,
            not_null: not_null(&table.entry),
            span: update.table.span,
        })
    })
}

/// Binds a MERGE.
///
/// # Errors
/// As [`update`]; `missing-column` for a NOT NULL column that an INSERT gives no value; `syntax-error` for a clause that
/// comes behind one that leaves it nothing.
pub fn merge(merge: &Merge, table: &ChangedTable, catalog: &dyn CatalogReader) -> Result<Change> {
    with_statement(catalog, &merge.hints, &merge.places, |binder| binder.merge(merge, table))
}

/// Binds a statement that is no query.
fn with_statement<T>(
    catalog: &dyn CatalogReader,
    hints: &Hints,
    places: &Places,
    bind: impl FnOnce(&Binder<'_>) -> T,
) -> T {
    let views = Cell::new(0);
    on_deep_stack(|| bind(&Binder { catalog, hints, places, within: None, views: &views }))
}

/// Where the hidden columns stand among the fields of the table's rows.
struct Hidden {
    file: usize,
    position: usize,
    id: Option<usize>,
}

impl Hidden {
    fn of(table: &ChangedTable) -> Self {
        let file = table.entry.physical_columns().count();
        Self { file, position: file + 1, id: table.lineage.then_some(file + 2) }
    }
}

/// The rows of the table that changes. The hidden columns are fields that no table has: no name means them.
fn target(table: &ChangedTable, name: &Name, alias: Option<&Ident>) -> (Rel, Namespace) {
    let of_table = table.entry.physical_columns();
    let mut fields: Vec<Field> =
        of_table.map(|c| Field { name: c.name.clone(), data_type: c.data_type.clone() }).collect();
    let columns = 0..fields.len();
    let hidden = |name: &str, data_type: DataType| Field { name: name.to_owned(), data_type };
    fields.push(hidden("_file", LogicalType::Varchar(LogicalType::MAX_LENGTH).not_null()));
    fields.push(hidden("_pos", LogicalType::BigInt.not_null()));
    fields.extend(table.lineage.then(|| hidden("_row_id", LogicalType::BigInt.nullable())));
    let named = match alias {
        Some(alias) => Table { name: Some(alias.value.clone()), path: None, columns, base: true },
        None => Table { name: name.parts.last().cloned(), path: Some(table.entry.path.clone()), columns, base: true },
    };
    let scan = RelKind::Scan { table: table.rows.clone(), span: name.span };
    (Rel { kind: scan, fields: fields.clone() }, Namespace::of(named, fields))
}

fn not_null(table: &TableEntry) -> Vec<usize> {
    table.physical_columns().enumerate().filter(|(_, c)| !c.data_type.nullable).map(|(i, _)| i).collect()
}

fn op(op: ChangeOp) -> Expr {
    literal::literal(Value::Int(op as i64), LogicalType::TinyInt.not_null(), Span::default())
}

/// A projection that is being put together.
struct Projection {
    input: Rel,
    exprs: Vec<Expr>,
    fields: Vec<Field>,
}

impl Projection {
    fn of(input: Rel) -> Self {
        Self { input, exprs: vec![], fields: vec![] }
    }

    fn push(&mut self, name: &str, expr: Expr) {
        self.fields.push(Field { name: name.to_owned(), data_type: expr.data_type.clone() });
        self.exprs.push(expr);
    }

    /// A value of [`insert::for_column`].
    fn push_value(&mut self, column: &Column, expr: Expr) {
        let data_type = column.data_type.with_nullable(expr.data_type.nullable);
        self.fields.push(Field { name: column.name.clone(), data_type });
        self.exprs.push(expr);
    }

    fn hidden(&mut self, hidden: &Hidden, names: &Namespace) {
        self.push("_file", names.field(hidden.file, Span::default()));
        self.push("_pos", names.field(hidden.position, Span::default()));
    }

    fn lineage(&mut self, hidden: &Hidden, names: &Namespace) {
        if let Some(id) = hidden.id {
            self.push("_row_id", names.field(id, Span::default()));
        }
    }

    fn finish(self) -> Rel {
        let kind = RelKind::Project { input: Box::new(self.input), exprs: self.exprs };
        Rel { kind, fields: self.fields }
    }
}

impl Binder<'_> {
    fn changed_rows(&self, rows: Rel, names: &Namespace, condition: Option<&ast::Expr>) -> Result<Rel> {
        let Some(condition) = condition else { return Ok(rows) };
        let scope = Scope::new(Env::default(), names, "WHERE clause");
        let predicate = self.condition(condition, &scope, "WHERE clause")?;
        Ok(filter(rows, predicate))
    }

    /// The new value of every column that is assigned one, in the table's order.
    fn assigned(
        &self,
        assignments: &[Assignment],
        table: &ChangedTable,
        alias: Option<&Ident>,
        scope: &Scope<'_>,
    ) -> Result<Vec<Option<Expr>>> {
        let mut values: Vec<Option<Expr>> = vec![None; table.entry.physical_columns().count()];
        for assignment in assignments {
            let (index, column) = assigned_column(&table.entry, alias, &assignment.column)?;
            let value = self.column_value(&assignment.value, column, &table.entry, scope)?;
            let slot = values.get_mut(index).ok_or_else(|| Error::internal("no such column"))?;
            if slot.replace(value).is_some() {
                return Err(Error::new("duplicate-column", format!("column '{}' is set twice", column.name))
                    .with_detail(format!("Target column '{}' is assigned more than once", column.name))
                    .at(assignment.column.span));
            }
        }
        Ok(values)
    }

    /// A value on its way into a column, with the implicit cast of an INSERT.
    fn column_value(&self, e: &ast::Expr, column: &Column, table: &TableEntry, scope: &Scope<'_>) -> Result<Expr> {
        stored(self.expr(e, scope)?, column, table)
    }

    fn merge(&self, merge: &Merge, table: &ChangedTable) -> Result<Change> {
        let ast::SetExpr::Select(source) = merge.source.body.as_ref() else {
            return Err(Error::internal("a source of MERGE that is no SELECT"));
        };
        let target = target(table, &merge.table, merge.alias.as_ref());
        let width = target.0.fields.len();
        let (rows, mut names) = self.from(&source.from, Env::default())?;
        if let Some(item) = source.from.first() {
            named_once(&target.1, &names, &item.relation)?;
        }
        let marker = width + rows.fields.len();
        let rows = marked(rows, &mut names);
        let has = |rows: MergeRows| merge.clauses.iter().any(|clause| clause.rows == rows);
        let kind = match (has(MergeRows::NotMatchedBySource), has(MergeRows::NotMatched)) {
            (false, false) => JoinKind::Inner,
            (true, false) => JoinKind::Left,
            (false, true) => JoinKind::Right,
            (true, true) => JoinKind::Full,
        };
        let on = Condition::On(&merge.on);
        let (joined, names) = self.join(target, (rows, names), (kind, false), on, Env::default())?;
        let hidden = Hidden::of(table);
        let present = |index: usize, negated: bool| {
            let name = if negated { "IS NULL" } else { "IS NOT NULL" };
            call::function(name, vec![names.field(index, Span::default())], Span::default())
        };
        let of_target = side(&names, 0..width);
        let of_source = side(&names, width..marker);
        let mut numbers = vec![];
        let mut clauses = vec![];
        for (number, clause) in merge.clauses.iter().enumerate() {
            let before = merge.clauses.iter().take(number);
            if before.into_iter().any(|other| other.rows == clause.rows && other.condition.is_none()) {
                return Err(Error::new(
                    "syntax-error",
                    "an earlier clause without a condition leaves this one no rows",
                )
                .with_hint("only the last clause of its kind may be without AND")
                .at(clause.span));
            }
            let (seen, target_there, source_there) = match clause.rows {
                MergeRows::Matched => (&names, true, true),
                MergeRows::NotMatched => (&of_source, false, true),
                MergeRows::NotMatchedBySource => (&of_target, true, false),
            };
            let scope = Scope::new(Env::default(), seen, "MERGE clause");
            let rows = vec![present(hidden.file, !target_there)?, present(marker, !source_there)?];
            let mut condition = call::function("AND", rows, Span::default())?;
            if let Some(written) = &clause.condition {
                let written = self.condition(written, &scope, "WHEN clause")?;
                condition = call::function("AND", vec![condition, written], Span::default())?;
            }
            let value = Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
            numbers.push((condition, literal::literal(value, LogicalType::Int.not_null(), Span::default())));
            clauses.push(self.merge_action(merge, &clause.action, clause.span, table, &of_source, &scope)?);
        }
        // which clause a row is for is found once: conditions may be costly, or give another answer each time
        let mut numbered = Projection::of(joined);
        for (index, field) in names.fields.iter().enumerate() {
            numbered.push(&field.name, names.field(index, Span::default()));
        }
        let number = ExprKind::Case { branches: numbers, otherwise: None };
        numbered.push("clause", Expr { kind: number, data_type: LogicalType::Int.nullable(), span: Span::default() });
        let numbered = numbered.finish();
        let index = numbered.fields.len().saturating_sub(1);
        let kind = ExprKind::Column(index);
        let number = Expr { kind, data_type: LogicalType::Int.nullable(), span: Span::default() };
        let taken = call::function("IS NOT NULL", vec![number.clone()], Span::default())?;
        let rows = filter(numbered, taken);
        let has_values = clauses.iter().any(|action| action.values.is_some());
        let lineage = table.lineage && has_values;
        let rows = chosen(rows, &names, &number, clauses, table, (has_values, lineage))?;
        Ok(Change {
            kind: ChangeKind::Merge,
            table: table.entry.clone(),
            rows,
            has_values,
            lineage,
            not_null: if has_values { not_null(&table.entry) } else { vec![] },
            span: merge.table.span,
        })
    }

    fn merge_action(
        &self,
        merge: &Merge,
        action: &MergeAction,
        place: Span,
        table: &ChangedTable,
        source: &Namespace,
        scope: &Scope<'_>,
    ) -> Result<Action> {
        let columns: Vec<&Column> = table.entry.physical_columns().collect();
        let from_source =
            || columns.iter().map(|c| same_named(c, &table.entry, source, place)).collect::<Result<Vec<_>>>();
        Ok(match action {
            MergeAction::Delete => Action { op: ChangeOp::Delete, values: None },
            MergeAction::UpdateAll => Action { op: ChangeOp::Update, values: Some(from_source()?) },
            MergeAction::InsertAll => Action { op: ChangeOp::Insert, values: Some(from_source()?) },
            MergeAction::Update(assignments) => {
                let values = self.assigned(assignments, table, merge.alias.as_ref(), scope)?;
                let kept = |index: usize| scope.namespace.field(index, Span::default());
                let values = values.into_iter().enumerate().map(|(i, value)| value.unwrap_or_else(|| kept(i)));
                Action { op: ChangeOp::Update, values: Some(values.collect()) }
            }
            MergeAction::Insert { columns: listed, values } => {
                let listed = match listed {
                    Some(names) => names
                        .iter()
                        .map(|name| Ok((assigned_column(&table.entry, merge.alias.as_ref(), name)?, name.span)))
                        .collect::<Result<Vec<_>>>()?,
                    None => columns.iter().enumerate().map(|(i, c)| ((i, *c), place)).collect(),
                };
                if listed.len() != values.len() {
                    return Err(Error::new(
                        "sink-mismatch",
                        format!("the INSERT has {} columns and {} values", listed.len(), values.len()),
                    )
                    .with_detail("Number of columns must match number of query columns")
                    .at(place));
                }
                let mut row: Vec<Option<Expr>> = vec![None; columns.len()];
                for (((index, column), span), value) in listed.into_iter().zip(values) {
                    let value = self.column_value(value, column, &table.entry, scope)?;
                    let slot = row.get_mut(index).ok_or_else(|| Error::internal("no such column"))?;
                    if slot.replace(value).is_some() {
                        return Err(insert::twice(&column.name, span));
                    }
                }
                let values = columns.iter().zip(row).map(|(column, value)| match value {
                    Some(value) => Ok(value),
                    None => insert::unset(column).map_err(|e| e.at(place)),
                });
                Action { op: ChangeOp::Insert, values: Some(values.collect::<Result<_>>()?) }
            }
        })
    }
}

/// What a clause of MERGE does: the values of all columns, unless rows go.
struct Action {
    op: ChangeOp,
    values: Option<Vec<Expr>>,
}

/// The source's rows with a column that is NULL where an outer join has none of them. It is a field that no table has.
fn marked(rows: Rel, names: &mut Namespace) -> Rel {
    let mut all = Projection::of(rows);
    let fields = all.input.fields.clone();
    for (index, field) in fields.into_iter().enumerate() {
        let value = Expr { kind: ExprKind::Column(index), data_type: field.data_type, span: Span::default() };
        all.push(&field.name, value);
    }
    let there = literal::literal(Value::Boolean(true), LogicalType::Boolean.not_null(), Span::default());
    names.fields.push(Field { name: "_source".to_owned(), data_type: there.data_type.clone() });
    all.push("_source", there);
    all.finish()
}

/// The names of one side of a join.
fn side(names: &Namespace, fields: Range<usize>) -> Namespace {
    let is_in = |table: &&Table| fields.contains(&table.columns.start) || table.columns.is_empty();
    Namespace { tables: names.tables.iter().filter(is_in).cloned().collect(), ..names.clone() }
}

/// The changes, each by the clause with its number.
fn chosen(
    rows: Rel,
    names: &Namespace,
    number: &Expr,
    clauses: Vec<Action>,
    table: &ChangedTable,
    (has_values, lineage): (bool, bool),
) -> Result<Rel> {
    let is = |clause: usize| {
        let value = Value::Int(i64::try_from(clause).unwrap_or(i64::MAX));
        let value = literal::literal(value, LogicalType::Int.not_null(), Span::default());
        call::function("=", vec![number.clone(), value], Span::default())
    };
    let case = |branches: Vec<(Expr, Expr)>, data_type: DataType| Expr {
        kind: ExprKind::Case { branches, otherwise: None },
        data_type: data_type.with_nullable(true),
        span: Span::default(),
    };
    let hidden = Hidden::of(table);
    let mut all = Projection::of(rows);
    let ops = clauses.iter().enumerate().map(|(i, action)| Ok((is(i)?, op(action.op)))).collect::<Result<_>>()?;
    all.push("op", case(ops, LogicalType::TinyInt.nullable()));
    all.hidden(&hidden, names);
    if has_values {
        let mut rows: Vec<(usize, std::vec::IntoIter<Expr>)> =
            clauses.into_iter().enumerate().filter_map(|(i, action)| Some((i, action.values?.into_iter()))).collect();
        for column in table.entry.physical_columns() {
            let mut values = vec![];
            for (clause, row) in &mut rows {
                let value = row.next().ok_or_else(|| Error::internal("a column without a value"))?;
                values.push((is(*clause)?, value));
            }
            // the values of a CASE are of one type
            let exact = values.iter().all(|(_, value)| value.data_type.logical == column.data_type.logical);
            let data_type = if exact { column.data_type.clone() } else { insert::loosened(&column.data_type) };
            let branches = values.into_iter().map(|(is, value)| (is, coerce::to(value, &data_type))).collect();
            all.push_value(column, case(branches, data_type));
        }
    }
    if lineage {
        all.lineage(&hidden, names);
    }
    Ok(all.finish())
}

/// The source's column of the name of a column, for `*`.
fn same_named(column: &Column, table: &TableEntry, source: &Namespace, place: Span) -> Result<Expr> {
    let named = |index: &usize| source.fields.get(*index).is_some_and(|f| f.name == column.name);
    let mut found = source.tables.iter().flat_map(|t| t.columns.clone()).filter(named);
    let Some(index) = found.next() else {
        let known = source.tables.iter().flat_map(|t| source.fields.get(t.columns.clone()).unwrap_or_default());
        let error = Error::new("unknown-column", format!("the source has no column '{}' for '*'", column.name));
        return Err(names::did_you_mean(error, &column.name, known.map(|f| f.name.as_str())).at(place));
    };
    if found.next().is_some() {
        return Err(super::scope::ambiguous(&column.name, place));
    }
    stored(source.field(index, place), column, table)
}

/// A value with the type of the column that stores it.
fn stored(value: Expr, column: &Column, table: &TableEntry) -> Result<Expr> {
    let is_null = value.data_type.logical == LogicalType::Null;
    if !is_null && !rules::supports_sink_cast(&value.data_type, &insert::loosened(&column.data_type)) {
        let (from, to) = (&value.data_type.logical, &column.data_type.logical);
        let error = Error::new(
            "sink-mismatch",
            format!("column '{}' of table '{}' is {to}: it takes no {from}", column.name, table.path),
        )
        .with_detail(format!(
            "Cannot assign to target field '{}' of type {to} from source field of type {from}",
            column.name
        ));
        let error = match rules::supports_explicit_cast(&value.data_type, &column.data_type) {
            true => error.with_hint(format!("write CAST(.. AS {to})")),
            false => error,
        };
        return Err(error.at(value.span));
    }
    Ok(insert::for_column(value, &column.data_type))
}

/// The column that an assignment names, alone or behind its table.
fn assigned_column<'t>(table: &'t TableEntry, alias: Option<&Ident>, name: &Name) -> Result<(usize, &'t Column)> {
    let (column, qualifier) = match name.parts.split_last() {
        Some(split) => split,
        None => return Err(Error::internal("an empty name")),
    };
    let path = [&table.path.catalog, &table.path.database, &table.path.table];
    let is_table = match (alias, qualifier) {
        (_, []) => true,
        (Some(alias), [one]) => *one == alias.value,
        (Some(_), _) => false,
        (None, parts) => parts.len() <= path.len() && parts.iter().rev().zip(path.iter().rev()).all(|(a, b)| a == *b),
    };
    let physical = || table.physical_columns();
    if is_table && let Some(found) = physical().enumerate().find(|(_, c)| c.name == *column) {
        return Ok(found);
    }
    let is_row =
        |part: &String| physical().any(|c| c.name == *part && matches!(c.data_type.logical, LogicalType::Row(_)));
    if name.parts.iter().take(name.parts.len().saturating_sub(1)).any(is_row) {
        let place = name.parts.join(".");
        return Err(Error::unsupported(format!("assigning to '{place}', a field inside a row"))
            .with_hint("assign the whole row: ROW(..)")
            .at(name.span));
    }
    let error = match is_table {
        true => Error::new("unknown-column", format!("column '{column}' not found in '{}'", table.path))
            .with_detail(format!("Unknown target column '{column}'")),
        false => {
            let shown = qualifier.join(".");
            let meant = alias.map_or(table.path.table.as_str(), |alias| alias.value.as_str());
            return Err(Error::new("unknown-table", format!("'{shown}' is not the table that changes"))
                .with_hint(format!("assign to columns of '{meant}'"))
                .at(name.span));
        }
    };
    Err(names::did_you_mean(error, column, physical().map(|c| c.name.as_str())).at(name.span))
}
