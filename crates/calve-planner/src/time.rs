//! Time attributes: the columns by which Flink orders a stream.
//!
//! An attribute is a property of a relation's column and follows from what the relation does, so it is looked up, not
//! stored. Batch mode has none: nothing makes one there.

use std::fmt;

use crate::expr::{Expr, ExprKind};
use crate::rel::{Rel, RelKind};
use crate::stream::window::in_time;

/// The kind of a time attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeAttribute {
    /// A column with a watermark: event time.
    Rowtime,
    /// `PROCTIME()`: the machine's time.
    Proctime,
}

/// As Flink's types end: `*ROWTIME*`.
impl fmt::Display for TimeAttribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rowtime => "*ROWTIME*",
            Self::Proctime => "*PROCTIME*",
        })
    }
}

impl Rel {
    /// Whether a column is a time attribute, and which. Operators that wait for no time lose it: aggregates, outer and
    /// regular joins, DISTINCT.
    pub fn time(&self, column: usize) -> Option<TimeAttribute> {
        self.attribute(column, false)
    }

    /// What Flink prints behind a column's type. Its types tell more than time attributes: also the MAX of one, the key
    /// of a group and the columns of joins say so.
    pub fn printed_time(&self, column: usize) -> Option<TimeAttribute> {
        self.attribute(column, true)
    }

    fn attribute(&self, column: usize, printed: bool) -> Option<TimeAttribute> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match &self.kind {
            RelKind::Watermark { column: rowtime, .. } if *rowtime == column => Some(TimeAttribute::Rowtime),
            RelKind::Windows { input, time, .. } => match column.checked_sub(input.fields.len()) {
                Some(2) => input.attribute(*time, printed),
                Some(_) => None,
                None => input.attribute(column, printed),
            },
            RelKind::Project { input, exprs } => of(exprs.get(column)?, input, printed),
            RelKind::Watermark { input, .. }
            | RelKind::Filter { input, .. }
            | RelKind::InTime { input, .. }
            | RelKind::Over { input, .. }
            | RelKind::Unnest { input, .. }
            | RelKind::Sort { input, .. }
            | RelKind::Limit { input, .. } => {
                let own = column < input.fields.len();
                if own { input.attribute(column, printed) } else { self.computed(column, printed) }
            }
            RelKind::Temporal { left, right, .. } => match column.checked_sub(left.fields.len()) {
                None => left.attribute(column, printed),
                Some(column) if printed => right.attribute(column, printed),
                Some(_) => None,
            },
            RelKind::Join { left, right, .. } => {
                let attribute = match column.checked_sub(left.fields.len()) {
                    None => left.attribute(column, printed),
                    Some(column) => right.attribute(column, printed),
                };
                attribute.filter(|_| printed || self.keeps_time())
            }
            RelKind::SetOp { left, right, all, .. } => {
                let both = left.attribute(column, printed);
                both.filter(|_| (printed || *all) && right.attribute(column, printed) == both)
            }
            RelKind::Correlate { left, .. } => match column.checked_sub(left.fields.len()) {
                None => left.attribute(column, printed),
                Some(_) => None,
            },
            RelKind::Expand { input, .. } if column < input.fields.len() => input.attribute(column, printed),
            RelKind::Expand { input, keys, .. } if printed => {
                of(keys.get(column.checked_sub(input.fields.len())?)?, input, true)
            }
            RelKind::Expand { .. } => None,
            RelKind::Match(matching) => matching.time_of(column).then_some(TimeAttribute::Rowtime),
            RelKind::Aggregate { .. } | RelKind::Distinct(_) => self.computed(column, printed),
            RelKind::Scan { .. } | RelKind::Values(_) => None,
        })
    }
}

/// Flink's types carry the kind of a time attribute through what gives one of its arguments back.
fn of(expr: &Expr, input: &Rel, printed: bool) -> Option<TimeAttribute> {
    match &expr.kind {
        ExprKind::Column(column) => input.attribute(*column, printed),
        ExprKind::Call { function, .. } if function.name == "PROCTIME" => Some(TimeAttribute::Proctime),
        ExprKind::Call { function, args } if printed && matches!(function.name, "+" | "-" | "COALESCE") => {
            args.iter().find(|arg| arg.data_type.logical == expr.data_type.logical).and_then(|arg| of(arg, input, true))
        }
        ExprKind::Case { branches, otherwise } if printed => {
            let mut values = branches.iter().map(|(_, value)| value).chain(otherwise.as_deref());
            values.find_map(|value| of(value, input, true))
        }
        _ => None,
    }
}

