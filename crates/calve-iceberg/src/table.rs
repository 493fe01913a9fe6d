//! A loaded table and the cache of its manifests.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use calve_types::{Error, Result};
use iceberg::TableIdent;
use iceberg::spec::{
    DataFile, DataFileBuilder, Datum, MAIN_BRANCH, ManifestEntry, ManifestEntryRef, ManifestFile, ManifestList,
    PartitionSpec, SchemaRef, Snapshot, SnapshotRef, SnapshotReference, SnapshotRetention, StructType, TableMetadata,
};

use crate::error::Context;
use crate::io::TableIo;
use crate::manifest::{self, Layouts};
use crate::scan::caught;

/// One loaded version of a table; it never changes. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Table {
    ident: TableIdent,
    metadata: Arc<TableMetadata>,
    metadata_location: String,
    io: TableIo,
    cache: ManifestCache,
    refs: Arc<OnceLock<Refs>>,
    assumes_snapshots: bool,
}

/// Branches and tags by name.
pub type Refs = BTreeMap<String, SnapshotReference>;

impl Table {
    /// A table from its parts; `metadata_location` is the file `metadata` was read from. It says what the table may touch
    /// ([`TableIo`]).
    pub fn new(
        ident: TableIdent,
        metadata: Arc<TableMetadata>,
        metadata_location: String,
        io: TableIo,
        cache: ManifestCache,
    ) -> Self {
        let io = io.of_table(&metadata_location, metadata.location());
        Self { ident, metadata, metadata_location, io, cache, refs: Arc::default(), assumes_snapshots: false }
    }

    /// The table with snapshots, branches and tags that nobody knows: a read of one that is not in the metadata reads the
    /// current snapshot instead, and a change of one changes nothing.
    pub(crate) fn assuming_snapshots(self) -> Self {
        Self { assumes_snapshots: true, ..self }
    }

    /// Whether there may be snapshots, branches and tags that are not in the metadata.
    pub(crate) fn assumes_snapshots(&self) -> bool {
        self.assumes_snapshots
    }

    /// Namespace and name.
    pub fn ident(&self) -> &TableIdent {
        &self.ident
    }

    /// Schemas, partition specs, snapshots, references, properties.
    pub fn metadata(&self) -> &Arc<TableMetadata> {
        &self.metadata
    }

    /// The metadata file of this version.
    pub fn metadata_location(&self) -> &str {
        &self.metadata_location
    }

    /// Access to the table's files.
    pub fn io(&self) -> &TableIo {
        &self.io
    }

    /// The cache this table reads manifests through.
    pub fn cache(&self) -> &ManifestCache {
        &self.cache
    }

    /// A table property.
    pub fn property(&self, key: &str) -> Option<&str> {
        self.metadata.properties().get(key).map(String::as_str)
    }

    /// The table's branches and tags. [`TableMetadata`] shows them only in its JSON.
    ///
    /// # Errors
    /// `invalid-table` if the metadata cannot be written as JSON.
    pub fn refs(&self) -> Result<&Refs> {
        #[derive(serde::Deserialize)]
        struct OnlyRefs {
            refs: Option<Refs>,
        }
        if let Some(refs) = self.refs.get() {
            return Ok(refs);
        }
        let what = || format!("read the branches and tags of table '{}'", self.ident);
        let json = serde_json::to_vec(self.metadata.as_ref()).context(what)?;
        let mut refs = serde_json::from_slice::<OnlyRefs>(&json).context(what)?.refs.unwrap_or_default();
        if let Some(snapshot_id) = self.metadata.current_snapshot_id() {
            let main = || SnapshotReference::new(snapshot_id, SnapshotRetention::branch(None, None, None));
            refs.entry(MAIN_BRANCH.to_owned()).or_insert_with(main);
        }
        Ok(self.refs.get_or_init(|| refs))
    }

