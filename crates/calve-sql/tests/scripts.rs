//! Scripts, hints and places.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use calve_sql::{Statement, is_complete, parse, parse_one, parse_type, split};
use calve_types::Location;

fn texts(script: &str) -> Vec<(u32, String)> {
    split(script).into_iter().map(|s| (s.line, s.text)).collect()
}

#[test]
fn statements_keep_their_text_and_line() {
    assert_eq!(
        texts("SELECT 1; SELECT ';';\n\n-- about b\nSELECT\n 2 ;;\n/* end; */"),
        [(1, "SELECT 1".to_owned()), (1, "SELECT ';'".to_owned()), (3, "-- about b\nSELECT\n 2".to_owned())]
    );
    assert_eq!(texts("SELECT `a;b` /* ; */ -- ;\r\n;\r\nSELECT 2").len(), 2);
}

#[test]
fn statement_sets() {
    let set = "EXECUTE STATEMENT SET BEGIN\nINSERT INTO a SELECT 1;\nINSERT INTO b SELECT CASE WHEN x THEN 1 END FROM t;\nEND";
    assert_eq!(texts(&format!("{set};\nSELECT 1")), [(1, set.to_owned()), (5, "SELECT 1".to_owned())]);
    for set in [
        "EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
        "COMPILE PLAN 'p' FOR STATEMENT SET BEGIN INSERT INTO a SELECT 1; END",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT CASE WHEN x THEN 1 END; INSERT INTO b SELECT 2; END",
    ] {
        assert_eq!(texts(&format!("{set}; SELECT 1")), [(1, set.to_owned()), (1, "SELECT 1".to_owned())]);
    }
    let pieces = texts("BEGIN STATEMENT SET;\nINSERT INTO a SELECT 1;\nEND;");
    assert_eq!(pieces.len(), 3);
}

#[test]
fn an_unterminated_quote_costs_one_statement() {
    let statements = split("SELECT 'a;\nSELECT 2; SELECT 3;\nSELECT 4");
    assert_eq!(
        statements.iter().map(|s| s.text.as_str()).collect::<Vec<_>>(),
        ["SELECT 'a", "SELECT 2", "SELECT 3", "SELECT 4"]
    );
    let error = parse(&statements[0]).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), ("syntax-error", "string is not terminated"));
    assert_eq!(error.span.unwrap().start, Location { line: 1, column: 8 });
    assert!(parse(&statements[1]).is_ok());
}

#[test]
fn completeness_for_a_prompt() {
    for (text, complete) in
        [("SELECT 1", false), ("SELECT 1;", true), ("SELECT ';", false), ("SELECT 1; -- x", true), ("", true)]
    {
        assert_eq!(is_complete(text), complete, "{text}");
    }
}

fn place(script: &str) -> (u32, u32) {
    let statements = split(script);
    let error = parse(statements.last().unwrap()).expect_err(script);
    let at = error.span.unwrap_or_else(|| panic!("{script}: {error:?}")).start;
    (at.line, at.column)
}

#[test]
fn errors_point_into_the_script() {
    assert_eq!(place("SELECT 1;\n  SELECT 'é' FROM FROM t"), (2, 19));
    assert_eq!(place("SELECT 1; SELECT \"a\""), (1, 18));
    assert_eq!(place("SELECT a != b"), (1, 10));
    assert_eq!(place("CREATE TABLE t (\n  a INTT)"), (2, 5));
    assert_eq!(place("SELECT CAST(a AS\n DECIMAL(40))"), (2, 9));
    assert_eq!(place("SELECT a /*+ OPTIONS('k'='v') */ + 1 FROM t"), (1, 10));
    assert_eq!(place("SELECT a FROM t WHERE"), (1, 22));
    // in a subquery too, and not at its beginning
    assert_eq!(place("SELECT * FROM (SELECT a FROM t WHERE) AS x"), (1, 37));
    assert_eq!(place("SELECT * FROM (SELECT * FROM (SELECT a b c FROM t) AS x) AS y"), (1, 42));
    assert_eq!(place("SELECT * FROM (SELECT CAST(a AS\n DECIMAL(40)) FROM t) AS x"), (2, 9));
    assert_eq!(place("SELECT * FROM (SELECT a FROM t"), (1, 31));
}

#[test]
fn what_is_not_supported_is_named_in_subqueries_too() {
    for (text, feature) in [
        ("SELECT * FROM (SELECT JSON_VALUE(a, '$.x' RETURNING INT) FROM t) AS x", "function JSON_VALUE"),
        (
            "SELECT * FROM (SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY))) AS x",
            "table functions with a TABLE argument",
        ),
        ("SELECT CARDINALITY(MULTISET[1, 2])", "MULTISET constructor"),
        ("SELECT (a - b) DAY FROM t", "a unit behind the difference of two times"),
    ] {
        let error = parse_one(text).unwrap_err();
        assert_eq!(error.message, format!("not supported: {feature}"), "{text}");
    }
}

