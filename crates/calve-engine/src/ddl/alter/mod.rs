//! ALTER TABLE.
//!
//! What a statement makes of a table's definition, and what Flink refuses of it, is in [`definition`], for every kind of
//! catalog; [`iceberg`] carries it over to the schema, the partition spec and the properties of an Iceberg table.

mod columns;
mod definition;
mod iceberg;
mod partitions;
mod references;

use std::sync::Arc;

use calve_iceberg::catalog::Catalog;
use calve_planner::TablePath;
use calve_sql::{AlterTable, AlterTableChange, Name, RefKind};
use calve_types::{Error, Result, Span};

pub(crate) use partitions::partition;

use super::define::{as_flink_keeps, check_not_enforced};
use super::table::{already_exists, exists, table_path, unique_constraint};
use crate::catalogs::CatalogKind;
use crate::catalogs::object::{CatalogObject, TableDef};
use crate::check::rules::duplicate_option;
use crate::definition::quoted;
use crate::mapping;
use crate::resolve::Resolved;
use crate::result::{ResultBody, Warning};
use crate::session::Session;

/// Where a table that is to be altered lives.
enum Found {
    /// In a catalog of the session's memory.
    Memory(Box<TableDef>),
    /// In an Iceberg catalog.
    Iceberg(Arc<dyn Catalog>, Box<calve_iceberg::Table>),
}

impl Session {
    /// ALTER TABLE.
    pub(crate) async fn alter_table(&mut self, alter: &AlterTable, warnings: &mut Vec<Warning>) -> Result<ResultBody> {
        let path = table_path(&self.catalogs, &alter.name)?;
        let span = alter.name.span;
        check_statement(alter, warnings)?;
        match &alter.change {
            AlterTableChange::AddPartitions { if_not_exists, partitions } => {
                partitions::add(&mut self.catalogs, &path, partitions, *if_not_exists).map_err(|e| e.at(span))?;
                return Ok(ResultBody::Done);
            }
            AlterTableChange::DropPartitions { if_exists, partitions } => {
                partitions::drop(&mut self.catalogs, &path, partitions, *if_exists).map_err(|e| e.at(span))?;
                return Ok(ResultBody::Done);
            }
            _ => {}
        }
        let Some(found) = self.find_table(&path).await.map_err(|e| e.at(span))? else {
            return match alter.if_exists {
                true => Ok(ResultBody::Done),
                false => Err(self.no_table(&path).await.at(span)),
            };
        };
        if let AlterTableChange::Rename(new) = &alter.change {
            self.rename_table(&path, found, new, warnings).await?;
            return Ok(ResultBody::Done);
        }
        match found {
            Found::Memory(old) => self.alter_in_memory(&path, *old, alter).await?,
            Found::Iceberg(catalog, table) => iceberg::alter(self, &catalog, &table, &path, alter, warnings).await?,
        }
        Ok(ResultBody::Done)
    }

    /// The permanent table of a name; `None` if there is none, or a temporary one hides it.
    async fn find_table(&self, path: &TablePath) -> Result<Option<Found>> {
        if self.catalogs.temporary(path).is_some() {
            return Ok(None);
        }
        let Ok(entry) = self.catalogs.get(&path.catalog) else { return Ok(None) };
        match &entry.kind {
            CatalogKind::Memory(memory) => match memory.object(&path.database, &path.table) {
                None => Ok(None),
                Some(CatalogObject::Table(table)) => Ok(Some(Found::Memory(table.clone()))),
                Some(CatalogObject::View(_)) => Err(Error::new("not-a-table", format!("'{path}' is a view"))
                    .with_detail("ALTER TABLE for a view is not allowed")
                    .with_hint("use ALTER VIEW")),
            },
            CatalogKind::Iceberg(catalog) => {
                if let Some((table, _)) = path.table.split_once('$') {
                    return Err(Error::new("not-a-table", format!("'{}' is a metadata table", path.table))
                        .with_detail("Cannot create transactions for a metadata table")
                        .with_hint(format!("change '{table}' itself")));
                }
                let table = catalog.load_table(&catalog.ident(&path.database, &path.table)?).await?;
                Ok(table.map(|table| Found::Iceberg(Arc::clone(catalog), Box::new(table))))
            }
        }
    }

