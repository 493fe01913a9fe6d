//! Avro's container: a header with the schema, then blocks of rows, each with the file's sync marker behind it (Avro
//! specification, "Object Container Files").

use std::collections::HashMap;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use super::cursor::Cursor;
use super::schema::FileSchema;
use crate::codec::{Codec, LARGEST_BLOCK};
use crate::io::explain;

/// How many bytes are read at once, if no block is larger.
const WINDOW: u64 = 4 << 20;

/// Enough for most headers, so that they are read at once.
const HEADER: u64 = 64 << 10;

const MAGIC: &[u8] = b"Obj\x01";

/// What the header says.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) schema: FileSchema,
    codec: Codec,
    sync: [u8; 16],
    length: usize,
}

/// Bytes of one file, from its beginning to its end.
#[derive(Debug)]
pub(super) struct Input {
    store: Arc<dyn ObjectStore>,
    path: Path,
    /// Bytes of the file.
    size: u64,
    /// Where what was not read yet begins.
    next: u64,
    /// What was read and not used.
    buffer: BytesMut,
}

impl Input {
    pub(super) fn new(store: Arc<dyn ObjectStore>, path: Path, size: u64) -> Self {
        Self { store, path, size, next: 0, buffer: BytesMut::new() }
    }

    /// Reads on until the buffer has `wanted` bytes. False if the file ends before.
    async fn fill(&mut self, wanted: usize, window: u64) -> Result<bool, String> {
        while self.buffer.len() < wanted {
            if self.next >= self.size {
                return Ok(false);
            }
            let missing = (wanted - self.buffer.len()) as u64;
            let end = self.next.saturating_add(missing.max(window)).min(self.size);
            let bytes = self.store.get_range(&self.path, self.next..end).await.map_err(|e| explain(&e).reason)?;
            if bytes.is_empty() {
                return Ok(false);
            }
            self.next += bytes.len() as u64;
            self.buffer.extend_from_slice(&bytes);
        }
        Ok(true)
    }

    fn take(&mut self, count: usize) -> Bytes {
        self.buffer.split_to(count.min(self.buffer.len())).freeze()
    }
}

impl Header {
    /// Reads the header.
    ///
    /// # Errors
    /// A sentence about what is wrong with it.
    pub(super) async fn read(input: &mut Input) -> Result<Self, String> {
        let mut wanted = 1;
        loop {
            let more = input.fill(wanted, HEADER).await?;
            match Self::parse(&input.buffer) {
                Ok(header) => {
                    input.take(header.length);
                    return Ok(header);
                }
                // a header that is cut off may only be longer than what was read so far
                Err(Incomplete::CutOff) if more && input.next < input.size => wanted = input.buffer.len() + 1,
                Err(Incomplete::CutOff) => return Err("its header is cut off".to_owned()),
                Err(Incomplete::Wrong(why)) => return Err(why),
            }
        }
    }

    fn parse(bytes: &[u8]) -> Result<Self, Incomplete> {
        let start = bytes.get(..MAGIC.len().min(bytes.len())).unwrap_or_default();
        if !MAGIC.starts_with(start) {
            return Err(Incomplete::Wrong("it is not an Avro file".to_owned()));
        }
        let cut_off = |_| Incomplete::CutOff;
        let (entries, rest) = entries(bytes).map_err(cut_off)?;
        let entries: HashMap<&[u8], &[u8]> = entries.into_iter().collect();
        let mut input = Cursor(rest);
        let sync = input.bytes(16).map_err(cut_off)?;
        let sync = <[u8; 16]>::try_from(sync).map_err(|_| Incomplete::CutOff)?;
        let length = bytes.len() - input.0.len();
        let wrong = |why: String| Incomplete::Wrong(why);
        let schema = entries.get(b"avro.schema".as_slice()).ok_or_else(|| wrong("it has no schema".to_owned()))?;
        let schema = FileSchema::parse(schema).map_err(wrong)?;
        let codec = codec(entries.get(b"avro.codec".as_slice()).copied()).map_err(wrong)?;
        Ok(Self { schema, codec, sync, length })
    }
}

