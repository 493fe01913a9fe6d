//! Bytes of a text file, with the number of the line they stand in.

use std::io::{ErrorKind, Read};

use calve_types::{Error, Result};

const BUFFER: usize = 256 * 1024;
/// A line of more bytes is refused: more likely the file is no text than the line a row.
const LONGEST: usize = 512 * 1024 * 1024;

/// The way out when a file that was listed is gone.
pub(crate) const OVERWRITTEN: &str = "the table was overwritten while it was read: run the statement again";

/// The file that is read, for messages.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// Its path.
    pub path: String,
}

impl Place {
    /// What is wrong in a line of the file.
    pub fn error(&self, code: &'static str, line: u64, what: &str) -> Error {
        Error::new(code, format!("line {line} of file '{}' has {what}", self.path))
    }

    /// What the system answered.
    pub fn io(&self, error: &std::io::Error) -> Error {
        let refused = Error::new("io", format!("cannot read file '{}': {error}", self.path));
        if error.kind() == ErrorKind::NotFound { refused.with_hint(OVERWRITTEN) } else { refused }
    }
}

/// A buffered reader that counts lines.
pub(crate) struct Input<R> {
    inner: R,
    place: Place,
    buffer: Vec<u8>,
    position: usize,
    at_end: bool,
    at_start: bool,
    line: u64,
}

impl<R: Read> Input<R> {
    pub fn new(inner: R, place: Place) -> Self {
        Self { inner, place, buffer: Vec::new(), position: 0, at_end: false, at_start: true, line: 1 }
    }

    /// The line of the next byte, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Reads until `count` bytes are there, or all of the file.
    fn fill(&mut self, count: usize) -> Result<()> {
        while self.buffer.len() - self.position < count && !self.at_end {
            self.buffer.drain(..self.position);
            self.position = 0;
            let old = self.buffer.len();
            self.buffer.resize(old + BUFFER, 0);
            let target = self.buffer.get_mut(old..).unwrap_or_default();
            let read = loop {
                match self.inner.read(target) {
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    result => break result,
                }
            };
            let read = read.map_err(|e| self.place.io(&e))?;
            self.buffer.truncate(old + read);
            self.at_end = read == 0;
            if self.at_start && (self.buffer.len() >= 3 || self.at_end) {
                self.at_start = false;
                // a byte order mark is no text
                if self.buffer.starts_with(b"\xef\xbb\xbf") {
                    self.position = 3;
                }
            }
        }
        Ok(())
    }

    pub fn peek(&mut self) -> Result<Option<u8>> {
        self.peek_at(0)
    }

    pub fn peek_at(&mut self, ahead: usize) -> Result<Option<u8>> {
        if self.buffer.len() <= self.position + ahead {
            self.fill(ahead + 1)?;
        }
        Ok(self.buffer.get(self.position + ahead).copied())
    }

    pub fn bump(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.position += 1;
            if byte == b'\n' || (byte == b'\r' && self.peek()? != Some(b'\n')) {
                self.line += 1;
            }
        }
        Ok(byte)
    }

    /// Goes past a character if it comes next.
    pub fn takes(&mut self, first: u8, rest: &[u8]) -> Result<bool> {
        if self.peek()? != Some(first) {
            return Ok(false);
        }
        for (i, byte) in rest.iter().enumerate() {
            if self.peek_at(i + 1)? != Some(*byte) {
                return Ok(false);
            }
        }
        if rest.is_empty() {
            self.bump()?;
        } else {
            self.position += 1 + rest.len();
        }
        Ok(true)
    }

    /// Moves the bytes up to the first that is not `plain` to `out`.
    pub fn take_while(&mut self, plain: impl Fn(u8) -> bool, out: &mut Vec<u8>) -> Result<()> {
        let mut taken = 0;
        loop {
            self.fill(1)?;
            let rest = self.buffer.get(self.position..).unwrap_or_default();
            let count = rest.iter().position(|b| !plain(*b)).unwrap_or(rest.len());
            let (plain, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            out.extend_from_slice(plain);
            self.line += plain.iter().filter(|b| **b == b'\n').count() as u64;
            self.position += count;
            taken += count;
            if taken > LONGEST {
                return Err(self.place.error("malformed-row", self.line, "a value of more than 512 MB"));
            }
            if !after.is_empty()
                || (self.at_end && count == 0)
                || rest_is_empty(&self.buffer, self.position, self.at_end)
            {
                return Ok(());
            }
        }
    }

    /// Goes past the end of the line.
    pub fn skip_line(&mut self) -> Result<()> {
        while let Some(byte) = self.bump()? {
            if byte == b'\n' || (byte == b'\r' && self.peek()? != Some(b'\n')) {
                break;
            }
        }
        Ok(())
    }

    /// Moves the next line to `out`, without `\n` and a `\r` before it; `false` at the end of the file.
    pub fn next_line(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        out.clear();
        if self.peek()?.is_none() {
            return Ok(false);
        }
        self.take_while(|b| b != b'\n', out)?;
        let ended = self.peek()?.is_some();
        if ended {
            self.position += 1;
            self.line += 1;
        }
        if ended && out.last() == Some(&b'\r') {
            out.pop();
        }
        Ok(true)
    }
}

fn rest_is_empty(buffer: &[u8], position: usize, at_end: bool) -> bool {
    at_end && position >= buffer.len()
}
