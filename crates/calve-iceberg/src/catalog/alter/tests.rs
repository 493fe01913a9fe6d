#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::sync::Arc;

use calve_types::LogicalType;
use iceberg::spec::{FormatVersion, Transform};

use super::*;
use crate::catalog::{Catalog, TableCreation, open};
use crate::schema::to_iceberg;

struct Lake {
    dir: tempfile::TempDir,
    catalog: Arc<dyn Catalog>,
}

impl Lake {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let catalog = Self::open(&dir);
        Self { dir, catalog }
    }

    fn open(dir: &tempfile::TempDir) -> Arc<dyn Catalog> {
        let options = [("catalog-type", "hadoop"), ("warehouse", dir.path().to_str().unwrap())];
        open("c", &options.map(|(k, v)| (k.to_owned(), v.to_owned())).into()).unwrap()
    }

    async fn table(&self, name: &str, partition: &[(&str, Transform)], with: &[(&str, &str)]) -> Table {
        let columns = [
            ("id", LogicalType::BigInt.not_null()),
            ("ts", LogicalType::Timestamp(6).nullable()),
            ("s", LogicalType::STRING.nullable()),
        ];
        let columns: Vec<_> = columns.into_iter().map(|(n, t)| (n.to_owned(), t, None)).collect();
        let creation = TableCreation {
            schema: to_iceberg(&columns, &[]).unwrap(),
            partition: partition.iter().map(|(n, t)| ((*n).to_owned(), *t)).collect(),
            properties: with.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            comment: None,
        };
        self.catalog.create_table(&self.catalog.ident("db", name).unwrap(), creation).await.unwrap()
    }

    async fn alter(&self, table: &Table, alteration: Alteration) -> Result<Table> {
        alter(self.catalog.as_ref(), table, |_| Ok(alteration.clone())).await
    }

    /// The sentence of a refusal; the table stays as it was.
    async fn refusal(&self, table: &Table, alteration: Alteration) -> String {
        let before = self.catalog.refresh(table.ident()).await.unwrap();
        let error = self.alter(table, alteration).await.unwrap_err();
        let after = self.catalog.refresh(table.ident()).await.unwrap();
        assert_eq!(after.metadata_location(), before.metadata_location());
        error.detail.unwrap_or(error.message)
    }
}

fn set(options: &[(&str, &str)]) -> Alteration {
    let set = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Alteration { set, ..Alteration::default() }
}

fn reset(keys: &[&str]) -> Alteration {
    Alteration { reset: keys.iter().map(|k| (*k).to_owned()).collect(), ..Alteration::default() }
}

fn columns(schema: Vec<SchemaChange>) -> Alteration {
    Alteration { schema, ..Alteration::default() }
}

fn add(name: &str, logical: LogicalType) -> SchemaChange {
    SchemaChange::Add { name: name.into(), data_type: logical.nullable(), comment: None, place: None }
}

fn term(column: &str, transform: Transform) -> PartitionTerm {
    PartitionTerm { column: column.into(), transform }
}

fn partition(changes: Vec<SpecChange>) -> Alteration {
    Alteration { partition: changes, ..Alteration::default() }
}

fn add_field(column: &str, transform: Transform) -> SpecChange {
    SpecChange::Add { term: term(column, transform), name: None }
}

fn drop_field(column: &str, transform: Transform) -> SpecChange {
    SpecChange::Drop(PartitionRef::Term(term(column, transform)))
}

fn version(table: &Table) -> &str {
    table.metadata_location().rsplit('/').next().unwrap()
}

fn spec(table: &Table) -> Vec<String> {
    let fields = table.metadata().default_partition_spec().fields();
    fields.iter().map(|f| format!("{} {} {}({})", f.field_id, f.name, f.transform, f.source_id)).collect()
}

