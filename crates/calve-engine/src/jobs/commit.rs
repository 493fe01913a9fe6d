//! The commits of a job, as one where the catalog offers that and else one after the other, in a task of their own: a
//! cancelled statement must not leave a commit half way, or delete files of one that goes through.

use std::collections::VecDeque;
use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use calve_types::{Error, Result};
use futures::FutureExt;
use tokio::sync::{OwnedRwLockReadGuard, RwLock};

use super::sink::{CatalogId, Pending, Together, commit_together};
use crate::result::{Settled, WriteSummary};
use crate::session::panicked;

/// Held as long as something of a job is to be done or undone.
pub(crate) type Running = OwnedRwLockReadGuard<()>;

/// What a session's statements have to bring to an end, even after they were cancelled: commits, and changes of catalogs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Commits {
    /// Held by the tasks of the running statement.
    running: Arc<RwLock<()>>,
    outcome: Arc<Mutex<Option<Result<Settled>>>>,
}

impl Commits {
    /// To be held by what a job does in tasks: [`Self::settle`] waits for it.
    pub(crate) async fn running(&self) -> Running {
        self.running.clone().read_owned().await
    }

    /// Commits everything: what belongs to one catalog that offers it as one, the rest in order. Once begun it goes on to its
    /// end. `again` says how the job is to be run again if it is committed in part.
    ///
    /// # Errors
    /// That of the first commit that failed. The rest is not committed then, and the error says what is in and what is
    /// not: see [`partly`].
    pub async fn run(
        &self,
        pending: Vec<Pending>,
        again: String,
        committed: Arc<AtomicU64>,
    ) -> Result<Vec<WriteSummary>> {
        let all = async move { Box::pin(commit_all(pending, &again, &committed)).await };
        self.see_through(all, |written| Settled::Written(written.clone())).await
    }

    /// As [`Self::run`], for a commit that is no INSERT's.
    ///
    /// # Errors
    /// The commit's.
    pub async fn run_change(
        &self,
        commit: impl Future<Output = Result<WriteSummary>> + Send + 'static,
    ) -> Result<WriteSummary> {
        self.see_through(commit, |written| Settled::Written(vec![written.clone()])).await
    }

    /// As [`Self::run`], for a change of a catalog or of what it says of a table.
    ///
    /// # Errors
    /// Those of the change.
    pub async fn alter<T: Send + 'static>(
        &self,
        change: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        self.see_through(change, |_| Settled::Altered).await
    }

    /// Brings work to its end in a task, whatever becomes of who waits for it here. What it did is told to whoever settles
    /// a cancelled statement, too.
    async fn see_through<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
        told: impl FnOnce(&T) -> Settled + Send + 'static,
    ) -> Result<T> {
        let (outcome, running) = (self.outcome.clone(), self.running().await);
        let task = tokio::spawn(async move {
            let work = AssertUnwindSafe(work).catch_unwind();
            let result = work.await.unwrap_or_else(|panic| Err(unknown(panicked(panic.as_ref()))));
            if let Ok(mut outcome) = outcome.lock() {
                *outcome = Some(result.as_ref().map(told).map_err(Clone::clone));
            }
            drop(running);
            result
        });
        let result = task.await.unwrap_or_else(|error| Err(unknown(error)));
        self.take();
        result
    }

    fn take(&self) -> Option<Result<Settled>> {
        self.outcome.lock().ok().and_then(|mut outcome| outcome.take())
    }

    /// Waits for the tasks of a statement that was cancelled: what it did, or why it did not. `None` if it had not begun to
    /// commit or to change a catalog; its files are gone then.
    pub async fn settle(&self) -> Option<Result<Settled>> {
        let _running = self.running.write().await;
        self.take()
    }
}

/// The error of a commit that ended without a word.
fn unknown(why: impl Display) -> Error {
    Error::new("commit-unknown", "the commit's outcome is not known")
        .with_detail(format!("The commit task ended: {why}."))
}

/// An INSERT with its number in the job.
type Numbered = (usize, Pending);

async fn commit_all(pending: Vec<Pending>, again: &str, committed: &AtomicU64) -> Result<Vec<WriteSummary>> {
    let mut rest: VecDeque<Numbered> = pending.into_iter().enumerate().collect();
    let mut done: Vec<Done> = Vec::with_capacity(rest.len());
    // catalogs that commit tables one by one
    let mut alone: Vec<CatalogId> = vec![];
    while let Some(next) = rest.pop_front() {
        let (numbers, unit) = unit(next, &mut rest, &alone).into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
        let tables: Vec<String> = unit.iter().map(|pending| pending.table().to_owned()).collect();
        let changes: Vec<bool> = unit.iter().map(Pending::has_changes).collect();
        let result = match one(unit) {
            Ok(single) => single.commit().await.map(|summary| Together::Committed(vec![summary])),
            Err(several) => commit_together(several).await,
        };
        match result {
            Ok(Together::Committed(summaries)) => {
                for ((number, summary), changes) in numbers.into_iter().zip(summaries).zip(changes) {
                    committed.fetch_add(u64::from(changes), Ordering::Relaxed);
                    done.push(Done { number, summary, changes });
                }
            }
            Ok(Together::NotOffered(unit)) => {
                alone.extend(unit.first().and_then(Pending::catalog));
                rest.extend(numbers.into_iter().zip(unit));
                rest.make_contiguous().sort_unstable_by_key(|(number, _)| *number);
            }
            Err(error) => {
                let left = rest.iter().filter(|(_, p)| p.has_changes()).map(|(_, p)| p.table().to_owned()).collect();
                for (_, pending) in rest {
                    pending.discard().await;
                }
                let done = done.iter().filter(|done| done.changes).map(|done| &done.summary);
                return Err(partly(error, &tables, &done.collect::<Vec<_>>(), left, again));
            }
        }
    }
    done.sort_unstable_by_key(|done| done.number);
    Ok(done.into_iter().map(|done| done.summary).collect())
}

