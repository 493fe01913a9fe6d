//! Upserts that delete by position: the same rows as a map, whatever the table looked like before.

use std::collections::{BTreeSet, HashMap};

use arrow::array::{Int8Array, Int32Array, Int64Array, StringArray};
use arrow::datatypes::{DataType as ArrowType, Field, Int32Type};
use calve_types::LogicalType as T;
use datafusion::prelude::SessionContext;
use iceberg::spec::{DataContentType, DataFileFormat};
use rand::RngExt;

use super::upsert::{evolve, key_types, keyed, positions, rows, values};
use super::*;
use crate::commit::FileId;
use crate::scan::{ScanOptions, provider};

const BY_POSITION: [(&str, &str); 2] = [("write.upsert.enabled", "true"), ("calve.upsert.mode", "position")];

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    BY_POSITION.iter().chain(more).copied().collect()
}

/// The rows a reader sees.
async fn scan(f: &Fixture) -> Vec<RecordBatch> {
    let table = f.table().await;
    let options = ScanOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new()).unwrap();
    SessionContext::new().read_table(provider(table, options).unwrap()).unwrap().collect().await.unwrap()
}

/// `(id, p, v)` of the tables of [`keyed`].
async fn seen(f: &Fixture) -> Vec<(i64, i32, Option<i64>)> {
    let mut all = Vec::new();
    for batch in scan(f).await {
        for row in 0..batch.num_rows() {
            let v = batch.column(2).as_primitive::<Int64Type>();
            all.push((
                batch.column(0).as_primitive::<Int64Type>().value(row),
                batch.column(1).as_primitive::<Int32Type>().value(row),
                v.is_valid(row).then(|| v.value(row)),
            ));
        }
    }
    all.sort();
    all
}

/// No equality deletes unless they are expected, and never two deletes of one data file.
async fn check_deletes(f: &Fixture, mixed: bool) {
    let mut about = BTreeSet::new();
    for (file, _) in f.live().await {
        match file.file.content_type() {
            DataContentType::Data => {}
            DataContentType::EqualityDeletes => assert!(mixed, "an equality delete"),
            DataContentType::PositionDeletes => {
                assert!(about.insert(file.file.referenced_data_file().unwrap()), "two deletes of one file");
            }
        }
    }
}

async fn unkeyed_partition(more: &[(&str, &str)], partition: &[(&str, Transform)]) -> Fixture {
    let columns = vec![("id", T::BigInt.not_null()), ("p", T::Int.not_null()), ("v", T::BigInt.nullable())];
    Fixture::new(Shape { columns, key: &["id"], partition, with: &with(more) }).await
}

#[tokio::test]
async fn random_changes_equal_a_map() {
    let mut random = rand::rng();
    for (version, partition) in [
        ("2", &[][..]),
        ("3", &[][..]),
        ("2", &[("p", Transform::Identity)][..]),
        ("3", &[("p", Transform::Identity)][..]),
        ("3", &[("id", Transform::Bucket(3))][..]),
    ] {
        let more =
            [("format-version", version), ("write.target-file-size-bytes", "700"), ("distribution-mode", "hash")];
        let mut f = unkeyed_partition(&more, partition).await;
        let mut model: BTreeMap<i64, (i32, Option<i64>)> = BTreeMap::new();
        let mut value = 0;
        for step in 0..25 {
            let mixed = partition.is_empty();
            if mixed {
                let mode = if random.random_bool(0.4) { "equality" } else { "position" };
                f.hints.insert("calve.upsert.mode".to_owned(), mode.to_owned());
                f.hints.insert("distribution-mode".to_owned(), "none".to_owned());
            } else if step == 12 {
                evolve(&f, &[("v", Transform::Bucket(2))]).await;
            }
            let mut batches = Vec::new();
            for _ in 0..random.random_range(1..4) {
                let count = random.random_range(1..15);
                let mut columns = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
                for _ in 0..count {
                    value += 1;
                    let (id, p) = (random.random_range(0..40_i64), random.random_range(0..4));
                    let v = random.random_bool(0.9).then_some(value);
                    let change: i8 = [0, 0, 0, 2, 1, 3][random.random_range(0..6)];
                    match change {
                        0 | 2 => drop(model.insert(id, (p, v))),
                        3 => drop(model.remove(&id)),
                        _ => {}
                    }
                    columns.0.push(id);
                    columns.1.push(p);
                    columns.2.push(v);
                    columns.3.push(change);
                }
                let batch = f
                    .batch(vec![
                        Arc::new(Int64Array::from(columns.0)),
                        Arc::new(Int32Array::from(columns.1)),
                        Arc::new(Int64Array::from(columns.2)),
                    ])
                    .await;
                let mut fields = batch.schema().fields().to_vec();
                fields.push(Arc::new(Field::new("op", ArrowType::Int8, false)));
                let mut arrays = batch.columns().to_vec();
                arrays.push(Arc::new(Int8Array::from(columns.3)));
                let schema = Arc::new(arrow::datatypes::Schema::new(fields));
                batches.push(RecordBatch::try_new(schema, arrays).unwrap());
            }
            f.insert(batches).await;
            let expected: Vec<_> = model.iter().map(|(id, (p, v))| (*id, *p, *v)).collect();
            assert_eq!(seen(&f).await, expected, "v{version} {partition:?} step {step}");
            check_deletes(&f, mixed).await;
        }
    }
}

