//! Every way a write can fail leaves the table as it was and no file behind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::time::Duration;

use common::{files, rows, run, session, try_run};

/// Runs `script`, which must fail with `code`; nothing in the warehouse may differ afterwards.
async fn fails(setup: &str, script: &str, code: &str) -> calve_types::Error {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[("parallelism.default", "2")]).await;
    run(&mut session, setup).await;
    let before = files(folder.path());
    let error = try_run(&mut session, script).await.expect_err(script);
    assert_eq!(error.code, code, "{script}: {error:?}");
    assert_eq!(files(folder.path()), before, "{script} left files behind");
    error
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn null_in_a_not_null_column() {
    let error = fails(
        "CREATE TABLE src (id INT, a STRING); CREATE TABLE t (id INT NOT NULL, a STRING);
         INSERT INTO src VALUES (1, 'ok'), (CAST(NULL AS INT), 'bad')",
        "INSERT INTO t SELECT id, a FROM src",
        "null-in-not-null",
    )
    .await;
    assert!(error.detail.unwrap().contains("Column 'id' is NOT NULL, however, a null value is being written into it."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_fails_while_the_query_runs() {
    fails(
        "CREATE TABLE src (s STRING); CREATE TABLE t (id INT);
         INSERT INTO src VALUES ('1'), ('x')",
        "INSERT INTO t SELECT CAST(s AS INT) FROM src",
        "cast-failed",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upsert_checks_come_before_the_first_row() {
    fails(
        "CREATE TABLE t (id INT)",
        "INSERT INTO t /*+ OPTIONS('upsert-enabled'='true') */ VALUES (1)",
        "upsert-without-key",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_rows_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[("table.exec.sink.not-null-enforcer", "DROP")]).await;
    run(
        &mut session,
        "CREATE TABLE src (id INT, a STRING); CREATE TABLE t (id INT NOT NULL, a STRING);
         INSERT INTO src VALUES (1, 'ok'), (CAST(NULL AS INT), 'bad')",
    )
    .await;
    let result = run(&mut session, "INSERT INTO t SELECT id, a FROM src").await;
    let calve_engine::ResultBody::Written(written) = result.body else { panic!("not a write") };
    let [summary] = &written[..] else { panic!("not one write") };
    assert_eq!((summary.rows, summary.dropped_rows), (1, 1));
    assert_eq!(rows(&mut session, "SELECT * FROM t").await, [[Some("1".to_owned()), Some("ok".to_owned())]]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_create_table_as_leaves_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[("execution.runtime-mode", "batch")]).await;
    let setup = "CREATE TABLE d (x INT); INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)";
    run(&mut session, setup).await;
    let before = files(folder.path());
    let tables: Vec<String> = (0..12).map(|n| format!("d AS t{n}")).collect();
    let script = format!("CREATE TABLE t AS SELECT SUM(t0.x + t11.x) AS s FROM {}", tables.join(" CROSS JOIN "));
    let cancelled = tokio::time::timeout(Duration::from_millis(1500), try_run(&mut session, &script)).await;
    assert!(cancelled.is_err(), "the statement came to an end");
    let settled = tokio::time::timeout(Duration::from_secs(20), session.settle()).await.unwrap();
    assert!(settled.is_none());
    assert_eq!(rows(&mut session, "SHOW TABLES").await, [[Some("d".to_owned())]]);
    assert_eq!(files(folder.path()), before);
}
