//! CREATE and DROP TABLE.

use calve_iceberg::catalog::TableCreation;
use calve_iceberg::schema::{NewColumn, to_iceberg};
use calve_planner::TablePath;
use calve_planner::tables::Reference;
use calve_sql::{CreateTable, Name, PartitionField, PartitionTransform};
use calve_types::{Error, Result, Span};
use iceberg::spec::Transform;

use super::define::{Definition, as_flink_keeps, no_columns, refuse_in_iceberg};
use super::like::Strategies;
use super::properties;
use crate::catalogs::object::{BaseKind, CatalogObject, TableDef};
use crate::catalogs::{CatalogKind, Catalogs, unknown_database};
use crate::check::rules::option_warnings;
use crate::definition;
use crate::jobs::Commits;
use crate::options::Options;
use crate::resolve::{Resolved, full_path};
use crate::result::{ResultBody, Warning};

/// The full name of a table or view.
///
/// # Errors
/// `invalid-name` for more than three parts.
pub(crate) fn table_path(catalogs: &Catalogs, name: &Name) -> Result<TablePath> {
    full_path(catalogs, &name.parts).ok_or_else(|| {
        Error::new("invalid-name", format!("'{}' is not the name of a table", name.parts.join(".")))
            .with_detail("Object identifier must consist of 1 to 3 parts.")
            .with_hint("a table is named [catalog.][database.]table")
            .at(name.span)
    })
}

/// CREATE TABLE, with LIKE and without AS.
pub(crate) async fn create(
    catalogs: &mut Catalogs,
    options: &Options,
    commits: &Commits,
    create: &CreateTable,
    warnings: &mut Vec<Warning>,
) -> Result<ResultBody> {
    let table = define(catalogs, options, create, warnings).await?;
    store(catalogs, commits, create, table, warnings).await?;
    Ok(ResultBody::Done)
}

/// The definition that a CREATE TABLE without AS asks for.
async fn define(
    catalogs: &Catalogs,
    options: &Options,
    create: &CreateTable,
    warnings: &mut Vec<Warning>,
) -> Result<TableDef> {
    warn_of_unique(create, warnings)?;
    let own = properties(&create.properties, warnings);
    let Some(like) = &create.like else {
        let resolved = Resolved::load(catalogs, options, vec![]).await?;
        let mut definition = Definition::new(create, &resolved, TableDef::default());
        definition.add_declared(false, false)?;
        return definition.finish(own, options.is_streaming());
    };
    let strategies = Strategies::of(like)?;
    let reference = Reference { parts: like.table.parts.clone(), hints: vec![], span: like.table.span };
    let resolved = Resolved::load_definitions(catalogs, options, vec![reference]).await?;
    let path = table_path(catalogs, &like.table)?;
    let mut source = definition::of_source(catalogs, &resolved, &path, &like.table)?;
    if own_catalog_is_iceberg(catalogs, create)? {
        definition::forget_source(&mut source);
    }
    let inherited = std::mem::take(&mut source.options);
    let mut definition = Definition::new(create, &resolved, strategies.base(source, create)?);
    definition.add_declared(strategies.replaces_computed(), strategies.replaces_metadata())?;
    definition.finish(strategies.options(inherited, own)?, options.is_streaming())
}

fn own_catalog_is_iceberg(catalogs: &Catalogs, create: &CreateTable) -> Result<bool> {
    let path = table_path(catalogs, &create.name)?;
    let entry = catalogs.get(&path.catalog);
    Ok(!create.temporary && entry.is_ok_and(|entry| matches!(entry.kind, CatalogKind::Iceberg(_))))
}

/// UNIQUE behind a column is read and not heeded: old documentation of the connector has it.
///
/// # Errors
/// `not-supported` for a constraint UNIQUE.
pub(super) fn warn_of_unique(create: &CreateTable, warnings: &mut Vec<Warning>) -> Result<()> {
    if let Some(place) = create.unique_constraints.first() {
        return Err(unique_constraint(*place));
    }
    for unique in &create.unique {
        let message = format!("UNIQUE in line {} is not enforced and ignored", unique.start.line);
        warnings.push(Warning::new("unique-ignored", message).at(*unique));
    }
    Ok(())
}

