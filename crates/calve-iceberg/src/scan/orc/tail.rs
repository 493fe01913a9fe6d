//! The end of an ORC file: what it holds and where (ORC specification, "File Tail").
//!
//! The library that decodes the columns trusts the tail: types that contain themselves would be its end, and it does not
//! show the attributes in which Iceberg keeps field ids. So the tail is read and checked here first.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use orc_rust::compression::{Compression, Decompressor};
use orc_rust::proto::r#type::Kind;
use orc_rust::proto::{CompressionKind, Footer, PostScript};
use orc_rust::reader::AsyncChunkReader;
use orc_rust::reader::metadata::read_metadata;
use prost::Message;

use crate::codec::{LARGEST_BLOCK, uncompressed_length};
use crate::io::explain;
use crate::scan::caught;

/// Enough for the tail of most files, so that it is read at once.
const TAIL: u64 = 64 << 10;

/// Types lie within each other no deeper than this.
const DEEPEST: usize = 100;

/// Bytes of one file; those at its end are kept.
#[derive(Clone, Debug)]
pub(super) struct Input {
    store: Arc<dyn ObjectStore>,
    path: Path,
    size: u64,
    tail: Bytes,
    blocks: Option<Blocks>,
}

/// How the streams of the stripes are compressed.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    snappy: bool,
    /// No block becomes larger than this, in bytes.
    largest: u64,
    /// Where the stripes end.
    end: u64,
}

/// Of a block before compression (its length has 23 bits), in bytes.
const LARGEST: u64 = 1 << 23;

/// What a file has that does not say it, in bytes (`orc.compress.size`).
const USUAL: u64 = 256 << 10;

impl Blocks {
    /// Whether a stream consists of whole blocks, and none that is made to fill the memory.
    fn check(&self, mut stream: &[u8]) -> Result<(), String> {
        let cut_off = || "a stream is cut off".to_owned();
        while !stream.is_empty() {
            let ([a, b, c], rest) = stream.split_first_chunk().ok_or_else(cut_off)?;
            let head = u32::from_le_bytes([*a, *b, *c, 0]);
            let (block, rest) = rest.split_at_checked((head >> 1) as usize).ok_or_else(cut_off)?;
            let is_original = head & 1 == 1;
            if self.snappy && !is_original && uncompressed_length(block).is_none_or(|n| n as u64 > self.largest) {
                return Err("a block is too large".to_owned());
            }
            stream = rest;
        }
        Ok(())
    }
}

impl Input {
    /// Reads the end of a file.
    async fn new(store: Arc<dyn ObjectStore>, path: Path, size: u64) -> Result<Self, String> {
        let tail = store.get_range(&path, size.saturating_sub(TAIL)..size).await.map_err(|e| explain(&e).reason)?;
        if tail.len() as u64 != size.min(TAIL) {
            return Err("it is cut off".to_owned());
        }
        Ok(Self { store, path, size, tail, blocks: None })
    }

    async fn range(&self, start: u64, length: u64) -> Result<Bytes, String> {
        let end = start.checked_add(length).filter(|end| *end <= self.size);
        let end = end.ok_or_else(|| "it is shorter than its parts".to_owned())?;
        let kept = self.size - self.tail.len() as u64;
        if start >= kept {
            let place = |at: u64| usize::try_from(at - kept).unwrap_or(usize::MAX).min(self.tail.len());
            return Ok(self.tail.slice(place(start)..place(end)));
        }
        if start == end {
            return Ok(Bytes::new());
        }
        let bytes = self.store.get_range(&self.path, start..end).await.map_err(|e| explain(&e).reason)?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err("it is cut off".to_owned()) }
    }
}

impl AsyncChunkReader for Input {
    fn len(&mut self) -> BoxFuture<'_, std::io::Result<u64>> {
        let size = self.size;
        async move { Ok(size) }.boxed()
    }

    fn get_bytes(&mut self, start: u64, length: u64) -> BoxFuture<'_, std::io::Result<Bytes>> {
        async move {
            let bytes = self.range(start, length).await.map_err(std::io::Error::other)?;
            if let Some(blocks) = self.blocks.filter(|blocks| start.saturating_add(length) <= blocks.end) {
                // the library trusts what blocks say of themselves
                blocks.check(&bytes).map_err(std::io::Error::other)?;
            }
            Ok(bytes)
        }
        .boxed()
    }
}

