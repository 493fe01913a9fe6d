//! `print`: a line for each row, or for each change of one, as `PrintTableSinkFactory` and `Row.toString` write it.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use calve_stream::op::Ops;
use calve_types::{DataType, Result};
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

use crate::options::Options;
use crate::values::{self, Kind, Stamp, Values};
use crate::{ConnectorContext, Pending, PrintLines, Sink, SinkMode, TableDefinition, Visible, from_datafusion, java};

/// The sink of a print table.
pub(crate) struct PrintSink {
    columns: Vec<DataType>,
    prefix: String,
    lines: PrintLines,
}

impl PrintSink {
    /// # Errors
    /// Options that Flink refuses.
    pub fn new(
        table: &TableDefinition,
        options: &Options,
        mode: &SinkMode,
        context: &ConnectorContext,
    ) -> Result<Self> {
        let to_stderr = options.boolean("standard-error")?;
        options.integer("sink.parallelism")?;
        let mut parts: Vec<String> = options.get("print-identifier").map(str::to_owned).into_iter().collect();
        for key in &table.partition_keys {
            if let Some((_, value)) = mode.static_partition.iter().find(|(name, _)| name == key) {
                parts.push(format!("{key}={value}"));
            }
        }
        parts.retain(|part| !part.is_empty());
        let prefix = if parts.is_empty() { String::new() } else { format!("{}> ", parts.join(":")) };
        let lines: PrintLines = if to_stderr { Arc::new(|line| eprintln!("{line}")) } else { context.print.clone() };
        Ok(Self { columns: table.columns.iter().map(|(_, t)| t.clone()).collect(), prefix, lines })
    }
}

#[async_trait]
impl Sink for PrintSink {
    async fn write(self: Box<Self>, mut rows: SendableRecordBatchStream) -> Result<Box<dyn Pending>> {
        let mut count = 0;
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(from_datafusion)?;
            let columns = batch
                .columns()
                .iter()
                .zip(&self.columns)
                .map(|(array, data_type)| Values::new(array, &data_type.logical))
                .collect::<Result<Vec<_>>>()?;
            // a column more says what happens to the rows
            let changes = (batch.num_columns() > self.columns.len()).then_some(self.columns.len());
            let ops = Ops::new(&batch, changes).map_err(from_datafusion)?;
            for row in 0..batch.num_rows() {
                let mut line = self.prefix.clone();
                line.push_str(ops.get(row).map_err(from_datafusion)?.name());
                push_list(columns.iter(), &mut line, |column, out| push_value(column, row, out));
                (self.lines)(line);
            }
            count += batch.num_rows() as u64;
        }
        Ok(Box::new(Visible(count)))
    }
}

/// A value as the `toString` of its Java object.
fn push_value(values: &Values<'_>, row: usize, out: &mut String) {
    if values.is_null(row) {
        out.push_str("null");
        return;
    }
    match &values.kind {
        Kind::Null => out.push_str("null"),
        Kind::Boolean(_)
        | Kind::TinyInt(_)
        | Kind::SmallInt(_)
        | Kind::Int(_)
        | Kind::BigInt(_)
        | Kind::Float(_)
        | Kind::Double(_)
        | Kind::Text(_) => values::push_plain(&values.kind, row, out),
        Kind::Decimal(a, scale) => java::push_decimal(a.value(row), i32::from(*scale), out),
        // Java's bytes are signed
        Kind::Bytes(a) => push_list(a.value(row).iter(), out, |byte, out| {
            // Writing to a String cannot fail.
            let _ = write!(out, "{}", byte.cast_signed());
        }),
        Kind::Date(a) => java::push_date(i64::from(a.value(row)), out),
        Kind::Time(a) => {
            let (seconds, nanos) = values::of_micros(a.value(row));
            java::push_local_time(seconds, nanos, out);
        }
        Kind::Micros(a, zoned) => push_stamp(values::of_micros(a.value(row)), *zoned, out),
        Kind::Nanos(a, zoned) => push_stamp(values::of_nanos(a.value(row)), *zoned, out),
        Kind::List(offsets, elements) => {
            push_list(values::range(offsets, row), out, |i, out| push_value(elements, i, out));
        }
        Kind::Map(offsets, entries) => {
            out.push('{');
            for (n, i) in values::range(offsets, row).enumerate() {
                if n > 0 {
                    out.push_str(", ");
                }
                push_value(&entries.0, i, out);
                out.push('=');
                push_value(&entries.1, i, out);
            }
            out.push('}');
        }
        Kind::Row(fields) => {
            out.push_str("+I");
            push_list(fields.iter(), out, |(_, field), out| push_value(field, row, out));
        }
    }
}

fn push_list<I: Iterator>(items: I, out: &mut String, push: impl Fn(I::Item, &mut String)) {
    out.push('[');
    for (n, item) in items.enumerate() {
        if n > 0 {
            out.push_str(", ");
        }
        push(item, out);
    }
    out.push(']');
}

/// `LocalDateTime.toString` or `Instant.toString`.
fn push_stamp((seconds, nanos): Stamp, zoned: bool, out: &mut String) {
    java::push_date(seconds.div_euclid(86_400), out);
    out.push('T');
    let of_day = seconds.rem_euclid(86_400);
    if zoned {
        java::push_instant_time(of_day, nanos, out);
        out.push('Z');
    } else {
        java::push_local_time(of_day, nanos, out);
    }
}

#[cfg(test)]
mod tests;
