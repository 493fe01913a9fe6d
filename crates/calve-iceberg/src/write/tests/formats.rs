//! Tables of Avro and ORC files: all types, upserts, evolved schemas, damaged files.

use arrow::array::{
    BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int32Array, Int64Array,
    ListArray, MapArray, StringArray, StructArray, Time64MicrosecondArray, TimestampMicrosecondArray,
    TimestampNanosecondArray, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType as ArrowType, Schema};
use calve_types::{LogicalType as T, RowField};
use datafusion::prelude::{SessionConfig, SessionContext, col};
use iceberg::spec::{DataContentType, DataFileFormat};

use super::*;
use crate::scan::{ScanOptions, provider};

/// Formats with the codecs calve writes.
const FORMATS: [(&str, &str); 8] = [
    ("avro", "gzip"),
    ("avro", "zstd"),
    ("avro", "snappy"),
    ("avro", "uncompressed"),
    ("orc", "zlib"),
    ("orc", "zstd"),
    ("orc", "snappy"),
    ("orc", "none"),
];

/// The rows of the table by its first column.
async fn rows(f: &Fixture) -> Result<RecordBatch> {
    let table = f.table().await;
    let options = ScanOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new())?;
    let provider = provider(table, options)?;
    let first = provider.schema().field(0).name().clone();
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
    let frame = context.read_table(provider).unwrap();
    let name = datafusion::common::Column::new_unqualified(first);
    let frame = frame.sort(vec![datafusion::prelude::Expr::Column(name).sort(true, false)]).unwrap();
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let batches = frame.collect().await.map_err(found)?;
    Ok(concat_batches(&schema, &batches).unwrap())
}

/// The calve error inside of DataFusion's.
fn found(error: DataFusionError) -> calve_types::Error {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<calve_types::Error>() {
            Ok(error) => *error,
            Err(other) => panic!("{other}"),
        },
        DataFusionError::ArrowError(inner, _) => panic!("{inner}"),
        DataFusionError::Context(_, inner) => found(*inner),
        DataFusionError::Shared(inner) => panic!("{inner}"),
        other => panic!("{other}"),
    }
}

/// Equal but for the metadata of fields.
fn assert_rows(left: &RecordBatch, right: &RecordBatch, what: &str) {
    assert_eq!(left.num_rows(), right.num_rows(), "{what}");
    for ((a, b), field) in left.columns().iter().zip(right.columns()).zip(left.schema().fields()) {
        let plain = arrow::util::pretty::pretty_format_columns("c", std::slice::from_ref(a)).unwrap().to_string();
        let other = arrow::util::pretty::pretty_format_columns("c", std::slice::from_ref(b)).unwrap().to_string();
        assert_eq!(plain, other, "{what}: {}", field.name());
        assert!(a.data_type().equals_datatype(b.data_type()), "{what}: {}", field.name());
        if !a.data_type().is_nested() {
            assert_eq!(a, b, "{what}: {}", field.name());
        }
    }
}

fn all_types() -> Vec<(&'static str, DataType)> {
    let row = T::Row(vec![
        RowField::new("a", T::Int.nullable()),
        RowField::new("b c", T::Array(Box::new(T::Timestamp(6).nullable())).nullable()),
    ]);
    vec![
        ("id", T::BigInt.not_null()),
        ("flag", T::Boolean.nullable()),
        ("i", T::Int.nullable()),
        ("l", T::BigInt.nullable()),
        ("f", T::Float.nullable()),
        ("d", T::Double.nullable()),
        ("dec9", T::Decimal { precision: 9, scale: 2 }.nullable()),
        ("dec38", T::Decimal { precision: 38, scale: 10 }.nullable()),
        ("dec9b", T::Decimal { precision: 9, scale: 2 }.nullable()),
        ("day", T::Date.nullable()),
        ("time", T::Time(3).nullable()),
        ("ts", T::Timestamp(6).nullable()),
        ("ltz", T::TimestampLtz(6).nullable()),
        ("ns", T::Timestamp(9).nullable()),
        ("ltz ns", T::TimestampLtz(9).nullable()),
        ("9s", T::STRING.nullable()),
        ("bytes", T::BYTES.nullable()),
        ("fixed", T::Binary(3).nullable()),
        ("m", T::Map(Box::new(T::STRING.not_null()), Box::new(T::BigInt.nullable())).nullable()),
        ("mi", T::Map(Box::new(T::Int.not_null()), Box::new(row.clone().nullable())).nullable()),
        ("r", row.nullable()),
        ("aa", T::Array(Box::new(T::Array(Box::new(T::STRING.nullable())).nullable())).nullable()),
    ]
}

