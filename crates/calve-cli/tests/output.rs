//! The formats of results: what is on standard output, and what is not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;

use common::calve;

const CATALOG: &str = "CREATE CATALOG ice WITH ('type'='iceberg','catalog-type'='hadoop','warehouse'='wh'); \
    CREATE DATABASE ice.shop; CREATE TABLE ice.shop.t (a INT, s STRING);";

/// Runs statements: exit code, standard output, standard error.
fn run(dir: &Path, format: &str, sql: &str) -> (i32, String, String) {
    let output = calve().current_dir(dir).args(["--output", format, "-e", sql]).output().expect("run");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("folder")
}

const VALUES: &str = "SELECT * FROM (VALUES (1, 'a,b', 1.50, TRUE, 2E0), (2, 'say \"x\"', -0.05, FALSE, 1E20), \
    (CAST(NULL AS INT), '', CAST(NULL AS DECIMAL(3, 2)), CAST(NULL AS BOOLEAN), CAST(NULL AS DOUBLE))) \
    AS t(id, s, d, b, f)";

#[test]
fn csv_has_a_header_and_quotes_where_it_must() {
    let dir = folder();
    let (code, out, err) = run(dir.path(), "csv", &format!("{VALUES}; SHOW CATALOGS"));
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(
        out,
        "id,s,d,b,f\n1,\"a,b\",1.50,TRUE,2.0\n2,\"say \"\"x\"\"\",-0.05,FALSE,1.0E20\n,\"\",,,\n\
         catalog name\ndefault_catalog\n"
    );
}

#[test]
fn tsv_escapes_instead() {
    let dir = folder();
    let (code, out, _) = run(dir.path(), "tsv", "SELECT 'a\tb' AS x, 'c\nd' AS y, '\\' AS z, CAST(NULL AS INT) AS n");
    assert_eq!((code, out.as_str()), (0, "x\ty\tz\tn\na\\tb\tc\\nd\t\\\\\t\n"));
}

#[test]
fn json_has_an_array_for_each_result() {
    let dir = folder();
    let (code, out, _) =
        run(dir.path(), "json", &format!("{VALUES}; SELECT 1 AS a FROM (VALUES (1)) AS t(x) WHERE x > 1"));
    assert_eq!(code, 0);
    assert_eq!(
        out,
        "[{\"id\":1,\"s\":\"a,b\",\"d\":1.50,\"b\":true,\"f\":2.0},\n\
         {\"id\":2,\"s\":\"say \\\"x\\\"\",\"d\":-0.05,\"b\":false,\"f\":1.0E20},\n\
         {\"id\":null,\"s\":\"\",\"d\":null,\"b\":null,\"f\":null}]\n[]\n"
    );
    let documents: Vec<serde_json::Value> =
        serde_json::Deserializer::from_str(&out).into_iter().collect::<Result<_, _>>().expect("JSON");
    assert_eq!(documents.len(), 2);
}

#[test]
fn data_formats_tell_of_writes_on_standard_error() {
    for format in ["csv", "tsv", "json"] {
        let dir = folder();
        let sql = format!(
            "{CATALOG} INSERT INTO ice.shop.t VALUES (1, 'x'), (2, 'y'); SET 'execution.runtime-mode' = 'batch'; \
             SELECT a FROM ice.shop.t ORDER BY a LIMIT 9"
        );
        let (code, out, err) = run(dir.path(), format, &sql);
        assert_eq!(code, 0, "{err}");
        let lines: Vec<_> = err.lines().collect();
        assert_eq!(lines.len(), 1, "{err}");
        assert!(lines[0].starts_with("[INFO] 2 rows written to ice.shop.t: 1 data file, snapshot "), "{err}");
        assert_eq!(out, if format == "json" { "[{\"a\":1},\n{\"a\":2}]\n" } else { "a\n1\n2\n" }, "{format}");
    }
}

#[test]
fn a_failed_query_leaves_no_header() {
    for format in ["table", "csv", "tsv", "json"] {
        let dir = folder();
        let (code, out, err) = run(dir.path(), format, "SELECT CAST(s AS INT) AS n FROM (VALUES ('x')) AS t(s)");
        assert_eq!((code, out.as_str()), (2, ""), "{format}");
        assert!(err.starts_with("error[cast-failed]"), "{err}");
    }
}

#[test]
fn a_table_in_streaming_mode_shows_changes() {
    let dir = folder();
    let sql = "SELECT * FROM (VALUES (1, 'x')) AS t(a, b); SET 'execution.runtime-mode' = 'batch'; \
               SET 'table.display.max-column-width' = '10'; \
               SET 'sql-client.display.print-time-cost' = 'false'; SELECT 'abcdefghijklmnop' AS s, 1 AS a_long_column_name";
    let (code, out, err) = run(dir.path(), "table", sql);
    assert_eq!((code, err.as_str()), (0, ""));
    let out = out.lines().map(|line| if line.starts_with("Received") { "Received ..." } else { line });
    insta::assert_snapshot!(out.collect::<Vec<_>>().join("\n"), @r"
    +----+-------------+--------------------------------+
    | op |           a |                              b |
    +----+-------------+--------------------------------+
    | +I |           1 |                              x |
    +----+-------------+--------------------------------+
    Received ...

    [INFO] Execute statement succeeded.

    [INFO] Execute statement succeeded.

    [INFO] Execute statement succeeded.

    +------------+------------+
    |          s | a_long_... |
    +------------+------------+
    | abcdefg... |          1 |
    +------------+------------+
    1 row in set
    ");
}

#[test]
fn lines_of_print_tables() {
    let sql = "CREATE TABLE p (a INT) WITH ('connector' = 'print'); INSERT INTO p VALUES (1), (2); SELECT 7 AS n";
    let dir = folder();
    let (code, out, err) = run(dir.path(), "csv", sql);
    assert_eq!(code, 0, "{err}");
    let mut lines: Vec<_> = out.lines().collect();
    lines[..2].sort_unstable();
    assert_eq!(lines, ["+I[1]", "+I[2]", "n", "7"]);

    let (code, out, _) = run(dir.path(), "jsonl", sql);
    assert_eq!(code, 0);
    let objects: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let mut printed: Vec<_> =
        objects[1]["stdout"].as_array().expect("stdout").iter().map(ToString::to_string).collect();
    printed.sort();
    assert_eq!(printed, ["\"+I[1]\"", "\"+I[2]\""]);
    assert!(objects[0].get("stdout").is_none() && objects[2].get("stdout").is_none());

    // nothing of the initialisation is shown
    std::fs::write(
        dir.path().join("init.sql"),
        "CREATE TABLE p (a INT) WITH ('connector' = 'print'); INSERT INTO p VALUES (1)",
    )
    .expect("write");
    let output = calve()
        .current_dir(dir.path())
        .args(["-i", "init.sql", "--output", "csv", "-e", "SELECT 7 AS n"])
        .output()
        .expect("run");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "n\n7\n");
}

#[test]
fn completions_of_shells() {
    for (shell, words) in [("bash", "complete -F _calve"), ("zsh", "#compdef calve"), ("fish", "complete -c calve")] {
        let output = calve().args(["completions", shell]).output().expect("run");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(output.status.success() && text.contains(words) && text.contains("accept"), "{shell}");
    }
    assert_eq!(calve().args(["completions", "tcsh"]).output().expect("run").status.code(), Some(64));
}
