//! Jobs in a table's history.

use super::*;

const JOB: &str = "0123456789abcdef0123456789abcdef";

fn write(operator: &str, place: &str) -> JobInfo {
    JobInfo {
        job_id: JOB.to_owned(),
        operator_id: operator.to_owned(),
        checkpoint_id: i64::MAX,
        place: Some(place.to_owned()),
    }
}

fn of_job() -> CommitMark {
    CommitMark::Job { job_id: JOB.to_owned(), operator_id: None }
}

async fn expire(w: &Warehouse, table: &Table, snapshot_ids: Vec<i64>) -> Table {
    let table = w.catalog.refresh(table.ident()).await.unwrap();
    w.catalog.commit(&table, vec![], vec![TableUpdate::RemoveSnapshots { snapshot_ids }]).await.unwrap()
}

#[tokio::test]
async fn a_write_of_a_job_is_committed_once() {
    let w = Warehouse::new();
    let table = w.table(&QUICK).await;
    let (one, two) = (write("1", "1.1"), write("2", "2.1"));
    assert_eq!(earlier(&table, "main", &one).unwrap(), Earlier::None);
    let first = commit(&*w.catalog, &table, "main", append("f1", 3), &one).await.unwrap();
    // whoever prepared the same write meanwhile finds it
    let again = commit(&*w.catalog, &table, "main", append("f1-again", 3), &one).await.unwrap();
    assert!(again.earlier && again.snapshot_id == first.snapshot_id);
    let other = commit(&*w.catalog, &table, "main", append("f2", 1), &two).await.unwrap();
    assert!(!other.earlier);
    // a job that does not run again may commit as often as it likes
    for name in ["f3", "f4"] {
        commit(&*w.catalog, &table, "main", append(name, 1), &job()).await.unwrap();
    }
    let now = w.catalog.refresh(table.ident()).await.unwrap();
    assert_eq!(names(&live(&now, "main").await), ["f1", "f2", "f3", "f4"]);
    assert_eq!(w.avro_files(), referenced(&now).await);

    let Earlier::Committed(found) = earlier(&now, "main", &one).unwrap() else { panic!() };
    assert_eq!((found.snapshot_id, found.rows, found.data_files), (first.snapshot_id, 3, 1));
    assert_eq!((found.operation.as_str(), found.place.as_deref()), ("append", Some("1.1")));
    // another write at the place of one that is committed
    let Earlier::Other(found) = earlier(&now, "main", &write("3", "2.1")).unwrap() else { panic!() };
    assert_eq!(found.snapshot_id, other.snapshot_id);
    assert_eq!(earlier(&now, "main", &write("3", "3.1")).unwrap(), Earlier::None);
    // an older checkpoint of the job is not its end
    let streaming = JobInfo { checkpoint_id: 7, ..write("4", "4.1") };
    commit(&*w.catalog, &table, "main", append("f5", 1), &streaming).await.unwrap();
    let now = w.catalog.refresh(table.ident()).await.unwrap();
    assert!(matches!(earlier(&now, "main", &write("4", "9.1")).unwrap(), Earlier::None));
    assert!(matches!(
        earlier(&now, "main", &JobInfo { checkpoint_id: 6, ..streaming }).unwrap(),
        Earlier::Committed(_)
    ));
}

