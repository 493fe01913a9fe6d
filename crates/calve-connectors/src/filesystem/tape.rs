//! A line of JSON, parsed into a flat list of its values.
//!
//! The parser takes what Jackson takes by default and with unescaped control characters. Text after the first value is
//! ignored.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Jackson's `StreamReadConstraints.DEFAULT_MAX_DEPTH`.
const MAX_DEPTH: usize = 1000;

/// What stands at a place on the tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    True,
    False,
    Number,
    /// Text; whether it holds escapes.
    Text {
        escaped: bool,
    },
    /// The place after its last item.
    Array {
        end: usize,
    },
    /// Names and values in turn; the place after the last value.
    Object {
        end: usize,
    },
}

#[derive(Debug, Clone, Copy)]
struct Node {
    kind: Kind,
    /// Its text; of a string without the quotes.
    start: usize,
    end: usize,
}

/// A parsed line.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    text: String,
    nodes: Vec<Node>,
    /// The arrays and objects that are open.
    open: Vec<usize>,
}

type Syntax<T> = Result<T, String>;

impl Tape {
    /// Parses the first value of a line.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn parse(&mut self, line: &[u8]) -> Result<(), String> {
        self.nodes.clear();
        self.open.clear();
        self.text.clear();
        self.text.push_str(std::str::from_utf8(line).map_err(|e| {
            let byte = line.get(e.valid_up_to()).copied().unwrap_or_default();
            format!("invalid UTF-8 byte 0x{byte:02x} at column {}", e.valid_up_to() + 1)
        })?);
        let text = std::mem::take(&mut self.text);
        let result = Parser { bytes: text.as_bytes(), at: 0, nodes: &mut self.nodes, open: &mut self.open }.value();
        self.text = text;
        result
    }

    /// What stands at a place.
    pub fn kind(&self, place: usize) -> Option<Kind> {
        self.nodes.get(place).map(|n| n.kind)
    }

    /// The place after a value.
    fn after(&self, place: usize) -> usize {
        match self.kind(place) {
            Some(Kind::Array { end } | Kind::Object { end }) => end,
            _ => place + 1,
        }
    }

    /// The items of an array.
    pub fn items(&self, array: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.after(array);
        let mut next = array + 1;
        std::iter::from_fn(move || {
            let item = (next < end).then_some(next)?;
            next = self.after(item);
            Some(item)
        })
    }

    /// The names and values of an object.
    pub fn entries(&self, object: usize) -> impl Iterator<Item = (Cow<'_, str>, usize)> + '_ {
        let end = self.after(object);
        let mut next = object + 1;
        std::iter::from_fn(move || {
            let name = (next < end).then_some(next)?;
            next = self.after(name + 1);
            Some((self.scalar(name)?, name + 1))
        })
    }

    /// The names and values of an object, each name once: the place of the first, the value of the last.
    pub fn distinct_entries(&self, object: usize) -> Vec<(Cow<'_, str>, usize)> {
        let mut entries: Vec<(Cow<'_, str>, usize)> = Vec::new();
        let mut places: HashMap<Cow<'_, str>, usize> = HashMap::new();
        for (name, value) in self.entries(object) {
            match places.get(&name) {
                Some(place) => {
                    if let Some((_, last)) = entries.get_mut(*place) {
                        *last = value;
                    }
                }
                None => {
                    places.insert(name.clone(), entries.len());
                    entries.push((name, value));
                }
            }
        }
        entries
    }

    /// The names of all fields of a value and of what lies inside of it.
    pub fn names(&self, place: usize) -> HashSet<Cow<'_, str>> {
        let mut names = HashSet::new();
        let mut open = vec![place];
        while let Some(place) = open.pop() {
            match self.kind(place) {
                Some(Kind::Object { .. }) => {
                    for (name, value) in self.entries(place) {
                        names.insert(name);
                        open.push(value);
                    }
                }
                Some(Kind::Array { .. }) => open.extend(self.items(place)),
                _ => {}
            }
        }
        names
    }

    /// The text of a value that is neither array nor object: a string's characters, a number as it is written.
    pub fn scalar(&self, place: usize) -> Option<Cow<'_, str>> {
        let node = self.nodes.get(place)?;
        let text = self.text.get(node.start..node.end)?;
        match node.kind {
            Kind::Text { escaped: true } => Some(Cow::Owned(unescape(text))),
            Kind::Array { .. } | Kind::Object { .. } => None,
            _ => Some(Cow::Borrowed(text)),
        }
    }

    /// A value as JSON without blanks; a string as its characters.
    pub fn text_of(&self, place: usize) -> String {
        match self.scalar(place) {
            Some(text) => text.into_owned(),
            None => {
                let mut out = Vec::new();
                self.write(place, &mut out);
                String::from_utf8_lossy(&out).into_owned()
            }
        }
    }

    /// Writes the nodes of a value one after the other; their depth is bounded, and no recursion is needed.
    fn write(&self, place: usize, out: &mut Vec<u8>) {
        let end = self.after(place);
        // The arrays and objects around: where each ends, whether it is an object, how many nodes it has shown.
        let mut open: Vec<(usize, bool, usize)> = Vec::new();
        for at in place..end {
            while let Some((close, is_object, _)) = open.last().copied()
                && close == at
            {
                out.push(if is_object { b'}' } else { b']' });
                open.pop();
            }
            if let Some((_, is_object, shown)) = open.last_mut() {
                match (*shown, *is_object) {
                    (0, _) => {}
                    (n, true) if n % 2 == 1 => out.push(b':'),
                    _ => out.push(b','),
                }
                *shown += 1;
            }
            match self.kind(at) {
                Some(Kind::Array { end }) => {
                    out.push(b'[');
                    open.push((end, false, 0));
                }
                Some(Kind::Object { end }) => {
                    out.push(b'{');
                    open.push((end, true, 0));
                }
                Some(Kind::Text { .. }) => {
                    let text = self.scalar(at).unwrap_or_default();
                    crate::java::push_json_string(&text, out);
                }
                _ => out.extend_from_slice(self.scalar(at).unwrap_or_default().as_bytes()),
            }
        }
        for (_, is_object, _) in open.iter().rev() {
            out.push(if *is_object { b'}' } else { b']' });
        }
    }
}

