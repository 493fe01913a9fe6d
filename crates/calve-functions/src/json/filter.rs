//! Conditions in JSON paths: `[?(@.price < 10 && @.name =~ /a.*/i)]`.

use std::borrow::Cow;
use std::cmp::Ordering;

use calve_types::Error;
use regex::Regex;

use super::eval;
use super::path::{Path, Unusable};
use super::scan::Json;
use crate::string::from_java;

/// How deep conditions may be nested, and how many steps a path may have.
pub(super) const LEVELS: usize = 100;

#[derive(Debug, Clone)]
pub(super) enum Filter {
    Any(Vec<Filter>),
    All(Vec<Filter>),
    Not(Box<Filter>),
    /// Whether a path leads to something.
    Exists(Operand),
    Compare(Operand, Comparison, Operand),
    /// `=~ /regular expression/`: of the whole text.
    Matches(Operand, Regex),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

#[derive(Debug, Clone)]
pub(super) enum Operand {
    /// `@.a`: from the value at hand.
    Here(Path),
    /// `$.a`
    Root(Path),
    Null,
    Boolean(bool),
    Number(String),
    Text(String),
}

/// What an operand is for one value.
enum Value<'a> {
    Undefined,
    Null,
    Boolean(bool),
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    Other,
}

/// The condition at the start of a text, `[?(..)]`, and its length in characters. `level`: conditions around it.
pub(super) fn parse(text: &str, level: usize) -> Result<(Filter, usize), Unusable> {
    let mut parser = Parser { rest: text };
    for sign in ["[", "?", "("] {
        parser.expect(sign)?;
    }
    let filter = parser.any(level)?;
    parser.expect(")")?;
    parser.expect("]")?;
    Ok((filter, text.chars().count() - parser.rest.chars().count()))
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn invalid<T>(&self) -> Result<T, Unusable> {
        Err(Unusable::Invalid(format!("Failed to parse filter: {}", self.rest)))
    }

    fn take(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(sign) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, sign: &str) -> Result<(), Unusable> {
        if self.take(sign) { Ok(()) } else { self.invalid() }
    }

    fn any(&mut self, level: usize) -> Result<Filter, Unusable> {
        if level > LEVELS {
            return self.invalid();
        }
        let mut filters = vec![self.all(level)?];
        while self.take("||") {
            filters.push(self.all(level)?);
        }
        Ok(Filter::Any(filters))
    }

    fn all(&mut self, level: usize) -> Result<Filter, Unusable> {
        let mut filters = vec![self.one(level)?];
        while self.take("&&") {
            filters.push(self.one(level)?);
        }
        Ok(Filter::All(filters))
    }

    fn one(&mut self, level: usize) -> Result<Filter, Unusable> {
        if level > LEVELS {
            return self.invalid();
        }
        if self.take("!") {
            return Ok(Filter::Not(Box::new(self.one(level + 1)?)));
        }
        if self.take("(") {
            let inner = self.any(level + 1)?;
            self.expect(")")?;
            return Ok(inner);
        }
        let left = self.operand(level)?;
        if self.take("=~") {
            return Ok(Filter::Matches(left, self.pattern()?));
        }
        for (sign, comparison) in COMPARISONS {
            if self.take(sign) {
                if self.rest.starts_with('=') {
                    return Err(Unusable::Unsupported(Error::unsupported(format!("'{sign}=' in a JSON path"))));
                }
                return Ok(Filter::Compare(left, comparison, self.operand(level)?));
            }
        }
        let word: String = self.rest.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
        if !word.is_empty() {
            return Err(Unusable::Unsupported(Error::unsupported(format!("'{word}' in a JSON path"))));
        }
        match left {
            Operand::Here(_) | Operand::Root(_) => Ok(Filter::Exists(left)),
            _ => self.invalid(),
        }
    }

    fn operand(&mut self, level: usize) -> Result<Operand, Unusable> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next() {
            Some(first @ ('@' | '$')) => {
                let path = Path::compile_inside(self.path(), level + 1)?;
                Ok(if first == '@' { Operand::Here(path) } else { Operand::Root(path) })
            }
            Some(quote @ ('\'' | '"')) => self.text(quote).map(Operand::Text),
            Some('-' | '0'..='9') => {
                let end = self.rest.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c)));
                let (number, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                self.rest = rest;
                match Json::parse(number).and_then(Json::as_number) {
                    Some(_) => Ok(Operand::Number(number.to_owned())),
                    None => self.invalid(),
                }
            }
            _ => {
                for (word, operand) in
                    [("true", Operand::Boolean(true)), ("false", Operand::Boolean(false)), ("null", Operand::Null)]
                {
                    if self.take(word) {
                        return Ok(operand);
                    }
                }
                self.invalid()
            }
        }
    }

    /// A path ends at a blank, a bracket that it did not open or the sign of an operator.
    fn path(&mut self) -> &'a str {
        let mut open = vec![];
        let mut quote = None;
        let mut escaped = false;
        let mut end = self.rest.len();
        for (at, c) in self.rest.char_indices() {
            match (quote, c) {
                (Some(_), _) if escaped => escaped = false,
                (Some(_), '\\') => escaped = true,
                (Some(q), c) if q == c => quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"') if !open.is_empty() => quote = Some(c),
                (None, '(' | '[') => open.push(c),
                (None, ')' | ']') if open.pop().is_some() => {}
                (None, ')' | ']' | ' ' | '=' | '!' | '<' | '>' | '&' | '|') if open.is_empty() => {
                    end = at;
                    break;
                }
                _ => {}
            }
        }
        let (path, rest) = self.rest.split_at(end);
        self.rest = rest;
        path
    }

    fn text(&mut self, quote: char) -> Result<String, Unusable> {
        let mut text = String::new();
        let mut chars = self.rest.chars();
        chars.next();
        while let Some(c) = chars.next() {
            match c {
                '\\' => text.extend(chars.next()),
                c if c == quote => {
                    self.rest = chars.as_str();
                    return Ok(text);
                }
                c => text.push(c),
            }
        }
        self.invalid()
    }

    /// `/pattern/flags`
    fn pattern(&mut self) -> Result<Regex, Unusable> {
        self.expect("/")?;
        let mut escaped = false;
        let end = self.rest.char_indices().find(|(_, c)| {
            let ends = *c == '/' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let Some((end, _)) = end else { return self.invalid() };
        let (pattern, rest) = self.rest.split_at(end);
        let rest = rest.get(1..).unwrap_or("");
        let flags = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (flags, rest) = rest.split_at(flags);
        self.rest = rest;
        let unsupported =
            || Unusable::Unsupported(Error::unsupported(format!("the regular expression '{pattern}' in a JSON path")));
        let known: String = flags.chars().filter(|c| "imsx".contains(*c)).collect();
        let flagged = if known.is_empty() { pattern.to_owned() } else { format!("(?{known}){pattern}") };
        // The whole text is matched, so `$` is its end.
        let translated = from_java(&flagged).ok_or_else(unsupported)?;
        Regex::new(&format!(r"\A(?:{translated})\z")).map_err(|_| unsupported())
    }
}

impl Operand {
    fn value<'a>(&'a self, here: Json<'a>, root: Json<'a>) -> Value<'a> {
        let found = match self {
            Self::Here(path) => eval::one(path, here, root),
            Self::Root(path) => eval::one(path, root, root),
            Self::Null => return Value::Null,
            Self::Boolean(value) => return Value::Boolean(*value),
            Self::Number(number) => return Value::Number(Cow::Borrowed(number)),
            Self::Text(text) => return Value::Text(Cow::Borrowed(text)),
        };
        match found {
            None => Value::Undefined,
            Some(json) if json.is_null() => Value::Null,
            Some(json) => match (json.as_text(), json.as_number(), json.as_boolean()) {
                (Some(text), _, _) => Value::Text(text),
                (_, Some(number), _) => Value::Number(Cow::Borrowed(number)),
                (_, _, Some(value)) => Value::Boolean(value),
                _ => Value::Other,
            },
        }
    }
}