#[test]
fn reserved_words_are_names_in_backticks_only() {
    for text in [
        "CREATE TABLE t (value INT)",
        "CREATE TABLE t (a ROW<timestamp INT>)",
        "SELECT year FROM t",
        "SELECT t.value FROM t",
        "SELECT 1 AS result",
        "SELECT * FROM user",
        "SELECT * FROM t AS one",
        "WITH date AS (SELECT 1) SELECT 1",
        "INSERT INTO t (value) SELECT 1",
        "SELECT 1 + FROM t",
        "USE default",
    ] {
        let error = parse_one(text).expect_err(text);
        assert!(error.message.contains("reserved word") || error.message.contains("found"), "{text}: {error:?}");
    }
    for text in [
        "CREATE TABLE t (`value` INT, `timestamp` ROW<`year` INT>, id INT, name STRING, ts INT, type INT, `data` INT)",
        "SELECT `year`, t.`value` AS `result` FROM `user` AS t",
        "SELECT TIMESTAMPDIFF(DAY, a, b), TIMESTAMPADD(HOUR, 1, a), EXTRACT(YEAR FROM a), FLOOR(a TO MONTH) FROM t",
        "SELECT CURRENT_DATE, LOCALTIME, CURRENT_TIMESTAMP, YEAR(a), COUNT(*), LEFT(a, 1), UPPER(b) FROM t",
        "CREATE TABLE t (id INT, s STRING, ts TIMESTAMP) PARTITIONED BY (truncate(4, s), year(ts), bucket(3, id))",
    ] {
        assert!(parse_one(text).is_ok(), "{text}: {:?}", parse_one(text));
    }
}

#[test]
fn rows_of_values_may_lack_parentheses() {
    for (text, same) in [
        ("VALUES 1, 2", "VALUES (1), (2)"),
        ("VALUES 1, (2), f(3, 4)", "VALUES (1), (2), (f(3, 4))"),
        ("SELECT * FROM (VALUES 1, 2) AS t (a)", "SELECT * FROM (VALUES (1), (2)) AS t (a)"),
        ("VALUES 1 UNION ALL VALUES 2, 3 ORDER BY 1", "VALUES (1) UNION ALL VALUES (2), (3) ORDER BY 1"),
        ("VALUES (1, 2), (3, 4)", "VALUES (1, 2), (3, 4)"),
    ] {
        let tree = |text| match parse_one(text).unwrap_or_else(|e| panic!("{text}: {e:?}")) {
            Statement::Query(query) => query.ast.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(tree(text), tree(same));
    }
}

#[test]
fn hints_belong_to_the_table_before_them() {
    let Statement::Query(query) =
        parse_one("SELECT * FROM a /*+ OPTIONS('k'='1', 'l'='it''s') */ AS x JOIN b ON TRUE").unwrap()
    else {
        panic!()
    };
    let calve_sql::ast::SetExpr::Select(select) = query.ast.body.as_ref() else { panic!() };
    let calve_sql::ast::TableFactor::Table { name, .. } = &select.from[0].relation else { panic!() };
    let hint = query.hints.options_for(name).unwrap();
    assert_eq!(hint.options, [("k".to_owned(), "1".to_owned()), ("l".to_owned(), "it's".to_owned())]);
    let Statement::Insert(insert) = parse_one("INSERT INTO t /*+ OPTIONS('a'='b') */ (x) SELECT 1").unwrap() else {
        panic!()
    };
    assert_eq!(insert.hint.unwrap().options.len(), 1);
    assert_eq!(insert.columns.unwrap()[0].value, "x");
    assert!(parse_one("SELECT /*+ BROADCAST(t) */ * FROM t").is_ok());
}

#[test]
fn set_is_read_from_the_text() {
    for (text, key, value) in [
        ("SET 'a.b' = 'c'", "a.b", "c"),
        ("SET a-b=c d", "a-b", "c d"),
        ("-- why\nset 'k with = sign' = 'it''s'", "k with = sign", "it's"),
        ("SET a = ''", "a", ""),
        ("SET 'a' = 'b' -- why", "a", "b"),
        ("SET a = b=c", "a", "b=c"),
    ] {
        assert_eq!(
            parse_one(text).unwrap(),
            Statement::Set { option: Some((key.to_owned(), value.to_owned())) },
            "{text}"
        );
    }
    for text in ["SET a", "SET 'a' = 'b", "SET 'a = 'b'", "SET 'a' = 'b' 'c'", "SET = b", "RESET 'a' b"] {
        assert!(parse_one(text).is_err(), "{text}");
    }
}

#[test]
fn types_print_as_they_parse() {
    for (text, printed) in [
        ("int not null", "INT NOT NULL"),
        ("decimal", "DECIMAL(10, 0)"),
        ("DEC(5)", "DECIMAL(5, 0)"),
        ("timestamp", "TIMESTAMP(6)"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ(3)"),
        ("TIMESTAMP_LTZ(9)", "TIMESTAMP_LTZ(9)"),
        ("TIME(3) WITHOUT TIME ZONE", "TIME(3)"),
        ("CHARACTER VARYING(7)", "VARCHAR(7)"),
        ("STRING", "STRING"),
        ("INT ARRAY NOT NULL", "ARRAY<INT> NOT NULL"),
        ("MAP<STRING, ARRAY<ROW<a INT>>>", "MAP<STRING, ARRAY<ROW<`a` INT>>>"),
        ("ROW(a INT NOT NULL 'x', `b c` STRING)", "ROW<`a` INT NOT NULL 'x', `b c` STRING>"),
        ("MULTISET<INT>", "MULTISET<INT>"),
        ("DOUBLE PRECISION", "DOUBLE"),
    ] {
        let parsed = parse_type(text).unwrap();
        assert_eq!(parsed.to_string(), printed);
        assert_eq!(parse_type(printed).unwrap(), parsed);
    }
    for text in [
        "DECIMAL(39)",
        "DECIMAL(3, 4)",
        "INTERVAL YEAR TO DAY",
        "INTERVAL HOUR TO DAY",
        "INT NOT NULL NOT NULL",
        "CHAR(0)",
        "TIMESTAMP(10)",
        "INTT",
        "ARRAY<INT",
        "MAP<INT>",
    ] {
        assert!(parse_type(text).is_err(), "{text}");
    }
}
