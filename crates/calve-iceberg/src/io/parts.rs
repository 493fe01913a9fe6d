//! One file on its way to a store: small ones are put at once, larger ones are sent in parts while more of them is made.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use calve_types::{Error, Result};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::explain::is_refused;
use crate::error::Context;

/// Bytes of a part. All but the last have this size, which some stores ask for.
const PART: usize = 8 << 20;

/// Bytes of a part on a disk, which takes parts of any size: each of many open files holds one.
const LOCAL_PART: usize = 1 << 20;

/// A file has 10,000 parts at most (S3): those behind the first half of them are eight times as large.
const SMALL_PARTS: usize = 5_000;

/// Parts on their way to remote storage at once.
const PARALLEL: usize = 4;

/// Told of the steps that make a file appear: they go on whatever becomes of the job that began them.
pub(crate) trait Guard: Send + 'static {
    /// Kept alive until the step has ended.
    type Step: Send + 'static;

    /// A step begins.
    fn begin(&self) -> Self::Step;

    /// The store refused the file for certain: it is not there, and will not be.
    fn refused(&self, _location: &str) {}
}

/// Nobody wants to know.
impl Guard for () {
    type Step = ();

    fn begin(&self) {}
}

/// A file being sent.
pub(crate) struct Parts<G: Guard> {
    store: Arc<dyn ObjectStore>,
    location: String,
    path: Path,
    guard: G,
    /// Whether parts travel while more of the file is made: over a network.
    parallel: bool,
    pending: VecDeque<Bytes>,
    pending_bytes: usize,
    upload: Option<Box<dyn MultipartUpload>>,
    started: usize,
    travelling: JoinSet<object_store::Result<()>>,
    /// The bytes of a part that travels.
    part: usize,
}

impl<G: Guard> Parts<G> {
    /// Starts a file; nothing is written yet.
    pub(crate) fn new(store: Arc<dyn ObjectStore>, path: Path, location: &str, parallel: bool, guard: G) -> Self {
        Self {
            store,
            location: location.to_owned(),
            path,
            guard,
            parallel,
            pending: VecDeque::new(),
            pending_bytes: 0,
            upload: None,
            started: 0,
            travelling: JoinSet::new(),
            part: 0,
        }
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.pending_bytes.saturating_add(self.travelling.len().saturating_mul(self.part))
    }

    /// Takes bytes to be written with the next ones.
    pub(crate) fn hold(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.pending_bytes += bytes.len();
            self.pending.push_back(bytes);
        }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// As object stores fail: `io`, `access-denied`.
    pub(crate) async fn add(&mut self, bytes: Bytes) -> Result<()> {
        self.hold(bytes);
        while self.pending_bytes >= self.part_size() {
            self.send(self.part_size()).await?;
        }
        Ok(())
    }

    fn part_size(&self) -> usize {
        match (self.parallel, self.started < SMALL_PARTS) {
            (false, _) => LOCAL_PART,
            (true, true) => PART,
            (true, false) => PART * 8,
        }
    }

    /// The first bytes that are pending.
    fn take(&mut self, bytes: usize) -> PutPayload {
        let mut left = bytes.min(self.pending_bytes);
        self.pending_bytes -= left;
        let mut taken = Vec::new();
        while let Some(mut first) = self.pending.pop_front() {
            if first.len() > left {
                taken.push(first.copy_to_bytes(left));
                self.pending.push_front(first);
                break;
            }
            left -= first.len();
            taken.push(first);
            if left == 0 {
                break;
            }
        }
        taken.into_iter().filter(|bytes| !bytes.is_empty()).collect()
    }

    async fn send(&mut self, bytes: usize) -> Result<()> {
        if self.travelling.len() >= PARALLEL {
            self.arrive().await?;
        }
        let payload = self.take(bytes);
        if self.upload.is_none() {
            let begun = begin(self.store.clone(), self.path.clone(), self.guard.begin()).await?;
            begun.as_ref().err().inspect(|error| self.note_refused(error));
            self.upload = Some(begun.context(|| format!("create the file '{}'", self.location))?);
        }
        let Some(upload) = &mut self.upload else { return Err(Error::internal("an upload that is begun is gone")) };
        self.started += 1;
        let part = upload.put_part(payload);
        if self.parallel {
            self.part = bytes;
            self.travelling.spawn(part);
            return Ok(());
        }
        part.await.context(|| format!("write the file '{}'", self.location))
    }

    /// Tells the guard that there is no file, if the request that would have made it was refused for certain. Of local files
    /// a look at the disk knows more.
    fn note_refused(&self, error: &object_store::Error) {
        if self.parallel && is_refused(error) {
            self.guard.refused(&self.location);
        }
    }

    /// Waits for one of the parts that travel.
    async fn arrive(&mut self) -> Result<()> {
        match self.travelling.join_next().await {
            None => Ok(()),
            Some(Ok(part)) => part.context(|| format!("write the file '{}'", self.location)),
            Some(Err(e)) => Err(Error::new("interrupted", format!("the write was interrupted: {e}"))),
        }
    }

