//! The `calve` binary: Flink SQL scripts on Apache Iceberg tables.
//!
//! A run goes one way: [`args`] (what was typed) to [`invocation`] (what it means) to [`run`] (the statements, one after
//! the other, each through [`runner`]) to [`output`] (their results) and [`diagnostics`] (what went wrong). [`repl`] is the
//! shell, [`testing`] compares what scripts give with what was recorded, [`check`] looks for problems in scripts without
//! running them, [`verify`] asks whether a commit happened, [`codes`] explains what errors and warnings mean.

mod allocator;
mod args;
mod check;
mod codes;
mod diagnostics;
mod exit;
mod invocation;
mod kind;
mod memory;
mod output;
mod printed;
mod progress;
mod repl;
mod run;
mod runner;
mod signals;
mod testing;
mod verify;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use clap_complete::Shell;

use crate::args::{Cli, Command, RunOptions};
use crate::diagnostics::say;
use crate::exit::Exit;
use crate::invocation::UsageError;

fn main() -> ExitCode {
    allocator::keep_freed_memory();
    start().into()
}

fn start() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // help and version are no errors; a closed pipe below them is none either
            let exit = if e.use_stderr() { Exit::Usage } else { Exit::Done };
            let _ = args::with_tip(e).print();
            return exit;
        }
    };
    if repl::is_wanted(&cli) {
        return repl::start(cli);
    }
    match cli.command {
        Some(Command::Run(args)) => run_script(args.file, args.options),
        // a script that is piped in
        None if cli.options.script_file.is_none() && cli.options.execute.is_none() => {
            run_script(Some("-".into()), cli.options)
        }
        None => run_script(None, cli.options),
        Some(Command::Test(args)) => testing::run(args),
        Some(Command::Check(args)) => check::run(args),
        Some(Command::VerifyCommit(args)) => verify::run(args),
        Some(Command::Explain { code }) => print_all(&codes::explain(code.as_deref())),
        Some(Command::Completions { shell }) => completions(shell),
    }
}

fn run_script(file: Option<PathBuf>, options: RunOptions) -> Exit {
    match invocation::resolve(file, options) {
        Ok(invocation) => run::run(invocation),
        Err(UsageError::NoScript) => {
            let usage = Cli::command().render_usage();
            let why = UsageError::NoScript;
            say(format_args!("calve: {why}\n\n{usage}\n\nFor more information, try '--help'."));
            Exit::Usage
        }
        Err(why) => {
            say(format_args!("calve: {why}"));
            Exit::Usage
        }
    }
}

/// Prints the completions of a shell.
fn completions(shell: Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "calve", &mut script);
    write_all(&script, Exit::Done)
}

/// Prints an answer; a question that has none is wrong usage.
fn print_all(answer: &Result<String, String>) -> Exit {
    match answer {
        Ok(text) => write_all(text.as_bytes(), Exit::Done),
        Err(why) => {
            say(format_args!("calve: {why}"));
            Exit::Usage
        }
    }
}

/// Writes to standard output, for an end that is `exit` unless that fails.
fn write_all(bytes: &[u8], exit: Exit) -> Exit {
    match io::stdout().write_all(bytes) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            say(format_args!("calve: cannot write to standard output: {e}"));
            Exit::Failed
        }
        _ => exit,
    }
}
