//! Commits to a REST catalog: of one table, or of several at once.

use std::sync::Arc;

use calve_types::{Error, Result};
use iceberg::spec::{PartitionField, PartitionSpec, TableMetadata};
use iceberg::{TableIdent, TableRequirement, TableUpdate};

use super::RestCatalog;
use super::client::{Call, has_status};
use super::failure::{Failure, Kind};
use super::messages::{CommitTable, CommitTransaction, Identifier, Loaded};
use super::server::endpoint;
use crate::catalog::metadata::{apply, check_requirements};
use crate::commit::{CommitError, TableChange};
use crate::table::Table;

impl RestCatalog {
    /// Replaces `base` by `base` + `updates`. The server compares what the updates rest on, not whether `base` is the
    /// newest version: that is asked for as `requirements` and those that the updates imply.
    ///
    /// # Errors
    /// See [`CommitError`]. 409 is a conflict; 500, 502, 504, a lost connection and an answer that cannot be read leave the
    /// outcome unknown; all else changed nothing.
    pub(super) async fn commit_one(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        check_requirements(base, &requirements)?;
        let server = self.server().await.map_err(CommitError::Rejected)?;
        let ident = base.ident();
        let what = || format!("commit to table '{ident}'");
        server.needs(endpoint::COMMIT_TABLE, "committing to tables").map_err(CommitError::Rejected)?;
        let path = server.table_path(ident).map_err(CommitError::Rejected)?;
        let snapshot = added_snapshot(&updates);
        let requirements = completed(base.metadata(), requirements, &updates);
        let updates = numbered(base, updates)?;
        let request = CommitTable { identifier: None, requirements, updates };
        let call = Call::post(path, &request).map_err(CommitError::Rejected)?.with_token(self.token_of(ident));
        let failure = match server.client.send(&call).await {
            Ok(body) => return committed(base, &body, snapshot, what),
            Err(failure) => failure,
        };
        match failure.kind {
            Kind::Conflict => self.conflict(base, snapshot).await,
            Kind::Unsure => Err(CommitError::Unknown(failure.error(what()))),
            Kind::NotFound => Err(CommitError::Rejected(self.gone(ident, failure))),
            Kind::Refused if has_status(&failure, &[400, 422]) => Err(self.refused(base, failure.error(what())).await),
            _ => Err(CommitError::Rejected(failure.error(what()))),
        }
    }

    /// The server knows no such table; its words are the detail.
    fn gone(&self, ident: &TableIdent, failure: Failure) -> Error {
        let error = self.settings.unknown_table(ident);
        match failure.error("commit").detail {
            Some(detail) => error.with_detail(detail),
            None => error,
        }
    }

    /// The server says that another commit came first. A proxy that sent the request twice makes a commit fail because of
    /// itself: it is looked for before anybody takes it for one that did not happen.
    async fn conflict(&self, base: &Table, snapshot: Option<i64>) -> Result<Table, CommitError> {
        let Some(snapshot) = snapshot else { return Err(CommitError::Conflict) };
        match self.load(base.ident()).await {
            Ok(Some(newest)) if newest.metadata().snapshot_by_id(snapshot).is_some() => Ok(newest),
            Ok(_) => Err(CommitError::Conflict),
            Err(error) => Err(CommitError::Unknown(error)),
        }
    }

    /// A refusal may be because of a commit that came first: sequence numbers and row ids of a snapshot are refused by some
    /// servers as if they were wrong in themselves.
    async fn refused(&self, base: &Table, error: Error) -> CommitError {
        match self.load(base.ident()).await {
            Ok(Some(newest)) if newest.metadata_location() != base.metadata_location() => CommitError::Conflict,
            _ => CommitError::Rejected(error),
        }
    }

    /// As [`RestCatalog::commit_one`] for several tables, all or none, if the server offers it.
    ///
    /// # Errors
    /// As [`RestCatalog::commit_one`].
    pub(super) async fn commit_many(&self, changes: Vec<TableChange>) -> Result<Option<Vec<Table>>, CommitError> {
        let server = self.server().await.map_err(CommitError::Rejected)?;
        if !server.offers(endpoint::COMMIT_TRANSACTION) {
            return Ok(None);
        }
        if changes.is_empty() {
            return Ok(Some(vec![]));
        }
        let names: Vec<String> = changes.iter().map(|change| format!("'{}'", change.base.ident())).collect();
        let what = format!("commit to tables {}", names.join(", "));
        let (mut bases, mut table_changes) = (vec![], vec![]);
        for TableChange { base, requirements, updates } in changes {
            check_requirements(&base, &requirements)?;
            let requirements = completed(base.metadata(), requirements, &updates);
            bases.push((base.clone(), added_snapshot(&updates)));
            let updates = numbered(&base, updates)?;
            let identifier = Some(Identifier::of(base.ident()));
            table_changes.push(CommitTable { identifier, requirements, updates });
        }
        let call = Call::post(server.path("transactions/commit"), &CommitTransaction { table_changes });
        let failure = match server.client.send(&call.map_err(CommitError::Rejected)?).await {
            // the answer is empty
            Ok(_) => return self.newest(&bases).await.map(Some),
            Err(failure) => failure,
        };
        match failure.kind {
            Kind::Conflict => match bases.iter().find_map(|(base, snapshot)| Some((base, (*snapshot)?))) {
                // as for one table
                Some((base, snapshot)) => match self.conflict(base, Some(snapshot)).await {
                    Ok(_) => self.newest(&bases).await.map(Some),
                    Err(error) => Err(error),
                },
                None => Err(CommitError::Conflict),
            },
            Kind::Unsure => Err(CommitError::Unknown(failure.error(what))),
            Kind::Refused if has_status(&failure, &[400, 422]) => {
                let error = failure.error(what);
                for (base, _) in &bases {
                    if let CommitError::Conflict = self.refused(base, error.clone()).await {
                        return Err(CommitError::Conflict);
                    }
                }
                Err(CommitError::Rejected(error))
            }
            _ => Err(CommitError::Rejected(failure.error(what))),
        }
    }

