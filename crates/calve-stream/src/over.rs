//! Aggregates over the rows up to each row, in an order that is not the order of arrival.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::SortOptions;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::TaskContext;

use crate::aggregate::state::Calls;
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
    partitions: HashMap<Bytes, BTreeMap<Bytes, Peers>>,
    size: usize,
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
    /// One change. All values of the partition from the row on are computed anew, in time linear in the partition's rows.
    fn change(&mut self, op: Op, key: &[u8], order: &[u8], row: &[u8], out: &mut Out) -> Result<()> {
        if !self.partitions.contains_key(key) {
            if !op.adds() {
                return Ok(());
            }
            self.size += key.len() + rows::ENTRY;
            self.partitions.insert(key.into(), BTreeMap::new());
        }
        let Some(partition) = self.partitions.get_mut(key) else { return Err(internal("a partition is missing")) };
        if op.adds() {
            if !partition.contains_key(order) {
                self.size += order.len() + rows::ENTRY;
            }
            self.size += row.len() + size_of::<Bytes>();
            partition.entry(order.into()).or_default().rows.push(row.into());
        } else {
            let peers = partition.get_mut(order);
            let Some(peers) = peers else { return Ok(()) };
            let Some(at) = peers.rows.iter().position(|r| r.as_ref() == row) else { return Ok(()) };
            let gone = peers.rows.remove(at);
            self.size = self.size.saturating_sub(row.len() + size_of::<Bytes>());
            out.push(Op::Delete, &gone, &peers.values);
            if peers.rows.is_empty() {
                partition.remove(order);
                self.size = self.size.saturating_sub(order.len() + rows::ENTRY);
            }
        }
        let mut states = self.calls.states()?;
        for (at, peers) in partition.iter_mut() {
            let columns = self.codec.decode(peers.rows.iter().map(AsRef::as_ref))?;
            let batch = whole(&self.input, self.op, columns, peers.rows.len())?;
            let input = self.calls.input(&batch)?;
            for row in 0..peers.rows.len() {
                self.calls.add(&mut states, &input, row)?;
            }
            if at.as_ref() < order {
                continue;
            }
            let values = self.calls.values(&mut states)?;
            let is_new = op.adds() && at.as_ref() == order;
            let old = peers.rows.len() - usize::from(is_new);
            if values != peers.values {
                for row in peers.rows.iter().take(old) {
                    out.push(Op::UpdateBefore, row, &peers.values);
                    out.push(Op::UpdateAfter, row, &values);
                }
                let size = |values: &[ScalarValue]| values.iter().map(ScalarValue::size).sum::<usize>();
                self.size = (self.size + size(&values)).saturating_sub(size(&peers.values));
                peers.values = values;
            }
            if is_new && let Some(row) = peers.rows.last() {
                out.push(Op::Insert, row, &peers.values);
            }
        }
        if partition.is_empty() {
            self.partitions.remove(key);
            self.size = self.size.saturating_sub(key.len() + rows::ENTRY);
        }
        Ok(())
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
