//! Mathematical functions.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use calve_types::{DataType, Error, LogicalType, Value, rules};
use datafusion_common::Result as DfResult;

use crate::args::{Args, failure};
use crate::decimal;
use crate::function::{Arg, Call, Inferred, Refusal, ScalarFunction, Signature};
use crate::operator::nullable_by;
use crate::temporal;

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::kernel("ABS", infer_same, |call, args| map(call, args, &ABS)).forms(&["ABS(<NUMERIC>)"]),
    ScalarFunction::kernel("SIGN", infer_same, |call, args| map(call, args, &SIGN)).forms(&["SIGN(<NUMERIC>)"]),
    ScalarFunction::kernel("CEIL", infer_floor, floor).aliases(&["CEILING"]),
    ScalarFunction::kernel("FLOOR", infer_floor, floor),
    ScalarFunction::kernel("ROUND", infer_round, round).gives_null(),
    ScalarFunction::kernel("TRUNCATE", infer_round, round).gives_null(),
    double("SQRT", |_, args| unary(args, f64::sqrt)),
    double("EXP", |_, args| unary(args, f64::exp)),
    double("LN", |_, args| unary(args, f64::ln)),
    double("LOG10", |_, args| unary(args, f64::log10)),
    double("LOG2", |_, args| unary(args, f64::log2)),
    double("SIN", |_, args| unary(args, f64::sin)),
    double("COS", |_, args| unary(args, f64::cos)),
    double("TAN", |_, args| unary(args, f64::tan)),
    double("COT", |_, args| unary(args, |x| 1.0 / x.tan())),
    double("ASIN", |_, args| unary(args, f64::asin)),
    double("ACOS", |_, args| unary(args, f64::acos)),
    double("ATAN", |_, args| unary(args, f64::atan)),
    double("SINH", |_, args| unary(args, f64::sinh)),
    double("COSH", |_, args| unary(args, f64::cosh)),
    double("TANH", |_, args| unary(args, f64::tanh)),
    double("DEGREES", |_, args| unary(args, f64::to_degrees)),
    double("RADIANS", |_, args| unary(args, f64::to_radians)),
    ScalarFunction::kernel("POWER", infer_two_doubles, |_, args| binary(args, f64::powf)),
    ScalarFunction::kernel("ATAN2", infer_two_doubles, |_, args| binary(args, f64::atan2)),
    ScalarFunction::kernel("LOG", infer_log, log),
    ScalarFunction::kernel("PI", infer_constant, |_, args| constant(args, std::f64::consts::PI)),
    ScalarFunction::kernel("E", infer_constant, |_, args| constant(args, std::f64::consts::E)),
];

const fn double(name: &'static str, kernel: crate::function::Kernel) -> ScalarFunction {
    ScalarFunction::kernel(name, infer_double, kernel)
}

fn infer_same(args: &[Arg]) -> Inferred {
    let [a] = args else { return Err(Refusal::Count("1 arguments")) };
    if !a.logical().is_numeric() {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: vec![a.data_type.clone()], returns: a.data_type.clone() })
}

fn doubles(args: &[Arg]) -> Inferred {
    if args.iter().any(|a| !a.logical().is_numeric()) {
        return Err(Refusal::Types);
    }
    let types = args.iter().map(|a| LogicalType::Double.with_nullable(a.data_type.nullable)).collect();
    Ok(Signature { args: types, returns: nullable_by(args, LogicalType::Double) })
}

fn infer_double(args: &[Arg]) -> Inferred {
    if args.len() == 1 { doubles(args) } else { Err(Refusal::Count("1 arguments")) }
}

fn infer_two_doubles(args: &[Arg]) -> Inferred {
    if args.len() == 2 { doubles(args) } else { Err(Refusal::Count("2 arguments")) }
}

fn infer_log(args: &[Arg]) -> Inferred {
    if matches!(args.len(), 1 | 2) { doubles(args) } else { Err(Refusal::Count("1 arguments")) }
}

fn infer_constant(args: &[Arg]) -> Inferred {
    if args.is_empty() { doubles(args) } else { Err(Refusal::Count("0 arguments")) }
}

fn unary(args: &Args, f: fn(f64) -> f64) -> DfResult<ArrayRef> {
    Ok(Arc::new(args.numbers::<Float64Type>(0)?.array.unary::<_, Float64Type>(f)))
}

fn binary(args: &Args, f: fn(f64, f64) -> f64) -> DfResult<ArrayRef> {
    let (a, b) = (args.numbers::<Float64Type>(0)?, args.numbers::<Float64Type>(1)?);
    let values = (0..args.rows).map(|row| Some(f(a.get(row)?, b.get(row)?)));
    Ok(Arc::new(values.collect::<Float64Array>()))
}

fn constant(args: &Args, value: f64) -> DfResult<ArrayRef> {
    Ok(Arc::new(Float64Array::from(vec![value; args.rows])))
}

