//! Java's regular expressions in the dialect of the regex crates.
//!
//! What differs is written out: `.` and `$` know several line ends, `(?i)` is about ASCII letters, `\w` and the like are
//! ASCII, possessive quantifiers are atomic groups. What has no counterpart is refused by name.

use calve_types::Error;

/// Why a pattern has no translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Untranslated {
    /// Java refuses it too.
    Invalid,
    /// It is a pattern, but there is nothing like it here.
    Unsupported(String),
}

impl Untranslated {
    /// The error for a pattern that Java takes.
    pub fn unsupported(feature: &str, pattern: &str) -> Error {
        Error::unsupported(format!("{feature} in the regular expression '{pattern}'"))
    }
}

type Translated<T> = Result<T, Untranslated>;

fn unsupported<T>(feature: impl Into<String>) -> Translated<T> {
    Err(Untranslated::Unsupported(feature.into()))
}

/// A pattern translated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Translation {
    /// For any text.
    pub pattern: String,
    /// A simpler one for texts that end with no line end, where `$` is the end.
    pub without_line_end: Option<String>,
}

/// Line ends as the inside of a character class.
const LINE_ENDS: &str = r"\n\r\x{85}\x{2028}\x{2029}";
const BLANKS: &str = r" \t\n\x0B\f\r";
const HORIZONTAL: &str = r" \t\x{A0}\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}";
const VERTICAL: &str = r"\n\x0B\f\r\x{85}\x{2028}\x{2029}";

/// Groups within groups, and classes within classes.
const DEEPEST: usize = 60;

/// The flags at a place of a pattern.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    ignores_case: bool,
    multiline: bool,
    dot_all: bool,
    comments: bool,
    unix_lines: bool,
    unicode_case: bool,
    unicode_classes: bool,
}

impl Flags {
    fn set(&mut self, letter: char, on: bool) -> Translated<()> {
        match letter {
            'i' => self.ignores_case = on,
            'm' => self.multiline = on,
            's' => self.dot_all = on,
            'x' => self.comments = on,
            'd' => self.unix_lines = on,
            'u' => self.unicode_case = on,
            'U' => (self.unicode_classes, self.unicode_case) = (on, on),
            _ => return Err(Untranslated::Invalid),
        }
        Ok(())
    }
}

/// What an escape stands for.
enum Escape {
    Char(char),
    /// The inside of a character class, and whether it is everything else.
    Class(String, bool),
    /// Anything that stands outside of classes only.
    Other(String),
}

/// Translates a pattern.
pub(crate) fn translate(pattern: &str) -> Translated<Translation> {
    let mut full = Translator::new(pattern, false);
    full.run()?;
    let without_line_end = if full.has_end {
        let mut simple = Translator::new(pattern, true);
        simple.run()?;
        Some(simple.out)
    } else {
        None
    };
    Ok(Translation { pattern: full.out, without_line_end })
}

struct Translator {
    chars: Vec<char>,
    at: usize,
    out: String,
    flags: Flags,
    /// The text has no line end at its end.
    simple: bool,
    has_end: bool,
    /// Open groups: where they begin, and the flags around them.
    open: Vec<(usize, Flags)>,
    groups: usize,
    /// Where the last thing that can be repeated begins.
    atom: Option<usize>,
}

