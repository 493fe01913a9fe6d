//! DELETE, UPDATE and MERGE on Iceberg tables, which Flink does not have.
//!
//! 1. `Session::change` loads the tables and binds the statement; what is no Iceberg table is refused as Flink does.
//! 2. `job` plans which rows change, writes what takes their place, and commits it. The changes are those of the snapshot
//!    that was read: if another commit came first and matters to them, everything begins anew on what there is now.
//! 3. `nulls` keeps NULL out of NOT NULL columns.

mod job;
mod nulls;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use calve_iceberg::commit::TableOps;
use calve_iceberg::write::{RowLevel, RowLevelCommand, RowLevelOptions};
use calve_planner::{CatalogReader, Change, ChangeKind, ChangedTable, TableEntry, bind};
use calve_sql::{Name, Statement, TableHint};
use calve_types::{Error, Result, Span};

use crate::jobs::{committed_before, earlier_summary};
use crate::query::Query;
use crate::resolve::{IcebergHandle, ProviderHandle, Resolved, downcast, full_path};
use crate::result::{StatementKind, StatementResult, Warning};
use crate::session::Session;

/// The code of what can be tried again on a newer snapshot.
const CONFLICT: &str = "commit-conflict";

/// Options of a hint that choose what is read: rows change where they are now.
const READS: [&str; 8] = [
    "snapshot-id",
    "as-of-timestamp",
    "as-of-job-id",
    "tag",
    "start-snapshot-id",
    "end-snapshot-id",
    "start-tag",
    "end-tag",
];

/// A bound statement and what it is written with.
pub(crate) struct Bound {
    pub change: Change,
    level: RowLevel,
    home: Arc<dyn TableOps>,
    warnings: Vec<Warning>,
}

/// The table that a statement changes.
struct Target<'s> {
    kind: ChangeKind,
    name: &'s Name,
    hint: Option<&'s TableHint>,
    span: Span,
}

fn target(statement: &Statement) -> Result<Target<'_>> {
    let (kind, name, hint, span) = match statement {
        Statement::Delete(s) => (ChangeKind::Delete, &s.table, s.hint.as_ref(), s.span),
        Statement::Update(s) => (ChangeKind::Update, &s.table, s.hint.as_ref(), s.span),
        Statement::Merge(s) => (ChangeKind::Merge, &s.table, s.hint.as_ref(), s.span),
        _ => return Err(Error::internal("a statement that changes no rows")),
    };
    Ok(Target { kind, name, hint, span })
}

impl Session {
    /// Runs a DELETE, UPDATE or MERGE.
    ///
    /// # Errors
    /// What is wrong with the statement; `merge-cardinality`; `commit-unknown` if nobody knows whether it is in. With any
    /// other code the table is as before.
    pub(crate) async fn change(&self, statement: &Statement) -> Result<StatementResult> {
        let job = self.begin_job_of_text()?;
        let mut tries = 0_u32;
        loop {
            let bound = self.bind_change(statement).await?;
            if self.dry {
                self.runner()?.check(&Query::of_rows(&bound.change.rows, 1))?;
                return Ok(StatementResult::unrun(StatementKind::Insert, bound.warnings));
            }
            let (warnings, retries) = (bound.warnings.clone(), retries(&bound));
            let info = job.info()?;
            let (table, path) = (bound.level.table(), &bound.change.table.path);
            if let Some(snapshot) = committed_before(table, bound.level.branch(), info, path)? {
                return Ok(self.written(&job, vec![earlier_summary(path, &snapshot)], warnings));
            }
            match job::run(&self.runner()?, bound, info, job.is_given, self.commits()).await {
                Err(error) if error.code == CONFLICT && tries < retries => {
                    tries += 1;
                    // those that came first get a moment to come to an end
                    let pause = Duration::from_millis(u64::from(tries.min(20)) * 10);
                    tokio::time::sleep(pause).await;
                }
                Err(error) => return Err(error),
                Ok(summary) => return Ok(self.written(&job, vec![summary], warnings)),
            }
        }
    }

