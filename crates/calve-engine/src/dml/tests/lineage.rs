//! Row ids of format version 3, and files that go without being read.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Int32Type, Int64Type};
use calve_iceberg::scan::{RowColumn, ScanOptions, provider_with};
use datafusion::prelude::SessionContext;

use super::Lake;
use crate::catalogs::CatalogKind;

/// Row id and sequence number of the last change, by the column `id`.
async fn ids(lake: &Lake) -> BTreeMap<i32, (i64, i64)> {
    let CatalogKind::Iceberg(catalog) = &lake.session.catalogs.get("ice").unwrap().kind else { panic!() };
    let table = catalog.load_table(&catalog.ident("db", "t").unwrap()).await.unwrap().unwrap();
    let scan = ScanOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new()).unwrap();
    let provider = provider_with(table, scan, &[RowColumn::RowId, RowColumn::LastUpdated]).unwrap();
    let batches = SessionContext::new().read_table(provider).unwrap().collect().await.unwrap();
    let mut all = BTreeMap::new();
    for batch in batches {
        let of = batch.column_by_name("id").unwrap().as_primitive::<Int32Type>().clone();
        let id = batch.column_by_name("_row_id").unwrap().as_primitive::<Int64Type>().clone();
        let changed =
            batch.column_by_name("_last_updated_sequence_number").unwrap().as_primitive::<Int64Type>().clone();
        for row in 0..batch.num_rows() {
            assert!(id.is_valid(row) && changed.is_valid(row));
            all.insert(of.value(row), (id.value(row), changed.value(row)));
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_keep_their_ids() {
    for mode in ["copy-on-write", "merge-on-read"] {
        let mut lake = Lake::new().await;
        lake.ok(&format!(
            "CREATE TABLE t (id INT, v INT) WITH ('format-version'='3', 'write.delete.mode'='{mode}', \
             'write.update.mode'='{mode}', 'write.merge.mode'='{mode}');
             INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, 40)"
        ))
        .await;
        let first = ids(&lake).await;
        assert_eq!(first.values().map(|(id, _)| *id).collect::<Vec<_>>(), [0, 1, 2, 3]);
        lake.ok("UPDATE t SET v = v + 1 WHERE id = 2").await;
        let second = ids(&lake).await;
        assert_eq!(second[&2].0, first[&2].0, "{mode}: the id stays");
        assert!(second[&2].1 > first[&2].1, "{mode}: the row has changed");
        for id in [1, 3, 4] {
            assert_eq!(second[&id], first[&id], "{mode}: row {id} has not changed");
        }
        lake.ok(
            "MERGE INTO t USING (VALUES (3, 0), (9, 9)) AS s (id, v) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v \
             WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE AND t.id = 4 THEN DELETE",
        )
        .await;
        let third = ids(&lake).await;
        assert_eq!(third.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 9]);
        assert_eq!((third[&1], third[&2]), (second[&1], second[&2]), "{mode}");
        assert_eq!(third[&3].0, first[&3].0, "{mode}");
        assert!(third[&3].1 > second[&3].1, "{mode}");
        assert!(third[&9].0 > 3, "{mode}: a new row has a new id");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whole_partitions_go_unread() {
    for mode in ["copy-on-write", "merge-on-read"] {
        for version in [2, 3] {
            let mut lake = Lake::new().await;
            lake.ok(&format!(
                "CREATE TABLE t (id INT, d DATE) PARTITIONED BY (days(d)) WITH ('format-version'='{version}', \
                 'write.delete.mode'='{mode}');
                 INSERT INTO t VALUES (1, DATE '2024-01-01'), (2, DATE '2024-01-02'), (3, DATE '2024-01-03'), \
                 (4, CAST(NULL AS DATE))"
            ))
            .await;
            // what is not read is not missed
            let files = lake.data_files("t");
            for file in files.iter().filter(|file| file.to_string_lossy().contains("2024-01-02")) {
                std::fs::remove_file(file).unwrap();
            }
            let sql = "DELETE FROM t WHERE d >= DATE '2024-01-02' AND d < DATE '2024-01-03'";
            let summary = lake.ok(sql).await.unwrap();
            assert_eq!((summary.changed.unwrap().deleted, summary.data_files, summary.delete_files), (1, 0, 0));
            assert_eq!(lake.rows("SELECT id FROM t").await.len(), 3);
            let summary = lake.ok("DELETE FROM t").await.unwrap();
            assert_eq!((summary.changed.unwrap().deleted, summary.data_files, summary.delete_files), (3, 0, 0));
            assert!(lake.rows("SELECT id FROM t").await.is_empty());
            // nothing is left to commit
            assert_eq!(lake.ok("DELETE FROM t").await.unwrap().snapshot_id, None);
            let operations = lake.rows("SELECT operation FROM t$snapshots").await.concat();
            assert_eq!(operations.iter().flatten().collect::<Vec<_>>(), ["append", "delete", "delete"]);
        }
    }
}
