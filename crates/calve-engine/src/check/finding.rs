//! What `check` tells.

use calve_types::{Error, Span};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing to worry about unless somebody asks for it.
    Note,
    /// The statement runs, and most likely does something else than what was meant.
    Warning,
    /// The statement does not run.
    Error,
}

impl Severity {
    /// `note`, `warning` or `error`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A problem of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Stable kebab-case code.
    pub code: &'static str,
    /// One line.
    pub message: String,
    /// More sentences.
    pub detail: Option<String>,
    /// The way out.
    pub hint: Option<String>,
    /// Where in the script; not known only of what is about the script as a whole.
    pub span: Span,
}

impl Finding {
    /// A finding at a place.
    pub(crate) fn new(severity: Severity, code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self { severity, code, message: message.into(), detail: None, hint: None, span }
    }

    /// With more sentences.
    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// With the way out.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The error of a statement at `place`.
    pub(crate) fn of_error(error: Error, place: Span) -> Self {
        let Error { code, message, detail, hint, span } = error;
        let span = span.filter(|span| span.is_known()).unwrap_or(place);
        Self { severity: Severity::Error, code, message, detail, hint, span }
    }

    /// Whether it tells the same of a place as another one.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.code == other.code && self.span.start == other.span.start
    }
}

/// Sorts findings by place; what has none comes last.
pub(super) fn in_order(found: &mut [Finding]) {
    found.sort_by_key(|finding| (!finding.span.is_known(), finding.span.start));
}
