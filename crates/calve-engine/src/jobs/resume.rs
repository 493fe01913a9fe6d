//! A job that runs again under its id: what its earlier runs have committed, and how what is left is told and done.

use std::sync::Arc;

use calve_iceberg::Table;
use calve_iceberg::commit::{Earlier, JobInfo, JobSnapshot, earlier, utc};
use calve_iceberg::scan::{ScanOptions, provider};
use calve_planner::{Sink, TableEntry, TablePath};
use calve_types::{Error, Result};
use datafusion::catalog::TableProvider;

use super::identity::{JOB_ID, Job};
use super::sink;
use crate::options::Options;
use crate::query::Runner;
use crate::resolve::{IcebergHandle, chosen_version, downcast};
use crate::result::{Warning, WriteSummary};

/// What earlier runs of the job have committed of its writes, one answer for each sink. Nothing for a job that has an id of
/// its own.
///
/// # Errors
/// As [`committed_before`]; what a sink's options are wrong in.
pub(super) fn earlier_of(runner: &Runner<'_>, sinks: &[Sink], job: &Job) -> Result<Vec<Option<JobSnapshot>>> {
    if !job.is_given {
        return Ok(vec![None; sinks.len()]);
    }
    let of = |(sink, info): (&Sink, &JobInfo)| match sink::branch(runner, sink)? {
        Some((table, branch)) => {
            committed_before(table, &branch, info, &sink.table.path).map_err(|error| error.at(sink.span))
        }
        None => Ok(None),
    };
    sinks.iter().zip(job.infos()).map(of).collect()
}

/// The snapshot of a write that an earlier run of its job has committed to the table.
///
/// # Errors
/// `job-id-reused` if that run had another write at its place; `job-history-expired` if nobody can tell; `not-a-branch`.
pub(crate) fn committed_before(
    table: &Table,
    branch: &str,
    info: &JobInfo,
    path: &TablePath,
) -> Result<Option<JobSnapshot>> {
    if info.place.is_none() {
        return Ok(None);
    }
    let id = &info.job_id;
    match earlier(table, branch, info)? {
        Earlier::Committed(snapshot) => Ok(Some(snapshot)),
        Earlier::None => Ok(None),
        Earlier::Other(snapshot) => {
            let place = snapshot.place.unwrap_or_default();
            Err(Error::new("job-id-reused", format!("job {id} has committed another statement to table '{path}'"))
                .with_detail(format!("Its write {place} is snapshot {}, and was another one.", snapshot.snapshot_id))
                .with_hint(format!("take a new '{JOB_ID}' for each run of a script; to run it again, leave it as it was")))
        }
        Earlier::Expired { since } => Err(Error::new(
            "job-history-expired",
            format!("nobody knows whether job {id} has committed to table '{path}'"),
        )
        .with_detail(format!(
            "The snapshots before {} have expired, and that of the job may have been among them.",
            utc(since)
        ))
        .with_hint(format!(
            "look whether the rows are in; for another run take a UUID of version 7 as '{JOB_ID}': it tells when the job began"
        ))),
    }
}

/// What a write did in an earlier run.
pub(crate) fn summary(path: &TablePath, snapshot: &JobSnapshot) -> WriteSummary {
    let count = |files: u64| usize::try_from(files).unwrap_or(usize::MAX);
    WriteSummary {
        table: path.to_string(),
        rows: snapshot.rows,
        data_files: count(snapshot.data_files),
        delete_files: count(snapshot.delete_files),
        snapshot_id: Some(snapshot.snapshot_id),
        committed_before: Some(snapshot.committed_at),
        ..WriteSummary::default()
    }
}

/// Says of a statement set that was ended between its commits which of its tables lack the snapshot of the job.
pub(super) fn warning(sinks: &[Sink], earlier: &[Option<JobSnapshot>]) -> Warning {
    let all = || sinks.iter().zip(earlier);
    let done = all().filter_map(|(sink, snapshot)| {
        Some(format!("'{}' (snapshot {})", sink.table.path, snapshot.as_ref()?.snapshot_id))
    });
    let missing = all().filter(|(_, snapshot)| snapshot.is_none()).map(|(sink, _)| format!("'{}'", sink.table.path));
    let list = |names: Vec<String>| names.join(", ");
    let message = format!(
        "an earlier run of the job committed to {} and not to {}: only what is missing is written now",
        list(done.collect()),
        list(missing.collect())
    );
    Warning::new("resumed", message)
}

/// A table that a statement set has committed to in an earlier run: what is left of the set reads it as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pin {
    table: uuid::Uuid,
    branch: String,
    /// The snapshot before that of the job.
    snapshot: Option<i64>,
    /// That of the job.
    of: JobSnapshot,
}

