//! The one door to storage: local files now, object stores later.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use calve_types::{Error, Result};
use datafusion::execution::object_store::ObjectStoreUrl;
use iceberg::io::FileIO;
use object_store::local::LocalFileSystem;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::error::Context;

/// Access to the files of a table: [`FileIO`] for metadata and manifests, an [`ObjectStore`] for data files.
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct TableIo {
    file_io: FileIO,
    store: Arc<dyn ObjectStore>,
    url: ObjectStoreUrl,
}

impl TableIo {
    /// Files of the local file system.
    pub fn local() -> Self {
        Self {
            file_io: FileIO::new_with_fs(),
            store: Arc::new(LocalFileSystem::new()),
            url: ObjectStoreUrl::local_filesystem(),
        }
    }

    /// Access by location string, for metadata files and manifests.
    pub fn file_io(&self) -> &FileIO {
        &self.file_io
    }

    /// The store whose paths [`TableIo::object_path`] makes.
    pub fn object_store(&self) -> Arc<dyn ObjectStore> {
        self.store.clone()
    }

    /// The URL under which [`TableIo::object_store`] is to be registered with DataFusion.
    pub fn object_store_url(&self) -> ObjectStoreUrl {
        self.url.clone()
    }

    /// The path in [`TableIo::object_store`] of a location of table metadata: `/abs`, `file:/abs` or `file:///abs`.
    /// Locations are taken literally, as Iceberg writes them: `%41` is three characters.
    ///
    /// # Errors
    /// `not-supported` for another scheme, `invalid-table` for a relative path.
    pub fn object_path(&self, location: &str) -> Result<object_store::path::Path> {
        let path = local_path(location)?;
        object_store::path::Path::from_absolute_path(&path).context(|| format!("use the file '{location}'"))
    }

    /// Deletes a file; a missing one is fine.
    ///
    /// # Errors
    /// `io` if the file is there and cannot be deleted.
    pub async fn delete(&self, location: &str) -> Result<()> {
        match self.store.delete(&self.object_path(location)?).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(e).context(|| format!("delete the file '{location}'")),
        }
    }

    /// The same files, with data files through another object store.
    pub fn with_object_store(mut self, store: Arc<dyn ObjectStore>) -> Self {
        self.store = store;
        self
    }

    /// Makes files or folders durable: what they hold survives a crash of the machine.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn sync(&self, locations: Vec<String>) -> Result<()> {
        let sync = move || {
            for location in &locations {
                let path = local_path(location)?;
                let synced = std::fs::File::open(&path).and_then(|file| file.sync_all());
                synced.context(|| format!("make '{location}' durable"))?;
            }
            Ok(())
        };
        match tokio::task::spawn_blocking(sync).await {
            Ok(result) => result,
            Err(error) => Err(Error::new("io", format!("cannot make files durable: {error}"))),
        }
    }

    /// Deletes a file and what an interrupted upload of it left, without waiting for a runtime and without a verdict.
    pub(crate) fn delete_now(&self, location: &str) {
        if let Ok(path) = local_path(location) {
            // object_store stages an upload as `<name>#<number>` before it renames it
            let mut staged = path.clone().into_os_string();
            staged.push("#1");
            let _ = std::fs::remove_file(staged);
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The file system path of a location: `/abs`, `file:/abs`, `file:///abs`.
///
/// # Errors
/// `not-supported` for another scheme, `invalid-table` for a relative path.
pub(crate) fn local_path(location: &str) -> Result<PathBuf> {
    let path = match location.strip_prefix("file:") {
        Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
        None => location,
    };
    if !path.starts_with('/') {
        if let Some((scheme, _)) = path.split_once("://") {
            return Err(Error::unsupported(format!("files of scheme '{scheme}' ('{location}')"))
                .with_hint("only local files are supported: '/path' or 'file:///path'"));
        }
        return Err(Error::new("invalid-table", format!("the location '{location}' is not an absolute path"))
            .with_hint("use '/path' or 'file:///path'"));
    }
    Ok(Path::new(path).to_path_buf())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use bytes::Bytes;

    use super::*;

    #[tokio::test]
    async fn every_spelling_and_name_reaches_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        let io = TableIo::local();
        for name in ["plain", "p=a b", "100%", "a%20b", "ünï", "q?x", "c*", "日本", "a+b&c"] {
            let absolute = format!("{root}/{name}/f.parquet");
            for location in [absolute.clone(), format!("file:{absolute}"), format!("file://{absolute}")] {
                io.file_io().new_output(&location).unwrap().write(Bytes::from_static(b"x")).await.unwrap();
                let path = io.object_path(&location).unwrap();
                let got = io.object_store().get(&path).await.unwrap().bytes().await.unwrap();
                assert_eq!(got.as_ref(), b"x");
                io.delete(&location).await.unwrap();
                io.delete(&location).await.unwrap();
                assert!(!Path::new(&absolute).exists());
            }
        }
    }

    #[test]
    fn other_schemes_and_relative_paths_are_refused() {
        let io = TableIo::local();
        assert_eq!(io.object_path("s3://b/x").unwrap_err().message, "not supported: files of scheme 's3' ('s3://b/x')");
        assert_eq!(io.object_path("x/y").unwrap_err().code, "invalid-table");
        assert_eq!(io.object_path("").unwrap_err().code, "invalid-table");
    }
}
