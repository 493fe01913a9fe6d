//! Commits through a REST catalog whose answers go wrong: what a user sees, and what helps.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "../../calve-iceberg/tests/rest_server/mod.rs"]
mod rest_server;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::calve;
use rest_server::{ENDPOINTS, Fault, Gate, RestServer};
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

/// ALTER CATALOG asks the server at once, as CREATE CATALOG does; a catalog whose server does not answer stays as it was.
#[test]
fn an_altered_catalog_is_asked_at_once() {
    let f = Fixture::new();
    let other = RestServer::over(&f.path().join("other"));
    let gone = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port");
    let alter = |uri: &str| format!("ALTER CATALOG ice SET ('uri' = '{uri}', 'rest.client.max-retries' = '0');");
    let error = f.fails(&["-e", &alter(&format!("http://{gone}"))], 2);
    assert_eq!(error["code"], "io", "{error}");
    let message = error["message"].as_str().expect("a message");
    assert!(
        message.starts_with("cannot connect to catalog 'ice': ") && message.contains("cannot be reached"),
        "{error}"
    );
    let script = format!("{} SELECT COUNT(*) FROM t;", alter(&format!("http://{gone}")));
    let (_, objects) = f.run(&["--keep-going", "-e", &script]);
    assert_eq!(objects.last().expect("a result")["rows"], json!([["0"]]), "it is as it was");
    f.server.log();
    let (code, _) = f.run(&["-e", &alter(&other.uri())]);
    assert_eq!((code, other.targets()), (0, vec!["GET /v1/config".to_owned()]));
}

/// What goes wrong with a server while rows are written: an error in time, and the table as it was.
#[test]
fn credentials_that_expire_and_servers_that_fall_silent() {
    let f = Fixture::new();
    let quick = "ALTER CATALOG ice SET ('rest.client.socket-timeout-ms' = '1000', 'rest.client.max-retries' = '1');";
    let insert = format!("{quick} INSERT INTO t VALUES (1);");
    let begun = Instant::now();
    let long = Duration::from_secs(60);
    for (method, fault, words) in [
        // nothing of the rows is sent before the table is loaded
        ("GET", Fault::Silence(long), "did not answer within 1 s"),
        ("GET", Fault::Trickle(Duration::from_secs(3)), "did not answer within 1 s"),
        ("GET", Fault::Refuse(401, "NotAuthorizedException"), "answered 401 Unauthorized"),
        ("POST", Fault::Refuse(401, "NotAuthorizedException"), "answered 401 Unauthorized"),
        ("POST", Fault::Refuse(419, "AuthenticationTimeoutException"), "answered 419"),
        ("POST", Fault::Silence(long), "did not answer within 1 s"),
    ] {
        f.server.trap_times(method, "/tables/t", 99, fault.clone());
        // a commit that nobody answered, on a server that answers nothing else either, is not known
        let code = if method == "POST" && words.contains("did not") { 3 } else { 2 };
        let error = f.fails(&["-e", &insert], code);
        f.server.disarm();
        let shown = error.to_string();
        assert!(shown.contains(words) && !error["hint"].is_null(), "{fault:?}: {shown}");
        assert_eq!(f.count("t"), 0, "{fault:?}");
        if code == 2 {
            assert_eq!(f.data_files(), 0, "{fault:?}: nothing is left");
        }
    }
    assert!(begun.elapsed() < long, "{:?}", begun.elapsed());
    assert_eq!(f.run(&["-e", "INSERT INTO t VALUES (1)"]).0, 0);
    assert_eq!(f.count("t"), 1);
}

