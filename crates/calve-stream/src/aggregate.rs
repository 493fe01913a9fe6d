//! Aggregates of groups, updated row by row.

pub(crate) mod state;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::concat;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::AggregateUDF;

use self::state::{Calls, State};
use crate::op::{Op, Ops};
use crate::operator::{Operator, Running, internal};
use crate::rows::{self, Bytes, Codec};

/// A call of an aggregate function.
#[derive(Debug, Clone)]
pub struct Call {
    /// The function, not DISTINCT.
    pub function: Arc<AggregateUDF>,
    /// Its arguments.
    pub args: Vec<Argument>,
    /// Whether each value counts once.
    pub distinct: bool,
    /// The BOOLEAN column that says which rows it takes: those where it is TRUE.
    pub filter: Option<usize>,
    /// `IGNORE NULLS`.
    pub ignore_nulls: bool,
    /// The result.
    pub returns: DataType,
}

/// An argument of a call.
#[derive(Debug, Clone)]
pub enum Argument {
    /// A column of the input.
    Column(usize),
    /// A constant: some functions look for settings among their arguments.
    Literal(ScalarValue),
}

/// The aggregates of each group as Flink's `GroupAggregate` gives them: the first row of a group adds a row, others
/// change it (`-U`, `+U`) if a value changes, and the last row that is taken back deletes it. Without keys there is one
/// group, and no row before the first one.
#[derive(Debug)]
pub struct GroupAggregate {
    /// Columns of the input, changes included.
    pub input: SchemaRef,
    /// The input's column of changes.
    pub op: Option<usize>,
    /// The columns to group by.
    pub keys: Vec<usize>,
    /// The calls.
    pub calls: Vec<Call>,
    /// The keys, the calls, and the changes; without the last one where no row ever changes: without calls, over an input
    /// that only adds rows.
    pub schema: SchemaRef,
    /// The calls for EXPLAIN.
    pub shown: String,
}

impl GroupAggregate {
    /// The output's columns.
    ///
    /// # Errors
    /// `internal` for keys that the input does not have.
    pub fn schema(input: &SchemaRef, op: Option<usize>, keys: &[usize], calls: &[Call]) -> Result<SchemaRef> {
        let mut fields = Vec::with_capacity(keys.len() + calls.len() + 1);
        for key in keys {
            let field = input.fields().get(*key).ok_or_else(|| internal(format!("there is no column {key}")))?;
            fields.push(Field::new(format!("k{}", fields.len()), field.data_type().clone(), true));
        }
        for call in calls {
            fields.push(Field::new(format!("a{}", fields.len()), call.returns.clone(), true));
        }
        if op.is_some() || !calls.is_empty() {
            fields.push(Op::field());
        }
        Ok(Arc::new(Schema::new(fields)))
    }
}

