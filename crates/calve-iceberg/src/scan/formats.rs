//! Reading files that are not Parquet: Avro and ORC. Columns are found by field id and deletes applied exactly as in
//! Parquet files; only the decoding differs. [`columns_of`] reads some columns of a file of any format.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use calve_types::{Error, Result};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DataFusionError, Result as DfResult, internal_datafusion_err};
use datafusion::datasource::listing::FileRange;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::{ProjectionExpr, ProjectionExprs};
use datafusion::physical_expr::utils::collect_columns;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use iceberg::spec::{DataFile, DataFileFormat, NameMapping, NestedFieldRef};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask};
use roaring::RoaringTreemap;

use super::adapter::{FileColumns, FileName};
use super::avro::AvroFile;
use super::context::plain_field;
use super::convert::{Conversion, Times, conversion, descend, missing};
use super::deletes::POSITION;
use super::external;
use super::layout::{Layout, Place};
use super::orc::OrcFile;
use super::plan::format_name;
use super::reader::{self, unreadable};
use super::rows::{self, Filler, RowsToRead};
use super::source::{LiveRows, Open};
use crate::table::Table;

/// Rows of a batch.
const BATCH_ROWS: usize = 8_192;

/// Rows that follow each other in a file.
#[derive(Debug)]
pub(crate) struct Rows {
    /// The position of the first one in the file.
    pub(crate) first: u64,
    pub(crate) batch: RecordBatch,
}

/// A file whose schema was read.
#[derive(Debug)]
pub(crate) enum FormatFile {
    Avro(AvroFile),
    Orc(OrcFile),
}

impl FormatFile {
    /// Opens a file in the format its manifest says it has.
    ///
    /// # Errors
    /// `not-supported` for other formats; `io`, naming the file, if it is missing or damaged.
    pub(crate) async fn open(table: &Table, file: &DataFile) -> Result<Self> {
        match file.file_format() {
            DataFileFormat::Avro => Ok(Self::Avro(AvroFile::open(table.io(), file).await?)),
            DataFileFormat::Orc => Ok(Self::Orc(OrcFile::open(table, file).await?)),
            other => {
                let (format, path) = (format_name(other), file.file_path());
                Err(Error::unsupported(format!("files of format {format} ('{path}')")))
            }
        }
    }

    /// The columns of the file, with field ids as Parquet's reader gives them.
    fn schema(&self) -> &SchemaRef {
        match self {
            Self::Avro(file) => file.schema(),
            Self::Orc(file) => file.schema(),
        }
    }

    /// The rows of some columns, which are counted from 0 and ascending: all rows, or of a file that is cut into ranges
    /// those of one range.
    fn read(self, columns: &[usize], range: Option<Range<u64>>, file: &DataFile) -> BoxStream<'static, Result<Rows>> {
        let file = Arc::new(file.clone());
        match self {
            // where a row lies is only known after all before it
            Self::Avro(_) if range.as_ref().is_some_and(|range| range.start > 0) => futures::stream::empty().boxed(),
            Self::Avro(avro) => avro.read(columns, BATCH_ROWS, file),
            Self::Orc(orc) => orc.read(columns, range, BATCH_ROWS, file),
        }
    }
}

/// Opens a data file for a scan.
///
/// # Errors
/// What reading the file and its delete files meets.
pub(super) async fn open(open: Open, range: Option<&FileRange>) -> DfResult<BoxStream<'static, DfResult<RecordBatch>>> {
    let (context, task) = (&open.context, &open.task);
    let deleted = task.deletes.positions(context, task.file().file_path(), task.sequence);
    let deleted = deleted.await.map_err(external)?;
    open.counters.opened(task, deleted.len());
    for keys in &task.deletes.keys {
        keys.table(context).await.map_err(external)?;
    }
    let mut projection = open.projection.as_ref().to_vec();
    let columns = projection.len();
    let key_columns = open.add_key_columns(&mut projection).map_err(external)?;
    let file = FormatFile::open(&context.table, task.file()).await.map_err(external)?;
    let physical = file.schema().clone();
    let metadata = context.table.metadata();
    let mut constants = open.partition_constants();
    constants.extend(rows::constants(task));
    let found = FileColumns {
        columns: open.columns.clone(),
        layout: Arc::new(Layout::by_names(&physical, context.mapping.as_ref(), metadata.current_schema())),
        constants,
        file: FileName(task.entry.clone()),
    };
    let (wanted, expressions) = expressions(&projection, &found, &physical)?;
    let filler = Filler::new(&open.columns, &projection, task, metadata.format_version());
    let schema = Arc::new(ProjectionExprs::new(projection).project_schema(&open.columns.schema)?);
    let range = range.map(|range| u64::try_from(range.start).unwrap_or(0)..u64::try_from(range.end).unwrap_or(0));
    let work = Arc::new(Work { deleted, expressions, schema, filler });
    let (data, of_file) = (task.clone(), task.clone());
    let batches = file
        .read(&wanted, range, task.file())
        .map_err(external)
        .try_filter_map(move |rows| {
            let batch = work.batch(&rows).map_err(|e| reader::named(data.file(), e));
            futures::future::ready(batch)
        })
        .boxed();
    let (context, counters) = (open.context.clone(), open.counters.clone());
    Ok(LiveRows { context, task: of_file, columns, key_columns, counters }.of(batches))
}

