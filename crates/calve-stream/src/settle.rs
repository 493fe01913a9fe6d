//! What is left of a changelog for each key of a table.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::TaskContext;

use crate::op::{Op, Ops};
use crate::operator::{Operator, Running, internal};
use crate::rows::{self, Bytes, Changes, Codec};

/// The last row of each key at the end of the input (`+I`), and the keys of which no row is left (`-D`), each once. As
/// Flink's `SinkUpsertMaterializer`, it keeps the rows of a key in the order in which they came: a row that is taken back
/// uncovers the one before it, and one that never came is not taken back.
#[derive(Debug)]
pub struct Settle {
    /// The input's columns and the output's: the relation's, then the changes.
    pub schema: SchemaRef,
    /// The table's key.
    pub keys: Vec<usize>,
}

impl Operator for Settle {
    fn name(&self) -> &'static str {
        "SinkMaterializer"
    }

    fn describe(&self) -> String {
        let keys: Vec<String> = self.keys.iter().map(|k| format!("${k}")).collect();
        format!("primaryKey=[{}]", keys.join(", "))
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn start(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Running>> {
        let types: Vec<_> = self.schema.fields().iter().map(|f| f.data_type().clone()).collect();
        let width = types.len().saturating_sub(1);
        let key_types =
            self.keys.iter().map(|i| types.get(*i).cloned().ok_or_else(|| internal(format!("no column {i}"))));
        Ok(Box::new(Settling {
            key_codec: Codec::new(key_types.collect::<Result<Vec<_>>>()?)?,
            codec: Codec::new(types.into_iter().take(width))?,
            width,
            key_columns: self.keys.clone(),
            schema: self.schema.clone(),
            places: HashMap::new(),
            entries: vec![],
            size: 0,
        }))
    }
}

struct Settling {
    key_codec: Codec,
    codec: Codec,
    width: usize,
    key_columns: Vec<usize>,
    schema: SchemaRef,
    places: HashMap<Bytes, usize>,
    /// The keys in the order in which they came.
    entries: Vec<Entry>,
    size: usize,
}

#[derive(Default)]
struct Entry {
    rows: Vec<Bytes>,
    /// The row that was taken back last: it has the key. `None` if none came that could be.
    gone: Option<Bytes>,
}

/// Rows of a batch of output.
const MOST: usize = 8192;

impl Running for Settling {
    fn rows(&mut self, _: usize, batch: &RecordBatch, _: &mut Vec<RecordBatch>) -> Result<usize> {
        let ops = Ops::new(batch, Some(self.width))?;
        let keys = self.key_codec.encode(&rows::columns(batch, &self.key_columns)?)?;
        let values = self.codec.encode(&rows::columns(batch, &(0..self.width).collect::<Vec<_>>())?)?;
        for at in 0..batch.num_rows() {
            let (key, row) = (keys.row(at), values.row(at));
            let place = match self.places.get(key) {
                Some(place) => *place,
                None => {
                    self.places.insert(key.into(), self.entries.len());
                    self.entries.push(Entry::default());
                    self.size += key.len() + rows::ENTRY + size_of::<Entry>();
                    self.entries.len() - 1
                }
            };
            let Some(entry) = self.entries.get_mut(place) else { return Err(internal("a key is missing")) };
            if ops.get(at)?.adds() {
                self.size += row.len() + size_of::<Bytes>();
                entry.rows.push(row.into());
            } else if let Some(at) = entry.rows.iter().position(|r| r.as_ref() == row) {
                let before = entry.gone.replace(entry.rows.remove(at));
                let freed = before.map_or(0, |gone| gone.len()) + size_of::<Bytes>();
                self.size = self.size.saturating_sub(freed);
            }
        }
        Ok(batch.num_rows())
    }

    fn end(&mut self, _: usize, out: &mut Vec<RecordBatch>) -> Result<()> {
        self.places.clear();
        let entries = std::mem::take(&mut self.entries);
        for op in [Op::Insert, Op::Delete] {
            let rows = entries.iter().filter_map(|entry| match op {
                Op::Insert => entry.rows.last(),
                _ => entry.gone.as_ref().filter(|_| entry.rows.is_empty()),
            });
            let mut changes = Changes::default();
            for row in rows {
                changes.push(op, row);
                if changes.len() >= MOST {
                    self.give(std::mem::take(&mut changes), out)?;
                }
            }
            self.give(changes, out)?;
        }
        Ok(())
    }

    fn size(&self) -> usize {
        self.size
    }
}

impl Settling {
    fn give(&self, changes: Changes, out: &mut Vec<RecordBatch>) -> Result<()> {
        if !changes.is_empty() {
            let columns = changes.left(&self.codec)?;
            out.push(changes.batch(&self.schema, columns)?);
        }
        Ok(())
    }
}
