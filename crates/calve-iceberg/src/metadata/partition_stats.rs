//! `$partitions`: what the live files of a snapshot add up to, by partition and partition spec.
//!
//! DataFusion groups the lines of the manifests, so that millions of partitions spill to disk where memory ends. A partition
//! takes its values and eight numbers.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int32Array, Int64Array, RecordBatch, StructArray, TimestampMicrosecondArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Field, Int64Type, Schema, SchemaRef};
use calve_types::arrow::UTC;
use calve_types::{DataType, Error, LogicalType, Result};
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::provider_as_source;
use datafusion::functions_aggregate::expr_fn::{max, sum};
use datafusion::logical_expr::{LogicalPlanBuilder, ident};
use datafusion::physical_plan::ExecutionPlan;
use iceberg::spec::{DataContentType, DataFile, SnapshotRef};

use super::column;
use super::files::Row;
use super::partition_column::PartitionColumn;
use crate::table::Table;

/// The columns.
///
/// # Errors
/// As [`PartitionColumn`].
pub(super) fn columns(table: &Table) -> Result<Vec<(String, DataType)>> {
    use LogicalType::{BigInt, Int};
    let partition = PartitionColumn::new(table)?;
    let mut columns = vec![];
    if !partition.is_empty() {
        columns.push(("partition".to_owned(), partition.data_type()?));
        columns.push(column(SPEC, Int, false));
    }
    columns.extend([
        column("record_count", BigInt, false),
        column("file_count", Int, false),
        column("total_data_file_size_in_bytes", BigInt, false),
        column("position_delete_record_count", BigInt, false),
        column("position_delete_file_count", Int, false),
        column("equality_delete_record_count", BigInt, false),
        column("equality_delete_file_count", Int, false),
        column("last_updated_at", LogicalType::TimestampLtz(6), true),
        column("last_updated_snapshot_id", BigInt, true),
    ]);
    Ok(columns)
}

/// What is summed up, by the name of its column.
const SUMS: [&str; 7] = [
    "record_count",
    "file_count",
    "total_data_file_size_in_bytes",
    "position_delete_record_count",
    "position_delete_file_count",
    "equality_delete_record_count",
    "equality_delete_file_count",
];

/// The column of the partition spec. Partitions of two specs are two, though their values be the same.
const SPEC: &str = "spec_id";

/// The column that says which commit a line came by: the higher, the later.
const COMMIT: &str = "commit";

/// One line for each live file: the values of its partition as columns `0`, `1`, .., its spec, what counts, and its commit.
#[derive(Debug)]
pub(super) struct Lines {
    partition: PartitionColumn,
    /// Snapshots by time.
    snapshots: Vec<SnapshotRef>,
    /// By snapshot id, its place in `snapshots`.
    places: HashMap<i64, i64>,
    schema: SchemaRef,
}

impl Lines {
    /// # Errors
    /// As [`PartitionColumn`].
    pub fn new(table: &Table) -> Result<Self> {
        let partition = PartitionColumn::new(table)?;
        let mut snapshots: Vec<SnapshotRef> = table.metadata().snapshots().cloned().collect();
        snapshots.sort_by_key(|s| (s.timestamp_ms(), s.sequence_number(), s.snapshot_id()));
        let places = snapshots.iter().zip(0..).map(|(snapshot, at)| (snapshot.snapshot_id(), at)).collect();
        let mut fields = vec![];
        if !partition.is_empty() {
            let data_type = calve_types::arrow::to_arrow(&partition.data_type()?.logical)?;
            let ArrowType::Struct(parts) = data_type else { return Err(Error::internal("no struct")) };
            fields.extend(
                parts.iter().enumerate().map(|(at, f)| Field::new(at.to_string(), f.data_type().clone(), true)),
            );
            fields.push(Field::new(SPEC, ArrowType::Int32, false));
        } else {
            // one group of all files, and none without files
            fields.push(Field::new("0", ArrowType::Int32, true));
        }
        fields.extend(SUMS.map(|name| Field::new(name, ArrowType::Int64, false)));
        fields.push(Field::new(COMMIT, ArrowType::Int64, true));
        Ok(Self { partition, snapshots, places, schema: Arc::new(Schema::new(fields)) })
    }

