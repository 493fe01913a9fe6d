//! Watermarks of tables: from a table's WATERMARK clause on, its column is a rowtime attribute.

use std::sync::Arc;

use calve_sql::ast;
use calve_types::{Error, Result, Span};

use super::table::in_definition;
use super::{Binder, late, walk};
use crate::catalog::TableEntry;
use crate::expr::{Expr, ExprKind};
use crate::rel::{Rel, RelKind};
use crate::time::TimeAttribute;

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

/// Checks the calls of CURRENT_WATERMARK in a relation of streaming mode.
///
/// # Errors
/// `no-time-attribute` for another argument than a rowtime attribute; `not-supported` where rows come without their
/// table's watermarks.
pub(super) fn check_current_watermark(rel: &Rel) -> Result<()> {
    let (_, exprs) = crate::lower::parts(rel);
    for expr in exprs {
        let mut call = None;
        walk::any(expr, &mut |e| {
            if is_current_watermark(e) {
                call = Some(e.clone());
            }
            call.is_some()
        });
        let Some(call) = call else { continue };
        let ExprKind::Call { args, .. } = &call.kind else { continue };
        let Some(arg) = args.first() else { continue };
        let (RelKind::Project { input, .. } | RelKind::Filter { input, .. }) = &rel.kind else {
            return Err(Error::unsupported("CURRENT_WATERMARK inside of an aggregate or a join")
                .with_hint("compute it in a subquery first")
                .at(call.span));
        };
        let is_rowtime = matches!(arg.kind, ExprKind::Column(c) if input.time(c) == Some(TimeAttribute::Rowtime));
        if !is_rowtime {
            return Err(Error::new("no-time-attribute", "CURRENT_WATERMARK takes a rowtime attribute")
                .with_detail(format!(
                    "The argument of CURRENT_WATERMARK() must be a rowtime attribute, but was '{}'.",
                    arg.data_type
                ))
                .with_hint("declare WATERMARK FOR the column in its table, and use it as it is")
                .at(call.span));
        }
        if !late::has_watermark(input) {
            return Err(
                Error::unsupported("CURRENT_WATERMARK of rows that do not come from a table as they are").at(call.span)
            );
        }
    }
    Ok(())
}

/// Whether an expression is a call of CURRENT_WATERMARK.
pub(super) fn is_current_watermark(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Call { function, .. } if function.name == "CURRENT_WATERMARK")
}

/// Whether a watermark is the source's own: `SOURCE_WATERMARK()`.
pub(super) fn is_source_watermark(e: &ast::Expr) -> bool {
    matches!(e, ast::Expr::Function(f) if f.name.to_string().eq_ignore_ascii_case("SOURCE_WATERMARK"))
}

fn source_watermark(entry: &TableEntry) -> Error {
    let error = Error::unsupported(format!("SOURCE_WATERMARK() of '{}'", entry.path));
    match entry.options.get("connector").map(String::as_str) {
        Some("iceberg") | None => error.with_detail("watermark-column needs to be configured to use source watermark."),
        Some(_) => error.with_detail(
            "SOURCE_WATERMARK() is a declarative marker function and doesn't have concrete runtime implementation. It can only be used as a single expression in a WATERMARK FOR clause in the CREATE TABLE DDL. The declaration will be pushed down into a table source that implements the 'org.apache.flink.table.connector.source.abilities.SupportsSourceWatermark'",
        ),
    }
}

/// A duration in milliseconds.
fn duration(text: &str) -> Option<i64> {
    calve_options::parse_duration(text).and_then(|d| i64::try_from(d.as_millis()).ok())
}
