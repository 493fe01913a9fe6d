//! Deduplication: the first or the last row of each key, in time.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::execution::TaskContext;

use crate::op::Op;
use crate::operator::{Operator, Running, internal};
use crate::rows::{self, Bytes, Changes, Codec};

/// One row of each key, over an input that only adds rows. The columns of the output are those of the input, then the
/// changes, if there can be any.
#[derive(Debug)]
pub struct Deduplicate {
    /// The input's columns.
    pub input: SchemaRef,
    /// How many of them are the relation's.
    pub width: usize,
    /// The key.
    pub keys: Vec<usize>,
    /// The time: rows compare by it. `None` is the time of arrival.
    pub time: Option<usize>,
    /// The last row, not the first.
    pub last: bool,
}

impl Deduplicate {
    /// Whether only rows are added: the first one in the order of arrival never changes.
    pub fn adds_only(&self) -> bool {
        self.time.is_none() && !self.last
    }
}

impl Operator for Deduplicate {
    fn name(&self) -> &'static str {
        "Deduplicate"
    }

    fn describe(&self) -> String {
        let keys: Vec<String> = self.keys.iter().map(|k| format!("${k}")).collect();
        let kept = if self.last { "LastRow" } else { "FirstRow" };
        let time = if self.time.is_some() { "ROWTIME" } else { "PROCTIME" };
        format!("keep=[{kept}], key=[{}], order=[{time}]", keys.join(", "))
    }

    fn schema(&self) -> SchemaRef {
        let mut fields: Vec<Arc<Field>> = self.input.fields().iter().take(self.width).cloned().collect();
        if !self.adds_only() {
            fields.push(Arc::new(Op::field()));
        }
        Arc::new(Schema::new(fields))
    }

    fn start(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Running>> {
        let type_of = |i: &usize| {
            let field = self.input.fields().get(*i).ok_or_else(|| internal(format!("there is no column {i}")))?;
            Ok(field.data_type().clone())
        };
        let row: Vec<usize> = (0..self.width).collect();
        Ok(Box::new(Kept {
            keys: Codec::new(self.keys.iter().map(type_of).collect::<Result<Vec<_>>>()?)?,
            times: Codec::new(self.time.iter().map(type_of).collect::<Result<Vec<_>>>()?)?,
            codec: Codec::new(row.iter().map(type_of).collect::<Result<Vec<_>>>()?)?,
            row,
            key_columns: self.keys.clone(),
            time_column: self.time.into_iter().collect(),
            last: self.last,
            timed: self.time.is_some(),
            schema: self.schema(),
            kept: HashMap::new(),
            size: 0,
        }))
    }
}

struct Kept {
    keys: Codec,
    times: Codec,
    codec: Codec,
    row: Vec<usize>,
    key_columns: Vec<usize>,
    time_column: Vec<usize>,
    last: bool,
    timed: bool,
    schema: SchemaRef,
    kept: HashMap<Bytes, (Bytes, Bytes)>,
    size: usize,
}

impl Running for Kept {
    fn rows(&mut self, _: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize> {
        let keys = self.keys.encode(&rows::columns(batch, &self.key_columns)?)?;
        let times = self.times.encode(&rows::columns(batch, &self.time_column)?)?;
        let values = self.codec.encode(&rows::columns(batch, &self.row)?)?;
        let mut changes = Changes::default();
        for at in 0..batch.num_rows() {
            let (key, time, row) = (keys.row(at), times.row(at), values.row(at));
            match self.kept.entry(key.into()) {
                Entry::Vacant(entry) => {
                    changes.push(Op::Insert, row);
                    // the first row to arrive is never looked at again
                    let row: Bytes = if self.timed || self.last { row.into() } else { Bytes::default() };
                    self.size += key.len() + time.len() + row.len() + rows::ENTRY;
                    entry.insert((time.into(), row));
                }
                Entry::Occupied(mut entry) => {
                    let (old_time, old) = entry.get();
                    let replaces = match (self.last, self.timed) {
                        (true, _) => old_time.as_ref() <= time,
                        (false, true) => time < old_time.as_ref(),
                        (false, false) => false,
                    };
                    if !replaces {
                        continue;
                    }
                    if self.timed || old.as_ref() != row {
                        changes.push(Op::UpdateBefore, old);
                        changes.push(Op::UpdateAfter, row);
                        self.size = (self.size + row.len()).saturating_sub(old.len());
                    }
                    entry.insert((time.into(), row.into()));
                }
            }
        }
        if !changes.is_empty() {
            let columns = changes.left(&self.codec)?;
            out.push(changes.batch(&self.schema, columns)?);
        }
        Ok(batch.num_rows())
    }

    fn size(&self) -> usize {
        self.size
    }
}
