//! Joins of two changelogs.

mod side;

use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::compute::take;
use arrow::datatypes::{Field, Schema, SchemaRef, UInt32Type};
use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;

use self::side::{Entry, Side};
use crate::op::{Op, Ops};
use crate::operator::{Operator, Running, internal};
use crate::rows::{self, Bytes, Changes, Codec};

/// Kinds of joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// Pairs.
    Inner,
    /// All rows of the left side.
    Left,
    /// All rows of the right side.
    Right,
    /// All rows of both sides.
    Full,
    /// Rows of the left side that have a partner.
    Semi,
    /// Rows of the left side that have none.
    Anti,
}

impl JoinKind {
    /// Whether the output has the left side's columns only.
    pub fn left_only(self) -> bool {
        matches!(self, Self::Semi | Self::Anti)
    }

    /// Whether a row of that side (0 is the left one) comes out without a partner.
    fn keeps(self, side: usize) -> bool {
        match self {
            Self::Full => true,
            Self::Left => side == 0,
            Self::Right => side == 1,
            Self::Inner | Self::Semi | Self::Anti => false,
        }
    }
}

impl fmt::Display for JoinKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inner => "InnerJoin",
            Self::Left => "LeftOuterJoin",
            Self::Right => "RightOuterJoin",
            Self::Full => "FullOuterJoin",
            Self::Semi => "LeftSemiJoin",
            Self::Anti => "LeftAntiJoin",
        })
    }
}

/// One input of a join.
#[derive(Debug, Clone)]
pub struct Input {
    /// Its columns.
    pub schema: SchemaRef,
    /// How many of them are the relation's: the first ones.
    pub width: usize,
    /// Its column of changes.
    pub op: Option<usize>,
    /// The columns that must equal those of the other side, in the same order.
    pub keys: Vec<usize>,
}

impl Input {
    fn type_of(&self, i: usize) -> Result<arrow::datatypes::DataType> {
        let field = self.schema.fields().get(i).ok_or_else(|| internal(format!("there is no column {i}")))?;
        Ok(field.data_type().clone())
    }
}

/// A join of two streams that keeps the rows of both, with the changes of Flink's `StreamingJoinOperator` and
/// `StreamingSemiAntiJoinOperator`. A row of an outer side comes out padded with NULLs until its first partner comes, and
/// again after its last one is gone.
#[derive(Debug)]
pub struct Join {
    /// Kind.
    pub kind: JoinKind,
    /// The left and the right input.
    pub inputs: [Input; 2],
    /// Whether NULL keys equal each other; else they equal nothing. One for each key.
    pub null_safe: Vec<bool>,
    /// What else must be TRUE, over the relation's columns of the left side, then those of the right side.
    pub condition: Option<Arc<dyn PhysicalExpr>>,
}

impl Join {
    /// Whether rows are only added.
    pub fn adds_only(&self) -> bool {
        matches!(self.kind, JoinKind::Inner | JoinKind::Semi) && self.inputs.iter().all(|input| input.op.is_none())
    }

    fn pair_schema(&self) -> SchemaRef {
        let mut fields = vec![];
        for (side, input) in self.inputs.iter().enumerate() {
            for (i, field) in input.schema.fields().iter().take(input.width).enumerate() {
                fields.push(Field::new(format!("{side}.{i}"), field.data_type().clone(), true));
            }
        }
        Arc::new(Schema::new(fields))
    }
}

impl Operator for Join {
    fn name(&self) -> &'static str {
        "Join"
    }

    fn describe(&self) -> String {
        let [left, right] = &self.inputs;
        let keys: Vec<String> = left.keys.iter().zip(&right.keys).map(|(l, r)| format!("${l} = ${r}")).collect();
        let condition = self.condition.as_ref().map_or_else(String::new, |c| format!(", where=[{c}]"));
        format!("joinType=[{}], on=[{}]{condition}", self.kind, keys.join(", "))
    }

    fn schema(&self) -> SchemaRef {
        let mut fields = vec![];
        let sides = if self.kind.left_only() { 1 } else { 2 };
        for (side, input) in self.inputs.iter().enumerate().take(sides) {
            for (i, field) in input.schema.fields().iter().take(input.width).enumerate() {
                fields.push(Field::new(format!("{side}.{i}"), field.data_type().clone(), true));
            }
        }
        if !self.adds_only() {
            fields.push(Op::field());
        }
        Arc::new(Schema::new(fields))
    }

    fn reads_last_first(&self) -> bool {
        true
    }

    fn start(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Running>> {
        let [left, right] = &self.inputs;
        let keyed = |input: &Input| {
            let types = input.keys.iter().map(|i| input.type_of(*i)).collect::<Result<Vec<_>>>()?;
            let row = (0..input.width).map(|i| input.type_of(i)).collect::<Result<Vec<_>>>()?;
            Ok::<_, datafusion::common::DataFusionError>((Codec::new(types)?, Codec::new(row)?))
        };
        let ((left_keys, left_rows), (right_keys, right_rows)) = (keyed(left)?, keyed(right)?);
        let nulls = |input: &Input| -> Result<Bytes> {
            let types = (0..input.width).map(|i| input.type_of(i)).collect::<Result<Vec<_>>>()?;
            let columns: Vec<ArrayRef> = types.iter().map(|t| new_null_array(t, 1)).collect();
            Ok(Codec::new(types)?.encode(&columns)?.row(0).into())
        };
        Ok(Box::new(Joining {
            kind: self.kind,
            null_safe: self.null_safe.clone(),
            condition: self.condition.clone(),
            pairs: self.pair_schema(),
            schema: self.schema(),
            padding: [nulls(left)?, nulls(right)?],
            codecs: [left_rows, right_rows],
            keys: [left_keys, right_keys],
            inputs: self.inputs.clone(),
            sides: [Side::default(), Side::default()],
        }))
    }
}

