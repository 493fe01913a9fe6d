//! The shell in a terminal, typed as a person would.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;
use std::process::Command;

use rexpect::process::{Signal, WaitStatus};
use rexpect::session::{Options, PtySession, spawn_with_options};

/// Milliseconds after which something that should be printed is missed.
const PATIENCE: u64 = 60_000;
const CTRL_C: char = 'c';
const CTRL_D: char = 'd';
const UP: &str = "\x1b[A";

/// A terminal of 80 x 24 in which `calve` runs.
struct Terminal(PtySession);

impl Terminal {
    /// Sees plain text.
    fn start(dir: &Path, arguments: &str, environment: &[(&str, &str)]) -> Self {
        Self::with(dir, arguments, environment, true)
    }

    /// Sees what a terminal sees.
    fn raw(dir: &Path, arguments: &str) -> Self {
        Self::with(dir, arguments, &[], false)
    }

    fn with(dir: &Path, arguments: &str, environment: &[(&str, &str)], plain: bool) -> Self {
        // the editor shows what is typed; without it, the terminal does
        let echo = if plain { "-echo" } else { "echo" };
        let mut command = Command::new("/bin/sh");
        command
            .arg("-c")
            .arg(format!("stty rows 24 cols 80 {echo}; exec '{}' {arguments}", common::CALVE))
            .current_dir(dir)
            .env("TERM", "xterm")
            .env("TZ", "UTC")
            .env("NO_COLOR", "1")
            .env("CALVE_HISTORY", dir.join("history"))
            .env("CALVE_PAGER", "sed 's/^/page> /'")
            .env_remove("LESS");
        for (name, value) in environment {
            command.env(name, value);
        }
        let options = Options::new().timeout_ms(Some(PATIENCE)).strip_ansi_escape_codes(plain);
        Self(spawn_with_options(command, options).expect("a terminal"))
    }

    /// Types text.
    fn keys(&mut self, text: &str) {
        self.0.send(text).expect("send");
        self.0.flush().expect("flush");
    }

    /// Types a line and the Enter key.
    fn line(&mut self, text: &str) {
        self.keys(&format!("{text}\r"));
    }

    fn control(&mut self, key: char) {
        self.0.send_control(key).expect("send");
    }

    /// Waits for output; what came before it.
    fn sees(&mut self, text: &str) -> String {
        self.0.exp_string(text).unwrap_or_else(|e| panic!("{text:?} does not come: {e}"))
    }

    fn leaves_with(mut self, status: i32) {
        self.0.exp_eof().expect("end");
        match self.0.process().wait().expect("wait") {
            WaitStatus::Exited(_, code) => assert_eq!(code, status),
            other => panic!("{other:?}"),
        }
    }
}

const CATALOG: &str =
    "CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'warehouse');";

#[test]
fn a_first_session() {
    let dir = tempfile::tempdir().expect("folder");
    let mut t = Terminal::start(dir.path(), "", &[]);
    t.sees("Enter 'HELP;' to list all available commands");
    t.sees("calve> ");
    t.line("help");
    t.sees("The following commands are available:");
    t.sees("BEGIN STATEMENT SET");
    t.line(CATALOG);
    t.sees("[INFO] Execute statement succeeded.");
    t.line("USE CATALOG ice; CREATE DATABASE shop; USE shop;");
    for _ in 0..3 {
        t.sees("[INFO] Execute statement succeeded.");
    }
    // several lines
    t.line("CREATE TABLE orders (");
    t.line("  id INT,");
    t.line("  city STRING");
    t.line(");");
    t.sees("[INFO] Execute statement succeeded.");
    t.line("INSERT INTO orders VALUES (1, 'Bern'), (2, 'Lyon');");
    t.sees("2 rows written to ice.shop.orders");
    // a misspelt column is pointed at, and the session goes on
    t.line("SELECT ctiy FROM orders;");
    t.sees("error[unknown-column]");
    t.sees("^^^^");
    t.sees("calve> ");
    // Tab completes a keyword, the table, and a column
    t.keys("sel\t* FROM or\t");
    t.line(" WHERE ci\t = 'Lyon';");
    t.sees("calve> select * FROM orders WHERE city");
    t.sees("|                           Lyon |");
    t.sees("Received a total of 1 row");
    t.line("quit;");
    t.sees("[INFO] Exiting calve...");
    t.leaves_with(0);
}

