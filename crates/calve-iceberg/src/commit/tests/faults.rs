//! What a commit does where the catalog fails, or answers something else than the truth.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// What a catalog answers instead of the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Conflict,
    Unknown,
    UnknownButDone,
    Rejected,
    None,
}

struct Faulty<'a> {
    catalog: &'a dyn Catalog,
    faults: Mutex<VecDeque<Fault>>,
    refreshes_to_fail: AtomicUsize,
    lists: Mutex<Vec<String>>,
}

impl<'a> Faulty<'a> {
    fn new(catalog: &'a dyn Catalog, faults: &[Fault]) -> Self {
        let faults = Mutex::new(faults.iter().copied().collect());
        Self { catalog, faults, refreshes_to_fail: AtomicUsize::new(0), lists: Mutex::default() }
    }
}

#[async_trait]
impl TableOps for Faulty<'_> {
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        let fails = self.refreshes_to_fail.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if fails.is_ok() {
            return Err(Error::new("io", "no answer"));
        }
        self.catalog.refresh(ident).await
    }

    async fn commit(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        for update in &updates {
            if let TableUpdate::AddSnapshot { snapshot } = update {
                self.lists.lock().unwrap().push(format!("{} {}", snapshot.snapshot_id(), snapshot.manifest_list()));
            }
        }
        let fault = self.faults.lock().unwrap().pop_front().unwrap_or(Fault::None);
        match fault {
            Fault::None => self.catalog.commit(base, requirements, updates).await,
            Fault::Conflict => Err(CommitError::Conflict),
            Fault::Unknown => Err(CommitError::Unknown(Error::new("io", "connection lost"))),
            Fault::Rejected => Err(CommitError::Rejected(Error::new("io", "no"))),
            Fault::UnknownButDone => {
                self.catalog.commit(base, requirements, updates).await?;
                Err(CommitError::Unknown(Error::new("io", "connection lost")))
            }
        }
    }
}

#[tokio::test]
async fn every_outcome_ends_with_the_rows_once() {
    use Fault::{Conflict, Rejected, Unknown, UnknownButDone};
    for faults in [
        vec![Conflict],
        vec![Conflict, Conflict, Conflict, Conflict],
        vec![Unknown],
        vec![UnknownButDone],
        vec![Unknown, Conflict, Unknown],
        vec![Conflict, UnknownButDone],
        vec![Unknown, UnknownButDone],
        vec![UnknownButDone, Rejected],
    ] {
        let w = Warehouse::new();
        let table = w.table(&QUICK).await;
        commit(&*w.catalog, &table, "main", append("old", 1), &job()).await.unwrap();
        let faulty = Faulty::new(&*w.catalog, &faults);
        let done = commit(&faulty, &table, "main", append("new", 2), &job()).await.unwrap();
        let now = w.catalog.refresh(table.ident()).await.unwrap();
        assert_eq!(now.metadata().current_snapshot_id(), Some(done.snapshot_id), "{faults:?}");
        assert_eq!(now.metadata().snapshots().len(), 2);
        assert_eq!(names(&live(&now, "main").await), ["new", "old"]);
        assert_eq!(names(&live(&done.table, "main").await), ["new", "old"]);
        // The same snapshot id each time, a manifest list of its own each time, and no file left over.
        let lists = faulty.lists.lock().unwrap().clone();
        assert_eq!(lists.iter().map(|l| l.split(' ').next().unwrap()).collect::<BTreeSet<_>>().len(), 1);
        assert_eq!(lists.iter().collect::<BTreeSet<_>>().len(), lists.len());
        assert_eq!(w.avro_files(), referenced(&now).await, "{faults:?}");
    }
}

#[tokio::test]
async fn a_definite_rejection_leaves_nothing() {
    use Fault::{Conflict, Rejected};
    for (faults, code) in
        [(vec![Rejected], "io"), (vec![Conflict, Rejected], "io"), (vec![Conflict; 9], "commit-conflict")]
    {
        let w = Warehouse::new();
        let table = w.table(&QUICK).await;
        let faulty = Faulty::new(&*w.catalog, &faults);
        let error = commit(&faulty, &table, "main", append("f", 1), &job()).await.unwrap_err();
        assert_eq!(error.code, code);
        if code == "commit-conflict" {
            assert_eq!(faulty.lists.lock().unwrap().len(), 5, "4 retries are the default");
            assert!(error.is_retryable());
        }
        assert_eq!(w.avro_files(), BTreeSet::new());
        assert_eq!(w.catalog.refresh(table.ident()).await.unwrap().metadata().snapshots().len(), 0);
    }
}

#[tokio::test]
async fn an_unknown_outcome_is_said_and_nothing_is_deleted() {
    let w = Warehouse::new();
    let table = w.table(&QUICK).await;
    let faulty = Faulty::new(&*w.catalog, &[Fault::Unknown; 9]);
    let error = commit(&faulty, &table, "main", append("f", 1), &job()).await.unwrap_err();
    assert!(error.may_have_committed(), "{error}");
    assert_eq!(w.avro_files().iter().filter(|n| n.starts_with("snap-")).count(), 5);

    // The catalog does not answer for a while, or for good, after the lost answer.
    for (failures, known) in [(2, true), (100, false)] {
        let faulty = Faulty::new(&*w.catalog, &[Fault::UnknownButDone]);
        let ops = RefreshFailsLater { faulty: &faulty, failures };
        let name = format!("g{failures}");
        match commit(&ops, &table, "main", append(&name, 1), &job()).await {
            Ok(_) => assert!(known),
            Err(error) => assert!(!known && error.may_have_committed(), "{error}"),
        }
        let now = w.catalog.refresh(table.ident()).await.unwrap();
        assert!(live(&now, "main").await.contains_key(&name), "it was in, and its files are there");
    }
}

