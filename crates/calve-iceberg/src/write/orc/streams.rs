//! The encodings of ORC's streams: runs of bytes, bits and whole numbers (ORC specification, "Run Length Encoding", its
//! version 1, which every reader has).

/// The longest run.
const LONGEST_RUN: usize = 127 + SHORTEST_RUN;
/// The shortest run.
const SHORTEST_RUN: usize = 3;
/// The most values between two runs.
const MOST_LITERALS: usize = 128;

/// Bytes.
#[derive(Debug, Default)]
struct Bytes {
    out: Vec<u8>,
    literals: Vec<u8>,
    /// Length of the run that `literals` holds the byte of; 0 for none.
    run: usize,
    /// How many of the last literals are alike.
    alike: usize,
}

impl Bytes {
    fn push(&mut self, value: u8) {
        if self.run > 0 {
            if self.literals.first() == Some(&value) {
                self.run += 1;
                if self.run == LONGEST_RUN {
                    self.flush();
                }
                return;
            }
            self.flush();
        }
        self.alike = if self.literals.last() == Some(&value) { self.alike + 1 } else { 1 };
        if self.alike == SHORTEST_RUN {
            self.literals.truncate(self.literals.len() + 1 - SHORTEST_RUN);
            self.flush();
            self.literals.push(value);
            self.run = SHORTEST_RUN;
            return;
        }
        self.literals.push(value);
        if self.literals.len() == MOST_LITERALS {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.run > 0 {
            self.out.push((self.run - SHORTEST_RUN) as u8);
            self.out.append(&mut self.literals);
        } else if !self.literals.is_empty() {
            self.out.push((self.literals.len() as u8).wrapping_neg());
            self.out.append(&mut self.literals);
        }
        (self.run, self.alike) = (0, 0);
    }
}

/// Bits.
#[derive(Debug, Default)]
pub(super) struct Bits {
    bytes: Bytes,
    byte: u8,
    used: u8,
}

impl Bits {
    pub(super) fn push(&mut self, bit: bool) {
        self.byte = self.byte << 1 | u8::from(bit);
        self.used += 1;
        if self.used == 8 {
            self.bytes.push(self.byte);
            (self.byte, self.used) = (0, 0);
        }
    }

    /// Bytes of the stream so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.out.len() + self.bytes.literals.len()
    }

    /// The stream, and a new one to begin.
    pub(super) fn take(&mut self) -> Vec<u8> {
        while self.used != 0 {
            self.push(false);
        }
        self.bytes.flush();
        std::mem::take(&mut self.bytes.out)
    }
}

/// Whole numbers.
#[derive(Debug)]
pub(super) struct Integers {
    signed: bool,
    out: Vec<u8>,
    literals: Vec<i64>,
    /// Length of the run that begins with the literal; 0 for none.
    run: usize,
    /// What the last literals, or the values of the run, differ by.
    delta: i64,
    /// How many of the last literals differ by that.
    alike: usize,
}

impl Integers {
    /// A stream of numbers below zero, too, or of such as are not.
    pub(super) fn new(signed: bool) -> Self {
        Self { signed, out: Vec::new(), literals: Vec::new(), run: 0, delta: 0, alike: 0 }
    }

    pub(super) fn push(&mut self, value: i64) {
        if self.run > 0 {
            let next = self.literals.first().map(|base| i128::from(*base) + i128::from(self.delta) * self.run as i128);
            if next == Some(i128::from(value)) {
                self.run += 1;
                if self.run == LONGEST_RUN {
                    self.flush();
                }
                return;
            }
            self.flush();
        }
        match self.literals.last().and_then(|last| value.checked_sub(*last)) {
            Some(delta) if self.alike > 1 && delta == self.delta => self.alike += 1,
            Some(delta) if i8::try_from(delta).is_ok() => (self.delta, self.alike) = (delta, 2),
            _ => self.alike = 1,
        }
        if self.alike == SHORTEST_RUN {
            let first = self.literals.len() + 1 - SHORTEST_RUN;
            let base = self.literals.get(first).copied();
            self.literals.truncate(first);
            let delta = self.delta;
            self.flush();
            self.literals.extend(base);
            (self.run, self.delta) = (SHORTEST_RUN, delta);
            return;
        }
        self.literals.push(value);
        if self.literals.len() == MOST_LITERALS {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let mut literals = std::mem::take(&mut self.literals);
        if self.run > 0 {
            self.out.push((self.run - SHORTEST_RUN) as u8);
            self.out.push(self.delta as i8 as u8);
        } else if !literals.is_empty() {
            self.out.push((literals.len() as u8).wrapping_neg());
        }
        for value in literals.drain(..) {
            self.number(value);
        }
        self.literals = literals;
        (self.run, self.alike) = (0, 0);
    }

    fn number(&mut self, value: i64) {
        let value = if self.signed { (value << 1) ^ (value >> 63) } else { value };
        varint(u128::from(value as u64), &mut self.out);
    }

    /// Bytes of the stream so far.
    pub(super) fn len(&self) -> usize {
        self.out.len() + self.literals.len()
    }

    /// The stream, and a new one to begin.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.flush();
        std::mem::take(&mut self.out)
    }
}

