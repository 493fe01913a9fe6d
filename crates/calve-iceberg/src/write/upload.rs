//! Files on their way to storage, and the promise that none is left behind.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use calve_types::{Error, Result};
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::async_writer::AsyncFileWriter;
use parquet::errors::ParquetError;
use tokio::sync::watch;

use crate::io::parts::{Guard, PATIENCE, Parts, apart};
use crate::io::{TableIo, explain, local_path};
use crate::table::Table;

/// The files a job has made and nothing refers to yet. When the last handle goes and nobody said
/// [`Uncommitted::keep`], they are deleted: on an error, on a panic, and when the job's future is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Uncommitted {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    io: TableIo,
    /// The folder of the table's metadata file, if it is a local one.
    home: Option<PathBuf>,
    state: Mutex<State>,
    /// How many steps run that may make a file appear.
    steps: watch::Sender<usize>,
}

/// A step that may make one of the files appear.
#[derive(Debug)]
pub(crate) struct Step(Uncommitted);

impl Guard for Uncommitted {
    type Step = Step;

    fn begin(&self) -> Step {
        self.inner.steps.send_modify(|running| *running += 1);
        Step(self.clone())
    }

    fn refused(&self, location: &str) {
        self.inner.state().locations.retain(|registered| registered != location);
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.0.inner.steps.send_modify(|running| *running = running.saturating_sub(1));
    }
}

#[derive(Debug, Default)]
struct State {
    locations: Vec<String>,
    closed: bool,
    kept: bool,
    /// Nothing is left to delete.
    deleted: bool,
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Uncommitted {
    /// For new files of a table.
    pub(crate) fn new(table: &Table) -> Self {
        let metadata = local_path(table.metadata_location()).ok();
        let home = metadata.and_then(|file| file.parent().map(Path::to_path_buf));
        let (io, state, steps) = (table.io().clone(), Mutex::default(), watch::Sender::new(0));
        Self { inner: Arc::new(Inner { io, home, state, steps }) }
    }

    /// Refuses to write beside metadata that is gone: a file would make the folder of a dropped table again, or a warehouse
    /// whose disk is not there.
    fn check_home(&self) -> Result<()> {
        let Some(home) = self.inner.home.as_deref().filter(|home| !home.is_dir()) else { return Ok(()) };
        let missing = home.ancestors().take_while(|folder| !folder.is_dir()).last().unwrap_or(home);
        Err(Error::new("io", format!("the table is gone: there is no folder '{}' any more", missing.display()))
            .with_hint("was the table dropped in the meantime, or is its disk not mounted any more?"))
    }

    /// Notes a file before it is made.
    fn register(&self, location: &str) -> Result<()> {
        let mut state = self.inner.state();
        if state.closed {
            return Err(Error::new("interrupted", "the write was cancelled"));
        }
        state.locations.push(location.to_owned());
        Ok(())
    }

    /// The files belong to somebody else now.
    pub(crate) fn keep(&self) {
        self.inner.state().kept = true;
    }

    /// No more files from now on: tasks that still run stop at their next file.
    pub(crate) fn close(&self) {
        self.inner.state().closed = true;
    }

    /// Deletes all files, as far as storage lets us. Waits, though not for ever, for the steps that run: whoever is told of
    /// the deletion may end the process, and with it what would delete a file that appears later.
    pub(crate) async fn delete(&self) {
        self.close();
        let mut steps = self.inner.steps.subscribe();
        let ended = tokio::time::timeout(PATIENCE, steps.wait_for(|running| *running == 0)).await.is_ok();
        // they stay on the list: a step that still runs, and holds the list, may make one of them appear later
        let alone = Arc::strong_count(&self.inner) == 1;
        let locations = self.inner.state().locations.clone();
        let failed = self.inner.io.delete_all(&locations).await;
        for error in &failed {
            tracing::warn!(%error, "cannot delete an uncommitted file");
        }
        // an upload that was interrupted is staged under another name
        locations.iter().for_each(|location| self.inner.io.delete_now(location));
        self.inner.state().deleted = alone && failed.is_empty();
        // of local files it takes a look at the folder to know; there may be a staged one, too
        let is_local = locations.iter().any(|location| !self.inner.io.is_remote(location));
        if is_local || !failed.is_empty() || !ended {
            self.inner.io.leave(locations).await;
        }
    }

    /// Makes the folders of the files durable, up to the one that holds `root`. The files themselves are when their upload ends.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn sync_folders(&self, root: &str) -> Result<()> {
        if self.inner.io.is_remote(root) {
            return Ok(());
        }
        let folders: BTreeSet<String> = {
            let state = self.inner.state();
            let mut folders = BTreeSet::from([root.to_owned()]);
            // the first INSERT makes the root itself
            folders.extend(root.rsplit_once('/').map(|(parent, _)| parent.to_owned()));
            for location in &state.locations {
                let mut folder = location.as_str();
                while let Some((parent, _)) = folder.rsplit_once('/') {
                    if parent.len() < root.len() || !folders.insert(parent.to_owned()) {
                        break;
                    }
                    folder = parent;
                }
            }
            folders
        };
        self.inner.io.sync(folders.into_iter().collect()).await
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let state = std::mem::take(self.state.get_mut().unwrap_or_else(PoisonError::into_inner));
        if state.kept {
            return;
        }
        let is_remote = |location: &String| self.io.is_remote(location);
        let (remote, local): (Vec<_>, Vec<_>) = state.locations.into_iter().partition(is_remote);
        local.iter().for_each(|location| self.io.delete_now(location));
        if !state.deleted && !remote.is_empty() {
            delete_remote(self.io.fresh(), remote);
        }
    }
}

