#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod access;
mod faults;
mod odd_servers;
mod operations;
mod tls;

#[path = "../../../../tests/rest_server/mod.rs"]
mod rest_server;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use calve_types::LogicalType;
use iceberg::spec::{DataContentType, DataFileBuilder, DataFileFormat};

use super::*;
use crate::catalog::open;
use crate::commit::{Append, JobInfo, NewFile, Operation};
use crate::schema::to_iceberg;
use rest_server::{Fault, RestServer, Settings as ServerSettings};

/// A catalog of a server, that does not wait for long.
fn catalog(server: &RestServer, more: &[(&str, &str)]) -> Arc<dyn Catalog> {
    try_open(&server.uri(), more).unwrap()
}

fn try_open(uri: &str, more: &[(&str, &str)]) -> Result<Arc<dyn Catalog>> {
    let mut options = BTreeMap::from([
        ("catalog-type".to_owned(), "rest".to_owned()),
        ("uri".to_owned(), uri.to_owned()),
        ("rest.client.socket-timeout-ms".to_owned(), "2000".to_owned()),
    ]);
    options.extend(more.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
    open("c", &options)
}

fn creation(with: &[(&str, &str)]) -> TableCreation {
    let columns =
        [("id".to_owned(), LogicalType::BigInt.not_null(), None), ("p".to_owned(), LogicalType::Int.nullable(), None)];
    TableCreation {
        schema: to_iceberg(&columns, &["id".to_owned()]).unwrap(),
        partition: vec![("p".to_owned(), iceberg::spec::Transform::Bucket(4))],
        properties: with.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        comment: Some("of a test".to_owned()),
    }
}

fn levels(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

fn set(key: &str, value: &str) -> Vec<TableUpdate> {
    vec![TableUpdate::SetProperties { updates: HashMap::from([(key.to_owned(), value.to_owned())]) }]
}

/// A table without partitions in a new database.
async fn table(catalog: &dyn Catalog) -> Table {
    catalog.create_namespace(&levels(&["db"]), BTreeMap::new()).await.unwrap();
    another(catalog, "t").await
}

async fn another(catalog: &dyn Catalog, name: &str) -> Table {
    let mut new = creation(&[("commit.retry.min-wait-ms", "1"), ("commit.status-check.min-wait-ms", "1")]);
    new.partition.clear();
    catalog.create_table(&catalog.ident("db", name).unwrap(), new).await.unwrap()
}

fn append(name: &str) -> Operation {
    let mut builder = DataFileBuilder::default();
    builder
        .content(DataContentType::Data)
        .file_path(format!("/nowhere/{name}"))
        .file_format(DataFileFormat::Parquet)
        .file_size_in_bytes(10)
        .record_count(1);
    Operation::Append(Append { data: vec![NewFile { spec_id: 0, file: builder.build().unwrap() }] })
}

fn job() -> JobInfo {
    JobInfo { job_id: "a".repeat(32), operator_id: "b".repeat(32), checkpoint_id: i64::MAX, place: None }
}

/// Commits a file to main.
async fn add(catalog: &dyn Catalog, table: &Table, name: &str) -> Result<Table> {
    crate::commit::commit(catalog, table, "main", append(name), &job()).await.map(|committed| committed.table)
}

/// The names of the live data files.
async fn live(table: &Table) -> Vec<String> {
    let Some(snapshot) = table.metadata().current_snapshot() else { return vec![] };
    let mut names = vec![];
    for manifest in table.manifests(snapshot).await.unwrap().iter() {
        for entry in table.entries(manifest).await.unwrap().iter().filter(|e| e.is_alive()) {
            names.push(entry.file_path().rsplit('/').next().unwrap().to_owned());
        }
    }
    names.sort();
    names
}

/// Files in a folder that end with `.avro`.
fn avro_files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => found.extend(avro_files(&entry.path())),
            false => found.extend(Some(entry.path().display().to_string()).filter(|name| name.ends_with(".avro"))),
        }
    }
    found
}

/// The manifest lists and manifests of all snapshots.
async fn referenced(table: &Table) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for snapshot in table.metadata().snapshots() {
        found.insert(snapshot.manifest_list().to_owned());
        found.extend(table.manifests(snapshot).await.unwrap().iter().map(|m| m.manifest_path.clone()));
    }
    found
}
