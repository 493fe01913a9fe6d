//! Replacing a table: another schema, partition spec and properties, and other rows, in one commit. What was there stays
//! in the table's history, and its branches and tags beside main stay as they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use calve_types::{Error, Result};
use iceberg::spec::{FormatVersion, MAIN_BRANCH, Schema, SortOrder, TableMetadata, UnboundPartitionSpec};
use iceberg::{TableIdent, TableRequirement, TableUpdate};

use super::alter::check_names;
use super::{Catalog, TableCreation, apply};
use crate::commit::{CommitError, TableOps, change};
use crate::error::Context;
use crate::table::Table;

/// A table that is to be replaced: rows are written for [`Self::table`], and committed through this, which puts the
/// replacement before what else the commit changes.
#[derive(Debug)]
pub struct Replacement {
    catalog: Arc<dyn Catalog>,
    /// What makes the old table the new one.
    updates: Vec<TableUpdate>,
    /// The version the updates were made for.
    base: Table,
    /// That version with the updates.
    table: Table,
    /// The version that the last [`TableOps::refresh`] found, or why it cannot be replaced.
    newest: Mutex<Result<Table>>,
}

impl Replacement {
    /// Prepares the replacement of `base`, a version of a table of `catalog`. Nothing is written.
    ///
    /// # Errors
    /// As [`Catalog::draft`]. `not-supported` for a table that stays in format version 1, whose partition specs cannot
    /// lose fields; `invalid-option` for an older version than the table has.
    pub fn prepare(catalog: Arc<dyn Catalog>, base: Table, creation: &TableCreation) -> Result<Self> {
        let draft = catalog.draft(base.ident(), creation)?;
        let updates = updates(base.metadata(), &draft, creation)?;
        let table = staged(&base, apply(&base, updates.clone())?.metadata);
        Ok(Self { catalog, updates, newest: Mutex::new(Ok(base.clone())), base, table })
    }

    /// The table as it will be, without rows.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Replaces the table by one without rows.
    ///
    /// Not to be cancelled: a future dropped here leaves the outcome unknown.
    ///
    /// # Errors
    /// `commit-unknown`: the table may be replaced. `commit-conflict` and others: it is not.
    pub async fn commit(&self) -> Result<Table> {
        let propose = |newest: &Table| if self.fits(newest) { Ok(self.updates.clone()) } else { Err(self.conflict()) };
        change(self.catalog.as_ref(), &self.base, propose).await
    }

    /// Whether the updates mean for this version what they meant for the one they were made for: rows may have come or
    /// gone meanwhile, while schema, partition spec and properties are as they were.
    fn fits(&self, newest: &Table) -> bool {
        let (old, new) = (self.base.metadata(), newest.metadata());
        old.uuid() == new.uuid()
            && old.format_version() == new.format_version()
            && old.location() == new.location()
            && old.last_column_id() == new.last_column_id()
            && old.current_schema_id() == new.current_schema_id()
            && old.schemas_iter().len() == new.schemas_iter().len()
            && old.last_partition_id() == new.last_partition_id()
            && old.default_partition_spec_id() == new.default_partition_spec_id()
            && old.partition_specs_iter().len() == new.partition_specs_iter().len()
            && old.default_sort_order_id() == new.default_sort_order_id()
            && old.properties() == new.properties()
    }

    fn conflict(&self) -> Error {
        Error::new("commit-conflict", format!("table '{}' was changed while it was replaced", self.base.ident()))
    }

    fn newest(&self) -> std::sync::MutexGuard<'_, Result<Table>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl TableOps for Replacement {
    /// The newest version as if it were replaced. Where it cannot be replaced any more it comes as it is, so that a commit
    /// that got in is found there; a further one is refused.
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        let found = self.catalog.refresh(ident).await?;
        let built = if self.fits(&found) { apply(&found, self.updates.clone()) } else { Err(self.conflict()) };
        let (newest, shown) = match built {
            Ok(built) => (Ok(found.clone()), staged(&found, built.metadata)),
            Err(error) => (Err(error), found),
        };
        *self.newest() = newest;
        Ok(shown)
    }

    async fn commit(
        &self,
        base: &Table,
        _requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        let newest = self.newest().clone().map_err(CommitError::Rejected)?;
        if newest.metadata_location() != base.metadata_location() {
            return Err(CommitError::Rejected(self.conflict()));
        }
        // those of the commit are about the replaced table
        let requirements = vec![TableRequirement::UuidMatch { uuid: newest.metadata().uuid() }];
        let all = self.updates.iter().cloned().chain(updates).collect();
        self.catalog.commit(&newest, requirements, all).await
    }
}

