//! ALTER TABLE .. ADD and DROP PARTITION: a memory catalog keeps a list of partitions beside a table's definition, which
//! SHOW PARTITIONS prints; no row is in them. Iceberg tables have the partitions that their rows make.

use calve_planner::TablePath;
use calve_sql::{AddedPartition, Ident, ast};
use calve_types::{Error, Result};

use crate::catalogs::object::{CatalogObject, PartitionDef, TableDef};
use crate::catalogs::{CatalogKind, Catalogs};

/// ADD PARTITION.
///
/// # Errors
/// `unknown-table`, `not-partitioned`, `invalid-partition`, `partition-exists`; `not-supported` for an Iceberg table.
pub(super) fn add(
    catalogs: &mut Catalogs,
    path: &TablePath,
    partitions: &[AddedPartition],
    if_not_exists: bool,
) -> Result<()> {
    for added in partitions {
        let partition = partition(&added.values)?;
        let table = table(catalogs, path, "ADD", &partition)?;
        let Some(table) = table.filter(|table| !table.partition_keys.is_empty()) else {
            return Err(Error::new("not-partitioned", format!("table '{path}' is not partitioned")).with_detail(
                format!("Table {}.{} in catalog {} is not partitioned.", path.database, path.table, path.catalog),
            ));
        };
        let keys = &table.partition_keys;
        if partition.len() != keys.len() || !keys.iter().all(|key| partition.contains_key(key)) {
            return Err(Error::new("invalid-partition", "all partition keys must be named, and nothing else")
                .with_detail(format!(
                    "PartitionSpec CatalogPartitionSpec{{{}}} does not match partition keys [{}] of table {}.{} in \
                     catalog {}.",
                    shown(&partition),
                    keys.join(", "),
                    path.database,
                    path.table,
                    path.catalog
                ))
                .with_hint(format!("the partition keys are {}", keys.join(", "))));
        }
        if !table.partitions.iter().any(|old| old.same(&partition)) {
            table.partitions.push(partition);
        } else if !if_not_exists {
            return Err(Error::new("partition-exists", format!("partition ({partition}) exists already"))
                .with_detail(of_table(&partition, path, "already exists."))
                .with_hint("add IF NOT EXISTS"));
        }
    }
    Ok(())
}

/// DROP PARTITION.
///
/// # Errors
/// `unknown-table`, `unknown-partition`; `not-supported` for an Iceberg table.
pub(super) fn drop(
    catalogs: &mut Catalogs,
    path: &TablePath,
    partitions: &[Vec<(Ident, ast::Expr)>],
    if_exists: bool,
) -> Result<()> {
    for values in partitions {
        let partition = partition(values)?;
        let table = table(catalogs, path, "DROP", &partition)?;
        let found = table.and_then(|table| {
            let at = table.partitions.iter().position(|old| old.same(&partition))?;
            Some(table.partitions.remove(at))
        });
        if found.is_none() && !if_exists {
            return Err(Error::new("unknown-partition", format!("partition ({partition}) does not exist"))
                .with_detail(of_table(&partition, path, "does not exist."))
                .with_hint("DROP IF EXISTS PARTITION goes on"));
        }
    }
    Ok(())
}

fn shown(partition: &PartitionDef) -> String {
    format!("{{{partition}}}")
}

fn of_table(partition: &PartitionDef, path: &TablePath, what: &str) -> String {
    format!(
        "Partition CatalogPartitionSpec{{{}}} of table {}.{} in catalog {} {what}",
        shown(partition),
        path.database,
        path.table,
        path.catalog
    )
}

/// The table in a memory catalog, also one that a temporary table hides; `None` for a view.
fn table<'a>(
    catalogs: &'a mut Catalogs,
    path: &TablePath,
    verb: &str,
    partition: &PartitionDef,
) -> Result<Option<&'a mut TableDef>> {
    let missing = || {
        Error::new("unknown-table", format!("table '{path}' does not exist")).with_detail(format!(
            "Table (or view) {}.{} does not exist in Catalog {}.",
            path.database, path.table, path.catalog
        ))
    };
    match &mut catalogs.get_mut(&path.catalog)?.kind {
        CatalogKind::Iceberg(_) => Err(Error::unsupported(format!("{verb} PARTITION of an Iceberg table"))
            .with_detail(format!("Could not execute ALTER TABLE {path} {verb} PARTITION ({partition})"))
            .with_hint("its partitions are those of its rows")),
        CatalogKind::Memory(memory) => match memory.object_mut(&path.database, &path.table) {
            None => Err(missing()),
            Some(CatalogObject::Table(table)) => Ok(Some(table.as_mut())),
            Some(CatalogObject::View(_)) => Ok(None),
        },
    }
}

/// The columns of a partition with their values.
///
/// # Errors
/// `invalid-partition` for what is neither a text nor a number.
pub(crate) fn partition(values: &[(Ident, ast::Expr)]) -> Result<PartitionDef> {
    let mut partition = PartitionDef::default();
    for (column, value) in values {
        let text = match value {
            ast::Expr::Value(ast::ValueWithSpan {
                value: ast::Value::SingleQuotedString(text) | ast::Value::Number(text, _),
                ..
            }) => text.clone(),
            other => {
                return Err(Error::new("invalid-partition", format!("the value of '{}' is no literal", column.value))
                    .with_detail(format!("not a literal: {other}"))
                    .with_hint("write a text or a number")
                    .at(column.span));
            }
        };
        partition.put(&column.value, text);
    }
    Ok(partition)
}