/// Refreshes fail once a commit was tried.
struct RefreshFailsLater<'a> {
    faulty: &'a Faulty<'a>,
    failures: usize,
}

#[async_trait]
impl TableOps for RefreshFailsLater<'_> {
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        self.faulty.refresh(ident).await
    }

    async fn commit(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        self.faulty.refreshes_to_fail.store(self.failures, Ordering::SeqCst);
        self.faulty.commit(base, requirements, updates).await
    }
}

#[tokio::test]
async fn every_outcome_ends_with_one_change_of_the_schema() {
    use crate::catalog::alter::{Alteration, SchemaChange, alter};
    use Fault::{Conflict, Rejected, Unknown, UnknownButDone};
    let add = |name: &str| Alteration {
        schema: vec![SchemaChange::Add {
            name: name.to_owned(),
            data_type: LogicalType::Int.nullable(),
            comment: None,
            place: None,
        }],
        ..Alteration::default()
    };
    for (faults, code) in [
        (vec![Conflict, Conflict], None),
        (vec![Unknown], None),
        (vec![UnknownButDone], None),
        (vec![Unknown, Conflict, Unknown], None),
        (vec![Conflict, UnknownButDone], None),
        (vec![Rejected], Some("io")),
        (vec![Conflict; 9], Some("commit-conflict")),
        (vec![Unknown; 9], Some("commit-unknown")),
    ] {
        let w = Warehouse::new();
        let table = w.table(&QUICK).await;
        let faulty = Faulty::new(&*w.catalog, &faults);
        let done = alter(&faulty, &table, |_| Ok(add("c"))).await;
        let now = w.catalog.refresh(table.ident()).await.unwrap();
        let columns = now.metadata().current_schema().as_struct().fields().len();
        match code {
            None => {
                assert_eq!((columns, now.metadata().last_column_id()), (3, 3), "{faults:?}");
                assert_eq!(done.unwrap().metadata(), now.metadata());
            }
            Some(code) => {
                assert_eq!((done.unwrap_err().code, columns), (code, 2), "{faults:?}");
            }
        }
    }
    // it was in, and another change followed before anybody could look: nobody can tell
    let w = Warehouse::new();
    let table = w.table(&QUICK).await;
    let ops = ChangedMeanwhile(&*w.catalog);
    let error = alter(&ops, &table, |_| Ok(add("c"))).await.unwrap_err();
    assert!(error.may_have_committed(), "{error}");
}

/// The answer to a commit gets lost, and another commit follows at once.
struct ChangedMeanwhile<'a>(&'a dyn Catalog);

#[async_trait]
impl TableOps for ChangedMeanwhile<'_> {
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        self.0.refresh(ident).await
    }

    async fn commit(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        let next = self.0.commit(base, requirements, updates).await?;
        let updates = HashMap::from([("k".to_owned(), "v".to_owned())]);
        self.0.commit(&next, vec![], vec![TableUpdate::SetProperties { updates }]).await?;
        Err(CommitError::Unknown(Error::new("io", "connection lost")))
    }
}

#[derive(Debug)]
struct Omitted {
    prepared_on: Option<i64>,
    asked: AtomicUsize,
}

#[async_trait]
impl CompleteDeletes for Omitted {
    fn prepared_on(&self) -> Option<i64> {
        self.prepared_on
    }

    async fn complete(&self, _base: &Table) -> Result<Vec<NewFile>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(vec![file("late", DataContentType::EqualityDeletes, 1, None)])
    }
}

#[tokio::test]
async fn omitted_deletes_are_written_if_the_branch_moved() {
    let w = Warehouse::new();
    let table = w.table(&QUICK).await;
    let operation = |name: &str, omitted: &Arc<Omitted>| {
        let omitted: Arc<dyn CompleteDeletes> = omitted.clone();
        Operation::RowDelta(RowDelta { data: vec![data(name, 1)], deletes: vec![], omitted: Some(omitted) })
    };
    let omitted = Arc::new(Omitted { prepared_on: None, asked: AtomicUsize::new(0) });
    let first = commit(&*w.catalog, &table, "main", operation("f1", &omitted), &job()).await.unwrap();
    assert_eq!(names(&live(&first.table, "main").await), ["f1"]);
    assert_eq!(omitted.asked.load(Ordering::SeqCst), 0);

    // Prepared before f1 came; and then several conflicts.
    let faulty = Faulty::new(&*w.catalog, &[Fault::Conflict, Fault::Conflict]);
    let second = commit(&faulty, &table, "main", operation("f2", &omitted), &job()).await.unwrap();
    let files = live(&second.table, "main").await;
    assert_eq!(names(&files), ["f1", "f2", "late"]);
    assert_eq!((files["f1"].0, files["f2"].0, files["late"].0), (1, 2, 2));
    assert_eq!(omitted.asked.load(Ordering::SeqCst), 1);
    assert_eq!(summary_of(&second.table)["operation"], "overwrite");
    assert_eq!(w.avro_files(), referenced(&second.table).await);
}
