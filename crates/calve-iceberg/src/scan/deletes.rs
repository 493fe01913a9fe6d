//! Loading delete files: each once per query, when a data file first needs it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::Int64Type;
use calve_types::{Error, Result};
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use futures::{StreamExt, TryStreamExt, stream};
use iceberg::spec::{
    DataFile, Datum, ManifestEntryRef, NestedField, NestedFieldRef, PrimitiveLiteral, PrimitiveType, Type,
};
use object_store::ObjectStoreExt;
use roaring::RoaringTreemap;
use tokio::sync::OnceCell;

use super::context::{ScanContext, field_of_any_schema, plain_field};
use super::formats::columns_of;
use super::guard::guarded;
use super::keytable::{Expected, KeyTable};
use super::reader;

/// How many delete files are read at a time.
const CONCURRENT_LOADS: usize = 16;

/// Field ids of position delete files (Iceberg spec, reserved field ids).
pub(crate) const FILE_PATH: i32 = 2_147_483_546;
pub(super) const POSITION: i32 = 2_147_483_545;

/// A delete file and its data sequence number.
#[derive(Debug, Clone)]
pub(crate) struct DeleteFile {
    pub(crate) entry: ManifestEntryRef,
    pub(crate) sequence: i64,
}

impl DeleteFile {
    pub(crate) fn file(&self) -> &DataFile {
        self.entry.data_file()
    }
}

/// Everything deleted from one data file.
#[derive(Debug, Default)]
pub(crate) struct FileDeletes {
    /// Replaces all position delete files.
    pub(crate) vector: Option<DeleteFile>,
    pub(crate) positions: Vec<Arc<PositionDeletes>>,
    pub(crate) keys: Vec<Arc<KeyDeletes>>,
    deleted: OnceCell<Arc<RoaringTreemap>>,
}

impl FileDeletes {
    pub(crate) fn is_empty(&self) -> bool {
        self.vector.is_none() && self.positions.is_empty() && self.keys.is_empty()
    }

    /// The deleted positions of the data file `path` with this sequence number.
    ///
    /// # Errors
    /// What reading the delete files meets.
    pub(crate) async fn positions(
        &self,
        context: &Arc<ScanContext>,
        path: &str,
        sequence: i64,
    ) -> Result<Arc<RoaringTreemap>> {
        let load = || async {
            if let Some(vector) = &self.vector {
                return Ok(Arc::new(deletion_vector(context, vector.file()).await?));
            }
            let mut deleted = RoaringTreemap::new();
            for group in &self.positions {
                // position deletes also delete from data of their own commit
                for (_, more) in group.of(context, path).await?.iter().filter(|(s, _)| *s >= sequence) {
                    deleted |= more;
                }
            }
            Ok::<_, Error>(Arc::new(deleted))
        };
        self.deleted.get_or_try_init(load).await.cloned()
    }

    /// The delete files that are about this data file and no other, and the positions they delete from the data file with
    /// this path and sequence number: what a new delete file of the data file can stand for.
    ///
    /// # Errors
    /// What reading the delete files meets.
    pub(crate) async fn of_this_file_only(
        &self,
        context: &Arc<ScanContext>,
        path: &str,
        sequence: i64,
    ) -> Result<(Vec<&DataFile>, RoaringTreemap)> {
        let mut deleted = RoaringTreemap::new();
        if let Some(vector) = &self.vector {
            deleted |= deletion_vector(context, vector.file()).await?;
        }
        let mut files: Vec<&DataFile> = self.vector.iter().map(DeleteFile::file).collect();
        for group in self.positions.iter().filter(|group| group.of_one_file) {
            for (_, more) in group.of(context, path).await?.iter().filter(|(s, _)| *s >= sequence) {
                deleted |= more;
            }
            files.extend(group.files.iter().map(DeleteFile::file));
        }
        Ok((files, deleted))
    }
}

/// Sequence numbers and positions by the path of the data file.
type PositionsByPath = HashMap<String, Vec<(i64, RoaringTreemap)>>;

