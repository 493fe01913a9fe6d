//! DataFusion's Parquet reader, with the deletes of every file applied.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use calve_types::Error;
use datafusion::common::config::{ConfigOptions, TableParquetOptions};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result as DfResult, ScalarValue, internal_err};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetAccessPlan;
use datafusion::datasource::physical_plan::{
    FileOpenFuture, FileOpener, FileScanConfig, FileScanConfigBuilder, FileSource, ParquetFileMetrics, ParquetSource,
};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::{ProjectionExpr, ProjectionExprs};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{PhysicalExpr, conjunction};
use datafusion::physical_plan::DisplayFormatType;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use iceberg::spec::DataFileFormat;
use object_store::ObjectStore;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

use super::access::live_rows;
use super::adapter::{FileColumns, FileName};
use super::context::{Columns, ScanContext};
use super::counters::Counters;
use super::deletes::KeyDeletes;
use super::guard::guarded_batches;
use super::layout::Layout;
use super::literal::{primitive, scalar};
use super::plan::FileTask;
use super::predicate::is_prunable;
use super::reader::{self, KnownFooter};
use super::rows::{self, Filler, rows_to_read};
use super::{external, formats};

/// Reads data files of one table. Every file is opened by a Parquet opener of its own, which finds columns by field id,
/// skips deleted positions, and reads the key columns of the equality deletes that may hit the file.
#[derive(Clone)]
pub(crate) struct DeleteAwareSource {
    context: Arc<ScanContext>,
    columns: Arc<Columns>,
    /// The table's columns, as DataFusion knows them.
    schema: TableSchema,
    /// Over `columns`, all of them, without a filter.
    parquet: ParquetSource,
    projection: ProjectionExprs,
    filter: Option<Arc<dyn PhysicalExpr>>,
}

impl DeleteAwareSource {
    pub(crate) fn new(
        context: Arc<ScanContext>,
        columns: Arc<Columns>,
        schema: SchemaRef,
        mut options: TableParquetOptions,
    ) -> Self {
        // old engines wrote timestamps as INT96; nanoseconds of 64 bits would not reach all their years
        options.global.coerce_int96 = Some("us".to_owned());
        // decoding the columns of a filter first costs more than it saves unless the filter is selective and clustered
        options.global.pushdown_filters = false;
        let parquet = ParquetSource::new(columns.schema.clone()).with_table_parquet_options(options);
        let all: Vec<usize> = (0..schema.fields().len()).collect();
        let projection = ProjectionExprs::from_indices(&all, &schema);
        Self { context, columns, schema: TableSchema::from_file_schema(schema), parquet, projection, filter: None }
    }

    /// Of a decimal that a file keeps in bytes, DataFusion 53 asks the bloom filter for 16 bytes, whatever their number in
    /// the file: it would miss rows.
    fn is_about_decimals(&self, filter: &Arc<dyn PhysicalExpr>) -> bool {
        let fields = self.columns.schema.fields();
        let is_decimal = |column: &Column| fields.get(column.index()).is_some_and(|f| f.data_type().is_decimal());
        collect_columns(filter).iter().any(is_decimal)
    }

    /// An expression over the table's columns as one over `columns`.
    fn by_id(&self, expr: Arc<dyn PhysicalExpr>) -> DfResult<Arc<dyn PhysicalExpr>> {
        let fields = self.columns.schema.fields();
        expr.transform_up(|e| {
            let Some(index) = e.as_any().downcast_ref::<Column>().map(Column::index) else {
                return Ok(Transformed::no(e));
            };
            match fields.get(index) {
                Some(field) => Ok(Transformed::yes(Arc::new(Column::new(field.name(), index)) as _)),
                None => internal_err!("no column {index} in the scan"),
            }
        })
        .data()
    }
}

