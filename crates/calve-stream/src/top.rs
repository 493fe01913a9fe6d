//! Top-N: the first rows of each partition in an order, and `ORDER BY .. LIMIT`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::execution::TaskContext;

use crate::op::{Op, Ops};
use crate::operator::{Operator, Running, internal};
use crate::rows::{self, Bytes, Changes, Codec};

/// The rows of each partition whose number in the order is in a range. Rows that are equal in the order are numbered as
/// they come.
///
/// The changes are those of Flink's Top-N functions: with the number, or with an offset, every row whose number changes
/// changes (`-U`, `+U`); without, one row comes in (`+I`) and another goes out (`-D`). A single first row is replaced
/// (`-U`, `+U`) if the input only adds rows.
#[derive(Debug)]
pub struct TopN {
    /// The input's columns.
    pub input: SchemaRef,
    /// How many of them are the relation's: the first ones.
    pub width: usize,
    /// The input's column of changes.
    pub op: Option<usize>,
    /// The partitions' columns.
    pub partition: Vec<usize>,
    /// The order's columns.
    pub order: Vec<(usize, SortOptions)>,
    /// The first number, from 1.
    pub start: u64,
    /// The last number.
    pub end: u64,
    /// Whether the number is a column of the output, behind the relation's.
    pub numbered: bool,
    /// Whether rows are only added: no order, over an input that only adds rows.
    pub adds_only: bool,
}

impl Operator for TopN {
    fn name(&self) -> &'static str {
        if self.partition.is_empty() && !self.numbered { "SortLimit" } else { "Rank" }
    }

    fn describe(&self) -> String {
        let columns = |list: &mut dyn Iterator<Item = String>| list.collect::<Vec<_>>().join(", ");
        let order = |(i, o): &(usize, SortOptions)| format!("${i} {}", if o.descending { "DESC" } else { "ASC" });
        format!(
            "rankStart={}, rankEnd={}, partitionBy=[{}], orderBy=[{}]",
            self.start,
            self.end,
            columns(&mut self.partition.iter().map(|i| format!("${i}"))),
            columns(&mut self.order.iter().map(order)),
        )
    }

    fn schema(&self) -> SchemaRef {
        let mut fields: Vec<Arc<Field>> = self.input.fields().iter().take(self.width).cloned().collect();
        if self.numbered {
            fields.push(Arc::new(Field::new("$number", DataType::Int64, true)));
        }
        if !self.adds_only {
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
        let order = self.order.iter().map(|(i, options)| Ok((type_of(i)?, *options))).collect::<Result<Vec<_>>>()?;
        Ok(Box::new(Tops {
            keys: Codec::new(self.partition.iter().map(type_of).collect::<Result<Vec<_>>>()?)?,
            orders: Codec::sorted(order)?,
            codec: Codec::new(row.iter().map(type_of).collect::<Result<Vec<_>>>()?)?,
            row,
            key_columns: self.partition.clone(),
            order_columns: self.order.iter().map(|(i, _)| *i).collect(),
            op: self.op,
            schema: self.schema(),
            range: Range { start: self.start, end: self.end, numbered: self.numbered },
            adds_only: self.adds_only,
            partitions: HashMap::new(),
            size: 0,
        }))
    }
}

#[derive(Debug, Clone, Copy)]
struct Range {
    start: u64,
    end: u64,
    numbered: bool,
}

impl Range {
    /// Whether each row's number matters, not only whether it is among the first ones.
    fn by_number(self) -> bool {
        self.numbered || self.start > 1
    }
}

struct Tops {
    keys: Codec,
    orders: Codec,
    codec: Codec,
    row: Vec<usize>,
    key_columns: Vec<usize>,
    order_columns: Vec<usize>,
    op: Option<usize>,
    schema: SchemaRef,
    range: Range,
    adds_only: bool,
    partitions: HashMap<Bytes, Partition>,
    size: usize,
}

