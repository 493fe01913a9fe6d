//! Equality deletes that were not needed when an upsert was prepared, but may be when it is committed.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::cast;
use async_trait::async_trait;
use calve_types::{Error, Result};
use futures::TryStreamExt;
use iceberg::spec::{DataFileFormat, NestedFieldRef};
use parquet::arrow::async_reader::{ParquetObjectReader, ParquetRecordBatchStreamBuilder};
use parquet::arrow::{PARQUET_FIELD_ID_META_KEY, ProjectionMask};

use super::delta::EqualityWriter;
use super::file::FileKind;
use super::job::{Job, WriteProgress};
use super::live::DeleteTargets;
use super::location::Locations;
use super::options::{EqualityDeletes, WriteOptions};
use super::partition::Partition;
use super::upload::{Uncommitted, from_parquet};
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
}

#[async_trait]
impl CompleteDeletes for OmittedDeletes {
    fn prepared_on(&self) -> Option<i64> {
        self.prepared_on
    }

    /// Deletes every key of the files, whatever `base` holds: the commit may have to be tried on yet another version.
    /// That is what Flink writes from the start, and it hits only rows older than the commit.
    async fn complete(&self, base: &Table) -> Result<Completed> {
        let files = Uncommitted::new(self.table.io().clone());
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
        });
        let mut writer = EqualityWriter::new(&job, &upsert, 0)?;
        for file in &self.files {
            // data files lie in folders by partition; their deletes only need a name of their own
            let partition = Arc::new(Partition {
                spec_id: file.spec_id,
                values: file.file.partition().clone(),
                path: String::new(),
            });
            let location = file.file.file_path();
            if file.file.file_format() != DataFileFormat::Parquet {
                let mut rows = columns_of(&self.table, None, &file.file, &upsert.key).await?;
                while let Some(columns) = rows.try_next().await? {
                    writer.write(&key_rows(columns, &upsert.key)?, &partition).await?;
                }
                continue;
            }
            let mut rows = read_keys(&self.table, location, &upsert.key).await?;
            while let Some(batch) = rows.try_next().await.map_err(|e| from_parquet(e, location))? {
                writer.write(&as_written(&batch, &upsert.key)?, &partition).await?;
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

type KeyRows = parquet::arrow::async_reader::ParquetRecordBatchStream<ParquetObjectReader>;

/// Reads the key columns of a file this job wrote.
async fn read_keys(table: &Table, location: &str, key: &[NestedFieldRef]) -> Result<KeyRows> {
    let store = table.io().object_store();
    let path = table.io().object_path(location)?;
    let reader = ParquetObjectReader::new(store, path);
    let builder = ParquetRecordBatchStreamBuilder::new(reader).await.map_err(|e| from_parquet(e, location))?;
    let leaves: Vec<usize> = (0_usize..)
        .zip(builder.parquet_schema().columns())
        .filter(|(_, column)| {
            let info = column.self_type().get_basic_info();
            info.has_id() && key.iter().any(|field| field.id == info.id())
        })
        .map(|(leaf, _)| leaf)
        .collect();
    let mask = ProjectionMask::leaves(builder.parquet_schema(), leaves);
    builder.with_projection(mask).build().map_err(|e| from_parquet(e, location))
}

/// The columns of the key in its order and in the types rows come in.
fn as_written(batch: &RecordBatch, key: &[NestedFieldRef]) -> Result<RecordBatch> {
    let by_id: HashMap<&str, &ArrayRef> = batch
        .schema_ref()
        .fields()
        .iter()
        .zip(batch.columns())
        .filter_map(|(field, array)| Some((field.metadata().get(PARQUET_FIELD_ID_META_KEY)?.as_str(), array)))
        .collect();
    let mut fields = Vec::with_capacity(key.len());
    let mut arrays = Vec::with_capacity(key.len());
    for column in key {
        let field = crate::schema::arrow_field(column)?;
        let array = by_id
            .get(column.id.to_string().as_str())
            .ok_or_else(|| Error::internal(format!("a data file lacks the key column '{}'", column.name)))?;
        let cast = cast(array, field.data_type());
        arrays.push(crate::error::Context::context(cast, || format!("read key column '{}'", column.name))?);
        fields.push(field);
    }
    let schema = Arc::new(arrow::datatypes::Schema::new(fields));
    crate::error::Context::context(RecordBatch::try_new(schema, arrays), || "read keys")
}
