//! Scripts on a REST catalog: what a person writes, with a server that loses requests and answers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "../../calve-iceberg/tests/rest_server/mod.rs"]
mod rest_server;
#[allow(dead_code)]
#[path = "../../calve-iceberg/tests/seaweedfs/mod.rs"]
mod seaweedfs;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use calve_engine::{Session, SessionConfig};
use common::{files, rows, run, try_run};
use rest_server::{Fault, RestServer, Settings};

async fn session(server: &RestServer, options: &str) -> Session {
    let batch = [("execution.runtime-mode".to_owned(), "batch".to_owned())];
    let mut session =
        Session::new(SessionConfig { options: batch.into_iter().collect(), ..SessionConfig::default() }).unwrap();
    let uri = server.uri();
    run(
        &mut session,
        &format!(
            "CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = '{uri}' {options});
             USE CATALOG lake;"
        ),
    )
    .await;
    session
}

fn text(values: &[&[&str]]) -> Vec<Vec<Option<String>>> {
    values.iter().map(|row| row.iter().map(|value| Some((*value).to_owned())).collect()).collect()
}

/// Data files below a folder.
fn data_files(folder: &Path) -> BTreeSet<PathBuf> {
    files(folder).into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "parquet")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_from_beginning_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestServer::over(folder.path());
    let mut s = session(&server, "").await;
    run(
        &mut s,
        "CREATE DATABASE db COMMENT 'of a test' WITH ('owner' = 'ann');
         CREATE DATABASE IF NOT EXISTS db;
         ALTER DATABASE db SET ('owner' = 'bob');
         USE db;
         CREATE TABLE t (id BIGINT, v STRING, part STRING, PRIMARY KEY (id, part) NOT ENFORCED) PARTITIONED BY (part)
             WITH ('write.upsert.enabled' = 'true');
         CREATE TABLE IF NOT EXISTS t (id BIGINT);
         INSERT INTO t VALUES (1, 'a', 'mon'), (2, 'b', 'mon'), (3, 'c', 'tue');
         INSERT INTO t VALUES (2, 'B', 'mon'), (4, 'd', 'wed');
         ALTER TABLE t ADD (n INT);
         INSERT INTO t VALUES (1, 'A', 'mon', 7);",
    )
    .await;
    let all = rows(&mut s, "SELECT id, v, COALESCE(n, 0) FROM t ORDER BY id").await;
    assert_eq!(all, text(&[&["1", "A", "7"], &["2", "B", "0"], &["3", "c", "0"], &["4", "d", "0"]]));
    run(&mut s, "ALTER TABLE t RENAME TO u; ALTER TABLE u SET ('x' = 'y'); DELETE FROM u WHERE id = 3").await;
    assert_eq!(rows(&mut s, "SHOW TABLES").await, text(&[&["u"]]));
    assert_eq!(rows(&mut s, "SELECT COUNT(*) FROM u").await, text(&[&["3"]]));
    run(&mut s, "CREATE TABLE c AS SELECT id FROM u; CREATE OR REPLACE TABLE c AS SELECT v FROM u WHERE id < 3").await;
    assert_eq!(rows(&mut s, "SELECT v FROM c ORDER BY v").await, text(&[&["A"], &["B"]]));
    assert_eq!(rows(&mut s, "SELECT COUNT(*) FROM c$snapshots").await, text(&[&["2"]]));
    run(&mut s, "INSERT OVERWRITE c SELECT 'z'").await;
    assert_eq!(rows(&mut s, "SELECT v FROM c").await, text(&[&["z"]]));
    let error = try_run(&mut s, "DROP DATABASE db CASCADE").await.unwrap_err();
    assert_eq!(error.detail.as_deref(), Some("Database db in catalog lake is not empty."));
    run(&mut s, "DROP TABLE c; DROP TABLE u; DROP TABLE IF EXISTS u; DROP DATABASE db; DROP DATABASE IF EXISTS db")
        .await;
    assert_eq!(files(folder.path()), BTreeSet::new(), "the server purges what is dropped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_catalog_that_cannot_be_reached_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestServer::over(folder.path());
    let mut s = session(&server, "").await;
    let create = |uri: &str, options: &str| {
        format!("CREATE CATALOG other WITH ('type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = '{uri}' {options})")
    };
    let uri = server.uri();
    drop(server);
    let error = try_run(&mut s, &create(&uri, ", 'rest.client.max-retries' = '0'")).await.unwrap_err();
    assert_eq!(error.code, "io");
    assert!(error.message.starts_with("cannot connect to catalog 'other': "), "{error}");
    assert_eq!(error.span.unwrap().start.column, 16);
    assert!(!rows(&mut s, "SHOW CATALOGS").await.contains(&vec![Some("other".to_owned())]));
    let secret = try_run(&mut s, &create("http://me:hush@h", "")).await.unwrap_err();
    assert!(!format!("{secret:?}").contains("hush"));
}

