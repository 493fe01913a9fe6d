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
    assert_eq!(place("SELECT CAST(a AS\n DECIMAL(0))"), (2, 9));
    assert_eq!(place("SELECT a /*+ OPTIONS('k'='v') */ + 1 FROM t"), (1, 10));
    assert_eq!(place("SELECT a FROM t WHERE"), (1, 22));
    // in a subquery too, and not at its beginning
    assert_eq!(place("SELECT * FROM (SELECT a FROM t WHERE) AS x"), (1, 37));
    assert_eq!(place("SELECT * FROM (SELECT * FROM (SELECT a b c FROM t) AS x) AS y"), (1, 42));
    assert_eq!(place("SELECT * FROM (SELECT CAST(a AS\n DECIMAL(0)) FROM t) AS x"), (2, 9));
    assert_eq!(place("SELECT * FROM (SELECT a FROM t"), (1, 31));
}

#[test]
fn names_are_not_empty() {
    for text in [
        "CREATE TABLE t (`` INT)",
        "CREATE TABLE t (r ROW<`` INT>)",
        "CREATE TABLE `` (a INT)",
        "ALTER TABLE t ADD `` INT",
        "CREATE DATABASE ``",
        "CREATE VIEW `` AS SELECT 1",
        "CREATE FUNCTION `` AS 'x'",
        "SELECT 1 AS ``",
    ] {
        let error = parse_one(text).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), ("syntax-error", "a name is empty"), "{text}");
        assert_eq!(place(text), (1, text.find('`').unwrap() as u32 + 1), "{text}");
    }
    parse_one("SELECT 1 AS ````").unwrap();
}

#[test]
fn fields_of_a_row_have_names_of_their_own() {
    for (text, column, names) in [
        ("CREATE TABLE t (r ROW<a INT, a STRING>)", 30, "a"),
        ("ALTER TABLE t ADD r ROW<a INT, a STRING>", 32, "a"),
        ("CREATE TABLE t (x ROW<a INT, b ROW<c INT, c INT>>)", 43, "c"),
        ("CREATE TABLE t (x ROW<a INT, b INT, a INT, b INT, a INT>)", 37, "a, b"),
    ] {
        let error = parse_one(text).unwrap_err();
        let detail = format!("Field names must be unique. Found duplicates: [{names}]");
        assert_eq!((error.code, error.detail), ("duplicate-column", Some(detail)), "{text}");
        assert_eq!(place(text), (1, column), "{text}");
    }
    let blank = parse_type("ROW<` ` INT>").unwrap_err();
    assert_eq!(blank.detail.unwrap(), "Field names must contain at least one non-whitespace character.");
    parse_type("ROW<a INT, A INT>").unwrap();
}

#[test]
fn what_is_not_supported_is_named_in_subqueries_too() {
    for (text, feature) in [
        ("SELECT * FROM (SELECT JSON_VALUE(a, '$.x' PASSING 1 AS y) FROM t) AS x", "PASSING of a JSON function"),
        ("SELECT JSON_ARRAYAGG(a ORDER BY a) FROM t", "ORDER BY in JSON_ARRAYAGG"),
        ("SELECT JSON_OBJECT('a' VALUE b FORMAT JSON) FROM t", "FORMAT JSON"),
    ] {
        let error = parse_one(text).unwrap_err();
        assert_eq!(error.message, format!("not supported: {feature}"), "{text}");
    }
}

