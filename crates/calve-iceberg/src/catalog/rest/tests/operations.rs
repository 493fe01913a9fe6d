//! What a catalog does with databases and tables.

use super::*;

#[tokio::test]
async fn databases() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[]);
    c.connect().await.unwrap();
    assert_eq!(c.list_namespaces(&[]).await.unwrap(), Vec::<Vec<String>>::new());
    let db = levels(&["db"]);
    c.create_namespace(&db, BTreeMap::from([("owner".to_owned(), "ann".to_owned())])).await.unwrap();
    let error = c.create_namespace(&db, BTreeMap::new()).await.unwrap_err();
    assert_eq!(error.detail.unwrap(), "Database db already exists in Catalog c.");
    c.create_namespace(&levels(&["a b+c/%1F"]), BTreeMap::new()).await.unwrap_err();
    c.create_namespace(&levels(&["a b+c%1F.ü"]), BTreeMap::new()).await.unwrap();
    let deep = levels(&["a b+c%1F.ü", "inner"]);
    c.create_namespace(&deep, BTreeMap::new()).await.unwrap();
    assert_eq!(c.create_namespace(&levels(&["x", "y"]), BTreeMap::new()).await.unwrap_err().code, "unknown-database");
    assert!(c.namespace_exists(&deep).await.unwrap());
    assert!(!c.namespace_exists(&levels(&["nope"])).await.unwrap());
    assert_eq!(c.list_namespaces(&[]).await.unwrap(), [levels(&["a b+c%1F.ü"]), db.clone()]);
    assert_eq!(c.list_namespaces(&levels(&["a b+c%1F.ü"])).await.unwrap(), std::slice::from_ref(&deep));
    assert_eq!(c.list_namespaces(&levels(&["x"])).await.unwrap_err().code, "unknown-database");
    c.set_namespace_properties(&db, BTreeMap::from([("owner".to_owned(), "bob".to_owned())])).await.unwrap();
    let unknown = c.set_namespace_properties(&levels(&["x"]), BTreeMap::new()).await.unwrap_err();
    assert_eq!(unknown.code, "unknown-database");
    assert_eq!(c.create_namespace(&levels(&["a\u{1f}b"]), BTreeMap::new()).await.unwrap_err().code, "invalid-name");
    for bad in ["..", "a/b", "", "."] {
        assert_eq!(c.create_namespace(&levels(&[bad]), BTreeMap::new()).await.unwrap_err().code, "invalid-name");
        assert_eq!(c.drop_namespace(&levels(&["db", bad])).await.unwrap_err().code, "invalid-name");
    }
    c.create_table(&c.ident("db", "t").unwrap(), creation(&[])).await.unwrap();
    let error = c.drop_namespace(&db).await.unwrap_err();
    assert_eq!(error.detail.unwrap(), "Database db in catalog c is not empty.");
    assert!(c.drop_table(&c.ident("db", "t").unwrap(), true).await.unwrap());
    c.drop_namespace(&db).await.unwrap();
    assert_eq!(c.drop_namespace(&db).await.unwrap_err().code, "unknown-database");
    assert_eq!(c.list_tables(&db).await.unwrap_err().code, "unknown-database");
    let below = catalog(&server, &[("base-namespace", "a b+c%1F.ü")]);
    assert_eq!(below.list_namespaces(below.base_namespace()).await.unwrap_err().code, "unknown-database");
}