/// A stripe: some rows of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stripe {
    pub(super) offset: u64,
    pub(super) rows: u64,
}

/// What the tail says.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) input: Input,
    /// Every type is behind the one it belongs to; the first one is the row.
    pub(super) types: Vec<orc_rust::proto::Type>,
    pub(super) stripes: Vec<Stripe>,
}

impl Tail {
    /// How many rows the stripes have.
    pub(super) fn rows(&self) -> u64 {
        self.stripes.iter().fold(0, |sum, stripe| sum.saturating_add(stripe.rows))
    }

    /// Reads and checks the tail of a file.
    ///
    /// # Errors
    /// A sentence about what is wrong with it.
    pub(super) async fn read(store: Arc<dyn ObjectStore>, path: Path, size: u64) -> Result<Self, String> {
        let mut input = Input::new(store, path, size).await?;
        let cut_off = || "it is cut off".to_owned();
        let (length, rest) = input.tail.split_last().ok_or_else(cut_off)?;
        let start = rest.len().checked_sub(usize::from(*length)).ok_or_else(cut_off)?;
        let script = rest.get(start..).unwrap_or_default();
        let not_orc = || "it is not an ORC file, or it is cut off".to_owned();
        let script = PostScript::decode(script).map_err(|_| not_orc())?;
        if script.magic() != "ORC" {
            return Err(not_orc());
        }
        let after = size.saturating_sub(1 + u64::from(*length));
        let metadata =
            after.checked_sub(script.footer_length()).and_then(|at| at.checked_sub(script.metadata_length()));
        let metadata = metadata.ok_or_else(|| "its footer is longer than it is".to_owned())?;
        if script.metadata_length.is_none() || script.footer_length.is_none() {
            return Err("its end does not say where its footer is".to_owned());
        }
        let largest = script.compression_block_size.unwrap_or(USUAL);
        if largest > LARGEST {
            return Err("its blocks are too large".to_owned());
        }
        let footer = input.range(after - script.footer_length(), script.footer_length()).await?;
        let footer = decompress(footer, compression(&script))?;
        let footer = Footer::decode(footer.as_slice()).map_err(|e| format!("its footer is damaged: {e}"))?;
        if footer.encryption.is_some() {
            return Err("it is encrypted".to_owned());
        }
        check_types(&footer)?;
        let stripes = stripes(&footer, metadata)?;
        input.blocks = (script.compression() != CompressionKind::None).then_some(Blocks {
            snappy: script.compression() == CompressionKind::Snappy,
            largest,
            end: metadata,
        });
        Ok(Self { input, types: footer.types, stripes })
    }
}

/// How the file is compressed. The library only tells it of files, so it gets one without rows and columns.
fn compression(script: &PostScript) -> Option<Compression> {
    let row = orc_rust::proto::Type { kind: Some(Kind::Struct.into()), ..Default::default() };
    let footer = Footer { types: vec![row], number_of_rows: Some(0), ..Default::default() }.encode_to_vec();
    let mut file = b"ORC".to_vec();
    if script.compression() != CompressionKind::None {
        // a block that is stored as it is
        let head = (footer.len() as u32) << 1 | 1;
        file.extend_from_slice(head.to_le_bytes().get(..3)?);
    }
    file.extend_from_slice(&footer);
    let footer_length = file.len() as u64 - 3;
    let script = PostScript { footer_length: Some(footer_length), metadata_length: Some(0), ..script.clone() };
    let script = script.encode_to_vec();
    file.extend_from_slice(&script);
    file.push(u8::try_from(script.len()).ok()?);
    read_metadata(&mut Bytes::from(file)).ok()?.compression()
}

/// The library panics on damaged blocks.
fn decompress(bytes: Bytes, compression: Option<Compression>) -> Result<Vec<u8>, String> {
    let damaged = || "its footer is damaged".to_owned();
    let mut plain = Vec::new();
    let most = LARGEST_BLOCK as u64 + 1;
    let read = caught(|| Decompressor::new(bytes, compression, Vec::new()).take(most).read_to_end(&mut plain));
    read.map_err(|_| damaged())?.map_err(|_| damaged())?;
    if plain.len() > LARGEST_BLOCK { Err("its footer is too large".to_owned()) } else { Ok(plain) }
}

