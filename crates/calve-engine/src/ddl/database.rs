//! CREATE, ALTER, DROP and USE a database.

use calve_sql::{CreateDatabase, Name, Property};
use calve_types::{Error, Result};

use super::properties;
use crate::catalogs::{CatalogKind, Catalogs, unknown_database};
use crate::jobs::Commits;
use crate::result::{ResultBody, Warning};

/// The catalog and database a name of one or two parts stands for.
pub(crate) fn database_path(catalogs: &Catalogs, name: &Name) -> Result<(String, String)> {
    match name.parts.as_slice() {
        [database] => Ok((catalogs.current().0.to_owned(), database.clone())),
        [catalog, database] => Ok((catalog.clone(), database.clone())),
        _ => Err(Error::new("invalid-name", format!("'{}' is not the name of a database", name.parts.join(".")))
            .with_hint("a database is named [catalog.]database")
            .at(name.span)),
    }
}

fn unknown_catalog(error: Error, catalog: &str) -> Error {
    error.with_detail(format!("Catalog {catalog} does not exist"))
}

pub(crate) async fn create(catalogs: &mut Catalogs, commits: &Commits, create: CreateDatabase) -> Result<ResultBody> {
    let span = create.name.span;
    let (catalog, database) =
        database_path(catalogs, &create.name).map_err(|e| e.with_detail("create database identifier format error"))?;
    let mut properties = properties(&create.properties, &mut vec![]);
    if properties.contains_key("comment") {
        return Err(Error::new("invalid-option", "'comment' is not an option of a database")
            .with_detail("Database properties should not contain key: 'comment'.")
            .with_hint("write COMMENT '...' before WITH")
            .at(span));
    }
    let entry = catalogs.get_mut(&catalog).map_err(|e| unknown_catalog(e, &catalog).at(span))?;
    if entry.database_exists(&database).await.map_err(|e| e.at(span))? {
        if create.if_not_exists {
            return Ok(ResultBody::Done);
        }
        return Err(Error::new(
            "database-exists",
            format!("database '{database}' already exists in catalog '{catalog}'"),
        )
        .with_detail(format!("Database {database} already exists in Catalog {catalog}."))
        .with_hint("add IF NOT EXISTS")
        .at(span));
    }
    match &mut entry.kind {
        CatalogKind::Memory(memory) => memory.create_database(&database),
        CatalogKind::Iceberg(iceberg) => {
            if let Some(comment) = create.comment.filter(|c| !c.trim().is_empty()) {
                properties.insert("comment".to_owned(), comment);
            }
            let (iceberg, namespace) = (iceberg.clone(), iceberg.namespace(&database).map_err(|e| e.at(span))?);
            match commits.alter(async move { iceberg.create_namespace(namespace.as_ref(), properties).await }).await {
                // another process was faster
                Err(error) if error.code == "database-exists" && create.if_not_exists => {}
                done => done.map_err(|e| e.at(span))?,
            }
        }
    }
    Ok(ResultBody::Done)
}

/// ALTER DATABASE SET. Nothing shows the properties of a database in memory, so that it keeps none.
///
/// # Errors
/// `unknown-catalog`, `unknown-database`; `not-supported` where an Iceberg catalog cannot keep them.
pub(crate) async fn alter(
    catalogs: &mut Catalogs,
    commits: &Commits,
    name: &Name,
    entries: &[Property],
    warnings: &mut Vec<Warning>,
) -> Result<ResultBody> {
    let (catalog, database) =
        database_path(catalogs, name).map_err(|e| e.with_detail("alter database identifier format error"))?;
    let properties = properties(entries, warnings);
    let entry =
        catalogs.get(&catalog).map_err(|e| e.with_detail(format!("Catalog {catalog} not exists")).at(name.span))?;
    if !entry.database_exists(&database).await.map_err(|e| e.at(name.span))? {
        let error = unknown_database(&catalog, &database)
            .with_detail(format!("Database {database} does not exist in Catalog {catalog}."))
            .at(name.span);
        return Err(catalogs.with_missing_warehouse(error, &catalog).await);
    }
    if let CatalogKind::Iceberg(iceberg) = &entry.kind {
        let (iceberg, namespace) = (iceberg.clone(), iceberg.namespace(&database).map_err(|e| e.at(name.span))?);
        let set = async move { iceberg.set_namespace_properties(namespace.as_ref(), properties).await };
        commits.alter(set).await.map_err(|e| e.at(name.span))?;
    }
    Ok(ResultBody::Done)
}

pub(crate) async fn drop(
    catalogs: &mut Catalogs,
    commits: &Commits,
    name: &Name,
    if_exists: bool,
    cascade: bool,
) -> Result<ResultBody> {
    let (catalog, database) =
        database_path(catalogs, name).map_err(|e| e.with_detail("drop database identifier format error"))?;
    let (current_catalog, current_database) = catalogs.current();
    let is_current = (current_catalog, current_database) == (&catalog, &database);
    let entry = catalogs.get_mut(&catalog).map_err(|e| unknown_catalog(e, &catalog).at(name.span))?;
    if !entry.database_exists(&database).await.map_err(|e| e.at(name.span))? {
        if if_exists {
            return Ok(ResultBody::Done);
        }
        let error = unknown_database(&catalog, &database)
            .with_detail(format!("Database {database} does not exist in Catalog {catalog}."))
            .at(name.span);
        return Err(catalogs.with_missing_warehouse(error, &catalog).await);
    }
    match &mut entry.kind {
        CatalogKind::Memory(_) if is_current => {
            return Err(Error::new("database-in-use", format!("database '{database}' is the current one"))
                .with_detail("Cannot drop a database which is currently in use.")
                .at(name.span));
        }
        CatalogKind::Memory(memory) => {
            memory.drop_database(&database, cascade).map_err(|e| {
                e.with_detail(format!("Database {database} in catalog {catalog} is not empty.")).at(name.span)
            })?;
        }
        CatalogKind::Iceberg(iceberg) => {
            let (iceberg, namespace) = (iceberg.clone(), iceberg.namespace(&database)?);
            let dropped = commits.alter(async move { iceberg.drop_namespace(namespace.as_ref()).await }).await;
            dropped.map_err(|e| e.at(name.span))?;
        }
    }
    Ok(ResultBody::Done)
}

pub(crate) async fn select(catalogs: &mut Catalogs, name: &Name) -> Result<ResultBody> {
    let (catalog, database) =
        database_path(catalogs, name).map_err(|e| e.with_detail("use database identifier format error"))?;
    let entry = catalogs.get(&catalog).map_err(|e| e.at(name.span))?;
    if !entry.database_exists(&database).await.map_err(|e| e.at(name.span))? {
        let known = entry.databases().await.unwrap_or_default();
        let error = unknown_database(&catalog, &database).at(name.span);
        let error = error.did_you_mean(&database, known.iter().map(String::as_str));
        return Err(catalogs.with_missing_warehouse(error, &catalog).await);
    }
    catalogs.use_database(&catalog, &database);
    Ok(ResultBody::Done)
}
