//! Tables of files through the crate's own functions. What a format reads and writes is what Flink 2.1.3 answered.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod overwrite;
mod read_csv;
mod read_json;
mod round_trip;
mod write;

use std::fs;
use std::path::Path;

use calve_types::{DataType, LogicalType as T, Result, RowField};

use crate::TableDefinition;
use crate::testing::{read, table};

/// A folder that Flink does not take for a hidden one.
pub(super) fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("t").tempdir().unwrap()
}

pub(super) fn files_table(
    path: &Path,
    format: &str,
    columns: &[(&str, DataType)],
    options: &[(&str, &str)],
) -> TableDefinition {
    let mut all = vec![("path", path.to_str().unwrap()), ("format", format)];
    all.extend_from_slice(options);
    table("filesystem", columns, &all)
}

/// The rows of a table whose one file holds `content`.
pub(super) async fn rows_of(
    content: &[u8],
    format: &str,
    columns: &[(&str, DataType)],
    options: &[(&str, &str)],
) -> Result<Vec<Vec<String>>> {
    let dir = folder();
    fs::write(dir.path().join("data"), content).unwrap();
    read(&files_table(dir.path(), format, columns, options)).await
}

pub(super) fn row(fields: &[(&str, T)]) -> T {
    T::Row(fields.iter().map(|(n, t)| RowField::new(*n, t.clone().nullable())).collect())
}

pub(super) fn array(element: T) -> T {
    T::Array(Box::new(element.nullable()))
}

pub(super) fn decimal(precision: u8, scale: u8) -> T {
    T::Decimal { precision, scale }
}

#[tokio::test]
async fn missing_folders_and_hidden_files() {
    let dir = folder();
    let columns = [("a", T::STRING.nullable())];
    let error = read(&files_table(&dir.path().join("nope"), "csv", &columns, &[])).await.unwrap_err();
    assert_eq!(error.code, "io");
    assert!(error.message.contains("nope' does not exist"), "{error}");
    assert!(read(&files_table(dir.path(), "csv", &columns, &[])).await.unwrap().is_empty());
    for name in ["a", ".h", "_u", "sub/b", "_sub/e"] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    let uri = format!("file://{}", dir.path().display());
    let mut rows = read(&table("filesystem", &columns, &[("path", &uri), ("format", "csv")])).await.unwrap();
    rows.sort();
    assert_eq!(rows, [["a"], ["sub/b"]]);
}

#[tokio::test]
async fn options_that_flink_refuses() {
    let dir = folder();
    let columns = [("a", T::STRING.nullable())];
    for (options, code, words) in [
        (&[("nope", "1")][..], "unknown-option", "Unsupported options found for 'filesystem'."),
        (&[("source.monitor-interval", "1s")], "not-supported", ""),
        (&[("csv.field-delimiter", ";;")], "invalid-option", "must be a string with single character, but was: ;;"),
        (&[("csv.ignore-parse-errors", "maybe")], "invalid-option", "Unrecognized option for boolean: maybe."),
        (
            &[("csv.quote-character", "x"), ("csv.disable-quote-character", "true")],
            "invalid-option",
            "Format cannot define a quote character and disabled quote character at the same time.",
        ),
    ] {
        let error = read(&files_table(dir.path(), "csv", &columns, options)).await.unwrap_err();
        assert_eq!(error.code, code);
        assert!(error.detail.clone().unwrap_or_default().contains(words), "{error:?}");
    }
    let error = read(&files_table(dir.path(), "nosuch", &columns, &[])).await.unwrap_err();
    assert!(
        error.detail.unwrap().contains("Could not find any format factory for identifier 'nosuch' in the classpath.")
    );
    let error = read(&table("filesystem", &columns, &[("format", "csv")])).await.unwrap_err();
    assert_eq!(error.code, "missing-option");
    assert!(error.detail.unwrap().contains("Missing required options are: path"));
    let two = [("a", T::STRING.nullable()), ("b", T::STRING.nullable())];
    let error = read(&files_table(dir.path(), "raw", &two, &[])).await.unwrap_err();
    assert!(error.detail.unwrap().ends_with("[`a` STRING, `b` STRING]"));
    let json = [("json.fail-on-missing-field", "true"), ("json.ignore-parse-errors", "true")];
    let error = read(&files_table(dir.path(), "json", &columns, &json)).await.unwrap_err();
    assert!(error.detail.unwrap().contains("fail-on-missing-field and ignore-parse-errors shouldn't both be true."));
}

#[test]
fn misspelt_options_of_a_format() {
    let dir = folder();
    let options = [("csv.null-litral", "x"), ("csv.null-literal", "x"), ("csv.zzz", "1")];
    let table = files_table(dir.path(), "csv", &[("a", T::Int.nullable())], &options);
    let found = crate::suspicious_options(&table);
    assert_eq!(found, [("csv.null-litral".to_owned(), Some("csv.null-literal")), ("csv.zzz".to_owned(), None)]);
}

#[tokio::test]
async fn compressed_files() {
    use std::io::Write;
    let dir = folder();
    let columns = [("a", T::STRING.nullable()), ("b", T::Int.nullable())];
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(b"x,1\n").unwrap();
    fs::write(dir.path().join("a.csv.gz"), gzip.finish().unwrap()).unwrap();
    assert_eq!(read(&files_table(dir.path(), "csv", &columns, &[])).await.unwrap(), [["x", "1"]]);
    fs::write(dir.path().join("b.xz"), b"").unwrap();
    let error = read(&files_table(dir.path(), "csv", &columns, &[])).await.unwrap_err();
    assert_eq!(error.code, "not-supported");
}

#[tokio::test]
async fn metadata_columns() {
    let dir = folder();
    fs::write(dir.path().join("one.csv"), "1\n2\n").unwrap();
    fs::write(dir.path().join("two.txt"), "3\n").unwrap();
    let pattern = format!("{}/.*[.]csv", dir.path().display());
    let options = [("source.path.regex-pattern", pattern.as_str())];
    let table = files_table(dir.path(), "csv", &[("a", T::Int.nullable())], &options);
    let columns = |keys: &[&str]| -> Vec<crate::MetadataColumn> {
        keys.iter().map(|key| crate::MetadataColumn { name: format!("of {key}"), key: (*key).to_owned() }).collect()
    };
    let all = columns(&["file.name", "file.size", "file.path", "file.modification-time"]);
    let provider = crate::source_with_metadata(&table, &all, &crate::testing::context().0).unwrap();
    let session = datafusion::prelude::SessionContext::new();
    let rows = session.read_table(provider).unwrap().collect().await.unwrap();
    let types = [T::STRING, T::BigInt, T::STRING, T::TimestampLtz(3)].map(T::not_null);
    let rows: Vec<_> =
        rows.iter().flat_map(|batch| crate::testing::texts(&batch.project(&[1, 2, 3, 4]).unwrap(), &types)).collect();
    let path = dir.path().join("one.csv");
    for row in &rows {
        assert_eq!(row[..3], ["one.csv", "4", path.to_str().unwrap()]);
        assert!(row[3].starts_with("20"), "{row:?}");
    }
    assert_eq!(rows.len(), 2);
    let error =
        crate::source_with_metadata(&table, &columns(&["file.nam"]), &crate::testing::context().0).err().unwrap();
    assert_eq!(error.code, "unknown-metadata");
    let flink = error.detail.unwrap();
    assert!(flink.starts_with("Invalid metadata key 'file.nam' in column 'of file.nam' of table '"), "{flink}");
    assert_eq!(error.hint.unwrap(), "did you mean 'file.name'?");
}
