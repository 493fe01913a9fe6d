//! MATCH_RECOGNIZE: an operator over the rows with what its expressions look at as columns behind them.

use std::sync::Arc;

use calve_stream::aggregate::Call;
use calve_stream::matching::{self as stream, Navigation as Place};
use calve_types::{DataType, Error, Result, arrow as mapping};
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{Field as ArrowField, Schema};
use datafusion::common::{Column, DFSchema};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_expr::create_physical_expr;

use super::expr::{Scope, Subqueries, references};
use super::plans::last_column;
use super::stream::{Pending, placed, resolved, sort_options};
use super::{Lowered, Lowering, failed};
use crate::matching::{Formula, Match, NavigationValue};
use crate::rel::Field;

/// A formula whose columns of the input are not columns yet, but positions among expressions.
struct Draft {
    navigations: Vec<DraftNavigation>,
    /// The expressions over the values, whose columns have numbers as names.
    exprs: Vec<DfExpr>,
}

enum DraftNavigation {
    First { variable: Option<usize>, offset: usize, expr: usize },
    Last { variable: Option<usize>, offset: usize, expr: usize },
    Aggregate { variable: Option<usize>, call: Pending },
}

impl Lowering<'_> {
    /// The matches of a pattern.
    pub(super) fn matches(&mut self, input: Lowered, matching: &Match, fields: &[Field]) -> Result<Lowered> {
        if input.depends() {
            return Err(Error::unsupported("MATCH_RECOGNIZE in a correlated subquery"));
        }
        let scope = Scope::new(&input, 0, Subqueries::new());
        let mut exprs = matching.order.iter().map(|key| self.expr(&key.expr, &scope)).collect::<Result<Vec<_>>>()?;
        // rows that are equal in the order stay in the order of arrival, which a sort does not keep
        let (source, number) = numbered_rows(input.plan.clone())?;
        exprs.push(number);
        let definitions = matching.definitions.iter();
        let definitions = definitions
            .map(|formula| formula.as_ref().map(|f| self.draft(f, &input, &scope, &mut exprs)).transpose())
            .collect::<Result<Vec<_>>>()?;
        let measures = self.draft(&matching.measures, &input, &scope, &mut exprs)?;

        let width = input.columns.len();
        let mut all: Vec<(DfExpr, String)> =
            input.columns.iter().map(|c| (DfExpr::Column(c.clone()), c.name.clone())).collect();
        all.extend(exprs.into_iter().map(|e| (e, "e".to_owned())));
        let (plan, _) = self.project("in", source, all)?;
        let schema = Arc::new(plan.schema().as_arrow().clone());
        let positions: Vec<usize> = (width..schema.fields().len()).collect();
        let ready = |draft: Draft| formula(draft, &positions, &schema);
        let named = fields.iter().map(|f| mapping::field(&self.names.unique(&f.name), &f.data_type));
        let order = matching.order.iter().map(sort_options).chain([SortOptions::default()]);
        let operator = stream::Match {
            keys: matching.partition.clone(),
            order: positions.iter().copied().zip(order).collect(),
            elements: matching.elements.clone(),
            skip: matching.skip,
            within: matching.within,
            definitions: definitions.into_iter().map(|draft| draft.map(ready).transpose()).collect::<Result<_>>()?,
            measures: ready(measures)?,
            schema: Arc::new(Schema::new(named.collect::<Result<Vec<_>>>()?)),
            input: schema.clone(),
        };
        let plan = self.streaming("match", Arc::new(operator), vec![plan])?;
        let columns = plan.schema().columns();
        let exprs = references(&columns);
        self.project_fields("match", Lowered { plan, columns, outer: input.outer }, exprs, fields)
    }

    fn draft(&self, formula: &Formula, input: &Lowered, scope: &Scope, exprs: &mut Vec<DfExpr>) -> Result<Draft> {
        let mut navigations = vec![];
        let mut values = vec![];
        for navigation in &formula.navigations {
            let variable = navigation.variable;
            let (offset, expr, first) = match &navigation.value {
                NavigationValue::First(expr, offset) => (*offset, expr, true),
                NavigationValue::Last(expr, offset) => (*offset, expr, false),
                NavigationValue::Aggregate(call) => {
                    let args = self.exprs(&call.args, scope)?;
                    let types: Vec<DataType> = call.args.iter().map(|arg| arg.data_type.clone()).collect();
                    let eval = &self.context.eval;
                    let lowered = call.function.call(args, &types, &call.data_type, false, None, vec![], eval);
                    let mut found = vec![];
                    let value = placed(lowered.map_err(|e| e.at(call.span))?, &mut found)?;
                    // an aggregate may be computed of several: each is a value of its own
                    let columns: Vec<Column> = (0..found.len()).map(|i| numbered(navigations.len() + i)).collect();
                    values.push(resolved(value, &columns)?);
                    for call in &found {
                        let call = Pending::new(call, &input.plan, exprs)?;
                        navigations.push(DraftNavigation::Aggregate { variable, call });
                    }
                    continue;
                }
            };
            exprs.push(self.expr(expr, scope)?);
            let expr = exprs.len() - 1;
            values.push(DfExpr::Column(numbered(navigations.len())));
            navigations.push(if first {
                DraftNavigation::First { variable, offset, expr }
            } else {
                DraftNavigation::Last { variable, offset, expr }
            });
        }
        let values = Scope { columns: values, outer: Default::default(), level: 0, subqueries: Subqueries::new() };
        Ok(Draft { navigations, exprs: self.exprs(&formula.exprs, &values)? })
    }
}

/// The rows with their numbers in the order of arrival.
fn numbered_rows(plan: LogicalPlan) -> Result<(LogicalPlan, DfExpr)> {
    let plan = LogicalPlanBuilder::from(plan).window(vec![row_number()]).and_then(LogicalPlanBuilder::build);
    let plan = plan.map_err(failed)?;
    let number = DfExpr::Column(last_column(&plan)?);
    Ok((plan, number))
}

fn numbered(index: usize) -> Column {
    Column::new_unqualified(index.to_string())
}

/// The formula, knowing where each expression is a column of the input.
fn formula(draft: Draft, positions: &[usize], input: &Schema) -> Result<stream::Formula> {
    let position =
        |i: usize| positions.get(i).copied().ok_or_else(|| Error::internal("a column of a pattern is missing"));
    let mut navigations = vec![];
    let mut fields = vec![];
    for navigation in draft.navigations {
        let (place, data_type) = match navigation {
            DraftNavigation::First { variable, offset, expr } => {
                let column = position(expr)?;
                (Place::First { variable, offset, column }, input.field(column).data_type().clone())
            }
            DraftNavigation::Last { variable, offset, expr } => {
                let column = position(expr)?;
                (Place::Last { variable, offset, column }, input.field(column).data_type().clone())
            }
            DraftNavigation::Aggregate { variable, call } => {
                let call: Call = call.call(positions)?;
                let data_type = call.returns.clone();
                (Place::Aggregate { variable, call }, data_type)
            }
        };
        fields.push(ArrowField::new(fields.len().to_string(), data_type, true));
        navigations.push(place);
    }
    let row = Arc::new(Schema::new(fields));
    let names = DFSchema::try_from(row.as_ref().clone()).map_err(failed)?;
    let exprs = draft.exprs.iter().map(|e| create_physical_expr(e, &names, &ExecutionProps::new()).map_err(failed));
    Ok(stream::Formula { navigations, exprs: exprs.collect::<Result<_>>()?, row })
}
