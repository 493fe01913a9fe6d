//! Which changes the rows of a stream have, as a real Flink gave them, and which sinks it lets take them.

use calve_planner::stream::{self, Kinds};

use crate::catalog::{refusal, stream, stream_insert};

const VIEWS: &str = "WITH o AS (SELECT k, NULLIF(g, 'n') AS g, x FROM (VALUES (1, 'a', 10), (2, 'b', 20)) AS t(k, g, x)), \
                     p AS (SELECT * FROM (VALUES (1, 'one'), (2, 'two')) AS t(k, n)) ";

const UPDATES: Kinds = Kinds { updates: true, deletes: false };

fn kinds(sql: &str) -> Option<Kinds> {
    let node = stream::plan(&stream(&format!("{VIEWS}{sql}")).unwrap()).unwrap();
    node.changes().then_some(node.kinds)
}

#[test]
fn kinds_of_changes() {
    let cases = [
        // rows are only added
        ("SELECT k, x FROM o", None),
        ("SELECT DISTINCT g FROM o", None),
        ("SELECT o.k, p.n FROM o JOIN p ON o.k = p.k WHERE x > 10", None),
        ("SELECT k, x FROM o WHERE k IN (SELECT k FROM p)", None),
        ("SELECT k FROM o UNION ALL SELECT k FROM p", None),
        (
            "SELECT k, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt) AS rn \
             FROM (SELECT *, PROCTIME() AS pt FROM o)) WHERE rn = 1",
            None,
        ),
        // updates
        ("SELECT k, COUNT(*) AS c FROM o GROUP BY k", Some(UPDATES)),
        ("SELECT k, g, COUNT(*) AS c FROM o GROUP BY ROLLUP (k, g)", Some(UPDATES)),
        (
            "SELECT k, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY pt DESC) AS rn \
             FROM (SELECT *, PROCTIME() AS pt FROM o)) WHERE rn = 1",
            Some(Kinds::ALL),
        ),
        ("SELECT k, x FROM o WHERE x > (SELECT AVG(x) FROM o)", Some(UPDATES)),
        // updates and deletes, as far as the planner knows
        ("SELECT c, COUNT(*) AS n FROM (SELECT k, COUNT(*) AS c FROM o GROUP BY k) GROUP BY c", Some(Kinds::ALL)),
        ("SELECT k, x FROM o ORDER BY x LIMIT 2", Some(Kinds::ALL)),
        (
            "SELECT k, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x) AS rn FROM o) WHERE rn <= 2",
            Some(Kinds::ALL),
        ),
        ("SELECT k, SUM(x) OVER (PARTITION BY g ORDER BY k) AS s FROM o", Some(Kinds::ALL)),
    ];
    for (sql, expected) in cases {
        assert_eq!(kinds(sql), expected, "{sql}");
    }
    // an outer join, and what has no operator of its own in Flink, may take back what it gave
    for sql in [
        "SELECT a.k, a.c, p.n FROM (SELECT k, COUNT(*) AS c FROM o GROUP BY k) AS a LEFT JOIN p ON a.k = p.k",
        "SELECT k, x FROM o WHERE k NOT IN (SELECT k FROM p)",
        "SELECT k FROM o EXCEPT SELECT k FROM p",
    ] {
        assert!(kinds(sql).is_some_and(|kinds| kinds.deletes), "{sql}");
    }
}

#[test]
fn sinks_that_take_changes() {
    let count = "SELECT k, COUNT(*) FROM o GROUP BY k";
    let add = "SELECT k, CAST(x AS BIGINT) FROM o WHERE k IN (SELECT k FROM p)";
    let limit = "SELECT k, CAST(x AS BIGINT) FROM o ORDER BY x LIMIT 2";
    for (sink, query) in [
        ("files", add),
        ("printed", count),
        ("printed", limit),
        ("nowhere", count),
        ("keyed", count),
        ("keyed", limit),
        ("keyless", add),
        // what is never taken back needs no key
        ("keyless", "SELECT DISTINCT k, CAST(0 AS BIGINT) FROM o"),
    ] {
        stream_insert(&format!("INSERT INTO {sink} {VIEWS}{query}")).unwrap();
    }
    let cases = [
        (
            "files",
            count,
            "update changes which is produced by node GroupAggregate(groupBy=[k], select=[k, COUNT(*) AS EXPR$1])",
        ),
        ("files", limit, "update and delete changes which is produced by node SortLimit("),
        (
            "files",
            "SELECT DISTINCT k, CAST(x AS BIGINT) FROM o",
            "update changes which is produced by node GroupAggregate(",
        ),
        ("keyless", count, "update changes which is produced by node GroupAggregate("),
        ("keyless", limit, "update and delete changes which is produced by node SortLimit("),
    ];
    for (sink, query, node) in cases {
        let found = refusal(stream_insert(&format!("INSERT INTO {sink} {VIEWS}{query}")));
        let flink = format!("Table sink 'default_catalog.default_database.{sink}' doesn't support consuming {node}");
        assert!(found.contains(&flink), "{query}: {found}");
    }
}

#[test]
fn windows_of_which_a_row_is_in_too_many() {
    let windows = |function: &str| stream(&format!("SELECT * FROM TABLE({function})"));
    for function in [
        "HOP(TABLE timed, DESCRIPTOR(ts), INTERVAL '0.001' SECOND, INTERVAL '2' MINUTE)",
        "CUMULATE(TABLE timed, DESCRIPTOR(ts), INTERVAL '0.001' SECOND, INTERVAL '2' MINUTE)",
    ] {
        let error = windows(function).unwrap_err();
        assert_eq!(error.code, "invalid-window");
        assert!(error.message.contains("120000 windows") && error.hint.is_some() && error.span.is_some(), "{error:?}");
    }
    let error = stream("SELECT COUNT(*) FROM timed GROUP BY HOP(ts, INTERVAL '0.001' SECOND, INTERVAL '2' MINUTE)");
    assert_eq!(error.unwrap_err().code, "invalid-window");
    windows("HOP(TABLE timed, DESCRIPTOR(ts), INTERVAL '0.001' SECOND, INTERVAL '1' MINUTE)").unwrap();
}