#[test]
fn a_statement_set_points_into_the_script() {
    let set = "EXECUTE STATEMENT SET BEGIN\n  INSERT INTO a SELECT 1;\n  INSERT INTO b\n  ";
    assert_eq!(place(&format!("SELECT 1;\n{set}SELECT x FROM FROM t;\nEND")), (5, 17));
    assert_eq!(place(&format!("{set}SELECT 2\nEND")), (5, 1));
    assert_eq!(place("EXECUTE STATEMENT SET BEGIN\nEND"), (2, 1));
    assert_eq!(place("EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; SELECT 2; END"), (1, 53));
    assert_eq!(place("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; /*+ OPTIONS('a'='b') */ END"), (1, 53));
    let text = format!("SELECT 1;\n{set}/* c */ SELECT x FROM t /*+ OPTIONS('k'='v') */;\nEND");
    let Statement::StatementSet(set) = parse(&split(&text)[1]).unwrap() else { panic!() };
    assert_eq!((set.span.start, set.span.end), (Location { line: 2, column: 1 }, Location { line: 6, column: 4 }));
    assert_eq!(set.inserts[1].table.span.start, Location { line: 4, column: 15 });
    assert_eq!(set.inserts[1].query.span.start, Location { line: 5, column: 11 });
    let calve_sql::ast::SetExpr::Select(select) = set.inserts[1].query.ast.body.as_ref() else { panic!() };
    let calve_sql::ast::TableFactor::Table { name, .. } = &select.from[0].relation else { panic!() };
    assert_eq!(set.inserts[1].query.hints.options_for(name).unwrap().options[0].0, "k");
}

#[test]
fn execute_and_explain() {
    assert!(matches!(parse_one("EXECUTE INSERT INTO t SELECT 1").unwrap(), Statement::Insert(_)));
    assert!(matches!(parse_one("EXECUTE TABLE t").unwrap(), Statement::Query(_)));
    assert!(matches!(parse_one("BEGIN STATEMENT SET;").unwrap(), Statement::BeginStatementSet { .. }));
    assert!(matches!(parse_one("END").unwrap(), Statement::EndStatementSet { .. }));
    let Statement::Explain { statement, details, .. } =
        parse_one("EXPLAIN estimated_cost, CHANGELOG_MODE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END").unwrap()
    else {
        panic!()
    };
    assert_eq!(details, ["ESTIMATED_COST", "CHANGELOG_MODE"]);
    assert!(matches!(*statement, Statement::StatementSet(set) if set.inserts.len() == 1));
}

#[test]
fn explain_analyze_stands_alone() {
    for (text, is_run) in [
        ("EXPLAIN ANALYZE SELECT 1", true),
        ("explain analyze INSERT INTO t SELECT 1", true),
        ("EXPLAIN ANALYZE TABLE t", true),
        ("EXPLAIN ANALYZE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END", true),
        ("EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1 AS a", true),
        ("EXPLAIN ANALYZE DELETE FROM t", true),
        ("EXPLAIN ANALYZE MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE", true),
        ("EXPLAIN PLAN FOR SELECT 1", false),
        ("EXPLAIN SELECT 1", false),
    ] {
        let Statement::Explain { analyze, details, .. } = parse_one(text).unwrap_or_else(|e| panic!("{text}: {e}"))
        else {
            panic!("{text}")
        };
        assert!(analyze == is_run && details.is_empty(), "{text}");
    }
    for text in [
        "EXPLAIN ANALYZE",
        "EXPLAIN ANALYZE, CHANGELOG_MODE SELECT 1",
        "EXPLAIN CHANGELOG_MODE, ANALYZE SELECT 1",
        "EXPLAIN ANALYZE PLAN FOR SELECT 1",
        "EXPLAIN ANALYZE ANALYZE SELECT 1",
        "EXPLAIN ANALYZE CREATE TABLE t (a INT)",
        "EXPLAIN ANALYZE SHOW TABLES",
        "EXPLAIN ANALYZE SET 'a' = 'b'",
    ] {
        assert_eq!(parse_one(text).unwrap_err().code, "syntax-error", "{text}");
    }
}

