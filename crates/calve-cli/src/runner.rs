//! One statement with everything around it: its result or error where results go, its warnings, the signal that cancels
//! it, the commit a cancelled one may leave behind.
//!
//! `calve run` and the interactive shell run their statements here, so that they tell the same things in the same way.

use std::io;
use std::time::{Duration, Instant};

use calve_engine::{Session, SessionConfig, Settled};
use calve_sql::ScriptStatement;
use calve_types::{Error, Result};

use crate::diagnostics::{Diagnostics, say};
use crate::exit::Exit;
use crate::invocation::Script;
use crate::kind;
use crate::output::{Display, Failure, Heading, Output};
use crate::printed::Printed;
use crate::progress::{self, Shown};
use crate::signals::Signals;
use crate::verify;

/// How long a person waits for the end of an interrupted statement without a word.
const QUIET: Duration = Duration::from_secs(2);
/// How long its end is waited for after that.
const PATIENCE: Duration = Duration::from_secs(120);

/// A session with what its statements need.
pub struct Runner {
    session: Session,
    signals: Signals,
    diagnostics: Diagnostics,
    printed: Printed,
    before_errors: Option<Box<dyn Fn()>>,
    /// The options that the session began with, and the files of its scripts: they say where its catalogs are.
    options: Vec<(String, String)>,
    scripts: Vec<String>,
}

/// How a statement ended. Whatever there is to tell has been told.
#[derive(Debug)]
pub enum End {
    /// Its result was given out.
    Done,
    /// It failed.
    Failed(Error),
    /// A signal ended it.
    Interrupted {
        /// Number of the signal.
        signal: u8,
        /// What became of the statement: `commit-unknown`, or `interrupted`.
        error: Error,
    },
    /// Its result cannot be written, which is told by nobody yet.
    Unwritable(io::Error),
}

impl End {
    /// What the end means for the exit code; `None` for [`End::Unwritable`], where it depends on what was still to come.
    pub fn exit(&self) -> Option<Exit> {
        match self {
            Self::Done => Some(Exit::Done),
            Self::Failed(error) | Self::Interrupted { error, .. } if error.may_have_committed() => {
                Some(Exit::CommitUnknown)
            }
            Self::Failed(_) => Some(Exit::Failed),
            Self::Interrupted { signal, .. } => Some(Exit::Signalled(*signal)),
            Self::Unwritable(_) => None,
        }
    }
}

impl Runner {
    /// Begins a session. `config.print` is set here: lines of print tables go where the output of their statement goes.
    ///
    /// # Errors
    /// `invalid-option` for an option with a wrong value.
    pub fn new(config: SessionConfig, signals: Signals, diagnostics: Diagnostics) -> Result<Self> {
        let printed = Printed::default();
        let options = config.options.clone();
        let session = Session::new(SessionConfig { print: Some(printed.lines()), ..config })?;
        Ok(Self { session, signals, diagnostics, printed, before_errors: None, options, scripts: vec![] })
    }