#[tokio::test]
async fn whoever_commits_later_finds_the_rows_again() {
    for version in ["2", "3"] {
        let f = unkeyed_partition(&[("format-version", version)], &[("p", Transform::Identity)]).await;
        f.insert(vec![rows(&f, &[(1, 0, 1), (2, 0, 2), (3, 1, 3)]).await]).await;
        // all three are prepared on the same snapshot and meet in the same keys
        let first = f.write(vec![rows(&f, &[(1, 0, 11), (4, 1, 14)]).await]).await.unwrap();
        let second = f.write(vec![rows(&f, &[(1, 2, 21), (4, 2, 24), (4, 2, 25), (2, 0, 22)]).await]).await.unwrap();
        let third = f.write(vec![rows(&f, &[(1, 3, 31), (5, 3, 35)]).await]).await.unwrap();
        assert_eq!((first.position_deletes, second.position_deletes, third.position_deletes), (1, 2, 1));
        f.commit(&first).await;
        assert_eq!(seen(&f).await, [(1, 0, Some(11)), (2, 0, Some(2)), (3, 1, Some(3)), (4, 1, Some(14))]);
        f.commit(&second).await;
        assert_eq!(seen(&f).await, [(1, 2, Some(21)), (2, 0, Some(22)), (3, 1, Some(3)), (4, 2, Some(25))]);
        f.commit(&third).await;
        let expected = [(1, 3, Some(31)), (2, 0, Some(22)), (3, 1, Some(3)), (4, 2, Some(25)), (5, 3, Some(35))];
        assert_eq!(seen(&f).await, expected);
        check_deletes(&f, false).await;
        // what other tries wrote is gone
        let live: BTreeSet<String> = f.live().await.into_iter().map(|(f, _)| f.file.file_path().to_owned()).collect();
        let table = f.table().await;
        let mut known = live;
        for snapshot in table.metadata().snapshots() {
            for manifest in table.manifests(snapshot).await.unwrap().iter() {
                known.extend(table.entries(manifest).await.unwrap().iter().map(|e| e.file_path().to_owned()));
            }
        }
        for file in f.data_files() {
            let path = file.to_str().unwrap();
            assert!(known.iter().any(|known| known.ends_with(path)), "{path} is left");
        }
    }
}

#[tokio::test]
async fn every_commit_replaces_the_deletes_of_the_one_before() {
    for version in ["2", "3"] {
        let f = keyed(&with(&[("format-version", version)]), &[]).await;
        f.insert(vec![rows(&f, &[(1, 0, 1), (2, 0, 2), (3, 0, 3), (4, 0, 4)]).await]).await;
        let one = f.insert(vec![rows(&f, &[(2, 0, 20)]).await]).await;
        let first = one.deletes[0].clone();
        assert_eq!(positions(&first).1, BTreeSet::from([1]));
        assert_eq!(first.file.file_format() == DataFileFormat::Puffin, version == "3");
        let two = f.insert(vec![rows(&f, &[(4, 0, 40), (2, 0, 21)]).await]).await;
        assert_eq!(two.removed, [FileId::of(&first.file)]);
        assert_eq!((two.position_deletes, two.equality_deletes), (2, 0));
        let about: HashMap<String, BTreeSet<u64>> = two.deletes.iter().map(positions).collect();
        assert_eq!(about.len(), 2);
        assert_eq!(about[first.file.referenced_data_file().unwrap().as_str()], BTreeSet::from([1, 3]));
        let live: Vec<_> = f.live().await.into_iter().map(|(file, _)| FileId::of(&file.file)).collect();
        assert!(!live.contains(&FileId::of(&first.file)));
        assert_eq!(seen(&f).await, [(1, 0, Some(1)), (2, 0, Some(21)), (3, 0, Some(3)), (4, 0, Some(40))]);
        let table = f.table().await;
        let summary = &table.metadata().current_snapshot().unwrap().summary().additional_properties;
        let number = |key: &str| summary.get(key).map_or(0, |v| v.parse::<i64>().unwrap());
        assert_eq!(number("total-delete-files"), 2);
        assert_eq!(number("removed-delete-files"), 1);
        assert_eq!(number("added-delete-files"), 2);
        assert_eq!(number("total-position-deletes"), 3);
    }
}

