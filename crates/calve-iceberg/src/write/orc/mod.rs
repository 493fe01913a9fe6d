//! Writing ORC files (ORC specification; Java's `ORC.WriteBuilder`). Every type of Iceberg's has a place in them; encodings
//! are the plain ones, and there are no indexes within stripes.

mod column;
mod streams;
mod types;

use std::collections::HashMap;

use arrow::array::RecordBatch;
use bytes::Bytes;
use calve_types::{Error, Result};
use iceberg::spec::NestedFieldRef;
use orc_rust::proto;
use prost::Message;

use self::column::{Column, Streams};
use super::file_options::{OrcCodec, OrcOptions};
use super::upload::Upload;
use crate::codec::Codec;

/// Streams are compressed in parts of so many bytes.
const PART: usize = 256 << 10;

/// Java's level for the strategy `speed`, its default.
const ZLIB_LEVEL: u32 = 2;
/// Java's level.
const ZSTD_LEVEL: u8 = 3;

const MAGIC: &[u8] = b"ORC";

/// What all ORC files of one kind have in common.
pub(crate) struct OrcKind {
    types: Vec<proto::Type>,
    codec: Codec,
    stripe_bytes: usize,
    batch_rows: usize,
    /// Entries of the footer.
    entries: Vec<(String, String)>,
}

impl OrcKind {
    /// For files with these columns and these entries in their footers.
    ///
    /// # Errors
    /// `not-supported` for a codec calve does not have.
    pub(crate) fn new(
        columns: &[NestedFieldRef],
        options: &OrcOptions,
        entries: Vec<(String, String)>,
    ) -> Result<Self> {
        let codec = match options.codec {
            OrcCodec::None => Codec::None,
            OrcCodec::Zlib => Codec::Deflate(ZLIB_LEVEL),
            OrcCodec::Snappy => Codec::Snappy,
            OrcCodec::Zstd => Codec::Zstd(ZSTD_LEVEL),
            OrcCodec::Lz4 => {
                return Err(Error::unsupported("compression codec 'lz4' for ORC files")
                    .with_hint("use 'zlib', 'zstd', 'snappy' or 'none'"));
            }
        };
        Ok(Self {
            types: types::orc_types(columns),
            codec,
            stripe_bytes: options.stripe_bytes,
            batch_rows: options.batch_rows.max(1),
            entries,
        })
    }

    /// The bytes of a stream or a footer, compressed.
    fn compress(&self, plain: Vec<u8>) -> Result<Vec<u8>> {
        if self.codec == Codec::None {
            return Ok(plain);
        }
        let mut all = Vec::with_capacity(plain.len() / 2);
        for part in plain.chunks(PART) {
            let compressed = self.codec.compress(part)?;
            // what does not become smaller stays as it is
            let (bytes, original) = if compressed.len() < part.len() { (compressed.as_slice(), 0) } else { (part, 1) };
            let head = (bytes.len() as u32) << 1 | original;
            all.extend_from_slice(head.to_le_bytes().get(..3).unwrap_or_default());
            all.extend_from_slice(bytes);
        }
        Ok(all)
    }

    fn compression(&self) -> proto::CompressionKind {
        match self.codec {
            Codec::None => proto::CompressionKind::None,
            Codec::Deflate(_) => proto::CompressionKind::Zlib,
            Codec::Snappy => proto::CompressionKind::Snappy,
            Codec::Zstd(_) => proto::CompressionKind::Zstd,
        }
    }
}

/// An ORC file being written.
pub(crate) struct OrcWriter {
    upload: Upload,
    columns: Vec<Column>,
    /// Rows of the stripe that is not written yet.
    rows: u64,
    stripes: Vec<proto::StripeInformation>,
    written: u64,
    /// Bytes of the streams of every type.
    sizes: Vec<u64>,
    total_rows: u64,
}

/// A file that is complete.
pub(crate) struct OrcFileEnd {
    /// Bytes of the file.
    pub(crate) size: u64,
    /// Where its stripes begin.
    pub(crate) stripes: Vec<i64>,
    /// Bytes of every field, by its id.
    pub(crate) column_sizes: HashMap<i32, u64>,
}

impl OrcWriter {
    /// Starts a file.
    pub(crate) fn new(kind: &OrcKind, columns: &[NestedFieldRef], mut upload: Upload) -> Self {
        upload.hold(Bytes::from_static(MAGIC));
        Self {
            upload,
            columns: columns.iter().map(Column::new).collect(),
            rows: 0,
            stripes: Vec::new(),
            written: MAGIC.len() as u64,
            sizes: vec![0; kind.types.len()],
            total_rows: 0,
        }
    }

    /// The size the file would have if it ended here, about, in bytes.
    pub(crate) fn size(&self) -> usize {
        usize::try_from(self.written).unwrap_or(usize::MAX).saturating_add(self.memory())
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.columns.iter().map(Column::len).sum()
    }

