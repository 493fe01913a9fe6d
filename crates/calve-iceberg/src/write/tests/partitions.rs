use std::collections::BTreeSet;

use arrow::array::{BinaryArray, Date32Array, Int32Array, Int64Array, StringArray, TimestampNanosecondArray};
use calve_types::LogicalType as T;
use iceberg::spec::{Literal, PrimitiveLiteral};
use iceberg::transform::create_transform_function;

use super::super::transform::apply;
use super::*;

#[tokio::test]
async fn every_row_goes_to_its_partition() {
    let columns = vec![
        ("id", T::BigInt.nullable()),
        ("s", T::STRING.nullable()),
        ("d", T::Date.nullable()),
        ("ns", T::Timestamp(9).nullable()),
    ];
    let partition = [
        ("id", Transform::Bucket(4)),
        ("s", Transform::Truncate(2)),
        ("d", Transform::Month),
        ("ns", Transform::Hour),
        ("s", Transform::Identity),
    ];
    let with = [("format-version", "3")];
    let f = Fixture::new(Shape { columns, key: &[], partition: &partition, with: &with }).await;
    let ids = [Some(1), Some(2), None, Some(1), Some(1)];
    let texts = [Some("a b/c"), Some("ü=x"), None, Some("a b/c"), Some("a b/d")];
    let days = [Some(0), Some(-1), None, Some(30), Some(5)];
    let nanos = [Some(3_599_999_999_999), Some(-1), None, Some(5), Some(3_600_000_000_000)];
    let batch = f
        .batch(vec![
            Arc::new(Int64Array::from(ids.to_vec())),
            Arc::new(StringArray::from(texts.to_vec())),
            Arc::new(Date32Array::from(days.to_vec())),
            Arc::new(TimestampNanosecondArray::from(nanos.to_vec())),
        ])
        .await;
    let written = f.insert(vec![batch.clone(), batch]).await;
    assert_eq!(written.rows, 10);
    let root = f.dir.path().join("db/t/data");
    let folders: BTreeSet<(String, u64)> = written
        .data
        .iter()
        .map(|file| {
            let path = Path::new(file.file.file_path()).parent().unwrap();
            (path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), file.file.record_count())
        })
        .collect();
    let expected = [
        ("id_bucket=0/s_trunc=a+/d_month=1970-01/ns_hour=1970-01-01-00/s=a+b%2Fc", 4),
        ("id_bucket=0/s_trunc=a+/d_month=1970-01/ns_hour=1970-01-01-01/s=a+b%2Fd", 2),
        ("id_bucket=0/s_trunc=%C3%BC%3D/d_month=1969-12/ns_hour=1969-12-31-23/s=%C3%BC%3Dx", 2),
        ("id_bucket=null/s_trunc=null/d_month=null/ns_hour=null/s=null", 2),
    ];
    let expected: BTreeSet<(String, u64)> = expected.map(|(p, n)| (p.to_owned(), n)).into();
    let names: BTreeSet<(String, u64)> = folders;
    assert_eq!(names, expected);
    let null = written.data.iter().find(|f| f.file.partition().iter().all(|v| v.is_none())).unwrap();
    assert_eq!(null.file.record_count(), 2);
    for (file, _) in f.live().await {
        for batch in read(file.file.file_path()) {
            assert!(batch.num_rows() > 0);
        }
    }
}

