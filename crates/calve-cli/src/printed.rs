//! Lines of print tables: straight to standard output, or into their statement's object.

use std::io::{BufWriter, IsTerminal, Stdout, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use calve_engine::PrintLines;

use crate::output::Output;
use crate::progress;

/// Where the lines of the running statement go.
#[derive(Debug, Default, Clone)]
pub struct Printed {
    target: Arc<Mutex<Target>>,
}

#[derive(Debug, Default)]
enum Target {
    /// Nowhere: nothing of the script of `-i` is shown.
    #[default]
    Nowhere,
    /// Standard output, line by line on a terminal.
    Stdout { out: BufWriter<Stdout>, at_once: bool },
    /// The `stdout` array of the statement's object.
    Collected(Vec<String>),
}

impl Printed {
    /// What the session writes lines to.
    pub fn lines(&self) -> PrintLines {
        let this = self.clone();
        Arc::new(move |line| this.write(line))
    }

    /// A statement begins whose result goes to `output`.
    pub fn begin(&self, output: &Output) {
        let mut target = self.lock();
        *target = match (output, std::mem::take(&mut *target)) {
            (Output::Silent, _) => Target::Nowhere,
            (Output::Jsonl(_), _) => Target::Collected(Vec::new()),
            (_, stdout @ Target::Stdout { .. }) => stdout,
            _ => {
                let out = std::io::stdout();
                let at_once = out.is_terminal();
                Target::Stdout { out: BufWriter::new(out), at_once }
            }
        };
    }

    /// The lines that were collected since the last call.
    pub fn take(&self) -> Vec<String> {
        match &mut *self.lock() {
            Target::Collected(lines) => std::mem::take(lines),
            Target::Nowhere | Target::Stdout { .. } => Vec::new(),
        }
    }

    /// Gives out what is buffered. Whoever reads may have gone: that ends the output, not the job.
    pub fn flush(&self) {
        if let Target::Stdout { out, .. } = &mut *self.lock() {
            let _ = out.flush();
        }
    }

    fn write(&self, line: String) {
        match &mut *self.lock() {
            Target::Nowhere => {}
            Target::Stdout { out, at_once } => {
                if *at_once {
                    progress::hide();
                }
                let _ = writeln!(out, "{line}");
                if *at_once {
                    let _ = out.flush();
                }
            }
            Target::Collected(lines) => lines.push(line),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Target> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