/// Columns of a file, and expressions over those.
type Needed = (Vec<usize>, Vec<Arc<dyn PhysicalExpr>>);

/// The columns of the file that a projection needs, and its expressions over those.
fn expressions(projection: &[ProjectionExpr], found: &FileColumns, physical: &SchemaRef) -> DfResult<Needed> {
    let mut expressions = Vec::with_capacity(projection.len());
    for projected in projection {
        let column = projected.expr.as_any().downcast_ref::<Column>();
        let index = column.ok_or_else(|| internal_datafusion_err!("a projection that is no column"))?.index();
        expressions.push(found.expression(index, physical).map_err(external)?);
    }
    let wanted: BTreeSet<usize> = expressions.iter().flat_map(collect_columns).map(|column| column.index()).collect();
    let wanted: Vec<usize> = wanted.into_iter().collect();
    let placed = |expression: Arc<dyn PhysicalExpr>| {
        expression
            .transform_up(|e| {
                let Some(column) = e.as_any().downcast_ref::<Column>() else { return Ok(Transformed::no(e)) };
                let place = wanted.binary_search(&column.index());
                let place = place.map_err(|_| internal_datafusion_err!("a column that is not read"))?;
                Ok(Transformed::yes(Arc::new(Column::new(column.name(), place)) as _))
            })
            .data()
    };
    let expressions = expressions.into_iter().map(placed).collect::<DfResult<Vec<_>>>()?;
    Ok((wanted, expressions))
}

/// What is done with every batch of a file.
struct Work {
    /// Positions of deleted rows.
    deleted: Arc<RoaringTreemap>,
    expressions: Vec<Arc<dyn PhysicalExpr>>,
    schema: SchemaRef,
    filler: Option<Filler>,
}

impl Work {
    /// The rows that are not deleted by position, in the table's types; `None` if there are none.
    fn batch(&self, rows: &Rows) -> DfResult<Option<RecordBatch>> {
        let count = rows.batch.num_rows();
        let runs = live_runs(&self.deleted, rows.first, count);
        let live: usize = runs.iter().map(|run| usize::try_from(run.end - run.start).unwrap_or(0)).sum();
        if live == 0 {
            return Ok(None);
        }
        let batch = if live == count {
            rows.batch.clone()
        } else {
            let mut mask = vec![false; count];
            for run in &runs {
                let place = |position: u64| usize::try_from(position - rows.first).unwrap_or(count).min(count);
                if let Some(kept) = mask.get_mut(place(run.start)..place(run.end)) {
                    kept.fill(true);
                }
            }
            filter_record_batch(&rows.batch, &BooleanArray::from(mask))?
        };
        let arrays = self.expressions.iter().map(|e| e.evaluate(&batch)?.into_array(live));
        let arrays = arrays.collect::<DfResult<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(live));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)?;
        match &self.filler {
            None => Ok(Some(batch)),
            Some(filler) => filler.fill(&batch, Some(&mut RowsToRead::of_runs(runs))).map(Some).map_err(external),
        }
    }
}

/// The positions of `count` rows from `first` on without those deleted.
fn live_runs(deleted: &RoaringTreemap, first: u64, count: usize) -> Vec<Range<u64>> {
    let end = first.saturating_add(count as u64);
    let mut positions = deleted.iter();
    positions.advance_to(first);
    let mut runs = Vec::new();
    let mut start = first;
    for position in positions.take_while(|position| *position < end) {
        if start < position {
            runs.push(start..position);
        }
        start = position + 1;
    }
    if start < end {
        runs.push(start..end);
    }
    runs
}

