//! Watermarks.

use std::collections::BTreeMap;
use std::sync::Arc;

use calve_stream::in_time::InTime;
use calve_stream::watermark::WatermarkAssigner;
use calve_types::{Error, Result};
use datafusion::arrow::datatypes::{DataType as ArrowType, TimeUnit};
use datafusion::logical_expr::{Expr as DfExpr, cast};

use super::expr::references;
use super::subquery::Domain;
use super::{Lowered, Lowering, failed};
use crate::expr::Expr;
use crate::rel::Field;

impl Lowering<'_> {
    /// The rows with the watermark that was announced before each of them.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn watermark(
        &mut self,
        input: Lowered,
        column: usize,
        expr: &Expr,
        interval: i64,
        fields: &[Field],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let (input, scope) = self.scope(input, std::iter::once(expr), level, domain)?;
        if input.depends() {
            return Err(Error::internal("a watermark of rows that depend on others"));
        }
        let mut exprs = references(&input.columns);
        exprs.push(self.expr(expr, &scope)?);
        let rows = self.project_fields("t", input, exprs, fields)?;
        let schema = rows.plan.schema();
        let operator = WatermarkAssigner::new(schema.as_arrow(), column, interval).map_err(failed)?;
        let plan = self.streaming("watermark", Arc::new(operator), vec![rows.plan])?;
        let columns = plan.schema().columns();
        Ok(Lowered { plan, columns, ..rows })
    }

    /// The rows that are not late for an operator that gives them in the order of their times.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn in_time(
        &mut self,
        input: Lowered,
        (time, watermark): (usize, usize),
        partition: &[Expr],
        since: Option<i64>,
        fields: &[Field],
        level: usize,
        domain: Option<&Domain>,
    ) -> Result<Lowered> {
        let (input, scope) = self.scope(input, partition.iter(), level, domain)?;
        if input.depends() {
            return Err(Error::internal("rows in time that depend on others"));
        }
        let column = |i: usize| input.columns.get(i).cloned().ok_or_else(|| Error::internal("no column of times"));
        let mut exprs: Vec<_> = input.columns.iter().map(|c| (DfExpr::Column(c.clone()), c.name.clone())).collect();
        for key in partition {
            exprs.push((self.expr(key, &scope)?, "key".to_owned()));
        }
        let micros = ArrowType::Timestamp(TimeUnit::Microsecond, None);
        for (i, name) in [(time, "time"), (watermark, "watermark")] {
            exprs.push((cast(DfExpr::Column(column(i)?), micros.clone()), name.to_owned()));
        }
        let (plan, _) = self.project("t", input.plan, exprs)?;
        let operator = InTime::new(plan.schema().inner().clone(), fields.len(), since).map_err(failed)?;
        let plan = self.streaming("in_time", Arc::new(operator), vec![plan])?;
        let columns = plan.schema().columns();
        Ok(Lowered { plan, columns, outer: BTreeMap::new() })
    }
}
