//! The bytes of an Avro file's values, and how to pass over them.

use std::sync::Arc;

use super::schema::{Node, Shape};

/// What is wrong with a value.
pub(crate) type Damage = String;

/// Arrays of values without any bytes are no longer than this.
const MOST_EMPTY_ITEMS: usize = 1 << 12;

/// The bytes still to be read.
#[derive(Debug)]
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Damage> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Damage> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(*bytes)
    }

    /// A number of variable length, zigzag encoded.
    pub(crate) fn long(&mut self) -> Result<i64, Damage> {
        let mut value = 0_u64;
        for place in 0..10 {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err("a number is too long".to_owned())
    }

    pub(crate) fn int(&mut self) -> Result<i32, Damage> {
        i32::try_from(self.long()?).map_err(|_| "a number is too large".to_owned())
    }

    pub(crate) fn counted(&mut self) -> Result<&'a [u8], Damage> {
        let length = usize::try_from(self.long()?).map_err(|_| "a negative length".to_owned())?;
        self.bytes(length)
    }

    /// Reads the items of an array or a map one by one; how many there are. An item has at least `least` bytes.
    pub(crate) fn items(
        &mut self,
        least: usize,
        mut read: impl FnMut(&mut Self) -> Result<(), Damage>,
    ) -> Result<usize, Damage> {
        let mut items = 0;
        loop {
            let count = self.block(least)?;
            if count == 0 {
                return Ok(items);
            }
            items += count;
            if least == 0 && items > MOST_EMPTY_ITEMS {
                return Err(too_many_items());
            }
            for _ in 0..count {
                read(self)?;
            }
        }
    }

    /// How many items follow in the next block of an array or a map; 0 at its end.
    fn block(&mut self, least: usize) -> Result<usize, Damage> {
        let mut count = self.long()?;
        if count < 0 {
            count = count.checked_neg().ok_or_else(|| "a count is too large".to_owned())?;
            self.long()?; // its bytes, for those who skip it
        }
        let count = usize::try_from(count).map_err(|_| "a count is too large".to_owned())?;
        let most = self.0.len().checked_div(least).unwrap_or(MOST_EMPTY_ITEMS);
        if count > most { Err(too_many_items()) } else { Ok(count) }
    }
}

fn too_many_items() -> Damage {
    "an array has more items than bytes".to_owned()
}

fn cut_off() -> Damage {
    "a value is cut off".to_owned()
}

/// Passes over a value.
pub(crate) fn skip(node: &Node, input: &mut Cursor<'_>) -> Result<(), Damage> {
    match &node.shape {
        Shape::Null => {}
        Shape::Boolean => {
            input.bytes(1)?;
        }
        Shape::Int | Shape::Long | Shape::Enum(_) => {
            input.long()?;
        }
        Shape::Float => {
            input.bytes(4)?;
        }
        Shape::Double => {
            input.bytes(8)?;
        }
        Shape::Bytes | Shape::Text => {
            input.counted()?;
        }
        Shape::Fixed(size) => {
            input.bytes(*size)?;
        }
        Shape::Record(fields) => {
            for field in fields {
                skip(&field.node, input)?;
            }
        }
        Shape::Array(item) if item.least == 0 => {
            // no time for what takes no bytes
            input.items(item.least, |_| Ok(()))?;
        }
        Shape::Array(item) => {
            input.items(item.least, |input| skip(item, input))?;
        }
        Shape::Map(value) => {
            input.items(value.least.saturating_add(1), |input| {
                input.counted()?;
                skip(value, input)
            })?;
        }
        Shape::Union(branches) => skip(branch(branches, input.long()?)?, input)?,
    }
    Ok(())
}

/// What a value is, behind the number of its branch; `None` for NULL.
pub(crate) fn present<'a>(node: &'a Node, input: &mut Cursor<'_>) -> Result<Option<&'a Node>, Damage> {
    let node = match &node.shape {
        Shape::Union(branches) => branch(branches, input.long()?)?,
        _ => node,
    };
    Ok((!matches!(node.shape, Shape::Null)).then_some(node))
}

fn branch(branches: &[Arc<Node>], index: i64) -> Result<&Arc<Node>, Damage> {
    let found = usize::try_from(index).ok().and_then(|index| branches.get(index));
    found.ok_or_else(|| format!("a union has no branch {index}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_variable_length() {
        let long = |bytes: &[u8]| Cursor(bytes).long();
        assert_eq!(long(&[0]), Ok(0));
        assert_eq!(long(&[1]), Ok(-1));
        assert_eq!(long(&[0x80, 1]), Ok(64));
        assert_eq!(long(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), Ok(i64::MIN));
        assert!(long(&[0x80; 11]).is_err());
        assert!(long(&[0x80]).is_err());
    }
}