/// Resolves the escapes of a string that was parsed.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = escape.chars();
        let c = chars.next().unwrap_or('\\');
        rest = chars.as_str();
        match c {
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'u' => {
                let unit = |text: &str| text.get(..4).and_then(|h| u16::from_str_radix(h, 16).ok());
                let first = unit(rest).unwrap_or(0xfffd);
                rest = rest.get(4..).unwrap_or_default();
                let second = rest.strip_prefix("\\u").and_then(unit);
                let pair =
                    second.and_then(|low| char::decode_utf16([first, low]).next()?.ok().filter(|c| *c as u32 > 0xffff));
                match pair {
                    Some(c) => {
                        rest = rest.get(6..).unwrap_or_default();
                        out.push(c);
                    }
                    // half of a pair is no character
                    None => out.push(char::from_u32(u32::from(first)).unwrap_or('\u{fffd}')),
                }
            }
            other => out.push(other),
        }
    }
    out.push_str(rest);
    out
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    nodes: &'a mut Vec<Node>,
    open: &'a mut Vec<usize>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn unexpected<T>(&self, expected: &str) -> Syntax<T> {
        let column = self.at + 1;
        match self.bytes.get(self.at..).and_then(|rest| std::str::from_utf8(rest).ok()?.chars().next()) {
            Some(c) => Err(format!("unexpected character '{c}' at column {column}, expected {expected}")),
            None => Err(format!("unexpected end of input at column {column}, expected {expected}")),
        }
    }

    /// A value and all that lies inside of it, without recursion.
    fn value(&mut self) -> Syntax<()> {
        loop {
            self.skip_blanks();
            let opened = match self.peek() {
                Some(b'{') => self.open_container(Kind::Object { end: 0 })?,
                Some(b'[') => self.open_container(Kind::Array { end: 0 })?,
                Some(b'"') => {
                    self.string()?;
                    false
                }
                Some(b't') => self.word("true", Kind::True)?,
                Some(b'f') => self.word("false", Kind::False)?,
                Some(b'n') => self.word("null", Kind::Null)?,
                Some(b'-' | b'0'..=b'9') => {
                    self.number()?;
                    false
                }
                _ => return self.unexpected("a value"),
            };
            if opened {
                self.skip_blanks();
                let is_object = self.in_object();
                if self.peek() != Some(if is_object { b'}' } else { b']' }) {
                    if is_object {
                        self.name()?;
                    }
                    continue;
                }
                self.at += 1;
                self.close();
            }
            // What comes after a value: the end of what is around it, or the next item.
            loop {
                if self.open.is_empty() {
                    return Ok(());
                }
                let is_object = self.in_object();
                self.skip_blanks();
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if is_object {
                            self.skip_blanks();
                            self.name()?;
                        }
                        break;
                    }
                    Some(b'}') if is_object => {}
                    Some(b']') if !is_object => {}
                    _ => return self.unexpected(if is_object { "',' or '}'" } else { "',' or ']'" }),
                }
                self.at += 1;
                self.close();
            }
        }
    }

    fn in_object(&self) -> bool {
        let top = self.open.last().and_then(|place| self.nodes.get(*place));
        top.is_some_and(|node| matches!(node.kind, Kind::Object { .. }))
    }

    fn open_container(&mut self, kind: Kind) -> Syntax<bool> {
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("values nested deeper than {MAX_DEPTH}"));
        }
        self.open.push(self.nodes.len());
        self.nodes.push(Node { kind, start: self.at, end: self.at });
        self.at += 1;
        Ok(true)
    }

    fn close(&mut self) {
        let after = self.nodes.len();
        if let Some(node) = self.open.pop().and_then(|place| self.nodes.get_mut(place)) {
            node.kind = match node.kind {
                Kind::Object { .. } => Kind::Object { end: after },
                _ => Kind::Array { end: after },
            };
        }
    }

    fn name(&mut self) -> Syntax<()> {
        if self.peek() != Some(b'"') {
            return self.unexpected("a field's name in double quotes");
        }
        self.string()?;
        self.skip_blanks();
        if self.peek() != Some(b':') {
            return self.unexpected("':'");
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str, kind: Kind) -> Syntax<bool> {
        let end = self.at + word.len();
        let continues = self.bytes.get(end).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        if self.bytes.get(self.at..end) != Some(word.as_bytes()) || continues {
            return self.unexpected("a value");
        }
        self.nodes.push(Node { kind, start: self.at, end });
        self.at = end;
        Ok(false)
    }

    fn string(&mut self) -> Syntax<()> {
        let start = self.at + 1;
        self.at = start;
        let mut escaped = false;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            self.at += rest.iter().position(|b| matches!(b, b'"' | b'\\')).unwrap_or(rest.len());
            match self.peek() {
                Some(b'"') => break,
                Some(_) => {
                    escaped = true;
                    self.at += 1;
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
                        Some(b'u') => {
                            let hex = self.bytes.get(self.at + 1..self.at + 5).unwrap_or_default();
                            if hex.len() != 4 || !hex.iter().all(u8::is_ascii_hexdigit) {
                                return self.unexpected("four hexadecimal digits");
                            }
                            self.at += 5;
                        }
                        _ => return self.unexpected("an escape"),
                    }
                }
                None => return self.unexpected("a closing quote"),
            }
        }
        self.nodes.push(Node { kind: Kind::Text { escaped }, start, end: self.at });
        self.at += 1;
        Ok(())
    }

    fn digits(&mut self) -> Syntax<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { self.unexpected("a digit") } else { Ok(()) }
    }

    fn number(&mut self) -> Syntax<()> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return self.unexpected("no digit after a leading zero");
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        self.nodes.push(Node { kind: Kind::Number, start, end: self.at });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
