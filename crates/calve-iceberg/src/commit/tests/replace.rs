//! Replacing partitions.

use super::*;

fn replace(data: Vec<NewFile>) -> Operation {
    Operation::ReplacePartitions(ReplacePartitions { data })
}

fn part(name: &str, rows: u64, p: i32) -> NewFile {
    file(name, DataContentType::Data, rows, Some(p))
}

fn keys(name: &str, rows: u64, p: Option<i32>) -> NewFile {
    file(name, DataContentType::EqualityDeletes, rows, p)
}

fn delta(data: Vec<NewFile>, deletes: Vec<NewFile>) -> Operation {
    Operation::RowDelta(RowDelta { data, deletes, ..RowDelta::default() })
}

/// The entries that the current snapshot gave a status.
async fn with_status(table: &Table, status: iceberg::spec::ManifestStatus) -> BTreeSet<String> {
    let snapshot = table.metadata().current_snapshot().unwrap();
    let mut names = BTreeSet::new();
    let manifests = table.manifests(snapshot).await.unwrap();
    for manifest in manifests.iter().filter(|m| m.added_snapshot_id == snapshot.snapshot_id()) {
        for entry in table.entries(manifest).await.unwrap().iter().filter(|e| e.status() == status) {
            assert!(entry.sequence_number().is_some() && entry.file_sequence_number.is_some());
            if status == iceberg::spec::ManifestStatus::Deleted {
                assert_eq!(entry.snapshot_id(), Some(snapshot.snapshot_id()), "of this snapshot only");
            }
            names.insert(entry.file_path().trim_start_matches("/nowhere/").to_owned());
        }
    }
    names
}

#[tokio::test]
async fn partitions_that_get_files_lose_all_they_had() {
    use iceberg::spec::ManifestStatus::{Added, Deleted};
    for version in ["2", "3"] {
        let w = Warehouse::new();
        let table = w.partitioned(&[("format-version", version)], &[("p", Transform::Identity)]).await;
        w.commit(&table, delta(vec![part("f1", 5, 1), part("f2", 7, 2)], vec![])).await;
        let about = |name: &str, of: &str, p| match version {
            "2" => positions(name, of, 1, Some(p)),
            _ => vector(name, of, 1, Some(p)),
        };
        let deletes = vec![keys("e1", 2, Some(1)), keys("e2", 3, Some(2)), about("d1", "f1", 1), about("d2", "f2", 2)];
        w.commit(&table, delta(vec![part("g1", 1, 1)], deletes)).await;
        let now = w.commit(&table, replace(vec![part("h1", 4, 1), part("h3", 2, 3)])).await;

        let files = live(&now, "main").await;
        assert_eq!(names(&files), ["d2", "e2", "f2", "h1", "h3"]);
        assert_eq!((files["f2"].0, files["e2"].0, files["h1"].0), (1, 2, 3), "sequence numbers stay");
        let set = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(with_status(&now, Deleted).await, set(&["d1", "e1", "f1", "g1"]));
        assert_eq!(with_status(&now, Added).await, set(&["h1", "h3"]));
        let summary = summary_of(&now);
        let dv = version == "3";
        for (key, value) in [
            ("operation", "overwrite"),
            ("replace-partitions", "true"),
            ("added-data-files", "2"),
            ("added-records", "6"),
            ("added-files-size", "60"),
            ("deleted-data-files", "2"),
            ("deleted-records", "6"),
            ("removed-delete-files", "2"),
            ("removed-equality-delete-files", "1"),
            ("removed-equality-deletes", "2"),
            (if dv { "removed-dvs" } else { "removed-position-delete-files" }, "1"),
            ("removed-position-deletes", "1"),
            ("removed-files-size", if dv { "124" } else { "90" }),
            ("changed-partition-count", "2"),
            ("total-data-files", "3"),
            ("total-records", "13"),
            ("total-delete-files", "2"),
            ("total-equality-deletes", "3"),
            ("total-position-deletes", "1"),
            ("total-files-size", if dv { "204" } else { "170" }),
        ] {
            assert_eq!(summary.get(key).map(String::as_str), Some(value), "{key} of version {version}");
        }
        assert!(!summary.contains_key(if dv { "removed-position-delete-files" } else { "removed-dvs" }));
        assert_eq!(w.avro_files(), referenced(&now).await);

        // what was deleted is not listed again, and manifests without live files are gone
        let next = w.commit(&table, append_in(2, "k")).await;
        assert_eq!(with_status(&next, Deleted).await, BTreeSet::new());
        assert_eq!(names(&live(&next, "main").await), ["d2", "e2", "f2", "h1", "h3", "k"]);
    }
}

fn append_in(p: i32, name: &str) -> Operation {
    Operation::Append(Append { data: vec![part(name, 1, p)] })
}

