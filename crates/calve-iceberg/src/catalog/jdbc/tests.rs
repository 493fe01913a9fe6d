#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use calve_types::LogicalType;
use iceberg::{TableIdent, TableUpdate};
use sqlx::sqlite::SqlitePool;

use crate::catalog::{Catalog, TableCreation, open};
use crate::commit::CommitError;
use crate::schema::to_iceberg;

fn catalog(dir: &Path, more: &[(&str, &str)]) -> Arc<dyn Catalog> {
    let (uri, warehouse) = (format!("jdbc:sqlite:{}/c.db", dir.display()), format!("{}/w", dir.display()));
    let all = [("catalog-type", "jdbc"), ("uri", &uri), ("warehouse", &warehouse)];
    open("c", &all.iter().chain(more).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()).unwrap()
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

/// Files below a folder.
fn files(dir: &Path) -> Vec<String> {
    let mut found = vec![];
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path().display().to_string()),
        }
    }
    found
}

#[tokio::test]
async fn databases() {
    let dir = tempfile::tempdir().unwrap();
    let c = catalog(dir.path(), &[]);
    assert_eq!(c.list_namespaces(&[]).await.unwrap(), Vec::<Vec<String>>::new());
    let db = levels(&["db"]);
    let properties = BTreeMap::from([("owner".to_owned(), "ann".to_owned())]);
    c.create_namespace(&db, properties).await.unwrap();
    assert_eq!(c.create_namespace(&db, BTreeMap::new()).await.unwrap_err().code, "database-exists");
    c.create_namespace(&levels(&["a", "b"]), BTreeMap::new()).await.unwrap();
    assert!(c.namespace_exists(&levels(&["a"])).await.unwrap(), "a parent exists with its child");
    assert_eq!(c.list_namespaces(&[]).await.unwrap(), [levels(&["a"]), db.clone()]);
    assert_eq!(c.list_namespaces(&levels(&["a"])).await.unwrap(), [levels(&["a", "b"])]);
    assert_eq!(c.list_namespaces(&levels(&["x"])).await.unwrap_err().code, "unknown-database");
    assert_eq!(c.create_namespace(&levels(&["a.b"]), BTreeMap::new()).await.unwrap_err().code, "invalid-name");
    c.create_table(&c.ident("db", "t").unwrap(), creation(&[])).await.unwrap();
    assert_eq!(c.drop_namespace(&db).await.unwrap_err().code, "database-not-empty");
    assert_eq!(c.drop_namespace(&levels(&["a"])).await.unwrap_err().code, "database-not-empty");
    assert!(c.drop_table(&c.ident("db", "t").unwrap(), true).await.unwrap());
    c.drop_namespace(&db).await.unwrap();
    assert_eq!(c.drop_namespace(&db).await.unwrap_err().code, "unknown-database");
    assert_eq!(c.list_tables(&db).await.unwrap_err().code, "unknown-database");
}

