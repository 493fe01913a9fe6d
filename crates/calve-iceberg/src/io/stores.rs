//! The stores behind the one door: one for each bucket, opened when it is first needed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use calve_types::{Error, Result};
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    BackoffConfig, CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, RetryConfig,
};

use super::explain::foreign;
use super::location::Kind;
use super::properties::number;
use super::vended::{Vended, merged};
use super::{adls, aws, gcs, s3};

/// How the buckets of a catalog or of a table are reached, and those that are open.
pub(super) struct Stores {
    properties: BTreeMap<String, String>,
    vended: Option<Arc<Vended>>,
    local: Arc<dyn ObjectStore>,
    open: Mutex<HashMap<Key, Arc<dyn ObjectStore>>>,
    /// The buckets whose put-if-absent was tried and works.
    pub(super) conditional: Mutex<HashSet<String>>,
}

/// What a store is for: a bucket, the credentials for a part of it, and whether its requests are tried again.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    bucket: String,
    prefix: Option<String>,
    retry: bool,
}

impl fmt::Debug for Stores {
    /// Properties hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores").field("vended", &self.vended).finish_non_exhaustive()
    }
}

impl Stores {
    pub(super) fn new(properties: BTreeMap<String, String>, vended: Option<Arc<Vended>>) -> Self {
        let local = Arc::new(LocalFileSystem::new());
        Self { properties, vended, local, open: Mutex::default(), conditional: Mutex::default() }
    }

    /// The same, with nothing open: its connections belong to nobody else.
    pub(super) fn fresh(&self) -> Self {
        Self { local: self.local.clone(), ..Self::new(self.properties.clone(), self.vended.clone()) }
    }

    pub(super) fn properties(&self) -> &BTreeMap<String, String> {
        &self.properties
    }

    pub(super) fn vended(&self) -> Option<&Arc<Vended>> {
        self.vended.as_ref()
    }

    fn opened(&self) -> MutexGuard<'_, HashMap<Key, Arc<dyn ObjectStore>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The store of a path, and the path in it. Requests that fail are tried again if `retry`.
    ///
    /// # Errors
    /// Those of opening the store: wrong properties.
    fn find<'a>(&self, path: &'a Path, retry: bool) -> Result<Found<'a>> {
        let text = path.as_ref();
        let (scheme, rest) = text.split_once('/').unwrap_or((text, ""));
        let kind = Kind::of_scheme(scheme).ok_or_else(|| Error::internal(format!("no store for the path '{text}'")))?;
        if kind == Kind::Local {
            return Ok(Found { store: self.local.clone(), front: scheme, rest });
        }
        let (bucket, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let front = text.get(..scheme.len() + 1 + bucket.len()).unwrap_or(text);
        let location = format!("{scheme}://{bucket}/{rest}");
        let credential = self.vended.as_ref().and_then(|vended| vended.of(&location));
        let key = Key { bucket: front.to_owned(), prefix: credential.map(|c| c.prefix.clone()), retry };
        if let Some(store) = self.opened().get(&key) {
            return Ok(Found { store: store.clone(), front, rest });
        }
        let store = self.connect(kind, bucket, &location, retry)?;
        let store = self.opened().entry(key).or_insert(store).clone();
        Ok(Found { store, front, rest })
    }

    /// Opens the store of a bucket for a location; nothing is contacted.
    fn connect(&self, kind: Kind, bucket: &str, location: &str, retry: bool) -> Result<Arc<dyn ObjectStore>> {
        let credential = self.vended.as_ref().and_then(|vended| vended.of(location));
        let properties = merged(&self.properties, credential);
        let retry =
            if retry { retries(&properties)? } else { RetryConfig { max_retries: 0, ..RetryConfig::default() } };
        let (properties, vended) = (&properties, self.vended.as_ref());
        match kind {
            Kind::Local => Ok(self.local.clone()),
            Kind::S3 => {
                let make = |p: &BTreeMap<String, String>| aws::static_credential(p, "s3");
                let vended = vended.map(|v| v.provider(location, Arc::new(make))).transpose()?.flatten();
                s3::open(bucket, properties, vended, retry)
            }
            Kind::Gcs => {
                let vended = vended.map(|v| v.provider(location, Arc::new(gcs::credential))).transpose()?.flatten();
                gcs::open(bucket, properties, vended, retry)
            }
            Kind::Adls => {
                let name = bucket.to_owned();
                let make = move |p: &BTreeMap<String, String>| adls::credential(p, &adls::Container::parse(&name)?);
                let vended = vended.map(|v| v.provider(location, Arc::new(make))).transpose()?.flatten();
                adls::open(bucket, properties, vended, retry)
            }
        }
    }
}

/// How often and how long requests are tried again: `s3.retry.num-retries`, `s3.retry.min-wait-ms`,
/// `s3.retry.max-wait-ms`. A wrong address is known within seconds, a silent server within two minutes.
fn retries(properties: &BTreeMap<String, String>) -> Result<RetryConfig> {
    let wait = |key: &str, default: u64| -> Result<Duration> {
        Ok(Duration::from_millis(number(properties, key)?.unwrap_or(default).clamp(1, 600_000)))
    };
    let most = number(properties, "s3.retry.num-retries")?.unwrap_or(6);
    Ok(RetryConfig {
        max_retries: usize::try_from(most).unwrap_or(usize::MAX),
        retry_timeout: Duration::from_secs(100),
        backoff: BackoffConfig {
            init_backoff: wait("s3.retry.min-wait-ms", 100)?,
            max_backoff: wait("s3.retry.max-wait-ms", 10_000)?,
            base: 2.0,
        },
    })
}

/// A store, and a path taken apart: what names the store, and the path in it.
struct Found<'a> {
    store: Arc<dyn ObjectStore>,
    front: &'a str,
    rest: &'a str,
}

