//! What Flink refuses of a query in streaming mode.
//!
//! These rules are about the whole plan (a ranking is a Top-N only under a filter), so they are checked on the bound
//! statement.

use calve_types::{Error, Result, Span};

use super::rowtime::check_current_watermark;
use super::{nested, walk};
use crate::expr::{Bound, Expr, ExprKind, OverCall, OverFunction};
use crate::rel::{Rel, RelKind, Sink};
use crate::stream;
use crate::time::TimeAttribute;

/// Checks a statement's relation; `ordered` says whether its query has an ORDER BY itself.
///
/// # Errors
/// `not-supported` for functions over windows that Flink has only in batch mode, for orders in time over windows, and for
/// an order without LIMIT that is none in time.
pub(super) fn check(rel: &Rel, ordered: bool) -> Result<()> {
    if ordered {
        sorted(rel)?;
    }
    visit(rel, &[])?;
    stream::plan(rel).map(drop)
}

/// Checks an INSERT whose query passed [`check`].
///
/// # Errors
/// `sink-changes` if the query changes rows and the target takes new ones only.
pub(super) fn check_sink(sink: &Sink) -> Result<()> {
    stream::check_sink(sink, &stream::plan(&sink.input)?)
}

/// An ORDER BY of the whole statement. One inside of it means nothing without a LIMIT: Flink leaves it out.
fn sorted(rel: &Rel) -> Result<()> {
    let mut rel = rel;
    while let RelKind::Project { input, .. } = &rel.kind {
        rel = input;
    }
    let RelKind::Sort { input, keys } = &rel.kind else { return Ok(()) };
    let Some(first) = keys.first() else { return Ok(()) };
    let place = first.expr.span;
    match first.expr.kind {
        ExprKind::Column(index) if is_time(input, index) && first.descending => Err(refused(
            "ORDER BY a time attribute in descending order",
            "Sort: Primary sort order of a streaming table must be ascending on time.",
            place,
        )),
        ExprKind::Column(index) if is_time(input, index) => Ok(()),
        _ => Err(refused(
            "ORDER BY a column that is no time attribute, without LIMIT",
            "Sort on a non-time-attribute field is not supported.",
            place,
        )),
    }
}

/// What a filter above says of a column.
#[derive(Debug, Clone, Copy)]
struct Compared {
    column: usize,
    /// Whether it says that the column is not above something.
    from_above: bool,
}

fn visit(rel: &Rel, compared: &[Compared]) -> Result<()> {
    check_current_watermark(rel)?;
    nested(|| match &rel.kind {
        RelKind::Filter { input, predicate } => {
            let mut all = compared.to_vec();
            comparisons(predicate, &mut all);
            visit(input, &all)
        }
        RelKind::Project { input, exprs } => {
            let below: Vec<Compared> = compared
                .iter()
                .filter_map(|c| match exprs.get(c.column)?.kind {
                    ExprKind::Column(column) => Some(Compared { column, ..*c }),
                    _ => None,
                })
                .collect();
            visit(input, &below)
        }
        RelKind::Over { input, calls } => {
            over(input, calls, compared)?;
            visit(input, &[])
        }
        _ => {
            in_event_time(rel)?;
            walk::inputs(rel).into_iter().try_for_each(|input| visit(input, &[]))
        }
    })
}

/// Windows in processing time end when the machine's clock says so, which for tables that end is never.
fn in_event_time(rel: &Rel) -> Result<()> {
    if !rel.is_window_aggregate() {
        return Ok(());
    }
    let mut below = rel;
    while let RelKind::Aggregate { input, .. }
    | RelKind::Project { input, .. }
    | RelKind::Filter { input, .. }
    | RelKind::Expand { input, .. } = &below.kind
    {
        below = input;
    }
    match &below.kind {
        RelKind::Windows { input, time, .. } if input.time(*time) == Some(TimeAttribute::Proctime) => {
            Err(Error::unsupported("windows in processing time").with_hint(
                "use a column with a watermark: windows in processing time give nothing of a table that ends",
            ))
        }
        _ => Ok(()),
    }
}

/// The comparisons of columns in a condition.
fn comparisons(condition: &Expr, found: &mut Vec<Compared>) {
    let ExprKind::Call { function, args } = &condition.kind else { return };
    let column = |e: &Expr| match &e.kind {
        ExprKind::Column(column) => Some(*column),
        ExprKind::Cast { expr, .. } => match expr.kind {
            ExprKind::Column(column) => Some(column),
            _ => None,
        },
        _ => None,
    };
    let mut add = |e: Option<&Expr>, from_above: bool| {
        found.extend(e.and_then(column).map(|column| Compared { column, from_above }));
    };
    match (function.name, args.as_slice()) {
        ("AND", args) => args.iter().for_each(|arg| nested(|| comparisons(arg, found))),
        ("=", [a, b]) => {
            add(Some(a), true);
            add(Some(b), true);
        }
        ("<" | "<=", [a, b]) => {
            add(Some(a), true);
            add(Some(b), false);
        }
        (">" | ">=", [a, b]) => {
            add(Some(a), false);
            add(Some(b), true);
        }
        ("BETWEEN", [a, ..]) => add(Some(a), true),
        _ => {}
    }
}