#[tokio::test]
async fn tables() {
    let dir = tempfile::tempdir().unwrap();
    let (c, other) = (catalog(dir.path(), &[]), catalog(dir.path(), &[]));
    let ident = c.ident("d b", "tä'").unwrap();
    assert_eq!(c.create_table(&ident, creation(&[])).await.unwrap_err().code, "unknown-database");
    c.create_namespace(&levels(&["d b"]), BTreeMap::new()).await.unwrap();
    assert!(c.load_table(&ident).await.unwrap().is_none());
    let created = c.create_table(&ident, creation(&[("p", "1")])).await.unwrap();
    let location = format!("{}/w/d b/tä'", dir.path().display());
    assert_eq!(created.metadata().location(), location);
    assert!(created.metadata_location().starts_with(&format!("{location}/metadata/00000-")));
    assert_eq!(other.create_table(&ident, creation(&[])).await.unwrap_err().code, "table-exists");
    assert_eq!(files(dir.path()).iter().filter(|f| f.ends_with(".json")).count(), 1, "no file of the refused table");

    let loaded = other.load_table(&ident).await.unwrap().unwrap();
    assert_eq!(loaded.metadata(), created.metadata());
    let next = c.commit(&loaded, vec![], set("p", "2")).await.unwrap();
    assert!(next.metadata_location().starts_with(&format!("{location}/metadata/00001-")));
    assert!(matches!(other.commit(&loaded, vec![], set("p", "3")).await, Err(CommitError::Conflict)));
    assert_eq!(other.load_table(&ident).await.unwrap().unwrap().property("p"), Some("2"));
    assert_eq!(files(dir.path()).iter().filter(|f| f.ends_with(".json")).count(), 2);

    let gzip = c.commit(&next, vec![], set("write.metadata.compression-codec", "gzip")).await.unwrap();
    assert!(gzip.metadata_location().ends_with(".gz.metadata.json"));
    assert_eq!(other.load_table(&ident).await.unwrap().unwrap().metadata(), gzip.metadata());
    assert_eq!(c.list_tables(&levels(&["d b"])).await.unwrap(), ["tä'"]);
    assert!(other.drop_table(&ident, true).await.unwrap());
    assert!(!c.drop_table(&ident, true).await.unwrap());
    assert_eq!(files(&dir.path().join("w")), Vec::<String>::new(), "a dropped table leaves no files");

    let wrong = c.create_table(&ident, creation(&[("write.metadata.compression-codec", "zstd")])).await;
    assert_eq!(wrong.unwrap_err().code, "invalid-option");
    assert_eq!(files(&dir.path().join("w")), Vec::<String>::new());

    let elsewhere = format!("{}/elsewhere/", dir.path().display());
    let moved = c.create_table(&ident, creation(&[("location", &elsewhere)])).await.unwrap();
    assert_eq!(moved.metadata().location(), elsewhere.trim_end_matches('/'));
}

/// The layout of Java's `JdbcUtil`, both versions, and tables of other catalogs in the same database.
#[tokio::test]
async fn the_layout_is_java_s() {
    for (version, typed) in [("V0", false), ("V1", true)] {
        let dir = tempfile::tempdir().unwrap();
        let c = catalog(dir.path(), &[("jdbc.schema-version", version)]);
        c.create_namespace(&levels(&["a", "b"]), BTreeMap::new()).await.unwrap();
        let ident = TableIdent::from_strs(["a", "b", "t"]).unwrap();
        let created = c.create_table(&ident, creation(&[])).await.unwrap();
        let next = c.commit(&created, vec![], set("p", "2")).await.unwrap();

        let pool = SqlitePool::connect(&format!("sqlite:{}/c.db", dir.path().display())).await.unwrap();
        let row: (String, String, String, String, String) = sqlx::query_as(
            "SELECT catalog_name, table_namespace, table_name, metadata_location, previous_metadata_location FROM iceberg_tables",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        let (now, before) = (next.metadata_location().to_owned(), created.metadata_location().to_owned());
        assert_eq!(row, ("c".into(), "a.b".into(), "t".into(), now, before));
        let row: (String, String, String, String) =
            sqlx::query_as("SELECT * FROM iceberg_namespace_properties").fetch_one(&pool).await.unwrap();
        assert_eq!(row, ("c".into(), "a.b".into(), "exists".into(), "true".into()));
        let kind: Result<(Option<String>,), _> =
            sqlx::query_as("SELECT iceberg_type FROM iceberg_tables").fetch_one(&pool).await;
        assert_eq!(kind.ok(), typed.then(|| (Some("TABLE".to_owned()),)));

        sqlx::query("UPDATE iceberg_tables SET catalog_name = 'other'").execute(&pool).await.unwrap();
        assert!(c.load_table(&ident).await.unwrap().is_none());
        if typed {
            sqlx::query("UPDATE iceberg_tables SET catalog_name = 'c', iceberg_type = 'VIEW'")
                .execute(&pool)
                .await
                .unwrap();
            assert!(c.load_table(&ident).await.unwrap().is_none(), "a view is no table");
            assert_eq!(c.create_table(&ident, creation(&[])).await.unwrap_err().code, "table-exists");
            assert!(!c.drop_table(&ident, true).await.unwrap());
        }
    }
}

#[tokio::test]
async fn what_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |options: &[(&str, &str)]| {
        let all = options.iter().chain(&[("catalog-type", "jdbc")]);
        open("c", &all.map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()).unwrap_err()
    };
    assert_eq!(refused(&[("warehouse", "/w")]).detail.unwrap(), "JDBC connection URI is required");
    assert_eq!(refused(&[("uri", "jdbc:sqlite:/tmp/x.db")]).message, "option 'warehouse' of catalog 'c' is missing");
    std::fs::write(dir.path().join("c.db"), "this is not a database, and long enough to be seen as none").unwrap();
    let error = catalog(dir.path(), &[]).list_namespaces(&[]).await.unwrap_err();
    assert_eq!(error.code, "io");
    assert!(error.message.contains("c.db"), "{error}");

    let empty = tempfile::tempdir().unwrap();
    let c = catalog(empty.path(), &[("jdbc.init-catalog-tables", "false")]);
    assert_eq!(c.list_namespaces(&[]).await.unwrap_err().code, "io");
    assert!(!empty.path().join("c.db").exists());
}