/// Offsets of lists of these lengths.
fn lengths(lengths: &[usize]) -> OffsetBuffer<i32> {
    OffsetBuffer::from_lengths(lengths.iter().copied())
}

fn valid(valid: &[bool]) -> Option<NullBuffer> {
    Some(NullBuffer::from(valid.to_vec()))
}

/// Four rows: usual values, extreme ones, others, NULL.
fn values(schema: &Schema, ids: [i64; 4]) -> Vec<ArrayRef> {
    let of = |name: &str| schema.field_with_name(name).unwrap().data_type().clone();
    let decimal = |values: Vec<Option<i128>>, name: &str| -> ArrayRef {
        let ArrowType::Decimal128(p, s) = of(name) else { panic!() };
        Arc::new(Decimal128Array::from(values).with_precision_and_scale(p, s).unwrap())
    };
    let micros = |values: Vec<Option<i64>>, name: &str| -> ArrayRef {
        let ArrowType::Timestamp(_, zone) = of(name) else { panic!() };
        Arc::new(TimestampMicrosecondArray::from(values).with_timezone_opt(zone))
    };
    let nanos = |values: Vec<Option<i64>>, name: &str| -> ArrayRef {
        let ArrowType::Timestamp(_, zone) = of(name) else { panic!() };
        Arc::new(TimestampNanosecondArray::from(values).with_timezone_opt(zone))
    };
    let row = |of: &ArrowType, count: usize, nulls: Option<NullBuffer>| -> StructArray {
        let ArrowType::Struct(fields) = of.clone() else { panic!() };
        let ArrowType::List(element) = fields[1].data_type().clone() else { panic!() };
        let a = Int32Array::from((0..count).map(|i| (i % 2 == 0).then_some(i as i32 - 1)).collect::<Vec<_>>());
        let times = TimestampMicrosecondArray::from(vec![Some(-1_000_001); count]);
        let b = ListArray::new(element, lengths(&vec![1; count]), Arc::new(times), None);
        StructArray::new(fields, vec![Arc::new(a), Arc::new(b)], nulls)
    };
    let map =
        |name: &str, keys: ArrayRef, values: &dyn Fn(&ArrowType) -> ArrayRef, each: &[usize], nulls| -> ArrayRef {
            let ArrowType::Map(entries, _) = of(name) else { panic!() };
            let ArrowType::Struct(fields) = entries.data_type().clone() else { panic!() };
            let values = values(fields[1].data_type());
            let parts = StructArray::new(fields, vec![keys, values], None);
            Arc::new(MapArray::new(entries, lengths(each), parts, nulls, false))
        };
    let ArrowType::List(outer) = of("aa") else { panic!() };
    let ArrowType::List(inner) = outer.data_type().clone() else { panic!() };
    let texts = StringArray::from(vec![Some("x"), None, Some("")]);
    let inner = ListArray::new(inner, lengths(&[2, 0, 1, 0]), Arc::new(texts), valid(&[true, true, true, false]));
    let most = 99_999_999_999_999_999_999_999_999_999_999_999_999_i128;
    vec![
        Arc::new(Int64Array::from(ids.to_vec())),
        Arc::new(BooleanArray::from(vec![Some(true), Some(false), Some(true), None])),
        Arc::new(Int32Array::from(vec![Some(1), Some(i32::MIN), Some(i32::MAX), None])),
        Arc::new(Int64Array::from(vec![Some(-1), Some(i64::MIN), Some(i64::MAX), None])),
        Arc::new(Float32Array::from(vec![Some(1.5), Some(f32::MIN), Some(f32::NAN), None])),
        Arc::new(Float64Array::from(vec![Some(-0.0), Some(f64::INFINITY), Some(f64::MIN_POSITIVE), None])),
        decimal(vec![Some(-1), Some(999_999_999), Some(-999_999_999), None], "dec9"),
        decimal(vec![Some(12_345), Some(most), Some(-most), None], "dec38"),
        decimal(vec![Some(0), Some(127), Some(-129), None], "dec9b"),
        Arc::new(Date32Array::from(vec![Some(-1), Some(-719_162), Some(2_932_896), None])),
        Arc::new(Time64MicrosecondArray::from(vec![Some(0), Some(86_399_999_000), Some(1_000), None])),
        micros(vec![Some(-1_500_000), Some(-62_135_596_800_000_000), Some(253_402_300_799_999_999), None], "ts"),
        micros(vec![Some(1), Some(-2_208_988_800_000_001), Some(1_700_000_000_123_456), None], "ltz"),
        nanos(vec![Some(1), Some(i64::MIN + 1), Some(i64::MAX), None], "ns"),
        nanos(vec![Some(-2_000_000_001), Some(0), Some(1_700_000_000_123_456_789), None], "ltz ns"),
        Arc::new(StringArray::from(vec![Some(""), Some("ü 日本 \u{10ffff}"), Some("a\0b"), None])),
        Arc::new(BinaryArray::from_opt_vec(vec![Some(b""), Some(b"\xff\x00\xfe"), Some(b"abc"), None])),
        Arc::new(BinaryArray::from_opt_vec(vec![Some(b"abc"), Some(b"\x00\x00\x00"), Some(b"\xff\xff\xff"), None])),
        map(
            "m",
            Arc::new(StringArray::from(vec!["k", "", "long key"])),
            &|_| Arc::new(Int64Array::from(vec![Some(1), None, Some(i64::MIN)])),
            &[2, 0, 1, 0],
            valid(&[true, true, true, false]),
        ),
        map(
            "mi",
            Arc::new(Int32Array::from(vec![7, -7])),
            &|of| Arc::new(row(of, 2, valid(&[true, false]))),
            &[1, 1, 0, 0],
            valid(&[true, true, true, false]),
        ),
        Arc::new(row(&of("r"), 4, valid(&[true, true, true, false]))),
        Arc::new(ListArray::new(outer, lengths(&[2, 0, 2, 0]), Arc::new(inner), valid(&[true, true, true, false]))),
    ]
}