/// The rows of a partition in order. Over an input that only adds rows, those that can never be among the first are not
/// kept.
#[derive(Default)]
struct Partition {
    rows: BTreeMap<Bytes, Vec<Bytes>>,
    count: u64,
    size: usize,
}

/// What comes out.
struct Out {
    changes: Changes,
    numbers: Vec<i64>,
    range: Range,
}

impl Out {
    fn push(&mut self, op: Op, row: &[u8], number: u64) {
        if number >= self.range.start && number <= self.range.end {
            self.changes.push(op, row);
            self.numbers.push(i64::try_from(number).unwrap_or(i64::MAX));
        }
    }

    /// A row takes the place of another.
    fn replace(&mut self, old: &[u8], new: &[u8], number: u64) {
        self.push(Op::UpdateBefore, old, number);
        self.push(Op::UpdateAfter, new, number);
    }
}

impl Partition {
    /// The rows from a key on, without those that are equal to it in the order, each with its number; `before` rows are
    /// in front of them.
    fn after(&self, order: &[u8], before: u64) -> impl Iterator<Item = (u64, &Bytes)> {
        use std::ops::Bound::{Excluded, Unbounded};
        let rows = self.rows.range::<[u8], _>((Excluded(order), Unbounded)).flat_map(|(_, rows)| rows);
        rows.enumerate().map(move |(i, row)| (before.saturating_add(i as u64).saturating_add(1), row))
    }

    /// How many rows are in front of that key; counting stops behind `enough`.
    fn before(&self, order: &[u8], enough: u64) -> u64 {
        let mut count = 0u64;
        for (_, rows) in self.rows.range::<[u8], _>((std::ops::Bound::Unbounded, std::ops::Bound::Excluded(order))) {
            count = count.saturating_add(rows.len() as u64);
            if count > enough {
                break;
            }
        }
        count
    }

    fn insert(&mut self, order: &[u8], row: &[u8]) {
        if let Some(rows) = self.rows.get_mut(order) {
            rows.push(row.into());
        } else {
            self.rows.insert(order.into(), vec![row.into()]);
            self.size += order.len() + rows::ENTRY;
        }
        self.size += row.len() + size_of::<Bytes>();
        self.count = self.count.saturating_add(1);
    }

    /// Removes the row at a place among those of a key.
    fn remove(&mut self, order: &[u8], at: usize) -> Option<Bytes> {
        let rows = self.rows.get_mut(order)?;
        if at >= rows.len() {
            return None;
        }
        let row = rows.remove(at);
        if rows.is_empty() {
            self.rows.remove(order);
            self.size = self.size.saturating_sub(order.len() + rows::ENTRY);
        }
        self.size = self.size.saturating_sub(row.len() + size_of::<Bytes>());
        self.count = self.count.saturating_sub(1);
        Some(row)
    }

    fn remove_last(&mut self) -> Option<Bytes> {
        let (order, rows) = self.rows.last_key_value()?;
        let (order, at) = (order.clone(), rows.len().checked_sub(1)?);
        self.remove(&order, at)
    }

    /// A new row; `keeps` all rows, because some may be taken back.
    fn add(&mut self, order: &[u8], row: &[u8], keeps: bool, out: &mut Out) {
        let range = out.range;
        if !keeps
            && self.count >= range.end
            && self.rows.last_key_value().is_none_or(|(worst, _)| order >= worst.as_ref())
        {
            return;
        }
        let peers = self.rows.get(order).map_or(0, Vec::len) as u64;
        let number = self.before(order, range.end).saturating_add(peers).saturating_add(1);
        if !keeps && range.end == 1 {
            // the one first row
            match self.remove_last() {
                Some(old) => out.replace(&old, row, 1),
                None => out.push(Op::Insert, row, 1),
            }
        } else if number <= range.end && range.by_number() {
            let mut moved: &[u8] = row;
            let mut last = number;
            for (next, old) in self.after(order, number) {
                // what was there has moved by one
                let place = next.saturating_sub(1);
                if place > range.end {
                    break;
                }
                out.replace(old, moved, place);
                moved = old;
                last = next;
            }
            out.push(Op::Insert, moved, last);
        } else if number <= range.end {
            // the new row is not in yet: the row that was the last of the range has no place any more
            if let Some((_, gone)) = self.after(order, number).find(|(next, _)| *next == range.end.saturating_add(1)) {
                out.push(Op::Delete, gone, range.end);
            }
            out.push(Op::Insert, row, number);
        }
        self.insert(order, row);
        if !keeps && self.count > range.end {
            self.remove_last();
        }
    }

