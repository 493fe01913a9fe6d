//! Patterns of rows: which rows in a row match `A B+ C*? D{2,3}`.
//!
//! As Flink's CEP library does it: every row may begin a match, and each open match goes on with the next row or ends.
//! A greedy variable takes every row it can: what follows it gets only rows that it does not accept, so nothing is ever given
//! back. A reluctant one leaves both ways open.
//!
//! The work for a row grows with the matches that are open, and these with the rows since the first of them began.

use std::collections::VecDeque;

use calve_types::Error;
use datafusion::common::Result;

use crate::operator::failure;

/// A variable of a pattern; a pattern is a list of them, each another one.
#[derive(Debug, Clone)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// How many rows it has at least.
    pub min: u32,
    /// How many rows it has at most; `None` for any number.
    pub max: Option<u32>,
    /// Whether it takes as many rows as it can.
    pub greedy: bool,
}

/// Where the next match may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// `AFTER MATCH SKIP TO NEXT ROW`: behind the first row of the match.
    ToNextRow,
    /// `AFTER MATCH SKIP PAST LAST ROW`
    PastLastRow,
    /// `AFTER MATCH SKIP TO FIRST v`
    ToFirst(usize),
    /// `AFTER MATCH SKIP TO LAST v`
    ToLast(usize),
}

/// Rows of a match in order, each with the variable that it is for; rows are numbered as they come.
pub(crate) type Taken = Vec<(usize, u64)>;

/// A match that has begun: it has so many rows of its present variable.
#[derive(Debug, Clone, Default)]
struct Open {
    element: usize,
    count: u32,
    taken: Taken,
}

/// The matches of one sequence of rows.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    open: Vec<Open>,
    /// Complete matches that wait for those that began before them.
    complete: VecDeque<Taken>,
}

fn start(taken: &Taken) -> u64 {
    taken.first().map_or(u64::MAX, |(_, row)| *row)
}

impl Matches {
    /// The first row that is still needed.
    pub fn oldest(&self) -> Option<u64> {
        self.open.iter().map(|open| start(&open.taken)).chain(self.complete.iter().map(start)).min()
    }

    /// The first rows of the open matches.
    pub fn starts(&self) -> impl Iterator<Item = u64> {
        self.open.iter().map(|open| start(&open.taken))
    }

    /// Ends the open matches that began at this row or before.
    pub fn drop_until(&mut self, row: u64) {
        self.open.retain(|open| start(&open.taken) > row);
    }

    /// How many rows the open and complete matches refer to.
    pub fn size(&self) -> usize {
        let rows = self.open.iter().map(|open| open.taken.len()).chain(self.complete.iter().map(Vec::len));
        rows.map(|rows| rows * size_of::<(usize, u64)>() + size_of::<Open>()).sum()
    }

    /// Takes the next row; gives the matches that are settled by it. `accepts` says whether a variable, the last one of the
    /// rows it gets, may have its last row.
    ///
    /// # Errors
    /// What `accepts` says, and a match behind which nothing can be skipped.
    pub fn row(
        &mut self,
        row: u64,
        elements: &[Element],
        skip: Skip,
        accepts: &mut dyn FnMut(&Taken) -> Result<bool>,
    ) -> Result<Vec<Taken>> {
        let mut open = std::mem::take(&mut self.open);
        open.push(Open::default());
        let mut complete = vec![];
        for before in open {
            for after in next(before, row, elements, accepts)? {
                if may_end(&after, elements) {
                    complete.push(after.taken.clone());
                }
                if may_go_on(&after, elements) {
                    self.open.push(after);
                }
            }
        }
        // a stable sort: what began first is settled first
        self.complete.extend(complete);
        self.complete.make_contiguous().sort_by_key(start);
        self.settle(elements, skip)
    }

    /// Ends all open matches; gives the complete ones that waited for them.
    ///
    /// # Errors
    /// As [`Self::row`].
    pub fn end(&mut self, elements: &[Element], skip: Skip) -> Result<Vec<Taken>> {
        self.open.clear();
        self.settle(elements, skip)
    }

