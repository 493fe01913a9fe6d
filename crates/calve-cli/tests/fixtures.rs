//! `calve test`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;

use common::calve;

struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// `calve test` with arguments, in a folder.
fn test(dir: &Path, args: &[&str]) -> Ran {
    let output = calve().current_dir(dir).arg("test").args(args).output().expect("run");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("folder");
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        std::fs::write(path, text).expect("write");
    }
    dir
}

fn read(dir: &Path, path: &str) -> String {
    std::fs::read_to_string(dir.join(path)).expect(path)
}

const LAKE: &str = "SET 'execution.runtime-mode' = 'batch';
CREATE CATALOG ice WITH ('type'='iceberg','catalog-type'='hadoop','warehouse'='${TMP}/warehouse');
CREATE DATABASE ice.shop; USE ice.shop;
CREATE TABLE t (id INT, s STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('write.upsert.enabled'='true');
INSERT INTO t VALUES (2, 'b'), (1, 'a');
INSERT INTO t VALUES (1, 'A');
";

#[test]
fn accept_records_and_the_next_run_passes() {
    let dir =
        folder(&[("t/one.sql", "SELECT 1 AS a;"), ("t/deep/er/two.sql", "SELECT 'é中' AS b;\r\nSELECT nope;\r\n")]);
    let ran = test(dir.path(), &["t"]);
    assert_eq!(ran.code, 64, "{}", ran.out);
    assert!(ran.err.contains("of 2 .sql files none has a .out"), "{}", ran.err);

    let ran = test(dir.path(), &["t", "--accept"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(
        ran.out,
        "recorded t/deep/er/two.out (2 statements, 1 of them an error)\nrecorded t/one.out (1 statement)\n2 passed, 0 failed\n"
    );
    assert_eq!(
        read(dir.path(), "t/deep/er/two.out"),
        "=== [1] SELECT 'é中' AS b\n--- schema: op\tb CHAR(2) NOT NULL\n+I\té中\n--- 1 row(s) unordered\n\
         === [2] SELECT nope\n--- ERROR unknown-column: column 'nope' not found\n--- via line 1, column 8\n\
         --- detail: Column 'nope' not found in any table\n"
    );
    let ran = test(dir.path(), &["t"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "2 passed, 0 failed\n", ""));
    // nothing to record any more
    assert_eq!(test(dir.path(), &["t", "--accept"]).out, "2 passed, 0 failed\n");
    // version control may change line ends
    let changed = read(dir.path(), "t/one.out").replace('\n', "\r\n");
    std::fs::write(dir.path().join("t/one.out"), changed).expect("write");
    assert_eq!(test(dir.path(), &["t"]).code, 0);
}

#[test]
fn a_difference_is_shown_and_healed() {
    let dir = folder(&[
        ("a.sql", "SELECT 1 AS n;\nVALUES (3), (2), (1);"),
        ("b.sql", "SELECT 2 AS n;"),
        ("new.sql", "SELECT 3"),
    ]);
    assert_eq!(test(dir.path(), &["a.sql", "b.sql", "--accept"]).code, 0);
    let out = read(dir.path(), "a.out").replace("+I\t2\n", "+I\t5\n");
    std::fs::write(dir.path().join("a.out"), &out).expect("write");
    let ran = test(dir.path(), &["."]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.err, "not run: ./new.sql has no .out; --accept records it\n");
    insta::assert_snapshot!(ran.out, @r"
    FAILED ./a.sql
    --- ./a.out
    +++ ./a.out, now
    @@ -5,6 +5,6 @@ === [2] VALUES (3), (2), (1)
     === [2] VALUES (3), (2), (1)
     --- schema: op	EXPR$0 INT NOT NULL
     +I	1
    -+I	5
    ++I	2
     +I	3
     --- 3 row(s) unordered

    1 passed, 1 failed
    ");
    assert_eq!(read(dir.path(), "a.out"), out, "nothing is written without --accept");
    let ran = test(dir.path(), &[".", "--accept"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "recorded ./a.out (2 statements)\nrecorded ./new.out (1 statement)\n3 passed, 0 failed\n")
    );
    assert_eq!(test(dir.path(), &["."]).out, "3 passed, 0 failed\n");
}

#[test]
fn each_test_has_a_session_and_a_folder_of_its_own() {
    // both make the same table in the same relative place
    let script = LAKE.replace("${TMP}/", "") + "SELECT * FROM t;";
    let dir = folder(&[("t/a.sql", &script), ("t/b.sql", &script), ("t/in.csv", "1,x\n")]);
    let ran = test(dir.path(), &["t", "--accept", "--jobs", "2"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let recorded = read(dir.path(), "t/a.out");
    assert!(recorded.contains("1\tA\n2\tb\n--- 2 row(s) unordered") && !recorded.contains("ERROR"), "{recorded}");
    assert_eq!(recorded, read(dir.path(), "t/b.out"));
    assert_eq!(common::tree(dir.path()), ["t/a.out", "t/a.sql", "t/b.out", "t/b.sql", "t/in.csv"]);
    assert_eq!(test(dir.path(), &["t"]).code, 0);
}

#[test]
fn ids_paths_and_times_are_masked() {
    let script = LAKE.to_owned()
        + "SELECT committed_at, snapshot_id, parent_id, manifest_list, summary FROM t$snapshots ORDER BY committed_at;
           SELECT file_path FROM t$files;
           SELECT snapshot_id AS renamed FROM t$snapshots ORDER BY committed_at;
           SELECT CURRENT_TIMESTAMP AS now, UUID() AS u, 9223372036854775807 AS own, TIMESTAMP '2024-01-01 00:00:00' AS ts;
           INSERT INTO t VALUES (4242424242424242424);
           CREATE CATALOG bad WITH ('type'='iceberg','catalog-type'='hadoop','warehouse'='${TMP}/it''s', 'x'='${DATA}');";
    let dir = folder(&[("it's here/a.sql", &script)]);
    assert_eq!(test(dir.path(), &["it's here", "--accept"]).code, 0);
    let recorded = read(dir.path(), "it's here/a.out");
    for line in [
        "<time>\t<snapshot 1>\t<NULL>\t${TMP}/warehouse/shop/t/metadata/",
        "<time>\t<snapshot 2>\t<snapshot 1>\t${TMP}/warehouse/shop/t/metadata/",
        "\n<snapshot 1>\n<snapshot 2>\n",
        "flink.job-id=<job>",
        "<time>\t<uuid>\t9223372036854775807\t2024-01-01 00:00:00\n",
        "'warehouse'='${TMP}/it''s', 'x'='${DATA}'",
    ] {
        assert!(recorded.contains(line), "{line}: {recorded}");
    }
    let ran = test(dir.path(), &["it's here"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
}

#[test]
fn only_selects_by_name() {
    let dir = folder(&[("a/orders.sql", "SELECT 1"), ("a/users.sql", "SELECT 1"), ("b/orders2.sql", "SELECT 1")]);
    assert_eq!(test(dir.path(), &[".", "--accept"]).out.lines().last(), Some("3 passed, 0 failed"));
    for (only, passed) in [(&["orders*"][..], 2), (&["a/*"], 2), (&["users", "orders2"], 2), (&["*"], 3)] {
        let args: Vec<_> = ["."].into_iter().chain(only.iter().flat_map(|o| ["--only", o])).collect();
        assert_eq!(test(dir.path(), &args).out, format!("{passed} passed, 0 failed\n"), "{only:?}");
    }
    let ran = test(dir.path(), &[".", "--only", "nothing"]);
    assert_eq!(ran.code, 64);
    assert!(ran.err.contains("no test in '.' matches 'nothing'"), "{}", ran.err);
}

#[test]
fn wrong_usage_is_64() {
    let dir = folder(&[("empty/readme.txt", "")]);
    for (args, words) in [
        (&[][..], "required"),
        (&["no/such/folder"], "cannot read 'no/such/folder'"),
        (&["empty"], "no tests in 'empty'"),
        (&["empty/readme.txt"], "neither a folder nor a .sql file"),
        (&["empty", "--jobs", "0"], "invalid value '0'"),
        (&["empty", "--timeout", "0"], "0 is not in 1.."),
    ] {
        let ran = test(dir.path(), args);
        assert_eq!(ran.code, 64, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    }
}

#[test]
fn what_cannot_run_fails_alone() {
    let dir = folder(&[("a.sql", "SELECT 1"), ("a.out", ""), ("b.sql", "SELECT 1"), ("c.sql", ""), ("c.out", "")]);
    std::fs::write(dir.path().join("a.sql"), b"SELECT '\xe9'").expect("write");
    assert_eq!(test(dir.path(), &["b.sql", "--accept"]).code, 0);
    let ran = test(dir.path(), &["."]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("FAILED ./a.sql\ncannot read script './a.sql': line 1 is not UTF-8"), "{}", ran.out);
    assert!(ran.out.ends_with("2 passed, 1 failed\n"), "{}", ran.out);
    // a test that cannot run is not recorded
    assert_eq!(test(dir.path(), &["a.sql", "--accept"]).code, 1);
    assert_eq!(read(dir.path(), "a.out"), "");

    std::fs::write(dir.path().join("init.sql"), "SELECT nope").expect("write");
    let ran = test(dir.path(), &["b.sql", "-i", "init.sql"]);
    assert!(ran.code == 1 && ran.out.contains("the script was not run:\nerror[unknown-column]"), "{}", ran.out);
}

#[test]
fn comments_before_statements_may_change() {
    let script = "-- first\nSELECT 1;\n/* second */\nSELECT nope;\n";
    let dir = folder(&[("a.sql", script)]);
    assert_eq!(test(dir.path(), &["a.sql", "--accept"]).code, 0);
    let recorded = read(dir.path(), "a.out");
    assert!(recorded.starts_with("=== [1] SELECT 1\n"), "{recorded}");
    assert!(
        recorded.contains(
            "=== [2] SELECT nope\n--- ERROR unknown-column: column 'nope' not found\n--- via line 1, column 8\n"
        ),
        "{recorded}"
    );
    let edited = script.replace("first", "the\n-- first").replace("/* second */\n", "-- another\n\n/* one */\n\n");
    std::fs::write(dir.path().join("a.sql"), edited).expect("write");
    let ran = test(dir.path(), &["a.sql"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
}

#[test]
fn a_statement_set_without_end_is_no_result() {
    let sql = "CREATE TABLE p (n INT) WITH ('connector' = 'print'); BEGIN STATEMENT SET; INSERT INTO p VALUES (1);";
    let dir = folder(&[("a.sql", sql)]);
    let ran = test(dir.path(), &["a.sql", "--accept"]);
    assert_eq!(ran.code, 1);
    let why = "FAILED a.sql\nthe script did not run to its end:\nwarning[open-statement-set]";
    assert!(ran.out.starts_with(why), "{}", ran.out);
}

#[test]
fn a_test_that_hangs_is_ended() {
    let numbers: Vec<_> = (0..1_000).map(|n| format!("({n})")).collect();
    let numbers = format!("(VALUES {})", numbers.join(","));
    let slow =
        format!("SELECT COUNT(*) FROM {numbers} AS a(x), {numbers} AS b(y), {numbers} AS c(z), {numbers} AS d(w)");
    let dir = folder(&[("slow.sql", &slow), ("slow.out", "x"), ("quick.sql", "SELECT 1")]);
    assert_eq!(test(dir.path(), &["quick.sql", "--accept"]).code, 0);
    let ran = test(dir.path(), &[".", "--timeout", "1", "--jobs", "1"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("FAILED ./slow.sql\nnot done after 1 seconds"), "{}", ran.out);
    assert!(ran.out.ends_with("1 passed, 1 failed\n"), "{}", ran.out);
}

#[test]
fn a_script_may_run_before_every_test() {
    let init = LAKE.replace("USE ice.shop;", "") + "USE CATALOG default_catalog;";
    let init = init.replace("TABLE t", "TABLE ice.shop.t").replace("INTO t", "INTO ice.shop.t");
    let dir = folder(&[("init.sql", &init), ("t.sql", "SELECT * FROM ice.shop.t")]);
    let ran = test(dir.path(), &[".", "-i", "init.sql", "-D", "execution.runtime-mode=batch", "--accept"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "recorded ./t.out (1 statement)\n1 passed, 0 failed\n"),
        "{}",
        ran.err
    );
    assert!(read(dir.path(), "t.out").contains("1\tA\n2\tb\n"));
    assert_eq!(common::tree(dir.path()), ["init.sql", "t.out", "t.sql"], "the script of -i is no test");
}

#[test]
fn ci_servers_get_a_report() {
    let dir = folder(&[("a.sql", "SELECT 1"), ("sub/b.sql", "SELECT 2"), ("sub/b.out", "=== [1] SELECT <3>\n")]);
    assert_eq!(test(dir.path(), &["a.sql", "--accept"]).code, 0);
    let ran = test(dir.path(), &[".", "--junit", "report.xml"]);
    assert_eq!(ran.code, 1);
    let report = read(dir.path(), "report.xml");
    assert!(report.contains(r#"tests="2" skipped="0" failures="1" errors="0""#), "{report}");
    assert!(report.contains(r#"<testcase name="a""#) && report.contains(r#"<testcase name="sub/b""#), "{report}");
    assert!(report.contains("-=== [1] SELECT &lt;3&gt;"), "{report}");
    assert!(
        report.contains("\n---- schema: op    EXPR$0 INT NOT NULL\n") || report.contains("+--- schema: op    EXPR$0"),
        "{report}"
    );
    // a report that cannot be written is told before the tests run
    let ran = test(dir.path(), &[".", "--junit", "no/such/report.xml"]);
    let why = "calve: cannot write 'no/such/report.xml': No such file or directory (os error 2)\n";
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (64, "", why));
}

#[test]
fn the_example_project_passes() {
    let examples = common::sql_tests().join("../examples");
    let ran = test(&examples, &["pipeline"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "2 passed, 0 failed\n"), "{}", ran.err);
}