/// How blocks are compressed, from the header's `avro.codec`.
///
/// # Errors
/// A sentence about a compression that is not known.
pub(crate) fn codec(entry: Option<&[u8]>) -> Result<Codec, String> {
    match entry {
        None | Some(b"null") => Ok(Codec::None),
        Some(b"deflate") => Ok(Codec::Deflate(0)),
        Some(b"snappy") => Ok(Codec::Snappy),
        Some(b"zstandard") => Ok(Codec::Zstd(0)),
        Some(other) => Err(format!("its blocks have the unknown compression '{}'", String::from_utf8_lossy(other))),
    }
}

/// The entries of a header.
pub(crate) type Entries<'a> = Vec<(&'a [u8], &'a [u8])>;

/// The entries of a file's header, and what is behind them: the sync marker and the blocks.
///
/// # Errors
/// A sentence about what is wrong with it.
pub(crate) fn entries(file: &[u8]) -> Result<(Entries<'_>, &[u8]), String> {
    let mut input = Cursor(file);
    if input.bytes(MAGIC.len())? != MAGIC {
        return Err("it is not an Avro file".to_owned());
    }
    let mut entries = Vec::new();
    loop {
        let count = input.long()?;
        if count == 0 {
            return Ok((entries, input.0));
        }
        if count < 0 {
            input.long()?;
        }
        for _ in 0..count.unsigned_abs() {
            entries.push((input.counted()?, input.counted()?));
        }
    }
}

enum Incomplete {
    CutOff,
    Wrong(String),
}

/// A block of rows, not compressed any more.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) rows: u64,
    pub(crate) bytes: Vec<u8>,
}

/// The next block of a file in memory; `None` at its end.
///
/// # Errors
/// A sentence about what is wrong with it.
pub(crate) fn next_block_of(file: &mut Cursor<'_>, codec: Codec, sync: &[u8; 16]) -> Result<Option<Block>, String> {
    if file.0.is_empty() {
        return Ok(None);
    }
    let rows = u64::try_from(file.long()?).map_err(|_| impossible())?;
    let bytes = file.counted()?;
    if file.array::<16>()? != *sync {
        return Err(wrong_marker());
    }
    Ok(Some(Block { rows, bytes: codec.decompress(bytes.to_vec()).map_err(|e| e.message)? }))
}

fn impossible() -> String {
    "a block has an impossible size".to_owned()
}

fn wrong_marker() -> String {
    "a block does not end with the file's marker".to_owned()
}

/// Reads the next block; `None` at the end of the file. The bytes are left out if `decompress` is false.
///
/// # Errors
/// A sentence about what is wrong with it.
pub(super) async fn next_block(input: &mut Input, header: &Header, decompress: bool) -> Result<Option<Block>, String> {
    if !input.fill(1, WINDOW).await? {
        return Ok(None);
    }
    // two numbers of at most ten bytes
    input.fill(20, WINDOW).await?;
    let mut numbers = Cursor(&input.buffer);
    let (rows, size) = (numbers.long()?, numbers.long()?);
    let start = input.buffer.len() - numbers.0.len();
    let rows = u64::try_from(rows).map_err(|_| impossible())?;
    let size = usize::try_from(size).map_err(|_| impossible())?;
    if size > LARGEST_BLOCK {
        return Err(impossible());
    }
    if !input.fill(start + size + header.sync.len(), WINDOW).await? {
        return Err("a block is cut off".to_owned());
    }
    input.take(start);
    let block = input.take(size);
    if input.take(header.sync.len()) != header.sync.as_slice() {
        return Err(wrong_marker());
    }
    let bytes = if decompress { header.codec.decompress(block.to_vec()).map_err(|e| e.message)? } else { Vec::new() };
    Ok(Some(Block { rows, bytes }))
}
