//! What Flink accepts is parsed or recognised; what it refuses is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use calve_sql::{ScriptStatement, parse};

/// Statements on whose syntax calve and Flink differ, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("q5", "an unquoted db.t$snapshots is accepted as an extension"),
    ("flink7-50", "there is no type FIRST"),
    ("error_07-3", "the second primary key is refused here, by Flink's validator there"),
    ("q41b", "WITH RECURSIVE is one of a later Flink"),
    ("flink3-118", "Flink does not read what it prints for an empty JSON_ARRAY"),
    ("flink4-95", "Flink does not read what it prints for an empty JSON_ARRAY"),
    ("flink1-92", "DELETE of Iceberg tables is an extension, and so is its EXPLAIN"),
    ("flink1-93", "UPDATE of Iceberg tables is an extension, and so is its EXPLAIN"),
];

/// The names of the statements whose verdict is not Flink's, with what calve answers.
fn different(corpus: &str) -> Vec<(String, String)> {
    let mut found = vec![];
    for entry in corpus.split("--# ").skip(1) {
        let (head, text) = entry.split_once('\n').unwrap();
        let (name, verdict) = head.split_once(' ').unwrap();
        let text = text.trim().trim_end_matches(';').to_owned();
        let statement = ScriptStatement { text: text.clone(), line: 1, column: 1, error: None };
        let got = parse(&statement);
        let refused = got.as_ref().err().is_some_and(|e| e.code != "not-supported");
        if refused != (verdict == "refused") {
            let answer = got.map(|_| "accepted".to_owned()).unwrap_or_else(|e| e.to_string());
            found.push((name.to_owned(), format!("{name} (Flink: {verdict}): {text}\n    {answer}")));
        }
    }
    found
}

#[test]
fn syntax_verdicts_are_those_of_flink() {
    let mut found = different(include_str!("statements.sql"));
    found.extend(different(include_str!("golden.sql")));
    found.extend(different(include_str!("verdicts.sql")));
    let known: BTreeSet<&str> = DIFFERENT.iter().map(|(name, _)| *name).collect();
    let wrong: Vec<&str> =
        found.iter().filter(|(name, _)| !known.contains(name.as_str())).map(|(_, text)| text.as_str()).collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    let names: BTreeSet<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(known.difference(&names).collect::<Vec<_>>(), Vec::<&&str>::new(), "no longer different");
}