    /// Ends the file. It is there then, and not before.
    ///
    /// # Errors
    /// As [`Parts::add`].
    pub(crate) async fn finish(&mut self) -> Result<()> {
        if self.upload.is_some() && self.pending_bytes > 0 {
            self.send(self.pending_bytes).await?;
        }
        while !self.travelling.is_empty() {
            self.arrive().await?;
        }
        let what = || format!("write the file '{}'", self.location);
        match self.upload.take() {
            Some(mut upload) => {
                let end = async move {
                    let ended = upload.complete().await;
                    // parts that nobody puts together cost storage for ever
                    if ended.is_err()
                        && let Err(error) = upload.abort().await
                    {
                        tracing::debug!(%error, "cannot abort an upload");
                    }
                    ended
                };
                detached(&self.guard, end).await?.context(what)?;
            }
            None => {
                let payload = self.take(self.pending_bytes);
                let (store, path) = (self.store.clone(), self.path.clone());
                let put = detached(&self.guard, async move { store.put(&path, payload).await }).await?;
                put.as_ref().err().inspect(|error| self.note_refused(error));
                put.context(|| format!("write the file '{}'", self.location))?;
            }
        }
        Ok(())
    }
}

/// Begins an upload in a task of its own, which aborts it if nobody waits for it any more.
async fn begin(
    store: Arc<dyn ObjectStore>,
    path: Path,
    step: impl Send + 'static,
) -> Result<object_store::Result<Box<dyn MultipartUpload>>> {
    let (give, take) = oneshot::channel();
    tokio::spawn(async move {
        let begun = store.put_multipart(&path).await;
        if let Err(Ok(mut upload)) = give.send(begun)
            && let Err(error) = upload.abort().await
        {
            tracing::debug!(%error, "cannot abort an upload");
        }
        drop(step);
    });
    take.await.map_err(|e| Error::new("interrupted", format!("the write was interrupted: {e}")))
}

/// Runs a step that makes a file appear in a task of its own: if the job is cancelled half way, the guard knows when the step
/// has ended.
async fn detached<G: Guard, T: Send + 'static>(guard: &G, work: impl Future<Output = T> + Send + 'static) -> Result<T> {
    let step = guard.begin();
    let task = tokio::spawn(async move {
        let result = work.await;
        drop(step);
        result
    });
    task.await.map_err(|e| Error::new("interrupted", format!("the write was interrupted: {e}")))
}

impl<G: Guard> Drop for Parts<G> {
    fn drop(&mut self) {
        self.travelling.abort_all();
        let Some(mut upload) = self.upload.take() else { return };
        let step = self.guard.begin();
        let abort = async move {
            // dropping an upload of a local file deletes it too; stores elsewhere keep the parts until told
            if let Err(error) = upload.abort().await {
                tracing::debug!(%error, "cannot abort an upload");
            }
            drop(step);
        };
        match Handle::try_current() {
            // whose connections could not go on while this thread waits
            Ok(runtime) if !self.parallel || runtime.runtime_flavor() == RuntimeFlavor::CurrentThread => {
                drop(runtime.spawn(abort));
            }
            Err(_) if !self.parallel => {}
            _ => apart(abort),
        }
    }
}

/// How long a job that was dropped, or that failed, waits for what it must leave in order.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Does what must be done while nobody may wait for it, on a thread of its own, since the runtime of the one who drops may be
/// about to end. Returns when it is done, and in time.
pub(crate) fn apart(work: impl Future<Output = ()> + Send + 'static) {
    let run = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        if runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await }).is_err() {
            tracing::warn!("uncommitted files are left: storage did not answer in time");
        }
        runtime.shutdown_background();
    };
    if let Ok(thread) = std::thread::Builder::new().name("calve-cleanup".to_owned()).spawn(run) {
        let _ = thread.join();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use object_store::memory::InMemory;

    use super::*;

    #[tokio::test]
    async fn parts_are_put_together_in_order() {
        for parallel in [true, false] {
            let store = Arc::new(InMemory::new());
            let mut parts = Parts::new(store.clone(), Path::from("f"), "f", parallel, ());
            let mut expected = Vec::new();
            for i in 0..30u8 {
                let bytes = vec![i; 1_500_000 + usize::from(i)];
                expected.extend_from_slice(&bytes);
                parts.add(Bytes::from(bytes)).await.unwrap();
                assert!(parts.pending_bytes < parts.part_size());
            }
            parts.finish().await.unwrap();
            let got = store.get(&Path::from("f")).await.unwrap().bytes().await.unwrap();
            assert!(got == expected);
        }
    }

    #[tokio::test]
    async fn small_and_empty_files_are_put_at_once() {
        let store = Arc::new(InMemory::new());
        for bytes in [&b""[..], &b"abc"[..]] {
            let mut parts = Parts::new(store.clone(), Path::from("f"), "f", true, ());
            parts.add(Bytes::copy_from_slice(bytes)).await.unwrap();
            assert!(parts.upload.is_none());
            parts.finish().await.unwrap();
            assert_eq!(store.get(&Path::from("f")).await.unwrap().bytes().await.unwrap(), bytes);
        }
    }
}
