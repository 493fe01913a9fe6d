//! The terminal between the statements.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::termios::{SetArg, tcgetattr, tcsetattr};

use crate::signals::End;

/// What the line editor switched on: pasting in brackets.
const PASTE_OFF: &[u8] = b"\x1b[?2004l";

/// Ends the shell when it is asked to while it waits for input: then nobody else looks at signals.
#[derive(Debug)]
pub struct Terminal {
    waiting: Arc<AtomicBool>,
}

impl Terminal {
    /// Begins to watch; must be called inside a tokio runtime, while the terminal is as it should be left.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn watch() -> io::Result<Self> {
        let waiting = Arc::new(AtomicBool::new(false));
        let mode = tcgetattr(io::stdin()).ok();
        let mut end = End::install()?;
        let is_waiting = Arc::clone(&waiting);
        tokio::spawn(async move {
            loop {
                let signal = end.next().await;
                if is_waiting.load(Ordering::Acquire) {
                    if let Some(mode) = &mode {
                        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, mode);
                    }
                    let mut stdout = io::stdout().lock();
                    let _ = stdout
                        .write_all(PASTE_OFF)
                        .and_then(|()| stdout.write_all(b"\n"))
                        .and_then(|()| stdout.flush());
                    std::process::exit(128 + i32::from(signal));
                }
            }
        });
        Ok(Self { waiting })
    }

    /// Waits for input.
    pub fn at_prompt<T>(&self, read: impl FnOnce() -> T) -> T {
        self.waiting.store(true, Ordering::Release);
        let typed = read();
        self.waiting.store(false, Ordering::Release);
        typed
    }
}

/// Whether what is typed has colours: not on a dumb terminal, and not with `NO_COLOR` (<https://no-color.org>).
pub fn has_colours() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    io::stdout().is_terminal() && set("NO_COLOR").is_none() && set("TERM").is_some_and(|term| term != "dumb")
}
