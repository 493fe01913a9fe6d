//! Names and types of results.

use crate::catalog::{query, schema};

fn check(cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (sql, expected) in cases {
        let found = match query(sql) {
            Ok(rel) => schema(&rel),
            Err(e) => format!("{}: {} ({})", e.code, e.message, e.detail.unwrap_or_default()),
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
        ("SELECT 1, 2 + 3, 'x'", "EXPR$0 INT NOT NULL\tEXPR$1 INT NOT NULL\tEXPR$2 CHAR(1) NOT NULL"),
        ("SELECT COUNT(*), 1 FROM (VALUES (1), (2)) AS t(a)", "EXPR$0 BIGINT NOT NULL\tEXPR$1 INT NOT NULL"),
        ("SELECT a, a FROM (VALUES (1)) AS t(a)", "a INT NOT NULL\ta0 INT NOT NULL"),
        ("SELECT t.a, t.* FROM (VALUES (1, 2)) AS t(a, b)", "a INT NOT NULL\ta0 INT NOT NULL\tb INT NOT NULL"),
        ("SELECT *, a + 1 AS c FROM (VALUES (1, 2)) AS t(a, b)", "a INT NOT NULL\tb INT NOT NULL\tc INT NOT NULL"),
        ("SELECT id AS x, id + 1 AS x FROM (VALUES (1)) AS t(id)", "x INT NOT NULL\tx0 INT NOT NULL"),
        ("SELECT id x, n AS `y z` FROM (VALUES (1, 'a')) t(id, n)", "x INT NOT NULL\ty z CHAR(1) NOT NULL"),
        ("SELECT EXPR$0, EXPR$1 FROM (VALUES (1, 'a'))", "EXPR$0 INT NOT NULL\tEXPR$1 CHAR(1) NOT NULL"),
        ("SELECT `a``b` FROM (VALUES (1)) AS t(`a``b`)", "a`b INT NOT NULL"),
        (
            "SELECT a, A1 AS `Mixed Case`, `b c` FROM (VALUES (1, 2, 3)) AS T(a, A1, `b c`)",
            "a INT NOT NULL\tMixed Case INT NOT NULL\tb c INT NOT NULL",
        ),
        // Hidden sort columns change how repeated names are numbered.
        ("SELECT a.id, b.id FROM l a JOIN l b ON a.id = b.id ORDER BY a.lv", "id INT\tid1 INT"),
        ("SELECT a.id, b.id FROM l a JOIN l b ON a.id = b.id ORDER BY a.id", "id INT\tid0 INT"),
        ("SELECT * FROM l a JOIN l b ON a.id = b.id", "id INT\tlv STRING\tid0 INT\tlv0 STRING"),
        (
            "SELECT (id), default_database.t.name, default_catalog.default_database.t.amt FROM t",
            "id INT\tname STRING\tamt DECIMAL(10, 2)",
        ),
        ("SELECT snapshot_id FROM t$snapshots", "snapshot_id BIGINT NOT NULL"),
        ("SELECT snapshot_id FROM default_database.`t$snapshots` AS x", "snapshot_id BIGINT NOT NULL"),
    ]);
}

#[test]
fn with() {
    check(&[
        (
            "WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT x, y FROM a, b",
            "x INT NOT NULL\ty INT NOT NULL",
        ),
        (
            "WITH a(p, q) AS (VALUES (1, 'x'), (2, 'y')) SELECT q, p FROM a ORDER BY p",
            "q CHAR(1) NOT NULL\tp INT NOT NULL",
        ),
        ("WITH a AS (SELECT 1 AS x) SELECT * FROM a UNION ALL SELECT x + 10 FROM a ORDER BY x", "x INT NOT NULL"),
        ("WITH a AS (SELECT 1 AS x), a AS (SELECT 2 AS y) SELECT * FROM a", "y INT NOT NULL"),
        (
            "WITH a AS (SELECT 1 AS x) SELECT * FROM (WITH b AS (SELECT x + 5 AS z FROM a) SELECT z FROM b)",
            "z INT NOT NULL",
        ),
        (
            "WITH a AS (SELECT 1 AS x) SELECT (SELECT MAX(x) FROM a) AS m, (SELECT COUNT(*) FROM t) AS c",
            "m INT\tc BIGINT",
        ),
        ("WITH t AS (SELECT 1 AS x) SELECT * FROM t", "x INT NOT NULL"),
    ]);
}