async fn of_all_types(format: &str, codec: &str) -> (Fixture, Arc<Schema>) {
    let with = [("format-version", "3"), ("write.format.default", format)];
    let mut f = Fixture::new(Shape { columns: all_types(), key: &[], partition: &[], with: &with }).await;
    f.hints.insert("compression-codec".to_owned(), codec.to_owned());
    let schema = to_arrow(f.table().await.metadata().current_schema()).unwrap();
    (f, schema)
}

#[tokio::test]
async fn every_type_comes_back() {
    for (format, codec) in FORMATS {
        let (f, schema) = of_all_types(format, codec).await;
        let what = format!("{format} {codec}");
        let first = RecordBatch::try_new(schema.clone(), values(&schema, [1, 2, 3, 4])).unwrap();
        let second = RecordBatch::try_new(schema.clone(), values(&schema, [5, 6, 7, 8])).unwrap();
        f.insert(vec![first.clone(), first.slice(0, 0), second.slice(1, 2)]).await;
        f.insert(vec![second.slice(3, 1), second.slice(0, 1)]).await;
        let expected = concat_batches(&schema, [&first, &second]).unwrap();
        assert_rows(&rows(&f).await.unwrap(), &expected, &what);
        for (file, _) in f.live().await {
            let expected = if format == "avro" { DataFileFormat::Avro } else { DataFileFormat::Orc };
            assert_eq!(file.file.file_format(), expected);
            assert!(file.file.file_path().ends_with(&format!(".{format}")));
            // as Java: Avro files have no metrics of columns, ORC files have
            assert_eq!(file.file.value_counts().is_empty(), format == "avro", "{what}");
            assert_eq!(file.file.split_offsets().is_some(), format == "orc");
        }
    }
}

