//! Cases of what Flink's Iceberg connector does (`sql-tests/acceptance/*.toml`): statements, and facts about the tables' metadata.
//!
//! * `CALVE_SHOW=20 cargo test -p calve-cli --test acceptance -- --nocapture` prints failures,
//! * `CALVE_ONLY='UPS-*'` runs only these cases,
//! * `CALVE_RAISE_FLOOR=1` raises the floor to what was reached.
//!
//! A case has its own `${WAREHOUSE}` and `${IN}`. Its steps:
//!
//! * `{sql = ".."}` must succeed. `rows = [[..]]` compares as a multiset; `ordered = true`; `pick = ["column"]` compares
//!   only these; `error = ["text"]`: all texts occur in message, detail or hint, any case, `a|b` is either;
//!   `warning = [..]`, `columns = ["a INT"]`.
//! * `{let = "S1", head = "t"}`, `{let = "T1", head_ts = "t"}`: a snapshot's id or time as `${S1}`, `${T1+1}`.
//! * `{sleep_ms = 5}`, `{meta = [..]}`.
//!
//! Steps other than `sql` split the script into several runs, and session statements are repeated in each. Cells:
//! text as printed, or `<NULL>`, `<any>` or `<set>` (not null); `"..."` ends a row early.
//! The facts of `meta` are in [`meta`].

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod meta;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use common::transcript::{self, Cell};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "topic")]
    _topic: String,
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    title: String,
    /// Features of the product that the case is about; kept for readers.
    #[serde(default, rename = "needs")]
    _needs: Vec<String>,
    #[serde(default, rename = "note")]
    _note: String,
    #[serde(default)]
    prelude: Prelude,
    steps: Vec<Step>,
    #[serde(default)]
    meta: Vec<meta::Fact>,
}

