#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod clock;
mod faults;
mod jobs;
mod model;
mod outcomes;
mod overwrite;
mod replace;
mod together;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use calve_types::LogicalType;
use iceberg::spec::{
    DataContentType, DataFileBuilder, DataFileFormat, Literal, ManifestContentType, SnapshotReference,
    SnapshotRetention, Struct, Transform,
};

use super::*;
use crate::catalog::{Catalog, TableCreation, open};
use crate::schema::to_iceberg;

struct Warehouse {
    dir: tempfile::TempDir,
    catalog: Arc<dyn Catalog>,
}

impl Warehouse {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let catalog = Self::open(&dir);
        Self { dir, catalog }
    }

    /// A warehouse of a JDBC catalog with the database of the table.
    async fn jdbc() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let catalog = Self::open_jdbc(&dir);
        catalog.create_namespace(&["db".to_owned()], BTreeMap::new()).await.unwrap();
        Self { dir, catalog }
    }

    fn open_jdbc(dir: &tempfile::TempDir) -> Arc<dyn Catalog> {
        let uri = format!("jdbc:sqlite:{}/catalog.db", dir.path().display());
        let options = [("catalog-type", "jdbc"), ("uri", uri.as_str()), ("warehouse", dir.path().to_str().unwrap())];
        open("c", &options.map(|(k, v)| (k.to_owned(), v.to_owned())).into()).unwrap()
    }

    async fn commit(&self, table: &Table, operation: Operation) -> Table {
        commit(&*self.catalog, table, "main", operation, &job()).await.unwrap().table
    }

    async fn refused(&self, table: &Table, operation: Operation) -> Error {
        commit(&*self.catalog, table, "main", operation, &job()).await.unwrap_err()
    }

    /// As another process would.
    fn open(dir: &tempfile::TempDir) -> Arc<dyn Catalog> {
        let options = [("catalog-type", "hadoop"), ("warehouse", dir.path().to_str().unwrap())];
        open("c", &options.map(|(k, v)| (k.to_owned(), v.to_owned())).into()).unwrap()
    }

    async fn table(&self, with: &[(&str, &str)]) -> Table {
        self.partitioned(with, &[]).await
    }

    async fn partitioned(&self, with: &[(&str, &str)], partition: &[(&str, Transform)]) -> Table {
        self.named("t", with, partition).await
    }

    async fn named(&self, name: &str, with: &[(&str, &str)], partition: &[(&str, Transform)]) -> Table {
        let columns = [
            ("id".to_owned(), LogicalType::BigInt.not_null(), None),
            ("p".to_owned(), LogicalType::Int.nullable(), None),
        ];
        let creation = TableCreation {
            schema: to_iceberg(&columns, &["id".to_owned()]).unwrap(),
            partition: partition.iter().map(|(n, t)| ((*n).to_owned(), *t)).collect(),
            properties: with.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            comment: None,
        };
        self.catalog.create_table(&self.catalog.ident("db", name).unwrap(), creation).await.unwrap()
    }

    /// Names in the table's metadata folder, without the versions and the hint.
    fn avro_files(&self) -> BTreeSet<String> {
        self.avro_files_of("t")
    }

    fn avro_files_of(&self, name: &str) -> BTreeSet<String> {
        let dir = std::fs::read_dir(self.dir.path().join(format!("db/{name}/metadata"))).unwrap();
        let names = dir.map(|e| e.unwrap().file_name().into_string().unwrap());
        names.filter(|n| !n.ends_with(".metadata.json") && n != "version-hint.text").collect()
    }
}

const QUICK: [(&str, &str); 2] = [("commit.retry.min-wait-ms", "1"), ("commit.status-check.min-wait-ms", "1")];

fn job() -> JobInfo {
    JobInfo { job_id: "a".repeat(32), operator_id: "b".repeat(32), checkpoint_id: i64::MAX, place: None }
}

