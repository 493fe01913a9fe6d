//! REPLACE TABLE AS of Iceberg tables: one commit, with the history of what was there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{files, rows, run, session, try_run};

fn text(values: &[&[&str]]) -> Vec<Vec<Option<String>>> {
    values.iter().map(|row| row.iter().map(|value| Some((*value).to_owned())).collect()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_there_can_be_read_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[("execution.runtime-mode", "batch")]).await;
    run(&mut session, "CREATE TABLE t (a INT, b STRING, gone DATE) PARTITIONED BY (b)").await;
    run(&mut session, "INSERT INTO t VALUES (1, 'x', DATE '2024-01-01'), (2, 'y', DATE '2024-01-02')").await;
    // one name stays with its type, one with another
    run(
        &mut session,
        "REPLACE TABLE t AS SELECT 9 AS a, b FROM (VALUES (CAST(7 AS BIGINT)), (CAST(NULL AS BIGINT))) AS s (b)",
    )
    .await;
    assert_eq!(rows(&mut session, "SELECT a, b FROM t WHERE b IS NOT NULL").await, text(&[&["9", "7"]]));
    let ids = rows(&mut session, "SELECT snapshot_id FROM t$snapshots ORDER BY committed_at").await;
    assert_eq!(ids.len(), 2);
    let old = ids.first().unwrap().first().unwrap().clone().unwrap();
    // with the newest schema, as in Flink
    let old = format!("SELECT a FROM t /*+ OPTIONS('snapshot-id' = '{old}') */ WHERE b IS NULL ORDER BY a");
    assert_eq!(rows(&mut session, &old).await, text(&[&["1"], &["2"]]));
    run(&mut session, "INSERT INTO t VALUES (10, 8)").await;
    let newest = rows(&mut session, "SELECT * FROM t WHERE b > 0 ORDER BY b").await;
    assert_eq!(newest, text(&[&["9", "7"], &["10", "8"]]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replacement_that_fails_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[("execution.runtime-mode", "batch")]).await;
    run(&mut session, "CREATE TABLE words AS SELECT * FROM (VALUES ('1'), ('x')) AS s (w)").await;
    run(&mut session, "CREATE TABLE t AS SELECT 7 AS n").await;
    let before = files(&folder.path().join("db/t"));
    for statement in ["REPLACE TABLE t", "CREATE OR REPLACE TABLE t"] {
        for query in ["SELECT CAST(w AS INT) AS n FROM words", "SELECT nothing FROM words", "SELECT n + 1 AS n FROM t"]
        {
            assert!(try_run(&mut session, &format!("{statement} AS {query}")).await.is_err(), "{query}");
        }
    }
    assert_eq!(files(&folder.path().join("db/t")), before);
    assert_eq!(rows(&mut session, "SELECT * FROM t").await, text(&[&["7"]]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upsert_table_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[("execution.runtime-mode", "batch")]).await;
    let upsert = "(PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true')";
    run(&mut session, &format!("CREATE TABLE t {upsert} AS SELECT 1 AS id, 'a' AS v")).await;
    run(&mut session, "INSERT INTO t VALUES (1, 'b'), (2, 'c')").await;
    run(&mut session, &format!("REPLACE TABLE t {upsert} AS SELECT 2 AS id, 'd' AS v")).await;
    assert_eq!(rows(&mut session, "SELECT * FROM t").await, text(&[&["2", "d"]]));
    run(&mut session, "INSERT INTO t VALUES (2, 'e'), (3, 'f')").await;
    assert_eq!(rows(&mut session, "SELECT * FROM t ORDER BY id").await, text(&[&["2", "e"], &["3", "f"]]));
    // no rows: an empty table
    run(&mut session, "REPLACE TABLE t AS SELECT 1 AS z FROM (VALUES (1)) AS s (a) WHERE a > 1").await;
    assert_eq!(rows(&mut session, "SELECT * FROM t").await, text(&[]));
    assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM t$snapshots").await, text(&[&["4"]]));
}
