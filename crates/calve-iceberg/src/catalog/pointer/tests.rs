#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use calve_types::LogicalType;

use super::*;
use crate::schema::to_iceberg;

/// How a store answers a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// It is done.
    Done,
    /// It is done, and nobody is told.
    DoneLost,
    /// It is not done, and nobody is told.
    Lost,
    /// It is done, and went wrong all the same.
    DoneUnclear,
    /// It is not done, and will not be.
    Unclear,
    /// It is not done: others are in the way.
    Busy,
    /// It is not done.
    Refused,
}

/// One table, in memory.
#[derive(Debug)]
struct One {
    folder: String,
    answer: Mutex<Answer>,
    pointer: Mutex<Option<String>>,
}

impl One {
    fn change(&self, change: impl FnOnce(&mut Option<String>)) -> Result<(), Failure> {
        let error = Error::new("io", "no answer");
        let answer = *self.answer.lock().unwrap();
        if matches!(answer, Answer::Done | Answer::DoneLost | Answer::DoneUnclear) {
            change(&mut self.pointer.lock().unwrap());
        }
        match answer {
            Answer::Done => Ok(()),
            Answer::DoneLost | Answer::Lost => Err(Failure::Lost(error)),
            Answer::DoneUnclear | Answer::Unclear => Err(Failure::Unclear(error)),
            Answer::Busy => Err(Failure::Busy(error)),
            Answer::Refused => Err(Failure::Refused(error)),
        }
    }
}

#[async_trait]
impl PointerStore for One {
    fn check_new_namespace(&self, _namespace: &[String]) -> Result<()> {
        Ok(())
    }

    async fn namespaces(&self, _parent: &[String]) -> Result<Vec<Vec<String>>> {
        Ok(vec![])
    }

    async fn has_namespace(&self, _namespace: &[String]) -> Result<bool> {
        Ok(true)
    }

    async fn create_namespace(
        &self,
        _namespace: &[String],
        _properties: BTreeMap<String, String>,
    ) -> Result<(), Failure> {
        Ok(())
    }

    async fn set_namespace_properties(
        &self,
        _namespace: &[String],
        _properties: BTreeMap<String, String>,
    ) -> Result<()> {
        Ok(())
    }

    async fn drop_namespace(&self, _namespace: &[String]) -> Result<bool, Failure> {
        Ok(true)
    }

    async fn tables(&self, _namespace: &[String]) -> Result<Vec<String>> {
        Ok(vec![])
    }

    fn drafted_folder(&self, _ident: &TableIdent) -> String {
        self.folder.clone()
    }

    async fn pointer(&self, _ident: &TableIdent) -> Result<Option<String>> {
        Ok(self.pointer.lock().unwrap().clone())
    }

    async fn create_table(&self, _ident: &TableIdent, first: Version<'_>) -> Result<(), Failure> {
        self.change(|pointer| *pointer = Some(first.location.to_owned()))
    }

    async fn replace(&self, _ident: &TableIdent, old: &str, next: Version<'_>) -> Result<bool, Failure> {
        if self.pointer.lock().unwrap().as_deref() != Some(old) {
            return Ok(false);
        }
        self.change(|pointer| *pointer = Some(next.location.to_owned())).map(|()| true)
    }

    async fn rename_table(&self, _ident: &TableIdent, _name: &str) -> Result<bool, Failure> {
        Ok(true)
    }

    async fn drop_table(&self, _ident: &TableIdent, old: Option<&str>) -> Result<bool, Failure> {
        if old.is_some() && self.pointer.lock().unwrap().as_deref() != old {
            return Ok(false);
        }
        self.change(|pointer| *pointer = None).map(|()| true)
    }
}

fn catalog(folder: &Path) -> PointerCatalog<One> {
    let settings = Settings { name: "c".into(), default_database: "default".into(), base_namespace: vec![] };
    let folder = folder.join("t").display().to_string();
    let store = One { folder, answer: Mutex::new(Answer::Done), pointer: Mutex::default() };
    let options = [("table-default.d", "1"), ("table-override.o", "2")];
    let options = options.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    PointerCatalog::new(settings, store, &options).unwrap()
}

