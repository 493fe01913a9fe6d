//! What a catalog in AWS Glue says of its tables, and what can go wrong with it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use calve_iceberg::catalog::{Catalog, open};
use calve_iceberg::commit::CommitError;
use iceberg::TableIdent;
use serde_json::{Value, json};

use super::moto::{SECRET, Server};
use super::operations::{append, creation, files, ids, set};

fn catalog(server: &Server, folder: &Path, more: &[(&str, &str)]) -> Arc<dyn Catalog> {
    let mut options = server.glue(&folder.display().to_string());
    options.extend(more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    open("c", &options).unwrap()
}

/// A request as others send them; moto does not look at signatures.
async fn raw(server: &Server, action: &str, request: Value) -> Value {
    const WHO: &str =
        "AWS4-HMAC-SHA256 Credential=x/20260101/eu-central-1/glue/aws4_request, SignedHeaders=host, Signature=0";
    let endpoint = server.glue("").remove("glue.endpoint").unwrap();
    let sent = reqwest::Client::new()
        .post(endpoint)
        .header("X-Amz-Target", format!("AWSGlue.{action}"))
        .header("Content-Type", "application/x-amz-json-1.1")
        .header("Authorization", WHO)
        .body(request.to_string())
        .send();
    let answer = sent.await.unwrap().bytes().await.unwrap();
    serde_json::from_slice(&answer).unwrap_or_default()
}

async fn table(catalog: &dyn Catalog, database: &str) -> TableIdent {
    catalog.create_namespace(&[database.to_owned()], BTreeMap::new()).await.unwrap();
    let ident = catalog.ident(database, "t").unwrap();
    catalog.create_table(&ident, creation(&[])).await.unwrap();
    ident
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_as_java_has_them() {
    let Some(server) = Server::start("tables_are_as_java_has_them") else { return };
    let folder = tempfile::tempdir().unwrap();
    let c = catalog(&server, folder.path(), &[]);
    let ident = table(c.as_ref(), "shop").await;
    let made = c.refresh(&ident).await.unwrap();
    let location = format!("{}/shop.db/t", folder.path().display());
    assert_eq!(made.metadata().location(), location);
    let next = c.commit(&made, vec![], set("comment", "all of it")).await.unwrap();

    let known = raw(&server, "GetTable", json!({ "DatabaseName": "shop", "Name": "t" })).await;
    let known = &known["Table"];
    assert_eq!((&known["TableType"], &known["Description"]), (&json!("EXTERNAL_TABLE"), &json!("all of it")));
    assert_eq!(
        known["Parameters"],
        json!({
            "table_type": "ICEBERG",
            "metadata_location": next.metadata_location(),
            "previous_metadata_location": made.metadata_location(),
        })
    );
    assert_eq!(known["StorageDescriptor"]["Location"], location);
    assert_eq!(known["StorageDescriptor"]["Columns"][0]["Type"], "bigint");

    // what others keep in the same place
    let hive =
        json!({ "DatabaseName": "shop", "TableInput": { "Name": "hive", "Parameters": { "EXTERNAL": "TRUE" } } });
    raw(&server, "CreateTable", hive).await;
    for name in ["a", "b", "d"] {
        c.create_table(&c.ident("shop", name).unwrap(), creation(&[])).await.unwrap();
    }
    let shop = ["shop".to_owned()];
    assert_eq!(c.list_tables(&shop).await.unwrap(), ["a", "b", "d", "t"], "all pages, and Iceberg's tables alone");
    let hive = c.ident("shop", "hive").unwrap();
    assert!(c.load_table(&hive).await.unwrap().is_none());
    assert_eq!(c.create_table(&hive, creation(&[])).await.unwrap_err().code, "table-exists");
    assert_eq!(c.rename_table(&ident, "hive").await.unwrap_err().code, "table-exists");
    assert!(!c.drop_table(&hive, true).await.unwrap());
    for name in ["a", "b", "d", "t"] {
        assert!(c.drop_table(&c.ident("shop", name).unwrap(), true).await.unwrap());
    }
    assert_eq!(
        c.drop_namespace(&shop).await.unwrap_err().code,
        "database-not-empty",
        "Glue would drop Hive's table too"
    );

    // where a database says its tables are
    let own = [("location".to_owned(), format!("{}/own/", folder.path().display())), ("a".to_owned(), "1".to_owned())];
    c.create_namespace(&["own".to_owned()], BTreeMap::from(own)).await.unwrap();
    c.set_namespace_properties(&["own".to_owned()], BTreeMap::from([("comment".to_owned(), "b".to_owned())]))
        .await
        .unwrap();
    let known = raw(&server, "GetDatabase", json!({ "Name": "own" })).await;
    assert_eq!(
        (&known["Database"]["Description"], &known["Database"]["Parameters"]),
        (&json!("b"), &json!({ "a": "1" }))
    );
    let nowhere = catalog(&server, folder.path(), &[("warehouse", "")]);
    let made = nowhere.create_table(&nowhere.ident("own", "t").unwrap(), creation(&[])).await.unwrap();
    assert_eq!(made.metadata().location(), format!("{}/own/t", folder.path().display()));
    let error = nowhere.create_table(&nowhere.ident("shop", "t").unwrap(), creation(&[])).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), ("invalid-option", "nothing says where table 'shop.t' is to be"));
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_hive_s() {
    let Some(server) = Server::start("names_are_hive_s") else { return };
    let folder = tempfile::tempdir().unwrap();
    let c = catalog(&server, folder.path(), &[]);
    c.create_namespace(&["db".to_owned()], BTreeMap::new()).await.unwrap();
    for name in ["T", "a-b", "ü", "a b"] {
        let ident = c.ident("db", name).unwrap();
        assert_eq!(c.draft(&ident, &creation(&[])).unwrap_err().code, "invalid-name", "{name}");
        assert_eq!(c.create_table(&ident, creation(&[])).await.unwrap_err().code, "invalid-name", "{name}");
        assert!(!c.table_exists(&ident).await.unwrap());
        assert_eq!(c.create_namespace(&[name.to_owned()], BTreeMap::new()).await.unwrap_err().code, "invalid-name");
        assert!(!c.namespace_exists(&[name.to_owned()]).await.unwrap());
    }
    let nested = ["db".to_owned(), "inner".to_owned()];
    assert_eq!(c.create_namespace(&nested, BTreeMap::new()).await.unwrap_err().code, "not-supported");
    let stranger = catalog(&server, folder.path(), &[("client.secret-access-key", "open sesame")]);
    let error = stranger.list_namespaces(&[]).await.unwrap_err();
    assert_eq!(error.code, "access-denied", "moto compares signatures with those of botocore");
    assert!(error.detail.as_deref().unwrap().contains("InvalidSignatureException"), "{error:?}");
    assert!(!format!("{error:?} {stranger:?}").contains("sesame"));
    for (key, value) in [("base-namespace", "a"), ("glue.lakeformation-enabled", "true"), ("lock-impl", "x.DynamoDb")] {
        let mut options = server.glue("/w");
        options.insert(key.to_owned(), value.to_owned());
        let error = open("c", &options).unwrap_err();
        assert!(error.code == "not-supported" && error.message.contains(key), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_gets_no_answer_is_looked_for() {
    let Some(server) = Server::start("a_commit_that_gets_no_answer_is_looked_for") else { return };
    let folder = tempfile::tempdir().unwrap();
    let c = catalog(&server, folder.path(), &[("http-client.apache.socket-timeout-ms", "1500")]);
    let ident = table(c.as_ref(), "db").await;
    let mut expected = Vec::new();
    let faults = ["lost-after", "lost-before", "silent-after", "conflict", "throttled"];
    for (number, fault) in faults.iter().enumerate() {
        let from = number as i64 * 10;
        server.fail(&format!("UpdateTable {fault}"));
        append(c.as_ref(), &ident, from..from + 10).await.unwrap();
        expected.extend(from..from + 10);
        assert_eq!(ids(c.as_ref(), &ident).await.unwrap(), expected, "{fault}: no row is lost or doubled");
    }
    let newest = c.refresh(&ident).await.unwrap();
    assert_eq!(newest.metadata().snapshots().len(), faults.len());

    // what is refused leaves nothing behind
    let before = files(&newest).await.unwrap().len();
    server.fail("UpdateTable denied");
    let error = append(c.as_ref(), &ident, 90..99).await.unwrap_err();
    assert_eq!(error.code, "access-denied", "{error}");
    assert_eq!(
        error.detail.as_deref().unwrap(),
        "AWS Glue says: AccessDeniedException: User: x is not authorized to perform: glue:UpdateTable"
    );
    assert!(!format!("{error:?} {c:?}").contains(SECRET));
    assert_eq!(ids(c.as_ref(), &ident).await.unwrap(), expected);
    let left = files(&newest).await.unwrap().len() - before;
    // the writer of the suite keeps its data file; manifests and metadata are gone
    assert_eq!(left, 1);

    // of a change of metadata the catalog tells that it is in, and not that it will never be
    for fault in ["lost-after", "lost-before"] {
        let base = c.refresh(&ident).await.unwrap();
        server.fail(&format!("UpdateTable {fault}"));
        match (fault, c.commit(&base, vec![], set("p", fault)).await) {
            ("lost-after", Ok(table)) => assert_eq!(table.property("p"), Some(fault)),
            ("lost-before", Err(CommitError::Unknown(error))) => assert_eq!(error.code, "io"),
            (_, other) => panic!("{fault}: {other:?}"),
        }
        assert_eq!(c.refresh(&ident).await.unwrap().property("p"), Some("lost-after"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_come_and_go_without_an_answer() {
    let Some(server) = Server::start("tables_that_come_and_go_without_an_answer") else { return };
    let folder = tempfile::tempdir().unwrap();
    let c = catalog(&server, folder.path(), &[]);
    c.create_namespace(&["db".to_owned()], BTreeMap::new()).await.unwrap();
    let ident = |name: &str| c.ident("db", name).unwrap();

    server.fail("CreateTable lost-after");
    c.create_table(&ident("t"), creation(&[])).await.unwrap();
    server.fail("CreateTable lost-before");
    let error = c.create_table(&ident("u"), creation(&[])).await.unwrap_err();
    assert!(error.may_have_committed(), "{error:?}");
    server.fail("CreateTable denied");
    assert_eq!(c.create_table(&ident("v"), creation(&[])).await.unwrap_err().code, "access-denied");
    assert!(!folder.path().join("db.db/v/metadata").read_dir().is_ok_and(|mut files| files.next().is_some()));

    append(c.as_ref(), &ident("t"), 0..3).await.unwrap();
    server.fail("CreateTable lost-after");
    c.rename_table(&ident("t"), "a").await.unwrap();
    server.fail("DeleteTable lost-after");
    c.rename_table(&ident("a"), "b").await.unwrap();
    assert_eq!(c.list_tables(&["db".to_owned()]).await.unwrap(), ["b"]);
    for fault in ["CreateTable lost-before", "DeleteTable lost-before"] {
        server.fail(fault);
        let error = c.rename_table(&ident("b"), "c").await.unwrap_err();
        assert!(error.may_have_committed(), "{fault}: {error:?}");
    }
    // it has both names now, as was said
    assert_eq!(c.list_tables(&["db".to_owned()]).await.unwrap(), ["b", "c"]);
    assert!(c.drop_table(&ident("c"), false).await.unwrap());
    server.fail("DeleteTable denied");
    assert_eq!(c.rename_table(&ident("b"), "c").await.unwrap_err().code, "access-denied");
    assert_eq!(c.list_tables(&["db".to_owned()]).await.unwrap(), ["b"], "the other name is taken back");
    assert_eq!(ids(c.as_ref(), &ident("b")).await.unwrap(), [0, 1, 2]);

    server.fail("DeleteTable lost-before");
    assert!(c.drop_table(&ident("b"), true).await.unwrap_err().may_have_committed());
    assert_eq!(ids(c.as_ref(), &ident("b")).await.unwrap(), [0, 1, 2], "no file is deleted while nobody knows");
    server.fail("DeleteTable lost-after");
    assert!(c.drop_table(&ident("b"), true).await.unwrap());

    server.fail("CreateDatabase lost-after");
    assert!(c.create_namespace(&["e".to_owned()], BTreeMap::new()).await.unwrap_err().may_have_committed());
    server.fail("DeleteDatabase lost-after");
    c.drop_namespace(&["e".to_owned()]).await.unwrap();
}
