//! What Flink accepts is parsed or recognised; what it refuses is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use calve_sql::{ScriptStatement, parse};

/// Statements on whose syntax calve and Flink differ, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("v2", "views are recognised by CREATE VIEW alone"),
    ("q5", "an unquoted db.t$snapshots is accepted as an extension"),
    ("q45", "reserved words are accepted as names where they are not ambiguous"),
    ("call1", "procedures are recognised by CALL alone"),
];

#[test]
fn syntax_verdicts_are_those_of_flink() {
    let corpus = include_str!("statements.sql");
    let mut wrong = vec![];
    for entry in corpus.split("--# ").skip(1) {
        let (head, text) = entry.split_once('\n').unwrap();
        let (name, verdict) = head.split_once(' ').unwrap();
        let text = text.trim().trim_end_matches(';').to_owned();
        let statement = ScriptStatement { text: text.clone(), line: 1, column: 1, error: None };
        let got = parse(&statement);
        let refused = got.as_ref().err().is_some_and(|e| e.code != "not-supported");
        if refused != (verdict == "refused") && !DIFFERENT.iter().any(|(n, _)| *n == name) {
            let answer = got.map(|_| "accepted".to_owned()).unwrap_or_else(|e| e.to_string());
            wrong.push(format!("{name} (Flink: {verdict}): {text}\n    {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
