//! Transcripts of a real Flink (`sql-tests/flink`, `sql-tests/random`), and of calve itself (`sql-tests/*.sql`,
//! `sql-tests/issues`, run by `calve test`).
//!
//! * `CALVE_SHOW=20 cargo test -p calve-cli --test golden -- --nocapture` prints differences,
//! * `CALVE_ONLY='cast_*'` runs only these cases,
//! * `CALVE_RAISE_FLOOR=1` raises the floor to what was reached,
//! * `CALVE_ACCEPT=1` writes calve's own transcripts anew.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use common::transcript::{self, Cell, Entry, position, squeeze};
use serde_json::Value;

/// What a statement of a real Flink's transcript came to.
struct Verdict {
    case: String,
    /// The number of `=== [n]`.
    n: usize,
    sql: String,
    /// Whether Flink runs the statement.
    ran: bool,
    /// Aspects that differ.
    differs: Vec<String>,
    /// Whether the error stands where Flink's stands, if Flink's names a place.
    place: Option<bool>,
}

#[test]
fn statements_give_what_flink_gives() {
    compare_folder(&common::sql_tests().join("flink"));
}

/// Questions that `sql-tests/random/generate.py` made, with Flink's answers.
#[test]
fn random_expressions_give_what_flink_gives() {
    compare_folder(&common::sql_tests().join("random"));
}

/// Compares calve with the transcripts of a folder: at least as many statements as its FLOOR says must match.
fn compare_folder(dir: &Path) {
    let exceptions = read_exceptions(&dir.join("exceptions.txt"));
    let cases: Vec<_> = common::files(dir, "sql").into_iter().filter(|p| common::selected(&stem(p))).collect();
    let verdicts: Vec<Verdict> =
        common::on_two_threads(&cases, |path| flink_case(path)).into_iter().flatten().collect();
    let (excepted, kept): (Vec<_>, Vec<_>) =
        verdicts.iter().partition(|v| exceptions.contains_key(&(v.case.clone(), v.n)));

    for v in kept.iter().filter(|v| !v.differs.is_empty()).take(common::differences_to_show()) {
        println!("{} [{}]\n  {}\n    {}", v.case, v.n, clip(&squeeze(&v.sql), 200), v.differs.join("\n    "));
    }
    let matching = |ran: Option<bool>| {
        let of: Vec<_> = kept.iter().filter(|v| ran.is_none_or(|ran| v.ran == ran)).collect();
        (of.iter().filter(|v| v.differs.is_empty()).count(), of.len())
    };
    let (all, ran, refused) = (matching(None), matching(Some(true)), matching(Some(false)));
    let places: Vec<bool> = kept.iter().filter_map(|v| v.place).collect();
    println!("error positions equal: {} of {}", places.iter().filter(|p| **p).count(), places.len());
    println!("exceptions: {}", excepted.len());
    for v in excepted.iter().filter(|v| v.differs.is_empty()) {
        println!("  matches after all: {} [{}]", v.case, v.n);
    }
    println!("that Flink runs: {} of {}; that it refuses: {} of {}", ran.0, ran.1, refused.0, refused.1);
    println!("statements matching Flink: {} of {}", all.0, all.1);
    common::floor::check(&dir.join("FLOOR"), &[("all", all.0), ("ran", ran.0), ("refused", refused.0)]);
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("name").to_string_lossy().into_owned()
}

fn clip(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// Lines `CASE NUMBER REASON`; `#` begins a comment.
fn read_exceptions(path: &Path) -> HashMap<(String, usize), String> {
    let text = if path.exists() { std::fs::read_to_string(path).expect("exceptions") } else { String::new() };
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).filter(|l| !l.is_empty());
    lines
        .map(|line| {
            let words: Vec<_> = line.splitn(3, char::is_whitespace).collect();
            let [case, n, reason] = words[..] else { panic!("expected CASE NUMBER REASON: {line}") };
            ((case.to_owned(), n.parse().expect(line)), reason.trim().to_owned())
        })
        .collect()
}