#[test]
fn every_line_of_one_write_runs_in_its_order() {
    let dir = tempfile::tempdir().expect("folder");
    let mut t = Terminal::start(dir.path(), "-D execution.runtime-mode=batch", &[]);
    t.sees("calve> ");
    // a terminal without brackets around what is pasted; more than the editor reads at once
    let lines: String = (0..60).map(|n| format!("SELECT 1000 + {n} AS x;\r")).collect();
    t.keys(&lines);
    for n in 1000..1060 {
        t.sees(&format!(" {n} |"));
    }
    // while a statement runs
    let ten = "(VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10))";
    let factors: Vec<String> = (0..7).map(|n| format!("{ten} AS t{n}(x{n})")).collect();
    t.keys(&format!("SELECT sum(x0) AS s FROM {};\rSELECT 2000 + 1 AS x;\r", factors.join(" CROSS JOIN ")));
    std::thread::sleep(std::time::Duration::from_millis(300));
    t.keys("SELECT 2000 + 2 AS x;\rSELECT\r2000 + 3 AS x;\rSELECT 2000 ");
    for n in ["55000000", "2001", "2002", "2003"] {
        t.sees(&format!(" {n} |"));
    }
    // an unfinished line waits for its end
    t.line("+ 4 AS x;");
    t.sees(" 2004 |");
    t.line("QUIT;");
    t.leaves_with(0);
}

#[test]
fn a_string_may_go_over_lines_that_end_with_a_semicolon() {
    let dir = tempfile::tempdir().expect("folder");
    let mut t = Terminal::start(dir.path(), "--output csv -D execution.runtime-mode=batch", &[]);
    t.sees("calve> ");
    for line in ["SELECT 'l1;", "l2;", "l3' AS x;"] {
        t.line(line);
    }
    t.sees("x\r\n\"l1;\r\nl2;\r\nl3\"\r\n");
    t.sees("calve> ");
    // the next statement is one of its own
    t.line("SELECT 40 + 2 AS answer;");
    t.sees("answer\r\n42\r\n");
    t.line("QUIT;");
    t.leaves_with(0);
}

#[test]
fn ctrl_c_cancels_the_statement_and_only_it() {
    let dir = tempfile::tempdir().expect("folder");
    let mut t = Terminal::start(dir.path(), "-D execution.runtime-mode=batch", &[]);
    t.sees("calve> ");
    let ten = "(VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10))";
    let factors: Vec<String> = (0..12).map(|n| format!("{ten} AS t{n}(x{n})")).collect();
    t.line(&format!("SELECT sum(x0 + x11) AS endless FROM {};", factors.join(" CROSS JOIN ")));
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    t.control(CTRL_C);
    t.sees("error[interrupted]");
    t.sees("calve> ");
    t.line("SELECT 41 + 1 AS answer;");
    t.sees("42");
    t.sees("1 row in set");
    t.sees("calve> ");
    // at the prompt it clears the input
    t.keys("SELECT nonsense");
    t.control(CTRL_C);
    t.sees("calve> ");
    t.line("SELECT 'fine' AS answer;");
    t.sees("| answer |");
    t.sees("fine");
    t.control(CTRL_D);
    t.sees("[INFO] Exiting calve...");
    t.leaves_with(0);
}

#[test]
fn the_progress_line_is_cleared_whole() {
    let dir = tempfile::tempdir().expect("folder");
    let ten = "(VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10))";
    let factors: Vec<String> = (0..12).map(|n| format!("{ten} AS t{n}(x{n})")).collect();
    let sql = format!("SELECT sum(x0 + x11) AS endless FROM {};", factors.join(" CROSS JOIN "));
    std::fs::write(dir.path().join("long.sql"), &sql).expect("write");
    let mut t = Terminal::raw(dir.path(), "run -D execution.runtime-mode=batch long.sql");
    t.sees("rows read");
    std::thread::sleep(std::time::Duration::from_millis(300));
    t.control(CTRL_C);
    let drawn = t.sees("error[interrupted]");
    // the terminal shows the key behind the line, in its row, and all of it is cleared
    let rows: Vec<_> = drawn.split("\r\x1b[J").collect();
    assert_eq!(rows.last(), Some(&""), "{drawn:?}");
    assert!(rows.iter().any(|row| row.ends_with("^C")), "{drawn:?}");
    assert!(rows.iter().all(|row| row.chars().count() < 80 && !row.contains('\n')), "{drawn:?}");
    t.leaves_with(130);
}

#[test]
fn a_result_that_is_larger_than_the_screen_goes_to_the_pager() {
    let dir = tempfile::tempdir().expect("folder");
    let mut t = Terminal::start(dir.path(), "-D execution.runtime-mode=batch", &[]);
    t.sees("calve> ");
    let rows = |n: usize| (1..=n).map(|n| format!("({n})")).collect::<Vec<_>>().join(", ");
    t.line(&format!("SELECT max(a) AS small FROM (VALUES {}) AS t(a);", rows(9)));
    assert!(!t.sees("1 row in set").contains("page>"));
    t.line(&format!("SELECT a FROM (VALUES {}) AS t(a);", rows(60)));
    t.sees("page> | ");
    t.sees("page> 60 rows in set");
    t.line("SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15;");
    t.sees("page> | EXPR$0 |");
    t.line("QUIT;");
    t.leaves_with(0);
}

