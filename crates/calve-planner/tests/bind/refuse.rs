//! Refusals of queries: place and Flink's sentence.

use crate::catalog::{query, refusal};

fn check(cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (sql, expected) in cases {
        let found = match query(sql) {
            Ok(rel) => format!("accepted: {}", crate::catalog::schema(&rel)),
            Err(e) => refusal::<()>(Err(e)),
        };
        if found != *expected {
            wrong.push(format!("{sql}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names() {
    check(&[
        ("SELECT * FROM missing", "1:15-1:22 Object 'missing' not found"),
        (
            "SELECT * FROM default_database.missing",
            "1:15-1:39 Object 'missing' not found within 'default_catalog.default_database'",
        ),
        ("SELECT * FROM nocat.db.t", "1:15-1:25 Object 'nocat' not found"),
        ("WITH a AS (SELECT nope) SELECT 1", "1:19-1:23 Column 'nope' not found in any table"),
        ("SELECT a FROM (VALUES (1)) AS t(A)", "1:8-1:9 Column 'a' not found in any table; did you mean 'A'?"),
        ("SELECT T.a FROM (VALUES (1)) AS t(a)", "1:8-1:9 Table 'T' not found; did you mean 't'?"),
        ("SELECT t.nope FROM t", "1:10-1:14 Column 'nope' not found in table 't'"),
        ("SELECT id FROM l JOIN r ON l.id = r.id", "1:8-1:10 Column 'id' is ambiguous"),
        ("SELECT * FROM (SELECT 1 AS x, 2 AS x)", "1:8-1:9 Column 'x' is ambiguous"),
        (
            "SELECT r.nope FROM (SELECT CAST(ROW(1,'x') AS ROW<a INT, b STRING>) AS r) AS t",
            "1:8-1:9 Table 'r' not found",
        ),
        ("SELECT id FROM t ORDER BY missing", "1:27-1:34 Column 'missing' not found in any table"),
        (
            "SELECT id FROM l UNION ALL SELECT id FROM r ORDER BY other",
            "1:54-1:59 Column 'other' not found in any table",
        ),
        (
            "SELECT * FROM (VALUES (1, 2)) AS t(a)",
            "1:36-1:37 List of column aliases must have same degree as table; table has 2 columns ('EXPR$0', 'EXPR$1'), whereas alias list has 1 columns",
        ),
        ("SELECT $1", "1:8-1:10 Column '$1' not found in any table"),
        ("SELECT x.* FROM t", "1:8-1:9 Table 'x' not found"),
        ("SELECT l.id FROM l, l", "1:21-1:22 Duplicate relation name 'l' in FROM clause"),
    ]);
}

#[test]
fn types() {
    check(&[
        ("SELECT id FROM t WHERE id", "1:24-1:26 WHERE clause must be a condition"),
        (
            "SELECT id FROM t WHERE name = 1",
            "1:24-1:32 implicit type conversion between VARCHAR and INTEGER is not supported now",
        ),
        (
            "SELECT id + name FROM t",
            "1:8-1:17 Cannot apply '+' to arguments of type '<INTEGER> + <VARCHAR(2147483647)>'. Supported form(s): '<NUMERIC> + <NUMERIC>'\n'<DATETIME_INTERVAL> + <DATETIME_INTERVAL>'\n'<DATETIME> + <DATETIME_INTERVAL>'\n'<DATETIME_INTERVAL> + <DATETIME>'",
        ),
        (
            "SELECT TRUE = 'true' AS a",
            "1:8-1:21 implicit type conversion between BOOLEAN and CHAR is not supported now",
        ),
        (
            "SELECT TRUE = 1 AS b",
            "1:8-1:16 Cannot apply '=' to arguments of type '<BOOLEAN> = <INTEGER>'. Supported form(s): '<COMPARABLE_TYPE> = <COMPARABLE_TYPE>'",
        ),
        ("SELECT 1 AS a UNION ALL SELECT 'x'", "1:8-1:9 Type mismatch in column 1 of UNION ALL"),
        ("SELECT 1, 2 UNION SELECT 1", "1:26-1:27 Column count mismatch in UNION"),
        ("SELECT NULL", "1:8-1:12 Illegal use of 'NULL'"),
        ("SELECT true AND NULL AS a", "1:17-1:21 Illegal use of 'NULL'"),
        ("VALUES (1, NULL)", "1:12-1:16 Illegal use of 'NULL'"),
        (
            "SELECT NOT 1",
            "1:8-1:13 Cannot apply 'NOT' to arguments of type 'NOT<INTEGER>'. Supported form(s): 'NOT<BOOLEAN>'",
        ),
        ("SELECT CASE WHEN 1 THEN 2 END", "1:8-1:30 Expected a boolean type"),
        ("SELECT CASE WHEN TRUE THEN 1 ELSE 'a' END", "1:8-1:42 Illegal mixing of types in CASE or COALESCE statement"),
        ("SELECT CASE WHEN TRUE THEN NULL END", "1:8-1:36 ELSE clause or at least one THEN clause must be non-NULL"),
        (
            "SELECT CAST(99999999999999999999999999999999999999 AS DECIMAL(38,0)) AS big",
            "1:13-1:51 Numeric literal '99999999999999999999999999999999999999' out of range",
        ),
        ("SELECT DATE '2023-02-29' AS d", "1:8-1:25 Illegal DATE literal '2023-02-29': not in format 'yyyy-MM-dd'"),
        ("VALUES (1, 'a'), (2)", "1:1-1:20 Values passed to VALUES operator must have compatible types"),
        (
            "SELECT SUM(name) FROM t",
            "1:8-1:16 Cannot apply 'SUM' to arguments of type 'SUM(<VARCHAR(2147483647)>)'. Supported form(s): 'SUM(<NUMERIC>)'",
        ),
        ("SELECT foo(id) FROM t", "1:8-1:14 No match found for function signature foo(<NUMERIC>)"),
        ("SELECT 'abc' ILIKE 'A%'", "1:8-1:13 No match found for function signature ILIKE"),
        (
            "SELECT DISTINCT m FROM (VALUES (MAP['a', 1])) AS t(m)",
            "1:17-1:18 Type(MAP<CHAR(1) NOT NULL, INT NOT NULL> NOT NULL) is not an orderable data type, it is not supported as a ORDER_BY/GROUP_BY/JOIN_EQUAL field.",
        ),
        ("SELECT CAST(TRUE AS DATE)", "1:8-1:17 Cast function cannot convert value of type BOOLEAN to type DATE"),
    ]);
}

#[test]
fn grouping() {
    check(&[
        ("SELECT name, amt FROM t GROUP BY name", "1:14-1:17 Expression 'amt' is not being grouped"),
        ("SELECT id, SUM(amt) FROM t", "1:8-1:10 Expression 'id' is not being grouped"),
        (
            "SELECT name, SUM(id) FROM t WHERE SUM(id) > 1 GROUP BY name",
            "1:35-1:38 Aggregate expression is illegal in WHERE clause",
        ),
        (
            "SELECT name, SUM(id) AS total FROM t GROUP BY name HAVING total > 50",
            "1:59-1:64 Column 'total' not found in any table",
        ),
        ("SELECT name AS n FROM t GROUP BY n", "1:34-1:35 Column 'n' not found in any table"),
        ("SELECT name, COUNT(*) FROM t GROUP BY 1", "1:8-1:12 Expression 'name' is not being grouped"),
        ("SELECT DISTINCT name FROM t ORDER BY id", "1:38-1:40 Expression 'id' is not in the select clause"),
        ("SELECT SUM(MAX(id)) FROM t", "1:8-1:11 Aggregate expressions cannot be nested"),
        (
            "SELECT COUNT() FROM t",
            "1:8-1:13 Invalid number of arguments to function 'COUNT'. Was expecting 1 arguments",
        ),
        ("SELECT id FROM t ORDER BY 2", "1:27-1:28 Ordinal out of range"),
        (
            "SELECT name, (SELECT MAX(rv) FROM r WHERE r.id = t.id) FROM t GROUP BY name",
            "1:50-1:54 Expression 'id' is not being grouped",
        ),
    ]);
}

#[test]
fn joins() {
    check(&[
        (
            "SELECT * FROM l JOIN r",
            "1:17-1:23 INNER, LEFT, RIGHT or FULL join requires a condition (NATURAL keyword or ON or USING clause)",
        ),
        ("SELECT * FROM l JOIN r ON l.id", "1:27-1:31 ON clause must be a condition"),
        ("SELECT id FROM l JOIN r USING (id) JOIN t ON t.id = l.id", "1:8-1:10 Column 'id' is ambiguous"),
        ("SELECT 1 FROM l JOIN r ON l.id = r.id JOIN t USING (id)", "1:53-1:55 Column 'id' is ambiguous"),
        ("SELECT * FROM l JOIN r USING (nope)", "1:31-1:35 Column 'nope' not found in any table"),
    ]);
}

#[test]
fn features() {
    for (sql, feature) in [
        (
            "SELECT id FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'",
            "FOR SYSTEM_TIME AS OF a constant for 'default_catalog.default_database.t', which keeps no versions",
        ),
        (
            "SELECT * FROM l, LATERAL (SELECT COUNT(*) FROM r WHERE r.id = l.id)",
            "aggregates of a correlated LATERAL query without LEFT JOIN",
        ),
        ("SELECT id FROM t ORDER BY id OFFSET 3 ROWS", "OFFSET without LIMIT or FETCH"),
        (
            "SELECT SUM(id) OVER (w ROWS 1 PRECEDING) FROM t WINDOW w AS (ORDER BY id)",
            "a frame of a window that extends another one",
        ),
    ] {
        let error = query(sql).expect_err(sql);
        assert_eq!((error.code, error.message), ("not-supported", format!("not supported: {feature}")), "{sql}");
    }
}

#[test]
fn suggestions() {
    for (sql, hint) in [
        ("SELECT nmae FROM t", "did you mean 'name'?"),
        ("SELECT * FROM nums", "did you mean 'num'?"),
        ("SELECT * FROM default_katalog.db.t", "did you mean 'default_catalog'?"),
        ("SELECT CUONT(*) FROM t", "did you mean 'COUNT'?"),
        ("SELECT ROW_NUMBR() OVER (ORDER BY id) FROM t", "did you mean 'ROW_NUMBER'?"),
        (
            "SELECT name, SUM(id) AS total FROM t GROUP BY name HAVING total > 5",
            "GROUP BY and HAVING do not see aliases of the select list: repeat the expression",
        ),
        ("SELECT name, COUNT(*) FROM t GROUP BY 1", "GROUP BY takes expressions, not positions of the select list"),
    ] {
        assert_eq!(query(sql).expect_err(sql).hint.as_deref(), Some(hint), "{sql}");
    }
}

/// A hint's options reach the catalog, and its errors the place of the table.
#[test]
fn hints() {
    let error = query("SELECT id FROM t /*+ OPTIONS('broken'='1') */ AS x").expect_err("a broken hint");
    assert_eq!(refusal::<()>(Err(error)), "1:16-1:17 unknown option 'broken'");
    assert!(query("SELECT id FROM t /*+ OPTIONS('snapshot-id'='1') */").is_ok());
    check(&[(
        "WITH a AS (SELECT 1 AS x) SELECT x FROM a /*+ OPTIONS('k'='v') */",
        "1:41-1:42 View 'a' cannot be enriched with new options. Hints can only be applied to tables.",
    )]);
}
