//! One list of operations, run on every kind of catalog. Prints a table of which does what.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod operations;
mod postgres;
#[path = "../rest_server/mod.rs"]
mod rest_server;
#[path = "../seaweedfs/mod.rs"]
mod seaweedfs;
mod server;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::Duration;

use calve_iceberg::catalog::open;
use futures::FutureExt;

use self::operations::{OPERATIONS, Sessions};
use self::rest_server::RestServer;
use self::server::Postgres;

/// What some catalogs refuse, as their Java counterparts do.
const REFUSED: [(&str, &str); 11] = [
    ("hadoop", "database with properties"),
    ("hadoop", "change properties of a database"),
    ("hadoop", "rename a table"),
    ("hadoop", "several tables at once"),
    ("hadoop, S3", "database with properties"),
    ("hadoop, S3", "change properties of a database"),
    ("hadoop, S3", "rename a table"),
    ("hadoop, S3", "several tables at once"),
    ("jdbc, SQLite V0", "several tables at once"),
    ("jdbc, SQLite V1", "several tables at once"),
    ("jdbc, PostgreSQL", "several tables at once"),
];

/// How an operation ended.
enum Verdict {
    Done,
    Refused(String),
    Failed(String),
}

fn owned(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Runs all operations in a catalog.
async fn run(options: &BTreeMap<String, String>) -> Vec<Verdict> {
    let sessions = Sessions { one: open("suite", options).unwrap(), other: open("suite", options).unwrap() };
    sessions.one.connect().await.unwrap();
    let mut verdicts = Vec::with_capacity(OPERATIONS.len());
    for (_, operation) in OPERATIONS {
        let work = AssertUnwindSafe(operation(&sessions)).catch_unwind();
        verdicts.push(match tokio::time::timeout(Duration::from_secs(90), work).await {
            Err(_) => Verdict::Failed("it takes more than 90 seconds".to_owned()),
            Ok(Err(panic)) => Verdict::Failed(said(panic.as_ref())),
            Ok(Ok(Ok(()))) => Verdict::Done,
            Ok(Ok(Err(error))) if error.code == "not-supported" => Verdict::Refused(error.message),
            Ok(Ok(Err(error))) => Verdict::Failed(format!("{}: {error}", error.code)),
        });
    }
    verdicts
}

fn sqlite(folder: &Path, version: &str) -> BTreeMap<String, String> {
    let uri = format!("jdbc:sqlite:{}/{version}.db", folder.display());
    let warehouse = format!("{}/sqlite-{version}", folder.display());
    owned(&[("catalog-type", "jdbc"), ("uri", &uri), ("warehouse", &warehouse), ("jdbc.schema-version", version)])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_catalog_does_every_operation() {
    let folder = tempfile::tempdir().unwrap();
    let warehouse = format!("{}/hadoop", folder.path().display());
    let rest = RestServer::over(&folder.path().join("rest"));
    let postgres = Postgres::start("every_catalog_does_every_operation, PostgreSQL");
    let seaweedfs = seaweedfs::Server::start("every_catalog_does_every_operation, S3").await;

    let mut catalogs = vec![
        ("hadoop", owned(&[("catalog-type", "hadoop"), ("warehouse", &warehouse)])),
        ("jdbc, SQLite V0", sqlite(folder.path(), "V0")),
        ("jdbc, SQLite V1", sqlite(folder.path(), "V1")),
        ("rest", owned(&[("catalog-type", "rest"), ("uri", &rest.uri())])),
    ];
    if let Some(postgres) = &postgres {
        println!("PostgreSQL {}", postgres.version());
        catalogs.insert(3, ("jdbc, PostgreSQL", postgres.database("suite", &folder.path().join("postgres"))));
    }

    if let Some(seaweedfs) = &seaweedfs {
        let mut options = seaweedfs.properties();
        let warehouse = format!("s3://{}/suite", seaweedfs::BUCKET);
        options.extend(owned(&[("catalog-type", "hadoop"), ("warehouse", &warehouse)]));
        catalogs.insert(1, ("hadoop, S3", options));
    }

    let mut results = Vec::with_capacity(catalogs.len());
    for (name, options) in &catalogs {
        results.push((*name, run(options).await));
    }

    let mut wrong = Vec::new();
    let names: Vec<&str> = results.iter().map(|(name, _)| *name).collect();
    println!("| operation | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()));
    for (number, (operation, _)) in OPERATIONS.iter().enumerate() {
        let cells = results.iter().map(|(name, verdicts)| {
            let may_refuse = REFUSED.contains(&(name, operation));
            let (cell, fault) = match &verdicts[number] {
                Verdict::Done if may_refuse => ("ok", Some("is done, and listed as refused".to_owned())),
                Verdict::Done => ("ok", None),
                Verdict::Refused(_) if may_refuse => ("refused", None),
                Verdict::Refused(why) => ("refused", Some(why.clone())),
                Verdict::Failed(why) => ("FAILED", Some(why.clone())),
            };
            wrong.extend(fault.map(|fault| format!("{name}: {operation}: {fault}")));
            cell
        });
        println!("| {operation} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    for (name, verdicts) in &results {
        for verdict in verdicts {
            if let Verdict::Refused(why) = verdict {
                println!("{name}: {why}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
