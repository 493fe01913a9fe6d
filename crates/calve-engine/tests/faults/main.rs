//! Every statement that writes, with every call that it makes on storage or on its catalog going wrong in every way. After
//! each: the tables are as before it or as after it, as it was told; no file that they name is missing; what is left over
//! is named in the message; the statement, run again under its job's id, has been done once.
//!
//! `CALVE_FAULTS` is how many faults there are, spread over all statements, calls and ways; `all` for all. `CALVE_SEED`
//! says where they begin. `CALVE_CASE` and `CALVE_CATALOG` keep only the statements and the catalog of that name.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
#[path = "../common/mod.rs"]
mod common;
mod disk;
mod injector;
#[path = "../../../calve-iceberg/tests/rest_server/mod.rs"]
mod rest_server;
mod s3;
mod view;
mod world;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use calve_engine::{CommitMark, CommitVerdict, Session, StatementResult};
use calve_types::Error;

use cases::{CASES, Case, Promise, quick};
use common::{run, try_run};
use injector::Kind;
use view::{Files, View};
use world::{Lake, State, World};

/// The id of the job that is faulted, and run again.
const JOB: &str = "0123456789abcdef0123456789abcdef";
/// The id of what comes before it.
const SETUP: &str = "fedcba9876543210fedcba9876543210";
/// Nothing takes longer, whatever hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a statement said.
#[derive(Debug)]
enum Told {
    /// It is done; its warnings.
    Done(String),
    /// It is not done.
    Failed(Error),
    /// It may be done, or in part.
    Unknown(Error),
    /// It was cancelled before it had begun to commit.
    Cancelled,
}

impl Told {
    fn of_result(result: Result<Option<StatementResult>, Error>) -> Self {
        match result {
            Ok(result) => Self::Done(format!("{:?}", result.map(|result| result.warnings))),
            Err(error) => Self::of_error(error),
        }
    }

    fn of_error(error: Error) -> Self {
        if error.may_have_committed() { Self::Unknown(error) } else { Self::Failed(error) }
    }

    fn of_settled<T>(settled: Option<Result<T, Error>>) -> Self {
        match settled {
            None => Self::Cancelled,
            Some(Ok(_)) => Self::Done(String::new()),
            Some(Err(error)) => Self::of_error(error),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Failed(_) => "failed",
            Self::Unknown(_) => "unknown",
            Self::Cancelled => "cancelled",
        }
    }

    /// All that a person can read.
    fn text(&self) -> String {
        match self {
            Self::Done(warnings) => warnings.clone(),
            Self::Failed(error) | Self::Unknown(error) => {
                let detail = error.detail.as_deref().unwrap_or_default();
                format!("{}: {} | {detail} | {}", error.code, error.message, error.hint.as_deref().unwrap_or_default())
            }
            Self::Cancelled => String::new(),
        }
    }
}

/// A case that is ready to be run again and again.
struct Ready {
    case: Case,
    state: State,
    before: View,
    after: View,
    /// How many calls it makes, with requests that are tried again and without.
    calls: usize,
}

/// Runs the setup, and the statement once without faults.
///
/// # Errors
/// What is wrong without any fault.
async fn ready(world: &World, case: Case) -> Result<Ready, String> {
    let wrong = |what: String| format!("{} on {}, without a fault: {what}", case.name, world.lake);
    world.reset().await;
    let mut session = world.session(true, 1, SETUP).await;
    run(&mut session, &quick(case.setup)).await;
    let (state, before) = (world.save(), View::read(&mut session).await.map_err(|e| wrong(format!("{e:?}")))?);
    let (told, calls, _) = attempt(world, &case, None).await;
    if !matches!(told, Told::Done(_)) {
        return Err(wrong(told.text()));
    }
    let after = View::read(&mut session).await.map_err(|e| wrong(format!("{e:?}")))?;
    if (before.rows(), after.rows()) != case.rows {
        return Err(wrong(format!("{before:?} {after:?}")));
    }
    let Files { missing, left } = Files::read(world).await;
    // a REST server deletes the files of a dropped table, and this one only those of a disk
    let is_servers = case.promise == Promise::Drop && world.lake == Lake::Rest;
    if !missing.is_empty() || !left.is_empty() && !is_servers {
        return Err(wrong(format!("files are missing: {missing:?}, or left: {left:?}")));
    }
    Ok(Ready { case, state, before, after, calls })
}

