//! The checks before the first row, and the writer that has passed them.

use std::sync::Arc;

use calve_types::{Error, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use iceberg::spec::{FormatVersion, NestedFieldRef, PartitionSpec, Transform};

use super::change::what_comes;
use super::file::FileKind;
use super::find::{PositionUpsert, Wanted};
use super::job::{Job, WriteProgress};
use super::keys::KeyEncoder;
use super::last_of_key::last_of_key;
use super::live::DeleteTargets;
use super::location::Locations;
use super::omitted::OmittedDeletes;
use super::options::{DistributionMode, EqualityDeletes, UpsertMode, WriteOptions};
use super::output::Written;
use super::partition::Partitioner;
use super::position_deletes::no_deletes_in_v1;
use super::route::{self, from_input};
use super::sort_key::SortKey;
use super::upload::Uncommitted;
use super::upsert::{Upsert, key_columns};
use crate::error::external;
use crate::manifest;
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
    pub(crate) encoder: Arc<KeyEncoder>,
    upsert: Option<Upsert>,
    /// How rows of older commits are taken back without upsert.
    pub(crate) retract: Option<Upsert>,
    prepared_on: Option<i64>,
    /// Whether the rows of every file are in the table's sort order. Rows of a key stay in the order in which they came.
    sorted: bool,
    /// Whose memory and temporary files everything takes.
    pub(crate) context: Arc<TaskContext>,
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
    let upsert = if options.upsert && options.upsert_mode == UpsertMode::Equality {
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
    let mut kind = FileKind::data(table, &options)?;
    let order = metadata.default_sort_order();
    let sorted = !order.is_unsorted() && (options.overwrite || !options.is_keyed());
    if sorted {
        kind.sort_order_id = i32::try_from(order.order_id).unwrap_or_default();
    }
    Ok(Writer {
        table: table.clone(),
        kind: Arc::new(kind),
        encoder: Arc::new(KeyEncoder::new(&key)?),
        key,
        key_columns: columns,
        upsert,
        retract: None,
        prepared_on: head.map(|snapshot| snapshot.snapshot_id()),
        sorted,
        context: Arc::default(),
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
    // what calve does not write in the files' format
    FileKind::data(table, options)?;
    manifest::writable(metadata.default_partition_spec())?;
    key_columns(schema, &options.key)?;
    Locations::new(table)?;
    Partitioner::new(metadata.default_partition_spec(), schema, schema.as_struct().fields())?;
    SortKey::new(metadata.default_partition_spec(), metadata.default_sort_order(), schema)?;
    table.branch_head(&options.branch)?;
    Ok(())
}

/// Flink's `FlinkSink.distributeDataStream`.
fn check_distribution(table: &Table, options: &WriteOptions) -> Result<()> {
    let metadata = table.metadata();
    let spec = metadata.default_partition_spec();
    match options.distribution {
        // rows go to writers by key
        _ if options.is_keyed() && options.replaces_by_position() => Ok(()),
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
    if options.upsert_mode == UpsertMode::Position {
        return match table.metadata().format_version() {
            FormatVersion::V1 => Err(no_deletes_in_v1(options)),
            // the older row of a key is found in whatever partition it is
            _ => Ok(()),
        };
    }
    check_partition_in_key(table, options, |column, field, key| {
        format!(
            "In UPSERT mode, source column '{column}' of partition field '{field}', should be included in equality \
             fields: '{key}'"
        )
    })?;
    if table.metadata().format_version() == FormatVersion::V1 {
        return Err(no_deletes_in_v1(options));
    }
    Ok(())
}

/// The way out where a partition does not follow from the key.
const IN_KEY: &str =
    "put the partition columns into the primary key: the partition of a replaced row must follow from it";

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
        .with_hint(match options.upsert && table.metadata().format_version() > FormatVersion::V1 {
            true => format!("{IN_KEY}. Or set 'calve.upsert.mode' = 'position', which looks for it in all partitions"),
            false => IN_KEY.to_owned(),
        }))
}

impl Writer {
    /// Works within the memory of `context`, and on its disks. Without this, it takes what memory it needs.
    pub fn with_context(mut self, context: Arc<TaskContext>) -> Self {
        self.context = context;
        self
    }

    /// The order in which rows are written, partition by partition; `None` for the order in which they come.
    ///
    /// # Errors
    /// As [`SortKey::new`].
    pub(crate) fn sort_key(&self) -> Result<Option<SortKey>> {
        let metadata = self.table.metadata();
        if !self.sorted {
            return Ok(None);
        }
        SortKey::new(metadata.default_partition_spec(), metadata.default_sort_order(), metadata.current_schema())
    }

    /// The order of the ranges of writers: the table's sort order, else its partition fields (Flink's
    /// `FlinkSink.distributeDataStreamByRangeDistributionMode`).
    ///
    /// # Errors
    /// As [`SortKey::new`].
    pub(crate) fn range_key(&self) -> Result<Option<SortKey>> {
        let metadata = self.table.metadata();
        let order = metadata.default_sort_order();
        let spec = match order.is_unsorted() {
            true => metadata.default_partition_spec().as_ref(),
            false => &PartitionSpec::unpartition_spec(),
        };
        SortKey::new(spec, order, metadata.current_schema())
    }

    /// The last row of every key, in an overwrite of a table with a primary key; a key whose last change takes its row away
    /// has none.
    async fn one_row_per_key(&self, input: SendableRecordBatchStream) -> Result<SendableRecordBatchStream> {
        let schema = input.schema();
        let width = self.table.metadata().current_schema().as_struct().fields().len();
        let rows =
            last_of_key(Box::pin(input.map(|rows| rows.map_err(from_input))), self.key_columns.clone(), &self.context);
        let rows = rows.await?.map(move |rows| rows.and_then(|rows| what_comes(rows, width)).map_err(external));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    /// Prepares for changes in the order in which they happen: rows of older commits are taken back. Without this a row that
    /// goes is taken back only if it came in the same INSERT, or if its key is deleted by an upsert.
    ///
    /// # Errors
    /// `upsert-format-v1`; as [`prepare`].
    pub async fn with_changes(mut self) -> Result<Self> {
        if self.key.is_empty() || self.options.upsert {
            return Ok(self);
        }
        let table = &self.table;
        if table.metadata().format_version() == FormatVersion::V1 {
            return Err(no_deletes_in_v1(&self.options));
        }
        let columns = table.metadata().current_schema().as_struct().fields().to_vec();
        let head = table.branch_head(&self.options.branch)?.map(AsRef::as_ref);
        let spec = table.metadata().default_partition_spec();
        let targets = DeleteTargets::load(table, head, spec, &columns, EqualityDeletes::Always).await?;
        self.retract = Some(Upsert {
            kind: Arc::new(FileKind::equality_deletes(table, &self.options, columns.clone())?),
            key: columns,
            targets: Arc::new(targets),
        });
        Ok(self)
    }

    /// Whether older rows are found by their keys and deleted by position.
    pub(crate) fn by_position(&self) -> bool {
        self.options.replaces_by_position()
    }

    /// Writes all rows of `input`, whose batches have the types of [`crate::schema::to_arrow`]. Rows with a primary
    /// key are taken in the order in which they come. A column more has the kinds of changes as Flink numbers them: 0 for
    /// `INSERT`, 1 for `UPDATE_BEFORE`, 2 for `UPDATE_AFTER`, 3 for `DELETE`.
    ///
    /// # Errors
    /// Errors of the input; `io`; `out-of-memory`; `null-in-not-null` and `invalid-value` for rows that cannot be written. Every file
    /// is deleted then, as it is if the future is dropped.
    pub async fn write(self, input: SendableRecordBatchStream, progress: Arc<WriteProgress>) -> Result<Written> {
        let files = Uncommitted::new(&self.table);
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
        let one_row_per_key = self.options.overwrite && self.options.is_keyed();
        let input = if one_row_per_key { self.one_row_per_key(input).await? } else { input };
        let (head, input) = route::head(input, self.options.writers, &self.context).await?;
        let job = Arc::new(Job {
            table: self.table.clone(),
            options: self.options.clone(),
            locations: Locations::new(&self.table)?,
            files: files.clone(),
            progress,
            writers: if input.is_some() { self.options.writers.max(1) } else { 1 },
            context: self.context.clone(),
        });
        let mut output = route::run(&job, &self.kind, &self, self.upsert.as_ref(), head, input).await?;
        if !(output.data.is_empty() && output.deletes.is_empty()) {
            files.sync_folders(job.locations.data_folder()).await?;
        }
        let (mut found, mut removed) = (None, Vec::new());
        if self.by_position() {
            let finder = PositionUpsert {
                prepared_on: self.prepared_on,
                options: self.options.clone(),
                table: self.table.clone(),
                wanted: Arc::new(Wanted { key: self.key, encoder: self.encoder, keys: output.keys }),
                own: output.deletes.clone(),
                context: self.context.clone(),
            };
            let deleted = finder.delete(&self.table, files).await?;
            output.deletes.extend(deleted.files);
            output.position_deletes += deleted.rows;
            (found, removed) = (Some(Arc::new(finder)), deleted.removed);
        }
        let omitted = (!output.omitted.is_empty()).then(|| {
            Arc::new(OmittedDeletes {
                prepared_on: self.prepared_on,
                options: self.options.clone(),
                table: self.table.clone(),
                spec_id: self.table.metadata().default_partition_spec_id(),
                files: output.omitted,
                context: self.context.clone(),
            })
        });
        Ok(Written {
            data: output.data,
            deletes: output.deletes,
            rows: output.rows,
            equality_deletes: output.equality_deletes,
            position_deletes: output.position_deletes,
            omitted,
            found,
            removed,
            overwrite: self.options.overwrite,
            files: files.clone(),
        })
    }
}
