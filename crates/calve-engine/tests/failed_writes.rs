//! Every way a write can fail leaves the table as it was and no file behind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::time::Duration;

use calve_engine::Settled;
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

/// Tables of other engines have NOT NULL inside of columns that may be NULL; elements of lists and maps have it in Flink too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn null_inside_of_a_column() {
    let setup = "CREATE TABLE src (id INT, r ROW<a INT, s STRING>, l ARRAY<INT>, m MAP<STRING, INT>, q ARRAY<ROW<k INT>>);
         INSERT INTO src VALUES (1, ROW(CAST(NULL AS INT), 'x'), ARRAY[1, CAST(NULL AS INT)], MAP['a', CAST(NULL AS INT)],
            ARRAY[ROW(1), ROW(CAST(NULL AS INT))]);
         CREATE TABLE t (id INT, r ROW<a INT NOT NULL, s STRING> NOT NULL, l ARRAY<INT NOT NULL>, m MAP<STRING, INT NOT NULL>,
            q ARRAY<ROW<k INT NOT NULL> NOT NULL>);
         INSERT INTO t VALUES (1, ROW(1, 'y'), ARRAY[1], MAP['a', 1], ARRAY[ROW(1)])";
    let rest = "CAST(NULL AS ARRAY<INT>), CAST(NULL AS MAP<STRING, INT>), CAST(NULL AS ARRAY<ROW<k INT>>)";
    for (statement, place) in [
        (format!("INSERT INTO t SELECT id, r, {rest} FROM src"), "r.a"),
        ("INSERT INTO t (id, r, l) SELECT id, ROW(1, 'z'), l FROM src".to_owned(), "l[1]"),
        ("INSERT INTO t (id, r, m) SELECT id, ROW(1, 'z'), m FROM src".to_owned(), "m[value]"),
        ("INSERT INTO t (id, r, m) SELECT id, ROW(1, 'z'), MAP[CAST(NULL AS STRING), 1] FROM src".to_owned(), "m[key]"),
        ("INSERT INTO t (id, r, q) SELECT id, ROW(1, 'z'), q FROM src".to_owned(), "q[1].k"),
        ("UPDATE t SET r = ROW(CAST(NULL AS INT), 'z')".to_owned(), "r.a"),
        ("UPDATE t SET l = ARRAY[CAST(NULL AS INT)]".to_owned(), "l[0]"),
        ("UPDATE t SET m = CASE WHEN id = 1 THEN MAP['a', CAST(NULL AS INT)] ELSE m END".to_owned(), "m[value]"),
        ("MERGE INTO t USING src AS s ON t.id = s.id WHEN MATCHED AND s.id = 7 THEN DELETE
            WHEN MATCHED THEN UPDATE SET l = s.l".to_owned(), "l[1]"),
        ("MERGE INTO t USING src AS s ON FALSE WHEN NOT MATCHED AND s.id = 7 THEN INSERT (id, r) VALUES (s.id, ROW(1, 'z'))
            WHEN NOT MATCHED THEN INSERT *".to_owned(), "r.a"),
    ] {
        let error = fails(setup, &statement, "null-in-not-null").await;
        assert_eq!(error.message, format!("field '{place}' is NOT NULL, and a row has NULL in it"), "{statement}");
        let detail = format!("Column '{place}' is NOT NULL, however, a null value is being written into it.");
        assert_eq!(error.detail, Some(detail), "{statement}");
    }
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
    let mut other = common::session(folder.path(), &[]).await;
    assert_eq!(rows(&mut other, "SHOW TABLES").await, [[Some("d".to_owned())]], "there is no table before its rows");
    let settled = tokio::time::timeout(Duration::from_secs(20), session.settle()).await.unwrap();
    assert!(settled.is_none());
    assert_eq!(rows(&mut session, "SHOW TABLES").await, [[Some("d".to_owned())]]);
    assert_eq!(files(folder.path()), before);
    assert!(!folder.path().join("db/t").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_create_table_as_leaves_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[("execution.runtime-mode", "batch")]).await;
    run(&mut session, "CREATE TABLE src (s STRING); INSERT INTO src VALUES ('1')").await;
    run(&mut session, "INSERT INTO src VALUES ('x')").await;
    let before = files(folder.path());
    for with in ["", "WITH ('format-version' = '3')", "PARTITIONED BY (n)"] {
        let script = format!("CREATE TABLE t {with} AS SELECT CAST(s AS INT) AS n FROM src");
        assert_eq!(try_run(&mut session, &script).await.unwrap_err().code, "cast-failed", "{with}");
        assert_eq!(files(folder.path()), before, "{with}");
        assert!(!folder.path().join("db/t").exists(), "{with}");
    }
    run(&mut session, "CREATE TABLE t AS SELECT s FROM src").await;
    assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM t").await, [[Some("2".to_owned())]]);
    assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM t$metadata_log_entries").await, [[Some("1".to_owned())]]);
}

/// Nothing keeps the name of a table whose rows are written still; in a hadoop catalog its files lie in the name's folder.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_create_table_as_whose_files_are_dropped_with_another_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[("execution.runtime-mode", "batch")]).await;
    let source = "CREATE TEMPORARY TABLE src (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '30000',
         'rows-per-second' = '10000', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '30000')";
    run(&mut session, source).await;
    let script = "CREATE TABLE t WITH ('write.target-file-size-bytes' = '1') AS SELECT n FROM src";
    let data = folder.path().join("db/t/data");
    let other = async {
        while std::fs::read_dir(&data).map_or(0, Iterator::count) < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let mut other = common::session(folder.path(), &[]).await;
        run(&mut other, "CREATE TABLE t (a INT); DROP TABLE t").await;
    };
    let (done, ()) = tokio::join!(try_run(&mut session, script), other);
    let error = done.unwrap_err();
    // the folder may go while a file is written
    assert!(matches!(error.code, "commit-conflict" | "io"), "{error:?}");
    assert_eq!(rows(&mut session, "SHOW TABLES").await, [[Some("src".to_owned())]]);
    assert!(!folder.path().join("db/t").exists());
}