#[test]
fn transforms_equal_the_reference_where_it_is_right() {
    use rand::RngExt;
    let mut random = rand::rng();
    let days: ArrayRef = Arc::new(Date32Array::from_iter(
        (0..500).map(|i| (i % 7 != 0).then(|| random.random_range(-700_000..700_000))),
    ));
    // whole seconds: the reference puts the last second of a day before 1970 into the day after it
    let micros: ArrayRef = Arc::new(
        arrow::array::TimestampMicrosecondArray::from_iter_values(
            (0..500).map(|_| random.random_range(-50_000_000_000_i64..50_000_000_000) * 1_000_000),
        )
        .with_timezone("UTC"),
    );
    let ints: ArrayRef = Arc::new(Int32Array::from_iter_values((0..500).map(|_| random.random_range(-1_000..1_000))));
    let longs: ArrayRef =
        Arc::new(Int64Array::from_iter_values((0..500).map(|_| random.random_range(i64::MIN / 2..i64::MAX))));
    let decimals: ArrayRef = Arc::new(
        arrow::array::Decimal128Array::from_iter_values(
            (0..500).map(|i| random.random_range(-(10_i128.pow(1 + i % 30))..10_i128.pow(1 + i % 30))),
        )
        .with_precision_and_scale(38, 2)
        .unwrap(),
    );
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..500).map(|i| "aüx日".repeat(i % 5))));
    let bytes: ArrayRef = Arc::new(BinaryArray::from_iter_values((0..500_u32).map(|i| vec![i as u8; i as usize % 9])));
    let all = [&days, &micros, &ints, &longs, &decimals, &texts, &bytes];
    let mut compared = 0;
    for transform in [
        Transform::Year,
        Transform::Month,
        Transform::Day,
        Transform::Hour,
        Transform::Bucket(7),
        Transform::Bucket(1_000_003),
        Transform::Truncate(3),
        Transform::Identity,
    ] {
        for column in all {
            let Ok(ours) = apply(transform, column) else { continue };
            let reference = create_transform_function(&transform).unwrap().transform(column.clone()).unwrap();
            assert_eq!(ours.as_ref(), reference.as_ref(), "{transform} {}", column.data_type());
            compared += 1;
        }
    }
    assert!(compared >= 25, "{compared}");
}

#[test]
fn transforms_hold_at_the_ends_of_the_range() {
    let ints: ArrayRef = Arc::new(Int32Array::from(vec![i32::MIN, i32::MAX]));
    let longs: ArrayRef = Arc::new(Int64Array::from(vec![i64::MIN, i64::MAX]));
    let days: ArrayRef = Arc::new(Date32Array::from(vec![i32::MIN, i32::MAX]));
    let micros: ArrayRef = Arc::new(arrow::array::TimestampMicrosecondArray::from(vec![i64::MIN, i64::MAX]));
    let nanos: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![i64::MIN, i64::MAX]));
    for column in [ints, longs, days, micros, nanos] {
        for transform in [
            Transform::Year,
            Transform::Month,
            Transform::Day,
            Transform::Hour,
            Transform::Bucket(3),
            Transform::Truncate(7),
        ] {
            let _ = apply(transform, &column);
        }
    }
    // nanoseconds hash like microseconds, rounded down
    let nanos: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![-1, 1_999]));
    let micros: ArrayRef = Arc::new(arrow::array::TimestampMicrosecondArray::from(vec![-1, 1]));
    let bucket = Transform::Bucket(1_000);
    assert_eq!(apply(bucket, &nanos).unwrap().as_ref(), apply(bucket, &micros).unwrap().as_ref());
}

#[test]
fn a_decimal_is_not_truncated_out_of_its_type() {
    let decimals = |values: Vec<i128>| -> ArrayRef {
        Arc::new(arrow::array::Decimal128Array::from(values).with_precision_and_scale(9, 2).unwrap())
    };
    let cut = apply(Transform::Truncate(50), &decimals(vec![-999_999_950, 999_999_999, -1, 0])).unwrap();
    assert_eq!(cut.as_ref(), decimals(vec![-999_999_950, 999_999_950, -50, 0]).as_ref());
    let error = apply(Transform::Truncate(50), &decimals(vec![5, -999_999_999])).unwrap_err();
    assert_eq!(error.code, "invalid-value");
    assert_eq!(error.detail.unwrap(), "Cannot write value as decimal(9,2), too large: -10000000.00");
}

