//! What a commit does where the catalog fails, or answers something else than the truth.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// What a catalog answers instead of the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    Conflict,
    Unknown,
    /// The answer is lost, the commit was not made, and another one came.
    Overtaken,
    UnknownButDone,
    Rejected,
    None,
}

pub(super) struct Faulty<'a> {
    catalog: &'a dyn Catalog,
    faults: Mutex<VecDeque<Fault>>,
    pub(super) refreshes_to_fail: AtomicUsize,
    lists: Mutex<Vec<String>>,
}

impl<'a> Faulty<'a> {
    pub(super) fn new(catalog: &'a dyn Catalog, faults: &[Fault]) -> Self {
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
            Fault::Overtaken => {
                commit(self.catalog, base, "main", append("other", 1), &job()).await.unwrap();
                Err(CommitError::Unknown(Error::new("io", "connection lost")))
            }
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
pub(super) struct RefreshFailsLater<'a> {
    pub(super) faulty: &'a Faulty<'a>,
    pub(super) failures: usize,
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

    async fn complete(&self, _base: &Table) -> Result<Completed> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let deletes = vec![file("late", DataContentType::EqualityDeletes, 1, None)];
        Ok(Completed { deletes, ..Completed::default() })
    }
}

#[tokio::test]
async fn omitted_deletes_are_written_if_the_branch_moved() {
    let w = Warehouse::new();
    let table = w.table(&QUICK).await;
    let operation = |name: &str, omitted: &Arc<Omitted>| {
        let omitted: Arc<dyn CompleteDeletes> = omitted.clone();
        Operation::RowDelta(RowDelta { data: vec![data(name, 1)], omitted: Some(omitted), ..RowDelta::default() })
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

/// Others commit once before each try, so that the catalog refuses it.
struct OthersFirst<'a> {
    catalog: &'a dyn Catalog,
    others: Mutex<VecDeque<Operation>>,
}

#[async_trait]
impl TableOps for OthersFirst<'_> {
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        self.catalog.refresh(ident).await
    }

    async fn commit(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        let other = self.others.lock().unwrap().pop_front();
        if let Some(other) = other {
            commit(self.catalog, base, "main", other, &job()).await.unwrap();
        }
        self.catalog.commit(base, requirements, updates).await
    }
}

#[tokio::test]
async fn files_are_taken_away_once_whatever_the_catalog_says() {
    use Fault::{Conflict, Rejected, Unknown, UnknownButDone};
    for faults in [
        vec![],
        vec![Conflict],
        vec![Conflict, Conflict, Conflict],
        vec![Unknown],
        vec![UnknownButDone],
        vec![Conflict, UnknownButDone],
        vec![Unknown, Conflict, UnknownButDone],
        vec![Rejected],
        vec![Conflict, Rejected],
        vec![Conflict; 9],
    ] {
        let fails = faults.len() == 9 || faults.ends_with(&[Rejected]);
        for (name, jdbc) in [("replace", false), ("overwrite", false), ("overwrite", true)] {
            let w = if jdbc { Warehouse::jdbc().await } else { Warehouse::new() };
            let with = [("commit.retry.min-wait-ms", "1"), ("commit.manifest.min-count-to-merge", "2")];
            let table = w.table(&with).await;
            w.commit(&table, append("a", 3)).await;
            let before = w.commit(&table, append("b", 4)).await;
            let operation = match name {
                "replace" => Operation::ReplacePartitions(ReplacePartitions { data: vec![data("new", 1)] }),
                _ => Operation::Overwrite(Overwrite {
                    read: before.metadata().current_snapshot_id(),
                    removed: vec![named("a")],
                    data: vec![data("new", 1)],
                    ..Overwrite::default()
                }),
            };
            let faulty = Faulty::new(&*w.catalog, &faults);
            let done = commit(&faulty, &table, "main", operation, &job()).await;
            assert_eq!(done.is_err(), fails, "{name} {faults:?} {done:?}");
            let now = w.catalog.refresh(table.ident()).await.unwrap();
            let expected: &[&str] = match (fails, name) {
                (true, _) => &["a", "b"],
                (false, "replace") => &["new"],
                (false, _) => &["b", "new"],
            };
            assert_eq!(names(&live(&now, "main").await), expected, "{name} {faults:?}");
            let records = expected.iter().map(|n| match *n {
                "a" => 3,
                "b" => 4,
                _ => 1,
            });
            assert_eq!(summary_of(&now)["total-records"], records.sum::<u64>().to_string());
            let avro: BTreeSet<String> = w.avro_files().into_iter().filter(|n| n.ends_with(".avro")).collect();
            assert_eq!(avro, referenced(&now).await, "{name} {faults:?}");
        }
    }
}

