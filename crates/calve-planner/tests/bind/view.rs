//! Views and the columns of tables that are not stored.

use calve_planner::catalog::Column;
use calve_planner::{ExprKind, RelKind, bind};
use calve_sql::{Statement, parse_one, parse_type};

use crate::catalog::{Tables, expression, insert, query, refusal, schema};

#[test]
fn a_view_is_its_query_with_its_columns() {
    assert_eq!(schema(&query("SELECT * FROM v").unwrap()), "k INT\tword STRING");
    assert_eq!(schema(&query("SELECT v.k, x.word FROM v JOIN v AS x ON v.k = x.k").unwrap()), "k INT\tword STRING");
    // A column keeps the type it had when the view was made.
    assert_eq!(schema(&query("SELECT * FROM v_of_v").unwrap()), "k BIGINT");
    // As of a table, a field of a ROW is named without the view's name.
    assert_eq!(schema(&query("SELECT r.a FROM of_rows").unwrap()), "a INT");
}

#[test]
fn errors_of_a_view_stand_where_it_is_used() {
    let cases = [
        ("SELECT 1 FROM broken", "1:15-1:21 Column 'nope' not found in any table"),
        (
            "SELECT 1 FROM itself",
            "1:15-1:21 view 'default_catalog.default_database.itself': view 'default_catalog.default_database.other': view 'default_catalog.default_database.itself' reads itself",
        ),
        (
            "SELECT * FROM v /*+ OPTIONS('k'='v') */",
            "1:15-1:16 View '`default_catalog`.`default_database`.`v`' cannot be enriched with new options. Hints can only be applied to tables.",
        ),
        (
            "SELECT * FROM stale",
            "1:15-1:20 Field counts are not equal: rowType [id INT, name STRING, amt DECIMAL(10, 2)] castRowType [k INT]",
        ),
    ];
    for (sql, expected) in cases {
        assert_eq!(refusal(query(sql)), expected, "{sql}");
    }
    assert_eq!(
        refusal(insert("INSERT INTO v VALUES (1, 'y')")),
        "1:13-1:14 Sink 'default_catalog.default_database.v' does not exists"
    );
}

#[test]
fn an_error_names_the_outermost_and_the_innermost_view() {
    let message = |sql: &str| query(sql).unwrap_err().message;
    let inner = "view 'default_catalog.default_database.broken': column 'nope' not found";
    assert_eq!(message("SELECT 1 FROM broken"), inner);
    for outer in ["around_broken", "around_around", "outermost"] {
        let expected = format!("view 'default_catalog.default_database.{outer}': {inner}");
        assert_eq!(message(&format!("SELECT 1 FROM {outer}")), expected);
    }
}

#[test]
fn computed_columns() {
    let rel = query("SELECT * FROM computed").unwrap();
    assert_eq!(schema(&rel), "a INT\tb INT\tc STRING NOT NULL\td STRING NOT NULL");
    let RelKind::Project { input, .. } = &rel.kind else { panic!("{:?}", rel.kind) };
    let RelKind::Project { input, exprs } = &input.kind else { panic!("{:?}", input.kind) };
    assert_eq!(schema(input), "a INT\tc STRING NOT NULL");
    assert!(matches!(exprs[2].kind, ExprKind::Column(1)));
}

