//! CREATE and DROP TABLE.

use std::collections::HashSet;

use calve_iceberg::catalog::TableCreation;
use calve_iceberg::schema::{NewColumn, to_iceberg};
use calve_options::Place;
use calve_planner::TablePath;
use calve_planner::catalog::Column;
use calve_sql::{ColumnKind, CreateTable, Name, PartitionTransform};
use calve_types::{Error, Result};
use iceberg::spec::Transform;

use super::properties;
use crate::catalogs::memory::MemoryTable;
use crate::catalogs::{CatalogKind, Catalogs, unknown_database};
use crate::options::unknown_option;
use crate::resolve::full_path;
use crate::result::{ResultBody, Warning};

pub(crate) fn table_path(catalogs: &Catalogs, name: &Name) -> Result<TablePath> {
    full_path(catalogs, &name.parts).ok_or_else(|| {
        Error::new("invalid-name", format!("'{}' is not the name of a table", name.parts.join(".")))
            .with_hint("a table is named [catalog.][database.]table")
            .at(name.span)
    })
}

pub(crate) async fn create(
    catalogs: &mut Catalogs,
    create: CreateTable,
    warnings: &mut Vec<Warning>,
) -> Result<ResultBody> {
    let path = table_path(catalogs, &create.name)?;
    let span = create.name.span;
    refuse_unsupported(&create)?;
    let entry = catalogs.get_mut(&path.catalog).map_err(|e| e.at(span))?;
    if !matches!(entry.kind, CatalogKind::Iceberg(_)) && !entry.database_exists(&path.database).await? {
        return Err(unknown_database(&path.catalog, &path.database).at(span));
    }
    let exists = match &entry.kind {
        CatalogKind::Memory(memory) => memory.table(&path.database, &path.table).is_some(),
        CatalogKind::Iceberg(iceberg) => {
            iceberg.table_exists(&iceberg.ident(&path.database, &path.table)?).await.map_err(|e| e.at(span))?
        }
    };
    if exists {
        if create.if_not_exists {
            return Ok(ResultBody::Done);
        }
        return Err(Error::new("table-exists", format!("table '{path}' already exists"))
            .with_detail(format!(
                "Table (or view) {}.{} already exists in Catalog {}.",
                path.database, path.table, path.catalog
            ))
            .with_hint("add IF NOT EXISTS, or DROP it first")
            .at(span));
    }
    let columns = columns(&create, matches!(entry.kind, CatalogKind::Iceberg(_)))?;
    let primary_key = primary_key(&create, &columns)?;
    let columns: Vec<NewColumn> = columns
        .into_iter()
        .map(|mut column| {
            // Flink makes the columns of a primary key NOT NULL without a word
            if primary_key.contains(&column.0) {
                column.1.nullable = false;
            }
            column
        })
        .collect();
    for unique in &create.unique {
        warnings.push(Warning {
            code: "unique-ignored",
            message: format!("UNIQUE in line {} is not enforced and ignored", unique.start.line),
        });
    }
    let options = properties(&create.properties, warnings);
    let partition = partition(&create, &columns, warnings)?;
    match &mut entry.kind {
        CatalogKind::Memory(memory) => {
            let columns = columns.into_iter().map(|(name, data_type, _)| Column::physical(name, data_type)).collect();
            memory.create_table(&path.database, &path.table, MemoryTable { columns, primary_key, options });
        }
        CatalogKind::Iceberg(iceberg) => {
            warnings.extend(options.keys().filter_map(|key| unknown_option(key, Place::Table)));
            let creation = TableCreation {
                schema: to_iceberg(&columns, &primary_key).map_err(|e| e.at(span))?,
                partition,
                properties: options,
                comment: create.comment,
            };
            let ident = iceberg.ident(&path.database, &path.table)?;
            match iceberg.create_table(&ident, creation).await {
                Err(error) if error.code == "table-exists" && create.if_not_exists => {}
                Err(error) => return Err(error.at(span)),
                Ok(_) => {}
            }
        }
    }
    Ok(ResultBody::Done)
}

fn refuse_unsupported(create: &CreateTable) -> Result<()> {
    let features = [
        (create.temporary, "CREATE TEMPORARY TABLE", create.name.span),
        (create.or_replace, "CREATE OR REPLACE TABLE", create.name.span),
        (create.like.is_some(), "CREATE TABLE LIKE", create.like.as_ref().map(|l| l.span).unwrap_or_default()),
        (create.query.is_some(), "CREATE TABLE AS SELECT", create.name.span),
        (create.distributed.is_some(), "DISTRIBUTED", create.distributed.unwrap_or_default()),
    ];
    match features.into_iter().find(|(used, ..)| *used) {
        Some((_, feature, span)) => Err(Error::unsupported(feature).at(span)),
        None => Ok(()),
    }
}

