//! Changes of rows that were read: files taken away, rows deleted by position, and what others did meanwhile.

use super::*;

fn eq(name: &str, p: Option<i32>) -> NewFile {
    file(name, DataContentType::EqualityDeletes, 1, p)
}

async fn head(w: &Warehouse, table: &Table) -> Option<i64> {
    w.catalog.refresh(table.ident()).await.unwrap().metadata().current_snapshot_id()
}

fn overwrite(read: Option<i64>, removed: Vec<FileId>, data: Vec<NewFile>, deletes: Vec<NewFile>) -> Overwrite {
    Overwrite { read, isolation: Isolation::Serializable, condition: None, removed, data, deletes }
}

#[tokio::test]
async fn files_are_rewritten_and_their_deletes_go_with_them() {
    for version in ["2", "3"] {
        let w = Warehouse::new();
        let table = w.table(&[("format-version", version)]).await;
        w.commit(&table, Operation::Append(Append { data: vec![data("f1", 5), data("f2", 7), data("f3", 1)] })).await;
        let about = |name: &str, of: &str| match version {
            "2" => positions(name, of, 2, None),
            _ => vector(name, of, 2, None),
        };
        let deletes = vec![about("d1", "f1"), about("d2", "f2"), eq("e", None)];
        let before = w.commit(&table, Operation::RowDelta(RowDelta { deletes, ..RowDelta::default() })).await;
        let ids = live(&before, "main").await;

        let read = before.metadata().current_snapshot_id();
        let change = overwrite(read, vec![named("f1"), named("f3")], vec![data("g", 3)], vec![]);
        let now = w.commit(&table, Operation::Overwrite(change)).await;
        let files = live(&now, "main").await;
        assert_eq!(names(&files), ["d2", "e", "f2", "g"]);
        assert_eq!(files["f2"], ids["f2"], "it keeps its sequence number, snapshot and row ids");
        let summary = summary_of(&now);
        for (key, value) in [
            ("operation", "overwrite"),
            ("added-data-files", "1"),
            ("added-records", "3"),
            ("deleted-data-files", "2"),
            ("deleted-records", "6"),
            ("removed-delete-files", "1"),
            ("removed-position-deletes", "2"),
            ("total-data-files", "2"),
            ("total-records", "10"),
            ("total-delete-files", "2"),
            ("total-position-deletes", "2"),
            ("total-equality-deletes", "1"),
            ("manifests-created", "3"),
            ("manifests-kept", "0"),
            ("manifests-replaced", "2"),
        ] {
            assert_eq!(summary.get(key).map(String::as_str), Some(value), "{key} of version {version}");
        }
        assert!(!summary.contains_key("replace-partitions"));
        if version == "3" {
            let range = now.metadata().current_snapshot().unwrap().row_range().unwrap();
            assert!(files["g"].2.unwrap() >= 13 && now.metadata().next_row_id() == range.0 + range.1);
        }

        // deleting only
        let read = now.metadata().current_snapshot_id();
        let now = w.commit(&table, Operation::Overwrite(overwrite(read, vec![named("g")], vec![], vec![]))).await;
        assert_eq!(summary_of(&now)["operation"], "delete");
        assert_eq!(names(&live(&now, "main").await), ["d2", "e", "f2"]);
        // adding only
        let read = now.metadata().current_snapshot_id();
        let now = w.commit(&table, Operation::Overwrite(overwrite(read, vec![], vec![data("h", 1)], vec![]))).await;
        assert_eq!(summary_of(&now)["operation"], "append");
        // everything is gone, and what deletes from it, too
        let read = now.metadata().current_snapshot_id();
        let all = vec![named("f2"), named("h")];
        let now = w.commit(&table, Operation::Overwrite(overwrite(read, all, vec![], vec![]))).await;
        assert_eq!(names(&live(&now, "main").await), [""; 0]);
        let summary = summary_of(&now);
        for total in ["total-data-files", "total-records", "total-delete-files", "total-files-size"] {
            assert_eq!(summary[total], "0", "{total}");
        }
        assert_eq!(w.avro_files(), referenced(&now).await);
    }
}

