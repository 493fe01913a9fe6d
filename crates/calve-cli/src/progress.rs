//! A line on the terminal that tells how far a long statement is.
//!
//! It is drawn on standard error, only if that is a terminal, and vanishes before anything else is printed. There is one for
//! the process, as there is one terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use calve_engine::{Progress, ProgressCounts};
use console::Term;
use indicatif::{HumanBytes, HumanCount};
use tokio::task::JoinHandle;

/// Statements that are done sooner show none.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the numbers change.
const TICK: Duration = Duration::from_millis(100);
/// What turns in front of the text.
const SPINNER: &str = "⠁⠂⠄⡀⢀⠠⠐⠈";
/// Columns at the end of the row that stay free: a terminal shows Ctrl-C as `^C` where the cursor is, and the cursor must not
/// leave the row, which is all that is cleared.
const FREE: usize = 4;
/// Back to the begin of the row; clears it, and what is below if the terminal became narrower.
const CLEAR: &str = "\r\x1b[J";

static LINE: Mutex<Line> = Mutex::new(Line::Off);

/// The line of the running statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// There is to be none, or none any more.
    Off,
    /// The statement runs, not for long yet.
    Waiting,
    /// It is on the screen.
    Shown,
}

fn line() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows a statement's progress until it is dropped.
#[derive(Debug)]
pub struct Shown(Option<JoinHandle<()>>);

impl Shown {
    /// For a statement that begins now. Must be called inside a tokio runtime.
    pub fn begin(progress: Arc<Progress>) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|value| value == "dumb");
        if dumb || !io::stderr().is_terminal() {
            return Self(None);
        }
        *line() = Line::Waiting;
        // in a task of its own: the statement's may be busy for long
        Self(Some(tokio::spawn(draw(progress))))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.abort();
            hide();
        }
    }
}

/// Removes the line for the rest of the statement: something else is about to be printed.
pub fn hide() {
    let mut line = line();
    if std::mem::replace(&mut *line, Line::Off) == Line::Shown {
        paint(CLEAR);
    }
}

async fn draw(progress: Arc<Progress>) {
    tokio::time::sleep(PATIENCE).await;
    let mut ticks = tokio::time::interval(TICK);
    for spinner in SPINNER.chars().cycle() {
        ticks.tick().await;
        let text = describe(&progress.counts());
        let columns = Term::stderr().size_checked().map_or(80, |(_, columns)| usize::from(columns));
        let mut line = line();
        if *line == Line::Off {
            return;
        }
        *line = Line::Shown;
        paint(&row(spinner, &text, columns));
    }
}

/// What draws the line anew on a terminal that wide.
fn row(spinner: char, text: &str, columns: usize) -> String {
    let line: String = [spinner, ' '].into_iter().chain(text.chars()).take(columns.saturating_sub(FREE)).collect();
    format!("{CLEAR}{line}")
}

/// Nobody may be looking any more, which is no reason to stop.
fn paint(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Rows, rate, files, time, bytes read, memory: what a narrow terminal cuts off matters least.
fn describe(counts: &ProgressCounts) -> String {
    let seconds = counts.elapsed.as_secs();
    let (rows, done) = match counts.rows_written {
        0 => (counts.rows_read, "read"),
        rows => (rows, "written"),
    };
    let rate = (rows as f64 / counts.elapsed.as_secs_f64().max(0.001)) as u64;
    let mut text = format!("{} rows {done}, {}/s", HumanCount(rows), HumanCount(rate));
    if counts.files_written > 0 {
        let s = if counts.files_written == 1 { "" } else { "s" };
        text += &format!(", {} file{s}", HumanCount(counts.files_written));
        if counts.bytes_written > 0 {
            text += &format!(" ({})", HumanBytes(counts.bytes_written));
        }
    }
    text += &format!(", {}:{:02}", seconds / 60, seconds % 60);
    if counts.bytes_read > 0 {
        text += &format!(", {} read", HumanBytes(counts.bytes_read));
    }
    if counts.memory > 0 {
        text += &format!(", memory {}", HumanBytes(counts.memory));
    }
    text
}

/// Hides the line before it writes, if what it writes reaches the terminal too.
pub struct Watched {
    out: Box<dyn Write + Send>,
    terminal: bool,
}

impl Watched {
    /// Around what results are written to.
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out, terminal: io::stdout().is_terminal() }
    }
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watched").field("terminal", &self.terminal).finish_non_exhaustive()
    }
}

impl Write for Watched {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.terminal {
            hide();
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_in_the_row() {
        for columns in [0, 3, 5, 20, 80] {
            let drawn = row('⠁', &"12,500 rows read, 5,000/s, 0:02".repeat(4), columns);
            let line = drawn.strip_prefix(CLEAR).unwrap_or_default();
            assert_eq!(line.chars().count(), columns.saturating_sub(FREE), "{line}");
        }
        assert_eq!(row('⠁', "1 row", 80), "\r\x1b[J⠁ 1 row");
    }

    #[test]
    fn what_counts_is_told() {
        let counts =
            ProgressCounts { rows_read: 12_500, elapsed: Duration::from_millis(2_500), ..ProgressCounts::default() };
        assert_eq!(describe(&counts), "12,500 rows read, 5,000/s, 0:02");
        let counts = ProgressCounts {
            rows_written: 1_000_000,
            files_written: 3,
            bytes_written: 3 << 20,
            elapsed: Duration::from_secs(125),
            ..counts
        };
        assert_eq!(describe(&counts), "1,000,000 rows written, 8,000/s, 3 files (3.00 MiB), 2:05");
        let counts = ProgressCounts { bytes_read: 12 << 20, memory: 1_536, memory_peak: 1 << 30, ..counts };
        assert_eq!(
            describe(&counts),
            "1,000,000 rows written, 8,000/s, 3 files (3.00 MiB), 2:05, 12.00 MiB read, memory 1.50 KiB"
        );
    }
}
