#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use arrow::array::{ArrayRef, AsArray};
use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use datafusion::prelude::SessionContext;
use iceberg::TableUpdate;
use iceberg::spec::{
    DataContentType, DataFileBuilder, DataFileFormat, Datum, Literal, SnapshotReference, SnapshotRetention, Struct,
    Transform,
};

use super::*;
use crate::catalog::{self, Catalog, TableCreation, open};
use crate::commit::{Append, JobInfo, NewFile, Operation, RowDelta, commit};
use crate::schema::to_iceberg;

struct Fixture {
    _dir: tempfile::TempDir,
    catalog: Arc<dyn Catalog>,
    table: Table,
}

async fn fixture(partition: &[(&str, Transform)]) -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let options = [("catalog-type", "hadoop"), ("warehouse", dir.path().to_str().unwrap())];
    let catalog = open("c", &options.map(|(k, v)| (k.to_owned(), v.to_owned())).into()).unwrap();
    let columns = [
        ("id".to_owned(), LogicalType::BigInt.not_null(), None),
        ("data".to_owned(), LogicalType::STRING.nullable(), None),
    ];
    let creation = TableCreation {
        schema: to_iceberg(&columns, &[]).unwrap(),
        partition: partition.iter().map(|(n, t)| ((*n).to_owned(), *t)).collect(),
        properties: BTreeMap::new(),
        comment: None,
    };
    let table = catalog.create_table(&catalog.ident("db", "t").unwrap(), creation).await.unwrap();
    Fixture { _dir: dir, catalog, table }
}

impl Fixture {
    async fn commit(&mut self, branch: &str, operation: Operation) -> i64 {
        let job = JobInfo { job_id: "a".repeat(32), operator_id: "b".repeat(32), checkpoint_id: 1, place: None };
        let done = commit(&*self.catalog, &self.table, branch, operation, &job).await.unwrap();
        self.table = done.table;
        done.snapshot_id
    }

    fn metadata(&self, name: &str) -> MetadataTable {
        metadata_table(self.table.clone(), name, &BTreeMap::new()).unwrap()
    }

    async fn rows(&self, name: &str, columns: &[&str]) -> String {
        rows(self.metadata(name), columns).await
    }
}

/// The rows as text; a column is a name, or a path into structs.
async fn rows(table: MetadataTable, columns: &[&str]) -> String {
    let frame = SessionContext::new().read_table(table.provider).unwrap();
    let batches = frame.collect().await.unwrap();
    let mut lines = Vec::new();
    for batch in &batches {
        let columns: Vec<ArrayRef> = columns.iter().map(|path| column_at(batch, path)).collect();
        let show = |c: &ArrayRef, row| array_value_to_string(c, row).unwrap();
        let rows =
            (0..batch.num_rows()).map(|row| columns.iter().map(|c| show(c, row)).collect::<Vec<_>>().join(" | "));
        lines.extend(rows);
    }
    lines.join("\n")
}

fn column_at(batch: &RecordBatch, path: &str) -> ArrayRef {
    let mut parts = path.split('.');
    let mut array = batch.column_by_name(parts.next().unwrap()).unwrap().clone();
    for part in parts {
        array = array.as_struct().column_by_name(part).unwrap().clone();
    }
    array
}

fn file(name: &str, content: DataContentType, rows: u64, partition: Option<&str>) -> NewFile {
    let mut builder = DataFileBuilder::default();
    builder
        .content(content)
        .file_path(format!("/{name}"))
        .file_format(DataFileFormat::Parquet)
        .file_size_in_bytes(100)
        .record_count(rows)
        .equality_ids((content == DataContentType::EqualityDeletes).then(|| vec![1]));
    if content == DataContentType::Data {
        builder
            .value_counts([(1, rows), (2, rows)].into())
            .null_value_counts([(2, 1)].into())
            .lower_bounds([(1, Datum::long(1)), (2, Datum::string("a"))].into())
            .upper_bounds([(1, Datum::long(300)), (2, Datum::string("z"))].into())
            .split_offsets(Some(vec![4]));
    }
    if let Some(p) = partition {
        builder.partition(Struct::from_iter([Some(Literal::string(p))]));
    }
    NewFile { spec_id: 0, file: builder.build().unwrap() }
}

