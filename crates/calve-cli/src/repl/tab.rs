//! The Tab key: continues what is typed, or lists what it could become.
//!
//! The list is printed here and not by the line editor, which would draw input of several lines over it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use rustyline::{Cmd, ConditionalEventHandler, Event, EventContext, RepeatCount};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::complete::{Completion, Step};
use super::screen::Size;

/// Where the input is drawn.
#[derive(Debug, Clone)]
pub struct Place(Arc<Mutex<(Size, usize)>>);

impl Default for Place {
    fn default() -> Self {
        Self(Arc::new(Mutex::new((Size { columns: 80, rows: 24 }, 0))))
    }
}

impl Place {
    /// The input will be drawn on a terminal of that size, behind that prompt.
    pub fn set(&self, size: Size, prompt: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (size, prompt.width());
    }

    fn get(&self) -> (Size, usize) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the key does.
#[derive(Debug)]
pub struct TabKey {
    completion: Completion,
    place: Place,
}

impl TabKey {
    /// Completes input that is drawn at that place.
    pub fn new(completion: Completion, place: Place) -> Self {
        Self { completion, place }
    }
}

impl ConditionalEventHandler for TabKey {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let (text, at) = (context.line(), context.pos());
        Some(match self.completion.step(text, at) {
            Step::Nothing => Cmd::Noop,
            Step::Replace(..) => Cmd::Complete,
            Step::List(candidates) => {
                let (size, prompt) = self.place.get();
                let drawn = below_input(&list(&candidates, size), text, at, size, prompt);
                let mut stdout = io::stdout().lock();
                // the editor will find out that the terminal is gone
                let _ = stdout.write_all(drawn.as_bytes()).and_then(|()| stdout.flush());
                Cmd::Repaint
            }
        })
    }
}

/// The candidates in columns, at most a screenful.
fn list(candidates: &[String], size: Size) -> Vec<String> {
    let widest = candidates.iter().map(|c| c.width()).max().unwrap_or(0) + 2;
    let columns = (size.columns / widest).max(1);
    let rows = size.rows.saturating_sub(4).max(1);
    let shown = candidates.len().min(columns.saturating_mul(rows));
    let height = shown.div_ceil(columns).max(1);
    let mut lines = vec![String::new(); height.min(shown)];
    for (n, candidate) in candidates.iter().take(shown).enumerate() {
        if let Some(line) = lines.get_mut(n % height) {
            let pad = (n / height * widest).saturating_sub(line.width());
            line.extend(std::iter::repeat_n(' ', pad));
            line.push_str(candidate);
        }
    }
    if shown < candidates.len() {
        lines.push(format!("... and {} more", candidates.len() - shown));
    }
    lines
}

/// What prints lines below the input. It leaves the cursor where the editor believes it is: as far below the lines as it
/// was below the beginning of the input.
fn below_input(lines: &[String], text: &str, at: usize, size: Size, prompt: usize) -> String {
    let end = row_at_end(text, size.columns, prompt);
    let cursor = row_at_end(text.get(..at).unwrap_or(text), size.columns, prompt).min(end);
    let down = end - cursor;
    let mut drawn = String::new();
    if down > 0 {
        drawn += &format!("\x1b[{down}B");
    }
    for line in lines {
        drawn += "\r\n";
        drawn += line;
    }
    drawn += "\r\n";
    drawn.extend(std::iter::repeat_n('\n', end));
    if down > 0 {
        drawn += &format!("\x1b[{down}A");
    }
    drawn
}

/// The row in which text ends that is drawn behind a prompt, from 0.
fn row_at_end(text: &str, columns: usize, prompt: usize) -> usize {
    let columns = columns.max(1);
    let (mut row, mut column) = (0, prompt);
    for c in text.chars() {
        let width = match c {
            '\n' => {
                row += 1;
                column = 0;
                continue;
            }
            '\t' => super::TAB_STOP - column % super::TAB_STOP,
            c => c.width().unwrap_or(0),
        };
        column += width;
        if column > columns {
            row += 1;
            column = width;
        }
    }
    if column == columns { row + 1 } else { row }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { columns: 20, rows: 7 };

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|n| format!("name{n:02}")).collect()
    }

    #[test]
    fn candidates_stand_in_columns() {
        assert_eq!(list(&names(3), SIZE), ["name00  name02", "name01"]);
        assert_eq!(list(&names(1), SIZE), ["name00"]);
        assert_eq!(list(&names(9), SIZE), ["name00  name03", "name01  name04", "name02  name05", "... and 3 more"]);
        assert_eq!(list(&["日本".to_owned(), "x".repeat(50)], SIZE).len(), 2);
        assert!(list(&names(2), Size { columns: 0, rows: 0 }).len() <= 2);
    }

    #[test]
    fn the_cursor_stays_as_far_below() {
        let lines = ["a".to_owned()];
        assert_eq!(below_input(&lines, "SELECT", 6, SIZE, 7), "\r\na\r\n");
        assert_eq!(below_input(&lines, "x\ny\nz", 1, SIZE, 7), "\x1b[2B\r\na\r\n\n\n\x1b[2A");
        assert_eq!(below_input(&lines, "x\ny\nz", 5, SIZE, 7), "\r\na\r\n\n\n");
    }

    #[test]
    fn rows_as_the_editor_counts_them() {
        for (text, row) in
            [("", 0), ("123456789012", 0), ("1234567890123", 1), ("日本日本日本日", 1), ("\t\n", 1), ("a\n\n", 2)]
        {
            assert_eq!(row_at_end(text, 20, 7), row, "{text:?}");
        }
    }
}
