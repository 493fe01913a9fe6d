//! Flink's casts.
//!
//! | from \ to | what Flink does |
//! |---|---|
//! | number to number | integers wrap, floating point saturates into INT and BIGINT, a DECIMAL that overflows is NULL |
//! | string to anything | blanks around are cut (not for BOOLEAN); an error if it is no such value |
//! | anything to string | Java's formats; `CHAR(n)` pads, both cut |
//! | timestamps | digits beyond the precision are cut; LTZ by the session's time zone |
//! | ARRAY, MAP, ROW | element by element, fields by position |

mod nested;
mod number;
mod parse;
mod string;
mod time;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringArray};
use arrow::datatypes::DataType as ArrowType;
use calve_types::{DataType, Error, IntervalField, LogicalType, Result, arrow as mapping, rules};
use datafusion_common::{Result as DfResult, ScalarValue};
use datafusion_expr::{Expr, cast as native_cast, lit};

use crate::args::{Args, failure};
use crate::function::Call;
use crate::{EvalContext, decimal};

pub(crate) use number::decimal_of_double;
use number::unit_millis;
#[cfg(test)]
pub(crate) use parse::parse_time;
pub(crate) use parse::{parse_date, parse_stamp};
pub(crate) use string::{fit, push_date, push_decimal, push_local_time, push_time};
pub use string::{push_double, push_float};
pub(crate) use time::{out_of_range, timestamp_array};

/// `CAST` or `TRY_CAST`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CastKind {
    /// `CAST`: the statement fails where a value cannot be cast.
    Cast,
    /// `TRY_CAST`: NULL there.
    TryCast,
}

/// `expr`, a value of type `from`, cast to `to`. The types' nullability does not matter.
///
/// # Errors
/// `invalid-cast` where Flink refuses the two types; `not-supported` for types without values in calve.
pub fn cast(expr: Expr, from: &DataType, to: &DataType, kind: CastKind, context: &EvalContext) -> Result<Expr> {
    if !rules::supports_explicit_cast(from, to) {
        return Err(Error::new("invalid-cast", format!("cannot cast {} to {}", from.logical, to.logical)).with_detail(
            format!(
                "Cast function cannot convert value of type {} to type {}",
                rules::sql_name(&from.logical),
                rules::sql_name(&to.logical)
            ),
        ));
    }
    if is_same_value(&from.logical, &to.logical) {
        return Ok(expr);
    }
    let arrow = mapping::to_arrow(&to.logical)?;
    let expr = if from.logical.is_interval() || kind == CastKind::TryCast {
        expr
    } else {
        in_units(expr, &from.logical, &to.logical)?
    };
    if from.logical == LogicalType::Null || is_native(&from.logical, &to.logical) {
        return Ok(native_cast(expr, arrow));
    }
    let word = match kind {
        CastKind::Cast => "CAST",
        CastKind::TryCast => "TRY_CAST",
    };
    let returns = to.with_nullable(from.nullable || kind == CastKind::TryCast);
    // What counts the units of an interval is a BIGINT by now.
    let from =
        if from.logical.is_numeric() && to.logical.is_interval() && matches!(from.logical, LogicalType::Decimal { .. })
        {
            LogicalType::BigInt.with_nullable(from.nullable)
        } else {
            from.clone()
        };
    let mut call = Call::new(format!("{word} AS {}", to.logical), vec![from], returns, context);
    // A DECIMAL that overflows.
    call.gives_null = matches!(to.logical, LogicalType::Decimal { .. });
    match kind {
        CastKind::Cast => call.kernel(cast_kernel, vec![expr]),
        CastKind::TryCast => call.kernel(try_cast_kernel, vec![expr]),
    }
}

/// A literal counts the units of an interval; any other number is its months or milliseconds.
///
/// # Errors
/// `invalid-cast` for a DECIMAL that is no literal, as in Flink.
fn in_units(expr: Expr, from: &LogicalType, to: &LogicalType) -> Result<Expr> {
    let unit = match to {
        LogicalType::IntervalYearMonth { from, .. } => {
            if *from == IntervalField::Year {
                12
            } else {
                1
            }
        }
        LogicalType::IntervalDayTime { from, .. } => unit_millis(*from),
        _ => return Ok(expr),
    };
    let number = match &expr {
        Expr::Literal(ScalarValue::Int32(Some(v)), _) => i128::from(*v),
        Expr::Literal(ScalarValue::Int64(Some(v)), _) => i128::from(*v),
        Expr::Literal(ScalarValue::Decimal128(Some(v), _, scale), _) => {
            let units = v.saturating_mul(unit.into()) / decimal::power_of_ten(scale.unsigned_abs());
            return Ok(lit(i64::try_from(units).unwrap_or(i64::MAX)));
        }
        _ if matches!(from, LogicalType::Decimal { .. }) => {
            return Err(Error::new("invalid-cast", format!("cannot cast {from} to {to}"))
                .with_detail(format!("Unsupported cast from '{from}' to '{to}'.")));
        }
        _ => return Ok(expr),
    };
    Ok(lit(i64::try_from(number.saturating_mul(unit.into())).unwrap_or(i64::MAX)))
}

/// `TRY_CAST(expr AS to)`.
///
/// # Errors
/// As [`cast`].
pub fn try_cast(expr: Expr, from: &DataType, to: &DataType, context: &EvalContext) -> Result<Expr> {
    cast(expr, from, to, CastKind::TryCast, context)
}

