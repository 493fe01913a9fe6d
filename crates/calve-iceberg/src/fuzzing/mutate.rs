//! Damage: what happens to files, and what somebody does to them on purpose.

/// A generator of numbers that is the same each time.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    /// A number below `end`; 0 if that is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % (end.max(1) as u64)) as usize
    }

    fn of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }
}

/// Lengths, counts and offsets that something may not be prepared for.
const EXTREMES: [i64; 17] = [
    0,
    1,
    -1,
    -2,
    127,
    128,
    255,
    65_535,
    65_536,
    1 << 20,
    i32::MAX as i64,
    1 << 31,
    u32::MAX as i64,
    1 << 40,
    1 << 56,
    i64::MAX,
    i64::MIN,
];

/// What may stand in JSON where something else is expected.
const WORDS: [&str; 20] = [
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"x\"",
    "0",
    "-1",
    "1e400",
    "-0",
    "0.5",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "[[[[]]]]",
    "\"\\u0000\"",
    "\"string\"",
    "[null]",
];

/// A seed with up to four things done to it.
pub(super) fn mutated(seed: &[u8], other: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len());
        match numbers.below(12) {
            0 | 1 if !bytes.is_empty() => bytes[at] ^= 1 << numbers.below(8),
            2 if !bytes.is_empty() => bytes[at] = *numbers.of(&[0, 1, 2, 0x7f, 0x80, 0xfe, 0xff]),
            3 => {
                let extreme = *numbers.of(&EXTREMES);
                let number = match numbers.below(4) {
                    0 => (extreme as i32).to_le_bytes().to_vec(),
                    1 => (extreme as i32).to_be_bytes().to_vec(),
                    2 => extreme.to_le_bytes().to_vec(),
                    _ => extreme.to_be_bytes().to_vec(),
                };
                let end = bytes.len().min(at + number.len());
                bytes.splice(at..end, number);
            }
            // a number of variable length in the place of another: as Avro's (zigzag), or as ORC's
            4 | 5 => {
                let extreme = *numbers.of(&EXTREMES);
                let zigzag = numbers.below(2) == 0;
                let number = variable(if zigzag { (extreme << 1 ^ extreme >> 63) as u64 } else { extreme as u64 });
                let length = bytes[at..].iter().take(9).take_while(|byte| **byte & 0x80 != 0).count() + 1;
                let end = bytes.len().min(at + length);
                bytes.splice(at..end, number);
            }
            6 => bytes.truncate(at),
            7 => drop(bytes.drain(at..bytes.len().min(at + 1 + numbers.below(40)))),
            8 => {
                let part = bytes[at..bytes.len().min(at + 1 + numbers.below(40))].to_vec();
                let to = numbers.below(bytes.len());
                bytes.splice(to..to, part.repeat(1 + numbers.below(3)));
            }
            9 => {
                let from = numbers.below(other.len());
                let part = other[from..other.len().min(from + 1 + numbers.below(80))].to_vec();
                let end = bytes.len().min(at + numbers.below(80));
                bytes.splice(at..end, part);
            }
            _ => word(&mut bytes, at, numbers),
        }
    }
    bytes
}

fn variable(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Another word in the place of the number or the quoted text behind `at`, in JSON.
fn word(bytes: &mut Vec<u8>, at: usize, numbers: &mut Numbers) {
    let is_number = |byte: u8| byte.is_ascii_digit() || byte == b'-';
    let rest = bytes.get(at..).unwrap_or_default();
    let Some(start) = rest.iter().position(|byte| is_number(*byte) || *byte == b'"').map(|start| at + start) else {
        return;
    };
    let text = &bytes[start..];
    let length = match text[0] {
        b'"' => text.iter().skip(1).position(|byte| *byte == b'"').map_or(1, |end| end + 2),
        _ => text.iter().take_while(|byte| is_number(**byte)).count(),
    };
    bytes.splice(start..start + length, numbers.of(&WORDS).bytes());
}
