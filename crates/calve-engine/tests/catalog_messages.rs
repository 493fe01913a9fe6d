//! What a person is told who writes CREATE CATALOG for the first time, or whose catalog is not where it was.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "../../calve-iceberg/tests/rest_server/mod.rs"]
mod rest_server;

use calve_engine::{Session, SessionConfig, StatementResult};
use calve_types::Error;
use common::{rows, run, try_run};
use rest_server::{RestServer, Settings};

fn empty() -> Session {
    Session::new(SessionConfig::default()).unwrap()
}

async fn refused(session: &mut Session, sql: &str) -> Error {
    try_run(session, sql).await.map(|_| panic!("{sql} runs")).unwrap_err()
}

/// The error of CREATE CATALOG with these options.
async fn not_made(options: &str) -> Error {
    refused(&mut empty(), &format!("CREATE CATALOG c WITH ({options})")).await
}

fn told(result: &StatementResult) -> Vec<(&str, &str)> {
    result.warnings.iter().map(|warning| (warning.code, warning.message.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_warehouse_is_named_whatever_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let warehouse = folder.path().join("gone");
    let mut s = empty();
    let with = format!("'type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{}'", warehouse.display());
    run(&mut s, &format!("CREATE CATALOG c WITH ({with})")).await;
    let why = format!("there is nothing at '{}', the warehouse of catalog 'c'", warehouse.display());
    for (statement, code) in [
        ("SELECT * FROM c.db.t", "unknown-table"),
        ("DESCRIBE c.db.t", "unknown-table"),
        ("DROP TABLE c.db.t", "unknown-table"),
        ("ALTER TABLE c.db.t SET ('a' = 'b')", "unknown-table"),
        ("USE c.db", "unknown-database"),
        ("SHOW TABLES FROM c.db", "unknown-database"),
        ("DROP DATABASE c.db", "unknown-database"),
        ("ALTER DATABASE c.db SET ('a' = 'b')", "unknown-database"),
    ] {
        let error = refused(&mut s, statement).await;
        assert_eq!((error.code, error.hint.as_deref()), (code, Some(why.as_str())), "{statement}");
    }
    run(&mut s, "DROP TABLE IF EXISTS c.db.t; DROP DATABASE IF EXISTS c.db").await;
    // where it is there, it is the name
    run(&mut s, "CREATE DATABASE c.sales").await;
    assert_eq!(refused(&mut s, "USE c.sale").await.hint.as_deref(), Some("did you mean 'sales'?"));
    assert_eq!(refused(&mut s, "SHOW TABLES FROM c.other").await.hint, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn misspelt_options_are_told_with_the_error_they_make() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    let hadoop = "'type' = 'iceberg', 'catalog-type' = 'hadoop'";
    let jdbc = format!(
        "'type' = 'iceberg', 'catalog-type' = 'jdbc', 'warehouse' = '{at}', 'uri' = 'jdbc:postgresql://127.0.0.1:1/d'"
    );
    for (options, option, meant) in [
        (format!("{hadoop}, 'warehose' = '{at}'"), "warehose", "warehouse"),
        (
            format!("'type' = 'iceberg', 'Catalog-Type' = 'hadoop', 'warehouse' = '{at}'"),
            "Catalog-Type",
            "catalog-type",
        ),
        (
            format!("'type' = 'iceberg', 'catalog_type' = 'hadoop', 'warehouse' = '{at}'"),
            "catalog_type",
            "catalog-type",
        ),
        (format!("'Type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{at}'"), "Type", "type"),
        ("'type' = 'iceberg', 'catalog-type' = 'rest', 'url' = 'http://h'".to_owned(), "url", "uri"),
        (format!("{jdbc}, 'user' = 'ann'"), "user", "jdbc.user"),
        (format!("{jdbc}, 'password' = 'hush'"), "password", "jdbc.password"),
        (format!("{jdbc}, 'jdbc.username' = 'ann'"), "jdbc.username", "jdbc.user"),
    ] {
        let error = not_made(&options).await;
        let hint = error.hint.clone().unwrap();
        let known = format!("option '{option}' is not known; did you mean '{meant}'? ");
        assert!(hint.starts_with(&known), "{options}: {error:?}");
        assert!(!format!("{error:?}").contains("hush"));
    }
    let mut s = empty();
    let made = format!(
        "CREATE CATALOG c WITH ({hadoop}, 'warehouse' = '{at}', 's3.secret-key' = 'x', 's3.access-key' = 'x', 'user' = 'x',
             'table-defaults.owner' = 'x', 'table-default.format-verison' = '2', 'table-default.format-version' = '2')"
    );
    let result = run(&mut s, &made).await;
    let messages: Vec<&str> = told(&result).into_iter().map(|(_, message)| message).collect();
    assert_eq!(
        messages,
        [
            "option 's3.secret-key' is not known; did you mean 's3.secret-access-key'?",
            "option 's3.access-key' is not known; did you mean 's3.access-key-id'?",
            "option 'table-defaults.owner' is not known; did you mean 'table-default.owner'?",
            "option 'table-default.format-verison' is not known; did you mean 'table-default.format-version'?",
        ]
    );
    let error = refused(&mut s, "ALTER CATALOG c SET ('catalog-typ' = 'rest', 'base-namespace' = 'a..b')").await;
    assert!(error.message.contains("is not a database name"), "{error}");
    let result = run(&mut s, "ALTER CATALOG c SET ('warehouse-' = 'x', 's3.regoin' = 'x')").await;
    let unknown = |message: &'static str| ("unknown-option", message);
    assert_eq!(
        told(&result),
        [
            unknown("option 'warehouse-' is not known; did you mean 'warehouse'?"),
            unknown("option 's3.regoin' is not known; did you mean 's3.region'?"),
        ]
    );
}

#[tokio::test]
async fn kinds_of_iceberg_catalogs_are_no_types() {
    for (given, hint) in [
        ("hive", "for Iceberg tables: 'type' = 'iceberg' and 'catalog-type' = 'hive'; 'type' is"),
        ("JDBC", "for Iceberg tables: 'type' = 'iceberg' and 'catalog-type' = 'jdbc'; 'type' is"),
        ("hadoop", "for Iceberg tables: 'type' = 'iceberg' and 'catalog-type' = 'hadoop'; 'type' is"),
        ("rest", "for Iceberg tables: 'type' = 'iceberg' and 'catalog-type' = 'rest'; 'type' is"),
        ("iceburg", "did you mean 'iceberg'? 'type' is"),
        ("paimon", "'type' is 'iceberg' or 'generic_in_memory'"),
    ] {
        let error = not_made(&format!("'type' = '{given}'")).await;
        assert_eq!(error.code, "unknown-catalog-type");
        assert!(error.hint.as_deref().is_some_and(|told| told.starts_with(hint)), "{error:?}");
    }
}

#[tokio::test]
async fn set_shows_no_secret() {
    let mut s = empty();
    run(
        &mut s,
        "SET 'my.password' = 'hush'; SET 'my.uri' = 'jdbc:postgresql://h/d?password=hush'; SET 'my.name' = 'ann'",
    )
    .await;
    let pair = |key: &str, value: &str| vec![Some(key.to_owned()), Some(value.to_owned())];
    let expected = [
        pair("my.name", "ann"),
        pair("my.password", "******"),
        pair("my.uri", "jdbc:postgresql://h/d?password=******"),
    ];
    assert_eq!(rows(&mut s, "SET").await, expected);
    assert_eq!(s.option("my.password"), Some("hush"), "it is what it was");
}

#[tokio::test]
async fn an_unquoted_secret_is_not_quoted_by_its_error() {
    for options in ["'token' = hush", "'token' = 'a' hush", "'s3.secret-access-key' hush", "token = hush"] {
        let error = not_made(options).await;
        assert_eq!(error.code, "syntax-error");
        assert!(!format!("{error:?}").contains("hush"), "{error:?}");
    }
}

/// A session with a catalog of a server; the result of its CREATE CATALOG.
async fn made(server: &RestServer, options: &str) -> (Session, Result<StatementResult, Error>) {
    let mut s = empty();
    let create = format!(
        "CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = '{}' {options})",
        server.uri()
    );
    let result = try_run(&mut s, &create).await.map(Option::unwrap);
    (s, result)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_overrides_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let endpoint = |address: &str| [("s3.endpoint".to_owned(), address.to_owned())].into();
    let server = RestServer::start(Settings {
        warehouse: folder.path().display().to_string(),
        overrides: endpoint("http://minio:9000"),
        table_config: endpoint("http://other:9000"),
        ..Settings::full()
    });
    let (mut s, result) = made(&server, ", 's3.endpoint' = 'http://localhost:9000'").await;
    let wins = "which wins over 'http://localhost:9000' in the options of the catalog";
    let first = format!("the server of catalog 'lake' sets 's3.endpoint' = 'http://minio:9000', {wins}");
    assert_eq!(told(&result.unwrap()), [("overridden-option", first.as_str())]);
    let script = "CREATE DATABASE lake.db; CREATE TABLE lake.db.t (a INT)";
    let of_table =
        format!("the server of catalog 'lake' sets 's3.endpoint' = 'http://other:9000' for table 'db.t', {wins}");
    assert_eq!(told(&run(&mut s, script).await), [("overridden-option", of_table.as_str())]);
    assert_eq!(told(&run(&mut s, "INSERT INTO lake.db.t VALUES (1)").await), []);
    // a statement that fails says it, too
    let (mut s, _) = made(&server, ", 's3.endpoint' = 'http://localhost:9000'").await;
    let error = refused(&mut s, "SELECT b FROM lake.db.t").await;
    assert!(error.detail.as_deref().is_some_and(|detail| detail.contains(&of_table)), "{error:?}");
    // the same, and what nobody gave
    for options in [", 's3.endpoint' = 'http://minio:9000/'", ""] {
        server.change(|settings| settings.table_config.clear());
        let (mut s, result) = made(&server, options).await;
        assert_eq!(told(&result.unwrap()), []);
        assert_eq!(told(&run(&mut s, "SELECT a FROM lake.db.t").await), []);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_say_who_he_is_learns_how() {
    let folder = tempfile::tempdir().unwrap();
    let credential = Some(("ann".to_owned(), "open sesame".to_owned()));
    let warehouse = folder.path().display().to_string();
    let server = RestServer::start(Settings { warehouse, credential, ..Settings::full() });
    let error = made(&server, "").await.1.unwrap_err();
    assert_eq!(error.code, "access-denied");
    let hint = error.hint.unwrap();
    assert!(hint.starts_with("the catalog's options do not say who asks: set 'credential' = 'id:secret'"), "{hint}");
    let error = made(&server, ", 'token' = 'wrong'").await.1.unwrap_err();
    assert!(!error.hint.unwrap().contains("do not say who asks"));
    // an address with the version that is added to it
    let (uri, made) = (server.uri(), |uri: &str, more: &str| {
        format!("'type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = '{uri}', 'rest.client.max-retries' = '0' {more}")
    });
    let with_version = "leave '/v1' out of 'uri': it is added to it";
    let ours = ", 'credential' = 'ann:open sesame'";
    let error = not_made(&made(&format!("{uri}/v1"), ours)).await;
    assert!(error.code == "access-denied" && error.hint.unwrap().starts_with(with_version));
    server.change(|settings| settings.credential = None);
    for more in [ours, ""] {
        let error = not_made(&made(&format!("{uri}/v1"), more)).await;
        assert_eq!((error.code, error.hint.as_deref()), ("catalog-error", Some(with_version)), "{error:?}");
    }
    // nobody refused a token who was not reached
    drop(server);
    let error = not_made(&made(&uri, ours)).await;
    assert_eq!(error.code, "io");
    assert!(error.message.contains("cannot be reached") && !error.message.contains("no token"), "{error}");
}
