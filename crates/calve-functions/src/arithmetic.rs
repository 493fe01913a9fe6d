//! `+ - * / %`: integers wrap, DECIMALs that overflow are NULL, dates and intervals.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, PrimitiveArray, PrimitiveBuilder};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    ArrowPrimitiveType, Decimal128Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, IntervalYearMonthType,
};
use calve_types::rules::{self, Arithmetic};
use calve_types::{DataType, Error, LogicalType, Result, Value, arrow as mapping};
use datafusion_common::Result as DfResult;
use datafusion_expr::{Expr, Operator, Volatility, binary_expr};

use crate::args::{Args, Values, failure};
use crate::decimal::power_of_ten;
use crate::function::{Arg, Call, Inferred, Refusal, Signature, Syntax, cannot_apply};
use crate::operator::{arithmetic_of, two};
use crate::{decimal, temporal};

pub(crate) fn infer_plus(args: &[Arg]) -> Inferred {
    if let [a] = args {
        return infer_sign("+", a);
    }
    infer(Arithmetic::Plus, args)
}

pub(crate) fn infer_minus(args: &[Arg]) -> Inferred {
    if let [a] = args {
        return infer_sign("-", a);
    }
    infer(Arithmetic::Minus, args)
}

pub(crate) fn infer_times(args: &[Arg]) -> Inferred {
    infer(Arithmetic::Times, args)
}

pub(crate) fn infer_divide(args: &[Arg]) -> Inferred {
    infer(Arithmetic::Divide, args)
}

pub(crate) fn infer_modulo(args: &[Arg]) -> Inferred {
    let exact = |a: &Arg| rules::decimal_of(a.logical()).is_some();
    if !args.iter().all(exact) {
        return Err(Refusal::Types);
    }
    let signature = infer(Arithmetic::Modulo, args)?;
    // Of integers the result has the type of the divisor.
    match args {
        [_, b] if signature.returns.logical.is_integer() => {
            let returns = b.logical().clone().with_nullable(signature.returns.nullable);
            Ok(Signature { returns, ..signature })
        }
        _ => Ok(signature),
    }
}

fn infer_sign(sign: &str, a: &Arg) -> Inferred {
    if !a.logical().is_numeric() && !a.logical().is_interval() {
        let forms = [format!("{sign}<NUMERIC>"), format!("{sign}<DATETIME_INTERVAL>")];
        let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
        return Err(cannot_apply(sign, Syntax::Operator, &forms, std::slice::from_ref(a)).into());
    }
    Ok(Signature { args: vec![a.data_type.clone()], returns: a.data_type.clone() })
}

fn is_zero(literal: Option<&Value>) -> bool {
    match literal {
        Some(Value::Int(0) | Value::Decimal(0)) => true,
        Some(Value::Double(v)) => *v == 0.0,
        Some(Value::Float(v)) => *v == 0.0,
        _ => false,
    }
}

fn infer(op: Arithmetic, args: &[Arg]) -> Inferred {
    let [a, b] = args else { return Err(Refusal::Count("2 arguments")) };
    let nullable = a.data_type.nullable || b.data_type.nullable;
    if let Some(signature) = temporal::infer_arithmetic(op, a, b, nullable) {
        return Ok(signature);
    }
    let returns = rules::arithmetic_type(op, a.logical(), b.logical()).ok_or(Refusal::Types)?;
    // A quotient of DOUBLEs by 0 is infinite, but for constants Flink computes it before.
    if op == Arithmetic::Divide && is_zero(b.literal.as_ref()) && (!returns.is_approximate() || a.literal.is_some()) {
        return Err(division_by_zero().into());
    }
    let arg = |arg: &Arg| -> DataType {
        let logical = match (&returns, rules::decimal_of(arg.logical())) {
            (LogicalType::Decimal { .. }, Some((precision, scale))) => LogicalType::Decimal { precision, scale },
            _ => returns.clone(),
        };
        logical.with_nullable(arg.data_type.nullable)
    };
    Ok(Signature { args: vec![arg(a), arg(b)], returns: returns.with_nullable(nullable) })
}