fn file(name: &str, content: DataContentType, rows: u64, partition: Option<i32>) -> NewFile {
    let mut builder = DataFileBuilder::default();
    builder
        .content(content)
        .file_path(format!("/nowhere/{name}"))
        .file_format(DataFileFormat::Parquet)
        .file_size_in_bytes(10 * rows)
        .record_count(rows)
        .equality_ids((content == DataContentType::EqualityDeletes).then(|| vec![1]));
    if let Some(p) = partition {
        builder.partition(Struct::from_iter([Some(Literal::int(p))]));
    }
    NewFile { spec_id: 0, file: builder.build().unwrap() }
}

fn data(name: &str, rows: u64) -> NewFile {
    file(name, DataContentType::Data, rows, None)
}

/// A deletion vector about a data file, in a Puffin file of its own.
fn vector(name: &str, about: &str, rows: u64, partition: Option<i32>) -> NewFile {
    vector_at(name, 4, about, rows, partition)
}

/// A deletion vector at an offset of a Puffin file.
fn vector_at(name: &str, offset: i64, about: &str, rows: u64, partition: Option<i32>) -> NewFile {
    let mut builder = DataFileBuilder::default();
    builder
        .content(DataContentType::PositionDeletes)
        .file_path(format!("/nowhere/{name}"))
        .file_format(DataFileFormat::Puffin)
        .record_count(rows)
        .file_size_in_bytes(1000)
        .referenced_data_file(Some(format!("/nowhere/{about}")))
        .content_offset(Some(offset))
        .content_size_in_bytes(Some(44));
    if let Some(p) = partition {
        builder.partition(Struct::from_iter([Some(Literal::int(p))]));
    }
    NewFile { spec_id: 0, file: builder.build().unwrap() }
}

/// A position delete file about one data file.
fn positions(name: &str, about: &str, rows: u64, partition: Option<i32>) -> NewFile {
    let new = file(name, DataContentType::PositionDeletes, rows, partition);
    let mut builder = crate::table::rebuild(&new.file, new.spec_id);
    builder.referenced_data_file(Some(format!("/nowhere/{about}")));
    NewFile { file: builder.build().unwrap(), ..new }
}

fn named(name: &str) -> FileId {
    FileId { path: format!("/nowhere/{name}"), content_offset: None }
}

fn append(name: &str, rows: u64) -> Operation {
    Operation::Append(Append { data: vec![data(name, rows)] })
}

/// Live files of a snapshot: name -> (data sequence number, snapshot that added it, first row id).
async fn live(table: &Table, branch: &str) -> BTreeMap<String, (i64, i64, Option<i64>)> {
    let mut files = BTreeMap::new();
    let Some(snapshot) = table.metadata().snapshot_for_ref(branch) else { return files };
    for manifest in table.manifests(snapshot).await.unwrap().iter() {
        for entry in table.entries(manifest).await.unwrap().iter().filter(|e| e.is_alive()) {
            let name = entry.file_path().trim_start_matches("/nowhere/").to_owned();
            let value =
                (entry.sequence_number().unwrap(), entry.snapshot_id().unwrap(), entry.data_file().first_row_id());
            assert!(entry.file_sequence_number.is_some());
            assert!(files.insert(name, value).is_none(), "a file twice");
        }
    }
    files
}

fn names(files: &BTreeMap<String, (i64, i64, Option<i64>)>) -> Vec<&str> {
    files.keys().map(String::as_str).collect()
}

/// Every Avro file the table's snapshots refer to.
async fn referenced(table: &Table) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for snapshot in table.metadata().snapshots() {
        used.insert(snapshot.manifest_list().rsplit('/').next().unwrap().to_owned());
        for manifest in table.manifests(snapshot).await.unwrap().iter() {
            used.insert(manifest.manifest_path.rsplit('/').next().unwrap().to_owned());
        }
    }
    used
}

