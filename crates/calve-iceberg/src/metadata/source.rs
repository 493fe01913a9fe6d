//! The rows of a metadata table, batch by batch: manifests are read a few at a time, and none is kept.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, StructArray};
use arrow::datatypes::{DataType as ArrowType, Field, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use calve_types::{Error, Result};
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use iceberg::spec::{ManifestContentType, ManifestEntryRef, ManifestFile, ManifestStatus, SnapshotRef};

use super::files::{Content, FileColumns, Row};
use super::partition_stats::{self, Lines};
use super::{Scope, log, manifests};
use crate::error::{Context, external};
use crate::table::Table;

/// Manifests that are read at the same time.
const READ_AHEAD: usize = 2;

/// Values in a batch, about: a table of a thousand columns has as many metrics in each row.
const BATCH_VALUES: usize = 1 << 18;

/// Where the rows come from.
pub(super) enum Rows {
    /// From the table's metadata: all columns in order.
    Log(fn(&Table, &SchemaRef) -> Result<Vec<ArrayRef>>),
    /// Lines of manifest lists.
    Manifests(Scope),
    /// Live files in manifests.
    Files(Scope, Content, Arc<FileColumns>),
    /// All lines of manifests.
    Entries(Scope, Arc<FileColumns>),
    /// What `$partitions` adds up.
    Lines(Scope, Arc<Lines>),
    /// What a plan over [`Rows::Lines`] makes of them.
    Partitions(Arc<Lines>, Arc<dyn ExecutionPlan>),
}

/// The rows of a metadata table of one version of a table.
pub(super) struct Source {
    table: Table,
    rows: Rows,
    /// The columns that are asked for.
    schema: SchemaRef,
}

impl Source {
    /// `schema` is some of the columns, in any order.
    pub fn new(table: Table, rows: Rows, schema: SchemaRef) -> Self {
        Self { table, rows, schema }
    }

    fn batches(&self, context: Arc<TaskContext>) -> BoxStream<'static, datafusion::common::Result<RecordBatch>> {
        let (table, schema) = (self.table.clone(), self.schema.clone());
        match &self.rows {
            Rows::Log(columns) => {
                let columns = *columns;
                through_datafusion(stream::once(async move {
                    // all columns are there, in order, where one is asked for
                    columns(&table, &schema).and_then(|columns| batch(&schema, columns, 0))
                }))
            }
            Rows::Manifests(scope) => {
                let lists = scope.snapshots(&table).then(move |snapshot| {
                    let (table, schema) = (table.clone(), schema.clone());
                    async move {
                        let manifests = table.manifests(&snapshot).await?;
                        let array = |field: &Arc<Field>| {
                            let (name, data_type) = (field.name(), field.data_type());
                            manifests::array(&table, &manifests, snapshot.snapshot_id(), name, data_type)
                        };
                        let columns = schema.fields().iter().map(array).collect::<Result<_>>()?;
                        batch(&schema, columns, manifests.len())
                    }
                });
                through_datafusion(lists)
            }
            Rows::Files(scope, content, columns) => {
                let (content, columns) = (*content, columns.clone());
                let has = move |manifest: &ManifestFile| match content {
                    Content::All => true,
                    Content::Data => manifest.content == ManifestContentType::Data,
                    Content::Deletes => manifest.content == ManifestContentType::Deletes,
                };
                let array =
                    move |taken: &[Row], field: &Arc<Field>| columns.array(taken, field.name(), field.data_type());
                through_datafusion(lines(table.clone(), scope.manifests(table), has, true, schema, array))
            }
            Rows::Entries(scope, columns) => {
                let columns = columns.clone();
                let array =
                    move |taken: &[Row], field: &Arc<Field>| entry(&columns, taken, field.name(), field.data_type());
                through_datafusion(lines(table.clone(), scope.manifests(table), |_| true, false, schema, array))
            }
            Rows::Lines(scope, of) => {
                let of = of.clone();
                let array = move |taken: &[Row], field: &Arc<Field>| of.array(taken, field.name(), field.data_type());
                through_datafusion(lines(table.clone(), scope.manifests(table), |_| true, true, schema, array))
            }
            Rows::Partitions(of, plan) => match execute_stream(plan.clone(), context) {
                Err(error) => stream::once(async { Err(error) }).boxed(),
                Ok(batches) => {
                    let of = of.clone();
                    let rows = move |batch: RecordBatch| partition_stats::rows(&of, &batch, &schema).map_err(external);
                    batches.map(move |batch| batch.and_then(&rows)).boxed()
                }
            },
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("table", self.table.ident()).finish_non_exhaustive()
    }
}

impl PartitionStream for Source {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), self.batches(context)))
    }
}

