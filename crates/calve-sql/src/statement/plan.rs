//! Compiled plans and jobs.

use calve_types::Span;

use super::{Statement, Text};

/// `COMPILE PLAN 'file' [IF NOT EXISTS] FOR ..`, `COMPILE AND EXECUTE PLAN 'file' FOR ..`.
#[derive(Debug, Clone, PartialEq)]
pub struct CompilePlan {
    /// Where the plan is written to.
    pub file: Text,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `AND EXECUTE`.
    pub execute: bool,
    /// An INSERT or a statement set.
    pub statement: Box<Statement>,
    /// Where the statement begins.
    pub span: Span,
}

/// `STOP JOB 'id' [WITH SAVEPOINT [WITH DRAIN]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopJob {
    /// The job's id as written.
    pub id: Text,
    /// `WITH SAVEPOINT`.
    pub savepoint: bool,
    /// `WITH DRAIN`.
    pub drain: bool,
    /// Where the statement begins.
    pub span: Span,
}
