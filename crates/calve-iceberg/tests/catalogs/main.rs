//! One list of operations, run on every kind of catalog. Prints a table of which does what.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod glue;
#[path = "../moto/mod.rs"]
mod moto;
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
use std::time::{Duration, Instant};

use calve_iceberg::catalog::open;
use futures::FutureExt;

use self::operations::{OPERATIONS, Sessions};
use self::rest_server::RestServer;
use self::server::Postgres;

/// What some catalogs refuse, as their Java counterparts do.
const REFUSED: [(&str, &str); 15] = [
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
    ("jdbc, SQLite and S3", "several tables at once"),
    ("rest, SeaweedFS", "several tables at once"),
    ("glue", "nested databases"),
    ("glue", "several tables at once"),
];

/// What a server does otherwise than Iceberg's interface says, so that it is not asked: SeaweedFS lists what is not there as
/// empty, drops databases with others in them, creates what is there, and takes names of `a-z`, `0-9` and `_` alone.
const ODD: [(&str, &str); 8] = [
    ("rest, SeaweedFS", "list databases"),
    ("rest, SeaweedFS", "nested databases"),
    ("rest, SeaweedFS", "create a database at once"),
    ("rest, SeaweedFS", "create what is there"),
    ("rest, SeaweedFS", "create a table at once"),
    ("rest, SeaweedFS", "unknown tables and databases"),
    ("rest, SeaweedFS", "list tables"),
    ("rest, SeaweedFS", "odd names"),
];

/// How an operation ended.
enum Verdict {
    Done,
    NotAsked,
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
async fn run(name: &str, options: &BTreeMap<String, String>) -> Vec<Verdict> {
    let sessions = Sessions { one: open("suite", options).unwrap(), other: open("suite", options).unwrap() };
    sessions.one.connect().await.unwrap();
    let mut verdicts = Vec::with_capacity(OPERATIONS.len());
    for (title, operation) in OPERATIONS {
        if ODD.contains(&(name, title)) {
            verdicts.push(Verdict::NotAsked);
            continue;
        }
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

/// Waits until a server that has started has its warehouse.
async fn wait_for(options: &BTreeMap<String, String>) {
    for _ in 0..300 {
        let catalog = open("suite", options).unwrap();
        let name = ["awaited".to_owned()];
        if catalog.create_namespace(&name, BTreeMap::new()).await.is_ok() {
            return catalog.drop_namespace(&name).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the warehouse is not there");
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
    let moto = moto::Server::start("every_catalog_does_every_operation, Glue");

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
        let warehouse = |name: &str| format!("s3://{}/{name}", seaweedfs::BUCKET);
        let mut options = seaweedfs.properties();
        options.extend(owned(&[("catalog-type", "hadoop"), ("warehouse", &warehouse("hadoop"))]));
        let mut jdbc = sqlite(folder.path(), "S3");
        jdbc.extend(seaweedfs.properties());
        jdbc.insert("warehouse".to_owned(), warehouse("jdbc"));
        catalogs.push(("jdbc, SQLite and S3", jdbc));
        let mut rest = seaweedfs.properties();
        let credential = format!("{}:{}", seaweedfs::KEY, seaweedfs::SECRET);
        let (uri, warehouse) = (seaweedfs.catalog(), seaweedfs::WAREHOUSE);
        rest.extend(owned(&[
            ("catalog-type", "rest"),
            ("uri", &uri),
            ("warehouse", warehouse),
            ("credential", &credential),
        ]));
        wait_for(&rest).await;
        catalogs.push(("rest, SeaweedFS", rest));
        catalogs.insert(1, ("hadoop, S3", options));
    }
    if let Some(moto) = &moto {
        println!("Moto {}", moto::VERSION);
        let mut options = moto.glue(&format!("{}/glue", folder.path().display()));
        // the suite's names are not all Hive's
        options.insert("glue.skip-name-validation".to_owned(), "true".to_owned());
        catalogs.push(("glue", options));
    }
    let buckets = RestServer::over(&folder.path().join("s3tables"));
    let signer = ["AKID", "signing key", "eu-central-1", "s3tables"].map(str::to_owned);
    buckets.change(|settings| settings.signer = Some(signer));
    catalogs.push((
        "s3tables",
        owned(&[
            ("catalog-type", "s3tables"),
            ("uri", &buckets.uri()),
            ("warehouse", "arn:aws:s3tables:eu-central-1:123456789012:bucket/lake"),
            ("client.access-key-id", "AKID"),
            ("client.secret-access-key", "signing key"),
        ]),
    ));

    let mut results = Vec::with_capacity(catalogs.len());
    for (name, options) in &catalogs {
        let started = Instant::now();
        results.push((*name, run(name, options).await));
        println!("{name}: {:.1} s", started.elapsed().as_secs_f64());
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
                Verdict::NotAsked => ("-", None),
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
