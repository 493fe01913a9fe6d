//! Which tables a statement names.

use calve_planner::tables::referenced;
use calve_sql::parse_one;

fn names(sql: &str) -> Vec<String> {
    referenced(&parse_one(sql).unwrap())
        .iter()
        .map(|r| {
            let hints: Vec<String> = r.hints.iter().map(|(k, v)| format!("{k}={v}")).collect();
            format!("{}:{} {} {}", r.span.start.line, r.span.start.column, r.parts.join("."), hints.join(","))
                .trim()
                .to_owned()
        })
        .collect()
}

#[test]
fn every_place_of_a_table() {
    assert_eq!(
        names(
            "INSERT INTO c.d.s /*+ OPTIONS('a'='b') */ SELECT * FROM x JOIN y ON x.a IN (SELECT a FROM z) WHERE EXISTS (SELECT 1 FROM x)"
        ),
        ["1:13 c.d.s a=b", "1:57 x", "1:64 y", "1:91 z"]
    );
    assert_eq!(
        names("WITH q AS (SELECT 1 FROM v) SELECT * FROM q, (SELECT 1 FROM `w$files`) UNION SELECT 1 FROM v"),
        ["1:26 v", "1:43 q", "1:61 w$files"]
    );
    assert_eq!(names("SELECT * FROM t, t /*+ OPTIONS('snapshot-id'='1') */ AS u"), ["1:15 t", "1:18 t snapshot-id=1"]);
    assert_eq!(names("EXPLAIN SELECT * FROM t"), ["1:23 t"]);
    assert!(names("SHOW TABLES").is_empty());
}
