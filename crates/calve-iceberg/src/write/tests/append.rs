use arrow::array::{
    BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int32Array, Int64Array,
    ListArray, StringArray, StructArray, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow::datatypes::Int32Type;
use calve_types::{LogicalType as T, RowField};
use iceberg::spec::{DataContentType, Datum};
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::*;

fn nullable(t: T) -> DataType {
    t.nullable()
}

async fn plain(with: &[(&str, &str)]) -> Fixture {
    let columns = vec![("id", T::BigInt.not_null()), ("s", nullable(T::STRING))];
    Fixture::new(Shape { columns, key: &[], partition: &[], with }).await
}

async fn rows(f: &Fixture, ids: std::ops::Range<i64>) -> RecordBatch {
    let texts = StringArray::from_iter_values(ids.clone().map(|i| format!("text {i} {:x}", i * 7919 % 1_000_003)));
    f.batch(vec![Arc::new(Int64Array::from_iter_values(ids)), Arc::new(texts)]).await
}

#[tokio::test]
async fn no_rows_no_files() {
    let f = plain(&[]).await;
    for input in [vec![], vec![rows(&f, 0..0).await]] {
        let written = f.write(input).await.unwrap();
        assert!(written.is_empty());
        assert_eq!(written.rows, 0);
        assert!(f.data_files().is_empty());
    }
}

#[tokio::test]
async fn a_small_insert_makes_one_file() {
    let f = plain(&[]).await;
    let progress = Arc::new(WriteProgress::default());
    let batches = vec![rows(&f, 0..10).await, rows(&f, 10..20).await, rows(&f, 20..30).await];
    let written = f.prepare().await.unwrap().write(stream(batches), progress.clone()).await.unwrap();
    assert_eq!((written.rows, written.data.len()), (30, 1));
    use std::sync::atomic::Ordering::Relaxed;
    assert_eq!((progress.rows.load(Relaxed), progress.files.load(Relaxed)), (30, 1));
    let file = &written.data[0].file;
    assert_eq!(file.record_count(), 30);
    assert_eq!(longs(file.file_path(), 0), (0..30).collect::<Vec<_>>());
    let size = std::fs::metadata(file.file_path()).unwrap().len();
    assert_eq!(file.file_size_in_bytes(), size);
    assert_eq!(progress.bytes.load(Relaxed), size);
    assert_eq!(file.split_offsets(), Some(&[4_i64][..]));
    assert_eq!(file.sort_order_id(), Some(0));
    let reader = SerializedFileReader::new(std::fs::File::open(file.file_path()).unwrap()).unwrap();
    let meta = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let schema = meta.iter().find(|kv| kv.key == "iceberg.schema").unwrap().value.as_ref().unwrap();
    let schema: iceberg::spec::Schema = serde_json::from_str(schema).unwrap();
    assert_eq!(&schema, f.table().await.metadata().current_schema().as_ref());
    let chunk = reader.metadata().row_group(0).column(0).compression();
    assert!(matches!(chunk, parquet::basic::Compression::ZSTD(_)));
}

#[tokio::test]
async fn files_roll_at_the_target_size() {
    let f = plain(&[("write.target-file-size-bytes", "20000")]).await;
    let written = f.insert(vec![rows(&f, 0..20_000).await]).await;
    assert!(written.data.len() > 3, "{}", written.data.len());
    let mut ids: Vec<i64> = written.data.iter().flat_map(|f| longs(f.file.file_path(), 0)).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..20_000).collect::<Vec<_>>());
    for file in &written.data {
        assert!(file.file.file_size_in_bytes() < 60_000);
    }
    assert_eq!(f.live().await.len(), written.data.len());
}

#[tokio::test]
async fn much_data_goes_to_several_writers() {
    let f = plain(&[("write.parquet.compression-codec", "uncompressed")]).await;
    let mut batches = Vec::new();
    for i in 0..40 {
        batches.push(rows(&f, i * 50_000..(i + 1) * 50_000).await);
    }
    let written = f.write(batches).await.unwrap();
    assert_eq!(written.data.len(), 3);
    let mut ids: Vec<i64> = written.data.iter().flat_map(|f| longs(f.file.file_path(), 0)).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..2_000_000).collect::<Vec<_>>());
}

