//! Columns that say where a row lies: its file, its position in the file, its row id.
//!
//! They follow the table's columns. `_file` and `_spec_id` are constants of a file. Positions come from the rows a file is
//! read for: what is skipped is decided here, before the reader starts, and the reader skips nothing on its own, so that
//! its n-th row is the n-th one of the plan.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Int64Type, Schema as ArrowSchema, SchemaRef};
use calve_types::{Error, Result};
use datafusion::catalog::TableProvider;
use datafusion::common::{Result as DfResult, ScalarValue};
use datafusion::datasource::listing::FileRange;
use datafusion::datasource::physical_plan::ParquetFileMetrics;
use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess, RowGroupAccessPlanFilter};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExpr;
use datafusion::physical_expr_adapter::PhysicalExprAdapterFactory;
use datafusion::physical_optimizer::pruning::PruningPredicate;
use iceberg::spec::{FormatVersion, NestedField, NestedFieldRef, PrimitiveType, Type};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::context::{Columns, plain_field};
use super::options::ScanOptions;
use super::plan::FileTask;
use super::provider::IcebergScan;
use crate::table::Table;

/// A column about a row rather than of it (Iceberg spec, "Reserved Field IDs" and "Row Lineage").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowColumn {
    /// `_file STRING NOT NULL`: the location of the data file, as the table's metadata spells it.
    File,
    /// `_pos BIGINT NOT NULL`: the position of the row in its file, from 0, deleted rows counted.
    Position,
    /// `_spec_id INT NOT NULL`: the partition spec of the file.
    SpecId,
    /// `_row_id BIGINT`: the row id of format version 3; NULL in files that have none yet, as in older versions.
    RowId,
    /// `_last_updated_sequence_number BIGINT`: the sequence number of the commit that last changed the row; NULL where
    /// [`RowColumn::RowId`] is.
    LastUpdated,
}

impl RowColumn {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::File, Self::Position, Self::SpecId, Self::RowId, Self::LastUpdated];

    /// The column's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "_file",
            Self::Position => "_pos",
            Self::SpecId => "_spec_id",
            Self::RowId => "_row_id",
            Self::LastUpdated => "_last_updated_sequence_number",
        }
    }

    /// The column's reserved field id.
    pub fn field_id(self) -> i32 {
        match self {
            Self::File => i32::MAX - 1,
            Self::Position => i32::MAX - 2,
            Self::SpecId => i32::MAX - 4,
            Self::RowId => i32::MAX - 107,
            Self::LastUpdated => i32::MAX - 108,
        }
    }

    /// The column as a field that a data file may have: only row ids and sequence numbers are ever stored.
    pub fn field(self) -> NestedFieldRef {
        let of = match self {
            Self::File => PrimitiveType::String,
            Self::SpecId => PrimitiveType::Int,
            Self::Position | Self::RowId | Self::LastUpdated => PrimitiveType::Long,
        };
        Arc::new(NestedField::optional(self.field_id(), self.name(), Type::Primitive(of)))
    }

    fn by_id(id: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.field_id() == id)
    }
}

/// The rows of one snapshot as [`super::provider`] gives them, with `columns` behind the table's columns.
///
/// # Errors
/// As [`super::provider`]; `not-supported` for a table with a column of the name of one of them.
pub fn provider_with(table: Table, options: ScanOptions, columns: &[RowColumn]) -> Result<Arc<dyn TableProvider>> {
    check_names(&table, columns)?;
    Ok(Arc::new(IcebergScan::new(table, options, columns)?))
}

fn check_names(table: &Table, columns: &[RowColumn]) -> Result<()> {
    let fields = table.metadata().current_schema().as_struct().fields();
    let taken = columns.iter().find(|column| fields.iter().any(|field| field.name == column.name()));
    match taken {
        None => Ok(()),
        Some(column) => {
            Err(Error::unsupported(format!("a table with a column '{}' where rows are looked for", column.name()))
                .with_hint("rename the column: Iceberg reserves its name"))
        }
    }
}

