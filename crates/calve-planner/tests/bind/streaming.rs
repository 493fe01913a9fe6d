//! What a real Flink refuses in streaming mode alone.

use crate::catalog::{refusal, stream};

#[test]
fn an_order_is_one_in_time_or_has_a_limit() {
    const SORT: &str = "Sort on a non-time-attribute field is not supported.";
    let cases = [
        ("SELECT id FROM t ORDER BY id", "1:27-1:29", SORT),
        ("SELECT 1 AS a ORDER BY a", "1:24-1:25", SORT),
        ("SELECT a FROM timed ORDER BY a, ts", "1:30-1:31", SORT),
        (
            "SELECT * FROM timed ORDER BY ts DESC",
            "1:30-1:32",
            "Sort: Primary sort order of a streaming table must be ascending on time.",
        ),
    ];
    for (sql, place, flink) in cases {
        assert_eq!(refusal(stream(sql)), format!("{place} {flink}"), "{sql}");
    }
    for sql in [
        "SELECT id FROM t ORDER BY id LIMIT 1",
        "SELECT id FROM t ORDER BY id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY",
        "SELECT COUNT(*) FROM (SELECT id FROM t ORDER BY id)",
        "SELECT * FROM (SELECT id FROM t ORDER BY id)",
        "SELECT * FROM timed ORDER BY ts",
        "SELECT a FROM timed ORDER BY ts, a",
        "SELECT a FROM timed /*+ OPTIONS('of'='metadata') */ ORDER BY m",
    ] {
        stream(sql).unwrap();
    }
}
