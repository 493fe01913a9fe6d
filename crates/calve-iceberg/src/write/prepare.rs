//! The checks before the first row, and the writer that has passed them.

use std::sync::Arc;

use calve_types::{Error, Result};
use datafusion::execution::SendableRecordBatchStream;
use iceberg::spec::{FormatVersion, NestedFieldRef, Transform};

use super::file::FileKind;
use super::job::{Job, WriteProgress};
use super::live::DeleteTargets;
use super::location::Locations;
use super::omitted::OmittedDeletes;
use super::options::{DistributionMode, WriteOptions};
use super::output::Written;
use super::partition::Partitioner;
use super::position_deletes::no_deletes_in_v1;
use super::route;
use super::upload::Uncommitted;
use super::upsert::{Upsert, key_columns};
use crate::catalog::create::is_avro_name;
use crate::table::Table;

impl Job {
    /// Gives rows of the table's current schema their partition under its default spec.
    ///
    /// # Errors
    /// As [`Partitioner::new`].
    pub(crate) fn partitioner(&self) -> Result<Partitioner> {
        let metadata = self.table.metadata();
        let schema = metadata.current_schema();
        Partitioner::new(metadata.default_partition_spec(), schema, schema.as_struct().fields())
    }
}

/// An INSERT that has passed all checks.
pub struct Writer {
    table: Table,
    options: WriteOptions,
    kind: Arc<FileKind>,
    pub(crate) key: Vec<NestedFieldRef>,
    pub(crate) key_columns: Vec<usize>,
    upsert: Option<Upsert>,
    prepared_on: Option<i64>,
}

/// Checks an INSERT into `table` and prepares its writers. Without upsert no row of the table is looked at.
///
/// # Errors
/// `upsert-without-key`, `partition-not-in-key`, `upsert-format-v1` and `invalid-option` for what Flink refuses (specification of its sink,
/// with its own sentences as details), `not-supported`, `not-a-branch`, `invalid-table`; `io` if manifests cannot be read.
pub async fn prepare(table: &Table, options: WriteOptions) -> Result<Writer> {
    check(table, &options)?;
    let metadata = table.metadata();
    let schema = metadata.current_schema();
    let (key, columns) = key_columns(schema, &options.key)?;
    let head = table.branch_head(&options.branch)?;
    let upsert = if options.upsert {
        let spec = metadata.default_partition_spec();
        let targets = DeleteTargets::load(table, head.map(AsRef::as_ref), spec, &key, options.equality_deletes).await?;
        Some(Upsert {
            key: key.clone(),
            kind: Arc::new(FileKind::equality_deletes(table, &options, key.clone())?),
            targets: Arc::new(targets),
        })
    } else {
        None
    };
    Ok(Writer {
        table: table.clone(),
        kind: Arc::new(FileKind::data(table, &options)?),
        key,
        key_columns: columns,
        upsert,
        prepared_on: head.map(|snapshot| snapshot.snapshot_id()),
        options,
    })
}

/// The checks of an INSERT that need the table's metadata alone.
///
/// # Errors
/// As [`prepare`], but `io`.
pub fn check(table: &Table, options: &WriteOptions) -> Result<()> {
    let metadata = table.metadata();
    let schema = metadata.current_schema();
    check_distribution(table, options)?;
    check_upsert(table, options)?;
    if options.overwrite {
        return Err(Error::unsupported("INSERT OVERWRITE of an Iceberg table"));
    }
    if let Some(field) = metadata.default_partition_spec().fields().iter().find(|f| !is_avro_name(&f.name)) {
        return Err(Error::unsupported(format!(
            "partition field '{}': its name is not a name in Avro manifests",
            field.name
        )));
    }
    key_columns(schema, &options.key)?;
    Locations::new(table)?;
    Partitioner::new(metadata.default_partition_spec(), schema, schema.as_struct().fields())?;
    table.branch_head(&options.branch)?;
    Ok(())
}

/// Flink's `FlinkSink.distributeDataStream`.
fn check_distribution(table: &Table, options: &WriteOptions) -> Result<()> {
    let metadata = table.metadata();
    let spec = metadata.default_partition_spec();
    match options.distribution {
        DistributionMode::Hash if options.is_keyed() && !spec.is_unpartitioned() => {
            check_partition_in_key(table, options, |column, field, key| {
                format!(
                    "In 'hash' distribution mode with equality fields set, source column '{column}' of partition \
                     field '{field}' should be included in equality fields: '{key}'"
                )
            })
        }
        DistributionMode::Range
            if !options.is_keyed() && spec.is_unpartitioned() && metadata.default_sort_order().is_unsorted() =>
        {
            Err(Error::new("invalid-option", "distribution mode 'range' needs a sort order or a partition spec")
                .with_detail("Invalid write distribution mode: range. Need to define sort order or partition spec.")
                .with_hint("use 'distribution-mode' = 'none'"))
        }
        _ => Ok(()),
    }
}

