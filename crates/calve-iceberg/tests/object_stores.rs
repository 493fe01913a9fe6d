//! Tables and files in stores: one that speaks like S3, one that speaks like Azure's.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod azurite;
mod seaweedfs;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use arrow::array::{Int64Array, RecordBatch, StringArray};
use async_trait::async_trait;
use bytes::Bytes;
use calve_iceberg::catalog::{Catalog, TableCreation, open};
use calve_iceberg::commit::{JobInfo, commit};
use calve_iceberg::io::{Created, CredentialSource, VendedCredential};
use calve_iceberg::scan::{ScanOptions, provider};
use calve_iceberg::schema::{to_arrow, to_iceberg};
use calve_iceberg::write::{WriteOptions, prepare};
use calve_iceberg::{Table, TableIo};
use calve_types::{Error, LogicalType, Result};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{SessionContext, col, lit};
use futures::TryStreamExt;

use self::seaweedfs::{BUCKET, KEY, SECRET, Server, WAREHOUSE};

fn owned(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn properties(server: &Server, more: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut all = server.properties();
    all.extend(owned(more));
    all
}

fn reach(server: &Server) -> TableIo {
    TableIo::new(&properties(server, &[])).unwrap()
}

fn file(name: &str) -> String {
    format!("s3://{BUCKET}/files/{name}")
}

/// A part of a store.
struct Place {
    /// How it is reached.
    properties: BTreeMap<String, String>,
    /// What locations there begin with.
    root: String,
    /// The schemes that mean it.
    schemes: &'static [&'static str],
}

impl Place {
    fn of_seaweedfs(server: &Server) -> Self {
        Self { properties: server.properties(), root: format!("s3://{BUCKET}"), schemes: &["s3", "s3a", "s3n"] }
    }

    fn of_azurite(server: &azurite::Server) -> Self {
        Self { properties: server.properties(), root: server.root(), schemes: &["abfss", "abfs", "wasbs", "wasb"] }
    }

    fn io(&self) -> TableIo {
        TableIo::new(&self.properties).unwrap()
    }

    fn file(&self, name: &str) -> String {
        format!("{}/files/{name}", self.root)
    }

