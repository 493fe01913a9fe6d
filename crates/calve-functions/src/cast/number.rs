//! Casts among numbers, BOOLEAN and intervals.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, PrimitiveArray};
use arrow::compute::cast as arrow_cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Decimal128Type, DurationMillisecondType, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, IntervalYearMonthType,
};
use calve_types::{Error, IntervalField, LogicalType};
use datafusion_common::Result as DfResult;

use super::parse::parse_decimal;
use super::{Caster, string, uncovered};
use crate::args::{mistyped, primitive};
use crate::decimal;

/// Java's `(byte) (int) d`: into 32 bits saturating, then wrapping.
trait FromFloat {
    fn from_float(value: f64) -> Self;
    fn from_long(value: i64) -> Self;
}

macro_rules! from_float {
    ($($t:ty as $via:ty),*) => {$(
        impl FromFloat for $t {
            fn from_float(value: f64) -> Self {
                value as $via as $t
            }

            fn from_long(value: i64) -> Self {
                value as $t
            }
        }
    )*};
}

from_float!(i8 as i32, i16 as i32, i32 as i32, i64 as i64);

impl Caster<'_> {
    pub(super) fn between_numbers(&self, array: &ArrayRef, from: &LogicalType, to: &LogicalType) -> DfResult<ArrayRef> {
        use LogicalType as T;
        Ok(match to {
            T::TinyInt => self.to_integer::<Int8Type>(array, from, to)?,
            T::SmallInt => self.to_integer::<Int16Type>(array, from, to)?,
            T::Int => self.to_integer::<Int32Type>(array, from, to)?,
            T::BigInt => self.to_integer::<Int64Type>(array, from, to)?,
            T::Float => {
                // BIGINT not by way of a double: that would round twice.
                if *from == T::BigInt {
                    Arc::new(primitive::<Int64Type>(array)?.unary::<_, Float32Type>(|v| v as f32))
                } else {
                    let doubles = self.to_double(array, from, to)?;
                    Arc::new(primitive::<Float64Type>(&doubles)?.unary::<_, Float32Type>(|v| v as f32))
                }
            }
            T::Double => self.to_double(array, from, to)?,
            T::Decimal { precision, scale } => self.to_decimal(array, from, *precision, *scale)?,
            T::Boolean => self.to_boolean(array, from)?,
            // Months and milliseconds as they are, whatever the unit says.
            T::IntervalYearMonth { .. } => {
                let longs = self.to_integer::<Int32Type>(array, from, to)?;
                Arc::new(primitive::<Int32Type>(&longs)?.reinterpret_cast::<IntervalYearMonthType>())
            }
            T::IntervalDayTime { .. } => {
                let longs = self.to_integer::<Int64Type>(array, from, to)?;
                Arc::new(primitive::<Int64Type>(&longs)?.reinterpret_cast::<DurationMillisecondType>())
            }
            _ => return Err(uncovered(from, to)),
        })
    }

    fn to_integer<T: ArrowPrimitiveType>(
        self,
        array: &ArrayRef,
        from: &LogicalType,
        to: &LogicalType,
    ) -> DfResult<ArrayRef>
    where
        T::Native: FromFloat,
    {
        use LogicalType as L;
        let wrapped = |longs: &PrimitiveArray<Int64Type>| longs.unary::<_, T>(T::Native::from_long);
        Ok(Arc::new(match from {
            L::TinyInt | L::SmallInt | L::Int | L::BigInt => {
                let longs = arrow_cast(array, &ArrowType::Int64)?;
                wrapped(primitive(&longs)?)
            }
            L::Float => primitive::<Float32Type>(array)?.unary(|v| T::Native::from_float(f64::from(v))),
            L::Double => primitive::<Float64Type>(array)?.unary(T::Native::from_float),
            // As `BigDecimal.longValue`: cut after the point, then the low 64 bits.
            L::Decimal { scale, .. } => {
                let unit = decimal::power_of_ten(*scale);
                primitive::<Decimal128Type>(array)?.unary(|v| T::Native::from_long((v / unit) as i64))
            }
            L::Boolean => {
                let booleans = array.as_boolean_opt().ok_or_else(|| mistyped("Boolean", array))?;
                booleans.iter().map(|v| v.map(|v| T::Native::from_long(i64::from(v)))).collect()
            }
            L::IntervalYearMonth { from: unit, .. } => {
                let unit = if *unit == IntervalField::Year { 12 } else { 1 };
                primitive::<IntervalYearMonthType>(array)?.unary(|v| T::Native::from_long(i64::from(v / unit)))
            }
            L::IntervalDayTime { from: unit, .. } => {
                let unit = unit_millis(*unit);
                primitive::<DurationMillisecondType>(array)?.unary(|v| T::Native::from_long(v / unit))
            }
            _ => return Err(uncovered(from, to)),
        }))
    }

    fn to_double(self, array: &ArrayRef, from: &LogicalType, to: &LogicalType) -> DfResult<ArrayRef> {
        use LogicalType as L;
        Ok(match from {
            L::TinyInt | L::SmallInt | L::Int | L::BigInt | L::Float => arrow_cast(array, &ArrowType::Float64)?,
            L::Double => Arc::clone(array),
            L::Decimal { scale, .. } => {
                Arc::new(primitive::<Decimal128Type>(array)?.unary::<_, Float64Type>(|v| decimal::to_double(v, *scale)))
            }
            L::Boolean => {
                let booleans = array.as_boolean_opt().ok_or_else(|| mistyped("Boolean", array))?;
                Arc::new(
                    booleans.iter().map(|v| v.map(|v| f64::from(u8::from(v)))).collect::<PrimitiveArray<Float64Type>>(),
                )
            }
            _ => return Err(uncovered(from, to)),
        })
    }

    fn to_decimal(self, array: &ArrayRef, from: &LogicalType, precision: u8, scale: u8) -> DfResult<ArrayRef> {
        use LogicalType as L;
        let to = L::Decimal { precision, scale };
        let numbers: PrimitiveArray<Decimal128Type> = match from {
            L::Decimal { scale: s, .. } => primitive::<Decimal128Type>(array)?
                .iter()
                .map(|v| v.and_then(|v| decimal::rescale(v, *s, precision, scale)))
                .collect(),
            L::Float | L::Double => {
                let doubles = arrow_cast(array, &ArrowType::Float64)?;
                let mut text = String::new();
                primitive::<Float64Type>(&doubles)?
                    .iter()
                    .map(|v| {
                        let Some(v) = v else { return Ok(None) };
                        if !v.is_finite() {
                            return self.refuse(|| {
                                Error::new("cast-failed", format!("cannot cast {v} to {to}"))
                                    .with_detail("Infinite or NaN")
                            });
                        }
                        // As `BigDecimal.valueOf`: the digits Java prints, not the bits.
                        text.clear();
                        string::push_double(v, &mut text);
                        Ok(parse_decimal(&text, precision, scale).ok())
                    })
                    .collect::<DfResult<_>>()?
            }
            L::IntervalYearMonth { .. } | L::IntervalDayTime { .. } | L::Boolean => {
                let longs = self.to_integer::<Int64Type>(array, from, &to)?;
                return self.to_decimal(&longs, &L::BigInt, precision, scale);
            }
            f if f.is_integer() => {
                let longs = arrow_cast(array, &ArrowType::Int64)?;
                primitive::<Int64Type>(&longs)?
                    .iter()
                    .map(|v| v.and_then(|v| decimal::rescale(i128::from(v), 0, precision, scale)))
                    .collect()
            }
            _ => return Err(uncovered(from, &to)),
        };
        Ok(Arc::new(numbers.with_precision_and_scale(precision, scale as i8)?))
    }

    fn to_boolean(self, array: &ArrayRef, from: &LogicalType) -> DfResult<ArrayRef> {
        use LogicalType as L;
        let booleans: BooleanArray = match from {
            L::Decimal { .. } => primitive::<Decimal128Type>(array)?.iter().map(|v| v.map(|v| v != 0)).collect(),
            f if f.is_integer() => {
                let longs = arrow_cast(array, &ArrowType::Int64)?;
                primitive::<Int64Type>(&longs)?.iter().map(|v| v.map(|v| v != 0)).collect()
            }
            L::Float | L::Double => {
                let doubles = arrow_cast(array, &ArrowType::Float64)?;
                primitive::<Float64Type>(&doubles)?.iter().map(|v| v.map(|v| v != 0.0)).collect()
            }
            _ => return Err(uncovered(from, &L::Boolean)),
        };
        Ok(Arc::new(booleans))
    }
}

/// A number as a DECIMAL, from the digits Java prints; `None` if they do not fit.
pub(crate) fn decimal_of_double(value: f64, precision: u8, scale: u8) -> Option<i128> {
    let mut text = String::new();
    string::push_double(value, &mut text);
    parse_decimal(&text, precision, scale).ok()
}

pub(crate) fn unit_millis(unit: IntervalField) -> i64 {
    match unit {
        IntervalField::Day | IntervalField::Year | IntervalField::Month => 86_400_000,
        IntervalField::Hour => 3_600_000,
        IntervalField::Minute => 60_000,
        IntervalField::Second => 1000,
    }
}