/// Runs a statement with a fault: what it said, how many calls it made, and at which something went wrong.
async fn attempt(world: &World, case: &Case, fault: Option<(usize, Kind)>) -> (Told, usize, Vec<String>) {
    let retried = fault.is_none_or(|(_, kind)| kind.is_retried());
    let mut session = world.session(retried, case.parallelism, JOB).await;
    let script = quick(case.sql);
    world.arm(fault);
    let done = {
        let mut statement = Box::pin(try_run(&mut session, &script));
        let limited = tokio::time::timeout(PATIENCE, async {
            tokio::select! {
                done = &mut statement => Some(done),
                () = world.held() => None,
            }
        });
        limited.await.unwrap_or_else(|_| panic!("{} with {fault:?} hangs", case.name))
    };
    let told = match done {
        Some(result) => Told::of_result(result),
        None => {
            let release = async {
                tokio::time::sleep(Duration::from_millis(10)).await;
                world.release();
            };
            let settled = tokio::time::timeout(PATIENCE, async { tokio::join!(session.settle(), release).0 });
            let settled = settled.await.unwrap_or_else(|_| panic!("{} with {fault:?} does not end", case.name));
            // the next statement tells of files that are left
            let next = try_run(&mut session, "SHOW CATALOGS").await;
            match (Told::of_settled(settled), next) {
                (Told::Done(_), Ok(Some(next))) => Told::Done(format!("{:?}", next.warnings)),
                (Told::Failed(error), Ok(Some(next))) => {
                    let detail = format!("{:?} {:?}", error.detail, next.warnings);
                    Told::Failed(error.with_detail(detail))
                }
                (told, _) => told,
            }
        }
    };
    let (calls, hit) = world.disarm();
    (told, calls, hit)
}

/// Runs a statement with a fault and looks at what it did. What it said, `None` if there was no fault.
async fn faulted(world: &World, ready: &Ready, at: usize, kind: Kind) -> Result<Option<&'static str>, String> {
    let case = &ready.case;
    world.restore(&ready.state);
    let (told, _, hit) = attempt(world, case, Some((at, kind))).await;
    if hit.is_empty() {
        return Ok(None);
    }
    let story = |what: String| {
        let first = hit.first().cloned().unwrap_or_default();
        format!("{} on {}, {kind} at {first}: {what}\n  told {}: {}", case.name, world.lake, told.name(), told.text())
    };
    let mut reader = world.session(true, 1, SETUP).await;
    let view = View::read(&mut reader).await.map_err(|e| story(format!("the tables cannot be read: {e}")))?;
    judge(ready, &told, &view).map_err(&story)?;
    let files = Files::read(world).await;
    if !files.missing.is_empty() {
        return Err(story(format!("files are missing: {:?}", files.missing)));
    }
    check_left(world, ready, &told, (kind, &hit), &files).map_err(&story)?;
    if matches!(case.promise, Promise::Job | Promise::Set) {
        check_verdicts(&reader, ready, &told, &view).await.map_err(&story)?;
    }
    again(world, ready, &view).await.map_err(&story)?;
    Ok(Some(told.name()))
}