fn append(name: &str) -> Operation {
    Operation::Append(Append { data: vec![file(name, DataContentType::Data, 2, None)] })
}

fn shown(table: &MetadataTable) -> Vec<String> {
    table.columns.iter().map(|(name, t)| format!("{name} {t}")).collect()
}

#[tokio::test]
async fn snapshots_and_history() {
    let mut f = fixture(&[]).await;
    assert_eq!(f.rows("snapshots", &["snapshot_id"]).await, "");
    assert_eq!(f.rows("files", &["file_path"]).await, "");
    assert_eq!(f.rows("refs", &["name"]).await, "");
    let one = f.commit("main", append("f1")).await;
    let two = f.commit("main", append("f2")).await;
    let side = f.commit("side", append("f3")).await;
    assert_eq!(
        shown(&f.metadata("SNAPSHOTS")),
        [
            "committed_at TIMESTAMP_LTZ(6) NOT NULL",
            "snapshot_id BIGINT NOT NULL",
            "parent_id BIGINT",
            "operation STRING",
            "manifest_list STRING",
            "summary MAP<STRING NOT NULL, STRING NOT NULL>",
        ]
    );
    assert_eq!(
        f.rows("snapshots", &["snapshot_id", "parent_id", "operation"]).await,
        format!("{one} |  | append\n{two} | {one} | append\n{side} | {two} | append")
    );
    let summary = f.rows("snapshots", &["summary"]).await;
    assert!(summary.starts_with("{added-data-files: 1, added-files-size: 100, added-records: 2, "), "{summary}");
    assert_eq!(
        shown(&f.metadata("history")),
        [
            "made_current_at TIMESTAMP_LTZ(6) NOT NULL",
            "snapshot_id BIGINT NOT NULL",
            "parent_id BIGINT",
            "is_current_ancestor BOOLEAN NOT NULL",
        ]
    );
    // Roll back: two is no ancestor any more.
    let reference = SnapshotReference::new(one, SnapshotRetention::branch(None, None, None));
    let back = TableUpdate::SetSnapshotRef { ref_name: "main".into(), reference };
    f.table = f.catalog.commit(&f.table, vec![], vec![back]).await.unwrap();
    assert_eq!(
        f.rows("history", &["snapshot_id", "parent_id", "is_current_ancestor"]).await,
        format!("{one} |  | true\n{two} | {one} | false\n{one} |  | true")
    );
    let log = f.rows("metadata_log_entries", &["file", "latest_snapshot_id"]).await;
    let last: Vec<&str> = log.lines().map(|l| l.rsplit('/').next().unwrap()).collect();
    assert_eq!(last.len(), 5);
    assert_eq!(last[0], "v1.metadata.json | ");
    assert_eq!(last[1], format!("v2.metadata.json | {one}"));
    assert_eq!(last[4], format!("v5.metadata.json | {one}"));
}

#[tokio::test]
async fn refs() {
    let mut f = fixture(&[]).await;
    let one = f.commit("main", append("f1")).await;
    let set = |name: &str, retention| TableUpdate::SetSnapshotRef {
        ref_name: name.into(),
        reference: SnapshotReference::new(one, retention),
    };
    let updates = vec![
        set("b", SnapshotRetention::branch(Some(3), Some(1000), Some(2000))),
        set("v1", SnapshotRetention::Tag { max_ref_age_ms: Some(5) }),
    ];
    f.table = f.catalog.commit(&f.table, vec![], updates).await.unwrap();
    assert_eq!(
        shown(&f.metadata("refs")),
        [
            "name STRING NOT NULL",
            "type STRING NOT NULL",
            "snapshot_id BIGINT NOT NULL",
            "max_reference_age_in_ms BIGINT",
            "min_snapshots_to_keep INT",
            "max_snapshot_age_in_ms BIGINT",
        ]
    );
    let all =
        ["name", "type", "snapshot_id", "max_reference_age_in_ms", "min_snapshots_to_keep", "max_snapshot_age_in_ms"];
    assert_eq!(
        f.rows("refs", &all).await,
        format!("b | BRANCH | {one} | 2000 | 3 | 1000\nmain | BRANCH | {one} |  |  | \nv1 | TAG | {one} | 5 |  | ")
    );
}