/// A change that a signal came too late for is waited for, and told as it is; a second signal ends the wait.
#[test]
fn an_interrupted_change_says_what_became_of_it() {
    let f = Fixture::new();
    let interrupt = |statement: &str, signals: usize| {
        let (arrived, open) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let wait = |flag: &AtomicBool| {
            let begun = Instant::now();
            while !flag.load(Ordering::SeqCst) && begun.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        let (here, opened) = (arrived.clone(), open.clone());
        let gate = Gate::new(move || {
            here.store(true, Ordering::SeqCst);
            wait(&opened);
        });
        let method = if statement.starts_with("DROP") { "DELETE" } else { "POST" };
        let target = if statement.starts_with("CREATE") { "/namespaces/db/tables" } else { "/tables/" };
        f.server.trap(method, target, Fault::DoneHold(gate));
        let mut command = calve();
        command.current_dir(f.path()).args(["-i", "init.sql", "--output", "jsonl", "-e", statement]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("spawn");
        wait(&arrived);
        for _ in 0..signals {
            let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
            assert!(killed.success());
            std::thread::sleep(Duration::from_millis(300));
        }
        open.store(signals == 1, Ordering::SeqCst);
        let status = common::wait_for(&mut child, Duration::from_secs(15)).expect("it ends");
        open.store(true, Ordering::SeqCst);
        f.server.disarm();
        let output = child.wait_with_output().expect("output");
        let last = String::from_utf8(output.stdout).expect("UTF-8").lines().last().expect("a result").to_owned();
        (status.code(), serde_json::from_str::<Value>(&last).expect("JSON")["error"].clone())
    };
    let through = "Its change had begun and went through: it is made.";
    for statement in
        ["ALTER TABLE t SET ('a' = 'b')", "ALTER TABLE u RENAME TO w", "DROP TABLE w", "CREATE TABLE x (id INT)"]
    {
        let (code, error) = interrupt(statement, 1);
        assert_eq!((code, error["code"].as_str()), (Some(130), Some("interrupted")), "{statement}: {error}");
        assert_eq!(error["detail"], through, "{statement}");
    }
    let (_, objects) = f.run(&["-e", "SHOW TABLES; SHOW CREATE TABLE t"]);
    assert_eq!(objects[0]["rows"], json!([["t"], ["x"]]));
    assert!(objects[1]["rows"][0][0].as_str().expect("text").contains("'a' = 'b'"));
    let (code, error) = interrupt("ALTER TABLE t SET ('a' = 'c')", 2);
    assert_eq!((code, error["code"].as_str()), (Some(3), Some("commit-unknown")), "{error}");
    let message = "the statement was interrupted, and left before its end was known: a second signal came";
    assert_eq!(error["message"], message);
}

/// Whoever looks sees no table, or all of its rows.
#[test]
fn a_table_is_created_with_its_rows() {
    let f = Fixture::new();
    let made = f.run(&["-e", "CREATE TABLE c AS SELECT * FROM (VALUES (1), (2)) AS s (a)"]);
    assert_eq!(made.0, 0, "{made:?}");
    let versions = f.run(&["-e", "SELECT file FROM c$metadata_log_entries"]).1;
    assert_eq!((f.count("c"), versions[0]["rows"].as_array().expect("rows").len()), (2, 1), "{versions:?}");
    let empty = f.run(&["-e", "CREATE TABLE e AS SELECT * FROM (VALUES (1), (2)) AS s (a) WHERE a > 2"]);
    assert_eq!((empty.0, f.count("e")), (0, 0));
    let error = f.fails(&["-e", "CREATE TABLE x AS SELECT CAST(a AS INT) AS b FROM (VALUES ('1'), ('y')) AS s (a)"], 2);
    assert_eq!(error["code"], "cast-failed", "{error}");
    let error = f.fails(&["-e", "CREATE TABLE c AS SELECT 1 AS a"], 2);
    assert_eq!(error["code"], "table-exists", "{error}");
    // the answer to the commit is lost, or it does not get there
    for fault in [Fault::DoneBut(504), Fault::LoseReply, Fault::CutReply, Fault::LoseRequest] {
        f.server.trap("POST", "/tables/y", fault.clone());
        let (code, objects) = f.run(&["-e", "CREATE TABLE y AS SELECT 7 AS a"]);
        assert_eq!((f.server.disarm(), code), (0, 0), "{fault:?}: {objects:?}");
        assert_eq!(f.count("y"), 1, "{fault:?}");
        assert_eq!(f.run(&["-e", "DROP TABLE y"]).0, 0);
    }
    // a server that knows nothing of it
    f.server.trap("POST", "/namespaces/db/tables", Fault::Refuse(400, "BadRequestException"));
    assert_eq!((f.run(&["-e", "CREATE TABLE z AS SELECT 7 AS a"]).0, f.count("z")), (0, 1));
    let (_, objects) = f.run(&["-e", "SHOW TABLES"]);
    assert_eq!(objects[0]["rows"], json!([["c"], ["e"], ["t"], ["u"], ["z"]]));
    assert_eq!(f.data_files(), 2, "nothing else is left");
}
