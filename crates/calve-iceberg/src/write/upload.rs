//! Files on their way to storage, and the promise that none is left behind.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use calve_types::{Error, Result};
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use parquet::arrow::async_writer::AsyncFileWriter;
use parquet::errors::ParquetError;

use crate::error::Context;
use crate::io::TableIo;

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
        // they stay on the list: a step that still runs may make one of them appear later
        let locations = self.inner.state().locations.clone();
        for location in &locations {
            if let Err(error) = self.inner.io.delete(location).await {
                tracing::warn!(%error, location, "cannot delete an uncommitted file");
            }
            // an upload that was interrupted is staged under another name
            self.inner.io.delete_now(location);
        }
    }

    /// Makes the folders of the files durable, up to the one that holds `root`. The files themselves are when their upload ends.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn sync_folders(&self, root: &str) -> Result<()> {
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
        if !state.kept {
            state.locations.iter().for_each(|location| self.io.delete_now(location));
        }
    }
}

/// Bytes collected before a part is sent.
const PART: usize = 8 << 20;

/// One file being written. Small files are put at once, larger ones in parts.
pub(crate) struct Upload {
    files: Uncommitted,
    store: Arc<dyn ObjectStore>,
    io: TableIo,
    location: String,
    path: Path,
    pending: Vec<Bytes>,
    pending_bytes: usize,
    parts: Option<Box<dyn MultipartUpload>>,
}

impl Upload {
    /// Starts a file; nothing is written yet.
    ///
    /// # Errors
    /// `interrupted` if the job was cancelled; as [`TableIo::object_path`].
    pub(crate) fn new(files: &Uncommitted, io: &TableIo, location: &str) -> Result<Self> {
        let path = io.object_path(location)?;
        files.register(location)?;
        Ok(Self {
            files: files.clone(),
            store: io.object_store(),
            io: io.clone(),
            location: location.to_owned(),
            path,
            pending: Vec::new(),
            pending_bytes: 0,
            parts: None,
        })
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
        if !bytes.is_empty() {
            self.pending_bytes += bytes.len();
            self.pending.push(bytes);
        }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn add(&mut self, bytes: Bytes) -> Result<()> {
        self.hold(bytes);
        if self.pending_bytes >= PART { self.send().await } else { Ok(()) }
    }

    fn take_pending(&mut self) -> PutPayload {
        self.pending_bytes = 0;
        std::mem::take(&mut self.pending).into_iter().collect()
    }

    async fn send(&mut self) -> Result<()> {
        let payload = self.take_pending();
        let parts = match &mut self.parts {
            Some(parts) => parts,
            none => {
                let (store, path) = (self.store.clone(), self.path.clone());
                let started = detached(&self.files, async move { store.put_multipart(&path).await }).await?;
                none.insert(started.context(|| format!("create the file '{}'", self.location))?)
            }
        };
        parts.put_part(payload).await.context(|| format!("write the file '{}'", self.location))
    }

    /// Ends the file; it is durable then.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn finish(&mut self) -> Result<()> {
        if self.parts.is_some() && self.pending_bytes > 0 {
            self.send().await?;
        }
        let what = || format!("write the file '{}'", self.location);
        match self.parts.take() {
            Some(mut parts) => {
                detached(&self.files, async move { parts.complete().await }).await?.context(what)?;
            }
            None => {
                let payload = self.take_pending();
                let (store, path) = (self.store.clone(), self.path.clone());
                detached(&self.files, async move { store.put(&path, payload).await })
                    .await?
                    .context(|| format!("write the file '{}'", self.location))?;
            }
        }
        self.io.sync(vec![self.location.clone()]).await
    }
}

/// Runs a step that makes a file appear in a task of its own, which holds the list of files: if the job is cancelled
/// half way, the list outlives the step and deletes what it made.
async fn detached<T: Send + 'static>(files: &Uncommitted, step: impl Future<Output = T> + Send + 'static) -> Result<T> {
    let files = files.clone();
    let task = tokio::spawn(async move {
        let result = step.await;
        drop(files);
        result
    });
    task.await.map_err(|e| Error::new("interrupted", format!("the write was interrupted: {e}")))
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let (Some(mut parts), Ok(runtime)) = (self.parts.take(), tokio::runtime::Handle::try_current()) {
            // dropping an upload of a local file deletes it too; stores elsewhere keep the parts until told
            drop(runtime.spawn(async move { parts.abort().await }));
        }
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
                Err(inner) => Error::new("io", format!("cannot write the file '{location}': {inner}")),
            },
        },
        other => Error::new("io", format!("cannot write the file '{location}': {other}")),
    }
}
