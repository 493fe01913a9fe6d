//! One JSON object for each statement: the contract that programs depend on.
//!
//! ```json
//! {"n":1,"sql":"...","line":1,"kind":"query","columns":[{"name":"a","type":"INT NOT NULL"}],"rows":[["1",null]],
//!  "ops":["+I"],"stdout":["+I[1]"],"warnings":[{"code":"...","message":"..."}],"status":"ok"}
//! {"n":2,"sql":"...","line":2,"kind":"insert","job_id":"...",
//!  "written":[{"table":"c.d.t","rows":2,"data_files":1,"delete_files":0,"snapshot_id":"42"}],"status":"ok"}
//! {"n":3,"sql":"...","line":3,"kind":"command","status":"error",
//!  "error":{"code":"unknown-table","message":"...","detail":null,"hint":null,"line":3,"column":8}}
//! ```
//!
//! Keys come in this order; those that say nothing about a statement are left out. Rows are written while they are
//! read. A statement that fails before any of its text was given out shows no rows; one that fails later
//! keeps those it gave out, and its status is `error`.

use std::io::{self, Write};

use calve_engine::{Op, ResultBody, Rows, StatementKind, StatementResult, Warning, WriteSummary, masked, utc};
use calve_types::Error;
use serde_json::json;

use super::{Failure, Heading};

/// Text that is held back before a part of an object is given out.
const BUFFERED: usize = 256 * 1024;

/// Prints results for programs.
#[derive(Debug)]
pub struct JsonlOutput<W> {
    out: W,
    buffer: Vec<u8>,
    state: State,
}

/// How much of an object is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing of it was given out: it can still become another one.
    Held,
    /// Some of it was given out, and its array of rows is open.
    InRows,
}

impl<W: Write> JsonlOutput<W> {
    /// Prints to `out`.
    pub fn new(out: W) -> Self {
        Self { out, buffer: Vec::new(), state: State::Held }
    }

    /// Prints a statement's result. `printed` are the lines of its print tables; `streaming` says that the session's runtime
    /// mode is streaming.
    ///
    /// # Errors
    /// The statement fails while its rows are read (call [`Self::error`] then), or `out` cannot be written.
    pub async fn result(
        &mut self,
        heading: Heading<'_>,
        result: StatementResult,
        printed: &[String],
        streaming: bool,
    ) -> Result<(), Failure> {
        self.begin(heading)?;
        let mut written = Vec::new();
        match result.body {
            ResultBody::Done => {}
            ResultBody::Rows(rows) => {
                let ops = streaming && heading.kind == StatementKind::Query;
                self.rows(rows, ops).await?;
            }
            ResultBody::Written(writes) => written = writes,
        }
        self.printed(printed)?;
        self.warnings(&result.warnings)?;
        if let Some(id) = &result.job_id {
            self.buffer.extend_from_slice(b",\"job_id\":");
            serde_json::to_writer(&mut self.buffer, id).map_err(io::Error::from)?;
        }
        self.written(&written)?;
        self.buffer.extend_from_slice(b",\"status\":\"ok\"}\n");
        Ok(self.give_out()?)
    }

