//! What options and table properties do to the files; each is looked for in a file, or refused before there is one.

use arrow::array::{Int64Array, StringArray, StructArray};
use calve_types::{LogicalType as T, RowField};
use iceberg::spec::DataContentType;
use parquet::basic::{Compression, Encoding, PageType};
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::*;

async fn plain(with: &[(&str, &str)]) -> Fixture {
    let columns = vec![("id", T::BigInt.not_null()), ("s", T::STRING.nullable())];
    Fixture::new(Shape { columns, key: &[], partition: &[], with }).await
}

async fn keyed(with: &[(&str, &str)]) -> Fixture {
    let columns = vec![("id", T::BigInt.not_null()), ("s", T::STRING.nullable())];
    Fixture::new(Shape { columns, key: &["id"], partition: &[], with }).await
}

async fn rows(f: &Fixture, ids: std::ops::Range<i64>) -> RecordBatch {
    let texts = StringArray::from_iter_values(ids.clone().map(|i| format!("text {i} {:x}", i * 7919 % 1_000_003)));
    f.batch(vec![Arc::new(Int64Array::from_iter_values(ids)), Arc::new(texts)]).await
}

async fn written(with: &[(&str, &str)], ids: std::ops::Range<i64>) -> NewFile {
    let f = plain(with).await;
    let written = f.insert(vec![rows(&f, ids.clone()).await]).await;
    assert_eq!(longs(written.data[0].file.file_path(), 0), ids.collect::<Vec<_>>(), "{with:?}");
    std::mem::forget(f.dir); // the file is looked at later
    written.data[0].clone()
}

fn open_file(file: &NewFile) -> SerializedFileReader<std::fs::File> {
    SerializedFileReader::new(std::fs::File::open(file.file.file_path()).unwrap()).unwrap()
}

fn pages(file: &NewFile, column: usize) -> Vec<parquet::column::page::Page> {
    let reader = open_file(file);
    let mut pages = Vec::new();
    for group in 0..reader.num_row_groups() {
        let mut of_column = reader.get_row_group(group).unwrap().get_column_page_reader(column).unwrap();
        while let Some(page) = of_column.get_next_page().unwrap() {
            pages.push(page);
        }
    }
    pages
}

fn is_data(page: &parquet::column::page::Page) -> bool {
    matches!(page.page_type(), PageType::DATA_PAGE | PageType::DATA_PAGE_V2)
}

#[tokio::test]
async fn a_page_ends_at_its_bytes_and_at_its_rows() {
    let by_default = written(&[], 0..30_000).await;
    let count = |file| pages(file, 1).iter().filter(|page| is_data(page)).count();
    assert_eq!(count(&by_default), 2, "20,000 rows are a page");
    let by_rows = written(&[("write.parquet.page-row-limit", "1000")], 0..30_000).await;
    assert_eq!(count(&by_rows), 30);
    let by_bytes = written(&[("write.parquet.page-size-bytes", "10000")], 0..30_000).await;
    assert!(count(&by_bytes) > 5, "{}", count(&by_bytes));
}

#[tokio::test]
async fn pages_of_both_versions() {
    let of = |file: &NewFile| pages(file, 0).iter().filter(|p| is_data(p)).map(|p| p.page_type()).next().unwrap();
    assert_eq!(of(&written(&[], 0..10).await), PageType::DATA_PAGE);
    assert_eq!(of(&written(&[("write.parquet.page-version", "v1")], 0..10).await), PageType::DATA_PAGE);
    assert_eq!(of(&written(&[("write.parquet.page-version", "V2")], 0..10).await), PageType::DATA_PAGE_V2);
}

#[tokio::test]
async fn a_dictionary_ends_at_its_bytes() {
    let plain_pages = |file: &NewFile| {
        let all = pages(file, 1);
        all.iter().filter(|page| is_data(page) && page.encoding() == Encoding::PLAIN).count()
    };
    assert_eq!(plain_pages(&written(&[], 0..20_000).await), 0);
    assert!(plain_pages(&written(&[("write.parquet.dict-size-bytes", "1000")], 0..20_000).await) > 0);
}

