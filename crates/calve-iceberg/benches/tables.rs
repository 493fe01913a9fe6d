//! Writers and scans of a table in a temporary folder (`TMPDIR` says where): `cargo bench --workspace --bench tables`.
//!
//! * upsert: a commit of a million rows, each key twice, into an empty table: the writer's map of keys, the position deletes
//!   of the earlier rows, and encoding;
//! * scan: a million rows, as they are and behind a commit with 100,000 equality deletes: building and probing the key table;
//! * append: a million rows into 500 partitions in no order, and unpartitioned beside it.
//!
//! Files are not compressed, so that what is calve's own is most of the time. What a write has written is deleted each time.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use calve_iceberg::Table;
use calve_iceberg::catalog::{Catalog, TableCreation, open};
use calve_iceberg::commit::{JobInfo, commit};
use calve_iceberg::scan::{ScanOptions, provider};
use calve_iceberg::schema::{to_arrow, to_iceberg};
use calve_iceberg::write::{WriteOptions, Written, prepare};
use calve_types::{DataType, LogicalType as T};
use criterion::{Bencher, Criterion, Throughput, criterion_group, criterion_main};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::{StreamExt, stream};
use iceberg::spec::Transform;
use tokio::runtime::Runtime;

/// Rows of a batch.
const BATCH: usize = 8_192;

/// How much a benchmark does: next to nothing where it is only tried, as by `cargo test --benches`.
fn rows() -> usize {
    if std::env::args().any(|arg| arg == "--bench") { 1_000_000 } else { 20_000 }
}

fn owned(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

/// A table in a folder that goes with it.
struct Lake {
    catalog: Arc<dyn Catalog>,
    _folder: tempfile::TempDir,
}

impl Lake {
    async fn new(columns: Vec<(&str, DataType)>, key: &[&str], partition: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = owned(&[("catalog-type", "hadoop"), ("warehouse", folder.path().to_str().unwrap())]);
        let catalog = open("bench", &options).unwrap();
        let columns: Vec<_> = columns.into_iter().map(|(name, of)| (name.to_owned(), of, None)).collect();
        let key: Vec<String> = key.iter().map(|name| (*name).to_owned()).collect();
        let upsert = if key.is_empty() { "false" } else { "true" };
        let creation = TableCreation {
            schema: to_iceberg(&columns, &key).unwrap(),
            partition: partition.iter().map(|name| ((*name).to_owned(), Transform::Identity)).collect(),
            properties: owned(&[
                ("format-version", "2"),
                ("write.upsert.enabled", upsert),
                ("write.parquet.compression-codec", "uncompressed"),
                // all partitions are open at once
                ("write.distribution-mode", "none"),
            ]),
            comment: None,
        };
        catalog.create_table(&catalog.ident("db", "t").unwrap(), creation).await.unwrap();
        Self { catalog, _folder: folder }
    }

    async fn table(&self) -> Table {
        self.catalog.load_table(&self.catalog.ident("db", "t").unwrap()).await.unwrap().unwrap()
    }

    /// Columns of as many rows as numbers, cut into batches.
    async fn batches(&self, numbers: Vec<i64>, columns: impl Fn(&[i64]) -> Vec<ArrayRef>) -> Vec<RecordBatch> {
        let schema = to_arrow(self.table().await.metadata().current_schema()).unwrap();
        numbers.chunks(BATCH).map(|part| RecordBatch::try_new(schema.clone(), columns(part)).unwrap()).collect()
    }

    /// Writes what nobody sees.
    async fn write(&self, table: &Table, batches: &[RecordBatch]) -> Written {
        let session = owned(&[("parallelism.default", "2")]);
        let options = WriteOptions::resolve(table, &BTreeMap::new(), &session, false).unwrap();
        prepare(table, options).await.unwrap().write(stream_of(batches), Arc::default()).await.unwrap()
    }

    async fn insert(&self, batches: &[RecordBatch]) -> Written {
        let table = self.table().await;
        let written = self.write(&table, batches).await;
        let job = JobInfo { job_id: "a".repeat(32), operator_id: "b".repeat(32), checkpoint_id: i64::MAX, place: None };
        commit(self.catalog.as_ref(), &table, "main", written.to_operation(), &job).await.unwrap();
        written
    }

    /// Reads all rows and columns; how many there are.
    async fn read(&self, table: &Table) -> usize {
        let options = ScanOptions::resolve(table, &BTreeMap::new(), &BTreeMap::new()).unwrap();
        let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
        let all = session.read_table(provider(table.clone(), options).unwrap()).unwrap();
        let mut batches = all.execute_stream().await.unwrap();
        let mut rows = 0;
        while let Some(batch) = batches.next().await {
            rows += batch.unwrap().num_rows();
        }
        rows
    }

    /// Measures a write without its commit.
    fn bench_write(&self, runtime: &Runtime, bencher: &mut Bencher<'_>, batches: &[RecordBatch], deletes: u64) {
        let table = runtime.block_on(self.table());
        bencher.iter(|| {
            runtime.block_on(async {
                let written = self.write(&table, batches).await;
                assert_eq!(written.position_deletes, deletes);
                written.discard(&table).await;
            });
        });
    }
}

fn stream_of(batches: &[RecordBatch]) -> SendableRecordBatchStream {
    let schema = batches.first().unwrap().schema();
    let batches: Vec<_> = batches.iter().cloned().map(Ok).collect();
    Box::pin(RecordBatchStreamAdapter::new(schema, stream::iter(batches)))
}

/// The numbers below `count`, which is a multiple of ten, in no order.
fn shuffled(count: usize) -> Vec<i64> {
    // a prime that divides no such count
    (0..count).map(|n| (n * 7_919 % count) as i64).collect()
}

fn longs(numbers: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(numbers.iter().copied()))
}