#[test]
fn leaving_the_pager_ends_the_statement() {
    let dir = tempfile::tempdir().expect("folder");
    let mut t = Terminal::start(
        dir.path(),
        "-D execution.runtime-mode=batch",
        &[("PAGER", "head -5"), ("CALVE_PAGER", "head -5")],
    );
    t.sees("calve> ");
    let ten = "(VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10))";
    let factors: Vec<String> = (0..7).map(|n| format!("{ten} AS t{n}(x{n})")).collect();
    t.line(&format!("SELECT x0 FROM {};", factors.join(" CROSS JOIN ")));
    t.sees("| x0 |");
    t.sees("calve> ");
    t.line("SELECT 'on' AS goes;");
    t.sees("goes |");
    t.sees("on |");
    t.line("QUIT;");
    t.leaves_with(0);
}

#[test]
fn the_history_outlives_the_session() {
    let dir = tempfile::tempdir().expect("folder");
    let mut t = Terminal::start(dir.path(), "", &[]);
    t.sees("calve> ");
    t.line("SELECT");
    t.line("40 + 2 AS remembered;");
    t.sees("Received a total of 1 row");
    // commands that say nothing later on are not kept
    t.sees("calve> ");
    t.line("CLEAR;");
    t.sees("CLEAR;");
    t.sees("calve> ");
    t.line("exit");
    t.leaves_with(0);
    let mut t = Terminal::start(dir.path(), "", &[]);
    t.sees("calve> ");
    t.keys(UP);
    t.keys("\r");
    t.sees("42");
    t.sees("Received a total of 1 row");
    t.line("QUIT;");
    t.leaves_with(0);
}

#[test]
fn an_empty_name_keeps_no_history() {
    let dir = tempfile::tempdir().expect("folder");
    let mut t = Terminal::start(dir.path(), "--history ''", &[]);
    assert!(!t.sees("calve> ").contains("history"));
    t.line("SELECT 40 + 2 AS a;");
    t.sees("Received a total of 1 row");
    t.line("QUIT;");
    t.leaves_with(0);
    assert!(!dir.path().join("history").exists());
}

#[test]
fn a_history_that_cannot_be_written_breaks_nothing() {
    let dir = tempfile::tempdir().expect("folder");
    let mut t = Terminal::start(dir.path(), "--history /dev/null/history", &[]);
    t.sees("the history is not kept");
    t.sees("calve> ");
    t.line("SELECT 40 + 2 AS a;");
    t.sees("42");
    t.line("QUIT;");
    t.leaves_with(0);
}

#[test]
fn init_scripts_options_and_formats() {
    let dir = tempfile::tempdir().expect("folder");
    std::fs::write(
        dir.path().join("init.sql"),
        format!("{CATALOG}\nUSE CATALOG ice;\nCREATE DATABASE IF NOT EXISTS d;"),
    )
    .expect("write");
    let mut t = Terminal::start(dir.path(), "-i init.sql --output csv", &[]);
    t.sees("calve> ");
    t.line("SHOW DATABASES;");
    t.sees("database name\r\nd\r\n");
    t.line("SELECT 1; SELECT nope; SELECT 3;");
    t.sees("error[unknown-column]");
    t.sees("1 more statement was not run");
    t.control(CTRL_D);
    t.leaves_with(0);
    std::fs::write(dir.path().join("bad.sql"), "USE CATALOG nope;").expect("write");
    let mut t = Terminal::start(dir.path(), "-i bad.sql", &[]);
    t.sees("error[unknown-catalog]");
    t.leaves_with(2);
}

#[test]
fn statement_sets_go_over_inputs() {
    let dir = tempfile::tempdir().expect("folder");
    let mut t = Terminal::start(dir.path(), "", &[]);
    t.sees("calve> ");
    t.line("CREATE TABLE nothing (a INT) WITH ('connector' = 'blackhole');");
    t.sees("[INFO] Execute statement succeeded.");
    t.line("BEGIN STATEMENT SET;");
    t.sees("calve (statement set)> ");
    t.line("INSERT INTO nothing VALUES (1);");
    t.sees("calve (statement set)> ");
    t.line("END;");
    t.sees("1 row written to default_catalog.default_database.nothing");
    t.sees("calve> ");
    t.line("BEGIN STATEMENT SET;");
    t.sees("calve (statement set)> ");
    t.line("QUIT;");
    t.sees("had no END");
    t.leaves_with(0);
}

#[test]
fn a_request_to_end_is_heard_at_the_prompt() {
    for (signal, status) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let dir = tempfile::tempdir().expect("folder");
        let mut t = Terminal::start(dir.path(), "", &[]);
        t.sees("calve> ");
        t.0.process_mut().signal(signal).expect("signal");
        t.leaves_with(status);
    }
}

#[test]
fn a_dumb_terminal_will_do() {
    let dir = tempfile::tempdir().expect("folder");
    let mut t = Terminal::start(dir.path(), "", &[("TERM", "dumb")]);
    t.sees("calve> ");
    t.keys("SELECT\n");
    t.keys("40 + 2 AS a;\n");
    t.sees("42");
    t.sees("calve> ");
    t.keys("QUIT;\n");
    t.leaves_with(0);
}