struct Joining {
    kind: JoinKind,
    null_safe: Vec<bool>,
    condition: Option<Arc<dyn PhysicalExpr>>,
    pairs: SchemaRef,
    schema: SchemaRef,
    inputs: [Input; 2],
    keys: [Codec; 2],
    codecs: [Codec; 2],
    /// A row of NULLs for each side.
    padding: [Bytes; 2],
    sides: [Side; 2],
}

/// Rows of a batch of output.
const MOST: usize = 8192;

/// Pairs that are looked at before the rows made of them go on.
const MOST_CANDIDATES: usize = 8 * MOST;

impl Running for Joining {
    fn rows(&mut self, input: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize> {
        let ([left, right], [left_keys, right_keys], [left_codec, right_codec]) =
            (&self.inputs, &self.keys, &self.codecs);
        let (from, keys, codec) =
            if input == 0 { (left, left_keys, left_codec) } else { (right, right_keys, right_codec) };
        let ops = Ops::new(batch, from.op)?;
        let key_columns = rows::columns(batch, &from.keys)?;
        let keys = keys.encode(&key_columns)?;
        let columns = rows::columns(batch, &(0..from.width).collect::<Vec<_>>())?;
        let values = codec.encode(&columns)?;
        let matchable = |row: usize| {
            key_columns.iter().zip(&self.null_safe).all(|(column, null_safe)| *null_safe || !column.is_null(row))
        };

        // The partners of the rows: the other side does not change meanwhile.
        let [left_side, right_side] = &mut self.sides;
        let (own, other) = if input == 0 { (left_side, right_side) } else { (right_side, left_side) };
        let mut partners: Vec<Vec<u64>> = Vec::new();
        let mut candidates = 0;
        while partners.len() < batch.num_rows() && candidates < MOST_CANDIDATES {
            let row = partners.len();
            let all = if matchable(row) { other.numbers(keys.row(row)) } else { vec![] };
            candidates += all.len();
            partners.push(all);
        }
        if let Some(condition) = &self.condition {
            let check = Check { condition, schema: &self.pairs, columns: &columns, input };
            let other_codec = if input == 0 { right_codec } else { left_codec };
            check.retain(&mut partners, |row, number| other.row(keys.row(row), number), other_codec)?;
        }

        let mut found = Out { changes: Changes::default(), input, left_only: self.kind.left_only() };
        let (keeps, other_keeps) = (self.kind.keeps(input), self.kind.keeps(1 - input));
        let [left_padding, right_padding] = &self.padding;
        let (padding, other_padding) =
            if input == 0 { (left_padding, right_padding) } else { (right_padding, left_padding) };
        for (row, partners) in partners.iter().enumerate() {
            let (op, key, value) = (ops.get(row)?, keys.row(row), values.row(row));
            match (self.kind, input) {
                (JoinKind::Semi | JoinKind::Anti, 0) => {
                    // the left side remembers how many partners a row has; rows of the right side may be there twice
                    let times: u64 = partners.iter().filter_map(|n| other.get(key, *n)).map(|e| e.count).sum();
                    if (times > 0) == (self.kind == JoinKind::Semi) {
                        found.changes.push(op, value);
                    }
                    own.change(op, key, value, times);
                }
                (JoinKind::Semi | JoinKind::Anti, _) => {
                    own.change(op, key, value, 0);
                    for number in partners {
                        let Some(entry) = other.get_mut(key, *number) else { continue };
                        let change = match (op.adds(), self.kind) {
                            (true, JoinKind::Anti) => Op::Delete,
                            (false, JoinKind::Anti) => Op::Insert,
                            _ => op,
                        };
                        if entry.partners == u64::from(!op.adds()) {
                            for _ in 0..entry.count {
                                found.changes.push(change, &entry.row);
                            }
                        }
                        entry.count_partner(op);
                    }
                }
                _ if op.adds() => {
                    let mut times = 0u64;
                    if partners.is_empty() && keeps {
                        found.pair(Op::Insert, value, other_padding);
                    }
                    if other_keeps {
                        for number in partners {
                            let Some(entry) = other.get_mut(key, *number) else { continue };
                            if entry.partners == 0 {
                                for _ in 0..entry.count {
                                    found.pair(Op::Delete, padding, &entry.row);
                                }
                            }
                            entry.count_partner(op);
                        }
                    }
                    let change = if keeps || other_keeps { Op::Insert } else { op };
                    for entry in partners.iter().filter_map(|n| other.get(key, *n)) {
                        times = times.saturating_add(entry.count);
                        for _ in 0..entry.count {
                            found.pair(change, value, &entry.row);
                        }
                    }
                    own.change(op, key, value, times);
                }
                _ => {
                    own.change(op, key, value, 0);
                    if partners.is_empty() && keeps {
                        found.pair(Op::Delete, value, other_padding);
                    }
                    let change = if keeps { Op::Delete } else { op };
                    for entry in partners.iter().filter_map(|n| other.get(key, *n)) {
                        for _ in 0..entry.count {
                            found.pair(change, value, &entry.row);
                        }
                    }
                    if other_keeps {
                        for number in partners {
                            let Some(entry) = other.get_mut(key, *number) else { continue };
                            if entry.partners == 1 {
                                for _ in 0..entry.count {
                                    found.pair(Op::Insert, padding, &entry.row);
                                }
                            }
                            entry.count_partner(op);
                        }
                    }
                }
            }
            if found.changes.len() >= MOST {
                found.flush(&self.codecs, &self.schema, out)?;
            }
        }
        found.flush(&self.codecs, &self.schema, out)?;
        Ok(partners.len())
    }

    fn size(&self) -> usize {
        self.sides.iter().map(Side::size).sum()
    }
}

/// Pairs on their way out.
struct Out {
    changes: Changes,
    /// The side of the rows that come first in [`Self::pair`].
    input: usize,
    left_only: bool,
}

impl Out {
    fn pair(&mut self, op: Op, own: &[u8], other: &[u8]) {
        if self.input == 0 {
            self.changes.push_joined(op, own, other);
        } else {
            self.changes.push_joined(op, other, own);
        }
    }

