//! Relations, one function for each kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_types::{Error, Result, Span, arrow as mapping};
use datafusion::arrow::datatypes::Field as ArrowField;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, NullEquality, ScalarValue};
use datafusion::functions_aggregate::count::count_all;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::expr::Sort as SortExpr;
use datafusion::logical_expr::{
    Aggregate, Distinct, EmptyRelation, Expr as DfExpr, ExprFunctionExt, ExprSchemable, Filter, Join, JoinConstraint,
    JoinType, LogicalPlan, LogicalPlanBuilder, Operator, Values, binary_expr, lit, when,
};

use super::expr::{Scope, Subqueries, references};
use super::subquery::Domain;
use super::{Lowered, Lowering, Outer, failed, free, shape, zip};
use crate::catalog::TableEntry;
use crate::expr::{AggregateCall, Expr, ExprKind, SortKey};
use crate::rel::{Field, JoinKind, Rel, RelKind};

/// What an aggregate reads: all of its keys and arguments are columns of the plan, or literals.
struct AggregateInput {
    plan: LogicalPlan,
    outer: BTreeMap<Outer, Column>,
    groups: Vec<Column>,
    calls: Vec<DfExpr>,
}

impl Lowering<'_> {
    /// A relation of a query of that level; `domain` says what the fields of enclosing queries may be.
    pub(super) fn relation(&mut self, rel: &Rel, level: usize, domain: Option<&Domain>) -> Result<Lowered> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.relation_kind(rel, level, domain))
    }

    fn relation_kind(&mut self, rel: &Rel, level: usize, domain: Option<&Domain>) -> Result<Lowered> {
        match &rel.kind {
            RelKind::Scan { table, span } => self.scan(table, &rel.fields, *span),
            RelKind::Values(rows) => self.values(rows, &rel.fields, level, domain),
            RelKind::Project { input, exprs } => {
                let input = self.relation(input, level, domain)?;
                self.select(input, exprs, &rel.fields, level, domain)
            }
            RelKind::Filter { input, predicate } => {
                let input = self.relation(input, level, domain)?;
                self.filter(input, predicate, level, domain)
            }
            RelKind::Join { left, right, kind, condition } => {
                let left = self.relation(left, level, domain)?;
                let right = self.relation(right, level, domain)?;
                self.join(left, right, *kind, condition.as_ref(), level, domain)
            }
            RelKind::Aggregate { input, groups, calls } => {
                let input = self.relation(input, level, domain)?;
                self.aggregate(input, groups, calls, &rel.fields, level, domain)
            }
            RelKind::Distinct(input) => {
                let input = self.relation(input, level, domain)?;
                let distinct = self.project_fields("d", input.clone(), references(&input.columns), &rel.fields)?;
                Ok(Lowered { plan: LogicalPlan::Distinct(Distinct::All(Arc::new(distinct.plan))), ..distinct })
            }
            RelKind::SetOp { left, right, kind, all } => {
                let left = self.relation(left, level, domain)?;
                let right = self.relation(right, level, domain)?;
                self.set_op(left, right, *kind, *all, &rel.fields, domain)
            }
            RelKind::Sort { input, keys } => {
                let input = self.relation(input, level, domain)?;
                let (input, keys) = self.sort_keys(input, keys, level, domain)?;
                if input.depends() || keys.is_empty() {
                    // What comes of a correlated subquery is joined: its order means nothing without a LIMIT.
                    return Ok(input);
                }
                let plan = LogicalPlanBuilder::from(input.plan).sort(keys).map_err(failed)?.build().map_err(failed)?;
                Ok(Lowered { plan, ..input })
            }
            RelKind::Limit { input, offset, fetch } => self.limit(input, *offset, *fetch, level, domain),
        }
    }

    fn scan(&mut self, table: &TableEntry, fields: &[Field], span: Span) -> Result<Lowered> {
        let source = (self.context.source)(table).map_err(|e| e.at(span))?;
        let schema = source.schema();
        if schema.fields().len() != fields.len() {
            return Err(Error::internal(format!(
                "table '{}' has {} columns and its source {}",
                table.path,
                fields.len(),
                schema.fields().len()
            )));
        }
        let qualifier = self.qualifier(&table.path.table);
        let plan =
            LogicalPlanBuilder::scan(qualifier.clone(), source, None).map_err(failed)?.build().map_err(failed)?;
        let columns: Vec<Column> =
            schema.fields().iter().map(|f| Column::new(Some(qualifier.clone()), f.name())).collect();
        let exact = zip(schema.fields(), fields)?
            .map(|(arrow, field)| Ok(arrow.data_type() == &mapping::to_arrow(&field.data_type.logical)?))
            .collect::<Result<Vec<bool>>>()?;
        let scan = Lowered { plan, columns, outer: BTreeMap::new() };
        if exact.into_iter().all(|same| same) {
            return Ok(scan);
        }
        let exprs = references(&scan.columns);
        self.project_fields(&table.path.table, scan, exprs, fields)
    }

    fn values(
        &mut self,
        rows: &[Vec<Expr>],
        fields: &[Field],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let constant = |e: &Expr| !free::has_subquery(e) && free::of_expr(e, level).is_empty();
        if fields.is_empty() || !rows.iter().flatten().all(constant) {
            return self.computed_values(rows, fields, level, domain);
        }
        let scope = Scope { columns: vec![], outer: BTreeMap::new(), level, subqueries: Subqueries::new() };
        let nothing = one_row(false);
        let mut values = Vec::with_capacity(rows.len());
        let mut nullable: Vec<bool> = fields.iter().map(|f| f.data_type.nullable).collect();
        for row in rows {
            let exprs = zip(row, fields)?
                .map(|(expr, field)| shape::typed(self.expr(expr, &scope)?, &nothing, field))
                .collect::<Result<Vec<_>>>()?;
            for (nullable, expr) in nullable.iter_mut().zip(&exprs) {
                *nullable |= expr.nullable(nothing.schema().as_ref()).map_err(failed)?;
            }
            values.push(exprs);
        }
        let qualifier = self.qualifier("values");
        let mut qualified = Vec::with_capacity(fields.len());
        let names = super::unique_names(fields.iter().map(|f| f.name.as_str()));
        for ((field, name), nullable) in fields.iter().zip(names).zip(nullable) {
            let arrow = ArrowField::new(name, mapping::to_arrow(&field.data_type.logical)?, nullable);
            qualified.push((Some(qualifier.clone()), Arc::new(arrow)));
        }
        let schema = DFSchema::new_with_metadata(qualified, Default::default()).map_err(failed)?;
        let columns = schema.columns();
        let schema = Arc::new(schema);
        let plan = if values.is_empty() {
            LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: false, schema })
        } else {
            LogicalPlan::Values(Values { schema, values })
        };
        Ok(Lowered { plan, columns, outer: BTreeMap::new() })
    }

    /// Rows with subqueries or fields of enclosing queries: a projection of one row for each.
    fn computed_values(
        &mut self,
        rows: &[Vec<Expr>],
        fields: &[Field],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let depends = rows.iter().flatten().any(|e| !free::of_expr(e, level).is_empty());
        let mut all: Option<Lowered> = None;
        for row in rows {
            let mut input = Lowered { plan: one_row(true), columns: vec![], outer: BTreeMap::new() };
            if depends {
                input = self.depending(input, domain)?;
            }
            let row = self.select(input, row, fields, level, domain)?;
            all = Some(match all {
                None => row,
                Some(all) => self.union_all(all, row, fields)?,
            });
        }
        match all {
            Some(all) => Ok(all),
            None => Ok(Lowered { plan: one_row(false), columns: vec![], outer: BTreeMap::new() }),
        }
    }

    /// A projection.
    pub(super) fn select(
        &mut self,
        input: Lowered,
        exprs: &[Expr],
        fields: &[Field],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let (input, scope) = self.scope(input, exprs.iter(), level, domain)?;
        let exprs = self.exprs(exprs, &scope)?;
        self.project_fields("p", input, exprs, fields)
    }

    /// The scope of expressions over a relation, after their subqueries were joined to it, and, if they refer to
    /// enclosing queries, the values of those.
    pub(super) fn scope<'e>(
        &mut self,
        mut input: Lowered,
        exprs: impl Iterator<Item = &'e Expr> + Clone,
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<(Lowered, Scope)> {
        if exprs.clone().any(|e| !free::of_expr(e, level).is_empty()) {
            input = self.depending(input, domain)?;
        }
        let (input, subqueries) = self.join_subqueries(input, exprs, level, domain)?;
        let scope = Scope::new(&input, level, subqueries);
        Ok((input, scope))
    }

    pub(super) fn join(
        &mut self,
        mut left: Lowered,
        mut right: Lowered,
        kind: JoinKind,
        condition: Option<&Expr>,
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let depends = condition.is_some_and(|c| !free::of_expr(c, level).is_empty());
        // A row of an outer side must exist for each value of the enclosing queries' fields.
        if depends && !left.depends() && !right.depends()
            || matches!(kind, JoinKind::Left) && (depends || right.depends())
        {
            left = self.depending(left, domain)?;
        }
        if matches!(kind, JoinKind::Right) && (depends || left.depends()) {
            right = self.depending(right, domain)?;
        }
        if matches!(kind, JoinKind::Full) && (depends || left.depends() || right.depends()) {
            left = self.depending(left, domain)?;
            right = self.depending(right, domain)?;
        }
        let conjuncts: Vec<&Expr> = condition.map(conjuncts).unwrap_or_default();
        if conjuncts.iter().any(|c| free::has_subquery(c)) {
            if kind != JoinKind::Inner {
                let span = condition.map(|c| c.span).unwrap_or_default();
                return Err(Error::unsupported("subqueries in the ON of an outer join").at(span));
            }
            let joined = self.join(left, right, kind, None, level, domain)?;
            return match condition {
                Some(condition) => self.filter(joined, condition, level, domain),
                None => Ok(joined),
            };
        }
        let mut outer = outer_of(&left, &right, kind);
        let mut scope = Scope::new(&left, level, Subqueries::new());
        scope.columns.extend(references(&right.columns));
        scope.outer = outer.clone();
        let mut filter = conjuncts.into_iter().map(|c| self.expr(c, &scope)).collect::<Result<Vec<_>>>()?;
        filter.extend(same_values(&left, &right)?);
        let join_type = match kind {
            JoinKind::Inner => JoinType::Inner,
            JoinKind::Left => JoinType::Left,
            JoinKind::Right => JoinType::Right,
            JoinKind::Full => JoinType::Full,
        };
        let mut columns = left.columns;
        columns.extend(right.columns);
        let mut plan = join_plans(left.plan, right.plan, join_type, and(filter))?;
        if kind == JoinKind::Full && !outer.is_empty() {
            // The values are those of whichever side is there.
            let mut exprs: Vec<_> = columns.iter().map(|c| (DfExpr::Column(c.clone()), c.name.clone())).collect();
            exprs.extend(outer.values().map(|value| (value.clone(), "outer".to_owned())));
            let (projected, mut all) = self.project("j", plan, exprs)?;
            plan = projected;
            let values = all.split_off(columns.len());
            columns = all;
            outer = outer.into_keys().zip(references(&values)).collect();
        }
        let outer = outer
            .into_iter()
            .map(|(key, value)| match value {
                DfExpr::Column(column) => Ok((key, column)),
                other => Err(Error::internal(format!("{other} is no column"))),
            })
            .collect::<Result<_>>()?;
        Ok(Lowered { plan, columns, outer })
    }

    fn aggregate(
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

    fn sort_keys(
        &mut self,
        input: Lowered,
        keys: &[SortKey],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<(Lowered, Vec<SortExpr>)> {
        let (input, scope) = self.scope(input, keys.iter().map(|k| &k.expr), level, domain)?;
        let keys = keys
            .iter()
            .map(|key| Ok(self.expr(&key.expr, &scope)?.sort(!key.descending, key.nulls_first)))
            .collect::<Result<_>>()?;
        Ok((input, keys))
    }

    fn limit(
        &mut self,
        rel: &Rel,
        offset: u64,
        fetch: Option<u64>,
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        if !free::of_relation(rel, level).is_empty() {
            return self.limit_each(rel, offset, fetch, level, domain);
        }
        let input = self.relation(rel, level, None)?;
        // DataFusion counts in signed numbers; nobody reads more rows than those.
        let most = i64::MAX.unsigned_abs();
        let rows = |n: u64| usize::try_from(n.min(most)).unwrap_or(usize::MAX);
        let fetch = fetch.filter(|n| offset.checked_add(*n).is_some_and(|end| end <= most));
        let plan = LogicalPlanBuilder::from(input.plan)
            .limit(rows(offset), fetch.map(rows))
            .and_then(LogicalPlanBuilder::build)
            .map_err(failed)?;
        Ok(Lowered { plan, ..input })
    }

    /// A LIMIT in a correlated subquery: so many rows for each value of the enclosing queries' fields.
    fn limit_each(
        &mut self,
        rel: &Rel,
        offset: u64,
        fetch: Option<u64>,
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let (input, keys) = match &rel.kind {
            RelKind::Project { input, exprs } => {
                let input = if free::of_relation(input, level).is_empty() {
                    self.limit(input, offset, fetch, level, None)?
                } else {
                    self.limit_each(input, offset, fetch, level, domain)?
                };
                return self.select(input, exprs, &rel.fields, level, domain);
            }
            RelKind::Sort { input, keys } => {
                let input = self.relation(input, level, domain)?;
                self.sort_keys(input, keys, level, domain)?
            }
            _ => (self.relation(rel, level, domain)?, vec![]),
        };
        let partition = references(&input.outer.values().cloned().collect::<Vec<_>>());
        let mut number = row_number().partition_by(partition);
        if !keys.is_empty() {
            number = number.order_by(keys);
        }
        let number = number.build().map_err(failed)?;
        let plan =
            LogicalPlanBuilder::from(input.plan).window(vec![number]).map_err(failed)?.build().map_err(failed)?;
        let number = DfExpr::Column(last_column(&plan)?);
        let mut condition = vec![number.clone().gt(lit(ScalarValue::UInt64(Some(offset))))];
        if let Some(fetch) = fetch {
            condition.push(number.lt_eq(lit(ScalarValue::UInt64(Some(offset.saturating_add(fetch))))));
        }
        // Two limits above each other would have columns of one name.
        let columns = references(&input.columns);
        let names = input.columns.iter().map(|c| c.name.clone());
        let mut exprs: Vec<_> = columns.into_iter().zip(names).collect();
        let width = exprs.len();
        exprs.extend(input.outer.values().map(|c| (DfExpr::Column(c.clone()), c.name.clone())));
        let (plan, mut columns) = self.project("top", filter_plan(plan, and(condition))?, exprs)?;
        let outer = columns.split_off(width);
        Ok(Lowered { plan, columns, outer: input.outer.into_keys().zip(outer).collect() })
    }
}

/// Columns an aggregate needs below it.
struct Inputs {
    exprs: Vec<DfExpr>,
}

/// An argument of an aggregate function.
enum Argument {
    Literal(DfExpr),
    Column(usize),
}

impl Inputs {
    fn add(&mut self, expr: DfExpr) -> usize {
        let known = if expr.is_volatile() { None } else { self.exprs.iter().position(|e| e == &expr) };
        known.unwrap_or_else(|| {
            self.exprs.push(expr);
            self.exprs.len() - 1
        })
    }

    fn add_argument(&mut self, expr: DfExpr) -> Argument {
        if matches!(expr, DfExpr::Literal(..)) { Argument::Literal(expr) } else { Argument::Column(self.add(expr)) }
    }

    fn finish(self, lowering: &mut Lowering, plan: LogicalPlan) -> Result<(LogicalPlan, Vec<Column>)> {
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

fn position_of<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|other| other == &item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

/// The values that a join's rows are for.
fn outer_of(left: &Lowered, right: &Lowered, kind: JoinKind) -> BTreeMap<Outer, DfExpr> {
    let column = |c: &Column| DfExpr::Column(c.clone());
    let side = if left.depends() && kind != JoinKind::Right || !right.depends() { left } else { right };
    side.outer
        .iter()
        .map(|(key, c)| {
            let value = match (kind, left.outer.get(key), right.outer.get(key)) {
                (JoinKind::Full, Some(l), Some(r)) => {
                    when(column(l).is_not_null(), column(l)).otherwise(column(r)).unwrap_or_else(|_| column(l))
                }
                _ => column(c),
            };
            (*key, value)
        })
        .collect()
}

/// That two relations are for the same values of enclosing queries' fields.
pub(super) fn same_values(left: &Lowered, right: &Lowered) -> Result<Vec<DfExpr>> {
    let nullable = |side: &Lowered, column: &Column| {
        DfExpr::Column(column.clone()).nullable(side.plan.schema().as_ref()).map_err(failed)
    };
    let mut conditions = vec![];
    for (key, l) in &left.outer {
        let Some(r) = right.outer.get(key) else { continue };
        let (a, b) = (DfExpr::Column(l.clone()), DfExpr::Column(r.clone()));
        conditions.push(if nullable(left, l)? && nullable(right, r)? { is_same(a, b) } else { a.eq(b) });
    }
    Ok(conditions)
}

/// `a IS NOT DISTINCT FROM b`.
pub(super) fn is_same(a: DfExpr, b: DfExpr) -> DfExpr {
    binary_expr(a, Operator::IsNotDistinctFrom, b)
}

pub(super) fn and(conditions: Vec<DfExpr>) -> Option<DfExpr> {
    conditions.into_iter().reduce(DfExpr::and)
}

/// A join; without a condition all pairs.
pub(super) fn join_plans(
    left: LogicalPlan,
    right: LogicalPlan,
    join_type: JoinType,
    condition: Option<DfExpr>,
) -> Result<LogicalPlan> {
    let condition = if join_type == JoinType::Inner { condition } else { Some(condition.unwrap_or_else(|| lit(true))) };
    let join = Join::try_new(
        Arc::new(left),
        Arc::new(right),
        vec![],
        condition,
        join_type,
        JoinConstraint::On,
        NullEquality::NullEqualsNothing,
        false,
    );
    Ok(LogicalPlan::Join(join.map_err(failed)?))
}

pub(super) fn filter_plan(input: LogicalPlan, condition: Option<DfExpr>) -> Result<LogicalPlan> {
    match condition {
        None => Ok(input),
        Some(condition) => Ok(LogicalPlan::Filter(Filter::try_new(condition, Arc::new(input)).map_err(failed)?)),
    }
}

pub(super) fn last_column(plan: &LogicalPlan) -> Result<Column> {
    plan.schema().columns().pop().ok_or_else(|| Error::internal("a plan without columns"))
}

/// One row without columns, or none.
pub(super) fn one_row(produce_one_row: bool) -> LogicalPlan {
    LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row, schema: Arc::new(DFSchema::empty()) })
}

/// The parts of a conjunction.
pub(super) fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    let mut parts = vec![];
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Call { function, args } if function.name == "AND" => open.extend(args.iter().rev()),
            _ => parts.push(expr),
        }
    }
    parts
}
