//! Tests in processes of their own, and faults of the file system below them: a library (`sql-tests/faults/faults.c`) that is loaded before the C library
//! counts the calls on files below a folder, and makes them go wrong. It is told what to do by the names of files that are
//! none.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::injector::Kind;

/// The variable that says which folder calls are counted below.
const ROOT: &str = "CALVE_FAULT_ROOT";

/// Numbers of errors (errno(3)).
const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// The ways in which calls on files go wrong.
pub const KINDS: [Kind; 8] = [
    Kind::Refused,
    Kind::Busy,
    Kind::LostReply,
    Kind::CutReply,
    Kind::Hang,
    Kind::DoneHang,
    Kind::Gone,
    Kind::AllRefused,
];

/// What is asked of the library, and what it says: calls, hits, whether one hangs, the first hit.
fn ask(order: &str) -> (usize, usize, bool, String) {
    let text = std::fs::read_to_string(format!("/calve-fault/{order}")).expect("the library is loaded");
    let mut words = text.trim_end().splitn(4, ' ');
    let mut next = || words.next().unwrap_or_default().to_owned();
    (next().parse().unwrap(), next().parse().unwrap(), next() == "1", next())
}

/// As [`crate::injector::Injector::arm`].
pub fn arm(fault: Option<(usize, Kind)>) {
    let order = match fault {
        None => "none:0:0/RWD".to_owned(),
        Some((at, kind)) => match kind {
            Kind::Refused => format!("fail:{at}:{EIO}/RWD"),
            // calls that are interrupted are made again
            Kind::Busy => format!("fail:{at}:{EINTR}/RWD"),
            Kind::LostReply => format!("lost:{at}:{EIO}/RWD"),
            Kind::CutReply => format!("short:{at}:0/RWD"),
            Kind::Hang => format!("hang:{at}:0/RWD"),
            Kind::DoneHang => format!("donehang:{at}:0/RWD"),
            Kind::Gone => format!("from:{at}:{EIO}/RWD"),
            // a disk that is full can be read
            Kind::AllRefused => format!("from:{at}:{ENOSPC}/W"),
            Kind::LostRequest | Kind::LostForGood | Kind::DoneBut => panic!("{kind} is no fault of a disk"),
        },
    };
    ask(&format!("arm/{order}"));
}

/// As [`crate::injector::Injector::disarm`].
pub fn disarm() -> (usize, Vec<String>) {
    let (calls, hits, _, first) = ask("disarm");
    (calls, if hits > 0 { vec![format!("call {first}")] } else { vec![] })
}

/// As [`crate::injector::Injector::held`].
pub async fn held() {
    while !ask("status").2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// As [`crate::injector::Injector::release`].
pub fn release() {
    ask("release");
}

/// The folder that calls are counted below; `None` in a process that was not started by [`run_apart`].
pub fn root() -> Option<PathBuf> {
    std::env::var_os(ROOT).map(PathBuf::from)
}

/// Runs a test of this program in a process of its own, with the library if `preloaded`.
pub fn run_apart(test: &str, preloaded: bool) {
    let folder = tempfile::tempdir().unwrap();
    let (root, none) = (folder.path().join("root"), folder.path().join("none"));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(&none, "").unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(ROOT, &root);
    // nothing is encrypted, and a hundred certificates for each of a thousand clients take half of the time
    command.env("SSL_CERT_FILE", &none).env("SSL_CERT_DIR", &root);
    if preloaded {
        let Some(library) = compiled(folder.path()) else {
            eprintln!("skipped: {test}: no C compiler, or not on Linux");
            return;
        };
        command.env("LD_PRELOAD", &library).env("CALVE_FAULT_CONTROL", "1");
    }
    assert!(command.status().unwrap().success(), "{test} failed in its process");
}

/// The library, made in a folder; `None` where that is not possible.
fn compiled(folder: &Path) -> Option<PathBuf> {
    let library = folder.join("faults.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql-tests/faults/faults.c");
    let arguments = ["-std=gnu11", "-O2", "-shared", "-fPIC", "-o"];
    let status = Command::new("cc").args(arguments).args([&library, &source]).arg("-ldl").status();
    status.is_ok_and(|status| status.success()).then_some(library)
}
