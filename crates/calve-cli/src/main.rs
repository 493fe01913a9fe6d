//! The `calve` binary: Flink SQL scripts on Apache Iceberg tables.
//!
//! A run goes one way: [`args`] (what was typed) to [`invocation`] (what it means) to [`run`] (the statements, one after
//! the other) to [`output`] (their results) and [`diagnostics`] (what went wrong).

mod args;
mod diagnostics;
mod exit;
mod invocation;
mod kind;
mod memory;
mod output;
mod run;
mod signals;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::args::Cli;
use crate::diagnostics::say;
use crate::exit::Exit;
use crate::invocation::UsageError;

fn main() -> ExitCode {
    start().into()
}

fn start() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // help and version are no errors; a closed pipe below them is none either
            let exit = if e.use_stderr() { Exit::Usage } else { Exit::Done };
            let _ = e.print();
            return exit;
        }
    };
    match invocation::resolve(cli) {
        Ok(invocation) => run::run(invocation),
        Err(UsageError::NoScript) => {
            let usage = Cli::command().render_usage();
            say(format_args!(
                "calve: nothing to run: name a script, or give statements with -e (there is no interactive shell yet)\n\n\
                 {usage}\n\nFor more information, try '--help'."
            ));
            Exit::Usage
        }
        Err(UsageError::Unreadable(why)) => {
            say(format_args!("calve: {why}"));
            Exit::Usage
        }
    }
}
