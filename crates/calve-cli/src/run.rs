//! The statements of a script, one after the other.

use std::future::Future;
use std::io;
use std::time::Duration;

use calve_engine::SessionConfig;

use crate::diagnostics::{Diagnostics, say};
use crate::exit::Exit;
use crate::invocation::{Invocation, Script};
use crate::kind;
use crate::memory;
use crate::output::Output;
use crate::runner::{End, Runner};
use crate::signals::Signals;

/// Statements nest as deeply as scripts say; threads that plan and run them get a main thread's stack.
const STACK: usize = 8 << 20;
/// How long the threads of a cancelled statement may take to end.
const GRACE: Duration = Duration::from_secs(5);
/// SIGPIPE, as shells report it for other programs in a pipe.
const SIGPIPE: u8 = libc::SIGPIPE as u8;

/// Runs an invocation to its end.
pub fn run(invocation: Invocation) -> Exit {
    on_runtime(run_scripts(invocation))
}

/// Runs what needs tokio.
pub fn on_runtime(work: impl Future<Output = Exit>) -> Exit {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK).build() {
        Ok(runtime) => runtime,
        Err(e) => {
            say(format_args!("calve: cannot start: {e}"));
            return Exit::Failed;
        }
    };
    let exit = runtime.block_on(work);
    runtime.shutdown_timeout(GRACE);
    exit
}

/// A runner for the session that a command line asks for; the exit code if there can be none, which is told.
pub fn runner(options: Vec<(String, String)>, memory_limit: Option<u64>) -> Result<Runner, Exit> {
    let signals = Signals::install().map_err(|e| {
        say(format_args!("calve: cannot handle signals: {e}"));
        Exit::Failed
    })?;
    let memory_limit = memory_limit.or_else(memory::default_limit);
    let config = SessionConfig { options, memory_limit, ..SessionConfig::default() };
    Runner::new(config, signals, Diagnostics::for_stderr()).map_err(|error| {
        let script = Script { name: "<command line>".to_owned(), text: String::new() };
        Diagnostics::for_stderr().print_error(&error, &script, 1);
        Exit::Usage
    })
}

async fn run_scripts(invocation: Invocation) -> Exit {
    let Invocation { init, script, options, keep_going, format, memory_limit } = invocation;
    let mut runner = match runner(options, memory_limit) {
        Ok(runner) => runner,
        Err(exit) => return exit,
    };
    runner.scripts(init.iter().chain([&script]));
    if let Some(init) = &init {
        // Its rows are read all the same, because reading them is running it.
        let exit = run_script(&mut runner, &mut Output::Silent, init, false).await;
        if exit != Exit::Done {
            return exit;
        }
    }
    let exit = run_script(&mut runner, &mut Output::new(format, Box::new(io::stdout())), &script, keep_going).await;
    // one that a signal ended, or a reader that has gone, says enough
    let stopped_inside = exit != Exit::Done && !keep_going && ends_its_set(&script.text);
    if runner.session().has_open_statement_set() && !matches!(exit, Exit::Signalled(_)) && !stopped_inside {
        let message = "the script ends before the END of its statement set: the INSERTs of the set were not run";
        Diagnostics::for_stderr().print_warning("open-statement-set", message);
        return exit.worst(Exit::Failed);
    }
    exit
}

/// Whether the last statement set of a script has its END: a failure inside of the set says then why its INSERTs did not
/// run.
fn ends_its_set(text: &str) -> bool {
    let statements = calve_sql::split(text);
    let mut words = statements.iter().rev().map(|s| kind::without_comments(&s.text).split_ascii_whitespace());
    words
        .find_map(|mut words| match words.next()?.to_ascii_uppercase().as_str() {
            "END" => Some(true),
            "BEGIN" => Some(false),
            "EXECUTE" => words.next().filter(|word| word.eq_ignore_ascii_case("STATEMENT")).map(|_| false),
            _ => None,
        })
        .unwrap_or(false)
}

/// Runs the statements of a script up to the first that fails, or all of them if `keep_going`.
pub async fn run_script(runner: &mut Runner, output: &mut Output, script: &Script, keep_going: bool) -> Exit {
    let mut worst = Exit::Done;
    let statements = calve_sql::split(&script.text);
    for (index, statement) in statements.iter().enumerate() {
        if kind::ends_script(&statement.text) {
            return worst;
        }
        let end = runner.statement(output, script, index + 1, statement).await;
        let exit = end.exit().unwrap_or(Exit::Failed);
        match end {
            End::Done => continue,
            End::Failed(_) => {}
            End::Interrupted { .. } => return exit,
            End::Unwritable(e) if e.kind() == io::ErrorKind::BrokenPipe => {
                // The reader has seen enough. That is a good end unless statements were still to run.
                let exit = if index + 1 == statements.len() { Exit::Done } else { Exit::Signalled(SIGPIPE) };
                return worst.worst(exit);
            }
            End::Unwritable(e) => {
                say(format_args!("calve: cannot write to standard output: {e}"));
                return worst.worst(exit);
            }
        }
        worst = worst.worst(exit);
        if !keep_going {
            break;
        }
        // a set is all or nothing
        runner.spoil_statement_set();
        if index + 1 < statements.len() && !matches!(output, Output::Jsonl(_)) {
            // as behind a result
            say("");
        }
    }
    worst
}