/// An INSERT that is committed.
struct Done {
    number: usize,
    summary: WriteSummary,
    changes: bool,
}

/// The next INSERT with those that are to be committed with it: of the same catalog, unless that is one of `alone`.
fn unit(next: Numbered, rest: &mut VecDeque<Numbered>, alone: &[CatalogId]) -> Vec<Numbered> {
    let Some(catalog) = next.1.catalog().filter(|catalog| !alone.contains(catalog)) else { return vec![next] };
    let all = std::mem::take(rest).into_iter();
    let (with, without): (VecDeque<_>, VecDeque<_>) = all.partition(|(_, p)| p.catalog() == Some(catalog));
    *rest = without;
    std::iter::once(next).chain(with).collect()
}

/// The only one, or all of them.
fn one(mut unit: Vec<Pending>) -> Result<Pending, Vec<Pending>> {
    match unit.pop() {
        Some(only) if unit.is_empty() => Ok(only),
        Some(last) => {
            unit.push(last);
            Err(unit)
        }
        None => Err(unit),
    }
}

/// The error of the commit to `failed`, after those of `done` went in and before those to `left`, which will not happen.
/// Its code is `partial-commit` if the rows of some tables are in and of others are not, so that nobody runs the whole set
/// again; `commit-unknown` stays. `again` says how it is to be run again.
fn partly(error: Error, failed: &[String], done: &[&WriteSummary], left: Vec<String>, again: &str) -> Error {
    if done.is_empty() && left.is_empty() && failed.len() == 1 {
        return error;
    }
    let unknown = error.may_have_committed();
    let quote = |tables: &[String]| tables.iter().map(|t| format!("'{t}'")).collect::<Vec<_>>().join(", ");
    let mut sentences = vec![];
    if !done.is_empty() {
        let done = done.iter().map(|summary| match summary.snapshot_id {
            Some(id) => format!("'{}' (snapshot {id})", summary.table),
            None => format!("'{}'", summary.table),
        });
        sentences.push(format!("Committed: {}.", done.collect::<Vec<_>>().join(", ")));
    }
    if unknown {
        sentences.push(format!("Unknown: {}.", quote(failed)));
    }
    let out: Vec<String> = if unknown { left } else { failed.iter().cloned().chain(left).collect() };
    if !out.is_empty() {
        sentences.push(format!("Not committed: {}.", quote(&out)));
    }
    sentences.extend(error.detail.clone());
    let detail = sentences.join(" ");
    if unknown || done.is_empty() {
        return error.with_detail(detail);
    }
    Error::new("partial-commit", format!("the statement set is committed in part: {}", error.message))
        .with_detail(detail)
        .with_hint(again)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn summary(table: &str, snapshot_id: Option<i64>) -> WriteSummary {
        WriteSummary { table: table.to_owned(), snapshot_id, ..WriteSummary::default() }
    }

    #[test]
    fn a_failed_commit_alone_keeps_its_error() {
        let error = Error::new("commit-conflict", "others were faster");
        assert_eq!(partly(error.clone(), &["a".to_owned()], &[], vec![], "again"), error);
    }

    #[test]
    fn nothing_committed_is_retryable_and_says_so() {
        let error = Error::new("commit-conflict", "others were faster").with_detail("Five tries.");
        let error = partly(error, &["a".to_owned()], &[], vec!["b".to_owned()], "again");
        assert!(error.is_retryable() && !error.may_have_committed());
        assert_eq!(error.detail.unwrap(), "Not committed: 'a', 'b'. Five tries.");
    }

    #[test]
    fn a_part_that_is_in_must_not_be_run_again() {
        let (a, b) = (summary("a", Some(7)), summary("b", None));
        let error = Error::new("commit-conflict", "others were faster");
        let error = partly(error, &["c".to_owned()], &[&a, &b], vec!["d".to_owned()], "again");
        assert_eq!(error.code, "partial-commit");
        assert!(!error.is_retryable() && error.may_have_committed());
        assert_eq!(error.detail.unwrap(), "Committed: 'a' (snapshot 7), 'b'. Not committed: 'c', 'd'.");
    }

    #[test]
    fn an_unknown_commit_stays_unknown() {
        let a = summary("a", Some(7));
        let error =
            partly(Error::new("commit-unknown", "lost"), &["b".to_owned()], &[&a], vec!["c".to_owned()], "again");
        assert_eq!(error.code, "commit-unknown");
        assert_eq!(error.detail.unwrap(), "Committed: 'a' (snapshot 7). Unknown: 'b'. Not committed: 'c'.");
    }
}
