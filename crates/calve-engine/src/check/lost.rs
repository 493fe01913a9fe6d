//! What failed statements would have defined: errors about it are told with the statement that failed, and not again.

use std::collections::{BTreeMap, BTreeSet};

use calve_planner::TablePath;
use calve_planner::tables::Reference;
use calve_sql::{LexemeKind, lexemes};
use calve_types::{Error, Span};

use super::names::advance;
use crate::catalogs::Catalogs;
use crate::resolve::full_path;

/// What a statement defines or changes, told by its first words: it may have no other meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Defined {
    /// A table or view.
    Object(Vec<String>),
    /// Columns of a table that stays as it was without them; `more` if they are not in the place of others.
    Columns { table: Vec<String>, columns: Vec<String>, more: bool },
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
                    ("TABLE" | "VIEW", _) if verb == "ALTER" => Self::by_change(name, &mut rest),
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

    /// What the change of an ALTER TABLE or ALTER VIEW defines: the object stays what it was if the statement fails.
    fn by_change<'a>(table: Vec<String>, rest: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> Self {
        match rest.next().unwrap_or_default().to_ascii_uppercase().as_str() {
            // the columns of the new query are not known
            "AS" => Self::Object(table),
            "RENAME" => {
                let is = |word: &&str| word.eq_ignore_ascii_case("TO");
                if rest.next_if(is).is_some() {
                    let Some(new) = name(rest).pop() else { return Self::Nothing };
                    let database = table.into_iter().rev().skip(1);
                    let mut parts: Vec<String> = database.collect();
                    parts.reverse();
                    parts.push(new);
                    return Self::Object(parts);
                }
                name(rest);
                rest.next_if(is);
                Self::Columns { table, columns: name(rest), more: false }
            }
            verb @ ("ADD" | "MODIFY") => match columns(rest) {
                columns if columns.is_empty() => Self::Nothing,
                columns => Self::Columns { table, columns, more: verb == "ADD" },
            },
            _ => Self::Nothing,
        }
    }
}

/// The columns among the elements of an ADD or MODIFY.
fn columns<'a>(rest: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> Vec<String> {
    let others = ["PRIMARY", "CONSTRAINT", "UNIQUE", "WATERMARK", "DISTRIBUTION", "PARTITION"];
    let is = |word: &str, one: &[&str]| one.iter().any(|w| w.eq_ignore_ascii_case(word));
    rest.next_if(|word| is(word, &["COLUMN", "COLUMNS"]));
    let is_list = rest.next_if_eq(&"(").is_some();
    let mut columns = vec![];
    let (mut depth, mut is_first) = (0_usize, true);
    while let Some(&word) = rest.peek() {
        if std::mem::take(&mut is_first) && !is(word, &others) {
            columns.extend(name(rest).pop());
            continue;
        }
        match word {
            "," if depth == 0 => is_first = true,
            "(" => depth = depth.saturating_add(1),
            ")" if depth == 0 => break,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if !is_list && columns.is_empty() {
            break;
        }
        rest.next();
    }
    columns
}

