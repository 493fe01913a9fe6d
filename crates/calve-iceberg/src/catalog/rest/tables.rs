//! Tables of a REST catalog, but for commits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use calve_types::Result;
use iceberg::TableIdent;
use iceberg::spec::{SortOrder, TableMetadata};
use reqwest::Method;

use super::RestCatalog;
use super::client::{Call, has_status};
use super::failure::{Failure, Kind};
use super::messages::{CreateTable, Identifier, Loaded, RenameTable, Tables};
use super::namespaces::{Lost, unsettled};
use super::server::{Server, endpoint};
use crate::catalog::metadata::check_readable;
use crate::catalog::names::{check_namespace, check_table};
use crate::catalog::pages::Pages;
use crate::catalog::{Catalog, TableCreation};
use crate::table::Table;

impl RestCatalog {
    /// The names of the tables of a namespace, sorted.
    ///
    /// # Errors
    /// `unknown-database`, what the server answers.
    pub(super) async fn tables_of(&self, namespace: &[String]) -> Result<Vec<String>> {
        check_namespace(namespace)?;
        let server = self.server().await?;
        if namespace.is_empty() || !server.offers(endpoint::LIST_TABLES) {
            return Ok(vec![]);
        }
        let (mut found, mut pages, mut token) = (BTreeSet::new(), Pages::new(), None);
        loop {
            let call = server.page(server.tables_path(namespace)?, token);
            let answer: Tables = match server.client.ask(&call).await {
                Ok(answer) => answer,
                Err(failure) if failure.kind == Kind::NotFound => {
                    return Err(self.settings.unknown_database(namespace));
                }
                Err(failure) => {
                    let database = self.settings.database(namespace);
                    return Err(failure.error(format!("list the tables of database '{database}'")));
                }
            };
            found.extend(answer.identifiers.into_iter().map(|ident| ident.name));
            token = pages.next(answer.next_page_token)?;
            if token.is_none() {
                return Ok(found.into_iter().collect());
            }
        }
    }

    /// Whether a table exists.
    ///
    /// # Errors
    /// `invalid-name`, what the server answers.
    pub(super) async fn has_table(&self, ident: &TableIdent) -> Result<bool> {
        check_table(ident)?;
        let server = self.server().await?;
        if server.offers(endpoint::TABLE_EXISTS) {
            match server.client.send(&Call::of(Method::HEAD, server.table_path(ident)?)).await {
                Ok(_) => return Ok(true),
                Err(failure) if failure.kind == Kind::NotFound => return Ok(false),
                // a proxy may know nothing of HEAD
                Err(failure) if has_status(&failure, &[400, 405, 501]) => {}
                Err(failure) => return Err(failure.error(format!("look for table '{ident}'"))),
            }
        }
        Ok(self.answer(server, ident).await?.is_some())
    }

    /// What the server says of a table, `None` if there is none.
    async fn answer(&self, server: &Server, ident: &TableIdent) -> Result<Option<Loaded>> {
        let what = || format!("load table '{ident}'");
        let call = Call::get(server.table_path(ident)?).with_header(server.delegation());
        match server.client.send(&call).await {
            Ok(body) => Loaded::parse(&body, what).map(Some),
            Err(failure) if failure.kind == Kind::NotFound => Ok(None),
            Err(failure) => Err(failure.error(what())),
        }
    }

    /// The newest version of a table, `None` if there is none.
    ///
    /// # Errors
    /// `invalid-name`, `invalid-table`, what the server answers.
    pub(super) async fn load(&self, ident: &TableIdent) -> Result<Option<Table>> {
        check_table(ident)?;
        let server = self.server().await?;
        match self.answer(server, ident).await? {
            Some(loaded) => self.table(server, ident, loaded).map(Some),
            None => {
                self.forget(ident);
                Ok(None)
            }
        }
    }

