//! What the tests of the binary share.

// every test file is a crate of its own and uses its part of this
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod floor;
pub mod transcript;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The binary under test.
pub const CALVE: &str = env!("CARGO_BIN_EXE_calve");

/// The folder of test files beside the crates.
pub fn sql_tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql-tests").canonicalize().expect("sql-tests")
}

/// A command for the binary with a plain environment.
pub fn calve() -> Command {
    plain(Command::new(CALVE))
}

/// Takes out of a command's environment what changes how the binary behaves.
pub fn plain(mut command: Command) -> Command {
    command.env_remove("NO_COLOR").env("TZ", "UTC").stdin(Stdio::null());
    command
}

/// Runs a command to its end, or kills it after `timeout`; `None` then.
pub fn run_for(mut command: Command, timeout: Duration) -> Option<Output> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("spawn");
    let stdout = drain(child.stdout.take().expect("stdout"));
    let stderr = drain(child.stderr.take().expect("stderr"));
    let status = wait_for(&mut child, timeout)?;
    Some(Output { status, stdout: stdout.join().expect("stdout"), stderr: stderr.join().expect("stderr") })
}

/// Waits for a child, or kills it after `timeout`; `None` then.
pub fn wait_for(child: &mut Child, timeout: Duration) -> Option<std::process::ExitStatus> {
    let deadline = Instant::now() + timeout;
    loop {
        if let Some(status) = child.try_wait().expect("wait") {
            return Some(status);
        }
        if Instant::now() > deadline {
            child.kill().expect("kill");
            child.wait().expect("wait");
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn drain(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("read");
        bytes
    })
}

/// Runs statements with `--output jsonl` in `dir` and gives the exit code and the objects.
pub fn jsonl(dir: &Path, args: &[&str]) -> (i32, Vec<Value>) {
    let output = calve().current_dir(dir).args(["--output", "jsonl"]).args(args).output().expect("run");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let objects = text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    (output.status.code().unwrap_or(-1), objects)
}

/// The files of a folder with an extension, sorted by name.
pub fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .expect("folder")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}

/// All files below a folder, as paths relative to it, sorted; empty if there is no such folder.
pub fn tree(dir: &Path) -> Vec<String> {
    fn walk(dir: &Path, root: &Path, out: &mut Vec<String>) {
        let Ok(entries) = std::fs::read_dir(dir) else { return };
        for entry in entries {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                walk(&path, root, out);
            } else {
                out.push(path.strip_prefix(root).expect("below").display().to_string());
            }
        }
    }
    let mut out = Vec::new();
    walk(dir, dir, &mut out);
    out.sort();
    out
}

/// Whether a name matches a pattern in which `*` stands for anything but a slash.
pub fn glob_matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| {
            let free = rest.find('/').unwrap_or(rest.len());
            (0..=free).filter(|at| rest.is_char_boundary(*at)).any(|at| glob_matches(tail, &rest[at..]))
        }),
    }
}

/// Maps over items on two threads, results in the items' order.
pub fn on_two_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((index, item)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    items.get(index).map(|item| (index, item))
                } {
                    let result = work(item);
                    done.lock().expect("lock").push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("lock");
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// How many differences to print: `CALVE_SHOW=20`; none by default.
pub fn differences_to_show() -> usize {
    std::env::var("CALVE_SHOW").ok().and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Which cases to run: `CALVE_ONLY=cast_*`; all by default.
pub fn selected(name: &str) -> bool {
    std::env::var("CALVE_ONLY").map_or(true, |pattern| glob_matches(&pattern, name))
}