/// Whether the tables are as was told.
fn judge(ready: &Ready, told: &Told, view: &View) -> Result<(), String> {
    let Ready { case, before, after, .. } = ready;
    let part = after.only("t").over(before);
    let may_be: Vec<&View> = match (told, case.promise) {
        (Told::Done(_), _) => vec![after],
        (Told::Failed(_), _) => vec![before],
        (Told::Unknown(error), Promise::Set) if error.code == "partial-commit" => vec![&part],
        (Told::Unknown(_), Promise::Set) => vec![before, &part, after],
        (Told::Unknown(_), _) => vec![before, after],
        (Told::Cancelled, _) => vec![before],
    };
    if may_be.contains(&view) {
        return Ok(());
    }
    let known = [("before", before), ("after", after), ("after in part", &part)];
    let is = known.iter().find(|(_, other)| *other == view).map_or("in between", |(name, _)| name);
    Err(format!("the tables are {is}: {}", view.difference(may_be[0])))
}

/// Whether what is left is named.
fn check_left(
    world: &World,
    ready: &Ready,
    told: &Told,
    (kind, hit): (Kind, &[String]),
    files: &Files,
) -> Result<(), String> {
    // the files of a commit that may be in must stay; a REST server deletes the files of a dropped table, and this one only
    // those of a disk
    let is_servers = ready.case.promise == Promise::Drop && world.lake == Lake::Rest;
    if matches!(told, Told::Unknown(_)) || is_servers {
        return Ok(());
    }
    let text = told.text();
    let folders = |file: &str| file.match_indices('/').any(|(at, _)| text.contains(&format!("'{}'", &file[..at])));
    let is_unnamed = |file: &&String| !text.contains(file.as_str()) && !folders(file);
    let unnamed: Vec<&String> = files.left.iter().filter(is_unnamed).collect();
    // An upload that is not put together is no file. What was gone could not be told to forget it, and nobody knows the name of
    // one whose beginning got no answer.
    let is_nameless = hit.iter().any(|hit| hit.contains("?uploads"));
    let uploads = if kind.lasts() || is_nameless { 0 } else { world.uploads() };
    match (unnamed.is_empty(), uploads) {
        (true, 0) => Ok(()),
        (true, uploads) => Err(format!("{uploads} uploads are left")),
        (false, _) => Err(format!("files are left and not named: {unnamed:?}")),
    }
}

/// Whether `calve verify-commit` tells what happened.
async fn check_verdicts(reader: &Session, ready: &Ready, told: &Told, view: &View) -> Result<(), String> {
    let branch = if ready.case.sql.contains("'branch' = 'b'") { "b" } else { "main" };
    let tables: &[&str] = if ready.case.promise == Promise::Set { &["t", "u"] } else { &["t"] };
    for table in tables {
        let mark = CommitMark::Job { job_id: JOB.to_owned(), operator_id: None };
        let is_in = match reader.verify_commit(table, branch, &mark).await {
            Ok((_, CommitVerdict::Committed(_))) => true,
            Ok((_, CommitVerdict::NotCommitted)) => false,
            Err(error) if matches!(error.code, "unknown-table" | "unknown-ref") => false,
            other => return Err(format!("verify-commit of {table}: {other:?}")),
        };
        if is_in != (view.only(table) == ready.after.only(table)) {
            return Err(format!("verify-commit of {table} says {is_in} after {}", told.name()));
        }
    }
    Ok(())
}

/// Runs the statement again, under the same job's id: it is done once then.
async fn again(world: &World, ready: &Ready, view: &View) -> Result<(), String> {
    let Ready { case, before, after, .. } = ready;
    let is_job = matches!(case.promise, Promise::Job | Promise::Set);
    if !is_job && view != before {
        return Ok(());
    }
    let mut session = world.session(true, case.parallelism, JOB).await;
    if let Err(error) = try_run(&mut session, &quick(case.sql)).await {
        return Err(format!("run again: {error:?}"));
    }
    let view = View::read(&mut session).await.map_err(|e| format!("run again, the tables cannot be read: {e}"))?;
    match view == *after {
        true => Ok(()),
        false => Err(format!("run again, the tables are not as after it: {}", view.difference(after))),
    }
}

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Whether an environment variable, if it is set, is part of a name.
fn is_wanted(variable: &str, name: &str) -> bool {
    !std::env::var(variable).is_ok_and(|part| !name.contains(&part))
}

