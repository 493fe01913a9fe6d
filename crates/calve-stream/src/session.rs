//! Sessions: windows that end when no row has come for a while.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Builder, RecordBatch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::execution::TaskContext;

use crate::operator::{Operator, Running, internal};
use crate::rows::{Bytes, Codec, ENTRY};

/// The rows with the bounds of their sessions, when these end.
///
/// The input has the columns of the output, then the key's, then the row's time, then the watermark in force when it
/// comes, which may be NULL; the last two are BIGINTs in milliseconds of one clock. In place of what follows the output's
/// columns stand the start and the end of the session. A row whose session had ended is dropped.
#[derive(Debug)]
pub struct Session {
    width: usize,
    gap: i64,
    input: SchemaRef,
    schema: SchemaRef,
}

impl Session {
    /// Sessions of rows of that schema, of which `width` columns are for the output; a pause of `gap` milliseconds ends
    /// one.
    ///
    /// # Errors
    /// `internal` for a schema that does not fit.
    pub fn new(input: SchemaRef, width: usize, gap: i64) -> Result<Self> {
        let fields = input.fields();
        let is_number = |field: Option<&Arc<Field>>| field.is_some_and(|f| *f.data_type() == DataType::Int64);
        let last = fields.len().checked_sub(1).and_then(|i| fields.get(i));
        let before = fields.len().checked_sub(2).and_then(|i| fields.get(i));
        if width + 2 > fields.len() || !is_number(last) || !is_number(before) {
            return Err(internal("sessions of rows without times"));
        }
        let mut out: Vec<Arc<Field>> = fields.iter().take(width).cloned().collect();
        for name in ["$start", "$end"] {
            out.push(Arc::new(Field::new(name, DataType::Int64, false)));
        }
        Ok(Self { width, gap, schema: Arc::new(Schema::new(out)), input })
    }
}

