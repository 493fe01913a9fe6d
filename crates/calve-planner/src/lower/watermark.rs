//! Watermarks.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use calve_stream::in_time::InTime;
use calve_stream::watermark::{WatermarkAssigner, null_rowtime};
use calve_types::{Error, Result};
use datafusion::arrow::array::Array;
use datafusion::arrow::datatypes::{DataType as ArrowType, Field as ArrowField, FieldRef, TimeUnit};
use datafusion::common::{DataFusionError, Result as DfResult, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, Expr as DfExpr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility, cast,
};

use super::expr::references;
use super::plans::filter_plan;
use super::subquery::Domain;
use super::{Lowered, Lowering, failed};
use crate::expr::Expr;
use crate::rel::Field;

impl Lowering<'_> {
    /// The rows, each of which must have a time: Flink fails on one without, whatever the query asks for.
    pub(super) fn with_times(&mut self, input: Lowered, column: usize, fields: &[Field]) -> Result<Lowered> {
        let (Some(time), Some(field)) = (input.columns.get(column), fields.get(column)) else {
            return Err(Error::internal("no column of times"));
        };
        if !field.data_type.nullable {
            return Ok(input);
        }
        let check = HasTime { name: field.name.clone(), signature: Signature::user_defined(Volatility::Volatile) };
        let condition = ScalarUDF::new_from_impl(check).call(vec![DfExpr::Column(time.clone())]);
        Ok(Lowered { plan: filter_plan(input.plan, Some(condition))?, ..input })
    }

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

/// TRUE; fails where the time of a row is NULL. It is volatile so that it is neither left out nor moved.
#[derive(Debug, PartialEq, Eq, Hash)]
struct HasTime {
    name: String,
    signature: Signature,
}

impl ScalarUDFImpl for HasTime {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        "HAS_TIME"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[ArrowType]) -> DfResult<Vec<ArrowType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(ArrowType::Boolean)
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> DfResult<FieldRef> {
        Ok(Arc::new(ArrowField::new(self.name(), ArrowType::Boolean, false)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let rows = args.number_rows;
        for arg in args.args {
            if arg.into_array(rows)?.null_count() > 0 {
                return Err(DataFusionError::External(Box::new(null_rowtime(&self.name))));
            }
        }
        Ok(ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))))
    }
}
