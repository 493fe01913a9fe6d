//! Aggregates over the rows up to each row, in an order that is not the order of arrival.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::SortOptions;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::TaskContext;

use crate::aggregate::state::{Calls, State};
use crate::aggregate::{Call, array};
use crate::op::{Op, Ops};
use crate::operator::{Operator, Running, internal};
use crate::rows::{self, Bytes, Changes, Codec};

/// `f(..) OVER (PARTITION BY .. ORDER BY k RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)` over a column that is no
/// time, as Flink's `NonTimeRangeUnboundedPrecedingFunction`: a row changes all rows that do not come before it.
#[derive(Debug)]
pub struct RangeOver {
    /// The input's columns.
    pub input: SchemaRef,
    /// How many of them are the relation's: the first ones.
    pub width: usize,
    /// The input's column of changes.
    pub op: Option<usize>,
    /// The partitions' columns.
    pub partition: Vec<usize>,
    /// The order's column.
    pub order: (usize, SortOptions),
    /// The calls; their columns are columns of the input, which may stand behind the relation's.
    pub calls: Vec<Call>,
}

impl RangeOver {
    fn type_of(&self, i: usize) -> Result<arrow::datatypes::DataType> {
        let field = self.input.fields().get(i).ok_or_else(|| internal(format!("there is no column {i}")))?;
        Ok(field.data_type().clone())
    }
}

impl Operator for RangeOver {
    fn name(&self) -> &'static str {
        "OverAggregate"
    }

    fn describe(&self) -> String {
        let partition: Vec<String> = self.partition.iter().map(|i| format!("${i}")).collect();
        let calls: Vec<String> = self.calls.iter().map(|c| c.function.name().to_uppercase()).collect();
        format!("partitionBy=[{}], orderBy=[${}], select=[{}]", partition.join(", "), self.order.0, calls.join(", "))
    }

    fn schema(&self) -> SchemaRef {
        let mut fields: Vec<Arc<Field>> = self.input.fields().iter().take(self.width).cloned().collect();
        for (i, call) in self.calls.iter().enumerate() {
            fields.push(Arc::new(Field::new(format!("$w{i}"), call.returns.clone(), true)));
        }
        fields.push(Arc::new(Op::field()));
        Arc::new(Schema::new(fields))
    }

    fn start(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Running>> {
        let types = |columns: &[usize]| columns.iter().map(|i| self.type_of(*i)).collect::<Result<Vec<_>>>();
        // the whole row of the input: the calls look at columns behind the relation's
        let row: Vec<usize> = (0..self.input.fields().len()).filter(|i| Some(*i) != self.op).collect();
        Ok(Box::new(Windows {
            keys: Codec::new(types(&self.partition)?)?,
            orders: Codec::sorted([(self.type_of(self.order.0)?, self.order.1)])?,
            codec: Codec::new(types(&row)?)?,
            calls: Calls::new(&self.calls, &self.input, false)?,
            input: self.input.clone(),
            row,
            width: self.width,
            key_columns: self.partition.clone(),
            order_column: self.order.0,
            op: self.op,
            schema: self.schema(),
            partitions: HashMap::new(),
            size: 0,
        }))
    }
}

struct Windows {
    keys: Codec,
    orders: Codec,
    codec: Codec,
    calls: Calls,
    input: SchemaRef,
    row: Vec<usize>,
    width: usize,
    key_columns: Vec<usize>,
    order_column: usize,
    op: Option<usize>,
    schema: SchemaRef,
    partitions: HashMap<Bytes, Partition>,
    size: usize,
}

/// The rows of a key in their order.
struct Partition {
    peers: BTreeMap<Bytes, Peers>,
    /// The aggregates of all of them.
    states: Option<Vec<State>>,
}

/// The rows that are equal in the order: they have the same values.
#[derive(Default)]
struct Peers {
    rows: Vec<Bytes>,
    values: Vec<ScalarValue>,
}

/// Bytes of values and rows that are given at once.
const MOST: usize = 16 << 20;

