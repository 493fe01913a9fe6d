//! Changes in the order in which they happen, against what Flink's writer does with them, change by change.

use std::collections::{BTreeSet, HashMap};

use arrow::array::{Int8Array, Int32Array, Int64Array};
use arrow::datatypes::{Field, Schema};
use calve_types::LogicalType as T;
use iceberg::spec::{DataContentType, Struct};
use rand::RngExt;

use super::upsert::{positions, rows};
use super::*;

/// `id`, `p`, `v`.
type Row = (i64, i32, i64);
/// Flink's number of a change, and its row.
type Change = (i8, Row);

const INSERT: i8 = 0;
const BEFORE: i8 = 1;
const AFTER: i8 = 2;
const DELETE: i8 = 3;

#[derive(Clone, Copy)]
struct Config {
    version: &'static str,
    upsert: bool,
    partitioned: bool,
    /// `p` is part of the key.
    wide_key: bool,
    always: bool,
}

impl Config {
    async fn fixture(self) -> Fixture {
        let columns = vec![("id", T::BigInt.not_null()), ("p", T::Int.not_null()), ("v", T::BigInt.nullable())];
        let key: &[&str] = if self.wide_key { &["id", "p"] } else { &["id"] };
        let partition: &[(&str, Transform)] = if self.partitioned { &[("p", Transform::Identity)] } else { &[] };
        let upsert = if self.upsert { "true" } else { "false" };
        let with = [("format-version", self.version), ("write.upsert.enabled", upsert)];
        let mut f = Fixture::new(Shape { columns, key, partition, with: &with }).await;
        let mode = if self.always { "always" } else { "needed" };
        f.session.insert("calve.upsert.equality-deletes".to_owned(), mode.to_owned());
        f
    }

    fn key(self, row: &Row) -> (i64, i32) {
        (row.0, if self.wide_key { row.1 } else { 0 })
    }

    fn partition(self, row: &Row) -> i32 {
        if self.partitioned { row.1 } else { 0 }
    }
}

/// What `BaseDeltaTaskWriter` makes of the changes of a commit on top of `table`: the rows then, and how many equality and
/// position deletes it writes.
fn flink(config: Config, table: &[Row], changes: &[Change]) -> (Vec<Row>, u64, u64) {
    let mut written: Vec<(Row, bool)> = vec![];
    let mut map: HashMap<(i32, (i64, i32)), usize> = HashMap::new();
    let mut deleted: Vec<(i32, (i64, i32))> = vec![];
    let mut positions = 0;
    for (op, row) in changes {
        let key = (config.partition(row), config.key(row));
        let mut delete = |map: &mut HashMap<_, usize>, written: &mut Vec<(Row, bool)>| match map.remove(&key) {
            Some(at) => {
                written[at].1 = false;
                positions += 1;
            }
            None => deleted.push(key),
        };
        match *op {
            INSERT | AFTER => {
                if config.upsert {
                    delete(&mut map, &mut written);
                }
                written.push((*row, true));
                if let Some(earlier) = map.insert(key, written.len() - 1) {
                    written[earlier].1 = false;
                    positions += 1;
                }
            }
            BEFORE if config.upsert => {}
            _ => delete(&mut map, &mut written),
        }
    }
    let is_gone = |row: &Row| {
        deleted.iter().any(|(partition, key)| *partition == config.partition(row) && *key == config.key(row))
    };
    let mut rows: Vec<Row> = table.iter().filter(|row| !is_gone(row)).copied().collect();
    rows.extend(written.iter().filter(|(_, there)| *there).map(|(row, _)| *row));
    rows.sort_unstable();
    (rows, deleted.len() as u64, positions)
}

async fn batch(f: &Fixture, changes: &[Change]) -> RecordBatch {
    let plain: Vec<Row> = changes.iter().map(|(_, row)| *row).collect();
    let plain = rows(f, &plain).await;
    let mut fields: Vec<_> = plain.schema().fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new("$op", arrow::datatypes::DataType::Int8, false)));
    let mut columns = plain.columns().to_vec();
    columns.push(Arc::new(Int8Array::from_iter_values(changes.iter().map(|(op, _)| *op))));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

