//! Random tables with random deletes, queried at random, against rows in memory.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::DataType as ArrowType;
use datafusion::datasource::MemTable;
use datafusion::functions_aggregate::expr_fn::{count, max, min};
use datafusion::prelude::{DataFrame, Expr, SessionConfig, SessionContext, cast, col, lit};
use iceberg::spec::*;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use roaring::RoaringTreemap;

use super::lake::{Lake, batch, fields, lines, schema};

#[derive(Clone, Debug, PartialEq)]
struct Row {
    id: Option<i64>,
    name: Option<String>,
    part: Option<i32>,
    x: Option<f64>,
}

struct Stored {
    row: Row,
    file: usize,
    position: u64,
    deleted: bool,
}

struct Model {
    lake: Lake,
    columns: Vec<NestedFieldRef>,
    partitioned: Option<Transform>,
    rows: Vec<Stored>,
    files: Vec<(DataFile, Struct)>,
    vectors: HashMap<usize, RoaringTreemap>,
}

fn random_row(rng: &mut StdRng, ids: i64) -> Row {
    let null = |rng: &mut StdRng| rng.random_bool(0.08);
    Row {
        id: (!null(rng)).then(|| rng.random_range(0..ids)),
        name: (!null(rng)).then(|| {
            let long = if rng.random_bool(0.3) { "a long common prefix of names ".repeat(2) } else { String::new() };
            format!("{long}{}", rng.random_range(0..40))
        }),
        part: (!null(rng)).then(|| rng.random_range(0..3)),
        x: (!null(rng)).then(|| match rng.random_range(0..10) {
            0 => f64::NAN,
            1 => -0.0,
            2 => 0.0,
            _ => f64::from(rng.random_range(-20..20)) / 2.0,
        }),
    }
}

fn to_batch(columns: &[NestedFieldRef], rows: &[&Row]) -> RecordBatch {
    let arrays: Vec<ArrayRef> = columns
        .iter()
        .map(|f| -> ArrayRef {
            match f.id {
                1 => Arc::new(rows.iter().map(|r| r.id).collect::<Int64Array>()),
                2 => Arc::new(rows.iter().map(|r| r.name.clone()).collect::<StringArray>()),
                3 => Arc::new(rows.iter().map(|r| r.part).collect::<Int32Array>()),
                _ => Arc::new(rows.iter().map(|r| r.x).collect::<Float64Array>()),
            }
        })
        .collect();
    batch(columns, arrays)
}

fn same(a: &Row, b: &Row, ids: &[i32]) -> bool {
    ids.iter().all(|id| match id {
        1 => a.id == b.id,
        2 => a.name == b.name,
        3 => a.part == b.part,
        _ => a.x.map(f64::to_bits) == b.x.map(f64::to_bits),
    })
}

impl Model {
    fn new(version: FormatVersion, partitioned: Option<Transform>) -> Self {
        let columns = fields(&[
            (1, "id", PrimitiveType::Long),
            (2, "name", PrimitiveType::String),
            (3, "part", PrimitiveType::Int),
            (4, "x", PrimitiveType::Double),
        ]);
        let spec: Vec<_> = match partitioned {
            None => vec![],
            Some(t @ Transform::Identity) => vec![(3, "part_p", t)],
            Some(t) => vec![(1, "id_p", t)],
        };
        let lake = Lake::new(version, schema(columns.clone()), &spec);
        Self { lake, columns, partitioned, rows: vec![], files: vec![], vectors: HashMap::new() }
    }

    fn partition(&self, row: &Row) -> Struct {
        let value = match self.partitioned {
            None => return Struct::empty(),
            Some(Transform::Identity) => row.part.map(Literal::int),
            Some(t) => row.id.map(|id| {
                let f = iceberg::transform::create_transform_function(&t).unwrap();
                let result = f.transform_literal(&Datum::long(id)).unwrap().unwrap();
                Literal::Primitive(result.literal().clone())
            }),
        };
        Struct::from_iter([value])
    }

