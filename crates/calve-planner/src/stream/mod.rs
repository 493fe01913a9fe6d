//! How a query runs as a stream: Flink's operators, and which kinds of changes each of them makes.
//!
//! [`plan`] turns a bound query into a tree of [`Node`]s. A part of the query whose rows are only added is one
//! [`NodeKind::Rows`]: it runs as in batch mode, in parallel, and a query that is nothing else is no changelog at all. What
//! is above an operator that changes rows is a node of its own, which `lower` makes an operator of calve-stream of. So is
//! the scan of a table whose source changes rows: it gives the kinds of changes behind its columns.
//!
//! The operators are chosen as Flink's planner chooses them, because their changes are seen: a ranking under a filter is
//! a Top-N (`top`), one in time a deduplication, a subquery a join (`subquery`). What an operator cannot do with changes
//! yet is refused by name.

mod keys;
mod mode;
mod plan;
mod subquery;
mod top;
pub(crate) mod window;

use calve_stream::join::JoinKind;
use calve_types::{DataType, Error, LogicalType, Span};

pub use mode::{Kinds, Materialize, Writing, check_sink, is_iceberg, writing};
pub use plan::plan;

use crate::expr::{AggregateCall, Expr, ExprKind, OverCall, SortKey};
use crate::rel::{Field, Rel};

/// An operator and the columns it gives, without the kinds of changes.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it does.
    pub kind: NodeKind,
    /// Its columns.
    pub fields: Vec<Field>,
    /// The changes that Flink says it may make: [`NodeKind::Rows`] with a DISTINCT may update as far as Flink knows.
    pub kinds: Kinds,
}

/// The kinds of operators. Expressions refer to the fields of the input; there are no subqueries in them.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// Rows that are only added.
    Rows(Box<Rel>),
    /// The scan of a table whose source changes rows.
    Scan(Box<Rel>),
    /// Rows that must have a time in that column.
    Timed {
        /// Input.
        input: Box<Node>,
        /// The column of the rowtime.
        time: usize,
    },
    /// One expression for each field.
    Project {
        /// Input.
        input: Box<Node>,
        /// Expressions.
        exprs: Vec<Expr>,
    },
    /// The changes of rows for which the predicate is TRUE.
    Filter {
        /// Input.
        input: Box<Node>,
        /// A BOOLEAN.
        predicate: Expr,
    },
    /// As [`crate::RelKind::Unnest`].
    Unnest {
        /// Input.
        input: Box<Node>,
        /// What is taken apart.
        collection: Expr,
        /// Whether rows without elements stay.
        outer: bool,
        /// Whether the position is a field.
        ordinality: bool,
    },
    /// As [`crate::RelKind::Expand`].
    Expand {
        /// Input.
        input: Box<Node>,
        /// The keys of all sets.
        keys: Vec<Expr>,
        /// The sets.
        sets: Vec<Vec<usize>>,
    },
    /// Fields are the groups, then the calls.
    Aggregate {
        /// Input.
        input: Box<Node>,
        /// Group keys.
        groups: Vec<Expr>,
        /// Aggregates.
        calls: Vec<AggregateCall>,
    },
    /// Fields are the left ones, then the right ones; only the left ones of semi and anti joins.
    Join {
        /// Left input.
        left: Box<Node>,
        /// Right input.
        right: Box<Node>,
        /// Kind.
        kind: JoinKind,
        /// Values that must be equal.
        on: Vec<On>,
        /// What else must hold, over the left fields followed by the right ones.
        condition: Option<Expr>,
    },
    /// The rows of each partition whose number in the order is in a range; fields are those of the input, then the number.
    TopN {
        /// Input.
        input: Box<Node>,
        /// `PARTITION BY`.
        partition: Vec<Expr>,
        /// `ORDER BY`; without one, the order of arrival.
        order: Vec<SortKey>,
        /// The first number, from 1.
        start: u64,
        /// The last number.
        end: u64,
        /// Whether the number is a field.
        numbered: bool,
    },
    /// The first or last row of each key in time.
    Deduplicate {
        /// Input.
        input: Box<Node>,
        /// The key.
        keys: Vec<Expr>,
        /// The field of the rowtime; `None` is the order of arrival.
        time: Option<usize>,
        /// The last one.
        last: bool,
    },
    /// Aggregates of the rows up to each row, in an order that is no time; fields are those of the input, then the calls.
    Over {
        /// Input.
        input: Box<Node>,
        /// The calls, all over the same window.
        calls: Vec<OverCall>,
    },
    /// All rows of all inputs.
    UnionAll(Vec<Node>),
    /// `INTERSECT ALL` and `EXCEPT ALL`.
    SetAll {
        /// Left input.
        left: Box<Node>,
        /// Right input.
        right: Box<Node>,
        /// EXCEPT.
        except: bool,
    },
}

