//! Some columns of data files, one file at a time, with the position of every row and without deleted rows: how a writer
//! looks for rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::RecordBatch;
use calve_types::{Error, Result};
use datafusion::common::Result as DfResult;
use datafusion::common::config::TableParquetOptions;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileOpener, FileScanConfigBuilder, FileSource};
use futures::stream::BoxStream;
use object_store::ObjectMeta;

use super::context::{Columns, ScanContext};
use super::plan::FileTask;
use super::rows::{RowColumn, row_fields};
use super::source::DeleteAwareSource;

/// Reads columns of data files of one table.
pub(crate) struct KeyRows {
    context: Arc<ScanContext>,
    opener: Arc<dyn FileOpener>,
}

/// Batches of the columns and `_pos` (`BIGINT`).
pub(crate) type Rows = BoxStream<'static, DfResult<RecordBatch>>;

impl KeyRows {
    /// For the columns of the table's current schema with these field ids, in this order, of any file of `tasks`.
    ///
    /// # Errors
    /// `commit-conflict` if the table does not have such a column any more; as [`Columns::new`].
    pub(crate) fn new(context: &Arc<ScanContext>, tasks: &[Arc<FileTask>], ids: &[i32]) -> Result<Self> {
        let table = &context.table;
        let fields = table.metadata().current_schema().as_struct().fields();
        let mut projection = Vec::with_capacity(ids.len() + 1);
        for id in ids {
            let found = fields.iter().position(|field| field.id == *id);
            projection.push(found.ok_or_else(|| {
                Error::new("commit-conflict", format!("a key column of table '{}' was dropped", table.ident()))
                    .with_hint("run the statement again")
            })?);
        }
        projection.push(fields.len());
        let schema = row_fields(table, &[RowColumn::Position])?;
        let keys: BTreeSet<i32> = tasks.iter().flat_map(|t| &t.deletes.keys).flat_map(|k| &k.ids).copied().collect();
        let columns = Columns::new(table, &[RowColumn::Position], &keys)?;
        let parquet = TableParquetOptions::default();
        let source = DeleteAwareSource::new(context.clone(), Arc::new(columns), Arc::new(schema), parquet);
        let source = source.with_batch_size(BATCH);
        let failed = |e| Error::internal(format!("read keys: {e}"));
        let config = FileScanConfigBuilder::new(table.io().object_store_url(), source)
            .with_projection_indices(Some(projection))
            .map_err(failed)?
            .build();
        let opener = config.file_source().create_file_opener(table.io().object_store(), &config, 0).map_err(failed)?;
        Ok(Self { context: context.clone(), opener })
    }

    /// The rows of a file in their order.
    ///
    /// # Errors
    /// What reading the file and its deletes meets, like the stream.
    pub(crate) async fn open(&self, task: Arc<FileTask>) -> DfResult<Rows> {
        let location = self.context.table.io().object_path(task.file().file_path()).map_err(super::external)?;
        let size = task.file().file_size_in_bytes();
        let meta = ObjectMeta { location, last_modified: Default::default(), size, e_tag: None, version: None };
        let file = PartitionedFile::new_from_meta(meta).with_extensions(task);
        Ok(Box::pin(self.opener.open(file)?.await?))
    }
}

/// Rows of a batch.
const BATCH: usize = 8_192;
