//! Aggregates, also those of correlated subqueries.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_types::{Error, Result};
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::functions_aggregate::count::count_all;
use datafusion::logical_expr::{Aggregate, EmptyRelation, Expr as DfExpr, JoinType, LogicalPlan, lit, when};

use super::expr::references;
use super::plans::{and, join_plans, same_values};
use super::subquery::Domain;
use super::{Lowered, Lowering, Outer, failed, free};
use crate::expr::{AggregateCall, Expr};
use crate::rel::{Field, Rel};

/// What an aggregate reads: all of its keys and arguments are columns of the plan, or literals.
struct AggregateInput {
    plan: LogicalPlan,
    outer: BTreeMap<Outer, Column>,
    groups: Vec<Column>,
    calls: Vec<DfExpr>,
}

impl Lowering<'_> {
    pub(super) fn aggregate(
        &mut self,
        input: Lowered,
        groups: &[Expr],
        calls: &[AggregateCall],
        fields: &[Field],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let input = self.aggregate_input(input, groups, calls, level, domain)?;
        if groups.is_empty() && !input.outer.is_empty() {
            // One row for each value, also where the input has none.
            let base = self.domain(domain)?;
            let (base, values) = self.global_aggregate(base, input)?;
            return self.project_fields("agg", base, values, fields);
        }
        let mut keys: Vec<Column> = input.outer.values().cloned().collect();
        keys.extend(input.groups.iter().cloned());
        let (plan, key_columns, values) = aggregate_plan(input.plan, keys.clone(), input.calls)?;
        let column = |key: &Column| {
            keys.iter()
                .position(|k| k == key)
                .and_then(|i| key_columns.get(i))
                .cloned()
                .ok_or_else(|| Error::internal(format!("group key {key} is missing")))
        };
        let outer = input.outer.iter().map(|(at, key)| Ok((*at, column(key)?))).collect::<Result<_>>()?;
        let mut exprs = references(&input.groups.iter().map(column).collect::<Result<Vec<_>>>()?);
        exprs.extend(values);
        self.project_fields("agg", Lowered { plan, columns: vec![], outer }, exprs, fields)
    }

    /// Joins the aggregates of a correlated query without GROUP BY to a relation that has the values it is for. Where
    /// no row is aggregated, they have the values they have over no rows: COUNT is 0.
    fn global_aggregate(&mut self, base: Lowered, input: AggregateInput) -> Result<(Lowered, Vec<DfExpr>)> {
        let empty = LogicalPlan::EmptyRelation(EmptyRelation {
            produce_one_row: false,
            schema: Arc::clone(input.plan.schema()),
        });
        let (empty, _, defaults) = aggregate_plan(empty, vec![], input.calls.clone())?;
        let named = |values: Vec<DfExpr>| values.into_iter().map(|v| (v, "value".to_owned())).collect::<Vec<_>>();
        let (empty, defaults) = self.project("none", empty, named(defaults))?;

        let (plan, keys, values) = aggregate_plan(input.plan, input.outer.values().cloned().collect(), input.calls)?;
        let count = values.len();
        let mut exprs = named(values);
        exprs.push((lit(true), "present".to_owned()));
        exprs.extend(keys.iter().map(|key| (DfExpr::Column(key.clone()), key.name.clone())));
        let (plan, mut columns) = self.project("agg", plan, exprs)?;
        let keys = columns.split_off(count + 1);
        let present = columns.pop().ok_or_else(|| Error::internal("no column"))?;
        let sub = Lowered { plan, columns: vec![], outer: input.outer.into_keys().zip(keys).collect() };

        let condition = and(same_values(&base, &sub)?);
        let plan = join_plans(base.plan, sub.plan, JoinType::Left, condition)?;
        let plan = join_plans(plan, empty, JoinType::Inner, None)?;
        let values = columns
            .into_iter()
            .zip(defaults)
            .map(|(value, default)| {
                when(DfExpr::Column(present.clone()).is_not_null(), DfExpr::Column(value))
                    .otherwise(DfExpr::Column(default))
                    .map_err(failed)
            })
            .collect::<Result<_>>()?;
        Ok((Lowered { plan, ..base }, values))
    }

    /// The aggregates of a correlated query without GROUP BY, joined to `base`: see [`Lowering::global_aggregate`].
    pub(super) fn join_global_aggregate(
        &mut self,
        base: Lowered,
        input: &Rel,
        calls: &[AggregateCall],
        level: usize,
        domain: &Domain,
    ) -> Result<(Lowered, Vec<DfExpr>)> {
        let input = self.relation(input, level, Some(domain))?;
        let input = self.depending_if(input, calls.iter().flat_map(call_exprs), level, domain)?;
        let input = self.aggregate_input(input, &[], calls, level, Some(domain))?;
        self.global_aggregate(base, input)
    }

    fn depending_if<'e>(
        &mut self,
        input: Lowered,
        mut exprs: impl Iterator<Item = &'e Expr>,
        level: usize,
        domain: &Domain,
    ) -> Result<Lowered> {
        if exprs.any(|e| !free::of_expr(e, level).is_empty()) { self.depending(input, Some(domain)) } else { Ok(input) }
    }

    fn aggregate_input(
        &mut self,
        input: Lowered,
        groups: &[Expr],
        calls: &[AggregateCall],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<AggregateInput> {
        let all = groups.iter().chain(calls.iter().flat_map(call_exprs));
        let (input, scope) = self.scope(input, all, level, domain)?;
        let mut columns = Inputs { exprs: vec![] };
        let groups = groups.iter().map(|g| Ok(columns.add(self.expr(g, &scope)?))).collect::<Result<Vec<_>>>()?;
        let mut arguments = Vec::with_capacity(calls.len());
        for call in calls {
            let args = self.exprs(&call.args, &scope)?.into_iter().map(|a| columns.add_argument(a)).collect::<Vec<_>>();
            // DataFusion's COUNT takes rows for which the filter is NULL.
            let filter = call.filter.as_ref().map(|f| Ok(self.expr(f, &scope)?.is_true())).transpose()?;
            arguments.push((args, filter.map(|f| columns.add_argument(f))));
        }
        let keys: Vec<Outer> = input.outer.keys().copied().collect();
        let outer: Vec<usize> = input.outer.values().map(|c| columns.add(DfExpr::Column(c.clone()))).collect();
        let (plan, columns) = columns.finish(self, input.plan)?;
        let column = |index: usize| {
            columns.get(index).cloned().ok_or_else(|| Error::internal("an aggregate's column is missing"))
        };
        let argument = |argument: Argument| match argument {
            Argument::Literal(expr) => Ok(expr),
            Argument::Column(index) => column(index).map(DfExpr::Column),
        };
        let mut lowered = Vec::with_capacity(calls.len());
        for (call, (args, filter)) in calls.iter().zip(arguments) {
            let args = args.into_iter().map(argument).collect::<Result<Vec<_>>>()?;
            let filter = filter.map(argument).transpose()?;
            let types: Vec<_> = call.args.iter().map(|arg| arg.data_type.clone()).collect();
            let eval = &self.context.eval;
            lowered.push(
                call.function
                    .call(args, &types, &call.data_type, call.distinct, filter, vec![], eval)
                    .map_err(|e| e.at(call.span))?,
            );
        }
        Ok(AggregateInput {
            plan,
            outer: keys.into_iter().zip(outer).map(|(key, i)| Ok((key, column(i)?))).collect::<Result<_>>()?,
            groups: groups.into_iter().map(column).collect::<Result<_>>()?,
            calls: lowered,
        })
    }
}

