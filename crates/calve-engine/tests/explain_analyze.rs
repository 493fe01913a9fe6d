//! EXPLAIN ANALYZE: what each operator did, in numbers, and that a statement that writes writes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::time::Duration;

use calve_engine::{ResultBody, Session, SessionConfig, StatementKind, StatementResult};
use common::{files, rows, run, session, try_run};

const BATCH: (&str, &str) = ("execution.runtime-mode", "batch");
const ALONE: (&str, &str) = ("parallelism.default", "1");

/// What EXPLAIN ANALYZE says of a statement, whose warnings must be of these codes behind its own.
async fn analyzed(session: &mut Session, statement: &str, codes: &[&str]) -> String {
    let StatementResult { kind, body, warnings, job_id } = run(session, &format!("EXPLAIN ANALYZE {statement}")).await;
    assert_eq!(kind, StatementKind::Command);
    assert_eq!(warnings[0].message, "not portable to Flink: EXPLAIN ANALYZE");
    let found: Vec<&str> = warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(found, [&["not-portable"], codes].concat(), "{warnings:?}");
    let is_query = ["SELECT", "VALUES", "WITH"].iter().any(|word| statement.trim_start().starts_with(word));
    assert_eq!(job_id.is_none(), is_query, "{statement}");
    let ResultBody::Rows(mut rows) = body else { panic!("no rows: {body:?}") };
    let mut text = rows.next_text().await.unwrap().unwrap().remove(0).remove(0).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    assert!(text.starts_with("== Executed Plan ==\n") && text.contains("\n== Execution ==\n"), "{text}");
    text.push('\n');
    text
}

/// Whether an operator's line is followed by one that tells these things.
fn tells(text: &str, operator: &str, parts: &[&str]) {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let found = lines.windows(2).any(|pair| {
        let told = format!("{},", pair[1].trim_start_matches("| "));
        pair[0].starts_with(operator)
            && pair[1].starts_with("| ")
            && parts.iter().all(|part| format!(" {told}").contains(&format!(" {part},")))
    });
    assert!(found, "{operator} {parts:?}\n{text}");
}

