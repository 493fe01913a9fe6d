//! The command line: exit codes, scripts, options, the machine-readable output.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use common::{calve, jsonl};
use serde_json::{Value, json};

fn run(args: &[&str]) -> Output {
    calve().args(args).output().expect("run")
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("folder")
}

fn write(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("write");
    path.display().to_string()
}

#[test]
fn usage_errors_are_64() {
    let dir = folder();
    let latin1 = dir.path().join("latin1.sql");
    std::fs::write(&latin1, b"SELECT 1;\nSELECT '\xe9'").expect("write");
    let latin1 = latin1.display().to_string();
    let good = write(dir.path(), "good.sql", "SELECT 1");
    for (args, words) in [
        (&["run"][..], "nothing to run"),
        (&["run", "/no/such/file.sql"], "cannot read script '/no/such/file.sql'"),
        (&["-f", "/"], "cannot read script '/'"),
        (&["-f", &latin1], "line 2 is not UTF-8"),
        (&["-i", "/no/such/init.sql", "-e", "SELECT 1"], "cannot read script '/no/such/init.sql'"),
        (&["run", &good, "-e", "SELECT 1"], "cannot be used with"),
        (&["run", &good, "-f", &good], "cannot be used with"),
        (&["--output", "xml", "-e", "SELECT 1"], "invalid value 'xml'"),
        (&["--memory-limit", "lots", "-e", "SELECT 1"], "expected a size"),
        (&["-D", "novalue", "-e", "SELECT 1"], "expected KEY=VALUE"),
        (&["--no-such-option"], "unexpected argument"),
        (&["frobnicate"], "frobnicate"),
        (&["orders.sql"], "tip: to run a script: calve run orders.sql"),
        (&["--keep-going", "orders.sql"], "tip: to run a script: calve run orders.sql"),
    ] {
        let output = run(args);
        assert_eq!(code(&output), 64, "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
        assert!(stdout(&output).is_empty(), "{args:?}");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for (args, words) in [
        (&["--help"][..], "Exit codes"),
        (&["run", "--help"], "--keep-going"),
        (&["--version"], concat!("calve ", env!("CARGO_PKG_VERSION"))),
    ] {
        let output = run(args);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains(words), "{}", stdout(&output));
    }
}

#[test]
fn a_query_is_printed_as_flinks_client_does() {
    let output = run(&["-D", "execution.runtime-mode=batch", "-e", "SELECT 1 AS a, 'x' AS b, CAST(NULL AS INT) AS c"]);
    assert_eq!((code(&output), stderr(&output)), (0, String::new()));
    let text = stdout(&output);
    let (table, last) = text.trim_end().rsplit_once('\n').expect("lines");
    insta::assert_snapshot!(table, @r"
    +---+---+--------+
    | a | b |      c |
    +---+---+--------+
    | 1 | x | <NULL> |
    +---+---+--------+
    ");
    assert!(last.starts_with("1 row in set (") && last.ends_with(" seconds)"), "{last}");
}

#[test]
fn an_error_shows_its_place_and_stops_the_script() {
    let dir = folder();
    let script = "SET 'execution.runtime-mode' = 'batch';\n\n-- nothing here is called that\nSELECT 1,\n       nope\nFROM (VALUES (1)) AS t(a);\nSELECT 2;\n";
    write(dir.path(), "broken.sql", script);
    let output = calve().current_dir(dir.path()).args(["run", "broken.sql"]).output().expect("run");
    assert_eq!(code(&output), 2);
    assert!(!stdout(&output).contains("| 2 |"));
    let drawn = stderr(&output);
    let lines: Vec<_> = drawn.lines().collect();
    assert!(lines[0].starts_with("error[unknown-column]: "), "{drawn}");
    assert!(drawn.contains(" --> broken.sql:5:8\n"), "{drawn}");
    assert!(drawn.contains("5 |        nope\n  |        ^^^^"), "{drawn}");
    assert!(!drawn.contains('\u{1b}'), "no colours in a pipe: {drawn}");
}

#[test]
fn jsonl_is_the_contract() {
    let dir = folder();
    let script = "-- first\nSELECT 1 AS a, CAST(NULL AS STRING) AS b;\nSET 'a.b' = 'c';\nSELECT nope;\nSELECT 2";
    let output = calve().current_dir(dir.path()).args(["--output", "jsonl", "-e", script]).output().expect("run");
    assert_eq!(code(&output), 2);
    let text = stdout(&output);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "the script stops at its first error: {text}");
    assert_eq!(
        lines[0],
        r#"{"n":1,"sql":"-- first\nSELECT 1 AS a, CAST(NULL AS STRING) AS b","line":1,"kind":"query","columns":[{"name":"a","type":"INT NOT NULL"},{"name":"b","type":"STRING"}],"rows":[["1",null]],"ops":["+I"],"status":"ok"}"#
    );
    let set: Value = serde_json::from_str(lines[1]).expect("JSON");
    assert_eq!(
        (&set["n"], &set["kind"], &set["line"], &set["status"]),
        (&json!(2), &json!("command"), &json!(3), &json!("ok"))
    );
    assert!(set.get("rows").is_none() && set.get("columns").is_none() && set.get("ops").is_none());
    let error: Value = serde_json::from_str(lines[2]).expect("JSON");
    let keys: Vec<_> = error.as_object().expect("object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["n", "sql", "line", "kind", "status", "error"]);
    let keys: Vec<_> = error["error"].as_object().expect("object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["code", "message", "detail", "hint", "line", "column"]);
    assert_eq!(
        (&error["kind"], &error["error"]["line"], &error["error"]["column"]),
        (&json!("query"), &json!(4), &json!(8))
    );
}

#[test]
fn ops_are_of_streaming_queries_only() {
    let dir = folder();
    let (code, objects) = jsonl(
        dir.path(),
        &["-e", "SHOW CATALOGS; SELECT 1; SET 'execution.runtime-mode' = 'batch'; SELECT 1; VALUES (1), (2)"],
    );
    assert_eq!(code, 0);
    let ops: Vec<_> = objects.iter().map(|o| o.get("ops").cloned()).collect();
    assert_eq!(ops, [None, Some(json!(["+I"])), None, None, None]);
    assert_eq!((&objects[0]["kind"], &objects[0]["rows"]), (&json!("command"), &json!([["default_catalog"]])));
    assert_eq!(objects[4]["rows"].as_array().map(Vec::len), Some(2));
}

#[test]
fn writes_have_a_job_and_a_summary() {
    let dir = folder();
    let script = "CREATE CATALOG ice WITH ('type'='iceberg','catalog-type'='hadoop','warehouse'='wh');
        CREATE DATABASE ice.shop; CREATE TABLE ice.shop.t (a INT);";
    let (exit, objects) = jsonl(dir.path(), &["-e", &format!("{script} INSERT INTO ice.shop.t VALUES (1), (2)")]);
    assert_eq!(exit, 0, "{objects:?}");
    let insert = objects.last().expect("objects");
    assert_eq!(insert["kind"], "insert");
    let job = insert["job_id"].as_str().expect("job id");
    assert!(job.len() == 32 && job.bytes().all(|b| b.is_ascii_hexdigit()), "{job}");
    assert!(insert.get("rows").is_none());
    let written = &insert["written"];
    assert_eq!(written.as_array().map(Vec::len), Some(1), "{written}");
    let mut written = written[0].clone();
    let snapshot = written["snapshot_id"].take();
    assert!(snapshot.as_str().is_some_and(|id| id.parse::<i64>().is_ok()), "{snapshot}");
    let rest = json!({"table": "ice.shop.t", "rows": 2, "data_files": 1, "delete_files": 0, "snapshot_id": null});
    assert_eq!(written, rest);
    assert!(objects[0].get("written").is_none());

    let catalog = script.split_inclusive(';').next().expect("catalog");
    let sql = format!("{catalog} INSERT INTO ice.shop.t VALUES (3)");
    let output = calve().current_dir(dir.path()).args(["-e", &sql]).output().expect("run");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.starts_with(
            "[INFO] Execute statement succeeded.\n\n[INFO] 1 row written to ice.shop.t: 1 data file, snapshot "
        ),
        "{text}"
    );
}

#[test]
fn keep_going_runs_the_rest_and_still_fails() {
    let dir = folder();
    let (code, objects) = jsonl(dir.path(), &["--keep-going", "-e", "SELECT nope; SELECT 2 AS b; SELEC 3; SELECT 4"]);
    assert_eq!(code, 2);
    let status: Vec<_> = objects.iter().map(|o| o["status"].as_str().expect("status")).collect();
    assert_eq!(status, ["error", "ok", "error", "ok"]);
    let n: Vec<_> = objects.iter().map(|o| o["n"].as_u64().expect("n")).collect();
    assert_eq!(n, [1, 2, 3, 4]);
}

#[test]
fn a_statement_set_has_a_summary_for_each_insert() {
    let dir = folder();
    let sql = "CREATE TABLE a (n INT) WITH ('connector' = 'blackhole'); CREATE TABLE b (n INT) WITH ('connector' = 'blackhole');
        EXECUTE STATEMENT SET BEGIN INSERT INTO a VALUES (1); INSERT INTO b VALUES (1), (2); END";
    let (exit, objects) = jsonl(dir.path(), &["-e", sql]);
    assert_eq!(exit, 0, "{objects:?}");
    let written = objects[2]["written"].as_array().expect("written");
    let told: Vec<_> = written.iter().map(|w| (w["table"].as_str().expect("table"), w["rows"].as_u64())).collect();
    let name = "default_catalog.default_database";
    assert_eq!(told, [(format!("{name}.a").as_str(), Some(1)), (format!("{name}.b").as_str(), Some(2))]);
    assert!(written.iter().all(|w| w["snapshot_id"].is_null()));
}

#[test]
fn keep_going_does_not_run_part_of_a_statement_set() {
    let dir = folder();
    for bad in ["INSERT INTO p SELECT nope FROM p", "INSER INTO p VALUES (7)", "SELECT 1"] {
        let sql = format!(
            "CREATE TABLE p (n INT) WITH ('connector' = 'print'); BEGIN STATEMENT SET; INSERT INTO p VALUES (1); {bad}; \
             INSERT INTO p VALUES (2); END; BEGIN STATEMENT SET; INSERT INTO p VALUES (3); END;"
        );
        let (code, objects) = jsonl(dir.path(), &["--keep-going", "-e", &sql]);
        assert_eq!(code, 2);
        let status: Vec<_> = objects.iter().map(|o| o["status"].as_str().expect("status")).collect();
        assert_eq!(status, ["ok", "ok", "ok", "error", "ok", "error", "ok", "ok", "ok"], "{bad}");
        let refused = &objects[5]["error"];
        assert_eq!(refused["code"], "statement-set");
        assert_eq!(refused["message"], "the statement set has a failed statement and was not run");
        assert_eq!(objects[8]["written"][0]["rows"], 1, "a set begun anew runs");
        let printed: String = objects.iter().map(|o| o["stdout"].to_string() + &o["printed"].to_string()).collect();
        assert!(!printed.contains("+I[1]") && !printed.contains("+I[2]"), "{printed}");
    }
}

#[test]
fn an_error_has_an_empty_line_behind_it_if_something_follows() {
    let sql = "SELECT nope; SELECT 2 AS b; SELECT nope";
    let output = run(&["--keep-going", "-e", sql]);
    assert_eq!(code(&output), 2);
    let drawn = stderr(&output);
    assert_eq!(drawn.matches("\n\n").count(), 1, "{drawn}");
    assert!(drawn.contains("\n\nerror[unknown-column]"), "{drawn}");
    let output = run(&["--keep-going", "--output", "jsonl", "-e", sql]);
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_script_must_end_its_statement_set() {
    let dir = folder();
    let sql = "CREATE TABLE p (n INT) WITH ('connector' = 'print'); BEGIN STATEMENT SET; INSERT INTO p VALUES (1);";
    let warning = "warning[open-statement-set]: the script ends before the END of its statement set: the INSERTs of the set \
                   were not run\n";
    for (script, args) in [
        (sql.to_owned(), &[][..]),
        (sql.to_owned(), &["--output", "jsonl"]),
        (sql.to_owned(), &["--keep-going", "--output", "csv"]),
        (format!("{sql} QUIT; END;"), &[]),
    ] {
        let path = write(dir.path(), "open.sql", &script);
        let output = calve().arg("run").args(args).arg(&path).output().expect("run");
        assert_eq!((code(&output), stderr(&output).as_str()), (2, warning), "{args:?} {script}");
        assert!(!stdout(&output).contains("+I[1]"), "{}", stdout(&output));
    }
    let mut child = calve().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("spawn");
    child.stdin.take().expect("stdin").write_all(sql.as_bytes()).expect("write");
    let output = child.wait_with_output().expect("wait");
    assert_eq!((code(&output), stderr(&output).as_str()), (2, warning));
    let output = run(&["-e", &format!("{sql} SELECT nope;")]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).ends_with(warning), "{}", stderr(&output));
    // the set has its END, and the script stopped before it: the error says enough
    let output = run(&["-e", &format!("{sql} INSERT INTO p SELECT nope; END;")]);
    assert_eq!(code(&output), 2);
    assert!(!stderr(&output).contains("open-statement-set"), "{}", stderr(&output));
    assert_eq!(code(&run(&["-e", &format!("{sql} END;")])), 0);
}

#[test]
fn the_initialisation_script_runs_first_and_is_not_counted() {
    let dir = folder();
    let init = write(dir.path(), "init.sql", "SET 'execution.runtime-mode' = 'batch';\nSELECT 'not shown';");
    let (code, objects) = jsonl(dir.path(), &["-i", &init, "-e", "SELECT 1"]);
    assert_eq!((code, objects.len()), (0, 1));
    assert_eq!(objects[0]["n"], 1);
    assert!(objects[0].get("ops").is_none(), "init's SET works");

    let init = write(dir.path(), "bad.sql", "SELECT 1;\nSELECT nope;\nSELECT 2;");
    let output =
        calve().args(["--output", "jsonl", "--keep-going", "-i", &init, "-e", "SELECT 1"]).output().expect("run");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(stderr(&output).contains("bad.sql:2:8"), "{}", stderr(&output));
}

#[test]
fn options_come_before_the_first_statement() {
    let dir = folder();
    let (code, objects) = jsonl(dir.path(), &["-D", "execution.runtime-mode=batch", "-e", "SELECT 1"]);
    assert_eq!(code, 0);
    assert!(objects[0].get("ops").is_none());
}

#[test]
fn a_script_may_come_from_standard_input() {
    for args in [&["run", "-"][..], &["-f", "-"]] {
        let mut child = calve()
            .args(["--output", "jsonl"].iter().filter(|_| args[0] == "-f"))
            .args(args)
            .args(["--output", "jsonl"].iter().filter(|_| args[0] == "run"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("spawn");
        // a byte order mark is no part of the script
        child.stdin.take().expect("stdin").write_all("\u{feff}SELECT 'é' AS s;\r\n".as_bytes()).expect("write");
        let output = child.wait_with_output().expect("wait");
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains(r#""rows":[["é"]]"#), "{}", stdout(&output));
    }
}

#[test]
fn an_empty_script_is_done() {
    for text in ["", "\n", "-- nothing\n", ";;", "/* nothing */ ;"] {
        let output = run(&["--output", "jsonl", "-e", text]);
        assert_eq!((code(&output), stdout(&output), stderr(&output)), (0, String::new(), String::new()), "{text:?}");
    }
}

/// A million rows: a cross join of a thousand numbers with themselves.
fn many_rows(columns: &str, factors: usize) -> String {
    let numbers: Vec<_> = (0..1_000).map(|n| format!("({n})")).collect();
    let numbers = format!("(VALUES {})", numbers.join(","));
    let factors: Vec<_> = (0..factors).map(|n| format!("{numbers} AS t{n}(a{n})")).collect();
    format!("SELECT {columns} FROM {}", factors.join(" CROSS JOIN "))
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let dir = folder();
    let script = write(dir.path(), "rows.sql", &many_rows("a0, a1", 2));
    for format in ["table", "csv", "tsv", "json", "jsonl"] {
        let mut child = calve()
            .args(["run", &script, "--output", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("spawn");
        let mut start = [0u8; 64];
        child.stdout.take().expect("stdout").read_exact(&mut start).expect("read");
        let output = child.wait_with_output().expect("wait");
        assert_eq!((code(&output), stderr(&output)), (0, String::new()), "{format}");
    }
}

#[test]
fn a_signal_cancels_the_statement() {
    for (signal, status, mode) in
        [("-INT", 130, "batch"), ("-INT", 130, "streaming"), ("-TERM", 143, "batch"), ("-HUP", 129, "batch")]
    {
        cancelled_by(signal, status, mode, &many_rows("COUNT(*)", 4));
    }
}

/// Each of these queries is planned for the values of all before it, which takes longer than anybody waits.
#[test]
fn a_signal_cancels_planning() {
    let lateral = |i: usize| {
        format!("CROSS JOIN LATERAL (SELECT w.u FROM (VALUES (1, 2), (2, 3)) AS w (u, k) WHERE w.k > s.k) AS l{i}")
    };
    let laterals: Vec<String> = (0..14).map(lateral).collect();
    let script = format!("EXPLAIN SELECT COUNT(*) FROM (VALUES (1, 1), (2, 1)) AS s (u, k) {}", laterals.join(" "));
    cancelled_by("-INT", 130, "batch", &script);
}

fn send(signal: &str, id: u32) {
    assert!(Command::new("kill").args([signal, &id.to_string()]).status().expect("kill").success());
}

fn cancelled_by(signal: &str, exit: i32, mode: &str, script: &str) {
    let dir = folder();
    let script = write(dir.path(), "long.sql", script);
    let mut child = calve()
        .args(["run", &script, "--output", "jsonl", "-D", &format!("execution.runtime-mode={mode}")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("spawn");
    // in streaming mode there are more rows than the pipe holds
    let mut stdout = child.stdout.take().expect("stdout");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).expect("read");
        text
    });
    std::thread::sleep(Duration::from_millis(1_500));
    send(signal, child.id());
    let status = common::wait_for(&mut child, Duration::from_secs(20)).expect("the statement ends");
    assert_eq!(status.code(), Some(exit), "{signal} {mode}");
    let text = reader.join().expect("text");
    let object: Value = serde_json::from_str(text.trim()).expect("one object");
    assert_eq!((&object["status"], &object["error"]["code"]), (&json!("error"), &json!("interrupted")));
}

#[test]
fn nohup_is_respected() {
    let dir = folder();
    let script = write(dir.path(), "long.sql", &many_rows("COUNT(*)", 4));
    let mut command = common::plain(Command::new("sh"));
    command.args(["-c", "trap '' HUP; exec \"$0\" run \"$1\"", common::CALVE]).arg(&script);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("spawn");
    std::thread::sleep(Duration::from_millis(1_000));
    send("-HUP", child.id());
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(child.try_wait().expect("wait"), None, "it goes on");
    send("-TERM", child.id());
    let status = common::wait_for(&mut child, Duration::from_secs(20)).expect("the statement ends");
    assert_eq!(status.code(), Some(143));
}

#[test]
fn no_input_makes_it_panic() {
    let deep = format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    let sum = format!("SELECT 1{}", "+1".repeat(5_000));
    let scripts = [
        "SELECT 'unterminated",
        "SELECT /* unterminated",
        "SELECT `unterminated",
        "\u{0}",
        "SELECT \u{0}",
        "é",
        "SELECT 'é",
        "CREATE",
        "CREATE TABLE",
        "CREATE TABLE t (",
        "INSERT",
        "INSERT INTO",
        "SELECT 1 /*+",
        "SELECT 1 /*+ OPTIONS( */",
        "SELECT 99999999999999999999999999999999999999999",
        "SELECT 1e999",
        "SELECT X'0'",
        "SELECT U&'\\zz'",
        "SELECT INTERVAL 'x' DAY",
        "SELECT DATE '2024-13-45'",
        "SELECT CAST('x' AS DECIMAL(99, 100))",
        "SELECT *",
        "VALUES",
        "SELECT 1 LIMIT 99999999999999999999",
        "SELECT -9223372036854775808",
        "SELECT CAST(-2147483648 AS INT) / -1",
        "SELECT SUBSTRING('é', -5, 2147483647)",
        "WITH",
        "EXPLAIN",
        "SET 'a'",
        "USE",
        "BEGIN STATEMENT SET; END;",
        &deep,
        &sum,
    ];
    let dir = folder();
    for script in scripts {
        let output = run(&["--keep-going", "-f", &write(dir.path(), "script.sql", script)]);
        let shown: String = script.chars().take(60).collect();
        assert!(matches!(output.status.code(), Some(0 | 2)), "{shown}: {:?} {}", output.status, stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{shown}: {}", stderr(&output));
    }
}

#[test]
fn quit_ends_a_script() {
    let dir = folder();
    for word in ["QUIT", "exit", "-- enough\nquit"] {
        let script = write(dir.path(), "quit.sql", &format!("SELECT 1;\n{word};\nSELECT nothing;"));
        let output = run(&["run", "--output", "jsonl", &script]);
        assert_eq!((code(&output), stdout(&output).lines().count()), (0, 1), "{word}");
    }
}
