//! Grouping sets: each row once for each set, with NULL for the keys that the set lacks.

use std::sync::Arc;

use calve_functions as functions;
use calve_types::{Error, Result, Value};
use datafusion::arrow::datatypes::{DataType as ArrowType, Field as ArrowField};
use datafusion::common::DFSchema;
use datafusion::logical_expr::{Expr as DfExpr, JoinType, LogicalPlan, Values, lit, when};

use super::expr::references;
use super::plans::join_plans;
use super::subquery::Domain;
use super::{Lowered, Lowering, failed};
use crate::expr::Expr;
use crate::rel::Field;

impl Lowering<'_> {
    /// The rows for each set: all pairs with the numbers of the sets.
    pub(super) fn expand(
        &mut self,
        input: Lowered,
        keys: &[Expr],
        sets: &[Vec<usize>],
        fields: &[Field],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let (input, scope) = self.scope(input, keys.iter(), level, domain)?;
        let (numbers, number) = self.numbers(sets.len())?;
        let plan = join_plans(numbers, input.plan, JoinType::Inner, None)?;
        let mut exprs = references(&input.columns);
        for (i, key) in keys.iter().enumerate() {
            let value = self.expr(key, &scope)?;
            let with: Vec<DfExpr> =
                sets.iter().zip(0_i64..).filter(|(set, _)| set.contains(&i)).map(|(_, n)| lit(n)).collect();
            exprs.push(if with.len() == sets.len() {
                value
            } else {
                let null = functions::literal(&Value::Null, &key.data_type.with_nullable(true))?;
                when(number.clone().in_list(with, false), value).otherwise(null).map_err(failed)?
            });
        }
        exprs.push(number);
        self.project_fields("expand", Lowered { plan, ..input }, exprs, fields)
    }

    /// The numbers from 0 as a relation of one column.
    fn numbers(&mut self, count: usize) -> Result<(LogicalPlan, DfExpr)> {
        let name = self.names.unique("set");
        let field = Arc::new(ArrowField::new(name, ArrowType::Int64, false));
        let schema = DFSchema::new_with_metadata(vec![(Some(self.qualifier("sets")), field)], Default::default());
        let schema = Arc::new(schema.map_err(failed)?);
        let column = schema.columns().into_iter().next().ok_or_else(|| Error::internal("no column"))?;
        let values = (0_i64..).take(count).map(|n| vec![lit(n)]).collect();
        Ok((LogicalPlan::Values(Values { schema, values }), DfExpr::Column(column)))
    }
}