/// A version that is not written: `base` with other metadata.
pub(crate) fn staged(base: &Table, metadata: TableMetadata) -> Table {
    let location = base.metadata_location().to_owned();
    Table::new(base.ident().clone(), Arc::new(metadata), location, base.io().clone(), base.cache().clone())
}

/// What makes `base` the table that `draft` describes, but for its location and its history.
fn updates(base: &TableMetadata, draft: &TableMetadata, creation: &TableCreation) -> Result<Vec<TableUpdate>> {
    let mut updates = vec![];
    let given = creation.properties.contains_key("format-version");
    let version = if given { draft.format_version() } else { base.format_version().max(draft.format_version()) };
    if version < base.format_version() {
        let has = base.format_version() as u8;
        return Err(Error::new("invalid-option", format!("the table has format version {has} and cannot go back"))
            .with_detail(format!("Cannot downgrade v{has} table to v{}", version as u8))
            .with_hint("leave 'format-version' out"));
    }
    if version == FormatVersion::V1 {
        return Err(Error::unsupported("replacing a table of format version 1")
            .with_hint("add 'format-version' = '2' to the WITH clause"));
    }
    if version > base.format_version() {
        updates.push(TableUpdate::UpgradeFormatVersion { format_version: version });
    }
    let ids = ids(base, draft)?;
    let schema = renumbered(draft.current_schema(), &ids)?;
    check_names(base, &schema)?;
    updates.push(TableUpdate::AddSchema { schema });
    updates.push(TableUpdate::SetCurrentSchema { schema_id: -1 });
    let what = || "replace the partition spec";
    let mut spec = UnboundPartitionSpec::builder();
    for field in draft.default_partition_spec().fields() {
        let source = ids.get(&field.source_id).copied();
        let source = source.ok_or_else(|| Error::internal("a partition field without a column"))?;
        spec = spec.add_partition_field(source, &field.name, field.transform).context(what)?;
    }
    updates.push(TableUpdate::AddSpec { spec: spec.build() });
    updates.push(TableUpdate::SetDefaultSpec { spec_id: -1 });
    if !base.default_sort_order().is_unsorted() {
        updates.push(TableUpdate::AddSortOrder { sort_order: SortOrder::unsorted_order() });
        updates.push(TableUpdate::SetDefaultSortOrder { sort_order_id: -1 });
    }
    let removals: Vec<String> =
        base.properties().keys().filter(|key| !draft.properties().contains_key(*key)).cloned().collect();
    if !removals.is_empty() {
        updates.push(TableUpdate::RemoveProperties { removals });
    }
    let set: HashMap<String, String> = draft
        .properties()
        .iter()
        .filter(|(key, value)| base.properties().get(*key) != Some(value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !set.is_empty() {
        updates.push(TableUpdate::SetProperties { updates: set });
    }
    updates.push(TableUpdate::RemoveSnapshotRef { ref_name: MAIN_BRANCH.to_owned() });
    Ok(updates)
}

/// The ids of the draft's fields in the replaced table. A column that has its name and type from the old one keeps that
/// one's id, so that queries of old snapshots, which have the newest schema, show its values; all others get ids that no
/// file has yet.
fn ids(base: &TableMetadata, draft: &TableMetadata) -> Result<HashMap<i32, i32>> {
    let schema = draft.current_schema();
    let mut ids = HashMap::new();
    for id in schema.field_id_to_fields().keys() {
        let fresh = id.checked_add(base.last_column_id());
        ids.insert(*id, fresh.ok_or_else(|| Error::new("invalid-table", "the table has used up its field ids"))?);
    }
    let old = base.current_schema().as_struct().fields();
    for field in schema.as_struct().fields() {
        let same = old.iter().find(|o| o.name == field.name && o.field_type == field.field_type);
        if let Some(old) = same.filter(|_| field.field_type.is_primitive()) {
            ids.insert(field.id, old.id);
        }
    }
    Ok(ids)
}

/// A schema with other ids. Its JSON holds all of them by name.
fn renumbered(schema: &Schema, ids: &HashMap<i32, i32>) -> Result<Schema> {
    const KEYS: [&str; 4] = ["id", "element-id", "key-id", "value-id"];
    fn renumber(value: &mut serde_json::Value, ids: &HashMap<i32, i32>) -> Result<()> {
        match value {
            serde_json::Value::Object(entries) => {
                for (key, value) in entries.iter_mut() {
                    let found = match value {
                        serde_json::Value::Array(found) if key == "identifier-field-ids" => found.iter_mut().collect(),
                        id if KEYS.contains(&key.as_str()) && id.is_i64() => vec![id],
                        other => {
                            renumber(other, ids)?;
                            continue;
                        }
                    };
                    for id in found {
                        let old = id.as_i64().and_then(|id| i32::try_from(id).ok());
                        let new = old.and_then(|old| ids.get(&old));
                        *id = (*new.ok_or_else(|| Error::internal("a field id that no field has"))?).into();
                    }
                }
                Ok(())
            }
            serde_json::Value::Array(values) => values.iter_mut().try_for_each(|value| renumber(value, ids)),
            _ => Ok(()),
        }
    }
    let what = || "number the columns of the new schema";
    let mut json = serde_json::to_value(schema).context(what)?;
    renumber(&mut json, ids)?;
    serde_json::from_value(json).context(what)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::collections::BTreeMap;
    use std::path::Path;

    use calve_types::{DataType, LogicalType};
    use iceberg::spec::Transform;

    use super::*;
    use crate::catalog::open;
    use crate::schema::to_iceberg;

    fn hadoop(dir: &Path) -> Arc<dyn Catalog> {
        let options = [
            ("type", "iceberg".to_owned()),
            ("catalog-type", "hadoop".to_owned()),
            ("warehouse", dir.display().to_string()),
        ];
        let options: BTreeMap<String, String> = options.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        open("lake", &options).unwrap()
    }

    fn creation(columns: &[(&str, DataType)], key: &[&str], options: &[(&str, &str)]) -> TableCreation {
        let columns: Vec<_> = columns.iter().map(|(name, t)| ((*name).to_owned(), t.clone(), None)).collect();
        let key: Vec<String> = key.iter().map(|name| (*name).to_owned()).collect();
        TableCreation {
            schema: to_iceberg(&columns, &key).unwrap(),
            partition: vec![],
            properties: options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            comment: None,
        }
    }

    #[tokio::test]
    async fn schema_spec_and_properties_change_in_one_version() {
        let dir = tempfile::tempdir().unwrap();
        let catalog = hadoop(dir.path());
        let ident = catalog.ident("db", "t").unwrap();
        let int = LogicalType::Int.nullable();
        let old = creation(&[("a", int.clone()), ("b", int.clone())], &[], &[("x", "1"), ("y", "2")]);
        let base = catalog.create_table(&ident, old).await.unwrap();
        let text = LogicalType::STRING.not_null();
        let mut new = creation(&[("k", text), ("a", int)], &["k"], &[("y", "3")]);
        new.partition = vec![("k".to_owned(), Transform::Identity)];
        let replacement = Replacement::prepare(catalog.clone(), base.clone(), &new).unwrap();
        assert!(catalog.load_table(&ident).await.unwrap().unwrap().metadata() == base.metadata(), "nothing is written");
        let table = replacement.commit().await.unwrap();
        let metadata = table.metadata();
        assert_eq!(metadata.uuid(), base.metadata().uuid());
        let ids: Vec<_> =
            metadata.current_schema().as_struct().fields().iter().map(|f| (f.name.as_str(), f.id)).collect();
        assert_eq!(ids, [("k", 3), ("a", 1)]);
        assert_eq!(metadata.current_schema().identifier_field_ids().collect::<Vec<_>>(), [3]);
        assert_eq!(metadata.default_partition_spec().fields().first().unwrap().source_id, 3);
        assert_eq!(table.property("y"), Some("3"));
        assert_eq!(table.property("x"), None);
        assert_eq!(metadata.metadata_log().len(), 1, "one commit");
        assert_eq!(metadata.schemas_iter().len(), 2, "old snapshots keep their schema");
    }

    #[tokio::test]
    async fn a_table_changed_meanwhile_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let catalog = hadoop(dir.path());
        let ident = catalog.ident("db", "t").unwrap();
        let int = LogicalType::Int.nullable();
        let base = catalog.create_table(&ident, creation(&[("a", int.clone())], &[], &[])).await.unwrap();
        let new = creation(&[("b", int.clone())], &[], &[]);
        let first = Replacement::prepare(catalog.clone(), base.clone(), &new).unwrap();
        let second = Replacement::prepare(catalog.clone(), base, &creation(&[("c", int)], &[], &[])).unwrap();
        first.commit().await.unwrap();
        assert_eq!(second.commit().await.unwrap_err().code, "commit-conflict");
        let table = second.refresh(&ident).await.unwrap();
        let refused = TableOps::commit(&second, &table, vec![], vec![]).await;
        assert!(matches!(refused, Err(CommitError::Rejected(error)) if error.code == "commit-conflict"));
        let newest = catalog.load_table(&ident).await.unwrap().unwrap();
        assert!(newest.metadata().current_schema().field_by_name("b").is_some());
    }

    #[tokio::test]
    async fn what_cannot_be_applied_is_not_committed_without_the_replacement() {
        let dir = tempfile::tempdir().unwrap();
        let catalog = hadoop(dir.path());
        let ident = catalog.ident("db", "t").unwrap();
        let int = LogicalType::Int.nullable();
        let base = catalog.create_table(&ident, creation(&[("a", int.clone())], &[], &[])).await.unwrap();
        let new = creation(&[("b", int)], &[], &[]);
        let replacement = Replacement::prepare(catalog.clone(), base.clone(), &new).unwrap();
        // another machine's clock is ahead
        let mut json = serde_json::to_value(base.metadata().as_ref()).unwrap();
        json["last-updated-ms"] = (base.metadata().last_updated_ms() + 3_600_000).into();
        std::fs::write(base.metadata_location(), json.to_string()).unwrap();
        let shown = replacement.refresh(&ident).await.unwrap();
        assert_eq!(shown.metadata().current_schema(), base.metadata().current_schema(), "as it is");
        let refused = TableOps::commit(&replacement, &shown, vec![], vec![]).await;
        assert!(matches!(refused, Err(CommitError::Rejected(error)) if error.code == "clock-behind"));
        assert_eq!(replacement.commit().await.unwrap_err().code, "clock-behind");
    }

    #[tokio::test]
    async fn a_column_may_have_the_name_of_a_partition_field_whose_column_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let catalog = hadoop(dir.path());
        let ident = catalog.ident("db", "t").unwrap();
        let int = LogicalType::Int.nullable();
        let mut by_a = creation(&[("a", int.clone())], &[], &[]);
        by_a.partition = vec![("a".to_owned(), Transform::Identity)];
        let mut base = catalog.create_table(&ident, by_a.clone()).await.unwrap();
        for next in [&by_a, &creation(&[("b", int)], &[], &[]), &by_a] {
            base = Replacement::prepare(catalog.clone(), base, next).unwrap().commit().await.unwrap();
        }
        assert!(base.metadata().current_schema().field_by_name("a").is_some());
    }

    #[tokio::test]
    async fn format_versions_go_up_alone() {
        let dir = tempfile::tempdir().unwrap();
        let catalog = hadoop(dir.path());
        let ident = catalog.ident("db", "t").unwrap();
        let columns = [("a", LogicalType::Int.nullable())];
        let base = catalog.create_table(&ident, creation(&columns, &[], &[("format-version", "3")])).await.unwrap();
        let down = creation(&columns, &[], &[("format-version", "2")]);
        let error = Replacement::prepare(catalog.clone(), base.clone(), &down).unwrap_err();
        assert_eq!(error.code, "invalid-option");
        let same = Replacement::prepare(catalog.clone(), base, &creation(&columns, &[], &[])).unwrap();
        assert_eq!(same.commit().await.unwrap().metadata().format_version(), FormatVersion::V3);
        let old = catalog.ident("db", "old").unwrap();
        let base = catalog.create_table(&old, creation(&columns, &[], &[("format-version", "1")])).await.unwrap();
        let one = creation(&columns, &[], &[("format-version", "1")]);
        assert_eq!(Replacement::prepare(catalog.clone(), base.clone(), &one).unwrap_err().code, "not-supported");
        let up = Replacement::prepare(catalog, base, &creation(&columns, &[], &[("format-version", "2")])).unwrap();
        assert_eq!(up.commit().await.unwrap().metadata().format_version(), FormatVersion::V2);
    }
}