    async fn no_table(&self, path: &TablePath) -> Error {
        let error = Error::new("unknown-table", format!("table '{path}' does not exist or is a temporary table"))
            .with_detail(format!("Table {} doesn't exist or is a temporary table.", quoted(path)));
        if self.catalogs.temporary(path).is_some() {
            return error.with_hint("drop the temporary one and make it anew");
        }
        if let Some(why) = self.catalogs.missing_warehouse(&path.catalog).await {
            return error.with_hint(why);
        }
        // only for a suggestion: a catalog that cannot list has none
        let known = self.catalogs.objects(&path.catalog, &path.database, false).await.unwrap_or_default();
        error.did_you_mean(&path.table, known.iter().map(String::as_str))
    }

    async fn alter_in_memory(&mut self, path: &TablePath, old: TableDef, alter: &AlterTable) -> Result<()> {
        if let Some(what) = beyond_flink(&alter.change) {
            let error = match mapping::way_out(&self.catalogs, path) {
                None => Error::unsupported(format!("{what} outside Iceberg tables")),
                Some(way_out) => Error::unsupported(format!("{what} outside Iceberg catalogs")).with_hint(way_out),
            };
            return Err(error.at(alter.span));
        }
        let resolved = Resolved::load(&self.catalogs, &self.options, vec![]).await?;
        let new = definition::altered(old, path, alter, &resolved, self.options.is_streaming())?;
        let object = CatalogObject::Table(Box::new(as_flink_keeps(new)));
        if let CatalogKind::Memory(memory) = &mut self.catalogs.get_mut(&path.catalog)?.kind {
            memory.put(&path.database, &path.table, object);
        }
        Ok(())
    }

    /// Gives a table another name in its database.
    async fn rename_table(
        &mut self,
        path: &TablePath,
        found: Found,
        new: &Name,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        let written = table_path(&self.catalogs, new)?;
        let target = TablePath { table: written.table.clone(), ..path.clone() };
        if let Found::Iceberg(catalog, table) = &found {
            catalog.check_rename(table.ident()).map_err(|e| e.at(new.span))?;
        }
        if exists(&self.catalogs, &target).await.map_err(|e| e.at(new.span))? {
            return Err(already_exists(&target).with_hint("choose another name, or DROP it first").at(new.span));
        }
        match found {
            Found::Iceberg(catalog, table) => {
                let (ident, name) = (table.ident().clone(), target.table.clone());
                let renamed = self.commits().alter(async move { catalog.rename_table(&ident, &name).await }).await;
                renamed.map_err(|e| e.at(new.span))?;
            }
            Found::Memory(_) => {
                if let CatalogKind::Memory(memory) = &mut self.catalogs.get_mut(&path.catalog)?.kind
                    && let Some(object) = memory.remove(&path.database, &path.table)
                {
                    memory.put(&target.database, &target.table, object);
                }
            }
        }
        if new.parts.len() > 1 && (&written.catalog, &written.database) != (&path.catalog, &path.database) {
            let message = format!("the table stays in its database, as in Flink: its name is '{target}' now");
            warnings.push(Warning::new("rename-stays", message).at(new.span));
        }
        Ok(())
    }
}

/// What the statement says wrong, whatever table it is about.
fn check_statement(alter: &AlterTable, warnings: &mut Vec<Warning>) -> Result<()> {
    if let AlterTableChange::Set(given) = &alter.change {
        warnings.extend(duplicate_option::warnings(given));
    }
    let (AlterTableChange::Add(elements) | AlterTableChange::Modify(elements)) = &alter.change else { return Ok(()) };
    if let Some(key) = &elements.primary_key {
        check_not_enforced(key)?;
    }
    elements.unique.first().map_or(Ok(()), |place| Err(unique_constraint(*place)))
}

/// What Flink's ALTER TABLE does not know, if it is that.
fn beyond_flink(change: &AlterTableChange) -> Option<&'static str> {
    match change {
        AlterTableChange::AddPartitionField { .. }
        | AlterTableChange::DropPartitionField(_)
        | AlterTableChange::ReplacePartitionField { .. } => Some("PARTITION FIELD in ALTER TABLE"),
        AlterTableChange::PutRef(put) if put.kind == RefKind::Tag => Some("TAG in ALTER TABLE"),
        AlterTableChange::DropRef { kind: RefKind::Tag, .. } => Some("TAG in ALTER TABLE"),
        AlterTableChange::PutRef(_) | AlterTableChange::DropRef { .. } => Some("BRANCH in ALTER TABLE"),
        AlterTableChange::Write(_) => Some("WRITE in ALTER TABLE"),
        _ => None,
    }
}

/// A refusal with Flink's sentence.
fn refused(code: &'static str, message: impl Into<String>, sentence: impl std::fmt::Display, place: Span) -> Error {
    Error::new(code, message).with_detail(format!("Failed to execute ALTER TABLE statement.\n{sentence}")).at(place)
}
