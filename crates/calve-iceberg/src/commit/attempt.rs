//! The way of a change into its table: proposed for the newest version again and again until it is in, or until it is known
//! that it is not. Changes of several tables go the same way, as one.

use std::time::Instant;

use calve_types::{Error, Result};
use iceberg::TableRequirement;

use super::job::committed_once;
use super::producer::Producer;
use super::removal::conflict;
use super::retry::Retry;
use super::{CommitError, Committed, JobInfo, JobWrite, Operation, Origin, TableChange, TableOps};
use crate::catalog::{apply, staged};
use crate::table::Table;

/// Commits a change of one table.
///
/// # Errors
/// As [`super::commit`].
pub(super) async fn commit_one(
    ops: &dyn TableOps,
    table: &Table,
    branch: &str,
    operation: Operation,
    origin: Origin<'_>,
) -> Result<Committed> {
    let parts = vec![Part::new(table, branch, operation, origin)];
    let committed = Attempt { ops, through: Through::One, parts, doubt: None }.run().await?;
    let one = committed.and_then(|all| all.into_iter().next());
    one.ok_or_else(|| Error::internal("a commit without a result"))
}

/// Commits changes of tables of one catalog, all or none; `None` if the catalog does not offer it.
///
/// # Errors
/// As [`super::commit_together`].
pub(super) async fn commit_all(ops: &dyn TableOps, writes: &[JobWrite]) -> Result<Option<Vec<Committed>>> {
    // whatever else it answers, it does not offer it: the commits one by one say what is wrong
    if !matches!(ops.commit_all(vec![]).await, Ok(Some(_))) {
        return Ok(None);
    }
    let parts = writes.iter().map(|write| {
        let JobWrite { table, branch, operation, job } = write;
        Part::new(table, branch, operation.clone(), Origin::Job(job))
    });
    Attempt { ops, through: Through::All, parts: parts.collect(), doubt: None }.run().await
}

/// How a catalog is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Through {
    /// [`TableOps::commit`], for one change.
    One,
    /// [`TableOps::commit_all`].
    All,
}

/// A change and what has been done for it.
struct Part<'a> {
    /// The version it was prepared on.
    table: &'a Table,
    branch: &'a str,
    /// Of a job's write that is committed once.
    once: Option<&'a JobInfo>,
    producer: Producer<'a>,
}

impl<'a> Part<'a> {
    fn new(table: &'a Table, branch: &'a str, operation: Operation, origin: Origin<'a>) -> Self {
        let once = match origin {
            Origin::Job(job) => Some(job).filter(|job| job.place.is_some()),
            Origin::Picked { .. } => None,
        };
        Self { table, branch, once, producer: Producer::new(table, branch, operation, origin) }
    }

    fn is_in(&self, newest: &Table) -> bool {
        newest.metadata().snapshot_by_id(self.producer.snapshot_id).is_some()
    }
}

/// Tries that may be in without anybody knowing.
struct Doubt {
    /// Why, of the last one.
    error: Error,
    /// The heads that the branches had for each of them; empty if it is not known which tries they are.
    heads: Vec<Vec<Option<i64>>>,
}

impl Doubt {
    /// Whether none of the tries is in or can get in any more. Each requires that the branches have the heads they had; one
    /// that had none is no proof, as there are catalogs that do not ask for that.
    fn is_settled(&self, parts: &[Part<'_>], newest: &[Table]) -> bool {
        let moved = |heads: &Vec<Option<i64>>| {
            let mut each = heads.iter().zip(parts).zip(newest);
            each.any(|((head, part), table)| {
                head.is_some() && head_of(table, part.branch).is_ok_and(|now| now != *head)
            })
        };
        !self.heads.is_empty() && self.heads.iter().all(moved)
    }
}

fn head_of(table: &Table, branch: &str) -> Result<Option<i64>> {
    Ok(table.branch(branch)?.map(|reference| reference.snapshot_id))
}

/// How much of the changes the newest versions have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    All,
    Some,
    None,
}

