//! JSON paths as Flink reads them: `[strict|lax] path`, the path in the language of Jayway's JsonPath.
//!
//! The compiler follows Jayway's, with its leniency: a path without `$` begins at the root, and one last character that
//! begins nothing is not looked at (`$.a[`).

use std::sync::LazyLock;

use calve_types::Error;
use regex::Regex;

use super::filter::{self, Filter};

/// A step from a value to others.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// `.a`, `['a']`
    Property(String),
    /// `['a','b']`
    Properties(Vec<String>),
    /// `[0]`, `[-1]`
    Index(i64),
    /// `[0,1]`
    Indices(Vec<i64>),
    /// `[1:3]`, `[:2]`, `[-1:]`
    Slice(Option<i64>, Option<i64>),
    /// `.*`, `[*]`
    Wildcard,
    /// `..`
    Scan,
    /// `[?(..)]`
    Filter(Filter),
    /// `.length()`, `.size()`
    Length,
    /// `.keys()`
    Keys,
}

/// A path, compiled.
#[derive(Debug, Clone)]
pub(super) struct Path {
    pub steps: Vec<Step>,
}

/// Why a path cannot be used.
#[derive(Debug, Clone)]
pub(super) enum Unusable {
    /// It is no path; the functions treat it as an error in the data, with this sentence of Flink's.
    Invalid(String),
    /// calve does not have it: the statement fails.
    Unsupported(Error),
}

impl Path {
    /// Whether it leads to one value at most; else the result is an array of all.
    pub fn is_definite(&self) -> bool {
        let last = self.steps.len().saturating_sub(1);
        self.steps.iter().enumerate().all(|(at, step)| match step {
            Step::Property(_) | Step::Index(_) | Step::Length | Step::Keys => true,
            Step::Properties(_) => at == last,
            _ => false,
        })
    }

    pub fn compile(text: &str) -> Result<Self, Unusable> {
        Self::compile_inside(text, 0)
    }

    /// A path inside of so many conditions.
    pub fn compile_inside(text: &str, level: usize) -> Result<Self, Unusable> {
        let text = if text.starts_with(['$', '@']) { text.to_owned() } else { format!("$.{text}") };
        let text = text.trim_matches(' ');
        if text.ends_with('.') {
            return Err(Unusable::Invalid("Path must not end with a '.' or '..'".into()));
        }
        let chars: Vec<char> = text.chars().collect();
        let mut compiler = Compiler { chars: &chars, at: 1, steps: vec![], level };
        if chars.len() > 1 {
            if !matches!(compiler.current(), Some('.' | '[')) {
                return Err(Unusable::Invalid("Illegal character at position 1 expected '.' or '['".into()));
            }
            while !compiler.step()? {}
        }
        let path = Self { steps: compiler.steps };
        if path.steps.len() > filter::LEVELS {
            return Err(Unusable::Unsupported(Error::unsupported("JSON paths of so many steps")));
        }
        Ok(path)
    }
}

struct Compiler<'a> {
    chars: &'a [char],
    at: usize,
    steps: Vec<Step>,
    /// The conditions around the path.
    level: usize,
}

fn invalid<T>(message: impl Into<String>) -> Result<T, Unusable> {
    Err(Unusable::Invalid(message.into()))
}