/// Values as Flink prints them: `TRUE`, `1.0E10`, `x'68'`, `(1, x)`, `{k=1}`, `[1, 2, NULL]`.
///
/// # Errors
/// An internal error if the array's Arrow type is not the one of `data_type`.
pub fn cast_to_string(array: &ArrayRef, data_type: &DataType, context: &EvalContext) -> Result<StringArray> {
    string::print_array(array, &data_type.logical, context, string::Style::Print).map_err(|e| match e {
        datafusion_common::DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => Error::internal(other),
        },
        other => Error::internal(other),
    })
}

/// Whether each value of `from` is, as it lies in its array, the same value of `to`.
fn is_same_value(from: &LogicalType, to: &LogicalType) -> bool {
    use LogicalType as T;
    match (from, to) {
        _ if from == to => true,
        (T::Char(m) | T::Varchar(m), T::Varchar(n)) | (T::Binary(m) | T::Varbinary(m), T::Varbinary(n)) => m <= n,
        (T::Timestamp(p), T::Timestamp(q)) | (T::TimestampLtz(p), T::TimestampLtz(q)) => p <= q && (*p > 6) == (*q > 6),
        (T::Time(p), T::Time(q)) => p <= q,
        (T::IntervalYearMonth { .. }, T::IntervalYearMonth { .. })
        | (T::IntervalDayTime { .. }, T::IntervalDayTime { .. }) => true,
        (T::Row(f), T::Row(t)) => {
            // Arrow's field names and nullability must agree too.
            f.len() == t.len()
                && mapping::to_arrow(from).ok() == mapping::to_arrow(to).ok()
                && f.iter().zip(t).all(|(f, t)| is_same_value(&f.data_type.logical, &t.data_type.logical))
        }
        (T::Array(f), T::Array(t)) => f.nullable == t.nullable && is_same_element(&f.logical, &t.logical),
        (T::Map(fk, fv), T::Map(tk, tv)) => {
            fk.nullable == tk.nullable
                && fv.nullable == tv.nullable
                && is_same_element(&fk.logical, &tk.logical)
                && is_same_element(&fv.logical, &tv.logical)
        }
        _ => false,
    }
}

fn is_same_element(from: &LogicalType, to: &LogicalType) -> bool {
    is_same_value(from, to) && mapping::to_arrow(from).ok() == mapping::to_arrow(to).ok()
}

/// Whether DataFusion's cast gives Flink's result for every value: only where nothing can be lost. DataFusion moves
/// such casts over to literals, so comparisons still reach Parquet pruning.
fn is_native(from: &LogicalType, to: &LogicalType) -> bool {
    use LogicalType as T;
    match to {
        T::SmallInt | T::Int | T::BigInt => {
            rules::supports_implicit_cast(&from.clone().not_null(), &to.clone().not_null())
        }
        T::Double => *from == T::Float,
        T::Decimal { precision, scale } => {
            rules::decimal_of(from).is_some_and(|(p, s)| s <= *scale && p - s <= precision - scale)
        }
        _ => false,
    }
}

fn cast_kernel(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let caster = Caster { context: &call.context, kind: CastKind::Cast };
    caster.cast(args.raw(0)?.0, call.arg(0), &call.returns.logical)
}

fn try_cast_kernel(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let caster = Caster { context: &call.context, kind: CastKind::TryCast };
    caster.cast(args.raw(0)?.0, call.arg(0), &call.returns.logical)
}

/// Casts arrays.
#[derive(Clone, Copy)]
struct Caster<'a> {
    context: &'a EvalContext,
    kind: CastKind,
}

impl Caster<'_> {
    /// An array of the Arrow type of `to`.
    fn cast(&self, array: &ArrayRef, from: &LogicalType, to: &LogicalType) -> DfResult<ArrayRef> {
        use LogicalType as T;
        let arrow = mapping::to_arrow(to).map_err(failure)?;
        if *from == T::Null || array.data_type() == &ArrowType::Null {
            return Ok(arrow::array::new_null_array(&arrow, array.len()));
        }
        if is_same_value(from, to) && array.data_type() == &arrow {
            return Ok(Arc::clone(array));
        }
        match (from, to) {
            (_, T::Char(_) | T::Varchar(_)) => {
                if from.is_binary() {
                    return self.bytes_to_string(array, to);
                }
                let printed = string::print_array(array, from, self.context, string::Style::Cast)?;
                Ok(Arc::new(fit(printed, to)))
            }
            (f, T::Binary(_) | T::Varbinary(_)) if f.is_character() || f.is_binary() => self.to_bytes(array, f, to),
            (f, _) if f.is_character() => self.parse(array, to),
            (T::Array(_) | T::Map(..) | T::Multiset(_) | T::Row(_), _) => self.nested(array, from, to),
            (f, T::Date | T::Time(_) | T::Timestamp(_) | T::TimestampLtz(_)) if f.is_datetime() => {
                self.between_times(array, from, to)
            }
            _ => self.between_numbers(array, from, to),
        }
    }

    /// What becomes of a value that cannot be cast.
    fn refuse<V>(&self, error: impl FnOnce() -> Error) -> DfResult<Option<V>> {
        match self.kind {
            CastKind::Cast => Err(failure(error())),
            CastKind::TryCast => Ok(None),
        }
    }
}

/// A cast that the type check let through although no rule covers it.
fn uncovered(from: &LogicalType, to: &LogicalType) -> datafusion_common::DataFusionError {
    failure(Error::unsupported(format!("a cast from {from} to {to}")))
}

#[cfg(test)]
mod tests;