#[tokio::test]
async fn metrics_of_every_type() {
    let row = T::Row(vec![RowField::new("x", nullable(T::Int)), RowField::new("f", nullable(T::Double))]);
    let columns = vec![
        ("b", nullable(T::Boolean)),
        ("i", nullable(T::Int)),
        ("l", nullable(T::BigInt)),
        ("f", nullable(T::Float)),
        ("d", nullable(T::Double)),
        ("dec", nullable(T::Decimal { precision: 30, scale: 2 })),
        ("s", nullable(T::STRING)),
        ("bin", nullable(T::BYTES)),
        ("fix", nullable(T::Binary(3))),
        ("day", nullable(T::Date)),
        ("time", nullable(T::Time(6))),
        ("ts", nullable(T::Timestamp(6))),
        ("ltz", nullable(T::TimestampLtz(6))),
        ("r", nullable(row)),
        ("a", nullable(T::Array(Box::new(nullable(T::Int))))),
    ];
    let f = Fixture::new(Shape { columns, key: &[], partition: &[], with: &[] }).await;
    let schema = to_arrow(f.table().await.metadata().current_schema()).unwrap();
    let arrow::datatypes::DataType::Struct(nested) = schema.field(13).data_type() else { panic!() };
    let long = "\u{10ffff}".repeat(16) + "x";
    let text = "abcdefghijklmnop-and-more";
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None]), None, Some(vec![])]);
    let arrow::datatypes::DataType::List(element) = schema.field(14).data_type() else { panic!() };
    let list = ListArray::new(element.clone(), list.offsets().clone(), list.values().clone(), list.nulls().cloned());
    let batch = f
        .batch(vec![
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(true)])),
            Arc::new(Int32Array::from(vec![Some(3), None, Some(-3)])),
            Arc::new(Int64Array::from(vec![None::<i64>, None, None])),
            Arc::new(Float32Array::from(vec![Some(f32::NAN), None, Some(0.0)])),
            Arc::new(Float64Array::from(vec![Some(f64::NAN), Some(f64::NAN), None])),
            Arc::new(
                Decimal128Array::from(vec![Some(-12_345), Some(700), None]).with_precision_and_scale(30, 2).unwrap(),
            ),
            Arc::new(StringArray::from(vec![Some(text), Some(long.as_str()), None])),
            Arc::new(BinaryArray::from_opt_vec(vec![Some(&[7; 20][..]), Some(&[8][..]), None])),
            Arc::new(BinaryArray::from_opt_vec(vec![Some(b"abc"), Some(b"abd"), None])),
            Arc::new(Date32Array::from(vec![Some(0), Some(19_000), None])),
            Arc::new(Time64MicrosecondArray::from(vec![Some(1), Some(2), None])),
            Arc::new(TimestampMicrosecondArray::from(vec![Some(-1), Some(5), None])),
            Arc::new(TimestampMicrosecondArray::from(vec![Some(-1), Some(5), None]).with_timezone("UTC")),
            Arc::new(StructArray::new(
                nested.clone(),
                vec![
                    Arc::new(Int32Array::from(vec![Some(1), Some(9), Some(4)])),
                    Arc::new(Float64Array::from(vec![Some(f64::NAN), Some(f64::NAN), Some(2.5)])),
                ],
                Some(vec![true, false, true].into()),
            )),
            Arc::new(list),
        ])
        .await;
    let written = f.insert(vec![batch]).await;
    let file = &f.live().await[0].0.file;
    assert_eq!(file.lower_bounds(), written.data[0].file.lower_bounds());
    let id = |name: &str| {
        let schema =
            serde_json::from_value::<iceberg::spec::Schema>(serde_json::to_value(written_schema(&written)).unwrap())
                .unwrap();
        schema.field_id_by_name(name).unwrap()
    };
    let low = |name: &str| file.lower_bounds().get(&id(name)).cloned();
    let high = |name: &str| file.upper_bounds().get(&id(name)).cloned();
    assert_eq!((low("b"), high("b")), (Some(Datum::bool(true)), Some(Datum::bool(true))));
    assert_eq!((low("i"), high("i")), (Some(Datum::int(-3)), Some(Datum::int(3))));
    assert_eq!((low("l"), high("l")), (None, None));
    assert_eq!(low("f").unwrap().to_bytes().unwrap().as_slice(), (-0.0_f32).to_le_bytes());
    assert_eq!(high("f").unwrap().to_bytes().unwrap().as_slice(), 0.0_f32.to_le_bytes());
    assert_eq!((low("d"), high("d")), (None, None));
    assert_eq!(low("dec").unwrap().to_string(), "-123.45");
    assert_eq!(high("dec").unwrap().to_string(), "7.00");
    assert_eq!(low("s"), Some(Datum::string("abcdefghijklmnop")));
    assert_eq!(high("s"), None, "no text of 16 characters is above");
    assert_eq!((low("bin"), high("bin")), (Some(Datum::binary([7; 16])), Some(Datum::binary([8]))));
    assert_eq!((low("fix"), high("fix")), (Some(Datum::fixed(*b"abc")), Some(Datum::fixed(*b"abd"))));
    assert_eq!((low("day"), high("day")), (Some(Datum::date(0)), Some(Datum::date(19_000))));
    assert_eq!(low("time"), Some(Datum::time_micros(1).unwrap()));
    assert_eq!((low("ts"), high("ts")), (Some(Datum::timestamp_micros(-1)), Some(Datum::timestamp_micros(5))));
    assert_eq!(low("ltz"), Some(Datum::timestamptz_micros(-1)));
    assert_eq!((low("r.x"), high("r.x")), (Some(Datum::int(1)), Some(Datum::int(4))));
    assert_eq!((low("r.f"), high("r.f")), (Some(Datum::double(2.5)), Some(Datum::double(2.5))));
    assert_eq!((low("a.element"), high("a.element")), (None, None));
    let nans = |name: &str| file.nan_value_counts().get(&id(name)).copied();
    assert_eq!((nans("f"), nans("d"), nans("r.f"), nans("i")), (Some(1), Some(2), Some(1), None));
    let nulls = |name: &str| file.null_value_counts().get(&id(name)).copied();
    assert_eq!((nulls("l"), nulls("f"), nulls("r.x")), (Some(3), Some(1), Some(1)));
    assert_eq!(file.value_counts().get(&id("l")), Some(&3));
    assert_eq!(file.value_counts().get(&id("a.element")), None);
    assert!(file.column_sizes().get(&id("s")).unwrap() > &0);
    assert_eq!(file.content_type(), DataContentType::Data);
}