#[test]
fn views_keep_the_text_of_their_query() {
    let script = "SELECT 1;\nCREATE OR REPLACE TEMPORARY VIEW IF NOT EXISTS c.d.v (a, `b c`) COMMENT 'it''s' AS\n  \
                  SELECT é, 'x;y' -- why\n  FROM t /*+ OPTIONS('k'='v') */ -- end\n;";
    let Statement::CreateView(view) = parse(&split(script)[1]).unwrap() else { panic!() };
    assert_eq!(view.text, "SELECT é, 'x;y' -- why\n  FROM t /*+ OPTIONS('k'='v') */");
    assert_eq!(view.columns.iter().map(|c| c.value.as_str()).collect::<Vec<_>>(), ["a", "b c"]);
    assert_eq!(view.name.parts, ["c", "d", "v"]);
    assert_eq!(view.comment.as_deref(), Some("it's"));
    assert!(view.temporary && view.or_replace && view.if_not_exists);
    assert!(parse_one(&view.text).is_ok());
    let Statement::AlterView { change, .. } = parse_one("ALTER VIEW v AS VALUES 1, 2").unwrap() else { panic!() };
    assert!(matches!(change, calve_sql::AlterView::As { text, .. } if text == "VALUES 1, 2"));
}

#[test]
fn alter_table() {
    use calve_sql::{AlterTableChange, ColumnPosition};
    let change = |text: &str| match parse_one(text).unwrap_or_else(|e| panic!("{text}: {e}")) {
        Statement::AlterTable(alter) => alter.change,
        other => panic!("{other:?}"),
    };
    let AlterTableChange::Add(added) = change(
        "ALTER TABLE IF EXISTS c.d.t ADD (x INT NOT NULL COMMENT 'y' AFTER a, y AS f(x, 1) + first FIRST, \
         m INT METADATA FROM 'k' VIRTUAL, WATERMARK FOR ts AS ts, PRIMARY KEY (x) NOT ENFORCED)",
    ) else {
        panic!()
    };
    let positions: Vec<Option<&str>> = added
        .columns
        .iter()
        .map(|(_, position)| match position {
            Some(ColumnPosition::First) => Some("first"),
            Some(ColumnPosition::After(column)) => Some(column.value.as_str()),
            None => None,
        })
        .collect();
    assert_eq!(positions, [Some("a"), Some("first"), None]);
    assert_eq!(added.primary_key.unwrap().columns[0].value, "x");
    assert!(added.watermark.is_some());
    let AlterTableChange::Modify(modified) = change("ALTER TABLE t MODIFY c AS a + 1 COMMENT 'x' AFTER `first`") else {
        panic!()
    };
    assert!(matches!(&modified.columns[0].1, Some(ColumnPosition::After(c)) if c.value == "first"));
    assert!(matches!(change("ALTER TABLE t DROP (a, b)"), AlterTableChange::DropColumns(c) if c.len() == 2));
    assert!(matches!(change("ALTER TABLE t RESET ()"), AlterTableChange::Reset(k) if k.is_empty()));
    assert!(matches!(
        change("ALTER TABLE t ADD IF NOT EXISTS PARTITION (a = 1) WITH ('k'='v') PARTITION (a = 2)"),
        AlterTableChange::AddPartitions { if_not_exists: true, partitions } if partitions.len() == 2
    ));
    assert!(parse_one("CREATE TABLE t (a INT, b AS a])").is_err());
}

#[test]
fn what_show_lists() {
    let Statement::Show(show) = parse_one("SHOW USER FUNCTIONS IN c.d NOT ILIKE 'x%'").unwrap() else { panic!() };
    assert_eq!(show.what, calve_sql::ShowWhat::Functions { user: true });
    assert_eq!(show.from.unwrap().parts, ["c", "d"]);
    let like = show.like.unwrap();
    assert_eq!((like.pattern.as_str(), like.ignore_case, like.negated), ("x%", true, true));
    let Statement::ShowPartitions { table, partition } =
        parse_one("SHOW PARTITIONS d.t PARTITION (a = 1, `b` = 'x')").unwrap()
    else {
        panic!()
    };
    assert_eq!((table.parts.len(), partition.len(), partition[1].0.value.as_str()), (2, 2, "b"));
}