impl Compiler<'_> {
    fn current(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// The first character that is no blank behind a place, and where it is.
    fn significant(&self, at: usize) -> Option<(usize, char)> {
        self.chars.iter().copied().enumerate().skip(at + 1).find(|(_, c)| *c != ' ')
    }

    /// Whether nothing is left; as in Jayway, one last character does not count.
    fn is_tail(&self) -> bool {
        self.at + 1 >= self.chars.len()
    }

    fn text(&self, from: usize, to: usize) -> String {
        self.chars.get(from..to).unwrap_or_default().iter().collect()
    }

    fn rest(&self) -> String {
        self.text(self.at, self.chars.len())
    }

    /// Reads a step; whether it was the last one.
    fn step(&mut self) -> Result<bool, Unusable> {
        if self.current() == Some('.') {
            if self.chars.get(self.at + 1) == Some(&'.') {
                self.steps.push(Step::Scan);
                self.at += 2;
            } else {
                self.at += 1;
            }
            if self.current() == Some('.') {
                return invalid(format!("Character '.' on position {} is not valid.", self.at));
            }
        }
        match self.current() {
            Some('[') => self.bracket()?,
            Some('*') => {
                self.steps.push(Step::Wildcard);
                self.at += 1;
            }
            Some(c) if c != ' ' => self.property()?,
            _ => return invalid(format!("Could not parse token starting at position {}", self.at)),
        }
        Ok(self.is_tail())
    }

    fn property(&mut self) -> Result<(), Unusable> {
        let start = self.at;
        let mut end = start;
        while let Some(c) = self.chars.get(end) {
            match c {
                ' ' => {
                    return invalid(format!(
                        "Use bracket notion ['my prop'] if your property contains blank characters. position: {start}"
                    ));
                }
                '.' | '[' => break,
                '(' => return self.function(start, end),
                _ => end += 1,
            }
        }
        self.steps.push(Step::Property(self.text(start, end)));
        self.at = end;
        Ok(())
    }

    fn function(&mut self, start: usize, end: usize) -> Result<(), Unusable> {
        const OTHERS: [&str; 11] =
            ["avg", "stddev", "sum", "min", "max", "concat", "append", "first", "last", "index", "keys"];
        let name = self.text(start, end);
        let step = match name.as_str() {
            "length" | "size" => Step::Length,
            "keys" => Step::Keys,
            other if OTHERS.contains(&other) => {
                return Err(Unusable::Unsupported(Error::unsupported(format!("{other}() in a JSON path"))));
            }
            other => return invalid(format!("Function with name: {other} does not exist.")),
        };
        let Some((close, ')')) = self.significant(end) else {
            return Err(Unusable::Unsupported(Error::unsupported(format!("arguments of {name}() in a JSON path"))));
        };
        // What it would count were all values that the path leads to.
        if !(Path { steps: self.steps.clone() }).is_definite() {
            return Err(Unusable::Unsupported(Error::unsupported(format!(
                "{name}() of more than one value in a JSON path"
            ))));
        }
        self.steps.push(step);
        self.at = close + 1;
        if self.at < self.chars.len() {
            return Err(Unusable::Unsupported(Error::unsupported(format!("steps after {name}() in a JSON path"))));
        }
        Ok(())
    }

    fn bracket(&mut self) -> Result<(), Unusable> {
        match self.significant(self.at) {
            Some((_, quote @ ('\'' | '"'))) => self.properties(quote),
            Some((_, '0'..='9' | '-' | ':')) => self.indices(),
            Some((star, '*')) => match self.significant(star) {
                Some((close, ']')) => {
                    self.steps.push(Step::Wildcard);
                    self.at = close + 1;
                    Ok(())
                }
                _ => invalid(format!("Expected wildcard token to end with ']' on position {}", star + 1)),
            },
            Some((question, '?')) if matches!(self.significant(question), Some((_, '('))) => {
                let (filter, length) = filter::parse(&self.rest(), self.level)?;
                self.steps.push(Step::Filter(filter));
                self.at += length;
                Ok(())
            }
            _ => invalid(format!("Could not parse token starting at position {}: {}", self.at, self.rest())),
        }
    }

    /// `['a', "b"]`
    fn properties(&mut self, quote: char) -> Result<(), Unusable> {
        let mut names = vec![];
        let mut at = self.at + 1;
        loop {
            while self.chars.get(at) == Some(&' ') {
                at += 1;
            }
            if self.chars.get(at) != Some(&quote) {
                return invalid(format!("Found empty property at index {at}"));
            }
            let mut name = String::new();
            loop {
                at += 1;
                match self.chars.get(at) {
                    Some('\\') => {
                        at += 1;
                        at += self.escape(at, &mut name);
                    }
                    Some(c) if *c == quote => break,
                    Some(c) => name.push(*c),
                    None => return invalid(format!("Property has not been closed - missing closing {quote}")),
                }
            }
            names.push(name);
            match self.significant(at) {
                Some((comma, ',')) => at = comma + 1,
                Some((close, ']')) => {
                    self.at = close + 1;
                    break;
                }
                _ => {
                    return invalid(format!(
                        "Property must be separated by comma or Property must be terminated close square bracket at \
                         index {at}"
                    ));
                }
            }
        }
        self.steps.push(match <[String; 1]>::try_from(names) {
            Ok([name]) => Step::Property(name),
            Err(names) => Step::Properties(names),
        });
        Ok(())
    }

    /// Appends the character of the escape whose letter is at `at`; how many characters it takes beyond its letter.
    fn escape(&self, at: usize, name: &mut String) -> usize {
        match self.chars.get(at) {
            Some('u') => {
                let code = u32::from_str_radix(&self.text(at + 1, at + 5), 16).ok().and_then(char::from_u32);
                name.push(code.unwrap_or('?'));
                return 4;
            }
            Some('b') => name.push('\u{8}'),
            Some('f') => name.push('\u{C}'),
            Some('n') => name.push('\n'),
            Some('r') => name.push('\r'),
            Some('t') => name.push('\t'),
            Some(other) => name.push(*other),
            None => {}
        }
        0
    }

    /// `[1]`, `[1,2]`, `[1:2]`
    fn indices(&mut self) -> Result<(), Unusable> {
        let close = self.chars.iter().enumerate().skip(self.at).find(|(_, c)| **c == ']').map(|(at, _)| at);
        let Some(close) = close else {
            return invalid(format!("Could not parse token starting at position {}: {}", self.at, self.rest()));
        };
        let text = self.text(self.at + 1, close);
        if !text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '-' | ':' | ' ')) {
            return invalid(format!("Could not parse token starting at position {}: {}", self.at, self.rest()));
        }
        let text = text.trim();
        let number = |part: &str| match part.trim().parse::<i32>() {
            Ok(number) => Ok(i64::from(number)),
            Err(_) => invalid(format!("Failed to parse token in ArrayIndexOperation: {part}")),
        };
        self.steps.push(if text.contains(':') {
            let mut bounds = text.split(':');
            let mut bound = || match bounds.next().map(str::trim) {
                None | Some("") => Ok(None),
                Some(part) => number(part).map(Some),
            };
            match (bound()?, bound()?) {
                (None, None) => return invalid("Failed to parse SliceOperation: ".to_owned() + text),
                (from, to) => Step::Slice(from, to),
            }
        } else {
            match text.split(',').map(number).collect::<Result<Vec<_>, _>>()?.as_slice() {
                [index] => Step::Index(*index),
                indices => Step::Indices(indices.to_vec()),
            }
        });
        self.at = close + 1;
        Ok(())
    }
}