    /// The newest versions of tables that were committed to.
    async fn newest(&self, bases: &[(Table, Option<i64>)]) -> Result<Vec<Table>, CommitError> {
        let mut tables = Vec::with_capacity(bases.len());
        for (base, _) in bases {
            let table = self.load(base.ident()).await.map_err(CommitError::Unknown)?;
            tables.push(table.ok_or_else(|| CommitError::Unknown(self.settings.unknown_table(base.ident())))?);
        }
        Ok(tables)
    }
}

/// The version that the answer to a commit shows. It says nothing of storage: that is as it was.
///
/// # Errors
/// [`CommitError::Unknown`] if it cannot be read, or does not show the snapshot that was added.
pub(super) fn committed(
    base: &Table,
    answer: &[u8],
    snapshot: Option<i64>,
    what: impl Fn() -> String,
) -> Result<Table, CommitError> {
    let Loaded { location, metadata, .. } = Loaded::parse(answer, &what).map_err(CommitError::Unknown)?;
    if snapshot.is_some_and(|id| metadata.snapshot_by_id(id).is_none()) {
        let error = Error::new("io", format!("cannot {}: the answer does not show it", what()));
        return Err(CommitError::Unknown(error));
    }
    Ok(Table::new(base.ident().clone(), Arc::new(metadata), location, base.io().clone(), base.cache().clone()))
}

/// The snapshot that updates add.
pub(super) fn added_snapshot(updates: &[TableUpdate]) -> Option<i64> {
    updates.iter().find_map(|update| match update {
        TableUpdate::AddSnapshot { snapshot } => Some(snapshot.snapshot_id()),
        _ => None,
    })
}

/// The updates, with all ids of the partition specs that they add: Java's servers want that of the spec, and those of all
/// fields or of none (`PartitionSpecParser`).
fn numbered(base: &Table, mut updates: Vec<TableUpdate>) -> Result<Vec<TableUpdate>, CommitError> {
    if !updates.iter().any(|update| matches!(update, TableUpdate::AddSpec { .. })) {
        return Ok(updates);
    }
    let built = apply(base, updates.clone()).map_err(CommitError::Rejected)?.metadata;
    for update in &mut updates {
        let TableUpdate::AddSpec { spec } = update else { continue };
        let same = |other: &PartitionSpec| {
            let key = |field: &PartitionField| (field.source_id, field.name.clone(), field.transform);
            let wanted = spec.fields().iter().map(|field| (field.source_id, field.name.clone(), field.transform));
            other.fields().iter().map(key).eq(wanted)
        };
        let found = built.partition_specs_iter().filter(|other| same(other)).max_by_key(|spec| spec.spec_id());
        if let Some(found) = found.map(|found| found.as_ref().clone().into_unbound()) {
            *spec = found;
        }
    }
    Ok(updates)
}

/// The requirements, with those that the updates rest on (Java's `UpdateRequirements`), and that a branch is where it was
/// that loses its head.
fn completed(
    base: &TableMetadata,
    mut requirements: Vec<TableRequirement>,
    updates: &[TableUpdate],
) -> Vec<TableRequirement> {
    let head = |name: &str| TableRequirement::RefSnapshotIdMatch {
        r#ref: name.to_owned(),
        snapshot_id: base.snapshot_for_ref(name).map(|snapshot| snapshot.snapshot_id()),
    };
    let mut implied = vec![TableRequirement::UuidMatch { uuid: base.uuid() }];
    for update in updates {
        implied.extend(match update {
            TableUpdate::AddSchema { .. } => {
                Some(TableRequirement::LastAssignedFieldIdMatch { last_assigned_field_id: base.last_column_id() })
            }
            TableUpdate::SetCurrentSchema { .. } | TableUpdate::RemoveSchemas { .. } => {
                Some(TableRequirement::CurrentSchemaIdMatch { current_schema_id: base.current_schema_id() })
            }
            TableUpdate::AddSpec { .. } => Some(TableRequirement::LastAssignedPartitionIdMatch {
                last_assigned_partition_id: base.last_partition_id(),
            }),
            TableUpdate::SetDefaultSpec { .. } | TableUpdate::RemovePartitionSpecs { .. } => {
                Some(TableRequirement::DefaultSpecIdMatch { default_spec_id: base.default_partition_spec_id() })
            }
            TableUpdate::SetDefaultSortOrder { .. } => {
                Some(TableRequirement::DefaultSortOrderIdMatch { default_sort_order_id: base.default_sort_order_id() })
            }
            TableUpdate::SetSnapshotRef { ref_name, .. } | TableUpdate::RemoveSnapshotRef { ref_name } => {
                Some(head(ref_name))
            }
            _ => None,
        });
    }
    for requirement in implied {
        // one that is given may say more: what it says of a branch counts
        let same = |other: &TableRequirement| match (other, &requirement) {
            (
                TableRequirement::RefSnapshotIdMatch { r#ref: a, .. },
                TableRequirement::RefSnapshotIdMatch { r#ref: b, .. },
            ) => a == b,
            (other, requirement) => other == requirement,
        };
        if !requirements.iter().any(same) {
            requirements.push(requirement);
        }
    }
    requirements
}
