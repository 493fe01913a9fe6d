//! Writing Avro files (Java's `Avro.WriteBuilder`).

mod encode;
mod schema;

use arrow::array::RecordBatch;
use bytes::Bytes;
use calve_types::{Error, Result};
use iceberg::spec::NestedFieldRef;
use uuid::Uuid;

pub(crate) use self::encode::null_in_required;
use self::encode::{Column, long};
pub(crate) use self::schema::avro_name;
use super::file_options::AvroCodec;
use super::upload::Upload;
use crate::codec::Codec;

/// A block ends when its rows take more bytes before compression.
const BLOCK_BYTES: usize = 256 << 10;

/// What all Avro files of one kind have in common.
pub(crate) struct AvroKind {
    codec: AvroCodec,
    /// The entries of the header, but for the codec.
    entries: Vec<(String, String)>,
}

impl AvroKind {
    /// For files with these columns and these entries in their headers.
    ///
    /// # Errors
    /// `not-supported` for types that Avro has no place for.
    pub(crate) fn new(
        columns: &[NestedFieldRef],
        codec: AvroCodec,
        mut entries: Vec<(String, String)>,
    ) -> Result<Self> {
        entries.push(("avro.schema".to_owned(), schema::avro_schema(columns)?.to_string()));
        Ok(Self { codec, entries })
    }

    /// The codec, and the name Avro has for it.
    fn codec(&self) -> (Codec, &'static str) {
        let level = |level: Option<i32>, default: u8| level.and_then(|n| u8::try_from(n).ok()).unwrap_or(default);
        // the default levels are those of Iceberg's Java library
        match self.codec {
            AvroCodec::Uncompressed => (Codec::None, "null"),
            AvroCodec::Snappy => (Codec::Snappy, "snappy"),
            AvroCodec::Gzip(given) => (Codec::Deflate(u32::from(level(given, 9))), "deflate"),
            AvroCodec::Zstd(given) => (Codec::Zstd(level(given, 1)), "zstandard"),
        }
    }
}

/// An Avro file being written.
pub(crate) struct AvroWriter {
    upload: Upload,
    codec: Codec,
    sync: [u8; 16],
    written: u64,
    /// Rows of the block that is not written yet.
    block: Vec<u8>,
    rows: u64,
}

impl AvroWriter {
    /// Starts a file.
    pub(crate) fn new(kind: &AvroKind, mut upload: Upload) -> Self {
        let (codec, name) = kind.codec();
        let sync = *Uuid::new_v4().as_bytes();
        let entries = kind.entries.iter().map(|(key, value)| (key.as_bytes(), value.as_bytes()));
        let mut header =
            write_avro_header(&entries.chain([("avro.codec".as_bytes(), name.as_bytes())]).collect::<Vec<_>>());
        header.extend_from_slice(&sync);
        let written = header.len() as u64;
        upload.hold(Bytes::from(header));
        Self { upload, codec, sync, written, block: Vec::new(), rows: 0 }
    }

    /// The size the file would have if it ended here, about, in bytes.
    pub(crate) fn size(&self) -> usize {
        usize::try_from(self.written).unwrap_or(usize::MAX).saturating_add(self.block.len())
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.block.capacity()
    }

    /// Appends rows.
    ///
    /// # Errors
    /// `null-in-not-null`; `io`.
    pub(crate) async fn write(&mut self, columns: &[NestedFieldRef], batch: &RecordBatch) -> Result<()> {
        let mut start = 0;
        while start < batch.num_rows() {
            start = self.fill(columns, batch, start)?;
            if self.block.len() >= BLOCK_BYTES {
                self.flush().await?;
            }
        }
        Ok(())
    }

    /// Appends rows from `start` on to the block until it is full; the next row to write.
    fn fill(&mut self, columns: &[NestedFieldRef], batch: &RecordBatch, start: usize) -> Result<usize> {
        if columns.len() != batch.num_columns() {
            return Err(Error::internal("rows of other columns for an Avro file"));
        }
        let columns = columns.iter().zip(batch.columns()).map(|(field, array)| Column::new(field, array));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let mut row = start;
        while row < batch.num_rows() && self.block.len() < BLOCK_BYTES {
            for column in &columns {
                column.write(row, &mut self.block)?;
            }
            self.rows += 1;
            row += 1;
        }
        Ok(row)
    }

    /// Ends the block, which frees its memory.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let plain = std::mem::take(&mut self.block);
        let mut block = self.codec.compress(&plain)?;
        if self.codec == Codec::Snappy {
            block.extend_from_slice(&crc32fast::hash(&plain).to_be_bytes());
        }
        let mut head = Vec::with_capacity(20);
        long(i64::try_from(self.rows).unwrap_or(i64::MAX), &mut head);
        long(block.len() as i64, &mut head);
        self.written += (head.len() + block.len() + self.sync.len()) as u64;
        self.rows = 0;
        block.extend_from_slice(&self.sync);
        self.upload.add(Bytes::from(head)).await?;
        self.upload.add(Bytes::from(block)).await
    }

    /// Ends the file; it is durable then. Its size in bytes.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn finish(mut self) -> Result<u64> {
        self.flush().await?;
        self.upload.finish().await?;
        Ok(self.written)
    }
}

/// The header of an Avro file up to the sync marker.
pub(crate) fn write_avro_header(entries: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut header = b"Obj\x01".to_vec();
    long(entries.len() as i64, &mut header);
    for part in entries.iter().flat_map(|(key, value)| [key, value]) {
        long(part.len() as i64, &mut header);
        header.extend_from_slice(part);
    }
    long(0, &mut header);
    header
}
