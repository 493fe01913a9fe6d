//! Late rows.
//!
//! Flink's operators in time drop rows that come behind the watermark: windows that have ended, times that have passed.
//! Whether a row is late depends on the rows before it in its table. So where something asks, the table's watermark becomes
//! a column that goes along with its rows, and what drops late rows becomes a filter on it.

use calve_types::{LogicalType, Result, Span};

use super::rowtime::is_current_watermark;
use super::{call, walk};
use crate::expr::{Bound, Expr, ExprKind, OverCall, OverFunction};
use crate::rel::{Field, Rel, RelKind, Window};
use crate::stream::window::same_window;
use crate::time::{TimeAttribute, is_whole_window};

/// The relation with its late rows dropped; `None` if nothing in it asks for watermarks.
///
/// # Errors
/// `internal` if the algebra contradicts itself.
pub(crate) fn without_late_rows(rel: &Rel) -> Result<Option<Rel>> {
    super::on_deep_stack(|| {
        if !any(rel, &|rel| matches!(rel.kind, RelKind::Watermark { .. })) {
            return Ok(None);
        }
        let mut in_time = rel.clone();
        drop_unsorted(&mut in_time)?;
        rewrite(&mut in_time)?;
        Ok(any(&in_time, &is_shown).then_some(in_time))
    })
}

/// Whether the rows of a relation depend on the order in which its tables give theirs.
pub fn depends_on_order(rel: &Rel) -> bool {
    let depends = |rel: &Rel| {
        super::on_deep_stack(|| any(rel, &|rel| matches!(rel.kind, RelKind::Temporal { .. } | RelKind::Match(_))))
    };
    depends(rel) || !matches!(without_late_rows(rel), Ok(None))
}

fn is_shown(rel: &Rel) -> bool {
    matches!(rel.kind, RelKind::Watermark { shown: true, .. })
}

/// Whether a relation, or one inside of it, is such a one.
fn any(rel: &Rel, is: &dyn Fn(&Rel) -> bool) -> bool {
    super::nested(|| {
        let (inputs, exprs) = crate::lower::parts(rel);
        let in_query = &mut |e: &Expr| matches!(&e.kind, ExprKind::Subquery { query, .. } if any(query, is));
        is(rel) || inputs.into_iter().any(|input| any(input, is)) || exprs.into_iter().any(|e| walk::any(e, in_query))
    })
}

fn rewrite(rel: &mut Rel) -> Result<()> {
    super::nested(|| {
        let windows = rel.is_window_aggregate();
        match &mut rel.kind {
            RelKind::Aggregate { input, .. } if windows => drop_ended(input)?,
            RelKind::Join { left, right, condition: Some(condition), .. } if same_window(left, right, condition) => {
                // each side's rows are late by its own watermark; Flink waits for the slower one
                drop_ended(left)?;
                drop_ended(right)?;
            }
            RelKind::Distinct(input) => {
                let all: Vec<usize> = (0..input.fields.len()).collect();
                if is_whole_window(input, &all) {
                    drop_ended(input)?;
                }
            }
            RelKind::Windows { window: Window::Session { .. }, watermark: None, .. } => {
                if let Some((windows, width, fields)) = with_watermark(rel) {
                    *rel = without_column(windows, width, fields);
                }
            }
            RelKind::Over { input, calls } => {
                if let Some(first) = calls.first() {
                    let columns: Vec<usize> = first.partition.iter().filter_map(column).collect();
                    let time = match first.order.first().map(|key| &key.expr.kind) {
                        Some(ExprKind::Column(time)) => Some(*time),
                        _ => None,
                    };
                    if is_whole_window(input, &columns) {
                        drop_ended(input)?;
                    } else if let Some(time) = time.filter(|t| input.time(*t) == Some(TimeAttribute::Rowtime)) {
                        if is_bounded(first) {
                            drop_disordered(input, time, first.partition.clone(), Some(0))?;
                        } else {
                            drop_passed(input, time)?;
                        }
                    }
                }
            }
            RelKind::Match(matching) if matching.input.time(matching.time) == Some(TimeAttribute::Rowtime) => {
                drop_passed(&mut matching.input, matching.time)?;
            }
            _ => {}
        }
        replace_calls(rel)?;
        walk::inputs_mut(rel, &mut rewrite)
    })
}

fn column(e: &Expr) -> Option<usize> {
    match e.kind {
        ExprKind::Column(column) => Some(column),
        _ => None,
    }
}

