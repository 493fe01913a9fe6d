//! A scan that tells how many rows it has: joins choose their sides by that.

use std::any::Any;
use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::common::stats::Precision;
use datafusion::common::{Result as DfResult, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

use super::listing::DataFile;
use super::parquet;

/// Files whose footers are read to count rows; those of more files are estimated by their size.
const COUNTED_FILES: usize = 32;

/// Bytes of a value that is no number, about.
const TEXT: usize = 16;

/// The rows of Parquet files, about. `None` if it cannot be told; why not is told by whoever reads them.
pub(crate) fn rows(files: &[DataFile]) -> Option<usize> {
    let total: u64 = files.iter().map(|file| file.size).sum();
    let (mut rows, mut bytes) = (0u64, 0u64);
    for file in files.iter().take(COUNTED_FILES) {
        rows = rows.checked_add(parquet::rows(&file.path)?)?;
        bytes += file.size;
    }
    let all = u128::from(rows) * u128::from(total) / u128::from(bytes.max(1));
    usize::try_from(all).ok()
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Sized {
    scan: Arc<dyn ExecutionPlan>,
    rows: usize,
}

impl Sized {
    pub fn new(scan: Arc<dyn ExecutionPlan>, rows: usize) -> Self {
        Self { scan, rows }
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
        let parts = match partition {
            Some(_) => self.properties().output_partitioning().partition_count().max(1),
            None => 1,
        };
        let mut statistics = Statistics::new_unknown(&self.schema());
        statistics.num_rows = Precision::Inexact(self.rows / parts);
        let width: usize = self.schema().fields().iter().map(|f| f.data_type().primitive_width().unwrap_or(TEXT)).sum();
        statistics.total_byte_size = Precision::Inexact((self.rows / parts).saturating_mul(width));
        Ok(statistics)
    }

    fn fetch(&self) -> Option<usize> {
        self.scan.fetch()
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        let scan = self.scan.with_fetch(limit)?;
        Some(Arc::new(Self { scan, rows: self.rows }))
    }

    fn try_swapping_with_projection(&self, projection: &ProjectionExec) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let swapped = self.scan.try_swapping_with_projection(projection)?;
        Ok(swapped.map(|scan| Arc::new(Self { scan, rows: self.rows }) as _))
    }
}
