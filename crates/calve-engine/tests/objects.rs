//! Tables, views and temporary objects of a session, beyond what transcripts show.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::{Arc, Mutex};

use calve_engine::{Session, SessionConfig};
use common::{rows, run, session, try_rows, try_run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_create_table_as_leaves_nothing_in_the_warehouse() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(&mut session, "CREATE TABLE words AS SELECT * FROM (VALUES ('1'), ('x')) AS t(w)").await;
    let create = "CREATE TABLE numbers AS SELECT CAST(w AS INT) AS n FROM words";
    assert!(try_run(&mut session, create).await.is_err());
    assert!(!folder.path().join("db/numbers").exists());
    assert_eq!(rows(&mut session, "SHOW TABLES").await, [[Some("words".to_owned())]]);
    // an error in the query comes before the table does
    for query in ["SELECT nope FROM words", "SELECT w, w + 1 FROM words", "SELECT * FROM nothing"] {
        assert!(try_run(&mut session, &format!("CREATE TABLE numbers AS {query}")).await.is_err(), "{query}");
        assert!(!folder.path().join("db/numbers").exists(), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_create_table_as_keeps_the_table_that_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(&mut session, "CREATE TABLE words AS SELECT * FROM (VALUES ('1'), ('x')) AS t(w)").await;
    run(&mut session, "CREATE TABLE numbers AS SELECT 7 AS n").await;
    for create in ["CREATE TABLE IF NOT EXISTS numbers", "CREATE TABLE numbers", "CREATE OR REPLACE TABLE numbers"] {
        let create = format!("{create} AS SELECT CAST(w AS INT) AS n FROM words");
        assert!(try_run(&mut session, &create).await.is_err(), "{create}");
        assert_eq!(rows(&mut session, "SELECT * FROM numbers").await, [[Some("7".to_owned())]], "{create}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn print_tables_write_where_the_session_says() {
    let lines = Arc::new(Mutex::new(vec![]));
    let sink = lines.clone();
    let print: calve_engine::PrintLines = Arc::new(move |line| sink.lock().unwrap().push(line));
    let mut session = Session::new(SessionConfig { print: Some(print), ..SessionConfig::default() }).unwrap();
    run(&mut session, "CREATE TABLE p (a INT, b STRING) WITH ('connector' = 'print')").await;
    run(&mut session, "INSERT INTO p VALUES (1, 'x')").await;
    assert_eq!(*lines.lock().unwrap(), ["+I[1, x]"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_view_inside_of_many_views_is_read_or_refused() {
    let mut session = Session::new(SessionConfig::default()).unwrap();
    run(&mut session, "CREATE VIEW v0 AS SELECT 1 AS a").await;
    for i in 1..50 {
        run(&mut session, &format!("CREATE VIEW v{i} AS SELECT a FROM v{}", i - 1)).await;
    }
    assert_eq!(rows(&mut session, "SELECT * FROM v49").await, [[Some("1".to_owned())]]);
    // each level reads the one below twice: 2^n scans must be refused before they are built
    run(&mut session, "CREATE VIEW w0 AS SELECT 1 AS a").await;
    let mut refused = false;
    for i in 1..40 {
        let create = format!("CREATE VIEW w{i} AS SELECT a FROM w{0} UNION ALL SELECT a FROM w{0}", i - 1);
        if let Err(error) = try_run(&mut session, &create).await {
            assert_eq!(error.code, "too-many-views");
            refused = true;
            break;
        }
    }
    assert!(refused);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_view_sees_its_tables_as_they_are_when_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(&mut session, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)").await;
    run(&mut session, "CREATE VIEW default_catalog.default_database.v AS SELECT a FROM t").await;
    run(&mut session, "INSERT INTO t VALUES (2)").await;
    let sum = "SELECT SUM(a) AS s FROM default_catalog.default_database.v";
    // the view's short name means the table it meant when the view was made
    for place in ["USE db", "USE CATALOG default_catalog"] {
        run(&mut session, place).await;
        assert_eq!(rows(&mut session, sum).await.last(), Some(&vec![Some("3".to_owned())]), "{place}");
    }
    run(&mut session, "DROP TABLE ice.db.t").await;
    assert_eq!(try_rows(&mut session, sum).await.unwrap_err().code, "unknown-table");
}