fn texts(numbers: &[i64]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(numbers.iter().map(|n| format!("customer-{n:012}"))))
}

fn upsert(criterion: &mut Criterion) {
    let (runtime, rows) = (Runtime::new().unwrap(), rows());
    let mut group = criterion.benchmark_group("upsert");
    group.throughput(Throughput::Elements(rows as u64)).sample_size(10);
    type Column = fn(&[i64]) -> ArrayRef;
    for (name, of, column) in [
        ("BIGINT keys, each twice", T::BigInt, longs as Column),
        ("STRING keys, each twice", T::STRING, texts as Column),
    ] {
        group.bench_function(name, |bencher| {
            let columns = vec![("id", of.clone().not_null()), ("v", T::BigInt.nullable())];
            let lake = runtime.block_on(Lake::new(columns, &["id"], None));
            let keys = [shuffled(rows / 2), shuffled(rows / 2)].concat();
            let batches = runtime.block_on(lake.batches(keys, |part| vec![column(part), longs(part)]));
            lake.bench_write(&runtime, bencher, &batches, rows as u64 / 2);
        });
    }
    group.finish();
}

fn scan(criterion: &mut Criterion) {
    let (runtime, rows) = (Runtime::new().unwrap(), rows());
    let mut group = criterion.benchmark_group("scan");
    group.throughput(Throughput::Elements(rows as u64)).sample_size(10);
    for (name, deleted) in [("without deletes", 0), ("behind equality deletes of a tenth", rows / 10)] {
        group.bench_function(name, |bencher| {
            let columns = vec![("id", T::BigInt.not_null()), ("v", T::BigInt.nullable()), ("s", T::STRING.nullable())];
            let lake = runtime.block_on(Lake::new(columns, &["id"], None));
            let cells = |part: &[i64]| vec![longs(part), longs(part), texts(part)];
            let table = runtime.block_on(async {
                let keys = shuffled(rows);
                lake.insert(&lake.batches(keys.clone(), cells).await).await;
                if deleted > 0 {
                    let again: Vec<i64> = keys.into_iter().take(deleted).collect();
                    let written = lake.insert(&lake.batches(again, cells).await).await;
                    assert_eq!(written.equality_deletes, deleted as u64);
                }
                lake.table().await
            });
            bencher.iter(|| assert_eq!(runtime.block_on(lake.read(&table)), rows));
        });
    }
    group.finish();
}

fn append(criterion: &mut Criterion) {
    let (runtime, rows) = (Runtime::new().unwrap(), rows());
    let mut group = criterion.benchmark_group("append");
    group.throughput(Throughput::Elements(rows as u64)).sample_size(10);
    for (name, partition) in [("unpartitioned", None), ("into 500 partitions, unsorted", Some("p"))] {
        group.bench_function(name, |bencher| {
            let columns = vec![("p", T::Int.nullable()), ("id", T::BigInt.nullable()), ("s", T::STRING.nullable())];
            let lake = runtime.block_on(Lake::new(columns, &[], partition));
            let places = |part: &[i64]| Int32Array::from_iter_values(part.iter().map(|n| (n % 500) as i32));
            let cells = |part: &[i64]| vec![Arc::new(places(part)) as ArrayRef, longs(part), texts(part)];
            let batches = runtime.block_on(lake.batches(shuffled(rows), cells));
            lake.bench_write(&runtime, bencher, &batches, 0);
        });
    }
    group.finish();
}

criterion_group!(benches, upsert, scan, append);
criterion_main!(benches);
