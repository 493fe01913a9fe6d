//! What fails leaves the table as it was, and no file behind.

use std::time::Duration;

use super::{Lake, open, rows, run};

const MODES: [&str; 2] = ["copy-on-write", "merge-on-read"];

async fn lake(mode: &str) -> Lake {
    let mut lake = Lake::new().await;
    lake.ok(&format!(
        "CREATE TABLE t (id INT, v INT NOT NULL, p STRING) PARTITIONED BY (p) WITH ('format-version'='2', \
         'write.delete.mode'='{mode}', 'write.update.mode'='{mode}', 'write.merge.mode'='{mode}', \
         'commit.retry.num-retries'='100', 'commit.retry.min-wait-ms'='5', 'commit.retry.max-wait-ms'='20');
         INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'a'), (3, 30, 'b')"
    ))
    .await;
    lake
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_changes_nothing() {
    for mode in MODES {
        let mut lake = lake(mode).await;
        let (files, before) = (lake.data_files("t"), lake.rows("SELECT * FROM t").await);
        let snapshots = lake.rows("SELECT snapshot_id FROM t$snapshots").await;
        for (sql, code) in [
            ("UPDATE t SET v = CAST(NULL AS INT) WHERE id > 1", "null-in-not-null"),
            ("UPDATE t SET v = CAST(CASE WHEN id = 3 THEN 'x' ELSE '1' END AS INT)", ""),
            (
                "MERGE INTO t USING (VALUES (1), (1)) AS s (id) ON t.id = s.id WHEN MATCHED THEN DELETE",
                "merge-cardinality",
            ),
            (
                "MERGE INTO t USING (VALUES (2, 1), (2, 2)) AS s (id, v) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v \
                 WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, 'z')",
                "merge-cardinality",
            ),
        ] {
            let error = lake.run(sql).await.expect_err(sql);
            assert!(code.is_empty() || error.code == code, "{sql}: {error}");
            assert_eq!(lake.data_files("t"), files, "{sql}");
            assert_eq!(lake.rows("SELECT * FROM t").await, before, "{sql}");
            assert_eq!(lake.rows("SELECT snapshot_id FROM t$snapshots").await, snapshots, "{sql}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_row_that_is_matched_twice_is_named() {
    let mut lake = lake("copy-on-write").await;
    let sql = "MERGE INTO t USING (VALUES (2), (2)) AS s (id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 0";
    let error = lake.run(sql).await.unwrap_err();
    assert!(error.message.ends_with("id = 2, v = 20, p = a"), "{error}");
    // rows that no clause is for do not count
    let sql =
        "MERGE INTO t USING (VALUES (2, 1), (2, 2)) AS s (id, n) ON t.id = s.id WHEN MATCHED AND s.n = 1 THEN DELETE";
    assert_eq!(lake.ok(sql).await.unwrap().changed.unwrap().deleted, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nulls_are_dropped_if_asked_for() {
    for mode in MODES {
        let mut lake = lake(mode).await;
        lake.ok("SET 'table.exec.sink.not-null-enforcer' = 'DROP'").await;
        let summary = lake.ok("UPDATE t SET v = CASE WHEN id = 1 THEN CAST(NULL AS INT) ELSE 0 END").await.unwrap();
        assert_eq!((summary.changed.unwrap().updated, summary.dropped_rows), (2, 1));
        let found = lake.rows("SELECT id, v FROM t").await;
        let text = |id: &str, v: &str| vec![Some(id.to_owned()), Some(v.to_owned())];
        assert_eq!(found, [text("1", "10"), text("2", "0"), text("3", "0")]);
    }
}

/// Two sessions count up the same rows: none of their commits is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_updates_all_count() {
    for mode in MODES {
        let lake = lake(mode).await;
        let path = lake.dir.clone();
        let work = |from: i64| {
            let path = path.clone();
            async move {
                let mut session = open(&path).await;
                for i in 0..4 {
                    run(&mut session, "UPDATE t SET v = v + 1 WHERE id <= 2").await.unwrap();
                    run(&mut session, &format!("INSERT INTO t VALUES ({}, 0, 'c')", from + i)).await.unwrap();
                }
            }
        };
        tokio::join!(work(100), work(200));
        let mut session = open(&path).await;
        let found = rows(&mut session, "SELECT id, v FROM t WHERE id < 100").await;
        let text = |id: &str, v: &str| vec![Some(id.to_owned()), Some(v.to_owned())];
        assert_eq!(found, [text("1", "18"), text("2", "28"), text("3", "30")], "{mode}");
        assert_eq!(rows(&mut session, "SELECT id FROM t WHERE id >= 100").await.len(), 8);
        // every file on disk is one that a snapshot has
        let known = rows(&mut session, "SELECT DISTINCT file_path FROM t$all_files").await;
        assert_eq!(lake.data_files("t").len(), known.len(), "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_statement_leaves_nothing() {
    for mode in MODES {
        let mut lake = lake(mode).await;
        let (files, before) = (lake.data_files("t"), lake.rows("SELECT * FROM t").await);
        // rows without end
        lake.ok("CREATE TABLE default_catalog.default_database.g (id INT, v INT) WITH ('connector'='datagen', 'number-of-rows'='500000000')").await;
        let sql = "MERGE INTO t USING default_catalog.default_database.g AS s ON t.id = s.id AND t.id < 0 WHEN NOT MATCHED \
                   THEN INSERT VALUES (s.id, COALESCE(s.v, 1), 'x') WHEN MATCHED THEN DELETE";
        for millis in [1, 50, 400] {
            let cancelled = tokio::time::timeout(Duration::from_millis(millis), lake.run(sql)).await;
            assert!(cancelled.is_err(), "{mode}: the statement ended");
            let settled = lake.session.settle().await;
            assert!(settled.is_none(), "{mode}: {settled:?}");
            assert_eq!(lake.data_files("t"), files, "{mode}");
        }
        assert_eq!(lake.rows("SELECT * FROM t").await, before);
    }
}