/// Runs a script in a data folder of its own; the objects, with the folder's name masked.
fn run_script(path: &Path) -> Vec<Value> {
    let tmp = tempfile::tempdir().expect("folder");
    let data = tmp.path().join("data");
    std::fs::create_dir(&data).expect("folder");
    let data = data.to_str().expect("path");
    let script = tmp.path().join(path.file_name().expect("name"));
    let text = std::fs::read_to_string(path).expect("script").replace("${DATA}", data);
    std::fs::write(&script, text).expect("script");
    let mut command = common::calve();
    command.args(["run", "--keep-going", "--output", "jsonl", "-D", "parallelism.default=1"]);
    command.args(["-D", "table.local-time-zone=UTC"]).arg(&script).current_dir(tmp.path());
    let Some(output) = common::run_for(command, Duration::from_secs(60)) else { return Vec::new() };
    let text = String::from_utf8(output.stdout).expect("UTF-8").replace(data, "${DATA}");
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn flink_case(path: &Path) -> Vec<Verdict> {
    let want = transcript::read(&std::fs::read_to_string(path.with_extension("out")).expect("transcript"));
    let got = run_script(path);
    pair(&want, &got)
        .into_iter()
        .enumerate()
        .filter(|(_, (want, _))| want.status != "skip")
        .map(|(index, (want, got))| {
            let (differs, place) = compare(want, got);
            let (sql, ran) = (want.sql.clone(), want.status == "ok");
            Verdict { case: stem(path), n: index + 1, sql, ran, differs, place }
        })
        .collect()
}

/// The recorded statements in order, each with the object of the same text: the longest common subsequence, so that a lost
/// statement costs only itself.
fn pair<'a>(want: &'a [Entry], got: &'a [Value]) -> Vec<(&'a Entry, Option<&'a Value>)> {
    let a: Vec<_> = want.iter().map(|w| squeeze(&w.sql)).collect();
    let b: Vec<_> = got.iter().map(|g| squeeze(g["sql"].as_str().unwrap_or_default())).collect();
    let mut length = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            length[i][j] = if a[i] == b[j] { length[i + 1][j + 1] + 1 } else { length[i + 1][j].max(length[i][j + 1]) };
        }
    }
    let mut pairs = Vec::new();
    let mut j = 0;
    for (i, entry) in want.iter().enumerate() {
        while j < b.len() && a[i] != b[j] && length[i][j] == length[i][j + 1] {
            j += 1;
        }
        let hit = j < b.len() && a[i] == b[j];
        pairs.push((entry, hit.then(|| &got[j])));
        j += usize::from(hit);
    }
    pairs
}

/// The aspects in which a statement differs, and whether the error positions agree.
fn compare(want: &Entry, got: Option<&Value>) -> (Vec<String>, Option<bool>) {
    let Some(got) = got else { return (vec!["missing".to_owned()], None) };
    if got["status"] != want.status {
        let message = got["error"]["message"].as_str().unwrap_or_default();
        return (vec![format!("verdict: Flink {}, calve {}: {message}", want.status, got["status"])], None);
    }
    if want.status == "error" {
        let place = position(&want.error).map(|(line, column)| {
            let at = got["line"].as_u64().unwrap_or(1);
            let line_here = (got["error"]["line"].as_u64().unwrap_or(0) + 1).saturating_sub(at);
            (line, column) == (line_here, got["error"]["column"].as_u64().unwrap_or(0))
        });
        return (Vec::new(), place);
    }
    if squeeze(&want.sql).to_ascii_uppercase().starts_with("EXPLAIN") {
        return (Vec::new(), None);
    }
    let mut differs = Vec::new();
    if let Some(schema) = &want.schema {
        let columns = transcript::columns(got);
        if columns != *schema {
            differs.push(clip(&format!("columns: {schema:?} != {columns:?}"), 300));
        }
        let mut rows = transcript::rows(got);
        if want.has_ops {
            let ops = transcript::texts(got, "ops").unwrap_or_else(|| vec!["+I".to_owned(); rows.len()]);
            rows = rows.into_iter().zip(ops).map(|(row, op)| [vec![Some(op)], row].concat()).collect();
        }
        let same = want.kind == "ordered" && want.rows == rows
            || want.kind != "ordered" && sorted(&want.rows) == sorted(&rows);
        if !same {
            let (a, b) = (&want.rows[..want.rows.len().min(4)], &rows[..rows.len().min(4)]);
            differs.push(clip(&format!("rows: {a:?} != {b:?}"), 300));
        }
    }
    let mut stdout = transcript::texts(got, "stdout").unwrap_or_default();
    let mut want_stdout = want.stdout.clone();
    stdout.sort();
    want_stdout.sort();
    if stdout != want_stdout {
        differs.push(clip(&format!("stdout: {want_stdout:?} != {stdout:?}"), 300));
    }
    (differs, None)
}

fn sorted(rows: &[Vec<Cell>]) -> Vec<&Vec<Cell>> {
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort();
    rows
}

/// `calve test` on calve's own transcripts.
#[test]
fn own_transcripts_are_as_recorded() {
    let mut command = common::calve();
    command.arg("test").args(common::files(&common::sql_tests(), "sql"));
    // one for each public issue that bounded input can show
    command.arg(common::sql_tests().join("issues"));
    if let Ok(pattern) = std::env::var("CALVE_ONLY") {
        command.args(["--only", &pattern]);
    }
    if std::env::var_os("CALVE_ACCEPT").is_some() {
        command.arg("--accept");
    }
    let output = command.output().expect("run");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let nothing_selected = output.status.code() == Some(64) && std::env::var_os("CALVE_ONLY").is_some();
    assert!(output.status.success() || nothing_selected, "{errors}{text}CALVE_ACCEPT=1 records them anew");
    // a script without recorded results is none that passes
    assert!(!errors.contains("not run"), "{errors}");
}
