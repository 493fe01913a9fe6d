//! INSERT: what goes where, and what does not fit.

use calve_planner::{ExprKind, RelKind};

use crate::catalog::{insert, refusal, schema};

fn mismatch(table: &str, cause: &str, query: &str, sink: &str) -> String {
    format!(
        "Column types of query result and sink for 'default_catalog.default_database.{table}' do not match.\nCause: {cause}\n\nQuery schema: [{query}]\nSink schema:  [{sink}]"
    )
}

const F: &str = "a: INT, b: STRING, c: DOUBLE";
const NUM: &str = "i: INT, b: BIGINT, f: FLOAT, d: DOUBLE, c: DECIMAL(5, 2)";

#[test]
fn accepted() {
    for sql in [
        "INSERT INTO f VALUES (1, 'one', 1.5), (2, 'two', CAST(NULL AS DOUBLE))",
        "INSERT INTO f (b, a) VALUES ('three', 3)",
        "INSERT INTO f (c) SELECT 4.25",
        "INSERT INTO f SELECT 5, 'five', 5",
        "INSERT INTO num VALUES (1, 2, CAST(3 AS FLOAT), 4, 5)",
        "INSERT INTO num (i, c) VALUES (1, 1234.5)",
        "INSERT INTO num (i, c) SELECT 1, CAST(99999 AS BIGINT)",
        "INSERT INTO num (b) SELECT CAST(3 AS SMALLINT)",
        "INSERT INTO num (c) SELECT CAST(1.239 AS DOUBLE)",
        "INSERT INTO tt (d) SELECT TIMESTAMP '2024-01-01 10:00:00'",
        "INSERT INTO tt (l) SELECT TIMESTAMP '2024-01-01 10:00:00'",
        "INSERT INTO tt (s) SELECT CAST('x' AS CHAR(3))",
        "INSERT INTO tt (v, c) SELECT 'abcdefgh', 'ab'",
        "INSERT INTO tt (by_) SELECT X'0102'",
        "INSERT INTO nn SELECT id, lv FROM l",
        "INSERT INTO f WITH a AS (SELECT 7 AS x) SELECT x, 'a', 1.0 FROM a",
        "INSERT OVERWRITE f SELECT id, name, 1.0 FROM t ORDER BY amt LIMIT 3",
    ] {
        let sink = insert(sql).unwrap_or_else(|e| panic!("{sql}: {} {:?}", e.message, e.detail));
        let columns: Vec<String> =
            sink.table.columns.iter().map(|c| format!("{} {}", c.name, c.data_type.logical)).collect();
        let fields: Vec<String> =
            sink.input.fields.iter().map(|f| format!("{} {}", f.name, f.data_type.logical)).collect();
        assert_eq!(columns, fields, "{sql}");
    }
}

#[test]
fn nulls_are_checked_at_run_time() {
    let sink = insert("INSERT INTO nn SELECT id, lv FROM l").unwrap();
    assert_eq!(sink.not_null, [0, 1]);
    assert_eq!(schema(&sink.input), "id INT\ts STRING");
    assert!(insert("INSERT INTO f SELECT a, b, c FROM f").unwrap().not_null.is_empty());
}

#[test]
fn unchanged_queries_get_no_projection() {
    let sink = insert("INSERT INTO f SELECT * FROM f").unwrap();
    let RelKind::Project { exprs, .. } = &sink.input.kind else { panic!("{:?}", sink.input.kind) };
    assert!(exprs.iter().all(|e| matches!(e.kind, ExprKind::Column(_))));
}

#[test]
fn static_partitions() {
    let sink = insert("INSERT INTO part PARTITION (dt='2024-05-01') SELECT 10, 7").unwrap();
    assert_eq!(schema(&sink.input), "id INT NOT NULL\tdt STRING NOT NULL\thr INT NOT NULL");
    let RelKind::Project { exprs, .. } = &sink.input.kind else { panic!("{:?}", sink.input.kind) };
    assert!(matches!(exprs[0].kind, ExprKind::Column(0)));
    assert!(matches!(exprs[1].kind, ExprKind::Literal(_)));
    assert!(matches!(exprs[2].kind, ExprKind::Column(1)));
    // The literal becomes the column's type.
    let sink = insert("INSERT INTO part PARTITION (hr='7', dt='x') (id) VALUES (1)").unwrap();
    assert_eq!(schema(&sink.input), "id INT NOT NULL\tdt STRING NOT NULL\thr INT NOT NULL");
    assert!(insert("INSERT INTO part PARTITION (dt='x', hr=7) VALUES (1), (2)").is_ok());
}