impl Operator for Session {
    fn name(&self) -> &'static str {
        "SessionWindow"
    }

    fn describe(&self) -> String {
        format!("gap=[{} ms]", self.gap)
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn start(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Running>> {
        let types = |from: usize, to: usize| {
            let fields = self.input.fields().iter().skip(from).take(to.saturating_sub(from));
            Codec::new(fields.map(|f| f.data_type().clone()))
        };
        Ok(Box::new(Sessions {
            width: self.width,
            gap: self.gap,
            schema: self.schema.clone(),
            rows: types(0, self.width)?,
            keys: types(self.width, self.input.fields().len().saturating_sub(2))?,
            open: HashMap::new(),
            ends: BTreeMap::new(),
            watermark: None,
            size: 0,
        }))
    }
}

/// A session that has not ended.
struct Open {
    start: i64,
    end: i64,
    /// Its rows, as they came.
    rows: Vec<Bytes>,
}

struct Sessions {
    width: usize,
    gap: i64,
    schema: SchemaRef,
    rows: Codec,
    keys: Codec,
    /// By key, in the order of their times; they do not touch.
    open: HashMap<Arc<[u8]>, Vec<Open>>,
    /// Keys by the ends of their sessions. A session that has grown since is found under an end that is its no more.
    ends: BTreeMap<i64, Vec<Arc<[u8]>>>,
    watermark: Option<i64>,
    size: usize,
}

/// Rows on their way out.
#[derive(Default)]
struct Ended {
    rows: Vec<Bytes>,
    bounds: Vec<(i64, i64)>,
}

impl Sessions {
    /// The sessions that end with a watermark.
    fn advance(&mut self, watermark: i64, ended: &mut Ended) {
        // a session ends when no row before its end can come
        while let Some(entry) = self.ends.first_entry().filter(|e| e.key().saturating_sub(1) <= watermark) {
            let (end, keys) = entry.remove_entry();
            for key in keys {
                self.size = self.size.saturating_sub(ENTRY);
                let Some(sessions) = self.open.get_mut(&key) else { continue };
                if let Some(at) = sessions.iter().position(|s| s.end == end) {
                    let session = sessions.remove(at);
                    for row in session.rows {
                        self.size = self.size.saturating_sub(row.len() + ENTRY);
                        ended.rows.push(row);
                        ended.bounds.push((session.start, session.end));
                    }
                }
                if sessions.is_empty() {
                    self.size = self.size.saturating_sub(key.len() + ENTRY);
                    self.open.remove(&key);
                }
            }
        }
    }

    /// Puts a row into its session, which may join others, unless it has ended.
    fn add(&mut self, key: &[u8], time: i64, row: &[u8]) {
        let (start, end) = (time, time.saturating_add(self.gap));
        let sessions = self.open.get(key).map(Vec::as_slice).unwrap_or_default();
        let first = sessions.partition_point(|s| s.end < start);
        let touched = sessions.iter().skip(first).take_while(|s| s.start <= end).count();
        let joined = sessions.iter().skip(first).take(touched).fold(end, |end, s| end.max(s.end));
        if self.watermark.is_some_and(|w| joined.saturating_sub(1) <= w) {
            return;
        }
        let key: Arc<[u8]> = match self.open.get_key_value(key) {
            Some((known, _)) => known.clone(),
            None => {
                self.size += key.len() + ENTRY;
                key.into()
            }
        };
        let sessions = self.open.entry(key.clone()).or_default();
        let mut whole = Open { start, end, rows: vec![] };
        for session in sessions.drain(first..first + touched) {
            whole.start = whole.start.min(session.start);
            whole.end = whole.end.max(session.end);
            if whole.rows.is_empty() {
                whole.rows = session.rows;
            } else {
                whole.rows.extend(session.rows);
            }
        }
        self.size += row.len() + ENTRY;
        whole.rows.push(row.into());
        let end = whole.end;
        sessions.insert(first, whole);
        let keys = self.ends.entry(end).or_default();
        if keys.last() != Some(&key) {
            self.size += ENTRY;
            keys.push(key);
        }
    }

    fn flush(&self, ended: &mut Ended, out: &mut Vec<RecordBatch>) -> Result<()> {
        if ended.rows.is_empty() {
            return Ok(());
        }
        let ended = std::mem::take(ended);
        let mut columns: Vec<ArrayRef> = self.rows.decode(ended.rows.iter().map(AsRef::as_ref))?;
        let (mut starts, mut ends) = (Int64Builder::new(), Int64Builder::new());
        for (start, end) in ended.bounds {
            starts.append_value(start);
            ends.append_value(end);
        }
        columns.push(Arc::new(starts.finish()));
        columns.push(Arc::new(ends.finish()));
        out.push(RecordBatch::try_new(self.schema.clone(), columns)?);
        Ok(())
    }
}

impl Running for Sessions {
    fn rows(&mut self, _: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize> {
        let columns = batch.columns();
        let count = columns.len();
        let numbers = |from_end: usize| {
            let column = count.checked_sub(from_end).and_then(|i| columns.get(i));
            column
                .and_then(|c| c.as_primitive_opt::<Int64Type>())
                .ok_or_else(|| internal("sessions of rows without times"))
        };
        let (times, watermarks) = (numbers(2)?, numbers(1)?);
        let part = |from: usize, to: usize| columns.get(from..to).ok_or_else(|| internal("sessions without keys"));
        let rows = self.rows.encode(part(0, self.width)?)?;
        let keys = self.keys.encode(part(self.width, count.saturating_sub(2))?)?;
        let mut ended = Ended::default();
        for row in 0..batch.num_rows() {
            if watermarks.is_valid(row) && self.watermark.is_none_or(|w| w < watermarks.value(row)) {
                self.watermark = Some(watermarks.value(row));
                self.advance(watermarks.value(row), &mut ended);
            }
            if times.is_valid(row) {
                self.add(keys.row(row), times.value(row), rows.row(row));
            }
        }
        self.flush(&mut ended, out)?;
        Ok(batch.num_rows())
    }

    fn end(&mut self, _: usize, out: &mut Vec<RecordBatch>) -> Result<()> {
        let mut ended = Ended::default();
        self.advance(i64::MAX, &mut ended);
        self.flush(&mut ended, out)
    }

    fn size(&self) -> usize {
        self.size
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use arrow::array::{Int64Array, StringArray};

    use super::*;

    /// Rows of a key, a time and the watermark before them, and the sessions they are in: key, time, start, end.
    fn run(gap: i64, rows: &[(&str, i64, Option<i64>)]) -> Vec<(String, i64, i64, i64)> {
        let schema = Arc::new(Schema::new(vec![
            Field::new("k", DataType::Utf8, true),
            Field::new("t", DataType::Int64, false),
            Field::new("key", DataType::Utf8, true),
            Field::new("time", DataType::Int64, true),
            Field::new("watermark", DataType::Int64, true),
        ]));
        let keys: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|r| r.0)));
        let times: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.1)));
        let marks: ArrayRef = Arc::new(rows.iter().map(|r| r.2).collect::<Int64Array>());
        let columns = vec![keys.clone(), times.clone(), keys, times, marks];
        let batch = RecordBatch::try_new(schema.clone(), columns).unwrap();
        let session = Session::new(schema, 2, gap).unwrap();
        let mut running = session.start(&Arc::new(TaskContext::default())).unwrap();
        let mut out = vec![];
        running.rows(0, &batch, &mut out).unwrap();
        running.end(0, &mut out).unwrap();
        assert_eq!(running.size(), 0, "all state is gone");
        let mut found = vec![];
        for batch in out {
            let number = |i: usize, row: usize| batch.column(i).as_primitive::<Int64Type>().value(row);
            for row in 0..batch.num_rows() {
                let key = batch.column(0).as_string::<i32>().value(row).to_owned();
                found.push((key, number(1, row), number(2, row), number(3, row)));
            }
        }
        found
    }

    fn row(key: &str, time: i64, start: i64, end: i64) -> (String, i64, i64, i64) {
        (key.to_owned(), time, start, end)
    }

    #[test]
    fn a_pause_ends_a_session() {
        // a row exactly a gap later is in it still
        let rows = [("a", 1, None), ("b", 4, None), ("a", 6, None), ("a", 12, None)];
        let expected = [row("b", 4, 4, 9), row("a", 1, 1, 11), row("a", 6, 1, 11), row("a", 12, 12, 17)];
        assert_eq!(run(5, &rows), expected);
    }

    #[test]
    fn a_row_between_joins_sessions() {
        let rows = [("a", 1, None), ("a", 9, None), ("a", 5, None)];
        let expected = [row("a", 1, 1, 14), row("a", 9, 1, 14), row("a", 5, 1, 14)];
        assert_eq!(run(5, &rows), expected);
    }

    #[test]
    fn late_rows_are_dropped_unless_their_session_goes_on() {
        // that of 1 ends at 6, with the watermark 5, and that of 2 would end at 7, with 6; that of 9 and 13 goes on
        let rows = [("a", 1, None), ("a", 9, Some(4)), ("a", 13, Some(5)), ("a", 2, Some(6)), ("a", 8, Some(12))];
        let expected = [row("a", 1, 1, 6), row("a", 9, 8, 18), row("a", 13, 8, 18), row("a", 8, 8, 18)];
        assert_eq!(run(5, &rows), expected);
    }
}
