//! Sorts, joins and aggregates of more data than memory.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use calve_engine::{Session, SessionConfig};
use common::{rows, run, try_rows, try_run};

/// A session with a memory limit and a table of 2 million rows in random order.
async fn session(limit: u64) -> Session {
    let config = SessionConfig {
        options: vec![("parallelism.default".to_owned(), "2".to_owned())],
        memory_limit: Some(limit),
        ..SessionConfig::default()
    };
    let mut session = Session::new(config).unwrap();
    run(
        &mut session,
        "CREATE TABLE numbers (id BIGINT, r INT, s STRING) WITH (
            'connector' = 'datagen', 'number-of-rows' = '2000000',
            'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '2000000',
            'fields.r.min' = '0', 'fields.r.max' = '1000000', 'fields.s.length' = '40')",
    )
    .await;
    session
}

async fn one(session: &mut Session, query: &str) -> Vec<String> {
    let mut rows = rows(session, query).await;
    assert_eq!(rows.len(), 1, "{query}");
    rows.remove(0).into_iter().map(Option::unwrap).collect()
}

const LIMIT: u64 = 64 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sort_spills() {
    let mut session = session(LIMIT).await;
    run(&mut session, "CREATE TABLE b (id BIGINT, s STRING) WITH ('connector' = 'blackhole')").await;
    let result = run(&mut session, "INSERT INTO b SELECT id, s FROM numbers ORDER BY s").await;
    let calve_engine::ResultBody::Written(written) = result.body else { panic!("not a write") };
    assert_eq!(written[0].rows, 2_000_000);
    // also if only the first rows are wanted, but too many
    let query = "SELECT COUNT(*), MAX(id) FROM (SELECT id, s FROM numbers ORDER BY id LIMIT 1500000)";
    assert_eq!(one(&mut session, query).await, ["1500000", "1500000"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_aggregate_spills() {
    let mut session = session(LIMIT).await;
    let query = "SELECT COUNT(*), SUM(n) FROM (SELECT id, COUNT(*) AS n, MAX(s) AS s FROM numbers GROUP BY id)";
    assert_eq!(one(&mut session, query).await, ["2000000", "2000000"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_join_spills() {
    let mut session = session(LIMIT).await;
    let query = "SELECT COUNT(*), COUNT(DISTINCT a.r) - COUNT(DISTINCT b.r) FROM numbers a JOIN numbers b ON a.id = b.id";
    assert_eq!(one(&mut session, query).await[0], "2000000");
    let query = "SELECT COUNT(*) FROM numbers a LEFT JOIN (SELECT * FROM numbers WHERE MOD(id, 2) = 0) b ON a.id = b.id
        WHERE b.id IS NULL";
    assert_eq!(one(&mut session, query).await, ["1000000"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_insert_with_a_join_spills_and_counts_its_rows_once() {
    let mut session = session(LIMIT).await;
    run(&mut session, "CREATE TABLE b (id BIGINT, s STRING) WITH ('connector' = 'blackhole')").await;
    let result = run(&mut session, "INSERT INTO b SELECT a.id, c.s FROM numbers a JOIN numbers c ON a.id = c.id").await;
    let calve_engine::ResultBody::Written(written) = result.body else { panic!("not a write") };
    assert_eq!(written[0].rows, 2_000_000);
    assert_eq!(session.progress().counts().rows_written, 2_000_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_spill_says_so() {
    let mut session = session(LIMIT).await;
    let query = "SELECT COUNT(*) FROM numbers a JOIN numbers b ON a.id < b.id AND a.s < b.s";
    let error = try_rows(&mut session, query).await.unwrap_err();
    assert_eq!(error.code, "out-of-memory");
    assert!(error.hint.unwrap().contains("--memory-limit"));
    // and the session goes on
    assert!(try_run(&mut session, "SELECT 1").await.is_ok());
}

/// Joins by sorting give the rows of joins by hashing: with and without a further condition, NULL keys, several rows for a
/// key on both sides.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn joins_that_spill_give_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut by_hash = common::session(folder.path(), &[("parallelism.default", "2")]).await;
    run(
        &mut by_hash,
        "CREATE TABLE d (x INT);
         INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16),
            (17), (18), (19);
         CREATE TABLE l (k INT, g STRING, v INT); CREATE TABLE r (k INT, g STRING, v INT);
         INSERT INTO l SELECT NULLIF(MOD(id, 40000), 17), CAST(MOD(id, 3) AS STRING), id FROM (
            SELECT a.x * 8000 + b.x * 400 + c.x * 20 + e.x AS id FROM d a, d b, d c, d e);
         INSERT INTO r SELECT NULLIF(MOD(id * 7, 60000), 17), CAST(MOD(id, 5) AS STRING), MOD(id, 1000) FROM (
            SELECT a.x * 8000 + b.x * 400 + c.x * 20 + e.x AS id FROM d a, d b, d c, d e)",
    )
    .await;
    let mut by_sort = limited(folder.path(), 16 << 20).await;
    let sums = "COUNT(*), COUNT(l.v), COUNT(r.v), SUM(CAST(l.v AS BIGINT)), SUM(CAST(r.v AS BIGINT)), COUNT(l.k)";
    let mut queries = vec![];
    for kind in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] {
        for on in ["l.k = r.k", "l.k = r.k AND l.g = r.g", "l.k = r.k AND l.v > r.v * 100"] {
            queries.push(format!("SELECT {sums} FROM l {kind} r ON {on}"));
        }
    }
    let exists = "(SELECT 1 FROM r WHERE r.k = l.k AND r.v < 500)";
    queries.push(format!("SELECT COUNT(*), SUM(CAST(v AS BIGINT)) FROM l WHERE EXISTS {exists}"));
    queries.push(format!("SELECT COUNT(*), SUM(CAST(v AS BIGINT)) FROM l WHERE NOT EXISTS {exists}"));
    queries.push("SELECT COUNT(*), SUM(CAST(v AS BIGINT)) FROM l WHERE k IN (SELECT k FROM r WHERE v < 500)".to_owned());
    queries.push("SELECT COUNT(*) FROM (SELECT k, g FROM l INTERSECT SELECT k, g FROM r)".to_owned());
    queries.push("SELECT COUNT(*) FROM (SELECT k, g FROM l EXCEPT SELECT k, g FROM r)".to_owned());
    let mut sorted = 0;
    for query in queries {
        let plan = rows(&mut by_sort, &format!("EXPLAIN {query}")).await;
        sorted += usize::from(format!("{plan:?}").contains("SortMergeJoin"));
        assert_eq!(rows(&mut by_sort, &query).await, rows(&mut by_hash, &query).await, "{query}");
    }
    assert!(sorted >= 12, "only {sorted} queries sort");
}

/// Another session on the folder, with a memory limit.
async fn limited(warehouse: &std::path::Path, limit: u64) -> Session {
    let config = SessionConfig {
        options: vec![("parallelism.default".to_owned(), "2".to_owned())],
        memory_limit: Some(limit),
        ..SessionConfig::default()
    };
    let mut session = Session::new(config).unwrap();
    let warehouse = warehouse.display();
    let script = format!(
        "CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{warehouse}');
         USE CATALOG ice; USE db"
    );
    run(&mut session, &script).await;
    session
}