#[test]
fn values_and_set_operations() {
    check(&[
        ("VALUES (1, 'a'), (2, 'b')", "EXPR$0 INT NOT NULL\tEXPR$1 CHAR(1) NOT NULL"),
        ("SELECT * FROM (VALUES (1, 'a'), (CAST(NULL AS INT), 'bcd')) AS t(a, b)", "a INT\tb VARCHAR(3) NOT NULL"),
        ("SELECT * FROM (VALUES (ROW(1, 'a'))) AS t(a, b)", "a INT NOT NULL\tb CHAR(1) NOT NULL"),
        ("SELECT 1 AS a UNION ALL SELECT 2.5", "a DECIMAL(11, 1) NOT NULL"),
        ("SELECT CAST(1 AS INT) AS a UNION ALL SELECT CAST(2 AS BIGINT)", "a BIGINT NOT NULL"),
        ("SELECT 'a' AS s UNION ALL SELECT 'bcd' ORDER BY s", "s VARCHAR(3) NOT NULL"),
        ("SELECT id AS first_name FROM l UNION SELECT id AS other FROM r ORDER BY first_name", "first_name INT"),
        ("SELECT id FROM l INTERSECT ALL SELECT id FROM r", "id INT"),
        ("(SELECT id FROM l ORDER BY lv LIMIT 1) EXCEPT SELECT id FROM r", "id INT"),
    ]);
}

#[test]
fn literals() {
    check(&[
        (
            "SELECT 1.0 AS a, 100.001 AS c, 1E0 AS e, 1.5E10 AS f, 123456789.123456789 AS h, TRUE AS t, X'0a' AS x",
            "a DECIMAL(2, 1) NOT NULL\tc DECIMAL(6, 3) NOT NULL\te DOUBLE NOT NULL\tf DOUBLE NOT NULL\th DECIMAL(18, 9) NOT NULL\tt BOOLEAN NOT NULL\tx BINARY(1) NOT NULL",
        ),
        (
            "SELECT TIMESTAMP '2024-01-01 00:00:00' AS a, TIMESTAMP '2024-01-01 00:00:00.1234567891' AS e, TIME '01:02:03.456' AS t, DATE '2024-1-2' AS d",
            "a TIMESTAMP(0) NOT NULL\te TIMESTAMP(9) NOT NULL\tt TIME(0) NOT NULL\td DATE NOT NULL",
        ),
        (
            "SELECT 2147483648 AS a, -2147483648 AS b, -(-2147483648) AS c",
            "a BIGINT NOT NULL\tb INT NOT NULL\tc BIGINT NOT NULL",
        ),
        ("SELECT - - id AS d, +id AS p FROM (VALUES (3)) AS t(id)", "d INT NOT NULL\tp INT NOT NULL"),
        (
            "SELECT INTERVAL '1' DAY AS a, INTERVAL '1-2' YEAR TO MONTH AS b",
            "a INTERVAL SECOND(3) NOT NULL\tb INTERVAL MONTH NOT NULL",
        ),
        ("SELECT CAST(NULL AS STRING) AS s, UNKNOWN AS c", "s STRING\tc BOOLEAN"),
        ("SELECT '' AS e", "e CHAR(0) NOT NULL"),
        ("SELECT NULL IS NULL AS a, NULL = NULL AS b", "a BOOLEAN NOT NULL\tb BOOLEAN"),
    ]);
}

