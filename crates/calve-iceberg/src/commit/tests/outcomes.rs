//! Every way a commit can end, for every kind of change: in once, out without a file left, or unknown with all of its files.

use super::faults::{Fault, Faulty, RefreshFailsLater};
use super::*;

/// The kinds of changes, on a table with the files `a` and `b`.
const KINDS: [&str; 4] = ["append", "row delta", "overwrite", "replace"];

fn operation(kind: &str, before: &Table) -> Operation {
    let data = vec![data("new", 1)];
    match kind {
        "append" => Operation::Append(Append { data }),
        "row delta" => {
            let deletes = vec![file("deletes", DataContentType::EqualityDeletes, 1, None)];
            Operation::RowDelta(RowDelta { data, deletes, ..RowDelta::default() })
        }
        "overwrite" => {
            let read = before.metadata().current_snapshot_id();
            let (removed, isolation) = (vec![named("a")], Isolation::Snapshot);
            Operation::Overwrite(Overwrite { read, isolation, removed, data, ..Overwrite::default() })
        }
        _ => Operation::ReplacePartitions(ReplacePartitions { data }),
    }
}

/// The live files after the change, and those of a commit that came before it.
fn after(kind: &str, overtaken: bool) -> Vec<&'static str> {
    let mut files = match kind {
        "append" => vec!["a", "b", "new"],
        "row delta" => vec!["a", "b", "deletes", "new"],
        "overwrite" => vec!["b", "new"],
        _ => return vec!["new"],
    };
    if overtaken {
        files.push("other");
        files.sort_unstable();
    }
    files
}

async fn prepared(with: &[(&str, &str)]) -> (Warehouse, Table, Table) {
    let w = Warehouse::new();
    let table = w.table(with).await;
    w.commit(&table, append("a", 3)).await;
    let before = w.commit(&table, append("b", 4)).await;
    (w, table, before)
}

#[tokio::test]
async fn it_is_in_once() {
    use Fault::{Conflict, Overtaken, Unknown, UnknownButDone};
    for faults in [
        vec![],
        vec![Conflict],
        vec![Conflict, Conflict, Conflict, Conflict],
        vec![Unknown],
        vec![UnknownButDone],
        vec![Unknown, Conflict, UnknownButDone],
        vec![Overtaken],
        vec![Unknown, Overtaken, UnknownButDone],
    ] {
        for kind in KINDS {
            let (w, table, before) = prepared(&QUICK).await;
            let faulty = Faulty::new(&*w.catalog, &faults);
            let done = commit(&faulty, &table, "main", operation(kind, &before), &job()).await;
            let done = done.unwrap_or_else(|error| panic!("{kind} {faults:?}: {error:?}"));
            assert!(!done.earlier);
            let now = w.catalog.refresh(table.ident()).await.unwrap();
            let expected = after(kind, faults.contains(&Overtaken));
            assert_eq!(names(&live(&now, "main").await), expected, "{kind} {faults:?}");
            assert_eq!(now.metadata().current_snapshot_id(), Some(done.snapshot_id));
            assert_eq!(w.avro_files(), referenced(&now).await, "{kind} {faults:?}");
        }
    }
}

#[tokio::test]
async fn it_is_out_and_nothing_is_left() {
    use Fault::{Conflict, Overtaken, Rejected};
    for (faults, code) in [
        (vec![Rejected], "io"),
        (vec![Conflict, Rejected], "io"),
        (vec![Conflict; 9], "commit-conflict"),
        // what the lost answer was about cannot happen any more: another snapshot is in its place
        (vec![Overtaken, Rejected], "io"),
        (vec![Overtaken, Conflict, Conflict, Conflict, Conflict, Conflict], "commit-conflict"),
    ] {
        for kind in KINDS {
            let (w, table, before) = prepared(&QUICK).await;
            let faulty = Faulty::new(&*w.catalog, &faults);
            let error = commit(&faulty, &table, "main", operation(kind, &before), &job()).await.unwrap_err();
            assert_eq!(error.code, code, "{kind} {faults:?}: {error:?}");
            let now = w.catalog.refresh(table.ident()).await.unwrap();
            assert!(!live(&now, "main").await.contains_key("new"), "{kind} {faults:?}");
            assert_eq!(w.avro_files(), referenced(&now).await, "{kind} {faults:?}");
        }
    }
}

#[tokio::test]
async fn it_is_unknown_and_nothing_is_deleted() {
    use Fault::{Unknown, UnknownButDone};
    // not done, and nobody else comes; done and not done, and the catalog is gone
    for (faults, failures) in [(vec![Unknown; 9], 0), (vec![UnknownButDone], 100), (vec![Unknown], 100)] {
        for kind in KINDS {
            let (w, table, before) = prepared(&QUICK).await;
            let faulty = Faulty::new(&*w.catalog, &faults);
            let ops = RefreshFailsLater { faulty: &faulty, failures };
            let error = commit(&ops, &table, "main", operation(kind, &before), &job()).await.unwrap_err();
            assert_eq!(error.code, "commit-unknown", "{kind} {faults:?}: {error:?}");
            assert!(error.message.ends_with("connection lost"), "{error:?}");
            let now = w.catalog.refresh(table.ident()).await.unwrap();
            let done = faults == [UnknownButDone];
            assert_eq!(live(&now, "main").await.contains_key("new"), done, "{kind} {faults:?}");
            // whatever is in has its files, and what may still get in has them, too
            assert!(w.avro_files().is_superset(&referenced(&now).await), "{kind} {faults:?}");
            let lists = w.avro_files().iter().filter(|name| name.starts_with("snap-")).count();
            assert_eq!(lists, if failures == 0 { 2 + 5 } else { 3 }, "{kind} {faults:?}");
            // the id in the error is the one to look for
            let id = now.metadata().current_snapshot_id().unwrap();
            assert_eq!(error.detail.unwrap().contains(&format!("The snapshot would be {id}.")), done);
        }
    }
}

