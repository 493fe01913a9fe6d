//! Random statements over random tables, against rows in memory.
//!
//! The tables and the rows they must hold stay in `target/row-level/`, where `sql-tests/interop/row_level_with_duckdb.py`
//! reads them.

use std::fmt::Write as _;
use std::path::Path;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::Lake;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    id: Option<i64>,
    k: Option<i64>,
    p: Option<String>,
    v: Option<i64>,
    /// A column that is added later.
    w: Option<i64>,
}

/// A condition, and what it says of a row: NULL as `None`.
#[derive(Clone, Debug)]
enum Condition {
    True,
    Less(i64),
    AtLeast(i64),
    Is(String),
    OneOf(Vec<i64>),
    IsNull,
    Even,
    Not(Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    /// `id IN (SELECT id FROM t WHERE v > n)`
    Query(i64),
}

impl Condition {
    fn random(rng: &mut StdRng, depth: usize) -> Self {
        let k = rng.random_range(0..12);
        match rng.random_range(0..if depth == 0 { 7 } else { 12 }) {
            0 => Self::Less(k),
            1 => Self::AtLeast(k),
            2 | 3 => Self::Is(partition(rng)),
            4 => Self::OneOf(vec![k, rng.random_range(0..12)]),
            5 => Self::IsNull,
            6 => Self::Even,
            7 => Self::Not(Box::new(Self::random(rng, depth - 1))),
            8 | 9 => Self::Or(Box::new(Self::random(rng, depth - 1)), Box::new(Self::random(rng, depth - 1))),
            10 => Self::And(Box::new(Self::random(rng, depth - 1)), Box::new(Self::random(rng, depth - 1))),
            _ => Self::Query(rng.random_range(0..100)),
        }
    }

