//! Joins of rows with the versions that were valid at their times.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Builder};
use arrow::compute::{concat_batches, take};
use arrow::datatypes::{DataType, Schema, SchemaRef, TimeUnit, TimestampMicrosecondType};
use calve_types::Error;
use datafusion::common::Result;
use datafusion::execution::TaskContext;

use crate::operator::{Operator, Running, failure, internal};
use crate::rows::{Bytes, Codec, ENTRY};

/// A side of a temporal join: its columns, then those of the key, then the time.
#[derive(Debug, Clone, Copy)]
pub struct Side {
    /// How many columns of it are in the output.
    pub width: usize,
}

/// Each row of the first input with the version of the second one that was valid at the row's time: the last one of the
/// same key whose time is not later.
///
/// Both inputs have columns for the output, then the key's, then a timestamp in microseconds. Flink waits with a row until
/// the watermarks of both sides have passed its time, so that it sees all versions; here a row waits until all versions
/// have been read. Rows whose key has a NULL have no version.
#[derive(Debug)]
pub struct TemporalJoin {
    rows: Side,
    versions: Side,
    outer: bool,
    latest: bool,
    schema: SchemaRef,
}

impl TemporalJoin {
    /// The join of rows of these schemas; the output has that schema. `outer` keeps rows without a version, with NULLs.
    /// With `latest`, versions come from a stream of which only the latest rows count: one that is older than what came
    /// before it never was a version.
    ///
    /// # Errors
    /// `internal` for schemas that do not fit.
    pub fn new(inputs: [(&Schema, Side); 2], outer: bool, latest: bool, schema: SchemaRef) -> Result<Self> {
        let [(left, rows), (right, versions)] = inputs;
        let time = |s: &Schema| s.fields().last().map(|f| f.data_type().clone());
        let timed =
            [left, right].iter().all(|s| matches!(time(s), Some(DataType::Timestamp(TimeUnit::Microsecond, _))));
        let keys = |s: &Schema, side: Side| s.fields().len().checked_sub(side.width + 1);
        if !timed || keys(left, rows) != keys(right, versions) || schema.fields().len() != rows.width + versions.width {
            return Err(internal("a temporal join of columns that do not fit"));
        }
        Ok(Self { rows, versions, outer, latest, schema })
    }
}

