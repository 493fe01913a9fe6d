//! PERCENTILE, exact: values between two are interpolated.

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Float64Type, Int64Type};
use calve_types::Error;
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::format_state_name;
use datafusion_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

use super::values::Values;
use crate::args::{failure, mistyped};

/// `PERCENTILE(DOUBLE, DOUBLE or ARRAY<DOUBLE> [, BIGINT])`
pub(super) fn udaf(returns: ArrowType) -> AggregateUDF {
    AggregateUDF::new_from_impl(PercentileUdaf { returns, signature: Signature::user_defined(Volatility::Immutable) })
}

#[derive(Debug, Clone)]
struct PercentileUdaf {
    returns: ArrowType,
    signature: Signature,
}

impl PartialEq for PercentileUdaf {
    fn eq(&self, other: &Self) -> bool {
        self.returns == other.returns
    }
}

impl Eq for PercentileUdaf {}

impl Hash for PercentileUdaf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.returns.hash(state);
    }
}

impl AggregateUDFImpl for PercentileUdaf {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        "PERCENTILE"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[ArrowType]) -> Result<Vec<ArrowType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(self.returns.clone())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Percentile {
            returns: self.returns.clone(),
            values: Values::new(ArrowType::Float64, args.is_distinct, false),
            counts: Values::new(ArrowType::Int64, false, false),
            has_counts: args.expr_fields.len() > 2,
            wanted: vec![],
        }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let list = |part: &str, item| {
            let data_type = Values::state_type(item);
            Arc::new(Field::new(format_state_name(args.name, part), data_type, true))
        };
        Ok(vec![
            list("values", ArrowType::Float64),
            list("counts", ArrowType::Int64),
            list("wanted", ArrowType::Float64),
        ])
    }
}

#[derive(Debug)]
struct Percentile {
    returns: ArrowType,
    values: Values,
    /// How often each value counts, if that is said.
    counts: Values,
    has_counts: bool,
    /// The percentages, from 0 to 1, of the first row.
    wanted: Vec<f64>,
}

fn doubles(array: &ArrayRef) -> Result<&Float64Array> {
    array.as_primitive_opt::<Float64Type>().ok_or_else(|| mistyped("Float64", array))
}

impl Percentile {
    fn read_wanted(&mut self, percentages: &ArrayRef) -> Result<()> {
        if !self.wanted.is_empty() || percentages.is_empty() {
            return Ok(());
        }
        let first = match percentages.as_list_opt::<i32>() {
            Some(lists) if lists.is_valid(0) => lists.value(0),
            Some(_) => return Ok(()),
            None => percentages.slice(0, 1),
        };
        self.wanted = doubles(&first)?.iter().flatten().collect();
        match self.wanted.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            Some(p) => {
                Err(failure(Error::new("invalid-argument", format!("'PERCENTILE' of {p}, which is not from 0 to 1"))))
            }
            None => Ok(()),
        }
    }

    /// The values in order, each with the number of those up to it.
    fn ranked(&self) -> Result<Vec<(f64, i64)>> {
        let (values, counts) = (self.values.all()?, self.counts.all()?);
        let mut ranked: Vec<(f64, i64)> = if self.has_counts {
            let counts = counts.as_primitive_opt::<Int64Type>().ok_or_else(|| mistyped("Int64", &counts))?;
            doubles(&values)?.values().iter().copied().zip(counts.values().iter().copied()).collect()
        } else {
            doubles(&values)?.values().iter().map(|v| (*v, 1)).collect()
        };
        ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut total = 0_i64;
        for (_, count) in &mut ranked {
            total = total.saturating_add(*count);
            *count = total;
        }
        Ok(ranked)
    }
}

/// The value at a share of the way from the first to the last.
fn at(ranked: &[(f64, i64)], share: f64) -> Option<f64> {
    let (_, total) = ranked.last()?;
    let position = (total - 1) as f64 * share;
    let (low, high) = (position.floor(), position.ceil());
    let value = |rank: f64| {
        let place = ranked.partition_point(|(_, upto)| *upto <= rank as i64);
        ranked.get(place).map(|(value, _)| *value)
    };
    let (below, above) = (value(low)?, value(high)?);
    Some(if low == high { below } else { (high - position) * below + (position - low) * above })
}

impl Accumulator for Percentile {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let (Some(values), Some(percentages)) = (columns.first(), columns.get(1)) else {
            return Err(failure(Error::internal("PERCENTILE needs two arguments")));
        };
        self.read_wanted(percentages)?;
        let Some(counts) = columns.get(2) else { return self.values.add(values) };
        // A value that does not count at least once is none.
        let numbers = counts.as_primitive_opt::<Int64Type>().ok_or_else(|| mistyped("Int64", counts))?;
        let keep = (0..values.len())
            .map(|row| Some(values.is_valid(row) && numbers.is_valid(row) && numbers.value(row) > 0))
            .collect::<BooleanArray>();
        self.values.add(&arrow::compute::filter(values, &keep)?)?;
        self.counts.add(&arrow::compute::filter(counts, &keep)?)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let ranked = self.ranked()?;
        let ArrowType::List(field) = &self.returns else {
            let share = self.wanted.first().copied();
            return Ok(ScalarValue::Float64(share.and_then(|share| at(&ranked, share))));
        };
        if ranked.is_empty() {
            return ScalarValue::try_from(&self.returns);
        }
        let found: Float64Array = self.wanted.iter().map(|share| at(&ranked, *share)).collect();
        let offsets = OffsetBuffer::from_lengths([found.len()]);
        let list = ListArray::try_new(Arc::clone(field), offsets, Arc::new(found), None)?;
        Ok(ScalarValue::List(Arc::new(list)))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut wanted = Values::new(ArrowType::Float64, false, false);
        wanted.add(&(Arc::new(Float64Array::from(self.wanted.clone())) as ArrayRef))?;
        Ok(vec![self.values.state()?, self.counts.state()?, wanted.state()?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [values, counts, wanted] = states else {
            return Err(failure(Error::internal(format!("{} columns of an aggregate's state", states.len()))));
        };
        self.values.merge(values)?;
        self.counts.merge(counts)?;
        let lists = wanted.as_list_opt::<i32>().ok_or_else(|| mistyped("List", wanted))?;
        for (row, list) in lists.iter().enumerate() {
            if list.is_some_and(|list| !list.is_empty()) {
                self.read_wanted(&wanted.slice(row, 1))?;
            }
        }
        Ok(())
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.values.size() + self.counts.size() + self.wanted.capacity() * size_of::<f64>()
    }
}
