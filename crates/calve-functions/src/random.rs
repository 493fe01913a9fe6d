//! RAND and RAND_INTEGER.
//!
//! With a seed they give the numbers of Java's `java.util.Random`, one after the other over the rows that one task
//! reads, as in Flink.

use std::any::Any;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{ArrayRef, Float64Array, Int32Array};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Int32Type};
use calve_types::{DataType, Error, LogicalType, Result};
use datafusion_common::{Result as DfResult, ScalarValue};
use datafusion_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature as DfSignature,
    Volatility,
};

use crate::args::{Args, Values, failure};
use crate::function::{Arg, Call, Eval, Inferred, Refusal, ScalarFunction, Signature};
use crate::operator::nullable_by;

pub(crate) static TABLE: &[ScalarFunction] = &[
    ScalarFunction::new("RAND", infer_rand, Eval::Choose(choose)).volatile(),
    ScalarFunction::new("RAND_INTEGER", infer_integer, Eval::Choose(choose)).volatile(),
];

fn integers(args: &[Arg], returns: LogicalType) -> Inferred {
    if args.iter().any(|a| !a.logical().is_integer()) {
        return Err(Refusal::Types);
    }
    let types: Vec<DataType> = args.iter().map(|a| LogicalType::Int.with_nullable(a.data_type.nullable)).collect();
    Ok(Signature { args: types, returns: nullable_by(args, returns) })
}

/// `RAND([seed])`
fn infer_rand(args: &[Arg]) -> Inferred {
    if args.len() < 2 { integers(args, LogicalType::Double) } else { Err(Refusal::Count("1 arguments")) }
}

/// `RAND_INTEGER([seed,] bound)`
fn infer_integer(args: &[Arg]) -> Inferred {
    if args.iter().any(|a| *a.logical() != LogicalType::Int) {
        return Err(Refusal::Types);
    }
    if matches!(args.len(), 1 | 2) { integers(args, LogicalType::Int) } else { Err(Refusal::Count("1 arguments")) }
}

/// A seed that is a literal makes one sequence, any other seed one of its own for each row.
fn choose(call: &Call, args: Vec<Expr>) -> Result<Expr> {
    let seeded = if call.name == "RAND" { args.len() == 1 } else { args.len() == 2 };
    let seed = match args.first() {
        Some(Expr::Literal(ScalarValue::Int32(Some(seed)), _)) if seeded => Some(i64::from(*seed)),
        _ => None,
    };
    match seed {
        Some(seed) => {
            static NEXT: AtomicU64 = AtomicU64::new(0);
            let udf = Sequence {
                call: call.clone(),
                id: NEXT.fetch_add(1, Ordering::Relaxed),
                random: Mutex::new(Random::new(seed)),
                signature: DfSignature::user_defined(Volatility::Volatile),
            };
            Ok(ScalarUDF::new_from_impl(udf).call(args))
        }
        None if seeded => call.kernel(each_seeded, args),
        None => call.kernel(unseeded, args),
    }
}

/// Java's `java.util.Random`.
#[derive(Debug)]
struct Random(u64);

impl Random {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;

    fn new(seed: i64) -> Self {
        Self((seed as u64 ^ Self::MULTIPLIER) & Self::MASK)
    }

    fn next(&mut self, bits: u32) -> i32 {
        self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xB) & Self::MASK;
        (self.0 >> (48 - bits)) as i32
    }

    /// From 0 to 1, without 1.
    fn next_double(&mut self) -> f64 {
        let high = (self.next(26) as u64) << 27;
        (high + self.next(27) as u64) as f64 / (1_u64 << 53) as f64
    }

    /// From 0 to `bound`, without it; `bound` is positive.
    fn next_below(&mut self, bound: i32) -> i32 {
        if bound & bound.wrapping_neg() == bound {
            return ((i64::from(bound) * i64::from(self.next(31))) >> 31) as i32;
        }
        loop {
            let bits = self.next(31);
            let value = bits % bound.max(1);
            // The last, incomplete range of numbers would make small ones more likely.
            if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                return value;
            }
        }
    }
}

