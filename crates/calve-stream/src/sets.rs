//! `INTERSECT ALL` and `EXCEPT ALL`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::execution::TaskContext;

use crate::op::{Op, Ops};
use crate::operator::{Operator, Running, internal};
use crate::rows::{self, Bytes, Changes, Codec};

/// Rows with how often they are on both sides: the lesser number of times (INTERSECT ALL), or as often as the left side
/// has them more often than the right one (EXCEPT ALL).
#[derive(Debug)]
pub struct SetAll {
    /// The left and the right input's columns; those of the relation come first and have equal types.
    pub inputs: [SchemaRef; 2],
    /// How many are the relation's.
    pub width: usize,
    /// The inputs' columns of changes.
    pub ops: [Option<usize>; 2],
    /// EXCEPT, not INTERSECT.
    pub except: bool,
}

impl Operator for SetAll {
    fn name(&self) -> &'static str {
        if self.except { "ExceptAll" } else { "IntersectAll" }
    }

    fn schema(&self) -> SchemaRef {
        let [left, _] = &self.inputs;
        let fields = left.fields().iter().take(self.width);
        let mut fields: Vec<Field> = fields.map(|f| f.as_ref().clone().with_nullable(true)).collect();
        fields.push(Op::field());
        Arc::new(Schema::new(fields))
    }

    fn start(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Running>> {
        let [left, _] = &self.inputs;
        Ok(Box::new(Counts {
            codec: Codec::new(left.fields().iter().take(self.width).map(|f| f.data_type().clone()))?,
            width: self.width,
            ops: self.ops,
            except: self.except,
            schema: self.schema(),
            rows: HashMap::new(),
            size: 0,
        }))
    }
}

struct Counts {
    codec: Codec,
    width: usize,
    ops: [Option<usize>; 2],
    except: bool,
    schema: SchemaRef,
    rows: HashMap<Bytes, [u64; 2]>,
    size: usize,
}

impl Counts {
    fn times(&self, [left, right]: [u64; 2]) -> u64 {
        if self.except { left.saturating_sub(right) } else { left.min(right) }
    }
}

impl Running for Counts {
    fn rows(&mut self, input: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize> {
        let ops = Ops::new(batch, self.ops.get(input).copied().flatten())?;
        let values = self.codec.encode(&rows::columns(batch, &(0..self.width).collect::<Vec<_>>())?)?;
        let mut changes = Changes::default();
        for at in 0..batch.num_rows() {
            let row = values.row(at);
            if !self.rows.contains_key(row) {
                self.size += row.len() + rows::ENTRY;
                self.rows.insert(row.into(), [0, 0]);
            }
            let before = self.rows.get(row).copied().unwrap_or_default();
            let mut now = before;
            let Some(side) = now.get_mut(input) else { return Err(internal("a set operation of three inputs")) };
            *side = if ops.get(at)?.adds() { side.saturating_add(1) } else { side.saturating_sub(1) };
            match self.times(now).cmp(&self.times(before)) {
                std::cmp::Ordering::Greater => changes.push(Op::Insert, row),
                std::cmp::Ordering::Less => changes.push(Op::Delete, row),
                std::cmp::Ordering::Equal => {}
            }
            if now == [0, 0] {
                self.rows.remove(row);
                self.size = self.size.saturating_sub(row.len() + rows::ENTRY);
            } else if let Some(counts) = self.rows.get_mut(row) {
                *counts = now;
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
