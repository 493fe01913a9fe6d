//! UNION, INTERSECT and EXCEPT, with and without ALL. NULLs are equal to each other here.

use std::sync::Arc;

use calve_types::{Error, Result};
use datafusion::common::Column;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{
    Distinct, Expr as DfExpr, ExprFunctionExt, JoinType, LogicalPlan, LogicalPlanBuilder, Projection, Union,
};

use super::expr::references;
use super::plans::{and, is_same, join_plans, last_column};
use super::subquery::Domain;
use super::{Lowered, Lowering, failed};
use crate::rel::{Field, Rel, RelKind, SetOpKind};

/// The inputs of a chain of UNIONs, all with ALL if the last one has it; `None` if it is not a chain.
pub(super) fn union_inputs(rel: &Rel) -> Option<(Vec<&Rel>, bool)> {
    let RelKind::SetOp { kind: SetOpKind::Union, all: last_all, .. } = &rel.kind else { return None };
    let mut inputs = vec![];
    let mut chain = rel;
    while let RelKind::SetOp { left, right, kind: SetOpKind::Union, all } = &chain.kind
        && (*all || !last_all)
    {
        inputs.push(right.as_ref());
        chain = left;
    }
    inputs.push(chain);
    inputs.reverse();
    (inputs.len() > 2).then_some((inputs, *last_all))
}

impl Lowering<'_> {
    /// A chain of UNIONs whose inputs depend on no enclosing query.
    pub(super) fn union(&mut self, inputs: Vec<Lowered>, all: bool, fields: &[Field]) -> Result<Lowered> {
        let union = self.union_all(inputs, fields)?;
        Ok(if all { union } else { distinct(union) })
    }

    pub(super) fn set_op(
        &mut self,
        mut left: Lowered,
        mut right: Lowered,
        kind: SetOpKind,
        all: bool,
        fields: &[Field],
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        if left.depends() || right.depends() {
            left = self.depending(left, domain)?;
            right = self.depending(right, domain)?;
        }
        match kind {
            SetOpKind::Union => {
                let union = self.union_all(vec![left, right], fields)?;
                Ok(if all { union } else { distinct(union) })
            }
            SetOpKind::Intersect => self.match_rows(left, right, JoinType::LeftSemi, all, fields),
            SetOpKind::Except => self.match_rows(left, right, JoinType::LeftAnti, all, fields),
        }
    }

    /// All rows of all inputs, in one step: a chain of UNIONs is as long as scripts make it.
    pub(super) fn union_all(&mut self, inputs: Vec<Lowered>, fields: &[Field]) -> Result<Lowered> {
        let mut inputs = inputs.into_iter();
        let first = inputs.next().ok_or_else(|| Error::internal("a union of nothing"))?;
        if inputs.len() == 0 {
            return Ok(first);
        }
        let first = self.exact("u", first, fields)?;
        let mut plans = vec![];
        for input in inputs {
            let input = self.exact("u", input, fields)?;
            // DataFusion wants inputs whose columns have the union's names.
            let qualifier = self.qualifier("u");
            let named = pairs(&first, &input)?
                .into_iter()
                .map(|(f, c)| DfExpr::Column(c).alias_qualified(Some(qualifier.clone()), f.name))
                .collect();
            let renamed = Projection::try_new(named, Arc::new(input.plan)).map_err(failed)?;
            plans.push(Arc::new(LogicalPlan::Projection(renamed)));
        }
        let keys: Vec<_> = first.outer.keys().copied().collect();
        let width = first.columns.len();
        plans.insert(0, Arc::new(first.plan));
        let plan = LogicalPlan::Union(Union::try_new(plans).map_err(failed)?);
        let exprs = plan.schema().columns().into_iter().map(|c| (DfExpr::Column(c.clone()), c.name)).collect();
        let (plan, mut columns) = self.project("u", plan, exprs)?;
        let outer = columns.split_off(width.min(columns.len()));
        Ok(Lowered { plan, columns, outer: keys.into_iter().zip(outer).collect() })
    }

    /// The rows of the left side that have (or have not) an equal row on the right one. With ALL each row on the right
    /// stands for one on the left: the n-th of equal rows matches the n-th.
    fn match_rows(
        &mut self,
        left: Lowered,
        right: Lowered,
        join_type: JoinType,
        all: bool,
        fields: &[Field],
    ) -> Result<Lowered> {
        let mut left = self.exact("l", left, fields)?;
        let mut right = self.exact("r", right, fields)?;
        let mut pairs = pairs(&left, &right)?;
        if all {
            let l = numbered(&mut left)?;
            let r = numbered(&mut right)?;
            pairs.push((l, r));
        } else {
            left = distinct(left);
        }
        let same = pairs.into_iter().map(|(l, r)| is_same(DfExpr::Column(l), DfExpr::Column(r))).collect();
        let plan = join_plans(left.plan, right.plan, join_type, and(same))?;
        Ok(Lowered { plan, ..left })
    }

    /// The relation with no more columns than its own, of exactly the fields' types.
    fn exact(&mut self, base: &str, input: Lowered, fields: &[Field]) -> Result<Lowered> {
        let exprs = references(&input.columns);
        self.project_fields(base, input, exprs, fields)
    }
}

fn distinct(input: Lowered) -> Lowered {
    Lowered { plan: LogicalPlan::Distinct(Distinct::All(Arc::new(input.plan))), ..input }
}

fn pairs(left: &Lowered, right: &Lowered) -> Result<Vec<(Column, Column)>> {
    if left.columns.len() != right.columns.len() || left.outer.len() != right.outer.len() {
        return Err(Error::internal("a set operation of different columns"));
    }
    let l = left.columns.iter().chain(left.outer.values());
    let r = right.columns.iter().chain(right.outer.values());
    Ok(l.cloned().zip(r.cloned()).collect())
}

/// Numbers equal rows from 1.
fn numbered(input: &mut Lowered) -> Result<Column> {
    let partition = input.columns.iter().chain(input.outer.values()).cloned().map(DfExpr::Column).collect();
    let number = row_number().partition_by(partition).build().map_err(failed)?;
    let plan = std::mem::take(&mut input.plan);
    input.plan = LogicalPlanBuilder::from(plan).window(vec![number]).map_err(failed)?.build().map_err(failed)?;
    last_column(&input.plan)
}
