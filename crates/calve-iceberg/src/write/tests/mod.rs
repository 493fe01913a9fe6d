#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod append;
mod changelog;
mod failure;
mod formats;
mod layout;
mod memory;
mod model;
mod overwrite;
mod partitions;
mod positions;
mod prepared;
mod properties;
mod transforms;
mod upsert;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use calve_types::{DataType, Result};
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use iceberg::spec::{ManifestStatus, Transform};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::*;
use crate::catalog::{Catalog, TableCreation, open};
use crate::commit::{JobInfo, NewFile, commit};
use crate::io::TableIo;
use crate::schema::{to_arrow, to_iceberg};
use crate::table::Table;

/// A warehouse with one table, `db.t`.
pub(super) struct Fixture {
    pub(super) dir: tempfile::TempDir,
    pub(super) catalog: Arc<dyn Catalog>,
    pub(super) hints: BTreeMap<String, String>,
    pub(super) session: BTreeMap<String, String>,
}

pub(super) struct Shape<'a> {
    pub(super) columns: Vec<(&'a str, DataType)>,
    pub(super) key: &'a [&'a str],
    pub(super) partition: &'a [(&'a str, Transform)],
    pub(super) with: &'a [(&'a str, &'a str)],
}

fn owned(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

impl Fixture {
    pub(super) async fn new(shape: Shape<'_>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        let catalog = open("c", &owned(&[("catalog-type", "hadoop"), ("warehouse", root)])).unwrap();
        let columns: Vec<_> = shape.columns.into_iter().map(|(n, t)| (n.to_owned(), t, None)).collect();
        let key: Vec<String> = shape.key.iter().map(|k| (*k).to_owned()).collect();
        let creation = TableCreation {
            schema: to_iceberg(&columns, &key).unwrap(),
            partition: shape.partition.iter().map(|(n, t)| ((*n).to_owned(), *t)).collect(),
            properties: owned(shape.with),
            comment: None,
        };
        catalog.create_table(&catalog.ident("db", "t").unwrap(), creation).await.unwrap();
        let session = owned(&[("parallelism.default", "3")]);
        Self { dir, catalog, hints: BTreeMap::new(), session }
    }

    pub(super) async fn table(&self) -> Table {
        self.catalog.load_table(&self.catalog.ident("db", "t").unwrap()).await.unwrap().unwrap()
    }

    pub(super) fn options(&self, table: &Table) -> Result<WriteOptions> {
        WriteOptions::resolve(table, &self.hints, &self.session, false)
    }

    pub(super) async fn prepare(&self) -> Result<Writer> {
        let table = self.table().await;
        prepare(&table, self.options(&table)?).await
    }

    pub(super) async fn write(&self, batches: Vec<RecordBatch>) -> Result<Written> {
        self.prepare().await?.write(stream(batches), Arc::default()).await
    }

    pub(super) async fn insert(&self, batches: Vec<RecordBatch>) -> Written {
        let written = self.write(batches).await.unwrap();
        self.commit(&written).await;
        written
    }

    pub(super) async fn commit(&self, written: &Written) {
        let job = JobInfo { job_id: "a".repeat(32), operator_id: "b".repeat(32), checkpoint_id: i64::MAX, place: None };
        let table = self.table().await;
        commit(self.catalog.as_ref(), &table, "main", written.to_operation(), &job).await.unwrap();
    }

    /// Columns in the table's types.
    pub(super) async fn batch(&self, columns: Vec<ArrayRef>) -> RecordBatch {
        let schema = to_arrow(self.table().await.metadata().current_schema()).unwrap();
        RecordBatch::try_new(schema, columns).unwrap()
    }

    /// All files below the table's data folder.
    pub(super) fn data_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        walk(&self.dir.path().join("db/t/data"), &mut files);
        files.sort();
        files
    }

    /// The live entries of the table: file, spec, data sequence number.
    pub(super) async fn live(&self) -> Vec<(NewFile, i64)> {
        let table = self.table().await;
        let Some(snapshot) = table.metadata().current_snapshot() else { return Vec::new() };
        let mut live = Vec::new();
        for manifest in table.manifests(snapshot).await.unwrap().iter() {
            for entry in table.entries(manifest).await.unwrap().iter() {
                if entry.status() != ManifestStatus::Deleted {
                    let file = entry.data_file().clone();
                    live.push((
                        NewFile { spec_id: manifest.partition_spec_id, file },
                        entry.sequence_number().unwrap(),
                    ));
                }
            }
        }
        live
    }
}

fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, files) } else { files.push(path) }
    }
}

pub(super) fn stream(batches: Vec<RecordBatch>) -> SendableRecordBatchStream {
    results(batches.into_iter().map(Ok).collect())
}

pub(super) fn results(batches: Vec<std::result::Result<RecordBatch, DataFusionError>>) -> SendableRecordBatchStream {
    let schema = batches
        .iter()
        .find_map(|b| b.as_ref().ok().map(RecordBatch::schema))
        .unwrap_or_else(|| Arc::new(arrow::datatypes::Schema::empty()));
    Box::pin(RecordBatchStreamAdapter::new(schema, futures::stream::iter(batches)))
}

/// All rows of a Parquet file.
pub(super) fn read(location: &str) -> Vec<RecordBatch> {
    let file = std::fs::File::open(location.trim_start_matches("file://")).unwrap();
    ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().map(|b| b.unwrap()).collect()
}

/// A BIGINT column of a Parquet file.
pub(super) fn longs(location: &str, column: usize) -> Vec<i64> {
    read(location).iter().flat_map(|b| b.column(column).as_primitive::<Int64Type>().values().to_vec()).collect()
}
