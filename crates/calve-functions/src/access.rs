//! Expressions that are no functions: literals, fields of rows, CASE.

use arrow::array::{Array, ArrayRef, AsArray};
use calve_types::{DataType, Error, LogicalType, Result, Value, arrow as mapping};
use datafusion_common::{Result as DfResult, ScalarValue};
use datafusion_expr::Expr;

use crate::EvalContext;
use crate::args::{Args, failure, mistyped};
use crate::civil::Stamp;
use crate::function::Call;

/// A literal of a type as a DataFusion expression.
///
/// # Errors
/// `not-supported` for types without values in calve; `invalid-literal` for a timestamp that its unit cannot hold;
/// `internal` if value and type do not fit.
pub fn literal(value: &Value, data_type: &DataType) -> Result<Expr> {
    use LogicalType as T;
    let arrow_type = mapping::to_arrow(&data_type.logical)?;
    let mismatch = || Error::internal(format!("{value:?} is no literal of type {data_type}"));
    let zone = || matches!(data_type.logical, T::TimestampLtz(_)).then(|| mapping::UTC.into());
    let scalar = match (value, &data_type.logical) {
        (Value::Null, _) => ScalarValue::try_from(&arrow_type).map_err(Error::internal)?,
        (Value::Boolean(v), T::Boolean) => ScalarValue::Boolean(Some(*v)),
        (Value::Int(v), T::TinyInt) => ScalarValue::Int8(Some(i8::try_from(*v).map_err(|_| mismatch())?)),
        (Value::Int(v), T::SmallInt) => ScalarValue::Int16(Some(i16::try_from(*v).map_err(|_| mismatch())?)),
        (Value::Int(v), T::Int) => ScalarValue::Int32(Some(i32::try_from(*v).map_err(|_| mismatch())?)),
        (Value::Int(v), T::BigInt) => ScalarValue::Int64(Some(*v)),
        (Value::Float(v), T::Float) => ScalarValue::Float32(Some(*v)),
        (Value::Double(v), T::Double) => ScalarValue::Float64(Some(*v)),
        (Value::Decimal(v), T::Decimal { precision, scale }) => {
            ScalarValue::Decimal128(Some(*v), *precision, *scale as i8)
        }
        (Value::String(v), T::Char(_) | T::Varchar(_)) | (Value::Symbol(v), T::Symbol) => {
            ScalarValue::Utf8(Some(v.clone()))
        }
        (Value::Bytes(v), T::Binary(_) | T::Varbinary(_)) => ScalarValue::Binary(Some(v.clone())),
        (Value::Date(v), T::Date) => ScalarValue::Date32(Some(*v)),
        (Value::Time(v), T::Time(_)) => ScalarValue::Time64Microsecond(Some(*v)),
        (Value::Timestamp { seconds, nanos }, T::Timestamp(p) | T::TimestampLtz(p)) => {
            let number = Stamp { seconds: *seconds, nanos: *nanos }.to_unit(*p).ok_or_else(|| {
                Error::new("invalid-literal", format!("the time is out of range of {}", data_type.logical))
                    .with_hint("with more than six digits of a second, years go from 1678 to 2261")
            })?;
            if *p > 6 {
                ScalarValue::TimestampNanosecond(Some(number), zone())
            } else {
                ScalarValue::TimestampMicrosecond(Some(number), zone())
            }
        }
        (Value::Months(v), T::IntervalYearMonth { .. }) => ScalarValue::IntervalYearMonth(Some(*v)),
        (Value::Millis(v), T::IntervalDayTime { .. }) => ScalarValue::DurationMillisecond(Some(*v)),
        _ => return Err(mismatch()),
    };
    Ok(Expr::Literal(scalar, None))
}

/// `CASE WHEN c THEN v ... ELSE e END`; conditions are BOOLEAN, values all of one type. Without an ELSE it is NULL.
pub fn case(branches: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Expr {
    let branches = branches.into_iter().map(|(when, then)| (Box::new(when), Box::new(then))).collect();
    Expr::Case(datafusion_expr::Case::new(None, branches, otherwise.map(Box::new)))
}

/// The field at a position of a ROW (fields may share a name); NULL if the row is.
///
/// # Errors
/// `internal` if `row` is no ROW type with such a field.
pub fn field(expr: Expr, row: &DataType, index: usize, context: &EvalContext) -> Result<Expr> {
    let LogicalType::Row(fields) = &row.logical else {
        return Err(Error::internal(format!("field access on {row}")));
    };
    let Some(field) = fields.get(index) else {
        return Err(Error::internal(format!("no field {index} in {row}")));
    };
    let returns = field.data_type.with_nullable(field.data_type.nullable || row.nullable);
    Call::new(format!("field[{index}]"), vec![row.clone()], returns, context).kernel(field_kernel, vec![expr])
}

fn field_kernel(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let array = args.full(0)?;
    let index = call.name.trim_start_matches("field[").trim_end_matches(']').parse::<usize>();
    let rows = array.as_struct_opt().ok_or_else(|| mistyped("Struct", &array))?;
    let Some(column) = index.ok().and_then(|i| rows.columns().get(i)) else {
        return Err(failure(Error::internal(format!("{} of {} fields", call.name, rows.num_columns()))));
    };
    match rows.nulls() {
        None => Ok(column.clone()),
        Some(nulls) => {
            let missing = arrow::array::BooleanArray::new(!nulls.inner(), None);
            Ok(arrow::compute::nullif(column, &missing)?)
        }
    }
}
