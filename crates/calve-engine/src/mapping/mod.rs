//! Tables of the connector `iceberg`: entries of a memory catalog, and temporary tables, that stand for Iceberg tables.
//!
//! `target` finds the Iceberg table that the options name, [`open`] loads it and makes it where it is not there yet: on its
//! first use, as Flink's connector does. The entry's columns are found in it by name ([`Declared`]): `provider` reads them,
//! `rows` writes them.

mod provider;
mod rows;
mod target;

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_iceberg::Table;
use calve_iceberg::catalog::{Catalog, TableCreation};
use calve_iceberg::schema::{NewColumn, to_flink, to_iceberg};
use calve_planner::TablePath;
use calve_planner::catalog::ColumnKind;
use calve_types::{DataType, Error, LogicalType, Result, Span};
use datafusion::catalog::TableProvider;
use iceberg::TableIdent;
use iceberg::spec::Transform;

use crate::catalogs::Catalogs;
use crate::catalogs::object::{CatalogObject, TableDef};
use crate::ddl::define::refuse_in_iceberg;

pub(crate) use target::{Target, check_sink, is_choice};

/// The connector's name.
pub(crate) const CONNECTOR: &str = "iceberg";

/// Whether a table stands for an Iceberg table.
pub(crate) fn is_mapping(table: &TableDef) -> bool {
    table.options.get("connector").is_some_and(|connector| connector == CONNECTOR)
}

/// The way out of what is refused of a table of the connector and done to one of an Iceberg catalog; `None` for another table.
pub(crate) fn way_out(catalogs: &Catalogs, path: &TablePath) -> Option<String> {
    let (create, name) = target_of(catalogs, path)?.in_catalog(catalogs, "");
    Some(match create {
        None => format!("name the table in its Iceberg catalog, where this runs: {name}"),
        Some(create) => format!("name the table in an Iceberg catalog, where this runs: {create}, then {name}"),
    })
}

/// As [`way_out`], where a table should lose its rows.
pub(crate) fn emptied(catalogs: &Catalogs, path: &TablePath) -> Option<String> {
    let (create, name) = target_of(catalogs, path)?.in_catalog(catalogs, "");
    Some(format!("{}DELETE FROM {name}", first(create)))
}

/// As [`way_out`], of a metadata table.
pub(crate) fn metadata_way_out(catalogs: &Catalogs, path: &TablePath) -> Option<String> {
    let (table, metadata) = path.table.split_at_checked(path.table.find('$')?)?;
    let target = target_of(catalogs, &TablePath { table: table.to_owned(), ..path.clone() })?;
    let (create, name) = target.in_catalog(catalogs, metadata);
    Some(format!("an Iceberg catalog has metadata tables: {}{name}", first(create)))
}

fn first(create: Option<String>) -> String {
    create.map(|create| format!("{create}, then ")).unwrap_or_default()
}

/// The Iceberg table that a table of the connector stands for; `None` for another table.
fn target_of(catalogs: &Catalogs, path: &TablePath) -> Option<Target> {
    match catalogs.object(path) {
        Some(CatalogObject::Table(table)) if is_mapping(table) => {
            Target::of(path, &table.options, &BTreeMap::new()).ok()
        }
        _ => None,
    }
}

/// An opened Iceberg table, and its catalog.
pub(crate) type Opened = (Arc<dyn Catalog>, Table);

/// Loads the Iceberg table that `table` stands for; its database and itself are made if they are not there.
///
/// # Errors
/// Flink's refusals of the catalog's options, and of what an Iceberg table cannot have where it is to be made; what the
/// catalog answers.
pub(crate) async fn open(catalogs: &Catalogs, target: &Target, table: &TableDef) -> Result<Opened> {
    let catalog = catalogs.of_connector(&target.catalog, &target.options)?;
    let ident = catalog.ident(&target.database, &target.table)?;
    if let Some(found) = catalog.load_table(&ident).await? {
        return Ok((catalog, found));
    }
    let creation = creation(table)?;
    let namespace = ident.namespace().as_ref();
    if !catalog.namespace_exists(namespace).await? {
        match catalog.create_namespace(namespace, BTreeMap::new()).await {
            Err(error) if error.code != "database-exists" => return Err(error),
            _ => {}
        }
    }
    let created = match catalog.create_table(&ident, creation).await {
        // another one was faster
        Err(error) if error.code == "table-exists" => catalog.load_table(&ident).await?.ok_or_else(|| gone(&ident))?,
        created => created?,
    };
    Ok((catalog, created))
}

fn gone(ident: &TableIdent) -> Error {
    Error::new("unknown-table", format!("table '{ident}' does not exist"))
        .with_detail(format!("Table does not exist: {ident}"))
}

