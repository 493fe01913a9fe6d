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
CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'rest');
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