#[tokio::test]
async fn properties_are_set_removed_and_left_alone() {
    let lake = Lake::new();
    let table = lake.table("t", &[], &[("old", "1")]).await;
    let table = lake.alter(&table, set(&[("new", "n"), ("old", "2")])).await.unwrap();
    assert_eq!(
        (table.property("new"), table.property("old"), version(&table)),
        (Some("n"), Some("2"), "v2.metadata.json")
    );
    // what changes nothing commits nothing: a value that is there, a key that is not, what the metadata tells itself
    for same in [set(&[("old", "2")]), set(&[]), reset(&["nokey"]), set(&[("uuid", "x"), ("snapshot-count", "1")])] {
        assert_eq!(version(&lake.alter(&table, same).await.unwrap()), "v2.metadata.json");
    }
    let location = format!("{}/", table.metadata().location());
    assert_eq!(version(&lake.alter(&table, set(&[("location", &location)])).await.unwrap()), "v2.metadata.json");
    let table = lake.alter(&table, reset(&["new", "nokey", "format-version", "location"])).await.unwrap();
    assert_eq!((table.property("new"), version(&table)), (None, "v3.metadata.json"));
    for (options, sentence) in [
        (
            &[("connector", "print")][..],
            "Source table db.t contains one/all of the reserved property keys: connector, src-catalog.",
        ),
        (&[("format-version", "1")], "Cannot downgrade v2 table to v1"),
        (&[("format-version", "5")], "Cannot upgrade table to unsupported format version: v5 (supported: v4)"),
        (&[("format-version", "x")], "For input string: \"x\""),
        (&[("current-snapshot-id", "123"), ("k", "v")], "Cannot roll back to unknown snapshot id: 123"),
        (&[("CURRENT-SNAPSHOT-ID", "abc")], "For input string: \"abc\""),
        (&[("cherry-pick-snapshot-id", "123")], "Cannot cherry-pick unknown snapshot ID: 123"),
        (
            &[("cherry-pick-snapshot-id", "1"), ("current-snapshot-id", "1")],
            "Cannot set the current snapshot ID and cherry-pick snapshot changes",
        ),
        (&[("Location", "/elsewhere")], "Hadoop path-based tables cannot be relocated"),
        (&[("write.metadata.path", "/x")], "Hadoop path-based tables cannot relocate metadata"),
    ] {
        assert_eq!(lake.refusal(&table, set(options)).await, sentence);
    }
    // a value that breaks commits can be set right again
    let table = lake.alter(&table, set(&[("commit.retry.num-retries", "many")])).await.unwrap();
    lake.alter(&table, reset(&["commit.retry.num-retries"])).await.unwrap();
}

#[tokio::test]
async fn format_versions_go_up() {
    let lake = Lake::new();
    let table = lake.table("t", &[], &[("format-version", "1")]).await;
    let nanoseconds = columns(vec![add("n", LogicalType::Timestamp(9))]);
    let refused = lake.refusal(&table, nanoseconds.clone()).await;
    assert_eq!(refused, "Invalid schema for v1:\n- Invalid type for n: timestamp_ns is not supported until v3");
    let table = lake.alter(&table, set(&[("format-version", "2")])).await.unwrap();
    assert_eq!(table.metadata().format_version(), FormatVersion::V2);
    let table = lake.alter(&table, set(&[("format-version", "3"), ("k", "v")])).await.unwrap();
    assert_eq!((table.metadata().format_version(), table.property("format-version")), (FormatVersion::V3, None));
    let table = lake.alter(&table, nanoseconds).await.unwrap();
    assert_eq!(table.metadata().current_schema().field_id_by_name("n"), Some(4));
}

