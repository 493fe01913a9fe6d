//! The state of a call in a group.
//!
//! | function | how a row is taken back |
//! |---|---|
//! | those whose accumulator can (COUNT, SUM, AVG, VAR_.., STDDEV_..) | by the accumulator |
//! | MIN, MAX | all values are kept in order, with how often they are there |
//! | others (LISTAGG, FIRST_VALUE, COLLECT ..) | their arguments are kept in the order in which they came; without the first that is equal, the value is computed anew, in time linear in their number |
//!
//! Over an input that only adds rows nothing is kept but the accumulators. DISTINCT keeps each value with how often it is
//! there; the function sees the first and the last of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, Literal};

use super::{Argument, Call, argument_field};
use crate::operator::internal;
use crate::rows::{self, Bytes, Codec, Encoded};

/// The calls of an aggregate, ready to make states.
pub(crate) struct Calls {
    calls: Vec<Ready>,
}

struct Ready {
    call: Call,
    schema: Schema,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    fields: Vec<FieldRef>,
    return_field: FieldRef,
    /// The arguments as rows: what is kept where it is needed.
    codec: Codec,
    backing: Backing,
}

/// What is kept to take rows back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backing {
    Nothing,
    Ordered { greatest: bool },
    All,
}

/// The state of one call.
pub(crate) struct State {
    value: Value,
    /// DISTINCT: how often each value is there.
    distinct: Option<HashMap<Bytes, u64>>,
    /// Bytes of what is kept besides the accumulator.
    kept: usize,
}

enum Value {
    Accumulator(Box<dyn Accumulator>),
    Ordered(BTreeMap<Bytes, u64>),
    All(Box<dyn Accumulator>, Vec<Bytes>),
}

/// The arguments of a batch, call by call.
pub(crate) struct Input {
    calls: Vec<Arguments>,
}

struct Arguments {
    columns: Vec<ArrayRef>,
    filter: Option<BooleanArray>,
    encoded: Option<Encoded>,
    /// The first one, if it has NULLs, which are no values to MIN and MAX.
    first: Option<ArrayRef>,
}

impl Calls {
    /// `retracts`: rows of the input may be taken back.
    pub fn new(calls: &[Call], input: &Schema, retracts: bool) -> Result<Self> {
        Ok(Self { calls: calls.iter().map(|call| Ready::new(call, input, retracts)).collect::<Result<_>>()? })
    }

    /// The results' types.
    pub fn types(&self) -> impl Iterator<Item = &DataType> {
        self.calls.iter().map(|ready| &ready.call.returns)
    }

    /// The states of a new group.
    pub fn states(&self) -> Result<Vec<State>> {
        self.calls.iter().map(Ready::state).collect()
    }

    /// What the calls take of a batch.
    pub fn input(&self, batch: &RecordBatch) -> Result<Input> {
        Ok(Input { calls: self.calls.iter().map(|ready| ready.arguments(batch)).collect::<Result<_>>()? })
    }

    /// Adds a row.
    pub fn add(&self, states: &mut [State], input: &Input, row: usize) -> Result<()> {
        for ((ready, state), arguments) in self.calls.iter().zip(states).zip(&input.calls) {
            if arguments.takes(row) {
                ready.add(state, arguments, row)?;
            }
        }
        Ok(())
    }

    /// Takes a row back that was added.
    pub fn take_back(&self, states: &mut [State], input: &Input, row: usize) -> Result<()> {
        for ((ready, state), arguments) in self.calls.iter().zip(states).zip(&input.calls) {
            if arguments.takes(row) {
                ready.take_back(state, arguments, row)?;
            }
        }
        Ok(())
    }

    /// The values of a group.
    pub fn values(&self, states: &mut [State]) -> Result<Vec<ScalarValue>> {
        self.calls.iter().zip(states).map(|(ready, state)| ready.value(state)).collect()
    }
}

impl Ready {
    fn new(call: &Call, input: &Schema, retracts: bool) -> Result<Self> {
        let field = |(i, argument)| argument_field(argument, input, i);
        let fields = call.args.iter().enumerate().map(field).collect::<Result<Vec<_>>>()?;
        let expr = |(i, argument): (usize, &Argument)| -> Arc<dyn PhysicalExpr> {
            match argument {
                Argument::Column(_) => Arc::new(Column::new(&i.to_string(), i)),
                Argument::Literal(value) => Arc::new(Literal::new(value.clone())),
            }
        };
        let mut ready = Self {
            schema: Schema::new(fields.clone()),
            exprs: call.args.iter().enumerate().map(expr).collect(),
            return_field: Arc::new(Field::new(call.function.name(), call.returns.clone(), true)),
            codec: Codec::new(fields.iter().map(|f| f.data_type().clone()))?,
            backing: Backing::Nothing,
            fields,
            call: call.clone(),
        };
        if retracts {
            ready.backing = match call.function.name() {
                "min" => Backing::Ordered { greatest: false },
                "max" => Backing::Ordered { greatest: true },
                _ if ready.accumulator()?.supports_retract_batch() => Backing::Nothing,
                _ => Backing::All,
            };
        }
        Ok(ready)
    }

    fn accumulator(&self) -> Result<Box<dyn Accumulator>> {
        self.call.function.accumulator(AccumulatorArgs {
            return_field: Arc::clone(&self.return_field),
            schema: &self.schema,
            ignore_nulls: self.call.ignore_nulls,
            order_bys: &[],
            is_reversed: false,
            name: self.call.function.name(),
            is_distinct: false,
            exprs: &self.exprs,
            expr_fields: &self.fields,
        })
    }