#[test]
fn expressions() {
    check(&[
        (
            "SELECT 7.0 / 2 AS a, 1 / 3.0 AS d, CAST(1 AS FLOAT) / 3 AS g, 7 % 3 AS m, 1 + 1 AS i",
            "a DECIMAL(13, 12) NOT NULL\td DECIMAL(17, 6) NOT NULL\tg FLOAT NOT NULL\tm INT NOT NULL\ti INT NOT NULL",
        ),
        (
            "SELECT 1 = 1.0 AS a, CAST(1 AS BIGINT) = CAST(1 AS DOUBLE) AS e, 1.50 = 1.5 AS f, 1 < '10' AS g",
            "a BOOLEAN NOT NULL\te BOOLEAN NOT NULL\tf BOOLEAN NOT NULL\tg BOOLEAN NOT NULL",
        ),
        (
            "SELECT CASE WHEN TRUE THEN 1 ELSE 2.5 END AS a, CASE WHEN TRUE THEN 1 ELSE CAST(2 AS BIGINT) END AS b, CASE WHEN FALSE THEN 'a' ELSE 'bcd' END AS c, CASE WHEN TRUE THEN 1 END AS d",
            "a DECIMAL(11, 1) NOT NULL\tb BIGINT NOT NULL\tc VARCHAR(3) NOT NULL\td INT",
        ),
        (
            "SELECT CASE CAST(NULL AS INT) WHEN NULL THEN 'n' ELSE 'e' END AS b, CASE 3 WHEN 1 THEN 'one' WHEN 3 THEN 'three' END AS c",
            "b CHAR(1) NOT NULL\tc VARCHAR(5)",
        ),
        (
            "SELECT 1 IN (1.0, 2) AS a, '1' IN ('1', '22') AS b, 1 IN ('1', '2') AS c, 1 NOT IN (2, CAST(NULL AS INT)) AS d",
            "a BOOLEAN NOT NULL\tb BOOLEAN NOT NULL\tc BOOLEAN NOT NULL\td BOOLEAN",
        ),
        (
            "SELECT id BETWEEN 2 AND 3 AS b, id NOT BETWEEN SYMMETRIC 3 AND 2 AS s, name LIKE '%o%' AS l, name IS NOT NULL AS n FROM t",
            "b BOOLEAN\ts BOOLEAN\tl BOOLEAN\tn BOOLEAN NOT NULL",
        ),
        (
            "SELECT ARRAY[1, 2.5] AS a, ARRAY['a', 'bcd'] AS c, ARRAY[1, NULL] AS d, MAP['a', 1, 'bb', 2.5] AS m",
            "a ARRAY<DECIMAL(11, 1) NOT NULL> NOT NULL\tc ARRAY<VARCHAR(3) NOT NULL> NOT NULL\td ARRAY<INT> NOT NULL\tm MAP<VARCHAR(2) NOT NULL, DECIMAL(11, 1) NOT NULL> NOT NULL",
        ),
        (
            "SELECT * FROM (VALUES (1, ROW(2, 'x'))) AS t(a, r)",
            "a INT NOT NULL\tr ROW<`EXPR$0` INT NOT NULL, `EXPR$1` CHAR(1) NOT NULL> NOT NULL",
        ),
        ("SELECT ARRAY[1,2,3][1] AS b, ARRAY[ROW(1,'a')][1].EXPR$1 AS c", "b INT\tc CHAR(1)"),
        (
            "SELECT id, r.a, tags[1] AS t1, attrs['k'] AS k, r.b.c FROM j AS j2",
            "id INT\ta INT\tt1 STRING\tk INT\tc STRING",
        ),
        ("SELECT j.r.a AS ra, j.r.*, j.r.b.* FROM j", "ra INT\ta INT\tb ROW<`c` STRING NOT NULL>\tc STRING"),
        (
            "SELECT t.r.b.c AS c, t.r.b.d[2] AS d FROM (SELECT CAST(ROW(1, ROW('x', ARRAY[1,2])) AS ROW<a INT, b ROW<c STRING, d ARRAY<INT>>>) AS r) AS t",
            "c STRING\td INT",
        ),
        (
            "SELECT CAST('1' AS INT) AS a, TRY_CAST('x' AS INT) AS b, CAST(id AS BIGINT) AS c FROM t",
            "a INT NOT NULL\tb INT\tc BIGINT",
        ),
        ("SELECT COALESCE(NULL, 1) AS a, NULLIF(1, 2) AS b", "a INT NOT NULL\tb INT"),
        ("SELECT id IS NOT DISTINCT FROM 1 AND name = 'a' AS b FROM t", "b BOOLEAN"),
        ("SELECT PI AS p, CAST('10:11' AS TIME(3)) AS t", "p DOUBLE NOT NULL\tt TIME(0) NOT NULL"),
    ]);
}