fn refused(feature: &str, detail: impl Into<String>, place: Span) -> Error {
    Error::unsupported(format!("{feature} in streaming mode"))
        .with_detail(detail)
        .with_hint("SET 'execution.runtime-mode' = 'batch'")
        .at(place)
}

fn over(input: &Rel, calls: &[OverCall], compared: &[Compared]) -> Result<()> {
    use OverFunction::{CumeDist, DenseRank, Lead, Ntile, PercentRank, Rank, RowNumber};
    let width = input.fields.len();
    let Some(first) = calls.first() else { return Ok(()) };
    if let [call] = calls
        && matches!(call.function, RowNumber | Rank | DenseRank)
    {
        let uses = compared.iter().filter(|c| c.column == width);
        if call.function != RowNumber && uses.clone().any(|c| c.from_above) && in_window(input, call) {
            let name = call.function.name();
            let detail =
                format!("{name}() function is not supported on Window TopN currently, only ROW_NUMBER() is supported.");
            return Err(refused(&format!("a Top-N of windows by {name}"), detail, call.span));
        }
        if call.function == RowNumber && uses.clone().any(|c| c.from_above) && in_window(input, call) {
            return Ok(());
        }
        let name = call.function.name();
        match (uses.clone().count(), uses.clone().any(|c| c.from_above)) {
            (0, _) => {}
            (_, _) if call.function != RowNumber => {
                let detail = format!("{name}() on streaming table is not supported currently");
                return Err(refused(&format!("Top-N by {name}"), detail, call.span));
            }
            (_, true) => return Ok(()),
            (_, false) => {
                let detail = "Rank end is not specified. Currently rank only support TopN, which means the rank end must be specified.";
                return Err(refused("a ranking without an upper limit", detail, call.span));
            }
        }
    }
    for call in calls {
        if matches!(call.function, Ntile | Lead | CumeDist | PercentRank) {
            let name = call.function.name();
            let detail = format!("{name} Function is not supported in stream mode.");
            return Err(refused(name, detail, call.span));
        }
        let same_frame = |a: &OverCall| a.frame == first.frame || !is_aggregate(a) || !is_aggregate(first);
        let same_kind = (call.function == RowNumber) == (first.function == RowNumber);
        if !(walk::same_window(call, first) && same_frame(call) && same_kind) {
            let detail = "Over Agg: Unsupported use of OVER windows. All aggregates must be computed on the same window. please re-check the over window statement.";
            return Err(refused("different windows in one query", detail, call.span));
        }
    }
    let place = first.span;
    let [key] = first.order.as_slice() else {
        return Err(refused(
            "a window that is not ordered by one column",
            "The window can only be ordered by a single time column.",
            place,
        ));
    };
    if key.descending {
        return Err(refused(
            "a window in descending order",
            "The window can only be ordered in ASCENDING mode.",
            place,
        ));
    }
    let frames = || calls.iter().filter(|c| is_aggregate(c)).map(|c| c.frame);
    if frames().any(|f| matches!(f.end, Bound::Last) || matches!(f.end, Bound::Offset(n) if n > 0)) {
        return Err(refused(
            "a frame that ends after the current row",
            "OVER RANGE FOLLOWING windows are not supported yet.",
            place,
        ));
    }
    if matches!(key.expr.kind, ExprKind::Column(column) if is_time(input, column)) {
        return Ok(());
    }
    let in_rows = first.function == RowNumber || frames().any(|f| !f.range || f.start != Bound::First);
    if in_rows {
        return Err(refused(
            &format!("{} over a window in the order of a column that is no time attribute", first.function.name()),
            "OVER windows with UNBOUNDED PRECEDING are not supported when sorting on a non-time attribute column.",
            place,
        ));
    }
    Ok(())
}

/// Whether a ranking is one of the rows of each window: its rows come once, when their window ends.
fn in_window(input: &Rel, call: &OverCall) -> bool {
    let column = |e: &Expr| match e.kind {
        ExprKind::Column(column) => Some(column),
        _ => None,
    };
    let columns: Vec<usize> = call.partition.iter().filter_map(column).collect();
    crate::time::is_whole_window(input, &columns)
}

fn is_aggregate(call: &OverCall) -> bool {
    matches!(call.function, OverFunction::Aggregate(_))
}

/// Whether a column is a time attribute: a column with a watermark, or PROCTIME().
fn is_time(rel: &Rel, index: usize) -> bool {
    rel.time(index).is_some()
}
