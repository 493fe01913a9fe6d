//! No text brings the parser down.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use calve_sql::{parse_one, parse_type, split};
use proptest::prelude::*;

#[test]
fn deep_nesting_is_an_error_or_a_result() {
    let deep = 100_000;
    let nested = format!("SELECT {}1{}", "(".repeat(deep), ")".repeat(deep));
    assert_eq!(parse_one(&nested).unwrap_err().code, "syntax-error");
    let ands = format!("SELECT a FROM t WHERE {}", vec!["a = 1"; deep].join(" AND "));
    drop(parse_one(&ands));
    let unions = vec!["SELECT 1"; 10_000].join(" UNION ALL ");
    drop(parse_one(&unions));
    let nots = format!("SELECT {} TRUE", "NOT ".repeat(deep));
    drop(parse_one(&nots));
    let rows = format!("{}INT{}", "ROW<a ".repeat(10_000), ">".repeat(10_000));
    assert_eq!(parse_type(&rows).unwrap_err().code, "syntax-error");
    let queries = format!("{}SELECT 1{}", "SELECT * FROM (".repeat(5_000), ")".repeat(5_000));
    drop(parse_one(&queries));
    let cases = format!("SELECT {}1{}", "CASE WHEN TRUE THEN ".repeat(5_000), " END".repeat(5_000));
    drop(parse_one(&cases));
    let casts = format!("SELECT {}1{}", "CAST(".repeat(5_000), " AS INT)".repeat(5_000));
    drop(parse_one(&casts));
}

#[test]
fn long_chains_are_an_error_or_a_result() {
    for step in [
        "+ 1",
        "|| 'a'",
        "IS NULL",
        "IS JSON",
        "IN (1)",
        "NOT IN (1)",
        "LIKE 'a'",
        "NOT LIKE 'a'",
        "SIMILAR TO 'a'",
        "BETWEEN 1 AND 2",
        "BETWEEN SYMMETRIC 1 AND 2",
        "IS DISTINCT FROM b",
        "OVERLAPS b",
        "AT TIME ZONE 'UTC'",
        "COLLATE x",
        "::INT",
        "[1]",
        "MEMBER OF b",
        "RLIKE 'a'",
    ] {
        for count in [300, 1_900, 20_000] {
            drop(parse_one(&format!("SELECT a {}", format!("{step} ").repeat(count))));
        }
    }
    for step in ["NOT ", "- ", "CASE WHEN TRUE THEN ", "INTERVAL ", "CAST("] {
        for count in [100, 290, 20_000] {
            drop(parse_one(&format!("SELECT {}1", step.repeat(count))));
        }
    }
    for set in [" UNION ALL ", " EXCEPT ", " MINUS "] {
        drop(parse_one(&vec!["SELECT 1"; 1_900].join(set)));
    }
    let arrays = format!("INT{}", " ARRAY".repeat(20_000));
    assert_eq!(parse_type(&arrays).unwrap_err().code, "syntax-error");
}

#[test]
fn wrong_text_takes_no_exponential_time() {
    let started = std::time::Instant::now();
    for step in [
        "(",
        "((SELECT * FROM (",
        "(SELECT * FROM ((",
        "POSITION(",
        "POSITION('a' IN ",
        "INTERVAL ",
        "INTERVAL(",
        "CASE ",
        "CASE WHEN ",
        "CAST(",
        "CURRENT_DATE(",
        "LOCALTIMESTAMP(",
        "SUBSTRING(",
        "TRIM(BOTH ",
        "EXTRACT(DAY FROM ",
        "FLOOR(",
        "EXISTS(SELECT ",
        "ARRAY[",
        "MAP[",
        "f(",
        "a IN (",
        "a IN (SELECT ",
        "a BETWEEN SYMMETRIC ",
    ] {
        for context in ["SELECT ", "SELECT * FROM ", "INSERT INTO t VALUES ("] {
            for end in ["", "1", " FROM FROM", " a b c"] {
                drop(parse_one(&format!("{context}{}{end}", step.repeat(40))));
            }
        }
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn a_long_statement_set_takes_linear_time() {
    let started = std::time::Instant::now();
    for insert in
        ["INSERT INTO t SELECT 1;\n", "INSERT INTO t /*+ OPTIONS('a'='b') */ SELECT CASE WHEN a THEN 1 END;\n"]
    {
        let set = format!("EXECUTE STATEMENT SET BEGIN\n{}END", insert.repeat(5_000));
        assert!(matches!(parse_one(&set).unwrap(), calve_sql::Statement::StatementSet(s) if s.inserts.len() == 5_000));
        drop(parse_one(&set.replace("END", "")));
    }
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

#[test]
fn comments_without_end_take_linear_time() {
    let started = std::time::Instant::now();
    assert_eq!(split(&"SELECT 1 /* ;\n".repeat(100_000)).len(), 100_000);
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn quotes_over_the_end_of_statements_take_linear_time() {
    let started = std::time::Instant::now();
    assert_eq!(split(&"SELECT f('a;\n".repeat(50_000)).len(), 50_000);
    for line in ["'a;\n'b\n", "SELECT `a;\n", "'a;\n`b;\n", "'';\n'", "'a;\n''b''", "/* 'a;\n"] {
        drop(split(&line.repeat(50_000)));
    }
    assert!(started.elapsed().as_secs() < 40, "{:?}", started.elapsed());
}

#[test]
fn a_long_script_is_split_in_time() {
    let script = "INSERT INTO t VALUES (1, 'a''b'); -- comment\n".repeat(100_000);
    let started = std::time::Instant::now();
    assert_eq!(split(&script).len(), 100_000);
    assert!(started.elapsed().as_secs() < 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text(text in "\\PC{0,80}") {
        for statement in split(&text) {
            drop(calve_sql::parse(&statement));
        }
    }

    #[test]
    fn any_tokens(words in proptest::collection::vec(
        prop_oneof![
            Just("SELECT"), Just("INSERT INTO"), Just("CREATE TABLE"), Just("t"), Just("("), Just(")"), Just(","),
            Just("'x"), Just("'x'"), Just("`"), Just("/*+ OPTIONS('a'='b') */"), Just("/*+"), Just("--\n"), Just(";"),
            Just("CAST"), Just("AS"), Just("ROW<"), Just("INT"), Just(">>"), Just("1.5e"), Just("é"), Just("\t"),
            Just("CREATE VIEW"), Just("EXECUTE STATEMENT SET BEGIN"), Just("END"), Just("EXPLAIN"), Just("JSON_VALUE("),
            Just("RETURNING"), Just("ON EMPTY"), Just("JSON_OBJECT("), Just("KEY"), Just(":"), Just("TRIM("),
            Just("GROUP BY GROUPING SETS ("), Just("PERIOD"), Just("TABLE"), Just("UNION"), Just("_UTF16'a'"),
            Just("SET"), Just("="), Just("'"), Just("PARTITIONED BY"), Just("WITH"), Just("MAP["), Just("BETWEEN"),
        ], 0..25))
    {
        for statement in split(&words.join(" ")) {
            drop(calve_sql::parse(&statement));
        }
    }
}
