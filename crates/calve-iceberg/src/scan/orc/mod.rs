//! Reading ORC files: data files and delete files, stripe by stripe.

mod tail;
mod types;

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema as ArrowSchema, SchemaRef};
use calve_types::Result;
use futures::stream::{BoxStream, StreamExt};
use futures::{TryFutureExt, TryStreamExt};
use iceberg::spec::DataFile;
use orc_rust::ArrowReaderBuilder;
use orc_rust::projection::ProjectionMask;

use self::tail::Tail;
use self::types::{Column, columns, refine};
use super::formats::Rows;
use super::guard::caught_stream;
use super::reader::unreadable;
use crate::table::Table;

/// An ORC file whose footer was read.
#[derive(Debug)]
pub(crate) struct OrcFile {
    tail: Tail,
    columns: Vec<Column>,
    schema: SchemaRef,
}

async fn tail_of(table: &Table, file: &DataFile) -> Result<Tail> {
    let path = table.io().object_path(file.file_path())?;
    let tail = Tail::read(table.io().object_store(), path, file.file_size_in_bytes());
    tail.await.map_err(|e| unreadable(file, &e))
}

impl OrcFile {
    /// Opens a file of a table.
    ///
    /// # Errors
    /// `io`, naming the file, if it is missing, cut off or not an ORC file.
    pub(crate) async fn open(table: &Table, file: &DataFile) -> Result<Self> {
        let tail = tail_of(table, file).await?;
        let rows = tail.rows();
        if rows != file.record_count() {
            let expected = file.record_count();
            return Err(unreadable(file, &format!("it has {rows} rows, its manifest says {expected}")));
        }
        let columns = columns(&tail.types, table.metadata().current_schema());
        let schema = Arc::new(ArrowSchema::new(columns.iter().map(|c| c.wanted.clone()).collect::<Vec<_>>()));
        Ok(Self { tail, columns, schema })
    }

    /// How many rows a file says it has.
    ///
    /// # Errors
    /// As [`OrcFile::open`].
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) async fn rows_of(table: &Table, file: &DataFile) -> Result<u64> {
        Ok(tail_of(table, file).await?.rows())
    }

    /// The columns of the file, with field ids as Parquet's reader gives them.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The rows of some columns, which are counted from 0 and ascending, in the stripes that begin in `range`.
    pub(crate) fn read(
        self,
        wanted: &[usize],
        range: Option<Range<u64>>,
        batch_rows: usize,
        file: Arc<DataFile>,
    ) -> BoxStream<'static, Result<Rows>> {
        let within = |offset: u64| range.as_ref().is_none_or(|range| range.contains(&offset));
        let before = self.tail.stripes.iter().take_while(|stripe| !within(stripe.offset));
        let start: u64 = before.map(|stripe| stripe.rows).sum();
        let here = self.tail.stripes.iter().filter(|stripe| within(stripe.offset));
        let end: u64 = start + here.map(|stripe| stripe.rows).sum::<u64>();
        let columns: Vec<Column> = wanted.iter().filter_map(|index| self.columns.get(*index)).cloned().collect();
        let decoded = ArrowSchema::new(columns.iter().map(|c| c.decoded.clone()).collect::<Vec<_>>());
        let schema = Arc::new(ArrowSchema::new(columns.iter().map(|c| c.wanted.clone()).collect::<Vec<_>>()));
        // the library calls a column by its place among all types
        let row = self.tail.types.first().map(|row| row.subtypes.clone()).unwrap_or_default();
        let places: Vec<usize> = wanted.iter().filter_map(|i| row.get(*i)).map(|place| *place as usize).collect();
        let input = self.tail.input;
        let opening = async move {
            let builder = ArrowReaderBuilder::try_new_async(input).await.map_err(|e| e.to_string())?;
            let mask = ProjectionMask::roots(builder.file_metadata().root_data_type(), places);
            let mut builder =
                builder.with_projection(mask).with_schema(Arc::new(decoded)).with_batch_size(batch_rows.max(1));
            if let Some(range) = range {
                let at = |place: u64| usize::try_from(place).unwrap_or(usize::MAX);
                builder = builder.with_file_byte_range(at(range.start)..at(range.end));
            }
            Ok::<_, String>(builder.build_async().map_err(|e| e.to_string()))
        };
        // the library panics on streams that are damaged
        let batches = opening.try_flatten_stream();
        let batches = caught_stream(batches, || Err("its data is damaged".to_owned()));
        let of_rows = file.clone();
        let mut next = start;
        let rows = batches.map(move |batch| {
            let batch = batch.and_then(|batch| refined(&batch, &columns, &schema));
            let batch = batch.map_err(|e| unreadable(&of_rows, &e))?;
            let first = next;
            next += batch.num_rows() as u64;
            if next > end {
                return Err(unreadable(&of_rows, &"it has more rows than its footer says"));
            }
            Ok(Rows { first, batch })
        });
        whole(rows, start..end, file)
    }
}

/// Rows to their end, which has to be that of `expected`.
fn whole(
    rows: impl futures::Stream<Item = Result<Rows>> + Send + 'static,
    expected: Range<u64>,
    file: Arc<DataFile>,
) -> BoxStream<'static, Result<Rows>> {
    let state = (rows.boxed(), expected.start, file);
    futures::stream::try_unfold(state, move |(mut rows, after, file)| async move {
        match rows.try_next().await? {
            Some(next) => {
                let after = next.first + next.batch.num_rows() as u64;
                Ok(Some((next, (rows, after, file))))
            }
            None if after == expected.end => Ok(None),
            None => Err(unreadable(&file, &"it has fewer rows than its footer says")),
        }
    })
    .boxed()
}

fn refined(batch: &RecordBatch, columns: &[Column], schema: &SchemaRef) -> Result<RecordBatch, String> {
    if batch.num_columns() != columns.len() {
        return Err("a column is missing".to_owned());
    }
    let arrays = batch.columns().iter().zip(columns).map(|(array, column)| refine(array, column.wanted.data_type()));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema.clone(), arrays.collect::<Result<_, _>>()?, &options)
        .map_err(|e| e.to_string())
}