#[test]
fn computed_and_virtual_columns_are_not_written() {
    let sink = insert("INSERT INTO computed (c, a) VALUES ('z', 3)").unwrap();
    assert_eq!(schema(&sink.input), "a INT NOT NULL\tc STRING NOT NULL");
    assert_eq!(sink.not_null, [1]);
    insert("INSERT INTO metadata VALUES (1, 2)").unwrap();
    let cases = [
        ("INSERT INTO computed (a, b, c) VALUES (1, 2, 'x')", "1:26-1:27 Unknown target column 'b'"),
        (
            "INSERT INTO computed SELECT * FROM computed",
            "1:22-1:28 Column types of query result and sink for 'default_catalog.default_database.computed' do not match.\nCause: Different number of columns.\n\nQuery schema: [a: INT, b: INT, c: STRING NOT NULL, d: STRING NOT NULL]\nSink schema:  [a: INT, c: STRING NOT NULL]",
        ),
        (
            "INSERT INTO metadata /*+ OPTIONS('persisted'='1') */ VALUES (1)",
            "1:13-1:21 Table 'default_catalog.default_database.metadata' declares persistable metadata columns, but the underlying DynamicTableSink doesn't implement the SupportsWritingMetadata interface. If the column should not be persisted, it can be declared with the VIRTUAL keyword.",
        ),
    ];
    for (sql, expected) in cases {
        let found = refusal(insert(sql));
        let found = found.split_once(' ').map_or(found.as_str(), |(_, text)| text);
        assert_eq!(found, expected.split_once(' ').unwrap().1, "{sql}");
    }
}

#[test]
fn metadata_columns_have_the_source_s_type_below_their_own() {
    let rel = query("SELECT * FROM metadata").unwrap();
    assert_eq!(schema(&rel), "a INT\tv INT\tw BIGINT\tc INT");
    let RelKind::Project { input, .. } = &rel.kind else { panic!("{:?}", rel.kind) };
    let RelKind::Project { input, exprs } = &input.kind else { panic!("{:?}", input.kind) };
    assert_eq!(schema(input), "a INT\tw BIGINT\tv BIGINT NOT NULL");
    assert!(matches!(exprs[2].kind, ExprKind::Column(1)));
    // the computed column sees it as it is declared
    let ExprKind::Call { args, .. } = &exprs[3].kind else { panic!("{:?}", exprs[3]) };
    for cast in [&exprs[1], &args[0]] {
        let ExprKind::Cast { expr, safe: false } = &cast.kind else { panic!("{cast:?}") };
        assert!(matches!(expr.kind, ExprKind::Column(2)));
        assert_eq!(cast.data_type.to_string(), "INT");
    }
}

fn columns(list: &str) -> Vec<Column> {
    let row = parse_type(&format!("ROW<{list}>")).unwrap();
    let calve_types::LogicalType::Row(fields) = row.logical else { panic!("no row") };
    fields.into_iter().map(|f| Column::physical(f.name, f.data_type)).collect()
}

fn detail(error: calve_types::Error) -> String {
    error.detail.unwrap_or(error.message)
}

#[test]
fn types_of_computed_columns() {
    let physical = columns("id INT, s STRING NOT NULL");
    let of = |sql: &str| bind::computed_type(&expression(sql), &physical, &Tables);
    assert_eq!(of("id + 1").unwrap().to_string(), "INT");
    assert_eq!(of("UPPER(s)").unwrap().to_string(), "STRING NOT NULL");
    assert_eq!(detail(of("nope + 1").unwrap_err()), "Unknown identifier 'nope'");
    assert_eq!(detail(of("w12.id + 1").unwrap_err()), "Unknown identifier 'w12'");
    assert_eq!(detail(of("(SELECT 1)").unwrap_err()), "Query expression encountered in illegal context");
    assert_eq!(of("SUM(id)").unwrap_err().code, "misplaced-aggregate");
}

fn watermark(clause: &str) -> calve_types::Result<calve_types::DataType> {
    let sql = format!("CREATE TABLE w (id INT, {clause}) WITH ('connector'='datagen')");
    let Statement::CreateTable(create) = parse_one(&sql)? else { panic!("no CREATE TABLE") };
    let all = columns("id INT, ts TIMESTAMP(3), l TIMESTAMP_LTZ(3), t6 TIMESTAMP(6), s STRING, r ROW<ts TIMESTAMP(3)>");
    bind::watermark(&create.watermark.unwrap(), &all, &Tables)
}