#[tokio::test]
async fn the_history_of_a_branch_answers() {
    let w = Warehouse::new();
    let table = w.table(&QUICK).await;
    assert_eq!(verdict(&table, "main", &of_job()).unwrap(), CommitVerdict::NotCommitted);
    let base = commit(&*w.catalog, &table, "main", append("f0", 1), &job()).await.unwrap();
    let audit = commit(&*w.catalog, &table, "audit", append("f1", 2), &write("1", "1.1")).await.unwrap();
    let now = audit.table;
    assert_eq!(verdict(&now, "main", &of_job()).unwrap().name(), "not committed", "it is another branch's");
    assert_eq!(verdict(&now, "audit", &of_job()).unwrap().name(), "committed");
    assert_eq!(verdict(&now, "audit", &CommitMark::Snapshot(audit.snapshot_id)).unwrap().name(), "committed");
    assert_eq!(verdict(&now, "audit", &CommitMark::Snapshot(base.snapshot_id)).unwrap().name(), "committed");
    assert_eq!(verdict(&now, "audit", &CommitMark::Snapshot(1)).unwrap().name(), "not committed");
    let other = CommitMark::Job { job_id: JOB.to_owned(), operator_id: Some("2".to_owned()) };
    assert_eq!(verdict(&now, "audit", &other).unwrap().name(), "not committed");
    let upper = CommitMark::Job { job_id: JOB.to_ascii_uppercase(), operator_id: Some("1".to_owned()) };
    assert_eq!(verdict(&now, "audit", &upper).unwrap().name(), "committed");
    assert_eq!(verdict(&now, "nowhere", &of_job()).unwrap_err().code, "unknown-ref");
    assert_eq!(newest_of_job(&now, "main", JOB).unwrap(), None);
    assert_eq!(newest_of_job(&now, "audit", JOB).unwrap().unwrap().snapshot_id(), audit.snapshot_id);
    let updates = vec![TableUpdate::RemoveSnapshotRef { ref_name: "audit".to_owned() }];
    let gone = w.catalog.commit(&now, vec![], updates).await.unwrap();
    assert_eq!(verdict(&gone, "main", &of_job()).unwrap().name(), "taken back");
    // a write to main runs: what the branch has is not in it
    assert_eq!(earlier(&now, "main", &write("1", "1.1")).unwrap(), Earlier::None);
}

#[tokio::test]
async fn what_has_expired_is_not_known() {
    let w = Warehouse::new();
    let table = w.table(&QUICK).await;
    let one = write("1", "1.1");
    let first = commit(&*w.catalog, &table, "main", append("f1", 1), &one).await.unwrap();
    commit(&*w.catalog, &table, "main", append("f2", 1), &job()).await.unwrap();
    let young = uuid::Uuid::now_v7().simple().to_string();
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let last = commit(&*w.catalog, &table, "main", append("f3", 1), &job()).await.unwrap();
    let now = w.catalog.refresh(table.ident()).await.unwrap();
    let all: Vec<i64> = now.metadata().snapshots().map(|s| s.snapshot_id()).collect();
    let old: Vec<i64> = all.into_iter().filter(|id| *id != last.snapshot_id).collect();
    assert!(old.contains(&first.snapshot_id));
    let now = expire(&w, &table, old).await;
    let since = now.metadata().current_snapshot().unwrap().timestamp_ms();
    assert_eq!(verdict(&now, "main", &of_job()).unwrap(), CommitVerdict::Expired { since });
    assert_eq!(earlier(&now, "main", &one).unwrap(), Earlier::Expired { since });
    // a job that is younger than what has expired is not in it
    let of = |job_id: &String| JobInfo { job_id: job_id.clone(), ..one.clone() };
    std::thread::sleep(std::time::Duration::from_millis(5));
    let youngest = uuid::Uuid::now_v7().simple().to_string();
    assert_eq!(earlier(&now, "main", &of(&youngest)).unwrap(), Earlier::None);
    assert_eq!(earlier(&now, "main", &of(&young)).unwrap(), Earlier::Expired { since });
    let mark = CommitMark::Job { job_id: youngest, operator_id: None };
    assert_eq!(verdict(&now, "main", &mark).unwrap(), CommitVerdict::NotCommitted);
}

/// The name of a verdict.
trait Named {
    fn name(self) -> &'static str;
}

impl Named for CommitVerdict {
    fn name(self) -> &'static str {
        match self {
            Self::Committed(_) => "committed",
            Self::TakenBack(_) => "taken back",
            Self::NotCommitted => "not committed",
            Self::Expired { .. } => "expired",
        }
    }
}

#[test]
fn job_ids_are_of_one_form() {
    assert_eq!(parse_job_id("0123456789ABCDEF0123456789abcdef").as_deref(), Some(JOB));
    assert_eq!(parse_job_id("01234567-89ab-cdef-0123-456789abcdef").as_deref(), Some(JOB));
    for wrong in [
        "",
        "0123",
        "{01234567-89ab-cdef-0123-456789abcd}",
        "g123456789abcdef0123456789abcdef",
        "é123456789abcdef0123456789abcde",
    ] {
        assert_eq!(parse_job_id(wrong), None, "{wrong}");
    }
    assert_eq!(utc(1_769_860_800_000), "2026-01-31T12:00:00Z");
}