#[tokio::test]
async fn files_of_an_unpartitioned_table() {
    let mut f = fixture(&[]).await;
    let one = f.commit("main", append("f1")).await;
    let deletes = vec![file("e", DataContentType::EqualityDeletes, 1, None)];
    let data = vec![file("f2", DataContentType::Data, 5, None)];
    f.commit("main", Operation::RowDelta(RowDelta { data, deletes, ..RowDelta::default() })).await;
    let columns = shown(&f.metadata("files"));
    assert!(!columns.iter().any(|c| c.starts_with("partition ")));
    assert_eq!(
        columns[..5],
        [
            "content INT",
            "file_path STRING NOT NULL",
            "file_format STRING NOT NULL",
            "spec_id INT",
            "record_count BIGINT NOT NULL"
        ]
    );
    assert_eq!(columns[6], "column_sizes MAP<INT NOT NULL, BIGINT NOT NULL>");
    assert_eq!(columns[10], "lower_bounds MAP<INT NOT NULL, BYTES NOT NULL>");
    assert_eq!(columns[13], "split_offsets ARRAY<BIGINT NOT NULL>");
    assert!(columns.last().unwrap().starts_with("readable_metrics ROW<`data` ROW<`column_size` BIGINT, "));
    let shown = [
        "content",
        "file_path",
        "file_format",
        "spec_id",
        "record_count",
        "value_counts",
        "null_value_counts",
        "column_sizes",
        "lower_bounds",
        "equality_ids",
        "split_offsets",
        "readable_metrics.id.upper_bound",
        "readable_metrics.data.lower_bound",
    ];
    let bounds = "{1: 0100000000000000, 2: 61}";
    let f1 = format!("0 | /f1 | PARQUET | 0 | 2 | {{1: 2, 2: 2}} | {{2: 1}} | {{}} | {bounds} |  | [4] | 300 | a");
    let f2 = format!("0 | /f2 | PARQUET | 0 | 5 | {{1: 5, 2: 5}} | {{2: 1}} | {{}} | {bounds} |  | [4] | 300 | a");
    let e = "2 | /e | PARQUET | 0 | 1 | {} | {} | {} | {} | [1] |  |  | ";
    assert_eq!(f.rows("files", &shown).await, format!("{f2}\n{f1}\n{e}"));
    assert_eq!(f.rows("data_files", &shown).await, format!("{f2}\n{f1}"));
    assert_eq!(f.rows("delete_files", &shown).await, e);
    let hints = [("snapshot-id".to_owned(), one.to_string())].into();
    assert_eq!(rows(metadata_table(f.table.clone(), "files", &hints).unwrap(), &shown).await, f1);
}

#[tokio::test]
async fn the_partition_column() {
    let mut f = fixture(&[("data", Transform::Identity), ("id", Transform::Bucket(4))]).await;
    let new = |name: &str, p: &str, bucket: i32| {
        let mut new = file(name, DataContentType::Data, 1, None);
        let mut builder = DataFileBuilder::default();
        builder
            .content(DataContentType::Data)
            .file_path(format!("/{name}"))
            .file_format(DataFileFormat::Parquet)
            .file_size_in_bytes(1)
            .record_count(1)
            .partition(Struct::from_iter([Some(Literal::string(p)), Some(Literal::int(bucket))]));
        new.file = builder.build().unwrap();
        new
    };
    f.commit("main", Operation::Append(Append { data: vec![new("f1", "a", 1), new("f2", "b", 3)] })).await;
    let columns = shown(&f.metadata("files"));
    assert_eq!(columns[4], "partition ROW<`data` STRING, `id_bucket` INT> NOT NULL");
    let shown = ["file_path", "partition.data", "partition.id_bucket"];
    assert_eq!(f.rows("files", &shown).await, "/f1 | a | 1\n/f2 | b | 3");
}

