//! `calve check` and the pages of `calve explain`.
//!
//! A test is a script `sql-tests/check/NAME.sql` with what is found in it, `NAME.out`. A first line `-- check: ARGUMENTS`
//! is added to the command line. `CALVE_ACCEPT=1` writes the files anew.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;

use serde_json::Value;

/// The exit code and standard output of `calve check` in a folder.
fn check(dir: &Path, args: &[&str]) -> (i32, String) {
    let output = common::calve().current_dir(dir).arg("check").args(args).output().expect("run");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).expect("UTF-8"))
}

#[test]
fn scripts_with_a_fault_are_found_out() {
    let dir = common::sql_tests().join("check");
    let accept = std::env::var_os("CALVE_ACCEPT").is_some();
    let scripts = common::files(&dir, "sql");
    assert!(scripts.len() > 10);
    let mut differ = vec![];
    for script in scripts {
        let tmp = tempfile::tempdir().unwrap();
        let name = script.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&script).unwrap();
        let (first, _) = text.split_once('\n').unwrap_or_default();
        let more = first.strip_prefix("-- check: ").unwrap_or_default();
        std::fs::write(tmp.path().join(name), &text).unwrap();
        let args: Vec<&str> = more.split_whitespace().chain([name]).collect();
        let (code, report) = check(tmp.path(), &args);
        let found = format!("{report}exit {code}\n");
        // nothing but the script is there afterwards
        assert_eq!(std::fs::read_dir(tmp.path()).unwrap().count(), 1, "{name} left something behind");
        let recorded = script.with_extension("out");
        if accept {
            std::fs::write(&recorded, &found).unwrap();
        } else if std::fs::read_to_string(&recorded).unwrap_or_default() != found {
            differ.push(format!("{name}:\n{found}"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn portable_examples_have_no_faults() {
    let dir = common::sql_tests().join("../examples");
    for script in ["quickstart.sql", "pipeline/orders.sql", "pipeline/broken_lines.sql"] {
        let tmp = tempfile::tempdir().unwrap();
        let text = std::fs::read_to_string(dir.join(script)).unwrap();
        // as the test runner does
        let text = text.replace("${DATA}", "/tmp/data").replace("${TMP}", "/tmp/tmp");
        std::fs::write(tmp.path().join("script.sql"), text).unwrap();
        for args in [&["--portable", "script.sql"][..], &["--portable", "--offline", "script.sql"]] {
            assert_eq!(check(tmp.path(), args), (0, "1 file checked: no problems\n".to_owned()), "{script} {args:?}");
        }
    }
}

/// What the examples of the pages begin with.
const TABLES: &str = "CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'lake');
USE CATALOG lake;
CREATE DATABASE shop;
USE shop;
CREATE TABLE orders (order_id BIGINT, customer STRING, amount DECIMAL(10, 2), order_time TIMESTAMP(3));
";

/// Codes whose wrong example is wrong only while it runs.
const WHILE_RUNNING: [&str; 4] = ["cast-failed", "division-by-zero", "invalid-json", "too-many-rows"];

/// The block of SQL below a heading of a page.
fn example<'a>(page: &'a str, heading: &str) -> Option<&'a str> {
    page.split_once(&format!("\n## {heading}\n\n```sql\n"))?.1.split_once("\n```\n").map(|(sql, _)| sql)
}

/// The codes that a check finds in an example.
fn codes_of(example: &str, offline: bool) -> Vec<String> {
    let tmp = tempfile::tempdir().unwrap();
    std::fs::write(tmp.path().join("tables.sql"), TABLES).unwrap();
    std::fs::write(tmp.path().join("example.sql"), example).unwrap();
    let mut args = vec!["--format", "json", "-i", "tables.sql", "example.sql"];
    args.extend(offline.then_some("--offline"));
    let (_, report) = check(tmp.path(), &args);
    let report: Value = serde_json::from_str(&report).unwrap();
    report["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn examples_of_pages_are_wrong_and_right() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codes/pages");
    let mut problems = vec![];
    for page in common::files(&pages, "md") {
        let code = page.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&page).unwrap();
        let offline = code == "undefined-table";
        if let Some(wrong) = example(&text, "Wrong") {
            let found = codes_of(wrong, offline);
            let expected: &[&str] = match code {
                _ if WHILE_RUNNING.contains(&code) => &[],
                // which calve refuses, too
                "streaming-upsert-read" => &["not-supported", code],
                _ => &[code],
            };
            if found != expected {
                problems.push(format!("{code}: the wrong example has {found:?}"));
            }
        }
        if let Some(right) = example(&text, "Right") {
            let found = codes_of(right, offline);
            if !found.is_empty() {
                problems.push(format!("{code}: the right example has {found:?}"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn examples_of_pages_fail_and_run() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codes/pages");
    let mut problems = vec![];
    for page in common::files(&pages, "md") {
        let code = page.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&page).unwrap();
        let wrong = example(&text, "Wrong").filter(|_| WHILE_RUNNING.contains(&code));
        let right = example(&text, "Right").filter(|_| WHILE_RUNNING.contains(&code) || text.contains("'path' ="));
        for (sql, expected) in [(wrong, Some(code)), (right, None)] {
            let Some(sql) = sql else { continue };
            let tmp = tempfile::tempdir().unwrap();
            std::fs::write(tmp.path().join("tables.sql"), TABLES).unwrap();
            std::fs::write(tmp.path().join("example.sql"), sql).unwrap();
            let run = ["run", "-i", "tables.sql", "--output", "jsonl", "example.sql"];
            let output = common::calve().current_dir(tmp.path()).args(run).output().expect("run");
            let last = String::from_utf8(output.stdout).unwrap().lines().last().unwrap_or_default().to_owned();
            let last: Value = serde_json::from_str(&last).unwrap();
            if last["error"]["code"].as_str() != expected {
                problems.push(format!("{code}: {last}"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn sarif_has_what_code_scanning_wants() {
    let tmp = tempfile::tempdir().unwrap();
    std::fs::create_dir(tmp.path().join("my jobs")).unwrap();
    std::fs::write(tmp.path().join("my jobs/a.sql"), "SELECT x;\nSELECT\n  y;\nBEGIN STATEMENT SET;\n").unwrap();
    let (code, report) = check(tmp.path(), &["--format", "sarif", "my jobs/a.sql"]);
    assert_eq!(code, 1);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["version"], report["runs"].as_array().unwrap().len()), (&Value::from("2.1.0"), 1));
    let run = &report["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: Vec<_> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["open-statement-set", "unknown-column"]);
    assert!(rules.iter().all(|rule| rule["help"]["text"].as_str().unwrap().starts_with("# ")));
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for result in results {
        let id = result["ruleId"].as_str().unwrap();
        assert_eq!(ids[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()], id);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "my%20jobs/a.sql");
        assert!(place["region"]["startLine"].as_u64().unwrap() > 0);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
    }
    let second = &results[1]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(second, &serde_json::json!({"startLine": 3, "startColumn": 3, "endLine": 3, "endColumn": 4}));
}

#[test]
fn the_json_report_has_all_fields() {
    let tmp = tempfile::tempdir().unwrap();
    std::fs::write(tmp.path().join("a.sql"), "SELECT é, x FROM (VALUES (1)) AS t(xx);\n").unwrap();
    std::fs::write(tmp.path().join("b.sql"), "SET 'parallelism.defalt' = '2';\nBEGIN STATEMENT SET;").unwrap();
    let (code, report) = check(tmp.path(), &["a.sql", "b.sql", "--format", "json"]);
    assert_eq!(code, 1);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(
        (&report["version"], &report["errors"], &report["warnings"], &report["notes"]),
        (&1.into(), &1.into(), &2.into(), &0.into())
    );
    let findings = report["findings"].as_array().unwrap();
    let keys = |finding: &Value| finding.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    for finding in findings {
        assert_eq!(keys(finding), "file line column end severity code message detail hint");
    }
    assert_eq!(
        (&findings[0]["file"], &findings[0]["line"], &findings[0]["column"]),
        (&"a.sql".into(), &1.into(), &8.into())
    );
    assert_eq!(findings[0]["end"], serde_json::json!({"line": 1, "column": 9}));
    assert_eq!((&findings[1]["file"], &findings[1]["severity"]), (&"b.sql".into(), &"warning".into()));
    assert_eq!((&findings[2]["code"], &findings[2]["line"]), (&"open-statement-set".into(), &2.into()));
}

#[test]
fn wrong_usage_is_64() {
    let tmp = tempfile::tempdir().unwrap();
    let code = |args: &[&str]| common::calve().current_dir(tmp.path()).args(args).output().unwrap().status.code();
    assert_eq!(code(&["check"]), Some(64));
    assert_eq!(code(&["check", "missing.sql"]), Some(64));
    assert_eq!(code(&["explain", "no-such-code"]), Some(64));
    std::fs::write(tmp.path().join("a.sql"), "SELECT 1;").unwrap();
    assert_eq!(code(&["check", "-D", "execution.runtime-mode=x", "a.sql"]), Some(64));
    assert_eq!(code(&["check", "-D", "execution.runtime-mode=batch", "a.sql"]), Some(0));
    assert_eq!(code(&["explain"]), Some(0));
    assert_eq!(code(&["explain", "unknown-column"]), Some(0));
}
