//! Rows and what happens to them to messages. As Flink's sinks, an update is written as a delete and an insert.

use calve_stream::Op;
use calve_types::Result;

use super::{ChangelogFormat, Dialect};
use crate::values::Values;

impl ChangelogFormat {
    /// Appends a line.
    ///
    /// # Errors
    /// As [`super::super::json::JsonFormat::encode`].
    pub fn encode(
        &self,
        op: Op,
        columns: &[(&str, Values<'_>)],
        row: usize,
        scratch: &mut String,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let (before, after): (&str, &str) = match (&self.dialect, op.adds()) {
            (Dialect::Debezium { .. }, true) => ("{\"before\":null,\"after\":", ",\"op\":\"c\"}\n"),
            (Dialect::Debezium { .. }, false) => ("{\"before\":", ",\"after\":null,\"op\":\"d\"}\n"),
            (Dialect::Ogg, true) => ("{\"before\":null,\"after\":", ",\"op_type\":\"I\"}\n"),
            (Dialect::Ogg, false) => ("{\"before\":", ",\"after\":null,\"op_type\":\"D\"}\n"),
            (Dialect::Canal { .. }, true) => ("{\"data\":[", "],\"type\":\"INSERT\"}\n"),
            (Dialect::Canal { .. }, false) => ("{\"data\":[", "],\"type\":\"DELETE\"}\n"),
            (Dialect::Maxwell, true) => ("{\"data\":", ",\"type\":\"insert\"}\n"),
            (Dialect::Maxwell, false) => ("{\"data\":", ",\"type\":\"delete\"}\n"),
        };
        out.extend_from_slice(before.as_bytes());
        self.json.encode_object(columns, row, scratch, out)?;
        out.extend_from_slice(after.as_bytes());
        Ok(())
    }
}
