//! Creating a table together with its first rows, in one commit: whoever looks sees no table, or all of them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use calve_types::{Error, Result};
use iceberg::{TableIdent, TableRequirement, TableUpdate};

use super::Catalog;
use crate::commit::{CommitError, TableOps};
use crate::io::local_path;
use crate::table::Table;

/// What became of a table that was to be begun: see [`Catalog::stage_table`].
#[derive(Clone, Debug)]
pub enum Staged {
    /// It is not there yet: what it will be. It has no metadata file.
    Ready(Table),
    /// The catalog cannot do that: the table is there, and empty.
    Created(Table),
}

/// A table that is to be created: rows are written for [`Self::table`], and committed through this, which creates it with
/// them.
#[derive(Debug)]
pub struct Creation {
    catalog: Arc<dyn Catalog>,
    /// As it will be, without rows.
    table: Table,
}

impl Creation {
    /// The creation of a table that `catalog` has staged ([`Staged::Ready`]).
    pub fn new(catalog: Arc<dyn Catalog>, table: Table) -> Self {
        Self { catalog, table }
    }

    /// The table as it will be, without rows.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Creates the table without rows.
    ///
    /// Not to be cancelled: a future dropped here leaves the outcome unknown.
    ///
    /// # Errors
    /// `commit-unknown`: the table may be there. `table-exists` and others: it was not created.
    pub async fn commit(&self) -> Result<Table> {
        let error = match self.catalog.create_staged(&self.table, vec![]).await {
            Ok(table) => return Ok(table),
            Err(CommitError::Rejected(error)) => return Err(error),
            Err(CommitError::Conflict) => self.taken(),
            Err(CommitError::Unknown(error)) => Error { code: "commit-unknown", ..error },
        };
        // the answer to the first of two requests may have got lost
        match self.catalog.load_table(self.table.ident()).await {
            Ok(Some(table)) => self.own(table),
            Ok(None) | Err(_) => Err(error),
        }
    }

    /// The table that is there, if it is this one.
    fn own(&self, found: Table) -> Result<Table> {
        if found.metadata().uuid() == self.table.metadata().uuid() { Ok(found) } else { Err(self.taken()) }
    }

    fn taken(&self) -> Error {
        let ident = self.table.ident();
        self.catalog.settings().table_exists(ident.namespace(), ident.name())
    }
}

/// Removes what is left of a table that was staged and not created, after its files are gone: empty folders of the local file
/// system. Object stores have none. What else lies in the table's folder is somebody else's.
pub async fn tidy(staged: &Table) {
    let Ok(folder) = local_path(staged.metadata().location()) else { return };
    let remove = move || {
        for own in ["data", "metadata"] {
            remove_empty(&folder.join(own));
        }
        let _ = fs::remove_dir(folder);
    };
    // what cannot be removed is empty, and in nobody's way
    let _ = tokio::task::spawn_blocking(remove).await;
}

/// Removes a folder and those in it, as far as they hold nothing.
fn remove_empty(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&entry.path());
        }
    }
    let _ = fs::remove_dir(folder);
}

#[async_trait]
impl TableOps for Creation {
    /// The table as it will be; once it is created, as it is.
    ///
    /// # Errors
    /// `table-exists` if another one has its name now; what the catalog answers.
    async fn refresh(&self, ident: &TableIdent) -> Result<Table> {
        // not loaded at once: a catalog that finds nothing forgets what it knows of the table
        if !self.catalog.table_exists(ident).await? {
            return Ok(self.table.clone());
        }
        match self.catalog.load_table(ident).await? {
            None => Ok(self.table.clone()),
            Some(table) => self.own(table),
        }
    }