pub(crate) fn division_by_zero() -> Error {
    Error::new("division-by-zero", "division by zero").with_detail("Division by zero")
}

pub(crate) fn choose(call: &Call, args: Vec<Expr>) -> Result<Expr> {
    use LogicalType as T;
    if args.len() == 1 {
        if call.name == "+" {
            return args.into_iter().next().ok_or_else(|| Error::internal("no argument"));
        }
        return call.kernel(negate, args);
    }
    let (l, r) = (call.arg(0), call.arg(1));
    if !l.is_numeric() || !r.is_numeric() {
        return call.kernel(temporal::arithmetic, args);
    }
    let op = arithmetic_of(call);
    let native = |args, operator| two(args).map(|(a, b)| binary_expr(a, operator, b));
    if call.returns.logical.is_approximate() && args.iter().all(|a| is_constant(a, 8)) {
        return call.kernel(constants, args);
    }
    match (&call.returns.logical, op) {
        (T::Decimal { .. }, _) => call.kernel(decimals, args),
        (_, Arithmetic::Plus) => native(args, Operator::Plus),
        (_, Arithmetic::Minus) => native(args, Operator::Minus),
        (_, Arithmetic::Times) => native(args, Operator::Multiply),
        // Arrow fails at the smallest integer divided by -1, where Java wraps.
        (t, _) if t.is_integer() => call.kernel(integers, args),
        (_, Arithmetic::Divide) => native(args, Operator::Divide),
        (_, Arithmetic::Modulo) => native(args, Operator::Modulo),
    }
}

fn decimals(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    use LogicalType as T;
    let (
        T::Decimal { precision: p1, scale: s1 },
        T::Decimal { precision: p2, scale: s2 },
        T::Decimal { precision, scale },
    ) = (call.arg(0), call.arg(1), &call.returns.logical)
    else {
        return Err(failure(Error::internal(format!("'{}' of no decimals", call.name))));
    };
    let (a, b) = (args.numbers::<Decimal128Type>(0)?, args.numbers::<Decimal128Type>(1)?);
    let operands = ((&a, *p1, *s1), (&b, *p2, *s2));
    let numbers = decimal_values(arithmetic_of(call), operands, args.rows, (*precision, *scale))?;
    Ok(Arc::new(numbers.with_precision_and_scale(*precision, scale.cast_signed())?))
}

type Operand<'a> = (&'a Decimals<'a>, u8, u8);

/// The unscaled results of numbers with their precisions and scales, as a DECIMAL(precision, scale).
fn decimal_values(
    op: Arithmetic,
    ((a, p1, s1), (b, p2, s2)): (Operand, Operand),
    rows: usize,
    (precision, scale): (u8, u8),
) -> DfResult<PrimitiveArray<Decimal128Type>> {
    let common = s1.max(s2);
    // digits of the exact result; where the type has them all, nothing is rounded and nothing overflows
    let (digits, digits_behind) = match op {
        Arithmetic::Plus | Arithmetic::Minus => {
            (p1.saturating_sub(s1).max(p2.saturating_sub(s2)).saturating_add(common).saturating_add(1), common)
        }
        Arithmetic::Times => (p1.saturating_add(p2), s1.saturating_add(s2)),
        Arithmetic::Divide | Arithmetic::Modulo => (u8::MAX, 0),
    };
    let (f1, f2) = (power_of_ten(common - s1), power_of_ten(common - s2));
    let is_exact = digits_behind == scale;
    Ok(match op {
        Arithmetic::Plus if is_exact && digits <= precision => {
            always(a, b, rows, |x, y| x.wrapping_mul(f1).wrapping_add(y.wrapping_mul(f2)))
        }
        Arithmetic::Minus if is_exact && digits <= precision => {
            always(a, b, rows, |x, y| x.wrapping_mul(f1).wrapping_sub(y.wrapping_mul(f2)))
        }
        Arithmetic::Times if is_exact && digits <= precision => always(a, b, rows, i128::wrapping_mul),
        Arithmetic::Times if is_exact => {
            each(a, b, rows, |x, y| Ok(decimal::product(x, y).filter(|v| decimal::fits(*v, precision))))?
        }
        Arithmetic::Plus => each(a, b, rows, |x, y| Ok(decimal::add((x, s1), (y, s2), precision, scale)))?,
        Arithmetic::Minus => each(a, b, rows, |x, y| Ok(decimal::add((x, s1), (-y, s2), precision, scale)))?,
        Arithmetic::Times => each(a, b, rows, |x, y| Ok(decimal::multiply((x, s1), (y, s2), precision, scale)))?,
        Arithmetic::Divide => each(a, b, rows, |x, y| {
            not_zero(y)?;
            Ok(decimal::divide((x, s1), (y, s2), precision, scale))
        })?,
        Arithmetic::Modulo => each(a, b, rows, |x, y| {
            not_zero(y)?;
            Ok(decimal::remainder((x, s1), (y, s2), precision, scale))
        })?,
    })
}

