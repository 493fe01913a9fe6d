//! A table's definition after ALTER TABLE, by the rules of Flink's `AlterSchemaConverter` and `SchemaResolver`.

use std::collections::BTreeMap;

use calve_planner::TablePath;
use calve_planner::bind;
use calve_planner::catalog::{Column, ColumnKind};
use calve_sql::{AlterTable, AlterTableChange, AlteredElements, Distribution, Name, PrimaryKey, Watermark, print};
use calve_types::{Error, Result, Span};

use super::columns::{self, Mode};
use super::references::{check_droppable, check_unused, sources};
use super::refused;
use crate::catalogs::object::{DefinedColumn, KeyDef, TableDef, WatermarkDef};
use crate::definition::quoted;
use crate::resolve::Resolved;

/// The definition of the table with the change. `streaming`: whether a new watermark makes its column a time attribute.
///
/// # Errors
/// Flink's refusals, with its sentences as detail.
pub(super) fn altered(
    old: TableDef,
    path: &TablePath,
    alter: &AlterTable,
    resolved: &Resolved<'_>,
    streaming: bool,
) -> Result<TableDef> {
    let mut change = Change { table: old, place: alter.span, resolved, streaming };
    match &alter.change {
        AlterTableChange::Set(given) => {
            change.table.options.extend(given.iter().map(|p| (p.key.clone(), p.value.clone())));
        }
        AlterTableChange::Reset(keys) => change.reset(keys)?,
        AlterTableChange::RenameColumn { from, to } => change.rename(from, to)?,
        AlterTableChange::DropColumns(names) => change.drop(names)?,
        AlterTableChange::DropPrimaryKey => change.drop_key(None)?,
        AlterTableChange::DropConstraint(name) => change.drop_key(Some(&name.value))?,
        AlterTableChange::DropWatermark => change.drop_watermark()?,
        AlterTableChange::DropDistribution => change.drop_distribution(path)?,
        AlterTableChange::Add(elements) => change.put(elements, Mode::Add)?,
        AlterTableChange::Modify(elements) => change.put(elements, Mode::Modify)?,
        // those of a table's name, of its partitions and of what Flink does not know leave the definition as it is
        AlterTableChange::Rename(_)
        | AlterTableChange::AddPartitions { .. }
        | AlterTableChange::DropPartitions { .. }
        | AlterTableChange::AddPartitionField { .. }
        | AlterTableChange::DropPartitionField(_)
        | AlterTableChange::ReplacePartitionField { .. }
        | AlterTableChange::PutRef(_)
        | AlterTableChange::DropRef { .. }
        | AlterTableChange::Write(_) => {}
    }
    Ok(change.table)
}

struct Change<'a> {
    table: TableDef,
    /// Where the statement stands.
    place: Span,
    resolved: &'a Resolved<'a>,
    streaming: bool,
}