impl Operator for TemporalJoin {
    fn name(&self) -> &'static str {
        "TemporalJoin"
    }

    fn describe(&self) -> String {
        format!("joinType=[{}]", if self.outer { "LeftOuterJoin" } else { "InnerJoin" })
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn start(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Running>> {
        Ok(Box::new(Joining {
            rows: self.rows,
            versions: self.versions,
            outer: self.outer,
            latest: self.latest,
            schema: self.schema.clone(),
            codec: None,
            waiting: vec![],
            read: vec![],
            known: HashMap::new(),
            entries: 0,
            all: None,
            complete: false,
            size: 0,
        }))
    }
}

/// The versions of a key: their times and where they are among all, in the order of their times once all are read.
type Versions = Vec<(i64, u32)>;

struct Joining {
    rows: Side,
    versions: Side,
    outer: bool,
    latest: bool,
    schema: SchemaRef,
    codec: Option<Codec>,
    /// Rows that wait for the end of the versions.
    waiting: Vec<RecordBatch>,
    /// Versions, their columns for the output only.
    read: Vec<RecordBatch>,
    known: HashMap<Bytes, Versions>,
    entries: usize,
    /// All versions, once they are read, if there are any.
    all: Option<RecordBatch>,
    /// Whether they are read.
    complete: bool,
    size: usize,
}

/// The parts of a side's batch.
struct Parts {
    columns: Vec<ArrayRef>,
    keys: Vec<ArrayRef>,
    times: ArrayRef,
}

fn parts(batch: &RecordBatch, side: Side) -> Result<Parts> {
    let mut columns = batch.columns().to_vec();
    let times = columns.pop().ok_or_else(|| internal("no time"))?;
    if side.width > columns.len() {
        return Err(internal("a temporal join without columns"));
    }
    let keys = columns.split_off(side.width);
    Ok(Parts { columns, keys, times })
}

impl Joining {
    fn codec(&mut self, keys: &[ArrayRef]) -> Result<&Codec> {
        if self.codec.is_none() {
            self.codec = Some(Codec::new(keys.iter().map(|k| k.data_type().clone()))?);
        }
        self.codec.as_ref().ok_or_else(|| internal("no keys"))
    }

    fn version(&mut self, batch: &RecordBatch) -> Result<()> {
        let parts = parts(batch, self.versions)?;
        let encoded = self.codec(&parts.keys)?.encode(&parts.keys)?;
        let times = times_of(&parts.times)?;
        for row in 0..batch.num_rows() {
            let at = u32::try_from(self.entries).map_err(|_| too_many())?;
            self.entries += 1;
            if times.is_null(row) || parts.keys.iter().any(|k| k.is_null(row)) {
                continue;
            }
            let (key, time) = (encoded.row(row), times.value(row));
            let versions = match self.known.get_mut(key) {
                Some(versions) => versions,
                None => {
                    self.size += key.len() + ENTRY;
                    self.known.entry(key.into()).or_default()
                }
            };
            if !(self.latest && versions.last().is_some_and(|(last, _)| *last > time)) {
                versions.push((time, at));
                self.size += size_of::<(i64, u32)>();
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let fields: Vec<_> = self
            .schema
            .fields()
            .iter()
            .skip(self.rows.width)
            .zip(&parts.columns)
            .map(|(f, c)| arrow::datatypes::Field::new(f.name(), c.data_type().clone(), true))
            .collect();
        let kept = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), parts.columns, &options)?;
        self.size += kept.get_array_memory_size();
        self.read.push(kept);
        Ok(())
    }

    fn finish_versions(&mut self) -> Result<()> {
        let read = std::mem::take(&mut self.read);
        self.all = match read.first() {
            Some(first) => Some(concat_batches(&first.schema(), &read)?),
            None => None,
        };
        for versions in self.known.values_mut() {
            // stable: of versions of one time the last one counts
            versions.sort_by_key(|(time, _)| *time);
        }
        Ok(())
    }

    fn join(&mut self, batch: &RecordBatch) -> Result<Option<RecordBatch>> {
        let parts = parts(batch, self.rows)?;
        let encoded = self.codec(&parts.keys)?.encode(&parts.keys)?;
        let times = times_of(&parts.times)?;
        let (mut rows, mut found) = (UInt32Builder::new(), UInt32Builder::new());
        for row in 0..batch.num_rows() {
            let keyed = times.is_valid(row) && parts.keys.iter().all(|k| k.is_valid(row));
            let versions = if keyed { self.known.get(encoded.row(row)) } else { None };
            let version = versions.and_then(|versions| {
                let after = versions.partition_point(|(time, _)| *time <= times.value(row));
                versions.get(after.checked_sub(1)?).map(|(_, at)| *at)
            });
            if version.is_some() || self.outer {
                rows.append_value(u32::try_from(row).map_err(|_| too_many())?);
                found.append_option(version);
            }
        }
        let (rows, found) = (rows.finish(), found.finish());
        if rows.is_empty() {
            return Ok(None);
        }
        let mut columns =
            parts.columns.iter().map(|c| take(c, &rows, None)).collect::<std::result::Result<Vec<_>, _>>()?;
        match &self.all {
            Some(all) => {
                for column in all.columns() {
                    columns.push(take(column, &found, None)?);
                }
            }
            None => columns.extend(
                self.schema
                    .fields()
                    .iter()
                    .skip(self.rows.width)
                    .map(|f| arrow::array::new_null_array(f.data_type(), rows.len())),
            ),
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        Ok(Some(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?))
    }
}

fn times_of(times: &ArrayRef) -> Result<&arrow::array::TimestampMicrosecondArray> {
    times.as_primitive_opt::<TimestampMicrosecondType>().ok_or_else(|| internal("a time that is no timestamp"))
}

fn too_many() -> datafusion::common::DataFusionError {
    failure(Error::unsupported("a temporal join with more than 4 billion versions"))
}

impl Running for Joining {
    fn rows(&mut self, input: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize> {
        match (input, self.complete) {
            (0, true) => out.extend(self.join(batch)?),
            (0, false) => {
                self.size += batch.get_array_memory_size();
                self.waiting.push(batch.clone());
            }
            _ => self.version(batch)?,
        }
        Ok(batch.num_rows())
    }

    fn end(&mut self, input: usize, out: &mut Vec<RecordBatch>) -> Result<()> {
        if input == 0 {
            return Ok(());
        }
        self.finish_versions()?;
        self.complete = true;
        for batch in std::mem::take(&mut self.waiting) {
            self.size = self.size.saturating_sub(batch.get_array_memory_size());
            out.extend(self.join(&batch)?);
        }
        Ok(())
    }

    fn size(&self) -> usize {
        self.size
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use arrow::array::{Int64Array, StringArray, TimestampMicrosecondArray};
    use arrow::datatypes::{Field, Int64Type};

    use super::*;

    type Row = (i64, Option<&'static str>, i64);

    fn batch(rows: &[Row]) -> RecordBatch {
        let schema = Arc::new(Schema::new(vec![
            Field::new("v", DataType::Int64, true),
            Field::new("key", DataType::Utf8, true),
            Field::new("time", DataType::Timestamp(TimeUnit::Microsecond, None), true),
        ]));
        let values = Int64Array::from_iter_values(rows.iter().map(|r| r.0));
        let keys = rows.iter().map(|r| r.1).collect::<StringArray>();
        let times = TimestampMicrosecondArray::from_iter_values(rows.iter().map(|r| r.2));
        RecordBatch::try_new(schema, vec![Arc::new(values), Arc::new(keys), Arc::new(times)]).unwrap()
    }

    fn run(outer: bool, latest: bool, rows: &[Row], versions: &[Row]) -> Vec<(i64, Option<i64>)> {
        let (rows, versions) = (batch(rows), batch(versions));
        let out_schema =
            Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Int64, true)]));
        let (left, right) = (rows.schema(), versions.schema());
        let sides = [(left.as_ref(), Side { width: 1 }), (right.as_ref(), Side { width: 1 })];
        let join = TemporalJoin::new(sides, outer, latest, out_schema).unwrap();
        let mut running = join.start(&Arc::new(TaskContext::default())).unwrap();
        let mut out = vec![];
        // rows come before the versions, and after them
        running.rows(0, &rows, &mut out).unwrap();
        assert!(out.is_empty());
        if versions.num_rows() > 0 {
            running.rows(1, &versions, &mut out).unwrap();
        }
        running.end(1, &mut out).unwrap();
        let first = read(&out);
        out.clear();
        running.rows(0, &rows, &mut out).unwrap();
        assert_eq!(read(&out), first);
        first
    }

    fn read(out: &[RecordBatch]) -> Vec<(i64, Option<i64>)> {
        let column = |b: &RecordBatch, i: usize| b.column(i).as_primitive::<Int64Type>().iter().collect::<Vec<_>>();
        out.iter()
            .flat_map(|b| column(b, 0).into_iter().map(Option::unwrap).zip(column(b, 1)).collect::<Vec<_>>())
            .collect()
    }

    const VERSIONS: [Row; 4] =
        [(110, Some("e"), 900), (120, Some("e"), 1030), (115, Some("e"), 1010), (121, Some("e"), 1030)];

    #[test]
    fn the_last_version_not_later_than_the_row() {
        let rows =
            [(1, Some("e"), 1000), (2, Some("e"), 1100), (3, Some("e"), 1020), (4, Some("e"), 800), (5, None, 999)];
        assert_eq!(run(false, false, &rows, &VERSIONS), [(1, Some(110)), (2, Some(121)), (3, Some(115))]);
        let outer = [(1, Some(110)), (2, Some(121)), (3, Some(115)), (4, None), (5, None)];
        assert_eq!(run(true, false, &rows, &VERSIONS), outer);
    }

    #[test]
    fn of_a_deduplication_older_rows_are_no_versions() {
        assert_eq!(run(false, true, &[(3, Some("e"), 1020)], &VERSIONS), [(3, Some(110))]);
    }

    #[test]
    fn no_versions() {
        assert_eq!(run(true, false, &[(1, Some("e"), 1)], &[]), [(1, None)]);
        assert_eq!(run(false, false, &[(1, Some("e"), 1)], &[]), []);
    }
}
