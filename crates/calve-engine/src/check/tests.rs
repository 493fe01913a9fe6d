#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

async fn check_with(config: CheckConfig, script: &str) -> Vec<Finding> {
    let mut checker = Checker::new(config).unwrap();
    let mut found = vec![];
    for statement in calve_sql::split(script) {
        found.extend(checker.statement(&statement).await);
    }
    found.extend(checker.end());
    found
}

async fn check(script: &str) -> Vec<Finding> {
    check_with(CheckConfig::default(), script).await
}

fn told(found: &[Finding]) -> Vec<String> {
    let place = |f: &Finding| format!("{}:{} {} {}", f.span.start.line, f.span.start.column, f.severity.word(), f.code);
    found.iter().map(place).collect()
}

#[tokio::test]
async fn all_faults_of_a_script_are_told() {
    let script = "SELECT x;\nSELECT nope(1);\n\nSELEC 1;\nSELECT 'a' +\n  y FROM (VALUES (1)) AS t(y);\nSELECT 1;";
    let found = check(script).await;
    assert_eq!(
        told(&found),
        [
            "1:8 error unknown-column",
            "2:8 error unknown-function",
            "4:1 error syntax-error",
            "5:8 error invalid-argument"
        ]
    );
}

#[tokio::test]
async fn what_a_failed_statement_would_define_is_not_missed_again() {
    let script = "CREATE TABLE t (a INTEGR);
CREATE VIEW v AS SELECT * FROM t;
INSERT INTO v SELECT * FROM t;
CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'hive');
USE CATALOG c;
CREATE DATABASE d;
CREATE TABLE d.s (a INT);
SELECT b FROM d.s;
SELECT * FROM c.d.elsewhere;
USE nowhere;
CREATE TABLE q (a INT);
SELECT * FROM q;
SELECT * FROM default_catalog.default_database.other;";
    let found = check(script).await;
    let told = told(&found);
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[0].starts_with("1:"), "{told:?}");
    assert_eq!(told[1..], ["4:16 error not-supported", "8:8 error unknown-column", "13:15 error unknown-table"]);
}

#[tokio::test]
async fn nothing_is_made_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("lake");
    let script = format!(
        "CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{}');
USE CATALOG lake;
CREATE DATABASE d;
USE d;
CREATE TABLE t (a INT);
INSERT INTO t SELECT 1;
CREATE TABLE u AS SELECT a FROM t;
INSERT INTO u SELECT a + 1 FROM t;
SELECT * FROM u;
SELECT * FROM t$snapshots;
DROP TABLE t;
SELECT * FROM t;",
        folder.display()
    );
    let found = check(&script).await;
    assert_eq!(told(&found), ["12:15 error unknown-table"]);
    assert!(!folder.exists());
}

#[tokio::test]
async fn offline_the_script_is_the_truth() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{}');
USE CATALOG lake;
USE shop;
CREATE TABLE orders (id INT, name STRING);
INSERT INTO orders SELECT id, name FROM customers;
INSERT INTO orders SELECT nr, name FROM customers;
SELECT nam FROM orders;
SELECT * FROM order;
SELECT * FROM ordrs;
DROP TABLE others;
DESCRIBE more;",
        dir.path().display()
    );
    let config = CheckConfig { offline: true, ..CheckConfig::default() };
    assert_eq!(
        told(&check_with(config, &script).await),
        [
            "5:41 warning undefined-table",
            "7:8 error unknown-column",
            "8:15 error syntax-error",
            "9:15 error unknown-table",
            "11:10 warning undefined-table"
        ]
    );
}

#[tokio::test]
async fn a_failed_alter_leaves_the_table_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{}');
CREATE DATABASE lake.d;
USE lake.d;
CREATE TABLE t (id INT, c STRING);
ALTER TABLE t MODIFY id STRING;
SELECT nosuch FROM t;
INSERT INTO t SELECT 1;
ALTER TABLE t ADD (x INTEGR, y INT);
SELECT x, t.`y` FROM t;
INSERT INTO t SELECT 1, 'a', 2, 3;
SELECT nosuch FROM t;
ALTER TABLE t RENAME TO u v;
SELECT nosuch FROM t;
SELECT id FROM u;",
        dir.path().display()
    );
    assert_eq!(
        told(&check(&script).await),
        [
            "5:13 error invalid-alter",
            "6:8 error unknown-column",
            "7:15 error sink-mismatch",
            "8:22 error unknown-type",
            "11:8 error unknown-column",
            "12:27 error syntax-error",
            "13:8 error unknown-column"
        ]
    );
}

