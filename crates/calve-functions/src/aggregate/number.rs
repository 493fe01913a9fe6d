//! The numbers that sums are kept in.

use std::fmt;

use arrow::array::{ArrayRef, AsArray, PrimitiveArray};
use arrow::compute::cast as arrow_cast;
use arrow::datatypes::{ArrowPrimitiveType, DataType as ArrowType, Decimal128Type, Float64Type, Int64Type};
use calve_types::LogicalType;
use calve_types::rules::{self, Arithmetic};
use datafusion_common::Result;

use super::totals::{Domain, Plan, Total};
use crate::cast::decimal_of_double;
use crate::decimal;

/// A number sums are kept in.
pub(super) trait Number: Copy + Default + Send + Sync + fmt::Debug + 'static {
    type Arrow: ArrowPrimitiveType<Native = Self>;
    /// The arguments in this number.
    fn read(array: &ArrayRef) -> Result<PrimitiveArray<Self::Arrow>>;
    /// The sum; `None` if it overflows.
    fn plus(self, other: Self) -> Option<Self>;
    fn minus(self, other: Self) -> Option<Self>;
    /// The square, as the sum of squares adds it up.
    fn square(self, plan: Plan) -> Option<Self>;
    /// The result of a group with rows.
    fn finish(plan: Plan, count: i64, sum: Self, squares: Self) -> Option<Self>;
}

impl Number for i64 {
    type Arrow = Int64Type;

    fn read(array: &ArrayRef) -> Result<PrimitiveArray<Int64Type>> {
        Ok(arrow_cast(array, &ArrowType::Int64)?.as_primitive().clone())
    }

    fn plus(self, other: Self) -> Option<Self> {
        Some(self.wrapping_add(other))
    }

    fn minus(self, other: Self) -> Option<Self> {
        Some(self.wrapping_sub(other))
    }

    fn square(self, _: Plan) -> Option<Self> {
        Some(self.wrapping_mul(self))
    }

    fn finish(_: Plan, _: i64, sum: Self, _: Self) -> Option<Self> {
        Some(sum)
    }
}

impl Number for i128 {
    type Arrow = Decimal128Type;

    fn read(array: &ArrayRef) -> Result<PrimitiveArray<Decimal128Type>> {
        if let Some(decimals) = array.as_primitive_opt::<Decimal128Type>() {
            return Ok(decimals.clone());
        }
        let longs = arrow_cast(array, &ArrowType::Int64)?;
        Ok(longs.as_primitive::<Int64Type>().unary(i128::from))
    }

    fn plus(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }

    fn minus(self, other: Self) -> Option<Self> {
        self.checked_sub(other)
    }

    fn square(self, plan: Plan) -> Option<Self> {
        match plan.domain {
            Domain::Decimal { precision, scale } => {
                let squares =
                    DecimalType { precision, scale }.op(Arithmetic::Times, DecimalType { precision, scale })?;
                decimal::multiply((self, scale), (self, scale), squares.precision, squares.scale)
            }
            _ => self.checked_mul(self),
        }
    }

    fn finish(plan: Plan, count: i64, sum: Self, squares: Self) -> Option<Self> {
        let n = i128::from(count);
        match (plan.total, plan.domain) {
            (Total::Sum, _) => decimal::fits(sum, 38).then_some(sum),
            (Total::Avg, Domain::Decimal { scale, .. }) => decimal::divide((sum, scale), (n, 0), 38, scale.max(6)),
            (Total::Avg, _) => sum.checked_div(n),
            (_, Domain::Decimal { precision, scale }) => {
                deviation_of_decimals(plan, (precision, scale), n, sum, squares)
            }
            // Integer division in each step, as in Flink.
            (total, _) => {
                let deviation = squares.checked_sub(sum.checked_mul(sum)?.checked_div(n)?)?;
                let divisor = if matches!(total, Total::VarSamp | Total::StddevSamp) { n - 1 } else { n };
                let variance = deviation.checked_div(divisor)?;
                if matches!(total, Total::StddevPop | Total::StddevSamp) {
                    Some((variance as f64).sqrt() as Self)
                } else {
                    Some(variance)
                }
            }
        }
    }
}