fn through_datafusion(
    batches: impl futures::Stream<Item = Result<RecordBatch>> + Send + 'static,
) -> BoxStream<'static, datafusion::common::Result<RecordBatch>> {
    batches.map_err(external).boxed()
}

/// `rows` is the number of rows where there are no columns.
fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let rows = columns.first().map_or(rows, |column| column.len());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).context(|| "read a metadata table")
}

impl Scope {
    /// The snapshots whose manifest lists are read.
    fn snapshots(&self, table: &Table) -> BoxStream<'static, SnapshotRef> {
        let snapshots = match self {
            Self::Snapshot(snapshot) => snapshot.iter().cloned().collect(),
            Self::All => log::by_time(table),
        };
        stream::iter(snapshots).boxed()
    }

    /// The manifests in the lists, each once.
    fn manifests(&self, table: Table) -> BoxStream<'static, Result<ManifestFile>> {
        let snapshots = self.snapshots(&table);
        let mut seen = HashSet::new();
        let lists = snapshots.then(move |snapshot| {
            let table = table.clone();
            async move { table.manifests(&snapshot).await }
        });
        let fresh = move |list: Arc<Vec<ManifestFile>>| {
            let fresh = list.iter().filter(|m| seen.insert(m.manifest_path.clone())).cloned();
            stream::iter(fresh.map(Ok).collect::<Vec<_>>())
        };
        lists.map_ok(fresh).try_flatten().boxed()
    }
}

/// Batches of the lines of those manifests that `has` asks for: live lines or all.
fn lines(
    table: Table,
    manifests: BoxStream<'static, Result<ManifestFile>>,
    has: impl Fn(&ManifestFile) -> bool + Send + 'static,
    live: bool,
    schema: SchemaRef,
    array: impl Fn(&[Row], &Arc<Field>) -> Result<ArrayRef> + Send + Sync + 'static,
) -> impl futures::Stream<Item = Result<RecordBatch>> + Send + 'static {
    let size = batch_rows(&schema);
    let array = Arc::new(array);
    let wanted = manifests.try_filter(move |manifest| std::future::ready(has(manifest)));
    let read = wanted.map_ok(move |manifest| {
        let table = table.clone();
        let spec_id = manifest.partition_spec_id;
        let task =
            async move { SpawnedTask::spawn(async move { table.entries_once(&manifest, None).await }).join().await };
        async move { Ok((spec_id, task.await.map_err(Error::internal)??)) }
    });
    let batches = move |(spec_id, entries): (i32, Arc<Vec<ManifestEntryRef>>)| {
        let (schema, array) = (schema.clone(), array.clone());
        let starts = (0..entries.len()).step_by(size);
        let part = move |start: usize| {
            let lines = entries.iter().skip(start).take(size).filter(|entry| !live || entry.is_alive());
            let rows: Vec<Row> = lines.map(|entry| Row { entry: entry.clone(), spec_id }).collect();
            let columns = schema.fields().iter().map(|field| array(&rows, field)).collect::<Result<_>>()?;
            batch(&schema, columns, rows.len())
        };
        stream::iter(starts.map(part))
    };
    read.try_buffered(READ_AHEAD).map_ok(batches).try_flatten()
}

/// How many rows make a batch of moderate size.
fn batch_rows(schema: &SchemaRef) -> usize {
    let values = schema.flattened_fields().len().max(1);
    (BATCH_VALUES / values).clamp(16, 8192)
}

/// One of the columns of `$entries`.
fn entry(columns: &FileColumns, rows: &[Row], name: &str, data_type: &ArrowType) -> Result<ArrayRef> {
    let longs = |value: fn(&ManifestEntryRef) -> Option<i64>| {
        Arc::new(rows.iter().map(|row| value(&row.entry)).collect::<Int64Array>()) as ArrayRef
    };
    Ok(match name {
        "status" => Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| match row.entry.status() {
            ManifestStatus::Existing => 0,
            ManifestStatus::Added => 1,
            ManifestStatus::Deleted => 2,
        }))),
        "snapshot_id" => longs(|entry| entry.snapshot_id()),
        "sequence_number" => longs(|entry| entry.sequence_number()),
        "file_sequence_number" => longs(|entry| entry.file_sequence_number),
        "data_file" => {
            let ArrowType::Struct(fields) = data_type else { return Err(Error::internal("no struct")) };
            let parts = fields.iter().map(|field| columns.array(rows, field.name(), field.data_type()));
            let parts: Result<_> = parts.collect();
            Arc::new(StructArray::try_new(fields.clone(), parts?, None).map_err(Error::internal)?)
        }
        name => columns.array(rows, name, data_type)?,
    })
}
