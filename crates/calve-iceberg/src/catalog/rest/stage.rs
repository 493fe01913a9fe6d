//! Tables that are created with their first rows: the server stages them (`stage-create`), and their first commit asks that
//! they are not there yet (`assert-create`).
//!
//! A server that knows nothing of it creates the table at once, or refuses; then it is created in the usual way.

use calve_types::Result;
use iceberg::{TableIdent, TableRequirement, TableUpdate};

use super::RestCatalog;
use super::client::{Call, has_status};
use super::commit::{added_snapshot, committed};
use super::failure::{Failure, Kind};
use super::messages::{CommitTable, Loaded};
use super::namespaces::{Lost, unsettled};
use super::server::endpoint;
use super::tables::{is_made_of, is_new};
use crate::catalog::{Catalog, Staged, TableCreation};
use crate::commit::CommitError;
use crate::table::Table;

impl RestCatalog {
    /// Begins a table, or creates it where the server cannot do that.
    ///
    /// # Errors
    /// As [`RestCatalog::create`].
    pub(super) async fn stage(&self, ident: &TableIdent, creation: &TableCreation) -> Result<Staged> {
        let server = self.server().await?;
        let draft = self.draft(ident, creation)?;
        let what = || format!("create table '{ident}'");
        server.needs(endpoint::CREATE_TABLE, "creating tables")?;
        let path = server.tables_path(ident.namespace())?;
        let request = Self::new_table(ident, creation, &draft, true);
        let call = Call::post(path, &request)?.with_header(server.delegation());
        let exists = || self.settings.table_exists(ident.namespace(), ident.name());
        let mut lost = Lost::default();
        loop {
            let failure = match server.client.send(&call).await {
                Ok(body) => match Loaded::parse(&body, what) {
                    // some servers answer with the table that is there
                    Ok(loaded) if !is_new(&loaded.metadata, &draft) => return Err(exists()),
                    // only what is there has a metadata file, but there are servers that name one which is not written
                    Ok(loaded) => {
                        let made = if loaded.location.is_empty() { None } else { self.load(ident).await? };
                        return match made {
                            None => {
                                let staged = Loaded { location: String::new(), ..loaded };
                                self.table(server, ident, staged).map(Staged::Ready)
                            }
                            Some(table) if table.metadata().uuid() == loaded.metadata.uuid() => {
                                Ok(Staged::Created(table))
                            }
                            // somebody else's, made since
                            Some(_) => Err(exists()),
                        };
                    }
                    Err(_) => {
                        Failure::unusable(&server.client.address.to_string(), "it is not the metadata of a table")
                    }
                },
                Err(failure) => failure,
            };
            return match failure.kind {
                Kind::Conflict if !lost.any() => Err(exists()),
                Kind::NotFound => Err(self.settings.unknown_database(ident.namespace())),
                // nothing is there; whether that is because of `stage-create` shows without it
                Kind::Refused if has_status(&failure, &[400, 405, 406, 422, 501]) => {
                    self.create(ident, creation).await.map(Staged::Created)
                }
                // a server that stages has nothing to show
                Kind::Conflict | Kind::Unsure => match self.load(ident).await {
                    Ok(Some(table)) if is_made_of(table.metadata(), &draft) => Ok(Staged::Created(table)),
                    Ok(Some(_)) => Err(exists()),
                    Ok(None) if lost.again().await => continue,
                    Ok(None) => Err(failure.error(what())),
                    Err(_) => Err(unsettled(failure, &what())),
                },
                _ => Err(failure.error(what())),
            };
        }
    }

    /// Creates a table that was staged, with what else its first version has.
    ///
    /// # Errors
    /// See [`CommitError`]; [`CommitError::Conflict`] if a table of its name is there.
    pub(super) async fn create_with(&self, staged: &Table, updates: Vec<TableUpdate>) -> Result<Table, CommitError> {
        let reject = CommitError::Rejected;
        let server = self.server().await.map_err(reject)?;
        let ident = staged.ident();
        let what = || format!("create table '{ident}'");
        server.needs(endpoint::COMMIT_TABLE, "committing to tables").map_err(reject)?;
        let snapshot = added_snapshot(&updates);
        let updates = first_version(staged).into_iter().chain(updates).collect();
        let request = CommitTable { identifier: None, requirements: vec![TableRequirement::NotExist], updates };
        let path = server.table_path(ident).map_err(reject)?;
        let call = Call::post(path, &request).map_err(reject)?.with_token(self.token_of(ident));
        let failure = match server.client.send(&call).await {
            Ok(body) => return committed(staged, &body, snapshot, what),
            Err(failure) => failure,
        };
        match failure.kind {
            Kind::Conflict => self.taken(staged, snapshot).await,
            Kind::Unsure => Err(CommitError::Unknown(failure.error(what()))),
            Kind::NotFound => Err(reject(self.settings.unknown_database(ident.namespace()))),
            _ => Err(reject(failure.error(what()))),
        }
    }

    /// The server says that a table of the name is there. It may be this one: a proxy that sent the request twice makes it
    /// fail because of itself.
    async fn taken(&self, staged: &Table, snapshot: Option<i64>) -> Result<Table, CommitError> {
        match self.load(staged.ident()).await {
            Ok(Some(found)) if found.metadata().uuid() == staged.metadata().uuid() => {
                let metadata = found.metadata();
                match snapshot.is_none_or(|id| metadata.snapshot_by_id(id).is_some()) {
                    true => Ok(found),
                    false => Err(CommitError::Conflict),
                }
            }
            Ok(_) => Err(CommitError::Conflict),
            Err(error) => Err(CommitError::Unknown(error)),
        }
    }
}

/// What makes the first version of a table out of nothing (Java's `RESTSessionCatalog.createChanges`).
fn first_version(staged: &Table) -> Vec<TableUpdate> {
    let metadata = staged.metadata();
    let mut updates = vec![
        TableUpdate::AssignUuid { uuid: metadata.uuid() },
        TableUpdate::UpgradeFormatVersion { format_version: metadata.format_version() },
        TableUpdate::AddSchema { schema: metadata.current_schema().as_ref().clone() },
        TableUpdate::SetCurrentSchema { schema_id: -1 },
        TableUpdate::AddSpec { spec: metadata.default_partition_spec().as_ref().clone().into_unbound() },
        TableUpdate::SetDefaultSpec { spec_id: -1 },
        TableUpdate::AddSortOrder { sort_order: metadata.default_sort_order().as_ref().clone() },
        TableUpdate::SetDefaultSortOrder { sort_order_id: -1 },
        TableUpdate::SetLocation { location: metadata.location().to_owned() },
    ];
    if !metadata.properties().is_empty() {
        updates.push(TableUpdate::SetProperties { updates: metadata.properties().clone() });
    }
    updates
}