/// Statements before a case's own.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Prelude {
    #[default]
    Full,
    Settings,
    None,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Step {
    Sql(Sql),
    Let(Let),
    Sleep(Sleep),
    Meta(MetaStep),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sql {
    sql: String,
    rows: Option<Vec<Vec<String>>>,
    #[serde(default)]
    ordered: bool,
    pick: Option<Vec<String>>,
    error: Option<Vec<String>>,
    #[serde(default)]
    warning: Vec<String>,
    columns: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Let {
    r#let: String,
    head: Option<String>,
    head_ts: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sleep {
    sleep_ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MetaStep {
    meta: Vec<meta::Fact>,
}

const CATALOG: &[&str] = &[
    "CREATE CATALOG ice WITH ('type'='iceberg','catalog-type'='hadoop','warehouse'='${WAREHOUSE}','property-version'='1')",
    "USE CATALOG ice",
    "CREATE DATABASE IF NOT EXISTS shop",
    "USE shop",
];
const SETTINGS: &[&str] = &[
    "SET 'execution.runtime-mode' = 'batch'",
    "SET 'table.dml-sync' = 'true'",
    "SET 'parallelism.default' = '1'",
    "SET 'table.exec.resource.default-parallelism' = '1'",
];

#[test]
fn cases_pass() {
    let dir = common::sql_tests().join("acceptance");
    let mut cases = Vec::new();
    for path in common::files(&dir, "toml") {
        let text = std::fs::read_to_string(&path).expect("file");
        let file: File = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        cases.extend(file.case);
    }
    cases.retain(|case| common::selected(&case.id));
    let failures = common::on_two_threads(&cases, |case| Run::new(case).all());
    let failed: Vec<_> = cases.iter().zip(&failures).filter(|(_, failures)| !failures.is_empty()).collect();
    for (case, failures) in failed.iter().take(common::differences_to_show()) {
        println!("{} {}\n    {}", case.id, case.title, failures.join("\n    "));
    }
    let passed = cases.len() - failed.len();
    let ids: Vec<_> = failed.iter().map(|(case, _)| case.id.as_str()).collect();
    println!("acceptance cases passed: {passed} of {}; failed: {}", cases.len(), ids.join(" "));
    common::floor::check(&dir.join("FLOOR"), &[("passed", passed)]);
}

struct Run<'a> {
    case: &'a Case,
    tmp: tempfile::TempDir,
    env: HashMap<String, String>,
    session: Vec<String>,
    pending: Vec<&'a Sql>,
    segment: usize,
    failures: Vec<String>,
}

impl<'a> Run<'a> {
    fn new(case: &'a Case) -> Self {
        let tmp = tempfile::tempdir().expect("folder");
        let mut env = HashMap::new();
        for (name, folder) in [("WAREHOUSE", "warehouse"), ("IN", "in")] {
            let path = tmp.path().join(folder);
            std::fs::create_dir(&path).expect("folder");
            env.insert(name.to_owned(), path.display().to_string());
        }
        Self { case, tmp, env, session: Vec::new(), pending: Vec::new(), segment: 0, failures: Vec::new() }
    }

    fn warehouse(&self) -> PathBuf {
        self.tmp.path().join("warehouse")
    }

    fn all(mut self) -> Vec<String> {
        let case = self.case;
        for step in &case.steps {
            match step {
                Step::Sql(sql) => self.pending.push(sql),
                Step::Let(step) => {
                    self.flush();
                    self.assign(step);
                }
                Step::Sleep(step) => {
                    self.flush();
                    std::thread::sleep(Duration::from_millis(step.sleep_ms));
                }
                Step::Meta(step) => {
                    self.flush();
                    self.meta(&step.meta);
                }
            }
        }
        self.flush();
        self.meta(&case.meta);
        self.failures
    }

    fn assign(&mut self, step: &Let) {
        let (name, key) = match (&step.head, &step.head_ts) {
            (Some(name), None) => (name, "snapshot-id"),
            (None, Some(name)) => (name, "timestamp-ms"),
            _ => panic!("{}: expected head or head_ts", self.case.id),
        };
        match meta::Table::load(&self.warehouse(), name).and_then(|table| Some(table.head()?[key].to_string())) {
            Some(value) => {
                self.env.insert(step.r#let.clone(), value);
            }
            None => self.failures.push(format!("let {}: no snapshot of {name}", step.r#let)),
        }
    }

    fn meta(&mut self, facts: &[meta::Fact]) {
        for fact in facts {
            let differs = meta::check(&self.warehouse(), fact, |text| self.expand(text));
            self.failures.extend(differs);
        }
    }

    /// Runs the statements collected so far and compares their results.
    fn flush(&mut self) {
        let steps = std::mem::take(&mut self.pending);
        if steps.is_empty() {
            return;
        }
        let prelude = match self.case.prelude {
            Prelude::Full => [CATALOG, SETTINGS].concat(),
            Prelude::Settings => SETTINGS.to_vec(),
            Prelude::None => Vec::new(),
        };
        let before: Vec<&str> = prelude.into_iter().chain(self.session.iter().map(String::as_str)).collect();
        let before_count = before.len();
        let script: String = before
            .into_iter()
            .chain(steps.iter().map(|step| step.sql.as_str()))
            .map(|sql| format!("{};\n", self.expand(sql).trim_end().trim_end_matches(';')))
            .collect();
        self.segment += 1;
        let path = self.tmp.path().join(format!("script{}.sql", self.segment));
        std::fs::write(&path, script).expect("script");
        let mut command = common::calve();
        command.args(["run", "--keep-going", "--output", "jsonl"]);
        // Flink writes an equality delete for each first key of a commit; calve leaves needless ones out unless told
        // otherwise, and the cases count files as Flink writes them
        command.args(["-D", "calve.upsert.equality-deletes=always"]).arg(&path).current_dir(self.tmp.path());
        let Some(output) = common::run_for(command, Duration::from_secs(60)) else {
            return self.failures.push("timeout".to_owned());
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let objects: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if objects.len() != before_count + steps.len() || objects.len() != text.lines().count() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return self.failures.push(format!("{} objects, stderr: {stderr}", objects.len()));
        }
        let (before, results) = objects.split_at(before_count);
        for object in before.iter().filter(|o| o["status"] != "ok") {
            self.failures.push(format!("prelude {}: {}", object["sql"], object["error"]));
        }
        for (step, result) in steps.iter().zip(results) {
            let differs = self.compare(step, result);
            self.failures.extend(differs.map(|text| format!("{}: {text}", transcript::squeeze(&step.sql))));
            if result["status"] == "ok" && is_session_statement(&step.sql) {
                self.session.push(step.sql.clone());
            }
        }
        let want = if objects.iter().any(|o| o["status"] == "error") { 2 } else { 0 };
        if output.status.code() != Some(want) {
            self.failures.push(format!("expected exit code {want}, got {:?}", output.status.code()));
        }
    }

    /// Replaces `${NAME}` and `${NAME+n}`.
    fn expand(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (head, tail) = rest.split_at(at);
            let end = tail.find('}').expect("}");
            let (name, plus) = tail[2..end].split_once('+').unwrap_or((&tail[2..end], "0"));
            out += head;
            match (self.env.get(name), plus) {
                (Some(value), "0") => out += value,
                (Some(value), n) => {
                    out += &(value.parse::<i64>().expect("number") + n.parse::<i64>().expect("number")).to_string();
                }
                (None, _) => out += &tail[..=end],
            }
            rest = &tail[end + 1..];
        }
        out + rest
    }

    /// How a statement's result differs from what its step expects.
    fn compare(&self, step: &Sql, result: &Value) -> Option<String> {
        let error = &result["error"];
        let message: Vec<_> = ["message", "detail", "hint"].iter().filter_map(|key| error[key].as_str()).collect();
        let message = message.join("\n");
        if let Some(words) = &step.error {
            if result["status"] != "error" {
                return Some(format!("expected an error with {words:?}"));
            }
            let lower = message.to_lowercase();
            let missing: Vec<_> = words
                .iter()
                .filter(|w| !w.split('|').any(|w| lower.contains(&self.expand(w).to_lowercase())))
                .collect();
            return (!missing.is_empty()).then(|| format!("expected an error with {missing:?}, got: {message}"));
        }
        if result["status"] != "ok" {
            return Some(format!("expected ok, got error {}: {message}", error["code"]));
        }
        let columns = transcript::columns(result);
        if let Some(want) = &step.columns {
            let got: Vec<_> = columns.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
            if *want != got {
                return Some(format!("expected columns {want:?}, got {got:?}"));
            }
        }
        if let Some(want) = &step.rows {
            let mut got = transcript::rows(result);
            if let Some(pick) = &step.pick {
                let places: Option<Vec<_>> = pick.iter().map(|p| columns.iter().position(|(n, _)| n == p)).collect();
                let Some(places) = places else { return Some(format!("expected columns {pick:?}, got {columns:?}")) };
                got = got.iter().map(|row| places.iter().map(|p| row[*p].clone()).collect()).collect();
            }
            let want: Vec<Vec<String>> =
                want.iter().map(|row| row.iter().map(|cell| self.expand(cell)).collect()).collect();
            if !rows_match(&want, &got, step.ordered) {
                return Some(format!("expected rows {want:?}, got {got:?}"));
            }
        }
        let warnings = result["warnings"].to_string().to_lowercase();
        let missing: Vec<_> = step.warning.iter().filter(|w| !warnings.contains(&w.to_lowercase())).collect();
        (!missing.is_empty()).then(|| format!("expected a warning with {missing:?}, got {warnings}"))
    }
}

/// Statements that only change the session; a case that is split into several runs repeats them.
fn is_session_statement(sql: &str) -> bool {
    let sql = transcript::squeeze(sql).to_ascii_uppercase();
    ["SET ", "RESET", "USE ", "CREATE CATALOG ", "CREATE TEMPORARY "].iter().any(|head| sql.starts_with(head))
}

fn rows_match(want: &[Vec<String>], got: &[Vec<Cell>], ordered: bool) -> bool {
    if want.len() != got.len() {
        return false;
    }
    if ordered {
        return want.iter().zip(got).all(|(w, g)| row_matches(w, g));
    }
    let mut left: Vec<_> = got.iter().collect();
    // exact rows first, patterns take what remains
    let mut want: Vec<_> = want.iter().collect();
    want.sort_by_key(|row| row.iter().filter(|c| c.starts_with('<') || *c == "...").count());
    want.iter().all(|w| match left.iter().position(|g| row_matches(w, g)) {
        Some(at) => {
            left.remove(at);
            true
        }
        None => false,
    })
}

fn row_matches(want: &[String], got: &[Cell]) -> bool {
    let (want, open) = match want.split_last() {
        Some((last, head)) if last == "..." => (head, true),
        _ => (want, false),
    };
    (want.len() == got.len() || open && want.len() <= got.len())
        && want.iter().zip(got).all(|(w, g)| cell_matches(w, g))
}

fn cell_matches(want: &str, got: &Cell) -> bool {
    match want {
        "<NULL>" => got.is_none(),
        "<any>" => true,
        "<set>" => got.is_some(),
        _ => got.as_deref() == Some(want),
    }
}