/// Position delete files that apply to the same data files.
#[derive(Debug)]
pub(crate) struct PositionDeletes {
    files: Vec<DeleteFile>,
    /// The newest sequence number: every data file asks for it.
    newest: i64,
    /// Whether they are about one data file only.
    of_one_file: bool,
    loaded: OnceCell<Loaded<PositionsByPath>>,
}

/// Something in memory that is charged to the query.
#[derive(Debug)]
struct Loaded<T> {
    value: T,
    _memory: MemoryReservation,
}

impl PositionDeletes {
    /// Files about one data file only, or about those of a partition.
    pub(crate) fn new(files: Vec<DeleteFile>, of_one_file: bool) -> Self {
        let newest = files.iter().map(|f| f.sequence).max().unwrap_or(i64::MIN);
        Self { files, newest, of_one_file, loaded: OnceCell::new() }
    }

    /// The newest sequence number.
    pub(crate) fn newest(&self) -> i64 {
        self.newest
    }

    /// Sequence numbers and positions for one data file.
    async fn of(&self, context: &Arc<ScanContext>, path: &str) -> Result<&[(i64, RoaringTreemap)]> {
        let loaded = self.loaded.get_or_try_init(|| self.load(context)).await?;
        Ok(loaded.value.get(path).map_or(&[], Vec::as_slice))
    }

    async fn load(&self, context: &Arc<ScanContext>) -> Result<Loaded<PositionsByPath>> {
        let memory = MemoryConsumer::new("position deletes").register(&context.pool);
        let mut all = PositionsByPath::new();
        let mut loads = concurrently(context, &self.files, load_positions);
        while let Some((sequence, positions)) = loads.try_next().await? {
            for (path, positions) in positions {
                memory.try_grow(path.len() + positions.serialized_size()).map_err(|e| too_many_deletes(&e))?;
                all.entry(path).or_default().push((sequence, positions));
            }
        }
        Ok(Loaded { value: all, _memory: memory })
    }
}

/// Equality delete files with the same columns that apply to the same data files.
#[derive(Debug)]
pub(crate) struct KeyDeletes {
    /// The equality fields.
    pub(crate) ids: Vec<i32>,
    files: Vec<DeleteFile>,
    /// Deletes up to this sequence number hit no file of the scan.
    needed_after: AtomicI64,
    loaded: OnceCell<Loaded<KeyTable>>,
}

impl KeyDeletes {
    pub(crate) fn new(ids: Vec<i32>, files: Vec<DeleteFile>) -> Self {
        Self { ids, files, needed_after: AtomicI64::new(i64::MAX), loaded: OnceCell::new() }
    }

    /// To be called for every data file the deletes apply to, before the first is read.
    pub(crate) fn needed_by(&self, sequence: i64) {
        self.needed_after.fetch_min(sequence, Ordering::Relaxed);
    }

    /// The deleted keys.
    ///
    /// # Errors
    /// What reading the delete files meets; `out-of-memory`.
    pub(crate) async fn table(&self, context: &Arc<ScanContext>) -> Result<&KeyTable> {
        Ok(&self.loaded.get_or_try_init(|| self.load(context)).await?.value)
    }

    async fn load(&self, context: &Arc<ScanContext>) -> Result<Loaded<KeyTable>> {
        let fields = self.ids.iter().map(|id| field_of_any_schema(&context.table, *id)).collect::<Result<Vec<_>>>()?;
        let types = fields.iter().map(|f| Ok(plain_field(f)?.data_type().clone())).collect::<Result<Vec<_>>>()?;
        let memory = MemoryConsumer::new("equality deletes").register(&context.pool);
        let after = self.needed_after.load(Ordering::Relaxed);
        let files: Vec<_> = self.files.iter().filter(|f| f.sequence > after).cloned().collect();
        let mut expected = expected(&self.ids, &files);
        if memory.try_resize(expected.bytes()).is_err() {
            // what was never checked may be wrong
            expected.range = None;
        }
        let mut table = KeyTable::new(&types, expected)?;
        let fields: Arc<[NestedFieldRef]> = fields.into();
        let mut loads = concurrently(context, &files, move |context, file| {
            let fields = fields.clone();
            async move { read_columns(&context, &file, &fields).await }
        });
        while let Some((sequence, batches)) = loads.try_next().await? {
            for columns in batches {
                table.add(&columns, sequence)?;
                memory.try_resize(table.size()).map_err(|e| too_many_deletes(&e))?;
            }
        }
        Ok(Loaded { value: table, _memory: memory })
    }
}