/// The Iceberg table to make of a definition. All of its options become properties but those that say what it stands for
/// here.
fn creation(table: &TableDef) -> Result<TableCreation> {
    refuse_in_iceberg(table, Span::default()).map_err(|error| Error { span: None, ..error })?;
    let columns: Vec<NewColumn> =
        table.columns.iter().map(|c| (c.column.name.clone(), c.column.data_type.clone(), c.comment.clone())).collect();
    let stored = |key: &str| !target::NOT_STORED.contains(&key);
    let properties = table.options.iter().filter(|(key, _)| stored(key)).map(|(k, v)| (k.clone(), v.clone()));
    Ok(TableCreation {
        schema: to_iceberg(&columns, table.key_columns())?,
        partition: table.partition_keys.iter().map(|name| (name.clone(), Transform::Identity)).collect(),
        properties: properties.collect(),
        comment: table.comment.clone(),
    })
}

/// The stored columns that an entry declares: they are found in the Iceberg table by name.
#[derive(Debug)]
pub(crate) struct Declared {
    path: TablePath,
    /// Where a statement names it.
    place: Span,
    columns: Vec<(String, DataType)>,
    key: Vec<String>,
}

impl Declared {
    /// The stored columns of a definition that a statement names at a place.
    ///
    /// # Errors
    /// `unknown-metadata` where it declares metadata columns, which the connector does not offer.
    pub fn new(path: &TablePath, table: &TableDef, place: Span) -> Result<Self> {
        let is_metadata = |kind: &ColumnKind| matches!(kind, ColumnKind::Metadata { .. });
        if let Some(column) = table.columns.iter().find(|c| is_metadata(&c.column.kind)) {
            let name = &column.column.name;
            return Err(Error::new("unknown-metadata", format!("connector 'iceberg' has no metadata for column '{name}'"))
                .with_detail(
                    "Table 'Iceberg table source' declares metadata columns, but the underlying DynamicTableSource doesn't \
                     implement the SupportsReadingMetadata interface. Therefore, metadata cannot be read from the given \
                     source.",
                ));
        }
        let stored = table.columns.iter().filter(|c| c.is_physical());
        Ok(Self {
            path: path.clone(),
            place,
            columns: stored.map(|c| (c.column.name.clone(), c.column.data_type.clone())).collect(),
            key: table.key_columns().to_vec(),
        })
    }

    /// The field ids of the definition's own primary key, which outranks the table's, as in Flink; empty without one.
    pub fn key(&self, table: &Table) -> Vec<i32> {
        let schema = table.metadata().current_schema();
        self.key.iter().filter_map(|name| schema.field_id_by_name(name)).collect()
    }

    /// The table with the declared columns, from a provider of all columns of `table`.
    ///
    /// # Errors
    /// `type-mismatch` for a column whose values the declared type does not take.
    pub fn provider(&self, table: &Table, inner: Arc<dyn TableProvider>) -> Result<Arc<dyn TableProvider>> {
        for (name, actual) in to_flink(table.metadata().current_schema())? {
            let Some((_, declared)) = self.columns.iter().find(|(other, _)| *other == name) else { continue };
            if !takes(declared, &actual)? {
                return Err(Error::new(
                    "type-mismatch",
                    format!("column '{name}' of table '{}' is no {declared}", self.path),
                )
                .with_detail(format!("the Iceberg table '{}' has it as {actual}", table.ident()))
                .with_hint(format!("declare it as {}", actual.logical)));
            }
        }
        provider::Declared::wrap(&self.path, self.place, &self.columns, inner)
    }
}

/// Whether values of `from` are values of `to` as well, in Iceberg's types: the same type, or one that it widens to.
fn takes(to: &DataType, from: &DataType) -> Result<bool> {
    let (to, from) = (stored(to)?, stored(from)?);
    Ok(to == from
        || match (&from.logical, &to.logical) {
            (LogicalType::Int, LogicalType::BigInt) | (LogicalType::Float, LogicalType::Double) => true,
            (LogicalType::Decimal { precision: p, scale: s }, LogicalType::Decimal { precision: wider, scale }) => {
                s == scale && p <= wider
            }
            _ => false,
        })
}

/// The type that Iceberg keeps for a declared one, without regard to NULL.
fn stored(data_type: &DataType) -> Result<DataType> {
    let column = ("c".to_owned(), data_type.clone(), None);
    let mut kept = to_flink(&to_iceberg(&[column], &[])?)?;
    let (_, kept) = kept.pop().ok_or_else(|| Error::internal("a schema without its column"))?;
    Ok(all_nullable(kept))
}

fn all_nullable(data_type: DataType) -> DataType {
    let inner = |data_type: Box<DataType>| Box::new(all_nullable(*data_type));
    let logical = match data_type.logical {
        LogicalType::Array(element) => LogicalType::Array(inner(element)),
        LogicalType::Map(key, value) => LogicalType::Map(inner(key), inner(value)),
        LogicalType::Multiset(element) => LogicalType::Multiset(inner(element)),
        LogicalType::Row(fields) => LogicalType::Row(
            fields
                .into_iter()
                .map(|mut field| {
                    field.data_type = all_nullable(field.data_type);
                    field.comment = None;
                    field
                })
                .collect(),
        ),
        other => other,
    };
    logical.nullable()
}
