#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use calve_engine::{Session, SessionConfig};
use tokio::runtime::Handle;

use super::*;

/// A session with some tables.
async fn completion() -> Completion {
    let mut session = Session::new(SessionConfig::default()).unwrap();
    let script = "
        CREATE TABLE orders (id INT, `order` STRING, amount DECIMAL(10, 2)) WITH ('connector' = 'blackhole');
        CREATE TABLE `odd name` (x INT) WITH ('connector' = 'blackhole');
        CREATE TEMPORARY VIEW cheap AS SELECT 1 AS cheap_id;
        CREATE DATABASE shop;
        CREATE TABLE shop.customers (id INT, city STRING) WITH ('connector' = 'blackhole');";
    for statement in calve_sql::split(script) {
        session.execute(&statement).await.unwrap();
    }
    Completion::new(Names::new(session.names(), Handle::current()))
}

/// The replacements at the `|` of a text.
fn at(completion: &Completion, text: &str) -> Vec<String> {
    let cursor = text.find('|').unwrap();
    let (_, pairs) = completion.candidates(&text.replacen('|', "", 1), cursor);
    pairs.into_iter().map(|pair| pair.replacement).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_found_where_they_belong() {
    let c = completion().await;
    assert_eq!(at(&c, "SELECT * FROM ord|"), ["orders"]);
    assert_eq!(at(&c, "SELECT * FROM ORD|"), ["orders"]);
    assert_eq!(at(&c, "SELECT * FROM odd|"), ["`odd name`"]);
    assert_eq!(at(&c, "SELECT * FROM `o|"), ["`odd name`", "`orders`"]);
    assert_eq!(at(&c, "SELECT * FROM sh|"), ["shop."]);
    assert_eq!(at(&c, "SELECT * FROM shop.|"), ["customers"]);
    assert_eq!(at(&c, "SELECT * FROM default_catalog.shop.c|"), ["customers"]);
    assert_eq!(at(&c, "SELECT * FROM default_catalog.|"), ["default_database.", "shop."]);
    assert_eq!(at(&c, "SELECT * FROM ch|"), ["cheap"]);
    assert_eq!(at(&c, "SELECT che| FROM cheap"), ["cheap_id", "cheap."]);
    assert_eq!(
        at(&c, "SELECT * FROM |"),
        ["cheap", "`odd name`", "orders", "default_database.", "shop.", "default_catalog."]
    );
    assert_eq!(at(&c, "WITH q AS (SELECT 1) SELECT * FROM q|"), ["q"]);
    assert_eq!(at(&c, "USE s|"), ["shop"]);
    assert_eq!(at(&c, "USE CATALOG |"), ["default_catalog"]);
    assert_eq!(at(&c, "DROP TABLE or|"), ["orders"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_those_of_the_statements_tables() {
    let c = completion().await;
    assert_eq!(at(&c, "SELECT | FROM orders"), ["id", "`order`", "amount", "orders."]);
    assert_eq!(at(&c, "SELECT am| FROM orders"), ["amount"]);
    assert_eq!(at(&c, "SELECT o.| FROM orders AS o, shop.customers c"), ["id", "`order`", "amount"]);
    assert_eq!(at(&c, "SELECT c.ci| FROM orders AS o, shop.customers c"), ["city"]);
    assert_eq!(at(&c, "SELECT customers.ci| FROM shop.customers"), ["city"]);
    assert_eq!(at(&c, "SELECT nobody.| FROM orders"), Vec::<String>::new());
    assert_eq!(at(&c, "INSERT INTO shop.customers (id, |"), ["id", "city"]);
    assert_eq!(at(&c, "SELECT * FROM orders WHERE a|").first().unwrap(), "amount");
}

#[tokio::test(flavor = "multi_thread")]
async fn words_take_the_case_that_is_typed() {
    let c = completion().await;
    assert_eq!(at(&c, "sel|"), ["select "]);
    assert_eq!(at(&c, "SEL|"), ["SELECT "]);
    assert_eq!(at(&c, "SELECT 1 UNI|"), ["UNION ", "UNION ALL "]);
    assert!(at(&c, "SELECT coun|").contains(&"count(".to_owned()));
    assert!(at(&c, "SELECT COUN|").contains(&"COUNT(".to_owned()));
    assert_eq!(at(&c, "CREATE TABLE t (a var|"), ["varbinary", "varchar"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn options_and_their_values() {
    let c = completion().await;
    assert_eq!(at(&c, "SET 'execution.run|"), ["'execution.runtime-mode'"]);
    assert_eq!(at(&c, "SET 'execution.run|'"), ["'execution.runtime-mode"]);
    assert_eq!(at(&c, "SET 'execution.runtime-mode' = '|"), ["'streaming'", "'batch'"]);
    assert_eq!(at(&c, "SET 'table.dml-sync' = '|'"), ["'true", "'false"]);
    assert_eq!(at(&c, "CREATE CATALOG c WITH ('ty|"), ["'type'"]);
    assert_eq!(at(&c, "CREATE CATALOG c WITH ('type' = 'i|"), ["'iceberg'"]);
    assert_eq!(at(&c, "CREATE TABLE t (a INT) WITH ('conn|"), ["'connector'"]);
    assert_eq!(at(&c, "CREATE TABLE t (a INT) WITH ('connector' = '|").len(), CONNECTORS.len());
    assert_eq!(at(&c, "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'p|"), ["'parquet'"]);
    assert!(at(&c, "SELECT * FROM orders /*+ OPTIONS('snap|").contains(&"'snapshot-id'".to_owned()));
    let filesystem = at(&c, "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', '|");
    assert!(filesystem.contains(&"'path'".to_owned()) && filesystem.contains(&"'csv.field-delimiter'".to_owned()));
    assert!(!filesystem.contains(&"'rows-per-second'".to_owned()));
    let datagen = at(&c, "CREATE TABLE t (a INT) WITH ('connector' = 'datagen', '|");
    assert!(datagen.contains(&"'number-of-rows'".to_owned()) && datagen.contains(&"'fields.".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_continues_or_lists() {
    let c = completion().await;
    let step = |text: &str| c.step(text, text.len());
    assert_eq!(step("SELECT * FROM ord"), Step::Replace(14, "orders".to_owned()));
    assert_eq!(step("SELECT * FROM orders"), Step::Nothing);
    assert_eq!(step("SELECT * FROM nothing"), Step::Nothing);
    assert_eq!(step("SELECT * FROM default_catalog."), Step::List(vec!["default_database.".into(), "shop.".into()]));
    assert_eq!(step("SELECT * FROM de"), Step::Replace(14, "default_".to_owned()));
    assert_eq!(step("SELECT * FROM default_"), Step::List(vec!["default_database.".into(), "default_catalog.".into()]));
    assert_eq!(step("SET 'sql-c"), Step::Replace(4, "'sql-client.".to_owned()));
}
