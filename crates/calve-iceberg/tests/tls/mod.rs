//! Servers of TLS for tests, with certificates of an authority of their own, which the program `openssl` makes. Where there is
//! none the tests that need it say so.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Somebody who signs certificates.
pub struct Authority {
    folder: tempfile::TempDir,
}

impl Authority {
    /// A new authority; `None`, with the reason on stderr, where there is no `openssl`.
    pub fn new(test: &str) -> Option<Self> {
        if let Err(why) = Command::new("openssl").arg("version").output() {
            eprintln!("skipped: {test}: openssl does not run: {why}");
            return None;
        }
        let authority = Self { folder: tempfile::tempdir().unwrap() };
        authority.openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 \
             -subj /CN=authority-of-a-test",
        );
        Some(authority)
    }

    /// The file of its certificate.
    pub fn file(&self) -> String {
        self.folder.path().join("ca.pem").display().to_string()
    }

    fn openssl(&self, arguments: &str) {
        let mut command = Command::new("openssl");
        let output = command.args(arguments.split(' ')).current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Speaks TLS for a server that does not, with a certificate for a name, such as `IP:127.0.0.1`.
    pub async fn serve(&self, name: &str, server: SocketAddr) -> SocketAddr {
        std::fs::write(self.folder.path().join("ext"), format!("subjectAltName={name}\nbasicConstraints=CA:FALSE"))
            .unwrap();
        self.openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out csr.pem -subj /CN=a-server",
        );
        self.openssl(
            "x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem -days 2 -extfile ext",
        );
        let read = |file: &str| std::fs::read(self.folder.path().join(file)).unwrap();
        let certificate = CertificateDer::from_pem_slice(&read("cert.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_slice(&read("key.pem")).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let acceptor = TlsAcceptor::from(Arc::new(config.with_single_cert(vec![certificate], key).unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // who does not like the certificate goes away
                    let Ok(mut secret) = acceptor.accept(socket).await else { return };
                    let Ok(mut plain) = TcpStream::connect(server).await else { return };
                    let _ = tokio::io::copy_bidirectional(&mut secret, &mut plain).await;
                });
            }
        });
        address
    }
}
