//! MATCH_RECOGNIZE: the matches of a pattern in the rows of each key.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{SortOptions, concat, take};
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;

use crate::aggregate::Call;
use crate::aggregate::state::Calls;
use crate::operator::{Operator, Running, internal};
use crate::pattern::{Element, Matches, Skip, Taken};
use crate::rows::{self, Bytes, Codec};

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
            next: 0,
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
    /// The number of the next row.
    next: u64,
}

/// The rows of a key that open matches refer to.
#[derive(Default)]
struct Sequence {
    matches: Matches,
    rows: BTreeMap<u64, Row>,
}

/// A row of a batch.
#[derive(Clone)]
struct Row {
    batch: RecordBatch,
    row: usize,
}

impl Row {
    fn value(&self, column: usize) -> Result<ScalarValue> {
        let column =
            self.batch.columns().get(column).ok_or_else(|| internal(format!("there is no column {column}")))?;
        ScalarValue::try_from_array(column, self.row)
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
    fn values(&self, taken: &Taken, rows: &BTreeMap<u64, Row>) -> Result<Vec<ArrayRef>> {
        let of = |variable: &Option<usize>| {
            let variable = *variable;
            let chosen = taken.iter().filter(move |(element, _)| variable.is_none_or(|v| v == *element));
            chosen.filter_map(|(_, row)| rows.get(row))
        };
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.calls.len());
        for ((navigation, calls), field) in
            self.formula.navigations.iter().zip(&self.calls).zip(self.formula.row.fields())
        {
            let value = match (navigation, calls) {
                (Navigation::First { variable, offset, column }, _) => {
                    of(variable).nth(*offset).map(|row| row.value(*column)).transpose()?
                }
                (Navigation::Last { variable, offset, column }, _) => {
                    of(variable).rev().nth(*offset).map(|row| row.value(*column)).transpose()?
                }
                (Navigation::Aggregate { variable, .. }, Some(calls)) => {
                    let mut states = calls.states()?;
                    for row in of(variable) {
                        let one = row.batch.slice(row.row, 1);
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
fn millis(rows: &BTreeMap<u64, Row>, row: u64, column: usize) -> Result<i64> {
    let value = rows.get(&row).ok_or_else(|| internal("a row of a match is missing"))?.value(column)?;
    match value {
        ScalarValue::TimestampMicrosecond(Some(micros), _) => Ok(micros.div_euclid(1000)),
        ScalarValue::TimestampNanosecond(Some(nanos), _) => Ok(nanos.div_euclid(1_000_000)),
        _ => Err(internal("a row of a match without time")),
    }
}

/// Adds a match's row to those that are given.
fn give(
    keys: &[usize],
    measures: &Ready,
    taken: &Taken,
    rows: &BTreeMap<u64, Row>,
    found: &mut [Vec<ArrayRef>],
) -> Result<()> {
    let first = taken.first().and_then(|(_, row)| rows.get(row)).ok_or_else(|| internal("a match without rows"))?;
    let keys = rows::columns(&first.batch, keys)?;
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
        for row in 0..batch.num_rows() {
            self.row(batch, row, keys.row(row), &mut found)?;
        }
        out.extend(self.batch(found)?);
        self.compact(batch)?;
        Ok(batch.num_rows())
    }

    /// The end of time ends the matches that have a limit, and with that the waiting of others; without a limit they may go
    /// on for ever, and what waits for them is not given, as in Flink.
    fn end(&mut self, _: usize, out: &mut Vec<RecordBatch>) -> Result<()> {
        if self.within.is_none() {
            return Ok(());
        }
        let mut found: Vec<Vec<ArrayRef>> = vec![vec![]; self.schema.fields().len()];
        for Sequence { matches, rows } in self.sequences.values_mut() {
            for taken in matches.end(&self.elements, self.skip)? {
                give(&self.keys, &self.measures, &taken, rows, &mut found)?;
            }
        }
        out.extend(self.batch(found)?);
        Ok(())
    }

    fn size(&self) -> usize {
        let sequence = |(key, sequence): (&Bytes, &Sequence)| {
            let rows: usize =
                sequence.rows.values().map(|row| row.batch.get_array_memory_size() / row.batch.num_rows().max(1)).sum();
            key.len() + rows::ENTRY + rows + sequence.matches.size()
        };
        self.sequences.iter().map(sequence).sum()
    }
}

impl Matching {
    fn row(&mut self, batch: &RecordBatch, row: usize, key: &[u8], found: &mut [Vec<ArrayRef>]) -> Result<()> {
        let number = self.next;
        self.next += 1;
        if !self.sequences.contains_key(key) {
            self.sequences.insert(key.into(), Sequence::default());
        }
        let Some(Sequence { matches, rows }) = self.sequences.get_mut(key) else {
            return Err(internal("no rows of a key"));
        };
        rows.insert(number, Row { batch: batch.clone(), row });
        if let Some((limit, column)) = self.within {
            let now = millis(&rows, number, column)?;
            let mut expired = None;
            for first in matches.starts() {
                if now.saturating_sub(millis(&rows, first, column)?) >= limit {
                    expired = expired.max(Some(first));
                }
            }
            if let Some(expired) = expired {
                matches.drop_until(expired);
            }
        }
        let definitions = &self.definitions;
        let mut accepts = |taken: &Taken| {
            let Some((element, _)) = taken.last() else { return Ok(false) };
            let Some(Some(definition)) = definitions.get(*element) else { return Ok(true) };
            let values = definition.values(taken, rows)?;
            let value = values.first().and_then(|value| value.as_boolean_opt());
            Ok(value.is_some_and(|value| value.is_valid(0) && value.value(0)))
        };
        for taken in matches.row(number, &self.elements, self.skip, &mut accepts)? {
            give(&self.keys, &self.measures, &taken, rows, found)?;
        }
        match matches.oldest() {
            Some(oldest) => *rows = rows.split_off(&oldest),
            None => {
                self.sequences.remove(key);
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

    /// Copies the rows of a batch that are still needed, so that the batch can go.
    fn compact(&mut self, batch: &RecordBatch) -> Result<()> {
        let is_of = |row: &Row| match (row.batch.columns().first(), batch.columns().first()) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let mut kept: Vec<&mut Row> = self.sequences.values_mut().flat_map(|s| s.rows.values_mut()).collect();
        kept.retain(|row| is_of(row));
        if kept.len() * 2 >= batch.num_rows() {
            return Ok(());
        }
        let indices = kept.iter().map(|row| u32::try_from(row.row)).collect::<std::result::Result<Vec<_>, _>>();
        let indices = UInt32Array::from(indices.map_err(internal)?);
        let columns = batch.columns().iter().map(|column| take(column, &indices, None));
        let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(kept.len()));
        let copy = RecordBatch::try_new_with_options(batch.schema(), columns, &options)?;
        for (at, row) in kept.into_iter().enumerate() {
            *row = Row { batch: copy.clone(), row: at };
        }
        Ok(())
    }
}
