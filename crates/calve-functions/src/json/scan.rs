//! JSON text as it lies: checked once, then walked without a tree.
//!
//! What is JSON follows Jackson, which Flink uses: what comes behind the first value is not looked at, values are
//! nested at most 1,000 deep, and of equal keys in an object the last one counts.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use super::number;

/// Levels of arrays and objects.
const DEPTH: usize = 1000;

/// A JSON value: a part of a text that was found to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Json<'a>(&'a str);

fn byte(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}

fn skip_blanks(text: &str, at: usize) -> usize {
    let mut at = at;
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = byte(text, at) {
        at += 1;
    }
    at
}

/// Behind the string whose opening quote is at `at`.
fn skip_string(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    if byte(text, at)? != b'"' {
        return None;
    }
    let mut at = at + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' if bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => at += 6,
                _ => return None,
            },
            0..0x20 => return None,
            _ => at += 1,
        }
    }
}

/// Behind the number at `at`.
fn skip_number(text: &str, at: usize) -> Option<usize> {
    let digits = |mut at: usize| {
        let start = at;
        while byte(text, at).is_some_and(|b| b.is_ascii_digit()) {
            at += 1;
        }
        (at > start).then_some(at)
    };
    let start = if byte(text, at) == Some(b'-') { at + 1 } else { at };
    let mut end = digits(start)?;
    if byte(text, start) == Some(b'0') && end > start + 1 {
        return None;
    }
    if byte(text, end) == Some(b'.') {
        end = digits(end + 1)?;
    }
    if let Some(b'e' | b'E') = byte(text, end) {
        let sign = usize::from(matches!(byte(text, end + 1), Some(b'+' | b'-')));
        end = digits(end + 1 + sign)?;
    }
    // Jackson reads numbers of at most 1,000 characters; exponents are 32 bits.
    let number = text.get(at..end)?;
    (number.len() <= DEPTH && number::is_representable(number)).then_some(end)
}

/// Behind `true`, `false` or `null` at `at`.
fn skip_word(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let word = ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word))?;
    let end = at + word.len();
    let goes_on = text.get(end..)?.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
    (!goes_on).then_some(end)
}

/// Behind the colon of the member whose key is at `at`.
fn skip_key(text: &str, at: usize) -> Option<usize> {
    let colon = skip_blanks(text, skip_string(text, at)?);
    (byte(text, colon)? == b':').then_some(colon + 1)
}

/// Behind the value at `at`; `None` if there is none.
fn skip_value(text: &str, at: usize) -> Option<usize> {
    // One bit for each level: whether it is an object.
    let mut objects = [0_u64; DEPTH / 64 + 1];
    let mut depth = 0;
    let mut at = at;
    loop {
        at = skip_blanks(text, at);
        let first = byte(text, at)?;
        at = match first {
            b'{' | b'[' => {
                if depth == DEPTH {
                    return None;
                }
                let inner = skip_blanks(text, at + 1);
                let is_object = first == b'{';
                if byte(text, inner)? == if is_object { b'}' } else { b']' } {
                    inner + 1
                } else {
                    let (word, bit) = (objects.get_mut(depth / 64)?, 1_u64 << (depth % 64));
                    *word = if is_object { *word | bit } else { *word & !bit };
                    depth += 1;
                    at = if is_object { skip_key(text, inner)? } else { inner };
                    continue;
                }
            }
            b'"' => skip_string(text, at)?,
            b'-' | b'0'..=b'9' => skip_number(text, at)?,
            _ => skip_word(text, at)?,
        };
        // A value has ended, and perhaps what it is in.
        loop {
            let Some(level) = depth.checked_sub(1) else { return Some(at) };
            let is_object = objects.get(level / 64)? & (1 << (level % 64)) != 0;
            at = skip_blanks(text, at);
            match byte(text, at)? {
                b',' => {
                    at = skip_blanks(text, at + 1);
                    if is_object {
                        at = skip_key(text, at)?;
                    }
                    break;
                }
                b'}' if is_object => (depth, at) = (level, at + 1),
                b']' if !is_object => (depth, at) = (level, at + 1),
                _ => return None,
            }
        }
    }
}

impl<'a> Json<'a> {
    /// The value a text begins with; `None` if it does not begin with one.
    pub fn parse(text: &'a str) -> Option<Self> {
        let start = skip_blanks(text, 0);
        let end = skip_value(text, start)?;
        let value = Self(text.get(start..end)?);
        // A number goes on until a blank.
        let ends = !value.is_number() || matches!(byte(text, end), None | Some(b' ' | b'\t' | b'\n' | b'\r'));
        ends.then_some(value)
    }

