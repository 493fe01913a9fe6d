//! MATCH_RECOGNIZE: the matches of a pattern in the rows of each key.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{SortOptions, concat, take};
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;

use crate::aggregate::Call;
use crate::aggregate::state::Calls;
use crate::operator::{Operator, Running, failure, internal};
use crate::pattern::{Element, Matches, Skip, Taken};
use crate::rows::{self, Bytes, Codec, Encoded};
use crate::watermark::null_rowtime;

/// A value of the rows of a match.
#[derive(Debug, Clone)]
pub enum Navigation {
    /// A column of the n-th row of a variable, from 0, or of all variables together; NULL without such a row.
    First {
        /// The variable; `None` for all rows.
        variable: Option<usize>,
        /// How many rows from the first one.
        offset: usize,
        /// The input's column.
        column: usize,
    },
    /// As `First`, counted from the last row.
    Last {
        /// The variable; `None` for all rows.
        variable: Option<usize>,
        /// How many rows from the last one.
        offset: usize,
        /// The input's column.
        column: usize,
    },
    /// An aggregate of a variable's rows, computed anew for each row that is asked for.
    Aggregate {
        /// The variable; `None` for all rows.
        variable: Option<usize>,
        /// The call.
        call: Call,
    },
}

/// Expressions over values of a match.
#[derive(Debug, Clone)]
pub struct Formula {
    /// The values.
    pub navigations: Vec<Navigation>,
    /// The values as columns; each may be NULL.
    pub row: SchemaRef,
    /// The expressions over them.
    pub exprs: Vec<Arc<dyn PhysicalExpr>>,
}

/// The matches of a pattern. Its rows are the keys and the measures of each match.
#[derive(Debug)]
pub struct Match {
    /// Columns of the input.
    pub input: SchemaRef,
    /// The columns whose values have matches of their own.
    pub keys: Vec<usize>,
    /// The order of the rows, the first column being the time.
    pub order: Vec<(usize, SortOptions)>,
    /// The pattern.
    pub elements: Vec<Element>,
    /// Where the next match may begin.
    pub skip: Skip,
    /// How many milliseconds behind its first row a match's last row must be at most, and one less.
    pub within: Option<i64>,
    /// For each variable the BOOLEAN that its rows fulfil; without one, all rows do.
    pub definitions: Vec<Option<Formula>>,
    /// What a match gives.
    pub measures: Formula,
    /// Keys, then measures.
    pub schema: SchemaRef,
}

impl Operator for Match {
    fn name(&self) -> &'static str {
        "Match"
    }

    fn describe(&self) -> String {
        let quantifier = |e: &Element| {
            let reluctant = if e.greedy { "" } else { "?" };
            match (e.min, e.max) {
                (1, Some(1)) => String::new(),
                (min, None) => format!("{{{min},}}{reluctant}"),
                (min, Some(max)) => format!("{{{min},{max}}}{reluctant}"),
            }
        };
        let pattern: Vec<String> = self.elements.iter().map(|e| format!("{}{}", e.name, quantifier(e))).collect();
        format!("pattern=[{}]", pattern.join(" "))
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn order(&self) -> &[(usize, SortOptions)] {
        &self.order
    }

    fn start(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Running>> {
        let type_of = |i: &usize| -> Result<DataType> {
            let field = self.input.fields().get(*i).ok_or_else(|| internal(format!("there is no column {i}")))?;
            Ok(field.data_type().clone())
        };
        let definitions = self.definitions.iter();
        let definitions = definitions.map(|formula| formula.as_ref().map(|f| Ready::new(f, &self.input)).transpose());
        Ok(Box::new(Matching {
            codec: Codec::new(self.keys.iter().map(type_of).collect::<Result<Vec<_>>>()?)?,
            keys: self.keys.clone(),
            elements: self.elements.clone(),
            skip: self.skip,
            within: self.within.map(|limit| (limit, self.order.first().map_or(0, |(column, _)| *column))),
            definitions: definitions.collect::<Result<_>>()?,
            measures: Ready::new(&self.measures, &self.input)?,
            schema: self.schema.clone(),
            sequences: HashMap::new(),
            kept: 0,
            held: Arc::default(),
        }))
    }
}

/// A formula with its aggregates ready to make states.
struct Ready {
    formula: Formula,
    calls: Vec<Option<Calls>>,
}

struct Matching {
    codec: Codec,
    keys: Vec<usize>,
    elements: Vec<Element>,
    skip: Skip,
    /// The limit, and the column of times.
    within: Option<(i64, usize)>,
    definitions: Vec<Option<Ready>>,
    measures: Ready,
    schema: SchemaRef,
    sequences: HashMap<Bytes, Sequence>,
    /// The bytes of the sequences without their batches.
    kept: usize,
    /// The bytes of the batches that rows refer to.
    held: Arc<AtomicUsize>,
}

/// The rows of a key that open matches refer to.
#[derive(Default)]
struct Sequence {
    matches: Matches,
    rows: Kept,
    /// The bytes of all that, without the batches.
    size: usize,
}

/// Rows that follow each other.
#[derive(Default)]
struct Kept {
    /// The number of the first one.
    first: u64,
    rows: VecDeque<Row>,
}

impl Kept {
    fn get(&self, number: u64) -> Option<&Row> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }

    /// Adds a row; gives its number.
    fn push(&mut self, row: Row) -> u64 {
        self.rows.push_back(row);
        self.first + self.rows.len() as u64 - 1
    }

    /// Drops the rows before a number.
    fn drop_before(&mut self, number: u64) {
        while self.first < number && self.rows.pop_front().is_some() {
            self.first += 1;
        }
    }
}

