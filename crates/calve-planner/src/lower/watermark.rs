//! Watermarks.

use std::sync::Arc;

use calve_stream::watermark::WatermarkAssigner;
use calve_types::{Error, Result};

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
}