/// What is said at the end: what came of the statement, then what was read.
fn outcome(text: &str) -> Vec<String> {
    let (_, end) = text.split_once("== Execution ==\n").unwrap();
    end.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_tells_of_its_operators_and_of_pruned_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[BATCH, ALONE]).await;
    run(&mut session, "CREATE TABLE t (id INT, p INT, s STRING) PARTITIONED BY (p)").await;
    for p in 1..4 {
        run(&mut session, &format!("INSERT INTO t VALUES (1, {p}, 'a'), (2, {p}, 'b'), (3, {p}, 'a'), (4, {p}, 'c')"))
            .await;
    }
    let text = analyzed(&mut session, "SELECT s, COUNT(*) AS n FROM t WHERE p = 2 AND id < 4 GROUP BY s", &[]).await;
    let pruned = ["table db.t", "rows 4", "files 1 of 3 (2 pruned)"];
    tells(&text, "DataSourceExec: 1 group, ", &pruned);
    tells(&text, "FilterExec: ", &["rows 3"]);
    tells(&text, "AggregateExec: ", &["rows 2"]);
    assert!(text.contains("manifests pruned 2") && text.contains(", time ") && text.contains(", memory "), "{text}");
    let told = outcome(&text);
    assert_eq!((told.len(), told[0].as_str()), (2, "2 rows"), "{text}");
    assert!(told[1].starts_with("4 rows read (") && told[1].ends_with(" at most"), "{text}");

    // bounds of columns rule out files, too; a LIMIT leaves files out
    run(&mut session, "CREATE TABLE u (id INT)").await;
    for values in ["(1), (2)", "(11), (12)", "(21), (22)"] {
        run(&mut session, &format!("INSERT INTO u VALUES {values}")).await;
    }
    let text = analyzed(&mut session, "SELECT * FROM u WHERE id > 11", &[]).await;
    tells(&text, "DataSourceExec: ", &["rows 4", "files 2 of 3 (1 pruned)"]);
    assert!(!text.contains("manifests pruned"), "{text}");
    let text = analyzed(&mut session, "SELECT * FROM u LIMIT 2", &[]).await;
    tells(&text, "DataSourceExec: ", &["rows 2", "files 1 of 3"]);

    // nothing was written, and the rows were there to be read
    assert_eq!(rows(&mut session, "SELECT COUNT(*) FROM u").await, [[Some("6".to_owned())]]);
    let text = analyzed(&mut session, "VALUES (1), (2), (3)", &[]).await;
    assert_eq!(outcome(&text)[0], "3 rows");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deletes_that_were_applied_are_counted_by_kind() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[BATCH, ALONE]).await;
    run(
        &mut session,
        "CREATE TABLE k (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('format-version' = '2', 'write.upsert.enabled' = 'true', 'write.delete.mode' = 'merge-on-read');
         INSERT INTO k VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e')",
    )
    .await;
    let text = analyzed(&mut session, "INSERT INTO k VALUES (2, 'x'), (3, 'y'), (9, 'z')", &[]).await;
    tells(&text, "Sink(table=[ice.db.k])", &["rows 3"]);
    let told = outcome(&text);
    assert!(
        told[0].starts_with("3 rows written to ice.db.k: 1 data file, 1 delete file (2 equality deletes)"),
        "{text}"
    );
    let text = analyzed(&mut session, "SELECT * FROM k", &[]).await;
    tells(&text, "DataSourceExec: ", &["rows 6", "files 2 of 2"]);
    assert!(text.contains("deleted by key 2") && !text.contains("by position"), "{text}");

    let text = analyzed(&mut session, "DELETE FROM k WHERE id = 1", &["not-portable"]).await;
    assert!(text.contains("DELETE(table=[ice.db.k])\n"), "{text}");
    assert!(
        outcome(&text)[0].starts_with("1 row deleted in ice.db.k: 0 data files, 1 delete file (1 position"),
        "{text}"
    );
    let text = analyzed(&mut session, "SELECT * FROM k", &[]).await;
    tells(&text, "DataSourceExec: ", &["rows 5"]);
    assert!(text.contains("deleted by key 2") && text.contains("deleted by position 1"), "{text}");
    assert_eq!(rows(&mut session, "SELECT * FROM k").await.len(), 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_writes_is_committed_and_tells_of_its_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[BATCH, ALONE]).await;
    run(&mut session, "CREATE TABLE t (a INT, b STRING)").await;
    let text = analyzed(&mut session, "INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')", &[]).await;
    tells(&text, "Sink(table=[ice.db.t])", &["rows 3", "files 1"]);
    let told = outcome(&text);
    let snapshot = rows(&mut session, "SELECT CAST(snapshot_id AS STRING) FROM t$snapshots").await;
    let snapshot = snapshot[0][0].clone().unwrap();
    assert!(told[0].starts_with("3 rows written to ice.db.t: 1 data file, snapshot "), "{text}");
    assert!(told[0].contains(&format!("snapshot {snapshot} (")) && told[0].ends_with(" seconds)"), "{text}");
    assert_eq!(rows(&mut session, "SELECT * FROM t").await.len(), 3);

    let text = analyzed(&mut session, "CREATE TABLE made AS SELECT a FROM t WHERE a > 1", &[]).await;
    tells(&text, "Sink(table=[ice.db.made])", &["rows 2", "files 1"]);
    assert!(outcome(&text)[0].starts_with("2 rows written to ice.db.made: 1 data file, snapshot "), "{text}");
    assert_eq!(rows(&mut session, "SELECT * FROM made").await.len(), 2);

    let text = analyzed(&mut session, "INSERT OVERWRITE made SELECT 7", &[]).await;
    assert!(
        outcome(&text)[0].starts_with("1 row written to ice.db.made: 1 data file, 1 data file replaced, "),
        "{text}"
    );

    let merge = "MERGE INTO t USING made AS m ON t.a = m.a WHEN NOT MATCHED THEN INSERT (a, b) VALUES (m.a, 'new')";
    let text = analyzed(&mut session, merge, &["not-portable"]).await;
    tells(&text, "MERGE(table=[ice.db.t])", &["rows 1", "files 1"]);
    assert!(outcome(&text)[0].starts_with("1 row inserted in ice.db.t: 1 data file, snapshot "), "{text}");
    let text = analyzed(&mut session, "UPDATE t SET b = 'u' WHERE a = 7", &["not-portable"]).await;
    assert!(outcome(&text)[0].starts_with("1 row updated in ice.db.t: 1 data file, 1 data file removed, "), "{text}");
    assert_eq!(rows(&mut session, "SELECT a FROM t WHERE b = 'u'").await, [[Some("7".to_owned())]]);
    // no rows: no snapshot, and it is said
    let text = analyzed(&mut session, "INSERT INTO t SELECT a, b FROM t WHERE a > 100", &[]).await;
    assert!(outcome(&text)[0].starts_with("no rows written to ice.db.t ("), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_set_tells_of_each_insert_and_of_the_shared_scan() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[BATCH, ALONE]).await;
    run(
        &mut session,
        "CREATE TABLE s (a INT); CREATE TABLE x (a INT); CREATE TABLE y (a INT);
         INSERT INTO s VALUES (1), (2), (3), (4), (5)",
    )
    .await;
    let set =
        "STATEMENT SET BEGIN INSERT INTO x SELECT a FROM s WHERE a < 3; INSERT INTO y SELECT a FROM s WHERE a > 1; END";
    let text = analyzed(&mut session, set, &[]).await;
    assert!(text.contains("SharedScan(table=[ice.db.s], read once for the INSERTs 1, 2)\n"), "{text}");
    tells(&text, "DataSourceExec: ", &["table db.s", "rows 5", "files 1 of 1"]);
    tells(&text, "Sink(table=[ice.db.x])", &["rows 2", "files 1"]);
    tells(&text, "Sink(table=[ice.db.y])", &["rows 4", "files 1"]);
    let told = outcome(&text);
    assert!(told[0].starts_with("2 rows written to ice.db.x: ") && told[1].starts_with("4 rows written to ice.db.y: "));
    assert!(told[2].starts_with("5 rows read ("), "{text}");
    assert_eq!(rows(&mut session, "SELECT * FROM y").await.len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connectors_are_measured_and_spills_are_told() {
    let options = [BATCH, ALONE].map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let config = SessionConfig { options, memory_limit: Some(16 << 20), ..SessionConfig::default() };
    let mut session = Session::new(config).unwrap();
    run(
        &mut session,
        "CREATE TABLE numbers (id BIGINT, s STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '300000',
            'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '300000', 'fields.s.length' = '40');
         CREATE TABLE b (id BIGINT, s STRING) WITH ('connector' = 'blackhole')",
    )
    .await;
    let text = analyzed(&mut session, "INSERT INTO b SELECT id, s FROM numbers ORDER BY s", &[]).await;
    tells(&text, "Sink(table=[default_catalog.default_database.b])", &["rows 300,000"]);
    let sort = text.lines().skip_while(|line| !line.contains("SortExec")).nth(1).unwrap().to_owned();
    assert!(sort.contains("rows 300,000") && sort.contains("spilled ") && sort.contains(" MiB in "), "{text}");
    let told = outcome(&text);
    assert!(told[0].starts_with("300000 rows written to default_catalog.default_database.b"), "{text}");
    assert!(told[1].starts_with("300,000 rows read, "), "{text}");
    let counts = session.progress().counts();
    assert!(counts.memory_peak > 1 << 20 && counts.memory_peak <= 16 << 20, "{counts:?}");
    assert_eq!(counts.memory, 0, "a plan that ran is not kept");
    let text = analyzed(&mut session, "SELECT COUNT(*) FROM numbers", &[]).await;
    assert!(text.contains("| rows 300,000, time ") && outcome(&text)[0] == "1 row", "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_statement_fails_as_it_does_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[BATCH]).await;
    run(&mut session, "CREATE TABLE t (a INT NOT NULL, b STRING); INSERT INTO t VALUES (1, 'x')").await;
    let before = files(folder.path());
    for (statement, code) in [
        ("SELECT nope FROM t", "unknown-column"),
        ("SELECT CAST(b AS INT) FROM t", "cast-failed"),
        ("INSERT INTO t SELECT CAST(NULLIF(a, 1) AS INT), b FROM t", "null-in-not-null"),
        ("INSERT INTO t SELECT CAST(b AS INT), b FROM t", "cast-failed"),
        ("INSERT INTO missing SELECT 1", "unknown-table"),
        ("CREATE TABLE t AS SELECT 1 AS a", "table-exists"),
        ("UPSERT INTO t VALUES (1, 'x')", "not-supported"),
        ("EXPLAIN SELECT 1", "syntax-error"),
        ("SHOW TABLES", "syntax-error"),
    ] {
        let alone = try_run(&mut session, statement).await;
        let alone = match alone {
            Err(error) => Some(error.code),
            Ok(Some(StatementResult { body: ResultBody::Rows(mut rows), .. })) if statement.starts_with("SELECT") => {
                rows.next_text().await.unwrap().err().map(|error| error.code)
            }
            Ok(_) => None,
        };
        let error = try_run(&mut session, &format!("EXPLAIN ANALYZE {statement}")).await.unwrap_err();
        assert_eq!(error.code, code, "{statement}: {error:?}");
        assert!(code == "syntax-error" || alone == Some(code), "{statement}: {alone:?}");
    }
    assert_eq!(files(folder.path()), before);
    // an open set takes INSERTs only, and is not harmed
    run(&mut session, "BEGIN STATEMENT SET; INSERT INTO t VALUES (2, 'y')").await;
    let error = try_run(&mut session, "EXPLAIN ANALYZE INSERT INTO t VALUES (3, 'z')").await.unwrap_err();
    assert_eq!(error.code, "statement-set");
    run(&mut session, "END").await;
    assert_eq!(
        rows(&mut session, "SELECT a FROM t ORDER BY a").await,
        [[Some("1".to_owned())], [Some("2".to_owned())]]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_statement_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(
        &mut session,
        "CREATE TABLE t (a BIGINT);
         CREATE TEMPORARY TABLE endless (a BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '2000000000')",
    )
    .await;
    let before = files(folder.path());
    for statement in ["SELECT MAX(a) FROM endless", "INSERT INTO t SELECT a FROM endless"] {
        let text = format!("EXPLAIN ANALYZE {statement}");
        let cancelled = tokio::time::timeout(Duration::from_millis(600), try_run(&mut session, &text)).await;
        assert!(cancelled.is_err(), "{statement}");
        assert!(session.settle().await.is_none(), "{statement}");
        assert_eq!(files(folder.path()), before, "{statement}");
    }
    let text = analyzed(&mut session, "INSERT INTO t VALUES (1)", &[]).await;
    assert!(!text.contains("endless") && outcome(&text)[0].starts_with("1 row written to ice.db.t: "), "{text}");
}