    /// The reference of a branch, `None` if there is no such branch yet.
    ///
    /// # Errors
    /// `not-a-branch` for a tag, with the Java library's sentence as detail.
    pub fn branch(&self, name: &str) -> Result<Option<&SnapshotReference>> {
        if name.is_empty() {
            return Err(Error::new("invalid-option", "invalid value '' for option 'branch': expected a name"));
        }
        match self.refs()?.get(name) {
            Some(reference) if !reference.is_branch() => {
                Err(Error::new("not-a-branch", format!("cannot write to tag '{name}'")).with_detail(format!(
                    "{name} is a tag, not a branch. Tags cannot be targets for producing snapshots"
                )))
            }
            found => Ok(found),
        }
    }

    /// The snapshot a commit to a branch builds on: the branch's head, or main's if there is no such branch yet. `None`
    /// for a table without snapshots.
    ///
    /// # Errors
    /// As [`Table::branch`].
    pub fn branch_head(&self, name: &str) -> Result<Option<&SnapshotRef>> {
        self.branch(name)?;
        Ok(self.metadata.snapshot_for_ref(name).or_else(|| self.metadata.current_snapshot()))
    }

    /// The manifests of a snapshot, in the order of its manifest list.
    ///
    /// # Errors
    /// `io` or `invalid-table` if the manifest list cannot be read.
    pub async fn manifests(&self, snapshot: &Snapshot) -> Result<Arc<Vec<ManifestFile>>> {
        let location = snapshot.manifest_list();
        if let Some(found) = self.cache.lists().get(location) {
            return Ok(found);
        }
        let what = || format!("read the manifest list '{location}' of snapshot {}", snapshot.snapshot_id());
        let bytes = self.io.file_io().new_input(location).context(what)?.read().await.context(what)?;
        manifest::check_list(&bytes)
            .map_err(|why| Error::new("invalid-table", format!("cannot {}: {why}", what())).with_hint(RESTORE))?;
        let version = self.metadata.format_version();
        let parsed = caught(|| ManifestList::parse_with_version(&bytes, version));
        let list = parsed.unwrap_or_else(|_| Err(damaged())).context(what);
        let list = list.map_err(|error| error.with_hint(RESTORE))?;
        let manifests: Arc<Vec<_>> = Arc::new(list.consume_entries().into_iter().collect());
        let newest = snapshot.sequence_number();
        if manifests.iter().any(|m| m.min_sequence_number < 0 || !(0..=newest).contains(&m.sequence_number)) {
            return Err(damaged()).context(what).map_err(|error| error.with_hint(RESTORE));
        }
        let files = snapshot.summary().additional_properties.get("total-data-files");
        if manifests.is_empty() && files.and_then(|files| files.parse::<u64>().ok()).is_some_and(|files| files > 0) {
            // one that ends too early looks like that of a table without files
            return Err(Error::new("io", format!("cannot {}: it is cut off", what())).with_hint(RESTORE));
        }
        // with paths and partition summaries about twice the line itself
        self.cache.lists().put(location, &manifests, manifests.len() * 2 * size_of::<ManifestFile>());
        Ok(manifests)
    }

    /// The entries of a manifest, deleted ones included, with the snapshot ids, sequence numbers and row ids they inherit
    /// from the manifest list's line.
    ///
    /// # Errors
    /// `io` or `invalid-table` if the manifest cannot be read.
    pub async fn entries(&self, manifest: &ManifestFile) -> Result<Arc<Vec<ManifestEntryRef>>> {
        let key = cache_key(manifest);
        if let Some(found) = self.cache.manifests().get(&key) {
            return Ok(found);
        }
        let entries = self.entries_once(manifest, None).await?;
        self.cache.manifests().put(&key, &entries, entries.iter().map(|entry| bytes_of(entry)).sum());
        Ok(entries)
    }

