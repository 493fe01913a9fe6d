//! The relational algebra a statement is bound to.

use std::sync::Arc;

use calve_types::{DataType, Span};

use crate::catalog::TableEntry;
use crate::expr::{AggregateCall, Expr, OverCall, SortKey};

/// A column of a relation's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Name as Flink gives it (`EXPR$0` for unnamed expressions); names may repeat inside a plan.
    pub name: String,
    /// Type.
    pub data_type: DataType,
}

/// A relation: what it does and the columns it gives.
#[derive(Debug, Clone)]
pub struct Rel {
    /// What it does.
    pub kind: RelKind,
    /// Its columns, in order.
    pub fields: Vec<Field>,
}

/// The kinds of relations. Expressions refer to their input's fields by position.
#[derive(Debug, Clone)]
pub enum RelKind {
    /// All rows of a table; fields are the table's physical columns, then its metadata columns with the source's types.
    Scan {
        /// The table, options of its hint included.
        table: Arc<TableEntry>,
        /// Where it was written.
        span: Span,
    },
    /// Rows of expressions without input.
    Values(Vec<Vec<Expr>>),
    /// One expression for each field.
    Project {
        /// Input.
        input: Box<Rel>,
        /// Expressions over the input.
        exprs: Vec<Expr>,
    },
    /// The rows for which the predicate is TRUE.
    Filter {
        /// Input.
        input: Box<Rel>,
        /// A BOOLEAN over the input.
        predicate: Expr,
    },
    /// A join; fields are the left ones, then the right ones (only the left ones for semi and anti joins).
    Join {
        /// Left input.
        left: Box<Rel>,
        /// Right input.
        right: Box<Rel>,
        /// Kind.
        kind: JoinKind,
        /// Condition over the left fields followed by the right ones; `None` for a cross join.
        condition: Option<Expr>,
    },
    /// Grouping; fields are the groups, then the calls.
    Aggregate {
        /// Input.
        input: Box<Rel>,
        /// Group keys; empty gives one row, also for no input.
        groups: Vec<Expr>,
        /// Aggregates.
        calls: Vec<AggregateCall>,
    },
    /// Functions over windows; fields are those of the input, then the calls.
    Over {
        /// Input.
        input: Box<Rel>,
        /// The calls.
        calls: Vec<OverCall>,
    },
    /// Each row once for each element of a collection; fields are those of the input, then those of the element.
    Unnest {
        /// Input.
        input: Box<Rel>,
        /// An ARRAY, MAP or MULTISET over the input. An element's fields are those of a ROW, the key and the value of
        /// a MAP, else the element itself.
        collection: Box<Expr>,
        /// Whether a row without elements is kept, with NULLs.
        outer: bool,
        /// Whether the element's position, from 1, is one more field.
        ordinality: bool,
    },
    /// Rows without duplicates.
    Distinct(Box<Rel>),
    /// A set operation; inputs have equal types.
    SetOp {
        /// Left input.
        left: Box<Rel>,
        /// Right input.
        right: Box<Rel>,
        /// Kind.
        kind: SetOpKind,
        /// `ALL`: duplicates kept.
        all: bool,
    },
    /// Order.
    Sort {
        /// Input.
        input: Box<Rel>,
        /// Keys, the first decides first.
        keys: Vec<SortKey>,
    },
    /// A slice of the input.
    Limit {
        /// Input.
        input: Box<Rel>,
        /// Rows skipped.
        offset: u64,
        /// Rows kept; `None` is all.
        fetch: Option<u64>,
    },
}

/// Kinds of joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// Matching pairs.
    Inner,
    /// All rows of the left side.
    Left,
    /// All rows of the right side.
    Right,
    /// All rows of both sides.
    Full,
}

/// Kinds of set operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOpKind {
    /// `UNION`
    Union,
    /// `INTERSECT`
    Intersect,
    /// `EXCEPT`
    Except,
}

/// An INSERT, bound: the input has exactly the table's physical columns and their types, in table order.
#[derive(Debug, Clone)]
pub struct Sink {
    /// The target, options of its hint included.
    pub table: Arc<TableEntry>,
    /// Options of the hint alone.
    pub hints: Vec<(String, String)>,
    /// `INSERT OVERWRITE`.
    pub overwrite: bool,
    /// `PARTITION (k = v)`: columns with their values as text. The input has the values too.
    pub static_partition: Vec<(String, String)>,
    /// Rows to write. A NOT NULL column of the table may still be nullable here: see `not_null`.
    pub input: Rel,
    /// Positions among the physical columns of NOT NULL columns whose input may be NULL: checked at run time by
    /// `table.exec.sink.not-null-enforcer` (ERROR or DROP).
    pub not_null: Vec<usize>,
    /// Where the target was written.
    pub span: Span,
}
