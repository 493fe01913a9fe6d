//! Sorts, joins and aggregates of more data than memory.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use calve_engine::{Session, SessionConfig};
use common::{rows, run, try_rows, try_run};

/// A session with a memory limit and a table of 2 million rows in random order. In batch mode: what an operator keeps of a
/// changelog does not spill.
async fn session(limit: u64) -> Session {
    let config = SessionConfig {
        options: [("parallelism.default", "2"), ("execution.runtime-mode", "batch")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
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
    let query =
        "SELECT COUNT(*), COUNT(DISTINCT a.r) - COUNT(DISTINCT b.r) FROM numbers a JOIN numbers b ON a.id = b.id";
    assert_eq!(one(&mut session, query).await[0], "2000000");
    let query = "SELECT COUNT(*) FROM numbers a LEFT JOIN (SELECT * FROM numbers WHERE MOD(id, 2) = 0) b ON a.id = b.id
        WHERE b.id IS NULL";
    assert_eq!(one(&mut session, query).await, ["1000000"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_insert_with_a_join_spills_and_counts_its_rows_once() {
    // less than the texts of one side, which a hash join would hold
    let mut session = session(96 << 20).await;
    run(&mut session, "CREATE TABLE b (id BIGINT, s STRING, t STRING) WITH ('connector' = 'blackhole')").await;
    let insert = "INSERT INTO b SELECT a.id, a.s, c.s FROM numbers a JOIN numbers c ON a.id = c.id";
    let result = run(&mut session, insert).await;
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
