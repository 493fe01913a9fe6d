//! Jobs in a table's history: what they write into the summaries of their snapshots, and how these are found again (the
//! recovery of the committer of Flink's sink).

use std::collections::{HashMap, HashSet};

use calve_types::{Error, Result};
use iceberg::spec::{Snapshot, SnapshotRef, TableMetadata};

use crate::table::Table;

/// The summary key of [`JobInfo::job_id`].
pub(crate) const JOB_ID: &str = "flink.job-id";
/// The summary key of [`JobInfo::operator_id`].
pub(crate) const OPERATOR_ID: &str = "flink.operator-id";
/// The summary key of [`JobInfo::checkpoint_id`].
pub(crate) const CHECKPOINT_ID: &str = "flink.max-committed-checkpoint-id";
/// The summary key of [`JobInfo::place`].
pub(crate) const PLACE: &str = "calve.job-place";

/// What one job writes into the summary of its snapshots (Flink's `FlinkSink`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobInfo {
    /// `flink.job-id`: 32 hexadecimal digits.
    pub job_id: String,
    /// `flink.operator-id`: 32 hexadecimal digits.
    pub operator_id: String,
    /// `flink.max-committed-checkpoint-id`; [`i64::MAX`] at the end of bounded input.
    pub checkpoint_id: i64,
    /// Of a job that may run again under its id: which of its writes this is, such as `2.1`. It is committed once: where
    /// the branch has a snapshot of the same job and operator, nothing is committed.
    pub place: Option<String>,
}

/// A snapshot of a job, as its summary tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSnapshot {
    /// The snapshot.
    pub snapshot_id: i64,
    /// The one before it in its branch.
    pub parent_id: Option<i64>,
    /// Its sequence number; 0 in a table of format version 1.
    pub sequence_number: i64,
    /// When it was committed, in milliseconds since 1970.
    pub committed_at: i64,
    /// `append`, `overwrite`, `delete` or `replace`.
    pub operation: String,
    /// The operator that wrote it; Flink's sink did not always tell.
    pub operator_id: Option<String>,
    /// The write of the job that it is: [`JobInfo::place`].
    pub place: Option<String>,
    /// Rows that were added (`added-records`).
    pub rows: u64,
    /// Data files that were added.
    pub data_files: u64,
    /// Delete files and deletion vectors that were added.
    pub delete_files: u64,
}

impl JobSnapshot {
    fn of(snapshot: &Snapshot) -> Self {
        let summary = &snapshot.summary().additional_properties;
        let count = |key: &str| summary.get(key).and_then(|value| value.parse().ok()).unwrap_or(0);
        Self {
            snapshot_id: snapshot.snapshot_id(),
            parent_id: snapshot.parent_snapshot_id(),
            sequence_number: snapshot.sequence_number(),
            committed_at: snapshot.timestamp_ms(),
            operation: snapshot.summary().operation.as_str().to_owned(),
            operator_id: summary.get(OPERATOR_ID).cloned(),
            place: summary.get(PLACE).cloned(),
            rows: count("added-records"),
            data_files: count("added-data-files"),
            delete_files: count("added-delete-files"),
        }
    }
}

/// Which commit is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitMark {
    /// That of a job: its newest one in the table, or the newest of an operator of it.
    Job {
        /// `flink.job-id`.
        job_id: String,
        /// `flink.operator-id`.
        operator_id: Option<String>,
    },
    /// The snapshot itself.
    Snapshot(i64),
}

/// What a table knows of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitVerdict {
    /// It is part of the branch.
    Committed(JobSnapshot),
    /// It happened, and no branch has it any more: because of a rollback, or because the table was replaced.
    TakenBack(JobSnapshot),
    /// It has not happened.
    NotCommitted,
    /// Nobody can tell: older snapshots of the branch have expired, and the commit may have been among them.
    Expired {
        /// The oldest snapshot of the branch that is left, in milliseconds since 1970.
        since: i64,
    },
}

