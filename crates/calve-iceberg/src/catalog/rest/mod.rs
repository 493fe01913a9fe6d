//! The REST catalog (Iceberg's REST catalog specification): a server keeps the tables, and is told what changes.
//!
//! * [`address`], [`client`], [`auth`], [`transport`] and [`failure`] send requests and tell what a failed one has done:
//!   nothing, or nobody knows. They know nothing of tables.
//! * [`server`] is what `GET /v1/config` says; [`messages`] are the bodies of requests and answers.
//! * [`namespaces`], [`tables`], [`stage`] and [`commit`] are the catalog's operations. What nobody knows the outcome of is
//!   settled by looking, as far as that can be.
//! * [`credentials`] are those that the server gives for a table's files.

mod address;
mod auth;
mod client;
mod commit;
mod credentials;
mod failure;
mod messages;
mod namespaces;
mod overridden;
mod server;
mod stage;
mod tables;
mod transport;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use calve_types::{Error, Result};
use iceberg::spec::TableMetadata;
use iceberg::{TableIdent, TableRequirement, TableUpdate};
use tokio::sync::OnceCell;

use self::address::Address;
use self::client::Client;
use self::credentials::TableStorage;
use self::server::Server;
use super::create::new_metadata;
use super::names::check_table;
use super::settings::Settings;
use super::{Catalog, Staged, TableCreation};
use crate::commit::{CommitError, TableChange, TableOps};
use crate::table::{ManifestCache, Table};

/// A catalog behind Iceberg's REST interface.
pub struct RestCatalog {
    settings: Settings,
    address: Address,
    options: BTreeMap<String, String>,
    /// Connected when it is first needed.
    server: OnceCell<Arc<Server>>,
    storage: TableStorage,
    /// The tokens that came with tables, for requests about them.
    tokens: Mutex<HashMap<TableIdent, String>>,
    manifests: ManifestCache,
}

impl RestCatalog {
    /// A catalog from the options of CREATE CATALOG. Nothing is contacted.
    ///
    /// # Errors
    /// `invalid-option`, `missing-option` for options that are missing or wrong; `not-supported` for a kind of
    /// authentication or storage that is not run.
    pub(super) fn open(settings: Settings, options: &BTreeMap<String, String>) -> Result<Self> {
        let name = &settings.name;
        let uri = options.get("uri").map(|uri| uri.trim()).filter(|uri| !uri.is_empty());
        let uri = uri.ok_or_else(|| {
            Error::new("invalid-option", format!("option 'uri' of catalog '{name}' is missing"))
                .with_hint("set 'uri' to the address of the REST catalog before '/v1', such as 'http://localhost:8181'")
        })?;
        let address = Address::parse(uri, name)?;
        // what is wrong with the options is said now
        Client::new(address.clone(), options)?;
        Ok(Self {
            settings,
            address,
            options: options.clone(),
            server: OnceCell::new(),
            storage: TableStorage::default(),
            tokens: Mutex::default(),
            manifests: ManifestCache::default(),
        })
    }

    /// The server, connected.
    ///
    /// # Errors
    /// What it answers; the next call tries again.
    async fn server(&self) -> Result<&Arc<Server>> {
        let connect =
            || async { Server::connect(&self.settings.name, self.address.clone(), &self.options).await.map(Arc::new) };
        self.server.get_or_try_init(connect).await
    }

    /// The token for requests about a table, if it came with one.
    fn token_of(&self, ident: &TableIdent) -> Option<String> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).get(ident).cloned()
    }

    fn keep_token(&self, ident: &TableIdent, token: Option<String>) {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        match token {
            Some(token) => tokens.insert(ident.clone(), token),
            None => tokens.remove(ident),
        };
    }

    /// Forgets what is known of a table that is gone.
    fn forget(&self, ident: &TableIdent) {
        self.keep_token(ident, None);
        self.storage.forget(ident);
    }
}

impl fmt::Debug for RestCatalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // the options hold secrets
        let Self { settings, address, .. } = self;
        f.debug_struct("RestCatalog").field("settings", settings).field("address", address).finish_non_exhaustive()
    }
}

#[async_trait]
impl TableOps for RestCatalog {
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        self.load(ident).await?.ok_or_else(|| self.settings.unknown_table(ident))
    }

    async fn commit(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        self.commit_one(base, requirements, updates).await
    }

    async fn commit_all(&self, changes: Vec<TableChange>) -> Result<Option<Vec<Table>>, CommitError> {
        self.commit_many(changes).await
    }
}

#[async_trait]
impl Catalog for RestCatalog {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn take_left(&self) -> Vec<String> {
        self.server.get().map(|server| server.io.take_left()).unwrap_or_default()
    }

    fn take_notices(&self) -> Vec<String> {
        self.server.get().map(|server| server.overridden.take()).unwrap_or_default()
    }

    async fn connect(&self) -> Result<()> {
        self.server().await.map(drop)
    }

    async fn list_namespaces(&self, parent: &[String]) -> Result<Vec<Vec<String>>> {
        self.namespaces_below(parent).await
    }

    async fn namespace_exists(&self, namespace: &[String]) -> Result<bool> {
        self.has_namespace(namespace).await
    }

    async fn create_namespace(&self, namespace: &[String], properties: BTreeMap<String, String>) -> Result<()> {
        self.make_namespace(namespace, &properties).await
    }

    fn check_namespace_properties(&self, _namespace: &[String]) -> Result<()> {
        Ok(())
    }

    async fn set_namespace_properties(&self, namespace: &[String], properties: BTreeMap<String, String>) -> Result<()> {
        self.update_namespace(namespace, &properties).await
    }

    async fn drop_namespace(&self, namespace: &[String]) -> Result<()> {
        self.remove_namespace(namespace).await
    }

    async fn list_tables(&self, namespace: &[String]) -> Result<Vec<String>> {
        self.tables_of(namespace).await
    }

    async fn table_exists(&self, ident: &TableIdent) -> Result<bool> {
        self.has_table(ident).await
    }

    async fn load_table(&self, ident: &TableIdent) -> Result<Option<Table>> {
        self.load(ident).await
    }

    fn draft(&self, ident: &TableIdent, creation: &TableCreation) -> Result<TableMetadata> {
        check_table(ident)?;
        // where it will be is for the server to say
        let levels = ident.namespace().iter().map(String::as_str).chain([ident.name()]);
        let place = creation.location().map(str::to_owned);
        let place = place.unwrap_or_else(|| levels.fold(String::new(), |place, level| format!("{place}/{level}")));
        // what the server says of new tables is known once it is connected
        let properties = self.server.get().map_or(&self.options, |server| &server.properties);
        new_metadata(&creation.in_catalog(properties), &place)
    }

    fn needs_database(&self) -> bool {
        true
    }

    async fn create_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Table> {
        self.create(ident, &creation).await
    }

    async fn stage_table(&self, ident: &TableIdent, creation: TableCreation) -> Result<Staged> {
        self.stage(ident, &creation).await
    }

    async fn create_staged(&self, staged: &Table, updates: Vec<TableUpdate>) -> Result<Table, CommitError> {
        self.create_with(staged, updates).await
    }

    async fn rename_table(&self, ident: &TableIdent, name: &str) -> Result<()> {
        self.rename(ident, name).await
    }

    async fn drop_table(&self, ident: &TableIdent, purge: bool) -> Result<bool> {
        self.remove(ident, purge).await
    }
}

#[cfg(test)]
mod tests;