#[tokio::test]
async fn ids_of_columns_are_never_used_again() {
    let lake = Lake::new();
    let mut table = lake.table("t", &[], &[]).await;
    for (i, change) in [
        add("a", LogicalType::Int),
        SchemaChange::Drop("a".into()),
        add("a", LogicalType::STRING),
        SchemaChange::Drop("a".into()),
        add("b", LogicalType::Int),
    ]
    .into_iter()
    .enumerate()
    {
        table = lake.alter(&table, columns(vec![change])).await.unwrap();
        assert_eq!(version(&table), format!("v{}.metadata.json", i + 2));
    }
    let metadata = table.metadata();
    assert_eq!((metadata.current_schema().field_id_by_name("b"), metadata.last_column_id()), (Some(6), 6));
    // the schema without 'a' and 'b' is the first one again, and keeps its id
    let ids: BTreeSet<i32> = metadata.schemas_iter().map(|s| s.schema_id()).collect();
    assert_eq!((ids.len(), metadata.current_schema_id()), (4, 3));
    let same = lake.alter(&table, columns(vec![SchemaChange::PrimaryKey(vec![])])).await.unwrap();
    assert_eq!(version(&same), "v6.metadata.json");
}

#[tokio::test]
async fn partition_fields_come_and_go() {
    let lake = Lake::new();
    let table = lake.table("t", &[("ts", Transform::Day)], &[]).await;
    let table = lake.alter(&table, partition(vec![add_field("id", Transform::Bucket(4))])).await.unwrap();
    assert_eq!(spec(&table), ["1000 ts_day day(2)", "1001 id_bucket_4 bucket[4](1)"]);
    let replace = vec![drop_field("ts", Transform::Day), add_field("ts", Transform::Hour)];
    let table = lake.alter(&table, partition(replace)).await.unwrap();
    assert_eq!(spec(&table), ["1001 id_bucket_4 bucket[4](1)", "1002 ts_hour hour(2)"]);
    // a field of an earlier spec has the id and the name it had
    let back = vec![SpecChange::Drop(PartitionRef::Name("ts_hour".into())), add_field("ts", Transform::Day)];
    let table = lake.alter(&table, partition(back)).await.unwrap();
    assert_eq!(spec(&table), ["1001 id_bucket_4 bucket[4](1)", "1000 ts_day day(2)"]);
    let all = vec![drop_field("ts", Transform::Day), SpecChange::Drop(PartitionRef::Name("id_bucket_4".into()))];
    let table = lake.alter(&table, partition(all)).await.unwrap();
    assert!(table.metadata().default_partition_spec().is_unpartitioned());
    let named = SpecChange::Add { term: term("s", Transform::Identity), name: Some("shard".into()) };
    let table = lake.alter(&table, partition(vec![named])).await.unwrap();
    assert_eq!(spec(&table), ["1003 shard identity(3)"]);
    assert_eq!(table.metadata().last_partition_id(), 1003);
    // a column's name finds the field that holds its values
    let again = lake.alter(&table, partition(vec![SpecChange::Drop(PartitionRef::Name("s".into()))])).await.unwrap();
    assert!(again.metadata().default_partition_spec().is_unpartitioned());
}

