use std::sync::Arc;

use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;
use calve_types::arrow as mapping;

use super::*;
use crate::SinkMode;
use crate::testing::{context, read_batches, texts, write};

/// Columns of every type that CSV has.
fn simple() -> Vec<(&'static str, DataType)> {
    vec![
        ("bo", T::Boolean.nullable()),
        ("ti", T::TinyInt.nullable()),
        ("sm", T::SmallInt.nullable()),
        ("i", T::Int.nullable()),
        ("bi", T::BigInt.nullable()),
        ("f", T::Float.nullable()),
        ("d", T::Double.nullable()),
        ("de", decimal(20, 5).nullable()),
        ("big", decimal(38, 10).nullable()),
        ("c", T::Char(3).nullable()),
        ("s", T::STRING.nullable()),
        ("by", T::BYTES.nullable()),
        ("bin", T::Binary(3).nullable()),
        ("da", T::Date.nullable()),
        ("tm", T::Time(0).nullable()),
        ("ts", T::Timestamp(3).nullable()),
        ("ts9", T::Timestamp(9).nullable()),
        ("lt", T::TimestampLtz(6).nullable()),
        ("ar", array(T::Int).nullable()),
        ("ro", row(&[("x", T::Int), ("y", T::STRING)]).nullable()),
    ]
}

fn nested() -> Vec<(&'static str, DataType)> {
    let mut columns = simple();
    columns.push(("ma", T::Map(Box::new(T::STRING.nullable()), Box::new(T::Int.nullable())).nullable()));
    columns.push(("mu", T::Multiset(Box::new(T::STRING.nullable())).nullable()));
    columns.push(("deep", array(row(&[("z", array(T::Timestamp(3)))])).nullable()));
    columns
}

const FULL: &str = r#"{"bo":true,"ti":-1,"sm":2,"i":3,"bi":-9223372036854775808,"f":1.1,"d":1e300,"de":-123.45,
"big":1234567890123456789012345678.0123456789,"c":"abc","s":"é \"q\", \\ 'x'\n# ;","by":"AAH/","bin":"YWJj",
"da":"1969-12-31","tm":"23:59:59","ts":"2024-01-05 10:11:12.12","ts9":"1969-12-31 23:59:59.123456789",
"lt":"2024-01-05 10:11:12.000001Z","ar":[1,-2],"ro":{"x":7,"y":"w z"},"ma":{"k":1,"n":null},"mu":{"e":2},
"deep":[{"z":["2024-01-05 00:00:00",null]},null]}"#;

async fn sample(columns: &[(&str, DataType)]) -> RecordBatch {
    let dir = folder();
    let lines = format!("{}\n{{}}\n", FULL.replace('\n', ""));
    fs::write(dir.path().join("data"), lines).unwrap();
    read_batches(&files_table(dir.path(), "json", columns, &[]), None).await.unwrap().remove(0)
}

async fn round_trip(format: &str, columns: &[(&str, DataType)], options: &[(&str, &str)]) {
    let batch = sample(columns).await;
    let types: Vec<DataType> = columns.iter().map(|(_, t)| t.clone()).collect();
    let expected = texts(&batch, &types);
    assert_eq!(expected.len(), 2);
    assert!(expected[0].iter().all(|v| v != "<NULL>"), "{expected:?}");
    let dir = folder();
    let table = files_table(&dir.path().join("new/folder"), format, columns, options);
    let pending = write(&table, SinkMode::default(), vec![batch], &context().0).await.unwrap();
    assert_eq!((pending.rows(), pending.files()), (2, 1));
    pending.commit().await.unwrap();
    assert_eq!(read(&table).await.unwrap(), expected, "{format} {options:?}");
}

#[tokio::test]
async fn json() {
    round_trip("json", &nested(), &[]).await;
    let options = [
        ("json.timestamp-format.standard", "ISO-8601"),
        ("json.encode.decimal-as-plain-number", "true"),
        ("json.encode.ignore-null-fields", "true"),
    ];
    round_trip("json", &nested(), &options).await;
}

#[tokio::test]
async fn parquet() {
    round_trip("parquet", &nested(), &[]).await;
    for codec in ["SNAPPY", "zstd", "GZIP", "LZ4_RAW", "UNCOMPRESSED"] {
        round_trip("parquet", &simple(), &[("parquet.compression", codec)]).await;
    }
}

#[tokio::test]
async fn csv() {
    // An ARRAY and a ROW of NULL come back only where NULL has a text of its own that is no element's.
    let columns = &simple()[..18];
    for options in [
        &[("csv.null-literal", "n/a")][..],
        &[("csv.null-literal", "n/a"), ("csv.field-delimiter", "|"), ("csv.quote-character", "'")],
        &[("csv.null-literal", "n/a"), ("csv.escape-character", "\\")],
        &[("csv.null-literal", "n/a"), ("csv.write-bigdecimal-in-scientific-notation", "false")],
    ] {
        round_trip("csv", columns, options).await;
    }
}

#[tokio::test]
async fn parquet_keeps_a_timestamp_as_the_moment_of_the_session() {
    let columns = [("ts", T::Timestamp(3).nullable()), ("lt", T::TimestampLtz(3).nullable())];
    let dir = folder();
    fs::write(dir.path().join("data"), r#"{"ts":"2024-01-05 10:00:00","lt":"2024-01-05 10:00:00Z"}"#).unwrap();
    let batch = read_batches(&files_table(dir.path(), "json", &columns, &[]), None).await.unwrap().remove(0);
    let mut tokyo = context().0;
    tokyo.eval.time_zone = calve_functions::TimeZone::parse("Asia/Tokyo").unwrap();
    let target = folder();
    let table = files_table(target.path(), "parquet", &columns, &[]);
    write(&table, SinkMode::default(), vec![batch], &tokyo).await.unwrap().commit().await.unwrap();
    // in UTC the same moment shows nine hours less; TIMESTAMP_LTZ is the moment itself
    assert_eq!(read(&table).await.unwrap(), [["2024-01-05 01:00:00.000", "2024-01-05 10:00:00.000"]]);
}

#[tokio::test]
async fn parquet_columns_go_by_name() {
    let dir = folder();
    let write_columns = [("a", T::Int.nullable()), ("b", T::STRING.nullable())];
    let fields: Vec<_> = write_columns.iter().map(|(n, t)| mapping::field(n, t).unwrap()).collect();
    let batch = RecordBatch::try_new(
        Arc::new(Schema::new(fields)),
        vec![Arc::new(arrow::array::Int32Array::from(vec![1])), Arc::new(arrow::array::StringArray::from(vec!["x"]))],
    )
    .unwrap();
    let table = files_table(dir.path(), "parquet", &write_columns, &[]);
    write(&table, SinkMode::default(), vec![batch], &context().0).await.unwrap().commit().await.unwrap();
    let other = [("b", T::STRING.nullable()), ("missing", T::Double.nullable()), ("a", T::BigInt.nullable())];
    assert_eq!(read(&files_table(dir.path(), "parquet", &other, &[])).await.unwrap(), [["x", "<NULL>", "1"]]);
    let wrong = [("b", T::Int.nullable())];
    let error = read(&files_table(dir.path(), "parquet", &wrong, &[])).await.unwrap_err();
    assert_eq!(error.code, "type-mismatch");
    assert!(error.message.contains("column 'b' of file '"), "{error}");
    fs::write(dir.path().join("zz"), "no parquet").unwrap();
    let error = read(&files_table(dir.path(), "parquet", &other, &[])).await.unwrap_err();
    assert_eq!(error.code, "malformed-file");
}