#[tokio::test]
async fn tables() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let (c, other) = (catalog(&server, &[]), catalog(&server, &[]));
    let ident = c.ident("d b", "tä+'").unwrap();
    let error = c.create_table(&ident, creation(&[])).await.unwrap_err();
    assert_eq!(error.detail.unwrap(), "Database d b does not exist in Catalog c.");
    c.create_namespace(&levels(&["d b"]), BTreeMap::new()).await.unwrap();
    assert!(c.load_table(&ident).await.unwrap().is_none());
    assert!(!c.table_exists(&ident).await.unwrap());
    let created = c.create_table(&ident, creation(&[("p", "1")])).await.unwrap();
    assert!(c.table_exists(&ident).await.unwrap());
    assert_eq!(created.property("p"), Some("1"));
    assert_eq!(created.property("comment"), Some("of a test"));
    assert_eq!(created.property("format-version"), None);
    assert_eq!(created.property("write.parquet.compression-codec"), Some("zstd"));
    let error = other.create_table(&ident, creation(&[])).await.unwrap_err();
    assert_eq!(error.detail.unwrap(), "Table (or view) d b.tä+' already exists in Catalog c.");
    let loaded = other.load_table(&ident).await.unwrap().unwrap();
    assert_eq!((loaded.metadata(), loaded.metadata_location()), (created.metadata(), created.metadata_location()));
    let next = c.commit(&loaded, vec![], set("p", "2")).await.unwrap();
    assert_eq!(other.refresh(&ident).await.unwrap().metadata(), next.metadata());
    assert_eq!(c.list_tables(&levels(&["d b"])).await.unwrap(), ["tä+'"]);

    let taken = c.ident("d b", "taken").unwrap();
    let elsewhere = format!("{}/elsewhere/", dir.path().display());
    let moved = c.create_table(&taken, creation(&[("location", &elsewhere), ("format-version", "3")])).await.unwrap();
    assert_eq!(moved.metadata().location(), elsewhere.trim_end_matches('/'));
    assert_eq!(moved.metadata().format_version(), iceberg::spec::FormatVersion::V3);
    assert_eq!(c.rename_table(&ident, "taken").await.unwrap_err().code, "table-exists");
    assert_eq!(c.rename_table(&c.ident("d b", "no").unwrap(), "x").await.unwrap_err().code, "unknown-table");
    c.rename_table(&ident, "new").await.unwrap();
    assert_eq!(c.list_tables(&levels(&["d b"])).await.unwrap(), ["new", "taken"]);
    assert_eq!(c.refresh(&ident).await.unwrap_err().code, "unknown-table");
    let gone = c.commit(&next, vec![], set("p", "3")).await;
    assert!(matches!(gone, Err(CommitError::Rejected(e)) if e.code == "unknown-table"));

    server.log();
    let renamed = c.ident("d b", "new").unwrap();
    assert!(other.drop_table(&renamed, true).await.unwrap());
    assert!(!c.drop_table(&renamed, true).await.unwrap());
    assert!(server.targets().iter().all(|target| target.ends_with("?purgeRequested=true")));
    let keeping = catalog(&server, &[("cache-enabled", "FALSE")]);
    assert!(keeping.drop_table(&taken, true).await.unwrap());
    assert!(server.targets().last().unwrap().ends_with("?purgeRequested=false"));
    for name in ["..", "a/b", "", "x$y"] {
        assert_eq!(c.load_table(&c.ident("db", name).unwrap()).await.unwrap_err().code, "invalid-name");
    }
}

#[tokio::test]
async fn lists_come_in_pages() {
    let dir = tempfile::tempdir().unwrap();
    let warehouse = dir.path().display().to_string();
    let server = RestServer::start(ServerSettings { page: 2, warehouse, ..ServerSettings::full() });
    let c = catalog(&server, &[("rest-page-size", "2")]);
    for n in 0..5 {
        c.create_namespace(&levels(&[&format!("db{n}")]), BTreeMap::new()).await.unwrap();
        c.create_table(&c.ident("db0", &format!("t{n}")).unwrap(), creation(&[])).await.unwrap();
    }
    server.log();
    assert_eq!(c.list_namespaces(&[]).await.unwrap().len(), 5);
    assert_eq!(c.list_tables(&levels(&["db0"])).await.unwrap(), ["t0", "t1", "t2", "t3", "t4"]);
    let pages = ["", "2", "4"].map(|token| format!("?pageToken={token}&pageSize=2"));
    let expected: Vec<String> = ["", "/db0/tables"]
        .iter()
        .flat_map(|list| pages.iter().map(move |page| format!("GET /v1/namespaces{list}{page}")))
        .collect();
    assert_eq!(server.targets(), expected);
    let endless = r#"{"identifiers":[],"next-page-token":"again"}"#;
    let endless = format!("HTTP/1.1 200 X\r\nContent-Length: {}\r\n\r\n{endless}", endless.len());
    server.trap_times("GET", "/tables", 9, Fault::Raw(endless));
    assert_eq!(c.list_tables(&levels(&["db0"])).await.unwrap_err().code, "catalog-error");
}

