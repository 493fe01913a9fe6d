//! The vocabulary every crate of calve shares: Flink's logical types and values, source spans and the error.
//!
//! * [`DataType`] = [`LogicalType`] + nullability; `Display` prints Flink's `asSummaryString`.
//! * [`Value`] is a literal of one of these types.
//! * [`rules`] answers which casts Flink allows, which it inserts by itself, and what the common type of several is.
//! * [`arrow`] maps types to Arrow and says how each value is represented there.
//! * [`Error`] carries a stable code, Flink-style text and the [`Span`] it points at; [`nearest`] finds what a misspelt
//!   name was meant to be.

pub mod arrow;
mod data_type;
mod error;
pub mod rules;
mod suggest;
mod value;

pub use data_type::{DataType, IntervalField, LogicalType, RowField};
pub use error::{Error, Location, Result, Span};
pub use suggest::nearest;
pub use value::Value;