    /// As [`Table::entries`], but what is read is not kept: for who reads all manifests, one after the other. If `columns`
    /// are given, metrics of other columns may be missing.
    ///
    /// # Errors
    /// As [`Table::entries`].
    pub(crate) async fn entries_once(
        &self,
        manifest: &ManifestFile,
        columns: Option<&HashSet<i32>>,
    ) -> Result<Arc<Vec<ManifestEntryRef>>> {
        if let Some(found) = self.cache.manifests().get(&cache_key(manifest)) {
            return Ok(found);
        }
        let what = || format!("read the manifest '{}' of table '{}'", manifest.manifest_path, self.ident);
        let bytes = self.io.file_io().new_input(&manifest.manifest_path).context(what)?.read().await.context(what);
        let bytes = bytes.map_err(|error| if error.hint.is_none() { error.with_hint(RESTORE) } else { error })?;
        // the library panics on some damaged values
        let parsed = caught(|| {
            let (layout, blocks) = self.cache.inner.layouts.of(&bytes)?;
            manifest::read(&layout, blocks, manifest, columns)
        });
        let parsed = parsed.unwrap_or_else(|_| Err("it is damaged".to_owned()));
        let entries = parsed
            .map_err(|why| Error::new("invalid-table", format!("cannot {}: {why}", what())).with_hint(RESTORE))?;
        // a manifest that ends too early may look like a shorter one
        let counts = [manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count];
        let expected: u64 = counts.into_iter().flatten().map(u64::from).sum();
        if (entries.len() as u64) < expected {
            let (path, found) = (&manifest.manifest_path, entries.len());
            return Err(Error::new("io", format!("cannot read the manifest '{path}': it is cut off"))
                .with_detail(format!("It has {found} entries, and its manifest list says {expected}."))
                .with_hint(RESTORE));
        }
        Ok(Arc::new(entries))
    }
}

/// The Avro reader panics on some damaged files.
fn damaged() -> iceberg::Error {
    iceberg::Error::new(iceberg::ErrorKind::DataInvalid, "it is damaged")
}

/// What to do about a damaged file of a table.
pub(crate) const RESTORE: &str =
    "restore the file from a copy, or read an older snapshot that does without it: OPTIONS ('snapshot-id' = '...')";

/// What a manifest's entries are cached by: row ids are given to it when it first appears in a list of a v3 table.
fn cache_key(manifest: &ManifestFile) -> String {
    match manifest.first_row_id {
        Some(first) => format!("{}#{first}", manifest.manifest_path),
        None => manifest.manifest_path.clone(),
    }
}

/// Bytes of memory that an entry takes, about: what it says of columns is most of it.
fn bytes_of(entry: &ManifestEntry) -> usize {
    let file = entry.data_file();
    let counts = [file.column_sizes(), file.value_counts(), file.null_value_counts(), file.nan_value_counts()];
    let counts: usize = counts.iter().map(|of| of.capacity()).sum();
    let bounds = file.lower_bounds().capacity() + file.upper_bounds().capacity();
    size_of::<ManifestEntry>()
        + file.file_path().len()
        + counts * size_of::<(i32, u64)>()
        + bounds * size_of::<(i32, Datum)>()
}

/// A builder of the same file, to change what has no setter of its own.
pub(crate) fn rebuild(file: &DataFile, spec_id: i32) -> DataFileBuilder {
    let mut builder = DataFileBuilder::default();
    builder
        .content(file.content_type())
        .file_path(file.file_path().to_owned())
        .file_format(file.file_format())
        .partition(file.partition().clone())
        .partition_spec_id(spec_id)
        .record_count(file.record_count())
        .file_size_in_bytes(file.file_size_in_bytes())
        .column_sizes(file.column_sizes().clone())
        .value_counts(file.value_counts().clone())
        .null_value_counts(file.null_value_counts().clone())
        .nan_value_counts(file.nan_value_counts().clone())
        .lower_bounds(file.lower_bounds().clone())
        .upper_bounds(file.upper_bounds().clone())
        .key_metadata(file.key_metadata().map(<[u8]>::to_vec))
        .split_offsets(file.split_offsets().map(<[i64]>::to_vec))
        .equality_ids(file.equality_ids())
        .first_row_id(file.first_row_id())
        .referenced_data_file(file.referenced_data_file())
        .content_offset(file.content_offset())
        .content_size_in_bytes(file.content_size_in_bytes());
    if let Some(order) = file.sort_order_id() {
        builder.sort_order_id(order);
    }
    builder
}