/// Checks that the types are a tree with the row as its root, as deep as it may be.
fn check_types(footer: &Footer) -> Result<(), String> {
    let wrong = || "its types are damaged".to_owned();
    let mut depths = vec![0_usize; footer.types.len()];
    for (index, of) in footer.types.iter().enumerate() {
        let depth = depths.get(index).copied().unwrap_or(0) + 1;
        if depth > DEEPEST || (index > 0 && depth == 1) {
            return Err(wrong());
        }
        let children = match of.kind() {
            Kind::Struct => of.field_names.len(),
            Kind::List => 1,
            Kind::Map => 2,
            Kind::Union => of.subtypes.len(),
            _ => 0,
        };
        if children != of.subtypes.len() {
            return Err(wrong());
        }
        for child in &of.subtypes {
            let child = *child as usize;
            match depths.get_mut(child) {
                Some(seen) if child > index && *seen == 0 => *seen = depth,
                _ => return Err(wrong()),
            }
        }
    }
    match footer.types.first() {
        Some(row) if row.kind() == Kind::Struct => Ok(()),
        _ => Err("its rows are no structs".to_owned()),
    }
}

fn stripes(footer: &Footer, end: u64) -> Result<Vec<Stripe>, String> {
    let mut stripes = Vec::with_capacity(footer.stripes.len());
    let mut rows = 0_u64;
    let mut free = 0_u64;
    for stripe in &footer.stripes {
        let parts = [stripe.index_length(), stripe.data_length(), stripe.footer_length()];
        let after = parts.into_iter().try_fold(stripe.offset(), u64::checked_add);
        let after = after.filter(|after| *after <= end && stripe.offset() >= free);
        free = after.ok_or_else(|| "it is shorter than its stripes".to_owned())?;
        rows = rows.checked_add(stripe.number_of_rows()).ok_or_else(|| "its stripes have too many rows".to_owned())?;
        stripes.push(Stripe { offset: stripe.offset(), rows: stripe.number_of_rows() });
    }
    if rows != footer.number_of_rows() {
        return Err(format!("its stripes have {rows} rows, its footer says {}", footer.number_of_rows()));
    }
    Ok(stripes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn of(kind: Kind, subtypes: &[u32]) -> orc_rust::proto::Type {
        let field_names = if kind == Kind::Struct { subtypes.iter().map(u32::to_string).collect() } else { Vec::new() };
        orc_rust::proto::Type {
            kind: Some(kind.into()),
            subtypes: subtypes.to_vec(),
            field_names,
            ..Default::default()
        }
    }

    fn check(types: Vec<orc_rust::proto::Type>) -> Result<(), String> {
        check_types(&Footer { types, ..Default::default() })
    }

    #[test]
    fn types_are_a_tree() {
        assert!(
            check(vec![of(Kind::Struct, &[1, 3]), of(Kind::List, &[2]), of(Kind::Int, &[]), of(Kind::Long, &[])])
                .is_ok()
        );
        assert!(check(vec![]).is_err());
        assert!(check(vec![of(Kind::Int, &[])]).is_err());
        assert!(check(vec![of(Kind::Struct, &[0])]).is_err());
        assert!(check(vec![of(Kind::Struct, &[1]), of(Kind::List, &[1])]).is_err());
        assert!(check(vec![of(Kind::Struct, &[1, 1]), of(Kind::Int, &[])]).is_err());
        assert!(check(vec![of(Kind::Struct, &[7])]).is_err());
        assert!(check(vec![of(Kind::Struct, &[]), of(Kind::Int, &[])]).is_err());
        assert!(check(vec![of(Kind::Struct, &[1]), of(Kind::Map, &[2]), of(Kind::Int, &[])]).is_err());
        let deep = (0..200).map(|i| of(if i == 0 { Kind::Struct } else { Kind::List }, &[i + 1]));
        assert!(check(deep.chain([of(Kind::Int, &[])]).collect()).is_err());
    }
}