    fn first(self) -> u8 {
        byte(self.0, 0).unwrap_or(b'n')
    }

    pub fn is_object(self) -> bool {
        self.first() == b'{'
    }

    pub fn is_array(self) -> bool {
        self.first() == b'['
    }

    pub fn is_scalar(self) -> bool {
        !self.is_object() && !self.is_array()
    }

    pub fn is_null(self) -> bool {
        self.first() == b'n'
    }

    pub fn is_number(self) -> bool {
        matches!(self.first(), b'-' | b'0'..=b'9')
    }

    /// The text of a string.
    pub fn as_text(self) -> Option<Cow<'a, str>> {
        self.0.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(unescape)
    }

    pub fn as_boolean(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The text of a number, as it is written.
    pub fn as_number(self) -> Option<&'a str> {
        self.is_number().then_some(self.0)
    }

    /// The elements of an array; none of anything else.
    pub fn elements(self) -> Elements<'a> {
        Elements { text: self.0, at: if self.is_array() { 1 } else { self.0.len() } }
    }

    /// Key, as it is written between its quotes, and value of each member of an object, equal keys included.
    pub(super) fn raw_members(self) -> impl Iterator<Item = (&'a str, Self)> {
        let text = self.0;
        let mut at = if self.is_object() { 1 } else { text.len() };
        std::iter::from_fn(move || {
            let start = skip_blanks(text, at);
            let key_end = skip_string(text, start)?;
            let key = text.get(start + 1..key_end - 1)?;
            let value = skip_blanks(text, skip_key(text, start)?);
            let end = skip_value(text, value)?;
            at = skip_blanks(text, end) + 1;
            Some((key, Self(text.get(value..end)?)))
        })
    }

    /// The members of an object, each key once, in the order they are written.
    pub fn members(self) -> Vec<(Cow<'a, str>, Self)> {
        let mut members: Vec<(Cow<'a, str>, Self)> = vec![];
        let mut places: HashMap<Cow<'a, str>, usize> = HashMap::new();
        for (key, value) in self.raw_members() {
            let key = unescape(key);
            let known = if members.len() < 8 {
                members.iter().position(|(k, _)| *k == key)
            } else {
                if places.is_empty() {
                    places.extend(members.iter().enumerate().map(|(place, (k, _))| (k.clone(), place)));
                }
                places.get(&key).copied()
            };
            match known.and_then(|place| members.get_mut(place)) {
                Some(member) => member.1 = value,
                None => {
                    if !places.is_empty() {
                        places.insert(key.clone(), members.len());
                    }
                    members.push((key, value));
                }
            }
        }
        members
    }

    /// The member of an object with a key.
    pub fn member(self, key: &str) -> Option<Self> {
        let is_key = |raw: &str| if raw.contains('\\') { unescape(raw) == key } else { raw == key };
        self.raw_members().filter(|(raw, _)| is_key(raw)).last().map(|(_, value)| value)
    }

    /// A scalar as JSON_VALUE shows it: a string without quotes, a number as Java's `BigDecimal` writes it.
    pub fn push_scalar(self, out: &mut String) {
        if let Some(text) = self.as_text() {
            out.push_str(&text);
        } else if self.is_number() {
            number::push(self.0, out);
        } else {
            out.push_str(self.0);
        }
    }

    /// The value without blanks, keys in order.
    pub fn push(self, out: &mut String) {
        // As deep as values can be nested.
        if let Some(text) = self.as_text() {
            push_quoted(&text, out);
        } else if self.is_object() {
            out.push('{');
            let mut members = self.members();
            members.sort_by(|(a, _), (b, _)| key_order(a, b));
            for (i, (key, value)) in members.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push_quoted(&key, out);
                out.push(':');
                value.push(out);
            }
            out.push('}');
        } else if self.is_array() {
            out.push('[');
            for (i, element) in self.elements().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                element.push(out);
            }
            out.push(']');
        } else {
            self.push_scalar(out);
        }
    }
}

/// See [`Json::elements`].
#[derive(Clone)]
pub(crate) struct Elements<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Json<'a>> {
        let start = skip_blanks(self.text, self.at);
        // The closing bracket is no value.
        let end = skip_value(self.text, start)?;
        self.at = skip_blanks(self.text, end) + 1;
        Some(Json(self.text.get(start..end)?))
    }
}

/// Java's order of strings, by UTF-16 units.
pub(crate) fn key_order(a: &str, b: &str) -> Ordering {
    if a.is_ascii() || b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
}