    async fn step(&mut self, rng: &mut StdRng, v3: bool) {
        self.lake.metrics = rng.random_bool(0.8);
        self.lake.row_group_rows = [5, 20, 1000][rng.random_range(0..3)];
        let mut commit = Vec::new();
        let before = self.rows.len();
        if rng.random_bool(0.85) {
            let mut by_partition: HashMap<Struct, Vec<Row>> = HashMap::new();
            for _ in 0..rng.random_range(1..80) {
                let row = random_row(rng, 60);
                by_partition.entry(self.partition(&row)).or_default().push(row);
            }
            for (partition, rows) in by_partition {
                let rows_of: Vec<&Row> = rows.iter().collect();
                let file = to_batch(&self.columns, &rows_of);
                let file = self.lake.file(&file).partition(partition.clone()).build().unwrap();
                let number = self.files.len();
                for (position, row) in rows.into_iter().enumerate() {
                    self.rows.push(Stored { row, file: number, position: position as u64, deleted: false });
                }
                self.files.push((file.clone(), partition));
                commit.push(file);
            }
        }
        // keys, of older rows only
        for _ in 0..rng.random_range(0..3) {
            let ids: &[i32] = [&[1][..], &[1], &[1], &[1, 2], &[2], &[3, 1], &[4]][rng.random_range(0..7)];
            let mut scoped: HashMap<Struct, Vec<Row>> = HashMap::new();
            for _ in 0..rng.random_range(1..12) {
                let row = match self.rows.get(rng.random_range(0..self.rows.len().max(1))) {
                    Some(stored) if rng.random_bool(0.7) => stored.row.clone(),
                    _ => random_row(rng, 60),
                };
                scoped.entry(self.partition(&row)).or_default().push(row);
            }
            for (partition, keys) in scoped {
                for i in 0..before {
                    let in_scope = self.files[self.rows[i].file].1 == partition;
                    if in_scope && keys.iter().any(|k| same(k, &self.rows[i].row, ids)) {
                        self.rows[i].deleted = true;
                    }
                }
                let stored: Vec<_> = if rng.random_bool(0.3) {
                    self.columns.clone()
                } else {
                    ids.iter().map(|id| self.columns[*id as usize - 1].clone()).collect()
                };
                let rows = to_batch(&stored, &keys.iter().collect::<Vec<_>>());
                let mut file = self.lake.file(&rows);
                file.content(DataContentType::EqualityDeletes).equality_ids(Some(ids.to_vec())).partition(partition);
                commit.push(file.build().unwrap());
            }
        }
        if !v3 && rng.random_bool(0.6) && !self.rows.is_empty() {
            let mut hit: Vec<usize> =
                (0..rng.random_range(1..15)).map(|_| rng.random_range(0..self.rows.len())).collect();
            hit.sort_unstable();
            let mut scoped: HashMap<Struct, Vec<(String, i64)>> = HashMap::new();
            for i in hit {
                let stored = &mut self.rows[i];
                stored.deleted = true;
                let (file, partition) = &self.files[stored.file];
                scoped
                    .entry(partition.clone())
                    .or_default()
                    .push((file.file_path().to_owned(), stored.position as i64));
            }
            for (partition, mut deletes) in scoped {
                deletes.sort();
                let deletes: Vec<_> = deletes.iter().map(|(p, i)| (p.as_str(), *i)).collect();
                commit.push(self.lake.position_deletes(&deletes).partition(partition).build().unwrap());
            }
        }
        self.lake.commit(commit).await;
    }

    /// Deletion vectors at the end: a table has at most one per file.
    async fn add_vectors(&mut self, rng: &mut StdRng) {
        for stored in &mut self.rows {
            if rng.random_bool(0.15) {
                stored.deleted = true;
                self.vectors.entry(stored.file).or_default().insert(stored.position);
            }
        }
        let vectors: Vec<_> = self.vectors.iter().map(|(f, v)| (self.files[*f].0.clone(), v.clone())).collect();
        let files = vectors.iter().map(|(of, positions)| self.lake.vector(of, positions)).collect();
        self.lake.commit(files).await;
    }

    fn live(&self) -> Vec<&Row> {
        self.rows.iter().filter(|r| !r.deleted).map(|r| &r.row).collect()
    }
}

fn compare(left: Expr, op: usize, right: Expr) -> Expr {
    match op {
        0 => left.eq(right),
        1 => left.not_eq(right),
        2 => left.lt(right),
        3 => left.lt_eq(right),
        4 => left.gt(right),
        _ => left.gt_eq(right),
    }
}