async fn apply(f: &Fixture, batches: &[&[Change]]) -> Written {
    let mut all = vec![];
    for changes in batches {
        all.push(batch(f, changes).await);
    }
    let writer = f.prepare().await.unwrap().with_changes().await.unwrap();
    let written = writer.write(stream(all), Arc::default()).await.unwrap();
    if !written.is_empty() {
        f.commit(&written).await;
    }
    written
}

/// The named columns of a Parquet file.
fn read_rows(location: &str) -> Vec<Row> {
    let mut rows = vec![];
    for batch in read(location) {
        let long = |name: &str, i: usize| {
            let column = batch.column_by_name(name);
            column.map_or(0, |c| c.as_any().downcast_ref::<Int64Array>().unwrap().value(i))
        };
        for i in 0..batch.num_rows() {
            let p = batch.column_by_name("p");
            let p = p.map_or(0, |c| c.as_any().downcast_ref::<Int32Array>().unwrap().value(i));
            rows.push((long("id", i), p, long("v", i)));
        }
    }
    rows
}

/// Reads the table by the rules of the specification, naively.
async fn scan(f: &Fixture, config: Config) -> Vec<Row> {
    let live = f.live().await;
    let mut deleted: HashMap<String, BTreeSet<u64>> = HashMap::new();
    type Equality = (Struct, i64, BTreeSet<(i64, i32)>);
    let mut equality: Vec<Equality> = vec![];
    for (file, sequence) in &live {
        match file.file.content_type() {
            DataContentType::PositionDeletes => {
                let (about, positions) = positions(file);
                deleted.entry(about).or_default().extend(positions);
            }
            DataContentType::EqualityDeletes => {
                let ids = if config.wide_key { vec![1, 2] } else { vec![1] };
                assert_eq!(file.file.equality_ids().unwrap(), ids);
                let keys = read_rows(file.file.file_path()).iter().map(|row| config.key(row)).collect();
                equality.push((file.file.partition().clone(), *sequence, keys));
            }
            DataContentType::Data => {}
        }
    }
    let mut rows = vec![];
    for (file, sequence) in live.iter().filter(|(file, _)| file.file.content_type() == DataContentType::Data) {
        let path = file.file.file_path();
        for (position, row) in (0_u64..).zip(read_rows(path)) {
            let gone = deleted.get(path).is_some_and(|d| d.contains(&position))
                || equality.iter().any(|(partition, newer, keys)| {
                    newer > sequence && partition == file.file.partition() && keys.contains(&config.key(&row))
                });
            if !gone {
                rows.push(row);
            }
        }
    }
    rows.sort_unstable();
    rows
}

fn configs() -> Vec<Config> {
    let mut all = vec![];
    for version in ["2", "3"] {
        for (upsert, partitioned, wide_key) in
            [(false, false, false), (false, true, false), (false, true, true), (true, false, false), (true, true, true)]
        {
            for always in [true, false] {
                all.push(Config { version, upsert, partitioned, wide_key, always });
            }
        }
    }
    all
}