fn summary_of(table: &Table) -> BTreeMap<String, String> {
    let summary = table.metadata().current_snapshot().unwrap().summary();
    let mut all: BTreeMap<String, String> = summary.additional_properties.clone().into_iter().collect();
    all.insert("operation".into(), summary.operation.as_str().into());
    all
}

#[tokio::test]
async fn appends_stack_up() {
    let w = Warehouse::new();
    let table = w.table(&[]).await;
    let one = commit(&*w.catalog, &table, "main", append("f1", 3), &job()).await.unwrap();
    let two = commit(&*w.catalog, &table, "main", append("f2", 4), &job()).await.unwrap();
    let metadata = two.table.metadata();
    assert_eq!(metadata.snapshots().len(), 2);
    let snapshot = metadata.current_snapshot().unwrap();
    assert_eq!((snapshot.snapshot_id(), snapshot.parent_snapshot_id()), (two.snapshot_id, Some(one.snapshot_id)));
    assert!(two.table.metadata_location().ends_with("/db/t/metadata/v3.metadata.json"));
    let files = live(&two.table, "main").await;
    assert_eq!(files["f1"], (1, one.snapshot_id, None));
    assert_eq!(files["f2"], (2, two.snapshot_id, None));
    let expected = [
        ("operation", "append"),
        ("added-data-files", "1"),
        ("added-records", "4"),
        ("added-files-size", "40"),
        ("changed-partition-count", "1"),
        ("manifests-created", "1"),
        ("manifests-kept", "1"),
        ("manifests-replaced", "0"),
        ("total-data-files", "2"),
        ("total-delete-files", "0"),
        ("total-records", "7"),
        ("total-files-size", "70"),
        ("total-position-deletes", "0"),
        ("total-equality-deletes", "0"),
        ("flink.job-id", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ("flink.operator-id", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"),
        ("flink.max-committed-checkpoint-id", "9223372036854775807"),
        ("engine-name", "calve"),
        ("engine-version", env!("CARGO_PKG_VERSION")),
    ];
    assert_eq!(summary_of(&two.table), expected.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
    // Another process sees the same.
    let again = Warehouse::open(&w.dir).refresh(table.ident()).await.unwrap();
    assert_eq!(live(&again, "main").await, files);
    assert_eq!(w.avro_files(), referenced(&again).await);
}

#[tokio::test]
async fn row_deltas_by_content() {
    let w = Warehouse::new();
    let table = w.table(&[]).await;
    let delta = |data: Vec<NewFile>, deletes: Vec<NewFile>| {
        Operation::RowDelta(RowDelta { data, deletes, ..RowDelta::default() })
    };
    let eq = |name| file(name, DataContentType::EqualityDeletes, 2, None);
    let pos = |name| file(name, DataContentType::PositionDeletes, 1, None);
    let go = async |operation| commit(&*w.catalog, &table, "main", operation, &job()).await.unwrap().table;
    assert_eq!(summary_of(&go(delta(vec![data("f1", 5)], vec![])).await)["operation"], "append");
    let both = go(delta(vec![data("f2", 3)], vec![eq("e2"), pos("p2")])).await;
    let summary = summary_of(&both);
    for (key, value) in [
        ("operation", "overwrite"),
        ("added-delete-files", "2"),
        ("added-equality-delete-files", "1"),
        ("added-equality-deletes", "2"),
        ("added-position-delete-files", "1"),
        ("added-position-deletes", "1"),
        ("total-delete-files", "2"),
        ("total-equality-deletes", "2"),
        ("total-position-deletes", "1"),
        ("total-records", "8"),
    ] {
        assert_eq!(summary[key], value, "{key}");
    }
    assert!(!summary.contains_key("added-dvs"));
    let only = go(delta(vec![], vec![eq("e3")])).await;
    assert_eq!(summary_of(&only)["operation"], "delete");
    let files = live(&only, "main").await;
    assert_eq!(names(&files), ["e2", "e3", "f1", "f2", "p2"]);
    assert_eq!((files["f1"].0, files["f2"].0, files["e2"].0, files["e3"].0), (1, 2, 2, 3));
    let snapshot = only.metadata().current_snapshot().unwrap();
    let contents: Vec<_> = only.manifests(snapshot).await.unwrap().iter().map(|m| m.content).collect();
    use ManifestContentType::{Data, Deletes};
    assert_eq!(contents, [Data, Data, Deletes, Deletes]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_appends_all_get_in() {
    let w = Warehouse::new();
    let table = w
        .table(&[
            ("commit.retry.num-retries", "200"),
            ("commit.retry.min-wait-ms", "2"),
            ("commit.retry.max-wait-ms", "20"),
        ])
        .await;
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            // Half of them through a catalog of their own, like other processes.
            let catalog = if task % 2 == 0 { w.catalog.clone() } else { Warehouse::open(&w.dir) };
            let table = table.clone();
            tokio::spawn(async move {
                for i in 0..10 {
                    let operation = append(&format!("f{task}-{i}"), 1);
                    commit(&*catalog, &table, "main", operation, &job()).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let now = w.catalog.refresh(table.ident()).await.unwrap();
    assert!(now.metadata_location().ends_with("/v81.metadata.json"), "{}", now.metadata_location());
    assert_eq!(now.metadata().snapshots().len(), 80);
    assert_eq!(live(&now, "main").await.len(), 80);
    assert_eq!(summary_of(&now)["total-records"], "80");
    let sequences: BTreeSet<i64> = live(&now, "main").await.values().map(|(s, _, _)| *s).collect();
    assert_eq!(sequences, (1..=80).collect());
    assert_eq!(w.avro_files(), referenced(&now).await);
}

#[tokio::test]
async fn branches_begin_with_main_and_keep_their_retention() {
    let w = Warehouse::new();
    let table = w.table(&[]).await;
    let empty = commit(&*w.catalog, &table, "first", append("x", 1), &job()).await.unwrap();
    assert_eq!(empty.table.metadata().current_snapshot_id(), None, "main stays empty");
    let one = commit(&*w.catalog, &table, "main", append("f1", 3), &job()).await.unwrap();
    let audit = commit(&*w.catalog, &table, "audit", append("f2", 4), &job()).await.unwrap();
    assert_eq!(names(&live(&audit.table, "audit").await), ["f1", "f2"]);
    assert_eq!(names(&live(&audit.table, "main").await), ["f1"]);
    let head = audit.table.metadata().snapshot_for_ref("audit").unwrap();
    assert_eq!(head.parent_snapshot_id(), Some(one.snapshot_id));
    assert_eq!(head.summary().additional_properties["total-records"], "7");

    let retention = SnapshotRetention::branch(Some(7), Some(1000), None);
    let set = |name: &str, retention| TableUpdate::SetSnapshotRef {
        ref_name: name.to_owned(),
        reference: SnapshotReference::new(one.snapshot_id, retention),
    };
    let updates = vec![set("audit", retention.clone()), set("v1", SnapshotRetention::Tag { max_ref_age_ms: None })];
    w.catalog.commit(&audit.table, vec![], updates).await.unwrap();
    let again = commit(&*w.catalog, &table, "audit", append("f3", 1), &job()).await.unwrap();
    assert_eq!(names(&live(&again.table, "audit").await), ["f1", "f3"]);
    assert_eq!(again.table.refs().unwrap()["audit"], SnapshotReference::new(again.snapshot_id, retention));
    assert_eq!(again.table.refs().unwrap().keys().collect::<Vec<_>>(), ["audit", "first", "main", "v1"]);

    let error = commit(&*w.catalog, &table, "v1", append("f4", 1), &job()).await.unwrap_err();
    assert_eq!(error.code, "not-a-branch");
    assert_eq!(error.detail.unwrap(), "v1 is a tag, not a branch. Tags cannot be targets for producing snapshots");
}

#[tokio::test]
async fn each_file_goes_in_with_its_own_spec() {
    let w = Warehouse::new();
    let table = w.partitioned(&[], &[("p", Transform::Identity)]).await;
    let spec = iceberg::spec::UnboundPartitionSpec::builder().with_spec_id(1).build();
    let updates = vec![TableUpdate::AddSpec { spec }, TableUpdate::SetDefaultSpec { spec_id: -1 }];
    let table = w.catalog.commit(&table, vec![], updates).await.unwrap();
    assert_eq!(table.metadata().default_partition_spec_id(), 1);
    let old = |name, p| file(name, DataContentType::Data, 1, Some(p));
    let new = NewFile { spec_id: 1, ..data("f3", 1) };
    let operation = Operation::Append(Append { data: vec![old("f1", 1), new, old("f2", 2)] });
    let done = commit(&*w.catalog, &table, "main", operation, &job()).await.unwrap();
    let snapshot = done.table.metadata().current_snapshot().unwrap();
    let mut found = BTreeMap::new();
    for manifest in done.table.manifests(snapshot).await.unwrap().iter() {
        for entry in done.table.entries(manifest).await.unwrap().iter() {
            let partition = format!("{:?}", entry.data_file().partition().fields().first());
            found.insert(entry.file_path().to_owned(), (manifest.partition_spec_id, partition));
        }
    }
    assert_eq!(found["/nowhere/f3"], (1, "None".to_owned()));
    assert_eq!(found["/nowhere/f2"].0, 0);
    assert!(found["/nowhere/f2"].1.contains("Int(2)"), "{found:?}");
    assert_eq!(summary_of(&done.table)["changed-partition-count"], "3");

    for wrong in [NewFile { spec_id: 0, ..data("f4", 1) }, NewFile { spec_id: 7, ..data("f4", 1) }] {
        let operation = Operation::Append(Append { data: vec![wrong] });
        commit(&*w.catalog, &table, "main", operation, &job()).await.unwrap_err();
    }
    assert_eq!(w.avro_files(), referenced(&done.table).await);
}

#[tokio::test]
async fn partitions_of_a_column_that_was_promoted_are_written_in_its_new_type() {
    use crate::catalog::alter::{Alteration, SchemaChange, alter};
    for version in ["1", "2", "3"] {
        let w = Warehouse::new();
        let with = [("format-version", version), ("commit.manifest.min-count-to-merge", "2")];
        let table = w.partitioned(&with, &[("p", Transform::Identity)]).await;
        let part = |name: &str, p: i32| {
            Operation::Append(Append { data: vec![file(name, DataContentType::Data, 1, Some(p))] })
        };
        commit(&*w.catalog, &table, "main", part("f1", 1), &job()).await.unwrap();
        let data_type = LogicalType::BigInt.nullable();
        let wider = Alteration {
            schema: vec![SchemaChange::Retype { name: "p".to_owned(), data_type }],
            ..Alteration::default()
        };
        alter(&*w.catalog, &table, |_| Ok(wider.clone())).await.unwrap();
        // a file written before the change, and the manifest of one merged with it
        let done = commit(&*w.catalog, &table, "main", part("f2", 2), &job()).await.unwrap().table;
        let manifests = done.manifests(done.metadata().current_snapshot().unwrap()).await.unwrap();
        assert_eq!(manifests.len(), 1);
        let entries = done.entries(&manifests[0]).await.unwrap();
        let values = |e: &iceberg::spec::ManifestEntryRef| e.data_file().partition().fields().to_vec();
        let mut found: Vec<_> = entries.iter().map(|e| (e.file_path().to_owned(), values(e))).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let long = |v: i64| vec![Some(Literal::long(v))];
        assert_eq!(found, [("/nowhere/f1".to_owned(), long(1)), ("/nowhere/f2".to_owned(), long(2))]);
    }
}

#[tokio::test]
async fn many_commits_do_not_give_many_manifests() {
    for version in ["2", "3"] {
        let w = Warehouse::new();
        let table = w.table(&[("commit.manifest.min-count-to-merge", "5"), ("format-version", version)]).await;
        let mut expected = HashMap::new();
        for i in 1..=23_i64 {
            let operation = if i % 3 == 0 {
                let deletes = vec![file(&format!("e{i}"), DataContentType::EqualityDeletes, 1, None)];
                Operation::RowDelta(RowDelta { data: vec![data(&format!("f{i}"), 2)], deletes, ..RowDelta::default() })
            } else {
                append(&format!("f{i}"), 2)
            };
            let done = commit(&*w.catalog, &table, "main", operation, &job()).await.unwrap();
            expected.insert(format!("f{i}"), (i, done.snapshot_id));
            if i % 3 == 0 {
                expected.insert(format!("e{i}"), (i, done.snapshot_id));
            }
        }
        let now = w.catalog.refresh(table.ident()).await.unwrap();
        let snapshot = now.metadata().current_snapshot().unwrap();
        let manifests = now.manifests(snapshot).await.unwrap();
        let count = |content| manifests.iter().filter(|m| m.content == content).count();
        assert!(count(ManifestContentType::Data) <= 5, "{}", count(ManifestContentType::Data));
        assert!(count(ManifestContentType::Deletes) <= 5);
        let files = live(&now, "main").await;
        assert_eq!(files.len(), expected.len());
        for (name, (sequence, snapshot_id)) in &expected {
            assert_eq!((files[name].0, files[name].1), (*sequence, *snapshot_id), "{name}");
        }
        if version == "3" {
            let mut ids: Vec<i64> = (1..=23).map(|i| files[&format!("f{i}")].2.unwrap()).collect();
            // A file keeps its row ids through merges.
            for snapshot in now.metadata().snapshots() {
                for manifest in now.manifests(snapshot).await.unwrap().iter() {
                    for entry in now.entries(manifest).await.unwrap().iter() {
                        let name = entry.file_path().trim_start_matches("/nowhere/");
                        assert_eq!(entry.data_file().first_row_id(), files[name].2, "{name}");
                    }
                }
            }
            ids.sort_unstable();
            assert!(ids.windows(2).all(|w| w[1] >= w[0] + 2), "{ids:?}");
            assert!(now.metadata().next_row_id() >= *ids.last().unwrap() as u64 + 2);
        }
        assert_eq!(w.avro_files(), referenced(&now).await);
    }
}

#[tokio::test]
async fn row_ids_of_version_3() {
    let w = Warehouse::new();
    let table = w.table(&[("format-version", "3")]).await;
    let operation = Operation::Append(Append { data: vec![data("f1", 3), data("f2", 4)] });
    commit(&*w.catalog, &table, "main", operation, &job()).await.unwrap();
    let mut dv = file("d.puffin", DataContentType::PositionDeletes, 1, None);
    dv.file = DataFileBuilder::default()
        .content(DataContentType::PositionDeletes)
        .file_path("/nowhere/d.puffin".to_owned())
        .file_format(DataFileFormat::Puffin)
        .record_count(1)
        .file_size_in_bytes(1000)
        .referenced_data_file(Some("/nowhere/f3".to_owned()))
        .content_offset(Some(4))
        .content_size_in_bytes(Some(44))
        .build()
        .unwrap();
    let delta = RowDelta { data: vec![data("f3", 5)], deletes: vec![dv], ..RowDelta::default() };
    let done = commit(&*w.catalog, &table, "main", Operation::RowDelta(delta), &job()).await.unwrap();
    let files = live(&done.table, "main").await;
    assert_eq!((files["f1"].2, files["f2"].2, files["f3"].2, files["d.puffin"].2), (Some(0), Some(3), Some(7), None));
    assert_eq!(done.table.metadata().next_row_id(), 12);
    assert_eq!(done.table.metadata().current_snapshot().unwrap().row_range(), Some((7, 5)));
    let summary = summary_of(&done.table);
    assert_eq!((summary["added-dvs"].as_str(), summary["added-files-size"].as_str()), ("1", "94"));
    assert!(!summary.contains_key("added-position-delete-files"));
}

#[tokio::test]
async fn a_table_created_again_is_another_table() {
    let w = Warehouse::new();
    let table = w.table(&QUICK).await;
    w.catalog.drop_table(table.ident(), true).await.unwrap();
    let error = commit(&*w.catalog, &table, "main", append("f", 1), &job()).await.unwrap_err();
    assert_eq!(error.code, "unknown-table");
    let new = w.table(&QUICK).await;
    let error = commit(&*w.catalog, &table, "main", append("f", 1), &job()).await.unwrap_err();
    assert!(error.message.contains("dropped and created again"), "{error}");
    // Even without that check the catalog refuses: both tables are at version 1.
    let update = TableUpdate::SetProperties { updates: HashMap::from([("k".to_owned(), "v".to_owned())]) };
    let answer = w.catalog.commit(&table, vec![], vec![update]).await;
    assert!(matches!(answer, Err(CommitError::Conflict)));
    assert_eq!(w.catalog.refresh(new.ident()).await.unwrap().metadata().uuid(), new.metadata().uuid());
}

#[tokio::test]
async fn version_1_has_no_deletes_and_no_branches() {
    let w = Warehouse::new();
    let table = w.table(&[("format-version", "1")]).await;
    let done = commit(&*w.catalog, &table, "main", append("f", 1), &job()).await.unwrap();
    assert_eq!(names(&live(&done.table, "main").await), ["f"]);
    let deletes = vec![file("e", DataContentType::EqualityDeletes, 1, None)];
    let delta = Operation::RowDelta(RowDelta { data: vec![], deletes, ..RowDelta::default() });
    let error = commit(&*w.catalog, &table, "main", delta, &job()).await.unwrap_err();
    assert_eq!(error.detail.unwrap(), "Deletes are supported in V2 and above");
    assert_eq!(commit(&*w.catalog, &table, "b", append("g", 1), &job()).await.unwrap_err().code, "not-supported");
    assert_eq!(w.avro_files(), referenced(&done.table).await);

    // Upgraded, it takes both.
    let upgrade = TableUpdate::UpgradeFormatVersion { format_version: iceberg::spec::FormatVersion::V2 };
    let table = w.catalog.commit(&done.table, vec![], vec![upgrade]).await.unwrap();
    let done = commit(&*w.catalog, &table, "b", append("g", 1), &job()).await.unwrap();
    let files = live(&done.table, "b").await;
    assert_eq!((files["f"].0, files["g"].0), (0, 1));
}

#[tokio::test]
async fn old_metadata_files_are_deleted_where_asked() {
    let w = Warehouse::new();
    let with = [("write.metadata.previous-versions-max", "3"), ("write.metadata.delete-after-commit.enabled", "true")];
    let table = w.table(&with).await;
    for i in 0..6 {
        commit(&*w.catalog, &table, "main", append(&format!("f{i}"), 1), &job()).await.unwrap();
    }
    let now = w.catalog.refresh(table.ident()).await.unwrap();
    assert_eq!(now.metadata().metadata_log().len(), 3);
    let mut versions: Vec<_> = std::fs::read_dir(w.dir.path().join("db/t/metadata"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.ends_with(".metadata.json"))
        .collect();
    versions.sort();
    assert_eq!(versions, ["v4.metadata.json", "v5.metadata.json", "v6.metadata.json", "v7.metadata.json"]);
    assert_eq!(live(&now, "main").await.len(), 6);
}