    /// Prints a failed statement, or ends the object of a statement that failed while its rows were printed.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn error(&mut self, heading: Heading<'_>, printed: &[String], error: &Error) -> io::Result<()> {
        match self.state {
            State::Held => self.begin(heading)?,
            State::InRows => self.buffer.push(b']'),
        }
        self.printed(printed)?;
        let place = error.span.filter(|span| span.is_known()).map(|span| span.start);
        let error = json!({
            "code": error.code,
            "message": error.message,
            "detail": error.detail,
            "hint": error.hint,
            "line": place.map(|place| place.line),
            "column": place.map(|place| place.column),
        });
        writeln!(self.buffer, ",\"status\":\"error\",\"error\":{error}}}")?;
        self.give_out()
    }

    fn begin(&mut self, heading: Heading<'_>) -> io::Result<()> {
        self.buffer.clear();
        self.state = State::Held;
        write!(self.buffer, "{{\"n\":{},\"sql\":", heading.n)?;
        serde_json::to_writer(&mut self.buffer, &masked(heading.sql))?;
        let kind = match heading.kind {
            StatementKind::Query => "query",
            StatementKind::Insert => "insert",
            StatementKind::Command => "command",
        };
        write!(self.buffer, ",\"line\":{},\"kind\":\"{kind}\"", heading.line)
    }

    async fn rows(&mut self, mut rows: Rows, ops: bool) -> Result<(), Failure> {
        let columns: Vec<_> =
            rows.columns.iter().zip(rows.types()).map(|(field, of)| json!({"name": field.name, "type": of})).collect();
        self.buffer.extend_from_slice(b",\"columns\":");
        serde_json::to_writer(&mut self.buffer, &columns).map_err(io::Error::from)?;
        self.buffer.extend_from_slice(b",\"rows\":[");
        let mut count: u64 = 0;
        // they stand behind the rows: a byte for each has to wait
        let mut changes = Vec::new();
        while let Some(batch) = rows.next_text().await {
            let batch = batch?;
            changes.extend_from_slice(rows.ops());
            for row in batch {
                if count > 0 {
                    self.buffer.push(b',');
                }
                count += 1;
                serde_json::to_writer(&mut self.buffer, &row).map_err(io::Error::from)?;
                self.give_out_if_long()?;
            }
        }
        self.buffer.push(b']');
        if ops {
            self.ops(count, &changes)?;
        }
        Ok(())
    }

    /// What happens to each row; without `changes` all are added.
    fn ops(&mut self, count: u64, changes: &[Op]) -> io::Result<()> {
        self.buffer.extend_from_slice(b",\"ops\":[");
        let mut changes = changes.iter();
        for n in 0..count {
            let op = changes.next().copied().unwrap_or(Op::Insert);
            write!(self.buffer, "{}\"{op}\"", if n == 0 { "" } else { "," })?;
            self.give_out_if_long()?;
        }
        self.buffer.push(b']');
        Ok(())
    }

    fn printed(&mut self, lines: &[String]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.buffer.extend_from_slice(b",\"stdout\":");
        Ok(serde_json::to_writer(&mut self.buffer, lines)?)
    }

    fn warnings(&mut self, warnings: &[Warning]) -> io::Result<()> {
        if warnings.is_empty() {
            return Ok(());
        }
        let warnings: Vec<_> =
            warnings.iter().map(|warning| json!({"code": warning.code, "message": warning.message})).collect();
        self.buffer.extend_from_slice(b",\"warnings\":");
        Ok(serde_json::to_writer(&mut self.buffer, &warnings)?)
    }

    /// What each INSERT wrote; of a DELETE, UPDATE or MERGE also how many rows were deleted, updated and inserted, and when an
    /// earlier run of the job committed it. Ids of snapshots are texts: they have more digits than a number has in many readers.
    fn written(&mut self, writes: &[WriteSummary]) -> io::Result<()> {
        if writes.is_empty() {
            return Ok(());
        }
        let writes: Vec<_> = writes
            .iter()
            .map(|write| {
                let mut line = json!({
                    "table": write.table,
                    "rows": write.rows,
                    "data_files": write.data_files,
                    "delete_files": write.delete_files,
                    "snapshot_id": write.snapshot_id.map(|id| id.to_string()),
                });
                if let (Some(changed), Some(line)) = (write.changed, line.as_object_mut()) {
                    line.insert("deleted".to_owned(), changed.deleted.into());
                    line.insert("updated".to_owned(), changed.updated.into());
                    line.insert("inserted".to_owned(), changed.inserted.into());
                }
                if let (Some(at), Some(line)) = (write.committed_before, line.as_object_mut()) {
                    line.insert("committed_before".to_owned(), utc(at).into());
                }
                if let (Some(replaced), Some(line)) = (write.replaced_files, line.as_object_mut()) {
                    line.insert("replaced_files".to_owned(), replaced.into());
                }
                line
            })
            .collect();
        self.buffer.extend_from_slice(b",\"written\":");
        Ok(serde_json::to_writer(&mut self.buffer, &writes)?)
    }

    fn give_out_if_long(&mut self) -> io::Result<()> {
        if self.buffer.len() >= BUFFERED {
            self.state = State::InRows;
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn give_out(&mut self) -> io::Result<()> {
        self.state = State::Held;
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use calve_types::{Location, Span};
    use serde_json::Value;

    use super::*;

    const HEADING: Heading<'_> = Heading { n: 2, sql: "SELECT \"é\"\n", line: 3, kind: StatementKind::Query };

    fn failed() -> Error {
        let place = Location { line: 4, column: 8 };
        Error::new("cast-failed", "cannot cast 'x' to INT").at(Span::new(place, place))
    }

    fn only_line(out: Vec<u8>) -> Value {
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_failed_statement_has_all_fields_of_its_error() {
        let mut output = JsonlOutput::new(Vec::new());
        output.error(HEADING, &[], &failed()).unwrap();
        assert_eq!(
            String::from_utf8(output.out).unwrap(),
            "{\"n\":2,\"sql\":\"SELECT \\\"é\\\"\\n\",\"line\":3,\"kind\":\"query\",\"status\":\"error\",\"error\":\
             {\"code\":\"cast-failed\",\"message\":\"cannot cast 'x' to INT\",\"detail\":null,\"hint\":null,\"line\":4,\
             \"column\":8}}\n"
        );
    }

    #[test]
    fn rows_that_were_held_back_are_dropped_by_a_failure() {
        let mut output = JsonlOutput::new(Vec::new());
        output.begin(HEADING).unwrap();
        output.buffer.extend_from_slice(b",\"columns\":[],\"rows\":[[\"1\"]");
        output.give_out_if_long().unwrap();
        output.error(HEADING, &[], &failed()).unwrap();
        let object = only_line(output.out);
        assert!(object.get("rows").is_none() && object["status"] == "error");
    }

    #[test]
    fn rows_that_were_given_out_stay_in_a_whole_object() {
        let mut output = JsonlOutput::new(Vec::new());
        output.begin(HEADING).unwrap();
        output.buffer.extend_from_slice(b",\"columns\":[],\"rows\":[[\"1\"]");
        while output.state == State::Held {
            output.buffer.extend_from_slice(b",[\"2\"]");
            output.give_out_if_long().unwrap();
        }
        output.error(HEADING, &[], &failed()).unwrap();
        let object = only_line(output.out);
        assert!(object["rows"].as_array().unwrap().len() > 1_000 && object["status"] == "error");
        assert_eq!(object["error"]["code"], "cast-failed");
    }
}
