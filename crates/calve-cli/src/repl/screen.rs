//! Standard output of the shell: a result that is larger than the screen goes to a pager.
//!
//! A result is held until it is clear that it does not fit, at most a screenful; from then on it streams to the pager.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use unicode_width::UnicodeWidthStr;

use crate::diagnostics::say;

/// Lines of a message, the empty one behind it included; a table has more.
const MESSAGE: usize = 2;

/// Columns and rows of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

/// Where results of the shell go.
#[derive(Debug, Clone)]
pub struct Screen(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// The pager's command line; `None` prints everything.
    pager: Option<OsString>,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// Straight to standard output.
    Stdout,
    /// Held back, as long as it fits.
    Held(Held),
    /// To the pager.
    Pager(Child),
    /// Nowhere: whoever looked at the result has seen enough.
    Nowhere,
}

/// The beginning of a result.
#[derive(Debug)]
struct Held {
    size: Size,
    text: Vec<u8>,
    /// What of the text is already on the screen.
    shown: usize,
    /// What of the text is measured: whole lines.
    measured: usize,
    lines: usize,
    /// Whether a line is wider than the screen.
    wide: bool,
}

impl Held {
    fn new(size: Size) -> Self {
        Self { size, text: vec![], shown: 0, measured: 0, lines: 0, wide: false }
    }

    /// Whether the text, and the prompt below it, are more than the screen shows.
    fn push(&mut self, bytes: &[u8]) -> bool {
        self.text.extend_from_slice(bytes);
        let rest = self.text.get(self.measured..).unwrap_or_default();
        for line in rest.split_inclusive(|b| *b == b'\n').filter(|line| line.ends_with(b"\n")) {
            self.measured += line.len();
            self.lines += 1;
            self.wide |= String::from_utf8_lossy(line).trim_end().width() > self.size.columns;
        }
        // a message may be wide: it is read as well in two rows
        (self.wide && self.lines > MESSAGE) || self.lines >= self.size.rows
    }
}

impl Screen {
    /// Standard output with that pager.
    pub fn new(pager: Option<OsString>) -> Self {
        Self(Arc::new(Mutex::new(State { pager, target: Target::Stdout })))
    }

    /// A result begins. `size` is the terminal's, `None` if standard output is none: then there is no paging.
    pub fn begin(&self, size: Option<Size>) {
        let mut state = self.lock();
        state.target = match size {
            Some(size) if state.pager.is_some() => Target::Held(Held::new(size)),
            _ => Target::Stdout,
        };
    }

    /// The result is complete: shows what is held, or waits until the pager is left.
    pub fn end(&self) {
        let mut state = self.lock();
        match std::mem::replace(&mut state.target, Target::Stdout) {
            Target::Held(mut held) => {
                // whoever reads may have gone: that ends the output, not the session
                let _ = show(&mut held);
            }
            Target::Pager(mut child) => {
                drop(child.stdin.take());
                let _ = child.wait();
            }
            Target::Stdout | Target::Nowhere => {}
        }
    }

    /// The rest of the result is not wanted any more.
    pub fn discard(&self) {
        self.end();
        self.lock().target = Target::Nowhere;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn show(held: &mut Held) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(held.text.get(held.shown..).unwrap_or_default())?;
    held.shown = held.text.len();
    stdout.flush()
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.lock();
        match &mut state.target {
            Target::Stdout => io::stdout().write(bytes),
            Target::Nowhere => Ok(bytes.len()),
            Target::Pager(child) => match &mut child.stdin {
                Some(stdin) => stdin.write(bytes),
                None => Err(io::ErrorKind::BrokenPipe.into()),
            },
            Target::Held(held) => {
                if held.push(bytes) {
                    let text = std::mem::take(&mut held.text);
                    let shown = held.shown;
                    state.turn_page(&text, shown)?;
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.lock().target {
            Target::Stdout => io::stdout().flush(),
            Target::Nowhere => Ok(()),
            Target::Pager(child) => child.stdin.as_mut().map_or(Ok(()), Write::flush),
            Target::Held(held) => show(held),
        }
    }
}

impl State {
    /// Starts the pager with the text so far; without one, the screen gets what it does not show yet.
    fn turn_page(&mut self, text: &[u8], shown: usize) -> io::Result<()> {
        if let Some(pager) = &self.pager {
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(pager).stdin(Stdio::piped());
            if std::env::var_os("LESS").is_none() {
                // long lines can be scrolled, colours stay colours, the text stays on the screen
                command.env("LESS", "SRX");
            }
            match command.spawn() {
                Ok(mut child) => {
                    let written = child.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(text));
                    self.target = Target::Pager(child);
                    return written;
                }
                Err(e) => {
                    say(format_args!("calve: cannot start the pager '{}': {e}", pager.display()));
                    self.pager = None;
                }
            }
        }
        self.target = Target::Stdout;
        io::stdout().write_all(text.get(shown..).unwrap_or_default())
    }
}

/// The pager of this user: `CALVE_PAGER`, then `PAGER`, then `less` if there is one. An empty value, or `cat`, is none.
pub fn pager() -> Option<OsString> {
    let named = ["CALVE_PAGER", "PAGER"].into_iter().find_map(std::env::var_os);
    match named {
        Some(command) => Some(command).filter(|c| !c.is_empty() && c != "cat"),
        None => {
            let path = std::env::var_os("PATH")?;
            std::env::split_paths(&path).any(|folder| folder.join("less").is_file()).then(|| "less".into())
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const SIZE: Size = Size { columns: 10, rows: 4 };

    #[test]
    fn a_screenful_fits_with_the_prompt_below() {
        let mut held = Held::new(SIZE);
        assert!(!held.push(b"1\n2\n3\n"));
        assert!(held.push(b"4\n"));
    }

    #[test]
    fn wide_lines_do_not_fit() {
        let wide = |text: &str| Held::new(Size { rows: 99, ..SIZE }).push(text.as_bytes());
        assert!(!wide("\n\néééééééééé\n"));
        assert!(wide("\n\n日本日本日本\n"));
        assert!(!wide("[INFO] a message\n\n"));
        let mut held = Held::new(SIZE);
        assert!(!held.push(b"\n\n12345678"));
        assert!(!held.push(b"90123"));
        assert!(held.push(b"\n"));
    }

    #[test]
    fn what_does_not_fit_goes_to_the_pager() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("paged");
        let screen = Screen::new(Some(format!("cat > '{}'", file.display()).into()));
        screen.begin(Some(SIZE));
        let mut out = screen.clone();
        for line in ["1\n", "2\n", "3\n", "4\n", "5\n"] {
            out.write_all(line.as_bytes()).unwrap();
        }
        screen.end();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "1\n2\n3\n4\n5\n");
    }

    #[test]
    fn a_pager_that_is_left_breaks_the_pipe() {
        let screen = Screen::new(Some("exit 0".into()));
        screen.begin(Some(SIZE));
        let mut out = screen.clone();
        let failed = (0..1_000_000).find_map(|_| out.write_all(b"some text that fills the pipe\n").err());
        assert_eq!(failed.unwrap().kind(), io::ErrorKind::BrokenPipe);
        screen.discard();
        out.write_all(b"the rest").unwrap();
        screen.begin(None);
    }
}
