//! ALTER TABLE of an Iceberg table: changes of its schema, its partition spec, its order, its branches and tags, and its
//! properties, together.

mod order;
mod partition;
mod properties;
mod refs;
mod schema;

use std::collections::BTreeMap;

use calve_types::{Error, Result};
use iceberg::TableUpdate;
use iceberg::spec::{FormatVersion, Schema, TableMetadata, Transform};

use super::create::check_types;
use crate::commit::{self, TableOps};
use crate::table::Table;

pub use order::SortTerm;
pub use partition::{PartitionRef, PartitionTerm, SpecChange};
pub use properties::{is_cherry_pick, is_reserved};
pub use refs::{NewRef, RefChange};
pub use schema::{ColumnPlace, SchemaChange};

/// What one ALTER TABLE changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alteration {
    /// Changes of the columns, in order.
    pub schema: Vec<SchemaChange>,
    /// Changes of the partition fields, in order.
    pub partition: Vec<SpecChange>,
    /// By what rows are sorted when they are written; an empty list is no order, `None` leaves it as it is.
    pub order: Option<Vec<SortTerm>>,
    /// Changes of the branches and tags, in order.
    pub refs: Vec<RefChange>,
    /// Properties to set. `format-version`, `location`, `current-snapshot-id` and `cherry-pick-snapshot-id` are not
    /// stored: they do what they say.
    pub set: BTreeMap<String, String>,
    /// Properties to remove.
    pub reset: Vec<String>,
}

/// Changes a table: `plan` says what changes in a version of it, and is asked again for a newer one when another commit
/// came first, so that what it checked holds for the version that is changed. Nothing is committed if nothing changes.
/// One commit, and before it another one for a cherry-picked snapshot whose files are added by a new one, as in Flink's
/// connector.
///
/// # Errors
/// What `plan` answers; what Iceberg refuses, with the Java library's sentence as detail; those of
/// [`crate::commit::commit`].
pub async fn alter<F>(ops: &dyn TableOps, table: &Table, plan: F) -> Result<Table>
where
    F: Fn(&Table) -> Result<Alteration> + Send + Sync,
{
    let first = plan(table)?;
    // all that the statement asks for is checked before anything is done
    updates(table, &first)?;
    let Some(picked) = properties::to_append(table, &first.set)? else {
        return commit::change(ops, table, |base| updates(base, &plan(base)?)).await;
    };
    let table = commit::cherry_pick(ops, table, picked).await?;
    let rest = |base: &Table| {
        let mut rest = plan(base)?;
        rest.set.retain(|key, _| !is_cherry_pick(key));
        updates(base, &rest)
    };
    commit::change(ops, &table, rest).await
}

/// Checks the changes of a table. Nothing is changed or written.
///
/// # Errors
/// What Iceberg refuses, with the Java library's sentence as detail.
pub fn check(table: &Table, alteration: &Alteration) -> Result<()> {
    updates(table, alteration).map(drop)
}

/// The updates that make a version of a table what it shall be.
fn updates(base: &Table, alteration: &Alteration) -> Result<Vec<TableUpdate>> {
    let metadata = base.metadata();
    let mut updates = properties::updates(base, &alteration.set, &alteration.reset)?;
    if !alteration.schema.is_empty() {
        let old = metadata.current_schema();
        let new = schema::evolve(old, metadata.last_column_id(), &alteration.schema)?;
        if new.as_struct() != old.as_struct() || !new.identifier_field_ids().eq(old.identifier_field_ids()) {
            check_types(&new, metadata.format_version())?;
            check_sources(metadata, &new)?;
            check_names(metadata, &new)?;
            updates.push(TableUpdate::AddSchema { schema: new });
            updates.push(TableUpdate::SetCurrentSchema { schema_id: -1 });
        }
    }
    if !alteration.partition.is_empty() {
        let spec = partition::respec(metadata, &alteration.partition)?;
        let old = metadata.default_partition_spec().as_ref().clone().into_unbound();
        if spec.fields() != old.fields() {
            updates.push(TableUpdate::AddSpec { spec });
            updates.push(TableUpdate::SetDefaultSpec { spec_id: -1 });
        }
    }
    if let Some(terms) = &alteration.order {
        updates.extend(order::updates(metadata, terms)?);
    }
    updates.extend(refs::updates(base, &alteration.refs)?);
    Ok(updates)
}

/// What partitions and sorts new files must stay: the Java library refuses a schema without it when it binds the spec
/// and the sort order anew.
fn check_sources(metadata: &TableMetadata, new: &Schema) -> Result<()> {
    let old = metadata.current_schema();
    let name = |id: i32| old.name_by_field_id(id).unwrap_or_default().to_owned();
    for field in metadata.default_partition_spec().fields() {
        if new.field_by_id(field.source_id).is_some() {
            continue;
        }
        // a field that holds nothing any more, which keeps its place in version 1: the metadata library wants its column
        if field.transform == Transform::Void {
            let feature = format!("dropping column '{}', by which older files are partitioned", name(field.source_id));
            let hint =
                if metadata.format_version() == FormatVersion::V1 { "SET ('format-version' = '2') and " } else { "" };
            return Err(
                Error::unsupported(feature).with_hint(format!("{hint}DROP PARTITION FIELD {} first", field.name))
            );
        }
        return Err(Error::new(
            "invalid-alter",
            format!("column '{}' is the source of partition field '{}'", name(field.source_id), field.name),
        )
        .with_detail(format!(
            "Cannot find source column for partition field: {}: {}: {}({})",
            field.field_id, field.name, field.transform, field.source_id
        ))
        .with_hint(format!("drop the partition field first: ALTER TABLE .. DROP PARTITION FIELD {}", field.name)));
    }
    for field in &metadata.default_sort_order().fields {
        if new.field_by_id(field.source_id).is_none() {
            return Err(Error::new(
                "invalid-alter",
                format!("the table is sorted by column '{}'", name(field.source_id)),
            )
            .with_detail(format!(
                "Cannot find source column for sort field: {}({})",
                field.transform, field.source_id
            )));
        }
    }
    Ok(())
}

/// A column cannot have the name of a partition field that holds the values of another one, in whatever spec: the Java
/// library could not load the table any more (`PartitionSpec.Builder`). It does where that column is gone.
///
/// # Errors
/// `invalid-alter`, with the Java library's sentence as detail.
pub(super) fn check_names(metadata: &TableMetadata, new: &Schema) -> Result<()> {
    let old = metadata.current_schema();
    let fields = metadata.partition_specs_iter().flat_map(|spec| spec.fields());
    for field in fields.filter(|field| new.field_by_id(field.source_id).is_some()) {
        let Some(id) = new.field_id_by_name(&field.name).filter(|id| *id != field.source_id) else { continue };
        if old.field_id_by_name(&field.name) != Some(id) {
            let name = &field.name;
            return Err(Error::new("invalid-alter", format!("a partition field of another column is named '{name}'"))
                .with_detail(format!("Cannot create identity partition sourced from different field in schema: {name}"))
                .with_hint("give the column another name: specs of older files keep their names"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