/// Prefixes, defaults and overrides, and the separator of levels.
#[tokio::test]
async fn the_server_has_the_last_word_on_the_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let warehouse = dir.path().display().to_string();
    let mut settings = ServerSettings { warehouse, prefix: Some("my/ware house".into()), ..ServerSettings::full() };
    settings.defaults = BTreeMap::from([("rest-page-size".into(), "7".into()), ("header.x-a".into(), "server".into())]);
    settings.overrides = BTreeMap::from([("header.x-b".into(), "server".into())]);
    let server = RestServer::start(settings);
    let options = [("warehouse", "s3://w?x"), ("prefix", "other"), ("header.x-a", "mine"), ("header.x-b", "mine")];
    let c = catalog(&server, &options);
    c.create_namespace(&levels(&["a"]), BTreeMap::new()).await.unwrap();
    c.list_namespaces(&levels(&["a"])).await.unwrap();
    let log = server.log();
    let targets: Vec<_> = log.iter().map(|l| l.target.as_str()).collect();
    assert_eq!(
        targets,
        [
            "/v1/config?warehouse=s3%3A%2F%2Fw%3Fx",
            "/v1/my/ware%20house/namespaces",
            "/v1/my/ware%20house/namespaces?pageToken=&pageSize=7&parent=a"
        ]
    );
    let sent: Vec<_> = log.iter().map(|l| [&l.headers["x-a"], &l.headers["x-b"]]).collect();
    assert_eq!(sent, [["mine", "mine"], ["mine", "server"], ["mine", "server"]]);

    let mut settings = ServerSettings { warehouse: dir.path().display().to_string(), ..ServerSettings::full() };
    settings.overrides = BTreeMap::from([("namespace-separator".into(), "%2E".into())]);
    let server = RestServer::start(settings);
    let c = catalog(&server, &[]);
    assert!(!c.namespace_exists(&levels(&["a", "b"])).await.unwrap());
    assert_eq!(server.targets().last().unwrap(), "HEAD /v1/namespaces/a.b");
    assert_eq!(c.namespace_exists(&levels(&["a.b"])).await.unwrap_err().code, "invalid-name");
}

#[tokio::test]
async fn a_commit_asks_for_what_it_rests_on() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[]);
    let base = table(&*c).await;
    let schema = base.metadata().current_schema().as_ref().clone().into_builder().with_schema_id(1);
    let schema = schema.with_fields([Arc::new(iceberg::spec::NestedField::optional(
        3,
        "new",
        iceberg::spec::Type::Primitive(iceberg::spec::PrimitiveType::Int),
    ))]);
    let add = vec![
        TableUpdate::AddSchema { schema: schema.build().unwrap() },
        TableUpdate::SetCurrentSchema { schema_id: -1 },
    ];
    c.commit(&base, vec![], add.clone()).await.unwrap();
    // the catalog was told nothing, and still the second one is a conflict
    assert!(matches!(c.commit(&base, vec![], add).await, Err(CommitError::Conflict)));
    let log = server.log();
    let body: serde_json::Value = serde_json::from_str(&log.last().unwrap().body).unwrap();
    let kinds: Vec<_> = body["requirements"].as_array().unwrap().iter().map(|r| r["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["assert-table-uuid", "assert-last-assigned-field-id", "assert-current-schema-id"]);
    assert!(body.get("identifier").is_none());
    let spec = iceberg::spec::UnboundPartitionSpec::builder();
    let spec = spec.add_partition_field(2, "p", iceberg::spec::Transform::Identity).unwrap().build();
    let base = c.refresh(base.ident()).await.unwrap();
    c.commit(&base, vec![], vec![TableUpdate::AddSpec { spec }]).await.unwrap();
    let body: serde_json::Value = serde_json::from_str(&server.log().last().unwrap().body).unwrap();
    let spec = &body["updates"][0]["spec"];
    assert_eq!((spec["spec-id"].as_i64(), spec["fields"][0]["field-id"].as_i64()), (Some(1), Some(1000)));
    // properties rest on nothing: the last one wins, as in Java
    c.commit(&base, vec![], set("p", "1")).await.unwrap();
    c.commit(&base, vec![], set("q", "1")).await.unwrap();
    let newest = c.refresh(base.ident()).await.unwrap();
    assert_eq!((newest.property("p"), newest.property("q")), (Some("1"), Some("1")));
}

#[tokio::test]
async fn two_writers_of_one_branch_both_get_in() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let (a, b) = (catalog(&server, &[]), catalog(&server, &[]));
    let base = table(&*a).await;
    add(&*a, &base, "a").await.unwrap();
    // prepared on the version before
    let newest = add(&*b, &base, "b").await.unwrap();
    assert_eq!(live(&newest).await, ["a", "b"]);
    assert_eq!(avro_files(dir.path()), referenced(&newest).await);
}

