//! ALTER TABLE of an Iceberg table: what Flink's connector makes of the changes of a definition (`FlinkCatalog`,
//! `FlinkAlterTableUtil`), and the changes of partition fields, which Flink does not know.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_iceberg::Table;
use calve_iceberg::catalog::Catalog;
use calve_iceberg::catalog::alter::{
    self, Alteration, ColumnPlace, NewRef, PartitionRef, PartitionTerm, RefChange, SchemaChange, SortTerm, SpecChange,
    is_cherry_pick, is_reserved,
};
use calve_planner::TablePath;
use calve_sql::{
    AlterTable, AlterTableChange, AlteredElements, ColumnPosition, PartitionField, Property, RefKind, SortField,
    WriteOrder, WriteOrdering,
};
use calve_types::{Error, Result};

use super::super::define::{as_flink_keeps, refuse_in_iceberg};
use super::super::table::transform;
use super::{beyond_flink, definition};
use crate::catalogs::Catalogs;
use crate::catalogs::object::{DefinedColumn, TableDef};
use crate::check::rules::option_warnings;
use crate::definition::of_entry;
use crate::resolve::{Resolved, iceberg_entry};
use crate::result::Warning;
use crate::session::Session;

/// Changes an Iceberg table in one commit.
///
/// # Errors
/// Flink's and Iceberg's refusals, with their sentences as detail; those of the commit.
pub(super) async fn alter(
    session: &Session,
    catalog: &Arc<dyn Catalog>,
    table: &Table,
    path: &TablePath,
    statement: &AlterTable,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let resolved = Resolved::load(&session.catalogs, &session.options, vec![]).await?;
    let asked = Asked {
        statement: statement.clone(),
        path: path.clone(),
        catalog: catalog.clone(),
        streaming: session.options.is_streaming(),
    };
    let checked = asked.changes(table, &resolved).and_then(|changes| alter::check(table, &changes));
    checked.map_err(|e| e.at(statement.name.span))?;
    let (table, options, dry) = (table.clone(), session.options.clone(), session.dry);
    let altered = session.commits().alter(async move {
        // whatever names something of the session has been bound, and is nothing that an Iceberg table keeps
        let catalogs = Catalogs::default();
        let resolved = Resolved::load(&catalogs, &options, vec![]).await?;
        let plan = |base: &Table| -> Result<Alteration> {
            let mut changes = asked.changes(base, &resolved)?;
            // files of a picked snapshot are added by a new one, which is written before it is committed
            changes.set.retain(|key, _| !(dry && is_cherry_pick(key)));
            Ok(changes)
        };
        Box::pin(alter::alter(asked.catalog.as_ref(), &table, plan)).await
    });
    altered.await.map_err(|e| e.at(statement.name.span))?;
    warn(statement, warnings);
    Ok(())
}

/// What a statement asks for.
struct Asked {
    statement: AlterTable,
    path: TablePath,
    catalog: Arc<dyn Catalog>,
    streaming: bool,
}

impl Asked {
    /// What it changes in a version of its table.
    fn changes(&self, base: &Table, resolved: &Resolved<'_>) -> Result<Alteration> {
        let entry = iceberg_entry(self.path.clone(), self.catalog.clone(), base.clone(), BTreeMap::new())?;
        let old = as_flink_keeps(of_entry(&entry));
        let altered = definition::altered(old.clone(), &self.path, &self.statement, resolved, self.streaming);
        let new = as_flink_keeps(altered.map_err(|e| match e.code {
            "invalid-watermark" => e.with_hint(NO_WATERMARK),
            _ => e,
        })?);
        alteration(&old, &new, &self.statement)
    }
}

/// The way out of a watermark for an Iceberg table.
const NO_WATERMARK: &str = "an Iceberg table holds no watermark: SET 'execution.runtime-mode' = 'batch', where windows take \
                            any timestamp";

/// What is odd about a statement that was carried out.
fn warn(statement: &AlterTable, warnings: &mut Vec<Warning>) {
    if let AlterTableChange::Set(given) = &statement.change {
        warnings.extend(option_warnings(given));
        for option in given.iter().filter(|p| is_reserved(&p.key)) {
            let message = format!("option '{}' has no effect: the table's metadata tells it", option.key);
            warnings.push(Warning::new("ineffective-option", message).at(option.span));
        }
    }
    if let Some(what) = beyond_flink(&statement.change) {
        let message = format!("not portable to Flink: {what}");
        warnings.push(Warning::new("not-portable", message).at(statement.span));
    }
}