impl Translator {
    fn new(pattern: &str, simple: bool) -> Self {
        Self {
            chars: pattern.chars().collect(),
            at: 0,
            out: String::with_capacity(pattern.len() + 16),
            flags: Flags::default(),
            simple,
            has_end: false,
            open: vec![],
            groups: 0,
            atom: None,
        }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    fn eat(&mut self, expected: &str) -> bool {
        let matches = expected.chars().enumerate().all(|(i, c)| self.chars.get(self.at + i) == Some(&c));
        if matches {
            self.at += expected.chars().count();
        }
        matches
    }

    fn put(&mut self, text: &str) {
        self.atom = Some(self.out.len());
        self.out.push_str(text);
    }

    fn run(&mut self) -> Translated<()> {
        while let Some(c) = self.next() {
            match c {
                _ if self.flags.comments && c.is_ascii_whitespace() => {}
                '#' if self.flags.comments => while self.next().is_some_and(|c| c != '\n') {},
                '(' => self.group()?,
                ')' => {
                    let (start, flags) = self.open.pop().ok_or(Untranslated::Invalid)?;
                    self.out.push(')');
                    (self.flags, self.atom) = (flags, Some(start));
                }
                '|' => {
                    self.out.push('|');
                    self.atom = None;
                }
                '*' | '+' | '?' => self.repeat(c.to_string())?,
                '{' => {
                    let range = self.range()?;
                    self.repeat(range)?;
                }
                '[' => {
                    let mut class = String::new();
                    self.class(&mut class, 0)?;
                    self.put(&class);
                }
                '.' if self.flags.dot_all => self.put("(?s:.)"),
                '.' if self.flags.unix_lines => self.put(r"[^\n]"),
                '.' => self.put(&format!("[^{LINE_ENDS}]")),
                '^' if self.flags.multiline => {
                    self.put(r"(?:(?:\A|(?<=[\n\x{85}\x{2028}\x{2029}])|(?<=\r)(?!\n))(?!\z))")
                }
                '^' => self.put(r"\A"),
                '$' => self.end(),
                '\\' => self.escaped()?,
                _ => self.literal(c),
            }
        }
        if self.open.is_empty() { Ok(()) } else { Err(Untranslated::Invalid) }
    }

    fn end(&mut self) {
        if self.flags.multiline {
            self.put(r"(?:\z|(?=[\r\x{85}\x{2028}\x{2029}])|(?<!\r)(?=\n))");
            return;
        }
        self.has_end = true;
        if self.simple {
            self.put(r"\z");
        } else {
            self.put(r"(?:\z|(?=\r\n\z)|(?=[\r\x{85}\x{2028}\x{2029}]\z)|(?<!\r)(?=\n\z))");
        }
    }

    fn group(&mut self) -> Translated<()> {
        let (start, flags) = (self.out.len(), self.flags);
        if self.open.len() >= DEEPEST {
            return unsupported("groups that deep");
        }
        if !self.eat("?") {
            self.groups += 1;
            self.out.push('(');
        } else if let Some(opener) = ["<=", "<!", "=", "!", ":", ">"].into_iter().find(|o| self.eat(o)) {
            self.out.push_str("(?");
            self.out.push_str(opener);
        } else if self.eat("<") {
            let mut name = String::new();
            while let Some(c) = self.next().filter(|c| *c != '>') {
                name.push(c);
            }
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.chars().all(|c| c.is_ascii_alphanumeric())
                && self.chars.get(self.at.wrapping_sub(1)) == Some(&'>');
            if !is_name {
                return Err(Untranslated::Invalid);
            }
            self.groups += 1;
            self.out.push_str(&format!("(?<{name}>"));
        } else {
            let mut on = true;
            loop {
                match self.next().ok_or(Untranslated::Invalid)? {
                    '-' if on => on = false,
                    // For the rest of the group around it.
                    ')' => {
                        self.atom = None;
                        return Ok(());
                    }
                    ':' => break,
                    letter => self.flags.set(letter, on)?,
                }
            }
            self.out.push_str("(?:");
        }
        self.open.push((start, flags));
        self.atom = None;
        Ok(())
    }

    /// `n}`, `n,}` or `n,m}`
    fn range(&mut self) -> Translated<String> {
        let mut number = || {
            let mut digits = String::new();
            while let Some(c) = self.peek().filter(char::is_ascii_digit) {
                digits.push(c);
                self.at += 1;
            }
            digits
        };
        let low = number();
        if low.is_empty() {
            return Err(Untranslated::Invalid);
        }
        let mut range = format!("{{{low}");
        if self.eat(",") {
            let mut high = String::new();
            while let Some(c) = self.peek().filter(char::is_ascii_digit) {
                high.push(c);
                self.at += 1;
            }
            if let (Ok(low), Ok(high)) = (low.parse::<u64>(), high.parse::<u64>())
                && low > high
            {
                return Err(Untranslated::Invalid);
            }
            range.push(',');
            range.push_str(&high);
        }
        if !self.eat("}") {
            return Err(Untranslated::Invalid);
        }
        range.push('}');
        Ok(range)
    }

    fn repeat(&mut self, quantifier: String) -> Translated<()> {
        let Some(start) = self.atom.take() else {
            // Java repeats nothing so many times, but not `*` times.
            let _ = quantifier.starts_with('{') && (self.eat("?") || self.eat("+"));
            return if quantifier.starts_with('{') { Ok(()) } else { Err(Untranslated::Invalid) };
        };
        self.out.push_str(&quantifier);
        if self.eat("?") {
            self.out.push('?');
        } else if self.eat("+") {
            self.out.insert_str(start, "(?>");
            self.out.push(')');
        }
        Ok(())
    }

    fn literal(&mut self, c: char) {
        let mut text = String::new();
        if self.flags.ignores_case && c.is_ascii_alphabetic() && !self.flags.unicode_case {
            text.extend(['[', c.to_ascii_lowercase(), c.to_ascii_uppercase(), ']']);
        } else if self.flags.ignores_case && self.flags.unicode_case && c.is_alphabetic() {
            text.push_str(&format!("(?i:{c})"));
        } else {
            text.push_str(&fancy_regex::escape(c.encode_utf8(&mut [0; 4])));
        }
        self.put(&text);
    }

    fn escaped(&mut self) -> Translated<()> {
        if self.eat("Q") {
            while self.at < self.chars.len() && !self.eat("\\E") {
                if let Some(c) = self.next() {
                    self.literal(c);
                }
            }
            return Ok(());
        }
        if let Some(digit) = self.peek().and_then(|c| c.to_digit(10)).filter(|d| *d > 0) {
            self.at += 1;
            let mut group = digit as usize;
            while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
                let longer = group * 10 + digit as usize;
                if longer > self.groups {
                    break;
                }
                group = longer;
                self.at += 1;
            }
            if group > self.groups || self.flags.ignores_case {
                return unsupported(format!("a reference to group {group}"));
            }
            self.put(&format!(r"(?:\{group})"));
            return Ok(());
        }
        match self.escape()? {
            Escape::Char(c) => self.literal(c),
            Escape::Class(inside, negated) => self.put(&format!("[{}{inside}]", if negated { "^" } else { "" })),
            Escape::Other(text) => self.put(&text),
        }
        Ok(())
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Translated<Escape> {
        let c = self.next().ok_or(Untranslated::Invalid)?;
        let unicode = self.flags.unicode_classes;
        let class = |inside: &str, unicode_inside: &str| {
            Ok(Escape::Class(if unicode { unicode_inside } else { inside }.to_owned(), c.is_ascii_uppercase()))
        };
        match c {
            'd' | 'D' => class("0-9", r"\p{Nd}"),
            'w' | 'W' => class("a-zA-Z0-9_", r"\w"),
            's' | 'S' => class(BLANKS, r"\s"),
            'h' | 'H' => class(HORIZONTAL, HORIZONTAL),
            'v' | 'V' => class(VERTICAL, VERTICAL),
            'p' | 'P' => self.property(c == 'P'),
            't' => Ok(Escape::Char('\t')),
            'n' => Ok(Escape::Char('\n')),
            'r' => Ok(Escape::Char('\r')),
            'f' => Ok(Escape::Char('\x0C')),
            'a' => Ok(Escape::Char('\x07')),
            'e' => Ok(Escape::Char('\x1B')),
            'c' => {
                let control = self.next().ok_or(Untranslated::Invalid)?;
                char::from_u32(u32::from(control) ^ 64).map(Escape::Char).ok_or(Untranslated::Invalid)
            }
            '0' => {
                let digits = if self.peek().is_some_and(|c| ('0'..='3').contains(&c)) { 3 } else { 2 };
                self.number(8, 1, digits)
            }
            'x' if self.eat("{") => {
                let value = self.number(16, 1, 6)?;
                if self.eat("}") { Ok(value) } else { Err(Untranslated::Invalid) }
            }
            'x' => self.number(16, 2, 2),
            'u' => self.number(16, 4, 4),
            'b' if self.eat("{g}") => unsupported(r"\b{g}"),
            'b' => Ok(Escape::Other(r"\b".into())),
            'B' => Ok(Escape::Other(r"\B".into())),
            'A' => Ok(Escape::Other(r"\A".into())),
            'z' => Ok(Escape::Other(r"\z".into())),
            'Z' => Ok(Escape::Other(r"(?:\z|(?=\r\n\z)|(?=[\r\x{85}\x{2028}\x{2029}]\z)|(?<!\r)(?=\n\z))".into())),
            'R' => Ok(Escape::Other(format!(r"(?:\r\n|[{VERTICAL}])"))),
            'k' => {
                let mut name = String::new();
                if !self.eat("<") {
                    return Err(Untranslated::Invalid);
                }
                while let Some(c) = self.next().filter(|c| *c != '>') {
                    name.push(c);
                }
                if self.flags.ignores_case { unsupported(r"\k") } else { Ok(Escape::Other(format!(r"(?:\k<{name}>)"))) }
            }
            'G' | 'X' | 'N' => unsupported(format!("\\{c}")),
            _ if c.is_ascii_alphanumeric() => Err(Untranslated::Invalid),
            _ => Ok(Escape::Char(c)),
        }
    }

    fn number(&mut self, radix: u32, fewest: usize, most: usize) -> Translated<Escape> {
        let (mut value, mut digits) = (0u32, 0);
        while digits < most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value * radix + digit;
            digits += 1;
            self.at += 1;
        }
        if digits < fewest {
            return Err(Untranslated::Invalid);
        }
        match char::from_u32(value) {
            Some(c) => Ok(Escape::Char(c)),
            None => unsupported("half of a character"),
        }
    }