fn take(rel: &mut Rel) -> Rel {
    std::mem::replace(rel, Rel { kind: RelKind::Values(vec![]), fields: vec![] })
}

/// Drops, from the windows below, rows of windows that had ended.
fn drop_ended(rel: &mut Rel) -> Result<()> {
    match &mut rel.kind {
        RelKind::Project { input, .. }
        | RelKind::Filter { input, .. }
        | RelKind::Expand { input, .. }
        | RelKind::Unnest { input, .. } => drop_ended(input),
        RelKind::Windows { window: Window::Session { .. }, .. } => Ok(()),
        RelKind::Windows { .. } => {
            let Some((windows, width, fields)) = with_watermark(rel) else { return Ok(()) };
            let watermark = windows.fields.get(width).cloned();
            let time = windows.fields.get(width + 3).cloned();
            let (Some(watermark), Some(time)) = (watermark, time) else { return Ok(()) };
            let kept = in_time(reference(width, &watermark), reference(width + 3, &time))?;
            *rel = without_column(filtered(windows, kept), width, fields);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Windows over rows with their watermarks, which are the column behind the input's; and the fields they had. It leaves
/// nothing in the place of what it takes.
fn with_watermark(rel: &mut Rel) -> Option<(Rel, usize, Vec<Field>)> {
    let RelKind::Windows { input, .. } = &rel.kind else { return None };
    let width = input.fields.len();
    let shown = shown(input)?;
    let old = take(rel);
    let RelKind::Windows { time, window, partition, .. } = old.kind else { return None };
    let mut fields = shown.fields.clone();
    fields.extend(old.fields.iter().skip(width).cloned());
    let kind = RelKind::Windows { input: Box::new(shown), time, window, partition, watermark: Some(width) };
    Some((Rel { kind, fields }, width, old.fields))
}

/// Whether a window begins somewhere behind the first row.
fn is_bounded(call: &OverCall) -> bool {
    match call.function {
        OverFunction::Aggregate(_) => call.frame.start != Bound::First,
        _ => false,
    }
}

/// Drops rows that come behind others of their key that were given already.
fn drop_disordered(rel: &mut Rel, time: usize, partition: Vec<Expr>, since: Option<i64>) -> Result<()> {
    let width = rel.fields.len();
    let Some(shown) = shown(rel) else { return Ok(()) };
    let fields = shown.fields.clone();
    let kind = RelKind::InTime { input: Box::new(shown), time, watermark: width, partition, since };
    *rel = without_column(Rel { kind, fields }, width, rel.fields.clone());
    Ok(())
}

/// Drops, from the rows of a statement that are sorted by time, those behind others.
fn drop_unsorted(rel: &mut Rel) -> Result<()> {
    match &mut rel.kind {
        RelKind::Project { input, .. } => drop_unsorted(input),
        RelKind::Sort { input, keys } => {
            let time = keys.first().and_then(|key| column(&key.expr));
            match time.filter(|time| input.time(*time) == Some(TimeAttribute::Rowtime)) {
                Some(time) => drop_disordered(input, time, vec![], None),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Drops rows whose time had passed.
fn drop_passed(rel: &mut Rel, time: usize) -> Result<()> {
    let width = rel.fields.len();
    let Some(shown) = shown(rel) else { return Ok(()) };
    let (Some(watermark), Some(field)) = (shown.fields.get(width).cloned(), rel.fields.get(time).cloned()) else {
        return Ok(());
    };
    let kept = in_time(reference(width, &watermark), reference(time, &field))?;
    let fields = rel.fields.clone();
    *rel = without_column(filtered(shown, kept), width, fields);
    Ok(())
}

/// `watermark IS NULL OR watermark < time`.
fn in_time(watermark: Expr, time: Expr) -> Result<Expr> {
    let none = call::function("IS NULL", vec![watermark.clone()], Span::default())?;
    let before = call::function("<", vec![watermark, time], Span::default())?;
    call::function("OR", vec![none, before], Span::default())
}

fn reference(column: usize, field: &Field) -> Expr {
    Expr { kind: ExprKind::Column(column), data_type: field.data_type.clone(), span: Span::default() }
}

fn filtered(input: Rel, predicate: Expr) -> Rel {
    let fields = input.fields.clone();
    Rel { kind: RelKind::Filter { input: Box::new(input), predicate }, fields }
}

/// The relation without one of its columns, under these fields.
fn without_column(input: Rel, column: usize, fields: Vec<Field>) -> Rel {
    let exprs = input.fields.iter().enumerate().filter(|(i, _)| *i != column).map(|(i, f)| reference(i, f)).collect();
    Rel { kind: RelKind::Project { input: Box::new(input), exprs }, fields }
}

/// Whether the rows of a relation come with their watermarks.
pub(super) fn has_watermark(rel: &Rel) -> bool {
    shown(rel).is_some()
}

/// The relation with the watermark as its last column, if its rows come with one.
fn shown(rel: &Rel) -> Option<Rel> {
    super::nested(|| {
        let mut fields = rel.fields.clone();
        Some(match &rel.kind {
            RelKind::Watermark { input, column, expr, interval, shown: false } => {
                let mut data_type = input.fields.get(*column)?.data_type.clone();
                data_type.nullable = true;
                if !matches!(data_type.logical, LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_)) {
                    return None;
                }
                fields.push(Field { name: "$watermark".to_owned(), data_type });
                let (input, column, expr, interval) = (input.clone(), *column, expr.clone(), *interval);
                Rel { kind: RelKind::Watermark { input, column, expr, interval, shown: true }, fields }
            }
            RelKind::Filter { input, predicate } => {
                let input = shown(input)?;
                fields.push(input.fields.last()?.clone());
                Rel { kind: RelKind::Filter { input: Box::new(input), predicate: predicate.clone() }, fields }
            }
            RelKind::Project { input, exprs } => {
                let input = shown(input)?;
                let last = input.fields.last()?.clone();
                let mut exprs = exprs.clone();
                exprs.push(reference(input.fields.len() - 1, &last));
                fields.push(last);
                Rel { kind: RelKind::Project { input: Box::new(input), exprs }, fields }
            }
            RelKind::Windows { window: Window::Session { .. }, .. } => return None,
            RelKind::Windows { input, time, window, partition, .. } => {
                let width = input.fields.len();
                let below = shown(input)?;
                let last = below.fields.last()?.clone();
                let mut all = below.fields.clone();
                all.extend(rel.fields.iter().skip(width).cloned());
                let kind = RelKind::Windows {
                    input: Box::new(below),
                    time: *time,
                    window: *window,
                    partition: partition.clone(),
                    watermark: None,
                };
                let windows = Rel { kind, fields: all };
                let order = (0..width).chain(width + 1..windows.fields.len()).chain([width]);
                let exprs = order.map(|i| windows.fields.get(i).map(|f| reference(i, f))).collect::<Option<_>>()?;
                fields.push(last);
                Rel { kind: RelKind::Project { input: Box::new(windows), exprs }, fields }
            }
            _ => return None,
        })
    })
}

/// Puts the watermark in the place of CURRENT_WATERMARK(..), which is NULL where rows come without one.
fn replace_calls(rel: &mut Rel) -> Result<()> {
    fn replace(e: &mut Expr, watermark: &Expr) -> Result<()> {
        if is_current_watermark(e) {
            *e = super::coerce::to(watermark.clone(), &e.data_type);
            return Ok(());
        }
        walk::children_mut(e, &mut |child| replace(child, watermark))
    }
    let found = match &rel.kind {
        RelKind::Project { exprs, .. } => exprs.iter().any(|e| walk::any(e, &mut is_current_watermark)),
        RelKind::Filter { predicate, .. } => walk::any(predicate, &mut is_current_watermark),
        _ => false,
    };
    if !found {
        return Ok(());
    }
    let (RelKind::Project { input, .. } | RelKind::Filter { input, .. }) = &mut rel.kind else { return Ok(()) };
    let Some(with) = shown(input) else { return Ok(()) };
    let width = input.fields.len();
    let Some(watermark) = with.fields.get(width).map(|f| reference(width, f)) else { return Ok(()) };
    **input = with;
    match &mut rel.kind {
        RelKind::Project { exprs, .. } => exprs.iter_mut().try_for_each(|e| replace(e, &watermark)),
        RelKind::Filter { predicate, .. } => {
            replace(predicate, &watermark)?;
            let fields = rel.fields.clone();
            let old = take(rel);
            *rel = without_column(Rel { fields: old_fields(&old), ..old }, width, fields);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The fields of a filter whose input has one more.
fn old_fields(filter: &Rel) -> Vec<Field> {
    match &filter.kind {
        RelKind::Filter { input, .. } => input.fields.clone(),
        _ => filter.fields.clone(),
    }
}