/// Columns an aggregate needs below it.
pub(super) struct Inputs {
    pub(super) exprs: Vec<DfExpr>,
}

/// An argument of an aggregate function.
enum Argument {
    Literal(DfExpr),
    Column(usize),
}

impl Inputs {
    pub(super) fn add(&mut self, expr: DfExpr) -> usize {
        let known = if expr.is_volatile() { None } else { self.exprs.iter().position(|e| e == &expr) };
        known.unwrap_or_else(|| {
            self.exprs.push(expr);
            self.exprs.len() - 1
        })
    }

    fn add_argument(&mut self, expr: DfExpr) -> Argument {
        if matches!(expr, DfExpr::Literal(..)) { Argument::Literal(expr) } else { Argument::Column(self.add(expr)) }
    }

    pub(super) fn finish(self, lowering: &mut Lowering, plan: LogicalPlan) -> Result<(LogicalPlan, Vec<Column>)> {
        let columns: Option<Vec<Column>> = self.exprs.iter().map(|e| e.try_as_col().cloned()).collect();
        if let Some(columns) = columns {
            return Ok((plan, columns));
        }
        let name = |e: &DfExpr| e.try_as_col().map_or_else(|| "e".to_owned(), |c| c.name.clone());
        let exprs = self
            .exprs
            .into_iter()
            .map(|e| {
                let name = name(&e);
                (e, name)
            })
            .collect();
        lowering.project("in", plan, exprs)
    }
}

