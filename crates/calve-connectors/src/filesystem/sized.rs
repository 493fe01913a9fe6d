//! A scan that tells how many rows it has, and between which integers: joins choose their sides by that.

use std::any::Any;
use std::fmt::{self, Formatter};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, Result as DfResult, ScalarValue, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

use super::listing::DataFile;
use super::parquet;

/// Files whose footers are read; what those of more files hold is estimated by their size.
const READ_FOOTERS: usize = 32;

/// Bytes of a value that is no number, about.
const TEXT: usize = 16;

/// What the footers of Parquet files tell of their rows, all of it an estimate. `None` if it cannot be told; why not is told
/// by whoever reads them.
pub(crate) fn statistics(files: &[DataFile], schema: &SchemaRef) -> Option<Statistics> {
    let total: u64 = files.iter().map(|file| file.size).sum();
    let mut bytes = 0u64;
    let mut read = Vec::new();
    for file in files.iter().take(READ_FOOTERS) {
        read.push(parquet::statistics(&file.path, schema)?);
        bytes += file.size;
    }
    let mut statistics = Statistics::try_merge_iter(&read, schema).ok()?.to_inexact();
    let rows = u128::try_from(*statistics.num_rows.get_value()?).ok()?;
    let rows = usize::try_from(rows * u128::from(total) / u128::from(bytes.max(1))).ok()?;
    let width: usize = schema.fields().iter().map(|f| f.data_type().primitive_width().unwrap_or(TEXT)).sum();
    statistics.num_rows = Precision::Inexact(rows);
    statistics.total_byte_size = Precision::Inexact(rows.saturating_mul(width));
    for column in &mut statistics.column_statistics {
        // joins are estimated by ranges of integers alone
        *column = integer_range(column).map_or_else(ColumnStatistics::new_unknown, |(least, most)| {
            ColumnStatistics::new_unknown()
                .with_min_value(Precision::Inexact(least))
                .with_max_value(Precision::Inexact(most))
        });
    }
    Some(statistics)
}

/// The range of a column of integers, unless it holds more values than DataFusion can count.
fn integer_range(column: &ColumnStatistics) -> Option<(ScalarValue, ScalarValue)> {
    let (least, most) = (column.min_value.get_value()?, column.max_value.get_value()?);
    let countable = least.data_type().is_integer()
        && least <= most
        && most.distance(least).is_some_and(|values| values < usize::MAX / 2);
    countable.then(|| (least.clone(), most.clone()))
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Sized {
    scan: Arc<dyn ExecutionPlan>,
    statistics: Statistics,
}

impl Sized {
    pub fn new(scan: Arc<dyn ExecutionPlan>, statistics: Statistics) -> Self {
        Self { scan, statistics }
    }
}

impl DisplayAs for Sized {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        self.scan.fmt_as(format, f)
    }
}

impl ExecutionPlan for Sized {
    fn name(&self) -> &str {
        self.scan.name()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.scan.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        self.scan.execute(partition, context)
    }

    fn partition_statistics(&self, partition: Option<usize>) -> DfResult<Statistics> {
        let mut statistics = self.statistics.clone();
        if partition.is_some() {
            let parts = self.properties().output_partitioning().partition_count().max(1);
            let share =
                |of: Precision<usize>| of.get_value().map_or(Precision::Absent, |n| Precision::Inexact(n / parts));
            statistics.num_rows = share(statistics.num_rows);
            statistics.total_byte_size = share(statistics.total_byte_size);
        }
        Ok(statistics)
    }

    fn fetch(&self) -> Option<usize> {
        self.scan.fetch()
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        let scan = self.scan.with_fetch(limit)?;
        Some(Arc::new(Self { scan, statistics: self.statistics.clone() }))
    }

    fn try_swapping_with_projection(&self, projection: &ProjectionExec) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let Some(scan) = self.scan.try_swapping_with_projection(projection)? else { return Ok(None) };
        let columns = projection.expr().iter().filter_map(|e| e.expr.as_any().downcast_ref::<Column>());
        let columns: Vec<usize> = columns.map(Column::index).collect();
        Ok(Some(Arc::new(Self { scan, statistics: self.statistics.clone().project(Some(&columns)) })))
    }
}
