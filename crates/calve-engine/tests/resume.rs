//! A script that runs again under the job id of its first run commits nothing that the first run committed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use calve_engine::{ResultBody, Session, StatementResult, WriteSummary};
use calve_iceberg::Table;
use calve_iceberg::catalog::{Catalog, open};
use common::{files, rows, run, session, try_run};
use iceberg::TableUpdate;

const JOB: &str = "0123456789abcdef0123456789abcdef";

/// A session of a run under the job id.
async fn resumed(folder: &Path) -> Session {
    session(folder, &[("calve.job-id", JOB), ("execution.runtime-mode", "batch")]).await
}

fn written(result: StatementResult) -> Vec<WriteSummary> {
    let ResultBody::Written(written) = result.body else { panic!("not a write: {result:?}") };
    written
}

/// Whether each write was committed by an earlier run.
fn before(result: StatementResult) -> Vec<bool> {
    written(result).iter().map(|write| write.committed_before.is_some()).collect()
}

/// The first column of a query's rows, in order of text.
async fn column(session: &mut Session, query: &str) -> Vec<String> {
    let rows = rows(session, query).await.into_iter();
    let mut values: Vec<_> = rows.map(|row| row.into_iter().next().flatten().unwrap_or_default()).collect();
    values.sort();
    values
}

fn catalog(folder: &Path) -> std::sync::Arc<dyn Catalog> {
    let warehouse = folder.to_str().unwrap().to_owned();
    let options = [("catalog-type".to_owned(), "hadoop".to_owned()), ("warehouse".to_owned(), warehouse)];
    open("ice", &BTreeMap::from(options)).unwrap()
}