#[tokio::test]
async fn levels_change_the_size_of_files() {
    for (codec, low, high) in [("gzip", "1", "9"), ("zstd", "1", "19")] {
        let of = async |level| {
            written(
                &[("write.parquet.compression-codec", codec), ("write.parquet.compression-level", level)],
                0..30_000,
            )
            .await
        };
        let (low, high) = (of(low).await, of(high).await);
        assert_ne!(high.file.file_size_in_bytes(), low.file.file_size_in_bytes(), "{codec}");
    }
    // without the property that every new table has, Java's library takes gzip
    let f = plain(&[]).await;
    let remove =
        iceberg::TableUpdate::RemoveProperties { removals: vec!["write.parquet.compression-codec".to_owned()] };
    f.catalog.commit(&f.table().await, vec![], vec![remove]).await.unwrap();
    let file = f.insert(vec![rows(&f, 0..5).await]).await.data[0].clone();
    assert!(matches!(open_file(&file).metadata().row_group(0).column(0).compression(), Compression::GZIP(_)));
}

#[tokio::test]
async fn bloom_filters_of_columns() {
    let enabled = ("write.parquet.bloom-filter-enabled.column.s", "true");
    let sizes = |file: &NewFile| {
        let reader = open_file(file);
        let group = reader.metadata().row_group(0);
        [0, 1].map(|column| group.column(column).bloom_filter_length())
    };
    assert_eq!(sizes(&written(&[], 0..10).await), [None, None]);
    let file = written(&[enabled, ("write.parquet.bloom-filter-enabled.column.gone", "true")], 0..10_000).await;
    let [of_id, of_s] = sizes(&file);
    assert!(of_id.is_none() && of_s.unwrap() > 5_000, "{of_s:?}");
    let properties = parquet::file::properties::ReaderProperties::builder().set_read_bloom_filter(true).build();
    let options =
        parquet::file::serialized_reader::ReadOptionsBuilder::new().with_reader_properties(properties).build();
    let reader =
        SerializedFileReader::new_with_options(std::fs::File::open(file.file.file_path()).unwrap(), options).unwrap();
    let group = reader.get_row_group(0).unwrap();
    let bloom = group.get_column_bloom_filter(1).unwrap();
    assert!(bloom.check(&format!("text 7 {:x}", 7 * 7_919).as_str()));
    let wrong = (0..1_000).filter(|i| bloom.check(&format!("no {i}").as_str())).count();
    assert!(wrong < 100, "{wrong}");
    // bounds of size: by the most bytes, by the number of values
    let capped = written(&[enabled, ("write.parquet.bloom-filter-max-bytes", "1000")], 0..10_000).await;
    assert!(sizes(&capped)[1].unwrap() < 1_100, "{:?}", sizes(&capped));
    let few = written(&[enabled, ("write.parquet.bloom-filter-ndv.column.s", "100")], 0..10_000).await;
    assert!(sizes(&few)[1].unwrap() < 500, "{:?}", sizes(&few));
    let loose = written(&[enabled, ("write.parquet.bloom-filter-fpp.column.s", "0.5")], 0..10_000).await;
    assert!(sizes(&loose)[1].unwrap() < of_s.unwrap(), "{:?}", sizes(&loose));
    // a file of deletes has none
    let mut f = keyed(&[("write.parquet.bloom-filter-enabled.column.id", "true")]).await;
    f.hints = owned(&[("upsert-enabled", "true"), ("calve.upsert.equality-deletes", "always")]);
    let written = f.insert(vec![rows(&f, 0..100).await]).await;
    assert!(sizes(&written.data[0])[0].is_some());
    assert_eq!(open_file(&written.deletes[0]).metadata().row_group(0).column(0).bloom_filter_length(), None);
}

#[tokio::test]
async fn columns_without_statistics_have_no_bounds() {
    let file = written(&[("write.parquet.stats-enabled.column.id", "false")], 0..100).await;
    assert!(open_file(&file).metadata().row_group(0).column(0).statistics().is_none());
    assert!(open_file(&file).metadata().row_group(0).column(1).statistics().is_some());
    assert_eq!((file.file.lower_bounds().get(&1), file.file.null_value_counts().get(&1)), (None, None));
    assert!(file.file.lower_bounds().contains_key(&2));
    assert_eq!(file.file.value_counts().get(&1), Some(&100));
}

