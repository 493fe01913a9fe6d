//! Views.

use super::{Ident, Name, Query};

/// `CREATE [TEMPORARY] VIEW`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    /// Name.
    pub name: Name,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// `OR REPLACE`, which Flink reads and does not heed: a view of that name is an error as without it.
    pub or_replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// Column names; empty takes the query's.
    pub columns: Vec<Ident>,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// The query.
    pub query: Query,
    /// The query as it was written, with its hints and comments.
    pub text: String,
}

/// What ALTER VIEW changes.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterView {
    /// `RENAME TO name`
    Rename(Name),
    /// `AS query`
    As {
        /// The query.
        query: Query,
        /// The query as it was written, with its hints and comments.
        text: String,
    },
}
