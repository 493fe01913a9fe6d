//! What is printed is what Flink prints, and has the meaning of what was printed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use sqlparser::ast;

use super::{Printer, Style};
use crate::{Query, Statement, parse_one, print};

/// Queries, and what Flink's SHOW CREATE VIEW answers for views of them.
const VIEWS: &str = include_str!("../../tests/views.sql");
/// Expressions, and what Flink's SHOW CREATE TABLE answers for columns computed by them.
const COLUMNS: &str = include_str!("../../tests/columns.sql");

fn entries(file: &str) -> Vec<(&str, &str)> {
    let entry = |entry: &'static str| {
        let (source, printed) = entry.trim_start().split_once("\n--=\n").unwrap();
        (source, printed.trim_end())
    };
    let file: &'static str = if file == VIEWS { VIEWS } else { COLUMNS };
    file.split("--#").skip(1).map(entry).collect()
}

fn query(text: &str) -> Query {
    match parse_one(text) {
        Ok(Statement::Query(query)) => query,
        other => panic!("{text}: {other:?}"),
    }
}

/// The query with parentheses around everything, which tells how its tree is built.
fn structure(query: &Query) -> String {
    let mut printer = Printer::new(Style::View, Some(&query.hints));
    printer.enclose = true;
    printer.query(&query.ast);
    printer.out
}

fn check(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn printed_queries_mean_what_was_written() {
    let mut wrong = vec![];
    for (source, _) in entries(VIEWS) {
        let written = query(source);
        let printed = print::query(&written);
        let again = query(&printed);
        if structure(&written) != structure(&again) || print::query(&again) != printed {
            wrong.push(format!("{source}\n{printed}\n{}\n{}", structure(&written), structure(&again)));
        }
    }
    check(&wrong);
}

#[test]
fn queries_are_printed_as_flink_does() {
    let mut wrong = vec![];
    for (_, flink) in entries(VIEWS) {
        let printed = print::query(&query(flink));
        if printed != flink {
            wrong.push(format!("flink: {flink}\ncalve: {printed}"));
        }
    }
    check(&wrong);
}

#[test]
fn computed_columns_are_printed_as_flink_does() {
    let mut wrong = vec![];
    for (source, flink) in entries(COLUMNS) {
        let query = query(&format!("SELECT {source}"));
        let ast::SetExpr::Select(select) = query.ast.body.as_ref() else { panic!("{source}") };
        let [ast::SelectItem::UnnamedExpr(expr)] = select.projection.as_slice() else { panic!("{source}") };
        let printed = print::expr(expr);
        if printed != flink {
            wrong.push(format!("{source}\nflink: {flink}\ncalve: {printed}"));
        }
    }
    check(&wrong);
}

#[test]
fn table_functions() {
    let text = "SELECT `a`, `x`\nFROM `t`,\nLATERAL TABLE(`f`(`a`)) AS `s` (`x`)\nLEFT JOIN LATERAL TABLE(`g`(`x`)) AS `u` (`y`) ON TRUE";
    assert_eq!(print::query(&query(text)), text);
    assert_eq!(print::query(&query(&text.replace('`', ""))), text);
}

#[test]
fn deep_trees() {
    let ands = format!("SELECT a FROM t WHERE {}", vec!["a = 1"; 900].join(" AND "));
    assert!(print::query(&query(&ands)).len() > ands.len());
    let nested = format!("SELECT {}1{}", "(1 + ".repeat(60), ")".repeat(60));
    assert_eq!(structure(&query(&print::query(&query(&nested)))), structure(&query(&nested)));
}

#[test]
fn numbers() {
    for (written, printed) in [
        ("007", "7"),
        ("0", "0"),
        ("1.", "1"),
        (".5", "0.5"),
        ("0.10", "0.10"),
        ("1e3", "1E3"),
        ("1e+3", "1E3"),
        ("12.34e5", "1.234E6"),
        ("1.5E-3", "1.5E-3"),
        ("0e0", "0E0"),
    ] {
        let query = query(&format!("SELECT {written}"));
        assert_eq!(print::query(&query), format!("SELECT {printed}"));
    }
}

/// An expression with parentheses around all of its operations.
fn any_expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_owned()),
        Just("t.b".to_owned()),
        Just("1".to_owned()),
        Just("'x'".to_owned()),
        Just("TRUE".to_owned()),
        Just("NULL".to_owned()),
        Just("INTERVAL '1' DAY".to_owned()),
        Just("COUNT(*) OVER w".to_owned()),
        Just("EXISTS (SELECT 1)".to_owned()),
    ];
    let infix = [
        "+",
        "-",
        "*",
        "/",
        "%",
        "||",
        "=",
        "<>",
        "<",
        ">=",
        "AND",
        "OR",
        "LIKE",
        "NOT LIKE",
        "SIMILAR TO",
        "IS DISTINCT FROM",
        "IS NOT DISTINCT FROM",
    ];
    let postfix = ["IS NULL", "IS NOT TRUE", "IS UNKNOWN", "IS JSON OBJECT", "IS NOT JSON"];
    let prefix = ["NOT", "-", "+", "NOT EXISTS (SELECT 1) AND"];
    leaf.prop_recursive(5, 40, 3, move |inner| {
        let two = (inner.clone(), inner.clone());
        let three = (inner.clone(), inner.clone(), inner.clone());
        prop_oneof![
            (two.clone(), proptest::sample::select(infix.to_vec())).prop_map(|((a, b), op)| format!("({a} {op} {b})")),
            (inner.clone(), proptest::sample::select(postfix.to_vec())).prop_map(|(a, op)| format!("({a} {op})")),
            (inner, proptest::sample::select(prefix.to_vec())).prop_map(|(a, op)| format!("({op} {a})")),
            three.clone().prop_map(|(a, b, c)| format!("({a} BETWEEN {b} AND {c})")),
            three.clone().prop_map(|(a, b, c)| format!("({a} NOT BETWEEN SYMMETRIC {b} AND {c})")),
            three.clone().prop_map(|(a, b, c)| format!("({a} NOT IN ({b}, {c}))")),
            three.clone().prop_map(|(a, b, c)| format!("CASE {a} WHEN {b} THEN {c} END")),
            three.prop_map(|(a, b, c)| format!("(SUM({a}) OVER (PARTITION BY {b} ORDER BY {c}))")),
            two.clone().prop_map(|(a, b)| format!("JSON_OBJECT(KEY {a} VALUE {b})")),
            two.clone().prop_map(|(a, b)| format!("f({a}, CAST({b} AS STRING))")),
            two.prop_map(|(a, b)| format!("({a} = ALL (SELECT {b}))")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn any_expression_keeps_its_structure(text in any_expression()) {
        let written = query(&format!("SELECT {text} FROM t"));
        let printed = print::query(&written);
        prop_assert_eq!(structure(&query(&printed)), structure(&written), "{}", printed);
    }
}