impl FileSource for DeleteAwareSource {
    fn create_file_opener(
        &self,
        _: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> DfResult<Arc<dyn FileOpener>> {
        let filter = self.filter.clone().map(|filter| self.by_id(filter)).transpose()?;
        let mut parquet = self.parquet.clone();
        if filter.as_ref().is_some_and(|filter| self.is_about_decimals(filter)) {
            let mut options = parquet.table_parquet_options().clone();
            options.global.bloom_filter_on_read = false;
            parquet = parquet.with_table_parquet_options(options);
        }
        Ok(Arc::new(Opener {
            context: self.context.clone(),
            columns: self.columns.clone(),
            parquet,
            filter,
            projection: self.projection.clone().try_map_exprs(|e| self.by_id(e))?,
            url: config.object_store_url.clone(),
            limit: config.limit,
            partition,
            counters: Counters::new(self.metrics(), partition),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn table_schema(&self) -> &TableSchema {
        &self.schema
    }

    fn with_batch_size(&self, rows: usize) -> Arc<dyn FileSource> {
        let sized = self.parquet.with_batch_size(rows);
        match sized.as_any().downcast_ref::<ParquetSource>() {
            Some(parquet) => Arc::new(Self { parquet: parquet.clone(), ..self.clone() }),
            None => Arc::new(self.clone()),
        }
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.filter.clone()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.projection)
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        self.parquet.metrics()
    }

    fn file_type(&self) -> &str {
        "iceberg"
    }

    fn fmt_extra(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.filter, kind) {
            (None, _) => Ok(()),
            (Some(filter), DisplayFormatType::TreeRender) => writeln!(f, "predicate={filter}"),
            (Some(filter), _) => write!(f, ", predicate={filter}"),
        }
    }

    /// Columns only: the error of a computation must not look like that of a file.
    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> DfResult<Option<Arc<dyn FileSource>>> {
        if !projection.iter().all(|p| p.expr.as_any().is::<Column>()) {
            return Ok(None);
        }
        let projection = self.projection.try_merge(projection)?;
        Ok(Some(Arc::new(Self { projection, ..self.clone() })))
    }

    /// Filters only prune; they stay above the scan as well.
    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> DfResult<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let answer = FilterPushdownPropagation::with_parent_pushdown_result(vec![PushedDown::No; filters.len()]);
        let schema = self.schema.table_schema();
        // nothing is known of columns about rows before the rows are read
        let known = |f: &Arc<dyn PhysicalExpr>| self.columns.are_of_table(&collect_columns(f));
        let useful: Vec<_> = filters.into_iter().filter(|f| is_prunable(f, schema) && known(f)).collect();
        if useful.is_empty() {
            return Ok(answer);
        }
        let filter = Some(conjunction(self.filter.iter().cloned().chain(useful)));
        Ok(answer.with_updated_node(Arc::new(Self { filter, ..self.clone() }) as _))
    }
}

struct Opener {
    context: Arc<ScanContext>,
    columns: Arc<Columns>,
    /// Without the filter.
    parquet: ParquetSource,
    filter: Option<Arc<dyn PhysicalExpr>>,
    projection: ProjectionExprs,
    url: ObjectStoreUrl,
    limit: Option<usize>,
    partition: usize,
    counters: Counters,
}

impl FileOpener for Opener {
    fn open(&self, mut file: PartitionedFile) -> DfResult<FileOpenFuture> {
        let Some(task) = file.extensions.take().and_then(|e| e.downcast::<FileTask>().ok()) else {
            return internal_err!("a file without its task in an Iceberg scan");
        };
        let work = Open {
            context: self.context.clone(),
            columns: self.columns.clone(),
            parquet: self.parquet.clone(),
            filter: self.filter.clone(),
            projection: self.projection.clone(),
            url: self.url.clone(),
            limit: self.limit,
            partition: self.partition,
            counters: self.counters.clone(),
            task,
        };
        Ok(Box::pin(work.run(file)))
    }
}

/// Opening one file.
pub(super) struct Open {
    pub(super) context: Arc<ScanContext>,
    pub(super) columns: Arc<Columns>,
    /// Without the filter.
    parquet: ParquetSource,
    filter: Option<Arc<dyn PhysicalExpr>>,
    pub(super) projection: ProjectionExprs,
    url: ObjectStoreUrl,
    limit: Option<usize>,
    partition: usize,
    pub(super) counters: Counters,
    pub(super) task: Arc<FileTask>,
}

impl Open {
    async fn run(self, mut file: PartitionedFile) -> DfResult<BoxStream<'static, DfResult<RecordBatch>>> {
        if self.task.file().file_format() != DataFileFormat::Parquet {
            return formats::open(self, file.range.as_ref()).await;
        }
        let (context, task) = (&self.context, &self.task);
        let mut reader = reader::open(context.table.io(), task.file()).map_err(external)?;
        let footer = task.footer(&mut reader).await.map_err(external)?;
        let deleted = task.deletes.positions(context, task.file().file_path(), task.sequence);
        let deleted = deleted.await.map_err(external)?;
        self.counters.opened(task, deleted.len());
        let mut live: Option<ParquetAccessPlan> = None;
        if !deleted.is_empty() || task.row_groups().is_some() {
            live = live_rows(&footer, &deleted, task.row_groups());
            if live.is_none() {
                return Ok(futures::stream::empty().boxed());
            }
        }
        for keys in &task.deletes.keys {
            keys.table(context).await.map_err(external)?;
        }

        let mut projection = self.projection.as_ref().to_vec();
        let columns = projection.len();
        let key_columns = self.add_key_columns(&mut projection).map_err(external)?;
        let has_keys = !key_columns.is_empty();
        let (layout, stored) = self.layout(&footer)?;
        let version = context.table.metadata().format_version();
        let filler = Filler::new(&self.columns, &projection, task, version);
        let (mut parquet, mut rows) = (self.parquet.clone(), None);
        match &self.filter {
            _ if filler.as_ref().is_some_and(Filler::needs_positions) => {
                let metrics = ParquetFileMetrics::new(self.partition, task.file().file_path(), parquet.metrics());
                let filter = self.filter.as_ref().map(|f| (f, &layout as _, &self.columns.schema));
                let (plan, numbered) =
                    rows_to_read(&footer, live, file.range.take().as_ref(), filter, &stored, &metrics)?;
                (live, rows) = (Some(plan), Some(numbered));
            }
            Some(filter) => parquet = parquet.with_predicate(filter.clone()),
            None => {}
        }
        file.extensions = live.map(|plan| Arc::new(plan) as _);
        let parquet = parquet.with_parquet_file_reader_factory(Arc::new(KnownFooter { reader, footer }));
        let Some(parquet) = parquet.try_pushdown_projection(&ProjectionExprs::new(projection))? else {
            return internal_err!("the Parquet reader takes no projection");
        };
        let config = FileScanConfigBuilder::new(self.url.clone(), parquet.clone())
            // rows deleted by key are counted only after the Parquet reader
            .with_limit(self.limit.filter(|_| !has_keys))
            // DataFusion 53 forgets row selections when it cuts row groups by a limit; it does not cut in this mode
            .with_preserve_order(true)
            .with_expr_adapter(Some(Arc::new(layout)))
            .build();
        let opener = parquet.create_file_opener(context.table.io().object_store(), &config, self.partition)?;
        let data = task.clone();
        let batches = match opener.open(file)?.await {
            Ok(batches) => {
                let batches = guarded_batches(task.file().clone(), batches);
                batches.map_err(move |e| reader::named(data.file(), e)).boxed()
            }
            Err(error) => return Err(reader::named(task.file(), error)),
        };
        let batches = match filler {
            None => batches,
            Some(filler) => batches.map(move |batch| filler.fill(&batch?, rows.as_mut()).map_err(external)).boxed(),
        };
        let (context, counters) = (self.context.clone(), self.counters.clone());
        Ok(LiveRows { context, task: task.clone(), columns, key_columns, counters }.of(batches))
    }

    /// Appends the key columns of the file's equality deletes to a projection; their places, for every set of deletes.
    pub(super) fn add_key_columns(&self, projection: &mut Vec<ProjectionExpr>) -> Result<Vec<Vec<usize>>, Error> {
        let mut places: HashMap<i32, usize> = HashMap::new();
        let mut all = Vec::with_capacity(self.task.deletes.keys.len());
        for keys in &self.task.deletes.keys {
            let mut columns = Vec::with_capacity(keys.ids.len());
            for id in &keys.ids {
                let index = self.columns.index(*id)?;
                let place = *places.entry(*id).or_insert_with(|| {
                    let name = self.columns.schema.field(index).name();
                    projection.push(ProjectionExpr::new(Arc::new(Column::new(name, index)), format!("{name} key")));
                    projection.len() - 1
                });
                columns.push(place);
            }
            all.push(columns);
        }
        Ok(all)
    }

    /// How columns are found in the file, and the file's columns.
    fn layout(&self, footer: &Arc<parquet::file::metadata::ParquetMetaData>) -> DfResult<(FileColumns, SchemaRef)> {
        let stored = ArrowReaderMetadata::try_new(footer.clone(), Default::default())
            .map_err(|e| external(reader::unreadable(self.task.file(), &e)))?;
        let table = &self.context.table;
        let layout = Layout::new(stored.schema(), self.context.mapping.as_ref(), table.metadata().current_schema());
        let mut constants = self.partition_constants();
        constants.extend(rows::constants(&self.task));
        let columns = FileColumns {
            columns: self.columns.clone(),
            layout: Arc::new(layout),
            constants,
            file: FileName(self.task.entry.clone()),
        };
        Ok((columns, stored.schema().clone()))
    }

    /// The values of the file's identity partition fields by the ids of their sources.
    pub(super) fn partition_constants(&self) -> HashMap<i32, ScalarValue> {
        let metadata = self.context.table.metadata();
        let Some(spec) = metadata.partition_spec_by_id(self.task.spec_id) else { return HashMap::new() };
        let values = self.task.file().partition().fields();
        let identity =
            spec.fields().iter().zip(values).filter(|(f, _)| f.transform == iceberg::spec::Transform::Identity);
        identity
            .filter_map(|(field, value)| {
                let index = self.columns.index(field.source_id).ok()?;
                let (target, of) = (self.columns.schema.field(index), self.columns.fields.get(index)?);
                let value = match value {
                    None => ScalarValue::try_from(target.data_type()).ok()?,
                    Some(value) => scalar(primitive(value)?, of.field_type.as_primitive_type()?, target.data_type())?,
                };
                Some((field.source_id, value))
            })
            .collect()
    }
}

/// Drops rows that equality deletes hit, and the key columns.
pub(super) struct LiveRows {
    pub(super) context: Arc<ScanContext>,
    pub(super) task: Arc<FileTask>,
    pub(super) columns: usize,
    pub(super) key_columns: Vec<Vec<usize>>,
    pub(super) counters: Counters,
}

impl LiveRows {
    /// The rows of a file that live.
    pub(super) fn of(
        self,
        batches: BoxStream<'static, DfResult<RecordBatch>>,
    ) -> BoxStream<'static, DfResult<RecordBatch>> {
        if self.key_columns.is_empty() {
            return batches;
        }
        let live = Arc::new(self);
        batches
            .and_then(move |batch| {
                let live = live.clone();
                async move { live.filter(&batch).await.map_err(external) }
            })
            .try_filter(|batch| futures::future::ready(batch.num_rows() > 0))
            .boxed()
    }

    async fn filter(&self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        let failed = |e: &dyn fmt::Display| Error::internal(format!("applying equality deletes: {e}"));
        let mut live: Option<arrow::array::BooleanArray> = None;
        for (deletes, places) in self.task.deletes.keys.iter().zip(&self.key_columns) {
            let keys: Vec<_> = places.iter().filter_map(|i| batch.columns().get(*i)).cloned().collect();
            let more = KeyDeletes::table(deletes, &self.context).await?.live(&keys, self.task.sequence)?;
            live = match (live, more) {
                (Some(a), Some(b)) => Some(arrow::compute::and(&a, &b).map_err(|e| failed(&e))?),
                (a, b) => a.or(b),
            };
        }
        let visible: Vec<usize> = (0..self.columns).collect();
        let batch = batch.project(&visible).map_err(|e| failed(&e))?;
        match live {
            None => Ok(batch),
            Some(live) => {
                let kept = filter_record_batch(&batch, &live).map_err(|e| failed(&e))?;
                self.counters.deleted_by_key(batch.num_rows().saturating_sub(kept.num_rows()));
                Ok(kept)
            }
        }
    }
}