/// A row of a batch.
struct Row {
    held: Arc<Held>,
    row: usize,
}

impl Row {
    fn value(&self, column: usize) -> Result<ScalarValue> {
        let columns = self.held.batch.columns();
        let column = columns.get(column).ok_or_else(|| internal(format!("there is no column {column}")))?;
        ScalarValue::try_from_array(column, self.row)
    }
}

/// A batch that is charged as a whole, as long as one row refers to it.
struct Held {
    batch: RecordBatch,
    size: usize,
    total: Arc<AtomicUsize>,
}

impl Held {
    fn new(batch: RecordBatch, total: &Arc<AtomicUsize>) -> Arc<Self> {
        let size = batch.get_array_memory_size();
        total.fetch_add(size, Ordering::Relaxed);
        Arc::new(Self { batch, size, total: total.clone() })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.total.fetch_sub(self.size, Ordering::Relaxed);
    }
}

impl Ready {
    fn new(formula: &Formula, input: &SchemaRef) -> Result<Self> {
        let calls = formula.navigations.iter().map(|navigation| match navigation {
            Navigation::Aggregate { call, .. } => Calls::new(std::slice::from_ref(call), input, false).map(Some),
            _ => Ok(None),
        });
        Ok(Self { formula: formula.clone(), calls: calls.collect::<Result<_>>()? })
    }

    /// The expressions' values for rows of a match, each an array of one.
    fn values(&self, taken: &Taken, rows: &Kept) -> Result<Vec<ArrayRef>> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.calls.len());
        for ((navigation, calls), field) in
            self.formula.navigations.iter().zip(&self.calls).zip(self.formula.row.fields())
        {
            let value = match (navigation, calls) {
                (Navigation::First { variable, offset, column }, _) => {
                    let row = taken.rows(*variable).nth(*offset).and_then(|row| rows.get(row));
                    row.map(|row| row.value(*column)).transpose()?
                }
                (Navigation::Last { variable, offset, column }, _) => {
                    let row = taken.rows(*variable).nth_back(*offset).and_then(|row| rows.get(row));
                    row.map(|row| row.value(*column)).transpose()?
                }
                (Navigation::Aggregate { variable, .. }, Some(calls)) => {
                    let mut states = calls.states()?;
                    for row in taken.rows(*variable).filter_map(|row| rows.get(row)) {
                        let one = row.held.batch.slice(row.row, 1);
                        calls.add(&mut states, &calls.input(&one)?, 0)?;
                    }
                    calls.values(&mut states)?.pop()
                }
                (Navigation::Aggregate { .. }, None) => return Err(internal("an aggregate that is not ready")),
            };
            let value = value.map_or_else(|| ScalarValue::try_from(field.data_type()), Ok)?;
            columns.push(value.to_array()?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let row = RecordBatch::try_new_with_options(self.formula.row.clone(), columns, &options)?;
        self.formula.exprs.iter().map(|expr| expr.evaluate(&row)?.into_array(1)).collect()
    }
}

/// The time of a row in milliseconds.
fn millis(rows: &Kept, row: u64, column: usize) -> Result<i64> {
    let row = rows.get(row).ok_or_else(|| internal("a row of a match is missing"))?;
    match row.value(column)? {
        ScalarValue::TimestampMicrosecond(Some(micros), _) => Ok(micros.div_euclid(1000)),
        ScalarValue::TimestampNanosecond(Some(nanos), _) => Ok(nanos.div_euclid(1_000_000)),
        ScalarValue::TimestampMicrosecond(None, _) | ScalarValue::TimestampNanosecond(None, _) => {
            Err(failure(null_rowtime("the first column of ORDER BY")))
        }
        other => Err(internal(format!("the time of a row of a match is {}", other.data_type()))),
    }
}

/// Adds a match's row to those that are given.
fn give(keys: &[usize], measures: &Ready, taken: &Taken, rows: &Kept, found: &mut [Vec<ArrayRef>]) -> Result<()> {
    let first = rows.get(taken.first()).ok_or_else(|| internal("a match without rows"))?;
    let keys = rows::columns(&first.held.batch, keys)?;
    let keys = keys.iter().map(|column| column.slice(first.row, 1));
    for (column, value) in found.iter_mut().zip(keys.chain(measures.values(taken, rows)?)) {
        column.push(value);
    }
    Ok(())
}