/// A path with its mode, as the second argument of a function has it.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    /// `lax`: what is not there is empty. Without it, `strict`: it is an error.
    pub is_lax: bool,
    pub path: Result<Path, Unusable>,
}

static MODE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?is)^\s*(strict|lax)\s+(.+)$").ok());

impl Spec {
    pub fn parse(text: &str) -> Self {
        let captures = MODE.as_ref().and_then(|mode| mode.captures(text));
        let part = |at: usize| captures.as_ref().and_then(|c| c.get(at)).map(|m| m.as_str());
        let is_lax = part(1).is_some_and(|mode| mode.eq_ignore_ascii_case("lax"));
        let path = part(2).unwrap_or(text);
        let path = if path.is_empty() {
            invalid("path can not be null or empty")
        } else {
            Path::compile(path).map_err(|unusable| match unusable {
                Unusable::Invalid(_) => Unusable::Invalid(format!(
                    "Illegal jsonpath spec '{text}', format of the spec should be: '<lax|strict> ${{expr}}'"
                )),
                unsupported => unsupported,
            })
        };
        Self { is_lax, path }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_nested_so_deep_only() {
        let nested = |levels: usize| format!("$.a{}{}", "[?(@.a".repeat(levels), ")]".repeat(levels));
        assert!(Spec::parse(&nested(3)).path.is_ok());
        assert!(Spec::parse(&nested(filter::LEVELS + 2)).path.is_err());
        assert!(Spec::parse(&"[?(@".repeat(10_000)).path.is_err(), "and no stack overflows");
    }
}