fn random_predicate(rng: &mut StdRng, depth: usize) -> Expr {
    if depth > 0 && rng.random_bool(0.5) {
        let (a, b) = (random_predicate(rng, depth - 1), random_predicate(rng, depth - 1));
        return match rng.random_range(0..3) {
            0 => a.and(b),
            1 => a.or(b),
            _ => Expr::Not(Box::new(a)),
        };
    }
    let op = rng.random_range(0..6);
    let id: i64 = rng.random_range(-5..65);
    let any = |rng: &mut StdRng| col(["id", "name", "part", "x"][rng.random_range(0..4)]);
    match rng.random_range(0..14) {
        0 | 1 => compare(col("id"), op, lit(id)),
        2 => col("id").in_list(vec![lit(id), lit(id + 7), lit(id + 20)], false),
        3 => col("id").in_list(vec![lit(id), lit(id + 1)], true),
        4 => col("id").between(lit(id), lit(id + 9)),
        5 => {
            let name = format!("{}{}", "a long common prefix of names ".repeat(2), rng.random_range(0..40));
            compare(col("name"), op, lit(name))
        }
        6 => col("name").like(lit(format!("{}%", rng.random_range(0..4)))),
        7 => compare(col("part"), op, lit(rng.random_range(-1..4))),
        8 => compare(col("x"), op, lit(f64::from(rng.random_range(-11..11)))),
        9 => compare(col("x"), op, lit(f64::NAN)),
        10 => any(rng).is_null(),
        11 => any(rng).is_not_null(),
        12 => compare(col("id") + lit(1i64), op, lit(id)),
        _ => compare(cast(col("id"), ArrowType::Utf8), op, lit(id.to_string())),
    }
}

#[derive(Clone, Debug)]
struct Query {
    filter: Option<Expr>,
    select: usize,
    sorted: bool,
    limit: Option<usize>,
}

const PLAIN_SELECTS: usize = 5;

impl Query {
    fn apply(&self, mut frame: DataFrame) -> DataFrame {
        if let Some(filter) = &self.filter {
            frame = frame.filter(filter.clone()).unwrap();
        }
        if self.sorted {
            let by = ["id", "name", "part", "x"].iter().map(|c| col(*c).sort(true, true)).collect();
            frame = frame.sort(by).unwrap();
        }
        if let Some(limit) = self.limit {
            frame = frame.limit(0, Some(limit)).unwrap();
        }
        let all = || count(lit(1)).alias("n");
        match self.select {
            0 => Ok(frame),
            1 => frame.select(vec![col("id")]),
            2 => frame.select(vec![col("x")]),
            3 => frame.select(vec![col("name"), col("part")]),
            4 => frame.select(vec![(col("id") * lit(2i64)).alias("twice"), col("name")]),
            5 => frame.aggregate(vec![], vec![all()]),
            6 => frame.aggregate(vec![], vec![all(), count(col("id")), min(col("id")), max(col("part"))]),
            _ => frame.aggregate(vec![col("part")], vec![all()]),
        }
        .unwrap()
    }
}

async fn check(model: &Model, rng: &mut StdRng, queries: usize) {
    let live = model.live();
    let expected = to_batch(&model.columns, &live);
    for _ in 0..queries {
        let config = SessionConfig::new()
            .with_target_partitions(rng.random_range(1..5))
            .with_batch_size([1, 7, 8192][rng.random_range(0..3)]);
        let real = SessionContext::new_with_config(config);
        let memory = Arc::new(MemTable::try_new(expected.schema(), vec![vec![expected.clone()]]).unwrap());
        let truth = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
        let filter = rng.random_bool(0.75).then(|| random_predicate(rng, 2));
        let query = Query { filter, select: rng.random_range(0..8), sorted: false, limit: None };
        let want = async |query: &Query| {
            let frame = query.apply(truth.read_table(memory.clone()).unwrap());
            lines(&frame.collect().await.unwrap())
        };
        let got = async |query: &Query| {
            let frame = query.apply(real.read_table(model.lake.provider(&[])).unwrap());
            lines(&frame.collect().await.unwrap_or_else(|e| panic!("{query:?}: {e}")))
        };
        let all = want(&query).await;
        assert_eq!(got(&query).await, all, "{query:?}");
        if query.select < PLAIN_SELECTS {
            let limit = rng.random_range(0..20);
            let limited = Query { limit: Some(limit), ..query.clone() };
            let some = got(&limited).await;
            assert_eq!(some.len(), all.len().min(limit), "{limited:?}");
            assert!(some.iter().all(|row| all.contains(row)), "{limited:?}");
            // a TopK tells the scan what it no longer needs
            let top = Query { sorted: true, ..limited };
            assert_eq!(got(&top).await, want(&top).await, "{top:?}");
        }
    }
}

async fn run(version: FormatVersion, partitioned: Option<Transform>, seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut model = Model::new(version, partitioned);
    for _ in 0..5 {
        model.step(&mut rng, version == FormatVersion::V3).await;
    }
    check(&model, &mut rng, 12).await;
    if version == FormatVersion::V3 {
        model.add_vectors(&mut rng).await;
        check(&model, &mut rng, 12).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_scans_equal_the_truth() {
    for seed in 0..1 {
        for version in [FormatVersion::V2, FormatVersion::V3] {
            for transform in
                [None, Some(Transform::Identity), Some(Transform::Bucket(3)), Some(Transform::Truncate(10))]
            {
                run(version, transform, seed).await;
            }
        }
    }
}