    /// Takes a row back.
    fn take_back(&mut self, order: &[u8], row: &[u8], out: &mut Out) {
        let range = out.range;
        let peers = self.rows.get(order).map(Vec::as_slice).unwrap_or_default();
        let Some(at) = peers.iter().position(|peer| peer.as_ref() == row) else { return };
        let number = self.before(order, range.end).saturating_add(at as u64).saturating_add(1);
        if number <= range.end {
            let behind = peers.iter().skip(at + 1).enumerate().map(|(i, r)| (number.saturating_add(i as u64 + 1), r));
            let last_peer = number.saturating_add((peers.len() - at) as u64).saturating_sub(1);
            let followers = behind.chain(self.after(order, last_peer));
            if range.by_number() {
                let mut place = number;
                let mut old: &[u8] = row;
                for (next, new) in followers {
                    if place > range.end {
                        break;
                    }
                    out.replace(old, new, place);
                    old = new;
                    place = next;
                }
                out.push(Op::Delete, old, place);
            } else {
                out.push(Op::Delete, row, number);
                let mut followers = followers.skip_while(|(next, _)| *next <= range.end);
                if let Some((_, new)) = followers.next() {
                    out.push(Op::Insert, new, range.end);
                }
            }
        }
        self.remove(order, at);
    }
}

impl Running for Tops {
    fn rows(&mut self, _: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize> {
        let ops = Ops::new(batch, self.op)?;
        let keys = self.keys.encode(&rows::columns(batch, &self.key_columns)?)?;
        let orders = self.orders.encode(&rows::columns(batch, &self.order_columns)?)?;
        let values = self.codec.encode(&rows::columns(batch, &self.row)?)?;
        let mut found = Out { changes: Changes::default(), numbers: vec![], range: self.range };
        for at in 0..batch.num_rows() {
            let key = keys.row(at);
            if !self.partitions.contains_key(key) {
                self.size += key.len() + rows::ENTRY + size_of::<Partition>();
                self.partitions.insert(key.into(), Partition::default());
            }
            let Some(partition) = self.partitions.get_mut(key) else { return Err(internal("a partition is missing")) };
            let before = partition.size;
            if ops.get(at)?.adds() {
                partition.add(orders.row(at), values.row(at), self.op.is_some(), &mut found);
            } else {
                partition.take_back(orders.row(at), values.row(at), &mut found);
            }
            self.size = (self.size + partition.size).saturating_sub(before);
            if partition.count == 0 {
                self.partitions.remove(key);
                self.size = self.size.saturating_sub(key.len() + rows::ENTRY + size_of::<Partition>());
            }
        }
        if !found.changes.is_empty() {
            let mut columns = found.changes.left(&self.codec)?;
            if self.range.numbered {
                columns.push(Arc::new(Int64Array::from(found.numbers)) as ArrayRef);
            }
            out.push(found.changes.batch(&self.schema, columns)?);
        }
        Ok(batch.num_rows())
    }

    /// A LIMIT without order that has its rows.
    fn is_done(&self) -> bool {
        self.adds_only && self.key_columns.is_empty() && {
            let rows = self.partitions.values().next().map_or(0, |p| p.count);
            rows >= self.range.end || self.range.end == 0
        }
    }

    fn size(&self) -> usize {
        self.size
    }
}