#[tokio::test]
async fn what_was_defined_after_all_is_checked() {
    let script = "CREATE TABLE t (a INTEGR);
CREATE TABLE t (a INT);
SELECT b FROM t;";
    let told = told(&check(script).await);
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[1], "3:8 error unknown-column");
}

#[tokio::test]
async fn snapshots_of_tables_that_the_script_fills_are_not_judged() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{}');
CREATE DATABASE lake.d;
USE lake.d;
CREATE TABLE t (id INT, c STRING);
SELECT * FROM t /*+ OPTIONS('branch'='b1') */;
INSERT INTO t /*+ OPTIONS('branch'='b1') */ VALUES (2, 'b');
SELECT * FROM t /*+ OPTIONS('branch'='b1') */;
SELECT * FROM t /*+ OPTIONS('tag'='t1') */;
SELECT * FROM t /*+ OPTIONS('snapshot-id'='5') */;
SELECT * FROM t /*+ OPTIONS('as-of-timestamp'='4070908800000') */;
SELECT * FROM t$files /*+ OPTIONS('branch'='b1') */;
CREATE TABLE u AS SELECT id FROM t /*+ OPTIONS('branch'='b1') */;
SELECT c FROM u /*+ OPTIONS('branch'='b1') */;
SELECT nosuch FROM t /*+ OPTIONS('branch'='b1') */;
SELECT * FROM t /*+ OPTIONS('as-of-timestamp'='soon') */;
ALTER TABLE t SET ('current-snapshot-id' = '5');
SELECT id FROM t;",
        dir.path().display()
    );
    let wrong = ["13:8 error unknown-column", "14:8 error unknown-column", "15:15 error invalid-option"];
    let before = ["5:15 error unknown-ref"];
    assert_eq!(told(&check(&script).await), [&before[..], &wrong].concat());
    let config = CheckConfig { offline: true, ..CheckConfig::default() };
    assert_eq!(told(&check_with(config, &script).await), wrong);
}

#[tokio::test]
async fn a_picked_snapshot_is_checked_without_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let create = format!(
        "CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{}')",
        dir.path().display()
    );
    let mut session = Session::new(SessionConfig::default()).unwrap();
    for sql in [
        create.as_str(),
        "CREATE TABLE lake.d.t (id INT)",
        "INSERT INTO lake.d.t VALUES (1)",
        "INSERT INTO lake.d.t /*+ OPTIONS('branch'='b') */ VALUES (2)",
        "INSERT INTO lake.d.t VALUES (3)",
    ] {
        session.run(calve_sql::parse_one(sql).unwrap()).await.unwrap();
    }
    let entry = session.catalogs.get("lake").unwrap();
    let CatalogKind::Iceberg(catalog) = &entry.kind else { panic!("no Iceberg catalog") };
    let table = catalog.load_table(&catalog.ident("d", "t").unwrap()).await.unwrap().unwrap();
    let picked = table.metadata().snapshot_for_ref("b").unwrap().snapshot_id();
    let files = || std::fs::read_dir(dir.path().join("d/t/metadata")).unwrap().count();
    let before = files();
    let script = format!(
        "{create};
ALTER TABLE lake.d.t SET ('cherry-pick-snapshot-id' = '{picked}');
ALTER TABLE lake.d.t SET ('cherry-pick-snapshot-id' = '5');"
    );
    assert_eq!(told(&check(&script).await), ["3:13 error unknown-snapshot"]);
    assert_eq!(files(), before);
}

#[tokio::test]
async fn an_open_statement_set_is_told_where_it_begins() {
    let script = "SELECT 1;\n\n  BEGIN STATEMENT SET;\nSELECT 2;";
    assert!(told(&check(script).await).contains(&"3:3 warning open-statement-set".to_owned()));
    assert_eq!(told(&check("BEGIN STATEMENT SET;\nEND;").await), [""; 0]);
}

#[tokio::test]
async fn a_catalog_that_failed_can_be_made() {
    let script = "CREATE CATALOG c WITH ('type' = 'nothing');
ALTER CATALOG c SET ('k' = 'v');
CREATE CATALOG c WITH ('type' = 'generic_in_memory', 'nothing' = 'v');
CREATE CATALOG c WITH ('type' = 'generic_in_memory');
CREATE CATALOG c WITH ('type' = 'generic_in_memory');
SELECT * FROM c.`default`.t;
USE CATALOG nowhere;
ALTER CATALOG nowhere SET ('k' = 'v');";
    assert_eq!(
        told(&check(script).await),
        [
            "1:16 error unknown-catalog-type",
            "3:16 error invalid-option",
            "5:16 error catalog-exists",
            "6:15 error unknown-table",
            "7:13 error unknown-catalog"
        ]
    );
}
