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
    ] {
        assert_eq!(
            parse_one(text).unwrap(),
            Statement::Set { option: Some((key.to_owned(), value.to_owned())) },
            "{text}"
        );
    }
    assert!(parse_one("SET a").is_err());
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
    for text in ["DECIMAL(39)", "DECIMAL(3, 4)", "CHAR(0)", "TIMESTAMP(10)", "INTT", "ARRAY<INT", "MAP<INT>"] {
        assert!(parse_type(text).is_err(), "{text}");
    }
}
