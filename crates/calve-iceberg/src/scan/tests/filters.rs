//! Random filters over random tables: what is pruned never has a row that the filter accepts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, StructArray};
use arrow::datatypes::{DataType as ArrowType, Int64Type, TimeUnit};
use calve_types::{DataType, LogicalType as T, RowField};
use datafusion::common::ScalarValue;
use datafusion::datasource::MemTable;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::functions::core::expr_fn::get_field;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{Expr, SessionConfig, SessionContext, cast, col, lit, when};
use iceberg::spec::Transform;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::catalog::alter::{Alteration, PartitionRef, PartitionTerm, SchemaChange, SpecChange, alter};
use crate::catalog::{Catalog, TableCreation, open};
use crate::commit::{JobInfo, commit};
use crate::scan::{ScanOptions, provider};
use crate::schema::{to_arrow, to_iceberg};
use crate::table::Table;
use crate::write::{WriteOptions, prepare};

/// Columns with some values of each; NULL is another one.
fn pool() -> Vec<(&'static str, DataType, Vec<ScalarValue>)> {
    let day = 86_400_000_000i64;
    let long_prefix = "twenty characters of.";
    let texts = ["", "a", "ab", "abc", "a%c", "b_", "B", "ä", "\u{10FFFF}", "\u{10FFFF}\u{10FFFF}\u{10FFFF}\u{10FFFF}"];
    let texts = texts.map(str::to_owned).into_iter().chain((0..4).map(|i| format!("{long_prefix}{i}")));
    let micros = [-700_000 * day, -day - 1, -1, 0, 1, day - 1, day, 400 * day + 123_456, 20_000 * day];
    let nanos = [-1_000_000_000_001, -1, 0, 1, 999, 1_000, 86_400_000_000_001, 1_577_836_800_123_456_789];
    let bytes = [vec![], vec![0], vec![1, 2], vec![255], vec![255; 17], vec![255, 255, 255, 7]];
    let floats = [f64::NAN, f64::NEG_INFINITY, f64::INFINITY, -0.0, 0.0, 1.5, -2.5, 16_777_216.0];
    let ints = [i32::MIN, i32::MIN + 3, -11, -10, -1, 0, 1, 9, 10, 11, i32::MAX];
    vec![
        ("i", T::Int.nullable(), ints.map(|v| ScalarValue::Int32(Some(v))).into()),
        (
            "l",
            T::BigInt.nullable(),
            [i64::MIN, i64::MIN + 1, -10, -1, 0, 5, 10, 1 << 53, i64::MAX].map(|v| ScalarValue::Int64(Some(v))).into(),
        ),
        ("f", T::Float.nullable(), floats.map(|v| ScalarValue::Float32(Some(v as f32))).into()),
        ("d", T::Double.nullable(), floats.map(|v| ScalarValue::Float64(Some(v))).into()),
        (
            "dec",
            T::Decimal { precision: 9, scale: 2 }.nullable(),
            [-999_999_999, -150, -101, -1, 0, 1, 99, 100, 999_999_999]
                .map(|v| ScalarValue::Decimal128(Some(v), 9, 2))
                .into(),
        ),
        ("s", T::STRING.nullable(), texts.map(|v| ScalarValue::Utf8(Some(v))).collect()),
        (
            "dt",
            T::Date.nullable(),
            [-36_525, -366, -32, -1, 0, 1, 31, 365, 20_000].map(|v| ScalarValue::Date32(Some(v))).into(),
        ),
        ("ts", T::Timestamp(6).nullable(), micros.map(|v| ScalarValue::TimestampMicrosecond(Some(v), None)).into()),
        (
            "tz",
            T::TimestampLtz(6).nullable(),
            micros.map(|v| ScalarValue::TimestampMicrosecond(Some(v), Some("UTC".into()))).into(),
        ),
        ("ns", T::Timestamp(9).nullable(), nanos.map(|v| ScalarValue::TimestampNanosecond(Some(v), None)).into()),
        ("b", T::BYTES.nullable(), bytes.map(|v| ScalarValue::Binary(Some(v))).into()),
        ("bo", T::Boolean.nullable(), [true, false].map(|v| ScalarValue::Boolean(Some(v))).into()),
    ]
}

