//! Patterns of rows: which rows in a row match `A B+ C*? D{2,3}`.
//!
//! As Flink's CEP library does it: every row may begin a match, and each open match goes on with the next row or ends.
//! A greedy variable takes every row it can: what follows it gets only rows that it does not accept, so nothing is ever given
//! back. A reluctant one leaves both ways open.
//!
//! The work for a row grows with the matches that are open, and these with the rows since the first of them began.

use std::collections::VecDeque;
use std::ops::Range;

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

/// The rows of a match, which follow each other: its first row, and how many rows each of its variables has. Rows are
/// numbered as they come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Taken {
    first: u64,
    /// In the order of the pattern; without the variables that have no row.
    runs: Vec<(usize, u64)>,
}

impl Taken {
    /// The first row.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The last row's variable.
    pub fn variable(&self) -> Option<usize> {
        self.runs.last().map(|(element, _)| *element)
    }

    /// The rows of a variable, of all without one.
    pub fn rows(&self, variable: Option<usize>) -> Range<u64> {
        let (mut from, mut to) = (self.first, self.first);
        for (element, count) in &self.runs {
            if variable == Some(*element) {
                from = to;
            }
            to += count;
            if variable == Some(*element) {
                return from..to;
            }
        }
        if variable.is_none() { from..to } else { to..to }
    }

    /// The row behind the last one.
    fn after(&self) -> u64 {
        self.rows(None).end
    }

    /// Adds the next row, for this variable.
    fn push(&mut self, element: usize) {
        match self.runs.last_mut() {
            Some((last, count)) if *last == element => *count += 1,
            _ => self.runs.push((element, 1)),
        }
    }

    /// Takes the last row away.
    fn pop(&mut self) {
        match self.runs.last_mut() {
            Some((_, count)) if *count > 1 => *count -= 1,
            _ => drop(self.runs.pop()),
        }
    }

    /// The present variable, and how many rows it has.
    fn present(&self) -> (usize, u64) {
        self.runs.last().copied().unwrap_or_default()
    }
}

/// The matches of one sequence of rows.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    /// Those that have begun, in the order of their first rows.
    open: Vec<Taken>,
    /// Complete matches that wait for those that began before them, in the order of their first rows.
    complete: VecDeque<Taken>,
}

impl Matches {
    /// The first row that is still needed.
    pub fn oldest(&self) -> Option<u64> {
        let (open, complete) = (self.open.first().map(Taken::first), self.complete.front().map(Taken::first));
        open.into_iter().chain(complete).min()
    }

    /// Ends the open matches whose first row is too old; if one is, those that began before it are.
    ///
    /// # Errors
    /// What `is_over` says.
    pub fn expire(&mut self, mut is_over: impl FnMut(u64) -> Result<bool>) -> Result<()> {
        let mut ended = 0;
        for open in &self.open {
            if !is_over(open.first)? {
                break;
            }
            ended += 1;
        }
        self.open.drain(..ended);
        Ok(())
    }

    /// The bytes of the open and complete matches.
    pub fn size(&self) -> usize {
        let bytes = |taken: &Taken| size_of::<Taken>() + taken.runs.capacity() * size_of::<(usize, u64)>();
        self.open.iter().chain(&self.complete).map(bytes).sum()
    }

    /// Takes the next row; gives the matches that are settled by it. `accepts` says whether a variable, that of the last
    /// row of those it gets, may have that row.
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
        open.push(Taken { first: row, runs: vec![] });
        let waiting = self.complete.len();
        for before in open {
            for after in next(before, elements, accepts)? {
                if may_end(&after, elements) {
                    self.complete.push_back(after.clone());
                }
                if may_go_on(&after, elements) {
                    self.open.push(after);
                }
            }
        }
        if self.complete.len() > waiting {
            // a stable sort: what began first is settled first
            self.complete.make_contiguous().sort_by_key(Taken::first);
        }
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
        // open matches that are impossible, the first ones
        let mut gone = 0;
        while let Some(first) = self.complete.front().map(Taken::first) {
            if self.open.get(gone).is_some_and(|open| open.first < first) {
                break;
            }
            let Some(taken) = self.complete.pop_front() else { break };
            let end = pruned_before(&taken, elements, skip)?;
            while self.open.get(gone).is_some_and(|open| open.first < end) {
                gone += 1;
            }
            while self.complete.front().is_some_and(|other| other.first < end) {
                self.complete.pop_front();
            }
            settled.push(taken);
        }
        self.open.drain(..gone);
        Ok(settled)
    }
}

/// How a match goes on with the next row.
fn next(
    mut before: Taken,
    elements: &[Element],
    accepts: &mut dyn FnMut(&Taken) -> Result<bool>,
) -> Result<Vec<Taken>> {
    let mut found = vec![];
    let (mut element, mut count) = before.present();
    while let Some(variable) = elements.get(element) {
        let is_choice = variable.max != Some(variable.min);
        let has_room = variable.max.is_none_or(|max| count < u64::from(max));
        let is_greedy = is_choice && variable.greedy;
        // a greedy variable that is full keeps its rows from the next one all the same
        let mut takes = false;
        if has_room || is_greedy {
            before.push(element);
            takes = accepts(&before)?;
            if takes && has_room {
                found.push(before.clone());
            }
            before.pop();
        }
        if count < u64::from(variable.min) || takes && is_greedy {
            break;
        }
        (element, count) = (element + 1, 0);
    }
    Ok(found)
}

/// Whether a match has all it needs.
fn may_end(open: &Taken, elements: &[Element]) -> bool {
    let (element, count) = open.present();
    let own = elements.get(element).is_some_and(|element| count >= u64::from(element.min));
    own && elements.iter().skip(element + 1).all(|element| element.min == 0)
}

/// Whether a match may have more rows.
fn may_go_on(open: &Taken, elements: &[Element]) -> bool {
    let (element, count) = open.present();
    let has_room = |element: &Element| element.max.is_none_or(|max| count < u64::from(max));
    elements.get(element).is_some_and(has_room) || element + 1 < elements.len()
}

/// The first row with which another match may begin.
fn pruned_before(taken: &Taken, elements: &[Element], skip: Skip) -> Result<u64> {
    let (element, is_last) = match skip {
        Skip::ToNextRow => return Ok(taken.first + 1),
        Skip::PastLastRow => return Ok(taken.after()),
        Skip::ToFirst(element) => (element, false),
        Skip::ToLast(element) => (element, true),
    };
    let mut rows = taken.rows(Some(element));
    let name = elements.get(element).map(|e| e.name.as_str()).unwrap_or_default();
    match if is_last { rows.next_back() } else { rows.next() } {
        None => Err(failure(cannot_skip(
            format!("'{name}' has no row in a match"),
            format!("Could not skip to {name}. No such element in the found match"),
        ))),
        Some(row) if row == taken.first => Err(failure(cannot_skip(
            format!("'{name}' is the first row of a match, which would be found for ever"),
            "Could not skip to first element of a match.".to_owned(),
        ))),
        Some(row) => Ok(row),
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
                let name = elements[taken.variable().unwrap()].name.chars().next().unwrap();
                Ok(name == '?' || name == rows[taken.after() as usize - 1])
            };
            for taken in matches.row(row as u64, elements, skip, &mut accepts)? {
                found.push(taken.runs.iter().map(|(e, count)| elements[*e].name.repeat(*count as usize)).collect());
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