#[tokio::test]
async fn orc_files_have_metrics_of_their_columns() {
    let (mut f, schema) = of_all_types("orc", "zlib").await;
    f.hints.insert("write-parallelism".to_owned(), "1".to_owned());
    f.insert(vec![RecordBatch::try_new(schema.clone(), values(&schema, [1, 2, 3, 4])).unwrap()]).await;
    let (file, _) = f.live().await.remove(0);
    let table = f.table().await;
    let id = |name: &str| table.metadata().current_schema().field_id_by_name(name).unwrap();
    let bound = |bounds: &std::collections::HashMap<i32, iceberg::spec::Datum>, name: &str| {
        bounds.get(&id(name)).map(ToString::to_string)
    };
    let file = &file.file;
    assert_eq!(file.value_counts()[&id("i")], 4);
    assert_eq!(file.null_value_counts()[&id("i")], 1);
    assert_eq!(file.null_value_counts()[&id("id")], 0);
    assert_eq!(file.nan_value_counts()[&id("f")], 1);
    assert_eq!(bound(file.lower_bounds(), "i").unwrap(), i32::MIN.to_string());
    assert_eq!(bound(file.upper_bounds(), "l").unwrap(), i64::MAX.to_string());
    assert_eq!(bound(file.lower_bounds(), "id").unwrap(), "1");
    assert_eq!(bound(file.lower_bounds(), "9s").unwrap(), "\"\"");
    assert_eq!(bound(file.lower_bounds(), "m.key"), None);
    assert_eq!(file.null_value_counts()[&id("r.a")], 2);
    assert!(file.column_sizes()[&id("9s")] > 0);
}

#[tokio::test]
async fn a_second_that_orc_cannot_hold_is_refused() {
    let columns = vec![("ts", T::Timestamp(6).nullable())];
    let with = [("write.format.default", "orc")];
    let mut f = Fixture::new(Shape { columns, key: &[], partition: &[], with: &with }).await;
    let batch = f.batch(vec![Arc::new(TimestampMicrosecondArray::from(vec![0, -1, -999_001]))]).await;
    let error = f.write(vec![batch.clone()]).await.unwrap_err();
    assert_eq!(error.code, "invalid-value");
    assert!(f.data_files().is_empty());
    f.hints.insert("write-format".to_owned(), "avro".to_owned());
    f.insert(vec![batch]).await;
    assert_eq!(rows(&f).await.unwrap().num_rows(), 3);
}

#[tokio::test]
async fn null_in_a_required_field_leaves_nothing() {
    for format in ["avro", "orc"] {
        let inner = T::Row(vec![RowField::new("a", T::Int.not_null())]);
        let columns = vec![("id", T::Int.not_null()), ("r", inner.nullable())];
        let with = [("write.format.default", format)];
        let f = Fixture::new(Shape { columns, key: &[], partition: &[], with: &with }).await;
        let schema = to_arrow(f.table().await.metadata().current_schema()).unwrap();
        let ArrowType::Struct(fields) = schema.field(1).data_type().clone() else { panic!() };
        let good = StructArray::new(fields, vec![Arc::new(Int32Array::from(vec![1]))], None);
        let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int32Array::from(vec![1])), Arc::new(good)]);
        f.insert(vec![batch.unwrap()]).await;
        let before = f.data_files();
        let loose: Vec<_> = schema.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
        let ids: ArrayRef = new_null_array(&ArrowType::Int32, 1);
        let row = new_null_array(schema.field(1).data_type(), 1);
        let batch = RecordBatch::try_new(Arc::new(Schema::new(loose)), vec![ids, row]).unwrap();
        let error = f.write(vec![batch]).await.unwrap_err();
        assert_eq!(error.code, "null-in-not-null", "{format}");
        assert_eq!(f.data_files(), before);
        assert_eq!(rows(&f).await.unwrap().num_rows(), 1);
    }
}

