//! What the algebra means, row by row, for INT and BOOLEAN.

use std::collections::HashMap;

use calve_types::Value;

use super::Ints;
use crate::expr::{AggregateCall, Bound, Expr, ExprKind, OverCall, SubqueryKind};
use crate::rel::{JoinKind, Rel, RelKind, SetOpKind};

type Row = Vec<Option<i64>>;
type Answer<T> = Result<T, TooManyRows>;

/// A scalar subquery had two rows.
#[derive(Debug)]
pub struct TooManyRows;

pub struct Naive<'a> {
    pub tables: HashMap<&'a str, &'a Ints>,
}

impl Naive<'_> {
    /// The rows of a relation; `env` holds the rows of enclosing queries, the outermost first.
    pub fn rel(&self, rel: &Rel, env: &[Row]) -> Answer<Ints> {
        Ok(match &rel.kind {
            RelKind::Scan { table, .. } => self.tables[table.path.table.as_str()].clone(),
            RelKind::Values(rows) => rows.iter().map(|row| self.exprs(row, &vec![], env)).collect::<Answer<_>>()?,
            RelKind::Project { input, exprs } => {
                self.rel(input, env)?.iter().map(|row| self.exprs(exprs, row, env)).collect::<Answer<_>>()?
            }
            RelKind::Filter { input, predicate } => {
                let mut kept = vec![];
                for row in self.rel(input, env)? {
                    if self.expr(predicate, &row, env)? == Some(1) {
                        kept.push(row);
                    }
                }
                kept
            }
            RelKind::Join { left, right, kind, condition } => {
                self.join(&self.rel(left, env)?, &self.rel(right, env)?, left, right, *kind, condition.as_ref(), env)?
            }
            RelKind::Correlate { left, right, kind, condition } => {
                let mut rows = vec![];
                for row in self.rel(left, env)? {
                    let inner: Vec<Row> = env.iter().cloned().chain([row.clone()]).collect();
                    let matches = self.rel(right, &inner)?;
                    rows.extend(self.join(&vec![row], &matches, left, right, *kind, condition.as_ref(), env)?);
                }
                rows
            }
            RelKind::Expand { input, keys, sets } => {
                let mut rows = vec![];
                for row in self.rel(input, env)? {
                    let keys = self.exprs(keys, &row, env)?;
                    for (n, set) in sets.iter().enumerate() {
                        let keys = keys.iter().enumerate().map(|(i, key)| key.filter(|_| set.contains(&i)));
                        rows.push(row.iter().copied().chain(keys).chain([Some(n as i64)]).collect());
                    }
                }
                rows
            }
            RelKind::Aggregate { input, groups, calls } => {
                self.aggregate(&self.rel(input, env)?, groups, calls, env)?
            }
            RelKind::Distinct(input) => {
                let mut rows = self.rel(input, env)?;
                rows.sort();
                rows.dedup();
                rows
            }
            RelKind::SetOp { left, right, kind, all } => {
                set_op(self.rel(left, env)?, self.rel(right, env)?, *kind, *all)
            }
            RelKind::Sort { input, keys } => {
                let mut rows = vec![];
                for row in self.rel(input, env)? {
                    let mut key = vec![];
                    for k in keys {
                        let value = self.expr(&k.expr, &row, env)?;
                        let null = value.is_none() != k.nulls_first;
                        key.push((null, value.map(|v| if k.descending { -v } else { v })));
                    }
                    rows.push((key, row));
                }
                rows.sort_by(|a, b| a.0.cmp(&b.0));
                rows.into_iter().map(|(_, row)| row).collect()
            }
            RelKind::Over { input, calls } => self.over(&self.rel(input, env)?, calls, env)?,
            RelKind::Unnest { input, collection, ordinality, .. } => {
                let ExprKind::Call { args, .. } = &collection.kind else { panic!("{collection:?}") };
                let mut rows = vec![];
                for row in self.rel(input, env)? {
                    for (i, element) in self.exprs(args, &row, env)?.into_iter().enumerate() {
                        let ordinal = ordinality.then_some(Some(i as i64 + 1));
                        rows.push(row.iter().copied().chain([element]).chain(ordinal).collect());
                    }
                }
                rows
            }
            RelKind::Limit { input, offset, fetch } => {
                let rows = self.rel(input, env)?.into_iter().skip(*offset as usize);
                rows.take(fetch.map_or(usize::MAX, |n| n as usize)).collect()
            }
            other => panic!("{other:?}"),
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn join(
        &self,
        left: &Ints,
        right: &Ints,
        left_rel: &Rel,
        right_rel: &Rel,
        kind: JoinKind,
        condition: Option<&Expr>,
        env: &[Row],
    ) -> Answer<Ints> {
        let mut rows = vec![];
        let mut right_matched = vec![false; right.len()];
        for l in left {
            let mut matched = false;
            for (i, r) in right.iter().enumerate() {
                let row: Row = l.iter().chain(r).copied().collect();
                if condition.map_or(Ok(Some(1)), |c| self.expr(c, &row, env))? == Some(1) {
                    matched = true;
                    right_matched[i] = true;
                    rows.push(row);
                }
            }
            if !matched && matches!(kind, JoinKind::Left | JoinKind::Full) {
                rows.push(l.iter().copied().chain(vec![None; right_rel.fields.len()]).collect());
            }
        }
        if matches!(kind, JoinKind::Right | JoinKind::Full) {
            for (r, _) in right.iter().zip(right_matched).filter(|(_, matched)| !matched) {
                rows.push(vec![None; left_rel.fields.len()].into_iter().chain(r.iter().copied()).collect());
            }
        }
        Ok(rows)
    }

    fn aggregate(&self, rows: &Ints, groups: &[Expr], calls: &[AggregateCall], env: &[Row]) -> Answer<Ints> {
        let mut by_key: HashMap<Row, Ints> = HashMap::new();
        if groups.is_empty() {
            by_key.insert(vec![], vec![]);
        }
        for row in rows {
            by_key.entry(self.exprs(groups, row, env)?).or_default().push(row.clone());
        }
        let mut result = vec![];
        for (key, rows) in by_key {
            let mut out = key;
            for call in calls {
                let mut args = vec![];
                for row in &rows {
                    if call.filter.as_ref().map_or(Ok(Some(1)), |f| self.expr(f, row, env))? == Some(1) {
                        args.push(call.args.first().map_or(Ok(Some(0)), |arg| self.expr(arg, row, env))?);
                    }
                }
                let known = args.into_iter().flatten();
                out.push(match call.function.name {
                    "COUNT" => Some(known.count() as i64),
                    "MAX" => known.max(),
                    "MIN" => known.min(),
                    "SUM" => known.reduce(|a, b| a + b),
                    name => panic!("{name}"),
                });
            }
            result.push(out);
        }
        Ok(result)
    }

    fn over(&self, rows: &Ints, calls: &[OverCall], env: &[Row]) -> Answer<Ints> {
        let mut result = rows.clone();
        for call in calls {
            let mut keyed = vec![];
            for (i, row) in rows.iter().enumerate() {
                let partition = self.exprs(&call.partition, row, env)?;
                let mut order = vec![];
                for key in &call.order {
                    let value = self.expr(&key.expr, row, env)?;
                    let null = value.is_none() != key.nulls_first;
                    order.push((null, value.map(|v| if key.descending { -v } else { v })));
                }
                keyed.push((partition, order, i));
            }
            keyed.sort();
            for (at, (partition, order, i)) in keyed.iter().enumerate() {
                let first = keyed.iter().position(|k| &k.0 == partition).unwrap();
                let last = keyed.iter().rposition(|k| &k.0 == partition).unwrap();
                let peer = keyed.iter().position(|k| &k.0 == partition && &k.1 == order).unwrap();
                let last_peer = keyed.iter().rposition(|k| &k.0 == partition && &k.1 == order).unwrap();
                let bound = |bound: Bound, peer: usize| match bound {
                    Bound::First => first as i64,
                    Bound::Last => last as i64,
                    Bound::Current if call.frame.range => peer as i64,
                    Bound::Current => at as i64,
                    Bound::Offset(n) => at as i64 + n,
                };
                let (start, end) = (bound(call.frame.start, peer), bound(call.frame.end, last_peer));
                let mut args = vec![];
                for (j, (_, _, row)) in keyed.iter().enumerate().take(last + 1).skip(first) {
                    if (start..=end).contains(&(j as i64)) {
                        args.push(call.args.first().map_or(Ok(Some(0)), |e| self.expr(e, &rows[*row], env))?);
                    }
                }
                let distinct: std::collections::BTreeSet<_> = keyed[first..peer].iter().map(|k| &k.1).collect();
                let known = args.into_iter().flatten();
                result[*i].push(match call.function.name() {
                    "ROW_NUMBER" => Some((at - first) as i64 + 1),
                    "RANK" => Some((peer - first) as i64 + 1),
                    "DENSE_RANK" => Some(distinct.len() as i64 + 1),
                    "COUNT" => Some(known.count() as i64),
                    "MAX" => known.max(),
                    "MIN" => known.min(),
                    "SUM" => known.reduce(|a, b| a + b),
                    name => panic!("{name}"),
                });
            }
        }
        Ok(result)
    }

    fn exprs(&self, exprs: &[Expr], row: &Row, env: &[Row]) -> Answer<Row> {
        exprs.iter().map(|e| self.expr(e, row, env)).collect()
    }

    fn expr(&self, expr: &Expr, row: &Row, env: &[Row]) -> Answer<Option<i64>> {
        let inner = || env.iter().cloned().chain([row.clone()]).collect::<Vec<_>>();
        let truth = |b: Option<bool>| b.map(i64::from);
        Ok(match &expr.kind {
            ExprKind::Literal(Value::Null) => None,
            ExprKind::Literal(Value::Int(v)) => Some(*v),
            ExprKind::Literal(Value::Boolean(v)) => Some(i64::from(*v)),
            ExprKind::Column(i) => row[*i],
            ExprKind::Outer { depth, index } => env[env.len() - depth][*index],
            ExprKind::Cast { expr, .. } => self.expr(expr, row, env)?,
            ExprKind::Call { function, args } => call(function.name, &self.exprs(args, row, env)?),
            ExprKind::Subquery { kind: SubqueryKind::Scalar, query } => match self.rel(query, &inner())?.as_slice() {
                [] => None,
                [one] => one[0],
                _ => return Err(TooManyRows),
            },
            ExprKind::Subquery { kind: SubqueryKind::Exists { negated }, query } => {
                Some(i64::from(self.rel(query, &inner())?.is_empty() == *negated))
            }
            ExprKind::Subquery { kind: SubqueryKind::In { expr, negated }, query } => {
                let x = self.expr(expr, row, env)?;
                let rows = self.rel(query, &inner())?;
                let found = if rows.iter().any(|r| x.is_some() && r[0] == x) {
                    Some(true)
                } else if !rows.is_empty() && (x.is_none() || rows.iter().any(|r| r[0].is_none())) {
                    None
                } else {
                    Some(false)
                };
                truth(found.map(|f| f != *negated))
            }
            other => panic!("{other:?}"),
        })
    }
}

fn call(name: &str, args: &[Option<i64>]) -> Option<i64> {
    let both = || Some((args[0]?, args[1]?));
    let truth = i64::from;
    match name {
        "=" => both().map(|(a, b)| truth(a == b)),
        "<>" => both().map(|(a, b)| truth(a != b)),
        "<" => both().map(|(a, b)| truth(a < b)),
        "+" => both().map(|(a, b)| a + b),
        "AND" if args.contains(&Some(0)) => Some(0),
        "AND" => both().map(|_| 1),
        "OR" if args.contains(&Some(1)) => Some(1),
        "OR" => both().map(|_| 0),
        "NOT" => args[0].map(|a| 1 - a),
        "IN" if args[0].is_some() && args[1..].contains(&args[0]) => Some(1),
        "IN" if args.contains(&None) => None,
        "IN" => Some(0),
        "NOT IN" => call("IN", args).map(|a| 1 - a),
        "IS NULL" => Some(truth(args[0].is_none())),
        "IS NOT NULL" => Some(truth(args[0].is_some())),
        "IS NOT DISTINCT FROM" => Some(truth(args[0] == args[1])),
        name => panic!("{name}"),
    }
}

fn set_op(left: Ints, right: Ints, kind: SetOpKind, all: bool) -> Ints {
    let mut counts: HashMap<Row, (usize, usize)> = HashMap::new();
    for row in left {
        counts.entry(row).or_default().0 += 1;
    }
    for row in right {
        counts.entry(row).or_default().1 += 1;
    }
    let mut rows = vec![];
    for (row, (l, r)) in counts {
        let n = match (kind, all) {
            (SetOpKind::Union, true) => l + r,
            (SetOpKind::Union, false) => 1,
            (SetOpKind::Intersect, true) => l.min(r),
            (SetOpKind::Intersect, false) => usize::from(l > 0 && r > 0),
            (SetOpKind::Except, true) => l.saturating_sub(r),
            (SetOpKind::Except, false) => usize::from(l > 0 && r == 0),
        };
        rows.extend(std::iter::repeat_n(row, n));
    }
    rows
}
