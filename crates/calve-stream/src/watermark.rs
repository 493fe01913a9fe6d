//! Watermarks: how far a stream's event time has come.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Builder, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit, TimestampMicrosecondType};
use calve_types::Error;
use datafusion::common::Result;
use datafusion::execution::TaskContext;

use crate::operator::{Operator, Running, failure, internal};

/// Flink's watermark assigner: announces a watermark when the rows' own have advanced far enough.
///
/// The last column of its input is the watermark that each row allows for; in its place the output has the one that was
/// announced before the row, or NULL.
#[derive(Debug)]
pub struct WatermarkAssigner {
    rowtime: usize,
    interval: i64,
    schema: SchemaRef,
}

impl WatermarkAssigner {
    /// The assigner of rows of that schema, whose last column is a timestamp in microseconds. A watermark is announced
    /// when it has advanced by more than `interval` milliseconds, which is `pipeline.auto-watermark-interval`; `rowtime` is
    /// the column that may not be NULL.
    ///
    /// # Errors
    /// `internal` for another schema.
    pub fn new(input: &Schema, rowtime: usize, interval: i64) -> Result<Self> {
        let Some((last, fields)) = input.fields().split_last() else { return Err(internal("no watermark")) };
        if !matches!(last.data_type(), DataType::Timestamp(TimeUnit::Microsecond, _)) || rowtime >= fields.len() {
            return Err(internal("a watermark that is no timestamp"));
        }
        let shown = Field::new(crate::WATERMARK, last.data_type().clone(), true);
        let mut fields: Vec<Arc<Field>> = fields.to_vec();
        fields.push(Arc::new(shown));
        Ok(Self { rowtime, interval, schema: Arc::new(Schema::new(fields)) })
    }
}

impl Operator for WatermarkAssigner {
    fn name(&self) -> &'static str {
        "WatermarkAssigner"
    }

    fn describe(&self) -> String {
        let name = self.schema.fields().get(self.rowtime).map(|f| f.name().as_str()).unwrap_or_default();
        format!("rowtime=[{name}]")
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn start(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Running>> {
        let (rowtime, interval, schema) = (self.rowtime, self.interval, self.schema.clone());
        Ok(Box::new(Assigning { rowtime, interval, schema, current: 0, last: 0, announced: None }))
    }
}

struct Assigning {
    rowtime: usize,
    interval: i64,
    schema: SchemaRef,
    /// The largest watermark of the rows so far; Flink's starts with 1970.
    current: i64,
    /// What `current` was when it was announced last.
    last: i64,
    announced: Option<i64>,
}

impl Running for Assigning {
    fn rows(&mut self, _: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize> {
        let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
        let allowed = columns.pop().ok_or_else(|| internal("no watermark"))?;
        if columns.get(self.rowtime).is_none_or(|times| times.null_count() > 0) {
            let name = self.schema.fields().get(self.rowtime).map(|f| f.name().as_str()).unwrap_or_default();
            return Err(failure(null_rowtime(name)));
        }
        let allowed = allowed
            .as_primitive_opt::<TimestampMicrosecondType>()
            .ok_or_else(|| internal("a watermark that is no timestamp"))?;
        let mut shown = Int64Builder::with_capacity(allowed.len());
        for row in 0..allowed.len() {
            shown.append_option(self.announced.map(|millis| millis.saturating_mul(1000)));
            if allowed.is_valid(row) {
                self.current = self.current.max(allowed.value(row).div_euclid(1000));
            }
            if self.current.saturating_sub(self.last) > self.interval {
                self.last = self.current;
                self.announced = Some(self.current);
            }
        }
        let shown = shown.finish().reinterpret_cast::<TimestampMicrosecondType>();
        let shown: ArrayRef = match self.schema.fields().last().map(|f| f.data_type()) {
            Some(DataType::Timestamp(_, Some(zone))) => Arc::new(shown.with_timezone(zone.clone())),
            _ => Arc::new(shown),
        };
        columns.push(shown);
        out.push(RecordBatch::try_new(self.schema.clone(), columns)?);
        Ok(batch.num_rows())
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }
}

/// The error for a row without time; the column has that name.
pub fn null_rowtime(name: &str) -> Error {
    Error::new("null-rowtime", format!("a row has no time: '{name}', which has the watermark, is NULL"))
        .with_detail("RowTime field should not be null, please convert it to a non-null long value.")
        .with_hint(
            "filter the rows before the table is written, or declare the watermark on COALESCE(..) of the column",
        )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use arrow::array::TimestampMicrosecondArray;

    use super::*;

    fn run(interval: i64, rows: &[Option<(i64, Option<i64>)>]) -> Result<Vec<Option<i64>>> {
        let time = DataType::Timestamp(TimeUnit::Microsecond, None);
        let schema = Arc::new(Schema::new(vec![Field::new("ts", time.clone(), true), Field::new("w", time, true)]));
        let micros = |millis: Option<i64>| millis.map(|m| m * 1000);
        let times = rows.iter().map(|r| micros(r.map(|(t, _)| t))).collect::<TimestampMicrosecondArray>();
        let marks = rows.iter().map(|r| micros(r.and_then(|(_, w)| w))).collect::<TimestampMicrosecondArray>();
        let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(times), Arc::new(marks)]).unwrap();
        let operator = WatermarkAssigner::new(&schema, 0, interval).unwrap();
        let mut running = operator.start(&Arc::new(TaskContext::default()))?;
        let mut out = vec![];
        running.rows(0, &batch, &mut out)?;
        let shown = out[0].column(1).as_primitive::<TimestampMicrosecondType>().clone();
        Ok(shown.iter().map(|m| m.map(|m| m / 1000)).collect())
    }

    #[test]
    fn is_announced_when_it_has_advanced_by_more_than_the_interval() {
        let rows = [1000, 1200, 1201, 900, 1402].map(|t| Some((t, Some(t))));
        assert_eq!(run(200, &rows).unwrap(), vec![None, Some(1000), Some(1000), Some(1201), Some(1201)]);
        assert_eq!(run(0, &rows).unwrap(), vec![None, Some(1000), Some(1200), Some(1201), Some(1201)]);
    }

    #[test]
    fn starts_with_1970_and_ignores_null() {
        let rows = [Some((-5000, Some(-5000))), Some((100, None)), Some((1, Some(1))), Some((2, Some(300)))];
        assert_eq!(run(200, &rows).unwrap(), vec![None; 4]);
    }

    #[test]
    fn refuses_rows_without_time() {
        let error = run(200, &[None]).unwrap_err().to_string();
        assert!(error.contains("has no time"), "{error}");
    }
}
