//! Deleted rows as files: position delete files (format version 2) or deletion vectors (3), one for every data file.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use calve_types::{Error, Result};
use futures::future::try_join_all;
use iceberg::spec::{
    DataContentType, DataFileBuilder, DataFileFormat, FormatVersion, NestedField, NestedFieldRef, PrimitiveType, Type,
};
use roaring::RoaringTreemap;

use super::fanout::{FileNumber, Finished};
use super::file::{FileKind, FileWriter};
use super::job::Job;
use super::options::WriteOptions;
use super::partition::Partition;
use super::upload::Upload;
use crate::commit::NewFile;
use crate::error::Context;

/// Reserved field ids of the Iceberg spec.
const FILE_PATH: i32 = 2_147_483_546;
const POSITION: i32 = 2_147_483_545;
/// `_pos`, the field a deletion vector is said to be about.
const ROW_POSITION: i32 = 2_147_483_645;

/// Deleted positions by file, in the order of the files.
pub(crate) type Positions = BTreeMap<FileNumber, RoaringTreemap>;

/// Files written at the same time.
const PARALLEL: usize = 8;

/// A data file with deleted rows.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// Its location as the table's metadata spells it.
    pub(crate) path: String,
    pub(crate) partition: Arc<Partition>,
}

/// Writes deletes of rows of this commit's own files, which a later row of the commit replaced; `first_name` is the first
/// file count not yet used by this writer.
///
/// # Errors
/// As [`write_about`].
pub(crate) async fn write(
    job: &Arc<Job>,
    writer: usize,
    first_name: usize,
    positions: Positions,
    data: &[Finished],
) -> Result<Vec<NewFile>> {
    let mut about = Vec::with_capacity(positions.len());
    for (number, positions) in positions {
        let index = data.binary_search_by_key(&number, |finished| finished.number);
        let finished = index.ok().and_then(|index| data.get(index));
        let finished = finished.ok_or_else(|| Error::internal("deletes of an unknown file"))?;
        let path = finished.file.file.file_path().to_owned();
        about.push((About { path, partition: finished.partition.clone() }, positions));
    }
    write_about(job, job.version(), writer, first_name, &about).await
}

/// Writes the deleted positions of data files for a table of this format version.
///
/// # Errors
/// `upsert-format-v1` for a table of format version 1; `io`.
pub(crate) async fn write_about(
    job: &Arc<Job>,
    version: FormatVersion,
    writer: usize,
    first_name: usize,
    about: &[(About, RoaringTreemap)],
) -> Result<Vec<NewFile>> {
    if about.is_empty() {
        return Ok(Vec::new());
    }
    let kind = match version {
        FormatVersion::V1 => return Err(no_deletes_in_v1(&job.options)),
        FormatVersion::V2 => Some(Arc::new(FileKind::position_deletes(&job.options, columns())?)),
        FormatVersion::V3 => None,
    };
    let mut files = Vec::with_capacity(about.len());
    let mut name = first_name;
    for some in about.chunks(PARALLEL) {
        let mut writing = Vec::with_capacity(some.len());
        for (data, positions) in some {
            let kind = kind.clone();
            let number = name;
            writing.push(async move {
                match kind {
                    Some(kind) => position_file(job, &kind, writer, number, data, positions).await,
                    None => vector_file(job, writer, number, data, positions).await,
                }
            });
            name += 1;
        }
        files.extend(try_join_all(writing).await?);
    }
    Ok(files)
}

/// Format version 1 has no delete files.
pub(crate) fn no_deletes_in_v1(options: &WriteOptions) -> Error {
    let upgrade = "ALTER TABLE .. SET ('format-version' = '2')";
    let (why, way_out) = match options.is_upsert() {
        true => (
            "an upsert deletes rows",
            format!("{upgrade}, or switch upsert off with the hint 'upsert-enabled' = 'false'"),
        ),
        false => ("rows of this INSERT replace or take back others", format!("{upgrade} upgrades the table")),
    };
    Error::new("upsert-format-v1", format!("rows of a table of format version 1 cannot be deleted, and {why}"))
        .with_detail("Cannot write delete files in a v1 table. Deletes are supported in V2 and above.")
        .with_hint(way_out)
}

fn columns() -> Vec<NestedFieldRef> {
    vec![
        Arc::new(NestedField::required(FILE_PATH, "file_path", Type::Primitive(PrimitiveType::String))),
        Arc::new(NestedField::required(POSITION, "pos", Type::Primitive(PrimitiveType::Long))),
    ]
}

/// Rows of a position delete file per batch.
const BATCH: usize = 8_192;