fn shown(number: &str) -> String {
    let mut out = String::new();
    super::number::push(number, &mut out);
    out
}

fn numbers(a: &str, b: &str) -> Option<Ordering> {
    match (a.parse::<i64>(), b.parse::<i64>()) {
        (Ok(a), Ok(b)) => Some(a.cmp(&b)),
        _ => a.parse::<f64>().ok()?.partial_cmp(&b.parse::<f64>().ok()?),
    }
}

impl Filter {
    /// Whether a value passes.
    pub fn accepts(&self, here: Json<'_>, root: Json<'_>) -> bool {
        match self {
            Self::Any(filters) => filters.iter().any(|f| f.accepts(here, root)),
            Self::All(filters) => filters.iter().all(|f| f.accepts(here, root)),
            Self::Not(filter) => !filter.accepts(here, root),
            Self::Exists(operand) => !matches!(operand.value(here, root), Value::Undefined),
            Self::Matches(operand, regex) => match operand.value(here, root) {
                Value::Text(text) => regex.is_match(&text),
                Value::Number(number) => regex.is_match(&shown(&number)),
                Value::Boolean(value) => regex.is_match(if value { "true" } else { "false" }),
                _ => regex.is_match(""),
            },
            Self::Compare(left, comparison, right) => {
                compare(&left.value(here, root), *comparison, &right.value(here, root))
            }
        }
    }
}

fn compare(a: &Value<'_>, comparison: Comparison, b: &Value<'_>) -> bool {
    let order = match (a, b) {
        (Value::Number(a), Value::Number(b)) => numbers(a, b),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        _ => None,
    };
    let equal = || match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Boolean(a), Value::Boolean(b)) => a == b,
        // A text is compared with a number's text, a number with the text as a number.
        (Value::Text(a), Value::Number(b)) => *a == shown(b),
        (Value::Number(a), Value::Text(b)) => numbers(a, b) == Some(Ordering::Equal),
        _ => order == Some(Ordering::Equal),
    };
    match comparison {
        Comparison::Equal => equal(),
        Comparison::NotEqual => !equal(),
        Comparison::Less => order == Some(Ordering::Less),
        Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Greater => order == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    /// As Java's `Matcher.matches`.
    #[test]
    fn a_regular_expression_is_of_the_whole_text() {
        let matches = |pattern: &str, json: &str| {
            let (filter, _) = parse(&format!("[?(@ =~ {pattern})]"), 0).unwrap();
            let json = Json::parse(json).unwrap();
            filter.accepts(json, json)
        };
        assert!(matches(r"/\d+/", r#""12""#) && !matches(r"/\d+/", r#""12x""#));
        assert!(!matches(r"/\d+/", r#""\u0661""#), "ASCII digits");
        assert!(!matches("/a/m", r#""a\nb""#), "not of a line");
        assert!(matches("/A/i", r#""a""#));
    }
}
