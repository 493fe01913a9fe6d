use calve_types::Error;
use datafusion::prelude::SessionContext;

use super::write::{all_names, insert, ints, pending};
use super::*;
use crate::testing::context;
use crate::{Pending, from_datafusion};

fn numbers(path: &Path, options: &[(&str, &str)]) -> TableDefinition {
    files_table(path, "csv", &[("a", T::Int.nullable())], options)
}

async fn sorted(table: &TableDefinition) -> Vec<String> {
    let mut rows: Vec<String> = read(table).await.unwrap().into_iter().flatten().collect();
    rows.sort();
    rows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn overwrites_at_the_same_time_leave_the_rows_of_one() {
    let dir = folder();
    let table = numbers(dir.path(), &[]);
    insert(&table, false, vec![ints(&[0])]).await;
    let commit = |pending: Box<dyn Pending>| tokio::spawn(pending.commit());
    for round in 0..30 {
        let (one, two) = (pending(&table, true, vec![ints(&[1])]).await, pending(&table, true, vec![ints(&[2])]).await);
        let (one, two) = (commit(one), commit(two));
        // whoever reads sees one state of the table; that of before may be gone when it is read
        match read(&table).await {
            Ok(rows) => assert_eq!(rows.len(), 1, "round {round}: {rows:?}"),
            Err(error) => assert!(error.hint.unwrap().contains("overwritten")),
        }
        one.await.unwrap().unwrap();
        two.await.unwrap().unwrap();
        let rows = sorted(&table).await;
        assert!(rows == ["1"] || rows == ["2"], "round {round}: {rows:?}");
    }
    assert_eq!(all_names(dir.path()).len(), 1);
}

#[tokio::test]
async fn an_overwrite_replaces_what_is_there_when_it_is_committed() {
    let dir = folder();
    let table = numbers(dir.path(), &[]);
    insert(&table, false, vec![ints(&[1])]).await;
    let overwrite = pending(&table, true, vec![ints(&[2])]).await;
    let later = pending(&table, false, vec![ints(&[3])]).await;
    insert(&table, false, vec![ints(&[4])]).await;
    overwrite.commit().await.unwrap();
    assert_eq!(sorted(&table).await, ["2"]);
    later.commit().await.unwrap();
    assert_eq!(sorted(&table).await, ["2", "3"]);
}

#[tokio::test]
async fn an_overwrite_that_fails_leaves_the_old_rows() {
    let dir = folder();
    let table = numbers(dir.path(), &[("sink.partition-commit.policy.kind", "success-file")]);
    insert(&numbers(dir.path(), &[]), false, vec![ints(&[1, 2])]).await;
    let before = all_names(dir.path());
    fs::create_dir(dir.path().join("_SUCCESS")).unwrap();
    let error = pending(&table, true, vec![ints(&[3])]).await.commit().await.unwrap_err();
    assert!(error.message.contains("_SUCCESS"), "{error}");
    fs::remove_dir(dir.path().join("_SUCCESS")).unwrap();
    assert_eq!(all_names(dir.path()), before);
    assert_eq!(sorted(&table).await, ["1", "2"]);
}

#[tokio::test]
async fn folders_of_dead_writers_go() {
    let dir = folder();
    let table = numbers(dir.path(), &[]);
    let alive = pending(&table, false, vec![ints(&[1])]).await;
    let dead = dir.path().join(".staging-6f1c2a9e-0d1b-4c43-9a4b-0f6f1b6f1a11");
    fs::create_dir_all(dead.join(".old")).unwrap();
    fs::write(dead.join(".old/0"), "9\n").unwrap();
    // not of a writer
    let (foreign, file) = (dir.path().join(".staging-mine"), "7e1c2a9e-0d1b-4c43-9a4b-0f6f1b6f1a11");
    fs::create_dir(&foreign).unwrap();
    fs::write(dir.path().join(format!(".staging-{file}")), "x").unwrap();
    insert(&table, false, vec![ints(&[2])]).await;
    assert!(!dead.exists());
    assert!(foreign.is_dir() && dir.path().join(format!(".staging-{file}")).is_file());
    alive.commit().await.unwrap();
    assert_eq!(sorted(&table).await, ["1", "2"]);
}

#[tokio::test]
async fn a_reader_whose_files_are_gone_is_told_why() {
    for format in ["csv", "json", "parquet", "raw"] {
        let dir = folder();
        let table = files_table(dir.path(), format, &[("a", T::Int.nullable())], &[]);
        insert(&table, false, vec![ints(&[1])]).await;
        let session = SessionContext::new();
        let provider = crate::source(&table, &context().0).unwrap();
        let plan = provider.scan(&session.state(), None, &[], None).await.unwrap();
        insert(&table, true, vec![ints(&[2])]).await;
        let read = datafusion::physical_plan::collect(plan, session.task_ctx()).await;
        let error: Error = read.map_err(from_datafusion).unwrap_err();
        assert_eq!(error.code, "io", "{format}");
        assert!(error.message.starts_with("cannot read file"), "{error}");
        assert_eq!(error.hint.unwrap(), "the table was overwritten while it was read: run the statement again");
    }
}

/// Writers that make the table's folder and take it away again do not trip others up.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_folder_that_comes_and_goes() {
    let dir = folder();
    let path = dir.path().join("new/t");
    let table = numbers(&path, &[]);
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let table = table.clone();
        tasks.push(tokio::spawn(async move {
            for n in 0..50 {
                pending(&table, n % 2 == 0, vec![ints(&[n])]).await.discard().await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    insert(&table, false, vec![ints(&[1])]).await;
    assert_eq!(sorted(&table).await, ["1"]);
    assert_eq!(all_names(&path).len(), 1);
}
