//! An Iceberg table as a table of DataFusion.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use calve_types::Result;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::config::TableParquetOptions;
use datafusion::common::{DFSchema, Result as DfResult};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, FileSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::create_physical_expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::limit::GlobalLimitExec;
use iceberg::TableIdent;
use iceberg::spec::DataFileFormat;
use object_store::ObjectMeta;

use super::appends::plan_appends;
use super::context::{Columns, ScanContext};
use super::counters;
use super::external;
use super::options::{ScanOptions, Selected};
use super::plan::{FileTask, plan};
use super::prune::Pruner;
use super::rows::{RowColumn, row_fields};
use super::source::DeleteAwareSource;
use super::statistics::{first_rows, statistics};
use crate::table::Table;

/// No range of a file is smaller than this, in bytes: opening one has its price.
const MIN_RANGE: u64 = 8 << 20;

/// The rows of one snapshot in the table's current schema, deletes applied. The schema is that of
/// [`crate::schema::to_arrow`] without metadata, so that types are equal to those of `calve_types::arrow`.
///
/// # Errors
/// `not-supported` for columns of types that Flink does not have.
pub fn provider(table: Table, options: ScanOptions) -> Result<Arc<dyn TableProvider>> {
    Ok(Arc::new(IcebergScan::new(table, options, &[])?))
}

#[derive(Debug)]
pub(crate) struct IcebergScan {
    table: Table,
    options: ScanOptions,
    schema: SchemaRef,
    /// The last columns of the schema, which the table does not have.
    row_columns: Vec<RowColumn>,
}

#[async_trait]
impl TableProvider for IcebergScan {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Filters skip files and row groups; rows are always filtered above the scan.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        // the LIMIT of a query outranks the option
        let option_limit = self.options.limit.filter(|_| limit.is_none());
        let plan = self.files(state, projection, filters, limit.or(option_limit)).await?;
        Ok(match option_limit {
            None => plan,
            Some(rows) => Arc::new(GlobalLimitExec::new(Arc::new(CoalescePartitionsExec::new(plan)), 0, Some(rows))),
        })
    }
}

impl IcebergScan {
    /// # Errors
    /// As [`provider`].
    pub(crate) fn new(table: Table, options: ScanOptions, row_columns: &[RowColumn]) -> Result<Self> {
        let schema = Arc::new(row_fields(&table, row_columns)?);
        Ok(Self { table, options, schema, row_columns: row_columns.to_vec() })
    }