/// The faults that are tried, of all that there are.
fn chosen(all: usize, wanted: usize) -> impl Fn(usize) -> bool {
    let seed = number("CALVE_SEED", 0);
    let every = std::env::var("CALVE_FAULTS").is_ok_and(|n| n == "all");
    // multiples of an odd number modulo a power of two come by in no order that statements have
    move |n| every || all <= wanted || ((n + seed).wrapping_mul(0x9e37_79b1) & 0xffff) * all < (wanted << 16)
}

/// All faults of a catalog, or the share of it.
async fn faults(lake: Lake) {
    if !is_wanted("CALVE_CATALOG", &lake.to_string()) {
        return;
    }
    let (world, begun) = (World::new(lake), Instant::now());
    let (mut all, mut violations): (Vec<Ready>, Vec<String>) = (vec![], vec![]);
    for case in CASES.into_iter().filter(|case| is_wanted("CALVE_CASE", case.name)) {
        match ready(&world, case).await {
            Ok(ready) => all.push(ready),
            Err(violation) => violations.push(violation),
        }
    }
    let prepared = begun.elapsed();
    let kinds = lake.kinds();
    let total: usize = all.iter().map(|ready| ready.calls * kinds.len()).sum();
    let is_chosen = chosen(total, number("CALVE_FAULTS", 500) / 5);
    let mut counts: BTreeMap<(&str, Kind), usize> = BTreeMap::new();
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut tried, mut n) = (0_usize, 0);
    for ready in &all {
        for at in 1..=ready.calls {
            for &kind in kinds {
                n += 1;
                if !is_chosen(n) {
                    continue;
                }
                match faulted(&world, ready, at, kind).await {
                    Ok(None) => continue,
                    Ok(Some(outcome)) => *outcomes.entry(outcome).or_default() += 1,
                    Err(violation) => {
                        eprintln!("VIOLATION {violation}");
                        violations.push(violation);
                    }
                }
                tried += 1;
                *counts.entry((ready.case.name, kind)).or_default() += 1;
            }
        }
    }
    let mut table = format!("\n{:32}", format!("faults on {lake}"));
    for kind in kinds {
        let _ = write!(table, "{kind:>12}");
    }
    for ready in &all {
        let _ = write!(table, "\n{:32}", ready.case.name);
        for kind in kinds {
            let _ = write!(table, "{:>12}", counts.get(&(ready.case.name, *kind)).copied().unwrap_or(0));
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{table}\n{tried} of {total} faults, {outcomes:?}, {} violations, {seconds:.0} s ({:.0} s to prepare)",
        violations.len(),
        prepared.as_secs_f64()
    );
    assert!(violations.is_empty(), "{} violations, the first:\n{}", violations.len(), violations[0]);
}

/// Runs the faults of a catalog in a process of its own.
fn apart(lake: Lake, test: &str) {
    match disk::root() {
        None => disk::run_apart(test, lake.is_on_disk()),
        Some(_) => {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            runtime.unwrap().block_on(faults(lake));
        }
    }
}

#[test]
fn faults_on_hadoop() {
    apart(Lake::Hadoop, "faults_on_hadoop");
}

#[test]
fn faults_on_hadoop_on_disk() {
    apart(Lake::HadoopDisk, "faults_on_hadoop_on_disk");
}

#[test]
fn faults_on_jdbc() {
    apart(Lake::Jdbc, "faults_on_jdbc");
}

#[test]
fn faults_on_jdbc_on_disk() {
    apart(Lake::JdbcDisk, "faults_on_jdbc_on_disk");
}

#[test]
fn faults_on_rest() {
    apart(Lake::Rest, "faults_on_rest");
}
