//! Names: suggestions for misspelt ones and unique ones for results.

use std::collections::HashSet;

use calve_sql::ast;
use calve_types::{Error, Result, Span};

use super::span;

/// `did you mean 'x'?` for the candidate most like `name`.
pub(super) fn did_you_mean<'a>(error: Error, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Error {
    error.did_you_mean(name, candidates)
}

/// The identifiers of a dotted name.
pub(super) fn parts(name: &ast::ObjectName) -> Result<Vec<&ast::Ident>> {
    name.0.iter().map(|part| part.as_ident().ok_or_else(|| Error::unsupported(format!("the name {name}")))).collect()
}

/// The place of a dotted name.
pub(super) fn span_of(name: &ast::ObjectName) -> Span {
    span::idents(name.0.iter().filter_map(|part| part.as_ident()))
}

/// How a repeated name in a result is made unique, as Calcite does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suffix {
    /// The first free number from 0: `a, a0, a1`.
    Counting,
    /// The first free number from the column's position: `a, a1, a2`. Calcite uses it where it has to project hidden
    /// sort columns away.
    Position,
}

/// Names of a result's columns, repeated ones with a number.
pub(super) fn unique<'a>(names: impl IntoIterator<Item = &'a str>, suffix: Suffix) -> Vec<String> {
    let mut used = HashSet::new();
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        let mut candidate = name.to_owned();
        let mut number = if suffix == Suffix::Position { unique.len() } else { 0 };
        while !used.insert(candidate.clone()) {
            candidate = format!("{name}{number}");
            number += 1;
        }
        unique.push(candidate);
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_get_numbers() {
        assert_eq!(unique(["a", "a", "a"], Suffix::Counting), ["a", "a0", "a1"]);
        assert_eq!(unique(["a", "a0", "a"], Suffix::Counting), ["a", "a0", "a1"]);
        assert_eq!(unique(["name", "name"], Suffix::Position), ["name", "name1"]);
    }

    #[test]
    fn suggestions_are_other_names() {
        let hint = |name: &str, known: &[&str]| {
            did_you_mean(Error::new("unknown-column", "no"), name, known.iter().copied()).hint
        };
        assert_eq!(hint("ID", &["i", "id"]).as_deref(), Some("did you mean 'id'?"));
        assert_eq!(hint("nmae", &["id", "nmae", "name"]).as_deref(), Some("did you mean 'name'?"));
        assert_eq!(hint("zzzz", &["id", "name"]), None);
    }
}
