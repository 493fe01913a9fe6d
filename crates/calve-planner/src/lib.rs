//! From a parsed statement to something DataFusion can run, by Flink's rules.
//!
//! 1. [`tables::referenced`] lists the tables a statement names, so that a caller can load them.
//! 2. [`bind`] resolves names and types against a [`CatalogReader`] and gives a [`Rel`] (a query), a [`Sink`]
//!    (an INSERT) or a [`Change`] (a DELETE, UPDATE or MERGE), every [`Expr`] with its Flink type. All of Flink's refusals happen here.
//! 3. [`stream`] says, in streaming mode, which operators change rows, and refuses what none of them does.
//! 4. [`lower`] turns a [`Rel`] into a DataFusion `LogicalPlan`. Nothing is coerced any more.

pub mod bind;
pub mod catalog;
mod change;
pub mod explain;
pub mod expr;
pub mod lower;
pub mod matching;
pub mod rel;
pub mod stream;
pub mod tables;
mod time;

pub use catalog::{CatalogReader, TableEntry, TablePath, Watermark};
pub use change::{Change, ChangeKind, ChangeOp, ChangedTable};
pub use expr::{AggregateCall, Bound, Expr, ExprKind, Frame, OverCall, OverFunction, SortKey, SubqueryKind};
pub use rel::{Field, JoinKind, Rel, RelKind, SetOpKind, Sink, Window};
pub use time::{TimeAttribute, WindowColumn};