/// `LOG(x)` is natural; `LOG(base, x)`.
fn log(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    if args.count() == 1 { unary(args, f64::ln) } else { binary(args, |base, x| x.ln() / base.ln()) }
}

/// One function for each type; the DECIMAL one takes the scale.
struct Mapping {
    long: fn(i64) -> i64,
    float: fn(f32) -> f32,
    double: fn(f64) -> f64,
    decimal: fn(i128, u8) -> i128,
}

/// ABS of the smallest integer is itself, as in Java.
const ABS: Mapping =
    Mapping { long: i64::wrapping_abs, float: f32::abs, double: f64::abs, decimal: |v, _| v.wrapping_abs() };

const SIGN: Mapping = Mapping {
    long: i64::signum,
    float: |v| if v == 0.0 || v.is_nan() { v } else { v.signum() },
    double: |v| if v == 0.0 || v.is_nan() { v } else { v.signum() },
    decimal: |v, scale| v.signum() * decimal::power_of_ten(scale),
};

fn map(call: &Call, args: &Args, mapping: &Mapping) -> DfResult<ArrayRef> {
    use LogicalType as T;
    fn integers<P: ArrowPrimitiveType>(args: &Args, f: impl Fn(P::Native) -> P::Native) -> DfResult<ArrayRef> {
        Ok(Arc::new(args.numbers::<P>(0)?.array.unary::<_, P>(f)))
    }
    let long = mapping.long;
    match call.arg(0) {
        T::TinyInt => integers::<Int8Type>(args, |v| long(i64::from(v)) as i8),
        T::SmallInt => integers::<Int16Type>(args, |v| long(i64::from(v)) as i16),
        T::Int => integers::<Int32Type>(args, |v| long(i64::from(v)) as i32),
        T::BigInt => integers::<Int64Type>(args, long),
        T::Float => integers::<Float32Type>(args, mapping.float),
        T::Double => integers::<Float64Type>(args, mapping.double),
        T::Decimal { precision, scale } => {
            let mapped =
                args.numbers::<Decimal128Type>(0)?.array.unary::<_, Decimal128Type>(|v| (mapping.decimal)(v, *scale));
            Ok(Arc::new(mapped.with_precision_and_scale(*precision, *scale as i8)?))
        }
        other => Err(failure(Error::internal(format!("'{}' of {other}", call.name)))),
    }
}

fn infer_floor(args: &[Arg]) -> Inferred {
    if args.len() == 2 {
        return temporal::infer_floor(args);
    }
    let [a] = args else { return Err(Refusal::Count("1 arguments")) };
    let returns = match a.logical() {
        LogicalType::Decimal { precision, .. } => LogicalType::Decimal { precision: *precision, scale: 0 },
        t if t.is_numeric() => t.clone(),
        _ => return Err(Refusal::Types),
    };
    Ok(Signature { args: vec![a.data_type.clone()], returns: returns.with_nullable(a.data_type.nullable) })
}

fn floor(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    use LogicalType as T;
    if args.count() == 2 {
        return temporal::floor(call, args);
    }
    let is_floor = call.name == "FLOOR";
    match call.arg(0) {
        T::Float => {
            let f = if is_floor { f32::floor } else { f32::ceil };
            Ok(Arc::new(args.numbers::<Float32Type>(0)?.array.unary::<_, Float32Type>(f)))
        }
        T::Double => unary(args, if is_floor { f64::floor } else { f64::ceil }),
        T::Decimal { precision, scale } => {
            let unit = decimal::power_of_ten(*scale);
            let whole = args.numbers::<Decimal128Type>(0)?.array.unary::<_, Decimal128Type>(|v| {
                let floor = v.div_euclid(unit);
                if is_floor || v.rem_euclid(unit) == 0 { floor } else { floor + 1 }
            });
            Ok(Arc::new(whole.with_precision_and_scale(*precision, 0)?))
        }
        _ => args.full(0),
    }
}

fn infer_round(args: &[Arg]) -> Inferred {
    let (a, digits) = match args {
        [a] => (a, None),
        [a, digits] => (a, Some(digits)),
        _ => return Err(Refusal::Count("1 arguments")),
    };
    if digits.is_some_and(|d| !matches!(d.logical(), LogicalType::TinyInt | LogicalType::SmallInt | LogicalType::Int)) {
        return Err(Refusal::Types);
    }
    let returns = match a.logical() {
        LogicalType::Decimal { precision, scale } => {
            let digits = match digits.map(|d| &d.literal) {
                None => 0,
                Some(Some(Value::Int(n))) => (*n).clamp(-100, 100) as i32,
                // Unknown before it runs: as many digits as the argument has.
                Some(_) => i32::from(*scale),
            };
            rules::round_type(*precision, *scale, digits)
        }
        t if t.is_numeric() => t.clone(),
        _ => return Err(Refusal::Types),
    };
    let mut types: Vec<DataType> = vec![a.data_type.clone()];
    types.extend(digits.map(|d| LogicalType::Int.with_nullable(d.data_type.nullable)));
    Ok(Signature { args: types, returns: nullable_by(args, returns) })
}

