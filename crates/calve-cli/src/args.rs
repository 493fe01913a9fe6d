//! The command line as it was typed.
//!
//! What it means is worked out in [`crate::invocation`]; nothing here touches the system.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::memory;

/// Runs Flink SQL scripts on Apache Iceberg tables.
#[derive(Debug, Parser)]
#[command(name = "calve", version, args_conflicts_with_subcommands = true, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do; without it, the options are those of `run`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of `run`, as Flink's SQL client takes them without a subcommand.
    #[command(flatten)]
    pub options: RunOptions,
    /// File that keeps what is typed in the shell, '' for none [default: CALVE_HISTORY, else calve/history in the user's
    /// state folder]
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub history: Option<PathBuf>,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 calve check or calve test found problems; 2 a statement failed; \
    3 a commit's outcome is unknown; 64 usage, or a script that cannot be read; 130 interrupted.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a script, statement by statement
    #[command(after_help = EXIT_CODES)]
    Run(RunArgs),
    /// Run scripts and compare their results with recorded ones
    #[command(after_help = TEST_HELP)]
    Test(TestArgs),
    /// Look for problems in scripts without running them
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Ask tables whether a commit happened whose outcome is unknown
    #[command(after_help = VERIFY_HELP)]
    VerifyCommit(VerifyArgs),
    /// Explain the code of an error or a warning
    #[command(after_help = "Without a code: all codes, each with a line.")]
    Explain {
        /// A code as it stands in brackets, such as unknown-column
        code: Option<String>,
    },
    /// Print completions for a shell
    #[command(after_help = "Bash: source <(calve completions bash). Zsh, fish: see the README.")]
    Completions {
        /// The shell
        shell: Shell,
    },
}

const TEST_HELP: &str = "Each NAME.sql with a NAME.out beside it runs in a fresh session and a fresh folder. In scripts, \
    ${DATA} is the folder of the script and ${TMP} the fresh folder, where relative paths lead too.\n\n\
    Exit codes: 0 all passed; 1 some failed; 64 usage, or no tests; 130 interrupted.";

const CHECK_HELP: &str = "Each script is parsed and bound with a session of its own. CREATE, ALTER and DROP change \
    catalogs in memory only; no row is read or written. What an existing catalog holds is read, unless --offline is given.\n\n\
    Exit codes: 0 nothing found, notes aside; 1 problems; 64 usage, or a script that cannot be read.";

const VERIFY_HELP: &str = "Of the scripts only CREATE CATALOG, ALTER CATALOG, USE, SET and RESET are run: no table is \
    changed, and the script of the failed run itself will do.\n\n\
    Exit codes: 0 committed, to all of the tables; 1 not committed, to one of them; 3 cannot tell, of one of them; 64 \
    usage, or a script that cannot be read.";

/// Arguments of `calve verify-commit`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Tables, as they are named in SQL
    #[arg(value_name = "TABLE", required = true)]
    pub tables: Vec<String>,
    /// The job: 32 hexadecimal digits
    #[arg(long, value_name = "ID", required_unless_present = "snapshot_id")]
    pub job_id: Option<String>,
    /// The write of the job, where it has several into a table
    #[arg(long, value_name = "ID", requires = "job_id")]
    pub operator_id: Option<String>,
    /// The snapshot that the commit would have made
    #[arg(long, value_name = "ID", conflicts_with_all = ["job_id", "operator_id"])]
    pub snapshot_id: Option<i64>,
    /// The branch that the commit goes to
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub branch: String,
    /// Script that defines the catalogs; may be repeated
    #[arg(short = 'i', long, value_name = "FILE")]
    pub init: Vec<PathBuf>,
    /// Set an option before the first statement, as SET does; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = key_value)]
    pub define: Vec<(String, String)>,
    /// How the answers are printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = VerifyFormat::Text)]
    pub output: VerifyFormat,
}

/// How the answers of `calve verify-commit` are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerifyFormat {
    /// A line for each table, for people
    Text,
    /// One JSON object for each table, for programs
    Jsonl,
}

/// Arguments of `calve check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Scripts to check; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Read no catalog: what the scripts define is all there is
    #[arg(long)]
    pub offline: bool,
    /// Fail on what Flink does not run
    #[arg(long)]
    pub portable: bool,
    /// How problems are printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Script that each of the others begins with, such as one with the CREATE CATALOG statements
    #[arg(short = 'i', long, value_name = "FILE")]
    pub init: Option<PathBuf>,
    /// Set an option before the first statement of each script, as SET does; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = key_value)]
    pub define: Vec<(String, String)>,
}

/// How the problems of `calve check` are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Lines of the scripts with carets, for people
    Text,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// Arguments of `calve test`.
#[derive(Debug, Args)]
pub struct TestArgs {
    /// Folders with tests, or single .sql files
    #[arg(value_name = "DIR", required = true)]
    pub paths: Vec<PathBuf>,
    /// Record the results of all tests, new ones too, instead of comparing them
    #[arg(long)]
    pub accept: bool,
    /// Run only the tests with such names, such as 'orders*' or 'daily/*'; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// Tests that run at the same time [default: the number of cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Write a report in JUnit's XML format
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Seconds after which a test is ended and has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
    /// Script that runs at the beginning of every test; its results are not recorded
    #[arg(short = 'i', long, value_name = "FILE")]
    pub init: Option<PathBuf>,
    /// Set an option before the first statement of every test; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = key_value)]
    pub define: Vec<(String, String)>,
    /// Memory of one test [default: what `run` takes, divided by the number of jobs]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse_size)]
    pub memory_limit: Option<u64>,
}