#[test]
fn operators_bind_as_in_flink() {
    for (text, same) in [
        ("a = b LIKE c", "a = (b LIKE c)"),
        ("b LIKE c = a", "(b LIKE c) = a"),
        ("a = b BETWEEN 1 AND 2", "a = (b BETWEEN 1 AND 2)"),
        ("a BETWEEN 1 AND 2 = b", "(a BETWEEN 1 AND 2) = b"),
        ("a = b IN (1)", "a = (b IN (1))"),
        ("a IS DISTINCT FROM b = c", "(a IS DISTINCT FROM b) = c"),
        ("NOT a LIKE b AND c", "(NOT (a LIKE b)) AND c"),
        ("a = b IS NULL", "(a = b) IS NULL"),
        ("NOT EXISTS (SELECT 1) IS NULL", "NOT (EXISTS (SELECT 1) IS NULL)"),
    ] {
        let printed = |text: &str| match parse_one(&format!("SELECT {text}")).unwrap() {
            Statement::Query(query) => calve_sql::print::query(&query),
            other => panic!("{other:?}"),
        };
        assert_eq!(printed(text), printed(same), "{text}");
    }
    // equal texts could come from unequal trees; this one tells them apart
    let Statement::Query(query) = parse_one("SELECT a = b LIKE c").unwrap() else { panic!() };
    let calve_sql::ast::SetExpr::Select(select) = query.ast.body.as_ref() else { panic!() };
    assert!(matches!(
        &select.projection[0],
        calve_sql::ast::SelectItem::UnnamedExpr(calve_sql::ast::Expr::BinaryOp { .. })
    ));
}

#[test]
fn clauses_of_json_functions() {
    use calve_sql::{JsonBehavior, JsonOnNull, JsonWrapper, json_clauses};
    let with = |text: &str, check: &dyn Fn(calve_sql::JsonClauses<'_>)| {
        let Statement::Query(query) = parse_one(&format!("SELECT {text} FROM t")).unwrap() else { panic!() };
        let calve_sql::ast::SetExpr::Select(select) = query.ast.body.as_ref() else { panic!() };
        let calve_sql::ast::SelectItem::UnnamedExpr(calve_sql::ast::Expr::Function(call)) = &select.projection[0]
        else {
            panic!("{text}")
        };
        check(json_clauses(call).unwrap_or_else(|| panic!("{text}")));
    };
    with("json_value(a, '$.x' RETURNING DECIMAL(10, 2) DEFAULT 1 + 1 ON EMPTY ERROR ON ERROR)", &|c| {
        assert_eq!(c.arguments.len(), 2);
        assert_eq!(c.returning.unwrap().to_string(), "DECIMAL(10, 2)");
        assert!(matches!(c.on_empty, Some(JsonBehavior::Default(calve_sql::ast::Expr::BinaryOp { .. }))));
        assert_eq!(c.on_error, Some(JsonBehavior::Error));
    });
    with("JSON_VALUE(a, '$.x' RETURNING TIMESTAMP(3) WITH LOCAL TIME ZONE NULL ON EMPTY)", &|c| {
        assert_eq!(c.returning.unwrap().to_string(), "TIMESTAMP_LTZ(3)");
        assert_eq!((c.on_empty, c.on_error), (Some(JsonBehavior::Null), None));
    });
    with("JSON_QUERY(a, '$' RETURNING ARRAY<STRING NOT NULL> WITH CONDITIONAL WRAPPER EMPTY ARRAY ON ERROR)", &|c| {
        assert_eq!(c.returning.unwrap().to_string(), "ARRAY<STRING NOT NULL>");
        assert_eq!(c.wrapper, Some(JsonWrapper::Conditional));
        assert_eq!(c.on_error, Some(JsonBehavior::EmptyArray));
    });
    for (text, wrapper) in [
        ("JSON_QUERY(a, '$' WITH WRAPPER)", JsonWrapper::Unconditional),
        ("JSON_QUERY(a, '$' WITH UNCONDITIONAL ARRAY WRAPPER)", JsonWrapper::Unconditional),
        ("JSON_QUERY(a, '$' WITHOUT ARRAY WRAPPER)", JsonWrapper::Without),
    ] {
        with(text, &|c| assert_eq!(c.wrapper, Some(wrapper)));
    }
    with("JSON_EXISTS(a, '$' UNKNOWN ON ERROR)", &|c| assert_eq!(c.on_error, Some(JsonBehavior::Unknown)));
    with("JSON_OBJECT(KEY 'k' VALUE key, key VALUE 1, 'c' : 2 ABSENT ON NULL)", &|c| {
        assert_eq!((c.arguments.len(), c.on_null), (6, Some(JsonOnNull::Absent)));
    });
    with("JSON_OBJECT(NULL ON NULL)", &|c| assert_eq!((c.arguments.len(), c.on_null), (0, Some(JsonOnNull::Null))));
    with("JSON_ARRAY(1, CAST(NULL AS INT) NULL ON NULL)", &|c| {
        assert_eq!((c.arguments.len(), c.on_null), (2, Some(JsonOnNull::Null)));
    });
    with("JSON_OBJECTAGG(a : b)", &|c| assert_eq!((c.arguments.len(), c.on_null), (2, None)));
    with("JSON_ARRAYAGG(a ABSENT ON NULL)", &|c| assert_eq!(c.on_null, Some(JsonOnNull::Absent)));
    let Statement::Query(query) = parse_one("SELECT UPPER(a) FROM t").unwrap() else { panic!() };
    let calve_sql::ast::SetExpr::Select(select) = query.ast.body.as_ref() else { panic!() };
    let calve_sql::ast::SelectItem::UnnamedExpr(calve_sql::ast::Expr::Function(call)) = &select.projection[0] else {
        panic!()
    };
    assert_eq!(json_clauses(call), None);
}