/// Flink's `FlinkSink.Builder.appendWriter`.
fn check_upsert(table: &Table, options: &WriteOptions) -> Result<()> {
    if !options.upsert {
        return Ok(());
    }
    if options.overwrite {
        return Err(Error::new("invalid-option", "an INSERT cannot both overwrite partitions and upsert")
            .with_detail("OVERWRITE mode shouldn't be enable when configuring to use UPSERT data stream.")
            .with_hint("set 'upsert-enabled' = 'false' in an OPTIONS hint, or use INSERT INTO"));
    }
    if !options.is_keyed() {
        return Err(Error::new(
            "upsert-without-key",
            format!("upsert into table '{}' without a primary key", table.ident()),
        )
        .with_detail("Equality field columns shouldn't be empty when configuring to use UPSERT data stream.")
        .with_hint("create the table with PRIMARY KEY (...) NOT ENFORCED, or set 'upsert-enabled' = 'false'"));
    }
    check_partition_in_key(table, options, |column, field, key| {
        format!(
            "In UPSERT mode, source column '{column}' of partition field '{field}', should be included in equality \
             fields: '{key}'"
        )
    })?;
    if table.metadata().format_version() == FormatVersion::V1 {
        return Err(no_deletes_in_v1());
    }
    Ok(())
}

/// The partition of a deleted row must follow from its key.
fn check_partition_in_key(
    table: &Table,
    options: &WriteOptions,
    sentence: impl Fn(&str, &str, &str) -> String,
) -> Result<()> {
    let schema = table.metadata().current_schema();
    let fields = table.metadata().default_partition_spec().fields().iter();
    let missing = fields.filter(|f| f.transform != Transform::Void).find(|f| !options.key.contains(&f.source_id));
    let Some(field) = missing else { return Ok(()) };
    let column = schema.name_by_field_id(field.source_id).unwrap_or("?");
    let shown = format!("{}: {}: {}({})", field.field_id, field.name, field.transform, field.source_id);
    let key: Vec<&str> = options.key.iter().filter_map(|id| schema.name_by_field_id(*id)).collect();
    Err(Error::new("partition-not-in-key", format!("partition column '{column}' is not part of the primary key"))
        .with_detail(sentence(column, &shown, &format!("[{}]", key.join(", "))))
        .with_hint(
            "put the partition columns into the primary key: the partition of a replaced row must follow from it",
        ))
}

impl Writer {
    /// Writes all rows of `input`, whose batches have the types of [`crate::schema::to_arrow`]. Rows with a primary
    /// key are taken in the order in which they come. A column more has kinds of changes, all alike in a batch: 0 for rows
    /// that come, 3 for rows with keys of which none is left, and none is among the rows that come. With upsert the older
    /// rows with those keys are deleted.
    ///
    /// # Errors
    /// Errors of the input; `io`; `null-in-not-null` and `invalid-value` for rows that cannot be written. Every file
    /// is deleted then, as it is if the future is dropped.
    pub async fn write(self, input: SendableRecordBatchStream, progress: Arc<WriteProgress>) -> Result<Written> {
        let files = Uncommitted::new(self.table.io().clone());
        let result = self.write_files(input, progress, &files).await;
        if result.is_err() {
            files.delete().await;
        }
        result
    }

    async fn write_files(
        self,
        input: SendableRecordBatchStream,
        progress: Arc<WriteProgress>,
        files: &Uncommitted,
    ) -> Result<Written> {
        let (head, input) = route::head(input, self.options.writers).await?;
        let job = Arc::new(Job {
            table: self.table.clone(),
            options: self.options.clone(),
            locations: Locations::new(&self.table)?,
            files: files.clone(),
            progress,
            writers: if input.is_some() { self.options.writers.max(1) } else { 1 },
        });
        let output = route::run(&job, &self.kind, &self, self.upsert.as_ref(), head, input).await?;
        if !(output.data.is_empty() && output.deletes.is_empty()) {
            files.sync_folders(job.locations.data_folder()).await?;
        }
        let omitted = (!output.omitted.is_empty()).then(|| {
            Arc::new(OmittedDeletes {
                prepared_on: self.prepared_on,
                options: self.options.clone(),
                table: self.table.clone(),
                spec_id: self.table.metadata().default_partition_spec_id(),
                files: output.omitted,
            })
        });
        Ok(Written {
            data: output.data,
            deletes: output.deletes,
            rows: output.rows,
            equality_deletes: output.equality_deletes,
            position_deletes: output.position_deletes,
            omitted,
            files: files.clone(),
        })
    }
}