impl Running for Matching {
    fn rows(&mut self, _: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize> {
        let keys = self.codec.encode(&rows::columns(batch, &self.keys)?)?;
        let mut found: Vec<Vec<ArrayRef>> = vec![vec![]; self.schema.fields().len()];
        let held = Held::new(batch.clone(), &self.held);
        for row in 0..batch.num_rows() {
            self.row(Row { held: held.clone(), row }, keys.row(row), &mut found)?;
        }
        out.extend(self.batch(found)?);
        self.compact(&held, &keys)?;
        Ok(batch.num_rows())
    }

    /// The end of time ends the matches that have a limit, and with that the waiting of others; without a limit they may go
    /// on for ever, and what waits for them is not given, as in Flink.
    fn end(&mut self, _: usize, out: &mut Vec<RecordBatch>) -> Result<()> {
        if self.within.is_none() {
            return Ok(());
        }
        let mut found: Vec<Vec<ArrayRef>> = vec![vec![]; self.schema.fields().len()];
        for Sequence { matches, rows, .. } in self.sequences.values_mut() {
            for taken in matches.end(&self.elements, self.skip)? {
                give(&self.keys, &self.measures, &taken, rows, &mut found)?;
            }
        }
        out.extend(self.batch(found)?);
        Ok(())
    }

    fn size(&self) -> usize {
        self.kept + self.held.load(Ordering::Relaxed)
    }
}

impl Matching {
    fn row(&mut self, row: Row, key: &[u8], found: &mut [Vec<ArrayRef>]) -> Result<()> {
        if !self.sequences.contains_key(key) {
            self.sequences.insert(key.into(), Sequence::default());
        }
        let Some(Sequence { matches, rows, size }) = self.sequences.get_mut(key) else {
            return Err(internal("no rows of a key"));
        };
        let number = rows.push(row);
        if let Some((limit, column)) = self.within {
            let now = millis(rows, number, column)?;
            matches.expire(|first| Ok(now.saturating_sub(millis(rows, first, column)?) >= limit))?;
        }
        let definitions = &self.definitions;
        let mut accepts = |taken: &Taken| {
            let Some(element) = taken.variable() else { return Ok(false) };
            let Some(Some(definition)) = definitions.get(element) else { return Ok(true) };
            let values = definition.values(taken, rows)?;
            let value = values.first().and_then(|value| value.as_boolean_opt());
            Ok(value.is_some_and(|value| value.is_valid(0) && value.value(0)))
        };
        for taken in matches.row(number, &self.elements, self.skip, &mut accepts)? {
            give(&self.keys, &self.measures, &taken, rows, found)?;
        }
        let before = *size;
        match matches.oldest() {
            Some(oldest) => {
                rows.drop_before(oldest);
                *size = key.len() + rows::ENTRY + rows.rows.len() * size_of::<Row>() + matches.size();
                self.kept = self.kept.saturating_sub(before).saturating_add(*size);
            }
            None => {
                self.sequences.remove(key);
                self.kept = self.kept.saturating_sub(before);
            }
        }
        Ok(())
    }

    /// The batch of rows that are given, column by column.
    fn batch(&self, found: Vec<Vec<ArrayRef>>) -> Result<Option<RecordBatch>> {
        if found.first().is_none_or(Vec::is_empty) {
            return Ok(None);
        }
        let columns = found.iter().map(|parts| concat(&parts.iter().map(AsRef::as_ref).collect::<Vec<_>>()));
        let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(Some(RecordBatch::try_new(self.schema.clone(), columns)?))
    }

    /// Copies the rows of a batch that are still needed if they are few, so that the batch can go.
    fn compact(&mut self, held: &Arc<Held>, keys: &Encoded) -> Result<()> {
        // each row has a reference
        let kept = Arc::strong_count(held) - 1;
        if kept == 0 || kept * 2 >= held.batch.num_rows() {
            return Ok(());
        }
        let touched: HashSet<&[u8]> = (0..held.batch.num_rows()).map(|row| keys.row(row)).collect();
        let mut indices = Vec::with_capacity(kept);
        for key in &touched {
            let rows = self.sequences.get(*key).into_iter().flat_map(|sequence| sequence.rows.rows.iter().rev());
            for row in rows.take_while(|row| Arc::ptr_eq(&row.held, held)) {
                indices.push(u32::try_from(row.row).map_err(internal)?);
            }
        }
        let indices = UInt32Array::from(indices);
        let columns = held.batch.columns().iter().map(|column| take(column, &indices, None));
        let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(indices.len()));
        let copy = RecordBatch::try_new_with_options(held.batch.schema(), columns, &options)?;
        let copy = Held::new(copy, &self.held);
        let mut at = 0;
        for key in &touched {
            let Some(sequence) = self.sequences.get_mut(*key) else { continue };
            for row in sequence.rows.rows.iter_mut().rev().take_while(|row| Arc::ptr_eq(&row.held, held)) {
                *row = Row { held: copy.clone(), row: at };
                at += 1;
            }
        }
        Ok(())
    }
}