fn columns(create: &CreateTable, iceberg: bool) -> Result<Vec<NewColumn>> {
    let mut names = HashSet::new();
    let mut columns = vec![];
    for column in &create.columns {
        let (name, span) = (&column.name.value, column.name.span);
        if !names.insert(name) {
            return Err(Error::new("duplicate-column", format!("column '{name}' is defined twice"))
                .with_detail(format!("A column named '{name}' already exists in the table."))
                .at(span));
        }
        match &column.kind {
            ColumnKind::Physical { data_type, .. } => {
                columns.push((name.clone(), data_type.clone(), column.comment.clone()));
            }
            ColumnKind::Computed(_) if iceberg => {
                return Err(Error::unsupported(format!("computed column '{name}' in an Iceberg table"))
                    .with_detail("Creating table with computed columns is not supported yet.")
                    .at(span));
            }
            ColumnKind::Computed(_) => return Err(Error::unsupported("computed columns").at(span)),
            ColumnKind::Metadata { .. } => {
                return Err(Error::unsupported(format!("metadata column '{name}'"))
                    .with_detail("Creating table with computed columns is not supported yet.")
                    .at(span));
            }
        }
    }
    if let Some(span) = create.watermark.as_ref().map(|w| w.span) {
        let error = Error::unsupported("WATERMARK").at(span);
        return Err(match iceberg {
            true => error.with_detail("Creating table with watermark specs is not supported yet."),
            false => error,
        });
    }
    if columns.is_empty() {
        return Err(Error::new("no-columns", format!("table '{}' has no columns", create.name.parts.join(".")))
            .at(create.name.span));
    }
    Ok(columns)
}

fn unknown_column(name: &calve_sql::Ident, columns: &[NewColumn]) -> Error {
    let error = Error::new("unknown-column", format!("column '{}' is not defined", name.value)).at(name.span);
    match calve_options::nearest(&name.value, columns.iter().map(|(name, ..)| name.as_str())) {
        Some(near) => error.with_hint(format!("did you mean '{near}'?")),
        None => error,
    }
}

fn primary_key(create: &CreateTable, columns: &[NewColumn]) -> Result<Vec<String>> {
    let Some(key) = &create.primary_key else { return Ok(vec![]) };
    if !key.not_enforced {
        return Err(Error::new("enforced-primary-key", "a primary key must be NOT ENFORCED")
            .with_detail(
                "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. ENFORCED/NOT ENFORCED controls if the \
                 constraint checks are performed on the incoming/outgoing data. Flink does not own the data therefore \
                 the only supported mode is the NOT ENFORCED mode",
            )
            .with_hint("add NOT ENFORCED behind the PRIMARY KEY")
            .at(key.span));
    }
    let mut names: Vec<String> = vec![];
    for column in &key.columns {
        if !columns.iter().any(|(name, ..)| *name == column.value) {
            return Err(unknown_column(column, columns));
        }
        if names.contains(&column.value) {
            return Err(Error::new(
                "duplicate-column",
                format!("column '{}' stands twice in the primary key", column.value),
            )
            .at(column.span));
        }
        names.push(column.value.clone());
    }
    Ok(names)
}

fn partition(
    create: &CreateTable,
    columns: &[NewColumn],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<(String, Transform)>> {
    let mut fields: Vec<(String, Transform)> = vec![];
    for field in &create.partitioned_by {
        if !columns.iter().any(|(name, ..)| *name == field.column.value) {
            return Err(unknown_column(&field.column, columns));
        }
        let transform = match field.transform {
            None => Transform::Identity,
            Some(PartitionTransform::Year) => Transform::Year,
            Some(PartitionTransform::Month) => Transform::Month,
            Some(PartitionTransform::Day) => Transform::Day,
            Some(PartitionTransform::Hour) => Transform::Hour,
            Some(PartitionTransform::Bucket(n)) => Transform::Bucket(n),
            Some(PartitionTransform::Truncate(width)) => Transform::Truncate(width),
        };
        let entry = (field.column.value.clone(), transform);
        if fields.contains(&entry) {
            return Err(Error::new(
                "duplicate-column",
                format!("partition field '{}' stands twice", field.column.value),
            )
            .at(field.span));
        }
        fields.push(entry);
    }
    if create.partitioned_by.iter().any(|f| f.transform.is_some()) {
        warnings.push(Warning {
            code: "not-portable",
            message: "not portable to Flink: partition transforms in PARTITIONED BY".to_owned(),
        });
    }
    Ok(fields)
}

pub(crate) async fn drop(catalogs: &mut Catalogs, name: &Name, if_exists: bool, temporary: bool) -> Result<ResultBody> {
    let path = table_path(catalogs, name)?;
    if temporary {
        return Err(Error::unsupported("DROP TEMPORARY TABLE").at(name.span));
    }
    let missing = |path: &TablePath| {
        Error::new("unknown-table", format!("table '{path}' does not exist"))
            .with_detail(format!("Table with identifier '{path}' does not exist."))
            .at(name.span)
    };
    let Ok(entry) = catalogs.get_mut(&path.catalog) else {
        return if if_exists { Ok(ResultBody::Done) } else { Err(missing(&path)) };
    };
    let dropped = match &mut entry.kind {
        CatalogKind::Memory(memory) => memory.drop_table(&path.database, &path.table),
        CatalogKind::Iceberg(iceberg) => {
            let ident = iceberg.ident(&path.database, &path.table)?;
            iceberg.drop_table(&ident, true).await.map_err(|e| e.at(name.span))?
        }
    };
    if dropped || if_exists { Ok(ResultBody::Done) } else { Err(missing(&path)) }
}