    /// `{name}` or one letter behind `\p`.
    fn property(&mut self, negated: bool) -> Translated<Escape> {
        let mut name = String::new();
        if self.eat("{") {
            loop {
                match self.next().ok_or(Untranslated::Invalid)? {
                    '}' => break,
                    c => name.push(c),
                }
            }
        } else {
            name.push(self.next().ok_or(Untranslated::Invalid)?);
        }
        let inside =
            property_class(&name, self.flags).ok_or_else(|| Untranslated::Unsupported(format!("\\p{{{name}}}")))?;
        Ok(Escape::Class(inside, negated))
    }

    /// A character class after its `[`.
    fn class(&mut self, out: &mut String, depth: usize) -> Translated<()> {
        if depth >= DEEPEST {
            return unsupported("classes that deep");
        }
        let by_unicode = self.flags.ignores_case && self.flags.unicode_case;
        out.push_str(if by_unicode { "(?i:[" } else { "[" });
        if by_unicode && depth > 0 {
            return unsupported("classes in classes without case");
        }
        if self.eat("^") {
            out.push('^');
        }
        let mut is_empty = true;
        loop {
            let c = self.next().ok_or(Untranslated::Invalid)?;
            match c {
                ']' if !is_empty => break,
                _ if self.flags.comments && c.is_ascii_whitespace() => continue,
                '[' => self.class(out, depth + 1)?,
                '&' if self.eat("&") => {
                    while self.eat("&") {}
                    if is_empty || self.peek() == Some(']') {
                        return unsupported("an intersection with nothing");
                    }
                    out.push_str("&&");
                    continue;
                }
                '\\' if self.eat("Q") => {
                    while self.at < self.chars.len() && !self.eat("\\E") {
                        if let Some(c) = self.next() {
                            self.push_range(out, c, c);
                        }
                    }
                }
                _ => {
                    let low = match if c == '\\' { self.escape()? } else { Escape::Char(c) } {
                        Escape::Char(c) => c,
                        Escape::Class(inside, negated) => {
                            out.push_str(&format!("[{}{inside}]", if negated { "^" } else { "" }));
                            is_empty = false;
                            continue;
                        }
                        Escape::Other(_) => return Err(Untranslated::Invalid),
                    };
                    let is_range = self.peek() == Some('-')
                        && self.chars.get(self.at + 1).is_some_and(|next| !matches!(next, ']' | '['));
                    let high = if is_range {
                        self.at += 1;
                        match self.next() {
                            Some('\\') => match self.escape()? {
                                Escape::Char(c) => c,
                                _ => return Err(Untranslated::Invalid),
                            },
                            Some(c) => c,
                            None => return Err(Untranslated::Invalid),
                        }
                    } else {
                        low
                    };
                    if high < low {
                        return Err(Untranslated::Invalid);
                    }
                    self.push_range(out, low, high);
                }
            }
            is_empty = false;
        }
        out.push_str(if by_unicode { "])" } else { "]" });
        Ok(())
    }