/// The pins of sinks that are committed.
///
/// # Errors
/// What a sink's options are wrong in.
pub(super) fn pins(runner: &Runner<'_>, sinks: &[Sink], earlier: &[Option<JobSnapshot>]) -> Result<Vec<Pin>> {
    let mut pins: Vec<Pin> = vec![];
    for (sink, snapshot) in sinks.iter().zip(earlier) {
        let (Some(snapshot), Some((table, branch))) = (snapshot, sink::branch(runner, sink)?) else { continue };
        let pin = Pin { table: table.metadata().uuid(), branch, snapshot: snapshot.parent_id, of: snapshot.clone() };
        let age = |pin: &Pin| (pin.of.sequence_number, pin.of.committed_at);
        match pins.iter_mut().find(|other| other.table == pin.table && other.branch == pin.branch) {
            // the set saw the table as it was before the first of its commits
            Some(other) if age(&pin) < age(other) => *other = pin,
            Some(_) => {}
            None => pins.push(pin),
        }
    }
    Ok(pins)
}

/// The provider of a table that is pinned; `None` for others, and where the query chooses a version itself.
pub(crate) fn pinned(options: &Options, entry: &TableEntry, pins: &[Pin]) -> Option<Result<Arc<dyn TableProvider>>> {
    let handle = downcast::<IcebergHandle>(&entry.handle).filter(|_| !pins.is_empty())?;
    let branch = match chosen_version(&handle.hints) {
        None => "main",
        Some("branch") => handle.hints.get("branch").map_or("main", String::as_str),
        Some(_) => return None,
    };
    let uuid = handle.table.metadata().uuid();
    let pin = pins.iter().find(|pin| pin.table == uuid && pin.branch == branch)?;
    Some(before(options, entry, handle, pin))
}

fn before(options: &Options, entry: &TableEntry, handle: &IcebergHandle, pin: &Pin) -> Result<Arc<dyn TableProvider>> {
    let mut hints = handle.hints.clone();
    hints.remove("branch");
    hints.extend(pin.snapshot.map(|id| ("snapshot-id".to_owned(), id.to_string())));
    let scan = ScanOptions::resolve(&handle.table, &hints, options.all()).map_err(|error| {
        let why = format!(
            "The statement set goes on where an earlier run of the job ended: it reads '{}' as it was before snapshot {}.",
            entry.path, pin.of.snapshot_id
        );
        let detail = error.detail.as_ref().map_or_else(|| why.clone(), |detail| format!("{detail} {why}"));
        error.with_detail(detail)
    })?;
    let scan = if pin.snapshot.is_none() { scan.before_first_snapshot() } else { scan };
    let provider = provider(handle.table.clone(), scan)?;
    match &handle.declared {
        Some(declared) => declared.provider(&handle.table, provider),
        None => Ok(provider),
    }
}

/// The command that tells whether a write of unknown outcome happened.
pub(crate) fn verify_command(path: &TablePath, branch: &str, info: &JobInfo, is_one_of_several: bool) -> String {
    let mut command = format!("calve verify-commit --job-id {}", info.job_id);
    if is_one_of_several || info.place.is_some() {
        command += &format!(" --operator-id {}", info.operator_id);
    }
    if branch != "main" {
        command += &format!(" --branch {}", shell_word(branch));
    }
    let part = |part: &str| match is_plain(part) && !calve_sql::is_reserved(part) {
        true => part.to_owned(),
        false => calve_sql::print::identifier(part),
    };
    let name = [&path.catalog, &path.database, &path.table].map(|name| part(name)).join(".");
    format!("{command} {}", shell_word(&name))
}

/// The error of a write of unknown outcome, with what to do about it.
pub(crate) fn explained(error: Error, command: &str, job_id: &str, is_given: bool) -> Error {
    if error.code != "commit-unknown" {
        return error;
    }
    error.with_hint(format!("{command}\ntells whether it happened; or {}", again(job_id, is_given)))
}

/// How a job is to be run again.
pub(super) fn again(job_id: &str, is_given: bool) -> String {
    match is_given {
        true => format!("run the script again with the same '{JOB_ID}': what is in is not committed again"),
        false => format!(
            "run the statement again, alone and unchanged, with -D {JOB_ID}={job_id}: what is in is not committed again"
        ),
    }
}

fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A word that a shell takes as it is.
fn shell_word(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
    match !word.is_empty() && !word.starts_with('-') && word.chars().all(harmless) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn the_command_is_one_for_a_shell() {
        let path = |table: &str| TablePath { catalog: "ice".into(), database: "db".into(), table: table.into() };
        let info = JobInfo { job_id: "a".repeat(32), operator_id: "b".repeat(32), ..JobInfo::default() };
        let id = &info.job_id;
        assert_eq!(
            verify_command(&path("t"), "main", &info, false),
            format!("calve verify-commit --job-id {id} ice.db.t")
        );
        assert_eq!(
            verify_command(&path("it's-t"), "a b", &info, true),
            format!(
                "calve verify-commit --job-id {id} --operator-id {} --branch 'a b' 'ice.db.`it'\\''s-t`'",
                info.operator_id
            )
        );
    }
}
