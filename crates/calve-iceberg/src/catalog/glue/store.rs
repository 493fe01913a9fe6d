//! Databases and tables of a data catalog.

use std::collections::BTreeMap;

use async_trait::async_trait;
use calve_types::{Error, Result};
use iceberg::TableIdent;
use serde_json::{Value, json};

use super::client::{Client, Failure, Kind};
use super::input::{self, GlueTable};
use crate::catalog::pages::Pages;
use crate::catalog::pointer::{self, PointerStore, Version};
use crate::catalog::settings::Settings;

/// The longest names, in characters (`IcebergToGlueConverter`).
const LONGEST_DATABASE: usize = 252;
const LONGEST_TABLE: usize = 255;

/// How the catalog deals with Glue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// `glue.skip-archive`: Glue keeps no old versions of its tables.
    pub(super) skips_archive: bool,
    /// Names are lower-case letters, digits and `_`, unless `glue.skip-name-validation` is set.
    pub(super) checks_names: bool,
}

/// The databases and tables of a data catalog.
#[derive(Debug)]
pub(super) struct Store {
    client: Client,
    settings: Settings,
    warehouse: Option<String>,
    rules: Rules,
}

impl Store {
    pub(super) fn new(client: Client, settings: Settings, warehouse: Option<String>, rules: Rules) -> Self {
        Self { client, settings, warehouse, rules }
    }

    /// Whether Glue can have something of that name.
    fn is_name(&self, name: &str, longest: usize) -> bool {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        !self.rules.checks_names || (!name.is_empty() && name.len() <= longest && name.chars().all(plain))
    }

    /// The database of a namespace; `None` if there can be none of that name.
    fn database<'a>(&self, namespace: &'a [String]) -> Option<&'a str> {
        match namespace {
            [name] if self.is_name(name, LONGEST_DATABASE) => Some(name),
            _ => None,
        }
    }

    /// The database and the name of a table; `None` if there can be none of that name.
    fn names<'a>(&self, ident: &'a TableIdent) -> Option<(&'a str, &'a str)> {
        let database = self.database(ident.namespace())?;
        self.is_name(ident.name(), LONGEST_TABLE).then_some((database, ident.name()))
    }

    /// A database as Glue has it.
    async fn get_database(&self, namespace: &[String]) -> Result<Option<Value>, Failure> {
        let Some(name) = self.database(namespace) else { return Ok(None) };
        let what = format!("look for database '{name}'");
        match self.client.ask("GetDatabase", json!({ "Name": name }), &what).await {
            // as in Java: there can be none of that name
            Err(failure) if failure.kind == Kind::Invalid => Ok(None),
            answer => present(answer),
        }
    }

    /// A table as Glue has it, if it is one of Iceberg's.
    async fn get_table(&self, ident: &TableIdent) -> Result<Option<GlueTable>, Failure> {
        let Some((database, name)) = self.names(ident) else { return Ok(None) };
        let request = json!({ "DatabaseName": database, "Name": name });
        let found = present(self.client.ask("GetTable", request, &format!("load table '{ident}'")).await)?;
        Ok(found.map(GlueTable::of_answer).filter(GlueTable::is_iceberg))
    }

    /// All that is on the pages of an answer, under a key.
    async fn all(&self, action: &str, mut request: Value, key: &str, what: &str) -> Result<Vec<Value>, Failure> {
        let (mut found, mut pages) = (Vec::new(), Pages::new());
        loop {
            let mut answer = self.client.ask(action, request.clone(), what).await?;
            if let Some(Value::Array(page)) = answer.get_mut(key).map(Value::take) {
                found.extend(page);
            }
            let next = answer.get("NextToken").and_then(Value::as_str).map(str::to_owned);
            let next = pages.next(next).map_err(|error| Failure { kind: Kind::Refused, error })?;
            let Some(next) = next else { return Ok(found) };
            if let Value::Object(fields) = &mut request {
                fields.insert("NextToken".to_owned(), Value::from(next));
            }
        }
    }

    async fn delete_table(&self, database: &str, name: &str, what: &str) -> Result<bool, Failure> {
        let request = json!({ "DatabaseName": database, "Name": name });
        match self.client.change("DeleteTable", request, what).await {
            Ok(_) => Ok(true),
            Err(failure) if failure.kind == Kind::Missing => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// A database that went while something was done in it.
    fn without_database(&self, namespace: &[String], failure: Failure) -> pointer::Failure {
        match failure.kind {
            Kind::Missing => pointer::Failure::Refused(self.settings.unknown_database(namespace)),
            _ => failure.into(),
        }
    }
}

/// What is there; `None` for what is not.
fn present(answer: Result<Value, Failure>) -> Result<Option<Value>, Failure> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(failure) if failure.kind == Kind::Missing => Ok(None),
        Err(failure) => Err(failure),
    }
}

