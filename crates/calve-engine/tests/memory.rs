//! Sorts, joins, aggregates and writes of more data than memory.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use calve_engine::{ResultBody, Session, SessionConfig, WriteSummary};
use common::{files, rows, run, try_rows, try_run};

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
    let ResultBody::Written(written) = result.body else { panic!("not a write") };
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
    let ResultBody::Written(written) = result.body else { panic!("not a write") };
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

/// A session in database `db` of a warehouse, for rows in the order in which they are made.
async fn writing(warehouse: &Path, limit: Option<u64>) -> Session {
    let options = vec![("parallelism.default".to_owned(), "1".to_owned())];
    let mut session = Session::new(SessionConfig { options, memory_limit: limit, ..SessionConfig::default() }).unwrap();
    let script = format!(
        "CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{}');
         CREATE DATABASE IF NOT EXISTS ice.db",
        warehouse.display()
    );
    run(&mut session, &script).await;
    session
}

fn numbers(name: &str, rows: u64) -> String {
    format!(
        "CREATE TABLE {name} (i BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '{rows}',
         'fields.i.kind' = 'sequence', 'fields.i.start' = '1', 'fields.i.end' = '{rows}');"
    )
}

async fn write(session: &mut Session, script: &str) -> WriteSummary {
    let ResultBody::Written(mut written) = run(session, script).await.body else { panic!("not a write") };
    written.remove(0)
}

/// What a table holds, read without a limit.
async fn content(warehouse: &Path, table: &str) -> Vec<Vec<Option<String>>> {
    let mut session = writing(warehouse, None).await;
    run(&mut session, "SET 'execution.runtime-mode' = 'batch'").await;
    let query = format!(
        "SELECT COUNT(*), COUNT(DISTINCT id), SUM(id), SUM(v), MIN(v), SUM(MOD(id * 31 + v * 7, 1000003)) FROM ice.db.{table}"
    );
    rows(&mut session, &query).await
}