#[test]
fn grouping() {
    check(&[
        ("SELECT name, SUM(id) AS s FROM t GROUP BY name HAVING SUM(id) > 50 ORDER BY s", "name STRING\ts INT"),
        ("SELECT SUM(id) AS s, COUNT(id) AS c, AVG(amt) AS a FROM t", "s INT\tc BIGINT NOT NULL\ta DECIMAL(38, 6)"),
        ("SELECT g, MAX(x) AS m FROM (VALUES ('a', 1)) AS t(g, x) GROUP BY g", "g CHAR(1) NOT NULL\tm INT NOT NULL"),
        ("SELECT MAX(x) AS m FROM (VALUES ('a', 1)) AS t(g, x)", "m INT"),
        (
            "SELECT g, SUM(x) FILTER (WHERE x > 1) AS m FROM (VALUES ('a', 1)) AS t(g, x) GROUP BY g",
            "g CHAR(1) NOT NULL\tm INT",
        ),
        (
            "SELECT x, CASE WHEN x % 2 = 0 THEN 'even' ELSE 'odd' END AS p, COUNT(*) AS c FROM (VALUES (1), (2)) AS t(x) GROUP BY x, CASE WHEN x % 2 = 0 THEN 'even' ELSE 'odd' END ORDER BY x",
            "x INT NOT NULL\tp VARCHAR(4) NOT NULL\tc BIGINT NOT NULL",
        ),
        ("SELECT DISTINCT id % 2 AS p FROM t ORDER BY p", "p INT"),
        ("SELECT DISTINCT 1 AS a FROM (VALUES (1), (2)) AS t(x)", "a INT NOT NULL"),
        ("SELECT 1, COUNT(*) FROM t GROUP BY 1", "EXPR$0 INT NOT NULL\tEXPR$1 BIGINT NOT NULL"),
        ("SELECT COUNT(*) AS c FROM t GROUP BY ()", "c BIGINT NOT NULL"),
        ("SELECT name FROM t GROUP BY name, id ORDER BY id, COUNT(*)", "name STRING"),
        ("SELECT l.id, (SELECT MAX(rv) FROM r WHERE r.id = l.id) AS m FROM l GROUP BY l.id", "id INT\tm STRING"),
    ]);
}

#[test]
fn joins() {
    check(&[
        ("SELECT l.id, lv, rv FROM l JOIN r ON l.id = r.id ORDER BY l.id, rv", "id INT\tlv STRING\trv STRING"),
        (
            "SELECT a.x, b.y FROM (VALUES (1)) AS a(x) LEFT JOIN (VALUES (1)) AS b(y) ON a.x = b.y",
            "x INT NOT NULL\ty INT",
        ),
        (
            "SELECT a.x, b.y FROM (VALUES (1)) AS a(x) RIGHT OUTER JOIN (VALUES (1)) AS b(y) ON a.x = b.y",
            "x INT\ty INT NOT NULL",
        ),
        ("SELECT a.x, b.y FROM (VALUES (1)) AS a(x) FULL OUTER JOIN (VALUES (1)) AS b(y) ON a.x = b.y", "x INT\ty INT"),
        ("SELECT id, lv, rv FROM l JOIN r USING (id)", "id INT\tlv STRING\trv STRING"),
        ("SELECT * FROM l FULL JOIN r USING (id)", "id INT\tlv STRING\trv STRING"),
        ("SELECT * FROM l NATURAL JOIN r", "id INT\tlv STRING\trv STRING"),
        ("SELECT id, l.id AS a, r.id AS b FROM l LEFT JOIN r USING (id)", "id INT\ta INT\tb INT"),
        ("SELECT id FROM l JOIN r USING (id) JOIN t USING (id)", "id INT"),
        (
            "SELECT * FROM l JOIN r USING (id) LEFT JOIN t USING (id)",
            "id INT\tlv STRING\trv STRING\tname STRING\tamt DECIMAL(10, 2)",
        ),
        (
            "SELECT x, y, z FROM (VALUES (1, 2)) AS a(x, y) JOIN (VALUES (CAST(1 AS BIGINT), 3)) AS b(x, z) USING (x)",
            "x BIGINT NOT NULL\ty INT NOT NULL\tz INT NOT NULL",
        ),
        ("SELECT lv, rv FROM l CROSS JOIN r WHERE lv = 'a'", "lv STRING\trv STRING"),
        ("SELECT lv, rv FROM (l JOIN r ON l.id = r.id)", "lv STRING\trv STRING"),
        ("SELECT e.lv FROM l AS e, l AS m, l AS g WHERE e.id = m.id AND m.id = g.id", "lv STRING"),
    ]);
}

