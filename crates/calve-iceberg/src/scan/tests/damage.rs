//! Damaged files of every kind: an error that names the file, or the right rows. Never other rows, and no panic.

use std::collections::BTreeMap;

use calve_types::Error;
use datafusion::error::DataFusionError;
use iceberg::spec::*;
use rand::RngExt;

use super::lake::{Lake, batch, fields, int64, lines, schema};
use crate::catalog::open;

/// The rows, or the error and whether its message or detail names a file.
async fn read(lake: &Lake) -> Result<Vec<String>, Error> {
    fn ours(error: &DataFusionError) -> Error {
        match error {
            DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => ours(inner),
            DataFusionError::Shared(inner) => ours(inner),
            DataFusionError::External(inner) => inner.downcast_ref::<Error>().expect("an error of ours").clone(),
            other => panic!("{other:?}"),
        }
    }
    let read = tokio::time::timeout(std::time::Duration::from_secs(60), lake.query(Ok)).await.expect("a hang");
    read.map(|batches| lines(&batches)).map_err(|error| ours(&error))
}

/// A table with a file of every kind, and where they are.
async fn lake() -> (Lake, BTreeMap<&'static str, String>) {
    let columns = fields(&[(1, "id", PrimitiveType::Long), (2, "v", PrimitiveType::Long)]);
    let mut lake = Lake::new(FormatVersion::V3, schema(columns.clone()), &[]);
    lake.row_group_rows = 100;
    let rows = |of: std::ops::Range<i64>| vec![int64(of.clone().map(Some)), int64(of.map(|i| Some(i * 7)))];
    let first = lake.data(&batch(&columns, rows(0..300)));
    let second = lake.data(&batch(&columns, rows(300..350)));
    let positions = lake.position_deletes(&[(second.file_path(), 3), (second.file_path(), 9)]).build().unwrap();
    let vector = lake.vector(&first, &(10..200_u64).step_by(3).collect());
    let mut files = BTreeMap::from([
        ("data", first.file_path().to_owned()),
        ("positions", positions.file_path().to_owned()),
        ("vector", vector.file_path().to_owned()),
    ]);
    lake.commit(vec![first, second, positions, vector]).await;
    let keys = lake.key_deletes(&batch(&columns[..1], vec![int64([Some(1), Some(2), Some(301)])]), &[1]);
    files.insert("keys", keys.file_path().to_owned());
    lake.commit(vec![keys]).await;
    let table = lake.table();
    let snapshot = table.metadata().current_snapshot().unwrap();
    files.insert("list", snapshot.manifest_list().to_owned());
    for manifest in table.manifests(snapshot).await.unwrap().iter() {
        let kind = if manifest.content == ManifestContentType::Data { "manifest" } else { "delete manifest" };
        files.insert(kind, manifest.manifest_path.clone());
    }
    (lake, files)
}

#[tokio::test]
async fn cut_off_files_are_errors_with_their_name() {
    let (lake, files) = lake().await;
    let right = read(&lake).await.unwrap();
    assert_eq!(right.len(), 350 - 64 - 2 - 3);
    for (kind, path) in &files {
        let good = std::fs::read(path).unwrap();
        let cuts = (0..good.len()).step_by((good.len() / 40).max(1)).chain(good.len().saturating_sub(20)..good.len());
        for cut in cuts {
            std::fs::write(path, &good[..cut]).unwrap();
            match read(&lake).await {
                // what lies behind a vector in its file is nobody's
                Ok(rows) => panic!("{kind} cut off at {cut} of {}: {} rows", good.len(), rows.len()),
                Err(error) => {
                    assert!(error.message.contains(path.as_str()), "{kind} cut off at {cut}: {error}");
                    assert!(error.hint.is_some(), "{kind} cut off at {cut}: {error}");
                }
            }
        }
        std::fs::write(path, &good).unwrap();
    }
    assert_eq!(read(&lake).await.unwrap(), right);
}

#[tokio::test]
async fn flipped_bytes_do_not_panic_and_vectors_notice_them() {
    let (lake, files) = lake().await;
    let right = read(&lake).await.unwrap();
    let mut random = rand::rng();
    for (kind, path) in &files {
        let good = std::fs::read(path).unwrap();
        for _ in 0..60 {
            let mut bad = good.clone();
            let at = random.random_range(0..bad.len());
            bad[at] ^= 1 << random.random_range(0..8);
            std::fs::write(path, &bad).unwrap();
            let read = read(&lake).await;
            if *kind == "vector" {
                // the eleven bytes before the blob mean nothing here
                match read {
                    Ok(rows) => assert!(at < 11 && rows == right, "byte {at}"),
                    Err(error) => assert!(error.message.contains(path.as_str()), "{error}"),
                }
            }
        }
        std::fs::write(path, &good).unwrap();
    }
}

#[tokio::test]
async fn damaged_table_metadata_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let owned = |k: &str, v: &str| (k.to_owned(), v.to_owned());
    let options = BTreeMap::from([owned("catalog-type", "hadoop"), owned("warehouse", root)]);
    let ident = {
        let catalog = open("c", &options).unwrap();
        let ident = catalog.ident("db", "t").unwrap();
        let columns = [("a".to_owned(), calve_types::LogicalType::Int.nullable(), None)];
        let creation = crate::catalog::TableCreation {
            schema: crate::schema::to_iceberg(&columns, &[]).unwrap(),
            partition: Vec::new(),
            properties: BTreeMap::new(),
            comment: None,
        };
        catalog.create_table(&ident, creation).await.unwrap();
        ident
    };
    let path = dir.path().join("db/t/metadata/v1.metadata.json");
    let good = std::fs::read(&path).unwrap();
    for cut in (0..good.len() - 1).step_by(29) {
        std::fs::write(&path, &good[..cut]).unwrap();
        let error = open("c", &options).unwrap().load_table(&ident).await.unwrap_err();
        assert!(error.message.contains("v1.metadata.json"), "{cut}: {error}");
    }
    std::fs::write(&path, &good).unwrap();
    assert!(open("c", &options).unwrap().load_table(&ident).await.unwrap().is_some());
}