    fn sql(&self) -> String {
        match self {
            Self::True => "TRUE".to_owned(),
            Self::Less(n) => format!("t.k < {n}"),
            Self::AtLeast(n) => format!("k >= {n}"),
            Self::Is(p) => format!("p = '{p}'"),
            Self::OneOf(values) => {
                format!("k IN ({})", values.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
            }
            Self::IsNull => "k IS NULL".to_owned(),
            Self::Even => "MOD(v, 2) = 0".to_owned(),
            Self::Not(inner) => format!("NOT ({})", inner.sql()),
            Self::Or(a, b) => format!("({} OR {})", a.sql(), b.sql()),
            Self::And(a, b) => format!("({} AND {})", a.sql(), b.sql()),
            Self::Query(n) => format!("id IN (SELECT s.id FROM t AS s WHERE s.v > {n} AND s.id IS NOT NULL)"),
        }
    }

    fn of(&self, row: &Row, table: &[Row]) -> Option<bool> {
        match self {
            Self::True => Some(true),
            Self::Less(n) => row.k.map(|k| k < *n),
            Self::AtLeast(n) => row.k.map(|k| k >= *n),
            Self::Is(p) => row.p.as_ref().map(|value| value == p),
            Self::OneOf(values) => row.k.map(|k| values.contains(&k)),
            Self::IsNull => Some(row.k.is_none()),
            Self::Even => row.v.map(|v| v % 2 == 0),
            Self::Not(inner) => inner.of(row, table).map(|b| !b),
            Self::Or(a, b) => match (a.of(row, table), b.of(row, table)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Self::And(a, b) => match (a.of(row, table), b.of(row, table)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Self::Query(n) => {
                let mut ids = table.iter().filter(|s| s.v.is_some_and(|v| v > *n)).filter_map(|s| s.id).peekable();
                match row.id {
                    None if ids.peek().is_none() => Some(false),
                    None => None,
                    Some(id) => Some(ids.any(|other| other == id)),
                }
            }
        }
    }
}

fn partition(rng: &mut StdRng) -> String {
    ["a", "b", "c", "long name of a partition"].choose(rng).unwrap().to_string()
}

/// A table and what it should hold.
struct Model {
    lake: Lake,
    rng: StdRng,
    rows: Vec<Row>,
    keyed: bool,
    has_w: bool,
    next_id: i64,
    log: String,
}

impl Model {
    async fn new(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let version = [1, 2, 2, 3, 3][seed as usize % 5];
        let keyed = version > 1 && rng.random_bool(0.4);
        let partition = match rng.random_range(0..4) {
            0 => "",
            1 if !keyed => "PARTITIONED BY (p)",
            2 if !keyed => "PARTITIONED BY (truncate(2, k))",
            _ => "PARTITIONED BY (bucket(2, id))",
        };
        let mode = |rng: &mut StdRng| {
            if version > 1 && rng.random_bool(0.6) { "merge-on-read" } else { "copy-on-write" }
        };
        let (id, key) = if keyed { ("NOT NULL", ", PRIMARY KEY (id) NOT ENFORCED") } else { ("", "") };
        let sql = format!(
            "CREATE TABLE t (id BIGINT {id}, k INT, p STRING, v BIGINT{key}) {partition} WITH ('format-version'='{version}', \
             'write.delete.mode'='{}', 'write.update.mode'='{}', 'write.merge.mode'='{}')",
            mode(&mut rng),
            mode(&mut rng),
            mode(&mut rng)
        );
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../target/row-level/{seed}"));
        let mut lake = Lake::at(&folder).await;
        lake.ok(&sql).await;
        let log = format!("seed {seed}\n{sql};\n");
        Self { lake, rng, rows: vec![], keyed, has_w: false, next_id: 0, log }
    }

    fn row(&mut self) -> Row {
        let rng = &mut self.rng;
        let null = |rng: &mut StdRng| rng.random_bool(0.1);
        let id = match rng.random_range(0..4) {
            0 if self.keyed => Some(rng.random_range(0..=self.next_id)),
            0 => (!null(rng)).then(|| rng.random_range(0..=self.next_id)),
            _ => {
                self.next_id += 1;
                Some(self.next_id)
            }
        };
        Row {
            id,
            k: (!null(rng)).then(|| rng.random_range(0..12)),
            p: (!null(rng)).then(|| partition(rng)),
            v: (!null(rng)).then(|| rng.random_range(0..100)),
            w: if self.has_w { (!null(rng)).then(|| rng.random_range(0..9)) } else { None },
        }
    }

    /// Rows as `VALUES`, each with the types of the columns.
    fn values(&self, rows: &[Row]) -> String {
        let number = |value: Option<i64>, of: &str| match value {
            Some(value) => format!("CAST({value} AS {of})"),
            None => format!("CAST(NULL AS {of})"),
        };
        let rows = rows.iter().map(|row| {
            let text = match &row.p {
                Some(p) => format!("CAST('{p}' AS STRING)"),
                None => "CAST(NULL AS STRING)".to_owned(),
            };
            let (id, k, v) = (number(row.id, "BIGINT"), number(row.k, "INT"), number(row.v, "BIGINT"));
            let w = if self.has_w { format!(", {}", number(row.w, "INT")) } else { String::new() };
            format!("({id}, {k}, {text}, {v}{w})")
        });
        format!("VALUES {}", rows.collect::<Vec<_>>().join(", "))
    }

    async fn ok(&mut self, sql: &str) -> Option<crate::WriteSummary> {
        let _ = writeln!(self.log, "{sql};");
        match self.lake.run(sql).await {
            Ok(summary) => summary,
            Err(error) => panic!("{}\n{error} {:?}", self.log, error.detail),
        }
    }

    async fn step(&mut self) {
        match self.rng.random_range(0..12) {
            0..=3 => self.insert().await,
            4..=5 => self.delete().await,
            6..=7 => self.update().await,
            8..=10 => self.merge().await,
            _ => self.evolve().await,
        }
        self.check().await;
    }

    async fn insert(&mut self) {
        let count = self.rng.random_range(1..30);
        let mut rows: Vec<Row> = (0..count).map(|_| self.row()).collect();
        if self.keyed {
            rows.sort_by_key(|row| row.id);
            rows.dedup_by_key(|row| row.id);
            let sql = format!("INSERT INTO t /*+ OPTIONS('upsert-enabled'='true') */ {}", self.values(&rows));
            self.ok(&sql).await;
            self.rows.retain(|old| !rows.iter().any(|new| new.id == old.id));
        } else {
            let sql = format!("INSERT INTO t {}", self.values(&rows));
            self.ok(&sql).await;
        }
        self.rows.extend(rows);
    }

    async fn delete(&mut self) {
        let condition = match self.rng.random_range(0..12) {
            0 => Condition::True,
            _ => Condition::random(&mut self.rng, 2),
        };
        let sql = match condition {
            Condition::True => "DELETE FROM t".to_owned(),
            _ => format!("DELETE FROM t WHERE {}", condition.sql()),
        };
        let summary = self.ok(&sql).await.unwrap();
        let before = self.rows.clone();
        self.rows.retain(|row| condition.of(row, &before) != Some(true));
        let gone = (before.len() - self.rows.len()) as u64;
        assert_eq!(summary.changed.unwrap().deleted, gone, "{}", self.log);
        assert_eq!(summary.snapshot_id.is_some(), gone > 0, "{}", self.log);
    }

    async fn update(&mut self) {
        let condition = Condition::random(&mut self.rng, 2);
        let what = self.rng.random_range(0..5);
        let set = match what {
            0 => "v = v + 1",
            1 => "p = 'c', k = t.k + 1",
            2 => "p = NULL",
            3 => "v = k, k = MOD(v, 12)",
            _ => "v = (SELECT MAX(s.v) FROM t AS s)",
        };
        let summary = self.ok(&format!("UPDATE t SET {set} WHERE {}", condition.sql())).await.unwrap();
        let before = self.rows.clone();
        let most = before.iter().filter_map(|row| row.v).max();
        let mut changed = 0;
        for row in &mut self.rows {
            if condition.of(row, &before) != Some(true) {
                continue;
            }
            changed += 1;
            match what {
                0 => row.v = row.v.map(|v| v + 1),
                1 => (row.p, row.k) = (Some("c".to_owned()), row.k.map(|k| k + 1)),
                2 => row.p = None,
                3 => (row.v, row.k) = (row.k, row.v.map(|v| v % 12)),
                _ => row.v = most,
            }
        }
        assert_eq!(summary.changed.unwrap().updated, changed, "{}", self.log);
    }

    async fn merge(&mut self) {
        let count = self.rng.random_range(1..15);
        let mut source: Vec<Row> = (0..count).map(|_| self.row()).filter(|row| row.id.is_some()).collect();
        source.sort_by_key(|row| row.id);
        source.dedup_by_key(|row| row.id);
        if source.is_empty() {
            return;
        }
        let w = if self.has_w { ", w" } else { "" };
        let (limit, star) = (self.rng.random_range(0..12), self.rng.random_bool(0.5));
        let (deletes, inserts, orphans) =
            (self.rng.random_bool(0.5), self.rng.random_bool(0.7), self.rng.random_bool(0.3));
        let mut sql = format!("MERGE INTO t USING ({}) AS s (id, k, p, v{w}) ON t.id = s.id", self.values(&source));
        if deletes {
            let _ = write!(sql, " WHEN MATCHED AND s.k < {limit} THEN DELETE");
        }
        let update = if star { "UPDATE SET *" } else { "UPDATE SET t.v = s.v + t.v, p = s.p" };
        let _ = write!(sql, " WHEN MATCHED AND s.v IS NOT NULL THEN {update}");
        if inserts {
            let insert = if star { "INSERT *" } else { "INSERT (v, id) VALUES (s.k, s.id)" };
            let _ = write!(sql, " WHEN NOT MATCHED AND s.k >= 2 THEN {insert}");
        }
        if orphans {
            let _ = write!(sql, " WHEN NOT MATCHED BY SOURCE AND t.k = {limit} THEN UPDATE SET p = 'orphan'");
        }
        let summary = self.ok(&sql).await.unwrap();
        let (mut deleted, mut updated, mut inserted) = (0, 0, 0);
        let before = std::mem::take(&mut self.rows);
        for mut row in before.iter().cloned() {
            match source.iter().find(|s| s.id == row.id) {
                Some(s) if deletes && s.k.is_some_and(|k| k < limit) => {
                    deleted += 1;
                    continue;
                }
                Some(s) if s.v.is_some() => {
                    updated += 1;
                    if star {
                        row = s.clone();
                    } else {
                        row.v = s.v.zip(row.v).map(|(a, b)| a + b);
                        row.p = s.p.clone();
                    }
                }
                None if orphans && row.k == Some(limit) => {
                    updated += 1;
                    row.p = Some("orphan".to_owned());
                }
                _ => {}
            }
            self.rows.push(row);
        }
        for s in source {
            if inserts && !before.iter().any(|row| row.id == s.id) && s.k.is_some_and(|k| k >= 2) {
                inserted += 1;
                self.rows.push(if star { s } else { Row { id: s.id, k: None, p: None, v: s.k, w: None } });
            }
        }
        let counts = summary.changed.unwrap();
        assert_eq!((counts.deleted, counts.updated, counts.inserted), (deleted, updated, inserted), "{}", self.log);
    }

    async fn evolve(&mut self) {
        if !self.has_w && self.rng.random_bool(0.5) {
            self.ok("ALTER TABLE t ADD w INT").await;
            self.has_w = true;
        } else if self.keyed {
            // the partition must follow from the key
            let width = self.rng.random_range(3..6);
            let _ = self.lake.run(&format!("ALTER TABLE t ADD PARTITION FIELD bucket({width}, id)")).await;
        } else {
            let field = ["p", "bucket(3, k)", "truncate(1, p)"].choose(&mut self.rng).unwrap();
            let verb = ["ADD", "DROP"].choose(&mut self.rng).unwrap();
            let sql = format!("ALTER TABLE t {verb} PARTITION FIELD {field}");
            // one that is there, or is not, is refused
            if self.lake.run(&sql).await.is_ok() {
                let _ = writeln!(self.log, "{sql};");
            }
        }
    }

    fn expected(&self) -> Vec<Vec<Option<String>>> {
        let number = |value: Option<i64>| value.map(|v| v.to_string());
        let mut expected: Vec<Vec<Option<String>>> = self
            .rows
            .iter()
            .map(|row| {
                let mut texts = vec![number(row.id), number(row.k), row.p.clone(), number(row.v)];
                texts.extend(self.has_w.then(|| number(row.w)));
                texts
            })
            .collect();
        expected.sort();
        expected
    }

    async fn check(&mut self) {
        let found = self.lake.rows("SELECT * FROM t").await;
        assert_eq!(found, self.expected(), "{}", self.log);
    }

    /// Leaves the rows to others, NULL as `\N`.
    fn leave(&self) {
        let lines = self.expected().into_iter().map(|row| {
            let values: Vec<String> = row.into_iter().map(|value| value.unwrap_or_else(|| "\\N".to_owned())).collect();
            values.join("\t") + "\n"
        });
        std::fs::write(self.lake.dir.join("expected.tsv"), lines.collect::<String>()).unwrap();
    }
}

async fn sequences(seeds: std::ops::Range<u64>, steps: usize) {
    for seed in seeds {
        let mut model = Model::new(seed).await;
        for _ in 0..steps {
            model.step().await;
        }
        model.leave();
        // every older snapshot can still be read
        let snapshots = model.lake.rows("SELECT CAST(snapshot_id AS STRING) FROM t$snapshots").await;
        for id in snapshots.into_iter().flatten().flatten() {
            model.lake.rows(&format!("SELECT * FROM t /*+ OPTIONS('snapshot-id'='{id}') */")).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_statements_1() {
    sequences(0..10, 14).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_statements_2() {
    sequences(10..20, 14).await;
}

/// Takes minutes: `cargo test --workspace --lib many_random_statements -- --ignored`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn many_random_statements() {
    sequences(100..300, 40).await;
}