/// What the catalog is asked to do.
struct Asked {
    changes: Vec<TableChange>,
    heads: Vec<Option<i64>>,
}

/// See the module.
struct Attempt<'a> {
    ops: &'a dyn TableOps,
    through: Through,
    parts: Vec<Part<'a>>,
    doubt: Option<Doubt>,
}

impl Attempt<'_> {
    async fn run(mut self) -> Result<Option<Vec<Committed>>> {
        let (retry, checks) = self.patience()?;
        let started = Instant::now();
        let mut tries = 0;
        let error = loop {
            let newest = match self.reload(&checks).await {
                Ok(newest) => newest,
                Err(error) => break error,
            };
            // Whatever the catalog said before: this decides.
            match self.standing(&newest) {
                Standing::All => return Ok(Some(self.committed(newest).await)),
                Standing::Some => break self.torn(),
                Standing::None => {}
            }
            self.settle(&newest);
            match self.committed_once(&newest) {
                Ok(None) => {}
                Ok(Some(earlier)) => {
                    self.abandon().await;
                    return Ok(Some(earlier));
                }
                Err(error) => break error,
            }
            let Asked { changes, heads } = match self.propose(newest).await {
                Ok(asked) => asked,
                Err(error) => break error,
            };
            tries += 1;
            let bases: Vec<Table> = changes.iter().map(|change| change.base.clone()).collect();
            match self.ask(changes).await {
                Ok(Some(tables)) => {
                    let tables = self.in_order(tables);
                    return Ok(Some(self.committed(tables).await));
                }
                Ok(None) if self.doubt.is_none() => {
                    self.abandon().await;
                    return Ok(None);
                }
                Ok(None) => break Error::internal("a catalog that offers a commit only at times"),
                Err(CommitError::Conflict) => self.rejected(&bases).await,
                Err(CommitError::Unknown(error)) => self.in_doubt(error, heads),
                Err(CommitError::Rejected(error)) => break error,
            }
            match retry.wait(tries, started) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => break too_many_conflicts(&self.names(), tries),
            }
        };
        if self.doubt.is_some()
            && let Ok(newest) = self.reload(&checks).await
        {
            match self.standing(&newest) {
                Standing::All => return Ok(Some(self.committed(newest).await)),
                Standing::Some => {}
                Standing::None => self.settle(&newest),
            }
        }
        match self.doubt.take() {
            None => {
                self.abandon().await;
                Err(error)
            }
            Some(doubt) => Err(self.unknown(&doubt, &error)),
        }
    }

    /// How often the tables want to be tried, and looked at after an answer got lost.
    fn patience(&self) -> Result<(Retry, Retry)> {
        let mut patience: Option<(Retry, Retry)> = None;
        for part in &self.parts {
            let (retry, checks) = (Retry::of(part.table)?, Retry::of_checks(part.table)?);
            patience = Some(match patience {
                Some((more, looks)) => (retry.or(more), checks.or(looks)),
                None => (retry, checks),
            });
        }
        Ok(patience.unwrap_or((Retry::COMMITS, Retry::CHECKS)))
    }

    /// The newest version of each part's table, with patience if a doubt is to be settled.
    async fn reload(&self, checks: &Retry) -> Result<Vec<Table>> {
        let checks = self.doubt.is_some().then_some(checks);
        let mut newest = self.load(checks).await?;
        if self.standing(&newest) == Standing::Some {
            // some of them were loaded before the commit, and others behind it
            newest = self.load(checks).await?;
        }
        Ok(newest)
    }

    async fn load(&self, checks: Option<&Retry>) -> Result<Vec<Table>> {
        let mut newest: Vec<Table> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let table = match newest.iter().find(|table| table.ident() == part.table.ident()) {
                Some(same) => same.clone(),
                None => reload(self.ops, part.table, checks).await?,
            };
            newest.push(table);
        }
        Ok(newest)
    }

    fn standing(&self, newest: &[Table]) -> Standing {
        match self.parts.iter().zip(newest).filter(|(part, table)| part.is_in(table)).count() {
            0 => Standing::None,
            all if all == self.parts.len() => Standing::All,
            _ => Standing::Some,
        }
    }

    /// A change of several tables that is in some of them.
    fn torn(&mut self) -> Error {
        let error = Error::new("io", "the catalog committed the changes of some tables and not of the others");
        // nothing may be deleted, whatever was answered
        self.doubt = Some(Doubt { error: error.clone(), heads: vec![] });
        error
    }

    /// Forgets a doubt that the newest versions settle: the tries are not in.
    fn settle(&mut self, newest: &[Table]) {
        if self.doubt.as_ref().is_some_and(|doubt| doubt.is_settled(&self.parts, newest)) {
            self.doubt = None;
            self.parts.iter_mut().for_each(|part| part.producer.settled());
        }
    }

    /// What another run of the same job has committed.
    ///
    /// # Errors
    /// `commit-conflict` if it is a part of the changes, or if a try may be in.
    fn committed_once(&self, newest: &[Table]) -> Result<Option<Vec<Committed>>> {
        let mut earlier = Vec::new();
        for (part, table) in self.parts.iter().zip(newest) {
            if let Some(job) = part.once
                && let Some(snapshot_id) = committed_once(table, part.branch, job)?
            {
                earlier.push(Committed { table: table.clone(), snapshot_id, earlier: true });
            }
        }
        match earlier.first() {
            None => Ok(None),
            Some(_) if earlier.len() == self.parts.len() && self.doubt.is_none() => Ok(Some(earlier)),
            Some(first) => Err(conflict(&first.table, "another run of the same job is committing")),
        }
    }

    /// Applies the changes to the newest versions: those of one table one after the other.
    async fn propose(&mut self, newest: Vec<Table>) -> Result<Asked> {
        let mut bases = newest;
        let mut asked = Asked { changes: Vec::with_capacity(bases.len()), heads: Vec::with_capacity(bases.len()) };
        for number in 0..self.parts.len() {
            let (Some(part), Some(base)) = (self.parts.get_mut(number), bases.get(number).cloned()) else { break };
            // what a part before it makes of the table proves nothing of what there is
            let is_first = asked.changes.iter().all(|change| change.base.ident() != base.ident());
            asked.heads.push(if is_first { head_of(&base, part.branch)? } else { None });
            let proposal = part.producer.propose(&base).await?;
            let same_table = |table: &&mut Table| table.ident() == base.ident();
            if let Some(next) = bases.iter_mut().skip(number + 1).find(same_table) {
                *next = staged(&base, apply(&base, proposal.updates.clone())?.metadata);
            }
            match asked.changes.iter_mut().find(|change| change.base.ident() == base.ident()) {
                Some(change) => {
                    // a branch that a part before it has set is as that one left it
                    let known = |r: &TableRequirement| change.requirements.iter().any(|other| is_about(other, r));
                    let new: Vec<_> = proposal.requirements.into_iter().filter(|r| !known(r)).collect();
                    change.requirements.extend(new);
                    change.updates.extend(proposal.updates);
                }
                None => {
                    let (requirements, updates) = (proposal.requirements, proposal.updates);
                    asked.changes.push(TableChange { base, requirements, updates });
                }
            }
        }
        Ok(asked)
    }

    async fn ask(&self, changes: Vec<TableChange>) -> Result<Option<Vec<Table>>, CommitError> {
        match self.through {
            Through::All => self.ops.commit_all(changes).await,
            Through::One => match changes.into_iter().next() {
                Some(TableChange { base, requirements, updates }) => {
                    self.ops.commit(&base, requirements, updates).await.map(|table| Some(vec![table]))
                }
                None => Ok(Some(vec![])),
            },
        }
    }

    /// The new version of each part's table.
    fn in_order(&self, tables: Vec<Table>) -> Vec<Table> {
        let of = |part: &Part<'_>| tables.iter().find(|table| table.ident() == part.table.ident());
        self.parts.iter().map(|part| of(part).unwrap_or(part.table).clone()).collect()
    }

    async fn committed(self, newest: Vec<Table>) -> Vec<Committed> {
        let mut committed = Vec::with_capacity(self.parts.len());
        for (part, table) in self.parts.into_iter().zip(newest) {
            committed.push(part.producer.committed(table).await);
        }
        committed
    }

    async fn rejected(&mut self, bases: &[Table]) {
        for part in &mut self.parts {
            let base = bases.iter().find(|base| base.ident() == part.table.ident());
            part.producer.rejected(base.unwrap_or(part.table)).await;
        }
    }

    fn in_doubt(&mut self, error: Error, heads: Vec<Option<i64>>) {
        self.parts.iter_mut().for_each(|part| part.producer.in_doubt());
        let mut all = self.doubt.take().map(|doubt| doubt.heads).unwrap_or_default();
        all.push(heads);
        self.doubt = Some(Doubt { error, heads: all });
    }

    async fn abandon(&mut self) {
        for part in std::mem::take(&mut self.parts) {
            part.producer.abandon(part.table).await;
        }
    }

    /// The tables, as an error names them.
    fn names(&self) -> String {
        let mut names: Vec<String> = self.parts.iter().map(|part| format!("'{}'", part.table.ident())).collect();
        names.sort_unstable();
        names.dedup();
        let tables = if names.len() == 1 { "table" } else { "tables" };
        format!("{tables} {}", names.join(", "))
    }

    fn unknown(&self, doubt: &Doubt, last: &Error) -> Error {
        let names = self.names();
        let snapshots = self.parts.iter().map(|part| match self.parts.len() {
            1 => format!("The snapshot would be {}.", part.producer.snapshot_id),
            _ => format!("The snapshot of '{}' would be {}.", part.table.ident(), part.producer.snapshot_id),
        });
        let snapshots: Vec<String> = snapshots.collect();
        Error::new("commit-unknown", format!("nobody knows whether the commit to {names} happened: {}", doubt.error))
            .with_detail(format!("{} What came last: {last}.", snapshots.join(" ")))
            .with_hint("look for the snapshot in the table's $snapshots before running the statement again")
    }
}

