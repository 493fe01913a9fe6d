//! The one door to storage: local files, S3, Google Cloud Storage, Azure Data Lake Storage.
//!
//! * `location` takes a location apart and says whether a table may touch it.
//! * `stores` opens a store for each bucket, with the properties and the credentials that hold for it, and puts one store
//!   in front of them all. `s3`, `gcs` and `adls` know Iceberg's property names; `aws` finds AWS's credentials and
//!   signs; `assume_role` takes a role of AWS; `vended` are credentials that a catalog gives for a while.
//! * `parts` sends a file in parts; `create` is put-if-absent; `adapter` is what iceberg reads and writes manifests
//!   through.
//! * `explain` turns a store's failure into words without secrets; `http` makes clients that never hang.

mod adapter;
mod adls;
mod assume_role;
pub(crate) mod aws;
mod create;
mod explain;
mod gcs;
pub(crate) mod http;
mod location;
pub(crate) mod parts;
mod profile;
mod properties;
mod s3;
mod stores;
mod vended;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use calve_types::{Error, Result};
use chrono::{DateTime, Utc};
use datafusion::execution::object_store::ObjectStoreUrl;
use futures::StreamExt;
use futures::stream::BoxStream;
use iceberg::io::FileIO;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions};

pub use create::Created;
pub(crate) use explain::{explain, explain_cause};
pub(crate) use location::{Place, local_path};
pub use vended::{CredentialSource, VendedCredential};

use self::location::Reach;
use self::parts::Parts;
use self::stores::{Router, Stores};
use self::vended::Vended;
use crate::error::Context;

/// Access to files by location: [`FileIO`] for metadata and manifests, an [`ObjectStore`] for data files. Cheap to clone.
///
/// There are two kinds: that of a catalog, which reads the metadata files the catalog names, and that of a table
/// (that of [`crate::Table::io`]), which touches only what the table may touch.
#[derive(Clone, Debug)]
pub struct TableIo {
    reach: Reach,
    stores: Arc<Stores>,
    store: Arc<dyn ObjectStore>,
    file_io: FileIO,
    left: Left,
}

/// Locations of files that were to be deleted and may be there. A clone is the same list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Left(Arc<Mutex<Vec<String>>>);

impl Left {
    pub(crate) fn locations(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Empties the list.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.locations())
    }
}

/// A file that a listing found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its location.
    pub location: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was written.
    pub modified: DateTime<Utc>,
}

/// What lies directly in a folder: names without slashes, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Children {
    /// Folders: of an object store, what is followed by a slash in some key.
    pub folders: Vec<String>,
    /// Files.
    pub files: Vec<String>,
}

impl TableIo {
    /// Files of the local file system, and no others.
    pub fn local() -> Self {
        Self::with(Reach::local(), Stores::new(BTreeMap::new(), None), Left::default())
    }

    /// Local files and all remote storage, reached as the properties of a catalog say: `s3.*`, `client.*`, `gcs.*`, `adls.*`,
    /// `io-impl`, `calve.tls.ca-file`. Nothing is contacted.
    ///
    /// # Errors
    /// `not-supported` for properties that ask for what calve does not do. Wrong values are found when a bucket is opened.
    pub fn new(properties: &BTreeMap<String, String>) -> Result<Self> {
        properties::check(properties)?;
        Ok(Self::with(Reach::of(properties)?, Stores::new(properties.clone(), None), Left::default()))
    }

    /// The same with some properties on top of the catalog's: those that a REST catalog sends with a table.
    ///
    /// # Errors
    /// As [`TableIo::new`].
    pub fn with_properties(&self, overrides: &BTreeMap<String, String>) -> Result<Self> {
        if overrides.is_empty() {
            return Ok(self.clone());
        }
        let mut properties = self.stores.properties().clone();
        properties.extend(overrides.iter().map(|(key, value)| (key.clone(), value.clone())));
        let vended = self.stores.vended().cloned();
        properties::check(&properties)?;
        Ok(Self::with(Reach::of(&properties)?, Stores::new(properties, vended), self.left.clone()))
    }

    /// The same with credentials that the catalog vends. They win over all properties for the locations that begin with their
    /// prefix; if they expire, `source` is asked for others before they do.
    pub fn with_credentials(
        &self,
        credentials: Vec<VendedCredential>,
        source: Option<Arc<dyn CredentialSource>>,
    ) -> Self {
        if credentials.is_empty() {
            return self.clone();
        }
        let vended = Vended::new(credentials, source);
        let reach = vended.kinds().fold(self.reach.clone(), Reach::with);
        let stores = Stores::new(self.stores.properties().clone(), Some(Arc::new(vended)));
        Self::with(reach, stores, self.left.clone())
    }

    fn with(reach: Reach, stores: Stores, left: Left) -> Self {
        let stores = Arc::new(stores);
        let store: Arc<dyn ObjectStore> = Arc::new(Router::new(stores.clone()));
        Self { file_io: adapter::file_io(reach.clone(), store.clone()), reach, stores, store, left }
    }

