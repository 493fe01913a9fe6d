//! What happens to a row.

use std::fmt;

use arrow::array::{Array, ArrayRef, AsArray, Int8Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Int8Type};
use calve_types::Error;
use datafusion::common::Result;

use crate::operator::failure;

/// The name of the column of [`Op`]s.
pub const OP: &str = "$op";

/// The name of the column of watermarks.
pub const WATERMARK: &str = "$watermark";

/// The kind of a change, as Flink's `RowKind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i8)]
pub enum Op {
    /// `+I`: a new row.
    Insert = 0,
    /// `-U`: the old values of a row that changes.
    UpdateBefore = 1,
    /// `+U`: its new values.
    UpdateAfter = 2,
    /// `-D`: a row that is no more.
    Delete = 3,
}

impl Op {
    /// The kind with that number.
    ///
    /// # Errors
    /// Any other number.
    pub fn of(byte: i8) -> Result<Self> {
        match byte {
            0 => Ok(Self::Insert),
            1 => Ok(Self::UpdateBefore),
            2 => Ok(Self::UpdateAfter),
            3 => Ok(Self::Delete),
            other => Err(failure(Error::internal(format!("{other} is no kind of a change")))),
        }
    }

    /// Its number in batches.
    pub fn byte(self) -> i8 {
        self as i8
    }

    /// Whether the row is there after the change: `+I` and `+U`.
    pub fn adds(self) -> bool {
        matches!(self, Self::Insert | Self::UpdateAfter)
    }

    /// Flink's short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "+I",
            Self::UpdateBefore => "-U",
            Self::UpdateAfter => "+U",
            Self::Delete => "-D",
        }
    }

    /// The column's field.
    pub fn field() -> Field {
        Field::new(OP, DataType::Int8, false)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The changes of a batch: those of the column at that position, or additions.
#[derive(Debug)]
pub struct Ops<'a>(Option<&'a Int8Array>);

impl<'a> Ops<'a> {
    /// The changes of a batch.
    ///
    /// # Errors
    /// `internal` if there is no such column.
    pub fn new(batch: &'a RecordBatch, column: Option<usize>) -> Result<Self> {
        let Some(column) = column else { return Ok(Self(None)) };
        match batch.columns().get(column) {
            Some(array) => Self::of(Some(array)),
            None => Err(failure(Error::internal("a changelog without its kinds of changes"))),
        }
    }

    /// The changes that an array holds; additions without one.
    ///
    /// # Errors
    /// `internal` if it is no array of changes.
    pub fn of(array: Option<&'a ArrayRef>) -> Result<Self> {
        let Some(array) = array else { return Ok(Self(None)) };
        match array.as_primitive_opt::<Int8Type>() {
            Some(bytes) if bytes.null_count() == 0 => Ok(Self(Some(bytes))),
            _ => Err(failure(Error::internal("a changelog without its kinds of changes"))),
        }
    }

    /// The change of a row; the row is one of the batch.
    ///
    /// # Errors
    /// `internal` for a number that is no kind.
    pub fn get(&self, row: usize) -> Result<Op> {
        match self.0 {
            None => Ok(Op::Insert),
            Some(bytes) => Op::of(bytes.value(row)),
        }
    }
}