/// The numbers of a call: from one generator, or from one for each row's seed.
fn numbers(
    call: &Call,
    args: &Args,
    shared: &mut Random,
    seeds: Option<&Values<'_, Int32Array>>,
) -> DfResult<ArrayRef> {
    let bounds = match args.count() {
        0 => None,
        count if call.name == "RAND_INTEGER" => Some(args.numbers::<Int32Type>(count - 1)?),
        _ => None,
    };
    let (mut doubles, mut integers) = (vec![], vec![]);
    let mut own;
    for row in 0..args.rows {
        let seed = seeds.map(|seeds| seeds.get(row));
        let random = match seed {
            None => Some(&mut *shared),
            Some(None) => None,
            Some(Some(seed)) => {
                own = Random::new(i64::from(seed));
                Some(&mut own)
            }
        };
        match &bounds {
            None => doubles.push(random.map(Random::next_double)),
            Some(bounds) => integers.push(match (random, bounds.get(row)) {
                (Some(random), Some(bound)) if bound > 0 => Some(random.next_below(bound)),
                (Some(_), Some(bound)) => {
                    let error = Error::new("invalid-argument", format!("the bound {bound} of 'RAND_INTEGER'"));
                    return Err(failure(error.with_detail("bound must be positive")));
                }
                _ => None,
            }),
        }
    }
    Ok(if bounds.is_some() { Arc::new(Int32Array::from(integers)) } else { Arc::new(Float64Array::from(doubles)) })
}

/// Another sequence for each batch, from the standard library's random hash keys.
fn unseeded(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    numbers(call, args, &mut Random::new(RandomState::new().hash_one(0) as i64), None)
}

fn each_seeded(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let seeds = args.numbers::<Int32Type>(0)?;
    numbers(call, args, &mut Random::new(0), Some(&seeds))
}

/// A call with a literal seed: it goes on from batch to batch.
#[derive(Debug)]
struct Sequence {
    call: Call,
    /// Every call has its own sequence, also one that looks the same.
    id: u64,
    random: Mutex<Random>,
    signature: DfSignature,
}

impl PartialEq for Sequence {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Sequence {}

impl Hash for Sequence {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl ScalarUDFImpl for Sequence {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        &self.call.name
    }

    fn signature(&self) -> &DfSignature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[ArrowType]) -> DfResult<Vec<ArrowType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(if self.call.name == "RAND" { ArrowType::Float64 } else { ArrowType::Int32 })
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> DfResult<FieldRef> {
        let types: Vec<ArrowType> = args.arg_fields.iter().map(|f| f.data_type().clone()).collect();
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, self.call.returns.nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let columns = args
            .args
            .into_iter()
            .map(|arg| match arg {
                ColumnarValue::Array(array) => Ok((array, false)),
                ColumnarValue::Scalar(value) => Ok((value.to_array_of_size(1)?, true)),
            })
            .collect::<DfResult<_>>()?;
        // A panic elsewhere leaves the generator as good as it was.
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        numbers(&self.call, &Args::new(columns, args.number_rows), &mut random, None).map(ColumnarValue::Array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of Java's `java.util.Random`.
    #[test]
    fn as_java() {
        let mut random = Random::new(1);
        let doubles = [random.next_double(), random.next_double(), random.next_double()];
        assert_eq!(doubles, [0.7308781907032909, 0.41008081149220166, 0.20771484130971707]);
        assert_eq!(Random::new(5).next_double(), 0.730519863614471);
        let mut random = Random::new(3);
        assert_eq!([100; 3].map(|bound| random.next_below(bound)), [34, 60, 10]);
        let mut random = Random::new(1);
        assert_eq!([10; 2].map(|bound| random.next_below(bound)), [5, 8]);
        assert_eq!(Random::new(5).next_below(10), 7);
        assert_eq!(Random::new(7).next_below(1000), 236);
        assert_eq!(Random::new(5).next_below(1), 0);
    }
}