/// The changes of the table from those of its definition.
fn alteration(old: &TableDef, new: &TableDef, statement: &AlterTable) -> Result<Alteration> {
    refuse_in_iceberg(new, statement.span)?;
    if let Some(distribution) = &new.distribution {
        return Err(Error::unsupported("DISTRIBUTION of an Iceberg table")
            .with_detail("Cannot apply unknown table change: AddDistribution")
            .with_hint("use 'write.distribution-mode', or ADD PARTITION FIELD bucket(n, column)")
            .at(distribution.span));
    }
    let mut alteration = Alteration::default();
    match &statement.change {
        AlterTableChange::Set(given) => alteration.set = options(given),
        AlterTableChange::Reset(keys) => alteration.reset.clone_from(keys),
        AlterTableChange::RenameColumn { from, to } => {
            if let ([from], [to]) = (from.parts.as_slice(), to.parts.as_slice()) {
                alteration.schema.push(SchemaChange::Rename { from: from.clone(), to: to.clone() });
            }
        }
        AlterTableChange::DropColumns(names) => {
            let names = names.iter().filter_map(|name| name.parts.first());
            alteration.schema.extend(names.cloned().map(SchemaChange::Drop));
        }
        AlterTableChange::DropPrimaryKey | AlterTableChange::DropConstraint(_) => {
            return Err(Error::unsupported("dropping the primary key of an Iceberg table")
                .with_detail("Unsupported table change: DropConstraint.")
                .with_hint("MODIFY PRIMARY KEY (..) NOT ENFORCED puts another one in its place")
                .at(statement.span));
        }
        AlterTableChange::Add(elements) => add(new, elements, &mut alteration.schema)?,
        AlterTableChange::Modify(elements) => modify(old, new, elements, &mut alteration.schema)?,
        AlterTableChange::AddPartitionField { field, name } => {
            let name = name.as_ref().map(|name| name.value.clone());
            alteration.partition.push(SpecChange::Add { term: term(field), name });
        }
        AlterTableChange::DropPartitionField(field) => {
            alteration.partition.push(SpecChange::Drop(partition_ref(field)));
        }
        AlterTableChange::ReplacePartitionField { from, to, name } => {
            alteration.partition.push(SpecChange::Drop(partition_ref(from)));
            let name = name.as_ref().map(|name| name.value.clone());
            alteration.partition.push(SpecChange::Add { term: term(to), name });
        }
        AlterTableChange::PutRef(put) => alteration.refs.push(RefChange::Put(NewRef {
            name: put.name.value.clone(),
            is_tag: put.kind == RefKind::Tag,
            create: put.create,
            replace: put.replace,
            if_not_exists: put.if_not_exists,
            snapshot: put.snapshot,
            max_age_ms: put.max_age_ms,
            min_snapshots: put.min_snapshots,
            max_snapshot_age_ms: put.max_snapshot_age_ms,
        })),
        AlterTableChange::DropRef { kind, name, if_exists } => {
            let (name, is_tag) = (name.value.clone(), *kind == RefKind::Tag);
            alteration.refs.push(RefChange::Drop { name, is_tag, if_exists: *if_exists });
        }
        AlterTableChange::Write(write) => write_order(write, &mut alteration),
        // an Iceberg table has neither watermark nor distribution: dropping one was refused
        AlterTableChange::DropWatermark
        | AlterTableChange::DropDistribution
        | AlterTableChange::Rename(_)
        | AlterTableChange::AddPartitions { .. }
        | AlterTableChange::DropPartitions { .. } => {}
    }
    Ok(alteration)
}

/// The order of the rows and the distribution mode that goes with it, as Spark chooses it.
fn write_order(write: &WriteOrder, alteration: &mut Alteration) {
    let (terms, mode) = match &write.ordering {
        None => (vec![], None),
        Some(WriteOrdering::None) => (vec![], Some("none")),
        Some(WriteOrdering::By { locally, fields }) => {
            let term = |sort: &SortField| SortTerm {
                term: term(&sort.field),
                descending: sort.descending,
                nulls_first: sort.nulls_first,
            };
            (fields.iter().map(term).collect(), (!locally).then_some("range"))
        }
    };
    alteration.order = Some(terms);
    if let Some(mode) = if write.by_partition { Some("hash") } else { mode } {
        alteration.set.insert("write.distribution-mode".to_owned(), mode.to_owned());
    }
}

fn options(given: &[Property]) -> BTreeMap<String, String> {
    given.iter().map(|p| (p.key.clone(), p.value.clone())).collect()
}

fn term(field: &PartitionField) -> PartitionTerm {
    PartitionTerm { column: field.column.value.clone(), transform: transform(field) }
}

fn partition_ref(field: &PartitionField) -> PartitionRef {
    match field.transform {
        None => PartitionRef::Name(field.column.value.clone()),
        Some(_) => PartitionRef::Term(term(field)),
    }
}

fn find<'a>(table: &'a TableDef, name: &str) -> Result<&'a DefinedColumn> {
    let found = table.columns.iter().find(|c| c.column.name == name);
    found.ok_or_else(|| Error::internal(format!("column '{name}' vanished")))
}

fn place(position: &ColumnPosition) -> ColumnPlace {
    match position {
        ColumnPosition::First => ColumnPlace::First,
        ColumnPosition::After(other) => ColumnPlace::After(other.value.clone()),
    }
}

fn add(new: &TableDef, elements: &AlteredElements, changes: &mut Vec<SchemaChange>) -> Result<()> {
    for (declared, position) in &elements.columns {
        let column = find(new, &declared.name.value)?;
        changes.push(SchemaChange::Add {
            name: column.column.name.clone(),
            data_type: column.column.data_type.clone(),
            comment: column.comment.clone(),
            place: position.as_ref().map(place),
        });
    }
    if elements.primary_key.is_some() {
        changes.push(SchemaChange::PrimaryKey(new.key_columns().to_vec()));
    }
    Ok(())
}

/// Only what the statement says of a column: a column of the primary key that is nullable in the table stays so, and is
/// refused as its key.
fn modify(old: &TableDef, new: &TableDef, elements: &AlteredElements, changes: &mut Vec<SchemaChange>) -> Result<()> {
    for (declared, position) in &elements.columns {
        let name = &declared.name.value;
        let (was, is) = (find(old, name)?, find(new, name)?);
        if was.column.data_type != is.column.data_type {
            let data_type = is.column.data_type.clone();
            changes.push(SchemaChange::Retype { name: name.clone(), data_type });
        }
        if declared.comment.is_some() {
            changes.push(SchemaChange::Comment { name: name.clone(), comment: declared.comment.clone() });
        }
        if let Some(position) = position {
            changes.push(SchemaChange::Move { name: name.clone(), place: place(position) });
        }
    }
    if elements.primary_key.is_some() {
        changes.push(SchemaChange::PrimaryKey(new.key_columns().to_vec()));
    }
    Ok(())
}