/// The newest schema that has the source columns of a partition spec, and the type of its partitions: the current schema
/// unless such a column was dropped. The types of columns only widen, so that it takes the values of all files.
///
/// # Errors
/// `invalid-table` if no schema has the columns.
pub(crate) fn partition_type(metadata: &TableMetadata, spec: &PartitionSpec) -> Result<(SchemaRef, StructType)> {
    let schema = metadata.current_schema();
    if let Ok(types) = spec.partition_type(schema) {
        return Ok((schema.clone(), types));
    }
    let older = metadata.schemas_iter().filter_map(|schema| Some((schema.clone(), spec.partition_type(schema).ok()?)));
    older.max_by_key(|(schema, _)| schema.schema_id()).ok_or_else(|| {
        let id = spec.spec_id();
        Error::new("invalid-table", format!("no schema of the table has the columns of partition spec {id}"))
    })
}

/// A session's bounded cache of parsed manifest lists and manifests, by path: both never change once written.
/// A clone is the same cache.
#[derive(Clone, Default)]
pub struct ManifestCache {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    layouts: Layouts,
    lists: Mutex<Generations<Vec<ManifestFile>>>,
    manifests: Mutex<Generations<Vec<ManifestEntryRef>>>,
}

impl ManifestCache {
    fn lists(&self) -> MutexGuard<'_, Generations<Vec<ManifestFile>>> {
        self.inner.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn manifests(&self) -> MutexGuard<'_, Generations<Vec<ManifestEntryRef>>> {
        self.inner.manifests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ManifestCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManifestCache").finish_non_exhaustive()
    }
}

/// Bytes that one generation may hold, about. A session keeps two of lists and two of manifests, beside the memory that
/// queries are charged for.
const GENERATION_BYTES: usize = 64 << 20;

/// Two generations of values: what is used moves to the young one; when that is full, the old one is forgotten.
/// Keeps what was used recently at the cost of one hash look-up.
struct Generations<V> {
    young: HashMap<String, (Arc<V>, usize)>,
    old: HashMap<String, (Arc<V>, usize)>,
    young_bytes: usize,
}

impl<V> Default for Generations<V> {
    fn default() -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), young_bytes: 0 }
    }
}

impl<V> Generations<V> {
    fn get(&mut self, key: &str) -> Option<Arc<V>> {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (value, bytes) = self.old.remove(key)?;
        self.put(key, &value, bytes);
        Some(value)
    }

    fn put(&mut self, key: &str, value: &Arc<V>, bytes: usize) {
        if bytes > GENERATION_BYTES {
            return;
        }
        // an empty one takes its place, too
        let weight = bytes.max(key.len());
        if self.young_bytes.saturating_add(weight) > GENERATION_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        if self.young.insert(key.to_owned(), (value.clone(), bytes)).is_none() {
            self.young_bytes += weight;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn the_cache_is_bounded_and_keeps_what_is_used() {
        let mut cache = Generations::<u32>::default();
        let value = Arc::new(1);
        cache.put("hot", &value, 0);
        for i in 0..1000 {
            cache.put(&format!("k{i}"), &value, GENERATION_BYTES / 50);
            assert!(cache.get("hot").is_some());
        }
        assert!(cache.get("k0").is_none());
        assert!(cache.get("k999").is_some());
        assert!(cache.young.len() + cache.old.len() <= 2 * 50 + 2);
        cache.put("huge", &value, GENERATION_BYTES + 1);
        assert!(cache.get("huge").is_none());
    }
}