fn call_exprs(call: &AggregateCall) -> impl Iterator<Item = &Expr> + Clone {
    call.args.iter().chain(&call.filter)
}

/// An aggregate; its keys as columns, its calls as expressions over it.
fn aggregate_plan(
    input: LogicalPlan,
    keys: Vec<Column>,
    calls: Vec<DfExpr>,
) -> Result<(LogicalPlan, Vec<Column>, Vec<DfExpr>)> {
    let mut distinct_keys: Vec<Column> = vec![];
    let positions: Vec<usize> = keys.into_iter().map(|key| position_of(&mut distinct_keys, key)).collect();
    let mut aggregates: Vec<DfExpr> = vec![];
    let placeholder = |i: usize| Column::new(Some("aggregate call"), i.to_string());
    let mut values = Vec::with_capacity(calls.len());
    for call in calls {
        let value = call.transform_down(|e| match e {
            DfExpr::AggregateFunction(_) => {
                let column = placeholder(position_of(&mut aggregates, e));
                Ok(Transformed::new(DfExpr::Column(column), true, TreeNodeRecursion::Jump))
            }
            e => Ok(Transformed::no(e)),
        });
        values.push(value.map_err(failed)?.data);
    }
    if distinct_keys.is_empty() && aggregates.is_empty() {
        aggregates.push(count_all());
    }
    let width = distinct_keys.len();
    let aggregate = Aggregate::try_new(Arc::new(input), references(&distinct_keys), aggregates).map_err(failed)?;
    let plan = LogicalPlan::Aggregate(aggregate);
    let columns = plan.schema().columns();
    let column = |i: usize| columns.get(i).cloned().ok_or_else(|| Error::internal("an aggregate's column is missing"));
    let keys = positions.into_iter().map(column).collect::<Result<_>>()?;
    let values = values
        .into_iter()
        .map(|value| {
            value
                .transform(|e| match &e {
                    DfExpr::Column(c) if c.relation.as_ref().is_some_and(|r| r.table() == "aggregate call") => {
                        let at = c.name.parse::<usize>().ok().and_then(|i| columns.get(width + i)).cloned();
                        Ok(at.map_or_else(|| Transformed::no(e), |c| Transformed::yes(DfExpr::Column(c))))
                    }
                    _ => Ok(Transformed::no(e)),
                })
                .map(|t| t.data)
                .map_err(failed)
        })
        .collect::<Result<_>>()?;
    Ok((plan, keys, values))
}

pub(super) fn position_of<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|other| other == &item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}
