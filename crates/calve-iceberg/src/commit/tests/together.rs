//! Changes of several tables as one, on a catalog that offers it.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::faults::Fault;
use super::*;

/// A catalog that commits several tables at once.
struct Several<'a> {
    catalog: &'a dyn Catalog,
    offers: AtomicBool,
    faults: Mutex<VecDeque<Fault>>,
    asked: AtomicUsize,
    refreshes_to_fail: AtomicUsize,
    /// Refreshes to fail once it was asked.
    then_gone: usize,
}

impl<'a> Several<'a> {
    fn new(catalog: &'a dyn Catalog, faults: &[Fault]) -> Self {
        Self {
            catalog,
            offers: AtomicBool::new(true),
            faults: Mutex::new(faults.iter().copied().collect()),
            asked: AtomicUsize::new(0),
            refreshes_to_fail: AtomicUsize::new(0),
            then_gone: 0,
        }
    }

    async fn make(&self, changes: &[TableChange]) -> Result<Vec<Table>, CommitError> {
        for change in changes {
            let now = self.catalog.refresh(change.base.ident()).await.unwrap();
            let holds = |r: &TableRequirement| r.check(Some(now.metadata())).is_ok();
            if !change.requirements.iter().all(holds) {
                return Err(CommitError::Conflict);
            }
        }
        let mut tables = vec![];
        for TableChange { base, requirements, updates } in changes.iter().cloned() {
            let now = self.catalog.refresh(base.ident()).await.unwrap();
            tables.push(self.catalog.commit(&now, requirements, updates).await?);
        }
        Ok(tables)
    }
}

#[async_trait]
impl TableOps for Several<'_> {
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        let fails = self.refreshes_to_fail.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        match fails {
            Ok(_) => Err(Error::new("io", "no answer")),
            Err(_) => self.catalog.refresh(ident).await,
        }
    }

    async fn commit(
        &self,
        _base: &Table,
        _requirements: Vec<TableRequirement>,
        _updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        panic!("it is to be asked for all at once")
    }

    async fn commit_all(&self, changes: Vec<TableChange>) -> Result<Option<Vec<Table>>, CommitError> {
        if !self.offers.load(Ordering::SeqCst) {
            return Ok(None);
        }
        if changes.is_empty() {
            return Ok(Some(vec![]));
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.refreshes_to_fail.store(self.then_gone, Ordering::SeqCst);
        let idents: BTreeSet<String> = changes.iter().map(|change| change.base.ident().to_string()).collect();
        assert_eq!(idents.len(), changes.len(), "each table once");
        let lost = || CommitError::Unknown(Error::new("io", "connection lost"));
        let fault = self.faults.lock().unwrap().pop_front().unwrap_or(Fault::None);
        match fault {
            Fault::None => {}
            Fault::Conflict => return Err(CommitError::Conflict),
            Fault::Unknown => return Err(lost()),
            Fault::Rejected => return Err(CommitError::Rejected(Error::new("io", "no"))),
            Fault::UnknownButDone => {
                self.make(&changes).await?;
                return Err(lost());
            }
            Fault::Overtaken => {
                let first = &changes.first().unwrap().base;
                commit(self.catalog, first, "main", append("other", 1), &job()).await.unwrap();
                return Err(lost());
            }
        }
        self.make(&changes).await.map(Some)
    }
}

struct Pair {
    w: Warehouse,
    t: Table,
    u: Table,
}

impl Pair {
    async fn new() -> Self {
        let w = Warehouse::new();
        let (t, u) = (w.table(&QUICK).await, w.named("u", &QUICK, &[]).await);
        w.commit(&t, append("a", 1)).await;
        w.commit(&u, append("b", 1)).await;
        Self { w, t, u }
    }

    /// Two changes of `t` and one of `u`.
    fn writes(&self) -> Vec<JobWrite> {
        let deletes = vec![file("deletes", DataContentType::EqualityDeletes, 1, None)];
        let delta = RowDelta { data: vec![data("second", 1)], deletes, ..RowDelta::default() };
        let write = |(table, operation): (&Table, Operation)| JobWrite {
            table: table.clone(),
            branch: "main".to_owned(),
            operation,
            job: job(),
        };
        let all = [(&self.t, append("first", 1)), (&self.u, append("third", 1)), (&self.t, Operation::RowDelta(delta))];
        all.map(write).into()
    }

    async fn newest(&self) -> (Table, Table) {
        let (t, u) = (self.t.ident(), self.u.ident());
        (self.w.catalog.refresh(t).await.unwrap(), self.w.catalog.refresh(u).await.unwrap())
    }

    async fn assert_clean(&self) {
        let (t, u) = self.newest().await;
        assert_eq!(self.w.avro_files_of("t"), referenced(&t).await);
        assert_eq!(self.w.avro_files_of("u"), referenced(&u).await);
    }
}

