//! Runs under a job id, `calve verify-commit`, and several processes that write to one table.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use common::{calve, jsonl};
use serde_json::{Value, json};

const CATALOG: &str = "CREATE CATALOG ice WITH ('type'='iceberg','catalog-type'='hadoop','warehouse'='wh'); USE CATALOG ice; \
     CREATE DATABASE IF NOT EXISTS db; USE db; SET 'execution.runtime-mode' = 'batch';";
const JOB: &str = "0123456789abcdef0123456789abcdef";

fn run(dir: &Path, sql: &str) -> Vec<Value> {
    let (code, objects) = jsonl(dir, &["-e", &format!("{CATALOG} {sql}")]);
    assert_eq!(code, 0, "{objects:?}");
    objects
}

fn query(dir: &Path, sql: &str) -> Value {
    run(dir, sql).last().expect("a result")["rows"].clone()
}

/// `calve verify-commit` with the catalog, in `dir`.
fn verify(dir: &Path, args: &[&str]) -> (i32, String, String) {
    std::fs::write(dir.join("catalog.sql"), format!("{CATALOG} INSERT INTO t VALUES (99); DROP TABLE t;"))
        .expect("script");
    let output =
        calve().current_dir(dir).args(["verify-commit", "-i", "catalog.sql"]).args(args).output().expect("run");
    let Output { status, stdout, stderr } = output;
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

#[test]
fn a_table_tells_whether_a_commit_happened() {
    let dir = tempfile::tempdir().expect("folder");
    let dir = dir.path();
    let objects = run(dir, "CREATE TABLE t (id INT); CREATE TABLE u (id INT); INSERT INTO t VALUES (1), (2)");
    let insert = objects.last().expect("a result");
    let (job, snapshot) =
        (insert["job_id"].as_str().expect("an id"), insert["written"][0]["snapshot_id"].as_str().expect("an id"));

    let (code, out, err) = verify(dir, &["--job-id", job, "ice.db.t"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.starts_with(&format!("committed: ice.db.t has snapshot {snapshot} of 20")), "{out}");
    assert!(out.ends_with("(append, 2 rows added)\n"), "{out}");
    let (code, out, _) = verify(dir, &["--snapshot-id", snapshot, "t", "--output", "jsonl"]);
    let object: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &object["status"], &object["rows"]), (0, &json!("committed"), &json!(2)));
    assert_eq!((&object["table"], &object["snapshot_id"]), (&json!("ice.db.t"), &json!(snapshot)));

    // the script of the run is not run again, and nothing of it but its catalogs
    assert_eq!(query(dir, "SELECT COUNT(*) FROM t"), json!([["2"]]));

    let (code, out, _) = verify(dir, &["--job-id", JOB, "t"]);
    assert_eq!(
        (code, out),
        (1, format!("not committed: branch 'main' of ice.db.t does not have a snapshot of job {JOB}\n"))
    );
    let (code, out, _) = verify(dir, &["--job-id", job, "--output", "jsonl", "t", "u"]);
    let objects: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let status: Vec<&Value> = objects.iter().map(|object| &object["status"]).collect();
    assert_eq!((code, status), (1, vec![&json!("committed"), &json!("not-committed")]));

    // what keeps it from looking
    let (code, out, _) = verify(dir, &["--job-id", job, "nowhere", "--output", "jsonl"]);
    let object: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &object["status"], &object["error"]["code"]), (3, &json!("unknown"), &json!("unknown-table")));
    let (code, out, _) = verify(dir, &["--job-id", job, "t", "--branch", "b"]);
    assert!(code == 3 && out.starts_with("cannot tell: t: table 'db.t' has no branch 'b'"), "{out}");
    assert_eq!(verify(dir, &["--job-id", job, "default_catalog.default_database.x"]).0, 3);
    std::fs::write(dir.join("broken.sql"), "CREATE CATALOG b WITH ('type'='iceberg','catalog-type'='nothing')")
        .expect("script");
    let (code, _, err) = verify(dir, &["-i", "broken.sql", "--job-id", job, "ice.db.t"]);
    assert!(code == 3 && err.contains("error[unknown-catalog-type]"), "{err}");

    for args in [
        &["t"][..],
        &["--job-id", job],
        &["--job-id", "1", "t"],
        &["--job-id", job, "--snapshot-id", "1", "t"],
        &["--operator-id", job, "t"],
        &["-i", "nowhere.sql", "--job-id", job, "t"],
    ] {
        assert_eq!(verify(dir, args).0, 64, "{args:?}");
    }
}