#[tokio::test]
async fn a_data_file_has_one_deletion_vector() {
    let w = Warehouse::new();
    let table = w.table(&[("format-version", "3")]).await;
    let data = vec![data("f1", 5), data("f2", 7)];
    let first = w.commit(&table, Operation::Append(Append { data })).await;
    // two vectors in one file
    let both = vec![vector_at("d", 4, "f1", 1, None), vector_at("d", 48, "f2", 2, None)];
    let read = first.metadata().current_snapshot_id();
    let second = w.commit(&table, Operation::Overwrite(overwrite(read, vec![], vec![], both))).await;
    let summary = summary_of(&second);
    assert_eq!((summary["operation"].as_str(), summary["added-dvs"].as_str()), ("delete", "2"));
    assert_eq!(summary["added-files-size"], "88");

    // without taking the old one away there would be two
    let read = second.metadata().current_snapshot_id();
    let more = || vec![vector("d1", "f1", 3, None)];
    let error = w.refused(&table, Operation::Overwrite(overwrite(read, vec![], vec![], more()))).await;
    assert_eq!(error.code, "commit-conflict");
    let delta = RowDelta { deletes: more(), ..RowDelta::default() };
    assert_eq!(w.refused(&table, Operation::RowDelta(delta)).await.code, "commit-conflict");

    let removed = vec![FileId { path: "/nowhere/d".to_owned(), content_offset: Some(4) }];
    let delta = RowDelta { deletes: more(), removed: removed.clone(), ..RowDelta::default() };
    let third = w.commit(&table, Operation::RowDelta(delta)).await;
    let summary = summary_of(&third);
    for (key, value) in [
        ("operation", "delete"),
        ("added-dvs", "1"),
        ("removed-dvs", "1"),
        ("added-position-deletes", "3"),
        ("removed-position-deletes", "1"),
        ("total-position-deletes", "5"),
        ("total-delete-files", "2"),
    ] {
        assert_eq!(summary.get(key).map(String::as_str), Some(value), "{key}");
    }
    let files = live(&third, "main").await;
    assert_eq!(names(&files), ["d", "d1", "f1", "f2"], "the other vector of the file stays");
    // it cannot be taken away twice
    let delta = RowDelta { deletes: vec![], removed, ..RowDelta::default() };
    let error = w.refused(&table, Operation::RowDelta(delta)).await;
    assert_eq!(error.code, "commit-conflict");
    assert_eq!(error.detail.unwrap(), "Missing required files to delete: /nowhere/d");
    assert!(
        w.refused(
            &table,
            Operation::Overwrite(overwrite(third.metadata().current_snapshot_id(), vec![named("f1")], vec![], more()))
        )
        .await
        .code
            == "internal"
    );
    assert_eq!(w.avro_files(), referenced(&third).await);
}

