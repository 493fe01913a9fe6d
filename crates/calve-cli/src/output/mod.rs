//! How results reach standard output.

pub mod json;
pub mod jsonl;
pub mod separated;
pub mod table;
mod width;

use std::io::{self, BufWriter, Write};
use std::time::Instant;

use calve_engine::{Op, ResultBody, Session, StatementKind, StatementResult, TextRows, WriteSummary};
use calve_types::Error;

use crate::args::Format;
use crate::diagnostics::say;
use crate::progress::{self, Watched};
use json::JsonOutput;
use jsonl::JsonlOutput;
use separated::{SeparatedOutput, Separator};
use table::TableOutput;

/// What outputs write to.
pub type Out = BufWriter<Watched>;

/// Text that is gathered before it is written.
const BUFFERED: usize = 64 * 1024;

/// Where results go, and in which shape.
#[derive(Debug)]
pub enum Output {
    /// Boxes for people.
    Table(TableOutput<Out>),
    /// Comma- or tab-separated values.
    Separated(SeparatedOutput<Out>),
    /// A JSON array for each result.
    Json(JsonOutput<Out>),
    /// A JSON object for each statement.
    Jsonl(JsonlOutput<Out>),
    /// Nowhere: the script of `-i`.
    Silent,
}

impl Output {
    /// Results in a format, written to `out`.
    pub fn new(format: Format, out: Box<dyn Write + Send>) -> Self {
        let out = BufWriter::with_capacity(BUFFERED, Watched::new(out));
        match format {
            Format::Table => Self::Table(TableOutput::new(out)),
            Format::Csv => Self::Separated(SeparatedOutput::new(Separator::Comma, out)),
            Format::Tsv => Self::Separated(SeparatedOutput::new(Separator::Tab, out)),
            Format::Json => Self::Json(JsonOutput::new(out)),
            Format::Jsonl => Self::Jsonl(JsonlOutput::new(out)),
        }
    }

    /// Gives out a statement's result; its rows are written while they are read. `printed` are the lines of print tables
    /// that belong into its object.
    ///
    /// # Errors
    /// The statement fails while its rows are read, or the output cannot be written.
    pub async fn result(
        &mut self,
        heading: Heading<'_>,
        result: StatementResult,
        printed: &[String],
        display: &Display,
        started: Instant,
    ) -> Result<(), Failure> {
        match self {
            Self::Table(table) => table.result(result, display, started).await,
            Self::Jsonl(jsonl) => jsonl.result(heading, result, printed, display.streaming).await,
            Self::Separated(_) | Self::Json(_) | Self::Silent => match result.body {
                ResultBody::Done => Ok(()),
                ResultBody::Written(writes) => {
                    self.written(&writes);
                    Ok(())
                }
                ResultBody::Rows(mut rows) => match self {
                    Self::Separated(separated) => separated.rows(rows).await,
                    Self::Json(json) => json.rows(rows).await,
                    // its rows are read all the same, because reading them is running it
                    _ => {
                        while let Some(batch) = rows.next_text().await {
                            batch?;
                        }
                        Ok(())
                    }
                },
            },
        }
    }

    /// Tells of a job's writes on standard error, where standard output has data only.
    fn written(&self, writes: &[WriteSummary]) {
        if !matches!(self, Self::Silent) {
            progress::hide();
            for write in writes {
                say(format_args!("[INFO] {write}"));
            }
        }
    }

    /// Gives out what is buffered.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Table(table) => table.flush(),
            Self::Separated(separated) => separated.flush(),
            Self::Json(json) => json.flush(),
            // its objects are given out whole
            Self::Jsonl(_) | Self::Silent => Ok(()),
        }
    }
}

/// Rows with what happens to each as their first value; as they are where all are added.
fn with_ops(lines: TextRows, ops: &[Op]) -> impl Iterator<Item = Vec<Option<String>>> {
    let ops = ops.iter().map(Some).chain(std::iter::repeat(None));
    lines.into_iter().zip(ops).map(|(row, op)| match op {
        Some(op) => std::iter::once(Some(op.to_string())).chain(row).collect(),
        None => row,
    })
}

/// The statement that a result belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Heading<'a> {
    /// Number of the statement in its script, from 1.
    pub n: usize,
    /// The statement's text with the comments before it, without the final `;`.
    pub sql: &'a str,
    /// The line of the script where that text begins, from 1.
    pub line: u32,
    /// Kind of the statement.
    pub kind: StatementKind,
}

/// The session's options that say how results are shown.
#[derive(Debug, Clone, Copy)]
pub struct Display {
    /// `execution.runtime-mode` is streaming, as it is by default.
    pub streaming: bool,
    /// Columns on the screen after which texts are cut: `table.display.max-column-width`, or else
    /// `sql-client.display.max-column-width`, which Flink 2 knows and does not look at. Flink's documentation says that only
    /// values of variable length in streaming mode are cut. Flink 2.1 cuts those, and in batch mode every value and header.
    pub max_column_width: usize,
    /// `sql-client.display.print-time-cost`: whether the last line of a query in batch mode tells its time.
    pub time_cost: bool,
}

impl Display {
    /// As a session's options are now.
    pub fn of(session: &Session) -> Self {
        let is = |key: &str, word: &str| session.option(key).is_some_and(|v| v.trim().eq_ignore_ascii_case(word));
        let width = |key: &str| session.option(key).and_then(|v| v.trim().parse().ok()).filter(|width| *width > 0);
        Self {
            streaming: !is("execution.runtime-mode", "batch"),
            max_column_width: width("table.display.max-column-width")
                .or_else(|| width("sql-client.display.max-column-width"))
                .unwrap_or(width::DEFAULT_MAX),
            time_cost: !is("sql-client.display.print-time-cost", "false"),
        }
    }
}

/// Why a result was not given out completely.
#[derive(Debug)]
pub enum Failure {
    /// The statement failed while its rows were read.
    Statement(Error),
    /// Standard output cannot be written.
    Stdout(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Statement(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Stdout(error)
    }
}
