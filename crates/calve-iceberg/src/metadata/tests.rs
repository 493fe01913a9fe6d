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
use crate::catalog::{Catalog, TableCreation, open};
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
        let job = JobInfo { job_id: "a".repeat(32), operator_id: "b".repeat(32), checkpoint_id: 1 };
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
    f.commit("main", Operation::RowDelta(RowDelta { data, deletes, omitted: None })).await;
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
    let f1 = format!("0 | /f1 | PARQUET | 0 | 2 | {{1: 2, 2: 2}} | {{2: 1}} |  | {bounds} |  | [4] | 300 | a");
    let f2 = format!("0 | /f2 | PARQUET | 0 | 5 | {{1: 5, 2: 5}} | {{2: 1}} |  | {bounds} |  | [4] | 300 | a");
    let e = "2 | /e | PARQUET | 0 | 1 |  |  |  |  | [1] |  |  | ";
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
    assert_eq!(refused("position_deletes").message, "not supported: metadata table 'position_deletes'");
}
