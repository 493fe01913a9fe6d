//! Values, names and settings at the edge of what tables can hold.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{rows, run, session, try_run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_least_value_is_found_behind_a_truncate_partition() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(
        &mut session,
        "CREATE TABLE t (k INT) PARTITIONED BY (truncate(10, k)); INSERT INTO t VALUES (-2147483648), (5), (2147483647)",
    )
    .await;
    for (predicate, expected) in [("k < 0", "-2147483648"), ("k > 5", "2147483647"), ("k = 5", "5")] {
        let got = rows(&mut session, &format!("SELECT k FROM t WHERE {predicate}")).await;
        assert_eq!(got, [[Some(expected.to_owned())]], "{predicate}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_version_is_an_error_and_not_an_older_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(&mut session, "CREATE TABLE t (k INT); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)").await;
    std::fs::remove_file(folder.path().join("db/t/metadata/v3.metadata.json")).unwrap();
    for statement in ["SELECT * FROM t", "INSERT INTO t VALUES (3)"] {
        assert_eq!(try_run(&mut session, statement).await.expect_err(statement).code, "invalid-table");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn misspelt_options_of_hints_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(&mut session, "CREATE TABLE t (k INT)").await;
    for (statement, known) in [
        ("SELECT * FROM t /*+ OPTIONS('snapshotid' = '1') */", "snapshot-id"),
        ("INSERT INTO t /*+ OPTIONS('upsert-enabeld' = 'true') */ VALUES (1)", "upsert-enabled"),
    ] {
        let warnings = run(&mut session, statement).await.warnings;
        assert!(warnings.iter().any(|w| w.message.contains(&format!("did you mean '{known}'"))), "{statement}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_chain_of_unions_is_planned_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    let chain = format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(499));
    let started = std::time::Instant::now();
    assert_eq!(rows(&mut session, &chain).await.len(), 500);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
