//! Commits through a REST catalog whose answers go wrong: what a user sees, and what helps.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "../../calve-iceberg/tests/rest_server/mod.rs"]
mod rest_server;

use std::path::Path;
use std::process::{Command, Output};

use common::calve;
use rest_server::{ENDPOINTS, Fault, RestServer};
use serde_json::{Value, json};

/// Quick about what is tried again.
const QUICK: &str = "'commit.retry.min-wait-ms' = '1', 'commit.status-check.min-wait-ms' = '1', \
     'commit.status-check.max-wait-ms' = '2', 'commit.status-check.num-retries' = '2'";

struct Fixture {
    server: RestServer,
    dir: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("folder");
        let server = RestServer::over(&dir.path().join("wh"));
        let fixture = Self { server, dir };
        let catalog = format!(
            "CREATE CATALOG ice WITH ('type'='iceberg', 'catalog-type'='rest', 'uri'='{}');\nUSE CATALOG ice;\n\
             CREATE DATABASE IF NOT EXISTS db;\nUSE db;\nSET 'execution.runtime-mode' = 'batch';\n",
            fixture.server.uri()
        );
        std::fs::write(fixture.path().join("init.sql"), catalog).expect("script");
        let (code, _) = fixture
            .run(&["-e", &format!("CREATE TABLE t (id INT) WITH ({QUICK}); CREATE TABLE u (id INT) WITH ({QUICK})")]);
        assert_eq!(code, 0);
        fixture.server.log();
        fixture
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn run(&self, args: &[&str]) -> (i32, Vec<Value>) {
        let mut command = calve();
        command.current_dir(self.path()).args(["-i", "init.sql", "--output", "jsonl"]).args(args);
        let Output { status, stdout, .. } = command.output().expect("run");
        let text = String::from_utf8(stdout).expect("UTF-8");
        let objects = text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
        (status.code().unwrap_or(-1), objects)
    }

    /// The error of a statement that fails with this exit code.
    fn fails(&self, args: &[&str], code: i32) -> Value {
        let (exit, objects) = self.run(args);
        let last = objects.last().expect("a result").clone();
        assert_eq!(exit, code, "{last}");
        last["error"].clone()
    }

    fn count(&self, table: &str) -> i64 {
        let (code, objects) = self.run(&["-e", &format!("SELECT COUNT(*) FROM {table}")]);
        let last = objects.last().expect("a result");
        assert_eq!(code, 0, "{last}");
        last["rows"][0][0].as_str().expect("a number").parse().expect("a number")
    }

    /// Runs the command that a hint names first.
    fn ask(&self, hint: &str) -> (i32, String) {
        let command = hint.lines().next().expect("a line").replacen("calve", common::CALVE, 1);
        let output =
            common::plain(Command::new("sh")).args(["-c", &command]).current_dir(self.path()).output().expect("run");
        (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).expect("UTF-8"))
    }

    fn data_files(&self) -> usize {
        common::tree(&self.path().join("wh")).iter().filter(|name| name.ends_with(".parquet")).count()
    }
}

/// Issue R22 of the public ones: the commit is accepted, and the answer is lost.
#[test]
fn an_answer_that_is_lost_is_looked_for() {
    let f = Fixture::new();
    for (n, fault) in
        [Fault::DoneBut(504), Fault::LoseReply, Fault::CutReply, Fault::LoseRequest].into_iter().enumerate()
    {
        f.server.trap("POST", "/tables/t", fault.clone());
        let (code, objects) = f.run(&["-e", "INSERT INTO t VALUES (1)"]);
        let last = objects.last().expect("a result");
        assert_eq!((code, &last["status"]), (0, &json!("ok")), "{fault:?}: {last}");
        assert_eq!((f.server.disarm(), f.count("t"), f.data_files()), (0, n as i64 + 1, n + 1), "{fault:?}");
    }
}

