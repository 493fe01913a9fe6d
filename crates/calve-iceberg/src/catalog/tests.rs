#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;

use calve_types::LogicalType;
use iceberg::TableUpdate;

use super::*;
use crate::commit::{CommitError, change};
use crate::io::local_path;
use crate::schema::to_iceberg;

fn catalog(options: &[(&str, &str)]) -> Arc<dyn Catalog> {
    let all = options.iter().chain(&[("catalog-type", "hadoop")]);
    open("c", &all.map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()).unwrap()
}

fn creation(with: &[(&str, &str)]) -> TableCreation {
    let columns = [("id".to_owned(), LogicalType::BigInt.not_null(), None)];
    TableCreation {
        schema: to_iceberg(&columns, &[]).unwrap(),
        partition: Vec::new(),
        properties: with.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        comment: None,
    }
}

fn set(key: &str, value: &str) -> Vec<TableUpdate> {
    vec![TableUpdate::SetProperties { updates: HashMap::from([(key.to_owned(), value.to_owned())]) }]
}

fn levels(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

#[tokio::test]
async fn databases() {
    let dir = tempfile::tempdir().unwrap();
    let warehouse = dir.path().join("not/yet");
    let c = catalog(&[("warehouse", warehouse.to_str().unwrap())]);
    assert_eq!(c.list_namespaces(&[]).await.unwrap(), Vec::<Vec<String>>::new());
    let db = levels(&["db"]);
    c.create_namespace(&db, BTreeMap::new()).await.unwrap();
    assert!(c.namespace_exists(&db).await.unwrap());
    assert_eq!(c.list_namespaces(&[]).await.unwrap(), std::slice::from_ref(&db));
    let error = c.create_namespace(&db, BTreeMap::new()).await.unwrap_err();
    assert_eq!(
        (error.code, error.detail.as_deref()),
        ("database-exists", Some("Database db already exists in Catalog c."))
    );

    let with = database_properties(None, [("owner".to_owned(), "ann".to_owned())].into()).unwrap();
    let error = c.create_namespace(&levels(&["withprops"]), with).await.unwrap_err();
    assert_eq!(error.detail.unwrap(), "Cannot create namespace withprops: metadata is not supported");
    assert!(!warehouse.join("withprops").exists());
    let error = database_properties(Some("x"), [("comment".to_owned(), "x".to_owned())].into()).unwrap_err();
    assert_eq!(error.detail.unwrap(), "Database properties should not contain key: 'comment'.");
    assert_eq!(database_properties(Some(" "), BTreeMap::new()).unwrap(), BTreeMap::new());

    c.create_table(&c.ident("db", "t").unwrap(), creation(&[])).await.unwrap();
    let error = c.drop_namespace(&db).await.unwrap_err();
    assert_eq!(
        (error.code, error.detail.as_deref()),
        ("database-not-empty", Some("Database db in catalog c is not empty."))
    );
    assert!(c.drop_table(&c.ident("db", "t").unwrap(), true).await.unwrap());
    c.drop_namespace(&db).await.unwrap();
    assert_eq!(c.drop_namespace(&db).await.unwrap_err().code, "unknown-database");
    assert_eq!(c.list_tables(&db).await.unwrap_err().code, "unknown-database");
    for bad in ["..", "a/b", "", "."] {
        assert_eq!(c.create_namespace(&levels(&[bad]), BTreeMap::new()).await.unwrap_err().code, "invalid-name");
        assert_eq!(c.drop_namespace(&levels(&["db", bad])).await.unwrap_err().code, "invalid-name");
    }
    assert_eq!(c.drop_namespace(&[]).await.unwrap_err().code, "unknown-database");
}

#[tokio::test]
async fn the_base_namespace_hides_its_levels() {
    let dir = tempfile::tempdir().unwrap();
    let c = catalog(&[("warehouse", dir.path().to_str().unwrap()), ("base-namespace", "l0.l1")]);
    let error = c.list_namespaces(c.base_namespace()).await.unwrap_err();
    assert_eq!(error.detail.unwrap(), "Namespace does not exist: l0.l1");
    c.create_namespace(&c.namespace("inner").unwrap(), BTreeMap::new()).await.unwrap();
    c.create_table(&c.ident("inner", "t").unwrap(), creation(&[])).await.unwrap();
    assert!(dir.path().join("l0/l1/inner/t/metadata/v1.metadata.json").exists());
    assert_eq!(c.list_namespaces(c.base_namespace()).await.unwrap(), [levels(&["l0", "l1", "inner"])]);
    let error = c.create_namespace(&c.namespace("inner").unwrap(), BTreeMap::new()).await.unwrap_err();
    assert_eq!(error.message, "database 'inner' already exists in catalog 'c'");
}

#[tokio::test]
async fn tables() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    for warehouse in [format!("{root}/a"), format!("file:{root}/b/"), format!("file://{root}/c")] {
        let c = catalog(&[("warehouse", &warehouse)]);
        let ident = c.ident("d b", "tä=%").unwrap();
        assert!(c.load_table(&ident).await.unwrap().is_none());
        assert!(!c.table_exists(&ident).await.unwrap());
        let created = c.create_table(&ident, creation(&[("p", "1")])).await.unwrap();
        let location = format!("{}/d b/tä=%", warehouse.trim_end_matches('/'));
        assert_eq!(created.metadata().location(), location);
        assert_eq!(created.metadata_location(), format!("{location}/metadata/v1.metadata.json"));
        let loaded = c.load_table(&ident).await.unwrap().unwrap();
        assert_eq!(loaded.metadata(), created.metadata());
        assert_eq!(loaded.property("p"), Some("1"));
        assert_eq!(loaded.property("format-version"), None);
        assert_eq!(c.list_tables(&levels(&["d b"])).await.unwrap(), ["tä=%"]);
        assert_eq!(c.list_namespaces(&levels(&["d b"])).await.unwrap(), Vec::<Vec<String>>::new());
        let error = c.create_table(&ident, creation(&[])).await.unwrap_err();
        assert_eq!(error.code, "table-exists");
        assert_eq!(error.detail.unwrap(), "Table (or view) d b.tä=% already exists in Catalog c.");
        // Loaded with the properties of another version after a commit, and by another catalog.
        let next = c.commit(&loaded, vec![], set("p", "2")).await.unwrap();
        assert!(next.metadata_location().ends_with("/v2.metadata.json"));
        let other = catalog(&[("warehouse", &warehouse)]);
        for c in [&c, &other] {
            assert_eq!(c.load_table(&ident).await.unwrap().unwrap().property("p"), Some("2"));
        }
        assert!(matches!(other.commit(&loaded, vec![], set("p", "3")).await, Err(CommitError::Conflict)));
        assert!(c.drop_table(&ident, true).await.unwrap());
        assert!(!c.drop_table(&ident, true).await.unwrap());
        assert!(other.load_table(&ident).await.unwrap().is_none());
        // The same name again: nothing of the old table is remembered.
        other.create_table(&ident, creation(&[("p", "new")])).await.unwrap();
        assert_eq!(c.load_table(&ident).await.unwrap().unwrap().property("p"), Some("new"));
        let folder = local_path(&warehouse).unwrap().join("d b");
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "nothing is left of the dropped table");
    }
}

