//! The same storage as iceberg's readers and writers of manifests see it: its `Storage` trait.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use calve_types::Error;
use futures::StreamExt;
use futures::stream::BoxStream;
use iceberg::io::{
    FileIO, FileIOBuilder, FileMetadata, FileRead, FileWrite, InputFile, LocalFsStorage, OutputFile, Storage,
    StorageConfig, StorageFactory,
};
use iceberg::{ErrorKind, Result};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::location::{Kind, Reach};
use super::parts::Parts;

/// Files by location: local ones as iceberg reads and writes them, others through the store.
#[derive(Clone, Debug)]
struct Files {
    reach: Reach,
    store: Arc<dyn ObjectStore>,
}

/// The files that `reach` allows.
pub(super) fn file_io(reach: Reach, store: Arc<dyn ObjectStore>) -> FileIO {
    FileIOBuilder::new(Arc::new(Files { reach, store })).build()
}

/// One of our errors on its way through iceberg: [`crate::error::Context`] takes it out again.
fn wrapped(error: Error) -> iceberg::Error {
    iceberg::Error::new(ErrorKind::Unexpected, error.message.clone()).with_source(error)
}

/// The error of a store as iceberg's.
fn failed(error: &object_store::Error) -> iceberg::Error {
    let failure = super::explain(error);
    let error = Error { detail: failure.detail, hint: failure.hint, ..Error::new(failure.code, failure.reason) };
    wrapped(error)
}

impl Files {
    /// Where a file is in the store, `None` if it is a local one.
    fn remote(&self, location: &str) -> Result<Option<Path>> {
        let (kind, path) = self.reach.file(location).map_err(wrapped)?;
        Ok((kind != Kind::Local).then_some(path))
    }
}

/// What iceberg asks of storage so that it can be sent to another process: nobody does that here.
const NOT_SENT: &str = "storage cannot be sent to another process";

impl Serialize for Files {
    fn serialize<S: Serializer>(&self, _: S) -> std::result::Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(NOT_SENT))
    }
}

impl<'de> Deserialize<'de> for Files {
    fn deserialize<D: Deserializer<'de>>(_: D) -> std::result::Result<Self, D::Error> {
        Err(serde::de::Error::custom(NOT_SENT))
    }
}

#[typetag::serde(name = "calve")]
impl StorageFactory for Files {
    fn build(&self, _: &StorageConfig) -> Result<Arc<dyn Storage>> {
        Ok(Arc::new(self.clone()))
    }
}

#[async_trait]
#[typetag::serde(name = "calve")]
impl Storage for Files {
    async fn exists(&self, location: &str) -> Result<bool> {
        let Some(path) = self.remote(location)? else { return LocalFsStorage.exists(location).await };
        match self.store.head(&path).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(failed(&error)),
        }
    }

    async fn metadata(&self, location: &str) -> Result<FileMetadata> {
        let Some(path) = self.remote(location)? else { return LocalFsStorage.metadata(location).await };
        let found = self.store.head(&path).await.map_err(|e| failed(&e))?;
        Ok(FileMetadata { size: found.size })
    }

    async fn read(&self, location: &str) -> Result<Bytes> {
        let Some(path) = self.remote(location)? else { return LocalFsStorage.read(location).await };
        let found = self.store.get(&path).await.map_err(|e| failed(&e))?;
        found.bytes().await.map_err(|e| failed(&e))
    }

    async fn reader(&self, location: &str) -> Result<Box<dyn FileRead>> {
        let Some(path) = self.remote(location)? else { return LocalFsStorage.reader(location).await };
        Ok(Box::new(Reader { store: self.store.clone(), path }))
    }

    async fn write(&self, location: &str, bytes: Bytes) -> Result<()> {
        let Some(path) = self.remote(location)? else { return LocalFsStorage.write(location, bytes).await };
        let mut parts = Parts::new(self.store.clone(), path, location, true, ());
        parts.add(bytes).await.map_err(wrapped)?;
        parts.finish().await.map_err(wrapped)
    }

    async fn writer(&self, location: &str) -> Result<Box<dyn FileWrite>> {
        let Some(path) = self.remote(location)? else { return LocalFsStorage.writer(location).await };
        let parts = Parts::new(self.store.clone(), path, location, true, ());
        Ok(Box::new(Writer { parts: Some(parts) }))
    }

    async fn delete(&self, location: &str) -> Result<()> {
        let Some(path) = self.remote(location)? else { return LocalFsStorage.delete(location).await };
        match self.store.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(&error)),
        }
    }

    async fn delete_prefix(&self, location: &str) -> Result<()> {
        // nothing of ours deletes what it does not know by name
        Err(wrapped(Error::unsupported(format!("the deletion of all files below '{location}'"))))
    }

    async fn delete_stream(&self, mut locations: BoxStream<'static, String>) -> Result<()> {
        while let Some(location) = locations.next().await {
            self.delete(&location).await?;
        }
        Ok(())
    }

    fn new_input(&self, location: &str) -> Result<InputFile> {
        Ok(InputFile::new(Arc::new(self.clone()), location.to_owned()))
    }

    fn new_output(&self, location: &str) -> Result<OutputFile> {
        Ok(OutputFile::new(Arc::new(self.clone()), location.to_owned()))
    }
}

struct Reader {
    store: Arc<dyn ObjectStore>,
    path: Path,
}

#[async_trait]
impl FileRead for Reader {
    async fn read(&self, range: Range<u64>) -> Result<Bytes> {
        self.store.get_range(&self.path, range).await.map_err(|e| failed(&e))
    }
}

/// A file being written; it appears when it is closed.
struct Writer {
    parts: Option<Parts<()>>,
}

#[async_trait]
impl FileWrite for Writer {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        match &mut self.parts {
            Some(parts) => parts.add(bytes).await.map_err(wrapped),
            None => Err(closed()),
        }
    }

    async fn close(&mut self) -> Result<()> {
        match self.parts.take() {
            Some(mut parts) => parts.finish().await.map_err(wrapped),
            None => Err(closed()),
        }
    }
}

fn closed() -> iceberg::Error {
    wrapped(Error::internal("a file is written after it was closed"))
}