    fn spelled(&self, location: &str, scheme: &str) -> String {
        location.replacen(self.schemes[0], scheme, 1)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files() {
    let Some(server) = Server::start("files").await else { return };
    check_files(&Place::of_seaweedfs(&server)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn azure() {
    let Some(server) = azurite::Server::start("azure").await else { return };
    let place = Place::of_azurite(&server);
    check_files(&place).await;
    check_race(&place).await;
    check_tables(&place).await;
    let mut wrong = place.properties.clone();
    for value in wrong.values_mut() {
        *value = value.replace(azurite::KEY, "V1JPTkdTRUNSRVQ=");
    }
    let io = TableIo::new(&wrong).unwrap();
    for error in [
        io.read(&place.file("a")).await.unwrap_err(),
        io.write(&place.file("a"), Bytes::from_static(b"x")).await.unwrap_err(),
        io.create(&place.file("a"), Bytes::from_static(b"x")).await.unwrap_err(),
    ] {
        assert_eq!(error.code, "access-denied", "{error:?}");
        assert!(!format!("{error:?}").contains("V1JPTkdTRUNSRVQ"), "{error:?}");
    }
    let missing = place.io().read("abfss://nobox@devstoreaccount1.dfs.core.windows.net/a").await.unwrap_err();
    assert!(missing.message.contains("no such bucket") || missing.message.contains("has no such file"), "{missing}");
}

async fn check_files(place: &Place) {
    let io = place.io();
    let file = |name: &str| place.file(name);
    // names are literal, whatever their characters
    for name in
        ["plain", "p=a b", "100%", "a%20b", "ünï", "q?x", "c*", "日本", "a+b&c", "~#[]{}^|", "\"'`<>", "a=b/c=d"]
    {
        let location = file(name);
        io.write(&location, Bytes::copy_from_slice(name.as_bytes())).await.unwrap();
        for scheme in place.schemes {
            let spelled = place.spelled(&location, scheme);
            assert_eq!(io.read(&spelled).await.unwrap(), name.as_bytes(), "{name}");
        }
        let input = io.file_io().new_input(&location).unwrap();
        assert_eq!(input.read().await.unwrap(), name.as_bytes());
        assert_eq!(input.metadata().await.unwrap().size, name.len() as u64);
        let reader = input.reader().await.unwrap();
        assert_eq!(reader.read(1..2).await.unwrap(), &name.as_bytes()[1..2]);
        assert!(io.exists(&location).await.unwrap());
        io.delete(&location).await.unwrap();
        io.delete(&location).await.unwrap();
        assert!(!io.exists(&location).await.unwrap() && !input.exists().await.unwrap(), "{name}");
    }
    let missing = io.read(&file("none")).await.unwrap_err();
    assert_eq!(missing.code, "io", "{missing}");

    // 40 MB travel in parts
    let large: Vec<u8> = (0..40_000_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut writer = io.file_io().new_output(file("large")).unwrap().writer().await.unwrap();
    for chunk in large.chunks(3_000_017) {
        writer.write(Bytes::copy_from_slice(chunk)).await.unwrap();
    }
    assert!(!io.exists(&file("large")).await.unwrap(), "a file appears when it is complete");
    writer.close().await.unwrap();
    assert!(io.read(&file("large")).await.unwrap() == large);

    // listings
    for name in ["list/a", "list/b/c", "list/b/d", "list2/x"] {
        io.write(&file(name), Bytes::from_static(b"x")).await.unwrap();
    }
    let folder = place.spelled(&file("list/"), place.schemes[1]);
    let children = io.children(&folder).await.unwrap();
    assert_eq!((children.folders, children.files), (vec!["b".to_owned()], vec!["a".to_owned()]));
    let listed: Vec<_> = io.list(&folder).unwrap().try_collect().await.unwrap();
    let mut names: Vec<_> = listed.into_iter().map(|listed| listed.location).collect();
    names.sort();
    assert_eq!(names, ["a", "b/c", "b/d"].map(|name| format!("{folder}{name}")));
    let all: Vec<String> = ["list/a", "list/b/c", "list/b/d", "list/none", "list2/x"].iter().map(|n| file(n)).collect();
    assert!(io.delete_all(&all).await.is_empty());
    assert_eq!(io.list(&folder).unwrap().try_collect::<Vec<_>>().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_all_who_create_a_file_one_succeeds() {
    let Some(server) = Server::start("of_all_who_create_a_file_one_succeeds").await else { return };
    check_race(&Place::of_seaweedfs(&server)).await;
}

async fn check_race(place: &Place) {
    let io = place.io();
    let file = |name: &str| place.file(name);
    // losers of a race wait a second for this server's answer
    for round in 0..4 {
        let location = file(&format!("v{round}.metadata.json"));
        let writers = (0..8).map(|writer| {
            let (io, location) = (io.clone(), location.clone());
            tokio::spawn(async move { io.create(&location, Bytes::from(format!("writer {writer}"))).await.unwrap() })
        });
        let outcomes = futures::future::join_all(writers).await;
        let winners: Vec<usize> = outcomes
            .iter()
            .enumerate()
            .filter(|(_, created)| *created.as_ref().unwrap() == Created::Done)
            .map(|(writer, _)| writer)
            .collect();
        assert_eq!(winners.len(), 1, "{winners:?}");
        assert_eq!(io.read(&location).await.unwrap(), format!("writer {}", winners[0]).as_bytes());
    }
    let children = io.children(&format!("{}/files", place.root)).await.unwrap();
    let made: Vec<_> = children.files.iter().filter(|name| *name != "large").collect();
    assert_eq!(made.len(), 4, "nothing is left of the test of the store: {:?}", children.files);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said() {
    let Some(server) = Server::start("what_is_wrong_is_said").await else { return };
    let error = |more: Vec<(&'static str, &'static str)>, location: String| {
        let io = TableIo::new(&properties(&server, &more)).unwrap();
        async move {
            let errors = [
                io.read(&location).await.unwrap_err(),
                io.write(&location, Bytes::from_static(b"x")).await.unwrap_err(),
                io.create(&location, Bytes::from_static(b"x")).await.unwrap_err(),
            ];
            for error in &errors {
                let shown = format!("{error:?}");
                assert!(!shown.contains("WRONGSECRET") && !shown.contains(SECRET), "{shown}");
            }
            errors
        }
    };
    for error in error(vec![("s3.secret-access-key", "WRONGSECRET")], file("a")).await {
        assert_eq!(error.code, "access-denied", "{error:?}");
        assert!(
            error.message.contains("does not take the credentials (403 Forbidden, SignatureDoesNotMatch)"),
            "{error}"
        );
        assert!(error.hint.as_ref().unwrap().contains("s3.secret-access-key"), "{error:?}");
    }
    for error in error(vec![("s3.access-key-id", "nobody")], file("a")).await {
        assert_eq!(error.code, "access-denied", "{error:?}");
        assert!(error.message.contains("InvalidAccessKeyId"), "{error}");
    }
    for error in error(vec![], "s3://no-such-bucket/a".to_owned()).await {
        assert_eq!(error.code, "io", "{error:?}");
        assert!(error.message.contains("there is no such bucket"), "{error}");
    }
}

/// Gives keys that work, and counts.
#[derive(Debug, Default)]
struct Source {
    calls: AtomicUsize,
}

fn vended(secret: &str, expires_in: i64) -> VendedCredential {
    let at = chrono::Utc::now().timestamp_millis() + expires_in;
    let config = owned(&[
        ("s3.access-key-id", KEY),
        ("s3.secret-access-key", secret),
        ("s3.session-token-expires-at-ms", &at.to_string()),
    ]);
    VendedCredential { prefix: format!("s3://{BUCKET}/files/vended"), config }
}

#[async_trait]
impl CredentialSource for Source {
    async fn load(&self) -> Result<Vec<VendedCredential>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Ok(vec![vended(SECRET, 3_600_000)])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn vended_credentials_hold_for_their_prefix_and_are_fetched_again() {
    let Some(server) = Server::start("vended_credentials").await else { return };
    let wrong = TableIo::new(&properties(&server, &[("s3.secret-access-key", "WRONG")])).unwrap();
    let source = Arc::new(Source::default());
    let io = wrong.with_credentials(vec![vended(SECRET, 3_600_000)], Some(source.clone()));
    io.write(&file("vended/a"), Bytes::from_static(b"x")).await.unwrap();
    assert_eq!(io.read(&file("vended/a")).await.unwrap().as_ref(), b"x");
    assert_eq!(io.read(&file("other/a")).await.unwrap_err().code, "access-denied");
    assert_eq!(source.calls.load(Ordering::SeqCst), 0);
    // those at hand have expired
    let io = wrong.with_credentials(vec![vended("EXPIRED", -1)], Some(source.clone()));
    for _ in 0..3 {
        assert_eq!(io.read(&file("vended/a")).await.unwrap().as_ref(), b"x");
    }
    assert_eq!(source.calls.load(Ordering::SeqCst), 1);
}

/// A catalog in a SQLite file whose tables lie in the store.
fn catalog(place: &Place, folder: &std::path::Path) -> Arc<dyn Catalog> {
    let warehouse = format!("{}/warehouse", place.root);
    let uri = format!("jdbc:sqlite:{}", folder.join("catalog.db").display());
    let mut options = place.properties.clone();
    options.extend(owned(&[("catalog-type", "jdbc"), ("uri", &uri), ("warehouse", &warehouse)]));
    open("c", &options).unwrap()
}

struct Lake {
    catalog: Arc<dyn Catalog>,
    key: bool,
}

impl Lake {
    async fn new(
        place: &Place,
        folder: &std::path::Path,
        name: &str,
        with: &[(&str, &str)],
        key: bool,
    ) -> (Self, String) {
        let catalog = catalog(place, folder);
        let database = catalog.namespace("db").unwrap().to_vec();
        if !catalog.namespace_exists(&database).await.unwrap() {
            catalog.create_namespace(&database, BTreeMap::new()).await.unwrap();
        }
        let columns = [("id", LogicalType::BigInt.not_null()), ("s", LogicalType::STRING.nullable())];
        let columns: Vec<_> = columns.into_iter().map(|(name, kind)| (name.to_owned(), kind, None)).collect();
        let key_columns: Vec<String> = if key { vec!["id".to_owned()] } else { Vec::new() };
        let creation = TableCreation {
            schema: to_iceberg(&columns, &key_columns).unwrap(),
            partition: Vec::new(),
            properties: owned(with),
            comment: None,
        };
        let ident = catalog.ident("db", name).unwrap();
        catalog.create_table(&ident, creation).await.unwrap();
        (Self { catalog, key }, name.to_owned())
    }

    async fn table(&self, name: &str) -> Table {
        self.catalog.load_table(&self.catalog.ident("db", name).unwrap()).await.unwrap().unwrap()
    }

    async fn insert(&self, name: &str, ids: std::ops::Range<i64>, word: &str) -> Result<()> {
        let table = self.table(name).await;
        let schema = to_arrow(table.metadata().current_schema())?;
        let words: StringArray = ids.clone().map(|id| Some(format!("{word}{id}"))).collect();
        let columns = vec![Arc::new(Int64Array::from_iter_values(ids)) as _, Arc::new(words) as _];
        let batch = RecordBatch::try_new(schema.clone(), columns).unwrap();
        let stream = RecordBatchStreamAdapter::new(schema, futures::stream::iter([Ok(batch)]));
        let hints = if self.key { owned(&[("upsert-enabled", "true")]) } else { BTreeMap::new() };
        let options = WriteOptions::resolve(&table, &hints, &BTreeMap::new(), false)?;
        let written = prepare(&table, options).await?.write(Box::pin(stream), Arc::default()).await?;
        let job = JobInfo { job_id: "a".repeat(32), operator_id: "b".repeat(32), checkpoint_id: i64::MAX, place: None };
        commit(self.catalog.as_ref(), &table, "main", written.to_operation(), &job).await.map(|_| ())
    }

    async fn count(&self, name: &str, word: &str) -> usize {
        let table = self.table(name).await;
        let options = ScanOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new()).unwrap();
        let context = SessionContext::new();
        let rows = context.read_table(provider(table, options).unwrap()).unwrap();
        let rows = rows.filter(col("s").like(lit(format!("{word}%")))).unwrap();
        rows.collect().await.unwrap().iter().map(RecordBatch::num_rows).sum()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables() {
    let Some(server) = Server::start("tables").await else { return };
    check_tables(&Place::of_seaweedfs(&server)).await;
}

async fn check_tables(place: &Place) {
    let folder = tempfile::tempdir().unwrap();
    for (format, key) in [("parquet", false), ("parquet", true), ("avro", false), ("orc", true)] {
        for version in ["2", "3"] {
            let name = format!("{format}_{key}_{version}");
            let with = [("write.format.default", format), ("format-version", version)];
            let (lake, name) = Lake::new(place, folder.path(), &name, &with, key).await;
            lake.insert(&name, 0..1000, "a").await.unwrap();
            lake.insert(&name, 500..1500, "b").await.unwrap();
            let replaced = if key { 500 } else { 0 };
            assert_eq!(lake.count(&name, "a").await, 1000 - replaced, "{name}");
            assert_eq!(lake.count(&name, "b").await, 1000, "{name}");
            let table = lake.table(&name).await;
            assert!(table.metadata_location().starts_with(&format!("{}/warehouse/db/{name}/metadata/", place.root)));
        }
    }
    let lake = Lake { catalog: catalog(place, folder.path()), key: false };
    let files = place.io().list(&format!("{}/warehouse/db/parquet_false_2", place.root)).unwrap();
    assert!(files.try_collect::<Vec<_>>().await.unwrap().len() > 5);
    assert!(lake.catalog.drop_table(&lake.catalog.ident("db", "parquet_false_2").unwrap(), true).await.unwrap());
    let files = place.io().list(&format!("{}/warehouse/db/parquet_false_2", place.root)).unwrap();
    assert_eq!(files.try_collect::<Vec<_>>().await.unwrap(), [], "a purged table leaves nothing");
}

/// What is left of jobs that did not end well.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_failed_and_cancelled_writes() {
    let Some(server) = Server::start("nothing_is_left").await else { return };
    let folder = tempfile::tempdir().unwrap();
    let (lake, name) = Lake::new(&Place::of_seaweedfs(&server), folder.path(), "t", &[], false).await;
    let table = lake.table(&name).await;
    let schema = to_arrow(table.metadata().current_schema()).unwrap();
    let batch = |from: i64| {
        let words: StringArray = (from..from + 10_000).map(|id| Some(format!("{id:0>200}"))).collect();
        let columns = vec![Arc::new(Int64Array::from_iter_values(from..from + 10_000)) as _, Arc::new(words) as _];
        RecordBatch::try_new(schema.clone(), columns).unwrap()
    };
    let hints = owned(&[("target-file-size-bytes", "1000000")]);
    let data = format!("s3://{BUCKET}/warehouse/db/t/data");
    // fails at its end
    let failure = Error::new("runtime", "no more");
    let batches = (0..20)
        .map(|i| Ok(batch(i * 10_000)))
        .chain([Err(datafusion::error::DataFusionError::External(Box::new(failure)))]);
    let stream = RecordBatchStreamAdapter::new(schema.clone(), futures::stream::iter(batches.collect::<Vec<_>>()));
    let options = WriteOptions::resolve(&table, &hints, &BTreeMap::new(), false).unwrap();
    let error = prepare(&table, options).await.unwrap().write(Box::pin(stream), Arc::default()).await.unwrap_err();
    assert_eq!(error.message, "no more");
    empty_soon(&server, &data).await;
    // is dropped on its way
    for millis in [50, 400, 1500] {
        let options = WriteOptions::resolve(&table, &hints, &BTreeMap::new(), false).unwrap();
        let first = batch(0);
        let endless = futures::stream::unfold(first, |batch| async move {
            tokio::task::yield_now().await;
            Some((Ok(batch.clone()), batch))
        });
        let stream = RecordBatchStreamAdapter::new(schema.clone(), endless);
        let write = prepare(&table, options).await.unwrap().write(Box::pin(stream), Arc::default());
        assert!(tokio::time::timeout(Duration::from_millis(millis), write).await.is_err());
        empty_soon(&server, &data).await;
    }
    lake.insert(&name, 0..10, "a").await.unwrap();
    assert_eq!(lake.count(&name, "a").await, 10);
}

async fn empty_soon(server: &Server, folder: &str) {
    let mut left = Vec::new();
    for _ in 0..100 {
        left = reach(server).list(folder).unwrap().try_collect::<Vec<_>>().await.unwrap();
        if left.is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("left: {left:?}");
}

/// Table buckets of this server refuse the files in which format version 3 keeps its deletes.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refuses_puffin_files_is_told_of() {
    let Some(server) = Server::start("a_server_that_refuses_puffin_files_is_told_of").await else { return };
    let (uri, credential) = (server.catalog(), format!("{KEY}:{SECRET}"));
    let rest = [("catalog-type", "rest"), ("uri", &uri), ("warehouse", WAREHOUSE), ("credential", &credential)];
    let catalog = open("c", &properties(&server, &rest)).unwrap();
    let database = catalog.namespace("db").unwrap().to_vec();
    // the warehouse comes later than the rest
    let mut made = Err(Error::new("io", "nothing"));
    for _ in 0..100 {
        made = catalog.create_namespace(&database, BTreeMap::new()).await;
        if made.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    made.unwrap();
    let columns = [("id", LogicalType::BigInt.not_null()), ("s", LogicalType::STRING.nullable())];
    let columns: Vec<_> = columns.into_iter().map(|(name, kind)| (name.to_owned(), kind, None)).collect();
    let creation = TableCreation {
        schema: to_iceberg(&columns, &["id".to_owned()]).unwrap(),
        partition: Vec::new(),
        properties: owned(&[("format-version", "3"), ("calve.upsert.mode", "position")]),
        comment: None,
    };
    catalog.create_table(&catalog.ident("db", "t").unwrap(), creation).await.unwrap();
    let lake = Lake { catalog, key: true };
    lake.insert("t", 0..10, "a").await.unwrap();
    let error = lake.insert("t", 5..15, "b").await.unwrap_err();
    assert_eq!(error.code, "access-denied", "{error:?}");
    assert!(
        error.message.contains(".puffin': ") && error.message.contains("does not take this puffin file"),
        "{error}"
    );
    assert!(error.hint.unwrap().contains("'format-version' = '2'"));
    assert_eq!((lake.count("t", "a").await, lake.count("t", "b").await), (10, 0));
    let table = lake.table("t").await;
    let data = format!("{}/data", table.metadata().location());
    let files: Vec<_> = table.io().list(&data).unwrap().try_collect().await.unwrap();
    assert_eq!(files.len(), 1, "nothing is left: {files:?}");
}