#[async_trait]
impl PointerStore for Store {
    fn check_new_namespace(&self, namespace: &[String]) -> Result<()> {
        let [name] = namespace else {
            return Err(Error::unsupported("databases within databases in a Glue catalog"));
        };
        if self.is_name(name, LONGEST_DATABASE) {
            return Ok(());
        }
        Err(Error::new("invalid-name", format!("'{name}' is not a database name in a Glue catalog"))
            .with_detail(format!(
                "Cannot convert namespace {name} to Glue database name, because it must be 1-252 chars of lowercase \
                 letters, numbers, underscore"
            ))
            .with_hint(NAMES))
    }

    fn check_new_table(&self, ident: &TableIdent) -> Result<()> {
        let name = ident.name();
        if self.is_name(name, LONGEST_TABLE) {
            return Ok(());
        }
        Err(Error::new("invalid-name", format!("'{name}' is not a table name in a Glue catalog"))
            .with_detail(format!(
                "Cannot use {name} as Glue table name, because it must be 1-255 chars of lowercase letters, numbers, \
                 underscore"
            ))
            .with_hint(NAMES))
    }

    async fn namespaces(&self, parent: &[String]) -> Result<Vec<Vec<String>>> {
        if !parent.is_empty() {
            return Ok(vec![]);
        }
        let found = self.all("GetDatabases", json!({}), "DatabaseList", "list the databases").await?;
        let name = |database: &Value| database.get("Name").and_then(Value::as_str).map(|name| vec![name.to_owned()]);
        Ok(found.iter().filter_map(name).collect())
    }

    async fn has_namespace(&self, namespace: &[String]) -> Result<bool> {
        Ok(self.get_database(namespace).await?.is_some())
    }

    async fn create_namespace(
        &self,
        namespace: &[String],
        properties: BTreeMap<String, String>,
    ) -> Result<(), pointer::Failure> {
        let name = namespace.join(".");
        let request = json!({ "DatabaseInput": input::database(&name, &properties) });
        self.client.change("CreateDatabase", request, &format!("create database '{name}'")).await?;
        Ok(())
    }

    async fn set_namespace_properties(&self, namespace: &[String], properties: BTreeMap<String, String>) -> Result<()> {
        let name = namespace.join(".");
        let known = self.get_database(namespace).await?;
        let known = known.ok_or_else(|| self.settings.unknown_database(namespace))?;
        let mut all = input::database_properties(&known);
        all.extend(properties);
        let request = json!({ "Name": name, "DatabaseInput": input::database(&name, &all) });
        self.client.change("UpdateDatabase", request, &format!("change the properties of database '{name}'")).await?;
        Ok(())
    }

    async fn drop_namespace(&self, namespace: &[String]) -> Result<bool, pointer::Failure> {
        let name = namespace.join(".");
        let what = format!("drop database '{name}'");
        // Glue itself would drop the tables too, those of others among them
        let tables = self.all("GetTables", json!({ "DatabaseName": name }), "TableList", &what).await;
        if !tables.map_err(|failure| self.without_database(namespace, failure))?.is_empty() {
            return Ok(false);
        }
        let dropped = self.client.change("DeleteDatabase", json!({ "Name": name }), &what).await;
        dropped.map_err(|failure| self.without_database(namespace, failure))?;
        Ok(true)
    }

    async fn tables(&self, namespace: &[String]) -> Result<Vec<String>> {
        let Some(name) = self.database(namespace) else { return Ok(vec![]) };
        let what = format!("list the tables of database '{name}'");
        let tables = self.all("GetTables", json!({ "DatabaseName": name }), "TableList", &what).await;
        let tables = tables.map_err(|failure| self.without_database(namespace, failure))?;
        let tables = tables.into_iter().map(GlueTable::of_list).filter(GlueTable::is_iceberg);
        let mut names: Vec<String> = tables.filter_map(|table| table.name().map(str::to_owned)).collect();
        names.sort();
        Ok(names)
    }

    fn drafted_folder(&self, ident: &TableIdent) -> String {
        let warehouse = self.warehouse.as_deref().unwrap_or_default();
        format!("{warehouse}/{}.db/{}", ident.namespace().join("."), ident.name())
    }

    async fn folder(&self, ident: &TableIdent) -> Result<String> {
        let database = self.get_database(ident.namespace()).await?;
        if let Some(location) = database.as_ref().and_then(input::database_location) {
            return Ok(format!("{location}/{}", ident.name()));
        }
        if self.warehouse.is_none() {
            let (catalog, database) = (&self.settings.name, self.settings.database(ident.namespace()));
            let why = format!("nothing says where table '{ident}' is to be");
            return Err(Error::new("invalid-option", why)
                .with_detail("Cannot derive default warehouse location, warehouse path must not be null or empty")
                .with_hint(format!(
                    "set 'warehouse' of catalog '{catalog}', or 'location' in the WITH clause of database '{database}'"
                )));
        }
        Ok(self.drafted_folder(ident))
    }

    async fn pointer(&self, ident: &TableIdent) -> Result<Option<String>> {
        let Some(table) = self.get_table(ident).await? else { return Ok(None) };
        match table.metadata_location() {
            Some(location) => Ok(Some(location.to_owned())),
            None => Err(Error::new("invalid-table", format!("table '{ident}' has no metadata file in its catalog"))),
        }
    }