#[test]
fn keywords_are_sorted_and_words_of_the_grammar() {
    let words: Vec<&str> = calve_sql::keywords().collect();
    assert!(words.is_sorted() && words.len() > 250);
    for word in ["SELECT", "PARTITIONED", "METADATA", "OVERWRITE", "TEMPORARY", "STATEMENT"] {
        assert!(words.contains(&word), "{word}");
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
    assert_eq!(insert.columns.unwrap()[0].parts, ["x"]);
    assert!(parse_one("SELECT /*+ BROADCAST(t) */ * FROM t").is_ok());
    for hint in ["BROADCAST(x)", "NEST_LOOP(b, x)", "SHUFFLE_HASH(db.b)", "LOOKUP('table'='zzz')"] {
        parse_one(&format!("SELECT /*+ {hint} */ * FROM a AS x JOIN db.b ON TRUE")).unwrap();
    }
    let error = parse_one("SELECT /*+ BROADCAST(zzz) */ * FROM a AS x JOIN db.b ON TRUE").unwrap_err();
    assert_eq!(
        error.detail.unwrap(),
        "The options of following hints cannot match the name of input tables or views: \n`zzz` in `BROADCAST`"
    );
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
        ("DECIMAL(39, 2)", "DECIMAL(38, 2)"),
        ("TIMESTAMP(10)", "TIMESTAMP(9)"),
        ("VARCHAR(0)", "VARCHAR(0)"),
    ] {
        let parsed = parse_type(text).unwrap();
        assert_eq!(parsed.to_string(), printed);
        assert_eq!(parse_type(printed).unwrap(), parsed);
    }
    for text in [
        "DECIMAL(0)",
        "DECIMAL(3, 4)",
        "DECIMAL(39, 39)",
        "INTERVAL YEAR TO DAY",
        "INTERVAL HOUR TO DAY",
        "INT NOT NULL NOT NULL",
        "CHAR(2147483648)",
        "INTT",
        "ARRAY<INT",
        "MAP<INT>",
    ] {
        assert!(parse_type(text).is_err(), "{text}");
    }
}

