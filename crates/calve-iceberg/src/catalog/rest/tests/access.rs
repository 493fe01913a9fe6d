//! Who we are to a server, what it lends us, and that nobody reads it.

use std::time::Duration;

use super::*;

fn guarded(folder: &Path, life: Option<Duration>) -> RestServer {
    RestServer::start(ServerSettings {
        warehouse: folder.display().to_string(),
        credential: Some(("ann".into(), "open sesame+1".into())),
        token_life: life,
        ..ServerSettings::full()
    })
}

fn tokens(server: &RestServer) -> usize {
    server.targets().iter().filter(|target| target.ends_with("/v1/oauth/tokens")).count()
}

#[tokio::test]
async fn a_credential_gives_a_token() {
    let dir = tempfile::tempdir().unwrap();
    let server = guarded(dir.path(), None);
    let options = [("credential", "ann:open sesame+1"), ("scope", "PRINCIPAL_ROLE:ALL"), ("audience", "lake")];
    let c = catalog(&server, &options);
    c.connect().await.unwrap();
    let log = server.log();
    assert_eq!(
        log[0].body,
        "grant_type=client_credentials&client_id=ann&client_secret=open%20sesame%2B1&scope=PRINCIPAL_ROLE%3AALL&audience=lake"
    );
    assert_eq!(log[1].headers["authorization"], "Bearer token-1-of-the-test");
    table(&*c).await;
    assert_eq!(tokens(&server), 0, "the token is kept");
    // many at once ask once
    server.revoke();
    let (a, b) = (levels(&["a"]), levels(&["b"]));
    let (x, y, z) = tokio::join!(c.namespace_exists(&a), c.namespace_exists(&b), c.list_namespaces(&[]));
    assert_eq!((x.unwrap(), y.unwrap(), z.unwrap().len()), (false, false, 1));
    assert_eq!(tokens(&server), 1);
    // a commit whose token has expired is definite, and made with a new one
    let base = c.refresh(&c.ident("db", "t").unwrap()).await.unwrap();
    server.revoke();
    c.commit(&base, vec![], set("p", "1")).await.unwrap();
    assert_eq!(tokens(&server), 1);
}

#[tokio::test]
async fn a_token_is_renewed_before_it_expires() {
    let dir = tempfile::tempdir().unwrap();
    let server = guarded(dir.path(), Some(Duration::from_secs(1)));
    let c = catalog(&server, &[("credential", "ann:open sesame+1")]);
    c.connect().await.unwrap();
    tokio::time::sleep(Duration::from_millis(950)).await;
    server.log();
    c.list_namespaces(&[]).await.unwrap();
    let log = server.log();
    assert_eq!(log.len(), 2, "no request was refused");
    assert_eq!(log[1].headers["authorization"], "Bearer token-2-of-the-test");
    // a server of tokens that fails for a moment
    tokio::time::sleep(Duration::from_millis(950)).await;
    server.trap("POST", "/oauth/tokens", Fault::Refuse(500, "x"));
    server.trap("POST", "/oauth/tokens", Fault::LoseReply);
    c.list_namespaces(&[]).await.unwrap();
}

#[tokio::test]
async fn a_token_alone_is_exchanged_or_sent_until_it_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let server = guarded(dir.path(), Some(Duration::from_secs(3600)));
    let first = catalog(&server, &[("credential", "ann:open sesame+1")]);
    first.connect().await.unwrap();
    let with_token = [("token", "token-1-of-the-test"), ("token-expires-in-ms", "1")];
    let c = catalog(&server, &with_token);
    c.connect().await.unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    server.log();
    c.list_namespaces(&[]).await.unwrap();
    let log = server.log();
    assert!(
        log[0].body.starts_with("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=")
    );
    assert_eq!(log[1].headers["authorization"], "Bearer token-2-of-the-test");
    let c = catalog(&server, &[with_token[0], with_token[1], ("token-refresh-enabled", "false")]);
    c.connect().await.unwrap();
    assert_eq!(tokens(&server), 0);
    server.revoke();
    let error = c.list_namespaces(&[]).await.unwrap_err();
    assert_eq!(error.code, "access-denied");
    assert_eq!(error.detail.unwrap(), "The server says: NotAuthorizedException: the token '******' is not valid");
    assert!(error.hint.unwrap().contains("a 'token' that has not expired"));
}