/// The refusal of a constraint UNIQUE.
pub(super) fn unique_constraint(place: Span) -> Error {
    Error::unsupported("UNIQUE")
        .with_detail("UNIQUE constraint is not supported yet")
        .with_hint("use PRIMARY KEY (..) NOT ENFORCED, and upsert if rows are to be replaced")
        .at(place)
}

/// Makes the table, or leaves the one that is there if the statement says IF NOT EXISTS; CREATE OR REPLACE TABLE AS puts it
/// in the place of one in a memory catalog.
///
/// # Errors
/// `table-exists`, `unknown-catalog`, `unknown-database`, what an Iceberg catalog refuses.
pub(super) async fn store(
    catalogs: &mut Catalogs,
    commits: &Commits,
    create: &CreateTable,
    table: TableDef,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let path = table_path(catalogs, &create.name)?;
    let span = create.name.span;
    if create.temporary {
        check_transforms(create)?;
        let object = CatalogObject::Table(Box::new(as_flink_keeps(table)));
        return put_temporary(catalogs, path, object, create.if_not_exists).map_err(|e| e.at(span));
    }
    let exists = exists(catalogs, &path).await.map_err(|e| e.at(span))?;
    let replaces = (create.or_replace || create.replace) && create.query.is_some();
    if exists && !replaces {
        return match create.if_not_exists {
            true => Ok(()),
            false => Err(already_exists(&path).at(span)),
        };
    }
    let entry = catalogs.get_mut(&path.catalog).map_err(|e| e.at(span))?;
    match &mut entry.kind {
        CatalogKind::Memory(memory) => {
            check_transforms(create)?;
            memory.put(&path.database, &path.table, CatalogObject::Table(Box::new(as_flink_keeps(table))));
        }
        // its rows would be gone before those of the query are there
        CatalogKind::Iceberg(_) if exists => return Err(already_exists(&path).at(span)),
        CatalogKind::Iceberg(iceberg) => {
            let (iceberg, ident) = (iceberg.clone(), iceberg.ident(&path.database, &path.table)?);
            let creation = iceberg_creation(create, table, warnings)?;
            match commits.alter(async move { iceberg.create_table(&ident, creation).await }).await {
                Err(error) if error.code == "table-exists" && create.if_not_exists => {}
                created => std::mem::drop(created.map_err(|e| e.at(span))?),
            }
        }
    }
    Ok(())
}

/// Whether a permanent table or view of that name exists.
///
/// # Errors
/// `unknown-catalog`; `unknown-database` for a memory catalog; what an Iceberg catalog answers.
pub(super) async fn exists(catalogs: &Catalogs, path: &TablePath) -> Result<bool> {
    match &catalogs.get(&path.catalog)?.kind {
        CatalogKind::Memory(memory) if !memory.has_database(&path.database) => {
            Err(unknown_database(&path.catalog, &path.database)
                .with_detail(format!("Database {} does not exist in Catalog {}.", path.database, path.catalog)))
        }
        CatalogKind::Memory(memory) => Ok(memory.object(&path.database, &path.table).is_some()),
        CatalogKind::Iceberg(iceberg) => iceberg.table_exists(&iceberg.ident(&path.database, &path.table)?).await,
    }
}

/// The refusal of a second table or view of a name.
pub(super) fn already_exists(path: &TablePath) -> Error {
    Error::new("table-exists", format!("table or view '{path}' already exists"))
        .with_detail(format!(
            "Table (or view) {}.{} already exists in Catalog {}.",
            path.database, path.table, path.catalog
        ))
        .with_hint("add IF NOT EXISTS, or DROP it first")
}