#[tokio::test]
async fn each_try_looks_for_the_files_in_its_base() {
    let w = Warehouse::new();
    let with = [("commit.retry.min-wait-ms", "1"), ("commit.manifest.min-count-to-merge", "2")];
    let table = w.partitioned(&with, &[("p", Transform::Identity)]).await;
    let part = |name: &str, p| file(name, DataContentType::Data, 1, Some(p));
    let add = |name: &str, p| Operation::Append(Append { data: vec![part(name, p)] });
    w.commit(&table, add("a1", 1)).await;
    let before = w.commit(&table, add("a2", 2)).await;
    // rows that others add to the partition while it is replaced are replaced
    let others = Mutex::new([add("b1", 1), add("b2", 2)].into());
    let ops = OthersFirst { catalog: &*w.catalog, others };
    let replace = Operation::ReplacePartitions(ReplacePartitions { data: vec![part("new", 1)] });
    let now = commit(&ops, &table, "main", replace, &job()).await.unwrap().table;
    assert_eq!(names(&live(&now, "main").await), ["a2", "b2", "new"]);
    assert_eq!(summary_of(&now)["deleted-data-files"], "2");
    assert_eq!(w.avro_files(), referenced(&now).await);

    // the file is in a manifest that others merged
    let read = now.metadata().current_snapshot_id();
    let ops = OthersFirst { catalog: &*w.catalog, others: Mutex::new([add("c3", 3), add("d3", 3)].into()) };
    let change = |removed| {
        Operation::Overwrite(Overwrite { read, isolation: Isolation::Snapshot, removed, ..Overwrite::default() })
    };
    let now = commit(&ops, &table, "main", change(vec![named("a2")]), &job()).await.unwrap().table;
    assert_eq!(names(&live(&now, "main").await), ["b2", "c3", "d3", "new"]);
    assert_eq!(w.avro_files(), referenced(&now).await);

    // others take it away between two tries
    let read = now.metadata().current_snapshot_id();
    let other = Operation::Overwrite(Overwrite { read, removed: vec![named("b2")], ..Overwrite::default() });
    let ops = OthersFirst { catalog: &*w.catalog, others: Mutex::new([other].into()) };
    let mine = Overwrite { read, removed: vec![named("b2")], data: vec![part("mine", 2)], ..Overwrite::default() };
    let error = commit(&ops, &table, "main", Operation::Overwrite(mine), &job()).await.unwrap_err();
    assert_eq!(error.code, "commit-conflict");
    assert_eq!(error.detail.unwrap(), "Missing required files to delete: /nowhere/b2");
    let now = w.catalog.refresh(table.ident()).await.unwrap();
    assert_eq!(names(&live(&now, "main").await), ["c3", "d3", "new"]);
    assert_eq!(w.avro_files(), referenced(&now).await);
    assert_eq!(before.metadata().snapshots().len() + 7, now.metadata().snapshots().len());
}

/// Deletes that have to be found again for each head: a vector about the newest data file, in a file that exists.
#[derive(Debug)]
struct FoundAgain {
    prepared_on: Option<i64>,
    dir: std::path::PathBuf,
    asked: AtomicUsize,
}

impl FoundAgain {
    fn deletes(&self, number: usize) -> Vec<NewFile> {
        let path = self.dir.join(format!("d{number}.puffin"));
        std::fs::write(&path, "x").unwrap();
        let new = vector("d", "f1", number as u64 + 1, None);
        let mut builder = crate::table::rebuild(&new.file, 0);
        let file = builder.file_path(path.to_str().unwrap().to_owned()).build().unwrap();
        vec![NewFile { file, ..new }]
    }
}

#[async_trait]
impl CompleteDeletes for FoundAgain {
    fn prepared_on(&self) -> Option<i64> {
        self.prepared_on
    }

    async fn complete(&self, _base: &Table) -> Result<Completed> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        Ok(Completed { deletes: self.deletes(number), removed: vec![], instead: true })
    }
}

#[tokio::test]
async fn deletes_are_found_again_for_each_new_head() {
    for (others, rejected) in [(0, false), (1, false), (3, false), (0, true), (2, true)] {
        let w = Warehouse::new();
        let table = w.table(&[("format-version", "3"), ("commit.retry.min-wait-ms", "1")]).await;
        let base = w.commit(&table, append("f1", 9)).await;
        let dir = w.dir.path().join("deletes");
        std::fs::create_dir(&dir).unwrap();
        let prepared_on = base.metadata().current_snapshot_id();
        let found = Arc::new(FoundAgain { prepared_on, dir: dir.clone(), asked: AtomicUsize::new(0) });
        let operation = Operation::RowDelta(RowDelta {
            data: vec![data("mine", 1)],
            deletes: found.deletes(0),
            removed: vec![],
            omitted: Some(found.clone()),
        });
        let left = || {
            let names = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
            names.collect::<BTreeSet<_>>()
        };
        let appends: VecDeque<_> = (0..others).map(|i| append(&format!("x{i}"), 1)).collect();
        if rejected {
            for other in appends {
                w.commit(&table, other).await;
            }
            let faulty = Faulty::new(&*w.catalog, &[Fault::Rejected]);
            commit(&faulty, &table, "main", operation, &job()).await.unwrap_err();
            assert_eq!(left(), BTreeSet::from(["d0.puffin".to_owned()]), "the caller's own file is the caller's");
            continue;
        }
        let ops = OthersFirst { catalog: &*w.catalog, others: Mutex::new(appends) };
        let done = commit(&ops, &table, "main", operation, &job()).await.unwrap();
        assert_eq!(found.asked.load(Ordering::SeqCst), others);
        assert_eq!(left(), BTreeSet::from([format!("d{others}.puffin")]), "only what the snapshot has");
        assert_eq!(summary_of(&done.table)["added-position-deletes"], (others + 1).to_string());
        assert_eq!(summary_of(&done.table)["added-dvs"], "1");
        assert_eq!(w.avro_files(), referenced(&done.table).await);
    }
}