    /// Says which scripts the session runs. Those that are no files have no names to tell.
    pub fn scripts<'s>(&mut self, scripts: impl IntoIterator<Item = &'s Script>) {
        let files = scripts.into_iter().map(|script| &script.name).filter(|name| !name.starts_with('<'));
        self.scripts = files.cloned().collect();
    }

    /// The session, for what is no statement.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Has END refuse the statement set that is open, if one is: one of its statements failed.
    pub fn spoil_statement_set(&mut self) {
        self.session.spoil_statement_set();
    }

    /// Runs the statement number `n` (from 1) of a script, and tells of it in `output` and on standard error.
    ///
    /// A signal (Ctrl-C, SIGTERM) cancels it; one that arrived since the last statement does so at once, unless
    /// [`Self::forget_signals`] was called.
    pub async fn statement(
        &mut self,
        output: &mut Output,
        script: &Script,
        n: usize,
        statement: &ScriptStatement,
    ) -> End {
        let heading = Heading { n, sql: &statement.text, line: statement.line, kind: kind::of_text(&statement.text) };
        self.printed.begin(output);
        let progress = Shown::begin(self.session.progress());
        let stopped = tokio::select! {
            done = execute(&mut self.session, output, &self.diagnostics, &self.printed, heading, statement) => Ok(done),
            signal = self.signals.next() => Err(signal),
        };
        self.printed.flush();
        drop(progress);
        match stopped {
            Ok(Ok(())) => End::Done,
            Ok(Err(Failure::Stdout(e))) => End::Unwritable(e),
            Ok(Err(Failure::Statement(error))) => self.failed(output, script, heading, error, End::Failed),
            Err(signal) => {
                let error = self.settled().await;
                self.failed(output, script, heading, error, |error| End::Interrupted { signal, error })
            }
        }
    }

    /// Forgets signals that arrived between statements: a person pressed Ctrl-C a moment too late.
    pub fn forget_signals(&mut self) {
        self.signals.forget();
    }

    /// Has something done between a statement's output and its error.
    pub fn before_errors(&mut self, work: Box<dyn Fn()>) {
        self.before_errors = Some(work);
    }

    /// What became of a statement that a signal ended. What it has begun and cannot be stopped is waited for, but no longer
    /// than [`PATIENCE`], nor beyond a second signal.
    async fn settled(&mut self) -> Error {
        let interrupted = Error::new("interrupted", "the statement was interrupted");
        let (settling, signals) = (self.session.settle(), &mut self.signals);
        let settled = tokio::select! {
            // what is known is told, however many signals came
            biased;
            settled = settling => settled,
            _ = signals.next() => return left("a second signal came"),
            () = async {
                tokio::time::sleep(QUIET).await;
                say("calve: waiting for what the statement has begun, such as a commit; Ctrl-C again leaves it");
                tokio::time::sleep(PATIENCE).await;
            } => return left("it took too long"),
        };
        let error = match settled {
            Some(Ok(Settled::Written(writes))) => {
                let tables = writes.iter().map(|write| match write.snapshot_id {
                    Some(id) => format!("'{}' (snapshot {id})", write.table),
                    None => format!("'{}'", write.table),
                });
                interrupted.with_detail(format!(
                    "Its commit had begun and went through. Committed: {}.",
                    tables.collect::<Vec<_>>().join(", ")
                ))
            }
            Some(Ok(Settled::Altered)) => interrupted.with_detail("Its change had begun and went through: it is made."),
            Some(Err(error)) if error.may_have_committed() => error,
            _ => interrupted,
        };
        // there may be no next statement to tell it
        self.session.with_aftermath(error)
    }

    /// Tells of a failed statement where its result would have been told.
    fn failed(
        &self,
        output: &mut Output,
        script: &Script,
        heading: Heading<'_>,
        error: Error,
        end: impl FnOnce(Error) -> End,
    ) -> End {
        let error = verify::completed(error, &self.scripts, &self.options);
        let written = match output {
            Output::Jsonl(jsonl) => jsonl.error(heading, &self.printed.take(), &error),
            other => {
                // the error must not overtake what was printed before it
                let written = other.flush();
                if let Some(work) = &self.before_errors {
                    work();
                }
                self.diagnostics.print_error(&error, script, heading.line);
                written
            }
        };
        match written {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                say(format_args!("calve: cannot write to standard output: {e}"));
                end(error)
            }
            _ => end(error),
        }
    }
}

/// The error of a statement that was left before it was known what became of it.
fn left(why: &str) -> Error {
    Error::new("commit-unknown", format!("the statement was interrupted, and left before its end was known: {why}"))
        .with_detail("What it had begun may be done: a commit, a change of a catalog. Files that it wrote may be left.")
        .with_hint("look at its tables before running it again")
}

async fn execute(
    session: &mut Session,
    output: &mut Output,
    diagnostics: &Diagnostics,
    printed: &Printed,
    heading: Heading<'_>,
    statement: &ScriptStatement,
) -> std::result::Result<(), Failure> {
    let started = Instant::now();
    let result = session.execute(statement).await?;
    let display = Display::of(session);
    if !matches!(output, Output::Jsonl(_)) && !result.warnings.is_empty() {
        progress::hide();
        for warning in &result.warnings {
            diagnostics.print_warning(warning.code, &warning.message);
        }
    }
    printed.flush();
    output.result(Heading { kind: result.kind, ..heading }, result, &printed.take(), &display, started).await
}