/// Whether two requirements are about the same thing.
fn is_about(one: &TableRequirement, other: &TableRequirement) -> bool {
    use TableRequirement::{RefSnapshotIdMatch, UuidMatch};
    match (one, other) {
        (UuidMatch { .. }, UuidMatch { .. }) => true,
        (RefSnapshotIdMatch { r#ref: one, .. }, RefSnapshotIdMatch { r#ref: other, .. }) => one == other,
        _ => one == other,
    }
}

/// The error of a commit that was tried often enough; `names` are those of its tables.
pub(super) fn too_many_conflicts(names: &str, tries: u32) -> Error {
    Error::new("commit-conflict", format!("cannot commit to {names}: others were faster"))
        .with_detail(format!("The commit was tried {tries} times, and each time another one came first."))
        .with_hint("run the statement again, or raise the table property 'commit.retry.num-retries'")
}

/// The newest version of a table; with patience if it is needed to settle a doubt.
pub(super) async fn reload(ops: &dyn TableOps, table: &Table, checks: Option<&Retry>) -> Result<Table> {
    let started = Instant::now();
    let mut looks = 0;
    let newest = loop {
        let error = match ops.refresh(table.ident()).await {
            Ok(newest) => break newest,
            Err(error) => error,
        };
        looks += 1;
        match checks.and_then(|checks| checks.wait(looks, started)) {
            Some(wait) => tokio::time::sleep(wait).await,
            None => return Err(error),
        }
    };
    if newest.metadata().uuid() == table.metadata().uuid() {
        return Ok(newest);
    }
    // The files were written for a table that is gone, even if one of the same name took its place.
    let name = table.ident();
    Err(Error::new("commit-conflict", format!("table '{name}' was dropped and created again in the meantime")))
}