#[tokio::test]
async fn names_nobody_knows() {
    let f = fixture(&[]).await;
    let refused = |name: &str| metadata_table(f.table.clone(), name, &BTreeMap::new()).unwrap_err();
    let error = refused("nothing");
    assert_eq!((error.code, error.detail.as_deref()), ("unknown-table", Some("Illegal table name:t$nothing")));
    assert_eq!(refused("snapshot").hint.as_deref(), Some("did you mean 't$snapshots'?"));
}

#[tokio::test]
async fn entries_and_manifests() {
    let mut f = fixture(&[("data", Transform::Identity)]).await;
    let file = |name: &str, content, p: &str| file(name, content, 2, Some(p));
    let data = DataContentType::Data;
    assert_eq!(f.rows("entries", &["status"]).await, "");
    assert_eq!(f.rows("manifests", &["path"]).await, "");
    assert_eq!(f.rows("partitions", &["record_count"]).await, "");
    let one =
        f.commit("main", Operation::Append(Append { data: vec![file("f1", data, "a"), file("f2", data, "b")] })).await;
    let deletes = vec![file("e", DataContentType::EqualityDeletes, "b")];
    let changes = RowDelta { data: vec![file("f3", data, "b")], deletes, ..RowDelta::default() };
    let two = f.commit("main", Operation::RowDelta(changes)).await;
    let entry = [
        "status",
        "snapshot_id",
        "sequence_number",
        "file_sequence_number",
        "data_file.file_path",
        "data_file.partition.data",
        "readable_metrics.id.upper_bound",
    ];
    let (first, second, third) = (
        format!("1 | {one} | 1 | 1 | /f1 | a | 300\n1 | {one} | 1 | 1 | /f2 | b | 300"),
        format!("1 | {two} | 2 | 2 | /f3 | b | 300"),
        format!("1 | {two} | 2 | 2 | /e | b | "),
    );
    assert_eq!(f.rows("entries", &entry).await, format!("{second}\n{first}\n{third}"));
    assert_eq!(f.rows("all_entries", &entry).await, format!("{first}\n{second}\n{third}"));
    assert_eq!(f.rows("all_data_files", &["file_path"]).await, "/f1\n/f2\n/f3");
    assert_eq!(f.rows("all_delete_files", &["file_path"]).await, "/e");
    let manifest = [
        "content",
        "partition_spec_id",
        "added_snapshot_id",
        "added_data_files_count",
        "added_delete_files_count",
        "existing_data_files_count",
        "partition_summaries",
    ];
    let summary = |low: &str, high: &str| {
        format!("[{{contains_null: false, contains_nan: false, lower_bound: {low}, upper_bound: {high}}}]")
    };
    let of_one = format!("0 | 0 | {one} | 2 | 0 | 0 | {}", summary("a", "b"));
    let of_two = format!("0 | 0 | {two} | 1 | 0 | 0 | {}", summary("b", "b"));
    let deleted = format!("1 | 0 | {two} | 0 | 1 | 0 | {}", summary("b", "b"));
    assert_eq!(f.rows("manifests", &manifest).await, format!("{of_two}\n{of_one}\n{deleted}"));
    let all: Vec<&str> = manifest.iter().copied().chain(["reference_snapshot_id", "key_metadata"]).collect();
    assert_eq!(
        f.rows("all_manifests", &all).await,
        format!("{of_one} | {one} | \n{of_two} | {two} | \n{of_one} | {two} | \n{deleted} | {two} | ")
    );
    let hints = [("snapshot-id".to_owned(), one.to_string())].into();
    assert_eq!(rows(metadata_table(f.table.clone(), "manifests", &hints).unwrap(), &manifest).await, of_one);
    let all: Vec<String> = f.metadata("partitions").columns.into_iter().map(|(name, _)| name).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).filter(|name| *name != "last_updated_at").collect();
    let sorted = |text: String| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(
        sorted(f.rows("partitions", &all).await),
        [
            format!("{{data: a}} | 0 | 2 | 1 | 100 | 0 | 0 | 0 | 0 | {one}"),
            format!("{{data: b}} | 0 | 4 | 2 | 200 | 0 | 0 | 2 | 1 | {two}")
        ]
    );
    assert_eq!(
        sorted(rows(metadata_table(f.table.clone(), "partitions", &hints).unwrap(), &all).await),
        [
            format!("{{data: a}} | 0 | 2 | 1 | 100 | 0 | 0 | 0 | 0 | {one}"),
            format!("{{data: b}} | 0 | 2 | 1 | 100 | 0 | 0 | 0 | 0 | {one}")
        ]
    );
    let refused = metadata_table(f.table.clone(), "all_files", &hints).unwrap_err();
    assert_eq!(refused.detail.as_deref(), Some("Cannot select snapshot in table: ALL_FILES"));
}