impl Change<'_> {
    fn reset(&mut self, keys: &[String]) -> Result<()> {
        if keys.is_empty() {
            return Err(Error::new("syntax-error", "RESET needs the name of an option")
                .with_detail("ALTER TABLE RESET does not support empty key")
                .at(self.place));
        }
        if keys.iter().any(|key| key == "connector") {
            return Err(Error::new("invalid-option", "the connector of a table cannot be reset")
                .with_detail("ALTER TABLE RESET does not support changing 'connector'")
                .with_hint("SET ('connector' = '..') puts another one in its place")
                .at(self.place));
        }
        for key in keys {
            self.table.options.remove(key);
        }
        Ok(())
    }

    fn rename(&mut self, from: &Name, to: &Name) -> Result<()> {
        let (old, new) = (column_name(from)?, column_name(to)?);
        check_unused(&self.table, old, from.span)?;
        if self.table.columns.iter().any(|c| c.column.name == new) {
            let sentence = format!("The column `{new}` already existed in table schema.");
            return Err(refused("duplicate-column", format!("column '{new}' already exists"), sentence, to.span));
        }
        let rename = |name: &mut String| {
            if name == old {
                new.clone_into(name);
            }
        };
        self.table.columns.iter_mut().for_each(|c| rename(&mut c.column.name));
        self.table.primary_key.iter_mut().flat_map(|key| &mut key.columns).for_each(rename);
        self.resolve(None)
    }

    fn drop(&mut self, names: &[Name]) -> Result<()> {
        let mut dropped: Vec<(&str, Span)> = vec![];
        for name in names {
            let column = column_name(name)?;
            if dropped.iter().any(|(other, _)| *other == column) {
                let sentence = format!("Duplicate column `{column}`.");
                return Err(refused(
                    "duplicate-column",
                    format!("column '{column}' stands twice"),
                    sentence,
                    name.span,
                ));
            }
            dropped.push((column, name.span));
        }
        // computed columns go before what they are made of
        dropped.sort_by_key(|(column, _)| std::cmp::Reverse(sources(&self.table, column).len()));
        for (column, place) in dropped {
            check_droppable(&self.table, column, place)?;
            self.table.columns.retain(|c| c.column.name != column);
        }
        self.resolve(None)
    }

    fn drop_key(&mut self, name: Option<&str>) -> Result<()> {
        let Some(key) = &self.table.primary_key else {
            return Err(refused(
                "unknown-constraint",
                "the table has no primary key",
                "The base table does not define any primary key.",
                self.place,
            ));
        };
        if let Some(name) = name.filter(|name| *name != key.name) {
            return Err(refused(
                "unknown-constraint",
                format!("the table has no constraint '{name}'"),
                format!(
                    "The base table does not define a primary key constraint named '{name}'. Available constraint name: \
                     ['{}'].",
                    key.name
                ),
                self.place,
            ));
        }
        self.table.primary_key = None;
        Ok(())
    }

    fn drop_watermark(&mut self) -> Result<()> {
        match self.table.watermark.take() {
            Some(_) => Ok(()),
            None => Err(refused(
                "unknown-watermark",
                "the table has no watermark",
                "The base table does not define any watermark strategy.",
                self.place,
            )),
        }
    }

    fn drop_distribution(&mut self, path: &TablePath) -> Result<()> {
        match self.table.distribution.take() {
            Some(_) => Ok(()),
            None => Err(Error::new("unknown-distribution", format!("table '{path}' is not distributed"))
                .with_detail(format!("Table {} does not have a distribution to drop.", quoted(path)))
                .at(self.place)),
        }
    }

    /// ADD and MODIFY.
    fn put(&mut self, elements: &AlteredElements, mode: Mode) -> Result<()> {
        columns::put(&mut self.table.columns, &elements.columns, mode)?;
        if let Some(watermark) = &elements.watermark {
            self.put_watermark(watermark, mode)?;
        }
        if let Some(key) = &elements.primary_key {
            self.put_key(key, mode)?;
        }
        if let Some(distribution) = &elements.distribution {
            self.put_distribution(distribution, mode)?;
        }
        self.resolve(Some(elements))
    }

    fn put_key(&mut self, key: &PrimaryKey, mode: Mode) -> Result<()> {
        match (mode, &self.table.primary_key) {
            (Mode::Add, Some(old)) => {
                let columns: Vec<String> = old.columns.iter().map(|c| format!("`{c}`")).collect();
                let sentence = format!(
                    "The base table has already defined the primary key constraint [{}]. You might want to drop it \
                     before adding a new one.",
                    columns.join(", ")
                );
                let message = format!("the table has a primary key already: ({})", old.columns.join(", "));
                return Err(refused("duplicate-constraint", message, sentence, key.span)
                    .with_hint("use MODIFY to put another one in its place"));
            }
            (Mode::Modify, None) => {
                let sentence =
                    "The base table does not define any primary key constraint. You might want to add a new one.";
                return Err(refused("unknown-constraint", "the table has no primary key", sentence, key.span)
                    .with_hint("use ADD"));
            }
            _ => {}
        }
        let columns: Vec<String> = key.columns.iter().map(|c| c.value.clone()).collect();
        self.table.primary_key = Some(match &key.name {
            Some(name) => KeyDef { name: name.value.clone(), columns },
            None => KeyDef::unnamed(columns),
        });
        Ok(())
    }

    fn put_watermark(&mut self, watermark: &Watermark, mode: Mode) -> Result<()> {
        match (mode, &self.table.watermark) {
            (Mode::Add, Some(old)) => {
                let column: Vec<String> = old.column.iter().map(|part| format!("`{part}`")).collect();
                let sentence = format!(
                    "The base table has already defined the watermark strategy {} AS {}. You might want to drop it before \
                     adding a new one.",
                    column.join("."),
                    print::expr(&old.expr)
                );
                return Err(refused(
                    "duplicate-watermark",
                    "the table has a watermark already",
                    sentence,
                    watermark.span,
                )
                .with_hint("use MODIFY to put another one in its place"));
            }
            (Mode::Modify, None) => {
                let sentence = "The base table does not define any watermark. You might want to add a new one.";
                return Err(refused("unknown-watermark", "the table has no watermark", sentence, watermark.span)
                    .with_hint("use ADD"));
            }
            _ => {}
        }
        self.table.watermark = Some(WatermarkDef {
            column: watermark.column.parts.clone(),
            expr: std::sync::Arc::from(watermark.expr.clone()),
            is_rowtime: self.streaming,
        });
        Ok(())
    }

    fn put_distribution(&mut self, distribution: &Distribution, mode: Mode) -> Result<()> {
        match (mode, &self.table.distribution) {
            (Mode::Add, Some(_)) => {
                let sentence = "The base table has already defined the distribution. You might want to drop it before \
                                adding a new one.";
                return Err(refused(
                    "duplicate-distribution",
                    "the table is distributed already",
                    sentence,
                    distribution.span,
                )
                .with_hint("use MODIFY to put another one in its place"));
            }
            (Mode::Modify, None) => {
                let sentence = "The base table does not define any distribution. You might want to add a new one.";
                return Err(refused(
                    "unknown-distribution",
                    "the table is not distributed",
                    sentence,
                    distribution.span,
                )
                .with_hint("use ADD"));
            }
            _ => {}
        }
        self.table.distribution = Some(distribution.clone());
        Ok(())
    }

    /// Checks the whole definition anew and gives computed columns their types.
    fn resolve(&mut self, elements: Option<&AlteredElements>) -> Result<()> {
        self.check_metadata()?;
        self.check_key(elements.and_then(|e| e.primary_key.as_ref()))?;
        self.compute_types(elements)?;
        self.check_watermark(elements.and_then(|e| e.watermark.as_ref()))?;
        self.check_keys(elements.and_then(|e| e.distribution.as_ref()))
    }

    fn find(&self, name: &str) -> Option<&DefinedColumn> {
        self.table.columns.iter().find(|c| c.column.name == name)
    }

    fn names(&self, physical: bool) -> String {
        let columns = self.table.columns.iter().filter(|c| !physical || c.is_physical());
        columns.map(|c| c.column.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn check_metadata(&self) -> Result<()> {
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for column in &self.table.columns {
            let ColumnKind::Metadata { key, .. } = &column.column.kind else { continue };
            let name = column.column.name.as_str();
            if let Some(first) = seen.insert(key, name) {
                return Err(refused(
                    "duplicate-metadata",
                    format!("columns '{first}' and '{name}' are one metadata"),
                    format!(
                        "The column `{first}` and `{name}` in the table are both from the same metadata key '{key}'. \
                         Please specify one of the columns as the metadata column and use the computed column syntax to \
                         specify the others."
                    ),
                    self.place,
                )
                .with_hint(format!("declare the second one as '{name} AS {first}'")));
            }
        }
        Ok(())
    }

    /// Flink makes the columns of a primary key NOT NULL without a word.
    fn check_key(&mut self, given: Option<&PrimaryKey>) -> Result<()> {
        let Some(key) = self.table.primary_key.clone() else { return Ok(()) };
        let place = given.map_or(self.place, |key| key.span);
        let invalid = |code, message: String, why: String| {
            Err(refused(code, message, format!("Invalid primary key '{}'. {why}", key.name), place))
        };
        let mut twice: Vec<&str> = vec![];
        for (i, name) in key.columns.iter().enumerate() {
            if key.columns.iter().skip(i + 1).any(|other| other == name) && !twice.contains(&name.as_str()) {
                twice.push(name);
            }
        }
        if !twice.is_empty() {
            let found = twice.join(", ");
            return invalid(
                "duplicate-column",
                format!("column '{found}' stands twice in the primary key"),
                format!("A primary key must not contain duplicate columns. Found: [{found}]"),
            );
        }
        for name in &key.columns {
            match self.find(name) {
                None => {
                    return invalid(
                        "unknown-column",
                        format!("column '{name}' is not defined"),
                        format!("Column '{name}' does not exist."),
                    );
                }
                Some(column) if !column.is_physical() => {
                    return invalid(
                        "invalid-key",
                        format!("column '{name}' of the primary key is not stored"),
                        format!("Column '{name}' is not a physical column."),
                    );
                }
                Some(_) => {}
            }
        }
        for column in self.table.columns.iter_mut().filter(|c| key.columns.contains(&c.column.name)) {
            column.column.data_type.nullable = false;
        }
        Ok(())
    }

    fn compute_types(&mut self, elements: Option<&AlteredElements>) -> Result<()> {
        // a computed column sees no other one
        let visible: Vec<Column> = (self.table.columns.iter().map(|c| &c.column))
            .filter(|c| !matches!(c.kind, ColumnKind::Computed(_)))
            .cloned()
            .collect();
        for column in &mut self.table.columns {
            let ColumnKind::Computed(expr) = &column.column.kind else { continue };
            let name = &column.column.name;
            let declared = elements.and_then(|e| e.columns.iter().find(|(c, _)| c.name.value == *name));
            column.column.data_type = bind::computed_type(expr, &visible, self.resolved).map_err(|error| {
                let sentence = format!("Invalid expression for computed column '{name}'.");
                match declared {
                    Some((declared, _)) => within(error, &sentence).at(declared.name.span),
                    // the place in an expression of another statement means nothing here
                    None => Error { span: None, ..within(error, &sentence) }.at(self.place),
                }
            })?;
        }
        Ok(())
    }

    fn check_watermark(&self, given: Option<&Watermark>) -> Result<()> {
        let Some(watermark) = &self.table.watermark else { return Ok(()) };
        let place = given.map_or(self.place, |w| w.span);
        let name = watermark.column.join(".");
        if self.find(&name).is_none() {
            return Err(refused(
                "unknown-column",
                format!("column '{name}' of the watermark not found"),
                format!(
                    "Invalid column name '{name}' for rowtime attribute in watermark declaration. Available columns are: \
                     [{}]",
                    self.names(false)
                ),
                given.map_or(self.place, |w| w.column.span),
            ));
        }
        let columns: Vec<Column> = self.table.columns.iter().map(|c| c.column.clone()).collect();
        let checked = match given {
            Some(watermark) => bind::watermark(watermark, &columns, self.resolved).map_err(|e| e.at(place)),
            None => {
                let old = Watermark {
                    column: Name { parts: watermark.column.clone(), span: Span::default() },
                    expr: Box::new(watermark.expr.as_ref().clone()),
                    span: Span::default(),
                };
                let checked = bind::watermark(&old, &columns, self.resolved);
                checked.map_err(|error| Error { span: None, ..error }.at(place))
            }
        };
        let wrong = |error: Error| {
            let of_names = matches!(error.code, "unknown-column" | "unknown-table");
            let sentence = format!(
                "Invalid expression for watermark 'WATERMARK FOR `{name}` AS [{}]'.",
                print::expr(&watermark.expr)
            );
            if of_names { within(error, &sentence) } else { failed(error) }
        };
        checked.map(|_| ()).map_err(wrong)
    }

    /// Partition keys and the keys of a distribution are stored columns.
    fn check_keys(&self, given: Option<&Distribution>) -> Result<()> {
        let stored = |name: &str| self.find(name).is_some_and(DefinedColumn::is_physical);
        if let Some(key) = self.table.partition_keys.iter().find(|key| !stored(key)) {
            return Err(Error::new("invalid-partition", format!("partition column '{key}' is not stored"))
                .with_detail(format!(
                    "Invalid partition key '{key}'. A partition key must reference a physical column in the schema. \
                     Available columns are: [{}]",
                    self.names(true)
                ))
                .at(self.place));
        }
        let Some(distribution) = &self.table.distribution else { return Ok(()) };
        if let Some(key) = distribution.columns.iter().find(|key| !stored(&key.value)) {
            // the place in another statement means nothing here
            let place = given.map_or(self.place, |_| key.span);
            return Err(Error::new("unknown-column", format!("column '{}' is not stored", key.value))
                .with_detail(format!(
                    "Invalid bucket key '{}'. A bucket key for a distribution must reference a physical column in the \
                     schema. Available columns are: [{}]",
                    key.value,
                    self.names(true)
                ))
                .at(place));
        }
        Ok(())
    }
}

/// The name of a column; what is inside of one cannot be changed, as in Flink.
fn column_name(name: &Name) -> Result<&str> {
    match name.parts.as_slice() {
        [column] => Ok(column),
        parts => {
            let full = parts.join(".");
            Err(Error::unsupported(format!("changing the nested field '{full}' in ALTER TABLE"))
                .with_detail(format!(
                    "Failed to execute ALTER TABLE statement.\nAlter nested row type {full} is not supported yet."
                ))
                .at(name.span))
        }
    }
}

/// An error of an expression inside the statement.
fn within(error: Error, sentence: &str) -> Error {
    let cause = error.detail.clone().unwrap_or_else(|| error.message.clone());
    failed(error.with_detail(format!("{sentence}\n{cause}")))
}

fn failed(error: Error) -> Error {
    let cause = error.detail.clone().unwrap_or_else(|| error.message.clone());
    error.with_detail(format!("Failed to execute ALTER TABLE statement.\n{cause}"))
}
