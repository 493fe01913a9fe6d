//! The interactive shell.
//!
//! It reads a statement of one or more lines ([`helper`] completes, colours and says when it is complete), runs it as
//! scripts do ([`crate::runner`]), and shows its result, in a pager where it is larger than the [`screen`].

mod command;
mod complete;
mod helper;
mod highlight;
mod history;
mod lex;
mod names;
mod screen;
mod tab;
mod terminal;
mod words;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use rustyline::error::ReadlineError;
use rustyline::{Cmd, ColorMode, CompletionType, Config, Editor, EventHandler, KeyCode, KeyEvent, Modifiers};
use tokio::runtime::Handle;

use self::command::{Command, HELP};
use self::complete::Completion;
use self::helper::Assistant;
use self::history::Entries;
use self::names::Names;
use self::screen::{Screen, Size};
use self::tab::{Place, TabKey};
use self::terminal::Terminal;
use crate::args::{Cli, Format};
use crate::diagnostics::say;
use crate::exit::Exit;
use crate::invocation::{Script, UsageError, read};
use crate::output::Output;
use crate::run::{on_runtime, run_script, runner};
use crate::runner::{End, Runner};
use crate::signals::INTERRUPT;

const PROMPT: &str = "calve> ";
/// While a statement set gathers its INSERTs.
const SET_PROMPT: &str = "calve (statement set)> ";

/// Columns between the stops of a tab in the input.
const TAB_STOP: usize = 4;

type Line = Editor<Assistant, Entries>;

/// Whether a command line asks for the shell: it names no script, and somebody sits at a terminal.
pub fn is_wanted(cli: &Cli) -> bool {
    cli.command.is_none()
        && cli.options.script_file.is_none()
        && cli.options.execute.is_none()
        && io::stdin().is_terminal()
}

/// Runs the shell until it is left.
pub fn start(cli: Cli) -> Exit {
    let init = match cli.options.init.map(|path| read(&path)).transpose() {
        Ok(init) => init,
        Err(UsageError::Unreadable(why)) => {
            say(format_args!("calve: {why}"));
            return Exit::Usage;
        }
        Err(UsageError::NoScript) => None,
    };
    let history = history_file(cli.history);
    on_runtime(async {
        let mut runner = match runner(cli.options.define, cli.options.memory_limit) {
            Ok(runner) => runner,
            Err(exit) => return exit,
        };
        runner.scripts(&init);
        if let Some(init) = &init {
            let exit = run_script(&mut runner, &mut Output::Silent, init, false).await;
            if exit != Exit::Done {
                return exit;
            }
        }
        match Shell::new(runner, cli.options.output, cli.options.keep_going, history) {
            Ok(shell) => shell.run().await,
            Err(e) => {
                say(format_args!("calve: cannot use the terminal: {e}"));
                Exit::Failed
            }
        }
    })
}

/// `--history`, then `CALVE_HISTORY`, then the user's own; an empty name keeps no history.
fn history_file(named: Option<PathBuf>) -> Option<PathBuf> {
    named
        .or_else(|| std::env::var_os("CALVE_HISTORY").map(PathBuf::from))
        .or_else(history::default_file)
        .filter(|path| !path.as_os_str().is_empty())
}

/// A session at a terminal.
struct Shell {
    runner: Runner,
    line: Line,
    place: Place,
    names: Names,
    screen: Screen,
    terminal: Terminal,
    format: Format,
    output: Output,
    keep_going: bool,
    /// Statements that ran.
    n: usize,
}

/// Whether the shell goes on.
enum Next {
    Prompt,
    Leave(Exit),
}

impl Shell {
    fn new(mut runner: Runner, format: Format, keep_going: bool, history: Option<PathBuf>) -> rustyline::Result<Self> {
        let (entries, opened) = match history {
            Some(file) => {
                let (entries, opened) = Entries::open(file.clone());
                (entries, opened.map_err(|e| (file, e)))
            }
            None => (Entries::default(), Ok(())),
        };
        let names = Names::new(runner.session().names(), Handle::current());
        let place = Place::default();
        let line = editor(entries, Completion::new(names.clone()), place.clone())?;
        let screen = Screen::new(screen::pager());
        let hushed = screen.clone();
        // an error would be lost behind a pager that is still open
        runner.before_errors(Box::new(move || hushed.end()));
        welcome(line.history());
        if let Err((file, e)) = opened {
            not_kept(&file, &e);
        }
        Ok(Self {
            output: Output::new(format, Box::new(screen.clone())),
            terminal: Terminal::watch()?,
            runner,
            line,
            place,
            names,
            screen,
            format,
            keep_going,
            n: 0,
        })
    }

