//! Moto, a server of AWS's services, for tests of Glue: installed with pip below `target`, started on a free port of
//! 127.0.0.1, and stopped when it is dropped. Where it cannot be installed the tests that need it say so.

use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The version that is installed.
pub const VERSION: &str = "5.2.5";

/// A key that no message may tell.
pub const SECRET: &str = "moto-secret-hush";

/// A running server.
pub struct Server {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Server {
    /// Installs and starts a server; `None`, with the reason on stderr, where that is not possible.
    pub fn start(test: &str) -> Option<Self> {
        let packages = match install() {
            Ok(packages) => packages,
            Err(why) => {
                eprintln!("skipped: {test}: moto cannot be installed: {why}");
                return None;
            }
        };
        // another process may take a port between its choice and its use
        Some((0..3).find_map(|_| Self::started(&packages)).expect("moto is installed and does not start"))
    }

    fn started(packages: &Path) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
        let child = Command::new("python3")
            .arg(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/moto/server.py"))
            .arg(port.to_string())
            .arg(folder.path().join("fault"))
            .env("PYTHONPATH", packages)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("moto starts");
        let mut server = Self { child, port, folder };
        let deadline = Instant::now() + Duration::from_secs(60);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
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

    /// The options of a Glue catalog there, whose tables are below `warehouse`.
    pub fn glue(&self, warehouse: &str) -> BTreeMap<String, String> {
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        [
            ("catalog-type", "glue"),
            ("glue.endpoint", &endpoint),
            ("client.region", "eu-central-1"),
            ("client.access-key-id", "AKIDMOTO"),
            ("client.secret-access-key", SECRET),
            ("warehouse", warehouse),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
    }

    /// Makes the next request of an action fail: `UpdateTable lost-after`.
    pub fn fail(&self, fault: &str) {
        fs::write(self.folder.path().join("new-fault"), fault).expect("a file");
        fs::rename(self.folder.path().join("new-fault"), self.folder.path().join("fault")).expect("a file");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn install() -> Result<PathBuf, String> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().map_err(|e| e.to_string())?;
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/moto");
    let done = folder.join(format!("moto-{VERSION}.dist-info"));
    if !done.exists() {
        let output = Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--upgrade", "--target"])
            .arg(&folder)
            .args([&format!("moto[glue,s3]=={VERSION}"), "flask", "flask-cors"])
            .output()
            .map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
    }
    Ok(folder)
}