/// `left = right` of a join.
#[derive(Debug, Clone)]
pub struct On {
    /// Over the left fields.
    pub left: Expr,
    /// Over the right fields.
    pub right: Expr,
    /// NULL equals NULL.
    pub null_safe: bool,
}

impl Node {
    /// Whether rows may change: then the node's rows come with the kinds of their changes.
    pub fn changes(&self) -> bool {
        match &self.kind {
            NodeKind::Rows(_) => false,
            NodeKind::Project { input, .. }
            | NodeKind::Filter { input, .. }
            | NodeKind::Timed { input, .. }
            | NodeKind::Unnest { input, .. }
            | NodeKind::Expand { input, .. } => input.changes(),
            NodeKind::Deduplicate { time, last, .. } => *last || time.is_some(),
            NodeKind::TopN { input, order, .. } => input.changes() || !order.is_empty(),
            NodeKind::UnionAll(inputs) => inputs.iter().any(Self::changes),
            NodeKind::Aggregate { input, calls, .. } => !calls.is_empty() || input.changes(),
            NodeKind::Join { left, right, kind, .. } => {
                !matches!(kind, JoinKind::Inner | JoinKind::Semi) || left.changes() || right.changes()
            }
            NodeKind::Scan(_) | NodeKind::Over { .. } | NodeKind::SetAll { .. } => true,
        }
    }

    /// Whether changes of rows are read from a table: then a row may be taken back that never came.
    pub fn reads_changes(&self) -> bool {
        match &self.kind {
            NodeKind::Rows(_) => false,
            NodeKind::Scan(_) => true,
            NodeKind::Project { input, .. }
            | NodeKind::Filter { input, .. }
            | NodeKind::Timed { input, .. }
            | NodeKind::Unnest { input, .. }
            | NodeKind::Expand { input, .. }
            | NodeKind::Aggregate { input, .. }
            | NodeKind::TopN { input, .. }
            | NodeKind::Deduplicate { input, .. }
            | NodeKind::Over { input, .. } => input.reads_changes(),
            NodeKind::Join { left, right, .. } | NodeKind::SetAll { left, right, .. } => {
                left.reads_changes() || right.reads_changes()
            }
            NodeKind::UnionAll(inputs) => inputs.iter().any(Self::reads_changes),
        }
    }

    fn new(kind: NodeKind, fields: Vec<Field>, kinds: Kinds) -> Self {
        Self { kind, fields, kinds }
    }

    /// The same rows with the names of `fields`.
    fn named(self, fields: &[Field]) -> Self {
        Self { fields: fields.to_vec(), ..self }
    }
}

/// A column of an input.
fn column(index: usize, data_type: &DataType) -> Expr {
    Expr { kind: ExprKind::Column(index), data_type: data_type.clone(), span: Span::default() }
}

/// All columns of an input.
fn columns(fields: &[Field]) -> Vec<Expr> {
    fields.iter().enumerate().map(|(i, f)| column(i, &f.data_type)).collect()
}

/// A call of a function that the binder knows by that name, of arguments that have the types it takes.
fn call(name: &str, args: Vec<Expr>) -> calve_types::Result<Expr> {
    let function =
        calve_functions::scalar(name).ok_or_else(|| Error::internal(format!("there is no function '{name}'")))?;
    Ok(Expr {
        kind: ExprKind::Call { function, args },
        data_type: LogicalType::Boolean.nullable(),
        span: Span::default(),
    })
}

/// What a streaming query cannot do yet.
fn refused(feature: &str, place: Span) -> Error {
    Error::unsupported(format!("{feature} in streaming mode"))
        .with_hint("SET 'execution.runtime-mode' = 'batch'")
        .at(place)
}