/// Looks for a commit in the history of a branch.
///
/// # Errors
/// `unknown-ref` for a branch that there is not, `not-a-branch` for a tag.
pub fn verdict(table: &Table, branch: &str, mark: &CommitMark) -> Result<CommitVerdict> {
    let metadata = table.metadata();
    let head = match table.branch(branch)? {
        Some(reference) => metadata.snapshot_by_id(reference.snapshot_id),
        None if branch == iceberg::spec::MAIN_BRANCH => None,
        None => {
            return Err(Error::new("unknown-ref", format!("table '{}' has no branch '{branch}'", table.ident()))
                .with_detail("A write makes the branch: the commit that is looked for cannot be in it.")
                .with_hint("the metadata table '$refs' lists the branches and tags of a table"));
        }
    };
    let history = History::of(metadata, head);
    let is_it = |snapshot: &Snapshot| match mark {
        CommitMark::Snapshot(id) => snapshot.snapshot_id() == *id,
        CommitMark::Job { job_id, operator_id } => is_of(snapshot, job_id, operator_id.as_deref()),
    };
    if let Some(found) = history.snapshots.iter().find(|snapshot| is_it(snapshot)) {
        return Ok(CommitVerdict::Committed(JobSnapshot::of(found)));
    }
    let elsewhere = in_branches(table)?;
    let others =
        metadata.snapshots().filter(|snapshot| !elsewhere.contains(&snapshot.snapshot_id()) && is_it(snapshot));
    if let Some(found) = others.max_by_key(|snapshot| (snapshot.sequence_number(), snapshot.timestamp_ms())) {
        return Ok(CommitVerdict::TakenBack(JobSnapshot::of(found)));
    }
    let is_younger = |since| matches!(mark, CommitMark::Job { job_id, .. } if is_younger(job_id, since));
    Ok(match history.expired_before() {
        Some(since) if !is_younger(since) => CommitVerdict::Expired { since },
        _ => CommitVerdict::NotCommitted,
    })
}

/// A time in milliseconds since 1970, as people read it: `2026-01-31T12:00:00Z`.
pub fn utc(millis: i64) -> String {
    let time = chrono::DateTime::from_timestamp_millis(millis);
    time.map_or_else(|| millis.to_string(), |time| time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
}

/// A job id in the way it is written into summaries: 32 hexadecimal digits, lower case. `None` for anything but that or a
/// UUID.
pub fn parse_job_id(text: &str) -> Option<String> {
    let digits: String = match text.len() {
        32 => text.to_owned(),
        36 => uuid::Uuid::parse_str(text).ok()?.simple().to_string(),
        _ => return None,
    };
    digits.chars().all(|c| c.is_ascii_hexdigit()).then(|| digits.to_ascii_lowercase())
}

/// How long after its first run a job is run again, at the most, as far as expired snapshots go; in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1000;

fn now() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

/// Whether a job's id tells that it began after a time, in milliseconds since 1970: a UUID of version 7 has a time in it.
fn is_younger(job_id: &str, than: i64) -> bool {
    let uuid = uuid::Uuid::parse_str(job_id).ok().filter(|uuid| uuid.get_version_num() == 7);
    let Some(time) = uuid.and_then(|uuid| uuid.get_timestamp()) else { return false };
    let (seconds, nanos) = time.to_unix();
    let began =
        i64::try_from(seconds).ok().and_then(|s| s.checked_mul(1000)?.checked_add(i64::from(nanos / 1_000_000)));
    // any 32 digits may look like one, but hardly of a time that makes sense
    began.is_some_and(|began| began > than && began < now() + DAY)
}

/// The newest snapshot of a job in a branch.
///
/// # Errors
/// `not-a-branch` for a tag.
pub(crate) fn newest_of_job(table: &Table, branch: &str, job_id: &str) -> Result<Option<SnapshotRef>> {
    let head = head(table, branch)?;
    let history = History::of(table.metadata(), head);
    Ok(history.snapshots.into_iter().find(|snapshot| is_of(snapshot, job_id, None)).cloned())
}

/// What a branch has of a job that begins or goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// It has committed this write.
    Committed(JobSnapshot),
    /// The place of this write in the job is that of another write, which is committed.
    Other(JobSnapshot),
    /// It has not committed it.
    None,
    /// Nobody can tell: older snapshots have expired, those that are left go back less than a day, and the job may be older.
    Expired {
        /// The oldest snapshot of the branch that is left, in milliseconds since 1970.
        since: i64,
    },
}