#[tokio::test]
async fn impossible_partition_fields_are_refused() {
    let lake = Lake::new();
    let table = lake.table("t", &[("ts", Transform::Day)], &[]).await;
    let named = |column: &str, transform, name: &str| SpecChange::Add {
        term: term(column, transform),
        name: Some(name.to_owned()),
    };
    for (change, sentence) in [
        (add_field("nope", Transform::Day), "Cannot find field 'nope' in the table's schema"),
        (add_field("ts", Transform::Day), "Cannot add duplicate partition field day(ts), conflicts with ts_day"),
        (add_field("ts", Transform::Hour), "Cannot add redundant partition field: ts_hour conflicts with ts_day"),
        (add_field("s", Transform::Hour), "Cannot bind: hour cannot transform string values from 's'"),
        (add_field("s", Transform::Bucket(0)), "Cannot bind: bucket[0] cannot transform string values from 's'"),
        (named("s", Transform::Identity, "id"), "Cannot create partition from name that exists in schema: id"),
        (named("s", Transform::Identity, "ts_day"), "Cannot add duplicate partition field name: ts_day"),
        (drop_field("ts", Transform::Hour), "Cannot find partition field to remove: hour(ts)"),
        (SpecChange::Drop(PartitionRef::Name("s".into())), "Cannot find partition field to remove: s"),
    ] {
        assert_eq!(lake.refusal(&table, partition(vec![change])).await, sentence);
    }
    let dropped = lake.refusal(&table, columns(vec![SchemaChange::Drop("ts".into())])).await;
    assert_eq!(dropped, "Cannot find source column for partition field: 1000: ts_day: day(2)");
    // once no new file needs it, the column may go
    let free = lake.alter(&table, partition(vec![drop_field("ts", Transform::Day)])).await.unwrap();
    let gone = lake.alter(&free, columns(vec![SchemaChange::Drop("ts".into())])).await.unwrap();
    assert_eq!(gone.metadata().current_schema().as_struct().fields().len(), 2);
    let taken = lake.refusal(&gone, columns(vec![add("ts_day", LogicalType::Int)])).await;
    assert!(taken.contains("conflicts with existing partition field name"), "{taken}");
}

#[tokio::test]
async fn a_column_cannot_take_the_name_of_a_partition_field_of_another_one() {
    let lake = Lake::new();
    let table = lake.table("t", &[("s", Transform::Identity)], &[]).await;
    let rename = |from: &str, to: &str| SchemaChange::Rename { from: from.into(), to: to.into() };
    // the field keeps the name the column had, also where no new file has it
    let table = lake.alter(&table, columns(vec![rename("s", "old")])).await.unwrap();
    let drop = partition(vec![SpecChange::Drop(PartitionRef::Name("s".into()))]);
    let table = lake.alter(&table, drop).await.unwrap();
    for change in [add("s", LogicalType::Int), rename("ts", "s")] {
        let refused = lake.refusal(&table, columns(vec![change])).await;
        assert_eq!(refused, "Cannot create identity partition sourced from different field in schema: s");
    }
    // it may have its own name again
    let table = lake.alter(&table, columns(vec![rename("old", "s")])).await.unwrap();
    assert_eq!(table.metadata().current_schema().field_id_by_name("s"), Some(3));
}

#[tokio::test]
async fn what_lies_too_deep_to_be_read_again_is_refused() {
    let lake = Lake::new();
    let table = lake.table("t", &[], &[]).await;
    let rows = |depth: usize| {
        let field = |of: LogicalType| LogicalType::Row(vec![calve_types::RowField::new("x", of.nullable())]);
        (0..depth).fold(LogicalType::Int, |of, _| field(of))
    };
    let refused = lake.refusal(&table, columns(vec![add("deep", rows(41))])).await;
    assert_eq!(refused, "not supported: a type as deeply nested as that of column 'deep'");
    assert!(to_iceberg(&[("deep".to_owned(), rows(41).nullable(), None)], &[]).is_err());
    let list = (0..120).fold(LogicalType::Int, |of, _| LogicalType::Array(Box::new(of.nullable())));
    let table = lake.alter(&table, columns(vec![add("deep", rows(40)), add("list", list)])).await.unwrap();
    let read = lake.catalog.refresh(table.ident()).await.unwrap();
    assert_eq!(read.metadata().current_schema().as_struct(), table.metadata().current_schema().as_struct());
    let list = (0..121).fold(LogicalType::Int, |of, _| LogicalType::Array(Box::new(of.nullable())));
    assert!(lake.refusal(&table, columns(vec![add("l", list)])).await.contains("column 'l'"));
}

#[test]
fn keys_that_act_are_not_said_to_have_no_effect() {
    for key in ["current-snapshot-id", "Current-Snapshot-Id", "cherry-pick-snapshot-id", "format-version", "location"] {
        assert!(!is_reserved(key), "{key}");
    }
    assert!(is_reserved("uuid") && is_reserved("current-schema"));
}