#[test]
fn what_an_earlier_run_committed_is_told() {
    let dir = tempfile::tempdir().expect("folder");
    let dir = dir.path();
    run(dir, "CREATE TABLE t (id INT)");
    let insert = |format: &str| {
        let define = format!("calve.job-id={JOB}");
        let sql = format!("{CATALOG} INSERT INTO t VALUES (1), (2)");
        let output =
            calve().current_dir(dir).args(["-D", &define, "--output", format, "-e", &sql]).output().expect("run");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(if format == "csv" { output.stderr } else { output.stdout }).expect("UTF-8")
    };
    let last = |text: &str| serde_json::from_str::<Value>(text.lines().last().expect("a line")).expect("JSON");
    let first = last(&insert("jsonl"));
    assert_eq!(first["written"][0].get("committed_before"), None);
    let again = last(&insert("jsonl"));
    assert!(again["written"][0]["committed_before"].as_str().expect("a time").ends_with('Z'), "{again}");
    for key in ["snapshot_id", "rows", "data_files"] {
        assert_eq!(again["written"][0][key], first["written"][0][key], "{key}");
    }
    assert_eq!((&again["status"], &again["job_id"]), (&json!("ok"), &json!(JOB)));
    let told = insert("csv");
    let words = "[INFO] nothing written to ice.db.t: an earlier run of the job committed it, 2 rows added, snapshot ";
    assert!(told.contains(words), "{told}");
    assert_eq!(query(dir, "SELECT COUNT(*) FROM t"), json!([["2"]]));
    let (code, objects) = jsonl(dir, &["-D", "calve.job-id=today", "-e", "SELECT 1"]);
    assert_eq!((code, objects.len()), (64, 0));
}