/// `value` with `digits` after the point, half away from zero or cut.
fn round_decimal(value: i128, scale: u8, digits: i32, is_round: bool) -> Option<i128> {
    let drop = i64::from(scale) - i64::from(digits);
    if drop <= 0 {
        return Some(value);
    }
    if drop > 38 {
        return Some(0);
    }
    let unit = decimal::power_of_ten(drop as u8);
    let (quotient, remainder) = (value / unit, value % unit);
    let up = is_round && remainder.unsigned_abs() >= unit.unsigned_abs().div_ceil(2);
    (if up { quotient + value.signum() } else { quotient }).checked_mul(unit)
}

/// A double by the decimal digits Java prints for it, as `BigDecimal.valueOf(x).setScale(digits)`.
fn round_double(value: f64, digits: i32, is_round: bool) -> f64 {
    if !value.is_finite() || digits > 308 {
        return value;
    }
    let text = format!("{value:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return value };
    let Ok(exponent) = exponent.parse::<i32>() else { return value };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let Ok(unscaled) = [whole, fraction].concat().parse::<i128>() else { return value };
    // The value is unscaled x 10^(exponent - fraction digits).
    let scale = fraction.len() as i64 - i64::from(exponent);
    let drop = scale - i64::from(digits);
    if drop <= 0 {
        return value;
    }
    if drop > 20 {
        return 0.0;
    }
    let unit = decimal::power_of_ten(drop as u8);
    let (quotient, remainder) = (unscaled / unit, unscaled % unit);
    let up = is_round && remainder.unsigned_abs() * 2 >= unit.unsigned_abs();
    let rounded = if up { quotient + unscaled.signum() } else { quotient };
    format!("{rounded}e{}", -digits).parse().unwrap_or(value)
}

fn round(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    use LogicalType as T;
    let is_round = call.name == "ROUND";
    let digits = if args.count() > 1 { Some(args.numbers::<Int32Type>(1)?) } else { None };
    let digits = |row: usize| match &digits {
        None => Some(0),
        Some(digits) => digits.get(row),
    };
    fn integers<P: ArrowPrimitiveType>(
        args: &Args,
        digits: impl Fn(usize) -> Option<i32>,
        is_round: bool,
        cut: fn(i128) -> P::Native,
    ) -> DfResult<ArrayRef>
    where
        P::Native: Into<i128>,
    {
        let values = args.numbers::<P>(0)?;
        let rounded = (0..args.rows)
            .map(|row| round_decimal(values.get(row)?.into(), 0, digits(row)?, is_round).map(cut))
            .collect::<PrimitiveArray<P>>();
        Ok(Arc::new(rounded))
    }
    match call.arg(0) {
        T::TinyInt => integers::<Int8Type>(args, digits, is_round, |v| v as i8),
        T::SmallInt => integers::<Int16Type>(args, digits, is_round, |v| v as i16),
        T::Int => integers::<Int32Type>(args, digits, is_round, |v| v as i32),
        T::BigInt => integers::<Int64Type>(args, digits, is_round, |v| v as i64),
        T::Float => {
            let values = args.numbers::<Float32Type>(0)?;
            let rounded = (0..args.rows).map(|row| {
                let text = values.get(row)?.to_string();
                Some(round_double(text.parse().ok()?, digits(row)?, is_round) as f32)
            });
            Ok(Arc::new(rounded.collect::<PrimitiveArray<Float32Type>>()))
        }
        T::Double => {
            let values = args.numbers::<Float64Type>(0)?;
            let rounded = (0..args.rows).map(|row| Some(round_double(values.get(row)?, digits(row)?, is_round)));
            Ok(Arc::new(rounded.collect::<Float64Array>()))
        }
        T::Decimal { scale: from, .. } => {
            let T::Decimal { precision, scale } = call.returns.logical else {
                return Err(failure(Error::internal(format!("'{}' gives {}", call.name, call.returns))));
            };
            let values = args.numbers::<Decimal128Type>(0)?;
            let rounded: PrimitiveArray<Decimal128Type> = (0..args.rows)
                .map(|row| {
                    let rounded = round_decimal(values.get(row)?, *from, digits(row)?, is_round)?;
                    decimal::rescale(rounded, *from, precision, scale)
                })
                .collect();
            Ok(Arc::new(rounded.with_precision_and_scale(precision, scale as i8)?))
        }
        other => Err(failure(Error::internal(format!("'{}' of {other}", call.name)))),
    }
}