    /// The files of a table whose metadata file lies at `metadata_location`; if that is no location, where the table says
    /// that it lies. See [`location`] for what it may touch.
    pub(crate) fn of_table(&self, metadata_location: &str, table_location: &str) -> Self {
        let home = if Place::parse(metadata_location).is_ok() { metadata_location } else { table_location };
        let reach = self.reach.of_table(home);
        if reach == self.reach {
            return self.clone();
        }
        Self { file_io: adapter::file_io(reach.clone(), self.store.clone()), reach, ..self.clone() }
    }

    /// The same storage over connections of its own.
    pub(crate) fn fresh(&self) -> Self {
        Self::with(self.reach.clone(), self.stores.fresh(), self.left.clone())
    }

    /// Access by location string, for metadata files and manifests.
    pub fn file_io(&self) -> &FileIO {
        &self.file_io
    }

    /// The store whose paths [`TableIo::object_path`] makes.
    pub fn object_store(&self) -> Arc<dyn ObjectStore> {
        self.store.clone()
    }

    /// The URL for DataFusion's plans. DataFusion looks up the store of a plan before it opens its files, and passes it to the
    /// source; ours read through [`TableIo::object_store`] instead, which has the credentials of its table. The local file
    /// system is always registered.
    pub fn object_store_url(&self) -> ObjectStoreUrl {
        ObjectStoreUrl::local_filesystem()
    }

    /// The path in [`TableIo::object_store`] of a location of table metadata. Locations are taken literally, as Iceberg writes
    /// them: `%41` is three characters.
    ///
    /// # Errors
    /// `not-supported` for another scheme, `invalid-table` for a relative path or a file outside of the table's storage.
    pub fn object_path(&self, location: &str) -> Result<Path> {
        self.reach.file(location).map(|(_, path)| path)
    }

    /// Whether a location is reached over a network.
    pub(crate) fn is_remote(&self, location: &str) -> bool {
        Place::parse(location).is_ok_and(|place| place.kind.is_remote())
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// `io` if it is not there or cannot be read; `access-denied`; as [`TableIo::object_path`].
    pub async fn read(&self, location: &str) -> Result<Bytes> {
        let what = || format!("read the file '{location}'");
        let found = self.store.get(&self.object_path(location)?).await.context(what)?;
        found.bytes().await.context(what)
    }

    /// Writes a whole file, over one that may be there. It appears complete or not at all. A local one is durable after
    /// `TableIo::sync`.
    ///
    /// # Errors
    /// As [`TableIo::read`].
    pub async fn write(&self, location: &str, bytes: Bytes) -> Result<()> {
        let path = self.object_path(location)?;
        let mut parts = Parts::new(self.store.clone(), path, location, self.is_remote(location), ());
        parts.add(bytes).await?;
        parts.finish().await
    }

    /// Creates a file if there is none yet (put-if-absent): of all who do so at the same time exactly one is told
    /// [`Created::Done`].
    ///
    /// # Errors
    /// `not-supported` for a store that cannot do it; `commit-unknown` if nobody can tell whether it was created; any other
    /// error means that it was not.
    pub async fn create(&self, location: &str, bytes: Bytes) -> Result<Created> {
        let (kind, path) = self.reach.file(location)?;
        if kind.is_remote() {
            return create::create(&self.stores, &self.left, kind, &path, location, bytes).await;
        }
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.store.put_opts(&path, bytes.into(), options).await {
            Ok(_) => {}
            Err(object_store::Error::AlreadyExists { .. }) => return Ok(Created::Exists),
            Err(error) => return Err(error).context(|| format!("create the file '{location}'")),
        }
        let folder = location.rsplit_once('/').map_or(location, |(folder, _)| folder);
        self.sync(vec![location.to_owned(), folder.to_owned()]).await?;
        Ok(Created::Done)
    }

    /// Whether a file is there.
    ///
    /// # Errors
    /// As [`TableIo::read`].
    pub async fn exists(&self, location: &str) -> Result<bool> {
        match self.store.head(&self.object_path(location)?).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(e) => Err(e).context(|| format!("look for the file '{location}'")),
        }
    }

    /// Deletes a file that nothing refers to. One that cannot be deleted is noted for [`TableIo::take_left`].
    pub(crate) async fn delete_or_leave(&self, location: &str) {
        if let Err(error) = self.delete(location).await {
            tracing::warn!(%error, location, "a file that nothing refers to is left");
            self.leave(vec![location.to_owned()]).await;
        }
    }

    /// As [`TableIo::delete_or_leave`], of many files.
    pub(crate) async fn delete_all_or_leave(&self, locations: Vec<String>) {
        let failed = self.delete_all(&locations).await;
        if let Some(error) = failed.first() {
            tracing::warn!(%error, "files that nothing refers to are left");
            self.leave(locations).await;
        }
    }

