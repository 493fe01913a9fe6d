//! Servers that are no catalogs, are not there, or say what nobody expects.

use std::time::{Duration, Instant};

use super::*;

fn raw(head: &str, body: &str) -> Fault {
    Fault::Raw(format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

#[tokio::test]
async fn options_are_checked_before_anything_is_sent() {
    let missing = open("c", &BTreeMap::from([("catalog-type".to_owned(), "rest".to_owned())])).unwrap_err();
    assert_eq!(missing.message, "option 'uri' of catalog 'c' is missing");
    assert_eq!(try_open("thrift://x", &[]).unwrap_err().code, "invalid-option");
    for (key, value, code) in [
        ("rest.auth.type", "google", "not-supported"),
        ("io-impl", "com.example.MyFileIO", "not-supported"),
        ("rest.sigv4-enabled", "true", "invalid-option"),
    ] {
        let region = [("rest.signing-region", "not a region"), ("rest.access-key-id", "a")];
        let options: Vec<_> = region.into_iter().chain([(key, value)]).collect();
        let opened = try_open("http://127.0.0.1:1", &options);
        let error = match opened {
            Err(error) => error,
            Ok(catalog) => catalog.connect().await.unwrap_err(),
        };
        // storage is looked at when it is connected
        assert!(error.code == code || key == "io-impl", "{key}: {error:?}");
    }
    let class = [("catalog-impl", "org.apache.iceberg.rest.RESTCatalog"), ("uri", "http://127.0.0.1:1")];
    let opened = open("c", &class.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()).unwrap();
    assert_eq!((opened.name(), opened.default_database()), ("c", "default"));
}

#[tokio::test]
async fn nobody_is_there() {
    // a port that was free a moment ago
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let c = try_open(&format!("http://{port}"), &[("rest.client.max-retries", "1")]).unwrap();
    let begun = Instant::now();
    let error = c.connect().await.unwrap_err();
    assert_eq!(error.code, "io");
    let expected = format!("cannot connect to catalog 'c': 'http://{port}' cannot be reached: ");
    assert!(error.message.starts_with(&expected), "{error}");
    assert_eq!(error.hint.as_deref(), Some("is the server up, and is 'uri' right?"));
    assert!(begun.elapsed() < Duration::from_secs(2));
    // it comes later
    let dir = tempfile::tempdir().unwrap();
    let warehouse = dir.path().display().to_string();
    let _server = RestServer::start_at(&port.to_string(), ServerSettings { warehouse, ..ServerSettings::full() });
    c.connect().await.unwrap();
}

#[tokio::test]
async fn a_server_that_vanishes_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let warehouse = dir.path().display().to_string();
    let settings = ServerSettings { warehouse, ..ServerSettings::full() };
    let server = RestServer::start(settings);
    let c = catalog(&server, &[("rest.client.max-retries", "1")]);
    let base = table(&*c).await;
    drop(server);
    for error in [
        c.list_namespaces(&[]).await.unwrap_err(),
        c.refresh(base.ident()).await.unwrap_err(),
        c.create_namespace(&levels(&["x"]), BTreeMap::new()).await.unwrap_err(),
        add(&*c, &base, "f").await.unwrap_err(),
    ] {
        assert_eq!(error.code, "io", "{error:?}");
        assert!(!error.may_have_committed());
    }
    assert_eq!(avro_files(dir.path()), BTreeSet::new());
}

#[tokio::test]
async fn what_is_no_catalog_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let address = "is this the address of an Iceberg REST catalog? 'uri' is what comes before '/v1'";
    for (fault, code, message) in [
        (raw("200 OK\r\nContent-Type: text/html", "<html>Welcome</html>"), "io", "cannot be used: it is not JSON"),
        (raw("200 OK", "[1,2]"), "io", "cannot be used: it is not what the request is answered with"),
        (raw("200 OK", ""), "io", "cannot be used: it is not JSON"),
        (raw("404 Not Found\r\nContent-Type: text/html", "<html>?</html>"), "catalog-error", "answered 404 Not Found"),
        (raw("418 I'm a teapot", "no coffee"), "catalog-error", "answered 418"),
        (raw("302 Found\r\nLocation: https://login.example/?state=abc", ""), "catalog-error", "host 'login.example'"),
        (raw("999 Odd", ""), "io", "answered 999"),
        (Fault::Raw("SSH-2.0-OpenSSH_9.6\r\n".to_owned()), "io", "was lost"),
    ] {
        server.trap_times("GET", "/v1/config", 9, fault);
        let c = catalog(&server, &[("rest.client.max-retries", "0")]);
        let error = c.connect().await.unwrap_err();
        assert_eq!(error.code, code, "{error:?}");
        assert!(error.message.contains(message), "{error}");
        if message.contains("used") || message.contains("404") {
            assert_eq!(error.hint.as_deref(), Some(address), "{error}");
        }
        assert!(!format!("{error:?}").contains("state=abc"));
        server.disarm();
    }
    let with_version = try_open(&format!("{}/v1", server.uri()), &[]).unwrap();
    let error = with_version.connect().await.unwrap_err();
    assert_eq!(error.hint.as_deref(), Some("leave '/v1' out of 'uri': it is added to it"));
}

#[tokio::test]
async fn a_page_is_no_news_of_a_table() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[]);
    let base = table(&*c).await;
    server.trap("GET", "/tables/t", raw("404 Not Found\r\nContent-Type: text/html", "<html>?</html>"));
    assert_eq!(c.load_table(base.ident()).await.unwrap_err().code, "catalog-error");
    server.trap("POST", "/tables/t", raw("404 Not Found\r\nContent-Type: text/html", "<html>?</html>"));
    let refused = c.commit(&base, vec![], set("a", "b")).await;
    assert!(matches!(refused, Err(CommitError::Rejected(e)) if e.code == "catalog-error"));
    for body in ["{}", "{\"metadata\":null}", "{\"metadata\":{\"format-version\":2}}", "{\"metadata\":{\"format"] {
        server.trap("GET", "/tables/t", raw("200 OK", body));
        let error = c.load_table(base.ident()).await.unwrap_err();
        assert_eq!(error.code, "invalid-table");
        assert!(error.message.contains("load table 'db.t'"), "{error}");
    }
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[]);
    c.connect().await.unwrap();
    server.trap(
        "GET",
        "/namespaces?",
        Fault::Raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{".to_owned()),
    );
    let error = c.list_namespaces(&[]).await.unwrap_err();
    assert!(error.message.ends_with("it is larger than 1024 MiB"), "{error}");
    let chunks = "10000\r\n".to_owned() + &"x".repeat(0x10000) + "\r\n";
    let endless = format!("HTTP/1.1 400 X\r\nTransfer-Encoding: chunked\r\n\r\n{}", chunks.repeat(40));
    server.trap("GET", "/namespaces?", Fault::Raw(endless));
    let error = c.list_namespaces(&[]).await.unwrap_err();
    assert_eq!(error.code, "catalog-error");
    assert!(error.detail.unwrap().len() < 1100);
}
