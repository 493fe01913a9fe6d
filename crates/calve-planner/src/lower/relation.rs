//! Relations, one function for each kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_types::{Error, Result, Span, arrow as mapping};
use datafusion::arrow::datatypes::Field as ArrowField;
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::expr::Sort as SortExpr;
use datafusion::logical_expr::{
    EmptyRelation, Expr as DfExpr, ExprFunctionExt, ExprSchemable, JoinType, LogicalPlan, LogicalPlanBuilder, Values,
    lit, when,
};

use super::expr::{Scope, Subqueries, references};
use super::plans::{and, distinct_plan, filter_plan, join_plans, last_column, one_row, same_values};
use super::set_op::union_inputs;
use super::subquery::Domain;
use super::temporal::Temporal;
use super::unnest::Unnest;
use super::{Lowered, Lowering, Outer, failed, free, shape, zip};
use crate::bind::walk::conjuncts;
use crate::catalog::TableEntry;
use crate::expr::{Expr, SortKey};
use crate::rel::{Field, JoinKind, Rel, RelKind};

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
            RelKind::Correlate { left, right, kind, condition } => {
                let left = self.relation(left, level, domain)?;
                self.correlate(left, right, *kind, condition.as_ref(), level, domain)
            }
            RelKind::Expand { input, keys, sets } => {
                let input = self.relation(input, level, domain)?;
                self.expand(input, keys, sets, &rel.fields, level, domain)
            }
            RelKind::Aggregate { input, groups, calls } => {
                let input = self.relation(input, level, domain)?;
                self.aggregate(input, groups, calls, &rel.fields, level, domain)
            }
            RelKind::Watermark { input, column, expr, interval, shown } => {
                let input = self.relation(input, level, domain)?;
                if !shown {
                    return self.with_times(input, *column, &rel.fields);
                }
                self.watermark(input, *column, expr, *interval, &rel.fields, level, domain)
            }
            RelKind::InTime { input, time, watermark, partition, since } => {
                let input = self.relation(input, level, domain)?;
                self.in_time(input, (*time, *watermark), partition, *since, &rel.fields, level, domain)
            }
            RelKind::Windows { input, time, window, partition, watermark } => {
                let lowered = self.relation(input, level, domain)?;
                let time_type = &input.fields.get(*time).ok_or_else(|| Error::internal("no time column"))?.data_type;
                let time = (*time, &time_type.logical);
                self.windows(lowered, time, *window, (partition, *watermark), &rel.fields)
            }
            RelKind::Temporal { left, right, outer, latest, keys, condition, left_time, right_time } => {
                let sides = (self.relation(left, level, domain)?, self.relation(right, level, domain)?);
                let join = Temporal {
                    outer: *outer,
                    latest: *latest,
                    keys,
                    condition: condition.as_ref(),
                    left_time: *left_time,
                    right_time: *right_time,
                };
                self.temporal(sides, &join, &rel.fields, level, domain)
            }
            RelKind::Match(matching) => {
                let input = self.relation(&matching.input, level, domain)?;
                self.matches(input, matching, &rel.fields)
            }
            RelKind::Unnest { input, collection, outer, ordinality } => {
                let input = self.relation(input, level, domain)?;
                let unnest = Unnest { collection, outer: *outer, ordinality: *ordinality };
                self.unnest(input, &unnest, &rel.fields, level, domain)
            }
            RelKind::Over { input, calls } => {
                let input = self.relation(input, level, domain)?;
                self.over(input, calls, &rel.fields, level, domain)
            }
            RelKind::Distinct(input) => {
                let input = self.relation(input, level, domain)?;
                let distinct = self.project_fields("d", input.clone(), references(&input.columns), &rel.fields)?;
                Ok(Lowered { plan: distinct_plan(distinct.plan)?, ..distinct })
            }
            RelKind::SetOp { left, right, kind, all } => {
                if let Some((inputs, all)) = union_inputs(rel)
                    && free::of_relation(rel, level).is_empty()
                {
                    let inputs =
                        inputs.into_iter().map(|i| self.relation(i, level, domain)).collect::<Result<Vec<_>>>()?;
                    return self.union(inputs, all, &rel.fields);
                }
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

    /// The rows of a table's source, whose columns are the fields.
    pub(super) fn scan(&mut self, table: &TableEntry, fields: &[Field], span: Span) -> Result<Lowered> {
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
        let mut new = 0;
        for field in schema.fields() {
            new += usize::from(self.names.taken.insert(field.name().clone()));
        }
        if new == schema.fields().len() && exact.into_iter().all(|same| same) {
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
        for (field, nullable) in fields.iter().zip(nullable) {
            let name = self.names.unique(&field.name);
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
        let mut all: Vec<Lowered> = Vec::with_capacity(rows.len());
        for row in rows {
            let mut input = Lowered { plan: one_row(true), columns: vec![], outer: BTreeMap::new() };
            if depends {
                input = self.depending(input, domain)?;
            }
            all.push(self.select(input, row, fields, level, domain)?);
        }
        if all.is_empty() {
            return Ok(Lowered { plan: one_row(false), columns: vec![], outer: BTreeMap::new() });
        }
        self.union_all(all, fields)
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
        let (input, subqueries) = self.join_subqueries(input, exprs, level)?;
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