/// The values a file has for all its rows, by field id.
pub(crate) fn constants(task: &FileTask) -> [(i32, ScalarValue); 2] {
    [
        (RowColumn::File.field_id(), ScalarValue::Utf8(Some(task.file().file_path().to_owned()))),
        (RowColumn::SpecId.field_id(), ScalarValue::Int32(Some(task.spec_id))),
    ]
}

/// The columns to fill in what the reader of a file gives: NULL in them stands for what the file does not store.
#[derive(Debug, Clone)]
pub(crate) struct Filler {
    /// Places in a batch.
    columns: Vec<(usize, RowColumn)>,
    first_row_id: Option<i64>,
    sequence: i64,
}

impl Filler {
    /// For batches of `projection`, which is over `columns`; `None` if there is nothing to fill.
    pub(crate) fn new(
        columns: &Columns,
        projection: &[ProjectionExpr],
        task: &FileTask,
        version: FormatVersion,
    ) -> Option<Self> {
        let filled: Vec<_> = projection
            .iter()
            .enumerate()
            .filter_map(|(place, projected)| {
                let index = projected.expr.as_any().downcast_ref::<Column>()?.index();
                let column = RowColumn::by_id(columns.fields.get(index)?.id)?;
                (!matches!(column, RowColumn::File | RowColumn::SpecId)).then_some((place, column))
            })
            .collect();
        let first_row_id = task.file().first_row_id().filter(|_| version >= FormatVersion::V3);
        (!filled.is_empty()).then_some(Self { columns: filled, first_row_id, sequence: task.sequence })
    }

    /// Whether it takes the positions of rows.
    pub(crate) fn needs_positions(&self) -> bool {
        self.columns.iter().any(|(_, column)| match column {
            RowColumn::Position => true,
            RowColumn::RowId => self.first_row_id.is_some(),
            _ => false,
        })
    }

    /// Fills the columns of the next batch, whose rows lie at the next places of `rows`.
    ///
    /// # Errors
    /// Internal: batches of another shape, more rows than there are positions.
    pub(crate) fn fill(&self, batch: &RecordBatch, rows: Option<&mut RowsToRead>) -> Result<RecordBatch> {
        let positions = rows.map(|rows| rows.next(batch.num_rows())).transpose()?;
        let mut arrays = batch.columns().to_vec();
        for (place, column) in &self.columns {
            let Some(array) = arrays.get_mut(*place) else {
                return Err(Error::internal("a batch without its columns"));
            };
            let missing = || Error::internal("rows without positions");
            match (column, self.first_row_id) {
                (RowColumn::Position, _) => *array = Arc::new(positions.clone().ok_or_else(missing)?),
                (RowColumn::RowId, Some(first)) => {
                    let positions = positions.as_ref().ok_or_else(missing)?;
                    *array = or_else(array, |row| positions.values().get(row).and_then(|p| first.checked_add(*p)))?;
                }
                (RowColumn::LastUpdated, Some(_)) => *array = or_else(array, |_| Some(self.sequence))?,
                _ => {}
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(batch.schema(), arrays, &options).map_err(Error::internal)
    }
}

/// The array with other values in place of NULL.
fn or_else(array: &ArrayRef, other: impl Fn(usize) -> Option<i64>) -> Result<ArrayRef> {
    let stored = array.as_primitive_opt::<Int64Type>().ok_or_else(|| Error::internal("a row id that is no number"))?;
    let values = (0..stored.len()).map(|row| if stored.is_null(row) { other(row) } else { Some(stored.value(row)) });
    Ok(Arc::new(values.collect::<Int64Array>()))
}

/// The positions of the rows that are read from a file, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowsToRead {
    /// Ascending; what was taken is gone.
    runs: std::collections::VecDeque<Range<u64>>,
}

impl RowsToRead {
    /// The rows at these positions, which ascend.
    pub(crate) fn of_runs(runs: impl IntoIterator<Item = Range<u64>>) -> Self {
        Self { runs: runs.into_iter().collect() }
    }