/// Makes a temporary table or view.
///
/// # Errors
/// `table-exists`.
pub(super) fn put_temporary(
    catalogs: &mut Catalogs,
    path: TablePath,
    object: CatalogObject,
    if_not_exists: bool,
) -> Result<()> {
    if catalogs.temporary(&path).is_some() {
        if if_not_exists {
            return Ok(());
        }
        return Err(Error::new("table-exists", format!("temporary table or view '{path}' already exists"))
            .with_detail(format!("Temporary table '{}' already exists", definition::quoted(&path)))
            .with_hint("add IF NOT EXISTS, or DROP it first"));
    }
    catalogs.put_temporary(path, object);
    Ok(())
}

/// Only Iceberg knows partition transforms.
fn check_transforms(create: &CreateTable) -> Result<()> {
    match create.partitioned_by.iter().find(|field| field.transform.is_some()) {
        None => Ok(()),
        Some(field) => Err(Error::unsupported("partition transforms outside Iceberg tables").at(field.span)),
    }
}

/// What an Iceberg catalog makes the table of.
///
/// # Errors
/// What an Iceberg table cannot have.
pub(super) fn iceberg_creation(
    create: &CreateTable,
    table: TableDef,
    warnings: &mut Vec<Warning>,
) -> Result<TableCreation> {
    let span = create.name.span;
    refuse_in_iceberg(&table, span)?;
    let table = as_flink_keeps(table);
    if table.columns.is_empty() {
        return Err(no_columns(&create.name));
    }
    if let Some(distribution) = &create.distribution {
        // Flink's connector leaves it out without a word
        let message = "DISTRIBUTED has no effect in an Iceberg table; use the option 'write.distribution-mode', or \
                       PARTITIONED BY (bucket(n, column))";
        warnings.push(Warning::new("ineffective-option", message).at(distribution.span));
    }
    let partition = match create.partitioned_by.as_slice() {
        [] => table.partition_keys.iter().map(|name| (name.clone(), Transform::Identity)).collect(),
        fields => partition(fields, warnings)?,
    };
    let key = table.key_columns().to_vec();
    let columns: Vec<NewColumn> =
        table.columns.into_iter().map(|c| (c.column.name, c.column.data_type, c.comment)).collect();
    warnings.extend(option_warnings(&create.properties));
    // Flink's connector leaves it out without a word
    if let Some(connector) = table.options.get("connector") {
        let message = format!(
            "option 'connector' = '{connector}' has no effect in an Iceberg catalog: '{}' is an Iceberg table; \
             use CREATE TEMPORARY TABLE for other tables",
            create.name.parts.join(".")
        );
        let place = create.properties.iter().find(|p| p.key == "connector").map_or(span, |p| p.span);
        warnings.push(Warning::new("ineffective-option", message).at(place));
    }
    Ok(TableCreation {
        schema: to_iceberg(&columns, &key).map_err(|e| e.at(span))?,
        partition,
        properties: table.options,
        comment: table.comment,
    })
}

/// Iceberg's transform of a partition field.
pub(super) fn transform(field: &PartitionField) -> Transform {
    match field.transform {
        None => Transform::Identity,
        Some(PartitionTransform::Year) => Transform::Year,
        Some(PartitionTransform::Month) => Transform::Month,
        Some(PartitionTransform::Day) => Transform::Day,
        Some(PartitionTransform::Hour) => Transform::Hour,
        Some(PartitionTransform::Bucket(n)) => Transform::Bucket(n),
        Some(PartitionTransform::Truncate(width)) => Transform::Truncate(width),
    }
}

fn partition(declared: &[PartitionField], warnings: &mut Vec<Warning>) -> Result<Vec<(String, Transform)>> {
    let mut fields: Vec<(String, Transform)> = vec![];
    for field in declared {
        let entry = (field.column.value.clone(), transform(field));
        if fields.contains(&entry) {
            return Err(Error::new(
                "duplicate-column",
                format!("partition field '{}' stands twice", field.column.value),
            )
            .at(field.span));
        }
        fields.push(entry);
    }
    if let Some(field) = declared.iter().find(|f| f.transform.is_some()) {
        let message = "not portable to Flink: partition transforms in PARTITIONED BY";
        warnings.push(Warning::new("not-portable", message).at(field.span));
    }
    Ok(fields)
}