/// Nullability and order as Flink 2.1 with Iceberg 1.11 describes them.
#[tokio::test]
async fn columns_of_the_others() {
    let mut f = fixture(&[]).await;
    let counts = [
        "record_count BIGINT NOT NULL",
        "file_count INT NOT NULL",
        "total_data_file_size_in_bytes BIGINT NOT NULL",
        "position_delete_record_count BIGINT NOT NULL",
        "position_delete_file_count INT NOT NULL",
        "equality_delete_record_count BIGINT NOT NULL",
        "equality_delete_file_count INT NOT NULL",
        "last_updated_at TIMESTAMP_LTZ(6)",
        "last_updated_snapshot_id BIGINT",
    ];
    assert_eq!(shown(&f.metadata("partitions")), counts);
    let row = |nan: &str| {
        format!(
            "ARRAY<ROW<`contains_null` BOOLEAN NOT NULL, `contains_nan` BOOLEAN{nan}, `lower_bound` STRING, `upper_bound` STRING> NOT NULL>"
        )
    };
    let summaries = format!("partition_summaries {} NOT NULL", row(""));
    assert_eq!(
        shown(&f.metadata("manifests")),
        [
            "content INT NOT NULL",
            "path STRING NOT NULL",
            "length BIGINT NOT NULL",
            "partition_spec_id INT NOT NULL",
            "added_snapshot_id BIGINT NOT NULL",
            "added_data_files_count INT NOT NULL",
            "existing_data_files_count INT NOT NULL",
            "deleted_data_files_count INT NOT NULL",
            "added_delete_files_count INT NOT NULL",
            "existing_delete_files_count INT NOT NULL",
            "deleted_delete_files_count INT NOT NULL",
            &summaries,
        ]
    );
    let summaries = format!("partition_summaries {}", row(" NOT NULL"));
    assert_eq!(
        shown(&f.metadata("all_manifests"))[3..],
        [
            "partition_spec_id INT",
            "added_snapshot_id BIGINT",
            "added_data_files_count INT",
            "existing_data_files_count INT",
            "deleted_data_files_count INT",
            "added_delete_files_count INT NOT NULL",
            "existing_delete_files_count INT NOT NULL",
            "deleted_delete_files_count INT NOT NULL",
            &summaries,
            "reference_snapshot_id BIGINT NOT NULL",
            "key_metadata BYTES",
        ]
    );
    let entries = shown(&f.metadata("entries"));
    assert_eq!(
        entries[..4],
        ["status INT NOT NULL", "snapshot_id BIGINT", "sequence_number BIGINT", "file_sequence_number BIGINT"]
    );
    assert!(entries[4].starts_with("data_file ROW<`content` INT, `file_path` STRING NOT NULL, "), "{entries:?}");
    assert!(entries[4].ends_with("`content_offset` BIGINT, `content_size_in_bytes` BIGINT> NOT NULL"), "{entries:?}");
    assert_eq!(
        shown(&f.metadata("position_deletes")),
        [
            "file_path STRING NOT NULL",
            "pos BIGINT NOT NULL",
            "row ROW<`id` BIGINT NOT NULL, `data` STRING>",
            "spec_id INT NOT NULL",
            "delete_file_path STRING NOT NULL",
        ]
    );
    let frame = SessionContext::new().read_table(f.metadata("position_deletes").provider).unwrap();
    let error = frame.collect().await.unwrap_err().to_string();
    assert!(error.contains("position_deletes"), "{error}");
    // an unpartitioned table is one partition, and none without files
    assert_eq!(f.rows("partitions", &["record_count"]).await, "");
    f.commit("main", append("f1")).await;
    f.commit("main", append("f2")).await;
    assert_eq!(f.rows("partitions", &["record_count", "file_count"]).await, "4 | 2");
}