    /// The table of an answer.
    pub(super) fn table(&self, server: &Arc<Server>, ident: &TableIdent, loaded: Loaded) -> Result<Table> {
        check_readable(ident, &loaded.metadata)?;
        let io = self.storage.of(server, ident, &loaded)?;
        self.keep_token(ident, loaded.config.get("token").cloned());
        let Loaded { location, metadata, .. } = loaded;
        Ok(Table::new(ident.clone(), Arc::new(metadata), location, io, self.manifests.clone()))
    }

    /// What asks for a table that is to be as `draft`.
    pub(super) fn new_table<'a>(
        ident: &'a TableIdent,
        creation: &'a TableCreation,
        draft: &'a TableMetadata,
        stage_create: bool,
    ) -> CreateTable<'a> {
        let mut properties: BTreeMap<String, String> =
            draft.properties().iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        // where the interface has no place for it
        properties.insert("format-version".to_owned(), (draft.format_version() as u8).to_string());
        CreateTable {
            name: ident.name(),
            location: creation.location(),
            schema: draft.current_schema(),
            partition_spec: draft.default_partition_spec().as_ref().clone().into_unbound(),
            write_order: SortOrder::unsorted_order(),
            stage_create,
            properties,
        }
    }

    /// Creates a table, at once.
    ///
    /// # Errors
    /// `table-exists`, `unknown-database`; what the server answers; `commit-unknown` if nobody knows.
    pub(super) async fn create(&self, ident: &TableIdent, creation: &TableCreation) -> Result<Table> {
        let server = self.server().await?;
        let draft = self.draft(ident, creation)?;
        let what = || format!("create table '{ident}'");
        server.needs(endpoint::CREATE_TABLE, "creating tables")?;
        let request = Self::new_table(ident, creation, &draft, false);
        let path = server.tables_path(ident.namespace())?;
        let call = Call::post(path, &request)?.with_header(server.delegation());
        let exists = || self.settings.table_exists(ident.namespace(), ident.name());
        let mut lost = Lost::default();
        loop {
            let failure = match server.client.send(&call).await {
                Ok(body) => match Loaded::parse(&body, what) {
                    // some servers answer with the table that is there
                    Ok(loaded) if !is_new(&loaded.metadata, &draft) => return Err(exists()),
                    Ok(loaded) => return self.table(server, ident, loaded),
                    // it is there
                    Err(_) => {
                        Failure::unusable(&server.client.address.to_string(), "it is not the metadata of a table")
                    }
                },
                Err(failure) => failure,
            };
            return match failure.kind {
                Kind::Conflict if !lost.any() => Err(exists()),
                Kind::NotFound => Err(self.settings.unknown_database(ident.namespace())),
                Kind::Conflict | Kind::Unsure => match self.load(ident).await {
                    // asked for a moment ago, with all that was asked for, and nobody wrote to it
                    Ok(Some(table)) if is_made_of(table.metadata(), &draft) => Ok(table),
                    Ok(Some(_)) => Err(exists()),
                    Ok(None) if lost.again().await => continue,
                    Ok(None) => Err(failure.error(what())),
                    Err(_) => Err(unsettled(failure, &what())),
                },
                _ => Err(failure.error(what())),
            };
        }
    }

    /// Gives a table another name in its namespace.
    ///
    /// # Errors
    /// `unknown-table`, `table-exists`; what the server answers; `commit-unknown` if nobody knows.
    pub(super) async fn rename(&self, ident: &TableIdent, name: &str) -> Result<()> {
        check_table(ident)?;
        let renamed = TableIdent::new(ident.namespace().clone(), name.to_owned());
        check_table(&renamed)?;
        let server = self.server().await?;
        server.needs(endpoint::RENAME_TABLE, "renaming tables")?;
        let unknown = || self.settings.unknown_table(ident);
        let old = self.answer(server, ident).await?.ok_or_else(unknown)?;
        let request = RenameTable { source: Identifier::of(ident), destination: Identifier::of(&renamed) };
        let call = Call::post(server.path("tables/rename"), &request)?;
        let what = format!("rename table '{ident}' to '{name}'");
        let mut lost = Lost::default();
        loop {
            let failure = match server.client.send(&call).await {
                Ok(_) => {
                    self.forget(ident);
                    return Ok(());
                }
                Err(failure) => failure,
            };
            return match failure.kind {
                Kind::Conflict if !lost.any() => Err(self.settings.table_exists(ident.namespace(), name)),
                Kind::NotFound if !lost.any() => Err(unknown()),
                // the table itself tells
                Kind::Unsure | Kind::Conflict | Kind::NotFound => match self.answer(server, &renamed).await {
                    Ok(Some(new)) if new.metadata.uuid() == old.metadata.uuid() => {
                        self.forget(ident);
                        Ok(())
                    }
                    Ok(Some(_)) => Err(self.settings.table_exists(ident.namespace(), name)),
                    Ok(None) if lost.again().await => continue,
                    Ok(None) => Err(failure.error(what)),
                    Err(_) => Err(unsettled(failure, &what)),
                },
                _ => Err(failure.error(what)),
            };
        }
    }

    /// Drops a table, with its files if `purge`. False if there was none.
    ///
    /// Where the catalog's `cache-enabled` is `false` the files are left, as in Flink: the Java library's `RESTCatalog` asks
    /// the server to purge only behind its cache (`CachingCatalog.dropTable`).
    ///
    /// # Errors
    /// What the server answers; `commit-unknown` if nobody knows.
    pub(super) async fn remove(&self, ident: &TableIdent, purge: bool) -> Result<bool> {
        check_table(ident)?;
        let server = self.server().await?;
        server.needs(endpoint::DROP_TABLE, "dropping tables")?;
        let cached = server.properties.get("cache-enabled").is_none_or(|value| !value.eq_ignore_ascii_case("false"));
        let purge = purge && cached;
        let call = Call::of(Method::DELETE, server.table_path(ident)?).query("purgeRequested", purge.to_string());
        let what = format!("drop table '{ident}'");
        let mut lost = Lost::default();
        let dropped = loop {
            let failure = match server.client.send(&call).await {
                Ok(_) => break true,
                Err(failure) => failure,
            };
            match failure.kind {
                Kind::NotFound => break lost.any(),
                Kind::Unsure => match self.has_table(ident).await {
                    Ok(false) => break true,
                    Ok(true) if lost.again().await => {}
                    Ok(true) => return Err(failure.error(what)),
                    Err(_) => return Err(unsettled(failure, &what)),
                },
                Kind::Refused if purge => {
                    return Err(failure.error(what).with_hint(
                        "where the server does not purge: with 'cache-enabled' = 'false' in the catalog's options the \
                         files of a dropped table are left, as in Flink",
                    ));
                }
                _ => return Err(failure.error(what)),
            }
        };
        self.forget(ident);
        Ok(dropped)
    }
}

/// Whether a table has the columns that were asked for, and no rows.
pub(super) fn is_new(metadata: &TableMetadata, draft: &TableMetadata) -> bool {
    let columns = |metadata: &TableMetadata| {
        let fields = metadata.current_schema().as_struct().fields().iter();
        fields.map(|field| (field.name.clone(), field.required)).collect::<Vec<_>>()
    };
    metadata.snapshots().len() == 0 && columns(metadata) == columns(draft)
}

/// Whether a table is all that was asked for and nothing was done with it since. The server gives ids, and may add
/// properties.
pub(super) fn is_made_of(metadata: &TableMetadata, draft: &TableMetadata) -> bool {
    let partition = |metadata: &TableMetadata| {
        let fields = metadata.default_partition_spec().fields().iter();
        fields.map(|field| (field.name.clone(), field.transform)).collect::<Vec<_>>()
    };
    is_new(metadata, draft)
        && metadata.format_version() == draft.format_version()
        && partition(metadata) == partition(draft)
        && draft.properties().iter().all(|(key, value)| metadata.properties().get(key) == Some(value))
}
