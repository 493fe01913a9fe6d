//! The one error of all crates: a stable code, a line of text, and where in the script it is.

use std::fmt;

/// Result with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A place in a script: 1-based, columns counted in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Location {
    /// Line, from 1; 0 means unknown.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A range of a script; `end` is the place after the last character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// First character.
    pub start: Location,
    /// Place after the last character.
    pub end: Location,
}

impl Span {
    /// A span from two places.
    pub fn new(start: Location, end: Location) -> Self {
        Self { start, end }
    }

    /// Whether the span names a place (synthesised nodes have none).
    pub fn is_known(&self) -> bool {
        self.start.line > 0
    }

    /// The smallest span that covers both; an unknown one is ignored.
    pub fn to(self, other: Self) -> Self {
        match (self.is_known(), other.is_known()) {
            (true, true) => Self { start: self.start.min(other.start), end: self.end.max(other.end) },
            (true, false) => self,
            _ => other,
        }
    }
}

/// What went wrong, for a person and for a program.
///
/// `message` is one line: lower case, no full stop, names quoted with `'`, says what kind of object it is about.
/// `detail` holds full sentences, among them Flink's own where users search for its words. `hint` says the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Stable kebab-case code, such as `unknown-table`.
    pub code: &'static str,
    /// The primary line.
    pub message: String,
    /// More sentences.
    pub detail: Option<String>,
    /// The way out.
    pub hint: Option<String>,
    /// Where in the script.
    pub span: Option<Span>,
}

impl Error {
    /// An error with a code and its primary line.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None, hint: None, span: None }
    }

    /// `not supported: <feature>`: valid Flink (or Iceberg) that calve does not run.
    pub fn unsupported(feature: impl fmt::Display) -> Self {
        Self::new("not-supported", format!("not supported: {feature}"))
    }

    /// A defect of calve itself: what should never happen did.
    pub fn internal(what: impl fmt::Display) -> Self {
        Self::new("internal", format!("internal error: {what}"))
    }

    /// With more sentences.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// With the way out.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// At a place; keeps a place that is already known.
    pub fn at(mut self, span: Span) -> Self {
        if self.span.is_none() && span.is_known() {
            self.span = Some(span);
        }
        self
    }

    /// Whether trying the same statement again may succeed.
    pub fn is_retryable(&self) -> bool {
        matches!(self.code, "commit-conflict" | "io")
    }

    /// Whether a write may have been committed although the statement failed, all of it or the part for some tables of a
    /// statement set: not to be run again without looking.
    pub fn may_have_committed(&self) -> bool {
        matches!(self.code, "commit-unknown" | "partial-commit")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