#[tokio::test]
async fn tables_are_renamed_and_keep_their_files() {
    for layout in ["V0", "V1"] {
        let dir = tempfile::tempdir().unwrap();
        let c = catalog(dir.path(), &[("jdbc.schema-version", layout)]);
        c.create_namespace(&levels(&["db"]), BTreeMap::new()).await.unwrap();
        let ident = |name: &str| c.ident("db", name).unwrap();
        let old = c.create_table(&ident("t"), creation(&[("p", "1")])).await.unwrap();
        c.create_table(&ident("other"), creation(&[])).await.unwrap();
        for (table, name, code) in
            [("t", "other", "table-exists"), ("nope", "new", "unknown-table"), ("t", "a/b", "invalid-name")]
        {
            assert_eq!(c.rename_table(&ident(table), name).await.unwrap_err().code, code);
        }
        c.rename_table(&ident("t"), "new").await.unwrap();
        assert_eq!(c.list_tables(&levels(&["db"])).await.unwrap(), ["new", "other"]);
        assert!(c.load_table(&ident("t")).await.unwrap().is_none());
        let new = c.load_table(&ident("new")).await.unwrap().unwrap();
        assert_eq!((new.metadata_location(), new.property("p")), (old.metadata_location(), Some("1")));
        // who had loaded it under its old name cannot commit to it
        assert!(c.commit(&old, vec![], set("p", "2")).await.is_err());
        assert_eq!(c.commit(&new, vec![], set("p", "3")).await.unwrap().property("p"), Some("3"));
    }
}

#[tokio::test]
async fn a_warehouse_that_is_gone_is_not_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let c = catalog(dir.path(), &[]);
    c.create_namespace(&levels(&["db"]), BTreeMap::new()).await.unwrap();
    let ident = c.ident("db", "t").unwrap();
    let base = c.create_table(&ident, creation(&[("p", "1")])).await.unwrap();
    let (warehouse, away) = (dir.path().join("w"), dir.path().join("away"));
    std::fs::rename(&warehouse, &away).unwrap();
    let refused = c.commit(&base, vec![], set("p", "2")).await;
    let Err(CommitError::Rejected(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.code, "io");
    let gone = format!("the metadata file '{}' of table 'db.t' is gone", base.metadata_location());
    assert_eq!(error.message, gone);
    assert!(!warehouse.exists(), "no folder is made");

    // as it was, once it is back
    std::fs::rename(&away, &warehouse).unwrap();
    let loaded = c.load_table(&ident).await.unwrap().unwrap();
    assert_eq!((loaded.metadata(), files(&warehouse).len()), (base.metadata(), 1));
    assert_eq!(c.commit(&loaded, vec![], set("p", "3")).await.unwrap().property("p"), Some("3"));
}