/// Rows are there once whatever gets lost, and what did not happen leaves no file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_with_lost_requests_and_answers() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestServer::over(folder.path());
    let mut s = session(&server, "").await;
    let quick = "'commit.retry.min-wait-ms' = '1'";
    run(
        &mut s,
        &format!(
            "CREATE DATABASE db; USE db;
             CREATE TABLE t (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED)
                 WITH ('write.upsert.enabled' = 'true', {quick});
             INSERT INTO t VALUES (0, 'old');"
        ),
    )
    .await;
    let faults = [
        Fault::DoneBut(500),
        Fault::DoneBut(504),
        Fault::Refuse(500, "ServerError"),
        Fault::Refuse(503, "ServiceUnavailableException"),
        Fault::Refuse(409, "CommitFailedException"),
        Fault::LoseRequest,
        Fault::LoseReply,
        Fault::CutReply,
        Fault::Twice,
    ];
    for (n, fault) in (1..).zip(&faults) {
        server.trap("POST", "/tables/t", fault.clone());
        run(&mut s, &format!("INSERT INTO t VALUES (0, 'new{n}'), ({n}, 'x')")).await;
        assert_eq!(server.disarm(), 0);
        let found = rows(&mut s, "SELECT COUNT(*), MAX(id) FROM t").await;
        assert_eq!(found, text(&[&[&(n + 1).to_string(), &n.to_string()]]), "{fault:?}");
        assert_eq!(rows(&mut s, "SELECT v FROM t WHERE id = 0").await, text(&[&[&format!("new{n}")]]), "{fault:?}");
        server.trap("POST", "/tables/t", fault.clone());
        run(&mut s, &format!("ALTER TABLE t SET ('k{n}' = 'v')")).await;
        assert_eq!(server.disarm(), 0);
    }
    let before = (rows(&mut s, "SELECT * FROM t ORDER BY id").await, data_files(folder.path()));
    for statement in ["INSERT INTO t VALUES (77, 'no')", "DELETE FROM t WHERE id > 2", "ALTER TABLE t ADD (m INT)"] {
        server.trap_times("POST", "/tables/t", 99, Fault::Refuse(403, "ForbiddenException"));
        let error = try_run(&mut s, statement).await.unwrap_err();
        assert_eq!(error.code, "access-denied", "{statement}");
        assert_eq!(error.detail.as_deref(), Some("The server says: ForbiddenException: on purpose"));
        server.disarm();
        let after = (rows(&mut s, "SELECT * FROM t ORDER BY id").await, data_files(folder.path()));
        assert_eq!(after, before, "{statement}");
    }
    // made, and never confirmed: the rows are there, and no file was deleted
    server.trap("POST", "/tables/t", Fault::LoseReply);
    run(&mut s, "INSERT INTO t VALUES (88, 'yes')").await;
    assert_eq!(rows(&mut s, "SELECT v FROM t WHERE id = 88").await, text(&[&["yes"]]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_set_is_one_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestServer::over(folder.path());
    let mut s = session(&server, "").await;
    run(&mut s, "CREATE DATABASE db; USE db; CREATE TABLE a (id INT); CREATE TABLE b (id INT)").await;
    let set = "EXECUTE STATEMENT SET BEGIN INSERT INTO a VALUES (1); INSERT INTO b VALUES (2); END";
    server.log();
    run(&mut s, set).await;
    let commits: Vec<_> = server.targets().into_iter().filter(|target| target.starts_with("POST")).collect();
    assert_eq!(commits, ["POST /v1/transactions/commit"]);
    server.trap("POST", "/transactions/commit", Fault::LoseReply);
    run(&mut s, set).await;
    assert_eq!(rows(&mut s, "SELECT id FROM a").await, text(&[&["1"], &["1"]]));
    assert_eq!(rows(&mut s, "SELECT id FROM b").await, text(&[&["2"], &["2"]]));
    let before = data_files(folder.path());
    server.trap_times("POST", "/transactions/commit", 9, Fault::Refuse(403, "ForbiddenException"));
    assert_eq!(try_run(&mut s, set).await.unwrap_err().code, "access-denied");
    server.disarm();
    assert_eq!(data_files(folder.path()), before);
    assert_eq!(rows(&mut s, "SELECT COUNT(*) FROM a").await, text(&[&["2"]]));
}

/// A token that expires in the middle, and requests of which one in five goes wrong.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_with_tokens_and_chaos() {
    let folder = tempfile::tempdir().unwrap();
    let server = RestServer::start(Settings {
        warehouse: folder.path().display().to_string(),
        prefix: Some("lake/main".into()),
        page: 2,
        credential: Some(("ann".into(), "sesame".into())),
        ..Settings::full()
    });
    let mut s = session(&server, ", 'credential' = 'ann:sesame', 'scope' = 'PRINCIPAL_ROLE:ALL'").await;
    let shown = rows(&mut s, "SHOW CREATE CATALOG lake").await;
    assert!(!format!("{shown:?}").contains("sesame"));
    run(
        &mut s,
        "CREATE DATABASE db; USE db; CREATE TABLE t (id INT, v STRING) WITH ('commit.retry.num-retries' = '20')",
    )
    .await;
    server.change(|settings| settings.chaos = 20);
    let mut certain = vec![];
    let mut doubtful = vec![];
    for n in 0..20 {
        if n % 5 == 0 {
            server.revoke();
        }
        match try_run(&mut s, &format!("INSERT INTO t VALUES ({n}, 'x')")).await {
            Ok(_) => certain.push(n.to_string()),
            Err(error) if error.may_have_committed() => doubtful.push(n.to_string()),
            Err(_) => {}
        }
    }
    server.change(|settings| settings.chaos = 0);
    let found = rows(&mut s, "SELECT id FROM t").await;
    let found: Vec<String> = found.into_iter().flatten().flatten().collect();
    let unique: BTreeSet<&String> = found.iter().collect();
    assert_eq!(unique.len(), found.len(), "no row is doubled: {found:?}");
    let sure: BTreeSet<String> = found.iter().filter(|id| !doubtful.contains(id)).cloned().collect();
    assert_eq!(sure, certain.iter().cloned().collect(), "{doubtful:?}");
    assert!(certain.len() > 10, "{certain:?}");
}