const UPSERT: &str = "/*+ OPTIONS('upsert-enabled' = 'true', 'write-parallelism' = '2') */";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upsert_of_more_keys_than_memory_gives_the_rows_of_one_without_a_limit() {
    for version in ["2", "3"] {
        let folder = tempfile::tempdir().unwrap();
        let mut done = vec![];
        for (table, limit) in [("much", None), ("little", Some(16 << 20))] {
            let mut session = writing(folder.path(), limit).await;
            let setup = format!(
                "{} {}
                 CREATE TABLE ice.db.{table} (id BIGINT, v BIGINT, PRIMARY KEY (id) NOT ENFORCED)
                    WITH ('format-version' = '{version}');
                 INSERT INTO ice.db.{table} SELECT i + 100000, -1 FROM early",
                numbers("early", 400_000),
                numbers("late", 600_000)
            );
            run(&mut session, &setup).await;
            let insert = format!("INSERT INTO ice.db.{table} {UPSERT} SELECT MOD(i * 48271, 400000), i FROM late");
            let written = write(&mut session, &insert).await;
            assert_eq!((written.rows, written.position_deletes), (600_000, 200_000), "v{version} {table}");
            done.push((written.equality_deletes, content(folder.path(), table).await));
        }
        let [(keys, expected), (more_keys, found)] = &done[..] else { panic!() };
        assert_eq!(found, expected, "v{version}");
        assert_eq!(found[0][..2], [Some("500001".to_owned()), Some("500001".to_owned())]);
        assert!(more_keys > keys, "v{version}: no key was forgotten: {more_keys} and {keys} equality deletes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upsert_of_changes_with_more_keys_than_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut model: BTreeMap<i64, i64> = BTreeMap::new();
    let mut lines = String::new();
    for v in 1..=400_000_i64 {
        let id = v * 48_271 % 250_007;
        let row = |v: i64| format!(r#"{{"id":{id},"v":{v}}}"#);
        let line = match model.get(&id).copied() {
            None => format!(r#"{{"op":"c","after":{}}}"#, row(v)),
            Some(old) if v % 3 == 0 => format!(r#"{{"op":"d","before":{}}}"#, row(old)),
            Some(old) => format!(r#"{{"op":"u","before":{},"after":{}}}"#, row(old), row(v)),
        };
        if line.starts_with(r#"{"op":"d""#) {
            model.remove(&id)
        } else {
            model.insert(id, v)
        };
        writeln!(lines, "{line}").unwrap();
    }
    std::fs::create_dir(folder.path().join("cdc")).unwrap();
    std::fs::write(folder.path().join("cdc/1.json"), lines).unwrap();
    let mut done = vec![];
    for (table, limit) in [("much", None), ("little", Some(16 << 20))] {
        let mut session = writing(&folder.path().join("wh"), limit).await;
        let setup = format!(
            "CREATE TABLE cdc (id BIGINT, v BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'filesystem',
                'path' = '{}', 'format' = 'debezium-json');
             CREATE TABLE ice.db.{table} (id BIGINT, v BIGINT, PRIMARY KEY (id) NOT ENFORCED);
             INSERT INTO ice.db.{table} VALUES (1, -1), (500000, -1)",
            folder.path().join("cdc").display()
        );
        run(&mut session, &setup).await;
        let written = write(&mut session, &format!("INSERT INTO ice.db.{table} {UPSERT} SELECT * FROM cdc")).await;
        done.push((written.position_deletes, content(&folder.path().join("wh"), table).await));
    }
    assert_eq!(done[0], done[1]);
    model.insert(500_000, -1);
    let counts = [model.len().to_string(), model.len().to_string(), model.keys().sum::<i64>().to_string()];
    assert_eq!(done[1].1[0][..3], counts.map(Some));
    assert_eq!(done[1].1[0][3], Some(model.values().sum::<i64>().to_string()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upsert_by_position_of_too_many_keys_says_so_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = writing(folder.path(), Some(16 << 20)).await;
    let setup = numbers("late", 600_000)
        + "CREATE TABLE ice.db.t (id BIGINT, v BIGINT, PRIMARY KEY (id) NOT ENFORCED);
           INSERT INTO ice.db.t VALUES (1, -1)";
    run(&mut session, &setup).await;
    let before = files(folder.path());
    let mode = "OPTIONS('upsert-enabled' = 'true', 'calve.upsert.mode' = 'position')";
    let insert = format!("INSERT INTO ice.db.t /*+ {mode} */ SELECT i, i FROM late");
    let error = try_run(&mut session, &insert).await.unwrap_err();
    assert_eq!(error.code, "out-of-memory");
    assert!(error.hint.unwrap().contains("'calve.upsert.mode' = 'equality'"));
    assert_eq!(files(folder.path()), before);
    assert_eq!(rows(&mut session, "SELECT id, v FROM ice.db.t").await, [[Some("1".to_owned()), Some("-1".to_owned())]]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_to_many_partitions_stays_in_its_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = writing(folder.path(), Some(32 << 20)).await;
    let setup =
        numbers("late", 600_000) + "CREATE TABLE ice.db.t (id BIGINT, v BIGINT, s STRING, p BIGINT) PARTITIONED BY (p)";
    run(&mut session, &setup).await;
    let insert = "INSERT INTO ice.db.t /*+ OPTIONS('write-parallelism' = '1') */
        SELECT i, i, LPAD(CAST(i AS STRING), 60, 'x'), MOD(i, 500) FROM late";
    let written = write(&mut session, insert).await;
    assert!((500..1500).contains(&written.data_files), "{} files", written.data_files);
    let found = content(folder.path(), "t").await;
    let sum = Some((600_000_u64 * 600_001 / 2).to_string());
    assert_eq!(found[0][..4], [Some("600000".to_owned()), Some("600000".to_owned()), sum.clone(), sum]);
    let mut session = writing(folder.path(), None).await;
    let elsewhere = rows(&mut session, "SELECT id FROM ice.db.t WHERE MOD(id, 500) <> p").await;
    assert_eq!(elsewhere, Vec::<Vec<Option<String>>>::new());
}
