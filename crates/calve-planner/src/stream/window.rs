//! Joins in time: their rows come once, when time has passed.

use super::plan::used_by;
use crate::bind::walk::conjuncts;
use crate::expr::{Expr, ExprKind};
use crate::rel::Rel;
use crate::time::WindowColumn;

/// Whether a join's condition says that both sides are in the same window, or not far from each other in time.
pub(crate) fn in_time(left: &Rel, right: &Rel, condition: &Expr) -> bool {
    same_window(left, right, condition) || near(left, right, condition)
}

/// Whether a condition says that the windows of both sides are the same.
pub(crate) fn same_window(left: &Rel, right: &Rel, condition: &Expr) -> bool {
    let width = left.fields.len();
    let side = |e: &Expr| match e.kind {
        ExprKind::Column(c) => match c.checked_sub(width) {
            None => Some((0, left.window(c)?)),
            Some(c) => Some((1, right.window(c)?)),
        },
        _ => None,
    };
    let says = |wanted: WindowColumn| {
        conjuncts(condition).into_iter().any(|part| match &part.kind {
            ExprKind::Call { function, args } if function.name == "=" => match args.as_slice() {
                [a, b] => match (side(a), side(b)) {
                    (Some((s, x)), Some((t, y))) => s != t && x == wanted && y == wanted,
                    _ => false,
                },
                _ => false,
            },
            _ => false,
        })
    };
    says(WindowColumn::Start) && says(WindowColumn::End)
}

/// Flink's interval join: times of both sides bound each other from below and from above.
fn near(left: &Rel, right: &Rel, condition: &Expr) -> bool {
    let width = left.fields.len();
    let (mut below, mut above) = (false, false);
    for part in conjuncts(condition) {
        let ExprKind::Call { function, args } = &part.kind else { continue };
        let side = |e: &Expr| {
            let mut sides = used_by(std::iter::once(e)).into_iter().filter_map(|c| match c.checked_sub(width) {
                None => left.time(c).map(|_| 0),
                Some(c) => right.time(c).map(|_| 1),
            });
            sides.next()
        };
        let sides: Vec<Option<usize>> = args.iter().map(side).collect();
        let from_left = match sides.as_slice() {
            [Some(a), rest @ ..] if rest.iter().any(|b| b.is_some_and(|b| b != *a)) => *a == 0,
            _ => continue,
        };
        match function.name {
            "=" | "BETWEEN" => return true,
            "<" | "<=" if from_left => above = true,
            "<" | "<=" => below = true,
            ">" | ">=" if from_left => below = true,
            ">" | ">=" => above = true,
            _ => {}
        }
    }
    below && above
}
