//! Rows that stay in files that are written again.

use std::sync::Arc;

use arrow::array::{AsArray, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Int64Type;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use calve_types::{Error, Result};
use datafusion::execution::session_state::SessionState;
use datafusion::physical_plan::execute_stream;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};

use super::positions::RowsByFile;
use super::route::from_input;
use super::row_level::LINEAGE;
use crate::error::Context;
use crate::scan::{RowColumn, ScanOptions, provider_with};
use crate::table::Table;

/// The rows of the scan that are not among `gone`: the table's columns, and with `lineage` their ids and when they last
/// changed.
///
/// # Errors
/// What the table refuses; errors of reading come with the stream.
pub(super) async fn carried(
    table: &Table,
    scan: ScanOptions,
    gone: Arc<RowsByFile>,
    lineage: bool,
    state: &SessionState,
) -> Result<BoxStream<'static, Result<RecordBatch>>> {
    let width = table.metadata().current_schema().as_struct().fields().len();
    let mut columns = vec![RowColumn::File, RowColumn::Position];
    if lineage {
        columns.extend(LINEAGE);
    }
    let provider = provider_with(table.clone(), scan, &columns)?;
    let plan = provider.scan(state, None, &[], None).await.map_err(from_input)?;
    let rows = execute_stream(plan, state.task_ctx()).map_err(from_input)?;
    let kept: Vec<usize> = (0..width).chain(width + 2..width + columns.len()).collect();
    Ok(rows
        .map_err(from_input)
        .try_filter_map(move |batch| {
            let rest = rest(&batch, width, &gone, &kept);
            async move { rest }
        })
        .boxed())
}

/// The rows of a batch that stay.
fn rest(batch: &RecordBatch, width: usize, gone: &RowsByFile, kept: &[usize]) -> Result<Option<RecordBatch>> {
    let wrong = || Error::internal("rows without their places");
    let files = batch.columns().get(width).and_then(|c| c.as_string_opt::<i32>()).ok_or_else(wrong)?;
    let positions = batch.columns().get(width + 1).and_then(|c| c.as_primitive_opt::<Int64Type>()).ok_or_else(wrong)?;
    let mut of_file: Option<(&str, Option<&roaring::RoaringTreemap>)> = None;
    let mut stays = Vec::with_capacity(batch.num_rows());
    for (file, position) in files.iter().zip(positions.values()) {
        let file = file.ok_or_else(wrong)?;
        let gone = match of_file {
            Some((known, gone)) if known == file => gone,
            _ => gone.get(file),
        };
        of_file = Some((file, gone));
        let position = u64::try_from(*position).map_err(|_| wrong())?;
        stays.push(!gone.is_some_and(|gone| gone.contains(position)));
    }
    let stays = BooleanArray::from(stays);
    let count = stays.true_count();
    if count == 0 {
        return Ok(None);
    }
    let rows = batch.project(kept).context(|| "choose the table's columns")?;
    if count == batch.num_rows() {
        return Ok(Some(rows));
    }
    filter_record_batch(&rows, &stays).context(|| "choose the rows that stay").map(Some)
}

/// So many columns name a row that has no key.
const NAMING: usize = 5;

/// The row at a position of the scan's only file, as text for a message: its primary key, or its first columns.
///
/// # Errors
/// What reading says.
pub(super) async fn named_row(
    table: &Table,
    scan: ScanOptions,
    position: u64,
    state: &SessionState,
) -> Result<Option<String>> {
    let schema = table.metadata().current_schema();
    let fields = schema.as_struct().fields();
    let key: Vec<i32> = schema.identifier_field_ids().collect();
    let mut shown: Vec<usize> =
        fields.iter().enumerate().filter(|(_, f)| key.contains(&f.id)).map(|(i, _)| i).collect();
    if shown.is_empty() {
        shown = (0..fields.len().min(NAMING)).collect();
    }
    let names: Vec<&str> = shown.iter().filter_map(|i| fields.get(*i)).map(|f| f.name.as_str()).collect();
    let mut projection = shown.clone();
    projection.push(fields.len());
    let provider = provider_with(table.clone(), scan, &[RowColumn::Position])?;
    let plan = provider.scan(state, Some(&projection), &[], None).await.map_err(from_input)?;
    let mut rows = execute_stream(plan, state.task_ctx()).map_err(from_input)?;
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(from_input)?;
        let positions = batch.columns().last().and_then(|c| c.as_primitive_opt::<Int64Type>());
        let positions = positions.ok_or_else(|| Error::internal("rows without their places"))?;
        let Some(row) = positions.values().iter().position(|p| u64::try_from(*p) == Ok(position)) else { continue };
        let options = FormatOptions::default().with_null("NULL");
        let values = names.iter().zip(batch.columns()).map(|(name, column)| {
            let value = ArrayFormatter::try_new(column, &options).context(|| "print a row")?.value(row).to_string();
            Ok(format!("{name} = {value}"))
        });
        return Ok(Some(values.collect::<Result<Vec<_>>>()?.join(", ")));
    }
    Ok(None)
}
