//! A scalar subquery's value, if it has one row.

use std::any::Any;
use std::sync::Arc;

use calve_types::Error;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// `value`, which fails where `rows`, the number of the subquery's rows, is more than one.
pub(super) fn check(rows: Expr, value: Expr) -> Expr {
    ScalarUDF::new_from_impl(SingleRow { signature: Signature::user_defined(Volatility::Immutable) })
        .call(vec![rows, value])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct SingleRow {
    signature: Signature,
}

impl ScalarUDFImpl for SingleRow {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        "SINGLE_VALUE"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        Ok(arg_types.last().cloned().unwrap_or(DataType::Null))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let data_type = args.arg_fields.last().map_or(DataType::Null, |field| field.data_type().clone());
        Ok(Arc::new(Field::new(self.name(), data_type, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [rows, value] = <[ColumnarValue; 2]>::try_from(args.args)
            .map_err(|_| DataFusionError::External(Box::new(Error::internal("SINGLE_VALUE takes two arguments"))))?;
        let too_many = match &rows {
            ColumnarValue::Scalar(ScalarValue::Int64(rows)) => rows.is_some_and(|n| n > 1),
            ColumnarValue::Scalar(_) => false,
            ColumnarValue::Array(rows) => rows
                .as_primitive_opt::<Int64Type>()
                .is_some_and(|rows| (0..rows.len()).any(|i| rows.is_valid(i) && rows.value(i) > 1)),
        };
        if too_many {
            let error = Error::new("too-many-rows", "scalar subquery returned more than one row")
                .with_detail("SingleValueAggFunction received more than one element.")
                .with_hint("add LIMIT 1, or an aggregate function such as MAX");
            return Err(DataFusionError::External(Box::new(error)));
        }
        Ok(value)
    }
}
