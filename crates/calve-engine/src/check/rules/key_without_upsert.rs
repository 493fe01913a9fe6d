//! `key-without-upsert`: rows are added to an Iceberg table with a PRIMARY KEY while upsert is off. Nobody enforces the
//! key then: a key that another commit wrote is there twice, as with Flink.

use std::collections::{BTreeMap, BTreeSet};

use calve_iceberg::Table;
use calve_iceberg::write::WriteOptions;
use calve_planner::TablePath;
use calve_sql::Statement;
use calve_types::Span;
use iceberg::spec::FormatVersion;

use super::{Finding, Seen};
use crate::check::{Severity, insert_of, names};
use crate::resolve::full_path;

/// The tables with a key that a script defines and fills.
#[derive(Debug, Default)]
pub(in crate::check) struct KeyedTables {
    /// Defined with a key and without upsert, and not written yet: where the key stands, and [`has_deletes`].
    unwritten: BTreeMap<TablePath, (Span, bool)>,
    told: BTreeSet<TablePath>,
}

impl KeyedTables {
    /// Tells of the first INSERT into each table that adds rows without a look at the key.
    pub fn see(&mut self, seen: &Seen<'_>, found: &mut Vec<Finding>) {
        let target =
            insert_of(seen.statement).map(|insert| (insert, full_path(&seen.session.catalogs, &insert.table.parts)));
        if let Some((_, Some(path))) = &target {
            self.unwritten.remove(path);
        }
        if !seen.ran {
            return;
        }
        if let Statement::CreateTable(create) = seen.statement
            && let Some(key) = &create.primary_key
            && let Some((table, _)) = seen.defined()
            && create.query.is_none()
            && !is_upsert(&table, &BTreeMap::new(), seen)
        {
            let path = full_path(&seen.session.catalogs, &create.name.parts);
            self.unwritten.extend(path.map(|path| (path, (key.span, has_deletes(&table)))));
        }
        if let Some(name) = dropped(seen.statement)
            && let Some(path) = full_path(&seen.session.catalogs, name)
        {
            self.unwritten.remove(&path);
        }
        let Some((insert, Some(path))) = target else { return };
        let Some(reference) = seen.named.iter().find(|reference| reference.span == insert.table.span) else { return };
        let Some(table) = seen.iceberg(reference) else { return };
        let hints: BTreeMap<String, String> = reference.hints.iter().cloned().collect();
        let is_keyed = table.metadata().current_schema().identifier_field_ids().next().is_some();
        if is_keyed && !insert.overwrite && !is_upsert(&table, &hints, seen) && self.told.insert(path.clone()) {
            found.push(finding(&path, insert.table.span, has_deletes(&table)));
        }
    }

    /// Tells of the tables that the script defines and leaves to others.
    pub fn end(&mut self, found: &mut Vec<Finding>) {
        let unwritten = std::mem::take(&mut self.unwritten);
        found.extend(unwritten.iter().map(|(path, (span, has_deletes))| finding(path, *span, *has_deletes)));
    }
}

fn dropped(statement: &Statement) -> Option<&[String]> {
    match statement {
        Statement::DropTable { .. } | Statement::AlterTable(_) => {
            names::target(statement).map(|name| name.parts.as_slice())
        }
        _ => None,
    }
}

fn is_upsert(table: &Table, hints: &BTreeMap<String, String>, seen: &Seen<'_>) -> bool {
    // wrong options have an error of their own
    WriteOptions::resolve(table, hints, seen.session.options.all(), false).map_or(true, |options| options.is_upsert())
}

/// Whether the table's format version has deletes, which upserts need.
fn has_deletes(table: &Table) -> bool {
    table.metadata().format_version() > FormatVersion::V1
}

fn finding(path: &TablePath, place: Span, has_deletes: bool) -> Finding {
    let version = if has_deletes { "" } else { " and 'format-version' = '2'" };
    let message = format!("table '{path}' has a primary key, and its INSERTs do not replace rows");
    Finding::new(Severity::Warning, "key-without-upsert", message, place)
        .with_detail(
            "A key is only declared: without upsert, rows with a key that the table has already are added to it.",
        )
        .with_hint(format!(
            "add 'write.upsert.enabled' = 'true'{version} to the WITH clause of the table, or leave out the PRIMARY KEY"
        ))
}
