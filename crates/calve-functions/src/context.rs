//! What the functions of one statement know of their session.

use crate::TimeZone;

/// The session's part of a call: equal for all calls of one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EvalContext {
    /// `table.local-time-zone`.
    pub time_zone: TimeZone,
    /// When the statement started, microseconds since 1970-01-01T00:00:00Z: the value of CURRENT_TIMESTAMP.
    pub statement_start: i64,
}

impl EvalContext {
    /// A context whose statement starts now.
    pub fn new(time_zone: TimeZone) -> Self {
        Self { time_zone, statement_start: chrono::Utc::now().timestamp_micros() }
    }
}

impl Default for EvalContext {
    /// UTC, at 1970-01-01T00:00:00Z.
    fn default() -> Self {
        Self { time_zone: TimeZone::UTC, statement_start: 0 }
    }
}