    async fn commit(
        &self,
        base: &Table,
        requirements: Vec<TableRequirement>,
        updates: Vec<TableUpdate>,
    ) -> Result<Table, CommitError> {
        if !base.metadata_location().is_empty() {
            // somebody else has written to it since it was created
            return self.catalog.commit(base, requirements, updates).await;
        }
        // that there is no such table says all that the requirements do
        let done = self.catalog.create_staged(&self.table, updates).await;
        if matches!(done, Err(CommitError::Conflict))
            && matches!(self.catalog.table_exists(self.table.ident()).await, Ok(false))
        {
            // what has the name is no table of Iceberg's, such as a view: no other try gets it
            return Err(CommitError::Rejected(self.taken()));
        }
        done
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::collections::BTreeMap;

    use calve_types::LogicalType;

    use super::*;
    use crate::catalog::{TableCreation, open};
    use crate::commit::{Append, JobInfo, Operation, commit};
    use crate::schema::to_iceberg;

    fn catalog(dir: &Path, kind: &str) -> Arc<dyn Catalog> {
        let mut options = BTreeMap::from([
            ("catalog-type".to_owned(), kind.to_owned()),
            ("warehouse".to_owned(), dir.join("wh").display().to_string()),
        ]);
        if kind == "jdbc" {
            options.insert("uri".to_owned(), format!("jdbc:sqlite:{}", dir.join("catalog.db").display()));
        }
        open("lake", &options).unwrap()
    }

    fn new(column: &str) -> TableCreation {
        let columns = [(column.to_owned(), LogicalType::Int.nullable(), None)];
        TableCreation {
            schema: to_iceberg(&columns, &[]).unwrap(),
            partition: vec![],
            properties: BTreeMap::new(),
            comment: None,
        }
    }

    async fn stage(catalog: &Arc<dyn Catalog>, ident: &TableIdent) -> Creation {
        match catalog.stage_table(ident, new("a")).await.unwrap() {
            Staged::Ready(table) => Creation::new(catalog.clone(), table),
            Staged::Created(_) => panic!("created at once"),
        }
    }

    /// Commits no rows, in a snapshot.
    async fn fill(creation: &Creation) -> Result<Table> {
        let job = JobInfo { job_id: "a".repeat(32), ..JobInfo::default() };
        let nothing = Operation::Append(Append::default());
        commit(creation, creation.table(), "main", nothing, &job).await.map(|committed| committed.table)
    }

    #[tokio::test]
    async fn a_table_appears_with_its_first_snapshot() {
        for kind in ["hadoop", "jdbc"] {
            let dir = tempfile::tempdir().unwrap();
            let catalog = catalog(dir.path(), kind);
            let ident = catalog.ident("db", "t").unwrap();
            catalog.create_namespace(ident.namespace(), BTreeMap::new()).await.unwrap();
            let creation = stage(&catalog, &ident).await;
            assert!(!catalog.table_exists(&ident).await.unwrap(), "{kind}: only staged");
            let table = fill(&creation).await.unwrap();
            assert_eq!(table.metadata().uuid(), creation.table().metadata().uuid());
            let found = catalog.load_table(&ident).await.unwrap().unwrap();
            assert_eq!(found.metadata().snapshots().len(), 1, "{kind}");
            assert_eq!(found.metadata().metadata_log().len(), 0, "{kind}: its first version");
            assert_eq!(found.metadata_location(), table.metadata_location());
            // once more is another commit to the table that is there
            fill(&creation).await.unwrap();
            let found = catalog.load_table(&ident).await.unwrap().unwrap();
            assert_eq!((found.metadata().snapshots().len(), found.metadata().metadata_log().len()), (2, 1), "{kind}");
        }
    }

    #[tokio::test]
    async fn another_table_of_the_name_is_left_alone() {
        for kind in ["hadoop", "jdbc"] {
            let dir = tempfile::tempdir().unwrap();
            let catalog = catalog(dir.path(), kind);
            let ident = catalog.ident("db", "t").unwrap();
            catalog.create_namespace(ident.namespace(), BTreeMap::new()).await.unwrap();
            let (first, second) = (stage(&catalog, &ident).await, stage(&catalog, &ident).await);
            catalog.create_table(&ident, new("b")).await.unwrap();
            let errors = [first.commit().await, fill(&second).await].map(|done| done.map(|_| ()).unwrap_err().code);
            assert_eq!(errors, ["table-exists", "table-exists"], "{kind}");
            let staged = catalog.stage_table(&ident, new("a")).await.map(|_| ()).unwrap_err();
            assert_eq!(staged.code, "table-exists", "{kind}");
            tidy(second.table()).await;
            let found = catalog.load_table(&ident).await.unwrap().unwrap();
            assert!(found.metadata().current_schema().field_by_name("b").is_some());
            assert_eq!(found.metadata().snapshots().len(), 0, "{kind}");
            // gone again meanwhile
            catalog.drop_table(&ident, true).await.unwrap();
            first.commit().await.unwrap();
            assert_eq!(second.commit().await.unwrap_err().code, "table-exists", "{kind}");
        }
    }

    #[tokio::test]
    async fn empty_folders_go() {
        let dir = tempfile::tempdir().unwrap();
        let catalog = catalog(dir.path(), "hadoop");
        let staged = stage(&catalog, &catalog.ident("db", "t").unwrap()).await;
        let folder = dir.path().join("wh/db/t");
        fs::create_dir_all(folder.join("data/p=1")).unwrap();
        fs::create_dir_all(folder.join("metadata")).unwrap();
        fs::create_dir_all(folder.join("others/empty")).unwrap();
        fs::write(folder.join("data/x"), "x").unwrap();
        tidy(staged.table()).await;
        assert!(folder.join("data/x").exists() && !folder.join("data/p=1").exists());
        assert!(folder.join("others/empty").exists() && !folder.join("metadata").exists());
        fs::remove_file(folder.join("data/x")).unwrap();
        fs::remove_dir_all(folder.join("others")).unwrap();
        tidy(staged.table()).await;
        assert!(!folder.exists() && dir.path().join("wh/db").exists());
    }
}
