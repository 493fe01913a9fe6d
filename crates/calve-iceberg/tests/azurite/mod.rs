//! Azurite, a server that speaks like Azure's store of blobs, for tests: installed with npm below `target`, started on a free
//! port of 127.0.0.1, and stopped when it is dropped. Where it cannot be installed the tests that need it say so.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The package that is installed.
const PACKAGE: &str = "azurite@3.37.0";

/// The account that every Azurite has.
const ACCOUNT: &str = "devstoreaccount1";

/// Its key, which is in the documentation.
pub const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// The container that is made.
const CONTAINER: &str = "box";

/// Makes a container: the only request that calve never makes.
const MAKE: &str = r#"
import base64, email.utils, hashlib, hmac, sys, urllib.request
endpoint, account, key, name = sys.argv[1:]
date = email.utils.formatdate(usegmt=True)
text = "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:2021-08-06\n/{account}/{account}/{name}\nrestype:container"
signature = base64.b64encode(hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()).decode()
headers = {"x-ms-date": date, "x-ms-version": "2021-08-06", "Authorization": f"SharedKey {account}:{signature}",
           "Content-Length": "0"}
request = urllib.request.Request(f"{endpoint}/{name}?restype=container", method="PUT", headers=headers)
urllib.request.urlopen(request, timeout=20).read()
"#;

/// A running server.
pub struct Server {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    /// Installs and starts a server with a container; `None`, with the reason on stderr, where that is not possible.
    pub async fn start(test: &str) -> Option<Self> {
        let program = match install() {
            Ok(program) => program,
            Err(why) => {
                eprintln!("skipped: {test}: Azurite cannot be installed: {why}");
                return None;
            }
        };
        // another process may take a port between its choice and its use
        let server = (0..3).find_map(|_| Self::started(&program)).expect("Azurite is installed and does not start");
        let made = Command::new("python3").args(["-c", MAKE, &server.endpoint(), ACCOUNT, KEY, CONTAINER]).output();
        let made = made.expect("python3 runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Some(server)
    }

    fn started(program: &PathBuf) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
        let child = Command::new(program)
            .args(["--silent", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry"])
            .args(["--blobHost", "127.0.0.1", "--blobPort", &port.to_string()])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Azurite starts");
        let mut server = Self { child, port, _folder: folder };
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

    fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}/{ACCOUNT}", self.port)
    }

    /// What locations in its container begin with.
    pub fn root(&self) -> String {
        format!("abfss://{CONTAINER}@{ACCOUNT}.dfs.core.windows.net")
    }

    /// The options of a catalog whose tables lie there.
    pub fn properties(&self) -> BTreeMap<String, String> {
        let connection = format!("AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={}", self.endpoint());
        BTreeMap::from([(format!("adls.connection-string.{ACCOUNT}"), connection)])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn install() -> Result<PathBuf, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/azurite");
    let program = folder.join("node_modules/.bin/azurite-blob");
    if !program.exists() {
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let output = Command::new("npm")
            .args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
            .args([folder.as_os_str(), PACKAGE.as_ref()])
            .output()
            .map_err(|e| format!("npm: {e}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
    }
    // one for another kind of machine is no reason to fail
    let runs = Command::new(&program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if runs.is_ok_and(|status| status.success()) { Ok(program) } else { Err("it does not run here".to_owned()) }
}