#[tokio::test]
async fn several_tables_at_once_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[]);
    let (t, u) = (table(&*c).await, another(&*c, "u").await);
    let change = |base: &Table, key: &str| TableChange {
        base: base.clone(),
        requirements: vec![TableRequirement::UuidMatch { uuid: base.metadata().uuid() }],
        updates: set(key, "1"),
    };
    assert_eq!(c.commit_all(vec![]).await.unwrap().unwrap().len(), 0);
    let both = c.commit_all(vec![change(&t, "x"), change(&u, "y")]).await.unwrap().unwrap();
    assert_eq!([both[0].property("x"), both[1].property("y")], [Some("1"); 2]);
    assert!(c.drop_table(u.ident(), true).await.unwrap());
    let u2 = another(&*c, "u").await;
    assert_ne!(u2.metadata().uuid(), u.metadata().uuid());
    let refused = c.commit_all(vec![change(&t, "z"), change(&u, "z")]).await;
    assert!(matches!(refused, Err(CommitError::Conflict)), "{refused:?}");
    for table in [&t, &u2] {
        assert_eq!(c.refresh(table.ident()).await.unwrap().property("z"), None);
    }
    for fault in [Fault::DoneBut(504), Fault::LoseReply] {
        server.trap("POST", "/transactions/commit", fault);
        let unknown = c.commit_all(vec![change(&t, "lost"), change(&u2, "lost")]).await;
        assert!(matches!(unknown, Err(CommitError::Unknown(_))), "{unknown:?}");
        assert_eq!(c.refresh(t.ident()).await.unwrap().property("lost"), Some("1"));
    }
    server.trap("POST", "/transactions/commit", Fault::Refuse(403, "ForbiddenException"));
    let refused = c.commit_all(vec![change(&t, "w"), change(&u2, "w")]).await;
    assert!(matches!(refused, Err(CommitError::Rejected(e)) if e.code == "access-denied"));

    // an old server, and one that says it cannot
    for endpoints in [None, Some(rest_server::ENDPOINTS.iter().filter(|e| !e.contains("transactions")))] {
        server.change(|settings| settings.endpoints = endpoints.map(|list| list.map(|e| (*e).to_owned()).collect()));
        let other = catalog(&server, &[]);
        assert!(other.commit_all(vec![]).await.unwrap().is_none());
        assert!(other.commit_all(vec![change(&t, "v")]).await.unwrap().is_none());
    }
    assert_eq!(c.refresh(t.ident()).await.unwrap().property("v"), None);
}

