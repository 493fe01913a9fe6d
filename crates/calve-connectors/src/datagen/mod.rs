//! `datagen`: rows made of sequences and random values.
//!
//! A random value depends on the seed, its column and its row alone: the columns that are read and the partitions they
//! are made in do not change it. Without `calve.seed` each statement has another seed, as in Flink.

mod generate;

use std::any::Any;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use async_trait::async_trait;
use calve_types::{Error, Result, arrow as mapping};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result as DfResult;
use datafusion::datasource::TableType;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};

use self::generate::Column;
use crate::builder::Builder;
use crate::options::{Options, Purpose};
use crate::{ConnectorContext, TableDefinition, check_bounded, external};

const BATCH_ROWS: u64 = 8192;
/// Fewer rows are made in one partition: they keep the order of their sequences.
const ROWS_OF_A_PARTITION: u64 = 100_000;

/// A table of made rows.
#[derive(Debug)]
pub(crate) struct DatagenTable {
    columns: Arc<Vec<Column>>,
    rows: u64,
    schema: SchemaRef,
}

impl DatagenTable {
    /// # Errors
    /// Options that Flink refuses; a table without end.
    pub fn new(table: &TableDefinition, context: &ConnectorContext) -> Result<Self> {
        let options = Options::new(table, Purpose::Read);
        let mut supported: Vec<String> =
            ["connector", "number-of-rows", "rows-per-second", "scan.parallelism", "calve.seed"]
                .map(str::to_owned)
                .into();
        let seed = match options.integer("calve.seed")? {
            Some(seed) => seed.cast_unsigned(),
            None => rand::random(),
        };
        let now = context.eval.statement_start;
        let mut columns = Vec::with_capacity(table.columns.len());
        for (index, (name, data_type)) in table.columns.iter().enumerate() {
            let seed = generate::mix(seed, index as u64);
            columns.push(Column::new(name, data_type, &options, seed, now, &mut supported)?);
        }
        options.check_names("datagen", supported, None)?;
        options.integer("rows-per-second")?;
        options.integer("scan.parallelism")?;
        let wanted = options.integer("number-of-rows")?;
        check_bounded(table, context)?;
        let ends = columns.iter().filter_map(Column::rows).min();
        let rows = match (wanted, ends) {
            (None, None) => {
                return Err(Error::unsupported(format!("table '{}' of connector 'datagen' without end", table.name))
                    .with_hint("set 'number-of-rows', or make a column a sequence with an end"));
            }
            (wanted, ends) => {
                let wanted = wanted.map_or(u64::MAX, |n| u64::try_from(n).unwrap_or(0));
                wanted.min(ends.unwrap_or(u64::MAX))
            }
        };
        let fields = table.columns.iter().map(|(name, t)| mapping::field(name, t)).collect::<Result<Vec<_>>>()?;
        Ok(Self { columns: Arc::new(columns), rows, schema: Arc::new(Schema::new(fields)) })
    }
}

#[async_trait]
impl TableProvider for DatagenTable {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let wanted: Arc<[usize]> = projection.cloned().unwrap_or_else(|| (0..self.columns.len()).collect()).into();
        let schema = Arc::new(self.schema.project(&wanted)?);
        let most = state.config().target_partitions().max(1) as u64;
        let count = (self.rows / ROWS_OF_A_PARTITION).clamp(1, most);
        let partitions = (0..count)
            .map(|n| {
                let at = |n: u64| u64::try_from(u128::from(self.rows) * u128::from(n) / u128::from(count)).unwrap_or(0);
                Arc::new(Rows {
                    columns: self.columns.clone(),
                    wanted: wanted.clone(),
                    schema: schema.clone(),
                    from: at(n),
                    to: at(n + 1),
                }) as Arc<dyn PartitionStream>
            })
            .collect();
        Ok(Arc::new(StreamingTableExec::try_new(schema, partitions, None, None, false, limit)?))
    }
}

/// The rows of one partition of the plan.
#[derive(Debug, Clone)]
struct Rows {
    columns: Arc<Vec<Column>>,
    wanted: Arc<[usize]>,
    schema: SchemaRef,
    from: u64,
    to: u64,
}

impl Rows {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.from >= self.to {
            return Ok(None);
        }
        let end = self.to.min(self.from + BATCH_ROWS);
        let mut arrays = Vec::with_capacity(self.wanted.len());
        for index in self.wanted.iter() {
            let Some(column) = self.columns.get(*index) else { return Err(Error::internal("no such column")) };
            let mut builder = Builder::new(column.logical())?;
            for row in self.from..end {
                column.append(row, &mut builder);
            }
            arrays.push(builder.finish()?);
        }
        let rows = usize::try_from(end - self.from).map_err(Error::internal)?;
        self.from = end;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options);
        batch.map(Some).map_err(|e| {
            Error::new("null-in-not-null", "a column that is NOT NULL has a null-rate").with_detail(e.to_string())
        })
    }
}

impl PartitionStream for Rows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let batches = futures::stream::unfold(self.clone(), |mut rows| async move {
            // long pulls must not keep other tasks waiting
            tokio::task::yield_now().await;
            rows.next_batch().map_err(external).transpose().map(|batch| (batch, rows))
        });
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), batches))
    }
}

#[cfg(test)]
mod tests;