#[tokio::test]
async fn all_of_them_are_in_once() {
    use Fault::{Conflict, Overtaken, Unknown, UnknownButDone};
    for faults in [
        vec![],
        vec![Conflict, Conflict],
        vec![Unknown],
        vec![UnknownButDone],
        vec![Overtaken, Conflict],
        vec![Unknown, UnknownButDone],
    ] {
        let pair = Pair::new().await;
        let ops = Several::new(&*pair.w.catalog, &faults);
        let done = commit_together(&ops, &pair.writes()).await;
        let done = done.unwrap_or_else(|error| panic!("{faults:?}: {error:?}")).unwrap();
        let (t, u) = pair.newest().await;
        let mut expected = vec!["a", "deletes", "first", "second"];
        if faults.contains(&Overtaken) {
            expected.insert(3, "other");
        }
        assert_eq!(names(&live(&t, "main").await), expected, "{faults:?}");
        assert_eq!(names(&live(&u, "main").await), ["b", "third"], "{faults:?}");
        let ids: Vec<i64> = done.iter().map(|committed| committed.snapshot_id).collect();
        assert_eq!(t.metadata().current_snapshot_id(), Some(ids[2]));
        let second = t.metadata().snapshot_by_id(ids[2]).unwrap();
        assert_eq!(second.parent_snapshot_id(), Some(ids[0]), "the changes of one table follow each other");
        assert_eq!(u.metadata().current_snapshot_id(), Some(ids[1]));
        // the deletes of the second reach the rows of the first
        let files = live(&t, "main").await;
        assert!(files["first"].0 < files["deletes"].0);
        assert_eq!(summary_of(&t)["total-records"], (expected.len() - 1).to_string());
        pair.assert_clean().await;
    }
}

#[tokio::test]
async fn none_of_them_is_in() {
    use Fault::{Conflict, Overtaken, Rejected};
    for (faults, code) in
        [(vec![Rejected], "io"), (vec![Conflict; 9], "commit-conflict"), (vec![Overtaken, Rejected], "io")]
    {
        let pair = Pair::new().await;
        let ops = Several::new(&*pair.w.catalog, &faults);
        let error = commit_together(&ops, &pair.writes()).await.unwrap_err();
        assert_eq!(error.code, code, "{error:?}");
        let (t, u) = pair.newest().await;
        assert!(!live(&t, "main").await.contains_key("first"));
        assert_eq!(names(&live(&u, "main").await), ["b"]);
        pair.assert_clean().await;
    }
}

#[tokio::test]
async fn nobody_knows_of_all_of_them() {
    use Fault::{Unknown, UnknownButDone};
    for (faults, then_gone) in [(vec![Unknown; 9], 0), (vec![UnknownButDone], 100), (vec![Unknown], 100)] {
        let pair = Pair::new().await;
        let ops = Several { then_gone, ..Several::new(&*pair.w.catalog, &faults) };
        let error = commit_together(&ops, &pair.writes()).await.unwrap_err();
        assert_eq!(error.code, "commit-unknown", "{error:?}");
        assert!(error.message.contains("tables 'db.t', 'db.u'"), "{error:?}");
        let (t, u) = pair.newest().await;
        let done = faults == [UnknownButDone];
        assert_eq!(live(&t, "main").await.contains_key("second"), done);
        assert_eq!(live(&u, "main").await.contains_key("third"), done);
        assert!(pair.w.avro_files_of("t").is_superset(&referenced(&t).await));
        assert!(pair.w.avro_files_of("u").is_superset(&referenced(&u).await));
    }
}

#[tokio::test]
async fn a_catalog_that_does_not_offer_it_is_not_asked() {
    let pair = Pair::new().await;
    let ops = Several::new(&*pair.w.catalog, &[]);
    ops.offers.store(false, Ordering::SeqCst);
    assert!(commit_together(&ops, &pair.writes()).await.unwrap().is_none());
    assert!(commit_together(&*pair.w.catalog, &pair.writes()).await.unwrap().is_none());
    assert_eq!(ops.asked.load(Ordering::SeqCst), 0);
    pair.assert_clean().await;
}

#[tokio::test]
async fn a_set_of_a_job_is_committed_once() {
    let pair = Pair::new().await;
    let ops = Several::new(&*pair.w.catalog, &[]);
    let mut writes = pair.writes();
    for (number, write) in writes.iter_mut().enumerate() {
        write.job.operator_id = number.to_string();
        write.job.place = Some(format!("1.{number}"));
    }
    let first = commit_together(&ops, &writes).await.unwrap().unwrap();
    let again = commit_together(&ops, &writes).await.unwrap().unwrap();
    assert!(first.iter().all(|committed| !committed.earlier) && again.iter().all(|committed| committed.earlier));
    let ids = |all: &[Committed]| all.iter().map(|committed| committed.snapshot_id).collect::<Vec<_>>();
    assert_eq!(ids(&first), ids(&again));
    // a part of it is committed by another run that did it one by one
    writes[1].job.operator_id = "new".to_owned();
    let error = commit_together(&ops, &writes).await.unwrap_err();
    assert_eq!(error.code, "commit-conflict");
    pair.assert_clean().await;
}
