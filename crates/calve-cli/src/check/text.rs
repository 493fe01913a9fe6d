//! Findings for people.

use std::cmp::Reverse;

use calve_engine::Severity;

use super::{Checked, count};
use crate::diagnostics::Diagnostics;

/// Each finding with its line of the script, and how many there are.
pub fn report(checked: &[Checked], diagnostics: &Diagnostics) -> String {
    let mut report = String::new();
    for Checked { script, findings } in checked {
        for finding in findings {
            report.push_str(&diagnostics.finding(finding, script));
            report.push_str("\n\n");
        }
    }
    let files = plural(checked.len(), "file");
    let counts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .map(|severity| (count(checked, severity), severity.word()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| plural(count, word))
        .collect();
    if counts.is_empty() {
        report.push_str(&format!("{files} checked: no problems\n"));
        return report;
    }
    report.push_str(&format!("{files} checked: {}\n", counts.join(", ")));
    // the first of the worst
    let worst = checked.iter().flat_map(|c| &c.findings).min_by_key(|finding| Reverse(finding.severity));
    if let Some(worst) = worst {
        report.push_str(&format!("More about a code: calve explain {}\n", worst.code));
    }
    report
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