/// What a branch has of a job, whose write `job` is about to be made (the ancestor walk of Flink's committer).
///
/// # Errors
/// `not-a-branch` for a tag.
pub fn earlier(table: &Table, branch: &str, job: &JobInfo) -> Result<Earlier> {
    let history = History::of(table.metadata(), head(table, branch)?);
    let of_job = |snapshot: &&&SnapshotRef| is_of(snapshot, &job.job_id, None);
    if let Some(done) = history.snapshots.iter().filter(of_job).find(|snapshot| covers(snapshot, job)) {
        return Ok(Earlier::Committed(JobSnapshot::of(done)));
    }
    let same_place = |snapshot: &&&SnapshotRef| {
        let place = snapshot.summary().additional_properties.get(PLACE);
        place.is_some() && place == job.place.as_ref()
    };
    if let Some(other) = history.snapshots.iter().filter(of_job).find(same_place) {
        return Ok(Earlier::Other(JobSnapshot::of(other)));
    }
    Ok(match history.expired_before() {
        Some(since) if since > now() - DAY && !is_younger(&job.job_id, since) => Earlier::Expired { since },
        _ => Earlier::None,
    })
}

/// Of a job that is committed once: the snapshot that has this write.
///
/// # Errors
/// `not-a-branch` for a tag.
pub(crate) fn committed_once(table: &Table, branch: &str, job: &JobInfo) -> Result<Option<i64>> {
    if job.place.is_none() {
        return Ok(None);
    }
    Ok(match earlier(table, branch, job)? {
        Earlier::Committed(done) => Some(done.snapshot_id),
        Earlier::Other(_) | Earlier::None | Earlier::Expired { .. } => None,
    })
}

/// The snapshots of all branches.
fn in_branches(table: &Table) -> Result<HashSet<i64>> {
    let mut snapshots = HashSet::new();
    for reference in table.refs()?.values().filter(|reference| reference.is_branch()) {
        let head = table.metadata().snapshot_by_id(reference.snapshot_id);
        snapshots.extend(History::of(table.metadata(), head).snapshots.iter().map(|snapshot| snapshot.snapshot_id()));
    }
    Ok(snapshots)
}

fn head<'a>(table: &'a Table, branch: &str) -> Result<Option<&'a SnapshotRef>> {
    let reference = table.branch(branch)?;
    Ok(reference.and_then(|reference| table.metadata().snapshot_by_id(reference.snapshot_id)))
}

fn is_of(snapshot: &Snapshot, job_id: &str, operator_id: Option<&str>) -> bool {
    let summary: &HashMap<String, String> = &snapshot.summary().additional_properties;
    let same_job = summary.get(JOB_ID).is_some_and(|id| id.eq_ignore_ascii_case(job_id));
    let operator = summary.get(OPERATOR_ID);
    same_job && operator_id.is_none_or(|wanted| operator.is_none_or(|id| id.eq_ignore_ascii_case(wanted)))
}

/// Whether a snapshot of the job has what `job` is about to commit: it is of the same operator, or of one that did not tell,
/// and of a checkpoint that is not older.
fn covers(snapshot: &Snapshot, job: &JobInfo) -> bool {
    let checkpoint = snapshot.summary().additional_properties.get(CHECKPOINT_ID);
    let checkpoint = checkpoint.and_then(|id| id.parse::<i64>().ok()).unwrap_or(-1);
    checkpoint >= job.checkpoint_id && is_of(snapshot, &job.job_id, Some(&job.operator_id))
}

/// A snapshot and its ancestors, newest first.
struct History<'a> {
    snapshots: Vec<&'a SnapshotRef>,
}

impl<'a> History<'a> {
    fn of(metadata: &'a TableMetadata, head: Option<&'a SnapshotRef>) -> Self {
        let mut snapshots = Vec::new();
        let mut at = head;
        // a chain of parents is not longer than there are snapshots, even in broken metadata
        while let Some(snapshot) = at.filter(|_| snapshots.len() <= metadata.snapshots().len()) {
            snapshots.push(snapshot);
            at = snapshot.parent_snapshot_id().and_then(|parent| metadata.snapshot_by_id(parent));
        }
        Self { snapshots }
    }

    /// If older snapshots are gone: when the oldest that is left was committed, in milliseconds since 1970.
    fn expired_before(&self) -> Option<i64> {
        let oldest = self.snapshots.last()?;
        oldest.parent_snapshot_id().map(|_| oldest.timestamp_ms())
    }
}
