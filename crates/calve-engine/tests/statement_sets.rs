//! Statement sets: one job, each table read once, one commit for each INSERT, all or nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use calve_engine::{ResultBody, Session, StatementResult, WriteSummary};
use common::{files, rows, run, session, try_rows, try_run};

fn written(result: StatementResult) -> Vec<WriteSummary> {
    let ResultBody::Written(written) = result.body else { panic!("not a write: {result:?}") };
    written
}

/// The first column of a query's rows, in order of text.
async fn column(session: &mut Session, query: &str) -> Vec<String> {
    let mut values: Vec<_> = rows(session, query)
        .await
        .into_iter()
        .map(|row| row.into_iter().next().flatten().unwrap_or_else(|| "NULL".to_owned()))
        .collect();
    values.sort();
    values
}

/// Runs a script and fails if it hangs.
async fn in_time(session: &mut Session, script: &str) -> StatementResult {
    let result = tokio::time::timeout(Duration::from_secs(60), run(session, script)).await;
    result.unwrap_or_else(|_| panic!("{script} hangs"))
}

/// A table `big` of 160,000 rows: `id` from 0, `k` = id modulo 100.
async fn big(session: &mut Session) {
    run(
        session,
        "CREATE TABLE d (x INT);
         INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16),
            (17), (18), (19);
         CREATE TABLE big (id INT, k INT);
         INSERT INTO big SELECT id, MOD(id, 100) FROM (
            SELECT a.x * 8000 + b.x * 400 + c.x * 20 + e.x AS id FROM d a, d b, d c, d e)",
    )
    .await;
}

/// Counts how often a file is opened from now on.
struct Opens(inotify::Inotify);

impl Opens {
    fn of(path: &Path) -> Self {
        let inotify = inotify::Inotify::init().unwrap();
        inotify.watches().add(path, inotify::WatchMask::OPEN).unwrap();
        Self(inotify)
    }

    fn count(&mut self) -> usize {
        match self.0.read_events(&mut [0; 4096]) {
            Ok(events) => events.count(),
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => 0,
            Err(e) => panic!("{e}"),
        }
    }
}

