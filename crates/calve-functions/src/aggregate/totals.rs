//! SUM, AVG, VAR_* and STDDEV_* from counts, sums and sums of squares.
//!
//! SUM of integers wraps in the argument's type. AVG and the variances keep the argument's type too: for integers they
//! divide integers, as Flink does. A DECIMAL sum of more than 38 digits is NULL.

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, PrimitiveArray};
use arrow::compute::cast as arrow_cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Decimal128Type, Field, FieldRef, Int8Type, Int16Type, Int32Type,
    Int64Type,
};
use calve_types::{Error, LogicalType, arrow as mapping};
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::format_state_name;
use datafusion_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};

use super::number::Number;
use super::values::Values;
use crate::args::{failure, mistyped};

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Total {
    Sum,
    Avg,
    VarPop,
    VarSamp,
    StddevPop,
    StddevSamp,
}

impl Total {
    fn needs_squares(self) -> bool {
        !matches!(self, Self::Sum | Self::Avg)
    }
}

/// How sums are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Domain {
    /// Integers of so many bits: sums and squares wrap.
    Integer { bits: u32 },
    /// DECIMALs of a type.
    Decimal { precision: u8, scale: u8 },
    /// FLOAT, in steps of that precision.
    Float,
    /// DOUBLE, and the average of FLOAT.
    Double,
}

pub(super) fn udaf(
    name: &str,
    total: Total,
    argument: &LogicalType,
    returns: &LogicalType,
) -> calve_types::Result<AggregateUDF> {
    let domain = match argument {
        LogicalType::Decimal { precision, scale } => Domain::Decimal { precision: *precision, scale: *scale },
        LogicalType::TinyInt => Domain::Integer { bits: 8 },
        LogicalType::SmallInt => Domain::Integer { bits: 16 },
        LogicalType::Int => Domain::Integer { bits: 32 },
        LogicalType::BigInt => Domain::Integer { bits: 64 },
        LogicalType::Float if total != Total::Avg => Domain::Float,
        t if t.is_approximate() => Domain::Double,
        other => return Err(Error::internal(format!("{name} of {other}"))),
    };
    Ok(AggregateUDF::new_from_impl(Totals {
        name: name.to_owned(),
        plan: Plan { total, domain },
        returns: mapping::to_arrow(returns)?,
        signature: Signature::user_defined(Volatility::Immutable),
    }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Plan {
    pub total: Total,
    pub domain: Domain,
}

#[derive(Debug, Clone)]
struct Totals {
    name: String,
    plan: Plan,
    returns: ArrowType,
    signature: Signature,
}

impl PartialEq for Totals {
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan && self.returns == other.returns
    }
}

impl Eq for Totals {}

impl Hash for Totals {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.plan, &self.returns).hash(state);
    }
}

/// The count of a group whose sum overflowed: it stays below zero whatever is added.
const OVERFLOWED: i64 = i64::MIN / 2;

/// Counts, sums and sums of squares by group.
#[derive(Debug)]
struct Groups<N: Number> {
    plan: Plan,
    returns: ArrowType,
    counts: Vec<i64>,
    sums: Vec<N>,
    /// Empty where they are not needed.
    squares: Vec<N>,
}

impl<N: Number> Groups<N> {
    fn new(plan: Plan, returns: &ArrowType) -> Self {
        Self { plan, returns: returns.clone(), counts: vec![], sums: vec![], squares: vec![] }
    }

    fn grow(&mut self, groups: usize) {
        self.counts.resize(groups, 0);
        self.sums.resize(groups, N::default());
        if self.plan.total.needs_squares() {
            self.squares.resize(groups, N::default());
        }
    }

    fn combine(&mut self, group: usize, count: i64, sum: N, squares: N, with: fn(N, N) -> Option<N>) {
        let (Some(counts), Some(sums)) = (self.counts.get_mut(group), self.sums.get_mut(group)) else { return };
        *counts = counts.saturating_add(count);
        match with(*sums, sum) {
            Some(total) => *sums = total,
            None => *counts = OVERFLOWED,
        }
        if let Some(total) = self.squares.get_mut(group) {
            match with(*total, squares) {
                Some(squares) => *total = squares,
                None => *counts = OVERFLOWED,
            }
        }
    }

    /// The value's square where squares are added up; `None` if it overflows.
    fn squared(&self, value: N) -> Option<N> {
        if self.plan.total.needs_squares() { value.square(self.plan) } else { Some(N::default()) }
    }

    fn add(&mut self, group: usize, value: N) {
        match self.squared(value) {
            Some(squares) => self.combine(group, 1, value, squares, N::plus),
            None => self.combine(group, OVERFLOWED, value, N::default(), N::plus),
        }
    }

