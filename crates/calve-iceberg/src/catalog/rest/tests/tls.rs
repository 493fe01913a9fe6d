//! A catalog behind TLS, whose certificate an authority has signed that the system does not know.

use std::time::Instant;

use super::*;
use crate::io::tests::tls_server::Authority;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_are_checked_and_an_authority_can_be_added() {
    let Some(authority) = Authority::new("certificates_are_checked") else { return };
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::start(ServerSettings {
        warehouse: dir.path().display().to_string(),
        credential: Some(("ann".into(), "open-sesame".into())),
        ..ServerSettings::full()
    });
    let plain = server.uri().strip_prefix("http://").unwrap().parse().unwrap();
    let good = format!("https://{}", authority.serve("IP:127.0.0.1", plain).await);
    let other = format!("https://{}", authority.serve("DNS:elsewhere.example", plain).await);
    let (ca, credential) = (authority.file(), ("credential", "ann:open-sesame"));
    let trusting = ("calve.tls.ca-file", ca.as_str());
    let c = try_open(&good, &[credential, trusting]).unwrap();
    let base = table(&*c).await;
    assert_eq!(live(&add(&*c, &base, "a").await.unwrap()).await, ["a"]);
    server.log();
    let begun = Instant::now();
    // by the first request, and by that for a token
    for more in [vec![], vec![credential]] {
        for (uri, options, why, way) in [
            (&good, vec![], "is not trusted", "'calve.tls.ca-file'"),
            (&other, vec![trusting], "is for another name", "the name that it was made for"),
        ] {
            let c = try_open(uri, &[options.as_slice(), &more].concat()).unwrap();
            let error = c.connect().await.unwrap_err();
            assert_eq!(error.code, "io", "{error:?}");
            assert!(
                error.message.starts_with("cannot connect to catalog 'c': ") && error.message.contains(why),
                "{error}"
            );
            assert!(error.hint.as_ref().unwrap().contains(way), "{error:?}");
            assert!(!format!("{error:?}").contains("sesame"));
        }
    }
    assert_eq!(server.log().len(), 0, "nothing was said to a server that is not who it should be");
    assert!(begun.elapsed().as_secs() < 5, "a certificate does not get better: {:?}", begun.elapsed());
}
