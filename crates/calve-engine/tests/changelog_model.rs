//! The changes of a query in streaming mode, applied one after the other, leave the rows of the same query in batch mode:
//! random queries over small random tables, and over files of random changes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use calve_engine::{Op, ResultBody, Session, SessionConfig};

/// A generator of numbers; the same seed gives the same numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let at = self.roll(from.len() as u64) as usize;
        from[at]
    }
}

/// A relation of three columns a, b and c of INT, as a query.
fn query(dice: &mut Dice, depth: u32) -> String {
    if depth == 0 {
        return format!("SELECT a, b, c FROM t{}", dice.roll(3));
    }
    let below = |dice: &mut Dice| {
        let depth = if dice.roll(3) == 0 { 0 } else { depth - 1 };
        query(dice, depth)
    };
    let q = below(dice);
    let n = dice.roll(3) + 1;
    match dice.roll(18) {
        0 => format!("SELECT a, b, c FROM ({q}) WHERE {}", dice.pick(&["a > 1", "b IS NOT NULL", "a = b OR c < 2"])),
        1 => format!("SELECT {}, b, a AS c FROM ({q})", dice.pick(&["a + 1 AS a", "c AS a", "COALESCE(a, b) AS a"])),
        2 => {
            let call =
                dice.pick(&["MAX(c)", "MIN(b)", "SUM(c)", "AVG(b)", "SUM(b) FILTER (WHERE c > 1)", "MAX(a + b)"]);
            let count = dice.pick(&["COUNT(*)", "COUNT(b)", "COUNT(DISTINCT c)", "COUNT(*) FILTER (WHERE b > 1)"]);
            let having = dice.pick(&["", "", " HAVING COUNT(*) > 1", " HAVING MAX(c) < 3"]);
            format!("SELECT a, CAST({count} AS INT) AS b, CAST({call} AS INT) AS c FROM ({q}) GROUP BY a{having}")
        }
        3 => {
            let call = dice.pick(&["MAX(c)", "MIN(c)", "SUM(DISTINCT c)", "AVG(c)"]);
            format!("SELECT a, b, CAST({call} AS INT) AS c FROM ({q}) GROUP BY a, b")
        }
        // a stream has no row for no rows
        4 => format!("SELECT CAST(COUNT(*) AS INT) AS a, MAX(b) AS b, SUM(c) AS c FROM ({q}) HAVING COUNT(*) > 0"),
        5 => format!("SELECT DISTINCT a, b, c FROM ({q})"),
        6 | 7 => {
            let op = dice.pick(&["UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]);
            format!("SELECT a, b, c FROM ({q}) {op} SELECT a, b, c FROM ({})", below(dice))
        }
        8..=10 => {
            let kind = dice.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
            let on = dice.pick(&[
                "l.a = r.a",
                "l.a = r.b AND l.b < r.c",
                "l.a = r.a AND l.b = r.b",
                "l.b > r.b",
                "l.c = r.a + 1",
            ]);
            format!("SELECT l.a, r.b, l.c FROM ({q}) l {kind} ({}) r ON {on}", below(dice))
        }
        11 | 12 => {
            let shown = dice.pick(&["b", "CAST(rn AS INT) AS b"]);
            let order = dice.pick(&["b, c", "b DESC, c", "c, b DESC"]);
            let range = dice.pick(&["rn <=", "rn =", "rn > 1 AND rn <="]);
            format!(
                "SELECT a, {shown}, c FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY {order}) AS rn FROM ({q})) \
                 WHERE {range} {n}"
            )
        }
        13 => {
            let offset = dice.pick(&["", "", " OFFSET 1"]);
            format!("SELECT a, b, c FROM (SELECT a, b, c FROM ({q}) ORDER BY a, b DESC, c LIMIT {n}{offset})")
        }
        14 => {
            let condition = dice.pick(&[
                "x.a IN (SELECT b FROM (@) y)",
                "x.a NOT IN (SELECT b FROM (@) y)",
                "x.a NOT IN (SELECT b FROM (@) y WHERE b IS NOT NULL)",
                "EXISTS (SELECT 1 FROM (@) y WHERE y.a = x.b)",
                "NOT EXISTS (SELECT 1 FROM (@) y WHERE y.a = x.b)",
                "NOT EXISTS (SELECT 1 FROM (@) y WHERE y.a = x.b AND y.c > x.c)",
                "EXISTS (SELECT 1 FROM (@) y)",
                "NOT EXISTS (SELECT 1 FROM (@) y WHERE b > 2)",
                "x.a >= (SELECT MAX(b) FROM (@) y)",
                "x.a >= (SELECT MAX(b) FROM (@) y WHERE y.a = x.a)",
            ]);
            let condition = condition.replace('@', &below(dice));
            format!("SELECT a, b, c FROM ({q}) x WHERE {condition}")
        }
        15 => {
            let value = dice.pick(&[
                "(SELECT MIN(b) FROM (@) y)",
                "(SELECT CAST(COUNT(*) AS INT) FROM (@) y WHERE y.a = x.a)",
                "(SELECT MAX(y.c) FROM (@) y WHERE y.b = x.a)",
            ]);
            format!("SELECT a, {} AS b, c FROM ({q}) x", value.replace('@', &below(dice)))
        }
        16 => format!("SELECT a, CAST(SUM(c) OVER (PARTITION BY a ORDER BY b) AS INT) AS b, c FROM ({q})"),
        _ => format!(
            "SELECT a, CAST(GROUPING(b) AS INT) AS b, CAST(SUM(c) AS INT) AS c FROM ({q}) GROUP BY GROUPING SETS ((a), (a, b))"
        ),
    }
}

type Row = Vec<Option<String>>;

/// A query's rows with what happens to each.
async fn run(session: &mut Session, sql: &str) -> Result<Vec<(Op, Row)>, calve_types::Error> {
    let mut all = vec![];
    for statement in calve_sql::split(sql) {
        let ResultBody::Rows(mut rows) = session.execute(&statement).await?.body else { continue };
        while let Some(batch) = rows.next_text().await {
            let batch = batch?;
            let ops = rows.ops().to_vec();
            assert!(ops.is_empty() || ops.len() == batch.len());
            all.extend(batch.into_iter().enumerate().map(|(i, row)| (ops.get(i).copied().unwrap_or(Op::Insert), row)));
        }
    }
    Ok(all)
}

/// The rows that are left, with how often. Only what is there can be taken back, and an update has both of its sides.
fn folded(changes: Vec<(Op, Row)>) -> Result<BTreeMap<Row, i64>, String> {
    let mut rows: BTreeMap<Row, i64> = BTreeMap::new();
    for (op, row) in changes {
        let count = rows.entry(row.clone()).or_default();
        *count += if op.adds() { 1 } else { -1 };
        if *count < 0 {
            return Err(format!("{op} of {row:?}, which is not there"));
        }
        if *count == 0 {
            rows.remove(&row);
        }
    }
    Ok(rows)
}

fn values(dice: &mut Dice) -> String {
    let rows = dice.roll(12) + 1;
    let cell = |dice: &mut Dice| match dice.roll(6) {
        0 => "CAST(NULL AS INT)".to_owned(),
        n => (n - 1).to_string(),
    };
    let rows: Vec<String> = (0..rows).map(|_| format!("({}, {}, {})", cell(dice), cell(dice), cell(dice))).collect();
    rows.join(", ")
}

async fn compare(seed: u64, tables: u32, queries: u32, depth: u32) {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ (seed + 1));
    let mut refused = 0;
    for _ in 0..tables {
        let mut session = Session::new(SessionConfig::default()).unwrap();
        for table in 0..3 {
            let rows = values(&mut dice);
            let view = format!("CREATE TEMPORARY VIEW t{table} AS SELECT a, b, c FROM (VALUES {rows}) AS v(a, b, c)");
            run(&mut session, &view).await.unwrap();
        }
        for _ in 0..queries {
            let sql = query(&mut dice, depth);
            run(&mut session, "SET 'execution.runtime-mode' = 'streaming'").await.unwrap();
            let changes = run(&mut session, &sql).await;
            run(&mut session, "SET 'execution.runtime-mode' = 'batch'").await.unwrap();
            let changes = match changes {
                Err(error) if error.code == "not-supported" => {
                    refused += 1;
                    continue;
                }
                changes => changes.unwrap_or_else(|e| panic!("{e:?}\n{sql}")),
            };
            let left = folded(changes.clone()).unwrap_or_else(|e| panic!("{e}\n{sql}\n{changes:?}"));
            let rows = run(&mut session, &sql).await.unwrap_or_else(|e| panic!("{e:?}\n{sql}"));
            let expected = folded(rows).unwrap();
            assert_eq!(left, expected, "{sql}\n{changes:?}");
        }
    }
    assert!(refused * 4 < tables * queries, "{refused} queries of {} were refused", tables * queries);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_leave_the_rows_of_batch_mode() {
    let seed = std::env::var("CALVE_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let rounds = std::env::var("CALVE_ROUNDS").ok().and_then(|s| s.parse().ok()).unwrap_or(4);
    for depth in [1, 2, 3] {
        compare(seed * 10 + u64::from(depth), rounds, 40, depth).await;
    }
}

type Cells = [Option<u64>; 3];

/// Random changes of a table as Debezium's messages, and the rows that are left.
fn changes(dice: &mut Dice) -> (String, Vec<Cells>) {
    let cell = |dice: &mut Dice| dice.roll(6).checked_sub(1);
    let json = |row: Option<&Cells>| {
        let show = |cell: &Option<u64>| cell.map_or("null".to_owned(), |v| v.to_string());
        row.map_or("null".to_owned(), |[a, b, c]| format!("{{\"a\":{},\"b\":{},\"c\":{}}}", show(a), show(b), show(c)))
    };
    let mut rows: Vec<Cells> = vec![];
    let mut text = String::new();
    for _ in 0..dice.roll(16) + 1 {
        let new = [cell(dice), cell(dice), cell(dice)];
        let old = (!rows.is_empty()).then(|| dice.roll(rows.len() as u64) as usize);
        let (op, before, after) = match (dice.roll(4), old) {
            (0, Some(at)) => ("d", Some(rows.swap_remove(at)), None),
            (1, Some(at)) => ("u", Some(std::mem::replace(&mut rows[at], new)), Some(new)),
            _ => {
                rows.push(new);
                ("c", None, Some(new))
            }
        };
        let (before, after) = (json(before.as_ref()), json(after.as_ref()));
        text.push_str(&format!("{{\"before\":{before},\"after\":{after},\"op\":\"{op}\"}}\n"));
    }
    (text, rows)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_that_are_read_leave_the_rows_of_their_tables() {
    let seed = std::env::var("CALVE_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let rounds = std::env::var("CALVE_ROUNDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2_u32);
    let mut dice = Dice(0x2545_F491_4F6C_DD1D ^ (seed + 1));
    let (mut refused, mut asked) = (0, 0);
    for _ in 0..rounds {
        let folder = tempfile::tempdir().unwrap();
        let mut streaming = Session::new(SessionConfig::default()).unwrap();
        let mut batch = Session::new(SessionConfig::default()).unwrap();
        run(&mut batch, "SET 'execution.runtime-mode' = 'batch'").await.unwrap();
        for table in 0..3 {
            let (text, rows) = changes(&mut dice);
            let path = folder.path().join(format!("t{table}"));
            std::fs::write(&path, text).unwrap();
            let create = format!(
                "CREATE TABLE t{table} (a INT, b INT, c INT) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = \
                 'debezium-json')",
                path.display()
            );
            run(&mut streaming, &create).await.unwrap();
            let show = |cell: &Option<u64>| cell.map_or("CAST(NULL AS INT)".to_owned(), |v| v.to_string());
            let mut values: Vec<String> =
                rows.iter().map(|[a, b, c]| format!("({}, {}, {}, TRUE)", show(a), show(b), show(c))).collect();
            values.push("(0, 0, 0, FALSE)".to_owned());
            let view = format!(
                "CREATE TEMPORARY VIEW t{table} AS SELECT a, b, c FROM (VALUES {}) AS v(a, b, c, there) WHERE there",
                values.join(", ")
            );
            run(&mut batch, &view).await.unwrap();
        }
        for depth in [1, 1, 2, 2, 3] {
            for _ in 0..12 {
                let sql = query(&mut dice, depth);
                asked += 1;
                let changes = match run(&mut streaming, &sql).await {
                    Err(error) if error.code == "not-supported" => {
                        refused += 1;
                        continue;
                    }
                    changes => changes.unwrap_or_else(|e| panic!("{e:?}\n{sql}")),
                };
                let left = folded(changes.clone()).unwrap_or_else(|e| panic!("{e}\n{sql}\n{changes:?}"));
                let rows = run(&mut batch, &sql).await.unwrap_or_else(|e| panic!("{e:?}\n{sql}"));
                assert_eq!(left, folded(rows).unwrap(), "{sql}\n{changes:?}");
            }
        }
    }
    assert!(refused * 4 < asked, "{refused} queries of {asked} were refused");
}