    /// [`Self::add`] of each value to its group where no squares are needed.
    fn add_all(&mut self, groups: &[usize], values: &[N]) {
        for (group, value) in groups.iter().zip(values) {
            let (Some(count), Some(sum)) = (self.counts.get_mut(*group), self.sums.get_mut(*group)) else { continue };
            match sum.plus(*value) {
                Some(total) => {
                    *sum = total;
                    *count += 1;
                }
                None => *count = OVERFLOWED,
            }
        }
    }

    fn remove(&mut self, group: usize, value: N) {
        match self.squared(value) {
            Some(squares) => self.combine(group, -1, value, squares, N::minus),
            None => self.combine(group, OVERFLOWED, value, N::default(), N::minus),
        }
    }

    fn merge(&mut self, states: &[ArrayRef], group: impl Fn(usize) -> usize) -> Result<()> {
        let [counts, sums, squares] = states else {
            return Err(failure(Error::internal(format!("{} columns of an aggregate's state", states.len()))));
        };
        let counts = counts.as_primitive_opt::<Int64Type>().ok_or_else(|| mistyped("Int64", counts))?;
        let sums = sums.as_primitive_opt::<N::Arrow>().ok_or_else(|| mistyped("sums", sums))?;
        let squares = squares.as_primitive_opt::<N::Arrow>().ok_or_else(|| mistyped("squares", squares))?;
        for row in 0..counts.len() {
            self.combine(group(row), counts.value(row), sums.value(row), squares.value(row), N::plus);
        }
        Ok(())
    }

    fn finish(&self, counts: &[i64], sums: &[N], squares: &[N]) -> Result<ArrayRef> {
        let squares = squares.iter().copied().chain(std::iter::repeat(N::default()));
        let values =
            counts.iter().zip(sums).zip(squares).map(|((count, sum), squares)| {
                (*count > 0).then(|| N::finish(self.plan, *count, *sum, squares)).flatten()
            });
        let numbers: PrimitiveArray<N::Arrow> = values.collect();
        convert(Arc::new(numbers), &self.returns)
    }

    fn states(counts: Vec<i64>, sums: Vec<N>, squares: Vec<N>) -> Vec<ArrayRef> {
        let squares = if squares.is_empty() { vec![N::default(); counts.len()] } else { squares };
        let numbers = |values: Vec<N>| -> ArrayRef {
            let array = PrimitiveArray::<N::Arrow>::from_iter_values(values);
            Arc::new(array.with_data_type(state_type::<N>()))
        };
        vec![Arc::new(Int64Array::from(counts)), numbers(sums), numbers(squares)]
    }
}

/// The Arrow type in which sums travel; digits beyond 38 are kept, Arrow does not look.
fn state_type<N: Number>() -> ArrowType {
    match N::Arrow::DATA_TYPE {
        ArrowType::Decimal128(..) => ArrowType::Decimal128(38, 0),
        other => other,
    }
}

/// Numbers in the result's type; integers wrap.
fn convert(numbers: ArrayRef, returns: &ArrowType) -> Result<ArrayRef> {
    fn narrow<T: ArrowPrimitiveType>(numbers: &ArrayRef, cut: fn(i128) -> T::Native) -> ArrayRef {
        match numbers.as_primitive_opt::<Int64Type>() {
            Some(longs) => Arc::new(longs.unary::<_, T>(|v| cut(i128::from(v)))),
            None => Arc::new(numbers.as_primitive::<Decimal128Type>().unary::<_, T>(cut)),
        }
    }
    Ok(match returns {
        ArrowType::Int8 => narrow::<Int8Type>(&numbers, |v| v as i8),
        ArrowType::Int16 => narrow::<Int16Type>(&numbers, |v| v as i16),
        ArrowType::Int32 => narrow::<Int32Type>(&numbers, |v| v as i32),
        ArrowType::Int64 => narrow::<Int64Type>(&numbers, |v| v as i64),
        ArrowType::Decimal128(precision, scale) => {
            let decimals = numbers.as_primitive_opt::<Decimal128Type>().ok_or_else(|| mistyped("Decimal", &numbers))?;
            Arc::new(decimals.clone().with_precision_and_scale(*precision, *scale)?)
        }
        other => arrow_cast(&numbers, other)?,
    })
}

