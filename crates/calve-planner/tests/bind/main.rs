//! What the binder says of statements, against what a real Flink said.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod catalog;
mod changes;
mod insert;
mod over;
mod query;
mod referenced;
mod refuse;
mod streaming;
mod view;