    fn flush(&mut self, [left, right]: &[Codec; 2], schema: &SchemaRef, out: &mut Vec<RecordBatch>) -> Result<()> {
        let changes = std::mem::take(&mut self.changes);
        if !changes.is_empty() {
            let mut columns = changes.left(left)?;
            if !self.left_only {
                columns.extend(changes.right(right)?);
            }
            out.push(changes.batch(schema, columns)?);
        }
        Ok(())
    }
}

/// The condition over pairs of a batch's rows and their partners.
struct Check<'a> {
    condition: &'a Arc<dyn PhysicalExpr>,
    schema: &'a SchemaRef,
    columns: &'a [ArrayRef],
    input: usize,
}

impl Check<'_> {
    /// Leaves the partners for which the condition is TRUE.
    fn retain<'r>(
        &self,
        partners: &mut [Vec<u64>],
        partner: impl Fn(usize, u64) -> Option<&'r Bytes>,
        codec: &Codec,
    ) -> Result<()> {
        let mut kept: Vec<Vec<u64>> = vec![vec![]; partners.len()];
        let mut pairs: Vec<(usize, u64)> = vec![];
        let mut flush = |pairs: &mut Vec<(usize, u64)>| -> Result<()> {
            let rows = pairs.iter().filter_map(|(row, number)| partner(*row, *number)).map(AsRef::as_ref);
            let holds = self.holds(pairs, codec.decode(rows)?)?;
            for (i, (row, number)) in pairs.drain(..).enumerate() {
                if holds.is_valid(i)
                    && holds.value(i)
                    && let Some(list) = kept.get_mut(row)
                {
                    list.push(number);
                }
            }
            Ok(())
        };
        for (row, numbers) in partners.iter().enumerate() {
            for number in numbers {
                pairs.push((row, *number));
                if pairs.len() >= MOST {
                    flush(&mut pairs)?;
                }
            }
        }
        if !pairs.is_empty() {
            flush(&mut pairs)?;
        }
        for (list, kept) in partners.iter_mut().zip(kept) {
            *list = kept;
        }
        Ok(())
    }

    fn holds(&self, pairs: &[(usize, u64)], others: Vec<ArrayRef>) -> Result<BooleanArray> {
        let rows = pairs.iter().map(|(row, _)| u32::try_from(*row).unwrap_or(u32::MAX));
        let rows = arrow::array::PrimitiveArray::<UInt32Type>::from_iter_values(rows);
        let own = self.columns.iter().map(|c| Ok(take(c, &rows, None)?)).collect::<Result<Vec<_>>>()?;
        let columns = if self.input == 0 { [own, others].concat() } else { [others, own].concat() };
        let options = RecordBatchOptions::new().with_row_count(Some(pairs.len()));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        let value = self.condition.evaluate(&batch)?.into_array(pairs.len())?;
        value.as_boolean_opt().cloned().ok_or_else(|| internal("a condition that is no BOOLEAN"))
    }
}

impl Entry {
    fn count_partner(&mut self, op: Op) {
        self.partners = if op.adds() { self.partners.saturating_add(1) } else { self.partners.saturating_sub(1) };
    }
}
