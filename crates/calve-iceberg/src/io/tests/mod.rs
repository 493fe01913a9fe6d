#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bucket;
mod faults;
mod google;
mod tls;
#[path = "../../../tests/tls/mod.rs"]
pub(crate) mod tls_server;

use std::path::Path as FilePath;
use std::time::Instant;

use futures::TryStreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

fn properties(given: &[(&str, &str)]) -> BTreeMap<String, String> {
    given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn every_spelling_and_name_reaches_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    for io in [TableIo::local(), TableIo::new(&BTreeMap::new()).unwrap()] {
        for name in ["plain", "p=a b", "100%", "a%20b", "ünï", "q?x", "c*", "日本", "a+b&c"] {
            let absolute = format!("{root}/{name}/f.parquet");
            for location in [absolute.clone(), format!("file:{absolute}"), format!("file://{absolute}")] {
                io.file_io().new_output(&location).unwrap().write(Bytes::from_static(b"x")).await.unwrap();
                let path = io.object_path(&location).unwrap();
                let got = io.object_store().get(&path).await.unwrap().bytes().await.unwrap();
                assert_eq!(got.as_ref(), b"x");
                io.delete(&location).await.unwrap();
                io.delete(&location).await.unwrap();
                assert!(!FilePath::new(&absolute).exists());
            }
        }
    }
}

#[test]
fn other_schemes_and_relative_paths_are_refused() {
    let io = TableIo::local();
    assert_eq!(io.object_path("s3://b/x").unwrap_err().message, "not supported: files of scheme 's3' ('s3://b/x')");
    assert_eq!(io.object_path("x/y").unwrap_err().code, "invalid-table");
    assert_eq!(io.object_path("").unwrap_err().code, "invalid-table");
}

#[tokio::test]
async fn local_files_are_written_created_found_and_listed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let io = TableIo::local();
    let file = |name: &str| format!("{root}/t/{name}");
    io.write(&file("a"), Bytes::from_static(b"1")).await.unwrap();
    io.write(&file("a"), Bytes::from_static(b"22")).await.unwrap();
    assert_eq!(io.read(&file("a")).await.unwrap().as_ref(), b"22");
    assert_eq!(io.create(&file("b"), Bytes::from_static(b"3")).await.unwrap(), Created::Done);
    assert_eq!(io.create(&file("b"), Bytes::from_static(b"4")).await.unwrap(), Created::Exists);
    assert_eq!(io.read(&file("b")).await.unwrap().as_ref(), b"3");
    io.write(&file("sub/c"), Bytes::from_static(b"5")).await.unwrap();
    assert!(io.exists(&file("sub/c")).await.unwrap() && !io.exists(&file("sub/d")).await.unwrap());
    let children = io.children(&format!("file://{root}/t/")).await.unwrap();
    assert_eq!(children, Children { folders: vec!["sub".into()], files: vec!["a".into(), "b".into()] });
    let mut listed: Vec<_> = io.list(&format!("{root}/t")).unwrap().try_collect().await.unwrap();
    listed.sort_by(|a, b| a.location.cmp(&b.location));
    let found: Vec<_> = listed.iter().map(|l| (l.location.as_str(), l.size)).collect();
    assert_eq!(found, [(file("a").as_str(), 2), (file("b").as_str(), 1), (file("sub/c").as_str(), 1)]);
    assert!(io.children(&format!("{root}/none")).await.unwrap().files.is_empty());
    let missing = io.read(&file("none")).await.unwrap_err();
    assert!(missing.code == "io" && missing.message.contains("cannot read the file"), "{missing}");
    assert!(io.delete_all(&[file("a"), file("none"), file("b")]).await.is_empty());
    assert!(!io.exists(&file("a")).await.unwrap());
}

#[tokio::test]
async fn a_table_reads_nothing_outside_of_its_storage() {
    let io =
        TableIo::new(&properties(&[("s3.access-key-id", "a"), ("s3.secret-access-key", "b"), ("client.region", "x")]));
    let table = io.unwrap().of_table("s3://b/t/metadata/v1.metadata.json", "file:///");
    for location in ["/etc/passwd", "file:/etc/passwd", "file:///etc/passwd"] {
        let message = format!("the file '{location}' lies outside of its table's storage");
        assert_eq!(table.object_path(location).unwrap_err().message, message);
        let error =
            table.file_io().new_input(location).unwrap().read().await.context(|| "read the manifest").unwrap_err();
        assert_eq!((error.code, error.message), ("invalid-table", format!("cannot read the manifest: {message}")));
        assert!(table.read(location).await.is_err() && table.delete(location).await.is_err());
        assert!(
            table.write(location, Bytes::new()).await.is_err() && table.create(location, Bytes::new()).await.is_err()
        );
        assert_eq!(table.delete_all(&[location.to_owned()]).await.len(), 1);
        assert!(table.list("/etc").is_err() && table.children("/etc").await.is_err());
    }
    let local = TableIo::new(&BTreeMap::new()).unwrap().of_table("/wh/t/metadata/v1.metadata.json", "s3://b/t");
    assert_eq!(local.object_path("s3://b/t/f").unwrap_err().code, "invalid-table");
    assert!(local.object_path("/elsewhere/f").is_ok());
    // without a metadata file the table's own word counts
    let staged = TableIo::new(&BTreeMap::new()).unwrap().of_table("", "s3://b/t");
    assert!(staged.object_path("/etc/passwd").is_err());
}

