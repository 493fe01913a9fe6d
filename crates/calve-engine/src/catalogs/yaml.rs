//! The YAML of a catalog's file: a map of texts, as Flink's `FileCatalogStore` writes it. More of YAML is refused.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

/// A map as YAML: a line for each entry, values in double quotes.
pub(super) fn print(map: &BTreeMap<String, String>) -> String {
    if map.is_empty() {
        return "{}\n".to_owned();
    }
    let is_plain = |key: &str| {
        key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    let mut text = String::new();
    for (key, value) in map {
        let key = if is_plain(key) { key.clone() } else { quoted(key) };
        // writing to a String does not fail
        let _ = writeln!(text, "{key}: {}", quoted(value));
    }
    text
}

fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            // what is a line break in YAML, or not printable
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// The map in a text.
///
/// # Errors
/// What is wrong and in which line; never a value.
pub(super) fn parse(text: &str) -> Result<BTreeMap<String, String>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { rest: text.chars().peekable(), line: 1 };
    reader.map().map_err(|why| format!("line {}: {why}", reader.line))
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    line: usize,
}

const NO_ENTRY: &str = "not an entry 'key: value'";
const OPEN_QUOTE: &str = "a quote is not closed";

impl Reader<'_> {
    fn map(&mut self) -> Result<BTreeMap<String, String>, String> {
        let mut map = BTreeMap::new();
        while let Some(&first) = self.rest.peek() {
            match first {
                '\n' | '\r' => drop(self.next()),
                '#' => self.end_of_line()?,
                ' ' | '\t' => {
                    self.spaces();
                    if !matches!(self.rest.peek(), None | Some('\n' | '\r' | '#')) {
                        return Err("an entry within an entry".to_owned());
                    }
                }
                '-' | '.' if map.is_empty() && self.is_marker() => {}
                '{' if map.is_empty() => {
                    self.next();
                    if self.next() != Some('}') {
                        return Err(NO_ENTRY.to_owned());
                    }
                    self.end_of_line()?;
                }
                _ => {
                    let (key, value) = self.entry()?;
                    if map.contains_key(&key) {
                        return Err(format!("the key '{key}' comes twice"));
                    }
                    map.insert(key, value);
                }
            }
        }
        Ok(map)
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next();
        if c == Some('\n') {
            self.line += 1;
        }
        c
    }

    fn spaces(&mut self) {
        while matches!(self.rest.peek(), Some(' ' | '\t')) {
            self.next();
        }
    }

    /// Takes `---` or `...`.
    fn is_marker(&mut self) -> bool {
        let ahead: String = self.rest.clone().take_while(|c| !matches!(c, '\n' | '\r')).collect();
        let is_marker = matches!(ahead.trim_end(), "---" | "...");
        if is_marker {
            while !matches!(self.rest.peek(), None | Some('\n')) {
                self.next();
            }
        }
        is_marker
    }

    /// What may follow a value: spaces and a comment.
    fn end_of_line(&mut self) -> Result<(), String> {
        self.spaces();
        if self.rest.peek() == Some(&'#') {
            while !matches!(self.rest.peek(), None | Some('\n')) {
                self.next();
            }
        }
        match self.rest.peek() {
            None | Some('\n' | '\r') => Ok(()),
            Some(_) => Err("more than one value".to_owned()),
        }
    }

    fn entry(&mut self) -> Result<(String, String), String> {
        let key = match self.rest.peek() {
            Some('"') => self.double_quoted()?,
            Some('\'') => self.single_quoted()?,
            _ => self.plain_key()?,
        };
        self.spaces();
        if self.rest.peek() == Some(&':') {
            self.next();
        } else {
            return Err(NO_ENTRY.to_owned());
        }
        if !matches!(self.rest.peek(), Some(' ' | '\t')) {
            return Err(format!("the key '{key}' has no value"));
        }
        self.spaces();
        let value = match self.rest.peek() {
            Some('"') => self.double_quoted()?,
            Some('\'') => self.single_quoted()?,
            _ => self.plain_value(&key)?,
        };
        self.end_of_line()?;
        Ok((key, value))
    }

    fn plain_key(&mut self) -> Result<String, String> {
        let mut key = String::new();
        while let Some(&c) = self.rest.peek() {
            let mut ahead = self.rest.clone();
            ahead.next();
            match c {
                ':' if matches!(ahead.peek(), None | Some(' ' | '\t' | '\n' | '\r')) => break,
                '\n' | '\r' => return Err(NO_ENTRY.to_owned()),
                _ => key.extend(self.next()),
            }
        }
        let key = key.trim_end().to_owned();
        match key.chars().next() {
            None | Some('-' | '?' | '&' | '*' | '!' | '|' | '>' | '{' | '[' | '%' | '@' | '`' | ',' | '}' | ']') => {
                Err(NO_ENTRY.to_owned())
            }
            Some(_) => Ok(key),
        }
    }

    fn plain_value(&mut self, key: &str) -> Result<String, String> {
        let mut value = String::new();
        while let Some(&c) = self.rest.peek() {
            if matches!(c, '\n' | '\r') || (c == '#' && value.ends_with([' ', '\t'])) {
                break;
            }
            value.extend(self.next());
        }
        let value = value.trim_end().to_owned();
        let is_other = |c: char| matches!(c, '&' | '*' | '!' | '|' | '>' | '{' | '[' | '%' | '@' | '`' | '#');
        match value.as_str() {
            "" | "~" | "null" | "Null" | "NULL" => Err(format!("the key '{key}' has no value")),
            value if value.starts_with(is_other) => Err(format!("the value of '{key}' is no plain text")),
            _ => Ok(value),
        }
    }

    fn single_quoted(&mut self) -> Result<String, String> {
        self.next();
        let mut value = String::new();
        loop {
            match self.next().ok_or(OPEN_QUOTE)? {
                '\'' if self.rest.peek() == Some(&'\'') => value.extend(self.next()),
                '\'' => return Ok(value),
                '\n' => self.fold(&mut value, 0),
                c => value.push(c),
            }
        }
    }

    fn double_quoted(&mut self) -> Result<String, String> {
        self.next();
        let mut value = String::new();
        // what stands before it is kept where lines are folded
        let mut kept = 0;
        loop {
            match self.next().ok_or(OPEN_QUOTE)? {
                '"' => return Ok(value),
                '\n' => self.fold(&mut value, kept),
                '\\' => {
                    self.escape(&mut value)?;
                    kept = value.len();
                }
                c => value.push(c),
            }
        }
    }

    /// A line break in quotes is a space, and so are the spaces around it; empty lines are line breaks.
    fn fold(&mut self, value: &mut String, kept: usize) {
        let end = value.trim_end_matches([' ', '\t', '\r']).len().max(kept);
        value.truncate(end);
        let mut breaks = 0;
        while matches!(self.rest.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            breaks += usize::from(self.next() == Some('\n'));
        }
        match breaks {
            0 => value.push(' '),
            breaks => value.extend(std::iter::repeat_n('\n', breaks)),
        }
    }

    fn escape(&mut self, value: &mut String) -> Result<(), String> {
        let c = match self.next().ok_or(OPEN_QUOTE)? {
            '\r' | '\n' => {
                // the line goes on
                while matches!(self.rest.peek(), Some('\n' | ' ' | '\t')) {
                    self.next();
                }
                return Ok(());
            }
            '0' => '\0',
            'a' => '\u{7}',
            'b' => '\u{8}',
            't' | '\t' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            'e' => '\u{1b}',
            'N' => '\u{85}',
            '_' => '\u{a0}',
            'L' => '\u{2028}',
            'P' => '\u{2029}',
            c @ (' ' | '"' | '/' | '\\') => c,
            'x' => self.code(2)?,
            'u' => self.code(4)?,
            'U' => self.code(8)?,
            other => return Err(format!("unknown escape '\\{other}'")),
        };
        value.push(c);
        Ok(())
    }

    /// A character by its number in hexadecimal digits; two halves of UTF-16 are one.
    fn code(&mut self, digits: usize) -> Result<char, String> {
        let mut number = self.number(digits)?;
        if (0xd800..0xdc00).contains(&number) && self.next() == Some('\\') && self.next() == Some('u') {
            let low = self.number(4)?;
            number = 0x1_0000 + ((number - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
        }
        char::from_u32(number).ok_or_else(|| "an escape is no character".to_owned())
    }

    fn number(&mut self, digits: usize) -> Result<u32, String> {
        let digits: String = (0..digits).filter_map(|_| self.next()).collect();
        u32::from_str_radix(&digits, 16).map_err(|_| "an escape is no character".to_owned())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_is_printed_is_read() {
        let all = map(&[
            ("type", "iceberg"),
            ("uri", "jdbc:postgresql://h:1/db?a=b&c='d'"),
            ("odd key: #", ""),
            ("jdbc.password", " \"q\" \\ 'x' \n\r\t\u{1}\u{85}\u{2028} # no: comment ünï 日本 😀 "),
            ("true", "null"),
        ]);
        assert_eq!(parse(&print(&all)).unwrap(), all);
        assert_eq!(parse(&print(&map(&[]))).unwrap(), map(&[]));
        assert_eq!(print(&map(&[("type", "iceberg")])), "type: \"iceberg\"\n");
    }

    /// As Jackson writes long values: it breaks lines in quotes at spaces.
    #[test]
    fn what_flink_and_people_write_is_read() {
        let text = "---\n# a comment\ntype: \"iceberg\"\r\nwarehouse: /tmp/a b # here\n\nuri: 'it''s'\n\"a\\tb\": 12\n\
                    long: \"one two \\\n  \\ three\"\nfolded: \"one\n  two\n\n  three\\u00e4\\ud83d\\ude00\"\nempty: \"\"\n";
        let want = map(&[
            ("type", "iceberg"),
            ("warehouse", "/tmp/a b"),
            ("uri", "it's"),
            ("a\tb", "12"),
            ("long", "one two  three"),
            ("folded", "one two\nthreeä😀"),
            ("empty", ""),
        ]);
        assert_eq!(parse(text).unwrap(), want);
        assert_eq!(parse("{}\n").unwrap(), map(&[]));
        assert_eq!(parse("").unwrap(), map(&[]));
    }

    #[test]
    fn what_is_wrong_is_said_without_the_value() {
        for (text, why) in [
            ("a: b\nsecret", "line 2: not an entry 'key: value'"),
            ("a: \"secret", "line 1: a quote is not closed"),
            ("a:\n  b: secret", "line 1: the key 'a' has no value"),
            ("a: x\n  b: secret", "line 2: an entry within an entry"),
            ("a: [secret]", "line 1: the value of 'a' is no plain text"),
            ("a: |\n  secret", "line 1: the value of 'a' is no plain text"),
            ("- secret", "line 1: not an entry 'key: value'"),
            ("a: \"x\" secret", "line 1: more than one value"),
            ("a: 1\na: secret", "line 2: the key 'a' comes twice"),
            ("a: \"\\q\"", "line 1: unknown escape '\\q'"),
            ("a: \"\\uZZZZ\"", "line 1: an escape is no character"),
            ("a: null", "line 1: the key 'a' has no value"),
        ] {
            assert_eq!(parse(text).unwrap_err(), why, "{text}");
        }
    }
}