    async fn files(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let metadata = self.table.metadata();
        let pruner = match conjunction(filters.iter().cloned()) {
            None => None,
            Some(filter) => {
                let schema = DFSchema::try_from(self.schema.clone())?;
                // as it is: DataFusion 53 simplifies two IN lists of one column as if there were no NULL
                let filter = create_physical_expr(&filter, &schema, state.execution_props())?;
                Pruner::new(&filter, &self.schema, metadata)
            }
        };
        let mut files = match &self.options.selected {
            Selected::Snapshot(None) => Vec::new(),
            Selected::Snapshot(Some(snapshot)) => {
                plan(&self.table, snapshot, pruner.as_ref()).await.map_err(external)?
            }
            Selected::Appends(snapshots) => {
                plan_appends(&self.table, snapshots, pruner.as_ref()).await.map_err(external)?
            }
        };
        files.retain(|file| self.options.files.has(file.file().file_path()));
        let found = files.len();
        if let (Some(limit), []) = (limit, filters) {
            files = first_rows(files, limit);
        }
        let beyond = found.saturating_sub(files.len());
        if files.is_empty() {
            let schema = match projection {
                None => self.schema.clone(),
                Some(columns) => Arc::new(self.schema.project(columns)?),
            };
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let keys: BTreeSet<i32> = files.iter().flat_map(|f| &f.deletes.keys).flat_map(|k| &k.ids).copied().collect();
        let columns = Arc::new(Columns::new(&self.table, &self.row_columns, &keys).map_err(external)?);
        let context = Arc::new(ScanContext {
            table: self.table.clone(),
            mapping: self.options.mapping.clone(),
            pool: state.runtime_env().memory_pool.clone(),
        });
        let global = state.config_options().execution.parquet.clone();
        let options = TableParquetOptions { global, ..TableParquetOptions::default() };
        let fields = metadata.current_schema().as_struct().fields();
        let statistics = statistics(&self.schema, fields, &files, projection.map(Vec::as_slice));
        let source = DeleteAwareSource::new(context, columns, self.schema.clone(), options);
        let pruned = pruner.as_ref().map(Pruner::pruned).unwrap_or_default();
        counters::planned(source.metrics(), &name(self.table.ident()), files.len(), beyond, pruned);
        let partitions = state.config().target_partitions();
        let partitions = self.options.parallelism.map_or(partitions, |readers| readers.min(partitions));
        let groups = self.groups(files, partitions).map_err(external)?;
        let config = FileScanConfigBuilder::new(self.table.io().object_store_url(), Arc::new(source))
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_limit(limit)
            .with_projection_indices(projection.cloned())?
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }

    /// The files in at most `partitions` groups of about the same size; large files are cut.
    fn groups(&self, files: Vec<FileTask>, partitions: usize) -> Result<Vec<FileGroup>> {
        let partitions = partitions.max(1);
        let total: u64 = files.iter().map(|f| f.file().file_size_in_bytes()).fold(0, u64::saturating_add);
        let share = total.div_ceil(partitions as u64).max(MIN_RANGE);
        let mut pieces = Vec::with_capacity(files.len());
        for task in files {
            let size = task.file().file_size_in_bytes();
            let location = self.table.io().object_path(task.file().file_path())?;
            let meta = ObjectMeta { location, last_modified: Default::default(), size, e_tag: None, version: None };
            // a row group is read by the range it begins in; there is no use in more ranges than row groups
            let groups = task.file().split_offsets().map_or(usize::MAX, |offsets| offsets.len().max(1));
            // where a row of an Avro file lies is only known after all before it
            let whole = partitions == 1 || task.file().file_format() == DataFileFormat::Avro;
            let count = if whole { 1 } else { size.div_ceil(share).min(groups as u64).max(1) };
            let file = PartitionedFile::new_from_meta(meta).with_extensions(Arc::new(task));
            if count == 1 {
                pieces.push(file);
                continue;
            }
            let cut = |i: u64| i64::try_from(u128::from(size) * u128::from(i) / u128::from(count)).unwrap_or(i64::MAX);
            pieces.extend((0..count).map(|i| file.clone().with_range(cut(i), cut(i + 1))));
        }
        Ok(balance(pieces, partitions))
    }
}

/// `db.t`
fn name(table: &TableIdent) -> String {
    let database = table.namespace().as_ref().iter().map(String::as_str);
    database.chain([table.name()]).collect::<Vec<_>>().join(".")
}

/// Puts every piece, the largest first, into the group that is smallest so far. The order within a group is kept.
fn balance(pieces: Vec<PartitionedFile>, partitions: usize) -> Vec<FileGroup> {
    let count = partitions.min(pieces.len()).max(1);
    let mut order: Vec<(u64, usize)> = pieces.iter().enumerate().map(|(i, p)| (p.effective_size(), i)).collect();
    order.sort_unstable_by_key(|(size, i)| (Reverse(*size), *i));
    let mut smallest: BinaryHeap<Reverse<(u64, usize)>> = (0..count).map(|group| Reverse((0, group))).collect();
    let mut group_of = vec![0usize; pieces.len()];
    for (size, piece) in order {
        if let Some(Reverse((filled, group))) = smallest.pop() {
            if let Some(slot) = group_of.get_mut(piece) {
                *slot = group;
            }
            // an empty file has its price, too
            smallest.push(Reverse((filled.saturating_add(size.max(1)), group)));
        }
    }
    let mut groups: Vec<Vec<PartitionedFile>> = vec![Vec::new(); count];
    for (piece, group) in pieces.into_iter().zip(group_of) {
        if let Some(group) = groups.get_mut(group) {
            group.push(piece);
        }
    }
    groups.into_iter().map(FileGroup::new).collect()
}