    fn state(&self) -> Result<State> {
        let value = match self.backing {
            Backing::Nothing => Value::Accumulator(self.accumulator()?),
            Backing::Ordered { .. } => Value::Ordered(BTreeMap::new()),
            Backing::All => Value::All(self.accumulator()?, vec![]),
        };
        Ok(State { value, distinct: self.call.distinct.then(HashMap::new), kept: 0 })
    }

    fn arguments(&self, batch: &RecordBatch) -> Result<Arguments> {
        let mut columns = Vec::with_capacity(self.call.args.len());
        for argument in &self.call.args {
            columns.push(match argument {
                Argument::Column(i) => {
                    batch.columns().get(*i).cloned().ok_or_else(|| internal(format!("there is no column {i}")))?
                }
                Argument::Literal(value) => value.to_array_of_size(batch.num_rows())?,
            });
        }
        let filter = self.call.filter.map(|i| {
            let filter = batch.columns().get(i).and_then(|c| c.as_boolean_opt()).cloned();
            filter.ok_or_else(|| internal(format!("there is no filter {i}")))
        });
        let encoded = self.backing != Backing::Nothing || self.call.distinct;
        Ok(Arguments {
            filter: filter.transpose()?,
            encoded: encoded.then(|| self.codec.encode(&columns)).transpose()?,
            first: columns.first().filter(|c| c.logical_null_count() > 0).cloned(),
            columns,
        })
    }

    fn add(&self, state: &mut State, arguments: &Arguments, row: usize) -> Result<()> {
        if let Some(seen) = &mut state.distinct {
            let value = arguments.row(row);
            if let Some(times) = seen.get_mut(value) {
                *times = times.saturating_add(1);
                return Ok(());
            }
            seen.insert(value.into(), 1);
            state.kept += value.len() + rows::ENTRY;
        }
        match &mut state.value {
            Value::Accumulator(accumulator) => accumulator.update_batch(&arguments.slices(row)),
            Value::Ordered(values) => {
                if !arguments.is_null(row) {
                    let value = arguments.row(row);
                    match values.get_mut(value) {
                        Some(times) => *times = times.saturating_add(1),
                        None => {
                            values.insert(value.into(), 1);
                            state.kept += value.len() + rows::ENTRY;
                        }
                    }
                }
                Ok(())
            }
            Value::All(accumulator, all) => {
                let value = arguments.row(row);
                all.push(value.into());
                state.kept += value.len() + size_of::<Bytes>();
                accumulator.update_batch(&arguments.slices(row))
            }
        }
    }

    fn take_back(&self, state: &mut State, arguments: &Arguments, row: usize) -> Result<()> {
        if let Some(seen) = &mut state.distinct {
            let value = arguments.row(row);
            match seen.get_mut(value) {
                Some(times) if *times > 1 => {
                    *times -= 1;
                    return Ok(());
                }
                Some(_) => {
                    seen.remove(value);
                    state.kept = state.kept.saturating_sub(value.len() + rows::ENTRY);
                }
                None => return Ok(()),
            }
        }
        match &mut state.value {
            Value::Accumulator(accumulator) => accumulator.retract_batch(&arguments.slices(row)),
            Value::Ordered(values) => {
                if !arguments.is_null(row) {
                    let value = arguments.row(row);
                    match values.get_mut(value) {
                        Some(times) if *times > 1 => *times -= 1,
                        _ => {
                            values.remove(value);
                            state.kept = state.kept.saturating_sub(value.len() + rows::ENTRY);
                        }
                    }
                }
                Ok(())
            }
            Value::All(accumulator, all) => {
                let value = arguments.row(row);
                if let Some(at) = all.iter().position(|v| v.as_ref() == value) {
                    all.remove(at);
                    state.kept = state.kept.saturating_sub(value.len() + size_of::<Bytes>());
                }
                *accumulator = self.accumulator()?;
                if !all.is_empty() {
                    accumulator.update_batch(&self.codec.decode(all.iter().map(AsRef::as_ref))?)?;
                }
                Ok(())
            }
        }
    }

    fn value(&self, state: &mut State) -> Result<ScalarValue> {
        match &mut state.value {
            Value::Accumulator(accumulator) | Value::All(accumulator, _) => accumulator.evaluate(),
            Value::Ordered(values) => {
                let Backing::Ordered { greatest } = self.backing else {
                    return Err(internal("values without an order"));
                };
                let found = if greatest { values.last_key_value() } else { values.first_key_value() };
                match found {
                    None => ScalarValue::try_from(&self.call.returns),
                    Some((value, _)) => {
                        let columns = self.codec.decode([value.as_ref()])?;
                        let column = columns.first().ok_or_else(|| internal("MIN or MAX of nothing"))?;
                        ScalarValue::try_from_array(column, 0)
                    }
                }
            }
        }
    }
}

impl Arguments {
    fn takes(&self, row: usize) -> bool {
        self.filter.as_ref().is_none_or(|f| f.is_valid(row) && f.value(row))
    }

    fn slices(&self, row: usize) -> Vec<ArrayRef> {
        self.columns.iter().map(|c| c.slice(row, 1)).collect()
    }

    fn row(&self, row: usize) -> &[u8] {
        self.encoded.as_ref().map_or(&[], |e| e.row(row))
    }

    fn is_null(&self, row: usize) -> bool {
        self.first.as_ref().is_some_and(|c| c.is_null(row))
    }
}

impl State {
    /// Its bytes.
    pub fn size(&self) -> usize {
        let value = match &self.value {
            Value::Accumulator(accumulator) | Value::All(accumulator, _) => accumulator.size(),
            Value::Ordered(_) => 0,
        };
        size_of::<Self>() + value + self.kept
    }
}
