//! Rows behind those that an operator in time has given already.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanBuilder, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Schema, SchemaRef, TimeUnit, TimestampMicrosecondType};
use datafusion::common::Result;
use datafusion::execution::TaskContext;

use crate::operator::{Operator, Running, internal};
use crate::rows::{Bytes, Codec, ENTRY};

/// Drops rows that come too late to be sorted by time.
///
/// Flink's sorts, and its windows of rows with a bounded start, give the rows of a key in the order of their times as
/// watermarks pass them. A row is late if one of its key with the same time or a later one was given before. That is
/// not every row behind the watermark: where no row was given, none is missed.
///
/// The input has the columns of the output, then the key's, then the row's time and the watermark in force, which may be
/// NULL, as timestamps in microseconds.
#[derive(Debug)]
pub struct InTime {
    width: usize,
    since: Option<i64>,
    input: SchemaRef,
    schema: SchemaRef,
}

impl InTime {
    /// For rows of that schema, of which `width` columns are for the output. Rows at `since` or before, in milliseconds
    /// since 1970, are late from the beginning.
    ///
    /// # Errors
    /// `internal` for a schema that does not fit.
    pub fn new(input: SchemaRef, width: usize, since: Option<i64>) -> Result<Self> {
        let times = input.fields().iter().rev().take(2);
        let are_times =
            times.filter(|f| matches!(f.data_type(), DataType::Timestamp(TimeUnit::Microsecond, _))).count() == 2;
        if !are_times || width + 2 > input.fields().len() {
            return Err(internal("rows without times"));
        }
        let fields: Vec<_> = input.fields().iter().take(width).cloned().collect();
        Ok(Self { width, since, schema: Arc::new(Schema::new(fields)), input })
    }
}

impl Operator for InTime {
    fn name(&self) -> &'static str {
        "InTime"
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn start(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Running>> {
        let keys = self.input.fields().iter().skip(self.width).take(self.input.fields().len() - self.width - 2);
        Ok(Box::new(Passing {
            width: self.width,
            since: self.since,
            schema: self.schema.clone(),
            keys: Codec::new(keys.map(|f| f.data_type().clone()))?,
            given: HashMap::new(),
            waiting: BTreeMap::new(),
            watermark: None,
            size: 0,
        }))
    }
}

struct Passing {
    width: usize,
    since: Option<i64>,
    schema: SchemaRef,
    keys: Codec,
    /// The time of the last row that was given, by key.
    given: HashMap<Bytes, i64>,
    /// Keys by the times of rows that wait for a watermark.
    waiting: BTreeMap<i64, Vec<Bytes>>,
    watermark: Option<i64>,
    size: usize,
}

impl Passing {
    /// Gives the rows that a watermark has passed.
    fn advance(&mut self, watermark: i64) {
        while let Some(entry) = self.waiting.first_entry().filter(|e| *e.key() <= watermark) {
            let (time, keys) = entry.remove_entry();
            for key in keys {
                self.size = self.size.saturating_sub(key.len() + ENTRY);
                match self.given.get_mut(&key) {
                    Some(last) => *last = time,
                    None => {
                        self.size += key.len() + ENTRY;
                        self.given.insert(key, time);
                    }
                }
            }
        }
    }

    /// Whether a row is in time; then it waits.
    fn takes(&mut self, key: &[u8], time: i64) -> bool {
        let last = self.given.get(key).copied().or(self.since.map(|millis| millis.saturating_mul(1000)));
        if last.is_some_and(|last| time <= last) {
            return false;
        }
        let keys = self.waiting.entry(time).or_default();
        if keys.last().is_none_or(|last| **last != *key) {
            self.size += key.len() + ENTRY;
            keys.push(key.into());
        }
        true
    }
}

impl Running for Passing {
    fn rows(&mut self, _: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize> {
        let columns = batch.columns();
        let count = columns.len();
        let times = |from_end: usize| {
            let column = count.checked_sub(from_end).and_then(|i| columns.get(i));
            column
                .and_then(|c| c.as_primitive_opt::<TimestampMicrosecondType>())
                .ok_or_else(|| internal("rows without times"))
        };
        let (own, watermarks) = (times(2)?, times(1)?);
        let keys = columns.get(self.width..count.saturating_sub(2)).ok_or_else(|| internal("rows without keys"))?;
        let keys = self.keys.encode(keys)?;
        let mut kept = BooleanBuilder::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            if watermarks.is_valid(row) && self.watermark.is_none_or(|w| w < watermarks.value(row)) {
                self.watermark = Some(watermarks.value(row));
                self.advance(watermarks.value(row));
            }
            kept.append_value(own.is_valid(row) && self.takes(keys.row(row), own.value(row)));
        }
        let whole: Vec<usize> = (0..self.width).collect();
        let rows = filter_record_batch(&batch.project(&whole)?, &kept.finish())?;
        out.push(rows.with_schema(self.schema.clone())?);
        Ok(batch.num_rows())
    }

    fn size(&self) -> usize {
        self.size
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use arrow::array::{ArrayRef, StringArray, TimestampMicrosecondArray};
    use arrow::datatypes::Field;

    use super::*;

    /// Which rows of a key, a time and the watermark before them, in milliseconds, are in time.
    fn run(since: Option<i64>, rows: &[(&str, i64, Option<i64>)]) -> Vec<i64> {
        let time = DataType::Timestamp(TimeUnit::Microsecond, None);
        let schema = Arc::new(Schema::new(vec![
            Field::new("t", time.clone(), true),
            Field::new("key", DataType::Utf8, true),
            Field::new("time", time.clone(), true),
            Field::new("watermark", time, true),
        ]));
        let keys: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|r| r.0)));
        let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from_iter_values(rows.iter().map(|r| r.1 * 1000)));
        let marks: ArrayRef =
            Arc::new(rows.iter().map(|r| r.2.map(|m| m * 1000)).collect::<TimestampMicrosecondArray>());
        let batch = RecordBatch::try_new(schema.clone(), vec![times.clone(), keys, times, marks]).unwrap();
        let mut running = InTime::new(schema, 1, since).unwrap().start(&Arc::new(TaskContext::default())).unwrap();
        let mut out = vec![];
        running.rows(0, &batch, &mut out).unwrap();
        out[0].column(0).as_primitive::<TimestampMicrosecondType>().values().iter().map(|t| t / 1000).collect()
    }

    #[test]
    fn a_row_is_late_behind_one_that_was_given() {
        let rows = [("a", 1, None), ("b", 14, None), ("a", 9, Some(13)), ("b", 13, Some(24)), ("a", 24, Some(24))];
        // 9 is behind the watermark, but of its key only 1 was given
        assert_eq!(run(Some(0), &rows), [1, 14, 9, 24]);
    }

    #[test]
    fn rows_of_1970_and_before_are_late_where_flink_says_so() {
        let rows = [("a", -5, None), ("a", 0, None), ("a", 1, None)];
        assert_eq!(run(Some(0), &rows), [1]);
        assert_eq!(run(None, &rows), [-5, 0, 1]);
    }
}
