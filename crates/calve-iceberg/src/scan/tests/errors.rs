//! A file that cannot be read is an error with its name, never a lost row.

use iceberg::spec::*;

use super::lake::{Lake, batch, fields, int64, schema};

async fn lake() -> (Lake, DataFile, DataFile) {
    let columns = fields(&[(1, "id", PrimitiveType::Long)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let data = lake.data(&batch(&columns, vec![int64((0..1000).map(Some))]));
    lake.commit(vec![data.clone()]).await;
    let keys = lake.key_deletes(&batch(&columns, vec![int64([Some(3)])]), &[1]);
    lake.commit(vec![keys.clone()]).await;
    (lake, data, keys)
}

#[tokio::test]
async fn missing_and_cut_off_files() {
    for damage in ["missing", "short", "empty", "overwritten"] {
        let (lake, data, keys) = lake().await;
        for (file, kind) in [(&data, "data file"), (&keys, "delete file")] {
            let path = file.file_path();
            let good = std::fs::read(path).unwrap();
            match damage {
                "missing" => std::fs::remove_file(path).unwrap(),
                "short" => std::fs::write(path, &good[..good.len() / 2]).unwrap(),
                "empty" => std::fs::write(path, b"").unwrap(),
                _ => std::fs::write(path, vec![7u8; good.len()]).unwrap(),
            }
            let error = lake.error().await;
            assert_eq!(error.code, "io", "{damage}: {error}");
            assert!(error.message.starts_with(&format!("cannot read the {kind} '{path}'")), "{damage}: {error}");
            std::fs::write(path, &good).unwrap();
            assert_eq!(lake.rows().await.len(), 999);
        }
    }
}

#[tokio::test]
async fn damaged_pages() {
    let (lake, data, _) = lake().await;
    let mut bytes = std::fs::read(data.file_path()).unwrap();
    bytes[4..200].fill(0xFF);
    std::fs::write(data.file_path(), bytes).unwrap();
    let error = lake.error().await;
    assert!(error.message.starts_with(&format!("cannot read the data file '{}'", data.file_path())), "{error}");
}

#[tokio::test]
async fn damaged_vectors() {
    let columns = fields(&[(1, "id", PrimitiveType::Long)]);
    let mut lake = Lake::new(FormatVersion::V3, schema(columns.clone()), &[]);
    let data = lake.data(&batch(&columns, vec![int64((0..10).map(Some))]));
    let vector = lake.vector(&data, &[1u64, 2].into_iter().collect());
    lake.commit(vec![data, vector.clone()]).await;
    assert_eq!(lake.rows().await.len(), 8);
    let good = std::fs::read(vector.file_path()).unwrap();
    let mut wrong = good.clone();
    *wrong.last_mut().unwrap() ^= 1;
    std::fs::write(vector.file_path(), &wrong).unwrap();
    let error = lake.error().await;
    assert!(error.message.ends_with("deletion vector: wrong checksum"), "{error}");
    assert!(error.message.contains(vector.file_path()));
    std::fs::write(vector.file_path(), &good[..good.len() - 3]).unwrap();
    assert!(lake.error().await.message.contains(vector.file_path()));
}

#[tokio::test]
async fn files_of_another_format_than_their_manifest_says() {
    for (format, why) in [
        (DataFileFormat::Orc, "cannot read the data file '?': it is not an ORC file, or it is cut off"),
        (DataFileFormat::Avro, "cannot read the data file '?': it is not an Avro file"),
        (DataFileFormat::Puffin, "not supported: data file format PUFFIN ('?')"),
    ] {
        let columns = fields(&[(1, "id", PrimitiveType::Long)]);
        let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
        let mut file = lake.file(&batch(&columns, vec![int64([Some(1)])]));
        let file = file.file_format(format).build().unwrap();
        lake.commit(vec![file.clone()]).await;
        assert_eq!(lake.error().await.message, why.replace('?', file.file_path()));
    }
}

#[tokio::test]
async fn stored_types_that_evolution_cannot_lead_to() {
    let columns = fields(&[(1, "id", PrimitiveType::Long)]);
    let mut lake = Lake::new(FormatVersion::V2, schema(columns.clone()), &[]);
    let text: arrow::array::ArrayRef = std::sync::Arc::new(arrow::array::StringArray::from(vec!["1"]));
    lake.metrics = false;
    let file = lake.data(&batch(&fields(&[(1, "id", PrimitiveType::String)]), vec![text]));
    lake.commit(vec![file.clone()]).await;
    let error = lake.error().await;
    assert_eq!(
        error.message,
        format!("cannot read column 'id' of the data file '{}': Utf8 stored for Int64", file.file_path())
    );
}
