//! A session on a folder, and statements as text.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use calve_engine::{ResultBody, Session, SessionConfig, StatementResult};
use calve_types::Error;

/// A session in database `db` of a Hadoop catalog in `warehouse`.
pub async fn session(warehouse: &Path, options: &[(&str, &str)]) -> Session {
    let options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let mut session = Session::new(SessionConfig { options, ..SessionConfig::default() }).unwrap();
    run(
        &mut session,
        &format!(
            "CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{}');
             USE CATALOG ice;
             CREATE DATABASE IF NOT EXISTS db;
             USE db",
            warehouse.display()
        ),
    )
    .await;
    session
}

/// Runs a script; the result of its last statement.
pub async fn try_run(session: &mut Session, script: &str) -> Result<Option<StatementResult>, Error> {
    let mut last = None;
    for statement in calve_sql::split(script) {
        last = Some(session.execute(&statement).await?);
    }
    Ok(last)
}

/// Runs a script that must succeed.
pub async fn run(session: &mut Session, script: &str) -> StatementResult {
    match try_run(session, script).await {
        Ok(Some(result)) => result,
        Ok(None) => panic!("no statement in {script:?}"),
        Err(error) => panic!("{script}\n{error}\n{error:?}"),
    }
}

/// The rows of a query that must succeed.
pub async fn rows(session: &mut Session, query: &str) -> Vec<Vec<Option<String>>> {
    try_rows(session, query).await.unwrap_or_else(|error| panic!("{query}\n{error:?}"))
}

/// The rows of a query, or its error, also one that comes while it runs.
pub async fn try_rows(session: &mut Session, query: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
    let Some(result) = try_run(session, query).await? else { return Ok(vec![]) };
    let ResultBody::Rows(mut rows) = result.body else { panic!("{query}: no rows") };
    let mut all = vec![];
    while let Some(batch) = rows.next_text().await {
        all.extend(batch?);
    }
    Ok(all)
}

/// All files below a folder.
pub fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.insert(path);
            }
        }
    }
    all
}