    /// Binds a DELETE, UPDATE or MERGE of an Iceberg table and checks all that needs no row.
    ///
    /// # Errors
    /// The refusals of other tables; what is wrong with the statement, with its place.
    pub(crate) async fn bind_change(&self, statement: &Statement) -> Result<Bound> {
        let target = target(statement)?;
        let resolved = self.resolve(statement).await?;
        let hints = target.hint.map(|hint| hint.options.as_slice()).unwrap_or_default();
        let entry = match full_path(&self.catalogs, &target.name.parts) {
            Some(path) => resolved.table(&path, hints).map_err(|e| e.at(target.name.span))?,
            None => None,
        };
        let of_iceberg = entry.as_ref().and_then(|entry| Some((entry, iceberg_handle(entry)?)));
        let Some((entry, handle)) = of_iceberg else { return Err(self.refusal(statement).await) };
        if let (Some(hint), Some(key)) = (target.hint, READS.iter().find(|key| handle.hints.contains_key(**key))) {
            return Err(Error::new(
                "invalid-hint",
                format!("option '{key}' is for reads: rows change as they are now"),
            )
            .with_hint("use 'branch' to change the rows of a branch")
            .at(hint.span));
        }
        let level = self.prepare(handle, target.kind).map_err(|e| e.at(target.name.span))?;
        let table = ChangedTable {
            entry: entry.clone(),
            rows: Arc::new(rows_entry(entry, &level).map_err(|e| e.at(target.name.span))?),
            lineage: level.has_lineage(),
        };
        let change = match statement {
            Statement::Delete(delete) => bind::delete(delete, &table, &resolved)?,
            Statement::Update(update) => bind::update(update, &table, &resolved)?,
            Statement::Merge(merge) => bind::merge(merge, &table, &resolved)?,
            _ => return Err(Error::internal("a statement that changes no rows")),
        };
        let warnings = self.change_warnings(statement, &target, &resolved);
        Ok(Bound { change, level, home: handle.home.clone(), warnings })
    }

    fn prepare(&self, handle: &IcebergHandle, kind: ChangeKind) -> Result<RowLevel> {
        let command = match kind {
            ChangeKind::Delete => RowLevelCommand::Delete,
            ChangeKind::Update => RowLevelCommand::Update,
            ChangeKind::Merge => RowLevelCommand::Merge,
        };
        let options = RowLevelOptions::resolve(&handle.table, command, &handle.hints, self.options.all())?;
        calve_iceberg::commit::check(&handle.table)?;
        RowLevel::prepare(&handle.table, options)
    }

    fn change_warnings(&self, statement: &Statement, target: &Target<'_>, resolved: &Resolved<'_>) -> Vec<Warning> {
        let message = format!("not portable to Flink: {} on an Iceberg table", target.kind.name());
        let mut warnings = vec![Warning::new("not-portable", message).at(target.span)];
        warnings.extend(resolved.warnings(statement));
        warnings.extend(resolved.table_warnings());
        warnings
    }
}

/// The handle of an Iceberg table. One of the connector `iceberg` has columns of its own: it is refused, as in Flink.
fn iceberg_handle(entry: &TableEntry) -> Option<&IcebergHandle> {
    downcast::<IcebergHandle>(&entry.handle).filter(|handle| handle.declared.is_none())
}

/// How often the statement may run again: the table's `commit.retry.num-retries`.
fn retries(bound: &Bound) -> u32 {
    let property = bound.level.table().property("commit.retry.num-retries");
    // a wrong value is refused by the commit
    property.and_then(|value| value.trim().parse().ok()).unwrap_or(4)
}

/// The entry that reads the rows with their places.
fn rows_entry(entry: &TableEntry, level: &RowLevel) -> Result<TableEntry> {
    Ok(TableEntry {
        path: entry.path.clone(),
        columns: entry.columns.clone(),
        primary_key: entry.primary_key.clone(),
        watermark: None,
        partition_keys: entry.partition_keys.clone(),
        options: entry.options.clone(),
        writable: false,
        view: None,
        handle: Arc::new(ProviderHandle(level.provider()?)),
    })
}