fn not_zero(divisor: i128) -> DfResult<()> {
    if divisor == 0 { Err(failure(division_by_zero())) } else { Ok(()) }
}

type Decimals<'a> = Values<'a, PrimitiveArray<Decimal128Type>>;

/// `op` of each pair of values, where it has a result for every pair.
fn always(a: &Decimals, b: &Decimals, rows: usize, op: impl Fn(i128, i128) -> i128) -> PrimitiveArray<Decimal128Type> {
    let constant = |values: &Decimals| if values.constant { Some(values.get(0)) } else { None };
    match (constant(a), constant(b)) {
        (Some(None), _) | (_, Some(None)) => PrimitiveArray::new_null(rows),
        (Some(Some(x)), Some(Some(y))) => PrimitiveArray::from_value(op(x, y), rows),
        (Some(Some(x)), None) => b.array.unary(|y| op(x, y)),
        (None, Some(Some(y))) => a.array.unary(|x| op(x, y)),
        (None, None) => {
            let values = a.array.values().iter().zip(b.array.values()).map(|(x, y)| op(*x, *y)).collect();
            PrimitiveArray::new(values, NullBuffer::union(a.array.nulls(), b.array.nulls()))
        }
    }
}

/// `op` of each pair of values, NULL where it has no result.
fn each(
    a: &Decimals,
    b: &Decimals,
    rows: usize,
    op: impl Fn(i128, i128) -> DfResult<Option<i128>>,
) -> DfResult<PrimitiveArray<Decimal128Type>> {
    let mut result = PrimitiveBuilder::<Decimal128Type>::with_capacity(rows);
    for row in 0..rows {
        match (a.get(row), b.get(row)) {
            (Some(x), Some(y)) => result.append_option(op(x, y)?),
            _ => result.append_null(),
        }
    }
    Ok(result.finish())
}

/// Whether it is made of literals, as far as one sees at so many levels.
fn is_constant(expr: &Expr, levels: u32) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    match expr {
        Expr::Literal(..) => true,
        Expr::Cast(cast) => is_constant(&cast.expr, levels),
        Expr::ScalarFunction(call) => {
            call.func.signature().volatility == Volatility::Immutable
                && call.args.iter().all(|arg| is_constant(arg, levels))
        }
        _ => false,
    }
}

