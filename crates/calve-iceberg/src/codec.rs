//! Compression of the blocks of Avro and ORC files.

use std::io::{Read, Write};

use apache_avro::ZstandardSettings;
use calve_types::{Error, Result};

/// No block of a file that is read may become larger than this, in bytes: what claims to be is damaged.
pub(crate) const LARGEST_BLOCK: usize = 1 << 30;

/// How a block is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    /// Not at all.
    None,
    /// Raw deflate, without header and checksum, of a level from 0 to 9.
    Deflate(u32),
    /// Raw Snappy.
    Snappy,
    /// Zstandard of a level from 1 to 22.
    Zstd(u8),
}

impl Codec {
    /// The block, compressed.
    ///
    /// # Errors
    /// `io`, which no input leads to.
    pub(crate) fn compress(self, block: &[u8]) -> Result<Vec<u8>> {
        match self {
            Self::None => Ok(block.to_vec()),
            Self::Deflate(level) => {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(level));
                encoder.write_all(block).and_then(|()| encoder.finish()).map_err(failed)
            }
            Self::Snappy => {
                let mut compressed = through_avro(apache_avro::Codec::Snappy, block.to_vec(), true)?;
                // Avro's checksum
                compressed.truncate(compressed.len().saturating_sub(CHECKSUM));
                Ok(compressed)
            }
            Self::Zstd(level) => {
                let codec = apache_avro::Codec::Zstandard(ZstandardSettings::new(level));
                through_avro(codec, block.to_vec(), true)
            }
        }
    }

    /// The block as it was before [`Codec::compress`]; with Snappy followed by its checksum, as in Avro files.
    ///
    /// # Errors
    /// `io` for damaged blocks and those that would become larger than [`LARGEST_BLOCK`].
    pub(crate) fn decompress(self, block: Vec<u8>) -> Result<Vec<u8>> {
        match self {
            Self::None => Ok(block),
            Self::Deflate(_) => bounded(flate2::read::DeflateDecoder::new(block.as_slice()), block.len()),
            Self::Snappy => {
                let claimed = uncompressed_length(&block).ok_or_else(|| failed("a block without its length"))?;
                // a copy of at most 64 bytes takes at least two
                if block.len() < CHECKSUM || claimed > LARGEST_BLOCK.min(block.len().saturating_mul(64)) {
                    return Err(too_large());
                }
                through_avro(apache_avro::Codec::Snappy, block, false)
            }
            Self::Zstd(_) => bounded(zstd::Decoder::new(block.as_slice()).map_err(failed)?, block.len()),
        }
    }
}

/// What is left of a block of `compressed` bytes, unless it is too much.
fn bounded(decoder: impl Read, compressed: usize) -> Result<Vec<u8>> {
    let mut plain = Vec::with_capacity(compressed.saturating_mul(3).min(LARGEST_BLOCK));
    decoder.take(LARGEST_BLOCK as u64 + 1).read_to_end(&mut plain).map_err(failed)?;
    if plain.len() > LARGEST_BLOCK { Err(too_large()) } else { Ok(plain) }
}

/// Bytes of the checksum behind a Snappy block of an Avro file.
const CHECKSUM: usize = 4;

fn through_avro(codec: apache_avro::Codec, mut block: Vec<u8>, compress: bool) -> Result<Vec<u8>> {
    if compress { codec.compress(&mut block) } else { codec.decompress(&mut block) }.map_err(failed)?;
    Ok(block)
}

/// The length before compression that a Snappy block begins with.
pub(crate) fn uncompressed_length(block: &[u8]) -> Option<usize> {
    let mut length = 0_usize;
    for (place, byte) in block.iter().take(5).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some(length);
        }
    }
    None
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new("io", format!("a compressed block is damaged: {error}"))
}

fn too_large() -> Error {
    failed(format!("it would have more than {LARGEST_BLOCK} bytes"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn blocks_come_back_and_damage_is_an_error() {
        let block: Vec<u8> = (0..20_000_u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        for codec in [Codec::None, Codec::Deflate(9), Codec::Snappy, Codec::Zstd(1)] {
            let mut compressed = codec.compress(&block).unwrap();
            assert!(codec == Codec::None || compressed.len() < block.len() / 2);
            if codec == Codec::Snappy {
                compressed.extend(crc32fast::hash(&block).to_be_bytes());
            }
            assert_eq!(codec.decompress(compressed.clone()).unwrap(), block);
            for cut in [0, 1, 3, 5, compressed.len() / 2, compressed.len() - 1] {
                let cut = codec.decompress(compressed[..cut].to_vec());
                assert!(codec == Codec::None || cut.map_or(true, |plain| plain != block), "{codec:?}");
            }
        }
        // claims 4 GiB
        assert!(Codec::Snappy.decompress(vec![0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0]).is_err());
        assert!(Codec::Snappy.decompress(vec![1]).is_err());
    }
}
