//! What failed statements would have defined: errors about it are told with the statement that failed, and not again.

use std::collections::BTreeSet;

use calve_planner::TablePath;
use calve_planner::tables::Reference;
use calve_sql::{LexemeKind, lexemes};
use calve_types::{Error, Location, Span};

use crate::catalogs::Catalogs;
use crate::resolve::full_path;

/// What a statement defines or changes, told by its first words: it may have no other meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Defined {
    /// A table or view.
    Object(Vec<String>),
    /// A catalog; `used` by USE CATALOG.
    Catalog { name: String, used: bool },
    /// A database; `used` by USE.
    Database { parts: Vec<String>, used: bool },
    /// A function.
    Function(String),
    /// Nothing that others could miss.
    Nothing,
}

impl Defined {
    /// What a statement of this text defines.
    pub fn by(text: &str) -> Self {
        let words = words(text);
        let mut rest = words.iter().map(String::as_str).peekable();
        let verb = rest.next().unwrap_or_default().to_ascii_uppercase();
        let skip = |rest: &mut std::iter::Peekable<_>, words: &[&str]| -> bool {
            let skipped = rest.next_if(|word: &&str| words.iter().any(|w| w.eq_ignore_ascii_case(word)));
            skipped.is_some()
        };
        match verb.as_str() {
            "CREATE" | "ALTER" | "REPLACE" => {
                while skip(&mut rest, &["OR", "REPLACE", "TEMPORARY", "SYSTEM", "MATERIALIZED"]) {}
                let kind = rest.next().unwrap_or_default().to_ascii_uppercase();
                while skip(&mut rest, &["IF", "NOT", "EXISTS"]) {}
                let name = name(&mut rest);
                match (kind.as_str(), name.as_slice()) {
                    (_, []) => Self::Nothing,
                    ("TABLE" | "VIEW", _) => Self::Object(name),
                    ("CATALOG", [catalog]) => Self::Catalog { name: catalog.clone(), used: false },
                    ("DATABASE", _) => Self::Database { parts: name, used: false },
                    ("FUNCTION", [.., function]) => Self::Function(function.clone()),
                    _ => Self::Nothing,
                }
            }
            "USE" if skip(&mut rest, &["CATALOG"]) => match name(&mut rest).as_slice() {
                [catalog] => Self::Catalog { name: catalog.clone(), used: true },
                _ => Self::Nothing,
            },
            "USE" if !skip(&mut rest, &["MODULES"]) => match name(&mut rest) {
                parts if parts.is_empty() => Self::Nothing,
                parts => Self::Database { parts, used: true },
            },
            _ => Self::Nothing,
        }
    }
}

/// Words and symbols of a text, names without their quotes: enough for the head of a statement.
fn words(text: &str) -> Vec<String> {
    let code = lexemes(text).into_iter().filter(|l| !matches!(l.kind, LexemeKind::Comment | LexemeKind::Hint));
    let unquoted = |word: &str| match word.strip_prefix('`').and_then(|word| word.strip_suffix('`')) {
        Some(name) => name.replace("``", "`"),
        None => word.to_owned(),
    };
    code.take(24).filter_map(|lexeme| text.get(lexeme.range)).map(unquoted).collect()
}

/// A name of parts with dots between them.
fn name<'a>(rest: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> Vec<String> {
    let mut parts = vec![];
    while let Some(part) = rest.next_if(|word| word.starts_with(|c: char| c.is_alphanumeric() || c == '_')) {
        parts.push(part.to_owned());
        if rest.next_if_eq(&".").is_none() {
            break;
        }
    }
    parts
}

/// The names that failed statements would have defined.
#[derive(Debug, Default)]
pub(super) struct Lost {
    objects: BTreeSet<TablePath>,
    catalogs: BTreeSet<String>,
    functions: BTreeSet<String>,
}

impl Lost {
    /// Adds what a failed statement would have defined.
    pub fn add(&mut self, defined: &Defined, catalogs: &Catalogs) {
        match defined {
            Defined::Object(parts) => self.objects.extend(full_path(catalogs, parts)),
            Defined::Catalog { name, .. } if !catalogs.contains(name) => {
                self.catalogs.insert(name.clone());
            }
            Defined::Function(name) => {
                self.functions.insert(name.to_ascii_uppercase());
            }
            Defined::Catalog { .. } | Defined::Database { .. } | Defined::Nothing => {}
        }
    }

    /// Whether a statement fails because of what is lost: it names a table or a function that would be there, or a
    /// table of a catalog that cannot be opened.
    pub fn explains(&self, error: &Error, named: &[Reference], text: &str, place: Span, catalogs: &Catalogs) -> bool {
        let mut paths = named.iter().filter_map(|reference| full_path(catalogs, &reference.parts));
        let is_unknown = matches!(error.code, "unknown-table" | "unknown-view" | "unknown-database");
        if paths.any(|path| self.objects.contains(&path) || is_unknown && self.catalogs.contains(&path.catalog)) {
            return true;
        }
        let current = catalogs.current().0;
        if error.code == "unknown-database" && self.catalogs.contains(current) {
            return true;
        }
        error.code == "unknown-function"
            && error.span.and_then(|span| slice(text, place, span)).is_some_and(|name| self.has_function(&name))
    }

    fn has_function(&self, text: &str) -> bool {
        let name: String = text.chars().take_while(|c| *c != '(').filter(|c| *c != '`').collect();
        let name = name.rsplit('.').next().unwrap_or_default().trim().to_ascii_uppercase();
        self.functions.contains(&name)
    }
}

/// The part of a statement's text from the beginning of a span, which is a place of the script.
fn slice(text: &str, place: Span, span: Span) -> Option<String> {
    let code = lexemes(text).into_iter().find(|lexeme| lexeme.kind != LexemeKind::Comment)?;
    let mut at = place.start;
    let mut found = String::new();
    for c in text.get(code.range.start..)?.chars() {
        if at >= span.start {
            found.push(c);
        }
        at = match c {
            '\n' => Location { line: at.line.saturating_add(1), column: 1 },
            _ => Location { line: at.line, column: at.column.saturating_add(1) },
        };
        if at >= span.end {
            break;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(name: &str) -> Vec<String> {
        name.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn the_head_of_a_statement_tells_what_it_defines() {
        let object = |name: &str| Defined::Object(parts(name));
        for (text, defined) in [
            ("CREATE TABLE t (", object("t")),
            ("-- c\ncreate temporary table if not exists `a`.b.c (x )", object("a.b.c")),
            ("CREATE OR REPLACE TABLE t AS SELEC", object("t")),
            ("CREATE VIEW v AS", object("v")),
            ("ALTER TABLE IF EXISTS t ADD", object("t")),
            ("CREATE MATERIALIZED TABLE t", object("t")),
            ("CREATE CATALOG c WITH (", Defined::Catalog { name: "c".to_owned(), used: false }),
            ("USE CATALOG c", Defined::Catalog { name: "c".to_owned(), used: true }),
            ("USE c.d", Defined::Database { parts: parts("c.d"), used: true }),
            ("CREATE DATABASE IF NOT EXISTS d", Defined::Database { parts: parts("d"), used: false }),
            ("CREATE TEMPORARY SYSTEM FUNCTION f AS 'x'", Defined::Function("f".to_owned())),
            ("USE MODULES a", Defined::Nothing),
            ("CREATE TABLE", Defined::Nothing),
            ("SELECT 1", Defined::Nothing),
            ("", Defined::Nothing),
        ] {
            assert_eq!(Defined::by(text), defined, "{text}");
        }
    }
}