#[test]
fn an_unknown_outcome_says_how_to_ask_and_how_to_go_on() {
    for done in [true, false] {
        let f = Fixture::new();
        // from the commit on, the table cannot be loaded
        assert_eq!(f.run(&["-e", "INSERT INTO u VALUES (1)"]).0, 0);
        let targets = f.server.targets();
        let before = targets.iter().take_while(|t| !t.starts_with("POST")).filter(|t| t.contains("/tables/u")).count();
        f.server.trap("POST", "/tables/t", if done { Fault::LoseReply } else { Fault::LoseRequest });
        f.server.trap_times("GET", "/tables/t", before, Fault::Twice);
        f.server.trap_times("GET", "/tables/t", 1000, Fault::Refuse(403, "ForbiddenException"));
        std::fs::write(f.path().join("job.sql"), "-- a comment\nINSERT INTO t VALUES (1), (2);").expect("script");
        let error = f.fails(&["-f", "job.sql"], 3);
        assert_eq!(error["code"], "commit-unknown", "{error}");
        let hint = error["hint"].as_str().expect("a hint");
        assert!(hint.starts_with("calve verify-commit -i init.sql -i job.sql --job-id "), "{hint}");
        f.server.disarm();
        let (code, answer) = f.ask(hint);
        let words =
            if done { "committed: ice.db.t has snapshot " } else { "not committed: branch 'main' of ice.db.t " };
        assert!(answer.starts_with(words), "{answer}");
        assert_eq!(code, i32::from(!done));
        // and the way out
        let option = hint.split_whitespace().find(|word| word.starts_with("calve.job-id=")).expect("the option");
        let option = option.trim_end_matches(':');
        for _ in 0..2 {
            let (code, objects) = f.run(&["-D", option, "-f", "job.sql"]);
            assert_eq!(code, 0, "{objects:?}");
            assert_eq!(f.count("t"), 2);
        }
        assert_eq!(f.ask(hint).0, 0);
    }
}

/// A set is one transaction where the server has them.
#[test]
fn a_statement_set_is_one_transaction() {
    let f = Fixture::new();
    let set =
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (1); INSERT INTO u VALUES (2); INSERT INTO t VALUES (3); END";
    let posts = || f.server.targets().into_iter().filter(|t| t.starts_with("POST")).collect::<Vec<_>>();
    assert_eq!(f.run(&["-e", set]).0, 0);
    assert_eq!(posts(), ["POST /v1/transactions/commit"]);
    assert_eq!((f.count("t"), f.count("u"), f.count("t$snapshots")), (2, 1, 2));

    for fault in [Fault::LoseReply, Fault::DoneBut(502), Fault::LoseRequest] {
        let before = f.count("t");
        f.server.trap("POST", "/transactions/commit", fault.clone());
        assert_eq!(f.run(&["-e", set]).0, 0, "{fault:?}");
        assert_eq!((f.server.disarm(), f.count("t"), f.count("u")), (0, before + 2, before / 2 + 1), "{fault:?}");
    }
    // none of them
    let (before, files) = (f.count("t"), f.data_files());
    f.server.trap_times("POST", "/transactions/commit", 9, Fault::Refuse(409, "CommitFailedException"));
    let error = f.fails(&["-e", set], 2);
    assert_eq!(error["code"], "commit-conflict", "{error}");
    assert_eq!(error["message"], "cannot commit to tables 'db.t', 'db.u': others were faster");
    f.server.disarm();
    assert_eq!((f.count("t"), f.data_files()), (before, files), "the files are gone");
}

#[test]
fn a_set_goes_on_where_the_server_has_no_transactions() {
    let f = Fixture::new();
    let endpoints = ENDPOINTS.iter().filter(|e| !e.contains("transactions")).map(|e| (*e).to_owned()).collect();
    f.server.change(|settings| settings.endpoints = Some(endpoints));
    let set =
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (1); INSERT INTO u SELECT CAST(COUNT(*) AS INT) FROM t; END";
    f.server.trap("POST", "/tables/u", Fault::Refuse(403, "ForbiddenException"));
    let error = f.fails(&["-e", set], 3);
    assert_eq!(error["code"], "partial-commit", "{error}");
    let hint = error["hint"].as_str().expect("a hint");
    let option = hint.split_whitespace().find(|word| word.starts_with("calve.job-id=")).expect("the option");
    let option = option.trim_end_matches(':');
    let (code, objects) = f.run(&["-D", option, "-e", set]);
    let last = objects.last().expect("a result");
    assert_eq!((code, &last["warnings"][0]["code"]), (0, &json!("resumed")), "{last}");
    assert!(last["written"][0]["committed_before"].is_string() && last["written"][1].get("committed_before").is_none());
    assert_eq!((f.count("t"), f.count("u")), (1, 1));
    // u saw t as it was before
    let (_, objects) = f.run(&["-e", "SELECT id FROM u"]);
    assert_eq!(objects.last().expect("a result")["rows"], json!([["0"]]));
}
