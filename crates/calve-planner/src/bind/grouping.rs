//! The keys of GROUP BY and the sets they form: GROUPING SETS, CUBE, ROLLUP; GROUPING and its kin.

use std::collections::{BTreeSet, HashSet};

use calve_sql::ast;
use calve_types::{DataType, Error, LogicalType, Result, Span, Value};

use super::call::Call;
use super::order::orderable;
use super::scope::{Aggregates, Scope, Windows};
use super::{Binder, call, expr, literal, walk};
use crate::expr::{Expr, ExprKind};

/// More sets are no query that anybody runs.
const MOST_SETS: usize = 4096;

/// The keys of a GROUP BY and the sets that they form.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    /// The keys of all sets, over the input, each once.
    pub keys: Vec<Expr>,
    /// For each set the positions of its keys, ascending; one set of all keys for a plain GROUP BY.
    pub sets: Vec<Vec<usize>>,
}

impl Groups {
    /// Whether rows are grouped in more than one way.
    pub fn several(&self) -> bool {
        self.sets.len() > 1
    }

    /// Whether some set lacks the key.
    pub fn may_lack(&self, key: usize) -> bool {
        self.sets.iter().any(|set| !set.contains(&key))
    }

    /// Which key an expression is.
    pub fn position(&self, expr: &Expr) -> Option<usize> {
        self.keys.iter().position(|key| walk::same_but_for_nulls(key, expr))
    }

    /// The type of an expression of the select list: NULL where it is a key that the row's set lacks.
    pub fn seen(&self, mut expr: Expr) -> Expr {
        if self.several() && self.position(&expr).is_some_and(|key| self.may_lack(key)) {
            expr.data_type.nullable = true;
        }
        expr
    }
}