    fn push_range(&self, out: &mut String, low: char, high: char) {
        let mut push = |low: u32, high: u32| out.push_str(&format!(r"\x{{{low:X}}}-\x{{{high:X}}}"));
        let (low, high) = (u32::from(low), u32::from(high));
        push(low, high);
        if self.flags.ignores_case && !self.flags.unicode_case {
            for (from, to, other) in [('a', 'z', -32i32), ('A', 'Z', 32)] {
                let (l, h) = (low.max(u32::from(from)), high.min(u32::from(to)));
                if l <= h {
                    push(l.saturating_add_signed(other), h.saturating_add_signed(other));
                }
            }
        }
    }
}

/// A property of characters as the inside of a class.
fn property_class(name: &str, flags: Flags) -> Option<String> {
    const POSIX: [(&str, &str, &str); 13] = [
        ("Lower", "a-z", r"\p{Lowercase}"),
        ("Upper", "A-Z", r"\p{Uppercase}"),
        ("ASCII", r"\x00-\x7F", r"\x00-\x7F"),
        ("Alpha", "a-zA-Z", r"\p{Alphabetic}"),
        ("Digit", "0-9", r"\p{Nd}"),
        ("Alnum", "a-zA-Z0-9", r"\p{Alphabetic}\p{Nd}"),
        ("Punct", r"!-/:-@\x5B-`\x7B-~", r"\p{P}"),
        ("Graph", "!-~", r"[^\s\p{Cc}\p{Cs}\p{Cn}]"),
        ("Print", " -~", r"[[^\s\p{Cc}\p{Cs}\p{Cn}]\p{Zs}]"),
        ("Blank", r" \t", r"\t\p{Zs}"),
        ("Cntrl", r"\x00-\x1F\x7F", r"\p{Cc}"),
        ("XDigit", "0-9a-fA-F", r"\p{Nd}\p{Hex_Digit}"),
        ("Space", BLANKS, r"\s"),
    ];
    // Where case does not matter, it does not for these either.
    let cased = flags.ignores_case && matches!(name, "Lower" | "Upper");
    if let Some((_, ascii, unicode)) = POSIX.iter().find(|(known, ..)| *known == name) {
        let inside = if flags.unicode_classes { unicode } else { ascii };
        return Some(if cased { "a-zA-Z".to_owned() } else { (*inside).to_owned() });
    }
    const JAVA: [(&str, &str); 9] = [
        ("javaLowerCase", r"\p{Lowercase}"),
        ("javaUpperCase", r"\p{Uppercase}"),
        ("javaAlphabetic", r"\p{Alphabetic}"),
        ("javaDigit", r"\p{Nd}"),
        ("javaLetter", r"\p{L}"),
        ("javaLetterOrDigit", r"\p{L}\p{Nd}"),
        ("javaTitleCase", r"\p{Lt}"),
        ("javaSpaceChar", r"\p{Z}"),
        ("javaISOControl", r"\x{0}-\x{1F}\x{7F}-\x{9F}"),
    ];
    if let Some((_, inside)) = JAVA.iter().find(|(known, _)| *known == name) {
        return Some((*inside).to_owned());
    }
    if name == "javaWhitespace" {
        return Some(
            r"\t-\r\x{1C}-\x{1F}\x{20}\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200A}\x{2028}\x{2029}\x{205F}\x{3000}"
                .into(),
        );
    }
    if name == "L1" {
        return Some(r"\x{0}-\x{FF}".into());
    }
    if name == "all" {
        return Some(r"\x{0}-\x{10FFFF}".into());
    }
    let name = ["general_category=", "gc=", "script=", "sc="].iter().find_map(|p| name.strip_prefix(p)).unwrap_or(name);
    let known = match name.strip_prefix("Is") {
        Some(rest) => rest,
        None if name.starts_with("In") || name.contains('=') || name.starts_with("java") => return None,
        None => name,
    };
    let is_name = !known.is_empty() && known.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let class = format!(r"\p{{{known}}}");
    (is_name && regex::Regex::new(&class).is_ok()).then_some(class)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use fancy_regex::Regex;
    use proptest::prelude::*;

    fn find(pattern: &str, text: &str) -> Option<String> {
        let translation = translate(pattern).unwrap();
        let simple = !text.ends_with(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
        let pattern =
            if simple { translation.without_line_end.unwrap_or(translation.pattern) } else { translation.pattern };
        Regex::new(&pattern).unwrap().find(text).unwrap().map(|m| m.as_str().to_owned())
    }

    /// Results of Java's `Matcher.find`.
    #[test]
    fn finds_what_java_finds() {
        for (pattern, text, expected) in [
            (r"^\Qa.b\E$", "a.b", Some("a.b")),
            (r"^[\d-]+$", "1-2", Some("1-2")),
            (r"^\d$", "٣", None),
            (r"(?U)^\d$", "٣", Some("٣")),
            (r"(?<=a)b", "ab", Some("b")),
            (r"(a)\1", "xaax", Some("aa")),
            (r"\p{Alpha}+", "éab", Some("ab")),
            (r"\p{IsAlphabetic}+", "éab1", Some("éab")),
            (r"\p{L}", "é", Some("é")),
            (r"\p{IsGreek}", "xΩ", Some("Ω")),
            (r"\p{javaUpperCase}", "aB", Some("B")),
            (r"a\Z", "a\n", Some("a")),
            ("foo$", "foo\n", Some("foo")),
            ("foo$", "foo\nx", None),
            ("(?m)^bar$", "foo\nbar", Some("bar")),
            ("a.b", "a\rb", None),
            ("(?s)a.b", "a\nb", Some("a\nb")),
            (r"\h", "\t", Some("\t")),
            ("a*+b", "aaab", Some("aaab")),
            ("a*+a", "aaa", None),
            ("a{1,2}+a", "aa", None),
            ("(?>a+)b", "aab", Some("aab")),
            ("(?i)ab[c-d]", "ABD", Some("ABD")),
            ("(?i)é", "É", None),
            ("(?iu)é", "É", Some("É")),
            ("(?i:a)b", "Ab", Some("Ab")),
            ("(?i:a)b", "AB", None),
            ("[a-z&&[^b]]+", "abc", Some("a")),
            ("[a-c[x-z]]+", "axb", Some("axb")),
            ("[]a]+", "a]", Some("a]")),
            (r"(?x) a \s b # c", "a b", Some("a b")),
            (r"\x61\u0062\0143", "abc", Some("abc")),
            ("a}b", "a}b", Some("a}b")),
            ("(?<x>a)\\k<x>", "aa", Some("aa")),
            (r"\p{Punct}+", "a[{]", Some("[{]")),
        ] {
            assert_eq!(find(pattern, text).as_deref(), expected, "{pattern} in {text:?}");
        }
    }

    #[test]
    fn refuses() {
        for invalid in ["(", ")", "a**", "*a", "a{", "a{,2}", "[a", "[[]", "a{2,1}", r"\y", "(?<1>a)", "[b-a]", "\\"] {
            assert_eq!(translate(invalid), Err(Untranslated::Invalid), "{invalid}");
        }
        for unsupported in [r"\p{InGreek}", r"\G", r"\X", "(?i)(a)\\1", &"(".repeat(100)] {
            assert!(matches!(translate(unsupported), Err(Untranslated::Unsupported(_))), "{unsupported}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(pattern in r"[\[\](){}*+?.^$|\\&a-dQE0-9,:<>=!iPpwsx #é-]{0,20}") {
            if let Ok(translation) = translate(&pattern) {
                let _ = Regex::new(&translation.pattern);
            }
        }
    }
}