/// What the entries of delete files say of their keys.
fn expected(ids: &[i32], files: &[DeleteFile]) -> Expected {
    // only keys of one column are looked up by their number
    let only = if let [id] = ids { Some(id) } else { None };
    let bound = |bounds: &HashMap<i32, Datum>| match bounds.get(only?)?.literal() {
        PrimitiveLiteral::Int(value) => Some(i64::from(*value)),
        PrimitiveLiteral::Long(value) => Some(*value),
        _ => None,
    };
    let ranges = files.iter().map(|f| Some((bound(f.file().lower_bounds())?, bound(f.file().upper_bounds())?)));
    Expected {
        rows: files.iter().map(|f| f.file().record_count()).fold(0, u64::saturating_add),
        range: ranges.reduce(|a, b| a.zip(b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)))).flatten(),
        sequences: files.iter().map(|f| f.sequence).collect(),
    }
}

fn too_many_deletes(error: &datafusion::common::DataFusionError) -> Error {
    Error::new(
        "out-of-memory",
        format!("the table's deleted keys and positions do not fit in memory: {}", error.strip_backtrace()),
    )
    .with_hint("give the statement more memory with --memory-limit, or compact the table")
}

/// Loads files in tasks of their own, so that they are decoded on all cores.
fn concurrently<'a, T, F>(
    context: &'a Arc<ScanContext>,
    files: &'a [DeleteFile],
    load: impl Fn(Arc<ScanContext>, DeleteFile) -> F + 'a,
) -> impl futures::Stream<Item = Result<(i64, T)>> + Unpin + 'a
where
    F: Future<Output = Result<T>> + Send + 'static,
    T: Send + 'static,
{
    let tasks = stream::iter(files).map(move |file| {
        let (sequence, work, file) = (file.sequence, load(context.clone(), file.clone()), file.clone());
        async move {
            let loaded = SpawnedTask::spawn(async move { guarded(file.file(), work).await }).await;
            Ok((sequence, loaded.map_err(|e| Error::internal(format!("loading a delete file: {e}")))??))
        }
    });
    Box::pin(tasks.buffer_unordered(CONCURRENT_LOADS))
}

async fn load_positions(context: Arc<ScanContext>, file: DeleteFile) -> Result<HashMap<String, RoaringTreemap>> {
    let fields = position_fields();
    let mut all: HashMap<String, RoaringTreemap> = HashMap::new();
    for columns in read_columns(&context, &file, &fields).await? {
        let [paths, positions] = columns.as_slice() else {
            return Err(Error::internal("a position delete file without its columns"));
        };
        let (paths, positions) = (paths.as_string::<i32>(), positions.as_primitive::<Int64Type>());
        let wrong = || reader::unreadable(file.file(), &"a path or a position is NULL or negative");
        if paths.null_count() > 0 || positions.null_count() > 0 {
            return Err(wrong());
        }
        // rows are sorted by path, so that a run of rows has the same
        let mut run = 0;
        while run < paths.len() {
            let path = paths.value(run);
            let length = (run..paths.len()).take_while(|i| paths.value(*i) == path).count();
            let of_file = all.entry(path.to_owned()).or_default();
            for position in positions.values().iter().skip(run).take(length) {
                of_file.insert(u64::try_from(*position).map_err(|_| wrong())?);
            }
            run += length;
        }
    }
    Ok(all)
}

pub(crate) fn position_fields() -> [NestedFieldRef; 2] {
    let field = |id, name, of| Arc::new(NestedField::required(id, name, Type::Primitive(of)));
    [field(FILE_PATH, "file_path", PrimitiveType::String), field(POSITION, "pos", PrimitiveType::Long)]
}

