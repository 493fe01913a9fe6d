//! What the library that reads manifest lists takes for granted.

use crate::scan::avro::{Cursor, Damage, codec, entries, next_block_of, root, skip};

/// Passes over a manifest list as a whole, so that the library that reads it meets only what it is made for: no type that
/// contains itself, which would end its stack, no block that is made to fill the memory, no counts of what is not there.
///
/// # Errors
/// A sentence about what is wrong with it.
pub(crate) fn check_list(list: &[u8]) -> Result<(), Damage> {
    let (header, blocks) = entries(list)?;
    // of equal keys the library knows the last one
    let value = |key: &str| header.iter().rev().find(|(name, _)| *name == key.as_bytes()).map(|(_, value)| *value);
    let line = root(value("avro.schema").ok_or("it has no schema")?)?;
    if line.least == 0 {
        return Err("its lines have no values".to_owned());
    }
    let codec = codec(value("avro.codec"))?;
    let mut input = Cursor(blocks);
    let sync = input.array()?;
    while let Some(block) = next_block_of(&mut input, codec, &sync)? {
        let mut lines = Cursor(&block.bytes);
        for _ in 0..block.rows {
            skip(&line, &mut lines)?;
        }
        if !lines.0.is_empty() {
            return Err("a block has more bytes than lines".to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    /// A file of one block, without compression.
    fn list(schema: &str, rows: u8, block: &[u8]) -> Vec<u8> {
        let mut file = crate::write::write_avro_header(&[(b"avro.schema", schema.as_bytes())]);
        file.extend_from_slice(&[7; 16]);
        file.extend_from_slice(&[rows * 2, u8::try_from(block.len()).unwrap() * 2]);
        file.extend_from_slice(block);
        file.extend_from_slice(&[7; 16]);
        file
    }

    #[test]
    fn what_the_library_does_not_survive_is_refused() {
        let of = |of: &str| format!(r#"{{"type":"record","name":"r","fields":[{{"name":"a","type":{of}}}]}}"#);
        let long = of(r#""long""#);
        assert_eq!(check_list(&list(&long, 3, &[2, 4, 6])), Ok(()));
        assert!(check_list(&list(&long, 3, &[2, 4])).unwrap_err().contains("cut off"));
        assert!(check_list(&list(&long, 3, &[2, 4, 6, 8])).unwrap_err().contains("more bytes"));
        assert!(check_list(&list(&of(r#""r""#), 1, &[])).unwrap_err().contains("recursive"));
        assert!(check_list(&list(&of(r#""null""#), 60, &[])).unwrap_err().contains("no values"));
        // four thousand million items
        let many = of(r#"{"type":"array","items":"long"}"#);
        assert!(check_list(&list(&many, 1, &[0x80, 0x80, 0x80, 0x80, 0x20, 0])).is_err());
    }
}