impl Rel {
    /// Attributes of columns that a relation makes of its input's.
    fn computed(&self, column: usize, printed: bool) -> Option<TimeAttribute> {
        if !printed && self.is_window_aggregate() {
            // a window's rows come when it ends, so that its time is one of the rows too
            let RelKind::Aggregate { input, groups, .. } = &self.kind else { return None };
            let ExprKind::Column(below) = groups.get(column)?.kind else { return None };
            return input.attribute(below, false).filter(|_| input.window(below) == Some(WindowColumn::Time));
        }
        if !printed {
            return None;
        }
        match &self.kind {
            RelKind::Distinct(input) => input.attribute(column, true),
            RelKind::Aggregate { input, groups, calls } => match column.checked_sub(groups.len()) {
                None => of(groups.get(column)?, input, true),
                Some(call) => {
                    let call = calls.get(call)?;
                    matches!(call.function.name, "MAX" | "MIN").then(|| of(call.args.first()?, input, true))?
                }
            },
            _ => None,
        }
    }

    /// Whether a join is one in time, whose rows keep their times: an interval join or one by windows.
    fn keeps_time(&self) -> bool {
        match &self.kind {
            RelKind::Join { left, right, condition: Some(condition), .. } => in_time(left, right, condition),
            _ => false,
        }
    }

    /// Which bound of a window a column is, if it is one.
    pub fn window(&self, column: usize) -> Option<WindowColumn> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || match &self.kind {
            RelKind::Windows { input, .. } => match column.checked_sub(input.fields.len()) {
                Some(0) => Some(WindowColumn::Start),
                Some(1) => Some(WindowColumn::End),
                Some(_) => Some(WindowColumn::Time),
                None => None,
            },
            RelKind::Project { input, exprs } => match exprs.get(column)?.kind {
                ExprKind::Column(below) => input.window(below),
                _ => None,
            },
            RelKind::Expand { input, keys, sets } => match column.checked_sub(input.fields.len()) {
                None => input.window(column),
                // a bound that a set lacks tells no window
                Some(key) if sets.iter().all(|set| set.contains(&key)) => match keys.get(key)?.kind {
                    ExprKind::Column(below) => input.window(below),
                    _ => None,
                },
                Some(_) => None,
            },
            RelKind::Aggregate { input, groups, .. } => match groups.get(column)?.kind {
                ExprKind::Column(below) if self.is_window_aggregate() => input.window(below),
                _ => None,
            },
            RelKind::Over { input, .. }
            | RelKind::Filter { input, .. }
            | RelKind::Watermark { input, .. }
            | RelKind::Unnest { input, .. }
            | RelKind::Limit { input, .. } => {
                if column < input.fields.len() {
                    input.window(column)
                } else {
                    None
                }
            }
            RelKind::Join { left, right, .. } => match column.checked_sub(left.fields.len()) {
                None => left.window(column),
                Some(column) => right.window(column),
            },
            _ => None,
        })
    }

    /// Whether it is the aggregate of windows: each window gives its rows once, when it ends, and they never change.
    pub fn is_window_aggregate(&self) -> bool {
        let RelKind::Aggregate { input, groups, .. } = &self.kind else { return false };
        let columns: Vec<usize> = groups
            .iter()
            .filter_map(|group| match group.kind {
                ExprKind::Column(column) => Some(column),
                _ => None,
            })
            .collect();
        is_whole_window(input, &columns)
    }
}

/// Whether the start and the end of a window are among the columns.
pub(crate) fn is_whole_window(input: &Rel, columns: &[usize]) -> bool {
    let has = |bound| columns.iter().any(|column| input.window(*column) == Some(bound));
    has(WindowColumn::Start) && has(WindowColumn::End)
}

/// A column that tells a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowColumn {
    /// `window_start`
    Start,
    /// `window_end`
    End,
    /// `window_time`
    Time,
}