#[test]
fn refused() {
    let cases = [
        ("INSERT INTO f (a, a) VALUES (1, 2)", "1:19-1:20 Target column 'a' is assigned more than once".to_owned()),
        ("INSERT INTO f (a, nope) VALUES (1, 2)", "1:19-1:23 Unknown target column 'nope'".to_owned()),
        ("INSERT INTO f (a, b) VALUES (1)", "1:22-1:32 Number of columns must match number of query columns".to_owned()),
        (
            "INSERT INTO nn (id) VALUES (2)",
            "1:13-1:15 Column 's' has no default value and does not allow NULLs".to_owned(),
        ),
        (
            "INSERT INTO f PARTITION (a=1) SELECT 'a', 1.0",
            "1:26-1:27 Static partition column 'a' should be in the partition keys list [] for table 'default_catalog.default_database.f'.".to_owned(),
        ),
        ("INSERT INTO missing SELECT * FROM also_missing", "1:35-1:47 Object 'also_missing' not found".to_owned()),
        ("INSERT INTO missing VALUES (1)", "1:13-1:20 Cannot find table '`default_catalog`.`default_database`.`missing`' in any of the catalogs [default_catalog], nor as a temporary table.".to_owned()),
        ("INSERT INTO t$snapshots VALUES (1)", "1:13-1:24 'default_catalog.default_database.t$snapshots' is not a table that can be written".to_owned()),
        ("INSERT INTO f VALUES (1, NULL, 2.0)", "1:26-1:30 Illegal use of 'NULL'".to_owned()),
        (
            "INSERT INTO f VALUES (1, 'x')",
            format!("1:15-1:30 {}", mismatch("f", "Different number of columns.", "EXPR$0: INT NOT NULL, EXPR$1: CHAR(1) NOT NULL", F)),
        ),
        (
            "INSERT INTO f VALUES (1, 'x', 1.0, 2)",
            format!("1:15-1:38 {}", mismatch(
                "f",
                "Different number of columns.",
                "EXPR$0: INT NOT NULL, EXPR$1: CHAR(1) NOT NULL, EXPR$2: DECIMAL(2, 1) NOT NULL, EXPR$3: INT NOT NULL",
                F
            )),
        ),
        (
            "INSERT INTO f (b) VALUES (42)",
            format!("1:19-1:30 {}", mismatch(
                "f",
                "Incompatible types for sink column 'b' at position 1.",
                "EXPR$0: INT, EXPR$1: INT NOT NULL, EXPR$2: DOUBLE",
                F
            )),
        ),
        (
            "INSERT INTO num (i) SELECT CAST(3 AS BIGINT)",
            format!("1:21-1:45 {}", mismatch(
                "num",
                "Incompatible types for sink column 'i' at position 0.",
                "EXPR$0: BIGINT NOT NULL, EXPR$1: BIGINT, EXPR$2: FLOAT, EXPR$3: DOUBLE, EXPR$4: DECIMAL(5, 2)",
                NUM
            )),
        ),
        (
            "INSERT INTO tiny SELECT a, a FROM (VALUES (CAST(100 AS BIGINT))) AS t(a)",
            format!("1:18-1:73 {}", mismatch(
                "tiny",
                "Incompatible types for sink column 't' at position 0.",
                "a: BIGINT NOT NULL, a0: BIGINT NOT NULL",
                "t: TINYINT, i: INT"
            )),
        ),
    ];
    let mut wrong = Vec::new();
    for (sql, expected) in cases {
        let found = match insert(sql) {
            Ok(sink) => format!("accepted {}", schema(&sink.input)),
            Err(e) => refusal::<()>(Err(e)),
        };
        if found != expected {
            wrong.push(format!("{sql}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