    /// The lines' columns.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// One of the columns.
    ///
    /// # Errors
    /// `internal` for a name that is not among them.
    pub fn array(&self, rows: &[Row], name: &str, data_type: &ArrowType) -> Result<ArrayRef> {
        if let Ok(field) = name.parse::<usize>() {
            if self.partition.is_empty() {
                return Ok(Arc::new(Int32Array::from_iter_values(rows.iter().map(|_| 0))));
            }
            return self.partition.values(field, rows.iter().map(|r| (r.spec_id, r.entry.data_file())), data_type);
        }
        if name == SPEC {
            return Ok(Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.spec_id))));
        }
        if name == COMMIT {
            return Ok(Arc::new(rows.iter().map(|row| self.commit(row)).collect::<Int64Array>()));
        }
        use DataContentType::{Data, EqualityDeletes, PositionDeletes};
        let long = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let of = |content: DataContentType, value: &dyn Fn(&DataFile) -> i64| {
            let value = |file: &DataFile| if file.content_type() == content { value(file) } else { 0 };
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| value(row.entry.data_file())))) as ArrayRef
        };
        Ok(match name {
            "record_count" => of(Data, &|f| long(f.record_count())),
            "file_count" => of(Data, &|_| 1),
            "total_data_file_size_in_bytes" => of(Data, &|f| long(f.file_size_in_bytes())),
            "position_delete_record_count" => of(PositionDeletes, &|f| long(f.record_count())),
            "position_delete_file_count" => of(PositionDeletes, &|_| 1),
            "equality_delete_record_count" => of(EqualityDeletes, &|f| long(f.record_count())),
            "equality_delete_file_count" => of(EqualityDeletes, &|_| 1),
            other => return Err(Error::internal(format!("no column '{other}' in the lines of $partitions"))),
        })
    }

    /// The snapshot that brought a file, by time; `None` if it is gone.
    fn commit(&self, row: &Row) -> Option<i64> {
        self.places.get(&row.entry.snapshot_id()?).copied()
    }
}

/// A plan that adds up [`Lines`].
///
/// # Errors
/// DataFusion's.
pub(super) async fn plan(
    state: &dyn Session,
    lines: Arc<dyn TableProvider>,
) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
    let schema = lines.schema();
    let is_key = |name: &&String| *name == SPEC || name.parse::<usize>().is_ok();
    let keys: Vec<_> = schema.fields().iter().map(|f| f.name()).filter(is_key).map(ident).collect();
    let mut numbers: Vec<_> = SUMS.iter().map(|name| sum(ident(*name)).alias(*name)).collect();
    numbers.push(max(ident(COMMIT)).alias(COMMIT));
    let plan = LogicalPlanBuilder::scan("lines", provider_as_source(lines), None)?.aggregate(keys, numbers)?.build()?;
    state.create_physical_plan(&plan).await
}

/// The rows of `$partitions` from those of [`plan`], with the columns of `schema`.
///
/// # Errors
/// `internal` if the batch has not the columns of the plan.
pub(super) fn rows(lines: &Lines, added_up: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let number = |name: &str| {
        let column = added_up.column_by_name(name).and_then(|c| c.as_primitive_opt::<Int64Type>());
        column.ok_or_else(|| Error::internal(format!("no sum '{name}'")))
    };
    let snapshots: Vec<Option<&SnapshotRef>> =
        number(COMMIT)?.iter().map(|c| lines.snapshots.get(usize::try_from(c?).ok()?)).collect();
    let column = |field: &Arc<Field>| -> Result<ArrayRef> {
        Ok(match field.name().as_str() {
            "partition" => {
                let ArrowType::Struct(parts) = field.data_type() else { return Err(Error::internal("no struct")) };
                let columns = added_up.columns().get(..lines.partition.len()).unwrap_or_default().to_vec();
                Arc::new(StructArray::try_new(parts.clone(), columns, None).map_err(Error::internal)?)
            }
            SPEC => {
                let specs = added_up.column_by_name(SPEC).cloned();
                specs.ok_or_else(|| Error::internal("no spec of a partition"))?
            }
            "last_updated_at" => {
                let times = snapshots.iter().map(|s| s.map(|s| s.timestamp_ms().saturating_mul(1000)));
                Arc::new(times.collect::<TimestampMicrosecondArray>().with_timezone(UTC))
            }
            "last_updated_snapshot_id" => {
                Arc::new(snapshots.iter().map(|s| s.map(|s| s.snapshot_id())).collect::<Int64Array>())
            }
            name => cast(number(name)?, field.data_type()).map_err(Error::internal)?,
        })
    };
    let columns: Vec<ArrayRef> = schema.fields().iter().map(column).collect::<Result<_>>()?;
    let options = arrow::record_batch::RecordBatchOptions::new().with_row_count(Some(added_up.num_rows()));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(Error::internal)
}
