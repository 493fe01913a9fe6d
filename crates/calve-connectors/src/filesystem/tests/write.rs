use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, Float64Array, Int32Array, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;
use calve_types::{Error, arrow as mapping};
use datafusion::logical_expr::{col, lit};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;

use super::*;
use crate::testing::{context, write};
use crate::{Pending, SinkMode, external, sink};

fn batch(table: &TableDefinition, arrays: Vec<ArrayRef>) -> RecordBatch {
    let fields: Vec<_> = table.columns.iter().map(|(n, t)| mapping::field(n, t).unwrap()).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

fn strings(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

pub(super) fn ints(values: &[i32]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

pub(super) async fn pending(table: &TableDefinition, overwrite: bool, arrays: Vec<ArrayRef>) -> Box<dyn Pending> {
    let mode = SinkMode { overwrite, static_partition: Vec::new() };
    write(table, mode, vec![batch(table, arrays)], &context().0).await.unwrap()
}

pub(super) async fn insert(table: &TableDefinition, overwrite: bool, arrays: Vec<ArrayRef>) {
    pending(table, overwrite, arrays).await.commit().await.unwrap();
}

/// All names in a folder, hidden ones and those within too.
pub(super) fn all_names(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        if path.is_dir() {
            names.extend(all_names(&path));
        }
    }
    names.sort();
    names
}

fn content(path: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(path).unwrap() {
        text.push_str(&fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    text
}

/// The file is what Flink writes.
#[tokio::test]
async fn csv_is_quoted_as_jackson_does() {
    let dir = folder();
    let columns = [("s", T::STRING.nullable())];
    let table = files_table(dir.path(), "csv", &columns, &[]);
    let values = [
        "plain",
        "a,b",
        "q\"q",
        " lead",
        "",
        "null",
        "nl\nx",
        "a b",
        "é",
        "#c",
        "a;b",
        "-",
        "a_b",
        "\"",
        "x@y",
        "tab\tx",
        "C:\\x",
        "'s",
        "a.b:c/d",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "123",
        "a+b",
        "trail ",
        "(x)",
    ];
    let expected = "plain\n\"a,b\"\n\"q\"\"q\"\n\" lead\"\n\nnull\n\"nl\nx\"\n\"a b\"\né\n\"#c\"\na;b\n-\na_b\n\"\"\"\"\nx@y\n\
        \"tab\tx\"\n\"C:\\x\"\n\"'s\"\na.b:c/d\n\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"\n123\n\"a+b\"\n\"trail \"\n\"(x)\"\n";
    insert(&table, false, vec![strings(&values.map(Some))]).await;
    assert_eq!(content(dir.path()), expected);

    let dir = folder();
    let table = files_table(dir.path(), "csv", &columns, &[("csv.field-delimiter", ";")]);
    insert(&table, false, vec![strings(&[Some("10:11"), Some("<"), Some("A;"), Some("9"), None])]).await;
    assert_eq!(content(dir.path()), "\"10:11\"\n<\n\"A;\"\n\"9\"\n\n");

    let dir = folder();
    let options = [
        ("csv.null-literal", "n/a"),
        ("csv.field-delimiter", "|"),
        ("csv.quote-character", "'"),
        ("csv.escape-character", "\\"),
    ];
    let table = files_table(dir.path(), "csv", &columns, &options);
    insert(&table, false, vec![strings(&[Some("a|b"), Some("it's"), None, Some("back\\slash"), Some("n/a")])]).await;
    assert_eq!(content(dir.path()), "'a|b'\n'it''s'\nn/a\n'back\\\\slash'\n'n/a'\n");
}

#[tokio::test]
async fn numbers_and_times_as_flink_writes_them() {
    let columns = [
        ("d", T::Double.nullable()),
        ("de", decimal(20, 2).nullable()),
        ("ts", T::Timestamp(3).nullable()),
        ("s", T::STRING.nullable()),
    ];
    let arrays = || -> Vec<ArrayRef> {
        vec![
            Arc::new(Float64Array::from(vec![1e20, 0.00001, f64::NAN])),
            Arc::new(Decimal128Array::from(vec![10_000, 120, 0]).with_precision_and_scale(20, 2).unwrap()),
            Arc::new(TimestampMicrosecondArray::from(vec![1_704_449_460_000_000, 1_704_449_472_120_000, 0])),
            strings(&[Some("\u{1}\u{1f}/<é\u{2028}\"\\"), None, Some("x")]),
        ]
    };
    for (format, expected) in [
        (
            "csv",
            "1.0E20,1E+2,\"2024-01-05 10:11:00\",\"\u{1}\u{1f}/<é\u{2028}\"\"\\\"\n1.0E-5,1.2,\"2024-01-05 10:11:12.12\",\n\
             NaN,0,\"1970-01-01 00:00:00\",x\n",
        ),
        (
            "json",
            "{\"d\":1.0E20,\"de\":1E+2,\"ts\":\"2024-01-05 10:11:00\",\"s\":\"\\u0001\\u001F/<é\u{2028}\\\"\\\\\"}\n\
             {\"d\":1.0E-5,\"de\":1.2,\"ts\":\"2024-01-05 10:11:12.12\",\"s\":null}\n\
             {\"d\":\"NaN\",\"de\":0,\"ts\":\"1970-01-01 00:00:00\",\"s\":\"x\"}\n",
        ),
    ] {
        let dir = folder();
        let table = files_table(dir.path(), format, &columns, &[]);
        insert(&table, false, arrays()).await;
        assert_eq!(content(dir.path()), expected);
    }
}

#[tokio::test]
async fn rows_show_when_they_are_committed() {
    let dir = folder();
    let path = dir.path().join("t");
    let table = files_table(&path, "csv", &[("a", T::Int.nullable())], &[]);
    let first = pending(&table, false, vec![ints(&[1])]).await;
    assert!(read(&table).await.unwrap().is_empty());
    first.commit().await.unwrap();
    insert(&table, false, vec![ints(&[2])]).await;
    let mut rows = read(&table).await.unwrap();
    rows.sort();
    assert_eq!(rows, [["1"], ["2"]]);
    assert!(all_names(&path).iter().all(|name| name.starts_with("part-")), "{:?}", all_names(&path));
    // no rows, but the folder is there
    let other = files_table(&dir.path().join("other"), "csv", &[("a", T::Int.nullable())], &[]);
    insert(&other, false, vec![ints(&[])]).await;
    assert!(read(&other).await.unwrap().is_empty());
    insert(&table, true, vec![ints(&[])]).await;
    assert!(read(&table).await.unwrap().is_empty(), "an overwrite with no rows empties the table");
}

#[tokio::test]
async fn discard_and_failure_leave_nothing() {
    let dir = folder();
    let path = dir.path().join("new/t");
    let table = files_table(&path, "json", &[("a", T::Int.nullable())], &[]);
    pending(&table, true, vec![ints(&[1])]).await.discard().await;
    assert!(all_names(dir.path()).is_empty());
    drop(pending(&table, true, vec![ints(&[1])]).await);
    assert!(all_names(dir.path()).is_empty());

    let good = batch(&table, vec![ints(&[1])]);
    let schema = good.schema();
    let failing = futures::stream::iter([Ok(good), Err(external(Error::new("division-by-zero", "/ by zero")))]);
    let rows = Box::pin(RecordBatchStreamAdapter::new(schema, failing));
    let result = sink(&table, SinkMode::default(), &context().0).unwrap().write(rows).await;
    assert_eq!(result.err().unwrap().code, "division-by-zero");
    assert!(all_names(dir.path()).is_empty());

    fs::write(dir.path().join("file"), "x").unwrap();
    let file = files_table(&dir.path().join("file"), "json", &[("a", T::Int.nullable())], &[]);
    let result = write(&file, SinkMode::default(), vec![batch(&file, vec![ints(&[1])])], &context().0).await;
    assert!(result.err().unwrap().message.contains("it is a file"));
    assert_eq!(fs::read_to_string(dir.path().join("file")).unwrap(), "x");
}

#[tokio::test]
async fn partitions() {
    let dir = folder();
    let columns = [("a", T::Int.nullable()), ("k", T::STRING.nullable()), ("d", T::Date.nullable())];
    let mut table = files_table(dir.path(), "csv", &columns, &[("sink.partition-commit.policy.kind", "success-file")]);
    table.partition_keys = vec!["k".to_owned(), "d".to_owned()];
    let days = |days: &[i32]| -> ArrayRef { Arc::new(arrow::array::Date32Array::from(days.to_vec())) };
    let keys = strings(&[Some("a b"), Some("x/y"), Some("é=:%"), None]);
    insert(&table, false, vec![ints(&[1, 2, 3, 4]), keys, days(&[19_727, 0, 0, 0])]).await;
    assert!(dir.path().join("k=a b/d=2024-01-05/_SUCCESS").is_file());
    assert!(dir.path().join("k=é%3D%3A%25/d=1970-01-01").is_dir());
    assert!(dir.path().join("k=__DEFAULT_PARTITION__").is_dir());
    let sorted = async || {
        let mut rows = read(&table).await.unwrap();
        rows.sort();
        rows
    };
    let expected = [
        ["1", "a b", "2024-01-05"],
        ["2", "x/y", "1970-01-01"],
        ["3", "é=:%", "1970-01-01"],
        ["4", "<NULL>", "1970-01-01"],
    ];
    assert_eq!(sorted().await, expected);
    // only the partitions that rows go to are replaced
    insert(&table, true, vec![ints(&[20, 21]), strings(&[Some("x/y"), Some("a b")]), days(&[0, 1])]).await;
    let expected = [
        ["1", "a b", "2024-01-05"],
        ["20", "x/y", "1970-01-01"],
        ["21", "a b", "1970-01-02"],
        ["3", "é=:%", "1970-01-01"],
        ["4", "<NULL>", "1970-01-01"],
    ];
    assert_eq!(sorted().await, expected);
    insert(&table, true, vec![ints(&[]), strings(&[]), days(&[])]).await;
    assert_eq!(sorted().await, expected, "an overwrite with no rows replaces no partition");
    let batches = crate::testing::read_batches(&table, Some(vec![1])).await.unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 5);

    // conditions on the keys choose the files: one that cannot be read is not looked at
    fs::write(dir.path().join("k=x%2Fy/d=1970-01-01/broken"), "no number\n").unwrap();
    let session = datafusion::prelude::SessionContext::new();
    let count = async |condition: datafusion::logical_expr::Expr| {
        let rows = session.read_table(crate::source(&table, &context().0).unwrap()).unwrap();
        rows.filter(condition).unwrap().count().await
    };
    let third = col("d").gt(lit(datafusion::common::ScalarValue::Date32(Some(1))));
    assert_eq!(count(col("k").eq(lit("a b")).and(third)).await.unwrap(), 1);
    assert_eq!(count(col("k").is_null()).await.unwrap(), 1);
    assert!(count(col("a").gt(lit(0))).await.is_err());

    let mode = SinkMode { overwrite: false, static_partition: vec![("a".to_owned(), "1".to_owned())] };
    assert_eq!(sink(&table, mode, &context().0).err().unwrap().code, "invalid-partition");
}

#[tokio::test]
async fn a_folder_that_is_no_value_of_its_key() {
    let dir = folder();
    fs::create_dir(dir.path().join("k=x")).unwrap();
    fs::write(dir.path().join("k=x/f"), "1\n").unwrap();
    let mut table = files_table(dir.path(), "csv", &[("a", T::Int.nullable()), ("k", T::Int.nullable())], &[]);
    table.partition_keys = vec!["k".to_owned()];
    let error = read(&table).await.unwrap_err();
    assert_eq!(error.code, "invalid-partition");
    assert!(error.message.contains("'k=x'"), "{error}");
}

#[tokio::test]
async fn many_partitions_and_rolling() {
    let dir = folder();
    let columns = [("a", T::Int.nullable()), ("k", T::Int.nullable())];
    let mut table = files_table(dir.path(), "csv", &columns, &[]);
    table.partition_keys = vec!["k".to_owned()];
    let keys: Vec<i32> = (0..300).map(|i| i % 100).collect();
    insert(&table, false, vec![ints(&keys), ints(&keys)]).await;
    let rows = read(&table).await.unwrap();
    assert_eq!(rows.len(), 300);
    assert!(rows.iter().all(|r| r[0] == r[1]));

    let dir = folder();
    let options = [("sink.rolling-policy.file-size", "1mb")];
    let table = files_table(dir.path(), "json", &[("a", T::Int.nullable())], &options);
    let batches = (0..30).map(|_| batch(&table, vec![ints(&(0..10_000).collect::<Vec<_>>())])).collect();
    let pending = write(&table, SinkMode::default(), batches, &context().0).await.unwrap();
    assert!(pending.files() > 1);
    pending.commit().await.unwrap();
    assert_eq!(read(&table).await.unwrap().len(), 300_000);
}

#[tokio::test]
async fn raw_has_no_null() {
    let dir = folder();
    let table = files_table(dir.path(), "raw", &[("a", T::STRING.nullable())], &[]);
    insert(&table, false, vec![strings(&[Some("a"), Some("")])]).await;
    assert_eq!(content(dir.path()), "a\n\n");
    let null = batch(&table, vec![strings(&[None])]);
    let result = write(&table, SinkMode::default(), vec![null], &context().0).await;
    assert_eq!(result.err().unwrap().code, "invalid-value");
    assert_eq!(all_names(dir.path()).len(), 1);
}