/// Issue R19 of the public ones: the same script, again and again, until one run of it comes to its end.
#[test]
fn a_run_that_is_killed_and_made_again_writes_its_rows_once() {
    const MOMENTS: u32 = 8;
    let dir = tempfile::tempdir().expect("folder");
    let dir = dir.path();
    run(
        dir,
        "CREATE TABLE plain (id INT, part INT) PARTITIONED BY (part); CREATE TABLE sums (n BIGINT); \
         CREATE TABLE keyed (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled' = 'true')",
    );
    let rows: Vec<_> = (0..500).map(|id| format!("({id},{})", id % 3)).collect();
    let rows = rows.join(",");
    let script = format!(
        "{CATALOG} INSERT INTO plain VALUES {rows};\n\
         EXECUTE STATEMENT SET BEGIN\n\
         INSERT INTO sums SELECT COUNT(*) FROM plain;\nINSERT INTO keyed SELECT id, part FROM plain;\nINSERT INTO plain VALUES (1000, 1);\n\
         END;\n\
         UPDATE keyed SET v = v + 10 WHERE id < 100;\n\
         INSERT INTO plain VALUES {rows};"
    );
    std::fs::write(dir.join("job.sql"), script).expect("script");
    let start = |job: &str| -> Child {
        let mut command = calve();
        command.current_dir(dir).args(["run", "job.sql", "-D"]).arg(format!("calve.job-id={job}"));
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("spawn")
    };
    let finish = |child: Child| {
        let output = child.wait_with_output().expect("run");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let started = Instant::now();
    finish(start(&"0".repeat(32)));
    let whole = started.elapsed();
    assert_eq!(query(dir, "SELECT COUNT(*) FROM plain"), json!([["1001"]]));
    assert_eq!(query(dir, "SELECT COUNT(*), SUM(v) FROM keyed"), json!([["500", "1499"]]));
    for moment in 0..MOMENTS {
        // jobs of their own, each killed at a moment of its run, and made again until it is through
        let job = format!("{:032x}", moment + 256);
        let mut child = start(&job);
        std::thread::sleep(whole * (2 * moment + 1) / (2 * MOMENTS));
        child.kill().expect("kill"); // SIGKILL
        child.wait().expect("wait");
        finish(start(&job));
        finish(start(&job));
        let runs = i64::from(moment) + 2;
        let plain = (1001 * runs).to_string();
        let of_plain = query(dir, "SELECT COUNT(*) FROM plain");
        assert_eq!(of_plain, json!([[plain]]), "moment {moment}");
        assert_eq!(query(dir, "SELECT COUNT(*) FROM sums"), json!([[runs.to_string()]]), "moment {moment}");
        // an upsert of the same keys and of the one that the first run added, and one UPDATE
        assert_eq!(query(dir, "SELECT COUNT(*), SUM(v) FROM keyed"), json!([["501", "1500"]]), "moment {moment}");
    }
    // each set counted what was there before it
    let expected: Vec<Value> = (0..=MOMENTS).map(|n| json!([(1001 * n + 500).to_string()])).collect();
    assert_eq!(query(dir, "SELECT n FROM sums ORDER BY n"), Value::Array(expected));
}

/// Issue R23 of the public ones.
#[test]
fn ten_processes_append_to_one_table() {
    const ROWS: usize = 1_000;
    for kind in ["hadoop", "jdbc"] {
        let dir = tempfile::tempdir().expect("folder");
        let dir = dir.path();
        let uri = if kind == "jdbc" { ",'uri'='jdbc:sqlite:catalog.db'" } else { "" };
        let catalog = format!(
            "CREATE CATALOG ice WITH ('type'='iceberg','catalog-type'='{kind}','warehouse'='wh'{uri}); USE CATALOG ice; \
             CREATE DATABASE IF NOT EXISTS db; USE db; SET 'execution.runtime-mode' = 'batch';"
        );
        let (code, objects) = jsonl(dir, &["-e", &format!("{catalog} CREATE TABLE t (id BIGINT, v INT)")]);
        assert_eq!(code, 0, "{objects:?}");
        let writers: Vec<Child> = (0..10)
            .map(|n| {
                let source = format!(
                    "CREATE TEMPORARY TABLE gen1k (f_sequence BIGINT) WITH ('connector'='datagen','number-of-rows'='{ROWS}', \
                     'fields.f_sequence.kind'='sequence','fields.f_sequence.start'='1','fields.f_sequence.end'='{ROWS}');"
                );
                let sql = format!("{catalog} {source} INSERT INTO t SELECT f_sequence, {n} FROM gen1k");
                let mut command = calve();
                command.current_dir(dir).args(["-e", &sql]).stdout(Stdio::null()).stderr(Stdio::piped());
                command.spawn().expect("spawn")
            })
            .collect();
        for mut writer in writers {
            let status = common::wait_for(&mut writer, Duration::from_secs(120)).expect("it ends");
            let mut err = String::new();
            std::io::Read::read_to_string(&mut writer.stderr.take().expect("stderr"), &mut err).expect("read");
            assert_eq!(status.code(), Some(0), "{kind}: {err}");
        }
        let sql = format!("{catalog} SELECT v, COUNT(*), COUNT(DISTINCT id) FROM t GROUP BY v ORDER BY v");
        let (_, objects) = jsonl(dir, &["-e", &sql]);
        let expected: Vec<Value> =
            (0..10).map(|n: i32| json!([n.to_string(), ROWS.to_string(), ROWS.to_string()])).collect();
        assert_eq!(objects.last().expect("a result")["rows"], Value::Array(expected), "{kind}");
    }
}