#[test]
fn a_quote_that_goes_over_the_end_of_a_statement() {
    // the quotes of the third line would close that of the first, and nothing of it would make sense
    let statements = split("SELECT 'a FROM t;\nSELECT `b;\nSELECT 'c', 'd';\nSELECT `e`;\nSELECT 1");
    let texts: Vec<&str> = statements.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(texts, ["SELECT 'a FROM t", "SELECT `b", "SELECT 'c', 'd'", "SELECT `e`", "SELECT 1"]);
    let error = parse(&statements[0]).unwrap_err();
    assert_eq!(error.message, "string is not terminated");
    assert_eq!(error.span.unwrap().start, Location { line: 1, column: 8 });
    let error = parse(&statements[1]).unwrap_err();
    assert_eq!(error.message, "quoted identifier is not terminated");
    assert_eq!(error.span.unwrap().start, Location { line: 2, column: 8 });
    assert!(statements[2..].iter().all(|s| parse(s).is_ok()));
    // here it makes sense
    let statements = split("INSERT INTO t VALUES ('a;\nb;\n', 1);\nSELECT 1;");
    assert_eq!(statements.len(), 2);
    assert!(statements.iter().all(|s| parse(s).is_ok()));
    // a mistake before the quote is not one of the quote
    let statements = split("SELEC FROM FROM t WHERE a = 'a;\nb;\n';\nSELECT 1;");
    assert_eq!(statements.len(), 2);
}

/// The statements of queries that are read with trees of other shapes than sqlparser's own.
#[test]
fn clauses_that_sqlparser_has_no_place_for() {
    use calve_sql::ast::{Expr, SelectItem, SetExpr, TableFactor};
    let select = |text: &str| {
        let Statement::Query(query) = parse_one(text).unwrap() else { panic!("{text}") };
        let SetExpr::Select(select) = *query.ast.body else { panic!("{text}") };
        select
    };
    let item = |text: &str| {
        let SelectItem::UnnamedExpr(expr) = select(text).projection.remove(0) else { panic!("{text}") };
        expr
    };
    let Expr::Function(difference) = item("SELECT (a - b) DAY(3) TO SECOND FROM t") else { panic!() };
    assert_eq!(difference.name.to_string(), calve_sql::DIFFERENCE);
    assert_eq!(difference.args.to_string(), "(a - b, 'DAY(3) TO SECOND')");
    assert_eq!(item("SELECT MULTISET[1, 2] FROM t").to_string(), "MULTISET(1, 2)");
    assert_eq!(item("SELECT 1 MEMBER OF m FROM t").to_string(), "MEMBER OF(1, m)");
    assert_eq!(item("SELECT U&'d!0061t!!' UESCAPE '!'").to_string(), "U&'dat!'");
    let matched = select(
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES FINAL LAST(b.x) AS y AFTER MATCH SKIP TO b \
         PATTERN (a b+? | c) WITHIN INTERVAL '1' HOUR DEFINE b AS b.x > 1) AS m",
    );
    let TableFactor::MatchRecognize { symbols, pattern, after_match_skip, measures, .. } = &matched.from[0].relation
    else {
        panic!("{matched}")
    };
    assert_eq!(symbols[0].symbol.value, calve_sql::WITHIN);
    assert_eq!(symbols[0].definition.to_string(), "INTERVAL '1' HOUR");
    assert_eq!(symbols[1].symbol.value, "b");
    assert_eq!(pattern.to_string(), "a b+? | c");
    assert_eq!(after_match_skip.as_ref().unwrap().to_string(), "AFTER MATCH SKIP TO LAST b");
    assert_eq!(measures[0].expr.to_string(), "FINAL(LAST(b.x))");
    let sets = select("SELECT a FROM t GROUP BY GROUPING SETS (a, ROLLUP(a, b), GROUPING SETS ((a), ()))");
    assert_eq!(sets.group_by.to_string(), "GROUP BY GROUPING SETS ((a), (ROLLUP(a, b)), (GROUPING SETS ((a), ())))");
    let window = select("SELECT * FROM TABLE(SESSION(DATA => TABLE d.t PARTITION BY (a, b), GAP => INTERVAL '1' DAY))");
    let TableFactor::TableFunction { expr, .. } = &window.from[0].relation else { panic!("{window}") };
    assert_eq!(expr.to_string(), "SESSION(DATA => TABLE(d.t) OVER (PARTITION BY a, b), GAP => INTERVAL '1' DAY)");
    // words of sqlparser that are names in Flink
    assert_eq!(select("SELECT * FROM t SEMI JOIN s ON a = b").from[0].joins.len(), 1);
}