/// Deletes remote files with connections of their own: nobody else may be there to drive those of the job.
fn delete_remote(io: TableIo, locations: Vec<String>) {
    apart(async move {
        let failed = io.delete_all(&locations).await;
        for error in &failed {
            tracing::warn!(%error, "cannot delete an uncommitted file");
        }
        if !failed.is_empty() {
            io.leave(locations).await;
        }
    });
}

/// One file being written. Small files are put at once, larger ones in parts.
pub(crate) struct Upload {
    parts: Parts<Uncommitted>,
    files: Uncommitted,
    io: TableIo,
    location: String,
    /// Bytes of memory held.
    held: Arc<AtomicUsize>,
}

impl Upload {
    /// Starts a file; nothing is written yet.
    ///
    /// # Errors
    /// `interrupted` if the job was cancelled; `io` if the table is gone; as [`TableIo::object_path`].
    pub(crate) fn new(files: &Uncommitted, io: &TableIo, location: &str) -> Result<Self> {
        let path = io.object_path(location)?;
        files.check_home()?;
        files.register(location)?;
        // whoever still makes the file appear holds the list, which then deletes it
        let parts = Parts::new(io.object_store(), path, location, io.is_remote(location), files.clone());
        Ok(Self { parts, files: files.clone(), io: io.clone(), location: location.to_owned(), held: Arc::default() })
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn put(mut self, bytes: Bytes) -> Result<()> {
        self.add(bytes).await?;
        self.finish().await
    }

    /// Tells how many bytes of memory are held, whoever owns the upload.
    pub(crate) fn held(&self) -> Arc<AtomicUsize> {
        self.held.clone()
    }

    /// Takes bytes to be written with the next ones.
    pub(crate) fn hold(&mut self, bytes: Bytes) {
        self.parts.hold(bytes);
        self.held.store(self.parts.memory(), Ordering::Relaxed);
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn add(&mut self, bytes: Bytes) -> Result<()> {
        self.files.check_home()?;
        let added = self.parts.add(bytes).await;
        self.held.store(self.parts.memory(), Ordering::Relaxed);
        added
    }

    /// Ends the file; it is durable then.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn finish(&mut self) -> Result<()> {
        self.files.check_home()?;
        self.parts.finish().await?;
        self.io.sync(vec![self.location.clone()]).await
    }
}

impl AsyncFileWriter for Upload {
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, parquet::errors::Result<()>> {
        async move { self.add(bytes).await.map_err(external) }.boxed()
    }

    fn complete(&mut self) -> BoxFuture<'_, parquet::errors::Result<()>> {
        async move { self.finish().await.map_err(external) }.boxed()
    }
}

fn external(error: Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

/// Gets our own error back from Parquet's writer.
pub(crate) fn from_parquet(error: ParquetError, location: &str) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => *error,
            Err(inner) => match inner.downcast::<ParquetError>() {
                Ok(error) => from_parquet(*error, location),
                Err(inner) => match inner.downcast::<object_store::Error>() {
                    Ok(error) => explain(&error).error(format!("write the file '{location}'")),
                    Err(inner) => Error::new("io", format!("cannot write the file '{location}': {inner}")),
                },
            },
        },
        other => Error::new("io", format!("cannot write the file '{location}': {other}")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use calve_types::LogicalType;

    use super::*;
    use crate::catalog::{TableCreation, open};
    use crate::schema::to_iceberg;

    #[tokio::test]
    async fn a_vanished_warehouse_is_not_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let (root, away) = (dir.path().join("lake"), dir.path().join("away"));
        let options = [("catalog-type", "hadoop"), ("warehouse", root.to_str().unwrap())];
        let catalog = open("c", &options.map(|(k, v)| (k.to_owned(), v.to_owned())).into()).unwrap();
        let columns = [("id".to_owned(), LogicalType::BigInt.not_null(), None)];
        let creation = TableCreation {
            schema: to_iceberg(&columns, &[]).unwrap(),
            partition: vec![],
            properties: Default::default(),
            comment: None,
        };
        let table = catalog.create_table(&catalog.ident("db", "t").unwrap(), creation).await.unwrap();
        let files = Uncommitted::new(&table);
        let upload =
            |name: &str| Upload::new(&files, table.io(), &format!("{}/data/{name}", root.join("db/t").display()));
        upload("one").unwrap().put(Bytes::from_static(b"1")).await.unwrap();
        let mut begun = upload("two").unwrap();
        begun.hold(Bytes::from_static(b"2"));
        std::fs::rename(&root, &away).unwrap();
        let message = format!("the table is gone: there is no folder '{}' any more", root.display());
        let told = [
            begun.finish().await.unwrap_err(),
            begun.add(Bytes::from_static(b"3")).await.unwrap_err(),
            upload("three").err().unwrap(),
        ];
        assert!(told.iter().all(|error| (error.code, &error.message) == ("io", &message)), "{told:?}");
        files.delete().await;
        assert!(!root.exists());
        std::fs::rename(&away, &root).unwrap();
        std::fs::remove_dir_all(root.join("db/t")).unwrap();
        let error = Upload::new(&Uncommitted::new(&table), table.io(), &format!("{}/x", root.display())).err().unwrap();
        assert!(error.message.contains("/lake/db/t' any more"), "{error}");
    }
}