impl Binder<'_> {
    /// The keys of GROUP BY; `None` without one.
    pub(super) fn groups(&self, group_by: &ast::GroupByExpr, scope: &Scope<'_>) -> Result<Option<Groups>> {
        let (items, modifiers) = match group_by {
            ast::GroupByExpr::All(_) => return Err(Error::unsupported("GROUP BY ALL")),
            ast::GroupByExpr::Expressions(items, modifiers) => (items, modifiers),
        };
        if !modifiers.is_empty() {
            return Err(Error::unsupported("GROUP BY .. WITH"));
        }
        if items.is_empty() {
            return Ok(None);
        }
        let mut groups = Groups { keys: Vec::new(), sets: vec![Vec::new()] };
        for item in items {
            let place = expr::span_of(item);
            let sets = self.sets(item, scope, &mut groups.keys)?;
            // Each set of this item with each set of those before.
            limited(groups.sets.len().saturating_mul(sets.len()), place)?;
            groups.sets = groups
                .sets
                .iter()
                .flat_map(|before| sets.iter().map(move |set| before.iter().chain(set).copied().collect()))
                .collect();
        }
        for set in &mut groups.sets {
            set.sort_unstable();
            set.dedup();
        }
        Ok(Some(groups))
    }

    /// The sets of one item of GROUP BY.
    fn sets(&self, item: &ast::Expr, scope: &Scope<'_>, keys: &mut Vec<Expr>) -> Result<Vec<Vec<usize>>> {
        let place = expr::span_of(item);
        match item {
            ast::Expr::Rollup(parts) => {
                let parts = parts.iter().map(|p| self.key_set(p, scope, keys)).collect::<Result<Vec<_>>>()?;
                Ok(rollup(&parts))
            }
            ast::Expr::Cube(parts) => {
                let parts = parts.iter().map(|p| self.key_set(p, scope, keys)).collect::<Result<Vec<_>>>()?;
                cube(&parts, place)
            }
            ast::Expr::GroupingSets(sets) => {
                let mut all = Vec::new();
                for set in sets {
                    match set.as_slice() {
                        // A set may be a ROLLUP or CUBE in turn.
                        [inner @ (ast::Expr::Function(_) | ast::Expr::GroupingSets(_))] => {
                            all.extend(self.sets(inner, scope, keys)?);
                        }
                        set => all.push(self.key_set(set, scope, keys)?),
                    }
                    limited(all.len(), place)?;
                }
                Ok(all)
            }
            ast::Expr::Function(function) => match grouping_function(function) {
                Some((is_cube, parts)) => {
                    let parts = parts
                        .into_iter()
                        .map(|part| self.key_set(std::slice::from_ref(part), scope, keys))
                        .collect::<Result<Vec<_>>>()?;
                    if is_cube { cube(&parts, place) } else { Ok(rollup(&parts)) }
                }
                None => Ok(vec![self.key_set(std::slice::from_ref(item), scope, keys)?]),
            },
            item => Ok(vec![self.key_set(std::slice::from_ref(item), scope, keys)?]),
        }
    }

    /// The positions of some keys, which are added if they are new. `()` is the one group of all rows, `(a, b)` two keys.
    fn key_set(&self, written: &[ast::Expr], scope: &Scope<'_>, keys: &mut Vec<Expr>) -> Result<Vec<usize>> {
        let mut set = Vec::new();
        for key in written {
            if let ast::Expr::Tuple(inner) = key {
                set.extend(self.key_set(inner, scope, keys)?);
                continue;
            }
            let bound = match self.window_keys(key, scope)? {
                Some(columns) => columns,
                None => vec![self.value(key, scope)?],
            };
            for bound in bound {
                orderable(&bound)?;
                let known = keys.iter().position(|k| walk::same(k, &bound));
                set.push(known.unwrap_or_else(|| {
                    keys.push(bound);
                    keys.len() - 1
                }));
            }
        }
        Ok(set)
    }

    /// `GROUPING(..)`, `GROUPING_ID(..)` and `GROUP_ID()`, if the function is one of them.
    pub(super) fn grouping_call(
        &self,
        call: Call<'_>,
        args: &[ast::FunctionArg],
        scope: &Scope<'_>,
    ) -> Option<Result<Expr>> {
        let name = ["GROUPING", "GROUPING_ID", "GROUP_ID"].into_iter().find(|n| call.name.eq_ignore_ascii_case(n))?;
        Some(self.grouping(name, call.place, args, scope))
    }

    fn grouping(&self, name: &str, place: Span, args: &[ast::FunctionArg], scope: &Scope<'_>) -> Result<Expr> {
        let groups = match scope.aggregates {
            Aggregates::Collected { groups: Some(groups), .. } => groups,
            Aggregates::Collected { groups: None, .. } => {
                return Err(Error::new("misplaced-aggregate", format!("'{name}' needs a GROUP BY around it"))
                    .with_detail(format!("{name} operator may only occur in an aggregate query"))
                    .at(place));
            }
            Aggregates::Refused(clause) => {
                return Err(Error::new("misplaced-aggregate", format!("'{name}' cannot be used in the {clause}"))
                    .with_detail(format!("{name} operator may only occur in SELECT, HAVING or ORDER BY clause"))
                    .at(place));
            }
        };
        let inside = Scope {
            aggregates: Aggregates::Refused("an aggregate function"),
            windows: Windows::Refused("an aggregate function"),
            selected: &[],
            ..*scope
        };
        let mut keys = Vec::new();
        let mut whole = place;
        for arg in args {
            let bound = self.expr(call::argument(arg, name, place)?, &inside)?;
            whole = whole.to(bound.span);
            keys.push(groups.position(&bound).ok_or_else(|| {
                Error::new("not-grouped", format!("'{name}' takes keys of the GROUP BY"))
                    .with_detail(format!("Argument to {name} operator must be a grouped expression"))
                    .at(bound.span)
            })?);
        }
        match (name, keys.len()) {
            ("GROUP_ID", 0) | ("GROUPING" | "GROUPING_ID", 1..=63) => {}
            (name, _) => {
                return Err(Error::new("invalid-argument", format!("'{name}' has the wrong number of arguments"))
                    .with_detail(format!(
                        "Invalid number of arguments to function '{name}'. Was expecting {} arguments",
                        usize::from(name != "GROUP_ID")
                    ))
                    .at(whole));
            }
        }
        let numbers = groups.sets.iter().enumerate().map(|(i, set)| match name {
            // How many sets before this one are the same.
            "GROUP_ID" => groups.sets.iter().take(i).filter(|other| *other == set).count() as i64,
            _ => keys.iter().fold(0, |bits, key| bits << 1 | i64::from(!set.contains(key))),
        });
        let big = |n: i64| literal::literal(Value::Int(n), LogicalType::BigInt.not_null(), whole);
        let mut numbers: Vec<i64> = numbers.collect();
        let last = numbers.pop().unwrap_or(0);
        if numbers.iter().all(|n| *n == last) {
            return Ok(big(last));
        }
        let data_type: DataType = LogicalType::BigInt.not_null();
        let index = scope.namespace.fields.len();
        let set = Expr { kind: ExprKind::Column(index), data_type: data_type.clone(), span: whole };
        let mut branches = Vec::with_capacity(numbers.len());
        for (i, n) in (0_i64..).zip(numbers) {
            branches.push((call::function("=", vec![set.clone(), big(i)], whole)?, big(n)));
        }
        let kind = ExprKind::Case { branches, otherwise: Some(Box::new(big(last))) };
        Ok(Expr { kind, data_type, span: whole })
    }
}