#[test]
fn watermarks() {
    assert_eq!(watermark("WATERMARK FOR ts AS ts - INTERVAL '1' SECOND").unwrap().to_string(), "TIMESTAMP(3)");
    let cases = [
        (
            "WATERMARK FOR s AS s",
            "Invalid data type of time field for watermark definition. The field must be of type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the time field type is STRING",
        ),
        (
            "WATERMARK FOR t6 AS t6",
            "Invalid data type of time field for watermark definition. The field must be of type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the time field type is TIMESTAMP(6)",
        ),
        (
            "WATERMARK FOR ts AS 'x'",
            "Invalid data type of expression for watermark definition. The field must be of type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the watermark expression type is CHAR(1) NOT NULL",
        ),
        (
            "WATERMARK FOR ts AS id",
            "Invalid data type of expression for watermark definition. The field must be of type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the watermark expression type is INT",
        ),
        (
            "WATERMARK FOR l AS CAST(l AS TIMESTAMP(3))",
            "The watermark declaration's output data type 'TIMESTAMP(3)' is different from the time field's data type 'TIMESTAMP_LTZ(3)'.",
        ),
        ("WATERMARK FOR ts AS nope", "Unknown identifier 'nope'"),
        (
            "WATERMARK FOR r.ts AS ts",
            "Invalid column name 'r.ts' for rowtime attribute in watermark declaration. Available columns are: [id, ts, l, t6, s, r]",
        ),
        (
            "WATERMARK FOR nope AS ts",
            "The rowtime attribute field 'nope' is not defined in the table schema, at line 1, column 39\nAvailable fields: ['id', 'ts', 'l', 't6', 's', 'r']",
        ),
        (
            "WATERMARK FOR r.nope AS ts",
            "The rowtime attribute field 'r.nope' is not defined in the table schema, at line 1, column 39\nNested field 'nope' was not found in a composite type: ROW<`ts` TIMESTAMP(3)>.",
        ),
    ];
    for (clause, expected) in cases {
        assert_eq!(detail(watermark(clause).unwrap_err()), expected, "{clause}");
    }
}

fn view_columns(sql: &str) -> calve_types::Result<String> {
    let Statement::CreateView(create) = parse_one(sql)? else { panic!("no CREATE VIEW") };
    let columns = bind::view_columns(&create.query, &create.columns, &Tables)?;
    Ok(columns.iter().map(|c| format!("{} {}", c.name, c.data_type)).collect::<Vec<_>>().join(", "))
}

#[test]
fn columns_of_new_views() {
    assert_eq!(
        view_columns("CREATE VIEW x AS SELECT 1, 2, 'a' AS b").unwrap(),
        "EXPR$0 INT NOT NULL, EXPR$1 INT NOT NULL, b CHAR(1) NOT NULL"
    );
    assert_eq!(view_columns("CREATE VIEW x (p, q) AS SELECT id, name FROM t").unwrap(), "p INT, q STRING");
    assert_eq!(
        view_columns("CREATE VIEW x AS SELECT x.*, y.* FROM l x, l y").unwrap(),
        "id INT, lv STRING, id0 INT, lv0 STRING"
    );
    let cases = [
        (
            "CREATE VIEW v4 (x) AS SELECT 1, 2",
            "VIEW definition and input fields not match:\n\tDef fields: [x].\n\tInput fields: [EXPR$0, EXPR$1].",
        ),
        (
            "CREATE VIEW v6 AS SELECT 1 AS a, 2 AS a",
            "A column with the same name `a` has been defined at line 1, column 26.",
        ),
        (
            "CREATE VIEW v3 AS SELECT x.id, y.id FROM t x, t y",
            "A column with the same name `id` has been defined at line 1, column 26.",
        ),
        (
            "CREATE VIEW v4 (p, p) AS SELECT 1, 2",
            "A column with the same name `p` has been defined at line 1, column 33.",
        ),
    ];
    for (sql, expected) in cases {
        assert_eq!(detail(view_columns(sql).unwrap_err()), expected, "{sql}");
    }
}
