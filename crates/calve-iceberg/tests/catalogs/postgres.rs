//! What can go wrong with a catalog in PostgreSQL.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use calve_iceberg::catalog::{Catalog, TableCreation, open};
use calve_iceberg::commit::CommitError;
use calve_iceberg::schema::to_iceberg;
use calve_types::LogicalType;
use iceberg::TableUpdate;

use super::server::{PASSWORD, Postgres};

/// Passes everything on.
const PASS: u8 = 0;
/// Cuts the connection instead of passing an UPDATE on.
const CUT_BEFORE: u8 = 1;
/// Passes an UPDATE on, and cuts the connection instead of passing its answer back.
const CUT_AFTER: u8 = 2;
/// Passes nothing on, and keeps the connections open.
const SILENT: u8 = 3;

/// Stands between a catalog and its server.
struct Proxy {
    port: u16,
    mode: Arc<AtomicU8>,
}

impl Proxy {
    fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, mode) = (listener.local_addr().unwrap().port(), Arc::new(AtomicU8::new(PASS)));
        let of_loop = mode.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let (from_client, from_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let (mode, back) = (of_loop.clone(), of_loop.clone());
                std::thread::spawn(move || pump(from_client, server, &mode, true));
                std::thread::spawn(move || pump(from_server, client, &back, false));
            }
        });
        Self { port, mode }
    }

    fn set(&self, mode: u8) {
        self.mode.store(mode, Ordering::SeqCst);
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, mode: &AtomicU8, is_request: bool) {
    let mut buffer = [0; 65536];
    // a prepared UPDATE is bound and executed in a later message: `P` names it, `B` with the values begins its run
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let bytes = buffer.get(..read).unwrap_or_default();
        let runs = is_request && bytes.first() == Some(&b'B') && bytes.windows(13).any(|w| w == b"metadata.json");
        match mode.load(Ordering::SeqCst) {
            SILENT => {
                std::thread::sleep(Duration::from_secs(20));
                break;
            }
            CUT_BEFORE if runs => break,
            CUT_AFTER if runs => {
                let _ = to.write_all(bytes);
                // the server does it, and its answer has nowhere to go
                std::thread::sleep(Duration::from_millis(500));
                break;
            }
            CUT_AFTER if !is_request && bytes.windows(6).any(|w| w == b"UPDATE") => break,
            _ => {}
        }
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

fn creation() -> TableCreation {
    let columns = [("id".to_owned(), LogicalType::BigInt.not_null(), None)];
    TableCreation {
        schema: to_iceberg(&columns, &[]).unwrap(),
        partition: Vec::new(),
        properties: BTreeMap::new(),
        comment: None,
    }
}

fn set(value: &str) -> Vec<TableUpdate> {
    vec![TableUpdate::SetProperties { updates: [("p".to_owned(), value.to_owned())].into() }]
}

fn with(mut options: BTreeMap<String, String>, more: &[(&str, &str)]) -> Arc<dyn Catalog> {
    options.extend(more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    open("c", &options).unwrap()
}

fn is_secret_free(error: &calve_types::Error) {
    let told = format!("{error:?} {error}");
    for secret in [PASSWORD, "word@1", "hunter2"] {
        assert!(!told.contains(secret), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_is_unknown_and_nothing_is_deleted() {
    let Some(server) = Postgres::start("a_lost_answer_is_unknown_and_nothing_is_deleted") else { return };
    let folder = tempfile::tempdir().unwrap();
    let direct = with(server.database("lake", folder.path()), &[("jdbc.connectTimeout", "2")]);
    let db = ["db".to_owned()];
    direct.create_namespace(&db, BTreeMap::new()).await.unwrap();
    let ident = direct.ident("db", "t").unwrap();
    let base = direct.create_table(&ident, creation()).await.unwrap();

    let proxy = Proxy::to(server.port());
    let lossy = with(
        server.options(proxy.port, "lake", folder.path()),
        &[("jdbc.socketTimeout", "5"), ("jdbc.connectTimeout", "2")],
    );
    lossy.connect().await.unwrap();
    let metadata = || std::fs::read_dir(folder.path().join("db/t/metadata")).unwrap().count();
    for (mode, value) in [(CUT_BEFORE, None), (CUT_AFTER, Some("2"))] {
        let before = metadata();
        let base = direct.refresh(&ident).await.unwrap();
        proxy.set(mode);
        let lost = lossy.commit(&base, vec![], set("2")).await;
        proxy.set(PASS);
        match value {
            // the catalog is asked, and shows it
            Some(value) => assert_eq!(lost.unwrap().property("p"), Some(value)),
            None => {
                let Err(CommitError::Unknown(error)) = lost else { panic!("{mode}: {lost:?}") };
                assert_eq!(error.code, "io");
                is_secret_free(&error);
            }
        }
        assert_eq!(metadata(), before + 1, "the file may be the table's newest");
        assert_eq!(direct.refresh(&ident).await.unwrap().property("p"), value);
        // the same catalog goes on
        assert_eq!(lossy.refresh(&ident).await.unwrap().property("p"), value);
    }

    // the catalog knows whether a table was made
    proxy.set(CUT_BEFORE);
    let other = lossy.ident("db", "other").unwrap();
    let error = lossy.create_table(&other, creation()).await.unwrap_err();
    assert!(error.may_have_committed(), "{error:?}");
    proxy.set(PASS);

    // a server that says nothing
    let base = direct.refresh(base.ident()).await.unwrap();
    proxy.set(SILENT);
    let (started, before) = (Instant::now(), metadata());
    let silent = lossy.commit(&base, vec![], set("3")).await;
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    match silent {
        Err(CommitError::Unknown(error)) => assert_eq!(metadata(), before + 1, "{error}"),
        Err(CommitError::Rejected(error)) => assert_eq!(metadata(), before, "{error}"),
        other => panic!("{other:?}"),
    }
    let started = Instant::now();
    let unheard = with(server.options(proxy.port, "lake", folder.path()), &[("jdbc.connectTimeout", "1")]);
    let error = unheard.connect().await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(error.message.ends_with("no connection within 1 s"), "{error}");
    proxy.set(PASS);

    // a server that goes
    server.stop();
    let error = direct.load_table(&ident).await.unwrap_err();
    assert_eq!(error.code, "io", "{error}");
    is_secret_free(&error);
    let stopped = direct.commit(&base, vec![], set("4")).await;
    let Err(CommitError::Rejected(error)) = stopped else { panic!("{stopped:?}") };
    is_secret_free(&error);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_without_secrets() {
    let Some(server) = Postgres::start("what_is_wrong_is_said_without_secrets") else { return };
    let folder = tempfile::tempdir().unwrap();
    let options = server.database("lake", folder.path());
    for (more, code, part) in [
        (vec![("jdbc.password", "hunter2")], "access-denied", "password authentication failed for user \"calve\""),
        (vec![("jdbc.user", "nobody")], "access-denied", "password authentication failed for user \"nobody\""),
        (vec![("jdbc.sslmode", "require")], "io", "server does not support TLS"),
        (vec![("jdbc.sslmode", "verify-full"), ("jdbc.sslrootcert", "/no/such/file")], "io", ""),
        (vec![("jdbc.init-catalog-tables", "false")], "io", "relation \"iceberg_tables\" does not exist"),
        (vec![("jdbc.currentSchema", "nowhere")], "io", "no schema has been selected"),
    ] {
        let catalog = with(options.clone(), &more);
        assert!(!format!("{catalog:?}").contains(PASSWORD));
        let error = match catalog.connect().await {
            Err(error) => error,
            Ok(()) => catalog.list_namespaces(&[]).await.unwrap_err(),
        };
        assert_eq!(error.code, code, "{error}");
        assert!(!error.message.contains(" at line ") && error.hint.is_some(), "{error:?}");
        assert!(error.message.contains(part), "{error}");
        is_secret_free(&error);
    }
    let missing = with(server.options(server.port(), "none", folder.path()), &[]).connect().await.unwrap_err();
    assert!(missing.message.contains("database \"none\" does not exist"), "{missing}");
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let started = Instant::now();
    let refused = with(server.options(unused, "lake", folder.path()), &[]).connect().await.unwrap_err();
    assert!(refused.message.contains("onnection refused"), "{refused}");
    assert!(started.elapsed() < Duration::from_secs(5));
    is_secret_free(&refused);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_without_rights_reads() {
    let Some(server) = Postgres::start("a_user_without_rights_reads") else { return };
    let folder = tempfile::tempdir().unwrap();
    let options = server.database("lake", folder.path());
    let owner = with(options.clone(), &[("jdbc.schema-version", "V1")]);
    owner.create_namespace(&["db".to_owned()], BTreeMap::new()).await.unwrap();
    let ident = owner.ident("db", "t").unwrap();
    let made = owner.create_table(&ident, creation()).await.unwrap();
    server.sql(
        "lake",
        "CREATE ROLE reader LOGIN PASSWORD 'hunter2'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
    );
    let reader =
        with(options.clone(), &[("jdbc.user", "reader"), ("jdbc.password", "hunter2"), ("jdbc.schema-version", "V1")]);
    let table = reader.load_table(&ident).await.unwrap().unwrap();
    let refused = reader.commit(&table, vec![], set("1")).await;
    let Err(CommitError::Rejected(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.code, "access-denied", "{error}");
    assert_eq!(
        std::fs::read_dir(folder.path().join("db/t/metadata")).unwrap().count(),
        1,
        "no file of the refused commit"
    );

    // the layout is Java's
    let row = server.sql("lake", "SELECT * FROM iceberg_tables");
    assert_eq!(row, format!("c|db|t|{}||TABLE", made.metadata_location()));
    assert_eq!(server.sql("lake", "SELECT * FROM iceberg_namespace_properties"), "c|db|exists|true");

    // two writers, and a server that finds that they collide
    server.sql("lake", "ALTER DATABASE lake SET default_transaction_isolation = 'serializable'");
    let (one, other) = (with(options.clone(), &[]), with(options, &[]));
    let base = one.refresh(&ident).await.unwrap();
    let outcomes = futures::future::join_all((0..8).map(|i| {
        let catalog = if i % 2 == 0 { one.clone() } else { other.clone() };
        let base = base.clone();
        async move { catalog.commit(&base, vec![], set(&i.to_string())).await }
    }))
    .await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(_) | Err(CommitError::Conflict))), "{outcomes:?}");
}