/// Appends a number of variable length.
pub(super) fn varint(mut rest: u128, out: &mut Vec<u8>) {
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integers(signed: bool, values: impl IntoIterator<Item = i64>) -> Vec<u8> {
        let mut stream = Integers::new(signed);
        values.into_iter().for_each(|v| stream.push(v));
        stream.take()
    }

    /// The examples of the ORC specification.
    #[test]
    fn runs_of_numbers() {
        assert_eq!(integers(false, [7; 100]), [0x61, 0x00, 0x07]);
        assert_eq!(integers(false, (1..=100).rev()), [0x61, 0xff, 0x64]);
        assert_eq!(integers(false, [2, 3, 6, 7, 11]), [0xfb, 0x02, 0x03, 0x06, 0x07, 0x0b]);
        assert_eq!(integers(true, [-1, 1]), [0xfe, 0x01, 0x02]);
    }

    #[test]
    fn runs_of_bytes_and_bits() {
        let bytes = |values: &[u8]| {
            let mut stream = Bytes::default();
            values.iter().for_each(|v| stream.push(*v));
            stream.flush();
            stream.out
        };
        assert_eq!(bytes(&[0; 100]), [0x61, 0x00]);
        assert_eq!(bytes(&[0x44, 0x45]), [0xfe, 0x44, 0x45]);
        let mut bits = Bits::default();
        bits.push(true);
        (0..7).for_each(|_| bits.push(false));
        assert_eq!(bits.take(), [0xff, 0x80]);
    }

    /// Reads what [`Integers`] wrote.
    fn read(signed: bool, mut bytes: &[u8]) -> Vec<i64> {
        fn byte(bytes: &mut &[u8]) -> u8 {
            let (first, rest) = bytes.split_first().map_or((0, &[][..]), |(f, r)| (*f, r));
            *bytes = rest;
            first
        }
        fn number(signed: bool, bytes: &mut &[u8]) -> i64 {
            let (mut value, mut place) = (0_u64, 0);
            loop {
                let next = byte(bytes);
                value |= u64::from(next & 0x7f) << place;
                place += 7;
                if next < 0x80 {
                    let plain = (value >> 1) as i64 ^ -((value & 1) as i64);
                    return if signed { plain } else { value as i64 };
                }
            }
        }
        let mut values = Vec::new();
        while !bytes.is_empty() {
            let control = byte(&mut bytes) as i8;
            if control >= 0 {
                let delta = i64::from(byte(&mut bytes) as i8);
                let base = number(signed, &mut bytes);
                values.extend((0..i64::from(control) + 3).map(|i| base.wrapping_add(i.wrapping_mul(delta))));
            } else {
                (0..-i16::from(control)).for_each(|_| values.push(number(signed, &mut bytes)));
            }
        }
        values
    }

    #[test]
    fn any_numbers_come_back() {
        use rand::RngExt;
        let mut random = rand::rng();
        for round in 0..300 {
            let mut values = Vec::new();
            while values.len() < 500 {
                let base = match round % 3 {
                    0 => random.random_range(-3..3_i64),
                    1 => random.random::<i64>(),
                    _ => [i64::MIN, i64::MAX, 0][random.random_range(0..3)],
                };
                let (delta, count) = (random.random_range(-200..200_i64), random.random_range(1..200_i64));
                values.extend((0..count).map(|i| base.saturating_add(i * delta)));
            }
            assert_eq!(read(true, &integers(true, values.clone())), values);
        }
    }
}