impl Number for f64 {
    type Arrow = Float64Type;

    fn read(array: &ArrayRef) -> Result<PrimitiveArray<Float64Type>> {
        Ok(arrow_cast(array, &ArrowType::Float64)?.as_primitive().clone())
    }

    fn plus(self, other: Self) -> Option<Self> {
        Some(self + other)
    }

    fn minus(self, other: Self) -> Option<Self> {
        Some(self - other)
    }

    fn square(self, _: Plan) -> Option<Self> {
        Some(self * self)
    }

    fn finish(plan: Plan, count: i64, sum: Self, squares: Self) -> Option<Self> {
        let n = count as f64;
        Some(match plan.total {
            Total::Sum => sum,
            Total::Avg => sum / n,
            total => {
                if count < 2 && matches!(total, Total::VarSamp | Total::StddevSamp) {
                    return None;
                }
                let deviation = squares - sum * sum / n;
                let divisor = if matches!(total, Total::VarSamp | Total::StddevSamp) { n - 1.0 } else { n };
                let variance = deviation / divisor;
                if matches!(total, Total::StddevPop | Total::StddevSamp) { variance.sqrt() } else { variance }
            }
        })
    }
}

/// `DECIMAL(precision, scale)`
#[derive(Clone, Copy)]
struct DecimalType {
    precision: u8,
    scale: u8,
}

impl DecimalType {
    /// The type of `a op b`.
    fn op(self, op: Arithmetic, other: Self) -> Option<Self> {
        let logical = |t: Self| LogicalType::Decimal { precision: t.precision, scale: t.scale };
        match rules::arithmetic_type(op, &logical(self), &logical(other))? {
            LogicalType::Decimal { precision, scale } => Some(Self { precision, scale }),
            _ => None,
        }
    }
}

/// A variance or standard deviation of DECIMALs: `(SUM(x * x) - SUM(x) * SUM(x) / n) / n`, each step rounded to the type
/// it has in Flink.
fn deviation_of_decimals(plan: Plan, of: (u8, u8), n: i128, sum: i128, squares: i128) -> Option<i128> {
    let is_sample = matches!(plan.total, Total::VarSamp | Total::StddevSamp);
    let divisor = if is_sample { n - 1 } else { n };
    if divisor == 0 {
        return None;
    }
    // A BIGINT as a DECIMAL.
    let (precision, scale) = rules::decimal_of(&LogicalType::BigInt)?;
    let count = DecimalType { precision, scale };
    let argument = DecimalType { precision: of.0, scale: of.1 };
    let summed = |t: DecimalType| DecimalType { precision: 38, ..t };
    let (sums, all_squares) = (summed(argument), summed(argument.op(Arithmetic::Times, argument)?));
    let products = sums.op(Arithmetic::Times, sums)?;
    let product = decimal::multiply((sum, sums.scale), (sum, sums.scale), products.precision, products.scale)?;
    let quotients = products.op(Arithmetic::Divide, count)?;
    let quotient = decimal::divide((product, products.scale), (n, 0), quotients.precision, quotients.scale)?;
    let differences = all_squares.op(Arithmetic::Minus, quotients)?;
    let difference = decimal::add(
        (squares, all_squares.scale),
        (-quotient, quotients.scale),
        differences.precision,
        differences.scale,
    )?;
    let variances = differences.op(Arithmetic::Divide, count)?;
    let variance =
        decimal::divide((difference, differences.scale), (divisor, 0), variances.precision, variances.scale)?;
    let scale = argument.scale.max(6);
    if matches!(plan.total, Total::StddevPop | Total::StddevSamp) {
        return decimal_of_double(decimal::to_double(variance, variances.scale).sqrt(), 38, scale);
    }
    decimal::rescale(variance, variances.scale, 38, scale)
}
