//! Equality deletes that were not needed when an upsert was prepared, but may be when it is committed.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use async_trait::async_trait;
use calve_types::{Error, Result};
use datafusion::execution::TaskContext;
use futures::TryStreamExt;
use iceberg::spec::NestedFieldRef;

use super::delta::EqualityWriter;
use super::file::FileKind;
use super::job::{Job, WriteProgress};
use super::live::DeleteTargets;
use super::location::Locations;
use super::options::{EqualityDeletes, WriteOptions};
use super::partition::Partition;
use super::upload::Uncommitted;
use super::upsert::{Upsert, key_columns};
use crate::commit::{CompleteDeletes, Completed, NewFile};
use crate::scan::columns_of;
use crate::table::Table;

/// Data files of an upsert with keys for which no equality delete was written, because no live row could have them in
/// the snapshot the writer was prepared on.
#[derive(Debug)]
pub struct OmittedDeletes {
    pub(crate) prepared_on: Option<i64>,
    pub(crate) options: WriteOptions,
    pub(crate) table: Table,
    pub(crate) spec_id: i32,
    pub(crate) files: Vec<NewFile>,
    /// The statement's, whose memory it takes.
    pub(crate) context: Arc<TaskContext>,
}

#[async_trait]
impl CompleteDeletes for OmittedDeletes {
    fn prepared_on(&self) -> Option<i64> {
        self.prepared_on
    }

    /// Deletes every key of the files, whatever `base` holds: the commit may have to be tried on yet another version.
    /// That is what Flink writes from the start, and it hits only rows older than the commit.
    async fn complete(&self, base: &Table) -> Result<Completed> {
        let files = Uncommitted::new(&self.table);
        match self.write(base, &files).await {
            Ok(deletes) => {
                files.keep();
                Ok(Completed { deletes, ..Completed::default() })
            }
            Err(error) => {
                files.delete().await;
                Err(error)
            }
        }
    }
}

impl OmittedDeletes {
    async fn write(&self, base: &Table, files: &Uncommitted) -> Result<Vec<NewFile>> {
        let metadata = self.table.metadata();
        let (key, _) = key_columns(metadata.current_schema(), &self.options.key)?;
        let spec = metadata
            .partition_spec_by_id(self.spec_id)
            .ok_or_else(|| Error::internal("the partition spec of written files is gone"))?;
        let head = base.branch_head(&self.options.branch)?;
        let targets = DeleteTargets::load(base, head.map(AsRef::as_ref), spec, &key, EqualityDeletes::Always).await?;
        let upsert = Upsert {
            kind: Arc::new(FileKind::equality_deletes(&self.table, &self.options, key.clone())?),
            key,
            targets: Arc::new(targets),
        };
        let job = Arc::new(Job {
            table: self.table.clone(),
            options: self.options.clone(),
            locations: Locations::new(&self.table)?,
            files: files.clone(),
            progress: Arc::new(WriteProgress::default()),
            writers: 1,
            context: self.context.clone(),
        });
        let mut writer = EqualityWriter::new(&job, &upsert, 0)?;
        for file in &self.files {
            // data files lie in folders by partition; their deletes only need a name of their own
            let partition = Arc::new(Partition {
                spec_id: file.spec_id,
                values: file.file.partition().clone(),
                path: String::new(),
            });
            let mut rows = columns_of(&self.table, None, &file.file, &upsert.key).await?;
            while let Some(columns) = rows.try_next().await? {
                writer.write(&key_rows(columns, &upsert.key)?, &partition).await?;
            }
        }
        let (written, _) = writer.finish().await?;
        files.sync_folders(job.locations.data_folder()).await?;
        Ok(written)
    }
}

/// Arrays of the key's columns as rows to write.
fn key_rows(columns: Vec<ArrayRef>, key: &[NestedFieldRef]) -> Result<RecordBatch> {
    let fields = key.iter().map(|column| crate::schema::arrow_field(column)).collect::<Result<Vec<_>>>()?;
    let schema = Arc::new(arrow::datatypes::Schema::new(fields));
    crate::error::Context::context(RecordBatch::try_new(schema, columns), || "read keys")
}
