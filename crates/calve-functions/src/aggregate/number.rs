//! The numbers that sums are kept in.

use arrow::array::{ArrayRef, AsArray, PrimitiveArray};
use arrow::compute::cast as arrow_cast;
use arrow::datatypes::{
    ArrowNativeType, ArrowPrimitiveType, DataType as ArrowType, Decimal128Type, Float32Type, Float64Type, Int64Type,
};
use calve_types::LogicalType;
use calve_types::rules::{self, Arithmetic};
use datafusion_common::Result;

use super::totals::{Domain, Plan, Total};
use crate::args::mistyped;
use crate::cast::decimal_of_double;
use crate::decimal;

/// A number sums are kept in.
pub(super) trait Number: ArrowNativeType {
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

    fn square(self, plan: Plan) -> Option<Self> {
        Some(plan.wrapped(self.wrapping_mul(self)))
    }

    /// Flink makes a variance of the argument's arithmetic: squares and sums wrap in its type, quotients are BIGINT.
    fn finish(plan: Plan, count: i64, sum: Self, squares: Self) -> Option<Self> {
        let is_sample = matches!(plan.total, Total::VarSamp | Total::StddevSamp);
        match plan.total {
            Total::Sum => Some(sum),
            Total::Avg => Some(sum.wrapping_div(count)),
            _ if is_sample && count == 1 => None,
            total => {
                let sum = plan.wrapped(sum);
                let deviation = plan.wrapped(squares).wrapping_sub(plan.wrapped(sum.wrapping_mul(sum)) / count);
                let variance = deviation / (if is_sample { count - 1 } else { count });
                if matches!(total, Total::StddevPop | Total::StddevSamp) {
                    Some((variance as f64).sqrt() as Self)
                } else {
                    Some(variance)
                }
            }
        }
    }
}

impl Plan {
    /// A number in the argument's type, if that is an integer.
    fn wrapped(self, value: i64) -> i64 {
        match self.domain {
            Domain::Integer { bits: 8 } => i64::from(value as i8),
            Domain::Integer { bits: 16 } => i64::from(value as i16),
            Domain::Integer { bits: 32 } => i64::from(value as i32),
            _ => value,
        }
    }
}

impl Number for i128 {
    type Arrow = Decimal128Type;

    fn read(array: &ArrayRef) -> Result<PrimitiveArray<Decimal128Type>> {
        array.as_primitive_opt::<Decimal128Type>().cloned().ok_or_else(|| mistyped("Decimal", array))
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
            (_, Domain::Decimal { precision, scale }) => {
                deviation_of_decimals(plan, (precision, scale), n, sum, squares)
            }
            _ => None,
        }
    }
}

macro_rules! approximate {
    ($($t:ty as $arrow:ident in $data_type:expr),*) => {$(
        impl Number for $t {
            type Arrow = $arrow;

            fn read(array: &ArrayRef) -> Result<PrimitiveArray<$arrow>> {
                Ok(arrow_cast(array, &$data_type)?.as_primitive().clone())
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
                let n = count as $t;
                Some(match plan.total {
                    Total::Sum => sum,
                    Total::Avg => sum / n,
                    total => {
                        if count < 2 && matches!(total, Total::VarSamp | Total::StddevSamp) {
                            return None;
                        }
                        let deviation = squares - sum * sum / n;
                        let divisor =
                            if matches!(total, Total::VarSamp | Total::StddevSamp) { (count - 1) as $t } else { n };
                        let variance = deviation / divisor;
                        if matches!(total, Total::StddevPop | Total::StddevSamp) {
                            f64::from(variance).sqrt() as $t
                        } else {
                            variance
                        }
                    }
                })
            }
        }
    )*};
}

approximate!(f32 as Float32Type in ArrowType::Float32, f64 as Float64Type in ArrowType::Float64);

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