async fn position_file(
    job: &Arc<Job>,
    kind: &Arc<FileKind>,
    writer: usize,
    name: usize,
    data: &About,
    positions: &RoaringTreemap,
) -> Result<NewFile> {
    let location = job.locations.file(&data.partition.path, writer, name, kind.suffix);
    let referenced = data.path.as_str();
    let mut file = FileWriter::open(kind, &data.partition, &job.files, job.table.io(), &location)?;
    let schema = crate::schema::to_arrow(
        &iceberg::spec::Schema::builder().with_fields(columns()).build().context(|| "make a position delete file")?,
    )?;
    let mut positions = positions.iter().peekable();
    while positions.peek().is_some() {
        let batch: Int64Array = positions.by_ref().take(BATCH).map(|p| p as i64).collect::<Vec<_>>().into();
        let paths: ArrayRef = Arc::new(StringArray::from_iter_values(std::iter::repeat_n(referenced, batch.len())));
        let batch = RecordBatch::try_new(schema.clone(), vec![paths, Arc::new(batch)]);
        file.write(&batch.context(|| "make a position delete file")?).await?;
    }
    let file = file.finish(Some(referenced.to_owned())).await?;
    count(job, file.file.file_size_in_bytes());
    Ok(file)
}

fn count(job: &Job, bytes: u64) {
    job.progress.files.fetch_add(1, Ordering::Relaxed);
    job.progress.bytes.fetch_add(bytes, Ordering::Relaxed);
}

const PUFFIN_MAGIC: &[u8; 4] = b"PFA1";
const VECTOR_MAGIC: [u8; 4] = [0xd1, 0xd3, 0x39, 0x64];

/// Writes a deletion vector as a Puffin file of its own. One file could hold the vectors of many data files, but there
/// are readers (DuckDB 1.5) that tell vectors apart by their file alone.
async fn vector_file(
    job: &Arc<Job>,
    writer: usize,
    name: usize,
    data: &About,
    positions: &RoaringTreemap,
) -> Result<NewFile> {
    let referenced = data.path.as_str();
    let blob = vector(positions)?;
    let offset = PUFFIN_MAGIC.len();
    let footer = serde_json::json!({
        "blobs": [{
            "type": "deletion-vector-v1",
            "fields": [ROW_POSITION],
            "snapshot-id": -1,
            "sequence-number": -1,
            "offset": offset,
            "length": blob.len(),
            "properties": { "referenced-data-file": referenced, "cardinality": positions.len().to_string() },
        }],
        "properties": { "created-by": concat!("calve ", env!("CARGO_PKG_VERSION")) },
    })
    .to_string();
    let footer_bytes =
        u32::try_from(footer.len()).map_err(|_| Error::internal("a Puffin footer of more than 4 GiB"))?;
    let mut bytes = PUFFIN_MAGIC.to_vec();
    bytes.extend_from_slice(&blob);
    bytes.extend_from_slice(PUFFIN_MAGIC);
    bytes.extend_from_slice(footer.as_bytes());
    bytes.extend_from_slice(&footer_bytes.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]); // no flags: the footer is not compressed
    bytes.extend_from_slice(PUFFIN_MAGIC);

    let location = job.locations.file(&data.partition.path, writer, name, "-deletes.puffin");
    let size = bytes.len() as u64;
    Upload::new(&job.files, job.table.io(), &location)?.put(Bytes::from(bytes)).await?;
    count(job, size);
    let file = DataFileBuilder::default()
        .content(DataContentType::PositionDeletes)
        .file_path(location)
        .file_format(DataFileFormat::Puffin)
        .partition(data.partition.values.clone())
        .partition_spec_id(data.partition.spec_id)
        .record_count(positions.len())
        .file_size_in_bytes(size)
        .referenced_data_file(Some(referenced.to_owned()))
        .content_offset(Some(offset as i64))
        .content_size_in_bytes(Some(blob.len() as i64))
        .build()
        .map_err(|e| Error::internal(format!("describe a deletion vector: {e}")))?;
    Ok(NewFile { spec_id: data.partition.spec_id, file })
}

/// The blob of a deletion vector: length of what is checked, magic, bitmap, checksum (Puffin spec).
pub(crate) fn vector(positions: &RoaringTreemap) -> Result<Vec<u8>> {
    let mut checked = VECTOR_MAGIC.to_vec();
    positions.serialize_into(&mut checked).context(|| "write a deletion vector")?;
    let length = u32::try_from(checked.len()).map_err(|_| Error::internal("a deletion vector of more than 4 GiB"))?;
    let mut blob = length.to_be_bytes().to_vec();
    blob.extend_from_slice(&checked);
    blob.extend_from_slice(&crc32fast::hash(&checked).to_be_bytes());
    Ok(blob)
}