impl Operator for GroupAggregate {
    fn name(&self) -> &'static str {
        "GroupAggregate"
    }

    fn describe(&self) -> String {
        self.shown.clone()
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn start(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Running>> {
        let type_of = |i: &usize| {
            let field = self.input.fields().get(*i).ok_or_else(|| internal(format!("there is no column {i}")))?;
            Ok(field.data_type().clone())
        };
        let keys = Codec::new(self.keys.iter().map(type_of).collect::<Result<Vec<_>>>()?)?;
        Ok(Box::new(Groups {
            calls: Calls::new(&self.calls, &self.input, self.op.is_some())?,
            key_columns: self.keys.clone(),
            op: self.op,
            schema: self.schema.clone(),
            keys,
            groups: HashMap::new(),
            size: 0,
        }))
    }
}

/// Bytes of values that are given at once.
const MOST: usize = 16 << 20;

struct Groups {
    calls: Calls,
    key_columns: Vec<usize>,
    op: Option<usize>,
    schema: SchemaRef,
    keys: Codec,
    groups: HashMap<Bytes, Group>,
    size: usize,
}

struct Group {
    /// Rows that are there.
    rows: u64,
    states: Vec<State>,
    /// The values that were given last.
    values: Vec<ScalarValue>,
    size: usize,
}

impl Group {
    fn measure(&mut self) -> usize {
        let values: usize = self.values.iter().map(ScalarValue::size).sum();
        self.size = rows::ENTRY + size_of::<Self>() + values + self.states.iter().map(State::size).sum::<usize>();
        self.size
    }
}

impl Running for Groups {
    fn rows(&mut self, _: usize, batch: &RecordBatch, out: &mut Vec<RecordBatch>) -> Result<usize> {
        let ops = Ops::new(batch, self.op)?;
        let keys = self.keys.encode(&rows::columns(batch, &self.key_columns)?)?;
        let input = self.calls.input(batch)?;
        let mut changes = rows::Changes::default();
        let mut values: Vec<Vec<ScalarValue>> = vec![];
        let mut taken = 0;
        // values of a group may be as long as all of its rows
        let mut bytes = 0;
        while taken < batch.num_rows() && bytes < MOST {
            let row = taken;
            taken += 1;
            let op = ops.get(row)?;
            let key = keys.row(row);
            let (group, is_new) = match self.groups.entry(key.into()) {
                Entry::Occupied(entry) => (entry.into_mut(), false),
                // what was never added cannot be taken back
                Entry::Vacant(_) if !op.adds() => continue,
                Entry::Vacant(entry) => {
                    self.size += entry.key().len();
                    let states = self.calls.states()?;
                    (entry.insert(Group { rows: 0, states, values: vec![], size: 0 }), true)
                }
            };
            let before = group.size;
            if op.adds() {
                group.rows = group.rows.saturating_add(1);
                self.calls.add(&mut group.states, &input, row)?;
            } else {
                group.rows = group.rows.saturating_sub(1);
                if group.rows > 0 {
                    self.calls.take_back(&mut group.states, &input, row)?;
                }
            }
            if group.rows == 0 {
                changes.push(Op::Delete, key);
                values.push(std::mem::take(&mut group.values));
                self.groups.remove(key);
                self.size = self.size.saturating_sub(before + key.len());
                continue;
            }
            let now = self.calls.values(&mut group.states)?;
            if is_new {
                changes.push(Op::Insert, key);
                values.push(now.clone());
            } else if now != group.values {
                changes.push(Op::UpdateBefore, key);
                values.push(std::mem::take(&mut group.values));
                changes.push(Op::UpdateAfter, key);
                values.push(now.clone());
            }
            bytes += 2 * now.iter().map(ScalarValue::size).sum::<usize>();
            group.values = now;
            self.size = self.size.saturating_sub(before) + group.measure();
        }
        if !changes.is_empty() {
            let mut columns = changes.left(&self.keys)?;
            for (i, call) in self.calls.types().enumerate() {
                columns.push(array(values.iter().filter_map(|row| row.get(i)), call)?);
            }
            out.push(changes.batch(&self.schema, columns)?);
        }
        Ok(taken)
    }

    fn size(&self) -> usize {
        self.size
    }
}

/// An array of values of one type.
pub(crate) fn array<'a>(values: impl Iterator<Item = &'a ScalarValue>, t: &DataType) -> Result<ArrayRef> {
    let array = if t.is_nested() {
        let each = values.map(ScalarValue::to_array).collect::<Result<Vec<_>>>()?;
        let each: Vec<&dyn Array> = each.iter().map(AsRef::as_ref).collect();
        concat(&each)?
    } else {
        ScalarValue::iter_to_array(values.cloned())?
    };
    if array.data_type() == t {
        return Ok(array);
    }
    Err(internal(format!("an aggregate gave {} instead of {t}", array.data_type())))
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(i) => write!(f, "${i}"),
            Self::Literal(value) => write!(f, "{value}"),
        }
    }
}

/// The field of an argument.
///
/// # Errors
/// `internal` for a column that the input does not have.
pub(crate) fn argument_field(argument: &Argument, input: &Schema, at: usize) -> Result<FieldRef> {
    Ok(match argument {
        Argument::Column(i) => {
            let field = input.fields().get(*i).ok_or_else(|| internal(format!("there is no column {i}")))?;
            Arc::new(field.as_ref().clone().with_name(at.to_string()))
        }
        Argument::Literal(value) => Arc::new(Field::new(at.to_string(), value.data_type(), value.is_null())),
    })
}