impl Running for Windows {
    fn rows(&mut self, _: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize> {
        let ops = Ops::new(batch, self.op)?;
        let keys = self.keys.encode(&rows::columns(batch, &self.key_columns)?)?;
        let orders = self.orders.encode(&rows::columns(batch, &[self.order_column])?)?;
        let values = self.codec.encode(&rows::columns(batch, &self.row)?)?;
        let mut found = Out::default();
        let mut taken = 0;
        while taken < batch.num_rows() && found.bytes < MOST {
            self.change(ops.get(taken)?, keys.row(taken), orders.row(taken), values.row(taken), &mut found)?;
            taken += 1;
        }
        if !found.changes.is_empty() {
            let mut columns = found.changes.left(&self.codec)?;
            columns.truncate(self.width);
            for (i, t) in self.calls.types().enumerate() {
                columns.push(array(found.values.iter().filter_map(|row| row.get(i)), t)?);
            }
            out.push(found.changes.batch(&self.schema, columns)?);
        }
        Ok(taken)
    }

    fn size(&self) -> usize {
        self.size
    }
}

#[derive(Default)]
struct Out {
    changes: Changes,
    values: Vec<Vec<ScalarValue>>,
    bytes: usize,
}

impl Out {
    fn push(&mut self, op: Op, row: &[u8], values: &[ScalarValue]) {
        self.changes.push(op, row);
        self.bytes += row.len() + values.iter().map(ScalarValue::size).sum::<usize>();
        self.values.push(values.to_vec());
    }
}

impl Windows {
    /// One change. A row at the end of the order costs what its peers do; any other change computes the values of the
    /// partition from the row on anew, in time linear in the partition's rows.
    fn change(&mut self, op: Op, key: &[u8], order: &[u8], row: &[u8], out: &mut Out) -> Result<()> {
        if !self.partitions.contains_key(key) {
            if !op.adds() {
                return Ok(());
            }
            self.size += key.len() + rows::ENTRY;
            let partition = Partition { peers: BTreeMap::new(), states: Some(self.calls.states()?) };
            self.partitions.insert(key.into(), partition);
        }
        let Some(Partition { peers, states }) = self.partitions.get_mut(key) else {
            return Err(internal("a partition is missing"));
        };
        let is_last = peers.last_key_value().is_none_or(|(last, _)| last.as_ref() <= order);
        if op.adds() {
            if !peers.contains_key(order) {
                self.size += order.len() + rows::ENTRY;
            }
            self.size += row.len() + size_of::<Bytes>();
            peers.entry(order.into()).or_default().rows.push(row.into());
        } else {
            let Some(equal) = peers.get_mut(order) else { return Ok(()) };
            let Some(at) = equal.rows.iter().position(|r| r.as_ref() == row) else { return Ok(()) };
            let gone = equal.rows.remove(at);
            self.size = self.size.saturating_sub(row.len() + size_of::<Bytes>());
            out.push(Op::Delete, &gone, &equal.values);
            if equal.rows.is_empty() {
                peers.remove(order);
                self.size = self.size.saturating_sub(order.len() + rows::ENTRY);
            }
        }
        let input = |rows: &[Bytes]| {
            let columns = self.codec.decode(rows.iter().map(AsRef::as_ref))?;
            self.calls.input(&whole(&self.input, self.op, columns, rows.len())?)
        };
        if is_last
            && op.adds()
            && let Some(mut running) = states.take()
        {
            self.calls.add(&mut running, &input(&[row.into()])?, 0)?;
            let values = self.calls.values(&mut running)?;
            if let Some(equal) = peers.get_mut(order) {
                self.size = equal.change(values, Some(op), self.size, out);
            }
            *states = Some(running);
            return Ok(());
        }
        let mut running = self.calls.states()?;
        for (at, equal) in peers.iter_mut() {
            let input = input(&equal.rows)?;
            for row in 0..equal.rows.len() {
                self.calls.add(&mut running, &input, row)?;
            }
            if at.as_ref() >= order {
                let new = Some(op).filter(|op| op.adds() && at.as_ref() == order);
                let values = self.calls.values(&mut running)?;
                self.size = equal.change(values, new, self.size, out);
            }
        }
        *states = Some(running);
        if peers.is_empty() {
            self.partitions.remove(key);
            self.size = self.size.saturating_sub(key.len() + rows::ENTRY);
        }
        Ok(())
    }
}

impl Peers {
    /// Gives the rows other values; the last row may be `new`, and is given with the kind of change that brought it, as
    /// in Flink. Returns the size of all state after it.
    fn change(&mut self, values: Vec<ScalarValue>, new: Option<Op>, size: usize, out: &mut Out) -> usize {
        let old = self.rows.len() - usize::from(new.is_some());
        let mut after = size;
        if values != self.values {
            for row in self.rows.iter().take(old) {
                out.push(Op::UpdateBefore, row, &self.values);
                out.push(Op::UpdateAfter, row, &values);
            }
            let bytes = |values: &[ScalarValue]| values.iter().map(ScalarValue::size).sum::<usize>();
            after = (size + bytes(&values)).saturating_sub(bytes(&self.values));
            self.values = values;
        }
        if let (Some(op), Some(row)) = (new, self.rows.last()) {
            out.push(op, row, &self.values);
        }
        after
    }
}

/// A batch with all columns of the input; rows are in the state without their kind of change.
fn whole(
    schema: &SchemaRef,
    op: Option<usize>,
    mut columns: Vec<arrow::array::ArrayRef>,
    count: usize,
) -> Result<RecordBatch> {
    if let Some(op) = op {
        columns.insert(op.min(columns.len()), Arc::new(arrow::array::Int8Array::from(vec![0; count])));
    }
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(count));
    let schema =
        Schema::new(schema.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect::<Vec<_>>());
    Ok(RecordBatch::try_new_with_options(Arc::new(schema), columns, &options)?)
}