fn creation() -> TableCreation {
    let columns = [("id".to_owned(), LogicalType::BigInt.not_null(), None)];
    TableCreation {
        schema: to_iceberg(&columns, &[]).unwrap(),
        partition: Vec::new(),
        properties: BTreeMap::new(),
        comment: None,
    }
}

fn set(value: &str) -> Vec<TableUpdate> {
    vec![TableUpdate::SetProperties { updates: [("p".to_owned(), value.to_owned())].into() }]
}

fn versions(folder: &Path) -> usize {
    fs::read_dir(folder.join("t/metadata")).map_or(0, Iterator::count)
}

#[tokio::test]
async fn what_a_failed_move_means_decides_what_becomes_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let c = catalog(dir.path());
    let ident = c.ident("db", "t").unwrap();
    let made = c.create_table(&ident, creation()).await.unwrap();
    assert_eq!((made.property("d"), made.property("o")), (Some("1"), Some("2")));
    let mut expected = String::new();
    for (answer, kept) in [
        (Answer::Done, true),
        (Answer::DoneLost, true),
        (Answer::DoneUnclear, true),
        (Answer::Lost, true),
        (Answer::Unclear, false),
        (Answer::Busy, false),
        (Answer::Refused, false),
    ] {
        let (base, before) = (c.refresh(&ident).await.unwrap(), versions(dir.path()));
        *c.store.answer.lock().unwrap() = answer;
        let done = c.commit(&base, vec![], set(&format!("{answer:?}"))).await;
        let right = match answer {
            // the pointer tells
            Answer::Done | Answer::DoneLost | Answer::DoneUnclear => done.is_ok(),
            Answer::Lost => matches!(done, Err(CommitError::Unknown(_))),
            Answer::Busy => matches!(done, Err(CommitError::Conflict)),
            Answer::Unclear | Answer::Refused => matches!(done, Err(CommitError::Rejected(_))),
        };
        assert!(right, "{answer:?}: {done:?}");
        assert_eq!(versions(dir.path()) - before, usize::from(kept), "{answer:?}");
        if done.is_ok() {
            expected = format!("{answer:?}");
        }
        assert_eq!(c.refresh(&ident).await.unwrap().property("p"), Some(expected.as_str()), "{answer:?}");
    }
}

#[tokio::test]
async fn a_table_whose_creation_got_no_answer_is_looked_for() {
    for (answer, files) in [
        (Answer::DoneLost, 1),
        (Answer::DoneUnclear, 1),
        (Answer::Lost, 1),
        (Answer::Unclear, 0),
        (Answer::Refused, 0),
        (Answer::Busy, 0),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let c = catalog(dir.path());
        let ident = c.ident("db", "t").unwrap();
        *c.store.answer.lock().unwrap() = answer;
        let made = c.create_table(&ident, creation()).await;
        match answer {
            Answer::DoneLost | Answer::DoneUnclear => {
                assert_eq!(made.unwrap().metadata_location(), c.store.pointer(&ident).await.unwrap().unwrap())
            }
            Answer::Lost => assert!(made.unwrap_err().may_have_committed()),
            _ => assert_eq!(made.unwrap_err().code, "io"),
        }
        assert_eq!(versions(dir.path()), files, "{answer:?}");
    }
}

/// The folder goes while the next version is written, so that the write makes it anew.
#[tokio::test]
async fn a_version_whose_predecessor_went_meanwhile_is_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let c = catalog(dir.path());
    let ident = c.ident("db", "t").unwrap();
    let base = c.create_table(&ident, creation()).await.unwrap();
    let old = base.metadata_location();
    let written = c
        .write_beside(&ident, old, async {
            fs::rename(dir.path().join("t"), dir.path().join("away")).unwrap();
            c.write(base.metadata(), Some(old)).await
        })
        .await;
    assert_eq!(written.unwrap_err().code, "io");
    assert_eq!(versions(dir.path()), 0, "the file that was written is gone");
    fs::remove_dir_all(dir.path().join("t")).unwrap();
    fs::rename(dir.path().join("away"), dir.path().join("t")).unwrap();
    assert_eq!(c.commit(&base, vec![], set("1")).await.unwrap().property("p"), Some("1"));
}