/// The values of `fields` in a delete file, by field id, as the table has their types now.
async fn read_columns(
    context: &ScanContext,
    delete: &DeleteFile,
    fields: &[NestedFieldRef],
) -> Result<Vec<Vec<ArrayRef>>> {
    let file = delete.file();
    let columns = columns_of(&context.table, context.mapping.as_ref(), file, fields).await?;
    let all: Vec<Vec<ArrayRef>> = columns.try_collect().await?;
    let rows: usize = all.iter().filter_map(|columns| columns.first()).map(|c| c.len()).sum();
    if rows as u64 != file.record_count() {
        let expected = file.record_count();
        return Err(reader::unreadable(file, &format!("it has {rows} rows, its manifest says {expected}")));
    }
    Ok(all)
}

const VECTOR_MAGIC: [u8; 4] = [0xD1, 0xD3, 0x39, 0x64];

/// Reads the blob of a deletion vector (Puffin spec, `deletion-vector-v1`): the length of what is checked, magic, bitmap,
/// checksum.
async fn deletion_vector(context: &ScanContext, file: &DataFile) -> Result<RoaringTreemap> {
    let wrong = |why: &dyn std::fmt::Display| reader::unreadable(file, &format!("deletion vector: {why}"));
    let range = file.content_offset().zip(file.content_size_in_bytes());
    let range = range.and_then(|(start, length)| Some((u64::try_from(start).ok()?, u64::try_from(length).ok()?)));
    let (start, length) = range.ok_or_else(|| wrong(&"no offset and length in its manifest"))?;
    let end = start.checked_add(length).ok_or_else(|| wrong(&"offset and length are too large"))?;
    let path = context.table.io().object_path(file.file_path())?;
    let blob = context.table.io().object_store().get_range(&path, start..end).await;
    let blob = blob.map_err(|e| reader::unreadable_because(file, &e))?;
    let parsed = parse_vector(&blob).map_err(|why| wrong(&why))?;
    if parsed.len() != file.record_count() {
        let (found, expected) = (parsed.len(), file.record_count());
        return Err(wrong(&format!("it has {found} positions, its manifest says {expected}")));
    }
    Ok(parsed)
}

/// The positions in the blob of a deletion vector.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn parse_vector(blob: &[u8]) -> Result<RoaringTreemap, String> {
    let (length, rest) = blob.split_first_chunk::<4>().ok_or("cut off")?;
    let (checked, checksum) = rest.split_last_chunk::<4>().ok_or("cut off")?;
    if u32::from_be_bytes(*length) as usize != checked.len() {
        return Err(format!("wrong length: {} of {}", checked.len(), u32::from_be_bytes(*length)));
    }
    if crc32fast::hash(checked) != u32::from_be_bytes(*checksum) {
        return Err("wrong checksum".to_owned());
    }
    let bitmap = checked.strip_prefix(&VECTOR_MAGIC).ok_or("wrong magic number")?;
    RoaringTreemap::deserialize_from(bitmap).map_err(|e| format!("not a bitmap: {e}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn blob(positions: &RoaringTreemap) -> Vec<u8> {
        let mut checked = VECTOR_MAGIC.to_vec();
        positions.serialize_into(&mut checked).unwrap();
        let mut blob = (checked.len() as u32).to_be_bytes().to_vec();
        blob.extend_from_slice(&checked);
        blob.extend_from_slice(&crc32fast::hash(&checked).to_be_bytes());
        blob
    }

    #[test]
    fn a_damaged_vector_is_an_error() {
        let positions: RoaringTreemap = [1, 5, 1 << 40].into_iter().collect();
        let good = blob(&positions);
        assert_eq!(parse_vector(&good).unwrap(), positions);
        for i in 0..good.len() {
            assert!(parse_vector(&good[..i]).is_err());
            let mut bad = good.clone();
            bad[i] ^= 0x40;
            assert!(parse_vector(&bad).is_err(), "byte {i}");
        }
    }
}