    /// The rows of a plan.
    fn of_plan(plan: &ParquetAccessPlan, groups: &[RowGroupMetaData]) -> Self {
        let mut runs = std::collections::VecDeque::<Range<u64>>::new();
        let mut add = |run: Range<u64>| match runs.back_mut() {
            Some(last) if last.end == run.start => last.end = run.end,
            _ if run.is_empty() => {}
            _ => runs.push_back(run),
        };
        let mut start = 0_u64;
        for (access, group) in plan.inner().iter().zip(groups) {
            let end = start.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0));
            match access {
                RowGroupAccess::Skip => {}
                RowGroupAccess::Scan => add(start..end),
                RowGroupAccess::Selection(selection) => {
                    let mut next = start;
                    for selector in selection.iter() {
                        let after = next.saturating_add(selector.row_count as u64);
                        if !selector.skip {
                            add(next..after);
                        }
                        next = after;
                    }
                }
            }
            start = end;
        }
        Self { runs }
    }

    /// The positions of the next `count` rows.
    fn next(&mut self, count: usize) -> Result<Int64Array> {
        let mut positions = Vec::with_capacity(count);
        while positions.len() < count {
            let missing = (count - positions.len()) as u64;
            let Some(run) = self.runs.front_mut() else {
                return Err(Error::internal("a file gave more rows than were asked for"));
            };
            let end = run.end.min(run.start.saturating_add(missing));
            positions.extend((run.start..end).map(|position| position as i64));
            run.start = end;
            if run.is_empty() {
                self.runs.pop_front();
            }
        }
        Ok(positions.into())
    }
}

/// What to read of a file: all that `live` leaves, in row groups that begin in `range` and that the filter does not rule
/// out. The reader gets neither the range nor the filter.
///
/// # Errors
/// An error of the filter's adaption to the file.
pub(crate) fn rows_to_read(
    footer: &ParquetMetaData,
    live: Option<ParquetAccessPlan>,
    range: Option<&FileRange>,
    filter: Option<(&Arc<dyn PhysicalExpr>, &dyn PhysicalExprAdapterFactory, &SchemaRef)>,
    physical: &SchemaRef,
    metrics: &ParquetFileMetrics,
) -> DfResult<(ParquetAccessPlan, RowsToRead)> {
    let groups = footer.row_groups();
    let mut plan = live.unwrap_or_else(|| ParquetAccessPlan::new_all(groups.len()));
    if let Some(range) = range {
        for (index, group) in groups.iter().enumerate() {
            let first = group.columns().first();
            let offset = first.map(|c| c.dictionary_page_offset().unwrap_or_else(|| c.data_page_offset()));
            if !range.contains(offset.unwrap_or_default()) {
                plan.skip(index);
            }
        }
    }
    if let Some((filter, adapter, logical)) = filter {
        let filter = adapter.create(logical.clone(), physical.clone())?.rewrite(filter.clone())?;
        // a filter that nothing can be concluded from rules out nothing
        if let Ok(predicate) = PruningPredicate::try_new(filter, physical.clone()) {
            let mut kept = RowGroupAccessPlanFilter::new(plan);
            let parquet = footer.file_metadata().schema_descr();
            kept.prune_by_statistics(physical.as_ref(), parquet, groups, &predicate, metrics);
            plan = kept.build();
        }
    }
    let rows = RowsToRead::of_plan(&plan, groups);
    Ok((plan, rows))
}

/// The columns of a scan of the table with `columns` behind them.
///
/// # Errors
/// `not-supported` for columns of types that Flink does not have.
pub(crate) fn row_fields(table: &Table, columns: &[RowColumn]) -> Result<ArrowSchema> {
    let own = table.metadata().current_schema().as_struct().fields();
    let mut fields = own.iter().map(plain_field).collect::<Result<Vec<_>>>()?;
    for column in columns {
        let required = matches!(column, RowColumn::File | RowColumn::Position | RowColumn::SpecId);
        fields.push(plain_field(&column.field())?.with_nullable(!required));
    }
    Ok(ArrowSchema::new(fields))
}