/// More partitions than fit into memory: what is added up goes to disk.
#[tokio::test]
async fn partitions_spill() {
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::prelude::SessionConfig;

    const FILES: usize = 20_000;
    let mut f = fixture(&[("data", Transform::Identity)]).await;
    for part in 0..2 {
        // every partition twice
        let files =
            (0..FILES).map(|n| file(&format!("{part}-{n}"), DataContentType::Data, 1, Some(&format!("{n:012}"))));
        f.commit("main", Operation::Append(Append { data: files.collect() })).await;
    }
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(3 << 20, 1.0).build_arc().unwrap();
    let config = SessionConfig::new().with_target_partitions(1).with_sort_spill_reservation_bytes(64 << 10);
    let context = SessionContext::new_with_config_rt(config, runtime);
    let frame = context.read_table(f.metadata("partitions").provider).unwrap();
    let mut stream = frame.execute_stream().await.unwrap();
    let (mut partitions, mut records) = (0, 0);
    while let Some(batch) = futures::StreamExt::next(&mut stream).await {
        let batch = batch.unwrap();
        partitions += batch.num_rows();
        let counts = batch.column_by_name("record_count").unwrap();
        records += counts.as_primitive::<arrow::datatypes::Int64Type>().iter().flatten().sum::<i64>();
    }
    assert_eq!((partitions, records), (FILES, 2 * FILES as i64));
}

#[tokio::test]
async fn partitions_of_two_specs_are_two_though_their_values_be_the_same() {
    let mut f = fixture(&[("data", Transform::Identity)]).await;
    let mut null = file("a", DataContentType::Data, 2, Some("x"));
    let mut builder = crate::table::rebuild(&null.file, 0);
    null.file = builder.partition(Struct::from_iter([None])).build().unwrap();
    f.commit("main", Operation::Append(Append { data: vec![null] })).await;
    let drop = catalog::alter::Alteration {
        partition: vec![catalog::alter::SpecChange::Drop(catalog::alter::PartitionRef::Name("data".into()))],
        ..Default::default()
    };
    f.table = catalog::alter::alter(&*f.catalog, &f.table, |_| Ok(drop.clone())).await.unwrap();
    let spec_id = f.table.metadata().default_partition_spec_id();
    for name in ["b", "c"] {
        let mut bare = file(name, DataContentType::Data, 3, None);
        bare.spec_id = spec_id;
        f.commit("main", Operation::Append(Append { data: vec![bare] })).await;
    }
    let rows = f.rows("partitions", &["partition.data", "spec_id", "record_count", "file_count"]).await;
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.sort_unstable();
    assert_eq!(rows, [" | 0 | 2 | 1", " | 1 | 6 | 2"]);
}
