//! Flink's built-in functions, operators and casts, as DataFusion functions with Flink's exact results.
//!
//! * [`scalar`] and [`aggregate`] find a function by name (operators by symbol). A [`ScalarFunction`] says which
//!   arguments it takes and what it returns ([`ScalarFunction::infer`]) and becomes a DataFusion expression
//!   ([`ScalarFunction::call`]).
//! * [`cast`] and [`try_cast`] are Flink's casts; [`cast_to_string`] also prints results.
//! * [`names`] is what `SHOW FUNCTIONS` lists, [`callable`] what one can write; [`JsonRead`] and [`JsonBuild`] are the
//!   clauses of JSON functions as arguments.
//! * [`EvalContext`] is what a statement's functions know of the session: the time zone and the statement's start.
//!
//! A call becomes a native DataFusion expression only where the results are the same for every input, because
//! native comparisons reach Parquet pruning; everything else is a kernel over Arrow arrays.

mod access;
mod aggregate;
mod args;
mod arithmetic;
mod cast;
mod civil;
mod collection;
mod compare;
mod conditional;
mod context;
mod decimal;
mod function;
mod json;
mod like;
mod math;
mod names;
mod negate;
mod operator;
mod random;
mod retype;
mod string;
mod temporal;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod zone;

pub use access::{case, field, literal};
pub use aggregate::{AggregateFunction, aggregate};
pub use cast::{CastKind, cast, cast_to_string, push_double, push_float, try_cast};
pub use civil::{Civil, civil_of, days_in_month, days_of};
pub use compare::equality_of_bits;
pub use context::EvalContext;
pub use function::{Arg, ScalarFunction, Signature, scalar};
pub use json::{JsonBuild, JsonRead};
pub use names::{callable, names};
pub use zone::TimeZone;
