//! Findings for programs, as one JSON object:
//!
//! ```json
//! {"version":1,
//!  "findings":[
//!   {"file":"orders.sql","line":3,"column":8,"end":{"line":3,"column":12},"severity":"error","code":"unknown-column",
//!    "message":"column 'nmae' not found","detail":"...","hint":"did you mean 'name'?"}],
//!  "errors":1,"warnings":0,"notes":0}
//! ```
//!
//! `line` and `column` count from 1, columns in characters; `end` is the place behind the last character. `line`,
//! `column` and `end` are null for what is about a script as a whole, `detail` and `hint` where there is none. `severity`
//! is `error`, `warning` or `note`. `version` changes if something here does that is no addition.

use calve_engine::{Finding, Severity};
use serde_json::{Value, json};

use super::{Checked, count};

/// All findings and how many there are.
pub fn report(checked: &[Checked]) -> String {
    let findings: Vec<Value> =
        checked.iter().flat_map(|c| c.findings.iter().map(|finding| of(finding, &c.script.name))).collect();
    let report = json!({
        "version": 1,
        "findings": findings,
        "errors": count(checked, Severity::Error),
        "warnings": count(checked, Severity::Warning),
        "notes": count(checked, Severity::Note),
    });
    format!("{report:#}\n")
}

fn of(finding: &Finding, file: &str) -> Value {
    let span = Some(finding.span).filter(|span| span.is_known());
    json!({
        "file": file,
        "line": span.map(|span| span.start.line),
        "column": span.map(|span| span.start.column),
        "end": span.map(|span| json!({"line": span.end.line, "column": span.end.column})),
        "severity": finding.severity.word(),
        "code": finding.code,
        "message": finding.message,
        "detail": finding.detail,
        "hint": finding.hint,
    })
}
