//! Files on their way to storage, and the promise that none is left behind.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use calve_types::{Error, Result};
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::async_writer::AsyncFileWriter;
use parquet::errors::ParquetError;

use crate::io::parts::{Parts, apart};
use crate::io::{TableIo, explain};

/// The files a job has made and nothing refers to yet. When the last handle goes and nobody said
/// [`Uncommitted::keep`], they are deleted: on an error, on a panic, and when the job's future is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Uncommitted {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    io: TableIo,
    state: Mutex<State>,
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
    pub(crate) fn new(io: TableIo) -> Self {
        Self { inner: Arc::new(Inner { io, state: Mutex::default() }) }
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

    /// Deletes all files, as far as storage lets us.
    pub(crate) async fn delete(&self) {
        self.close();
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
        for error in io.delete_all(&locations).await {
            tracing::warn!(%error, "cannot delete an uncommitted file");
        }
    });
}

/// One file being written. Small files are put at once, larger ones in parts.
pub(crate) struct Upload {
    parts: Parts<Uncommitted>,
    io: TableIo,
    location: String,
}

impl Upload {
    /// Starts a file; nothing is written yet.
    ///
    /// # Errors
    /// `interrupted` if the job was cancelled; as [`TableIo::object_path`].
    pub(crate) fn new(files: &Uncommitted, io: &TableIo, location: &str) -> Result<Self> {
        let path = io.object_path(location)?;
        files.register(location)?;
        // whoever still makes the file appear holds the list, which then deletes it
        let parts = Parts::new(io.object_store(), path, location, io.is_remote(location), files.clone());
        Ok(Self { parts, io: io.clone(), location: location.to_owned() })
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn put(mut self, bytes: Bytes) -> Result<()> {
        self.add(bytes).await?;
        self.finish().await
    }

    /// Takes bytes to be written with the next ones.
    pub(crate) fn hold(&mut self, bytes: Bytes) {
        self.parts.hold(bytes);
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn add(&mut self, bytes: Bytes) -> Result<()> {
        self.parts.add(bytes).await
    }

    /// Ends the file; it is durable then.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn finish(&mut self) -> Result<()> {
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