/// Constants, which Flink computes while it plans: it refuses to divide by 0, and of a FLOAT it keeps seven digits.
fn constants(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let op = arithmetic_of(call);
    let compute = |x: f64, y: f64| match op {
        Arithmetic::Plus => Ok(x + y),
        Arithmetic::Minus => Ok(x - y),
        Arithmetic::Times => Ok(x * y),
        Arithmetic::Divide | Arithmetic::Modulo if y == 0.0 => Err(failure(division_by_zero())),
        Arithmetic::Divide => Ok(x / y),
        Arithmetic::Modulo => Ok(x % y),
    };
    if call.returns.logical == LogicalType::Float {
        let (a, b) = (args.numbers::<Float32Type>(0)?, args.numbers::<Float32Type>(1)?);
        let values = (0..args.rows).map(|row| match (a.get(row), b.get(row)) {
            (Some(x), Some(y)) => {
                // Twice the digits of a FLOAT: the result is the one that FLOATs give.
                let value = compute(x.into(), y.into())? as f32;
                Ok(Some(format!("{value:.6e}").parse().unwrap_or(value)))
            }
            _ => Ok(None),
        });
        return Ok(Arc::new(values.collect::<DfResult<PrimitiveArray<Float32Type>>>()?));
    }
    let (a, b) = (args.numbers::<Float64Type>(0)?, args.numbers::<Float64Type>(1)?);
    let values = (0..args.rows).map(|row| match (a.get(row), b.get(row)) {
        (Some(x), Some(y)) => compute(x, y).map(Some),
        _ => Ok(None),
    });
    Ok(Arc::new(values.collect::<DfResult<PrimitiveArray<Float64Type>>>()?))
}

trait Wrapping: Copy + PartialEq + Default {
    fn div(self, other: Self) -> Self;
    fn rem(self, other: Self) -> Self;
    fn neg(self) -> Self;
}

macro_rules! wrapping {
    ($($t:ty),*) => {$(
        impl Wrapping for $t {
            fn div(self, other: Self) -> Self {
                self.wrapping_div(other)
            }

            fn rem(self, other: Self) -> Self {
                self.wrapping_rem(other)
            }

            fn neg(self) -> Self {
                self.wrapping_neg()
            }
        }
    )*};
}

wrapping!(i8, i16, i32, i64);

fn divide<T: ArrowPrimitiveType>(call: &Call, args: &Args) -> DfResult<ArrayRef>
where
    T::Native: Wrapping,
{
    let (a, b) = (args.numbers::<T>(0)?, args.numbers::<T>(1)?);
    let is_division = call.name == "/";
    let result: PrimitiveArray<T> = (0..args.rows)
        .map(|row| match (a.get(row), b.get(row)) {
            (Some(_), Some(y)) if y == T::Native::default() => Err(failure(division_by_zero())),
            (Some(x), Some(y)) => Ok(Some(if is_division { x.div(y) } else { x.rem(y) })),
            _ => Ok(None),
        })
        .collect::<DfResult<_>>()?;
    Ok(Arc::new(result))
}

fn integers(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let result = match call.arg(0) {
        LogicalType::TinyInt => divide::<Int8Type>(call, args),
        LogicalType::SmallInt => divide::<Int16Type>(call, args),
        LogicalType::Int => divide::<Int32Type>(call, args),
        LogicalType::BigInt => divide::<Int64Type>(call, args),
        other => Err(failure(Error::internal(format!("'{}' of {other}", call.name)))),
    }?;
    let returns = mapping::to_arrow(&call.returns.logical).map_err(failure)?;
    // A remainder is smaller than its divisor, so it fits the divisor's type.
    if result.data_type() == &returns { Ok(result) } else { Ok(arrow::compute::cast(&result, &returns)?) }
}