#[tokio::test]
async fn what_cannot_be_a_table() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let c = catalog(&[("warehouse", root)]);
    let ident = |db: &str, t: &str| c.ident(db, t).unwrap();
    let create = async |db: &str, t: &str, with: &[(&str, &str)]| c.create_table(&ident(db, t), creation(with)).await;
    for name in ["..", "a/b", "", "x$y"] {
        assert_eq!(create("db", name, &[]).await.unwrap_err().code, "invalid-name");
        assert_eq!(c.load_table(&ident("db", name)).await.unwrap_err().code, "invalid-name");
        assert_eq!(c.drop_table(&ident("db", name), true).await.unwrap_err().code, "invalid-name");
    }
    let error = create("db", "t", &[("location", "file:///elsewhere")]).await.unwrap_err();
    assert_eq!(
        error.detail.unwrap(),
        format!("Cannot set a custom location for a path-based table. Expected {root}/db/t but got file:///elsewhere")
    );
    assert!(!dir.path().join("db/t").exists());
    create("db", "t", &[("location", &format!("file://{root}/db/t/"))]).await.unwrap();
    let error = create("db", "m", &[("write.metadata.path", "/x")]).await.unwrap_err();
    assert_eq!(error.detail.unwrap(), "Hadoop path-based tables cannot relocate metadata");
    // A table cannot hold tables, nor can a file; a database is not a table.
    assert!(c.create_table(&TableIdent::from_strs(["db", "t", "u"]).unwrap(), creation(&[])).await.is_err());
    assert!(c.create_namespace(&levels(&["db", "t", "u"]), BTreeMap::new()).await.is_err());
    fs::write(dir.path().join("file"), "x").unwrap();
    let error = create("file", "t", &[]).await.unwrap_err();
    assert!(error.message.ends_with("/file' is a file where a folder is needed"), "{error}");
    assert!(
        c.create_table(&TableIdent::from_strs(["db"]).map_or(ident("db", "t2"), |i| i), creation(&[])).await.is_ok()
    );
    assert!(create("", "t", &[]).await.is_err());
    let error = open(
        "c",
        &[("catalog-type".to_owned(), "hadoop".to_owned()), ("warehouse".to_owned(), format!("{root}/file"))].into(),
    )
    .unwrap_err();
    assert!(error.message.ends_with("is a file, not a folder"), "{error}");

    // Properties that Flink's connector cannot load, and broken metadata.
    let table = c.load_table(&ident("db", "t")).await.unwrap().unwrap();
    c.commit(&table, vec![], set("connector", "x")).await.unwrap();
    let error = c.load_table(&ident("db", "t")).await.unwrap_err();
    assert_eq!(
        error.detail.unwrap(),
        "Source table t contains one/all of the reserved property keys: connector, src-catalog."
    );
    fs::write(dir.path().join("db/t/metadata/v3.metadata.json"), "{\"format-version\": 2").unwrap();
    let error = c.load_table(&ident("db", "t")).await.unwrap_err();
    assert_eq!(error.code, "invalid-table");
    assert!(error.message.contains("v3.metadata.json"), "{error}");
}

