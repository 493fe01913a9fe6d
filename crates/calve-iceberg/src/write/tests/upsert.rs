use std::collections::BTreeSet;

use arrow::array::{Int32Array, Int64Array};
use calve_types::LogicalType as T;
use iceberg::TableUpdate;
use iceberg::spec::{DataContentType, DataFileFormat, Struct, UnboundPartitionSpec};
use roaring::RoaringTreemap;

use super::*;

pub(super) async fn keyed(with: &[(&str, &str)], partition: &[(&str, Transform)]) -> Fixture {
    let columns = vec![("id", T::BigInt.not_null()), ("p", T::Int.not_null()), ("v", T::BigInt.nullable())];
    let key: &[&str] = if partition.is_empty() { &["id"] } else { &["id", "p"] };
    Fixture::new(Shape { columns, key, partition, with }).await
}

pub(super) async fn rows(f: &Fixture, rows: &[(i64, i32, i64)]) -> RecordBatch {
    f.batch(vec![
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.0))),
        Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.1))),
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.2))),
    ])
    .await
}

const UPSERT: (&str, &str) = ("write.upsert.enabled", "true");

fn of_kind(files: &[NewFile], content: DataContentType) -> Vec<&NewFile> {
    files.iter().filter(|f| f.file.content_type() == content).collect()
}

/// The positions a delete file or deletion vector holds, with the file it is about.
pub(super) fn positions(file: &NewFile) -> (String, BTreeSet<u64>) {
    let file = &file.file;
    let about = file.referenced_data_file().unwrap();
    let positions = match file.file_format() {
        DataFileFormat::Parquet => {
            for batch in read(file.file_path()) {
                assert!(batch.column(0).as_string::<i32>().iter().all(|p| p == Some(about.as_str())));
            }
            let positions = longs(file.file_path(), 1);
            assert!(positions.is_sorted());
            positions.into_iter().map(|p| p as u64).collect()
        }
        DataFileFormat::Puffin => {
            let bytes = std::fs::read(file.file_path()).unwrap();
            assert_eq!(bytes.len() as u64, file.file_size_in_bytes());
            let start = file.content_offset().unwrap() as usize;
            let blob = &bytes[start..start + file.content_size_in_bytes().unwrap() as usize];
            let (length, rest) = blob.split_at(4);
            let (checked, crc) = rest.split_at(rest.len() - 4);
            assert_eq!(u32::from_be_bytes(length.try_into().unwrap()) as usize, checked.len());
            assert_eq!(u32::from_be_bytes(crc.try_into().unwrap()), crc32fast::hash(checked));
            assert_eq!(checked[..4], [0xd1, 0xd3, 0x39, 0x64]);
            RoaringTreemap::deserialize_from(&checked[4..]).unwrap().iter().collect()
        }
        other => panic!("{other}"),
    };
    let positions: BTreeSet<u64> = positions;
    assert_eq!(positions.len() as u64, file.record_count());
    (about, positions)
}

#[tokio::test]
async fn a_key_twice_in_a_commit_leaves_the_last_row() {
    for version in ["2", "3"] {
        for upsert in ["true", "false"] {
            let f = keyed(&[("format-version", version), ("write.upsert.enabled", upsert)], &[]).await;
            let batches =
                vec![rows(&f, &[(1, 0, 10), (2, 0, 20), (1, 0, 11)]).await, rows(&f, &[(3, 0, 30), (1, 0, 12)]).await];
            let written = f.insert(batches).await;
            assert_eq!((written.rows, written.position_deletes, written.equality_deletes), (5, 2, 0));
            assert_eq!((written.data.len(), written.deletes.len()), (1, 1));
            let (about, positions) = positions(&written.deletes[0]);
            assert_eq!(about, written.data[0].file.file_path());
            assert_eq!(positions, BTreeSet::from([0, 2]));
            let format = if version == "3" { DataFileFormat::Puffin } else { DataFileFormat::Parquet };
            assert_eq!(written.deletes[0].file.file_format(), format);
            assert_eq!(longs(about.as_str(), 2), [10, 20, 11, 30, 12]);
            if version == "2" {
                let file = &written.deletes[0].file;
                let path = iceberg::spec::Datum::string(&about);
                assert_eq!(file.lower_bounds().get(&2_147_483_546), Some(&path));
                assert_eq!(file.upper_bounds().get(&2_147_483_546), Some(&path));
                assert_eq!(file.sort_order_id(), None);
            }
        }
    }
}

