//! What a command line means: which scripts run, and how.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::args::{Format, RunOptions};

/// A run with everything it needs.
#[derive(Debug)]
pub struct Invocation {
    /// The script of `-i`; it runs first and is not part of the output.
    pub init: Option<Script>,
    /// The script.
    pub script: Script,
    /// `-D` options, in order.
    pub options: Vec<(String, String)>,
    /// Go on after a failed statement of the script.
    pub keep_going: bool,
    /// How results are printed.
    pub format: Format,
    /// Bytes; `None` leaves the choice to the engine.
    pub memory_limit: Option<u64>,
}

/// A script's text and what people call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The path as given, `<stdin>` or `<command line>`.
    pub name: String,
    /// The text, without a byte order mark.
    pub text: String,
}

/// Why a command line cannot be followed. All of these are usage errors.
#[derive(Debug)]
pub enum UsageError {
    /// There is nothing to run.
    NoScript,
    /// A script cannot be read; the text says which and why.
    Unreadable(String),
}

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoScript => f.write_str("nothing to run: name a script, or give statements with -e"),
            Self::Unreadable(why) => f.write_str(why),
        }
    }
}

/// Works out what a command line means and reads its scripts.
///
/// # Errors
/// No script is named, or one cannot be read as UTF-8 text.
pub fn resolve(file: Option<PathBuf>, options: RunOptions) -> Result<Invocation, UsageError> {
    let RunOptions { script_file, execute, init, define, keep_going, output, memory_limit } = options;
    let script_path = file.or(script_file);
    if let (Some(init), Some(script)) = (&init, &script_path)
        && is_stdin(init)
        && is_stdin(script)
    {
        return Err(UsageError::Unreadable(
            "standard input cannot be both the script and the initialisation script".to_owned(),
        ));
    }
    let script = match (script_path, execute) {
        (Some(path), _) => read(&path)?,
        (None, Some(text)) => Script { name: "<command line>".to_owned(), text },
        (None, None) => return Err(UsageError::NoScript),
    };
    let init = init.map(|path: PathBuf| read(&path)).transpose()?;
    Ok(Invocation { init, script, options: define, keep_going, format: output, memory_limit })
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a script; `-` is standard input.
///
/// # Errors
/// It cannot be read as UTF-8 text.
pub fn read(path: &Path) -> Result<Script, UsageError> {
    let (name, bytes) = if is_stdin(path) {
        let mut bytes = Vec::new();
        ("<stdin>".to_owned(), std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        (path.display().to_string(), std::fs::read(path))
    };
    let bytes = bytes.map_err(|e| UsageError::Unreadable(format!("cannot read script '{name}': {e}")))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = e.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1;
        UsageError::Unreadable(format!("cannot read script '{name}': line {line} is not UTF-8 text"))
    })?;
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    Ok(Script { name, text })
}