    /// Appends rows.
    ///
    /// # Errors
    /// `null-in-not-null`, `invalid-value`; `io`.
    pub(crate) async fn write(&mut self, kind: &OrcKind, batch: &RecordBatch) -> Result<()> {
        if self.columns.len() != batch.num_columns() {
            return Err(Error::internal("rows of other columns for an ORC file"));
        }
        let mut start = 0;
        while start < batch.num_rows() {
            let end = start.saturating_add(kind.batch_rows).min(batch.num_rows());
            let rows: Vec<usize> = (start..end).collect();
            for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
                column.write(array, &rows)?;
            }
            self.rows += rows.len() as u64;
            start = end;
            if self.memory() >= kind.stripe_bytes {
                self.flush(kind).await?;
            }
        }
        Ok(())
    }

    /// Ends the stripe, which frees its memory.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn flush(&mut self, kind: &OrcKind) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut streams: Streams = Vec::new();
        let mut next = 1;
        self.columns.iter_mut().for_each(|column| column.finish(&mut next, &mut streams));
        let offset = self.written;
        let mut listed = Vec::with_capacity(streams.len());
        for (column, of, plain) in streams {
            let bytes = kind.compress(plain)?;
            let length = bytes.len() as u64;
            if let Some(size) = self.sizes.get_mut(column as usize) {
                *size += length;
            }
            listed.push(proto::Stream { kind: Some(of.into()), column: Some(column), length: Some(length) });
            self.put(bytes).await?;
        }
        let data_length = self.written - offset;
        let direct =
            proto::ColumnEncoding { kind: Some(proto::column_encoding::Kind::Direct.into()), ..Default::default() };
        let footer = proto::StripeFooter {
            streams: listed,
            columns: vec![direct; kind.types.len()],
            writer_timezone: Some("UTC".to_owned()),
            ..Default::default()
        };
        let footer = kind.compress(footer.encode_to_vec())?;
        self.stripes.push(proto::StripeInformation {
            offset: Some(offset),
            index_length: Some(0),
            data_length: Some(data_length),
            footer_length: Some(footer.len() as u64),
            number_of_rows: Some(self.rows),
            ..Default::default()
        });
        self.total_rows += self.rows;
        self.rows = 0;
        self.put(footer).await
    }

    async fn put(&mut self, bytes: Vec<u8>) -> Result<()> {
        self.written += bytes.len() as u64;
        self.upload.add(Bytes::from(bytes)).await
    }

    /// Ends the file; it is durable then.
    ///
    /// # Errors
    /// `io`.
    pub(crate) async fn finish(mut self, kind: &OrcKind) -> Result<OrcFileEnd> {
        self.flush(kind).await?;
        let entry = |(name, value): &(String, String)| proto::UserMetadataItem {
            name: Some(name.clone()),
            value: Some(value.clone().into_bytes()),
        };
        let footer = proto::Footer {
            header_length: Some(MAGIC.len() as u64),
            content_length: Some(self.written),
            stripes: self.stripes.clone(),
            types: kind.types.clone(),
            metadata: kind.entries.iter().map(entry).collect(),
            number_of_rows: Some(self.total_rows),
            // no indexes within stripes
            row_index_stride: Some(0),
            // a writer without a number of its own
            writer: Some(u32::MAX),
            software_version: Some(concat!("calve ", env!("CARGO_PKG_VERSION")).to_owned()),
            ..Default::default()
        };
        let footer = kind.compress(footer.encode_to_vec())?;
        let script = proto::PostScript {
            footer_length: Some(footer.len() as u64),
            compression: Some(kind.compression().into()),
            compression_block_size: Some(PART as u64),
            version: vec![0, 12],
            metadata_length: Some(0),
            // the first that a writer other than ORC's own may have
            writer_version: Some(6),
            magic: Some("ORC".to_owned()),
            ..Default::default()
        };
        let script = script.encode_to_vec();
        let length = u8::try_from(script.len()).map_err(|_| Error::internal("the end of an ORC file is too long"))?;
        self.put(footer).await?;
        self.put(script).await?;
        self.put(vec![length]).await?;
        self.upload.finish().await?;
        let stripes = self.stripes.iter().filter_map(|stripe| i64::try_from(stripe.offset()).ok()).collect();
        Ok(OrcFileEnd { size: self.written, stripes, column_sizes: column_sizes(kind, &self.sizes) })
    }
}

/// The bytes of every field, by its id.
fn column_sizes(kind: &OrcKind, sizes: &[u64]) -> HashMap<i32, u64> {
    let id = |of: &proto::Type| {
        let pair = of.attributes.iter().find(|pair| pair.key() == "iceberg.id")?;
        pair.value().parse::<i32>().ok()
    };
    kind.types.iter().zip(sizes).filter_map(|(of, size)| Some((id(of)?, *size))).collect()
}