/// The words of Flink where Iceberg's Java library has no namespaces.
#[tokio::test]
async fn a_server_without_namespaces_has_tables() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    catalog(&server, &[]).create_namespace(&levels(&["default"]), BTreeMap::new()).await.unwrap();
    let tables_only = rest_server::ENDPOINTS.iter().filter(|e| e.contains("{table}") || e.ends_with("/tables"));
    let tables_only: Vec<String> = tables_only.filter(|e| !e.starts_with("HEAD")).map(|e| (*e).to_owned()).collect();
    server.change(|settings| settings.endpoints = Some(tables_only));
    let c = catalog(&server, &[]);
    assert_eq!(c.list_namespaces(&[]).await.unwrap(), [levels(&["default"])]);
    assert!(c.namespace_exists(&levels(&["default"])).await.unwrap());
    let error = c.create_namespace(&levels(&["db"]), BTreeMap::new()).await.unwrap_err();
    assert_eq!(error.code, "not-supported");
    assert!(error.detail.unwrap().starts_with("Namespaces are not supported by catalog: c."));
    assert_eq!(c.drop_namespace(&levels(&["default"])).await.unwrap_err().code, "not-supported");
    let ident = c.ident("default", "t").unwrap();
    assert!(!c.table_exists(&ident).await.unwrap(), "asked for by GET");
    let table = c.create_table(&ident, creation(&[])).await.unwrap();
    let error = c.rename_table(&ident, "x").await.unwrap_err();
    assert_eq!(error.detail.unwrap(), "Server does not support endpoint: POST /v1/{prefix}/tables/rename");
    c.commit(&table, vec![], set("p", "1")).await.unwrap();
    assert!(c.table_exists(&ident).await.unwrap());
    assert!(c.drop_table(&ident, true).await.unwrap());
}

#[tokio::test]
async fn an_image_asks_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let real = catalog(&server, &[]);
    let base = table(&*real).await;
    server.log();
    let uri = server.uri();
    let options = BTreeMap::from([("catalog-type", "rest"), ("uri", uri.as_str())]);
    let options = options.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    let rules = crate::catalog::open_image("c", &options, false, crate::catalog::ImageChanges::default()).unwrap();
    rules.connect().await.unwrap();
    rules.create_namespace(&levels(&["db"]), BTreeMap::new()).await.unwrap();
    rules.create_table(base.ident(), creation(&[])).await.unwrap();
    assert_eq!(server.log().len(), 0, "nothing is contacted");
    let shown = crate::catalog::open_image("c", &options, true, crate::catalog::ImageChanges::default()).unwrap();
    shown.connect().await.unwrap();
    assert!(shown.table_exists(base.ident()).await.unwrap());
    assert!(shown.drop_table(base.ident(), true).await.unwrap());
    assert!(server.log().iter().all(|l| matches!(l.method.as_str(), "GET" | "HEAD")));
    assert!(real.table_exists(base.ident()).await.unwrap());
}

/// Java's `RESTSessionCatalog`: the statement wins over the one, and loses to the other.
#[tokio::test]
async fn the_catalog_says_what_new_tables_have() {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = ServerSettings { warehouse: dir.path().display().to_string(), ..ServerSettings::full() };
    settings.defaults = BTreeMap::from([("table-default.of-server".into(), "1".into())]);
    settings.overrides = BTreeMap::from([("table-override.kept".into(), "server".into())]);
    let server = RestServer::start(settings);
    let options = [
        ("table-default.write.parquet.compression-codec", "gzip"),
        ("table-default.format-version", "3"),
        ("table-default.mine", "catalog"),
        ("table-override.kept", "catalog"),
        ("table-override.other", "catalog"),
    ];
    let c = catalog(&server, &options);
    c.create_namespace(&levels(&["db"]), BTreeMap::new()).await.unwrap();
    let statement = creation(&[("mine", "statement"), ("kept", "statement"), ("other", "statement")]);
    let ident = c.ident("db", "t").unwrap();
    let Staged::Ready(staged) = c.stage_table(&ident, statement.clone()).await.unwrap() else { panic!("not staged") };
    let created = c.create_table(&ident, statement).await.unwrap();
    for table in [staged, created] {
        let expected = [
            ("of-server", "1"),
            ("write.parquet.compression-codec", "gzip"),
            ("mine", "statement"),
            ("kept", "server"),
            ("other", "catalog"),
        ];
        for (key, value) in expected {
            assert_eq!(table.property(key), Some(value), "{key}");
        }
        assert_eq!(table.metadata().format_version(), iceberg::spec::FormatVersion::V3);
    }
}