impl Found<'_> {
    fn path(&self) -> object_store::Result<Path> {
        Ok(Path::parse(self.rest)?)
    }
}

/// A path of a bucket's store as a path of all stores.
fn whole(front: &str, path: &Path) -> object_store::Result<Path> {
    Ok(Path::parse(format!("{front}/{path}"))?)
}

fn whole_meta(front: &str, meta: ObjectMeta) -> object_store::Result<ObjectMeta> {
    Ok(ObjectMeta { location: whole(front, &meta.location)?, ..meta })
}

/// Files of one store that are to be deleted.
type Group = (Arc<dyn ObjectStore>, Vec<object_store::Result<Path>>);

/// One store for all buckets: paths begin with the scheme, and those of remote storage go on with the bucket.
#[derive(Clone)]
pub(super) struct Router {
    stores: Arc<Stores>,
    retry: bool,
}

impl Router {
    pub(super) fn new(stores: Arc<Stores>) -> Self {
        Self { stores, retry: true }
    }

    /// A router whose requests are made once: who asks wants to know what became of each.
    pub(super) fn once(stores: Arc<Stores>) -> Self {
        Self { stores, retry: false }
    }

    fn find<'a>(&self, path: &'a Path) -> object_store::Result<Found<'a>> {
        self.stores.find(path, self.retry).map_err(foreign)
    }

    /// Deletes some files, those of a bucket with as few requests as it takes.
    async fn delete_all(self, paths: Vec<object_store::Result<Path>>) -> Vec<object_store::Result<Path>> {
        let mut results = Vec::with_capacity(paths.len());
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        for path in paths {
            let inner = path.and_then(|path| {
                let found = self.find(&path)?;
                Ok((found.front.to_owned(), found.path()?, found.store))
            });
            match inner {
                // credentials may differ within a bucket: then the store does, too
                Ok((front, inner, store)) => {
                    let key = format!("{front} {:p}", Arc::as_ptr(&store));
                    groups.entry(key).or_insert_with(|| (store, Vec::new())).1.push(Ok(inner));
                }
                Err(error) => results.push(Err(error)),
            }
        }
        for (key, (store, paths)) in groups {
            let front = key.rsplit_once(' ').map_or(key.as_str(), |(front, _)| front);
            let mut deleted = store.delete_stream(futures::stream::iter(paths).boxed());
            while let Some(result) = deleted.next().await {
                results.push(result.and_then(|path| whole(front, &path)));
            }
        }
        results
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Router").field(&self.stores).finish()
    }
}

impl fmt::Display for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("storage")
    }
}

/// Whether the file is asked for its size before this much of it is read. The store of local files makes room for a range
/// before it sees that the file ends before; a damaged footer may ask for more than there is memory.
fn is_large(range: &Range<u64>) -> bool {
    range.end.saturating_sub(range.start) > 8 << 20
}

/// The part of a range that a file of that size has; one byte behind its end if it has none.
fn within(range: &Range<u64>, size: u64) -> Range<u64> {
    range.start..range.end.min(size.max(range.start.saturating_add(1)))
}

/// Files that are deleted with one request.
const DELETED_AT_ONCE: usize = 1000;

#[async_trait]
impl ObjectStore for Router {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> object_store::Result<PutResult> {
        let found = self.find(path)?;
        found.store.put_opts(&found.path()?, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        let found = self.find(path)?;
        found.store.put_multipart_opts(&found.path()?, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> object_store::Result<GetResult> {
        let found = self.find(path)?;
        let result = found.store.get_opts(&found.path()?, options).await?;
        Ok(GetResult { meta: ObjectMeta { location: path.clone(), ..result.meta }, ..result })
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> object_store::Result<Vec<Bytes>> {
        let found = self.find(path)?;
        let inner = found.path()?;
        if found.front == Kind::Local.scheme() && ranges.iter().any(is_large) {
            let size = found.store.head(&inner).await?.size;
            let there: Vec<_> = ranges.iter().map(|range| within(range, size)).collect();
            return found.store.get_ranges(&inner, &there).await;
        }
        found.store.get_ranges(&inner, ranges).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, object_store::Result<Path>>,
    ) -> BoxStream<'static, object_store::Result<Path>> {
        let router = self.clone();
        let chunks = paths.chunks(DELETED_AT_ONCE);
        chunks.then(move |paths| router.clone().delete_all(paths)).flat_map(futures::stream::iter).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        let started = prefix.ok_or_else(|| foreign(Error::internal("a listing of all storage"))).and_then(|prefix| {
            let found = self.find(prefix)?;
            Ok((found.store.list(Some(&found.path()?)), found.front.to_owned()))
        });
        match started {
            Ok((listing, front)) => listing.map(move |meta| whole_meta(&front, meta?)).boxed(),
            Err(error) => futures::stream::once(async move { Err(error) }).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> object_store::Result<ListResult> {
        let prefix = prefix.ok_or_else(|| foreign(Error::internal("a listing of all storage")))?;
        let found = self.find(prefix)?;
        let listed = found.store.list_with_delimiter(Some(&found.path()?)).await?;
        let folders = listed.common_prefixes.iter().map(|path| whole(found.front, path));
        let objects = listed.objects.into_iter().map(|meta| whole_meta(found.front, meta));
        Ok(ListResult {
            common_prefixes: folders.collect::<Result<_, _>>()?,
            objects: objects.collect::<Result<_, _>>()?,
        })
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> object_store::Result<()> {
        let (source, target) = (self.find(from)?, self.find(to)?);
        if source.front != target.front {
            return Err(foreign(Error::unsupported("copies from one bucket to another")));
        }
        target.store.copy_opts(&source.path()?, &target.path()?, options).await
    }
}