#[test]
fn options_that_ask_for_more_are_refused_by_name() {
    let refused = |key: &str, value: &str| TableIo::new(&properties(&[(key, value)])).unwrap_err();
    for (key, value) in [
        ("s3.remote-signing-enabled", "true"),
        ("s3.acl", "public-read"),
        ("s3.write.tags.team", "x"),
        ("s3.access-grants.enabled", "True"),
        ("client.factory", "org.apache.iceberg.aws.lakeformation.LakeFormationAwsClientFactory"),
        ("client.credentials-provider", "com.x.Provider"),
    ] {
        let error = refused(key, value);
        assert_eq!(error.message, format!("not supported: option '{key}'"));
        assert!(error.hint.is_some());
    }
    let role = refused("client.assume-role.arn", "arn:aws:iam::1:role/r");
    assert_eq!(role.message, "not supported: option 'client.assume-role.arn' without its 'client.factory'");
    assert_eq!(refused("io-impl", "com.x.Y").message, "not supported: io-impl 'com.x.Y'");
    for (key, value) in [
        ("s3.remote-signing-enabled", "false"),
        ("s3.multipart.threshold", "1.5"),
        ("client.credentials-provider", "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"),
        ("client.factory", "org.apache.iceberg.aws.AwsClientFactories$DefaultAwsClientFactory"),
        ("client.factory", "DefaultAwsClientFactory"),
        ("io-impl", "org.apache.iceberg.aws.s3.S3FileIO"),
        ("anything.else", "x"),
    ] {
        assert!(TableIo::new(&properties(&[(key, value)])).is_ok(), "{key}");
    }
}

/// What a server does with a connection.
#[derive(Clone, Copy)]
enum Server {
    /// It takes the request and says nothing.
    Silent,
    /// It answers with a status line.
    Answers(&'static str),
}

async fn serve(server: Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = [0; 65536];
                while socket.read(&mut buffer).await.is_ok_and(|n| n > 0) {
                    if let Server::Answers(status) = server {
                        let body = "<Error><Code>Oops</Code><Message>SECRET is not shown? it is the server's</Message></Error>";
                        let answer = format!(
                            "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                            body.len()
                        );
                        let _ = socket.write_all(answer.as_bytes()).await;
                        return;
                    }
                }
            });
        }
    });
    address
}

fn s3(endpoint: &str) -> TableIo {
    s3_within(endpoint, "500")
}

/// A bucket whose server has to answer in that many milliseconds.
fn s3_within(endpoint: &str, millis: &str) -> TableIo {
    TableIo::new(&properties(&[
        ("s3.endpoint", endpoint),
        ("s3.access-key-id", "AKID"),
        ("s3.secret-access-key", "TOPSECRET"),
        ("s3.session-token", "TOKENSECRET"),
        ("s3.retry.num-retries", "2"),
        ("http-client.apache.socket-timeout-ms", millis),
    ]))
    .unwrap()
}

#[tokio::test]
async fn servers_that_are_not_there_or_say_nothing_are_named_in_time() {
    let gone = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let started = Instant::now();
    let error = s3(&gone).read("s3://b/k").await.unwrap_err();
    assert!(
        error.message.starts_with(&format!("cannot read the file 's3://b/k': no connection to '{gone}'")),
        "{error}"
    );
    let silent = serve(Server::Silent).await;
    let error = s3(&silent).read("s3://b/k").await.unwrap_err();
    assert_eq!(error.message, format!("cannot read the file 's3://b/k': '{silent}' did not answer in time"));
    let error = s3(&silent).write("s3://b/k", Bytes::from_static(b"x")).await.unwrap_err();
    assert_eq!(error.message, format!("cannot write the file 's3://b/k': '{silent}' did not answer in time"));
    assert!(started.elapsed().as_secs() < 10);
    for error in [error, s3(&gone).create("s3://b/k", Bytes::new()).await.unwrap_err()] {
        assert!(!format!("{error:?}").contains("SECRET"));
    }
    assert!(!format!("{:?}", s3(&gone)).contains("SECRET"));
}

#[tokio::test]
async fn what_a_server_refuses_is_not_done() {
    let address = serve(Server::Answers("403 Forbidden")).await;
    let error = s3(&address).create("s3://b/k", Bytes::from_static(b"x")).await.unwrap_err();
    assert_eq!(error.code, "access-denied");
    assert!(!format!("{error:?}").contains("TOPSECRET"));
    let address = serve(Server::Answers("501 Not Implemented")).await;
    let error = s3(&address).create("s3://b/k", Bytes::from_static(b"x")).await.unwrap_err();
    assert_eq!(error.code, "not-supported");
}

/// Keeps the locations that were refused.
#[derive(Clone, Default)]
struct Refused(Arc<Mutex<Vec<String>>>);

impl parts::Guard for Refused {
    type Step = ();

    fn begin(&self) {}

    fn refused(&self, location: &str) {
        self.0.lock().unwrap().push(location.to_owned());
    }
}

/// Nobody need look for a file whose making was refused; of one that may have been made nobody says so.
#[tokio::test]
async fn a_file_that_was_refused_is_told_to_its_guard() {
    for (server, definite) in [
        (Server::Answers("403 Forbidden"), true),
        (Server::Answers("404 Not Found"), true),
        (Server::Answers("503 Slow Down"), false),
        (Server::Silent, false),
    ] {
        let io = s3(&serve(server).await);
        // at once, and in parts
        for bytes in [3, 9 << 20] {
            let (location, guard) = ("s3://b/k", Refused::default());
            let path = io.object_path(location).unwrap();
            let mut file = Parts::new(io.object_store(), path, location, true, guard.clone());
            let added = file.add(vec![b'x'; bytes].into()).await;
            assert!(added.is_err() || file.finish().await.is_err());
            assert_eq!(guard.0.lock().unwrap().len(), usize::from(definite), "{bytes}");
        }
    }
}