    /// Notes those of some files that are there, or that nobody can tell of, for [`TableIo::take_left`].
    pub(crate) async fn leave(&self, locations: Vec<String>) {
        let mut silent = false;
        for location in locations {
            if let Some(path) = local_path(&location).ok().filter(|_| !self.is_remote(&location)) {
                let files = [path.clone(), staged(path)];
                let there = files.iter().filter(|file| !matches!(file.try_exists(), Ok(false)));
                self.note_left(there.map(|file| file.display().to_string()).collect());
                continue;
            }
            // storage that does not answer is not asked a thousand times
            let there = if silent { None } else { self.exists(&location).await.ok() };
            silent |= there.is_none();
            if there != Some(false) {
                self.note_left(vec![location]);
            }
        }
    }

    /// Notes files, or folders with files, for [`TableIo::take_left`].
    pub(crate) fn note_left(&self, locations: Vec<String>) {
        self.left.locations().extend(locations);
    }

    /// The locations of files that were to be deleted since the last time, may be left, and that nothing refers to: by this
    /// access to files or by one that was made of it.
    pub fn take_left(&self) -> Vec<String> {
        self.left.take()
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

    /// Deletes many files, those of a bucket with as few requests as it takes; missing ones are fine. Says which could not be
    /// deleted, and why.
    pub async fn delete_all(&self, locations: &[String]) -> Vec<Error> {
        let mut failed = Vec::new();
        let mut paths = Vec::with_capacity(locations.len());
        for location in locations {
            match self.object_path(location) {
                Ok(path) => paths.push(Ok(path)),
                Err(error) => failed.push(error),
            }
        }
        let mut deleted = self.store.delete_stream(futures::stream::iter(paths).boxed());
        while let Some(result) = deleted.next().await {
            match result {
                Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                Err(e) => failed.push(explain(&e).error("delete a file")),
            }
        }
        failed
    }

    /// The files below a folder, in no order. Only for what cannot do without: stores may be slow at it.
    ///
    /// # Errors
    /// As [`TableIo::object_path`]; each item's as [`TableIo::read`]. A folder that is not there is empty.
    pub fn list(&self, folder: &str) -> Result<BoxStream<'static, Result<Listed>>> {
        let folder = folder.trim_end_matches('/').to_owned();
        let prefix = self.reach.place(&folder)?.store_path(&folder)?;
        let listing = self.store.list(Some(&prefix));
        Ok(listing
            .map(move |meta| {
                let meta = meta.context(|| format!("list the files of '{folder}'"))?;
                let rest = meta.location.as_ref().strip_prefix(prefix.as_ref()).unwrap_or_default();
                Ok(Listed { location: format!("{folder}{rest}"), size: meta.size, modified: meta.last_modified })
            })
            .boxed())
    }

    /// What lies directly in a folder. One that is not there is empty.
    ///
    /// # Errors
    /// As [`TableIo::read`].
    pub async fn children(&self, folder: &str) -> Result<Children> {
        let folder = folder.trim_end_matches('/');
        let prefix = self.reach.place(folder)?.store_path(folder)?;
        let listed = self.store.list_with_delimiter(Some(&prefix)).await;
        let listed = listed.context(|| format!("list the folder '{folder}'"))?;
        let name = |path: &Path| path.filename().map(str::to_owned);
        let mut children = Children {
            folders: listed.common_prefixes.iter().filter_map(name).collect(),
            files: listed.objects.iter().filter_map(|meta| name(&meta.location)).collect(),
        };
        children.folders.sort();
        children.files.sort();
        Ok(children)
    }

    /// The same files, with data files through another object store.
    pub fn with_object_store(mut self, store: Arc<dyn ObjectStore>) -> Self {
        self.store = store;
        self
    }

    /// Makes local files or folders durable: what they hold survives a crash of the machine. What an object store has taken is
    /// durable.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn sync(&self, locations: Vec<String>) -> Result<()> {
        let locations: Vec<String> = locations.into_iter().filter(|location| !self.is_remote(location)).collect();
        if locations.is_empty() {
            return Ok(());
        }
        let sync = move || {
            for location in &locations {
                let path = local_path(location)?;
                let synced = fs::File::open(&path).and_then(|file| file.sync_all());
                synced.context(|| format!("make '{location}' durable"))?;
            }
            Ok(())
        };
        match tokio::task::spawn_blocking(sync).await {
            Ok(result) => result,
            Err(error) => Err(Error::new("io", format!("cannot make files durable: {error}"))),
        }
    }

    /// Deletes a local file and what an interrupted upload of it left, without waiting for a runtime. What cannot be deleted is
    /// noted for [`TableIo::take_left`].
    pub(crate) fn delete_now(&self, location: &str) {
        if self.is_remote(location) {
            return;
        }
        if let Ok(path) = local_path(location) {
            for file in [staged(path.clone()), path] {
                let gone = fs::remove_file(&file).is_ok() || matches!(file.try_exists(), Ok(false));
                if !gone {
                    self.note_left(vec![file.display().to_string()]);
                }
            }
        }
    }
}

/// Where object_store stages the upload of a file, `<name>#<number>`, before it renames it.
fn staged(path: PathBuf) -> PathBuf {
    let mut staged = path.into_os_string();
    staged.push("#1");
    staged.into()
}

#[cfg(test)]
pub(crate) mod tests;