struct World {
    _dir: tempfile::TempDir,
    catalog: Arc<dyn Catalog>,
    /// Column values, as the current types have them.
    pool: Vec<(String, Vec<ScalarValue>)>,
    rows: i64,
}

impl World {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = [("catalog-type", "hadoop"), ("warehouse", dir.path().to_str().unwrap())];
        let catalog = open("c", &options.map(|(k, v)| (k.to_owned(), v.to_owned())).into()).unwrap();
        let mut columns = vec![("k".to_owned(), T::BigInt.not_null(), None)];
        columns.extend(pool().into_iter().map(|(name, of, _)| (name.to_owned(), of, None)));
        let row = T::Row(vec![RowField::new("x", T::Int.nullable()), RowField::new("y", T::STRING.nullable())]);
        columns.push(("r".to_owned(), row.nullable(), None));
        let creation = TableCreation {
            schema: to_iceberg(&columns, &[]).unwrap(),
            partition: vec![],
            properties: BTreeMap::from([("format-version".to_owned(), "3".to_owned())]),
            comment: None,
        };
        catalog.create_table(&catalog.ident("db", "t").unwrap(), creation).await.unwrap();
        let pool = pool().into_iter().map(|(name, _, values)| (name.to_owned(), values)).collect();
        Self { _dir: dir, catalog, pool, rows: 0 }
    }

    async fn table(&self) -> Table {
        self.catalog.load_table(&self.catalog.ident("db", "t").unwrap()).await.unwrap().unwrap()
    }

    async fn alter(&self, alteration: Alteration) {
        let table = self.table().await;
        alter(self.catalog.as_ref(), &table, |_| Ok(alteration.clone())).await.unwrap();
    }

    /// Another way to count, another partition spec, other columns.
    async fn evolve(&mut self, rng: &mut StdRng) {
        if rng.random_bool(0.5) {
            let mode = ["none", "counts", "truncate(1)", "truncate(3)", "truncate(16)", "full"][rng.random_range(0..6)];
            let set = BTreeMap::from([("write.metadata.metrics.default".to_owned(), mode.to_owned())]);
            self.alter(Alteration { set, ..Alteration::default() }).await;
        }
        if rng.random_bool(0.6) {
            let table = self.table().await;
            let old = table.metadata().default_partition_spec().fields().to_vec();
            let mut changes: Vec<_> =
                old.iter().map(|field| SpecChange::Drop(PartitionRef::Name(field.name.clone()))).collect();
            let mut terms = BTreeMap::new();
            for _ in 0..rng.random_range(0..3) {
                let (column, values) = &self.pool[rng.random_range(0..self.pool.len())];
                let transforms = transforms(&values[0].data_type());
                terms.insert(column.clone(), transforms[rng.random_range(0..transforms.len())]);
            }
            changes.extend(
                terms.into_iter().map(|(column, transform)| SpecChange::Add {
                    term: PartitionTerm { column, transform },
                    name: None,
                }),
            );
            self.alter(Alteration { partition: changes, ..Alteration::default() }).await;
        }
        if rng.random_bool(0.3) {
            let column = rng.random_range(0..self.pool.len());
            let (name, values) = &mut self.pool[column];
            let retype = |logical: T| SchemaChange::Retype { name: name.clone(), data_type: logical.nullable() };
            let (change, to) = match values[0].data_type() {
                ArrowType::Int32 => (retype(T::BigInt), ArrowType::Int64),
                ArrowType::Float32 => (retype(T::Double), ArrowType::Float64),
                ArrowType::Decimal128(9, 2) => {
                    (retype(T::Decimal { precision: 20, scale: 2 }), ArrowType::Decimal128(20, 2))
                }
                of => {
                    let to = format!("{name}_");
                    let change = SchemaChange::Rename { from: name.clone(), to: to.clone() };
                    *name = to;
                    (change, of)
                }
            };
            *values = values.iter().map(|v| v.cast_to(&to).unwrap()).collect();
            self.alter(Alteration { schema: vec![change], ..Alteration::default() }).await;
        }
    }

    /// Some rows, whose columns have few values each.
    async fn insert(&mut self, rng: &mut StdRng) {
        let table = self.table().await;
        let schema = to_arrow(table.metadata().current_schema()).unwrap();
        let count = rng.random_range(1..12);
        let null = rng.random_bool(0.5);
        let mut pick = |values: &[ScalarValue]| -> Vec<ScalarValue> {
            let null_of = ScalarValue::try_from(values[0].data_type()).unwrap();
            if rng.random_bool(0.1) {
                return vec![null_of; count];
            }
            let few: Vec<_> = (0..rng.random_range(1..4)).map(|_| &values[rng.random_range(0..values.len())]).collect();
            let mut one = || match null && rng.random_bool(0.2) {
                true => null_of.clone(),
                false => few[rng.random_range(0..few.len())].clone(),
            };
            (0..count).map(|_| one()).collect()
        };
        let base = pool();
        let values_of = |name: &str| base.iter().find(|(n, ..)| *n == name).unwrap().2.clone();
        let arrays: Vec<ArrayRef> = schema
            .fields()
            .iter()
            .map(|field| match field.data_type() {
                ArrowType::Struct(fields) => {
                    let inner = [values_of("i"), values_of("s")];
                    let columns = inner.map(|v| ScalarValue::iter_to_array(pick(&v)).unwrap());
                    let nulls =
                        pick(&values_of("bo")).iter().map(|v| *v != ScalarValue::Boolean(None)).collect::<Vec<_>>();
                    Arc::new(StructArray::new(fields.clone(), columns.into(), Some(nulls.into()))) as ArrayRef
                }
                _ if field.name() == "k" => {
                    ScalarValue::iter_to_array((0..count as i64).map(|i| ScalarValue::from(self.rows + i))).unwrap()
                }
                _ => {
                    let (_, values) = self.pool.iter().find(|(n, _)| n == field.name()).unwrap();
                    let values = ScalarValue::iter_to_array(pick(values)).unwrap();
                    arrow::compute::cast(&values, field.data_type()).unwrap()
                }
            })
            .collect();
        self.rows += count as i64;
        let batch = RecordBatch::try_new(schema.clone(), arrays).unwrap();
        let options = WriteOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new(), false).unwrap();
        let batches = futures::stream::iter([Ok(batch)]);
        let stream: SendableRecordBatchStream = Box::pin(RecordBatchStreamAdapter::new(schema, batches));
        let written = prepare(&table, options).await.unwrap().write(stream, Arc::default()).await.unwrap();
        let job = JobInfo { job_id: "a".repeat(32), operator_id: "b".repeat(32), checkpoint_id: i64::MAX, place: None };
        commit(self.catalog.as_ref(), &table, "main", written.to_operation(), &job).await.unwrap();
    }

    fn literal(&self, rng: &mut StdRng, values: &[ScalarValue]) -> Expr {
        let value = match rng.random_range(0..20) {
            0 => ScalarValue::try_from(values[0].data_type()).unwrap(),
            _ => values[rng.random_range(0..values.len())].clone(),
        };
        // a value nobody stored
        let value = match value {
            ScalarValue::Int32(Some(v)) if rng.random_bool(0.3) => ScalarValue::Int32(Some(v.saturating_add(1))),
            ScalarValue::Int64(Some(v)) if rng.random_bool(0.3) => ScalarValue::Int64(Some(v.saturating_sub(1))),
            ScalarValue::TimestampNanosecond(Some(v), z) if rng.random_bool(0.3) => {
                ScalarValue::TimestampNanosecond(Some(v - 1), z)
            }
            ScalarValue::TimestampMicrosecond(Some(v), z) if rng.random_bool(0.3) => {
                ScalarValue::TimestampMicrosecond(Some(v + 1), z)
            }
            ScalarValue::Utf8(Some(v)) if rng.random_bool(0.3) => ScalarValue::Utf8(Some(format!("{v}b"))),
            value => value,
        };
        Expr::Literal(value, None)
    }

    fn leaf(&self, rng: &mut StdRng) -> Expr {
        let (name, values) = &self.pool[rng.random_range(0..self.pool.len())];
        let mut column = col(name.as_str());
        let mut values = values.clone();
        if rng.random_bool(0.1) {
            let part = [("x", "i"), ("y", "s")][rng.random_range(0..2)];
            column = get_field(col("r"), part.0);
            values = pool().into_iter().find(|(n, ..)| *n == part.1).unwrap().2;
        }
        let of = values[0].data_type();
        if rng.random_bool(0.2) {
            let to = match &of {
                ArrowType::Int32 => {
                    [ArrowType::Int64, ArrowType::Float64, ArrowType::Utf8][rng.random_range(0..3)].clone()
                }
                ArrowType::Int64 => [ArrowType::Float64, ArrowType::Utf8][rng.random_range(0..2)].clone(),
                ArrowType::Float32 => ArrowType::Float64,
                ArrowType::Decimal128(..) => {
                    [ArrowType::Float64, ArrowType::Decimal128(30, 4)][rng.random_range(0..2)].clone()
                }
                ArrowType::Date32 => ArrowType::Timestamp(TimeUnit::Microsecond, None),
                ArrowType::Timestamp(_, zone) => {
                    [ArrowType::Timestamp(TimeUnit::Millisecond, zone.clone()), ArrowType::Date32]
                        [rng.random_range(0..2)]
                    .clone()
                }
                _ => of.clone(),
            };
            column = cast(column, to.clone());
            values = values.iter().filter_map(|v| v.cast_to(&to).ok()).collect();
        }
        let text = matches!(values[0].data_type(), ArrowType::Utf8);
        match rng.random_range(0..14) {
            0 => column.is_null(),
            1 => column.is_not_null(),
            2 | 3 => {
                let list = (0..rng.random_range(1..5)).map(|_| self.literal(rng, &values)).collect();
                column.in_list(list, rng.random_bool(0.4))
            }
            4 => column.between(self.literal(rng, &values), self.literal(rng, &values)),
            5 if text => {
                let pattern = ["a%", "%", "a_%", "ab%c", "twenty%", "%0", "a\\%%", "", "\u{10FFFF}%", "abc"];
                let pattern = lit(pattern[rng.random_range(0..pattern.len())]);
                if rng.random_bool(0.3) { column.not_like(pattern) } else { column.like(pattern) }
            }
            n => {
                let literal = self.literal(rng, &values);
                let (a, b) = if rng.random_bool(0.3) { (literal, column) } else { (column, literal) };
                match n {
                    5 | 6 => a.eq(b),
                    7 => a.not_eq(b),
                    8 => a.lt(b),
                    9 => a.lt_eq(b),
                    10 => a.gt(b),
                    11 => a.gt_eq(b),
                    12 => a.eq(b),
                    _ => {
                        datafusion::logical_expr::binary_expr(a, datafusion::logical_expr::Operator::IsDistinctFrom, b)
                    }
                }
            }
        }
    }

    fn filter(&self, rng: &mut StdRng, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf(rng);
        }
        match rng.random_range(0..10) {
            0..3 => self.filter(rng, depth - 1).and(self.filter(rng, depth - 1)),
            3..5 => self.filter(rng, depth - 1).or(self.filter(rng, depth - 1)),
            5 => !self.filter(rng, depth - 1),
            6 => when(self.leaf(rng), self.leaf(rng)).otherwise(self.leaf(rng)).unwrap(),
            7 => match rng.random_range(0..4) {
                0 => self.filter(rng, depth - 1).is_true(),
                1 => self.filter(rng, depth - 1).is_not_true(),
                2 => self.filter(rng, depth - 1).is_false(),
                _ => self.filter(rng, depth - 1).is_unknown(),
            },
            _ => self.leaf(rng),
        }
    }
}