#[tokio::test]
async fn positions_stay_right_when_files_roll() {
    for version in ["2", "3"] {
        let f = keyed(&[("format-version", version), ("write.target-file-size-bytes", "4000"), UPSERT], &[]).await;
        let mut batches = Vec::new();
        let mut newest = BTreeMap::new();
        for i in 0..6_i64 {
            let batch: Vec<_> = (0..3_000).map(|j| ((j * 7919 + i * 13) % 5_000, 0, i * 10_000 + j)).collect();
            newest.extend(batch.iter().map(|(k, _, v)| (*k, *v)));
            batches.push(rows(&f, &batch).await);
        }
        let written = f.insert(batches).await;
        assert!(written.data.len() > 2);
        let deleted: BTreeMap<_, _> = written.deletes.iter().map(positions).collect();
        assert_eq!(deleted.len(), written.deletes.len(), "one delete file or vector for each data file");
        let mut left = BTreeMap::new();
        for file in &written.data {
            let path = file.file.file_path();
            for (position, (key, value)) in (0_u64..).zip(longs(path, 0).into_iter().zip(longs(path, 2))) {
                if !deleted.get(path).is_some_and(|d| d.contains(&position)) {
                    assert_eq!(left.insert(key, value), None);
                }
            }
        }
        assert_eq!(left, newest);
    }
}

#[tokio::test]
async fn needed_leaves_out_what_cannot_be_there() {
    let f = keyed(&[UPSERT], &[("p", Transform::Identity)]).await;
    let first = f.insert(vec![rows(&f, &[(1, 0, 1), (5, 0, 1), (1, 1, 1)]).await]).await;
    assert_eq!((first.equality_deletes, first.deletes.len()), (0, 0));
    assert_eq!(first.omitted.as_ref().unwrap().files.len(), 2);
    // 3 lies between the bounds, 9 does not, partition 7 is new
    let second = f.insert(vec![rows(&f, &[(3, 0, 2), (9, 0, 2), (1, 1, 2), (1, 7, 2)]).await]).await;
    assert_eq!(second.equality_deletes, 2);
    let deletes = of_kind(&second.deletes, DataContentType::EqualityDeletes);
    assert_eq!(deletes.len(), 2);
    for delete in deletes {
        assert_eq!(delete.file.equality_ids(), Some(vec![1, 2]));
        let batches = read(delete.file.file_path());
        let names: Vec<_> = batches[0].schema().fields().iter().map(|f| f.name().clone()).collect();
        assert_eq!(names, ["id", "p"]);
        assert_eq!(delete.file.sort_order_id(), Some(0));
    }
}

#[tokio::test]
async fn always_writes_what_flink_writes() {
    let mut f = keyed(&[UPSERT], &[("p", Transform::Identity)]).await;
    f.session.insert("calve.upsert.equality-deletes".to_owned(), "always".to_owned());
    let written = f.insert(vec![rows(&f, &[(1, 0, 1), (1, 0, 2), (5, 0, 1), (1, 1, 1)]).await]).await;
    assert_eq!((written.equality_deletes, written.position_deletes), (3, 1));
    assert!(written.omitted.is_none());
    f.session.insert("calve.upsert.equality-deletes".to_owned(), "often".to_owned());
    assert_eq!(f.prepare().await.err().unwrap().code, "invalid-option");
}

#[tokio::test]
async fn without_upsert_nothing_older_is_deleted() {
    let f = keyed(&[], &[]).await;
    f.insert(vec![rows(&f, &[(1, 0, 1)]).await]).await;
    let written = f.insert(vec![rows(&f, &[(1, 0, 2)]).await]).await;
    assert!(written.deletes.is_empty() && written.omitted.is_none());
}

#[tokio::test]
async fn format_version_1_takes_keys_once() {
    let f = keyed(&[("format-version", "1")], &[]).await;
    f.insert(vec![rows(&f, &[(1, 0, 1), (2, 0, 1)]).await]).await;
    let error = f.write(vec![rows(&f, &[(1, 0, 1), (1, 0, 2)]).await]).await.unwrap_err();
    assert!(error.detail.unwrap().contains("Cannot write delete files in a v1 table"));
    assert_eq!(f.data_files().len(), 1);
}