    async fn create_table(&self, ident: &TableIdent, first: Version<'_>) -> Result<(), pointer::Failure> {
        let table = input::table(ident.name(), first.metadata, first.location, None);
        let request = json!({ "DatabaseName": ident.namespace().join("."), "TableInput": table });
        let made = self.client.change("CreateTable", request, &format!("create table '{ident}'")).await;
        made.map_err(|failure| self.without_database(ident.namespace(), failure))?;
        Ok(())
    }

    async fn replace(&self, ident: &TableIdent, old: &str, next: Version<'_>) -> Result<bool, pointer::Failure> {
        // nothing is changed yet: what goes wrong here is no doubt
        let current = self.get_table(ident).await.map_err(|failure| pointer::Failure::Refused(failure.error))?;
        let Some(current) = current.filter(|table| table.metadata_location() == Some(old)) else { return Ok(false) };
        let Some(version) = current.version_id() else {
            let why = format!("commits to '{}', which gives tables no version ids", self.client.host());
            return Err(pointer::Failure::Refused(
                Error::unsupported(why).with_detail("Without them a commit could undo another one without a word."),
            ));
        };
        let request = json!({
            "DatabaseName": ident.namespace().join("."),
            "SkipArchive": self.rules.skips_archive,
            "VersionId": version,
            "TableInput": input::table(ident.name(), next.metadata, next.location, Some(&current)),
        });
        match self.client.change("UpdateTable", request, &format!("commit to table '{ident}'")).await {
            Ok(_) => Ok(true),
            Err(failure) if failure.kind == Kind::Missing => Ok(false),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Glue has no request for it: another table is created with the same pointer, and the old one deleted, as the Java
    /// library does. A commit in between is looked for; the new table is taken back then.
    async fn rename_table(&self, ident: &TableIdent, name: &str) -> Result<bool, pointer::Failure> {
        let Some((database, old)) = self.names(ident) else { return Ok(false) };
        let what = format!("rename table '{ident}' to '{name}'");
        let renamed = TableIdent::new(ident.namespace().clone(), name.to_owned());
        let unchanged = |failure: Failure| pointer::Failure::Refused(failure.error);
        let Some(table) = self.get_table(ident).await.map_err(unchanged)? else { return Ok(false) };
        let request = json!({ "DatabaseName": database, "TableInput": table.renamed(name) });
        if let Err(failure) = self.client.change("CreateTable", request, &what).await {
            let made = match failure.kind {
                Kind::Lost => self.get_table(&renamed).await.ok().flatten(),
                _ => None,
            };
            if made.is_none_or(|made| made.metadata_location() != table.metadata_location()) {
                return Err(match failure.kind {
                    // it may come yet
                    Kind::Lost => both(ident, name, &failure.error),
                    _ => failure.into(),
                });
            }
        }
        let back = match self.get_table(ident).await {
            Ok(Some(now)) if now.metadata_location() == table.metadata_location() => {
                match self.delete_table(database, old, &what).await {
                    Ok(true) => return Ok(true),
                    Ok(false) => Ok(false),
                    Err(Failure { kind: Kind::Lost, error }) => match self.get_table(ident).await {
                        Ok(None) => return Ok(true),
                        Ok(Some(_)) | Err(_) => return Err(both(ident, name, &error)),
                    },
                    Err(failure) => Err(failure.into()),
                }
            }
            Ok(Some(_)) => {
                let why = format!("table '{ident}' was changed while it was renamed");
                Err(pointer::Failure::Busy(Error::new("commit-conflict", why).with_hint("run the statement again")))
            }
            // dropped meanwhile, maybe with its files
            Ok(None) => Ok(false),
            Err(failure) => Err(unchanged(failure)),
        };
        match self.delete_table(database, name, &what).await {
            Ok(_) => back,
            Err(failure) => Err(both(ident, name, &failure.error)),
        }
    }

    /// Glue has no request that compares: the table is looked at just before.
    async fn drop_table(&self, ident: &TableIdent, old: Option<&str>) -> Result<bool, pointer::Failure> {
        let unchanged = |failure: Failure| pointer::Failure::Refused(failure.error);
        let Some((database, name)) = self.names(ident) else { return Ok(false) };
        let found = self.get_table(ident).await.map_err(unchanged)?;
        if found.is_none_or(|table| old.is_some() && table.metadata_location() != old) {
            return Ok(false);
        }
        Ok(self.delete_table(database, name, &format!("drop table '{ident}'")).await?)
    }
}

const NAMES: &str = "Glue's names are lower-case letters, digits and '_'; 'glue.skip-name-validation' = 'true' leaves it to Glue \
                     what a name is";

/// A table that may have two names: commits to one are not seen under the other.
fn both(ident: &TableIdent, name: &str, error: &Error) -> pointer::Failure {
    let why = format!("nobody knows whether table '{ident}' was renamed: {error}");
    pointer::Failure::Refused(Error::new("commit-unknown", why).with_hint(format!(
        "look for both names; if both are there, drop '{name}' without its files before anybody writes to it"
    )))
}