    /// The complete matches that no match that began before them can make impossible.
    fn settle(&mut self, elements: &[Element], skip: Skip) -> Result<Vec<Taken>> {
        let mut settled = vec![];
        while let Some(first) = self.complete.front() {
            if self.open.iter().any(|open| start(&open.taken) < start(first)) {
                break;
            }
            let Some(taken) = self.complete.pop_front() else { break };
            let end = pruned_before(&taken, elements, skip)?;
            self.open.retain(|open| start(&open.taken) >= end);
            self.complete.retain(|other| start(other) >= end);
            settled.push(taken);
        }
        Ok(settled)
    }
}

/// How a match goes on with a row.
fn next(
    before: Open,
    row: u64,
    elements: &[Element],
    accepts: &mut dyn FnMut(&Taken) -> Result<bool>,
) -> Result<Vec<Open>> {
    let mut found = vec![];
    let mut taken = before.taken;
    let mut accepted = |element: usize, taken: &mut Taken| {
        taken.push((element, row));
        let accepted = accepts(taken);
        taken.pop();
        accepted
    };
    let with = |taken: &Taken, element: usize, count: u32| {
        let mut taken = taken.clone();
        taken.push((element, row));
        Open { element, count, taken }
    };
    let (mut element, mut count) = (before.element, before.count);
    while let Some(variable) = elements.get(element) {
        let is_choice = variable.max != Some(variable.min);
        let has_room = variable.max.is_none_or(|max| count < max);
        // a greedy variable that is full keeps its rows from the next one all the same
        let takes = (has_room || is_choice && variable.greedy) && accepted(element, &mut taken)?;
        if takes && has_room {
            found.push(with(&taken, element, count + 1));
        }
        if count < variable.min || takes && is_choice && variable.greedy {
            break;
        }
        (element, count) = (element + 1, 0);
    }
    Ok(found)
}

/// Whether a match has all it needs.
fn may_end(open: &Open, elements: &[Element]) -> bool {
    let own = elements.get(open.element).is_some_and(|element| open.count >= element.min);
    own && elements.iter().skip(open.element + 1).all(|element| element.min == 0)
}

/// Whether a match may have more rows.
fn may_go_on(open: &Open, elements: &[Element]) -> bool {
    let own = elements.get(open.element).is_some_and(|element| element.max.is_none_or(|max| open.count < max));
    own || open.element + 1 < elements.len()
}

/// The first row with which another match may begin.
fn pruned_before(taken: &Taken, elements: &[Element], skip: Skip) -> Result<u64> {
    let first = start(taken);
    let of = |element: usize, mut rows: Box<dyn Iterator<Item = &(usize, u64)> + '_>| {
        let row = rows.find(|(of, _)| *of == element).map(|(_, row)| *row);
        let name = elements.get(element).map(|e| e.name.as_str()).unwrap_or_default();
        match row {
            None => Err(failure(cannot_skip(
                format!("'{name}' has no row in a match"),
                format!("Could not skip to {name}. No such element in the found match"),
            ))),
            Some(row) if row == first => Err(failure(cannot_skip(
                format!("'{name}' is the first row of a match, which would be found for ever"),
                "Could not skip to first element of a match.".to_owned(),
            ))),
            Some(row) => Ok(row),
        }
    };
    match skip {
        Skip::ToNextRow => Ok(first + 1),
        Skip::PastLastRow => Ok(taken.last().map_or(0, |(_, row)| row + 1)),
        Skip::ToFirst(element) => of(element, Box::new(taken.iter())),
        Skip::ToLast(element) => of(element, Box::new(taken.iter().rev())),
    }
}

