//! Where rows go: writers, partitions, and their order within files.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use arrow::array::{Float64Array, Int32Array, Int64Array, StringArray};
use arrow::datatypes::{Float64Type, Int32Type};
use calve_types::LogicalType as T;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use iceberg::TableUpdate;
use iceberg::spec::{NullOrder, SortDirection, SortField, SortOrder};
use rand::RngExt;

use super::*;

fn columns() -> Vec<(&'static str, DataType)> {
    vec![
        ("id", T::BigInt.not_null()),
        ("p", T::Int.nullable()),
        ("d", T::Double.nullable()),
        ("s", T::STRING.nullable()),
    ]
}

async fn fixture(key: &[&str], partition: &[(&str, Transform)], sort: &[(i32, Transform, bool, bool)]) -> Fixture {
    let f = Fixture::new(Shape { columns: columns(), key, partition, with: &[] }).await;
    if !sort.is_empty() {
        let fields = sort.iter().map(|(source_id, transform, descending, nulls_first)| SortField {
            source_id: *source_id,
            transform: *transform,
            direction: if *descending { SortDirection::Descending } else { SortDirection::Ascending },
            null_order: if *nulls_first { NullOrder::First } else { NullOrder::Last },
        });
        let sort_order = SortOrder::builder().with_order_id(1).with_fields(fields.collect()).build_unbound();
        let updates = vec![
            TableUpdate::AddSortOrder { sort_order: sort_order.unwrap() },
            TableUpdate::SetDefaultSortOrder { sort_order_id: -1 },
        ];
        f.catalog.commit(&f.table().await, vec![], updates).await.unwrap();
    }
    f
}

/// Rows with all kinds of values; `id` numbers them.
async fn mixed(f: &Fixture, ids: std::ops::Range<i64>) -> RecordBatch {
    let mut random = rand::rng();
    let specials = [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, -1.5, 1.5];
    let n = (ids.end - ids.start) as usize;
    let doubles: Vec<Option<f64>> = (0..n)
        .map(|_| (random.random_range(0..8) > 0).then(|| specials[random.random_range(0..specials.len())]))
        .collect();
    let parts: Vec<Option<i32>> = (0..n).map(|_| Some(random.random_range(-1..4)).filter(|p| *p >= 0)).collect();
    let letters = ["a", "b", "ü", "😀", "\u{e000}", ""];
    let texts: Vec<Option<String>> = (0..n)
        .map(|_| {
            let length = random.random_range(0..4);
            (length < 3).then(|| (0..length).map(|_| letters[random.random_range(0..letters.len())]).collect())
        })
        .collect();
    f.batch(vec![
        Arc::new(Int64Array::from_iter_values(ids)),
        Arc::new(Int32Array::from(parts)),
        Arc::new(Float64Array::from(doubles)),
        Arc::new(StringArray::from(texts)),
    ])
    .await
}

type Row = (i64, Option<i32>, Option<f64>, Option<String>);

fn rows_of(location: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for batch in read(location) {
        let (ids, parts) = (batch.column(0).as_primitive::<Int64Type>(), batch.column(1).as_primitive::<Int32Type>());
        let (doubles, texts) = (batch.column(2).as_primitive::<Float64Type>(), batch.column(3).as_string::<i32>());
        rows.extend((0..batch.num_rows()).map(|i| {
            (
                ids.value(i),
                parts.is_valid(i).then(|| parts.value(i)),
                doubles.is_valid(i).then(|| doubles.value(i)),
                texts.is_valid(i).then(|| texts.value(i).to_owned()),
            )
        }));
    }
    rows
}

/// The specification's order: -NaN < -Infinity < -1 < -0 < 0 < 1 < Infinity < NaN.
fn rank(value: f64) -> (i32, f64, i32) {
    match value {
        v if v.is_nan() => (if v.is_sign_negative() { -1 } else { 1 }, 0.0, 0),
        0.0 => (0, 0.0, if value.is_sign_negative() { -1 } else { 1 }),
        v => (0, v, 0),
    }
}