impl<N: Number> GroupsAccumulator for Groups<N> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.grow(total_num_groups);
        let numbers = N::read(argument(values)?)?;
        if opt_filter.is_none() && numbers.null_count() == 0 && !self.plan.total.needs_squares() {
            self.add_all(group_indices, numbers.values());
            return Ok(());
        }
        for (row, group) in group_indices.iter().enumerate() {
            let taken = opt_filter.is_none_or(|f| f.is_valid(row) && f.value(row));
            if taken && numbers.is_valid(row) {
                self.add(*group, numbers.value(row));
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let counts = emit_to.take_needed(&mut self.counts);
        let sums = emit_to.take_needed(&mut self.sums);
        let squares = if self.squares.is_empty() { vec![] } else { emit_to.take_needed(&mut self.squares) };
        self.finish(&counts, &sums, &squares)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let counts = emit_to.take_needed(&mut self.counts);
        let sums = emit_to.take_needed(&mut self.sums);
        let squares = if self.squares.is_empty() { vec![] } else { emit_to.take_needed(&mut self.squares) };
        Ok(Self::states(counts, sums, squares))
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        if opt_filter.is_some() {
            return Err(failure(Error::internal("a filter on an aggregate's state")));
        }
        self.grow(total_num_groups);
        self.merge(values, |row| group_indices.get(row).copied().unwrap_or(usize::MAX))
    }

    fn convert_to_state(&self, values: &[ArrayRef], opt_filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |a| a.len());
        let mut each = Self::new(self.plan, &self.returns);
        let groups: Vec<usize> = (0..rows).collect();
        each.update_batch(values, &groups, opt_filter, rows)?;
        each.state(EmitTo::All)
    }

    fn supports_convert_to_state(&self) -> bool {
        true
    }

    fn size(&self) -> usize {
        size_of::<Self>()
            + self.counts.capacity() * size_of::<i64>()
            + (self.sums.capacity() + self.squares.capacity()) * size_of::<N>()
    }
}

pub(super) fn argument(values: &[ArrayRef]) -> Result<&ArrayRef> {
    values.first().ok_or_else(|| failure(Error::internal("an aggregate without an argument")))
}

/// One group.
#[derive(Debug)]
struct Single<N: Number> {
    groups: Groups<N>,
}

impl<N: Number> Single<N> {
    fn new(plan: Plan, returns: &ArrowType) -> Self {
        let mut groups = Groups::new(plan, returns);
        groups.grow(1);
        Self { groups }
    }
}

impl<N: Number> Accumulator for Single<N> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in N::read(argument(values)?)?.iter().flatten() {
            self.groups.add(0, value);
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in N::read(argument(values)?)?.iter().flatten() {
            self.groups.remove(0, value);
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let groups = &self.groups;
        ScalarValue::try_from_array(&groups.finish(&groups.counts, &groups.sums, &groups.squares)?, 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let groups = &self.groups;
        Groups::states(groups.counts.clone(), groups.sums.clone(), groups.squares.clone())
            .iter()
            .map(|array| ScalarValue::try_from_array(array, 0))
            .collect()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.groups.merge(states, |_| 0)
    }

    fn size(&self) -> usize {
        self.groups.size()
    }
}

/// DISTINCT: the values seen, added up at the end.
#[derive(Debug)]
struct Distinct {
    plan: Plan,
    returns: ArrowType,
    seen: Values,
}

impl Accumulator for Distinct {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.seen.add(argument(values)?)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut total = accumulator(self.plan, &self.returns);
        total.update_batch(&[self.seen.all()?])?;
        total.evaluate()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.seen.state()?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.seen.merge(argument(states)?)
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.seen.size()
    }
}

fn accumulator(plan: Plan, returns: &ArrowType) -> Box<dyn Accumulator> {
    match plan.domain {
        Domain::Integer { .. } => Box::new(Single::<i64>::new(plan, returns)),
        Domain::Decimal { .. } => Box::new(Single::<i128>::new(plan, returns)),
        Domain::Float => Box::new(Single::<f32>::new(plan, returns)),
        Domain::Double => Box::new(Single::<f64>::new(plan, returns)),
    }
}

impl AggregateUDFImpl for Totals {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        &self.name
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
        if args.is_distinct {
            let input = args.expr_fields.first().map_or(ArrowType::Null, |f| f.data_type().clone());
            return Ok(Box::new(Distinct {
                plan: self.plan,
                returns: self.returns.clone(),
                seen: Values::new(input, true, false),
            }));
        }
        Ok(accumulator(self.plan, &self.returns))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let field = |part: &str, data_type| Arc::new(Field::new(format_state_name(args.name, part), data_type, true));
        if args.is_distinct {
            let input = args.input_fields.first().map_or(ArrowType::Null, |f| f.data_type().clone());
            return Ok(vec![field("values", Values::state_type(input))]);
        }
        let number = match self.plan.domain {
            Domain::Integer { .. } => state_type::<i64>(),
            Domain::Decimal { .. } => state_type::<i128>(),
            Domain::Float => state_type::<f32>(),
            Domain::Double => state_type::<f64>(),
        };
        Ok(vec![field("count", ArrowType::Int64), field("sum", number.clone()), field("squares", number)])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(match self.plan.domain {
            Domain::Integer { .. } => Box::new(Groups::<i64>::new(self.plan, &self.returns)),
            Domain::Decimal { .. } => Box::new(Groups::<i128>::new(self.plan, &self.returns)),
            Domain::Float => Box::new(Groups::<f32>::new(self.plan, &self.returns)),
            Domain::Double => Box::new(Groups::<f64>::new(self.plan, &self.returns)),
        })
    }

    fn order_sensitivity(&self) -> datafusion_expr::utils::AggregateOrderSensitivity {
        datafusion_expr::utils::AggregateOrderSensitivity::Insensitive
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}