#[tokio::test]
async fn a_table_appears_with_its_first_rows() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let (c, other) = (catalog(&server, &[]), catalog(&server, &[]));
    c.create_namespace(&levels(&["db"]), BTreeMap::new()).await.unwrap();
    let ident = c.ident("db", "t").unwrap();
    let new = || {
        let mut new = creation(&[("p", "1"), ("format-version", "3")]);
        new.partition.clear();
        new
    };
    for fault in [None, Some(Fault::LoseReply), Some(Fault::DoneBut(500)), Some(Fault::Twice), Some(Fault::LoseRequest)]
    {
        let Staged::Ready(staged) = c.stage_table(&ident, new()).await.unwrap() else { panic!("not staged") };
        assert!(!other.table_exists(&ident).await.unwrap());
        let creation = crate::catalog::Creation::new(c.clone(), staged.clone());
        if let Some(fault) = fault.clone() {
            server.trap("POST", "/tables/t", fault);
        }
        crate::commit::commit(&creation, creation.table(), "main", append("f"), &job()).await.unwrap();
        let made = other.load_table(&ident).await.unwrap().unwrap();
        assert_eq!(live(&made).await, ["f"], "{fault:?}");
        assert_eq!(made.metadata().uuid(), staged.metadata().uuid());
        assert_eq!(made.property("p"), Some("1"));
        assert_eq!(server.disarm(), 0);
        assert!(c.drop_table(&ident, true).await.unwrap());
    }
    // without rows, and with partitions
    let Staged::Ready(staged) = c.stage_table(&ident, creation(&[])).await.unwrap() else { panic!("not staged") };
    let made = crate::catalog::Creation::new(c.clone(), staged.clone()).commit().await.unwrap();
    assert_eq!(made.metadata().default_partition_spec(), staged.metadata().default_partition_spec());
    assert_eq!(made.metadata().current_schema(), staged.metadata().current_schema());
    assert!(c.drop_table(&ident, true).await.unwrap());
    // another one's table of that name came first
    let Staged::Ready(staged) = c.stage_table(&ident, new()).await.unwrap() else { panic!("not staged") };
    other.create_table(&ident, new()).await.unwrap();
    let creation = crate::catalog::Creation::new(c.clone(), staged);
    let error = crate::commit::commit(&creation, creation.table(), "main", append("f"), &job()).await.unwrap_err();
    assert_eq!(error.code, "table-exists");
    assert_eq!(live(&other.load_table(&ident).await.unwrap().unwrap()).await, Vec::<String>::new());
    assert_eq!(avro_files(dir.path()), BTreeSet::new(), "nothing is left of what was not made");
}

/// There are servers that name the metadata file of what they stage. What is there by then may be somebody else's.
#[tokio::test]
async fn a_staged_table_is_not_the_one_that_another_made() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let (c, other) = (catalog(&server, &[]), catalog(&server, &[]));
    c.create_namespace(&levels(&["db"]), BTreeMap::new()).await.unwrap();
    let ident = c.ident("db", "t").unwrap();
    let Staged::Ready(staged) = c.stage_table(&ident, creation(&[])).await.unwrap() else { panic!("not staged") };
    let location = format!("{}/metadata/00000.metadata.json", staged.metadata().location());
    let body = serde_json::json!({"metadata-location": location, "metadata": staged.metadata()}).to_string();
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    server.trap("POST", "/tables", Fault::Raw(answer.clone()));
    assert!(matches!(c.stage_table(&ident, creation(&[])).await.unwrap(), Staged::Ready(_)));
    other.create_table(&ident, creation(&[])).await.unwrap();
    server.trap("POST", "/tables", Fault::Raw(answer));
    assert_eq!(c.stage_table(&ident, creation(&[])).await.unwrap_err().code, "table-exists");
    assert_eq!(server.disarm(), 0);
}