fn written_schema(written: &Written) -> iceberg::spec::Schema {
    let reader = SerializedFileReader::new(std::fs::File::open(written.data[0].file.file_path()).unwrap()).unwrap();
    let meta = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let json = meta.iter().find(|kv| kv.key == "iceberg.schema").unwrap().value.as_ref().unwrap();
    serde_json::from_str(json).unwrap()
}

#[tokio::test]
async fn metrics_modes() {
    let f = plain(&[("write.metadata.metrics.default", "counts"), ("write.metadata.metrics.column.s", "truncate(3)")])
        .await;
    let written = f.insert(vec![rows(&f, 0..5).await]).await;
    let file = &written.data[0].file;
    assert_eq!(file.value_counts().get(&1), Some(&5));
    assert_eq!(file.lower_bounds().get(&1), None);
    assert_eq!(file.lower_bounds().get(&2), Some(&Datum::string("tex")));
    assert_eq!(file.upper_bounds().get(&2), Some(&Datum::string("tey")));
    let f = plain(&[("write.metadata.metrics.default", "none")]).await;
    let file = f.insert(vec![rows(&f, 0..5).await]).await.data[0].file.clone();
    assert!(file.value_counts().is_empty() && file.lower_bounds().is_empty());
    assert_eq!(file.column_sizes().len(), 2);
    let f = plain(&[("write.metadata.metrics.default", "full")]).await;
    let long = "z".repeat(200);
    let batch =
        f.batch(vec![Arc::new(Int64Array::from(vec![1])), Arc::new(StringArray::from(vec![long.as_str()]))]).await;
    let file = f.insert(vec![batch]).await.data[0].file.clone();
    assert_eq!(file.upper_bounds().get(&2), Some(&Datum::string(&long)));
}

#[tokio::test]
async fn row_groups_and_codecs() {
    for codec in ["zstd", "gzip", "snappy", "lz4", "uncompressed"] {
        let f = plain(&[("write.parquet.row-group-size-bytes", "65536")]).await;
        let mut f = f;
        f.hints.insert("compression-codec".to_owned(), codec.to_owned());
        let written = f.write(vec![rows(&f, 0..10_000).await, rows(&f, 10_000..20_000).await]).await.unwrap();
        let file = &written.data[0].file;
        let offsets = file.split_offsets().unwrap();
        assert!(offsets.len() > 1 && offsets.is_sorted(), "{codec}: {offsets:?}");
        assert_eq!(longs(file.file_path(), 0), (0..20_000).collect::<Vec<_>>(), "{codec}");
        assert_eq!(file.lower_bounds().get(&1), Some(&Datum::long(0)));
        assert_eq!(file.upper_bounds().get(&1), Some(&Datum::long(19_999)));
    }
}

#[tokio::test]
async fn another_data_folder() {
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = format!("{}/deep/er/", elsewhere.path().to_str().unwrap());
    let f = plain(&[("write.data.path", &folder)]).await;
    let written = f.insert(vec![rows(&f, 0..5).await]).await;
    assert!(written.data[0].file.file_path().starts_with(folder.trim_end_matches('/')));
    assert!(f.data_files().is_empty());
}