#[tokio::test]
async fn position_deletes_become_vectors_after_an_upgrade() {
    let f = keyed(&with(&[("format-version", "2")]), &[]).await;
    f.insert(vec![rows(&f, &[(1, 0, 1), (2, 0, 2), (3, 0, 3)]).await]).await;
    f.insert(vec![rows(&f, &[(1, 0, 10)]).await]).await;
    let before = f.write(vec![rows(&f, &[(3, 0, 30)]).await]).await.unwrap();
    let table = f.table().await;
    let upgrade = iceberg::TableUpdate::UpgradeFormatVersion { format_version: iceberg::spec::FormatVersion::V3 };
    f.catalog.commit(&table, vec![], vec![upgrade]).await.unwrap();
    let written = f.insert(vec![rows(&f, &[(2, 0, 20)]).await]).await;
    assert_eq!(written.removed.len(), 1);
    assert_eq!(positions(&written.deletes[0]).1, BTreeSet::from([0, 1]));
    assert_eq!(written.deletes[0].file.file_format(), DataFileFormat::Puffin);
    assert_eq!(seen(&f).await, [(1, 0, Some(10)), (2, 0, Some(20)), (3, 0, Some(3))]);
    // prepared in version 2, committed in version 3
    f.commit(&before).await;
    assert_eq!(seen(&f).await, [(1, 0, Some(10)), (2, 0, Some(20)), (3, 0, Some(30))]);
    check_deletes(&f, false).await;
    assert!(f.live().await.iter().all(|(file, _)| file.file.content_type() == DataContentType::Data
        || file.file.file_format() == DataFileFormat::Puffin));
}

#[tokio::test]
async fn keys_of_every_type_are_looked_up() {
    for of in key_types() {
        let columns = vec![("v", T::Int.nullable()), ("k", of.clone().not_null())];
        let bloom = [("format-version", "3"), ("write.parquet.bloom-filter-enabled.column.k", "true")];
        let f = Fixture::new(Shape { columns, key: &["k"], partition: &[], with: &with(&bloom) }).await;
        let keys = values(&of);
        let n = keys.len();
        let batch = f.batch(vec![Arc::new(Int32Array::from(vec![1; n])), keys.clone()]).await;
        f.insert(vec![batch]).await;
        let again = f.batch(vec![Arc::new(Int32Array::from(vec![2; n])), keys.clone()]).await;
        assert_eq!(f.insert(vec![again]).await.position_deletes, n as u64, "{of}");
        let one = f.batch(vec![Arc::new(Int32Array::from(vec![3])), keys.slice(n - 1, 1)]).await;
        assert_eq!(f.insert(vec![one]).await.position_deletes, 1, "{of}");
        let mut values: Vec<i32> = Vec::new();
        for batch in scan(&f).await {
            values.extend(batch.column(0).as_primitive::<Int32Type>().values());
        }
        values.sort_unstable();
        let mut expected = vec![2; n - 1];
        expected.push(3);
        assert_eq!(values, expected, "{of}");
    }
}

#[tokio::test]
async fn keys_of_several_columns_and_promoted_ones_are_looked_up() {
    let columns = vec![("a", T::Int.not_null()), ("b", T::STRING.not_null()), ("v", T::Int.nullable())];
    let f = Fixture::new(Shape { columns, key: &["a", "b"], partition: &[], with: &with(&[]) }).await;
    let batch = |a: Vec<i32>, v: i32| {
        let n = a.len();
        let b: Vec<String> = a.iter().map(|a| format!("b{}", a % 2)).collect();
        vec![
            Arc::new(Int32Array::from(a)) as ArrayRef,
            Arc::new(StringArray::from(b)) as ArrayRef,
            Arc::new(Int32Array::from(vec![v; n])) as ArrayRef,
        ]
    };
    f.insert(vec![f.batch(batch(vec![1, 2, 3], 1)).await]).await;
    let written = f.insert(vec![f.batch(batch(vec![2, 3, 4], 2)).await]).await;
    assert_eq!(written.position_deletes, 2);
    let table = f.table().await;
    let schema = table.metadata().current_schema();
    let fields = schema.as_struct().fields().iter().map(|field| {
        let mut field = field.as_ref().clone();
        if field.name == "a" {
            field.field_type = Box::new(iceberg::spec::Type::Primitive(iceberg::spec::PrimitiveType::Long));
        }
        Arc::new(field)
    });
    let promoted = iceberg::spec::Schema::builder()
        .with_fields(fields)
        .with_identifier_field_ids(schema.identifier_field_ids())
        .build()
        .unwrap();
    let stale = f.write(vec![f.batch(batch(vec![9], 9)).await]).await.unwrap();
    let updates = vec![
        iceberg::TableUpdate::AddSchema { schema: promoted },
        iceberg::TableUpdate::SetCurrentSchema { schema_id: -1 },
    ];
    f.catalog.commit(&table, vec![], updates).await.unwrap();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![3, 4])),
        Arc::new(StringArray::from(vec!["b1", "b0"])),
        Arc::new(Int32Array::from(vec![5, 5])),
    ];
    assert_eq!(f.insert(vec![f.batch(columns).await]).await.position_deletes, 2);
    // written for another type of the key, and the table has moved
    let job = JobInfo { job_id: "a".repeat(32), operator_id: "b".repeat(32), checkpoint_id: i64::MAX, place: None };
    let error = commit(f.catalog.as_ref(), &table, "main", stale.to_operation(), &job).await.err().unwrap();
    assert_eq!(error.code, "commit-conflict");
}