#[tokio::test]
async fn metrics_of_the_first_columns() {
    let row = T::Row(vec![RowField::new("x", T::BigInt.nullable()), RowField::new("y", T::BigInt.nullable())]);
    let bounded = async |with: &[(&str, &str)]| {
        let columns = vec![("r", row.clone().nullable()), ("a", T::BigInt.nullable()), ("b", T::BigInt.nullable())];
        let f = Fixture::new(Shape { columns, key: &[], partition: &[], with }).await;
        let schema = to_arrow(f.table().await.metadata().current_schema()).unwrap();
        let arrow::datatypes::DataType::Struct(nested) = schema.field(0).data_type() else { panic!() };
        let long = || Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef;
        let batch =
            f.batch(vec![Arc::new(StructArray::new(nested.clone(), vec![long(), long()], None)), long(), long()]).await;
        let file = f.insert(vec![batch]).await.data[0].file.clone();
        let schema = f.table().await.metadata().current_schema().clone();
        let mut names: Vec<String> =
            file.lower_bounds().keys().map(|id| schema.name_by_field_id(*id).unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let limit = |n| ("write.metadata.metrics.max-inferred-column-defaults", n);
    assert_eq!(bounded(&[]).await, ["a", "b", "r.x", "r.y"]);
    // columns of the table come before those nested in others
    assert_eq!(bounded(&[limit("3")]).await, ["a", "b", "r.x"]);
    assert_eq!(bounded(&[limit("1")]).await, ["a"]);
    assert_eq!(bounded(&[limit("0"), ("write.metadata.metrics.column.r.y", "full")]).await, ["r.y"]);
    assert_eq!(bounded(&[limit("1"), ("write.metadata.metrics.column.a", "none")]).await, Vec::<String>::new());
    // a default that is given is for all, also if nobody knows it
    assert_eq!(bounded(&[limit("1"), ("write.metadata.metrics.default", "odd")]).await, ["a", "b", "r.x", "r.y"]);
}

#[tokio::test]
async fn delete_files_have_properties_of_their_own() {
    let codec = |file: &NewFile| open_file(file).metadata().row_group(0).column(0).compression();
    let mut f = keyed(&[("write.delete.parquet.compression-codec", "snappy")]).await;
    f.hints = owned(&[("upsert-enabled", "true"), ("calve.upsert.equality-deletes", "always")]);
    let written = f.insert(vec![rows(&f, 0..100).await, rows(&f, 0..1).await]).await;
    assert!(matches!(codec(&written.data[0]), Compression::ZSTD(_)));
    let kinds: Vec<_> = written.deletes.iter().map(|file| file.file.content_type()).collect();
    assert_eq!(kinds, [DataContentType::EqualityDeletes, DataContentType::PositionDeletes]);
    assert!(written.deletes.iter().all(|file| codec(file) == Compression::SNAPPY));
    // without one they are like data files
    f.hints.insert("compression-codec".to_owned(), "gzip".to_owned());
    let remove =
        iceberg::TableUpdate::RemoveProperties { removals: vec!["write.delete.parquet.compression-codec".to_owned()] };
    f.catalog.commit(&f.table().await, vec![], vec![remove]).await.unwrap();
    let written = f.insert(vec![rows(&f, 0..100).await]).await;
    assert!(matches!(codec(&written.deletes[0]), Compression::GZIP(_)));
}

#[tokio::test]
async fn files_for_object_stores_are_spread_by_their_names() {
    let columns = || vec![("id", T::BigInt.not_null()), ("s", T::STRING.nullable())];
    let place = async |with: &[(&str, &str)]| {
        let partition = [("id", Transform::Identity)];
        let f = Fixture::new(Shape { columns: columns(), key: &[], partition: &partition, with }).await;
        let written = f.insert(vec![rows(&f, 7..8).await]).await;
        let path = written.data[0].file.file_path().to_owned();
        let below = path.strip_prefix(&format!("{}/db/t/data/", f.dir.path().to_str().unwrap())).map(str::to_owned);
        (path, below)
    };
    let is_hash = |parts: &[&str], lengths: &[usize]| {
        parts.iter().map(|p| p.len()).eq(lengths.iter().copied())
            && parts.iter().all(|p| p.bytes().all(|b| b == b'0' || b == b'1'))
    };
    let enabled = ("write.object-storage.enabled", "TRUE");
    let below = place(&[enabled]).await.1.unwrap();
    let parts: Vec<&str> = below.split('/').collect();
    assert!(is_hash(&parts[..4], &[4, 4, 4, 8]) && parts[4] == "id=7" && parts.len() == 6, "{below}");
    let below = place(&[enabled, ("write.object-storage.partitioned-paths", "false")]).await.1.unwrap();
    let parts: Vec<&str> = below.split(['/']).collect();
    assert!(is_hash(&[parts[0], parts[1], parts[2], &parts[3][..8]], &[4, 4, 4, 8]) && parts.len() == 4, "{below}");
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = elsewhere.path().to_str().unwrap();
    let (path, below) = place(&[enabled, ("write.data.path", folder)]).await;
    assert!(below.is_none());
    let parts: Vec<&str> = path.strip_prefix(folder).unwrap().trim_start_matches('/').split('/').collect();
    // tables that share the folder are told apart
    assert!(is_hash(&parts[..4], &[4, 4, 4, 8]) && parts[4..7] == ["db", "t", "id=7"], "{path}");
}

#[tokio::test]
async fn values_are_refused_before_a_file_is_written() {
    let refused = async |with: &[(&str, &str)], hints: &[(&str, &str)]| {
        let mut f = plain(with).await;
        f.hints = owned(hints);
        let error = f.prepare().await.err().unwrap_or_else(|| panic!("{with:?} {hints:?}"));
        assert!(f.data_files().is_empty());
        error
    };
    for (name, value) in [
        ("write.target-file-size-bytes", "0"),
        ("write.parquet.row-group-size-bytes", "0"),
        ("write.parquet.row-group-size-bytes", "many"),
        ("write.parquet.page-size-bytes", "-5"),
        ("write.parquet.page-row-limit", "0"),
        ("write.parquet.dict-size-bytes", "0"),
        ("write.parquet.page-version", "v3"),
        ("write.parquet.row-group-check-min-record-count", "0"),
        ("write.parquet.row-group-check-max-record-count", "x"),
        ("write.parquet.bloom-filter-max-bytes", "0"),
        ("write.parquet.bloom-filter-fpp.column.s", "2"),
        ("write.parquet.bloom-filter-fpp.column.s", "0"),
        ("write.parquet.bloom-filter-ndv.column.s", "0"),
        ("write.parquet.compression-codec", "zip"),
        ("write.parquet.compression-level", "high"),
        ("write.delete.parquet.compression-codec", "zip"),
        ("write.delete.parquet.page-row-limit", "0"),
        ("write.folder-storage.path", "/tmp/x"),
        ("flink.max-continuous-empty-commits", "0"),
    ] {
        let error = refused(&[(name, value)], &[]).await;
        assert_eq!(error.code, "invalid-option", "{name}");
        assert!(error.message.contains(&format!("'{name}'")), "{error}");
    }
    for (name, value) in [
        ("target-file-size-bytes", "x"),
        ("compression-codec", "zip"),
        ("compression-level", "99"),
        ("write-parallelism", "0"),
        ("table-refresh-interval", "often"),
        ("variant-inference-buffer-size", "0"),
        ("range-distribution-statistics-type", "map"),
        ("range-distribution-sort-key-base-weight", "x"),
    ] {
        let error = refused(&[], &[(name, value)]).await;
        assert_eq!(error.code, "invalid-option", "{name}");
        assert!(error.message.contains(&format!("'{name}'")), "{error}");
    }
    assert_eq!(refused(&[("write.location-provider.impl", "a.B")], &[]).await.code, "not-supported");
    let old = refused(&[("write.object-storage.enabled", "true"), ("write.object-storage.path", "/tmp/x")], &[]).await;
    assert!(old.detail.unwrap().contains("has been deprecated and will be removed in 2.0.0"));
    let avro = [("write-format", "avro"), ("compression-codec", "lz4")];
    assert_eq!(refused(&[], &avro).await.code, "invalid-option");
    let orc = [("write-format", "orc"), ("compression-strategy", "best")];
    assert_eq!(refused(&[], &orc).await.code, "invalid-option");
}

#[tokio::test]
async fn options_without_an_effect_are_taken() {
    let with = [("write.object-storage.enabled", "yes"), ("write.object-storage.path", "/tmp/x")];
    let mut f = plain(&with).await;
    f.hints = owned(&[
        ("table-refresh-interval", "10 min"),
        ("uid-suffix", ""),
        ("shred-variants", "true"),
        ("variant-inference-buffer-size", "7"),
        ("write-parallelism", "-1"),
        ("range-distribution-statistics-type", "Sketch"),
        ("range-distribution-sort-key-base-weight", "-1"),
    ]);
    let written = f.insert(vec![rows(&f, 0..5).await]).await;
    assert_eq!(written.data.len(), 1);
}