#[test]
fn subqueries() {
    check(&[
        ("SELECT (SELECT 5) AS s, 1 AS n1", "s INT\tn1 INT NOT NULL"),
        ("SELECT lv FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.id = l.id)", "lv STRING"),
        ("SELECT lv, id IN (SELECT id FROM r WHERE id IS NOT NULL) AS i FROM l", "lv STRING\ti BOOLEAN"),
        ("SELECT lv FROM l WHERE id = (SELECT MAX(id) FROM r)", "lv STRING"),
        ("SELECT lv FROM l WHERE EXISTS (SELECT 1 FROM (SELECT rv FROM r WHERE r.id = l.id) AS q)", "lv STRING"),
    ]);
}

#[test]
fn order_and_slice() {
    check(&[
        ("SELECT id % 2 AS p, name FROM t ORDER BY p, name DESC", "p INT\tname STRING"),
        ("SELECT id FROM t ORDER BY amt DESC NULLS LAST LIMIT 2 OFFSET 1", "id INT"),
        ("SELECT id, name FROM t ORDER BY 2, 1 FETCH NEXT 2 ROWS ONLY", "id INT\tname STRING"),
        ("SELECT id FROM t ORDER BY UPPER(name)", "id INT"),
        ("SELECT * FROM t LIMIT ALL", "id INT\tname STRING\tamt DECIMAL(10, 2)"),
        ("SELECT t.id AS x FROM t ORDER BY t.id", "x INT"),
    ]);
}

/// Generated SQL has long chains of conditions; none of them may end the process.
#[test]
fn long_chains() {
    let chain = |n: usize, op: &str| (0..n).map(|i| format!("id = {i}")).collect::<Vec<_>>().join(op);
    assert!(query(&format!("SELECT id FROM t WHERE {}", chain(950, " OR "))).is_ok());
    let sum = vec!["1"; 1900].join(" + ");
    assert!(query(&format!("SELECT {sum} AS s")).is_ok());
    let unions = vec!["SELECT 1 AS x"; 200].join(" UNION ALL ");
    assert_eq!(schema(&query(&unions).unwrap()), "x INT NOT NULL");
}

#[test]
fn grouping_sets() {
    check(&[
        ("SELECT id, COUNT(*) AS c FROM (VALUES (1)) AS n(id) GROUP BY ROLLUP(id)", "id INT\tc BIGINT NOT NULL"),
        ("SELECT id + 1 AS i FROM (VALUES (1)) AS n(id) GROUP BY ROLLUP(id)", "i INT"),
        ("SELECT id FROM (VALUES (1)) AS n(id) GROUP BY GROUPING SETS ((id))", "id INT NOT NULL"),
        ("SELECT id FROM (VALUES (1)) AS n(id) GROUP BY id, CUBE(id + 1)", "id INT NOT NULL"),
        (
            "SELECT id IS NULL AS i, GROUPING(id) AS g FROM (VALUES (1)) AS n(id) GROUP BY CUBE(id)",
            "i BOOLEAN NOT NULL\tg BIGINT NOT NULL",
        ),
        (
            "SELECT SUM(id) AS s, GROUP_ID() AS g FROM (VALUES (1)) AS n(id) GROUP BY CUBE(id)",
            "s INT NOT NULL\tg BIGINT NOT NULL",
        ),
    ]);
}

#[test]
fn lateral_and_rows() {
    check(&[
        ("SELECT l.id, t.rv FROM l, LATERAL (SELECT rv FROM r WHERE r.id = l.id) AS t", "id INT\trv STRING"),
        (
            "SELECT t.c FROM l LEFT JOIN LATERAL (SELECT COUNT(*) AS c FROM r WHERE r.id = l.id) AS t ON TRUE",
            "c BIGINT",
        ),
        ("SELECT * FROM l, LATERAL (SELECT * FROM r) AS t", "id INT\tlv STRING\tid0 INT\trv STRING"),
        ("SELECT (id, lv) IN (SELECT id, rv FROM r) AS i FROM l", "i BOOLEAN"),
        ("SELECT (1, 2) IN ((1, 2), (3, 4)) AS i, (1, 2) = (1, 3) AS j", "i BOOLEAN NOT NULL\tj BOOLEAN NOT NULL"),
        ("SELECT id > ALL (SELECT id FROM r) AS a FROM l", "a BOOLEAN"),
    ]);
}
