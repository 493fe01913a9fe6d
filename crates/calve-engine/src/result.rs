//! What a statement gives back.

use std::panic::AssertUnwindSafe;

use arrow::array::Array;
use arrow::record_batch::RecordBatch;
use calve_functions::EvalContext;
use calve_planner::{Field, TimeAttribute};
use calve_stream::Op;
use calve_stream::op::Ops;
use calve_types::{Error, Result, Span};
use datafusion::execution::SendableRecordBatchStream;
use futures::{FutureExt, StreamExt};

use crate::not_null;
use crate::session::panicked;

/// The kind of a statement, as the machine-readable output names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementKind {
    /// SELECT, VALUES, WITH.
    Query,
    /// INSERT and statement sets.
    Insert,
    /// Everything else.
    Command,
}

/// Something the user should know although the statement works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Stable kebab-case code.
    pub code: &'static str,
    /// One line.
    pub message: String,
    /// Where in the script, if the warning is about a place.
    pub span: Option<Span>,
}

impl Warning {
    /// A warning without a place.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), span: None }
    }

    /// At a place; keeps a place that is already known.
    pub fn at(mut self, span: Span) -> Self {
        if self.span.is_none() && span.is_known() {
            self.span = Some(span);
        }
        self
    }
}

/// The result of one statement.
#[derive(Debug)]
pub struct StatementResult {
    /// Kind of the statement.
    pub kind: StatementKind,
    /// Rows, a write's summary, or nothing but success.
    pub body: ResultBody,
    /// Warnings, in the order they arose.
    pub warnings: Vec<Warning>,
    /// The job's id, 32 hex digits, for a write.
    pub job_id: Option<String>,
}

impl StatementResult {
    /// Of a statement that was bound and not run.
    pub(crate) fn unrun(kind: StatementKind, warnings: Vec<Warning>) -> Self {
        Self { kind, body: ResultBody::Done, warnings, job_id: None }
    }
}

/// What a cancelled statement did all the same: it was too late to stop it.
#[derive(Debug, Clone)]
pub enum Settled {
    /// It wrote rows, and they are in.
    Written(Vec<WriteSummary>),
    /// It changed a catalog, or what that says of a table.
    Altered,
}

/// What a statement produced.
#[derive(Debug)]
pub enum ResultBody {
    /// Done; nothing to show.
    Done,
    /// Rows, streamed.
    Rows(Rows),
    /// A finished job: one summary for each INSERT, in the order of the statements. An INSERT alone has one; a statement
    /// set has several, and several of one table if it is the target of several INSERTs.
    Written(Vec<WriteSummary>),
}

/// Rows of a query, SHOW, DESCRIBE or EXPLAIN.
pub struct Rows {
    /// Names and Flink types.
    pub columns: Vec<Field>,
    /// Which columns are time attributes, as far as Flink's types tell; shorter if the last ones are none.
    pub(crate) times: Vec<Option<TimeAttribute>>,
    pub(crate) batches: SendableRecordBatchStream,
    pub(crate) context: EvalContext,
    /// Whether the batches have a column of changes behind `columns`.
    pub(crate) changelog: bool,
    pub(crate) ops: Vec<Op>,
}

/// Rows as text: NULL is `None`, other values as Flink's client prints them.
pub type TextRows = Vec<Vec<Option<String>>>;

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl Rows {
    /// Rows that are only added.
    pub(crate) fn new(columns: Vec<Field>, batches: SendableRecordBatchStream, context: EvalContext) -> Self {
        Self { columns, times: vec![], batches, context, changelog: false, ops: vec![] }
    }

    /// The columns' types as Flink prints them, kinds of time attributes included: `TIMESTAMP(3) *ROWTIME*`.
    pub fn types(&self) -> impl Iterator<Item = String> {
        let times = self.times.iter().copied().chain(std::iter::repeat(None));
        self.columns.iter().zip(times).map(|(field, time)| match time {
            Some(time) => format!("{} {time}", field.data_type),
            None => field.data_type.to_string(),
        })
    }

    /// Whether rows may change: the query runs in streaming mode and its rows are a changelog.
    pub fn is_changelog(&self) -> bool {
        self.changelog
    }

    /// What happens to each of the rows that [`Self::next_text`] gave last; empty where all rows are added.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The next rows as Flink prints their values, `None` at the end.
    ///
    /// # Errors
    /// What failed while the query ran.
    pub async fn next_text(&mut self) -> Option<Result<TextRows>> {
        let next = AssertUnwindSafe(self.batches.next()).catch_unwind().await;
        let batch = match next {
            Ok(batch) => batch?,
            Err(panic) => return Some(Err(panicked(panic.as_ref()))),
        };
        Some(batch.map_err(crate::error::from_datafusion).and_then(|b| self.text(&b)))
    }

    fn text(&mut self, batch: &RecordBatch) -> Result<TextRows> {
        if self.changelog {
            let ops = Ops::new(batch, Some(self.columns.len())).map_err(crate::error::from_datafusion)?;
            let ops = (0..batch.num_rows()).map(|row| ops.get(row)).collect::<datafusion::common::Result<_>>();
            self.ops = ops.map_err(crate::error::from_datafusion)?;
        }
        let columns = self
            .columns
            .iter()
            .zip(batch.columns())
            .map(|(field, array)| {
                if !field.data_type.nullable && array.logical_null_count() > 0 {
                    return Err(not_null::null_error(&field.name));
                }
                calve_functions::cast_to_string(array, &field.data_type, &self.context)
            })
            .collect::<Result<Vec<_>>>()?;
        if columns.len() != self.columns.len() {
            return Err(Error::internal("the result has another number of columns than its plan"));
        }
        Ok((0..batch.num_rows())
            .map(|row| {
                columns.iter().map(|column| column.is_valid(row).then(|| column.value(row).to_owned())).collect()
            })
            .collect())
    }
}

/// Rows that a statement changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowCounts {
    /// Rows that are gone.
    pub deleted: u64,
    /// Rows that have other values.
    pub updated: u64,
    /// New rows.
    pub inserted: u64,
}

/// What one INSERT did, or one DELETE, UPDATE or MERGE.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteSummary {
    /// The target, `cat.db.t`.
    pub table: String,
    /// Rows written; of a DELETE, UPDATE or MERGE, rows changed.
    pub rows: u64,
    /// Data files added.
    pub data_files: usize,
    /// Delete files added, deletion vectors included.
    pub delete_files: usize,
    /// Rows in equality-delete files.
    pub equality_deletes: u64,
    /// Rows deleted by position, in files or vectors.
    pub position_deletes: u64,
    /// Data files that an overwrite or a change of an Iceberg table took away; `None` for other writes.
    pub replaced_files: Option<u64>,
    /// Rows that a DELETE, UPDATE or MERGE changed; `None` for an INSERT.
    pub changed: Option<RowCounts>,
    /// Rows dropped by `table.exec.sink.not-null-enforcer` = `DROP`.
    pub dropped_rows: u64,
    /// The new snapshot; `None` if there was nothing to write, and for tables outside Iceberg.
    pub snapshot_id: Option<i64>,
    /// An earlier run of the job committed it, at this time in milliseconds since 1970: nothing was written now. Counts are
    /// those of that snapshot.
    pub committed_before: Option<i64>,
    /// Wall time.
    pub elapsed: std::time::Duration,
}