#[tokio::test]
async fn who_is_not_known_is_told_so_without_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let server = guarded(dir.path(), None);
    for options in [
        vec![("credential", "ann:wrong-secret")],
        vec![("credential", "only-a-secret")],
        vec![("token", "wrong-secret")],
        vec![
            ("rest.auth.type", "basic"),
            ("rest.auth.basic.username", "u"),
            ("rest.auth.basic.password", "wrong-secret"),
        ],
        vec![("header.Authorization", "Bearer wrong-secret")],
        vec![("rest.auth.type", "none")],
        vec![],
    ] {
        let c = catalog(&server, &options);
        let error = c.connect().await.unwrap_err();
        assert_eq!(error.code, "access-denied", "{options:?}");
        assert!(error.message.starts_with("cannot connect to catalog 'c': "), "{error}");
        assert!(error.hint.is_some());
        for shown in [format!("{error:?}"), format!("{c:?}")] {
            assert!(!shown.contains("-secret"), "{shown}");
        }
    }
    // a server of tokens elsewhere, with headers that are not for it
    let idp = guarded(dir.path(), None);
    let other = format!("{}/v1/oauth/tokens", idp.uri());
    let options =
        [("credential", "ann:open sesame+1"), ("oauth2-server-uri", other.as_str()), ("header.x-key", "mine")];
    let c = catalog(&server, &options);
    assert_eq!(c.connect().await.unwrap_err().code, "access-denied", "tokens of another one");
    assert!(!idp.log()[0].headers.contains_key("x-key"));
    idp.trap_times("POST", "tokens", 9, Fault::Raw("HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\n{}".into()));
    let error = catalog(&server, &options).connect().await.unwrap_err();
    assert!(error.message.contains("no token was given"), "{error}");
}

#[tokio::test]
async fn basic_authentication_and_headers_are_sent() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let options = [
        ("rest.auth.type", "Basic"),
        ("rest.auth.basic.username", "Aladdin"),
        ("rest.auth.basic.password", "open sesame"),
        ("header.X-Team", "lake"),
    ];
    catalog(&server, &options).connect().await.unwrap();
    let log = server.log();
    assert_eq!(log[0].headers["authorization"], "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    assert_eq!(log[0].headers["x-team"], "lake");
    assert!(log[0].headers["user-agent"].starts_with("calve/"));
}

#[tokio::test]
async fn requests_are_signed() {
    let dir = tempfile::tempdir().unwrap();
    let server = guarded(dir.path(), None);
    let signer = ["AKID", "signing key", "eu-central-1", "s3tables"].map(str::to_owned);
    server.change(|settings| settings.signer = Some(signer));
    let options = [
        ("rest.sigv4-enabled", "true"),
        ("rest.access-key-id", "AKID"),
        ("rest.secret-access-key", "signing key"),
        ("rest.signing-region", "eu-central-1"),
        ("rest.signing-name", "s3tables"),
    ];
    // along with a token, which has to move
    let c = catalog(&server, &[options.as_slice(), &[("credential", "ann:open sesame+1")]].concat());
    c.create_namespace(&levels(&["a b"]), BTreeMap::new()).await.unwrap();
    c.create_namespace(&levels(&["a b", "ü+"]), BTreeMap::new()).await.unwrap();
    assert_eq!(c.list_namespaces(&levels(&["a b"])).await.unwrap().len(), 1);
    let ident = TableIdent::from_strs(["a b", "ü+", "t"]).unwrap();
    let table = c.create_table(&ident, creation(&[])).await.unwrap();
    c.commit(&table, vec![], set("k", "v")).await.unwrap();
    assert!(c.drop_table(&ident, true).await.unwrap());
    server.change(|settings| settings.credential = None);
    let wrong: Vec<_> = options.iter().map(|o| if o.1 == "signing key" { (o.0, "another key") } else { *o }).collect();
    let error = catalog(&server, &wrong).connect().await.unwrap_err();
    assert_eq!(error.code, "access-denied");
    assert!(error.detail.as_deref().unwrap().contains("the signature is wrong"), "{error:?}");
    assert!(!format!("{error:?}").contains("another key"));
}

