//! A store behind TLS, whose certificate an authority has signed that the system does not know.

use super::tls_server::Authority;
use super::*;

fn over_tls(address: std::net::SocketAddr, more: &[(&str, &str)]) -> TableIo {
    let endpoint = format!("https://{address}");
    let all = [
        ("s3.endpoint", endpoint.as_str()),
        ("s3.access-key-id", "AKID"),
        ("s3.secret-access-key", "TOPSECRET"),
        ("s3.retry.num-retries", "0"),
        ("http-client.apache.socket-timeout-ms", "5000"),
    ];
    TableIo::new(&properties(&[all.as_slice(), more].concat())).unwrap()
}

#[tokio::test]
async fn certificates_are_checked_and_an_authority_can_be_added() {
    let Some(authority) = Authority::new("certificates_are_checked") else { return };
    let plain = serve(Server::Answers("418 I'm a teapot")).await;
    let server = plain.strip_prefix("http://").unwrap().parse().unwrap();
    let ca = authority.file();
    let trusting = [("calve.tls.ca-file", ca.as_str())];
    let good = authority.serve("IP:127.0.0.1", server).await;
    let other = authority.serve("DNS:elsewhere.example", server).await;
    // the server is heard
    let error = over_tls(good, &trusting).read("s3://b/k").await.unwrap_err();
    assert!(error.message.contains("answers 418"), "{error}");
    for (error, why, way) in [
        (over_tls(good, &[]).read("s3://b/k").await.unwrap_err(), "is not trusted", "'calve.tls.ca-file'"),
        (
            over_tls(other, &trusting).read("s3://b/k").await.unwrap_err(),
            "is for another name",
            "the name that it was made for",
        ),
        (over_tls(server, &trusting).read("s3://b/k").await.unwrap_err(), "does not speak TLS", "'http://'"),
    ] {
        assert_eq!(error.code, "io");
        assert!(
            error.message.starts_with("cannot read the file 's3://b/k': ") && error.message.contains(why),
            "{error}"
        );
        assert!(error.hint.as_ref().unwrap().contains(way), "{error:?}");
        assert!(!format!("{error:?}").contains("SECRET"));
    }
    let written = over_tls(good, &[]).create("s3://b/k", Bytes::from_static(b"x")).await.unwrap_err();
    assert!(written.code == "io" && written.message.contains("is not trusted"), "{written:?}");
    // files of certificates that are none
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("empty.pem").display().to_string();
    fs::write(&empty, "nothing").unwrap();
    for (file, words) in
        [(empty.as_str(), "holds no certificates"), ("/none/ca.pem", "cannot read the file '/none/ca.pem'")]
    {
        let error = over_tls(good, &[("calve.tls.ca-file", file)]).read("s3://b/k").await.unwrap_err();
        assert!(error.code == "invalid-option" && error.message.contains(words), "{error:?}");
    }
}