    async fn run(mut self) -> Exit {
        loop {
            let prompt = if self.runner.session().has_open_statement_set() { SET_PROMPT } else { PROMPT };
            if let Some(size) = self.size() {
                self.place.set(size, prompt);
            }
            let typed = self.terminal.at_prompt(|| self.line.readline(prompt));
            let next = match typed {
                Ok(text) => self.input(text).await,
                Err(ReadlineError::Interrupted) => Next::Prompt,
                Err(ReadlineError::Eof) => Next::Leave(Exit::Done),
                Err(e) => {
                    say(format_args!("calve: cannot read from the terminal: {e}"));
                    Next::Leave(Exit::Failed)
                }
            };
            if let Next::Leave(exit) = next {
                if self.runner.session().has_open_statement_set() {
                    say("calve: the statement set had no END: its INSERTs were not run");
                }
                if exit == Exit::Done {
                    print("[INFO] Exiting calve...\n");
                }
                return exit;
            }
        }
    }

    /// Runs what was typed: its statements, one after the other, up to the first that fails.
    async fn input(&mut self, text: String) -> Next {
        let passing = matches!(Command::of(&text), Some(Command::Quit | Command::Clear));
        if let Some(file) = self.line.history().file().map(PathBuf::from)
            && !passing
            && let Err(e) = self.line.history_mut().keep(text.trim_end())
        {
            not_kept(&file, &e);
        }
        let script = Script { name: "<input>".to_owned(), text };
        let statements = calve_sql::split(&script.text);
        for (index, statement) in statements.iter().enumerate() {
            match Command::of(&statement.text) {
                Some(Command::Quit) => return Next::Leave(Exit::Done),
                Some(Command::Help) => {
                    print(&format!("{HELP}\n"));
                    continue;
                }
                Some(Command::Clear) => {
                    let _ = self.line.clear_screen();
                    continue;
                }
                None => {}
            }
            self.n += 1;
            // a Ctrl-C that came when nothing ran was meant for nothing
            self.runner.forget_signals();
            let size = self.size();
            self.screen.begin(size);
            let end = self.runner.statement(&mut self.output, &script, self.n, statement).await;
            let failed = match end {
                End::Done => false,
                End::Failed(_) => true,
                End::Interrupted { signal, .. } if signal != INTERRUPT => return Next::Leave(Exit::Signalled(signal)),
                End::Interrupted { .. } => {
                    self.forget_output();
                    true
                }
                End::Unwritable(e) => {
                    self.forget_output();
                    if e.kind() != io::ErrorKind::BrokenPipe {
                        say(format_args!("calve: cannot write to standard output: {e}"));
                    }
                    // somebody left the pager before the end
                    e.kind() != io::ErrorKind::BrokenPipe
                }
            };
            self.screen.end();
            self.names.refresh(self.runner.session().names());
            if failed {
                say("");
            }
            if failed && self.keep_going && index + 1 < statements.len() {
                // what was typed together goes on, as a script does, before anyone can correct it
                self.runner.spoil_statement_set();
            }
            if failed && !self.keep_going {
                let left = statements.len() - index - 1;
                if left > 0 {
                    say(format_args!(
                        "{left} more {} not run\n",
                        if left == 1 { "statement was" } else { "statements were" }
                    ));
                }
                break;
            }
        }
        Next::Prompt
    }

    /// The size of the terminal; `None` if standard output is none.
    fn size(&mut self) -> Option<Size> {
        let (columns, rows) = self.line.dimensions()?;
        Some(Size { columns: columns.into(), rows: rows.into() })
    }

    /// Drops what of a result is still on its way.
    fn forget_output(&mut self) {
        self.screen.discard();
        self.output = Output::new(self.format, Box::new(self.screen.clone()));
    }
}

fn editor(entries: Entries, completion: Completion, place: Place) -> rustyline::Result<Line> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .bell_style(rustyline::config::BellStyle::None)
        .auto_add_history(false)
        .color_mode(if terminal::has_colours() { ColorMode::Enabled } else { ColorMode::Disabled })
        .tab_stop(u8::try_from(TAB_STOP).unwrap_or(4))
        .build();
    let mut line = Editor::with_history(config, entries)?;
    let tab = EventHandler::Conditional(Box::new(TabKey::new(completion.clone(), place)));
    line.set_helper(Some(Assistant::new(completion)));
    line.bind_sequence(KeyEvent(KeyCode::Tab, Modifiers::NONE), tab);
    line.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
    Ok(line)
}

fn welcome(entries: &Entries) {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!(
        "calve {version}: Flink SQL on Apache Iceberg\n\
         Welcome! Enter 'HELP;' to list all available commands, 'QUIT;' to exit.\n"
    );
    if let Some(file) = entries.file() {
        text += &format!("Command history file path: {}\n", file.display());
    }
    print(&format!("{text}\n"));
}

fn not_kept(file: &std::path::Path, e: &io::Error) {
    say(format_args!("calve: the history is not kept: cannot use '{}': {e}\n", file.display()));
}

/// Prints for a person, who may have gone.
fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