#[tokio::test]
async fn many_rows_in_many_files_blocks_and_stripes() {
    for format in ["avro", "orc"] {
        let columns = vec![("id", T::BigInt.not_null()), ("s", T::STRING.nullable())];
        let with = [
            ("write.format.default", format),
            ("write.target-file-size-bytes", "1500000"),
            ("write.orc.stripe-size-bytes", "300000"),
        ];
        let mut f = Fixture::new(Shape { columns, key: &[], partition: &[], with: &with }).await;
        f.hints
            .insert("compression-codec".to_owned(), if format == "avro" { "uncompressed" } else { "none" }.to_owned());
        f.hints.insert("write-parallelism".to_owned(), "1".to_owned());
        let mut batches = Vec::new();
        for part in 0..20_i64 {
            let ids: Vec<i64> = (part * 5_000..(part + 1) * 5_000).collect();
            let texts: Vec<Option<String>> = ids.iter().map(|i| (i % 10 != 0).then(|| format!("{i:032}"))).collect();
            batches.push(f.batch(vec![Arc::new(Int64Array::from(ids)), Arc::new(StringArray::from(texts))]).await);
        }
        f.insert(batches.clone()).await;
        let live = f.live().await;
        assert!(live.len() >= 2, "{format}: {}", live.len());
        for (file, _) in &live {
            assert!(file.file.file_size_in_bytes() < 2_500_000);
            if format == "orc" {
                assert!(file.file.split_offsets().unwrap().len() > 1);
            }
        }
        let schema = batches[0].schema();
        assert_rows(&rows(&f).await.unwrap(), &concat_batches(&schema, &batches).unwrap(), format);
    }
}

/// Upserts in small commits against a map, in both delete modes and all formats at once.
#[tokio::test]
async fn upserts_equal_a_map() {
    use rand::RngExt;
    let mut random = rand::rng();
    for version in ["2", "3"] {
        for format in ["avro", "orc", "mixed"] {
            let columns = vec![("k", T::BigInt.not_null()), ("p", T::Int.not_null()), ("v", T::STRING.nullable())];
            let with = [("format-version", version), ("write.upsert.enabled", "true")];
            let partition = [("p", Transform::Identity)];
            let mut f = Fixture::new(Shape { columns, key: &["k", "p"], partition: &partition, with: &with }).await;
            let mut model: BTreeMap<(i64, i32), String> = BTreeMap::new();
            for step in 0..12 {
                let now = match format {
                    "mixed" => ["avro", "orc", "parquet"][step % 3],
                    other => other,
                };
                f.hints.insert("write-format".to_owned(), now.to_owned());
                let all = random.random_bool(0.5);
                let mode = if all { "always" } else { "needed" };
                f.session.insert("calve.upsert.equality-deletes".to_owned(), mode.to_owned());
                let (mut k, mut p, mut v) = (Vec::new(), Vec::new(), Vec::new());
                for i in 0..random.random_range(1..30) {
                    let key = (random.random_range(0..40_i64), random.random_range(0..3_i32));
                    let value = format!("{step}-{i}");
                    k.push(key.0);
                    p.push(key.1);
                    v.push(value.clone());
                    model.insert(key, value);
                }
                let columns: Vec<ArrayRef> =
                    vec![Arc::new(Int64Array::from(k)), Arc::new(Int32Array::from(p)), Arc::new(StringArray::from(v))];
                f.insert(vec![f.batch(columns).await]).await;
                let read = rows(&f).await.unwrap();
                let mut found = BTreeMap::new();
                for row in 0..read.num_rows() {
                    let key = read.column(0).as_primitive::<Int64Type>().value(row);
                    let p = read.column(1).as_primitive::<arrow::datatypes::Int32Type>().value(row);
                    let v = read.column(2).as_string::<i32>().value(row).to_owned();
                    assert!(found.insert((key, p), v).is_none(), "{version} {format}: two rows of {key} {p}");
                }
                assert_eq!(found, model, "{version} {format}");
            }
            let kinds: Vec<_> =
                f.live().await.iter().map(|(f, _)| (f.file.content_type(), f.file.file_format())).collect();
            assert!(kinds.iter().any(|(content, _)| *content == DataContentType::EqualityDeletes), "{kinds:?}");
            let mut positions = kinds.iter().filter(|(content, _)| *content == DataContentType::PositionDeletes);
            assert!(positions.any(|(_, f)| (*f == DataFileFormat::Puffin) == (version == "3")), "{kinds:?}");
        }
    }
}