#[tokio::test]
async fn an_unpartitioned_table_is_replaced_as_a_whole() {
    for version in ["1", "2", "3"] {
        let w = Warehouse::new();
        let table = w.table(&[("format-version", version)]).await;
        w.commit(&table, append("f1", 3)).await;
        if version != "1" {
            w.commit(&table, delta(vec![data("f2", 2)], vec![keys("e2", 4, None)])).await;
        }
        let now = w.commit(&table, replace(vec![data("g", 1)])).await;
        assert_eq!(names(&live(&now, "main").await), ["g"]);
        let summary = summary_of(&now);
        for total in ["total-data-files", "total-records"] {
            assert_eq!(summary[total], "1", "{total}");
        }
        for total in ["total-delete-files", "total-equality-deletes"] {
            assert_eq!(summary[total], "0", "{total}");
        }
        assert_eq!((summary["operation"].as_str(), summary["total-files-size"].as_str()), ("overwrite", "10"));
        assert_eq!(w.avro_files(), referenced(&now).await);
        // an empty table and a new branch can be replaced, too
        let fresh = Warehouse::new();
        let table = fresh.table(&[("format-version", version)]).await;
        let now = fresh.commit(&table, replace(vec![data("g", 1)])).await;
        assert_eq!(names(&live(&now, "main").await), ["g"]);
        assert_eq!(fresh.refused(&table, replace(vec![])).await.code, "internal");
    }
}

#[tokio::test]
async fn files_of_another_spec_stay_unless_the_new_one_is_unpartitioned() {
    let w = Warehouse::new();
    let table = w.partitioned(&[], &[("p", Transform::Identity)]).await;
    w.commit(&table, delta(vec![part("f1", 1, 1)], vec![keys("e1", 1, Some(1))])).await;
    // the partition is dropped, and then is another one
    let spec = iceberg::spec::UnboundPartitionSpec::builder().with_spec_id(1).build();
    let updates = vec![TableUpdate::AddSpec { spec }, TableUpdate::SetDefaultSpec { spec_id: -1 }];
    let table = w.catalog.commit(&w.catalog.refresh(table.ident()).await.unwrap(), vec![], updates).await.unwrap();
    let global = NewFile { spec_id: 1, ..keys("global", 1, None) };
    let plain = |name: &str| NewFile { spec_id: 1, ..data(name, 1) };
    w.commit(&table, delta(vec![plain("u1")], vec![global])).await;
    let now = w.commit(&table, replace(vec![part("g1", 1, 1)])).await;
    assert_eq!(names(&live(&now, "main").await), ["g1", "global", "u1"], "e1 goes with its partition");
    let now = w.commit(&table, replace(vec![plain("u2")])).await;
    assert_eq!(names(&live(&now, "main").await), ["u2"]);
    assert_eq!(w.avro_files(), referenced(&now).await);
}

#[tokio::test]
async fn values_of_a_promoted_column_are_the_same_partition() {
    use crate::catalog::alter::{Alteration, SchemaChange, alter};
    let w = Warehouse::new();
    let table = w.partitioned(&[], &[("p", Transform::Identity)]).await;
    w.commit(&table, append_in(1, "f1")).await;
    w.commit(&table, append_in(2, "f2")).await;
    let data_type = LogicalType::BigInt.nullable();
    let schema = vec![SchemaChange::Retype { name: "p".to_owned(), data_type }];
    let wider = Alteration { schema, ..Alteration::default() };
    alter(&*w.catalog, &table, |_| Ok(wider.clone())).await.unwrap();
    let mut new = part("g1", 1, 1);
    let mut builder = crate::table::rebuild(&new.file, 0);
    new.file = builder.partition(Struct::from_iter([Some(Literal::long(1))])).build().unwrap();
    let now = w.commit(&table, replace(vec![new])).await;
    assert_eq!(names(&live(&now, "main").await), ["f2", "g1"]);
}

#[tokio::test]
async fn deletes_older_than_all_data_go() {
    let w = Warehouse::new();
    let table = w.partitioned(&[], &[("p", Transform::Identity)]).await;
    w.commit(&table, append_in(1, "f1")).await;
    let deletes = vec![keys("e1", 1, Some(1)), keys("e2", 1, Some(2))];
    w.commit(&table, delta(vec![], deletes)).await;
    let now = w.commit(&table, append_in(2, "f2")).await;
    assert_eq!(names(&live(&now, "main").await), ["e1", "e2", "f1", "f2"]);
    let now = w.commit(&table, replace(vec![part("g1", 1, 1)])).await;
    assert_eq!(names(&live(&now, "main").await), ["f2", "g1"], "e2 is older than f2, the oldest that is left");
    assert_eq!(summary_of(&now)["removed-equality-delete-files"], "2");
    assert_eq!(summary_of(&now)["changed-partition-count"], "2");
}

#[tokio::test]
async fn partition_summaries_up_to_their_limit() {
    for (limit, told) in [("0", false), ("1", false), ("2", true), ("9", true)] {
        let w = Warehouse::new();
        let with = [("write.summary.partition-limit", limit)];
        let table = w.partitioned(&with, &[("p", Transform::Identity)]).await;
        w.commit(&table, append_in(1, "f1")).await;
        let now = w.commit(&table, replace(vec![part("g1", 4, 1), part("g2", 5, 2)])).await;
        let summary = summary_of(&now);
        assert_eq!(summary.get("partition-summaries-included").map(String::as_str), told.then_some("true"));
        let one = "added-data-files=1,deleted-data-files=1,added-records=4,deleted-records=1,\
                   added-files-size=40,removed-files-size=10";
        assert_eq!(summary.get("partitions.p=1").map(String::as_str), told.then_some(one));
        let two = "added-data-files=1,added-records=5,added-files-size=50";
        assert_eq!(summary.get("partitions.p=2").map(String::as_str), told.then_some(two));
    }
}