fn negate(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    use LogicalType as T;
    fn integers<P: ArrowPrimitiveType>(args: &Args) -> DfResult<ArrayRef>
    where
        P::Native: Wrapping,
    {
        Ok(Arc::new(args.numbers::<P>(0)?.array.unary::<_, P>(Wrapping::neg)))
    }
    match call.arg(0) {
        T::TinyInt => integers::<Int8Type>(args),
        T::SmallInt => integers::<Int16Type>(args),
        T::Int => integers::<Int32Type>(args),
        T::BigInt => integers::<Int64Type>(args),
        T::Float => Ok(Arc::new(args.numbers::<Float32Type>(0)?.array.unary::<_, Float32Type>(|v| -v))),
        T::Double => Ok(Arc::new(args.numbers::<Float64Type>(0)?.array.unary::<_, Float64Type>(|v| -v))),
        T::Decimal { precision, scale } => {
            let negated = args.numbers::<Decimal128Type>(0)?.array.unary::<_, Decimal128Type>(i128::wrapping_neg);
            Ok(Arc::new(negated.with_precision_and_scale(*precision, *scale as i8)?))
        }
        T::IntervalYearMonth { .. } => Ok(Arc::new(
            args.numbers::<IntervalYearMonthType>(0)?.array.unary::<_, IntervalYearMonthType>(i32::wrapping_neg),
        )),
        T::IntervalDayTime { .. } => Ok(Arc::new(
            args.numbers::<DurationMillisecondType>(0)?.array.unary::<_, DurationMillisecondType>(i64::wrapping_neg),
        )),
        other => Err(failure(Error::internal(format!("- of {other}")))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use arrow::datatypes::i256;
    use proptest::prelude::*;

    use super::*;

    /// The result by way of 256 bits, rounded half up.
    fn slow(op: Arithmetic, (x, s1): (i128, u8), (y, s2): (i128, u8), (precision, scale): (u8, u8)) -> Option<i128> {
        let wide = i256::from_i128;
        let power = |exponent: u8| wide(10).checked_pow(u32::from(exponent)).unwrap();
        let common = s1.max(s2);
        let (a, b) = (wide(x) * power(common - s1), wide(y) * power(common - s2));
        let (value, behind) = match op {
            Arithmetic::Plus => (a + b, common),
            Arithmetic::Minus => (a - b, common),
            _ => (wide(x) * wide(y), s1 + s2),
        };
        let value = if scale >= behind {
            value * power(scale - behind)
        } else {
            let unit = power(behind - scale);
            let half = if value < i256::ZERO { -unit / wide(2) } else { unit / wide(2) };
            (value + half) / unit
        };
        value.to_i128().filter(|v| decimal::fits(*v, precision))
    }

    /// A type and a value of it; half of the values are at its ends.
    fn number() -> impl Strategy<Value = (u8, u8, i128)> {
        (1u8..=38).prop_flat_map(|precision| {
            let most = power_of_ten(precision) - 1;
            let value = prop_oneof![-most..=most, Just(most), Just(-most), Just(0)];
            (Just(precision), 0..=precision, value)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn decimals_are_exact_or_null((p1, s1, x) in number(), (p2, s2, y) in number(), op in 0..3, shape in 0..4) {
            let op = [Arithmetic::Plus, Arithmetic::Minus, Arithmetic::Times][op as usize];
            let of = |precision, scale| LogicalType::Decimal { precision, scale };
            let returns = rules::arithmetic_type(op, &of(p1, s1), &of(p2, s2)).unwrap();
            let LogicalType::Decimal { precision, scale } = returns else { panic!("{returns}") };
            let expected = slow(op, (x, s1), (y, s2), (precision, scale));
            let array = |constant: bool, value| {
                PrimitiveArray::<Decimal128Type>::from(if constant { vec![Some(value)] } else { vec![Some(value), None] })
            };
            let (first, second) = (shape & 1 == 1, shape & 2 == 2);
            let (a, b) = (array(first, x), array(second, y));
            let (a, b) = (Values { array: &a, constant: first }, Values { array: &b, constant: second });
            let found = decimal_values(op, ((&a, p1, s1), (&b, p2, s2)), 2, (precision, scale)).unwrap();
            let values: Vec<_> = found.iter().collect();
            let null = if first && second { expected } else { None };
            prop_assert_eq!(values, vec![expected, null], "({}, {}) ({}, {})", p1, s1, p2, s2);
        }
    }
}