/// `ROLLUP(..)` or `CUBE(..)` inside of GROUPING SETS, where the parser sees a function: whether it is CUBE, and its parts.
fn grouping_function(function: &ast::Function) -> Option<(bool, Vec<&ast::Expr>)> {
    let [name] = function.name.0.as_slice() else { return None };
    let name = name.as_ident().filter(|n| n.quote_style.is_none())?;
    let is_cube = name.value.eq_ignore_ascii_case("CUBE");
    if !is_cube && !name.value.eq_ignore_ascii_case("ROLLUP") {
        return None;
    }
    let ast::FunctionArguments::List(list) = &function.args else { return None };
    let parts: Option<Vec<&ast::Expr>> = list
        .args
        .iter()
        .map(|arg| match arg {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(e)) => Some(e),
            _ => None,
        })
        .collect();
    Some((is_cube, parts?))
}

/// All parts, all but the last, ... none.
fn rollup(parts: &[Vec<usize>]) -> Vec<Vec<usize>> {
    each_once((0..=parts.len()).rev().map(|n| parts.iter().take(n).flatten().copied().collect()))
}

/// A ROLLUP or CUBE has each set once, even if it names a key twice; GROUPING SETS has what is written.
fn each_once(sets: impl Iterator<Item = BTreeSet<usize>>) -> Vec<Vec<usize>> {
    let mut seen = HashSet::new();
    sets.map(|set| set.into_iter().collect::<Vec<_>>()).filter(|set| seen.insert(set.clone())).collect()
}

/// Every choice of parts, all of them first.
fn cube(parts: &[Vec<usize>], place: Span) -> Result<Vec<Vec<usize>>> {
    let count = u32::try_from(parts.len()).ok().and_then(|n| 1_usize.checked_shl(n)).unwrap_or(usize::MAX);
    limited(count, place)?;
    let chosen = |set: usize| {
        let with = move |i: usize| set & (1 << (parts.len() - 1 - i)) != 0;
        parts.iter().enumerate().filter(move |(i, _)| with(*i)).flat_map(|(_, part)| part.iter().copied())
    };
    Ok(each_once((0..count).rev().map(|set| chosen(set).collect())))
}

fn limited(sets: usize, place: Span) -> Result<()> {
    if sets <= MOST_SETS {
        return Ok(());
    }
    Err(Error::unsupported(format!("more than {MOST_SETS} grouping sets")).at(place))
}