/// Words and symbols of a text, names without their quotes: enough for the head of a statement.
fn words(text: &str) -> Vec<String> {
    let code = lexemes(text).into_iter().filter(|l| !matches!(l.kind, LexemeKind::Comment | LexemeKind::Hint));
    let unquoted = |word: &str| match word.strip_prefix('`').and_then(|word| word.strip_suffix('`')) {
        Some(name) => name.replace("``", "`"),
        None => word.to_owned(),
    };
    // enough for the columns of an ALTER TABLE, and not the rows of an INSERT
    code.take(1000).filter_map(|lexeme| text.get(lexeme.range)).map(unquoted).collect()
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

/// The columns that a table would have.
#[derive(Debug, Default)]
struct Columns {
    names: BTreeSet<String>,
    /// Whether it would have more of them.
    more: bool,
}

/// The names that failed statements would have defined.
#[derive(Debug, Default)]
pub(super) struct Lost {
    objects: BTreeSet<TablePath>,
    columns: BTreeMap<TablePath, Columns>,
    catalogs: BTreeSet<String>,
    functions: BTreeSet<String>,
}

impl Lost {
    /// Adds what a failed statement would have defined.
    pub fn add(&mut self, defined: &Defined, catalogs: &Catalogs) {
        match defined {
            Defined::Object(parts) => self.objects.extend(full_path(catalogs, parts)),
            Defined::Columns { table, columns, more } => {
                let Some(path) = full_path(catalogs, table) else { return };
                let lost = self.columns.entry(path).or_default();
                lost.names.extend(columns.iter().cloned());
                lost.more |= more;
            }
            Defined::Catalog { name, .. } if !catalogs.contains(name) => {
                self.catalogs.insert(name.clone());
            }
            Defined::Function(name) => {
                self.functions.insert(name.to_ascii_uppercase());
            }
            Defined::Catalog { .. } | Defined::Database { .. } | Defined::Nothing => {}
        }
    }

    /// Takes out what a statement defined after all.
    pub fn find(&mut self, defined: &Defined, catalogs: &Catalogs) {
        if let Defined::Catalog { name, used: false } = defined {
            self.catalogs.remove(name);
        }
        if let Defined::Object(parts) = defined
            && let Some(path) = full_path(catalogs, parts)
        {
            self.objects.remove(&path);
            self.columns.remove(&path);
        }
    }

    /// Whether a statement fails because of what is lost: it names a table or a function that would be there, or a
    /// table of a catalog that cannot be opened.
    pub fn explains(&self, error: &Error, named: &[Reference], text: &str, place: Span, catalogs: &Catalogs) -> bool {
        let paths = || named.iter().filter_map(|reference| full_path(catalogs, &reference.parts));
        let is_unknown = matches!(error.code, "unknown-table" | "unknown-view" | "unknown-database");
        if paths().any(|path| self.objects.contains(&path) || is_unknown && self.catalogs.contains(&path.catalog)) {
            return true;
        }
        let mut columns = paths().filter_map(|path| self.columns.get(&path));
        let is_column = match error.code {
            "unknown-column" => {
                let written = error.span.and_then(|span| slice(text, place, span)).unwrap_or_default();
                let parts: Vec<&str> = written.split('.').map(|part| part.trim().trim_matches('`')).collect();
                columns.any(|lost| parts.iter().any(|part| lost.names.contains(*part)))
            }
            "sink-mismatch" => columns.any(|lost| lost.more),
            _ => false,
        };
        if is_column {
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
        at = advance(at, c);
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
        let columns = |names: &str, more| Defined::Columns {
            table: parts("t"),
            columns: names.split(' ').map(str::to_owned).collect(),
            more,
        };
        for (text, defined) in [
            ("CREATE TABLE t (", object("t")),
            ("-- c\ncreate temporary table if not exists `a`.b.c (x )", object("a.b.c")),
            ("CREATE OR REPLACE TABLE t AS SELEC", object("t")),
            ("CREATE VIEW v AS", object("v")),
            ("ALTER TABLE IF EXISTS t ADD", Defined::Nothing),
            ("ALTER TABLE d.t RENAME TO u", object("d.u")),
            ("ALTER TABLE t RENAME a TO `b`", columns("b", false)),
            ("ALTER TABLE t ADD x INTEGR", columns("x", true)),
            ("ALTER TABLE t ADD COLUMN x.y INT AFTER z", columns("y", true)),
            ("ALTER TABLE t ADD (a DECIMAL(10, 2), PRIMARY KEY (b, c) NOT ENFORCED, `d` INT) x", columns("a d", true)),
            ("ALTER TABLE t ADD PRIMARY KEY (b) NOT ENFORCED", Defined::Nothing),
            ("ALTER TABLE t MODIFY id STRING", columns("id", false)),
            ("ALTER TABLE t DROP x", Defined::Nothing),
            ("ALTER TABLE t SET ('a' = 'b')", Defined::Nothing),
            ("ALTER VIEW v AS SELECT", object("v")),
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