#[tokio::test]
async fn compressed_metadata_is_written_and_read() {
    let dir = tempfile::tempdir().unwrap();
    let c = catalog(&[("warehouse", dir.path().to_str().unwrap())]);
    let ident = c.ident("db", "t").unwrap();
    let table = c.create_table(&ident, creation(&[("write.metadata.compression-codec", "gzip")])).await.unwrap();
    // of all who create a table, with which codec ever, one succeeds
    assert!(table.metadata_location().ends_with("/v1.metadata.json"));
    let next = c.commit(&table, vec![], set("write.metadata.compression-codec", "none")).await.unwrap();
    // a version is named as the one before it says: no other can be next to it
    assert!(next.metadata_location().ends_with("/v2.gz.metadata.json"));
    let other = c.commit(&table, vec![], set("p", "1")).await;
    assert!(matches!(other, Err(CommitError::Conflict)), "{other:?}");
    let next = c.commit(&next, vec![], set("write.metadata.compression-codec", "gzip")).await.unwrap();
    assert!(next.metadata_location().ends_with("/v3.metadata.json"));
    let next = c.commit(&next, vec![], set("p", "2")).await.unwrap();
    assert!(next.metadata_location().ends_with("/v4.gz.metadata.json"));
    let other = catalog(&[("warehouse", dir.path().to_str().unwrap())]);
    assert_eq!(other.load_table(&ident).await.unwrap().unwrap().metadata(), next.metadata());

    let unmade = c.ident("db", "u").unwrap();
    let wrong = c.create_table(&unmade, creation(&[("write.metadata.compression-codec", "zstd")]));
    let error = wrong.await.unwrap_err();
    assert_eq!((error.code, error.detail.as_deref()), ("invalid-option", Some("Invalid codec name: zstd")));
    assert!(!dir.path().join("db/u").exists());
    let answer = c.commit(&next, vec![], set("write.metadata.compression-codec", "snappy")).await;
    assert!(matches!(answer, Err(CommitError::Rejected(e)) if e.code == "invalid-option"));
    assert_eq!(other.load_table(&ident).await.unwrap().unwrap().metadata(), next.metadata());
}

#[tokio::test]
async fn a_vanished_warehouse_is_told_and_not_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let (root, away) = (dir.path().join("lake"), dir.path().join("away"));
    let c = catalog(&[("warehouse", root.to_str().unwrap())]);
    let ident = c.ident("db", "t").unwrap();
    // nothing is there yet
    let why = format!("there is nothing at '{}', the warehouse of catalog 'c'", root.display());
    assert_eq!(c.missing_warehouse().await.as_deref(), Some(why.as_str()));
    assert!(c.load_table(&ident).await.unwrap().is_none());
    assert!(!root.exists(), "who looks makes nothing");

    let table = c.create_table(&ident, creation(&[("commit.retry.min-wait-ms", "1")])).await.unwrap();
    assert_eq!(c.missing_warehouse().await, None);
    fs::rename(&root, &away).unwrap();
    let error = c.refresh(&ident).await.unwrap_err();
    assert_eq!((error.code, error.message), ("io", format!("table 'db.t' is gone: {why}")));
    assert!(error.hint.unwrap().starts_with("is its disk mounted?"));
    assert!(matches!(c.commit(&table, vec![], set("p", "1")).await, Err(CommitError::Conflict)));
    let error = change(c.as_ref(), &table, |_| Ok(set("p", "1"))).await.unwrap_err();
    assert_eq!(error.code, "io", "{error}");
    assert!(!c.drop_table(&ident, true).await.unwrap());
    assert_eq!(c.list_namespaces(&[]).await.unwrap(), Vec::<Vec<String>>::new());
    assert!(!root.exists(), "a commit to a table that was there makes no warehouse");

    fs::rename(&away, &root).unwrap();
    let next = c.commit(&table, vec![], set("p", "2")).await.unwrap();
    assert_eq!(c.refresh(&ident).await.unwrap().metadata(), next.metadata());
    // the table alone
    fs::remove_dir_all(root.join("db/t")).unwrap();
    assert_eq!(c.refresh(&ident).await.unwrap_err().code, "unknown-table");
    assert!(matches!(c.commit(&next, vec![], set("p", "3")).await, Err(CommitError::Conflict)));
    assert!(!root.join("db/t").exists());
}