#[tokio::test]
async fn many_partitions_one_file_each() {
    let columns = vec![("p", T::Int.nullable()), ("id", T::BigInt.nullable())];
    let partition = [("p", Transform::Identity)];
    let mut f = Fixture::new(Shape { columns, key: &[], partition: &partition, with: &[] }).await;
    let n = 20_000;
    let batch = f
        .batch(vec![
            Arc::new(Int32Array::from_iter_values((0..n).map(|i| i % 200))),
            Arc::new(Int64Array::from_iter_values((0..n).map(i64::from))),
        ])
        .await;
    f.hints.insert("distribution-mode".to_owned(), "hash".to_owned());
    let written = f.insert(vec![batch]).await;
    assert_eq!(written.data.len(), 200);
    for file in &written.data {
        let Some(Literal::Primitive(PrimitiveLiteral::Int(p))) = file.file.partition()[0] else { panic!() };
        let rows = longs(file.file.file_path(), 1);
        assert!(rows.is_sorted() && rows.iter().all(|id| id % 200 == i64::from(p)), "{p}");
        assert_eq!(rows.len(), 100);
    }
}

#[tokio::test]
async fn more_partitions_than_open_files() {
    let columns = vec![("p", T::Int.nullable())];
    let partition = [("p", Transform::Identity)];
    let f = Fixture::new(Shape { columns, key: &[], partition: &partition, with: &[] }).await;
    let all: Vec<i32> = (0..300).chain(0..300).collect();
    let batch = f.batch(vec![Arc::new(Int32Array::from(all[..300].to_vec()))]).await;
    let written = f.insert(vec![batch.clone(), batch]).await;
    assert_eq!(written.data.len(), 300, "one file each, though fewer may be open");
    assert_eq!(written.data.iter().map(|f| f.file.record_count()).sum::<u64>(), 600);
}

#[tokio::test]
async fn hash_distribution_gives_a_partition_one_writer() {
    let columns = vec![("p", T::Int.nullable()), ("s", T::STRING.nullable())];
    let partition = [("p", Transform::Identity)];
    let mut f = Fixture::new(Shape { columns, key: &[], partition: &partition, with: &[] }).await;
    f.hints.insert("distribution-mode".to_owned(), "hash".to_owned());
    let mut batches = Vec::new();
    for i in 0..40 {
        let texts = StringArray::from_iter_values((0..10_000).map(|j| format!("{:0>100}", i * j)));
        batches.push(
            f.batch(vec![Arc::new(Int32Array::from_iter_values((0..10_000).map(|j| j % 5))), Arc::new(texts)]).await,
        );
    }
    let written = f.write(batches).await.unwrap();
    assert_eq!(written.data.len(), 5);
    let writers: BTreeSet<&str> =
        written.data.iter().map(|f| &f.file.file_path().rsplit_once('/').unwrap().1[..5]).collect();
    assert_eq!(writers.len(), 3);
}