/// Changes the metadata of a table, as another engine would.
async fn change(folder: &Path, table: &str, update: impl FnOnce(&Table) -> TableUpdate) {
    let catalog = catalog(folder);
    let table = catalog.refresh(&catalog.ident("db", table).unwrap()).await.unwrap();
    catalog.commit(&table, vec![], vec![update(&table)]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_write_is_done_once() {
    let folder = tempfile::tempdir().unwrap();
    let setup = "CREATE TABLE src (id INT, v INT); INSERT INTO src VALUES (1, 10), (2, 20);
         CREATE TABLE a (id INT, v INT);
         CREATE TABLE k (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true');
         CREATE TABLE m (id INT, v INT); INSERT INTO m VALUES (1, 1), (2, 2);
         CREATE TABLE o (id INT, v INT); INSERT INTO o VALUES (7, 7);
         CREATE TABLE r (x INT); INSERT INTO r VALUES (1)";
    run(&mut session(folder.path(), &[]).await, setup).await;
    let script = [
        "INSERT INTO a SELECT * FROM src",
        // the same statement again is another one
        "INSERT INTO a SELECT * FROM src",
        "INSERT INTO k SELECT * FROM src",
        "UPDATE m SET v = v + 1 WHERE id = 1",
        "DELETE FROM m WHERE id = 2",
        "MERGE INTO m USING src ON m.id = src.id WHEN MATCHED THEN UPDATE SET v = m.v + src.v",
        "INSERT OVERWRITE o SELECT * FROM src",
        "INSERT INTO a /*+ OPTIONS('branch' = 'b') */ SELECT * FROM src",
        "CREATE TABLE c AS SELECT id FROM src",
        "CREATE OR REPLACE TABLE r AS SELECT id AS y FROM src",
    ];
    let tables = ["a", "k", "m", "o", "c", "r"];
    let mut first = resumed(folder.path()).await;
    for statement in script {
        assert_eq!(before(run(&mut first, statement).await), [false], "{statement}");
    }
    let mut state = BTreeMap::new();
    for table in tables {
        let mut rows = rows(&mut first, &format!("SELECT * FROM {table}")).await;
        rows.sort();
        let snapshots = column(&mut first, &format!("SELECT snapshot_id FROM {table}$snapshots")).await;
        state.insert(table, (rows, snapshots));
    }
    assert_eq!(column(&mut first, "SELECT COUNT(*) FROM a").await, ["4"]);
    assert_eq!(column(&mut first, "SELECT v FROM m").await, ["12"]);
    let jobs = column(&mut first, "SELECT DISTINCT summary['flink.job-id'] FROM a$snapshots").await;
    assert_eq!(jobs, [JOB]);
    let on_disk = files(folder.path());

    // what they read has changed meanwhile, which must not matter
    run(&mut session(folder.path(), &[]).await, "INSERT INTO src VALUES (3, 30)").await;
    let mut second = resumed(folder.path()).await;
    let mut kept = 0;
    for statement in script {
        // comments and white space may differ
        let result = run(&mut second, &format!("-- again\n{}", statement.replace(' ', "  "))).await;
        assert_eq!(result.job_id.as_deref(), Some(JOB));
        let summary = written(result).remove(0);
        assert!(summary.committed_before.is_some(), "{statement}: {summary:?}");
        let id = summary.snapshot_id.unwrap().to_string();
        kept += usize::from(state.values().any(|(_, snapshots)| snapshots.contains(&id)));
    }
    assert_eq!(kept, script.len());
    for (table, (expected, snapshots)) in &state {
        let mut rows = rows(&mut second, &format!("SELECT * FROM {table}")).await;
        rows.sort();
        assert_eq!(&rows, expected, "{table}");
        let now = column(&mut second, &format!("SELECT snapshot_id FROM {table}$snapshots")).await;
        assert_eq!(&now, snapshots, "{table}");
    }
    let new =
        files(folder.path()).difference(&on_disk).filter(|path| !path.to_str().unwrap().contains("/src/")).count();
    assert_eq!(new, 0, "nothing was written");
    // a third time is a new statement of this session
    assert_eq!(before(run(&mut second, script[0]).await), [false]);
    assert_eq!(column(&mut second, "SELECT COUNT(*) FROM a").await, ["7"]);
}

/// A table that got no rows has no snapshot of theirs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_without_rows_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    run(&mut session(folder.path(), &[]).await, "CREATE TABLE r (x INT); INSERT INTO r VALUES (1)").await;
    for version in [1, 2, 3] {
        let script = [
            format!("CREATE TABLE c{version} WITH ('format-version' = '{version}') AS SELECT x FROM r WHERE x > 7"),
            format!("CREATE OR REPLACE TABLE r AS SELECT x AS y{version} FROM c{version}"),
        ];
        let mut first = resumed(folder.path()).await;
        for statement in &script {
            assert_eq!(before(run(&mut first, statement).await), [false], "{statement}");
        }
        let on_disk = files(folder.path());
        let mut second = resumed(folder.path()).await;
        for statement in &script {
            assert_eq!(before(run(&mut second, statement).await), [true], "{statement}");
        }
        assert_eq!(files(folder.path()), on_disk);
        let mut other = session(folder.path(), &[]).await;
        run(&mut other, &format!("INSERT INTO c{version} VALUES (3)")).await;
        assert_eq!(column(&mut other, &format!("SELECT x FROM c{version}")).await, ["3"]);
        assert_eq!(column(&mut other, &format!("SELECT y{version} FROM r")).await, Vec::<String>::new());
        run(&mut other, "CREATE OR REPLACE TABLE r AS SELECT 1 AS x").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_goes_on_where_it_failed() {
    let folder = tempfile::tempdir().unwrap();
    run(
        &mut session(folder.path(), &[]).await,
        "CREATE TABLE src (s STRING); INSERT INTO src VALUES ('1'), ('x');
         CREATE TABLE t (id INT)",
    )
    .await;
    let script =
        ["INSERT INTO t VALUES (1)", "INSERT INTO t SELECT CAST(s AS INT) FROM src", "INSERT INTO t VALUES (3)"];
    let mut first = resumed(folder.path()).await;
    for (statement, fails) in script.into_iter().zip([false, true, false]) {
        assert_eq!(try_run(&mut first, statement).await.is_err(), fails);
    }
    // what was wrong is set right; what a failed statement does not count for does not matter
    let right = "DELETE FROM src WHERE s = 'x'; INSERT INTO src VALUES ('2')";
    run(&mut session(folder.path(), &[]).await, right).await;
    let mut second = resumed(folder.path()).await;
    let mut done = vec![];
    for statement in script {
        done.extend(before(run(&mut second, statement).await));
    }
    assert_eq!(done, [true, false, true]);
    assert_eq!(column(&mut second, "SELECT id FROM t").await, ["1", "1", "2", "3"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_statement_in_the_place_of_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = resumed(folder.path()).await;
    run(&mut first, "CREATE TABLE t (id INT); INSERT INTO t VALUES (1)").await;
    let mut second = resumed(folder.path()).await;
    let on_disk = files(folder.path());
    let error = try_run(&mut second, "INSERT INTO t VALUES (2)").await.unwrap_err();
    assert_eq!((error.code, error.may_have_committed()), ("job-id-reused", false), "{error:?}");
    assert_eq!(files(folder.path()), on_disk);
    // behind it is another place
    assert_eq!(before(run(&mut second, "INSERT INTO t VALUES (3)").await), [false]);
    assert_eq!(column(&mut second, "SELECT id FROM t").await, ["1", "3"]);
    // and another id is another job
    run(&mut second, &format!("SET 'calve.job-id' = '{}'", "f".repeat(32))).await;
    assert_eq!(before(run(&mut second, "INSERT INTO t VALUES (2)").await), [false]);
    let error = try_run(&mut second, "SET 'calve.job-id' = 'today'").await.unwrap_err();
    assert_eq!(error.code, "invalid-option");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_set_that_was_ended_between_its_commits_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    run(
        &mut session(folder.path(), &[]).await,
        "CREATE TABLE src (id INT); INSERT INTO src VALUES (1), (2);
         CREATE TABLE a (id INT); INSERT INTO a VALUES (100);
         CREATE TABLE b (id INT); CREATE TABLE c (id INT); CREATE TABLE e (id INT)",
    )
    .await;
    // the commit to b will fail, and nobody can know before
    let codec = |value: &str| {
        let path = folder.path().join("db/b/metadata/v1.metadata.json");
        let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        json["properties"]["write.metadata.compression-codec"] = value.into();
        std::fs::write(&path, json.to_string()).unwrap();
    };
    codec("lzo");
    // b and c read a, as it was before the set
    let script = "EXECUTE STATEMENT SET BEGIN
         INSERT INTO a SELECT id FROM src;
         INSERT INTO b SELECT id + 1 FROM a;
         INSERT INTO c SELECT COUNT(*) FROM a;
         INSERT INTO e SELECT id FROM src WHERE id > 5;
         END";
    let script = script.replace("SELECT COUNT(*)", "SELECT CAST(COUNT(*) AS INT)");
    let mut first = resumed(folder.path()).await;
    let error = try_run(&mut first, &script).await.unwrap_err();
    assert_eq!(error.code, "partial-commit", "{error:?}");
    assert!(error.hint.unwrap().contains("again with the same 'calve.job-id'"));
    codec("none");
    let mut second = resumed(folder.path()).await;
    let result = run(&mut second, &script).await;
    let [warning] = &result.warnings[..] else { panic!("{:?}", result.warnings) };
    assert_eq!(warning.code, "resumed");
    assert!(warning.message.contains("to 'ice.db.a' (snapshot "), "{}", warning.message);
    assert!(warning.message.contains("and not to 'ice.db.b', 'ice.db.c', 'ice.db.e'"), "{}", warning.message);
    assert_eq!(before(result), [true, false, false, false]);
    assert_eq!(column(&mut second, "SELECT id FROM a").await, ["1", "100", "2"]);
    assert_eq!(column(&mut second, "SELECT id FROM b").await, ["101"]);
    assert_eq!(column(&mut second, "SELECT id FROM c").await, ["1"]);
    // once more: the one without rows has no snapshot
    let mut third = resumed(folder.path()).await;
    assert_eq!(before(run(&mut third, &script).await), [true, true, true, false]);
    assert_eq!(column(&mut third, "SELECT id FROM b").await, ["101"]);
    // the tables fit together as of the job
    run(&mut session(folder.path(), &[]).await, "INSERT INTO a VALUES (5); INSERT INTO b VALUES (5)").await;
    let hint = format!("/*+ OPTIONS('as-of-job-id' = '{JOB}') */");
    assert_eq!(column(&mut third, &format!("SELECT id FROM a {hint}")).await, ["1", "100", "2"]);
    assert_eq!(column(&mut third, &format!("SELECT id FROM b {hint}")).await, ["101"]);
    let error = try_run(&mut third, &format!("SELECT id FROM src {hint}")).await.unwrap_err();
    assert_eq!(error.code, "unknown-snapshot", "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_without_a_given_id_can_be_run_again_under_the_one_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = session(folder.path(), &[]).await;
    run(&mut first, "CREATE TABLE t (id INT)").await;
    let id = run(&mut first, "INSERT INTO t VALUES (1)").await.job_id.unwrap();
    assert_ne!(run(&mut first, "INSERT INTO t VALUES (1)").await.job_id.unwrap(), id);
    let mut second = session(folder.path(), &[("calve.job-id", &id)]).await;
    assert_eq!(before(run(&mut second, "INSERT INTO t VALUES (1)").await), [true]);
    assert_eq!(column(&mut second, "SELECT id FROM t").await, ["1", "1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn runs_of_one_job_at_the_same_time_commit_once() {
    let folder = tempfile::tempdir().unwrap();
    let with =
        "WITH ('commit.retry.num-retries' = '50', 'commit.retry.min-wait-ms' = '2', 'commit.retry.max-wait-ms' = '20')";
    run(&mut session(folder.path(), &[]).await, &format!("CREATE TABLE t (id INT, v INT) {with}")).await;
    let script = "INSERT INTO t VALUES (1, 1), (2, 2); UPDATE t SET v = v + 1; INSERT INTO t VALUES (3, 3)";
    let mut runs = vec![];
    for _ in 0..6 {
        let mut session = resumed(folder.path()).await;
        runs.push(async move { try_run(&mut session, script).await.map(drop) });
    }
    for result in futures::future::join_all(runs).await {
        result.unwrap();
    }
    let mut after = session(folder.path(), &[("execution.runtime-mode", "batch")]).await;
    let mut all = rows(&mut after, "SELECT id, v FROM t").await;
    all.sort();
    let row = |id: &str, v: &str| vec![Some(id.to_owned()), Some(v.to_owned())];
    assert_eq!(all, [row("1", "2"), row("2", "3"), row("3", "3")]);
    assert_eq!(column(&mut after, "SELECT COUNT(*) FROM t$snapshots").await, ["3"]);
    let data = files(&folder.path().join("db/t/data"));
    let live = column(&mut after, "SELECT COUNT(DISTINCT file_path) FROM t$all_data_files").await;
    assert_eq!(live, [data.len().to_string()], "the files of the others are gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_taken_back_runs_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = resumed(folder.path()).await;
    run(&mut session(folder.path(), &[]).await, "CREATE TABLE t (id INT); INSERT INTO t VALUES (0)").await;
    let id = column(&mut first, "SELECT snapshot_id FROM t$snapshots").await.remove(0);
    assert_eq!(before(run(&mut first, "INSERT INTO t VALUES (1)").await), [false]);
    run(&mut first, &format!("ALTER TABLE t SET ('current-snapshot-id' = '{id}')")).await;
    let mut second = resumed(folder.path()).await;
    assert_eq!(before(run(&mut second, "INSERT INTO t VALUES (1)").await), [false]);
    assert_eq!(column(&mut second, "SELECT id FROM t").await, ["0", "1"]);
}

/// Issue R20 of the public ones: a rerun after expiry must not duplicate rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_have_expired_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = resumed(folder.path()).await;
    run(&mut first, "CREATE TABLE t (id INT); INSERT INTO t VALUES (1)").await;
    run(&mut session(folder.path(), &[]).await, "INSERT INTO t VALUES (2)").await;
    change(folder.path(), "t", |table| {
        let head = table.metadata().current_snapshot_id().unwrap();
        let all = table.metadata().snapshots().map(|s| s.snapshot_id());
        TableUpdate::RemoveSnapshots { snapshot_ids: all.filter(|id| *id != head).collect() }
    })
    .await;
    let on_disk = files(folder.path());
    let mut second = resumed(folder.path()).await;
    let error = try_run(&mut second, "INSERT INTO t VALUES (1)").await.unwrap_err();
    assert_eq!(error.code, "job-history-expired", "{error:?}");
    assert_eq!(files(folder.path()), on_disk);
    assert_eq!(column(&mut second, "SELECT id FROM t").await, ["1", "2"]);
    // without an id nobody asks
    assert_eq!(before(run(&mut session(folder.path(), &[]).await, "INSERT INTO t VALUES (3)").await), [false]);
}