/// The same on a server of somebody else's, with files in S3. It refuses Puffin files in its tables' folders, so that there
/// are no deletion vectors.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_on_seaweedfs() {
    let Some(server) = seaweedfs::Server::start("a_script_on_seaweedfs").await else { return };
    let (uri, warehouse, endpoint) = (server.catalog(), seaweedfs::WAREHOUSE, server.endpoint());
    let (key, secret) = (seaweedfs::KEY, seaweedfs::SECRET);
    let create = |name: &str, credential: &str| {
        format!(
            "CREATE CATALOG {name} WITH ('type' = 'iceberg', 'catalog-impl' = 'org.apache.iceberg.rest.RESTCatalog',
             'uri' = '{uri}', 'warehouse' = '{warehouse}', 'credential' = '{credential}',
             'io-impl' = 'org.apache.iceberg.aws.s3.S3FileIO', 's3.endpoint' = '{endpoint}',
             's3.path-style-access' = 'true', 's3.access-key-id' = '{key}', 's3.secret-access-key' = '{secret}')"
        )
    };
    let batch = [("execution.runtime-mode".to_owned(), "batch".to_owned())];
    let config = || SessionConfig { options: batch.clone().into_iter().collect(), ..SessionConfig::default() };
    let mut s = Session::new(config()).unwrap();
    // its catalog and the bucket of its tables come a moment later than its S3
    let late = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let begin = format!("{}; USE CATALOG lake; CREATE DATABASE db", create("lake", &format!("{key}:{secret}")));
    while let Err(error) = try_run(&mut s, &begin).await {
        assert!(std::time::Instant::now() < late, "{error:?}");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        s = Session::new(config()).unwrap();
    }
    let refused = try_run(&mut s, &create("other", &format!("{key}:not-the-secret"))).await.unwrap_err();
    assert_eq!(refused.code, "access-denied", "{refused:?}");
    assert!(!format!("{refused:?}").contains("not-the-secret"));
    run(
        &mut s,
        "USE db;
         CREATE TABLE t (id BIGINT, v STRING, part STRING, PRIMARY KEY (id, part) NOT ENFORCED) PARTITIONED BY (part)
             WITH ('write.upsert.enabled' = 'true');
         INSERT INTO t VALUES (1, 'a', 'mon'), (2, 'b', 'mon'), (3, 'c', 'tue');
         INSERT INTO t VALUES (2, 'B', 'mon'), (4, 'd', 'wed');
         ALTER TABLE t ADD (n INT);
         INSERT INTO t VALUES (1, 'A', 'mon', 7);
         DELETE FROM t WHERE id = 3;",
    )
    .await;
    let all = rows(&mut s, "SELECT id, v, COALESCE(n, 0) FROM t ORDER BY id").await;
    assert_eq!(all, text(&[&["1", "A", "7"], &["2", "B", "0"], &["4", "d", "0"]]));
    let exists = try_run(&mut s, "CREATE TABLE t (id INT)").await.unwrap_err();
    assert_eq!(exists.code, "table-exists");
    run(&mut s, "ALTER TABLE t RENAME TO u; CREATE TABLE c AS SELECT v FROM u").await;
    run(&mut s, "CREATE OR REPLACE TABLE c AS SELECT id FROM u WHERE id < 3; INSERT OVERWRITE c SELECT 9").await;
    assert_eq!(rows(&mut s, "SELECT id FROM c").await, text(&[&["9"]]));
    assert_eq!(rows(&mut s, "SHOW TABLES").await, text(&[&["c"], &["u"]]));
    // two writers of the same table, from two sessions
    let mut other = Session::new(config()).unwrap();
    run(&mut other, &format!("{}; USE CATALOG lake; USE db", create("lake", &format!("{key}:{secret}")))).await;
    for n in 0..4 {
        let (left, right) = (format!("INSERT INTO c VALUES ({n})"), format!("INSERT INTO c VALUES (1{n})"));
        let (left, right) = tokio::join!(try_run(&mut s, &left), try_run(&mut other, &right));
        left.unwrap();
        right.unwrap();
    }
    assert_eq!(rows(&mut s, "SELECT COUNT(*), COUNT(DISTINCT id) FROM c").await, text(&[&["9", "9"]]));
    run(&mut s, "DROP TABLE c; DROP TABLE u; DROP DATABASE db").await;
    assert_eq!(rows(&mut s, "SHOW DATABASES").await, Vec::<Vec<Option<String>>>::new());
}