#[tokio::test]
async fn deletes_left_out_are_written_if_the_table_moved() {
    let f = keyed(&[UPSERT], &[("p", Transform::Bucket(2))]).await;
    let ours = f.write(vec![rows(&f, &[(1, 0, 1), (2, 0, 1), (1, 0, 2)]).await]).await.unwrap();
    assert_eq!(ours.equality_deletes, 0);
    let theirs = f.insert(vec![rows(&f, &[(1, 0, 7), (8, 0, 7)]).await]).await;
    assert!(theirs.deletes.is_empty());
    f.commit(&ours).await;
    let live = f.live().await;
    let deletes: Vec<_> =
        live.iter().filter(|(f, _)| f.file.content_type() == DataContentType::EqualityDeletes).collect();
    assert_eq!(deletes.len(), 1);
    let (file, sequence) = deletes[0];
    assert_eq!(*sequence, 2);
    assert_eq!(file.file.partition(), ours.data[0].file.partition());
    let keys: BTreeSet<i64> = longs(file.file.file_path(), 0).into_iter().collect();
    assert_eq!(keys, BTreeSet::from([1, 2]));
}

pub(super) async fn evolve(f: &Fixture, fields: &[(&str, Transform)]) {
    let table = f.table().await;
    let mut spec = UnboundPartitionSpec::builder();
    for (name, transform) in fields {
        let id = table.metadata().current_schema().field_id_by_name(name).unwrap();
        spec = spec.add_partition_field(id, format!("{name}_{transform}").replace(['[', ']'], ""), *transform).unwrap();
    }
    let updates = vec![TableUpdate::AddSpec { spec: spec.build() }, TableUpdate::SetDefaultSpec { spec_id: -1 }];
    f.catalog.commit(&table, vec![], updates).await.unwrap();
}

#[tokio::test]
async fn rows_of_older_specs_are_reached() {
    for mode in ["needed", "always"] {
        // from unpartitioned: global deletes, under the unpartitioned spec
        let columns = vec![("id", T::BigInt.not_null()), ("p", T::Int.not_null()), ("v", T::BigInt.nullable())];
        let mut f = Fixture::new(Shape { columns, key: &["id", "p"], partition: &[], with: &[UPSERT] }).await;
        f.session.insert("calve.upsert.equality-deletes".to_owned(), mode.to_owned());
        f.insert(vec![rows(&f, &[(1, 0, 1), (5, 1, 1)]).await]).await;
        evolve(&f, &[("p", Transform::Identity)]).await;
        let written = f.insert(vec![rows(&f, &[(3, 0, 2), (9, 0, 2)]).await]).await;
        let global: Vec<_> = written.deletes.iter().filter(|d| d.spec_id == 0).collect();
        assert_eq!(global.len(), 1);
        assert_eq!(global[0].file.partition(), &Struct::empty());
        let expected = if mode == "needed" { vec![3] } else { vec![3, 9] };
        assert_eq!(longs(global[0].file.file_path(), 0), expected);

        // from one partitioning to another that follows from the key: scoped to the row's old partition
        let mut f = keyed(&[UPSERT], &[("p", Transform::Identity)]).await;
        f.session.insert("calve.upsert.equality-deletes".to_owned(), mode.to_owned());
        f.insert(vec![rows(&f, &[(1, 0, 1), (5, 0, 1), (5, 1, 1)]).await]).await;
        evolve(&f, &[("id", Transform::Bucket(3))]).await;
        let written = f.insert(vec![rows(&f, &[(3, 0, 2), (3, 1, 2), (3, 9, 2)]).await]).await;
        let old: Vec<_> = written.deletes.iter().filter(|d| d.spec_id == 0).collect();
        let rows: u64 = old.iter().map(|d| d.file.record_count()).sum();
        assert_eq!(rows, if mode == "needed" { 1 } else { 3 });
        let of_p0 = old.iter().find(|d| d.file.partition().iter().any(|v| v == Some(&iceberg::spec::Literal::int(0))));
        assert_eq!(longs(of_p0.unwrap().file.file_path(), 0), [3]);
    }
}