/// The text between the quotes of a JSON string. Half a surrogate pair becomes `?`, as in Flink's UTF-8.
pub(super) fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    let unit = |rest: &str| rest.get(..4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = after.chars();
        let letter = chars.next().unwrap_or('\\');
        rest = chars.as_str();
        match letter {
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{C}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'u' => {
                let Some(first) = unit(rest) else { continue };
                rest = rest.get(4..).unwrap_or("");
                let second = rest.strip_prefix("\\u").and_then(unit).filter(|u| (0xDC00..0xE000).contains(u));
                let is_high = (0xD800..0xDC00).contains(&first);
                match (is_high, second) {
                    (true, Some(second)) => {
                        rest = rest.get(6..).unwrap_or("");
                        out.extend(char::decode_utf16([first, second]).map(|c| c.unwrap_or('?')));
                    }
                    _ => out.push(char::from_u32(u32::from(first)).unwrap_or('?')),
                }
            }
            other => out.push(other),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A string in quotes, as Jackson writes it.
pub(crate) fn push_quoted(text: &str, out: &mut String) {
    out.push('"');
    let mut start = 0;
    for (at, b) in text.bytes().enumerate() {
        let escape = match b {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            8 => "\\b",
            9 => "\\t",
            10 => "\\n",
            12 => "\\f",
            13 => "\\r",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(text.get(start..at).unwrap_or(""));
        start = at + 1;
        if escape.is_empty() {
            let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap_or('0').to_ascii_uppercase();
            out.push_str("\\u00");
            out.extend([digit(b >> 4), digit(b & 15)]);
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(text.get(start..).unwrap_or(""));
    out.push('"');
}

/// The key, between its quotes, of a text `"key":value`, and the rest behind the colon.
pub(crate) fn split_member(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let end = skip_string(text, 0)?;
    Some((unescape(text.get(1..end - 1)?), text.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use proptest::prelude::*;

    fn canonical(text: &str) -> Option<String> {
        Json::parse(text).map(|json| {
            let mut out = String::new();
            json.push(&mut out);
            out
        })
    }

    /// Results of a real Flink.
    #[test]
    fn as_jackson() {
        for (text, expected) in [
            (r#"{"a":1} x"#, Some(r#"{"a":1}"#)),
            ("01", None),
            ("1.50", Some("1.50")),
            ("1e3", Some("1E+3")),
            ("12345678901234567890123", Some("12345678901234567890123")),
            ("1.0E400", Some("1.0E+400")),
            ("-0", Some("0")),
            ("-0.0", Some("0.0")),
            ("0.1e-7", Some("1E-8")),
            (r#""a\u00e9\n""#, Some(r#""aé\n""#)),
            ("", None),
            (" 1 ", Some("1")),
            ("1 2", Some("1")),
            ("1x", None),
            ("nul", None),
            ("nullx", None),
            ("[1,]", None),
            ("[1, 2 ,{}]", Some("[1,2,{}]")),
            (r#"{"a":1,"a":2}"#, Some(r#"{"a":2}"#)),
            (
                r#"{"b":1,"a":{"d":1.0,"c":"x/y\u00e9\u0001\""},"b":3}"#,
                Some(r#"{"a":{"c":"x/yé\u0001\"","d":1.0},"b":3}"#),
            ),
            ("NaN", None),
            ("'a'", None),
            (r#"{"a":"\ud83d\ude00"}"#, Some(r#"{"a":"😀"}"#)),
            ("\"a\nb\"", None),
        ] {
            assert_eq!(canonical(text).as_deref(), expected, "{text}");
        }
        assert!(canonical(&"[".repeat(100_000)).is_none());
        assert!(canonical(&format!("{}{}", "[".repeat(1000), "]".repeat(1000))).is_some());
        assert!(canonical(&format!("{}{}", "[".repeat(1001), "]".repeat(1001))).is_none());
    }

    proptest! {
        #[test]
        fn never_panics(text in "[\\[\\]{}:,\"\\\\a-fu0-9. ed-]{0,40}|.{0,20}") {
            if let Some(once) = canonical(&text) {
                // Canonical text stays as it is.
                prop_assert_eq!(canonical(&once), Some(once));
            }
        }

        #[test]
        fn quoted_text_comes_back(text in ".{0,30}") {
            let mut quoted = String::new();
            push_quoted(&text, &mut quoted);
            prop_assert_eq!(Json::parse(&quoted).unwrap().as_text().unwrap(), text);
        }
    }
}