/// What another writer does between the read and the commit.
enum Other {
    Append,
    Remove(&'static str),
    DeleteFrom(&'static str),
    Keys(Option<i32>),
    Replace(i32),
}

#[tokio::test]
async fn what_others_did_meanwhile_decides() {
    use Isolation::{Serializable, Snapshot};
    use Other::{DeleteFrom, Keys, Remove, Replace};
    // what the change does to f1, of partition 1; the other's deed; allowed under snapshot isolation, and serializable
    let cases = [
        (Other::Append, true, false),
        (Remove("f1"), false, false),
        (Remove("f2"), true, true),
        (DeleteFrom("f1"), false, false),
        (DeleteFrom("f2"), true, true),
        (Keys(Some(1)), false, false),
        (Keys(Some(2)), true, true),
        (Replace(1), false, false),
        (Replace(2), true, false),
    ];
    for version in ["2", "3"] {
        for by_position in [false, true] {
            for (other, snapshot_allows, serializable_allows) in &cases {
                for (isolation, allowed) in [(Snapshot, snapshot_allows), (Serializable, serializable_allows)] {
                    let w = Warehouse::new();
                    let table = w.partitioned(&[("format-version", version)], &[("p", Transform::Identity)]).await;
                    let part = |name: &str, p| file(name, DataContentType::Data, 3, Some(p));
                    let about = |name: &str, of: &str, p| match version {
                        "2" => positions(name, of, 1, Some(p)),
                        _ => vector(name, of, 1, Some(p)),
                    };
                    let all = vec![part("f1", 1), part("f2", 2)];
                    let first = w.commit(&table, Operation::Append(Append { data: all })).await;
                    let read = first.metadata().current_snapshot_id();
                    let deletes = |deletes| Operation::RowDelta(RowDelta { deletes, ..RowDelta::default() });
                    let deed = match other {
                        Other::Append => Operation::Append(Append { data: vec![part("x", 3)] }),
                        Remove(name) => Operation::Overwrite(overwrite(read, vec![named(name)], vec![], vec![])),
                        DeleteFrom("f1") => deletes(vec![about("x", "f1", 1)]),
                        DeleteFrom(name) => deletes(vec![about("x", name, 2)]),
                        Keys(p) => deletes(vec![eq("x", *p)]),
                        Replace(p) => Operation::ReplacePartitions(ReplacePartitions { data: vec![part("x", *p)] }),
                    };
                    let between = w.commit(&table, deed).await;
                    let (removed, deletes) = match by_position {
                        true => (vec![], vec![about("mine", "f1", 1)]),
                        false => (vec![named("f1")], vec![]),
                    };
                    let data = vec![part("mine-too", 1)];
                    let change = Overwrite { isolation, ..overwrite(read, removed, data, deletes) };
                    let done = commit(&*w.catalog, &table, "main", Operation::Overwrite(change), &job()).await;
                    assert_eq!(done.is_ok(), *allowed, "{version} {by_position} {isolation:?} {done:?}");
                    let now = w.catalog.refresh(table.ident()).await.unwrap();
                    assert_eq!(w.avro_files(), referenced(&now).await);
                    if let Err(error) = done {
                        assert_eq!(error.code, "commit-conflict");
                        assert!(error.detail.is_some() && error.is_retryable(), "{error:?}");
                        assert_eq!(live(&now, "main").await, live(&between, "main").await);
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn global_deletes_concern_every_file() {
    let w = Warehouse::new();
    let table = w.table(&[]).await;
    let read = w.commit(&table, append("f1", 3)).await.metadata().current_snapshot_id();
    w.commit(&table, Operation::RowDelta(RowDelta { deletes: vec![eq("e", None)], ..RowDelta::default() })).await;
    let change = Overwrite { isolation: Isolation::Snapshot, ..overwrite(read, vec![named("f1")], vec![], vec![]) };
    let error = w.refused(&table, Operation::Overwrite(change)).await;
    assert_eq!(error.detail.unwrap(), "Cannot commit, found new delete for replaced data file: /nowhere/e");
}

#[tokio::test]
async fn a_history_that_is_not_known_is_a_conflict() {
    let w = Warehouse::new();
    let table = w.table(&[]).await;
    let one = w.commit(&table, append("f1", 3)).await.metadata().current_snapshot_id();
    let two = w.commit(&table, append("f2", 3)).await;
    // set back to the first snapshot
    let reference = SnapshotReference::new(one.unwrap(), SnapshotRetention::branch(None, None, None));
    let back = vec![TableUpdate::SetSnapshotRef { ref_name: "main".to_owned(), reference }];
    w.catalog.commit(&two, vec![], back).await.unwrap();
    let read = two.metadata().current_snapshot_id();
    let change = Overwrite { isolation: Isolation::Snapshot, ..overwrite(read, vec![named("f1")], vec![], vec![]) };
    let error = w.refused(&table, Operation::Overwrite(change)).await;
    assert_eq!(error.code, "commit-conflict");
    assert!(error.detail.unwrap().starts_with("Cannot determine history between starting snapshot"));
    // on an empty table everything is new
    let change = overwrite(None, vec![], vec![data("g", 1)], vec![]);
    assert_eq!(w.refused(&table, Operation::Overwrite(change)).await.code, "commit-conflict");
    let change = overwrite(head(&w, &table).await, vec![named("f1")], vec![data("g", 1)], vec![]);
    assert_eq!(names(&live(&w.commit(&table, Operation::Overwrite(change)).await, "main").await), ["g"]);
}

#[tokio::test]
async fn a_compaction_is_no_change_of_rows() {
    // files that others rewrote without changing a row are new files with rows that were read
    let w = Warehouse::new();
    let table = w.table(&[]).await;
    let data = vec![data("f1", 3), data("f2", 3)];
    let first = w.commit(&table, Operation::Append(Append { data })).await;
    let read = first.metadata().current_snapshot_id();
    let change = overwrite(read, vec![named("f2")], vec![super::data("f2-again", 3)], vec![]);
    let done = commit_as_compaction(&w, &table, change).await;
    assert_eq!(names(&live(&done, "main").await), ["f1", "f2-again"]);
    let change = overwrite(read, vec![named("f1")], vec![], vec![]);
    assert_eq!(names(&live(&w.commit(&table, Operation::Overwrite(change)).await, "main").await), ["f2-again"]);
    let change = overwrite(read, vec![named("f2")], vec![], vec![]);
    assert_eq!(w.refused(&table, Operation::Overwrite(change)).await.code, "commit-conflict");
}

/// Commits a change as an operation that the snapshot says replaced files without changing rows.
async fn commit_as_compaction(w: &Warehouse, table: &Table, change: Overwrite) -> Table {
    struct AsReplace<'a>(&'a dyn Catalog);
    #[async_trait]
    impl TableOps for AsReplace<'_> {
        async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
            self.0.refresh(ident).await
        }

        async fn commit(
            &self,
            base: &Table,
            requirements: Vec<TableRequirement>,
            updates: Vec<TableUpdate>,
        ) -> Result<Table, CommitError> {
            let replace = |update| match update {
                TableUpdate::AddSnapshot { snapshot } => {
                    let mut summary = snapshot.summary().clone();
                    summary.operation = iceberg::spec::Operation::Replace;
                    let other = iceberg::spec::Snapshot::builder()
                        .with_snapshot_id(snapshot.snapshot_id())
                        .with_parent_snapshot_id(snapshot.parent_snapshot_id())
                        .with_sequence_number(snapshot.sequence_number())
                        .with_timestamp_ms(snapshot.timestamp_ms())
                        .with_manifest_list(snapshot.manifest_list().to_owned())
                        .with_schema_id(snapshot.schema_id().unwrap())
                        .with_summary(summary)
                        .build();
                    TableUpdate::AddSnapshot { snapshot: other }
                }
                update => update,
            };
            self.0.commit(base, requirements, updates.into_iter().map(replace).collect()).await
        }
    }
    commit(&AsReplace(&*w.catalog), table, "main", Operation::Overwrite(change), &job()).await.unwrap().table
}

#[tokio::test]
async fn deletes_by_position_fit_the_format_version() {
    for (version, wrong) in [("2", vector("d", "f", 1, None)), ("3", positions("d", "f", 1, None))] {
        let w = Warehouse::new();
        let table = w.table(&[("format-version", version)]).await;
        let now = w.commit(&table, append("f", 3)).await;
        let delta = RowDelta { deletes: vec![wrong], ..RowDelta::default() };
        let error = w.refused(&table, Operation::RowDelta(delta)).await;
        assert_eq!(error.code, "commit-conflict");
        assert!(error.detail.unwrap().contains("for position deletes in V"));
        assert_eq!(w.avro_files(), referenced(&now).await);
    }
}

/// A condition that files of some names may match.
#[derive(Debug)]
struct Named(&'static str);

impl Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("id = 7")
    }
}

impl ConflictFilter for Named {
    fn may_match(&self, _base: &Table, files: &[(&DataFile, i32)]) -> Vec<bool> {
        files.iter().map(|(file, _)| file.file_path().ends_with(self.0)).collect()
    }
}

#[tokio::test]
async fn added_rows_that_the_condition_rules_out_are_no_conflict() {
    let w = Warehouse::new();
    let table = w.table(&QUICK).await;
    let before = w.commit(&table, append("f1", 5)).await;
    let read = before.metadata().current_snapshot_id();
    w.commit(&table, Operation::Append(Append { data: vec![data("other", 1), data("another", 1)] })).await;
    w.commit(&table, append("match", 1)).await;
    let change = |name: &'static str| {
        let condition: Option<Arc<dyn ConflictFilter>> = Some(Arc::new(Named(name)));
        let change = overwrite(read, vec![named("f1")], vec![data("g", 3)], vec![]);
        Operation::Overwrite(Overwrite { condition, ..change })
    };
    let error = w.refused(&table, change("match")).await;
    assert_eq!(error.code, "commit-conflict");
    let detail = error.detail.unwrap();
    assert_eq!(detail, "Found conflicting files that can contain records matching id = 7: [/nowhere/match]");
    let now = w.commit(&table, change("nothing")).await;
    assert_eq!(names(&live(&now, "main").await), ["another", "g", "match", "other"]);
}
