//! Typed expressions.

use calve_functions::{AggregateFunction, ScalarFunction};
use calve_types::{DataType, Span, Value};

use crate::rel::Rel;

/// An expression with its Flink type and its place in the script.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The type of its value.
    pub data_type: DataType,
    /// Where it was written; unknown for what the binder added.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A constant of the expression's type.
    Literal(Value),
    /// A field of the input, by position. For a join's condition the positions run over the left fields, then the right ones.
    Column(usize),
    /// A field of an enclosing query's input: how many query levels up (from 1), and the position there.
    Outer {
        /// Query levels up, from 1.
        depth: usize,
        /// Position in that level's input.
        index: usize,
    },
    /// A function or operator; arguments already have the types its signature asks for.
    Call {
        /// The function.
        function: &'static ScalarFunction,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// A cast to the expression's type.
    Cast {
        /// What is cast.
        expr: Box<Expr>,
        /// `TRY_CAST`: NULL where the cast fails.
        safe: bool,
    },
    /// `CASE WHEN c THEN v ... ELSE e END`, all values of the expression's type.
    Case {
        /// Conditions and values.
        branches: Vec<(Expr, Expr)>,
        /// Value if no condition holds; NULL without one.
        otherwise: Option<Box<Expr>>,
    },
    /// A field of a ROW value, by position.
    Field {
        /// The row.
        expr: Box<Expr>,
        /// Position of the field.
        index: usize,
    },
    /// A function over a window of the input's rows. Only inside of a select list that is being bound: in a
    /// [`Rel`] its value is a column of a [`crate::RelKind::Over`].
    Over(Box<OverCall>),
    /// A query used as a value.
    Subquery {
        /// How it is used.
        kind: SubqueryKind,
        /// The query; its [`ExprKind::Outer`] refer to the inputs around it.
        query: Box<Rel>,
    },
}

/// How a subquery is used in an expression.
#[derive(Debug, Clone)]
pub enum SubqueryKind {
    /// `(SELECT one_column ...)`: NULL without rows, an error with more than one.
    Scalar,
    /// `[NOT] EXISTS (...)`.
    Exists {
        /// `NOT EXISTS`.
        negated: bool,
    },
    /// `expr [NOT] IN (...)`; `expr` and the query's column have equal types but for nullability. Where the query has
    /// several columns, `expr` is a call of ROW with as many arguments, each of its column's type.
    In {
        /// The left side.
        expr: Box<Expr>,
        /// `NOT IN`.
        negated: bool,
    },
}

/// A call of an aggregate function in [`crate::RelKind::Aggregate`].
#[derive(Debug, Clone)]
pub struct AggregateCall {
    /// The function.
    pub function: &'static AggregateFunction,
    /// Its arguments over the aggregate's input; empty for `COUNT(*)`.
    pub args: Vec<Expr>,
    /// `DISTINCT`.
    pub distinct: bool,
    /// `FILTER (WHERE ..)`.
    pub filter: Option<Expr>,
    /// The result's type.
    pub data_type: DataType,
    /// Where it was written.
    pub span: Span,
}

/// A call `f(..) OVER (..)`.
#[derive(Debug, Clone)]
pub struct OverCall {
    /// The function.
    pub function: OverFunction,
    /// Its arguments over the input; empty for `COUNT(*)`.
    pub args: Vec<Expr>,
    /// `PARTITION BY`.
    pub partition: Vec<Expr>,
    /// `ORDER BY`.
    pub order: Vec<SortKey>,
    /// Which rows an aggregate takes; the whole partition for other functions.
    pub frame: Frame,
    /// `DISTINCT` before the arguments of an aggregate.
    pub distinct: bool,
    /// The result's type.
    pub data_type: DataType,
    /// Where it was written.
    pub span: Span,
}

/// Functions of an [`OverCall`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverFunction {
    /// An aggregate of the frame's rows.
    Aggregate(&'static AggregateFunction),
    /// `ROW_NUMBER()`
    RowNumber,
    /// `RANK()`
    Rank,
    /// `DENSE_RANK()`
    DenseRank,
    /// `PERCENT_RANK()`
    PercentRank,
    /// `CUME_DIST()`
    CumeDist,
    /// `NTILE(n)`; n is a literal.
    Ntile,
    /// `LAG(x [, offset [, default]])`; the offset is a literal, the default of the type of x.
    Lag,
    /// `LEAD(x [, offset [, default]])`, as LAG.
    Lead,
}

impl OverFunction {
    /// The function's name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aggregate(function) => function.name,
            Self::RowNumber => "ROW_NUMBER",
            Self::Rank => "RANK",
            Self::DenseRank => "DENSE_RANK",
            Self::PercentRank => "PERCENT_RANK",
            Self::CumeDist => "CUME_DIST",
            Self::Ntile => "NTILE",
            Self::Lag => "LAG",
            Self::Lead => "LEAD",
        }
    }
}

/// The rows of its partition that an aggregate takes for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// `RANGE`: bounds count in values of the only order key; else `ROWS`: in rows.
    pub range: bool,
    /// The first row.
    pub start: Bound,
    /// The last row.
    pub end: Bound,
}

impl Frame {
    /// The whole partition.
    pub const ALL: Self = Self { range: false, start: Bound::First, end: Bound::Last };
}

/// An end of a [`Frame`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// `UNBOUNDED PRECEDING`
    First,
    /// `n PRECEDING` (negative) and `n FOLLOWING`. With RANGE in values of the order key: days of a DATE, milliseconds of a
    /// TIME or TIMESTAMP, units of a DECIMAL's last digit, billionths of a FLOAT or DOUBLE.
    Offset(i64),
    /// `CURRENT ROW`; with RANGE its peers too.
    Current,
    /// `UNBOUNDED FOLLOWING`
    Last,
}

/// One key of a sort.
#[derive(Debug, Clone)]
pub struct SortKey {
    /// What is sorted by.
    pub expr: Expr,
    /// `DESC`.
    pub descending: bool,
    /// Where NULLs go; Flink's default: first ascending, last descending.
    pub nulls_first: bool,
}