/// Whenever a change of a catalog is cancelled: it is made, and said to be, or it is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_is_cancelled_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(&mut session, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)").await;
    let has =
        |text: &str, rows: Vec<Vec<Option<String>>>| rows.iter().flatten().flatten().any(|value| value.contains(text));
    // what is to be there before, the change, and where it shows
    let changes = [
        ("", "CREATE TABLE n_N (a INT)", "SHOW TABLES", "n_N"),
        ("", "ALTER TABLE t SET ('p_N' = 'x')", "SHOW CREATE TABLE t", "'p_N'"),
        ("", "ALTER TABLE t ADD c_N INT", "DESCRIBE t", "c_N"),
        ("", "ALTER TABLE t CREATE BRANCH b_N", "SELECT name FROM t$refs", "b_N"),
        ("", "CREATE DATABASE d_N", "SHOW DATABASES", "d_N"),
        ("CREATE DATABASE IF NOT EXISTS d_N", "DROP DATABASE d_N", "SHOW DATABASES", "d_N"),
        (
            "ALTER TABLE t CREATE BRANCH IF NOT EXISTS b_N",
            "ALTER TABLE t DROP BRANCH b_N",
            "SELECT name FROM t$refs",
            "b_N",
        ),
        ("CREATE TABLE IF NOT EXISTS n_N (a INT)", "DROP TABLE n_N", "SHOW TABLES", "n_N"),
    ];
    let (mut cancelled, mut made) = (0, 0);
    for (before, statement, query, name) in changes {
        for n in 0..60 {
            let named = |text: &str| text.replace("_N", &format!("_{n:02}"));
            try_run(&mut session, &named(before)).await.unwrap();
            let limit = Duration::from_micros(n * n * 10);
            let done = tokio::time::timeout(limit, try_run(&mut session, &named(statement))).await;
            let settled = session.settle().await;
            let is_made = has(&named(name), rows(&mut session, query).await) == before.is_empty();
            match (&done, &settled) {
                (Ok(Ok(_)), None) if is_made => {}
                (Err(_), None) if !is_made => cancelled += 1,
                (Err(_), Some(Ok(Settled::Altered))) if is_made => made += 1,
                _ => panic!("{}: after {limit:?}: {done:?} {settled:?} {is_made}", named(statement)),
            }
        }
    }
    assert!(cancelled > 0 && made > 0, "{cancelled} cancelled, {made} made");
    assert_eq!(rows(&mut session, "SELECT a FROM t").await, [[Some("1".to_owned())]]);
}

/// Whenever the statement is cancelled: there is no table, or it has all rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_create_table_as_that_is_cancelled_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[("execution.runtime-mode", "batch")]).await;
    run(&mut session, "CREATE TABLE d (x INT); INSERT INTO d VALUES (0), (1), (2)").await;
    let before = files(folder.path());
    let (mut cancelled, mut whole) = (0, 0);
    for step in 0.. {
        let limit = Duration::from_micros(step * step * 150);
        let done = tokio::time::timeout(limit, try_run(&mut session, "CREATE TABLE t AS SELECT x FROM d")).await;
        let settled = session.settle().await;
        let count = common::try_rows(&mut session, "SELECT COUNT(*) FROM t").await;
        match (&done, settled, count) {
            (Ok(Ok(_)), ..) => break,
            (Err(_), None, Err(error)) if error.code == "unknown-table" => {
                assert_eq!(files(folder.path()), before, "after {limit:?}");
                cancelled += 1;
            }
            (Err(_), Some(Ok(_)), Ok(rows)) => {
                assert_eq!(rows, [[Some("3".to_owned())]], "after {limit:?}");
                whole += 1;
            }
            // its last step was done, and nobody had been told
            (Err(_), None, Ok(rows)) if rows == [[Some("3".to_owned())]] => whole += 1,
            (done, settled, count) => panic!("after {limit:?}: {done:?} {settled:?} {count:?}"),
        }
        run(&mut session, "DROP TABLE IF EXISTS t").await;
        assert!(step < 300, "{cancelled} cancelled, {whole} whole");
    }
    assert!(cancelled > 0);
}
