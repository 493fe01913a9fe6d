//! Changes of rows, taken apart: the places of rows that go or change, and the rows that come.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Int8Type, Int64Type, Schema, SchemaRef};
use calve_types::{Error, Result};

use super::positions::RowsByFile;
use super::row_level::LINEAGE;
use crate::error::Context;
use crate::scan::row_fields;
use crate::table::Table;

/// The first column of values: operation, file and position stand before it.
const VALUES: usize = 3;

/// Where the columns of changes are.
#[derive(Debug)]
pub(super) struct Layout {
    /// The columns of the table; 0 if changes have no values.
    columns: usize,
    /// Whether an id follows them.
    lineage: bool,
    /// Of the rows that come.
    schema: SchemaRef,
}

impl Layout {
    /// # Errors
    /// As [`crate::schema::to_arrow`].
    pub(super) fn new(table: &Table, columns: usize, has_values: bool, lineage: bool) -> Result<Self> {
        let row_columns: &[_] = if lineage { &LINEAGE } else { &[] };
        let schema = Arc::new(row_fields(table, row_columns)?);
        Ok(Self { columns: if has_values { columns } else { 0 }, lineage, schema })
    }
}

/// What changes said.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// The places of rows that went or changed.
    pub(super) rows: RowsByFile,
    pub(super) deleted: u64,
    pub(super) updated: u64,
    pub(super) inserted: u64,
    /// The first row that was to change a second time.
    pub(super) twice: Option<(String, u64)>,
}

/// Takes changes.
#[derive(Debug)]
pub(super) struct Taker {
    layout: Layout,
    taken: Mutex<Taken>,
}

impl Taker {
    pub(super) fn new(layout: Layout) -> Self {
        Self { layout, taken: Mutex::default() }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The places so far.
    pub(super) fn rows(&self) -> RowsByFile {
        self.taken().rows.clone()
    }

    /// Everything, after the last batch.
    pub(super) fn finish(&self) -> Taken {
        std::mem::take(&mut self.taken())
    }

    /// The rows that come with a batch of changes, `None` without one: the table's columns, and with lineage their ids and
    /// NULL for when they last changed, which is now.
    ///
    /// # Errors
    /// `merge-cardinality` for a row that changes twice; `internal` for batches of another shape.
    pub(super) fn take(&self, batch: &RecordBatch) -> Result<Option<RecordBatch>> {
        let wrong = || Error::internal("changes of another shape");
        let ops = batch.columns().first().and_then(|c| c.as_primitive_opt::<Int8Type>()).ok_or_else(wrong)?;
        let files = batch.columns().get(1).and_then(|c| c.as_string_opt::<i32>()).ok_or_else(wrong)?;
        let positions = batch.columns().get(2).and_then(|c| c.as_primitive_opt::<Int64Type>()).ok_or_else(wrong)?;
        self.places(ops, files, positions)?;
        let layout = &self.layout;
        let comes: BooleanArray = ops.values().iter().map(|op| Some(*op != 0)).collect();
        if layout.columns == 0 || comes.true_count() == 0 {
            return Ok(None);
        }
        let columns: Vec<usize> = (VALUES..VALUES + layout.columns + usize::from(layout.lineage)).collect();
        let values = batch.project(&columns).map_err(|_| wrong())?;
        let values = if comes.true_count() == batch.num_rows() {
            values
        } else {
            filter_record_batch(&values, &comes).context(|| "choose the rows that come")?
        };
        let mut arrays = values.columns().to_vec();
        if layout.lineage {
            arrays.push(Arc::new(Int64Array::new_null(values.num_rows())) as ArrayRef);
        }
        rows(&layout.schema, arrays, values.num_rows()).map(Some)
    }

    fn places(
        &self,
        ops: &arrow::array::Int8Array,
        files: &arrow::array::StringArray,
        positions: &Int64Array,
    ) -> Result<()> {
        let mut taken = self.taken();
        let taken = &mut *taken;
        let mut row = 0;
        while row < ops.len() {
            let op = ops.value(row);
            if op == 2 {
                taken.inserted += 1;
                row += 1;
                continue;
            }
            let file = files.value(row);
            if !taken.rows.contains_key(file) {
                taken.rows.insert(file.to_owned(), roaring::RoaringTreemap::new());
            }
            let of_file = taken.rows.get_mut(file).ok_or_else(|| Error::internal("a file that is not there"))?;
            // rows of one file come together
            while row < ops.len() && ops.value(row) != 2 && files.value(row) == file {
                let position =
                    u64::try_from(positions.value(row)).map_err(|_| Error::internal("a negative position"))?;
                if files.is_null(row) || positions.is_null(row) {
                    return Err(Error::internal("a row that changes and has no place"));
                }
                if !of_file.insert(position) {
                    taken.twice = Some((file.to_owned(), position));
                    return Err(Error::new("merge-cardinality", "a row changes twice"));
                }
                match ops.value(row) {
                    0 => taken.deleted += 1,
                    _ => taken.updated += 1,
                }
                row += 1;
            }
        }
        Ok(())
    }
}

/// A batch of these columns.
///
/// # Errors
/// `invalid-table` for columns of other types.
pub(super) fn rows(schema: &SchemaRef, columns: Vec<ArrayRef>, count: usize) -> Result<RecordBatch> {
    // NULL in a NOT NULL column is found where rows are encoded
    let fields: Vec<_> = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options).context(|| "write rows")
}