#[tokio::test]
async fn some_columns_and_none() {
    for format in ["avro", "orc"] {
        let columns = vec![("id", T::BigInt.not_null()), ("i", T::Int.nullable()), ("f", T::Float.nullable())];
        let with = [("write.format.default", format)];
        let f = Fixture::new(Shape { columns, key: &[], partition: &[], with: &with }).await;
        let old = f
            .batch(vec![
                Arc::new(Int64Array::from(vec![1, 2])),
                Arc::new(Int32Array::from(vec![Some(5), None])),
                Arc::new(Float32Array::from(vec![Some(0.5), None])),
            ])
            .await;
        f.insert(vec![old]).await;
        let table = f.table().await;
        let context = SessionContext::new();
        let options = ScanOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new()).unwrap();
        let frame = context.read_table(provider(table, options).unwrap()).unwrap();
        let frame = frame.select(vec![col("f")]).unwrap();
        let batches = frame.collect().await.unwrap();
        let values: Vec<f32> = batches
            .iter()
            .flat_map(|b| {
                b.column(0).as_primitive::<arrow::datatypes::Float32Type>().iter().flatten().collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(values, [0.5]);
        let count = context.read_table(frame_provider(&f).await).unwrap().count().await.unwrap();
        assert_eq!(count, 2);
    }
}

async fn frame_provider(f: &Fixture) -> Arc<dyn datafusion::catalog::TableProvider> {
    let table = f.table().await;
    let options = ScanOptions::resolve(&table, &BTreeMap::new(), &BTreeMap::new()).unwrap();
    provider(table, options).unwrap()
}

/// A file of any damage is an error that names it, or gives the rows it has; never a panic.
#[tokio::test(flavor = "multi_thread")]
async fn damaged_files_are_errors_that_name_them() {
    for (format, codec) in
        [("avro", "gzip"), ("avro", "snappy"), ("avro", "uncompressed"), ("orc", "zlib"), ("orc", "none")]
    {
        let columns = vec![("id", T::BigInt.not_null()), ("s", T::STRING.nullable())];
        let with = [("write.format.default", format)];
        let mut f = Fixture::new(Shape { columns, key: &[], partition: &[], with: &with }).await;
        f.hints.insert("compression-codec".to_owned(), codec.to_owned());
        f.hints.insert("write-parallelism".to_owned(), "1".to_owned());
        let texts = StringArray::from(vec![Some("one"), None, Some("three")]);
        let batch = f.batch(vec![Arc::new(Int64Array::from(vec![1, 2, 3])), Arc::new(texts)]).await;
        f.insert(vec![batch.clone()]).await;
        let path = f.data_files().remove(0);
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let good = std::fs::read(&path).unwrap();
        let check = |result: Result<RecordBatch>, what: String, may_read: bool| match result {
            Ok(_) => assert!(may_read, "{format} {codec} {what}"),
            Err(error) => assert!(error.message.contains(&name), "{format} {codec} {what}: {error}"),
        };
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        for length in (0..good.len()).step_by(7).chain([good.len() - 1]) {
            std::fs::write(&path, &good[..length]).unwrap();
            check(rows(&f).await, format!("cut at {length}"), false);
        }
        for place in (0..good.len()).step_by(3) {
            let mut bad = good.clone();
            bad[place] ^= 0x55;
            std::fs::write(&path, &bad).unwrap();
            check(rows(&f).await, format!("byte {place}"), true);
        }
        std::panic::set_hook(hook);
        std::fs::remove_file(&path).unwrap();
        check(rows(&f).await, "gone".to_owned(), false);
        std::fs::write(&path, &good).unwrap();
        assert_rows(&rows(&f).await.unwrap(), &batch, format);
    }
}
