//! Findings as SARIF 2.1.0, which code scanning services read.

use std::collections::BTreeSet;
use std::path::Path;

use calve_engine::{Finding, Severity};
use serde_json::{Value, json};

use super::Checked;
use crate::codes;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// One run, with a rule for each code that was found.
pub fn report(checked: &[Checked]) -> String {
    let codes: BTreeSet<&'static str> = checked.iter().flat_map(|c| &c.findings).map(|finding| finding.code).collect();
    let codes: Vec<&'static str> = codes.into_iter().collect();
    let rules: Vec<Value> = codes.iter().map(|code| rule(code)).collect();
    let results: Vec<Value> =
        checked.iter().flat_map(|c| c.findings.iter().map(|finding| result(finding, &c.script.name, &codes))).collect();
    let report = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "calve",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                },
            },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{report:#}\n")
}

fn rule(code: &'static str) -> Value {
    let page = codes::page(code);
    let summary = page.map_or(code, codes::Page::summary);
    let text = page.map_or(code, |page| page.text);
    json!({
        "id": code,
        "shortDescription": {"text": summary},
        "fullDescription": {"text": summary},
        "help": {"text": text, "markdown": text},
    })
}

fn result(finding: &Finding, file: &str, codes: &[&str]) -> Value {
    let sentences = [Some(&finding.message), finding.detail.as_ref(), finding.hint.as_ref()];
    let message: Vec<&str> = sentences.into_iter().flatten().map(String::as_str).collect();
    let mut place = json!({"artifactLocation": {"uri": uri(file)}});
    // what is about the whole script is shown at its beginning
    let span = finding.span;
    place["region"] = if span.is_known() {
        json!({
            "startLine": span.start.line,
            "startColumn": span.start.column,
            "endLine": span.end.line.max(span.start.line),
            "endColumn": span.end.column.max(1),
        })
    } else {
        json!({"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1})
    };
    json!({
        "ruleId": finding.code,
        "ruleIndex": codes.iter().position(|code| *code == finding.code),
        "level": match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        },
        "message": {"text": message.join("\n")},
        "locations": [{"physicalLocation": place}],
    })
}

/// A path as a URI reference: relative to where the check ran, if it is below that.
fn uri(file: &str) -> String {
    let here = std::env::current_dir().ok();
    let path = Path::new(file);
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    let below = below.strip_prefix(".").unwrap_or(below);
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&b);
    let mut uri = if below.is_absolute() { "file://".to_owned() } else { String::new() };
    for byte in below.to_string_lossy().bytes() {
        match is_plain(byte) {
            true => uri.push(char::from(byte)),
            false => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("jobs/a b.sql"), "jobs/a%20b.sql");
        assert_eq!(uri("./é.sql"), "%C3%A9.sql");
        assert_eq!(uri("/nowhere/x.sql"), "file:///nowhere/x.sql");
        assert_eq!(uri("<stdin>"), "%3Cstdin%3E");
    }
}
