//! Watermarks of tables: from a table's WATERMARK clause on, its column is a rowtime attribute.

use std::sync::Arc;

use calve_sql::ast;
use calve_types::{Error, Result, Span};

use super::table::in_definition;
use super::{Binder, walk};
use crate::catalog::TableEntry;
use crate::rel::{Rel, RelKind};

/// Flink's default of `pipeline.auto-watermark-interval`, in milliseconds.
const INTERVAL: i64 = 200;

impl Binder<'_> {
    /// The rows of a table, under its watermark if it has one; in batch mode there are none.
    ///
    /// # Errors
    /// Those of the watermark's expression; `not-supported` for SOURCE_WATERMARK().
    pub(super) fn with_watermark(&self, rel: Rel, entry: &Arc<TableEntry>, place: Span) -> Result<Rel> {
        let Some(watermark) = entry.watermark.as_ref().filter(|_| self.streaming()) else { return Ok(rel) };
        let Some(column) = entry.columns.iter().position(|c| c.name == watermark.column) else {
            return Err(Error::internal(format!("no column '{}' for the watermark", watermark.column)));
        };
        if is_source_watermark(&watermark.expr) {
            return Err(source_watermark(entry).at(place));
        }
        let bound = self.over_columns(&watermark.expr, &entry.columns, "watermark");
        let mut expr = bound.map_err(|e| in_definition(e, &watermark.column, entry, place))?;
        walk::place(&mut expr, place)?;
        let interval = self.catalog.option("pipeline.auto-watermark-interval");
        let interval = interval.and_then(|text| duration(&text)).unwrap_or(INTERVAL);
        let fields = rel.fields.clone();
        let kind = RelKind::Watermark { input: Box::new(rel), column, expr, interval, shown: false };
        Ok(Rel { kind, fields })
    }
}

/// Whether a watermark is the source's own: `SOURCE_WATERMARK()`.
pub(super) fn is_source_watermark(e: &ast::Expr) -> bool {
    matches!(e, ast::Expr::Function(f) if f.name.to_string().eq_ignore_ascii_case("SOURCE_WATERMARK"))
}

fn source_watermark(entry: &TableEntry) -> Error {
    let error = Error::unsupported(format!("SOURCE_WATERMARK() of '{}'", entry.path));
    match entry.options.get("connector").map(String::as_str) {
        Some("iceberg") | None => error.with_detail("watermark-column needs to be configured to use source watermark."),
        Some(_) => error.with_detail(format!(
            "SOURCE_WATERMARK() is declared for table '{}', but the table source doesn't support SupportsSourceWatermark.",
            entry.path
        )),
    }
}

/// A duration in milliseconds.
fn duration(text: &str) -> Option<i64> {
    calve_options::parse_duration(text).and_then(|d| i64::try_from(d.as_millis()).ok())
}
