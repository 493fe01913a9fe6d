//! Catalogs that live between sessions: `table.catalog-store.kind` = `file`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use calve_engine::{Session, SessionConfig};
use common::{rows, run, try_rows, try_run};

fn options(store: &str) -> SessionConfig {
    let options = [
        ("table.catalog-store.kind", "file"),
        ("table.catalog-store.file.path", store),
        ("execution.runtime-mode", "batch"),
    ];
    let options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    SessionConfig { options, ..SessionConfig::default() }
}

fn session(store: &Path) -> Session {
    Session::new(options(store.to_str().unwrap())).unwrap()
}

async fn catalogs(session: &mut Session) -> Vec<String> {
    rows(session, "SHOW CATALOGS").await.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect()
}

async fn refused(session: &mut Session, sql: &str) -> calve_types::Error {
    try_run(session, sql).await.unwrap_err()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn catalogs_live_between_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let (store, lake) = (folder.path().join("store"), folder.path().join("lake").display().to_string());
    fs::create_dir(&store).unwrap();
    let create = |name: &str| {
        format!(
            "CREATE CATALOG {name} COMMENT 'c' WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{lake}', \
             'my.password' = 'it''s \"so\"')"
        )
    };
    let mut one = session(&store);
    let mut other = session(&store);
    run(&mut one, &create("`lake ü`")).await;
    run(
        &mut one,
        "CREATE DATABASE `lake ü`.db; CREATE TABLE `lake ü`.db.t (id INT); INSERT INTO `lake ü`.db.t VALUES (1)",
    )
    .await;
    let file = store.join("lake ü.yaml");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&file).unwrap();
    let want = format!(
        "catalog-type: \"hadoop\"\nmy.password: \"it's \\\"so\\\"\"\ntype: \"iceberg\"\nwarehouse: \"{lake}\"\n"
    );
    assert_eq!(text, want);

    // a session that began before, and one that begins after
    for session in [&mut other, &mut session(&store)] {
        assert_eq!(catalogs(session).await, ["default_catalog", "lake ü"]);
        assert_eq!(rows(session, "SELECT * FROM `lake ü`.db.t").await, [[Some("1".to_owned())]]);
        run(session, "USE CATALOG `lake ü`; USE db; SELECT * FROM t").await;
        let shown = rows(session, "SHOW CREATE CATALOG `lake ü`").await;
        assert!(!format!("{shown:?}").contains("so"), "{shown:?}");
        assert_eq!(refused(session, &create("`lake ü`")).await.code, "catalog-exists");
    }

    // ALTER is stored, DROP removes
    run(&mut one, "ALTER CATALOG `lake ü` SET ('default-database' = 'db')").await;
    assert!(fs::read_to_string(&file).unwrap().contains("default-database: \"db\"\n"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(refused(&mut other, "DROP CATALOG `lake ü`").await.code, "catalog-in-use");
    run(&mut one, "DROP CATALOG `lake ü`").await;
    assert_eq!(fs::read_dir(&store).unwrap().count(), 0, "nothing is left");
    assert_eq!(catalogs(&mut session(&store)).await, ["default_catalog"]);
    // who uses it keeps it; to drop it is fine
    run(&mut other, "SELECT * FROM t; USE CATALOG default_catalog; DROP CATALOG `lake ü`").await;

    // what cannot be made is not stored
    for sql in [
        "CREATE CATALOG x WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop')",
        &create("`a/b`"),
        &create("`..`"),
        &create("`.hidden`"),
    ] {
        refused(&mut one, sql).await;
    }
    assert_eq!(fs::read_dir(&store).unwrap().count(), 0);
    assert_eq!(catalogs(&mut one).await, ["default_catalog"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_are_no_catalogs_are_told_when_they_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    fs::write(
        store.join("flink.yaml"),
        format!("---\ntype: \"iceberg\"\ncatalog-type: hadoop\nwarehouse: {}/w\n", store.display()),
    )
    .unwrap();
    fs::write(store.join("hive.yaml"), "type: \"hive\"\npassword: \"hunter2\"\n").unwrap();
    fs::write(store.join("broken.yaml"), "type: \"iceberg\"\npassword: [hunter2]\n").unwrap();
    fs::write(store.join("notes.txt"), "no catalog").unwrap();
    let mut session = session(store);
    assert_eq!(catalogs(&mut session).await, ["broken", "default_catalog", "flink", "hive"]);
    run(&mut session, "USE CATALOG flink; CREATE DATABASE db").await;
    let error = refused(&mut session, "USE CATALOG hive").await;
    assert_eq!(error.code, "unknown-catalog-type");
    assert!(error.message.starts_with("the stored catalog 'hive' cannot be opened: "), "{error}");
    let error = try_rows(&mut session, "SELECT * FROM broken.db.t").await.unwrap_err();
    assert!(!format!("{error:?}").contains("hunter2"));
    let error = refused(&mut session, "USE CATALOG broken").await;
    assert!(error.message.ends_with("broken.yaml': line 2: the value of 'password' is no plain text"), "{error}");
    assert_eq!(
        refused(&mut session, "CREATE CATALOG broken WITH ('type' = 'generic_in_memory')").await.code,
        "catalog-exists"
    );
    // it is mended
    fs::write(store.join("broken.yaml"), "type: generic_in_memory\n").unwrap();
    run(&mut session, "USE CATALOG broken; USE CATALOG flink; DROP CATALOG broken; DROP CATALOG hive").await;
    assert_eq!(catalogs(&mut session).await, ["default_catalog", "flink"]);
    assert_eq!(fs::read_dir(store).unwrap().count(), 2 + 1, "flink.yaml, notes.txt and the warehouse");
}

#[tokio::test]
async fn a_store_that_is_none_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file").display().to_string();
    fs::write(&file, "x").unwrap();
    let none = folder.path().join("none").display().to_string();
    for (path, code, detail) in [
        ("", "missing-option", "Missing required options are:\n\npath"),
        (none.as_str(), "io", "does not exist."),
        (file.as_str(), "io", "is not a directory."),
        ("hdfs:///catalogs", "not-supported", ""),
    ] {
        let error = Session::new(options(path)).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(error.detail.unwrap_or_default().ends_with(detail), "{path}");
        let hint = error.hint.unwrap();
        assert!(code != "io" || hint.contains("'table.catalog-store.file.path' is a folder that exists"), "{hint}");
    }
    Session::new(options(&format!("file://{}", folder.path().display()))).unwrap();
    let mut session = session(folder.path());
    let result = run(&mut session, "SET 'table.catalog-store.kind' = 'file'").await;
    assert_eq!(result.warnings.iter().map(|w| w.code).collect::<Vec<_>>(), ["ineffective-option"]);
    // a folder that goes away
    drop(folder);
    let error = refused(&mut session, "CREATE CATALOG m WITH ('type' = 'generic_in_memory')").await;
    assert!(error.message.starts_with("cannot store the catalog 'm' in '"), "{error}");
    assert!(error.hint.unwrap().contains("create it first"));
    assert_eq!(catalogs(&mut session).await, ["default_catalog"]);
}
