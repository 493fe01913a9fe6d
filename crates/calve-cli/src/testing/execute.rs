//! Runs one test: its script in a process, a session and a folder of its own.
//!
//! A process, because a script's relative paths then lead into the fresh folder, a test that hangs can be ended, and one
//! that brings its process down fails alone.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use super::find::Test;
use super::mask::Masks;
use super::report::Counts;
use super::transcript;
use crate::invocation;

/// Ends of calve that a transcript can tell of: done, a statement failed, a commit's outcome is unknown.
const TOLD: [i32; 3] = [0, 2, 3];
/// How often a running test is looked at.
const TICK: Duration = Duration::from_millis(5);
/// Characters of standard error that are shown of a test that could not be run.
const SHOWN: usize = 2_000;

/// How tests are run.
#[derive(Debug)]
pub struct Conditions {
    /// This program.
    pub calve: PathBuf,
    /// Options before those of `-D`, and they.
    pub options: Vec<(String, String)>,
    /// The script of `-i`.
    pub init: Option<PathBuf>,
    /// Time for one test.
    pub timeout: Duration,
    /// Memory for one test, in bytes.
    pub memory_limit: Option<u64>,
}

/// Runs a test and gives its transcript, and how many statements there were. `stop` ends it early.
///
/// # Errors
/// Sentences on why there is no transcript.
pub fn transcript(test: &Test, conditions: &Conditions, stop: &AtomicBool) -> Result<(String, Counts), String> {
    let holder = tempfile::Builder::new().prefix("calve-test-").tempdir();
    let holder = holder.map_err(|e| format!("cannot make a temporary folder: {e}"))?;
    let root = fs::canonicalize(holder.path()).map_err(|e| format!("cannot find the temporary folder: {e}"))?;
    let tmp = root.join("tmp");
    fs::create_dir(&tmp).map_err(|e| format!("cannot make a temporary folder: {e}"))?;

    let data = folder_of(&test.script)?;
    let script = root.join("script.sql");
    substitute(&test.script, &script, &[("${DATA}", &data), ("${TMP}", &tmp)])?;
    let mut command = Command::new(&conditions.calve);
    command.args(["run", "--keep-going", "--output", "jsonl"]);
    for (key, value) in &conditions.options {
        command.arg("-D").arg(format!("{key}={value}"));
    }
    if let Some(bytes) = conditions.memory_limit {
        command.arg("--memory-limit").arg(bytes.to_string());
    }
    if let Some(init) = &conditions.init {
        let init_data = folder_of(init)?;
        let copy = root.join("init.sql");
        substitute(init, &copy, &[("${DATA}", &init_data), ("${TMP}", &tmp)])?;
        command.arg("-i").arg(copy);
    }
    command.arg(&script).current_dir(&tmp).env("TZ", "UTC").env("NO_COLOR", "1");

    let from = SystemTime::now();
    let (status, stdout, stderr) = run(command, &root, conditions.timeout, stop)?;
    let to = SystemTime::now();

    let mut masks = Masks::new(&[(&tmp, "${TMP}"), (&data, "${DATA}")]);
    if !status.code().is_some_and(|code| TOLD.contains(&code)) {
        return Err(format!("calve {}{}", describe(status), quoted(&masks.text(&stderr))));
    }
    let objects = objects(&stdout)?;
    let failed = objects.iter().filter(|object| object["status"] == "error").count();
    if !status.success() && failed == 0 {
        // an -i script that fails, or a wrong option, ends the run before its first statement; an open statement set ends it
        // before its INSERTs ran
        let how = if objects.is_empty() { "was not run" } else { "did not run to its end" };
        return Err(format!("the script {how}{}", quoted(&masks.text(&stderr))));
    }
    masks.ran(from, to);
    masks.jobs(&objects);
    masks.learn(&tmp);
    Ok((transcript::write(&objects, &masks), Counts { statements: objects.len(), failed }))
}

/// The folder that a script lies in.
fn folder_of(script: &Path) -> Result<PathBuf, String> {
    let script = fs::canonicalize(script).map_err(|e| format!("cannot read '{}': {e}", script.display()))?;
    Ok(script.parent().map(Path::to_path_buf).unwrap_or_default())
}

/// Copies a script with variables replaced. They stand in string literals, where a quote is doubled.
fn substitute(from: &Path, to: &Path, variables: &[(&str, &Path)]) -> Result<(), String> {
    let mut text = invocation::read(from).map_err(|e| e.to_string())?.text;
    for (name, path) in variables {
        text = text.replace(name, &path.display().to_string().replace('\'', "''"));
    }
    fs::write(to, text).map_err(|e| format!("cannot write '{}': {e}", to.display()))
}

/// Runs a command to its end; what it printed goes through files, which cannot fill up as pipes do.
fn run(
    mut command: Command,
    root: &Path,
    timeout: Duration,
    stop: &AtomicBool,
) -> Result<(ExitStatus, String, String), String> {
    let (stdout, stderr) = (root.join("stdout"), root.join("stderr"));
    let open = |path: &Path| File::create(path).map_err(|e| format!("cannot write '{}': {e}", path.display()));
    command.stdin(Stdio::null()).stdout(open(&stdout)?).stderr(open(&stderr)?);
    let mut child = command.spawn().map_err(|e| format!("cannot start calve: {e}"))?;
    let began = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(e) => return Err(format!("cannot wait for calve: {e}")),
        }
        let why = match () {
            () if stop.load(Ordering::Relaxed) => "interrupted".to_owned(),
            () if began.elapsed() > timeout => format!("not done after {} seconds", timeout.as_secs()),
            () => {
                std::thread::sleep(TICK);
                continue;
            }
        };
        let _ = child.kill();
        let _ = child.wait();
        return Err(why);
    };
    let text = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let read = |path: &Path| text(path).map_err(|e| format!("cannot read what calve printed: {e}"));
    Ok((status, read(&stdout)?, read(&stderr)?))
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// The end of what calve said, if it said anything.
fn quoted(stderr: &str) -> String {
    let text = stderr.trim();
    let skipped = text.chars().count().saturating_sub(SHOWN);
    let end: String = text.chars().skip(skipped).collect();
    if end.is_empty() { String::new() } else { format!(":\n{end}") }
}

fn objects(stdout: &str) -> Result<Vec<Value>, String> {
    let mut objects = Vec::new();
    for line in stdout.lines() {
        let object: Value = serde_json::from_str(line).map_err(|e| format!("cannot read what calve printed: {e}"))?;
        // the single rows of a query that runs on come before its object, which has them all or has its error
        if object.get("status").is_some() {
            objects.push(object);
        }
    }
    Ok(objects)
}