#[tokio::test]
async fn rows_that_deletes_cannot_reach_are_refused() {
    let columns = vec![("id", T::BigInt.not_null()), ("p", T::Int.not_null()), ("v", T::BigInt.nullable())];
    let partition = [("v", Transform::Bucket(4))];
    let mut f = Fixture::new(Shape { columns, key: &["id"], partition: &partition, with: &[] }).await;
    f.insert(vec![rows(&f, &[(1, 0, 1)]).await]).await;
    evolve(&f, &[("id", Transform::Bucket(4))]).await;
    f.hints.insert("upsert-enabled".to_owned(), "true".to_owned());
    let error = f.prepare().await.err().unwrap();
    assert_eq!(error.code, "not-supported");
}

/// Values of a key column of each type, in the order of their text.
pub(super) fn values(of: &T) -> ArrayRef {
    use arrow::array::*;
    let long = "\u{10ffff}".repeat(20);
    let long_bytes = [255_u8; 40];
    match of {
        T::Boolean => Arc::new(BooleanArray::from(vec![true, false])),
        T::Int => Arc::new(Int32Array::from(vec![i32::MIN, 0, i32::MAX])),
        T::BigInt => Arc::new(Int64Array::from(vec![i64::MIN, 0, i64::MAX])),
        T::Decimal { precision, scale } => Arc::new(
            Decimal128Array::from(vec![-(10_i128.pow(u32::from(*precision)) - 1), 0, 10_i128.pow(8)])
                .with_precision_and_scale(*precision, *scale as i8)
                .unwrap(),
        ),
        T::Varchar(_) => Arc::new(StringArray::from(vec!["", "short", "\u{d7ff}\u{d7ff}", long.as_str()])),
        T::Varbinary(_) => Arc::new(BinaryArray::from_vec(vec![b"", b"short", &long_bytes])),
        T::Binary(_) => Arc::new(BinaryArray::from_vec(vec![&[0; 16], &[128; 16], &[255; 16]])),
        T::Date => Arc::new(Date32Array::from(vec![-700_000, 0, 20_000])),
        T::Time(_) => Arc::new(Time64MicrosecondArray::from(vec![0, 86_399_999_000])),
        T::Timestamp(9) => Arc::new(TimestampNanosecondArray::from(vec![i64::MIN, 1, i64::MAX])),
        T::Timestamp(_) => Arc::new(TimestampMicrosecondArray::from(vec![-1, 0, 4_102_444_800_000_000])),
        T::TimestampLtz(_) => Arc::new(TimestampMicrosecondArray::from(vec![-1, 7]).with_timezone("UTC")),
        other => panic!("{other}"),
    }
}

/// The types that a key column may have.
pub(super) fn key_types() -> [T; 14] {
    [
        T::Boolean,
        T::Int,
        T::BigInt,
        T::Decimal { precision: 9, scale: 2 },
        T::Decimal { precision: 18, scale: 0 },
        T::Decimal { precision: 38, scale: 5 },
        T::STRING,
        T::BYTES,
        T::Binary(16),
        T::Date,
        T::Time(6),
        T::Timestamp(6),
        T::Timestamp(9),
        T::TimestampLtz(6),
    ]
}

#[tokio::test]
async fn keys_of_every_type_are_found_again() {
    for of in key_types() {
        for partition in [Transform::Void, Transform::Identity] {
            if (&of, partition) == (&T::Timestamp(9), Transform::Identity) {
                continue; // refused
            }
            let partition: &[_] = if partition == Transform::Void { &[] } else { &[("k", partition)] };
            let columns = vec![("v", T::Int.nullable()), ("k", of.clone().not_null())];
            let with = [("format-version", "3"), UPSERT];
            let f = Fixture::new(Shape { columns, key: &["k"], partition, with: &with }).await;
            let keys = values(&of);
            let n = keys.len();
            let batch = f.batch(vec![Arc::new(Int32Array::from(vec![1; n])), keys]).await;
            let ours = f.write(vec![batch.clone()]).await.unwrap();
            assert_eq!((ours.equality_deletes, ours.rows), (0, n as u64), "{of}");
            f.insert(vec![batch.clone()]).await;
            // the table moved: what was left out is written now
            f.commit(&ours).await;
            let live = f.live().await;
            let late: u64 = live
                .iter()
                .filter(|(f, _)| f.file.content_type() == DataContentType::EqualityDeletes)
                .map(|(f, _)| f.file.record_count())
                .sum();
            assert_eq!(late, n as u64, "{of}");
            let again = f.insert(vec![batch.clone(), batch]).await;
            assert_eq!((again.equality_deletes, again.position_deletes), (n as u64, n as u64), "{of}");
        }
    }
}