/// Arguments of `calve run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Script to run; `-` is standard input
    #[arg(conflicts_with_all = ["script_file", "execute"])]
    pub file: Option<PathBuf>,
    /// The options.
    #[command(flatten)]
    pub options: RunOptions,
}

/// Options of `calve run`, known from Flink's SQL client.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Script to run; `-` is standard input
    #[arg(id = "script_file", short = 'f', long = "file", value_name = "FILE", conflicts_with = "execute")]
    pub script_file: Option<PathBuf>,
    /// Statements to run, separated by `;`
    // they may begin with a comment, `--`
    #[arg(short = 'e', long, value_name = "SQL", allow_hyphen_values = true)]
    pub execute: Option<String>,
    /// Script that runs first; its results are not shown and its first failure ends the run
    #[arg(short = 'i', long, value_name = "FILE")]
    pub init: Option<PathBuf>,
    /// Set an option before the first statement, as SET does; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE", value_parser = key_value)]
    pub define: Vec<(String, String)>,
    /// Go on after a failed statement (the exit code still tells)
    #[arg(long)]
    pub keep_going: bool,
    /// How results are printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub output: Format,
    /// Memory for sorting, joining and writing, such as 512m or 2g [default: 60% of what the machine or its container has]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse_size)]
    pub memory_limit: Option<u64>,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Boxes for people, as Flink's SQL client draws them
    Table,
    /// Comma-separated values with a header line; NULL is empty, the empty string is ""
    Csv,
    /// Tab-separated values with a header line; NULL is empty
    Tsv,
    /// A JSON array of objects for each result
    Json,
    /// One JSON object for each statement, for programs
    Jsonl,
}

/// Splits `key=value`; the value may hold more `=`.
fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

/// What `calve verify-commit` needs, for a command line that lacks it.
const VERIFY_TIP: &str = "the hint of the failed statement has the whole command, such as: calve verify-commit -i script.sql \
    --job-id 0123456789abcdef0123456789abcdef catalog.database.table (-i: a script with the CREATE CATALOG statements; \
    --job-id or --snapshot-id: as the error told it; then the tables)";

/// Adds what was meant to a usage error: Flink's client has no subcommands, and others run a script by its name alone.
pub fn with_tip(mut error: clap::Error) -> clap::Error {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    if error.kind() == ErrorKind::MissingRequiredArgument && usage.contains(" verify-commit ") {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![VERIFY_TIP.into()]));
        return error;
    }
    let word = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg].into_iter().find_map(|kind| error.get(kind));
    if let Some(ContextValue::String(word)) = word
        && (word.to_ascii_lowercase().ends_with(".sql") || Path::new(word).is_file())
        && !word.starts_with('-')
    {
        let tip = format!("to run a script: calve run {word}");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_definition_splits_at_its_first_equals_sign() {
        assert_eq!(key_value("a.b=c=d"), Ok(("a.b".to_owned(), "c=d".to_owned())));
        assert_eq!(key_value("a="), Ok(("a".to_owned(), String::new())));
        assert!(key_value("=1").is_err());
        assert!(key_value("abc").is_err());
    }

    #[test]
    fn options_work_with_and_without_the_subcommand() {
        let bare = Cli::try_parse_from(["calve", "-e", "SELECT 1", "-Da=1", "-D", "b=2"]).unwrap();
        assert!(bare.command.is_none());
        assert_eq!(bare.options.define.len(), 2);
        let run = Cli::try_parse_from(["calve", "run", "--keep-going", "x.sql"]).unwrap();
        let Some(Command::Run(args)) = run.command else { panic!("not run") };
        assert!(args.options.keep_going);
        assert_eq!(args.file, Some("x.sql".into()));
    }

    #[test]
    fn the_history_may_be_none() {
        for line in [&["calve", "--history", ""][..], &["calve", "--history="]] {
            assert_eq!(Cli::try_parse_from(line).unwrap().history, Some(PathBuf::new()), "{line:?}");
        }
    }

    #[test]
    fn what_verify_commit_needs_is_told() {
        for line in [&["calve", "verify-commit"][..], &["calve", "verify-commit", "c.db.t"]] {
            let told = with_tip(Cli::try_parse_from(line).unwrap_err()).render().to_string();
            assert!(told.contains("tip: the hint of the failed statement has the whole command"), "{told}");
        }
    }

    #[test]
    fn two_scripts_are_refused() {
        for line in [
            &["calve", "run", "a.sql", "-f", "b.sql"][..],
            &["calve", "run", "a.sql", "-e", "SELECT 1"],
            &["calve", "-f", "a.sql", "-e", "SELECT 1"],
            &["calve", "run", "a.sql", "--output", "xml"],
        ] {
            assert!(Cli::try_parse_from(line).is_err(), "{line:?}");
        }
    }
}