#[tokio::test]
async fn partition_fields_whose_names_avro_does_not_have() {
    use crate::scan::avro::entries;
    let columns = vec![
        ("a b", T::Int.nullable()),
        ("1c", T::STRING.nullable()),
        ("é", T::Int.nullable()),
        ("v", T::Int.nullable()),
    ];
    let partition = [("a b", Transform::Identity), ("1c", Transform::Truncate(1)), ("é", Transform::Bucket(8))];
    let f = Fixture::new(Shape { columns, key: &[], partition: &partition, with: &[] }).await;
    let ints = |of: [Option<i32>; 2]| Arc::new(Int32Array::from(of.to_vec())) as ArrayRef;
    let texts = Arc::new(StringArray::from(vec![Some("xy"), None]));
    let rows = [ints([Some(1), Some(2)]), texts, ints([None, Some(34)]), ints([Some(5), Some(6)])];
    f.insert(vec![f.batch(rows.to_vec()).await]).await;
    let tuples = |files: Vec<&iceberg::spec::DataFile>| -> BTreeSet<String> {
        files.iter().map(|file| format!("{:?}", file.partition().fields())).collect()
    };
    let live = f.live().await;
    let expected = tuples(live.iter().map(|(file, _)| &file.file).collect());
    assert_eq!(expected.len(), 2);
    assert!(expected.iter().any(|tuple| tuple.contains("Int(1)") && tuple.contains("\"x\"")), "{expected:?}");

    let table = f.table().await;
    let snapshot = table.metadata().current_snapshot().unwrap();
    let manifest = table.manifests(snapshot).await.unwrap().first().unwrap().clone();
    let bytes = std::fs::read(&manifest.manifest_path).unwrap();
    let (entries, rest) = entries(&bytes).unwrap();
    let entry = |key: &str| {
        let (_, value) = entries.iter().find(|(name, _)| *name == key.as_bytes()).unwrap();
        String::from_utf8(value.to_vec()).unwrap()
    };
    let schema = entry("avro.schema");
    for name in ["\"a_x20b\"", "\"_1c_trunc\"", "\"_xE9_bucket\""] {
        assert!(schema.contains(name), "{name} {schema}");
    }

    // as the Java library writes it: its own names in the spec, and letters of all alphabets in the schema
    let spec = entry("partition-spec").replace("a_x20b", "a b").replace("_1c", "1c").replace("_xE9", "é");
    let schema = schema.replace("_xE9", "é");
    let entries: Vec<(&[u8], &[u8])> = entries
        .into_iter()
        .map(|(key, value)| match key {
            b"partition-spec" => (key, spec.as_bytes()),
            b"avro.schema" => (key, schema.as_bytes()),
            _ => (key, value),
        })
        .collect();
    let mut java = write_avro_header(&entries);
    java.extend_from_slice(rest);
    let layouts = crate::manifest::Layouts::default();
    let (layout, blocks) = layouts.of(&java).unwrap();
    let read = crate::manifest::read(&layout, blocks, &manifest, None).unwrap();
    assert_eq!(tuples(read.iter().map(|e| e.data_file()).collect()), expected);
}

#[tokio::test]
async fn two_names_that_manifests_cannot_tell_apart_are_refused_before_a_file_is_written() {
    let columns = vec![("a b", T::Int.nullable()), ("a_x20b", T::Int.nullable())];
    let partition = [("a b", Transform::Identity), ("a_x20b", Transform::Identity)];
    let f = Fixture::new(Shape { columns, key: &[], partition: &partition, with: &[] }).await;
    let ints = Arc::new(Int32Array::from(vec![1])) as ArrayRef;
    let refused = f.write(vec![f.batch(vec![ints.clone(), ints]).await]).await.unwrap_err();
    assert_eq!(refused.message, "not supported: partition field 'a_x20b': manifests have another one named 'a_x20b'");
    assert!(f.data_files().is_empty());
}

#[tokio::test]
async fn zeros_of_two_signs_are_two_partitions_and_nan_is_one() {
    for transform in [Transform::Identity, Transform::Void] {
        let columns = vec![("f", T::Double.nullable()), ("id", T::BigInt.nullable())];
        let partition = [("f", transform)];
        let f = Fixture::new(Shape { columns, key: &[], partition: &partition, with: &[] }).await;
        let numbers = [0.0, -0.0, f64::NAN, 0.0, -f64::NAN, 1.5];
        let numbers = Arc::new(arrow::array::Float64Array::from(numbers.to_vec()));
        let ids = Arc::new(Int64Array::from_iter_values(0..6));
        let written = f.insert(vec![f.batch(vec![numbers, ids]).await]).await;
        let mut files: Vec<Vec<i64>> = written.data.iter().map(|file| longs(file.file.file_path(), 1)).collect();
        files.sort();
        match transform {
            Transform::Identity => assert_eq!(files, [vec![0, 3], vec![1], vec![2, 4], vec![5]]),
            _ => assert_eq!(files, [[0, 1, 2, 3, 4, 5]]),
        }
    }
}