#[tokio::test]
async fn random_changes_leave_what_flink_leaves() {
    let rounds = std::env::var("CALVE_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let mut random = rand::rng();
    for config in configs() {
        for _ in 0..rounds {
            let f = config.fixture().await;
            let mut table: Vec<Row> = vec![];
            let mut value = 0;
            for _ in 0..random.random_range(2..5) {
                let mut changes: Vec<Change> = vec![];
                // rows that are there as far as the source knows
                let mut known = table.clone();
                for _ in 0..random.random_range(1..14) {
                    value += 1;
                    let new = (random.random_range(0..4), random.random_range(0..3), value);
                    let old = match random.random_range(0..8) {
                        0 => (random.random_range(0..4), random.random_range(0..3), -1),
                        _ if known.is_empty() => new,
                        _ => known[random.random_range(0..known.len())],
                    };
                    known.retain(|row| *row != old);
                    match random.random_range(0..4) {
                        0 | 1 => changes.push((INSERT, new)),
                        2 => changes.extend([(BEFORE, old), (AFTER, new)]),
                        _ => {
                            changes.push((DELETE, old));
                            continue;
                        }
                    }
                    known.push(new);
                }
                let cut = random.random_range(0..=changes.len());
                let written = apply(&f, &[&changes[..cut], &changes[cut..]]).await;
                let (expected, equality, positions) = flink(config, &table, &changes);
                let about = format!(
                    "v{} upsert {} partitioned {} always {}\n{table:?}\n{changes:?}",
                    config.version, config.upsert, config.partitioned, config.always
                );
                assert_eq!(scan(&f, config).await, expected, "{about}");
                assert_eq!(written.position_deletes, positions, "{about}");
                match config.always || !config.upsert {
                    true => assert_eq!(written.equality_deletes, equality, "{about}"),
                    false => assert!(written.equality_deletes <= equality, "{about}"),
                }
                table = expected;
            }
        }
    }
}

#[tokio::test]
async fn a_whole_row_is_deleted_by_its_key() {
    let config = Config { version: "2", upsert: false, partitioned: true, wide_key: false, always: true };
    let f = config.fixture().await;
    apply(&f, &[&[(INSERT, (1, 7, 10)), (INSERT, (2, 8, 20))]]).await;
    // the row moves to another partition
    let written = apply(&f, &[&[(BEFORE, (1, 7, 10)), (AFTER, (1, 9, 11))]]).await;
    let deletes: Vec<_> = written.deletes.iter().map(|d| read_rows(d.file.file_path())).collect();
    assert_eq!(deletes, [vec![(1, 7, 10)]]);
    assert_eq!(scan(&f, config).await, [(1, 9, 11), (2, 8, 20)]);
    // only what is taken back: no data file is written
    let written = apply(&f, &[&[(DELETE, (1, 9, 11))], &[(DELETE, (2, 8, 20)), (DELETE, (2, 8, 20))]]).await;
    assert_eq!((written.data.len(), written.equality_deletes, written.rows), (0, 3, 0));
    assert_eq!(scan(&f, config).await, []);
}

#[tokio::test]
async fn rows_of_an_older_spec_are_taken_back() {
    let config = Config { version: "2", upsert: false, partitioned: true, wide_key: false, always: true };
    let f = config.fixture().await;
    apply(&f, &[&[(INSERT, (1, 7, 10)), (INSERT, (2, 8, 20))]]).await;
    upsert::evolve(&f, &[("v", Transform::Identity)]).await;
    apply(&f, &[&[(DELETE, (1, 7, 10)), (INSERT, (3, 8, 30))]]).await;
    let left: Vec<Row> = {
        let live = f.live().await;
        let old_spec = live.iter().filter(|(file, _)| file.file.content_type() == DataContentType::EqualityDeletes);
        let specs: BTreeSet<i32> = old_spec.map(|(file, _)| file.spec_id).collect();
        assert_eq!(specs, BTreeSet::from([0, 1]));
        scan(&f, config).await
    };
    assert_eq!(left, [(2, 8, 20), (3, 8, 30)]);
}

#[tokio::test]
async fn a_table_of_version_1_takes_no_row_back() {
    let config = Config { version: "1", upsert: false, partitioned: false, wide_key: false, always: true };
    let f = config.fixture().await;
    let error = f.prepare().await.unwrap().with_changes().await.err().unwrap();
    assert_eq!(error.code, "upsert-format-v1");
    assert!(f.data_files().is_empty());
}

#[tokio::test]
async fn a_failed_write_leaves_nothing() {
    let config = Config { version: "2", upsert: false, partitioned: true, wide_key: false, always: true };
    let f = config.fixture().await;
    apply(&f, &[&[(INSERT, (1, 7, 10))]]).await;
    let before = f.data_files();
    let good = batch(&f, &[(DELETE, (1, 7, 10)), (INSERT, (1, 8, 11)), (INSERT, (1, 8, 12))]).await;
    let failure = Err(DataFusionError::External(Box::new(calve_types::Error::new("runtime", "no more"))));
    let writer = f.prepare().await.unwrap().with_changes().await.unwrap();
    let error = writer.write(results(vec![Ok(good), failure]), Arc::default()).await.unwrap_err();
    assert_eq!(error.message, "no more");
    assert_eq!(f.data_files(), before);
    assert_eq!(scan(&f, config).await, [(1, 7, 10)]);
}
