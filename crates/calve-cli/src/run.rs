//! The statements of a script, one after the other.

use std::io::{self, BufWriter, Stdout};
use std::time::{Duration, Instant};

use calve_engine::{Session, SessionConfig, StatementKind};
use calve_sql::ScriptStatement;
use calve_types::Error;

use crate::args::Format;
use crate::diagnostics::{Diagnostics, say};
use crate::exit::Exit;
use crate::invocation::{Invocation, Script};
use crate::kind;
use crate::memory;
use crate::output::Failure;
use crate::output::jsonl::{Heading, JsonlOutput};
use crate::output::table::TableOutput;
use crate::signals::Signals;

/// Statements nest as deeply as scripts say; threads that plan and run them get a main thread's stack.
const STACK: usize = 8 << 20;
/// How long the threads of a cancelled statement may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// Runs an invocation to its end.
pub fn run(invocation: Invocation) -> Exit {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK).build() {
        Ok(runtime) => runtime,
        Err(e) => {
            say(format_args!("calve: cannot start: {e}"));
            return Exit::Failed;
        }
    };
    let exit = runtime.block_on(run_scripts(invocation));
    runtime.shutdown_timeout(GRACE);
    exit
}

async fn run_scripts(invocation: Invocation) -> Exit {
    let Invocation { init, script, options, keep_going, format, memory_limit } = invocation;
    let diagnostics = Diagnostics::for_stderr();
    let signals = match Signals::install() {
        Ok(signals) => signals,
        Err(e) => {
            say(format_args!("calve: cannot handle signals: {e}"));
            return Exit::Failed;
        }
    };
    let memory_limit = memory_limit.or_else(memory::default_limit);
    let session = match Session::new(SessionConfig { options, memory_limit }) {
        Ok(session) => session,
        Err(error) => {
            diagnostics.print_error(&error, &Script { name: "<command line>".to_owned(), text: String::new() }, 1);
            return Exit::Usage;
        }
    };
    let mut runner = Runner { session, output: Output::Silent, diagnostics, signals };
    if let Some(init) = &init {
        let exit = runner.run_script(init, false).await;
        if exit != Exit::Done {
            return exit;
        }
    }
    let stdout = BufWriter::with_capacity(64 * 1024, io::stdout());
    runner.output = match format {
        Format::Table => Output::Table(TableOutput::new(stdout)),
        Format::Jsonl => Output::Jsonl(JsonlOutput::new(stdout)),
    };
    runner.run_script(&script, keep_going).await
}

/// Where results go.
enum Output {
    Table(TableOutput<BufWriter<Stdout>>),
    Jsonl(JsonlOutput<BufWriter<Stdout>>),
    /// Nowhere: the script of `-i`. Its rows are read all the same, because reading them is running it.
    Silent,
}

/// A session with everything around it.
struct Runner {
    session: Session,
    output: Output,
    diagnostics: Diagnostics,
    signals: Signals,
}

/// What ended a statement before its end.
enum Stop {
    Failed(Failure),
    Signalled(u8),
}

impl Runner {
    async fn run_script(&mut self, script: &Script, keep_going: bool) -> Exit {
        let mut worst = Exit::Done;
        let statements = calve_sql::split(&script.text);
        for (index, statement) in statements.iter().enumerate() {
            if ["QUIT", "EXIT"].iter().any(|word| statement.text.eq_ignore_ascii_case(word)) {
                return worst;
            }
            let started = Instant::now();
            let work = execute(&mut self.session, &mut self.output, &self.diagnostics, index + 1, statement, started);
            let stop = tokio::select! {
                done = work => match done {
                    Ok(()) => continue,
                    Err(failure) => Stop::Failed(failure),
                },
                number = self.signals.next() => Stop::Signalled(number),
            };
            let exit = match stop {
                Stop::Failed(Failure::Stdout(e)) if e.kind() == io::ErrorKind::BrokenPipe => {
                    // The reader has seen enough. That is a good end unless statements were still to run.
                    let exit = if index + 1 == statements.len() { Exit::Done } else { Exit::Signalled(SIGPIPE) };
                    return worst.worst(exit);
                }
                Stop::Failed(Failure::Stdout(e)) => {
                    say(format_args!("calve: cannot write to standard output: {e}"));
                    return worst.worst(Exit::Failed);
                }
                Stop::Failed(Failure::Statement(error)) => {
                    let exit = if error.may_have_committed() { Exit::CommitUnknown } else { Exit::Failed };
                    exit.worst(self.report(&error, script, index + 1, statement))
                }
                Stop::Signalled(number) => {
                    let interrupted = Error::new("interrupted", "the statement was interrupted");
                    let (error, exit) = match self.session.settle().await {
                        Some(Ok(snapshot)) => {
                            let error = interrupted.with_detail(format!(
                                "Its commit had begun and went through: the table has the rows, in snapshot {snapshot}."
                            ));
                            (error, Exit::Signalled(number))
                        }
                        Some(Err(error)) if error.may_have_committed() => (error, Exit::CommitUnknown),
                        _ => (interrupted, Exit::Signalled(number)),
                    };
                    self.report(&error, script, index + 1, statement);
                    return exit;
                }
            };
            worst = worst.worst(exit);
            if !keep_going {
                break;
            }
        }
        worst
    }

    /// Tells of a failed statement where its result would have been told.
    fn report(&mut self, error: &Error, script: &Script, n: usize, statement: &ScriptStatement) -> Exit {
        let written = match &mut self.output {
            Output::Jsonl(jsonl) => jsonl.error(heading(n, statement, kind::of_text(&statement.text)), error),
            Output::Table(table) => {
                let written = table.flush();
                self.diagnostics.print_error(error, script, statement.line);
                written
            }
            Output::Silent => {
                self.diagnostics.print_error(error, script, statement.line);
                Ok(())
            }
        };
        match written {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                say(format_args!("calve: cannot write to standard output: {e}"));
                Exit::Failed
            }
            _ => Exit::Done,
        }
    }
}

/// SIGPIPE, as shells report it for other programs in a pipe.
const SIGPIPE: u8 = 13;

async fn execute(
    session: &mut Session,
    output: &mut Output,
    diagnostics: &Diagnostics,
    n: usize,
    statement: &ScriptStatement,
    started: Instant,
) -> Result<(), Failure> {
    let mut result = session.execute(statement).await?;
    match output {
        Output::Jsonl(jsonl) => {
            let streaming = !session.option("execution.runtime-mode").is_some_and(|m| m.eq_ignore_ascii_case("batch"));
            jsonl.result(heading(n, statement, result.kind), result, streaming).await
        }
        Output::Table(table) => {
            print_warnings(diagnostics, &result.warnings);
            table.result(result, started).await
        }
        Output::Silent => {
            print_warnings(diagnostics, &result.warnings);
            if let calve_engine::ResultBody::Rows(rows) = &mut result.body {
                while let Some(batch) = rows.next_text().await {
                    batch?;
                }
            }
            Ok(())
        }
    }
}

fn print_warnings(diagnostics: &Diagnostics, warnings: &[calve_engine::Warning]) {
    for warning in warnings {
        diagnostics.print_warning(warning.code, &warning.message);
    }
}

fn heading(n: usize, statement: &ScriptStatement, kind: StatementKind) -> Heading<'_> {
    Heading { n, sql: &statement.text, line: statement.line, kind }
}