#[tokio::test]
async fn the_table_says_how_patient_to_be() {
    // three looks are the default: a catalog that is gone for longer is not waited for
    for (checks, failures, known) in [("3", 3, true), ("3", 8, false), ("12", 12, true), ("0", 1, false)] {
        let longest = ("commit.status-check.max-wait-ms", "2");
        let with = [QUICK[0], QUICK[1], longest, ("commit.status-check.num-retries", checks)];
        let (w, table, before) = prepared(&with).await;
        let faulty = Faulty::new(&*w.catalog, &[Fault::UnknownButDone]);
        let ops = RefreshFailsLater { faulty: &faulty, failures };
        let done = commit(&ops, &table, "main", operation("append", &before), &job()).await;
        // one more look, as patient, comes in the end
        let looks = 2 * (checks.parse::<usize>().unwrap() + 1);
        assert_eq!(done.is_ok(), known || failures < looks, "{checks} {failures}: {done:?}");
    }
    let (_, table, _) = prepared(&QUICK).await;
    check(&table).unwrap();
    for (key, value) in [
        ("commit.retry.num-retries", "often"),
        ("commit.retry.total-timeout-ms", "-1"),
        ("commit.status-check.min-wait-ms", "soon"),
        ("commit.manifest.target-size-bytes", "large"),
        ("write.summary.partition-limit", "few"),
    ] {
        let (_, table, _) = prepared(&[]).await;
        let mut metadata = table.metadata().as_ref().clone().into_builder(None);
        metadata = metadata.set_properties(HashMap::from([(key.to_owned(), value.to_owned())])).unwrap();
        let wrong = crate::catalog::staged(&table, metadata.build().unwrap().metadata);
        assert_eq!(check(&wrong).unwrap_err().code, "invalid-option", "{key}");
    }
}

/// A REPLACE TABLE may make columns NOT NULL while rows without them are on their way.
#[tokio::test]
async fn rows_that_lack_what_is_required_by_now_stay_out() {
    use iceberg::spec::{NestedField, PrimitiveType, Schema, Type};
    for kind in KINDS {
        let w = Warehouse::new();
        let table = w.table(&QUICK).await;
        let table = w.commit(&w.commit(&table, append("a", 1)).await, append("b", 1)).await;
        let string = Type::Primitive(PrimitiveType::String);
        let schema = |more: NestedField| {
            let fields = table.metadata().current_schema().as_struct().fields().iter().cloned().chain([more.into()]);
            let schema = Schema::builder().with_fields(fields).with_identifier_field_ids([1]).build().unwrap();
            vec![TableUpdate::AddSchema { schema }, TableUpdate::SetCurrentSchema { schema_id: -1 }]
        };
        let optional = NestedField::optional(3, "more", string.clone());
        let now = w.catalog.commit(&table, vec![], schema(optional)).await.unwrap();
        let prepared = operation(kind, &table);
        w.commit(&table, prepared.clone()).await;
        let required = NestedField::required(4, "needed", string);
        let now =
            w.catalog.commit(&w.catalog.refresh(now.ident()).await.unwrap(), vec![], schema(required)).await.unwrap();
        let before = (w.avro_files(), live(&now, "main").await);
        let error = w.refused(&table, append("late", 1)).await;
        assert_eq!(
            (error.code, error.message.contains("column 'needed' is NOT NULL by now")),
            ("commit-conflict", true)
        );
        assert_eq!(w.refused(&table, prepared).await.code, "commit-conflict", "{kind}");
        let after = w.catalog.refresh(now.ident()).await.unwrap();
        assert_eq!((w.avro_files(), live(&after, "main").await), before, "{kind}");
        // what is written for the new schema gets in
        w.commit(&after, append("new", 1)).await;
    }
}

/// Rows on their way to a table do not get into the one that replaced it; into one that was set back they do.
#[tokio::test]
async fn rows_for_a_table_that_was_replaced_stay_out() {
    for kind in KINDS {
        let w = Warehouse::new();
        let first = w.commit(&w.table(&QUICK).await, append("a", 1)).await;
        let table = w.commit(&first, append("b", 1)).await;
        let main = |snapshot_id: i64| TableUpdate::SetSnapshotRef {
            ref_name: "main".to_owned(),
            reference: SnapshotReference::new(snapshot_id, SnapshotRetention::branch(None, None, None)),
        };
        let back = main(first.metadata().current_snapshot_id().unwrap());
        let set_back = w.catalog.commit(&table, vec![], vec![back]).await.unwrap();
        if kind != "overwrite" {
            w.commit(&table, operation(kind, &table)).await;
        }
        let gone = TableUpdate::RemoveSnapshotRef { ref_name: "main".to_owned() };
        let set_back = w.catalog.refresh(set_back.ident()).await.unwrap();
        let mut now = w.catalog.commit(&set_back, vec![], vec![gone]).await.unwrap();
        for is_empty in [true, false] {
            if !is_empty {
                now = w.commit(&now, append("other", 1)).await;
            }
            let before = (w.avro_files(), live(&now, "main").await);
            let error = w.refused(&table, operation(kind, &table)).await;
            assert_eq!(error.code, "commit-conflict", "{kind}: {error:?}");
            let after = w.catalog.refresh(now.ident()).await.unwrap();
            assert_eq!((w.avro_files(), live(&after, "main").await), before, "{kind}");
        }
    }
}