/// DROP TABLE and DROP VIEW: what has the name and is of the other kind does not count, as in Flink.
///
/// # Errors
/// `temporary-hides` while a temporary one has the name; `unknown-table`, `unknown-view`.
pub(crate) async fn drop(
    catalogs: &mut Catalogs,
    commits: &Commits,
    name: &Name,
    kind: BaseKind,
    if_exists: bool,
    temporary: bool,
) -> Result<ResultBody> {
    let path = table_path(catalogs, name)?;
    let word = kind.word();
    let hides = catalogs.temporary(&path).is_some_and(|object| object.is(kind));
    if temporary {
        if hides {
            catalogs.remove_temporary(&path);
        } else if !if_exists {
            return Err(unknown(kind, format!("temporary {word} '{path}' does not exist"))
                .with_detail(format!("Temporary table or view with identifier '{path}' does not exist."))
                .at(name.span));
        }
        return Ok(ResultBody::Done);
    }
    if hides {
        return Err(temporary_hides(&path, kind).at(name.span));
    }
    let dropped = match catalogs.get_mut(&path.catalog).map(|entry| &mut entry.kind) {
        Err(_) => false,
        Ok(CatalogKind::Memory(memory)) => {
            let found = memory.object(&path.database, &path.table).is_some_and(|object| object.is(kind));
            if found {
                memory.remove(&path.database, &path.table);
            }
            found
        }
        Ok(CatalogKind::Iceberg(_)) if kind == BaseKind::View => false,
        Ok(CatalogKind::Iceberg(iceberg)) => {
            let (iceberg, ident) = (iceberg.clone(), iceberg.ident(&path.database, &path.table)?);
            let dropped = commits.alter(async move { iceberg.drop_table(&ident, true).await }).await;
            dropped.map_err(|e| e.at(name.span))?
        }
    };
    if dropped || if_exists {
        return Ok(ResultBody::Done);
    }
    let title = kind.title();
    let error = unknown(kind, format!("{word} '{path}' does not exist"))
        .with_detail(format!("{title} with identifier '{path}' does not exist."))
        .at(name.span);
    let other = if kind == BaseKind::Table { BaseKind::View } else { BaseKind::Table };
    Err(match catalogs.object(&path) {
        Some(object) if object.is(other) => {
            error.with_hint(format!("it is a {}: use DROP {}", other.word(), other.word().to_uppercase()))
        }
        _ => {
            // only for a suggestion: a catalog that cannot list has none
            let databases = match catalogs.get(&path.catalog) {
                Ok(catalog) => catalog.databases().await.unwrap_or_default(),
                Err(_) => vec![],
            };
            let views = kind == BaseKind::View;
            let names = catalogs.objects(&path.catalog, &path.database, views).await.unwrap_or_default();
            let is_kind = |name: &String| {
                let path = TablePath { table: name.clone(), ..path.clone() };
                catalogs.object(&path).is_none_or(|object| object.is(kind))
            };
            let names: Vec<String> = names.into_iter().filter(is_kind).collect();
            let error = definition::with_suggestion(error, &path, &databases, &names);
            catalogs.with_missing_warehouse(error, &path.catalog).await
        }
    })
}

/// The refusal to touch a table or view while a temporary one hides it.
pub(super) fn temporary_hides(path: &TablePath, kind: BaseKind) -> Error {
    let word = kind.word();
    Error::new("temporary-hides", format!("'{path}' is a temporary {word}"))
        .with_detail(format!(
            "Temporary {word} with identifier '{}' exists. Drop it first before removing the permanent {word}.",
            definition::quoted(path)
        ))
        .with_hint(format!("use DROP TEMPORARY {}", word.to_uppercase()))
}

fn unknown(kind: BaseKind, message: String) -> Error {
    match kind {
        BaseKind::Table => Error::new("unknown-table", message),
        BaseKind::View => Error::new("unknown-view", message),
    }
}
