//! Columns by which the changes of a row follow each other (Flink's `FlinkRelMdUpsertKeys`).

use std::collections::BTreeSet;

use calve_stream::join::JoinKind;

use super::{Node, NodeKind, On};
use crate::expr::{Expr, ExprKind};
use crate::rel::{Rel, RelKind};

/// More keys than this are not told apart: joins by unique keys double them. Where a key is missed, changes are settled by
/// the table's key once more.
const KEYS: usize = 64;

/// A set of columns, by their positions.
pub(super) type Key = BTreeSet<usize>;

/// The keys that Flink knows of a node: no two rows that are there at one time agree in the columns of one of them.
pub(super) fn upsert_keys(node: &Node) -> Vec<Key> {
    match &node.kind {
        NodeKind::Rows(rel) | NodeKind::Scan(rel) => unique_keys(rel),
        NodeKind::Project { input, exprs } => projected(upsert_keys(input), exprs),
        NodeKind::Filter { input, .. } | NodeKind::Timed { input, .. } => upsert_keys(input),
        NodeKind::Aggregate { groups, .. } => vec![(0..groups.len()).collect()],
        NodeKind::Deduplicate { keys, .. } => columns_of(keys.iter()).into_iter().collect(),
        NodeKind::TopN { input, partition, start, end, numbered, .. } => {
            let Some(partition) = columns_of(partition.iter()) else { return vec![] };
            let mut keys = holding(upsert_keys(input), &partition);
            if *numbered {
                keys.push(partition.iter().copied().chain([input.fields.len()]).collect());
            }
            if *start == 1 && *end == 1 {
                keys.push(partition);
            }
            keys
        }
        NodeKind::Join { left, right, kind, on, .. } => joined(left, right, *kind, on),
        NodeKind::Over { input, calls } => {
            let partition = calls.first().and_then(|call| columns_of(call.partition.iter()));
            partition.map(|partition| holding(upsert_keys(input), &partition)).unwrap_or_default()
        }
        NodeKind::Unnest { .. } | NodeKind::Expand { .. } | NodeKind::UnionAll(_) | NodeKind::SetAll { .. } => vec![],
    }
}

/// The unique keys of rows that are only added, and of a table.
fn unique_keys(rel: &Rel) -> Vec<Key> {
    match &rel.kind {
        RelKind::Scan { table, .. } => {
            let place = |name: &String| rel.fields.iter().position(|field| &field.name == name);
            let key: Option<Key> = table.primary_key.iter().map(place).collect();
            key.filter(|key| !key.is_empty()).into_iter().collect()
        }
        RelKind::Project { input, exprs } => projected(unique_keys(input), exprs),
        RelKind::Filter { input, .. } | RelKind::Watermark { input, .. } => unique_keys(input),
        RelKind::Aggregate { groups, .. } => vec![(0..groups.len()).collect()],
        RelKind::Distinct(input) => vec![(0..input.fields.len()).collect()],
        _ => vec![],
    }
}

/// Keys of an input as columns of a projection of it.
fn projected(keys: Vec<Key>, exprs: &[Expr]) -> Vec<Key> {
    let place = |column: usize| exprs.iter().position(|e| matches!(e.kind, ExprKind::Column(i) if i == column));
    keys.into_iter().filter_map(|key| key.into_iter().map(place).collect()).collect()
}

/// The columns that expressions are; `None` if one is something else.
fn columns_of<'e>(exprs: impl Iterator<Item = &'e Expr>) -> Option<Key> {
    let column = |e: &Expr| match e.kind {
        ExprKind::Column(i) => Some(i),
        _ => None,
    };
    exprs.map(column).collect()
}

/// The keys that hold the columns by which rows were spread: the changes of other keys' rows may overtake each other.
fn holding(keys: Vec<Key>, columns: &Key) -> Vec<Key> {
    keys.into_iter().filter(|key| key.is_superset(columns)).collect()
}

fn joined(left: &Node, right: &Node, kind: JoinKind, on: &[On]) -> Vec<Key> {
    let sides = (columns_of(on.iter().map(|on| &on.left)), columns_of(on.iter().map(|on| &on.right)));
    let (Some(l), Some(r)) = sides else { return vec![] };
    let is_unique = |keys: &[Key], columns: &Key| keys.iter().any(|key| key.is_subset(columns));
    // found once: joins within joins would be walked twice as often with each of them
    let left_keys = upsert_keys(left);
    let left_unique = is_unique(&left_keys, &l);
    let left_keys = holding(left_keys, &l);
    if kind.left_only() {
        return left_keys;
    }
    let right_keys = upsert_keys(right);
    let right_unique = is_unique(&right_keys, &r);
    let width = left.fields.len();
    let right_keys: Vec<Key> =
        holding(right_keys, &r).into_iter().map(|key| key.into_iter().map(|column| column + width).collect()).collect();
    let mut keys: Vec<Key> = vec![];
    for left in &left_keys {
        keys.extend(right_keys.iter().map(|right| left.union(right).copied().collect()));
    }
    if right_unique && !matches!(kind, JoinKind::Right | JoinKind::Full) {
        keys.extend(left_keys);
    }
    if left_unique && !matches!(kind, JoinKind::Left | JoinKind::Full) {
        keys.extend(right_keys);
    }
    keys.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    keys.dedup();
    keys.truncate(KEYS);
    keys
}
