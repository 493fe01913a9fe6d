//! The relational algebra a statement is bound to.

use std::sync::Arc;

use calve_types::{DataType, Span};

use crate::catalog::TableEntry;
use crate::expr::{AggregateCall, Expr, OverCall, SortKey};
use crate::matching::Match;

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
    /// Each left row with the rows that the right query, a level further in, has for it: its
    /// [`crate::ExprKind::Outer`] of depth 1 are the left fields. Fields are the left ones, then the right ones.
    Correlate {
        /// Left input.
        left: Box<Rel>,
        /// The query for each left row.
        right: Box<Rel>,
        /// Inner, or left: a left row without a match is kept, with NULLs.
        kind: JoinKind,
        /// Condition over the left fields followed by the right ones.
        condition: Option<Expr>,
    },
    /// Each row once for each grouping set; fields are those of the input, then the keys, NULL where the set lacks them,
    /// then the set's number from 0 (BIGINT).
    Expand {
        /// Input.
        input: Box<Rel>,
        /// The keys of all sets, over the input.
        keys: Vec<Expr>,
        /// The sets: positions of their keys.
        sets: Vec<Vec<usize>>,
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
    /// Rows with a watermark: the column is a rowtime attribute from here on. Fields are those of the input and, where
    /// `shown`, a BIGINT with the watermark that was current when the row arrived, in milliseconds since 1970, or NULL.
    Watermark {
        /// Input.
        input: Box<Rel>,
        /// The rowtime attribute.
        column: usize,
        /// The watermark that a row allows for, over the input; of the kind of timestamp that the column is.
        expr: Expr,
        /// How far it must have advanced to be announced again, in milliseconds.
        interval: i64,
        /// Whether the watermark is a field.
        shown: bool,
    },
    /// Each row once for each window it falls into; fields are those of the input, then the windows' `window_start`,
    /// `window_end` and `window_time`.
    Windows {
        /// Input.
        input: Box<Rel>,
        /// The column, a TIMESTAMP or TIMESTAMP_LTZ, whose values fall into windows. A row without value is in none.
        time: usize,
        /// The windows.
        window: Window,
        /// Columns whose values have sessions of their own; empty for other windows.
        partition: Vec<usize>,
        /// The column with the watermark that was current when a row came: a session has ended with it.
        watermark: Option<usize>,
    },
    /// The rows that do not come behind others that were given already; fields are those of the input. See
    /// [`calve_stream::in_time`].
    InTime {
        /// Input.
        input: Box<Rel>,
        /// The rows' time.
        time: usize,
        /// The column with the watermark that was current when a row came.
        watermark: usize,
        /// Rows of different values of these are independent.
        partition: Vec<Expr>,
        /// A time, in milliseconds since 1970, at or before which rows are late from the beginning.
        since: Option<i64>,
    },
    /// Each row of the left side with the version of the right side that was valid at the row's time; fields are the left
    /// ones, then the right ones.
    Temporal {
        /// Left input.
        left: Box<Rel>,
        /// Versions.
        right: Box<Rel>,
        /// Whether rows of the left side without a version are kept.
        outer: bool,
        /// Whether the right side's rows are those of a deduplication that keeps the latest row of each key: one that is
        /// older than what came before it is no version.
        latest: bool,
        /// Values over the left fields and the columns of the right side that they equal. The versions of rows with equal
        /// columns replace each other.
        keys: Vec<(Expr, usize)>,
        /// What else must hold of a row and its version, over the left fields followed by the right ones.
        condition: Option<Expr>,
        /// The left column that is the time of a row.
        left_time: usize,
        /// The right column from whose time on a version is valid.
        right_time: usize,
    },
    /// The matches of a pattern; fields are the keys of the partition, then the measures.
    Match(Box<Match>),
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

/// Windows in time; lengths are milliseconds. They count from 1970 in the time zone of the session, shifted by `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Window {
    /// One after the other.
    Tumble {
        /// Length.
        size: i64,
        /// Shift.
        offset: i64,
    },
    /// Overlapping ones.
    Hop {
        /// From the start of one to that of the next.
        slide: i64,
        /// Length.
        size: i64,
        /// Shift.
        offset: i64,
    },
    /// Growing ones with the same start.
    Cumulate {
        /// By how much one is longer than the one before.
        step: i64,
        /// Length of the longest.
        size: i64,
        /// Shift.
        offset: i64,
    },
    /// As long as rows follow each other closely.
    Session {
        /// The pause that ends a window.
        gap: i64,
    },
}

impl Window {
    /// Windows that a row may fall into: each of them is a row of its own.
    pub const MOST: i64 = 100_000;

    /// Into how many windows a row may fall.
    pub fn overlap(self) -> i64 {
        // lengths are positive
        let count = |length: i64, step: i64| length.saturating_sub(1).checked_div(step).unwrap_or(0).saturating_add(1);
        match self {
            Self::Tumble { .. } | Self::Session { .. } => 1,
            Self::Hop { slide, size, .. } => count(size, slide),
            Self::Cumulate { step, size, .. } => count(size, step),
        }
    }
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
