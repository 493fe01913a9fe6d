//! Values whose Arrow type differs from the one of their Flink type only in what Flink does not see: names of fields
//! inside of rows, nullability inside of arrays, maps and rows, metadata.

use std::any::Any;
use std::sync::Arc;

use calve_types::{Error, Result, arrow as mapping};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
use datafusion::arrow::compute::{filter, is_not_null};
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
    let signature = Signature::user_defined(Volatility::Immutable);
    let udf = Retype { to: expected, name: field.name.clone(), signature };
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

/// Where a value is NULL though its type has NOT NULL there, as Flink names such places: `r.a`, `list[0]`, `m[key]`,
/// `m[value]`.
fn null_inside(array: &ArrayRef, to: &DataType, path: &str) -> DfResult<Option<String>> {
    let inside = |values: &ArrayRef, field: &ArrowField, path: String| {
        if !field.is_nullable() && values.logical_null_count() > 0 {
            return Ok(Some(path));
        }
        null_inside(values, field.data_type(), &path)
    };
    let there: Vec<usize> = (0..array.len()).filter(|row| array.is_valid(*row)).collect();
    match to {
        DataType::Struct(fields) => {
            // what lies below a row that is NULL is nothing
            let there = filter(array, &is_not_null(array)?)?;
            let Some(rows) = there.as_struct_opt() else { return Ok(None) };
            for (column, field) in rows.columns().iter().zip(fields) {
                if let Some(place) = inside(column, field, format!("{path}.{}", field.name()))? {
                    return Ok(Some(place));
                }
            }
        }
        DataType::List(field) => {
            let Some(lists) = array.as_list_opt::<i32>() else { return Ok(None) };
            for elements in there.into_iter().map(|row| lists.value(row)) {
                for element in 0..elements.len() {
                    if let Some(place) = inside(&elements.slice(element, 1), field, format!("{path}[{element}]"))? {
                        return Ok(Some(place));
                    }
                }
            }
        }
        DataType::Map(entries, _) => {
            let (Some(maps), DataType::Struct(fields)) = (array.as_map_opt(), entries.data_type()) else {
                return Ok(None);
            };
            for entries in there.into_iter().map(|row| maps.value(row)) {
                for ((column, field), name) in entries.columns().iter().zip(fields).zip(["key", "value"]) {
                    if let Some(place) = inside(column, field, format!("{path}[{name}]"))? {
                        return Ok(Some(place));
                    }
                }
            }
        }
        _ => {}
    }
    Ok(None)
}

fn null_error(place: &str) -> DataFusionError {
    let error = Error::new("null-in-not-null", format!("field '{place}' is NOT NULL, and a row has NULL in it"))
        .with_detail(format!("Column '{place}' is NOT NULL, however, a null value is being written into it."))
        .with_hint("filter the rows, or give the field a value with COALESCE");
    DataFusionError::External(Box::new(error))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Retype {
    to: DataType,
    /// Of the field that has the values.
    name: String,
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
        let array = value.into_array(rows)?;
        let retyped = retype(&array, &self.to).or_else(|error| {
            let place = null_inside(&array, &self.to, &self.name)?;
            Err(place.map_or(error, |place| null_error(&place)))
        });
        Ok(ColumnarValue::Array(retyped?))
    }
}