/// The mode in which Flink sorts.
const BATCH: (&str, &str) = ("execution.runtime-mode", "batch");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_file_feeds_three_tables_and_is_opened_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[BATCH]).await;
    let input = folder.path().join("events.json");
    std::fs::write(
        &input,
        r#"{"kind": "order", "id": 1, "name": "a"}
{"kind": "user", "id": 2, "name": "b"}
{"kind": "click", "id": 3, "name": "c"}
{"kind": "order", "id": 4, "name": "d"}
"#,
    )
    .unwrap();
    run(
        &mut session,
        &format!(
            "CREATE TABLE default_catalog.default_database.events (kind STRING, id INT, name STRING)
                WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json');
             CREATE TABLE orders (id INT); CREATE TABLE users (id INT, name STRING); CREATE TABLE clicks (n BIGINT)",
            input.display()
        ),
    )
    .await;
    let mut opens = Opens::of(&input);
    let result = in_time(
        &mut session,
        "EXECUTE STATEMENT SET BEGIN
         INSERT INTO orders SELECT id FROM default_catalog.default_database.events WHERE kind = 'order';
         INSERT INTO users SELECT id, name FROM default_catalog.default_database.events WHERE kind = 'user';
         INSERT INTO clicks SELECT COUNT(*) FROM default_catalog.default_database.events WHERE kind = 'click';
         END",
    )
    .await;
    assert_eq!(opens.count(), 1);
    assert_eq!(session.progress().counts().rows_read, 4);
    let job = result.job_id.clone().unwrap();
    let written = written(result);
    let tables: Vec<_> = written.iter().map(|w| (w.table.as_str(), w.rows)).collect();
    assert_eq!(tables, [("ice.db.orders", 2), ("ice.db.users", 1), ("ice.db.clicks", 1)]);
    assert_eq!(column(&mut session, "SELECT id FROM orders").await, ["1", "4"]);
    assert_eq!(column(&mut session, "SELECT name FROM users").await, ["b"]);
    assert_eq!(column(&mut session, "SELECT n FROM clicks").await, ["1"]);
    for table in ["orders", "users", "clicks"] {
        let query = format!("SELECT summary['flink.job-id'] FROM {table}$snapshots");
        assert_eq!(column(&mut session, &query).await, [job.as_str()]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_inserts_into_one_table_are_two_snapshots_of_one_job() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(&mut session, "CREATE TABLE t (id INT)").await;
    let result = in_time(
        &mut session,
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (1); INSERT INTO t VALUES (2), (3); END",
    )
    .await;
    let job = result.job_id.clone().unwrap();
    let written = written(result);
    assert_ne!(written[0].snapshot_id.unwrap(), written[1].snapshot_id.unwrap());
    assert_eq!(column(&mut session, "SELECT id FROM t").await, ["1", "2", "3"]);
    let jobs = column(&mut session, "SELECT summary['flink.job-id'] FROM t$snapshots").await;
    assert_eq!(jobs, [job.as_str(), job.as_str()]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_later_of_two_upserts_of_a_key_wins() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(
        &mut session,
        "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('format-version' = '2', 'write.upsert.enabled' = 'true');
         EXECUTE STATEMENT SET BEGIN
         INSERT INTO t VALUES (1, 'a'), (2, 'b');
         INSERT INTO t VALUES (2, 'c'), (3, 'd');
         END",
    )
    .await;
    assert_eq!(column(&mut session, "SELECT CAST(id AS STRING) || v FROM t").await, ["1a", "2c", "3d"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_inserts_see_the_tables_as_they_were_at_the_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(
        &mut session,
        "CREATE TABLE a (id INT); CREATE TABLE b (id INT);
         INSERT INTO a VALUES (1);
         EXECUTE STATEMENT SET BEGIN
         INSERT INTO a SELECT id + 1 FROM a;
         INSERT INTO b SELECT id FROM a;
         END",
    )
    .await;
    assert_eq!(column(&mut session, "SELECT id FROM a").await, ["1", "2"]);
    assert_eq!(column(&mut session, "SELECT id FROM b").await, ["1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_insert_commits_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    big(&mut session).await;
    run(&mut session, "CREATE TABLE a (id INT); CREATE TABLE b (id INT); CREATE TABLE c (id INT)").await;
    let before = files(folder.path());
    let error = try_run(
        &mut session,
        "EXECUTE STATEMENT SET BEGIN
         INSERT INTO a SELECT id FROM big;
         INSERT INTO b SELECT k FROM big WHERE k < 50;
         INSERT INTO c SELECT CAST(CASE WHEN id = 150000 THEN 'x' ELSE '1' END AS INT) FROM big;
         END",
    )
    .await
    .unwrap_err();
    assert_eq!(error.code, "cast-failed", "{error:?}");
    let detail = error.detail.unwrap();
    assert!(
        detail.ends_with("The INSERT into 'ice.db.c' failed; no table of the statement set was changed."),
        "{detail}"
    );
    assert_eq!(files(folder.path()), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_fails_after_another_says_which_tables_have_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[BATCH]).await;
    run(&mut session, "CREATE TABLE a (id INT); CREATE TABLE c (id INT); CREATE TABLE b (id INT)").await;
    // what only the commit finds out
    let metadata = folder.path().join("db/b/metadata/v1.metadata.json");
    let json = std::fs::read_to_string(&metadata).unwrap();
    let wrong = json.replace("\"properties\":{", "\"properties\":{\"write.metadata.compression-codec\":\"lzo\",");
    assert_ne!(wrong, json);
    std::fs::write(&metadata, wrong).unwrap();
    let before = files(&folder.path().join("db/c"));
    let script = "EXECUTE STATEMENT SET BEGIN
         INSERT INTO a VALUES (1); INSERT INTO b VALUES (2); INSERT INTO c VALUES (3);
         END";
    let error = try_run(&mut session, script).await.unwrap_err();
    assert_eq!(error.code, "partial-commit", "{error:?}");
    assert!(!error.is_retryable() && error.may_have_committed());
    let detail = error.detail.unwrap();
    assert!(detail.starts_with("Committed: 'ice.db.a' (snapshot "), "{detail}");
    assert!(detail.contains("Not committed: 'ice.db.b', 'ice.db.c'."), "{detail}");
    assert_eq!(column(&mut session, "SELECT id FROM a").await, ["1"]);
    assert_eq!(column(&mut session, "SELECT COUNT(*) FROM b$snapshots").await, ["0"]);
    assert_eq!(files(&folder.path().join("db/c")), before);

    // nothing is in if the first one fails
    let script = "EXECUTE STATEMENT SET BEGIN INSERT INTO b VALUES (2); INSERT INTO c VALUES (3); END";
    let error = try_run(&mut session, script).await.unwrap_err();
    assert_eq!((error.code, error.may_have_committed()), ("invalid-option", false));
    assert!(error.detail.unwrap().starts_with("Not committed: 'ice.db.b', 'ice.db.c'."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_of_the_shared_scan_fails_the_set() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    big(&mut session).await;
    run(&mut session, "CREATE TABLE a (id INT); CREATE TABLE b (id INT)").await;
    // a data file is gone
    let data = files(&folder.path().join("db/big/data"));
    for file in &data {
        std::fs::rename(file, file.with_extension("gone")).unwrap();
    }
    let before = files(folder.path());
    let script = "EXECUTE STATEMENT SET BEGIN
         INSERT INTO a SELECT id FROM big;
         INSERT INTO b SELECT k FROM big;
         END";
    let failed = tokio::time::timeout(Duration::from_secs(60), try_run(&mut session, script)).await.unwrap();
    failed.unwrap_err();
    assert_eq!(files(folder.path()), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_set_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[BATCH]).await;
    big(&mut session).await;
    run(&mut session, "CREATE TABLE a (id INT); CREATE TABLE b (id INT)").await;
    let before = files(folder.path());
    // 160,000 x 160,000 pairs
    let script = "EXECUTE STATEMENT SET BEGIN
         INSERT INTO a SELECT big.id FROM big, big AS o;
         INSERT INTO b SELECT k FROM big;
         END";
    let cancelled = tokio::time::timeout(Duration::from_millis(1500), try_run(&mut session, script)).await;
    assert!(cancelled.is_err(), "the set came to an end");
    let settled = tokio::time::timeout(Duration::from_secs(20), session.settle()).await.unwrap();
    assert!(settled.is_none());
    assert_eq!(files(folder.path()), before);
    // and the session goes on
    in_time(&mut session, "EXECUTE STATEMENT SET BEGIN INSERT INTO b SELECT k FROM big; END").await;
    assert_eq!(column(&mut session, "SELECT COUNT(*) FROM b").await, ["160000"]);
}

/// Plans that would wait for each other if they shared everything they scan.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shared_tables_in_every_position_come_to_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[("parallelism.default", "2"), BATCH]).await;
    big(&mut session).await;
    run(
        &mut session,
        "CREATE TABLE other (id INT, k INT); INSERT INTO other SELECT id, k FROM big;
         CREATE TABLE a (n BIGINT); CREATE TABLE b (n BIGINT); CREATE TABLE c (n BIGINT); CREATE TABLE d2 (n BIGINT);
         CREATE TABLE e (id INT, k INT, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('format-version' = '2', 'write.upsert.enabled' = 'true')",
    )
    .await;
    let result = in_time(
        &mut session,
        "EXECUTE STATEMENT SET BEGIN
         INSERT INTO a SELECT COUNT(*) FROM big JOIN other ON big.id = other.id;
         INSERT INTO b SELECT COUNT(*) FROM other JOIN big ON big.id = other.id WHERE big.k < 50;
         INSERT INTO c SELECT COUNT(*) FROM big JOIN big AS again ON big.id = again.id;
         INSERT INTO d2 SELECT SUM(k) FROM (SELECT k FROM big WHERE k >= 0 LIMIT 10);
         INSERT INTO d2 SELECT COUNT(DISTINCT k) FROM (SELECT k FROM big UNION ALL SELECT k FROM other);
         INSERT INTO e SELECT k, id FROM big ORDER BY id;
         END",
    )
    .await;
    assert_eq!(written(result).len(), 6);
    assert_eq!(column(&mut session, "SELECT n FROM a").await, ["160000"]);
    assert_eq!(column(&mut session, "SELECT n FROM b").await, ["80000"]);
    assert_eq!(column(&mut session, "SELECT n FROM c").await, ["160000"]);
    assert_eq!(column(&mut session, "SELECT COUNT(*) FROM d2 WHERE n = 100").await, ["1"]);
    assert_eq!(column(&mut session, "SELECT COUNT(*) FROM e WHERE k = id + 159900").await, ["100"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_with_a_key_gets_shared_rows_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[("parallelism.default", "4"), BATCH]).await;
    big(&mut session).await;
    run(
        &mut session,
        "CREATE TABLE sorted (id INT, k INT); INSERT INTO sorted SELECT id, k FROM big ORDER BY id;
         CREATE TABLE e (k INT, id INT, PRIMARY KEY (k) NOT ENFORCED)
            WITH ('format-version' = '2', 'write.upsert.enabled' = 'true');
         CREATE TABLE f (id INT)",
    )
    .await;
    in_time(
        &mut session,
        "EXECUTE STATEMENT SET BEGIN
         INSERT INTO f SELECT id FROM sorted;
         INSERT INTO e SELECT k, id FROM sorted;
         END",
    )
    .await;
    // the last row of every key
    assert_eq!(column(&mut session, "SELECT COUNT(*) FROM e WHERE id = k + 159900").await, ["100"]);
    assert_eq!(column(&mut session, "SELECT COUNT(DISTINCT id) FROM f").await, ["160000"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn begin_and_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(&mut session, "CREATE TABLE t (id INT)").await;
    let error = try_run(&mut session, "END").await.unwrap_err();
    assert_eq!(error.code, "statement-set");

    run(&mut session, "BEGIN STATEMENT SET").await;
    assert!(session.has_open_statement_set());
    // checked when it is entered, and not added
    assert_eq!(try_run(&mut session, "INSERT INTO t VALUES ('x')").await.unwrap_err().code, "sink-mismatch");
    for refused in ["SELECT 1", "SET 'a' = 'b'", "CREATE TABLE u (id INT)", "BEGIN STATEMENT SET", "SHOW TABLES"] {
        assert_eq!(try_run(&mut session, refused).await.unwrap_err().code, "statement-set", "{refused}");
    }
    let added = run(&mut session, "INSERT INTO t VALUES (1)").await;
    assert!(matches!(added.body, ResultBody::Done) && added.job_id.is_none());
    run(&mut session, "INSERT INTO t VALUES (2)").await;
    let result = run(&mut session, "END").await;
    assert!(result.job_id.is_some());
    assert_eq!(written(result).len(), 2);
    assert!(!session.has_open_statement_set());
    assert_eq!(column(&mut session, "SELECT id FROM t").await, ["1", "2"]);

    // an empty set does nothing
    let result = run(&mut session, "BEGIN STATEMENT SET; END").await;
    assert!(matches!(result.body, ResultBody::Done));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_set_that_fails_at_its_end_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(&mut session, "CREATE TABLE t (id INT); BEGIN STATEMENT SET; INSERT INTO t VALUES (1)").await;
    run(&mut session, "INSERT INTO t SELECT CAST(x AS INT) FROM (VALUES ('x')) AS v(x)").await;
    let error = try_run(&mut session, "END").await.unwrap_err();
    assert_eq!((error.code, error.span), ("cast-failed", None));
    assert!(!session.has_open_statement_set());
    assert_eq!(try_rows(&mut session, "SELECT id FROM t").await.unwrap(), Vec::<Vec<Option<String>>>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_counts_a_shared_table_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    big(&mut session).await;
    run(&mut session, "CREATE TABLE a (id INT); CREATE TABLE b (id INT)").await;
    let script = "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT id FROM big; INSERT INTO b SELECT k FROM big; END";
    let written = written(in_time(&mut session, script).await);
    let counts = session.progress().counts();
    assert_eq!((counts.rows_read, counts.rows_written), (160_000, 320_000));
    let new_files: usize = written.iter().map(|w| w.data_files).sum();
    assert_eq!((counts.files_written, counts.commits, counts.sinks), (new_files as u64, 2, 2));
    assert!(counts.bytes_written > 0 && counts.elapsed > Duration::ZERO);
    let names: BTreeSet<_> = written.iter().map(|w| w.table.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["ice.db.a", "ice.db.b"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_commits_is_told_before_a_row_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &[]).await;
    run(&mut session, "CREATE TABLE a (id INT); CREATE TABLE b (id INT) WITH ('commit.retry.num-retries' = 'often')")
        .await;
    let before = files(folder.path());
    for script in [
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a VALUES (1); INSERT INTO b VALUES (2); END",
        "INSERT INTO b VALUES (2)",
        "DELETE FROM b",
    ] {
        let error = try_run(&mut session, script).await.unwrap_err();
        assert_eq!((error.code, error.may_have_committed()), ("invalid-option", false), "{error:?}");
    }
    assert_eq!(files(folder.path()), before);
}
