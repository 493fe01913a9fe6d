//! Commits of metadata alone: schemas, partition specs, properties, branches.

use std::time::Instant;

use calve_types::{Error, Result};
use iceberg::spec::TableMetadata;
use iceberg::{TableRequirement, TableUpdate};

use super::attempt::{reload, too_many_conflicts};
use super::retry::Retry;
use super::{CommitError, TableOps};
use crate::catalog::apply;
use crate::table::Table;

/// Applies the updates that `propose` makes for the newest version of a table: when another commit came first, it is
/// asked again for the version of that one. Without updates nothing is committed. The version with the change.
///
/// Not to be cancelled: a future dropped here leaves the outcome unknown.
///
/// # Errors
/// What `propose` answers. `commit-unknown`: the change may be in. `commit-conflict` and others: it is not.
pub(crate) async fn change<F>(ops: &dyn TableOps, table: &Table, propose: F) -> Result<Table>
where
    F: Fn(&Table) -> Result<Vec<TableUpdate>> + Send + Sync,
{
    // a wrong property must not keep anybody from setting it right
    let retry = Retry::of(table).unwrap_or(Retry::COMMITS);
    let checks = Retry::of_checks(table).unwrap_or(Retry::CHECKS);
    let started = Instant::now();
    let mut tries = 0;
    // a try that nobody knows the outcome of, with what it would have made
    let mut doubt: Option<Doubt> = None;
    let error = loop {
        let base = match reload(ops, table, doubt.is_some().then_some(&checks)).await {
            Ok(base) => base,
            Err(error) => break error,
        };
        match doubt.as_ref().map(|doubt| doubt.verdict(&base)) {
            Some(Verdict::In) => return Ok(base),
            Some(Verdict::Unknown) => break Error::new("commit-conflict", "others changed the table meanwhile"),
            // the version it would have replaced is still the newest: trying again replaces that one at most once
            Some(Verdict::Out) | None => {}
        }
        let updates = match propose(&base) {
            Ok(updates) if updates.is_empty() => return Ok(base),
            Ok(updates) => updates,
            Err(error) => break error,
        };
        // what the catalog will make of it; what cannot be applied is refused before anything is sent
        let expected = match apply(&base, updates.clone()) {
            Ok(built) => built.metadata,
            Err(error) => break error,
        };
        tries += 1;
        match ops.commit(&base, requirements(base.metadata(), &updates), updates).await {
            Ok(table) => return Ok(table),
            Err(CommitError::Conflict) => {}
            Err(CommitError::Unknown(error)) => {
                doubt = Some(Doubt { error, base: base.metadata_location().to_owned(), expected });
            }
            Err(CommitError::Rejected(error)) => break error,
        }
        match retry.wait(tries, started) {
            Some(wait) => tokio::time::sleep(wait).await,
            None => break too_many_conflicts(&format!("table '{}'", table.ident()), tries),
        }
    };
    let Some(doubt) = doubt else { return Err(error) };
    let name = table.ident();
    Err(Error::new("commit-unknown", format!("nobody knows whether table '{name}' was changed: {}", doubt.error))
        .with_detail(format!("What came last: {error}."))
        .with_hint("look at the table before running the statement again"))
}

/// A try that nobody knows the outcome of.
struct Doubt {
    error: Error,
    /// The metadata file of the version it was to replace.
    base: String,
    /// What it would have made.
    expected: TableMetadata,
}

enum Verdict {
    In,
    Out,
    Unknown,
}

impl Doubt {
    /// What the newest version says of it.
    fn verdict(&self, newest: &Table) -> Verdict {
        if newest.metadata_location() == self.base {
            return Verdict::Out;
        }
        let metadata = newest.metadata();
        let replaced = metadata.metadata_log().last().map(|entry| entry.metadata_file.as_str());
        if replaced == Some(self.base.as_str()) && same_table(metadata, &self.expected) {
            return Verdict::In;
        }
        Verdict::Unknown
    }
}

/// Whether two versions say the same of a table, whoever wrote them.
fn same_table(a: &TableMetadata, b: &TableMetadata) -> bool {
    a.format_version() == b.format_version()
        && a.location() == b.location()
        && a.properties() == b.properties()
        && a.current_schema() == b.current_schema()
        && a.default_partition_spec() == b.default_partition_spec()
        && a.current_snapshot_id() == b.current_snapshot_id()
        && a.last_column_id() == b.last_column_id()
        && a.last_partition_id() == b.last_partition_id()
        && a.default_sort_order().fields == b.default_sort_order().fields
        && refs(a) == refs(b)
}

/// Branches and tags, which the metadata library shows only in JSON.
fn refs(metadata: &TableMetadata) -> Option<serde_json::Value> {
    serde_json::to_value(metadata).ok()?.get("refs").cloned()
}

/// What must hold for updates to mean what they were made for (Java's `UpdateRequirements`).
fn requirements(base: &TableMetadata, updates: &[TableUpdate]) -> Vec<TableRequirement> {
    let mut requirements = vec![TableRequirement::UuidMatch { uuid: base.uuid() }];
    for update in updates {
        requirements.extend(match update {
            TableUpdate::AddSchema { .. } => {
                Some(TableRequirement::LastAssignedFieldIdMatch { last_assigned_field_id: base.last_column_id() })
            }
            TableUpdate::SetCurrentSchema { .. } => {
                Some(TableRequirement::CurrentSchemaIdMatch { current_schema_id: base.current_schema_id() })
            }
            TableUpdate::AddSpec { .. } => Some(TableRequirement::LastAssignedPartitionIdMatch {
                last_assigned_partition_id: base.last_partition_id(),
            }),
            TableUpdate::SetDefaultSpec { .. } => {
                Some(TableRequirement::DefaultSpecIdMatch { default_spec_id: base.default_partition_spec_id() })
            }
            TableUpdate::SetDefaultSortOrder { .. } => {
                Some(TableRequirement::DefaultSortOrderIdMatch { default_sort_order_id: base.default_sort_order_id() })
            }
            TableUpdate::SetSnapshotRef { ref_name, .. } => Some(TableRequirement::RefSnapshotIdMatch {
                r#ref: ref_name.clone(),
                snapshot_id: base.snapshot_for_ref(ref_name).map(|s| s.snapshot_id()),
            }),
            _ => None,
        });
    }
    requirements
}