fn with_null<V>(a: Option<V>, b: Option<V>, nulls_first: bool, compare: impl Fn(V, V) -> Ordering) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => compare(a, b),
        (None, None) => Ordering::Equal,
        (None, Some(_)) => {
            if nulls_first {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        (Some(_), None) => {
            if nulls_first {
                Ordering::Greater
            } else {
                Ordering::Less
            }
        }
    }
}

#[tokio::test]
async fn rows_of_a_file_are_in_the_sort_order() {
    // d descending with NULL last, then the first letter of s with NULL first, then id descending
    let sort = [
        (3, Transform::Identity, true, false),
        (4, Transform::Truncate(1), false, true),
        (1, Transform::Identity, true, true),
    ];
    for partition in [vec![], vec![("p", Transform::Identity)]] {
        let f = fixture(&[], &partition, &sort).await;
        let batches = vec![mixed(&f, 0..3_000).await, mixed(&f, 3_000..9_000).await, mixed(&f, 9_000..9_001).await];
        let written = f.insert(batches).await;
        assert_eq!(written.data.len(), if partition.is_empty() { 1 } else { 5 });
        let mut ids = BTreeSet::new();
        for file in &written.data {
            assert_eq!(file.file.sort_order_id(), Some(1));
            let rows = rows_of(file.file.file_path());
            for pair in rows.windows(2) {
                let (a, b) = (&pair[0], &pair[1]);
                let doubles = with_null(a.2, b.2, false, |a, b| rank(b).partial_cmp(&rank(a)).unwrap());
                let first = |row: &Row| row.3.as_ref().map(|s| s.chars().next());
                let order = doubles.then(with_null(first(a), first(b), true, |a, b| a.cmp(&b))).then(b.0.cmp(&a.0));
                assert_eq!(order, Ordering::Less, "{a:?} before {b:?}");
            }
            ids.extend(rows.iter().map(|row| row.0));
        }
        assert_eq!(ids.len(), 9_001);
        assert!(f.live().await.iter().all(|(file, _)| file.file.sort_order_id() == Some(1)));
    }
}

#[tokio::test]
async fn rows_with_a_key_stay_in_the_order_in_which_they_came() {
    let mut f = fixture(&["id"], &[], &[(1, Transform::Identity, true, false)]).await;
    let written = f.insert(vec![mixed(&f, 0..100).await]).await;
    assert_eq!(written.data[0].file.sort_order_id(), Some(0));
    assert_eq!(longs(written.data[0].file.file_path(), 0), (0..100).collect::<Vec<_>>());
    // an overwrite knows its rows before it writes them
    f.hints.insert("overwrite-enabled".to_owned(), "true".to_owned());
    let written = f.insert(vec![mixed(&f, 0..100).await]).await;
    assert_eq!(written.data[0].file.sort_order_id(), Some(1));
    assert_eq!(longs(written.data[0].file.file_path(), 0), (0..100).rev().collect::<Vec<_>>());
}

#[tokio::test]
async fn sorting_spills() {
    let f = fixture(&[], &[], &[(1, Transform::Identity, true, false)]).await;
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(FairSpillPool::new(6 << 20))).build_arc().unwrap();
    let config = SessionConfig::new().with_sort_spill_reservation_bytes(1 << 20);
    let context = SessionContext::new_with_config_rt(config, runtime).task_ctx();
    let mut batches = Vec::new();
    for i in 0..40 {
        batches.push(mixed(&f, i * 8_000..(i + 1) * 8_000).await);
    }
    let mut table_options = f.options(&f.table().await).unwrap();
    table_options.writers = 1;
    let writer = prepare(&f.table().await, table_options).await.unwrap().with_context(context);
    let written = writer.write(stream(batches), Arc::default()).await.unwrap();
    let ids: Vec<i64> = written.data.iter().flat_map(|file| longs(file.file.file_path(), 0)).collect();
    assert_eq!(ids, (0..320_000).rev().collect::<Vec<_>>());
}