fn cannot_skip(why: String, detail: String) -> Error {
    Error::new("cannot-skip", format!("AFTER MATCH SKIP has nowhere to go: {why}"))
        .with_detail(detail)
        .with_hint("skip to a variable that always has a row behind the first one, or PAST LAST ROW")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn element(name: &str, min: u32, max: Option<u32>, greedy: bool) -> Element {
        Element { name: name.to_owned(), min, max, greedy }
    }

    /// The matches in rows, which are letters: a variable accepts its own letter, and `?` accepts all.
    fn matches(elements: &[Element], skip: Skip, rows: &str) -> Result<Vec<String>> {
        let rows: Vec<char> = rows.chars().collect();
        let mut matches = Matches::default();
        let mut found = vec![];
        for row in 0..rows.len() {
            let mut accepts = |taken: &Taken| {
                let (element, row) = *taken.last().unwrap();
                let name = elements[element].name.chars().next().unwrap();
                Ok(name == '?' || name == rows[row as usize])
            };
            for taken in matches.row(row as u64, elements, skip, &mut accepts)? {
                found.push(taken.iter().map(|(element, _)| elements[*element].name.as_str()).collect());
            }
        }
        Ok(found)
    }

    #[test]
    fn greedy_variables_give_nothing_back() {
        let pattern = [element("a", 1, None, true), element("?", 1, Some(1), true)];
        assert_eq!(matches(&pattern, Skip::ToNextRow, "aab").unwrap(), ["aa?", "a?"]);
        assert!(matches(&pattern, Skip::ToNextRow, "aaa").unwrap().is_empty());
        // also where they are full
        let pattern = [element("a", 1, Some(2), true), element("?", 1, Some(1), true)];
        assert_eq!(matches(&pattern, Skip::ToNextRow, "aaab").unwrap(), ["aa?", "a?"]);
        let pattern = [element("a", 2, Some(2), true), element("?", 1, Some(1), true)];
        assert_eq!(matches(&pattern, Skip::ToNextRow, "aaa").unwrap(), ["aa?"]);
    }

    #[test]
    fn reluctant_variables_end_early() {
        let pattern = [element("?", 0, None, false), element("b", 1, Some(1), true)];
        assert_eq!(matches(&pattern, Skip::PastLastRow, "xxbxb").unwrap(), ["??b", "?b"]);
        let pattern = [element("a", 1, Some(1), true), element("b", 1, None, false)];
        assert_eq!(matches(&pattern, Skip::ToNextRow, "abb").unwrap(), ["ab"]);
    }

    #[test]
    fn optional_variables() {
        let pattern = [element("a", 0, Some(1), true), element("b", 0, None, true), element("c", 1, Some(1), true)];
        assert_eq!(matches(&pattern, Skip::ToNextRow, "acbbcc").unwrap(), ["ac", "c", "bbc", "bc", "c", "c"]);
        assert_eq!(matches(&pattern, Skip::PastLastRow, "acbbcc").unwrap(), ["ac", "bbc", "c"]);
    }

    #[test]
    fn skips_to_variables() {
        let pattern = [element("a", 1, Some(1), true), element("b", 0, None, true), element("a", 1, Some(1), true)];
        assert_eq!(matches(&pattern, Skip::ToLast(2), "ababa").unwrap(), ["aba", "aba"]);
        assert_eq!(matches(&pattern, Skip::PastLastRow, "ababa").unwrap(), ["aba"]);
        let error = matches(&pattern, Skip::ToFirst(1), "aa").unwrap_err().to_string();
        assert!(error.contains("'b' has no row"), "{error}");
        let error = matches(&pattern, Skip::ToFirst(0), "aa").unwrap_err().to_string();
        assert!(error.contains("first row"), "{error}");
    }

    #[test]
    fn a_match_waits_for_those_that_began_before_it() {
        let pattern = [element("a", 1, Some(1), true), element("?", 1, None, false), element("c", 1, Some(1), true)];
        // the match of the second row is complete first, but the first row's may still come
        assert_eq!(matches(&pattern, Skip::ToNextRow, "aaxc").unwrap(), ["a??c", "a?c"]);
        let pattern = [element("a", 0, Some(1), true), element("b", 1, Some(1), true)];
        assert_eq!(matches(&pattern, Skip::ToNextRow, "ab").unwrap(), ["ab", "b"]);
    }
}