#[tokio::test]
async fn partition_fields_of_version_1_keep_their_places() {
    let lake = Lake::new();
    let fields = [("ts", Transform::Day), ("s", Transform::Identity)];
    let table = lake.table("t", &fields, &[("format-version", "1")]).await;
    let replace = vec![drop_field("ts", Transform::Day), add_field("ts", Transform::Hour)];
    let table = lake.alter(&table, partition(replace)).await.unwrap();
    assert_eq!(spec(&table), ["1000 ts_day void(2)", "1001 s identity(3)", "1002 ts_hour hour(2)"]);
    let gone = lake.refusal(&table, partition(vec![SpecChange::Drop(PartitionRef::Name("ts_day".into()))])).await;
    assert_eq!(gone, "Cannot find partition field to remove: ts_day");
    // the metadata library has no field of a column's name that does not hold its values
    let table = lake.alter(&table, partition(vec![drop_field("s", Transform::Identity)])).await.unwrap();
    assert_eq!(spec(&table), ["1000 ts_day void(2)", "1001 s_1001 void(3)", "1002 ts_hour hour(2)"]);
    // and no two fields of one column that hold nothing
    let again = partition(vec![drop_field("ts", Transform::Hour), add_field("ts", Transform::Day)]);
    assert!(lake.refusal(&table, again).await.contains("redundant partition"));
    // their columns can go in version 2, which needs no places
    let drop = columns(vec![SchemaChange::Drop("s".into())]);
    assert!(lake.refusal(&table, drop.clone()).await.starts_with("not supported: dropping column 's'"));
    let table = lake.alter(&table, set(&[("format-version", "2")])).await.unwrap();
    let gone = partition(vec![SpecChange::Drop(PartitionRef::Name("s_1001".into()))]);
    let table = lake.alter(&table, gone).await.unwrap();
    let table = lake.alter(&table, drop).await.unwrap();
    assert_eq!(spec(&table), ["1000 ts_day void(2)", "1002 ts_hour hour(2)"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_changes_all_get_in() {
    let lake = Lake::new();
    let with =
        [("commit.retry.num-retries", "200"), ("commit.retry.min-wait-ms", "2"), ("commit.retry.max-wait-ms", "20")];
    let table = lake.table("t", &[], &with).await;
    let tasks: Vec<_> = (0..4)
        .map(|task| {
            let catalog = if task % 2 == 0 { lake.catalog.clone() } else { Lake::open(&lake.dir) };
            let table = table.clone();
            tokio::spawn(async move {
                for i in 0..5 {
                    let change = columns(vec![add(&format!("c{task}_{i}"), LogicalType::Int)]);
                    alter(catalog.as_ref(), &table, |_| Ok(change.clone())).await.unwrap();
                    // the version that is changed is the one that was looked at
                    let count = |base: &Table| base.metadata().current_schema().as_struct().fields().len();
                    let counted = |base: &Table| Ok(set(&[(&format!("k{task}_{i}"), &count(base).to_string())]));
                    alter(catalog.as_ref(), &table, counted).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let now = lake.catalog.refresh(table.ident()).await.unwrap();
    let ids: BTreeSet<i32> = now.metadata().current_schema().as_struct().fields().iter().map(|f| f.id).collect();
    assert_eq!(ids, (1..=23).collect());
    assert_eq!((now.metadata().last_column_id(), version(&now)), (23, "v41.metadata.json"));
    assert!(now.metadata().properties().values().any(|count| count == "23"));
}

#[tokio::test]
async fn tables_are_renamed_where_the_catalog_can() {
    let lake = Lake::new();
    let table = lake.table("t", &[], &[]).await;
    let error = lake.catalog.rename_table(table.ident(), "u").await.unwrap_err();
    assert_eq!(error.detail.unwrap(), "Cannot rename Hadoop tables");
    assert!(lake.catalog.table_exists(table.ident()).await.unwrap());
}