fn transforms(of: &ArrowType) -> Vec<Transform> {
    let mut all = match of {
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => vec![],
        _ => vec![Transform::Identity],
    };
    let bucket = !matches!(of, ArrowType::Float32 | ArrowType::Float64 | ArrowType::Boolean);
    if bucket {
        all.extend([Transform::Bucket(3), Transform::Bucket(16)]);
    }
    match of {
        ArrowType::Int32 | ArrowType::Int64 | ArrowType::Decimal128(..) | ArrowType::Utf8 => {
            all.extend([Transform::Truncate(2), Transform::Truncate(10)]);
        }
        ArrowType::Date32 => all.extend([Transform::Year, Transform::Month, Transform::Day]),
        ArrowType::Timestamp(..) => all.extend([Transform::Year, Transform::Month, Transform::Day, Transform::Hour]),
        _ => {}
    }
    all
}

/// The numbers of the rows that a filter accepts.
async fn rows(context: &SessionContext, filter: Expr) -> BTreeSet<i64> {
    let frame = context.table("t").await.unwrap().filter(filter).unwrap().select_columns(&["k"]).unwrap();
    let batches = frame.collect().await.unwrap();
    let rows: Vec<i64> =
        batches.iter().flat_map(|b| b.column(0).as_primitive::<Int64Type>().values().to_vec()).collect();
    let set: BTreeSet<i64> = rows.iter().copied().collect();
    assert_eq!(set.len(), rows.len());
    set
}

