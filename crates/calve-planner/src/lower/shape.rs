//! Values whose Arrow type differs from the one of their Flink type only in what Flink does not see: names of fields
//! inside of rows, nullability inside of arrays, maps and rows, metadata.

use std::any::Any;
use std::sync::Arc;

use calve_types::{Error, Result, arrow as mapping};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
use datafusion::arrow::datatypes::{DataType, Field as ArrowField, FieldRef};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, LogicalPlan, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};

use super::{failed, mistyped};
use crate::rel::Field;

/// The expression over the plan with exactly the field's type.
///
/// # Errors
/// `internal` if its values are of another type.
pub(super) fn typed(expr: Expr, plan: &LogicalPlan, field: &Field) -> Result<Expr> {
    let expected = mapping::to_arrow(&field.data_type.logical)?;
    let actual = expr.get_type(plan.schema().as_ref()).map_err(failed)?;
    if actual == expected {
        return Ok(expr);
    }
    if !same_shape(&actual, &expected) {
        return Err(mistyped(&field.name, &actual, &expected));
    }
    let udf = Retype { to: expected, signature: Signature::user_defined(Volatility::Immutable) };
    Ok(ScalarUDF::new_from_impl(udf).call(vec![expr]))
}

fn same_shape(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::List(a), DataType::List(b)) => same_shape(a.data_type(), b.data_type()),
        (DataType::Map(a, _), DataType::Map(b, _)) => same_shape(a.data_type(), b.data_type()),
        (DataType::Struct(a), DataType::Struct(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_shape(a.data_type(), b.data_type()))
        }
        _ => a == b,
    }
}

pub(super) fn retype(array: &ArrayRef, to: &DataType) -> DfResult<ArrayRef> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    match to {
        DataType::List(field) => {
            let Some(list) = array.as_list_opt::<i32>() else { return Err(unexpected(array, to)) };
            let values = retype(list.values(), field.data_type())?;
            let nulls = list.nulls().cloned();
            Ok(Arc::new(ListArray::try_new(Arc::clone(field), list.offsets().clone(), values, nulls)?))
        }
        DataType::Map(field, sorted) => {
            let Some(map) = array.as_map_opt() else { return Err(unexpected(array, to)) };
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = retype(&entries, field.data_type())?;
            let Some(entries) = entries.as_struct_opt().cloned() else { return Err(unexpected(array, to)) };
            let nulls = map.nulls().cloned();
            Ok(Arc::new(MapArray::try_new(Arc::clone(field), map.offsets().clone(), entries, nulls, *sorted)?))
        }
        DataType::Struct(fields) => {
            let Some(rows) = array.as_struct_opt() else { return Err(unexpected(array, to)) };
            let columns = rows
                .columns()
                .iter()
                .zip(fields)
                .map(|(column, field)| retype(column, field.data_type()))
                .collect::<DfResult<Vec<_>>>()?;
            let nulls = rows.nulls().cloned();
            Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, rows.len())?))
        }
        _ => Err(unexpected(array, to)),
    }
}

fn unexpected(array: &ArrayRef, to: &DataType) -> DataFusionError {
    DataFusionError::External(Box::new(Error::internal(format!("values of {} instead of {to}", array.data_type()))))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Retype {
    to: DataType,
    signature: Signature,
}

impl ScalarUDFImpl for Retype {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        "retype"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> DfResult<Vec<DataType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(self.to.clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> DfResult<FieldRef> {
        let nullable = args.arg_fields.first().is_none_or(|field| field.is_nullable());
        Ok(Arc::new(ArrowField::new(self.name(), self.to.clone(), nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let rows = args.number_rows;
        let Some(value) = args.args.into_iter().next() else {
            return Err(DataFusionError::External(Box::new(Error::internal("retype takes one argument"))));
        };
        Ok(ColumnarValue::Array(retype(&value.into_array(rows)?, &self.to)?))
    }
}