/// `config` and `storage-credentials` of a table reach its storage, and are fetched again.
#[tokio::test]
async fn credentials_are_vended() {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = ServerSettings { warehouse: "s3://lake/w".into(), ..ServerSettings::full() };
    settings.table_config = BTreeMap::from([
        ("s3.endpoint".to_owned(), "http://127.0.0.1:1".to_owned()),
        ("token".to_owned(), "of-the-table".to_owned()),
    ]);
    let vend = |key: &str| {
        let config = [("s3.access-key-id", key), ("s3.secret-access-key", "hush-hush"), ("s3.session-token", "hush")];
        let config = config.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<BTreeMap<_, _>>();
        vec![("s3://lake/w".to_owned(), config)]
    };
    settings.vended = vend("first");
    let server = RestServer::start(settings);
    let c = catalog(&server, &[]);
    let base = table(&*c).await;
    let log = server.log();
    let create = log.iter().find(|l| l.method == "POST" && l.target.ends_with("/tables")).unwrap();
    assert_eq!(create.headers["x-iceberg-access-delegation"], "vended-credentials");
    for shown in [format!("{base:?}"), format!("{c:?}")] {
        assert!(!shown.contains("hush"), "{shown}");
    }
    // the table's own token, until it does not help
    let commit = |key: &'static str| c.commit(&base, vec![], set(key, "1"));
    commit("a").await.unwrap();
    assert_eq!(server.log().last().unwrap().headers["authorization"], "Bearer of-the-table");
    server.trap("POST", "/tables/t", Fault::Refuse(401, "NotAuthorizedException"));
    commit("b").await.unwrap();
    assert!(!server.log().last().unwrap().headers.contains_key("authorization"));

    // asked for alone where the server has it, else with the table
    let rest = RestCatalog::open(
        Settings { name: "c".into(), default_database: "default".into(), base_namespace: vec![] },
        &BTreeMap::from([("uri".to_owned(), server.uri())]),
    )
    .unwrap();
    let shared = rest.server().await.unwrap();
    for (endpoints, expected) in [
        (rest_server::ENDPOINTS.len(), "GET /v1/namespaces/db/tables/t/credentials"),
        (0, "GET /v1/namespaces/db/tables/t"),
    ] {
        server.change(|settings| settings.vended = vend("second"));
        let path = (endpoints > 0).then(|| "v1/namespaces/db/tables/t/credentials".to_owned());
        let source = credentials::Source::new(shared.clone(), base.ident().clone(), path);
        server.log();
        let fresh = crate::io::CredentialSource::load(&source).await.unwrap();
        assert_eq!(fresh[0].config["s3.access-key-id"], "second");
        assert_eq!(fresh[0].prefix, "s3://lake/w");
        assert_eq!(server.targets(), [expected]);
        assert!(!format!("{source:?} {fresh:?}").contains("hush"));
    }
    let elsewhere = Some("http://127.0.0.1:9/x".to_owned());
    let source = credentials::Source::new(shared.clone(), base.ident().clone(), elsewhere);
    assert_eq!(crate::io::CredentialSource::load(&source).await.unwrap_err().code, "catalog-error");
    drop(dir);
}

#[tokio::test]
async fn who_has_credentials_does_not_ask_for_any() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[]);
    table(&*c).await;
    let ident = c.ident("db", "t").unwrap();
    for (options, expected) in [
        (vec![], Some("vended-credentials")),
        (vec![("header.X-Iceberg-Access-Delegation", "remote-signing")], Some("remote-signing")),
        (vec![("header.X-Iceberg-Access-Delegation", "")], None),
        (vec![("s3.access-key-id", "k"), ("s3.secret-access-key", "s")], None),
    ] {
        server.log();
        catalog(&server, &options).load_table(&ident).await.unwrap().unwrap();
        let sent = server.log().last().unwrap().headers.get("x-iceberg-access-delegation").cloned();
        assert_eq!(sent.as_deref(), expected, "{options:?}");
    }
    let signing = BTreeMap::from([("s3.remote-signing-enabled".to_owned(), "true".to_owned())]);
    server.change(|settings| settings.table_config = signing);
    let error = c.load_table(&ident).await.unwrap_err();
    assert_eq!(error.message, "not supported: remote signing of requests to S3 (table 'db.t')");
}