/// So much that several writers run.
async fn much(f: &Fixture) -> Vec<RecordBatch> {
    let mut batches = Vec::new();
    for i in 0..40_i64 {
        let ids: Vec<i64> = (0..10_000).map(|j| (i * 10_000 + j) * 7_919 % 400_009).collect();
        let parts = Int32Array::from_iter_values(ids.iter().map(|id| (id % 40) as i32));
        let texts = StringArray::from_iter_values(ids.iter().map(|id| format!("{id:0>100}")));
        let doubles = Float64Array::from_iter_values(ids.iter().map(|id| *id as f64));
        batches.push(
            f.batch(vec![Arc::new(Int64Array::from(ids)), Arc::new(parts), Arc::new(doubles), Arc::new(texts)]).await,
        );
    }
    batches
}

/// The writer that a file's name begins with.
fn writer_of(file: &NewFile) -> String {
    file.file.file_path().rsplit_once('/').unwrap().1[..5].to_owned()
}

#[tokio::test]
async fn every_mode_writes_the_same_rows() {
    for partition in [vec![], vec![("p", Transform::Identity)]] {
        let mut expected: Option<Vec<i64>> = None;
        for mode in ["none", "hash", "range"] {
            let sort = [(1, Transform::Identity, false, true)];
            let mut f = fixture(&[], &partition, if mode == "range" { &sort } else { &[] }).await;
            f.hints.insert("distribution-mode".to_owned(), mode.to_owned());
            let written = f.write(much(&f).await).await.unwrap();
            let mut ids: Vec<i64> = written.data.iter().flat_map(|file| longs(file.file.file_path(), 0)).collect();
            ids.sort_unstable();
            assert_eq!(ids.len(), 400_000);
            assert_eq!(expected.get_or_insert_with(|| ids.clone()), &ids, "{mode}");
            if mode == "hash" && !partition.is_empty() {
                assert_eq!(written.data.len(), 40, "one file per partition");
            }
        }
    }
}

#[tokio::test]
async fn ranges_of_the_sort_order_do_not_overlap() {
    let mut f = fixture(&[], &[], &[(1, Transform::Identity, false, true)]).await;
    f.hints.insert("distribution-mode".to_owned(), "range".to_owned());
    let written = f.write(much(&f).await).await.unwrap();
    let mut ranges: BTreeMap<String, (i64, i64, usize)> = BTreeMap::new();
    for file in &written.data {
        for id in longs(file.file.file_path(), 0) {
            let range = ranges.entry(writer_of(file)).or_insert((id, id, 0));
            *range = (range.0.min(id), range.1.max(id), range.2 + 1);
        }
    }
    assert_eq!(ranges.len(), 3);
    let ranges: Vec<_> = ranges.into_values().collect();
    assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "{ranges:?}");
    assert!(ranges.iter().all(|range| range.2 > 100_000), "{ranges:?}");
}

#[tokio::test]
async fn without_a_sort_order_ranges_are_those_of_partitions() {
    let mut f = fixture(&[], &[("p", Transform::Identity)], &[]).await;
    f.hints.insert("distribution-mode".to_owned(), "range".to_owned());
    let written = f.write(much(&f).await).await.unwrap();
    assert_eq!(written.data.len(), 40);
    let mut ranges: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    for file in &written.data {
        let ids = longs(file.file.file_path(), 0);
        ranges.entry(writer_of(file)).or_default().insert(ids[0] % 40);
    }
    let ranges: Vec<_> = ranges.into_values().collect();
    assert_eq!(ranges.len(), 3);
    assert!(ranges.windows(2).all(|pair| pair[0].last() < pair[1].first()), "{ranges:?}");
}