#[tokio::test]
async fn row_groups_and_files_without_a_key_are_not_read() {
    let more = [("write.parquet.row-group-size-bytes", "1"), ("write.parquet.bloom-filter-enabled.column.id", "true")];
    let f = keyed(&with(&more), &[]).await;
    f.insert(vec![rows(&f, &(0..50).map(|i| (i * 10, 0, i)).collect::<Vec<_>>()).await]).await;
    f.insert(vec![rows(&f, &(100..150).map(|i| (i * 10, 0, i)).collect::<Vec<_>>()).await]).await;
    let written = f.insert(vec![rows(&f, &[(5, 0, 1), (120, 0, 2), (2_000, 0, 3)]).await]).await;
    assert_eq!(written.position_deletes, 1);
    // a file whose bounds and filters say no may even be gone
    let first = f.live().await.into_iter().find(|(file, _)| file.file.record_count() == 50).unwrap().0;
    let second = f.live().await.into_iter().filter(|(file, _)| file.file.record_count() == 50).nth(1).unwrap().0;
    let (low, high) = if longs(first.file.file_path(), 0)[0] == 0 { (first, second) } else { (second, first) };
    std::fs::remove_file(high.file.file_path()).unwrap();
    assert_eq!(f.insert(vec![rows(&f, &[(30, 0, 1)]).await]).await.position_deletes, 1);
    // cut off behind its beginning: 495 is between two keys, which only the bloom filter tells
    assert_eq!(f.insert(vec![rows(&f, &[(485, 0, 1)]).await]).await.position_deletes, 0);
    let error = f.write(vec![rows(&f, &[(1_010, 0, 1)]).await]).await.err().unwrap();
    assert!(error.message.contains(high.file.file_path()), "{error}");
    assert!(longs(low.file.file_path(), 0).contains(&480));
}

#[tokio::test]
async fn version_1_is_refused_before_a_row_is_read() {
    let f = keyed(&with(&[("format-version", "1")]), &[]).await;
    assert_eq!(f.prepare().await.err().unwrap().code, "upsert-format-v1");
    let mut f = keyed(&[("write.upsert.enabled", "true")], &[]).await;
    f.session.insert("calve.upsert.mode".to_owned(), "often".to_owned());
    let error = f.prepare().await.err().unwrap();
    assert_eq!(error.message, "invalid value 'often' for option 'calve.upsert.mode': expected equality or position");
}

#[tokio::test]
async fn a_failed_lookup_leaves_no_file() {
    let f = keyed(&with(&[]), &[]).await;
    f.insert(vec![rows(&f, &[(1, 0, 1), (2, 0, 2)]).await]).await;
    let data = f.live().await[0].0.file.file_path().to_owned();
    let before = f.data_files();
    let bytes = std::fs::read(&data).unwrap();
    std::fs::write(&data, &bytes[..bytes.len() / 2]).unwrap();
    let error = f.write(vec![rows(&f, &[(1, 0, 10), (1, 0, 11)]).await]).await.err().unwrap();
    assert!(error.message.contains(&data), "{error}");
    assert_eq!(f.data_files(), before);
    std::fs::write(&data, &bytes).unwrap();
    f.insert(vec![rows(&f, &[(1, 0, 10), (1, 0, 11)]).await]).await;
    assert_eq!(seen(&f).await, [(1, 0, Some(11)), (2, 0, Some(2))]);
}
