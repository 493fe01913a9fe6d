//! Functions over windows: types and refusals that a real Flink gave.

use crate::catalog::{query, refusal, schema};

fn types(exprs: &str) -> String {
    schema(
        &query(&format!(
            "SELECT {exprs} FROM (VALUES (1, 'a', CAST(NULL AS INT), CAST(NULL AS DECIMAL(5, 2)))) AS t(id, g, x, d)"
        ))
        .unwrap(),
    )
}

#[test]
fn result_types() {
    let cases = [
        ("ROW_NUMBER() OVER (PARTITION BY g ORDER BY id) AS a", "a BIGINT NOT NULL"),
        ("RANK() OVER (ORDER BY x) AS a, NTILE(2) OVER () AS b", "a BIGINT NOT NULL\tb BIGINT NOT NULL"),
        (
            "CUME_DIST() OVER (ORDER BY id) AS a, PERCENT_RANK() OVER (ORDER BY id) AS b",
            "a DOUBLE NOT NULL\tb DOUBLE NOT NULL",
        ),
        ("SUM(x) OVER (PARTITION BY g) AS a, COUNT(*) OVER () AS b", "a INT\tb BIGINT NOT NULL"),
        ("SUM(d) OVER (ORDER BY id ROWS 1 PRECEDING) AS a, AVG(d) OVER () AS b", "a DECIMAL(38, 2)\tb DECIMAL(38, 6)"),
        ("MAX(g) OVER (ORDER BY id) AS a, SUM(id) OVER (ORDER BY g) AS b", "a CHAR(1) NOT NULL\tb INT NOT NULL"),
        ("SUM(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a", "a INT"),
        ("LEAD(id) OVER () AS a, LEAD(id, 1, 9) OVER (ORDER BY id) AS b", "a INT\tb INT NOT NULL"),
        (
            "LEAD(id, 1, CAST(9 AS BIGINT)) OVER (ORDER BY id) AS a, LAG(g, 1, 'none') OVER (ORDER BY id) AS b",
            "a INT NOT NULL\tb CHAR(1) NOT NULL",
        ),
    ];
    for (exprs, expected) in cases {
        assert_eq!(types(exprs), expected, "{exprs}");
    }
    let rel = query("SELECT id, SUM(COUNT(*)) OVER () AS a FROM t GROUP BY id").unwrap();
    assert_eq!(schema(&rel), "id INT\ta BIGINT NOT NULL");
    let rel = query("SELECT id, RANK() OVER w AS r FROM t WINDOW w AS (PARTITION BY name ORDER BY amt) QUALIFY r = 1")
        .unwrap();
    assert_eq!(schema(&rel), "id INT\tr BIGINT NOT NULL");
}

#[test]
fn refused() {
    let cases = [
        ("COUNT(DISTINCT id) OVER (PARTITION BY name)", "Distinct not supported in Windowing function!"),
        ("SUM(id) FILTER (WHERE id > 10) OVER (PARTITION BY name)", "OVER must be applied to aggregate function"),
        (
            "FIRST_VALUE(id) IGNORE NULLS OVER (ORDER BY id)",
            "Cannot specify IGNORE NULLS or RESPECT NULLS following 'FIRST_VALUE'",
        ),
        (
            "LAG(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
            "ROW/RANGE not allowed with RANK, DENSE_RANK or ROW_NUMBER functions",
        ),
        ("RANK() OVER ()", "RANK or DENSE_RANK functions require ORDER BY clause in window specification"),
        (
            "ROW_NUMBER() OVER (PARTITION BY name)",
            "Over Agg: The window rank function requires order by clause with non-constant fields. please re-check the over window statement.",
        ),
        ("NTILE(id) OVER (ORDER BY id)", "Argument to function 'NTILE' must be a literal"),
        (
            "SUM(id) OVER (RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
            "Window specification must contain an ORDER BY clause",
        ),
        (
            "SUM(id) OVER (ORDER BY name RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
            "Data type of ORDER BY prohibits use of RANGE clause",
        ),
        (
            "SUM(id) OVER (ORDER BY id, name RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
            "RANGE clause cannot be used with compound ORDER BY clause",
        ),
        (
            "SUM(id) OVER (ORDER BY id ROWS BETWEEN -1 PRECEDING AND CURRENT ROW)",
            "ROWS value must be a non-negative integral constant",
        ),
        (
            "SUM(id) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING)",
            "Upper frame boundary cannot be PRECEDING when lower boundary is FOLLOWING",
        ),
        (
            "SUM(id) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW)",
            "UNBOUNDED FOLLOWING cannot be specified for the lower frame boundary",
        ),
        ("SUM(SUM(id) OVER (ORDER BY id))", "Aggregate expressions cannot be nested"),
        ("SUM(id) OVER nope", "Window 'nope' not found"),
        ("UPPER(name) OVER (ORDER BY id)", "OVER must be applied to aggregate function"),
        (
            "ROW_NUMBER(id) OVER (ORDER BY id)",
            "Invalid number of arguments to function 'ROW_NUMBER'. Was expecting 0 arguments",
        ),
        (
            "LAG(id, 'a') OVER (ORDER BY id)",
            "Cannot apply 'LAG' to arguments of type 'LAG(<INTEGER>, <CHAR(1)>)'. Supported form(s): 'LAG(<ANY>)'\n'LAG(<ANY>, <NUMERIC>)'\n'LAG(<ANY>, <NUMERIC>, <ANY>)'",
        ),
        (
            "LAG(id, 1, 2, 3) OVER (ORDER BY id)",
            "Invalid number of arguments to function 'LAG'. Was expecting 1 arguments",
        ),
        ("NTH_VALUE(id, 2) OVER (ORDER BY id)", "No match found for function signature NTH_VALUE"),
    ];
    for (expr, expected) in cases {
        let found = refusal(query(&format!("SELECT {expr} FROM t")));
        let found = found.split_once(' ').unwrap().1;
        assert_eq!(found, expected, "{expr}");
    }
    let cases = [
        (
            "SELECT id FROM t WHERE ROW_NUMBER() OVER (ORDER BY id) = 1",
            "Windowed aggregate expression is illegal in WHERE clause",
        ),
        ("SELECT id FROM t QUALIFY id > 1", "QUALIFY expression 'id > 1' must contain a window function"),
        (
            "SELECT SUM(id) OVER w FROM t WINDOW w AS (PARTITION BY name), w AS (ORDER BY id)",
            "Duplicate window names not allowed",
        ),
    ];
    for (sql, expected) in cases {
        let found = refusal(query(sql));
        assert_eq!(found.split_once(' ').unwrap().1, expected, "{sql}");
    }
}

#[test]
fn errors_stand_at_the_clause() {
    for (expr, clause) in [
        ("RANK() OVER (PARTITION BY name)", "(PARTITION BY name"),
        ("LAG(id) OVER (ORDER BY id ROWS 1 PRECEDING)", "ROWS"),
        ("LAG(id) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "RANGE"),
        ("SUM(id) OVER (ORDER BY id, name RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", "RANGE BETWEEN 1"),
        ("ABS(DISTINCT id)", "DISTINCT"),
        ("ABS(*)", "*"),
    ] {
        let sql = format!("SELECT {expr} FROM t");
        let span = query(&sql).unwrap_err().span.unwrap();
        let found = &sql[span.start.column as usize - 1..span.end.column as usize - 1];
        assert_eq!(found, clause, "{sql}");
    }
}
