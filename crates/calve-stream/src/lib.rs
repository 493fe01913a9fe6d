//! Flink's streaming operators: changelogs and watermarks as nodes of DataFusion plans.
//!
//! # A changelog in record batches
//!
//! The rows of a stream travel in the order in which they happen, in one partition. A batch has
//!
//! 1. the columns of the relation, by position;
//! 2. then, if the stream *changes* rows, a column [`OP`] of Int8 without NULLs: Flink's `RowKind` of each row as
//!    [`Op`] numbers them, 0 `+I`, 1 `-U`, 2 `+U`, 3 `-D`. A stream that only adds rows has no such column, and every row
//!    of it is a `+I`.
//!
//! The watermark in force when a row arrives is a column of the relation itself ([`WATERMARK`], where something asks for
//! it: see [`watermark`]), so that it goes along with its row.
//!
//! The changes are a column like others to DataFusion: projections and filters without state carry it along. A plan says by
//! position which columns are there; names are for people who read plans.
//!
//! # An operator
//!
//! Implement [`Operator`] (what EXPLAIN and the planner see: a name, the output's schema, what to start) and [`Running`]
//! (its state: takes batches of its inputs, gives batches). [`node::plan`] makes a node of a logical plan of it, and
//! [`planner::StreamPlanner`] an execution plan. The node has no expressions, so that DataFusion has nothing to rewrite:
//! what an operator needs computed (keys, arguments) is a projection below it, and it refers to its inputs' columns by
//! position.
//!
//! An operator gives its rows as they come. Nothing in it may wait for an end of the input that a stream without end does
//! not have; [`Running::end`] only flushes what time would have flushed. Its state is charged to the memory pool after
//! every batch; too much of it ends the query with an error that says so.

pub mod aggregate;
pub mod dedup;
pub mod exec;
pub mod in_time;
pub mod join;
pub mod matching;
pub mod node;
pub mod op;
pub mod operator;
pub mod over;
pub mod pattern;
pub mod planner;
pub mod rows;
pub mod sets;
pub mod settle;

pub mod session;
pub mod temporal;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests;
pub mod top;
pub mod union;
pub mod watermark;

pub use op::{OP, Op, WATERMARK};
pub use operator::{Operator, Running};
