//! `calve test`: scripts with recorded results.
//!
//! [`find`] lists the scripts, [`execute`] runs each in a process and a folder of its own and writes down what its statements
//! gave ([`transcript`], with [`mask`]ed ids and times); [`diff`] shows how that differs from the `.out` file beside the
//! script, and [`report`] tells of it.

mod diff;
mod execute;
mod find;
mod mask;
mod report;
mod transcript;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use crate::args::TestArgs;
use crate::diagnostics::{colours_on, say};
use crate::exit::Exit;
use crate::memory;
use crate::run::on_runtime;
use crate::signals::Signals;
use execute::Conditions;
use find::Test;
use report::Outcome;

/// What every test begins with: the same everywhere.
const OPTIONS: [(&str, &str); 2] = [("parallelism.default", "1"), ("table.local-time-zone", "UTC")];

/// Runs `calve test`.
pub fn run(args: TestArgs) -> Exit {
    let (tests, unrecorded) = match selected(&args) {
        Ok(tests) => tests,
        Err(why) => {
            say(format_args!("calve: {why}"));
            return Exit::Usage;
        }
    };
    if let Some(path) = &args.junit
        && let Err(why) = report::can_write(path)
    {
        say(format_args!("calve: {why}"));
        return Exit::Usage;
    }
    let calve = match std::env::current_exe() {
        Ok(calve) => calve,
        Err(e) => {
            say(format_args!("calve: cannot find the program to run tests with: {e}"));
            return Exit::Problems;
        }
    };
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let jobs = jobs.min(tests.len());
    let own = OPTIONS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let conditions = Conditions {
        calve,
        options: own.chain(args.define.iter().cloned()).collect(),
        init: args.init.clone(),
        timeout: Duration::from_secs(args.timeout),
        memory_limit: args.memory_limit.or_else(|| Some(memory::default_limit()? / jobs as u64)),
    };
    on_runtime(async move {
        let mut signals = match Signals::install() {
            Ok(signals) => signals,
            Err(e) => {
                say(format_args!("calve: cannot handle signals: {e}"));
                return Exit::Problems;
            }
        };
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let mut work =
            tokio::task::spawn_blocking(move || all(&args, &tests, &unrecorded, &conditions, jobs, &stopped));
        tokio::select! {
            exit = &mut work => exit.unwrap_or(Exit::Problems),
            signal = signals.next() => {
                // the tests that run are ended and their folders removed
                stop.store(true, Ordering::Relaxed);
                let _ = work.await;
                Exit::Signalled(signal)
            }
        }
    })
}

/// The tests that a command line names, and the scripts without recorded results, which are none yet.
fn selected(args: &TestArgs) -> Result<(Vec<Test>, Vec<Test>), String> {
    let places = args.paths.iter().map(|path| format!("'{}'", path.display())).collect::<Vec<_>>().join(", ");
    let mut tests = find::tests(&args.paths)?;
    if tests.is_empty() {
        return Err(format!("no tests in {places}: a test is a .sql file"));
    }
    if !args.only.is_empty() {
        tests.retain(|test| args.only.iter().any(|pattern| find::selects(pattern, &test.name)));
        if tests.is_empty() {
            return Err(format!("no test in {places} matches '{}'", args.only.join("', '")));
        }
    }
    if let Some(init) = &args.init {
        let init = std::fs::canonicalize(init).map_err(|e| format!("cannot read script '{}': {e}", init.display()))?;
        tests.retain(|test| std::fs::canonicalize(&test.script).ok().as_ref() != Some(&init));
    }
    let (recorded, unrecorded): (Vec<_>, Vec<_>) =
        tests.into_iter().partition(|test| args.accept || test.recorded().exists());
    if recorded.is_empty() {
        let n = unrecorded.len();
        return Err(format!("no tests in {places}: of {n} .sql files none has a .out; --accept records them"));
    }
    Ok((recorded, unrecorded))
}

/// Runs the tests and tells of them.
fn all(
    args: &TestArgs,
    tests: &[Test],
    unrecorded: &[Test],
    conditions: &Conditions,
    jobs: usize,
    stop: &AtomicBool,
) -> Exit {
    let began = Instant::now();
    let next = AtomicUsize::new(0);
    let (sender, finished) = mpsc::channel();
    let mut results: Vec<(&str, Outcome, Duration)> = Vec::with_capacity(tests.len());
    let mut told = Ok(());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(test) = tests.get(index) else { break };
                    let began = Instant::now();
                    let outcome = one(test, args.accept, conditions, stop);
                    let _ = sender.send((index, outcome, began.elapsed()));
                }
            });
        }
        drop(sender);
        // told in the order of their names, whichever is done first
        let mut waiting = BTreeMap::new();
        for (index, outcome, time) in finished {
            waiting.insert(index, (outcome, time));
            while let Some((outcome, time)) = waiting.remove(&results.len()) {
                let Some(test) = tests.get(results.len()) else { break };
                if told.is_ok() && !stop.load(Ordering::Relaxed) {
                    told = tell(test, &outcome);
                }
                results.push((&test.name, outcome, time));
            }
        }
    });
    if stop.load(Ordering::Relaxed) {
        return Exit::Problems;
    }
    for test in unrecorded {
        say(format_args!("not run: {} has no .out; --accept records it", test.script.display()));
    }
    let failed = results.iter().filter(|(_, outcome, _)| !outcome.is_good()).count();
    let mut exit = if failed == 0 { Exit::Done } else { Exit::Problems };
    if let Some(path) = &args.junit {
        let results: Vec<_> = results.iter().map(|(name, outcome, time)| (*name, outcome, *time)).collect();
        if let Err(why) = report::junit(path, &results, began.elapsed()) {
            say(format_args!("calve: {why}"));
            exit = Exit::Problems;
        }
    }
    let told = told.and_then(|()| writeln!(io::stdout(), "{} passed, {failed} failed", results.len() - failed));
    match told {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            say(format_args!("calve: cannot write to standard output: {e}"));
            Exit::Problems
        }
        _ => exit,
    }
}

/// Runs one test, and records its results if `accept`.
fn one(test: &Test, accept: bool, conditions: &Conditions, stop: &AtomicBool) -> Outcome {
    let (now, counts) = match execute::transcript(test, conditions, stop) {
        Ok(ran) => ran,
        Err(why) => return Outcome::Broken(why),
    };
    let path = test.recorded();
    let recorded = match read(&path) {
        Ok(recorded) => recorded,
        Err(_) if accept => String::new(),
        Err(why) => return Outcome::Broken(why),
    };
    if recorded == now && path.exists() {
        return Outcome::Passed;
    }
    if !accept {
        return Outcome::Differs(diff::unified(&path.display().to_string(), &recorded, &now));
    }
    match report::write_whole(&path, &now) {
        Ok(()) => Outcome::Recorded(counts),
        Err(why) => Outcome::Broken(why),
    }
}

/// Recorded results; version control may have changed the ends of their lines.
fn read(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read '{}': {e}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
}

fn tell(test: &Test, outcome: &Outcome) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let script = test.script.display();
    match outcome {
        Outcome::Passed => Ok(()),
        Outcome::Recorded(counts) => writeln!(out, "recorded {} ({counts})", test.recorded().display()),
        Outcome::Differs(difference) => {
            writeln!(out, "FAILED {script}")?;
            let difference =
                if colours_on(io::stdout().is_terminal()) { diff::coloured(difference) } else { difference.clone() };
            writeln!(out, "{difference}")
        }
        Outcome::Broken(why) => writeln!(out, "FAILED {script}\n{why}\n"),
    }
}
