#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod failure;
mod lineage;
mod model;
mod partitions;

use std::path::{Path, PathBuf};

use calve_types::Result;

use crate::result::{ResultBody, WriteSummary};
use crate::{Session, SessionConfig};

/// A session with a warehouse of its own, `ice.db`.
struct Lake {
    dir: PathBuf,
    session: Session,
    _temporary: Option<tempfile::TempDir>,
}

impl Lake {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { dir: dir.path().to_owned(), session: open(dir.path()).await, _temporary: Some(dir) }
    }

    /// In a folder that stays.
    async fn at(dir: &Path) -> Self {
        if dir.exists() {
            std::fs::remove_dir_all(dir).unwrap();
        }
        std::fs::create_dir_all(dir).unwrap();
        let dir = dir.canonicalize().unwrap();
        Self { session: open(&dir).await, dir, _temporary: None }
    }

    async fn run(&mut self, sql: &str) -> Result<Option<WriteSummary>> {
        run(&mut self.session, sql).await
    }

    async fn ok(&mut self, sql: &str) -> Option<WriteSummary> {
        self.run(sql).await.unwrap_or_else(|error| panic!("{sql}: {error} {:?}", error.detail))
    }

    /// The rows of a query as text, sorted.
    async fn rows(&mut self, sql: &str) -> Vec<Vec<Option<String>>> {
        rows(&mut self.session, sql).await
    }

    /// All files below the data folder of a table.
    fn data_files(&self, table: &str) -> Vec<PathBuf> {
        let mut files = vec![];
        walk(&self.dir.join("db").join(table).join("data"), &mut files);
        files.sort();
        files
    }
}

async fn open(warehouse: &Path) -> Session {
    let options = vec![
        ("execution.runtime-mode".to_owned(), "batch".to_owned()),
        ("parallelism.default".to_owned(), "2".to_owned()),
        ("table.local-time-zone".to_owned(), "UTC".to_owned()),
    ];
    let mut session = Session::new(SessionConfig { options, ..SessionConfig::default() }).unwrap();
    let catalog = format!(
        "CREATE CATALOG ice WITH ('type'='iceberg', 'catalog-type'='hadoop', 'warehouse'='{}')",
        warehouse.display()
    );
    for sql in [catalog.as_str(), "CREATE DATABASE IF NOT EXISTS ice.db", "USE CATALOG ice", "USE db"] {
        run(&mut session, sql).await.unwrap();
    }
    session
}

async fn run(session: &mut Session, sql: &str) -> Result<Option<WriteSummary>> {
    let mut last = None;
    for statement in calve_sql::split(sql) {
        match session.execute(&statement).await?.body {
            ResultBody::Written(written) => last = written.into_iter().next(),
            ResultBody::Rows(mut rows) => {
                while let Some(batch) = rows.next_text().await {
                    batch?;
                }
            }
            ResultBody::Done => {}
        }
    }
    Ok(last)
}

async fn rows(session: &mut Session, sql: &str) -> Vec<Vec<Option<String>>> {
    let statements = calve_sql::split(sql);
    let result = session.execute(&statements[0]).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let ResultBody::Rows(mut rows) = result.body else { panic!("no query: {sql}") };
    let mut all = vec![];
    while let Some(batch) = rows.next_text().await {
        all.extend(batch.unwrap());
    }
    all.sort();
    all
}

fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, files) } else { files.push(path) }
    }
}