/// The values of some fields in a file, by field id, as the table has their types now: in batches, an array for every
/// field.
///
/// # Errors
/// `not-supported` for formats Iceberg does not have; `io`, naming the file, for one that is missing or damaged, and for
/// values that are not of the fields' types.
pub(crate) async fn columns_of(
    table: &Table,
    mapping: Option<&NameMapping>,
    file: &DataFile,
    fields: &[NestedFieldRef],
) -> Result<BoxStream<'static, Result<Vec<ArrayRef>>>> {
    let current = table.metadata().current_schema();
    let data = file.clone();
    if file.file_format() == DataFileFormat::Parquet {
        let mut reader = reader::open(table.io(), file)?;
        let footer = reader::footer(&mut reader, file).await?;
        let stored =
            ArrowReaderMetadata::try_new(footer, ArrowReaderOptions::new()).map_err(|e| unreadable(file, &e))?;
        let layout = Layout::new(stored.schema(), mapping, current);
        let sources = Sources::new(fields, &layout, stored.schema(), file)?;
        let builder = ParquetRecordBatchStreamBuilder::new_with_metadata(reader, stored);
        let mask = ProjectionMask::roots(builder.parquet_schema(), sources.wanted.iter().copied());
        let batches = builder.with_projection(mask).build().map_err(|e| unreadable(file, &e))?;
        let arrays = move |batch: parquet::errors::Result<RecordBatch>| {
            sources.arrays(&batch.map_err(|e| unreadable(&data, &e))?, &data)
        };
        return Ok(batches.map(arrays).boxed());
    }
    let opened = FormatFile::open(table, file).await?;
    let layout = Layout::by_names(opened.schema(), mapping, current);
    let sources = Sources::new(fields, &layout, opened.schema(), file)?;
    let rows = opened.read(&sources.wanted, None, file);
    Ok(rows.map(move |rows| sources.arrays(&rows?.batch, &data)).boxed())
}

/// Where the values of some fields come from.
struct Sources {
    each: Vec<Source>,
    /// The columns of the file that are read, ascending.
    wanted: Vec<usize>,
}

impl Sources {
    fn new(fields: &[NestedFieldRef], layout: &Layout, physical: &SchemaRef, file: &DataFile) -> Result<Self> {
        let source = |field: &NestedFieldRef| {
            let wrong = |why: String| unreadable(file, &format!("field '{}': {why}", field.name));
            Source::new(field, layout, physical).map_err(wrong)
        };
        let each = fields.iter().map(source).collect::<Result<Vec<_>>>()?;
        let wanted: BTreeSet<usize> = each.iter().filter_map(Source::column).collect();
        Ok(Self { each, wanted: wanted.into_iter().collect() })
    }

    fn arrays(&self, batch: &RecordBatch, file: &DataFile) -> Result<Vec<ArrayRef>> {
        let arrays = self.each.iter().map(|source| source.array(batch, &self.wanted));
        arrays.collect::<DfResult<Vec<_>>>().map_err(|e| unreadable(file, &e.strip_backtrace()))
    }
}

/// Where the values of a field come from.
enum Source {
    File(Place, Conversion),
    Constant(datafusion::common::ScalarValue),
}

impl Source {
    fn new(field: &NestedFieldRef, layout: &Layout, physical: &SchemaRef) -> std::result::Result<Self, String> {
        let target = plain_field(field).map_err(|e| e.message)?;
        let reserved = field.id >= POSITION;
        let place = layout.place(field.id).cloned().or_else(|| {
            // position delete files of some writers have only the names
            let column = physical.index_of(&field.name).ok().filter(|_| reserved)?;
            Some(Place { column, path: Vec::new() })
        });
        let Some((stored, place)) = place.and_then(|place| Some((layout.field(&place)?, place))) else {
            // a full-row delete from before the column was added
            return missing(field, &target.with_nullable(!reserved)).map(Self::Constant);
        };
        let mut from = physical.fields().get(place.column).map_or(&ArrowType::Null, |column| column.data_type());
        for child in &place.path {
            if let ArrowType::Struct(fields) = from {
                from = fields.get(*child).map_or(from, |f| f.data_type());
            }
        }
        let how = conversion(stored, from, &field.field_type, target.data_type(), Times::Exact)?;
        Ok(Self::File(place, how))
    }

    fn column(&self) -> Option<usize> {
        match self {
            Self::File(place, _) => Some(place.column),
            Self::Constant(_) => None,
        }
    }

    fn array(&self, batch: &RecordBatch, wanted: &[usize]) -> DfResult<ArrayRef> {
        match self {
            Self::Constant(value) => value.to_array_of_size(batch.num_rows()),
            Self::File(place, how) => {
                let root = wanted.binary_search(&place.column).ok().and_then(|i| batch.columns().get(i));
                let root = root.ok_or_else(|| DataFusionError::Internal("a column that was not read".to_owned()))?;
                how.apply(&descend(root, &place.path)?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::single_range_in_vec_init)]
    use super::*;

    #[test]
    fn runs_of_rows_that_are_left() {
        let deleted: RoaringTreemap = [0, 1, 5, 9, 10, 12, 1 << 40].into_iter().collect();
        assert_eq!(live_runs(&deleted, 0, 10), [2..5, 6..9]);
        assert_eq!(live_runs(&deleted, 2, 3), [2..5]);
        assert_eq!(live_runs(&deleted, 9, 2), []);
        assert_eq!(live_runs(&deleted, 9, 10), [11..12, 13..19]);
        assert_eq!(live_runs(&deleted, 20, 0), []);
        assert_eq!(live_runs(&RoaringTreemap::new(), 3, 4), [3..7]);
    }
}