async fn opened(context: &SessionContext, filter: &[Expr]) -> usize {
    let table = context.table_provider("t").await.unwrap();
    let plan = table.scan(&context.state(), None, filter, None).await.unwrap();
    let Some(source) = plan.as_any().downcast_ref::<DataSourceExec>() else { return 0 };
    let config = source.data_source().as_any().downcast_ref::<FileScanConfig>().unwrap();
    config.file_groups.iter().map(|g| g.len()).sum()
}

async fn run(seed: u64, filters: usize) -> (usize, usize) {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut world = World::new().await;
    for _ in 0..rng.random_range(2..8) {
        world.evolve(&mut rng).await;
        world.insert(&mut rng).await;
    }
    // pruned by what the filters get from the current columns
    let table = world.table().await;
    let options = ScanOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new()).unwrap();
    let scan = provider(table, options).unwrap();
    let pruned = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
    let batches = pruned.read_table(scan.clone()).unwrap().collect().await.unwrap();
    assert_eq!(batches.iter().map(|b| b.num_rows() as i64).sum::<i64>(), world.rows);
    let memory = MemTable::try_new(scan.schema(), vec![batches]).unwrap();
    pruned.register_table("t", scan).unwrap();
    let whole = SessionContext::new();
    whole.register_table("t", Arc::new(memory)).unwrap();
    let (mut some, mut all) = (0, 0);
    for _ in 0..filters {
        let filter = world.filter(&mut rng, 2);
        let expected = rows(&whole, filter.clone()).await;
        assert_eq!(rows(&pruned, filter.clone()).await, expected, "seed {seed}: {filter}");
        some += opened(&pruned, std::slice::from_ref(&filter)).await;
        all += opened(&pruned, &[]).await;
    }
    (some, all)
}

#[tokio::test]
async fn pruning_never_changes_rows() {
    let first: u64 = std::env::var("CALVE_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let count: u64 = std::env::var("CALVE_RUNS").ok().and_then(|s| s.parse().ok()).unwrap_or(8);
    let (mut some, mut all) = (0, 0);
    for seed in first..first + count {
        let (opened, files) = run(seed, 40).await;
        some += opened;
        all += files;
    }
    // and it prunes
    assert!(some * 10 < all * 9, "{some} of {all} files opened");
}
